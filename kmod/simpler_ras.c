// SPDX-License-Identifier: GPL-2.0-only
/* Error counters: some are the device's, most are the driver's. */
#include "simpler_drv.h"

static const char * const names[SIMPLER_COUNTERS] = {
	[SIMPLER_COUNTER_FAULTS] = "faults",
	[SIMPLER_COUNTER_FAULTS_DROPPED] = "faults-dropped",
	[SIMPLER_COUNTER_TIMEOUTS] = "timeouts",
	[SIMPLER_COUNTER_BANS] = "bans",
	[SIMPLER_COUNTER_RESETS] = "resets",
	[SIMPLER_COUNTER_RESETS_FAILED] = "resets-failed",
	[SIMPLER_COUNTER_LOST_IRQS] = "late-completions",
	[SIMPLER_COUNTER_ECC_CORRECTED] = "ecc-corrected",
	[SIMPLER_COUNTER_ECC_UNCORRECTED] = "ecc-uncorrected",
};

const char *simpler_counter_name(enum simpler_counter counter)
{
	return names[counter];
}

static bool is_hardware(enum simpler_counter counter)
{
	return counter == SIMPLER_COUNTER_ECC_CORRECTED ||
	       counter == SIMPLER_COUNTER_ECC_UNCORRECTED ||
	       counter == SIMPLER_COUNTER_FAULTS_DROPPED;
}

/* The device's own count, which the driver cannot clear; 0 when the device is gone. */
static u64 hardware_count(struct simpler_device *sdev, enum simpler_counter counter)
{
	struct simpler_hw_regs *regs = sdev->regs;
	u64 value;
	int idx;

	if (!drm_dev_enter(&sdev->drm, &idx))
		return 0;
	if (counter == SIMPLER_COUNTER_ECC_CORRECTED)
		value = simpler_read(regs->ecc_corrected);
	else if (counter == SIMPLER_COUNTER_ECC_UNCORRECTED)
		value = simpler_read(regs->ecc_uncorrected);
	else
		value = simpler_read(regs->fault_dropped);
	drm_dev_exit(idx);
	return value;
}

u64 simpler_counter_read(struct simpler_device *sdev, enum simpler_counter counter)
{
	u64 count, base;

	if (!is_hardware(counter))
		return atomic64_read(&sdev->counters[counter]);
	count = hardware_count(sdev, counter);
	base = READ_ONCE(sdev->counter_base[counter]);
	/* A reset may set the device's counts back. */
	return count >= base ? count - base : count;
}

void simpler_counter_clear(struct simpler_device *sdev, enum simpler_counter counter)
{
	if (is_hardware(counter))
		WRITE_ONCE(sdev->counter_base[counter], hardware_count(sdev, counter));
	else
		atomic64_set(&sdev->counters[counter], 0);
}
