/* SPDX-License-Identifier: MIT */
/* Scalars: C operators, and helper templates where C has none. Section 8.7. */
#include <string.h>

#include "emit.h"

static const char helpers[] =
"template <typename T> static AICORE inline T ptoas_floordiv(T a, T b)\n"
"{ return a / b - (a % b != 0 && (a < 0) != (b < 0)); }\n"
"template <typename T> static AICORE inline T ptoas_ceildiv(T a, T b)\n"
"{ return a / b + (a % b != 0 && (a < 0) == (b < 0)); }\n"
"template <typename T> static AICORE inline bool ptoas_below(T a, T b)\n"
"{ return a < b || (a == b && __builtin_signbit((double)a) > __builtin_signbit((double)b)); }\n"
"template <typename T> static AICORE inline T ptoas_maximum(T a, T b)\n"
"{ return a != a ? a : b != b ? b : ptoas_below(a, b) ? b : a; }\n"
"template <typename T> static AICORE inline T ptoas_minimum(T a, T b)\n"
"{ return a != a ? a : b != b ? b : ptoas_below(b, a) ? b : a; }\n"
"template <typename T> static AICORE inline T ptoas_maxnum(T a, T b)\n"
"{ return a != a ? b : b != b ? a : ptoas_below(a, b) ? b : a; }\n"
"template <typename T> static AICORE inline T ptoas_minnum(T a, T b)\n"
"{ return a != a ? b : b != b ? a : ptoas_below(b, a) ? b : a; }\n"
"template <typename D, typename S> static AICORE inline D ptoas_bitcast(S s)\n"
"{ static_assert(sizeof(D) == sizeof(S)); D d; __builtin_memcpy(&d, &s, sizeof(d)); return d; }\n"
"template <int Rounds, typename D, typename T>\n"
"static AICORE inline void PTOAS__TRANDOM(D &d, T k0, T k1, T c0, T c1, T c2, T c3)\n"
"{\n"
"  const uint32_t key[2] = { (uint32_t)k0, (uint32_t)k1 };\n"
"  const uint32_t counter[4] = { (uint32_t)c0, (uint32_t)c1, (uint32_t)c2, (uint32_t)c3 };\n"
"  TRANDOM<Rounds>(d, key, counter);\n"
"}\n"
"template <int N> struct PTOAS_EventIdArray {\n"
"  int64_t id[N] = {};\n"
"  AICORE int64_t &operator[](int64_t i) { return id[i]; }\n"
"};\n";

void emit_arith_helpers(struct emit *e)
{
	pto_text_str(e->out, helpers);
}

/* ---- Two operands -------------------------------------------------------------------------- */

enum how { PLAIN, UNSIGNED, CALL, WRAP };

static const struct {
	uint16_t code;
	uint8_t how;
	const char *text;
} binary[] = {
	{ PTO_OP_ADDI, WRAP, "+" }, { PTO_OP_SUBI, WRAP, "-" }, { PTO_OP_MULI, WRAP, "*" },
	{ PTO_OP_DIVSI, PLAIN, "/" }, { PTO_OP_DIVUI, UNSIGNED, "/" },
	{ PTO_OP_REMSI, PLAIN, "%" }, { PTO_OP_REMUI, UNSIGNED, "%" },
	{ PTO_OP_CEILDIVSI, CALL, "ptoas_ceildiv" }, { PTO_OP_FLOORDIVSI, CALL, "ptoas_floordiv" },
	{ PTO_OP_ANDI, PLAIN, "&" }, { PTO_OP_ORI, PLAIN, "|" }, { PTO_OP_XORI, PLAIN, "^" },
	{ PTO_OP_SHLI, UNSIGNED, "<<" }, { PTO_OP_SHRSI, PLAIN, ">>" },
	{ PTO_OP_SHRUI, UNSIGNED, ">>" },
	{ PTO_OP_ADDF, PLAIN, "+" }, { PTO_OP_SUBF, PLAIN, "-" }, { PTO_OP_MULF, PLAIN, "*" },
	{ PTO_OP_DIVF, PLAIN, "/" },
	{ PTO_OP_MAXIMUMF, CALL, "ptoas_maximum" }, { PTO_OP_MINIMUMF, CALL, "ptoas_minimum" },
	{ PTO_OP_MAXNUMF, CALL, "ptoas_maxnum" }, { PTO_OP_MINNUMF, CALL, "ptoas_minnum" },
};

/* The unsigned type of the same width. */
static const char *unsigned_of(const struct pto_type *t)
{
	switch (pto_elem_info((enum pto_elem)t->elem)->bits) {
	case 8:
		return t->elem == PTO_I1 ? "bool" : "uint8_t";
	case 16:
		return "uint16_t";
	case 32:
		return "uint32_t";
	default:
		return "uint64_t";
	}
}

static const char *cxx_of(const struct pto_type *t)
{
	return pto_elem_info((enum pto_elem)t->elem)->cxx;
}

static bool two_operands(struct emit *e, struct pto_op *op)
{
	const struct pto_type *t = op->n_results ? op->result[0].type : NULL;
	struct emit_name a, b;
	size_t i;

	for (i = 0; i < sizeof(binary) / sizeof(binary[0]); i++)
		if (binary[i].code == op->info->code)
			break;
	if (i == sizeof(binary) / sizeof(binary[0]))
		return false;
	a = emit_name(e, op->operand[0].value);
	b = emit_name(e, op->operand[1].value);
	emit_define(e, &op->result[0]);
	if (binary[i].how == CALL)
		emit_add(e, " = (%s)%s<%s>(%s, %s);\n", cxx_of(t), binary[i].text, cxx_of(t),
			 a.text, b.text);
	else if (binary[i].how == PLAIN)
		emit_add(e, " = (%s)(%s %s %s);\n", cxx_of(t), a.text, binary[i].text, b.text);
	else if (binary[i].how == WRAP)
		emit_add(e, " = (%s)((uint64_t)%s %s (uint64_t)%s);\n", cxx_of(t), a.text,
			 binary[i].text, b.text);
	else
		emit_add(e, " = (%s)((%s)%s %s (%s)%s);\n", cxx_of(t), unsigned_of(t), a.text,
			 binary[i].text, unsigned_of(t), b.text);
	return true;
}

/* ---- Choices ------------------------------------------------------------------------------- */

static bool min_max(struct emit *e, struct pto_op *op)
{
	struct emit_name a, b;
	const char *sign = ">", *cast = "";

	switch (pto_code(op)) {
	case PTO_OP_MINSI:
		sign = "<";
		break;
	case PTO_OP_MAXSI:
		break;
	case PTO_OP_MINUI:
		sign = "<";
		cast = unsigned_of(op->result[0].type);
		break;
	case PTO_OP_MAXUI:
		cast = unsigned_of(op->result[0].type);
		break;
	default:
		return false;
	}
	a = emit_name(e, op->operand[0].value);
	b = emit_name(e, op->operand[1].value);
	emit_define(e, &op->result[0]);
	if (*cast)
		emit_add(e, " = (%s)%s %s (%s)%s ? %s : %s;\n", cast, a.text, sign, cast, b.text,
			 a.text, b.text);
	else
		emit_add(e, " = %s %s %s ? %s : %s;\n", a.text, sign, b.text, a.text, b.text);
	return true;
}

static void compare_int(struct emit *e, struct pto_op *op)
{
	static const char *const signs[] = { "==", "!=", "<", "<=", ">", ">=", "<", "<=", ">",
					     ">=" };
	int64_t p = pto_attr_int(op, "predicate", 0);
	const struct pto_type *t = op->operand[0].value->type;
	struct emit_name a = emit_name(e, op->operand[0].value);
	struct emit_name b = emit_name(e, op->operand[1].value);

	emit_define(e, &op->result[0]);
	if (p >= 6)
		emit_add(e, " = (%s)%s %s (%s)%s;\n", unsigned_of(t), a.text, signs[p],
			 unsigned_of(t), b.text);
	else
		emit_add(e, " = %s %s %s;\n", a.text, signs[p], b.text);
}

/* C's comparisons are ordered; the unordered ones are the negated opposites. */
static void compare_float(struct emit *e, struct pto_op *op)
{
	static const char *const forms[] = {
		"false", "a == b", "a > b", "a >= b", "a < b", "a <= b", "(a < b || a > b)",
		"(a == a && b == b)", "!(a < b || a > b)", "!(a <= b)", "!(a < b)", "!(a >= b)",
		"!(a > b)", "!(a == b)", "(a != a || b != b)", "true",
	};
	const char *form = forms[pto_attr_int(op, "predicate", 0) & 15];
	struct emit_name a = emit_name(e, op->operand[0].value);
	struct emit_name b = emit_name(e, op->operand[1].value);

	emit_define(e, &op->result[0]);
	emit_add(e, " = ");
	if (strlen(form) < 6 && (form[0] == 't' || form[0] == 'f')) {
		emit_add(e, "%s;\n", form);
		return;
	}
	for (; *form; form++)
		if (*form == 'a' || *form == 'b')
			emit_add(e, "%s", *form == 'a' ? a.text : b.text);
		else
			pto_text_char(e->out, *form);
	emit_add(e, ";\n");
}

static void extended_mul(struct emit *e, struct pto_op *op)
{
	const struct pto_type *t = op->result[0].type;
	bool is_signed = op->info->code == PTO_OP_MULSI_EXTENDED;
	const char *wide = is_signed ? "__int128" : "unsigned __int128";
	const char *narrow = is_signed ? cxx_of(t) : unsigned_of(t);
	struct emit_name a = emit_name(e, op->operand[0].value);
	struct emit_name b = emit_name(e, op->operand[1].value);
	unsigned int i;

	for (i = 0; i < 2 && i < op->n_results; i++) {
		emit_define(e, &op->result[i]);
		emit_add(e, " = (%s)(((%s)(%s)%s * (%s)(%s)%s) >> %u);\n", cxx_of(t), wide, narrow,
			 a.text, wide, narrow, b.text,
			 i ? pto_elem_info((enum pto_elem)t->elem)->bits : 0);
	}
}

static void extended_add(struct emit *e, struct pto_op *op)
{
	const struct pto_type *t = op->result[0].type;
	const char *u = unsigned_of(t);
	struct emit_name a = emit_name(e, op->operand[0].value);
	struct emit_name b = emit_name(e, op->operand[1].value);

	emit_define(e, &op->result[0]);
	emit_add(e, " = (%s)((%s)%s + (%s)%s);\n", cxx_of(t), u, a.text, u, b.text);
	if (op->n_results < 2)
		return;
	emit_define(e, &op->result[1]);
	emit_add(e, " = (%s)%s < (%s)%s;\n", u, emit_name(e, &op->result[0]).text, u, a.text);
}

/* ---- One operand --------------------------------------------------------------------------- */

static void convert(struct emit *e, struct pto_op *op)
{
	const struct pto_type *from = op->operand[0].value->type, *to = op->result[0].type;
	enum pto_opcode code = pto_code(op);
	bool is_unsigned = code == PTO_OP_EXTUI || code == PTO_OP_UITOFP ||
			   code == PTO_OP_INDEX_CASTUI;
	struct emit_name a = emit_name(e, op->operand[0].value);

	emit_define(e, &op->result[0]);
	if (code == PTO_OP_ARITH_BITCAST)
		emit_add(e, " = ptoas_bitcast<%s>(%s);\n", cxx_of(to), a.text);
	else if (is_unsigned)
		emit_add(e, " = (%s)(%s)%s;\n", cxx_of(to), unsigned_of(from), a.text);
	else if (code == PTO_OP_FPTOUI)
		emit_add(e, " = (%s)(%s)%s;\n", cxx_of(to), unsigned_of(to), a.text);
	else if ((code == PTO_OP_EXTSI || code == PTO_OP_SITOFP) && from->elem == PTO_I1)
		emit_add(e, " = (%s)-(int)%s;\n", cxx_of(to), a.text);
	else if (code == PTO_OP_TRUNCI && to->elem == PTO_I1)
		emit_add(e, " = (%s & 1) != 0;\n", a.text);
	else
		emit_add(e, " = (%s)%s;\n", cxx_of(to), a.text);
}

static bool one_operand(struct emit *e, struct pto_op *op)
{
	switch (pto_code(op)) {
	case PTO_OP_NEGF:
		emit_define(e, &op->result[0]);
		emit_add(e, " = -%s;\n", emit_name(e, op->operand[0].value).text);
		return true;
	case PTO_OP_ABSF:
		emit_define(e, &op->result[0]);
		emit_add(e, " = (%s)__builtin_fabs((double)%s);\n", cxx_of(op->result[0].type),
			 emit_name(e, op->operand[0].value).text);
		return true;
	case PTO_OP_ABSI:
		emit_define(e, &op->result[0]);
		emit_add(e, " = %s < 0 ? (%s)(0 - (uint64_t)%s) : %s;\n",
			 emit_name(e, op->operand[0].value).text, cxx_of(op->result[0].type),
			 emit_name(e, op->operand[0].value).text,
			 emit_name(e, op->operand[0].value).text);
		return true;
	default:
		if (op->info->rule != PTO_RULE_CAST)
			return false;
		convert(e, op);
		return true;
	}
}

static bool more(struct emit *e, struct pto_op *op)
{
	struct emit_name a, b;

	switch (pto_code(op)) {
	case PTO_OP_CMPI:
		compare_int(e, op);
		return true;
	case PTO_OP_CMPF:
		compare_float(e, op);
		return true;
	case PTO_OP_SELECT:
		a = emit_passed(e, op, op->operand[1].value);
		b = emit_passed(e, op, op->operand[2].value);
		emit_define(e, &op->result[0]);
		emit_add(e, " = %s ? %s : %s;\n", emit_name(e, op->operand[0].value).text, a.text,
			 b.text);
		return true;
	case PTO_OP_REMF:
		a = emit_name(e, op->operand[0].value);
		b = emit_name(e, op->operand[1].value);
		emit_define(e, &op->result[0]);
		emit_add(e, " = (%s)__builtin_fmod((double)%s, (double)%s);\n",
			 cxx_of(op->result[0].type), a.text, b.text);
		return true;
	case PTO_OP_CEILDIVUI:
		a = emit_name(e, op->operand[0].value);
		b = emit_name(e, op->operand[1].value);
		emit_define(e, &op->result[0]);
		emit_add(e, " = (%s)ptoas_ceildiv<uint64_t>((%s)%s, (%s)%s);\n",
			 cxx_of(op->result[0].type), unsigned_of(op->result[0].type), a.text,
			 unsigned_of(op->result[0].type), b.text);
		return true;
	case PTO_OP_MULSI_EXTENDED:
	case PTO_OP_MULUI_EXTENDED:
		extended_mul(e, op);
		return true;
	case PTO_OP_ADDUI_EXTENDED:
		extended_add(e, op);
		return true;
	default:
		return false;
	}
}

bool emit_arith(struct emit *e, struct pto_op *op)
{
	if (op->info->code == PTO_OP_CONSTANT) {
		emit_constant(e, op);
		return true;
	}
	return two_operands(e, op) || min_max(e, op) || more(e, op) || one_operand(e, op);
}
