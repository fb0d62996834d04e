// SPDX-License-Identifier: MIT
/* Comparisons into bit masks and selection (pto-isa §4.5). */
#include "element.hpp"

using namespace check;

namespace {

template <typename X>
bool relation(CmpMode m, X a, X b)
{
	switch (m) {
	case CmpMode::EQ:
		return a == b;
	case CmpMode::NE:
		return a != b;
	case CmpMode::LT:
		return a < b;
	case CmpMode::LE:
		return a <= b;
	case CmpMode::GT:
		return a > b;
	default:
		return a >= b;
	}
}

constexpr CmpMode modes[] = {CmpMode::EQ, CmpMode::NE, CmpMode::LT,
			     CmpMode::LE, CmpMode::GT, CmpMode::GE};

/* Expected mask: bit c of row r, everything else 0. */
template <typename M, typename F>
bool check_mask(context &t, const char *what, const M &mask, int rows, int cols, const F &bit)
{
	const int width = 8 * int(sizeof(typename M::DType));

	for (int r = 0; r < M::Rows; r++)
		for (int c = 0; c < M::Cols * width; c++) {
			const uint64_t word = uint64_t(mask.data()[r * M::Cols + c / width]);
			const bool got = word >> (c % width) & 1,
				   want = r < rows && c < cols && bit(r, c);

			if (!t.expect(got == want, "%s: bit (%d, %d) is %d", what, r, c, got))
				return false;
		}
	return true;
}

template <typename M, typename A>
bool compare_on(context &t, A a, A b)
{
	using T = typename A::DType;
	char what[48];
	place at;
	M mask;

	at.put(a), at.put(b), at.put(mask);
	fill(t, a), fill(t, b);
	for (size_t i = 0; i < A::Extent; i += 3)
		b.data()[i] = a.data()[i];
	for (CmpMode m : modes) {
		fill(t, mask);
		covers(t, "TCMP", a), covers(t, "TCMPS", a);
		snprintf(what, sizeof(what), "TCMP %s mode %d", type_name<T>(), int(m));
		TCMP(mask, a, b, m);
		if (!check_mask(t, what, mask, a.GetValidRow(), a.GetValidCol(), [&](int r, int c) {
			    return relation(m, wide(now(a, r, c)), wide(now(b, r, c)));
		    }))
			return false;
		const T s = now(a, 0, 0);

		fill(t, mask);
		snprintf(what, sizeof(what), "TCMPS %s mode %d", type_name<T>(), int(m));
		TCMPS(mask, a, s, m);
		if (!check_mask(t, what, mask, a.GetValidRow(), a.GetValidCol(), [&](int r, int c) {
			    return relation(m, wide(now(a, r, c)), wide(s));
		    }))
			return false;
	}
	return true;
}

template <typename... T>
void compare_all(context &t, type_list<T...>)
{
	using U8 = Full<uint8_t, 8, 32>;
	using U32 = Full<uint32_t, 8, 8>;

	using Tall = Full<uint8_t, 32, 32>;

	(void)((compare_on<U8>(t, Part<T, 8, 64>(7, 53), Part<T, 8, 64>(7, 53)) &&
		compare_on<U32>(t, Part<T, 8, 64>(8, 64), Part<T, 8, 64>(8, 64)) &&
		compare_on<U8>(t, Part<T, 8, 64>(1, 1), Part<T, 8, 64>(1, 1)) &&
		compare_on<Tall>(t, Dn<T, 32, 8>(29, 7), Dn<T, 32, 8>(29, 7)) &&
		compare_on<Tall>(t, Nz<T, 32, 96>(31, 81), Nz<T, 32, 96>(31, 81))) &&
	       ...);
}

template <typename D, typename M>
bool select_on(context &t, D d, M mask)
{
	using T = typename D::DType;
	const int width = 8 * int(sizeof(typename M::DType));
	place at;
	D a = d, b = d;

	covers(t, "TSEL", d), covers(t, "TSELS", d);
	at.put(d), at.put(a), at.put(b), at.put(mask);
	fill(t, d), fill(t, a), fill(t, b), fill(t, mask);
	const auto before = copy_of(d);
	const auto bit = [&](int r, int c) {
		return uint64_t(mask.data()[r * M::Cols + c / width]) >> (c % width) & 1;
	};

	TSEL(d, mask, a, b, mask);
	for (int r = 0; r < d.GetValidRow(); r++)
		for (int c = 0; c < d.GetValidCol(); c++)
			if (!t.expect(raw(now(d, r, c)) ==
					      raw(bit(r, c) ? now(a, r, c) : now(b, r, c)),
				      "TSEL %s: element (%d, %d)", type_name<T>(), r, c))
				return false;
	if (!untouched(t, "TSEL", d, before, d.GetValidRow(), d.GetValidCol()))
		return false;
	const T s = random_value<T>(t, false);

	TSELS(d, mask, a, mask, s);
	for (int r = 0; r < d.GetValidRow(); r++)
		for (int c = 0; c < d.GetValidCol(); c++)
			if (!t.expect(raw(now(d, r, c)) == raw(bit(r, c) ? now(a, r, c) : s),
				      "TSELS %s: element (%d, %d)", type_name<T>(), r, c))
				return false;
	return untouched(t, "TSELS", d, before, d.GetValidRow(), d.GetValidCol());
}

template <typename... T>
void select_all(context &t, type_list<T...>)
{
	(void)((select_on(t, Part<T, 8, 64>(5, 43), Full<uint8_t, 8, 32>()) &&
		select_on(t, Part<T, 8, 64>(8, 64), Full<uint16_t, 8, 16>()) &&
		select_on(t, Part<T, 8, 64>(3, 64), Full<uint32_t, 8, 8>()) &&
		select_on(t, Part<T, 8, 64>(1, 1), Full<uint8_t, 8, 32>()) &&
		select_on(t, Dn<T, 32, 8>(29, 7), Full<uint8_t, 32, 32>()) &&
		select_on(t, Nz<T, 32, 64>(31, 37), Full<uint8_t, 32, 32>())) &&
	       ...);
}

} // namespace

CHECK(tcmp_packs_bits_lsb_first_for_floats) { compare_all(t, floats()); }
CHECK(tcmp_packs_bits_lsb_first_for_integers)
{
	compare_all(t, integers());
}
CHECK(tsel_takes_the_mask_row_by_row) { select_all(t, numbers()); }

#include "exports.hpp"
