/* SPDX-License-Identifier: MIT */
/*
 * Transfers between global memory and tiles: TLOAD, TSTORE, TPREFETCH.
 *
 * Spec: pto-isa §4.1.
 */
#ifndef PTO_CPU_LOAD_STORE_HPP
#define PTO_CPU_LOAD_STORE_HPP

#include "pto/common/event.hpp"
#include "pto/cpu/blocked_tensor.hpp"
#include "pto/cpu/copy.hpp"
#include "pto/cpu/fixpipe.hpp"

namespace pto {
namespace transfer_ {

constexpr bool is_channel_blocked(Layout l)
{
	return l == Layout::NZ || l == Layout::NC1HWC0 || l == Layout::GNC1HWC0 ||
	       l == Layout::NDC1HWC0 || l == Layout::FRACTAL_Z || l == Layout::FRACTAL_Z_S16S8 ||
	       l == Layout::FRACTAL_Z_3D;
}

/* How the three outer dimensions of a tensor are laid out in a tile. */
enum class stacking {
	down, /* ND: blocks of dim 3 x dim 4 below each other */
	side, /* DN: side by side */
	boxes /* NZ: dim 2 below each other, dims 0 and 1 side by side */
};

template <typename T, typename G>
constexpr stacking stacking_of()
{
	if (is_channel_blocked(G::layout))
		return stacking::boxes;
	return G::layout == Layout::DN || (!T::isRowMajor && !T::isBoxedLayout) ? stacking::side
										: stacking::down;
}

/* A global tensor as a value. */
template <typename E>
struct tensor {
	E *p;
	stacking how;
	int shape[5];
	int64_t stride[5];

	int rows() const
	{
		return how == stacking::boxes  ? shape[2] * shape[3]
		       : how == stacking::side ? shape[3]
					       : shape[0] * shape[1] * shape[2] * shape[3];
	}
	int cols() const
	{
		return how == stacking::boxes  ? shape[0] * shape[1] * shape[4]
		       : how == stacking::side ? shape[0] * shape[1] * shape[2] * shape[4]
					       : shape[4];
	}
};

template <typename E, typename T, typename G>
inline tensor<E> tensor_of(const T &, const G &g)
{
	static_assert(sizeof(E) == sizeof(typename G::RawDType),
		      "[PTO][SA] element sizes must be equal");
	tensor<E> v;

	v.p = reinterpret_cast<E *>(const_cast<typename G::RawDType *>(g.data()));
	v.how = stacking_of<T, G>();
	for (int d = 0; d < 5; d++) {
		v.shape[d] = int(g.GetShape(d));
		v.stride[d] = g.GetStride(d);
	}
	return v;
}

/*
 * Moves rows x cols elements between a tensor and a tile, block by block;
 * blocks are cut at the edge.
 */
template <bool ToTile, typename Move, typename GE, typename E>
__attribute__((noinline)) void move_blocks(const Move &move, const tensor<GE> &g,
					   const copy_::view<E> &t, int rows, int cols)
{
	const int *s = g.shape;
	int block = 0;

	for (int i0 = 0; i0 < s[0]; i0++)
		for (int i1 = 0; i1 < s[1]; i1++)
			for (int i2 = 0; i2 < s[2]; i2++, block++) {
				const int r = g.how == stacking::boxes	? i2 * s[3]
					      : g.how == stacking::side ? 0
									: block * s[3];
				const int c = g.how == stacking::boxes	? (i0 * s[1] + i1) * s[4]
					      : g.how == stacking::side ? block * s[4]
									: 0;
				const int nr = copy_::least(s[3], rows - r),
					  nc = copy_::least(s[4], cols - c);
				GE *p = g.p + i0 * g.stride[0] + i1 * g.stride[1] +
					i2 * g.stride[2];
				const copy_::view<GE> mem = copy_::strided(p, ptrdiff_t(g.stride[3]),
									 ptrdiff_t(g.stride[4]));

				if constexpr (ToTile)
					copy_::region(move, t, r, c, mem, 0, 0, nr, nc);
				else
					copy_::region(move, mem, 0, 0, t, r, c, nr, nc);
			}
}

/*
 * Tensor and tile have each line in one piece, a row or, of a column-major tile, a column, and the
 * tensor's lines follow one another in the tile.
 */
template <typename T, typename G>
constexpr bool plain_lines =
	!T::isBoxedLayout && G::staticStride[T::isRowMajor ? 4 : 3] == 1 &&
	stacking_of<T, G>() == (T::isRowMajor ? stacking::down : stacking::side);

/* move_blocks() for those, which is all that most kernels need; at most @lines of @n elements. */
template <bool ToTile, typename E>
__attribute__((noinline)) void move_lines(const tensor<E> &g, int dim, E *tile, ptrdiff_t pitch,
					  int lines, int n)
{
	const copy_::move_bits move;
	const int *s = g.shape, of_block = s[dim];
	const ptrdiff_t step = ptrdiff_t(g.stride[dim]);

	n = copy_::least(s[7 - dim], n);
	for (int i0 = 0; i0 < s[0]; i0++)
		for (int i1 = 0; i1 < s[1]; i1++)
			for (int i2 = 0; i2 < s[2]; i2++) {
				E *mem = g.p + i0 * g.stride[0] + i1 * g.stride[1] +
					 i2 * g.stride[2];
				const int count = copy_::least(of_block, lines);

				if (count <= 0 || n <= 0)
					continue;
				if constexpr (ToTile)
					copy_::spans_of(move, count, size_t(n), tile, pitch, mem,
							step);
				else
					copy_::spans_of(move, count, size_t(n), mem, step, tile,
							pitch);
				tile += of_block * pitch;
				lines -= of_block;
			}
}
template <bool ToTile, typename E, typename T>
inline void move_plain(const tensor<E> &g, const T &t)
{
	const copy_::view<E> v = copy_::raw_view(t);

	if constexpr (T::isRowMajor)
		move_lines<ToTile>(g, 3, v.p, v.rs, t.GetValidRow(), t.GetValidCol());
	else
		move_lines<ToTile>(g, 4, v.p, v.cs, t.GetValidCol(), t.GetValidRow());
}

template <typename T, typename V>
inline void check(const char *op, const T &t, const V &g)
{
	if (!t.data())
		core_::fail("%s: the tile has no memory; TASSIGN it first", op);
	if (__builtin_expect(!core_::checked(), 1))
		return;
	if (g.rows() != t.GetValidRow() || g.cols() != t.GetValidCol())
		checking_::fail_here("%s: the tensor is %d x %d, the tile's valid region %d x %d", op,
			   g.rows(), g.cols(), t.GetValidRow(), t.GetValidCol());
}

/* Element by element: scale layouts and packed pairs. */
template <typename T, typename G>
constexpr bool by_element = is_packed_v<typename T::DType> || blocked_::is_scale_layout<G>;

template <typename T, typename G>
inline blocked_::shape blocked_shape(const char *op, const T &t, const G &g)
{
	static_assert(sizeof(typename T::DType) == sizeof(typename G::RawDType),
		      "[PTO][SA] element sizes must be equal");
	const blocked_::shape v = blocked_::shape_of(g, stacking_of<T, G>() == stacking::side);

	check(op, t, v);
	return v;
}

template <typename T, typename G>
inline void load_elements(T &t, const G &g)
{
	const blocked_::shape v = blocked_shape("TLOAD", t, g);

	if (!t.IsWindow())
		memset(static_cast<void *>(t.data()), 0, T::Extent * sizeof(typename T::DType));
	blocked_::load(t, reinterpret_cast<const typename T::DType *>(g.data()), v);
}

template <typename T, typename G>
inline void load(T &t, const G &g)
{
	using E = typename T::DType;

	if constexpr (by_element<T, G>) {
		load_elements(t, g);
		return;
	}
	const auto v = tensor_of<copy_::raw_t<E>>(t, g);

	check("TLOAD", t, v);
	if (t.GetValidRow() <= 0 || t.GetValidCol() <= 0)
		return;
	if (!t.IsWindow())
		copy_::fill_outside(
			t, t.GetValidRow(), t.GetValidCol(),
			pad_element<E>(is_custom_pad(T::PadVal) ? PadValue::Null : T::PadVal));
	if constexpr (plain_lines<T, G>)
		move_plain<true>(v, t);
	else
		move_blocks<true>(copy_::move_bits(), v, copy_::raw_view(t), t.GetValidRow(),
				  t.GetValidCol());
}

template <typename Move, typename GE, typename E, typename T>
inline void store(const Move &move, const tensor<GE> &g, const copy_::view<E> &v, const T &t)
{
	check("TSTORE", t, g);
	move_blocks<false>(move, g, v, t.GetValidRow(), t.GetValidCol());
}

/* By the parameters of SET_QUANT_VECTOR. */
template <bool Relu, typename T, typename G>
inline void store_preset(const G &g, const T &t, const fixpipe_::preset &p)
{
	using GE = typename G::RawDType;
	const int rows = t.GetValidRow(), cols = t.GetValidCol();

	if (cols > p.count)
		core_::fail(
			"TSTORE: %d columns need more than the %d parameters of SET_QUANT_VECTOR",
			cols, p.count);
	if (rows <= 0 || cols <= 0)
		return;
	fixpipe_::converted<GE> tmp(rows, cols);

	fixpipe_::convert_columns<Relu>(tmp, copy_::tile_view(t), 0, 0, rows, p.params);
	store(copy_::move_bits(), tensor_of<copy_::raw_t<GE>>(t, g), tmp.view(), t);
}

/* Chooses how an element gets from the tile's type to the tensor's. */
template <AtomicType Atomic, ReluPreMode Relu, typename T, typename G>
inline void store_as(const G &g, const T &t, const fixpipe_::quant *q)
{
	using E = typename T::DType;
	using GE = typename G::RawDType;
	using Raw = copy_::raw_t<E>;
	constexpr bool add = Atomic == AtomicType::AtomicAdd;

	if constexpr (by_element<T, G>) {
		static_assert(!add, "[PTO][SA] packed pairs and scales cannot be added to memory");
		blocked_::store(t, reinterpret_cast<E *>(g.data()), blocked_shape("TSTORE", t, g));
	} else if constexpr (T::Loc == TileType::Acc) {
		if constexpr (!add && fixpipe_::quantises<GE, E>) {
			const fixpipe_::preset *p = q ? nullptr : fixpipe_::active_preset();

			if (p && p->params) {
				store_preset<Relu == ReluPreMode::NormalRelu>(g, t, *p);
				return;
			}
			q = p ? &p->scalar : q;
		}
		const fixpipe_::convert<GE, E, Relu == ReluPreMode::NormalRelu> conv{q};

		if constexpr (add)
			store(fixpipe_::add_atomic<decltype(conv)>{conv}, tensor_of<GE>(t, g),
			      copy_::tile_view(t), t);
		else
			store(conv, tensor_of<GE>(t, g), copy_::tile_view(t), t);
	} else if constexpr (add) {
		store(fixpipe_::add_atomic<copy_::move_bits>{}, tensor_of<GE>(t, g),
		      copy_::tile_view(t), t);
	} else if constexpr (plain_lines<T, G>) {
		const auto v = tensor_of<Raw>(t, g);

		check("TSTORE", t, v);
		move_plain<false>(v, t);
	} else {
		store(copy_::move_bits(), tensor_of<Raw>(t, g), copy_::raw_view(t), t);
	}
}

} // namespace transfer_

template <typename T, typename G, PTO_EXTRA_T, std::enable_if_t<is_tile_data_v<T>, int> = 0>
PTO_INST RecordEvent TLOAD(T &dst, const G &src, PTO_EXTRA)
{
	PTO_CHECK("TLOAD", checking_::MTE2, 0, checking_::box(dst),
		  checking_::memory(checking_::tensor_of(src), checking_::READ));
	transfer_::load(dst, src);
	return {};
}

/* A hint; nothing to do on the host. */
template <typename T, typename G>
PTO_INST void TPREFETCH(T &, const G &)
{}

template <typename G, typename T, PTO_EXTRA_T, std::enable_if_t<is_tile_data_v<T>, int> = 0>
PTO_INST RecordEvent TSTORE(const G &dst, const T &src, PTO_EXTRA)
{
	PTO_CHECK("TSTORE", checking_::pipe_of_store(T::Loc), 0,
		  checking_::memory(checking_::tensor_of(dst), checking_::WRITE), checking_::in(src));
	transfer_::store_as<AtomicType::AtomicNone, ReluPreMode::NoRelu>(dst, src, nullptr);
	return {};
}
template <STPhase Phase, typename G, typename T, PTO_EXTRA_T>
PTO_INST RecordEvent TSTORE(const G &dst, const T &src, PTO_EXTRA)
{
	PTO_CHECK("TSTORE", checking_::pipe_of_store(T::Loc), 0,
		  checking_::memory(checking_::tensor_of(dst), checking_::WRITE), checking_::in(src));
	transfer_::store_as<AtomicType::AtomicNone, ReluPreMode::NoRelu>(dst, src, nullptr);
	return {};
}
template <typename T, typename G, AtomicType Atomic, PTO_EXTRA_T>
PTO_INST RecordEvent TSTORE(const G &dst, const T &src, PTO_EXTRA)
{
	PTO_CHECK("TSTORE", checking_::pipe_of_store(T::Loc), 0,
		  checking_::memory(checking_::tensor_of(dst), checking_::WRITE), checking_::in(src));
	transfer_::store_as<Atomic, ReluPreMode::NoRelu>(dst, src, nullptr);
	return {};
}
template <STPhase Phase, typename T, typename G, AtomicType Atomic, PTO_EXTRA_T>
PTO_INST RecordEvent TSTORE(const G &dst, const T &src, PTO_EXTRA)
{
	PTO_CHECK("TSTORE", checking_::pipe_of_store(T::Loc), 0,
		  checking_::memory(checking_::tensor_of(dst), checking_::WRITE), checking_::in(src));
	transfer_::store_as<Atomic, ReluPreMode::NoRelu>(dst, src, nullptr);
	return {};
}
template <typename T, typename G, AtomicType Atomic, ReluPreMode Relu, PTO_EXTRA_T>
PTO_INST RecordEvent TSTORE(const G &dst, const T &src, PTO_EXTRA)
{
	PTO_CHECK("TSTORE", checking_::pipe_of_store(T::Loc), 0,
		  checking_::memory(checking_::tensor_of(dst), checking_::WRITE), checking_::in(src));
	const fixpipe_::quant q(w1, w2, w3, w4);

	transfer_::store_as<Atomic, Relu>(dst, src, q.pointer());
	return {};
}
template <STPhase Phase, typename T, typename G, AtomicType Atomic, ReluPreMode Relu, PTO_EXTRA_T>
PTO_INST RecordEvent TSTORE(const G &dst, const T &src, PTO_EXTRA)
{
	return TSTORE<T, G, Atomic, Relu>(dst, src, PTO_EXTRA_ARGS);
}

} // namespace pto

#endif
