/* SPDX-License-Identifier: MIT */
/* Callable bytes for tests, built from the objects of tests/unit/callable_src. */
#ifndef TESTS_UNIT_CALLABLE_BUILD_H
#define TESTS_UNIT_CALLABLE_BUILD_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simpler_hw.h"

struct blob {
	unsigned char *bytes;
	size_t size;
};

/* One of the built objects; the process ends when it is not there. */
static inline struct blob object_read(const char *name)
{
	struct blob b = { NULL, 0 };
	char path[512];
	FILE *f;
	long size;

	snprintf(path, sizeof(path), "%s/tests/unit/callable/%s.so", getenv("SIMPLER_BUILD_DIR"),
		 name);
	f = fopen(path, "rb");
	if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) <= 0 || fseek(f, 0, SEEK_SET)) {
		fprintf(stderr, "%s: not readable; SIMPLER_BUILD_DIR names the build folder\n",
			path);
		exit(2);
	}
	b.size = (size_t)size;
	b.bytes = malloc(b.size);
	if (!b.bytes || fread(b.bytes, 1, b.size, f) != b.size)
		abort();
	fclose(f);
	return b;
}

/* A copy that ends where its memory ends, so that a sanitizer sees every byte read beyond it. */
static inline struct blob blob_copy(const void *bytes, size_t size)
{
	struct blob b = { malloc(size ? size : 1), size };

	if (!b.bytes)
		abort();
	memcpy(b.bytes, bytes, size);
	return b;
}

static inline struct simpler_hw_chip_callable *blob_head(const struct blob *b)
{
	return (struct simpler_hw_chip_callable *)b->bytes;
}

static inline unsigned char *blob_storage(const struct blob *b)
{
	return b->bytes + sizeof(struct simpler_hw_chip_callable);
}

static inline struct simpler_hw_core_callable *blob_child(const struct blob *b, int index)
{
	return (struct simpler_hw_core_callable *)(blob_storage(b) +
						   blob_head(b)->child_offsets[index]);
}

/* Appends zeroed storage, at a multiple of 64; returns its offset in the storage. */
static inline size_t blob_append(struct blob *b, size_t bytes)
{
	size_t head = sizeof(struct simpler_hw_chip_callable);
	size_t offset = (b->size - head + 63) & ~(size_t)63;
	unsigned char *p = realloc(b->bytes, head + offset + bytes);

	if (!p)
		abort();
	memset(p + b->size, 0, head + offset + bytes - b->size);
	*b = (struct blob){ p, head + offset + bytes };
	return offset;
}

/* An orchestration without kernels and without a signature, under the default names. */
static inline struct blob callable_new(struct blob orchestration)
{
	const size_t head = sizeof(struct simpler_hw_chip_callable);
	struct blob b = { calloc(1, head), head };

	if (!b.bytes)
		abort();
	blob_append(&b, orchestration.size);
	memcpy(blob_storage(&b), orchestration.bytes, orchestration.size);
	blob_head(&b)->binary_size = (uint32_t)orchestration.size;
	return b;
}

static inline void callable_add(struct blob *b, int32_t func_id, struct blob kernel)
{
	size_t offset = blob_append(b, sizeof(struct simpler_hw_core_callable) + kernel.size);
	struct simpler_hw_chip_callable *h = blob_head(b);

	h->child_func_ids[h->child_count] = func_id;
	h->child_offsets[h->child_count] = (uint32_t)offset;
	blob_child(b, h->child_count)->binary_size = (uint32_t)kernel.size;
	memcpy(blob_child(b, h->child_count) + 1, kernel.bytes, kernel.size);
	h->child_count++;
}

static inline void callable_name(struct blob *b, const char *func, const char *config)
{
	struct simpler_hw_chip_callable *h = blob_head(b);

	h->func_name_len = (uint32_t)snprintf(h->func_name, sizeof(h->func_name), "%s", func);
	h->config_name_len =
		(uint32_t)snprintf(h->config_name, sizeof(h->config_name), "%s", config);
}

/* A callable with all fields in use: two kernels, a signature, names. It can be loaded. */
static inline struct blob callable_full(void)
{
	struct blob orchestration = object_read("orch_named"), kernel = object_read("kernel_bare");
	struct blob b = callable_new(orchestration);

	callable_add(&b, 7, kernel);
	callable_add(&b, 2, kernel);
	callable_name(&b, "my_entry", "");
	memcpy(blob_head(&b)->signature, (int32_t[]){ 1, 2, 0 }, 12);
	blob_head(&b)->sig_count = 3;
	memcpy(blob_child(&b, 0)->signature, (int32_t[]){ 0, 1, 2 }, 12);
	blob_child(&b, 0)->sig_count = 3;
	free(orchestration.bytes);
	free(kernel.bytes);
	return b;
}

static inline void blob_flip(struct blob *b, size_t bit)
{
	b->bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
}

/* A linear congruential generator, so that every run damages the same places. */
static inline uint32_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 33);
}

#endif
