/* SPDX-License-Identifier: MIT */
/*
 * For programs inside the test machine: files of the driver, its calls, and
 * commands to the device outside.  What fails unexpectedly fails the test.
 */
#ifndef TESTS_VM_GUEST_H
#define TESTS_VM_GUEST_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <cmocka.h>

#include "simpler_accel.h"
#include "simpler_hw.h"

#define GUEST_WAIT_NS	20000000000ll	/* ends what must not take so long */

/* A new file of chip @index: an address space of its own. */
int guest_open(int index);
/* Until the chip can be opened, or its node is not there. */
void guest_await_chip(int index, bool there);
/* ioctl(), repeated after signals: 0 or a negative errno. */
int guest_ioctl(int fd, unsigned long request, void *arg);
int64_t guest_deadline(void);

struct guest_bo {
	uint32_t handle;
	uint64_t size, address;
	volatile uint64_t *data;	/* NULL: not mapped */
};
struct guest_bo guest_bo(int fd, uint64_t size, uint32_t flags);
void guest_bo_close(int fd, struct guest_bo *bo);
/* At the end of a test: what is left mapped would keep files open. */
void guest_unmap_all(void);

/* A kernel-mode stream. */
uint32_t guest_stream(int fd);
int guest_stream_destroy(int fd, uint32_t stream);
/* One job; its last sequence number in *@seqno if that is not NULL. */
int guest_submit(int fd, uint32_t stream, const struct simpler_hw_cmd *cmds, uint32_t count,
		 uint64_t *seqno);
int guest_wait(int fd, uint32_t stream, uint64_t seqno);

/* A user-mode stream. */
struct guest_user_stream {
	uint32_t stream, entries;
	volatile struct simpler_hw_ring *ring;
	volatile struct simpler_hw_cmd *commands;
	volatile uint32_t *doorbell;
	uint32_t doorbell_value;
	uint64_t ring_bytes;
};
/* 0 or a negative errno; mapped until guest_unmap_all() or its own end. */
int guest_user_stream(int fd, uint32_t entries, struct guest_user_stream *s);
void guest_user_stream_unmap(struct guest_user_stream *s);
/* Without looking for room; the sequence number. */
uint64_t guest_user_push(struct guest_user_stream *s, const struct simpler_hw_cmd *cmd);
void guest_user_ring(struct guest_user_stream *s);
struct drm_simpler_stream_state guest_state(int fd, uint32_t stream);
struct drm_simpler_context_info guest_context(int fd);
struct drm_simpler_health_info guest_health(int fd);
struct drm_simpler_memory_info guest_memory(int fd);

static inline struct simpler_hw_cmd guest_fill(uint64_t dst, uint64_t bytes, uint64_t pattern)
{
	return (struct simpler_hw_cmd){ .opcode = SIMPLER_HW_OP_FILL,
		.fill = { .dst = dst, .bytes = bytes, .pattern = pattern, .width = 8 } };
}

static inline struct simpler_hw_cmd guest_copy(uint64_t dst, uint64_t src, uint64_t bytes)
{
	return (struct simpler_hw_cmd){ .opcode = SIMPLER_HW_OP_COPY,
		.copy = { .dst = dst, .src = src, .bytes = bytes } };
}

/* Never completes by itself: waits for *@address to become 1. */
static inline struct simpler_hw_cmd guest_wait_word(uint64_t address)
{
	return (struct simpler_hw_cmd){ .opcode = SIMPLER_HW_OP_WAIT,
		.wait = { .addr = address, .value = 1 } };
}

/* Fills a fresh buffer on a fresh stream of the file and looks at it. */
void guest_works(int fd);

/* Sends "CHIP COMMAND [NUMBER]" to the device; its answer. */
const char *guest_control(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint64_t guest_counter(int chip, const char *name);
/* Until the counter has this value. */
void guest_await_counter(int chip, const char *name, uint64_t value);

/* Runs @fn in a child process. */
pid_t guest_fork(int (*fn)(void *arg), void *arg);
/* Its exit status, or -signal. */
int guest_reap(pid_t pid);
/* Both. */
int guest_child(int (*fn)(void *arg), void *arg);

/* A number that scripts/vm was told: an environment variable, or @otherwise. */
uint64_t guest_setting(const char *name, uint64_t otherwise);
/* The same numbers from the same seed, which is not 0. */
uint64_t guest_random(uint64_t *seed);
/* The number behind "@name " in a file of the kernel; fails without one. */
uint64_t guest_file_number(const char *path, const char *name);

#endif /* TESTS_VM_GUEST_H */
