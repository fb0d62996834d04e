/* SPDX-License-Identifier: MIT */
/*
 * Matrix multiplication of MX operands: every 32 consecutive k share a scale
 * factor of each operand.  Scales are powers of two, so scaled elements are
 * exact floats, and the packed product of matmul.hpp gives what a product in
 * double added to a float gives; scales near the ends of their range go the
 * slow way in double.
 *
 * Spec: pto-isa §4.8, §12 case 28.
 */
#ifndef PTO_CPU_MATMUL_MX_HPP
#define PTO_CPU_MATMUL_MX_HPP

#include "pto/cpu/assign.hpp"
#include "pto/cpu/matmul.hpp"

namespace pto {
namespace mx_ {

template <typename T>
inline constexpr bool is_operand_v =
	std::is_same_v<T, float8_e4m3_t> || std::is_same_v<T, float8_e5m2_t> ||
	std::is_same_v<T, float4_e2m1x2_t> || std::is_same_v<T, float4_e1m2x2_t>;

/* Codes whose scaled elements are normal floats whatever the element. */
constexpr int LOWEST_SAFE = 18, HIGHEST_SAFE = 236;

struct floats {
	float *p;

	explicit floats(size_t n) : p(static_cast<float *>(malloc(n * sizeof(float) + 1)))
	{
		if (!p)
			core_::fail("TMATMUL_MX: no memory for %zu elements", n);
	}
	~floats() { free(p); }
	floats(const floats &) = delete;
	floats &operator=(const floats &) = delete;
};

template <typename S>
inline uint8_t code_at(const S &s, int r, int c)
{
	static_assert(sizeof(typename S::DType) == 1, "[PTO][SA] scale factors are bytes");
	uint8_t code;

	memcpy(&code, s.data() + S::Offset(r, c), 1);
	return code;
}

/* True when every scale used is far from the ends of its range, or not a number. */
template <typename S>
inline bool is_safe(const S &s, int rows, int cols)
{
	bool ok = true;

	for (int r = 0; r < rows; r++)
		for (int c = 0; c < cols; c++) {
			const int code = code_at(s, r, c);

			ok = ok && (code == 255 || (code >= LOWEST_SAFE && code <= HIGHEST_SAFE));
		}
	return ok;
}

inline double scale_of(uint8_t code)
{
	if (code == 255)
		return __builtin_nan("");
	return bits_::cast<double>(uint64_t(code - 127 + 1023) << 52);
}

/* Elements of both operands, in row order, and their scales as doubles. */
template <typename A, typename AS, typename B, typename BS>
struct operands {
	const A &a;
	const AS &as;
	const B &b;
	const BS &bs;
	int m, k, n, groups;

	void scaled(float *fa, float *fb) const
	{
		for (int i = 0; i < m; i++)
			for (int x = 0; x < k; x++)
				fa[size_t(i) * k + x] =
					float(a.GetElement(i, x)) *
					float(scale_of(code_at(as, i, x / MX_BLOCK_SIZE)));
		for (int x = 0; x < k; x++)
			for (int j = 0; j < n; j++)
				fb[size_t(x) * n + j] =
					float(b.GetElement(x, j)) *
					float(scale_of(code_at(bs, x / MX_BLOCK_SIZE, j)));
	}

	float element(int i, int j) const
	{
		float acc = 0;

		for (int x = 0; x < k; x++) {
			const int g = x / MX_BLOCK_SIZE;
			const double term = double(float(a.GetElement(i, x))) *
					    double(float(b.GetElement(x, j))) *
					    scale_of(code_at(as, i, g)) *
					    scale_of(code_at(bs, g, j));

			acc = float(double(acc) + term);
		}
		return acc;
	}
};

template <typename C>
inline void finish(C &c, int i, int j, float v, const matmul_::addend<float> &add)
{
	if (add.tile)
		v = *add.tile->at(i, j) + v;
	else if (add.row)
		v = v + add.row[j];
	c.data()[C::Offset(i, j)] = v;
}

template <typename C, typename A, typename AS, typename B, typename BS>
constexpr void check_types()
{
	using AE = typename A::DType;
	using BE = typename B::DType;
	static_assert(A::Rows == C::Rows && A::Cols == B::Rows && B::Cols == C::Cols,
		      "[PTO][SA] matmul shapes must agree: a is m x k, b is k x n, c is m x n");
	static_assert(C::Loc == TileType::Acc && A::Loc == TileType::Left &&
			      B::Loc == TileType::Right,
		      "[PTO][SA] matmul operands are Acc, Left and Right tiles");
	static_assert(AS::Loc == TileType::ScaleLeft && BS::Loc == TileType::ScaleRight,
		      "[PTO][SA] MX scales are ScaleLeft and ScaleRight tiles");
	static_assert(std::is_same_v<typename C::DType, float> && is_operand_v<AE> &&
			      is_operand_v<BE> && is_packed_v<AE> == is_packed_v<BE>,
		      "[PTO][SA] MX operands are both fp8 or both fp4, the result is float");
	static_assert(A::Cols % 64 == 0, "[PTO][SA] MX operands have a multiple of 64 in k");
	static_assert(A::BFractal == BLayout::ColMajor && A::SFractal == SLayout::RowMajor,
		      "[PTO][SA] the left MX operand is ColMajor with RowMajor boxes");
}

template <typename C, typename A, typename AS, typename B, typename BS>
inline void product(C &c, const A &a, const AS &as, const B &b, const BS &bs,
		    const matmul_::addend<float> &add)
{
	check_types<C, A, AS, B, BS>();
	const int m = a.GetValidRow(), k = a.GetValidCol(), n = b.GetValidCol();
	const int groups = (k + MX_BLOCK_SIZE - 1) / MX_BLOCK_SIZE;
	const operands<A, AS, B, BS> ops{a, as, b, bs, m, k, n, groups};

	if (!c.data() || !a.data() || !b.data() || !as.data() || !bs.data())
		core_::fail("TMATMUL_MX: a tile has no memory; TASSIGN it first");
	if (groups > AS::Cols || groups > BS::Rows || m > AS::Rows || n > BS::Cols)
		core_::fail("TMATMUL_MX: scales of %d x %d and %d x %d are too few for %d x %d x %d",
			   AS::Rows, AS::Cols, BS::Rows, BS::Cols, m, k, n);
	if (m <= 0 || n <= 0)
		return;
	if (is_safe(as, m, groups) && is_safe(bs, groups, n)) {
		const floats fa(size_t(m) * k), fb(size_t(k) * n);

		ops.scaled(fa.p, fb.p);
		matmul_::multiply(copy_::tile_view(c), copy_::strided(fa.p, k, 1),
				 copy_::strided(fb.p, n, 1), m, k, n, add);
		return;
	}
	for (int i = 0; i < m; i++)
		for (int j = 0; j < n; j++)
			finish(c, i, j, ops.element(i, j), add);
}

template <typename T>
inline constexpr bool is_acc_v = T::Loc == TileType::Acc;

template <typename C, typename A, typename AS, typename B, typename BS>
inline void plain(C &c, const A &a, const AS &as, const B &b, const BS &bs)
{
	product(c, a, as, b, bs, {nullptr, nullptr});
}

template <typename C, typename I, typename A, typename AS, typename B, typename BS>
inline void accumulate(C &c, const I &in, const A &a, const AS &as, const B &b, const BS &bs)
{
	const auto from = copy_::tile_view(in);

	product(c, a, as, b, bs, {&from, nullptr});
}

template <typename C, typename A, typename AS, typename B, typename BS, typename Bias>
inline void with_bias(C &c, const A &a, const AS &as, const B &b, const BS &bs, const Bias &bias)
{
	static_assert(std::is_same_v<typename Bias::DType, float> && Bias::Rows == 1 &&
			      spans_::is_rows<Bias>,
		      "[PTO][SA] the bias is one plain row of floats");
	product(c, a, as, b, bs, {nullptr, bias.data()});
}

/* The forms under their names, which are all that tells a matrix from a vector. */
template <typename C, typename A, typename AS, typename B, typename BS, PTO_EXTRA_T>
PTO_INST RecordEvent run(const char *op, C &c, const A &a, const AS &as, const B &b, const BS &bs,
			 PTO_EXTRA)
{
	PTO_CHECK(op, checking_::MATRIX, 0,
		  checking_::part(c, a.GetValidRow(), b.GetValidCol(), checking_::WRITE),
		  checking_::in(a), checking_::in(b), checking_::in(as), checking_::in(bs));
	plain(c, a, as, b, bs);
	return {};
}
template <typename C, typename I, typename A, typename AS, typename B, typename BS, PTO_EXTRA_T>
PTO_INST RecordEvent run_acc(const char *op, C &c, const I &in, const A &a, const AS &as,
			     const B &b, const BS &bs, PTO_EXTRA)
{
	PTO_CHECK(op, checking_::MATRIX, 0,
		  checking_::part(c, a.GetValidRow(), b.GetValidCol(), checking_::WRITE),
		  checking_::part(in, a.GetValidRow(), b.GetValidCol(), checking_::READ),
		  checking_::in(a), checking_::in(b), checking_::in(as), checking_::in(bs));
	accumulate(c, in, a, as, b, bs);
	return {};
}
template <typename C, typename A, typename AS, typename B, typename BS, typename Bias, PTO_EXTRA_T>
PTO_INST RecordEvent run_bias(const char *op, C &c, const A &a, const AS &as, const B &b,
			      const BS &bs, const Bias &bias, PTO_EXTRA)
{
	PTO_CHECK(op, checking_::MATRIX, 0,
		  checking_::part(c, a.GetValidRow(), b.GetValidCol(), checking_::WRITE),
		  checking_::in(a), checking_::in(b), checking_::in(as), checking_::in(bs),
		  checking_::part(bias, 1, b.GetValidCol(), checking_::READ));
	with_bias(c, a, as, b, bs, bias);
	return {};
}

} // namespace mx_

/* c = a * b with scales, or c = in + that, or that + bias[0, :] */
template <AccPhase Phase = AccPhase::Unspecified, typename C, typename A, typename AS, typename B,
	  typename BS, PTO_EXTRA_T, std::enable_if_t<!is_tile_data_v<W1>, int> = 0>
PTO_INST RecordEvent TMATMUL_MX(C &c, const A &a, const AS &as, const B &b, const BS &bs, PTO_EXTRA)
{
	return mx_::run("TMATMUL_MX", c, a, as, b, bs, PTO_EXTRA_ARGS);
}
template <AccPhase Phase = AccPhase::Unspecified, typename C, typename I, typename A, typename AS,
	  typename B, typename BS, PTO_EXTRA_T, std::enable_if_t<mx_::is_acc_v<I>, int> = 0>
PTO_INST RecordEvent TMATMUL_MX(C &c, const I &in, const A &a, const AS &as, const B &b,
				const BS &bs, PTO_EXTRA)
{
	return mx_::run_acc("TMATMUL_MX", c, in, a, as, b, bs, PTO_EXTRA_ARGS);
}
template <AccPhase Phase = AccPhase::Unspecified, typename C, typename A, typename AS, typename B,
	  typename BS, typename Bias, PTO_EXTRA_T,
	  std::enable_if_t<!mx_::is_acc_v<A> && is_tile_data_v<Bias>, int> = 0>
PTO_INST RecordEvent TMATMUL_MX(C &c, const A &a, const AS &as, const B &b, const BS &bs,
				const Bias &bias, PTO_EXTRA)
{
	return mx_::run_bias("TMATMUL_MX", c, a, as, b, bs, bias, PTO_EXTRA_ARGS);
}

template <AccPhase Phase = AccPhase::Unspecified, typename C, typename A, typename AS, typename B,
	  typename BS, PTO_EXTRA_T, std::enable_if_t<!is_tile_data_v<W1>, int> = 0>
PTO_INST RecordEvent TGEMV_MX(C &c, const A &a, const AS &as, const B &b, const BS &bs, PTO_EXTRA)
{
	return mx_::run("TGEMV_MX", c, a, as, b, bs, PTO_EXTRA_ARGS);
}
template <AccPhase Phase = AccPhase::Unspecified, typename C, typename I, typename A, typename AS,
	  typename B, typename BS, PTO_EXTRA_T, std::enable_if_t<mx_::is_acc_v<I>, int> = 0>
PTO_INST RecordEvent TGEMV_MX(C &c, const I &in, const A &a, const AS &as, const B &b, const BS &bs,
			      PTO_EXTRA)
{
	return mx_::run_acc("TGEMV_MX", c, in, a, as, b, bs, PTO_EXTRA_ARGS);
}
template <AccPhase Phase = AccPhase::Unspecified, typename C, typename A, typename AS, typename B,
	  typename BS, typename Bias, PTO_EXTRA_T,
	  std::enable_if_t<!mx_::is_acc_v<A> && is_tile_data_v<Bias>, int> = 0>
PTO_INST RecordEvent TGEMV_MX(C &c, const A &a, const AS &as, const B &b, const BS &bs,
			      const Bias &bias, PTO_EXTRA)
{
	return mx_::run_bias("TGEMV_MX", c, a, as, b, bs, bias, PTO_EXTRA_ARGS);
}

/* Binds @dst to the scale memory that belongs to @src: a sixteenth of its offset. */
template <typename D, typename S, typename... W>
PTO_INST RecordEvent TGET_SCALE_ADDR(D &dst, const S &src, const W &...)
{
	static_assert((S::Loc == TileType::Left && D::Loc == TileType::ScaleLeft) ||
			      (S::Loc == TileType::Right && D::Loc == TileType::ScaleRight),
		      "[PTO][SA] TGET_SCALE_ADDR: ScaleLeft of Left, or ScaleRight of Right");
	const uint8_t *base = core_::arena_base(core_::self(), assign_::arena_of(S::Loc));
	const uint8_t *at = reinterpret_cast<const uint8_t *>(src.data());

	dst.Bind(assign_::resolve_tile<D>(uint64_t(at - base) / 16));
	return {};
}

} // namespace pto

#endif
