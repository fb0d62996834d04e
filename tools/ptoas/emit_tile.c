/* SPDX-License-Identifier: MIT */
/* Tiles: declarations, addresses, windows and other names of the same storage. */
#include "emit.h"

/* A tile that flows through loops, branches or calls keeps the type that its text says. */
static bool flows(const struct pto_value *v)
{
	pto_for_each_use(u, v)
		switch (pto_code(u->op)) {
		case PTO_OP_FOR:
		case PTO_OP_WHILE:
		case PTO_OP_YIELD:
		case PTO_OP_CONDITION:
		case PTO_OP_CALL:
		case PTO_OP_SELECT:
		case PTO_OP_SET_VALIDSHAPE:
			return true;
		default:
			break;
		}
	return false;
}

/* The extent in the type: -1 when it is only known at run time; *@arg is then what to pass. */
static int64_t valid_extent(const struct pto_value *v, unsigned int dim,
			    const struct pto_use *given, struct pto_value **arg)
{
	int64_t n = v->type->valid[dim];

	*arg = NULL;
	if (n != PTO_DYNAMIC)
		return n;
	if (given && !flows(v) && pto_const_int(given->value, &n))
		return n;
	*arg = given ? given->value : NULL;
	return -1;
}

static void declare(struct emit *e, struct pto_value *v, int64_t rows, int64_t cols,
		    const struct pto_use *vr, const struct pto_use *vc)
{
	struct pto_value *row, *col;
	int64_t r = valid_extent(v, 0, vr, &row), c = valid_extent(v, 1, vc, &col);

	emit_begin(e);
	emit_tile_type(e, v->type, rows, cols, r, c);
	emit_add(e, " %s", emit_name(e, v).text);
	if (row || col) {
		emit_add(e, "(%s%s", row ? emit_int(e, row).text : "", row && col ? ", " : "");
		emit_add(e, "%s)", col ? emit_int(e, col).text : "");
	}
	emit_add(e, ";\n");
}

void emit_declare_tile(struct emit *e, struct pto_value *v, const struct pto_use *vr,
		       const struct pto_use *vc)
{
	declare(e, v, v->type->dim[0], v->type->dim[1], vr, vc);
}

void emit_alloc(struct emit *e, struct pto_op *op)
{
	const struct pto_use *addr = pto_operand(op, 0);

	if (op->result[0].type->kind != PTO_T_TILE) {
		emit_fail(e, op, "has a result type that cannot be emitted");
		return;
	}
	emit_declare_tile(e, &op->result[0], pto_operand(op, 1), pto_operand(op, 2));
	if (addr)
		emit_line(e, "TASSIGN(%s, %s);", emit_name(e, &op->result[0]).text,
			  emit_int(e, addr->value).text);
}

void emit_alloc_multi(struct emit *e, struct pto_op *op)
{
	const struct pto_use *addr = pto_operand(op, 0);

	if (!addr)
		emit_fail(e, op, "has no address");
	else
		emit_line(e, "const int64_t %s = %s;", emit_name(e, &op->result[0]).text,
			  emit_int(e, addr->value).text);
}

static void multi_get(struct emit *e, struct pto_op *op)
{
	struct pto_value *multi = op->operand[0].value, *v = &op->result[0];
	const struct pto_op *alloc = multi->def;

	if (!alloc || alloc->info->code != PTO_OP_ALLOC_MULTI_TILE) {
		emit_fail(e, op, "needs a tile from alloc_multi_tile in this function");
		return;
	}
	emit_declare_tile(e, v, pto_operand(alloc, 1), pto_operand(alloc, 2));
	emit_line(e, "TASSIGN(%s, %s + %s * %lld);", emit_name(e, v).text,
		  emit_name(e, multi).text, emit_int(e, op->operand[1].value).text,
		  (long long)pto_type_bytes(multi->type->inner));
}

/* Whether rows of the one are columns of the other. */
static bool transposes(const struct pto_type *a, const struct pto_type *b)
{
	return a->kind == PTO_T_TILE && a->blayout != b->blayout && a->dim[0] == b->dim[1] &&
	       a->dim[1] == b->dim[0];
}

/* Valid extents of a second name: those of the first where the text leaves them open. */
static void reshape(struct emit *e, struct pto_op *op)
{
	struct pto_value *from = op->operand[0].value, *v = &op->result[0];
	const struct pto_type *t = v->type;
	struct emit_name src = emit_name(e, from), dst = emit_name(e, v);
	bool row = t->valid[0] == PTO_DYNAMIC, col = t->valid[1] == PTO_DYNAMIC;
	bool turned = transposes(from->type, t);
	const char *rows = turned ? "Col" : "Row", *cols = turned ? "Row" : "Col";

	emit_begin(e);
	emit_type(e, t);
	emit_add(e, " %s", dst.text);
	if (row && col)
		emit_add(e, "(%s.GetValid%s(), %s.GetValid%s())", src.text, rows, src.text, cols);
	else if (row || col)
		emit_add(e, "(%s.GetValid%s())", src.text, row ? rows : cols);
	emit_add(e, ";\n");
	emit_line(e, "TRESHAPE(%s, %s);", dst.text, src.text);
}

static bool is_window(const struct pto_value *v)
{
	return v->def && (v->def->info->code == PTO_OP_SUBVIEW || v->def->info->code == PTO_OP_SUBSET);
}

/* The tile that a window, or a window of a window, is in: its type tells where elements lie. */
static const struct pto_type *storage_type(const struct pto_value *v)
{
	while (is_window(v))
		v = v->def->operand[0].value;
	return v->type;
}

/* In row-major memory a window keeps its own rows; in boxes the place depends on all of them. */
void emit_subview(struct emit *e, struct pto_op *op)
{
	struct pto_value *from = op->operand[0].value, *v = &op->result[0];
	const struct pto_type *t = storage_type(from);
	const struct pto_use *at = pto_operand(op, 1), *valid = pto_operand(op, 2);
	bool plain = t->slayout == PTO_NONE_BOX && t->blayout == PTO_ROW_MAJOR;

	if (t->kind != PTO_T_TILE || pto_group_count(op, 1) != 2) {
		emit_fail(e, op, "is not a window of a tile");
		return;
	}
	declare(e, v, plain ? v->type->dim[0] : t->dim[0], t->dim[1], valid,
		valid ? valid + 1 : NULL);
	emit_line(e, "TSUBVIEW(%s, %s, %s, %s);", emit_name(e, v).text, emit_name(e, from).text,
		  emit_int(e, at[0].value).text, emit_int(e, at[1].value).text);
}

void emit_tile_view(struct emit *e, struct pto_op *op)
{
	switch (pto_code(op)) {
	case PTO_OP_MULTI_TILE_GET:
		multi_get(e, op);
		break;
	case PTO_OP_TASSIGN:
		emit_line(e, "auto %s = %s;", emit_name(e, &op->result[0]).text,
			  emit_name(e, op->operand[0].value).text);
		emit_line(e, "TASSIGN(%s, %s);", emit_name(e, &op->result[0]).text,
			  emit_int(e, op->operand[1].value).text);
		break;
	default:
		if (op->n_results)
			reshape(e, op);
		else
			emit_line(e, "TRESHAPE(%s, %s);", emit_name(e, op->operand[1].value).text,
				  emit_name(e, op->operand[0].value).text);
	}
}
