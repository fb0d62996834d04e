/* SPDX-License-Identifier: MIT */
/*
 * A simulated chip with one stream, for tests of the chip runtime: loads an
 * orchestration and kernels that the build made, runs launches, and keeps the
 * device's status record.  Everything that fails unexpectedly fails the test.
 */
#ifndef TESTS_CHIP_FIXTURE_H
#define TESTS_CHIP_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sanitize.h"
#include "model/model.h"

/*
 * Only ends what must not happen.  ThreadSanitizer stops all threads for seconds when it runs out
 * of clocks, and a thread that is ended meanwhile takes a lock of the sanitizer with it.
 */
#define FIXTURE_WATCHDOG_MS	(SANITIZE_THREAD ? 120000 : 5000)
/* Where the watchdog itself is tested. */
#define FIXTURE_SHORT_MS	(SANITIZE_THREAD ? 1500 : 150)

struct chip_fixture {
	struct model *model;
	struct model_context *context;
	struct model_stream *stream;
	uint32_t entries;			/* of the stream's ring */
	uint64_t seqno;
	uint32_t arch;
	uint32_t slot;				/* of the callable loaded last */
	struct simpler_hw_status status;	/* of the last upload or launch */
	struct simpler_hw_launch launch;	/* template: rings, dependence mode, … */
	struct simpler_hw_tensor tensors[8];
	uint64_t scalars[SIMPLER_HW_MAX_SCALARS];
};

/* A combination under which a suite runs. */
struct chip_variant {
	uint32_t arch;		/* SIMPLER_HW_ARCH_* */
	uint32_t threads;	/* 0: the environment decides, also whether tasks run inline */
	bool inline_tasks;
};
extern struct chip_variant chip_variant;

/*
 * Runs the tests once for each architecture, number of engine threads (1, 2,
 * 8) and way to start ready tasks; once for each architecture when the
 * environment has SIMPLER_ENGINE_THREADS.  Returns the number of failures.
 */
#define chip_run_suite(name, tests, setup, teardown) \
	chip_run_variants(name, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)
struct CMUnitTest;
int chip_run_variants(const char *name, const struct CMUnitTest *tests, size_t count,
		      int (*setup)(void **state), int (*teardown)(void **state));

/* fixture_open() as the variant wants it. */
void fixture_open_variant(struct chip_fixture *f, uint32_t no_progress_ms);

/* @arch SIMPLER_HW_ARCH_*; @threads 0: the environment decides. */
void fixture_open(struct chip_fixture *f, uint32_t arch, uint32_t threads, uint32_t no_progress_ms);
void fixture_close(struct chip_fixture *f);

/*
 * Loads $SIMPLER_BUILD_DIR/tests/conformance/orch/<orch>-<platform>.so with
 * kernels named in @kernels (comma separated, from kernels/; func_ids 0, 1, …).
 */
void fixture_load(struct chip_fixture *f, const char *orch, const char *kernels);

/* Operand @i: a dense 1-D tensor in device memory of the caller's. */
void fixture_tensor(struct chip_fixture *f, uint32_t i, void *data, uint32_t dtype, uint32_t bytes,
		    uint32_t count);

/* Launches with the operands set; scalars are @count words.  Returns the run code (0 = success). */
int fixture_run(struct chip_fixture *f, uint32_t count, ...);

/* The same with the scalars set by the caller. */
int fixture_launch(struct chip_fixture *f);
/* Only pushes the launch. */
void fixture_begin(struct chip_fixture *f);

/* Pushes a command and waits for it. */
void fixture_command(struct chip_fixture *f, struct simpler_hw_cmd cmd);
/* Pushes a command; fixture_wait() awaits the last one pushed. */
void fixture_push(struct chip_fixture *f, struct simpler_hw_cmd cmd);
int fixture_wait(struct chip_fixture *f, int64_t timeout_ns);

/* The last status has this code and its text contains @part. */
void fixture_expect(struct chip_fixture *f, int code, const char *part);

/* Bytes of a callable; free() them. */
void *fixture_callable(const char *orch_path, const char *const *kernel_paths, uint32_t count,
		       uint64_t *bytes);

#endif /* TESTS_CHIP_FIXTURE_H */
