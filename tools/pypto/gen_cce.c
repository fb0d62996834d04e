/* SPDX-License-Identifier: MIT */
/*
 * CCE C++: section 11. Operators come from the .pto generator, which writes them as calls here;
 * loads, stores, declarations, control flow and synchronisation are this file's and
 * gen_cce_flow.c's.
 */
#include <string.h>

#include "gen_cce.h"

/* ---- Tiles ---- */

static const char *tile_class(struct pto_gen *g, const struct pto_tile *t)
{
	static const char *const classes[] = {
		[MS_DDR] = "", [MS_VEC] = "Vec", [MS_MAT] = "Mat", [MS_LEFT] = "Left",
		[MS_RIGHT] = "Right", [MS_ACC] = "Acc", [MS_BIAS] = "Bias",
		[MS_LEFT_SCALE] = "ScaleLeft", [MS_RIGHT_SCALE] = "ScaleRight",
	};
	static const char *const pads[] = {
		[TILE_PAD_NULL] = "", [TILE_PAD_ZERO] = ", PadValue::Zero",
		[TILE_PAD_MAX] = ", PadValue::Max", [TILE_PAD_MIN] = ", PadValue::Min",
	};
	static const char *const boxes[] = {
		[TL_NONE_BOX] = "NoneBox", [TL_ROW_MAJOR] = "RowMajor", [TL_COL_MAJOR] = "ColMajor",
	};
	const struct ir_type *type = t->type;
	const char *blayout = strstr(t->v.type, "blayout=col_major") ? "ColMajor" : "RowMajor";
	const char *element = type->dtype == DT_BOOL ? "int8_t" : gen_c_type(g->cxx, type, g->at);

	_Static_assert(sizeof(classes) / sizeof(classes[0]) == MS_SPACES,
		       "a class for each memory");
	if (t->space == MS_LEFT && g->arch == ARCH_A2A3)
		blayout = "RowMajor";
	return px_printf(g->px,
			 "Tile<TileType::%s, %s, %lld, %lld, BLayout::%s, -1, -1, SLayout::%s, %u%s>",
			 classes[t->space], element, (long long)pto_extent(type, t->space, 1),
			 (long long)pto_extent(type, t->space, 0), blayout,
			 boxes[type->view.slayout], type->view.fractal ? type->view.fractal : 512,
			 pads[type->view.pad & 3]);
}

static int64_t valid(const struct ir_type *type, uint32_t from_end)
{
	const struct ir_list *v = &type->view.valid;

	if (from_end < v->n && v->at[v->n - 1 - from_end]->kind == IR_CONST_INT)
		return IR_AS(v->at[v->n - 1 - from_end], const)->value;
	return pto_dim(&type->shape, from_end);
}

/* Valid extents that are parameters are set where the tile is declared. */
static const char *first_extent(struct pto_gen *g, const struct ir_type *type, uint32_t from_end)
{
	const struct ir_list *v = &type->view.valid;
	const struct ir_node *dim = from_end < v->n ? v->at[v->n - 1 - from_end] : NULL;

	if (dim && ir_is_var(dim) &&
	    (list_has(&g->f->params, dim) || list_has(&g->extents, dim)))
		return gen_expr(g->cxx, dim);
	return px_printf(g->px, "%lld", (long long)valid(type, from_end));
}

void cce_declare(struct pto_gen *g, struct pto_tile *t)
{
	struct text *before = g->to;
	unsigned int indent = g->indent;

	g->to = &g->allocs;
	g->indent = 1;
	pto_line(g, "using %sType = %s;", t->v.name, tile_class(g, t));
	pto_line(g, "%sType %s(%s, %s);", t->v.name, t->v.name, first_extent(g, t->type, 1),
		 first_extent(g, t->type, 0));
	pto_line(g, "TASSIGN(%s, 0x%llx);", t->v.name, (unsigned long long)t->addr);
	g->to = before;
	g->indent = indent;
}

void cce_settle(struct pto_gen *g)
{
	if (g->cxx)
		pto_line(g, "pipe_barrier(PIPE_V);");
}

/* ---- Tensors ---- */

struct cce_tensor *cce_tensor_of(struct pto_gen *g, const struct ir_node *e)
{
	struct cce_tensor *t = ir_is_var(e) ? var_map_get(&g->tensors, e) : NULL;
	static struct cce_tensor none = { .name = "none" };

	if (t)
		return t;
	pto_mistake(g, e, "Pass the tensor to the kernel as a parameter",
		    "A kernel works on its parameters; this tensor is none of them");
	return &none;
}

static const char *extent_text(const struct ir_list *sizes, uint32_t rank, uint32_t d,
			       struct px *px)
{
	const struct ir_node *dim = d + sizes->n < rank ? NULL : sizes->at[d + sizes->n - rank];

	if (!dim)
		return "1";
	return dim->kind == IR_CONST_INT ? px_printf(px, "%lld", (long long)IR_AS(dim, const)->value) :
					   "-1";
}

/* "Shape<1, 1, 1, 32, 64>": a window of a tensor of @rank dimensions, in five. */
static const char *shape_class(struct px *px, const struct ir_list *sizes, uint32_t rank)
{
	struct text t = { .px = px };
	uint32_t d;

	text_put(&t, "Shape<");
	for (d = 0; d < 5; d++)
		text_printf(&t, "%s%s", d ? ", " : "",
			    d + rank < 5 ? "1" : extent_text(sizes, rank, d + rank - 5, px));
	text_put(&t, ">");
	return text_str(&t);
}

static const char *stride_class(struct px *px, uint32_t rank)
{
	struct text t = { .px = px };
	uint32_t d;

	text_put(&t, "Stride<");
	for (d = 0; d < 5; d++)
		text_printf(&t, "%s%s", d ? ", " : "", d + rank < 5 ? "1" : "-1");
	text_put(&t, ">");
	return text_str(&t);
}

static const char *dynamic_extents(struct pto_gen *g, const struct ir_list *sizes)
{
	struct text t = { .px = g->px };
	uint32_t d;

	text_put(&t, "{");
	for (d = 0; d < sizes->n; d++)
		if (sizes->at[d]->kind != IR_CONST_INT)
			text_printf(&t, "%s%s", t.n > 1 ? ", " : "", gen_expr(g->cxx, sizes->at[d]));
	text_put(&t, "}");
	return text_str(&t);
}

static const char *stride_values(struct pto_gen *g, const struct cce_tensor *t)
{
	struct text out = { .px = g->px };
	uint32_t d;

	text_put(&out, "{");
	for (d = 0; d < t->rank; d++)
		text_printf(&out, "%sstatic_cast<int64_t>(%s_tensor->strides[%u])", d ? ", " : "",
			    t->name, d);
	text_put(&out, "}");
	return text_str(&out);
}

static bool is_column(const struct ir_list *sizes)
{
	return sizes->n > 1 && sizes->at[sizes->n - 1]->kind == IR_CONST_INT &&
	       IR_AS(sizes->at[sizes->n - 1], const)->value == 1;
}

/* Declares a GlobalTensor for a window; its name. */
const char *cce_global(struct pto_gen *g, const struct cce_tensor *t, const struct ir_list *sizes)
{
	static const char *const suffixes[] = { "ShapeDim5", "StrideDim5", "Type", NULL };
	const char *name = gen_take_names(&g->cxx->names, px_printf(g->px, "%sGlobal", t->name),
					  suffixes);
	const char *element = t->dtype == DT_BOOL ? "int8_t" : dtype_info(t->dtype)->c_name;

	pto_line(g, "using %sShapeDim5 = %s;", name, shape_class(g->px, sizes, t->rank));
	pto_line(g, "using %sStrideDim5 = %s;", name, stride_class(g->px, t->rank));
	pto_line(g, "using %sType = GlobalTensor<%s, %sShapeDim5, %sStrideDim5%s>;", name, element,
		 name, name, is_column(sizes) ? ", Layout::DN" : "");
	pto_line(g, "%sType %s(%s, %s, %s);", name, name, t->name, dynamic_extents(g, sizes),
		 stride_values(g, t));
	return name;
}

/* The tensor's window, moved to where it is used. */
static const char *window(struct pto_gen *g, const struct cce_tensor *t,
			  const struct ir_list *offsets, const struct ir_list *sizes)
{
	struct text place = { .px = g->px };
	const char *name = t->global;
	uint32_t d;

	if (!name || !shape_is_constant(sizes) || !shape_equal(sizes, &t->window))
		name = cce_global(g, t, sizes);
	text_printf(&place, "%s_tensor->start_offset", t->name);
	for (d = 0; d < offsets->n; d++)
		text_printf(&place, " + %s * %s_tensor->strides[%u]",
			    t->offsets ? px_printf(g->px, "(%s + %s)", t->offsets[d],
						   gen_expr(g->cxx, offsets->at[d])) :
			    gen_expr(g->cxx, offsets->at[d]), t->name, d);
	pto_line(g, "TASSIGN(%s, %s + (%s));", name, t->name, text_str(&place));
	return name;
}

/* ---- Movement ---- */

static const struct ir_list *elements(const struct ir_node *e)
{
	return &IR_AS(e, tuple)->elements;
}

static const struct ir_list *valid_of(const struct ir_type *type)
{
	return type->view.valid.n ? &type->view.valid : &type->shape;
}

static void put_load(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *mask = pto_tile_of(g, var), *t = mask;
	bool is_mask = var->type->dtype == DT_BOOL;
	const char *global;

	pto_size(g, t);
	if (is_mask)
		t = pto_mask_bytes(g, mask);
	global = window(g, cce_tensor_of(g, call->args.at[0]), elements(call->args.at[1]),
			valid_of(var->type));
	pto_line(g, "TLOAD(%s, %s);", t->v.name, global);
	if (is_mask)
		pto_mask_loaded(g, t, mask);
}

static void put_valid(struct pto_gen *g, const struct pto_tile *t, const struct ir_list *sizes)
{
	pto_line(g, "%s.SetValidShape(%s, %s);", t->v.name,
		 sizes->n > 1 ? gen_expr(g->cxx, sizes->at[sizes->n - 2]) : "1",
		 gen_expr(g->cxx, sizes->at[sizes->n - 1]));
}

static void put_store(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct cce_tensor *tensor = cce_tensor_of(g, call->args.at[3]);
	struct pto_tile *t = pto_tile_of(g, call->args.at[0]);
	const struct ir_list sizes = pto_stored(g, call), *have = valid_of(call->args.at[0]->type);
	const char *global = window(g, tensor, elements(call->args.at[1]), &sizes), *name;
	bool part = !shape_equal(&sizes, have), is_mask = t->type->dtype == DT_BOOL;

	if (is_mask)
		t = pto_mask_stored(g, t);
	if (part)
		put_valid(g, t, &sizes);
	pto_line(g, "TSTORE(%s, %s);", global, t->v.name);
	if (part)
		put_valid(g, t, have);
	if (is_mask)
		pto_mask_settle(g);
	if (!var)
		return;
	name = gen_take_name(&g->cxx->names, gen_base_name(g->px, IR_AS(var, var)->name));
	pto_line(g, "auto %s = %s;", name, global);
	pto_line(g, "(void)%s;", name);
	var_map_set(&g->tensors, var, tensor);
}

static void put_region(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct cce_tensor *of = cce_tensor_of(g, call->args.at[0]);
	struct cce_tensor *t = px_new(g->px, struct cce_tensor);
	const struct ir_list *offsets = elements(call->args.at[2]);
	uint32_t d;

	*t = *of;
	t->global = NULL;
	t->offsets = px_alloc(g->px, offsets->n + 1, sizeof(*t->offsets));
	for (d = 0; d < offsets->n; d++) {
		const char *own = gen_expr(g->cxx, offsets->at[d]);

		t->offsets[d] = of->offsets ? px_printf(g->px, "(%s + %s)", of->offsets[d], own) : own;
	}
	var_map_set(&g->tensors, var, t);
}

static void put_read(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct cce_tensor *t = cce_tensor_of(g, call->args.at[0]);
	const struct ir_list *at = elements(call->args.at[1]);
	const char *name = gen_take_name(&g->cxx->names,
					 gen_base_name(g->px, IR_AS(var, var)->name));
	struct text place = { .px = g->px };
	uint32_t d;

	text_printf(&place, "%s_tensor->start_offset", t->name);
	for (d = 0; d < at->n; d++)
		text_printf(&place, " + (%s%s%s) * %s_tensor->strides[%u]",
			    t->offsets ? t->offsets[d] : "", t->offsets ? " + " : "",
			    gen_expr(g->cxx, at->at[d]), t->name, d);
	pto_line(g, "%s %s = %s[%s];", gen_c_type(g->cxx, var->type, var->span), name, t->name,
		 text_str(&place));
	pto_bind(g, var, name, "");
}

static void put_dim(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	const char *name = gen_take_name(&g->cxx->names,
					 gen_base_name(g->px, IR_AS(var, var)->name));

	pto_line(g, "int64_t %s = %s;", name, gen_expr(g->cxx, call_dim(call)));
	pto_bind(g, var, name, "");
}

static void put_gather(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	bool gather = call->op->rule == rule_mgather;
	const struct ir_node *tensor = call->args.at[gather ? 0 : 2];
	struct pto_tile *idx = pto_tile_of(g, call->args.at[1]);
	struct pto_tile *t = pto_tile_of(g, gather ? var : call->args.at[0]);
	struct ir_list zeros = { 0 };
	const char *global;
	uint32_t d;

	for (d = 0; d < tensor->type->shape.n; d++)
		list_push(g->px, &zeros, ir_int(g->px, 0, DT_INDEX, g->at));
	global = window(g, cce_tensor_of(g, tensor), &zeros, &tensor->type->shape);
	if (gather)
		pto_line(g, "MGATHER(%s, %s, %s);", t->v.name, global, idx->v.name);
	else
		pto_line(g, "MSCATTER(%s, %s, %s);", global, t->v.name, idx->v.name);
	if (!gather && var)
		var_map_set(&g->tensors, var, cce_tensor_of(g, tensor));
}

/* ---- Synchronisation ---- */

static const char *pipe_name(struct pto_gen *g, int64_t pipe)
{
	return px_printf(g->px, "PIPE_%s", enum_name(EN_PIPE_TYPE, pipe));
}

static bool put_sync(struct pto_gen *g, const struct ir_call *call)
{
	const char *name = call->op->name;

	if (!strcmp(name, "system.sync_src") || !strcmp(name, "system.sync_dst"))
		pto_line(g, "%s(%s, %s, EVENT_ID%lld);",
			 strcmp(name, "system.sync_src") ? "wait_flag" : "set_flag",
			 pipe_name(g, call_attr(call, "set_pipe")),
			 pipe_name(g, call_attr(call, "wait_pipe")),
			 (long long)call_attr(call, "event_id"));
	else if (!strncmp(name, "system.bar_", 11))
		pto_line(g, "pipe_barrier(PIPE_%s);", gen_upper(g->px, name + 11));
	else
		return false;
	return true;
}

/* ---- Pipes ---- */

static bool put_pipe(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	const char *pipe = call->args.n ? var_map_get(&g->pipes, call->args.at[call->args.n - 1]) :
					  NULL;

	if (!op_is(call->op, "pipe") || !pipe)
		return false;
	if (call->op->rule == rule_tpush)
		pto_line(g, "TPUSH(%s, %s);", pipe, pto_tile_of(g, call->args.at[0])->v.name);
	else if (call->op->rule == rule_tpop)
		pto_line(g, "TPOP(%s, %s);", pipe, pto_tile_of(g, var)->v.name);
	else
		pto_line(g, "TFREE(%s);", pipe);
	return true;
}

bool cce_movement(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	static const struct {
		const char *name;
		void (*put)(struct pto_gen *g, const struct ir_node *var,
			    const struct ir_call *call);
	} table[] = {
		{ "block.load", put_load }, { "block.store", put_store },
		{ "block.l0c_store", put_store }, { "block.mgather", put_gather },
		{ "block.mscatter", put_gather }, { "tensor.view", put_region },
		{ "tensor.read", put_read }, { "tensor.dim", put_dim },
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strcmp(call->op->name, table[i].name))
			continue;
		table[i].put(g, var, call);
		return true;
	}
	return put_sync(g, call) || put_pipe(g, var, call);
}
