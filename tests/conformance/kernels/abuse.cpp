// SPDX-License-Identifier: MIT
// args: int32 tensor, scalar: how the completion slab is misused
#include "intrinsic.h"
#include "tensor.h"

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	auto *t = reinterpret_cast<const ChipTensor *>(args[0]);
	AsyncCtx ctx = get_async_ctx(args);
	CompletionToken token = {};

	token.addr = t->buffer.addr;
	switch (args[1]) {
	case 0: token.type = 7; break;
	case 1: token.engine = 9; break;
	case 2: token.addr = 0; break;
	case 3: token.addr += 2; break;
	case 4: /* 65 of them */
		for (int i = 0; i < 64; i++)
			register_completion_condition(ctx, token);
		break;
	case 5: *ctx.count = 65; return;
	case 6: *ctx.count = UINT32_MAX; return;
	case 7: *ctx.error = 103; return;
	case 9: token.addr = 0x1000; break; /* nobody has memory there */
	case 10: *ctx.error = -1; return;
	case 11: *ctx.error = -2; return;
	case 12: *ctx.error = -5; return;
	case 13: *ctx.error = 5000; return;
	default: /* 64 that hold already: allowed */
		for (int i = 0; i < 63; i++)
			register_completion_condition(ctx, token);
		break;
	}
	register_completion_condition(ctx, token);
}
