/* SPDX-License-Identifier: MIT */
/* A module and its interner: names and types that are equal are one object. */
#include <stdlib.h>
#include <string.h>

#include "ops.h"
#include "ptoas.h"

#define NAME_BUCKETS_MIN	2048
#define TYPE_BUCKETS		256

struct pto_interner {
	struct pto_name **names;
	size_t n_names, name_buckets;
	struct pto_type *types[TYPE_BUCKETS];
};

static uint32_t hash_text(const char *text, size_t size)
{
	uint64_t h = UINT64_C(0x9E3779B97F4A7C15) ^ size, word;
	size_t i;

	for (i = 0; i + 8 <= size; i += 8) {
		memcpy(&word, text + i, 8);
		h = (h ^ word) * UINT64_C(0xD6E8FEB86659FD93);
		h ^= h >> 32;
	}
	word = 0;
	memcpy(&word, text + i, size - i);
	h = (h ^ word) * UINT64_C(0xD6E8FEB86659FD93);
	return (uint32_t)(h ^ h >> 32);
}

static void grow(struct pto_module *m, struct pto_interner *in)
{
	size_t buckets = in->name_buckets * 4, i;
	struct pto_name **table = arena_zalloc(&m->arena, buckets, sizeof(*table));

	if (!table)
		return; /* longer chains, nothing worse */
	for (i = 0; i < in->name_buckets; i++) {
		struct pto_name *n = in->names[i], *next;

		for (; n; n = next) {
			next = n->chain;
			n->chain = table[n->hash & (buckets - 1)];
			table[n->hash & (buckets - 1)] = n;
		}
	}
	in->names = table;
	in->name_buckets = buckets;
}

struct pto_name *pto_intern(struct pto_module *m, const char *text, size_t size)
{
	struct pto_interner *in = m->interner;
	uint32_t hash = hash_text(text, size);
	struct pto_name *n;
	char *copy;

	for (n = in->names[hash & (in->name_buckets - 1)]; n; n = n->chain)
		if (n->hash == hash && n->size == size && !memcmp(n->text, text, size))
			return n;
	n = arena_alloc(&m->arena, sizeof(*n) + size + 1, _Alignof(struct pto_name));
	if (!n) {
		m->no_memory = true;
		return NULL;
	}
	copy = (char *)(n + 1);
	memcpy(copy, text, size);
	copy[size] = '\0';
	*n = (struct pto_name){ .text = copy, .size = (uint32_t)size, .hash = hash };
	n->chain = in->names[hash & (in->name_buckets - 1)];
	in->names[hash & (in->name_buckets - 1)] = n;
	if (++in->n_names > 2 * in->name_buckets)
		grow(m, in);
	return n;
}

struct pto_name *pto_intern_text(struct pto_module *m, const char *text)
{
	return pto_intern(m, text, strlen(text));
}

/* ---- Types ----------------------------------------------------------------------------------- */

static uint32_t hash_type(const struct pto_type *t)
{
	uint64_t h = t->kind | (uint64_t)t->elem << 8 | (uint64_t)t->rank << 16 |
		     (uint64_t)t->space << 24 | (uint64_t)t->blayout << 32 |
		     (uint64_t)t->slayout << 36 |
		     (uint64_t)t->fractal << 44;
	unsigned int i;

	for (i = 0; i < t->rank; i++)
		h = (h ^ (uint64_t)t->dim[i]) * UINT64_C(0xD6E8FEB86659FD93) + (h >> 29);
	h = (h ^ (uint64_t)t->valid[0]) * UINT64_C(0xD6E8FEB86659FD93);
	h ^= (uint64_t)t->pad << 16;
	h = (h ^ (h >> 31) ^ (uint64_t)t->valid[1]) * UINT64_C(0xD6E8FEB86659FD93);
	h ^= (uint64_t)t->count + (uint64_t)(uintptr_t)t->inner;
	return (uint32_t)(h ^ h >> 32);
}

static bool same_type(const struct pto_type *a, const struct pto_type *b)
{
	return a->kind == b->kind && a->elem == b->elem && a->rank == b->rank &&
	       a->space == b->space && a->blayout == b->blayout && a->slayout == b->slayout &&
	       a->pad == b->pad && a->compact == b->compact && a->fractal == b->fractal &&
	       a->count == b->count && a->valid[0] == b->valid[0] && a->valid[1] == b->valid[1] &&
	       a->inner == b->inner && a->text == b->text &&
	       !memcmp(a->dim, b->dim, a->rank * sizeof(a->dim[0]));
}

const struct pto_type *pto_type_get(struct pto_module *m, const struct pto_type *t)
{
	uint32_t hash = hash_type(t);
	struct pto_type **bucket = &m->interner->types[hash % TYPE_BUCKETS], *found;

	for (found = *bucket; found; found = found->chain)
		if (found->hash == hash && same_type(found, t))
			return found;
	found = arena_memdup(&m->arena, t, sizeof(*t));
	if (!found) {
		m->no_memory = true;
		return NULL;
	}
	found->hash = hash;
	found->chain = *bucket;
	*bucket = found;
	return found;
}

const struct pto_type *pto_scalar(struct pto_module *m, enum pto_elem elem)
{
	return pto_type_get(m, &(struct pto_type){ .kind = PTO_T_SCALAR, .elem = (uint8_t)elem });
}

/* ---- Module ---------------------------------------------------------------------------------- */

static void seed_names(struct pto_module *m)
{
	enum pto_opcode code;
	struct pto_name *n;
	const char *alias;
	size_t i;

	for (i = 1; i < PTO_OPCODES; i++) {
		m->known[i] = n = pto_intern_text(m, pto_op_info((enum pto_opcode)i)->name);
		if (n)
			n->opcode = (uint16_t)i;
	}
	for (i = 1; i < PTO_ELEMS; i++) {
		n = pto_intern_text(m, pto_elem_info((enum pto_elem)i)->text);
		if (n)
			n->elem = (uint8_t)i;
	}
	for (i = 0; (alias = pto_op_alias(i, &code)); i++) {
		n = pto_intern_text(m, alias);
		if (n)
			n->opcode = (uint16_t)code;
	}
}

struct pto_module *pto_module_new(const char *file)
{
	struct pto_module *m = calloc(1, sizeof(*m));
	struct pto_interner *in;

	if (!m)
		return NULL;
	arena_init(&m->arena, 1 << 18, 0);
	m->interner = in = arena_zalloc(&m->arena, 1, sizeof(*in));
	m->file = arena_strdup(&m->arena, file ? file : "-");
	if (in) {
		in->name_buckets = NAME_BUCKETS_MIN;
		in->names = arena_zalloc(&m->arena, in->name_buckets, sizeof(*in->names));
	}
	if (!in || !in->names || !m->file)
		goto err_module;
	seed_names(m);
	if (m->no_memory)
		goto err_module;
	return m;

err_module:
	pto_module_free(m);
	return NULL;
}

void pto_module_free(struct pto_module *m)
{
	if (!m)
		return;
	arena_fini(&m->arena);
	free(m);
}
