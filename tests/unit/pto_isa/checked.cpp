// SPDX-License-Identifier: MIT
/* Checked mode: operands, written data, synchronisation between pipes (pto-isa §3.6 to §3.8). */
#include <unistd.h>

#include "fake_core.hpp"

using namespace check;

namespace {

struct checked_core : fake_core {
	checked_core() { ops.checked = true; }
};

/* A task with two operands of 8 x 32 floats, the first of which is an input. */
struct core_of_a_task : checked_core {
	float in[256] = {}, out[256] = {};
	bool open = false;

	core_of_a_task()
	{
		ops.extents = [](pto_extent *e, bool *open) -> uint32_t {
			auto *c = static_cast<core_of_a_task *>(current());
			const uint64_t in = reinterpret_cast<uintptr_t>(c->in),
				       out = reinterpret_cast<uintptr_t>(c->out);

			e[0] = {in, in + sizeof(c->in), 0, true};
			e[1] = {out, out + sizeof(c->out), 3, false};
			*open = c->open;
			return 2;
		};
	}
};

using Row = Full<float, 8, 32>;
using Memory = GlobalTensor<float, Shape<1, 1, 1, 8, 32>, Stride<256, 256, 256, 32, 1>>;

/* The run ends with a message that holds all of @parts. */
template <typename F>
void ends_with(context &t, checked_core &c, const F &f, std::initializer_list<const char *> parts)
{
	if (!t.expect(c.fails(f), "not reported: %s", *parts.begin()))
		return;
	for (const char *part : parts)
		t.expect(strstr(c.text, part), "no \"%s\" in: %s", part, c.text);
}
template <typename F>
void passes(context &t, checked_core &c, const char *what, const F &f)
{
	t.expect(!c.fails(f), "%s: %s", what, c.text);
}

/* A pipeline over two buffers, whose synchronisation number @skip is left out. */
struct pipeline {
	int skip, at = 0;
	float in[4][256], out[4][256];

	bool use() { return at++ != skip; }
	void set(pipe_t a, pipe_t b, int id)
	{
		if (use())
			set_flag(a, b, id);
	}
	void wait(pipe_t a, pipe_t b, int id)
	{
		if (use())
			wait_flag(a, b, id);
	}
	void run()
	{
		Row x[2], y[2];

		at = 0;
		for (int i = 0; i < 2; i++) {
			TASSIGN(x[i], i * 2048);
			TASSIGN(y[i], i * 2048 + 1024);
			set(PIPE_V, PIPE_MTE2, i);
			set(PIPE_MTE3, PIPE_V, i);
		}
		for (int i = 0; i < 4; i++) {
			const int b = i % 2;

			wait(PIPE_V, PIPE_MTE2, b);
			TLOAD(x[b], Memory(in[i]));
			set(PIPE_MTE2, PIPE_V, b);
			wait(PIPE_MTE2, PIPE_V, b);
			wait(PIPE_MTE3, PIPE_V, b);
			TMULS(y[b], x[b], 2.0f);
			set(PIPE_V, PIPE_MTE2, b);
			set(PIPE_V, PIPE_MTE3, b);
			wait(PIPE_V, PIPE_MTE3, b);
			TSTORE(Memory(out[i]), y[b]);
			set(PIPE_MTE3, PIPE_V, b);
		}
		for (int i = 0; i < 2; i++) {
			wait(PIPE_V, PIPE_MTE2, i);
			wait(PIPE_MTE3, PIPE_V, i);
		}
	}
};

} // namespace

CHECK(messages_name_instruction_operand_and_line)
{
	checked_core c;
	Row a, b, d;
	Tile<TileType::Vec, float, 8, 32, BLayout::RowMajor, 8, 32, SLayout::NoneBox, 512,
	     PadValue::Zero>
		p;
	char place[64];

	TASSIGN(a, 0), TASSIGN(d, 0x400);
	TEXPANDS(a, 1.0f);
	snprintf(place, sizeof(place), "checked.cpp:%d: TADD: src1 has no memory", __LINE__ + 1);
	t.expect(c.fails([&] { TADD(d, a, b); }) && strstr(c.text, place), "%s", c.text);
	snprintf(place, sizeof(place), "checked.cpp:%d: TCVT: src0", __LINE__ + 1);
	t.expect(c.fails([&] { TCVT(d, b, a, RoundMode::CAST_RINT, SaturationMode::ON); }) &&
			 strstr(c.text, place),
		 "%s", c.text);
	snprintf(place, sizeof(place), "checked.cpp:%d: TFILLPAD: dst", __LINE__ + 1);
	t.expect(c.fails([&] { TFILLPAD_EXPAND(p, a); }) && strstr(c.text, place), "%s", c.text);
	snprintf(place, sizeof(place), "checked.cpp:%d: GetValue", __LINE__ + 1);
	t.expect(c.fails([&] { d.GetValue(5); }) && strstr(c.text, place), "%s", c.text);
}
CHECK(unwritten_elements_are_not_read)
{
	checked_core c;
	Part<float, 8, 32> a(8, 32), d(8, 32);
	Memory g(reinterpret_cast<float *>(c.core.arena[PTO_ARENA_L0A]));

	TASSIGN(a, 0), TASSIGN(d, 0x400);
	ends_with(t, c, [&] { TABS(d, a); }, {"TABS", "element (0, 0) of src0 was never written"});
	a.SetValidShape(5, 20);
	TEXPANDS(a, 1.0f);
	d.SetValidShape(5, 20);
	passes(t, c, "what was written", [&] { TABS(d, a); });
	a.SetValidShape(5, 21);
	d.SetValidShape(5, 21);
	ends_with(t, c, [&] { TABS(d, a); }, {"(0, 0) of src0"});
	ends_with(t, c, [&] { TPRINT(a); }, {"TPRINT"});
	core_::self()->block_idx++;
	a.SetValidShape(5, 20);
	d.SetValidShape(5, 20);
	ends_with(t, c, [&] { TABS(a, d); }, {"never written by this block"});
	passes(t, c, "a whole box is loaded", [&] {
		Tile<TileType::Vec, float, 8, 32, BLayout::RowMajor, 4, 32, SLayout::NoneBox, 512,
		     PadValue::Zero>
			x;
		Row y;
		GlobalTensor<float, Shape<1, 1, 1, 4, 32>, Stride<1, 1, 1, 32, 1>> h(g.data());

		TASSIGN(x, 0x800), TASSIGN(y, 0x800);
		TLOAD(x, h);
		set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
		wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
		TABS(y, y);
	});
}
CHECK(operands_lie_inside_their_memory_and_are_aligned)
{
	checked_core c;
	Part<float, 8, 32> a(8, 32), d(8, 32);
	Nz<float, 32, 64> z(8, 32);
	Dn<float, 32, 8> n(8, 8);

	TASSIGN(a, 16), TASSIGN(d, 0x400), TASSIGN(z, 0x1000), TASSIGN(n, 0x800);
	ends_with(t, c, [&] { TEXPANDS(a, 1.0f); },
		  {"TEXPANDS: dst starts at 0x10", "multiple of 32"});
	a.Bind(reinterpret_cast<float *>(c.core.arena[PTO_ARENA_L1]));
	ends_with(t, c, [&] { TEXPANDS(a, 1.0f); }, {"dst is in L1", "UB"});
	a.Bind(reinterpret_cast<float *>(c.core.arena[PTO_ARENA_UB] + fake_core::BYTES - 512));
	ends_with(t, c, [&] { TEXPANDS(a, 1.0f); }, {"1024 bytes", "ends beyond"});
	TASSIGN(a, 0);
	TEXPANDS(a, 1.0f), TEXPANDS(z, 1.0f);
	a.SetValidShape(9, 32);
	ends_with(t, c, [&] { TABS(d, a); }, {"9 x 32 of src0 is not within"});
	a.SetValidShape(8, 31);
	ends_with(t, c, [&] { TABS(d, a); }, {"dst 8 x 32", "src0 8 x 31"});
	ends_with(t, c, [&] { TABS(d, z); }, {"src0 must be a row-major tile"});
	float mem[260];
	Memory odd(reinterpret_cast<float *>(reinterpret_cast<char *>(mem) + 2)), none(nullptr);
	Row r;

	TASSIGN(r, 0);
	ends_with(t, c, [&] { TLOAD(r, none); }, {"TLOAD", "null pointer"});
	ends_with(t, c, [&] { TLOAD(r, odd); }, {"not aligned to its 4-byte elements"});
}
CHECK(each_pair_of_pipes_needs_a_flag)
{
	checked_core c;
	float mem[256] = {}, res[256];
	Memory g(mem), o(res);
	Row a, d;

	TASSIGN(a, 0), TASSIGN(d, 0x400);
	ends_with(t, c, [&] { TLOAD(a, g), TABS(d, a); },
		  {"TABS on PIPE_V reads src0", "TLOAD on PIPE_MTE2 writes",
		   "set_flag(PIPE_MTE2, PIPE_V"});
	ends_with(t, c, [&] { TEXPANDS(d, 1.0f), TSTORE(o, d); },
		  {"TSTORE on PIPE_MTE3 reads src0", "TEXPANDS on PIPE_V writes"});
	core_::self()->task_cookie++;
	ends_with(t, c,
		  [&] {
			  TEXPANDS(d, 1.0f);
			  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
			  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
			  TSTORE(o, d);
			  TEXPANDS(d, 2.0f);
		  },
		  {"TEXPANDS on PIPE_V writes dst", "TSTORE on PIPE_MTE3 reads"});
	core_::self()->task_cookie++;
	ends_with(t, c, [&] { TEXPANDS(d, 1.0f), TLOAD(d, g); }, {"TLOAD on PIPE_MTE2 writes dst"});
	core_::self()->task_cookie++;
	ends_with(t, c,
		  [&] {
			  TEXPANDS(a, 1.0f);
			  a.SetValue(3, 2.0f);
			  TABS(d, a);
		  },
		  {"SetValue on PIPE_S"});
	core_::self()->task_cookie++;
	passes(t, c, "flags in both directions of a scalar", [&] {
		TEXPANDS(a, 1.0f);
		set_flag(PIPE_V, PIPE_S, EVENT_ID0);
		wait_flag(PIPE_V, PIPE_S, EVENT_ID0);
		a.SetValue(3, a.GetValue(2) + 1.0f);
		set_flag(PIPE_S, PIPE_V, EVENT_ID0);
		wait_flag(PIPE_S, PIPE_V, EVENT_ID0);
		TABS(d, a);
	});
}
CHECK(cube_pipes_are_followed)
{
	checked_core c;
	half mem[1024] = {};
	float res[1024];
	GlobalTensor<half, Shape<1, 1, 1, 32, 32>, Stride<1, 1, 1, 32, 1>> g(mem);
	GlobalTensor<float, Shape<1, 1, 1, 32, 32>, Stride<1, 1, 1, 32, 1>> o(res);
	Tile<TileType::Mat, half, 32, 32, BLayout::ColMajor, 32, 32, SLayout::RowMajor> m;
	TileLeft<half, 32, 32> l;
	TileRight<half, 32, 32> r;
	TileAcc<float, 32, 32> acc;
	const pipe_t chain[][2] = {{PIPE_MTE2, PIPE_MTE1}, {PIPE_MTE1, PIPE_M}, {PIPE_M, PIPE_FIX}};
	const auto kernel = [&](int without) {
		const auto link = [&](int i) {
			if (i == without)
				return;
			set_flag(chain[i][0], chain[i][1], EVENT_ID0);
			wait_flag(chain[i][0], chain[i][1], EVENT_ID0);
		};

		core_::self()->task_cookie++;
		TASSIGN(m, 0), TASSIGN(l, 0), TASSIGN(r, 0), TASSIGN(acc, 0);
		TLOAD(m, g);
		link(0);
		TMOV(l, m);
		TMOV(r, m);
		link(1);
		TMATMUL(acc, l, r);
		link(2);
		TSTORE(o, acc);
	};

	passes(t, c, "all links", [&] { kernel(-1); });
	ends_with(t, c, [&] { kernel(0); },
		  {"TMOV on PIPE_MTE1 reads", "TLOAD on PIPE_MTE2 writes"});
	ends_with(t, c, [&] { kernel(1); },
		  {"TMATMUL on PIPE_M reads", "TMOV on PIPE_MTE1 writes"});
	ends_with(t, c, [&] { kernel(2); },
		  {"TSTORE on PIPE_FIX reads", "TMATMUL on PIPE_M writes"});
}
CHECK(paths_may_go_through_other_pipes_barriers_and_events)
{
	checked_core c;
	float mem[256] = {}, res[256];
	Memory g(mem), o(res);
	Row a, d;

	TASSIGN(a, 0), TASSIGN(d, 0x400);
	passes(t, c, "a path over two flags", [&] {
		TLOAD(a, g);
		set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
		wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
		set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
		wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
		TABS(d, a);
	});
	core_::self()->task_cookie++;
	passes(t, c, "the scalar pipe waits for everything issued later", [&] {
		TLOAD(a, g);
		set_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
		wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
		TABS(d, a);
	});
	core_::self()->task_cookie++;
	passes(t, c, "a barrier of all pipes", [&] {
		TLOAD(a, g);
		pipe_barrier(PIPE_ALL);
		TABS(d, a);
		pipe_barrier(PIPE_ALL);
		TSTORE(o, d);
	});
	core_::self()->task_cookie++;
	ends_with(t, c, [&] { TLOAD(a, g), pipe_barrier(PIPE_V), TABS(d, a); }, {"TABS"});
	core_::self()->task_cookie++;
	passes(t, c, "events", [&] {
		Event<Op::TLOAD, Op::TABS> loaded;
		Event<Op::TABS, Op::TSTORE> done;

		loaded = TLOAD(a, g);
		done = TABS(d, a, loaded);
		TSTORE(o, d, done);
		TSYNC(done);
	});
	core_::self()->task_cookie++;
	ends_with(t, c,
		  [&] {
			  Event<Op::TLOAD, Op::TABS> loaded;

			  loaded = TLOAD(a, g);
			  TABS(d, a);
		  },
		  {"TABS"});
	core_::self()->task_cookie++;
	passes(t, c, "buffer tokens", [&] {
		get_buf(PIPE_MTE2, 3, 0);
		TLOAD(a, g);
		rls_buf(PIPE_MTE2, 3, 0);
		get_buf(PIPE_V, 3, 0);
		TABS(d, a);
		rls_buf(PIPE_V, 3, 0);
	});
}
CHECK(flags_are_set_once_and_waited_for_once)
{
	checked_core c;

	ends_with(t, c, [&] { wait_flag(PIPE_V, PIPE_S, EVENT_ID2); },
		  {"wait_flag(PIPE_V, PIPE_S, 2)", "nothing sets the event"});
	ends_with(t, c,
		  [&] { set_flag(PIPE_V, PIPE_S, EVENT_ID2), set_flag(PIPE_V, PIPE_S, EVENT_ID2); },
		  {"still set"});
	ends_with(t, c, [&] { set_flag(PIPE_V, PIPE_S, 8); }, {"event ids are 0 to 7"});
	ends_with(t, c, [&] { set_flag(PIPE_ALL, PIPE_S, 0); }, {"from one pipe to another"});
}
CHECK(global_memory_is_ordered_as_well)
{
	checked_core c;
	float mem[512] = {};
	Memory g(mem), h(mem + 252);
	Row a, d;

	TASSIGN(a, 0), TASSIGN(d, 0x400);
	TEXPANDS(a, 1.0f);
	set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
	TSTORE(g, a);
	passes(t, c, "memory behind", [&] { TLOAD(d, Memory(mem + 256)); });
	ends_with(t, c, [&] { TLOAD(d, h); },
		  {"TLOAD on PIPE_MTE2 reads src0", "global memory", "TSTORE on PIPE_MTE3 writes"});
	set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
	wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
	passes(t, c, "after a flag", [&] { TLOAD(d, h); });
}
CHECK(every_synchronisation_of_a_pipeline_is_missed_when_left_out)
{
	checked_core c;
	static pipeline p;

	p.skip = -1;
	passes(t, c, "the whole pipeline", [&] { p.run(); });
	const int all = p.at;

	for (p.skip = 0; p.skip < all; p.skip++) {
		const int skip = p.skip;

		core_::self()->task_cookie++;
		/* the last waits only drain, and the sets they belong to serve nothing else */
		if (skip >= all - 4)
			continue;
		t.expect(c.fails([&] { p.run(); }), "synchronisation %d of %d left out", skip, all);
		p.skip = skip;
	}
	t.expect(all == 40, "%d synchronisations", all);
}
CHECK(synchronisation_is_not_checked_when_told_so)
{
	checked_core c;
	float mem[256] = {};
	Memory g(mem);
	Row a, d;

	setenv("SIMPLER_CHECK_SYNC", "0", 1);
	TASSIGN(a, 0), TASSIGN(d, 0x400);
	passes(t, c, "no flag", [&] { TLOAD(a, g), TABS(d, a); });
	unsetenv("SIMPLER_CHECK_SYNC");
}
CHECK(printing_needs_no_flag)
{
	checked_core c;
	Part<float, 8, 32> a(1, 1);
	FILE *file = tmpfile();
	const int saved = dup(1);

	TASSIGN(a, 0);
	TEXPANDS(a, 1.5f);
	fflush(stdout);
	dup2(fileno(file), 1);
	passes(t, c, "a print in the middle", [&] { TPRINT(a), TABS(a, a), TPRINT(a); });
	fflush(stdout);
	dup2(saved, 1);
	close(saved);
	fclose(file);
}
CHECK(parts_of_tiles_are_told_apart)
{
	checked_core c;
	Part<float, 8, 32> whole(8, 32), sum(8, 32);
	Tile<TileType::Vec, float, 8, 32, BLayout::RowMajor, 4, 16> part;
	Tile<TileType::Vec, float, 8, 1, BLayout::ColMajor, 8, 1> m;

	TASSIGN(whole, 0), TASSIGN(sum, 0x400), TASSIGN(m, 0x800);
	TEXPANDS(whole, 1.0f);
	TSUBVIEW(part, whole, 4, 16);
	passes(t, c, "a window that starts inside a block", [&] { TEXPANDS(part, 2.0f); });
	passes(t, c, "a reduction writes one column", [&] { TROWSUM(m, whole, sum); });
	passes(t, c, "which is then there", [&] { TROWEXPANDMUL(sum, whole, m); });
	core_::self()->task_cookie++;
	Full<float, 16, 16> small;
	Nz<float, 32, 64> z(32, 64);

	TASSIGN(small, 0x1000), TASSIGN(z, 0x2000);
	TEXPANDS(small, 1.0f);
	passes(t, c, "insertion", [&] { TINSERT(z, small, 5, 9); });
	passes(t, c, "extraction of what was inserted", [&] { TEXTRACT(small, z, 5, 9); });
	ends_with(t, c, [&] { TEXTRACT(small, z, 4, 9); }, {"TEXTRACT", "never written"});
}
CHECK(windows_keep_the_rows_and_boxes_of_their_tile)
{
	checked_core c;
	Full<float, 16, 64> whole;
	Full<float, 16, 32> narrow;
	Full<float, 1, 32> row;
	Nz<float, 32, 64> boxes(32, 64);
	Nz<float, 16, 32> few(16, 32);

	TASSIGN(whole, 0), TASSIGN(boxes, 0x2000);
	TEXPANDS(whole, 0.0f);
	passes(t, c, "one row", [&] { TSUBVIEW(row, whole, 5, 32); });
	ends_with(t, c, [&] { TSUBVIEW(narrow, whole, 0, 32); },
		  {"TSUBVIEW", "16 x 32", "16 x 64", "lie apart differently"});
	ends_with(t, c, [&] { TSUBVIEW(few, boxes, 16, 32); }, {"TSUBVIEW", "16 x 32", "32 x 64"});
	few.SetValidShape(16, 8);
	passes(t, c, "a column of boxes", [&] { TSUBVIEW(few, boxes, 16, 32); });
}

CHECK(transfers_stay_within_the_operands_of_the_task)
{
	core_of_a_task c;
	float other[256] = {};
	const auto tile = [&](const auto &f) {
		Row a;

		core_::self()->task_cookie++;
		TASSIGN(a, 0);
		TLOAD(a, Memory(c.in));
		pipe_barrier(PIPE_ALL);
		f(a);
	};

	passes(t, c, "both operands", [&] { tile([&](Row &a) { TSTORE(Memory(c.out), a); }); });
	ends_with(t, c, [&] { tile([&](Row &a) { TLOAD(a, Memory(c.in - 1)); }); },
		  {"TLOAD: bytes -4 to 1019 of src0", "args[0]", "1024 bytes", "checked.cpp:"});
	ends_with(t, c, [&] { tile([&](Row &a) { TSTORE(Memory(c.out + 32), a); }); },
		  {"TSTORE: bytes 128 to 1151 of dst", "args[3]"});
	ends_with(t, c, [&] { tile([&](Row &a) { TSTORE(Memory(c.in), a); }); },
		  {"TSTORE: dst is args[0], which the task has as an input"});
	ends_with(t, c, [&] { tile([&](Row &a) { TLOAD(a, Memory(other)); }); }, {"TLOAD: bytes"});
	c.open = true;
	passes(t, c, "addresses among the scalars",
	       [&] { tile([&](Row &a) { TLOAD(a, Memory(other)); }); });
	ends_with(t, c, [&] { tile([&](Row &a) { TSTORE(Memory(c.in), a); }); }, {"as an input"});
	setenv("SIMPLER_CHECK_BOUNDS", "0", 1);
	passes(t, c, "not checked when told so",
	       [&] { tile([&](Row &a) { TSTORE(Memory(c.in), a); }); });
	unsetenv("SIMPLER_CHECK_BOUNDS");
}
CHECK(tables_lie_within_the_operands_of_the_task)
{
	core_of_a_task c;
	Row d;
	Full<int32_t, 8, 8> rows;
	Part<int32_t, 8, 8> idx(8, 1);

	TASSIGN(d, 0), TASSIGN(rows, 0x800), TASSIGN(idx, 0x800);
	TEXPANDS(rows, 7);
	pipe_barrier(PIPE_ALL);
	passes(t, c, "a table that is an operand", [&] { MGATHER(d, Memory(c.in), idx); });
	ends_with(t, c, [&] { MGATHER(d, Memory(c.in + 32), idx); }, {"MGATHER", "bytes 128 to"});
	ends_with(t, c, [&] { MSCATTER(Memory(c.in), d, idx); }, {"MSCATTER", "as an input"});
	passes(t, c, "a table to write", [&] { MSCATTER(Memory(c.out), d, idx); });
}

CHECK(what_instructions_find_later_names_their_line_as_well)
{
	checked_core c;
	float mem[256] = {};
	Row a;
	Dn<float, 32, 1> sum;
	Part<float, 8, 32> part(8, 32);
	char place[64];

	TASSIGN(a, 0), TASSIGN(part, 0x400), TASSIGN(sum, 0x800);
	TEXPANDS(a, 1.0f);
	TEXPANDS(part, 1.0f);
	pipe_barrier(PIPE_ALL);
	snprintf(place, sizeof(place), "checked.cpp:%d: TASSIGN: 1024 bytes at 0xff", __LINE__ + 1);
	ends_with(t, c, [&] { TASSIGN(a, -32); }, {place, "of UB"});
	snprintf(place, sizeof(place), "checked.cpp:%d: element offset 300", __LINE__ + 1);
	ends_with(t, c, [&] { a.GetValue(300); }, {place, "256 elements"});
	part.SetValidShape(8, 31);
	snprintf(place, sizeof(place), "checked.cpp:%d: TLOAD: the tensor is 8 x 32", __LINE__ + 1);
	ends_with(t, c, [&] { TLOAD(part, Memory(mem)); }, {place});
	pipe_barrier(PIPE_ALL);
	snprintf(place, sizeof(place), "checked.cpp:%d: TMOV: ", __LINE__ + 1);
	ends_with(t, c, [&] { TMOV(a, part); }, {place, "8 x 31"});
	snprintf(place, sizeof(place), "checked.cpp:%d: row reduction: ", __LINE__ + 1);
	ends_with(t, c, [&] { TROWSUM(sum, a, part); }, {place, "32 valid rows"});
}
CHECK(reductions_need_memory_of_their_own)
{
	checked_core c;
	Row a, tmp;
	Dn<float, 8, 1> sum;

	TASSIGN(a, 0), TASSIGN(tmp, 0x400), TASSIGN(sum, 0x800);
	TEXPANDS(a, 1.0f);
	passes(t, c, "a result of its own", [&] { TROWSUM(sum, a, tmp); });
	TASSIGN(sum, 0x3e0);
	ends_with(t, c, [&] { TROWSUM(sum, a, tmp); }, {"TROWSUM: dst and src0 share memory"});
	passes(t, c, "element by element", [&] { TABS(a, a); });
}
/* Keeps what is to be called when the kernel returns. */
struct core_that_returns : checked_core {
	void (*end)() = nullptr;

	core_that_returns()
	{
		ops.at_return = [](void (*fn)()) {
			static_cast<core_that_returns *>(current())->end = fn;
		};
	}
};

CHECK(flags_are_waited_for_before_the_kernel_returns)
{
	core_that_returns c;
	char place[64];

	passes(t, c, "no flag", [] { pipe_barrier(PIPE_ALL); });
	t.expect(!c.end, "asks for the end without a flag");
	passes(t, c, "a flag", [] { set_flag(PIPE_V, PIPE_MTE3, 1); });
	passes(t, c, "its wait", [] { wait_flag(PIPE_V, PIPE_MTE3, 1); });
	passes(t, c, "the end", [&] { c.end(); });
	snprintf(place, sizeof(place), "checked.cpp:%d: set_flag(PIPE_MTE2, PIPE_V, 7)", __LINE__ + 1);
	passes(t, c, "another flag", [] { set_flag(PIPE_MTE2, PIPE_V, 7); });
	ends_with(t, c, [&] { c.end(); }, {place, "nothing waits for the event"});
	c.ops.bytes = offsetof(pto_core_ops, at_return);
	c.core.block_idx++;
	c.end = nullptr;
	passes(t, c, "an older runtime", [] { set_flag(PIPE_MTE2, PIPE_V, 7); });
	t.expect(!c.end, "asks a runtime that cannot");
}

/* Operands of each instruction at places of their own, and one source moved onto a part of dst. */
CHECK(instructions_that_move_elements_do_not_work_in_place)
{
	checked_core c;
	Full<float, 32, 32> d, a, e, other;
	Full<uint32_t, 32, 32> idx;
	const char *no = "share memory, which this instruction does not allow";
	const auto fill = [&](int at_a) {
		TASSIGN(d, 0), TASSIGN(a, at_a), TASSIGN(e, 0x2000), TASSIGN(idx, 0x3000);
		TASSIGN(other, 0x4000);
		c.core.block_idx++;
		TEXPANDS(e, 0.0f), TEXPANDS(idx, 0u), TEXPANDS(d, 0.0f), TEXPANDS(a, 1.0f);
		pipe_barrier(PIPE_ALL);
	};
	const auto apart = [&](const char *op, const auto &f) {
		fill(0x1000);
		passes(t, c, op, f);
		for (int at : {0, 0x80, 0xf80}) {
			fill(at);
			ends_with(t, c, f, {op, no});
		}
	};

	apart("TMOV: dst and src0", [&] { TMOV(d, a); });
	apart("TTRANS: dst and src0", [&] { TTRANS(d, a, e); });
	apart("TGATHER: dst and src0", [&] { TGATHER(d, a, idx); });
	apart("TSCATTER: dst and src0", [&] { TSCATTER(d, a, idx); });
	apart("TPRELU: dst and src1", [&] { TPRELU(d, e, a, idx); });
	apart("TEXTRACT: dst and src0", [&] { TEXTRACT(d, a, 0, 0); });
	apart("TINSERT: dst and src0", [&] { TINSERT(d, a, 0, 0); });
	apart("TINTERLEAVE: dst and src0", [&] { TINTERLEAVE(d, other, e, a); });
}

CHECK(element_wise_instructions_work_in_place_but_not_shifted)
{
	checked_core c;
	Row d, a, b;
	Full<half, 8, 32> narrow;
	const char *no = "share memory, but not element for element";

	TASSIGN(d, 0), TASSIGN(a, 0), TASSIGN(b, 0), TASSIGN(narrow, 0);
	TEXPANDS(d, 1.0f);
	passes(t, c, "all operands at one place", [&] { TADD(d, a, b); });
	TASSIGN(b, 0x80);
	TEXPANDS(b, 1.0f);
	ends_with(t, c, [&] { TADD(d, a, b); }, {"TADD: dst and src1", no});
	ends_with(t, c, [&] { TCVT(narrow, a, RoundMode::CAST_RINT); }, {"TCVT: dst and src0", no});
	TASSIGN(narrow, 0x400);
	passes(t, c, "beside", [&] { TCVT(narrow, a, RoundMode::CAST_RINT); });
}

CHECK(windows_beside_each_other_share_nothing)
{
	checked_core c;
	Row parent;
	Part<float, 8, 32> left(8, 8), right(8, 8);
	const char *no = "share memory, which this instruction does not allow";

	TASSIGN(parent, 0);
	TEXPANDS(parent, 1.0f);
	TSUBVIEW(left, parent, 0, 0), TSUBVIEW(right, parent, 0, 8);
	passes(t, c, "beside each other", [&] { TMOV(left, right); });
	TSUBVIEW(right, parent, 0, 7);
	ends_with(t, c, [&] { TMOV(left, right); }, {"TMOV: dst and src0", no});
}
CHECK(products_with_scales_read_what_they_add_to)
{
	checked_core c;
	Tile<TileType::Left, float8_e4m3_t, 16, 64, BLayout::ColMajor, 16, 64, SLayout::RowMajor> a;
	TileRight<float8_e4m3_t, 64, 16> b;
	TileLeftScale<float8_e8m0_t, 16, 2> as;
	TileRightScale<float8_e8m0_t, 2, 16> bs;
	TileAcc<float, 16, 16> sum, in;

	TASSIGN(a, 0), TASSIGN(b, 0), TASSIGN(as, 0), TASSIGN(bs, 0), TASSIGN(sum, 0);
	TASSIGN(in, 0x400);
	ends_with(t, c, [&] { TMATMUL_MX(sum, in, a, as, b, bs); },
		  {"TMATMUL_MX: element (0, 0) of src0 was never written"});
	ends_with(t, c, [&] { TGEMV_MX(sum, in, a, as, b, bs); },
		  {"TGEMV_MX: element (0, 0) of src0 was never written"});
	ends_with(t, c, [&] { TMATMUL_MX(sum, a, as, b, bs); },
		  {"TMATMUL_MX: element (0, 0) of src0 was never written"});
}
CHECK(cores_have_the_memories_of_their_kind)
{
	checked_core c;
	float mem[256] = {};
	Tile<TileType::Mat, float, 8, 32> m;
	Row a;

	c.core.arch = 2201;
	TASSIGN(a, 0), TASSIGN(m, 0);
	passes(t, c, "a vector core", [&] { TLOAD(a, Memory(mem)); });
	ends_with(t, c, [&] { TLOAD(m, Memory(mem)); }, {"TLOAD: a vector core has no memory for Mat"});
	c.core.is_aic = 1;
	passes(t, c, "a cube core", [&] { TLOAD(m, Memory(mem)); });
	ends_with(t, c, [&] { TLOAD(a, Memory(mem)); }, {"TLOAD: a cube core has no memory for Vec"});
}
CHECK(tiles_end_within_the_memory_of_the_chip)
{
	checked_core c;
	float mem[256] = {};
	Row a;

	c.core.arena_bytes[PTO_ARENA_UB] = 512u << 10; /* none of it is touched */
	c.core.arch = 2201;
	TASSIGN(a, 196608 - 512);
	ends_with(t, c, [&] { TLOAD(a, Memory(mem)); },
		  {"TLOAD: dst of 1024 bytes", "beyond the 196608 bytes of UB"});
	c.core.arch = 3510;
	TASSIGN(a, 262144 - 512);
	ends_with(t, c, [&] { TLOAD(a, Memory(mem)); }, {"beyond the 262144 bytes of UB"});
}

#include "exports.hpp"
