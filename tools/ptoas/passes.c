/* SPDX-License-Identifier: MIT */
/* The pipeline of section 9.3. */
#include "pass.h"
#include "passes.h"
#include "pipe.h"
#include "plan.h"
#include "sync.h"

const struct pto_pass pto_passes[] = {
	{ "check-level", pass_check_level, NULL },
	{ "lower-memrefs", pass_lower_memrefs, NULL },
	{ "check-pipes", pass_check_pipes, NULL },
	{ "lower-events", pass_lower_events, NULL },
	{ "infer-layout", pass_infer_layout, infer_layout_wanted },
	{ "rewrite-moves", pass_rewrite_moves, rewrite_moves_wanted },
	{ "alternate-buffers", pass_alternate_buffers, plan_memory_wanted },
	{ "plan-memory", pass_plan_memory, plan_memory_wanted },
	{ "group-pipes", pass_group_pipes, NULL },
	{ "reserve-buffers", pass_reserve_buffers, NULL },
	{ "insert-sync", pass_insert_sync, insert_sync_wanted },
	{ "merge-equal", pass_merge_equal, NULL },
	{ NULL, NULL, NULL },
};

static int run_one(const struct pto_pass *pass, struct pto_pass_ctx *c)
{
	int ret = pass->run(c);

	if (ret)
		return ret;
	if (c->module->no_memory) {
		pto_diag(c->diags, c->module, PTO_ERROR, (struct pto_loc){ .at = PTO_NO_PLACE },
			 NULL,
			 "out of memory in pass %s", pass->name);
		return -ENOMEM;
	}
	return c->options->verify_each ? pto_verify(c->module, c->options, c->diags) : 0;
}

int pto_run_passes(struct pto_module *m, const struct pto_options *o, struct pto_diags *d,
		   const struct pto_observer *after)
{
	struct pto_pass_ctx c = {
		.module = m, .options = o, .diags = d,
		.arch = o->arch_given ? o->arch : m->arch,
		.level = o->level ? o->level : PTO_LEVEL2,
	};
	const struct pto_pass *pass;
	int ret;

	for (pass = pto_passes; pass->name; pass++) {
		if (pass->wanted && !pass->wanted(&c))
			continue;
		ret = run_one(pass, &c);
		if (ret)
			return ret;
		if (after)
			after->pass_done(pass->name, m, after->arg);
	}
	return 0;
}
