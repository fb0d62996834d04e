// SPDX-License-Identifier: MIT
// Scripts (script.hpp) through the current API.
#include "script.hpp"

namespace {

struct Current {
	static void add(CoreTaskArgs &args, const script::Arguments &a, TensorCreateInfo &info)
	{
		for (uint32_t i = 0; i < a.count; i++) {
			const ChipTensor &t = *a.list[i].tensor;

			switch (a.list[i].tag) {
			case TensorArgType::INPUT: args.add_input(t); break;
			case TensorArgType::INOUT: args.add_inout(t); break;
			case TensorArgType::OUTPUT_EXISTING: args.add_output(t); break;
			case TensorArgType::NO_DEP: args.add_no_dep(t); break;
			case TensorArgType::OUTPUT: args.add_output(info); break;
			}
		}
		args.set_dependencies_with_kinds(a.ids, a.kinds, a.deps);
		args.set_allow_early_resolve(a.early);
		if (a.predicated)
			args.set_predicate(CoreTaskPredicate(a.gate, {0, 0}, a.gate.ndims,
							     PredicateOp::NE, 0));
	}

	static void take_outputs(const TaskOutputTensors &out, const script::Arguments &a)
	{
		uint32_t n = 0;

		for (uint32_t i = 0; i < a.count && n < out.size(); i++)
			if (a.list[i].tag == TensorArgType::OUTPUT)
				*const_cast<ChipTensor *>(a.list[i].tensor) = out.get_ref(n++);
	}

	static PTO2TaskId submit(const script::Arguments &a)
	{
		uint32_t shape[2] = {script::ROWS, script::COLUMNS};
		TensorCreateInfo info(shape, 2);
		CoreTaskArgs args;

		add(args, a, info);
		TaskOutputTensors out = a.kernel == INVALID_KERNEL_ID ?
						rt_submit_dummy_task(args) :
						rt_submit_aiv_task(a.kernel, args);
		take_outputs(out, a);
		return out.task_id();
	}
};

} // namespace

extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs &)
{
	return PTO2OrchestrationConfig{};
}

/* operands: log, text, x, y */
extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args)
{
	script::run<Current>(args.tensor(1).ref().data_as<const char>(), args.tensor(0).ref(),
			     args.tensor(2).ref(), args.tensor(3).ref());
}
