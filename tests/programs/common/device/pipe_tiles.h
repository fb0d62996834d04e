/* SPDX-License-Identifier: MIT */
/*
 * Work of the pipe programs: a cube kernel multiplies bands of 32 rows by a
 * 64 x 64 weight and hands each product to a vector kernel.
 */
#ifndef TESTS_PROGRAMS_PIPE_TILES_H
#define TESTS_PROGRAMS_PIPE_TILES_H

#include "intrinsic.h"
#include "matrix.h"

namespace prog {

constexpr int BAND = 32, DEPTH = 64, WIDTH = 64;
constexpr uint32_t TILE_BYTES = BAND * WIDTH * sizeof(float);
constexpr int SLOTS = 8;

using product = acc<BAND, WIDTH>;

inline int bands(const ChipTensor &t)
{
	return (rows(t) + BAND - 1) / BAND;
}

/* Rows of band @i; the last one may be short. */
inline int band_rows(const ChipTensor &t, int i)
{
	const int left = rows(t) - i * BAND;

	return left < BAND ? left : BAND;
}

/* Loads the weight, once per kernel. */
inline void load_weight(right<half, DEPTH, WIDTH> &w0, const ChipTensor &w, uint64_t l0b)
{
	mat<half, DEPTH, WIDTH> w1(DEPTH, WIDTH);

	TASSIGN(w1, 0x0);
	TASSIGN(w0, l0b);
	hand_over(PIPE_MTE1, PIPE_MTE2);
	TLOAD(w1, whole<half>(w));
	hand_over(PIPE_MTE2, PIPE_MTE1);
	TMOV(w0, w1);
}

/* Band @i of @a times the weight. */
inline void multiply_band(product &p, const ChipTensor &a, int i, const right<half, DEPTH, WIDTH> &w0)
{
	const int m = band_rows(a, i);
	mat<half, BAND, DEPTH> a1(m, DEPTH);
	left<half, BAND, DEPTH> a0(m, DEPTH);

	TASSIGN(a1, 0x4000);
	TASSIGN(a0, 0x0);
	TASSIGN(p, 0x0);
	hand_over(PIPE_FIX, PIPE_M); /* the product of the band before has left */
	hand_over(PIPE_M, PIPE_MTE1);
	hand_over(PIPE_MTE1, PIPE_MTE2);
	TLOAD(a1, window<half>(a, i * BAND, 0, m, DEPTH));
	hand_over(PIPE_MTE2, PIPE_MTE1);
	TMOV(a0, a1);
	hand_over(PIPE_MTE1, PIPE_M);
	TMATMUL(p, a0, w0);
	hand_over(PIPE_M, PIPE_FIX);
}

/* Behind a TPOP, which runs on one of two pipes: @user may read the tile. */
inline void popped(pipe_t user)
{
	hand_over(PIPE_MTE2, user);
	hand_over(PIPE_S, user);
}

/* In front of a TFREE: whatever read the slot has done so. */
inline void done_with_slot()
{
	pipe_barrier(PIPE_ALL);
}

/* x / (1 + exp(-x)), through scratch memory at @at. */
template <typename T>
inline void silu(T &x, uint64_t at)
{
	T e(x.GetValidRow(), x.GetValidCol());

	TASSIGN(e, at);
	TMULS(e, x, -1.0f);
	TEXP(e, e);
	TADDS(e, e, 1.0f);
	TDIV(x, x, e);
}

} // namespace prog

#endif
