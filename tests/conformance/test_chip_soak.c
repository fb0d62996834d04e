// SPDX-License-Identifier: MIT
/* Many runs and many chips leave nothing behind: memory, threads, descriptors, mappings, keys, files. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/sanitize.h"
#include "chip_script.h"
#include "simpler/error.h"

#define RUNS	10000
#define CYCLES	1000
#define WARM_UP	50	/* cycles; also a tenth of the runs */
#define ENGINE_THREADS 2
#define RSS_SLACK_KB 2048
#define SANITIZERS (SANITIZE_ADDRESS || SANITIZE_THREAD)

/* What a process holds. */
struct holdings {
	long rss_kb;
	int threads;
	int descriptors;
	int mappings;
	int keys;
	int temporary;
};

static int entries_of(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	int n = 0;

	if (!d)
		return 0;
	while ((e = readdir(d)))
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static int lines_of(const char *path)
{
	FILE *file = fopen(path, "r");
	int c, n = 0;

	assert_non_null(file);
	while ((c = getc(file)) != EOF)
		n += c == '\n';
	fclose(file);
	return n;
}

static long rss_kb(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*d %ld", &pages), 1);
	fclose(file);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Keys that are left: a process has only PTHREAD_KEYS_MAX of them. */
static int keys_in_use(void)
{
	static pthread_key_t keys[2048];
	int n = 0;

	while (n < 2048 && !pthread_key_create(&keys[n], NULL))
		n++;
	for (int i = 0; i < n; i++)
		pthread_key_delete(keys[i]);
	return -n;
}

static struct holdings now(void)
{
	return (struct holdings){
		.keys = keys_in_use(),
		.rss_kb = rss_kb(),
		.threads = entries_of("/proc/self/task"),
		.descriptors = entries_of("/proc/self/fd"),
		.mappings = lines_of("/proc/self/maps"),
		.temporary = entries_of(getenv("TMPDIR")),
	};
}

static void expect_same(const struct holdings *before, const struct holdings *after)
{
	/* an open chip starts its threads when it first needs them: monitor and pool */
	if (after->threads > before->threads)
		assert_in_range(after->threads, 1, 2 + ENGINE_THREADS + SANITIZE_THREAD);
	assert_int_equal(after->descriptors, before->descriptors);
	assert_int_equal(after->keys, before->keys);
	assert_int_equal(after->temporary, before->temporary);
	/* the sanitizers keep books of their own */
	if (SANITIZERS)
		return;
	/* stacks and allocation arenas of such threads */
	if (after->mappings > before->mappings + 16)
		fail_msg("mappings grew from %d to %d", before->mappings, after->mappings);
	if (after->rss_kb > before->rss_kb + RSS_SLACK_KB)
		fail_msg("resident memory grew from %ld to %ld KiB", before->rss_kb, after->rss_kb);
}

static void one_run(int i)
{
	switch (i % 8) {
	case 0:
		script_ok("scope; make a 256; fill B out:a; assign C in:a out:x; increment D io:x; end");
		break;
	case 1:
		script_ok("hold A out:x; stamp B in:x; release C; get D x[0]");
		break;
	case 2:
		script_ok("repeat 20 [scope; alloc a 100; stamp A io:x; end]");
		break;
	case 3:
		script_fails(SIMPLER_RUN_INVALID_ARGS, "never submitted", "hold A; stamp B dep:?");
		break;
	case 4:
		script_ok("manual; stamp A new:a; stamp B in:a dep:A; end; set D x[0]");
		break;
	case 5:
		script_fails(SIMPLER_RUN_HEAP_RING_DEADLOCK, "exceed the heap", "alloc a 100000000");
		break;
	case 6:
		script_ok("many 40 dummy A io:x; many 40 stamp B in:y");
		break;
	default:
		script_ok("stamp A");
		break;
	}
}

static void ten_thousand_runs_leave_nothing_behind(void **state)
{
	struct holdings before, after;
	int scale = SANITIZERS ? 10 : 1;

	(void)state;
	for (int i = 0; i < RUNS / 10 / scale; i++)
		one_run(i);
	before = now();
	for (int i = 0; i < RUNS / scale; i++)
		one_run(i);
	after = now();
	expect_same(&before, &after);
}

/* With streams and memory that nobody frees, and sometimes a run under way. */
static void one_chip(int i)
{
	struct model_stream *extra;
	uint64_t addr;

	chip_variant.arch = i % 2 ? SIMPLER_HW_ARCH_A5 : SIMPLER_HW_ARCH_A2A3;
	if (i % 5) {
		fixture_open_variant(&script_chip, FIXTURE_WATCHDOG_MS);
		fixture_command(&script_chip, (struct simpler_hw_cmd){ .opcode = SIMPLER_HW_OP_NOP });
	} else if (i % 2) {
		script_setup(NULL);
		script_begin("keep A");
		assert_int_equal(fixture_wait(&script_chip, 0), -ETIMEDOUT);
	} else {
		script_setup(NULL);
		script_ok("hold A out:x; stamp B in:x; release C; alloc a 256");
	}
	assert_int_equal(model_stream_create(script_chip.context, 64, &extra), 0);
	assert_int_equal(model_memory_alloc(script_chip.context, 1 + 4096u * (uint32_t)(i % 64), &addr), 0);
	assert_int_equal(model_context_destroy(script_chip.context), 0);
	model_close(script_chip.model);
}

static void a_thousand_chips_leave_nothing_behind(void **state)
{
	struct holdings before, after;
	int scale = SANITIZERS ? 10 : 1;

	(void)state;
	for (int i = 0; i < WARM_UP; i++)
		one_chip(i);
	before = now();
	for (int i = 0; i < CYCLES / scale; i++)
		one_chip(i);
	after = now();
	expect_same(&before, &after);
	assert_int_equal(after.threads, before.threads);
}

static void many_callables_leave_nothing_behind(void **state)
{
	struct holdings before = { 0 }, after;

	(void)state;
	script_setup(NULL);
	for (int i = 0; i < 60 + (SANITIZERS ? 100 : 500); i++) {
		if (i == 60)
			before = now();
		fixture_load(&script_chip, "expects_three", "stamp,hold");
		fixture_command(&script_chip, (struct simpler_hw_cmd){
			.opcode = SIMPLER_HW_OP_UNLOAD, .unload.slot = script_chip.slot-- });
	}
	after = now();
	expect_same(&before, &after);
	script_teardown(NULL);
}

/* Growth that fails leaves the arena of before, and a working chip (case 52). */
static void chip_case_52_rings_grow_and_keep_what_they_have(void **state)
{
	struct holdings before, after;

	(void)state;
	script_setup(NULL);
	for (int r = 0; r < 4; r++)
		script_chip.launch.ring_heap[r] = 1 << 20;
	script_ok("alloc a 65536; fill B out:a; assign C in:a out:x");
	before = now();
	for (int i = 0; i < 100; i++) {
		for (int r = 0; r < 4; r++)
			script_chip.launch.ring_heap[r] = 64u << 20;
		model_inject(script_chip.context, MODEL_INJECT_ALLOC_FAILURE, 0);
		assert_int_not_equal(script_run("stamp A"), 0);
		assert_non_null(strstr(script_chip.status.text, "no memory for ring"));
		for (int r = 0; r < 4; r++)
			script_chip.launch.ring_heap[r] = 1 << 20;
		script_x[9][1] = 0;
		script_ok("alloc a 65536; fill B out:a; assign C in:a out:x");
		assert_true(script_x[9][1] == 1.0f);
	}
	after = now();
	expect_same(&before, &after);
	/* larger, then smaller again */
	for (int i = 0; i < 100; i++) {
		for (int r = 0; r < 4; r++) {
			script_chip.launch.ring_heap[r] = 1u << (12 + i % 12);
			script_chip.launch.ring_window[r] = 4u << i % 10;
		}
		script_ok("scope; alloc a 16; stamp A io:x; end; scope; alloc b 240; stamp B io:x; end");
	}
	script_teardown(NULL);
}

static int open_chip(void **state)
{
	return script_setup(state);
}

static int close_chip(void **state)
{
	return script_teardown(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ten_thousand_runs_leave_nothing_behind, open_chip,
						close_chip),
		cmocka_unit_test(a_thousand_chips_leave_nothing_behind),
		cmocka_unit_test(many_callables_leave_nothing_behind),
		cmocka_unit_test(chip_case_52_rings_grow_and_keep_what_they_have),
	};

	char temporary[] = "/tmp/soak-XXXXXX";
	int failures;

	/* failed runs are part of it, their messages are not */
	setenv("SIMPLER_LOG_LEVEL", "NUL", 0);
	setenv("TMPDIR", mkdtemp(temporary), 1);
	chip_variant = (struct chip_variant){ SIMPLER_HW_ARCH_A2A3, ENGINE_THREADS, true };
	failures = cmocka_run_group_tests_name("soak", tests, NULL, NULL);
	rmdir(temporary);
	return failures;
}
