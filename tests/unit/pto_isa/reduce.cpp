// SPDX-License-Identifier: MIT
/* Reductions along rows and columns (pto-isa §4.6). */
#include "element.hpp"

using namespace check;

namespace
{

using reducible =
	type_list<float, half, bfloat16_t, int8_t, int16_t, int32_t, uint16_t, uint32_t, int64_t>;
using indexable = type_list<float, half, int16_t, int32_t, uint16_t, uint32_t>;

/* One rounding to float per step, as the accumulator does; integers wrap. */
template <typename X>
X acc_add(X a, X b)
{
	if constexpr (std::is_floating_point_v<X>)
		return double(float(a + b));
	else
		return wrap_add(a, b);
}
template <typename X>
X acc_mul(X a, X b)
{
	if constexpr (std::is_floating_point_v<X>)
		return double(float(a * b));
	else
		return wrap_mul(a, b);
}
struct f_add {
	template <typename X>
	static X step(X a, X b)
	{
		return acc_add(a, b);
	}
};
struct f_mul {
	template <typename X>
	static X step(X a, X b)
	{
		return acc_mul(a, b);
	}
};
struct f_max {
	template <typename X>
	static X step(X a, X b)
	{
		return a < b ? b : a;
	}
};
struct f_min {
	template <typename X>
	static X step(X a, X b)
	{
		return b < a ? b : a;
	}
};

template <typename F, typename D, typename S>
bool check_rows(context &t, const char *op, const D &d, const S &src,
		const std::vector<typename D::DType> &before)
{
	for (int r = 0; r < src.GetValidRow(); r++) {
		auto acc = wide(now(src, r, 0));

		for (int c = 1; c < src.GetValidCol(); c++)
			acc = F::step(acc, wide(now(src, r, c)));
		if (!matches(t, op, r, 0, now(d, r, 0), expected<typename D::DType>(acc)))
			return false;
	}
	return untouched(t, op, d, before, src.GetValidRow(), 1);
}

#define ROWS(INST, F, D, S)                                                              \
	[&](auto d, auto s) {                                                            \
		place at;                                                                \
		char what[48];                                                           \
		covers(t, #INST, s);                                                     \
		snprintf(what, sizeof(what), #INST " %s",                                \
			 type_name<typename decltype(s)::DType>());                      \
		at.put(d), at.put(s);                                                    \
		fill(t, d), fill(t, s, std::is_integral_v<typename decltype(s)::DType>); \
		const auto before = copy_of(d);                                          \
		INST(d, s, s);                                                           \
		return check_rows<F>(t, what, d, s, before);                             \
	}(D, S)

/* All operations on a tile of another layout than plain rows. */
template <typename T, typename S>
bool row_layout(context &t)
{
	using Col = Tile<TileType::Vec, T, 32, 1, BLayout::ColMajor, -1, 1>;

	return ROWS(TROWSUM, f_add, Col(19), S(19, 53)) &&
	       ROWS(TROWSUM, f_add, Col(32), S(32, 64)) &&
	       ROWS(TROWMAX, f_max, Col(19), S(19, 53)) &&
	       ROWS(TROWMIN, f_min, Col(19), S(19, 53)) && ROWS(TROWPROD, f_mul, Col(9), S(9, 5));
}

template <typename T>
bool rows_of_type(context &t)
{
	using Col = Tile<TileType::Vec, T, 32, 1, BLayout::ColMajor, -1, 1>;

	return ROWS(TROWSUM, f_add, Col(19), (Part<T, 32, 64>(19, 53))) &&
	       ROWS(TROWSUM, f_add, Col(32), (Part<T, 32, 64>(32, 64))) &&
	       ROWS(TROWSUM, f_add, Col(3), (Part<T, 32, 64>(3, 1))) &&
	       ROWS(TROWMAX, f_max, Col(19), (Part<T, 32, 64>(19, 53))) &&
	       ROWS(TROWMIN, f_min, Col(19), (Part<T, 32, 64>(19, 53))) &&
	       ROWS(TROWPROD, f_mul, Col(9), (Part<T, 32, 64>(9, 6))) &&
	       row_layout<T, Dn<T, 32, 64>>(t) && row_layout<T, Nz<T, 32, 64>>(t);
}
template <typename... T>
void rows_all(context &t, type_list<T...>)
{
	(void)(rows_of_type<T>(t) && ...);
}

/* In the destination's type: rounded after every row. */
template <typename F, typename D, typename S>
bool check_cols(context &t, const char *op, const D &d, const S &src,
		const std::vector<typename D::DType> &before)
{
	using T = typename D::DType;

	for (int c = 0; c < src.GetValidCol(); c++) {
		auto acc = expected<T>(wide(now(src, 0, c)));

		for (int r = 1; r < src.GetValidRow(); r++)
			acc = expected<T>(F::step(acc, wide(now(src, r, c))));
		if (!matches(t, op, 0, c, now(d, 0, c), acc))
			return false;
	}
	return untouched(t, op, d, before, 1, src.GetValidCol());
}

#define COLS(INST, F, D, S)                                                              \
	[&](auto d, auto s) {                                                            \
		place at;                                                                \
		char what[48];                                                           \
		covers(t, #INST, s);                                                     \
		snprintf(what, sizeof(what), #INST " %s",                                \
			 type_name<typename decltype(s)::DType>());                      \
		at.put(d), at.put(s);                                                    \
		fill(t, d), fill(t, s, std::is_integral_v<typename decltype(s)::DType>); \
		const auto before = copy_of(d);                                          \
		INST(d, s);                                                              \
		return check_cols<F>(t, what, d, s, before);                             \
	}(D, S)

template <typename T, typename S>
bool col_layout(context &t)
{
	using R = Part<T, 1, 64>;

	return COLS(TCOLSUM, f_add, R(1, 53), S(19, 53)) &&
	       COLS(TCOLSUM, f_add, R(1, 64), S(32, 64)) &&
	       COLS(TCOLMAX, f_max, R(1, 53), S(19, 53)) &&
	       COLS(TCOLMIN, f_min, R(1, 53), S(19, 53)) &&
	       COLS(TCOLPROD, f_mul, R(1, 33), S(4, 33));
}

template <typename T>
bool cols_of_type(context &t)
{
	using P = Part<T, 16, 128>;
	using R = Part<T, 1, 128>;

	return COLS(TCOLSUM, f_add, R(1, 117), P(13, 117)) &&
	       COLS(TCOLSUM, f_add, R(1, 128), P(16, 128)) &&
	       COLS(TCOLSUM, f_add, R(1, 5), P(1, 5)) &&
	       COLS(TCOLMAX, f_max, R(1, 117), P(13, 117)) &&
	       COLS(TCOLMIN, f_min, R(1, 117), P(13, 117)) &&
	       COLS(TCOLPROD, f_mul, R(1, 33), P(4, 33)) && col_layout<T, Dn<T, 32, 64>>(t) &&
	       col_layout<T, Nz<T, 32, 64>>(t);
}
template <typename... T>
void cols_all(context &t, type_list<T...>)
{
	(void)(cols_of_type<T>(t) && ...);
}

template <bool Max, bool Rows, typename S>
int best(const S &s, int line)
{
	const int n = Rows ? s.GetValidCol() : s.GetValidRow();
	const auto get = [&](int i) { return wide(Rows ? now(s, line, i) : now(s, i, line)); };
	int at = 0;

	for (int i = 1; i < n; i++)
		if (Max ? get(i) > get(at) : get(i) < get(at))
			at = i;
	return at;
}

template <typename I, typename S>
bool row_args(context &t, S s)
{
	using T = typename S::DType;
	using Idx = Tile<TileType::Vec, I, 32, 1, BLayout::ColMajor, -1, 1>;
	using Val = Tile<TileType::Vec, T, 32, 1, BLayout::ColMajor, -1, 1>;
	const int rows = s.GetValidRow();
	place at;
	Idx i(rows);
	Val v(rows);

	covers(t, "TROWARGMAX", s), covers(t, "TROWARGMIN", s);
	at.put(s), at.put(i), at.put(v);
	for (size_t k = 0; k < s.Extent; k++)
		s.data()[k] = T(t.below(30) - (std::is_unsigned_v<T> ? 0 : 10));
	for (int max = 0; max < 2; max++) {
		max ? TROWARGMAX(i, s, s) : TROWARGMIN(i, s, s);
		for (int r = 0; r < rows; r++)
			if (!matches(t, "TROWARG", r, 0, now(i, r, 0),
				     int64_t(max ? best<true, true>(s, r)
						 : best<false, true>(s, r))))
				return false;
		max ? TROWARGMAX(v, i, s, s) : TROWARGMIN(v, i, s, s);
		for (int r = 0; r < rows; r++)
			if (!t.expect(raw(now(v, r, 0)) == raw(now(s, r, int(now(i, r, 0)))),
				      "TROWARG value of row %d", r))
				return false;
	}
	return true;
}

template <typename I, typename S>
bool col_args(context &t, S s)
{
	using T = typename S::DType;
	const int cols = s.GetValidCol();
	place at;
	Part<I, 1, 64> i(1, cols);
	Part<T, 1, 64> v(1, cols);

	covers(t, "TCOLARGMAX", s), covers(t, "TCOLARGMIN", s);
	at.put(s), at.put(i), at.put(v);
	for (size_t k = 0; k < s.Extent; k++)
		s.data()[k] = T(t.below(30) - (std::is_unsigned_v<T> ? 0 : 10));
	for (int max = 0; max < 2; max++) {
		max ? TCOLARGMAX(i, s, s) : TCOLARGMIN(i, s, s);
		for (int c = 0; c < cols; c++)
			if (!matches(t, "TCOLARG", 0, c, now(i, 0, c),
				     int64_t(max ? best<true, false>(s, c)
						 : best<false, false>(s, c))))
				return false;
		max ? TCOLARGMAX(v, i, s, s) : TCOLARGMIN(v, i, s, s);
		for (int c = 0; c < cols; c++)
			if (!t.expect(raw(now(v, 0, c)) == raw(now(s, int(now(i, 0, c)), c)),
				      "TCOLARG value of column %d", c))
				return false;
	}
	return true;
}

template <typename... T>
void args_all(context &t, type_list<T...>)
{
	using U = uint32_t;
	using I = int32_t;

	(void)((row_args<U>(t, Part<T, 32, 64>(21, 50)) &&
		row_args<I>(t, Part<T, 32, 64>(32, 64)) && row_args<I>(t, Dn<T, 32, 64>(19, 53)) &&
		row_args<U>(t, Nz<T, 32, 64>(1, 1)) && row_args<U>(t, Nz<T, 32, 64>(31, 37)) &&
		col_args<I>(t, Part<T, 32, 64>(21, 50)) &&
		col_args<U>(t, Part<T, 32, 64>(32, 64)) && col_args<U>(t, Dn<T, 32, 64>(19, 53)) &&
		col_args<I>(t, Nz<T, 32, 64>(31, 37))) &&
	       ...);
}

} // namespace

CHECK(row_reductions_go_from_left_to_right)
{
	rows_all(t, reducible());
}
CHECK(row_reductions_widen)
{
	using F = Tile<TileType::Vec, float, 32, 1, BLayout::ColMajor, -1, 1>;
	using I = Tile<TileType::Vec, int32_t, 32, 1, BLayout::ColMajor, -1, 1>;

	(void)(ROWS(TROWSUM, f_add, F(19), (Part<half, 32, 64>(19, 53))) &&
	       ROWS(TROWSUM, f_add, F(19), (Part<bfloat16_t, 32, 64>(19, 53))) &&
	       ROWS(TROWSUM, f_add, I(19), (Part<int16_t, 32, 64>(19, 53))));
}
CHECK(row_reductions_write_column_0_of_plain_tiles)
{
	(void)(ROWS(TROWSUM, f_add, (Part<float, 32, 8>(19, 1)), (Part<float, 32, 64>(19, 53))) &&
	       ROWS(TROWMAX, f_max, (Part<half, 32, 16>(19, 1)), (Part<half, 32, 64>(19, 53))) &&
	       ROWS(TROWMIN, f_min, (Part<int32_t, 32, 8>(19, 1)),
		    (Part<int32_t, 32, 64>(19, 53))));
}
CHECK(column_reductions_round_in_the_destination_type)
{
	cols_all(t, reducible());
}
CHECK(column_sums_widen)
{
	(void)COLS(TCOLSUM, f_add, (Part<float, 1, 64>(1, 53)), (Part<half, 16, 64>(13, 53)));
}
/* The order in which a tree adds is the device's own: whole numbers, so that it does not show. */
CHECK(tcolsum_adds_with_scratch_in_either_order)
{
	Part<float, 16, 128> s(13, 117), tmp(8, 117);
	Part<float, 1, 128> d(1, 117);
	place at;

	covers(t, "TCOLSUM", s);
	at.put(s), at.put(tmp), at.put(d);
	for (size_t i = 0; i < s.Extent; i++)
		s.data()[i] = float(t.below(2001) - 1000);
	for (int binary = 0; binary < 2; binary++) {
		fill(t, d);
		TCOLSUM(d, s, tmp, binary != 0);
		for (int c = 0; c < 117; c++) {
			double want = 0;

			for (int r = 0; r < 13; r++)
				want += double(now(s, r, c));
			matches(t, "TCOLSUM with scratch", 0, c, now(d, 0, c), want);
		}
	}
}
CHECK(arg_reductions_take_the_first_of_equals)
{
	args_all(t, indexable());
}

CHECK(row_maximum_keeps_a_leading_nan_only)
{
	place at;
	Full<float, 2, 16> s;
	Tile<TileType::Vec, float, 8, 1, BLayout::ColMajor, 2, 1> d;

	at.put(s), at.put(d);
	TEXPANDS(s, 1.0f);
	s.SetElement(0, 0, NAN), s.SetElement(0, 9, 5.0f);
	s.SetElement(1, 3, NAN), s.SetElement(1, 9, 5.0f);
	TROWMAX(d, s, s);
	t.expect(std::isnan(d.GetValue(0)) && d.GetValue(1) == 5.0f, "maxima %g, %g",
		 double(d.GetValue(0)), double(d.GetValue(1)));
}
template <typename D, typename S>
static void adds_pairs(context &t, D d, S s)
{
	using T = typename S::DType;
	place at;

	covers(t, "TPAIRREDUCESUM", s);
	at.put(s), at.put(d);
	fill(t, s, false), fill(t, d, false);
	const auto before = copy_of(d);
	const int cols = s.GetValidCol();

	TPAIRREDUCESUM(d, s);
	for (int r = 0; r < d.GetValidRow(); r++)
		for (int c = 0; c < d.GetValidCol(); c++)
			matches(t, "TPAIRREDUCESUM", r, c, now(d, r, c),
				to_type<T>(wide(now(s, r, 2 * c)) +
					   (2 * c + 1 < cols ? wide(now(s, r, 2 * c + 1)) : 0)));
	untouched(t, "TPAIRREDUCESUM", d, before, d.GetValidRow(), d.GetValidCol());
}
CHECK(tpairreducesum_adds_neighbours)
{
	adds_pairs(t, Part<float, 4, 16>(3, 11), Part<float, 4, 32>(3, 21));
	adds_pairs(t, Part<float, 4, 16>(4, 16), Part<float, 4, 32>(4, 32));
	adds_pairs(t, Part<half, 5, 16>(5, 9), Part<half, 5, 32>(5, 18));
	adds_pairs(t, Dn<half, 16, 8>(13, 3), Dn<half, 16, 8>(13, 5));
}

#include "exports.hpp"
