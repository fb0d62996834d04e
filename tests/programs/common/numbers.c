/* SPDX-License-Identifier: MIT */
/* Random numbers and 16-bit floats, independent of what the kernels use. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"

/* Memory of a pass; what the program gets follows, aligned for any element. */
struct prog_block {
	struct prog_block *next;
	_Alignas(64) unsigned char bytes[];
};

void *prog_alloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		prog_die("no memory for %zu elements of %zu bytes", n, size);
	return p;
}

void *prog_new(struct prog_session *s, size_t n, size_t size)
{
	size_t bytes = (sizeof(struct prog_block) + n * size + 63) & ~(size_t)63;
	struct prog_block *b = aligned_alloc(64, bytes);

	if (!b)
		prog_die("no memory for %zu elements of %zu bytes", n, size);
	memset(b, 0, bytes);
	b->next = s->blocks;
	s->blocks = b;
	return b->bytes;
}

void blocks_release(struct prog_session *s)
{
	while (s->blocks) {
		struct prog_block *b = s->blocks;

		s->blocks = b->next;
		free(b);
	}
}

/* splitmix64 */
uint64_t prog_random_next(struct prog_random *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

uint32_t prog_random_below(struct prog_random *r, uint32_t n)
{
	return (uint32_t)((prog_random_next(r) >> 32) * n >> 32);
}

float prog_random_float(struct prog_random *r)
{
	return (float)((int32_t)(prog_random_next(r) >> 40) - (1 << 23)) / (float)(1 << 23);
}

static uint32_t float_bits(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

static float float_from_bits(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

/* Rounds by the arithmetic of double, whose results are exact here. */
uint16_t prog_half_from_float(float f)
{
	uint16_t sign = (uint16_t)(float_bits(f) >> 16 & 0x8000);
	double v = fabs((double)f);
	int exponent;

	if (isnan(f))
		return sign | 0x7e00;
	if (v >= 65520.0)
		return sign | 0x7c00;
	if (v < ldexp(1.0, -14))
		return sign | (uint16_t)nearbyint(ldexp(v, 24));
	frexp(v, &exponent);
	/* a mantissa that rounds up to 2048 carries into the exponent */
	return sign | (uint16_t)(((exponent + 13) << 10) + (int)nearbyint(ldexp(v, 11 - exponent)));
}

float prog_half_to_float(uint16_t h)
{
	int exponent = h >> 10 & 31, mantissa = h & 1023;
	double v = exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);

	if (exponent == 31)
		v = mantissa ? (double)NAN : (double)INFINITY;
	return (float)(h & 0x8000 ? -v : v);
}

uint16_t prog_bf16_from_float(float f)
{
	uint32_t bits = float_bits(f);
	uint32_t rest = bits & 0xffff, kept = bits >> 16;

	if (isnan(f))
		return (uint16_t)(kept | 0x40);
	return (uint16_t)(kept + (rest > 0x8000 || (rest == 0x8000 && (kept & 1))));
}

float prog_bf16_to_float(uint16_t b)
{
	return float_from_bits((uint32_t)b << 16);
}

double prog_element(const void *data, int dtype, size_t i)
{
	switch (dtype) {
	case SIMPLER_FLOAT32:
		return (double)((const float *)data)[i];
	case SIMPLER_FLOAT16:
		return (double)prog_half_to_float(((const uint16_t *)data)[i]);
	case SIMPLER_BFLOAT16:
		return (double)prog_bf16_to_float(((const uint16_t *)data)[i]);
	default:
		prog_die("element type %d is no float", dtype);
	}
}

void prog_fill_random(struct prog_random *r, void *data, int dtype, size_t n, float magnitude)
{
	for (size_t i = 0; i < n; i++) {
		float f = magnitude * prog_random_float(r);

		if (dtype == SIMPLER_FLOAT32)
			((float *)data)[i] = f;
		else if (dtype == SIMPLER_FLOAT16)
			((uint16_t *)data)[i] = prog_half_from_float(f);
		else if (dtype == SIMPLER_BFLOAT16)
			((uint16_t *)data)[i] = prog_bf16_from_float(f);
		else
			prog_die("element type %d is no float", dtype);
	}
}
