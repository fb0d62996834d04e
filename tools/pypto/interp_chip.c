/* SPDX-License-Identifier: MIT */
/* Interpreter: clusters, pipes, blocks, synchronisation; sections 4.8 and 15. */
#include <stdlib.h>
#include <string.h>

#include "interp_value.h"

static struct iv *run_cluster(struct op_run *r)
{
	return iv_new(r->in, TY_CLUSTER, DT_INT32);
}

static struct iv *run_create_pipe(struct op_run *r)
{
	struct iv *v = iv_new(r->in, TY_PIPE, r->call->node.type->dtype);

	v->pipe = px_new(r->in->px, struct iv_pipe);
	v->pipe->end = &v->pipe->head;
	v->pipe->span = r->call->node.span;
	v->pipe->next = r->in->pipes;
	r->in->pipes = v->pipe;
	return v;
}

static struct iv_pipe *pipe_of(struct op_run *r, const struct iv *v)
{
	return v->pipe ? v->pipe : interp_error(r->fr, r->call->node.span, "This pipe does not exist");
}

/* A pipe joins the kernels of one block. Any number of tiles may wait in it. */
static struct iv *run_push(struct op_run *r)
{
	struct iv_pipe *pipe = pipe_of(r, r->args[1]);
	struct pipe_slot *slot;
	struct iv *tile = r->args[0], *copy;
	union cell *cells;

	if (!pipe)
		return NULL;
	copy = iv_array(r->in, TY_TILE, tile->dtype, tile->rank, tile->shape);
	memcpy(copy->valid, tile->valid, sizeof(tile->valid));
	cells = cells_of(r->in, tile, tile->dtype, tile->rank, tile->shape);
	cells_put(copy, cells);
	free(cells);
	slot = px_new(r->in->px, struct pipe_slot);
	slot->tile = copy;
	slot->block = r->fr->block;
	*pipe->end = slot;
	pipe->end = &slot->next;
	pipe->pushes++;
	return run_nothing(r);
}

static struct iv *take(struct iv_pipe *pipe, int64_t block)
{
	struct pipe_slot **at = &pipe->head;
	struct iv *tile;

	while (*at && (*at)->block != block)
		at = &(*at)->next;
	if (!*at)
		return NULL;
	tile = (*at)->tile;
	*at = (*at)->next;
	if (!*at)
		pipe->end = at;
	return tile;
}

static struct iv *run_pop(struct op_run *r)
{
	struct iv_pipe *pipe = pipe_of(r, r->args[0]);
	struct iv *tile;

	if (!pipe)
		return NULL;
	while (!(tile = take(pipe, r->fr->block))) {
		if (!interp_wait(r->fr, &r->call->node))
			return interp_error(r->fr, r->call->node.span,
					    "The pipe is empty, and nobody else runs");
	}
	pipe->pops++;
	return tile;
}

enum block_value { BLOCK_INDEX, BLOCK_COUNT, SUBBLOCK_INDEX };

static struct iv *run_block_value(struct op_run *r)
{
	return iv_int(r->in, DT_UINT64, r->code == BLOCK_INDEX ? r->fr->block :
		      r->code == BLOCK_COUNT ? r->fr->blocks : 0);
}

const struct op_entry *interp_ops_chip(void)
{
	static const struct op_entry ops[] = {
		{ "cluster.allocate", run_cluster, 0 }, { "pipe.create", run_create_pipe, 0 },
		{ "pipe.tpush", run_push, 0 }, { "pipe.tpop", run_pop, 0 },
		{ "pipe.tfree", run_nothing, 0 }, { "block.get_block_idx", run_block_value, BLOCK_INDEX },
		{ "block.get_block_num", run_block_value, BLOCK_COUNT },
		{ "block.get_subblock_idx", run_block_value, SUBBLOCK_INDEX },
		{ "block.print", run_nothing, 0 }, { "block.alloc", run_nothing, 0 },
		{ "system.sync_src", run_nothing, 0 }, { "system.sync_dst", run_nothing, 0 },
		{ "system.bar_v", run_nothing, 0 }, { "system.bar_m", run_nothing, 0 },
		{ "system.bar_mte1", run_nothing, 0 }, { "system.bar_mte2", run_nothing, 0 },
		{ "system.bar_mte3", run_nothing, 0 }, { "system.bar_fix", run_nothing, 0 },
		{ "system.bar_all", run_nothing, 0 },
		{ NULL, NULL, 0 }
	};

	return ops;
}
