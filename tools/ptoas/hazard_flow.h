/* SPDX-License-Identifier: MIT */
/*
 * Flow of control through a function: nodes of operations without branches in them, and edges.
 * A loop runs zero, one or many times; a branch goes either way.
 */
#ifndef PTOAS_HAZARD_FLOW_H
#define PTOAS_HAZARD_FLOW_H

#include "hazard_access.h"

struct flow_node {
	uint32_t first, n;	/* operations, of flow.ops */
	uint32_t first_edge;	/* + 1; 0: none */
};

struct flow_edge {
	uint32_t to, next;	/* next of the same node, + 1 */
};

struct flow {
	struct flow_node *nodes;	/* 0 is the entry */
	uint32_t n_nodes, node_room;
	struct flow_edge *edges;
	uint32_t n_edges, edge_room;
	struct pto_op **ops;
	uint32_t n_ops, op_room;
	enum pto_opcode skip;	/* sections of the other kind of core */
	uint32_t cur;		/* while building: the node in work */
	bool no_memory;
};

/**
 * flow_init() - graph of @func
 * @skip: PTO_OP_SECTION_CUBE or PTO_OP_SECTION_VECTOR: as the other core runs it; PTO_OP_NONE: all
 *
 * Return: 0 or -ENOMEM. flow_fini() in both cases.
 */
int flow_init(struct flow *f, const struct pto_op *func, enum pto_opcode skip);
void flow_fini(struct flow *f);

#endif
