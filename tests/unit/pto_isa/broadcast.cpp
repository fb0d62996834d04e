// SPDX-License-Identifier: MIT
/* Broadcasts along rows and columns (pto-isa §4.7). */
#include "refs.hpp"

using namespace check;

namespace
{

using copied =
	type_list<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, half, bfloat16_t, float>;
using combined =
	type_list<float, half, bfloat16_t, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t>;
using divided = type_list<float, half, bfloat16_t, int16_t, int32_t>;

template <typename T>
constexpr int block = 32 / int(sizeof(T));

/* d = op(a, vector) and op(vector, a) for the two spellings of a row vector. */
template <typename D, typename Call, typename Ref, typename V>
bool row_on(context &t, const char *op, const Call &call, const Ref &ref, D d, V v, double tol)
{
	using T = typename D::DType;
	const int rows = d.GetValidRow(), cols = d.GetValidCol();
	D a = d;
	place at;

	covers(t, op, d);
	at.put(d), at.put(a), at.put(v);
	for (int first = 0; first < 2; first++) {
		fill(t, d, false), fill(t, a, false), fill(t, v, false);
		for (int r = 0; r < rows; r++)
			for (int c = 1; c < v.GetValidCol() && r % 3; c++)
				v.SetElement(r, c, v.GetElement(r, 0));
		const auto before = copy_of(d);

		first ? call(d, v, a) : call(d, a, v);
		for (int r = 0; r < rows; r++)
			for (int c = 0; c < cols; c++) {
				const auto x = wide(now(a, r, c)),
					   y = wide(now(v, r, c % v.GetValidCol()));

				if (!matches(t, op, r, c, now(d, r, c),
					     expected<T>(first ? ref(y, x) : ref(x, y)), tol))
					return false;
			}
		if (!untouched(t, op, d, before, rows, cols))
			return false;
	}
	return true;
}

/* Full and odd parts of plain tiles with both vectors; the other layouts with a column. */
template <typename T, typename Call, typename Ref>
bool rows(context &t, const char *op, const Call &call, const Ref &ref, double tol = 0)
{
	using Col = Tile<TileType::Vec, T, 32, 1, BLayout::ColMajor, -1, 1>;
	using Block = Tile<TileType::Vec, T, 16, block<T>, BLayout::RowMajor, -1, block<T>>;
	const auto on = [&](auto d, auto v) { return row_on(t, op, call, ref, d, v, tol); };

	return on(Part<T, 16, 64>(13, 43), Col(13)) && on(Part<T, 16, 64>(16, 64), Col(16)) &&
	       on(Part<T, 16, 64>(1, 43), Col(1)) && on(Part<T, 16, 64>(13, 43), Block(13)) &&
	       on(Dn<T, 32, 8>(29, 7), Col(29)) && on(Nz<T, 32, 64>(19, 37), Col(19));
}

template <typename D, typename Call, typename Ref>
bool col_on(context &t, const char *op, const Call &call, const Ref &ref, D d, double tol)
{
	using T = typename D::DType;
	const int rows = d.GetValidRow(), cols = d.GetValidCol();
	D a = d;
	Part<T, 1, 64> v(1, cols);
	place at;

	covers(t, op, d);
	at.put(d), at.put(a), at.put(v);
	fill(t, d, false), fill(t, a, false), fill(t, v, false);
	const auto before = copy_of(d);

	call(d, a, v);
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < cols; c++)
			if (!matches(t, op, r, c, now(d, r, c),
				     expected<T>(ref(wide(now(a, r, c)), wide(now(v, 0, c)))), tol))
				return false;
	return untouched(t, op, d, before, rows, cols);
}

template <typename T, typename Call, typename Ref>
bool cols(context &t, const char *op, const Call &call, const Ref &ref, double tol = 0)
{
	const auto on = [&](auto d) { return col_on(t, op, call, ref, d, tol); };

	return on(Part<T, 16, 64>(13, 43)) && on(Part<T, 16, 64>(16, 64)) &&
	       on(Part<T, 16, 64>(1, 1)) && on(Dn<T, 32, 8>(29, 7)) && on(Nz<T, 32, 64>(19, 37));
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

template <typename D>
bool expand_on(context &t, D d)
{
	using T = typename D::DType;
	const int rows = d.GetValidRow(), cols = d.GetValidCol();
	Tile<TileType::Vec, T, 32, 1, BLayout::ColMajor, -1, 1> col(rows);
	Part<T, 1, 64> row(1, cols);
	place at;

	covers(t, "TROWEXPAND", d), covers(t, "TCOLEXPAND", d);
	at.put(d), at.put(col), at.put(row);
	fill(t, d), fill(t, col), fill(t, row);
	const auto before = copy_of(d);

	TROWEXPAND(d, col);
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < cols; c++)
			if (!t.expect(raw(now(d, r, c)) == raw(now(col, r, 0)),
				      "TROWEXPAND %s (%d, %d)", type_name<T>(), r, c))
				return false;
	TCOLEXPAND(d, row);
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < cols; c++)
			if (!t.expect(raw(now(d, r, c)) == raw(now(row, 0, c)),
				      "TCOLEXPAND %s (%d, %d)", type_name<T>(), r, c))
				return false;
	return untouched(t, "expand", d, before, rows, cols);
}
template <typename... T>
void expand_all(context &t, type_list<T...>)
{
	(void)((expand_on(t, Part<T, 16, 64>(13, 43)) && expand_on(t, Part<T, 16, 64>(16, 64)) &&
		expand_on(t, Dn<T, 32, 8>(29, 7)) && expand_on(t, Nz<T, 32, 64>(19, 37))) &&
	       ...);
}

template <typename T>
auto exp_dif()
{
	return [](double a, double b) { return std::exp(to_type<T>(a - b)); };
}

} // namespace

CHECK(trowexpand_and_tcolexpand_repeat_a_vector)
{
	expand_all(t, copied());
}
CHECK(trowexpandadd_takes_either_operand_as_vector)
{
	rows_all(t, "TROWEXPANDADD", CALL(TROWEXPANDADD), r_add(), combined());
}
CHECK(trowexpandsub_keeps_the_order)
{
	rows_all(t, "TROWEXPANDSUB", CALL(TROWEXPANDSUB), r_sub(), combined());
}
CHECK(trowexpandmul_takes_either_operand_as_vector)
{
	rows_all(t, "TROWEXPANDMUL", CALL(TROWEXPANDMUL), r_mul(), combined());
}
CHECK(trowexpanddiv_keeps_the_order)
{
	rows_all(t, "TROWEXPANDDIV", CALL(TROWEXPANDDIV), r_div(), divided());
}
CHECK(trowexpandmax_takes_the_larger)
{
	rows_all(t, "TROWEXPANDMAX", CALL(TROWEXPANDMAX), r_max(), combined());
}
CHECK(trowexpandmin_takes_the_smaller)
{
	rows_all(t, "TROWEXPANDMIN", CALL(TROWEXPANDMIN), r_min(), combined());
}
CHECK(trowexpandexpdif_rounds_the_difference)
{
	(void)(rows<float>(t, "TROWEXPANDEXPDIF", CALL(TROWEXPANDEXPDIF), exp_dif<float>(), 2) &&
	       rows<half>(t, "TROWEXPANDEXPDIF", CALL(TROWEXPANDEXPDIF), exp_dif<half>(), 1));
}
CHECK(tcolexpandadd_combines_with_row_0)
{
	cols_all(t, "TCOLEXPANDADD", CALL(TCOLEXPANDADD), r_add(), combined());
}
CHECK(tcolexpandsub_combines_with_row_0)
{
	cols_all(t, "TCOLEXPANDSUB", CALL(TCOLEXPANDSUB), r_sub(), combined());
}
CHECK(tcolexpandmul_combines_with_row_0)
{
	cols_all(t, "TCOLEXPANDMUL", CALL(TCOLEXPANDMUL), r_mul(), combined());
}
CHECK(tcolexpanddiv_combines_with_row_0)
{
	cols_all(t, "TCOLEXPANDDIV", CALL(TCOLEXPANDDIV), r_div(), divided());
}
CHECK(tcolexpandmax_combines_with_row_0)
{
	cols_all(t, "TCOLEXPANDMAX", CALL(TCOLEXPANDMAX), r_max(), combined());
}
CHECK(tcolexpandmin_combines_with_row_0)
{
	cols_all(t, "TCOLEXPANDMIN", CALL(TCOLEXPANDMIN), r_min(), combined());
}
CHECK(tcolexpandexpdif_rounds_the_difference)
{
	(void)(cols<float>(t, "TCOLEXPANDEXPDIF", CALL(TCOLEXPANDEXPDIF), exp_dif<float>(), 2) &&
	       cols<half>(t, "TCOLEXPANDEXPDIF", CALL(TCOLEXPANDEXPDIF), exp_dif<half>(), 1));
}
#include "exports.hpp"
