// SPDX-License-Identifier: GPL-2.0-only
#include <linux/slab.h>

#include "simpler_drv.h"
#include "simpler_inject.h"
#include "simpler_table.h"

/*
 * A table may outlive the device, if its file does: the memory is gone then, and so
 * is the device that read it.  What is valid is known without it.
 */
static void store(struct simpler_table *table, u32 slot, u64 entry)
{
	int idx;

	if (!drm_dev_enter(&table->sdev->drm, &idx))
		return;
	simpler_write(table->entries[slot], entry);
	drm_dev_exit(idx);
}

struct simpler_table *simpler_table_create(struct simpler_device *sdev, u32 level)
{
	size_t children = level ? SIMPLER_HW_PT_ENTRIES : 0;
	struct simpler_table *table;
	u64 run;
	int ret;

	if (simpler_inject(SIMPLER_FAIL_TABLE))
		return ERR_PTR(-ENOMEM);
	table = kvzalloc(struct_size(table, children, children), GFP_KERNEL);
	if (!table)
		return ERR_PTR(-ENOMEM);
	ret = simpler_mem_alloc(sdev, SIMPLER_HW_PAGE_BYTES, 0, &table->extent);
	if (ret) {
		kvfree(table);
		return ERR_PTR(ret);
	}
	table->sdev = sdev;
	table->phys = simpler_mem_run(sdev, &table->extent, 0, &run);
	table->entries = simpler_mem_ptr(sdev, table->phys);
	return table;
}

void simpler_table_destroy(struct simpler_device *sdev, struct simpler_table *table)
{
	simpler_mem_free(sdev, &table->extent);
	kvfree(table);
}

void simpler_table_destroy_tree(struct simpler_device *sdev, struct simpler_table *table,
				u32 level)
{
	u32 slot;

	if (!table)
		return;
	for (slot = 0; level && slot < SIMPLER_HW_PT_ENTRIES; slot++)
		simpler_table_destroy_tree(sdev, table->children[slot], level - 1);
	simpler_table_destroy(sdev, table);
}

struct simpler_table *simpler_table_child(struct simpler_device *sdev,
					  struct simpler_table *parent, u32 slot, u32 level)
{
	struct simpler_table *child = parent->children[slot];

	if (child)
		return child;
	child = simpler_table_create(sdev, level);
	if (IS_ERR(child))
		return child;
	parent->children[slot] = child;
	simpler_table_set(parent, slot, child->phys | SIMPLER_HW_PTE_VALID);
	return child;
}

void simpler_table_set(struct simpler_table *table, u32 slot, u64 entry)
{
	if (!__test_and_set_bit(slot, table->valid))
		table->used++;
	store(table, slot, entry);
}

void simpler_table_clear(struct simpler_table *table, u32 slot)
{
	if (!__test_and_clear_bit(slot, table->valid))
		return;
	table->used--;
	store(table, slot, 0);
}
