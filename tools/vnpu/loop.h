/* SPDX-License-Identifier: MIT */
/* Event loop of the device process: one thread, file descriptors, a tick. */
#ifndef SIMPLER_VNPU_LOOP_H
#define SIMPLER_VNPU_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#define LOOP_TICK_MS 20

/* Something to watch; lives where its owner keeps it; called when @fd is readable or hung up. */
struct watch {
	int fd;				/* -1: not watched */
	void (*ready)(struct watch *w);
};

/* All return 0 or a negative errno. */
int loop_open(void);
int loop_add(struct watch *w, int fd, void (*ready)(struct watch *w));
/* Stops watching and closes; does nothing when not watched. */
void loop_close(struct watch *w);

/*
 * Calls the owners of what is ready, one at a time, so that an owner may remove
 * any other; and @tick every LOOP_TICK_MS, with @arg.  Until loop_stop().
 */
int loop_run(void (*tick)(void *arg), void *arg);
void loop_stop(void);

#endif /* SIMPLER_VNPU_LOOP_H */
