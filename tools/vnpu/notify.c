// SPDX-License-Identifier: MIT
/*
 * Mappings of device memory and guest RAM.
 *
 * An executor cannot map them by itself: its filter sends these calls here, and
 * only those go on that the MAP request under way lists, or that are the ring of
 * the stream being created.  All arguments that matter are numbers, so that the
 * executor cannot change them after the check.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/list.h"
#include "chip.h"

struct mmap_call {
	uint64_t addr, bytes, prot, flags, fd, offset;
};

static bool is_run(const struct mmap_call *m, const struct vnpu_run *r)
{
	uint64_t prot = PROT_READ | (r->flags & VNPU_RUN_WRITE ? PROT_WRITE : 0);
	uint64_t fd = r->flags & VNPU_RUN_HOST ? VNPU_FD_HOST : VNPU_FD_DEVICE;

	return m->bytes == r->bytes && m->prot == prot && m->fd == fd && m->offset == r->offset &&
	       m->flags == (MAP_SHARED | MAP_FIXED);
}

/* Runs ascend, so the one at the address is found by halving. */
static bool is_listed(const struct vnpu_context *c, const struct mmap_call *m)
{
	const struct vnpu_run *runs = c->chip->runs;
	uint32_t low = 0, high = c->request.run_count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (runs[mid].va == m->addr)
			return is_run(m, &runs[mid]);
		if (runs[mid].va < m->addr)
			low = mid + 1;
		else
			high = mid;
	}
	return false;
}

static bool is_ring(const struct vnpu_context *c, const struct mmap_call *m)
{
	uint64_t page = SIMPLER_HW_PAGE_BYTES;
	uint64_t end = c->request.ring + sizeof(struct simpler_hw_ring) +
		       (uint64_t)c->request.entries * SIMPLER_HW_CMD_BYTES;
	uint64_t first = c->request.ring & ~(page - 1);

	return !m->addr && m->fd == VNPU_FD_DEVICE && m->offset == first &&
	       m->bytes == ((end + page - 1) & ~(page - 1)) - first &&
	       m->prot == (PROT_READ | PROT_WRITE) && m->flags == MAP_SHARED;
}

static bool may_map(const struct vnpu_context *c, const struct mmap_call *m)
{
	if (!c->asked)
		return false;
	if (c->request.op == VNPU_OP_MAP)
		return is_listed(c, m);
	return c->request.op == VNPU_OP_STREAM_CREATE && is_ring(c, m);
}

static void notify_ready(struct watch *w)
{
	struct vnpu_context *c = list_entry(w, struct vnpu_context, notify);
	struct seccomp_notif call;
	struct seccomp_notif_resp answer = { 0 };
	struct pollfd ready = { .fd = w->fd, .events = POLLIN };
	const __u64 *a = call.data.args;

	memset(&call, 0, sizeof(call));
	/* receiving blocks when the executor has ended meanwhile */
	if (poll(&ready, 1, 0) != 1 || !(ready.revents & POLLIN)) {
		loop_close(w);
		return;
	}
	if (ioctl(w->fd, SECCOMP_IOCTL_NOTIF_RECV, &call)) {
		if (errno != EINTR && errno != ENOENT)
			loop_close(w);
		return;
	}
	answer.id = call.id;
	if (may_map(c, &(struct mmap_call){ a[0], a[1], a[2], a[3], (uint32_t)a[4], a[5] }))
		answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	else
		answer.error = -EPERM;
	ioctl(w->fd, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

int notify_open(struct vnpu_context *c)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	char byte;
	struct iovec iov = { &byte, sizeof(byte) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control.bytes, .msg_controllen = sizeof(control.bytes),
	};
	ssize_t n = recvmsg(c->handover, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *header = CMSG_FIRSTHDR(&msg);
	int fd, rc;

	close(c->handover);
	c->handover = -1;
	if (n != 1 || !header || header->cmsg_type != SCM_RIGHTS ||
	    header->cmsg_len != CMSG_LEN(sizeof(int)))
		return -EPROTO;
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	rc = loop_add(&c->notify, fd, notify_ready);
	if (rc)
		close(fd);
	return rc;
}
