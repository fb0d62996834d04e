/* SPDX-License-Identifier: MIT */
/* (a, out, s): tensors first, as the current API orders arguments */
#include "scale.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	scale(prog::tensor(args, 0), prog::tensor(args, 1), prog::scalar<float>(args, 2));
}
