/* SPDX-License-Identifier: MIT */
/* Calls and memory of a pass, which ends them. */
#ifndef TESTS_PROGRAMS_CALL_H
#define TESTS_PROGRAMS_CALL_H

#include "prog.h"

/* Unregisters the callables and releases the buffers of all calls of the pass. */
void calls_release(struct prog_session *s);

/* Frees what prog_new() gave. */
void blocks_release(struct prog_session *s);

#endif /* TESTS_PROGRAMS_CALL_H */
