/* SPDX-License-Identifier: MIT */
/*
 * GlobalTensor: an up to five-dimensional, strided view of global memory, and
 * its Shape and Stride, whose dynamic slots (-1) are values held at run time.
 *
 * Spec: pto-isa §3.5.
 */
#ifndef PTO_COMMON_GLOBAL_TENSOR_HPP
#define PTO_COMMON_GLOBAL_TENSOR_HPP

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "pto/common/constants.hpp"
#include "pto/common/qualifiers.hpp"

namespace pto {

struct GlobalTensorDim {
	static constexpr int DIM_0 = 0, DIM_1 = 1, DIM_2 = 2, DIM_3 = 3, DIM_4 = 4, TOTAL_DIM = 5;
};

/* Five extents; @Kind only tells shapes and strides apart. */
template <int Kind, int64_t... N>
class Extents {
	static_assert(sizeof...(N) == 5, "[PTO][SA] five dimensions");

public:
	static constexpr int64_t fixed[5] = {N...};
	static constexpr int dynamics = ((N == DYNAMIC) + ...);

	Extents() : value_{(N == DYNAMIC ? 1 : N)...} {}
	/* Five values, or exactly as many as there are dynamic slots, in order. */
	template <typename... V,
		  std::enable_if_t<(sizeof...(V) >
				    0) && (sizeof...(V) == 5 || sizeof...(V) == size_t(dynamics)) &&
					   (std::is_convertible_v<V, int64_t> && ...),
				   int> = 0>
	Extents(V... v) : value_{(N == DYNAMIC ? 1 : N)...}
	{
		const int64_t given[] = {static_cast<int64_t>(v)...};
		int next = 0;

		for (int d = 0; d < 5; d++) {
			if (sizeof...(V) == 5 || fixed[d] == DYNAMIC)
				value_[d] = fixed[d] == DYNAMIC ? given[next] : fixed[d];
			if (sizeof...(V) == 5 || fixed[d] == DYNAMIC)
				next++;
		}
	}

	int64_t operator[](int d) const { return value_[d]; }
	int64_t get(int d) const { return value_[d]; }
	void set(int d, int64_t v) { value_[d] = v; }

private:
	int64_t value_[5];
};

template <int64_t N1 = 1, int64_t N2 = 1, int64_t N3 = 1, int64_t N4 = 1, int64_t N5 = 1>
struct Shape : Extents<0, N1, N2, N3, N4, N5> {
	using Extents<0, N1, N2, N3, N4, N5>::Extents;
	static constexpr int64_t staticShape[5] = {N1, N2, N3, N4, N5};
};
template <int64_t N1 = 1, int64_t N2 = 1, int64_t N3 = 1, int64_t N4 = 1, int64_t N5 = 1>
struct Stride : Extents<1, N1, N2, N3, N4, N5> {
	using Extents<1, N1, N2, N3, N4, N5>::Extents;
	static constexpr int64_t staticStride[5] = {N1, N2, N3, N4, N5};
};

template <typename Element_, typename Shape_, typename Stride_, Layout Layout_ = Layout::ND>
class GlobalTensor {
public:
	using DType = Element_;
	using RawDType = std::remove_cv_t<Element_>;
	using Shape = Shape_;
	using Stride = Stride_;
	static constexpr bool is_global = true;
	static constexpr Layout layout = Layout_;
	static constexpr const int64_t (&staticShape)[5] = Shape_::fixed;
	static constexpr const int64_t (&staticStride)[5] = Stride_::fixed;

	GlobalTensor() = default;
	GlobalTensor(DType *data) : data_(data) {}
	GlobalTensor(DType *data, const Shape_ &shape) : data_(data), shape_(shape) {}
	GlobalTensor(DType *data, const Shape_ &shape, const Stride_ &stride)
		: data_(data), shape_(shape), stride_(stride)
	{}

	DType *data() const { return data_; }
	int64_t GetShape(int d) const { return shape_[d]; }
	int64_t GetStride(int d) const { return stride_[d]; }
	template <int D>
	int64_t GetShape() const
	{
		return shape_[D];
	}
	template <int D>
	int64_t GetStride() const
	{
		return stride_[D];
	}
	/* Sets dynamic extent @D. */
	template <int D>
	void SetShape(int64_t v)
	{
		static_assert(Shape_::fixed[D] == DYNAMIC, "[PTO][SA] this extent is fixed");
		shape_.set(D, v);
	}
	template <int D>
	void SetStride(int64_t v)
	{
		static_assert(Stride_::fixed[D] == DYNAMIC, "[PTO][SA] this stride is fixed");
		stride_.set(D, v);
	}
	void SetShape(const Shape_ &shape) { shape_ = shape; }
	void SetStride(const Stride_ &stride) { stride_ = stride; }
	/* Rebinds the pointer. */
	void SetAddr(DType *data) { data_ = data; }

private:
	DType *data_ = nullptr;
	Shape_ shape_;
	Stride_ stride_;
};

template <typename T, typename = void>
struct is_global_data : std::false_type {};
template <typename T>
struct is_global_data<
	T, std::void_t<decltype(std::remove_cv_t<std::remove_reference_t<T>>::is_global)>>
	: std::true_type {};
template <typename T>
inline constexpr bool is_global_data_v = is_global_data<T>::value;
template <typename T>
struct remove_gm {
	using type = T;
};
template <typename T>
using remove_gm_t = typename remove_gm<T>::type;

namespace shape2d_ {

constexpr int64_t mul(int64_t a, int64_t b)
{
	return a == DYNAMIC || b == DYNAMIC ? int64_t(DYNAMIC) : a * b;
}
constexpr int64_t div(int64_t a, int64_t b) { return a == DYNAMIC ? int64_t(DYNAMIC) : a / b; }

/* Shape and stride of an R x C matrix stored in layout L. */
template <typename T, int64_t R, int64_t C, Layout L>
struct pick {
	using shape = pto::Shape<1, 1, 1, R, C>;
	using stride = pto::Stride<mul(R, C), mul(R, C), mul(R, C), C, 1>;
	static shape make_shape(int64_t r, int64_t c) { return shape(1, 1, 1, r, c); }
	static stride make_stride(int64_t r, int64_t c)
	{
		return stride(r * c, r * c, r * c, c, 1);
	}
};
template <typename T, int64_t R, int64_t C>
struct pick<T, R, C, Layout::DN> {
	using shape = pto::Shape<1, 1, 1, R, C>;
	using stride = pto::Stride<mul(R, C), mul(R, C), mul(R, C), 1, R>;
	static shape make_shape(int64_t r, int64_t c) { return shape(1, 1, 1, r, c); }
	static stride make_stride(int64_t r, int64_t c)
	{
		return stride(r * c, r * c, r * c, 1, r);
	}
};
template <typename T, int64_t R, int64_t C>
struct pick<T, R, C, Layout::NZ> {
	static constexpr int64_t c0 = 8 * C0_SIZE_BYTE / element_bits<T>;
	using shape = pto::Shape<1, div(C, c0), div(R, FRACTAL_NZ_ROW), FRACTAL_NZ_ROW, c0>;
	using stride = pto::Stride<mul(R, C), mul(R, c0), FRACTAL_NZ_ROW * c0, c0, 1>;
	static shape make_shape(int64_t r, int64_t c)
	{
		return shape(1, c / c0, r / FRACTAL_NZ_ROW, FRACTAL_NZ_ROW, c0);
	}
	static stride make_stride(int64_t r, int64_t c)
	{
		return stride(r * c, r * c0, FRACTAL_NZ_ROW * c0, c0, 1);
	}
};

/* The same for five extents that are the blocks of an R x C matrix. */
template <int64_t R, int64_t C, int64_t S1, int64_t S2, int64_t S3, int64_t S4, int64_t S5,
	  int64_t T2, int64_t T3, int64_t T4>
struct blocks {
	static_assert(R > 0 && C > 0, "[PTO][SA] scale layouts need static extents");
	using shape = pto::Shape<S1, S2, S3, S4, S5>;
	using stride = pto::Stride<R * C, T2, T3, T4, 1>;
	static shape make_shape(int64_t, int64_t) { return shape(); }
	static stride make_stride(int64_t, int64_t) { return stride(); }
};
template <typename T, int64_t R, int64_t C>
struct pick<T, R, C, Layout::MX_A_ND> : blocks<R, C, 1, 1, R, C / 2, 2, R * C, C, 2> {};
template <typename T, int64_t R, int64_t C>
struct pick<T, R, C, Layout::MX_A_DN> : blocks<R, C, 1, 1, C / 2, R, 2, R * C, 2 * R, 2> {};
template <typename T, int64_t R, int64_t C>
struct pick<T, R, C, Layout::MX_A_ZZ> : blocks<R, C, 1, R / 16, C / 2, 16, 2, 16 * C, 32, 2> {};
template <typename T, int64_t R, int64_t C>
struct pick<T, R, C, Layout::MX_B_ND> : blocks<R, C, 1, 1, R / 2, C, 2, R * C, 2 * C, 2> {};
template <typename T, int64_t R, int64_t C>
struct pick<T, R, C, Layout::MX_B_DN> : blocks<R, C, 1, 1, C, R / 2, 2, R * C, R, 2> {};
template <typename T, int64_t R, int64_t C>
struct pick<T, R, C, Layout::MX_B_NN> : blocks<R, C, 1, C / 16, R / 2, 16, 2, 16 * R, 32, 2> {};
template <typename T, int64_t R, int64_t C>
struct pick<T, R, C, Layout::HIF4_A_ZZ> : blocks<R, C, 1, R / 16, C / 4, 16, 4, 16 * C, 64, 4> {};
template <typename T, int64_t R, int64_t C>
struct pick<T, R, C, Layout::HIF4_B_NN> : blocks<R, C, 1, C / 16, R / 4, 16, 4, 16 * R, 64, 4> {};

} // namespace shape2d_

template <typename T, int64_t R, int64_t C, Layout L = Layout::ND>
struct TileShape2D : shape2d_::pick<T, R, C, L>::shape {
	using Base = typename shape2d_::pick<T, R, C, L>::shape;

	TileShape2D() = default;
	TileShape2D(int64_t rows, int64_t cols)
		: Base(shape2d_::pick<T, R, C, L>::make_shape(rows, cols))
	{}
};
template <typename T, int64_t R, int64_t C, Layout L = Layout::ND>
struct BaseShape2D : shape2d_::pick<T, R, C, L>::stride {
	using Base = typename shape2d_::pick<T, R, C, L>::stride;

	BaseShape2D() = default;
	BaseShape2D(int64_t rows, int64_t cols)
		: Base(shape2d_::pick<T, R, C, L>::make_stride(rows, cols))
	{}
};

} // namespace pto

#endif
