/* SPDX-License-Identifier: MIT */
/*
 * Names. A binding says what a name means at this point of the text. Changes are logged, so that a
 * branch can be undone before its sibling is parsed, and what a name means after an if or a loop is
 * found by comparing.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "front.h"

struct binding *bind_find(struct front *f, const char *name)
{
	const char *key = px_intern(f->px, name);
	struct binding *b;

	if (f->inline_prefix)
		key = px_intern(f->px, px_printf(f->px, "%s%s", f->inline_prefix, name));
	b = var_map_get(&f->names, (const struct ir_node *)key);
	if (b)
		return b;
	b = px_new(f->px, struct binding);
	b->name = key;
	var_map_set(&f->names, (const struct ir_node *)key, b);
	return b;
}

static void log_change(struct front *f, struct binding *b)
{
	if (f->n_changes == f->change_room) {
		size_t room = f->change_room ? 2 * f->change_room : 64;
		struct change *changes = px_alloc(f->px, room, sizeof(*changes));

		if (f->n_changes)
			memcpy(changes, f->changes, f->n_changes * sizeof(*changes));
		f->changes = changes;
		f->change_room = room;
	}
	f->changes[f->n_changes++] = (struct change){ b, *b };
}

static void bind_state(struct front *f, struct binding *b, struct ir_node *node, uint8_t state,
		       struct span span)
{
	log_change(f, b);
	b->node = node;
	b->root = NULL;
	b->state = state;
	b->span = span;
	b->set_at = ++f->clock;
}

void bind_set(struct front *f, const char *name, struct ir_node *node, struct span span)
{
	bind_state(f, bind_find(f, name), node, BIND_OK, span);
}

void bind_break(struct front *f, const char *name, struct span span)
{
	bind_state(f, bind_find(f, name), NULL, BIND_BROKEN, span);
}

void bind_forget(struct front *f, const char *name)
{
	bind_find(f, name)->state = f->flags & PARSE_STRICT_SSA ? BIND_INNER : BIND_NONE;
}

void bind_counted(struct front *f, const char *name, struct span loop)
{
	bind_state(f, bind_find(f, name), NULL, BIND_LOOP, loop);
}

static void counted_used(struct front *f, const char *name, struct span span)
{
	struct diag *d = diag_add(f->px, DIAG_UNDEFINED, span,
				  "Variable '%s' had a value before the loop over '%s', which would be another one here",
				  name, name);

	diag_hint(f->px, d, "Give the loop's variable another name, or assign '%s' again", name);
}

static bool is_param(const struct front *f, const struct ir_node *value)
{
	return list_has(&f->func->params, value);
}

struct ir_node *bind_root(struct front *f, const struct ir_node *value)
{
	struct binding *b;

	if (value->kind == IR_CALL)
		return var_map_get(&f->roots, value);
	if (!ir_is_var(value) || is_param(f, value))
		return ir_is_var(value) ? (struct ir_node *)value : NULL;
	b = var_map_get(&f->names, (const struct ir_node *)px_intern(f->px, IR_AS(value, var)->name));
	return b && b->node == value ? b->root : NULL;
}

/* ---- Branches and loops ---- */

size_t bind_mark(struct front *f)
{
	return f->n_changes;
}

static void restore(struct binding *b, const struct binding *old)
{
	struct ir_list variables = b->variables;

	*b = *old;
	b->variables = variables;
}

void bind_rollback(struct front *f, size_t mark)
{
	while (f->n_changes > mark) {
		struct change *c = &f->changes[--f->n_changes];

		restore(c->binding, &c->before);
	}
}

/* Each binding that changed since @mark, once, with its state now in .before. */
struct change *bind_changes(struct front *f, size_t mark, size_t *n)
{
	struct change *now = px_alloc(f->px, f->n_changes - mark + 1, sizeof(*now));
	size_t i;

	*n = 0;
	for (i = mark; i < f->n_changes; i++) {
		struct binding *b = f->changes[i].binding;
		size_t j;

		for (j = mark; j < i && f->changes[j].binding != b; j++)
			;
		if (j == i)
			now[(*n)++] = (struct change){ b, *b };
	}
	return now;
}

static bool same_state(const struct binding *a, const struct binding *b)
{
	return a->state == b->state && a->node == b->node;
}

static void bind_maybe(struct front *f, struct binding *b, const struct binding *one,
		       const struct binding *other, const char *where)
{
	bool broken = one->state == BIND_BROKEN || other->state == BIND_BROKEN;
	const struct binding *inner = one->state == BIND_INNER ? one :
				      other->state == BIND_INNER ? other : NULL;
	const char *name = b->name;

	if (broken || inner) {
		bind_state(f, b, NULL, broken ? BIND_BROKEN : BIND_INNER,
			   inner ? inner->span : b->span);
		return;
	}
	if (one->state == BIND_LOOP || other->state == BIND_LOOP) {
		bind_counted(f, name, b->span);
		return;
	}
	bind_state(f, b, NULL, BIND_MAYBE, b->span);
	if (one->state == BIND_OK && other->state == BIND_OK && one->node->type &&
	    other->node->type)
		b->why = px_printf(f->px, "Variable '%s' is %s or %s here, depending on %s", name,
				   type_text(f->px, one->node->type),
				   type_text(f->px, other->node->type), where);
	else
		b->why = px_printf(f->px, "Variable '%s' may be undefined: it is assigned only in %s",
				   name, where);
}

/* The end of a loop's body or a branch: under strict_ssa the names that it defines end with it. */
void bind_end_body(struct front *f, size_t mark)
{
	struct change *end;
	size_t n, i, j;

	if (!(f->flags & PARSE_STRICT_SSA))
		return;
	end = bind_changes(f, mark, &n);
	for (i = 0; i < n; i++) {
		for (j = mark; f->changes[j].binding != end[i].binding; j++)
			;
		if (end[i].before.state == BIND_OK && f->changes[j].before.state != BIND_OK)
			bind_state(f, end[i].binding, NULL, BIND_INNER, end[i].before.span);
	}
}

/* One meaning on both ways; its memory is a parameter's only if it is on both. */
static void join_roots(struct front *f, struct binding *b, const struct binding *other)
{
	if (b->root == other->root)
		return;
	log_change(f, b);
	b->root = NULL;
}

/* After both branches: @then_end holds the names that the first one changed. */
void bind_join(struct front *f, const struct change *then_end, size_t n, size_t mark)
{
	size_t n_else, i, j;
	struct change *else_end = bind_changes(f, mark, &n_else);

	for (i = 0; i < n; i++) {
		struct binding *b = then_end[i].binding, now = *b;

		if (!same_state(&then_end[i].before, &now))
			bind_maybe(f, b, &then_end[i].before, &now, "one branch of an if");
		else
			join_roots(f, b, &then_end[i].before);
	}
	for (i = 0; i < n_else; i++) {
		struct binding *b = else_end[i].binding;
		const struct binding *before = NULL;

		for (j = 0; j < n && then_end[j].binding != b; j++)
			;
		if (j < n)
			continue;
		for (j = mark; !before; j++)
			before = f->changes[j].binding == b ? &f->changes[j].before : NULL;
		if (!same_state(before, &else_end[i].before))
			bind_maybe(f, b, before, &else_end[i].before, "one branch of an if");
		else
			join_roots(f, b, before);
	}
}

static bool used_from_outside(const struct loop_frame *frame, const struct binding *b)
{
	return list_has(&frame->used, (const struct ir_node *)b);
}

/*
 * A loop may run no or many times: a name that is another variable at the end of the body than at
 * its beginning has no single meaning after the loop, nor at the beginning of the next trip.
 */
void bind_end_loop(struct front *f, size_t mark, struct span span)
{
	size_t n, i, j;
	struct change *end = bind_changes(f, mark, &n);

	for (i = 0; i < n; i++) {
		struct binding *b = end[i].binding, before;

		for (j = mark; f->changes[j].binding != b; j++)
			;
		before = f->changes[j].before;
		if (same_state(&before, b)) {
			join_roots(f, b, &before);
			continue;
		}
		if (before.state == BIND_OK && b->state == BIND_LOOP && used_from_outside(f->loop, b))
			counted_used(f, b->name, b->span);
		if (before.state == BIND_OK && b->state == BIND_OK && used_from_outside(f->loop, b))
			diag_hint(f->px,
				  diag_add(f->px, DIAG_TYPE, span,
					   "The loop changes the type of '%s' from %s to %s", b->name,
					   type_text(f->px, before.node->type),
					   type_text(f->px, b->node->type)),
				  "Use another name for the new value");
		end[i].before = *b;
		bind_maybe(f, b, &before, &end[i].before, "a loop that may not run");
	}
}

/* ---- Values ---- */

struct ir_node *front_dynamic(struct front *f, const char *name, struct span span)
{
	struct ir_node *var;
	uint32_t i;

	for (i = 0; i < f->dynamics.n; i++)
		if (!strcmp(IR_AS(f->dynamics.at[i], var)->name, name))
			return f->dynamics.at[i];
	var = ir_var(f->px, name, type_scalar(f->px, DT_INDEX), span);
	IR_AS(var, var)->dynamic = true;
	list_push(f->px, &f->dynamics, var);
	return var;
}

struct ir_memref *front_memref(struct front *f, int64_t space, int64_t addr, uint64_t size,
			       uint64_t id, struct span span)
{
	struct ir_memref *m;
	uint32_t i;

	for (i = 0; i < f->memrefs.n; i++) {
		m = IR_AS(f->memrefs.at[i], memref);
		if (m->id == id && m->space == space && m->addr == addr && m->size == size)
			return m;
	}
	m = ir_memref(f->px, space, addr, size, id, span);
	list_push(f->px, &f->memrefs, &m->node);
	return m;
}

static struct ir_node *list_node(struct front *f, const struct py_value *value, struct span span,
				 const char *name)
{
	struct ir_tuple *tuple = ir_new(f->px, IR_MAKE_TUPLE, span, NULL);
	const struct ir_type **types =
		px_alloc(f->px, value->n + 1, sizeof(const struct ir_type *));
	uint32_t i;

	for (i = 0; i < value->n; i++) {
		struct ir_node *e = value_node(f, &value->items[i], span, name);

		if (!e)
			return NULL;
		types[i] = e->type;
		list_push(f->px, &tuple->elements, e);
	}
	tuple->node.type = type_tuple(f->px, types, value->n);
	return &tuple->node;
}

struct ir_node *value_node(struct front *f, const struct py_value *value, struct span span,
			   const char *name)
{
	switch (value->kind) {
	case VAL_BOOL:
		return ir_bool(f->px, value->i, span);
	case VAL_INT:
		return ir_int(f->px, value->i, DT_INDEX, span);
	case VAL_FLOAT:
		if (!isnan(value->f))
			return ir_float(f->px, value->f, DT_FP32, span);
		diag_add(f->px, DIAG_TYPE, span, "'%s' is not a number, which has no literal", name);
		return NULL;
	case VAL_DYNAMIC:
		return front_dynamic(f, value->s, span);
	case VAL_LIST:
		return list_node(f, value, span, name);
	case VAL_HUGE:
		diag_add(f->px, DIAG_TYPE, span, "'%s' does not fit into 64 bits", name);
		return NULL;
	default:
		if (value->s && !strcmp(value->s, "_Missing")) {
			diag_add(f->px, DIAG_TYPE, span, "pypto.language has no name '%s'", name);
			return NULL;
		}
		diag_hint(f->px,
			  diag_add(f->px, DIAG_TYPE, span, "Unsupported closure variable type: %s",
				   value->s ? value->s : "NoneType"),
			  "'%s' is a Python object; numbers, booleans, pl.dynamic() and lists of them can be used",
			  name);
		return NULL;
	}
}

static void note_use(struct front *f, struct binding *b)
{
	struct loop_frame *frame;

	for (frame = f->loop; frame; frame = frame->outer)
		if (b->set_at < frame->started_at && !used_from_outside(frame, b))
			list_push(f->px, &frame->used, (struct ir_node *)b);
}

static struct ir_node *closure_value(struct front *f, const struct py_node *node)
{
	struct py_value value = { 0 };
	const char *why = NULL;
	int rc = f->scope->eval(f->scope, f->px, node, &value, &why);

	if (rc && f->inline_scope)
		rc = f->inline_scope->eval(f->inline_scope, f->px, node, &value, &why);
	if (!rc)
		return value_node(f, &value, node->span, node->name);
	diag_hint(f->px, diag_add(f->px, DIAG_UNDEFINED, node->span, "Undefined variable '%s'",
				  node->name),
		  "Assign it before this line, or define it in the Python code around the function");
	bind_break(f, node->name, node->span);
	return NULL;
}

static void inner_used(struct front *f, const struct binding *b, const struct py_node *node)
{
	struct diag *diag = diag_add(f->px, DIAG_SCOPE, node->span,
				     "Variable '%s' ends with the loop or branch that defines it",
				     node->name);

	diag->previous = b->span;
	diag_hint(f->px, diag, "Let the body yield it: %s = pl.yield_(...); or leave out strict_ssa",
		  node->name);
}

struct ir_node *name_value(struct front *f, const struct py_node *node)
{
	struct binding *b = bind_find(f, node->name);

	switch (b->state) {
	case BIND_OK:
		note_use(f, b);
		return b->node;
	case BIND_BROKEN:
		return NULL;
	case BIND_MAYBE:
		diag_hint(f->px, diag_add(f->px, DIAG_UNDEFINED, node->span, "%s", b->why),
			  "Assign '%s' before the loop or if, with the type it has inside",
			  node->name);
		bind_break(f, node->name, node->span);
		return NULL;
	case BIND_LOOP:
		counted_used(f, node->name, node->span);
		bind_break(f, node->name, node->span);
		return NULL;
	case BIND_INNER:
		inner_used(f, b, node);
		bind_break(f, node->name, node->span);
		return NULL;
	default:
		return closure_value(f, node);
	}
}

bool front_in_kernel(const struct front *f)
{
	return f->incore || f->func->func_type == FN_INCORE ||
	       f->func->func_type == FN_BLOCK_INCORE;
}
