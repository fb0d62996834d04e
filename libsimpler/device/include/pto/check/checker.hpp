/* SPDX-License-Identifier: MIT */
/*
 * Checked mode: what every instruction tells about its operands before it runs,
 * and the checks made on it.
 *
 * On with SIMPLER_CHECK=1 or PTO_CHECKED.  An instruction's operands must have
 * memory inside their own on-chip memory, aligned, and valid regions inside
 * their boxes; what it reads must have been written by this block; and an
 * access must not conflict with one of another pipe that is not known to be
 * over.  SIMPLER_CHECK_SYNC=0 leaves the last check out, for kernels whose
 * synchronisation a later tool inserts.  Transfers stay within the operands of
 * the block's task (bounds.hpp).
 *
 * Spec: pto-isa §3.6 to §3.8, decisions D28, D30, D32.
 */
#ifndef PTO_CHECK_CHECKER_HPP
#define PTO_CHECK_CHECKER_HPP

#include <initializer_list>

#include "pto/check/bounds.hpp"
#include "pto/check/operand.hpp"
#include "pto/check/shadow.hpp"
#include "pto/check/site.hpp"
#include "pto/common/core_state.hpp"

namespace pto
{
namespace checking_
{

/* The valid regions of all tiles are equal; they are plain rows. */
constexpr unsigned SAME = 1, ROWS = 2;
/* What is written shares no byte with what is read; without this an element may replace itself. */
constexpr unsigned APART = 4;

struct call {
	const char *op;
	const site &at;
	int pipe;
	unsigned flags;
};

struct known_site {
	const char *op, *file;
	int line;
};

/* One block's view of its core. */
struct checker {
	static constexpr uint32_t SITES = 4096;

	clocks time;
	arena_shadow arena[PTO_ARENA_COUNT];
	memory_shadow memory;
	bounds own;
	known_site now; /* the last instruction */
	known_site site_of[SITES]; /* 0 is unused */
	uint32_t set_at[PIPES][PIPES][FLAG_IDS]; /* where a flag was set last */
	clock *events;
	uint32_t event_count, event_room;
	int last_pipe;

	void begin()
	{
		const pto_core *c = core_::self();

		time = clocks();
		memset(site_of, 0, sizeof(site_of));
		for (int i = 0; i < PTO_ARENA_COUNT; i++)
			arena[i].begin(c->arena_bytes[i]);
		memory.begin();
		if (!own.begin())
			core_::fail("no memory for checked mode; run without SIMPLER_CHECK");
		event_count = 1; /* mark 0 is no event */
		last_pipe = SCALAR;
		now = {};
	}
	void end()
	{
		for (int i = 0; i < PTO_ARENA_COUNT; i++)
			arena[i].end();
		memory.end();
		own.end();
		free(events);
	}
};

/* State of the calling core; allocated on first use. */
struct holder {
	checker *c;

	void begin()
	{
		if (!c)
			c = static_cast<checker *>(calloc(1, sizeof(checker)));
		if (!c)
			core_::fail("no memory for checked mode; run without SIMPLER_CHECK");
		c->begin();
	}
};

/* The kernel's object is unloaded. */
__attribute__((destructor)) static void release_checkers()
{
	for (int i = 0; i < core_::STATE_SLOTS; i++) {
		checker *&c = core_::state_table<holder>::slots()[i].value.c;

		if (c)
			c->end();
		free(c);
		c = nullptr; /* other translation units of the object have this function, too */
	}
}

PTO_COLD checker &mine()
{
	return *core_::state<holder>().c;
}

PTO_COLD bool sync_is_checked()
{
#ifdef __PTO_AUTO__
	return false;
#else
	const char *text = getenv("SIMPLER_CHECK_SYNC");

	return !text || strcmp(text, "0");
#endif
}

PTO_COLD const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : nullptr;

	return slash ? slash + 1 : path ? path : "?";
}

/* A small number for an instruction's place. */
PTO_COLD uint32_t site_number(checker &k, const char *op, const site &at)
{
	const uintptr_t hash =
		(reinterpret_cast<uintptr_t>(op) ^ reinterpret_cast<uintptr_t>(at.file)) / 8 +
		unsigned(at.line) * 31u;

	for (uint32_t i = 0; i < checker::SITES; i++) {
		const uint32_t n = uint32_t(hash + i) % checker::SITES;
		known_site &s = k.site_of[n];

		if (n == 0)
			continue;
		if (!s.op)
			s = {op, at.file, at.line};
		if (s.op == op && s.file == at.file && s.line == at.line)
			return n;
	}
	return 0;
}

/* "dst", "src0", "src1", ... for an operand of a call. */
struct operand_name {
	char text[8];

	operand_name(const operand &o, int sources)
	{
		if (o.mode & WRITE)
			snprintf(text, sizeof(text), "dst");
		else
			snprintf(text, sizeof(text), "src%d", sources);
	}
};

/* Ends the run because of something at @at; @op may be null. */
[[noreturn]] PTO_COLD __attribute__((format(printf, 3, 4))) void
fail_at(const site &at, const char *op, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	core_::vfail(base_name(at.file), at.line, op, fmt, ap);
}

/* Ends the run because of the instruction that has begun last, whose place is told if checked. */
[[noreturn]] PTO_COLD __attribute__((format(printf, 1, 2))) void fail_here(const char *fmt, ...)
{
	const known_site *s = core_::checked() ? &mine().now : nullptr;
	va_list ap;

	va_start(ap, fmt);
	core_::vfail(s ? base_name(s->file) : nullptr, s ? s->line : 0, nullptr, fmt, ap);
}

[[noreturn]] PTO_COLD void fail_conflict(checker &k, const call &c, const char *name,
					 const access &a, const conflict &with, const char *memory,
					 unsigned long long at)
{
	const known_site &s = k.site_of[with.site];
	const char *earlier = pipe_name(with.pipe), *later = pipe_name(a.pipe);

	fail_at(c.at, nullptr,
		"%s on %s %s %s at 0x%llx of %s, which %s on %s %s (%s:%d), and nothing "
		"orders the two; set_flag(%s, %s, id) after that and wait_flag before this",
		c.op, later, a.write ? "writes" : "reads", name, at, memory,
		s.op ? s.op : "an instruction", earlier, with.write ? "writes" : "reads",
		base_name(s.file), s.line, earlier, later);
}

[[noreturn]] PTO_COLD void fail_unwritten(const call &c, const char *name, int row, int col)
{
	fail_at(c.at, c.op,
		"element (%d, %d) of %s was never written by this block; load or "
		"compute it first",
		row, col, name);
}

/* Bytes of an on-chip memory of the chip; the simulated one may be larger. */
PTO_COLD uint32_t size_on_chip(const pto_core *core, int arena)
{
	const uint32_t bytes = core->arena_bytes[arena];
	uint32_t chip = bytes;

#ifdef PTO_UB_SIZE_BYTES
	if (arena == PTO_ARENA_UB)
		chip = PTO_UB_SIZE_BYTES;
#else
	if (arena == PTO_ARENA_UB && pto_core_ops_bound && core->arch)
		chip = core->arch == 2201 ? 192u << 10 : 256u << 10;
#endif
	return chip < bytes ? chip : bytes;
}

/* Where a tile's memory is: its byte offset in its arena, or -1 outside of all arenas. */
PTO_COLD int64_t place_of(const call &c, const char *name, const operand &o)
{
	const pto_core *core = core_::self();
	const uintptr_t at = reinterpret_cast<uintptr_t>(o.data);
	const int own = arena_of(o.f->loc);

	for (int i = 0; i < PTO_ARENA_COUNT; i++) {
		const uintptr_t base = reinterpret_cast<uintptr_t>(core->arena[i]);

		if (!base || at < base || at - base >= core->arena_bytes[i])
			continue;
		if (i != own)
			fail_at(c.at, c.op, "%s is in %s, but tiles of its kind belong into %s",
				name, arena_name(i), arena_name(own));
		const uint32_t size = size_on_chip(core, i);

		if (at - base + (o.window ? 0 : o.f->bytes) > size)
			fail_at(c.at, c.op,
				"%s of %u bytes at 0x%llx ends beyond the %u bytes "
				"of %s",
				name, o.f->bytes, static_cast<unsigned long long>(at - base), size,
				arena_name(i));
		if (!o.window && (at - base) % BLOCK_BYTE_SIZE)
			fail_at(c.at, c.op,
				"%s starts at 0x%llx of %s, which is not a multiple of "
				"32",
				name, static_cast<unsigned long long>(at - base), arena_name(i));
		return int64_t(at - base);
	}
	return -1;
}

PTO_COLD void check_tile(const call &c, const char *name, const operand &o, const operand &first)
{
	if (!o.data)
		fail_at(c.at, c.op, "%s has no memory; TASSIGN it first", name);
	if (o.valid_rows < 0 || o.valid_cols < 0 || o.valid_rows > o.f->rows ||
	    o.valid_cols > o.f->cols)
		fail_at(c.at, c.op,
			"the valid region %d x %d of %s is not within the tile's %d "
			"x %d",
			o.valid_rows, o.valid_cols, name, o.f->rows, o.f->cols);
	if ((c.flags & SAME) && first.f &&
	    (o.valid_rows != first.valid_rows || o.valid_cols != first.valid_cols))
		fail_at(c.at, c.op, "the valid regions differ: dst %d x %d, %s %d x %d",
			first.valid_rows, first.valid_cols, name, o.valid_rows, o.valid_cols);
	if ((c.flags & ROWS) && !o.f->plain_rows)
		fail_at(c.at, c.op, "%s must be a row-major tile without boxes", name);
}

/* One run of bytes of an on-chip memory. */
PTO_COLD void touch(checker &k, const call &c, const char *name, const operand &o, const access &a,
		    uint64_t from, uint64_t to, int row, int col)
{
	arena_shadow &mem = k.arena[arena_of(o.f->loc)];
	const bool sync = sync_is_checked();

	for (uint64_t b = from / BLOCK; b * BLOCK < to && b < mem.count; b++) {
		const uint64_t base = b * BLOCK;
		const uint32_t mask = byte_mask(uint32_t(from > base ? from - base : 0),
						uint32_t(to - base < BLOCK ? to - base : BLOCK));
		cell &it = mem.at(uint32_t(b));
		conflict with;

		if (!a.write && !(o.mode & FRESH) && (it.written & mask) != mask)
			fail_unwritten(c, name, row, col);
		if (!a.write && (o.mode & ORDERED))
			continue;
		/* hardware moves whole blocks, so neighbours in a block conflict as well */
		if (sync && !(o.mode & ORDERED) && conflicts(it, ~0u, a, &with))
			fail_conflict(k, c, name, a, with, arena_name(arena_of(o.f->loc)), base);
		note(it, mask, a);
		it.write_mask = it.write_time ? ~0u : 0;
		if (o.mode & ORDERED)
			it.write_time = 0;
	}
}

/* Walks the runs of bytes of the touched part, row by row or column by column. */
struct runs {
	const operand &o;
	const bool by_row;
	const int lines, length, piece, start;
	int i = 0, j = 0, row = 0, col = 0;
	uint64_t from = 0, to = 0; /* from the operand's address on */

	explicit runs(const operand &o)
		: o(o), by_row(o.f->cs == 1), lines(by_row ? o.rows : o.cols),
		  length(by_row ? o.cols : o.rows),
		  piece(1 << (by_row ? o.f->col_bits : o.f->row_bits)),
		  start(by_row ? o.col : o.row)
	{
	}
	/* False behind the last one. */
	bool next()
	{
		if (i >= lines || length <= 0)
			return false;
		int n = piece - ((j + start) & (piece - 1));

		n = n < length - j ? n : length - j;
		row = by_row ? i : j;
		col = by_row ? j : i;
		const uint64_t at = o.f->offset(o.row + row, o.col + col);

		from = at * unsigned(o.f->bits) / 8;
		to = ((at + unsigned(n)) * unsigned(o.f->bits) + 7) / 8;
		j += n;
		if (j >= length) {
			j = 0;
			i++;
		}
		return true;
	}
};

PTO_COLD void touch_tile(checker &k, const call &c, const char *name, const operand &o,
			 const access &a, uint64_t base)
{
	for (runs r(o); r.next();)
		touch(k, c, name, o, a, base + r.from, base + r.to, r.row, r.col);
}

PTO_COLD void touch_memory(checker &k, const call &c, const char *name, uintptr_t from,
			   uintptr_t to, const access &a)
{
	for (uintptr_t b = from / BLOCK; b * BLOCK < to; b++) {
		const uintptr_t base = b * BLOCK;
		const uint32_t mask = byte_mask(uint32_t(from > base ? from - base : 0),
						uint32_t(to - base < BLOCK ? to - base : BLOCK));
		cell *it = k.memory.find(b);
		conflict with;

		if (!it)
			core_::fail("no memory for checked mode; run without SIMPLER_CHECK");
		if (conflicts(*it, mask, a, &with))
			fail_conflict(k, c, name, a, with, "global memory", from);
		note(*it, mask, a);
	}
}

[[noreturn]] PTO_COLD void fail_outside(const call &c, const char *name, uint64_t from, uint64_t to,
					const pto_extent *e)
{
	if (!e)
		fail_at(c.at, c.op,
			"%s is at 0x%llx, but the task has no tensor in memory; give "
			"the kernel what it accesses",
			name, static_cast<unsigned long long>(from));
	fail_at(c.at, c.op,
		"bytes %lld to %lld of %s, counted from the start of args[%u], are "
		"not within that tensor's %llu bytes, nor in another one of the task; correct the "
		"offset or the shape",
		static_cast<long long>(from - e->begin), static_cast<long long>(to - e->begin) - 1,
		name, e->argument, static_cast<unsigned long long>(e->end - e->begin));
}

PTO_COLD void check_bounds(const checker &k, const call &c, const char *name, const tensor &t,
			   bool write)
{
	int64_t first = 0, last = 0;
	const pto_extent *e;

	for (int d = 0; d < 5; d++) {
		const int64_t way = (t.shape[d] - 1) * t.stride[d];

		if (t.shape[d] <= 0)
			return;
		(way < 0 ? first : last) += way;
	}
	const uint64_t at = reinterpret_cast<uintptr_t>(t.data);
	const uint64_t from = at + uint64_t(first * t.bytes);
	const uint64_t to = at + uint64_t((last + 1) * t.bytes);

	switch (k.own.look(from, to, write, &e)) {
	case trespass::OUTSIDE:
		fail_outside(c, name, from, to, e);
	case trespass::READ_ONLY:
		fail_at(c.at, c.op,
			"%s is args[%u], which the task has as an input; submit "
			"it with add_inout() or add_output()",
			name, e->argument);
	case trespass::NONE:
		break;
	}
}

PTO_COLD void lend(const void *at, size_t bytes)
{
	if (!mine().own.lend(at, bytes))
		core_::fail("no memory for checked mode; run without SIMPLER_CHECK");
}

PTO_COLD void touch_tensor(checker &k, const call &c, const char *name, const tensor &t,
			   const access &a, uint8_t mode)
{
	const char *p = static_cast<const char *>(t.data);
	const bool dense = t.stride[4] == 1;

	if (!p)
		fail_at(c.at, c.op, "the tensor %s is a null pointer", name);
	if (reinterpret_cast<uintptr_t>(p) % unsigned(t.bytes))
		fail_at(c.at, c.op, "the tensor %s at %p is not aligned to its %d-byte elements",
			name, t.data, t.bytes);
	check_bounds(k, c, name, t, a.write);
	if (!sync_is_checked() || (mode & ORDERED))
		return;
	for (int64_t i0 = 0; i0 < t.shape[0]; i0++)
		for (int64_t i1 = 0; i1 < t.shape[1]; i1++)
			for (int64_t i2 = 0; i2 < t.shape[2]; i2++)
				for (int64_t i3 = 0; i3 < t.shape[3]; i3++) {
					const int64_t at = i0 * t.stride[0] + i1 * t.stride[1] +
							   i2 * t.stride[2] + i3 * t.stride[3];
					const uintptr_t row = reinterpret_cast<uintptr_t>(p) +
							      uintptr_t(at * t.bytes);

					for (int64_t i4 = 0; i4 < (dense ? 1 : t.shape[4]); i4++) {
						const uintptr_t from =
							row + uintptr_t(i4 * t.stride[4] * t.bytes);

						touch_memory(
							k, c, name, from,
							from + uintptr_t((dense ? t.shape[4] : 1) *
									 t.bytes),
							a);
					}
				}
}

PTO_COLD void check_operand(checker &k, const call &c, const operand &o, int sources, uint32_t time,
			    uint32_t number)
{
	const operand_name name(o, sources);
	access a = {c.pipe, time, number, false, &k.time.pipe[c.pipe]};
	int64_t place = -1;

	if (o.f)
		place = place_of(c, name.text, o);
	for (uint8_t mode = READ; mode <= WRITE; mode++) {
		if (!(o.mode & mode))
			continue;
		a.write = mode == WRITE;
		if (!o.f)
			touch_tensor(k, c, name.text, *o.t, a, o.mode);
		else if (place >= 0)
			touch_tile(k, c, name.text, o, a, uint64_t(place));
	}
}

/* What holds whatever the memory looks like. */
PTO_COLD void check_tiles(const call &c, std::initializer_list<operand> ops)
{
	int sources = 0;

	for (const operand &o : ops) {
		const operand_name name(o, sources);

		sources += !(o.mode & WRITE);
		if (o.f)
			check_tile(c, name.text, o, *ops.begin());
	}
}

/* A core has the memories of its kind only; what moves between them is not looked at. */
PTO_COLD void check_core(const call &c, std::initializer_list<operand> ops)
{
	const pto_core *core = core_::self();
	int vector = 0, cube = 0;

	for (const operand &o : ops)
		if (o.f)
			(o.f->loc == TileType::Vec ? vector : cube)++;
	if (!pto_core_ops_bound || !core->arch || (vector && cube))
		return;
	if (core->is_aic ? vector : cube)
		fail_at(c.at, c.op, "a %s core has no memory for %s tiles",
			core->is_aic ? "cube" : "vector",
			vector ? "Vec" : "Mat, Left, Right or Acc");
}

/* Every element that both have is at one place. */
PTO_COLD bool same_places(const operand &d, const operand &s)
{
	const facts &f = *d.f, &g = *s.f;
	const bool rows = d.rows > 1 && s.rows > 1, cols = d.cols > 1 && s.cols > 1;

	return d.data == s.data && d.row == s.row && d.col == s.col && f.bits == g.bits &&
	       f.row_bits == g.row_bits && f.col_bits == g.col_bits && f.box_row == g.box_row &&
	       f.box_col == g.box_col && (!rows || f.rs == g.rs) && (!cols || f.cs == g.cs);
}

PTO_COLD bool share_bytes(const operand &d, const operand &s)
{
	const uint64_t to = reinterpret_cast<uintptr_t>(d.data),
		       from = reinterpret_cast<uintptr_t>(s.data);
	uint64_t first = UINT64_MAX, last = 0;

	for (runs r(s); r.next();) {
		first = from + r.from < first ? from + r.from : first;
		last = from + r.to > last ? from + r.to : last;
	}
	for (runs r(d); r.next();) {
		if (to + r.to <= first || to + r.from >= last)
			continue;
		for (runs q(s); q.next();)
			if (to + r.from < from + q.to && from + q.from < to + r.to)
				return true;
	}
	return false;
}

/* Instructions may read a source after they have written some of the result. */
PTO_COLD void check_apart(const call &c, const operand &d, std::initializer_list<operand> ops)
{
	int sources = 0;

	for (const operand &s : ops) {
		const operand_name name(s, sources);

		if (s.mode & WRITE)
			continue;
		sources++;
		if (!s.f || (!(c.flags & APART) && same_places(d, s)) || !share_bytes(d, s))
			continue;
		fail_at(c.at, c.op,
			c.flags & APART ? "dst and %s share memory, which this instruction does "
					  "not allow; give dst "
					  "memory of its own"
					: "dst and %s share memory, but not element for element; "
					  "give dst the same "
					  "address and layout, or memory of its own",
			name.text);
	}
}

PTO_COLD void instruction(const call &c, std::initializer_list<operand> ops)
{
	checker &k = mine();

	k.now = {c.op, c.at.file, c.at.line};
	const uint32_t number = site_number(k, c.op, c.at);
	const uint32_t time = k.time.advance(c.pipe);
	int sources = 0;

	check_tiles(c, ops);
	check_core(c, ops);
	for (const operand &o : ops)
		if (o.f && (o.mode & WRITE))
			check_apart(c, o, ops);
	/* sources first, so that an instruction in place reads what was there */
	for (const operand &o : ops)
		if (!(o.mode & WRITE))
			check_operand(k, c, o, sources++, time, number);
	for (const operand &o : ops)
		if (o.mode & WRITE)
			check_operand(k, c, o, 0, time, number);
	k.last_pipe = c.pipe;
}

/* ---- synchronisation ---- */

PTO_COLD void check_flag(const char *op, int src, int dst, int id, const site &at)
{
	if (src < 0 || src >= PIPES || dst < 0 || dst >= PIPES || src == EVERY || dst == EVERY)
		fail_at(at, nullptr, "%s(%s, %s, %d): flags go from one pipe to another", op,
			pipe_name(src), pipe_name(dst), id);
	if (id < 0 || id >= FLAG_IDS)
		fail_at(at, nullptr, "%s(%s, %s, %d): event ids are 0 to %d", op, pipe_name(src),
			pipe_name(dst), id, FLAG_IDS - 1);
}

/* A flag outlives the kernel: the next one on the core would find it set. */
PTO_COLD void block_ends()
{
	checker &k = mine();

	for (int i = 0; i < PIPES * PIPES * FLAG_IDS; i++) {
		const int src = i / FLAG_IDS / PIPES, dst = i / FLAG_IDS % PIPES, id = i % FLAG_IDS;
		const known_site &s = k.site_of[k.set_at[src][dst][id]];

		if (k.time.is_set[src][dst][id])
			fail_at({s.file, s.line}, nullptr,
				"set_flag(%s, %s, %d): nothing waits for the event before the "
				"kernel "
				"returns; wait for it, or leave the set out",
				pipe_name(src), pipe_name(dst), id);
	}
}

/* The runtime is to call block_ends() when the kernel has returned. */
PTO_COLD void ask_for_end()
{
	const pto_core_ops *ops = pto_core_ops_bound;

	if (ops && ops->bytes >= offsetof(pto_core_ops, at_return) + sizeof(ops->at_return) &&
	    ops->at_return)
		ops->at_return(block_ends);
}

PTO_COLD void set(int src, int dst, int id, const site &at)
{
	checker &k = mine();

	check_flag("set_flag", src, dst, id, at);
	if (!k.time.set(src, dst, id))
		fail_at(at, nullptr,
			"set_flag(%s, %s, %d): the event is still set; wait for it before setting "
			"it again",
			pipe_name(src), pipe_name(dst), id);
	k.set_at[src][dst][id] = site_number(k, "set_flag", at);
	ask_for_end();
}

PTO_COLD void wait(int src, int dst, int id, const site &at)
{
	check_flag("wait_flag", src, dst, id, at);
	if (!mine().time.wait(src, dst, id))
		fail_at(at, nullptr,
			"wait_flag(%s, %s, %d): nothing sets the event before; hardware "
			"would wait for ever",
			pipe_name(src), pipe_name(dst), id);
}

PTO_COLD void barrier(int pipe)
{
	if (pipe == EVERY)
		mine().time.barrier();
}

/* Buffer tokens: whoever gets one comes after who released it. */
PTO_COLD void get_buffer(int pipe, int id)
{
	clocks &t = mine().time;

	if (pipe >= 0 && pipe < PIPES && id >= 0 && id < BUFFER_IDS)
		t.pipe[pipe].join(t.buffer[id]);
}
PTO_COLD void release_buffer(int pipe, int id)
{
	clocks &t = mine().time;

	if (pipe >= 0 && pipe < PIPES && id >= 0 && id < BUFFER_IDS)
		t.buffer[id].join(t.pipe[pipe]);
}

/* Remembers the end of the last instruction; the mark goes into an Event. */
PTO_COLD uint32_t record()
{
	checker &k = mine();

	if (k.event_count >= k.event_room) {
		const uint32_t room = k.event_room ? 2 * k.event_room : 64;
		void *bigger = realloc(k.events, room * sizeof(clock));

		if (!bigger)
			core_::fail("no memory for checked mode; run without SIMPLER_CHECK");
		k.events = static_cast<clock *>(bigger);
		k.event_room = room;
	}
	k.events[k.event_count] = k.time.pipe[k.last_pipe];
	return k.event_count++;
}
/* @pipe continues after the instruction of @mark. */
PTO_COLD void await(uint32_t mark, int pipe)
{
	checker &k = mine();

	if (mark && mark < k.event_count)
		k.time.pipe[pipe].join(k.events[mark]);
}
/* All pipes do. */
PTO_COLD void await_all(uint32_t mark)
{
	for (int p = 0; p < PIPES; p++)
		await(mark, p);
}
template <typename T, typename = void>
struct is_event : std::false_type {
};
template <typename T>
struct is_event<T, std::void_t<decltype(T::src_op)>> : std::true_type {
};

template <typename W>
inline void await_operand(int pipe, const W &w)
{
	if constexpr (is_event<W>::value)
		await(w.mark, pipe);
}

template <typename... W>
PTO_COLD void enter(const call &c, std::initializer_list<operand> ops, const W &...w)
{
	(await_operand(c.pipe, w), ...);
	instruction(c, ops);
}

[[noreturn]] PTO_COLD void fail_offset(size_t off, size_t count, const site &at)
{
	fail_at(at, nullptr, "element offset %zu is beyond the tile's %zu elements", off, count);
}

/* Scalar access to one element. */
PTO_COLD void scalar(const char *op, const site &at, const operand &o, size_t off, bool write)
{
	const call c = {op, at, SCALAR, 0};
	checker &k = mine();
	const int64_t place = place_of(c, "the tile", o);
	const uint32_t time = k.time.advance(SCALAR);
	const access a = {SCALAR, time, site_number(k, op, at), write, &k.time.pipe[SCALAR]};
	const uint64_t bytes = unsigned(o.f->bits + 7) / 8;

	if (place < 0)
		return;
	touch(k, c, "the tile", o, a, uint64_t(place) + off * bytes,
	      uint64_t(place) + (off + 1) * bytes, int(off / unsigned(o.f->cols)),
	      int(off % unsigned(o.f->cols)));
}

} // namespace checking_
} // namespace pto

/* First statement of an instruction; its parameters end with PTO_EXTRA. */
#define PTO_CHECK(op, pipe, flags, ...)                                                           \
	do {                                                                                      \
		if (__builtin_expect(::pto::core_::checked(), 0))                                 \
			::pto::checking_::enter({op, at, pipe, flags}, {__VA_ARGS__}, w1, w2, w3, \
						w4);                                              \
	} while (0)

/* The same for parameters that end with PTO_SITE. */
#define PTO_CHECK_ALONE(op, pipe, flags, ...)                                          \
	do {                                                                           \
		if (__builtin_expect(::pto::core_::checked(), 0))                      \
			::pto::checking_::enter({op, at, pipe, flags}, {__VA_ARGS__}); \
	} while (0)

#endif
