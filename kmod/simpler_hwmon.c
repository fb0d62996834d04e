// SPDX-License-Identifier: GPL-2.0-only
#include <linux/hwmon.h>

#include "simpler_drv.h"

static umode_t is_visible(const void *data, enum hwmon_sensor_types type, u32 attr, int channel)
{
	return 0444;
}

static int read(struct device *dev, enum hwmon_sensor_types type, u32 attr, int channel,
		long *value)
{
	struct simpler_device *sdev = dev_get_drvdata(dev);
	int idx;

	if (!drm_dev_enter(&sdev->drm, &idx))
		return -ENODEV;
	if (type == hwmon_temp)
		*value = simpler_read(sdev->regs->temperature_mc);
	else
		*value = simpler_read(sdev->regs->power_mw) * 1000l;	/* microwatts */
	drm_dev_exit(idx);
	return 0;
}

static const struct hwmon_ops ops = {
	.is_visible = is_visible,
	.read = read,
};

static const struct hwmon_channel_info * const channels[] = {
	HWMON_CHANNEL_INFO(temp, HWMON_T_INPUT),
	HWMON_CHANNEL_INFO(power, HWMON_P_INPUT),
	NULL
};

static const struct hwmon_chip_info chip = {
	.ops = &ops,
	.info = channels,
};

int simpler_hwmon_register(struct simpler_device *sdev)
{
	struct device *dev;

	if (!IS_REACHABLE(CONFIG_HWMON))
		return 0;
	dev = devm_hwmon_device_register_with_info(sdev->drm.dev, "simpler", sdev, &chip, NULL);
	return PTR_ERR_OR_ZERO(dev);
}
