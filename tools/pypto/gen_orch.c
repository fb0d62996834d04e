/* SPDX-License-Identifier: MIT */
/*
 * Orchestration C++: section 9. Statements; tasks are in gen_orch_task.c, aliases in
 * gen_orch_alias.c.
 */
#include <string.h>

#include "gen_orch.h"

/* ---- Pieces ---- */

const char *orch_dtype(struct orch *o, const struct ir_node *of)
{
	static const struct { uint8_t code; const char *name; } names[] = {
		{ DT_FP32, "FLOAT32" }, { DT_FP16, "FLOAT16" }, { DT_INT32, "INT32" },
		{ DT_INT16, "INT16" }, { DT_INT8, "INT8" }, { DT_UINT8, "UINT8" },
		{ DT_BF16, "BFLOAT16" }, { DT_INT64, "INT64" }, { DT_INDEX, "INT64" },
		{ DT_UINT64, "UINT64" }, { DT_UINT16, "UINT16" }, { DT_UINT32, "UINT32" },
		{ DT_BOOL, "BOOL" }, { DT_FP8E4M3FN, "FP8E4M3FN" }, { DT_FP8E8M0, "FP8E8M0" },
		{ DT_FP8E5M2, "UINT8" },	/* the runtime has no name for it */
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].code == of->type->dtype)
			return px_printf(o->px, "DataType::%s", names[i].name);
	diag_add(o->px, DIAG_COMPILE, of->span, "Tensors of %s are unknown to the runtime",
		 dtype_name(of->type->dtype));
	return "DataType::UINT8";
}

/* Half floats are kept as their bits: the control CPU has no such type. */
const char *orch_c_type(struct orch *o, const struct ir_node *of)
{
	if (dtype_is_float(of->type->dtype) && dtype_info(of->type->dtype)->bits == 16)
		return "uint16_t";
	return gen_c_type(&o->g, of->type, of->span);
}

const char *orch_list(struct orch *o, const struct ir_list *list)
{
	struct text t = { .px = o->px };
	uint32_t i;

	text_put(&t, "{");
	for (i = 0; i < list->n; i++) {
		o->narrows |= list->at[i]->kind != IR_CONST_INT;
		text_printf(&t, "%s%s", i ? ", " : "", gen_expr(&o->g, list->at[i]));
	}
	text_put(&t, list->n ? "}" : "1}");
	return text_str(&t);
}

void orch_shape_line(struct orch *o, const char *name, const char *what,
		       const struct ir_list *list)
{
	gen_line(&o->g, "uint64_t %s_%s[%u] = %s;", name, what, list->n ? list->n : 1,
		 orch_list(o, list));
}

void orch_take_entity(struct orch *o, struct entity *e, const char *prefix)
{
	static const char *const suffixes[] = { "_shapes", "_offsets", "_ring", NULL };
	const char *base = gen_base_name(o->px, IR_AS(e->def, var)->name);

	e->name = *prefix ? gen_take_name(&o->g.names, px_printf(o->px, "%s%s", prefix, base)) :
			    gen_take_names(&o->g.names, base, suffixes);
}

const char *orch_scalar_name(struct orch *o, const struct ir_node *var)
{
	const char *name = gen_take_name(&o->g.names,
					 gen_base_name(o->px, IR_AS(var, var)->name));

	var_map_set(&o->g.vars, var, (void *)name);
	return name;
}

/* ---- Declarations of tensors ---- */

static bool is_merged(struct orch *o, const struct ir_node *var)
{
	return var_map_get(&o->merged, var) && orch_entity(o, var) &&
	       orch_entity(o, var)->kind == OE_MERGED;
}

static bool is_known(void *data, struct ir_node *node)
{
	struct orch *o = ((void **)data)[0];
	bool *known = ((void **)data)[1];

	*known &= !ir_is_var(node) || var_map_get(&o->g.vars, node);
	return true;
}

static bool shape_is_known(struct orch *o, const struct ir_list *shape)
{
	bool known = true;
	void *data[2] = { o, &known };
	uint32_t i;

	for (i = 0; i < shape->n; i++)
		ir_walk(shape->at[i], is_known, data);
	return known;
}

bool orch_check_shape(struct orch *o, const struct entity *e, const struct ir_list *shape)
{
	if (shape_is_known(o, shape))
		return true;
	if (e->external) {
		diag_hint(o->px, diag_add(o->px, DIAG_COMPILE, e->def->span,
					  "The extents of result '%s' do not follow from the parameters",
					  gen_written_name(o->px, e->def)),
			  "Make it a parameter, pl.Out[pl.Tensor[...]], whose extents the caller chooses");
		return false;
	}
	diag_hint(o->px, diag_add(o->px, DIAG_COMPILE, e->call ? e->call->node.span : e->def->span,
				  "The shape of '%s' is computed where the tensor must exist already",
				  gen_written_name(o->px, e->def)),
		  "Compute the extents, or create the tensor, before the loop or branch");
	return false;
}

static const char *maker(struct orch *o, const struct entity *e)
{
	const struct ir_type *type = e->def->type;
	const char *name = e->name;

	return px_printf(o->px, "make_tensor(%s_shapes, %u, %s)%s", name, type->shape.n,
			 orch_dtype(o, e->def),
			 e->keep ? px_printf(o->px, ".reshape(%s_shapes, %u)", name, type->shape.n) :
			 "");
}

/* As many buffers as carried variables can hold, and one more. */
static unsigned int ring_size(struct orch *o, const struct entity *e)
{
	const struct block *b;
	unsigned int n = 1;
	uint32_t i;

	for (b = e->home; b != e->ring; b = b->up) {
		const struct ir_list *args = b->stmt->kind == IR_FOR ?
			&IR_AS(b->stmt, for)->iter_args : &IR_AS(b->stmt, while)->iter_args;

		if (b->stmt->kind != IR_FOR && b->stmt->kind != IR_WHILE)
			continue;
		for (i = 0; i < args->n; i++)
			n += is_merged(o, args->at[i]);
	}
	return n;
}

static void declare_ring(struct orch *o, struct entity *e)
{
	e->keep = true;
	gen_line(&o->g, "Tensor %s_ring[%u];", e->name, ring_size(o, e));
	gen_line(&o->g, "for (Tensor& one : %s_ring) {", e->name);
	gen_line(&o->g, "    one = %s;", maker(o, e));
	gen_line(&o->g, "}");
}

static void declare_create(struct orch *o, struct entity *e)
{
	const char *op = e->call->op->name;

	if (e->external || e->declared)
		return;
	e->declared = true;
	if (!strcmp(op, "tensor.create") && !orch_check_shape(o, e, &e->def->type->shape))
		return;
	orch_take_entity(o, e, "");
	if (!strcmp(op, "cluster.allocate")) {
		gen_line(&o->g, "Tensor %s = pto2_rt_allocate_cluster(rt, %s);", e->name,
			 e->call->args.n && e->call->args.at[0] ?
			 gen_expr(&o->g, e->call->args.at[0]) : "1");
	} else if (!strcmp(op, "pipe.create")) {
		gen_line(&o->g, "uint64_t %s_shapes[1] = {1};", e->name);
		gen_line(&o->g, "Tensor %s = make_pipe(%s_shapes, 1, DataType::INT8);", e->name,
			 e->name);
	} else {
		gen_line(&o->g, "%s", "");
		orch_shape_line(o, e->name, "shapes", &e->def->type->shape);
		if (!e->ring)
			gen_line(&o->g, "Tensor %s = %s;", e->name, maker(o, e));
	}
}

static void use_ring(struct orch *o, struct entity *e)
{
	struct text t = { .px = o->px };
	uint32_t i;

	for (i = 0; i < o->carried.n; i++)
		text_printf(&t, "%s%s.buffer.addr", i ? ", " : "",
			    orch_entity(o, o->carried.at[i])->name);
	o->uses_rings = true;
	gen_line(&o->g, "Tensor %s = free_buffer(%s_ring, {%s});", e->name, e->name, text_str(&t));
}

/* A copy of the descriptor: what it describes must have memory, which the original shares. */
static const char *copy_text(struct orch *o, const struct ir_node *value)
{
	struct entity *e = ir_is_var(value) ? orch_entity(o, value) : NULL;

	if (e && e->name)
		return e->name;
	diag_add(o->px, DIAG_COMPILE, value->span, "Internal error: a merged value is no tensor");
	return "";
}

/* ---- Statements ---- */

static void put_view(struct orch *o, struct entity *e)
{
	const struct ir_call *call = e->call;
	const char *base = e->base && e->base->name ? e->base->name : "";
	bool reshape = !strcmp(call->op->name, "tensor.reshape");

	if (e->external)
		return;
	orch_take_entity(o, e, "");
	orch_shape_line(o, e->name, "shapes", &call->node.type->shape);
	if (reshape) {
		gen_line(&o->g, "Tensor %s = %s.reshape(%s_shapes, %u);", e->name, base, e->name,
			 call->node.type->shape.n);
		return;
	}
	orch_shape_line(o, e->name, "offsets", &IR_AS(call->args.at[2], tuple)->elements);
	gen_line(&o->g, "Tensor %s = %s.view(%s_shapes, %s_offsets);", e->name, base, e->name,
		 e->name);
}

static const char *stride_text(struct orch *o, const struct ir_list *shape, uint32_t d)
{
	struct text t = { .px = o->px };
	int64_t product = 1;
	uint32_t i;

	for (i = d + 1; i < shape->n; i++) {
		if (shape->at[i]->kind == IR_CONST_INT)
			product *= IR_AS(shape->at[i], const)->value;
		else
			text_printf(&t, " * %s", gen_expr(&o->g, shape->at[i]));
	}
	return px_printf(o->px, "%lld%s", (long long)product, text_str(&t));
}

static const char *flat_index(struct orch *o, const struct ir_list *shape,
			      const struct ir_list *indices)
{
	struct text t = { .px = o->px };
	uint32_t i;

	for (i = 0; i < indices->n; i++) {
		text_printf(&t, "%s%s", i ? " + " : "", gen_expr(&o->g, indices->at[i]));
		if (i + 1 < indices->n)
			text_printf(&t, " * %s", stride_text(o, shape, i));
	}
	return indices->n ? text_str(&t) : "0";
}

/* D18: what a task may write is read through the runtime, which waits. */
static void put_read(struct orch *o, const struct ir_node *var, const struct ir_call *call)
{
	const struct ir_list *indices = &IR_AS(call->args.at[1], tuple)->elements;
	struct entity *e = orch_entity(o, call->args.at[0]);
	const char *type = orch_c_type(o, var), *name, *index;

	if (!e || !e->name)
		return;
	name = orch_scalar_name(o, var);
	index = gen_take_name(&o->g.names, px_printf(o->px, "idx_%s", name));
	if (!e->external || e->written || o->merged_written) {
		gen_line(&o->g, "uint64_t %s[%u] = %s;", index, indices->n ? indices->n : 1,
			 indices->n ? orch_list(o, indices) : "{0}");
		gen_line(&o->g, "%s %s = get_tensor_data<%s>(rt, %s, %u, %s);", type, name, type,
			 e->name, indices->n, index);
	} else if (indices->n == 1 && indices->at[0]->kind == IR_CONST_INT) {
		gen_line(&o->g, "%s %s = static_cast<%s*>(%s)[%s];", type, name, type, e->pointer,
			 gen_expr(&o->g, indices->at[0]));
	} else {
		gen_line(&o->g, "size_t %s = %s;", index,
			 flat_index(o, &call->args.at[0]->type->shape, indices));
		gen_line(&o->g, "%s %s = static_cast<%s*>(%s)[%s];", type, name, type, e->pointer,
			 index);
	}
}

static void put_dim(struct orch *o, const struct ir_node *var, const struct ir_call *call)
{
	gen_line(&o->g, "int64_t %s = %s;", orch_scalar_name(o, var),
		 gen_expr(&o->g, call_dim(call)));
	var_map_set(&o->g.nonnegative, var, (void *)var);
}

static void put_operator(struct orch *o, const struct ir_node *var, const struct ir_call *call)
{
	struct entity *e = var_map_get(&o->of, var);

	if (e && e->def == var && e->kind == OE_VIEW) {
		put_view(o, e);
	} else if (e && e->call == call && e->kind == OE_CREATE) {
		if (!e->base)
			declare_create(o, e);
		if (e->ring)
			use_ring(o, e);
	} else if (!strcmp(call->op->name, "tensor.read")) {
		put_read(o, var, call);
	} else if (!strcmp(call->op->name, "tensor.dim")) {
		put_dim(o, var, call);
	} else if (!e) {
		diag_hint(o->px, diag_add(o->px, DIAG_COMPILE, call->node.span,
					  "tensor operator '%s' must be inside an InCore function or pl.incore() region",
					  call->op->name),
			  "Move it into an InCore function, or make this function Opaque");
	}
}

static void put_assign(struct orch *o, const struct ir_assign *a)
{
	const struct ir_node *value = gen_element(&o->tuples, a);
	const struct ir_call *call = IR_AS(value, call);
	const char *text;

	if (value->kind == IR_CALL) {
		if (call->op)
			put_operator(o, a->var, call);
		else
			orch_task(o, call);
		return;
	}
	if (a->var->type->kind != TY_SCALAR)
		return;
	text = gen_expr(&o->g, value);
	if (gen_is_nonnegative(value, &o->g.nonnegative))
		var_map_set(&o->g.nonnegative, a->var, a->var);
	gen_line(&o->g, "%s %s = %s;", orch_c_type(o, a->var), orch_scalar_name(o, a->var), text);
}

/* ---- Values that bodies hand on ---- */

static const char *target_text(struct orch *o, const struct ir_node *var)
{
	if (var->type->kind == TY_SCALAR)
		return var_map_get(&o->g.vars, var);
	return is_merged(o, var) ? orch_entity(o, var)->name : NULL;
}

static const char *source_text(struct orch *o, const struct ir_node *value)
{
	return value->type->kind == TY_SCALAR ? gen_expr(&o->g, value) : copy_text(o, value);
}

/*
 * All of @to at once (D7): through new variables when one value is what another assignment
 * overwrites.
 */
static void put_moves(struct orch *o, const struct ir_list *to, const struct ir_list *values)
{
	const char **targets = px_alloc(o->px, to->n + 1, sizeof(*targets));
	const char **sources = px_alloc(o->px, to->n + 1, sizeof(*sources));
	uint32_t n = 0, i, k;
	bool crossed = false;

	for (i = 0; i < to->n && i < values->n; i++) {
		targets[n] = target_text(o, to->at[i]);
		if (!targets[n])
			continue;
		sources[n] = source_text(o, values->at[i]);
		n += strcmp(sources[n], targets[n]) != 0;
	}
	for (i = 0; i < n; i++)
		for (k = 0; k < n; k++)
			crossed |= i != k && strstr(sources[i], targets[k]);
	for (i = 0; crossed && i < n; i++) {
		const char *next = gen_take_name(&o->g.names,
						 px_printf(o->px, "%s_next", targets[i]));

		gen_line(&o->g, "auto %s = %s;", next, sources[i]);
		sources[i] = next;
	}
	for (i = 0; i < n; i++)
		gen_line(&o->g, "%s = %s;", targets[i], sources[i]);
}

/* ---- Control flow ---- */

static void put_scope(struct orch *o, struct ir_node *body, const struct ir_list *results)
{
	gen_line(&o->g, "PTO2_SCOPE(rt) {");
	o->g.indent++;
	orch_body(o, body, results);
	o->g.indent--;
	gen_line(&o->g, "}");
}

/* Variables of carried values, with their initial ones. */
static void put_carried(struct orch *o, const struct ir_list *args, const struct ir_list *results)
{
	uint32_t i;

	for (i = 0; i < args->n; i++) {
		const struct ir_node *arg = args->at[i], *init = IR_AS(arg, var)->init;

		if (arg->type->kind == TY_SCALAR) {
			const char *text = gen_expr(&o->g, init);

			gen_line(&o->g, "%s %s = %s;", orch_c_type(o, arg), orch_scalar_name(o, arg),
				 text);
			var_map_set(&o->g.vars, results->at[i], var_map_get(&o->g.vars, arg));
		} else if (is_merged(o, arg)) {
			orch_take_entity(o, orch_entity(o, arg), "");
			gen_line(&o->g, "Tensor %s = %s;", orch_entity(o, arg)->name,
				 copy_text(o, init));
			list_push(o->px, &o->carried, (struct ir_node *)arg);
		}
	}
}

static void drop_carried(struct orch *o, const struct ir_list *args)
{
	uint32_t i;

	for (i = 0; i < args->n; i++)
		o->carried.n -= is_merged(o, args->at[i]);
}

static bool is_constant(const struct ir_node *e, int64_t *value)
{
	if (e->kind != IR_CONST_INT)
		return false;
	*value = IR_AS(e, const)->value;
	return true;
}

static void open_for(struct orch *o, const struct ir_for *loop)
{
	const char *start = gen_expr(&o->g, loop->start), *stop = gen_expr(&o->g, loop->stop);
	const char *step = gen_expr(&o->g, loop->step), *i, *trip, *trips;
	int64_t by;

	if (gen_counts_up(loop)) {
		if (gen_is_nonnegative(loop->start, &o->g.nonnegative))
			var_map_set(&o->g.nonnegative, loop->loop_var, loop->loop_var);
		i = orch_scalar_name(o, loop->loop_var);
		gen_line(&o->g, "for (int64_t %s = %s; %s < %s; %s += %s) {", i, start, i, stop, i,
			 step);
		return;
	}
	o->g.uses_trips = true;
	i = orch_scalar_name(o, loop->loop_var);
	trip = gen_take_name(&o->g.names, px_printf(o->px, "%s_trip", i));
	trips = gen_take_name(&o->g.names, px_printf(o->px, "%s_trips", i));
	if (!is_constant(loop->step, &by))
		gen_line(&o->g, "if (%s == 0) rt_report_fatal(rt, 5, \"the step of loop '%s' is 0\");",
			 step, i);
	gen_line(&o->g, "int64_t %s = range_trips(%s, %s, %s);", trips, start, stop, step);
	gen_line(&o->g, "for (int64_t %s = 0; %s < %s; %s += 1) {", trip, trip, trips, trip);
	gen_line(&o->g, "    [[maybe_unused]] int64_t %s = %s + %s * %s;", i, start, trip, step);
}

static void put_for(struct orch *o, const struct ir_for *loop)
{
	put_carried(o, &loop->iter_args, &loop->return_vars);
	open_for(o, loop);
	o->g.indent++;
	put_scope(o, loop->body, &loop->iter_args);
	o->g.indent--;
	gen_line(&o->g, "}");
	drop_carried(o, &loop->iter_args);
}

static void put_while(struct orch *o, const struct ir_while *loop)
{
	put_carried(o, &loop->iter_args, &loop->return_vars);
	gen_line(&o->g, "while (%s) {", gen_expr(&o->g, loop->condition));
	o->g.indent++;
	put_scope(o, loop->body, &loop->iter_args);
	o->g.indent--;
	gen_line(&o->g, "}");
	drop_carried(o, &loop->iter_args);
}

static bool is_empty(struct ir_node *body)
{
	struct ir_list stmts = ir_stmts(&body);

	return !stmts.n;
}

static void put_if(struct orch *o, const struct ir_if *s)
{
	const char *condition = gen_expr(&o->g, s->condition);
	uint32_t i;

	for (i = 0; i < s->return_vars.n; i++) {
		const struct ir_node *var = s->return_vars.at[i];

		if (var->type->kind == TY_SCALAR) {
			gen_line(&o->g, "%s %s;", orch_c_type(o, var), orch_scalar_name(o, var));
		} else if (is_merged(o, var) && !orch_entity(o, var)->external) {
			orch_take_entity(o, orch_entity(o, var), "");
			gen_line(&o->g, "Tensor %s;", orch_entity(o, var)->name);
		}
	}
	gen_line(&o->g, "if (%s) {", condition);
	o->g.indent++;
	put_scope(o, s->then_body, &s->return_vars);
	o->g.indent--;
	if (s->else_body && !is_empty(s->else_body)) {
		gen_line(&o->g, "} else {");
		o->g.indent++;
		put_scope(o, s->else_body, &s->return_vars);
		o->g.indent--;
	}
	gen_line(&o->g, "}");
}

static void put_eval(struct orch *o, const struct ir_node *expr)
{
	const struct ir_call *call = IR_AS(expr, call);

	if (expr->kind != IR_CALL)
		return;
	if (call->op)
		put_operator(o, expr, call);
	else
		orch_task(o, call);
}

static void put_hoisted(struct orch *o, const struct ir_node *stmt)
{
	struct entity *e = var_map_get(&o->hoisted, stmt);

	for (; e; e = var_map_get(&o->hoisted_next, e->def)) {
		declare_create(o, e);
		if (e->ring)
			declare_ring(o, e);
	}
}

static void put_stmt(struct orch *o, struct ir_node *stmt, const struct ir_list *results)
{
	put_hoisted(o, stmt);
	switch (stmt->kind) {
	case IR_ASSIGN:
		put_assign(o, IR_AS(stmt, assign));
		break;
	case IR_EVAL:
		put_eval(o, IR_AS(stmt, eval)->expr);
		break;
	case IR_FOR:
		put_for(o, IR_AS(stmt, for));
		break;
	case IR_WHILE:
		put_while(o, IR_AS(stmt, while));
		break;
	case IR_IF:
		put_if(o, IR_AS(stmt, if));
		break;
	case IR_YIELD:
		if (results)
			put_moves(o, results, &IR_AS(stmt, values)->values);
		break;
	case IR_OPS:
	case IR_SEQ:
		orch_body(o, stmt, results);
		break;
	case IR_SCOPE:
		orch_body(o, IR_AS(stmt, scope)->body, results);
		break;
	}
}

void orch_body(struct orch *o, struct ir_node *body, const struct ir_list *results)
{
	struct ir_list stmts = body->kind == IR_OPS ? IR_AS(body, seq)->stmts : ir_stmts(&body);
	uint32_t i;

	for (i = 0; i < stmts.n; i++)
		put_stmt(o, stmts.at[i], results);
}
