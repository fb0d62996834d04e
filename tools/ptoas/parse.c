/* SPDX-License-Identifier: MIT */
/* A file: modules and functions. Section 8.1. */
#include <stdlib.h>
#include <string.h>

#include "parse.h"

/* A program takes about three times the room of its text. */
#define LARGE_TEXT	((size_t)1 << 20)
#define LARGE_CHUNK	((size_t)4 << 20)

/* ---- Functions ------------------------------------------------------------------------------- */

/* Everything between the parentheses of a function, in order. */
struct args {
	size_t n;
	size_t attrs;		/* base on the stack: one dictionary per argument */
	size_t types;
	const char *text;	/* behind "(" */
	bool any_attrs;
};

static bool parse_arg(struct parser *p, struct args *a, bool *named)
{
	struct pto_attr dict = { .kind = PTO_ATTR_DICT };
	const struct pto_type *t;
	struct pto_name *name;
	size_t base;

	*named = peek(p) == '%';
	if (*named && (!expect(p, '%') || !ssa_name(p, &name) || !expect(p, ':')))
		return false;
	t = parse_type(p);
	if (t == &elided_type)
		return fail(p, p->at, NULL, "an argument needs a complete type");
	if (!t || !push(p, types, t))
		return false;
	if (peek(p) == '{') {
		base = p->attrs.n;
		if (!parse_dict(p, PTO_OP_NONE))
			return false;
		dict.list = attrs_keep(p, base, &dict.count);
		if (!dict.list)
			return false;
		a->any_attrs = true;
	}
	a->n++;
	return push(p, attrs, dict) && take_loc(p, &(struct pto_loc){ 0 });
}

static bool parse_args(struct parser *p, struct args *a, bool *named)
{
	bool this_named;

	*named = true;
	if (!expect(p, '('))
		return false;
	a->text = p->at;
	if (take(p, ')'))
		return true;
	do {
		if (!parse_arg(p, a, &this_named))
			return false;
		*named &= this_named;
	} while (take(p, ','));
	return expect(p, ')');
}

static bool keep_args(struct parser *p, struct pto_func *f, const struct args *a)
{
	uint32_t n;

	f->n_args = (uint32_t)a->n;
	f->arg_types = arena_alloc(&p->m->arena, a->n * sizeof(*f->arg_types), sizeof(void *));
	if (!f->arg_types)
		return no_memory(p);
	if (a->n)
		memcpy(f->arg_types, p->types.data + a->types, a->n * sizeof(*f->arg_types));
	p->types.n = a->types;
	f->arg_attrs = attrs_keep(p, a->attrs, &n);
	if (!f->arg_attrs)
		return false;
	if (!a->any_attrs)
		f->arg_attrs = NULL;
	return true;
}

/* "-> T", "-> ()", "-> (T)" */
static bool parse_result(struct parser *p, struct pto_func *f)
{
	bool wrapped;

	if (!take_text(p, "->"))
		return true;
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

/* Binds the argument names, which stand at @a->text in front of their types. */
static bool bind_func_args(struct parser *p, const struct args *a, struct pto_block *b)
{
	const char *back = p->at;
	struct pto_name *name;
	size_t i;

	p->at = a->text;
	for (i = 0; i < a->n; i++) {
		struct pto_attr dict = { 0 };
		const char *at;

		skip_space(p);
		at = p->at++;
		if (!ssa_name(p, &name) || !bind_value(p, at, name, &b->args[i]))
			return false;
		if (!expect(p, ':') || !parse_type(p))
			return false;
		if (peek(p) == '{' && !parse_attr(p, PTO_A_NONE, &dict))
			return false;
		if (!take_loc(p, &(struct pto_loc){ 0 }))
			return false;
		take(p, ',');
	}
	p->at = back;
	return true;
}

static bool parse_func_body(struct parser *p, struct pto_func *f, const struct args *a, bool named)
{
	struct pto_block *b = pto_block_new(p->m, &f->op->region[0], f->n_args);
	size_t scope = p->bindings.n, i;

	if (!b)
		return no_memory(p);
	if (!named)
		return fail(p, p->at, "write %name: type",
			    "a function with a body names its arguments");
	for (i = 0; i < f->n_args; i++)
		b->args[i].type = f->arg_types[i];
	if (!bind_func_args(p, a, b) || !parse_region(p, &f->op->region[0], b))
		return false;
	end_scope(p, scope);
	return true;
}

static bool func_attrs(struct parser *p, struct pto_func *f)
{
	size_t base = p->attrs.n;
	uint32_t n;

	if (!take_word(p, "attributes"))
		return true;
	if (!parse_dict(p, PTO_OP_FUNC))
		return false;
	f->op->attr = attrs_keep(p, base, &n);
	f->op->n_attrs = (uint16_t)n;
	return f->op->attr != NULL;
}

static struct pto_func *new_func(struct parser *p, const char *at)
{
	struct pto_func *f = arena_new(&p->m->arena, struct pto_func);

	if (f)
		f->op = pto_op_new(p->m, PTO_OP_FUNC, (struct pto_op_shape){ .regions = 1 },
				   loc_at(p, at));
	if (!f || !f->op) {
		no_memory(p);
		return NULL;
	}
	f->module = p->m;
	*(p->m->last ? &p->m->last->next : &p->m->first) = f;
	p->m->last = f;
	return f;
}

static bool parse_func(struct parser *p, struct pto_func *f)
{
	struct args a = { .attrs = p->attrs.n, .types = p->types.n };
	bool named;

	f->is_private = take_word(p, "private");
	f->is_public = !f->is_private && take_word(p, "public");
	if (!symbol(p, &f->name) || !parse_args(p, &a, &named) || !keep_args(p, f, &a) ||
	    !parse_result(p, f) || !func_attrs(p, f))
		return false;
	return peek(p) != '{' || parse_func_body(p, f, &a, named);
}

/* In either form. */
static bool parse_any_func(struct parser *p)
{
	const char *at = p->at;
	struct pto_func *f = new_func(p, at);
	const struct pto_name *name;
	bool ok;

	if (!f)
		return false;
	if (peek(p) != '"') {
		ok = expect_word(p, "func.func") && parse_func(p, f);
	} else {
		if (!string(p, &name))
			return false;
		if (name->opcode != PTO_OP_FUNC)
			return fail(p, at, NULL, "expected a function");
		ok = parse_func_generic(p, f);
	}
	return ok && take_loc(p, &f->op->loc);
}

/* ---- Module ---------------------------------------------------------------------------------- */

/* pto.target_arch decides the layout of left tiles, so it counts before the functions. */
static void find_arch(struct parser *p)
{
	struct pto_module *m = p->m;
	uint32_t i;

	for (i = 0; i < m->n_attrs && !p->arch_fixed; i++)
		if (!strcmp(m->attr[i].name->text, "pto.target_arch") &&
		    m->attr[i].kind == PTO_ATTR_STRING)
			m->arch = strcmp(m->attr[i].text->text, "a5") ? PTO_ARCH_A3 : PTO_ARCH_A5;
}

static bool module_head(struct parser *p)
{
	size_t base = p->attrs.n;

	if (peek(p) == '@' && !symbol(p, &p->m->name))
		return false;
	if (take_word(p, "attributes")) {
		if (!parse_dict(p, PTO_OP_NONE))
			return false;
		p->m->attr = attrs_keep(p, base, &p->m->n_attrs);
		if (!p->m->attr)
			return false;
	}
	find_arch(p);
	return expect(p, '{');
}

static bool parse_funcs(struct parser *p)
{
	while (peek(p) && *p->at != '}')
		if (!parse_any_func(p))
			return false;
	return true;
}

static bool is_generic_module(struct parser *p)
{
	static const char name[] = "\"builtin.module\"";

	return peek(p) == '"' && !strncmp(p->at, name, sizeof(name) - 1);
}

static bool parse_module(struct parser *p)
{
	if (is_generic_module(p))
		return parse_module_generic(p, parse_funcs);
	if (!take_word(p, "module"))
		return parse_funcs(p);
	return module_head(p) && parse_funcs(p) && expect(p, '}');
}

static bool parse_file(struct parser *p)
{
	if (!parse_module(p) || !take_loc(p, &(struct pto_loc){ 0 }))
		return false;
	skip_space(p);
	if (p->at < p->end)
		return fail(p, p->at, "a file holds one module",
			    "text behind the end of the module");
	return true;
}

static bool load_text(struct parser *p, const char *text, size_t size)
{
	char *copy;

	if (size >= 6 && !memcmp(text, "PTOBC\0", 6))
		return fail(p, p->at, "write the program as text", "PTO bytecode is not accepted");
	if (size > PTO_MAX_TEXT)
		return fail(p, p->at, "split the file", "text of %zu bytes, more than %zu", size,
			    PTO_MAX_TEXT);
	if (size >= LARGE_TEXT)
		p->m->arena.chunk_bytes = LARGE_CHUNK;
	copy = arena_alloc(&p->m->arena, size + 16, 1);
	if (!copy)
		return no_memory(p);
	if (size)
		memcpy(copy, text, size);
	memset(copy + size, 0, 16);
	p->m->text = p->begin = p->at = copy;
	p->m->text_size = size;
	p->end = copy + size;
	return true;
}

struct pto_module *pto_parse(const char *file, const char *text, size_t size,
			     const struct pto_options *o, struct pto_diags *d)
{
	struct parser *p = calloc(1, sizeof(*p));
	struct pto_module *m = pto_module_new(file);
	bool ok = false;

	if (p && m) {
		p->m = m;
		p->d = d;
		p->begin = p->at = p->end = "";
		p->arch_fixed = o && o->arch_given;
		if (p->arch_fixed)
			m->arch = o->arch;
		ok = load_text(p, text, size) && parse_file(p) && !m->no_memory;
		free(p->bindings.data);
		free(p->operands.data);
		free(p->attrs.data);
		free(p->types.data);
		free(p->labels.data);
	}
	if (!ok && !d->errors)
		pto_diag(d, NULL, PTO_ERROR, (struct pto_loc){ .at = PTO_NO_PLACE },
			 "split the file", "out of memory");
	free(p);
	if (ok)
		return m;
	pto_module_free(m);
	return NULL;
}
