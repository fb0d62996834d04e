/* SPDX-License-Identifier: MIT */
/* Callables from the objects that the Makefile built, their arguments, and their runs. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call.h"
#include "results.h"

#define MAX_KERNELS 16
#define MAX_ARGS 32

struct call_array {
	struct prog_array is;
	struct simpler_buffer *buffer;
	size_t bytes;
};

struct prog_call {
	struct prog_call *next;
	struct prog_session *session;
	const char *orchestration;
	const struct prog_kernel *kernels;
	struct simpler_task_args *args;
	struct call_array arrays[MAX_ARGS];
	unsigned int array_count;
	unsigned int scalar_count;
	bool registered;
	struct simpler_callable_handle handle;
	struct simpler_call_config config;
};

static void die_worker(struct prog_session *s, const char *what)
{
	struct simpler_error e;

	simpler_worker_last_error(s->worker, &e);
	prog_die("%s (API %s): %s (%d): %s%s%s", what, s->api, e.name, e.code, e.text,
		 e.hint[0] ? "; " : "", e.hint);
}

static void must(const char *what, int rc, const struct simpler_error *e)
{
	if (rc)
		prog_die("%s: %s (%d): %s", what, simpler_error_name(rc), rc, e->text);
}

/* ---- objects ------------------------------------------------------------------- */

static void object_folder(const struct prog *p, char folder[PATH_MAX])
{
	const char *build = getenv("SIMPLER_BUILD_DIR");
	ssize_t n;
	char *slash;

	if (build && *build) {
		snprintf(folder, PATH_MAX, "%s/programs/%s", build, p->name);
		return;
	}
	n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	if (n < 0)
		prog_die("/proc/self/exe: %s", strerror(errno));
	folder[n] = '\0';
	slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
}

static void *read_file(const char *path, size_t *bytes)
{
	FILE *f = fopen(path, "rb");
	void *data;
	long n;

	if (!f)
		prog_die("%s: %s; build it with `make tests`, or set SIMPLER_BUILD_DIR", path,
			 strerror(errno));
	if (fseek(f, 0, SEEK_END) || (n = ftell(f)) < 0 || fseek(f, 0, SEEK_SET))
		prog_die("%s: %s", path, strerror(errno));
	data = prog_alloc((size_t)n, 1);
	*bytes = fread(data, 1, (size_t)n, f);
	if (*bytes != (size_t)n)
		prog_die("%s: only %zu of %ld bytes could be read", path, *bytes, n);
	fclose(f);
	return data;
}

static void *load_object(const struct prog_session *s, const char *name, size_t *bytes)
{
	char folder[PATH_MAX], path[PATH_MAX + 128];

	object_folder(s->prog, folder);
	snprintf(path, sizeof(path), "%s/%s-%s.so", folder, name, s->options->platform);
	return read_file(path, bytes);
}

static struct simpler_core_callable *build_kernel(struct prog_session *s, const char *path)
{
	struct simpler_core_callable *kernel;
	struct simpler_error e = { 0 };
	size_t bytes;
	void *object = load_object(s, path, &bytes);

	must(path, simpler_core_callable_build(NULL, 0, object, bytes, &kernel, &e), &e);
	free(object);
	return kernel;
}

static size_t signature_of(const struct prog_call *c, int32_t *signature)
{
	size_t n = 0;

	for (unsigned int i = 0; i < c->array_count; i++)
		signature[n++] = c->arrays[i].is.dir;
	for (unsigned int i = 0; i < c->scalar_count; i++)
		signature[n++] = SIMPLER_DIR_SCALAR;
	return n;
}

static struct simpler_chip_callable *build_callable(struct prog_call *c)
{
	struct simpler_chip_child children[MAX_KERNELS];
	struct simpler_core_callable *built[MAX_KERNELS];
	struct simpler_chip_callable *callable;
	struct simpler_error e = { 0 };
	int32_t signature[2 * MAX_ARGS];
	char name[128];
	size_t bytes, n = 0;
	void *object;

	for (; c->kernels[n].path; n++) {
		if (n == MAX_KERNELS)
			prog_die("%s: more than %d kernels", c->orchestration, MAX_KERNELS);
		built[n] = build_kernel(c->session, c->kernels[n].path);
		children[n] = (struct simpler_chip_child){ c->kernels[n].func_id, built[n] };
	}
	snprintf(name, sizeof(name), "orchestration/%s", c->orchestration);
	object = load_object(c->session, name, &bytes);
	must(name,
	     simpler_chip_callable_build(&(struct simpler_chip_spec){
		     .signature = signature,
		     .sig_count = signature_of(c, signature),
		     .func_name = "aicpu_orchestration_entry",
		     .config_name = "aicpu_orchestration_config",
		     .binary = object, .binary_bytes = bytes,
		     .children = children, .child_count = n }, &callable, &e), &e);
	free(object);
	while (n--)
		simpler_core_callable_put(built[n]);
	return callable;
}

/* ---- arguments ------------------------------------------------------------------ */

struct prog_call *prog_call_create(struct prog_session *s, const char *orchestration,
				   const struct prog_kernel *kernels)
{
	struct prog_call *c = prog_alloc(1, sizeof(*c));

	c->session = s;
	c->orchestration = orchestration;
	c->kernels = kernels;
	simpler_call_config_init(&c->config);
	if (simpler_task_args_create(&c->args))
		prog_die("no memory for arguments");
	c->next = s->calls;
	s->calls = c;
	return c;
}

static void make_buffer(struct prog_call *c, struct call_array *a)
{
	struct prog_session *s = c->session;
	int rc;

	if (a->is.place == PROG_HOST)
		rc = simpler_worker_wrap_host(s->worker, a->is.data, a->bytes,
					      a->is.dir == SIMPLER_DIR_IN ?
					      SIMPLER_ACCESS_READ : SIMPLER_ACCESS_READWRITE,
					      &a->buffer);
	else
		rc = simpler_worker_malloc(s->worker, a->bytes, &a->buffer);
	if (rc)
		die_worker(s, "buffer of an argument");
}

static int tag_of(int dir)
{
	return dir == SIMPLER_DIR_IN ? SIMPLER_TAG_INPUT :
	       dir == SIMPLER_DIR_OUT ? SIMPLER_TAG_OUTPUT_EXISTING : SIMPLER_TAG_INOUT;
}

static void upload(struct prog_call *c, struct call_array *a)
{
	if (a->is.place == PROG_DEVICE &&
	    simpler_worker_copy_to_raw(c->session->worker, a->buffer, a->is.data, a->bytes, NULL))
		die_worker(c->session, "copy to the chip");
}

void prog_call_array(struct prog_call *c, const struct prog_array *is)
{
	struct call_array *a = &c->arrays[c->array_count];
	struct simpler_error e = { 0 };
	struct simpler_tensor t;

	if (c->array_count == MAX_ARGS)
		prog_die("%s: more than %d tensors", c->orchestration, MAX_ARGS);
	c->array_count++;
	a->is = *is;
	a->bytes = simpler_dtype_size(is->dtype);
	for (uint32_t d = 0; d < is->ndims; d++)
		a->bytes *= is->shapes[d];
	make_buffer(c, a);
	upload(c, a);
	must("tensor", simpler_tensor_init_dense(&t, a->buffer, is->dtype, is->ndims, is->shapes,
						 &e), &e);
	must("argument", simpler_task_args_add_tensor(c->args, &t, tag_of(is->dir),
						      SIMPLER_TRANSFER_DEFAULT, &e), &e);
}

void prog_call_scalar(struct prog_call *c, uint64_t word)
{
	if (c->scalar_count++ == MAX_ARGS || simpler_task_args_add_scalar(c->args, word))
		prog_die("%s: too many scalars", c->orchestration);
}

void prog_call_float(struct prog_call *c, float value)
{
	uint32_t word;

	memcpy(&word, &value, sizeof(word));
	prog_call_scalar(c, word);
}

struct simpler_call_config *prog_call_config(struct prog_call *c)
{
	return &c->config;
}

/* ---- runs ----------------------------------------------------------------------- */

static void register_call(struct prog_call *c)
{
	struct simpler_chip_callable *callable = build_callable(c);

	if (simpler_worker_register(c->session->worker, callable, &c->handle))
		die_worker(c->session, c->orchestration);
	simpler_chip_callable_put(callable);
	c->registered = true;
}

void prog_call_run(struct prog_call *c, struct simpler_run_stats *stats)
{
	struct prog_totals *totals = c->session->totals;
	struct simpler_run_stats own;
	struct simpler_run *run;

	if (!c->registered)
		register_call(c);
	if (simpler_worker_submit(c->session->worker, &c->handle, c->args, &c->config, NULL, &run))
		die_worker(c->session, c->orchestration);
	if (simpler_run_wait(run, NULL)) {
		struct simpler_error e;

		simpler_run_error(run, &e);
		prog_die("%s (API %s): the run failed: %s (%d): %s%s%s", c->orchestration,
			 c->session->api, e.name, e.code, e.text, e.hint[0] ? "; " : "", e.hint);
	}
	stats = stats ? stats : &own;
	simpler_run_get_stats(run, stats);
	simpler_run_put(run);
	if (stats->tasks_submitted != stats->tasks_completed)
		prog_die("%s: %llu tasks were submitted, %llu completed", c->orchestration,
			 (unsigned long long)stats->tasks_submitted,
			 (unsigned long long)stats->tasks_completed);
	totals->runs++;
	totals->tasks += stats->tasks_completed;
	totals->run_ns += stats->end_ns - stats->start_ns;
}

void prog_call_upload(struct prog_call *c)
{
	for (unsigned int i = 0; i < c->array_count; i++)
		upload(c, &c->arrays[i]);
}

void prog_call_fetch(struct prog_call *c)
{
	for (unsigned int i = 0; i < c->array_count; i++) {
		struct call_array *a = &c->arrays[i];

		if (a->is.place == PROG_DEVICE && a->is.dir != SIMPLER_DIR_IN &&
		    simpler_worker_copy_from_raw(c->session->worker, a->is.data, a->bytes,
						 a->buffer, NULL))
			die_worker(c->session, "copy from the chip");
	}
}

static void release_array(struct prog_session *s, struct call_array *a)
{
	struct simpler_error e = { 0 };

	if (a->is.place == PROG_DEVICE) {
		if (simpler_worker_free(s->worker, a->buffer))
			die_worker(s, "free");
	} else {
		must("close of a buffer", simpler_buffer_close(a->buffer, &e), &e);
	}
	simpler_buffer_put(a->buffer);
}

void calls_release(struct prog_session *s)
{
	while (s->calls) {
		struct prog_call *c = s->calls;

		s->calls = c->next;
		if (c->registered && simpler_worker_unregister(s->worker, &c->handle))
			die_worker(s, "unregister");
		for (unsigned int i = 0; i < c->array_count; i++)
			release_array(s, &c->arrays[i]);
		simpler_task_args_destroy(c->args);
		free(c);
	}
}
