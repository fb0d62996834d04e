/* SPDX-License-Identifier: MIT */
/*
 * The global memory that a block may access, for checked mode: the operands of
 * its task, as the runtime tells them, and the pipe slots it has been given.
 * Nothing is known of a kernel without a runtime, and little of one that gets
 * addresses as scalars.  SIMPLER_CHECK_BOUNDS=0 leaves the check out, for
 * kernels that find addresses in memory.
 *
 * Spec: decisions D28.
 */
#ifndef PTO_CHECK_BOUNDS_HPP
#define PTO_CHECK_BOUNDS_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "pto/common/core.hpp"

namespace pto {
namespace checking_ {

/* What is wrong with an access. */
enum class trespass { NONE, OUTSIDE, READ_ONLY };

struct bounds {
	pto_extent *list; /* operands, then slots */
	uint32_t count, operands, room;
	bool known; /* nothing else may be accessed */

	bool reserve(uint32_t more)
	{
		if (count + more <= room)
			return true;
		void *bigger = realloc(list, 2 * (count + more) * sizeof(*list));

		if (!bigger)
			return false;
		list = static_cast<pto_extent *>(bigger);
		room = 2 * (count + more);
		return true;
	}
	/* False without memory. */
	bool begin()
	{
		const pto_core_ops *ops = pto_core_ops_bound;
		const char *text = getenv("SIMPLER_CHECK_BOUNDS");
		bool open = true;

		count = operands = 0;
		known = false;
		if (!ops || ops->bytes < offsetof(pto_core_ops, extents) + sizeof(ops->extents) ||
		    !ops->extents || (text && !strcmp(text, "0")))
			return true;
		if (!reserve(PTO_TASK_TENSORS))
			return false;
		count = operands = ops->extents(list, &open);
		known = !open;
		return true;
	}
	void end() { free(list); }

	/* Adds a slot of a pipe that the block fills or reads; false without memory. */
	bool lend(const void *at, size_t bytes)
	{
		const uint64_t from = reinterpret_cast<uintptr_t>(at);

		for (uint32_t i = operands; i < count; i++)
			if (list[i].begin == from && list[i].end - from == bytes)
				return true;
		if (!reserve(1))
			return false;
		list[count++] = {from, from + bytes, 0, false};
		return true;
	}

	/* Looks at an access of bytes [@from, @to); @nearest: the operand it may be meant for. */
	trespass look(uint64_t from, uint64_t to, bool write, const pto_extent **nearest) const
	{
		uint64_t best = UINT64_MAX;
		trespass found = known ? trespass::OUTSIDE : trespass::NONE;

		*nearest = nullptr;
		for (uint32_t i = 0; i < count; i++) {
			const pto_extent &e = list[i];
			const uint64_t off = to > e.end ? to - e.end : 0,
				       before = from < e.begin ? e.begin - from : 0;
			const uint64_t distance = off > before ? off : before;

			if (!distance && !(write && e.read_only))
				return trespass::NONE;
			if (!distance)
				found = trespass::READ_ONLY;
			if (i < operands && distance < best) {
				best = distance;
				*nearest = &e;
			}
		}
		return found;
	}
};

} // namespace checking_
} // namespace pto

#endif
