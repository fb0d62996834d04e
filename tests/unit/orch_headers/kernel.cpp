// SPDX-License-Identifier: MIT
// Kernel sources: what they include, and how they read their argument words.
#include "intrinsic.h"
#include "tensor.h"
#include "pipe_sync.h"

#ifndef __gm__
#define __gm__
#endif
#ifndef __aicore__
#define __aicore__ [aicore]
#endif

// args: in, out, number of elements, call count
extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t *args)
{
	__gm__ Tensor *in_tensor = reinterpret_cast<__gm__ Tensor *>(args[0]);
	__gm__ float *in = reinterpret_cast<__gm__ float *>(in_tensor->buffer.addr) +
			   in_tensor->start_offset;
	__gm__ ChipTensor *out = reinterpret_cast<__gm__ ChipTensor *>(args[1]);
	int64_t rows = static_cast<int64_t>(in_tensor->repeats[0]);
	int64_t cols = static_cast<int64_t>(in_tensor->shapes[1]);

	for (int64_t r = 0; r < rows; r++)
		for (int64_t c = 0; c < cols; c++)
			out->data_as<float>()[r * out->strides[0] + c] =
				2 * in[r * in_tensor->strides[0] + c];
	pipe_sync();
}

extern "C" __attribute__((visibility("default"))) void coordinates(int64_t *args, int32_t *out)
{
	out[0] = get_block_idx(args);
	out[1] = get_block_num(args);
	out[2] = get_sub_block_id(args);
	out[3] = get_dma_workspace(args, 0) == reinterpret_cast<void *>(0x1000);
	out[4] = get_dma_workspace(args, DmaWorkspaceKind::URMA) == nullptr;
	out[5] = get_dma_workspace(args, 2) == nullptr && get_dma_workspace(args, -1) == nullptr;
	LocalContext *local = reinterpret_cast<LocalContext *>(args[SPMD_LOCAL_CONTEXT_INDEX]);
	GlobalContext *global = reinterpret_cast<GlobalContext *>(args[SPMD_GLOBAL_CONTEXT_INDEX]);
#if defined(__NPU_ARCH__) && __NPU_ARCH__ == 3510
	out[6] = local->s_block_idx == out[0] && local->s_block_num == out[1];
#else
	out[6] = local->block_idx == out[0] && local->block_num == out[1];
#endif
	out[7] = global->sub_block_id;
}

// Registers n conditions; returns how many were accepted.
extern "C" __attribute__((visibility("default"))) int register_conditions(int64_t *args, int n)
{
	AsyncCtx ctx = get_async_ctx(args);
	CompletionToken token = {};
	int accepted = 0;

	token.addr = 0x40;
	token.type = static_cast<int32_t>(CompletionType::SDMA_EVENT_RECORD);
	for (int i = 0; i < n - 1; i++)
		accepted += register_completion_condition(ctx, token);
	return accepted + save_expected_notification_counter(ctx, uint64_t(0x80), 3);
}
