/* SPDX-License-Identifier: MIT */
/* Loads, stores, moves and views of .pto text: section 10.4. */
#include <string.h>

#include "gen_pto.h"
#include "instr.h"

/* ---- Regions of tensors ---- */

static struct pto_tensor *tensor_of(struct pto_gen *g, const struct ir_node *e)
{
	static struct pto_tensor none = { .view = { "%0", "!pto.tensor_view<?x?xf32>" },
					  .pointer = { "%arg0", "!pto.ptr<f32>" } };
	struct pto_tensor *t = ir_is_var(e) ? var_map_get(&g->tensors, e) : NULL;

	if (t)
		return t;
	pto_mistake(g, e, "Pass the tensor to the kernel as a parameter",
		    "A kernel works on its parameters; this tensor is none of them");
	return &none;
}

static const struct ir_list *elements(const struct ir_node *e)
{
	return &IR_AS(e, tuple)->elements;
}

/* An offset into a tensor that may itself be a region. */
static const char *offset_text(struct pto_gen *g, const struct pto_tensor *t,
			       const struct ir_list *offsets, uint32_t d)
{
	const char *own, *name;

	if (!t->offsets)
		return pto_index_expr(g, offsets->at[d]);
	own = pto_index_expr(g, offsets->at[d]);
	if (offsets->at[d]->kind == IR_CONST_INT && !IR_AS(offsets->at[d], const)->value)
		return t->offsets[d];
	name = pto_temp(g);
	pto_line(g, "%s = arith.addi %s, %s : index", name, t->offsets[d], own);
	return name;
}

/* The extents of a region: all 1 but the last ones, which are @sizes. */
static const char *part_type(struct pto_gen *g, const struct ir_type *tensor, uint32_t rank,
			     const struct ir_list *sizes)
{
	struct text t = { .px = g->px };
	uint32_t d;

	text_put(&t, "!pto.partition_tensor_view<");
	for (d = 0; d < rank; d++) {
		const struct ir_node *dim = d + sizes->n < rank ? NULL :
					    sizes->at[d + sizes->n - rank];

		if (!dim || dim->kind == IR_CONST_INT)
			text_printf(&t, "%lldx", dim ? (long long)IR_AS(dim, const)->value : 1LL);
		else
			text_put(&t, "?x");
	}
	text_printf(&t, "%s>", pto_dtype(g, tensor->dtype, g->at));
	return text_str(&t);
}

static struct pto_value partition(struct pto_gen *g, const struct ir_node *tensor,
				  const struct ir_list *offsets, const struct ir_list *sizes)
{
	struct pto_tensor *t = tensor_of(g, tensor);
	struct text from = { .px = g->px }, size = { .px = g->px };
	uint32_t rank = offsets->n, d;
	struct pto_value v;

	for (d = 0; d < rank; d++)
		text_printf(&from, "%s%s", d ? ", " : "", offset_text(g, t, offsets, d));
	for (d = 0; d < rank; d++)
		text_printf(&size, "%s%s", d ? ", " : "", d + sizes->n < rank ? pto_index(g, 1) :
			    pto_index_expr(g, sizes->at[d + sizes->n - rank]));
	v.name = pto_temp(g);
	v.type = part_type(g, tensor->type, rank, sizes);
	pto_line(g, "%s = pto.partition_view %s, offsets = [%s], sizes = [%s] : %s -> %s", v.name,
		 t->view.name, text_str(&from), text_str(&size), t->view.type, v.type);
	return v;
}

static const struct ir_list *valid_of(const struct ir_type *type)
{
	return type->view.valid.n ? &type->view.valid : &type->shape;
}

static void put_load(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *mask = pto_tile_of(g, var), *t = mask;
	bool is_mask = var->type->dtype == DT_BOOL;
	struct pto_value p;

	pto_size(g, t);
	if (is_mask)
		t = pto_mask_bytes(g, mask);
	p = partition(g, call->args.at[0], elements(call->args.at[1]), valid_of(var->type));
	pto_line(g, "pto.tload ins(%s : %s) outs(%s : %s)", p.name, p.type, t->v.name, t->v.type);
	if (is_mask)
		pto_mask_loaded(g, t, mask);
}

/* The upper left part of a tile, when less than its valid region is stored. */
static struct pto_value corner(struct pto_gen *g, struct pto_tile *t, const struct ir_list *sizes)
{
	struct ir_type *type = type_copy(g->px, t->type);
	struct pto_value v = t->v;
	const char *zero = pto_index(g, 0);

	type->shape = (struct ir_list){ 0 };
	list_push(g->px, &type->shape, ir_int(g->px, pto_dim(sizes, 1), DT_INDEX, g->at));
	list_push(g->px, &type->shape, ir_int(g->px, pto_dim(sizes, 0), DT_INDEX, g->at));
	type->view.valid.n = 0;
	v.name = pto_temp(g);
	v.type = pto_tile_type(g, type, t->space);
	pto_line(g, "%s = pto.subview %s[%s, %s] sizes [%lld, %lld] : %s -> %s", v.name, t->v.name,
		 zero, zero, (long long)pto_dim(sizes, 1), (long long)pto_dim(sizes, 0), t->v.type,
		 v.type);
	return v;
}

/* Of an author's extent and a valid one the smaller; the author's is not larger (section 18). */
static struct ir_node *stored_extent(struct ir_node *size, struct ir_node *valid,
				     const struct ir_node *whole)
{
	if (size->kind != IR_CONST_INT)
		return size;
	if (valid->kind == IR_CONST_INT)
		return IR_AS(size, const)->value < IR_AS(valid, const)->value ? size : valid;
	return dim_equal(size, whole) ? valid : size;
}

struct ir_list pto_stored(struct pto_gen *g, const struct ir_call *call)
{
	const struct ir_type *type = call->args.at[0]->type;
	const struct ir_list *shapes = elements(call->args.at[2]), *valid = valid_of(type);
	uint32_t skip = shapes->n > valid->n ? shapes->n - valid->n : 0, d;
	struct ir_list out = { 0 };

	for (d = skip; d < shapes->n; d++)
		list_push(g->px, &out, stored_extent(shapes->at[d], valid->at[d - skip],
						     type->shape.at[d - skip]));
	return out;
}

/* The tile as @type with a valid region that is known when it runs. */
static struct pto_value partly(struct pto_gen *g, struct pto_tile *t, struct ir_type *type,
			       const struct ir_list *sizes)
{
	const char *rows = sizes->n > 1 ? pto_index_expr(g, sizes->at[sizes->n - 2]) :
					  pto_index(g, 1);
	const char *columns = pto_index_expr(g, sizes->at[sizes->n - 1]);
	struct pto_value v;
	uint32_t i;

	type->view.valid = (struct ir_list){ 0 };
	for (i = 0; i < 2; i++)	/* open extents, which set_validshape wants */
		list_push(g->px, &type->view.valid,
			  ir_var(g->px, "_extent", type_scalar(g->px, DT_INDEX), g->at));
	v = pto_alias(g, t, type);
	if (g->cxx)
		pto_line(g, "%s.SetValidShape(%s, %s);", v.name, rows, columns);
	else
		pto_line(g, "pto.set_validshape %s, %s, %s : %s", v.name, rows, columns, v.type);
	return v;
}

static void put_store(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	const struct ir_node *tile = call->args.at[0], *tensor = call->args.at[3];
	const struct ir_list *valid = valid_of(tile->type);
	struct ir_list sizes = pto_stored(g, call);
	struct pto_tile *t = pto_tile_of(g, tile);
	struct pto_value from, p;

	if (tile->type->dtype == DT_BOOL)
		t = pto_mask_stored(g, t);
	from = t->v;
	if (!shape_equal(&sizes, valid))
		from = shape_is_constant(&sizes) && shape_is_constant(valid) ?
			corner(g, t, &sizes) : partly(g, t, type_copy(g->px, t->type), &sizes);
	p = partition(g, tensor, elements(call->args.at[1]), &sizes);
	pto_line(g, "pto.tstore ins(%s : %s) outs(%s : %s)", from.name, from.type, p.name, p.type);
	if (var)
		var_map_set(&g->tensors, var, tensor_of(g, tensor));
}

/* ---- Views of tensors, elements ---- */

static void put_region(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tensor *of = tensor_of(g, call->args.at[0]), *t = px_new(g->px,
									    struct pto_tensor);
	const struct ir_list *offsets = elements(call->args.at[2]);
	uint32_t d;

	*t = *of;
	t->offsets = px_alloc(g->px, offsets->n + 1, sizeof(*t->offsets));
	for (d = 0; d < offsets->n; d++)
		t->offsets[d] = offset_text(g, of, offsets, d);
	var_map_set(&g->tensors, var, t);
}

/* The element's place, from strides. */
static const char *flat_index(struct pto_gen *g, const struct pto_tensor *t,
			      const struct ir_list *indices)
{
	const char *at = pto_index(g, 0), *part, *sum;
	uint32_t d;

	for (d = 0; d < indices->n; d++) {
		const char *index = offset_text(g, t, indices, d);

		part = pto_temp(g);
		pto_line(g, "%s = arith.muli %s, %s : index", part, index, t->strides[d]);
		sum = pto_temp(g);
		pto_line(g, "%s = arith.addi %s, %s : index", sum, at, part);
		at = sum;
	}
	return at;
}

static void put_read(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tensor *t = tensor_of(g, call->args.at[0]);
	const char *type = pto_scalar_type(g, var->type->dtype, var->span);
	const char *at = flat_index(g, t, elements(call->args.at[1])), *name = pto_temp(g);

	pto_line(g, "%s = pto.load_scalar %s[%s] : %s -> %s", name, t->pointer.name, at,
		 t->pointer.type, type);
	var_map_set(&g->values, var, pto_new_value(g, name, type));
}

static void put_dim(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	const char *name = pto_index_expr(g, call_dim(call));

	var_map_set(&g->nonnegative, var, (void *)var);
	pto_bind(g, var, name, "index");
}

/* ---- Moves and views of tiles ---- */

static uint8_t across(unsigned int layout)
{
	return layout == TL_ROW_MAJOR ? TL_COL_MAJOR :
	       layout == TL_COL_MAJOR ? TL_ROW_MAJOR : TL_NONE_BOX;
}

/* A fractal buffer seen with rows and columns exchanged. */
static struct pto_value exchanged(struct pto_gen *g, struct pto_tile *t)
{
	const struct ir_list *valid = &t->type->view.valid;
	struct ir_list swapped = { 0 };
	struct ir_type *type = pto_type_like(g, t->type, pto_dim(&t->type->shape, 0),
					     pto_dim(&t->type->shape, 1), t->type->dtype);

	type->view.blayout = across(t->type->view.blayout);
	type->view.slayout = across(t->type->view.slayout);
	if (valid->n == 2) {
		list_push(g->px, &swapped, valid->at[1]);
		list_push(g->px, &swapped, valid->at[0]);
	}
	if (!shape_is_constant(&swapped))
		return partly(g, t, type, &swapped);
	type->view.valid = swapped;
	return pto_alias(g, t, type);
}

static void no_way(struct pto_gen *g, const struct ir_call *call, uint8_t from, uint8_t to)
{
	bool operand = to == MS_LEFT || to == MS_RIGHT || to == MS_BIAS;

	pto_mistake(g, &call->node, from != MS_MAT && operand ?
		    "These are filled from Mat: pl.load(..., target_memory=pl.MemorySpace.Mat) first" :
		    "Store it into a tensor, and load that",
		    "There is no way from %s to %s on %s", enum_name(EN_MEMORY_SPACE, from),
		    enum_name(EN_MEMORY_SPACE, to), pto_platform(g));
}

static void put_move(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *from = pto_tile_of(g, call->args.at[0]), *to = pto_tile_of(g, var);
	struct pto_value v = from->v;

	if (!instr_moves(pto_space(from->space), pto_space(to->space), g->arch)) {
		no_way(g, call, from->space, to->space);
		return;
	}
	pto_size(g, to);
	if (call->op->rule == rule_move && call_attr(call, "transpose"))
		v = exchanged(g, from);
	if (pto_is_column(from) && pto_is_column(to)) {
		v = pto_row(g, from)->v;
		to = pto_row(g, to);
	}
	if (g->cxx)
		pto_line(g, "TMOV(%s, %s);", to->v.name, v.name);
	else
		pto_line(g, "pto.tmov ins(%s : %s) outs(%s : %s)", v.name, v.type, to->v.name,
			 to->v.type);
}

static void bind_view(struct pto_gen *g, const struct ir_node *var, const struct pto_tile *of,
		      const char *name)
{
	struct pto_tile *t = px_new(g->px, struct pto_tile);

	t->type = var->type;
	t->space = of->space;
	t->memref = of->memref;
	t->sized = true;
	t->v = (struct pto_value){ name, pto_tile_type(g, var->type, of->space) };
	var_map_set(&g->tiles, var, t);
}

static void put_reshape(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *from = pto_tile_of(g, call->args.at[0]);
	const char *name;

	if (from->window) {
		pto_mistake(g, &call->node, "Copy the slice to a tile of its own, as pl.adds(slice, 0) does, or slice what pl.reshape() gives",
			    "A slice whose rows lie apart in its tile cannot be reshaped");
		return;
	}
	if (g->cxx) {
		pto_line(g, "TRESHAPE(%s, %s);", pto_tile_of(g, var)->v.name, from->v.name);
		return;
	}
	name = pto_temp(g);
	bind_view(g, var, from, name);
	pto_line(g, "%s = pto.treshape %s : %s -> %s", name, from->v.name, from->v.type,
		 pto_tile_of(g, var)->v.type);
}

static bool is_narrower(const struct ir_type *type, const struct pto_tile *in)
{
	return pto_dim(&type->shape, 1) != 1 &&
	       (in->window || pto_dim(&type->shape, 0) != pto_dim(&in->type->shape, 0));
}

static void put_window(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *from = pto_tile_of(g, call->args.at[0]);
	const struct ir_list *offsets = elements(call->args.at[2]);
	const char *row = offsets->n > 1 ? pto_index_expr(g, offsets->at[offsets->n - 2]) :
					   pto_index(g, 0);
	const char *column = pto_index_expr(g, offsets->at[offsets->n - 1]), *name;

	if (g->cxx) {
		struct pto_tile *to = pto_window(g, var, from);

		to->window = is_narrower(var->type, from);
		pto_line(g, "TSUBVIEW(%s, %s, %s, %s);", to->v.name, from->v.name, row, column);
		return;
	}
	name = pto_temp(g);
	bind_view(g, var, from, name);
	pto_tile_of(g, var)->window = is_narrower(var->type, from);
	pto_line(g, "%s = pto.subview %s[%s, %s] sizes [%lld, %lld] : %s -> %s", name, from->v.name,
		 row, column, (long long)pto_dim(&var->type->shape, 1),
		 (long long)pto_dim(&var->type->shape, 0), from->v.type, pto_tile_of(g,
										     var)->v.type);
}

static void put_extract(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	struct pto_tile *from = pto_tile_of(g, call->args.at[0]), *to = pto_tile_of(g, var);
	const char *row = pto_index_expr(g, call->args.at[1]);
	const char *column = pto_index_expr(g, call->args.at[2]);

	if (g->cxx) {
		pto_line(g, "TEXTRACT(%s, %s, %s, %s);", to->v.name, from->v.name, row, column);
		return;
	}
	pto_line(g, "pto.textract ins(%s, %s, %s : %s, index, index) outs(%s : %s)", from->v.name,
		 row, column, from->v.type, to->v.name, to->v.type);
}

static void put_gather(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	bool gather = call->op->rule == rule_mgather;
	const struct ir_node *tensor = call->args.at[gather ? 0 : 2];
	struct pto_tile *idx = pto_tile_of(g, call->args.at[1]);
	struct pto_tile *t = pto_tile_of(g, gather ? var : call->args.at[0]);
	struct ir_list zeros = { 0 };
	struct pto_value p;
	uint32_t d;

	for (d = 0; d < tensor->type->shape.n; d++)
		list_push(g->px, &zeros, ir_int(g->px, 0, DT_INDEX, g->at));
	p = partition(g, tensor, &zeros, &tensor->type->shape);
	if (gather)
		pto_line(g, "pto.mgather ins(%s, %s : %s, %s) outs(%s : %s)", p.name, idx->v.name,
			 p.type, idx->v.type, t->v.name, t->v.type);
	else
		pto_line(g, "pto.mscatter ins(%s, %s : %s, %s) outs(%s : %s)", t->v.name,
			 idx->v.name, t->v.type, idx->v.type, p.name, p.type);
	if (!gather && var)
		var_map_set(&g->tensors, var, tensor_of(g, tensor));
}

bool pto_movement(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call)
{
	static const struct {
		const char *name;
		void (*put)(struct pto_gen *g, const struct ir_node *var,
			    const struct ir_call *call);
	} table[] = {
		{ "block.load", put_load }, { "block.store", put_store },
		{ "block.l0c_store", put_store }, { "block.move", put_move },
		{ "block.vec_move", put_move }, { "block.reshape", put_reshape },
		{ "block.view", put_window }, { "block.extract", put_extract },
		{ "block.mgather", put_gather }, { "block.mscatter", put_gather },
		{ "tensor.view", put_region }, { "tensor.read", put_read },
		{ "tensor.dim", put_dim },
	};
	size_t i;

	if (g->cxx && cce_movement(g, var, call))
		return true;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strcmp(call->op->name, table[i].name))
			continue;
		table[i].put(g, var, call);
		return true;
	}
	return false;
}
