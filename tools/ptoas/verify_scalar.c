/* SPDX-License-Identifier: MIT */
/* Scalar arithmetic and structured control flow. Section 8.7. */
#include <string.h>

#include "verify.h"

/* ---- Arithmetic ------------------------------------------------------------------------------ */

static const struct pto_type *type_of(const struct verify *v, unsigned int i)
{
	return v->op->operand[i].value->type;
}

static bool is_float(const struct pto_type *t)
{
	return (t->kind == PTO_T_SCALAR || t->kind == PTO_T_VECTOR) &&
	       pto_elem_is_float((enum pto_elem)t->elem);
}

static bool is_int(const struct pto_type *t)
{
	return (t->kind == PTO_T_SCALAR || t->kind == PTO_T_VECTOR) && !is_float(t);
}

static bool takes_floats(enum pto_opcode code)
{
	switch (code) {
	case PTO_OP_ADDF:
	case PTO_OP_SUBF:
	case PTO_OP_MULF:
	case PTO_OP_DIVF:
	case PTO_OP_REMF:
	case PTO_OP_MAXIMUMF:
	case PTO_OP_MINIMUMF:
	case PTO_OP_MAXNUMF:
	case PTO_OP_MINNUMF:
	case PTO_OP_NEGF:
	case PTO_OP_ABSF:
	case PTO_OP_CMPF:
		return true;
	default:
		return false;
	}
}

static int divisor(struct verify *v)
{
	int64_t n;

	switch (pto_code(v->op)) {
	case PTO_OP_DIVSI:
	case PTO_OP_DIVUI:
	case PTO_OP_REMSI:
	case PTO_OP_REMUI:
	case PTO_OP_CEILDIVSI:
	case PTO_OP_CEILDIVUI:
	case PTO_OP_FLOORDIVSI:
		break;
	default:
		return 0;
	}
	if (pto_const_int(v->op->operand[1].value, &n) && !n)
		return bad(v, NULL, "divides by zero");
	return 0;
}

int verify_arith(struct verify *v)
{
	bool floats = takes_floats(pto_code(v->op));
	unsigned int i;

	for (i = 0; i < v->op->n_operands; i++) {
		if (floats ? !is_float(type_of(v, i)) : !is_int(type_of(v, i)))
			return bad(v, NULL, "expects %s operands",
				   floats ? "float" : "integer or index");
		if (type_of(v, i) != type_of(v, 0))
			return bad(v, "cast one of them: arith.index_cast, arith.extsi, ...",
				   "expects operands of one type");
	}
	return divisor(v);
}

enum side { INT, FLOAT, INDEX_OR_INT };

static const struct {
	enum pto_opcode code;
	enum side from, to;
	int width;		/* 1: result wider, -1: narrower, 0: any, 2: equal */
} casts[] = {
	{ PTO_OP_INDEX_CAST, INDEX_OR_INT, INDEX_OR_INT, 0 },
	{ PTO_OP_INDEX_CASTUI, INDEX_OR_INT, INDEX_OR_INT, 0 },
	{ PTO_OP_EXTSI, INT, INT, 1 }, { PTO_OP_EXTUI, INT, INT, 1 },
	{ PTO_OP_TRUNCI, INT, INT, -1 },
	{ PTO_OP_EXTF, FLOAT, FLOAT, 1 }, { PTO_OP_TRUNCF, FLOAT, FLOAT, -1 },
	{ PTO_OP_SITOFP, INT, FLOAT, 0 }, { PTO_OP_UITOFP, INT, FLOAT, 0 },
	{ PTO_OP_FPTOSI, FLOAT, INT, 0 }, { PTO_OP_FPTOUI, FLOAT, INT, 0 },
};

static int bits_of(const struct pto_type *t)
{
	return t->elem == PTO_I1 ? 1 : pto_elem_info((enum pto_elem)t->elem)->bits;
}

static bool is_side(enum side s, const struct pto_type *t)
{
	if (s == FLOAT)
		return is_float(t);
	return is_int(t) && (s == INDEX_OR_INT || t->elem != PTO_INDEX);
}

int verify_cast(struct verify *v)
{
	const struct pto_type *a = type_of(v, 0), *b = v->op->result[0].type;
	int diff = bits_of(b) - bits_of(a);
	size_t i;

	for (i = 0; i < sizeof(casts) / sizeof(casts[0]); i++)
		if (casts[i].code == pto_code(v->op))
			break;
	if (i == sizeof(casts) / sizeof(casts[0]))
		return diff ? bad(v, NULL, "expects types of one size") : 0;
	if (!is_side(casts[i].from, a) || !is_side(casts[i].to, b))
		return bad(v, NULL, "does not convert %s to %s", elem_text(a), elem_text(b));
	if (casts[i].from == INDEX_OR_INT && (a->elem == PTO_INDEX) == (b->elem == PTO_INDEX))
		return bad(v, NULL, "converts between index and an integer type");
	if ((casts[i].width > 0 && diff <= 0) || (casts[i].width < 0 && diff >= 0))
		return bad(v, NULL, "expects %s to be %s than %s", elem_text(b),
			   casts[i].width > 0 ? "wider" : "narrower", elem_text(a));
	return 0;
}

int verify_select(struct verify *v)
{
	if (type_of(v, 0)->elem != PTO_I1)
		return bad(v, NULL, "expects an i1 condition");
	if (type_of(v, 1) != type_of(v, 2))
		return bad(v, NULL, "expects both values to have one type");
	return 0;
}

/* ---- Control flow ---------------------------------------------------------------------------- */

/* The operands of a region's last line must have the types of the operation's results. */
static int yields(struct verify *v, const struct pto_region *r)
{
	const struct pto_op *last = r->last ? r->last->last : NULL;
	unsigned int i;

	if (!last || last->info->code != PTO_OP_YIELD)
		return bad(v, "end the region with scf.yield",
			   "expects every region to end with scf.yield");
	if (last->n_operands != v->op->n_results)
		return bad(v, "yield one value per result",
			   "has %u results, but a region yields %u",
			   v->op->n_results, last->n_operands);
	for (i = 0; i < last->n_operands; i++)
		if (last->operand[i].value->type != v->op->result[i].type)
			return bad(v, NULL, "yields a value of another type than result %u", i);
	return 0;
}

int verify_for(struct verify *v)
{
	unsigned int i, n = v->op->n_results;
	int64_t step;

	if (v->op->n_operands < 3 || pto_group_count(v->op, 0) != 1)
		return bad(v, NULL, "expects lower bound, upper bound and step");
	for (i = 0; i < 3; i++)
		if (type_of(v, i) != type_of(v, 0) || !is_int(type_of(v, i)))
			return bad(v, NULL, "expects bounds and step of one integer or index type");
	if (pto_const_int(v->op->operand[2].value, &step) && !step)
		return bad(v, NULL, "has a step of zero");
	if (v->op->n_operands - 3u != n)
		return bad(v, "write -> (T) with one type per iter_args value",
			   "carries %u values, but has %u results", v->op->n_operands - 3u, n);
	if (v->op->region[0].first->n_args != n + 1)
		return bad(v, NULL, "expects its body to take the counter and %u values", n);
	for (i = 0; i < n; i++)
		if (type_of(v, i + 3) != v->op->result[i].type ||
		    type_of(v, i + 3) != v->op->region[0].first->args[i + 1].type)
			return bad(v, NULL, "carries a value of another type than result %u", i);
	return yields(v, &v->op->region[0]);
}

int verify_if(struct verify *v)
{
	if (type_of(v, 0)->elem != PTO_I1 || type_of(v, 0)->kind != PTO_T_SCALAR)
		return bad(v, "compare first: arith.cmpi", "expects an i1 condition");
	if (v->op->n_results && !v->op->region[1].first)
		return bad(v, "yield a value in both branches", "has results, so it needs an else");
	if (yields(v, &v->op->region[0]))
		return -EINVAL;
	return v->op->region[1].first ? yields(v, &v->op->region[1]) : 0;
}

static int while_condition(struct verify *v)
{
	const struct pto_block *before = v->op->region[0].last, *after = v->op->region[1].first;
	const struct pto_op *last = before ? before->last : NULL;
	unsigned int i, n;

	if (!last || last->info->code != PTO_OP_CONDITION)
		return bad(v, NULL, "expects its first region to end with scf.condition");
	if (last->operand[0].value->type->elem != PTO_I1)
		return bad(v, NULL, "expects an i1 condition");
	n = last->n_operands - 1u;
	if (n != v->op->n_results || n != (after ? after->n_args : 0))
		return bad(v, NULL, "passes %u values to %u results", n, v->op->n_results);
	for (i = 0; i < n; i++)
		if (last->operand[i + 1].value->type != v->op->result[i].type ||
		    last->operand[i + 1].value->type != after->args[i].type)
			return bad(v, NULL, "passes a value of another type than result %u", i);
	return 0;
}

int verify_while(struct verify *v)
{
	const struct pto_region *after = &v->op->region[1];
	const struct pto_op *last = after->last ? after->last->last : NULL;
	unsigned int i;

	if (while_condition(v))
		return -EINVAL;
	if (!last || last->info->code != PTO_OP_YIELD || last->n_operands != v->op->n_operands)
		return bad(v, NULL, "expects its second region to yield %u values",
			   v->op->n_operands);
	for (i = 0; i < last->n_operands; i++)
		if (last->operand[i].value->type != type_of(v, i))
			return bad(v, NULL, "yields a value of another type than operand %u", i);
	return 0;
}

int verify_switch(struct verify *v)
{
	const struct pto_attr *cases = pto_attr_find(v->op, "cases");
	unsigned int i, k;

	if (!pto_is_index(type_of(v, 0)))
		return bad(v, NULL, "expects an index");
	if (cases->count + 1 != v->op->n_regions)
		return bad(v, NULL, "has %u cases for %u regions", cases->count, v->op->n_regions);
	for (i = 0; i < cases->count; i++)
		for (k = 0; k < i; k++)
			if (cases->list[i].i == cases->list[k].i)
				return bad(v, NULL, "has case %lld twice",
					   (long long)cases->list[i].i);
	for (i = 0; i < v->op->n_regions; i++)
		if (yields(v, &v->op->region[i]))
			return -EINVAL;
	return 0;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

int verify_call(struct verify *v)
{
	const struct pto_attr *callee = pto_attr_find(v->op, "callee");
	const struct pto_func *f = callee->text->slot;
	unsigned int i;

	if (!f)
		return bad(v, "define it, or declare it with func.func private",
			   "calls @%s, which does not exist", callee->text->text);
	if (f->n_args != v->op->n_operands)
		return bad(v, NULL, "passes %u values to @%s, which takes %u", v->op->n_operands,
			   f->name->text, f->n_args);
	for (i = 0; i < f->n_args; i++)
		if (f->arg_types[i] != type_of(v, i))
			return bad(v, NULL, "passes another type than argument %u of @%s has", i,
				   f->name->text);
	if (v->op->n_results != (f->result != NULL) ||
	    (f->result && v->op->result[0].type != f->result))
		return bad(v, NULL, "expects another result than @%s has", f->name->text);
	return 0;
}

int verify_return(struct verify *v)
{
	const struct pto_type *want = v->func->result;

	if (v->op->n_operands != (want != NULL))
		return bad(v, NULL, "returns %u values, but the function has %u results",
			   v->op->n_operands, want != NULL);
	if (want && type_of(v, 0) != want)
		return bad(v, NULL, "returns a value of another type than the function's result");
	if (!pto_parent(v->op) || pto_parent(v->op)->info->code != PTO_OP_FUNC)
		return bad(v, "leave a loop or branch with scf.yield",
			   "must stand in the function's own body");
	return 0;
}
