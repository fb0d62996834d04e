/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "ir.h"

#define F(struct_, field, kind)		{ #field, FK_##kind, 0, offsetof(struct struct_, field) }
#define FE(struct_, field, class)	\
	{ #field, FK_U8, EN_##class + 1, offsetof(struct struct_, field) }
#define END				{ NULL, 0, 0, 0 }

static const struct ir_field var_fields[] = {
	F(ir_var, name, STR), F(ir_var, dynamic, BOOL), END
};
static const struct ir_field iter_arg_fields[] = {
	F(ir_var, name, STR), F(ir_var, init, EXPR), END
};
static const struct ir_field memref_fields[] = {
	F(ir_memref, name, STR), FE(ir_memref, space, MEMORY_SPACE), F(ir_memref, addr, I64),
	F(ir_memref, size, U64), F(ir_memref, id, U64), END
};
static const struct ir_field const_fields[] = { F(ir_const, value, I64), END };
static const struct ir_field float_fields[] = { F(ir_float, value, F64), END };
static const struct ir_field call_fields[] = {
	{ "op", FK_CALLEE, 0, offsetof(struct ir_call, callee) }, F(ir_call, args, EXPRS),
	{ "kwargs", FK_ATTRS, 0, offsetof(struct ir_call, attrs) }, F(ir_call, blockdim, EXPR), END
};
static const struct ir_field tuple_fields[] = { F(ir_tuple, elements, EXPRS), END };
static const struct ir_field item_fields[] = {
	F(ir_item, tuple, EXPR), F(ir_item, index, I64), END
};
static const struct ir_field binary_fields[] = {
	F(ir_binary, left, EXPR), F(ir_binary, right, EXPR), END
};
static const struct ir_field unary_fields[] = { F(ir_unary, operand, EXPR), END };
static const struct ir_field assign_fields[] = {
	F(ir_assign, value, EXPR), F(ir_assign, var, DEF), END
};
static const struct ir_field if_fields[] = {
	F(ir_if, condition, EXPR), F(ir_if, then_body, STMT), F(ir_if, else_body, STMT),
	F(ir_if, return_vars, DEFS), END
};
static const struct ir_field for_fields[] = {
	F(ir_for, start, EXPR), F(ir_for, stop, EXPR), F(ir_for, step, EXPR),
	F(ir_for, loop_var, DEF), F(ir_for, iter_args, DEFS), F(ir_for, body, STMT),
	F(ir_for, return_vars, DEFS),
	{ "kind", FK_U8, EN_FOR_KIND + 1, offsetof(struct ir_for, for_kind) },
	{ "chunk_size", FK_I64, 0, offsetof(struct ir_for, chunk) },
	{ "loop_origin", FK_U8, 0, offsetof(struct ir_for, origin) }, END
};
static const struct ir_field while_fields[] = {
	F(ir_while, iter_args, DEFS), F(ir_while, condition, EXPR), F(ir_while, body, STMT),
	F(ir_while, return_vars, DEFS), END
};
static const struct ir_field scope_fields[] = { F(ir_scope, body, STMT), END };
static const struct ir_field values_fields[] = { F(ir_values, values, EXPRS), END };
static const struct ir_field eval_fields[] = { F(ir_eval, expr, EXPR), END };
static const struct ir_field seq_fields[] = { F(ir_seq, stmts, STMTS), END };
static const struct ir_field function_fields[] = {
	F(ir_function, name, STR), FE(ir_function, func_type, FUNCTION_TYPE),
	F(ir_function, params, DEFS),
	{ "param_directions", FK_DIRS, 0, offsetof(struct ir_function, directions) },
	F(ir_function, return_types, TYPES), F(ir_function, body, STMT), END
};
static const struct ir_field program_fields[] = {
	F(ir_program, name, STR), F(ir_program, functions, FUNCS), END
};

const struct ir_kind_info ir_kind_info[IR_KINDS] = {
#define NODE(kind, name, type, fields) [IR_##kind] = { name, sizeof(struct type), fields },
#include "nodes.def"
#undef NODE
};

void *ir_new(struct px *px, enum ir_kind kind, struct span span, const struct ir_type *type)
{
	struct ir_node *node = px_alloc(px, 1, ir_kind_info[kind].size);

	node->kind = kind;
	node->span = span;
	node->type = type;
	return node;
}

void *ir_copy(struct px *px, const struct ir_node *node)
{
	size_t size = ir_kind_info[node->kind].size;
	void *copy = px_alloc(px, 1, size);

	memcpy(copy, node, size);
	return copy;
}

struct ir_node *ir_int(struct px *px, int64_t value, unsigned int dtype, struct span span)
{
	struct ir_const *n = ir_new(px, IR_CONST_INT, span, type_scalar(px, dtype));

	n->value = value;
	return &n->node;
}

struct ir_node *ir_float(struct px *px, double value, unsigned int dtype, struct span span)
{
	struct ir_float *n = ir_new(px, IR_CONST_FLOAT, span, type_scalar(px, dtype));

	n->value = value;
	return &n->node;
}

struct ir_node *ir_bool(struct px *px, bool value, struct span span)
{
	struct ir_const *n = ir_new(px, IR_CONST_BOOL, span, type_scalar(px, DT_BOOL));

	n->value = value;
	return &n->node;
}

struct ir_node *ir_var(struct px *px, const char *name, const struct ir_type *type,
		       struct span span)
{
	struct ir_var *n = ir_new(px, IR_VAR, span, type);

	n->name = px_intern(px, name);
	return &n->node;
}

struct ir_node *ir_binary(struct px *px, enum ir_kind kind, struct ir_node *left,
			  struct ir_node *right, unsigned int dtype, struct span span)
{
	struct ir_binary *n = ir_new(px, kind, span, type_scalar(px, dtype));

	n->left = left;
	n->right = right;
	return &n->node;
}

struct ir_node *ir_cast(struct px *px, struct ir_node *operand, unsigned int dtype,
			struct span span)
{
	struct ir_unary *n = ir_new(px, IR_CAST, span, type_scalar(px, dtype));

	n->operand = operand;
	return &n->node;
}

struct ir_node *ir_assign(struct px *px, struct ir_node *var, struct ir_node *value,
			  struct span span)
{
	struct ir_assign *n = ir_new(px, IR_ASSIGN, span, NULL);

	n->var = var;
	n->value = value;
	return &n->node;
}

struct ir_node *ir_values(struct px *px, enum ir_kind kind, struct ir_list values,
			  struct span span)
{
	struct ir_values *n = ir_new(px, kind, span, NULL);

	n->values = values;
	return &n->node;
}

struct ir_memref *ir_memref(struct px *px, enum memory_space space, int64_t addr, uint64_t size,
			    uint64_t id, struct span span)
{
	const char *name = enum_name(EN_MEMORY_SPACE, space);
	struct ir_type *type = px_new(px, struct ir_type);
	struct ir_memref *m = ir_new(px, IR_MEMREF, span, type);
	char lower[16] = "";
	size_t i;

	for (i = 0; name[i] && i + 1 < sizeof(lower); i++)
		lower[i] = (char)(name[i] | 0x20);
	type->kind = TY_MEMREF;
	m->name = px_intern(px, px_printf(px, "mem_%s_%llu", lower, (unsigned long long)id));
	m->space = space;
	m->addr = addr;
	m->size = size;
	m->id = id;
	return m;
}

static void splice(struct px *px, struct ir_list *out, struct ir_node *stmt)
{
	uint32_t i;

	if (stmt->kind != IR_SEQ) {
		list_push(px, out, stmt);
		return;
	}
	for (i = 0; i < IR_AS(stmt, seq)->stmts.n; i++)
		splice(px, out, IR_AS(stmt, seq)->stmts.at[i]);
}

struct ir_node *ir_body(struct px *px, struct ir_list stmts, struct span span)
{
	struct ir_list flat = { 0 };
	struct ir_seq *seq;
	uint32_t i;

	for (i = 0; i < stmts.n; i++)
		splice(px, &flat, stmts.at[i]);
	if (flat.n == 1)
		return flat.at[0];
	seq = ir_new(px, IR_SEQ, span, NULL);
	seq->stmts = flat;
	return &seq->node;
}

struct ir_list ir_stmts(struct ir_node **body)
{
	if (!*body)
		return (struct ir_list){ 0 };
	if ((*body)->kind == IR_SEQ)
		return IR_AS(*body, seq)->stmts;
	return (struct ir_list){ .at = body, .n = 1 };
}

const struct ir_values *ir_last(const struct ir_node *body, enum ir_kind kind)
{
	while (body && (body->kind == IR_SEQ || body->kind == IR_OPS)) {
		const struct ir_list *stmts = &IR_AS(body, seq)->stmts;

		body = stmts->n ? stmts->at[stmts->n - 1] : NULL;
	}
	return body && body->kind == kind ? IR_AS(body, values) : NULL;
}

/* The room of a list is the next power of two above its length, at least 4. */
void list_push(struct px *px, struct ir_list *list, struct ir_node *node)
{
	if (!list->n || (list->n >= 4 && !(list->n & (list->n - 1)))) {
		struct ir_node **at = px_alloc(px, list->n < 4 ? 4 : 2 * list->n, sizeof(*at));

		if (list->n)
			memcpy(at, list->at, list->n * sizeof(*at));
		list->at = at;
	}
	list->at[list->n++] = node;
}

struct ir_list list_copy(struct px *px, const struct ir_list *list)
{
	struct ir_list copy = { 0 };
	uint32_t i;

	for (i = 0; i < list->n; i++)
		list_push(px, &copy, list->at[i]);
	return copy;
}

bool list_has(const struct ir_list *list, const struct ir_node *node)
{
	uint32_t i;

	for (i = 0; i < list->n; i++)
		if (list->at[i] == node)
			return true;
	return false;
}

struct ir_function *program_find(const struct ir_program *program, const char *name)
{
	uint32_t i;

	for (i = 0; i < program->functions.n; i++)
		if (!strcmp(IR_AS(program->functions.at[i], function)->name, name))
			return IR_AS(program->functions.at[i], function);
	return NULL;
}

int program_add(struct px *px, struct ir_program *program, struct ir_function *function)
{
	struct ir_list *list = &program->functions;
	uint32_t i;

	if (program_find(program, function->name))
		return -EEXIST;
	list_push(px, list, &function->node);
	for (i = list->n - 1;
	     i && strcmp(IR_AS(list->at[i - 1], function)->name, function->name) > 0; i--)
		list->at[i] = list->at[i - 1];
	list->at[i] = &function->node;
	return 0;
}
