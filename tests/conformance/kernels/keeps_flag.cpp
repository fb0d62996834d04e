// SPDX-License-Identifier: MIT
// args: a tensor, scalar: whether the flag is waited for; no instruction beside the flag
#include <pto/pto-inst.hpp>

extern "C" __global__ AICORE void kernel_entry(__gm__ int64_t *args)
{
	set_flag(PIPE_V, PIPE_MTE3, EVENT_ID3);
	if (args[1])
		wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID3);
}
