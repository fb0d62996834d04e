// SPDX-License-Identifier: MIT
// Wants three operands; notes that it was called in the first one.
#include "pto_orchestration_api.h"

extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs &)
{
	return PTO2OrchestrationConfig{.expected_arg_count = 3};
}

extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args)
{
	args.tensor(0).ref().data_as<int64_t>()[0] =
		args.tensor_count() * 100 + args.scalar_count();
}
