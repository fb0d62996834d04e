/* SPDX-License-Identifier: MIT */
/* .pto text: section 10. The function around its body; statements are in gen_pto_flow.c. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gen_pto.h"

static void note_place(struct pto_gen *g)
{
	struct gen_place *places;

	if (g->to != &g->body)
		return;
	if (g->n_places == g->room_places) {
		g->room_places = g->room_places ? 2 * g->room_places : 64;
		places = px_alloc(g->px, g->room_places, sizeof(*places));
		if (g->n_places)
			memcpy(places, g->places, g->n_places * sizeof(*places));
		g->places = places;
	}
	g->places[g->n_places++] = (struct gen_place){ g->at, g->call };
}

void pto_line(struct pto_gen *g, const char *fmt, ...)
{
	struct text line = { .px = g->px };
	char small[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof(small)) {
		char *large = px_alloc(g->px, (size_t)n + 1, 1);

		va_start(ap, fmt);
		vsnprintf(large, (size_t)n + 1, fmt, ap);
		va_end(ap);
		text_put(&line, large);
	} else {
		text_put(&line, small);
	}
	note_place(g);
	text_printf(g->to, "%*s%s\n", (int)((g->cxx ? 4 : 2) * g->indent), "", text_str(&line));
}

void pto_mistake(struct pto_gen *g, const struct ir_node *at, const char *hint, const char *fmt,
		 ...)
{
	char text[512];
	struct diag *d;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	d = diag_add(g->px, DIAG_COMPILE, at->span.line ? at->span : g->at, "%s", text);
	if (hint)
		diag_hint(g->px, d, "%s", hint);
}

const char *pto_temp(struct pto_gen *g)
{
	return px_printf(g->px, "%%%u", g->next++);
}

struct pto_value *pto_new_value(struct pto_gen *g, const char *name, const char *type)
{
	struct pto_value *v = px_new(g->px, struct pto_value);

	v->name = name;
	v->type = type;
	return v;
}

void pto_bind(struct pto_gen *g, const struct ir_node *var, const char *name, const char *type)
{
	if (g->cxx)
		var_map_set(&g->cxx->vars, var, (void *)name);
	else
		var_map_set(&g->values, var, pto_new_value(g, name, type));
}

/* ---- Parameters ---- */

static void put_parameter(struct pto_gen *g, struct text *out, const struct ir_node *var)
{
	const struct ir_type *type = var->type;
	struct pto_tensor *t;
	const char *name;

	if (type->kind == TY_CLUSTER || type->kind == TY_PIPE)
		return;
	name = px_printf(g->px, "%%arg%u", g->n_args);
	if (type->kind == TY_TENSOR) {
		t = px_new(g->px, struct pto_tensor);
		t->pointer = (struct pto_value){ name, px_printf(g->px, "!pto.ptr<%s>",
						 pto_dtype(g, type->dtype, var->span)) };
		var_map_set(&g->tensors, var, t);
		text_printf(out, "%s%s: %s", g->n_args ? ", " : "", name, t->pointer.type);
	} else if (type->kind == TY_SCALAR) {
		struct pto_value *v = pto_new_value(g, name,
						    pto_scalar_type(g, type->dtype, var->span));

		var_map_set(&g->values, var, v);
		text_printf(out, "%s%s: %s", g->n_args ? ", " : "", name, v->type);
	} else {
		pto_mistake(g, var, "Pass a tensor and load it, or use a pipe",
			    "Parameter '%s' of kernel '%s' is a tile",
			    gen_written_name(g->px, var), g->f->name);
	}
	g->n_args++;
}

static const char *extra_parameter(struct pto_gen *g, struct text *out)
{
	const char *name = px_printf(g->px, "%%arg%u", g->n_args);

	text_printf(out, "%s%s: index", g->n_args++ ? ", " : "", name);
	return name;
}

/* A stride that is known only when it runs: @inner, or @product when that is NULL, times @dim. */
static const char *symbolic_stride(struct pto_gen *g, const char *inner, int64_t product,
				   const struct ir_node *dim)
{
	const char *name;

	if (!inner && product == 1)
		return pto_index_expr(g, dim);
	inner = inner ? inner : pto_index(g, product);
	if (dim->kind == IR_CONST_INT && IR_AS(dim, const)->value == 1)
		return inner;
	name = pto_temp(g);
	pto_line(g, "%s = arith.muli %s, %s : index", name, inner, pto_index_expr(g, dim));
	return name;
}

/* Strides of a view: row-major, or what the caller passes for a tensor with gaps. */
static const char *strides_text(struct pto_gen *g, const struct ir_list *shape,
				const char *const *given, const char **names)
{
	int64_t *products = px_alloc(g->px, shape->n, sizeof(*products));
	struct text t = { .px = g->px };
	uint32_t d = shape->n - 1;

	products[d] = 1;
	while (d--) {
		const struct ir_node *dim = shape->at[d + 1];

		if (given)
			names[d] = given[d];
		else if (!names[d + 1] && dim->kind == IR_CONST_INT)
			products[d] = products[d + 1] * IR_AS(dim, const)->value;
		else
			names[d] = symbolic_stride(g, names[d + 1], products[d + 1], dim);
	}
	for (d = 0; d < shape->n; d++) {
		names[d] = names[d] ? names[d] : pto_index(g, products[d]);
		text_printf(&t, "%s%s", d ? ", " : "", names[d]);
	}
	return text_str(&t);
}

static const char *view_type(struct pto_gen *g, const struct ir_node *var)
{
	struct text t = { .px = g->px };
	uint32_t d, rank = var->type->shape.n ? var->type->shape.n : 1;

	text_put(&t, "!pto.tensor_view<");
	for (d = 0; d < rank; d++)
		text_put(&t, "?x");
	text_printf(&t, "%s>", pto_dtype(g, var->type->dtype, var->span));
	return text_str(&t);
}

static void put_view(struct pto_gen *g, const struct ir_node *var, const char *const *strides)
{
	struct pto_tensor *t = var_map_get(&g->tensors, var);
	const struct ir_list *shape = &var->type->shape;
	struct text dims = { .px = g->px };
	const char *strides_of;
	uint32_t d;

	for (d = 0; d < shape->n; d++)
		text_printf(&dims, "%s%s", d ? ", " : "", pto_index_expr(g, shape->at[d]));
	if (!shape->n)
		text_put(&dims, pto_index(g, 1));
	t->strides = px_alloc(g->px, shape->n + 1, sizeof(*t->strides));
	strides_of = shape->n ? strides_text(g, shape, strides, t->strides) : pto_index(g, 1);
	t->view = (struct pto_value){ pto_temp(g), view_type(g, var) };
	pto_line(g, "%s = pto.make_tensor_view %s, shape = [%s], strides = [%s] : %s",
		 t->view.name, t->pointer.name, text_str(&dims), strides_of, t->view.type);
}

static void put_views(struct pto_gen *g, const char ***strides)
{
	uint32_t p;

	for (p = 0; p < g->f->params.n; p++)
		if (g->f->params.at[p]->type->kind == TY_TENSOR)
			put_view(g, g->f->params.at[p], strides[p]);
}

/* Parameters, symbolic extents, then the strides of tensors that may have gaps. */
static const char ***put_parameters(struct pto_gen *g, struct text *out)
{
	const char ***strides = px_alloc(g->px, g->f->params.n + 1, sizeof(*strides));
	uint32_t p, d;

	for (p = 0; p < g->f->params.n; p++)
		put_parameter(g, out, g->f->params.at[p]);
	for (p = 0; p < g->extents.n; p++)
		var_map_set(&g->values, g->extents.at[p],
			    pto_new_value(g, extra_parameter(g, out), "index"));
	for (p = 0; p < g->f->params.n; p++) {
		const struct ir_type *type = g->f->params.at[p]->type;

		if (type->kind != TY_TENSOR || type->shape.n < 2 ||
		    !gen_is_strided(g->px, g->program, g->f, p))
			continue;
		strides[p] = px_alloc(g->px, type->shape.n, sizeof(**strides));
		for (d = 0; d + 1 < type->shape.n; d++)
			strides[p][d] = extra_parameter(g, out);
	}
	if (gen_has_pipes(g->f) && g->arch == ARCH_A2A3) {
		g->gm_slots = px_printf(g->px, "%%arg%u", g->n_args);
		text_printf(out, "%s%s: !pto.ptr<f32>", g->n_args++ ? ", " : "", g->gm_slots);
	}
	return strides;
}

/* ---- The function ---- */

struct pto_gen *pto_gen_new(struct px *px, const struct ir_program *program,
			    const struct ir_function *f, enum gen_arch arch)
{
	struct pto_gen *g = px_new(px, struct pto_gen);

	g->px = g->constants.px = g->views.px = g->allocs.px = g->body.px = px;
	g->values.px = g->tiles.px = g->tensors.px = g->known.px = px;
	g->nonnegative.px = g->pipes.px = g->tuples.px = px;
	g->program = program;
	g->f = f;
	g->arch = arch;
	g->at = f->node.span;
	g->indent = 2;
	g->core = gen_core(px, f);
	g->extents = gen_extents(px, f);
	return g;
}

static unsigned int count_lines(const char *text)
{
	unsigned int n = 0;

	while ((text = strchr(text, '\n')) != NULL) {
		text++;
		n++;
	}
	return n;
}

/* All of the function but its last lines. */
static const char *put_function(struct pto_gen *g)
{
	struct text out = { .px = g->px }, params = { .px = g->px };
	const char ***strides = put_parameters(g, &params);

	pto_scan_tiles(g);
	g->to = &g->views;
	put_views(g, strides);
	g->to = &g->body;
	pto_pipes(g);
	g->flow = &pto_flow;
	gen_body(g, g->f->body, NULL);
	text_printf(&out, "module {\n  func.func @%s(%s)%s {\n",
		    gen_function_name(g->px, g->f->name), text_str(&params),
		    !gen_has_pipes(g->f) ? "" : g->core == CORE_CUBE ?
		    " attributes {pto.kernel_kind = #pto.kernel_kind<cube>}" :
		    " attributes {pto.kernel_kind = #pto.kernel_kind<vector>}");
	text_printf(&out, "%s%s%s", text_str(&g->constants), text_str(&g->views),
		    text_str(&g->allocs));
	return text_str(&out);
}

static bool is_kernel(struct px *px, const struct ir_function *f)
{
	if (f->func_type == FN_INCORE || f->func_type == FN_BLOCK_INCORE)
		return true;
	diag_add(px, DIAG_COMPILE, f->node.span,
		 "PTO backend does not support Orchestration functions. Function '%s' is marked as %s.",
		 f->name, enum_name(EN_FUNCTION_TYPE, f->func_type));
	return false;
}

const char *gen_pto(struct px *px, const struct ir_program *program, const struct ir_function *f,
		    enum gen_arch arch)
{
	struct pto_gen *g;
	const char *head;

	if (!is_kernel(px, f))
		return NULL;
	g = pto_gen_new(px, program, f, arch);
	head = put_function(g);
	if (px->n_errors)
		return NULL;
	return px_printf(px, "%s%s    return\n  }\n}\n", head, text_str(&g->body));
}

struct gen_place gen_pto_place(struct px *px, const struct ir_program *program,
			       const struct ir_function *f, enum gen_arch arch, unsigned int line)
{
	struct pto_gen *g = pto_gen_new(px, program, f, arch);
	unsigned int before = count_lines(put_function(g));

	if (line <= before || line - before > g->n_places)
		return (struct gen_place){ .span = f->node.span };
	return g->places[line - before - 1];
}
