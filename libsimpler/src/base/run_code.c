/* SPDX-License-Identifier: MIT */
#include "base/run_code.h"

#include <stddef.h>

#include "simpler/error.h"

#define CODE(name, description, hint) { SIMPLER_RUN_##name, #name, description, hint }

static const struct run_code run_codes[] = {
	CODE(SCOPE_DEADLOCK,
	     "one open scope holds so many tasks that no further one can ever get a slot",
	     "submit fewer tasks per scope, open nested scopes, or raise ring_task_window"),
	CODE(HEAP_RING_DEADLOCK,
	     "a task's outputs do not fit into the heap ring and nothing that holds it can be freed",
	     "raise ring_heap above the outputs that are alive at once, or close scopes earlier"),
	CODE(FLOW_CONTROL_DEADLOCK,
	     "the task window is full and no task in it can retire",
	     "raise ring_task_window, or close scopes earlier so that their tasks can retire"),
	CODE(DEP_POOL_OVERFLOW,
	     "the dependences of the live tasks do not fit into the dependency pool",
	     "raise ring_dep_pool, or let fewer producers feed one consumer"),
	CODE(INVALID_ARGS,
	     "a call of the orchestration, or an instruction of a kernel, had invalid arguments",
	     "the message names the call and the value; correct the orchestration or the run's arguments"),
	CODE(DEPENDENCY_OVERFLOW,
	     "a task has more producers than the graph can record",
	     "let fewer producers feed one consumer, for example by a tree of partial results"),
	CODE(REQUIRE_SYNC_START_INVALID,
	     "a task whose blocks must start together has more blocks than the chip has cores",
	     "lower the block count to what rt_available_cluster_count() or rt_available_aiv_count() tells"),
	CODE(TENSOR_WAIT_TIMEOUT,
	     "an element access waited too long for the task that produces the tensor",
	     "look for the producer in the report: it is stuck or was never submitted"),
	CODE(EXPLICIT_ORCH_FATAL,
	     "the orchestration reported a fatal error",
	     "the message is the orchestration's own"),
	CODE(SCOPE_TASKS_OVERFLOW,
	     "the open scopes hold more tasks than there are slots to record them",
	     "submit fewer tasks per scope, or raise ring_task_window"),
	CODE(TENSORMAP_OVERFLOW,
	     "more tensor regions are alive than the tensor map can hold",
	     "raise ring_task_window, or reuse tensors instead of creating new ones"),
	CODE(CLUSTER_DEADLOCK,
	     "allocate_cluster waits for clusters that can never become free",
	     "allocate no more clusters at once than rt_available_cluster_count() tells, and close the scopes "
	     "of earlier groups first"),
	CODE(SCHEDULER_TIMEOUT,
	     "the run made no progress",
	     "the report names the stuck task and core; a kernel that never returns or waits for a peer "
	     "that never runs is the usual cause"),
	CODE(ASYNC_COMPLETION_INVALID,
	     "a kernel registered a deferred completion with invalid contents",
	     "check the address, engine and type that the kernel passes"),
	CODE(ASYNC_WAIT_OVERFLOW,
	     "a kernel registered more deferred completions than a task can hold",
	     "wait inside the kernel, or split the task"),
	CODE(ASYNC_REGISTRATION_FAILED,
	     "a deferred completion could not be registered",
	     "check that the asynchronous engine is provisioned (enable_sdma)"),
	CODE(READY_QUEUE_OVERFLOW,
	     "more tasks became ready at once than the ready queue can hold",
	     "raise ring_task_window[0]"),
	CODE(KERNEL_FAULT,
	     "a kernel crashed",
	     "the record names kernel, core and address; look for out-of-range offsets and unaligned accesses"),
	CODE(HOST_MEMORY,
	     "the host has no memory for what the run needs",
	     "the message tells what was needed; lower ring_heap or ring_task_window, or free memory of the host"),
};

static const struct run_code run_code_unknown = {
	.name = "UNKNOWN",
	.description = "the chip reported a code that this library does not know",
	.hint = "look at the chip's own message, and check that library and device runtime are of one version",
};

/* Nothing keeps an orchestration from reporting a number of its own. */
static const struct run_code run_code_user = {
	.name = "USER",
	.description = "the orchestration reported a code of its own",
	.hint = "the number is none of this library's: it is what the orchestration gave rt_report_fatal(), "
		"or a code of a newer device runtime; the message tells more",
};

static const struct run_code run_code_ok = { .name = "OK", .description = "success", .hint = "" };

const struct run_code *run_code_find(int code)
{
	size_t i;

	for (i = 0; i < sizeof(run_codes) / sizeof(run_codes[0]); i++)
		if (run_codes[i].code == code)
			return &run_codes[i];
	return NULL;
}

static const struct run_code *run_code_or_generic(int code)
{
	const struct run_code *entry = run_code_find(code);

	if (!code)
		return &run_code_ok;
	if (entry)
		return entry;
	return code > 0 && code <= SIMPLER_RUN_CODE_MAX ? &run_code_user : &run_code_unknown;
}

const char *run_code_name(int code)
{
	return run_code_or_generic(code)->name;
}

const char *run_code_description(int code)
{
	return run_code_or_generic(code)->description;
}

const char *run_code_hint(int code)
{
	return run_code_or_generic(code)->hint;
}

const char *run_code_sub_class(int sub_class)
{
	switch (sub_class) {
	case 1: return "S1";
	case 3: return "S3";
	case 4: return "S4";
	case 5: return "S5";
	default: return "unknown";
	}
}
