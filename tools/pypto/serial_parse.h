/* SPDX-License-Identifier: MIT */
/*
 * MessagePack bytes as a tree in an arena. The library's own reader stops at 32 containers inside
 * each other, which a program with a few nested loops exceeds.
 */
#ifndef PYPTO_SERIAL_PARSE_H
#define PYPTO_SERIAL_PARSE_H

#include <msgpack.h>

#include "context.h"

#define SERIAL_MAX_NESTING	6000

/**
 * serial_parse() - one object, which must be all of the bytes
 *
 * Strings of the tree point into @data. Extension types are refused.
 *
 * Return: NULL, or what is wrong.
 */
const char *serial_parse(struct px *px, const void *data, size_t size, msgpack_object *out);

#endif
