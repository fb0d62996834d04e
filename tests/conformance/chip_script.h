/* SPDX-License-Identifier: MIT */
/*
 * Scenarios told as a text (orch/script.hpp) and the order in which their tasks
 * started.  A held task completes only after a release, so an edge shows in the
 * order of starts, without any timing:
 *
 *	hold A; stamp B; release C	B starts after C if it waits for A
 *	hold A; stamp B; release C wait:B	succeeds only if B does not wait for A
 */
#ifndef TESTS_CHIP_SCRIPT_H
#define TESTS_CHIP_SCRIPT_H

#include "chip_fixture.h"

#define SCRIPT_ROWS	256
#define SCRIPT_COLUMNS	4

extern struct chip_fixture script_chip;
extern uint32_t script_watchdog_ms;	/* of the next setup */
extern float script_x[SCRIPT_ROWS][SCRIPT_COLUMNS], script_y[SCRIPT_ROWS][SCRIPT_COLUMNS];

/* Setup and teardown of a group: a chip that reads scripts in the current API. */
int script_setup(void **state);
int script_setup_older(void **state);
int script_teardown(void **state);
/* Setup and teardown of one test whose launches may stand still, for FIXTURE_SHORT_MS. */
int script_short_watchdog(void **state);
int script_long_watchdog(void **state);

/* Runs a script; returns the run code. */
int script_run(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Runs a script that has to succeed. */
void script_ok(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Runs a script that has to fail with @code and a text that contains @part. */
void script_fails(int code, const char *part, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Only pushes the launch of a script. */
void script_begin(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Lets held tasks complete, from outside. */
void script_release(void);

/* When task 'A'…'Z', or number 26…, started: 1, 2, …; 0 never. */
int script_start(int task);

/* What the element access with this number gave. */
int script_value(int task);

/* The tasks of the last script started in this order; other tasks do not matter. */
void script_order(const char *tasks);

/*
 * "hold A <a>" and "stamp B <b>", behind @before, which may be empty: does B wait
 * for A?
 */
void script_edge(const char *before, const char *a, const char *b);
void script_no_edge(const char *before, const char *a, const char *b);

#endif /* TESTS_CHIP_SCRIPT_H */
