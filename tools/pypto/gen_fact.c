/* SPDX-License-Identifier: MIT */
/* What the generators need to know about functions: cores, aliases of results, extents, callees. */
#include <string.h>

#include "gen.h"
#include "tensor_root.h"

/* ---- Core (section 8, D16) ---- */

struct core_scan {
	struct px *px;
	const struct ir_function *f;
	const struct ir_node *cube, *vector;	/* first operation of each kind */
};

static bool is_matrix(const struct px_op *op)
{
	return strstr(op->name, "matmul") || !strncmp(op->name, "block.gemv", 10);
}

/* Operators that run on either core. */
static bool is_neutral(const struct px_op *op)
{
	static const char *const names[] = {
		"block.load", "block.store", "block.l0c_store", "block.create_tile", "block.alloc",
		"block.get_block_idx", "block.get_block_num", "block.get_subblock_idx",
		"block.print", "block.move", "block.extract", "block.reshape", "block.view",
	};
	size_t i;

	if (!op_is(op, "block"))
		return true;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(op->name, names[i]))
			return true;
	return false;
}

static bool is_cube_space(const struct ir_call *call)
{
	uint32_t i;

	for (i = 0; i < call->n_attrs; i++)
		if (!strcmp(call->attrs[i].key, "target_memory"))
			return call->attrs[i].i >= MS_MAT;
	return false;
}

static bool find_core(void *data, struct ir_node *node)
{
	struct core_scan *s = data;
	const struct ir_call *call = IR_AS(node, call);

	if (node->kind != IR_CALL || !call->op)
		return true;
	if (is_matrix(call->op) || (is_neutral(call->op) && is_cube_space(call)))
		s->cube = s->cube ? s->cube : node;
	else if (!is_neutral(call->op))
		s->vector = s->vector ? s->vector : node;
	return true;
}

static bool is_before(const struct ir_node *a, const struct ir_node *b)
{
	return a->span.line != b->span.line ? a->span.line < b->span.line :
					      a->span.col < b->span.col;
}

enum gen_core gen_core(struct px *px, const struct ir_function *f)
{
	struct core_scan s = { .px = px, .f = f };

	if (f->body)
		ir_walk(f->body, find_core, &s);
	if (s.cube && s.vector)
		diag_hint(px, diag_add(px, DIAG_COMPILE,
				       is_before(s.cube, s.vector) ? s.vector->span : s.cube->span,
				       "Function %s contains both Matrix (M) and Vector (V) pipe types",
				       f->name),
			  "Split it into two functions and connect them by a tensor or a pipe");
	return s.cube ? CORE_CUBE : CORE_VECTOR;
}

bool gen_has_pipes(const struct ir_function *f)
{
	uint32_t p;

	for (p = 0; p < f->params.n; p++)
		if (f->params.at[p]->type->kind == TY_PIPE)
			return true;
	return false;
}

/* ---- Which parameter a returned value is ---- */

int gen_returned_param(struct px *px, const struct ir_program *program,
		       const struct ir_function *f, uint32_t i)
{
	const struct ir_values *values = ir_last(f->body, IR_RETURN);
	struct tensor_roots roots;
	struct ir_node *root;
	uint32_t p;

	if (!values || i >= values->values.n)
		return -1;
	roots = tensor_roots(px, program, f);
	root = tensor_root(&roots, values->values.at[i]);
	if (tensor_reshaped(root, values->values.at[i]))
		return -1;
	for (p = 0; p < f->params.n && f->params.at[p] != root; p++)
		;
	return p < f->params.n ? (int)p : -1;
}

/* ---- Extents ---- */

static bool collect_extent(void *data, struct ir_node *node)
{
	struct ir_list *seen = *(struct ir_list **)data;
	struct px *px = ((void **)data)[1];

	if (ir_is_var(node) && IR_AS(node, var)->dynamic && !list_has(seen, node))
		list_push(px, seen, node);
	return true;
}

struct ir_list gen_extents(struct px *px, const struct ir_function *f)
{
	struct ir_list seen = { 0 };
	void *data[2] = { &seen, px };
	uint32_t p, d;

	for (p = 0; p < f->params.n; p++) {
		const struct ir_type *type = f->params.at[p]->type;

		for (d = 0; type->kind == TY_TENSOR && d < type->shape.n; d++)
			ir_walk(type->shape.at[d], collect_extent, data);
	}
	return seen;
}

uint32_t gen_extent_place(struct px *px, const struct ir_function *f, const struct ir_node *extent,
			  uint32_t *dim)
{
	uint32_t p;

	for (p = 0; p < f->params.n; p++) {
		const struct ir_type *type = f->params.at[p]->type;

		for (*dim = 0; type->kind == TY_TENSOR && *dim < type->shape.n; (*dim)++)
			if (type->shape.at[*dim] == extent)
				return p;
	}
	diag_hint(px, diag_add(px, DIAG_COMPILE, extent->span,
			       "The extent '%s' of function '%s' stands in no shape by itself",
			       gen_written_name(px, extent), f->name),
		  "Add a parameter n: pl.Scalar[pl.INDEX], and write n in place of it in the shapes");
	return UINT32_MAX;
}

/* ---- Programs ---- */

struct ir_function *gen_orchestration_of(struct px *px, const struct ir_program *program)
{
	struct ir_function *found = NULL;
	unsigned int n = 0;
	uint32_t i;

	for (i = 0; i < program->functions.n; i++) {
		struct ir_function *f = IR_AS(program->functions.at[i], function);

		if (f->func_type != FN_ORCHESTRATION)
			continue;
		found = f;
		n++;
	}
	if (n < 2)
		return found;
	diag_add(px, DIAG_COMPILE, found->node.span,
		 "Program should have exactly one orchestration function, got %u", n);
	return NULL;
}

struct call_scan {
	struct px *px;
	const struct ir_program *program;
	struct ir_list called;
	struct text missing;
	unsigned int n_missing;
	struct span span;
};

static bool find_calls(void *data, struct ir_node *node)
{
	struct call_scan *s = data;
	struct ir_function *f;

	if (node->kind != IR_CALL || IR_AS(node, call)->op)
		return true;
	f = program_find(s->program, IR_AS(node, call)->callee);
	if (!f) {
		text_printf(&s->missing, "%s'%s'", s->n_missing++ ? ", " : "",
			    IR_AS(node, call)->callee);
		s->span = node->span;
	} else if (!list_has(&s->called, &f->node)) {
		list_push(s->px, &s->called, &f->node);
	}
	return true;
}

struct ir_list gen_called(struct px *px, const struct ir_program *program,
			  const struct ir_function *orch)
{
	struct call_scan s = { .px = px, .program = program, .missing = { .px = px } };

	ir_walk(orch->body, find_calls, &s);
	if (s.n_missing)
		diag_add(px, DIAG_COMPILE, s.span,
			 "Orchestration function '%s' references undefined functions. Missing functions: [%s]",
			 orch->name, text_str(&s.missing));
	return s.called;
}

static const char *last_name(struct px *px, const struct ir_function *f, uint32_t n)
{
	return gen_base_name(px, IR_AS(f->params.at[n - 1], var)->name);
}

uint32_t gen_passed_params(struct px *px, const struct ir_function *f)
{
	uint32_t n = f->params.n;

	while (f->func_type == FN_BLOCK_INCORE && n &&
	       (!strcmp(last_name(px, f, n), "block_id") ||
		!strcmp(last_name(px, f, n), "blockdim")))
		n--;
	return n;
}

/* ---- Strides ---- */

struct stride_scan {
	struct px *px;
	const struct ir_program *program;
	const struct ir_function *callee;
	uint32_t param;
	struct var_map strided;		/* variables that may have gaps */
	bool found;
};

/* Whether a region of @of with extents @shape has the strides of a tensor of its own. */
static bool is_packed_region(const struct ir_list *of, const struct ir_list *shape)
{
	uint32_t d;

	/* every extent behind the first that is more than one must be whole */
	for (d = 0; d < shape->n; d++)
		if (shape->at[d]->kind != IR_CONST_INT || IR_AS(shape->at[d], const)->value != 1)
			break;
	for (d++; d < shape->n; d++)
		if (!dim_equal(shape->at[d], of->at[d]))
			return false;
	return true;
}

static bool may_have_gaps(struct stride_scan *s, const struct ir_node *value)
{
	const struct ir_call *call = IR_AS(value, call);
	uint32_t i;

	if (ir_is_var(value))
		return var_map_get(&s->strided, value);
	if (value->kind != IR_CALL)
		return false;
	if (!call->op) {
		for (i = 0; i < call->args.n; i++)
			if (ir_is_var(call->args.at[i]) &&
			    var_map_get(&s->strided, call->args.at[i]))
				return true;
		return false;
	}
	if (strcmp(call->op->name, "tensor.view"))
		return false;
	return var_map_get(&s->strided, call->args.at[0]) ||
	       !is_packed_region(&call->args.at[0]->type->shape, &value->type->shape);
}

static void mark_list(struct stride_scan *s, const struct ir_list *vars, struct ir_node *body)
{
	struct ir_list stmts = ir_stmts(&body);
	struct ir_node *last = stmts.n ? stmts.at[stmts.n - 1] : NULL;
	uint32_t i;

	for (i = 0; last && last->kind == IR_YIELD && i < vars->n &&
		    i < IR_AS(last, values)->values.n; i++)
		if (may_have_gaps(s, IR_AS(last, values)->values.at[i]))
			var_map_set(&s->strided, vars->at[i], vars->at[i]);
}

static void mark_carried(struct stride_scan *s, const struct ir_list *args,
			 const struct ir_list *results, struct ir_node *body)
{
	uint32_t i;

	mark_list(s, args, body);
	mark_list(s, results, body);
	for (i = 0; i < args->n; i++)
		if (may_have_gaps(s, IR_AS(args->at[i], var)->init)) {
			var_map_set(&s->strided, args->at[i], args->at[i]);
			var_map_set(&s->strided, results->at[i], results->at[i]);
		}
}

static bool find_strided(void *data, struct ir_node *node)
{
	struct stride_scan *s = data;
	const struct ir_call *call = IR_AS(node, call);

	switch (node->kind) {
	case IR_ASSIGN:
		if (may_have_gaps(s, IR_AS(node, assign)->value))
			var_map_set(&s->strided, IR_AS(node, assign)->var, node);
		return true;
	case IR_FOR:
		mark_carried(s, &IR_AS(node, for)->iter_args, &IR_AS(node, for)->return_vars,
			     IR_AS(node, for)->body);
		return true;
	case IR_WHILE:
		mark_carried(s, &IR_AS(node, while)->iter_args, &IR_AS(node, while)->return_vars,
			     IR_AS(node, while)->body);
		return true;
	case IR_IF:
		mark_list(s, &IR_AS(node, if)->return_vars, IR_AS(node, if)->then_body);
		if (IR_AS(node, if)->else_body)
			mark_list(s, &IR_AS(node, if)->return_vars, IR_AS(node, if)->else_body);
		return true;
	case IR_CALL:
		if (!call->op && !strcmp(call->callee, s->callee->name) &&
		    s->param < call->args.n && may_have_gaps(s, call->args.at[s->param]))
			s->found = true;
		return true;
	default:
		return true;
	}
}

bool gen_is_strided(struct px *px, const struct ir_program *program, const struct ir_function *f,
		    uint32_t param)
{
	struct stride_scan s = { .px = px, .program = program, .callee = f, .param = param,
				 .strided = { .px = px } };
	size_t before;
	uint32_t i;

	for (i = 0; i < program->functions.n; i++) {
		const struct ir_function *caller = IR_AS(program->functions.at[i], function);

		if (caller->func_type != FN_ORCHESTRATION || !caller->body)
			continue;
		do {	/* carried values reach the front of their loop */
			before = s.strided.n;
			ir_walk(caller->body, find_strided, &s);
		} while (s.strided.n != before);
	}
	return s.found;
}

/* ---- Tuples ---- */

struct ir_node *gen_element(struct var_map *tuples, const struct ir_assign *a)
{
	const struct ir_item *item = IR_AS(a->value, item);
	const struct ir_node *tuple;

	if (a->value->kind == IR_MAKE_TUPLE)
		var_map_set(tuples, a->var, a->value);
	if (a->value->kind != IR_GET_ITEM)
		return a->value;
	tuple = ir_is_var(item->tuple) ? var_map_get(tuples, item->tuple) : item->tuple;
	if (!tuple || tuple->kind != IR_MAKE_TUPLE)
		return a->value;
	return IR_AS(tuple, tuple)->elements.at[item->index];
}

/* ---- Signs ---- */

bool gen_counts_up(const struct ir_for *s)
{
	int64_t step = s->step->kind == IR_CONST_INT ? IR_AS(s->step, const)->value : 0;

	return step > 0 && step <= INT32_MAX &&
	       (s->stop->kind != IR_CONST_INT || IR_AS(s->stop, const)->value <= INT64_MAX - step);
}

/* A cast between integer types that keeps all numbers from 0 on. */
static bool cast_keeps_sign(const struct ir_node *cast)
{
	unsigned int from = IR_AS(cast, unary)->operand->type->dtype, to = cast->type->dtype;

	if (!dtype_is_int(from) || !dtype_is_int(to))
		return false;
	return dtype_info(to)->bits - dtype_is_signed(to) >=
	       dtype_info(from)->bits - dtype_is_signed(from);
}

bool gen_is_nonnegative(const struct ir_node *e, const struct var_map *facts)
{
	if (e->kind == IR_CONST_INT)
		return IR_AS(e, const)->value >= 0;
	if (ir_is_var(e))
		return IR_AS(e, var)->dynamic || var_map_get(facts, e);
	switch (e->kind) {
	case IR_ADD:
	case IR_MUL:
		if (dtype_info(e->type->dtype)->bits < 64)
			return false;	/* it may exceed the type */
		/* fall through */
	case IR_FLOOR_DIV:
	case IR_MIN:
		return gen_is_nonnegative(IR_AS(e, binary)->left, facts) &&
		       gen_is_nonnegative(IR_AS(e, binary)->right, facts);
	case IR_MAX:
		return gen_is_nonnegative(IR_AS(e, binary)->left, facts) ||
		       gen_is_nonnegative(IR_AS(e, binary)->right, facts);
	case IR_FLOOR_MOD:
		return gen_is_nonnegative(IR_AS(e, binary)->right, facts);
	case IR_CAST:
		return cast_keeps_sign(e) &&
		       gen_is_nonnegative(IR_AS(e, unary)->operand, facts);
	default:
		return false;
	}
}
