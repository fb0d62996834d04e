// SPDX-License-Identifier: GPL-2.0-only
/* Attributes of the PCI function; Documentation/ABI/sysfs-driver-simpler describes them. */
#include <linux/sysfs.h>

#include "simpler_drv.h"

static struct simpler_device *of(struct device *dev)
{
	return dev_get_drvdata(dev);
}

#define SIMPLER_ATTR(name, format, value)						\
static ssize_t name##_show(struct device *dev, struct device_attribute *attr, char *buf) \
{											\
	struct simpler_device *sdev = of(dev);						\
											\
	return sysfs_emit(buf, format "\n", value);					\
}											\
static DEVICE_ATTR_RO(name)

static const char *arch_name(u32 arch)
{
	switch (arch) {
	case SIMPLER_HW_ARCH_A2A3: return "a2a3";
	case SIMPLER_HW_ARCH_A5: return "a5";
	default: return "unknown";
	}
}

static const char *health_name(struct simpler_device *sdev)
{
	if (READ_ONCE(sdev->wedged))
		return "wedged";
	switch (READ_ONCE(sdev->health)) {
	case SIMPLER_HW_HEALTH_OK: return "ok";
	case SIMPLER_HW_HEALTH_DEGRADED: return "degraded";
	default: return "dead";
	}
}

static u32 reg32(struct simpler_device *sdev, const u32 *reg)
{
	u32 value = 0;
	int idx;

	if (drm_dev_enter(&sdev->drm, &idx)) {
		value = READ_ONCE(*reg);
		drm_dev_exit(idx);
	}
	return value;
}

static u32 context_count(struct simpler_device *sdev)
{
	struct simpler_ctx *ctx;
	u32 count = 0;

	mutex_lock(&sdev->contexts_lock);
	list_for_each_entry(ctx, &sdev->contexts, link)
		count++;
	mutex_unlock(&sdev->contexts_lock);
	return count;
}

static u32 stream_count(struct simpler_device *sdev)
{
	unsigned long id;
	u32 count = 0;
	void *stream;

	xa_for_each(&sdev->stream_ids, id, stream)
		count++;
	return count;
}

SIMPLER_ATTR(arch, "%s", arch_name(sdev->arch));
SIMPLER_ATTR(clusters, "%u", sdev->cluster_count);
SIMPLER_ATTR(health, "%s", health_name(sdev));
SIMPLER_ATTR(generation, "%u", reg32(sdev, &sdev->regs->generation));
SIMPLER_ATTR(resets, "%u", READ_ONCE(sdev->resets));
SIMPLER_ATTR(memory_total, "%llu", sdev->memory_bytes);
SIMPLER_ATTR(memory_used, "%llu", READ_ONCE(sdev->mem.used));
SIMPLER_ATTR(files, "%u", atomic_read(&sdev->open_count));
SIMPLER_ATTR(contexts, "%u", context_count(sdev));
SIMPLER_ATTR(streams, "%u", stream_count(sdev));
SIMPLER_ATTR(temperature, "%u", reg32(sdev, &sdev->regs->temperature_mc));
SIMPLER_ATTR(power, "%u", reg32(sdev, &sdev->regs->power_mw));
SIMPLER_ATTR(ecc_corrected, "%llu", simpler_counter_read(sdev, SIMPLER_COUNTER_ECC_CORRECTED));
SIMPLER_ATTR(ecc_uncorrected, "%llu", simpler_counter_read(sdev, SIMPLER_COUNTER_ECC_UNCORRECTED));

static ssize_t hw_version_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	u32 version = of(dev)->hw_version;

	return sysfs_emit(buf, "%u.%u\n", version >> 16, version & 0xffff);
}
static DEVICE_ATTR_RO(hw_version);

static ssize_t reset_device_store(struct device *dev, struct device_attribute *attr,
				  const char *buf, size_t count)
{
	struct simpler_device *sdev = of(dev);
	bool yes;
	int ret = kstrtobool(buf, &yes);

	if (ret || !yes)
		return -EINVAL;
	ret = simpler_check_usable(sdev);
	if (ret)
		return ret;
	simpler_reset_wait(sdev, "asked for through sysfs");
	return READ_ONCE(sdev->wedged) ? -EIO : count;
}
static DEVICE_ATTR_WO(reset_device);

static struct attribute *attributes[] = {
	&dev_attr_arch.attr,
	&dev_attr_hw_version.attr,
	&dev_attr_clusters.attr,
	&dev_attr_health.attr,
	&dev_attr_generation.attr,
	&dev_attr_resets.attr,
	&dev_attr_memory_total.attr,
	&dev_attr_memory_used.attr,
	&dev_attr_files.attr,
	&dev_attr_contexts.attr,
	&dev_attr_streams.attr,
	&dev_attr_temperature.attr,
	&dev_attr_power.attr,
	&dev_attr_ecc_corrected.attr,
	&dev_attr_ecc_uncorrected.attr,
	&dev_attr_reset_device.attr,
	NULL
};

static const struct attribute_group group = {
	.name = "simpler",
	.attrs = attributes,
};

const struct attribute_group *simpler_sysfs_groups[] = { &group, NULL };
