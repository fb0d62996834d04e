/* SPDX-License-Identifier: MIT */
/* Visibility of the public functions, and C linkage for C++ callers. */
#ifndef SIMPLER_EXPORT_H
#define SIMPLER_EXPORT_H

#define SIMPLER_API __attribute__((visibility("default")))

#ifdef __cplusplus
#define SIMPLER_BEGIN_DECLS extern "C" {
#define SIMPLER_END_DECLS }
#define SIMPLER_STATIC_ASSERT(cond, text) static_assert(cond, text)
#else
#define SIMPLER_BEGIN_DECLS
#define SIMPLER_END_DECLS
#define SIMPLER_STATIC_ASSERT(cond, text) _Static_assert(cond, text)
#endif

#endif /* SIMPLER_EXPORT_H */
