/* SPDX-License-Identifier: MIT */
/*
 * Adds one block's part to the running softmax of a group of heads:
 * (part's best [group], sum [group], o [group, dim]; running best, sum, o;
 * out [group, dim]; first, last).  The first part starts, the last one divides
 * and writes out.
 */
#include "../sizes.h"

using namespace prog;

namespace {

using col = column<float, GROUP>;
using box = vec<float, GROUP, DIM>;

struct state {
	col best, sum;
	box o;

	state(int64_t *args, int first, uint64_t at)
		: best(rows(tensor(args, first))), sum(rows(tensor(args, first))),
		  o(rows(tensor(args, first + 2)), cols(tensor(args, first + 2)))
	{
		TASSIGN(best, at);
		TASSIGN(sum, at + 0x100);
		TASSIGN(o, at + 0x200);
	}

	void load(int64_t *args, int first)
	{
		TLOAD(best, whole<float>(tensor(args, first)));
		TLOAD(sum, whole<float>(tensor(args, first + 1)));
		TLOAD(o, whole<float>(tensor(args, first + 2)));
	}

	void store(int64_t *args, int first)
	{
		TSTORE(whole<float>(tensor(args, first)), best);
		TSTORE(whole<float>(tensor(args, first + 1)), sum);
		TSTORE(whole<float>(tensor(args, first + 2)), o);
	}

	/* Rescales to another maximum. */
	void scale_to(const col &new_best)
	{
		TSUB(best, best, new_best);
		TEXP(best, best);
		TMUL(sum, sum, best);
		TROWEXPANDMUL(o, o, best);
	}
};

void merge(state &into, state &part)
{
	col best(into.best.GetValidRow());

	TASSIGN(best, 0x8000);
	TMAX(best, into.best, part.best);
	into.scale_to(best);
	part.scale_to(best);
	TADD(into.sum, into.sum, part.sum);
	TADD(into.o, into.o, part.o);
	TMOV(into.best, best);
}

} // namespace

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	const bool first = args[7], last = args[8];
	state part(args, 0, 0x0), running(args, 3, 0x4000);
	state &result = first ? part : running;

	part.load(args, 0);
	if (!first) {
		running.load(args, 3);
		merge(running, part);
	}
	if (!last) {
		result.store(args, 3);
		return;
	}
	TROWEXPANDDIV(result.o, result.o, result.sum);
	TSTORE(whole<float>(tensor(args, 6)), result.o);
}
