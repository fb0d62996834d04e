/* SPDX-License-Identifier: MIT */
/*
 * Where a kernel runs when it is called as a plain function: functions that the program around it
 * may provide.  They are looked for once, by name, in everything that is loaded; a kernel that a
 * chip runs never asks them.
 *
 * Spec: pto-isa §3.9.
 */
#ifndef PTO_COMMON_HOOKS_HPP
#define PTO_COMMON_HOOKS_HPP

#include <dlfcn.h>

#include "pto/common/core.hpp"

namespace pto {
namespace cpu_sim {

using subblock_fn = uint32_t (*)();
using pipe_state_fn = void *(*)(uint64_t key, size_t bytes);

/* What the program provides; a member is null where it does not. */
struct hook_table {
	void (*set_context)(uint32_t block, uint32_t sub, uint32_t sub_dim);
	void (*get_context)(uint32_t *block, uint32_t *sub, uint32_t *sub_dim);
	uint64_t (*task_cookie)();
	subblock_fn subblock;
	pipe_state_fn pipe_state;

	template <typename F>
	static void find(F &fn, const char *name)
	{
		void *symbol = dlsym(RTLD_DEFAULT, name);

		memcpy(&fn, &symbol, sizeof(fn));
	}
	hook_table()
	{
		find(set_context, "pto_cpu_sim_set_execution_context");
		find(get_context, "pto_cpu_sim_get_execution_context");
		find(task_cookie, "pto_cpu_sim_get_task_cookie");
		find(subblock, "pto_sim_get_subblock_id");
		find(pipe_state, "pto_sim_get_pipe_shared_state");
	}
};

inline __attribute__((noinline)) hook_table &hooks()
{
	static hook_table table;

	return table;
}

/**
 * register_hooks() - use these functions instead of what is found by name
 * @subblock: lane of the calling thread, or null
 * @pipe_state: zeroed memory, the same for the same key, or null
 *
 * Before the first kernel; not while one runs.
 */
inline void register_hooks(subblock_fn subblock, pipe_state_fn pipe_state)
{
	hooks().subblock = subblock;
	hooks().pipe_state = pipe_state;
}

/* The calling core; what hooks say of its place is current. */
inline __attribute__((noinline)) pto_core *ask_hooks(pto_core *c)
{
	const hook_table &h = hooks();
	uint32_t block = uint32_t(c->block_idx);

	if (h.get_context) {
		h.get_context(&block, &c->sub_block_id, &c->sub_block_dim);
		c->block_idx = int32_t(block);
	}
	if (h.subblock)
		c->sub_block_id = h.subblock();
	if (h.task_cookie)
		c->task_cookie = h.task_cookie();
	return c;
}

inline pto_core *place()
{
	pto_core *c = core_::self();

	return __builtin_expect(!pto_core_ops_bound, 0) ? ask_hooks(c) : c;
}

/* Coordinates that a kernel called as a plain function sees on this thread. */
inline void set_execution_context(uint32_t block, uint32_t sub, uint32_t sub_dim,
				  uint32_t block_num = 1)
{
	pto_core *c = core_::self();

	c->block_idx = int32_t(block);
	c->block_num = int32_t(block_num);
	c->sub_block_id = sub;
	c->sub_block_dim = sub_dim;
	if (hooks().set_context)
		hooks().set_context(block, sub, sub_dim);
}

} // namespace cpu_sim
} // namespace pto

#endif
