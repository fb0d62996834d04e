// SPDX-License-Identifier: MIT
/* Chips, from /sys/class/accel and the attributes of the driver. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "smi.h"

struct search {
	struct smi_snapshot *snapshot;
	const char *root;
};

/* Where the attributes of the driver go. */
static const struct {
	const char *name;
	size_t offset;
} numbers[] = {
	{ "clusters", offsetof(struct smi_device, clusters) },
	{ "memory_total", offsetof(struct smi_device, memory_total) },
	{ "memory_used", offsetof(struct smi_device, memory_used) },
	{ "temperature", offsetof(struct smi_device, temperature_mc) },
	{ "power", offsetof(struct smi_device, power_mw) },
	{ "ecc_corrected", offsetof(struct smi_device, ecc_corrected) },
	{ "ecc_uncorrected", offsetof(struct smi_device, ecc_uncorrected) },
	{ "files", offsetof(struct smi_device, files) },
	{ "contexts", offsetof(struct smi_device, contexts) },
	{ "streams", offsetof(struct smi_device, streams) },
	{ "generation", offsetof(struct smi_device, generation) },
	{ "resets", offsetof(struct smi_device, resets) },
};

static const struct {
	const char *name;
	size_t offset;
	size_t size;
} texts[] = {
	{ "arch", offsetof(struct smi_device, arch), sizeof(((struct smi_device *)0)->arch) },
	{ "health", offsetof(struct smi_device, health), sizeof(((struct smi_device *)0)->health) },
	{ "hw_version", offsetof(struct smi_device, hw_version),
	  sizeof(((struct smi_device *)0)->hw_version) },
};

static void read_attributes(struct smi_device *device, const char *root)
{
	char *base = (char *)device;
	uint64_t value;
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		value = smi_read_number("%s/sys/class/accel/accel%u/device/simpler/%s", root,
					device->number, numbers[i].name);
		memcpy(base + numbers[i].offset, &value, sizeof(value));
	}
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (smi_read(base + texts[i].offset, texts[i].size,
			     "%s/sys/class/accel/accel%u/device/simpler/%s", root,
			     device->number, texts[i].name))
			snprintf(base + texts[i].offset, texts[i].size, "?");
}

static bool number_of(const char *name, uint32_t *number)
{
	char *end;
	unsigned long value;

	if (strncmp(name, "accel", 5) || name[5] < '0' || name[5] > '9')
		return false;
	value = strtoul(name + 5, &end, 10);
	*number = (uint32_t)value;
	return !*end && value <= UINT32_MAX;
}

static bool is_ours(const char *root, const char *name)
{
	char driver[32];

	return !smi_link_name(driver, sizeof(driver), "%s/sys/class/accel/%s/device/driver", root,
			      name) && !strcmp(driver, "simpler");
}

static int add_device(const char *name, void *arg)
{
	struct search *search = arg;
	struct smi_snapshot *s = search->snapshot;
	struct smi_device *more, *device;
	uint32_t number;

	if (!number_of(name, &number) || !is_ours(search->root, name))
		return 0;
	more = realloc(s->devices, (s->device_count + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	s->devices = more;
	device = &more[s->device_count++];
	*device = (struct smi_device) { .number = number };
	if (smi_link_name(device->address, sizeof(device->address),
			  "%s/sys/class/accel/%s/device", search->root, name))
		snprintf(device->address, sizeof(device->address), "?");
	read_attributes(device, search->root);
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const struct smi_device *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

int smi_devices_read(struct smi_snapshot *snapshot, const char *root)
{
	struct search search = { snapshot, root };
	char folder[PATH_MAX];
	int rc;

	if ((size_t)snprintf(folder, sizeof(folder), "%s/sys/class/accel", root) >= sizeof(folder))
		return -ENAMETOOLONG;
	rc = smi_each(folder, add_device, &search);
	if (snapshot->device_count)
		qsort(snapshot->devices, snapshot->device_count, sizeof(*snapshot->devices),
		      by_number);
	return rc == -ENOENT ? 0 : rc;	/* no accel class: no driver of the kind is loaded */
}

const struct smi_device *smi_device_find(const struct smi_snapshot *snapshot, const char *name)
{
	char text[32];
	size_t i;

	for (i = 0; i < snapshot->device_count; i++) {
		const struct smi_device *device = &snapshot->devices[i];

		snprintf(text, sizeof(text), "accel%u", device->number);
		if (!strcmp(name, text) || !strcmp(name, text + strlen("accel")) ||
		    !strcmp(name, device->address))
			return device;
	}
	return NULL;
}

int smi_snapshot_take(struct smi_snapshot *snapshot, const char *root)
{
	int rc;

	*snapshot = (struct smi_snapshot) { 0 };
	rc = smi_devices_read(snapshot, root);
	if (!rc)
		rc = smi_processes_read(snapshot, root);
	if (rc)
		smi_snapshot_drop(snapshot);
	return rc;
}

void smi_snapshot_drop(struct smi_snapshot *snapshot)
{
	free(snapshot->devices);
	free(snapshot->processes);
	*snapshot = (struct smi_snapshot) { 0 };
}
