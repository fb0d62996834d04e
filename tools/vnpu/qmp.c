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

static struct watch monitor = { .fd = -1 };

static void monitor_ready(struct watch *w)
{
	char text[1024];
	ssize_t n = recv(w->fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	if (n <= 0) {
		if (errno != EAGAIN || !n)
			loop_close(w);
		return;
	}
	text[n] = '\0';
	if (strstr(text, "\"error\""))
		log_warn("QEMU's monitor: %s", text);
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
	return in ? plug_in(chip) :
	       send_text("{\"execute\":\"device_del\",\"arguments\":{\"id\":\"npu%u\"}}\n",
			 chip->index);
}

void qmp_close(void)
{
	loop_close(&monitor);
}
