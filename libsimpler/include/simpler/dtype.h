/* SPDX-License-Identifier: MIT */
/* Element types (worker-api §1.2, chip-runtime §6.1). */
#ifndef SIMPLER_DTYPE_H
#define SIMPLER_DTYPE_H

#include <stddef.h>

#include "simpler/export.h"

SIMPLER_BEGIN_DECLS

enum simpler_dtype {
	SIMPLER_FLOAT32 = 0,
	SIMPLER_FLOAT16 = 1,
	SIMPLER_INT32 = 2,
	SIMPLER_INT16 = 3,
	SIMPLER_INT8 = 4,
	SIMPLER_UINT8 = 5,
	SIMPLER_BFLOAT16 = 6,
	SIMPLER_INT64 = 7,
	SIMPLER_UINT64 = 8,
	SIMPLER_UINT16 = 9,
	SIMPLER_UINT32 = 10,
	SIMPLER_BOOL = 11,
	SIMPLER_FP8E4M3FN = 12,
	SIMPLER_FP8E8M0 = 13,
	SIMPLER_FP4E2M1 = 14,		/* two values packed in one byte */
	SIMPLER_DTYPE_COUNT = 15
};

/** simpler_dtype_size - bytes of one element; 0 for an unknown type.  Thread safe. */
SIMPLER_API size_t simpler_dtype_size(int dtype);

/** simpler_dtype_name - "FLOAT32", …; "UNKNOWN" for an unknown type.  Thread safe. */
SIMPLER_API const char *simpler_dtype_name(int dtype);

SIMPLER_END_DECLS

#endif /* SIMPLER_DTYPE_H */
