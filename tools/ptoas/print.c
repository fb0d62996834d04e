/* SPDX-License-Identifier: MIT */
/* Types, attributes, functions and modules as text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

/* ---- Types ----------------------------------------------------------------------------------- */

static void print_dim(struct pto_text *out, int64_t n)
{
	if (n == PTO_DYNAMIC)
		pto_text_char(out, '?');
	else
		pto_text_int(out, n);
}

static void print_dims(struct pto_text *out, const struct pto_type *t)
{
	unsigned int i;

	for (i = 0; i < t->rank; i++) {
		print_dim(out, t->dim[i]);
		pto_text_char(out, 'x');
	}
	pto_text_str(out, pto_elem_info((enum pto_elem)t->elem)->text);
}

static void print_key(struct pto_text *out, const char *key, const char *value)
{
	pto_text_str(out, ", ");
	pto_text_str(out, key);
	pto_text_str(out, value);
}

static void print_tile(struct pto_text *out, const struct pto_type *t)
{
	static const char *const boxes[] = { "none_box", "row_major", "col_major" };

	pto_text_str(out, pto_space_name((enum pto_space)t->space));
	pto_text_str(out, ", ");
	print_dims(out, t);
	if (t->valid[0] != t->dim[0] || t->valid[1] != t->dim[1]) {
		pto_text_str(out, ", valid=");
		print_dim(out, t->valid[0]);
		pto_text_char(out, 'x');
		print_dim(out, t->valid[1]);
	}
	if (t->blayout)
		print_key(out, "blayout=", "col_major");
	if (t->slayout)
		print_key(out, "slayout=", boxes[t->slayout]);
	if (t->fractal != 512)
		pto_text_printf(out, ", fractal=%u", t->fractal);
	if (t->pad)
		pto_text_printf(out, ", pad=%lld", (long long)t->pad);
	if (t->compact)
		pto_text_printf(out, ", compact=%u", t->compact);
}

static void print_inside(struct pto_text *out, const struct pto_type *t)
{
	switch (t->kind) {
	case PTO_T_TILE:
		print_tile(out, t);
		break;
	case PTO_T_PTR:
		pto_print_type(t->inner, out);
		break;
	case PTO_T_MULTI_TILE:
		pto_text_str(out, "tile_buf<");
		print_tile(out, t->inner);
		pto_text_printf(out, ">, count=%lld", (long long)t->count);
		break;
	case PTO_T_EVENTID_ARRAY:
		pto_text_int(out, t->count);
		break;
	case PTO_T_LOCAL_ARRAY:
		pto_text_printf(out, "%lldx%s", (long long)t->count,
				pto_elem_info((enum pto_elem)t->elem)->text);
		break;
	default:
		print_dims(out, t);
	}
	if (t->kind == PTO_T_MEMREF && t->space)
		pto_text_printf(out, ", #pto.address_space<%s>",
				pto_space_name((enum pto_space)t->space));
}

void pto_print_type(const struct pto_type *t, struct pto_text *out)
{
	static const char *const names[] = {
		[PTO_T_PTR] = "!pto.ptr", [PTO_T_VIEW] = "!pto.tensor_view",
		[PTO_T_PART] = "!pto.partition_tensor_view", [PTO_T_TILE] = "!pto.tile_buf",
		[PTO_T_TILE_VALUE] = "!pto.tile", [PTO_T_MULTI_TILE] = "!pto.multi_tile_buf",
		[PTO_T_LOCAL_ARRAY] = "!pto.local_array",
		[PTO_T_EVENTID_ARRAY] = "!pto.eventid_array", [PTO_T_PIPE] = "!pto.pipe",
		[PTO_T_ASYNC_SESSION] = "!pto.async_session",
		[PTO_T_ASYNC_EVENT] = "!pto.async_event",
		[PTO_T_PREFETCH_CTX] = "!pto.prefetch_async_context",
		[PTO_T_MEMREF] = "memref", [PTO_T_VECTOR] = "vector",
	};

	if (t->kind == PTO_T_SCALAR) {
		pto_text_str(out, pto_elem_info((enum pto_elem)t->elem)->text);
		return;
	}
	pto_text_str(out, names[t->kind]);
	if (t->kind >= PTO_T_PIPE && t->kind <= PTO_T_PREFETCH_CTX)
		return;
	pto_text_char(out, '<');
	print_inside(out, t);
	pto_text_char(out, '>');
}

/* ---- Names and attributes -------------------------------------------------------------------- */

static bool is_plain(const struct pto_name *n)
{
	uint32_t i;

	for (i = 0; i < n->size; i++) {
		char c = n->text[i], low = c | 0x20;
		bool alpha = (low >= 'a' && low <= 'z') || c == '_';

		if (!alpha && (!i || ((c < '0' || c > '9') && c != '.' && c != '$')))
			return false;
	}
	return n->size;
}

static void print_string(struct pto_text *out, const struct pto_name *n)
{
	uint32_t i;

	pto_text_char(out, '"');
	for (i = 0; i < n->size; i++) {
		unsigned char c = (unsigned char)n->text[i];

		if (c == '"' || c == '\\')
			pto_text_char(out, '\\');
		if (c < 0x20 || c >= 0x7f)
			pto_text_printf(out, "\\%02X", c);
		else
			pto_text_char(out, (char)c);
	}
	pto_text_char(out, '"');
}

void print_name(struct printer *p, char sigil, const struct pto_name *n)
{
	if (sigil)
		pto_text_char(p->out, sigil);
	if (sigil == '%' || sigil == '^' || is_plain(n))
		pto_text_add(p->out, n->text, n->size);
	else
		print_string(p->out, n);
}

void print_value(struct printer *p, const struct pto_value *v)
{
	if (v->name)
		print_name(p, '%', v->name);
	else
		pto_text_str(p->out, "%?");
}

/* Infinities and NaN have no decimal form: the bits of their type. */
static void print_special(struct pto_text *out, const struct pto_attr *a)
{
	enum pto_elem type = a->type ? (enum pto_elem)a->type->elem : PTO_F64;
	float f = (float)a->f;
	uint64_t wide;
	uint32_t bits;

	memcpy(&wide, &a->f, sizeof(wide));
	memcpy(&bits, &f, sizeof(bits));
	if (type == PTO_F64)
		pto_text_printf(out, "0x%016llX", (unsigned long long)wide);
	else if (type == PTO_BF16)
		pto_text_printf(out, "0x%04X", bits >> 16);
	else if (type == PTO_F16)
		pto_text_printf(out, "0x%04X",
				(bits >> 16 & 0x8000) | (isnan(f) ? 0x7E00 : 0x7C00));
	else
		pto_text_printf(out, "0x%08X", bits);
}

/* Shortest decimal that reads as the same double. */
static void print_float(struct pto_text *out, const struct pto_attr *a)
{
	char text[40];
	int digits;

	if (!isfinite(a->f)) {
		print_special(out, a);
		return;
	}
	for (digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*e", digits - 1, a->f);
		if (strtod(text, NULL) == a->f)
			break;
	}
	pto_text_str(out, text);
}

static void print_number(struct printer *p, const struct pto_attr *a, bool with_type)
{
	enum pto_elem implied = a->kind == PTO_ATTR_INT ? PTO_I64 : PTO_F64;

	if (a->kind == PTO_ATTR_INT)
		pto_text_int(p->out, a->i);
	else if (a->spelling)
		pto_text_add(p->out, a->spelling->text, a->spelling->size);
	else
		print_float(p->out, a);
	if (!a->type || (!with_type && a->type->elem == implied))
		return;
	pto_text_str(p->out, " : ");
	pto_print_type(a->type, p->out);
}

static void print_list(struct printer *p, const struct pto_attr *a)
{
	uint32_t i;

	for (i = 0; i < a->count; i++) {
		if (i)
			pto_text_str(p->out, ", ");
		print_attr(p, &a->list[i], false);
	}
}

static void print_enum(struct printer *p, const struct pto_attr *a)
{
	enum pto_attr_enum e = (enum pto_attr_enum)a->of;
	size_t n = 0;
	const char *value = pto_attr_enum_value(e, a->i, &n);

	pto_text_printf(p->out, "#pto.%s<%.*s>", pto_attr_enum_name(e), (int)n, value);
}

void print_attr(struct printer *p, const struct pto_attr *a, bool with_type)
{
	switch (a->kind) {
	case PTO_ATTR_UNIT:
		pto_text_str(p->out, "unit");
		break;
	case PTO_ATTR_BOOL:
		pto_text_str(p->out, a->i ? "true" : "false");
		break;
	case PTO_ATTR_INT:
	case PTO_ATTR_FLOAT:
		print_number(p, a, with_type);
		break;
	case PTO_ATTR_STRING:
		print_string(p->out, a->text);
		break;
	case PTO_ATTR_SYMBOL:
		print_name(p, '@', a->text);
		break;
	case PTO_ATTR_ENUM:
		print_enum(p, a);
		break;
	case PTO_ATTR_ARRAY:
		pto_text_char(p->out, '[');
		print_list(p, a);
		pto_text_char(p->out, ']');
		break;
	case PTO_ATTR_DENSE:
		pto_text_str(p->out, a->count == 1 ? "dense<" : "dense<[");
		print_list(p, a);
		pto_text_str(p->out, a->count == 1 ? "> : " : "]> : ");
		pto_print_type(a->type, p->out);
		break;
	case PTO_ATTR_DICT:
		print_dict(p, a->list, a->count);
		break;
	case PTO_ATTR_TYPE:
		pto_print_type(a->type, p->out);
		break;
	}
}

static void print_named(struct printer *p, const struct pto_attr *a)
{
	print_name(p, 0, a->name);
	if (a->kind == PTO_ATTR_UNIT)
		return;
	pto_text_str(p->out, " = ");
	print_attr(p, a, false);
}

void print_dict(struct printer *p, const struct pto_attr *list, size_t n)
{
	size_t i;

	pto_text_char(p->out, '{');
	for (i = 0; i < n; i++) {
		if (i)
			pto_text_str(p->out, ", ");
		print_named(p, &list[i]);
	}
	pto_text_char(p->out, '}');
}

void print_indent(struct printer *p)
{
	unsigned int i;

	for (i = 0; i < p->depth; i++)
		pto_text_str(p->out, "  ");
}

/* ---- Functions and modules ------------------------------------------------------------------- */

static void print_arg(struct printer *p, const struct pto_func *f, uint32_t i)
{
	const struct pto_block *entry = f->op->region[0].first;

	if (i)
		pto_text_str(p->out, ", ");
	if (entry) {
		print_value(p, &entry->args[i]);
		pto_text_str(p->out, ": ");
	}
	pto_print_type(f->arg_types[i], p->out);
	if (f->arg_attrs && f->arg_attrs[i].count) {
		pto_text_char(p->out, ' ');
		print_dict(p, f->arg_attrs[i].list, f->arg_attrs[i].count);
	}
}

void print_loc(struct printer *p, const struct pto_loc *loc)
{
	if (!loc->src)
		return;
	if (!loc->src->file) {
		pto_text_str(p->out, " loc(unknown)");
		return;
	}
	pto_text_str(p->out, " loc(");
	print_string(p->out, loc->src->file);
	pto_text_printf(p->out, ":%u:%u)", loc->src->line, loc->src->col);
}

static void print_func(struct printer *p, const struct pto_func *f)
{
	uint32_t i;

	print_indent(p);
	pto_text_str(p->out, f->is_private ? "func.func private " :
			     f->is_public ? "func.func public " : "func.func ");
	print_name(p, '@', f->name);
	pto_text_char(p->out, '(');
	for (i = 0; i < f->n_args; i++)
		print_arg(p, f, i);
	pto_text_char(p->out, ')');
	if (f->result) {
		pto_text_str(p->out, " -> ");
		pto_print_type(f->result, p->out);
	}
	if (f->op->n_attrs) {
		pto_text_str(p->out, " attributes ");
		print_dict(p, f->op->attr, f->op->n_attrs);
	}
	if (pto_func_has_body(f)) {
		pto_text_char(p->out, ' ');
		print_region(p, &f->op->region[0], false);
	}
	print_loc(p, &f->op->loc);
	pto_text_char(p->out, '\n');
}

void pto_print(struct pto_module *m, struct pto_text *out)
{
	struct printer p = { .out = out };

	pto_text_str(out, "module");
	if (m->name) {
		pto_text_char(out, ' ');
		print_name(&p, '@', m->name);
	}
	if (m->n_attrs) {
		pto_text_str(out, " attributes ");
		print_dict(&p, m->attr, m->n_attrs);
	}
	pto_text_str(out, " {\n");
	p.depth = 1;
	pto_for_each_func(f, m) {
		name_values(m, f);
		print_func(&p, f);
	}
	pto_text_str(out, "}\n");
}

void pto_print_op(struct pto_module *m, const struct pto_op *op, struct pto_text *out)
{
	struct printer p = { .out = out };

	(void)m;
	print_op(&p, op);
	print_loc(&p, &op->loc);
}
