// SPDX-License-Identifier: GPL-2.0-only
/* The module, the DRM driver, and the life of a device. */
#include <linux/module.h>

#include <drm/drm_accel.h>
#include <drm/drm_gem.h>
#include <drm/drm_ioctl.h>

#include "simpler_bo.h"
#include "simpler_drv.h"
#include "simpler_notify.h"
#include "simpler_stream.h"

unsigned int simpler_job_timeout_ms = 10000;
module_param_named(job_timeout_ms, simpler_job_timeout_ms, uint, 0644);
MODULE_PARM_DESC(job_timeout_ms, "a job of SUBMIT may run this long, unless its stream says else");

unsigned int simpler_admin_timeout_ms = 5000;
module_param_named(admin_timeout_ms, simpler_admin_timeout_ms, uint, 0644);
MODULE_PARM_DESC(admin_timeout_ms, "a device that does not answer the driver for so long is reset");

unsigned int simpler_heartbeat_timeout_ms = 5000;
module_param_named(heartbeat_timeout_ms, simpler_heartbeat_timeout_ms, uint, 0644);
MODULE_PARM_DESC(heartbeat_timeout_ms, "a device whose heart stands still for so long is reset");

unsigned int simpler_max_file_streams = 64;
module_param_named(max_file_streams, simpler_max_file_streams, uint, 0644);
MODULE_PARM_DESC(max_file_streams, "streams that one open file may have");

unsigned int simpler_file_memory_percent = 100;
module_param_named(file_memory_percent, simpler_file_memory_percent, uint, 0644);
MODULE_PARM_DESC(file_memory_percent, "share of device memory that one open file may use");

bool simpler_user_streams = true;
module_param_named(user_streams, simpler_user_streams, bool, 0644);
MODULE_PARM_DESC(user_streams, "allow rings and doorbells in user space");

LIST_HEAD(simpler_devices);
DEFINE_MUTEX(simpler_devices_lock);	/* protects simpler_devices */

int simpler_check_usable(struct simpler_device *sdev)
{
	if (READ_ONCE(sdev->gone))
		return -ENODEV;
	return READ_ONCE(sdev->wedged) ? -EIO : 0;
}

static int simpler_release(struct inode *inode, struct file *filp)
{
	struct drm_file *file = filp->private_data;

	simpler_ctx_stop(to_simpler_ctx(file));
	return drm_release(inode, filp);
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.open = accel_open,
	.release = simpler_release,
	.unlocked_ioctl = drm_ioctl,
	.compat_ioctl = drm_compat_ioctl,
	.poll = drm_poll,
	.read = drm_read,
	.llseek = noop_llseek,
	.mmap = simpler_mmap,
	.show_fdinfo = drm_show_fdinfo,
	.fop_flags = FOP_UNSIGNED_OFFSET,
};

#define SIMPLER_IOCTL(name, function) \
	DRM_IOCTL_DEF_DRV(SIMPLER_##name, simpler_ioctl_##function, 0)

static const struct drm_ioctl_desc ioctls[] = {
	SIMPLER_IOCTL(DEV_QUERY, dev_query),
	SIMPLER_IOCTL(BO_CREATE, bo_create),
	SIMPLER_IOCTL(BO_MMAP_OFFSET, bo_mmap_offset),
	SIMPLER_IOCTL(BO_INFO, bo_info),
	SIMPLER_IOCTL(HOST_MAP, host_map),
	SIMPLER_IOCTL(HOST_UNMAP, host_unmap),
	SIMPLER_IOCTL(STREAM_CREATE, stream_create),
	SIMPLER_IOCTL(STREAM_DESTROY, stream_destroy),
	SIMPLER_IOCTL(STREAM_STATE, stream_state),
	SIMPLER_IOCTL(SUBMIT, submit),
	SIMPLER_IOCTL(WAIT_SEQNO, wait_seqno),
};

static const struct drm_driver driver = {
	.driver_features = DRIVER_COMPUTE_ACCEL | DRIVER_GEM | DRIVER_SYNCOBJ |
			   DRIVER_SYNCOBJ_TIMELINE,
	.open = simpler_ctx_open,
	.postclose = simpler_ctx_close,
	.gem_create_object = simpler_gem_create_object,
	.gem_prime_import_sg_table = drm_gem_shmem_prime_import_sg_table,
	.show_fdinfo = simpler_show_fdinfo,
	.ioctls = ioctls,
	.num_ioctls = ARRAY_SIZE(ioctls),
	.fops = &fops,
	.name = SIMPLER_ACCEL_DRIVER_NAME,
	.desc = "simpler NPU",
	.major = SIMPLER_ACCEL_VERSION_MAJOR,
	.minor = SIMPLER_ACCEL_VERSION_MINOR,
};

static void device_fini(struct drm_device *drm, void *arg)
{
	struct simpler_device *sdev = arg;

	destroy_workqueue(sdev->wq);
	destroy_workqueue(sdev->submit_wq);
	xa_destroy(&sdev->context_ids);
	xa_destroy(&sdev->stream_ids);
	mutex_destroy(&sdev->contexts_lock);
}

static int create_workqueues(struct simpler_device *sdev)
{
	sdev->wq = alloc_ordered_workqueue("simpler-%s", WQ_MEM_RECLAIM | WQ_FREEZABLE,
					   sdev->name);
	if (!sdev->wq)
		return -ENOMEM;
	sdev->submit_wq = alloc_workqueue("simpler-submit-%s", WQ_MEM_RECLAIM | WQ_UNBOUND, 0,
					  sdev->name);
	if (!sdev->submit_wq) {
		destroy_workqueue(sdev->wq);
		return -ENOMEM;
	}
	return 0;
}

static int device_init(struct simpler_device *sdev, const struct simpler_resources *res)
{
	int ret;

	sdev->res = *res;
	strscpy(sdev->name, res->name, sizeof(sdev->name));
	INIT_LIST_HEAD(&sdev->link);
	INIT_LIST_HEAD(&sdev->contexts);
	mutex_init(&sdev->contexts_lock);
	xa_init_flags(&sdev->context_ids, XA_FLAGS_ALLOC);
	xa_init_flags(&sdev->stream_ids, XA_FLAGS_ALLOC);
	INIT_WORK(&sdev->event_work, simpler_event_work);
	INIT_WORK(&sdev->reset_work, simpler_reset_work);
	INIT_WORK(&sdev->dump_work, simpler_coredump_work);
	INIT_DELAYED_WORK(&sdev->watchdog, simpler_watchdog_work);
	ret = create_workqueues(sdev);
	if (ret)
		return ret;
	return drmm_add_action_or_reset(&sdev->drm, device_fini, sdev);
}

/* Whatever another driver, or this one before an unbinding or a crash, left there ends. */
static int start_fresh(struct simpler_device *sdev)
{
	int ret = simpler_hw_reset(sdev);

	return ret ? ret : simpler_hw_start(sdev);
}

static void publish(struct simpler_device *sdev)
{
	mutex_lock(&simpler_devices_lock);
	list_add_tail(&sdev->link, &simpler_devices);
	mutex_unlock(&simpler_devices_lock);
	simpler_netlink_hotplug(sdev, true);
}

static void unpublish(struct simpler_device *sdev)
{
	mutex_lock(&simpler_devices_lock);
	list_del_init(&sdev->link);
	mutex_unlock(&simpler_devices_lock);
	simpler_netlink_hotplug(sdev, false);
}

static void stop_works(struct simpler_device *sdev)
{
	simpler_watchdog_stop(sdev);
	cancel_work_sync(&sdev->event_work);
	cancel_work_sync(&sdev->reset_work);
}

struct simpler_device *simpler_device_create(struct device *dev,
					     const struct simpler_resources *res)
{
	struct simpler_device *sdev;
	int ret;

	sdev = devm_drm_dev_alloc(dev, &driver, struct simpler_device, drm);
	if (IS_ERR(sdev))
		return sdev;
	ret = device_init(sdev, res);
	if (!ret)
		ret = simpler_hw_init(sdev);
	if (!ret)
		ret = start_fresh(sdev);
	if (ret)
		return ERR_PTR(ret);
	simpler_debugfs_init(sdev);
	simpler_watchdog_start(sdev);
	ret = drm_dev_register(&sdev->drm, 0);
	if (ret)
		goto stop;
	ret = simpler_hwmon_register(sdev);
	if (ret)
		drm_info(&sdev->drm, "no hwmon device: %d\n", ret);
	publish(sdev);
	return sdev;

stop:
	stop_works(sdev);
	simpler_coredump_fini(sdev);
	simpler_hw_stop(sdev);
	return ERR_PTR(ret);
}

/* Nothing more comes from the device: end what waits for it. */
static void abandon_contexts(struct simpler_device *sdev)
{
	struct simpler_ctx *ctx;

	mutex_lock(&sdev->contexts_lock);
	simpler_ctx_lose_all(sdev);
	list_for_each_entry(ctx, &sdev->contexts, link)
		simpler_ctx_end_fences(ctx, -ENODEV);
	mutex_unlock(&sdev->contexts_lock);
}

static void stop_hardware(struct simpler_device *sdev)
{
	/* What is gone reads as all ones. */
	if (simpler_read(sdev->regs->magic) == SIMPLER_HW_MAGIC)
		simpler_hw_stop(sdev);
}

void simpler_device_destroy(struct simpler_device *sdev)
{
	unpublish(sdev);
	/* Those who wait for the device inside a drm_dev_enter() section give up. */
	WRITE_ONCE(sdev->gone, true);
	wake_up(&sdev->admin.wait);
	drm_dev_unplug(&sdev->drm);
	stop_works(sdev);
	abandon_contexts(sdev);
	/* no context is banned any more */
	simpler_coredump_fini(sdev);
	stop_hardware(sdev);
}

int simpler_device_suspend(struct simpler_device *sdev)
{
	const struct simpler_hw_admin command = { .opcode = SIMPLER_HW_ADMIN_SUSPEND };
	int ret;

	simpler_watchdog_stop(sdev);
	/* nothing runs on it, and it answers nothing */
	if (READ_ONCE(sdev->wedged))
		return 0;
	ret = simpler_admin_exec(sdev, NULL, &command);
	if (ret)
		simpler_watchdog_start(sdev);
	return ret ? -EIO : 0;
}

void simpler_device_resume(struct simpler_device *sdev)
{
	const struct simpler_hw_admin command = { .opcode = SIMPLER_HW_ADMIN_RESUME };

	if (!(simpler_read(sdev->regs->status) & SIMPLER_HW_STATUS_ENABLED) ||
	    simpler_admin_exec(sdev, NULL, &command))
		/* not awaited: sdev->wq is still frozen */
		simpler_reset_request(sdev, "it lost its state during suspend");
	simpler_watchdog_start(sdev);
}

static int __init simpler_init(void)
{
	int ret;

	ret = simpler_netlink_init();
	if (ret)
		return ret;
	ret = simpler_pci_register();
	if (ret)
		simpler_netlink_fini();
	return ret;
}

static void __exit simpler_exit(void)
{
	simpler_pci_unregister();
	simpler_netlink_fini();
}

module_init(simpler_init);
module_exit(simpler_exit);

MODULE_DESCRIPTION("simpler NPU driver");
MODULE_LICENSE("GPL");
