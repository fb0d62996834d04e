// SPDX-License-Identifier: GPL-2.0-only
/* The PCI function: BARs, interrupts, power. Everything else is simpler_device_create(). */
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>

#include "simpler_drv.h"

#define DRIVER_NAME	"simpler"
#define DOORBELL_BAR	0
#define MEMORY_BAR	2
#define DMA_BITS	52	/* of a page table entry */

/* The ids are those of any ivshmem function; the magic number tells ours. */
#define VENDOR_ID	0x1af4
#define DEVICE_ID	0x1110

struct simpler_irq {
	struct simpler_device *sdev;
	unsigned int vector;
};

struct simpler_pci {
	struct pci_dev *pdev;
	void __iomem *memory;
	void __iomem *doorbell;
	struct resource rest_of_page;
};

static void ring(void *cookie, u32 value)
{
	struct simpler_pci *pci = cookie;

	writel(value, pci->doorbell);
}

static void isolate(void *cookie)
{
	struct simpler_pci *pci = cookie;

	pci_clear_master(pci->pdev);
}

static irqreturn_t handle_irq(int number, void *data)
{
	struct simpler_irq *irq = data;

	simpler_device_irq(irq->sdev, irq->vector);
	return IRQ_HANDLED;
}

/* Until a function is known to be ours it is looked at as any hardware is, and not written to. */
#define peek(pci, reg)	readl((pci)->memory + offsetof(struct simpler_hw_regs, reg))

static int map_memory(struct simpler_pci *pci, struct simpler_resources *res)
{
	struct pci_dev *pdev = pci->pdev;

	if (pci_resource_len(pdev, MEMORY_BAR) < PAGE_SIZE)
		return -ENODEV;
	pci->memory = pcim_iomap_region(pdev, MEMORY_BAR, DRIVER_NAME);
	if (IS_ERR(pci->memory))
		return PTR_ERR(pci->memory);
	/* Memory by definition of the device interface, not registers: see simpler_hw_access.h. */
	res->memory = (void __force *)pci->memory;
	res->memory_bytes = pci_resource_len(pdev, MEMORY_BAR);
	res->memory_phys = pci_resource_start(pdev, MEMORY_BAR);
	return peek(pci, magic) == SIMPLER_HW_MAGIC ? 0 : -ENODEV;
}

static int map_doorbell(struct simpler_pci *pci, u32 offset)
{
	resource_size_t bytes = pci_resource_len(pci->pdev, DOORBELL_BAR);
	void __iomem *base;

	if (!IS_ALIGNED(offset, sizeof(u32)) || bytes < sizeof(u32) ||
	    offset > bytes - sizeof(u32))
		return -EINVAL;
	base = pcim_iomap_region(pci->pdev, DOORBELL_BAR, DRIVER_NAME);
	if (IS_ERR(base))
		return PTR_ERR(base);
	pci->doorbell = base + offset;
	return 0;
}

/*
 * A page can be given to user space if nobody else's registers are in it.  Of a BAR
 * that is smaller, the rest of the page is taken, so that nothing gets there later.
 */
static phys_addr_t own_page(struct simpler_pci *pci, u32 offset)
{
	struct resource *bar = &pci->pdev->resource[DOORBELL_BAR];
	phys_addr_t page = (bar->start + offset) & PAGE_MASK;
	struct resource *rest = &pci->rest_of_page;

	if (!PAGE_ALIGNED(bar->start))
		return 0;
	if (page + PAGE_SIZE - 1 <= bar->end)
		return page;
	rest->name = "simpler doorbell page";
	rest->start = bar->end + 1;
	rest->end = page + PAGE_SIZE - 1;
	rest->flags = bar->flags;
	if (devm_request_resource(&pci->pdev->dev, bar->parent, rest))
		return 0;
	return page;
}

static int map_bars(struct simpler_pci *pci, struct simpler_resources *res)
{
	u32 offset;
	int ret;

	ret = map_memory(pci, res);
	if (ret)
		return ret;
	offset = peek(pci, doorbell_offset);
	ret = map_doorbell(pci, offset);
	if (ret)
		return ret;
	res->doorbell_page = own_page(pci, offset);
	if (!res->doorbell_page)
		dev_info(&pci->pdev->dev,
			 "no user-mode streams: the page of BAR0 is shared; see pci=resource_alignment=\n");
	return 0;
}

static int request_irq_of(struct pci_dev *pdev, struct simpler_device *sdev, unsigned int vector)
{
	struct simpler_irq *irq = devm_kmalloc(&pdev->dev, sizeof(*irq), GFP_KERNEL);

	if (!irq)
		return -ENOMEM;
	irq->sdev = sdev;
	irq->vector = vector;
	return devm_request_irq(&pdev->dev, pci_irq_vector(pdev, vector), handle_irq, 0,
				DRIVER_NAME, irq);
}

static int request_irqs(struct pci_dev *pdev, struct simpler_device *sdev, unsigned int count)
{
	unsigned int vector;
	int ret = 0;

	for (vector = 0; vector < count && !ret; vector++)
		ret = request_irq_of(pdev, sdev, vector);
	return ret;
}

static int alloc_irqs(struct simpler_pci *pci)
{
	struct pci_dev *pdev = pci->pdev;
	u32 count = peek(pci, irq_vectors);
	int ret;

	if (count < 2 || count > SIMPLER_MAX_VECTORS)
		return -EINVAL;
	ret = pci_alloc_irq_vectors(pdev, count, count, PCI_IRQ_MSIX);
	if (ret < 0)
		dev_err(&pdev->dev, "%u MSI-X vectors are needed: %d\n", count, ret);
	return ret;
}

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct simpler_resources res = { .doorbell = ring, .isolate = isolate };
	struct simpler_device *sdev;
	struct simpler_pci *pci;
	int ret, vectors;

	ret = pcim_enable_device(pdev);
	if (ret)
		return ret;
	pci = devm_kzalloc(&pdev->dev, sizeof(*pci), GFP_KERNEL);
	if (!pci)
		return -ENOMEM;
	pci->pdev = pdev;
	res.cookie = pci;
	res.name = pci_name(pdev);
	ret = map_bars(pci, &res);
	if (ret)
		return ret;
	ret = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(DMA_BITS));
	if (ret)
		return ret;
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	pci_set_master(pdev);
	vectors = alloc_irqs(pci);
	if (vectors < 0)
		return vectors;
	sdev = simpler_device_create(&pdev->dev, &res);
	if (IS_ERR(sdev))
		return PTR_ERR(sdev);
	pci_set_drvdata(pdev, sdev);
	ret = request_irqs(pdev, sdev, vectors);
	if (ret)
		simpler_device_destroy(sdev);
	return ret;
}

static void remove(struct pci_dev *pdev)
{
	simpler_device_destroy(pci_get_drvdata(pdev));
	pci_clear_master(pdev);
}

static int suspend(struct device *dev)
{
	return simpler_device_suspend(dev_get_drvdata(dev));
}

static int resume(struct device *dev)
{
	simpler_device_resume(dev_get_drvdata(dev));
	return 0;
}

static DEFINE_SIMPLE_DEV_PM_OPS(pm_ops, suspend, resume);

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(VENDOR_ID, DEVICE_ID) },
	{ }
};
MODULE_DEVICE_TABLE(pci, ids);

static struct pci_driver pci_driver = {
	.name = DRIVER_NAME,
	.id_table = ids,
	.probe = probe,
	.remove = remove,
	.dev_groups = simpler_sysfs_groups,
	.driver.pm = pm_sleep_ptr(&pm_ops),
};

int simpler_pci_register(void)
{
	return pci_register_driver(&pci_driver);
}

void simpler_pci_unregister(void)
{
	pci_unregister_driver(&pci_driver);
}
