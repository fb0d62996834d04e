/* SPDX-License-Identifier: MIT */
/*
 * The independent check of a final program (decisions D30, D31): a forward analysis over the graph,
 * to a fixed point, of what every pipe may rely on; then one round that reports.
 */
#include <stdlib.h>
#include <string.h>

#include "hazard.h"

static void step(struct hazard *h, struct hz_state *s, const struct flow_node *n)
{
	uint32_t i;

	for (i = 0; i < n->n; i++)
		hz_run(h, s, h->f.ops[n->first + i]);
}

/* Runs node @n from its entry; hands the result on. Return: whether any entry changed. */
static bool propagate(struct hazard *h, struct hz_state *in, struct hz_state *work, uint32_t n,
		      uint8_t *dirty)
{
	bool changed = false;
	uint32_t e;

	hz_copy(h, work, &in[n]);
	step(h, work, &h->f.nodes[n]);
	for (e = h->f.nodes[n].first_edge; e; e = h->f.edges[e - 1].next) {
		uint32_t to = h->f.edges[e - 1].to;

		if (hz_join(h, &in[to], work)) {
			dirty[to] = 1;
			changed = true;
		}
	}
	return changed;
}

static void solve(struct hazard *h, struct hz_state *in, struct hz_state *work, uint8_t *dirty)
{
	bool again = true;
	uint32_t n;

	in[0].seen = true;
	dirty[0] = 1;
	while (again) {
		again = false;
		for (n = 0; n < h->f.n_nodes; n++) {
			if (!dirty[n])
				continue;
			dirty[n] = 0;
			again |= propagate(h, in, work, n, dirty);
		}
	}
	h->report = true;
	for (n = 0; n < h->f.n_nodes; n++) {
		if (!in[n].seen)
			continue;
		hz_copy(h, work, &in[n]);
		step(h, work, &h->f.nodes[n]);
	}
	h->report = false;
}

static int run_analysis(struct hazard *h)
{
	struct hz_state *in = calloc(h->f.n_nodes, sizeof(*in));
	struct hz_state work = hz_state_new(h);
	uint8_t *dirty = calloc(h->f.n_nodes, 1);
	int ret = in && dirty && work.bits && work.n && work.status ? 0 : -ENOMEM;
	uint32_t n, made = 0;

	for (n = 0; !ret && n < h->f.n_nodes; n++) {
		in[n] = hz_state_new(h);
		made++;
		if (!in[n].bits || !in[n].n || !in[n].status)
			ret = -ENOMEM;
	}
	if (!ret)
		solve(h, in, &work, dirty);
	for (n = 0; n < made; n++)
		hz_state_free(&in[n]);
	hz_state_free(&work);
	free(in);
	free(dirty);
	return ret;
}

/* The function as the core runs that skips sections @skip. */
static int check_view(struct hazard *h, struct pto_op *func, enum pto_opcode skip)
{
	int ret = flow_init(&h->f, func, skip);

	if (!ret)
		ret = hz_find_events(h);
	if (!ret)
		ret = run_analysis(h);
	if (!ret)
		ret = hz_check_clobber(h);
	flow_fini(&h->f);
	return ret;
}

static int find_section(struct pto_op *op, void *arg)
{
	unsigned int *kinds = arg;

	if (op->info->code == PTO_OP_SECTION_CUBE)
		*kinds |= 1;
	else if (op->info->code == PTO_OP_SECTION_VECTOR)
		*kinds |= 2;
	return 0;
}

static int check_func(struct hazard *h, struct pto_op *func)
{
	unsigned int kinds = 0;
	int ret = pto_access_init(&h->a, func, h->a.arch);

	if (!ret) {
		hz_check_capacity(h, func);
		pto_walk(func, find_section, &kinds);
		ret = check_view(h, func, kinds == 0 ? PTO_OP_NONE : PTO_OP_SECTION_VECTOR);
	}
	if (!ret && kinds)
		ret = check_view(h, func, PTO_OP_SECTION_CUBE);
	pto_access_fini(&h->a);
	return ret;
}

int pto_check_hazards(struct pto_module *m, const struct pto_options *o, struct pto_diags *d)
{
	enum pto_arch arch = o && o->arch_given ? o->arch : m->arch;
	struct hazard h = { .m = m, .d = d };
	unsigned int before = d->errors;
	int ret = 0;

	pto_for_each_func(f, m) {
		if (ret || !pto_func_has_body(f))
			continue;
		h.a.arch = arch;
		ret = check_func(&h, f->op);
	}
	free(h.events);
	if (ret == -ENOMEM)
		pto_diag(d, m, PTO_ERROR, (struct pto_loc){ .at = PTO_NO_PLACE }, NULL,
			 "out of memory while checking for hazards");
	return ret ? ret : d->errors != before ? -EINVAL : 0;
}
