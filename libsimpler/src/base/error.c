/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void error_clear(struct error_record *rec)
{
	rec->code = 0;
	rec->name = NULL;
	rec->chip = -1;
	rec->core = -1;
	rec->task = ERROR_NO_TASK;
	rec->phase[0] = '\0';
	rec->text[0] = '\0';
	rec->hint[0] = '\0';
}

/* A text that does not fit ends in "...", so that nobody takes it for complete. */
static void __attribute__((format(printf, 3, 0)))
error_print(char *buf, size_t size, const char *fmt, va_list ap)
{
	int len = vsnprintf(buf, size, fmt, ap);

	if (len >= 0 && (size_t)len >= size)
		memcpy(buf + size - 4, "...", 4);
}

static void __attribute__((format(printf, 4, 0)))
error_store(struct error_record *rec, int code, const char *name, const char *fmt, va_list ap)
{
	if (!rec || rec->code)
		return;
	error_clear(rec);
	rec->code = code;
	rec->name = name;
	error_print(rec->text, sizeof(rec->text), fmt, ap);
}

int error_set(struct error_record *rec, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	error_store(rec, code, code < 0 ? strerrorname_np(-code) : NULL, fmt, ap);
	va_end(ap);
	return code;
}

int error_set_named(struct error_record *rec, int code, const char *name, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	error_store(rec, code, name, fmt, ap);
	va_end(ap);
	return code;
}

void error_hint(struct error_record *rec, const char *fmt, ...)
{
	va_list ap;

	if (!rec || !rec->code || rec->hint[0])
		return;
	va_start(ap, fmt);
	error_print(rec->hint, sizeof(rec->hint), fmt, ap);
	va_end(ap);
}

void error_phase(struct error_record *rec, const char *phase)
{
	if (rec && rec->code && !rec->phase[0])
		snprintf(rec->phase, sizeof(rec->phase), "%s", phase);
}

void error_where(struct error_record *rec, int chip, int core, uint64_t task)
{
	if (!rec || !rec->code)
		return;
	if (rec->chip < 0)
		rec->chip = chip;
	if (rec->core < 0)
		rec->core = core;
	if (rec->task == ERROR_NO_TASK)
		rec->task = task;
}

void error_copy(struct error_record *dst, const struct error_record *src)
{
	*dst = *src;
}

void error_merge(struct error_record *dst, const struct error_record *src)
{
	if (!dst->code && src->code)
		*dst = *src;
}

struct error_line {
	char *buf;
	size_t size;
	size_t len;
};

static void __attribute__((format(printf, 2, 3)))
error_line_add(struct error_line *l, const char *fmt, ...)
{
	size_t room = l->len < l->size ? l->size - l->len : 0;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(room ? l->buf + l->len : NULL, room, fmt, ap);
	va_end(ap);
	if (n > 0)
		l->len += (size_t)n;
}

static void error_line_where(struct error_line *l, const struct error_record *rec)
{
	const char *sep = " [";

	if (rec->phase[0]) {
		error_line_add(l, "%sphase %s", sep, rec->phase);
		sep = ", ";
	}
	if (rec->chip >= 0) {
		error_line_add(l, "%schip %d", sep, rec->chip);
		sep = ", ";
	}
	if (rec->core >= 0) {
		error_line_add(l, "%score %d", sep, rec->core);
		sep = ", ";
	}
	if (rec->task != ERROR_NO_TASK) {
		error_line_add(l, "%stask %llu", sep, (unsigned long long)rec->task);
		sep = ", ";
	}
	if (sep[0] == ',')
		error_line_add(l, "]");
}

int error_format(const struct error_record *rec, char *buf, size_t size)
{
	struct error_line l = { .buf = buf, .size = size };

	if (size)
		buf[0] = '\0';
	if (!rec->code)
		return 0;
	error_line_add(&l, "%s (%d): %s", rec->name ? rec->name : "error", rec->code, rec->text);
	error_line_where(&l, rec);
	if (rec->hint[0])
		error_line_add(&l, "; %s", rec->hint);
	return (int)l.len;
}
