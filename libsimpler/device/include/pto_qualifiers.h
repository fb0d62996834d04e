/* SPDX-License-Identifier: MIT */
/*
 * Words that the device compiler knows and a host compiler does not.  Kernel
 * headers may be included in any order, so each definition yields to an
 * earlier one.
 *
 * Spec: chip-runtime §9, decisions D19.
 */
#ifndef PTO_QUALIFIERS_H
#define PTO_QUALIFIERS_H

#include <stdint.h>

#ifndef __gm__
#define __gm__
#endif
#ifndef __aicore__
#define __aicore__
#endif
#ifndef __global__
#define __global__
#endif
#ifndef AICORE
#define AICORE
#endif

/* The loader looks the entry up by name, also in objects built with hidden visibility. */
extern "C" __attribute__((visibility("default"))) void kernel_entry(int64_t *args);

#if defined(__GNUC__) && !defined(__clang__)
/* Generated kernels ask for an entry that is always inlined, which only the device can do. */
#pragma GCC diagnostic ignored "-Wattributes"
#endif

#endif /* PTO_QUALIFIERS_H */
