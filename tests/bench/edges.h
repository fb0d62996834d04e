/* SPDX-License-Identifier: MIT */
/* Explicit edges of a graph, for contenders that do not infer them. */
#ifndef BENCH_EDGES_H
#define BENCH_EDGES_H

#include <vector>

#include "bench.h"

/*
 * Predecessors of every task: of a read the last write of the cell; of a write
 * the reads since then, or the last write if there are none.
 */
class Edges {
public:
	explicit Edges(const struct bench *b)
		: cells_(b->slots), begin_(1, 0)
	{
		for (uint32_t i = 0; i < b->tasks; i++) {
			struct graph_access a[GRAPH_ACCESSES];
			const uint32_t n = graph_accesses(b->kind, i, b->slots - 1, a);

			for (uint32_t k = 0; k < n; k++)
				add(cells_[a[k].slot], a[k].write, i);
			begin_.push_back(from_.size());
		}
	}

	const uint32_t *begin(uint32_t task) const { return from_.data() + begin_[task]; }
	const uint32_t *end(uint32_t task) const { return from_.data() + begin_[task + 1]; }

private:
	struct Cell {
		std::vector<uint32_t> writer; /* none or one */
		std::vector<uint32_t> readers;
	};

	void add(Cell &c, bool write, uint32_t task)
	{
		const std::vector<uint32_t> &before = write && !c.readers.empty() ? c.readers :
										    c.writer;

		from_.insert(from_.end(), before.begin(), before.end());
		if (write) {
			c.readers.clear();
			c.writer.assign(1, task);
		} else {
			c.readers.push_back(task);
		}
	}

	std::vector<Cell> cells_;
	std::vector<uint32_t> from_;
	std::vector<size_t> begin_;
};

#endif /* BENCH_EDGES_H */
