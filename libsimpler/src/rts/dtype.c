/* SPDX-License-Identifier: MIT */
#include "simpler/dtype.h"

struct dtype_fact {
	const char *name;
	unsigned char bytes;
};

static const struct dtype_fact dtype_facts[SIMPLER_DTYPE_COUNT] = {
	[SIMPLER_FLOAT32] = { "FLOAT32", 4 },
	[SIMPLER_FLOAT16] = { "FLOAT16", 2 },
	[SIMPLER_INT32] = { "INT32", 4 },
	[SIMPLER_INT16] = { "INT16", 2 },
	[SIMPLER_INT8] = { "INT8", 1 },
	[SIMPLER_UINT8] = { "UINT8", 1 },
	[SIMPLER_BFLOAT16] = { "BFLOAT16", 2 },
	[SIMPLER_INT64] = { "INT64", 8 },
	[SIMPLER_UINT64] = { "UINT64", 8 },
	[SIMPLER_UINT16] = { "UINT16", 2 },
	[SIMPLER_UINT32] = { "UINT32", 4 },
	[SIMPLER_BOOL] = { "BOOL", 1 },
	[SIMPLER_FP8E4M3FN] = { "FP8E4M3FN", 1 },
	[SIMPLER_FP8E8M0] = { "FP8E8M0", 1 },
	[SIMPLER_FP4E2M1] = { "FP4E2M1", 1 },
};

size_t simpler_dtype_size(int dtype)
{
	return dtype >= 0 && dtype < SIMPLER_DTYPE_COUNT ? dtype_facts[dtype].bytes : 0;
}

const char *simpler_dtype_name(int dtype)
{
	return dtype >= 0 && dtype < SIMPLER_DTYPE_COUNT ? dtype_facts[dtype].name : "UNKNOWN";
}
