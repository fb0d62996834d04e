/* SPDX-License-Identifier: MIT */
/* Inputs of the attention program, and what should come out of it. */
#ifndef PAGED_ATTENTION_WORKLOAD_H
#define PAGED_ATTENTION_WORKLOAD_H

#include "../common/prog.h"

struct workload {
	const char *name;
	int dtype;			/* of queries, keys and values */
	uint32_t batch;
	uint32_t heads;
	uint32_t kv_heads;
	uint32_t dim;
	uint32_t block_size;
	uint32_t max_tokens;		/* of a sequence, this step's included */
	struct prog_tolerance tolerance;

	/* made by workload_prepare() */
	uint32_t blocks_per_seq;
	uint32_t cache_rows;
	int32_t *past;			/* tokens in the cache before this step */
	int32_t *table;			/* [batch, blocks_per_seq] */
	uint16_t *q, *new_k, *new_v;
	uint16_t *k_cache, *v_cache;	/* [cache_rows, kv_heads * dim] */
	double *golden;			/* [batch * heads, dim] */
	uint16_t *k_after, *v_after;	/* the caches with the new token */
	double flop;
};

/* Once per program; the inputs depend on @seed only. */
void workload_prepare(struct workload *w, uint64_t seed);
void workload_release(struct workload *w);

#endif /* PAGED_ATTENTION_WORKLOAD_H */
