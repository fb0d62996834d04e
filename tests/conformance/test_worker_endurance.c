/* SPDX-License-Identifier: MIT */
/* Many runs and many Workers in one process leave nothing behind. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/sanitize.h"
#include "object_file.h"
#include "simpler/simpler.h"

#define ELEMENTS	256
#define SLACK_KB	2048	/* of resident memory; 300 bytes lost per round would exceed it */

struct usage {
	long resident_kb;
	int files;
	int threads;
	int mappings;
};

static int entries(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static int lines(const char *path)
{
	FILE *f = fopen(path, "r");
	int c, n = 0;

	assert_non_null(f);
	while ((c = fgetc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return n;
}

static struct usage measure(void)
{
	struct usage u = { 0 };
	FILE *f = fopen("/proc/self/statm", "r");
	long pages;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*d %ld", &pages), 1);
	fclose(f);
	u.resident_kb = pages * (sysconf(_SC_PAGESIZE) / 1024);
	u.files = entries("/proc/self/fd");
	u.threads = entries("/proc/self/task");
	u.mappings = lines("/proc/self/maps");
	return u;
}

/* Sanitizers keep freed memory and their own mappings, so there only handles are compared. */
static void expect_flat(const struct usage *before, const struct usage *after)
{
	assert_int_equal(after->files, before->files);
	/* a chip's pool gets its threads when they are needed, at most one for each CPU */
	assert_true(after->threads <= before->threads + sysconf(_SC_NPROCESSORS_ONLN));
	if (SANITIZE_ADDRESS || SANITIZE_THREAD)
		return;
	assert_true(after->mappings <= before->mappings + 8);
	if (after->resident_kb > before->resident_kb + SLACK_KB)
		fail_msg("resident memory grew from %ld to %ld KB", before->resident_kb,
			 after->resident_kb);
}

static struct simpler_chip_callable *program(void)
{
	static const int32_t signature[] = { SIMPLER_DIR_INOUT, SIMPLER_DIR_SCALAR };
	size_t kernel_size, orch_size;
	void *kernel = object_read("kernels", "add_one", "a5sim", &kernel_size);
	void *orch = object_read("orch", "worker", "a5sim", &orch_size);
	struct simpler_core_callable *core;
	struct simpler_chip_callable *chip;
	struct simpler_chip_child child = { .func_id = 0 };
	struct simpler_chip_spec spec = {
		.signature = signature, .sig_count = 2, .func_name = "aicpu_orchestration_entry",
		.binary = orch, .binary_bytes = orch_size, .children = &child, .child_count = 1,
	};

	assert_int_equal(simpler_core_callable_build(NULL, 0, kernel, kernel_size, &core, NULL), 0);
	child.callable = core;
	assert_int_equal(simpler_chip_callable_build(&spec, &chip, NULL), 0);
	simpler_core_callable_put(core);
	free(kernel);
	free(orch);
	return chip;
}

static struct simpler_worker *ready(void)
{
	struct simpler_worker *w;

	assert_int_equal(simpler_worker_create(2, &w), 0);
	assert_int_equal(simpler_worker_set_platform(w, "a5sim"), 0);
	assert_int_equal(simpler_worker_set_runtime(w, "tensormap_and_ringbuffer"), 0);
	assert_int_equal(simpler_worker_init(w, NULL), 0);
	return w;
}

static struct simpler_task_args *arguments(struct simpler_buffer *b)
{
	struct simpler_task_args *a;
	struct simpler_tensor t;

	assert_int_equal(simpler_tensor_init_dense(&t, b, SIMPLER_FLOAT32, 1,
						   (uint32_t[]){ ELEMENTS }, NULL), 0);
	assert_int_equal(simpler_task_args_create(&a), 0);
	assert_int_equal(simpler_task_args_add_tensor(a, &t, SIMPLER_TAG_INOUT, -1, NULL), 0);
	assert_int_equal(simpler_task_args_add_scalar(a, 1), 0);
	return a;
}

static void runs(struct simpler_worker *w, const struct simpler_callable_handle *f,
		 const struct simpler_task_args *a, int count)
{
	struct simpler_run *r;
	int i;

	for (i = 0; i < count; i += 2) {
		assert_int_equal(simpler_worker_run(w, f, a, NULL, NULL), 0);
		assert_int_equal(simpler_worker_submit(w, f, a, NULL, NULL, &r), 0);
		simpler_run_put(r);
	}
}

static void ten_thousand_runs_leave_nothing(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_chip_callable *c = program();
	struct simpler_callable_handle f;
	struct simpler_buffer *b;
	struct simpler_task_args *a;
	struct usage before, after;
	float *data, sum = 1001;
	long rounds = 0;

	(void)state;
	assert_int_equal(simpler_worker_register(w, c, &f), 0);
	assert_int_equal(simpler_worker_create_buffer(w, ELEMENTS * 4, &b), 0);
	data = simpler_buffer_data(b);
	a = arguments(b);
	runs(w, &f, a, 1000);
	/* a round in which the pool got a thread would show the thread's stacks */
	do {
		before = measure();
		runs(w, &f, a, 9000);
		after = measure();
		sum += 9000;
	} while (after.threads != before.threads && rounds++ < sysconf(_SC_NPROCESSORS_ONLN));
	/* the last submit may still be in flight; close waits for it */
	expect_flat(&before, &after);
	assert_int_equal(simpler_worker_run(w, &f, a, NULL, NULL), 0);
	assert_true(data[0] == sum && data[ELEMENTS - 1] == sum);
	simpler_task_args_destroy(a);
	simpler_buffer_put(b);
	simpler_chip_callable_put(c);
	assert_int_equal(simpler_worker_destroy(w), 0);
}

static void workers(struct simpler_chip_callable *c, int count)
{
	int i;

	for (i = 0; i < count; i++) {
		struct simpler_worker *w = ready();
		struct simpler_callable_handle f;
		struct simpler_buffer *b, *h;
		struct simpler_task_args *a;

		assert_int_equal(simpler_worker_register(w, c, &f), 0);
		assert_int_equal(simpler_worker_malloc(w, ELEMENTS * 4, &b), 0);
		assert_int_equal(simpler_worker_create_buffer(w, ELEMENTS * 4, &h), 0);
		a = arguments(i % 2 ? b : h);
		assert_int_equal(simpler_worker_run(w, &f, a, NULL, NULL), 0);
		simpler_task_args_destroy(a);
		simpler_buffer_put(b);
		simpler_buffer_put(h);
		assert_int_equal(simpler_worker_destroy(w), 0);
	}
}

static void thousand_workers_leave_nothing(void **state)
{
	struct simpler_chip_callable *c = program();
	struct usage before, after;
	int files = entries("/dev/shm");

	(void)state;
	workers(c, 100);
	before = measure();
	workers(c, 900);
	after = measure();
	expect_flat(&before, &after);
	assert_true(entries("/dev/shm") <= files + 16);	/* other programs may come and go */
	simpler_chip_callable_put(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ten_thousand_runs_leave_nothing),
		cmocka_unit_test(thousand_workers_leave_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
