// SPDX-License-Identifier: MIT
// The current API: arguments as an object, the runtime unseen.
#include <array>
#include <new>
#include <vector>

#include "pto_orchestration_api.h"

#define CASE(name) extern "C" void name(const ChipTaskArgs &args)
#define UNUSED ((void)args)

enum class Mode : int8_t { off = 0, on = -1 };

CASE(entry_arguments_are_numbered_by_kind)
{
	const ChipTensor &a = args.tensor(1).ref();
	CoreTaskArgs x;

	x.add_input(a);
	x.add_scalar(args.scalar(1), from_u64<float>(args.scalar(1)) * 2);
	rt_submit_aiv_task(static_cast<int32_t>(args.tensor_count() + args.scalar_count()), x);
}

CASE(entry_arguments_out_of_range_are_invalid)
{
	LOG_INFO("%u dims", args.tensor(3).ref().ndims);
	LOG_INFO("scalar %d", (int)args.scalar(2));
}

extern "C" void storage_task_args_are_the_same(const ChipStorageTaskArgs &orch_args)
{
	get_tensor_data(orch_args.tensor(2).ref(), 0, {});
}

CASE(tensors_of_every_kind)
{
	ChipTensor b = args.tensor(1).ref();
	const ChipTensor &a = args.tensor(0).ref();
	TensorCreateInfo ci({ 4, 5 }, 2, DataType::INT16), filled({ 6 }, 1);
	CoreTaskArgs x;

	filled.set_initial_value(1.0f);
	x.add_input(a, b);
	x.add_inout(b);
	x.add_no_dep(a);
	x.add_output(b);
	x.add_output(ci, filled);
	x.add_scalar(3);
	TaskOutputTensors out = rt_submit_task(MixedKernels{ 1, 2, 3 }, x);
	CoreTaskArgs y;

	y.add_input(out.get_ref(0), out.get_ref(1));
	rt_submit_aic_task(5, y);
	LOG_INFO("size %u empty %d task %d shape %u bytes %d", out.size(), out.empty(),
		 (int)out.task_id().raw, out.get_ref(1).shapes[0], (int)ci.buffer_size_bytes());
}

CASE(scalars_are_zero_extended)
{
	UNUSED;
	const int32_t i32[] = { -1, 2 };
	const uint64_t u64[] = { UINT64_MAX };
	CoreTaskArgs x, y;

	x.add_scalar(1.0f, -1, 1.0, true, int8_t(-1), Mode::on, INT64_MIN);
	x.add_scalars_i32(i32, 2);
	x.add_scalars(u64, 1);
	rt_submit_aiv_task(0, x);
	y.copy_scalars_from(x, 1, 2);
	rt_submit_aiv_task(0, y);
	y.copy_scalars_from(x, 9, 2);
	rt_submit_aiv_task(0, y);
	LOG_INFO("%d %d %d", from_u64<int8_t>(to_u64(int8_t(-3))),
		 from_u64<Mode>(to_u64(Mode::on)) == Mode::on, from_u64<float>(to_u64(2.5f)) == 2.5f);
}

CASE(a_tensor_after_a_scalar_is_an_error)
{
	const ChipTensor &a = args.tensor(0).ref();
	L0TaskArgs x;

	x.add_scalar(1);
	x.add_input(a);
	x.set_error("a later error");
	rt_submit_aiv_task(0, x);
	LOG_INFO("%d %s", x.has_error(), x.error_msg());
}

CASE(too_many_arguments_are_errors)
{
	const ChipTensor &a = args.tensor(0).ref();
	CoreTaskArgs x, y;
	Arg<2, 1> z;

	for (int i = 0; i < 33; i++)
		x.add_input(a);
	for (int i = 0; i < 17; i++)
		y.add_scalar(i);
	z.add_input(a, a, a);
	LOG_INFO("%s, %s, %s", x.error_msg(), y.error_msg(), z.error_msg());
	LOG_INFO("%u %u", x.tensor_count(), y.scalar_count());
}

CASE(an_error_surfaces_at_the_submit)
{
	UNUSED;
	CoreTaskArgs x;

	x.set_error("first");
	x.set_error("second");
	TaskOutputTensors out = rt_submit_dummy_task(x);

	LOG_INFO("%d", out.task_id().is_valid());
}

CASE(arguments_can_be_reused_after_clear)
{
	const ChipTensor &a = args.tensor(0).ref();
	PTO2TaskId id{ 5 };
	CoreTaskPredicate pred(a, { 0, 0 }, 2, PredicateOp::GT, 0);
	CoreTaskArgs x;

	x.add_input(a);
	x.add_scalar(1);
	x.launch_spec.set_block_num(9).set_require_sync_start(true);
	x.set_allow_early_resolve(true);
	x.set_task_timing_slot(3);
	x.set_predicate(pred);
	x.set_dependencies(&id, 1);
	x.dump();
	x.set_error("e");
	x.clear();
	x.add_input(a);
	rt_submit_aiv_task(0, x);
	x.reset();
	rt_submit_aiv_task(0, x);
}

CASE(launch_specification)
{
	UNUSED;
	CoreTaskArgs x;
	PTO2LaunchSpec spec;

	spec.set_core_num(4).set_require_sync_start(true);
	x.set_allow_early_resolve(true);
	x.set_task_timing_slot(15);
	x.launch_spec = spec;
	rt_submit_aiv_task(0, x);
	LOG_INFO("%d %d %d", x.launch_spec.block_num(), x.launch_spec.core_num(),
		 x.launch_spec.require_sync_start());
	x.launch_spec = PTO2LaunchSpec();
	rt_submit_aiv_task(0, x);
	x.launch_spec.set_block_num(0);
}

CASE(timing_slots_are_0_to_15)
{
	UNUSED;
	CoreTaskArgs x, y;

	x.set_task_timing_slot(0);
	x.set_task_timing_slot(16);
	rt_submit_aiv_task(0, x);
	y.set_task_timing_slot(-1);
	LOG_INFO("%s", y.error_msg());
}

CASE(explicit_dependencies)
{
	UNUSED;
	PTO2TaskId ids[] = { { 1 }, { (1ULL << 32) | 2 } };
	DepFlags kinds[] = { DepFlags::WAIT, DepFlags::WAIT | DepFlags::RETAIN };
	CoreTaskArgs x;
	CoreTaskArgsWithDeps<> d;

	x.set_dependencies(ids, 2);
	rt_submit_dummy_task(x);
	x.set_dependencies(nullptr, 0);
	x.set_dependencies_with_kinds(ids, kinds, 2);
	rt_submit_dummy_task(x);
	d.add_dep(ids[0], ids[1]);
	d.add_dep_wait(PTO2TaskId{ 9 });
	rt_submit_aiv_task(0, d);
	d.clear();
	d.add_dep_wait(ids[0]);
	rt_submit_task(MixedKernels{ 7 }, d);
	LOG_INFO("%u %u %d %d", ids[1].ring(), ids[1].local(), ids[1].is_valid(),
		 PTO2TaskId::invalid() == PTO2TaskId() && ids[0] != ids[1]);
}

CASE(wrong_dependencies_are_errors)
{
	UNUSED;
	PTO2TaskId id{ 1 };
	CoreTaskArgs none, again, negative;
	CoreTaskArgsWithDeps<2> many, both;

	none.set_dependencies(nullptr, 4);
	again.set_dependencies(&id, 1);
	again.set_dependencies(&id, 1);
	negative.set_dependencies(&id, -1);
	many.add_dep(id, id, id);
	both.set_dependencies(&id, 1);
	both.add_dep(id);
	LOG_INFO("%s", none.error_msg());
	LOG_INFO("%s", again.error_msg());
	LOG_INFO("%s", negative.error_msg());
	LOG_INFO("%s", many.error_msg());
	LOG_INFO("%s", both.error_msg());
	rt_submit_dummy_task(none);
}

CASE(predicates_are_copied)
{
	const ChipTensor &gate = args.tensor(2).ref();
	CoreTaskArgs x, y;

	{
		CoreTaskPredicate pred{ { &gate, 2, { 1, 2 } }, PredicateOp::LE, -5 };

		x.set_predicate(pred);
		pred.target = 4;
	}
	rt_submit_aiv_task(0, x);
	y.set_predicate(CoreTaskPredicate());
	rt_submit_aiv_task(0, y);
}

CASE(a_task_without_kernel_is_invalid)
{
	UNUSED;
	CoreTaskArgs x;

	TaskOutputTensors out = rt_submit_task(MixedKernels{}, x);
	LOG_INFO("%d", out.empty());
}

CASE(buffers_are_allocated)
{
	UNUSED;
	TensorCreateInfo a({ 2 }, 1), b({ 3 }, 1), list[] = { { { 4 }, 1 }, { { 5 }, 1 } };
	CoreTaskArgs x;

	x.add_output(a);
	TaskOutputTensors one = alloc_tensors(x), two = alloc_tensors(a, b), three =
		alloc_tensors(list, 2);

	LOG_INFO("%u %u %u", one.size(), two.size(), three.size());
	LOG_INFO("%u %u", two.get_ref(1).shapes[0], three.get_ref(0).shapes[0]);
}

CASE(only_buffers_are_allocated)
{
	const ChipTensor &a = args.tensor(0).ref();
	TensorCreateInfo ci({ 2 }, 1);
	CoreTaskArgs x, y;

	x.add_output(ci);
	x.add_scalar(1);
	alloc_tensors(x);
	y.add_output(a);
	alloc_tensors(y);
	alloc_tensors(&ci, 0);
}

CASE(results_out_of_range_are_invalid)
{
	UNUSED;
	CoreTaskArgs x;
	TaskOutputTensors out = rt_submit_aiv_task(0, x), none;

	LOG_INFO("%u %d", out.get_ref(0).ndims, none.task_id().is_valid());
}

CASE(outputs_without_memory_are_lazy)
{
	ChipTensor t = make_tensor({ 4 }, 1), a = args.tensor(0).ref();
	CoreTaskArgs x, y;

	x.add_output(t, a);
	rt_submit_aiv_task(0, x);
	y.add_output(t);
	rt_submit_aiv_task(0, y);
}

CASE(scopes_of_both_modes)
{
	UNUSED;
	PTO2_SCOPE() {
		PTO2_SCOPE(PTO2ScopeMode::MANUAL) {
			PTO2_SCOPE_GUARD();
			PTO2ScopeGuard manual(PTO2ScopeMode::MANUAL);
		}
	}
	rt_scope_begin();
	rt_scope_begin(PTO2ScopeMode::MANUAL);
	rt_scope_end();
	rt_scope_end();
}

CASE(current_scopes_tell_where_they_stand)
{
	UNUSED;
	PTO2_SCOPE_GUARD();
}

CASE(fatal_errors_are_reported)
{
	UNUSED;
	LOG_INFO("%d", rt_is_fatal());
	rt_report_fatal(9, "gave up after %d", 3);
	LOG_INFO("%d", rt_is_fatal());
	LOG_DEBUG("plain");
	rt_orchestration_done();
}

CASE(the_device_has_a_width)
{
	UNUSED;
	LOG_INFO("%d clusters, %d vector cores", rt_available_cluster_count(),
		 rt_available_aiv_count());
}

CASE(elements_keep_their_value)
{
	UNUSED;
	int data[4] = {};
	uint32_t at[] = { 3 };
	ChipTensor i32 = make_tensor_external(data, { 4 }, 1, DataType::INT32);
	ChipTensor u32 = make_tensor_external(data, { 4 }, 1, DataType::UINT32);

	i32.buffer.addr = u32.buffer.addr = 0x40;
	LOG_INFO("%lld", (long long)get_tensor_data<int64_t>(i32, 1, at));
	LOG_INFO("%lld", (long long)get_tensor_data<int64_t>(u32, 1, at));
	LOG_INFO("%llx", (unsigned long long)get_tensor_data(i32, 1, at));
	set_tensor_data<int64_t>(i32, 1, at, -2);
	set_tensor_data(u32, 1, at, 1.0f);
	get_tensor_data<double>(i32, 1, at);
	set_tensor_data(u32, 1, at, 1.0);
	get_tensor_data(i32, 6, at);
}

CASE(views_of_views)
{
	const ChipTensor &a = args.tensor(0).ref(); // 32x64
	int64_t i = 1;
	std::vector<int> sizes = { 8, 8 };
	std::array<uint32_t, 2> offsets = { 8, 0 };

	get_tensor_data(a.view({ 16, 16 }, { (i * 16), 0 }), 0, {});
	get_tensor_data(a.view({ 16, 16 }, { 16, 48 }).view(sizes, offsets, true), 0, {});
	get_tensor_data(a.view({ 1, 64 }, { 3, 0 }), 0, {});
	get_tensor_data(a.view({ 0, 64 }, { 99, 99 }), 0, {});
	get_tensor_data(a.transpose(0, 1), 0, {});
	get_tensor_data(a.permute({ 1, 0 }), 0, {});
	get_tensor_data(a.slice(0, 1, 8, 3), 0, {});
	get_tensor_data(a.slice(1, 0, 64).reshape({ 2, 16, 64 }, 3), 0, {});
	get_tensor_data(a.slice(0, 5, 5), 0, {});
}

CASE(wrong_views_are_invalid)
{
	const ChipTensor &a = args.tensor(0).ref(); // 32x64

	a.view({ 16, 16 }, { 17, 0 });
	a.view({ 16 }, { 0 });
	a.view({ -1, 1 }, { 0, 0 });
	a.transpose(0, 2);
	a.permute({ 1, 1 });
	a.slice(2, 0, 1);
	a.slice(0, 8, 4);
	a.slice(0, 0, 33);
	a.slice(0, 0, 8, 0);
	a.reshape({ 32, 63 }, 2);
	a.transpose(0, 1).reshape({ 2048 }, 1);
	LOG_INFO("%u", a.view({ 33, 1 }, { 0, 0 }).ndims);
}

CASE(shapes_of_any_integer_type)
{
	UNUSED;
	const int8_t i8[] = { 3, 4 };
	int64_t i64[] = { 3, 4 };
	uint32_t u32[] = { 3, 4 };
	size_t n = 3;
	const uint64_t *p = nullptr;
	void *at = reinterpret_cast<void *>(0x40);

	get_tensor_data(make_tensor_external(at, i8, 2, DataType::INT8), 0, {});
	get_tensor_data(make_tensor_external(at, i64, 2, DataType::INT8), 0, {});
	get_tensor_data(make_tensor_external(at, u32, 2, DataType::INT8), 0, {});
	get_tensor_data(make_tensor_external(at, { n, 4 }, 2, DataType::INT8), 0, {});
	get_tensor_data(make_tensor_external(at, u32, 0, DataType::INT8), 0, {});
	get_tensor_data(make_tensor_strided(at, u32, { 1, 3 }, 2, DataType::INT8), 0, {});
	make_tensor_external(at, p, 1);
	make_tensor_external(at, { 1, 1, 1, 1, 1, 1 }, 6);
	make_tensor_external(at, { 1ULL << 40 }, 1);
	make_tensor_external(at, { 1u << 31, 1u << 31, 1u << 31 }, 3);
	make_tensor_external(at, u32, 2, static_cast<DataType>(99));
	make_tensor_strided(at, u32, { 4, 0 }, 2);
	TensorCreateInfo wrong({ -2 }, 1);
}

CASE(tensor_accessors)
{
	const ChipTensor &a = args.tensor(0).ref(); // 32x64
	ChipTensor v = a.view({ 2, 3 }, { 1, 5 });
	uint32_t at[] = { 1, 2 };

	LOG_INFO("%d elements, %d bytes, extent %d", (int)v.numel(), (int)v.nbytes(),
		 (int)v.extent_elem());
	LOG_INFO("first %llx, last at %d", (unsigned long long)(uintptr_t)v.data_as<float>(),
		 (int)v.compute_flat_offset(at, 2));
	LOG_INFO("device %d, address %llx", v.is_device_memory(),
		 (unsigned long long)v.buffer.addr);
}

CASE(clusters_and_pipes)
{
	const ChipTensor &a = args.tensor(0).ref();
	ChipTensor cid = rt_allocate_cluster(2), p = make_pipe({ 64, 64 }, 2, DataType::FLOAT32);
	CoreTaskArgs x, y, z;

	x.add_cluster(cid);
	x.add_pipe_out(p);
	x.add_input(a);
	x.launch_spec.set_block_num(2);
	rt_submit_aic_task(0, x);
	y.add_cluster(cid);
	y.add_pipe_in(p);
	rt_submit_aiv_task(1, y);
	z.add_input(p);
	LOG_INFO("%s", z.error_msg());
	z.clear();
	z.add_pipe_in(cid);
	LOG_INFO("%s", z.error_msg());
	z.clear();
	z.add_cluster(a);
	LOG_INFO("%s", z.error_msg());
}

CASE(arguments_are_marked_for_the_dump)
{
	const ChipTensor &a = args.tensor(0).ref(), &b = args.tensor(1).ref();
	TensorCreateInfo ci({ 1 }, 1);
	CoreTaskArgs x;

	x.add_input(a, b);
	x.add_output(ci);
	x.add_scalar(1);
	x.dump(b, ci, 32);
	rt_submit_aiv_task(0, x);
	x.dump(args.tensor(2).ref());
	LOG_INFO("%s", x.error_msg());
}

CASE(constructing_arguments_touches_only_the_header)
{
	UNUSED;
	static_assert(std::is_trivially_destructible<CoreTaskArgsWithDeps<>>::value, "");
	alignas(16) static unsigned char memory[sizeof(CoreTaskArgsWithDeps<>)];
	unsigned int touched = 0;

	for (unsigned char &c : memory)
		c = 0xa5;
	new (memory) CoreTaskArgsWithDeps<>;
	asm volatile("" : : : "memory");
	for (unsigned int i = offsetof(pto_core_args, tags); i < sizeof(memory); i++)
		touched += memory[i] != 0xa5;
	LOG_INFO("%u", touched);
}

static void body(const GraphTaskArgs &g, int rows, float scale)
{
	CoreTaskArgs x;

	x.add_input(g.tensor(0).ref());
	x.add_output(g.tensor(1).ref());
	x.add_scalar(g.scalar(0), rows, scale);
	rt_submit_aiv_task(3, x);
}

CASE(graphs_submit_their_tasks)
{
	ChipTensor a = args.tensor(0).ref(), b = args.tensor(1).ref();
	GraphTaskArgs g;

	g.add_input(a);
	g.add_output(b);
	g.add_scalar(7);
	GraphSubmitResult r = rt_submit_graph(body, g, 16, 0.5f);
	LOG_INFO("%d", r.submitted);
	rt_submit_graph(GRAPH_KEY("layer"), body, g, 32, 1.0f);
	rt_submit_graph([](const GraphTaskArgs &h) { LOG_INFO("%u", h.tensor_count()); }, g);
}

CASE(wrong_graph_arguments_are_invalid)
{
	ChipTensor a = args.tensor(0).ref();
	GraphTaskArgs none, late;

	rt_submit_graph(body, none, 1, 1.0f);
	late.add_scalar(1);
	late.add_input(a);
	rt_submit_graph(body, late, 1, 1.0f);
	for (int i = 0; i < 65; i++)
		none.add_scalar(i);
	LOG_INFO("%s", none.error_msg());
	none.clear();
	for (int i = 0; i < 129; i++)
		none.add_input(a);
	LOG_INFO("%s", none.error_msg());
	rt_report_fatal(9, "stop");
	late.clear();
	late.add_input(a);
	LOG_INFO("%d", !rt_submit_graph(body, late, 1, 1.0f));
}
