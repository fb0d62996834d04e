/* SPDX-License-Identifier: MIT */
/*
 * Enumerations and constants of the tile instruction set.
 *
 * Spec: pto-isa §2.2, §3.3.
 */
#ifndef PTO_COMMON_CONSTANTS_HPP
#define PTO_COMMON_CONSTANTS_HPP

#include <cstdint>

#include "pto/common/types.hpp"

/* By the marker the runtime refuses a kernel that was compiled for another chip. */
#define PTO_ARCH_MARKER(arch) \
	extern "C" { __attribute__((visibility("default"), used)) inline const char arch = 1; }

#if defined(__NPU_ARCH__) && __NPU_ARCH__ == 2201
#define PTO_NPU_ARCH_A2A3
PTO_ARCH_MARKER(pto_kernel_arch_a2a3)
#elif defined(__NPU_ARCH__) && (__NPU_ARCH__ == 3101 || __NPU_ARCH__ == 3510)
#define PTO_NPU_ARCH_A5
PTO_ARCH_MARKER(pto_kernel_arch_a5)
#if __NPU_ARCH__ == 3510
#define PTO_URMA_SUPPORTED
#endif
#endif
#undef PTO_ARCH_MARKER

namespace pto {

constexpr int DYNAMIC = -1;

constexpr int REPEAT_BYTE = 256;
constexpr int REPEAT_MAX = 255;
constexpr int REPEAT_STRIDE_MAX = 255;
constexpr int BLOCK_BYTE_SIZE = 32;
constexpr int BLOCK_MAX_PER_REPEAT = 8;
constexpr int BLOCK_LEN = 16;
constexpr int CUBE_BLOCK_SIZE = 512;
constexpr int C0_SIZE_BYTE = 32;
constexpr int FRACTAL_NZ_ROW = 16;
constexpr int ACC_C0_SIZE = 16;
constexpr int B4_C0_SIZE = 64;
constexpr int MASK_LEN = 64;
constexpr int MX_BLOCK_SIZE = 32;
constexpr int MX_COL_LEN = 2;
constexpr int MX_ROW_LEN = 16;
constexpr int HIF4_BLOCK_SIZE = 64;
constexpr int HIF4_COL_LEN = 4;
constexpr int HIF4_ROW_LEN = 16;
constexpr int SHIFT_BLOCK_BYTE = 5;
constexpr int SHIFT_FRACTAL_BYTE = 9;
constexpr int NUM_1 = 1;
constexpr int NUM_4 = 4;
constexpr int NUM_8 = 8;
constexpr int NUM_12 = 12;
constexpr int NUM_16 = 16;
constexpr int NUM_32 = 32;
constexpr int NUM_64 = 64;
constexpr int NUM_77 = 77;
constexpr int NUM_96 = 96;
constexpr int NUM_128 = 128;
constexpr int NUM_256 = 256;
constexpr int NUM_512 = 512;
constexpr float F16_MAX = 65504.0f;
constexpr int TMP_UB_OFFSET = 184 * 1024;
constexpr int TMP_UB_SIZE = 8 * 1024;

enum class TileType { Vec, Mat, Left, Right, Acc, Bias, Scaling, ScaleLeft, ScaleRight, Ctrl };
enum class BLayout { RowMajor = 0, ColMajor = 1 };
enum class SLayout { NoneBox = 0, RowMajor = 1, ColMajor = 2 };
enum class Layout {
	ND,
	DN,
	NZ,
	SCALE,
	MX_A_ND,
	MX_A_DN,
	MX_A_ZZ,
	MX_B_ND,
	MX_B_DN,
	MX_B_NN,
	HIF4_A_ZZ,
	HIF4_B_NN,
	NC1HWC0,
	GNC1HWC0,
	NCHW,
	GNCHW,
	NHWC,
	NDC1HWC0,
	NCDHW,
	FRACTAL_Z,
	FRACTAL_Z_S16S8,
	FRACTAL_Z_3D,
	MAX
};
/* Values above 32 bits are custom pads: (1 << 32) | element bits. */
enum class PadValue : uint64_t { Null = 0, Zero = 1, Max = 2, Min = 3 };
enum class CompactMode { Null, Normal, RowPlusOne, RowAlignedPadding };
enum class CmpMode { EQ = 0, NE = 1, LT = 2, LE = 3, GT = 4, GE = 5 };
enum class RoundMode {
	CAST_NONE = 0,
	CAST_RINT = 1,
	CAST_ROUND = 2,
	CAST_FLOOR = 3,
	CAST_CEIL = 4,
	CAST_TRUNC = 5,
	CAST_ODD = 6
};
enum class SaturationMode { ON = 0, OFF = 1 };
enum class MaskPattern {
	P0101 = 1,
	P1010 = 2,
	P0001 = 3,
	P0010 = 4,
	P0100 = 5,
	P1000 = 6,
	P1111 = 7
};
enum class AtomicType { AtomicNone, AtomicAdd };
enum class ReluPreMode { NoRelu, NormalRelu };
enum class STPhase { Unspecified = 0, Partial = 2, Final = 3 };
enum class AccPhase { Unspecified = 0, Partial = 2, Final = 3 };
enum class AccToVecMode { SingleModeVec0, SingleModeVec1, DualModeSplitM, DualModeSplitN };
enum class TFillPadMode { Normal, InPlace, Expand };
enum class Coalesce { Row, Elem };
enum class GatherOOB { Undefined, Clamp, Wrap, Zero };
enum class ScatterOOB { Undefined, Skip, Clamp, Wrap };
enum class ScatterAtomicOp { None, Add, Max, Min };
enum class ScatterConflict { Last, Default };
enum class GatherAxis { ROW, COL };
enum class ScatterAxis { ROW, COL };
enum class TileSplitAxis {
	TILE_NO_SPLIT = 0,
	TILE_UP_DOWN = 1,
	TILE_LEFT_RIGHT = 2,
	TILE_UP_DOWN_ODD = 3,
	TILE_LEFT_RIGHT_ODD = 4
};
enum Direction : uint8_t {
	DIR_C2V = 1,
	DIR_V2C = 2,
	DIR_BOTH = 3,
	DIR_V2C_CTRL = 4,
	DIR_C2V_GM = 5,
	DIR_V2C_GM = 6
};
enum class QuantType { MXFP8, MXFP4_E2M1, INT8_SYM, INT8_ASYM };
enum class QuantScaleAlg { OCP, NV };
enum QuantMode_t {
	NoQuant = 0,
	F322F16 = 1,
	VREQ8 = 2,
	REQ8 = 3,
	VDEQF16 = 4,
	DEQF16 = 5,
	VSHIFTS322S16 = 12,
	SHIFTS322S16 = 13,
	F322BF16 = 16,
	VQF322B8_PRE = 23,
	QF322B8_PRE = 24,
	QF322F16_PRE = 32,
	QF322BF16_PRE = 34
};
enum class SyncAllMode { Hard, Soft };
enum class SyncCoreType { AIVOnly, AICOnly, Mix };
enum class PrintFormat { Width8_Precision4, Width8_Precision2, Width10_Precision6 };
enum class HistByte { BYTE_0, BYTE_1, BYTE_2, BYTE_3 };
enum class DivAlgorithm { DEFAULT, HIGH_PRECISION };
enum class ExpAlgorithm { DEFAULT, HIGH_PRECISION };
enum class LogAlgorithm { DEFAULT, HIGH_PRECISION };
enum class SqrtAlgorithm { DEFAULT, HIGH_PRECISION };
enum class RsqrtAlgorithm { DEFAULT, HIGH_PRECISION };
enum class RecipAlgorithm { DEFAULT, HIGH_PRECISION };
enum class RemAlgorithm { DEFAULT, HIGH_PRECISION };
enum class FmodAlgorithm { DEFAULT, HIGH_PRECISION };
enum class PowAlgorithm { DEFAULT, HIGH_PRECISION };
enum class SetFmatrixMode { FMATRIX_A_AUTO, FMATRIX_B_AUTO, FMATRIX_A_MANUAL, FMATRIX_B_MANUAL };

constexpr PadValue PadValueCustom16(uint16_t raw) { return PadValue((uint64_t(1) << 32) | raw); }

/* Custom pad from the bits of a 4-byte value; float on compilers that can look at them. */
constexpr PadValue PadValueCustom(float v)
{
	return PadValue((uint64_t(1) << 32) | __builtin_bit_cast(uint32_t, v));
}

#if __cplusplus > 201703L && defined(__cpp_nontype_template_args) && \
	__cpp_nontype_template_args >= 201911L
template <auto V>
inline constexpr PadValue PadCustom = PadValueCustom(float(V));
#else
template <int V>
inline constexpr PadValue PadCustom = PadValueCustom(float(V));
#endif

constexpr bool is_custom_pad(PadValue v) { return (uint64_t(v) >> 32) != 0; }

namespace bits_ {

template <typename T>
constexpr uint64_t pad_limit(bool max)
{
	if (std::is_same_v<T, float>)
		return max ? 0x7f800000u : 0xff800000u;
	if (is_half_v<T>)
		return max ? 0x7c00u : 0xfc00u;
	if (is_bfloat16_v<T>)
		return max ? 0x7f80u : 0xff80u;
	if (!std::is_integral_v<T> || sizeof(T) == 8)
		return 0;
	if (std::is_signed_v<T>)
		return max ? (uint64_t(1) << (8 * sizeof(T) - 1)) - 1
			   : uint64_t(1) << (8 * sizeof(T) - 1);
	return max ? ~uint64_t(0) : 0;
}

} // namespace bits_

/* The element a pad value stands for (pto-isa §3.4, pad bit patterns). */
template <typename T>
inline T pad_element(PadValue pad)
{
	uint64_t raw = 0;
	T v;

	if (pad == PadValue::Max || pad == PadValue::Min)
		raw = bits_::pad_limit<T>(pad == PadValue::Max);
	else if (is_custom_pad(pad))
		raw = uint64_t(pad) & 0xffffffffu;
	__builtin_memcpy(&v, &raw, sizeof(v));
	return v;
}

} // namespace pto

#endif
