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
using line = vec<float, 1, GROUP>;
using box = vec<float, GROUP, DIM>;

/* The values of a column as a row of the same memory: vector instructions take rows. */
static line as_line(const col &c)
{
	line l(1, c.GetValidRow());

	TRESHAPE(l, c);
	return l;
}

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
	void scale_to(const line &new_best)
	{
		line b = as_line(best), s = as_line(sum);

		TSUB(b, b, new_best);
		TEXP(b, b);
		TMUL(s, s, b);
		TROWEXPANDMUL(o, o, best);
	}
};

void merge(state &into, state &part)
{
	line best(1, into.best.GetValidRow()), into_best = as_line(into.best), sum = as_line(into.sum);

	TASSIGN(best, 0x8000);
	TMAX(best, into_best, as_line(part.best));
	into.scale_to(best);
	part.scale_to(best);
	TADD(sum, sum, as_line(part.sum));
	TADD(into.o, into.o, part.o);
	TMOV(into_best, best);
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
		hand_over(PIPE_MTE2, PIPE_V);
		merge(running, part);
	}
	hand_over(PIPE_MTE2, PIPE_V);
	if (!last) {
		hand_over(PIPE_V, PIPE_MTE3);
		hand_over(PIPE_MTE2, PIPE_MTE3);
		result.store(args, 3);
		return;
	}
	TROWEXPANDDIV(result.o, result.o, result.sum);
	hand_over(PIPE_V, PIPE_MTE3);
	TSTORE(whole<float>(tensor(args, 6)), result.o);
}
