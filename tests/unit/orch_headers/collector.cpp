// SPDX-License-Identifier: MIT
// The generation in between: PTOParam collects the arguments, the runtime is still passed.
#include "pto_orchestration_api.h"

#define CASE(name) extern "C" void name(PTO2Runtime *rt, uint64_t *args, int)

static Tensor external(uint64_t *args, int i)
{
	return make_tensor_external((void *)args[i], { 32, 64 }, 2);
}

CASE(collected_arguments_keep_their_order)
{
	Tensor a = external(args, 0), b = external(args, 1), t = make_tensor({ 4 }, 1);
	PTOParam params;

	params.add_input(a, b);
	params.add_scalar(float_to_u64(1.0f));
	params.add_output(t);
	params.add_inout(b);
	params.add_scalar(-1, uint64_t(2));
	pto2_rt_submit_aiv_task(rt, 3, params);
	pto2_rt_submit_aic_task(rt, 4, params);
}

CASE(mixed_kernels_share_collected_arguments)
{
	Tensor a = external(args, 0);
	PTOParam params;

	params.add_input(a);
	pto2_rt_submit_task(rt, MixedKernels{ 1, 2, 3 }, params);
	pto2_rt_submit_task(rt, MixedKernels{}, params);
}

CASE(no_arguments_are_possible)
{
	(void)args;
	PTOParam params;

	pto2_rt_submit_aiv_task(rt, 0, params);
}

CASE(copies_do_not_share_arguments)
{
	Tensor a = external(args, 0), b = external(args, 1);
	PTOParam p;

	p.add_input(a);
	PTOParam q = p, r = static_cast<PTOParam &&>(p);

	q.add_scalar(1);
	r.add_output(b);
	p = q;
	q.clear();
	pto2_rt_submit_aiv_task(rt, 0, p);
	pto2_rt_submit_aiv_task(rt, 1, q);
	pto2_rt_submit_aiv_task(rt, 2, r);
	PTOParam &self = p;

	p = self;
	q = static_cast<PTOParam &&>(r);
	pto2_rt_submit_aiv_task(rt, 3, p);
	pto2_rt_submit_aiv_task(rt, 4, q);
}

CASE(too_much_is_said_at_the_submit)
{
	Tensor a = external(args, 0);
	PTOParam p;

	for (int i = 0; i < 17; i++)
		p.add_scalar(1);
	p.add_input(a);
	pto2_rt_submit_aiv_task(rt, 0, p);
}

CASE(arrays_of_parameters_still_work)
{
	Tensor a = external(args, 0);
	PTOParam p[] = { make_input_param(a), make_scalar_param(float_to_u64(2)) };

	pto2_rt_submit_aiv_task(rt, 0, p, 2);
	pto2_rt_submit_aic_task(rt, 0, p, 2);
	pto2_rt_submit_task(rt, MixedKernels{ 0, 1 }, p, 2);
}

CASE(current_arguments_are_taken_too)
{
	Tensor a = external(args, 0);
	CoreTaskArgs c;

	c.add_input(a);
	c.add_scalar(1);
	pto2_rt_submit_aiv_task(rt, 0, c);
	pto2_rt_submit_aic_task(rt, 0, c);
	pto2_rt_submit_task(rt, MixedKernels{ 0, 1 }, c);
}

CASE(collected_clusters_and_pipes)
{
	(void)args;
	Tensor cid = pto2_rt_allocate_cluster(rt), p = make_pipe({ 1 }, 1), q = make_pipe({ 1 }, 1);
	PTOParam params;

	params.add_cluster(cid);
	params.add_pipe_in(p);
	params.add_pipe_out(q);
	pto2_rt_submit_aiv_task(rt, 0, params);
}
