/* SPDX-License-Identifier: MIT */
/* Inside the printer. */
#ifndef PTOAS_PRINT_H
#define PTOAS_PRINT_H

#include "ops.h"
#include "ptoas.h"

struct printer {
	struct pto_text *out;
	unsigned int depth;		/* of indentation */
};

/* print_names.c: every value and block of @f gets a name that is unique where it is visible */
void name_values(struct pto_module *m, struct pto_func *f);

/* print.c */
void print_value(struct printer *p, const struct pto_value *v);
void print_name(struct printer *p, char sigil, const struct pto_name *n);
void print_attr(struct printer *p, const struct pto_attr *a, bool with_type);
void print_dict(struct printer *p, const struct pto_attr *list, size_t n);
void print_indent(struct printer *p);
void print_loc(struct printer *p, const struct pto_loc *loc);	/* nothing when none was given */

/* print_op.c */
void print_op(struct printer *p, const struct pto_op *op);
void print_attrs(struct printer *p, const struct pto_op *op, const char *fmt);
void print_operands(struct printer *p, const struct pto_op *op, unsigned int group);
/* Blocks of @r between braces; @args: the first block's arguments need a label. */
void print_region(struct printer *p, const struct pto_region *r, bool args);

/* print_flow.c */
void print_custom(struct printer *p, const struct pto_op *op, const char *which);

#endif
