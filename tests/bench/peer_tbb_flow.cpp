// SPDX-License-Identifier: MIT
/*
 * oneTBB flow graph: one continue_node per task and explicit edges.  A repetition
 * builds the graph, starts the nodes without predecessors and waits; taking the
 * graph down is not counted.
 */
#include <deque>
#include <memory>

#include <tbb/flow_graph.h>
#include <tbb/global_control.h>

#include "bench.h"
#include "edges.h"

using Node = tbb::flow::continue_node<tbb::flow::continue_msg>;

struct Graph {
	tbb::flow::graph graph;
	std::deque<Node> nodes;
};

static std::unique_ptr<tbb::global_control> limit;
static std::unique_ptr<Edges> edges;
static std::unique_ptr<Graph> current;

static void start(struct bench *b)
{
	limit = std::make_unique<tbb::global_control>(
		tbb::global_control::max_allowed_parallelism, b->threads);
	edges = std::make_unique<Edges>(b);
}

static void add(struct bench *b, Graph *g, uint32_t i)
{
	Node &node = g->nodes.emplace_back(g->graph, [b, i](const tbb::flow::continue_msg &) {
		if (!bench_empty(b))
			bench_task(b, i);
	});

	for (const uint32_t *from = edges->begin(i); from != edges->end(i); from++)
		tbb::flow::make_edge(g->nodes[*from], node);
}

static void run(struct bench *b)
{
	current = std::make_unique<Graph>();
	for (uint32_t i = 0; i < b->tasks; i++)
		add(b, current.get(), i);
	for (uint32_t i = 0; i < b->tasks; i++)
		if (edges->begin(i) == edges->end(i))
			current->nodes[i].try_put(tbb::flow::continue_msg());
	current->graph.wait_for_all();
}

static void tidy(struct bench *)
{
	current.reset();
}

static void stop(struct bench *)
{
	edges.reset();
	limit.reset();
}

int main(int argc, char **argv)
{
	static const struct bench_contender contender = { start, run, tidy, stop };

	return bench_main(argc, argv, &contender);
}
