/* SPDX-License-Identifier: MIT */
/* Filling struct simpler_error, for everything that has an error parameter. */
#ifndef SIMPLER_RTS_ERROR_H
#define SIMPLER_RTS_ERROR_H

#include <stdbool.h>

#include "simpler/error.h"

/**
 * err_set - fill a record
 * @e: may be NULL, then nothing is stored
 * @code: negative code; its name, and the hint of a run code, are looked up
 * @fmt: what was wrong, with which value
 *
 * Returns @code.
 */
int err_set(struct simpler_error *e, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * err_if_null - refuses a NULL argument of a public function
 * @e: filled when it is one; may be NULL
 *
 * True when @argument is NULL; the function then returns SIMPLER_ERR_INVALID_ARGUMENT.
 */
#define err_if_null(e, argument) (!(argument) && err_null(e, __func__, #argument))
bool err_null(struct simpler_error *e, const char *function, const char *argument);

/* Replaces the hint of a record just filled. */
void err_hint(struct simpler_error *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Empties a record. */
void err_clear(struct simpler_error *e);

#endif /* SIMPLER_RTS_ERROR_H */
