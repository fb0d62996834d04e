/* SPDX-License-Identifier: MIT */
/* Builds the graph by walking the regions. */
#include <stdlib.h>
#include <string.h>

#include "hazard_flow.h"

static bool grow(struct flow *f, void **list, uint32_t n, uint32_t *room, size_t size)
{
	uint32_t more = *room ? *room * 2 : 32;
	void *p;

	if (n < *room)
		return true;
	p = f->no_memory ? NULL : realloc(*list, more * size);
	if (!p) {
		f->no_memory = true;
		return false;
	}
	*list = p;
	*room = more;
	return true;
}

static uint32_t node(struct flow *f)
{
	if (!grow(f, (void **)&f->nodes, f->n_nodes, &f->node_room, sizeof(*f->nodes)))
		return 0;
	f->nodes[f->n_nodes] = (struct flow_node){ .first = f->n_ops };
	return f->n_nodes++;
}

static void edge(struct flow *f, uint32_t from, uint32_t to)
{
	if (!grow(f, (void **)&f->edges, f->n_edges, &f->edge_room, sizeof(*f->edges)))
		return;
	f->edges[f->n_edges] = (struct flow_edge){ .to = to, .next = f->nodes[from].first_edge };
	f->nodes[from].first_edge = ++f->n_edges;
}

static void add_op(struct flow *f, struct pto_op *op)
{
	if (!grow(f, (void **)&f->ops, f->n_ops, &f->op_room, sizeof(*f->ops)))
		return;
	f->ops[f->n_ops++] = op;
	f->nodes[f->cur].n++;
}

static void block(struct flow *f, struct pto_block *b);

/* Makes @n the node that operations are added to; nothing may be added to earlier ones. */
static void enter(struct flow *f, uint32_t n)
{
	f->cur = n;
	f->nodes[n].first = f->n_ops;
}

struct block_node {
	struct pto_block *block;
	uint32_t node;
};

static void jumps(struct flow *f, const struct pto_block *b, const struct block_node *map,
		  uint32_t n)
{
	uint32_t i;
	unsigned int s;

	for (s = 0; b->last && s < b->last->n_succs; s++)
		for (i = 0; i < n; i++)
			if (map[i].block == b->last->succ[s])
				edge(f, f->cur, map[i].node);
}

/* Whether what ends @b leaves the region. */
static bool leaves(const struct pto_block *b)
{
	return !b->last || !b->last->n_succs;
}

static void many_blocks(struct flow *f, const struct pto_region *r, uint32_t n)
{
	struct block_node *map = calloc(n, sizeof(*map));
	uint32_t i = 0, after = node(f);

	if (!map) {
		f->no_memory = true;
		return;
	}
	pto_for_each_block(b, r)
		map[i++] = (struct block_node){ b, node(f) };
	edge(f, f->cur, map[0].node);
	for (i = 0; i < n && !f->no_memory; i++) {
		enter(f, map[i].node);
		block(f, map[i].block);
		jumps(f, map[i].block, map, n);
		if (leaves(map[i].block))
			edge(f, f->cur, after);
	}
	if (!f->no_memory)
		enter(f, after);
	free(map);
}

/* Appends @r to the current node; afterwards the current node is where it ends. */
static void region(struct flow *f, const struct pto_region *r)
{
	uint32_t n = 0;

	pto_for_each_block(b, r)
		n++;
	if (n == 1)
		block(f, r->first);
	else if (n)
		many_blocks(f, r, n);
}

static void start(struct flow *f, uint32_t from)
{
	uint32_t n = node(f);

	edge(f, from, n);
	if (!f->no_memory)
		enter(f, n);
}

static void loop(struct flow *f, const struct pto_op *op)
{
	uint32_t head = node(f);

	edge(f, f->cur, head);
	start(f, head);
	region(f, &op->region[0]);
	edge(f, f->cur, head);
	start(f, head);
}

static void while_loop(struct flow *f, const struct pto_op *op)
{
	uint32_t head, test;

	start(f, f->cur);
	head = f->cur;
	region(f, &op->region[0]);
	test = f->cur;
	start(f, test);
	region(f, &op->region[1]);
	edge(f, f->cur, head);
	start(f, test);
}

/* One of the regions; an empty one is a way past. */
static void alternatives(struct flow *f, const struct pto_op *op)
{
	uint32_t from = f->cur, after = node(f);
	unsigned int i;

	for (i = 0; i < op->n_regions && !f->no_memory; i++) {
		start(f, from);
		region(f, &op->region[i]);
		edge(f, f->cur, after);
	}
	if (!f->no_memory)
		enter(f, after);
}

static void block(struct flow *f, struct pto_block *b)
{
	pto_for_each_op(op, b) {
		if (f->no_memory)
			return;
		switch (pto_code(op)) {
		case PTO_OP_FOR:
			loop(f, op);
			break;
		case PTO_OP_WHILE:
			while_loop(f, op);
			break;
		case PTO_OP_IF:
		case PTO_OP_INDEX_SWITCH:
			alternatives(f, op);
			break;
		case PTO_OP_EXECUTE_REGION:
		case PTO_OP_SECTION_CUBE:
		case PTO_OP_SECTION_VECTOR:
			if (pto_code(op) != f->skip)
				region(f, &op->region[0]);
			break;
		default:
			add_op(f, op);
		}
	}
}

int flow_init(struct flow *f, const struct pto_op *func, enum pto_opcode skip)
{
	memset(f, 0, sizeof(*f));
	f->skip = skip;
	node(f);
	if (!f->no_memory)
		region(f, &func->region[0]);
	return f->no_memory ? -ENOMEM : 0;
}

void flow_fini(struct flow *f)
{
	free(f->nodes);
	free(f->edges);
	free(f->ops);
}
