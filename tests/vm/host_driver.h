/* SPDX-License-Identifier: MIT */
/*
 * Plays the virtual machine and its driver against a running simpler-vnpu: takes
 * part in the ivshmem protocol, and speaks simpler_hw.h through shared memory.
 * Everything that fails unexpectedly fails the test; waits end by themselves.
 */
#ifndef TESTS_VM_HOST_DRIVER_H
#define TESTS_VM_HOST_DRIVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "simpler_hw.h"

#define DRV_VECTORS	16
#define DRV_RAM_BYTES	(8u << 20)
#define DRV_ADMIN_ENTRIES 16
#define DRV_FAULT_ENTRIES 8
#define DRV_MAX_CHIPS	2

/* A running simpler-vnpu with one or two chips. */
struct drv_host {
	char dir[32];
	pid_t pid;
	int control;
	unsigned char *ram;		/* guest RAM */
	uint32_t chips;
};

struct drv_chip {
	struct drv_host *host;
	int socket, memory_fd;
	unsigned char *bar;
	uint64_t bar_bytes;
	struct simpler_hw_regs *regs;
	int doorbells[DRV_VECTORS], interrupts[DRV_VECTORS];
	uint64_t next;			/* free device memory from here */
	struct simpler_hw_ring *admin;
	uint64_t admin_seqno;
	uint32_t fault_consumer;
};

struct drv_context {
	struct drv_chip *chip;
	uint32_t number;
	uint64_t root;			/* page table */
	uint64_t next_va;
};

struct drv_stream {
	struct drv_context *context;
	uint32_t number, entries;
	struct simpler_hw_ring *ring;
	uint64_t seqno;
};

/* ---- the program ---- */
void drv_host_start(struct drv_host *h, uint32_t chips);
void drv_host_stop(struct drv_host *h);
/* Sends "CHIP COMMAND [NUMBER]" and returns the answer. */
const char *drv_control(struct drv_host *h, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A number in the answer to "CHIP counters". */
uint64_t drv_counter(struct drv_host *h, uint32_t chip, const char *name);
/* Until the counter has this value. */
void drv_await_counter(struct drv_host *h, uint32_t chip, const char *name, uint64_t value);

/* ---- a chip ---- */
void drv_connect(struct drv_chip *c, struct drv_host *h, uint32_t index);
void drv_disconnect(struct drv_chip *c);
/* Sets up rings and enables; returns status. */
uint32_t drv_enable(struct drv_chip *c);
void drv_reset(struct drv_chip *c);
void drv_doorbell(struct drv_chip *c, uint32_t vector);
/* True if the vector interrupted; waits up to a long deadline if @wait. */
bool drv_interrupted(struct drv_chip *c, uint32_t vector, bool wait);
/* Executes one admin command; its error. */
int drv_admin(struct drv_chip *c, struct simpler_hw_admin cmd);
/* Queues one without waiting. */
void drv_admin_push(struct drv_chip *c, struct simpler_hw_admin cmd);
/* Waits for all that are queued; the first error. */
int drv_admin_wait(struct drv_chip *c);
uint64_t drv_alloc(struct drv_chip *c, uint64_t bytes);	/* device-physical, zeroed, page aligned */
void *drv_at(struct drv_chip *c, uint64_t addr);
/* Waits for a fault record and consumes it. */
struct simpler_hw_fault drv_fault(struct drv_chip *c);

/* ---- contexts and streams ---- */
void drv_context_create(struct drv_context *x, struct drv_chip *c, uint32_t number);
int drv_context_destroy(struct drv_context *x);
/* Writes one page table entry; the tables it needs are made. */
void drv_map_page(struct drv_context *x, uint64_t va, uint64_t pte);
void drv_map_changed(struct drv_context *x, uint64_t va, uint64_t bytes);
/* Device memory, mapped; returns its device-virtual address and sets *@data. */
uint64_t drv_buffer(struct drv_context *x, uint64_t bytes, void *data);
/* Guest RAM at @offset, mapped. */
uint64_t drv_host_buffer(struct drv_context *x, uint64_t offset, uint64_t bytes, bool write);
int drv_stream_create(struct drv_stream *s, struct drv_context *x, uint32_t number);
int drv_stream_create_at(struct drv_stream *s, struct drv_context *x, uint32_t number,
			 uint32_t priority);
int drv_stream_destroy(struct drv_stream *s);
void drv_push(struct drv_stream *s, struct simpler_hw_cmd cmd);
void drv_ring(struct drv_stream *s);
uint64_t drv_completed(const struct drv_stream *s);
/* Waits for all commands; 0, or -1 when the stream is banned first. */
int drv_wait(struct drv_stream *s);
/* Pushes, rings, waits; the ring's error. */
int drv_run(struct drv_stream *s, struct simpler_hw_cmd cmd);

/* ---- the probe program: one tensor of uint64 at @x, three scalars ---- */
struct drv_program {
	struct drv_stream *stream;
	uint64_t x;			/* device-virtual */
	volatile uint64_t *data;
	uint64_t launch_va;
	struct drv_launch *launch;
};
struct drv_launch {
	struct simpler_hw_launch launch;
	struct simpler_hw_tensor tensor;
	uint64_t scalars[3];
	struct simpler_hw_status status;
};
enum drv_probe { DRV_LOAD, DRV_STORE, DRV_ENDLESS, DRV_ESCAPE, DRV_ABORT, DRV_ADD, DRV_EXIT };
void drv_program_load(struct drv_program *p, struct drv_stream *s);
void drv_program_begin(struct drv_program *p, enum drv_probe mode, uint64_t address,
		       uint64_t value);
/* Runs to the end; the run code, or -1 when the stream is banned without a completion. */
int drv_program_run(struct drv_program *p, enum drv_probe mode, uint64_t address, uint64_t value);

#endif /* TESTS_VM_HOST_DRIVER_H */
