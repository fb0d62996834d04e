// SPDX-License-Identifier: MIT
/*
 * Users of the chips, from /proc/PID/fdinfo/FD in the format of the kernel's
 * drm-usage-stats: a file that several descriptors or processes share counts once.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "smi.h"

struct walk {
	struct smi_snapshot *snapshot;
	const char *root;
	const char *pid;
};

/* The text behind "key:", or NULL. */
static const char *find_key(const char *text, const char *key)
{
	size_t length = strlen(key);

	for (; text; text = strchr(text, '\n'), text = text ? text + 1 : NULL)
		if (!strncmp(text, key, length) && text[length] == ':')
			return text + length + 1 + strspn(text + length + 1, " \t");
	return NULL;
}

static bool key_is(const char *text, const char *key, const char *value)
{
	const char *at = find_key(text, key);
	size_t length = strlen(value);

	return at && !strncmp(at, value, length) && (at[length] == '\n' || !at[length]);
}

/* A number in bytes or nanoseconds, whatever unit it is written in; 0 if there is none. */
static uint64_t amount(const char *text, const char *key)
{
	const char *at = find_key(text, key);
	unsigned long long value;
	char *unit;

	if (!at || *at < '0' || *at > '9')
		return 0;
	value = strtoull(at, &unit, 10);
	unit += strspn(unit, " ");
	if (!strncmp(unit, "KiB", 3))
		value <<= 10;
	else if (!strncmp(unit, "MiB", 3))
		value <<= 20;
	return value;
}

static const struct smi_device *device_at(const struct smi_snapshot *s, const char *text)
{
	const char *address = find_key(text, "drm-pdev");
	size_t i, length = address ? strcspn(address, "\n") : 0;

	for (i = 0; i < s->device_count; i++)
		if (address && strlen(s->devices[i].address) == length &&
		    !strncmp(s->devices[i].address, address, length))
			return &s->devices[i];
	return NULL;
}

static bool known(const struct smi_snapshot *s, uint32_t device, uint64_t client)
{
	size_t i;

	for (i = 0; i < s->process_count; i++)
		if (s->processes[i].device == device && s->processes[i].client == client)
			return true;
	return false;
}

static int add_process(struct walk *walk, const struct smi_device *device, const char *text)
{
	struct smi_snapshot *s = walk->snapshot;
	uint64_t client = amount(text, "drm-client-id");
	struct smi_process *more, *p;

	if (known(s, device->number, client))
		return 0;
	more = realloc(s->processes, (s->process_count + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	s->processes = more;
	p = &more[s->process_count++];
	*p = (struct smi_process) {
		.device = device->number,
		.client = client,
		.pid = (pid_t)atol(walk->pid),
		.busy_ns = amount(text, "drm-engine-npu"),
		.device_bytes = amount(text, "drm-total-device"),
		.host_bytes = amount(text, "drm-total-host"),
		.pinned_bytes = amount(text, "simpler-pinned-host"),
		.streams = amount(text, "simpler-streams"),
		.context_state = amount(text, "simpler-context-state"),
	};
	if (smi_read(p->command, sizeof(p->command), "%s/proc/%s/comm", walk->root, walk->pid))
		snprintf(p->command, sizeof(p->command), "?");
	return 0;
}

static int look_at_fd(const char *fd, void *arg)
{
	struct walk *walk = arg;
	const struct smi_device *device;
	char text[4096];

	if (smi_read(text, sizeof(text), "%s/proc/%s/fdinfo/%s", walk->root, walk->pid, fd) ||
	    !key_is(text, "drm-driver", "simpler"))
		return 0;	/* closed meanwhile, or another file */
	device = device_at(walk->snapshot, text);
	return device ? add_process(walk, device, text) : 0;
}

static int look_at_pid(const char *pid, void *arg)
{
	struct walk *walk = arg;
	char folder[PATH_MAX];
	int rc;

	if (pid[strspn(pid, "0123456789")])
		return 0;
	walk->pid = pid;
	if ((size_t)snprintf(folder, sizeof(folder), "%s/proc/%s/fdinfo", walk->root, pid) >=
	    sizeof(folder))
		return 0;
	rc = smi_each(folder, look_at_fd, walk);
	return rc == -ENOMEM ? rc : 0;	/* a process that ended, or of somebody else */
}

static int by_device_and_pid(const void *a, const void *b)
{
	const struct smi_process *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->client > y->client) - (x->client < y->client);
}

int smi_processes_read(struct smi_snapshot *snapshot, const char *root)
{
	struct walk walk = { .snapshot = snapshot, .root = root };
	char folder[PATH_MAX];
	int rc;

	if (!snapshot->device_count)
		return 0;
	if ((size_t)snprintf(folder, sizeof(folder), "%s/proc", root) >= sizeof(folder))
		return -ENAMETOOLONG;
	rc = smi_each(folder, look_at_pid, &walk);
	if (snapshot->process_count)
		qsort(snapshot->processes, snapshot->process_count, sizeof(*snapshot->processes),
		      by_device_and_pid);
	return rc;
}
