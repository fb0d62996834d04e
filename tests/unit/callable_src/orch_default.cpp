// SPDX-License-Identifier: MIT
// An orchestration under the default names, with an object that is constructed and destroyed.
#include <cstdlib>

#include "pto_runtime_abi.h"

struct trace {
	trace()
	{
		setenv("ORCH_DEFAULT", "constructed", 1);
	}
	~trace()
	{
		setenv("ORCH_DEFAULT", "destroyed", 1);
	}
};

static trace lifetime;
static struct PTO2Runtime *runtime;
static int runs;

extern "C" {
void framework_bind_runtime(struct PTO2Runtime *rt)
{
	runtime = rt;
}

struct PTO2OrchestrationConfig aicpu_orchestration_config(void *, const uint64_t *, int)
{
	return { 3, 0, 0, 0 };
}

void aicpu_orchestration_entry(void *rt, uint64_t *words, int count)
{
	words[0] = ++runs;
	words[1] = rt == runtime;
	words[2] = count;
}
}
