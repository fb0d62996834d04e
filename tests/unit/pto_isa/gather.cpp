// SPDX-License-Identifier: MIT
/* Gathering and scattering in tiles and in memory (pto-isa §4.11). */
#include "element.hpp"
#include "fake_core.hpp"

using namespace check;

namespace
{

using movable = type_list<float, half, bfloat16_t, int16_t, uint16_t, int32_t, uint32_t>;

template <typename I, typename T, typename D, typename S>
bool gathers_index(context &t, const char *what, D d, S src)
{
	using X = Part<I, 8, 64>;
	X idx(d.GetValidRow(), d.GetValidCol());
	place at;
	const long total = long(S::Rows) * S::Cols;

	covers(t, "TGATHER (index)", d), covers(t, "TGATHER (index)", src);
	at.put(d), at.put(src), at.put(idx);
	fill(t, d), fill(t, src);
	for (size_t i = 0; i < X::Extent; i++)
		idx.data()[i] = I(t.below(int(total) + 8) - 4);
	const auto before = copy_of(d);

	TGATHER(d, src, idx, idx);
	for (int r = 0; r < d.GetValidRow(); r++)
		for (int c = 0; c < d.GetValidCol(); c++) {
			const long i = long(idx.data()[r * 64 + c]);
			const T want = i < 0 || i >= total
					       ? T(0)
					       : now(src, int(i / S::Cols), int(i % S::Cols));

			if (!t.expect(raw(now(d, r, c)) == raw(want),
				      "%s: element (%d, %d), index %ld", what, r, c, i))
				return false;
		}
	return untouched(t, what, d, before, d.GetValidRow(), d.GetValidCol());
}

template <typename T>
void index_of_type(context &t)
{
	char what[32];

	snprintf(what, sizeof(what), "TGATHER %s", type_name<T>());
	gathers_index<int32_t, T>(t, what, Part<T, 8, 64>(8, 64), Part<T, 8, 64>(8, 64));
	gathers_index<int32_t, T>(t, what, Part<T, 8, 64>(5, 51), Part<T, 4, 32>(3, 7));
	gathers_index<int16_t, T>(t, what, Part<T, 8, 64>(1, 1), Dn<T, 32, 8>(7, 3));
	gathers_index<uint32_t, T>(t, what, Part<T, 8, 64>(7, 45), Nz<T, 32, 64>(32, 64));
	gathers_index<uint16_t, T>(t, what, Part<T, 8, 64>(7, 45), Part<T, 8, 64>(8, 64));
}
template <typename... T>
void index_all(context &t, type_list<T...>)
{
	(index_of_type<T>(t), ...);
}

constexpr int PERIODS[8][4] = {{},	     {1, 0, 1, 0}, {0, 1, 0, 1}, {1, 0, 0, 0},
			       {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}, {1, 1, 1, 1}};

template <MaskPattern P, typename T>
void masked(context &t, int rows, int cols)
{
	Part<T, 8, 64> src(rows, cols), d(8, 64), back(rows, cols);
	place at;
	int n = 0;

	covers(t, "TGATHER (mask)", src), covers(t, "TSCATTER (mask)", src);

	at.put(src), at.put(d), at.put(back);
	fill(t, src), fill(t, d), fill(t, back);
	const auto before = copy_of(d);

	TGATHER<decltype(d), decltype(src), P>(d, src);
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < cols; c++)
			if (PERIODS[int(P)][c % 4]) {
				t.expect(raw(d.data()[n]) == raw(now(src, r, c)),
					 "masked TGATHER: element %d", n);
				n++;
			}
	for (int i = n; i < 512; i++)
		t.expect(raw(d.data()[i]) == raw(before[i]), "masked TGATHER: element %d written",
			 i);
	TSCATTER<P>(back, d);
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < cols; c++)
			t.expect(raw(now(back, r, c)) ==
					 (PERIODS[int(P)][c % 4] ? raw(now(src, r, c)) : 0),
				 "masked TSCATTER: element (%d, %d)", r, c);
	/* along columns */
	TGATHER<decltype(d), decltype(src), P, GatherAxis::COL>(d, src);
	for (int r = 0, out = 0; r < rows; r++) {
		if (!PERIODS[int(P)][r % 4])
			continue;
		for (int c = 0; c < cols; c++)
			t.expect(raw(now(d, out, c)) == raw(now(src, r, c)),
				 "TGATHER by rows: element (%d, %d)", out, c);
		out++;
	}
	TSCATTER<P, ScatterAxis::COL>(back, d);
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < cols; c++)
			t.expect(raw(now(back, r, c)) ==
					 (PERIODS[int(P)][r % 4] ? raw(now(src, r, c)) : 0),
				 "TSCATTER by rows: element (%d, %d)", r, c);
}

template <typename T>
void masks_of_type(context &t)
{
	masked<MaskPattern::P0101, T>(t, 7, 51);
	masked<MaskPattern::P1010, T>(t, 8, 64);
	masked<MaskPattern::P0001, T>(t, 3, 5);
	masked<MaskPattern::P0010, T>(t, 5, 33);
	masked<MaskPattern::P0100, T>(t, 1, 1);
	masked<MaskPattern::P1000, T>(t, 6, 63);
	masked<MaskPattern::P1111, T>(t, 8, 64);
}
template <typename... T>
void masks_all(context &t, type_list<T...>)
{
	(masks_of_type<T>(t), ...);
}

template <CmpMode Mode, typename T>
void compares(context &t, int rows, int cols)
{
	Part<T, 8, 64> src(rows, cols);
	Part<int32_t, 8, 64> d(rows, cols);
	Tile<TileType::Vec, int32_t, 8, 8, BLayout::RowMajor, -1, -1> count(rows, 1);
	place at;
	const T k = T(3);

	covers(t, "TGATHER (compare)", src);
	at.put(src), at.put(d), at.put(count);
	for (size_t i = 0; i < 512; i++)
		src.data()[i] = T(t.below(6));
	TGATHER<decltype(d), decltype(src), decltype(count), decltype(src), Mode, 7>(d, src, k,
										     count, src);
	for (int r = 0; r < rows; r++) {
		int n = 0;

		for (int c = 0; c < cols; c++) {
			const double v = double(wide(now(src, r, c)));

			if (Mode == CmpMode::EQ ? v == 3 : v > 3) {
				t.expect(now(d, r, n) == c + 7, "compare TGATHER: (%d, %d) is %d",
					 r, n, now(d, r, n));
				n++;
			}
		}
		t.expect(now(count, r, 0) == n, "compare TGATHER: count of row %d is %d, not %d", r,
			 now(count, r, 0), n);
	}
}

/* Index words of the element's width; of two bytes for single bytes. */
template <typename T>
using index_of = std::conditional_t<sizeof(T) == 4, int32_t, int16_t>;

template <typename I, typename P>
void scatters_on(context &t, int rows, int cols)
{
	using T = typename P::DType;
	using X = Part<I, 8, 64>;
	P src(rows, cols);
	Part<T, 8, 64> d(8, 64);
	X idx(rows, cols);
	place at;

	covers(t, "TSCATTER (index)", src);
	at.put(src), at.put(d), at.put(idx);
	fill(t, src), fill(t, d);
	for (size_t i = 0; i < X::Extent; i++)
		idx.data()[i] = I(t.below(512));
	auto want = copy_of(d);

	for (int r = 0; r < rows; r++)
		for (int c = 0; c < cols; c++)
			want[size_t(idx.data()[r * 64 + c])] = now(src, r, c);
	TSCATTER(d, src, idx);
	for (int i = 0; i < 512; i++)
		t.expect(raw(d.data()[i]) == raw(want[size_t(i)]), "TSCATTER %s: element %d",
			 type_name<T>(), i);
}
template <typename T>
void scatters_of_type(context &t)
{
	scatters_on<index_of<T>, Part<T, 8, 64>>(t, 7, 45);
	scatters_on<index_of<T>, Part<T, 8, 64>>(t, 8, 64);
	scatters_on<index_of<T>, Part<T, 8, 64>>(t, 1, 1);
	scatters_on<index_of<T>, Dn<T, 32, 8>>(t, 8, 7);
	scatters_on<int32_t, Part<T, 8, 64>>(t, 7, 45);
}
template <typename... T>
void scatters_all(context &t, type_list<T...>)
{
	(scatters_of_type<T>(t), ...);
}

/* A table of 6 x 16 with gaps, as rows and as elements. */
template <typename T>
struct gapped {
	T mem[6 * 40];
	using G = GlobalTensor<T, Shape<1, 1, 2, 3, 16>, Stride<1, 1, 120, 40, 2>>;
	G g{mem};

	T &at(int row, int col)
	{
		return mem[row / 3 * 120 + row % 3 * 40 + col * 2];
	}
};

template <typename T>
void memory_of_type(context &t)
{
	gapped<T> tab;
	Part<T, 8, 64> d(8, 11), e(5, 37);
	Tile<TileType::Vec, int32_t, 8, 8, BLayout::RowMajor, 8, 1> rows;
	Part<int32_t, 8, 64> elems(5, 37);
	place at;

	covers(t, "MGATHER", d), covers(t, "MGATHER", e);
	at.put(d), at.put(e), at.put(rows), at.put(elems);
	for (T &v : tab.mem)
		v = random_value<T>(t, false);
	for (int r = 0; r < 8; r++)
		rows.data()[r * 8] = t.below(10) - 2;
	for (int i = 0; i < 512; i++)
		elems.data()[i] = t.below(120) - 12;
	const auto check = [&](const char *what, auto &tile, int r, int c, int row, int col) {
		const T want = row < 0 ? T(0) : tab.at(row, col);

		t.expect(raw(now(tile, r, c)) == raw(want), "%s %s: (%d, %d)", what, type_name<T>(),
			 r, c);
	};

	MGATHER<Coalesce::Row, GatherOOB::Clamp>(d, tab.g, rows);
	for (int r = 0; r < 8; r++)
		for (int c = 0; c < 11; c++) {
			const int i = rows.data()[r * 8];

			check("MGATHER clamp", d, r, c, i < 0 ? 0 : i > 5 ? 5 : i, c);
		}
	MGATHER<GatherOOB::Zero>(d, tab.g, rows);
	for (int r = 0; r < 8; r++)
		for (int c = 0; c < 11; c++) {
			const int i = rows.data()[r * 8];

			check("MGATHER zero", d, r, c, i < 0 || i > 5 ? -1 : i, c);
		}
	MGATHER<Coalesce::Elem, GatherOOB::Wrap>(e, tab.g, elems);
	for (int r = 0; r < 5; r++)
		for (int c = 0; c < 37; c++) {
			const int i = (elems.data()[r * 64 + c] + 96) % 96;

			check("MGATHER wrap", e, r, c, i / 16, i % 16);
		}
}

template <ScatterAtomicOp Op, typename T>
T combined(T old, T v)
{
	if (Op == ScatterAtomicOp::None)
		return v;
	if (Op == ScatterAtomicOp::Add)
		return T(old + v);
	if (Op == ScatterAtomicOp::Max)
		return old < v ? v : old;
	return v < old ? v : old;
}

template <ScatterAtomicOp Op, typename T>
void scatters_memory(context &t)
{
	gapped<T> tab, want;
	Part<T, 8, 64> src(7, 37), rows_src(8, 16);
	Part<int32_t, 8, 64> idx(7, 37);
	Tile<TileType::Vec, int32_t, 8, 8, BLayout::RowMajor, 8, 1> rows;
	place at;

	covers(t, "MSCATTER", src), covers(t, "MSCATTER", rows_src);
	at.put(src), at.put(rows_src), at.put(idx), at.put(rows);
	for (T &v : tab.mem)
		v = T(t.below(50));
	memcpy(static_cast<void *>(want.mem), tab.mem, sizeof(tab.mem));
	for (int i = 0; i < 512; i++) {
		src.data()[i] = T(t.below(50));
		rows_src.data()[i] = T(t.below(50));
		idx.data()[i] = t.below(110) - 7;
	}
	for (int r = 0; r < 8; r++)
		rows.data()[r * 8] = t.below(9) - 1;
	for (int r = 0; r < 7; r++)
		for (int c = 0; c < 37; c++) {
			const int i = idx.data()[r * 64 + c];

			if (i >= 0 && i < 96) {
				T &to = want.at(i / 16, i % 16);

				to = combined<Op>(to, now(src, r, c));
			}
		}
	for (int r = 0; r < 8; r++)
		for (int c = 0; c < 16; c++) {
			const int i = rows.data()[r * 8];
			T &to = want.at(i < 0 ? 0 : i > 5 ? 5 : i, c);

			to = combined<Op>(to, now(rows_src, r, c));
		}
	MSCATTER<Coalesce::Elem, Op, ScatterOOB::Skip>(tab.g, src, idx);
	MSCATTER<Coalesce::Row, Op, ScatterOOB::Clamp>(tab.g, rows_src, rows);
	for (int i = 0; i < 240; i++)
		t.expect(raw(tab.mem[i]) == raw(want.mem[i]), "MSCATTER %s op %d: word %d",
			 type_name<T>(), int(Op), i);
}
template <typename T>
void scatters_memory_all(context &t)
{
	scatters_memory<ScatterAtomicOp::None, T>(t);
	scatters_memory<ScatterAtomicOp::Add, T>(t);
	scatters_memory<ScatterAtomicOp::Max, T>(t);
	scatters_memory<ScatterAtomicOp::Min, T>(t);
}

} // namespace

CHECK(tgather_by_index_takes_elements_of_the_box_and_zero_beyond)
{
	index_all(t, movable());
	index_all(t, type_list<int8_t, uint8_t>());
}
CHECK(tgather_and_tscatter_by_mask_are_inverse)
{
	masks_all(t, movable());
}
CHECK(tgather_by_comparison_lists_columns_and_counts)
{
	const auto both = [&](auto v, int rows, int cols) {
		compares<CmpMode::EQ, decltype(v)>(t, rows, cols);
		compares<CmpMode::GT, decltype(v)>(t, rows, cols);
	};

	both(float(), 5, 51), both(half(), 8, 64), both(int32_t(), 1, 1), both(int32_t(), 8, 64);
	both(int16_t(), 7, 33), both(float(), 8, 64), both(half(), 3, 5), both(int16_t(), 8, 64);
}
CHECK(tscatter_by_index_keeps_the_last_writer)
{
	scatters_all(t, movable());
	scatters_all(t, type_list<int8_t, uint8_t>());
}
template <typename T>
static void gathers_blocks(context &t, int rows, int cols)
{
	constexpr int block = 32 / int(sizeof(T));
	constexpr uint32_t bytes = 8 * 32 * sizeof(T);
	Part<T, 4, 64> d(rows, cols);
	Full<T, 8, 32> src;
	Full<uint32_t, 4, 16> off;
	place at;

	covers(t, "TGATHERB", d);
	at.put(d), at.put(src), at.put(off);
	fill(t, d), fill(t, src);
	for (int i = 0; i < 64; i++)
		off.data()[i] = uint32_t(t.below(int(bytes / 32) + 4)) * 32;
	const auto before = copy_of(d);

	TGATHERB(d, src, off);
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < cols; c++) {
			const uint32_t o = off.data()[r * 16 + c / block];
			const T want = o >= bytes ? before[size_t(r * 64 + c)]
						  : src.data()[o / sizeof(T) + size_t(c % block)];

			t.expect(raw(now(d, r, c)) == raw(want), "TGATHERB %s (%d, %d)",
				 type_name<T>(), r, c);
		}
	untouched(t, "TGATHERB", d, before, rows, cols);
}
template <typename... T>
static void gathers_blocks_all(context &t, type_list<T...>)
{
	((gathers_blocks<T>(t, 3, 61), gathers_blocks<T>(t, 4, 64), gathers_blocks<T>(t, 1, 1)),
	 ...);
}
CHECK(tgatherb_copies_blocks_and_leaves_what_is_out_of_range)
{
	gathers_blocks_all(t, movable());
	gathers_blocks_all(t, type_list<int8_t, uint8_t>());
}
CHECK(mgather_reads_rows_and_elements_of_tensors_with_gaps)
{
	memory_of_type<float>(t);
	memory_of_type<half>(t);
	memory_of_type<bfloat16_t>(t);
	memory_of_type<int32_t>(t), memory_of_type<uint32_t>(t);
	memory_of_type<int8_t>(t), memory_of_type<uint8_t>(t);
	memory_of_type<int16_t>(t), memory_of_type<uint16_t>(t);
}
CHECK(mscatter_writes_and_combines)
{
	scatters_memory_all<float>(t);
	scatters_memory_all<half>(t), scatters_memory_all<bfloat16_t>(t);
	scatters_memory_all<int32_t>(t), scatters_memory_all<uint32_t>(t);
	scatters_memory_all<int16_t>(t), scatters_memory_all<int8_t>(t);
}
CHECK(indices_beyond_the_destination_or_table_end_the_run)
{
	fake_core core;
	Full<float, 1, 8> src, d;
	Full<int32_t, 1, 8> idx;
	float mem[8];
	GlobalTensor<float, Shape<1, 1, 1, 1, 8>, Stride<1, 1, 1, 8, 1>> g(mem);

	TASSIGN(src, 0), TASSIGN(d, 64), TASSIGN(idx, 128);
	TEXPANDS(idx, 8);
	t.expect(core.fails([&] { TSCATTER(d, src, idx); }) && strstr(core.text, "index 8"), "%s",
		 core.text);
	t.expect(core.fails([&] { MGATHER<Coalesce::Elem>(d, g, idx); }) &&
			 strstr(core.text, "not within the table's 8 entries"),
		 "%s", core.text);
	t.expect(core.fails([&] { MSCATTER<Coalesce::Elem>(g, src, idx); }) &&
			 strstr(core.text, "index 8"),
		 "%s", core.text);
}

#include "exports.hpp"
