/* SPDX-License-Identifier: MIT */
/*
 * The record of a failure that objects keep and the public API hands out. The first error wins
 * until the record is cleared: what fails afterwards is a consequence.
 *
 * Not thread-safe: a record belongs to the lock of the object it is in.
 */
#ifndef SIMPLER_BASE_ERROR_H
#define SIMPLER_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ERROR_NO_TASK	UINT64_MAX

/**
 * struct error_record - one failure
 * @code: 0 when empty; negative errno, or a positive code of the chip runtime
 * @name: of the code, static storage ("ENOMEM", "SCHEDULER_TIMEOUT"); NULL when it has none
 * @chip: -1 when not tied to a chip
 * @core: -1 when not tied to a core
 * @task: ERROR_NO_TASK when not tied to a task
 * @phase: what was being done ("init", "submit", "run"); may be empty
 * @text: what was wrong, with which value
 * @hint: what to do about it; may be empty
 */
struct error_record {
	int code;
	const char *name;
	int chip;
	int core;
	uint64_t task;
	char phase[16];
	char text[512];
	char hint[256];
};

/** error_clear() - empty the record; also initialises it */
void error_clear(struct error_record *rec);

/** error_is_set() - does the record hold a failure */
static inline bool error_is_set(const struct error_record *rec)
{
	return rec->code != 0;
}

/**
 * error_set() - store a failure, unless one is stored already
 * @rec: may be NULL, then nothing is stored
 * @code: not 0; a negative errno gets its name
 * @fmt: says what was wrong and with which value; a text that is too long ends in "..."
 *
 * Return: @code, also when it was not stored: `return error_set(rec, -EINVAL, "...")`.
 */
int error_set(struct error_record *rec, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** error_set_named() - error_set() for codes that are not errno; @name must be static storage */
int error_set_named(struct error_record *rec, int code, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * Details of the failure just stored. Each writes only what is not set yet, so details of the first
 * failure are never overwritten by those of a later one; without a stored failure they do nothing.
 */
void error_hint(struct error_record *rec, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void error_phase(struct error_record *rec, const char *phase);
void error_where(struct error_record *rec, int chip, int core, uint64_t task);

/** error_copy() - overwrite @dst with @src, whatever it held */
void error_copy(struct error_record *dst, const struct error_record *src);

/** error_merge() - copy @src into @dst if @dst is empty and @src is not */
void error_merge(struct error_record *dst, const struct error_record *src);

/**
 * error_format() - one line for people: "NAME (code): text [phase, chip, core, task]; hint"
 *
 * Return: length the line would have, as snprintf(). An empty record gives an empty line.
 */
int error_format(const struct error_record *rec, char *buf, size_t size);

#endif
