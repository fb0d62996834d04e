/* SPDX-License-Identifier: MIT */
/*
 * Gathering and scattering inside tiles: TGATHER by index, by mask and by
 * comparison, TGATHERB, TSCATTER by index and by mask.
 *
 * Spec: pto-isa §4.11, §12 cases 34 to 36.
 */
#ifndef PTO_CPU_GATHER_HPP
#define PTO_CPU_GATHER_HPP

#include "pto/common/event.hpp"
#include "pto/cpu/copy.hpp"

namespace pto {
namespace gather_ {

/* Whether position @i belongs to the pattern. */
constexpr bool in_pattern(MaskPattern p, int i)
{
	switch (p) {
	case MaskPattern::P0101:
		return (i & 1) == 0;
	case MaskPattern::P1010:
		return (i & 1) == 1;
	case MaskPattern::P1111:
		return true;
	default:
		return (i & 3) == int(p) - int(MaskPattern::P0001);
	}
}

/* Element number @flat in row order over the physical box. */
template <typename T>
inline typename T::DType *flat_at(const T &t, int64_t flat)
{
	if constexpr (T::isRowMajor && !T::isBoxedLayout)
		return t.data() + flat;
	else
		return t.data() + T::Offset(int(flat / T::Cols), int(flat % T::Cols));
}

/* The next element in row order, found by counting. */
template <typename T>
struct cursor {
	const T &t;
	const char *op;
	int row = 0, col = 0;

	typename T::DType *next()
	{
		if (row == T::Rows)
			core_::fail("%s: the pattern selects more elements than the %d x %d tile "
				   "has",
				   op, T::Rows, T::Cols);
		typename T::DType *p = t.data() + T::Offset(row, col);

		if (++col == T::Cols) {
			col = 0;
			row++;
		}
		return p;
	}
};

template <typename D, typename S>
constexpr void check_sizes()
{
	static_assert(sizeof(typename D::DType) == sizeof(typename S::DType),
		      "[PTO][SA] element sizes must be equal");
}

template <typename D, typename S, typename I>
inline void by_index(D &d, const S &src, const I &idx)
{
	check_sizes<D, S>();
	static_assert(std::is_integral_v<typename I::DType>, "[PTO][SA] indices are integers");
	constexpr int64_t total = int64_t(S::Rows) * S::Cols;

	for (int r = 0; r < d.GetValidRow(); r++)
		for (int c = 0; c < d.GetValidCol(); c++) {
			const int64_t flat = int64_t(idx.data()[I::Offset(r, c)]);
			typename D::DType v = {};

			if (flat >= 0 && flat < total)
				__builtin_memcpy(static_cast<void *>(&v), flat_at(src, flat),
						 sizeof(v));
			d.data()[D::Offset(r, c)] = v;
		}
}

template <MaskPattern P, bool Rows, typename D, typename S>
inline void by_mask(D &d, const S &src)
{
	check_sizes<D, S>();
	cursor<D> to{d, "TGATHER"};

	for (int r = 0, out = 0; r < src.GetValidRow(); r++) {
		if (!Rows && !in_pattern(P, r))
			continue;
		if (!Rows && out == D::Rows)
			core_::fail("TGATHER: the pattern selects more than the %d rows of the tile",
				   D::Rows);
		for (int c = 0; c < src.GetValidCol(); c++) {
			if (Rows && !in_pattern(P, c))
				continue;
			copy_::move_bits::one(Rows ? to.next() : d.data() + D::Offset(out, c),
					     src.data() + S::Offset(r, c));
		}
		out += !Rows;
	}
}

/* The value of row @r: a scalar, one element, or an element per row. */
template <typename K>
inline auto per_row(const K &k, int r)
{
	if constexpr (is_tile_data_v<K>)
		return k.GetElement(k.GetValidRow() > 1 ? r : 0, 0);
	else
		return k;
}

/* Columns, plus @offset, where the comparison holds; how many of them in @count. */
template <CmpMode Mode, typename D, typename S, typename K, typename C>
inline void by_compare(D &d, const S &src, const K &k, C &count, int64_t offset)
{
	static_assert(Mode == CmpMode::EQ || Mode == CmpMode::GT,
		      "[PTO][SA] the comparison of TGATHER is EQ or GT");
	using T = typename S::DType;

	for (int r = 0; r < src.GetValidRow(); r++) {
		const T limit = static_cast<T>(per_row(k, r));
		int found = 0;

		for (int c = 0; c < src.GetValidCol(); c++) {
			const T v = src.GetElement(r, c);

			if (!(Mode == CmpMode::EQ ? v == limit : v > limit))
				continue;
			if (found == D::Cols)
				core_::fail("TGATHER: row %d selects more than the %d columns of "
					   "the destination",
					   r, D::Cols);
			d.SetElement(r, found++, c + offset);
		}
		count.SetElement(C::Rows == 1 && src.GetValidRow() > 1 ? 0 : r,
				 C::Rows == 1 && src.GetValidRow() > 1 ? r : 0, found);
	}
}

template <typename D, typename S, typename O>
inline void blocks(D &d, const S &src, const O &off)
{
	check_sizes<D, S>();
	static_assert(D::isRowMajor && !D::isBoxedLayout, "[PTO][SA] TGATHERB needs plain rows");
	constexpr int per_block = BLOCK_BYTE_SIZE / int(sizeof(typename D::DType));
	constexpr uint64_t bytes = S::Extent * sizeof(typename S::DType);
	const uint8_t *from = reinterpret_cast<const uint8_t *>(src.data());

	for (int r = 0; r < d.GetValidRow(); r++)
		for (int c = 0, b = 0; c < d.GetValidCol(); c += per_block, b++) {
			const uint64_t at = uint64_t(off.data()[O::Offset(r, b)]);
			const int n = copy_::least(per_block, d.GetValidCol() - c);

			if (at % BLOCK_BYTE_SIZE)
				core_::fail("TGATHERB: offset %llu of block (%d, %d) is not a "
					   "multiple of 32",
					   static_cast<unsigned long long>(at), r, b);
			if (at + BLOCK_BYTE_SIZE <= bytes)
				memcpy(static_cast<void *>(d.data() + D::Offset(r, c)), from + at,
				       size_t(n) * sizeof(typename D::DType));
		}
}

template <typename D, typename S, typename I>
inline void scatter(D &d, const S &src, const I &idx)
{
	check_sizes<D, S>();
	static_assert(std::is_integral_v<typename I::DType>, "[PTO][SA] indices are integers");
	constexpr int64_t total = int64_t(D::Rows) * D::Cols;

	for (int r = 0; r < src.GetValidRow(); r++)
		for (int c = 0; c < src.GetValidCol(); c++) {
			const int64_t flat = int64_t(idx.data()[I::Offset(r, c)]);

			if (flat < 0 || flat >= total)
				core_::fail("TSCATTER: index %lld of element (%d, %d) is not within "
					   "the %d x %d tile",
					   static_cast<long long>(flat), r, c, D::Rows, D::Cols);
			copy_::move_bits::one(flat_at(d, flat), src.data() + S::Offset(r, c));
		}
}

template <MaskPattern P, bool Rows, typename D, typename S>
inline void scatter_mask(D &d, const S &src)
{
	check_sizes<D, S>();
	cursor<S> from{src, "TSCATTER"};

	for (int r = 0, in = 0; r < d.GetValidRow(); r++) {
		const bool row = Rows || in_pattern(P, r);

		for (int c = 0; c < d.GetValidCol(); c++) {
			typename D::DType *to = d.data() + D::Offset(r, c);

			if (!row || (Rows && !in_pattern(P, c)))
				memset(static_cast<void *>(to), 0, sizeof(*to));
			else
				copy_::move_bits::one(to, Rows ? from.next()
							      : src.data() + S::Offset(in, c));
		}
		in += row;
	}
}

} // namespace gather_

/* d[r, c] = element number idx[r, c] of src's box; 0 where there is none. */
template <typename D, typename S, typename I, PTO_EXTRA_T,
	  std::enable_if_t<is_tile_data_v<D> && is_tile_data_v<S> && is_tile_data_v<I>, int> = 0>
PTO_INST RecordEvent TGATHER(D &d, const S &src, const I &idx, PTO_EXTRA)
{
	PTO_CHECK("TGATHER", checking_::VECTOR, checking_::APART, checking_::out(d),
		  checking_::some_of(src), checking_::in(idx));
	gather_::by_index(d, src, idx);
	return {};
}
/* The elements whose column (row) matches the pattern, one after the other. */
template <typename D, typename S, MaskPattern P, GatherAxis Axis = GatherAxis::ROW, PTO_EXTRA_T>
PTO_INST RecordEvent TGATHER(D &d, const S &src, PTO_EXTRA)
{
	PTO_CHECK("TGATHER", checking_::VECTOR, checking_::APART, checking_::out(d),
		  checking_::in(src));
	gather_::by_mask<P, Axis == GatherAxis::ROW>(d, src);
	return {};
}
/* Per row the columns whose value compares true with @k, and their number. */
template <typename D, typename S, typename C, typename Tmp, CmpMode Mode, auto Offset = 0,
	  typename K, PTO_EXTRA_T>
PTO_INST RecordEvent TGATHER(D &d, const S &src, const K &k, C &count, Tmp &, PTO_EXTRA)
{
	PTO_CHECK("TGATHER", checking_::VECTOR, checking_::APART, checking_::out(d),
		  checking_::out(count), checking_::in(src));
	gather_::by_compare<Mode>(d, src, k, count, int64_t(Offset));
	return {};
}
/* Blocks of 32 bytes from the byte offsets in @off; a block beyond src leaves d unchanged. */
template <typename D, typename S, typename O, PTO_EXTRA_T>
PTO_INST RecordEvent TGATHERB(D &d, const S &src, const O &off, PTO_EXTRA)
{
	PTO_CHECK("TGATHERB", checking_::VECTOR, checking_::APART, checking_::out(d),
		  checking_::some_of(src));
	gather_::blocks(d, src, off);
	return {};
}
/* Element number idx[r, c] of d's box = src[r, c]; the last in row order wins. */
template <typename D, typename S, typename I, PTO_EXTRA_T,
	  std::enable_if_t<is_tile_data_v<D> && is_tile_data_v<S> && is_tile_data_v<I>, int> = 0>
PTO_INST RecordEvent TSCATTER(D &d, const S &src, const I &idx, PTO_EXTRA)
{
	PTO_CHECK("TSCATTER", checking_::VECTOR, checking_::APART, checking_::inout_fresh(d),
		  checking_::in(src), checking_::in(idx));
	gather_::scatter(d, src, idx);
	return {};
}
/* The matching columns (rows) take src's elements in order, the others become 0. */
template <MaskPattern P, ScatterAxis Axis = ScatterAxis::ROW, typename D, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TSCATTER(D &d, const S &src, PTO_EXTRA)
{
	PTO_CHECK("TSCATTER", checking_::VECTOR, checking_::APART, checking_::out(d),
		  checking_::some_of(src));
	gather_::scatter_mask<P, Axis == ScatterAxis::ROW>(d, src);
	return {};
}

} // namespace pto

#endif
