/* SPDX-License-Identifier: MIT */
/* (a, s, out): the scalar where the older APIs' parameter list has it */
#include "scale.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	scale(prog::tensor(args, 0), prog::tensor(args, 2), prog::scalar<float>(args, 1));
}
