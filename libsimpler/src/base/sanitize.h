/* SPDX-License-Identifier: MIT */
/*
 * Which sanitizer this translation unit is built with, for gcc and clang alike, and the attributes
 * that keep single functions out of instrumentation.
 */
#ifndef SIMPLER_BASE_SANITIZE_H
#define SIMPLER_BASE_SANITIZE_H

#include <stddef.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#ifndef __has_attribute
#define __has_attribute(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define SANITIZE_ADDRESS 1
#include <sanitizer/asan_interface.h>
#else
#define SANITIZE_ADDRESS 0
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define SANITIZE_THREAD 1
#else
#define SANITIZE_THREAD 0
#endif

/*
 * clang keeps instrumenting atomics and function entries under no_sanitize("thread"); this one is
 * total.
 */
#if __has_attribute(disable_sanitizer_instrumentation)
#define NO_SANITIZE __attribute__((disable_sanitizer_instrumentation))
#elif SANITIZE_THREAD
#define NO_SANITIZE __attribute__((no_sanitize("thread")))
#elif SANITIZE_ADDRESS
#define NO_SANITIZE __attribute__((no_sanitize("address")))
#else
#define NO_SANITIZE
#endif

/*
 * Memory that nobody may touch until it is handed out (again), and the reverse. The empty assembler
 * statement hides where the address comes from: gcc takes the pointer to const in ASan's interface
 * for a read of memory fresh from malloc().
 */
static inline void sanitize_poison(const void *addr, size_t size)
{
#if SANITIZE_ADDRESS
	__asm__("" : "+r"(addr));
	__asan_poison_memory_region(addr, size);
#else
	(void)addr;
	(void)size;
#endif
}

static inline void sanitize_unpoison(const void *addr, size_t size)
{
#if SANITIZE_ADDRESS
	__asan_unpoison_memory_region(addr, size);
#else
	(void)addr;
	(void)size;
#endif
}

#endif
