// SPDX-License-Identifier: MIT
/* The numbered cases of pto-isa §12 about instructions; those about pipes are in pipe.cpp. */
#include <algorithm>

#include "element.hpp"
#include "fake_core.hpp"

using namespace check;

namespace
{

template <typename T, int R, int C, int VR, int VC, PadValue P = PadValue::Null>
using Box = Tile<TileType::Vec, T, R, C, BLayout::RowMajor, VR, VC, SLayout::NoneBox, 512, P>;
template <typename T, int R, int Valid>
using Column = Tile<TileType::Vec, T, R, 1, BLayout::ColMajor, Valid, 1>;
template <typename T, int R, int C>
using Dense = GlobalTensor<T, Shape<1, 1, 1, R, C>, Stride<R * C, R * C, R * C, C, 1>>;

template <typename T, typename V>
void set_row(T &tile, int r, std::initializer_list<V> values)
{
	int c = 0;

	for (V v : values)
		tile.SetElement(r, c++, typename T::DType(v));
}

template <typename T, typename V>
void is_row(context &t, const char *what, const T &tile, int r, std::initializer_list<V> values)
{
	int c = 0;

	for (V v : values) {
		matches(t, what, r, c, now(tile, r, c), v);
		c++;
	}
}

/* How many elements of the whole box are exactly @v; those within rows x cols apart. */
template <typename T>
void counted(context &t, const T &tile, int rows, int cols, typename T::DType in,
	     typename T::DType out)
{
	int inside = 0, outside = 0;

	for (int r = 0; r < T::Rows; r++)
		for (int c = 0; c < T::Cols; c++)
			(r < rows && c < cols ? inside : outside) +=
				raw(now(tile, r, c)) == raw(r < rows && c < cols ? in : out);
	t.expect(inside == rows * cols && outside == T::Rows * T::Cols - rows * cols,
		 "%d elements inside and %d outside of the valid region are as expected", inside,
		 outside);
}

template <typename T, PadValue P>
void loads_padded(context &t, T pad)
{
	Box<T, 16, 32, 10, 20, P> tile;
	std::vector<T> ones(200, T(1));
	place at;

	at.put(tile);
	fill(t, tile);
	TLOAD(tile, Dense<T, 10, 20>(ones.data()));
	counted(t, tile, 10, 20, T(1), pad);
}

template <typename D, typename S>
void converts(context &t, S value, RoundMode mode, SaturationMode sat, double want)
{
	Box<S, 1, 32, 1, 16> s;
	Box<D, 1, 32, 1, 16> d;
	place at;

	at.put(s), at.put(d);
	TEXPANDS(s, value);
	TCVT(d, s, mode, sat);
	for (int c = 0; c < 16; c++)
		t.expect(double(wide(now(d, 0, c))) == want, "%g gives %g, expected %g",
			 double(wide(value)), double(wide(now(d, 0, c))), want);
}

struct record {
	float value;
	uint32_t index;
};

template <typename T>
record record_at(const T &tile, int i)
{
	record r;

	memcpy(&r, tile.data() + 2 * i, sizeof(r));
	return r;
}

} // namespace

/* ---- moving and padding ---- */

CHECK(isa_case_01_a_kernel_with_dynamic_tiles_adds_128_by_128)
{
	using T = Tile<TileType::Vec, float, 128, 128, BLayout::RowMajor, -1, -1>;
	static float x[16384], y[16384], z[16384];
	T a(128, 128), b(128, 128), d(128, 128);

	std::fill(x, x + 16384, 1.0f), std::fill(y, y + 16384, 2.0f), std::fill(z, z + 16384, 0.0f);
	TASSIGN(a, 0x0), TASSIGN(b, 0x10000), TASSIGN(d, 0x20000);
	TLOAD(a, Dense<float, 128, 128>(x));
	TLOAD(b, Dense<float, 128, 128>(y));
	TADD(d, a, b);
	TSTORE(Dense<float, 128, 128>(z), d);
	for (int i = 0; i < 16384; i++)
		t.expect(z[i] == 3.0f, "element %d is %g", i, double(z[i]));
}
CHECK(isa_case_02_loading_pads_with_zero)
{
	loads_padded<float, PadValue::Zero>(t, 0.0f);
}
CHECK(isa_case_03_loading_pads_with_the_least)
{
	loads_padded<float, PadValue::Min>(t, -INFINITY);
	loads_padded<int32_t, PadValue::Min>(t, INT32_MIN);
}
CHECK(isa_case_04_storing_writes_the_valid_region_only)
{
	Box<float, 16, 32, 10, 20> tile;
	std::vector<float> mem(300, -5.0f);
	place at;

	at.put(tile);
	for (int r = 0; r < 16; r++)
		for (int c = 0; c < 32; c++)
			tile.SetElement(r, c, r < 10 && c < 20 ? 1.0f : 7.0f);
	TSTORE(Dense<float, 10, 20>(mem.data() + 50), tile);
	for (int i = 0; i < 300; i++)
		t.expect(mem[size_t(i)] == (i >= 50 && i < 250 ? 1.0f : -5.0f), "word %d is %g", i,
			 double(mem[size_t(i)]));
}

/* ---- arithmetic ---- */

CHECK(isa_case_05_half_addition_rounds_to_even)
{
	Full<half, 1, 16> a, b, d;
	place at;

	at.put(a), at.put(b), at.put(d);
	TEXPANDS(a, half(2048.0f)), TEXPANDS(b, half(1.0f));
	TADD(d, a, b);
	for (int c = 0; c < 16; c++)
		matches(t, "TADD", 0, c, now(d, 0, c), 2048.0);
}
CHECK(isa_case_06_int16_addition_wraps)
{
	Full<int16_t, 1, 16> a, b, d;
	place at;

	at.put(a), at.put(b), at.put(d);
	TEXPANDS(a, int16_t(32767)), TEXPANDS(b, int16_t(1));
	TADD(d, a, b);
	for (int c = 0; c < 16; c++)
		t.expect(now(d, 0, c) == -32768, "element %d is %d", c, now(d, 0, c));
}
CHECK(isa_case_07_tmax_keeps_nan_of_the_first_operand)
{
	Full<float, 1, 8> a, b, d;
	place at;

	at.put(a), at.put(b), at.put(d);
	TEXPANDS(a, NAN), TEXPANDS(b, 1.0f);
	TMAX(d, a, b);
	is_row(t, "NaN first", d, 0, {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN});
	TMAX(d, b, a);
	is_row(t, "NaN second", d, 0, {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0});
}
CHECK(isa_case_08_trelu_passes_minus_zero_and_nan)
{
	Full<float, 1, 8> a, d;
	place at;

	at.put(a), at.put(d);
	TEXPANDS(a, -1.0f), TEXPANDS(d, 9.0f);
	set_row(a, 0, {-0.0f, NAN});
	TRELU(d, a);
	is_row(t, "TRELU", d, 0, {-0.0, double(NAN), 0.0, 0.0});
}
CHECK(isa_case_09_tdiv_by_zero_is_infinite)
{
	Full<float, 1, 8> a, b, d;
	place at;

	at.put(a), at.put(b), at.put(d);
	TEXPANDS(a, 1.0f), TEXPANDS(b, 0.0f);
	a.SetElement(0, 1, -1.0f);
	TDIV(d, a, b);
	is_row(t, "TDIV", d, 0, {double(INFINITY), -double(INFINITY), double(INFINITY)});
}
CHECK(isa_case_10_signs_of_remainders)
{
	Full<int32_t, 1, 8> a, b, d;
	place at;

	at.put(a), at.put(b), at.put(d);
	TEXPANDS(a, 1), TEXPANDS(b, 1);
	set_row(a, 0, {-7, 7}), set_row(b, 0, {3, -3});
	TREM(d, a, b, a);
	is_row(t, "TREM", d, 0, {2, -2});
	TFMOD(d, a, b);
	is_row(t, "TFMOD", d, 0, {-1, 1});
}

/* ---- masks ---- */

CHECK(isa_case_11_tcmps_packs_the_first_column_lowest)
{
	Full<float, 1, 8> a, one;
	Box<uint8_t, 1, 32, 1, 1> d;
	place at;

	at.put(a), at.put(d), at.put(one);
	TEXPANDS(a, 0.0f), TEXPANDS(one, 3.0f);
	set_row(a, 0, {1, 5, 3, 9});
	TCMPS(d, a, 3.0f, CmpMode::GT);
	t.expect(d.GetValue(0) == 0x0a, "byte 0 is %#x", d.GetValue(0));
	TCMPS(d, a, one, CmpMode::GE);
	t.expect(d.GetValue(0) == 0x0e, "byte 0 is %#x with a tile as scalar", d.GetValue(0));
}
CHECK(isa_case_12_tcmp_packs_eight_columns_per_byte_and_nan_is_unequal)
{
	Full<float, 4, 16> a, b;
	Box<uint8_t, 4, 32, 4, 2> d;
	place at;

	at.put(a), at.put(b), at.put(d);
	fill(t, a, false), fill(t, b, false);
	for (int r = 0; r < 4; r++)
		(r % 2 ? a : b).SetElement(r, 3 + 4 * r, NAN);
	for (CmpMode mode : {CmpMode::LT, CmpMode::NE}) {
		TCMP(d, a, b, mode);
		for (int r = 0; r < 4; r++)
			for (int c = 0; c < 16; c++) {
				const float x = now(a, r, c), y = now(b, r, c);
				const bool bit = now(d, r, c / 8) >> (c % 8) & 1;

				t.expect(bit == (mode == CmpMode::LT ? x < y : !(x == y)),
					 "mode %d, bit (%d, %d) of %g and %g", int(mode), r, c,
					 double(x), double(y));
			}
	}
}
CHECK(isa_case_13_tsel_takes_bits_of_its_own_row)
{
	Box<uint8_t, 4, 32, 4, 1> mask;
	Full<float, 4, 8> a, b, d;
	place at;

	at.put(mask), at.put(a), at.put(b), at.put(d);
	memset(mask.data(), 0, 128);
	for (int r = 0; r < 4; r++)
		mask.SetElement(r, 0, 0x0f);
	TEXPANDS(a, 1.0f), TEXPANDS(b, 2.0f);
	TSEL(d, mask, a, b, mask);
	for (int r = 0; r < 4; r++)
		is_row(t, "TSEL", d, r, {1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0});
}
CHECK(isa_case_14_tsels_takes_the_scalar_where_the_bit_is_clear)
{
	Box<uint8_t, 4, 32, 4, 1> mask;
	Full<float, 4, 8> a, d;
	place at;

	at.put(mask), at.put(a), at.put(d);
	fill(t, a, false);
	memset(mask.data(), 0xfe, 128);
	TSELS(d, mask, a, mask, -77.5f);
	for (int r = 0; r < 4; r++)
		for (int c = 0; c < 8; c++)
			matches(t, "TSELS", r, c, now(d, r, c), c ? double(now(a, r, c)) : -77.5);
}

/* ---- conversions ---- */

CHECK(isa_case_15_tcvt_rounds_as_its_mode_says)
{
	static const struct {
		RoundMode mode;
		int want[3];
	} modes[] = {{RoundMode::CAST_RINT, {2, 4, -2}},
		     {RoundMode::CAST_ROUND, {3, 4, -3}},
		     {RoundMode::CAST_FLOOR, {2, 3, -3}},
		     {RoundMode::CAST_CEIL, {3, 4, -2}},
		     {RoundMode::CAST_TRUNC, {2, 3, -2}}};
	Full<float, 1, 8> s;
	Full<int32_t, 1, 8> d;
	place at;

	at.put(s), at.put(d);
	TEXPANDS(s, 0.0f);
	set_row(s, 0, {2.5f, 3.5f, -2.5f});
	for (auto &m : modes) {
		TCVT(d, s, m.mode);
		is_row(t, "TCVT", d, 0, {m.want[0], m.want[1], m.want[2]});
	}
}
CHECK(isa_case_16_tcvt_to_half_saturates_or_overflows)
{
	converts<half>(t, 1e6f, RoundMode::CAST_RINT, SaturationMode::ON, 65504);
	converts<half>(t, 1e6f, RoundMode::CAST_RINT, SaturationMode::OFF, double(INFINITY));
}
CHECK(isa_case_17_tcvt_to_int8_saturates)
{
	converts<int8_t>(t, half(300.0f), RoundMode::CAST_RINT, SaturationMode::ON, 127);
}
CHECK(isa_case_18_tcvt_to_bfloat16_takes_the_even_of_two)
{
	converts<bfloat16_t>(t, 1.00390625f, RoundMode::CAST_RINT, SaturationMode::OFF, 1.0);
	converts<bfloat16_t>(t, 1.00390625f, RoundMode::CAST_RINT, SaturationMode::ON, 1.0);
}

/* ---- reductions and broadcasts ---- */

CHECK(isa_case_19_trowsum_goes_from_left_to_right)
{
	Box<float, 1, 8, 1, 4> s;
	Column<float, 8, 1> d;
	place at;

	at.put(s), at.put(d);
	set_row(s, 0, {1e8f, 1.0f, -1e8f, 1.0f});
	TROWSUM(d, s, s);
	matches(t, "TROWSUM", 0, 0, now(d, 0, 0), 1.0);
}
CHECK(isa_case_20_trowsum_of_halves_accumulates_in_float)
{
	Full<half, 1, 4096> s;
	Column<half, 16, 1> d;
	place at;

	at.put(s), at.put(d);
	TEXPANDS(s, half(1.0f));
	TROWSUM(d, s, s);
	matches(t, "TROWSUM", 0, 0, now(d, 0, 0), 4096.0);
}
CHECK(isa_case_21_trowargmax_takes_the_first_of_equals)
{
	Box<float, 1, 8, 1, 4> s;
	Column<int32_t, 8, 1> d;
	place at;

	at.put(s), at.put(d);
	set_row(s, 0, {3.0f, 9.0f, 9.0f, 1.0f, 99.0f});
	TROWARGMAX(d, s, s);
	t.expect(now(d, 0, 0) == 1, "index %d", now(d, 0, 0));
}
CHECK(isa_case_22_column_reductions_write_row_0)
{
	Box<float, 2, 8, 2, 3> s;
	Box<float, 1, 8, 1, 3> d;
	place at;

	at.put(s), at.put(d);
	set_row(s, 0, {1.0f, 2.0f, 3.0f, 50.0f}), set_row(s, 1, {4.0f, 5.0f, 6.0f, 60.0f});
	TCOLSUM(d, s);
	is_row(t, "TCOLSUM", d, 0, {5.0, 7.0, 9.0});
	TCOLMAX(d, s);
	is_row(t, "TCOLMAX", d, 0, {4.0, 5.0, 6.0});
}
CHECK(isa_case_23_trowexpanddiv_keeps_the_order_of_its_operands)
{
	Full<float, 4, 8> s, d;
	Column<float, 8, 4> v;
	place at;

	at.put(s), at.put(d), at.put(v);
	fill(t, s, false), fill(t, v, false);
	TROWEXPANDDIV(d, s, v);
	for (int i = 0; i < 32; i++)
		matches(t, "tile by vector", i / 8, i % 8, now(d, i / 8, i % 8),
			double(now(s, i / 8, i % 8) / now(v, i / 8, 0)));
	TROWEXPANDDIV(d, v, s);
	for (int i = 0; i < 32; i++)
		matches(t, "vector by tile", i / 8, i % 8, now(d, i / 8, i % 8),
			double(now(v, i / 8, 0) / now(s, i / 8, i % 8)));
}
CHECK(isa_case_24_trowexpandmul_takes_both_spellings_of_a_vector)
{
	Full<float, 4, 8> s, d, e, block;
	Column<float, 8, 4> v;
	place at;

	at.put(s), at.put(d), at.put(e), at.put(block), at.put(v);
	fill(t, s, false), fill(t, v, false), fill(t, d), fill(t, e);
	for (int i = 0; i < 32; i++)
		block.SetElement(i / 8, i % 8, now(v, i / 8, 0));
	TROWEXPANDMUL(d, s, v);
	TROWEXPANDMUL(e, s, block);
	for (int i = 0; i < 32; i++) {
		const double want = double(now(s, i / 8, i % 8) * now(v, i / 8, 0));

		matches(t, "4x1", i / 8, i % 8, now(d, i / 8, i % 8), want);
		matches(t, "4x8", i / 8, i % 8, now(e, i / 8, i % 8), want);
	}
}

/* ---- matrices ---- */

CHECK(isa_case_25_products_with_the_identity)
{
	TileLeft<float, 16, 16> a;
	TileRight<float, 16, 16> b;
	TileAcc<float, 16, 16> c;
	Tile<TileType::Bias, float, 1, 16> bias;
	place at;

	at.put(a), at.put(b), at.put(c), at.put(bias);
	fill(t, b, false), fill(t, c, false);
	for (int i = 0; i < 256; i++)
		a.SetElement(i / 16, i % 16, i / 16 == i % 16 ? 1.0f : 0.0f);
	for (int j = 0; j < 16; j++)
		bias.data()[j] = float(3 * j) - 20.0f;
	const auto is = [&](const char *what, const auto &want) {
		for (int i = 0; i < 16; i++)
			for (int j = 0; j < 16; j++)
				t.expect(now(c, i, j) == want(i, j), "%s: element (%d, %d) is %g",
					 what, i, j, double(now(c, i, j)));
	};

	TMATMUL(c, a, b);
	is("TMATMUL", [&](int i, int j) { return now(b, i, j); });
	TMATMUL_BIAS(c, a, b, bias);
	is("TMATMUL_BIAS", [&](int i, int j) { return now(b, i, j) + float(3 * j) - 20.0f; });
	TMATMUL(c, a, b);
	TMATMUL_ACC(c, c, a, b);
	is("one TMATMUL_ACC", [&](int i, int j) { return 2 * now(b, i, j); });
	for (int i = 0; i < 256; i++)
		c.SetElement(i / 16, i % 16, 0.0f);
	TMATMUL_ACC(c, c, a, b);
	TMATMUL_ACC(c, c, a, b);
	is("TMATMUL_ACC twice", [&](int i, int j) { return 2 * now(b, i, j); });
}
CHECK(isa_case_26_products_of_int8_are_int32)
{
	TileLeft<int8_t, 16, 64> a;
	TileRight<int8_t, 64, 32> b;
	TileAcc<int32_t, 16, 32> c;
	place at;

	at.put(a), at.put(b), at.put(c);
	memset(a.data(), 0x80, a.Extent), memset(b.data(), 0x80, b.Extent);
	TMATMUL(c, a, b);
	for (int i = 0; i < 16 * 32; i++)
		t.expect(now(c, i / 32, i % 32) == 1048576, "element %d is %d", i,
			 now(c, i / 32, i % 32));
}
CHECK(isa_case_27_both_spellings_of_left_tiles_multiply_alike)
{
	Tile<TileType::Left, half, 32, 48, BLayout::RowMajor, 32, 48, SLayout::RowMajor, 512> zz;
	TileLeft<half, 32, 48> a;
	TileRight<half, 48, 32> b;
	TileAcc<float, 32, 32> c, d;
	place at;

	at.put(zz), at.put(a), at.put(b), at.put(c), at.put(d);
	fill(t, a, false), fill(t, b, false);
	for (int r = 0; r < 32; r++)
		for (int k = 0; k < 48; k++)
			zz.SetElement(r, k, now(a, r, k));
	TMATMUL(c, a, b);
	TMATMUL(d, zz, b);
	for (int i = 0; i < 1024; i++) {
		double want = 0;

		for (int k = 0; k < 48; k++)
			want += double(float(now(a, i / 32, k))) * double(float(now(b, k, i % 32)));
		t.expect(std::fabs(double(now(c, i / 32, i % 32)) - want) < 1e-2 &&
				 raw(now(c, i / 32, i % 32)) == raw(now(d, i / 32, i % 32)),
			 "element %d is %g and %g", i, double(now(c, i / 32, i % 32)),
			 double(now(d, i / 32, i % 32)));
	}
}
CHECK(isa_case_28_mx_products_scale_each_32_of_the_inner_extent)
{
	Tile<TileType::Left, float8_e4m3_t, 16, 64, BLayout::ColMajor, 16, 64, SLayout::RowMajor> a;
	TileRight<float8_e4m3_t, 64, 32> b;
	TileLeftScale<float8_e8m0_t, 16, 2> as;
	TileRightScale<float8_e8m0_t, 2, 32> bs;
	TileAcc<float, 16, 32> c;
	place at;

	at.put(a), at.put(b), at.put(as), at.put(bs), at.put(c);
	for (int i = 0; i < 16 * 64; i++)
		a.data()[i] = float8_e4m3_t(1.0f);
	for (int i = 0; i < 64 * 32; i++)
		b.data()[i] = float8_e4m3_t(1.0f);
	for (int r = 0; r < 16; r++)
		as.SetElement(r, 0, float8_e8m0_t(2.0f)), as.SetElement(r, 1, float8_e8m0_t(1.0f));
	for (int i = 0; i < 64; i++)
		bs.SetElement(i / 32, i % 32, float8_e8m0_t(1.0f));
	TMATMUL_MX(c, a, as, b, bs);
	for (int i = 0; i < 16 * 32; i++)
		matches(t, "TMATMUL_MX", i / 32, i % 32, now(c, i / 32, i % 32), 96.0);
}
CHECK(isa_case_29_textract_takes_a_window_of_a_boxed_tile)
{
	Tile<TileType::Mat, half, 32, 32, BLayout::ColMajor, 32, 32, SLayout::RowMajor> m;
	TileLeft<half, 16, 16> l;
	place at;

	at.put(m), at.put(l);
	for (int i = 0; i < 1024; i++)
		m.SetElement(i / 32, i % 32, half(float(i)));
	TEXTRACT(l, m, 16, 16);
	for (int i = 0; i < 256; i++)
		matches(t, "TEXTRACT", i / 16, i % 16, now(l, i / 16, i % 16),
			double((i / 16 + 16) * 32 + i % 16 + 16));
}
CHECK(isa_case_30_textract_beyond_its_source_ends_the_run)
{
	fake_core core;
	Full<float, 32, 16> s;
	Full<float, 16, 16> d;

	TASSIGN(s, 0), TASSIGN(d, 0x1000);
	t.expect(!core.fails([&] { TEXTRACT(d, s, 16, 0); }), "in bounds: %s", core.text);
	t.expect(core.fails([&] { TEXTRACT(d, s, 20, 0); }) && strstr(core.text, "TEXTRACT") &&
			 strstr(core.text, "20"),
		 "message: %s", core.text);
}

/* ---- rearrangement ---- */

CHECK(isa_case_31_ttrans_exchanges_rows_and_columns)
{
	Box<float, 8, 8, 2, 3> s;
	Box<float, 8, 8, 3, 2> d;
	place at;

	at.put(s), at.put(d);
	fill(t, s, false), fill(t, d, false);
	const auto before = copy_of(d);

	TTRANS(d, s, s);
	for (int r = 0; r < 2; r++)
		for (int c = 0; c < 3; c++)
			matches(t, "TTRANS", c, r, now(d, c, r), double(now(s, r, c)));
	untouched(t, "TTRANS", d, before, 3, 2);
}
CHECK(isa_case_32_tfillpad_copies_30_and_pads_34)
{
	/* int16 rows of eight are no 32 bytes, so that the box has eight columns of eight rows */
	Tile<TileType::Vec, int16_t, 16, 4, BLayout::ColMajor, 5, 3> tall;
	Box<int32_t, 8, 8, 5, 6> s;
	Box<int32_t, 8, 8, 8, 8, PadValue::Max> d;
	Tile<TileType::Vec, int16_t, 16, 4, BLayout::ColMajor, 16, 4, SLayout::NoneBox, 512,
	     PadValue::Max>
		tall_d;
	place at;

	at.put(s), at.put(d), at.put(tall), at.put(tall_d);
	TEXPANDS(s, -3), TEXPANDS(tall, int16_t(-3));
	fill(t, d), fill(t, tall_d);
	TFILLPAD(d, s);
	counted(t, d, 5, 6, -3, INT32_MAX);
	TFILLPAD(tall_d, tall);
	counted(t, tall_d, 5, 3, int16_t(-3), int16_t(32767));
}
CHECK(isa_case_33_treshape_shares_the_storage)
{
	Tile<TileType::Vec, float, 16, 1, BLayout::ColMajor> col;
	Full<float, 1, 16> row;
	place at;

	at.put(col);
	TEXPANDS(col, 0.0f);
	TRESHAPE(row, col);
	for (int i = 0; i < 16; i++)
		row.SetElement(0, i, float(i) + 0.5f);
	for (int i = 0; i < 16; i++)
		matches(t, "column", i, 0, now(col, i, 0), i + 0.5);
}
CHECK(isa_case_34_tgather_by_index)
{
	Full<float, 1, 32> s, d;
	Full<int32_t, 1, 32> idx;
	place at;

	at.put(s), at.put(d), at.put(idx);
	for (int j = 0; j < 32; j++)
		s.SetElement(0, j, float(j)), idx.SetElement(0, j, 31 - j);
	TGATHER(d, s, idx, idx);
	for (int j = 0; j < 32; j++)
		matches(t, "TGATHER", 0, j, now(d, 0, j), double(31 - j));
	set_row(idx, 0, {32, -1}), s.SetElement(0, 0, 5.0f), s.SetElement(0, 31, 6.0f);
	TGATHER(d, s, idx, idx);
	is_row(t, "beyond and below", d, 0, {0.0, 0.0, 29.0});
}
CHECK(isa_case_35_tgather_by_mask)
{
	Full<float, 1, 8> s, d;
	place at;

	at.put(s), at.put(d);
	for (int j = 0; j < 8; j++)
		s.SetElement(0, j, float(j));
	TGATHER<decltype(d), decltype(s), MaskPattern::P1010>(d, s);
	is_row(t, "P1010", d, 0, {1.0, 3.0, 5.0, 7.0});
}
CHECK(isa_case_36_tscatter_reverses_each_row)
{
	Full<float, 8, 8> s, d;
	Full<int32_t, 8, 8> idx;
	place at;

	at.put(s), at.put(d), at.put(idx);
	fill(t, s, false), fill(t, d);
	for (int i = 0; i < 64; i++)
		idx.SetElement(i / 8, i % 8, i / 8 * 8 + 7 - i % 8);
	TSCATTER(d, s, idx);
	for (int i = 0; i < 64; i++)
		matches(t, "TSCATTER", i / 8, i % 8, now(d, i / 8, i % 8),
			double(now(s, i / 8, 7 - i % 8)));
}

/* ---- sorting ---- */

CHECK(isa_case_37_tsort32_sorts_and_keeps_the_order_of_equals)
{
	Full<float, 1, 32> s;
	Full<uint32_t, 1, 32> idx;
	Full<float, 1, 64> d;
	bool seen[32] = {};
	int ties = 0;
	place at;

	at.put(s), at.put(idx), at.put(d);
	for (int j = 0; j < 32; j++)
		s.SetElement(0, j, float(t.below(20)) / 4 - 2), idx.SetElement(0, j, uint32_t(j));
	TSORT32(d, s, idx);
	for (int j = 0; j < 32; j++) {
		const record r = record_at(d, j), last = record_at(d, j ? j - 1 : 0);

		if (!t.expect(r.index < 32 && !seen[r.index] && r.value == now(s, 0, int(r.index)),
			      "record %d: %g at %u", j, double(r.value), r.index))
			return;
		seen[r.index] = true;
		ties += j && last.value == r.value;
		t.expect(!j || last.value > r.value ||
				 (last.value == r.value && last.index < r.index),
			 "record %d is in the wrong place", j);
	}
	t.expect(ties > 3, "the numbers have %d ties", ties);
}
CHECK(isa_case_38_tmrgsort_merges_four_blocks)
{
	Full<float, 1, 256> s, d;
	std::vector<record> all;
	place at;

	at.put(s), at.put(d);
	for (int b = 0; b < 4; b++) {
		std::vector<record> run;

		for (int i = 0; i < 32; i++)
			run.push_back({float(t.below(1000)) / 8, uint32_t(b * 32 + i)});
		std::stable_sort(run.begin(), run.end(), [](const record &x, const record &y) {
			return x.value > y.value;
		});
		memcpy(s.data() + b * 64, run.data(), 256);
		all.insert(all.end(), run.begin(), run.end());
	}
	std::stable_sort(all.begin(), all.end(),
			 [](const record &x, const record &y) { return x.value > y.value; });
	TMRGSORT(d, s, 64);
	for (int i = 0; i < 128; i++) {
		const record r = record_at(d, i);

		t.expect(r.value == all[size_t(i)].value && r.index == all[size_t(i)].index,
			 "record %d: %g at %u, expected %g at %u", i, double(r.value), r.index,
			 double(all[size_t(i)].value), all[size_t(i)].index);
	}
}
CHECK(isa_case_39_a_merge_stops_when_a_list_is_used_up)
{
	Full<float, 1, 64> a, b;
	Full<float, 1, 128> d;
	MrgSortExecutedNumList ex;
	place at;

	at.put(a), at.put(b), at.put(d);
	for (uint32_t i = 0; i < 32; i++) {
		const record x = {i < 20 ? 1000.0f - float(i) : -1.0f - float(i), i},
			     y = {500.0f - float(i), 100 + i};

		memcpy(a.data() + 2 * i, &x, 8), memcpy(b.data() + 2 * i, &y, 8);
	}
	TEXPANDS(d, -7.0f);
	TMRGSORT<decltype(d), decltype(d), decltype(a), decltype(b), true>(d, ex, d, a, b);
	t.expect(ex.mrgSortList0 == 20 && ex.mrgSortList1 == 32, "took %d and %d", ex.mrgSortList0,
		 ex.mrgSortList1);
	for (int i = 0; i < 52; i++)
		t.expect(record_at(d, i).index == uint32_t(i < 20 ? i : 80 + i),
			 "record %d is number %u", i, record_at(d, i).index);
	for (int i = 104; i < 128; i++)
		t.expect(d.data()[i] == -7.0f, "word %d was written", i);
}

/* ---- partial operations, generation ---- */

CHECK(isa_case_40_tpartadd_copies_where_one_operand_is_valid)
{
	Full<float, 4, 8> a, d;
	Box<float, 4, 8, 4, 4> b;
	place at;

	at.put(a), at.put(b), at.put(d);
	fill(t, a, false), fill(t, b, false), fill(t, d);
	TPARTADD(d, a, b);
	for (int r = 0; r < 4; r++)
		for (int c = 0; c < 8; c++)
			matches(t, "TPARTADD", r, c, now(d, r, c),
				double(now(a, r, c) + (c < 4 ? now(b, r, c) : 0.0f)));
}
CHECK(isa_case_41_tci_counts_up_and_down)
{
	using T = Box<int32_t, 1, 8, 1, 4>;
	T d;
	place at;

	at.put(d);
	TCI<T, int32_t, 0>(d, 5);
	is_row(t, "ascending", d, 0, {5, 6, 7, 8});
	TCI<T, int32_t, 1>(d, 5);
	is_row(t, "descending", d, 0, {5, 4, 3, 2});
}

#include "exports.hpp"
