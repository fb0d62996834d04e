/* SPDX-License-Identifier: MIT */
/*
 * Submits of the older APIs, which pass the runtime and take PTOParam.
 *
 * Spec: chip-runtime §8.2 to §8.4, pypto §15.6.
 */
#ifndef PTO_ORCHESTRATION_SUBMIT_OLDER_H
#define PTO_ORCHESTRATION_SUBMIT_OLDER_H

#include "params.h"
#include "submit.h"

/* Cube kernels run on AIC cores, all others on AIV cores. */
enum PTO2WorkerType : int32_t {
	PTO2_WORKER_CUBE = 0,
	PTO2_WORKER_VECTOR = 1,
	PTO2_WORKER_AI_CPU = 2,
	PTO2_WORKER_ACCELERATOR = 3,
};

namespace pto_orch __attribute__((visibility("hidden")))
{
inline MixedKernels kernel_of(int32_t func_id, PTO2WorkerType worker)
{
	return worker == PTO2_WORKER_CUBE ?
		       MixedKernels{ func_id, INVALID_KERNEL_ID, INVALID_KERNEL_ID } :
		       MixedKernels{ INVALID_KERNEL_ID, func_id, INVALID_KERNEL_ID };
}

/* An array of parameters as arguments of @blocks blocks; out of line, sources have many. */
__attribute__((noinline)) inline TaskOutputTensors
submit_params(PTO2Runtime *rt, const MixedKernels &mk, const PTOParam *params, int32_t n,
	      int64_t blocks = 1) noexcept
{
	OrderedArgs args;

	if (__builtin_expect(n < 0 || (n && !params), 0))
		args.set_error("the number of parameters is negative, or there are none");
	for (int32_t i = 0; i < n && !args.has_error(); i++) {
		if (params[i].type == PTOParamType::SCALAR)
			args.add(params[i].scalar_value);
		else
			args.add(params[i].type, params[i].tensor);
	}
	args.launch_spec.set_block_num(blocks);
	return submit(rt, mk, args);
}

/* A collecting parameter object. */
inline TaskOutputTensors submit_param(PTO2Runtime *rt, const MixedKernels &mk,
				      const PTOParam &param) noexcept
{
	if (param.store.get())
		return submit(rt, mk, *param.store.get());
	return submit(rt, mk, OrderedArgs());
}
} /* namespace pto_orch */

/**
 * pto2_rt_submit_task() - run one kernel
 * @rt: runtime
 * @func_id: kernel
 * @worker: kind of core it is built for
 * @params: its parameters, in the order of the kernel's arguments
 * @n: how many; at most 32 tensors and 16 scalars
 *
 * Outputs without memory have it when this returns.
 */
inline void pto2_rt_submit_task(PTO2Runtime *rt, int32_t func_id, PTO2WorkerType worker,
				const PTOParam *params, int32_t n)
{
	pto_orch::submit_params(rt, pto_orch::kernel_of(func_id, worker), params, n);
}

/* The same in @blockdim blocks; block k of a task with clusters runs on cluster k. */
inline void pto2_rt_submit_block_task(PTO2Runtime *rt, int32_t func_id, PTO2WorkerType worker,
				      const PTOParam *params, int32_t n, int64_t blockdim)
{
	pto_orch::submit_params(rt, pto_orch::kernel_of(func_id, worker), params, n, blockdim);
}

/* Kernels that share a cluster. */
inline TaskOutputTensors pto2_rt_submit_task(PTO2Runtime *rt, const MixedKernels &mk,
					     const PTOParam *params, int32_t n)
{
	return pto_orch::submit_params(rt, mk, params, n);
}

inline TaskOutputTensors pto2_rt_submit_task(PTO2Runtime *rt, const MixedKernels &mk,
					     const PTOParam &params)
{
	return pto_orch::submit_param(rt, mk, params);
}

inline TaskOutputTensors pto2_rt_submit_task(PTO2Runtime *rt, const MixedKernels &mk,
					     const CoreArgs &args)
{
	return pto_orch::submit(rt, mk, args);
}

/* One cube kernel. */
inline TaskOutputTensors pto2_rt_submit_aic_task(PTO2Runtime *rt, int32_t func_id,
						 const PTOParam &params)
{
	return pto_orch::submit_param(rt, pto_orch::kernel_of(func_id, PTO2_WORKER_CUBE), params);
}

inline TaskOutputTensors pto2_rt_submit_aic_task(PTO2Runtime *rt, int32_t func_id,
						 const PTOParam *params, int32_t n)
{
	return pto_orch::submit_params(rt, pto_orch::kernel_of(func_id, PTO2_WORKER_CUBE), params,
				       n);
}

inline TaskOutputTensors pto2_rt_submit_aic_task(PTO2Runtime *rt, int32_t func_id,
						 const CoreArgs &args)
{
	return pto_orch::submit(rt, func_id, PTO_NO_KERNEL, PTO_NO_KERNEL, args);
}

/* One vector kernel. */
inline TaskOutputTensors pto2_rt_submit_aiv_task(PTO2Runtime *rt, int32_t func_id,
						 const PTOParam &params)
{
	return pto_orch::submit_param(rt, pto_orch::kernel_of(func_id, PTO2_WORKER_VECTOR), params);
}

inline TaskOutputTensors pto2_rt_submit_aiv_task(PTO2Runtime *rt, int32_t func_id,
						 const PTOParam *params, int32_t n)
{
	return pto_orch::submit_params(rt, pto_orch::kernel_of(func_id, PTO2_WORKER_VECTOR), params,
				       n);
}

inline TaskOutputTensors pto2_rt_submit_aiv_task(PTO2Runtime *rt, int32_t func_id,
						 const CoreArgs &args)
{
	return pto_orch::submit(rt, PTO_NO_KERNEL, func_id, PTO_NO_KERNEL, args);
}

#endif /* PTO_ORCHESTRATION_SUBMIT_OLDER_H */
