/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "equal.h"
#include "ops.h"
#include "walk.h"

struct compare {
	struct px *px;
	struct var_map to_b, to_a;
	bool auto_mapping;
	char path[512];
	const char *reason;
};

static bool same(struct compare *c, const struct ir_node *a, const struct ir_node *b);

static bool differ(struct compare *c, const char *reason)
{
	if (!c->reason)
		c->reason = reason;
	return false;
}

static bool is_index(unsigned int dtype)
{
	return dtype == DT_INDEX || dtype == DT_INT64;
}

static bool same_list(struct compare *c, const struct ir_list *a, const struct ir_list *b,
		      const char *name)
{
	size_t n = strlen(c->path);
	uint32_t i;

	if (a->n != b->n)
		return differ(c, "the numbers of elements differ");
	for (i = 0; i < a->n; i++) {
		snprintf(c->path + n, sizeof(c->path) - n, ".%s[%u]", name, i);
		if (!a->at[i] != !b->at[i])
			return differ(c, "one side lacks the element");
		if (a->at[i] && !same(c, a->at[i], b->at[i]))
			return false;
	}
	c->path[n] = '\0';
	return true;
}

static bool same_view(struct compare *c, const struct tile_view *a, const struct tile_view *b)
{
	if (a->blayout != b->blayout || a->slayout != b->slayout || a->fractal != b->fractal ||
	    a->pad != b->pad)
		return differ(c, "the layouts differ");
	return same_list(c, &a->valid, &b->valid, "valid_shape");
}

static bool same_type(struct compare *c, const struct ir_type *a, const struct ir_type *b)
{
	uint32_t i;

	if (!a || !b || a == b)
		return a == b || differ(c, "one side lacks a type");
	if (a->kind != b->kind)
		return differ(c, "the kinds of type differ");
	if (a->dtype != b->dtype)
		return differ(c, "the element types differ");
	if (!same_list(c, &a->shape, &b->shape, "shape"))
		return false;
	if (a->kind == TY_TILE && !same_view(c, &a->view, &b->view))
		return false;
	if (a->n_items != b->n_items)
		return differ(c, "the numbers of types differ");
	for (i = 0; i < a->n_items; i++)
		if (!same_type(c, a->items[i], b->items[i]))
			return false;
	return true;
}

static void pair(struct compare *c, const struct ir_node *a, const struct ir_node *b)
{
	var_map_set(&c->to_b, a, (void *)b);
	var_map_set(&c->to_a, b, (void *)a);
}

static bool same_use(struct compare *c, const struct ir_node *a, const struct ir_node *b)
{
	const void *to_b = var_map_get(&c->to_b, a), *to_a = var_map_get(&c->to_a, b);

	if (to_b || to_a)
		return (to_b == b && to_a == a) || differ(c, "different variables are used");
	if (a == b) {
		pair(c, a, b);
		return true;
	}
	if (a->kind == IR_VAR && b->kind == IR_VAR && IR_AS(a, var)->dynamic &&
	    IR_AS(b, var)->dynamic)
		return !strcmp(IR_AS(a, var)->name, IR_AS(b, var)->name) ||
		       differ(c, "different symbolic extents are used");
	if (!c->auto_mapping)
		return differ(c, "a free variable is not the same node");
	if (!same_type(c, a->type, b->type))
		return false;
	pair(c, a, b);
	return true;
}

static bool same_def(struct compare *c, const struct ir_node *a, const struct ir_node *b)
{
	if (a->kind != b->kind)
		return differ(c, "the kinds of variable differ");
	if (var_map_get(&c->to_b, a) || var_map_get(&c->to_a, b))
		return same_use(c, a, b);
	if (!same_type(c, a->type, b->type))
		return false;
	if (a->kind == IR_ITER_ARG && !same(c, IR_AS(a, var)->init, IR_AS(b, var)->init))
		return false;
	pair(c, a, b);
	return true;
}

static bool same_defs(struct compare *c, const struct ir_list *a, const struct ir_list *b,
		      const char *name)
{
	size_t n = strlen(c->path);
	uint32_t *order, i;

	if (a->n != b->n)
		return differ(c, "the numbers of variables differ");
	order = ir_def_order(c->px, a);
	for (i = 0; i < a->n; i++) {
		snprintf(c->path + n, sizeof(c->path) - n, ".%s[%u]", name, order[i]);
		if (!same_def(c, a->at[order[i]], b->at[order[i]]))
			return false;
	}
	c->path[n] = '\0';
	return true;
}

static bool same_attr(const struct ir_attr *a, const struct ir_attr *b)
{
	return !strcmp(a->key, b->key) && a->kind == b->kind && a->class == b->class &&
	       a->i == b->i && !memcmp(&a->f, &b->f, sizeof(a->f)) &&
	       (a->s == b->s || (a->s && b->s && !strcmp(a->s, b->s)));
}

static bool same_attrs(struct compare *c, const struct ir_call *a, const struct ir_call *b)
{
	uint32_t i;

	if (a->n_attrs != b->n_attrs)
		return differ(c, "the numbers of keywords differ");
	for (i = 0; i < a->n_attrs; i++)
		if (!same_attr(&a->attrs[i], &b->attrs[i]))
			return differ(c, "the values of a keyword differ");
	return true;
}

static bool same_returns(struct compare *c, const struct ir_function *a,
			 const struct ir_function *b)
{
	uint32_t i;

	if (a->n_returns != b->n_returns)
		return differ(c, "the numbers of return types differ");
	for (i = 0; i < a->n_returns; i++)
		if (!same_type(c, a->return_types[i], b->return_types[i]))
			return false;
	return true;
}

/* How statements are grouped does not matter: text does not show it. */
static bool same_body(struct compare *c, struct ir_node *a, struct ir_node *b)
{
	struct ir_list la = ir_flat(c->px, a), lb = ir_flat(c->px, b);

	return same_list(c, &la, &lb, "stmts");
}

static bool is_group(const struct ir_node *node)
{
	return node->kind == IR_SEQ || node->kind == IR_OPS;
}

/* Where a loop comes from is no part of the text. */
static bool is_origin(const struct ir_node *node, const struct ir_field *field)
{
	return node->kind == IR_FOR && field->offset == offsetof(struct ir_for, origin);
}

static bool same_field(struct compare *c, const struct ir_node *a, const struct ir_node *b,
		       const struct ir_field *field)
{
	void *x = ir_field_at(a, field), *y = ir_field_at(b, field);

	switch (field->kind) {
	case FK_I64:
	case FK_U64:
		return *(int64_t *)x == *(int64_t *)y || differ(c, "the numbers differ");
	case FK_F64:	/* by bits: zeros differ by sign, and not a number is itself */
		return !memcmp(x, y, sizeof(double)) || differ(c, "the numbers differ");
	case FK_U8:
		if (is_origin(a, field))
			return true;
		return *(uint8_t *)x == *(uint8_t *)y || differ(c, "the kinds differ");
	case FK_CALLEE:
		return !strcmp(*(const char **)x, *(const char **)y) ||
		       differ(c, "different functions are called");
	case FK_EXPR:
		if (!*(void **)x || !*(void **)y)
			return *(void **)x == *(void **)y || differ(c, "one side lacks it");
		return same(c, *(struct ir_node **)x, *(struct ir_node **)y);
	case FK_STMT:
		if (!*(void **)x || !*(void **)y)
			return *(void **)x == *(void **)y || differ(c, "one side lacks it");
		return same_body(c, *(struct ir_node **)x, *(struct ir_node **)y);
	case FK_EXPRS:
	case FK_FUNCS:
		return same_list(c, x, y, field->name);
	case FK_DEF:
		return same_def(c, *(struct ir_node **)x, *(struct ir_node **)y);
	case FK_DEFS:
		return same_defs(c, x, y, field->name);
	case FK_ATTRS:
		return same_attrs(c, IR_AS(a, call), IR_AS(b, call));
	case FK_TYPES:
		return same_returns(c, IR_AS(a, function), IR_AS(b, function));
	case FK_DIRS:
		return !memcmp(*(void **)x, *(void **)y, IR_AS(a, function)->params.n) ||
		       differ(c, "the directions of parameters differ");
	default:
		return true;	/* names do not matter */
	}
}

static bool same(struct compare *c, const struct ir_node *a, const struct ir_node *b)
{
	const struct ir_field *field;
	size_t n = strlen(c->path);
	bool index;

	if (is_group(a) || is_group(b))
		return same_body(c, (struct ir_node *)a, (struct ir_node *)b);
	if (a->kind != b->kind)
		return differ(c, "the kinds of node differ");
	if (ir_is_var(a) || a->kind == IR_MEMREF)
		return same_use(c, a, b);
	/* a bare number is printed for both */
	index = a->kind == IR_CONST_INT && is_index(a->type->dtype) && is_index(b->type->dtype);
	for (field = ir_kind_info[a->kind].fields; field->name; field++) {
		snprintf(c->path + n, sizeof(c->path) - n, ".%s", field->name);
		if (!same_field(c, a, b, field))
			return false;
	}
	c->path[n] = '\0';
	return index || a->kind == IR_MAKE_TUPLE || same_type(c, a->type, b->type) || !a->type;
}

bool ir_equal(struct px *px, const struct ir_node *a, const struct ir_node *b, bool auto_mapping,
	      const char **why)
{
	struct compare c = { .px = px, .to_b = { .px = px }, .to_a = { .px = px },
			     .auto_mapping = auto_mapping };
	bool equal;

	snprintf(c.path, sizeof(c.path), "%s", ir_kind_info[a->kind].name);
	equal = same(&c, a, b);
	if (!equal && why)
		*why = px_printf(px, "%s Reason: %s", c.path, c.reason ? c.reason : "");
	return equal;
}

/* ---- Hash: of everything that equality looks at, except which variable it is ---- */

struct hashing {
	struct var_map seen;
	uintptr_t n_seen;
	uint64_t h;
};

static void mix(struct hashing *s, uint64_t v)
{
	s->h ^= v + UINT64_C(0x9e3779b9) + (s->h << 6) + (s->h >> 2);
}

static void mix_text(struct hashing *s, const char *text)
{
	for (; *text; text++)
		mix(s, (unsigned char)*text);
}

static void mix_type(struct hashing *s, const struct ir_type *t)
{
	uint32_t i;

	mix(s, t->kind);
	mix(s, t->dtype);
	mix(s, t->shape.n);
	for (i = 0; i < t->shape.n; i++)
		mix(s, t->shape.at[i]->kind == IR_CONST_INT ?
		    (uint64_t)IR_AS(t->shape.at[i], const)->value : UINT64_MAX);
	for (i = 0; i < t->n_items; i++)
		mix_type(s, t->items[i]);
}

static void mix_attrs(struct hashing *s, const struct ir_call *call)
{
	uint32_t i;

	for (i = 0; i < call->n_attrs; i++) {
		mix_text(s, call->attrs[i].key);
		mix(s, (uint64_t)call->attrs[i].i);
	}
}

static void mix_field(struct hashing *s, const struct ir_node *node, const struct ir_field *field)
{
	const void *at = ir_field_at(node, field);
	uint64_t bits;

	switch (field->kind) {
	case FK_I64:
	case FK_U64:
	case FK_F64:
		memcpy(&bits, at, sizeof(bits));
		mix(s, bits);
		break;
	case FK_U8:
		if (!is_origin(node, field))
			mix(s, *(const uint8_t *)at);
		break;
	case FK_CALLEE:
		mix_text(s, *(const char *const *)at);
		break;
	case FK_ATTRS:
		mix_attrs(s, IR_AS(node, call));
		break;
	case FK_STMT:	/* whether it is there */
		mix(s, !*(void *const *)at);
		break;
	}
}

static bool hash_visit(void *data, struct ir_node *node)
{
	const struct ir_field *field;
	struct hashing *s = data;

	if (is_group(node))
		return true;
	mix(s, node->kind);
	if (node->type && node->kind != IR_CONST_INT && node->kind != IR_MAKE_TUPLE)
		mix_type(s, node->type);
	if (ir_is_var(node)) {	/* the number of its first appearance */
		if (!var_map_get(&s->seen, node))
			var_map_set(&s->seen, node, (void *)++s->n_seen);
		mix(s, (uintptr_t)var_map_get(&s->seen, node));
		return true;
	}
	if (node->kind == IR_MEMREF)
		return true;
	for (field = ir_kind_info[node->kind].fields; field->name; field++)
		mix_field(s, node, field);
	return true;
}

uint64_t ir_hash(struct px *px, const struct ir_node *node)
{
	struct hashing s = { .seen = { .px = px } };

	ir_walk((struct ir_node *)node, hash_visit, &s);
	return s.h;
}
