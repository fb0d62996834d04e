/* SPDX-License-Identifier: MIT */
/*
 * Transfers between global memory and tiles: TLOAD, TSTORE, TPREFETCH.
 *
 * Spec: pto-isa §4.1.
 */
#ifndef PTO_CPU_LOAD_STORE_HPP
#define PTO_CPU_LOAD_STORE_HPP

#include "pto/common/event.hpp"
#include "pto/cpu/copy.hpp"
#include "pto/cpu/fixpipe.hpp"

namespace pto {
namespace transfer {

constexpr bool is_channel_blocked(Layout l)
{
	return l == Layout::NZ || l == Layout::NC1HWC0 || l == Layout::FRACTAL_Z;
}

/*
 * How the five dimensions of a tensor map to the two of a tile: each (i0, i1,
 * i2) is a block of dim 3 x dim 4 elements.  ND stacks blocks downwards, DN
 * side by side, NZ puts dim 2 below each other and dims 0, 1 side by side.
 */
template <typename T, typename G>
struct walk {
	static constexpr bool nz = is_channel_blocked(G::layout);
	static constexpr bool side = !nz && (G::layout == Layout::DN || (!T::isRowMajor && !T::isBoxedLayout));

	/* f(memory, row, column) for the pieces inside rows x cols, cut at the edge. */
	template <typename F>
	static void each(const G &g, int rows, int cols, const F &f)
	{
		const int d0 = int(g.GetShape(0)), d1 = int(g.GetShape(1)), d2 = int(g.GetShape(2));
		const int d3 = int(g.GetShape(3)), d4 = int(g.GetShape(4));

		for (int i0 = 0; i0 < d0; i0++)
			for (int i1 = 0; i1 < d1; i1++)
				for (int i2 = 0; i2 < d2; i2++) {
					const int r = nz ? i2 * d3 : side ? 0 : ((i0 * d1 + i1) * d2 + i2) * d3;
					const int c = nz ? (i0 * d1 + i1) * d4 : side ? ((i0 * d1 + i1) * d2 + i2) * d4 : 0;
					const int nr = copy::least(d3, rows - r), nc = copy::least(d4, cols - c);

					if (nr > 0 && nc > 0)
						f(g.data() + i0 * g.GetStride(0) + i1 * g.GetStride(1) + i2 * g.GetStride(2), r, c,
						  nr, nc);
				}
	}
	static int64_t rows_of(const G &g)
	{
		const int64_t lead = g.GetShape(0) * g.GetShape(1) * g.GetShape(2);

		return nz ? g.GetShape(2) * g.GetShape(3) : side ? g.GetShape(3) : lead * g.GetShape(3);
	}
	static int64_t cols_of(const G &g)
	{
		const int64_t lead = g.GetShape(0) * g.GetShape(1);

		return nz ? lead * g.GetShape(4) : side ? lead * g.GetShape(2) * g.GetShape(4) : g.GetShape(4);
	}
};

template <typename T, typename G>
inline void check(const char *op, const T &t, const G &g)
{
	if (!t.data())
		core::fail("%s: the tile has no memory; TASSIGN it first", op);
	if (__builtin_expect(!core::checked(), 1))
		return;
	if (walk<T, G>::rows_of(g) != t.GetValidRow() || walk<T, G>::cols_of(g) != t.GetValidCol())
		core::fail("%s: the tensor is %lld x %lld, the tile's valid region %d x %d", op,
			   static_cast<long long>(walk<T, G>::rows_of(g)), static_cast<long long>(walk<T, G>::cols_of(g)),
			   t.GetValidRow(), t.GetValidCol());
}

template <typename T, typename G>
inline void load(T &t, const G &g)
{
	using E = typename T::DType;
	using GE = typename G::RawDType;
	static_assert(sizeof(E) == sizeof(GE), "[PTO][SA] TLOAD needs equal element sizes");
	const copy::tile_view<T> to(t);

	check("TLOAD", t, g);
	if (t.GetValidRow() <= 0 || t.GetValidCol() <= 0)
		return;
	if (!t.IsWindow())
		copy::fill_outside(t, t.GetValidRow(), t.GetValidCol(),
				   pad_element<E>(is_custom_pad(T::PadVal) ? PadValue::Null : T::PadVal));
	walk<T, G>::each(g, t.GetValidRow(), t.GetValidCol(), [&](const GE *p, int r, int c, int nr, int nc) {
		const copy::strided_view<const GE> from{p, ptrdiff_t(g.GetStride(3)), ptrdiff_t(g.GetStride(4))};

		copy::region(copy::move_bits(), to, r, c, from, 0, 0, nr, nc);
	});
}

template <typename Move, typename T, typename G>
inline void store(const Move &move, const G &g, const T &t)
{
	using GE = typename G::RawDType;
	const copy::tile_view<T> from(t);

	check("TSTORE", t, g);
	walk<T, G>::each(g, t.GetValidRow(), t.GetValidCol(), [&](GE *p, int r, int c, int nr, int nc) {
		const copy::strided_view<GE> to{p, ptrdiff_t(g.GetStride(3)), ptrdiff_t(g.GetStride(4))};

		copy::region(move, to, 0, 0, from, r, c, nr, nc);
	});
}

/* Chooses how an element gets from the tile's type to the tensor's. */
template <AtomicType Atomic, ReluPreMode Relu, typename T, typename G>
inline void store_as(const G &g, const T &t, const fixpipe::quant *q)
{
	using E = typename T::DType;
	using GE = typename G::RawDType;

	if constexpr (T::Loc == TileType::Acc) {
		const fixpipe::convert<GE, E, Relu == ReluPreMode::NormalRelu> conv{q};

		if constexpr (Atomic == AtomicType::AtomicAdd)
			store(fixpipe::add_atomic<decltype(conv)>{conv}, g, t);
		else
			store(conv, g, t);
	} else {
		static_assert(sizeof(E) == sizeof(GE), "[PTO][SA] TSTORE from Vec or Mat needs equal element sizes");
		if constexpr (Atomic == AtomicType::AtomicAdd)
			store(fixpipe::add_atomic<copy::move_bits>{}, g, t);
		else
			store(copy::move_bits(), g, t);
	}
}

} // namespace transfer

template <typename T, typename G, typename... W>
PTO_INST RecordEvent TLOAD(T &dst, const G &src, const W &...)
{
	transfer::load(dst, src);
	return {};
}

/* A hint; nothing to do on the host. */
template <typename T, typename G>
PTO_INST void TPREFETCH(T &, const G &)
{
}

template <typename G, typename T, typename... W, std::enable_if_t<is_tile_data_v<T>, int> = 0>
PTO_INST RecordEvent TSTORE(const G &dst, const T &src, const W &...)
{
	transfer::store_as<AtomicType::AtomicNone, ReluPreMode::NoRelu>(dst, src, nullptr);
	return {};
}
template <STPhase Phase, typename G, typename T, typename... W>
PTO_INST RecordEvent TSTORE(const G &dst, const T &src, const W &...)
{
	transfer::store_as<AtomicType::AtomicNone, ReluPreMode::NoRelu>(dst, src, nullptr);
	return {};
}
template <typename T, typename G, AtomicType Atomic, typename... W>
PTO_INST RecordEvent TSTORE(const G &dst, const T &src, const W &...)
{
	transfer::store_as<Atomic, ReluPreMode::NoRelu>(dst, src, nullptr);
	return {};
}
template <STPhase Phase, typename T, typename G, AtomicType Atomic, typename... W>
PTO_INST RecordEvent TSTORE(const G &dst, const T &src, const W &...)
{
	transfer::store_as<Atomic, ReluPreMode::NoRelu>(dst, src, nullptr);
	return {};
}
template <typename T, typename G, AtomicType Atomic, ReluPreMode Relu, typename... W>
PTO_INST RecordEvent TSTORE(const G &dst, const T &src, const W &...w)
{
	const fixpipe::quant q(w...);

	transfer::store_as<Atomic, Relu>(dst, src, q.given ? &q : nullptr);
	return {};
}
template <STPhase Phase, typename T, typename G, AtomicType Atomic, ReluPreMode Relu, typename... W>
PTO_INST RecordEvent TSTORE(const G &dst, const T &src, const W &...w)
{
	return TSTORE<T, G, Atomic, Relu>(dst, src, w...);
}

} // namespace pto

#endif
