/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the driver reaches a device: a mapping of its memory, a function that
 * rings, and calls for what the device reports.  The PCI glue (simpler_pci.c)
 * fills this in from BARs and MSI-X; a test fills it in from ordinary memory:
 *
 *	res.memory = page-aligned memory, struct simpler_hw_regs at its start
 *	res.memory_bytes, res.memory_phys = its size, virt_to_phys() of it if
 *		buffers are to be mapped by user space (else 0: mmap is refused)
 *	res.doorbell = what wakes the thread that plays the device
 *	sdev = simpler_device_create(dev, &res);
 *	... the thread calls simpler_device_irq(sdev, vector) ...
 *	simpler_device_destroy(sdev);	(a removal at any moment)
 *	... then unbind or unregister dev: the last file and dev own the rest
 *
 * The device interface defines BAR2 as memory with acquire/release semantics, not
 * as registers with side effects; therefore it is an ordinary pointer here.  It is
 * mapped uncached, so that stores stay in order; use the helpers below, which are
 * single accesses of the natural size (memset and memcpy are not).
 */
#ifndef SIMPLER_HW_ACCESS_H
#define SIMPLER_HW_ACCESS_H

#include <linux/compiler.h>
#include <linux/types.h>

#include "simpler_hw.h"

struct device;
struct simpler_device;

/**
 * struct simpler_resources - what a bus driver gives to the rest of the driver
 * @memory: BAR2; valid until simpler_device_destroy() has returned
 * @memory_bytes: its size
 * @memory_phys: physical address of @memory for user mappings; 0: none possible
 * @doorbell: stores a value to the doorbell; any context, must not sleep
 * @isolate: keeps a device that could not be reset from doing DMA; may be NULL; may sleep
 * @cookie: first argument of @doorbell and @isolate
 * @doorbell_page: physical address of a page that holds the doorbell, at the offset
 *	in a page that the register doorbell_offset has, and nothing that belongs to
 *	somebody else; 0: no user-mode streams
 * @name: for messages and netlink, e.g. the PCI address; copied
 */
struct simpler_resources {
	void *memory;
	u64 memory_bytes;
	phys_addr_t memory_phys;
	void (*doorbell)(void *cookie, u32 value);
	void (*isolate)(void *cookie);
	void *cookie;
	phys_addr_t doorbell_page;
	const char *name;
};

/**
 * simpler_device_create - start a device and register its accel node
 * @dev: parent, bound to a driver; owns the DRM device until it is unbound
 * @res: copied
 *
 * May sleep; executes admin commands, so the device must already be answering.
 *
 * Return: the device, or ERR_PTR: -ENODEV not a simpler device or an interface
 * version this driver does not know, -EINVAL registers that contradict each other,
 * -EIO the device does not start, -ENOMEM.
 */
struct simpler_device *simpler_device_create(struct device *dev,
					     const struct simpler_resources *res);

/**
 * simpler_device_destroy - the device is being removed, or is gone already
 * @sdev: what simpler_device_create() returned
 *
 * Open files stay valid and get -ENODEV; every fence completes with an error; the
 * memory of @res is not touched after this has returned.  May sleep.
 */
void simpler_device_destroy(struct simpler_device *sdev);

/**
 * simpler_device_irq - an interrupt arrived
 * @sdev: what simpler_device_create() returned
 * @vector: as in simpler_hw.h; one too many does no harm
 *
 * Any context, also with interrupts off.  After simpler_device_destroy() it does
 * nothing, for as long as the parent device is bound.
 */
void simpler_device_irq(struct simpler_device *sdev, unsigned int vector);

/** simpler_device_suspend - 0, or -EIO: the device does not answer. May sleep. */
int simpler_device_suspend(struct simpler_device *sdev);

/** simpler_device_resume - after suspend; a device that lost its state is reset. May sleep. */
void simpler_device_resume(struct simpler_device *sdev);

/* Single accesses to device memory. */
#define simpler_read(lvalue)		READ_ONCE(lvalue)
#define simpler_write(lvalue, value)	WRITE_ONCE(lvalue, value)

static inline void simpler_copy_words(void *dst, const void *src, size_t bytes)
{
	u64 *to = dst;
	const u64 *from = src;

	for (; bytes >= sizeof(u64); bytes -= sizeof(u64))
		WRITE_ONCE(*to++, READ_ONCE(*from++));
}

static inline void simpler_zero_words(void *dst, size_t bytes)
{
	u64 *to = dst;

	for (; bytes >= sizeof(u64); bytes -= sizeof(u64))
		WRITE_ONCE(*to++, 0);
}

#endif /* SIMPLER_HW_ACCESS_H */
