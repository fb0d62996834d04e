// SPDX-License-Identifier: MIT
// Scripts (script.hpp) through the older API, which has no explicit dependences and no ids.
#include "script.hpp"

namespace {

PTO2Runtime *runtime;

struct Older {
	static PTO2TaskId submit(const script::Arguments &a)
	{
		PTOParam params[PTO_TASK_TENSORS];

		for (uint32_t i = 0; i < a.count; i++) {
			const Tensor &t = *a.list[i].tensor;

			switch (a.list[i].tag) {
			case TensorArgType::INPUT: params[i] = make_input_param(t); break;
			case TensorArgType::INOUT: params[i] = make_inout_param(t); break;
			case TensorArgType::OUTPUT_EXISTING: params[i] = make_output_param(t); break;
			default: script::bad("an argument that the older API lacks", ""); break;
			}
		}
		pto2_rt_submit_task(runtime, a.kernel, PTO2_WORKER_VECTOR, params,
				    static_cast<int32_t>(a.count));
		return PTO2TaskId{};
	}
};

} // namespace

extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(uint64_t *, int)
{
	return PTO2OrchestrationConfig{};
}

/* operands: log, text, x, y */
extern "C" void aicpu_orchestration_entry(PTO2Runtime *rt, uint64_t *args, int)
{
	uint32_t words[1] = {script::LOG_WORDS}, rows[2] = {script::ROWS, script::COLUMNS};
	Tensor log = make_tensor_external(reinterpret_cast<void *>(args[0]), words, 1, DataType::INT32);
	Tensor x = make_tensor_external(reinterpret_cast<void *>(args[2]), rows, 2);
	Tensor y = make_tensor_external(reinterpret_cast<void *>(args[3]), rows, 2);

	runtime = rt;
	script::run<Older>(reinterpret_cast<const char *>(args[1]), log, x, y);
}
