/* SPDX-License-Identifier: MIT */
/*
 * Events between instructions.  On the host they order nothing, since
 * instructions run in program order; checked mode follows them.
 *
 * Spec: pto-isa §3.7.
 */
#ifndef PTO_COMMON_EVENT_HPP
#define PTO_COMMON_EVENT_HPP

#include "pto/common/qualifiers.hpp"

namespace pto {

enum class Op {
	TLOAD,
	TSTORE,
	TSTORE_ACC,
	TSTORE_VEC,
	TSTORE_MAT,
	TSTORE_FP,
	TPREFETCH,
	TASSIGN,
	TMOV,
	TMOV_M2L,
	TMOV_M2R,
	TMOV_M2S,
	TMOV_M2B,
	TMOV_M2V,
	TMOV_V2M,
	TMOV_V2V,
	TMOV_A2V,
	TMOV_A2M,
	TMOV_FP,
	TEXTRACT,
	TEXTRACT_M2LR,
	TEXTRACT_A2M,
	TEXTRACT_V2M,
	TEXTRACT_FP,
	TINSERT,
	TINSERT_A2M,
	TINSERT_V2M,
	TINSERT_FP,
	TSUBVIEW,
	TRESHAPE,
	TCONCAT,
	TPACK,
	TINTERLEAVE,
	TDEINTERLEAVE,
	TADD,
	TSUB,
	TMUL,
	TDIV,
	TREM,
	TFMOD,
	TMAX,
	TMIN,
	TAND,
	TOR,
	TXOR,
	TSHL,
	TSHR,
	TPRELU,
	TADDC,
	TSUBC,
	TPOW,
	TSUBRELU,
	TFUSEDMULADD,
	TFUSEDMULADDRELU,
	TMULADDDST,
	TADDRELUCONV,
	TSUBRELUCONV,
	TADDDEQRELU,
	TADDS,
	TSUBS,
	TMULS,
	TDIVS,
	TREMS,
	TFMODS,
	TMAXS,
	TMINS,
	TANDS,
	TORS,
	TXORS,
	TSHLS,
	TSHRS,
	TLRELU,
	TADDSC,
	TSUBSC,
	TAXPY,
	TPOWS,
	TEXPANDS,
	TABS,
	TNEG,
	TNOT,
	TEXP,
	TLOG,
	TSQRT,
	TRSQRT,
	TRECIP,
	TRELU,
	TCMP,
	TCMPS,
	TSEL,
	TSELS,
	TROWSUM,
	TROWMAX,
	TROWMIN,
	TROWPROD,
	TROWARGMAX,
	TROWARGMIN,
	TCOLSUM,
	TCOLMAX,
	TCOLMIN,
	TCOLPROD,
	TCOLARGMAX,
	TCOLARGMIN,
	TPAIRREDUCESUM,
	TROWEXPAND,
	TCOLEXPAND,
	TROWEXPANDMUL,
	TROWEXPANDDIV,
	TROWEXPANDSUB,
	TROWEXPANDADD,
	TROWEXPANDMAX,
	TROWEXPANDMIN,
	TROWEXPANDEXPDIF,
	TCOLEXPANDMUL,
	TCOLEXPANDDIV,
	TCOLEXPANDSUB,
	TCOLEXPANDADD,
	TCOLEXPANDMAX,
	TCOLEXPANDMIN,
	TCOLEXPANDEXPDIF,
	TMATMUL,
	TMATMUL_ACC,
	TMATMUL_BIAS,
	TGEMV,
	TGEMV_ACC,
	TGEMV_BIAS,
	TMATMUL_MX,
	TGEMV_MX,
	TGET_SCALE_ADDR,
	TIMG2COL,
	SETFMATRIX,
	TCVT,
	TTRANS,
	TFILLPAD,
	TFILLPAD_INPLACE,
	TFILLPAD_EXPAND,
	TGATHER,
	TGATHERB,
	TSCATTER,
	MGATHER,
	MSCATTER,
	TQUANT,
	TDEQUANT,
	TSORT32,
	TMRGSORT,
	TPARTADD,
	TPARTMUL,
	TPARTMAX,
	TPARTMIN,
	TPARTARGMAX,
	TPARTARGMIN,
	TCI,
	TTRI,
	TRANDOM,
	THISTOGRAM,
	TPRINT,
	TPUSH,
	TPOP,
	TFREE,
	TALLOC,
	SCALAR,
	VECTOR,
	OP_COUNT
};

/* What an instruction returns; assigning it to an Event records that event. */
struct RecordEvent {};

template <Op Src, Op Dst>
struct Event {
	static constexpr Op src_op = Src;
	static constexpr Op dst_op = Dst;

	Event() = default;
	Event(RecordEvent) { Record(); }
	Event &operator=(RecordEvent)
	{
		Record();
		return *this;
	}
	/* Whatever follows comes after what was recorded. */
	void Wait() const
	{
		if (__builtin_expect(core_::checked(), 0))
			checking_::await_all(mark);
	}
	/* The last instruction is what will be waited for. */
	void Record()
	{
		if (__builtin_expect(core_::checked(), 0))
			mark = checking_::record();
	}
	void Init() { mark = 0; }

	uint32_t mark = 0; /* of checked mode */
};

template <typename... Events>
PTO_INST void TSYNC(const Events &...events)
{
	(events.Wait(), ...);
}

/* A barrier of the pipe of an instruction: instructions of one pipe are in order anyway. */
template <Op Src>
PTO_INST void TSYNC()
{}

} // namespace pto

#endif
