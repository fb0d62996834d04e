/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Address space of a context: which device addresses are taken (drm_mm) and the page
 * tables that say so to the device.  Tables are in device memory; a copy of their
 * structure is kept here, so that nothing the device may have written there is read.
 */
#ifndef SIMPLER_VM_H
#define SIMPLER_VM_H

#include <linux/list.h>
#include <linux/scatterlist.h>
#include <linux/xarray.h>

#include <drm/drm_mm.h>

#include "simpler_hw.h"
#include "simpler_mem.h"

struct drm_gem_object;
struct mm_struct;
struct simpler_ctx;
struct simpler_device;

/* One page table. */
struct simpler_table {
	struct simpler_device *sdev;
	struct simpler_extent extent;
	u64 phys;
	u64 *entries;			/* device memory */
	u32 used;			/* valid entries */
	DECLARE_BITMAP(valid, SIMPLER_HW_PT_ENTRIES);
	struct list_head link;		/* vm->dead */
	struct simpler_table *children[];	/* levels 2 and 1 */
};

struct simpler_vm {
	struct drm_mm mm;
	struct simpler_table *root;	/* NULL: nothing was ever mapped */
	struct list_head dead;		/* tables to free once the device was told */
	struct xarray objects;		/* mapping of a GEM object, by its address */
	struct xarray pins;		/* mapping of HOST_MAP, by page number */
};

/* What is mapped at a range of device addresses. */
struct simpler_mapping {
	struct drm_mm_node node;
	struct drm_gem_object *object;	/* referenced; or NULL, and: */
	u32 handles;
	struct mm_struct *owner;
	struct page **pages;
	unsigned long page_count;
	struct sg_table table;
	bool writable;
};

void simpler_vm_init(struct simpler_vm *vm);

/** simpler_vm_fini - the device has forgotten the context; all mappings are gone */
void simpler_vm_fini(struct simpler_device *sdev, struct simpler_vm *vm);

/** simpler_vm_root - make sure that there is a root table. ctx->lock held */
int simpler_vm_root(struct simpler_device *sdev, struct simpler_vm *vm);

/** simpler_vm_reserve - choose device addresses. -ENOSPC. ctx->lock held */
int simpler_vm_reserve(struct simpler_vm *vm, struct drm_mm_node *node, u64 bytes);

/**
 * simpler_vm_map - enter a run of memory
 * @sdev: the device
 * @vm: address space of a context
 * @addr: device address, reserved before
 * @target: device-physical or DMA address, page aligned
 * @bytes: a multiple of the page size, not 0
 * @flags: SIMPLER_HW_PTE_WRITE, _HOST
 *
 * On failure part of it may be entered: use simpler_vm_unmap(). ctx->lock held
 *
 * Return: 0, -EINVAL what the entries cannot say, -ENODEV, -ENOMEM or -ENOSPC no table.
 */
int simpler_vm_map(struct simpler_device *sdev, struct simpler_vm *vm, u64 addr, u64 target,
		   u64 bytes, u64 flags);
int simpler_vm_map_extent(struct simpler_device *sdev, struct simpler_vm *vm, u64 addr,
			  const struct simpler_extent *extent);
int simpler_vm_map_sgt(struct simpler_device *sdev, struct simpler_vm *vm, u64 addr, u64 bytes,
		       struct sg_table *table, bool writable);

/** simpler_vm_unmap - remove what is entered in a range. ctx->lock held */
void simpler_vm_unmap(struct simpler_vm *vm, u64 addr, u64 bytes);

/** simpler_vm_free_dead - the device has been told of every unmapping. ctx->lock held */
void simpler_vm_free_dead(struct simpler_device *sdev, struct simpler_vm *vm);

#endif /* SIMPLER_VM_H */
