/* SPDX-License-Identifier: MIT */
/*
 * One emulated chip: what the device process keeps of it.
 *
 * The register page, the rings and all of device memory can be written by the
 * guest at any moment.  The device's own state is in these structures only;
 * what is in the register page is a copy for the guest to read.
 */
#ifndef SIMPLER_VNPU_CHIP_H
#define SIMPLER_VNPU_CHIP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "link.h"
#include "loop.h"
#include "pagetable.h"
#include "simpler_hw.h"

#define VNPU_MEMORY_BASE	(2ull << 20)	/* what precedes it in BAR2 is the register page */
#define VNPU_MAX_VECTORS	64u
#define VNPU_REQUEST_NS		5000000000ull	/* an executor that takes longer is ended */

struct vnpu_chip;

struct vnpu_doorbell {
	struct watch watch;		/* eventfd */
	struct vnpu_chip *chip;
	uint32_t vector;
};

/* What the socket of a chip needs, see ivshmem.c. */
struct vnpu_port {
	struct watch listener, peer;
	struct vnpu_doorbell doorbells[VNPU_MAX_VECTORS];
	int interrupts[VNPU_MAX_VECTORS];	/* eventfds, -1 without a peer */
	uint32_t vectors;
	const char *path;		/* of the socket */
};

enum vnpu_context_state {
	VNPU_CONTEXT_FREE,
	VNPU_CONTEXT_LIVE,
	VNPU_CONTEXT_ENDING,		/* killed, not yet reaped */
	VNPU_CONTEXT_BANNED,		/* no executor any more */
};

struct vnpu_context {
	struct vnpu_chip *chip;
	uint32_t number;
	enum vnpu_context_state state;
	bool destroy;			/* free it once its executor is gone */
	bool quiet;			/* its end is asked for or already reported: no fault record */
	uint64_t page_table;
	pid_t pid;
	struct watch exited, told, notify;
	int wake;			/* eventfd */
	int handover;			/* socket on which the executor sends its listener */
	struct vnpu_link *link;
	uint32_t serial;		/* of the latest request */
	struct vnpu_request request;	/* it; what it allows is in chip->runs */
	bool asked;			/* the request is not answered yet */
	bool waiting;			/* the admin ring waits for this context */
	uint64_t deadline_ns;		/* of the request */
};

struct vnpu_stream {
	struct vnpu_context *context;	/* NULL: free */
	uint64_t ring;
	uint32_t entries;
};

struct vnpu_admin {
	bool enabled;
	uint64_t ring;
	uint32_t entries;
	uint32_t consumer;
	uint64_t completed;
	bool busy;			/* @command waits for executors */
	uint32_t pending;		/* so many */
	int result;			/* of the busy command so far */
	struct simpler_hw_admin command;
};

struct vnpu_counters {
	uint64_t interrupts, doorbells, faults, resets, executors;
};

struct vnpu_chip {
	uint32_t index;
	uint32_t arch;
	int device_fd;			/* BAR2 */
	int host_fd;			/* guest RAM; -1 none yet */
	const char *host_path;
	uint64_t bar_bytes;
	unsigned char *bar;
	struct simpler_hw_regs *regs;	/* its first bytes */
	struct pagetable_memory memory;
	struct vnpu_port port;
	struct vnpu_admin admin;
	struct vnpu_context contexts[VNPU_MAX_CONTEXTS];
	struct vnpu_stream streams[VNPU_MAX_STREAMS];
	struct vnpu_run *runs;		/* of the MAP request under way; the executor cannot reach it */
	uint64_t fault_ring;
	uint32_t fault_entries;
	uint32_t fault_producer, fault_dropped;
	uint32_t generation;
	uint32_t health, health_events;
	uint64_t heartbeat;
	bool suspended;
	bool resetting;
	bool power_cycle;		/* the reset under way also clears memory */
	bool dead;			/* injected: only a reset helps */
	uint32_t lose_interrupts;	/* injected */
	struct vnpu_counters counters;
};

/* ---- chip.c: registers, memory, reset, interrupts ---- */

struct vnpu_chip_options {
	const char *socket;
	const char *host_path;		/* guest RAM; NULL: none */
	uint32_t arch;
	uint32_t vectors;
	uint64_t bar_bytes;		/* power of two */
};

/** chip_open - returns 0 or a negative errno, with a message on the log */
int chip_open(struct vnpu_chip *chip, uint32_t index, const struct vnpu_chip_options *options);
void chip_close(struct vnpu_chip *chip);

/* Vector @v was rung: look at everything that belongs to it. */
void chip_doorbell(struct vnpu_chip *chip, uint32_t vector);
/* Every LOOP_TICK_MS. */
void chip_tick(struct vnpu_chip *chip);
/* Ends all contexts and starts anew; finishes in chip_reset_step(). */
void chip_reset(struct vnpu_chip *chip);
void chip_reset_step(struct vnpu_chip *chip);
void chip_interrupt(struct vnpu_chip *chip, uint32_t vector);
void chip_stream_interrupt(struct vnpu_chip *chip, uint32_t stream);
void chip_set_health(struct vnpu_chip *chip, uint32_t health);
/* Appends to the fault ring and interrupts. */
void chip_fault(struct vnpu_chip *chip, const struct simpler_hw_fault *fault);
bool chip_has_memory(const struct vnpu_chip *chip, uint64_t addr, uint64_t bytes);
void chip_clear(struct vnpu_chip *chip, uint64_t addr, uint64_t bytes);
/* Guest RAM, opened on first use; -1 when there is none. */
int chip_host_fd(struct vnpu_chip *chip);

/* ---- ivshmem.c: the socket ---- */

int port_open(struct vnpu_chip *chip, const char *path);
void port_close(struct vnpu_chip *chip);
/* The virtual machine is gone. */
void port_drop_peer(struct vnpu_chip *chip);

/* ---- admin.c ---- */

/* 0 or -EINVAL: the ring registers are unusable. */
int admin_enable(struct vnpu_chip *chip, uint64_t ring, uint32_t entries);
void admin_disable(struct vnpu_chip *chip);
/* Executes commands until one must wait. */
void admin_run(struct vnpu_chip *chip);
/* One of the executors that the busy command waits for has answered or is gone. */
void admin_answered(struct vnpu_chip *chip, int result);

/* ---- context.c: executors ---- */

int context_start(struct vnpu_chip *chip, uint32_t number, uint64_t page_table);
/*
 * Have the executor do something; false: it has ended, nothing to wait for.
 * Otherwise admin_answered() follows, also when it ends meanwhile.
 */
bool context_ask(struct vnpu_context *c, const struct vnpu_request *request);
bool context_ask_map(struct vnpu_context *c, uint64_t addr, uint64_t bytes);
/* Ends the executor; false: there is none.  With @wait admin_answered() follows. */
bool context_end(struct vnpu_context *c, bool wait);
/* Forgets a context without executor, and its streams. */
void context_free(struct vnpu_context *c);
void context_wake(struct vnpu_context *c);
/* Ends executors that do not answer. */
void context_check_deadline(struct vnpu_context *c);
/* Tells the guest once why this context ended. */
void context_fault(struct vnpu_context *c, uint32_t code, uint64_t address);
void context_freeze(struct vnpu_context *c, bool frozen);
void context_ban_stream(const struct vnpu_stream *s, struct vnpu_chip *chip);

/* ---- notify.c: mappings that an executor asks for ---- */

/* Takes over the descriptor that the executor sent; 0 or a negative errno. */
int notify_open(struct vnpu_context *c);

#endif /* SIMPLER_VNPU_CHIP_H */
