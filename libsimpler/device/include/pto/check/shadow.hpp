/* SPDX-License-Identifier: MIT */
/*
 * What checked mode knows about memory, in blocks of 32 bytes: which bytes were
 * written in this block, and who wrote and read last.  On-chip memories have an
 * array of cells each; global memory has a table of the blocks touched, where
 * conflicts are told apart by the byte.
 */
#ifndef PTO_CHECK_SHADOW_HPP
#define PTO_CHECK_SHADOW_HPP

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "pto/check/clock.hpp"

namespace pto {
namespace checking_ {

constexpr uint32_t BLOCK = 32;

/* Last accesses of a block.  A time of 0 means none. */
struct cell {
	uint32_t written; /* bytes, one bit each */
	uint32_t write_time, write_site, write_mask;
	uint32_t read_time[PIPES], read_mask[PIPES], read_site[PIPES];
	uint8_t write_pipe;
};

/* An earlier access that an access conflicts with. */
struct conflict {
	int pipe;
	uint32_t site;
	bool write;
};

struct access {
	int pipe;
	uint32_t time, site;
	bool write;
	const clock *known;
};

/* True, with @with, when an earlier access of other pipes is not known to be over. */
inline bool conflicts(const cell &c, uint32_t mask, const access &a, conflict *with)
{
	if (c.write_time && (c.write_mask & mask) && c.write_pipe != a.pipe &&
	    a.known->at[c.write_pipe] < c.write_time) {
		*with = {c.write_pipe, c.write_site, true};
		return true;
	}
	for (int p = 0; a.write && p < PIPES; p++)
		if (p != a.pipe && (c.read_mask[p] & mask) && a.known->at[p] < c.read_time[p]) {
			*with = {p, c.read_site[p], false};
			return true;
		}
	return false;
}

inline void note(cell &c, uint32_t mask, const access &a)
{
	if (!a.write) {
		c.read_time[a.pipe] = a.time;
		c.read_site[a.pipe] = a.site;
		c.read_mask[a.pipe] |= mask;
		return;
	}
	c.written |= mask;
	c.write_mask =
		c.write_time == a.time && c.write_pipe == a.pipe ? c.write_mask | mask : mask;
	c.write_time = a.time;
	c.write_site = a.site;
	c.write_pipe = uint8_t(a.pipe);
	for (uint32_t &m : c.read_mask)
		m &= ~mask;
}

/* Bytes [from, to) of a block, 0 <= from < to <= 32. */
inline uint32_t byte_mask(uint32_t from, uint32_t to)
{
	return (to == BLOCK ? ~0u : (1u << to) - 1u) & ~((1u << from) - 1u);
}

/* The cells of one on-chip memory; those from @used on are zero. */
struct arena_shadow {
	cell *cells;
	uint32_t count, used;

	void begin(uint32_t bytes)
	{
		const uint32_t need = (bytes + BLOCK - 1) / BLOCK;

		if (need != count) {
			free(cells);
			cells = static_cast<cell *>(calloc(need ? need : 1, sizeof(cell)));
			count = cells ? need : 0;
		} else if (used) {
			memset(cells, 0, used * sizeof(cell));
		}
		used = 0;
	}
	void end() { free(cells); }
	cell &at(uint32_t block)
	{
		used = used > block ? used : block + 1;
		return cells[block];
	}
};

/* Blocks of global memory by address; grows. */
struct memory_shadow {
	struct entry {
		uintptr_t block; /* address / 32 + 1, 0 empty */
		cell c;
	};
	entry *table;
	uint32_t size, used;

	void begin()
	{
		used = 0;
		if (size)
			memset(static_cast<void *>(table), 0, size * sizeof(entry));
	}
	void end() { free(table); }
	entry *place(entry *in, uint32_t n, uintptr_t key) const
	{
		uint32_t i = uint32_t(key * 0x9e3779b97f4a7c15u >> 32) & (n - 1);

		while (in[i].block && in[i].block != key)
			i = (i + 1) & (n - 1);
		return &in[i];
	}
	bool grow()
	{
		const uint32_t n = size ? 2 * size : 1024;
		entry *bigger = static_cast<entry *>(calloc(n, sizeof(entry)));

		if (!bigger)
			return false;
		for (uint32_t i = 0; i < size; i++)
			if (table[i].block)
				*place(bigger, n, table[i].block) = table[i];
		free(table);
		table = bigger;
		size = n;
		return true;
	}
	/* The cell of a block; null without memory. */
	cell *find(uintptr_t block)
	{
		if (2 * used >= size && !grow())
			return nullptr;
		entry *e = place(table, size, block + 1);

		used += !e->block;
		e->block = block + 1;
		return &e->c;
	}
};

} // namespace checking_
} // namespace pto

#endif
