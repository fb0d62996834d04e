/* SPDX-License-Identifier: MIT */
/*
 * Running a kernel as plain functions, a thread for each block.
 *
 * Spec: pto-isa §3.9.
 */
#ifndef PTO_CPU_LAUNCH_HPP
#define PTO_CPU_LAUNCH_HPP

#include <cstdlib>
#include <exception>

#include <pthread.h>

#include "pto/common/hooks.hpp"

namespace pto {
namespace cpu_sim {

/* One block of a launch. */
template <typename F>
struct block_thread {
	const F *fn;
	uint32_t block, blocks;
	std::exception_ptr error;
	pthread_t thread;

	static void *run(void *arg)
	{
		block_thread *b = static_cast<block_thread *>(arg);

		set_execution_context(b->block, 0, 1, b->blocks);
		try {
			(*b->fn)();
		} catch (...) {
			b->error = std::current_exception();
		}
		return nullptr;
	}
};

inline int default_blocks()
{
	const char *text = getenv("PTO_CPU_SIM_NUM_CORES");
	const int n = text ? atoi(text) : 0;

	return n > 0 ? n : 4;
}

} // namespace cpu_sim

/**
 * LaunchKernelMultiCore() - call a kernel once for each block
 * @blocks: how many; 0 or less: PTO_CPU_SIM_NUM_CORES, or 4
 * @fn: called without arguments on a thread of its own per block
 *
 * Returns when all blocks have; an exception of the first block that threw one
 * is thrown again.
 */
template <typename F>
inline void LaunchKernelMultiCore(int blocks, const F &fn)
{
	const uint32_t n = uint32_t(blocks > 0 ? blocks : cpu_sim::default_blocks());
	auto *b = new cpu_sim::block_thread<F>[n]();
	uint32_t started = 0;
	std::exception_ptr error;

	for (; started < n; started++) {
		b[started].fn = &fn;
		b[started].block = started;
		b[started].blocks = n;
		if (pthread_create(&b[started].thread, nullptr, b->run, &b[started]))
			break;
	}
	for (uint32_t i = 0; i < started; i++) {
		pthread_join(b[i].thread, nullptr);
		error = error ? error : b[i].error;
	}
	delete[] b;
	if (started < n)
		core_::fail("LaunchKernelMultiCore: no thread for block %u of %u", started, n);
	if (error)
		std::rethrow_exception(error);
}

} // namespace pto

#endif
