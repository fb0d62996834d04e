/* SPDX-License-Identifier: MIT */
/*
 * Operands of an instruction as values, for checked mode: what a tile type is,
 * which part of it is touched and how.
 */
#ifndef PTO_CHECK_OPERAND_HPP
#define PTO_CHECK_OPERAND_HPP

#include <cstddef>
#include <cstdint>

#include "pto/common/constants.hpp"
#include "pto/common/layout.hpp"
#include "pto_runtime_abi.h"

namespace pto
{
namespace checking_
{

constexpr int arena_of(TileType loc)
{
	switch (loc) {
	case TileType::Mat:
		return PTO_ARENA_L1;
	case TileType::Left:
		return PTO_ARENA_L0A;
	case TileType::Right:
		return PTO_ARENA_L0B;
	case TileType::Acc:
		return PTO_ARENA_L0C;
	case TileType::Bias:
		return PTO_ARENA_BIAS;
	case TileType::Scaling:
		return PTO_ARENA_SCALING;
	case TileType::ScaleLeft:
		return PTO_ARENA_SCALE_LEFT;
	case TileType::ScaleRight:
		return PTO_ARENA_SCALE_RIGHT;
	default:
		return PTO_ARENA_UB;
	}
}

inline const char *arena_name(int arena)
{
	static const char *const names[PTO_ARENA_COUNT] = {
		"UB", "L1", "L0A", "L0B", "L0C", "bias", "scaling", "scale-left", "scale-right"};

	return names[arena];
}

enum : int { MTE1 = 2, MTE2 = 3, MTE3 = 4, MATRIX = 5, FIX = 7 };

/* The pipe of an instruction by the memories it connects (pto-isa §3.7). */
constexpr bool in_l0(TileType t)
{
	return t == TileType::Left || t == TileType::Right || t == TileType::Bias ||
	       t == TileType::ScaleLeft || t == TileType::ScaleRight;
}
constexpr int pipe_of_move(TileType to, TileType from)
{
	if (from == TileType::Acc || to == TileType::Scaling)
		return FIX;
	if (from == TileType::Mat)
		return in_l0(to) ? int(MTE1) : int(FIX);
	return from == TileType::Vec && to == TileType::Vec ? 1 : int(FIX);
}
constexpr int pipe_of_store(TileType from)
{
	return from == TileType::Acc ? int(FIX) : int(MTE3);
}
constexpr int pipe_of_gather(TileType to)
{
	return to == TileType::Mat ? int(MTE2) : 1;
}
template <typename T>
constexpr int pipe_of_fill()
{
	return pipe_of_gather(T::Loc);
}

/* What is the same for all tiles of a type. */
struct facts {
	TileType loc;
	bool plain_rows;
	int rows, cols, bits; /* bits of an element */
	int row_bits, col_bits;
	ptrdiff_t rs, cs, box_row, box_col;
	uint32_t bytes;

	size_t offset(int r, int c) const
	{
		return size_t((r >> row_bits) * box_row + (c >> col_bits) * box_col +
			      (r & ((1 << row_bits) - 1)) * rs + (c & ((1 << col_bits) - 1)) * cs);
	}
};

template <typename T>
constexpr facts make_facts()
{
	using M = typename T::Map;

	return {T::Loc,
		T::isRowMajor && !T::isBoxedLayout,
		T::Rows,
		T::Cols,
		element_bits<typename T::DType>,
		layout_::bits_of(M::block_rows),
		layout_::bits_of(M::block_cols),
		M::row_step,
		M::col_step,
		ptrdiff_t(M::boxed && M::block_rows < T::Rows ? M::offset(M::block_rows, 0) : 0),
		ptrdiff_t(M::boxed && M::block_cols < T::Cols ? M::offset(0, M::block_cols) : 0),
		uint32_t(T::Extent * sizeof(typename T::DType))};
}
template <typename T>
inline constexpr facts facts_of = make_facts<T>();

/* A tensor in global memory. */
struct tensor {
	const void *data;
	int bytes; /* of an element */
	int64_t shape[5], stride[5];
};

enum : uint8_t {
	READ = 1,
	WRITE = 2,
	FRESH = 4, /* the contents need not have been written */
	ORDERED = 8 /* the runtime orders the access */
};

struct operand {
	const facts *f; /* null: a tensor */
	const void *data;
	int rows, cols; /* touched */
	int valid_rows, valid_cols;
	uint8_t mode;
	bool window;
	const tensor *t; /* if @f is null; lives as long as the call */
	int row, col; /* where the touched part starts */
};

template <typename T>
inline operand part(const T &t, int rows, int cols, uint8_t mode)
{
	return {&facts_of<T>, t.data(), rows, cols, t.GetValidRow(), t.GetValidCol(), mode,
		t.IsWindow(), nullptr,	0,    0};
}
/* The valid region, read or written or both. */
template <typename T>
inline operand in(const T &t)
{
	return part(t, t.GetValidRow(), t.GetValidCol(), READ);
}
template <typename T>
inline operand out(const T &t)
{
	return part(t, t.GetValidRow(), t.GetValidCol(), WRITE);
}
template <typename T>
inline operand inout(const T &t)
{
	return part(t, t.GetValidRow(), t.GetValidCol(), READ | WRITE);
}
/* The valid region, of which an unknown part is read. */
template <typename T>
inline operand some_of(const T &t)
{
	return part(t, t.GetValidRow(), t.GetValidCol(), READ | FRESH);
}
/* Parts of the valid region that other instructions may have written before. */
template <typename T>
inline operand inout_fresh(const T &t)
{
	return part(t, t.GetValidRow(), t.GetValidCol(), READ | WRITE | FRESH);
}
/* A rectangle that starts at (row, col). */
template <typename T>
inline operand window_of(const T &t, int64_t row, int64_t col, int rows, int cols)
{
	operand o = part(t, rows, cols, READ);

	o.row = int(row);
	o.col = int(col);
	return o;
}
template <typename T>
inline operand window_to(const T &t, int64_t row, int64_t col, int rows, int cols)
{
	operand o = part(t, rows, cols, WRITE);

	o.row = int(row);
	o.col = int(col);
	return o;
}
/* What the runtime has written, in order with everything. */
template <typename T>
inline operand arrived(const T &t)
{
	return part(t, T::Rows, T::Cols, WRITE | ORDERED);
}
/* Read after a barrier of the instruction's own. */
template <typename T>
inline operand printed(const T &t)
{
	return part(t, t.GetValidRow(), t.GetValidCol(), READ | ORDERED);
}
/* The whole box. */
template <typename T>
inline operand box(const T &t)
{
	return t.IsWindow() ? out(t) : part(t, T::Rows, T::Cols, WRITE);
}

/* A ConvTile: its buffer as one row. */
template <typename T>
inline constexpr facts buffer_facts = {T::Loc,
				       true,
				       1,
				       int(T::Extent),
				       element_bits<typename T::DType>,
				       layout_::bits_of(layout_::UNBOUNDED),
				       layout_::bits_of(layout_::UNBOUNDED),
				       ptrdiff_t(T::Extent),
				       1,
				       0,
				       0,
				       uint32_t(T::Extent * sizeof(typename T::DType))};
template <typename T>
inline operand buffer(const T &t, uint8_t mode)
{
	return {&buffer_facts<T>, t.data(), 1, int(T::Extent), 1, int(T::Extent), mode, false,
		nullptr,	  0,	    0};
}

template <typename G>
inline tensor tensor_of(const G &g)
{
	tensor t = {g.data(), int(sizeof(typename G::RawDType)), {}, {}};

	for (int d = 0; d < 5; d++) {
		t.shape[d] = g.GetShape(d);
		t.stride[d] = g.GetStride(d);
	}
	return t;
}
inline operand memory(const tensor &t, uint8_t mode)
{
	return {nullptr, t.data, 0, 0, 0, 0, uint8_t(mode | FRESH), false, &t, 0, 0};
}
/* A tensor of which unknown elements are accessed. */
inline operand table(const tensor &t, uint8_t mode)
{
	return memory(t, uint8_t(mode | ORDERED));
}

} // namespace checking_
} // namespace pto

#endif
