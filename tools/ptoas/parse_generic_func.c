/* SPDX-License-Identifier: MIT */
/* Functions and the module in the generic form, where all they have is attributes. Section 8.1. */
#include <string.h>

#include "parse.h"

static bool keep_types(struct parser *p, struct pto_func *f, size_t base)
{
	size_t n = p->types.n - base;

	f->arg_types = arena_alloc(&p->m->arena, (n + 1) * sizeof(*f->arg_types), sizeof(void *));
	if (!f->arg_types)
		return no_memory(p);
	if (n)
		memcpy(f->arg_types, p->types.data + base, n * sizeof(*f->arg_types));
	f->n_args = (uint32_t)n;
	p->types.n = base;
	return true;
}

/* "(T, T) -> T" */
static bool function_type(struct parser *p, struct pto_func *f)
{
	size_t base = p->types.n;
	bool wrapped;

	if (!expect(p, '(') || (!take(p, ')') && (!parse_type_list(p) || !expect(p, ')'))) ||
	    !keep_types(p, f, base))
		return false;
	if (!take_text(p, "->"))
		return expect(p, '-');
	wrapped = take(p, '(');
	if (wrapped && take(p, ')'))
		return true;
	f->result = parse_type(p);
	if (!f->result)
		return false;
	if (f->result == &elided_type || (wrapped && peek(p) == ','))
		return fail(p, p->at, "return at most one value",
			    "a function has one result at most");
	return !wrapped || expect(p, ')');
}

static bool visibility(struct parser *p, struct pto_func *f)
{
	const struct pto_name *v;

	if (!string(p, &v))
		return false;
	f->is_private = !strcmp(v->text, "private");
	f->is_public = !strcmp(v->text, "public");
	return true;
}

static bool attribute(struct parser *p, struct pto_func *f)
{
	struct pto_attr a = { .kind = PTO_ATTR_UNIT };
	struct span s = { 0 };

	if (peek(p) == '"') {
		if (!string(p, &a.name))
			return false;
	} else {
		s = word(p);
		a.name = s.size ? pto_intern(p->m, s.at, s.size) : NULL;
		if (!a.name)
			return s.size ? no_memory(p) :
			       fail(p, s.at, NULL, "expected the name of an attribute");
	}
	if (!take(p, '='))
		return push(p, attrs, a);
	if (!strcmp(a.name->text, "sym_name"))
		return string(p, &f->name);
	if (!strcmp(a.name->text, "function_type"))
		return function_type(p, f);
	if (!strcmp(a.name->text, "sym_visibility"))
		return visibility(p, f);
	return parse_attr(p, attr_kind_of(PTO_OP_FUNC, a.name->text, a.name->size), &a) &&
	       push(p, attrs, a);
}

static bool attributes(struct parser *p, struct pto_func *f)
{
	if (!expect(p, '{') || take(p, '}'))
		return !p->failed;
	do {
		if (!attribute(p, f))
			return false;
	} while (take(p, ','));
	return expect(p, '}');
}

/* "<{...}>", which newer text has in front of the regions. */
static bool properties(struct parser *p, struct pto_func *f)
{
	if (!take_text(p, "<{"))
		return true;
	p->at--;
	return attributes(p, f) && expect(p, '>');
}

/* The first block's arguments are the function's. */
static bool check_entry(struct parser *p, struct pto_func *f, const char *at)
{
	struct pto_block *b = f->op->region[0].first;
	uint32_t i;

	if (!f->name || !f->arg_types)
		return fail(p, at, NULL, "a function needs sym_name and function_type");
	if (!b)
		return true;
	b->label = NULL;
	if (b->n_args != f->n_args)
		return fail(p, at, NULL, "the first block has %u arguments, the function %u",
			    b->n_args, f->n_args);
	for (i = 0; i < f->n_args; i++)
		if (b->args[i].type != f->arg_types[i])
			return fail(p, at, NULL, "argument %u of the first block has another type "
				    "than the function says", i);
	return true;
}

static bool no_operands(struct parser *p)
{
	return expect(p, '(') && expect(p, ')');
}

static bool empty_type(struct parser *p)
{
	return expect(p, ':') && no_operands(p) && take_text(p, "->") && no_operands(p);
}

bool parse_func_generic(struct parser *p, struct pto_func *f)
{
	const char *at = p->at;
	size_t base = p->attrs.n;
	uint32_t n;

	if (!no_operands(p) || !properties(p, f) || !expect(p, '('))
		return false;
	if (!parse_region(p, &f->op->region[0], NULL) || !expect(p, ')'))
		return false;
	if (peek(p) == '{' && !attributes(p, f))
		return false;
	if (!empty_type(p))
		return fail(p, p->at, "write : () -> ()", "expected the type of an operation");
	f->op->attr = attrs_keep(p, base, &n);
	f->op->n_attrs = (uint16_t)n;
	return f->op->attr && check_entry(p, f, at);
}

static bool module_attrs(struct parser *p)
{
	size_t base = p->attrs.n;

	if (!parse_dict(p, PTO_OP_NONE))
		return false;
	p->m->attr = attrs_keep(p, base, &p->m->n_attrs);
	return p->m->attr != NULL;
}

/* The attributes follow the functions, but the architecture decides what types mean. */
static void find_arch_ahead(struct parser *p)
{
	const char *at = strstr(p->begin, "pto.target_arch");

	at = at && !p->arch_fixed ? strchr(at + strlen("pto.target_arch"), '=') : NULL;
	if (at)
		p->m->arch = strncmp(at + 1 + strspn(at + 1, " \t\n"), "\"a5\"", 4) ? PTO_ARCH_A3 :
			     PTO_ARCH_A5;
}

bool parse_module_generic(struct parser *p, bool (*funcs)(struct parser *p))
{
	const struct pto_name *name;

	if (!string(p, &name))
		return false;
	if (strcmp(name->text, "builtin.module"))
		return fail(p, p->at, NULL, "expected \"builtin.module\"");
	find_arch_ahead(p);
	if (!no_operands(p))
		return false;
	if (take_text(p, "<{")) {
		p->at--;
		if (!module_attrs(p) || !expect(p, '>'))
			return false;
	}
	if (!expect(p, '(') || !expect(p, '{') || !funcs(p) || !expect(p, '}') || !expect(p, ')'))
		return false;
	if (peek(p) == '{' && !module_attrs(p))
		return false;
	return empty_type(p) || fail(p, p->at, "write : () -> ()",
				     "expected the type of an operation");
}
