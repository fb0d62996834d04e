// SPDX-License-Identifier: GPL-2.0-only
#include <linux/sizes.h>

#include "simpler_drv.h"
#include "simpler_table.h"

#define PAGE_BYTES	((u64)SIMPLER_HW_PAGE_BYTES)
#define BLOCK_BYTES	(PAGE_BYTES * SIMPLER_HW_PT_ENTRIES)

void simpler_vm_init(struct simpler_vm *vm)
{
	drm_mm_init(&vm->mm, SIMPLER_HW_VA_MIN, BIT_ULL(SIMPLER_HW_VA_BITS) - SIMPLER_HW_VA_MIN);
	INIT_LIST_HEAD(&vm->dead);
	xa_init(&vm->objects);
	xa_init(&vm->pins);
}

void simpler_vm_free_dead(struct simpler_device *sdev, struct simpler_vm *vm)
{
	struct simpler_table *table, *next;

	list_for_each_entry_safe(table, next, &vm->dead, link)
		simpler_table_destroy(sdev, table);
	INIT_LIST_HEAD(&vm->dead);
}

void simpler_vm_fini(struct simpler_device *sdev, struct simpler_vm *vm)
{
	simpler_vm_free_dead(sdev, vm);
	drm_WARN_ON(&sdev->drm, !xa_empty(&vm->objects) || !xa_empty(&vm->pins));
	simpler_table_destroy_tree(sdev, vm->root, SIMPLER_HW_PT_LEVELS - 1);
	xa_destroy(&vm->objects);
	xa_destroy(&vm->pins);
	drm_mm_takedown(&vm->mm);
}

int simpler_vm_root(struct simpler_device *sdev, struct simpler_vm *vm)
{
	struct simpler_table *root;

	if (vm->root)
		return 0;
	root = simpler_table_create(sdev, SIMPLER_HW_PT_LEVELS - 1);
	if (IS_ERR(root))
		return PTR_ERR(root);
	vm->root = root;
	return 0;
}

int simpler_vm_reserve(struct simpler_vm *vm, struct drm_mm_node *node, u64 bytes)
{
	u64 align = bytes >= BLOCK_BYTES ? BLOCK_BYTES : PAGE_BYTES;

	return drm_mm_insert_node_generic(&vm->mm, node, bytes, align, 0, DRM_MM_INSERT_BEST);
}

/* One entry: a block where everything is aligned and no table is in the way, else a page. */
static int map_one(struct simpler_device *sdev, struct simpler_table *middle, u64 addr,
		   u64 target, u64 bytes, u64 flags, u64 *step)
{
	u32 slot = simpler_table_slot(addr, 1);
	struct simpler_table *leaf;

	if (IS_ALIGNED(addr | target, BLOCK_BYTES) && bytes >= BLOCK_BYTES &&
	    !middle->children[slot]) {
		simpler_table_set(middle, slot, target | flags | SIMPLER_HW_PTE_BLOCK);
		*step = BLOCK_BYTES;
		return 0;
	}
	leaf = simpler_table_child(sdev, middle, slot, 0);
	if (IS_ERR(leaf))
		return PTR_ERR(leaf);
	simpler_table_set(leaf, simpler_table_slot(addr, 0), target | flags);
	*step = PAGE_BYTES;
	return 0;
}

static int map_locked(struct simpler_device *sdev, struct simpler_vm *vm, u64 addr, u64 target,
		      u64 bytes, u64 flags)
{
	u64 step;
	int ret = simpler_vm_root(sdev, vm);

	for (; bytes && !ret; addr += step, target += step, bytes -= step) {
		struct simpler_table *middle;

		middle = simpler_table_child(sdev, vm->root, simpler_table_slot(addr, 2), 1);
		if (IS_ERR(middle))
			return PTR_ERR(middle);
		ret = map_one(sdev, middle, addr, target, bytes, flags | SIMPLER_HW_PTE_VALID,
			      &step);
		if (ret)
			break;
	}
	return ret;
}

int simpler_vm_map(struct simpler_device *sdev, struct simpler_vm *vm, u64 addr, u64 target,
		   u64 bytes, u64 flags)
{
	int idx, ret;

	if (!IS_ALIGNED(target, PAGE_BYTES) || !IS_ALIGNED(bytes, PAGE_BYTES) ||
	    target + bytes - 1 > (SIMPLER_HW_PTE_ADDR | (PAGE_BYTES - 1)))
		return -EINVAL;
	if (!drm_dev_enter(&sdev->drm, &idx))
		return -ENODEV;
	ret = map_locked(sdev, vm, addr, target, bytes, flags);
	drm_dev_exit(idx);
	return ret;
}

int simpler_vm_map_extent(struct simpler_device *sdev, struct simpler_vm *vm, u64 addr,
			  const struct simpler_extent *extent)
{
	u64 offset, run;
	int ret = 0;

	for (offset = 0; offset < extent->bytes && !ret; offset += run) {
		u64 phys = simpler_mem_run(sdev, extent, offset, &run);

		ret = simpler_vm_map(sdev, vm, addr + offset, phys, run, SIMPLER_HW_PTE_WRITE);
	}
	return ret;
}

int simpler_vm_map_sgt(struct simpler_device *sdev, struct simpler_vm *vm, u64 addr, u64 bytes,
		       struct sg_table *table, bool writable)
{
	u64 flags = SIMPLER_HW_PTE_HOST | (writable ? SIMPLER_HW_PTE_WRITE : 0);
	struct scatterlist *sg;
	u64 offset = 0;
	int i, ret;

	for_each_sgtable_dma_sg(table, sg, i) {
		u64 length = min_t(u64, sg_dma_len(sg), bytes - offset);

		ret = simpler_vm_map(sdev, vm, addr + offset, sg_dma_address(sg), length, flags);
		if (ret)
			return ret;
		offset += length;
		if (offset == bytes)
			return 0;
	}
	return -EINVAL;	/* the table describes less than the object claims */
}

/* The table of @level has become empty: take it out of its parent. */
static void retire(struct simpler_vm *vm, struct simpler_table *parent, u32 slot)
{
	struct simpler_table *table = parent->children[slot];

	if (table->used)
		return;
	parent->children[slot] = NULL;
	simpler_table_clear(parent, slot);
	list_add(&table->link, &vm->dead);
}

/* Removes what one entry of the middle table holds of a range; returns how far that reaches. */
static u64 unmap_one(struct simpler_vm *vm, struct simpler_table *middle, u64 addr, u64 end)
{
	u32 slot = simpler_table_slot(addr, 1);
	struct simpler_table *leaf = middle->children[slot];
	u64 next = min(end, round_down(addr, BLOCK_BYTES) + BLOCK_BYTES);

	if (!leaf) {
		simpler_table_clear(middle, slot);
		return next;
	}
	for (; addr < next; addr += PAGE_BYTES)
		simpler_table_clear(leaf, simpler_table_slot(addr, 0));
	retire(vm, middle, slot);
	return next;
}

void simpler_vm_unmap(struct simpler_vm *vm, u64 addr, u64 bytes)
{
	u64 end = addr + bytes;

	while (vm->root && addr < end) {
		u32 slot = simpler_table_slot(addr, 2);
		struct simpler_table *middle = vm->root->children[slot];
		u64 next = min(end, round_down(addr, BLOCK_BYTES * SIMPLER_HW_PT_ENTRIES) +
			       BLOCK_BYTES * SIMPLER_HW_PT_ENTRIES);

		while (middle && addr < next)
			addr = unmap_one(vm, middle, addr, next);
		if (middle)
			retire(vm, vm->root, slot);
		addr = next;
	}
}
