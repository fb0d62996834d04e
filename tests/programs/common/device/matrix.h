/* SPDX-License-Identifier: MIT */
/* Tensor arguments of the example kernels as matrices, and the tiles they are loaded into. */
#ifndef TESTS_PROGRAMS_MATRIX_H
#define TESTS_PROGRAMS_MATRIX_H

#include <pto/pto-inst.hpp>
#include "tensor.h"

namespace prog {

using namespace pto;

/* Argument @i of a kernel. */
inline const ChipTensor &tensor(int64_t *args, int i)
{
	return *reinterpret_cast<const ChipTensor *>(args[i]);
}

template <typename T>
inline T scalar(int64_t *args, int i)
{
	T v;

	__builtin_memcpy(&v, &args[i], sizeof(v));
	return v;
}

inline int rows(const ChipTensor &t)
{
	return int(t.ndims > 1 ? t.shapes[t.ndims - 2] : t.shapes[0]);
}

inline int cols(const ChipTensor &t)
{
	return int(t.ndims > 1 ? t.shapes[t.ndims - 1] : 1);
}

inline int64_t row_stride(const ChipTensor &t)
{
	return t.ndims > 1 ? t.strides[t.ndims - 2] : t.strides[0];
}

template <typename T, Layout L = Layout::ND>
using matrix = GlobalTensor<T, Shape<1, 1, 1, DYNAMIC, DYNAMIC>, Stride<1, 1, 1, DYNAMIC, DYNAMIC>, L>;

/* @r x @c elements at (@row, @col) of the last two dimensions; a vector is one column. */
template <typename T>
inline matrix<T> window(const ChipTensor &t, int row, int col, int r, int c)
{
	const int64_t step = row_stride(t);

	return matrix<T>(t.data_as<T>() + row * step + col, typename matrix<T>::Shape(r, c),
			 typename matrix<T>::Stride(step, 1));
}

template <typename T>
inline matrix<T> whole(const ChipTensor &t)
{
	return window<T>(t, 0, 0, rows(t), cols(t));
}

/* The same, columns becoming rows. */
template <typename T>
inline matrix<T, Layout::DN> transposed(const ChipTensor &t)
{
	return matrix<T, Layout::DN>(t.data_as<T>(), typename matrix<T, Layout::DN>::Shape(cols(t), rows(t)),
				     typename matrix<T, Layout::DN>::Stride(1, row_stride(t)));
}

/* Vector tiles: a box with a dynamic valid region, and a column with one value per row. */
template <typename T, int R, int C>
using vec = Tile<TileType::Vec, T, R, C, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
template <typename T, int R>
using column = Tile<TileType::Vec, T, R, 1, BLayout::ColMajor, DYNAMIC, 1>;

/* Matrix operands in L1, as rows or, after a transposing load, as columns. */
template <typename T, int R, int C>
using mat = Tile<TileType::Mat, T, R, C, BLayout::ColMajor, DYNAMIC, DYNAMIC, SLayout::RowMajor>;
template <typename T, int R, int C>
using mat_t = Tile<TileType::Mat, T, R, C, BLayout::RowMajor, DYNAMIC, DYNAMIC, SLayout::ColMajor>;
template <typename T, int R, int C>
using left = TileLeft<T, R, C, DYNAMIC, DYNAMIC>;
template <typename T, int R, int C>
using right = TileRight<T, R, C, DYNAMIC, DYNAMIC>;
template <int R, int C>
using acc = TileAcc<float, R, C, DYNAMIC, DYNAMIC>;

/* Whatever pipe @to does from here on comes after all that pipe @from did. */
inline void hand_over(pipe_t from, pipe_t to)
{
	set_flag(from, to, EVENT_ID0);
	wait_flag(from, to, EVENT_ID0);
}

} // namespace prog

#endif
