/* SPDX-License-Identifier: MIT */
/* Orchestration C++: section 9. Statements; tasks are in gen_orch_task.c, aliases in gen_orch_alias.c. */
#include <errno.h>
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
		{ DT_BOOL, "BOOL" },
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

static void shape_line(struct orch *o, const char *name, const char *what,
		       const struct ir_list *list)
{
	gen_line(&o->g, "uint64_t %s_%s[%u] = %s;", name, what, list->n ? list->n : 1,
		 orch_list(o, list));
}

static void take_entity(struct orch *o, struct entity *e, const char *prefix)
{
	static const char *const suffixes[] = { "_shapes", "_offsets", "_ring", NULL };
	const char *base = gen_base_name(o->px, IR_AS(e->def, var)->name);

	e->name = *prefix ? gen_take_name(&o->g.names, px_printf(o->px, "%s%s", prefix, base)) :
			    gen_take_names(&o->g.names, base, suffixes);
}

static const char *scalar_name(struct orch *o, const struct ir_node *var)
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

static bool check_shape(struct orch *o, const struct entity *e, const struct ir_list *shape)
{
	if (shape_is_known(o, shape))
		return true;
	diag_hint(o->px, diag_add(o->px, DIAG_COMPILE, e->call ? e->call->node.span : e->def->span,
				  "The shape of '%s' is computed where the tensor must exist already",
				  IR_AS(e->def, var)->name),
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
	if (!strcmp(op, "tensor.create") && !check_shape(o, e, &e->def->type->shape))
		return;
	take_entity(o, e, "");
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
		shape_line(o, e->name, "shapes", &e->def->type->shape);
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

static void put_body(struct orch *o, struct ir_node *body, const struct ir_list *results);

static void put_view(struct orch *o, struct entity *e)
{
	const struct ir_call *call = e->call;
	const char *base = e->base && e->base->name ? e->base->name : "";
	bool reshape = !strcmp(call->op->name, "tensor.reshape");

	if (e->external)
		return;
	take_entity(o, e, "");
	shape_line(o, e->name, "shapes", &call->node.type->shape);
	if (reshape) {
		gen_line(&o->g, "Tensor %s = %s.reshape(%s_shapes, %u);", e->name, base, e->name,
			 call->node.type->shape.n);
		return;
	}
	shape_line(o, e->name, "offsets", &IR_AS(call->args.at[2], tuple)->elements);
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
	name = scalar_name(o, var);
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
	const struct ir_list *shape = &call->args.at[0]->type->shape;
	int64_t axis = call_attr(call, "axis");

	axis += axis < 0 ? shape->n : 0;
	gen_line(&o->g, "int64_t %s = %s;", scalar_name(o, var),
		 gen_expr(&o->g, shape->at[axis]));
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
	const struct ir_call *call = IR_AS(a->value, call);
	const char *text;

	if (a->value->kind == IR_CALL) {
		if (call->op)
			put_operator(o, a->var, call);
		else
			orch_task(o, call);
		return;
	}
	if (a->var->type->kind != TY_SCALAR || a->value->kind == IR_GET_ITEM)
		return;
	text = gen_expr(&o->g, a->value);
	if (gen_is_nonnegative(a->value, &o->g.nonnegative))
		var_map_set(&o->g.nonnegative, a->var, a->var);
	gen_line(&o->g, "%s %s = %s;", orch_c_type(o, a->var), scalar_name(o, a->var), text);
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

/* All of @to at once (D7): through new variables when one value is what another assignment overwrites. */
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
	put_body(o, body, results);
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

			gen_line(&o->g, "%s %s = %s;", orch_c_type(o, arg), scalar_name(o, arg),
				 text);
			var_map_set(&o->g.vars, results->at[i], var_map_get(&o->g.vars, arg));
		} else if (is_merged(o, arg)) {
			take_entity(o, orch_entity(o, arg), "");
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

	if (is_constant(loop->step, &by) && by > 0) {
		if (gen_is_nonnegative(loop->start, &o->g.nonnegative))
			var_map_set(&o->g.nonnegative, loop->loop_var, loop->loop_var);
		i = scalar_name(o, loop->loop_var);
		gen_line(&o->g, "for (int64_t %s = %s; %s < %s; %s += %s) {", i, start, i, stop, i,
			 step);
		return;
	}
	o->g.uses_trips = true;
	i = scalar_name(o, loop->loop_var);
	trip = gen_take_name(&o->g.names, px_printf(o->px, "%s_trip", i));
	trips = gen_take_name(&o->g.names, px_printf(o->px, "%s_trips", i));
	if (!is_constant(loop->step, &by))
		gen_line(&o->g, "if (%s == 0) rt_report_fatal(rt, 5, \"the step of loop '%s' is 0\");",
			 step, i);
	gen_line(&o->g, "int64_t %s = range_trips(%s, %s, %s);", trips, start, stop, step);
	gen_line(&o->g, "for (int64_t %s = 0; %s < %s; %s += 1) {", trip, trip, trips, trip);
	gen_line(&o->g, "    int64_t %s = %s + %s * %s;", i, start, trip, step);
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
			gen_line(&o->g, "%s %s;", orch_c_type(o, var), scalar_name(o, var));
		} else if (is_merged(o, var) && !orch_entity(o, var)->external) {
			take_entity(o, orch_entity(o, var), "");
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
		put_body(o, stmt, results);
		break;
	case IR_SCOPE:
		put_body(o, IR_AS(stmt, scope)->body, results);
		break;
	}
}

static void put_body(struct orch *o, struct ir_node *body, const struct ir_list *results)
{
	struct ir_list stmts = body->kind == IR_OPS ? IR_AS(body, seq)->stmts : ir_stmts(&body);
	uint32_t i;

	for (i = 0; i < stmts.n; i++)
		put_stmt(o, stmts.at[i], results);
}

/* ---- The file ---- */

struct slots {
	struct text defines, pointers, scalars;
	unsigned int n;
};

static void slot_tensor(struct orch *o, struct slots *s, struct entity *e)
{
	const char *base = gen_base_name(o->px, IR_AS(e->def, var)->name);
	const char *macro;

	take_entity(o, e, "ext_");
	base = e->name + strlen("ext_");
	macro = px_printf(o->px, "ARG_PTR_%s", gen_upper(o->px, base));
	if (var_map_get(&o->g.names.taken, (const void *)px_intern(o->px, macro)))
		macro = px_printf(o->px, "%s_%u", macro, s->n);
	var_map_set(&o->g.names.taken, (const void *)px_intern(o->px, macro), e);
	e->pointer = gen_take_name(&o->g.names, px_printf(o->px, "arg_%s_ptr", base));
	gen_take_name(&o->g.names, px_printf(o->px, "%s_shapes", base));
	text_printf(&s->defines, "#define %s %u\n", macro, s->n++);
	text_printf(&s->pointers, "    void* %s = reinterpret_cast<void*>(args[%s]);\n",
		    e->pointer, macro);
}

static void slot_scalar(struct orch *o, struct slots *s, const struct ir_node *var)
{
	const char *name = scalar_name(o, var), *type = orch_c_type(o, var);
	const char *macro = px_printf(o->px, "ARG_VAL_%s", gen_upper(o->px, name));

	if (var_map_get(&o->g.names.taken, (const void *)px_intern(o->px, macro)))
		macro = px_printf(o->px, "%s_%u", macro, s->n);
	var_map_set(&o->g.names.taken, (const void *)px_intern(o->px, macro), (void *)var);
	text_printf(&s->defines, "#define %s %u\n", macro, s->n++);
	if (dtype_is_float(var->type->dtype) && dtype_info(var->type->dtype)->bits >= 32)
		text_printf(&s->scalars,
			    "    %s %s;\n    memcpy(&%s, &args[%s], sizeof(%s));\n", type, name,
			    name, macro, name);
	else
		text_printf(&s->scalars, "    %s %s = static_cast<%s>(args[%s]);\n", type, name,
			    type, macro);
}

static void find_slots(struct orch *o, struct slots *s)
{
	uint32_t i;

	s->defines.px = s->pointers.px = s->scalars.px = o->px;
	for (i = 0; i < o->f->params.n; i++)
		if (o->f->params.at[i]->type->kind == TY_TENSOR)
			slot_tensor(o, s, var_map_get(&o->of, o->f->params.at[i]));
	for (i = 0; i < o->n_results; i++)
		slot_tensor(o, s, o->results[i]);
	for (i = 0; i < o->f->params.n; i++)
		if (o->f->params.at[i]->type->kind == TY_SCALAR)
			slot_scalar(o, s, o->f->params.at[i]);
	o->extents = gen_extents(o->px, o->f);
	for (i = 0; i < o->extents.n; i++)
		slot_scalar(o, s, o->extents.at[i]);
}

static void put_external(struct orch *o, struct entity *e)
{
	const struct ir_list *shape = &e->def->type->shape;
	const char *base = e->name + strlen("ext_");

	if (!check_shape(o, e, shape))
		return;
	shape_line(o, base, "shapes", shape);
	gen_line(&o->g, "Tensor %s = make_tensor_external(%s, %s_shapes, %u, %s);", e->name,
		 e->pointer, base, shape->n, orch_dtype(o, e->def));
}

static void put_externals(struct orch *o)
{
	uint32_t i;

	gen_line(&o->g, "%s", "");
	gen_line(&o->g, "// External tensors");
	for (i = 0; i < o->f->params.n; i++)
		if (o->f->params.at[i]->type->kind == TY_TENSOR)
			put_external(o, var_map_get(&o->of, o->f->params.at[i]));
	for (i = 0; i < o->n_results; i++)
		put_external(o, o->results[i]);
}

static void put_head(struct orch *o, const struct slots *s, struct text *out)
{
	text_printf(out, "// Orchestration Function: %s\n// Generated by PyPTO IR Compiler\n\n",
		    o->f->name);
	text_put(out, "#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n");
	if (o->g.uses_algorithm)
		text_put(out, "#include <algorithm>\n");
	if (o->g.uses_math)
		text_put(out, "#include <cmath>\n");
	text_put(out, "\n#include \"pto_orchestration_api.h\"\n\n");
	if (o->narrows)
		text_put(out, "#pragma GCC diagnostic ignored \"-Wnarrowing\"\n\n");
	text_printf(out, "%s%s", s->defines.n ? s->defines.at : "", s->defines.n ? "\n" : "");
	text_put(out,
"// The bits of a float in the lower half of a word\n"
"static inline uint64_t float_to_u64(float f) {\n"
"    union { float f; uint32_t u; } bits;\n"
"    bits.f = f;\n"
"    return bits.u;\n"
"}\n\n");
	gen_expr_helpers(&o->g, out);
	if (o->uses_rings)
		text_put(out,
"// A buffer of the ring that no carried tensor has\n"
"template <int N>\n"
"static inline const Tensor& free_buffer(const Tensor (&ring)[N], std::initializer_list<uint64_t> held) {\n"
"    for (const Tensor& one : ring) {\n"
"        bool is_held = false;\n"
"        for (uint64_t address : held) {\n"
"            is_held |= address == one.buffer.addr;\n"
"        }\n"
"        if (!is_held) {\n"
"            return one;\n"
"        }\n"
"    }\n"
"    return ring[0];\n"
"}\n\n");
}

static void put_entry(struct orch *o, const struct slots *s, struct text *out)
{
	text_printf(out,
"extern \"C\" {\n\n"
"__attribute__((visibility(\"default\")))\n"
"PTO2OrchestrationConfig aicpu_orchestration_config(uint64_t* args, int arg_count) {\n"
"    (void)args;\n"
"    (void)arg_count;\n"
"    return PTO2OrchestrationConfig{\n"
"        .expected_arg_count = %u,\n"
"    };\n"
"}\n\n"
"__attribute__((visibility(\"default\")))\n"
"void aicpu_orchestration_entry(PTO2Runtime* rt, uint64_t* args, int arg_count) {\n"
"    (void)arg_count;\n", s->n);
	if (!s->n)
		text_put(out, "    (void)args;\n");
	if (!o->n_tasks)
		text_put(out, "    (void)rt;\n");
	if (s->pointers.n)
		text_printf(out, "\n    // Extract device pointers\n%s", s->pointers.at);
	if (s->scalars.n)
		text_printf(out, "\n    // Extract scalars\n%s", s->scalars.at);
	text_put(out, text_str(&o->g.out));
	text_put(out, "}\n\n}  // extern \"C\"\n");
}

struct orch *orch_new(struct px *px, const struct ir_program *program, const struct ir_function *f)
{
	struct orch *o = px_new(px, struct orch);

	o->px = o->g.px = o->g.out.px = o->g.names.px = px;
	o->program = program;
	o->f = f;
	o->g.vars.px = o->g.nonnegative.px = o->merged.px = px;
	o->hoisted.px = o->hoisted_next.px = px;
	o->g.indent = 1;
	o->called = gen_called(px, program, f);
	return px->n_errors || orch_alias(o) ? NULL : o;
}

const char *gen_orchestration(struct px *px, const struct ir_program *program,
			      const struct ir_function *f)
{
	struct orch *o = orch_new(px, program, f);
	struct text out = { .px = px };
	struct slots slots = { 0 };

	if (!o)
		return NULL;
	find_slots(o, &slots);
	put_externals(o);
	put_body(o, f->body, NULL);
	put_head(o, &slots, &out);
	put_entry(o, &slots, &out);
	return px->n_errors ? NULL : text_str(&out);
}

/* ---- Its arguments, for those who call it ---- */

static void add_slot(struct gen_slots *s, const struct ir_node *var, enum gen_slot_kind kind,
		     const struct entity *e)
{
	s->at[s->n++] = (struct gen_slot){ .var = var, .kind = (uint8_t)kind,
					   .is_read = e && e->read, .is_written = e && e->written };
}

static uint32_t slot_of(struct orch *o, const struct gen_slots *s, const struct ir_node *value)
{
	struct entity *e = orch_entity(o, value);
	uint32_t i;

	if (e && e->kind == OE_VIEW)
		e = e->base;
	for (i = 0; i < s->n; i++)
		if (e && orch_entity(o, s->at[i].var) == e)
			return i;
	return UINT32_MAX;
}

int gen_orchestration_slots(struct px *px, const struct ir_program *program,
			    const struct ir_function *f, struct gen_slots *slots)
{
	struct orch *o = orch_new(px, program, f);
	struct ir_node *body = f->body;
	struct ir_list extents, stmts = ir_stmts(&body);
	const struct ir_node *last = stmts.n ? stmts.at[stmts.n - 1] : NULL;
	uint32_t i;

	if (!o)
		return -EINVAL;
	extents = gen_extents(px, f);
	slots->at = px_alloc(px, f->params.n + o->n_results + extents.n + 1, sizeof(*slots->at));
	for (i = 0; i < f->params.n; i++)
		if (f->params.at[i]->type->kind == TY_TENSOR)
			add_slot(slots, f->params.at[i], SLOT_TENSOR,
				 orch_entity(o, f->params.at[i]));
	for (i = 0; i < o->n_results; i++)
		add_slot(slots, o->results[i]->def, SLOT_RESULT, o->results[i]);
	for (i = 0; i < f->params.n; i++)
		if (f->params.at[i]->type->kind == TY_SCALAR)
			add_slot(slots, f->params.at[i], SLOT_SCALAR, NULL);
	for (i = 0; i < extents.n; i++)
		add_slot(slots, extents.at[i], SLOT_EXTENT, NULL);
	if (!last || last->kind != IR_RETURN)
		return 0;
	slots->n_returned = IR_AS(last, values)->values.n;
	slots->returned = px_alloc(px, slots->n_returned + 1, sizeof(*slots->returned));
	for (i = 0; i < slots->n_returned; i++)
		slots->returned[i] = slot_of(o, slots, IR_AS(last, values)->values.at[i]);
	return 0;
}
