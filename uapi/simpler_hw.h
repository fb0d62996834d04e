/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * simpler device interface: registers, rings, commands, launch descriptors and
 * fault records.
 *
 * Three parties speak it: the kernel driver (kernel-mode queues and the admin
 * ring), user-mode queues of libsimpler, and the device itself (silicon or the
 * device model).  All multi-byte fields are little-endian and naturally
 * aligned; addresses are device addresses of the context that owns the ring.
 *
 * Evolution rules
 * - A structure grows at its end only, and only together with
 *   SIMPLER_HW_VERSION_MINOR.  Structures handed over by address carry their
 *   own size; a device rejects a non-zero tail that it does not know.
 * - Numbers (opcodes, fault codes, feature bits) are appended, never reused.
 * - Every reserved field is written as zero and rejected when non-zero.
 *
 * Ring protocol (one producer, one consumer; indices count commands and wrap
 * modulo 2^32, slot = index & (entries - 1)):
 *
 *   producer                                   device
 *   1. read consumer (acquire): free slots
 *   2. write the 64-byte command (plain)
 *   3. write producer (release)          --->  4. read producer (acquire)
 *   5. store the stream id to the doorbell     6. read the command (plain)
 *                                              7. execute it
 *                                              8. write completed (release)
 *                                        <---  9. write consumer (release)
 *   10. read completed (acquire)
 *
 * The release at 3 pairs with the acquire at 4, the release at 8 with the
 * acquire at 10 and the release at 9 with the acquire at 1.  A command slot may
 * be reused once consumer has passed it; its effects are visible once completed
 * has reached its sequence number.  The device copies a command before it acts
 * on it, so that a hostile producer cannot change it after the checks.
 */
#ifndef _UAPI_SIMPLER_HW_H_
#define _UAPI_SIMPLER_HW_H_

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/build_bug.h>
#define SIMPLER_HW_ASSERT(cond, text) static_assert(cond, text)
#else
#include <stdint.h>
#include <linux/types.h>
#ifdef __cplusplus
#define SIMPLER_HW_ASSERT(cond, text) static_assert(cond, text)
#else
#define SIMPLER_HW_ASSERT(cond, text) _Static_assert(cond, text)
#endif
#endif

#define SIMPLER_HW_MAGIC		0x524c5053u	/* "SPLR" */
#define SIMPLER_HW_VERSION_MAJOR	1u
#define SIMPLER_HW_VERSION_MINOR	1u

/* Values of simpler_hw_regs.arch. */
#define SIMPLER_HW_ARCH_A2A3		1u
#define SIMPLER_HW_ARCH_A5		2u

/* Bits of simpler_hw_regs.features. */
#define SIMPLER_HW_FEATURE_TRB		(1ull << 0)	/* tensormap_and_ringbuffer launches */
#define SIMPLER_HW_FEATURE_HBG		(1ull << 1)	/* host_build_graph launches */
#define SIMPLER_HW_FEATURE_USER_QUEUE	(1ull << 2)	/* doorbells may be mapped to users */
#define SIMPLER_HW_FEATURE_MMU		(1ull << 3)	/* contexts have page tables */

/* Values of simpler_hw_regs.health. */
#define SIMPLER_HW_HEALTH_OK		0u
#define SIMPLER_HW_HEALTH_DEGRADED	1u	/* works; error counters are rising */
#define SIMPLER_HW_HEALTH_DEAD		2u	/* needs a reset */

/*
 * Bits of simpler_hw_regs.control.  Enabling starts the admin ring; the ring and
 * fault ring registers must have been written before.  The device acknowledges
 * in @status.  Every write is followed by a store to doorbell vector 0.
 */
#define SIMPLER_HW_CONTROL_ENABLE	(1u << 0)

/* Bits of simpler_hw_regs.status. */
#define SIMPLER_HW_STATUS_ENABLED	(1u << 0)
#define SIMPLER_HW_STATUS_REFUSED	(1u << 1)	/* bad ring registers */

/* Values written to simpler_hw_regs.reset_control. */
#define SIMPLER_HW_RESET_NONE		0u
#define SIMPLER_HW_RESET_DEVICE		0x52535421u	/* "!TSR": whole device, all contexts */

/*
 * Register page, at the start of BAR2.  @generation is incremented by the
 * device at every reset, so that a waiter can tell a reset from a suspend.
 *
 * A device-physical address is an offset in BAR2.  The driver owns the bytes
 * [memory_base, memory_base + memory_bytes): rings, page tables and buffers all
 * come from there.
 *
 * Doorbells: a store of (doorbell_base | vector) to BAR0 + doorbell_offset.
 * Vector 0 is for control, reset and the admin ring; stream s has vector
 * 1 + s % (doorbell_vectors - 1).  A doorbell tells the device to look at all
 * rings of that vector; one too many does no harm.
 *
 * Interrupts: MSI-X vector 0 reports admin completions, faults, a change of
 * health; completions of stream s arrive on vector 1 + s % (irq_vectors - 1).
 * Interrupts may be spurious and may coalesce.  There are none while @control
 * lacks SIMPLER_HW_CONTROL_ENABLE: a driver that has stopped the device may
 * free what takes them.
 */
struct simpler_hw_regs {
	__u32 magic;			/* 0x000 SIMPLER_HW_MAGIC */
	__u16 version_major;		/* 0x004 */
	__u16 version_minor;		/* 0x006 */
	__u32 arch;			/* 0x008 SIMPLER_HW_ARCH_* */
	__u32 cluster_count;		/* 0x00c 1 AIC + 2 AIV each */
	__u64 memory_bytes;		/* 0x010 device memory */
	__u64 features;			/* 0x018 SIMPLER_HW_FEATURE_* */
	__u32 health;			/* 0x020 SIMPLER_HW_HEALTH_* */
	__u32 generation;		/* 0x024 */
	__u32 max_contexts;		/* 0x028 */
	__u32 max_streams;		/* 0x02c per device */
	__u32 counter_hz;		/* 0x030 frequency of all time stamps */
	__u32 reserved0;		/* 0x034 */
	__u64 counter;			/* 0x038 free-running time stamp */
	__u32 reset_control;		/* 0x040 write SIMPLER_HW_RESET_* */
	__u32 reset_status;		/* 0x044 non-zero while a reset runs */
	__u64 admin_ring;		/* 0x048 device address of the admin ring */
	__u32 admin_entries;		/* 0x050 power of two */
	__u32 reserved1;		/* 0x054 */
	__u64 fault_ring;		/* 0x058 device address of the fault ring */
	__u32 fault_entries;		/* 0x060 power of two */
	__u32 fault_producer;		/* 0x064 written by the device */
	__u32 fault_consumer;		/* 0x068 written by the driver */
	__u32 fault_dropped;		/* 0x06c records lost to a full ring */
	__u64 ecc_corrected;		/* 0x070 */
	__u64 ecc_uncorrected;		/* 0x078 */
	__u32 temperature_mc;		/* 0x080 millidegrees Celsius */
	__u32 power_mw;			/* 0x084 milliwatts */
	__u32 control;			/* 0x088 SIMPLER_HW_CONTROL_*, written by the driver */
	__u32 status;			/* 0x08c SIMPLER_HW_STATUS_*, written by the device */
	__u64 memory_base;		/* 0x090 device-physical, page aligned */
	__u32 doorbell_offset;		/* 0x098 in BAR0 */
	__u32 doorbell_base;		/* 0x09c */
	__u32 doorbell_vectors;		/* 0x0a0 >= 2 */
	__u32 irq_vectors;		/* 0x0a4 >= 2 */
	__u64 heartbeat;		/* 0x0a8 rises at least every 100 ms while the device lives */
	__u32 health_events;		/* 0x0b0 number of changes of health, ECC or thermal state */
	__u32 reserved2;		/* 0x0b4 */
	__u64 irq_count;		/* 0x0b8 interrupts raised since reset */
	__u8 reserved3[0x40];		/* 0x0c0 */
};
SIMPLER_HW_ASSERT(sizeof(struct simpler_hw_regs) == 0x100, "register page layout");

/* ---- rings ---------------------------------------------------------------- */

#define SIMPLER_HW_CMD_BYTES		64u
#define SIMPLER_HW_RING_MIN_ENTRIES	4u
#define SIMPLER_HW_RING_MAX_ENTRIES	65536u

/*
 * Header of a stream ring; the commands follow it.  Words of different writers
 * are on different cache lines.
 */
struct simpler_hw_ring {
	/* written by the producer */
	__u32 producer;
	__u32 reserved0;
	/*
	 * The device interrupts once completed reaches this value; 0 = never.  The
	 * waiter writes it, then reads completed again; the device writes completed,
	 * then reads it: with a full barrier between the two on both sides, one of
	 * them sees the other.
	 */
	__u64 irq_seqno;
	__u64 reserved1[6];
	/* written by the device */
	__u32 consumer;
	__u32 state;			/* SIMPLER_HW_STREAM_* */
	__s32 error;			/* first failure: -(run code) of a LAUNCH, else negative errno; 0 = none */
	__u32 reserved2;
	__u64 completed;		/* number of commands completed since creation */
	__u64 error_seqno;		/* sequence number of the first failed command */
	__u32 reserved3[8];
};
SIMPLER_HW_ASSERT(sizeof(struct simpler_hw_ring) == 128, "ring header is two cache lines");

/* Values of simpler_hw_ring.state. */
#define SIMPLER_HW_STREAM_READY		0u
#define SIMPLER_HW_STREAM_BANNED	1u	/* its context faulted; commands are aborted */

/* Opcodes of a command. */
#define SIMPLER_HW_OP_NOP		0u
#define SIMPLER_HW_OP_FENCE		1u
#define SIMPLER_HW_OP_WAIT		2u
#define SIMPLER_HW_OP_COPY		3u
#define SIMPLER_HW_OP_FILL		4u
#define SIMPLER_HW_OP_LAUNCH		5u
#define SIMPLER_HW_OP_UPLOAD		6u
#define SIMPLER_HW_OP_UNLOAD		7u
#define SIMPLER_HW_OP_BARRIER		8u

/* Bits of simpler_hw_cmd.flags. */
#define SIMPLER_HW_CMD_IRQ		(1u << 0)	/* FENCE: raise an interrupt */
#define SIMPLER_HW_CMD_ALWAYS		(1u << 1)	/* run even after an earlier command of its batch failed */

/*
 * One command.  The sequence number of a command is its index in the stream
 * plus one, counted from the stream's creation; it is implied, not stored.
 * Every variant fills the union, so that an initialiser of one leaves no byte
 * of the command undefined.
 */
struct simpler_hw_cmd {
	__u8 opcode;			/* SIMPLER_HW_OP_* */
	__u8 flags;			/* SIMPLER_HW_CMD_* */
	__u16 reserved;
	/*
	 * Commands of one run share a number; 0 = none.  After a command has
	 * failed, the rest of its batch is completed without effect, except
	 * commands with SIMPLER_HW_CMD_ALWAYS.
	 */
	__u32 batch;
	union {
		struct {		/* FENCE: *addr = value, once all earlier commands ended */
			__u64 addr;	/* 8-byte aligned */
			__u64 value;
			__u64 reserved[5];
		} fence;
		struct {		/* WAIT: until *addr >= value (unsigned) */
			__u64 addr;	/* 8-byte aligned */
			__u64 value;
			__u64 reserved[5];
		} wait;
		struct {		/* COPY: ranges may not overlap */
			__u64 dst;
			__u64 src;
			__u64 bytes;
			__u64 reserved[4];
		} copy;
		struct {		/* FILL: repeat the low @width bytes of @pattern */
			__u64 dst;
			__u64 bytes;	/* multiple of width */
			__u64 pattern;
			__u32 width;	/* 1, 2, 4 or 8 */
			__u32 reserved;
			__u64 reserved1[3];
		} fill;
		struct {		/* LAUNCH: run a callable */
			__u64 desc;	/* struct simpler_hw_launch */
			__u32 desc_bytes;
			__u32 slot;	/* callable slot */
			__u64 reserved[5];
		} launch;
		struct {		/* UPLOAD: install callable bytes in a slot */
			__u64 addr;
			__u64 bytes;
			__u64 status;	/* struct simpler_hw_status, or 0 */
			__u32 slot;
			__u32 reserved;
			__u64 reserved1[3];
		} upload;
		struct {		/* UNLOAD: empty a slot */
			__u32 slot;
			__u32 reserved;
			__u64 reserved1[6];
		} unload;
		__u64 words[7];
	};
};
SIMPLER_HW_ASSERT(sizeof(struct simpler_hw_cmd) == SIMPLER_HW_CMD_BYTES, "command size");

#define SIMPLER_HW_CALLABLE_SLOTS	64u

/* ---- admin ring ------------------------------------------------------------- */

/*
 * The admin ring is a ring like a stream's, at the device-physical address
 * simpler_hw_regs.admin_ring, owned by the driver.  Its commands are executed in
 * order; one that is refused sets ring.error and ring.error_seqno if they are
 * zero (the driver clears both) and changes nothing.  Numbers of contexts and
 * streams are chosen by the driver, below max_contexts and max_streams.
 */
#define SIMPLER_HW_ADMIN_CONTEXT_CREATE		64u	/* -EINVAL, -EEXIST, -ENOMEM */
#define SIMPLER_HW_ADMIN_CONTEXT_DESTROY	65u	/* ends its executor and streams; -ENOENT */
#define SIMPLER_HW_ADMIN_CONTEXT_STOP		66u	/* ends its executor, bans its streams; -ENOENT */
#define SIMPLER_HW_ADMIN_STREAM_CREATE		67u	/* -EINVAL, -EEXIST, -ENOENT */
#define SIMPLER_HW_ADMIN_STREAM_DESTROY		68u	/* -ENOENT */
#define SIMPLER_HW_ADMIN_MAP_CHANGED		69u	/* page table entries changed; -ENOENT */
#define SIMPLER_HW_ADMIN_CLEAR			70u	/* zeroes device memory; -EINVAL */
#define SIMPLER_HW_ADMIN_SUSPEND		71u	/* completes when no stream executes a command */
#define SIMPLER_HW_ADMIN_RESUME			72u

struct simpler_hw_admin {
	__u8 opcode;			/* SIMPLER_HW_ADMIN_* */
	__u8 flags;			/* 0 */
	__u16 reserved;
	__u32 context;			/* number, 0 where the command has none */
	union {
		struct {		/* CONTEXT_CREATE */
			__u64 page_table;	/* device-physical address of the root table */
			__u64 reserved[6];
		} context_create;
		struct {		/* STREAM_CREATE, STREAM_DESTROY */
			__u32 stream;
			__u32 entries;		/* of the ring; 0 for DESTROY */
			__u64 ring;		/* device-physical, contiguous, 64-byte aligned */
			__u32 priority;		/* 0 low, 1 normal, 2 high */
			__u32 reserved;
			__u64 reserved1[4];
		} stream;
		struct {		/* MAP_CHANGED: after it completed, no old entry is in use */
			__u64 addr;	/* device-virtual, page aligned */
			__u64 bytes;
			__u64 reserved[5];
		} map;
		struct {		/* CLEAR */
			__u64 addr;	/* device-physical, multiple of 8 */
			__u64 bytes;	/* multiple of 8 */
			__u64 reserved[5];
		} clear;
		__u64 words[7];
	};
};
SIMPLER_HW_ASSERT(sizeof(struct simpler_hw_admin) == SIMPLER_HW_CMD_BYTES, "admin command size");

/* ---- device-virtual addresses ------------------------------------------------ */

/*
 * A context sees a 39-bit address space through three levels of tables of 512
 * entries.  Tables are pages of device memory.  An entry of level 2 or 1 refers
 * to a table, or with BLOCK (level 1 only) to 2 MiB of memory; an entry of level
 * 0 refers to a page.  Addresses below VA_MIN are never valid.
 */
#define SIMPLER_HW_PAGE_SHIFT		12u
#define SIMPLER_HW_PAGE_BYTES		(1u << SIMPLER_HW_PAGE_SHIFT)
#define SIMPLER_HW_PT_ENTRIES		512u
#define SIMPLER_HW_PT_LEVELS		3u
#define SIMPLER_HW_VA_BITS		39u
#define SIMPLER_HW_VA_MIN		(1ull << 32)

#define SIMPLER_HW_PTE_VALID		(1ull << 0)
#define SIMPLER_HW_PTE_WRITE		(1ull << 1)
#define SIMPLER_HW_PTE_HOST		(1ull << 2)	/* a DMA address; else device-physical */
#define SIMPLER_HW_PTE_BLOCK		(1ull << 3)
#define SIMPLER_HW_PTE_ADDR		0x000ffffffffff000ull

/* ---- launch --------------------------------------------------------------- */

#define SIMPLER_HW_MAX_TENSORS		256u
#define SIMPLER_HW_MAX_SCALARS		128u
#define SIMPLER_HW_RINGS		4u

/*
 * Entry operand of a launch; what kernels see as their tensor descriptor.
 * Strides and the start offset count elements.
 */
struct simpler_hw_tensor {
	__u64 addr;
	__u64 bytes;			/* size of the backing buffer */
	__u64 owner;			/* ~0: no creating task */
	__u64 start_offset;
	__s32 version;
	__u32 ndims;			/* 0..5 */
	__u8 dtype;			/* DataType */
	__u8 manual_dep;
	__u8 is_contiguous;
	__u8 address_space;		/* 0 host, 1 device */
	__u32 shapes[5];
	__u64 extent;			/* elements from the first to the last touched one */
	__u32 strides[5];
	__u8 reserved[36];
};
SIMPLER_HW_ASSERT(sizeof(struct simpler_hw_tensor) == 128, "tensor descriptor size");

/* Values of simpler_hw_launch.runtime. */
#define SIMPLER_HW_RUNTIME_TRB		0u
#define SIMPLER_HW_RUNTIME_HBG		1u

/* Values of simpler_hw_launch.dep_mode: which hazards order tasks. */
#define SIMPLER_HW_DEPS_SEQUENTIAL	0u	/* read-after-write, write-after-write, write-after-read */
#define SIMPLER_HW_DEPS_RAW		1u	/* the reference's weaker rule */

/* Bits of simpler_hw_launch.diagnostics. */
#define SIMPLER_HW_DIAG_DUMP		(1u << 0)
#define SIMPLER_HW_DIAG_SWIMLANE	(1u << 1)
#define SIMPLER_HW_DIAG_PMU		(1u << 2)
#define SIMPLER_HW_DIAG_DEP_GEN		(1u << 3)
#define SIMPLER_HW_DIAG_SCOPE_STATS	(1u << 4)

/* Launch descriptor; zero in a ring field selects the device's default. */
struct simpler_hw_launch {
	__u32 bytes;			/* sizeof(struct simpler_hw_launch) of the writer */
	__u32 runtime;			/* SIMPLER_HW_RUNTIME_* */
	__u32 tensor_count;
	__u32 scalar_count;
	__u64 tensors;			/* struct simpler_hw_tensor[tensor_count] */
	__u64 scalars;			/* __u64[scalar_count] */
	__u64 status;			/* struct simpler_hw_status, written at the end */
	__u64 run_id;			/* for logs and fault records */
	__u32 control_threads;		/* aicpu_thread_num; 0 = architecture default */
	__u32 dep_mode;			/* SIMPLER_HW_DEPS_* */
	__u32 diagnostics;		/* SIMPLER_HW_DIAG_* */
	__u32 no_progress_ms;		/* watchdog; 0 = default */
	__u64 ring_window[SIMPLER_HW_RINGS];	/* tasks */
	__u64 ring_heap[SIMPLER_HW_RINGS];	/* bytes */
	__u64 ring_dep_pool[SIMPLER_HW_RINGS];	/* entries */
	__u64 reserved[4];
};
SIMPLER_HW_ASSERT(sizeof(struct simpler_hw_launch) == 192, "launch descriptor size");

/*
 * Outcome of a LAUNCH or UPLOAD.  @code is 0 or the positive error code of the
 * run (orchestrator code wins over scheduler code).
 */
struct simpler_hw_status {
	__u32 bytes;			/* written by the host: room; by the device: used */
	__s32 code;
	__s32 orch_code;
	__s32 sched_code;
	__s32 sub_class;		/* of SCHEDULER_TIMEOUT */
	__s32 core;			/* logical core, -1 none */
	__s32 func_id;			/* kernel, -1 none */
	__u32 phase;			/* SIMPLER_HW_PHASE_* */
	__u64 task;			/* ~0 none */
	__u64 address;			/* of a fault */
	__u64 pc;			/* of a fault */
	__u64 tasks_submitted;
	__u64 tasks_completed;
	__u64 start_ns;			/* device clock */
	__u64 end_ns;
	char text[1024];		/* NUL-terminated */
	char hint[256];
};
SIMPLER_HW_ASSERT(sizeof(struct simpler_hw_status) == 88 + 1024 + 256, "status size");

/* Values of simpler_hw_status.phase. */
#define SIMPLER_HW_PHASE_PREPARE	0u
#define SIMPLER_HW_PHASE_ORCHESTRATE	1u
#define SIMPLER_HW_PHASE_EXECUTE	2u
#define SIMPLER_HW_PHASE_RETIRE		3u

/* ---- callable bytes (payload of UPLOAD) ------------------------------------ */

#define SIMPLER_HW_CORE_SIGNATURE	32u
#define SIMPLER_HW_CHIP_SIGNATURE	256u
#define SIMPLER_HW_MAX_CHILDREN		1024u
#define SIMPLER_HW_SYMBOL_BYTES		64u	/* including the NUL */
#define SIMPLER_HW_CALLABLE_ALIGN	64u

/* Values of a signature entry: direction of an operand. */
#define SIMPLER_HW_SIG_SCALAR		0
#define SIMPLER_HW_SIG_IN		1
#define SIMPLER_HW_SIG_OUT		2
#define SIMPLER_HW_SIG_INOUT		3

/* One kernel; its binary follows the header. */
struct simpler_hw_core_callable {
	__s32 signature[SIMPLER_HW_CORE_SIGNATURE];
	__s32 sig_count;
	__u32 binary_size;
	__u64 resolved_addr;		/* zero in stored bytes */
	__u8 reserved[48];
};
SIMPLER_HW_ASSERT(sizeof(struct simpler_hw_core_callable) == 192, "core callable header");

/*
 * An orchestration and its kernels.  Storage follows the header: the
 * orchestration binary, then each child at a multiple of 64.
 */
struct simpler_hw_chip_callable {
	__s32 signature[SIMPLER_HW_CHIP_SIGNATURE];
	__s32 sig_count;
	__u32 binary_size;
	char func_name[SIMPLER_HW_SYMBOL_BYTES];
	__u32 func_name_len;
	__s32 child_func_ids[SIMPLER_HW_MAX_CHILDREN];
	__u32 child_offsets[SIMPLER_HW_MAX_CHILDREN];	/* relative to the storage */
	__s32 child_count;
	char config_name[SIMPLER_HW_SYMBOL_BYTES];
	__u32 config_name_len;
	__u8 reserved[12];
};
SIMPLER_HW_ASSERT(sizeof(struct simpler_hw_chip_callable) == 9376, "chip callable header");

/* ---- faults --------------------------------------------------------------- */

#define SIMPLER_HW_FAULT_BAD_COMMAND	1u
#define SIMPLER_HW_FAULT_PAGE		2u
#define SIMPLER_HW_FAULT_KERNEL		3u	/* illegal instruction, arithmetic, abort */
#define SIMPLER_HW_FAULT_WATCHDOG	4u
#define SIMPLER_HW_FAULT_HARDWARE	5u

#define SIMPLER_HW_FAULT_WRITE		(1u << 0)

/* One entry of the fault ring. */
struct simpler_hw_fault {
	__u32 code;			/* SIMPLER_HW_FAULT_* */
	__u32 flags;			/* SIMPLER_HW_FAULT_WRITE */
	__u32 context;
	__u32 stream;
	__u64 seqno;
	__u64 task;			/* ~0 none */
	__u32 core;			/* ~0 none */
	__u32 func_id;			/* ~0 none */
	__u64 address;
	__u64 pc;
	__u64 timestamp;
};
SIMPLER_HW_ASSERT(sizeof(struct simpler_hw_fault) == 64, "fault record size");

#endif /* _UAPI_SIMPLER_HW_H_ */
