/* SPDX-License-Identifier: MIT */
/*
 * Log of the library (worker-api §16).  One threshold per process; records go
 * to stderr as
 *   [mono_ns=<ns>][T0x<thread>][<LEVEL>] <func>: [<file>:<line>] <message>
 */
#ifndef SIMPLER_LOG_H
#define SIMPLER_LOG_H

#include <stdbool.h>

#include "simpler/export.h"

SIMPLER_BEGIN_DECLS

enum simpler_log_level {
	SIMPLER_LOG_DEBUG = 10,
	SIMPLER_LOG_INFO = 20,
	SIMPLER_LOG_TIMING = 25,	/* default threshold */
	SIMPLER_LOG_WARN = 30,
	SIMPLER_LOG_ERROR = 40,
	SIMPLER_LOG_NUL = 60		/* threshold only: nothing is written */
};

/**
 * simpler_log_set_threshold - choose which records are written
 * @level: records below it are dropped; a value between two names counts as
 *	the higher one
 *
 * Returns 0, or SIMPLER_ERR_INVALID_ARGUMENT for a value outside [0, 60].
 * Thread safe.
 */
SIMPLER_API int simpler_log_set_threshold(int level);

/** simpler_log_threshold - the present threshold.  Thread safe. */
SIMPLER_API int simpler_log_threshold(void);

/**
 * simpler_log_write - write one record of the application
 * @level: of the record
 * @func: function that reports
 * @file: source file, last component
 * @line: source line
 * @message: text, at most one line
 *
 * Thread safe; never fails (a record that cannot be written is dropped).
 */
SIMPLER_API void simpler_log_write(int level, const char *func, const char *file, int line,
				   const char *message);

SIMPLER_END_DECLS

#endif /* SIMPLER_LOG_H */
