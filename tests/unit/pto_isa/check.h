/* SPDX-License-Identifier: MIT */
/* What the instruction check objects export to the test program. */
#ifndef PTO_ISA_CHECK_H
#define PTO_ISA_CHECK_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Name of check @i of the object, NULL past the last one. */
typedef const char *(*pto_isa_check_name_fn)(size_t i);
/* Runs check @i: 0, or -1 with the first difference in @msg. */
typedef int (*pto_isa_check_run_fn)(size_t i, char *msg, size_t size);

#define PTO_ISA_CHECK_NAME "pto_isa_check_name"
#define PTO_ISA_CHECK_RUN "pto_isa_check_run"

#ifdef __cplusplus
}
#endif

#endif
