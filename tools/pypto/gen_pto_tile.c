/* SPDX-License-Identifier: MIT */
/*
 * Handles of tiles: one pto.alloc_tile per memory reference and type. A memory reference that is
 * used with two types of one size is one buffer seen twice.
 */
#include <string.h>

#include "gen_pto.h"

/* ---- Types ---- */

int64_t pto_dim(const struct ir_list *shape, uint32_t from_end)
{
	const struct ir_node *dim;

	if (from_end >= shape->n)
		return 1;
	dim = shape->at[shape->n - 1 - from_end];
	return dim->kind == IR_CONST_INT ? IR_AS(dim, const)->value : 32;
}

static bool is_constant(const struct ir_node *dim)
{
	return !dim || dim->kind == IR_CONST_INT;
}

static const struct ir_node *valid_dim(const struct ir_type *type, uint32_t from_end)
{
	const struct ir_list *valid = &type->view.valid;

	return from_end < valid->n ? valid->at[valid->n - 1 - from_end] : NULL;
}

static const char *valid_text(struct pto_gen *g, const struct ir_type *type, uint32_t from_end,
			      bool dynamic)
{
	const struct ir_node *dim = valid_dim(type, from_end);

	if (dynamic || !is_constant(dim))
		return "?";
	return px_printf(g->px, "%lld", dim ? (long long)IR_AS(dim, const)->value :
			 (long long)pto_dim(&type->shape, from_end));
}

/* Valid extents that every part of the function can name: parameters and constants. */
static bool is_early(struct pto_gen *g, const struct ir_node *dim)
{
	return is_constant(dim) || (ir_is_var(dim) && (list_has(&g->f->params, dim) ||
						       list_has(&g->extents, dim)));
}

static bool is_late(struct pto_gen *g, const struct ir_type *type)
{
	return !is_early(g, valid_dim(type, 0)) || !is_early(g, valid_dim(type, 1));
}

/* A column or row is contiguous whatever its type says: no line is shorter than 32 bytes. */
static unsigned int layout_of(const struct ir_type *type)
{
	bool column = pto_dim(&type->shape, 0) == 1, row = pto_dim(&type->shape, 1) == 1;

	if (type->view.slayout == TL_NONE_BOX && column != row)
		return column ? TL_COL_MAJOR : TL_ROW_MAJOR;
	return type->view.blayout == TL_NONE_BOX ? TL_ROW_MAJOR : type->view.blayout;
}

#define LINE_BITS	256	/* 32 bytes: lines of tiles in Vec are a multiple of it */

static int64_t storage_bits(const struct ir_type *type)
{
	return type->dtype == DT_BOOL ? 8 : dtype_info(type->dtype)->bits;
}

/*
 * What is reserved: a single line is padded to whole units, behind what is valid, and so are the
 * rows of a mask; tiles of boxes consist of whole ones. The lines of other tiles are as long as
 * they are written.
 */
int64_t pto_extent(const struct ir_type *type, uint8_t space, uint32_t from_end)
{
	int64_t n = pto_dim(&type->shape, from_end), unit = LINE_BITS / storage_bits(type);
	uint32_t along = layout_of(type) == TL_COL_MAJOR ? 1 : 0;
	int64_t box = type_unit(type, from_end);

	if (space != MS_VEC)
		return (n + box - 1) / box * box;
	if (type->view.slayout != TL_NONE_BOX || from_end != along ||
	    (pto_dim(&type->shape, !along) != 1 && type->dtype != DT_BOOL))
		return n;
	return (n + unit - 1) / unit * unit;
}

/* Several lines that are no whole units: the machine has no such tile. */
static void check_lines(struct pto_gen *g, const struct ir_type *type, uint8_t space)
{
	static const struct ir_node here;
	uint32_t along = layout_of(type) == TL_COL_MAJOR ? 1 : 0;
	int64_t n = pto_extent(type, space, along), bits = storage_bits(type);
	int64_t unit = LINE_BITS / bits, whole = (n + unit - 1) / unit * unit;
	const char *hint, *other = along ? "rows" : "columns";

	if (space != MS_VEC || type->view.slayout != TL_NONE_BOX || n == whole || g->px->n_errors)
		return;
	hint = px_printf(g->px, "Give it %lld %s, and say which are valid: valid_shapes=[...]",
			 (long long)whole, other);
	pto_mistake(g, &here, hint,
		    "Tile %s of %s has %s of %lld bytes, which must be a multiple of 32",
		    shape_text(g->px, &type->shape), dtype_name(type->dtype),
		    along ? "columns" : "rows", (long long)(n * bits / 8));
}

static const char *layout_name(unsigned int layout)
{
	return layout == TL_COL_MAJOR ? "col_major" : layout == TL_ROW_MAJOR ? "row_major" :
	       "none_box";
}

const char *pto_space(uint8_t space)
{
	static const char *const spaces[] = {
		[MS_DDR] = "gm", [MS_VEC] = "vec", [MS_MAT] = "mat", [MS_LEFT] = "left",
		[MS_RIGHT] = "right", [MS_ACC] = "acc", [MS_BIAS] = "bias",
		[MS_LEFT_SCALE] = "scaling", [MS_RIGHT_SCALE] = "scaling",
	};

	_Static_assert(sizeof(spaces) / sizeof(spaces[0]) == MS_SPACES, "a name for each memory");
	return spaces[space];
}

const char *pto_tile_type(struct pto_gen *g, const struct ir_type *type, uint8_t space)
{
	bool late = is_late(g, type);

	return px_printf(g->px,
			 "!pto.tile_buf<loc=%s, dtype=%s, rows=%lld, cols=%lld, v_row=%s, v_col=%s, blayout=%s, slayout=%s, fractal=%u, pad=%u>",
			 pto_space(space), pto_dtype(g, type->dtype, g->at),
			 (long long)pto_extent(type, space, 1),
			 (long long)pto_extent(type, space, 0), valid_text(g, type, 1, late),
			 valid_text(g, type, 0, late),
			 layout_name(layout_of(type)), layout_name(type->view.slayout),
			 type->view.fractal ? type->view.fractal : 512, type->view.pad);
}

struct ir_type *pto_type_like(struct pto_gen *g, const struct ir_type *like, int64_t rows,
			      int64_t columns, unsigned int dtype)
{
	struct ir_type *type = type_copy(g->px, like);

	type->shape = (struct ir_list){ 0 };
	list_push(g->px, &type->shape, ir_int(g->px, rows, DT_INDEX, g->at));
	list_push(g->px, &type->shape, ir_int(g->px, columns, DT_INDEX, g->at));
	type->view.valid.n = 0;
	type->dtype = (uint8_t)dtype;
	type->memref = NULL;
	return type;
}

/* ---- Buffers ---- */

static const char *extent_text(struct pto_gen *g, const struct ir_type *type, uint32_t from_end,
			       bool late)
{
	const struct ir_node *dim = valid_dim(type, from_end);

	if (late || !dim)
		return pto_index(g, pto_dim(&type->shape, from_end));
	return pto_index_expr(g, dim);
}

static void put_alloc(struct pto_gen *g, struct pto_tile *t)
{
	bool late = is_late(g, t->type);
	struct text *before = g->to;
	unsigned int indent = g->indent;
	struct text line = { .px = g->px };

	if (g->cxx) {
		cce_declare(g, t);
		t->sized = !late;
		return;
	}
	g->to = &g->allocs;
	g->indent = 2;
	if (late || !is_constant(valid_dim(t->type, 1)))
		text_printf(&line, " valid_row = %s", extent_text(g, t->type, 1, late));
	if (late || !is_constant(valid_dim(t->type, 0)))
		text_printf(&line, " valid_col = %s", extent_text(g, t->type, 0, late));
	pto_line(g, "%s = pto.alloc_tile%s : %s", t->v.name, text_str(&line), t->v.type);
	t->sized = !late;
	g->to = before;
	g->indent = indent;
}

static void put_alias(struct pto_gen *g, struct pto_tile *t, const struct pto_tile *of)
{
	struct text *before = g->to;
	unsigned int indent = g->indent;

	t->sized = true;
	if (g->cxx) {
		t->addr = of->addr;
		cce_declare(g, t);
		return;
	}
	g->to = &g->allocs;
	g->indent = 2;
	pto_line(g, "%s = pto.treshape %s : %s -> %s", t->v.name, of->v.name, of->v.type, t->v.type);
	g->to = before;
	g->indent = indent;
}

static struct pto_tile *tile_new(struct pto_gen *g, const struct ir_type *type, uint8_t space)
{
	struct pto_tile *t = px_new(g->px, struct pto_tile);

	check_lines(g, type, space);
	t->type = type;
	t->space = space;
	t->v.type = pto_tile_type(g, type, space);
	t->v.name = g->cxx ? gen_take_names(&g->cxx->names, g->naming ? g->naming : "scratch",
					    (const char *const[]){ "Type", NULL }) : pto_temp(g);
	g->naming = NULL;
	return t;
}

/*
 * Handles are per memory reference: what is computed about a symbolic region is part of the
 * type.
 */
static bool is_same(const struct pto_tile *t, const struct ir_memref *memref,
		    const struct ir_type *type, const char *text)
{
	return t->memref == memref && !strcmp(t->v.type, text) &&
	       shape_equal(&t->type->view.valid, &type->view.valid);
}

static bool may_alias(const struct pto_tile *t, const struct ir_memref *memref,
		      const struct ir_type *type)
{
	return t->memref == memref && t->type->dtype == type->dtype && t->sized &&
	       type_bytes(t->type) == type_bytes(type) && type_bytes(type) &&
	       (t->type->view.slayout == TL_NONE_BOX) == (type->view.slayout == TL_NONE_BOX);
}

static struct pto_tile *buffer_of(struct pto_gen *g, const struct ir_type *type)
{
	const struct ir_memref *memref = type->memref;
	const char *text = pto_tile_type(g, type, memref->space);
	struct pto_tile *t, *other = NULL;

	for (t = g->cxx ? NULL : g->all_tiles; t; t = t->next) {
		if (is_same(t, memref, type, text))
			return t;
		if (!other && may_alias(t, memref, type))
			other = t;
	}
	t = tile_new(g, type, memref->space);
	t->addr = memref->addr;
	t->memref = memref;
	t->next = g->all_tiles;
	g->all_tiles = t;
	if (other && !is_late(g, type))
		put_alias(g, t, other);
	else
		put_alloc(g, t);
	return t;
}

struct pto_tile *pto_tile_of(struct pto_gen *g, const struct ir_node *var)
{
	struct pto_tile *t = var_map_get(&g->tiles, var);

	if (t)
		return t;
	if (!var->type->memref) {
		pto_mistake(g, var, NULL, "Internal error: tile '%s' has no memory reference",
			    gen_written_name(g->px, var));
		return tile_new(g, var->type, MS_VEC);
	}
	g->naming = ir_is_var(var) ? gen_base_name(g->px, IR_AS(var, var)->name) : NULL;
	t = buffer_of(g, var->type);
	var_map_set(&g->tiles, var, t);
	return t;
}

/* Elements lie as in the tile, of whatever size the window is; that is its valid region. */
static const struct ir_type *window_type(struct pto_gen *g, const struct ir_type *type,
					 const struct ir_type *in)
{
	bool plain = in->view.slayout == TL_NONE_BOX && layout_of(in) == TL_ROW_MAJOR;
	const struct ir_list valid = type->view.valid.n ? type->view.valid : type->shape;
	struct ir_type *own;

	if (plain && pto_dim(&type->shape, 1) == 1)
		return type;
	own = pto_type_like(g, type, pto_dim(plain ? &type->shape : &in->shape, 1),
			    pto_dim(&in->shape, 0), type->dtype);
	own->memref = type->memref;
	own->view.valid = valid;
	return own;
}

struct pto_tile *pto_window(struct pto_gen *g, const struct ir_node *var, const struct pto_tile *in)
{
	struct pto_tile *t = var_map_get(&g->tiles, var);

	if (t || !var->type->memref)
		return pto_tile_of(g, var);
	g->naming = gen_base_name(g->px, IR_AS(var, var)->name);
	t = buffer_of(g, window_type(g, var->type, in->type));
	var_map_set(&g->tiles, var, t);
	return t;
}

struct pto_tile *pto_scratch(struct pto_gen *g, const struct ir_type *type, uint8_t space)
{
	struct ir_type *own = type_copy(g->px, type);
	struct pto_tile *t;

	own->memref = NULL;
	t = tile_new(g, own, space);
	if (g->cxx && space == MS_VEC) {
		if (g->scratch == g->scratch_base)
			cce_settle(g);
		t->addr = g->scratch;
		g->scratch += (int64_t)(type_bytes(own) + 255) / 256 * 256;
		if (g->scratch > g->scratch_top)
			g->scratch_top = g->scratch;
	}
	put_alloc(g, t);
	pto_size(g, t);
	return t;
}

void pto_size(struct pto_gen *g, struct pto_tile *t)
{
	const struct ir_node *r = valid_dim(t->type, 1), *c = valid_dim(t->type, 0);
	const char *rows, *columns;

	if (!is_late(g, t->type))
		return;
	rows = r ? pto_index_expr(g, r) : pto_index(g, pto_dim(&t->type->shape, 1));
	columns = c ? pto_index_expr(g, c) : pto_index(g, pto_dim(&t->type->shape, 0));
	if (g->cxx) {
		pto_line(g, "%s.SetValidShape(%s, %s);", t->v.name, rows, columns);
		return;
	}
	pto_line(g, "pto.set_validshape %s, %s, %s : %s", t->v.name, rows, columns, t->v.type);
}

bool pto_is_column(const struct pto_tile *t)
{
	return layout_of(t->type) == TL_COL_MAJOR && t->type->view.slayout == TL_NONE_BOX &&
	       pto_dim(&t->type->shape, 0) == 1;
}

struct pto_tile *pto_row(struct pto_gen *g, struct pto_tile *t)
{
	struct ir_type *type;

	if (t->row)
		return t->row;
	type = pto_type_like(g, t->type, 1, pto_dim(&t->type->shape, 1), t->type->dtype);
	type->view.blayout = TL_ROW_MAJOR;
	if (valid_dim(t->type, 1)) {
		list_push(g->px, &type->view.valid, ir_int(g->px, 1, DT_INDEX, g->at));
		list_push(g->px, &type->view.valid, (struct ir_node *)valid_dim(t->type, 1));
	}
	g->naming = g->cxx ? px_printf(g->px, "%s_row", t->v.name) : NULL;
	t->row = tile_new(g, type, t->space);
	t->row->row = t->row;
	t->row->memref = t->memref;
	put_alias(g, t->row, t);
	return t->row;
}

struct pto_value pto_alias(struct pto_gen *g, struct pto_tile *of, const struct ir_type *type)
{
	struct pto_value v;
	struct pto_tile *t;

	if (g->cxx) {
		g->naming = px_printf(g->px, "%s_view", of->v.name);
		t = tile_new(g, type, of->space);
		put_alias(g, t, of);
		return t->v;
	}
	v.name = pto_temp(g);
	v.type = pto_tile_type(g, type, of->space);
	pto_line(g, "%s = pto.treshape %s : %s -> %s", v.name, of->v.name, of->v.type, v.type);
	return v;
}

/* ---- Numbers in order of first appearance ---- */

static bool makes_view(const struct ir_node *value)
{
	const struct ir_call *call = IR_AS(value, call);

	return ir_is_var(value) || value->kind == IR_GET_ITEM ||
	       (value->kind == IR_CALL && call->op &&
		(call->op->rule == rule_reshape || call->op->rule == rule_slice ||
		 call->op->rule == rule_tpop));
}

static bool scan_tile(void *data, struct ir_node *node)
{
	struct pto_gen *g = data;
	const struct ir_list *results = &IR_AS(node, if)->return_vars;
	uint32_t i;

	if (node->kind == IR_ASSIGN && IR_AS(node, assign)->var->type &&
	    IR_AS(node, assign)->var->type->kind == TY_TILE &&
	    !makes_view(IR_AS(node, assign)->value)) {
		g->at = node->span;
		pto_tile_of(g, IR_AS(node, assign)->var);
	}
	for (i = 0; node->kind == IR_IF && i < results->n; i++)
		if (results->at[i]->type->kind == TY_TILE)
			pto_tile_of(g, results->at[i]);
	return true;
}

void pto_scan_tiles(struct pto_gen *g)
{
	ir_walk(g->f->body, scan_tile, g);
}
