/* SPDX-License-Identifier: MIT */
/*
 * Time: nanoseconds of CLOCK_MONOTONIC, and absolute deadlines on that clock. A timeout becomes a
 * deadline once, at the entry of an operation; waits that are repeated use the deadline.
 */
#ifndef SIMPLER_BASE_CLOCK_H
#define SIMPLER_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define CLOCK_NSEC_PER_SEC	UINT64_C(1000000000)
#define CLOCK_NEVER		UINT64_MAX	/* a deadline that does not pass */

static inline uint64_t clock_mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * CLOCK_NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

/*
 * @start plus @timeout_ns; a negative timeout and one beyond the end of the clock mean CLOCK_NEVER
 */
static inline uint64_t clock_deadline_from(uint64_t start_ns, int64_t timeout_ns)
{
	uint64_t deadline;

	if (timeout_ns < 0 || __builtin_add_overflow(start_ns, (uint64_t)timeout_ns, &deadline))
		return CLOCK_NEVER;
	return deadline;
}

static inline uint64_t clock_deadline(int64_t timeout_ns)
{
	return timeout_ns < 0 ? CLOCK_NEVER : clock_deadline_from(clock_mono_ns(), timeout_ns);
}

/*
 * Seconds to a timeout in ns, saturating; negative: 0 (already over); not a number: -1 (for ever)
 */
static inline int64_t clock_timeout_from_seconds(double seconds)
{
	if (seconds != seconds)
		return -1;
	if (seconds <= 0)
		return 0;
	if (seconds >= 9.2e9)
		return INT64_MAX;
	return (int64_t)(seconds * 1e9);
}

static inline bool clock_passed(uint64_t deadline_ns)
{
	return deadline_ns != CLOCK_NEVER && clock_mono_ns() >= deadline_ns;
}

/* Time left in ns: 0 when passed, INT64_MAX when there is no deadline */
static inline int64_t clock_remaining(uint64_t deadline_ns)
{
	uint64_t now;

	if (deadline_ns == CLOCK_NEVER)
		return INT64_MAX;
	now = clock_mono_ns();
	if (now >= deadline_ns)
		return 0;
	return deadline_ns - now > INT64_MAX ? INT64_MAX : (int64_t)(deadline_ns - now);
}

/*
 * Time left in ms for poll(), rounded up so that a wait never ends early; -1 when there is no
 * deadline
 */
static inline int clock_remaining_poll_ms(uint64_t deadline_ns)
{
	int64_t ns = clock_remaining(deadline_ns);

	if (deadline_ns == CLOCK_NEVER)
		return -1;
	return ns / 1000000 >= INT32_MAX ? INT32_MAX : (int)((ns + 999999) / 1000000);
}

static inline struct timespec clock_to_timespec(uint64_t ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(ns / CLOCK_NSEC_PER_SEC),
		.tv_nsec = (long)(ns % CLOCK_NSEC_PER_SEC),
	};
}

#endif
