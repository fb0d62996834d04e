/* SPDX-License-Identifier: MIT */
/*
 * Pipes between kernels that are called as plain functions, each core on a thread of its own: a
 * ring per pipe and direction, in memory that pto_sim_get_pipe_shared_state() gives, or else in the
 * kernel object.
 *
 * Spec: pto-isa §3.9, §5.
 */
#ifndef PTO_CPU_PLAIN_PIPE_HPP
#define PTO_CPU_PLAIN_PIPE_HPP

#include <pthread.h>

#include "pto/common/hooks.hpp"

namespace pto {
namespace pipe_ {

/* All zero is a valid ring; counts are of slots, per lane, since the beginning. */
struct plain_ring {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	uint64_t key;
	plain_ring *next; /* in the kernel object's own list */
	uint32_t begun[2], ended[2], popped[2], freed[2];
	alignas(64) uint8_t memory[1];
};

inline uint64_t plain_key(const pto_pipe *p, pto_pipe_dir dir)
{
	return uint64_t(p->flag_id) << 56 | uint64_t(dir) << 48 | uint64_t(p->slot_num) << 40 |
	       uint64_t(p->local_slot_num) << 32 | p->slot_bytes;
}

/* Of one task and block: rings of a finished launch are never met again. */
inline plain_ring *own_ring(uint64_t key, size_t bytes)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static plain_ring *all;
	plain_ring *r;

	pthread_mutex_lock(&lock);
	for (r = all; r && r->key != key; r = r->next)
		;
	if (!r) {
		r = static_cast<plain_ring *>(calloc(1, bytes));
		if (!r)
			abort();
		r->key = key;
		r->next = all;
		all = r;
	}
	pthread_mutex_unlock(&lock);
	return r;
}

inline plain_ring *ring_of(const pto_pipe *p, pto_pipe_dir dir)
{
	const size_t bytes = sizeof(plain_ring) + size_t(p->slot_num) * p->slot_bytes;
	const cpu_sim::hook_table &h = cpu_sim::hooks();
	const pto_core *c = cpu_sim::place();
	const uint64_t key = plain_key(p, dir);

	if (h.pipe_state) {
		void *state = h.pipe_state(key, bytes);

		if (!state)
			core_::fail("pto_sim_get_pipe_shared_state gave no memory for a pipe");
		return static_cast<plain_ring *>(state);
	}
	return own_ring(key ^ (c->task_cookie << 20) ^ (uint64_t(uint32_t(c->block_idx)) << 34),
			bytes);
}

/* Lane of this end; the cube, and a lane that transfers alone, have number 0. */
inline unsigned plain_lane(uint32_t lanes)
{
	return lanes == 2 ? cpu_sim::place()->sub_block_id & 1 : 0;
}

inline uint32_t least(const uint32_t (&n)[2], uint32_t lanes)
{
	return lanes == 2 && n[1] < n[0] ? n[1] : n[0];
}

inline uint8_t *plain_push_begin(const pto_pipe *p, pto_pipe_dir dir, uint32_t lanes)
{
	plain_ring *r = ring_of(p, dir);
	const uint32_t consumers = dir == PTO_PIPE_C2V ? lanes : 1;
	const unsigned lane = dir == PTO_PIPE_V2C ? plain_lane(lanes) : 0;

	pthread_mutex_lock(&r->lock);
	while (r->begun[lane] - least(r->freed, consumers) >= p->slot_num)
		pthread_cond_wait(&r->moved, &r->lock);
	const uint32_t slot = r->begun[lane]++ % p->slot_num;

	pthread_mutex_unlock(&r->lock);
	return r->memory + size_t(slot) * p->slot_bytes;
}

inline void plain_push_end(const pto_pipe *p, pto_pipe_dir dir, uint32_t lanes)
{
	plain_ring *r = ring_of(p, dir);

	pthread_mutex_lock(&r->lock);
	r->ended[dir == PTO_PIPE_V2C ? plain_lane(lanes) : 0]++;
	pthread_cond_broadcast(&r->moved);
	pthread_mutex_unlock(&r->lock);
}

inline uint8_t *plain_pop_begin(const pto_pipe *p, pto_pipe_dir dir, uint32_t lanes)
{
	plain_ring *r = ring_of(p, dir);
	const uint32_t producers = dir == PTO_PIPE_V2C ? lanes : 1;
	const unsigned lane = dir == PTO_PIPE_C2V ? plain_lane(lanes) : 0;

	pthread_mutex_lock(&r->lock);
	while (r->popped[lane] == least(r->ended, producers))
		pthread_cond_wait(&r->moved, &r->lock);
	const uint32_t slot = r->popped[lane]++ % p->slot_num;

	pthread_mutex_unlock(&r->lock);
	return r->memory + size_t(slot) * p->slot_bytes;
}

inline void plain_pop_free(const pto_pipe *p, pto_pipe_dir dir, uint32_t lanes)
{
	plain_ring *r = ring_of(p, dir);

	pthread_mutex_lock(&r->lock);
	r->freed[dir == PTO_PIPE_C2V ? plain_lane(lanes) : 0]++;
	pthread_cond_broadcast(&r->moved);
	pthread_mutex_unlock(&r->lock);
}

inline __attribute__((noinline)) const pto_core_ops *plain_services()
{
	static pto_core_ops ops = [] {
		pto_core_ops o = {};

		o.bytes = sizeof(o);
		o.push_begin = plain_push_begin;
		o.push_end = plain_push_end;
		o.pop_begin = plain_pop_begin;
		o.pop_free = plain_pop_free;
		return o;
	}();

	return &ops;
}

} // namespace pipe_
} // namespace pto

#endif
