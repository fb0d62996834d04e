/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * simpler driver interface: the calls of /dev/accel/accelN.
 *
 * An open file is an address space, an isolation unit and an owner: handles,
 * device addresses, streams and pinned memory belong to it and end with it.
 * One open file uses one context of the device, created when it is first needed.
 *
 * Evolution rules
 * - Every structure is 8-byte aligned, has no hidden padding, and grows at its
 *   end only.  Zero in a new member means the old behaviour.  The DRM core
 *   extends a shorter structure with zeroes and drops what an older kernel does
 *   not know, so a member whose loss would matter comes with a new driver minor
 *   version.
 * - Padding, reserved members and unknown flags must be zero: -EINVAL.
 * - Objects and arrays passed by address carry their size or stride.  A shorter
 *   one is extended with zeroes, the unknown tail of a longer one must be zero:
 *   -E2BIG, also for a stride beyond a page.
 * - Numbers (calls, query types, flags, states) are appended, never reused; there
 *   are no unions.
 * - Every addition raises the driver's minor version (struct drm_version):
 *   1.0  all calls below
 *
 * Errors that every call may return: -ENODEV the device is gone, -EIO it is
 * wedged, or the context is banned or lost (DEV_QUERY says why).  A wait that a signal
 * interrupts is restarted after the handler, where SA_RESTART asks for it.  Times
 * are CLOCK_MONOTONIC nanoseconds, deadlines are absolute.
 */
#ifndef _UAPI_SIMPLER_ACCEL_H_
#define _UAPI_SIMPLER_ACCEL_H_

#ifdef __KERNEL__
#include <drm/drm.h>
#include <linux/build_bug.h>
#elif __has_include(<drm/drm.h>)
#include <drm/drm.h>
#else
#include <libdrm/drm.h>
#endif

#ifdef __KERNEL__
#define SIMPLER_ACCEL_ASSERT(cond, text) static_assert(cond, text)
#elif defined(__cplusplus)
#define SIMPLER_ACCEL_ASSERT(cond, text) static_assert(cond, text)
#else
#define SIMPLER_ACCEL_ASSERT(cond, text) _Static_assert(cond, text)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define SIMPLER_ACCEL_DRIVER_NAME	"simpler"
#define SIMPLER_ACCEL_VERSION_MAJOR	1
#define SIMPLER_ACCEL_VERSION_MINOR	0

/* Numbers of the calls, relative to DRM_COMMAND_BASE. */
#define DRM_SIMPLER_DEV_QUERY		0x00
#define DRM_SIMPLER_BO_CREATE		0x01
#define DRM_SIMPLER_BO_MMAP_OFFSET	0x02
#define DRM_SIMPLER_BO_INFO		0x03
#define DRM_SIMPLER_HOST_MAP		0x04
#define DRM_SIMPLER_HOST_UNMAP		0x05
#define DRM_SIMPLER_STREAM_CREATE	0x06
#define DRM_SIMPLER_STREAM_DESTROY	0x07
#define DRM_SIMPLER_STREAM_STATE	0x08
#define DRM_SIMPLER_SUBMIT		0x09
#define DRM_SIMPLER_WAIT_SEQNO		0x0a

/**
 * struct drm_simpler_array - an array of extensible objects in user memory
 */
struct drm_simpler_array {
	/** @stride: bytes from one element to the next; sizeof the element as the caller knows it. */
	__u32 stride;

	/** @count: number of elements. */
	__u32 count;

	/** @array: user address of the first element; ignored when @count is 0. */
	__u64 array;
};
SIMPLER_ACCEL_ASSERT(sizeof(struct drm_simpler_array) == 16, "array reference");

/* ---- DEV_QUERY --------------------------------------------------------------- */

/** @DRM_SIMPLER_QUERY_DEVICE: struct drm_simpler_device_info */
#define DRM_SIMPLER_QUERY_DEVICE	0
/** @DRM_SIMPLER_QUERY_MEMORY: struct drm_simpler_memory_info */
#define DRM_SIMPLER_QUERY_MEMORY	1
/** @DRM_SIMPLER_QUERY_HEALTH: struct drm_simpler_health_info */
#define DRM_SIMPLER_QUERY_HEALTH	2
/** @DRM_SIMPLER_QUERY_CONTEXT: struct drm_simpler_context_info */
#define DRM_SIMPLER_QUERY_CONTEXT	3
/** @DRM_SIMPLER_QUERY_TIME: struct drm_simpler_time_info */
#define DRM_SIMPLER_QUERY_TIME		4

/**
 * struct drm_simpler_dev_query - DEV_QUERY: facts about device, memory, this file
 *
 * Works on a wedged device and for a banned context.  Errors: -EINVAL unknown type,
 * -EFAULT.
 */
struct drm_simpler_dev_query {
	/** @type: DRM_SIMPLER_QUERY_*. */
	__u32 type;

	/**
	 * @size: bytes at @pointer.  Written back: with @pointer 0 the size that the
	 * driver knows, else the bytes written, the smaller of the two.
	 */
	__u32 size;

	/** @pointer: user address of the result, or 0 to ask for its size. */
	__u64 pointer;
};
SIMPLER_ACCEL_ASSERT(sizeof(struct drm_simpler_dev_query) == 16, "DEV_QUERY");

/** @DRM_SIMPLER_DEVICE_USER_STREAMS: user-mode streams can be created */
#define DRM_SIMPLER_DEVICE_USER_STREAMS	(1u << 0)

/* Values of a priority. */
#define DRM_SIMPLER_PRIORITY_LOW	0u
#define DRM_SIMPLER_PRIORITY_NORMAL	1u
#define DRM_SIMPLER_PRIORITY_HIGH	2u	/* needs CAP_SYS_NICE */

/**
 * struct drm_simpler_device_info - what the device is; constant while it lives
 */
struct drm_simpler_device_info {
	/** @hw_version: device interface version, major << 16 | minor. */
	__u32 hw_version;

	/** @arch: SIMPLER_HW_ARCH_*. */
	__u32 arch;

	/** @hw_features: SIMPLER_HW_FEATURE_* bits. */
	__u64 hw_features;

	/** @cluster_count: clusters of one AIC and two AIVs. */
	__u32 cluster_count;

	/** @flags: DRM_SIMPLER_DEVICE_* bits. */
	__u32 flags;

	/** @va_start: first device address that can be valid. */
	__u64 va_start;

	/** @va_end: first device address beyond the address space. */
	__u64 va_end;

	/** @memory_bytes: device memory that the driver manages. */
	__u64 memory_bytes;

	/** @page_bytes: granularity of buffers and of host mappings. */
	__u32 page_bytes;

	/** @counter_hz: frequency of device time stamps. */
	__u32 counter_hz;

	/** @max_contexts: files with a context at one time. */
	__u32 max_contexts;

	/** @max_streams: streams of the device. */
	__u32 max_streams;

	/** @max_file_streams: streams that one file may have. */
	__u32 max_file_streams;

	/** @priority_mask: bit n is set if this process may use priority n. */
	__u32 priority_mask;

	/** @max_commands: commands of one SUBMIT. */
	__u32 max_commands;

	/** @max_syncs: synchronisation objects of one SUBMIT. */
	__u32 max_syncs;
};
SIMPLER_ACCEL_ASSERT(sizeof(struct drm_simpler_device_info) == 80, "device info");

/**
 * struct drm_simpler_memory_info - device memory
 */
struct drm_simpler_memory_info {
	/** @total: bytes of device memory. */
	__u64 total;

	/** @used: bytes in use by all files; 0 without CAP_PERFMON. */
	__u64 used;

	/** @file_used: device memory that this file asked for and that is not free yet. */
	__u64 file_used;

	/** @file_quota: limit of @file_used. */
	__u64 file_quota;

	/** @file_pinned: bytes of host memory pinned by HOST_MAP in this file. */
	__u64 file_pinned;

	/** @page_bytes: granularity. */
	__u32 page_bytes;

	/** @pad: 0. */
	__u32 pad;
};
SIMPLER_ACCEL_ASSERT(sizeof(struct drm_simpler_memory_info) == 48, "memory info");

/** @DRM_SIMPLER_HEALTH_WEDGED: resets failed; only a new binding can help */
#define DRM_SIMPLER_HEALTH_WEDGED	(1u << 0)

/**
 * struct drm_simpler_health_info - state of the device
 */
struct drm_simpler_health_info {
	/** @health: SIMPLER_HW_HEALTH_*. */
	__u32 health;

	/** @flags: DRM_SIMPLER_HEALTH_* bits. */
	__u32 flags;

	/** @generation: rises at every reset, never at a suspend. */
	__u32 generation;

	/** @resets: resets since the driver was bound. */
	__u32 resets;

	/** @ecc_corrected: corrected memory errors. */
	__u64 ecc_corrected;

	/** @ecc_uncorrected: uncorrected memory errors. */
	__u64 ecc_uncorrected;

	/** @temperature_mc: millidegrees Celsius. */
	__u32 temperature_mc;

	/** @power_mw: milliwatts. */
	__u32 power_mw;
};
SIMPLER_ACCEL_ASSERT(sizeof(struct drm_simpler_health_info) == 40, "health info");

/* Values of a context's state. */
#define DRM_SIMPLER_CONTEXT_NONE	0u	/* no stream has been created yet */
#define DRM_SIMPLER_CONTEXT_READY	1u
#define DRM_SIMPLER_CONTEXT_BANNED	2u	/* it faulted or hung */
#define DRM_SIMPLER_CONTEXT_LOST	3u	/* the device was reset under it */

/**
 * struct drm_simpler_fault - the fault that banned a context
 */
struct drm_simpler_fault {
	/** @code: SIMPLER_HW_FAULT_*; 0 no fault. */
	__u32 code;

	/** @flags: SIMPLER_HW_FAULT_WRITE. */
	__u32 flags;

	/** @stream: number of the stream on the device, ~0 unknown. */
	__u32 stream;

	/** @core: logical core, ~0 none. */
	__u32 core;

	/** @func_id: kernel, ~0 none. */
	__u32 func_id;

	/** @pad: 0. */
	__u32 pad;

	/** @seqno: command of the stream. */
	__u64 seqno;

	/** @task: task of the run, ~0 none. */
	__u64 task;

	/** @address: of the access. */
	__u64 address;

	/** @pc: of the kernel. */
	__u64 pc;

	/** @timestamp: device counter. */
	__u64 timestamp;
};
SIMPLER_ACCEL_ASSERT(sizeof(struct drm_simpler_fault) == 64, "fault");

/**
 * struct drm_simpler_context_info - the context of this file
 */
struct drm_simpler_context_info {
	/** @state: DRM_SIMPLER_CONTEXT_*. */
	__u32 state;

	/** @id: number of the context on the device; ~0 while there is none. */
	__u32 id;

	/** @generation: of the device when the context was created. */
	__u32 generation;

	/** @faults: fault records received for this context; only the first is kept. */
	__u32 faults;

	/** @fault: the first one. */
	struct drm_simpler_fault fault;
};
SIMPLER_ACCEL_ASSERT(sizeof(struct drm_simpler_context_info) == 80, "context info");

/**
 * struct drm_simpler_time_info - device and host clock read together
 */
struct drm_simpler_time_info {
	/** @device_counter: in units of 1 / counter_hz seconds. */
	__u64 device_counter;

	/** @host_before: CLOCK_MONOTONIC before the counter was read, ns. */
	__u64 host_before;

	/** @host_after: CLOCK_MONOTONIC after the counter was read, ns. */
	__u64 host_after;
};
SIMPLER_ACCEL_ASSERT(sizeof(struct drm_simpler_time_info) == 24, "time info");

/* ---- buffers ----------------------------------------------------------------- */

/** @DRM_SIMPLER_BO_HOST: host memory instead of device memory */
#define DRM_SIMPLER_BO_HOST		(1u << 0)
/** @DRM_SIMPLER_BO_WC: host memory mapped write-combined; only with BO_HOST */
#define DRM_SIMPLER_BO_WC		(1u << 1)
/** @DRM_SIMPLER_BO_NO_MMAP: BO_MMAP_OFFSET will be refused */
#define DRM_SIMPLER_BO_NO_MMAP		(1u << 2)
/** @DRM_SIMPLER_BO_CONTIGUOUS: one run of device memory; not with BO_HOST */
#define DRM_SIMPLER_BO_CONTIGUOUS	(1u << 3)
/** @DRM_SIMPLER_BO_IMPORTED: only reported by BO_INFO: came in by PRIME */
#define DRM_SIMPLER_BO_IMPORTED		(1u << 4)

/**
 * struct drm_simpler_bo_create - BO_CREATE: a zeroed buffer at a device address
 *
 * The buffer is mapped read-write into the address space of the file while the
 * handle is open; DRM_IOCTL_GEM_CLOSE unmaps it, and returns when the device does
 * not use the mapping any more.  Errors: -EINVAL size 0 or flags, -ENOSPC no device
 * memory or no device address left, -EDQUOT the file's quota, -ENOMEM host memory.
 */
struct drm_simpler_bo_create {
	/** @size: bytes; written back rounded up to pages. */
	__u64 size;

	/** @flags: DRM_SIMPLER_BO_* bits. */
	__u32 flags;

	/** @handle: result. */
	__u32 handle;

	/** @device_address: result; page aligned, 2 MiB aligned from 2 MiB on. */
	__u64 device_address;
};
SIMPLER_ACCEL_ASSERT(sizeof(struct drm_simpler_bo_create) == 24, "BO_CREATE");

/**
 * struct drm_simpler_bo_mmap_offset - BO_MMAP_OFFSET: offset for mmap() of the node
 *
 * Device memory is mapped write-combined, host memory cached unless BO_WC was
 * asked for.  Errors: -ENOENT handle, -EACCES buffer with BO_NO_MMAP, -EINVAL pad or
 * imported buffer.
 */
struct drm_simpler_bo_mmap_offset {
	/** @handle: of a buffer. */
	__u32 handle;

	/** @pad: 0. */
	__u32 pad;

	/** @offset: result. */
	__u64 offset;
};
SIMPLER_ACCEL_ASSERT(sizeof(struct drm_simpler_bo_mmap_offset) == 16, "BO_MMAP_OFFSET");

/**
 * struct drm_simpler_bo_info - BO_INFO: what a handle is
 *
 * This is how the device address of a handle from PRIME_FD_TO_HANDLE is found.
 * Errors: -ENOENT handle.
 */
struct drm_simpler_bo_info {
	/** @handle: of a buffer. */
	__u32 handle;

	/** @flags: result, DRM_SIMPLER_BO_* bits. */
	__u32 flags;

	/** @size: result, bytes. */
	__u64 size;

	/** @device_address: result, in this file's address space. */
	__u64 device_address;
};
SIMPLER_ACCEL_ASSERT(sizeof(struct drm_simpler_bo_info) == 24, "BO_INFO");

/* ---- host memory --------------------------------------------------------------- */

/** @DRM_SIMPLER_HOST_READ_ONLY: the device may only read; the pages may be read-only */
#define DRM_SIMPLER_HOST_READ_ONLY	(1u << 0)

/**
 * struct drm_simpler_host_map - HOST_MAP: let the device reach memory of the caller
 *
 * The pages are pinned, count against RLIMIT_MEMLOCK of the caller (unless it has
 * CAP_IPC_LOCK) and stay until HOST_UNMAP or the end of the file.  Errors: -EINVAL
 * alignment, size 0, overflow or flags, -EFAULT not mapped or not writable, -EPERM
 * the limit, -EOPNOTSUPP pages that cannot be pinned for long, -ENOSPC no device
 * address left, -ENOMEM.
 */
struct drm_simpler_host_map {
	/** @address: user address, page aligned. */
	__u64 address;

	/** @size: bytes, a multiple of the page size. */
	__u64 size;

	/** @flags: DRM_SIMPLER_HOST_* bits. */
	__u32 flags;

	/** @pad: 0. */
	__u32 pad;

	/** @device_address: result, page aligned. */
	__u64 device_address;
};
SIMPLER_ACCEL_ASSERT(sizeof(struct drm_simpler_host_map) == 32, "HOST_MAP");

/**
 * struct drm_simpler_host_unmap - HOST_UNMAP: undo one HOST_MAP, whole
 *
 * Returns when the device does not use the pages any more.  Works on a wedged
 * device and for a banned context.  Errors: -EINVAL flags, pad, -ENOENT no HOST_MAP
 * gave this address.
 */
struct drm_simpler_host_unmap {
	/** @device_address: as returned by HOST_MAP. */
	__u64 device_address;

	/** @flags: 0. */
	__u32 flags;

	/** @pad: 0. */
	__u32 pad;
};
SIMPLER_ACCEL_ASSERT(sizeof(struct drm_simpler_host_unmap) == 16, "HOST_UNMAP");

/* ---- streams ------------------------------------------------------------------- */

/**
 * define DRM_SIMPLER_STREAM_USER - ring and doorbell are mapped by the caller
 *
 * The caller submits by the protocol of simpler_hw.h, without system calls; SUBMIT is
 * refused.
 */
#define DRM_SIMPLER_STREAM_USER		(1u << 0)

/**
 * struct drm_simpler_stream_create - STREAM_CREATE: an in-order queue of commands
 *
 * Errors: -EINVAL entries, priority, flags, pad, -EACCES priority, -EOPNOTSUPP user-mode
 * streams are not possible on this machine, -EDQUOT streams of the file, -ENOSPC
 * streams or contexts of the device or its memory, -ENOMEM.
 */
struct drm_simpler_stream_create {
	/** @flags: DRM_SIMPLER_STREAM_* bits. */
	__u32 flags;

	/** @priority: DRM_SIMPLER_PRIORITY_*. */
	__u32 priority;

	/** @entries: commands in the ring; power of two, SIMPLER_HW_RING_{MIN,MAX}_ENTRIES. */
	__u32 entries;

	/**
	 * @timeout_ms: a job of SUBMIT that runs longer bans the context; 0 the
	 * driver's default, at most 600000.  Must be 0 for a user-mode stream.
	 */
	__u32 timeout_ms;

	/** @stream: result, number of the stream in this file, never 0. */
	__u32 stream;

	/** @hw_stream: result, number of the stream on the device (fault records). */
	__u32 hw_stream;

	/** @ring_offset: result, user-mode stream: mmap() offset of struct simpler_hw_ring. */
	__u64 ring_offset;

	/** @ring_size: result, user-mode stream: bytes to map. */
	__u64 ring_size;

	/** @doorbell_offset: result, user-mode stream: mmap() offset of the doorbell page. */
	__u64 doorbell_offset;

	/** @doorbell_size: result, user-mode stream: bytes to map (one page). */
	__u32 doorbell_size;

	/** @doorbell_position: result, user-mode stream: of the 32-bit doorbell in the page. */
	__u32 doorbell_position;

	/** @doorbell_value: result, user-mode stream: what to store there. */
	__u32 doorbell_value;

	/** @pad: 0. */
	__u32 pad;
};
SIMPLER_ACCEL_ASSERT(sizeof(struct drm_simpler_stream_create) == 64, "STREAM_CREATE");

/**
 * struct drm_simpler_stream_destroy - STREAM_DESTROY: end a stream
 *
 * Commands that have not run are dropped, their fences complete with -ECANCELED.
 * Mappings of the ring stay readable.  Works on a wedged device and for a banned
 * context.  Errors: -EINVAL pad, -ENOENT stream.
 */
struct drm_simpler_stream_destroy {
	/** @stream: from STREAM_CREATE. */
	__u32 stream;

	/** @pad: 0. */
	__u32 pad;
};
SIMPLER_ACCEL_ASSERT(sizeof(struct drm_simpler_stream_destroy) == 8, "STREAM_DESTROY");

/**
 * struct drm_simpler_stream_state - STREAM_STATE: how far a stream is, what went wrong
 *
 * Works on a wedged device and for a banned context.  Errors: -ENOENT stream.
 */
struct drm_simpler_stream_state {
	/** @stream: from STREAM_CREATE. */
	__u32 stream;

	/** @context_state: result, DRM_SIMPLER_CONTEXT_*. */
	__u32 context_state;

	/** @submitted: result, sequence number of the last command of a SUBMIT; user-mode: 0. */
	__u64 submitted;

	/** @completed: result, commands completed. */
	__u64 completed;

	/** @error_seqno: result, first command that failed; 0 none. */
	__u64 error_seqno;

	/** @error: result, why it failed (struct simpler_hw_ring); 0 none. */
	__s32 error;

	/** @generation: result, of the device now; differs after a reset. */
	__u32 generation;
};
SIMPLER_ACCEL_ASSERT(sizeof(struct drm_simpler_stream_state) == 40, "STREAM_STATE");

/* ---- submission ---------------------------------------------------------------- */

/** @DRM_SIMPLER_SYNC_SIGNAL: the job signals the object; else it waits for it */
#define DRM_SIMPLER_SYNC_SIGNAL		(1u << 0)
/** @DRM_SIMPLER_SYNC_TIMELINE: a point of a timeline syncobj; else a binary one */
#define DRM_SIMPLER_SYNC_TIMELINE	(1u << 1)

/**
 * struct drm_simpler_sync - one synchronisation of a job
 */
struct drm_simpler_sync {
	/** @flags: DRM_SIMPLER_SYNC_* bits. */
	__u32 flags;

	/** @handle: of a DRM syncobj. */
	__u32 handle;

	/** @point: of a timeline, not 0; 0 for a binary syncobj. */
	__u64 point;
};
SIMPLER_ACCEL_ASSERT(sizeof(struct drm_simpler_sync) == 16, "sync");

/**
 * struct drm_simpler_submit - SUBMIT: commands of a kernel-mode stream, as one job
 *
 * The job starts when everything it waits for has been signalled and earlier jobs
 * of the stream have started.  Its fences complete when its last command has, or
 * with an error: -EIO the context was banned or the device reset, -ECANCELED the
 * stream ended, -ETIME the job ran too long, else why its first failed command
 * failed.  A job is executed at most once: a call that fails has submitted nothing;
 * after -EAGAIN it may be repeated.
 *
 * Errors: -EINVAL pad, flags, count 0 or too large, opcode, a command's reserved
 * members, -ENOENT stream or syncobj, -EPERM a user-mode stream, -E2BIG unknown tail
 * of an array element, -EFAULT, -ENOMEM.
 */
struct drm_simpler_submit {
	/** @stream: from STREAM_CREATE. */
	__u32 stream;

	/** @flags: 0. */
	__u32 flags;

	/** @commands: struct simpler_hw_cmd[]; at most the entries of the ring. */
	struct drm_simpler_array commands;

	/** @syncs: struct drm_simpler_sync[]. */
	struct drm_simpler_array syncs;

	/** @seqno: result, sequence number of the job's last command. */
	__u64 seqno;

	/** @generation: result, of the device. */
	__u32 generation;

	/** @pad: 0. */
	__u32 pad;
};
SIMPLER_ACCEL_ASSERT(sizeof(struct drm_simpler_submit) == 56, "SUBMIT");

/**
 * struct drm_simpler_wait_seqno - WAIT_SEQNO: until a stream completed a command
 *
 * For streams of both kinds.  A command that failed has completed as well: whether one
 * did, and why, is in STREAM_STATE.  A signal ends the wait with -EINTR or restarts it
 * (SA_RESTART).  Errors: -EINVAL flags, -ENOENT stream, -ETIME the deadline passed,
 * -EIO the context was banned or lost before the command completed, -ECANCELED the
 * stream was destroyed before.
 */
struct drm_simpler_wait_seqno {
	/** @stream: from STREAM_CREATE. */
	__u32 stream;

	/** @flags: 0. */
	__u32 flags;

	/** @seqno: commands to be completed. */
	__u64 seqno;

	/** @deadline_ns: CLOCK_MONOTONIC; in the past: do not wait. */
	__s64 deadline_ns;

	/** @completed: result, commands completed; written on success only. */
	__u64 completed;
};
SIMPLER_ACCEL_ASSERT(sizeof(struct drm_simpler_wait_seqno) == 32, "WAIT_SEQNO");

#define DRM_SIMPLER_IOCTL(dir, name, type) \
	DRM_##dir(DRM_COMMAND_BASE + DRM_SIMPLER_##name, struct drm_simpler_##type)

#define DRM_IOCTL_SIMPLER_DEV_QUERY	 DRM_SIMPLER_IOCTL(IOWR, DEV_QUERY, dev_query)
#define DRM_IOCTL_SIMPLER_BO_CREATE	 DRM_SIMPLER_IOCTL(IOWR, BO_CREATE, bo_create)
#define DRM_IOCTL_SIMPLER_BO_MMAP_OFFSET DRM_SIMPLER_IOCTL(IOWR, BO_MMAP_OFFSET, bo_mmap_offset)
#define DRM_IOCTL_SIMPLER_BO_INFO	 DRM_SIMPLER_IOCTL(IOWR, BO_INFO, bo_info)
#define DRM_IOCTL_SIMPLER_HOST_MAP	 DRM_SIMPLER_IOCTL(IOWR, HOST_MAP, host_map)
#define DRM_IOCTL_SIMPLER_HOST_UNMAP	 DRM_SIMPLER_IOCTL(IOW, HOST_UNMAP, host_unmap)
#define DRM_IOCTL_SIMPLER_STREAM_CREATE	 DRM_SIMPLER_IOCTL(IOWR, STREAM_CREATE, stream_create)
#define DRM_IOCTL_SIMPLER_STREAM_DESTROY DRM_SIMPLER_IOCTL(IOW, STREAM_DESTROY, stream_destroy)
#define DRM_IOCTL_SIMPLER_STREAM_STATE	 DRM_SIMPLER_IOCTL(IOWR, STREAM_STATE, stream_state)
#define DRM_IOCTL_SIMPLER_SUBMIT	 DRM_SIMPLER_IOCTL(IOWR, SUBMIT, submit)
#define DRM_IOCTL_SIMPLER_WAIT_SEQNO	 DRM_SIMPLER_IOCTL(IOWR, WAIT_SEQNO, wait_seqno)

#ifdef __cplusplus
}
#endif

#endif /* _UAPI_SIMPLER_ACCEL_H_ */
