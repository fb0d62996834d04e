/* SPDX-License-Identifier: MIT */
/*
 * Callables: validated bytes of an UPLOAD turned into loaded code.
 *
 * The bytes (struct simpler_hw_chip_callable and what follows it) come from
 * outside and may be corrupt; everything is checked before the dynamic linker
 * sees it.  Each chip loads its own private copy of the objects, so that
 * variables of an orchestration or kernel are never shared between contexts.
 */
#ifndef SIMPLER_CHIP_CALLABLE_H
#define SIMPLER_CHIP_CALLABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "pto_runtime_abi.h"
#include "simpler_hw.h"

#define CHIP_MAX_FUNC_ID	1024

struct chip_kernel {
	int32_t func_id;
	bool may_block;			/* uses an instruction that may suspend (PTO_MAY_BLOCK_SYMBOL) */
	pto_kernel_fn fn;
	uintptr_t text_lo, text_hi;	/* executable range of its object */
	void *object;			/* dlopen handle */
	char name[64];			/* DT_SONAME without ".so", else "kernel <func_id>" */
	/* Scheduler's: running mean of a block's duration, 0 = never measured. */
	uint32_t cost_ns;
	bool meets;			/* the executor's: blocks of its cohorts wait for each other in memory */
	_Atomic uint32_t samples;	/* read without the chip's lock to decide whether to measure */
};

struct chip_callable {
	int32_t sig_count;
	int32_t tensor_count;		/* entries of the signature that are not SCALAR */
	int32_t signature[SIMPLER_HW_CHIP_SIGNATURE];
	char func_name[SIMPLER_HW_SYMBOL_BYTES];
	char config_name[SIMPLER_HW_SYMBOL_BYTES];
	void *object;			/* orchestration */
	uintptr_t text_lo, text_hi;
	pto_orch_entry_fn entry;
	pto_orch_config_fn config;	/* NULL: none exported */
	pto_orch_bind_fn bind;		/* NULL: does not use the API */
	struct chip_kernel *kernels;	/* kernel_count, ordered by func_id */
	uint32_t kernel_count;
	struct chip_kernel **by_id;	/* [0, id_limit): NULL where undefined */
	uint32_t id_limit;
	uint64_t build_id;		/* of the orchestration: GNU build id, else FNV-1a-64 of its bytes */
};

/* What kernels are loaded for. */
struct chip_target {
	uint32_t arch;			/* SIMPLER_HW_ARCH_* */
	const struct pto_core_ops *core_ops; /* stored in every kernel that exports PTO_CORE_OPS_SYMBOL */
	/* NULL, or called before (true) and after each call of the dynamic linker */
	void (*linking)(void *arg, bool begins);
	void *arg;
};

/**
 * chip_callable_load - check and load callable bytes
 * @bytes: struct simpler_hw_chip_callable and its storage; not kept
 * @size: bytes available
 * @target: of its kernels; not kept
 * @out: the loaded callable
 * @err: text names what is wrong, with which value
 *
 * Errors: -EINVAL malformed bytes or object, or a kernel for another
 * architecture, -ENOENT a symbol is missing, -EEXIST a func_id occurs twice,
 * -ENOMEM, -ELIBBAD the dynamic linker refused (its message is in the text).  Nothing stays loaded after a failure.
 */
int chip_callable_load(const void *bytes, size_t size, const struct chip_target *target,
		       struct chip_callable **out, struct error_record *err);

/* Unloads; no run may be using it. NULL is allowed. */
void chip_callable_unload(struct chip_callable *c);

static inline struct chip_kernel *chip_callable_kernel(const struct chip_callable *c, int32_t func_id)
{
	return (uint32_t)func_id < c->id_limit ? c->by_id[func_id] : NULL;
}

#endif /* SIMPLER_CHIP_CALLABLE_H */
