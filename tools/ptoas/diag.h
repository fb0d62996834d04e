/* SPDX-License-Identifier: MIT */
/*
 * Diagnostics: collected, then printed as text with the source line and a caret, or as JSON.
 * The list owns its memory; what it says about a module stays valid after the module's end.
 */
#ifndef PTOAS_DIAG_H
#define PTOAS_DIAG_H

#include <stdio.h>

#include "ir.h"

enum pto_severity { PTO_ERROR, PTO_WARNING, PTO_NOTE };

struct pto_diag {
	struct pto_diag *next;
	enum pto_severity severity;
	const char *file;
	uint32_t line, col;		/* from 1; line 0: no place known */
	uint32_t width;			/* characters under the caret and tildes, at least 1 */
	const char *text;		/* message */
	const char *hint;		/* what to do, or NULL */
	const char *source;		/* the line, without newline, or NULL */
	const char *origin;		/* "file:line:col" of a loc(...), or NULL */
};

struct pto_diags {
	struct arena arena;
	struct pto_diag *first, **last;
	unsigned int errors, warnings;
	unsigned int limit;		/* errors beyond it are only counted */
};

void pto_diags_init(struct pto_diags *d);
void pto_diags_fini(struct pto_diags *d);

/* A diagnostic at a place of @m (NULL: about no text at all). */
void pto_diag(struct pto_diags *d, const struct pto_module *m, enum pto_severity severity,
	      struct pto_loc loc, const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
/* Error "'pto.OP' op MESSAGE" at @op (section 8.6). Return: -EINVAL. */
int pto_op_error(struct pto_diags *d, const struct pto_module *m, const struct pto_op *op,
		 const char *hint, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Line and column, both from 1, of a byte of the text. */
void pto_line_col(const char *text, size_t size, size_t at, uint32_t *line, uint32_t *col);

void pto_diags_print(const struct pto_diags *d, FILE *out);
/* One array of objects: severity, file, line, column, message, hint, source, origin. */
void pto_diags_print_json(const struct pto_diags *d, FILE *out);

#endif
