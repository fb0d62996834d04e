// SPDX-License-Identifier: MIT
/* Broadcasts along rows and columns (pto-isa §4.7). */
#include "element.hpp"

using namespace check;

namespace {

using copied = type_list<int8_t, int16_t, int32_t, half, bfloat16_t, float>;
using combined = type_list<float, half, bfloat16_t, int16_t, uint32_t, int8_t>;
using divided = type_list<float, half>;

struct b_add {
	template <typename X>
	X operator()(X a, X b) const
	{
		return wrap_add(a, b);
	}
};
struct b_sub {
	template <typename X>
	X operator()(X a, X b) const
	{
		return wrap_sub(a, b);
	}
};
struct b_mul {
	template <typename X>
	X operator()(X a, X b) const
	{
		return wrap_mul(a, b);
	}
};
struct b_div {
	template <typename X>
	X operator()(X a, X b) const
	{
		return a / b;
	}
};
struct b_max {
	template <typename X>
	X operator()(X a, X b) const
	{
		return a < b ? b : a;
	}
};
struct b_min {
	template <typename X>
	X operator()(X a, X b) const
	{
		return b < a ? b : a;
	}
};

template <typename T>
constexpr int block = 32 / int(sizeof(T));

/* d = op(a, vector) and op(vector, a) for the two spellings of a row vector. */
template <typename T, typename Call, typename Ref, typename V>
bool row_on(context &t, const char *op, const Call &call, const Ref &ref, V v, double tol)
{
	place at;
	Part<T, 16, 64> d(13, 43), a(13, 43);

	t.covers(op, type_name<T>());
	at.put(d), at.put(a), at.put(v);
	for (int first = 0; first < 2; first++) {
		fill(t, d, false), fill(t, a, false), fill(t, v, false);
		for (int r = 0; r < 13; r++)
			for (int c = 1; c < v.GetValidCol() && r % 3; c++)
				v.SetElement(r, c, v.GetElement(r, 0));
		const auto before = copy_of(d);

		first ? call(d, v, a) : call(d, a, v);
		for (int r = 0; r < 13; r++)
			for (int c = 0; c < 43; c++) {
				const auto x = wide(now(a, r, c)),
					   y = wide(now(v, r, c % v.GetValidCol()));

				if (!matches(t, op, r, c, now(d, r, c),
					     expected<T>(first ? ref(y, x) : ref(x, y)), tol))
					return false;
			}
		if (!untouched(t, op, d, before, 13, 43))
			return false;
	}
	return true;
}

template <typename T, typename Call, typename Ref>
bool rows(context &t, const char *op, const Call &call, const Ref &ref, double tol = 0)
{
	using Col = Tile<TileType::Vec, T, 32, 1, BLayout::ColMajor, 13, 1>;
	using Block = Tile<TileType::Vec, T, 16, block<T>, BLayout::RowMajor, 13, block<T>>;

	return row_on<T>(t, op, call, ref, Col(), tol) && row_on<T>(t, op, call, ref, Block(), tol);
}

template <typename T, typename Call, typename Ref>
bool cols(context &t, const char *op, const Call &call, const Ref &ref, double tol = 0)
{
	place at;
	Part<T, 16, 64> d(13, 43), a(13, 43);
	Part<T, 1, 64> v(1, 43);

	t.covers(op, type_name<T>());
	at.put(d), at.put(a), at.put(v);
	fill(t, d, false), fill(t, a, false), fill(t, v, false);
	const auto before = copy_of(d);

	call(d, a, v);
	for (int r = 0; r < 13; r++)
		for (int c = 0; c < 43; c++)
			if (!matches(t, op, r, c, now(d, r, c),
				     expected<T>(ref(wide(now(a, r, c)), wide(now(v, 0, c)))), tol))
				return false;
	return untouched(t, op, d, before, 13, 43);
}

#define CALL(INST) [](auto &d, const auto &a, const auto &b) { INST(d, a, b); }
template <typename Call, typename Ref, typename... T>
void rows_all(context &t, const char *op, const Call &call, const Ref &ref, type_list<T...>)
{
	(void)(rows<T>(t, op, call, ref) && ...);
}
template <typename Call, typename Ref, typename... T>
void cols_all(context &t, const char *op, const Call &call, const Ref &ref, type_list<T...>)
{
	(void)(cols<T>(t, op, call, ref) && ...);
}

template <typename T>
bool expand_on(context &t)
{
	place at;
	Part<T, 16, 64> d(13, 43);
	Tile<TileType::Vec, T, 32, 1, BLayout::ColMajor, 13, 1> col;
	Part<T, 1, 64> row(1, 43);

	t.covers("TROWEXPAND", type_name<T>());
	t.covers("TCOLEXPAND", type_name<T>());
	at.put(d), at.put(col), at.put(row);
	fill(t, d), fill(t, col), fill(t, row);
	const auto before = copy_of(d);

	TROWEXPAND(d, col);
	for (int r = 0; r < 13; r++)
		for (int c = 0; c < 43; c++)
			if (!t.expect(raw(now(d, r, c)) == raw(now(col, r, 0)),
				      "TROWEXPAND %s (%d, %d)", type_name<T>(), r, c))
				return false;
	TCOLEXPAND(d, row);
	for (int r = 0; r < 13; r++)
		for (int c = 0; c < 43; c++)
			if (!t.expect(raw(now(d, r, c)) == raw(now(row, 0, c)),
				      "TCOLEXPAND %s (%d, %d)", type_name<T>(), r, c))
				return false;
	return untouched(t, "expand", d, before, 13, 43);
}
template <typename... T>
void expand_all(context &t, type_list<T...>)
{
	(void)(expand_on<T>(t) && ...);
}

template <typename T>
auto exp_dif()
{
	return [](double a, double b) { return std::exp(to_type<T>(a - b)); };
}

} // namespace

CHECK(trowexpand_and_tcolexpand_repeat_a_vector) { expand_all(t, copied()); }
CHECK(trowexpandadd_takes_either_operand_as_vector)
{
	rows_all(t, "TROWEXPANDADD", CALL(TROWEXPANDADD), b_add(), combined());
}
CHECK(trowexpandsub_keeps_the_order)
{
	rows_all(t, "TROWEXPANDSUB", CALL(TROWEXPANDSUB), b_sub(), combined());
}
CHECK(trowexpandmul_takes_either_operand_as_vector)
{
	rows_all(t, "TROWEXPANDMUL", CALL(TROWEXPANDMUL), b_mul(), combined());
}
CHECK(trowexpanddiv_keeps_the_order)
{
	rows_all(t, "TROWEXPANDDIV", CALL(TROWEXPANDDIV), b_div(), divided());
}
CHECK(trowexpandmax_takes_the_larger)
{
	rows_all(t, "TROWEXPANDMAX", CALL(TROWEXPANDMAX), b_max(), combined());
}
CHECK(trowexpandmin_takes_the_smaller)
{
	rows_all(t, "TROWEXPANDMIN", CALL(TROWEXPANDMIN), b_min(), combined());
}
CHECK(trowexpandexpdif_rounds_the_difference)
{
	(void)(rows<float>(t, "TROWEXPANDEXPDIF", CALL(TROWEXPANDEXPDIF), exp_dif<float>(), 2) &&
	       rows<half>(t, "TROWEXPANDEXPDIF", CALL(TROWEXPANDEXPDIF), exp_dif<half>(), 1));
}
CHECK(tcolexpandadd_combines_with_row_0)
{
	cols_all(t, "TCOLEXPANDADD", CALL(TCOLEXPANDADD), b_add(), combined());
}
CHECK(tcolexpandsub_combines_with_row_0)
{
	cols_all(t, "TCOLEXPANDSUB", CALL(TCOLEXPANDSUB), b_sub(), combined());
}
CHECK(tcolexpandmul_combines_with_row_0)
{
	cols_all(t, "TCOLEXPANDMUL", CALL(TCOLEXPANDMUL), b_mul(), combined());
}
CHECK(tcolexpanddiv_combines_with_row_0)
{
	cols_all(t, "TCOLEXPANDDIV", CALL(TCOLEXPANDDIV), b_div(), divided());
}
CHECK(tcolexpandmax_combines_with_row_0)
{
	cols_all(t, "TCOLEXPANDMAX", CALL(TCOLEXPANDMAX), b_max(), combined());
}
CHECK(tcolexpandmin_combines_with_row_0)
{
	cols_all(t, "TCOLEXPANDMIN", CALL(TCOLEXPANDMIN), b_min(), combined());
}
CHECK(tcolexpandexpdif_rounds_the_difference)
{
	(void)(cols<float>(t, "TCOLEXPANDEXPDIF", CALL(TCOLEXPANDEXPDIF), exp_dif<float>(), 2) &&
	       cols<half>(t, "TCOLEXPANDEXPDIF", CALL(TCOLEXPANDEXPDIF), exp_dif<half>(), 1));
}
CHECK(broadcasts_follow_other_layouts)
{
	place at;
	Dn<float, 32, 8> d(29, 7), a(29, 7);
	Tile<TileType::Vec, float, 32, 1, BLayout::ColMajor, 29, 1> v;
	Part<float, 1, 8> row(1, 7);

	at.put(d), at.put(a), at.put(v), at.put(row);
	fill(t, d), fill(t, a, false), fill(t, v, false), fill(t, row, false);
	const auto before = copy_of(d);

	TROWEXPANDSUB(d, a, v);
	for (int r = 0; r < 29; r++)
		for (int c = 0; c < 7; c++)
			matches(t, "TROWEXPANDSUB", r, c, now(d, r, c),
				double(now(a, r, c) - now(v, r, 0)));
	TCOLEXPANDSUB(d, a, row);
	for (int r = 0; r < 29; r++)
		for (int c = 0; c < 7; c++)
			matches(t, "TCOLEXPANDSUB", r, c, now(d, r, c),
				double(now(a, r, c) - now(row, 0, c)));
	untouched(t, "column-major", d, before, 29, 7);
}

#include "exports.hpp"
