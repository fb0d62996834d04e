/* SPDX-License-Identifier: MIT */
/* Configuration of one run (worker-api §10, chip-runtime §11.2, decisions D1). */
#ifndef SIMPLER_CALL_CONFIG_H
#define SIMPLER_CALL_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "simpler/error.h"
#include "simpler/export.h"

SIMPLER_BEGIN_DECLS

#define SIMPLER_RINGS			4	/* one per scope depth */
#define SIMPLER_OUTPUT_PREFIX_BYTES	1024	/* including the NUL */
#define SIMPLER_CALL_CONFIG_WIRE_BYTES	1144	/* what travels: the fields before @deps */

/* Which hazards order tasks; 0 in CallConfig.runtime_env means "as SIMPLER_DEPS says". */
enum simpler_deps {
	SIMPLER_DEPS_DEFAULT = 0,
	SIMPLER_DEPS_SEQUENTIAL = 1,	/* read-after-write, write-after-write, write-after-read */
	SIMPLER_DEPS_RAW = 2		/* the weaker rule; also by SIMPLER_DEPS=raw */
};

/* Ring overrides; a zero entry is unset: environment, then the built-in default. */
struct simpler_runtime_env {
	uint64_t ring_task_window[SIMPLER_RINGS];	/* tasks; power of two in [4, 2^31 - 1] */
	uint64_t ring_heap[SIMPLER_RINGS];		/* bytes, in [1024, 2^46] */
	uint64_t ring_dep_pool[SIMPLER_RINGS];		/* entries, in [4, 2^31 - 1] */
};

/* All zero is a valid configuration, and the default. */
struct simpler_call_config {
	int32_t aicpu_thread_num;	/* 0: the architecture's default */
	int32_t enable_chip_swimlane;	/* 0..4 */
	int32_t enable_dump_args;	/* 0..3 */
	int32_t enable_pmu;		/* 0 off, else the event type */
	int32_t enable_dep_gen;		/* 0 or 1 */
	int32_t enable_scope_stats;	/* 0 or 1 */
	struct simpler_runtime_env runtime_env;
	char output_prefix[SIMPLER_OUTPUT_PREFIX_BYTES];	/* needed by any diagnostic */
	/* not on the wire */
	uint32_t deps;			/* enum simpler_deps */
	uint32_t reserved[15];		/* zero */
};
SIMPLER_STATIC_ASSERT(offsetof(struct simpler_call_config, deps) ==
		      SIMPLER_CALL_CONFIG_WIRE_BYTES, "CallConfig wire layout");

/** simpler_call_config_init - all defaults */
SIMPLER_API void simpler_call_config_init(struct simpler_call_config *c);

/**
 * simpler_call_config_set_prefix - copy a path into output_prefix
 *
 * Returns 0, or SIMPLER_ERR_CONFIG_PREFIX when it is longer than 1023 bytes.
 */
SIMPLER_API int simpler_call_config_set_prefix(struct simpler_call_config *c, const char *prefix,
					       struct simpler_error *error);

/* Sets all four entries of a runtime_env array. */
SIMPLER_API void simpler_ring_set_all(uint64_t entries[SIMPLER_RINGS], uint64_t value);

/**
 * simpler_call_config_validate - check all fields
 *
 * Every submit does this.  Returns 0, SIMPLER_ERR_CONFIG, SIMPLER_ERR_CONFIG_PREFIX
 * or SIMPLER_ERR_CONFIG_RING; @error may be NULL.  Thread safe.
 */
SIMPLER_API int simpler_call_config_validate(const struct simpler_call_config *c,
					     struct simpler_error *error);

SIMPLER_END_DECLS

#endif /* SIMPLER_CALL_CONFIG_H */
