/* SPDX-License-Identifier: MIT */
/*
 * Submitting tasks and allocating buffers.  A submit returns as soon as the
 * task is recorded; its outputs can be used in later submits at once.
 *
 * Spec: chip-runtime §7.3, §7.4, §7.8.
 */
#ifndef PTO_ORCHESTRATION_SUBMIT_H
#define PTO_ORCHESTRATION_SUBMIT_H

#include "args.h"

/**
 * class TaskOutputTensors - what a submit returns
 *
 * get_ref(i) is the i-th newly created output; it may be used until the scope of
 * the submit ends.  Empty after the run has failed.
 */
class TaskOutputTensors : private pto_task_outputs {
public:
	TaskOutputTensors()
	{
		pto_task_outputs::task_id = PTO_NO_TASK;
		tensors = nullptr;
		count = 0;
	}

	bool empty() const { return !count; }
	uint32_t size() const { return count; }
	PTO2TaskId task_id() const { return PTO2TaskId{ pto_task_outputs::task_id }; }

	const ChipTensor &get_ref(uint32_t i) const &
	{
		if (__builtin_expect(i >= count, 0))
			return pto_orch::no_tensor("get_ref", i, count);
		return reinterpret_cast<const ChipTensor *>(tensors)[index[i]];
	}
	/* The result of a submit must have a name for its tensors to be used. */
	const ChipTensor &get_ref(uint32_t i) const && = delete;

	struct pto_task_outputs *raw() { return this; }
};

namespace pto_orch __attribute__((visibility("hidden")))
{
inline TaskOutputTensors submit(PTO2Runtime *rt, int32_t aic, int32_t aiv0, int32_t aiv1,
				const CoreArgs &args) noexcept
{
	const struct pto_mixed_kernels kernels = { aic, aiv0, aiv1 };
	TaskOutputTensors out;

	rt->ops->submit_task(rt, &kernels, args.core(), out.raw());
	return out;
}

inline TaskOutputTensors submit(PTO2Runtime *rt, const MixedKernels &mk, const CoreArgs &args)
{
	if (__builtin_expect((mk.aic_kernel_id & mk.aiv0_kernel_id & mk.aiv1_kernel_id) ==
				     INVALID_KERNEL_ID, 0)) {
		invalid_on(rt, "rt_submit_task",
			   "no kernel is given; a task without one is submitted with "
			   "rt_submit_dummy_task");
		return TaskOutputTensors();
	}
	return submit(rt, mk.aic_kernel_id, mk.aiv0_kernel_id, mk.aiv1_kernel_id, args);
}

/* alloc_tensors() takes new buffers and nothing else. */
inline bool only_new_outputs(const CoreArgs &args)
{
	bool ok = args.tensor_count_ && !args.scalar_count_;

	for (uint32_t i = 0; i < args.tensor_count_; i++)
		ok &= args.tags_[i] == PTO_ARG_OUTPUT;
	return ok;
}
} /* namespace pto_orch */

/**
 * rt_submit_task() - run up to three kernels as one task
 * @mk: func_ids; two or three kernels of a block share a cluster
 * @args: arguments, the same for all of them; free to be reused afterwards
 *
 * Return: the new outputs; empty after a failure of the run.
 */
inline TaskOutputTensors rt_submit_task(const MixedKernels &mk, const CoreArgs &args)
{
	return pto_orch::submit(pto_orch::runtime(), mk, args);
}

/* The same for one cube kernel. */
inline TaskOutputTensors rt_submit_aic_task(int32_t kernel_id, const CoreArgs &args)
{
	return pto_orch::submit(pto_orch::runtime(), kernel_id, PTO_NO_KERNEL, PTO_NO_KERNEL, args);
}

/* The same for one vector kernel. */
inline TaskOutputTensors rt_submit_aiv_task(int32_t kernel_id, const CoreArgs &args)
{
	return pto_orch::submit(pto_orch::runtime(), PTO_NO_KERNEL, kernel_id, PTO_NO_KERNEL, args);
}

/* A node of the dependence graph without a kernel. */
inline TaskOutputTensors rt_submit_dummy_task(const CoreArgs &args)
{
	PTO2Runtime *rt = pto_orch::runtime();
	TaskOutputTensors out;

	rt->ops->submit_dummy_task(rt, args.core(), out.raw());
	return out;
}

/**
 * alloc_tensors() - new buffers without a task that writes them
 * @args: only new outputs, at least one
 *
 * They belong to the current scope.  Return: one tensor per create info.
 */
inline TaskOutputTensors alloc_tensors(const CoreArgs &args)
{
	PTO2Runtime *rt = pto_orch::runtime();
	TaskOutputTensors out;

	if (!args.error_ && !pto_orch::only_new_outputs(args)) {
		pto_orch::invalid("alloc_tensors",
				  "takes one or more TensorCreateInfos and no scalars");
		return out;
	}
	rt->ops->alloc_tensors(rt, args.core(), out.raw());
	return out;
}

inline TaskOutputTensors alloc_tensors(const TensorCreateInfo cis[], uint32_t n)
{
	CoreTaskArgs args;

	for (uint32_t i = 0; i < n && !args.has_error(); i++)
		args.add_output(cis[i]);
	return alloc_tensors(args);
}

template <typename... CIs,
	  typename = std::enable_if_t<(sizeof...(CIs) > 0) &&
				      (std::is_base_of<TensorCreateInfo, CIs>::value && ...)>>
inline TaskOutputTensors alloc_tensors(const CIs &...cis)
{
	CoreTaskArgs args;

	args.add_output(cis...);
	return alloc_tensors(args);
}

#endif /* PTO_ORCHESTRATION_SUBMIT_H */
