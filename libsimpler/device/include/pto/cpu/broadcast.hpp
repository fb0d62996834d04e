/* SPDX-License-Identifier: MIT */
/*
 * Broadcasts of a column over the columns, or of a row over the rows, alone or
 * combined with a full tile.
 *
 * Spec: pto-isa §4.7, §12 cases 23 and 24.
 */
#ifndef PTO_CPU_BROADCAST_HPP
#define PTO_CPU_BROADCAST_HPP

#include "pto/common/event.hpp"
#include "pto/cpu/copy.hpp"
#include "pto/cpu/ops.hpp"
#include "pto/cpu/spans.hpp"

namespace pto {
namespace simd_ {

/* exp(a - b), the difference rounded to the element type. */
template <typename T>
struct op_exp_dif {
	PTO_SIMD vfloat operator()(vfloat a, vfloat b) const { return vexp(round_to<T>(a - b)); }
};

/* op with its operands exchanged */
template <typename Op>
struct swapped {
	template <typename V>
	PTO_SIMD V operator()(V a, V b) const
	{
		return Op()(b, a);
	}
};

} // namespace simd_

namespace broadcast_ {

/* One element by the operation on vectors. */
template <typename Op, typename T>
inline T single(T a, T b)
{
	T r;

	simd_::store_part(&r, Op()(simd_::load_part(&a, 1), simd_::load_part(&b, 1)), 1);
	return r;
}

/* True when the row's vector operand holds one value. */
template <typename V>
inline bool is_uniform(const V &vec, int r)
{
	for (int c = 1; c < vec.GetValidCol(); c++) {
		const auto a = vec.GetElement(r, 0), b = vec.GetElement(r, c);

		if (memcmp(&a, &b, sizeof(a)))
			return false;
	}
	return true;
}

/* d[r, c] = op(full[r, c], vec[r, c mod its valid columns]) */
template <typename Op, typename D, typename F, typename V>
inline void row_vector(D &d, const F &full, const V &vec)
{
	using T = typename D::DType;
	const int rows = d.GetValidRow(), cols = d.GetValidCol(), period = vec.GetValidCol();

	if (core_::checked() && (vec.GetValidRow() != rows || period < 1))
		checking_::fail_here("row broadcast: destination %d x %d, vector %d x %d", rows, cols,
			   vec.GetValidRow(), period);
	for (int r = 0; r < rows && cols > 0; r++) {
		if (spans_::is_rows<D> && spans_::is_rows<F> && is_uniform(vec, r)) {
			const auto s = simd_::splat<simd_::vec_of<T>>(
				simd_::compute_t<T>(vec.GetElement(r, 0)));

			simd_::map(simd_::with_scalar(Op(), s), size_t(cols),
				  d.data() + D::Offset(r, 0),
				  static_cast<const T *>(full.data() + F::Offset(r, 0)));
		} else {
			for (int c = 0; c < cols; c++)
				d.data()[D::Offset(r, c)] = single<Op>(
					full.GetElement(r, c), vec.GetElement(r, c % period));
		}
	}
}

/* Either operand may be the vector; the order of the operation is kept. */
template <typename Op, typename D, typename A, typename B>
inline void by_row(D &d, const A &a, const B &b)
{
	using T = typename D::DType;
	static_assert(std::is_same_v<T, typename A::DType> && std::is_same_v<T, typename B::DType>,
		      "[PTO][SA] element types must be equal");

	if (a.GetValidRow() == d.GetValidRow() && a.GetValidCol() == d.GetValidCol())
		row_vector<Op>(d, a, b);
	else
		row_vector<simd_::swapped<Op>>(d, b, a);
}

/* d[r, c] = op(a[r, c], b[0, c]) */
template <typename Op, typename D, typename A, typename B>
inline void by_col(D &d, const A &a, const B &b)
{
	using T = typename D::DType;
	static_assert(std::is_same_v<T, typename A::DType> && std::is_same_v<T, typename B::DType>,
		      "[PTO][SA] element types must be equal");
	const int rows = d.GetValidRow(), cols = d.GetValidCol();

	if (core_::checked() && b.GetValidCol() != cols)
		checking_::fail_here("column broadcast: destination has %d valid columns, vector %d", cols,
			   b.GetValidCol());
	for (int r = 0; r < rows && cols > 0; r++) {
		if constexpr (spans_::is_rows<D> && spans_::is_rows<A> && spans_::is_rows<B>)
			simd_::map(Op(), size_t(cols), d.data() + D::Offset(r, 0),
				  static_cast<const T *>(a.data() + A::Offset(r, 0)),
				  static_cast<const T *>(b.data()));
		else
			for (int c = 0; c < cols; c++)
				d.data()[D::Offset(r, c)] =
					single<Op>(a.GetElement(r, c), b.GetElement(0, c));
	}
}

} // namespace broadcast_

/* d[r, c] = src[r, 0] */
template <typename D, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TROWEXPAND(D &d, const S &src, PTO_EXTRA)
{
	PTO_CHECK("TROWEXPAND", checking_::VECTOR, 0, checking_::out(d),
		  checking_::part(src, d.GetValidRow(), 1, checking_::READ));
	for (int r = 0; r < d.GetValidRow(); r++) {
		const typename D::DType v = src.GetElement(r, 0);

		if constexpr (spans_::is_rows<D>)
			simd_::fill(d.data() + D::Offset(r, 0), size_t(d.GetValidCol()), v);
		else
			for (int c = 0; c < d.GetValidCol(); c++)
				d.data()[D::Offset(r, c)] = v;
	}
	return {};
}
/* d[r, c] = src[0, c] */
template <typename D, typename S, PTO_EXTRA_T>
PTO_INST RecordEvent TCOLEXPAND(D &d, const S &src, PTO_EXTRA)
{
	PTO_CHECK("TCOLEXPAND", checking_::VECTOR, 0, checking_::out(d),
		  checking_::part(src, 1, d.GetValidCol(), checking_::READ));
	for (int r = 0; r < d.GetValidRow(); r++)
		copy_::region(copy_::move_bits(), copy_::raw_view(d), r, 0, copy_::raw_view(src), 0, 0,
			     1, d.GetValidCol());
	return {};
}

template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TROWEXPANDADD(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TROWEXPANDADD", checking_::VECTOR, 0, checking_::out(d), checking_::in(a),
		  checking_::in(b));
	broadcast_::by_row<simd_::op_add>(d, a, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TROWEXPANDSUB(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TROWEXPANDSUB", checking_::VECTOR, 0, checking_::out(d), checking_::in(a),
		  checking_::in(b));
	broadcast_::by_row<simd_::op_sub>(d, a, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TROWEXPANDMUL(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TROWEXPANDMUL", checking_::VECTOR, 0, checking_::out(d), checking_::in(a),
		  checking_::in(b));
	broadcast_::by_row<simd_::op_mul>(d, a, b);
	return {};
}
template <auto Alg = DivAlgorithm::DEFAULT, typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TROWEXPANDDIV(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TROWEXPANDDIV", checking_::VECTOR, 0, checking_::out(d), checking_::in(a),
		  checking_::in(b));
	broadcast_::by_row<simd_::op_div>(d, a, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TROWEXPANDMAX(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TROWEXPANDMAX", checking_::VECTOR, 0, checking_::out(d), checking_::in(a),
		  checking_::in(b));
	broadcast_::by_row<simd_::op_max>(d, a, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TROWEXPANDMIN(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TROWEXPANDMIN", checking_::VECTOR, 0, checking_::out(d), checking_::in(a),
		  checking_::in(b));
	broadcast_::by_row<simd_::op_min>(d, a, b);
	return {};
}
/* d = exp(a - b) */
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TROWEXPANDEXPDIF(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TROWEXPANDEXPDIF", checking_::VECTOR, 0, checking_::out(d), checking_::in(a),
		  checking_::in(b));
	broadcast_::by_row<simd_::op_exp_dif<typename D::DType>>(d, a, b);
	return {};
}

template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TCOLEXPANDADD(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TCOLEXPANDADD", checking_::VECTOR, 0, checking_::out(d), checking_::in(a),
		  checking_::part(b, 1, d.GetValidCol(), checking_::READ));
	broadcast_::by_col<simd_::op_add>(d, a, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TCOLEXPANDSUB(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TCOLEXPANDSUB", checking_::VECTOR, 0, checking_::out(d), checking_::in(a),
		  checking_::part(b, 1, d.GetValidCol(), checking_::READ));
	broadcast_::by_col<simd_::op_sub>(d, a, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TCOLEXPANDMUL(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TCOLEXPANDMUL", checking_::VECTOR, 0, checking_::out(d), checking_::in(a),
		  checking_::part(b, 1, d.GetValidCol(), checking_::READ));
	broadcast_::by_col<simd_::op_mul>(d, a, b);
	return {};
}
template <auto Alg = DivAlgorithm::DEFAULT, typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TCOLEXPANDDIV(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TCOLEXPANDDIV", checking_::VECTOR, 0, checking_::out(d), checking_::in(a),
		  checking_::part(b, 1, d.GetValidCol(), checking_::READ));
	broadcast_::by_col<simd_::op_div>(d, a, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TCOLEXPANDMAX(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TCOLEXPANDMAX", checking_::VECTOR, 0, checking_::out(d), checking_::in(a),
		  checking_::part(b, 1, d.GetValidCol(), checking_::READ));
	broadcast_::by_col<simd_::op_max>(d, a, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TCOLEXPANDMIN(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TCOLEXPANDMIN", checking_::VECTOR, 0, checking_::out(d), checking_::in(a),
		  checking_::part(b, 1, d.GetValidCol(), checking_::READ));
	broadcast_::by_col<simd_::op_min>(d, a, b);
	return {};
}
template <typename D, typename A, typename B, PTO_EXTRA_T>
PTO_INST RecordEvent TCOLEXPANDEXPDIF(D &d, const A &a, const B &b, PTO_EXTRA)
{
	PTO_CHECK("TCOLEXPANDEXPDIF", checking_::VECTOR, 0, checking_::out(d), checking_::in(a),
		  checking_::part(b, 1, d.GetValidCol(), checking_::READ));
	broadcast_::by_col<simd_::op_exp_dif<typename D::DType>>(d, a, b);
	return {};
}

} // namespace pto

#endif
