/* SPDX-License-Identifier: MIT */
/* Operations by the formats of ops.def. Section 8.5. */
#include <errno.h>
#include <string.h>

#include "parse.h"

/* ---- Names of values ------------------------------------------------------------------------- */

bool bind_value(struct parser *p, const char *at, struct pto_name *name, struct pto_value *v)
{
	struct binding b = { name, name->slot };

	if (name->slot)
		return fail(p, at, "give the value another name", "redefinition of %%%s",
			    name->text);
	if (!push(p, bindings, b))
		return false;
	name->slot = v;
	if (!v->name)
		v->name = name;
	v->loc = loc_at(p, at);
	return true;
}

/* "%x:2" makes %x#0 and %x#1; %x is the first. */
static bool bind_group(struct parser *p, const char *at, struct pto_name *name,
		       struct pto_value *v, int64_t n)
{
	int64_t i;
	int size;

	for (i = 0; i < n; i++) {
		char text[256];

		size = snprintf(text, sizeof(text), "%s#%lld", name->text, (long long)i);
		if (size >= (int)sizeof(text))
			return fail(p, at, NULL, "name too long for a group of values");
		if (!bind_value(p, at, pto_intern(p->m, text, (size_t)size), &v[i]))
			return false;
		v[i].name = NULL; /* printed under a name of its own */
	}
	if (!bind_value(p, at, name, &v[0]))
		return false;
	v[0].name = NULL;
	return true;
}

/* Reads the results' text again, now that the operation exists. */
bool bind_results(struct parser *p, struct opstate *s)
{
	const char *back = p->at;
	unsigned int i = 0;
	bool ok = true;

	if (!s->results)
		return true;
	p->at = s->results;
	do {
		struct pto_name *name;
		const char *at;
		int64_t n = 1;

		skip_space(p);
		at = p->at++;
		if (!ssa_name(p, &name))
			return false;
		if (take(p, ':')) {
			ok = integer(p, &n) && bind_group(p, at, name, &s->op->result[i], n);
		} else {
			ok = bind_value(p, at, name, &s->op->result[i]);
		}
		i += (unsigned int)n;
	} while (ok && take(p, ','));
	p->at = back;
	return ok;
}

/* Counts result names and passes over "=". */
static bool scan_results(struct parser *p, struct opstate *s)
{
	struct pto_name *name;
	int64_t n;

	if (peek(p) != '%')
		return true;
	s->results = p->at;
	do {
		n = 1;
		if (!expect(p, '%') || !ssa_name(p, &name))
			return false;
		if (take(p, ':') && !integer(p, &n))
			return false;
		if (n < 1 || n > 64 || s->n_results + n > 64)
			return fail(p, p->at, NULL, "an operation has 1 to 64 results");
		s->n_results += (unsigned int)n;
	} while (take(p, ','));
	return expect(p, '=');
}

/* ---- Operands -------------------------------------------------------------------------------- */

bool parse_operand(struct parser *p, unsigned int group)
{
	struct operand o = { .group = group };
	struct pto_name *name;

	skip_space(p);
	o.at = p->at;
	if (!expect(p, '%') || !ssa_name(p, &name))
		return false;
	o.value = name->slot;
	if (!o.value)
		return fail(p, o.at, "define it above, in this region or one around it",
			    "use of undefined value %%%s", name->text);
	return push(p, operands, o);
}

static bool too_many(struct parser *p, const struct opstate *s)
{
	if (p->operands.n - s->operands <= PTO_MAX_OPERANDS)
		return false;
	fail(p, p->at, NULL, "more than %d operands", PTO_MAX_OPERANDS);
	return true;
}

bool parse_operands(struct parser *p, struct opstate *s, char close)
{
	if (peek(p) == close || peek(p) != '%')
		return true;
	do {
		if (!parse_operand(p, s->group) || too_many(p, s))
			return false;
	} while (take(p, ','));
	return true;
}

/* A type that must be that of operand @index of this operation. */
bool parse_typed(struct parser *p, struct opstate *s, size_t index)
{
	const struct pto_type *t;
	struct pto_text want = { 0 };
	struct operand *o;
	const char *at;

	skip_space(p);
	at = p->at;
	t = parse_type(p);
	if (!t)
		return false;
	if (s->operands + index >= p->operands.n)
		return fail(p, at, NULL, "more types than operands");
	o = &p->operands.data[s->operands + index];
	if (t == &elided_type || t == o->value->type)
		return true;
	pto_print_type(o->value->type, &want);
	fail(p, at, "write the type that the definition has", "%%%s has type %s",
	     o->value->name ? o->value->name->text : "?", want.data ? want.data : "");
	pto_text_free(&want);
	return false;
}

/* ---- ins(...) outs(...) ---------------------------------------------------------------------- */

/* Which operands of a section have no type yet. */
struct section {
	size_t next;		/* operand that the next type belongs to */
	bool any_types;
	unsigned int loose;	/* operands in brackets, which need none */
};

/* "%t[%r, %c]" */
static bool parse_indices(struct parser *p, struct opstate *s, struct section *c)
{
	size_t before = p->operands.n;

	if (!take(p, '['))
		return true;
	if (!parse_operands(p, s, ']') || !expect(p, ']'))
		return false;
	c->loose += (unsigned int)(p->operands.n - before);
	return true;
}

/* After ":": types until something else begins. */
static bool parse_section_types(struct parser *p, struct opstate *s, struct section *c, bool *more)
{
	c->any_types = true;
	*more = false;
	for (;;) {
		if (!parse_typed(p, s, c->next))
			return false;
		c->next++;
		if (!take(p, ','))
			return true;
		if (peek(p) == '%' || *p->at == '{' || *p->at == '"') {
			*more = true;
			return true;
		}
	}
}

/* `"row"` behind the types of a masked gather */
static bool parse_axis(struct parser *p)
{
	struct pto_attr a = { .kind = PTO_ATTR_STRING };

	return string(p, &a.text) && add_attr(p, "axis", 4, a);
}

/* Debug form "ins(%t | !pto.partition_tensor_view<MxNxdtype>)": the tile's type says it. */
static bool skip_alternative(struct parser *p, struct section *c)
{
	while (p->at < p->end && *p->at != ')' && *p->at != '\n')
		p->at++;
	c->any_types = false;
	return true;
}

static bool parse_section_item(struct parser *p, struct opstate *s, struct section *c, bool *more)
{
	switch (peek(p)) {
	case '%':
		if (!parse_operand(p, s->group) || too_many(p, s) || !parse_indices(p, s, c))
			return false;
		break;
	case '"':
		if (!parse_axis(p))
			return false;
		break;
	case '{':
		break;
	default:
		return fail(p, p->at, "operands begin with %", "expected an operand");
	}
	if (peek(p) == '{' && !parse_dict(p, s->code))
		return false;
	*more = false;
	if (take(p, '|'))
		return skip_alternative(p, c);
	if (take(p, ':'))
		return parse_section_types(p, s, c, more);
	*more = take(p, ',');
	return true;
}

static bool parse_section(struct parser *p, struct opstate *s, const char *name)
{
	struct section c = { .next = p->operands.n - s->operands };
	bool more = true;
	size_t missing;

	if (!expect_word(p, name) || !expect(p, '('))
		return false;
	if (peek(p) != ')')
		while (more)
			if (!parse_section_item(p, s, &c, &more))
				return false;
	missing = p->operands.n - s->operands - c.next;
	if (c.any_types && missing > c.loose)
		return fail(p, p->at, "write one type per operand", "fewer types than operands");
	s->group++;
	return expect(p, ')');
}

static bool parse_io(struct parser *p, struct opstate *s)
{
	if (at_word(p, "ins") ? !parse_section(p, s, "ins") : !at_word(p, "outs"))
		return expect_word(p, "ins");
	s->group = 1;
	if (at_word(p, "outs") && !parse_section(p, s, "outs"))
		return false;
	s->group = 2;
	return peek(p) != '{' || parse_dict(p, s->code);
}

/* ---- Formats --------------------------------------------------------------------------------- */

/* Type of result @index; the ones before it have that of operand 0. */
static bool parse_result_type(struct parser *p, struct opstate *s, size_t index)
{
	const struct pto_type *t = parse_type(p);

	if (t == &elided_type)
		return fail(p, p->at, "write the type in full", "a result needs a complete type");
	while (p->types.n - s->types < index)
		if (!push(p, types, p->operands.data[s->operands].value->type))
			return false;
	return t && push(p, types, t);
}

/* "@name:kind", "@name#kind", "@name.kind" */
static bool format_enum(struct parser *p, const char **fmt)
{
	const char *name = *fmt, *kind;
	size_t n = strcspn(name, ":#."), k;
	struct pto_attr a = { .kind = PTO_ATTR_ENUM };

	kind = name + n + 1;
	for (k = 0; (kind[k] >= 'a' && kind[k] <= 'z') || kind[k] == '_';)
		k++;
	*fmt = kind + k;
	a.of = (uint8_t)pto_attr_enum_by_name(kind, k);
	return parse_enum(p, (enum pto_attr_enum)a.of, &a.i) && add_attr(p, name, n, a);
}

static size_t format_name(const char *s)
{
	size_t n = 0;

	while ((s[n] >= 'a' && s[n] <= 'z') || s[n] == '_')
		n++;
	return n;
}

/* "^name": an integer or an operand */
static bool format_int_or_operand(struct parser *p, struct opstate *s, const char **fmt)
{
	size_t n = format_name(*fmt);
	const char *name = *fmt;
	struct pto_attr a = { .kind = PTO_ATTR_INT };

	*fmt += n;
	if (peek(p) != '%')
		return integer(p, &a.i) && add_attr(p, name, n, a);
	return parse_operand(p, s->group++);
}

static bool format_flag(struct parser *p, const char **fmt)
{
	size_t n = format_name(*fmt);
	const char *name = *fmt;
	struct pto_attr a = { .kind = PTO_ATTR_BOOL, .i = 1 };

	*fmt += n;
	p->at += n;
	if (take(p, '=')) {
		if (take_word(p, "false"))
			a.i = 0;
		else if (!expect_word(p, "true"))
			return false;
	}
	return add_attr(p, name, n, a);
}

static bool format_string(struct parser *p, const char **fmt)
{
	size_t n = strcspn(*fmt, "\"");
	const char *name = *fmt;
	struct pto_attr a = { .kind = PTO_ATTR_STRING };

	*fmt += n + 1;
	return string(p, &a.text) && add_attr(p, name, n, a);
}

static bool format_list(struct parser *p, const char **fmt)
{
	size_t n = format_name(*fmt);
	const char *name = *fmt;
	struct pto_attr a = { 0 };

	*fmt += n;
	return parse_int_list(p, &a) && add_attr(p, name, n, a);
}

/* "%" or "%*" */
static bool format_operand(struct parser *p, struct opstate *s, const char **fmt)
{
	if (**fmt == '*') {
		++*fmt;
		if (!parse_operands(p, s, ']'))
			return false;
	} else if (!parse_operand(p, s->group)) {
		return false;
	}
	s->group++;
	return true;
}

/* "T0", "T*", "U*", "P", "Q", "R0" */
static bool format_type(struct parser *p, struct opstate *s, const char **fmt)
{
	char what = (*fmt)[-1], which = **fmt;
	size_t n = p->operands.n - s->operands, i = 0;
	const struct pto_type *t;

	if (what == 'P')
		return parse_typed(p, s, n - 1);
	if (what == 'Q') {
		t = parse_type(p);
		if (t && t->kind == PTO_T_SCALAR && s->n_results)
			return push(p, types, t);
		return t && (!s->n_results || push(p, types, pto_scalar(p->m, PTO_INDEX)));
	}
	++*fmt;
	if (what == 'R')
		return parse_result_type(p, s, (size_t)(which - '0'));
	if (which != '*')
		return parse_typed(p, s, (size_t)(which - '0'));
	if (what == 'U')
		while (i < n && p->operands.data[s->operands + i].group + 1 != s->group)
			i++;
	for (; i < n; i++)
		if (!parse_typed(p, s, i) || (i + 1 < n && !expect(p, ',')))
			return false;
	return true;
}

/* "=0", "=1", "=I", "=L", "=B": types of results that the text does not give */
static bool format_result_rule(struct parser *p, struct opstate *s, const char **fmt)
{
	enum pto_elem elem;
	char rule = *(*fmt)++;

	if (rule == '0' || rule == '1') {
		s->same_as_operand = true;
		s->result_like = (unsigned int)(rule - '0');
		return true;
	}
	elem = rule == 'I' ? PTO_INDEX : rule == 'L' ? PTO_I64 : PTO_I1;
	return push(p, types, pto_scalar(p->m, elem));
}

/* Whether the optional part at @fmt is there, judged by its first item. */
static bool part_begins(struct parser *p, const char *fmt)
{
	char name[32];
	size_t n;

	if (*fmt == '?' || *fmt == '@')
		fmt++;
	n = format_name(fmt);
	if (n) {
		memcpy(name, fmt, n);
		name[n] = '\0';
		return at_word(p, name);
	}
	if (fmt[0] == '-')
		return peek(p) == '-' && p->at[1] == '>';
	return peek(p) == *fmt;
}

/* Passes over an absent optional part, counting its groups. */
static const char *skip_part(const char *fmt, struct opstate *s)
{
	for (; *fmt != '~'; fmt++)
		s->group += *fmt == '%' || *fmt == '^';
	return fmt + 1;
}

static bool format_literal(struct parser *p, const char **fmt)
{
	char name[32];
	size_t n = format_name(*fmt);

	if (n) {
		memcpy(name, *fmt, n);
		name[n] = '\0';
		*fmt += n;
		return expect_word(p, name);
	}
	if ((*fmt)[0] == ',' && (*fmt)[1] == '?') {
		*fmt += 2;
		take(p, ',');
		return true;
	}
	return expect(p, *(*fmt)++);
}

static bool format_item(struct parser *p, struct opstate *s, const char **fmt)
{
	switch (*(*fmt)++) {
	case ' ':
	case '~':
		return true;
	case '%':
		return format_operand(p, s, fmt);
	case 'T':
	case 'U':
	case 'P':
	case 'Q':
	case 'R':
		return format_type(p, s, fmt);
	case '{':
		++*fmt;
		return peek(p) != '{' || parse_dict(p, s->code);
	case '@':
		return format_enum(p, fmt);
	case '^':
		return format_int_or_operand(p, s, fmt);
	case '#':
		return format_list(p, fmt);
	case '"':
		return format_string(p, fmt);
	case '?':
		return format_flag(p, fmt);
	case '=':
		if (**fmt != ' ')
			return format_result_rule(p, s, fmt);
		break;
	}
	--*fmt;
	return format_literal(p, fmt);
}

/* @fmt stands behind a "~": true when the part is there, else it is passed over. */
static bool enter_part(struct parser *p, struct opstate *s, const char **fmt, bool *inside)
{
	*inside = !*inside;
	if (*inside && !part_begins(p, *fmt)) {
		*fmt = skip_part(*fmt, s);
		*inside = false;
	}
	return true;
}

static bool parse_format(struct parser *p, struct opstate *s, const char *fmt)
{
	bool inside = false;

	if (!strncmp(fmt, "io", 2)) {
		fmt += 2;
		if (!parse_io(p, s))
			return false;
	}
	while (*fmt) {
		if (*fmt == '~') {
			fmt++;
			enter_part(p, s, &fmt, &inside);
		} else if (!format_item(p, s, &fmt)) {
			return false;
		}
	}
	return true;
}

/* ---- Making the operation -------------------------------------------------------------------- */

bool take_loc(struct parser *p, struct pto_loc *loc)
{
	struct pto_src_loc *src;
	int64_t line, col;

	if (!take_word(p, "loc"))
		return true;
	src = arena_new(&p->m->arena, struct pto_src_loc);
	if (!src)
		return no_memory(p);
	loc->src = src;
	if (!expect(p, '('))
		return false;
	if (take_word(p, "unknown"))
		return expect(p, ')');
	if (!string(p, &src->file) || !expect(p, ':') || !integer(p, &line) || !expect(p, ':') ||
	    !integer(p, &col))
		return false;
	if (line < 0 || line > UINT32_MAX || col < 0 || col > UINT32_MAX)
		return fail(p, p->at, NULL, "line or column of loc() out of range");
	src->line = (uint32_t)line;
	src->col = (uint32_t)col;
	return expect(p, ')');
}

static bool set_result_types(struct parser *p, struct opstate *s, unsigned int n)
{
	size_t given = p->types.n - s->types;
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (i < given)
			s->op->result[i].type = p->types.data[s->types + i];
		else
			s->op->result[i].type = s->op->operand[s->result_like].value->type;
		if (!s->op->result[i].type)
			return no_memory(p);
	}
	p->types.n = s->types;
	return true;
}

/* How many results the operation has: by its types, or by its names where those are implied. */
static bool count_results(struct parser *p, struct opstate *s, unsigned int *n)
{
	size_t given = p->types.n - s->types;

	*n = s->same_as_operand && given < s->n_results ? s->n_results : (unsigned int)given;
	if (s->code == PTO_OP_SUBSET)
		*n = 1;
	if (s->same_as_operand && !*n)
		*n = 1;
	if (*n > 64)
		return fail(p, s->at, NULL, "an operation has 64 results at most");
	if (s->results && s->n_results != *n)
		return fail(p, s->at, NULL, "%s has %u results, not %u", pto_op_info(s->code)->name,
			    *n, s->n_results);
	return true;
}

bool op_finish(struct parser *p, struct opstate *s, struct pto_block *b, unsigned int regions,
	       unsigned int succs)
{
	struct pto_op_shape shape = { .regions = regions, .succs = succs };
	unsigned int i;

	shape.operands = (unsigned int)(p->operands.n - s->operands);
	shape.attrs = (unsigned int)(p->attrs.n - s->attrs);
	if (too_many(p, s) || !count_results(p, s, &shape.results))
		return false;
	if (s->same_as_operand && shape.operands <= s->result_like)
		return fail(p, s->at, NULL, "%s has too few operands", pto_op_info(s->code)->name);
	s->op = pto_op_new(p->m, s->code, shape, loc_at(p, s->at));
	if (!s->op)
		return no_memory(p);
	for (i = 0; i < shape.operands; i++) {
		struct operand *o = &p->operands.data[s->operands + i];

		s->op->operand[i].group = (uint8_t)o->group;
		pto_set_operand(s->op, i, o->value);
	}
	if (shape.attrs)
		memcpy(s->op->attr, p->attrs.data + s->attrs, shape.attrs * sizeof(*s->op->attr));
	p->operands.n = s->operands;
	p->attrs.n = s->attrs;
	if (!set_result_types(p, s, shape.results))
		return false;
	pto_append(b, s->op);
	return true;
}

/* The result of subset is a window of operand 0: same type, other shape. */
static bool subset_type(struct parser *p, struct opstate *s)
{
	const struct operand *o = &p->operands.data[s->operands];
	const struct pto_attr *a = &p->attrs.data[s->attrs];
	struct pto_type t = *o->value->type;
	int i;

	if (t.kind != PTO_T_TILE || a->kind != PTO_ATTR_ARRAY || a->count != 2)
		return fail(p, s->at, "write sizes [rows, columns]",
			    "pto.subset takes a window of a tile with two sizes");
	for (i = 0; i < 2; i++) {
		if (a->list[i].i <= 0 || a->list[i].i > t.dim[i])
			return fail(p, s->at, NULL, "subset size %lld is not within 1 to %lld",
				    (long long)a->list[i].i, (long long)t.dim[i]);
		t.dim[i] = t.valid[i] = a->list[i].i;
	}
	return push(p, types, pto_type_get(p->m, &t));
}

static bool bind_signature(struct parser *p, struct opstate *s)
{
	char hint[512], takes[400];

	if (!pto_op_bind_memo(&p->memo, s->op))
		return true;
	pto_sig_describe(s->op->info, takes, sizeof(takes));
	snprintf(hint, sizeof(hint), "it takes %s", takes);
	return fail(p, s->at, hint, "'%s' op does not take these operands", s->op->info->name);
}

static bool unknown_op(struct parser *p, struct span name)
{
	const char *hint = NULL;

	if (name.size > 4 && memcmp(name.at, "pto.", 4) && name.at[0] == 't')
		hint = "operations of the dialect begin with pto.";
	if (!name.size)
		return fail(p, name.at, NULL, "expected an operation");
	return fail(p, name.at, hint, "unknown operation '%.*s'", (int)name.size, name.at);
}

/* A region named "$": sections. */
static bool parse_section_body(struct parser *p, struct opstate *s, struct pto_block *b)
{
	return op_finish(p, s, b, 1, 0) && parse_region(p, &s->op->region[0], NULL);
}

static bool parse_body(struct parser *p, struct opstate *s, struct pto_block *b)
{
	const char *fmt = pto_op_info(s->code)->format;

	if (*fmt == '!')
		return parse_custom(p, s, b, fmt + 1);
	if (*fmt == '$')
		return parse_section_body(p, s, b);
	if ((pto_op_info(s->code)->flags & PTO_F_ALT_IO) && at_word(p, "ins"))
		fmt = "io";
	if (!parse_format(p, s, fmt))
		return false;
	if (s->code == PTO_OP_SUBSET && !subset_type(p, s))
		return false;
	return op_finish(p, s, b, 0, 0);
}

bool parse_op(struct parser *p, struct pto_block *b)
{
	struct opstate s = {
		.operands = p->operands.n, .attrs = p->attrs.n, .types = p->types.n,
	};
	struct pto_name *name;
	struct span text;

	if (!scan_results(p, &s))
		return false;
	if (peek(p) == '"') {
		s.at = p->at;
		if (!parse_generic(p, &s, b))
			return false;
	} else {
		text = word(p);
		s.at = text.at;
		name = text.size ? pto_intern(p->m, text.at, text.size) : NULL;
		if (!name || !name->opcode || name->opcode == PTO_OP_FUNC)
			return unknown_op(p, text);
		s.code = (enum pto_opcode)name->opcode;
		if (!parse_body(p, &s, b))
			return false;
	}
	return bind_signature(p, &s) && take_loc(p, &s.op->loc) && bind_results(p, &s);
}
