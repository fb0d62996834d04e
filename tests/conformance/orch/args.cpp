// SPDX-License-Identifier: MIT
// Argument lists of the current API, good and bad, by the number in scalar 0.
// Operands: words_record, float[64], float[64], int64[64] for results.
#include "pto_orchestration_api.h"

namespace {

enum { WORDS = 0, WORDS_AT = 1 };

int64_t *results;
const ChipTensor *record, *a, *b;
uint64_t n, m;

void submit(CoreTaskArgs &args)
{
	rt_submit_aiv_task(WORDS, args);
}

void tensors_and_scalars()	/* n of the one, then m of the other */
{
	CoreTaskArgs args;
	ChipTensor views[PTO_TASK_TENSORS + 2];

	args.add_inout(*record);
	for (uint64_t i = 1; i < n; i++) {
		uint32_t shape[1] = {static_cast<uint32_t>(i)}, at[1] = {static_cast<uint32_t>(i)};

		views[i] = a->view(shape, at);
		args.add_input(views[i]);
	}
	for (uint64_t i = 0; i < m; i++)
		args.add_scalar(1000 + i);
	results[0] = args.has_error();
	results[1] = args.tensor_count();
	results[2] = args.scalar_count();
	submit(args);
}

void tensor_behind_scalar()
{
	CoreTaskArgs args;

	args.add_inout(*record);
	args.add_scalar(1);
	args.add_input(*a);
	results[0] = args.has_error();
	submit(args);
}

void null_dependencies()
{
	CoreTaskArgs args;

	args.add_inout(*record);
	args.set_dependencies(nullptr, static_cast<int>(static_cast<int64_t>(n)));
	submit(args);
}

void dependencies_twice()
{
	PTO2TaskId ids[1] = {PTO2TaskId{0}};
	CoreTaskArgs args;

	args.add_inout(*record);
	submit(args);
	args.set_dependencies(ids, 1);
	args.set_dependencies(ids, 0);	/* clears */
	args.set_dependencies(ids, 1);
	results[0] = args.has_error();
	args.set_dependencies(ids, 1);
	results[1] = args.has_error();
	submit(args);
}

void collected_dependencies()	/* n of at most 4 */
{
	CoreTaskArgs first;
	CoreTaskArgsWithDeps<4> args;

	first.add_inout(*record);
	PTO2TaskId id = rt_submit_aiv_task(WORDS, first).task_id();

	args.add_inout(*record);
	for (uint64_t i = 0; i < n; i++)
		i % 2 ? args.add_dep(id) : args.add_dep_wait(id);
	results[0] = args.has_error();
	rt_submit_aiv_task(WORDS, args);
}

void timing_slots()
{
	CoreTaskArgs args;

	args.set_task_timing_slot(0);
	args.set_task_timing_slot(15);
	results[0] = args.has_error();
	results[1] = args.core()->timing_slot;
	args.set_task_timing_slot(16);
	results[2] = args.has_error();
	args.clear();
	results[3] = args.has_error();
	results[4] = args.core()->timing_slot;
	args.set_task_timing_slot(-1);
	results[5] = args.has_error();
	args.reset();
	args.add_inout(*record);
	args.set_task_timing_slot(static_cast<int>(n));
	submit(args);
}

void scalar_words()
{
	const int32_t words[3] = {-1, INT32_MIN, 7};
	const uint64_t longs[2] = {UINT64_MAX, 5};
	CoreTaskArgs source, args;

	source.add_scalar(1, 2, 3, 4);
	args.add_inout(*record);
	args.add_scalars_i32(words, 3);
	args.add_scalar(1.0f, 1.0, true, static_cast<int8_t>(-1), PredicateOp::LE, -1L);
	args.add_scalars(longs, 2);
	args.copy_scalars_from(source, 1, 2);
	results[0] = static_cast<int64_t>(to_u64(1.0f));
	results[1] = static_cast<int64_t>(to_u64(static_cast<int32_t>(-1)));
	results[2] = from_u64<float>(to_u64(1.5f)) == 1.5f && from_u64<int32_t>(0xffffffffull) == -1;
	results[3] = static_cast<int64_t>(float_to_u64(1.5f));
	submit(args);
}

void scalars_from_nowhere()
{
	CoreTaskArgs source, args;

	source.add_scalar(1, 2);
	args.add_inout(*record);
	args.copy_scalars_from(source, 1, 2);
	submit(args);
}

void cleared_and_used_again()
{
	CoreTaskArgs args;

	args.add_inout(*record);
	args.add_scalar(5);
	args.add_input(*a);	/* an error */
	args.launch_spec.set_block_num(3);
	args.clear();
	args.add_inout(*record);
	args.add_input(*b);
	args.add_scalar(6);
	submit(args);
}

void first_error_wins()
{
	CoreTaskArgs args;

	args.add_inout(*record);
	args.set_error("the first of two");
	args.set_error("the second of two");
	submit(args);
}

void no_kernel()
{
	CoreTaskArgs args;

	args.add_inout(*record);
	rt_submit_task(MixedKernels{}, args);
}

void only_the_second_lane()
{
	CoreTaskArgs args;

	args.add_inout(*record);
	rt_submit_task(MixedKernels{INVALID_KERNEL_ID, INVALID_KERNEL_ID, WORDS}, args);
}

void blocks()	/* n of them */
{
	CoreTaskArgs args;

	args.add_inout(*record);
	args.launch_spec.set_block_num(static_cast<int64_t>(n));
	submit(args);
}

void wrong_allocations()
{
	uint32_t shape[1] = {4};
	TensorCreateInfo info(shape, 1);
	CoreTaskArgs args;

	if (n == 1)
		args.add_input(*a);
	if (n >= 2)
		args.add_output(info);
	if (n == 3)
		args.add_scalar(1);
	results[0] = alloc_tensors(args).size();
}

void created_tensors()
{
	uint32_t small[1] = {3}, large[2] = {100, 7};
	TensorCreateInfo one(small, 1, DataType::INT64), two(large, 2, DataType::INT16);
	CoreTaskArgs args;

	two.set_initial_value(static_cast<int16_t>(-3));
	args.add_inout(*record);
	args.add_output(one, two);
	args.add_output(*b);
	TaskOutputTensors out = rt_submit_aiv_task(WORDS, args);
	TaskOutputTensors more = alloc_tensors(one, two);

	results[0] = out.size();
	results[1] = static_cast<int64_t>(out.get_ref(1).buffer.addr - out.get_ref(0).buffer.addr);
	results[2] = static_cast<int64_t>(out.get_ref(1).numel());
	results[3] = get_tensor_data<int16_t>(out.get_ref(1), 2, {99, 6});
	results[4] = static_cast<int64_t>(out.get_ref(0).owner_task_id == out.task_id().raw);
	results[5] = static_cast<int64_t>(more.size());
	results[6] = get_tensor_data<int16_t>(more.get_ref(1), 2, {0, 0});
	results[7] = static_cast<int64_t>(two.buffer_size_bytes());
	results[8] = static_cast<int64_t>(out.get_ref(0).buffer.addr);
	results[9] = out.empty();
	results[10] = static_cast<int64_t>(more.get_ref(0).buffer.addr % 64);
}

void missing_result()
{
	CoreTaskArgs args;

	args.add_inout(*record);
	TaskOutputTensors out = rt_submit_aiv_task(WORDS, args);

	results[0] = out.get_ref(n).ndims;
}

void scopes_out_of_balance()
{
	if (n)
		for (uint64_t i = 0; i < n; i++)
			rt_scope_begin();
	else
		rt_scope_end();
}

void wrong_views()
{
	ChipTensor wide = make_tensor_external(a->data_as<float>(), {8, 8}, 2), v;

	switch (n) {
	case 0: v = wide.view({8, 5}, {0, 4}); break;
	case 1: v = wide.view({8, 4}, {0, 4}).reshape({32}, 1); break;
	case 2: v = wide.reshape({63}, 1); break;
	case 3: v = wide.transpose(0, 2); break;
	case 4: v = wide.permute({0, 0}); break;
	case 5: v = wide.slice(1, 0, 9); break;
	case 6: v = wide.slice(1, 0, 8, 0); break;
	case 7: v = make_tensor_external(a->data_as<float>(), {1, 1, 1, 1, 1, 1}, 6); break;
	case 8: v = make_tensor_external(a->data_as<float>(), {4}, 1, static_cast<DataType>(15)); break;
	case 9: v = make_tensor_strided(a->data_as<float>(), {4}, {0}, 1); break;
	case 10: v = wide.view({0, 5}, {9, 9}); break;	/* empty: allowed */
	case 11: v = make_tensor({1u << 31, 1u << 31, 1u << 31}, 3); break;
	default: break;
	}
	results[0] = static_cast<int64_t>(v.numel());
}

void wrong_predicates()
{
	CoreTaskArgs args;
	ChipTensor wide = make_tensor_external(a->data_as<float>(), {8, 8}, 2);

	args.add_inout(*record);
	switch (n) {
	case 0: args.set_predicate(CoreTaskPredicate(wide, {8, 0}, 2, PredicateOp::GT, 0)); break;
	case 1: args.set_predicate(CoreTaskPredicate(wide, {0, 0, 0}, 3, PredicateOp::GT, 0)); break;
	case 2: args.set_predicate(CoreTaskPredicate(wide, {0, 0}, 2, static_cast<PredicateOp>(9), 0)); break;
	default: break;
	}
	submit(args);
}

void wrong_elements()
{
	switch (n) {
	case 0: get_tensor_data<float>(*a, 1, {64}); break;
	case 1: get_tensor_data<float>(*a, 2, {0, 0}); break;
	case 2: get_tensor_data<double>(*a, 1, {0}); break;
	case 3: set_tensor_data<float>(*a, 1, {64}, 1.0f); break;
	case 4: set_tensor_data<float>(make_tensor({4}, 1), 1, {0}, 1.0f); break;
	default: break;
	}
}

void entry_operands(const ChipTaskArgs &args)
{
	results[0] = args.tensor_count();
	results[1] = args.scalar_count();
	results[2] = args.tensor(1).ref().numel();
	if (n == 1)
		args.tensor(99).ref();
	if (n == 2)
		args.scalar(99);
}

void tensors_of_other_kinds()
{
	CoreTaskArgs args;
	ChipTensor pipe = make_pipe({16}, 1), cid = n == 1 ? rt_allocate_cluster(1) : ChipTensor();

	args.add_inout(*record);
	if (n == 0)
		args.add_input(pipe);
	if (n == 1)
		args.add_input(cid);
	if (n == 2)
		args.add_cluster(*a);
	if (n == 3)
		args.add_pipe_in(pipe);	/* without a cluster */
	submit(args);
}

} // namespace

extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs &)
{
	return PTO2OrchestrationConfig{};
}

extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args)
{
	static void (*const cases[])() = {
		tensors_and_scalars, tensor_behind_scalar, null_dependencies, dependencies_twice,
		collected_dependencies, timing_slots, scalar_words, scalars_from_nowhere,
		cleared_and_used_again, first_error_wins, no_kernel, only_the_second_lane, blocks,
		wrong_allocations, created_tensors, missing_result, scopes_out_of_balance, wrong_views,
		wrong_predicates, wrong_elements, tensors_of_other_kinds,
	};

	record = &args.tensor(0).ref();
	a = &args.tensor(1).ref();
	b = &args.tensor(2).ref();
	results = args.tensor(3).ref().data_as<int64_t>();
	n = args.scalar(1);
	m = args.scalar(2);
	if (args.scalar(0) < sizeof(cases) / sizeof(cases[0]))
		cases[args.scalar(0)]();
	else
		entry_operands(args);
}
