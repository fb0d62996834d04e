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

/* An instruction on a tile: element type, layout, "full" or "part" for its valid region. */
struct pto_isa_covered {
	const char *op, *type, *layout, *region;
};

/* What the checks that ran cover, entry @i: 1 passed, 0 failed, -1 past the last one. */
typedef int (*pto_isa_check_covered_fn)(size_t i, struct pto_isa_covered *what);

#define PTO_ISA_CHECK_NAME "pto_isa_check_name"
#define PTO_ISA_CHECK_RUN "pto_isa_check_run"
#define PTO_ISA_CHECK_COVERED "pto_isa_check_covered"

#ifdef __cplusplus
}
#endif

#endif
