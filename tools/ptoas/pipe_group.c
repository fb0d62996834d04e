/* SPDX-License-Identifier: MIT */
/*
 * Which initialisations are the two ends of one pipe, and the first flag of each. Section 9.8.
 *
 * The consumer reserves its local buffer, the producer imports it: the names say who belongs
 * together. Runs while both operations still exist; afterwards every end has "flag_base".
 */
#include "pipe.h"

/* A reserved buffer, by its name and the function that reserves it. */
struct buffer {
	const struct pto_name *name, *owner;
};

static bool is_init(const struct pto_op *op)
{
	return op->info->code == PTO_OP_AIC_INITIALIZE_PIPE ||
	       op->info->code == PTO_OP_AIV_INITIALIZE_PIPE;
}

/* The buffer that @v is the address of; without a name: it is none. */
static struct buffer buffer_of(struct pto_module *m, const struct pto_value *v)
{
	struct buffer b = { 0 };

	if (!v->def)
		return b;
	if (v->def->info->code == PTO_OP_RESERVE_BUFFER) {
		b.name = pto_attr_find(v->def, "name")->text;
		b.owner = pto_func_of(m, v->def)->name;
	} else if (v->def->info->code == PTO_OP_IMPORT_RESERVED_BUFFER) {
		b.name = pto_attr_find(v->def, "name")->text;
		b.owner = pto_attr_find(v->def, "peer_func")->text;
	}
	return b;
}

/* Local buffer of a direction: 0 cube to vector, 1 vector to cube; NULL: not used, or not given. */
static const struct pto_value *local_addr(const struct pto_op *init, unsigned int direction)
{
	const struct pto_use *u = pto_operand(init, 1 + direction);

	return u && pto_attr_int(init, "dir_mask", 0) >> direction & 1 ? u->value : NULL;
}

struct search {
	struct pto_module *m;
	const struct pto_op *init;
	struct buffer buffer;
	unsigned int direction;
	struct pto_op *peer;
};

static int match(struct pto_op *op, void *arg)
{
	struct search *s = arg;
	const struct pto_value *v;
	struct buffer b;

	if (!is_init(op) || op->info->code == s->init->info->code)
		return 0;
	v = local_addr(op, s->direction);
	if (!v)
		return 0;
	b = buffer_of(s->m, v);
	if (b.name == s->buffer.name && b.owner == s->buffer.owner)
		s->peer = op;
	return 0;
}

static struct pto_op *peer_of(struct pto_module *m, const struct pto_op *init,
			      unsigned int direction, struct buffer buffer)
{
	struct search s = { m, init, buffer, direction, NULL };

	pto_for_each_func(f, m)
		pto_walk(f->op, match, &s);
	return s.peer;
}

/* Every direction of @init needs an address that the other end knows too. */
static int check_direction(struct pto_pass_ctx *c, struct pto_op *init, unsigned int direction,
			   struct pto_op **peer)
{
	const struct pto_value *v = local_addr(init, direction);
	struct buffer b;

	if (!v)
		return 0;
	b = buffer_of(c->module, v);
	if (!b.name && pto_attr_find(init, "flag_base"))
		return 0;
	if (!b.name)
		return pto_op_error(c->diags, c->module, init,
				    "reserve the buffer in the consumer and import it in the "
				    "producer, or write flag_base = n : i32",
				    "requires local_addr to come from pto.reserve_buffer or "
				    "pto.import_reserved_buffer when 'flag_base' is not explicit");
	*peer = peer_of(c->module, init, direction, b);
	if (!*peer)
		return pto_op_error(c->diags, c->module, init,
				    "initialise the other end in a function of this module",
				    "requires a complete peer init pair when local_addr comes from "
				    "pto.reserve_buffer or pto.import_reserved_buffer");
	return 0;
}

static int note_mask(struct pto_op *op, void *arg)
{
	if (is_init(op))
		*(int64_t *)arg |= pto_attr_int(op, "dir_mask", 0);
	return 0;
}

/* Directions of all pipes between the functions of @a and @b. */
static int64_t directions(struct pto_module *m, const struct pto_op *a, const struct pto_op *b)
{
	int64_t mask = 0;

	pto_walk(pto_func_of(m, a)->op, note_mask, &mask);
	if (b)
		pto_walk(pto_func_of(m, b)->op, note_mask, &mask);
	return mask;
}

/* What both ends must say alike; what only one says holds for the other. */
static int share(struct pto_pass_ctx *c, struct pto_op *init, const struct pto_op *peer,
		 const char *name, int64_t otherwise)
{
	const struct pto_attr *own = pto_attr_find(init, name);
	const struct pto_attr *other = peer ? pto_attr_find(peer, name) : NULL;

	if (own && other && own->i != other->i)
		return pto_op_error(c->diags, c->module, init, "both ends are one pipe",
				    "has %s = %lld, its peer %lld", name, (long long)own->i,
				    (long long)other->i);
	return own ? 0 : pto_set_attr_int(c->module, init, name, other ? other->i : otherwise,
					  PTO_I32);
}

/* Users of the two ends move the same tiles. */
static int share_split(struct pto_pass_ctx *c, struct pto_op *init, struct pto_op *peer)
{
	struct pipe_splits s = pipe_splits_of(c->module, init);
	struct pipe_splits t = peer ? pipe_splits_of(c->module, peer) : s;
	struct pto_attr nosplit = { .name = pto_intern_text(c->module, "nosplit"),
				    .kind = PTO_ATTR_BOOL, .i = s.whole || t.whole };

	if ((s.whole && t.cut) || (s.cut && t.whole))
		return pto_op_error(c->diags, c->module, init,
				    "use split 0 at both ends, or at none",
				    "conflicting pipe split usage across peer pipe init ops");
	return pto_attr_find(init, "nosplit") ? 0 : pto_set_attr(c->module, init, nosplit);
}

static int complete(struct pto_pass_ctx *c, struct pto_op *init, struct pto_op *peer)
{
	int64_t dir = pto_attr_int(init, "dir_mask", 0), mask = directions(c->module, init, peer);
	int64_t base = dir == 2 && mask != 2 ? 2 : 0;
	int ret = share(c, init, peer, "slot_size", 0);

	if (!ret)
		ret = share(c, init, peer, "flag_base", base + 4 * pto_attr_int(init, "id", 0));
	return ret ? ret : share_split(c, init, peer);
}

static int group(struct pto_op *op, void *arg)
{
	struct pto_pass_ctx *c = arg;
	struct pto_op *peer = NULL;
	int ret;

	if (!is_init(op))
		return 0;
	ret = check_direction(c, op, 0, &peer);
	if (!ret)
		ret = check_direction(c, op, 1, &peer);
	return ret ? ret : complete(c, op, peer);
}

int pass_group_pipes(struct pto_pass_ctx *c)
{
	int ret = 0;

	pto_for_each_func(f, c->module)
		ret = ret ? ret : pto_walk(f->op, group, c);
	return ret;
}
