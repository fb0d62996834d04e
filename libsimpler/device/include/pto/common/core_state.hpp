/* SPDX-License-Identifier: MIT */
/*
 * State that a kernel object keeps per core: found by the core's address, since
 * a block may move to another thread in a pipe operation, and fresh for each
 * block of each task.
 */
#ifndef PTO_COMMON_CORE_STATE_HPP
#define PTO_COMMON_CORE_STATE_HPP

#include "pto/common/core.hpp"

namespace pto {
namespace core_ {

constexpr int STATE_SLOTS = 1024; /* cores of all chips of a process */

/*
 * @T has a method begin(), called when a new block starts to use the state.
 * Only the thread that runs a core touches its slot; the engine orders one
 * block of a core after the other.
 */
template <typename T>
struct state_table {
	struct slot {
		const pto_core *key;
		uint64_t cookie;
		int32_t block;
		bool used;
		T value;
	};

	static slot *slots()
	{
		static slot all[STATE_SLOTS];

		return all;
	}

	static slot *find(const pto_core *c)
	{
		const uintptr_t hash = reinterpret_cast<uintptr_t>(c) / 64 * 0x9e3779b1u;

		for (unsigned i = 0; i < STATE_SLOTS; i++) {
			slot *s = &slots()[(hash + i) % STATE_SLOTS];
			/* relaxed: a key never changes once set, and the value has one user */
			const pto_core *k = __atomic_load_n(&s->key, __ATOMIC_RELAXED);

			/* relaxed: the exchange alone decides who owns the slot */
			if (!k && __atomic_compare_exchange_n(&s->key, &k, c, false,
							      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
				return s;
			if (k == c)
				return s;
		}
		fail("more than %d cores in one process use this kernel's per-core state",
		     STATE_SLOTS);
	}
};

/* The state of the calling core's current block. */
template <typename T>
inline __attribute__((noinline)) T &state()
{
	const pto_core *c = self();
	auto *s = state_table<T>::find(c);

	if (!s->used || s->cookie != c->task_cookie || s->block != c->block_idx) {
		s->used = true;
		s->cookie = c->task_cookie;
		s->block = c->block_idx;
		s->value.begin();
	}
	return s->value;
}

} // namespace core_
} // namespace pto

#endif
