/* SPDX-License-Identifier: MIT */
/*
 * Communication instructions: transfers between the global memories of peers,
 * signals, collectives over a group of tensors.
 *
 * Spec: pto-isa §6.
 */
#ifndef PTO_COMM_INST_HPP
#define PTO_COMM_INST_HPP

#include <cstdlib>
#include <ctime>

#include "pto/comm/comm_types.hpp"
#include "pto/common/event.hpp"
#include "pto/cpu/copy.hpp"
#include "pto/cpu/fixpipe.hpp"
#include "pto/cpu/memory_gather.hpp"

namespace pto {
namespace comm {
namespace detail {

/* One two-dimensional slice of a tensor. */
template <typename G>
inline auto slice(const G &g, int64_t i0, int64_t i1, int64_t i2)
{
	return copy_::strided(const_cast<typename G::RawDType *>(g.data()) + i0 * g.GetStride(0) +
				     i1 * g.GetStride(1) + i2 * g.GetStride(2),
			     ptrdiff_t(g.GetStride(3)), ptrdiff_t(g.GetStride(4)));
}

template <typename D, typename S>
inline void check_shapes(const char *op, const D &dst, const S &src)
{
	static_assert(std::is_same_v<typename D::RawDType, typename S::RawDType>,
		      "[PTO][SA] element types must be equal");
	for (int d = 0; d < 5; d++)
		if (dst.GetShape(d) != src.GetShape(d))
			core_::fail("%s: extent %lld of dimension %d differs from the source's %lld",
				   op, static_cast<long long>(dst.GetShape(d)), d,
				   static_cast<long long>(src.GetShape(d)));
}

/* Stage extents fixed at compile time must divide the tensor's. */
template <typename T, typename G>
inline void check_stage(const char *op, const T &stage, const G &g)
{
	static_assert(std::is_same_v<typename T::DType, typename G::RawDType>,
		      "[PTO][SA] the stage tile has the tensors' element type");
	const int rows = T::ValidRow == DYNAMIC ? 1 : stage.GetValidRow(),
		  cols = T::ValidCol == DYNAMIC ? 1 : stage.GetValidCol();

	if (!stage.data())
		core_::fail("%s: the stage tile has no memory; TASSIGN it first", op);
	if (rows <= 0 || cols <= 0 || g.GetShape(3) % rows || g.GetShape(4) % cols)
		core_::fail("%s: a stage of %d x %d does not divide the tensor's %lld x %lld", op,
			   rows, cols, static_cast<long long>(g.GetShape(3)),
			   static_cast<long long>(g.GetShape(4)));
}

/* f(rows of the chunk, its columns, where it starts) over a matrix. */
template <typename T, typename F>
inline void chunks(const T &stage, int rows, int cols, const F &f)
{
	const int nr = stage.GetValidRow() > 0 ? stage.GetValidRow() : T::Rows,
		  nc = stage.GetValidCol() > 0 ? stage.GetValidCol() : T::Cols;

	for (int r = 0; r < rows; r += nr)
		for (int c = 0; c < cols; c += nc)
			f(copy_::least(nr, rows - r), copy_::least(nc, cols - c), r, c);
}

template <bool Add, typename D, typename S, typename T>
inline void transfer(const char *op, const D &dst, const S &src, const T &stage)
{
	check_shapes(op, dst, src);
	check_stage(op, stage, src);
	const auto tile = copy_::tile_view(stage);

	for (int64_t i0 = 0; i0 < src.GetShape(0); i0++)
		for (int64_t i1 = 0; i1 < src.GetShape(1); i1++)
			for (int64_t i2 = 0; i2 < src.GetShape(2); i2++) {
				const auto from = slice(src, i0, i1, i2),
					   to = slice(dst, i0, i1, i2);

				chunks(stage, int(src.GetShape(3)), int(src.GetShape(4)),
				       [&](int nr, int nc, int r, int c) {
					       const copy_::move_bits move;
					       const fixpipe_::add_atomic<copy_::move_bits> add{move};

					       copy_::region(move, tile, 0, 0, from, r, c, nr, nc);
					       if constexpr (Add)
						       copy_::region(add, to, r, c, tile, 0, 0, nr,
								    nc);
					       else
						       copy_::region(move, to, r, c, tile, 0, 0, nr,
								    nc);
				       });
			}
}

inline bool holds(int32_t v, int32_t than, WaitCmp cmp)
{
	switch (cmp) {
	case WaitCmp::EQ:
		return v == than;
	case WaitCmp::NE:
		return v != than;
	case WaitCmp::GT:
		return v > than;
	case WaitCmp::GE:
		return v >= than;
	case WaitCmp::LT:
		return v < than;
	default:
		return v <= than;
	}
}

/* True when all words of a signal satisfy the comparison. */
template <typename S>
inline bool satisfied(const S &signal, int32_t value, WaitCmp cmp)
{
	for (int64_t r = 0; r < signal.GetShape(3); r++)
		for (int64_t c = 0; c < signal.GetShape(4); c++) {
			const int32_t *word =
				signal.data() + r * signal.GetStride(3) + c * signal.GetStride(4);

			/* acquire: partner is the release in TNOTIFY */
			if (!holds(__atomic_load_n(word, __ATOMIC_ACQUIRE), value, cmp))
				return false;
		}
	return true;
}

/* Polls of a TWAIT before it gives up; 0 never does. */
inline unsigned long max_polls()
{
	const char *text = getenv("PTO_CPU_SIM_TWAIT_MAX_SPINS");

	return text ? strtoul(text, nullptr, 0) : 100000;
}

template <ReduceOp Op, typename E>
inline E reduced(E a, E b)
{
	if constexpr (Op == ReduceOp::Sum)
		return E(a + b);
	else if constexpr (Op == ReduceOp::Max)
		return a < b ? b : a;
	else
		return b < a ? b : a;
}

template <ReduceOp Op>
struct reduce_into {
	template <typename E>
	void one(E *d, const E *s) const
	{
		*d = reduced<Op>(*d, *s);
	}
	template <typename E>
	void span(size_t n, E *d, const E *s) const
	{
		for (size_t i = 0; i < n; i++)
			one(d + i, s + i);
	}
};

/* dst = op(dst, src) through a stage. */
template <ReduceOp Op, typename D, typename S, typename T>
inline void combine(const D &dst, const S &src, const T &stage)
{
	check_shapes("TREDUCE", dst, src);
	const auto tile = copy_::tile_view(stage);

	for (int64_t i0 = 0; i0 < src.GetShape(0); i0++)
		for (int64_t i1 = 0; i1 < src.GetShape(1); i1++)
			for (int64_t i2 = 0; i2 < src.GetShape(2); i2++) {
				const auto from = slice(src, i0, i1, i2),
					   to = slice(dst, i0, i1, i2);

				chunks(stage, int(src.GetShape(3)), int(src.GetShape(4)),
				       [&](int nr, int nc, int r, int c) {
					       copy_::region(copy_::move_bits(), tile, 0, 0, from, r,
							    c, nr, nc);
					       copy_::region(reduce_into<Op>(), to, r, c, tile, 0, 0,
							    nr, nc);
				       });
			}
}

/* The rows of one rank in a tensor that holds those of all, rank after rank along dim 3. */
template <typename Part, typename Whole>
inline auto share_of(const Whole &whole, const Part &part, int rank, int size)
{
	using E = typename Whole::DType;
	using S = pto::Shape<-1, -1, -1, -1, -1>;
	using T = pto::Stride<-1, -1, -1, -1, -1>;

	if (whole.GetShape(3) != part.GetShape(3) * size)
		core_::fail("%lld rows are not %d times the %lld rows of a rank",
			   static_cast<long long>(whole.GetShape(3)), size,
			   static_cast<long long>(part.GetShape(3)));
	return GlobalTensor<E, S, T>(whole.data() + rank * part.GetShape(3) * whole.GetStride(3),
				     S(whole.GetShape(0), whole.GetShape(1), whole.GetShape(2),
				       part.GetShape(3), whole.GetShape(4)),
				     T(whole.GetStride(0), whole.GetStride(1), whole.GetStride(2),
				       whole.GetStride(3), whole.GetStride(4)));
}

} // namespace detail

/* Copies or adds local memory to a peer's, through a stage tile. */
template <AtomicType Atomic = AtomicType::AtomicNone, typename D, typename S, typename T,
	  typename... W>
PTO_INST RecordEvent TPUT(const D &dst, const S &src, const T &stage, const W &...)
{
	detail::transfer<Atomic == AtomicType::AtomicAdd>("TPUT", dst, src, stage);
	return {};
}
/* Copies a peer's memory to local memory. */
template <typename D, typename S, typename T, typename... W>
PTO_INST RecordEvent TGET(const D &dst, const S &src, const T &stage, const W &...)
{
	detail::transfer<false>("TGET", dst, src, stage);
	return {};
}

/* Adds to or sets a signal; what was written before is visible to who waits for it. */
template <typename S, typename... W>
PTO_INST void TNOTIFY(const S &signal, int32_t value, NotifyOp op, const W &...)
{
	if (op == NotifyOp::AtomicAdd) {
		/* release: partner is the acquire in detail::satisfied() */
		__atomic_fetch_add(signal.data(), value, __ATOMIC_RELEASE);
	} else {
		/* release: as above */
		__atomic_store_n(signal.data(), value, __ATOMIC_RELEASE);
	}
}
/* True when all words of the signal satisfy the comparison now. */
template <typename S, typename... W>
PTO_INST bool TTEST(const S &signal, int32_t value, WaitCmp cmp, const W &...)
{
	return detail::satisfied(signal, value, cmp);
}
/*
 * Polls every 10 microseconds until they do; ends the run after
 * PTO_CPU_SIM_TWAIT_MAX_SPINS polls (default 100000, 0: never).
 */
template <typename S, typename... W>
PTO_INST void TWAIT(const S &signal, int32_t value, WaitCmp cmp, const W &...)
{
	const unsigned long limit = detail::max_polls();

	for (unsigned long polls = 1; !detail::satisfied(signal, value, cmp); polls++) {
		const timespec pause = {0, 10000};

		if (polls == limit)
			core_::fail(
				"TWAIT: the signal at %p did not reach %d in %lu polls; notify it, "
				"or raise PTO_CPU_SIM_TWAIT_MAX_SPINS",
				static_cast<void *>(signal.data()), value, limit);
		nanosleep(&pause, nullptr);
	}
}

/* The tensors of all ranks, one below the other, in @dst. */
template <typename G, typename D, typename T, typename... W>
PTO_INST RecordEvent TGATHER(const ParallelGroup<G> &group, const D &dst, const T &stage,
			     const W &...)
{
	for (int r = 0; r < group.size; r++)
		detail::transfer<false>("TGATHER", detail::share_of(dst, group[r], r, group.size),
					group[r], stage);
	return {};
}
/* The inverse of TGATHER. */
template <typename G, typename S, typename T, typename... W>
PTO_INST RecordEvent TSCATTER(const ParallelGroup<G> &group, const S &src, const T &stage,
			      const W &...)
{
	for (int r = 0; r < group.size; r++)
		detail::transfer<false>("TSCATTER", group[r],
					detail::share_of(src, group[r], r, group.size), stage);
	return {};
}
/* @src to the tensors of all ranks. */
template <typename G, typename S, typename T, typename... W>
PTO_INST RecordEvent TBROADCAST(const ParallelGroup<G> &group, const S &src, const T &stage,
				const W &...)
{
	for (int r = 0; r < group.size; r++)
		detail::transfer<false>("TBROADCAST", group[r], src, stage);
	return {};
}
/* @dst = the tensors of all ranks combined, rank 0 first. */
template <typename G, typename D, typename A, typename R, typename... W>
PTO_INST RecordEvent TREDUCE(const ParallelGroup<G> &group, const D &dst, const A &acc,
			     const R &recv, ReduceOp op, const W &...)
{
	if (group.size < 1)
		core_::fail("TREDUCE: a group of %d ranks; give it at least one", group.size);
	detail::transfer<false>("TREDUCE", dst, group[0], acc);
	for (int r = 1; r < group.size; r++) {
		if (op == ReduceOp::Sum)
			detail::combine<ReduceOp::Sum>(dst, group[r], recv);
		else if (op == ReduceOp::Max)
			detail::combine<ReduceOp::Max>(dst, group[r], recv);
		else
			detail::combine<ReduceOp::Min>(dst, group[r], recv);
	}
	return {};
}

/* Transfers of a DMA engine; the host performs them at once. */
template <DmaEngine Engine = DmaEngine::SDMA, typename D, typename S, typename Session>
PTO_INST AsyncEvent TPUT_ASYNC(const D &dst, const S &src, const Session &)
{
	detail::check_shapes("TPUT_ASYNC", dst, src);
	for (int64_t i0 = 0; i0 < src.GetShape(0); i0++)
		for (int64_t i1 = 0; i1 < src.GetShape(1); i1++)
			for (int64_t i2 = 0; i2 < src.GetShape(2); i2++)
				copy_::region(copy_::move_bits(), detail::slice(dst, i0, i1, i2), 0,
					     0, detail::slice(src, i0, i1, i2), 0, 0,
					     int(src.GetShape(3)), int(src.GetShape(4)));
	return {};
}
template <DmaEngine Engine = DmaEngine::SDMA, typename D, typename S, typename Session>
PTO_INST AsyncEvent TGET_ASYNC(const D &dst, const S &src, const Session &session)
{
	return TPUT_ASYNC<Engine>(dst, src, session);
}

} // namespace comm
} // namespace pto

#endif
