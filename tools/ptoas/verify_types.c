/* SPDX-License-Identifier: MIT */
/* Questions about types that the rules ask. */
#include <stdio.h>
#include <string.h>

#include "verify.h"

const char *elem_text(const struct pto_type *t)
{
	return pto_elem_info((enum pto_elem)t->elem)->text;
}

uint32_t class_bit(const struct pto_type *t)
{
	return 1u << pto_elem_info((enum pto_elem)t->elem)->class;
}

bool in_mask(const struct pto_type *t, uint32_t mask)
{
	return !mask || (mask & class_bit(t));
}

void mask_text(uint32_t mask, char *text, size_t size)
{
	size_t n = 0;
	int e;

	text[0] = '\0';
	for (e = 1; e < PTO_ELEMS && n < size; e++)
		if (mask & 1u << e)
			n += (size_t)snprintf(text + n, size - n, "%s%s", n ? "/" : "",
					      pto_elem_info((enum pto_elem)e)->text);
}

bool dims_agree(int64_t a, int64_t b)
{
	return a == PTO_DYNAMIC || b == PTO_DYNAMIC || a == b;
}

bool same_shape(const struct pto_type *a, const struct pto_type *b)
{
	return a->kind != PTO_T_TILE || b->kind != PTO_T_TILE ||
	       (a->dim[0] == b->dim[0] && a->dim[1] == b->dim[1]);
}

bool same_valid(const struct pto_type *a, const struct pto_type *b)
{
	return a->kind != PTO_T_TILE || b->kind != PTO_T_TILE ||
	       (dims_agree(a->valid[0], b->valid[0]) && dims_agree(a->valid[1], b->valid[1]));
}

bool is_row_major(const struct pto_type *t)
{
	return t->kind != PTO_T_TILE || t->blayout == PTO_ROW_MAJOR;
}

int64_t static_count(const struct pto_type *t)
{
	const int64_t *dim = t->kind == PTO_T_TILE ? t->valid : t->dim;
	unsigned int i, rank = t->kind == PTO_T_TILE ? 2 : t->rank;
	int64_t n = 1;

	if (t->kind == PTO_T_PTR)
		return -1;
	for (i = 0; i < rank; i++)
		if (dim[i] == PTO_DYNAMIC || __builtin_mul_overflow(n, dim[i], &n))
			return -1;
	return n;
}
