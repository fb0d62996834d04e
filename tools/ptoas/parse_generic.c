/* SPDX-License-Identifier: MIT */
/* "dialect.op"(%a, %b) ({...}) {...} : (T, T) -> T, which every operation has. Section 8.1. */
#include <string.h>

#include "parse.h"

static bool generic_name(struct parser *p, struct opstate *s)
{
	const struct pto_name *name;

	if (!string(p, &name))
		return false;
	s->code = (enum pto_opcode)name->opcode;
	if (s->code == PTO_OP_NONE || s->code == PTO_OP_FUNC)
		return fail(p, s->at, NULL, "unknown operation '%s'", name->text);
	return true;
}

/* "[^a, ^b]" */
static bool generic_successors(struct parser *p)
{
	return !take(p, '[') ||
	       fail(p, p->at, "write cf.br ^bb or cf.cond_br %c, ^a, ^b",
		    "successors in the generic form are not accepted");
}

/* Regions are read before the operation exists. */
static bool generic_regions(struct parser *p, struct pto_region *regions, unsigned int *n)
{
	if (!take(p, '('))
		return true;
	do {
		if (*n == 16)
			return fail(p, p->at, NULL, "more than 16 regions");
		regions[*n] = (struct pto_region){ 0 };
		if (!parse_region(p, &regions[*n], NULL))
			return false;
		++*n;
	} while (take(p, ','));
	return expect(p, ')');
}

static bool generic_types(struct parser *p, struct opstate *s)
{
	size_t i, n = p->operands.n - s->operands;
	const struct pto_type *t;

	if (!expect(p, ':') || !expect(p, '('))
		return false;
	for (i = 0; i < n; i++)
		if ((i && !expect(p, ',')) || !parse_typed(p, s, i))
			return false;
	if (!expect(p, ')'))
		return false;
	if (!take_text(p, "->"))
		return expect(p, '-');
	if (take(p, '('))
		return take(p, ')') || (parse_type_list(p) && expect(p, ')'));
	t = parse_type(p);
	return t && push(p, types, t);
}

/* An enumeration may be spelled as its number. */
static bool number_to_enum(struct parser *p, struct opstate *s)
{
	size_t i, size;

	for (i = s->attrs; i < p->attrs.n; i++) {
		struct pto_attr *a = &p->attrs.data[i];
		enum pto_attr_enum of = attr_kind_of(s->code, a->name->text, a->name->size);

		if (!of || a->kind != PTO_ATTR_INT)
			continue;
		if (!pto_attr_enum_value(of, a->i, &size))
			return fail(p, s->at, NULL, "attribute '%s' has no value %lld",
				    a->name->text, (long long)a->i);
		*a = (struct pto_attr){ .name = a->name, .kind = PTO_ATTR_ENUM, .of = (uint8_t)of,
					.i = a->i };
	}
	return true;
}

static bool is_segments(const struct pto_attr *a)
{
	return !strcmp(a->name->text, "operandSegmentSizes") ||
	       !strcmp(a->name->text, "operand_segment_sizes");
}

/* Groups by operandSegmentSizes, which then goes. *@done: it was there. */
static bool group_by_segments(struct parser *p, struct opstate *s, bool *done)
{
	size_t i, n = p->operands.n - s->operands, at = 0;
	int64_t k;
	uint32_t g;

	*done = false;
	for (i = s->attrs; i < p->attrs.n && !is_segments(&p->attrs.data[i]); i++)
		;
	if (i == p->attrs.n)
		return true;
	*done = true;
	if (p->attrs.data[i].kind != PTO_ATTR_ARRAY)
		return fail(p, s->at, NULL, "operandSegmentSizes is no array");
	for (g = 0; g < p->attrs.data[i].count; g++)
		for (k = 0; k < p->attrs.data[i].list[g].i && at < n; k++)
			p->operands.data[s->operands + at++].group = g;
	if (at != n || g > 255)
		return fail(p, s->at, NULL, "operandSegmentSizes does not sum up to %zu operands",
			    n);
	memmove(&p->attrs.data[i], &p->attrs.data[i + 1],
		(p->attrs.n - i - 1) * sizeof(p->attrs.data[0]));
	p->attrs.n--;
	return true;
}

/* Without segments: group g is operand g, and the last group takes what is left. */
static void group_by_number(struct parser *p, struct opstate *s)
{
	const char *sig = pto_op_info(s->code)->sig;
	unsigned int groups = 1, i;
	size_t n = p->operands.n - s->operands;

	for (; *sig && *sig != '|'; sig++)
		groups += *sig == ';' || *sig == '>';
	for (i = 0; i < n; i++)
		p->operands.data[s->operands + i].group = i < groups ? i : groups - 1;
}

/* ins and outs are one list here: the first division that the signature takes. */
static void divide_io(struct pto_op *op)
{
	struct pto_sig_item items[PTO_MAX_OPERANDS];
	unsigned int outs, i;

	for (outs = 0; outs <= op->n_operands; outs++) {
		for (i = 0; i < op->n_operands; i++)
			op->operand[i].group = i >= op->n_operands - outs;
		if (!pto_sig_match(op, items))
			return;
	}
}

static void adopt(struct pto_op *op, const struct pto_region *regions)
{
	unsigned int i;

	for (i = 0; i < op->n_regions; i++) {
		op->region[i].first = regions[i].first;
		op->region[i].last = regions[i].last;
		pto_for_each_block(b, &op->region[i])
			b->region = &op->region[i];
	}
}

static unsigned int regions_of(enum pto_opcode code)
{
	switch (code) {
	case PTO_OP_IF:
	case PTO_OP_WHILE:
		return 2;
	case PTO_OP_FOR:
	case PTO_OP_EXECUTE_REGION:
	case PTO_OP_SECTION_CUBE:
	case PTO_OP_SECTION_VECTOR:
		return 1;
	default:
		return 0;
	}
}

/* Regions that the text form always has. */
static bool complete(struct parser *p, struct opstate *s)
{
	unsigned int need = regions_of(s->code);

	if (s->op->n_regions != need && s->code != PTO_OP_INDEX_SWITCH)
		return fail(p, s->at, NULL, "%s has %u regions, not %u", s->op->info->name, need,
			    s->op->n_regions);
	if (s->code == PTO_OP_INDEX_SWITCH && !s->op->n_regions)
		return fail(p, s->at, NULL, "scf.index_switch has a default region");
	if (need == 1 || s->code == PTO_OP_WHILE || s->code == PTO_OP_IF)
		return s->op->region[0].first != NULL ||
		       fail(p, s->at, NULL, "%s has an empty region", s->op->info->name);
	return true;
}

bool parse_generic(struct parser *p, struct opstate *s, struct pto_block *b)
{
	struct pto_region regions[16];
	unsigned int n_regions = 0;
	bool grouped;

	if (!generic_name(p, s) || !expect(p, '(') || !parse_operands(p, s, ')') ||
	    !expect(p, ')') || !generic_successors(p))
		return false;
	if (take_text(p, "<{")) {
		p->at--;
		if (!parse_dict(p, s->code) || !expect(p, '>'))
			return false;
	}
	if (!generic_regions(p, regions, &n_regions))
		return false;
	if (peek(p) == '{' && !parse_dict(p, s->code))
		return false;
	if (!generic_types(p, s) || !number_to_enum(p, s) || !group_by_segments(p, s, &grouped))
		return false;
	if (!grouped)
		group_by_number(p, s);
	if (!op_finish(p, s, b, n_regions, 0))
		return false;
	adopt(s->op, regions);
	if (!strncmp(s->op->info->format, "io", 2) && !grouped)
		divide_io(s->op);
	return complete(p, s);
}
