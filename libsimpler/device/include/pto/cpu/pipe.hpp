/* SPDX-License-Identifier: MIT */
/*
 * Tiles through cluster pipes: TPUSH, TPOP, TFREE.
 *
 * A slot starts with a header that says what rectangle each lane's share holds
 * and with which pitch; elements follow row by row.  A consumer whose tile has
 * exactly that form is bound to the slot itself, any other gets a copy in its
 * local buffer.
 *
 * Spec: pto-isa §5, chip-runtime §13.3.
 */
#ifndef PTO_CPU_PIPE_HPP
#define PTO_CPU_PIPE_HPP

#include "pto/common/event.hpp"
#include "pto/common/fifo.hpp"
#include "pto/cpu/assign.hpp"
#include "pto/cpu/copy.hpp"
#include "pto/cpu/fixpipe.hpp"
#include "pto/cpu/plain_pipe.hpp"

extern "C" {
/* Present in kernels that use an instruction which may suspend the block. */
__attribute__((visibility("default"))) inline const char pto_kernel_may_block = 1;
}

namespace pto {
namespace pipe_ {

constexpr bool is_split(TileSplitAxis s) { return s != TileSplitAxis::TILE_NO_SPLIT; }
constexpr bool is_rows(TileSplitAxis s)
{
	return s == TileSplitAxis::TILE_UP_DOWN || s == TileSplitAxis::TILE_UP_DOWN_ODD;
}
constexpr bool is_odd(TileSplitAxis s)
{
	return s == TileSplitAxis::TILE_UP_DOWN_ODD || s == TileSplitAxis::TILE_LEFT_RIGHT_ODD;
}
constexpr bool on_cube(TileType loc) { return loc != TileType::Vec; }

/* The table of core services: the runtime's, or those of plain functions. */
inline const pto_core_ops *services()
{
	/* keeps the marker symbol in the object */
	__asm__ volatile("" : : "r"(&pto_kernel_may_block));
	return pto_core_ops_bound ? pto_core_ops_bound : plain_services();
}

/* The second lane of a block with two takes no part in unsplit transfers. */
inline bool is_idle_lane(bool split)
{
	const pto_core *c = cpu_sim::place();

	return !split && !c->is_aic && c->sub_block_dim == 2 && c->sub_block_id == 1;
}

inline int lane_of(bool split) { return split ? int(cpu_sim::place()->sub_block_id & 1) : 0; }

/* Element type in the slot: the tile's, unless the push converts the accumulator. */
template <typename T, typename Params>
using slot_elem = std::conditional_t<T::Loc != TileType::Acc, typename T::DType,
				     pushed_elem<typename T::DType, Params::Quant>>;

template <bool Relu, typename E, typename T>
inline void write_share(uint8_t *elems, PipeLane &lane, const T &t, int row, int col)
{
	using S = typename T::DType;
	using Raw = copy_::raw_t<E>;
	const fixpipe_::preset *set = fixpipe_::quantises<E, S> ? fixpipe_::active_preset() : nullptr;
	const fixpipe_::quant *q = set && set->scalar.given ? &set->scalar : nullptr;

	lane.elem_bytes = sizeof(E);
	(void)q;
	if constexpr (std::is_same_v<E, S> && !Relu)
		copy_::region(
			copy_::move_bits(),
			copy_::strided(reinterpret_cast<Raw *>(elems + lane.offset), lane.pitch, 1),
			0, 0, copy_::raw_view(t), row, col, lane.rows, lane.cols);
	else
		copy_::region(
			fixpipe_::convert<E, S, Relu>{q},
			copy_::strided(reinterpret_cast<E *>(elems + lane.offset), lane.pitch, 1), 0,
			0, copy_::tile_view(t), row, col, lane.rows, lane.cols);
}

inline int clip(int valid, int from, int size)
{
	const int n = valid - from;

	return n < 0 ? 0 : n < size ? n : size;
}

/* Cube to vector, split: the tile is cut in two shares, one per lane. */
template <TileSplitAxis Split, typename Params, typename T>
inline void write_halves(PipeSlotHeader *head, uint8_t *elems, const T &t)
{
	using E = slot_elem<T, Params>;
	constexpr bool relu = Params::Relu == ReluPreMode::NormalRelu;
	const int whole = is_rows(Split) ? (is_odd(Split) ? t.GetValidRow() : T::Rows)
					 : (is_odd(Split) ? t.GetValidCol() : T::Cols);
	const int first = (whole + 1) / 2;
	uint32_t offset = 0;

	for (int l = 0; l < 2; l++) {
		const int from = l ? first : 0, size = l ? whole - first : first;
		PipeLane &lane = head->lane[l];

		lane.box_rows = uint16_t(is_rows(Split) ? size : T::Rows);
		lane.box_cols = uint16_t(is_rows(Split) ? T::Cols : size);
		lane.rows = uint16_t(is_rows(Split) ? clip(t.GetValidRow(), from, size)
						    : t.GetValidRow());
		lane.cols = uint16_t(is_rows(Split) ? t.GetValidCol()
						    : clip(t.GetValidCol(), from, size));
		lane.pitch = lane.box_cols;
		lane.offset = offset;
		offset += uint32_t(lane.box_rows * lane.pitch * sizeof(E));
		write_share<relu, E>(elems, lane, t, is_rows(Split) ? from : 0,
				     is_rows(Split) ? 0 : from);
	}
}

/* One tile as the share of one lane. */
template <typename Params, typename T>
inline void write_whole(PipeLane &lane, uint8_t *elems, const T &t, uint32_t offset)
{
	lane.box_rows = uint16_t(T::Rows);
	lane.box_cols = uint16_t(T::Cols);
	lane.rows = uint16_t(t.GetValidRow());
	lane.cols = uint16_t(t.GetValidCol());
	lane.pitch = uint16_t(T::Cols);
	lane.offset = offset;
	write_share<Params::Relu == ReluPreMode::NormalRelu, slot_elem<T, Params>>(elems, lane, t,
										   0, 0);
}

template <typename Pipe, TileSplitAxis Split, typename Params, typename T>
inline void push(Pipe &p, const T &t)
{
	using E = slot_elem<T, Params>;
	constexpr bool split = is_split(Split), cube = on_cube(T::Loc);
	constexpr size_t bytes = size_t(T::Rows) * T::Cols * sizeof(E);
	static_assert(bytes <= Pipe::SlotBytes / (split && !cube ? 2 : 1),
		      "[PTO][SA] the tile does not fit into the pipe's slot");
	const pto_core_ops *ops = services();
	const pto_pipe key = p.key();
	const pto_pipe_dir dir = cube ? PTO_PIPE_C2V : PTO_PIPE_V2C;
	const uint32_t lanes = split ? 2 : 1;

	if (!t.data())
		core_::fail("TPUSH: the tile has no memory; TASSIGN it first");
	if (!cube && is_idle_lane(split))
		return;
	uint8_t *slot = ops->push_begin(&key, dir, lanes);
	PipeSlotHeader *head = reinterpret_cast<PipeSlotHeader *>(slot);
	uint8_t *elems = slot + sizeof(PipeSlotHeader);

	if constexpr (cube && split) {
		write_halves<Split, Params>(head, elems, t);
	} else {
		const int lane = cube ? 0 : lane_of(split);

		write_whole<Params>(head->lane[lane], elems, t, lane ? Pipe::SlotBytes / 2 : 0);
	}
	ops->push_end(&key, dir, lanes);
}

/* Memory of the consumer for a tile that cannot be bound to the slot. */
template <typename T, typename Pipe>
inline typename T::DType *local_buffer(const Pipe &p)
{
	constexpr uint64_t slots = Pipe::LocalSlotNum ? Pipe::LocalSlotNum : 1;
	const uint64_t base = on_cube(T::Loc) ? p.v2c_buf : p.c2v_buf;

	return assign_::resolve_tile<T>(base + (p.popped % slots) * Pipe::SlotBytes);
}

template <typename T>
inline void check_share(const T &, const PipeLane &lane, int row, int col)
{
	if (lane.elem_bytes != sizeof(typename T::DType))
		core_::fail("TPOP: the tile's elements have %zu bytes, the pushed ones %u",
			   sizeof(typename T::DType), lane.elem_bytes);
	if (row + lane.rows > T::Rows || col + lane.cols > T::Cols)
		core_::fail("TPOP: %u x %u pushed elements at (%d, %d) do not fit into the %d x %d "
			   "tile",
			   lane.rows, lane.cols, row, col, T::Rows, T::Cols);
}

template <typename T>
inline void read_share(T &t, const PipeLane &lane, uint8_t *elems, int row, int col)
{
	using Raw = copy_::raw_t<typename T::DType>;

	check_share(t, lane, row, col);
	copy_::region(copy_::move_bits(), copy_::raw_view(t), row, col,
		     copy_::strided(reinterpret_cast<Raw *>(elems + lane.offset), lane.pitch, 1), 0,
		     0, lane.rows, lane.cols);
}

/* Zeroes what the shares do not cover, so that a partly valid tile has a defined rest. */
template <typename T>
inline void clear(T &t)
{
	memset(static_cast<void *>(t.data()), 0, T::Extent * sizeof(typename T::DType));
}

/* Vector to cube, split: both lanes' shares make up the tile. */
template <TileSplitAxis Split, typename T>
inline void join_halves(T &t, const PipeSlotHeader *head, uint8_t *elems)
{
	const PipeLane &a = head->lane[0];
	const int first = is_rows(Split) ? (is_odd(Split) ? a.rows : a.box_rows)
					 : (is_odd(Split) ? a.cols : a.box_cols);

	clear(t);
	read_share(t, a, elems, 0, 0);
	read_share(t, head->lane[1], elems, is_rows(Split) ? first : 0, is_rows(Split) ? 0 : first);
}

template <typename T>
inline bool fits_slot(const PipeLane &lane)
{
	return T::isRowMajor && !T::isBoxedLayout && lane.pitch == T::Cols &&
	       lane.box_rows >= T::Rows && lane.elem_bytes == sizeof(typename T::DType);
}

template <typename Pipe, TileSplitAxis Split, typename T>
inline void pop(Pipe &p, T &t)
{
	constexpr bool split = is_split(Split), cube = on_cube(T::Loc);
	const pto_core_ops *ops = services();
	const pto_pipe key = p.key();

	if (!cube && is_idle_lane(split)) {
		t.Bind(local_buffer<T>(p));
		clear(t);
		return;
	}
	uint8_t *slot = ops->pop_begin(&key, cube ? PTO_PIPE_V2C : PTO_PIPE_C2V, split ? 2 : 1);
	const PipeSlotHeader *head = reinterpret_cast<const PipeSlotHeader *>(slot);
	uint8_t *elems = slot + sizeof(PipeSlotHeader);
	const PipeLane &lane = head->lane[cube ? 0 : lane_of(split)];

	if (!(cube && split) && fits_slot<T>(lane)) {
		t.Bind(reinterpret_cast<typename T::DType *>(elems + lane.offset));
	} else {
		t.Bind(local_buffer<T>(p));
		if constexpr (cube && split) {
			join_halves<Split>(t, head, elems);
		} else {
			clear(t);
			read_share(t, lane, elems, 0, 0);
		}
	}
	p.popped++;
}

/* A pipe of both directions is pushed to by cubes one way, by vectors the other. */
template <typename Pipe>
inline pto_pipe_dir push_dir()
{
	if (Pipe::Dir == DIR_BOTH)
		return core_::self()->is_aic ? PTO_PIPE_C2V : PTO_PIPE_V2C;
	return Pipe::Dir == DIR_C2V || Pipe::Dir == DIR_C2V_GM ? PTO_PIPE_C2V : PTO_PIPE_V2C;
}
template <typename Pipe>
inline pto_pipe_dir pop_dir()
{
	if (Pipe::Dir != DIR_BOTH)
		return push_dir<Pipe>();
	return core_::self()->is_aic ? PTO_PIPE_V2C : PTO_PIPE_C2V;
}

template <typename Pipe, TileSplitAxis Split>
inline void release(Pipe &p)
{
	constexpr bool split = is_split(Split);
	const pto_core_ops *ops = services();
	const pto_pipe key = p.key();

	if (!is_idle_lane(split))
		ops->pop_free(&key, pop_dir<Pipe>(), split ? 2 : 1);
}

/* ---- global tensors as slots ---- */

/* Where the calling lane's share of a slot starts. */
template <typename Pipe>
inline uint8_t *share(uint8_t *slot, bool split)
{
	return slot + sizeof(PipeSlotHeader) + (split && lane_of(true) ? Pipe::SlotBytes / 2 : 0);
}

template <typename G>
inline int64_t rows_of(const G &g)
{
	return g.GetShape(0) * g.GetShape(1) * g.GetShape(2) * g.GetShape(3);
}

template <typename Pipe, TileSplitAxis Split, typename G>
inline void allocate(Pipe &p, G &g)
{
	const pto_pipe key = p.key();

	p.allocated = services()->push_begin(&key, push_dir<Pipe>(), is_split(Split) ? 2 : 1);
	g.SetAddr(reinterpret_cast<typename G::DType *>(share<Pipe>(p.allocated, is_split(Split))));
	if (__builtin_expect(core_::checked(), 0))
		checking_::lend(p.allocated + sizeof(PipeSlotHeader), Pipe::SlotBytes);
}

/* Sends what TALLOC gave, as dense rows. */
template <typename Pipe, TileSplitAxis Split, typename G>
inline void push_tensor(Pipe &p, const G &g)
{
	constexpr bool split = is_split(Split);
	const pto_pipe key = p.key();
	const size_t bytes = size_t(rows_of(g) * g.GetShape(4)) * sizeof(typename G::RawDType);

	if (!p.allocated ||
	    reinterpret_cast<const uint8_t *>(g.data()) != share<Pipe>(p.allocated, split))
		core_::fail("TPUSH: the tensor is not the slot that TALLOC gave");
	if (bytes > Pipe::SlotBytes / (split ? 2 : 1))
		core_::fail("TPUSH: %zu bytes are more than the slot of %u", bytes, Pipe::SlotBytes);
	PipeSlotHeader *head = reinterpret_cast<PipeSlotHeader *>(p.allocated);
	PipeLane &lane = head->lane[split ? lane_of(true) : 0];

	lane.rows = lane.box_rows = uint16_t(rows_of(g));
	lane.cols = lane.box_cols = lane.pitch = uint16_t(g.GetShape(4));
	lane.elem_bytes = sizeof(typename G::RawDType);
	lane.offset = split && lane_of(true) ? Pipe::SlotBytes / 2 : 0;
	p.allocated = nullptr;
	services()->push_end(&key, push_dir<Pipe>(), split ? 2 : 1);
}

/* Binds @g to the elements of the next slot. */
template <typename Pipe, TileSplitAxis Split, typename G>
inline void pop_tensor(Pipe &p, G &g)
{
	const pto_pipe key = p.key();
	uint8_t *slot = services()->pop_begin(&key, pop_dir<Pipe>(), is_split(Split) ? 2 : 1);
	const PipeSlotHeader *head = reinterpret_cast<const PipeSlotHeader *>(slot);
	const PipeLane &lane = head->lane[lane_of(is_split(Split))];

	if (lane.elem_bytes != sizeof(typename G::RawDType))
		core_::fail("TPOP: the tensor's elements have %zu bytes, the pushed ones %u",
			   sizeof(typename G::RawDType), lane.elem_bytes);
	g.SetAddr(
		reinterpret_cast<typename G::DType *>(slot + sizeof(PipeSlotHeader) + lane.offset));
	if (__builtin_expect(core_::checked(), 0))
		checking_::lend(slot + sizeof(PipeSlotHeader), Pipe::SlotBytes);
	p.popped++;
}

} // namespace pipe_

/* Waits for a free slot and sends the tile's valid region through it. */
template <typename Pipe, typename T, TileSplitAxis Split = TileSplitAxis::TILE_NO_SPLIT,
	  typename Params = FixpipeParams<>, PTO_EXTRA_T,
	  std::enable_if_t<is_pipe_v<Pipe> && is_tile_data_v<T>, int> = 0>
PTO_INST RecordEvent TPUSH(Pipe &p, const T &t, PTO_EXTRA)
{
	PTO_CHECK("TPUSH", checking_::pipe_of_store(T::Loc), 0, checking_::in(t));
	pipe_::push<Pipe, Split, Params>(p, t);
	return {};
}
/* Older operand order; never split. */
template <typename T, typename Pipe, PTO_EXTRA_T,
	  std::enable_if_t<is_tile_data_v<T> && is_pipe_v<Pipe>, int> = 0>
PTO_INST RecordEvent TPUSH(const T &t, Pipe &p, PTO_EXTRA)
{
	PTO_CHECK("TPUSH", checking_::pipe_of_store(T::Loc), 0, checking_::in(t));
	pipe_::push<Pipe, TileSplitAxis::TILE_NO_SPLIT, FixpipeParams<>>(p, t);
	return {};
}

/* Waits for a tile and binds @t to it; the data is valid until TFREE. */
template <typename Pipe, typename T, TileSplitAxis Split = TileSplitAxis::TILE_NO_SPLIT,
	  PTO_EXTRA_T, std::enable_if_t<is_pipe_v<Pipe> && is_tile_data_v<T>, int> = 0>
PTO_INST RecordEvent TPOP(Pipe &p, T &t, PTO_EXTRA)
{
	pipe_::pop<Pipe, Split>(p, t);
	PTO_CHECK("TPOP", checking_::SCALAR, 0, checking_::arrived(t));
	return {};
}
template <typename T, typename Pipe, PTO_EXTRA_T,
	  std::enable_if_t<is_tile_data_v<T> && is_pipe_v<Pipe>, int> = 0>
PTO_INST RecordEvent TPOP(T &t, Pipe &p, PTO_EXTRA)
{
	pipe_::pop<Pipe, TileSplitAxis::TILE_NO_SPLIT>(p, t);
	PTO_CHECK("TPOP", checking_::SCALAR, 0, checking_::arrived(t));
	return {};
}

/* Gives the oldest popped slot back. */
template <typename Pipe, TileSplitAxis Split = TileSplitAxis::TILE_NO_SPLIT, typename... W,
	  std::enable_if_t<!(is_global_data_v<W> || ...), int> = 0>
PTO_INST RecordEvent TFREE(Pipe &p, const W &...)
{
	pipe_::release<Pipe, Split>(p);
	return {};
}

/* Waits for a free slot and binds the tensor to it; TPUSH of the tensor sends it. */
template <typename Pipe, typename G, TileSplitAxis Split = TileSplitAxis::TILE_NO_SPLIT,
	  typename... W, std::enable_if_t<is_pipe_v<Pipe> && is_global_data_v<G>, int> = 0>
PTO_INST RecordEvent TALLOC(Pipe &p, G &g, const W &...)
{
	pipe_::allocate<Pipe, Split>(p, g);
	return {};
}
template <typename Pipe, typename G, TileSplitAxis Split = TileSplitAxis::TILE_NO_SPLIT,
	  typename... W, std::enable_if_t<is_pipe_v<Pipe> && is_global_data_v<G>, int> = 0>
PTO_INST RecordEvent TPUSH(Pipe &p, const G &g, const W &...)
{
	pipe_::push_tensor<Pipe, Split>(p, g);
	return {};
}
template <typename Pipe, typename G, TileSplitAxis Split = TileSplitAxis::TILE_NO_SPLIT,
	  typename... W, std::enable_if_t<is_pipe_v<Pipe> && is_global_data_v<G>, int> = 0>
PTO_INST RecordEvent TPOP(Pipe &p, G &g, const W &...)
{
	pipe_::pop_tensor<Pipe, Split>(p, g);
	return {};
}
/* Gives the slot back that a TPOP bound the tensor to. */
template <typename Pipe, typename G, TileSplitAxis Split = TileSplitAxis::TILE_NO_SPLIT,
	  typename... W, std::enable_if_t<is_pipe_v<Pipe> && is_global_data_v<G>, int> = 0>
PTO_INST RecordEvent TFREE(Pipe &p, const G &, const W &...)
{
	pipe_::release<Pipe, Split>(p);
	return {};
}

} // namespace pto

#endif
