// SPDX-License-Identifier: MIT
/*
 * QEMU's monitor: takes a chip out of the virtual machine and puts it back.
 * The device and its character device are both called npuN.
 *
 * Nothing waits for an answer: while QEMU adds the device it talks to the
 * chip's socket, which this process serves.  Refusals go to the log.
 *
 * When QEMU's ivshmem device goes, it closes its interrupt descriptors but leaves
 * their handlers behind: whatever gets such a number next and becomes readable calls
 * a handler whose device is freed.  So before anything else is opened, the numbers
 * are taken by descriptors that never become readable, which QEMU is given to keep.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "control.h"

#define LINE_BYTES 2048

static struct watch monitor = { .fd = -1 };
static char line[LINE_BYTES];
static size_t length;
/* By index: chips on their way out, and to be put back after that. */
static const struct vnpu_chip *leaving[32], *returning[32];
/* Numbers still to be taken, and how many were. */
static uint32_t to_hold, held;

static int plug_in(const struct vnpu_chip *chip);
static int hold_next(void);

static void bring_back(void)
{
	for (uint32_t i = 0; i < 32 && !to_hold; i++) {
		if (!returning[i] || leaving[i])
			continue;
		plug_in(returning[i]);
		returning[i] = NULL;
	}
}

/* As many as a chip may have had: a descriptor per vector and peer, its memory, and some more. */
static void start_holding(const struct vnpu_chip *chip)
{
	bool busy = to_hold;

	to_hold += 2 * chip->port.vectors + 4;
	if (!busy && hold_next())
		to_hold = 0;
}

/* {"event": "DEVICE_DELETED", "data": {"device": "npu1", ...}}: the chip can come back now. */
static void take_event(const char *text)
{
	const char *at = strstr(text, "\"npu");
	unsigned int index;

	if (!strstr(text, "\"DEVICE_DELETED\"") || !at || sscanf(at, "\"npu%u\"", &index) != 1 ||
	    index >= 32)
		return;
	if (leaving[index])
		start_holding(leaving[index]);
	leaving[index] = NULL;
	bring_back();
}

/* {"return": {}, "id": "hold"}, or an error: QEMU takes one descriptor at a time. */
static void take_answer(const char *text)
{
	if (!strstr(text, "\"hold\"") || !to_hold)
		return;
	to_hold--;
	if (to_hold && hold_next())
		to_hold = 0;
	bring_back();
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
	take_answer(line);
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

/* A descriptor goes with its command; the answer asks for the next one. */
static int hold_next(void)
{
	char text[128], control[CMSG_SPACE(sizeof(int))] = { 0 };
	int n = snprintf(text, sizeof(text),
			 "{\"execute\":\"getfd\",\"arguments\":{\"fdname\":\"hold%u\"},\"id\":\"hold\"}\n",
			 held++);
	struct iovec iov = { .iov_base = text, .iov_len = (size_t)n };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int rc, fd = eventfd(0, EFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	rc = sendmsg(monitor.fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == n ? 0 : -EIO;
	close(fd);
	return rc;
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
	to_hold = 0;
	memset(leaving, 0, sizeof(leaving));
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
		leaving[chip->index] = chip;
		return send_text("{\"execute\":\"device_del\",\"arguments\":{\"id\":\"npu%u\"}}\n",
				 chip->index);
	}
	returning[chip->index] = chip;
	bring_back();
	return 0;
}

void qmp_close(void)
{
	loop_close(&monitor);
}
