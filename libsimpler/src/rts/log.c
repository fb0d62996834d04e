/* SPDX-License-Identifier: MIT */
/* The public face of base/log. */
#include "simpler/log.h"

#include "base/log.h"
#include "simpler/error.h"

int simpler_log_set_threshold(int level)
{
	if (level < 0 || level > SIMPLER_LOG_NUL)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	log_set_level(level);
	return 0;
}

int simpler_log_threshold(void)
{
	return log_get_level();
}

void simpler_log_write(int level, const char *func, const char *file, int line, const char *message)
{
	if (log_enabled(level))
		log_record(level, func, file, line, "%s", message);
}
