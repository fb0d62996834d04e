// SPDX-License-Identifier: GPL-2.0-only
/*
 * User mappings of device memory and of the doorbell.  Pages are entered when they
 * are touched; removal of the device takes them out again, and from then on the
 * mapping shows a private page instead, so that nobody gets SIGBUS.
 */
#include <linux/mm.h>

#include <drm/drm_accel.h>

#include "simpler_bo.h"
#include "simpler_drv.h"

#define FAULT_AROUND_PAGES	64ul

/* Without a lock: mmap_lock is held, and is inside those of the driver. */
static struct page *dummy_of(struct page **where)
{
	struct page *page = READ_ONCE(*where), *other;

	if (page)
		return page;
	page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!page)
		return NULL;
	/* a full barrier on success: who reads the pointer finds the page zeroed */
	other = cmpxchg(where, NULL, page);
	if (!other)
		return page;
	__free_page(page);
	return other;
}

static vm_fault_t insert_dummy(struct vm_area_struct *vma, unsigned long addr, struct page **where)
{
	struct page *dummy = dummy_of(where);

	if (!dummy)
		return VM_FAULT_OOM;
	return vmf_insert_pfn_prot(vma, addr, page_to_pfn(dummy),
				   vm_get_page_prot(vma->vm_flags));
}

/* Enters the touched page and those that follow in the same run. */
static vm_fault_t insert_run(struct vm_fault *vmf, struct simpler_bo *bo)
{
	struct simpler_device *sdev = to_simpler_device(bo->base.dev);
	struct vm_area_struct *vma = vmf->vma;
	unsigned long addr = vmf->address & PAGE_MASK;
	u64 offset = (u64)(vmf->pgoff - drm_vma_node_start(&bo->base.vma_node)) << PAGE_SHIFT;
	unsigned long pfn, count, i;
	vm_fault_t ret = VM_FAULT_NOPAGE;
	u64 phys, run;

	if (offset >= bo->extent.bytes)
		return VM_FAULT_SIGBUS;
	phys = sdev->res.memory_phys + simpler_mem_run(sdev, &bo->extent, offset, &run);
	pfn = phys >> PAGE_SHIFT;
	count = min3(FAULT_AROUND_PAGES, (unsigned long)(run >> PAGE_SHIFT),
		     (vma->vm_end - addr) >> PAGE_SHIFT);
	for (i = 0; i < count && ret == VM_FAULT_NOPAGE; i++)
		ret = vmf_insert_pfn(vma, addr + i * PAGE_SIZE, pfn + i);
	return i > 1 ? VM_FAULT_NOPAGE : ret;
}

static vm_fault_t bo_fault(struct vm_fault *vmf)
{
	struct simpler_bo *bo = to_simpler_bo(vmf->vma->vm_private_data);
	vm_fault_t ret;
	int idx;

	if (!drm_dev_enter(bo->base.dev, &idx))
		return insert_dummy(vmf->vma, vmf->address & PAGE_MASK, &bo->dummy);
	ret = insert_run(vmf, bo);
	drm_dev_exit(idx);
	return ret;
}

static const struct vm_operations_struct bo_vm_ops = {
	.fault = bo_fault,
	.open = drm_gem_vm_open,
	.close = drm_gem_vm_close,
};

static bool copies_on_write(struct vm_area_struct *vma)
{
	return (vma->vm_flags & (VM_SHARED | VM_MAYWRITE)) == VM_MAYWRITE;
}

int simpler_bo_mmap(struct drm_gem_object *object, struct vm_area_struct *vma)
{
	struct simpler_bo *bo = to_simpler_bo(object);
	struct simpler_device *sdev = to_simpler_device(object->dev);

	if (bo->flags & DRM_SIMPLER_BO_NO_MMAP)
		return -EACCES;
	if (copies_on_write(vma))
		return -EINVAL;
	if (!sdev->res.memory_phys)
		return -EOPNOTSUPP;
	vm_flags_set(vma, VM_PFNMAP | VM_IO | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_page_prot = vm_get_page_prot(vma->vm_flags);
	/* A ring's stores must become visible in order; a buffer's need not. */
	if (bo->flags & SIMPLER_BO_RING)
		vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	else
		vma->vm_page_prot = pgprot_writecombine(vma->vm_page_prot);
	vma->vm_ops = &bo_vm_ops;
	return 0;
}

static vm_fault_t doorbell_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct simpler_ctx *ctx = to_simpler_ctx(vma->vm_file->private_data);
	struct simpler_device *sdev = ctx->sdev;
	vm_fault_t ret;
	int idx;

	if (!drm_dev_enter(&sdev->drm, &idx))
		return insert_dummy(vma, vma->vm_start, &ctx->dummy);
	ret = vmf_insert_pfn(vma, vma->vm_start, sdev->res.doorbell_page >> PAGE_SHIFT);
	drm_dev_exit(idx);
	return ret;
}

static const struct vm_operations_struct doorbell_vm_ops = {
	.fault = doorbell_fault,
};

static int doorbell_mmap(struct simpler_ctx *ctx, struct vm_area_struct *vma)
{
	if (!simpler_user_streams || !ctx->sdev->res.doorbell_page)
		return -EOPNOTSUPP;
	if (vma->vm_end - vma->vm_start != PAGE_SIZE || copies_on_write(vma))
		return -EINVAL;
	/* Who has no user-mode stream has nothing to ring for. */
	if (!READ_ONCE(ctx->may_ring))
		return -EACCES;
	vm_flags_set(vma, VM_PFNMAP | VM_IO | VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY);
	vma->vm_page_prot = pgprot_noncached(vm_get_page_prot(vma->vm_flags));
	vma->vm_ops = &doorbell_vm_ops;
	return 0;
}

int simpler_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct drm_file *file = filp->private_data;

	if (drm_dev_is_unplugged(file->minor->dev))
		return -ENODEV;
	if (vma->vm_pgoff == SIMPLER_DOORBELL_OFFSET >> PAGE_SHIFT)
		return doorbell_mmap(to_simpler_ctx(file), vma);
	return drm_gem_mmap(filp, vma);
}
