// SPDX-License-Identifier: MIT
/* Tile, GlobalTensor, TASSIGN and its limits, aliases, builtins, events (pto-isa §3). */
#include "element.hpp"
#include "fake_core.hpp"

using namespace check;

namespace {

template <typename T>
void offsets(context &t, const char *what)
{
	for (int r = 0; r < T::Rows; r++)
		for (int c = 0; c < T::Cols; c++)
			if (!t.expect(T::Offset(r, c) == spec_offset<T>(r, c),
				      "%s: offset (%d, %d) is %zu", what, r, c, T::Offset(r, c)))
				return;
}

template <typename T>
void every_layout(context &t)
{
	constexpr auto V = TileType::Vec;
	constexpr auto Row = BLayout::RowMajor, Col = BLayout::ColMajor;
	constexpr auto SR = SLayout::RowMajor, SC = SLayout::ColMajor, No = SLayout::NoneBox;

	offsets<Tile<V, T, 32, 64, Row, 32, 64, No>>(t, "ND");
	offsets<Tile<V, T, 32, 64, Col, 32, 64, No>>(t, "DN");
	offsets<Tile<V, T, 32, 64, Col, 32, 64, SR>>(t, "Nz");
	offsets<Tile<V, T, 32, 64, Row, 32, 64, SC>>(t, "Zn");
	offsets<Tile<V, T, 32, 64, Row, 32, 64, SR>>(t, "Zz");
	offsets<Tile<V, T, 32, 64, Col, 32, 64, SC>>(t, "Nn");
	offsets<Tile<V, T, 32, 64, Col, 32, 64, SR, 1024>>(t, "Nz 1024");
	offsets<Tile<V, T, 32, 64, Row, 32, 64, SR, 32>>(t, "Zz 32");
	offsets<Tile<V, T, 32, 64, Col, 32, 64, SC, 32>>(t, "Nn 32");
}

using Plain = Tile<TileType::Vec, float, 16, 32>;
using Boxed = Tile<TileType::Left, half, 32, 64, BLayout::ColMajor, 32, 64, SLayout::RowMajor>;
static_assert(Plain::Rows == 16 && Plain::Cols == 32 && Plain::Numel == 512 && Plain::isRowMajor &&
	      !Plain::isBoxedLayout);
static_assert(Plain::RowStride == 32 && Plain::ColStride == 1 && Plain::ValidRow == 16 &&
	      Plain::ValidCol == 32);
static_assert(Tile<TileType::Vec, float, 16, 8, BLayout::ColMajor>::RowStride == 1);
static_assert(Tile<TileType::Vec, float, 16, 8, BLayout::ColMajor>::ColStride == 16);
static_assert(Boxed::InnerRows == 16 && Boxed::InnerCols == 16 && Boxed::InnerNumel == 256 &&
	      Boxed::isInnerRowMajor && !Boxed::isInnerColMajor && Boxed::SFractalSize == 512 &&
	      Boxed::Loc == TileType::Left);
static_assert(Boxed::PadVal == PadValue::Null && Boxed::Compact == CompactMode::Null &&
	      Boxed::BFractal == BLayout::ColMajor && Boxed::SFractal == SLayout::RowMajor);
static_assert(std::is_same_v<Plain::TileDType, float *> && std::is_same_v<Plain::DType, float>);
static_assert(std::is_constructible_v<Part<float, 8, 8>, int, int> &&
	      !std::is_constructible_v<Plain, int, int>);
static_assert(
	std::is_constructible_v<Tile<TileType::Vec, float, 8, 8, BLayout::RowMajor, -1, 8>, int>);
static_assert(!std::is_constructible_v<Plain, int>);
static_assert(int(CmpMode::GE) == 5 && int(RoundMode::CAST_ODD) == 6 &&
	      int(MaskPattern::P1111) == 7 && int(Layout::MAX) == 22 &&
	      uint64_t(PadValueCustom16(7)) == 0x100000007u && int(TileType::Ctrl) == 9 &&
	      int(SaturationMode::OFF) == 1 && int(Direction::DIR_V2C_GM) == 6 &&
	      int(QF322BF16_PRE) == 34 && int(STPhase::Final) == 3);
static_assert(is_tile_data_v<Plain> && !is_tile_data_v<float> && is_boxed_data_v<Boxed> &&
	      !is_boxed_data_v<Plain>);

} // namespace

CHECK(tile_offsets_follow_the_table)
{
	every_layout<int8_t>(t);
	every_layout<half>(t);
	every_layout<float>(t);
}
CHECK(tile_aliases_have_the_layouts_of_the_architecture)
{
	using L = TileLeft<half, 32, 64, 30, 60>;
	using R = TileRight<half, 32, 64>;
	using A = TileAcc<float, 32, 64>;
#ifdef PTO_NPU_ARCH_A2A3
	t.expect(L::BFractal == BLayout::RowMajor, "the left operand is Zz");
#else
	t.expect(L::BFractal == BLayout::ColMajor, "the left operand is Nz");
#endif
	t.expect(L::SFractal == SLayout::RowMajor && L::ValidRow == 30 && L::ValidCol == 60 &&
			 L::Loc == TileType::Left,
		 "Left");
	t.expect(R::BFractal == BLayout::RowMajor && R::SFractal == SLayout::ColMajor &&
			 R::Loc == TileType::Right,
		 "Right");
	t.expect(A::BFractal == BLayout::ColMajor && A::SFractal == SLayout::RowMajor &&
			 A::SFractalSize == 1024,
		 "Acc");
	t.expect(TileLeftCompact<half, 32, 64>::Compact == CompactMode::Normal, "compact");
	t.expect((TileLeftScale<uint8_t, 16, 2>::InnerCols == 2 &&
		  TileRightScale<uint8_t, 2, 16>::InnerRows == 2),
		 "scales");
}
CHECK(valid_extents_may_be_set_when_dynamic)
{
	Part<float, 16, 32> a(10, 20);
	Tile<TileType::Vec, float, 16, 32, BLayout::RowMajor, 16, -1> b(7);

	t.expect(a.GetValidRow() == 10 && a.GetValidCol() == 20, "constructor");
	a.SetValidShape(3, 4);
	t.expect(a.GetValidRow() == 3 && a.GetValidCol() == 4, "SetValidShape");
	a.SetValidRow(5), a.SetValidCol(6);
	t.expect(a.GetValidRow() == 5 && a.GetValidCol() == 6, "SetValidRow, SetValidCol");
	t.expect(b.GetValidRow() == 16 && b.GetValidCol() == 7, "one dynamic extent");
}
CHECK(elements_are_read_and_written_raw_and_by_position)
{
	place at;
	Nz<half, 32, 32> a(32, 32);

	at.put(a);
	a.SetElement(17, 18, half(3.0f));
	t.expect(float(a.GetValue(spec_offset<decltype(a)>(17, 18))) == 3.0f, "GetValue");
	a.AddToElement(17, 18, half(1.0f));
	a.SetValue(5, half(7.0f));
	t.expect(float(a.GetElement(17, 18)) == 4.0f && float(a.GetElement(0, 5)) == 7.0f,
		 "GetElement");
	a.SetKAligned(true);
	t.expect(a.GetKAligned(), "SetKAligned");
}
CHECK(shapes_and_strides_keep_what_they_are_given)
{
	using S = pto::Shape<1, -1, 3, -1, 5>;
	float mem[16];
	S two(7, 8), five(1, 9, 3, 10, 5), none;
	GlobalTensor<float, S, pto::Stride<-1, -1, -1, -1, 1>, Layout::DN> g(mem, two,
									     {100, 50, 20, 5});

	t.expect(two[1] == 7 && two[3] == 8 && two[2] == 3, "dynamic slots in order");
	t.expect(five[1] == 9 && five[3] == 10, "five values");
	t.expect(none[1] == 1 && none[3] == 1 && none[4] == 5, "default");
	t.expect(g.GetShape(GlobalTensorDim::DIM_3) == 8 && g.GetShape<1>() == 7 &&
			 g.GetStride(2) == 20 && g.GetStride<4>() == 1,
		 "access");
	g.SetShape<3>(11);
	g.SetStride<0>(77);
	t.expect(g.GetShape(3) == 11 && g.GetStride(0) == 77 && g.data() == mem, "set");
	TASSIGN(g, mem + 3);
	t.expect(g.data() == mem + 3, "TASSIGN of a global tensor");
	t.expect(decltype(g)::staticShape[2] == 3 && decltype(g)::staticShape[1] == DYNAMIC &&
			 decltype(g)::layout == Layout::DN,
		 "statics");
	t.expect(is_global_data_v<decltype(g)> && !is_global_data_v<float>, "predicate");
}
CHECK(two_dimensional_helpers_describe_each_layout)
{
	TileShape2D<half, 32, 64> nd;
	BaseShape2D<half, 32, 64, Layout::DN> dn;
	TileShape2D<half, 32, 64, Layout::NZ> nz;
	BaseShape2D<half, 32, 64, Layout::NZ> nzs;
	TileShape2D<half, -1, -1> dynamic(5, 9);
	BaseShape2D<half, -1, -1> pitch(5, 9);

	t.expect(nd[3] == 32 && nd[4] == 64 && nd[0] == 1, "ND");
	t.expect(dn[3] == 1 && dn[4] == 32, "DN strides");
	t.expect(nz[1] == 4 && nz[2] == 2 && nz[3] == 16 && nz[4] == 16, "NZ");
	t.expect(nzs[0] == 2048 && nzs[1] == 512 && nzs[2] == 256 && nzs[3] == 16 && nzs[4] == 1,
		 "NZ strides");
	t.expect(dynamic[3] == 5 && dynamic[4] == 9 && pitch[3] == 9 && pitch[4] == 1, "dynamic");
}
CHECK(tassign_binds_offsets_and_pointers_of_the_core_arena)
{
	fake_core core;
	Full<float, 8, 8> a, b;
	TileLeft<half, 16, 16> l;

	TASSIGN(a, 0x100);
	t.expect(reinterpret_cast<uint8_t *>(a.data()) == core.core.arena[PTO_ARENA_UB] + 0x100,
		 "an offset");
	TASSIGN(b, reinterpret_cast<uintptr_t>(a.data()) + 32);
	t.expect(b.data() == a.data() + 8, "a pointer as a number");
	TASSIGN(b, a.data());
	t.expect(b.data() == a.data(), "a pointer");
	TASSIGN<0x200>(a);
	t.expect(reinterpret_cast<uint8_t *>(a.data()) == core.core.arena[PTO_ARENA_UB] + 0x200,
		 "a constant");
	TASSIGN(l, 0);
	t.expect(reinterpret_cast<uint8_t *>(l.data()) == core.core.arena[PTO_ARENA_L0A],
		 "another memory");
}
CHECK(tassign_beyond_the_arena_ends_the_run)
{
	fake_core core;
	Full<float, 8, 8> a;

	t.expect(!core.fails([&] { TASSIGN(a, fake_core::BYTES - 256); }),
		 "the last 256 bytes are there");
	t.expect(core.fails([&] { TASSIGN(a, fake_core::BYTES - 224); }),
		 "32 bytes beyond the end");
	t.expect(core.code == 5 && strstr(core.text, "UB") && strstr(core.text, "256 bytes"),
		 "message: %s", core.text);
	t.expect(core.fails([&] { TASSIGN(a, ~uint64_t(0) - 64); }), "no wrap-around");
}
CHECK(operands_are_checked_only_in_checked_mode)
{
	fake_core core;
	Part<float, 8, 8> a(4, 4), b(3, 4);

	TASSIGN(a, 0), TASSIGN(b, 0x100);
	t.expect(!core.fails([&] { TADD(a, a, b); }), "unchecked");
	core.ops.checked = true;
	t.expect(core.fails([&] { TADD(a, a, b); }) && strstr(core.text, "4 x 4") &&
			 strstr(core.text, "3 x 4"),
		 "message: %s", core.text);
	a.SetValidShape(9, 4);
	t.expect(core.fails([&] { TABS(a, a); }) && strstr(core.text, "9 x 4"), "message: %s",
		 core.text);
}
CHECK(textract_and_tinsert_check_their_bounds)
{
	fake_core core;
	Part<float, 32, 16> s(32, 16);
	Part<float, 16, 16> d(16, 16);

	TASSIGN(s, 0), TASSIGN(d, 0x1000);
	t.expect(!core.fails([&] { TEXTRACT(d, s, 16, 0); }), "in bounds");
	t.expect(core.fails([&] { TEXTRACT(d, s, 20, 0); }) && strstr(core.text, "TEXTRACT"),
		 "message: %s", core.text);
	t.expect(core.fails([&] { TEXTRACT(d, s, 0, -1); }), "negative");
	t.expect(core.fails([&] { TINSERT(s, d, 17, 0); }) && strstr(core.text, "TINSERT"),
		 "message: %s", core.text);
}
CHECK(a_tile_without_memory_is_reported)
{
	fake_core core;
	Full<float, 8, 8> a;
	float mem[64];
	GlobalTensor<float, pto::Shape<1, 1, 1, 8, 8>, pto::Stride<1, 1, 1, 8, 1>> g(mem);

	t.expect(core.fails([&] { TLOAD(a, g); }) && strstr(core.text, "TASSIGN"), "message: %s",
		 core.text);
}
CHECK(tsubview_aliases_a_window)
{
	place at;
	Part<float, 16, 32> whole(16, 32), window(4, 5);

	at.put(whole);
	TEXPANDS(whole, 0.0f);
	TSUBVIEW(window, whole, 3, 7);
	TEXPANDS(window, 1.0f);
	for (int r = 0; r < 16; r++)
		for (int c = 0; c < 32; c++)
			matches(t, "window", r, c, now(whole, r, c),
				r >= 3 && r < 7 && c >= 7 && c < 12 ? 1.0 : 0.0);
}
CHECK(builtins_read_the_core)
{
	fake_core core;

	core.core.block_idx = 3, core.core.block_num = 9, core.core.sub_block_id = 1,
	core.core.sub_block_dim = 2;
	core.core.core_id = 25, core.core.task_cookie = 77;
	t.expect(get_block_idx() == 3 && get_block_num() == 9 && get_subblockid() == 1 &&
			 get_subblockdim() == 2 && get_coreid() == 25 && get_task_cookie() == 77,
		 "coordinates");
	set_ctrl(sbitset1(sbitset0(0xf0, 4), 0));
	t.expect(get_ctrl() == 0xe1 && core.core.ctrl == 0xe1, "control register %llx",
		 static_cast<unsigned long long>(get_ctrl()));
	t.expect(core.fails([] { trap(); }), "trap ends the run");
}
CHECK(synchronisation_compiles_and_does_nothing)
{
	int x = 0;
	place at;
	Full<float, 8, 8> a;
	Event<Op::TLOAD, Op::TADD> e;
	float mem[64] = {};
	GlobalTensor<float, pto::Shape<1, 1, 1, 8, 8>, pto::Stride<1, 1, 1, 8, 1>> g(mem);

	at.put(a);
	set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
	wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
	pipe_barrier(PIPE_ALL);
	dcci(&x, SINGLE_CACHE_LINE);
	dcci(&x, ENTIRE_DATA_CACHE, CACHELINE_OUT);
	dsb(DSB_DDR);
	set_mask_norm();
	set_vector_mask(-1, -1);
	set_ffts_base_addr(0);
	ffts_cross_core_sync(PIPE_FIX, getFFTSMsg(FFTS_MODE_VAL, 0));
	wait_flag_dev(0);
	e = TLOAD(a, g);
	TADD(a, a, a, e);
	TSYNC(e);
	TSYNC<Op::TADD>();
	t.expect(a.GetValue(0) == 0.0f, "contents");
}
CHECK(a_thread_without_core_has_memories_of_its_own)
{
	Full<float, 8, 8> a;

	NPU_MEMORY_CLEAR();
	NPU_MEMORY_INIT(NPUArch::A5);
	TASSIGN(a, 0x1000);
	t.expect(a.GetValue(0) == 0.0f, "cleared memory is zero");
	cpu_sim::set_execution_context(2, 1, 2, 8);
	t.expect(get_block_idx() == 2 && get_subblockid() == 1 && get_subblockdim() == 2 &&
			 get_block_num() == 8,
		 "context");
	cpu_sim::set_execution_context(0, 0, 1);
	NPU_MEMORY_INIT(NPUArch::A2A3);
}

#include "exports.hpp"
