/* SPDX-License-Identifier: MIT */
/* Regions, and operations whose syntax no format tells: loops, jumps, calls. Section 8.7. */
#include <string.h>

#include "parse.h"

#define MAX_LABELS	4096	/* open at one time: looked up one by one */

/* ---- Scopes and blocks ----------------------------------------------------------------------- */

void end_scope(struct parser *p, size_t base)
{
	while (p->bindings.n > base) {
		struct binding *b = &p->bindings.data[--p->bindings.n];

		b->name->slot = b->before;
	}
}

/* The block of a label, which need not have been read yet. */
static struct pto_block *label_block(struct parser *p, struct pto_region *r, const char *at,
				     const struct pto_name *name, size_t *index)
{
	struct label l = { .name = name, .region = r, .at = at };
	size_t i;

	for (i = p->labels.n; i-- > 0;)
		if (p->labels.data[i].region == r && p->labels.data[i].name == name) {
			*index = i;
			return p->labels.data[i].block;
		}
	if (p->labels.n >= MAX_LABELS) {
		fail(p, at, "split the function", "more than %d labels", MAX_LABELS);
		return NULL;
	}
	l.block = arena_new(&p->m->arena, struct pto_block);
	if (!l.block || !push(p, labels, l)) {
		no_memory(p);
		return NULL;
	}
	l.block->region = r;
	l.block->label = name;
	*index = p->labels.n - 1;
	return l.block;
}

static const struct pto_name *label_name(struct parser *p)
{
	struct span s;

	if (!expect(p, '^'))
		return NULL;
	s.at = p->at;
	while (is_word_char(*p->at))
		p->at++;
	s.size = (size_t)(p->at - s.at);
	if (!s.size) {
		fail(p, s.at, NULL, "expected a label behind '^'");
		return NULL;
	}
	return pto_intern(p->m, s.at, s.size);
}

/* Counts "(%a: T, ...)", putting the types on the stack. */
static bool scan_args(struct parser *p, size_t *n)
{
	struct pto_name *name;
	const struct pto_type *t;

	*n = 0;
	if (!take(p, '(') || take(p, ')'))
		return true;
	do {
		if (!expect(p, '%') || !ssa_name(p, &name) || !expect(p, ':'))
			return false;
		t = parse_type(p);
		if (t == &elided_type)
			return fail(p, p->at, NULL, "an argument needs a complete type");
		if (!t || !push(p, types, t))
			return false;
		++*n;
	} while (take(p, ','));
	return expect(p, ')');
}

/* Binds the names of arguments that stand at @text, behind "(". */
static bool bind_args(struct parser *p, const char *text, struct pto_value *args, size_t n)
{
	const char *back = p->at;
	struct pto_name *name;
	size_t i;

	p->at = text;
	for (i = 0; i < n; i++) {
		const char *at;

		skip_space(p);
		at = p->at++;
		if (!ssa_name(p, &name) || !bind_value(p, at, name, &args[i]))
			return false;
		while (i + 1 < n && *p->at != '%')
			p->at++; /* over a type or an initial value; both were read before */
	}
	p->at = back;
	return true;
}

/* "^name(%a: T):" */
static bool parse_label(struct parser *p, struct pto_region *r, struct pto_block **out)
{
	const char *at = p->at, *args;
	const struct pto_name *name = label_name(p);
	size_t base = p->types.n, n, i, index;
	struct pto_block *b;

	if (!name)
		return false;
	b = label_block(p, r, at, name, &index);
	if (!b)
		return false;
	if (p->labels.data[index].defined)
		return fail(p, at, NULL, "redefinition of block ^%s", name->text);
	p->labels.data[index].defined = true;
	skip_space(p);
	args = p->at + 1;
	if (!scan_args(p, &n) || !expect(p, ':'))
		return false;
	if (n) {
		b->args = arena_zalloc(&p->m->arena, n, sizeof(*b->args));
		if (!b->args)
			return no_memory(p);
	}
	b->n_args = (uint32_t)n;
	for (i = 0; i < n; i++) {
		b->args[i].block = b;
		b->args[i].index = (uint32_t)i;
		b->args[i].type = p->types.data[base + i];
	}
	p->types.n = base;
	*(r->last ? &r->last->next : &r->first) = b;
	r->last = b;
	*out = b;
	return bind_args(p, args, b->args, n);
}

static bool check_labels(struct parser *p, size_t base)
{
	size_t i;

	for (i = base; i < p->labels.n; i++)
		if (!p->labels.data[i].defined)
			return fail(p, p->labels.data[i].at, NULL, "block ^%s is not defined",
				    p->labels.data[i].name->text);
	p->labels.n = base;
	return true;
}

bool parse_region(struct parser *p, struct pto_region *r, struct pto_block *entry)
{
	size_t scope = p->bindings.n, labels = p->labels.n;
	struct pto_block *b = entry;

	if (!deeper(p) || !expect(p, '{'))
		return false;
	while (peek(p) != '}') {
		if (*p->at == '^') {
			if (!parse_label(p, r, &b))
				return false;
			continue;
		}
		if (p->at >= p->end)
			return expect(p, '}');
		if (!b) {
			b = pto_block_new(p->m, r, 0);
			if (!b)
				return no_memory(p);
		}
		if (!parse_op(p, b))
			return false;
	}
	p->depth--;
	end_scope(p, scope);
	return expect(p, '}') && check_labels(p, labels);
}

/* Loops and branches without results may leave out their last line. */
bool end_with_yield(struct parser *p, struct pto_region *r)
{
	struct pto_block *b = r->last;
	struct pto_op *op;

	if (!b)
		b = pto_block_new(p->m, r, 0);
	if (!b)
		return no_memory(p);
	if (b->last && pto_has(b->last, PTO_F_TERM))
		return true;
	op = pto_op_new(p->m, PTO_OP_YIELD, (struct pto_op_shape){ 0 }, loc_at(p, p->at));
	if (!op)
		return no_memory(p);
	pto_append(b, op);
	return true;
}

/* ---- Types of results ------------------------------------------------------------------------ */

/* "T", "(T, T)" or "()" behind an arrow, onto the stack */
static bool result_types(struct parser *p)
{
	const struct pto_type *t;

	if (take(p, '('))
		return take(p, ')') || (parse_type_list(p) && expect(p, ')'));
	t = parse_type(p);
	if (t == &elided_type)
		return fail(p, p->at, NULL, "a result needs a complete type");
	return t && push(p, types, t);
}

static bool arrow_results(struct parser *p)
{
	return !take_text(p, "->") || result_types(p);
}

static bool trailing_dict(struct parser *p, struct opstate *s)
{
	uint32_t n;

	if (peek(p) != '{')
		return true;
	if (!parse_dict(p, s->code))
		return false;
	s->op->attr = attrs_keep(p, s->attrs, &n);
	s->op->n_attrs = (uint16_t)n;
	return s->op->attr != NULL;
}

/* ---- Loops and branches ---------------------------------------------------------------------- */

/* "(%x = %init, ...)": operands of the current group; *@names behind the "(" */
static bool parse_inits(struct parser *p, struct opstate *s, const char **names)
{
	struct pto_name *name;

	if (!expect(p, '('))
		return false;
	*names = p->at;
	if (take(p, ')'))
		return true;
	do {
		if (!expect(p, '%') || !ssa_name(p, &name) || !expect(p, '=') ||
		    !parse_operand(p, s->group))
			return false;
	} while (take(p, ','));
	return expect(p, ')');
}

/* Binds what parse_inits() read: names are every second "%". */
static bool bind_inits(struct parser *p, const char *text, struct pto_value *args, size_t n)
{
	const char *back = p->at;
	struct pto_name *name;
	size_t i;

	p->at = text;
	for (i = 0; i < n; i++) {
		const char *at;

		skip_space(p);
		at = p->at++;
		if (!ssa_name(p, &name) || !bind_value(p, at, name, &args[i]))
			return false;
		take(p, '=');
		take(p, '%');
		if (!ssa_name(p, &name))
			return false;
		take(p, ',');
	}
	p->at = back;
	return true;
}

static bool bound_operand(struct parser *p, struct opstate *s)
{
	return parse_operand(p, s->group++);
}

static bool for_body(struct parser *p, struct opstate *s, const char *iv_at, struct pto_name *iv,
		     const char *inits)
{
	size_t scope = p->bindings.n, n = s->op->n_operands - 3u, i;
	struct pto_block *b = pto_block_new(p->m, &s->op->region[0], (unsigned int)n + 1);

	if (!b)
		return no_memory(p);
	b->args[0].type = s->op->operand[0].value->type;
	for (i = 0; i < n; i++)
		b->args[i + 1].type = s->op->operand[i + 3].value->type;
	if (!bind_value(p, iv_at, iv, &b->args[0]) || !bind_inits(p, inits, b->args + 1, n) ||
	    !parse_region(p, &s->op->region[0], b))
		return false;
	end_scope(p, scope);
	return end_with_yield(p, &s->op->region[0]) && trailing_dict(p, s);
}

static bool parse_for(struct parser *p, struct opstate *s, struct pto_block *b)
{
	const char *iv_at, *inits = NULL;
	struct pto_name *iv;
	const struct pto_type *t;

	skip_space(p);
	iv_at = p->at;
	if (!expect(p, '%') || !ssa_name(p, &iv) || !expect(p, '=') || !bound_operand(p, s) ||
	    !expect_word(p, "to") || !bound_operand(p, s) || !expect_word(p, "step") ||
	    !bound_operand(p, s))
		return false;
	if (take_word(p, "iter_args") && !parse_inits(p, s, &inits))
		return false;
	if (!arrow_results(p))
		return false;
	if (take(p, ':')) {
		t = parse_type(p);
		if (!t)
			return false;
		if (t != p->operands.data[s->operands].value->type)
			return fail(p, p->at, NULL, "type of the loop differs from its bounds'");
	}
	return op_finish(p, s, b, 1, 0) && for_body(p, s, iv_at, iv, inits);
}

static bool branch(struct parser *p, struct pto_region *r)
{
	return parse_region(p, r, NULL) && end_with_yield(p, r);
}

static bool parse_if(struct parser *p, struct opstate *s, struct pto_block *b)
{
	if (!bound_operand(p, s) || !arrow_results(p) || !op_finish(p, s, b, 2, 0) ||
	    !branch(p, &s->op->region[0]))
		return false;
	if (take_word(p, "else") && !branch(p, &s->op->region[1]))
		return false;
	return trailing_dict(p, s);
}

static bool while_before(struct parser *p, struct opstate *s, const char *inits)
{
	size_t scope = p->bindings.n, n = s->op->n_operands, i;
	struct pto_block *b = pto_block_new(p->m, &s->op->region[0], (unsigned int)n);

	if (!b)
		return no_memory(p);
	for (i = 0; i < n; i++)
		b->args[i].type = s->op->operand[i].value->type;
	if (!bind_inits(p, inits, b->args, n) || !parse_region(p, &s->op->region[0], b))
		return false;
	end_scope(p, scope);
	return true;
}

static bool parse_while(struct parser *p, struct opstate *s, struct pto_block *b)
{
	const char *inits = p->at;
	size_t i;

	if (peek(p) == '(' && !parse_inits(p, s, &inits))
		return false;
	if (!expect(p, ':') || !expect(p, '('))
		return false;
	for (i = 0; peek(p) != ')'; i++)
		if ((i && !expect(p, ',')) || !parse_typed(p, s, i))
			return false;
	if (!expect(p, ')') || !take_text(p, "->") || !result_types(p))
		return fail(p, p->at, "write scf.while (...) : (T) -> T",
			    "expected a function type");
	return op_finish(p, s, b, 2, 0) && while_before(p, s, inits) && expect_word(p, "do") &&
	       parse_region(p, &s->op->region[1], NULL) && end_with_yield(p, &s->op->region[1]);
}

static bool parse_exec(struct parser *p, struct opstate *s, struct pto_block *b)
{
	return arrow_results(p) && op_finish(p, s, b, 1, 0) &&
	       parse_region(p, &s->op->region[0], NULL) && end_with_yield(p, &s->op->region[0]);
}

/* One more region for @op; the others move. */
static struct pto_region *add_region(struct parser *p, struct pto_op *op)
{
	struct pto_region *list;
	unsigned int i;

	if (op->n_regions & (op->n_regions - 1) && op->n_regions > 0) {
		list = op->region; /* room is the next power of two */
	} else {
		list = arena_zalloc(&p->m->arena, op->n_regions ? 2u * op->n_regions : 1,
				    sizeof(*list));
		if (!list) {
			no_memory(p);
			return NULL;
		}
		if (op->n_regions)
			memcpy(list, op->region, op->n_regions * sizeof(*list));
	}
	op->region = list;
	for (i = 0; i < op->n_regions; i++)
		pto_for_each_block(b, &list[i])
			b->region = &list[i];
	list[op->n_regions].op = op;
	return &list[op->n_regions++];
}

static bool parse_case(struct parser *p, struct opstate *s)
{
	struct pto_attr a = { .kind = PTO_ATTR_INT };
	struct pto_region *r;

	if (s->op->n_regions > 1000)
		return fail(p, p->at, NULL, "more than 1000 cases");
	if (!integer(p, &a.i) || !push(p, attrs, a))
		return false;
	r = add_region(p, s->op);
	return r && branch(p, r);
}

static bool parse_switch(struct parser *p, struct opstate *s, struct pto_block *b)
{
	struct pto_attr cases = { .kind = PTO_ATTR_ARRAY };

	if (!bound_operand(p, s) || !arrow_results(p) || !op_finish(p, s, b, 0, 0) ||
	    !add_region(p, s->op))
		return false;
	while (take_word(p, "case"))
		if (!parse_case(p, s))
			return false;
	if (!expect_word(p, "default") || !branch(p, &s->op->region[0]))
		return false;
	cases.name = pto_intern_text(p->m, "cases");
	cases.list = attrs_keep(p, s->attrs, &cases.count);
	return cases.list && (!pto_set_attr(p->m, s->op, cases) || no_memory(p));
}

/* ---- Jumps, calls, constants, pipes ---------------------------------------------------------- */

/* "^bb(%a : T)" */
static bool parse_target(struct parser *p, struct opstate *s, struct pto_region *r,
			 struct pto_block **out)
{
	const char *at = p->at;
	const struct pto_name *name = label_name(p);
	size_t first = p->operands.n - s->operands, i, index;

	if (!name)
		return false;
	*out = label_block(p, r, at, name, &index);
	if (!*out || !take(p, '(') || take(p, ')'))
		return *out != NULL;
	if (!parse_operands(p, s, ':') || !expect(p, ':'))
		return false;
	for (i = first; s->operands + i < p->operands.n; i++)
		if ((i > first && !expect(p, ',')) || !parse_typed(p, s, i))
			return false;
	return expect(p, ')');
}

static bool parse_br(struct parser *p, struct opstate *s, struct pto_block *b)
{
	struct pto_block *to;

	if (!parse_target(p, s, b->region, &to) || !op_finish(p, s, b, 0, 1))
		return false;
	s->op->succ[0] = to;
	return true;
}

static bool parse_cond_br(struct parser *p, struct opstate *s, struct pto_block *b)
{
	struct pto_block *yes, *no;

	if (!bound_operand(p, s) || !expect(p, ',') || !parse_target(p, s, b->region, &yes))
		return false;
	s->group++;
	if (!expect(p, ',') || !parse_target(p, s, b->region, &no) || !op_finish(p, s, b, 0, 2))
		return false;
	s->op->succ[0] = yes;
	s->op->succ[1] = no;
	return true;
}

static bool parse_call(struct parser *p, struct opstate *s, struct pto_block *b)
{
	struct pto_attr a = { .kind = PTO_ATTR_SYMBOL };
	size_t i;

	if (!symbol(p, &a.text) || !add_attr(p, "callee", 6, a) || !expect(p, '(') ||
	    !parse_operands(p, s, ')') || !expect(p, ')') || !expect(p, ':') || !expect(p, '('))
		return false;
	for (i = 0; peek(p) != ')'; i++)
		if ((i && !expect(p, ',')) || !parse_typed(p, s, i))
			return false;
	if (i != p->operands.n - s->operands)
		return fail(p, p->at, NULL, "fewer types than operands");
	if (!expect(p, ')') || !take_text(p, "->"))
		return fail(p, p->at, "write (T) -> T, or (T) -> ()", "expected '->'");
	return result_types(p) && op_finish(p, s, b, 0, 0);
}

static bool parse_const(struct parser *p, struct opstate *s, struct pto_block *b)
{
	struct pto_attr a = { 0 };
	const struct pto_type *t;

	if (peek(p) == '{' && !parse_dict(p, s->code))
		return false;
	if (!parse_attr(p, PTO_A_NONE, &a))
		return false;
	if (a.kind != PTO_ATTR_INT && a.kind != PTO_ATTR_FLOAT && a.kind != PTO_ATTR_BOOL &&
	    a.kind != PTO_ATTR_DENSE)
		return fail(p, s->at, "write a number and its type: 4 : index",
			    "expected a number");
	if (a.kind == PTO_ATTR_BOOL)
		a.type = pto_scalar(p->m, PTO_I1);
	t = a.type ? a.type : pto_scalar(p->m, a.kind == PTO_ATTR_INT ? PTO_I64 : PTO_F64);
	a.type = t;
	return t && push(p, types, t) && add_attr(p, "value", 5, a) && op_finish(p, s, b, 0, 0);
}

/* "(gm_slot_buffer = %p : T, ...)": groups 0 to 2, in any order */
static bool pipe_operand(struct parser *p, struct opstate *s)
{
	static const char *const names[] = { "gm_slot_buffer", "c2v_consumer_buf",
					     "v2c_consumer_buf" };
	struct operand *o, moved;
	unsigned int group;
	struct span n = word(p);

	for (group = 0; group < 3; group++)
		if (strlen(names[group]) == n.size && !memcmp(names[group], n.at, n.size))
			break;
	if (group == 3)
		return fail(p, n.at, "gm_slot_buffer, c2v_consumer_buf or v2c_consumer_buf",
			    "unknown operand '%.*s'", (int)n.size, n.at);
	if (!expect(p, '=') || !parse_operand(p, group) || !expect(p, ':') ||
	    !parse_typed(p, s, p->operands.n - s->operands - 1))
		return false;
	for (o = &p->operands.data[p->operands.n - 1];
	     o > &p->operands.data[s->operands] && o[-1].group >= o->group; o--) {
		if (o[-1].group == o->group)
			return fail(p, n.at, NULL, "%s is given twice", names[group]);
		moved = o[-1];
		o[-1] = *o;
		*o = moved;
	}
	return true;
}

static bool parse_pipe(struct parser *p, struct opstate *s, struct pto_block *b)
{
	if (peek(p) == '{' && !parse_dict(p, s->code))
		return false;
	if (!expect(p, '('))
		return false;
	if (!take(p, ')')) {
		do {
			if (!pipe_operand(p, s))
				return false;
		} while (take(p, ','));
		if (!expect(p, ')'))
			return false;
	}
	if (peek(p) == '{' && !parse_dict(p, s->code))
		return false;
	return arrow_results(p) && op_finish(p, s, b, 0, 0);
}

static const struct {
	const char *name;
	bool (*parse)(struct parser *p, struct opstate *s, struct pto_block *b);
} customs[] = {
	{ "for", parse_for }, { "if", parse_if }, { "while", parse_while }, { "exec", parse_exec },
	{ "switch", parse_switch }, { "br", parse_br }, { "cond_br", parse_cond_br },
	{ "call", parse_call }, { "const", parse_const }, { "pipe", parse_pipe },
};

bool parse_custom(struct parser *p, struct opstate *s, struct pto_block *b, const char *which)
{
	size_t i;

	for (i = 0; i < sizeof(customs) / sizeof(customs[0]); i++)
		if (!strcmp(customs[i].name, which))
			return customs[i].parse(p, s, b);
	return fail(p, s->at, NULL, "%s cannot stand here", pto_op_info(s->code)->name);
}
