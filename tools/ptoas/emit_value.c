/* SPDX-License-Identifier: MIT */
/* Names, types and constants. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "emit.h"

struct emit_name emit_name(struct emit *e, struct pto_value *v)
{
	struct emit_name n;

	if (!v->id)
		v->id = ++e->names;
	snprintf(n.text, sizeof(n.text), "v%u", v->id);
	return n;
}

/* C++ has no literal of the least number: it is a difference. */
static struct emit_name int_text(int64_t i)
{
	struct emit_name n;

	if (i == INT64_MIN)
		strcpy(n.text, "(-9223372036854775807LL - 1)");
	else
		snprintf(n.text, sizeof(n.text), "%lld", (long long)i);
	return n;
}

struct emit_name emit_int(struct emit *e, struct pto_value *v)
{
	int64_t i;

	return pto_const_int(v, &i) ? int_text(i) : emit_name(e, v);
}

static const char *tile_type_name(const struct pto_type *t)
{
	static const char *const names[PTO_MEMORIES] = {
		"?", "?", "Mat", "Left", "Right", "Acc", "Vec", "Bias", "Scaling", "ScaleLeft",
		"ScaleRight",
	};

	return names[pto_type_memory(t)];
}

static void put_pad(struct emit *e, int64_t pad)
{
	static const char *const names[] = { "Null", "Zero", "Max", "Min" };

	if (pad >= PTO_PAD_CUSTOM)
		emit_add(e, "PadValue(0x%llx)", (unsigned long long)pad);
	else
		emit_add(e, "PadValue::%s", names[pad]);
}

void emit_tile_type(struct emit *e, const struct pto_type *t, int64_t rows, int64_t cols,
		    int64_t vr, int64_t vc)
{
	static const char *const box[] = { "NoneBox", "RowMajor", "ColMajor" };
	static const char *const compact[] = { "Null", "Normal", "RowPlusOne" };

	emit_add(e, "Tile<TileType::%s, %s, %lld, %lld, BLayout::%s, %lld, %lld, SLayout::%s, %u, ",
		 tile_type_name(t),
		 pto_elem_info((enum pto_elem)t->elem)->cxx, (long long)rows, (long long)cols,
		 t->blayout == PTO_COL_MAJOR ? "ColMajor" : "RowMajor", (long long)vr,
		 (long long)vc, box[t->slayout], t->fractal);
	put_pad(e, t->pad);
	emit_add(e, ", CompactMode::%s>", compact[t->compact]);
}

static int64_t extent(int64_t n)
{
	return n == PTO_DYNAMIC ? -1 : n;
}

void emit_type(struct emit *e, const struct pto_type *t)
{
	switch (t->kind) {
	case PTO_T_SCALAR:
		pto_text_str(e->out, pto_elem_info((enum pto_elem)t->elem)->cxx);
		break;
	case PTO_T_PTR:
		emit_add(e, "__gm__ ");
		emit_type(e, t->inner);
		emit_add(e, "*");
		break;
	case PTO_T_MEMREF:
		emit_add(e, "__gm__ %s*", pto_elem_info((enum pto_elem)t->elem)->cxx);
		break;
	case PTO_T_VIEW:
	case PTO_T_PART:
		emit_add(e, "GlobalTensor<%s, pto::Shape<-1, -1, -1, -1, -1>, "
			 "pto::Stride<-1, -1, -1, -1, -1>>",
			 pto_elem_info((enum pto_elem)t->elem)->cxx);
		break;
	case PTO_T_ASYNC_SESSION:
	case PTO_T_PREFETCH_CTX:
		emit_add(e, "pto::comm::AsyncSession");
		break;
	case PTO_T_ASYNC_EVENT:
		emit_add(e, "pto::comm::AsyncEvent");
		break;
	case PTO_T_TILE:
		emit_tile_type(e, t, t->dim[0], t->dim[1], extent(t->valid[0]),
			       extent(t->valid[1]));
		break;
	case PTO_T_VECTOR:
		emit_add(e, "pto::MrgSortExecutedNumList");
		break;
	default:
		emit_add(e, "auto");
	}
}

void emit_define(struct emit *e, struct pto_value *v)
{
	struct emit_name n = emit_name(e, v);

	emit_begin(e);
	if (v->type->kind == PTO_T_SCALAR)
		emit_add(e, "const ");
	emit_type(e, v->type);
	emit_add(e, " %s", n.text);
}

static void emit_float(struct emit *e, const struct pto_type *t, double f)
{
	bool wide = t->elem == PTO_F64;
	const char *suffix = wide ? "" : "f";

	if (t->elem != PTO_F32 && !wide)
		emit_add(e, "(%s)", pto_elem_info((enum pto_elem)t->elem)->cxx);
	if (isnan(f))
		emit_add(e, "__builtin_nan%s(\"\")", suffix);
	else if (isinf(f))
		emit_add(e, "%s__builtin_inf%s()", f < 0 ? "-" : "", suffix);
	else if (f == (double)(long long)f && fabs(f) < 1e9)
		emit_add(e, "%.1f%s", f, suffix);
	else
		emit_add(e, "%.*e%s", wide ? 17 : 9, f, suffix);
}

void emit_constant(struct emit *e, struct pto_op *op)
{
	const struct pto_attr *a = pto_attr_find(op, "value");
	const struct pto_type *t = op->result[0].type;

	if (t->kind == PTO_T_VECTOR) {
		emit_line(e, "pto::MrgSortExecutedNumList %s{};",
			  emit_name(e, &op->result[0]).text);
		return;
	}
	emit_define(e, &op->result[0]);
	emit_add(e, " = ");
	if (!a)
		emit_add(e, "0");
	else if (pto_elem_is_float((enum pto_elem)t->elem))
		emit_float(e, t, a->kind == PTO_ATTR_FLOAT ? a->f : (double)a->i);
	else if (t->elem == PTO_I1)
		emit_add(e, "%s", a->i ? "true" : "false");
	else
		emit_add(e, "%s", int_text(a->i).text);
	emit_add(e, ";\n");
}
