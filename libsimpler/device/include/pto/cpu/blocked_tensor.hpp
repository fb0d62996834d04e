/* SPDX-License-Identifier: MIT */
/*
 * Tensors whose five dimensions are the blocks of a matrix: the layouts of
 * scale factors (MX_*, SCALE, HIF4_*), and tensors of packed pairs in any
 * layout.  Elements are visited one by one; the place of each is kept by
 * adding, so nothing is divided.
 *
 * Spec: pto-isa §3.5, §4.1.
 */
#ifndef PTO_CPU_BLOCKED_TENSOR_HPP
#define PTO_CPU_BLOCKED_TENSOR_HPP

#include "pto/common/global_tensor.hpp"
#include "pto/common/pto_tile.hpp"

namespace pto {
namespace blocked_ {

/* What one step of each dimension adds to the row and to the column. */
struct steps {
	int row[5], col[5];
};

template <typename G>
constexpr bool is_scale_layout = G::layout >= Layout::SCALE &&G::layout <= Layout::HIF4_B_NN;

/* By layout; @s are the tensor's extents. */
inline steps steps_of(Layout l, bool stack_sideways, const int *s)
{
	const bool flat = s[0] * s[1] * s[2] == 1;

	switch (flat ? Layout::ND : l) {
	case Layout::MX_A_ND:
		return {{0, 0, 1, 0, 0}, {0, 0, 0, s[4], 1}};
	case Layout::MX_A_DN:
		return {{0, 0, 0, 1, 0}, {0, 0, s[4], 0, 1}};
	case Layout::MX_A_ZZ:
	case Layout::HIF4_A_ZZ:
		return {{0, s[3], 0, 1, 0}, {0, 0, s[4], 0, 1}};
	case Layout::MX_B_ND:
		return {{0, 0, s[4], 0, 1}, {0, 0, 0, 1, 0}};
	case Layout::MX_B_DN:
		return {{0, 0, 0, s[4], 1}, {0, 0, 1, 0, 0}};
	case Layout::MX_B_NN:
	case Layout::HIF4_B_NN:
		return {{0, 0, s[4], 0, 1}, {0, s[3], 0, 1, 0}};
	case Layout::NZ:
		return {{0, 0, s[3], 1, 0}, {s[1] * s[4], s[4], 0, 0, 1}};
	default:
		if (stack_sideways)
			return {{0, 0, 0, 1, 0}, {s[1] * s[2] * s[4], s[2] * s[4], s[4], 0, 1}};
		return {{s[1] * s[2] * s[3], s[2] * s[3], s[3], 1, 0}, {0, 0, 0, 0, 1}};
	}
}

inline int extent_of(const int *step, const int *s)
{
	int n = 1;

	for (int d = 0; d < 5; d++)
		n += step[d] * (s[d] - 1);
	return n;
}

/* A tensor as values: extents, strides and where its elements stand. */
struct shape {
	int s[5];
	int64_t stride[5];
	steps step;

	int rows() const { return extent_of(step.row, s); }
	int cols() const { return extent_of(step.col, s); }
};

template <typename G>
inline shape shape_of(const G &g, bool stack_sideways)
{
	shape v;

	for (int d = 0; d < 5; d++) {
		v.s[d] = int(g.GetShape(d));
		v.stride[d] = g.GetStride(d);
	}
	v.step = steps_of(G::layout, stack_sideways, v.s);
	return v;
}

/* f(row, column, offset in the tensor) for each element inside rows x cols. */
template <typename F>
inline void each(const shape &v, int rows, int cols, const F &f)
{
	const int *s = v.s;

	for (int i0 = 0; i0 < s[0]; i0++)
		for (int i1 = 0; i1 < s[1]; i1++)
			for (int i2 = 0; i2 < s[2]; i2++)
				for (int i3 = 0; i3 < s[3]; i3++) {
					const int *r = v.step.row, *c = v.step.col;
					int row = i0 * r[0] + i1 * r[1] + i2 * r[2] + i3 * r[3];
					int col = i0 * c[0] + i1 * c[1] + i2 * c[2] + i3 * c[3];
					int64_t at = i0 * v.stride[0] + i1 * v.stride[1] +
						     i2 * v.stride[2] + i3 * v.stride[3];

					for (int i4 = 0; i4 < s[4];
					     i4++, row += r[4], col += c[4], at += v.stride[4])
						if (row < rows && col < cols)
							f(row, col, at);
				}
}

template <typename T, typename E>
inline void load(T &t, const E *p, const shape &v)
{
	each(v, t.GetValidRow(), t.GetValidCol(), [&](int r, int c, int64_t at) {
		using D = typename T::DType;

		if constexpr (is_packed_v<D>)
			D::set_code(t.data(), T::Offset(r, c), D::code(p, size_t(at)));
		else
			__builtin_memcpy(static_cast<void *>(t.data() + T::Offset(r, c)), p + at,
					 sizeof(D));
	});
}

template <typename T, typename E>
inline void store(const T &t, E *p, const shape &v)
{
	each(v, t.GetValidRow(), t.GetValidCol(), [&](int r, int c, int64_t at) {
		using D = typename T::DType;

		if constexpr (is_packed_v<D>)
			D::set_code(p, size_t(at), D::code(t.data(), T::Offset(r, c)));
		else
			__builtin_memcpy(static_cast<void *>(p + at), t.data() + T::Offset(r, c),
					 sizeof(D));
	});
}

/* Moves a rectangle of packed elements between tiles. */
template <typename D, typename S>
inline void move_codes(D &d, int dr, int dc, const S &s, int sr, int sc, int rows, int cols)
{
	using P = typename D::DType;
	static_assert(std::is_same_v<P, typename S::DType>,
		      "[PTO][SA] packed elements move between tiles of one type");

	for (int r = 0; r < rows; r++)
		for (int c = 0; c < cols; c++)
			P::set_code(d.data(), D::Offset(dr + r, dc + c),
				    P::code(s.data(), S::Offset(sr + r, sc + c)));
}

} // namespace blocked_
} // namespace pto

#endif
