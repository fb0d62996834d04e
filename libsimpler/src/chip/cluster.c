// SPDX-License-Identifier: MIT
/*
 * Cluster groups (requirement 003 §10, chip-runtime §13.4, decision D3).
 *
 * allocate_cluster takes idle clusters out of the common pool.  They are held
 * by a hidden task of the scope that allocated them; every task of the group
 * retains that task through its cluster argument, so the clusters go back when
 * the scope has ended and the last member has completed.
 *
 * A pipe argument is no data edge: its two ends run at the same time.  A
 * consumer may start once its producer's own data dependences are met.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/run_code.h"
#include "chip/pipe.h"
#include "chip/sched.h"
#include "chip/submit.h"

static uint64_t idle_clusters(const struct chip *c)
{
	return c->free[CHIP_AIC] & c->free[CHIP_AIV0] & c->free[CHIP_AIV1] & ~c->reserved;
}

/* Tasks that were submitted before and only lack a place come first; else they could lack it for ever. */
static bool may_grab(const struct chip *c, uint64_t count)
{
	for (int tier = 0; tier < 2; tier++)
		for (int shape = 0; shape < 3; shape++)
			if (c->ready[tier][shape].head)
				return false;
	return (uint64_t)__builtin_popcountll(idle_clusters(c)) >= count;
}

void cluster_grab(struct chip *c)
{
	if (c->orch_wait == CHIP_ORCH_CLUSTER && may_grab(c, c->orch_request))
		c->config.ops->resume_orchestrator(c);
}

static struct chip_group *group_create(struct chip *c, uint32_t count)
{
	struct chip_group *g = calloc(1, sizeof(*g));
	uint64_t idle = idle_clusters(c);

	if (!g) {
		chip_fail_orch(c, SIMPLER_RUN_HOST_MEMORY, "no host memory for a cluster group");
		return NULL;
	}
	for (uint32_t i = 0; i < count; i++, idle &= idle - 1)
		g->mask |= idle & -idle;
	g->count = count;
	g->id = ++c->group_serial;
	queue_init(&g->ready);
	g->next = c->groups;
	c->groups = g;
	c->reserved |= g->mask;
	return g;
}

static void describe(struct pto_tensor *cid, const struct chip_group *g, uint64_t owner)
{
	memset(cid, 0, sizeof(*cid));
	cid->kind = PTO_KIND_CLUSTER;
	cid->owner_task_id = owner;
	cid->start_offset = g->id;
	cid->version = (int32_t)g->count;
	cid->dtype = PTO_INT32;
	cid->ndims = 1;
	cid->shapes[0] = g->count;
	cid->strides[0] = 1;
	cid->extent_elem = g->count;
	cid->is_contiguous = true;
}

void cluster_allocate(struct chip *c, int32_t count, struct pto_tensor *cid)
{
	static const struct record_shape plain;
	struct chip_task *holder;
	struct chip_group *g;
	uint64_t addr;

	if (!c->rt.scope_depth || count < 1) {
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS, "allocate_cluster of %d clusters", count);
		return;
	}
	if ((uint32_t)count > c->config.clusters) {
		chip_fail_orch(c, SIMPLER_RUN_CLUSTER_DEADLOCK,
			       "allocate_cluster of %d clusters, the chip has %u", count, c->config.clusters);
		return;
	}
	/* first what may wait for a slot: nothing may come between the look and the grab */
	holder = task_create(c, scope_current(c), &plain, 0, &addr);
	if (!holder)
		return;
	while (!may_grab(c, (uint64_t)count))
		if (!orch_wait(c, CHIP_ORCH_CLUSTER, (uint64_t)count))
			return;
	g = group_create(c, (uint32_t)count);
	if (!g)
		return;
	holder->flags |= CHIP_TASK_CLUSTER;
	holder->group = g;
	describe(cid, g, holder->base.id);
	sched_complete(c, holder);
}

static void group_free(struct chip *c, struct chip_group *g)
{
	struct chip_group **link = &c->groups;

	while (*link != g)
		link = &(*link)->next;
	*link = g->next;
	c->reserved &= ~g->mask;
	free(g);
}

void cluster_release(struct chip *c, struct chip_task *t)
{
	struct chip_group *g = t->group;

	for (uint32_t cluster = 0; cluster < c->config.clusters; cluster++) {
		uint32_t left = g->mask >> cluster & 1 ? chip_pipes_clear(c, cluster) : 0;

		if (left)
			log_warn("cluster %u is released with %u pushed tiles that nobody popped",
				 cluster, left);
	}
	group_free(c, g);
	t->group = NULL;
	sched_wake_orchestrator(c);
}

/* ---- pipe links ---- */

static struct chip_pipe_link *link_get(struct chip *c, uint64_t id)
{
	while (id >= c->link_room) {
		uint32_t room = c->link_room ? c->link_room * 2 : 64;
		struct chip_pipe_link *links = realloc(c->links, room * sizeof(*links));

		if (!links)
			return NULL;
		memset(links + c->link_room, 0, (room - c->link_room) * sizeof(*links));
		c->links = links;
		c->link_room = room;
	}
	return &c->links[id];
}

/* A pipe is memory of a cluster: its ends must be on the same one. */
static bool same_group(struct chip *c, struct chip_pipe_link *link, const struct chip_task *t,
		       uint64_t pipe)
{
	if (!t->group || link->group == t->group->id)
		return true;
	if (!link->group) {
		link->group = t->group->id;
		return true;
	}
	chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
		       "pipe %llu connects tasks on different allocations of clusters; both ends need the same one",
		       (unsigned long long)pipe);
	return false;
}

int cluster_wire_pipes(struct chip *c, struct chip_task *t)
{
	for (uint64_t i = 1; i <= t->pipe_ids[0]; i++) {
		struct chip_pipe_link *link = link_get(c, t->pipe_ids[i] >> 1);
		struct chip_edge *e;

		if (!link) {
			chip_fail_orch(c, SIMPLER_RUN_HOST_MEMORY, "no host memory for pipes");
			return -1;
		}
		if (!same_group(c, link, t, t->pipe_ids[i] >> 1))
			return -1;
		if (t->pipe_ids[i] & 1 || link->ready)
			continue;
		e = sched_edge(c);
		if (!e) {
			chip_fail_orch(c, SIMPLER_RUN_HOST_MEMORY, "no host memory for pipes");
			return -1;
		}
		e->consumer = t;
		e->next = link->waiting;
		link->waiting = e;
		t->pipe_waits++;
	}
	return 0;
}

void cluster_links_ready(struct chip *c, struct chip_task *t)
{
	for (uint64_t i = 1; i <= t->pipe_ids[0]; i++) {
		struct chip_pipe_link *link = &c->links[t->pipe_ids[i] >> 1];
		struct chip_edge *e = link->waiting;

		if (!(t->pipe_ids[i] & 1) || link->ready)
			continue;
		link->ready = true;
		link->waiting = NULL;
		while (e) {
			struct chip_edge *next = e->next;
			struct chip_task *consumer = e->consumer;

			e->next = c->free_edges;
			c->free_edges = e;
			if (--consumer->pipe_waits == 0 && consumer != t && !consumer->waits)
				sched_data_ready(c, consumer);
			e = next;
		}
	}
}

void cluster_reset(struct chip *c)
{
	for (uint32_t cluster = 0; cluster < c->config.clusters; cluster++)
		chip_pipes_clear(c, cluster);
	while (c->groups)
		group_free(c, c->groups);
	free(c->links);
	c->links = NULL;
	c->link_room = 0;
	c->group_serial = 0;
}
