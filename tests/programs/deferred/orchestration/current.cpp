/* SPDX-License-Identifier: MIT */
/*
 * Messages: a receiving task completes when other tasks, which are unknown to
 * it and submitted later, have delivered all pieces.  What depends on the
 * receiver must not run before.  Tensors: source [32 * messages, 64], out as
 * source, counters [messages, 2], all zero
 */
#include "pto_orchestration_api.h"

enum { RECEIVE, SEND, ADD_ONE };
constexpr uint32_t ROWS = 32, PIECES = 4, WIDTH = 64;

extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs &args)
{
	(void)args;
	return PTO2OrchestrationConfig{ .expected_arg_count = 3 };
}

/* The payload is the task's output, though others fill it. */
static TaskOutputTensors receive(const ChipTensor &counters)
{
	TensorCreateInfo payload({ ROWS, WIDTH }, 2);
	CoreTaskArgs args;

	args.add_output(payload);
	args.add_no_dep(counters);
	args.add_scalar(PIECES / 2, PIECES - PIECES / 2);
	return rt_submit_aiv_task(RECEIVE, args);
}

static void send(const ChipTensor &message, const ChipTensor &payload, const ChipTensor &counters,
		 uint32_t piece)
{
	ChipTensor from = message.view({ ROWS / PIECES, WIDTH }, { piece * (ROWS / PIECES), 0u });
	/* neither the creator of the payload nor its readers are waited for */
	ChipTensor to = make_tensor_external(
		payload.data_as<float>() + piece * (ROWS / PIECES) * WIDTH,
		{ ROWS / PIECES, WIDTH }, 2, DataType::FLOAT32, true);
	CoreTaskArgs args;

	args.add_input(from);
	args.add_no_dep(to, counters);
	args.add_scalar(piece % 2);
	rt_submit_aiv_task(SEND, args);
}

extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args)
{
	const ChipTensor &source = args.tensor(0).ref(), &out = args.tensor(1).ref();
	const ChipTensor &counters = args.tensor(2).ref();

	for (uint32_t m = 0; m < counters.shapes[0]; m++) {
		PTO2_SCOPE()
		{
			ChipTensor message = source.view({ ROWS, WIDTH }, { m * ROWS, 0u });
			ChipTensor result = out.view({ ROWS, WIDTH }, { m * ROWS, 0u });
			ChipTensor arrived = counters.view({ 1, 2 }, { m, 0u });
			TaskOutputTensors payload = receive(arrived);
			CoreTaskArgs use;

			use.add_input(payload.get_ref(0));
			use.add_output(result);
			rt_submit_aiv_task(ADD_ONE, use);
			for (uint32_t piece = 0; piece < PIECES; piece++)
				send(message, payload.get_ref(0), arrived, piece);
		}
	}
}
