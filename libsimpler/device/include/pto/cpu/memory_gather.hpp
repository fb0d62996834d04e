/* SPDX-License-Identifier: MIT */
/*
 * Gathering from and scattering to global memory: MGATHER, MSCATTER.
 *
 * Spec: pto-isa §4.11.
 */
#ifndef PTO_CPU_MEMORY_GATHER_HPP
#define PTO_CPU_MEMORY_GATHER_HPP

#include "pto/common/event.hpp"
#include "pto/cpu/copy.hpp"
#include "pto/cpu/fixpipe.hpp"

namespace pto {
namespace table_ {

/* A tensor as rows of dim 4; dims 0 to 3 count the rows. */
template <typename E>
struct view {
	E *p;
	int64_t shape[5], stride[5];
	bool dense; /* element number n stands at p[n] */

	int64_t cols() const { return shape[4]; }
	int64_t rows() const { return shape[0] * shape[1] * shape[2] * shape[3]; }

	/* Start of row @r; only tensors with gaps are divided. */
	E *row(int64_t r) const
	{
		E *at = p;

		if (dense)
			return p + r * shape[4];
		for (int d = 3; d >= 0; d--) {
			at += r % shape[d] * stride[d];
			r /= shape[d];
		}
		return at;
	}
	E *element(int64_t n) const
	{
		return dense ? p + n : row(n / shape[4]) + n % shape[4] * stride[4];
	}
};

template <typename E, typename G>
inline view<E> of(const G &g)
{
	static_assert(sizeof(E) == sizeof(typename G::RawDType),
		      "[PTO][SA] element sizes must be equal");
	view<E> v;
	int64_t inner = 1;

	v.p = reinterpret_cast<E *>(const_cast<typename G::RawDType *>(g.data()));
	v.dense = true;
	for (int d = 4; d >= 0; d--) {
		v.shape[d] = g.GetShape(d);
		v.stride[d] = g.GetStride(d);
		v.dense = v.dense && (v.shape[d] == 1 || v.stride[d] == inner);
		inner *= v.shape[d];
	}
	return v;
}

/* Into [0, n) by clamping or wrapping; else -1. */
inline int64_t bring_in(int64_t i, int64_t n, bool clamp, bool wrap)
{
	if (i >= 0 && i < n)
		return i;
	if (n <= 0)
		return -1;
	if (clamp)
		return i < 0 ? 0 : n - 1;
	return wrap ? (i % n + n) % n : -1;
}

/* Rows unless there is an index for each element. */
template <typename T, typename I>
inline bool by_rows(const T &t, const I &idx)
{
	return idx.GetValidCol() == 1 && t.GetValidCol() != 1;
}

inline __attribute__((noinline, cold)) void outside(const char *op, int64_t i, int64_t n)
{
	checking_::fail_here("%s: index %lld is not within the table's %lld entries", op,
		   static_cast<long long>(i), static_cast<long long>(n));
}

template <GatherOOB Oob, typename D, typename G, typename I>
inline void gather(D &d, const G &g, const I &idx, bool rows)
{
	using E = copy_::raw_t<typename D::DType>;
	const view<E> tab = of<E>(g);
	const copy_::view<E> to = copy_::raw_view(d);
	const int64_t limit = rows ? tab.rows() : tab.rows() * tab.cols();
	const int cols = d.GetValidCol(), step = rows ? cols : 1;

	if (rows && cols > tab.cols())
		core_::fail("MGATHER: %d columns are more than a table row's %lld", cols,
			   static_cast<long long>(tab.cols()));
	for (int r = 0; r < d.GetValidRow(); r++)
		for (int c = 0; c < cols; c += step) {
			const int64_t given = int64_t(idx.data()[I::Offset(r, rows ? 0 : c)]);
			const int64_t i = bring_in(given, limit, Oob == GatherOOB::Clamp,
						   Oob == GatherOOB::Wrap);

			if (i < 0 && Oob != GatherOOB::Zero)
				outside("MGATHER", given, limit);
			const E *from = i < 0 ? nullptr : rows ? tab.row(i) : tab.element(i);

			for (int k = 0; k < step; k++)
				*to.at(r, c + k) = from ? from[k * tab.stride[4]] : E(0);
		}
}

template <typename E>
inline E combine(ScatterAtomicOp op, E old, E v)
{
	if (op == ScatterAtomicOp::Max)
		return old < v ? v : old;
	return v < old ? v : old;
}

/* Maximum or minimum with an element that other cores may update at the same time. */
template <typename E>
inline void update_extreme(ScatterAtomicOp op, E *d, E v)
{
	using U = typename simd_::int_of_bytes<sizeof(E)>::u;
	U *word = reinterpret_cast<U *>(d);
	/* relaxed: as fixpipe_::add_to(), only the final value counts */
	U old = __atomic_load_n(word, __ATOMIC_RELAXED);
	U next;

	do
		next = bits_::cast<U>(combine(op, bits_::cast<E>(old), v));
	/* relaxed: partner is the same exchange on other cores */
	while (!__atomic_compare_exchange_n(word, &old, next, true, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED));
}

template <ScatterAtomicOp Op, typename E>
inline void put(E *to, E v)
{
	if constexpr (Op == ScatterAtomicOp::None)
		*to = v;
	else if constexpr (Op == ScatterAtomicOp::Add)
		fixpipe_::add_to(to, v);
	else
		update_extreme(Op, to, v);
}

template <ScatterAtomicOp Op, ScatterOOB Oob, typename G, typename S, typename I>
inline void scatter(const G &g, const S &src, const I &idx, bool rows)
{
	using E = typename S::DType;
	const view<E> tab = of<E>(g);
	const copy_::view<E> from = copy_::tile_view(src);
	const int64_t limit = rows ? tab.rows() : tab.rows() * tab.cols();
	const int cols = src.GetValidCol(), step = rows ? cols : 1;

	if (rows && cols > tab.cols())
		core_::fail("MSCATTER: %d columns are more than a table row's %lld", cols,
			   static_cast<long long>(tab.cols()));
	for (int r = 0; r < src.GetValidRow(); r++)
		for (int c = 0; c < cols; c += step) {
			const int64_t given = int64_t(idx.data()[I::Offset(r, rows ? 0 : c)]);
			const int64_t i = bring_in(given, limit, Oob == ScatterOOB::Clamp,
						   Oob == ScatterOOB::Wrap);

			if (i < 0 && Oob == ScatterOOB::Skip)
				continue;
			if (i < 0)
				outside("MSCATTER", given, limit);
			E *to = rows ? tab.row(i) : tab.element(i);

			for (int k = 0; k < step; k++)
				put<Op>(to + k * tab.stride[4], *from.at(r, c + k));
		}
}

} // namespace table_

/* Row: d[r, :] = row idx[r, 0] of the table; Elem: d[r, c] = its element number idx[r, c]. */
template <Coalesce Mode, GatherOOB Oob = GatherOOB::Undefined, typename D, typename G, typename I,
	  PTO_EXTRA_T>
PTO_INST RecordEvent MGATHER(D &d, const G &g, const I &idx, PTO_EXTRA)
{
	PTO_CHECK("MGATHER", checking_::pipe_of_gather(D::Loc), 0, checking_::out(d),
		  checking_::table(checking_::tensor_of(g), checking_::READ),
		  checking_::part(idx, idx.GetValidRow(), idx.GetValidCol(), checking_::READ));
	table_::gather<Oob>(d, g, idx, Mode == Coalesce::Row);
	return {};
}
/* Without a mode: by rows unless there is an index for each element. */
template <GatherOOB Oob = GatherOOB::Undefined, typename D, typename G, typename I, PTO_EXTRA_T>
PTO_INST RecordEvent MGATHER(D &d, const G &g, const I &idx, PTO_EXTRA)
{
	PTO_CHECK("MGATHER", checking_::pipe_of_gather(D::Loc), 0, checking_::out(d),
		  checking_::table(checking_::tensor_of(g), checking_::READ),
		  checking_::part(idx, idx.GetValidRow(), idx.GetValidCol(), checking_::READ));
	table_::gather<Oob>(d, g, idx, table_::by_rows(d, idx));
	return {};
}
template <Coalesce Mode, ScatterAtomicOp Op = ScatterAtomicOp::None,
	  ScatterOOB Oob = ScatterOOB::Undefined,
	  ScatterConflict Conflict = ScatterConflict::Default, typename G, typename S, typename I,
	  PTO_EXTRA_T>
PTO_INST RecordEvent MSCATTER(const G &g, const S &src, const I &idx, PTO_EXTRA)
{
	PTO_CHECK("MSCATTER", checking_::VECTOR, 0,
		  checking_::table(checking_::tensor_of(g), checking_::WRITE), checking_::in(src),
		  checking_::in(idx));
	table_::scatter<Op, Oob>(g, src, idx, Mode == Coalesce::Row);
	return {};
}
template <ScatterAtomicOp Op = ScatterAtomicOp::None, ScatterOOB Oob = ScatterOOB::Undefined,
	  ScatterConflict Conflict = ScatterConflict::Default, typename G, typename S, typename I,
	  PTO_EXTRA_T>
PTO_INST RecordEvent MSCATTER(const G &g, const S &src, const I &idx, PTO_EXTRA)
{
	PTO_CHECK("MSCATTER", checking_::VECTOR, 0,
		  checking_::table(checking_::tensor_of(g), checking_::WRITE), checking_::in(src),
		  checking_::in(idx));
	table_::scatter<Op, Oob>(g, src, idx, table_::by_rows(src, idx));
	return {};
}

} // namespace pto

#endif
