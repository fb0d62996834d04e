/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The driver's objects.
 *
 *   simpler_device	one chip, one accel node
 *   simpler_ctx	one open file: address space, streams, a context of the device
 *   simpler_stream	a ring of commands, fed by SUBMIT or by user space
 *   simpler_job	one SUBMIT, owned by drm_sched until it is freed
 *
 * Lock order: ctx->lock, sdev->contexts_lock, admin.lock, mem.lock; stream->lock is a
 * spinlock for interrupts and innermost but for vector->lock, which is outside it.
 * mmap_lock is inside ctx->lock and stream->submit_lock: a page fault takes no lock of
 * the driver.
 * sdev->wq is ordered: faults, timeouts and resets run one after the other.  It is
 * part of completing fences, so nothing on it, nor anybody holding contexts_lock or
 * admin.lock, allocates memory that may wait for reclaim.
 */
#ifndef SIMPLER_DRV_H
#define SIMPLER_DRV_H

#include <linux/completion.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <drm/drm_device.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "simpler_accel.h"
#include "simpler_admin.h"
#include "simpler_hw_access.h"
#include "simpler_mem.h"
#include "simpler_vm.h"

#define SIMPLER_FAULT_RING_ENTRIES	256u
#define SIMPLER_MAX_VECTORS		256u
#define SIMPLER_NO_ID			(~0u)

/* Streams whose completions arrive on one interrupt vector. */
struct simpler_vector {
	spinlock_t lock;		/* protects @streams */
	struct list_head streams;
};

/* Errors of one kind, counted by the driver since it was bound or cleared. */
enum simpler_counter {
	SIMPLER_COUNTER_FAULTS,
	SIMPLER_COUNTER_FAULTS_DROPPED,
	SIMPLER_COUNTER_TIMEOUTS,
	SIMPLER_COUNTER_BANS,
	SIMPLER_COUNTER_RESETS,
	SIMPLER_COUNTER_RESETS_FAILED,
	SIMPLER_COUNTER_LOST_IRQS,
	SIMPLER_COUNTER_ECC_CORRECTED,
	SIMPLER_COUNTER_ECC_UNCORRECTED,
	SIMPLER_COUNTERS,
};

struct simpler_dump;

struct simpler_device {
	struct drm_device drm;
	struct simpler_resources res;
	struct simpler_hw_regs *regs;
	struct list_head link;			/* simpler_devices */
	char name[32];

	/* constant after simpler_hw_init() */
	u64 memory_base;
	u64 memory_bytes;
	u64 features;
	u32 arch;
	u32 hw_version;
	u32 cluster_count;
	u32 counter_hz;
	u32 max_contexts;
	u32 max_streams;
	u32 doorbell_offset;
	u32 doorbell_base;
	u32 doorbell_vectors;
	u32 irq_vectors;
	struct simpler_vector *vectors;

	struct simpler_mem mem;
	struct simpler_admin admin;
	struct simpler_extent fault_extent;
	struct simpler_hw_fault *faults;
	u32 fault_consumer;

	struct mutex contexts_lock;		/* protects @contexts, changes of states */
	struct list_head contexts;		/* with a context on the device */
	struct xarray context_ids;		/* by number on the device */
	struct xarray stream_ids;
	atomic_t open_count;

	struct workqueue_struct *wq;		/* ordered: faults, timeouts, resets */
	struct workqueue_struct *submit_wq;	/* of the schedulers and the watchdog */
	struct work_struct event_work;
	struct work_struct reset_work;
	struct delayed_work watchdog;
	const char *reset_reason;
	u32 health_events;
	u32 health;
	u64 heartbeat;
	unsigned long heartbeat_seen;		/* jiffies */
	bool watchdog_on;			/* stopped during suspend and removal */
	bool resetting;
	bool wedged;
	bool gone;				/* removal has begun */
	u32 resets;
	atomic64_t counters[SIMPLER_COUNTERS];
	u64 counter_base[SIMPLER_COUNTERS];	/* the device's own counts at the last clear */
	struct simpler_dump *dump;		/* waits for dump_work */
	struct work_struct dump_work;
};

static inline struct simpler_device *to_simpler_device(struct drm_device *drm)
{
	return container_of(drm, struct simpler_device, drm);
}

/*
 * Device memory that one file has asked for: it counts until it is free, also when a
 * user mapping or another file keeps it after the handle, or the file, is closed.
 */
struct simpler_account {
	struct kref ref;
	atomic64_t bytes;
};

struct simpler_ctx {
	struct simpler_device *sdev;
	struct drm_file *file;
	pid_t pid;
	struct mutex lock;		/* protects @vm, creation of the context and of streams */
	struct simpler_vm vm;
	struct list_head link;		/* sdev->contexts */
	struct xarray streams;		/* of simpler_stream, by number in the file */
	atomic_t stream_count;
	u32 id;				/* on the device; SIMPLER_NO_ID: none yet */
	u32 state;			/* DRM_SIMPLER_CONTEXT_* */
	u32 generation;
	u32 faults;
	struct drm_simpler_fault fault;
	bool closing;
	bool may_ring;			/* has had a user-mode stream */
	struct page *dummy;		/* what a doorbell mapping shows once the device is gone */
	struct simpler_account *account;	/* counts against the quota */
	atomic64_t pinned_bytes;
	atomic64_t busy_ns;
};

/* simpler_drv.c */
extern struct list_head simpler_devices;
extern struct mutex simpler_devices_lock;
extern unsigned int simpler_job_timeout_ms;
extern unsigned int simpler_admin_timeout_ms;
extern unsigned int simpler_heartbeat_timeout_ms;
extern unsigned int simpler_max_file_streams;
extern unsigned int simpler_file_memory_percent;
extern bool simpler_user_streams;

/** simpler_check_usable - 0, or -EIO for a wedged device, -ENODEV for one that goes */
int simpler_check_usable(struct simpler_device *sdev);

/* simpler_query.c */
int simpler_ioctl_dev_query(struct drm_device *drm, void *data, struct drm_file *file);
u32 simpler_priority_mask(void);
u64 simpler_file_quota(struct simpler_device *sdev);
/** simpler_user_streams_possible - on this machine, with this device, and wanted */
bool simpler_user_streams_possible(struct simpler_device *sdev);

/* simpler_hw.c */
int simpler_hw_init(struct simpler_device *sdev);
int simpler_hw_start(struct simpler_device *sdev);
void simpler_hw_stop(struct simpler_device *sdev);
int simpler_hw_reset(struct simpler_device *sdev);
void simpler_doorbell(struct simpler_device *sdev, u32 vector);
static inline u32 simpler_stream_doorbell(struct simpler_device *sdev, u32 hw_stream)
{
	return 1 + hw_stream % (sdev->doorbell_vectors - 1);
}

/** simpler_poll_all - look at everything as if all interrupts had arrived; true: one was lost */
bool simpler_poll_all(struct simpler_device *sdev);

/* simpler_event.c: faults and changes of health */
void simpler_event_work(struct work_struct *work);

/* simpler_watchdog.c */
void simpler_watchdog_work(struct work_struct *work);
void simpler_watchdog_start(struct simpler_device *sdev);
void simpler_watchdog_stop(struct simpler_device *sdev);

/* simpler_reset.c */
void simpler_reset_work(struct work_struct *work);
/** simpler_reset_request - start a reset unless one is running. Any context. */
void simpler_reset_request(struct simpler_device *sdev, const char *reason);
/** simpler_reset_wait - request one and wait until it ended. Not from sdev->wq. */
void simpler_reset_wait(struct simpler_device *sdev, const char *reason);

/* simpler_ctx.c */
int simpler_ctx_open(struct drm_device *drm, struct drm_file *file);
void simpler_ctx_stop(struct simpler_ctx *ctx);
void simpler_ctx_close(struct drm_device *drm, struct drm_file *file);
int simpler_ctx_ready(struct simpler_ctx *ctx);
int simpler_ctx_error(struct simpler_ctx *ctx);
void simpler_ctx_ban(struct simpler_ctx *ctx, const struct drm_simpler_fault *fault);
void simpler_ctx_lose_all(struct simpler_device *sdev);
void simpler_ctx_end_fences(struct simpler_ctx *ctx, int error);
/** simpler_account_charge - take a reference and count @bytes, or -EDQUOT */
int simpler_account_charge(struct simpler_device *sdev, struct simpler_account *account,
			   u64 bytes);
void simpler_account_uncharge(struct simpler_account *account, u64 bytes);

static inline u64 simpler_ctx_bytes(struct simpler_ctx *ctx)
{
	return atomic64_read(&ctx->account->bytes);
}

/** simpler_ctx_sync - the device uses no mapping of the range any more that was removed */
void simpler_ctx_sync(struct simpler_ctx *ctx, u64 addr, u64 bytes);
/** simpler_ctx_announce - the device knows mappings that were added. 0 or -EIO */
int simpler_ctx_announce(struct simpler_ctx *ctx, u64 addr, u64 bytes);

static inline struct simpler_ctx *to_simpler_ctx(struct drm_file *file)
{
	return file->driver_priv;
}

/* simpler_pin.c */
int simpler_ioctl_host_map(struct drm_device *drm, void *data, struct drm_file *file);
int simpler_ioctl_host_unmap(struct drm_device *drm, void *data, struct drm_file *file);
void simpler_pin_release(struct simpler_ctx *ctx, struct simpler_mapping *mapping);

/* simpler_submit.c */
int simpler_ioctl_submit(struct drm_device *drm, void *data, struct drm_file *file);

/* simpler_sysfs.c */
extern const struct attribute_group *simpler_sysfs_groups[];

/* simpler_hwmon.c */
int simpler_hwmon_register(struct simpler_device *sdev);

/* simpler_debugfs.c; the DRM core of 6.12 does not call debugfs_init() for accel nodes */
#ifdef CONFIG_DEBUG_FS
void simpler_debugfs_init(struct simpler_device *sdev);
#else
static inline void simpler_debugfs_init(struct simpler_device *sdev)
{
}
#endif

/* simpler_fdinfo.c */
void simpler_show_fdinfo(struct drm_printer *p, struct drm_file *file);

/* simpler_coredump.c */
void simpler_coredump_work(struct work_struct *work);
void simpler_coredump_fini(struct simpler_device *sdev);
/** simpler_coredump - remember a context's last commands for devcoredump. Does not wait */
void simpler_coredump(struct simpler_ctx *ctx, const struct drm_simpler_fault *fault);

/* What cannot be had is not tried: the kernel would complain about lists of so many pages. */
static inline bool simpler_exceeds_ram(u64 bytes)
{
	return bytes >> PAGE_SHIFT > totalram_pages();
}

/* simpler_ras.c */
u64 simpler_counter_read(struct simpler_device *sdev, enum simpler_counter counter);
void simpler_counter_clear(struct simpler_device *sdev, enum simpler_counter counter);
const char *simpler_counter_name(enum simpler_counter counter);
static inline void simpler_counter_add(struct simpler_device *sdev, enum simpler_counter counter)
{
	atomic64_inc(&sdev->counters[counter]);
}

/* simpler_pci.c */
#ifdef CONFIG_PCI
int simpler_pci_register(void);
void simpler_pci_unregister(void);
#else
static inline int simpler_pci_register(void)
{
	return 0;
}

static inline void simpler_pci_unregister(void)
{
}
#endif

#endif /* SIMPLER_DRV_H */
