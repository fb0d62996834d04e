/* SPDX-License-Identifier: MIT */
/*
 * Memory planning: an address for every buffer of a function, so that buffers in use at the same
 * time do not overlap. Sections 9.6, 9.7.
 */
#ifndef PTOAS_PLAN_H
#define PTOAS_PLAN_H

#include "pass.h"

/* A buffer in use at places first to last of the program, both included. */
struct plan_item {
	int64_t size;		/* bytes, a multiple of the alignment */
	int64_t offset;		/* answer */
	uint32_t first, last;
};

/**
 * plan_pack() - offsets for @items such that those with common places do not overlap
 * @align: of every offset
 *
 * Deterministic. Time: n^2 per order tried, of which there are few and for many items only one.
 *
 * Return: bytes in use, or -ENOMEM.
 */
int64_t plan_pack(struct plan_item *items, uint32_t n, int64_t align);

/* Bytes in use at the fullest place: no plan needs less. Or -ENOMEM. */
int64_t plan_bound(const struct plan_item *items, uint32_t n);

/**
 * pass_plan_memory() - gives every allocation without address one
 *
 * Not at level3. Afterwards every alloc_tile, alloc_multi_tile has operand "addr", a constant.
 */
int pass_plan_memory(struct pto_pass_ctx *c);
bool plan_memory_wanted(const struct pto_pass_ctx *c);

/**
 * pass_reserve_buffers() - reserve_buffer and import_reserved_buffer become constants
 *
 * Needs every buffer's address.
 */
int pass_reserve_buffers(struct pto_pass_ctx *c);

#endif
