/* SPDX-License-Identifier: MIT */
/*
 * Sorting of records of a value and an index, eight bytes each: TSORT32 sorts
 * blocks of 32, TMRGSORT merges sorted runs.
 *
 * Spec: pto-isa §4.13, §12 cases 37 to 39.
 */
#ifndef PTO_CPU_SORT_HPP
#define PTO_CPU_SORT_HPP

#include "pto/common/event.hpp"
#include "pto/cpu/copy.hpp"

namespace pto {

/* Records that a k-way TMRGSORT took from each of its lists. */
struct MrgSortExecutedNumList {
	uint16_t mrgSortList0 = 0, mrgSortList1 = 0, mrgSortList2 = 0, mrgSortList3 = 0;
};

namespace sort_ {

constexpr int RECORD_BYTES = 8, BLOCK = 32;

template <typename T>
constexpr int words = RECORD_BYTES / int(sizeof(T));

/* A record as it stands in a tile: value, for half two bytes of zero, index. */
template <typename T>
struct record {
	T value;
	uint16_t zero;
	uint32_t index;
};
template <>
struct record<float> {
	float value;
	uint32_t index;
};

/* Descending by value; NaN comes first.  Equal zeros have equal keys. */
inline uint32_t descending_key(float v)
{
	const uint32_t x = bits_::cast<uint32_t>(v == 0 ? 0.0f : v);
	const uint32_t ascending = x >> 31 ? ~x : x | 0x80000000u;

	return v != v ? 0 : ~ascending;
}

/* True when @a stands before @b in a sorted run, whatever their order when equal. */
template <typename R>
inline bool before(const R &a, const R &b)
{
	return descending_key(float(a.value)) < descending_key(float(b.value));
}

template <typename R>
inline bool before_by_index(const R &a, const R &b)
{
	const uint32_t ka = descending_key(float(a.value)), kb = descending_key(float(b.value));

	return ka != kb ? ka < kb : a.index < b.index;
}

/* @n <= 32 records; insertion keeps equal records in order. */
template <typename R>
inline void sort_block(R *rec, int n)
{
	for (int i = 1; i < n; i++) {
		const R v = rec[i];
		int at = i;

		for (; at > 0 && before_by_index(v, rec[at - 1]); at--)
			rec[at] = rec[at - 1];
		rec[at] = v;
	}
}

template <typename T, typename I>
__attribute__((noinline)) void sort_row(T *to, const copy_::view<T> &src, const copy_::view<I> &idx,
					int row, int idx_row, int cols)
{
	record<T> rec[BLOCK];

	for (int c = 0; c < cols; c += BLOCK, to += BLOCK * words<T>) {
		const int n = copy_::least(BLOCK, cols - c);

		memset(static_cast<void *>(rec), 0, sizeof(rec));
		for (int i = 0; i < n; i++) {
			rec[i].value = *src.at(row, c + i);
			rec[i].index = uint32_t(*idx.at(idx_row, c + i));
		}
		sort_block(rec, n);
		memcpy(static_cast<void *>(to), rec, size_t(n) * RECORD_BYTES);
	}
}

template <typename D, typename S, typename I>
inline void blocks_of_32(D &d, const S &src, const I &idx)
{
	using T = typename S::DType;
	static_assert(std::is_same_v<T, float> || is_half_v<T>,
		      "[PTO][SA] TSORT32 sorts float and half");
	static_assert(sizeof(typename D::DType) == sizeof(T) && D::isRowMajor && !D::isBoxedLayout,
		      "[PTO][SA] the records of TSORT32 are plain rows of the source's type");
	if (src.GetValidCol() * words < T >> D::Cols || src.GetValidRow() > D::Rows)
		core_::fail("TSORT32: %d x %d records do not fit into the %d x %d tile",
			   src.GetValidRow(), src.GetValidCol(), D::Rows, D::Cols);
	for (int r = 0; r < src.GetValidRow(); r++)
		sort_row(reinterpret_cast<T *>(d.data() + D::Offset(r, 0)), copy_::tile_view(src),
			 copy_::tile_view(idx), r, idx.GetValidRow() > 1 ? r : 0, src.GetValidCol());
}

/* A sorted list being merged. */
template <typename R>
struct run {
	const R *at, *end;
	uint16_t taken;
};

/*
 * Merges @n lists to @to; of equal records the lower list's comes first.  Stops
 * at the end of all lists, or with @exhausted at the end of any.
 */
template <typename R>
inline R *merge(R *to, const R *limit, run<R> *lists, int n, bool exhausted)
{
	for (;;) {
		int best = -1;

		for (int i = 0; i < n; i++) {
			if (lists[i].at == lists[i].end) {
				if (exhausted)
					return to;
				continue;
			}
			if (best < 0 || before(*lists[i].at, *lists[best].at))
				best = i;
		}
		if (best < 0)
			return to;
		if (to == limit)
			core_::fail("TMRGSORT: the destination is full");
		*to++ = *lists[best].at++;
		lists[best].taken++;
	}
}

template <typename T>
inline run<record<T>> run_of(const T *p, int elements)
{
	const record<T> *r = reinterpret_cast<const record<T> *>(p);

	return {r, r + elements / words<T>, 0};
}

template <typename T>
__attribute__((noinline)) void merge_blocks(T *to, const T *limit, const T *from, int total,
					    int block)
{
	using R = record<T>;

	for (int at = 0; at + 4 * block <= total; at += 4 * block) {
		run<R> lists[4];

		for (int i = 0; i < 4; i++)
			lists[i] = run_of(from + at + i * block, block);
		merge(reinterpret_cast<R *>(to + at), reinterpret_cast<const R *>(limit), lists, 4,
		      false);
	}
}

template <typename D, typename S>
inline void groups(D &d, const S &src, int64_t block)
{
	using T = typename S::DType;
	static_assert(std::is_same_v<typename D::DType, T>, "[PTO][SA] records of one type");
	static_assert(D::isRowMajor && S::isRowMajor && !D::isBoxedLayout && !S::isBoxedLayout,
		      "[PTO][SA] records stand in plain rows");
	if (block <= 0 || block % 64 || block > src.GetValidCol())
		core_::fail("TMRGSORT: block length %lld is not a multiple of 64 within %d columns",
			   static_cast<long long>(block), src.GetValidCol());
	merge_blocks<T>(d.data(), d.data() + D::Extent, src.data(), src.GetValidCol(), int(block));
}

template <bool Exhausted, typename D, typename... S>
inline void lists(D &d, MrgSortExecutedNumList &executed, const S &...src)
{
	using T = typename D::DType;
	using R = record<T>;
	static_assert((std::is_same_v<typename S::DType, T> && ...),
		      "[PTO][SA] records of one type");
	run<R> in[4] = {run_of<T>(src.data(), src.GetValidCol())...};
	R *to = reinterpret_cast<R *>(d.data());

	merge(to, to + D::Extent / words<T>, in, int(sizeof...(S)), Exhausted);
	executed.mrgSortList0 = in[0].taken;
	executed.mrgSortList1 = in[1].taken;
	executed.mrgSortList2 = in[2].taken;
	executed.mrgSortList3 = in[3].taken;
}

} // namespace sort_

/* Per row and block of 32 columns: records of value and index, descending. */
template <typename D, typename S, typename I, PTO_EXTRA_T>
PTO_INST void TSORT32(D &d, const S &src, const I &idx, PTO_EXTRA)
{
	PTO_CHECK("TSORT32", checking_::VECTOR, checking_::APART,
		  checking_::part(d, src.GetValidRow(),
				  src.GetValidCol() * sort_::words<typename S::DType>,
				  checking_::WRITE),
		  checking_::in(src),
		  checking_::part(idx, idx.GetValidRow() > 1 ? src.GetValidRow() : 1,
				  src.GetValidCol(), checking_::READ));
	sort_::blocks_of_32(d, src, idx);
}
/* Merges each group of four sorted blocks of @block elements; a shorter tail is not written. */
template <typename D, typename S, typename N, PTO_EXTRA_T,
	  std::enable_if_t<std::is_integral_v<N>, int> = 0>
PTO_INST RecordEvent TMRGSORT(D &d, const S &src, N block, PTO_EXTRA)
{
	PTO_CHECK("TMRGSORT", checking_::VECTOR, checking_::APART, checking_::out(d),
		  checking_::in(src));
	sort_::groups(d, src, int64_t(block));
	return {};
}
/* Merges two to four sorted lists. */
template <typename D, typename Tmp, typename S0, typename S1, bool Exhausted, PTO_EXTRA_T>
PTO_INST RecordEvent TMRGSORT(D &d, MrgSortExecutedNumList &executed, Tmp &, const S0 &s0,
			      const S1 &s1, PTO_EXTRA)
{
	PTO_CHECK("TMRGSORT", checking_::VECTOR, checking_::APART, checking_::out(d),
		  checking_::in(s0), checking_::in(s1));
	sort_::lists<Exhausted>(d, executed, s0, s1);
	return {};
}
template <typename D, typename Tmp, typename S0, typename S1, typename S2, bool Exhausted,
	  PTO_EXTRA_T>
PTO_INST RecordEvent TMRGSORT(D &d, MrgSortExecutedNumList &executed, Tmp &, const S0 &s0,
			      const S1 &s1, const S2 &s2, PTO_EXTRA)
{
	PTO_CHECK("TMRGSORT", checking_::VECTOR, checking_::APART, checking_::out(d),
		  checking_::in(s0), checking_::in(s1), checking_::in(s2));
	sort_::lists<Exhausted>(d, executed, s0, s1, s2);
	return {};
}
template <typename D, typename Tmp, typename S0, typename S1, typename S2, typename S3,
	  bool Exhausted, PTO_EXTRA_T>
PTO_INST RecordEvent TMRGSORT(D &d, MrgSortExecutedNumList &executed, Tmp &, const S0 &s0,
			      const S1 &s1, const S2 &s2, const S3 &s3, PTO_EXTRA)
{
	PTO_CHECK("TMRGSORT", checking_::VECTOR, checking_::APART, checking_::out(d),
		  checking_::in(s0), checking_::in(s1), checking_::in(s2), checking_::in(s3));
	sort_::lists<Exhausted>(d, executed, s0, s1, s2, s3);
	return {};
}

/* Columns of the scratch tile of a k-way TMRGSORT. */
template <typename... S>
constexpr uint32_t GETMRGSORTTMPSIZE()
{
	return (uint32_t(S::Cols) + ...);
}

} // namespace pto

#endif
