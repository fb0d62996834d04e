// SPDX-License-Identifier: MIT
// The older API: an array of PTOParam, the runtime as first argument.
#include <stdexcept>

#include "pto_orchestration_api.h"

#define CASE(name) extern "C" void name(PTO2Runtime *rt, uint64_t *args, int arg_count)
#define UNUSED ((void)args, (void)arg_count)

// A source's own function wins over the header's template.
static uint64_t float_to_u64(float f)
{
	return to_u64(f) | 1ULL << 63;
}

static Tensor external(uint64_t *args, int i)
{
	uint32_t shapes[2] = { 32, 64 };

	return make_tensor_external((void *)args[i], shapes, 2);
}

CASE(kernel_arguments_follow_the_parameters)
{
	Tensor a = external(args, 0), b = external(args, 1);
	PTOParam p[] = { make_input_param(a), make_scalar_param(7), make_output_param(b),
			 make_scalar_param(arg_count) };

	pto2_rt_submit_task(rt, 4, PTO2_WORKER_VECTOR, p, 4);
}

CASE(parameters_may_be_braced)
{
	UNUSED;
	Tensor a = external(args, 0);
	PTOParam p[] = { { PTOParamType::INOUT, &a, 0 }, { PTOParamType::SCALAR, nullptr, 5 } };
	PTOParam q[2];

	q[0] = { PTOParamType::INPUT, &a, 0 };
	q[1] = make_scalar_param(6);
	pto2_rt_submit_task(rt, 0, PTO2_WORKER_CUBE, p, 2);
	pto2_rt_submit_task(rt, 0, PTO2_WORKER_CUBE, q, 2);
}

CASE(only_cube_workers_are_cube_kernels)
{
	UNUSED;
	PTOParam p[] = { make_scalar_param(0) };

	pto2_rt_submit_task(rt, 1, PTO2_WORKER_CUBE, p, 1);
	pto2_rt_submit_task(rt, 2, PTO2_WORKER_VECTOR, p, 1);
	pto2_rt_submit_task(rt, 3, PTO2_WORKER_AI_CPU, p, 1);
	pto2_rt_submit_task(rt, 4, PTO2_WORKER_ACCELERATOR, p, 1);
}

CASE(outputs_get_their_memory_at_the_submit)
{
	UNUSED;
	Tensor t = make_tensor({ 16, 16 }, 2, DataType::FLOAT16);
	PTOParam p[] = { make_output_param(t) };

	pto2_rt_submit_task(rt, 0, PTO2_WORKER_VECTOR, p, 1);
	PTOParam q[] = { make_input_param(t), make_output_param(t) };

	pto2_rt_submit_task(rt, 1, PTO2_WORKER_VECTOR, q, 2);
}

CASE(inputs_without_memory_are_invalid)
{
	UNUSED;
	(void)rt;
	Tensor t = make_tensor({ 16 }, 1);
	PTOParam p[] = { make_input_param(t), make_inout_param(t) };

	(void)p;
}

CASE(parameters_without_tensor_are_invalid)
{
	UNUSED;
	PTOParam p[] = { { PTOParamType::INPUT, nullptr, 0 } };

	pto2_rt_submit_task(rt, 0, PTO2_WORKER_VECTOR, p, 1);
	pto2_rt_submit_task(rt, 0, PTO2_WORKER_VECTOR, p, -1);
	pto2_rt_submit_task(rt, 0, PTO2_WORKER_VECTOR, nullptr, 1);
}

CASE(a_task_has_32_tensors_and_16_scalars)
{
	UNUSED;
	Tensor a = external(args, 0);
	PTOParam p[48];

	for (int i = 0; i < 48; i++)
		p[i] = i % 3 == 1 ? make_scalar_param(i) : make_input_param(a);
	pto2_rt_submit_task(rt, 0, PTO2_WORKER_VECTOR, p, 48);
}

CASE(a_33rd_tensor_is_too_many)
{
	UNUSED;
	Tensor a = external(args, 0);
	PTOParam p[33];

	for (PTOParam &q : p)
		q = make_input_param(a);
	pto2_rt_submit_task(rt, 0, PTO2_WORKER_VECTOR, p, 33);
}

CASE(a_17th_scalar_is_too_many)
{
	UNUSED;
	PTOParam p[17];

	for (PTOParam &q : p)
		q = make_scalar_param(1);
	pto2_rt_submit_task(rt, 0, PTO2_WORKER_VECTOR, p, 17);
}

CASE(a_source_may_have_its_own_float_to_u64)
{
	UNUSED;
	PTOParam p[] = { make_scalar_param(float_to_u64(1.0f)) };

	pto2_rt_submit_task(rt, 0, PTO2_WORKER_VECTOR, p, 1);
}

CASE(break_and_continue_end_scopes)
{
	UNUSED;
	for (int i = 0; i < 3; i++) {
		PTO2_SCOPE(rt) {
			if (i == 0)
				continue;
			PTO2_SCOPE(rt) {
				LOG_INFO(rt, "i=%d", i);
				if (i == 1)
					break;
			}
		}
		LOG_INFO(rt, "not reached");
	}
}

static int leave(PTO2Runtime *rt)
{
	PTO2_SCOPE_GUARD(rt);
	PTO2_SCOPE(rt) {
		return 1;
	}
}

CASE(return_ends_scopes)
{
	UNUSED;
	LOG_INFO(rt, "left %d", leave(rt));
}

CASE(exceptions_end_scopes)
{
	UNUSED;
	try {
		PTO2_SCOPE(rt) {
			PTO2_SCOPE(rt) {
				throw std::runtime_error("x");
			}
		}
	} catch (const std::runtime_error &e) {
		LOG_WARN(rt, "caught %s", e.what());
	}
}

CASE(scopes_can_be_opened_by_hand)
{
	UNUSED;
	pto2_rt_scope_begin(rt);
	pto2_rt_scope_begin(rt, PTO2ScopeMode::MANUAL);
	pto2_rt_scope_end(rt);
	pto2_rt_scope_end(rt);
	PTO2_SCOPE(rt, PTO2ScopeMode::MANUAL) {
	}
	pto2_rt_orchestration_done(rt);
}

CASE(scopes_tell_where_they_stand)
{
	UNUSED;
	PTO2_SCOPE(rt) {
	}
}

CASE(a_view_gives_a_declared_tensor_its_memory)
{
	UNUSED;
	Tensor t = make_tensor({ 8, 8 }, 2);

	PTO2_SCOPE(rt) {
		const Tensor u = make_tensor({ 4, 4 }, 2, DataType::INT8);

		PTO2_SCOPE(rt) {
			Tensor v = t.view({ 4, 8 }, { 4, 0 });
			Tensor w = u.reshape({ 16 }, 1);
			PTOParam p[] = { make_output_param(v), make_input_param(t),
					 make_output_param(w), make_input_param(u) };

			pto2_rt_submit_task(rt, 0, PTO2_WORKER_VECTOR, p, 4);
			t.transpose(0, 1);
		}
	}
}

CASE(elements_are_read_and_written)
{
	UNUSED;
	Tensor t = external(args, 1);
	uint32_t idx[2] = { 3, 4 };
	float f = get_tensor_data<float>(rt, t, 2, idx);

	set_tensor_data(rt, t, 2, { 1, 2 }, 1.0f);
	LOG_INFO(rt, "nan is itself: %d", f == f);
}

CASE(messages_carry_level_and_function)
{
	UNUSED;
	LOG_ERROR(rt, "%s", "e");
	LOG_WARN(rt, "w");
	LOG_TIMING(rt, "t");
	LOG_INFO(rt, "i %d", 1);
	LOG_DEBUG(rt, "d %s %u", "x", 2u);
	LOG_ALWAYS(rt, "a");
	LOG_INFO("%d words", arg_count);
	pto2_rt_report_fatal(rt, 9, "stop %d", 1);
}

CASE(cluster_groups_use_clusters_and_pipes)
{
	UNUSED;
	Tensor a = external(args, 0), y = external(args, 1);
	Tensor cid = pto2_rt_allocate_cluster(rt, 4);
	uint64_t p_shapes[1] = { 1 };
	Tensor p = make_pipe(p_shapes, 1, DataType::INT8);
	Tensor q = make_pipe(p_shapes, 1, DataType::INT8);
	PTOParam mm[] = { make_cluster_param(cid), make_input_param(a), make_pipe_out_param(p),
			  make_scalar_param(9), make_pipe_in_param(q) };
	PTOParam act[] = { make_cluster_param(cid), make_pipe_in_param(p), make_pipe_out_param(q),
			   make_output_param(y) };

	pto2_rt_submit_block_task(rt, 0, PTO2_WORKER_CUBE, mm, 5, 4);
	pto2_rt_submit_block_task(rt, 1, PTO2_WORKER_VECTOR, act, 4, 4);
}

CASE(one_cluster_is_the_default)
{
	UNUSED;
	Tensor cid = pto2_rt_allocate_cluster(rt);
	PTOParam p[] = { make_cluster_param(cid) };

	pto2_rt_submit_task(rt, 0, PTO2_WORKER_CUBE, p, 1);
	pto2_rt_allocate_cluster(rt, 0);
}

CASE(pipes_and_clusters_are_no_tensors)
{
	UNUSED;
	Tensor a = external(args, 0), p = make_pipe({ 1 }, 1);
	PTOParam q[] = { make_input_param(p), make_pipe_in_param(a), make_cluster_param(p) };

	pto2_rt_submit_task(rt, 0, PTO2_WORKER_CUBE, q, 3);
	p.view({ 1 }, { 0 });
}

CASE(a_block_task_has_at_least_one_block)
{
	UNUSED;
	PTOParam p[] = { make_scalar_param(0) };

	pto2_rt_submit_block_task(rt, 0, PTO2_WORKER_VECTOR, p, 1, 0);
}

CASE(earliest_tensors_have_a_byte_size)
{
	UNUSED;
	Tensor t = make_tensor(1024), x = make_tensor_external((void *)args[0], 256);

	get_tensor_data(rt, t, 0, {});
	get_tensor_data(rt, x, 0, {});
}

CASE(the_fifth_argument_may_be_a_version)
{
	UNUSED;
	uint64_t shapes[1] = { 8 };
	Tensor a = make_tensor_external((void *)args[0], shapes, 1, DataType::FLOAT32, 3);
	Tensor b = make_tensor_external((void *)args[0], shapes, 1, DataType::FLOAT32, true, 4);
	Tensor c = make_tensor(shapes, 1, DataType::FLOAT32, 5);

	LOG_INFO(rt, "%d %d %d, manual %d %d", a.version, b.version, c.version, a.manual_dep,
		 b.manual_dep);
}

CASE(a_default_tensor_is_assigned_later)
{
	Tensor v;

	if (arg_count) {
		v = external(args, 2);
	}
	PTOParam p[] = { make_input_param(v) };

	pto2_rt_submit_task(rt, 0, PTO2_WORKER_VECTOR, p, 1);
}
