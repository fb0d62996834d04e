// SPDX-License-Identifier: MIT
/*
 * The buffers of a tensor map in the order of their addresses: a treap whose
 * nodes are also a list.  Ranges are disjoint.  Blocks of a ring heap come in
 * ascending order, so a search begins next to the buffer made last.
 */
#include "chip/tmap_priv.h"

static uint32_t priority_of(uint64_t addr)
{
	addr ^= addr >> 29;
	return addr * 0xBF58476D1CE4E5B9ull >> 32;
}

static bool is_answer(const struct tmap_buffer *b, uint64_t lo)
{
	return b->hi > lo && (!b->before || b->before->hi <= lo);
}

struct tmap_buffer *tmap_order_find(struct tmap *m, uint64_t lo)
{
	struct tmap_buffer *b = m->finger, *best = NULL;

	if (b && b->hi <= lo) {
		if (!b->after)
			return NULL;
		b = b->after;
	}
	if (b && is_answer(b, lo))
		return b;
	for (b = m->root; b;) {
		if (b->hi > lo) {
			best = b;
			b = b->child[0];
		} else {
			b = b->child[1];
		}
	}
	return best;
}

/* Puts @b in the place of the child @old. */
static void replace_child(struct tmap *m, struct tmap_buffer *up, struct tmap_buffer *old,
			  struct tmap_buffer *b)
{
	if (!up)
		m->root = b;
	else
		up->child[up->child[1] == old] = b;
	if (b)
		b->up = up;
}

/* Exchanges @b with its parent. */
static void rotate_up(struct tmap *m, struct tmap_buffer *b)
{
	struct tmap_buffer *p = b->up;
	int side = p->child[1] == b;
	struct tmap_buffer *mid = b->child[!side];

	replace_child(m, p->up, p, b);
	p->child[side] = mid;
	if (mid)
		mid->up = p;
	b->child[!side] = p;
	p->up = b;
}

static void link_list(struct tmap *m, struct tmap_buffer *b, struct tmap_buffer *after)
{
	struct tmap_buffer *before = after ? after->before : m->last;

	b->before = before;
	b->after = after;
	*(before ? &before->after : &m->first) = b;
	*(after ? &after->before : &m->last) = b;
}

void tmap_order_insert(struct tmap *m, struct tmap_buffer *b, struct tmap_buffer *after)
{
	link_list(m, b, after);
	b->priority = priority_of(b->lo);
	b->child[0] = NULL;
	b->child[1] = NULL;
	if (b->before && !b->before->child[1]) {
		b->up = b->before;
		b->up->child[1] = b;
	} else if (after) {
		b->up = after;
		after->child[0] = b;
	} else {
		b->up = NULL;
		m->root = b;
	}
	while (b->up && b->up->priority < b->priority)
		rotate_up(m, b);
	m->finger = b;
}

void tmap_order_erase(struct tmap *m, struct tmap_buffer *b)
{
	while (b->child[0] && b->child[1])
		rotate_up(m, b->child[b->child[1]->priority > b->child[0]->priority]);
	replace_child(m, b->up, b, b->child[0] ? b->child[0] : b->child[1]);
	*(b->before ? &b->before->after : &m->first) = b->after;
	*(b->after ? &b->after->before : &m->last) = b->before;
	if (m->finger == b)
		m->finger = b->before ? b->before : b->after;
}
