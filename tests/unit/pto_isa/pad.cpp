// SPDX-License-Identifier: MIT
/* Transposition, padding, partial operations, generation, printing (pto-isa §4.10, §4.14). */
#include "element.hpp"

#include <unistd.h>

using namespace check;

namespace {

using movable = type_list<int8_t, int16_t, int32_t, half, bfloat16_t, float>;

template <typename D, typename S>
bool transpose_on(context &t, D d, S s)
{
	place at;

	t.covers("TTRANS", type_name<typename S::DType>());
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
		transpose_on(t, Part<T, 64, 32>(3, 2), Part<T, 32, 64>(2, 3))) &&
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

template <typename T, PadValue Pad>
bool pad_on(context &t, uint64_t bits)
{
	using S = Part<T, 8, 64>;
	place at;
	S s(5, 37);
	Padded<T, Pad> d(8, 64), big(8, 64);
	Padded<T, Pad, 16, 96> wide_d(16, 96);

	for (const char *op : {"TFILLPAD", "TFILLPAD_INPLACE", "TFILLPAD_EXPAND"})
		t.covers(op, type_name<T>());
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
	return padded_as_expected<decltype(big), S>(t, "TFILLPAD_INPLACE", big, src, 5, 37, bits);
}

template <typename T>
bool pads_of(context &t, uint64_t max, uint64_t min)
{
	return pad_on<T, PadValue::Zero>(t, 0) && pad_on<T, PadValue::Max>(t, max) &&
	       pad_on<T, PadValue::Min>(t, min);
}

struct p_add {
	template <typename X>
	X operator()(X a, X b) const
	{
		return wrap_add(a, b);
	}
};
struct p_mul {
	template <typename X>
	X operator()(X a, X b) const
	{
		return wrap_mul(a, b);
	}
};
struct p_max {
	template <typename X>
	X operator()(X a, X b) const
	{
		return a < b ? b : a;
	}
};
struct p_min {
	template <typename X>
	X operator()(X a, X b) const
	{
		return b < a ? b : a;
	}
};

template <typename T, typename Call, typename Ref>
bool part(context &t, const char *op, const Call &call, const Ref &ref)
{
	static const int shapes[][4] = {{7, 50, 7, 50}, {7, 50, 7, 20}, {3, 50, 7, 50},
					{3, 20, 7, 31}, {7, 20, 3, 31}, {0, 50, 7, 50}};

	t.covers(op, type_name<T>());
	for (auto &v : shapes) {
		place at;
		Part<T, 8, 64> d(7, 50), a(v[0], v[1]), b(v[2], v[3]);

		at.put(d), at.put(a), at.put(b);
		fill(t, d), fill(t, a), fill(t, b);
		const auto before = copy_of(d);

		call(d, a, b);
		for (int r = 0; r < 7; r++)
			for (int c = 0; c < 50; c++) {
				const bool in_a = r < v[0] && c < v[1], in_b = r < v[2] && c < v[3];
				const auto x = wide(now(a, r, c)), y = wide(now(b, r, c));
				const auto want = in_a && in_b ? expected<T>(ref(x, y))
						  : in_a       ? x
						  : in_b       ? y
							       : decltype(x)(0);

				if (!matches(t, op, r, c, now(d, r, c), want))
					return false;
			}
		if (!untouched(t, op, d, before, 7, 50))
			return false;
	}
	return true;
}

#define PARTIAL(INST, REF)                                                                 \
	[&](auto... z) {                                                                   \
		(void)(part<decltype(z)>(                                                  \
			       t, #INST, [](auto &d, auto &a, auto &b) { INST(d, a, b); }, \
			       REF()) &&                                                   \
		       ...);                                                               \
	}(float(), half(), bfloat16_t(), int8_t(), int16_t(), int32_t())

} // namespace

CHECK(ttrans_exchanges_rows_and_columns) { transpose_all(t, movable()); }
CHECK(ttrans_reads_and_writes_other_layouts)
{
	(void)(transpose_on(t, Dn<float, 64, 32>(41, 23), Part<float, 32, 64>(23, 41)) &&
	       transpose_on(t, Part<half, 64, 32>(41, 23), Nz<half, 32, 64>(23, 41)) &&
	       transpose_on(t, Nz<half, 64, 32>(41, 23), Nz<half, 32, 64>(23, 41)));
}
CHECK(tfillpad_writes_the_whole_box)
{
	(void)(pads_of<float>(t, 0x7f800000u, 0xff800000u) && pads_of<half>(t, 0x7c00, 0xfc00) &&
	       pads_of<bfloat16_t>(t, 0x7f80, 0xff80) &&
	       pads_of<int32_t>(t, 0x7fffffff, 0x80000000u) &&
	       pads_of<int16_t>(t, 0x7fff, 0x8000) && pads_of<int8_t>(t, 0x7f, 0x80) &&
	       pads_of<uint16_t>(t, 0xffff, 0) && pads_of<uint8_t>(t, 0xff, 0));
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
CHECK(tpartadd_copies_where_one_operand_is_valid) { PARTIAL(TPARTADD, p_add); }
CHECK(tpartmul_copies_where_one_operand_is_valid) { PARTIAL(TPARTMUL, p_mul); }
CHECK(tpartmax_copies_where_one_operand_is_valid) { PARTIAL(TPARTMAX, p_max); }
CHECK(tpartmin_copies_where_one_operand_is_valid) { PARTIAL(TPARTMIN, p_min); }
CHECK(tpartarg_takes_b_unless_a_is_better)
{
	place at;
	Part<float, 4, 16> a(4, 11), b(4, 7), d(4, 11);
	Part<int32_t, 4, 16> ai(4, 11), bi(4, 7), di(4, 11);

	at.put(a), at.put(b), at.put(d), at.put(ai), at.put(bi), at.put(di);
	for (int i = 0; i < 64; i++) {
		a.data()[i] = float(t.below(4)), b.data()[i] = float(t.below(4));
		ai.data()[i] = i, bi.data()[i] = 100 + i;
	}
	t.covers("TPARTARGMAX", "f32");
	t.covers("TPARTARGMIN", "f32");
	for (int max = 0; max < 2; max++) {
		max ? TPARTARGMAX(d, a, b, di, ai, bi) : TPARTARGMIN(d, a, b, di, ai, bi);
		for (int r = 0; r < 4; r++)
			for (int c = 0; c < 11; c++) {
				const float x = now(a, r, c), y = now(b, r, c);
				const bool from_a = c >= 7 || (max ? x > y : x < y);

				matches(t, "TPARTARG", r, c, now(d, r, c), double(from_a ? x : y));
				matches(t, "TPARTARG index", r, c, now(di, r, c),
					int64_t(from_a ? now(ai, r, c) : now(bi, r, c)));
			}
	}
}

CHECK(tci_counts_up_and_down)
{
	place at;
	Tile<TileType::Vec, int32_t, 1, 8, BLayout::RowMajor, 1, 4> d;
	Tile<TileType::Vec, uint16_t, 1, 16, BLayout::RowMajor, 1, 5> u;

	at.put(d), at.put(u);
	t.covers("TCI", "i32");
	TCI<decltype(d), int32_t, 0>(d, 5);
	for (int i = 0; i < 4; i++)
		matches(t, "TCI", 0, i, d.GetValue(i), int64_t(5 + i));
	TCI<decltype(d), int32_t, 1>(d, 5, d);
	for (int i = 0; i < 4; i++)
		matches(t, "TCI descending", 0, i, d.GetValue(i), int64_t(5 - i));
	t.covers("TCI", "u16");
	TCI(u, uint16_t(65534));
	for (int i = 0; i < 5; i++)
		matches(t, "TCI u16", 0, i, u.GetValue(i), int64_t(uint16_t(65534 + i)));
}
CHECK(ttri_marks_a_triangle)
{
	t.covers("TTRI", "f32");
	t.covers("TTRI", "i16");
	for (int diag = -3; diag < 4; diag++) {
		place at;
		Part<float, 8, 16> lower(7, 9);
		Part<int16_t, 8, 16> upper(7, 9);

		at.put(lower), at.put(upper);
		TTRI<decltype(lower), 0>(lower, diag);
		TTRI<decltype(upper), 1>(upper, diag);
		for (int r = 0; r < 7; r++)
			for (int c = 0; c < 9; c++) {
				matches(t, "TTRI lower", r, c, now(lower, r, c),
					c <= r + diag ? 1.0 : 0.0);
				matches(t, "TTRI upper", r, c, now(upper, r, c),
					int64_t(c >= r + diag ? 1 : 0));
			}
	}
}
CHECK(tprint_writes_a_line_per_row)
{
	place at;
	Tile<TileType::Vec, float, 2, 8, BLayout::RowMajor, 2, 2> d;
	char text[128] = "";
	FILE *file = tmpfile();
	const int saved = dup(1);

	at.put(d);
	d.SetElement(0, 0, 1.5f), d.SetElement(0, 1, -2.0f), d.SetElement(1, 0, 0.25f),
		d.SetElement(1, 1, 100.0f);
	fflush(stdout);
	dup2(fileno(file), 1);
	t.covers("TPRINT", "f32");
	TPRINT(d);
	fflush(stdout);
	dup2(saved, 1);
	close(saved);
	rewind(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	t.expect(!strcmp(text, "TPRINT 2x2\n  1.5000  -2.0000\n  0.2500 100.0000\n"), "printed: %s",
		 text);
}

#include "exports.hpp"
