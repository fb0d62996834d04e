/* SPDX-License-Identifier: MIT */
/*
 * Rearrangements of rows: TCONCAT, TPACK, TINTERLEAVE, TDEINTERLEAVE.
 *
 * Spec: pto-isa §4.1.
 */
#ifndef PTO_CPU_REARRANGE_HPP
#define PTO_CPU_REARRANGE_HPP

#include "pto/common/event.hpp"
#include "pto/cpu/copy.hpp"
#include "pto/cpu/spans.hpp"

namespace pto {
namespace rearrange_ {

inline __attribute__((noinline, cold)) void too_wide(const char *op, int a, int b, int cols)
{
	core_::fail("%s: %d and %d columns do not fit into the destination's %d", op, a, b, cols);
}

template <typename D, typename A, typename B>
constexpr void check_types()
{
	static_assert(sizeof(typename D::DType) == sizeof(typename A::DType) &&
			      sizeof(typename D::DType) == sizeof(typename B::DType),
		      "[PTO][SA] element sizes must be equal");
}

template <typename D, typename A, typename B>
inline void concat(D &d, const A &a, const B &b)
{
	check_types<D, A, B>();
	const int na = a.GetValidCol(), nb = b.GetValidCol(), rows = d.GetValidRow();

	if (na + nb > D::Cols)
		too_wide("TCONCAT", na, nb, D::Cols);
	copy_::region(copy_::move_bits(), copy_::raw_view(d), 0, 0, copy_::raw_view(a), 0, 0, rows, na);
	copy_::region(copy_::move_bits(), copy_::raw_view(d), 0, na, copy_::raw_view(b), 0, 0, rows,
		     nb);
}

/* How many elements of row @r an index tile allows, at most @limit. */
template <typename N>
inline int count_of(const N &n, int r, int limit)
{
	const int64_t v = int64_t(n.GetElement(r, 0));

	return v < 0 ? 0 : v < limit ? int(v) : limit;
}

template <typename D, typename A, typename B, typename NA, typename NB>
inline int concat_row(D &d, const A &a, const B &b, const NA &na, const NB &nb, int r)
{
	const int ca = count_of(na, r, a.GetValidCol()), cb = count_of(nb, r, b.GetValidCol());

	if (ca + cb > D::Cols)
		too_wide("TCONCAT", ca, cb, D::Cols);
	copy_::region(copy_::move_bits(), copy_::raw_view(d), r, 0, copy_::raw_view(a), r, 0, 1, ca);
	copy_::region(copy_::move_bits(), copy_::raw_view(d), r, ca, copy_::raw_view(b), r, 0, 1, cb);
	return ca + cb;
}

/* The low bytes of each element. */
template <typename D, typename S>
inline void pack(D &d, const S &src)
{
	using DE = copy_::raw_t<typename D::DType>;
	using SE = copy_::raw_t<typename S::DType>;
	static_assert(sizeof(DE) < sizeof(SE) && sizeof(SE) <= 4,
		      "[PTO][SA] TPACK goes from 4 to 2 or 1 bytes, or from 2 to 1");

	spans_::run(
		[](size_t n, auto *to, auto *from) {
			for (size_t i = 0; i < n; i++) {
				SE v;

				__builtin_memcpy(&v, static_cast<const void *>(from + i),
						 sizeof(v));
				const DE low = DE(v);

				__builtin_memcpy(static_cast<void *>(to + i), &low, sizeof(low));
			}
		},
		d, src);
}

/* Bits of an element, whatever its type. */
template <typename T>
inline copy_::raw_t<typename T::DType> &bits_at(const T &t, int r, int c)
{
	return reinterpret_cast<copy_::raw_t<typename T::DType> *>(t.data())[T::Offset(r, c)];
}

/* Element @i of rows @a then @b of @n elements each. */
template <typename A, typename B>
inline auto &in_two(const A &a, const B &b, int r, int n, int i)
{
	return i < n ? bits_at(a, r, i) : bits_at(b, r, i - n);
}

template <typename D1, typename D0, typename S1, typename S0>
inline void interleave(D1 &d1, D0 &d0, const S1 &s1, const S0 &s0)
{
	check_types<D1, D0, S1>();
	const int n = s0.GetValidCol();

	for (int r = 0; r < s0.GetValidRow(); r++)
		for (int i = 0; i < n; i++) {
			in_two(d0, d1, r, n, 2 * i) = bits_at(s0, r, i);
			in_two(d0, d1, r, n, 2 * i + 1) = bits_at(s1, r, i);
		}
}

template <typename D1, typename D0, typename S1, typename S0>
inline void deinterleave(D1 &d1, D0 &d0, const S1 &s1, const S0 &s0)
{
	check_types<D1, D0, S1>();
	const int n = s0.GetValidCol();

	for (int r = 0; r < s0.GetValidRow(); r++)
		for (int i = 0; i < n; i++) {
			bits_at(d0, r, i) = in_two(s0, s1, r, n, 2 * i);
			bits_at(d1, r, i) = in_two(s0, s1, r, n, 2 * i + 1);
		}
}

template <typename D1, typename D0, typename S>
inline void split_pairs(D1 &d1, D0 &d0, const S &s)
{
	check_types<D1, D0, S>();
	for (int r = 0; r < s.GetValidRow(); r++)
		for (int i = 0; i + 1 < s.GetValidCol(); i += 2) {
			bits_at(d0, r, i / 2) = bits_at(s, r, i);
			bits_at(d1, r, i / 2) = bits_at(s, r, i + 1);
		}
}

} // namespace rearrange_

/* d = [a | b], row by row */
template <typename D, typename A, typename B, PTO_EXTRA_T,
	  std::enable_if_t<!is_tile_data_v<W1>, int> = 0>
PTO_INST RecordEvent TCONCAT(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TCONCAT", checking_::VECTOR, 0,
		  checking_::part(d, d.GetValidRow(), a.GetValidCol() + b.GetValidCol(),
				 checking_::WRITE),
		  checking_::in(a), checking_::in(b));
	rearrange_::concat(d, a, b);
	return {};
}
/* The first na[r] elements of row r of @a, then the first nb[r] of @b. */
template <
	typename D, typename A, typename B, typename NA, typename NB, PTO_EXTRA_T,
	std::enable_if_t<is_tile_data_v<NA> && is_tile_data_v<NB> && !is_tile_data_v<W1>, int> = 0>
PTO_INST RecordEvent TCONCAT(D &d, const A &a, const B &b, const NA &na, const NB &nb, PTO_EXTRA)
{
	PTO_CHECK("TCONCAT", checking_::VECTOR, 0, checking_::out(d), checking_::in(a),
		  checking_::in(b), checking_::part(na, d.GetValidRow(), 1, checking_::READ),
		  checking_::part(nb, d.GetValidRow(), 1, checking_::READ));
	for (int r = 0; r < d.GetValidRow(); r++)
		rearrange_::concat_row(d, a, b, na, nb, r);
	return {};
}
/* The same; @nd receives the number of elements of each row. */
template <typename D, typename ND, typename A, typename B, typename NA, typename NB,
	  std::enable_if_t<is_tile_data_v<ND> && is_tile_data_v<NB>, int> = 0, PTO_EXTRA_T>
PTO_INST RecordEvent TCONCAT(D &d, ND &nd, const A &a, const B &b, const NA &na, const NB &nb,
			     PTO_EXTRA)
{
	PTO_CHECK("TCONCAT", checking_::VECTOR, 0, checking_::out(d), checking_::in(a),
		  checking_::in(b), checking_::part(na, d.GetValidRow(), 1, checking_::READ),
		  checking_::part(nb, d.GetValidRow(), 1, checking_::READ));
	for (int r = 0; r < d.GetValidRow(); r++)
		nd.SetElement(r, 0, rearrange_::concat_row(d, a, b, na, nb, r));
	return {};
}
/* The low bytes of wider elements, without saturation. */
template <typename D, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TPACK(D &d, const S &src, PTO_EXTRA)
{
	PTO_CHECK("TPACK", checking_::VECTOR, checking_::SAME, checking_::out(d), checking_::in(src));
	rearrange_::pack(d, src);
	return {};
}
/* d0, d1 = first and second half of s0[0], s1[0], s0[1], s1[1], ... */
template <typename D1, typename D0, typename S1, typename S0, PTO_EXTRA_T>
PTO_INST RecordEvent TINTERLEAVE(D1 &d1, D0 &d0, const S1 &s1, const S0 &s0, PTO_EXTRA)
{
	PTO_CHECK("TINTERLEAVE", checking_::VECTOR, checking_::APART, checking_::out(d0),
		  checking_::out(d1), checking_::in(s0), checking_::in(s1));
	rearrange_::interleave(d1, d0, s1, s0);
	return {};
}
/* The inverse; with one source its even elements to d0, its odd ones to d1. */
template <typename D1, typename D0, typename S1, typename S0, PTO_EXTRA_T,
	  std::enable_if_t<is_tile_data_v<S0>, int> = 0>
PTO_INST RecordEvent TDEINTERLEAVE(D1 &d1, D0 &d0, const S1 &s1, const S0 &s0, PTO_EXTRA)
{
	PTO_CHECK("TDEINTERLEAVE", checking_::VECTOR, checking_::APART, checking_::out(d0),
		  checking_::out(d1), checking_::in(s0), checking_::in(s1));
	rearrange_::deinterleave(d1, d0, s1, s0);
	return {};
}
template <typename D1, typename D0, typename S, PTO_EXTRA_T,
	  std::enable_if_t<!is_tile_data_v<W1>, int> = 0>
PTO_INST RecordEvent TDEINTERLEAVE(D1 &d1, D0 &d0, const S &s, PTO_EXTRA)
{
	PTO_CHECK("TDEINTERLEAVE", checking_::VECTOR, checking_::APART, checking_::out(d0),
		  checking_::out(d1), checking_::in(s));
	rearrange_::split_pairs(d1, d0, s);
	return {};
}

} // namespace pto

#endif
