/* SPDX-License-Identifier: MIT */
/*
 * Passes: plain functions over a module, run in the order of section 9.3 by pto_run_passes().
 * A pass says what it needs and what it gives in the comment above it; the verifier runs after each
 * one when the options ask for it.
 */
#ifndef PTOAS_PASS_H
#define PTOAS_PASS_H

#include "diag.h"
#include "ops.h"
#include "ptoas.h"

struct pto_pass_ctx {
	struct pto_module *module;
	const struct pto_options *options;
	struct pto_diags *diags;
	enum pto_arch arch;		/* of the module, after options */
	enum pto_level level;
};

struct pto_pass {
	const char *name;		/* for --print-after */
	/* Return: 0, or a negative code after an error was put into diags. */
	int (*run)(struct pto_pass_ctx *c);
	/* Whether it runs at all; NULL: always. */
	bool (*wanted)(const struct pto_pass_ctx *c);
};

/* All passes in order, ended by a name of NULL (passes.c). */
extern const struct pto_pass pto_passes[];

#endif
