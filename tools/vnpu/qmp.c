// SPDX-License-Identifier: MIT
/*
 * QEMU's monitor: takes a chip out of the virtual machine and puts it back.
 * The device and its character device are both called npuN.
 *
 * Nothing waits for an answer: while QEMU adds the device it talks to the
 * chip's socket, which this process serves.  Refusals go to the log.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "control.h"

#define LINE_BYTES 2048

static struct watch monitor = { .fd = -1 };
static char line[LINE_BYTES];
static size_t length;
/* Chips, one bit each, or their pointers: on their way out, and to be put back after that. */
static uint32_t leaving;
static const struct vnpu_chip *returning[32];

static int plug_in(const struct vnpu_chip *chip);

/* {"event": "DEVICE_DELETED", "data": {"device": "npu1", ...}}: the chip can come back now. */
static void take_event(const char *text)
{
	const char *at = strstr(text, "\"npu");
	unsigned int index;

	if (!strstr(text, "\"DEVICE_DELETED\"") || !at || sscanf(at, "\"npu%u\"", &index) != 1 ||
	    index >= 32)
		return;
	leaving &= ~(1u << index);
	if (returning[index])
		plug_in(returning[index]);
	returning[index] = NULL;
}

static void take_byte(char byte)
{
	if (byte != '\n') {
		if (length < LINE_BYTES - 1)
			line[length++] = byte;
		return;
	}
	line[length] = '\0';
	length = 0;
	if (strstr(line, "\"error\""))
		log_warn("QEMU's monitor: %s", line);
	take_event(line);
}

static void monitor_ready(struct watch *w)
{
	char bytes[512];
	ssize_t n = recv(w->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (!n || (n < 0 && errno != EAGAIN))
		loop_close(w);
	for (ssize_t i = 0; i < n; i++)
		take_byte(bytes[i]);
}

static int send_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int send_text(const char *format, ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof(text))
		return -EMSGSIZE;
	return send(monitor.fd, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT) == n ? 0 : -EIO;
}

static int monitor_open(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int rc, fd;

	if (monitor.fd >= 0)
		return 0;
	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	rc = connect(fd, (struct sockaddr *)&addr, sizeof(addr)) ? -errno :
	     loop_add(&monitor, fd, monitor_ready);
	if (rc)
		close(fd);
	return rc ? rc : send_text("{\"execute\":\"qmp_capabilities\"}\n");
}

static int plug_in(const struct vnpu_chip *chip)
{
	int rc = send_text("{\"execute\":\"chardev-remove\",\"arguments\":{\"id\":\"npu%u\"}}\n",
			   chip->index);

	if (!rc)
		rc = send_text("{\"execute\":\"chardev-add\",\"arguments\":{\"id\":\"npu%u\","
			       "\"backend\":{\"type\":\"socket\",\"data\":{\"server\":false,"
			       "\"addr\":{\"type\":\"unix\",\"data\":{\"path\":\"%s\"}}}}}}\n",
			       chip->index, chip->port.path);
	if (!rc)
		rc = send_text("{\"execute\":\"device_add\",\"arguments\":"
			       "{\"driver\":\"ivshmem-doorbell\",\"id\":\"npu%u\","
			       "\"chardev\":\"npu%u\",\"vectors\":%u}}\n",
			       chip->index, chip->index, chip->port.vectors);
	return rc;
}

int qmp_plug(const char *path, const struct vnpu_chip *chip, bool in)
{
	int rc = monitor_open(path);

	if (rc)
		return rc;
	if (!in) {
		leaving |= 1u << chip->index;
		return send_text("{\"execute\":\"device_del\",\"arguments\":{\"id\":\"npu%u\"}}\n",
				 chip->index);
	}
	/* the guest may still be at work on the removal */
	if (leaving & 1u << chip->index) {
		returning[chip->index] = chip;
		return 0;
	}
	return plug_in(chip);
}

void qmp_close(void)
{
	loop_close(&monitor);
}
