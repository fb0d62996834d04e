// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "session.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define MAX_KERNELS	4
#define MAX_OPERANDS	16

static void die_error(const char *what, int rc, const struct simpler_error *e)
{
	bench_die("%s: %s (%d): %s%s%s", what, simpler_error_name(rc), rc, e->text,
		  e->hint[0] ? "; " : "", e->hint);
}

static void must(const char *what, int rc, const struct simpler_error *e)
{
	if (rc)
		die_error(what, rc, e);
}

void session_must(struct simpler_worker *w, const char *what, int rc)
{
	struct simpler_error e;

	if (rc)
		die_error(what, rc, simpler_worker_last_error(w, &e));
}

struct simpler_worker *session_worker(void)
{
	struct simpler_worker *w;
	int rc = simpler_worker_create(2, &w);

	if (rc)
		bench_die("simpler_worker_create: %s", simpler_error_name(rc));
	session_must(w, "platform", simpler_worker_set_platform(w, SESSION_PLATFORM));
	session_must(w, "runtime", simpler_worker_set_runtime(w, "tensormap_and_ringbuffer"));
	session_must(w, "init", simpler_worker_init(w, NULL));
	return w;
}

/* ---- objects -------------------------------------------------------------------- */

/* <folder of this program>/<folder>/<name>-a2a3sim.so */
static void *load(const char *folder, const char *name, size_t *bytes)
{
	char self[PATH_MAX], path[PATH_MAX + 256];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	FILE *f;
	void *data;
	long size;

	if (n < 0)
		bench_die("/proc/self/exe: %s", strerror(errno));
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	snprintf(path, sizeof(path), "%s/%s/%s-" SESSION_PLATFORM ".so", self, folder, name);
	f = fopen(path, "rb");
	if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) <= 0)
		bench_die("%s: %s", path, strerror(errno));
	rewind(f);
	data = bench_alloc(1, (uint64_t)size, 64);
	*bytes = fread(data, 1, (size_t)size, f);
	if (*bytes != (size_t)size)
		bench_die("%s: cannot be read", path);
	fclose(f);
	return data;
}

static struct simpler_core_callable *kernel(const char *name)
{
	struct simpler_core_callable *c;
	struct simpler_error e = { 0 };
	size_t bytes;
	void *object = load("kernels", name, &bytes);

	must(name, simpler_core_callable_build(NULL, 0, object, bytes, &c, &e), &e);
	free(object);
	return c;
}

static struct simpler_chip_callable *build(const char *orchestration, const char *const *kernels,
					   const int32_t *signature, size_t operands)
{
	struct simpler_chip_child children[MAX_KERNELS];
	struct simpler_core_callable *built[MAX_KERNELS];
	struct simpler_chip_spec spec = {
		.signature = signature, .sig_count = operands, .children = children,
		.func_name = "aicpu_orchestration_entry",
		.config_name = "aicpu_orchestration_config",
	};
	struct simpler_chip_callable *c;
	struct simpler_error e = { 0 };
	size_t n;
	void *object = load("orchestration", orchestration, &spec.binary_bytes);

	for (n = 0; n < MAX_KERNELS && kernels[n]; n++) {
		built[n] = kernel(kernels[n]);
		children[n] = (struct simpler_chip_child){ (int32_t)n, built[n] };
	}
	spec.binary = object;
	spec.child_count = n;
	must(orchestration, simpler_chip_callable_build(&spec, &c, &e), &e);
	while (n--)
		simpler_core_callable_put(built[n]);
	free(object);
	return c;
}

struct simpler_callable_handle session_register(struct simpler_worker *w,
						const char *orchestration,
						const char *const *kernels, uint32_t tensors,
						uint32_t scalars)
{
	struct simpler_callable_handle handle;
	struct simpler_chip_callable *c;
	int32_t signature[MAX_OPERANDS];

	for (uint32_t i = 0; i < tensors + scalars; i++)
		signature[i] = i < tensors ? SIMPLER_DIR_INOUT : SIMPLER_DIR_SCALAR;
	c = build(orchestration, kernels, signature, tensors + scalars);
	session_must(w, orchestration, simpler_worker_register(w, c, &handle));
	simpler_chip_callable_put(c);
	return handle;
}

struct simpler_buffer *session_words(struct simpler_worker *w, struct simpler_task_args *args,
				     uint64_t words)
{
	struct simpler_buffer *buffer;
	struct simpler_error e = { 0 };
	struct simpler_tensor t;
	uint32_t shape = (uint32_t)words;

	session_must(w, "device memory", simpler_worker_malloc(w, 4 * words, &buffer));
	must("tensor", simpler_tensor_init_dense(&t, buffer, SIMPLER_INT32, 1, &shape, &e), &e);
	must("argument", simpler_task_args_add_tensor(args, &t, SIMPLER_TAG_INOUT,
						      SIMPLER_TRANSFER_DEFAULT, &e), &e);
	return buffer;
}
