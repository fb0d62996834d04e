/* SPDX-License-Identifier: MIT */
/* Growing text. A failed allocation is remembered, not returned, so that writers stay simple. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptoas.h"

static bool reserve(struct pto_text *t, size_t more)
{
	size_t room = t->room ? t->room : 4096;
	char *data;

	if (t->no_memory || more > SIZE_MAX / 4 - t->size) {
		t->no_memory = true;
		return false;
	}
	if (t->size + more + 1 <= t->room)
		return true;
	while (room < t->size + more + 1)
		room *= 2;
	data = realloc(t->data, room);
	if (!data) {
		t->no_memory = true;
		return false;
	}
	t->data = data;
	t->room = room;
	return true;
}

void pto_text_add(struct pto_text *t, const char *bytes, size_t size)
{
	if (!reserve(t, size))
		return;
	memcpy(t->data + t->size, bytes, size);
	t->size += size;
	t->data[t->size] = '\0';
}

void pto_text_str(struct pto_text *t, const char *s)
{
	pto_text_add(t, s, strlen(s));
}

void pto_text_char(struct pto_text *t, char c)
{
	pto_text_add(t, &c, 1);
}

void pto_text_int(struct pto_text *t, int64_t value)
{
	char digits[24], *p = digits + sizeof(digits);
	uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	do {
		*--p = (char)('0' + left % 10);
		left /= 10;
	} while (left);
	if (value < 0)
		*--p = '-';
	pto_text_add(t, p, (size_t)(digits + sizeof(digits) - p));
}

void pto_text_printf(struct pto_text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || !reserve(t, (size_t)n))
		return;
	va_start(ap, fmt);
	vsnprintf(t->data + t->size, (size_t)n + 1, fmt, ap);
	va_end(ap);
	t->size += (size_t)n;
}

void pto_text_free(struct pto_text *t)
{
	free(t->data);
	*t = (struct pto_text){ 0 };
}
