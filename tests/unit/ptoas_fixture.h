/* SPDX-License-Identifier: MIT */
/* Short programs for the tests of the assembler: a body goes into a function with usual values. */
#ifndef PTOAS_FIXTURE_H
#define PTOAS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../tools/ptoas/ops.h"
#include "../../tools/ptoas/ptoas.h"

/*
 * What a body may use: pointers %pf (f32) %ph (f16) %pi (i32), index %n, i32 %i, i64 %l, f32 %f,
 * i1 %b; constants %c0 %c1 %c8 %c16 %c64 (index), %one (f32 1.0), %i0 (i32 0).
 */
#define BODY_HEAD \
	"  func.func @k(%pf: !pto.ptr<f32>, %ph: !pto.ptr<f16>, %pi: !pto.ptr<i32>, " \
	"%n: index, %i: i32, %l: i64, %f: f32, %b: i1) {\n" \
	"    %c0 = arith.constant 0 : index\n" \
	"    %c1 = arith.constant 1 : index\n" \
	"    %c8 = arith.constant 8 : index\n" \
	"    %c16 = arith.constant 16 : index\n" \
	"    %c64 = arith.constant 64 : index\n" \
	"    %one = arith.constant 1.0 : f32\n" \
	"    %i0 = arith.constant 0 : i32\n"
#define BODY_HEAD_LINES	9	/* with the line of the module */

struct program {
	struct pto_diags diags;
	struct pto_module *m;
	struct pto_options options;
	char *text;
};

static inline void program_parse(struct program *p, enum pto_arch arch, const char *text)
{
	memset(p, 0, sizeof(*p));
	pto_diags_init(&p->diags);
	p->options.arch_given = true;
	p->options.arch = arch;
	p->text = strdup(text);
	p->m = pto_parse("t.pto", text, strlen(text), &p->options, &p->diags);
}

static inline void program_body(struct program *p, enum pto_arch arch, const char *body)
{
	char *text;

	assert_true(asprintf(&text, "module {\n%s%s    return\n  }\n}\n", BODY_HEAD, body) > 0);
	program_parse(p, arch, text);
	free(text);
}

static inline int program_verify(struct program *p)
{
	return p->m ? pto_verify(p->m, &p->options, &p->diags) : -1;
}

static inline void program_end(struct program *p)
{
	pto_module_free(p->m);
	pto_diags_fini(&p->diags);
	free(p->text);
}

/* Everything that was reported, for failure messages. */
static inline void program_show(const struct program *p)
{
	print_error("%s\n", p->text);
	pto_diags_print(&p->diags, stderr);
}

/* The first error's text, or "" when there is none. */
static inline const char *program_error(const struct program *p)
{
	return p->diags.first ? p->diags.first->text : "";
}

static inline char *program_print(struct program *p)
{
	struct pto_text t = { 0 };

	pto_print(p->m, &t);
	assert_false(t.no_memory);
	return t.data;
}

/* Ends @p: the C++ of its right program, or the first error of the passes; to be freed. */
static inline char *program_emit(struct program *p)
{
	struct pto_text out = { 0 };
	char *result;

	if (program_verify(p)) {
		program_show(p);
		fail_msg("the program is wrong before any pass");
	}
	if (pto_run_passes(p->m, &p->options, &p->diags, NULL) ||
	    pto_emit_cpp(p->m, &p->options, &p->diags, &out))
		result = strdup(program_error(p));
	else
		result = strdup(out.data);
	pto_text_free(&out);
	program_end(p);
	return result;
}

/* Line @n, from 1, of a text, without indentation; to be freed. */
static inline char *text_line(const char *text, unsigned int n)
{
	while (--n) {
		text = strchr(text, '\n');
		assert_non_null(text);
		text++;
	}
	text += strspn(text, " ");
	return strndup(text, strcspn(text, "\n"));
}

#endif
