// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the PCI glue refuses: functions on a bus of the test's own, whose configuration
 * space is an array and whose BARs are seen through the kernel's emulated IO memory.
 */
#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/device.h>
#include <linux/logic_iomem.h>
#include <linux/pci.h>

#include "simpler_hw.h"

#define BUS		0x40
#define DOORBELL_BAR	0
#define MEMORY_BAR	2
#define BARS		6

struct function {
	u32 config[PCI_CFG_SPACE_SIZE / 4];
	u32 bar_bytes[BARS];
	struct simpler_hw_regs regs;
	u32 reads, writes;		/* of what the BARs show */
	bool mastered;
	struct pci_host_bridge *bridge;
	struct pci_dev *pdev;
};

/* Regions of emulated IO memory stay for ever and have no data of their own. */
static struct function *function;

static struct resource window = {
	.name = "simpler test PCI", .start = 0xd0000000, .end = 0xd0ffffff, .flags = IORESOURCE_MEM,
};

static struct resource numbers = {
	.name = "simpler test bus", .start = BUS, .end = BUS, .flags = IORESOURCE_BUS,
};

/* ---- BARs ---- */

static unsigned long bar_read(void *priv, unsigned int offset, int size)
{
	unsigned long value = 0;

	function->reads++;
	if (offset + size <= sizeof(function->regs))
		memcpy(&value, (u8 *)&function->regs + offset, size);
	return value;
}

static void bar_write(void *priv, unsigned int offset, int size, unsigned long value)
{
	function->writes++;
}

static const struct logic_iomem_ops bar_ops = { .read = bar_read, .write = bar_write };

static long bar_map(unsigned long offset, size_t size, const struct logic_iomem_ops **ops,
		    void **priv)
{
	*ops = &bar_ops;
	return 0;
}

static const struct logic_iomem_region_ops region_ops = { .map = bar_map };

/* ---- configuration space ---- */

static int config_read(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 *value)
{
	*value = ~0u;
	if (devfn || where >= PCI_CFG_SPACE_SIZE)
		return PCIBIOS_DEVICE_NOT_FOUND;
	*value = function->config[where / 4] >> 8 * (where % 4) & GENMASK(8 * size - 1, 0);
	return PCIBIOS_SUCCESSFUL;
}

/* Bits of a register that a write can change: those of a BAR say how big it is. */
static u32 writable(int where)
{
	int bar = (where - PCI_BASE_ADDRESS_0) / 4;

	if (where / 4 == PCI_COMMAND / 4)
		return PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;
	if (where < PCI_BASE_ADDRESS_0 || bar >= BARS)
		return 0;
	return -function->bar_bytes[bar];
}

static int config_write(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 value)
{
	u32 shift = 8 * (where % 4);
	u32 mask = GENMASK(8 * size - 1, 0) << shift & writable(where);

	if (devfn || where >= PCI_CFG_SPACE_SIZE)
		return PCIBIOS_DEVICE_NOT_FOUND;
	function->config[where / 4] &= ~mask;
	function->config[where / 4] |= value << shift & mask;
	function->mastered |= function->config[PCI_COMMAND / 4] & PCI_COMMAND_MASTER;
	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops config_ops = { .read = config_read, .write = config_write };

/* ---- the bus ---- */

/* A function that is ours, except that its interrupts are not there: never bound, so. */
static struct function *make_function(struct kunit *test)
{
	struct function *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->config[PCI_VENDOR_ID / 4] = 0x11101af4;
	f->config[PCI_CLASS_REVISION / 4] = 0x05000001;
	f->bar_bytes[DOORBELL_BAR] = 256;
	f->bar_bytes[MEMORY_BAR] = SZ_1M;
	f->regs.magic = SIMPLER_HW_MAGIC;
	f->regs.version_major = SIMPLER_HW_VERSION_MAJOR;
	f->regs.version_minor = SIMPLER_HW_VERSION_MINOR;
	f->regs.doorbell_offset = 12;
	f->regs.irq_vectors = 4;
	return f;
}

static void plug(struct kunit *test, struct function *f)
{
	function = f;
	f->bridge = pci_alloc_host_bridge(0);
	KUNIT_ASSERT_NOT_NULL(test, f->bridge);
	pci_add_resource(&f->bridge->windows, &window);
	pci_add_resource(&f->bridge->windows, &numbers);
	f->bridge->ops = &config_ops;
	f->bridge->busnr = BUS;
	KUNIT_ASSERT_EQ(test, pci_host_probe(f->bridge), 0);
	f->pdev = pci_get_slot(f->bridge->bus, 0);
	KUNIT_ASSERT_NOT_NULL(test, f->pdev);
}

static void unplug(struct function *f)
{
	pci_dev_put(f->pdev);
	pci_lock_rescan_remove();
	pci_stop_root_bus(f->bridge->bus);
	pci_remove_root_bus(f->bridge->bus);
	pci_unlock_rescan_remove();
	pci_free_host_bridge(f->bridge);
}

/* What probe() returns for it. The bus has tried by itself before; this one has a result. */
static int bind(struct kunit *test, struct function *f)
{
	struct device_driver *driver = driver_find("simpler", &pci_bus_type);
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, driver);
	plug(test, f);
	KUNIT_EXPECT_NULL(test, f->pdev->dev.driver);
	ret = device_driver_attach(driver, &f->pdev->dev);
	KUNIT_EXPECT_FALSE(test, pci_is_enabled(f->pdev));
	unplug(f);
	return ret;
}

/* ---- tests ---- */

static void a_foreign_register_page_is_left_alone(struct kunit *test)
{
	static const u32 magics[] = { 0, ~0u, SIMPLER_HW_MAGIC ^ 1 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(magics); i++) {
		struct function *f = make_function(test);

		f->regs.magic = magics[i];
		KUNIT_EXPECT_EQ(test, bind(test, f), -ENODEV);
		KUNIT_EXPECT_GT(test, f->reads, 0u);
		KUNIT_EXPECT_EQ(test, f->writes, 0u);
		KUNIT_EXPECT_FALSE(test, f->mastered);
	}
}

static void a_function_without_room_for_registers_is_not_looked_at(struct kunit *test)
{
	static const u32 sizes[] = { 0, 16, PAGE_SIZE / 2 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct function *f = make_function(test);

		f->bar_bytes[MEMORY_BAR] = sizes[i];
		KUNIT_EXPECT_EQ(test, bind(test, f), -ENODEV);
		KUNIT_EXPECT_EQ(test, f->reads, 0u);
		KUNIT_EXPECT_EQ(test, f->writes, 0u);
	}
}

static void a_doorbell_outside_of_its_bar_is_refused(struct kunit *test)
{
	static const u32 offsets[] = { 1, 14, 253, 256, 0xfffffffc };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		struct function *f = make_function(test);

		f->regs.doorbell_offset = offsets[i];
		KUNIT_EXPECT_EQ_MSG(test, bind(test, f), -EINVAL, "offset %#x", offsets[i]);
		KUNIT_EXPECT_EQ(test, f->writes, 0u);
	}
}

static void a_missing_doorbell_is_refused(struct kunit *test)
{
	struct function *f = make_function(test);

	f->bar_bytes[DOORBELL_BAR] = 0;
	KUNIT_EXPECT_EQ(test, bind(test, f), -EINVAL);
	KUNIT_EXPECT_EQ(test, f->writes, 0u);
}

static void impossible_numbers_of_vectors_are_refused(struct kunit *test)
{
	static const u32 counts[] = { 0, 1, 257, ~0u };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		struct function *f = make_function(test);

		f->regs.irq_vectors = counts[i];
		KUNIT_EXPECT_EQ_MSG(test, bind(test, f), -EINVAL, "%u vectors", counts[i]);
		KUNIT_EXPECT_EQ(test, f->writes, 0u);
	}
}

static void a_function_without_interrupts_is_refused(struct kunit *test)
{
	struct function *f = make_function(test);

	KUNIT_EXPECT_LT(test, bind(test, f), 0);
	KUNIT_EXPECT_EQ(test, f->writes, 0u);
	/* nothing of it is kept: it could be handed to another driver */
	KUNIT_EXPECT_FALSE(test, f->config[PCI_COMMAND / 4] & PCI_COMMAND_MASTER);
}

static int pci_suite_init(struct kunit_suite *suite)
{
	return logic_iomem_add_region(&window, &region_ops);
}

static struct kunit_case pci_cases[] = {
	KUNIT_CASE(a_foreign_register_page_is_left_alone),
	KUNIT_CASE(a_function_without_room_for_registers_is_not_looked_at),
	KUNIT_CASE(a_doorbell_outside_of_its_bar_is_refused),
	KUNIT_CASE(a_missing_doorbell_is_refused),
	KUNIT_CASE(impossible_numbers_of_vectors_are_refused),
	KUNIT_CASE(a_function_without_interrupts_is_refused),
	{}
};

static struct kunit_suite pci_suite = {
	.name = "simpler_pci",
	.suite_init = pci_suite_init,
	.test_cases = pci_cases,
};
kunit_test_suite(pci_suite);
