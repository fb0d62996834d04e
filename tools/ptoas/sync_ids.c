/* SPDX-License-Identifier: MIT */
/* Event ids for the pairs, and the operations that they become. */
#include <stdlib.h>

#include "sync.h"

#define IDS	8

static bool room_for(struct sync *s, void **list, uint32_t n, uint32_t *room, size_t size)
{
	uint32_t more = *room ? 2 * *room : 64;
	void *p;

	if (n < *room)
		return true;
	p = realloc(*list, more * size);
	if (!p) {
		s->no_memory = true;
		return false;
	}
	*list = p;
	*room = more;
	return true;
}

void sync_add_barrier(struct sync *s, struct pto_op *before, struct pto_op *loop,
		      unsigned int pipe)
{
	if (room_for(s, (void **)&s->barriers, s->n_barriers, &s->barrier_room,
		     sizeof(*s->barriers)))
		s->barriers[s->n_barriers++] = (struct sync_barrier){ before, loop, (uint8_t)pipe };
}

/* ---- Ids ----------------------------------------------------------------------------------- */

/* The section keeps one id of these pipes free for others. */
static unsigned int ids_of(const struct sync_pair *p)
{
	bool reserved = (p->src == PTO_PIPE_V && p->dst == PTO_PIPE_S) ||
			(p->src == PTO_PIPE_S && p->dst == PTO_PIPE_V) ||
			(p->src == PTO_PIPE_MTE2 && p->dst == PTO_PIPE_V);

	return reserved ? IDS - 1 : IDS;
}

/* Program order of the four places around an operation: wait, first set, last wait, set. */
static uint32_t set_place(const struct sync *s, const struct sync_pair *p)
{
	return p->loop ? s->in[p->loop->id] * 4 + 1 : s->out[p->after->id] * 4 + 3;
}

static uint32_t wait_place(const struct sync *s, const struct sync_pair *p)
{
	return p->loop ? s->out[p->loop->id] * 4 + 2 : s->in[p->before->id] * 4;
}

static bool open_together(const struct sync *s, const struct sync_pair *p,
			  const struct sync_pair *q)
{
	return set_place(s, p) < wait_place(s, q) && set_place(s, q) < wait_place(s, p);
}

bool sync_add_pair(struct sync *s, struct sync_pair p)
{
	unsigned int taken = 0, used = 0, free_ids;
	uint32_t i;

	if (!room_for(s, (void **)&s->pairs, s->n_pairs, &s->pair_room, sizeof(*s->pairs)))
		return false;
	if (s->no_ids) {
		s->pairs[s->n_pairs++] = p;
		return true;
	}
	for (i = 0; i < s->n_pairs; i++) {
		const struct sync_pair *q = &s->pairs[i];

		if (q->src != p.src || q->dst != p.dst)
			continue;
		used |= 1u << q->id;
		if (open_together(s, &p, q))
			taken |= 1u << q->id;
	}
	free_ids = ~taken & ((1u << ids_of(&p)) - 1);
	if (!free_ids)
		return false;
	if (free_ids & ~used)
		free_ids &= ~used;
	p.id = (uint8_t)__builtin_ctz(free_ids);
	s->pairs[s->n_pairs++] = p;
	return true;
}

/* ---- Operations ---------------------------------------------------------------------- */

static struct pto_op *flag(struct sync *s, const struct sync_pair *p, bool set)
{
	struct pto_module *m = s->c->module;
	struct pto_op *op = pto_op_new(m, set ? PTO_OP_SET_FLAG : PTO_OP_WAIT_FLAG,
				       (struct pto_op_shape){ 0 },
				       (struct pto_loc){ .at = PTO_NO_PLACE });

	if (!op || pto_set_attr_enum(m, op, "src_pipe", PTO_A_PIPE, p->src) ||
	    pto_set_attr_enum(m, op, "dst_pipe", PTO_A_PIPE, p->dst) ||
	    pto_set_attr_enum(m, op, "event_id", PTO_A_EVENT, p->id)) {
		s->no_memory = true;
		return NULL;
	}
	return op;
}

static void before(struct sync *s, struct pto_op *at, struct pto_op *op)
{
	if (op && !s->no_memory)
		pto_insert_before(at, op);
}

static void after(struct sync *s, struct pto_op *at, struct pto_op *op)
{
	if (op && !s->no_memory)
		pto_insert_after(at, op);
}

static void write_barrier(struct sync *s, const struct sync_barrier *b)
{
	struct pto_op *op = pto_op_new(s->c->module, PTO_OP_BARRIER, (struct pto_op_shape){ 0 },
				       (struct pto_loc){ .at = PTO_NO_PLACE });

	if (!op || pto_set_attr_enum(s->c->module, op, "pipe", PTO_A_PIPE, b->pipe))
		s->no_memory = true;
	else
		pto_insert_before(b->before, op);
}

/* In front of an operation: waits, then its loop's first sets; behind it: last waits, then sets. */
int sync_write(struct sync *s)
{
	uint32_t i;

	for (i = 0; i < s->n_pairs; i++)
		before(s, s->pairs[i].before, flag(s, &s->pairs[i], false));
	for (i = 0; i < s->n_barriers; i++)
		write_barrier(s, &s->barriers[i]);
	for (i = 0; i < s->n_pairs; i++) {
		if (s->pairs[i].loop)
			before(s, s->pairs[i].loop, flag(s, &s->pairs[i], true));
		after(s, s->pairs[i].after, flag(s, &s->pairs[i], true));
	}
	for (i = 0; i < s->n_pairs; i++)
		if (s->pairs[i].loop)
			after(s, s->pairs[i].loop, flag(s, &s->pairs[i], false));
	return s->no_memory ? -ENOMEM : 0;
}
