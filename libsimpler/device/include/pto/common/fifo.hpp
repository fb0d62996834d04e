/* SPDX-License-Identifier: MIT */
/*
 * TPipe: the ring of slots through which the cube core and the vector cores of
 * a cluster exchange tiles.  The ring itself belongs to the runtime.
 *
 * Spec: pto-isa §5.
 */
#ifndef PTO_COMMON_FIFO_HPP
#define PTO_COMMON_FIFO_HPP

#include "pto/common/constants.hpp"
#include "pto/common/qualifiers.hpp"

namespace pto {

/* What a slot holds of one lane's tile; stands at the start of the slot, before the elements. */
struct PipeLane {
	uint16_t rows, cols; /* transported rectangle */
	uint16_t pitch; /* elements from row to row */
	uint16_t elem_bytes;
	uint32_t offset; /* bytes from the end of the slot header */
	uint16_t box_rows; /* physical rows and columns of the lane's share */
	uint16_t box_cols;
};
struct PipeSlotHeader {
	PipeLane lane[2];
	uint8_t reserved[64 - 2 * sizeof(PipeLane)];
};
static_assert(sizeof(PipeSlotHeader) == 64, "elements stay aligned");

/*
 * @SlotBytes is the size of a whole tile before splitting.  One object may
 * serve both ends; it only counts what this end has popped.
 */
template <uint8_t FlagID_, uint8_t Dir_, uint32_t SlotBytes_, uint8_t SlotNum_,
	  uint8_t LocalSlotNum_ = 2, bool NoSplit_ = false, bool UnitFlag_ = false>
struct TPipe {
	static constexpr bool is_pipe = true;
	static constexpr uint8_t FlagID = FlagID_;
	static constexpr uint8_t Dir = Dir_;
	static constexpr uint32_t SlotBytes = SlotBytes_;
	static constexpr uint8_t SlotNum = SlotNum_;
	static constexpr uint8_t LocalSlotNum = LocalSlotNum_;
	static constexpr bool NoSplit = NoSplit_;

	/* Slots in global memory (the runtime's own serve as well), local buffers. */
	template <typename GM>
	TPipe(GM, uint64_t c2v_consumer_buf, uint64_t v2c_consumer_buf)
		: c2v_buf(c2v_consumer_buf), v2c_buf(v2c_consumer_buf)
	{}

	pto_pipe key() const
	{
		pto_pipe p = {};

		p.flag_id = FlagID;
		p.dir_mask = Dir;
		p.slot_num = SlotNum;
		p.local_slot_num = LocalSlotNum;
		p.slot_bytes = SlotBytes + uint32_t(sizeof(PipeSlotHeader));
		return p;
	}

	uint64_t c2v_buf, v2c_buf;
	uint32_t popped = 0;
	uint8_t *allocated = nullptr; /* slot between TALLOC and TPUSH */
};

template <typename T, typename = void>
struct is_pipe : std::false_type {};
template <typename T>
struct is_pipe<T, std::void_t<decltype(std::remove_cv_t<std::remove_reference_t<T>>::is_pipe)>>
	: std::true_type {};
template <typename T>
inline constexpr bool is_pipe_v = is_pipe<T>::value;

/* Conversion and store options a push from the accumulator may carry. */
template <Layout LayoutMode_ = Layout::ND, QuantMode_t Quant_ = NoQuant,
	  ReluPreMode Relu_ = ReluPreMode::NoRelu, STPhase Phase_ = STPhase::Unspecified,
	  int SubBlockId_ = 0, AtomicType Atomic_ = AtomicType::AtomicNone, bool ClipRelu_ = false,
	  bool ChannelSplit_ = false>
struct FixpipeParams {
	static constexpr QuantMode_t Quant = Quant_;
	static constexpr ReluPreMode Relu = Relu_;
};

/* Element type that a push of accumulator elements @S leaves in the slot. */
template <typename S, QuantMode_t Q>
using pushed_elem = std::conditional_t<
	Q == F322F16 || Q == VDEQF16 || Q == DEQF16 || Q == QF322F16_PRE, half,
	std::conditional_t<
		Q == F322BF16 || Q == QF322BF16_PRE, bfloat16_t,
		std::conditional_t<
			Q == VREQ8 || Q == REQ8 || Q == VQF322B8_PRE || Q == QF322B8_PRE, int8_t,
			std::conditional_t<Q == VSHIFTS322S16 || Q == SHIFTS322S16, int16_t, S>>>>;

} // namespace pto

#endif
