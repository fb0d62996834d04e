/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"

_Atomic int log_threshold;

static pthread_once_t log_once = PTHREAD_ONCE_INIT;

/* log_sink_lock: sink and its context. log_has_sink lets the common case do without the lock. */
static pthread_mutex_t log_sink_lock = PTHREAD_MUTEX_INITIALIZER;
static log_sink_fn *log_sink;
static void *log_sink_ctx;
static _Atomic bool log_has_sink;
static _Thread_local bool log_in_sink;

static const struct {
	int level;
	const char *name;
} log_levels[] = {
	{ LOG_LEVEL_DEBUG, "DEBUG" },
	{ LOG_LEVEL_INFO, "INFO" },
	{ LOG_LEVEL_TIMING, "TIMING" },
	{ LOG_LEVEL_WARN, "WARN" },
	{ LOG_LEVEL_ERROR, "ERROR" },
	{ LOG_LEVEL_NUL, "NUL" },
	{ LOG_LEVEL_WARN, "WARNING" },		/* from here on: accepted as input only */
	{ LOG_LEVEL_NUL, "NULL" },
};

#define RECORD_LEVELS	5
#define THRESHOLDS	6
#define NAMES		(sizeof(log_levels) / sizeof(log_levels[0]))

static int log_round_threshold(int level)
{
	int i;

	for (i = 0; i < THRESHOLDS - 1; i++)
		if (level <= log_levels[i].level)
			break;
	return log_levels[i].level;
}

/* Index of the mildest name that is not above @level. */
static int log_record_index(int level)
{
	int i = RECORD_LEVELS - 1;

	while (i > 0 && level < log_levels[i].level)
		i--;
	return i;
}

const char *log_level_name(int level)
{
	return log_levels[log_record_index(level)].name;
}

int log_level_parse(const char *text)
{
	int64_t number;
	size_t i;

	for (i = 0; i < NAMES; i++)
		if (!strcasecmp(text, log_levels[i].name))
			return log_levels[i].level;
	if (env_parse_i64(text, &number) || number < 0 || number > INT32_MAX)
		return -EINVAL;
	return log_round_threshold((int)number);
}

static void log_store(int level)
{
	/* relaxed: pairs with log_enabled(); a threshold orders nothing else */
	atomic_store_explicit(&log_threshold, level, memory_order_relaxed);
}

static void log_read_environment(void)
{
	const char *text = getenv("SIMPLER_LOG_LEVEL");
	int level = text && *text ? log_level_parse(text) : LOG_LEVEL_TIMING;

	log_store(level < 0 ? LOG_LEVEL_TIMING : level);
	if (level < 0)
		log_warn("SIMPLER_LOG_LEVEL=\"%s\" is neither a level's name (DEBUG, INFO, TIMING, WARN, "
			 "ERROR, NUL) nor a number in [0, 60]; using TIMING (25)",
			 text);
}

/*
 * The warning above runs inside the once routine: it must not come here again, and need not,
 * because the threshold is set by then.
 */
static void log_init(void)
{
	if (log_enabled(0))
		pthread_once(&log_once, log_read_environment);
}

int log_set_level(int level)
{
	level = log_round_threshold(level);
	log_init();
	log_store(level);
	return level;
}

int log_get_level(void)
{
	log_init();
	/* relaxed: pairs with log_store(); a threshold orders nothing else */
	return atomic_load_explicit(&log_threshold, memory_order_relaxed);
}

void log_set_sink(log_sink_fn *fn, void *ctx)
{
	pthread_mutex_lock(&log_sink_lock);
	log_sink = fn;
	log_sink_ctx = ctx;
	/* relaxed: pairs with log_emit(), which takes the lock before it looks at the sink */
	atomic_store_explicit(&log_has_sink, fn != NULL, memory_order_relaxed);
	pthread_mutex_unlock(&log_sink_lock);
}

static void log_write_stderr(const char *line, size_t len)
{
	while (write(STDERR_FILENO, line, len) < 0 && errno == EINTR)
		;
}

static bool log_to_sink(int level, const char *line, size_t len)
{
	bool done = false;

	pthread_mutex_lock(&log_sink_lock);
	if (log_sink) {
		log_in_sink = true;
		log_sink(log_sink_ctx, level, line, len);
		log_in_sink = false;
		done = true;
	}
	pthread_mutex_unlock(&log_sink_lock);
	return done;
}

static void log_emit(int level, const char *line, size_t len)
{
	/* relaxed: pairs with log_set_sink(); a hint, the lock decides */
	if (!log_in_sink && atomic_load_explicit(&log_has_sink, memory_order_relaxed) &&
	    log_to_sink(level, line, len))
		return;
	log_write_stderr(line, len);
}

static const char *log_base_name(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

/* @len is what snprintf() wanted to write; returns the length with the newline, at most @size. */
static size_t log_finish(char *line, size_t size, size_t len)
{
	if (len > size - 1) {
		line[size - 2] = '~';
		len = size - 1;
	} else {
		while (len > 0 && line[len - 1] == '\n')
			len--;
	}
	line[len] = '\n';
	return len + 1;
}

/*
 * Add to a line of @len bytes. @line has one byte more than @size, for the terminator; past the end
 * only the length grows.
 */
static size_t __attribute__((format(printf, 4, 0)))
log_append(char *line, size_t size, size_t len, const char *fmt, va_list ap)
{
	size_t room = len < size ? size + 1 - len : 0;
	int n = vsnprintf(room ? line + len : NULL, room, fmt, ap);

	return n < 0 ? len : len + (size_t)n;
}

static size_t __attribute__((format(printf, 4, 5)))
log_appendf(char *line, size_t size, size_t len, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	len = log_append(line, size, len, fmt, ap);
	va_end(ap);
	return len;
}

void log_vrecord(int level, const char *func, const char *file, int line, const char *fmt,
		 va_list ap)
{
	char text[LOG_HOST_MAX + 1];
	int saved = errno;
	size_t len;

	level = log_levels[log_record_index(level)].level;
	log_init();
	if (log_enabled(level)) {
		len = log_appendf(text, LOG_HOST_MAX, 0, "[mono_ns=%llu][T0x%lx][%s] %s: [%s:%d] ",
				  (unsigned long long)clock_mono_ns(),
				  (unsigned long)pthread_self(), log_level_name(level), func,
				  log_base_name(file), line);
		errno = saved;
		len = log_append(text, LOG_HOST_MAX, len, fmt, ap);
		log_emit(level, text, log_finish(text, LOG_HOST_MAX, len));
	}
	errno = saved;
}

void log_vdevice(int level, const char *func, const char *file, int line, const char *fmt,
		 va_list ap)
{
	char text[LOG_DEVICE_MAX + 1];
	int saved = errno;
	size_t len;

	level = log_levels[log_record_index(level)].level;
	log_init();
	if (log_enabled(level)) {
		len = log_appendf(text, LOG_DEVICE_MAX, 0, "[%s] %s: [%s:%d] ",
				  log_level_name(level), func, log_base_name(file), line);
		errno = saved;
		len = log_append(text, LOG_DEVICE_MAX, len, fmt, ap);
		log_emit(level, text, log_finish(text, LOG_DEVICE_MAX, len));
	}
	errno = saved;
}

void log_record(int level, const char *func, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_vrecord(level, func, file, line, fmt, ap);
	va_end(ap);
}

void log_device(int level, const char *func, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_vdevice(level, func, file, line, fmt, ap);
	va_end(ap);
}
