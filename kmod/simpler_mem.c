// SPDX-License-Identifier: GPL-2.0-only
#include <linux/sizes.h>

#include "simpler_drv.h"
#include "simpler_inject.h"
#include "simpler_notify.h"

/* Up to here the driver zeroes memory itself; the device is faster beyond. */
#define CPU_CLEAR_BYTES	SZ_16K

static void mem_fini(struct drm_device *drm, void *arg)
{
	struct simpler_mem *mem = arg;

	drm_WARN_ON(drm, mem->used);
	simpler_buddy_free(&mem->mm, &mem->reserved, 0);
	simpler_buddy_fini(&mem->mm);
	mutex_destroy(&mem->lock);
}

int simpler_mem_init(struct simpler_device *sdev)
{
	struct simpler_mem *mem = &sdev->mem;
	int ret;

	INIT_LIST_HEAD(&mem->reserved);
	ret = simpler_buddy_init(&mem->mm, sdev->memory_base + sdev->memory_bytes,
				 SIMPLER_HW_PAGE_BYTES);
	if (ret)
		return ret;
	/* It counts from the start of BAR2, so that its alignment is that of addresses. */
	ret = simpler_buddy_alloc(&mem->mm, 0, sdev->memory_base, sdev->memory_base,
				  SIMPLER_HW_PAGE_BYTES, &mem->reserved, SIMPLER_BUDDY_RANGE);
	if (ret) {
		simpler_buddy_fini(&mem->mm);
		return ret;
	}
	mutex_init(&mem->lock);
	return drmm_add_action_or_reset(&sdev->drm, mem_fini, mem);
}

void *simpler_mem_ptr(struct simpler_device *sdev, u64 phys)
{
	return sdev->res.memory + phys;
}

u64 simpler_mem_run(struct simpler_device *sdev, const struct simpler_extent *extent, u64 offset,
		    u64 *bytes)
{
	struct simpler_buddy_block *block;

	list_for_each_entry(block, &extent->blocks, link) {
		u64 size = simpler_buddy_size(&sdev->mem.mm, block);

		if (offset < size) {
			*bytes = size - offset;
			return simpler_buddy_offset(block) + offset;
		}
		offset -= size;
	}
	drm_WARN(&sdev->drm, 1, "offset beyond the extent by %llu\n", offset);
	*bytes = 0;
	return 0;
}

static int clear_run(struct simpler_device *sdev, u64 phys, u64 bytes)
{
	struct simpler_hw_admin command = {
		.opcode = SIMPLER_HW_ADMIN_CLEAR,
		.clear = { .addr = phys, .bytes = bytes },
	};
	int idx;

	if (bytes > CPU_CLEAR_BYTES)
		return simpler_admin_exec(sdev, NULL, &command);
	if (!drm_dev_enter(&sdev->drm, &idx))
		return -ENODEV;
	simpler_zero_words(simpler_mem_ptr(sdev, phys), bytes);
	drm_dev_exit(idx);
	return 0;
}

static int clear_extent(struct simpler_device *sdev, const struct simpler_extent *extent)
{
	u64 offset, bytes;
	int ret = 0;

	for (offset = 0; offset < extent->bytes && !ret; offset += bytes) {
		u64 phys = simpler_mem_run(sdev, extent, offset, &bytes);

		ret = clear_run(sdev, phys, bytes);
	}
	return ret;
}

/* Tell listeners once when nine tenths are in use, and again after it was below three quarters. */
static bool pressure_changed(struct simpler_mem *mem, u64 total)
{
	bool high = mem->used > total - total / 10;
	bool low = mem->used < total - total / 4;

	if (mem->pressure ? !low : !high)
		return false;
	mem->pressure = !mem->pressure;
	return true;
}

/*
 * When the kernel's buddy allocator gets no memory for a block it is splitting, it
 * frees the block although it is in its tree already, and the tree is damaged (6.12).
 * Such small allocations do not fail by themselves, but when they are made to.
 */
static int buddy_alloc(struct simpler_mem *mem, u64 bytes, unsigned long flags,
		       struct list_head *blocks)
{
	int ret;

#ifdef CONFIG_FAULT_INJECTION
	unsigned int nth = current->fail_nth;

	current->fail_nth = 0;
#endif
	ret = simpler_buddy_alloc(&mem->mm, 0, mem->mm.size, bytes, SIMPLER_HW_PAGE_BYTES,
				  blocks, flags);
#ifdef CONFIG_FAULT_INJECTION
	current->fail_nth = nth;
#endif
	return ret;
}

static int take(struct simpler_device *sdev, u64 bytes, u32 flags, struct simpler_extent *extent)
{
	struct simpler_mem *mem = &sdev->mem;
	unsigned long buddy_flags = flags & SIMPLER_MEM_CONTIGUOUS ? SIMPLER_BUDDY_CONTIGUOUS : 0;
	bool changed = false;
	int ret;

	mutex_lock(&mem->lock);
	ret = buddy_alloc(mem, bytes, buddy_flags, &extent->blocks);
	if (!ret) {
		mem->used += bytes;
		changed = pressure_changed(mem, sdev->memory_bytes);
	}
	mutex_unlock(&mem->lock);
	if (changed)
		simpler_netlink_memory(sdev);
	return ret;
}

int simpler_mem_alloc(struct simpler_device *sdev, u64 bytes, u32 flags,
		      struct simpler_extent *extent)
{
	int ret;

	if (simpler_inject(SIMPLER_FAIL_MEMORY))
		return -ENOSPC;
	if (bytes > sdev->memory_bytes)
		return -ENOSPC;
	INIT_LIST_HEAD(&extent->blocks);
	ret = take(sdev, bytes, flags, extent);
	if (ret)
		return ret;
	extent->bytes = bytes;
	if (!(flags & SIMPLER_MEM_DIRTY))
		ret = clear_extent(sdev, extent);
	if (ret)
		simpler_mem_free(sdev, extent);
	return ret;
}

void simpler_mem_free(struct simpler_device *sdev, struct simpler_extent *extent)
{
	struct simpler_mem *mem = &sdev->mem;
	bool changed;

	if (!extent->bytes)
		return;
	mutex_lock(&mem->lock);
	simpler_buddy_free(&mem->mm, &extent->blocks, 0);
	mem->used -= extent->bytes;
	changed = pressure_changed(mem, sdev->memory_bytes);
	mutex_unlock(&mem->lock);
	extent->bytes = 0;
	if (changed)
		simpler_netlink_memory(sdev);
}
