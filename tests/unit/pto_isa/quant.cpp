// SPDX-License-Identifier: MIT
/* Quantisation of vector tiles and out of the accumulator (pto-isa §4.1, §4.12). */
#include "element.hpp"
#include "fake_core.hpp"

using namespace check;

namespace {

double clamped(double v, double lo, double hi) { return v < lo ? lo : v > hi ? hi : v; }

template <typename S>
using Acc16 = TileAcc<S, 16, 32>;
using Params = Tile<TileType::Scaling, uint64_t, 1, 32>;

/* Parameter word of a scale, an offset and a sign choice. */
uint64_t word(float scale, int offset, bool is_signed)
{
	return (raw(scale) & 0xffffe000u) | uint64_t(offset & 0x1ff) << 37 |
	       uint64_t(is_signed) << 46;
}

template <typename S>
void fill_acc(context &t, Acc16<S> &a)
{
	for (int i = 0; i < 512; i++)
		a.data()[i] = S(t.below(4001) - 2000);
}

/* What a quantised element is to be; scale of 10 mantissa bits. */
template <typename D>
double quantised(double v, float scale, int offset, bool is_signed, bool relu)
{
	double r;

	if constexpr (std::is_integral_v<D>) {
		r = std::nearbyint(float(float(v) * scale + float(offset)));
		r = is_signed ? clamped(r, -128, 127) : clamped(r, 0, 255);
	} else {
		r = double(float(v) * scale);
		if (is_half_v<D>)
			r = clamped(r, -65504, 65504);
	}
	return relu && r < 0 ? 0 : r;
}

struct column {
	float scale;
	int offset;
	bool is_signed;
};

struct columns {
	Params fp;
	column c[32];

	template <typename D>
	void make(context &t, place &at)
	{
		at.put(fp);
		for (int i = 0; i < 32; i++) {
			c[i] = {float(1 + t.below(64)) / 512.0f, t.below(41) - 20,
				std::is_signed_v<D>};
			fp.data()[i] = word(c[i].scale, c[i].offset, c[i].is_signed);
		}
	}
};

template <typename D, bool Relu, typename Tile_, typename S>
void check_columns(context &t, const char *what, const Tile_ &d, const S &src, const columns &p,
		   int dr, int dc, int sr, int sc, int rows, int cols)
{
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < cols; c++) {
			const double want =
				quantised<D>(double(now(src, sr + r, sc + c)), p.c[c].scale,
					     p.c[c].offset, p.c[c].is_signed, Relu);
			const double got = double(float(now(d, dr + r, dc + c)));

			t.expect(std::is_integral_v<D> ? got == want : got == to_type<D>(want),
				 "%s: element (%d, %d) is %g, expected %g", what, r, c, got, want);
		}
}

template <typename D, typename S>
void vector_forms(context &t)
{
	using M = Tile<TileType::Mat, D, 32, 64, BLayout::ColMajor, -1, -1, SLayout::RowMajor>;
	Acc16<S> src;
	columns p;
	M d(16, 32), w(9, 7);
	Tile<TileType::Vec, D, 16, 32> v;
	place at;

	at.put(src), at.put(d), at.put(w), at.put(v);
	p.make<D>(t, at);
	fill_acc(t, src);
	TMOV_FP<M, Acc16<S>, Params>(d, src, p.fp);
	check_columns<D, false>(t, "TMOV_FP", d, src, p, 0, 0, 0, 0, 16, 32);
	TMOV_FP<M, Acc16<S>, Params, ReluPreMode::NormalRelu>(d, src, p.fp);
	check_columns<D, true>(t, "TMOV_FP relu", d, src, p, 0, 0, 0, 0, 16, 32);
	TMOV<decltype(v), Acc16<S>, Params, AccToVecMode::SingleModeVec0>(v, src, p.fp);
	check_columns<D, false>(t, "TMOV", v, src, p, 0, 0, 0, 0, 16, 32);
	TMOV(d, src, p.fp);
	check_columns<D, false>(t, "TMOV with parameters", d, src, p, 0, 0, 0, 0, 16, 32);
	TEXTRACT_FP(w, src, p.fp, 5, 11);
	check_columns<D, false>(t, "TEXTRACT_FP", w, src, p, 0, 0, 5, 11, 9, 7);
	fill(t, d, false);
	const auto before = copy_of(d);

	TINSERT_FP(d, src, p.fp, 7, 13);
	check_columns<D, false>(t, "TINSERT_FP", d, src, p, 7, 13, 0, 0, 16, 32);
	t.expect(raw(d.data()[0]) == raw(before[0]), "TINSERT_FP writes its window only");
	for (const char *op : {"TMOV_FP", "TEXTRACT_FP", "TINSERT_FP"})
		covers(t, op, d);
}

template <typename D, typename S>
void stores(context &t)
{
	using G = GlobalTensor<D, Shape<1, 1, 1, 13, 29>, Stride<1, 1, 1, 40, 1>>;
	Tile<TileType::Acc, S, 16, 32, BLayout::ColMajor, 13, 29, SLayout::RowMajor, 1024> src;
	D mem[13 * 40] = {};
	columns p;
	G g(mem);
	place at;

	covers(t, "TSTORE_FP", src, type_name<D>());
	at.put(src);
	p.make<D>(t, at);
	for (int i = 0; i < 512; i++)
		src.data()[i] = S(t.below(4001) - 2000);
	const auto check = [&](const char *what, bool relu) {
		for (int r = 0; r < 13; r++)
			for (int c = 0; c < 40; c++) {
				const double want =
					c >= 29 ? 0
						: quantised<D>(double(now(src, r, c)), p.c[c].scale,
							       p.c[c].offset, p.c[c].is_signed,
							       relu);

				t.expect(double(float(mem[r * 40 + c])) ==
						 (std::is_integral_v<D> ? want : to_type<D>(want)),
					 "%s (%d, %d): %g, expected %g", what, r, c,
					 double(float(mem[r * 40 + c])), want);
			}
	};

	TSTORE_FP(g, src, p.fp);
	check("TSTORE_FP", false);
	TSTORE_FP<decltype(src), G, Params, AtomicType::AtomicNone, ReluPreMode::NormalRelu>(g, src,
											     p.fp);
	check("TSTORE_FP relu", true);
	SET_QUANT_VECTOR(p.fp);
	if constexpr (fixpipe_::quantises<D, S>) {
		TSTORE(g, src);
		check("TSTORE after SET_QUANT_VECTOR", false);
	}
}

/* SET_QUANT_SCALAR holds for the block that sets it. */
template <typename D>
void scalar_preset(context &t)
{
	using G = GlobalTensor<D, Shape<1, 1, 1, 16, 32>, Stride<1, 1, 1, 32, 1>>;
	Acc16<float> src;
	D mem[512];
	G g(mem);
	place at;

	covers(t, "SET_QUANT_SCALAR", src, type_name<D>());
	at.put(src);
	fill_acc(t, src);
	SET_QUANT_SCALAR<D>(0.0625f);
	TSTORE(g, src);
	for (int r = 0; r < 16; r++)
		for (int c = 0; c < 32; c++)
			t.expect(double(mem[r * 32 + c]) ==
					 quantised<D>(double(now(src, r, c)), 0.0625f, 0,
						      std::is_signed_v<D>, false),
				 "TSTORE after SET_QUANT_SCALAR (%d, %d) is %d", r, c,
				 int(mem[r * 32 + c]));
	core_::self()->task_cookie++;
	TSTORE(g, src);
	t.expect(double(mem[33]) ==
			 quantised<D>(double(now(src, 1, 1)), 1.0f, 0, std::is_signed_v<D>, false),
		 "another task starts without a preset");
}

template <typename D, bool Asym>
void rows_int8(context &t, int rows, int cols)
{
	Part<float, 8, 64> src(rows, cols);
	Part<D, 8, 64> d(rows, cols);
	Tile<TileType::Vec, float, 8, 1, BLayout::ColMajor, -1, 1> scale(rows), offset(rows);
	place at;

	covers(t, Asym ? "TQUANT INT8_ASYM" : "TQUANT INT8_SYM", d);
	at.put(src), at.put(d), at.put(scale), at.put(offset);
	fill(t, src, false), fill(t, d);
	for (int r = 0; r < rows; r++)
		scale.data()[r] = float(1 + t.below(200)) / 16.0f,
		offset.data()[r] = float(t.below(100));
	const auto before = copy_of(d);

	if constexpr (Asym)
		TQUANT<QuantType::INT8_ASYM, decltype(d), decltype(src), decltype(scale)>(
			d, src, scale, &offset);
	else
		TQUANT<QuantType::INT8_SYM>(d, src, scale);
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < cols; c++) {
			const double v = std::nearbyint(now(src, r, c) * scale.data()[r]) +
					 (Asym ? offset.data()[r] : 0);

			matches(t, "TQUANT", r, c, now(d, r, c),
				int64_t(Asym ? clamped(v, 0, 255) : clamped(v, -128, 127)));
		}
	untouched(t, "TQUANT", d, before, rows, cols);
	Part<float, 8, 64> back(rows, cols);

	at.put(back);
	TDEQUANT(back, d, scale, offset);
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < cols; c++)
			matches(t, "TDEQUANT", r, c, now(back, r, c),
				double((float(now(d, r, c)) - offset.data()[r]) * scale.data()[r]));
	covers(t, "TDEQUANT", d);
}

/* floor(log2 |max|) + 127, as an exponent field has it. */
int field_of(double max)
{
	int e;

	if (max == 0)
		return 0;
	if (std::isinf(max))
		return 255;
	std::frexp(max, &e);
	return e + 126 < 0 ? 0 : e + 126;
}

/* The nearest of a format's values to @v, ties to the even code, by search over all codes. */
template <typename Codec>
double nearest(double v, int codes)
{
	double best = 0, gap = INFINITY;
	int at = 0;

	for (int i = 0; i < codes; i++) {
		const double x = double(Codec::to(uint8_t(i)));
		const double d = std::fabs(x - std::fabs(v));

		if (std::isnan(x) || std::isinf(x))
			continue;
		if (d < gap || (d == gap && !(i & 1) && (at & 1)))
			best = x, gap = d, at = i;
	}
	return std::copysign(best, v);
}

template <QuantType Type, QuantScaleAlg Alg, typename D>
void shared_exponents(context &t, float special)
{
	constexpr bool fp8 = Type == QuantType::MXFP8;
	constexpr double largest = fp8 ? 448 : 6;
	Full<float, 4, 128> src;
	Full<D, 4, 128> d;
	Tile<TileType::Vec, uint8_t, 4, 32, BLayout::RowMajor, 4, 4> exp;
	Tile<TileType::Vec, float, 4, 8, BLayout::RowMajor, 4, 4> max, scaling;
	place at;

	at.put(src), at.put(d), at.put(exp), at.put(max), at.put(scaling);
	for (int i = 0; i < 512; i++)
		src.data()[i] = float(t.below(2001) - 1000) * std::ldexp(1.0f, i / 32 * 5 - 40);
	src.data()[40] = special;
	for (int i = 64; i < 96; i++)
		src.data()[i] = 0;
	TQUANT<Type, Alg>(d, &exp, &max, &scaling, src);
	for (int r = 0; r < 4; r++)
		for (int g = 0; g < 4; g++) {
			double top = 0;
			bool nan = false;

			for (int i = 0; i < 32; i++) {
				const double v = std::fabs(src.data()[r * 128 + g * 32 + i]);

				nan = nan || std::isnan(v);
				top = v > top ? v : top;
			}
			int want;

			if (nan) {
				want = 255;
			} else if (Alg == QuantScaleAlg::NV) {
				const float x = float(top) * float(1.0 / largest);
				int e;

				want = std::isinf(x) ? 254
				       : x == 0	     ? 0
						     : field_of(x) + (std::frexp(x, &e) != 0.5f);
			} else {
				want = field_of(top) - (fp8 ? 8 : 2);
				want = want < 0 ? 0 : want;
			}
			const int code = now(exp, r, g);

			t.expect(code == want, "group (%d, %d): exponent %d, expected %d", r, g,
				 code, want);
			t.expect(nan == std::isnan(now(scaling, r, g)) &&
					 (nan || now(scaling, r, g) == std::ldexp(1.0, 127 - code)),
				 "group (%d, %d): scaling %g", r, g, double(now(scaling, r, g)));
			if (nan || std::isinf(top))
				continue;
			t.expect(now(max, r, g) == float(top), "group (%d, %d): max", r, g);
			for (int i = 0; i < 32; i++) {
				const double v = clamped(double(src.data()[r * 128 + g * 32 + i] *
								now(scaling, r, g)),
							 -largest, largest);
				const double expect = fp8 ? nearest<pto::bits_::e4m3_codec>(v, 127)
							  : nearest<pto::bits_::e2m1_codec>(v, 8);
				const double got = double(float(d.GetElement(r, g * 32 + i)));

				t.expect(got == expect,
					 "group (%d, %d) element %d: %g gives %g, not %g", r, g, i,
					 v, got, expect);
			}
		}
	covers(t, fp8 ? "TQUANT MXFP8" : "TQUANT MXFP4_E2M1", src);
}

} // namespace

CHECK(moves_by_parameters_quantise_each_column)
{
	vector_forms<int8_t, float>(t);
	vector_forms<uint8_t, int32_t>(t);
	vector_forms<half, int32_t>(t);
	vector_forms<bfloat16_t, float>(t);
}
CHECK(tstore_fp_quantises_each_column)
{
	stores<int8_t, int32_t>(t);
	stores<uint8_t, float>(t);
	stores<half, int32_t>(t);
	stores<bfloat16_t, float>(t);
}
CHECK(set_quant_scalar_holds_for_one_block)
{
	scalar_preset<int8_t>(t);
	scalar_preset<uint8_t>(t);
}
CHECK(tmov_with_a_scalar_parameter_quantises)
{
	Acc16<int32_t> src;
	Tile<TileType::Mat, int8_t, 16, 32, BLayout::ColMajor, 16, 32, SLayout::RowMajor> d;
	place at;

	at.put(src), at.put(d);
	fill_acc(t, src);
	TMOV<decltype(d), decltype(src), ReluPreMode::NormalRelu>(d, src, word(0.125f, -3, true));
	for (int r = 0; r < 16; r++)
		for (int c = 0; c < 32; c++)
			matches(t, "TMOV", r, c, now(d, r, c),
				int64_t(quantised<int8_t>(now(src, r, c), 0.125f, -3, true, true)));
}
CHECK(too_few_parameters_end_the_run)
{
	fake_core core;
	Acc16<float> src;
	Tile<TileType::Mat, int8_t, 16, 32, BLayout::ColMajor, 16, 32, SLayout::RowMajor> d;
	Tile<TileType::Scaling, uint64_t, 1, 16> fp;

	TASSIGN(src, 0), TASSIGN(d, 0), TASSIGN(fp, 0);
	t.expect(core.fails([&] { TMOV(d, src, fp); }) && strstr(core.text, "32 columns"), "%s",
		 core.text);
}
CHECK(tquant_scales_rows_and_tdequant_reverses)
{
	rows_int8<int8_t, false>(t, 8, 64);
	rows_int8<int8_t, false>(t, 5, 51);
	rows_int8<uint8_t, true>(t, 8, 64);
	rows_int8<uint8_t, true>(t, 3, 7);
}
CHECK(tquant_shares_exponents_of_32_columns)
{
	shared_exponents<QuantType::MXFP8, QuantScaleAlg::OCP, float8_e4m3_t>(t, 1.0f);
	shared_exponents<QuantType::MXFP8, QuantScaleAlg::OCP, float8_e4m3_t>(t, INFINITY);
	shared_exponents<QuantType::MXFP8, QuantScaleAlg::NV, float8_e4m3_t>(t, NAN);
	shared_exponents<QuantType::MXFP8, QuantScaleAlg::NV, float8_e4m3_t>(t, -INFINITY);
	shared_exponents<QuantType::MXFP4_E2M1, QuantScaleAlg::NV, float4_e2m1x2_t>(t, 0.0f);
}
CHECK(tquant_of_infinity_has_the_documented_exponents)
{
	Full<float, 1, 32> src;
	Full<float4_e2m1x2_t, 1, 64> d;
	Full<float8_e4m3_t, 1, 32> d8;
	Full<uint8_t, 1, 32> exp;
	Full<float, 1, 8> max, scaling;
	place at;

	at.put(src), at.put(d), at.put(d8), at.put(exp), at.put(max), at.put(scaling);
	TEXPANDS(src, 1.0f);
	src.data()[3] = INFINITY;
	TQUANT<QuantType::MXFP8>(d8, exp, max, scaling, src);
	t.expect(exp.data()[0] == 0xf7, "OCP fp8: %x", exp.data()[0]);
	TQUANT<QuantType::MXFP4_E2M1>(d, exp, max, scaling, src);
	t.expect(exp.data()[0] == 0xfd, "OCP fp4: %x", exp.data()[0]);
	TQUANT<QuantType::MXFP8, QuantScaleAlg::NV>(d8, exp, max, scaling, src);
	t.expect(exp.data()[0] == 0xfe, "NV: %x", exp.data()[0]);
}

#include "exports.hpp"
