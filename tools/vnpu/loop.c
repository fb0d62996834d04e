// SPDX-License-Identifier: MIT
#include "loop.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"

static int epoll_fd = -1;
static volatile bool stopped;

int loop_open(void)
{
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return epoll_fd < 0 ? -errno : 0;
}

int loop_add(struct watch *w, int fd, void (*ready)(struct watch *w))
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = w };

	w->fd = fd;
	w->ready = ready;
	if (!epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev))
		return 0;
	w->fd = -1;
	return -errno;
}

void loop_close(struct watch *w)
{
	if (w->fd < 0)
		return;
	epoll_ctl(epoll_fd, EPOLL_CTL_DEL, w->fd, NULL);
	close(w->fd);
	w->fd = -1;
}

void loop_stop(void)
{
	stopped = true;
}

static int wait_one(uint64_t until)
{
	uint64_t now = clock_mono_ns();
	int ms = until > now ? (int)((until - now + 999999) / 1000000) : 0;
	struct epoll_event ev;
	int n = epoll_wait(epoll_fd, &ev, 1, ms);

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (n) {
		struct watch *w = ev.data.ptr;

		w->ready(w);
	}
	return 0;
}

int loop_run(void (*tick)(void *arg), void *arg)
{
	uint64_t next = clock_mono_ns();
	int rc = 0;

	while (!stopped && !rc) {
		rc = wait_one(next);
		if (clock_mono_ns() >= next) {
			tick(arg);
			next = clock_mono_ns() + LOOP_TICK_MS * 1000000ull;
		}
	}
	return rc;
}
