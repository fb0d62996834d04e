// SPDX-License-Identifier: MIT
#include "pagetable.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#define ENTRY_BITS	9u
#define KNOWN_BITS	(SIMPLER_HW_PTE_VALID | SIMPLER_HW_PTE_WRITE | SIMPLER_HW_PTE_HOST | \
			 SIMPLER_HW_PTE_BLOCK | SIMPLER_HW_PTE_ADDR)

struct walk {
	const struct pagetable_memory *memory;
	uint64_t first, end;		/* device-virtual */
	struct vnpu_run *runs;
	uint32_t count, max;
	uint32_t visits;
};

static uint64_t span_of(unsigned int level)
{
	return 1ull << (SIMPLER_HW_PAGE_SHIFT + level * ENTRY_BITS);
}

static bool in_memory(const struct pagetable_memory *m, uint64_t addr, uint64_t bytes)
{
	return addr >= m->base && bytes <= m->bytes && addr - m->base <= m->bytes - bytes;
}

int pagetable_is_page(const struct pagetable_memory *memory, uint64_t addr)
{
	return !(addr % SIMPLER_HW_PAGE_BYTES) && in_memory(memory, addr, SIMPLER_HW_PAGE_BYTES);
}

static uint64_t read_entry(const struct walk *w, uint64_t table, unsigned int index)
{
	const uint64_t *entries = (const uint64_t *)(w->memory->bar + table);

	/* relaxed: one read of a word that the guest may change; MAP_CHANGED orders real changes */
	return __atomic_load_n(&entries[index], __ATOMIC_RELAXED);
}

static bool extends(const struct vnpu_run *last, const struct vnpu_run *next)
{
	return last->va + last->bytes == next->va && last->offset + last->bytes == next->offset &&
	       last->flags == next->flags;
}

/* Enters the part of a page or block that lies in the wanted range. */
static int add(struct walk *w, uint64_t va, uint64_t bytes, uint64_t entry)
{
	struct vnpu_run run = { .va = va, .bytes = bytes, .offset = entry & SIMPLER_HW_PTE_ADDR };
	uint64_t limit = w->memory->host_bytes;

	run.flags = (entry & SIMPLER_HW_PTE_WRITE ? VNPU_RUN_WRITE : 0) |
		    (entry & SIMPLER_HW_PTE_HOST ? VNPU_RUN_HOST : 0);
	if (run.flags & VNPU_RUN_HOST ? bytes > limit || run.offset > limit - bytes :
					!in_memory(w->memory, run.offset, bytes))
		return 0;
	if (va < w->first) {
		run.offset += w->first - va;
		run.bytes -= w->first - va;
		run.va = w->first;
	}
	if (run.va + run.bytes > w->end)
		run.bytes = w->end - run.va;
	if (w->count && extends(&w->runs[w->count - 1], &run)) {
		w->runs[w->count - 1].bytes += run.bytes;
		return 0;
	}
	if (w->count == w->max)
		return -E2BIG;
	w->runs[w->count++] = run;
	return 0;
}

static int walk_table(struct walk *w, uint64_t table, uint64_t va, unsigned int level);

static int walk_entry(struct walk *w, uint64_t entry, uint64_t va, unsigned int level)
{
	uint64_t addr = entry & SIMPLER_HW_PTE_ADDR;

	if (!(entry & SIMPLER_HW_PTE_VALID) || entry & ~KNOWN_BITS)
		return 0;
	if (!level)
		return entry & SIMPLER_HW_PTE_BLOCK ? 0 : add(w, va, span_of(0), entry);
	if (entry & SIMPLER_HW_PTE_BLOCK)
		return level == 1 && !(addr % span_of(1)) ? add(w, va, span_of(1), entry) : 0;
	return pagetable_is_page(w->memory, addr) ? walk_table(w, addr, va, level - 1) : 0;
}

/* @va: what the table's first entry stands for */
static int walk_table(struct walk *w, uint64_t table, uint64_t va, unsigned int level)
{
	uint64_t span = span_of(level);
	unsigned int i = w->first > va ? (unsigned int)((w->first - va) / span) : 0;
	int rc = 0;

	for (; i < SIMPLER_HW_PT_ENTRIES && va + i * span < w->end && !rc; i++) {
		if (++w->visits > PAGETABLE_MAX_VISITS)
			return -E2BIG;
		rc = walk_entry(w, read_entry(w, table, i), va + i * span, level);
	}
	return rc;
}

int pagetable_walk(const struct pagetable_memory *memory, uint64_t root, uint64_t addr,
		   uint64_t bytes, struct vnpu_run *runs, uint32_t max)
{
	struct walk w = { .memory = memory, .first = addr, .runs = runs, .max = max };
	uint64_t top = 1ull << SIMPLER_HW_VA_BITS;
	int rc;

	if (!pagetable_is_page(memory, root) || (addr | bytes) % SIMPLER_HW_PAGE_BYTES ||
	    __builtin_add_overflow(addr, bytes, &w.end))
		return -EINVAL;
	if (w.first < SIMPLER_HW_VA_MIN)
		w.first = SIMPLER_HW_VA_MIN;
	if (w.end > top)
		w.end = top;
	if (w.first >= w.end)
		return 0;
	rc = walk_table(&w, root, 0, SIMPLER_HW_PT_LEVELS - 1);
	return rc ? rc : (int)w.count;
}
