/* SPDX-License-Identifier: MIT */
/*
 * ConvertTensorToBlockOps, section 7.5 and decisions.md D6. In kernels, runs of operators on
 * tensors become loops over tiles that fit the vector buffer (blockops_run.c). A result that is
 * used outside of its run is a new Out parameter, for which the callers create a tensor.
 */
#include <string.h>

#include "blockops.h"
#include "gen.h"
#include "outline.h"

/* ---- Parts ---- */

struct ir_node *block_index(struct px *px, int64_t value, struct span span)
{
	return ir_int(px, value, DT_INDEX, span);
}

struct ir_node *block_var(struct blockops *b, const char *prefix, const struct ir_type *type,
			  struct span span)
{
	return ir_var(b->px, px_printf(b->px, "_%s%u", prefix, b->next++), type, span);
}

struct ir_node *block_list(struct px *px, const struct ir_list *list, struct span span)
{
	const struct ir_type **types = px_alloc(px, list->n + 1, sizeof(const struct ir_type *));
	struct ir_tuple *tuple = ir_new(px, IR_MAKE_TUPLE, span, NULL);
	uint32_t i;

	for (i = 0; i < list->n; i++)
		types[i] = list->at[i]->type;
	tuple->elements = list_copy(px, list);
	tuple->node.type = type_tuple(px, types, list->n);
	return &tuple->node;
}

struct ir_node *block_emit(struct blockops *b, const char *op, struct ir_list args,
			   struct ir_attr *attrs, uint32_t n_attrs, struct span span)
{
	struct op_use use = { .px = b->px, .op = op_find(op), .span = span, .args = args,
			      .attrs = attrs, .n_attrs = n_attrs };
	struct ir_node *call = op_call(&use), *var;

	if (!call)
		return NULL;
	var = block_var(b, "b", call->type, span);
	list_push(b->px, b->out, ir_assign(b->px, var, call, span));
	return var;
}

/* ---- Regions ---- */

struct block_region block_region_of(struct blockops *b, struct ir_node *tensor)
{
	struct block_region *r = var_map_get(&b->regions, tensor);

	return r ? *r : (struct block_region){ .base = ir_subst(&b->now, tensor) };
}

static struct ir_node *sum(struct px *px, struct ir_node *a, struct ir_node *c, struct span span)
{
	struct ir_node *folded = ir_fold(px, IR_ADD, a, c, DT_INDEX, span);

	if (folded)
		return folded;
	if (a->kind == IR_CONST_INT && !IR_AS(a, const)->value)
		return c;
	if (c->kind == IR_CONST_INT && !IR_AS(c, const)->value)
		return a;
	return ir_binary(px, IR_ADD, a, c, a->kind == IR_CONST_INT ? c->type->dtype :
			 a->type->dtype, span);
}

struct ir_list block_offsets(struct blockops *b, const struct block_region *r,
			     const struct ir_list *at, struct span span)
{
	struct ir_list out = { 0 };
	uint32_t i;

	for (i = 0; i < at->n; i++)
		list_push(b->px, &out, i < r->offsets.n ?
			  sum(b->px, r->offsets.at[i], at->at[i], span) : at->at[i]);
	return out;
}

/* A slice stays, for what is no operator on tensors; drop_slices() looks whether there is such. */
static void note_slice(struct blockops *b, const struct ir_assign *s)
{
	const struct ir_call *call = IR_AS(s->value, call);
	struct block_region outer = block_region_of(b, call->args.at[0]);
	struct block_region *r = px_new(b->px, struct block_region);
	struct ir_list at = ir_subst_list(&b->now, &IR_AS(call->args.at[2], tuple)->elements);

	r->base = outer.base;
	r->offsets = block_offsets(b, &outer, &at, s->node.span);
	var_map_set(&b->regions, s->var, r);
	list_push(b->px, b->out, ir_assign(b->px, s->var, ir_subst(&b->now, s->value),
					   s->node.span));
}

/* ---- Outputs ---- */

static bool find_scalar(void *data, struct ir_node *node)
{
	if (ir_is_var(node) && !IR_AS(node, var)->dynamic &&
	    !list_has(&((struct blockops *)((void **)data)[0])->f->params, node))
		((void **)data)[1] = node;
	return true;
}

struct ir_node *block_output(struct blockops *b, struct ir_node *var)
{
	struct block_output *o = px_new(b->px, struct block_output);
	const struct ir_type *type = ir_subst_type(&b->now, var->type);
	void *data[] = { b, NULL };
	uint8_t *directions;
	uint32_t i;

	for (i = 0; i < type->shape.n; i++)
		ir_walk(type->shape.at[i], find_scalar, data);
	if (data[1])
		diag_hint(b->px, diag_add(b->px, DIAG_COMPILE, var->span,
					  "The shape of '%s' is known inside the kernel only",
					  gen_written_name(b->px, var)),
			  "Use extents that are parameters, constants or pl.dynamic()");
	o->param = ir_var(b->px, px_printf(b->px, "%s_out", IR_AS(var, var)->name), type,
			  var->span);
	*b->outputs_end = o;
	b->outputs_end = &o->next;
	directions = px_alloc(b->px, b->f->params.n + 1, 1);
	memcpy(directions, b->f->directions, b->f->params.n);
	directions[b->f->params.n] = DIR_OUT;
	b->f->directions = directions;
	b->f->params = list_copy(b->px, &b->f->params);
	list_push(b->px, &b->f->params, o->param);
	return o->param;
}

/* ---- Runs ---- */

static const struct ir_call *call_in(const struct ir_node *s)
{
	const struct ir_node *value = s->kind == IR_ASSIGN ? IR_AS(s, assign)->value : NULL;

	if (!value || value->kind != IR_CALL || !IR_AS(value, call)->op)
		return NULL;
	return IR_AS(value, call);
}

static bool is_slice(const struct ir_node *s)
{
	const struct ir_call *call = call_in(s);

	return call && call->op->rule == rule_slice && call->node.type->kind == TY_TENSOR;
}

/* A buffer of the kernel, which its callers create. */
static bool is_create(const struct ir_node *s)
{
	const struct ir_call *call = call_in(s);

	return call && call->op->rule == rule_create_tensor;
}

static bool is_rows(const struct ir_call *call)
{
	return call->op->rule == rule_row_reduce;
}

/* A product is a run of its own, on the cube core. */
static bool is_product(const struct ir_call *call)
{
	return call->op->rule == rule_tensor_matmul;
}

/* The shape over which the operator works. */
static const struct ir_list *work_shape(const struct ir_call *call)
{
	if (is_rows(call))
		return &call->args.at[0]->type->shape;
	return call->op->rule == rule_assemble ? &call->args.at[1]->type->shape :
	       &call->node.type->shape;
}

static bool one_column(const struct ir_list *shape, const struct ir_list *whole)
{
	struct ir_list a = *shape, c = *whole;

	if (a.n != c.n || !a.n || a.at[a.n - 1]->kind != IR_CONST_INT ||
	    IR_AS(a.at[a.n - 1], const)->value != 1)
		return false;
	a.n--;
	c.n--;
	return shape_equal(&a, &c);
}

static bool computed_in(const struct block_run *run, const struct ir_node *var)
{
	uint32_t i;

	for (i = 0; i < run->n; i++)
		if (IR_AS(run->stmts[i], assign)->var == var)
			return true;
	return false;
}

/* Rows that no tile holds: values of one column are no reason to keep them whole. */
static bool is_long(const struct ir_list *shape)
{
	const struct ir_node *n = shape->n ? shape->at[shape->n - 1] : NULL;

	return n && n->kind == IR_CONST_INT && IR_AS(n, const)->value > LONG_ROW;
}

#define LONGEST_RUN	256	/* statements: all that lives in one shares the buffer */

static bool is_assemble(const struct ir_call *call)
{
	return call->op->rule == rule_assemble;
}

/* Whether a run reads the tensor that lies behind @target, maybe in other tiles. */
static bool reads(struct blockops *b, const struct block_run *run, struct ir_node *target)
{
	uint32_t i, k;

	for (i = 0; i < run->n; i++) {
		const struct ir_list *args = &call_in(run->stmts[i])->args;

		for (k = 0; k < args->n; k++)
			if (args->at[k]->type->kind == TY_TENSOR &&
			    tensor_overlap(&b->roots, args->at[k], target, true))
				return true;
	}
	return false;
}

/*
 * An assemble() ends its run, and begins one if what it writes to is read by those before it. A
 * transpose() of what the run computes begins a new one, since it reads other tiles of it.
 */
static bool joins(struct blockops *b, const struct block_run *run, const struct ir_node *s)
{
	const struct ir_call *call = call_in(s);
	const struct ir_list *shape = work_shape(call);

	if (run->n && (is_product(call_in(run->stmts[0])) || is_product(call)))
		return false;
	if (run->n == LONGEST_RUN || (run->n && is_assemble(call_in(run->stmts[run->n - 1]))))
		return false;
	if (is_assemble(call) &&
	    (computed_in(run, call->args.at[0]) || reads(b, run, call->args.at[0])))
		return false;
	if (call->op->rule == rule_transpose && computed_in(run, call->args.at[0]))
		return false;
	return shape_equal(shape, run->shape) ||
	       (one_column(shape, run->shape) && !is_long(run->shape));
}

static uint32_t write_run(struct blockops *b, const struct ir_list *stmts, uint32_t i)
{
	struct block_run run = { .span = stmts->at[i]->span };

	run.stmts = px_alloc(b->px, stmts->n - i, sizeof(*run.stmts));
	run.shape = work_shape(call_in(stmts->at[i]));
	while (i < stmts->n && (is_slice(stmts->at[i]) ||
				(stmts->at[i]->kind == IR_ASSIGN &&
				 ir_computes(IR_AS(stmts->at[i], assign)->value)))) {
		const struct ir_node *s = stmts->at[i];

		if (is_slice(s)) {
			if (computed_in(&run, call_in(s)->args.at[0]))
				break;
			note_slice(b, IR_AS(s, assign));
			i++;
			continue;
		}
		if (!joins(b, &run, s))
			break;
		run.swaps |= call_in(s)->op->rule == rule_transpose;
		run.rows |= is_rows(call_in(s)) || !shape_equal(work_shape(call_in(s)), run.shape);
		run.stmts[run.n++] = s;
		i++;
	}
	if (run.n && !b->px->n_errors)
		block_write_run(b, &run);
	return i;
}

/* ---- Transposes that no load does ---- */

static struct ir_node *exchanged(struct blockops *b, struct ir_node *tensor, uint32_t first,
				 uint32_t second, struct span span)
{
	struct ir_attr axes[] = { { .key = "axis1", .kind = AT_INT, .i = first },
				  { .key = "axis2", .kind = AT_INT, .i = second } };
	struct op_use use = { .px = b->px, .op = op_find("tensor.transpose"), .span = span,
			      .attrs = axes, .n_attrs = 2 };

	list_push(b->px, &use.args, tensor);
	return op_call(&use);
}

/* An outer axis and the last one change places by way of the one before the last. */
static void expand_transpose(struct blockops *b, const struct ir_assign *s, struct ir_list *out)
{
	const struct ir_call *call = IR_AS(s->value, call);
	struct ir_node *value = call->args.at[0], *var;
	uint32_t last = call->node.type->shape.n - 1, first, second, i;

	block_swap(call, &first, &second);
	first = first < second ? first : second;
	for (i = 0; i < 3; i++) {
		value = exchanged(b, value, i == 1 ? last : first, last - 1, s->node.span);
		if (!value)
			return;
		var = i == 2 ? s->var : block_var(b, "x", value->type, s->node.span);
		list_push(b->px, out, ir_assign(b->px, var, value, s->node.span));
		if (i < 2)
			var_map_set(&b->uses, var, (void *)(uintptr_t)1);
		value = var;
	}
}

static struct ir_list expanded(struct blockops *b, const struct ir_list *stmts)
{
	struct ir_list out = { 0 };
	uint32_t i;

	for (i = 0; i < stmts->n; i++) {
		const struct ir_call *call = call_in(stmts->at[i]);

		if (call && op_is(call->op, "tensor") && call->op->rule == rule_transpose &&
		    !block_swap(call, NULL, NULL))
			expand_transpose(b, IR_AS(stmts->at[i], assign), &out);
		else
			list_push(b->px, &out, stmts->at[i]);
	}
	return out;
}

/* ---- Other statements ---- */

static struct ir_node *convert_body(struct px *px, struct ir_node *body, void *data);

/* A load from a slice is one from the tensor behind it. */
static struct ir_node *from_base(struct blockops *b, struct ir_node *value)
{
	const struct ir_call *call = value->kind == IR_CALL ? IR_AS(value, call) : NULL;
	struct block_region *r = call && call->op && call->op->rule == rule_load ?
				 var_map_get(&b->regions, call->args.at[0]) : NULL;
	struct ir_list args, at;

	if (!r)
		return ir_subst(&b->now, value);
	args = ir_subst_list(&b->now, &call->args);
	args = list_copy(b->px, &args);
	at = block_offsets(b, r, &IR_AS(args.at[1], tuple)->elements, value->span);
	args.at[0] = r->base;
	args.at[1] = block_list(b->px, &at, value->span);
	value = ir_copy(b->px, value);
	IR_AS(value, call)->args = args;
	return value;
}

static void convert_stmt(struct blockops *b, struct ir_node *s)
{
	struct ir_node *copy;
	const struct ir_field *field;

	if (is_slice(s)) {
		note_slice(b, IR_AS(s, assign));
		return;
	}
	if (is_create(s)) {
		var_map_set(&b->now, IR_AS(s, assign)->var, block_output(b, IR_AS(s, assign)->var));
		return;
	}
	if (s->kind == IR_ASSIGN) {
		copy = from_base(b, IR_AS(s, assign)->value);
		list_push(b->px, b->out, ir_assign(b->px, IR_AS(s, assign)->var, copy, s->span));
		return;
	}
	copy = ir_copy(b->px, s);
	for (field = ir_kind_info[s->kind].fields; field->name; field++) {
		void *at = ir_field_at(copy, field);
		struct ir_list *list = at, fresh = { 0 };
		uint32_t i;

		if (field->kind == FK_EXPR && *(struct ir_node **)at)
			*(struct ir_node **)at = ir_subst(&b->now, *(struct ir_node **)at);
		if (field->kind == FK_EXPRS)
			*list = ir_subst_list(&b->now, list);
		if (field->kind == FK_STMT && *(struct ir_node **)at)
			*(struct ir_node **)at = convert_body(b->px, *(struct ir_node **)at, b);
		if (field->kind != FK_DEFS)
			continue;
		for (i = 0; i < list->n; i++) {
			struct ir_var *var = IR_AS(list->at[i], var);

			if (var->node.kind == IR_ITER_ARG) {
				var = ir_copy(b->px, &var->node);
				var->init = ir_subst(&b->now, var->init);
				var_map_set(&b->now, list->at[i], var);
			}
			list_push(b->px, &fresh, &var->node);
		}
		*list = fresh;
	}
	list_push(b->px, b->out, copy);
}

static struct ir_node *convert_body(struct px *px, struct ir_node *body, void *data)
{
	struct ir_list stmts = ir_flat(px, body), out = { 0 }, *outer;
	struct blockops *b = data;
	uint32_t i = 0;

	stmts = expanded(b, &stmts);
	outer = b->out;
	b->out = &out;
	while (i < stmts.n) {
		if (stmts.at[i]->kind == IR_ASSIGN &&
		    ir_computes(IR_AS(stmts.at[i], assign)->value))
			i = write_run(b, &stmts, i);
		else
			convert_stmt(b, stmts.at[i++]);
	}
	b->out = outer;
	return ir_body(px, out, body->span);
}

/* ---- Slices that nobody reads any more ---- */

static bool count_use(void *data, struct ir_node *node)
{
	struct var_map *uses = data;

	if (node->kind == IR_ASSIGN) {
		ir_walk(IR_AS(node, assign)->value, count_use, data);
		return false;
	}
	if (ir_is_var(node))
		var_map_set(uses, node, (void *)((uintptr_t)var_map_get(uses, node) + 1));
	return true;
}

struct slice_uses {
	struct var_map n;
	bool dropped;
};

static struct ir_node *drop_slices(struct px *px, struct ir_node *body, void *data)
{
	struct ir_list stmts = ir_flat(px, body), out = { 0 };
	struct slice_uses *uses = data;
	uint32_t i;

	for (i = 0; i < stmts.n; i++) {
		struct ir_node *s = stmts.at[i];

		if (!is_slice(s))
			list_push(px, &out, s->kind == IR_ASSIGN ? s :
				  pass_bodies(px, s, drop_slices, data));
		else if (var_map_get(&uses->n, IR_AS(s, assign)->var))
			list_push(px, &out, s);
		else
			uses->dropped = true;
	}
	return ir_body(px, out, body->span);
}

/* Of slices of slices one is dropped after the other. */
static struct ir_node *without_slices(struct px *px, struct ir_node *body)
{
	struct slice_uses uses;

	do {
		uses = (struct slice_uses){ .n = { .px = px } };
		ir_walk(body, count_use, &uses.n);
		body = drop_slices(px, body, &uses);
	} while (uses.dropped);
	return body;
}

/* ---- Program ---- */

static struct ir_node *create_for(struct px *px, const struct ir_function *f,
				  const struct ir_call *call, const struct block_output *o,
				  struct ir_list *out, unsigned int *next)
{
	struct var_map map = { .px = px };
	const struct ir_type *type;
	struct op_use use = { .px = px, .op = op_find("tensor.create"), .span = call->node.span };
	struct ir_attr dtype = { .key = "dtype", .kind = AT_DTYPE, .i = o->param->type->dtype };
	struct ir_node *var, *made;
	uint32_t i;

	for (i = 0; i < call->args.n; i++)
		var_map_set(&map, f->params.at[i], call->args.at[i]);
	type = ir_subst_type(&map, o->param->type);
	list_push(px, &use.args, block_list(px, &type->shape, call->node.span));
	use.attrs = &dtype;
	use.n_attrs = 1;
	made = op_call(&use);
	if (!made)
		return NULL;
	var = ir_var(px, px_printf(px, "_o%u", (*next)++), made->type, call->node.span);
	list_push(px, out, ir_assign(px, var, made, call->node.span));
	return var;
}

struct callers {
	const struct ir_program *program;
	struct block_output **outputs;	/* by number of the function */
	unsigned int next;
};

static struct ir_node *call_with(struct px *px, struct callers *c, struct ir_node *value,
				 struct ir_list *out)
{
	struct ir_call *call = IR_AS(value, call);
	const struct block_output *o;
	struct ir_call *copy;
	uint32_t i;

	if (value->kind != IR_CALL || call->op)
		return value;
	for (i = 0; i < c->program->functions.n; i++) {
		const struct ir_function *f = IR_AS(c->program->functions.at[i], function);

		if (strcmp(f->name, call->callee) || !c->outputs[i])
			continue;
		copy = ir_copy(px, value);
		copy->args = list_copy(px, &call->args);
		for (o = c->outputs[i]; o; o = o->next)
			list_push(px, &copy->args, create_for(px, f, call, o, out, &c->next));
		return &copy->node;
	}
	return value;
}

static struct ir_node *patch_body(struct px *px, struct ir_node *body, void *data)
{
	struct ir_list stmts = ir_flat(px, body), out = { 0 };
	uint32_t i;

	for (i = 0; i < stmts.n; i++) {
		struct ir_node *s = pass_bodies(px, stmts.at[i], patch_body, data);

		if (s->kind == IR_ASSIGN)
			IR_AS(s, assign)->value = call_with(px, data, IR_AS(s, assign)->value,
							    &out);
		if (s->kind == IR_EVAL)
			IR_AS(s, eval)->expr = call_with(px, data, IR_AS(s, eval)->expr, &out);
		list_push(px, &out, s);
	}
	return ir_body(px, out, body->span);
}

static struct ir_function *convert_function(struct px *px, const struct ir_program *program,
					    struct ir_function *old, int arch,
					    struct block_output **outputs)
{
	struct blockops b = { .px = px, .f = ir_copy(px, &old->node), .arch = arch,
			      .now = { .px = px }, .regions = { .px = px }, .uses = { .px = px } };

	b.outputs_end = &b.outputs;
	b.f->body = block_carry(px, program, old);
	if (px->n_errors)
		return b.f;
	b.f->body = outline_copies(px, program, b.f);
	b.roots = tensor_roots(px, program, b.f);
	ir_walk(b.f->body, count_use, &b.uses);
	b.f->body = convert_body(px, b.f->body, &b);
	if (px->n_errors)
		return b.f;
	b.f->body = without_slices(px, b.f->body);
	tensor_directions(px, program, b.f, false);	/* what an assemble() wrote */
	*outputs = b.outputs;
	return b.f;
}

struct ir_program *pass_block_ops(struct px *px, struct ir_program *program,
				  const struct pass_options *options)
{
	struct ir_program *out = ir_copy(px, &program->node);
	struct callers c = { .program = out };
	bool changed = false;
	uint32_t i;

	out->functions = (struct ir_list){ 0 };
	c.outputs = px_alloc(px, program->functions.n + 1, sizeof(*c.outputs));
	for (i = 0; i < program->functions.n; i++) {
		struct ir_function *f = IR_AS(program->functions.at[i], function);

		if (f->func_type == FN_INCORE || f->func_type == FN_BLOCK_INCORE)
			f = convert_function(px, program, f, options->arch, &c.outputs[i]);
		changed |= c.outputs[i] != NULL;
		list_push(px, &out->functions, &f->node);
	}
	for (i = 0; changed && i < out->functions.n && !px->n_errors; i++) {
		struct ir_function *f = ir_copy(px, out->functions.at[i]);

		c.next = 0;
		f->body = patch_body(px, f->body, &c);
		out->functions.at[i] = &f->node;
	}
	return px->n_errors ? NULL : out;
}
