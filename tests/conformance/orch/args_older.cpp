// SPDX-License-Identifier: MIT
// Argument lists of the older APIs, by the number in the word behind the pointers.
// Operands: words_record, float[64], float[64], int64[64] for results.
#include "pto_orchestration_api.h"

namespace {

enum { WORDS = 0, WORDS_AT = 1 };

int64_t *results;
uint64_t record_address, n, m;
Tensor record, a, b;

void tensor_scalar_tensor(PTO2Runtime *rt)
{
	PTOParam p[] = {make_inout_param(record), make_scalar_param(7), make_output_param(b)};

	pto2_rt_submit_task(rt, WORDS, PTO2_WORKER_VECTOR, p, 3);
}

void scalars_in_between(PTO2Runtime *rt)
{
	PTOParam p[] = {make_scalar_param(record_address), make_input_param(a),
			make_scalar_param(float_to_u64(1.5f)), make_scalar_param(to_u64(-1)),
			make_output_param(b), make_inout_param(a), make_scalar_param(9)};

	pto2_rt_submit_task(rt, WORDS_AT, static_cast<PTO2WorkerType>(n), p, 7);
}

void declared_outputs(PTO2Runtime *rt)
{
	Tensor t = make_tensor({100}, 1, DataType::FLOAT32);
	Tensor u = make_tensor({300}, 1, DataType::FLOAT32);

	results[0] = static_cast<int64_t>(t.buffer.addr);
	PTOParam p[] = {make_scalar_param(record_address), make_output_param(t), make_output_param(u),
			make_output_param(t)};

	pto2_rt_submit_task(rt, WORDS_AT, PTO2_WORKER_VECTOR, p, 4);
	results[1] = static_cast<int64_t>(t.buffer.addr);
	results[2] = static_cast<int64_t>(u.buffer.addr);
	results[3] = static_cast<int64_t>(t.owner_task_id == u.owner_task_id);
	results[4] = static_cast<int64_t>(t.owner_task_id);
}

void unwritten_input(PTO2Runtime *rt)
{
	Tensor t = make_tensor({100}, 1);
	PTOParam p[] = {make_inout_param(record),
			n ? make_inout_param(t) : make_input_param(t)};

	pto2_rt_submit_task(rt, WORDS, PTO2_WORKER_VECTOR, p, 2);
}

void many(PTO2Runtime *rt)	/* n tensors and m scalars, alternating */
{
	PTOParam p[64];
	int32_t count = 0;

	p[count++] = make_inout_param(record);
	for (uint64_t i = 1; i < n || i - 1 < m; i++) {
		if (i - 1 < m)
			p[count++] = make_scalar_param(1000 + i - 1);
		if (i < n)
			p[count++] = make_input_param(a);
	}
	results[0] = count;
	pto2_rt_submit_task(rt, WORDS, PTO2_WORKER_VECTOR, p, count);
}

void collector(PTO2Runtime *rt)
{
	PTOParam p;

	p.add_inout(record);
	p.add_scalar(3, 1.5f);
	p.add_input(a);
	p.add_output(b);
	p.add_scalar(-1);
	if (n)
		pto2_rt_submit_aic_task(rt, WORDS, p);
	else
		pto2_rt_submit_aiv_task(rt, WORDS, p);
}

void wrong_counts(PTO2Runtime *rt)
{
	pto2_rt_submit_task(rt, WORDS, PTO2_WORKER_VECTOR, static_cast<PTOParam *>(nullptr),
			    static_cast<int32_t>(static_cast<int64_t>(n)));
}

void blocks(PTO2Runtime *rt)
{
	PTOParam p[] = {make_inout_param(record)};

	pto2_rt_submit_block_task(rt, WORDS, PTO2_WORKER_VECTOR, p, 1, static_cast<int64_t>(n));
}

void explicit_scopes(PTO2Runtime *rt)
{
	pto2_rt_scope_begin(rt);
	PTO2_SCOPE(rt) {
		PTO2_SCOPE_GUARD(rt);

		results[0] = rt->scope_depth;
	}
	results[1] = rt->scope_depth;
	pto2_rt_scope_end(rt);
	results[2] = rt->scope_depth;
	pto2_rt_orchestration_done(rt);
}

} // namespace

extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(uint64_t *, int)
{
	return PTO2OrchestrationConfig{.expected_arg_count = 7};
}

extern "C" void aicpu_orchestration_entry(PTO2Runtime *rt, uint64_t *args, int count)
{
	static void (*const cases[])(PTO2Runtime *) = {
		tensor_scalar_tensor, scalars_in_between, declared_outputs, unwritten_input, many,
		collector, wrong_counts, blocks, explicit_scopes,
	};

	record_address = args[0];
	record = make_tensor_external(reinterpret_cast<void *>(args[0]), {256}, 1, DataType::INT64);
	a = make_tensor_external(reinterpret_cast<void *>(args[1]), {64}, 1);
	b = make_tensor_external(reinterpret_cast<void *>(args[2]), {64}, 1);
	results = reinterpret_cast<int64_t *>(args[3]);
	results[63] = count;
	n = args[5];
	m = args[6];
	if (args[4] < sizeof(cases) / sizeof(cases[0]))
		cases[args[4]](rt);
}
