/* SPDX-License-Identifier: MIT */
/* Attributes: section 8.4. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"

#define MAX_ATTRS	256

/* ---- Which enumeration an attribute of an operation has -------------------------------------- */

/* Finds "name:kind" in the operation's list; *@kind is the text behind the colon. */
static bool find_spec(enum pto_opcode code, const char *name, size_t size, struct span *kind)
{
	const char *s = pto_op_info(code)->attrs;

	while (*s) {
		size_t n = strcspn(s, ": ");

		if (n == size && !memcmp(s, name, n) && s[n] == ':') {
			kind->at = s + n + 1;
			kind->size = strcspn(kind->at, " !");
			return true;
		}
		s += strcspn(s, " ");
		s += *s == ' ';
	}
	return false;
}

enum pto_attr_enum attr_kind_of(enum pto_opcode code, const char *name, size_t size)
{
	struct span kind;

	if (!find_spec(code, name, size, &kind) || kind.size < 2)
		return PTO_A_NONE;
	return pto_attr_enum_by_name(kind.at, kind.size);
}

/* ---- Enumerations ---------------------------------------------------------------------------- */

static bool enum_value(struct parser *p, enum pto_attr_enum kind, int64_t *out)
{
	struct span s = word(p);
	char hint[400];
	size_t n;

	*out = pto_attr_enum_find(kind, s.at, s.size);
	if (*out >= 0)
		return true;
	snprintf(hint, sizeof(hint), "values are: %s", pto_attr_enum_value(kind, 0, &n));
	return fail(p, s.at, hint, "unknown %s '%.*s'", pto_attr_enum_name(kind), (int)s.size,
		    s.at);
}

static bool known_enum(struct parser *p, struct span s, enum pto_attr_enum *kind)
{
	*kind = pto_attr_enum_by_name(s.at, s.size);
	if (*kind == PTO_A_NONE)
		return fail(p, s.at, NULL, "unknown attribute kind '%.*s'", (int)s.size, s.at);
	return true;
}

/* "#pto.NAME<value>" or "#pto<NAME value>", behind the "#". */
static bool parse_hash(struct parser *p, enum pto_attr_enum want, struct pto_attr *out)
{
	enum pto_attr_enum kind;
	const char *start = p->at;
	struct span s = word(p);

	if (s.size == 3 && !memcmp(s.at, "pto", 3)) {
		if (!expect(p, '<') || !known_enum(p, word(p), &kind))
			return false;
	} else if (s.size > 4 && !memcmp(s.at, "pto.", 4)) {
		if (!known_enum(p, (struct span){ s.at + 4, s.size - 4 }, &kind) || !expect(p, '<'))
			return false;
	} else {
		return fail(p, start, "write #pto.cmp<lt> or #pto<cmp lt>", "unknown attribute");
	}
	if (want && want != kind)
		return fail(p, start, NULL, "expected #pto.%s, not #pto.%s",
			    pto_attr_enum_name(want), pto_attr_enum_name(kind));
	out->kind = PTO_ATTR_ENUM;
	out->of = (uint8_t)kind;
	return enum_value(p, kind, &out->i) && expect(p, '>');
}

bool parse_enum(struct parser *p, enum pto_attr_enum kind, int64_t *out)
{
	struct pto_attr a = { 0 };

	if (take(p, '<'))
		return enum_value(p, kind, out) && expect(p, '>');
	if (take(p, '#')) {
		if (!parse_hash(p, kind, &a))
			return false;
		*out = a.i;
		return true;
	}
	return enum_value(p, kind, out);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static bool is_float_text(const char *s)
{
	s += *s == '-';
	while (*s >= '0' && *s <= '9')
		s++;
	return *s == '.' || ((*s == 'e' || *s == 'E') && (s[1] == '-' || s[1] == '+' ||
							  (s[1] >= '0' && s[1] <= '9')));
}

static bool parse_float(struct parser *p, struct pto_attr *out)
{
	const char *start = p->at;
	char *end;

	out->kind = PTO_ATTR_FLOAT;
	out->f = strtod(start, &end);
	p->at = end;
	out->spelling = pto_intern(p->m, start, (size_t)(end - start));
	return out->spelling || no_memory(p);
}

static double float32_from_bits(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static double half_from_bits(uint32_t h)
{
	uint32_t sign = (h & 0x8000) << 16, exponent = h >> 10 & 31, mantissa = h & 0x3ff;
	double small = mantissa * 0x1p-24;

	if (!exponent)
		return sign ? -small : small;
	exponent = exponent == 31 ? 255 : exponent + 112;
	return float32_from_bits(sign | exponent << 23 | mantissa << 13);
}

/* The float whose bits an integer literal spells: "0x7F800000 : f32". */
static bool float_from_bits(struct parser *p, struct pto_attr *a)
{
	uint64_t bits = (uint64_t)a->i;

	a->kind = PTO_ATTR_FLOAT;
	switch (a->type->elem) {
	case PTO_F64:
		memcpy(&a->f, &bits, sizeof(a->f));
		return true;
	case PTO_F32:
		a->f = float32_from_bits((uint32_t)bits);
		return true;
	case PTO_BF16:
		a->f = float32_from_bits((uint32_t)bits << 16);
		return true;
	case PTO_F16:
		a->f = half_from_bits((uint32_t)bits & 0xffff);
		return true;
	}
	return fail(p, p->at, "write the value as a decimal number",
		    "hexadecimal literals are for f16, bf16, f32 and f64");
}

/* Whether an integer is a value of its type, read as signed or unsigned. */
static bool fits(int64_t value, const struct pto_type *t)
{
	unsigned int bits = t->elem == PTO_I1 ? 1 : t->elem == PTO_I4 ? 4 :
			    pto_elem_info((enum pto_elem)t->elem)->bits;

	if (bits >= 64)
		return true;
	return value >= -(INT64_C(1) << (bits - 1)) && value < INT64_C(1) << bits;
}

static bool parse_number(struct parser *p, struct pto_attr *out)
{
	const char *start = p->at;
	bool hex = start[0] == '0' && start[1] == 'x';
	struct span spelled;

	if (is_float_text(start)) {
		if (!parse_float(p, out))
			return false;
	} else {
		out->kind = PTO_ATTR_INT;
		if (!integer(p, &out->i))
			return false;
	}
	spelled = (struct span){ start, (size_t)(p->at - start) };
	if (!take(p, ':'))
		return true;
	out->type = parse_type(p);
	if (!out->type)
		return false;
	if (out->type->kind != PTO_T_SCALAR)
		return fail(p, start, NULL, "a number of a type that is no scalar");
	if (pto_elem_is_float((enum pto_elem)out->type->elem)) {
		if (out->kind == PTO_ATTR_FLOAT)
			return true;
		if (!hex)
			return fail(p, start, "write a decimal point: 1.0",
				    "integer literal for a float type");
		if (!float_from_bits(p, out))
			return false;
		out->spelling = pto_intern(p->m, spelled.at, spelled.size);
		return out->spelling || no_memory(p);
	}
	if (out->kind == PTO_ATTR_FLOAT)
		return fail(p, start, NULL, "float literal for an integer type");
	if (!fits(out->i, out->type))
		return fail(p, start, NULL, "%lld does not fit %s", (long long)out->i,
			    pto_elem_info((enum pto_elem)out->type->elem)->text);
	return true;
}

/* ---- Everything else ------------------------------------------------------------------------- */

struct pto_attr *attrs_keep(struct parser *p, size_t base, uint32_t *count)
{
	size_t n = p->attrs.n - base;
	struct pto_attr *list = arena_alloc(&p->m->arena, n * sizeof(*list),
					    _Alignof(struct pto_attr));

	p->attrs.n = base;
	*count = (uint32_t)n;
	if (!list) {
		no_memory(p);
		return NULL;
	}
	if (n)
		memcpy(list, p->attrs.data + base, n * sizeof(*list));
	return list;
}

static bool parse_list(struct parser *p, char close, struct pto_attr *out)
{
	size_t base = p->attrs.n;

	if (!deeper(p))
		return false;
	out->kind = PTO_ATTR_ARRAY;
	if (peek(p) != close)
		do {
			struct pto_attr a = { 0 };

			if (!parse_attr(p, PTO_A_NONE, &a) || !push(p, attrs, a))
				return false;
		} while (take(p, ','));
	p->depth--;
	if (!expect(p, close))
		return false;
	out->list = attrs_keep(p, base, &out->count);
	return out->list != NULL;
}

/* "dense<0> : vector<4xi16>" or "dense<[1, 2]> : ...", behind the word. */
static bool parse_dense(struct parser *p, struct pto_attr *out)
{
	struct pto_attr value = { 0 };
	size_t base = p->attrs.n;

	if (!expect(p, '<'))
		return false;
	if (take(p, '[')) {
		if (!parse_list(p, ']', out))
			return false;
	} else {
		if (!parse_attr(p, PTO_A_NONE, &value) || !push(p, attrs, value))
			return false;
		out->list = attrs_keep(p, base, &out->count);
		if (!out->list)
			return false;
	}
	out->kind = PTO_ATTR_DENSE;
	if (!expect(p, '>') || !expect(p, ':'))
		return false;
	out->type = parse_type(p);
	return out->type != NULL;
}

/* "array<i32: 1, 2>", behind the word. */
static bool parse_array(struct parser *p, struct pto_attr *out)
{
	const struct pto_type *t;

	if (!expect(p, '<'))
		return false;
	t = parse_type(p);
	if (!t)
		return false;
	if (take(p, '>')) {
		out->kind = PTO_ATTR_ARRAY;
		return true;
	}
	return expect(p, ':') && parse_list(p, '>', out);
}

static bool parse_word(struct parser *p, struct pto_attr *out)
{
	const char *start = p->at;

	if (take_word(p, "true") || take_word(p, "false")) {
		out->kind = PTO_ATTR_BOOL;
		out->i = *start == 't';
		return !take(p, ':') || parse_type(p);
	}
	if (take_word(p, "unit")) {
		out->kind = PTO_ATTR_UNIT;
		return true;
	}
	if (take_word(p, "dense"))
		return parse_dense(p, out);
	if (take_word(p, "array"))
		return parse_array(p, out);
	out->kind = PTO_ATTR_TYPE;
	out->type = parse_type(p);
	return out->type != NULL;
}

static bool parse_nested_dict(struct parser *p, struct pto_attr *out)
{
	size_t base = p->attrs.n;

	out->kind = PTO_ATTR_DICT;
	if (!deeper(p) || !parse_dict(p, PTO_OP_NONE))
		return false;
	p->depth--;
	out->list = attrs_keep(p, base, &out->count);
	return out->list != NULL;
}

bool parse_attr(struct parser *p, enum pto_attr_enum kind, struct pto_attr *out)
{
	const struct pto_name *name = out->name;
	char c = peek(p);

	*out = (struct pto_attr){ .name = name };
	switch (c) {
	case '"':
		out->kind = PTO_ATTR_STRING;
		return string(p, &out->text);
	case '@':
		out->kind = PTO_ATTR_SYMBOL;
		return symbol(p, &out->text);
	case '#':
		p->at++;
		return parse_hash(p, kind, out);
	case '[':
		p->at++;
		return parse_list(p, ']', out);
	case '{':
		return parse_nested_dict(p, out);
	case '<':
		if (!kind)
			break;
		out->kind = PTO_ATTR_ENUM;
		out->of = (uint8_t)kind;
		return parse_enum(p, kind, &out->i);
	}
	if (c == '-' || (c >= '0' && c <= '9'))
		return parse_number(p, out);
	return parse_word(p, out);
}

bool parse_int_list(struct parser *p, struct pto_attr *out)
{
	size_t base = p->attrs.n;

	if (!expect(p, '['))
		return false;
	out->kind = PTO_ATTR_ARRAY;
	if (peek(p) != ']')
		do {
			struct pto_attr a = { .kind = PTO_ATTR_INT };

			if (!integer(p, &a.i) || !push(p, attrs, a))
				return false;
		} while (take(p, ','));
	if (!expect(p, ']'))
		return false;
	out->list = attrs_keep(p, base, &out->count);
	return out->list != NULL;
}

bool add_attr(struct parser *p, const char *name, size_t size, struct pto_attr attr)
{
	attr.name = pto_intern(p->m, name, size);
	if (!attr.name)
		return no_memory(p);
	return push(p, attrs, attr);
}

static bool attr_name(struct parser *p, const struct pto_name **out)
{
	struct span s;

	if (peek(p) == '"')
		return string(p, out);
	s = word(p);
	if (!s.size)
		return fail(p, s.at, NULL, "expected the name of an attribute");
	*out = pto_intern(p->m, s.at, s.size);
	return *out || no_memory(p);
}

bool parse_dict(struct parser *p, enum pto_opcode code)
{
	size_t base = p->attrs.n, i;

	if (!expect(p, '{'))
		return false;
	if (take(p, '}'))
		return true;
	do {
		struct pto_attr a = { .kind = PTO_ATTR_UNIT };
		enum pto_attr_enum kind = PTO_A_NONE;
		const char *start = p->at;

		if (!attr_name(p, &a.name))
			return false;
		if (p->attrs.n - base >= MAX_ATTRS)
			return fail(p, start, NULL, "more than %d attributes", MAX_ATTRS);
		for (i = base; i < p->attrs.n; i++)
			if (p->attrs.data[i].name == a.name)
				return fail(p, start, "give each attribute once",
					    "attribute '%s' is given twice", a.name->text);
		if (code)
			kind = attr_kind_of(code, a.name->text, a.name->size);
		if (take(p, '=') && !parse_attr(p, kind, &a))
			return false;
		if (!push(p, attrs, a))
			return false;
	} while (take(p, ','));
	return expect(p, '}');
}
