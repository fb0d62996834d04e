/* SPDX-License-Identifier: MIT */
/* Operands by the letters of the signature, attributes by the list of the operation. */
#include <stdio.h>
#include <string.h>

#include "verify.h"

/* ---- Attributes ------------------------------------------------------------------------------ */

/* Reads one "name:kind" entry. */
struct spec {
	const char *name, *kind;
	size_t name_size, kind_size;
	bool required;
};

static bool next_spec(const char **at, struct spec *s)
{
	const char *p = *at;

	while (*p == ' ')
		p++;
	if (!*p)
		return false;
	s->name = p;
	s->name_size = strcspn(p, ": ");
	p += s->name_size;
	s->kind = *p == ':' ? ++p : "*";
	s->kind_size = strcspn(p, " !");
	p += s->kind_size;
	s->required = *p == '!';
	*at = p + s->required;
	return true;
}

static bool kind_matches(const struct spec *s, const struct pto_attr *a)
{
	if (s->kind_size > 1)
		return a->kind == PTO_ATTR_ENUM &&
		       a->of == pto_attr_enum_by_name(s->kind, s->kind_size);
	switch (*s->kind) {
	case 'i':
		return a->kind == PTO_ATTR_INT;
	case 'b':
		return a->kind == PTO_ATTR_BOOL || a->kind == PTO_ATTR_UNIT;
	case 'u':
		return a->kind == PTO_ATTR_UNIT;
	case 's':
		return a->kind == PTO_ATTR_STRING;
	case 'y':
		return a->kind == PTO_ATTR_SYMBOL;
	case 'a':
		return a->kind == PTO_ATTR_ARRAY;
	}
	return true;
}

static const char *kind_text(const struct spec *s, char text[64])
{
	static const char letters[] = "ibusya";
	static const char *const words[] = { "an integer", "true or false", "no value", "a string",
					     "a symbol", "an array" };
	const char *at = strchr(letters, *s->kind);

	if (s->kind_size == 1 && at)
		return words[at - letters];
	snprintf(text, 64, "#pto.%.*s<...>", (int)s->kind_size, s->kind);
	return text;
}

static bool is_spec(const struct spec *s, const struct pto_attr *a)
{
	return a->name->size == s->name_size && !memcmp(a->name->text, s->name, s->name_size);
}

static int verify_attr(struct verify *v, const struct pto_attr *a)
{
	const char *at = v->op->info->attrs;
	char text[64], hint[200];
	struct spec s;

	if (strchr(a->name->text, '.'))
		return 0;
	while (next_spec(&at, &s)) {
		if (s.name_size == 1 && *s.name == '*')
			return 0;
		if (!is_spec(&s, a))
			continue;
		if (kind_matches(&s, a))
			return 0;
		return bad(v, NULL, "attribute '%s' must be %s", a->name->text,
			   kind_text(&s, text));
	}
	snprintf(hint, sizeof(hint),
		 *v->op->info->attrs ? "it takes: %s" : "it takes no attributes",
		 v->op->info->attrs);
	return bad(v, hint, "has no attribute '%s'", a->name->text);
}

int verify_attrs(struct verify *v)
{
	const char *at = v->op->info->attrs;
	struct spec s;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < v->op->n_attrs; i++)
		ret |= verify_attr(v, &v->op->attr[i]);
	while (next_spec(&at, &s)) {
		if (!s.required)
			continue;
		for (i = 0; i < v->op->n_attrs && !is_spec(&s, &v->op->attr[i]); i++)
			;
		if (i == v->op->n_attrs)
			ret |= bad(v, NULL, "requires attribute '%.*s'", (int)s.name_size, s.name);
	}
	return ret ? -EINVAL : 0;
}

/* ---- Operands -------------------------------------------------------------------------------- */

/* "src", "src0", "dst", "tmp": what messages call operand @i. */
static const char *operand_name(const struct verify *v, unsigned int i, char name[16])
{
	unsigned int before = 0, all = 0, k;
	uint8_t group = v->op->operand[i].group;
	bool tmp = v->items[i].role == PTO_ROLE_SCRATCH;

	for (k = 0; k < v->op->n_operands; k++) {
		if (v->op->operand[k].group != group ||
		    (v->items[k].role == PTO_ROLE_SCRATCH) != tmp)
			continue;
		all++;
		before += k < i;
	}
	snprintf(name, 16, all > 1 ? "%s%u" : "%s", tmp ? "tmp" : group == 1 ? "dst" : "src",
		 before);
	return name;
}

static enum pto_space space_of_kind(const struct verify *v, char kind)
{
	switch (kind) {
	case 'L':
		return PTO_SPACE_LEFT;
	case 'R':
		return PTO_SPACE_RIGHT;
	case 'A':
		return PTO_SPACE_ACC;
	case 'B':
		return PTO_SPACE_BIAS;
	case 'S':
		return PTO_SPACE_SCALING;
	case 't':
		return v->op->info->code == PTO_OP_TEXPANDS ? PTO_SPACE_NONE : PTO_SPACE_VEC;
	case 'u':
	case 'm':
	case 'x':
		return PTO_SPACE_VEC;
	}
	return PTO_SPACE_NONE;
}

static int verify_space(struct verify *v, unsigned int i)
{
	enum pto_space want = space_of_kind(v, v->items[i].kind);
	enum pto_space have = pto_type_space(v->op->operand[i].value->type);
	char name[16];

	if (want == PTO_SPACE_NONE || want == have)
		return 0;
	return bad(v, "move it there first: pto.tmov, pto.textract or pto.tload",
		   "expects %s to be in the %s address space, not in %s", operand_name(v, i, name),
		   pto_space_name(want), pto_space_name(have));
}

static int verify_elem(struct verify *v, unsigned int i, uint32_t mask)
{
	const struct pto_type *t = v->op->operand[i].value->type;
	char name[16], list[128];

	if (in_mask(t, mask))
		return 0;
	mask_text(mask, list, sizeof(list));
	return bad(v, "convert it: pto.tcvt", "expects %s element type %s to be %s on %s",
		   operand_name(v, i, name), elem_text(t), list,
		   v->arch == PTO_ARCH_A5 ? "A5" : "A2/A3");
}

/* All "t" operands have one type; scalars "s" have it too. */
static int verify_common(struct verify *v, unsigned int i, const struct pto_type **first)
{
	const struct pto_type *t = v->op->operand[i].value->type;
	char name[16];

	if (!*first)
		*first = t;
	if (class_bit(t) == class_bit(*first))
		return 0;
	return bad(v, "convert one of them: pto.tcvt",
		   "expects all tiles to have one element type, but %s has %s and another has %s",
		   operand_name(v, i, name), elem_text(t), elem_text(*first));
}

static int verify_scalar(struct verify *v, unsigned int i, const struct pto_type *tile)
{
	const struct pto_type *t = v->op->operand[i].value->type;

	if (!tile || class_bit(t) == class_bit(tile))
		return 0;
	return bad(v, "write the scalar with the tile's element type",
		   "expects scalar type %s to match element type %s", elem_text(t),
		   elem_text(tile));
}

#define T_(e)	(1u << PTO_##e)

static int verify_kind(struct verify *v, unsigned int i, const struct pto_type **tile)
{
	switch (v->items[i].kind) {
	case 't':
		if (verify_elem(v, i, v->op->info->types[v->arch]))
			return -EINVAL;
		return verify_common(v, i, tile);
	case 'm':
		return verify_elem(v, i, T_(I8) | T_(I16) | T_(I32));
	case 'x':
		return verify_elem(v, i, T_(I16) | T_(I32));
	}
	return 0;
}

int verify_operands(struct verify *v)
{
	const struct pto_type *tile = NULL;
	unsigned int i;

	for (i = 0; i < v->op->n_operands; i++)
		if (verify_space(v, i) || verify_kind(v, i, &tile))
			return -EINVAL;
	for (i = 0; i < v->op->n_operands; i++)
		if (v->items[i].kind == 's' && verify_scalar(v, i, tile))
			return -EINVAL;
	return 0;
}
