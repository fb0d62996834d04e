/* SPDX-License-Identifier: MIT */
/*
 * Equal pure operations become one: the earlier one that every path to the later one has passed,
 * which in structured code is one of the same block or of a block around it. Names of buffers stay
 * apart, since each is a handle with a valid shape of its own. Section 9.3, pass 10.
 */
#include <stdlib.h>
#include <string.h>

#include "passes.h"

struct entry {
	struct pto_op *op;
	uint32_t hash;
	uint32_t chain;		/* next of the bucket, + 1 */
};

/* Operations in scope. Entries of an inner block stand behind those of the outer ones. */
struct cse {
	struct entry *entries;
	uint32_t *buckets;	/* index of the newest entry, + 1 */
	uint32_t n, room, mask;
	bool no_memory;
};

static bool mergeable(const struct pto_op *op)
{
	return pto_has(op, PTO_F_PURE) && op->n_results == 1 && !op->n_regions &&
	       !pto_is_local(op->result[0].type) &&
	       op->result[0].type->kind != PTO_T_MULTI_TILE;
}

static uint32_t mix(uint32_t h, uintptr_t v)
{
	return (h ^ (uint32_t)(v >> 4) ^ (uint32_t)v) * 0x9E3779B1u;
}

static uint32_t hash_of(const struct pto_op *op)
{
	uint32_t h = mix(op->info->code, (uintptr_t)op->result[0].type);
	unsigned int i;

	for (i = 0; i < op->n_operands; i++)
		h = mix(h, (uintptr_t)op->operand[i].value);
	for (i = 0; i < op->n_attrs; i++)
		if (op->attr[i].kind != PTO_ATTR_ARRAY && op->attr[i].kind != PTO_ATTR_DICT)
			h = mix(h, (uintptr_t)op->attr[i].i);
	return h ^ h >> 15;
}

static bool same_attr(const struct pto_attr *a, const struct pto_attr *b)
{
	uint32_t i;

	if (a->name != b->name || a->kind != b->kind || a->of != b->of || a->type != b->type ||
	    a->count != b->count)
		return false;
	if (a->kind != PTO_ATTR_ARRAY && a->kind != PTO_ATTR_DICT)
		return a->i == b->i; /* the bits of a number, the pointer of a name */
	for (i = 0; i < a->count; i++)
		if (!same_attr(&a->list[i], &b->list[i]))
			return false;
	return true;
}

static bool same(const struct pto_op *a, const struct pto_op *b)
{
	unsigned int i;

	if (a->info != b->info || a->result[0].type != b->result[0].type ||
	    a->n_operands != b->n_operands || a->n_attrs != b->n_attrs)
		return false;
	for (i = 0; i < a->n_operands; i++)
		if (a->operand[i].value != b->operand[i].value ||
		    a->operand[i].group != b->operand[i].group)
			return false;
	for (i = 0; i < a->n_attrs; i++)
		if (!same_attr(&a->attr[i], &b->attr[i]))
			return false;
	return true;
}

static bool grow(struct cse *s)
{
	uint32_t room = s->room ? 2 * s->room : 256, i;
	void *entries = realloc(s->entries, room * sizeof(*s->entries));
	uint32_t *buckets = entries ? calloc(room, sizeof(*buckets)) : NULL;

	if (entries)
		s->entries = entries;
	if (!buckets)
		return false;
	free(s->buckets);
	s->buckets = buckets;
	s->room = room;
	s->mask = room - 1;
	for (i = 0; i < s->n; i++) {
		s->entries[i].chain = buckets[s->entries[i].hash & s->mask];
		buckets[s->entries[i].hash & s->mask] = i + 1;
	}
	return true;
}

/* The operation that @op repeats; NULL: it is the first, and now in scope. */
static struct pto_op *find(struct cse *s, struct pto_op *op)
{
	uint32_t hash = hash_of(op), i;
	struct entry *e;

	if (s->n == s->room && !grow(s)) {
		s->no_memory = true;
		return NULL;
	}
	for (i = s->buckets[hash & s->mask]; i; i = e->chain) {
		e = &s->entries[i - 1];
		if (e->hash == hash && same(e->op, op))
			return e->op;
	}
	s->entries[s->n] = (struct entry){ op, hash, s->buckets[hash & s->mask] };
	s->buckets[hash & s->mask] = ++s->n;
	return NULL;
}

/* Takes back everything behind the first @n; newest first, as chains have it. */
static void leave(struct cse *s, uint32_t n)
{
	while (s->n > n) {
		struct entry *e = &s->entries[--s->n];

		s->buckets[e->hash & s->mask] = e->chain;
	}
}

static void merge_block(struct cse *s, struct pto_block *b);

static void merge_op(struct cse *s, struct pto_op *op)
{
	struct pto_op *first = mergeable(op) ? find(s, op) : NULL;
	unsigned int i;

	if (first) {
		pto_replace_all_uses(&op->result[0], &first->result[0]);
		pto_remove(op);
		return;
	}
	for (i = 0; i < op->n_regions; i++)
		pto_for_each_block(b, &op->region[i])
			merge_block(s, b);
}

static void merge_block(struct cse *s, struct pto_block *b)
{
	uint32_t n = s->n;

	pto_for_each_op_safe(op, b)
		merge_op(s, op);
	leave(s, n);
}

int pass_merge_equal(struct pto_pass_ctx *c)
{
	struct cse s = { 0 };

	pto_for_each_func(f, c->module)
		merge_op(&s, f->op);
	free(s.entries);
	free(s.buckets);
	return s.no_memory ? -ENOMEM : 0;
}
