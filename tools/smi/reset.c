// SPDX-License-Identifier: MIT
/* simpler-smi reset DEVICE */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "smi.h"

static int write_one(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), rc = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, "1\n", 2) != 2)
		rc = -errno;
	close(fd);
	return rc;
}

static int report(const struct smi_device *device, int rc)
{
	if (!rc) {
		printf("accel%u (%s): reset\n", device->number, device->address);
		return SMI_OK;
	}
	fprintf(stderr, "simpler-smi: accel%u (%s): reset: %s\n", device->number, device->address,
		strerror(-rc));
	if (rc == -EIO)
		fputs("simpler-smi: the chip is wedged; bind its driver anew, or power it off\n",
		      stderr);
	return rc == -EACCES || rc == -EPERM ? SMI_DENIED : SMI_FAILED;
}

int smi_reset(const struct smi_options *o, int argc, char **args)
{
	struct smi_snapshot snapshot = { 0 };
	const struct smi_device *device;
	char path[PATH_MAX];
	int rc;

	if (argc != 1) {
		fputs("simpler-smi: reset takes a chip: a number, accelN or its address\n", stderr);
		return SMI_USAGE;
	}
	rc = smi_devices_read(&snapshot, o->root);
	device = rc ? NULL : smi_device_find(&snapshot, args[0]);
	if (!device) {
		fprintf(stderr, "simpler-smi: no chip \"%s\"; simpler-smi list shows them all\n",
			args[0]);
		smi_snapshot_drop(&snapshot);
		return SMI_NO_DEVICE;
	}
	snprintf(path, sizeof(path), "%s/sys/class/accel/accel%u/device/simpler/reset_device",
		 o->root, device->number);
	rc = report(device, write_one(path));
	smi_snapshot_drop(&snapshot);
	return rc;
}
