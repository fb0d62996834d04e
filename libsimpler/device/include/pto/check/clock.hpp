/* SPDX-License-Identifier: MIT */
/*
 * Happens-before over the pipes of a core.
 *
 * Each pipe has a vector clock.  An instruction advances its pipe's own
 * component; a flag carries the source pipe's clock to the destination pipe;
 * PIPE_ALL joins them all.  The scalar pipe issues the instructions, so what it
 * has waited for is known to every later instruction, but what it wrote itself
 * is not: that takes a flag like any other.
 *
 * Spec: pto-isa §2.1, §3.7, decisions D30.
 */
#ifndef PTO_CHECK_CLOCK_HPP
#define PTO_CHECK_CLOCK_HPP

#include <cstdint>

namespace pto {
namespace checking_ {

constexpr int PIPES = 8, SCALAR = 0, VECTOR = 1, EVERY = 6;
constexpr int FLAG_IDS = 8, BUFFER_IDS = 32;

inline const char *pipe_name(int pipe)
{
	static const char *const names[PIPES] = {"PIPE_S",    "PIPE_V", "PIPE_MTE1", "PIPE_MTE2",
						 "PIPE_MTE3", "PIPE_M", "PIPE_ALL",  "PIPE_FIX"};

	return pipe >= 0 && pipe < PIPES ? names[pipe] : "unknown pipe";
}

struct clock {
	uint32_t at[PIPES];

	void join(const clock &other)
	{
		for (int p = 0; p < PIPES; p++)
			at[p] = at[p] < other.at[p] ? other.at[p] : at[p];
	}
};

struct clocks {
	clock pipe[PIPES];
	clock flag[PIPES][PIPES][FLAG_IDS];
	bool is_set[PIPES][PIPES][FLAG_IDS];
	clock buffer[BUFFER_IDS];

	/* What the scalar pipe knows when it issues to @p, without its own stores. */
	void issue(int p)
	{
		clock known = pipe[SCALAR];

		if (p == SCALAR)
			return;
		known.at[SCALAR] = 0;
		pipe[p].join(known);
	}
	/* The time of a new instruction on pipe @p. */
	uint32_t advance(int p)
	{
		issue(p);
		return ++pipe[p].at[p];
	}
	/* The calls below return false for what hardware could not do. */
	bool set(int src, int dst, int id)
	{
		if (is_set[src][dst][id])
			return false;
		issue(src);
		is_set[src][dst][id] = true;
		flag[src][dst][id] = pipe[src];
		return true;
	}
	bool wait(int src, int dst, int id)
	{
		if (!is_set[src][dst][id])
			return false;
		is_set[src][dst][id] = false;
		issue(dst);
		pipe[dst].join(flag[src][dst][id]);
		return true;
	}
	void barrier()
	{
		for (int p = 1; p < PIPES; p++)
			pipe[0].join(pipe[p]);
		for (int p = 1; p < PIPES; p++)
			pipe[p] = pipe[0];
	}
};

} // namespace checking_
} // namespace pto

#endif
