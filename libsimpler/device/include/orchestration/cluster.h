/* SPDX-License-Identifier: MIT */
/*
 * Clusters and pipes: tasks that are pinned to allocated clusters and hand data
 * to each other on chip.
 *
 * Spec: chip-runtime §13.4, pypto §15.6.
 */
#ifndef PTO_ORCHESTRATION_CLUSTER_H
#define PTO_ORCHESTRATION_CLUSTER_H

#include "tensor_make.h"

/**
 * pto2_rt_allocate_cluster() - take clusters out of the pool
 * @rt: runtime
 * @n: how many; the blockdim of the block tasks that are to use them
 *
 * Blocks until they are free.  They go back when the scope of the call has
 * ended and the tasks that name them have completed.
 *
 * Return: what add_cluster() and make_cluster_param() take.
 */
inline ChipTensor pto2_rt_allocate_cluster(PTO2Runtime *rt, int64_t n = 1)
{
	ChipTensor cid;

	if (n < 1 || n > INT32_MAX) {
		pto_orch::invalid_on(rt, "allocate_cluster", "%lld clusters, must be 1 or more",
				     static_cast<long long>(n));
		return cid;
	}
	rt->ops->allocate_cluster(rt, static_cast<int32_t>(n), pto_orch::raw(cid));
	return cid;
}

inline ChipTensor rt_allocate_cluster(int64_t n = 1)
{
	return pto2_rt_allocate_cluster(pto_orch::runtime(), n);
}

/**
 * make_pipe() - on-chip channel from one task to another
 * @shapes: @ndims extents of what one push carries
 * @ndims: 0 to 5
 * @dtype: element type
 *
 * It has no memory and is told from other pipes by its version, which numbers
 * the pipes of a run.
 */
inline ChipTensor make_pipe(const pto_orch::dims &shapes, uint32_t ndims,
			    DataType dtype = DataType::INT8)
{
	ChipTensor t;

	pto_orch::make_packed(&t, 0, shapes, ndims, dtype, "make_pipe");
	t.kind = PTO_KIND_PIPE;
	t.version = ++pto_orch::pipe_count;
	pto_orch::set_home(&t);
	return t;
}

#endif /* PTO_ORCHESTRATION_CLUSTER_H */
