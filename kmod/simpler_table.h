/* SPDX-License-Identifier: GPL-2.0-only */
/* One page table: an entry is set, cleared, or refers to a table of the next level. */
#ifndef SIMPLER_TABLE_H
#define SIMPLER_TABLE_H

#include "simpler_vm.h"

static inline u32 simpler_table_slot(u64 addr, u32 level)
{
	return addr >> (SIMPLER_HW_PAGE_SHIFT + 9 * level) & (SIMPLER_HW_PT_ENTRIES - 1);
}

/** simpler_table_create - an empty table, or ERR_PTR */
struct simpler_table *simpler_table_create(struct simpler_device *sdev, u32 level);
void simpler_table_destroy(struct simpler_device *sdev, struct simpler_table *table);

/** simpler_table_destroy_tree - with all below it; NULL is fine */
void simpler_table_destroy_tree(struct simpler_device *sdev, struct simpler_table *table,
				u32 level);

/** simpler_table_child - the table of @level that a slot refers to, created if missing */
struct simpler_table *simpler_table_child(struct simpler_device *sdev,
					  struct simpler_table *parent, u32 slot, u32 level);
void simpler_table_set(struct simpler_table *table, u32 slot, u64 entry);

/** simpler_table_clear - does nothing when the entry is not set */
void simpler_table_clear(struct simpler_table *table, u32 slot);

#endif /* SIMPLER_TABLE_H */
