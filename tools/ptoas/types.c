/* SPDX-License-Identifier: MIT */
/* What types, element types and enumerated attributes are called and how large they are. */
#include <string.h>

#include "ir.h"

static const struct pto_elem_info elems[PTO_ELEMS] = {
#define ELEM(code, text_, bits_, class_, cxx_) \
	[PTO_##code] = { .text = text_, .cxx = cxx_, .bits = bits_, .class = PTO_##class_ },
#include "elems.def"
#undef ELEM
};

const struct pto_elem_info *pto_elem_info(enum pto_elem elem)
{
	return &elems[elem];
}

bool pto_elem_is_float(enum pto_elem elem)
{
	return elem >= PTO_F16;
}

bool pto_elem_is_int(enum pto_elem elem)
{
	return elem >= PTO_I1 && elem <= PTO_SI64;
}

bool pto_is_local(const struct pto_type *t)
{
	return t->kind == PTO_T_TILE || t->kind == PTO_T_TILE_VALUE ||
	       t->kind == PTO_T_MULTI_TILE ||
	       (t->kind == PTO_T_MEMREF && !pto_is_global(t));
}

bool pto_is_global(const struct pto_type *t)
{
	return t->kind == PTO_T_PTR || t->kind == PTO_T_VIEW || t->kind == PTO_T_PART ||
	       (t->kind == PTO_T_MEMREF &&
		(t->space == PTO_SPACE_NONE || t->space == PTO_SPACE_GM));
}

enum pto_space pto_type_space(const struct pto_type *t)
{
	if (t->kind == PTO_T_MULTI_TILE)
		return (enum pto_space)t->inner->space;
	if (t->kind == PTO_T_TILE || (t->kind == PTO_T_MEMREF && !pto_is_global(t)))
		return (enum pto_space)t->space;
	if (t->kind == PTO_T_TILE_VALUE)
		return PTO_SPACE_VEC;
	return pto_is_global(t) ? PTO_SPACE_GM : PTO_SPACE_NONE;
}

enum pto_space pto_type_memory(const struct pto_type *t)
{
	const struct pto_type *tile = t->kind == PTO_T_MULTI_TILE ? t->inner : t;
	enum pto_space space = pto_type_space(t);

	if (space != PTO_SPACE_SCALING || tile->kind != PTO_T_TILE || tile->fractal != 32)
		return space;
	return tile->slayout == PTO_BOX_COL_MAJOR ? PTO_SPACE_SCALE_RIGHT : PTO_SPACE_SCALE_LEFT;
}

int64_t pto_type_bytes(const struct pto_type *t)
{
	int64_t bytes = elems[t->elem].bits / 8;
	unsigned int i;

	if (t->kind == PTO_T_MULTI_TILE) {
		bytes = pto_type_bytes(t->inner);
		return bytes < 0 || __builtin_mul_overflow(bytes, t->count, &bytes) ? -1 : bytes;
	}
	if (t->kind != PTO_T_TILE && t->kind != PTO_T_MEMREF && t->kind != PTO_T_TILE_VALUE)
		return -1;
	for (i = 0; i < t->rank; i++) {
		int64_t n = t->dim[i];

		if (n < 0)
			return -1;
		n += t->kind == PTO_T_TILE && !i && t->compact == PTO_COMPACT_ROW_PLUS_ONE;
		if (__builtin_mul_overflow(bytes, n, &bytes))
			return -1;
	}
	return bytes;
}

const char *pto_space_name(enum pto_space space)
{
	static const char *const names[PTO_MEMORIES] = {
		"none", "gm", "mat", "left", "right", "acc", "vec", "bias", "scaling",
		"left scaling", "right scaling",
	};

	return names[space];
}

/* ---- Enumerated attributes ------------------------------------------------------------------- */

static const struct {
	const char *name, *values;
} enums[PTO_ATTR_ENUMS] = {
#define ATTR(code, name_, values_) [PTO_A_##code] = { .name = name_, .values = values_ },
#include "attrs.def"
#undef ATTR
};

const char *pto_attr_enum_name(enum pto_attr_enum e)
{
	return enums[e].name;
}

const char *pto_attr_enum_value(enum pto_attr_enum e, int64_t value, size_t *size)
{
	const char *s = enums[e].values;

	for (; value > 0 && s; value--) {
		s = strchr(s, ' ');
		s = s ? s + 1 : NULL;
	}
	if (!s || value < 0)
		return NULL;
	*size = strcspn(s, " ");
	return s;
}

int64_t pto_attr_enum_find(enum pto_attr_enum e, const char *text, size_t size)
{
	const char *s = enums[e].values;
	int64_t value;

	for (value = 0;; value++) {
		size_t n = strcspn(s, " ");

		if (n == size && !memcmp(s, text, n))
			return value;
		if (!s[n])
			return -1;
		s += n + 1;
	}
}

enum pto_attr_enum pto_attr_enum_by_name(const char *text, size_t size)
{
	int e;

	for (e = 1; e < PTO_ATTR_ENUMS; e++)
		if (strlen(enums[e].name) == size && !memcmp(enums[e].name, text, size))
			return (enum pto_attr_enum)e;
	return PTO_A_NONE;
}
