/* SPDX-License-Identifier: MIT */
/*
 * Messages and fatal errors of an orchestration.  Both generations of the API
 * are served: LOG_INFO("n=%d", n) and LOG_INFO(rt, "n=%d", n).  The compiler
 * checks the format where it is written.
 *
 * Spec: chip-runtime §7.3, §8.2.
 */
#ifndef PTO_ORCHESTRATION_LOG_H
#define PTO_ORCHESTRATION_LOG_H

#include "runtime.h"

namespace pto_orch __attribute__((visibility("hidden")))
{
using log_fn = void (*)(PTO2Runtime *, const char *, const char *, ...);

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-security"
#elif defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-security"
#endif

template <typename... Args>
void log(log_fn PTO2RuntimeOps::*level, const char *func, PTO2Runtime *rt, const char *fmt,
	 Args... args)
{
	if (rt)
		(rt->ops->*level)(rt, func, fmt, args...);
}

template <typename... Args>
void log(log_fn PTO2RuntimeOps::*level, const char *func, const char *fmt, Args... args)
{
	log(level, func, runtime(), fmt, args...);
}

template <typename... Args>
void fatal(const char *func, PTO2Runtime *rt, int code, const char *fmt, Args... args)
{
	rt->ops->report_fatal(rt, code, func, fmt, args...);
}

template <typename... Args> void fatal(const char *func, int code, const char *fmt, Args... args)
{
	fatal(func, runtime(), code, fmt, args...);
}

#if defined(__clang__)
#pragma clang diagnostic pop
#elif defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/* Never called; they let the compiler compare the arguments with the format. */
__attribute__((format(printf, 1, 2))) inline void check_format(const char *, ...)
{
}
__attribute__((format(printf, 2, 3))) inline void check_format(PTO2Runtime *, const char *, ...)
{
}
__attribute__((format(printf, 2, 3))) inline void check_format(int, const char *, ...)
{
}
__attribute__((format(printf, 3, 4))) inline void check_format(PTO2Runtime *, int, const char *,
							       ...)
{
}
} /* namespace pto_orch */

#define PTO_LOG(level, ...)                                                                   \
	do {                                                                                  \
		if (false)                                                                    \
			::pto_orch::check_format(__VA_ARGS__);                                \
		::pto_orch::log(&::PTO2RuntimeOps::level, __func__, __VA_ARGS__);              \
	} while (0)

#undef LOG_ERROR
#undef LOG_WARN
#undef LOG_TIMING
#undef LOG_INFO
#undef LOG_DEBUG
#undef LOG_ALWAYS
#define LOG_ERROR(...) PTO_LOG(log_error, __VA_ARGS__)
#define LOG_WARN(...) PTO_LOG(log_warn, __VA_ARGS__)
#define LOG_TIMING(...) PTO_LOG(log_timing, __VA_ARGS__)
#define LOG_INFO(...) PTO_LOG(log_info, __VA_ARGS__)
#define LOG_DEBUG(...) PTO_LOG(log_debug, __VA_ARGS__)
/* Older name; the level that no usual setting hides and that is not a complaint. */
#define LOG_ALWAYS(...) PTO_LOG(log_timing, __VA_ARGS__)

/* rt_report_fatal(code, fmt, ...): the run ends with @code; the first code wins. */
#define rt_report_fatal(...)                                                                  \
	do {                                                                                  \
		if (false)                                                                    \
			::pto_orch::check_format(__VA_ARGS__);                                \
		::pto_orch::fatal(__func__, __VA_ARGS__);                                     \
	} while (0)
#define pto2_rt_report_fatal(...) rt_report_fatal(__VA_ARGS__)

#endif /* PTO_ORCHESTRATION_LOG_H */
