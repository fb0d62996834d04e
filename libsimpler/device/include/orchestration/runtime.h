/* SPDX-License-Identifier: MIT */
/*
 * The runtime that an orchestration object works for.  Its loader calls
 * framework_bind_runtime() before each run; the pointer is private to the
 * object, so an object serves one run at a time.
 *
 * Spec: chip-runtime §7.1, §7.2, decisions D23.
 */
#ifndef PTO_ORCHESTRATION_RUNTIME_H
#define PTO_ORCHESTRATION_RUNTIME_H

#include <stdint.h>

#include "../pto_runtime_abi.h"
#include "types.h"

/* Hidden: two orchestration objects in one process must not share any of this. */
namespace pto_orch __attribute__((visibility("hidden")))
{
inline PTO2Runtime *current_runtime = nullptr;
inline int32_t pipe_count = 0; /* pipes made in this run; their serial numbers */

inline PTO2Runtime *runtime()
{
	return current_runtime;
}

/* Formats are literals of these headers, or checked where the user writes them. */
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-security"
#elif defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-security"
#endif

/* Ends the run with INVALID_ARGS where the reference would assert. */
template <typename... Args>
__attribute__((cold, noinline)) void invalid_on(PTO2Runtime *rt, const char *func,
						const char *fmt, Args... args) noexcept
{
	if (rt)
		rt->ops->invalid_args(rt, func, fmt, args...);
}

template <typename... Args>
__attribute__((cold, noinline)) void invalid(const char *func, const char *fmt,
					     Args... args) noexcept
{
	invalid_on(runtime(), func, fmt, args...);
}

#if defined(__clang__)
#pragma clang diagnostic pop
#elif defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
} /* namespace pto_orch */

/* PTO_ORCH_BIND_SYMBOL; weak because every source of an object brings it. */
extern "C" __attribute__((weak, used, visibility("default"))) void
framework_bind_runtime(PTO2Runtime *rt)
{
	pto_orch::current_runtime = rt;
	pto_orch::pipe_count = 0;
}

/**
 * rt_is_fatal() - whether the run has failed
 *
 * From then on every call does nothing; a long loop may want to stop early.
 */
inline bool rt_is_fatal()
{
	return pto_orch::runtime()->ops->is_fatal(pto_orch::runtime());
}

/* Number of clusters, and of vector cores, of the device. */
inline int32_t rt_available_cluster_count()
{
	return pto_orch::runtime()->ops->available_cluster_count(pto_orch::runtime());
}

inline int32_t rt_available_aiv_count()
{
	return pto_orch::runtime()->ops->available_aiv_count(pto_orch::runtime());
}

/* Marks the end of the orchestration; the executor does it after the entry. */
inline void rt_orchestration_done()
{
	pto_orch::runtime()->ops->orchestration_done(pto_orch::runtime());
}

inline void pto2_rt_orchestration_done(PTO2Runtime *rt)
{
	rt->ops->orchestration_done(rt);
}

#endif /* PTO_ORCHESTRATION_RUNTIME_H */
