/* SPDX-License-Identifier: MIT */
/* The pass over functions: who gets synchronisation, and the tail. */
#include <stdlib.h>
#include <string.h>

#include "sync.h"

static int number(struct pto_op *op, void *arg);

/* Numbers the operations inside @op in the order in which they begin and end. */
static void number_inside(struct sync *s, struct pto_op *op)
{
	unsigned int i;

	for (i = 0; i < op->n_regions; i++)
		pto_for_each_block(b, &op->region[i])
			pto_for_each_op(o, b)
				number(o, s);
}

static int number(struct pto_op *op, void *arg)
{
	struct sync *s = arg;

	s->in[op->id] = ++s->clock;
	number_inside(s, op);
	s->out[op->id] = ++s->clock;
	return 0;
}

static void find_last(struct sync *s, const struct pto_op *func)
{
	uint32_t i;

	for (i = 0; i < s->a.n_ops; i++) {
		const struct pto_op *up = s->a.ops[i].op;

		for (; up && up != func; up = pto_parent(up))
			s->last[up->id] = i;
	}
}

int sync_decide(struct sync *s, struct pto_op *func)
{
	struct sync_summary sum = { { 0 } };
	int ret = pto_access_init(&s->a, func, s->c->arch);

	s->in = calloc(s->a.n_ops + 1u, sizeof(*s->in));
	s->out = calloc(s->a.n_ops + 1u, sizeof(*s->out));
	s->last = calloc(s->a.n_ops + 1u, sizeof(*s->last));
	if (ret || !s->in || !s->out || !s->last)
		return -ENOMEM;
	number_inside(s, func);
	find_last(s, func);
	sync_region(s, &func->region[0], &sum);
	return s->no_memory ? -ENOMEM : 0;
}

void sync_fini(struct sync *s)
{
	pto_access_fini(&s->a);
	free(s->in);
	free(s->out);
	free(s->last);
	free(s->pairs);
	free(s->barriers);
}

static int sync_func(struct pto_pass_ctx *c, struct pto_op *func)
{
	struct sync s = { .c = c };
	int ret = sync_decide(&s, func);

	if (!ret)
		ret = sync_write(&s);
	sync_fini(&s);
	return ret;
}

/* ---- The tail ------------------------------------------------------------------------------ */

static int is_work(struct pto_op *op, void *arg)
{
	struct pto_pass_ctx *c = arg;

	return op->n_regions || pto_op_pipes(op, c->arch);
}

static int add_tail(struct pto_pass_ctx *c, struct pto_op *func)
{
	const struct pto_attr *hint = pto_attr_find(func, "pto.auto_sync_tail_hint");
	struct pto_attr tail = { .kind = PTO_ATTR_STRING };
	const char *mode = "barrier-all";

	if (!pto_walk(func, is_work, c))
		return 0;
	if (hint && hint->kind == PTO_ATTR_STRING && !strcmp(hint->text->text, "mte3-to-s-event0"))
		mode = hint->text->text;
	tail.name = pto_intern_text(c->module, "pto.auto_sync_tail");
	tail.text = pto_intern_text(c->module, mode);
	if (!tail.name || !tail.text)
		return -ENOMEM;
	return pto_set_attr(c->module, func, tail);
}

static int check_hint(struct pto_pass_ctx *c, const struct pto_op *func)
{
	const struct pto_attr *hint = pto_attr_find(func, "pto.auto_sync_tail_hint");
	const char *text = hint && hint->kind == PTO_ATTR_STRING ? hint->text->text : "";

	if (!hint || !strcmp(text, "barrier-all") || !strcmp(text, "barrier_all") ||
	    !strcmp(text, "default") || !strcmp(text, "mte3-to-s-event0"))
		return 0;
	pto_diag(c->diags, c->module, PTO_ERROR, func->loc, NULL,
		 "invalid pto.auto_sync_tail_hint '%s'. Expected 'barrier-all' (or 'default') or "
		 "'mte3-to-s-event0'.", text);
	return -EINVAL;
}

static int is_authored(struct pto_op *op, void *arg)
{
	(void)arg;
	switch (pto_code(op)) {
	case PTO_OP_SET_FLAG:
	case PTO_OP_WAIT_FLAG:
	case PTO_OP_SET_FLAG_DYN:
	case PTO_OP_WAIT_FLAG_DYN:
	case PTO_OP_BARRIER:
	case PTO_OP_GET_BUF:
	case PTO_OP_RLS_BUF:
		return 1;
	default:
		return 0;
	}
}

static int is_dynamic(struct pto_op *op, void *arg)
{
	(void)arg;
	return op->info->code == PTO_OP_SET_FLAG_DYN || op->info->code == PTO_OP_WAIT_FLAG_DYN ||
	       op->info->code == PTO_OP_GET_BUF;
}

/* Whether the author's synchronisation is to be judged; ids known only at run time prove nothing. */
static bool must_check(const struct pto_pass_ctx *c)
{
	bool authored = false, dynamic = false;

	pto_for_each_func(f, c->module) {
		authored |= pto_walk(f->op, is_authored, NULL);
		dynamic |= pto_walk(f->op, is_dynamic, NULL);
	}
	return authored && !dynamic;
}

int pass_insert_sync(struct pto_pass_ctx *c)
{
	bool check = must_check(c);
	int ret = 0;

	pto_for_each_func(f, c->module) {
		if (ret || !pto_func_has_body(f))
			continue;
		ret = check_hint(c, f->op);
		if (!ret && !pto_walk(f->op, is_authored, NULL))
			ret = sync_func(c, f->op);
		if (!ret)
			ret = add_tail(c, f->op);
		if (ret == -ENOMEM)
			pto_diag(c->diags, c->module, PTO_ERROR, f->op->loc, NULL,
				 "out of memory while inserting synchronisation");
	}
	return ret || !check ? ret : pto_check_hazards(c->module, c->options, c->diags);
}

bool insert_sync_wanted(const struct pto_pass_ctx *c)
{
	return c->options->insert_sync;
}
