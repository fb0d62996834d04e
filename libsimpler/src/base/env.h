/* SPDX-License-Identifier: MIT */
/*
 * Strict numbers from text: the whole text must be the number. No white space, no sign for
 * unsigned, no trailing characters; decimal, or hexadecimal with 0x.
 */
#ifndef SIMPLER_BASE_ENV_H
#define SIMPLER_BASE_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * env_parse_u64() - Return: 0, -EINVAL not a number, -ERANGE too large; *@out is written only on
 * success
 */
int env_parse_u64(const char *text, uint64_t *out);
/** env_parse_i64() - the same with an optional leading minus */
int env_parse_i64(const char *text, int64_t *out);

/**
 * env_parse_list() - comma-separated unsigned numbers; ranges such as 0-3 are allowed
 *
 * Return: how many (at least 1), -EINVAL for an empty element, a bad number or a falling range,
 * -ERANGE for more than @max numbers or one that is too large. On failure the contents of @out are
 * undefined.
 */
int env_parse_list(const char *text, uint32_t *out, size_t max);

/**
 * env_get_i64() - number in an environment variable
 *
 * Return: 1 and *@out when set, 0 when unset or empty (*@out untouched), -EINVAL, -ERANGE outside
 * @min..@max (*@out untouched). The caller says in its message what it does instead.
 */
int env_get_i64(const char *name, int64_t min, int64_t max, int64_t *out);

/**
 * env_flag() - as env_get_bool(), for callers that go on with @fallback
 *
 * A value that is none of the words is logged, with what is used instead.
 */
bool env_flag(const char *name, bool fallback);

/** env_get_bool() - 1/true/yes/on, 0/false/no/off in any case; return as env_get_i64() */
int env_get_bool(const char *name, bool *out);

#endif
