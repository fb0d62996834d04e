/* SPDX-License-Identifier: MIT */
/*
 * Codes of failed runs: name, meaning, remedy (spec chip-runtime.md section 15.1). The device reports the positive code;
 * functions return it negated. Codes without an entry get a generic text, never a guess.
 */
#ifndef SIMPLER_BASE_RUN_CODE_H
#define SIMPLER_BASE_RUN_CODE_H

#include "simpler/error.h"	/* enum simpler_run_code */

struct run_code {
	int code;			/* positive */
	const char *name;		/* "HEAP_RING_DEADLOCK" */
	const char *description;
	const char *hint;
};

/** run_code_find() - entry of @code, or NULL when there is none */
const struct run_code *run_code_find(int code);

/* The same fields with generic texts for codes without an entry; never NULL. */
const char *run_code_name(int code);
const char *run_code_description(int code);
const char *run_code_hint(int code);

/** run_code_sub_class() - name of a SCHEDULER_TIMEOUT sub-class: "S1", …; "unknown" for others */
const char *run_code_sub_class(int sub_class);

#endif
