/* SPDX-License-Identifier: MIT */
/*
 * Log records (spec worker-api.md section 16, chip-runtime.md section 16.3).
 *
 * Host:   [mono_ns=<ns>][T0x<hex thread>][<LEVEL>] <func>: [<file>:<line>] <message>      at most
 * 512 bytes Device: [<LEVEL>] <func>: [<file>:<line>] <message>
 * at most 2048 bytes
 *
 * Both including the newline; a longer record ends in "~" and newline. Each record is one write()
 * to stderr, or one call of the sink. errno is preserved.
 *
 * All functions are thread-safe; none is async-signal-safe.
 */
#ifndef SIMPLER_BASE_LOG_H
#define SIMPLER_BASE_LOG_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum log_level {
	LOG_LEVEL_DEBUG = 10,
	LOG_LEVEL_INFO = 20,
	LOG_LEVEL_TIMING = 25,
	LOG_LEVEL_WARN = 30,
	LOG_LEVEL_ERROR = 40,
	LOG_LEVEL_NUL = 60,		/* as threshold: silence; no record has it */
};

#define LOG_HOST_MAX	512
#define LOG_DEVICE_MAX	2048

/* Records below this are dropped. 0 until the first use, so that the environment is read then. */
extern _Atomic int log_threshold;

/**
 * log_set_level() - set the threshold
 * @level: between two names it is rounded up (35 to ERROR); above ERROR means silence
 *
 * Return: the threshold that now holds.
 */
int log_set_level(int level);

/**
 * log_get_level() - the threshold
 *
 * Initially SIMPLER_LOG_LEVEL (a name in any case, or a number), read once at first use; without it
 * TIMING. A value that is neither is reported as a warning and ignored.
 */
int log_get_level(void);

/** log_level_name() - "WARN" etc. of a record's level; between two names the milder one */
const char *log_level_name(int level);

/**
 * log_level_parse() - threshold from a name in any case ("warning" and "null" are accepted too) or
 * a number
 *
 * Return: the rounded threshold or -EINVAL.
 */
int log_level_parse(const char *text);

/**
 * typedef log_sink_fn - receives complete records instead of stderr
 * @line: the record with its newline; @len bytes, not terminated; valid during the call
 *
 * Calls are serialised. A record logged from within the sink goes to stderr.
 */
typedef void log_sink_fn(void *ctx, int level, const char *line, size_t len);

/**
 * log_set_sink() - replace the destination; @fn NULL means stderr again
 *
 * When it returns, the previous sink is not running and will not be called again. Not from within a
 * sink.
 */
void log_set_sink(log_sink_fn *fn, void *ctx);

/* One record of the host; use the macros. @level between two names counts as the milder one. */
void log_record(int level, const char *func, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
void log_vrecord(int level, const char *func, const char *file, int line, const char *fmt,
		 va_list ap) __attribute__((format(printf, 5, 0)));

/*
 * One record of the simulated device's control CPUs, for rt_log_*() of orchestrations and the chip
 * runtime.
 */
void log_device(int level, const char *func, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
void log_vdevice(int level, const char *func, const char *file, int line, const char *fmt,
		 va_list ap) __attribute__((format(printf, 5, 0)));

/* log_enabled() - would a record of @level be written; one load and one branch */
static inline bool log_enabled(int level)
{
	/* relaxed: pairs with log_set_level(); a threshold orders nothing else */
	return level >= atomic_load_explicit(&log_threshold, memory_order_relaxed);
}

#define log_at(level, ...)									\
	do {											\
		if (__builtin_expect(log_enabled(level), 0))					\
			log_record((level), __func__, __FILE__, __LINE__, __VA_ARGS__);		\
	} while (0)

#define log_debug(...)	log_at(LOG_LEVEL_DEBUG, __VA_ARGS__)
#define log_info(...)	log_at(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_timing(...)	log_at(LOG_LEVEL_TIMING, __VA_ARGS__)
#define log_warn(...)	log_at(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_error(...)	log_at(LOG_LEVEL_ERROR, __VA_ARGS__)

#endif
