/* SPDX-License-Identifier: MIT */
/*
 * What a kernel learns from its argument words besides its arguments: which
 * block it is, which of the two vector lanes, and where to register the
 * conditions of a deferred completion.
 *
 * Spec: chip-runtime §9, decisions D19.
 */
#ifndef PTO_INTRINSIC_H
#define PTO_INTRINSIC_H

#include <stddef.h>
#include <stdint.h>

#include "pto_qualifiers.h"
#include "pto_runtime_abi.h"

#define SPMD_LOCAL_CONTEXT_INDEX PTO_LOCAL_CONTEXT
#define SPMD_GLOBAL_CONTEXT_INDEX PTO_GLOBAL_CONTEXT

using AsyncCtx = struct pto_async_ctx;
using CompletionToken = struct pto_async_condition;

enum class CompletionEngine : uint32_t { SDMA = 0, ROCE = 1, URMA = 2, CCU = 3 };
enum class CompletionType : int32_t { COUNTER = 0, SDMA_EVENT_RECORD = 1 };
enum class DmaWorkspaceKind : int32_t { SDMA = 0, URMA = 1 };

/* Stored where the runtime finds it when a kernel registers too much (chip-runtime §15.1). */
#define PTO_ASYNC_WAIT_OVERFLOW 102

struct LocalContext {
#if defined(__NPU_ARCH__) && __NPU_ARCH__ == 3510
	int32_t s_block_idx;
	int32_t s_block_num;
#else
	int32_t block_idx;
	int32_t block_num;
#endif
	AsyncCtx async;
};

struct GlobalContext {
	int32_t sub_block_id;
	int32_t reserved;
	uint64_t dma_workspace[2];
};

static_assert(sizeof(LocalContext) == sizeof(struct pto_local_context) &&
		      offsetof(LocalContext, async) == offsetof(struct pto_local_context, async),
	      "LocalContext differs from struct pto_local_context");
static_assert(sizeof(GlobalContext) == sizeof(struct pto_global_context) &&
		      offsetof(GlobalContext, dma_workspace) ==
			      offsetof(struct pto_global_context, dma_workspace),
	      "GlobalContext differs from struct pto_global_context");

static inline __aicore__ __gm__ LocalContext *get_local_context(__gm__ int64_t *args)
{
	return reinterpret_cast<__gm__ LocalContext *>(args[SPMD_LOCAL_CONTEXT_INDEX]);
}

static inline __aicore__ __gm__ GlobalContext *get_global_context(__gm__ int64_t *args)
{
	return reinterpret_cast<__gm__ GlobalContext *>(args[SPMD_GLOBAL_CONTEXT_INDEX]);
}

/**
 * get_block_idx() - which block of the task this call is
 * @args: the kernel's argument words
 *
 * Return: 0 to get_block_num(args) - 1.
 */
static inline __aicore__ int32_t get_block_idx(__gm__ int64_t *args)
{
#if defined(__NPU_ARCH__) && __NPU_ARCH__ == 3510
	return get_local_context(args)->s_block_idx;
#else
	return get_local_context(args)->block_idx;
#endif
}

/* Number of blocks of the task. */
static inline __aicore__ int32_t get_block_num(__gm__ int64_t *args)
{
#if defined(__NPU_ARCH__) && __NPU_ARCH__ == 3510
	return get_local_context(args)->s_block_num;
#else
	return get_local_context(args)->block_num;
#endif
}

/* Vector lane within the cluster: 0 for AIV0, 1 for AIV1.  Means something in MIX tasks only. */
static inline __aicore__ int32_t get_sub_block_id(__gm__ int64_t *args)
{
	return get_global_context(args)->sub_block_id;
}

/**
 * get_dma_workspace() - memory set aside for a DMA engine
 * @args: the kernel's argument words
 * @kind: 0 SDMA, 1 URMA
 *
 * Return: its address; null if @kind is neither or the run has none.
 */
static inline __aicore__ __gm__ void *get_dma_workspace(__gm__ int64_t *args, int32_t kind)
{
	if (kind < 0 || kind > 1)
		return nullptr;
	return reinterpret_cast<__gm__ void *>(
		static_cast<uintptr_t>(get_global_context(args)->dma_workspace[kind]));
}

static inline __aicore__ __gm__ void *get_dma_workspace(__gm__ int64_t *args,
							 DmaWorkspaceKind kind)
{
	return get_dma_workspace(args, static_cast<int32_t>(kind));
}

/* Handle for registering completion conditions; valid until the kernel returns. */
static inline __aicore__ AsyncCtx get_async_ctx(__gm__ int64_t *args)
{
	return get_local_context(args)->async;
}

/**
 * register_completion_condition() - let the task complete only when @token holds
 * @ctx: from get_async_ctx()
 * @token: condition; copied
 *
 * The task completes when all its conditions hold and all its kernels returned.
 *
 * Return: true; false if the 64 places are used up, which also ends the run
 * with code 102.
 */
static inline __aicore__ bool register_completion_condition(const AsyncCtx &ctx,
							     const CompletionToken &token)
{
	if (*ctx.count >= ctx.capacity) {
		if (!*ctx.error)
			*ctx.error = PTO_ASYNC_WAIT_OVERFLOW;
		return false;
	}
	ctx.entries[(*ctx.count)++] = token;
	return true;
}

/**
 * save_expected_notification_counter() - wait for a counter before completing
 * @ctx: from get_async_ctx()
 * @addr: address of the counter
 * @value: the condition holds once the counter has reached it
 *
 * Return: as register_completion_condition().
 */
static inline __aicore__ bool save_expected_notification_counter(const AsyncCtx &ctx,
								  uint64_t addr, uint32_t value)
{
	CompletionToken token = {};

	token.addr = addr;
	token.expected_value = value;
	token.engine = static_cast<uint32_t>(CompletionEngine::SDMA);
	token.type = static_cast<int32_t>(CompletionType::COUNTER);
	return register_completion_condition(ctx, token);
}

static inline __aicore__ bool save_expected_notification_counter(const AsyncCtx &ctx,
								  volatile __gm__ void *addr,
								  uint32_t value)
{
	return save_expected_notification_counter(
		ctx, static_cast<uint64_t>(reinterpret_cast<uintptr_t>(addr)), value);
}

#endif /* PTO_INTRINSIC_H */
