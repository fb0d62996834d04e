/* SPDX-License-Identifier: MIT */
/*
 * Tile: a handle to a two-dimensional, typed piece of an on-chip memory with a
 * physical box and a smaller valid region.  Copies alias the same memory.
 *
 * Spec: pto-isa §3.4.
 */
#ifndef PTO_COMMON_PTO_TILE_HPP
#define PTO_COMMON_PTO_TILE_HPP

#include <cstddef>
#include <cstdint>
#include <type_traits>
#ifdef __PTO_AUTO__
#include <memory>
#endif

#include "pto/common/constants.hpp"
#include "pto/common/global_tensor.hpp"
#include "pto/common/layout.hpp"
#include "pto/common/qualifiers.hpp"

namespace pto {

template <TileType Loc_, typename Element_, int Rows_, int Cols_,
	  BLayout BFractal_ = BLayout::RowMajor, int RowValid_ = Rows_, int ColValid_ = Cols_,
	  SLayout SFractal_ = SLayout::NoneBox, int SFractalSize_ = 512,
	  PadValue PadVal_ = PadValue::Null, CompactMode Compact_ = CompactMode::Null>
class Tile {
public:
	using DType = Element_;
	using TileDType = DType *;
	static constexpr bool is_tile = true;

	static constexpr TileType Loc = Loc_;
	static constexpr int Rows = Rows_;
	static constexpr int Cols = Cols_;
	static constexpr int ValidRow = RowValid_;
	static constexpr int ValidCol = ColValid_;
	static constexpr BLayout BFractal = BFractal_;
	static constexpr SLayout SFractal = SFractal_;
	static constexpr int SFractalSize = SFractalSize_;
	static constexpr PadValue PadVal = PadVal_;
	static constexpr CompactMode Compact = Compact_;
	static constexpr int Numel = Rows * Cols;
	static constexpr bool isRowMajor = BFractal == BLayout::RowMajor;
	static constexpr bool isBoxedLayout = SFractal != SLayout::NoneBox;
	static constexpr bool isInnerRowMajor = SFractal == SLayout::RowMajor;
	static constexpr bool isInnerColMajor = SFractal == SLayout::ColMajor;
	static constexpr int InnerRows =
		layout_::inner_rows(SFractal, SFractalSize, element_bits<DType>);
	static constexpr int InnerCols =
		layout_::inner_cols(SFractal, SFractalSize, element_bits<DType>);
	static constexpr int InnerNumel = InnerRows * InnerCols;

	using Map = layout_::map<BFractal, SFractal, Rows, Cols, InnerRows, InnerCols>;
	static constexpr int RowStride = int(Map::row_step);
	static constexpr int ColStride = int(Map::col_step);
	/* DTypes from first to last; more than Numel where boxes are not whole, half for packed pairs. */
	static constexpr size_t Span = Map::offset(Rows - 1, Cols - 1) + 1 > size_t(Numel)
					       ? Map::offset(Rows - 1, Cols - 1) + 1
					       : size_t(Numel);
	static constexpr size_t Extent = is_packed_v<DType> ? (Span + 1) / 2 : Span;

	static_assert(Rows > 0 && Cols > 0, "[PTO][SA] a tile has at least one row and one column");
	static_assert(RowValid_ == DYNAMIC || (RowValid_ >= 0 && RowValid_ <= Rows),
		      "[PTO][SA] valid rows must be within the tile");
	static_assert(ColValid_ == DYNAMIC || (ColValid_ >= 0 && ColValid_ <= Cols),
		      "[PTO][SA] valid columns must be within the tile");
	static_assert(SFractalSize == 512 || SFractalSize == 1024 || SFractalSize == 32,
		      "[PTO][SA] the fractal size must be 512, 1024 or 32");
	static_assert(isBoxedLayout || (isRowMajor ? Cols : Rows) * element_bits<DType> %
						       (8 * BLOCK_BYTE_SIZE) ==
					       0,
		      "[PTO][SA] the contiguous dimension must be a multiple of 32 bytes");
	static_assert(!isBoxedLayout || Loc == TileType::Vec || SFractalSize == 32 || Rows == 1 ||
			      (Rows % InnerRows == 0 && Cols % InnerCols == 0),
		      "[PTO][SA] a boxed tile must consist of whole boxes");

	Tile() = default;
	/* Both valid extents, for tiles with two dynamic ones. */
	template <int R = RowValid_, int C = ColValid_,
		  std::enable_if_t<R == DYNAMIC && C == DYNAMIC, int> = 0>
	Tile(int64_t valid_row, int64_t valid_col) : row_(int(valid_row)), col_(int(valid_col))
	{}
	/* The one dynamic valid extent. */
	template <int R = RowValid_, int C = ColValid_,
		  std::enable_if_t<R == DYNAMIC && C != DYNAMIC, int> = 0>
	Tile(int64_t valid_row) : row_(int(valid_row))
	{}
	template <int R = RowValid_, int C = ColValid_,
		  std::enable_if_t<R != DYNAMIC && C == DYNAMIC, long> = 0>
	Tile(int64_t valid_col) : col_(int(valid_col))
	{}

	int GetValidRow() const
	{
		if constexpr (RowValid_ == DYNAMIC)
			return row_;
		else
			return RowValid_;
	}
	int GetValidCol() const
	{
		if constexpr (ColValid_ == DYNAMIC)
			return col_;
		else
			return ColValid_;
	}
	template <int R = RowValid_>
	void SetValidRow(int64_t valid_row)
	{
		static_assert(R == DYNAMIC, "[PTO][SA] the valid rows of this tile are fixed");
		row_ = int(valid_row);
	}
	template <int C = ColValid_>
	void SetValidCol(int64_t valid_col)
	{
		static_assert(C == DYNAMIC, "[PTO][SA] the valid columns of this tile are fixed");
		col_ = int(valid_col);
	}
	/* Sets the dynamic extents; a fixed one must be given its own value. */
	void SetValidShape(int64_t valid_row, int64_t valid_col)
	{
		if ((RowValid_ != DYNAMIC && valid_row != RowValid_) ||
		    (ColValid_ != DYNAMIC && valid_col != ColValid_))
			core_::fail("SetValidShape(%lld, %lld): the tile's valid shape is fixed to "
				   "%d x %d",
				   static_cast<long long>(valid_row),
				   static_cast<long long>(valid_col), GetValidRow(), GetValidCol());
		row_ = int(valid_row);
		col_ = int(valid_col);
	}

#ifdef __PTO_AUTO__
	TileDType data() const
	{
		if (!data_) {
			own_ = std::shared_ptr<DType[]>(new DType[Extent]());
			data_ = own_.get();
		}
		return data_;
	}
#else
	TileDType data() const { return data_; }
#endif

	/* Element at a raw linear offset, without layout mapping. */
	DType GetValue(size_t off, PTO_SITE) const
	{
		check_offset(off, at);
		if (__builtin_expect(core_::checked(), 0))
			checking_::scalar("GetValue", at, checking_::in(*this), off, false);
		return data()[off];
	}
	template <typename V>
	void SetValue(size_t off, V v, PTO_SITE)
	{
		check_offset(off, at);
		if (__builtin_expect(core_::checked(), 0))
			checking_::scalar("SetValue", at, checking_::out(*this), off, true);
		data()[off] = static_cast<DType>(v);
	}

	static constexpr size_t Offset(int r, int c) { return Map::offset(r, c); }
	element_value_t<DType> GetElement(int r, int c) const
	{
		if constexpr (is_packed_v<DType>)
			return DType::get(data(), Map::offset(r, c));
		else
			return data()[Map::offset(r, c)];
	}
	template <typename V>
	void SetElement(int r, int c, V v)
	{
		if constexpr (is_packed_v<DType>)
			DType::set(data(), Map::offset(r, c),
				   static_cast<typename DType::value>(v));
		else
			data()[Map::offset(r, c)] = static_cast<DType>(v);
	}
	template <typename V>
	void AddToElement(int r, int c, V v)
	{
		DType &e = data()[Map::offset(r, c)];

		e = static_cast<DType>(e + v);
	}

	void SetMadTF32Mode(RoundMode = RoundMode::CAST_ROUND) {}
	void ResetMadMode() {}
	bool GetKAligned() const { return k_aligned_; }
	void SetKAligned(bool aligned) { k_aligned_ = aligned; }

	/* Binds the tile to memory; @window: to a part of another tile's box. */
	void Bind(DType *data, bool window = false)
	{
		data_ = data;
		window_ = window;
	}
	/* True when memory of the box outside the valid region belongs to another tile. */
	bool IsWindow() const { return window_; }

private:
	void check_offset(size_t off, const site &at) const
	{
		static_assert(Loc_ == TileType::Vec,
			      "[PTO][SA] GetValue and SetValue need a Vec tile");
		if (__builtin_expect(off >= Extent, 0))
			checking_::fail_offset(off, Extent, at);
	}

#ifdef __PTO_AUTO__
	mutable DType *data_ = nullptr;
	mutable std::shared_ptr<DType[]> own_;
#else
	DType *data_ = nullptr;
#endif
	int row_ = Rows_;
	int col_ = Cols_;
	bool window_ = false;
	bool k_aligned_ = false;
};

template <typename T, typename = void>
struct is_tile_data : std::false_type {};
template <typename T>
struct is_tile_data<T, std::void_t<decltype(std::remove_cv_t<std::remove_reference_t<T>>::is_tile)>>
	: std::true_type {};
template <typename T>
inline constexpr bool is_tile_data_v = is_tile_data<T>::value;
template <typename T>
inline constexpr bool is_boxed_data_v = std::remove_cv_t<std::remove_reference_t<T>>::isBoxedLayout;

/* Names of the matrix operands; on a2a3 the left operand is boxed row by row. */
#ifdef PTO_NPU_ARCH_A2A3
constexpr BLayout LEFT_BLAYOUT = BLayout::RowMajor;
#else
constexpr BLayout LEFT_BLAYOUT = BLayout::ColMajor;
#endif
template <typename E, int R, int C, int VR = R, int VC = C>
using TileLeft = Tile<TileType::Left, E, R, C, LEFT_BLAYOUT, VR, VC, SLayout::RowMajor, 512>;
template <typename E, int R, int C, int VR = R, int VC = C>
using TileRight = Tile<TileType::Right, E, R, C, BLayout::RowMajor, VR, VC, SLayout::ColMajor, 512>;
template <typename E, int R, int C, int VR = R, int VC = C>
using TileAcc = Tile<TileType::Acc, E, R, C, BLayout::ColMajor, VR, VC, SLayout::RowMajor, 1024>;
template <typename E, int R, int C, int VR = R, int VC = C>
using TileLeftScale =
	Tile<TileType::ScaleLeft, E, R, C, BLayout::RowMajor, VR, VC, SLayout::RowMajor, 32>;
template <typename E, int R, int C, int VR = R, int VC = C>
using TileRightScale =
	Tile<TileType::ScaleRight, E, R, C, BLayout::ColMajor, VR, VC, SLayout::ColMajor, 32>;
template <typename E, int R, int C, int VR = R, int VC = C>
using TileLeftCompact = Tile<TileType::Left, E, R, C, LEFT_BLAYOUT, VR, VC, SLayout::RowMajor, 512,
			     PadValue::Null, CompactMode::Normal>;
template <typename E, int R, int C, int VR = R, int VC = C>
using TileRightCompact = Tile<TileType::Right, E, R, C, BLayout::RowMajor, VR, VC,
			      SLayout::ColMajor, 512, PadValue::Null, CompactMode::Normal>;
template <typename E, int R, int C, int VR = R, int VC = C>
using TileAccCompact = Tile<TileType::Acc, E, R, C, BLayout::ColMajor, VR, VC, SLayout::RowMajor,
			    1024, PadValue::Null, CompactMode::Normal>;

} // namespace pto

#endif
