// SPDX-License-Identifier: MIT
/* Transposition, padding, partial operations, generation, printing (pto-isa §4.10, §4.14). */
#include "refs.hpp"

#include <unistd.h>

using namespace check;

namespace
{

using movable =
	type_list<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, half, bfloat16_t, float>;

template <typename D, typename S>
bool transpose_on(context &t, D d, S s)
{
	place at;

	covers(t, "TTRANS", s);
	at.put(d), at.put(s);
	fill(t, d), fill(t, s);
	const auto before = copy_of(d);

	TTRANS(d, s, s);
	for (int r = 0; r < s.GetValidRow(); r++)
		for (int c = 0; c < s.GetValidCol(); c++)
			if (!t.expect(raw(now(d, c, r)) == raw(now(s, r, c)),
				      "TTRANS %s: source element (%d, %d)",
				      type_name<typename S::DType>(), r, c))
				return false;
	return untouched(t, "TTRANS", d, before, s.GetValidCol(), s.GetValidRow());
}
template <typename... T>
void transpose_all(context &t, type_list<T...>)
{
	(void)((transpose_on(t, Part<T, 64, 32>(41, 23), Part<T, 32, 64>(23, 41)) &&
		transpose_on(t, Part<T, 64, 32>(64, 32), Part<T, 32, 64>(32, 64)) &&
		transpose_on(t, Part<T, 64, 32>(3, 2), Part<T, 32, 64>(2, 3)) &&
		transpose_on(t, Dn<T, 64, 32>(41, 23), Part<T, 32, 64>(23, 41)) &&
		transpose_on(t, Part<T, 64, 32>(41, 23), Dn<T, 32, 64>(23, 41)) &&
		transpose_on(t, Part<T, 64, 32>(41, 23), Nz<T, 32, 64>(23, 41)) &&
		transpose_on(t, Nz<T, 64, 32>(41, 23), Nz<T, 32, 64>(23, 41))) &&
	       ...);
}

template <typename T, PadValue Pad, int R = 8, int C = 64>
using Padded = Tile<TileType::Vec, T, R, C, BLayout::RowMajor, -1, -1, SLayout::NoneBox, 512, Pad>;

template <typename D, typename S>
bool padded_as_expected(context &t, const char *op, const D &d,
			const std::vector<typename S::DType> &src, int rows, int cols, uint64_t pad)
{
	for (int r = 0; r < D::Rows; r++)
		for (int c = 0; c < D::Cols; c++) {
			const uint64_t want =
				r < rows && c < cols ? raw(src[spec_offset<S>(r, c)]) : pad;

			if (!t.expect(raw(now(d, r, c)) == want,
				      "%s %s: element (%d, %d) is %#llx, expected %#llx", op,
				      type_name<typename D::DType>(), r, c,
				      static_cast<unsigned long long>(raw(now(d, r, c))),
				      static_cast<unsigned long long>(want)))
				return false;
		}
	return true;
}

/* From a tile to one of its own box and layout. */
template <typename T, PadValue Pad, typename S>
bool pad_layout(context &t, int rows, int cols, uint64_t bits)
{
	using D = Tile<TileType::Vec, T, S::Rows, S::Cols, S::BFractal, S::Rows, S::Cols,
		       SLayout::NoneBox, 512, Pad>;
	S s(rows, cols);
	D d;
	place at;

	covers(t, "TFILLPAD", s);
	at.put(s), at.put(d);
	fill(t, s), fill(t, d);
	const auto src = copy_of(s);

	TFILLPAD(d, s);
	return padded_as_expected<D, S>(t, "TFILLPAD", d, src, rows, cols, bits);
}

template <typename T, PadValue Pad>
bool pad_on(context &t, uint64_t bits)
{
	using S = Part<T, 8, 64>;
	place at;
	S s(5, 37);
	Padded<T, Pad> d(8, 64), big(8, 64);
	Padded<T, Pad, 16, 96> wide_d(16, 96);

	for (const char *op : {"TFILLPAD", "TFILLPAD_INPLACE", "TFILLPAD_EXPAND"})
		covers(t, op, s);
	at.put(s), at.put(d), at.put(wide_d);
	fill(t, s), fill(t, d), fill(t, wide_d);
	const auto src = copy_of(s);

	TFILLPAD(d, s);
	if (!padded_as_expected<decltype(d), S>(t, "TFILLPAD", d, src, 5, 37, bits))
		return false;
	TFILLPAD_EXPAND(wide_d, s);
	if (!padded_as_expected<decltype(wide_d), S>(t, "TFILLPAD_EXPAND", wide_d, src, 5, 37,
						     bits))
		return false;
	TASSIGN(big, s.data());
	TFILLPAD_INPLACE(big, s);
	if (!padded_as_expected<decltype(big), S>(t, "TFILLPAD_INPLACE", big, src, 5, 37, bits))
		return false;
	return pad_layout<T, Pad, Dn<T, 32, 8>>(t, 29, 5, bits) &&
	       pad_layout<T, Pad, Part<T, 8, 64>>(t, 8, 64, bits);
}

template <typename T>
bool pads_of(context &t, uint64_t max, uint64_t min)
{
	return pad_on<T, PadValue::Zero>(t, 0) && pad_on<T, PadValue::Max>(t, max) &&
	       pad_on<T, PadValue::Min>(t, min);
}

/* Tiles of type P whose valid regions overlap in every way; the first shape is that of d. */
template <typename P, typename Call, typename Ref>
bool part(context &t, const char *op, const Call &call, const Ref &ref, int rows, int cols)
{
	using T = typename P::DType;
	const int shapes[][4] = {{rows, cols, rows, cols},     {rows, cols, rows, cols / 2},
				 {rows / 2, cols, rows, cols}, {3, 2, rows, cols - 1},
				 {rows, 2, 3, cols - 1},       {0, cols, rows, cols}};

	for (auto &v : shapes) {
		place at;
		P d(rows, cols), a(v[0], v[1]), b(v[2], v[3]);

		covers(t, op, d);
		at.put(d), at.put(a), at.put(b);
		fill(t, d), fill(t, a), fill(t, b);
		const auto before = copy_of(d);

		call(d, a, b);
		for (int r = 0; r < rows; r++)
			for (int c = 0; c < cols; c++) {
				const bool in_a = r < v[0] && c < v[1], in_b = r < v[2] && c < v[3];
				const auto x = wide(now(a, r, c)), y = wide(now(b, r, c));
				const auto want = in_a && in_b ? expected<T>(ref(x, y))
						  : in_a       ? x
						  : in_b       ? y
							       : decltype(x)(0);

				if (!matches(t, op, r, c, now(d, r, c), want))
					return false;
			}
		if (!untouched(t, op, d, before, rows, cols))
			return false;
	}
	return true;
}

template <typename Call, typename Ref, typename... T>
void parts(context &t, const char *op, const Call &call, const Ref &ref, type_list<T...>)
{
	(void)((part<Part<T, 8, 64>>(t, op, call, ref, 7, 50) &&
		part<Part<T, 8, 64>>(t, op, call, ref, 8, 64) &&
		part<Dn<T, 32, 8>>(t, op, call, ref, 29, 7) &&
		part<Nz<T, 32, 64>>(t, op, call, ref, 19, 37)) &&
	       ...);
}

#define PARTIAL(INST, REF)                                                         \
	parts(                                                                     \
		t, #INST, [](auto &d, auto &a, auto &b) { INST(d, a, b); }, REF(), \
		type_list<float, half, bfloat16_t, int8_t, int16_t, int32_t>())

} // namespace

CHECK(ttrans_exchanges_rows_and_columns)
{
	transpose_all(t, movable());
}
CHECK(tfillpad_writes_the_whole_box)
{
	(void)(pads_of<float>(t, 0x7f800000u, 0xff800000u) && pads_of<half>(t, 0x7c00, 0xfc00) &&
	       pads_of<bfloat16_t>(t, 0x7f80, 0xff80) &&
	       pads_of<int32_t>(t, 0x7fffffff, 0x80000000u) &&
	       pads_of<int16_t>(t, 0x7fff, 0x8000) && pads_of<int8_t>(t, 0x7f, 0x80) &&
	       pads_of<uint32_t>(t, 0xffffffffu, 0) && pads_of<uint16_t>(t, 0xffff, 0) &&
	       pads_of<uint8_t>(t, 0xff, 0));
	(void)(pad_on<float, PadValueCustom(-2.5f)>(t, 0xc0200000u) &&
	       pad_on<half, PadValueCustom16(0x3c00)>(t, 0x3c00));
}
CHECK(tfillpad_of_a_boxed_mat_tile_pads_with_zero)
{
	using S = Tile<TileType::Mat, half, 32, 32, BLayout::ColMajor, -1, -1, SLayout::RowMajor>;
	using D = Tile<TileType::Mat, half, 32, 32, BLayout::ColMajor, 32, 32, SLayout::RowMajor,
		       512, PadValue::Zero>;
	place at;
	S s(19, 21);
	D d;

	at.put(s), at.put(d);
	fill(t, s), fill(t, d);
	const auto src = copy_of(s);

	TFILLPAD(d, s);
	padded_as_expected<D, S>(t, "TFILLPAD", d, src, 19, 21, 0);
}
CHECK(tfillpad_of_nothing_does_nothing)
{
	place at;
	Part<float, 8, 64> s(0, 0);
	Padded<float, PadValue::Max> d(0, 64);

	at.put(s), at.put(d);
	fill(t, d);
	const auto before = copy_of(d);

	TFILLPAD(d, s);
	untouched(t, "TFILLPAD", d, before, 0, 0);
}
CHECK(tpartadd_copies_where_one_operand_is_valid)
{
	PARTIAL(TPARTADD, r_add);
}
CHECK(tpartmul_copies_where_one_operand_is_valid)
{
	PARTIAL(TPARTMUL, r_mul);
}
CHECK(tpartmax_copies_where_one_operand_is_valid)
{
	PARTIAL(TPARTMAX, r_max);
}
CHECK(tpartmin_copies_where_one_operand_is_valid)
{
	PARTIAL(TPARTMIN, r_min);
}
template <typename P, typename I>
static void part_args(context &t, int rows, int cols, int cols_b)
{
	using T = typename P::DType;
	P a(rows, cols), b(rows, cols_b), d(rows, cols);
	I ai(rows, cols), bi(rows, cols_b), di(rows, cols);
	place at;

	at.put(a), at.put(b), at.put(d), at.put(ai), at.put(bi), at.put(di);
	for (int i = 0; i < int(P::Extent); i++) {
		a.data()[i] = T(t.below(4)), b.data()[i] = T(t.below(4));
		ai.data()[i] = i, bi.data()[i] = 1000 + i;
	}
	covers(t, "TPARTARGMAX", d), covers(t, "TPARTARGMIN", d);
	for (int max = 0; max < 2; max++) {
		max ? TPARTARGMAX(d, a, b, di, ai, bi) : TPARTARGMIN(d, a, b, di, ai, bi);
		for (int r = 0; r < rows; r++)
			for (int c = 0; c < cols; c++) {
				const T x = now(a, r, c), y = now(b, r, c);
				const bool from_a = c >= cols_b || (max ? x > y : x < y);

				matches(t, "TPARTARG", r, c, now(d, r, c), wide(from_a ? x : y));
				matches(t, "TPARTARG index", r, c, now(di, r, c),
					int64_t(from_a ? now(ai, r, c) : now(bi, r, c)));
			}
	}
}
CHECK(tpartarg_takes_b_unless_a_is_better)
{
	part_args<Part<float, 4, 16>, Part<int32_t, 4, 16>>(t, 4, 11, 7);
	part_args<Part<float, 4, 16>, Part<uint32_t, 4, 16>>(t, 4, 16, 16);
	part_args<Part<half, 5, 16>, Part<int32_t, 5, 16>>(t, 5, 13, 9);
	part_args<Part<int32_t, 4, 16>, Part<int32_t, 4, 16>>(t, 3, 11, 7);
	part_args<Part<int16_t, 5, 16>, Part<uint32_t, 5, 16>>(t, 5, 13, 9);
	part_args<Dn<float, 16, 5>, Dn<int32_t, 16, 5>>(t, 13, 5, 3);
}

template <typename T, int Cols>
static void counts_from(context &t, T start, int n)
{
	using D = Tile<TileType::Vec, T, 1, Cols, BLayout::RowMajor, 1, -1>;
	D d(n);
	place at;

	covers(t, "TCI", d);
	at.put(d);
	fill(t, d);
	const auto before = copy_of(d);

	TCI<D, T, 0>(d, start);
	for (int i = 0; i < n; i++)
		matches(t, "TCI", 0, i, d.GetValue(i), int64_t(T(start + i)));
	TCI<D, T, 1>(d, start, d);
	for (int i = 0; i < n; i++)
		matches(t, "TCI descending", 0, i, d.GetValue(i), int64_t(T(start - i)));
	untouched(t, "TCI", d, before, 1, n);
}
CHECK(tci_counts_up_and_down)
{
	counts_from<int32_t, 64>(t, 5, 64), counts_from<int32_t, 64>(t, INT32_MAX - 3, 37);
	counts_from<uint32_t, 64>(t, 7, 64), counts_from<uint32_t, 64>(t, UINT32_MAX - 3, 13);
	counts_from<int16_t, 64>(t, -20, 64), counts_from<int16_t, 64>(t, 32760, 51);
	counts_from<uint16_t, 64>(t, 9, 64), counts_from<uint16_t, 64>(t, 65534, 5);
}

template <typename T>
static void triangles(context &t, int rows, int cols)
{
	for (int diag = -3; diag < 4; diag++) {
		Part<T, 8, 32> lower(rows, cols), upper(rows, cols);
		place at;

		covers(t, "TTRI", lower);
		at.put(lower), at.put(upper);
		fill(t, lower), fill(t, upper);
		const auto before = copy_of(upper);

		TTRI<decltype(lower), 0>(lower, diag);
		TTRI<decltype(upper), 1>(upper, diag);
		for (int r = 0; r < rows; r++)
			for (int c = 0; c < cols; c++) {
				matches(t, "TTRI lower", r, c, now(lower, r, c),
					c <= r + diag ? 1 : 0);
				matches(t, "TTRI upper", r, c, now(upper, r, c),
					c >= r + diag ? 1 : 0);
			}
		untouched(t, "TTRI", upper, before, rows, cols);
	}
}
template <typename... T>
static void triangles_all(context &t, type_list<T...>)
{
	((triangles<T>(t, 7, 9), triangles<T>(t, 8, 32)), ...);
}
CHECK(ttri_marks_a_triangle)
{
	triangles_all(
		t, type_list<float, half, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t>());
}

/* What @call prints. */
template <typename F>
static void prints(context &t, const char *want, const F &call)
{
	char text[256] = "";
	FILE *file = tmpfile();

	fflush(stdout);
	const int saved = dup(1);

	dup2(fileno(file), 1);
	call();
	fflush(stdout);
	dup2(saved, 1);
	close(saved);
	rewind(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	t.expect(!strcmp(text, want), "printed: %s", text);
}
CHECK(tprint_writes_a_line_per_row)
{
	Tile<TileType::Vec, float, 2, 8, BLayout::RowMajor, 2, 2> f;
	Tile<TileType::Vec, int32_t, 8, 2, BLayout::ColMajor, 2, 2> i;
	Tile<TileType::Vec, half, 2, 16, BLayout::RowMajor, 1, 2> h;
	place at;

	at.put(f), at.put(i), at.put(h);
	f.SetElement(0, 0, 1.5f), f.SetElement(0, 1, -2.0f), f.SetElement(1, 0, 0.25f),
		f.SetElement(1, 1, 100.0f);
	i.SetElement(0, 0, 7), i.SetElement(0, 1, -12), i.SetElement(1, 0, 0),
		i.SetElement(1, 1, 345);
	h.SetElement(0, 0, 0.5f), h.SetElement(0, 1, -3.0f);
	covers(t, "TPRINT", f), covers(t, "TPRINT", i), covers(t, "TPRINT", h);
	prints(t, "TPRINT 2x2\n  1.5000  -2.0000\n  0.2500 100.0000\n", [&] { TPRINT(f); });
	prints(t, "TPRINT 2x2\n       7      -12\n       0      345\n", [&] { TPRINT(i); });
	prints(t, "TPRINT 1x2\n  0.5000  -3.0000\n", [&] { TPRINT(h); });
}

#include "exports.hpp"
