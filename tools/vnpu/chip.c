// SPDX-License-Identifier: MIT
/* Registers, memory, interrupts and reset of one chip. */
#define _GNU_SOURCE
#include "chip.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "model/model.h"

#define TEMPERATURE_MC	45000u
#define POWER_MW	75000u

/* A register that the device writes and the guest only reads; nothing is ordered by it. */
#define put(reg, value) __atomic_store_n(&(reg), (value), __ATOMIC_RELAXED)
/* A register that the guest writes: read once, checked afterwards; the doorbell orders it. */
#define get(reg) __atomic_load_n(&(reg), __ATOMIC_RELAXED)

/* ---- memory ---- */

bool chip_has_memory(const struct vnpu_chip *chip, uint64_t addr, uint64_t bytes)
{
	const struct pagetable_memory *m = &chip->memory;

	return addr >= m->base && bytes <= m->bytes && addr - m->base <= m->bytes - bytes;
}

void chip_clear(struct vnpu_chip *chip, uint64_t addr, uint64_t bytes)
{
	/* whole pages are given back, which zeroes them for all who have mapped them */
	if ((addr | bytes) % SIMPLER_HW_PAGE_BYTES ||
	    fallocate(chip->device_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)addr,
		      (off_t)bytes))
		memset(chip->bar + addr, 0, bytes);
}

int chip_host_fd(struct vnpu_chip *chip)
{
	struct stat st;

	if (chip->host_fd >= 0 || !chip->host_path)
		return chip->host_fd;
	chip->host_fd = open(chip->host_path, O_RDWR | O_CLOEXEC);
	if (chip->host_fd < 0 || fstat(chip->host_fd, &st)) {
		log_error("guest RAM %s: %s; host mappings will fault", chip->host_path,
			  strerror(errno));
		return -1;
	}
	chip->memory.host_bytes = (uint64_t)st.st_size & ~(uint64_t)(SIMPLER_HW_PAGE_BYTES - 1);
	return chip->host_fd;
}

static int make_bar(struct vnpu_chip *chip)
{
	chip->device_fd = memfd_create("simpler-vnpu", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (chip->device_fd < 0)
		return -errno;
	if (ftruncate(chip->device_fd, (off_t)chip->bar_bytes) ||
	    fcntl(chip->device_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) ||
	    fchmod(chip->device_fd, 0))
		return -errno;
	chip->bar = mmap(NULL, chip->bar_bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_NORESERVE, chip->device_fd, 0);
	if (chip->bar == MAP_FAILED) {
		chip->bar = NULL;
		return -errno;
	}
	chip->regs = (struct simpler_hw_regs *)chip->bar;
	return 0;
}

/* ---- registers ---- */

static int describe(struct vnpu_chip *chip)
{
	struct model_config config = { .arch = chip->arch, .device_id = chip->index };
	struct simpler_hw_regs regs;
	struct model *model;
	int rc = model_open(&config, &model);

	if (rc)
		return rc;
	regs = *model_regs(model);
	model_close(model);
	regs.memory_base = chip->memory.base;
	regs.memory_bytes = chip->memory.bytes;
	regs.features |= SIMPLER_HW_FEATURE_MMU | SIMPLER_HW_FEATURE_USER_QUEUE;
	regs.max_contexts = VNPU_MAX_CONTEXTS;
	regs.max_streams = VNPU_MAX_STREAMS;
	regs.fault_ring = 0;
	regs.fault_entries = 0;
	regs.doorbell_offset = 12;	/* ivshmem: bits 31..16 name the peer, 15..0 the vector */
	regs.doorbell_base = 1u << 16;
	regs.doorbell_vectors = regs.irq_vectors = chip->port.vectors;
	regs.temperature_mc = TEMPERATURE_MC;
	regs.power_mw = POWER_MW;
	regs.generation = chip->generation;
	regs.counter = clock_mono_ns();
	*chip->regs = regs;
	return 0;
}

void chip_interrupt(struct vnpu_chip *chip, uint32_t vector)
{
	uint64_t one = 1;

	/*
	 * Not to a driver that has stopped the device: QEMU frees what takes interrupts while its
	 * descriptors are still open, when a chip is unplugged.
	 */
	if (!(get(chip->regs->control) & SIMPLER_HW_CONTROL_ENABLE))
		return;
	if (chip->lose_interrupts) {
		chip->lose_interrupts--;
		return;
	}
	put(chip->regs->irq_count, ++chip->counters.interrupts);
	if (chip->port.interrupts[vector] >= 0 &&
	    write(chip->port.interrupts[vector], &one, sizeof(one)) < 0 && errno != EAGAIN)
		log_warn("chip %u: interrupt %u: %s", chip->index, vector, strerror(errno));
}

void chip_stream_interrupt(struct vnpu_chip *chip, uint32_t stream)
{
	chip_interrupt(chip, 1 + stream % (chip->port.vectors - 1));
}

void chip_set_health(struct vnpu_chip *chip, uint32_t health)
{
	chip->health = health;
	put(chip->regs->health, health);
	put(chip->regs->health_events, ++chip->health_events);
	chip_interrupt(chip, 0);
}

void chip_fault(struct vnpu_chip *chip, const struct simpler_hw_fault *fault)
{
	struct simpler_hw_regs *regs = chip->regs;
	struct simpler_hw_fault *ring = (struct simpler_hw_fault *)(chip->bar + chip->fault_ring);
	/* acquire: pairs with the driver's release of fault_consumer, after it has read the record */
	uint32_t consumer = __atomic_load_n(&regs->fault_consumer, __ATOMIC_ACQUIRE);

	chip->counters.faults++;
	if (!chip->admin.enabled || chip->fault_producer - consumer >= chip->fault_entries) {
		put(regs->fault_dropped, ++chip->fault_dropped);
	} else {
		ring[chip->fault_producer & (chip->fault_entries - 1)] = *fault;
		/* release: pairs with the driver's acquire of fault_producer */
		__atomic_store_n(&regs->fault_producer, ++chip->fault_producer, __ATOMIC_RELEASE);
	}
	chip_interrupt(chip, 0);
}

/* ---- control ---- */

static bool good_fault_ring(const struct vnpu_chip *chip, uint64_t ring, uint32_t entries)
{
	return entries && !(entries & (entries - 1)) &&
	       entries <= SIMPLER_HW_RING_MAX_ENTRIES && !(ring % 64) &&
	       chip_has_memory(chip, ring, (uint64_t)entries * sizeof(struct simpler_hw_fault));
}

static void enable(struct vnpu_chip *chip)
{
	struct simpler_hw_regs *regs = chip->regs;
	uint64_t fault_ring = get(regs->fault_ring);
	uint32_t fault_entries = get(regs->fault_entries);

	if (!good_fault_ring(chip, fault_ring, fault_entries) ||
	    admin_enable(chip, get(regs->admin_ring), get(regs->admin_entries))) {
		put(regs->status, SIMPLER_HW_STATUS_REFUSED);
	} else {
		chip->fault_ring = fault_ring;
		chip->fault_entries = fault_entries;
		/* release: pairs with the driver's acquire of status; the rings are set up */
		__atomic_store_n(&regs->status, SIMPLER_HW_STATUS_ENABLED, __ATOMIC_RELEASE);
	}
	chip_interrupt(chip, 0);
}

static void control(struct vnpu_chip *chip)
{
	struct simpler_hw_regs *regs = chip->regs;

	if (get(regs->reset_control) == SIMPLER_HW_RESET_DEVICE) {
		chip_reset(chip);
		return;
	}
	if (chip->dead || chip->resetting)
		return;
	if (!(get(regs->control) & SIMPLER_HW_CONTROL_ENABLE)) {
		put(regs->status, 0);
		admin_disable(chip);
	} else if (!chip->admin.enabled) {
		enable(chip);
	}
	admin_run(chip);
}

static void ring_streams(struct vnpu_chip *chip, uint32_t vector)
{
	struct vnpu_context *last = NULL;

	for (uint32_t s = vector - 1; s < VNPU_MAX_STREAMS; s += chip->port.vectors - 1) {
		struct vnpu_context *c = chip->streams[s].context;

		if (c && c != last && c->state == VNPU_CONTEXT_LIVE)
			context_wake(c);
		last = c;
	}
}

void chip_doorbell(struct vnpu_chip *chip, uint32_t vector)
{
	chip->counters.doorbells++;
	if (!vector)
		control(chip);
	else if (!chip->dead)
		ring_streams(chip, vector);
}

void chip_tick(struct vnpu_chip *chip)
{
	if (!chip->dead) {
		put(chip->regs->counter, clock_mono_ns());
		put(chip->regs->heartbeat, ++chip->heartbeat);
	}
	for (uint32_t i = 0; i < VNPU_MAX_CONTEXTS; i++)
		context_check_deadline(&chip->contexts[i]);
	/* what a machine rings before QEMU has read all our descriptors goes nowhere */
	control(chip);
}

/* ---- reset ---- */

void chip_reset(struct vnpu_chip *chip)
{
	if (chip->resetting)
		return;
	chip->resetting = true;
	put(chip->regs->reset_status, 1);
	put(chip->regs->status, 0);
	admin_disable(chip);
	for (uint32_t i = 0; i < VNPU_MAX_CONTEXTS; i++) {
		struct vnpu_context *c = &chip->contexts[i];

		if (c->state == VNPU_CONTEXT_FREE)
			continue;
		c->destroy = true;
		if (!context_end(c, false))
			context_free(c);
	}
	chip_reset_step(chip);
}

void chip_reset_step(struct vnpu_chip *chip)
{
	if (!chip->resetting)
		return;
	for (uint32_t i = 0; i < VNPU_MAX_CONTEXTS; i++)
		if (chip->contexts[i].state != VNPU_CONTEXT_FREE)
			return;
	chip->dead = chip->suspended = false;
	chip->health = SIMPLER_HW_HEALTH_OK;
	chip->generation++;
	chip->counters.resets++;
	chip->counters.interrupts = 0;
	chip->fault_entries = chip->fault_producer = chip->fault_dropped = 0;
	if (chip->power_cycle)
		chip_clear(chip, 0, chip->bar_bytes);
	chip->power_cycle = false;
	describe(chip);
	chip->resetting = false;
}

/* ---- life ---- */

static bool good_options(const struct vnpu_chip_options *o)
{
	return o->bar_bytes >= 2 * VNPU_MEMORY_BASE && !(o->bar_bytes & (o->bar_bytes - 1)) &&
	       o->vectors >= 2 && o->vectors <= VNPU_MAX_VECTORS;
}

static int open_parts(struct vnpu_chip *chip, const struct vnpu_chip_options *o)
{
	int rc = make_bar(chip);

	if (rc)
		return rc;
	chip->memory = (struct pagetable_memory){ .bar = chip->bar, .base = VNPU_MEMORY_BASE,
						  .bytes = o->bar_bytes - VNPU_MEMORY_BASE };
	chip->runs = mmap(NULL, VNPU_MAX_RUNS * sizeof(*chip->runs), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (chip->runs == MAP_FAILED) {
		chip->runs = NULL;
		return -ENOMEM;
	}
	rc = describe(chip);
	return rc ? rc : port_open(chip, o->socket);
}

int chip_open(struct vnpu_chip *chip, uint32_t index, const struct vnpu_chip_options *o)
{
	int rc;

	memset(chip, 0, sizeof(*chip));
	chip->index = index;
	chip->arch = o->arch;
	chip->host_path = o->host_path;
	chip->device_fd = chip->host_fd = -1;
	chip->bar_bytes = o->bar_bytes;
	chip->port.vectors = o->vectors;
	chip->port.listener.fd = chip->port.peer.fd = -1;
	for (uint32_t i = 0; i < VNPU_MAX_VECTORS; i++) {
		chip->port.doorbells[i] = (struct vnpu_doorbell){ .watch.fd = -1, .chip = chip,
								  .vector = i };
		chip->port.interrupts[i] = -1;
	}
	for (uint32_t i = 0; i < VNPU_MAX_CONTEXTS; i++) {
		struct vnpu_context *c = &chip->contexts[i];

		c->chip = chip;
		c->number = i;
		c->exited.fd = c->told.fd = c->notify.fd = c->wake = c->handover = -1;
	}
	rc = good_options(o) ? open_parts(chip, o) : -EINVAL;
	if (rc)
		log_error("chip %u: %s (socket %s, %llu bytes, a power of two from %llu; %u vectors of 2..%u)",
			  index, strerror(-rc), o->socket, (unsigned long long)o->bar_bytes,
			  2 * VNPU_MEMORY_BASE, o->vectors, VNPU_MAX_VECTORS);
	return rc;
}

void chip_close(struct vnpu_chip *chip)
{
	for (uint32_t i = 0; i < VNPU_MAX_CONTEXTS; i++)
		if (chip->contexts[i].state != VNPU_CONTEXT_FREE)
			context_end(&chip->contexts[i], false);
	port_close(chip);
	if (chip->bar)
		munmap(chip->bar, chip->bar_bytes);
	if (chip->runs)
		munmap(chip->runs, VNPU_MAX_RUNS * sizeof(*chip->runs));
	if (chip->device_fd >= 0)
		close(chip->device_fd);
	if (chip->host_fd >= 0)
		close(chip->host_fd);
}
