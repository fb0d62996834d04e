/* SPDX-License-Identifier: MIT */
/*
 * Shapes of task graphs.  Tensors: x [1, 64], fan [1, 64], diamond [1, 64],
 * guarded [48, 64], ordered [1, 64], collected [40, 64], total [1, 64].
 * Scalars: layers of the fan, rounds of the diamond, first gate, target, links
 * of the ordered chain
 */
#include "pto_orchestration_api.h"

enum { AFFINE, STEP, ADD, SUM, GATES };

namespace {

constexpr uint32_t WIDTH = 64, FAN = 64, GATE_COUNT = 8, COLLECTED = 40;

ChipTensor row(const ChipTensor &t, uint32_t i)
{
	return t.view({ 1u, WIDTH }, { i, 0u });
}

TaskOutputTensors affine(const ChipTensor &in, float factor, float addend)
{
	TensorCreateInfo made({ 1u, WIDTH }, 2);
	CoreTaskArgs args;

	args.add_input(in);
	args.add_output(made);
	args.add_scalar(factor, addend);
	return rt_submit_aiv_task(AFFINE, args);
}

void affine_to(const ChipTensor &in, const ChipTensor &out, float factor, float addend)
{
	CoreTaskArgs args;

	args.add_input(in);
	args.add_output(out);
	args.add_scalar(factor, addend);
	rt_submit_aiv_task(AFFINE, args);
}

void sum_rows(const ChipTensor &in, const ChipTensor &out)
{
	CoreTaskArgs args;

	args.add_input(in);
	args.add_output(out);
	rt_submit_aiv_task(SUM, args);
}

/* One producer, 64 consumers, whose pieces one task puts together; several layers. */
void fan(const ChipTensor &x, const ChipTensor &out, uint64_t layers)
{
	TensorCreateInfo pieces_info({ FAN, WIDTH }, 2);

	affine_to(x, out, 1, 0);
	for (uint64_t layer = 0; layer < layers; layer++) {
		PTO2_SCOPE()
		{
			TaskOutputTensors pieces = alloc_tensors(pieces_info);

			for (uint32_t i = 0; i < FAN; i++) {
				ChipTensor piece = row(pieces.get_ref(0), i);

				affine_to(out, piece, 1.0f / FAN, static_cast<float>(i) / FAN);
			}
			sum_rows(pieces.get_ref(0), out);
		}
	}
}

/* Two readers of a tensor that is then overwritten in place. */
void diamond(const ChipTensor &x, const ChipTensor &out, uint64_t rounds)
{
	affine_to(x, out, 1, 1);
	for (uint64_t i = 0; i < rounds; i++) {
		PTO2_SCOPE()
		{
			TaskOutputTensors left = affine(out, 2, 1), right = affine(out, 3, 2);
			CoreTaskArgs join;

			join.add_input(left.get_ref(0), right.get_ref(0));
			join.add_output(out);
			rt_submit_aiv_task(ADD, join);
			affine_to(out, out, 0.125f, 0);
		}
	}
}

void make_gates(const ChipTensor &gates, int32_t first)
{
	CoreTaskArgs args;

	args.add_output(gates);
	args.add_scalar(first);
	rt_submit_aiv_task(GATES, args);
}

/* Tasks that run only if their gate, which a task computes, compares true. */
void predicates(const ChipTensor &out, int32_t first, int64_t target)
{
	const PredicateOp ops[] = { PredicateOp::EQ, PredicateOp::NE, PredicateOp::GT,
				    PredicateOp::LT, PredicateOp::GE, PredicateOp::LE };
	TensorCreateInfo info({ GATE_COUNT }, 1, DataType::INT32);
	TaskOutputTensors gates = alloc_tensors(info);

	make_gates(gates.get_ref(0), first);

	for (uint32_t op = 0; op < 6; op++)
		for (uint32_t i = 0; i < GATE_COUNT; i++) {
			ChipTensor guarded = row(out, op * GATE_COUNT + i);
			CoreTaskArgs args, after;

			args.add_inout(guarded);
			args.add_scalar(0.0f, 999.0f);
			args.set_predicate(CoreTaskPredicate(gates.get_ref(0), { i }, 1, ops[op],
							     target));
			rt_submit_aiv_task(STEP, args);
			/* goes on from what is there, written or not */
			after.add_inout(guarded);
			after.add_scalar(2.0f, 0.0f);
			rt_submit_aiv_task(STEP, after);
		}
	/* must not happen before the gates have been looked at */
	make_gates(gates.get_ref(0), 100);
}

/* Explicit dependences are all that orders the links, whose operations do not commute. */
void ordered(const ChipTensor &x, const ChipTensor &out, uint64_t links)
{
	PTO2_SCOPE(PTO2ScopeMode::MANUAL)
	{
		CoreTaskArgs start;
		PTO2TaskId last;

		start.add_input(x);
		start.add_output(out);
		start.add_scalar(1.0f, 0.0f);
		last = rt_submit_aiv_task(AFFINE, start).task_id();
		for (uint64_t i = 0; i < links; i++) {
			CoreTaskArgs args;

			args.add_inout(out);
			args.add_scalar(i % 2 ? 0.5f : 2.0f, i % 2 ? 3.0f : 1.0f);
			args.set_dependencies(&last, 1);
			last = rt_submit_aiv_task(STEP, args).task_id();
		}
	}
}

/* A root, many tasks that wait for it, a dummy that waits for them all, one task after it. */
void collected(const ChipTensor &x, const ChipTensor &out, const ChipTensor &total)
{
	PTO2_SCOPE(PTO2ScopeMode::MANUAL)
	{
		CoreTaskArgsWithDeps<COLLECTED> all;
		CoreTaskArgsWithDeps<1> last;
		TaskOutputTensors root = affine(x, 2, 0);

		for (uint32_t i = 0; i < COLLECTED; i++) {
			ChipTensor piece = row(out, i);
			CoreTaskArgsWithDeps<> args;

			args.add_input(root.get_ref(0));
			args.add_output(piece);
			args.add_scalar(1.0f, static_cast<float>(i));
			args.add_dep(root.task_id());
			all.add_dep_wait(rt_submit_aiv_task(AFFINE, args).task_id());
		}
		last.add_input(out);
		last.add_output(total);
		last.add_dep(rt_submit_dummy_task(all).task_id());
		rt_submit_aiv_task(SUM, last);
	}
}

} // namespace

extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs &args)
{
	(void)args;
	return PTO2OrchestrationConfig{ .expected_arg_count = 12 };
}

extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args)
{
	const ChipTensor &x = args.tensor(0).ref();

	fan(x, args.tensor(1).ref(), args.scalar(0));
	diamond(x, args.tensor(2).ref(), args.scalar(1));
	predicates(args.tensor(3).ref(), from_u64<int32_t>(args.scalar(2)),
		   from_u64<int64_t>(args.scalar(3)));
	ordered(x, args.tensor(4).ref(), args.scalar(4));
	collected(x, args.tensor(5).ref(), args.tensor(6).ref());
}
