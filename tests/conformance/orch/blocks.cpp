// SPDX-License-Identifier: MIT
// Blocks, MIX tasks, cohorts, predicates and cluster groups, by the number in scalar 0.
// Operands: int32[65536] of rows (kernels/where.cpp), float x[64], 64 bytes of gate, float y[64].
#include "pto_orchestration_api.h"

namespace {

enum { WHERE = 0, SET_WORD = 1, SET_BEHIND = 2, COPY = 3, GROUP_PUSH = 4, GROUP_POP = 5, MEET = 6,
       GROUP_PUSH_MORE = 7 };
enum { NO = INVALID_KERNEL_ID };

const ChipTaskArgs *entry;
const ChipTensor *rows, *x, *gate, *y;

uint64_t scalar(uint32_t i)
{
	return entry->scalar(i);
}

/* Rows from number @first on; the clock is in front of them. */
ChipTensor rows_from(uint32_t first)
{
	uint32_t at[1] = {16 + 8 * first}, shape[1] = {rows->shapes[0] - at[0]};

	return rows->view(shape, at, true);
}

TaskOutputTensors where(const MixedKernels &mk, uint32_t first, int64_t blocks, CoreTaskArgs &args)
{
	ChipTensor r = rows_from(first);
	CoreTaskArgs own;

	own.add_no_dep(r);
	if (args.tensor_count())
		own.add_inout(args.tensor(0).ref());
	own.launch_spec.set_block_num(blocks);
	own.launch_spec.set_require_sync_start(args.launch_spec.require_sync_start());
	return rt_submit_task(mk, own);
}

void widths()
{
	int32_t *words = rows->data_as<int32_t>();

	words[16] = rt_available_cluster_count();
	words[17] = rt_available_aiv_count();
}

void blocks()	/* shape, number, sync start */
{
	static const MixedKernels shapes[] = {
		{WHERE, NO, NO}, {NO, WHERE, NO}, {WHERE, WHERE, WHERE}, {WHERE, NO, WHERE},
		{NO, WHERE, WHERE}, {WHERE, WHERE, NO}, {NO, NO, WHERE},
	};
	CoreTaskArgs args;

	args.launch_spec.set_require_sync_start(scalar(3));
	where(shapes[scalar(1)], 0, static_cast<int64_t>(scalar(2)), args);
}

/* 30 single blocks before and behind a cohort of 16. */
void cohort_among_others()
{
	CoreTaskArgs plain, together;

	together.launch_spec.set_require_sync_start(true);
	for (uint32_t i = 0; i < 30; i++)
		where({NO, WHERE, NO}, 3 * i, 1, plain);
	where({NO, WHERE, NO}, 90, 16, together);
	for (uint32_t i = 46; i < 76; i++)
		where({NO, WHERE, NO}, 3 * i, 1, plain);
}

void set_word(const ChipTensor &t, uint64_t bits)
{
	CoreTaskArgs args;

	args.add_output(t);
	args.add_scalar(bits);
	rt_submit_aiv_task(SET_WORD, args);
}

/* A task writes the gate (scalar 1), one behind the gate sets x, one copies x to y. */
void predicate()	/* value, operation, target, element type, index */
{
	uint32_t index[1] = {static_cast<uint32_t>(scalar(5))}, one[1] = {1};
	ChipTensor g = make_tensor_external(gate->data_as<char>(), {8}, 1,
					    static_cast<DataType>(scalar(4)));
	ChipTensor element = g.view(one, index);
	CoreTaskArgs guarded, copy;

	set_word(element, scalar(1));
	guarded.add_input(element);
	guarded.add_inout(*x);
	guarded.add_scalar(to_u64(999.0f));
	guarded.set_predicate(CoreTaskPredicate(g, index, 1, static_cast<PredicateOp>(scalar(2)),
						static_cast<int64_t>(scalar(3))));
	/* kernel arguments are gate, x, value */
	rt_submit_aiv_task(SET_BEHIND, guarded);
	copy.add_input(*x);
	copy.add_output(*y);
	rt_submit_aiv_task(COPY, copy);
}

void null_predicates()
{
	CoreTaskArgs args;
	ChipTensor empty;

	args.add_input(*gate);
	args.add_inout(*x);
	args.add_scalar(to_u64(999.0f));
	if (scalar(1))
		args.set_predicate(CoreTaskPredicate(empty, {0}, 1, PredicateOp::GT, 0));
	else
		args.set_predicate(CoreTaskPredicate({}, PredicateOp::GT, 0));
	rt_submit_aiv_task(SET_BEHIND, args);
}

/* A producer of n blocks, perhaps a second one, and a consumer of n blocks. */
void early()	/* flag of the first, flag of the second, n */
{
	int64_t n = static_cast<int64_t>(scalar(3));
	ChipTensor first = rows_from(0), second = rows_from(3 * 16), last = rows_from(6 * 16);
	CoreTaskArgs a, b, c;

	a.add_no_dep(first);
	a.add_inout(*x);
	a.launch_spec.set_block_num(n);
	a.set_allow_early_resolve(scalar(1));
	rt_submit_aiv_task(WHERE, a);
	b.add_no_dep(second);
	b.add_inout(*y);
	b.set_allow_early_resolve(scalar(2));
	rt_submit_aiv_task(WHERE, b);
	c.add_no_dep(last);
	c.add_input(*x, *y);
	c.launch_spec.set_block_num(n);
	rt_submit_aiv_task(WHERE, c);
}

/* More flagged producers with a consumer each than an early queue could hold. */
void many_early()	/* pairs */
{
	for (uint32_t i = 0; i < scalar(1); i++) {
		ChipTensor first = rows_from(6 * i), last = rows_from(6 * i + 3);
		uint32_t one[1] = {1}, at[1] = {i % 64};
		ChipTensor v = x->view(one, at);
		CoreTaskArgs a, c;

		a.add_no_dep(first);
		a.add_inout(v);
		a.set_allow_early_resolve(true);
		rt_submit_aiv_task(WHERE, a);
		c.add_no_dep(last);
		c.add_input(v);
		rt_submit_aiv_task(WHERE, c);
	}
}

void pinned(const ChipTensor &cid, const MixedKernels &mk, uint32_t first, int64_t blocks)
{
	ChipTensor r = rows_from(first);
	CoreTaskArgs args;

	args.add_no_dep(r);
	args.add_cluster(cid);
	args.launch_spec.set_block_num(blocks);
	rt_submit_task(mk, args);
}

/* Tasks of one group, beside others that may go anywhere. */
void group()	/* clusters, tasks, blocks of each, do the others run while the group exists */
{
	ChipTensor cid = rt_allocate_cluster(static_cast<int64_t>(scalar(1)));
	CoreTaskArgs plain;

	for (uint32_t i = 0; i < scalar(2); i++) {
		pinned(cid, {WHERE, NO, NO}, 48 * i, static_cast<int64_t>(scalar(3)));
		pinned(cid, {NO, WHERE, NO}, 48 * i, static_cast<int64_t>(scalar(3)));
	}
	plain.add_inout(*x);
	where({NO, WHERE, NO}, 48 * static_cast<uint32_t>(scalar(2)), 40, plain);
	if (scalar(4))
		get_tensor_data<float>(*x, 1, {0});
}

/* Each turn needs the clusters of the one before. */
void groups_in_turn()	/* turns, clusters */
{
	for (uint32_t i = 0; i < scalar(1); i++)
		PTO2_SCOPE() {
			ChipTensor cid = rt_allocate_cluster(static_cast<int64_t>(scalar(2)));

			pinned(cid, {WHERE, NO, NO}, 24 * i, static_cast<int64_t>(scalar(2)));
		}
}

void use_after_release()
{
	ChipTensor cid;

	PTO2_SCOPE()
		cid = rt_allocate_cluster(1);
	pinned(cid, {WHERE, NO, NO}, 0, 1);
}

void push_and_pop(const ChipTensor &cid, const ChipTensor &pipe, const ChipTensor &sums, int64_t n,
		  int64_t blocks, bool pop_first)
{
	CoreTaskArgs push, pop;

	push.add_cluster(cid);
	push.add_pipe_out(pipe);
	push.add_scalar(n);
	push.launch_spec.set_block_num(blocks);
	pop.add_cluster(cid);
	pop.add_pipe_in(pipe);
	pop.add_inout(sums);
	pop.add_scalar(n);
	pop.launch_spec.set_block_num(blocks);
	if (pop_first)
		rt_submit_aiv_task(GROUP_POP, pop);
	rt_submit_aic_task(GROUP_PUSH, push);
	if (!pop_first)
		rt_submit_aiv_task(GROUP_POP, pop);
}

void connected()	/* pushes, clusters, order, turns */
{
	for (uint64_t i = 0; i < scalar(4); i++)
		PTO2_SCOPE() {
			ChipTensor cid = rt_allocate_cluster(static_cast<int64_t>(scalar(2)));
			ChipTensor pipe = make_pipe({16}, 1, DataType::INT32);

			push_and_pop(cid, pipe, *rows, static_cast<int64_t>(scalar(1)),
				     static_cast<int64_t>(scalar(2)), scalar(3));
		}
}

/* Two kernels push on one pipe: two tasks of one, then one of the other. */
void two_producers()	/* pushes, whether the other waits until all was popped */
{
	ChipTensor cid = rt_allocate_cluster(1), pipe = make_pipe({16}, 1, DataType::INT32);
	CoreTaskArgs first, other, pop;

	first.add_cluster(cid);
	first.add_pipe_out(pipe);
	first.add_scalar(scalar(1));
	rt_submit_aic_task(GROUP_PUSH, first);
	rt_submit_aic_task(GROUP_PUSH, first);
	pop.add_cluster(cid);
	pop.add_pipe_in(pipe);
	pop.add_inout(*rows);
	pop.add_scalar(2 * scalar(1));
	if (scalar(2))
		rt_submit_aiv_task(GROUP_POP, pop);
	other.add_cluster(cid);
	other.add_pipe_out(pipe);
	if (scalar(2))
		other.add_input(*rows);
	else
		other.add_no_dep(*rows);
	other.add_scalar(2 * scalar(1));
	rt_submit_aic_task(GROUP_PUSH_MORE, other);
	if (scalar(2))
		rt_submit_aiv_task(GROUP_POP, pop);
}

/* The allocation has to wait for a slot, and by then its clusters are taken. */
void group_behind_a_full_window()	/* tasks in front, clusters */
{
	CoreTaskArgs none;

	for (uint32_t i = 0; i < scalar(1); i++)
		PTO2_SCOPE()
			where({NO, WHERE, NO}, 48 * i, 16, none);
	PTO2_SCOPE() {
		ChipTensor cid = rt_allocate_cluster(static_cast<int64_t>(scalar(2)));

		pinned(cid, {WHERE, WHERE, WHERE}, 48 * static_cast<uint32_t>(scalar(1)),
		       static_cast<int64_t>(scalar(2)));
	}
}

/* The ends of a pipe on different clusters. */
void apart()
{
	ChipTensor pipe = make_pipe({16}, 1, DataType::INT32);
	ChipTensor here = rt_allocate_cluster(1), there = rt_allocate_cluster(1);
	CoreTaskArgs push, pop;

	push.add_cluster(here);
	push.add_pipe_out(pipe);
	push.add_scalar(1);
	rt_submit_aic_task(GROUP_PUSH, push);
	pop.add_cluster(there);
	pop.add_pipe_in(pipe);
	pop.add_inout(*rows);
	pop.add_scalar(1);
	rt_submit_aiv_task(GROUP_POP, pop);
}

void pinned_cohort()	/* clusters, blocks, shape: 0 AIV, 1 MIX */
{
	ChipTensor cid = rt_allocate_cluster(static_cast<int64_t>(scalar(1)));
	ChipTensor r = rows_from(0);
	CoreTaskArgs args;

	args.add_no_dep(r);
	args.add_cluster(cid);
	args.launch_spec.set_block_num(static_cast<int64_t>(scalar(2)));
	args.launch_spec.set_require_sync_start(true);
	rt_submit_task(scalar(3) ? MixedKernels{WHERE, WHERE, NO} : MixedKernels{NO, WHERE, NO}, args);
}

/* Cohorts whose blocks wait for each other in memory. */
void meeting()	/* shape: 0 AIV, 1 MIX; blocks, turns */
{
	MixedKernels mk = scalar(1) ? MixedKernels{MEET, MEET, MEET} : MixedKernels{NO, MEET, NO};

	for (uint64_t i = 0; i < scalar(3); i++) {
		CoreTaskArgs args;

		args.add_inout(*rows);
		args.add_scalar(scalar(2) * (scalar(1) ? 3 : 1));
		args.launch_spec.set_block_num(static_cast<int64_t>(scalar(2)));
		args.launch_spec.set_require_sync_start(true);
		rt_submit_task(mk, args);
	}
}

} // namespace

extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs &)
{
	return PTO2OrchestrationConfig{};
}

extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args)
{
	static void (*const cases[])() = {
		widths, blocks, cohort_among_others, predicate, null_predicates, early, many_early,
		group, groups_in_turn, use_after_release, connected, group_behind_a_full_window,
		pinned_cohort, meeting, apart, two_producers,
	};

	entry = &args;
	rows = &args.tensor(0).ref();
	x = &args.tensor(1).ref();
	gate = &args.tensor(2).ref();
	y = &args.tensor(3).ref();
	cases[args.scalar(0)]();
}
