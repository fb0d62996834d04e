/* SPDX-License-Identifier: MIT */
/*
 * Inside the parser. It reads characters, not tokens: the formats of ops.def are matched against
 * the text directly. Every function that returns bool returns false after an error was reported;
 * the first error ends the parse.
 */
#ifndef PTOAS_PARSE_H
#define PTOAS_PARSE_H

#include "diag.h"
#include "ops.h"
#include "ptoas.h"

#define TYPE_CACHE	1024

struct span {
	const char *at;
	size_t size;
};

/* A binding to be taken back at the end of its scope. */
struct binding {
	struct pto_name *name;
	void *before;
};

struct operand {
	struct pto_value *value;
	const char *at;
	unsigned int group;
};

struct label {
	const struct pto_name *name;
	struct pto_block *block;
	struct pto_region *region;
	const char *at;
	bool defined;
};

/* A growing array; nested operations stand on top of their parents. */
#define STACK(type)	struct { type *data; size_t n, room; }

struct parser {
	struct pto_module *m;
	struct pto_diags *d;
	const char *at, *end, *begin;
	unsigned int depth;
	bool failed;
	bool arch_fixed;		/* the options gave it */
	STACK(struct binding) bindings;
	STACK(struct operand) operands;
	STACK(struct pto_attr) attrs;
	STACK(const struct pto_type *) types;
	STACK(struct label) labels;
	struct {
		const char *at;
		size_t size;
		const struct pto_type *type;
	} cache[TYPE_CACHE];
	struct pto_sig_memo memo;
	size_t recent[2];		/* slots of the cache, last used first */
};

/* An operation being read: where its parts begin on the stacks. */
struct opstate {
	enum pto_opcode code;
	const char *at;			/* its name, for diagnostics */
	size_t operands, attrs, types;	/* bases */
	unsigned int group;		/* of the next operand */
	const char *results;		/* text of the result names, or NULL */
	unsigned int n_results;		/* as named */
	bool same_as_operand;		/* results without type have that of operand result_like */
	unsigned int result_like;
	struct pto_op *op;		/* set by op_finish() */
};

#define push(p, stack, value)	\
	(!stack_room((p), (void **)&(p)->stack.data, &(p)->stack.room, (p)->stack.n, \
		     sizeof(*(p)->stack.data)) ? false : \
	 ((p)->stack.data[(p)->stack.n++] = (value), true))

/* lex.c */
bool stack_room(struct parser *p, void **data, size_t *room, size_t n, size_t size);
bool fail(struct parser *p, const char *at, const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
bool no_memory(struct parser *p);
void skip_more_space(struct parser *p);

/* To the next character that counts. */
static inline void skip_space(struct parser *p)
{
	if ((unsigned char)*p->at <= ' ' || *p->at == '/')
		skip_more_space(p);
}

/* The next character that counts; '\0' at the end. */
static inline char peek(struct parser *p)
{
	skip_space(p);
	return *p->at;
}

/* Passes over @c if it is next. */
static inline bool take(struct parser *p, char c)
{
	if (peek(p) != c || p->at >= p->end)
		return false;
	p->at++;
	return true;
}

bool take_text(struct parser *p, const char *text);	/* punctuation of several characters */
bool expect(struct parser *p, char c);
bool at_word(struct parser *p, const char *word);
bool take_word(struct parser *p, const char *word);
bool expect_word(struct parser *p, const char *word);
struct span word(struct parser *p);		/* size 0 when there is none */
bool ssa_name(struct parser *p, struct pto_name **name);	/* behind "%" */
bool integer(struct parser *p, int64_t *out);	/* decimal, or hexadecimal behind 0x */
bool decimal(struct parser *p, int64_t *out);
bool string(struct parser *p, const struct pto_name **out);
bool symbol(struct parser *p, const struct pto_name **out);
bool deeper(struct parser *p);			/* pairs with p->depth-- */
struct pto_loc loc_at(const struct parser *p, const char *at);
bool is_word_char(char c);

/* parse_type.c */
const struct pto_type *parse_type(struct parser *p);	/* NULL after an error */
/* The type written "!pto.tile_buf<...>", which stands for the operand's own. */
extern const struct pto_type elided_type;
bool parse_type_list(struct parser *p);			/* "T, T": onto p->types */

/* parse_attr.c */
bool parse_attr(struct parser *p, enum pto_attr_enum kind, struct pto_attr *out);
bool parse_dict(struct parser *p, enum pto_opcode code);	/* "{...}": onto p->attrs */
bool parse_enum(struct parser *p, enum pto_attr_enum kind, int64_t *out);
bool parse_int_list(struct parser *p, struct pto_attr *out);
struct pto_attr *attrs_keep(struct parser *p, size_t base, uint32_t *count);
enum pto_attr_enum attr_kind_of(enum pto_opcode code, const char *name, size_t size);
bool add_attr(struct parser *p, const char *name, size_t size, struct pto_attr attr);

/* parse_op.c */
bool parse_operand(struct parser *p, unsigned int group);
bool parse_operands(struct parser *p, struct opstate *s, char close);	/* up to @close */
bool parse_typed(struct parser *p, struct opstate *s, size_t index);
bool op_finish(struct parser *p, struct opstate *s, struct pto_block *b, unsigned int regions,
	       unsigned int succs);
bool parse_op(struct parser *p, struct pto_block *b);
bool bind_value(struct parser *p, const char *at, struct pto_name *name, struct pto_value *v);
bool bind_results(struct parser *p, struct opstate *s);
bool take_loc(struct parser *p, struct pto_loc *loc);

/* parse_generic.c */
bool parse_generic(struct parser *p, struct opstate *s, struct pto_block *b);

/* parse_generic_func.c: both behind the name */
bool parse_func_generic(struct parser *p, struct pto_func *f);
bool parse_module_generic(struct parser *p, bool (*funcs)(struct parser *p));

/* parse_flow.c: operations with a syntax of their own */
bool parse_custom(struct parser *p, struct opstate *s, struct pto_block *b, const char *which);
/* "{ ... }" into @r; @entry: its first block, already made, or NULL. */
bool parse_region(struct parser *p, struct pto_region *r, struct pto_block *entry);
/* Takes back the bindings above @base. */
void end_scope(struct parser *p, size_t base);
bool end_with_yield(struct parser *p, struct pto_region *r);

#endif
