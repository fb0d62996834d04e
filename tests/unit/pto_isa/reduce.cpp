// SPDX-License-Identifier: MIT
/* Reductions along rows and columns (pto-isa §4.6). */
#include "element.hpp"

using namespace check;

namespace {

using reducible = type_list<float, half, bfloat16_t, int16_t, int32_t, uint16_t, uint32_t, int64_t>;
using indexable = type_list<float, half, int16_t, int32_t>;

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
		t.covers(#INST, type_name<typename decltype(s)::DType>());               \
		snprintf(what, sizeof(what), #INST " %s",                                \
			 type_name<typename decltype(s)::DType>());                      \
		at.put(d), at.put(s);                                                    \
		fill(t, d), fill(t, s, std::is_integral_v<typename decltype(s)::DType>); \
		const auto before = copy_of(d);                                          \
		INST(d, s, s);                                                           \
		return check_rows<F>(t, what, d, s, before);                             \
	}(D, S)

template <typename T>
bool rows_of_type(context &t)
{
	using Col = Tile<TileType::Vec, T, 32, 1, BLayout::ColMajor, -1, 1>;

	return ROWS(TROWSUM, f_add, Col(19), (Part<T, 32, 64>(19, 53))) &&
	       ROWS(TROWSUM, f_add, Col(32), (Part<T, 32, 64>(32, 64))) &&
	       ROWS(TROWSUM, f_add, Col(3), (Part<T, 32, 64>(3, 1))) &&
	       ROWS(TROWMAX, f_max, Col(19), (Part<T, 32, 64>(19, 53))) &&
	       ROWS(TROWMIN, f_min, Col(19), (Part<T, 32, 64>(19, 53))) &&
	       ROWS(TROWPROD, f_mul, Col(9), (Part<T, 32, 64>(9, 6)));
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
		t.covers(#INST, type_name<typename decltype(s)::DType>());               \
		snprintf(what, sizeof(what), #INST " %s",                                \
			 type_name<typename decltype(s)::DType>());                      \
		at.put(d), at.put(s);                                                    \
		fill(t, d), fill(t, s, std::is_integral_v<typename decltype(s)::DType>); \
		const auto before = copy_of(d);                                          \
		INST(d, s);                                                              \
		return check_cols<F>(t, what, d, s, before);                             \
	}(D, S)

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
	       COLS(TCOLPROD, f_mul, R(1, 33), P(4, 33));
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

template <typename T>
bool row_args(context &t)
{
	using Idx = Tile<TileType::Vec, uint32_t, 32, 1, BLayout::ColMajor, -1, 1>;
	using Val = Tile<TileType::Vec, T, 32, 1, BLayout::ColMajor, -1, 1>;
	place at;
	Part<T, 32, 64> s(21, 50);
	Idx i(21);
	Val v(21);

	t.covers("TROWARGMAX", type_name<T>());
	t.covers("TROWARGMIN", type_name<T>());
	at.put(s), at.put(i), at.put(v);
	for (size_t k = 0; k < s.Extent; k++)
		s.data()[k] = T(float(t.below(30) - 10));
	for (int max = 0; max < 2; max++) {
		max ? TROWARGMAX(i, s, s) : TROWARGMIN(i, s, s);
		for (int r = 0; r < 21; r++)
			if (!matches(t, "TROWARG", r, 0, now(i, r, 0),
				     int64_t(max ? best<true, true>(s, r)
						 : best<false, true>(s, r))))
				return false;
		max ? TROWARGMAX(v, i, s, s) : TROWARGMIN(v, i, s, s);
		for (int r = 0; r < 21; r++)
			if (!t.expect(raw(now(v, r, 0)) == raw(now(s, r, int(now(i, r, 0)))),
				      "TROWARG value of row %d", r))
				return false;
	}
	return true;
}

template <typename T>
bool col_args(context &t)
{
	place at;
	Part<T, 32, 64> s(21, 50);
	Part<int32_t, 1, 64> i(1, 50);
	Part<T, 1, 64> v(1, 50);

	t.covers("TCOLARGMAX", type_name<T>());
	t.covers("TCOLARGMIN", type_name<T>());
	at.put(s), at.put(i), at.put(v);
	for (size_t k = 0; k < s.Extent; k++)
		s.data()[k] = T(float(t.below(30) - 10));
	for (int max = 0; max < 2; max++) {
		max ? TCOLARGMAX(i, s, s) : TCOLARGMIN(i, s, s);
		for (int c = 0; c < 50; c++)
			if (!matches(t, "TCOLARG", 0, c, now(i, 0, c),
				     int64_t(max ? best<true, false>(s, c)
						 : best<false, false>(s, c))))
				return false;
		max ? TCOLARGMAX(v, i, s, s) : TCOLARGMIN(v, i, s, s);
		for (int c = 0; c < 50; c++)
			if (!t.expect(raw(now(v, 0, c)) == raw(now(s, int(now(i, 0, c)), c)),
				      "TCOLARG value of column %d", c))
				return false;
	}
	return true;
}

template <typename... T>
void args_all(context &t, type_list<T...>)
{
	(void)((row_args<T>(t) && col_args<T>(t)) && ...);
}

} // namespace

CHECK(row_reductions_go_from_left_to_right) { rows_all(t, reducible()); }
CHECK(row_reductions_widen)
{
	using F = Tile<TileType::Vec, float, 32, 1, BLayout::ColMajor, -1, 1>;
	using I = Tile<TileType::Vec, int32_t, 32, 1, BLayout::ColMajor, -1, 1>;

	(void)(ROWS(TROWSUM, f_add, F(19), (Part<half, 32, 64>(19, 53))) &&
	       ROWS(TROWSUM, f_add, F(19), (Part<bfloat16_t, 32, 64>(19, 53))) &&
	       ROWS(TROWSUM, f_add, I(19), (Part<int16_t, 32, 64>(19, 53))));
}
CHECK(row_reductions_follow_every_layout)
{
	using Col = Tile<TileType::Vec, float, 32, 1, BLayout::ColMajor, -1, 1>;

	(void)(ROWS(TROWSUM, f_add, (Part<float, 32, 8>(19, 1)), (Part<float, 32, 64>(19, 53))) &&
	       ROWS(TROWSUM, f_add, Col(19), (Dn<float, 32, 64>(19, 53))) &&
	       ROWS(TROWMAX, f_max, Col(19), (Nz<float, 32, 64>(19, 53))));
}
CHECK(column_reductions_round_in_the_destination_type) { cols_all(t, reducible()); }
CHECK(column_reductions_follow_every_layout)
{
	(void)(COLS(TCOLSUM, f_add, (Part<float, 1, 64>(1, 53)), (Dn<float, 32, 64>(19, 53))) &&
	       COLS(TCOLMAX, f_max, (Part<half, 1, 64>(1, 53)), (Nz<half, 32, 64>(19, 53))) &&
	       COLS(TCOLSUM, f_add, (Part<float, 1, 64>(1, 53)), (Part<half, 16, 64>(13, 53))));
}
CHECK(arg_reductions_take_the_first_of_equals) { args_all(t, indexable()); }

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
CHECK(tpairreducesum_adds_neighbours)
{
	place at;
	Part<float, 4, 32> s(3, 21);
	Part<float, 4, 16> d(3, 11);

	at.put(s), at.put(d);
	fill(t, s, false), fill(t, d, false);
	const auto before = copy_of(d);

	t.covers("TPAIRREDUCESUM", type_name<typename decltype(s)::DType>());
	TPAIRREDUCESUM(d, s);
	for (int r = 0; r < 3; r++)
		for (int c = 0; c < 11; c++)
			matches(t, "TPAIRREDUCESUM", r, c, now(d, r, c),
				double(now(s, r, 2 * c) +
				       (2 * c + 1 < 21 ? now(s, r, 2 * c + 1) : 0.0f)));
	untouched(t, "TPAIRREDUCESUM", d, before, 3, 11);
}

#include "exports.hpp"
