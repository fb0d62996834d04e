/* SPDX-License-Identifier: MIT */
/*
 * libptoas: .pto text in, verified program, C++ out (spec pto-isa.md 8, 9). Re-entrant: no state
 * outside the objects passed in, so any number of threads may assemble different modules.
 *
 *	struct pto_diags diags;
 *	struct pto_module *m;
 *	struct pto_text out = { 0 };
 *
 *	pto_diags_init(&diags);
 *	m = pto_parse("k.pto", text, size, &opts, &diags);
 *	if (m && !pto_verify(m, &opts, &diags) && !pto_run_passes(m, &opts, &diags, NULL) &&
 *	    !pto_emit_cpp(m, &opts, &diags, &out))
 *		use(out.data, out.size);
 *	pto_text_free(&out);
 *	pto_module_free(m);
 *	pto_diags_fini(&diags);
 */
#ifndef PTOAS_PTOAS_H
#define PTOAS_PTOAS_H

#include "diag.h"
#include "ir.h"

enum pto_level { PTO_LEVEL1 = 1, PTO_LEVEL2, PTO_LEVEL3 };

struct pto_options {
	bool arch_given;		/* arch overrides the module's pto.target_arch */
	enum pto_arch arch;
	enum pto_level level;		/* 0 counts as PTO_LEVEL2 */
	bool insert_sync;
	bool no_infer_layout;
	bool emit_addptr_trace;
	bool check_hazards;
	bool verify_each;		/* verify after each pass */
};

/* Growing text, NUL-terminated when not empty. Starts as { 0 }. */
struct pto_text {
	char *data;
	size_t size, room;
	bool no_memory;			/* something is missing from it */
};

void pto_text_add(struct pto_text *t, const char *bytes, size_t size);
void pto_text_str(struct pto_text *t, const char *s);
void pto_text_char(struct pto_text *t, char c);
void pto_text_int(struct pto_text *t, int64_t value);
void pto_text_printf(struct pto_text *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void pto_text_free(struct pto_text *t);

/* Inputs beyond these are refused with a diagnostic. */
#define PTO_MAX_TEXT	((size_t)1 << 30)
#define PTO_MAX_DEPTH	128		/* nested regions, attributes, types */

/**
 * pto_parse() - module from text
 * @file: name for diagnostics; copied
 * @text: @size bytes; copied, need not be terminated
 * @o: the architecture, which decides the layout of left tiles; NULL: what the text says
 *
 * Accepts every form of sections 8.1 to 8.9. Every operand is defined before its use and has the
 * type written beside it; nothing else is checked yet.
 *
 * Return: a module for pto_module_free(), or NULL after an error was put into @d.
 */
struct pto_module *pto_parse(const char *file, const char *text, size_t size,
			     const struct pto_options *o, struct pto_diags *d);

/* Empty module, for building a program by hand. NULL when memory is short. */
struct pto_module *pto_module_new(const char *file);
/* Ends everything of @m; NULL is allowed. */
void pto_module_free(struct pto_module *m);

/**
 * pto_verify() - every rule of section 8.6 that the text alone decides
 * @o: the architecture; NULL: the module's own
 *
 * Return: 0, or -EINVAL with all errors, in source order, in @d.
 */
int pto_verify(struct pto_module *m, const struct pto_options *o, struct pto_diags *d);

/**
 * pto_print() - text of @m, appended to @out; parsing it gives an equal module
 *
 * Printing the parse of a printed text gives that text again. Short tile types; all operand types
 * behind one colon.
 */
void pto_print(struct pto_module *m, struct pto_text *out);
void pto_print_op(struct pto_module *m, const struct pto_op *op, struct pto_text *out);
void pto_print_type(const struct pto_type *t, struct pto_text *out);

struct pto_observer {
	void (*pass_done)(const char *pass, struct pto_module *m, void *arg);
	void *arg;
};

/**
 * pto_run_passes() - the pipeline of section 9.3 up to emission
 * @after: called after each pass with its name; NULL: nobody
 *
 * Return: 0 or a negative code; what was wrong is in @d.
 */
int pto_run_passes(struct pto_module *m, const struct pto_options *o, struct pto_diags *d,
		   const struct pto_observer *after);

/**
 * pto_emit_cpp() - C++ of a module that all passes have run over (section 9.10), appended to @out
 *
 * Return: 0 or a negative code; what was wrong is in @d.
 */
int pto_emit_cpp(struct pto_module *m, const struct pto_options *o, struct pto_diags *d,
		 struct pto_text *out);

/**
 * pto_check_hazards() - independent check of a final program
 *
 * Conflicting accesses without a path, overlapping live buffers, ranges beyond a buffer's capacity,
 * event ids in use twice, waits never set.
 *
 * Return: 0 when there is none; -EINVAL with each in @d.
 */
int pto_check_hazards(struct pto_module *m, const struct pto_options *o, struct pto_diags *d);

#endif
