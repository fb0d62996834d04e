/* SPDX-License-Identifier: MIT */
/*
 * ConvTile: a feature map or filter in on-chip memory with up to six
 * dimensions, and the parameters of the convolution it takes part in.
 *
 * Spec: pto-isa §3.5, §4.8 (TIMG2COL).
 */
#ifndef PTO_COMMON_CONV_TILE_HPP
#define PTO_COMMON_CONV_TILE_HPP

#include "pto/common/pto_tile.hpp"

namespace pto {

template <int D1 = 1, int D2 = 1, int D3 = 1, int D4 = 1, int D5 = 1, int D6 = 1>
struct ConvTileShape {
	static constexpr int dims[6] = {D1, D2, D3, D4, D5, D6};
};

/* Sizes in elements; of the feature map without padding. */
struct ConvParams {
	int fmap_h = 0, fmap_w = 0;
	int filter_h = 1, filter_w = 1;
	int stride_h = 1, stride_w = 1;
	int dilation_h = 1, dilation_w = 1;
	int pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;

	int out_h() const
	{
		return (fmap_h + pad_top + pad_bottom - dilation_h * (filter_h - 1) - 1) /
			       stride_h +
		       1;
	}
	int out_w() const
	{
		return (fmap_w + pad_left + pad_right - dilation_w * (filter_w - 1) - 1) /
			       stride_w +
		       1;
	}
};

/* NC1HWC0: dimensions N, C1, H, W, C0.  Dimensions of -1 are set at run time. */
template <TileType Loc_, typename Element_, int BufferBytes, Layout Layout_, typename Shape_>
class ConvTile {
public:
	using DType = Element_;
	using TileDType = DType *;
	static constexpr bool is_conv_tile = true;
	static constexpr TileType Loc = Loc_;
	static constexpr Layout layout = Layout_;
	static constexpr int bufferSize = BufferBytes;
	static constexpr size_t Extent = BufferBytes / sizeof(DType);

	ConvTile()
	{
		for (int d = 0; d < 6; d++)
			dim_[d] = Shape_::dims[d] == DYNAMIC ? 1 : Shape_::dims[d];
		params.fmap_h = dim_[2];
		params.fmap_w = dim_[3];
	}

	DType *data() const { return data_; }
	void Bind(DType *data, bool = false) { data_ = data; }
	int GetShape(int d) const { return dim_[d]; }
	void SetShape(int d, int v) { dim_[d] = v; }

	void SetFmap(int h, int w)
	{
		params.fmap_h = h;
		params.fmap_w = w;
	}
	void SetFilter(int h, int w)
	{
		params.filter_h = h;
		params.filter_w = w;
	}
	void SetStride(int h, int w)
	{
		params.stride_h = h;
		params.stride_w = w;
	}
	void SetDilation(int h, int w)
	{
		params.dilation_h = h;
		params.dilation_w = w;
	}
	void SetPad(int top, int bottom, int left, int right)
	{
		params.pad_top = top;
		params.pad_bottom = bottom;
		params.pad_left = left;
		params.pad_right = right;
	}
	/* The element that padding consists of. */
	void SetPadValue(DType v) { pad_value = v; }

	ConvParams params;
	DType pad_value = DType(0);

private:
	DType *data_ = nullptr;
	int dim_[6];
};

template <typename T, typename = void>
struct is_conv_tile : std::false_type {};
template <typename T>
struct is_conv_tile<
	T, std::void_t<decltype(std::remove_cv_t<std::remove_reference_t<T>>::is_conv_tile)>>
	: std::true_type {};
template <typename T>
inline constexpr bool is_conv_tile_v = is_conv_tile<T>::value;

} // namespace pto

#endif
