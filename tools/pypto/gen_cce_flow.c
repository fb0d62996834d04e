/* SPDX-License-Identifier: MIT */
/* CCE C++: statements, and the kernel around them. Section 11. */
#include <string.h>

#include "gen_cce.h"

/* ---- Scalars ---- */

static const char *declare(struct pto_gen *g, const struct ir_node *var, const char *value)
{
	const char *name = gen_take_name(&g->cxx->names,
					 gen_base_name(g->px, IR_AS(var, var)->name));

	pto_line(g, "%s %s%s%s;", gen_c_type(g->cxx, var->type, var->span), name,
		 value ? " = " : "", value ? value : "");
	var_map_set(&g->cxx->vars, var, (void *)name);
	return name;
}

static bool is_scalar(const struct ir_node *var)
{
	return var->type->kind == TY_SCALAR;
}

static void same_storage(struct pto_gen *g, const struct ir_node *var, const struct ir_node *as)
{
	void *tensor = var_map_get(&g->tensors, as);

	if (var->type->kind == TY_TENSOR && tensor)
		var_map_set(&g->tensors, var, tensor);
	if (var->type->kind == TY_TILE && var->type->memref == as->type->memref &&
	    !strcmp(pto_tile_type(g, var->type, MS_VEC), pto_tile_type(g, as->type, MS_VEC)))
		var_map_set(&g->tiles, var, pto_tile_of(g, as));
}

/* A tile object that no operator writes by its name: its buffer was filled under other names. */
static void put_extents(struct pto_gen *g, const struct ir_node *var)
{
	if (var->type->kind == TY_TILE && var->type->memref)
		pto_size(g, pto_tile_of(g, var));
}

/* Values that a body hands on, all at once (D7). */
static void put_yield(struct pto_gen *g, const struct ir_list *to, const struct ir_list *values)
{
	const char **names = px_alloc(g->px, to->n + 1, sizeof(*names));
	const char **texts = px_alloc(g->px, to->n + 1, sizeof(*texts));
	uint32_t n = 0, i;

	for (i = 0; i < to->n && i < values->n; i++) {
		const struct ir_node *var = to->at[i];

		if (var->type->kind == TY_TENSOR && var_map_get(&g->tensors, var) &&
		    var_map_get(&g->tensors, var) != var_map_get(&g->tensors, values->at[i]))
			pto_mistake(g, var, "Write into one tensor, or split the kernel",
				    "'%s' is a different tensor in different ways through the kernel",
				    gen_written_name(g->px, var));
		if (!is_scalar(var))
			continue;
		names[n] = gen_expr(g->cxx, var);
		texts[n] = gen_expr(g->cxx, values->at[i]);
		n += strcmp(names[n], texts[n]) != 0;
	}
	for (i = 0; n > 1 && i < n; i++) {
		const char *next = gen_take_name(&g->cxx->names, px_printf(g->px, "%s_next", names[i]));

		pto_line(g, "auto %s = %s;", next, texts[i]);
		texts[i] = next;
	}
	for (i = 0; i < n; i++)
		pto_line(g, "%s = %s;", names[i], texts[i]);
}

/* ---- Control flow ---- */

static void put_block(struct pto_gen *g, struct ir_node *body, const struct ir_list *results)
{
	g->indent++;
	gen_body(g, body, results);
	g->indent--;
}

static void put_carried(struct pto_gen *g, const struct ir_list *args,
			const struct ir_list *results)
{
	uint32_t i;

	for (i = 0; i < args->n; i++) {
		const struct ir_node *init = IR_AS(args->at[i], var)->init;

		if (is_scalar(args->at[i]))
			var_map_set(&g->cxx->vars, results->at[i],
				    (void *)declare(g, args->at[i], gen_expr(g->cxx, init)));
		else
			same_storage(g, args->at[i], init);
		if (is_scalar(args->at[i]))
			continue;
		if (!var_map_get(&g->tiles, args->at[i]))
			put_extents(g, args->at[i]);
		same_storage(g, results->at[i], args->at[i]);
	}
}

struct sign_scan {
	const struct ir_node *var;
	bool inside, signed_use;
};

static bool find_var(void *data, struct ir_node *node)
{
	struct sign_scan *s = data;

	s->inside |= node == s->var;
	return true;
}

static void find_in_bounds(struct ir_for *loop, struct sign_scan *s)
{
	struct sign_scan below = { .var = s->var };

	ir_walk(loop->start, find_var, &below);
	ir_walk(loop->stop, find_var, &below);
	ir_walk(loop->step, find_var, &below);
	s->signed_use |= below.inside;
}

/* A use in which an unsigned number would mean something else. */
static bool find_signed(void *data, struct ir_node *node)
{
	struct sign_scan *s = data, below = { .var = s->var };

	if (node->kind == IR_FOR)
		find_in_bounds(IR_AS(node, for), s);
	if ((!ir_is_binary(node) && !ir_is_unary(node)) || node->kind == IR_ADD ||
	    node->kind == IR_MUL)
		return true;
	ir_walk(node, find_var, &below);
	s->signed_use |= below.inside;
	return true;
}

static const char *loop_type(const struct ir_for *s, bool nonnegative)
{
	struct sign_scan scan = { .var = s->loop_var };

	ir_walk(s->body, find_signed, &scan);
	return nonnegative && !scan.signed_use && s->stop->kind == IR_CONST_INT &&
	       IR_AS(s->stop, const)->value >= 0 ? "uint64_t" : "int64_t";
}

static void put_for(struct pto_gen *g, const struct ir_for *s)
{
	const char *start = gen_expr(g->cxx, s->start), *stop = gen_expr(g->cxx, s->stop);
	const char *step = gen_expr(g->cxx, s->step), *name, *trip, *trips;
	bool nonnegative = gen_is_nonnegative(s->start, &g->cxx->nonnegative);

	put_carried(g, &s->iter_args, &s->return_vars);
	name = gen_take_name(&g->cxx->names, gen_base_name(g->px, IR_AS(s->loop_var, var)->name));
	var_map_set(&g->cxx->vars, s->loop_var, (void *)name);
	if (gen_counts_up(s)) {
		if (nonnegative)
			var_map_set(&g->cxx->nonnegative, s->loop_var, s->loop_var);
		pto_line(g, "for (%s %s = %s; %s < %s; %s += %s) {", loop_type(s, nonnegative), name,
			 start, name, stop, name, step);
	} else {
		g->cxx->uses_trips = true;
		trip = gen_take_name(&g->cxx->names, px_printf(g->px, "%s_trip", name));
		trips = gen_take_name(&g->cxx->names, px_printf(g->px, "%s_trips", name));
		pto_line(g, "if (%s == 0) trap();", step);
		pto_line(g, "int64_t %s = range_trips(%s, %s, %s);", trips, start, stop, step);
		pto_line(g, "for (int64_t %s = 0; %s < %s; %s += 1) {", trip, trip, trips, trip);
		pto_line(g, "    [[maybe_unused]] int64_t %s = %s + %s * %s;", name, start, trip, step);
	}
	put_block(g, s->body, &s->iter_args);
	pto_line(g, "}");
}

static void put_while(struct pto_gen *g, const struct ir_while *s)
{
	put_carried(g, &s->iter_args, &s->return_vars);
	pto_line(g, "while (%s) {", gen_expr(g->cxx, s->condition));
	put_block(g, s->body, &s->iter_args);
	pto_line(g, "}");
}

static const struct ir_values *yield_of(struct ir_node *body)
{
	struct ir_list stmts = ir_stmts(&body);
	const struct ir_node *last = stmts.n ? stmts.at[stmts.n - 1] : NULL;

	return last && last->kind == IR_YIELD ? IR_AS(last, values) : NULL;
}

static void put_if(struct pto_gen *g, const struct ir_if *s)
{
	const char *condition = gen_expr(g->cxx, s->condition);
	const struct ir_values *yield = yield_of(s->then_body);
	uint32_t i;

	for (i = 0; i < s->return_vars.n; i++)
		if (is_scalar(s->return_vars.at[i]))
			declare(g, s->return_vars.at[i], NULL);
	pto_line(g, "if (%s) {", condition);
	put_block(g, s->then_body, &s->return_vars);
	for (i = 0; yield && i < s->return_vars.n && i < yield->values.n; i++)
		if (s->return_vars.at[i]->type->kind == TY_TENSOR)
			same_storage(g, s->return_vars.at[i], yield->values.at[i]);
	if (s->else_body) {
		pto_line(g, "} else {");
		put_block(g, s->else_body, &s->return_vars);
	}
	pto_line(g, "}");
	for (i = 0; i < s->return_vars.n; i++)
		put_extents(g, s->return_vars.at[i]);
}

static void put_assign(struct pto_gen *g, const struct ir_assign *a)
{
	const struct ir_node *value = gen_element(&g->tuples, a);

	if (value->kind == IR_CALL) {
		if (IR_AS(value, call)->op)
			pto_operator(g, a->var, IR_AS(value, call));
	} else if (is_scalar(a->var)) {
		if (gen_is_nonnegative(value, &g->cxx->nonnegative))
			var_map_set(&g->cxx->nonnegative, a->var, a->var);
		declare(g, a->var, gen_expr(g->cxx, value));
	} else if (a->var->type->kind == TY_TILE && ir_is_var(value)) {
		var_map_set(&g->tiles, a->var, pto_tile_of(g, value));
	} else if (ir_is_var(value)) {
		same_storage(g, a->var, value);
	}
}

static void put_free(struct pto_gen *g, const struct ir_node *pipe)
{
	pto_line(g, "TFREE(%s);", (const char *)var_map_get(&g->pipes, pipe));
}

static const struct gen_flow cce_flow = {
	.assign = put_assign,
	.loop = put_for,
	.loop_while = put_while,
	.branch = put_if,
	.yield = put_yield,
	.free_pipe = put_free,
};

/* ---- Parameters ---- */

struct window_scan {
	struct pto_gen *g;
	const struct ir_node *tensor;
	const struct ir_list *found;
};

/* The first region of the tensor that is loaded or stored. */
static bool find_window(void *data, struct ir_node *node)
{
	struct window_scan *s = data;
	const struct ir_call *call = IR_AS(node, call);
	const struct ir_type *type = node->type;

	if (s->found || node->kind != IR_CALL || !call->op)
		return !s->found;
	if (call->op->rule == rule_load && call->args.at[0] == s->tensor)
		s->found = type->view.valid.n ? &type->view.valid : &type->shape;
	else if (call->op->rule == rule_store && call->args.at[3] == s->tensor)
		s->found = call->args.at[0]->type->view.valid.n ?
			   &call->args.at[0]->type->view.valid : &call->args.at[0]->type->shape;
	return true;
}

static void unpack_tensor(struct pto_gen *g, uint32_t p, const char *name)
{
	const struct ir_node *var = g->f->params.at[p];
	struct window_scan scan = { .g = g, .tensor = var };
	struct cce_tensor *t = px_new(g->px, struct cce_tensor);
	const char *type = var->type->dtype == DT_BOOL ? "int8_t" :
			   gen_c_type(g->cxx, var->type, var->span);
	uint32_t d;

	t->name = name;
	t->rank = var->type->shape.n ? var->type->shape.n : 1;
	t->dtype = var->type->dtype;
	pto_line(g, "__gm__ Tensor* %s_tensor = reinterpret_cast<__gm__ Tensor*>(args[%u]);", name, p);
	pto_line(g, "__gm__ %s* %s = reinterpret_cast<__gm__ %s*>(%s_tensor->buffer.addr);", type,
		 name, type, name);
	var_map_set(&g->tensors, var, t);
	ir_walk(g->f->body, find_window, &scan);
	t->window = scan.found ? *scan.found : var->type->shape;
	for (d = 0; d < t->window.n; d++)
		if (t->window.at[d]->kind != IR_CONST_INT)
			return;
	t->global = cce_global(g, t, &t->window);
}

static void unpack_scalar(struct pto_gen *g, uint32_t p, const char *name)
{
	const struct ir_node *var = g->f->params.at[p];
	const char *type = gen_c_type(g->cxx, var->type, var->span);
	const char *position = !strcmp(gen_base_name(g->px, IR_AS(var, var)->name), "block_id") ?
			       "get_block_idx" : "get_block_num";

	var_map_set(&g->cxx->vars, var, (void *)name);
	if (p >= gen_passed_params(g->px, g->f)) {
		pto_line(g, "%s %s = %s(args);", type, name, position);
		return;
	}
	pto_line(g, "union { uint64_t u64; %s val; } %s_conv;", type, name);
	pto_line(g, "%s_conv.u64 = args[%u];", name, p);
	pto_line(g, "%s %s = %s_conv.val;", type, name, name);
}

static void unpack(struct pto_gen *g, uint32_t p)
{
	static const char *const suffixes[] = { "_tensor", "_conv", NULL };
	const struct ir_node *var = g->f->params.at[p];
	const char *name = gen_take_names(&g->cxx->names,
					  gen_base_name(g->px, IR_AS(var, var)->name), suffixes);

	if (var->type->kind == TY_TENSOR)
		unpack_tensor(g, p, name);
	else if (var->type->kind == TY_SCALAR)
		unpack_scalar(g, p, name);
	else if (var->type->kind == TY_PIPE)
		var_map_set(&g->pipes, var, (void *)name);
	else if (var->type->kind != TY_CLUSTER)
		pto_mistake(g, var, "Kernels take tensors, scalars, clusters and pipes",
			    "Unsupported parameter type in function %s", g->f->name);
}

static void unpack_extent(struct pto_gen *g, const struct ir_node *extent)
{
	const char *name = gen_take_name(&g->cxx->names,
					 gen_base_name(g->px, IR_AS(extent, var)->name));
	uint32_t d, p = gen_extent_place(g->px, g->f, extent, &d);

	var_map_set(&g->cxx->vars, extent, (void *)name);
	if (p != UINT32_MAX)
		pto_line(g, "int64_t %s = static_cast<int64_t>(%s_tensor->shapes[%u]);", name,
			 cce_tensor_of(g, g->f->params.at[p])->name, d);
}

/* ---- Pipes ---- */

static void put_pipe(struct pto_gen *g, uint32_t p)
{
	const struct ir_node *var = g->f->params.at[p];
	const char *name = var_map_get(&g->pipes, var);
	bool pops = g->f->directions[p] == DIR_PIPE_IN;
	bool to_vector = pops == (g->core == CORE_VECTOR);
	int64_t bytes = pto_slot_bytes(var->type);
	int local = g->arch == ARCH_A5 ? 2 : PIPE_SLOTS;
	const char *at = "0";

	if (pops) {
		at = px_printf(g->px, "0x%llx", (unsigned long long)g->scratch_base);
		g->scratch_base = (g->scratch_base + local * bytes + 255) / 256 * 256;
	}
	pto_line(g, "TPipe<%u, Direction::%s, %lld, %d, %d, true> %s(nullptr, %s, %s);",
		 2 * gen_pipe_number(g->px, g->program, g->f, p),
		 to_vector ? "DIR_C2V" : "DIR_V2C", (long long)bytes, PIPE_SLOTS, local, name,
		 to_vector ? at : "0", to_vector ? "0" : at);
}

/* ---- Memory behind all tiles ---- */

static bool find_top(void *data, struct ir_node *node)
{
	struct pto_gen *g = data;
	const struct ir_memref *m = node->type ? node->type->memref : NULL;
	uint8_t space = g->core == CORE_CUBE ? MS_MAT : MS_VEC;

	if (m && m->space == space && m->addr >= 0 &&
	    m->addr + (int64_t)m->size > g->scratch_base)
		g->scratch_base = (m->addr + (int64_t)m->size + 255) / 256 * 256;
	return true;
}

static void check_room(struct pto_gen *g)
{
	int64_t limit = g->core == CORE_CUBE ? 512 << 10 : (g->arch == ARCH_A5 ? 248 : 192) << 10;
	int64_t used = g->scratch_top > g->scratch_base ? g->scratch_top : g->scratch_base;

	if (used > limit)
		pto_mistake(g, &g->f->node, "Use smaller tiles, or the PTO back end",
			    "Kernel '%s' needs %lld bytes with the scratch tiles of its operators; there are %lld",
			    g->f->name, (long long)used, (long long)limit);
}

/* ---- The file ---- */

static const char *put_head(struct pto_gen *g)
{
	struct text out = { .px = g->px };

	text_printf(&out,
"// Kernel Function: %s\n"
"// Generated by PyPTO IR Compiler\n\n"
"#include <cstdint>\n", g->f->name);
	if (g->cxx->uses_algorithm)
		text_put(&out, "#include <algorithm>\n");
	if (g->cxx->uses_math)
		text_put(&out, "#include <cmath>\n");
	gen_kernel_includes(&out);
	gen_expr_helpers(g->cxx, &out);
	text_put(&out,
"extern \"C\" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t* args)\n"
"{\n"
"    // Unpack arguments and type declarations\n");
	return text_str(&out);
}

static struct pto_gen *cce_new(struct px *px, const struct ir_program *program,
			       const struct ir_function *f, enum gen_arch arch)
{
	struct pto_gen *g = pto_gen_new(px, program, f, arch);

	g->cxx = px_new(px, struct gen_cxx);
	g->cxx->px = g->cxx->out.px = g->cxx->names.px = px;
	g->cxx->vars.px = g->cxx->nonnegative.px = px;
	g->cxx->has_half = true;
	g->indent = 1;
	return g;
}

const char *gen_cce(struct px *px, const struct ir_program *program, const struct ir_function *f,
		    enum gen_arch arch)
{
	struct pto_gen *g = cce_new(px, program, f, arch);
	uint32_t p;

	g->to = &g->views;
	for (p = 0; p < f->params.n; p++)
		unpack(g, p);
	for (p = 0; p < g->extents.n; p++)
		unpack_extent(g, g->extents.at[p]);
	ir_walk(f->body, find_top, g);
	for (p = 0; p < f->params.n; p++)
		if (f->params.at[p]->type->kind == TY_PIPE)
			put_pipe(g, p);
	pto_scan_tiles(g);
	g->to = &g->body;
	g->flow = &cce_flow;
	gen_body(g, f->body, NULL);
	check_room(g);
	return px->n_errors ? NULL :
	       px_printf(px, "%s%s%s%s%s}\n", put_head(g), text_str(&g->views),
			 g->allocs.n ? "\n    // Tile type definitions and allocations\n" : "",
			 text_str(&g->allocs), px_printf(px, "\n%s", text_str(&g->body)));
}
