/* SPDX-License-Identifier: MIT */
/* How long to wait, and what may end a wait early (decisions D33, D35). */
#ifndef SIMPLER_WAIT_H
#define SIMPLER_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "simpler/export.h"

SIMPLER_BEGIN_DECLS

#define SIMPLER_FOREVER INT64_MAX

/*
 * Passed by pointer to everything that may block; NULL means forever and not
 * interruptible.  The relative timeout is turned into a deadline once, when the
 * call begins.
 */
struct simpler_wait {
	int64_t timeout_ns;	/* >= 0, or SIMPLER_FOREVER; negative: SIMPLER_ERR_TIMEOUT_VALUE */
	/*
	 * Polled while waiting, on the waiting thread, also soon after a signal;
	 * true ends the call with SIMPLER_ERR_INTERRUPTED.  What was waited for goes
	 * on, and the call can be repeated.  May be NULL.  Must not call back into
	 * the object that is waited for, except for reads.
	 */
	bool (*interrupted)(void *arg);
	void *arg;
};

SIMPLER_END_DECLS

#endif /* SIMPLER_WAIT_H */
