/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "base/futex.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

static int futex_op(int op, unsigned int flags)
{
	return flags & FUTEX_WORD_SHARED ? op : op | FUTEX_PRIVATE_FLAG;
}

/* FUTEX_WAIT_BITSET is the wait whose time is absolute and on CLOCK_MONOTONIC. */
int futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t deadline_ns, unsigned int flags)
{
	struct timespec ts = clock_to_timespec(deadline_ns);
	struct timespec *until = deadline_ns == CLOCK_NEVER ? NULL : &ts;
	long ret;

	do {
		ret = syscall(SYS_futex, word, futex_op(FUTEX_WAIT_BITSET, flags), expected, until,
			      NULL, FUTEX_BITSET_MATCH_ANY);
	} while (ret < 0 && errno == EINTR && !(flags & FUTEX_WAIT_EINTR));
	return ret < 0 ? -errno : 0;
}

int futex_wake(_Atomic uint32_t *word, int count, unsigned int flags)
{
	long ret = syscall(SYS_futex, word, futex_op(FUTEX_WAKE, flags), count, NULL, NULL, 0);

	return ret < 0 ? 0 : (int)ret;
}
