/* SPDX-License-Identifier: MIT */
/*
 * Names for printing. A value keeps its name where it can; one without a name, or whose name
 * another value visible there has, gets the next free number. Needs and leaves name->slot NULL.
 */
#include <stdio.h>

#include "print.h"

/* Names of the function that nothing visible has yet: new numbers avoid them. */
static char reserved;

struct namer {
	struct pto_module *m;
	unsigned int next, next_label;
};

static void each_value(struct pto_region *r, void (*fn)(struct pto_value *v))
{
	unsigned int i;

	pto_for_each_block(b, r) {
		for (i = 0; i < b->n_args; i++)
			fn(&b->args[i]);
		pto_for_each_op(op, b) {
			for (i = 0; i < op->n_results; i++)
				fn(&op->result[i]);
			for (i = 0; i < op->n_regions; i++)
				each_value(&op->region[i], fn);
		}
	}
}

static void reserve(struct pto_value *v)
{
	if (v->name)
		v->name->slot = &reserved;
}

static void release(struct pto_value *v)
{
	if (v->name)
		v->name->slot = NULL;
}

static void define(struct namer *n, struct pto_value *v)
{
	struct pto_name *name = v->name;
	char text[16];

	while (!name || (name->slot && (name != v->name || name->slot != &reserved))) {
		snprintf(text, sizeof(text), "%u", n->next++);
		name = pto_intern_text(n->m, text);
		if (!name)
			return;
	}
	v->name = name;
	name->slot = v;
}

/* Leaving a scope: its names may be used again. */
static void forget(struct pto_value *v)
{
	if (v->name && v->name->slot == v)
		v->name->slot = &reserved;
}

static bool label_taken(const struct pto_region *r, const struct pto_name *label)
{
	pto_for_each_block(b, r)
		if (b->label == label)
			return true;
	return false;
}

static void name_block(struct namer *n, struct pto_region *r, struct pto_block *b)
{
	char text[16];

	while (!b->label && !n->m->no_memory) {
		const struct pto_name *label;

		snprintf(text, sizeof(text), "bb%u", n->next_label++);
		label = pto_intern_text(n->m, text);
		if (label && !label_taken(r, label))
			b->label = label;
	}
}

static void define_region(struct namer *n, struct pto_region *r)
{
	unsigned int i;

	pto_for_each_block(b, r) {
		if (b != r->first || b->n_args)
			name_block(n, r, b);
		for (i = 0; i < b->n_args; i++)
			define(n, &b->args[i]);
		pto_for_each_op(op, b) {
			for (i = 0; i < op->n_regions; i++)
				define_region(n, &op->region[i]);
			for (i = 0; i < op->n_results; i++)
				define(n, &op->result[i]);
		}
	}
	pto_for_each_block(b, r) {
		for (i = 0; i < b->n_args; i++)
			forget(&b->args[i]);
		pto_for_each_op(op, b)
			for (i = 0; i < op->n_results; i++)
				forget(&op->result[i]);
	}
}

void name_values(struct pto_module *m, struct pto_func *f)
{
	struct namer n = { .m = m };

	each_value(&f->op->region[0], reserve);
	define_region(&n, &f->op->region[0]);
	each_value(&f->op->region[0], release);
}
