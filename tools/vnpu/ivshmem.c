// SPDX-License-Identifier: MIT
/*
 * The socket of a chip: server side of QEMU's ivshmem protocol (version 0, see
 * QEMU's docs/specs/ivshmem-spec).  A message is a 64-bit little-endian number,
 * with a file descriptor where the protocol says so.  The virtual machine is
 * peer 0 and the device is peer 1, so that a store of 1 << 16 | vector to the
 * doorbell register arrives here.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/list.h"
#include "base/log.h"
#include "chip.h"

#define PROTOCOL_VERSION	0
#define PEER_GUEST		0
#define PEER_DEVICE		1
#define SHARED_MEMORY		(-1)

static int send_message(int socket, int64_t number, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	int64_t wire = (int64_t)htole64((uint64_t)number);
	struct iovec iov = { &wire, sizeof(wire) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd >= 0) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = sizeof(control.bytes);
		*CMSG_FIRSTHDR(&msg) = (struct cmsghdr){
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
			.cmsg_len = CMSG_LEN(sizeof(int)),
		};
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&msg)), &fd, sizeof(fd));
	}
	return sendmsg(socket, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(wire) ? 0 : -errno;
}

/* ---- doorbells and interrupts ---- */

static void doorbell_ready(struct watch *w)
{
	struct vnpu_doorbell *d = list_entry(w, struct vnpu_doorbell, watch);
	uint64_t count;

	if (read(w->fd, &count, sizeof(count)) == sizeof(count))
		chip_doorbell(d->chip, d->vector);
}

static int make_vector(struct vnpu_chip *chip, uint32_t v)
{
	struct vnpu_port *p = &chip->port;
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int rc;

	if (fd < 0)
		return -errno;
	rc = loop_add(&p->doorbells[v].watch, fd, doorbell_ready);
	if (rc) {
		close(fd);
		return rc;
	}
	p->interrupts[v] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return p->interrupts[v] < 0 ? -errno : 0;
}

static void drop_vectors(struct vnpu_port *p)
{
	for (uint32_t v = 0; v < p->vectors; v++) {
		loop_close(&p->doorbells[v].watch);
		if (p->interrupts[v] >= 0)
			close(p->interrupts[v]);
		p->interrupts[v] = -1;
	}
}

/* ---- the peer ---- */

void port_drop_peer(struct vnpu_chip *chip)
{
	if (chip->port.peer.fd < 0)
		return;
	loop_close(&chip->port.peer);
	drop_vectors(&chip->port);
	chip->power_cycle = true;
	chip_reset(chip);
}

/* The peer never sends anything; readable means that it is gone. */
static void peer_ready(struct watch *w)
{
	struct vnpu_chip *chip = list_entry(w, struct vnpu_chip, port.peer);
	char byte;

	if (recv(w->fd, &byte, sizeof(byte), MSG_DONTWAIT) <= 0 && errno != EAGAIN)
		port_drop_peer(chip);
}

static int greet(struct vnpu_chip *chip, int socket)
{
	struct vnpu_port *p = &chip->port;
	int rc = 0;

	for (uint32_t v = 0; v < p->vectors && !rc; v++)
		rc = make_vector(chip, v);
	if (!rc)
		rc = send_message(socket, PROTOCOL_VERSION, -1);
	if (!rc)
		rc = send_message(socket, PEER_GUEST, -1);
	if (!rc)
		rc = send_message(socket, SHARED_MEMORY, chip->device_fd);
	for (uint32_t v = 0; v < p->vectors && !rc; v++)
		rc = send_message(socket, PEER_DEVICE, p->doorbells[v].watch.fd);
	for (uint32_t v = 0; v < p->vectors && !rc; v++)
		rc = send_message(socket, PEER_GUEST, p->interrupts[v]);
	return rc;
}

static bool peer_is_gone(const struct vnpu_port *p)
{
	char byte;

	return p->peer.fd >= 0 && !recv(p->peer.fd, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT);
}

static void listener_ready(struct watch *w)
{
	struct vnpu_chip *chip = list_entry(w, struct vnpu_chip, port.listener);
	int rc = -EBUSY;
	int fd;

	if (peer_is_gone(&chip->port))
		port_drop_peer(chip);
	if (chip->resetting)
		return;		/* executors are ending; it waits in the backlog until then */
	fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return;
	if (chip->port.peer.fd < 0) {
		rc = greet(chip, fd);
		if (!rc)
			rc = loop_add(&chip->port.peer, fd, peer_ready);
		if (rc)
			drop_vectors(&chip->port);
	}
	if (rc) {
		log_error("chip %u: a virtual machine was turned away: %s", chip->index,
			  strerror(-rc));
		close(fd);
	}
}

/* ---- life ---- */

int port_open(struct vnpu_chip *chip, const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int rc, fd;

	if (!path || strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	chip->port.path = path;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	unlink(path);
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, 4)) {
		rc = -errno;
		close(fd);
		return rc;
	}
	rc = loop_add(&chip->port.listener, fd, listener_ready);
	if (rc)
		close(fd);
	return rc;
}

void port_close(struct vnpu_chip *chip)
{
	loop_close(&chip->port.listener);
	loop_close(&chip->port.peer);
	drop_vectors(&chip->port);
}
