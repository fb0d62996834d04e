/* SPDX-License-Identifier: MIT */
/* Tile instructions: a plain call in the table's order, or a form with template arguments. */
#include <stdio.h>
#include <string.h>

#include "emit.h"

#define MAX_ARGS	16

struct call {
	struct pto_op *op;
	struct emit_name in[MAX_ARGS], tmp[MAX_ARGS], out[MAX_ARGS];
	unsigned int n_in, n_tmp, n_out;
};

/* ---- Enumerations -------------------------------------------------------------------------- */

static const struct {
	uint8_t of;
	const char *cxx;	/* enumeration */
	const char *values;	/* in the attribute's order */
} enums[] = {
	{ PTO_A_CMP, "CmpMode", "EQ NE LT LE GT GE" },
	{ PTO_A_ROUND_MODE, "RoundMode", "CAST_NONE CAST_RINT CAST_ROUND CAST_FLOOR CAST_CEIL "
					 "CAST_TRUNC CAST_ODD CAST_RINT" },
	{ PTO_A_SATURATION_MODE, "SaturationMode", "ON OFF" },
	{ PTO_A_ST_PHASE, "STPhase", "Unspecified Partial Final" },
	{ PTO_A_ATOMIC_TYPE, "AtomicType", "AtomicNone AtomicAdd" },
	{ PTO_A_RELU_PRE_MODE, "ReluPreMode", "NoRelu NormalRelu" },
	{ PTO_A_GATHER_OOB, "pto::GatherOOB", "Undefined Clamp Wrap Zero" },
	{ PTO_A_SCATTER_OOB, "pto::ScatterOOB", "Undefined Skip Clamp Wrap" },
	{ PTO_A_SCATTER_ATOMIC_OP, "pto::ScatterAtomicOp", "None Add Max Min" },
	{ PTO_A_ACC_TO_VEC_MODE, "AccToVecMode", "SingleModeVec0 SingleModeVec1 DualModeSplitM "
						 "DualModeSplitN" },
	{ PTO_A_MASK_PATTERN, "MaskPattern", "P0101 P1010 P0001 P0010 P0100 P1000 P1111" },
	{ PTO_A_QUANT_TYPE, "pto::QuantType", "INT8_SYM INT8_ASYM" },
	{ PTO_A_COALESCE, "pto::Coalesce", "Row Elem" },
	{ PTO_A_ACC_PHASE, "AccPhase", "Unspecified Partial Final" },
	{ PTO_A_DIV_PRECISION, "DivAlgorithm", "DEFAULT HIGH_PRECISION" },
	{ PTO_A_EXP_PRECISION, "ExpAlgorithm", "DEFAULT HIGH_PRECISION" },
	{ PTO_A_LOG_PRECISION, "LogAlgorithm", "DEFAULT HIGH_PRECISION" },
	{ PTO_A_SQRT_PRECISION, "SqrtAlgorithm", "DEFAULT HIGH_PRECISION" },
	{ PTO_A_RSQRT_PRECISION, "RsqrtAlgorithm", "DEFAULT HIGH_PRECISION" },
	{ PTO_A_RECIP_PRECISION, "RecipAlgorithm", "DEFAULT HIGH_PRECISION" },
};

const char *emit_enum(const struct pto_attr *a, char *text, size_t size)
{
	size_t i;

	for (i = 0; i < sizeof(enums) / sizeof(enums[0]); i++) {
		const char *v = enums[i].values;
		int64_t n = a->i;

		if (enums[i].of != a->of)
			continue;
		for (; n > 0 && *v; n--)
			v += strcspn(v, " ") + (v[strcspn(v, " ")] == ' ');
		snprintf(text, size, "%s::%.*s", enums[i].cxx, (int)strcspn(v, " "), v);
		return text;
	}
	snprintf(text, size, "%lld", (long long)a->i);
	return text;
}

/* The attribute as C++; @otherwise when it is absent. */
struct enum_text {
	char text[64];
};

static struct enum_text attr(const struct pto_op *op, const char *name, const char *otherwise)
{
	const struct pto_attr *a = pto_attr_find(op, name);
	struct enum_text t;

	if (a && a->kind == PTO_ATTR_ENUM)
		emit_enum(a, t.text, sizeof(t.text));
	else if (a && (a->kind == PTO_ATTR_INT || a->kind == PTO_ATTR_BOOL))
		snprintf(t.text, sizeof(t.text), "%lld", (long long)a->i);
	else
		snprintf(t.text, sizeof(t.text), "%s", otherwise);
	return t;
}

static bool given(const struct pto_op *op, const char *name)
{
	return pto_attr_find(op, name) != NULL;
}

/* ---- Operands ------------------------------------------------------------------------------ */

static struct emit_name operand(struct emit *e, struct pto_op *op, struct pto_use *u)
{
	if (pto_is_global(u->value->type))
		return emit_global(e, op, u->value);
	return emit_name(e, u->value);
}

static void read_call(struct emit *e, struct pto_op *op, struct call *c)
{
	bool io = !strncmp(op->info->format, "io", 2);
	unsigned int i;

	*c = (struct call){ .op = op };
	for (i = 0; i < op->n_operands; i++) {
		struct pto_use *u = &op->operand[i];

		if ((io && u->group > 1) || c->n_in == MAX_ARGS || c->n_out == MAX_ARGS ||
		    c->n_tmp == MAX_ARGS)
			continue;
		if (io && u->group == 1)
			c->out[c->n_out++] = operand(e, op, u);
		else if (u->role == PTO_ROLE_SCRATCH)
			c->tmp[c->n_tmp++] = operand(e, op, u);
		else
			c->in[c->n_in++] = operand(e, op, u);
	}
}

static void argument(struct emit *e, bool *first, const char *text)
{
	emit_add(e, "%s%s", *first ? "" : ", ", text);
	*first = false;
}

static void arguments(struct emit *e, bool *first, const struct emit_name *names, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		argument(e, first, names[i].text);
}

/* One word of an order: "o0", "i*", "tmp", "@attr". */
static void ordered(struct emit *e, const struct call *c, const char *word, size_t size,
		    bool *first)
{
	bool in = word[0] == 'i';
	const struct emit_name *names = in ? c->in : c->out;
	unsigned int n = in ? c->n_in : c->n_out, k = (unsigned int)(word[1] - '0');
	char name[32];

	if (word[0] == '@') {
		snprintf(name, sizeof(name), "%.*s", (int)size - 1, word + 1);
		if (!strcmp(name, "rmode"))
			argument(e, first, attr(c->op, name, "RoundMode::CAST_RINT").text);
		else if (!strcmp(name, "cmpMode"))
			argument(e, first, attr(c->op, name, "CmpMode::EQ").text);
		else if (given(c->op, name))
			argument(e, first, attr(c->op, name, "").text);
	} else if (size == 3) {
		arguments(e, first, c->tmp, c->n_tmp);
	} else if (word[1] == '*') {
		arguments(e, first, names, n);
	} else if (k < n) {
		argument(e, first, names[k].text);
	}
}

/* Outputs, then inputs as they stand in the text, scratch among them. */
static void as_written(struct emit *e, const struct call *c, bool *first)
{
	unsigned int i, in = 0, tmp = 0;

	arguments(e, first, c->out, c->n_out);
	for (i = 0; i < c->op->n_operands; i++) {
		const struct pto_use *u = &c->op->operand[i];

		if (u->group)
			continue;
		if (u->role == PTO_ROLE_SCRATCH)
			argument(e, first, c->tmp[tmp++].text);
		else
			argument(e, first, c->in[in++].text);
	}
}

static void plain_call(struct emit *e, const struct call *c)
{
	const char *order = c->op->info->order;
	bool first = true;

	emit_begin(e);
	emit_add(e, "%s", c->op->info->cxx);
	if (given(c->op, "precisionType"))
		emit_add(e, "<%s>", attr(c->op, "precisionType", "").text);
	else if (given(c->op, "accPhase"))
		emit_add(e, "<%s>", attr(c->op, "accPhase", "").text);
	emit_add(e, "(");
	if (!order)
		as_written(e, c, &first);
	while (order && *order) {
		size_t size = strcspn(order, " ");

		ordered(e, c, order, size, &first);
		order += size + (order[size] == ' ');
	}
	emit_add(e, ");\n");
}

/* "NAME<decltype(a), decltype(b)", without the closing bracket */
static void open_template(struct emit *e, const char *name, unsigned int n,
			  const struct emit_name *const *types)
{
	unsigned int i;

	emit_begin(e);
	emit_add(e, "%s<", name);
	for (i = 0; i < n; i++)
		emit_add(e, "%sdecltype(%s)", i ? ", " : "", types[i]->text);
}

/* ---- Movement ------------------------------------------------------------------------------ */

static void store(struct emit *e, struct call *c)
{
	struct pto_op *op = c->op;
	bool phase = given(op, "stPhase"), atomic = given(op, "atomicType");
	bool relu = given(op, "reluPreMode"), quant = c->n_in > 1;

	if (!phase && !atomic && !relu && !quant) {
		plain_call(e, c);
		return;
	}
	emit_begin(e);
	emit_add(e, "TSTORE<");
	if (phase)
		emit_add(e, "%s", attr(op, "stPhase", "").text);
	if (atomic || relu || quant)
		emit_add(e, "%sdecltype(%s), decltype(%s), %s", phase ? ", " : "", c->in[0].text,
			 c->out[0].text, attr(op, "atomicType", "AtomicType::AtomicNone").text);
	if (relu || quant)
		emit_add(e, ", %s", attr(op, "reluPreMode", "ReluPreMode::NoRelu").text);
	emit_add(e, ">(%s, %s", c->out[0].text, c->in[0].text);
	if (quant)
		emit_add(e, ", (uint64_t)%s", c->in[1].text);
	emit_add(e, ");\n");
}

/* A move that converts: by a parameter tile, a number, a mode, a rectifier. */
static void move(struct emit *e, struct call *c)
{
	const struct emit_name *types[3] = { &c->out[0], &c->in[0], &c->in[1] };
	struct pto_op *op = c->op;
	bool fp = c->n_in > 1 && pto_is_local(pto_operand(op, 0)[1].value->type);
	bool quant = c->n_in > (fp ? 2u : 1u);
	bool mode = given(op, "accToVecMode"), relu = given(op, "reluPreMode");

	if (!fp && !quant && !mode && !relu) {
		plain_call(e, c);
		return;
	}
	if (fp && !mode) {
		open_template(e, "TMOV_FP", 3, types);
	} else {
		open_template(e, "TMOV", fp ? 3 : 2, types);
		if (mode)
			emit_add(e, ", %s", attr(op, "accToVecMode", "").text);
	}
	if (relu || (!fp && !mode) || (fp && mode))
		emit_add(e, ", %s", attr(op, "reluPreMode", "ReluPreMode::NoRelu").text);
	emit_add(e, ">(%s, %s", c->out[0].text, c->in[0].text);
	if (fp)
		emit_add(e, ", %s", c->in[1].text);
	if (quant)
		emit_add(e, ", (uint64_t)%s", c->in[fp ? 2 : 1].text);
	emit_add(e, ");\n");
}

/* textract, tinsert, their _fp forms, tmov.fp, tstore_fp: one optional rectifier. */
static void with_relu(struct emit *e, struct call *c, unsigned int n_types)
{
	const struct emit_name *types[3] = { &c->out[0], &c->in[0], &c->in[1] };
	bool first = true;

	if (c->op->info->code == PTO_OP_TSTORE_FP) {
		types[0] = &c->in[0];
		types[1] = &c->out[0];
	}
	if (!given(c->op, "reluPreMode")) {
		plain_call(e, c);
		return;
	}
	open_template(e, c->op->info->cxx, n_types, types);
	emit_add(e, ", %s>(", attr(c->op, "reluPreMode", "").text);
	as_written(e, c, &first);
	emit_add(e, ");\n");
}

/* ---- Gather, scatter, sort ----------------------------------------------------------------- */

static const char *axis(const struct pto_op *op, const char *kind, char *text, size_t size)
{
	const struct pto_attr *a = pto_attr_find(op, "axis");

	text[0] = '\0';
	if (a && a->kind == PTO_ATTR_STRING)
		snprintf(text, size, ", pto::%s::%s", kind,
			 !strcmp(a->text->text, "col") ? "COL" : "ROW");
	return text;
}

static void gather(struct emit *e, struct call *c)
{
	const struct emit_name *types[4] = { &c->out[0], &c->in[0], &c->out[1], &c->tmp[0] };
	char text[48];

	if (given(c->op, "maskPattern")) {
		open_template(e, "TGATHER", 2, types);
		emit_add(e, ", %s%s>(%s, %s);\n", attr(c->op, "maskPattern", "").text,
			 axis(c->op, "GatherAxis", text, sizeof(text)), c->out[0].text,
			 c->in[0].text);
	} else if (c->n_out == 2 && c->n_tmp == 1 && c->n_in == 2) {
		open_template(e, "TGATHER", 4, types);
		emit_add(e, ", %s, %s>(%s, %s, %s, %s, %s);\n",
			 attr(c->op, "cmpMode", "CmpMode::EQ").text,
			 attr(c->op, "offset", "0").text, c->out[0].text, c->in[0].text,
			 c->in[1].text, c->out[1].text, c->tmp[0].text);
	} else if (c->n_in == 2) {
		emit_line(e, "TGATHER(%s, %s, %s);", c->out[0].text, c->in[0].text, c->in[1].text);
	} else {
		emit_fail(e, c->op, "needs an index tile or attribute maskPattern");
	}
}

static void scatter(struct emit *e, struct call *c)
{
	char text[48];

	if (given(c->op, "maskPattern"))
		emit_line(e, "TSCATTER<%s%s>(%s, %s);", attr(c->op, "maskPattern", "").text,
			  axis(c->op, "ScatterAxis", text, sizeof(text)), c->out[0].text,
			  c->in[0].text);
	else
		plain_call(e, c);
}

static void memory_gather(struct emit *e, struct call *c)
{
	bool scatters = c->op->info->code == PTO_OP_MSCATTER;
	static const char *const gather_attrs[] = { "coalesce", "gatherOob", NULL };
	static const char *const scatter_attrs[] = { "coalesce", "scatterAtomicOp", "scatterOob",
						     NULL };
	const char *const *names = scatters ? scatter_attrs : gather_attrs;
	const char *sep = "<";
	bool open = false;

	emit_begin(e);
	emit_add(e, "%s", c->op->info->cxx);
	for (; *names; names++) {
		bool fill = !strcmp(*names, "scatterAtomicOp") && given(c->op, "scatterOob");

		if (!given(c->op, *names) && !fill)
			continue;
		emit_add(e, "%s%s", sep, attr(c->op, *names, "pto::ScatterAtomicOp::None").text);
		sep = ", ";
		open = true;
	}
	emit_add(e, "%s(%s, %s, %s);\n", open ? ">" : "", c->out[0].text, c->in[0].text,
		 c->in[1].text);
}

static void merge(struct emit *e, struct call *c)
{
	const struct emit_name *types[6] = { &c->out[0], &c->tmp[0] };
	unsigned int i;
	bool first = true;

	if (c->n_out < 2) {
		emit_line(e, "TMRGSORT(%s, %s, %s);", c->out[0].text, c->in[0].text,
			  c->in[1].text);
		return;
	}
	for (i = 0; i < c->n_in && i < 4; i++)
		types[2 + i] = &c->in[i];
	open_template(e, "TMRGSORT", 2 + i, types);
	emit_add(e, ", %s>(", pto_attr_int(c->op, "exhausted", 0) ? "true" : "false");
	arguments(e, &first, c->out, 2);
	arguments(e, &first, c->tmp, 1);
	arguments(e, &first, c->in, c->n_in);
	emit_add(e, ");\n");
}

/* ---- Others -------------------------------------------------------------------------------- */

/* Two calls; with the last source in the output's place the instruction that does both. */
static void three_sources(struct emit *e, struct call *c, const char *one, const char *two)
{
	if (!strcmp(c->out[0].text, c->in[2].text)) {
		plain_call(e, c);
		return;
	}
	emit_line(e, "%s(%s, %s, %s);", one, c->out[0].text, c->in[0].text, c->in[1].text);
	emit_line(e, "%s(%s, %s, %s);", two, c->out[0].text, c->out[0].text, c->in[2].text);
}

static void colsum(struct emit *e, struct call *c)
{
	if (c->n_tmp)
		emit_line(e, "TCOLSUM(%s, %s, %s, %s);", c->out[0].text, c->in[0].text,
			  c->tmp[0].text, pto_attr_int(c->op, "isBinary", 0) ? "true" : "false");
	else
		plain_call(e, c);
}

static void sequence(struct emit *e, struct call *c)
{
	const struct pto_type *t = pto_operand(c->op, 0)->value->type;

	emit_line(e, "TCI<decltype(%s), %s, %d>(%s, %s);", c->out[0].text,
		  pto_elem_info((enum pto_elem)t->elem)->cxx,
		  pto_attr_int(c->op, "descending", 0) != 0, c->out[0].text, c->in[0].text);
}

static void quantise(struct emit *e, struct call *c)
{
	const struct emit_name *types[3] = { &c->out[0], &c->in[0], &c->in[1] };
	unsigned int i;

	emit_begin(e);
	emit_add(e, "TQUANT<%s", attr(c->op, "quant_type", "").text);
	for (i = 0; i < 3; i++)
		emit_add(e, ", decltype(%s)", types[i]->text);
	emit_add(e, ">(%s, %s, %s%s%s);\n", c->out[0].text, c->in[0].text, c->in[1].text,
		 c->n_in > 2 ? ", &" : "", c->n_in > 2 ? c->in[2].text : "");
}

static void random(struct emit *e, struct call *c)
{
	emit_line(e, "PTOAS__TRANDOM<%s>(%s, %s, %s, %s, %s, %s, %s);",
		  attr(c->op, "rounds", "10").text, c->out[0].text, c->in[0].text, c->in[1].text,
		  c->in[2].text, c->in[3].text, c->in[4].text, c->in[5].text);
}

static bool special(struct emit *e, struct call *c)
{
	switch (pto_code(c->op)) {
	case PTO_OP_TSTORE:
		store(e, c);
		return true;
	case PTO_OP_TMOV:
		move(e, c);
		return true;
	case PTO_OP_TEXTRACT:
	case PTO_OP_TINSERT:
		with_relu(e, c, 2);
		return true;
	case PTO_OP_TMOV_FP:
	case PTO_OP_TEXTRACT_FP:
	case PTO_OP_TINSERT_FP:
	case PTO_OP_TSTORE_FP:
		with_relu(e, c, 3);
		return true;
	case PTO_OP_TGATHER:
		gather(e, c);
		return true;
	case PTO_OP_TSCATTER:
		scatter(e, c);
		return true;
	case PTO_OP_MGATHER:
	case PTO_OP_MSCATTER:
		memory_gather(e, c);
		return true;
	case PTO_OP_TMRGSORT:
		merge(e, c);
		return true;
	case PTO_OP_TADDC:
		three_sources(e, c, "TADD", "TADD");
		return true;
	case PTO_OP_TSUBC:
		three_sources(e, c, "TSUB", "TADD");
		return true;
	case PTO_OP_TADDSC:
		three_sources(e, c, "TADDS", "TADD");
		return true;
	case PTO_OP_TSUBSC:
		three_sources(e, c, "TSUBS", "TADD");
		return true;
	case PTO_OP_TCOLSUM:
		colsum(e, c);
		return true;
	case PTO_OP_TCI:
		sequence(e, c);
		return true;
	case PTO_OP_TTRI:
		emit_line(e, "TTRI<decltype(%s), %s>(%s, %s);", c->out[0].text,
			  attr(c->op, "upperOrLower", "0").text, c->out[0].text, c->in[0].text);
		return true;
	case PTO_OP_TQUANT:
		quantise(e, c);
		return true;
	case PTO_OP_TRANDOM:
		random(e, c);
		return true;
	case PTO_OP_THISTOGRAM:
		emit_line(e, "THISTOGRAM<HistByte::BYTE_%s>(%s, %s, %s);",
			  attr(c->op, "byte", "0").text, c->out[0].text, c->in[0].text,
			  c->in[1].text);
		return true;
	default:
		return false;
	}
}

/* Scalars out of and into tiles and memory. */
static bool scalar_access(struct emit *e, struct pto_op *op)
{
	struct pto_use *u = op->operand;

	switch (pto_code(op)) {
	case PTO_OP_TGETVAL:
		emit_define(e, &op->result[0]);
		emit_add(e, " = %s.GetValue(%s);\n", emit_name(e, u[0].value).text,
			 emit_int(e, u[1].value).text);
		return true;
	case PTO_OP_TSETVAL:
		emit_line(e, "%s.SetValue(%s, %s);", emit_name(e, u[2].value).text,
			  emit_int(e, u[0].value).text, emit_name(e, u[1].value).text);
		return true;
	case PTO_OP_LOAD_SCALAR:
		emit_define(e, &op->result[0]);
		emit_add(e, " = %s[%s];\n", emit_name(e, u[0].value).text,
			 emit_int(e, u[1].value).text);
		return true;
	case PTO_OP_STORE_SCALAR:
		emit_line(e, "%s[%s] = %s;", emit_name(e, u[1].value).text,
			  emit_int(e, u[2].value).text, emit_name(e, u[0].value).text);
		return true;
	default:
		return false;
	}
}

bool emit_tile_op(struct emit *e, struct pto_op *op)
{
	struct call c;

	if (scalar_access(e, op))
		return true;
	if (!op->info->cxx || op->info->code == PTO_OP_TRESHAPE ||
	    op->info->code == PTO_OP_TPUSH || op->info->code == PTO_OP_TPOP ||
	    op->info->code == PTO_OP_TFREE)
		return false;
	read_call(e, op, &c);
	if (!special(e, &c))
		plain_call(e, &c);
	return true;
}
