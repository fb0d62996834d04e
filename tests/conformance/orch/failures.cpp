// SPDX-License-Identifier: MIT
// Orchestrations that fail, by the number in scalar 0; tensor 0 is float[1024].
#include "pto_orchestration_api.h"

namespace {

enum { ADD_ONE = 0, CRASH = 1, ENDLESS = 2, PUSH = 3, POP = 4, ABUSE = 5 };

void add(const ChipTensor &x)
{
	CoreTaskArgs a;

	a.add_inout(x);
	rt_submit_aiv_task(ADD_ONE, a);
}

void with_scalar(int kernel, const ChipTensor &x, uint64_t value)
{
	CoreTaskArgs a;

	a.add_inout(x);
	a.add_scalar(value);
	rt_submit_aiv_task(kernel, a);
}

void nested(const ChipTensor &x, int depth)
{
	if (!depth)
		return;
	PTO2_SCOPE() {
		for (int i = 0; i < 3; i++)
			add(x);
		nested(x, depth - 1);
	}
}

void mix(const ChipTensor &x, uint64_t pushes, uint64_t pops)
{
	CoreTaskArgs a;

	a.add_inout(x);
	a.add_scalar(pushes ? pushes : pops);
	if (pushes && pops)
		rt_submit_task(MixedKernels{PUSH, POP, INVALID_KERNEL_ID}, a);
	else if (pushes)
		rt_submit_aic_task(PUSH, a);
	else
		rt_submit_aiv_task(POP, a);
}

/* What calls return after the run has failed; noted in x[0] to x[5] as 1. */
void after_a_failure(const ChipTensor &x)
{
	float *noted = x.data_as<float>();
	uint32_t shape[1] = {4};
	TensorCreateInfo info(shape, 1);
	CoreTaskArgs a, created;

	noted[6] = 42;
	rt_report_fatal(9, "reported on purpose, value %d", 77);
	a.add_inout(x);
	created.add_output(info);
	noted[0] = rt_is_fatal();
	noted[1] = !rt_submit_aiv_task(ADD_ONE, a).task_id().is_valid();
	noted[2] = rt_submit_aiv_task(ADD_ONE, created).empty();
	noted[3] = alloc_tensors(info).empty();
	noted[4] = get_tensor_data<float>(x, 1, {6}) == 0.0f;
	set_tensor_data<float>(x, 1, {6}, 1.0f);
	PTO2_SCOPE() {
		noted[5] = rt_submit_dummy_task(a).task_id() == PTO2TaskId::invalid();
		rt_allocate_cluster(1);
	}
	rt_report_fatal(10, "a second one");
}

/* Tasks behind one that never ends, each with 32 accesses. */
void fill_tensor_map(const ChipTensor &x, uint64_t tasks)
{
	uint32_t one[1] = {1}, first[1] = {0}, second[1] = {1};
	ChipTensor held = x.view(one, first), read = x.view(one, second);

	mix(held, 0, 1);
	for (uint64_t i = 0; i < tasks; i++) {
		CoreTaskArgs a;

		a.add_input(held);
		for (int k = 1; k < PTO_TASK_TENSORS; k++)
			a.add_input(read);
		rt_submit_aiv_task(ADD_ONE, a);
	}
}

void crash_of_one_block(const ChipTensor &x, uint64_t kind)
{
	CoreTaskArgs a;

	for (int i = 0; i < 20; i++)
		add(x);
	a.add_inout(x);
	a.add_scalar(kind);
	a.launch_spec.set_block_num(40);
	rt_submit_aiv_task(CRASH, a);
	for (int i = 0; i < 20; i++)
		add(x);
}

/* The operand of the predicate has no memory, and nobody has touched it before. */
void predicate_on_nothing(const ChipTensor &x)
{
	ChipTensor nowhere = make_tensor_external(reinterpret_cast<void *>(0x1000), {1}, 1,
						  DataType::INT32);
	CoreTaskArgs a;

	add(x);
	a.add_inout(x);
	a.set_predicate(CoreTaskPredicate(nowhere, {0}, 1, PredicateOp::EQ, 0));
	rt_submit_aiv_task(ADD_ONE, a);
}

/* n tasks on one cluster, each connected to the one before; the first has to wait. */
void pipe_chain(const ChipTensor &x, uint64_t n)
{
	ChipTensor cid = rt_allocate_cluster(1);
	ChipTensor pipe = make_pipe({16}, 1, DataType::INT32);
	uint32_t shape[1] = {4};
	TensorCreateInfo own(shape, 1);

	add(x);
	for (uint64_t i = 0; i < n; i++) {
		ChipTensor next = make_pipe({16}, 1, DataType::INT32);
		CoreTaskArgs a;

		if (i)
			a.add_output(own);
		else
			a.add_inout(x);
		a.add_cluster(cid);
		if (i)
			a.add_pipe_in(pipe);
		a.add_pipe_out(next);
		rt_submit_aiv_task(ADD_ONE, a);
		pipe = next;
	}
}

} // namespace

extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs &)
{
	return PTO2OrchestrationConfig{};
}

extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args)
{
	const ChipTensor &x = args.tensor(0).ref();
	uint64_t n = args.scalar_count() > 1 ? args.scalar(1) : 0;

	switch (args.scalar(0)) {
	case 0: /* nothing at all */
		break;
	case 1: /* n tasks in one scope */
		for (uint64_t i = 0; i < n; i++)
			add(x);
		break;
	case 2: { /* one output of n bytes */
		uint32_t shape[1] = {static_cast<uint32_t>(n / 4)};
		TensorCreateInfo ci(shape, 1);
		CoreTaskArgs a;

		a.add_output(ci);
		rt_submit_aiv_task(ADD_ONE, a);
		break;
	}
	case 3:
		nested(x, static_cast<int>(n));
		break;
	case 4:
		with_scalar(CRASH, x, n);
		break;
	case 5:
		with_scalar(ENDLESS, x, 0);
		break;
	case 6: /* a pop without a push */
		mix(x, 0, n);
		break;
	case 7: /* more pushes than slots without a pop */
		mix(x, n, 0);
		break;
	case 8: /* more clusters than exist */
		rt_allocate_cluster(static_cast<int64_t>(n));
		break;
	case 9: { /* all clusters twice within one scope */
		rt_allocate_cluster(rt_available_cluster_count());
		rt_allocate_cluster(1);
		break;
	}
	case 10:
		after_a_failure(x);
		break;
	case 11: { /* cohort wider than the chip */
		CoreTaskArgs a;

		a.add_inout(x);
		a.launch_spec.set_block_num(static_cast<int16_t>(n));
		a.launch_spec.set_require_sync_start(true);
		rt_submit_aiv_task(ADD_ONE, a);
		break;
	}
	case 12: { /* undefined kernel */
		CoreTaskArgs a;

		a.add_inout(x);
		rt_submit_aiv_task(static_cast<int32_t>(n), a);
		break;
	}
	case 13: /* crash of the orchestration itself */
		*reinterpret_cast<volatile int *>(n) = 1;
		break;
	case 14: /* endless orchestration */
		while (args.scalar(0) == 14)
			__asm__ volatile("" ::: "memory");
		break;
	case 15: /* n matching pushes and pops in one MIX task */
		mix(x, n, n);
		break;
	case 16: { /* n independent producers of one consumer */
		uint32_t one[1] = {1};
		uint32_t zero[1] = {0};
		CoreTaskArgs all;
		PTO2TaskId ids[512];

		for (uint64_t i = 0; i < n; i++) {
			uint32_t at[1] = {static_cast<uint32_t>(i)};
			ChipTensor v = x.view(one, at);
			CoreTaskArgs a;

			a.add_inout(v);
			ids[i] = rt_submit_aiv_task(ADD_ONE, a).task_id();
		}
		ChipTensor first = x.view(one, zero);
		all.add_inout(first);
		all.set_dependencies(ids, static_cast<int>(n));
		rt_submit_aiv_task(ADD_ONE, all);
		break;
	}
	case 17: { /* element of a tensor whose producer never completes */
		uint32_t idx[1] = {0};

		mix(x, 0, n);
		get_tensor_data<float>(x, 1, idx);
		break;
	}
	case 18:
		rt_report_fatal(static_cast<int>(n), "of its own code");
		break;
	case 19:
		fill_tensor_map(x, n);
		break;
	case 20:
		with_scalar(ABUSE, x, n);
		break;
	case 21:
		crash_of_one_block(x, n);
		break;
	case 22:
		predicate_on_nothing(x);
		break;
	case 23:
		pipe_chain(x, n);
		break;
	default:
		break;
	}
}
