// SPDX-License-Identifier: MIT
/* Sorting and merging of records (pto-isa §4.13). */
#include <algorithm>

#include "element.hpp"
#include "fake_core.hpp"

using namespace check;

namespace {

struct item {
	double value;
	uint32_t index;
};
bool comes_first(const item &a, const item &b)
{
	return a.value != b.value ? a.value > b.value : a.index < b.index;
}
bool by_value(const item &a, const item &b) { return a.value > b.value; }

/* Record @i of a run of float or half words. */
template <typename T>
item record_at(const T *words, int i)
{
	const uint8_t *p = reinterpret_cast<const uint8_t *>(words) + 8 * i;
	T v;
	item r;

	memcpy(static_cast<void *>(&v), p, sizeof(v));
	memcpy(&r.index, p + 4, 4);
	r.value = double(float(v));
	return r;
}

template <typename T>
void put_record(T *words, int i, item r)
{
	uint8_t *p = reinterpret_cast<uint8_t *>(words) + 8 * i;
	const T v = T(float(r.value));

	memset(p, 0, 8);
	memcpy(p, &v, sizeof(v));
	memcpy(p + 4, &r.index, 4);
}

template <typename T, int Rows, int Cols>
void sorts(context &t, int rows, int cols, int distinct)
{
	constexpr int W = 8 / int(sizeof(T));
	Part<T, Rows, Cols> src(rows, cols);
	Part<uint32_t, Rows, Cols> idx(rows, cols);
	Full<T, Rows, Cols * W> d;
	place at;

	covers(t, "TSORT32", src);
	at.put(src), at.put(idx), at.put(d);
	for (int i = 0; i < Rows * Cols; i++) {
		src.data()[i] = T(float(t.below(distinct) - distinct / 2) / 8.0f);
		idx.data()[i] = uint32_t(i % Cols);
	}
	fill(t, d);
	const auto before = copy_of(d);

	TSORT32(d, src, idx, src);
	for (int r = 0; r < rows; r++)
		for (int b = 0; b < cols; b += 32) {
			std::vector<item> want;

			for (int c = b; c < cols && c < b + 32; c++)
				want.push_back({double(float(now(src, r, c))), uint32_t(c)});
			std::sort(want.begin(), want.end(), comes_first);
			for (size_t i = 0; i < want.size(); i++) {
				const item got = record_at(d.data() + r * Cols * W + b * W, int(i));

				if (!t.expect(got.value == want[i].value &&
						      got.index == want[i].index,
					      "TSORT32 %s row %d block %d record %zu: %g at %u, "
					      "expected "
					      "%g at %u",
					      type_name<T>(), r, b / 32, i, got.value, got.index,
					      want[i].value, want[i].index))
					return;
			}
		}
	untouched(t, "TSORT32", d, before, rows, cols * W);
}

/* A sorted run of @n records with indices from @first. */
template <typename T>
std::vector<item> make_run(context &t, T *words, int n, uint32_t first, int distinct)
{
	std::vector<item> run;

	for (int i = 0; i < n; i++)
		run.push_back({double(t.below(distinct)) / 4.0, first + uint32_t(i)});
	std::sort(run.begin(), run.end(), comes_first);
	for (int i = 0; i < n; i++)
		put_record(words, i, run[i]);
	return run;
}

template <typename T>
void merges_groups(context &t, int per_block, int blocks)
{
	constexpr int W = 8 / int(sizeof(T));
	Part<T, 1, 1024 * 4> src(1, per_block * blocks * W), d(1, 1024 * 4);
	std::vector<item> all;
	place at;

	covers(t, "TMRGSORT (blocks)", src);
	at.put(src), at.put(d);
	fill(t, d);
	const auto before = copy_of(d);

	for (int b = 0; b < blocks; b++) {
		const auto run = make_run(t, src.data() + b * per_block * W, per_block,
					  uint32_t(b * per_block), 40);

		all.insert(all.end(), run.begin(), run.end());
	}
	TMRGSORT(d, src, per_block * W);
	for (int g = 0; g + 4 <= blocks; g += 4) {
		std::vector<item> want(all.begin() + g * per_block,
				       all.begin() + (g + 4) * per_block);

		std::stable_sort(want.begin(), want.end(), by_value);
		for (size_t i = 0; i < want.size(); i++) {
			const item got = record_at(d.data(), g * per_block + int(i));

			t.expect(got.value == want[i].value && got.index == want[i].index,
				 "TMRGSORT group %d record %zu", g / 4, i);
		}
	}
	untouched(t, "TMRGSORT", d, before, 1, blocks / 4 * 4 * per_block * W);
}

/* Merges by taking the best head, the lower list first; stops at an empty list when told to. */
std::vector<item> merged(const std::vector<std::vector<item>> &in, bool exhausted,
			 std::vector<int> &taken)
{
	std::vector<item> out;

	taken.assign(4, 0);
	for (;;) {
		int best = -1;

		for (size_t i = 0; i < in.size(); i++) {
			if (taken[i] == int(in[i].size())) {
				if (exhausted)
					return out;
				continue;
			}
			if (best < 0 || in[i][taken[i]].value > in[best][taken[best]].value)
				best = int(i);
		}
		if (best < 0)
			return out;
		out.push_back(in[best][taken[best]++]);
	}
}

template <typename T, int Lists, bool Exhausted>
void merges_lists(context &t)
{
	constexpr int W = 8 / int(sizeof(T));
	using L = Part<T, 1, 64 * 4>;
	L s[4] = {L(1, 20 * W), L(1, 64 * W), L(1, 32 * W), L(1, 7 * W)};
	const int sizes[4] = {20, 64, 32, 7};
	Part<T, 1, 1024> d(1, 1024), tmp(1, 1024);
	std::vector<std::vector<item>> in;
	std::vector<int> taken;
	MrgSortExecutedNumList ex;
	place at;

	covers(t, "TMRGSORT (lists)", s[0]);
	at.put(d), at.put(tmp);
	fill(t, d);
	for (int i = 0; i < Lists; i++) {
		at.put(s[i]);
		in.push_back(make_run(t, s[i].data(), sizes[i], uint32_t(1000 * i), 50));
	}
	const auto before = copy_of(d);
	const auto want = merged(in, Exhausted, taken);

	if constexpr (Lists == 2)
		TMRGSORT<decltype(d), decltype(tmp), L, L, Exhausted>(d, ex, tmp, s[0], s[1]);
	else if constexpr (Lists == 3)
		TMRGSORT<decltype(d), decltype(tmp), L, L, L, Exhausted>(d, ex, tmp, s[0], s[1],
									 s[2]);
	else
		TMRGSORT<decltype(d), decltype(tmp), L, L, L, L, Exhausted>(d, ex, tmp, s[0], s[1],
									    s[2], s[3]);
	for (size_t i = 0; i < want.size(); i++) {
		const item got = record_at(d.data(), int(i));

		t.expect(got.value == want[i].value && got.index == want[i].index,
			 "%d-way TMRGSORT record %zu: %g at %u, expected %g at %u", Lists, i,
			 got.value, got.index, want[i].value, want[i].index);
	}
	t.expect(ex.mrgSortList0 == taken[0] && ex.mrgSortList1 == taken[1] &&
			 ex.mrgSortList2 == taken[2] && ex.mrgSortList3 == taken[3],
		 "%d-way TMRGSORT took %d %d %d %d", Lists, ex.mrgSortList0, ex.mrgSortList1,
		 ex.mrgSortList2, ex.mrgSortList3);
	untouched(t, "TMRGSORT", d, before, 1, int(want.size()) * W);
}

template <typename T>
void sorts_of_type(context &t)
{
	sorts<T, 1, 32>(t, 1, 32, 1000);
	sorts<T, 4, 128>(t, 4, 128, 9);
	sorts<T, 4, 128>(t, 3, 77, 200);
	sorts<T, 4, 128>(t, 2, 1, 4);
}
template <typename T>
void merges_of_type(context &t)
{
	merges_groups<T>(t, 32, 4);
	merges_groups<T>(t, 32, 10);
	merges_groups<T>(t, 128, 8);
	merges_lists<T, 2, false>(t);
	merges_lists<T, 2, true>(t);
	merges_lists<T, 3, false>(t);
	merges_lists<T, 3, true>(t);
	merges_lists<T, 4, false>(t);
	merges_lists<T, 4, true>(t);
}

} // namespace

CHECK(tsort32_sorts_each_block_descending_equal_values_by_index)
{
	sorts_of_type<float>(t);
	sorts_of_type<half>(t);
}
CHECK(tmrgsort_merges_groups_of_four_blocks_and_lists)
{
	merges_of_type<float>(t);
	merges_of_type<half>(t);
}
CHECK(scratch_of_tmrgsort_is_the_sum_of_the_columns)
{
	t.expect(GETMRGSORTTMPSIZE<Full<float, 1, 64>, Full<float, 1, 128>>() == 192, "two lists");
	t.expect(GETMRGSORTTMPSIZE<Full<half, 1, 64>, Full<half, 1, 64>, Full<half, 1, 32>,
				   Full<half, 1, 16>>() == 176,
		 "four lists");
}
CHECK(a_wrong_block_length_ends_the_run)
{
	fake_core core;
	Full<float, 1, 256> s, d;

	TASSIGN(s, 0), TASSIGN(d, 4096);
	t.expect(core.fails([&] { TMRGSORT(d, s, 48); }) && strstr(core.text, "block length 48"),
		 "%s", core.text);
	t.expect(core.fails([&] { TMRGSORT(d, s, 0); }), "block length 0");
}

#include "exports.hpp"
