/* SPDX-License-Identifier: MIT */
/*
 * Validation of serialized callables (worker-api §4.3).  Stored bytes may come
 * from a cache or another process, so nothing about them is trusted.  The rules
 * are the chip's (chip/callable_bytes.c): what is accepted here is not refused
 * there.  One thing more is refused here: bytes behind the last kernel, because
 * a file has a length and an upload need not have that one.
 */
#include <stdlib.h>
#include <string.h>

#include "rts/error.h"
#include "worker/callable.h"

#define CORRUPT(...) \
	err_set(error, SIMPLER_ERR_CALLABLE_BYTES, "corrupt callable bytes: " __VA_ARGS__)

const struct signature_rule signature_core = {
	.kind = "core",
	.entries = SIMPLER_HW_CORE_SIGNATURE,
	.tensors = SIMPLER_CORE_MAX_TENSORS,
	.scalars = SIMPLER_CORE_MAX_SCALARS,
};

const struct signature_rule signature_chip = {
	.kind = "chip",
	.entries = SIMPLER_HW_CHIP_SIGNATURE,
	.tensors = SIMPLER_CHIP_MAX_TENSORS,
	.scalars = SIMPLER_CHIP_MAX_SCALARS,
	.ordered = 1,
};

size_t signature_scalars(const int32_t *signature, size_t count)
{
	size_t i, scalars = 0;

	for (i = 0; i < count; i++)
		scalars += signature[i] == SIMPLER_DIR_SCALAR;
	return scalars;
}

static int signature_check_counts(const struct signature_rule *rule, size_t tensors,
				  size_t scalars, struct simpler_error *error)
{
	if (tensors > rule->tensors)
		return err_set(error, SIMPLER_ERR_TENSOR_LIMIT,
			       "requested tensor count %zu exceeds supported tensor count %zu of a "
			       "%s callable", tensors, rule->tensors, rule->kind);
	if (scalars > rule->scalars)
		return err_set(error, SIMPLER_ERR_SCALAR_LIMIT,
			       "requested scalar count %zu exceeds supported scalar count %zu of a "
			       "%s callable", scalars, rule->scalars, rule->kind);
	if (tensors + scalars > rule->entries)
		return err_set(error, SIMPLER_ERR_SIGNATURE,
			       "the signature has %zu entries, a %s callable can store %zu",
			       tensors + scalars, rule->kind, rule->entries);
	return 0;
}

int signature_check(const struct signature_rule *rule, const int32_t *signature, size_t count,
		    struct simpler_error *error)
{
	size_t i, scalars = 0;

	for (i = 0; i < count; i++) {
		if (signature[i] < SIMPLER_DIR_SCALAR || signature[i] > SIMPLER_DIR_INOUT)
			return err_set(error, SIMPLER_ERR_SIGNATURE,
				       "signature[%zu] is %d, not SCALAR, IN, OUT or INOUT", i,
				       signature[i]);
		if (signature[i] == SIMPLER_DIR_SCALAR)
			scalars++;
		else if (scalars && rule->ordered)
			return err_set(error, SIMPLER_ERR_SIGNATURE,
				       "signature[%zu] is a tensor after a scalar; tensors come "
				       "first", i);
	}
	return signature_check_counts(rule, count - scalars, scalars, error);
}

/* What a count or a length leaves unused is zero, so that a damaged one shows. */
static int zero_check(const char *what, const void *data, size_t bytes, struct simpler_error *error)
{
	const unsigned char *p = data;
	size_t i;

	for (i = 0; i < bytes; i++)
		if (p[i])
			return CORRUPT("%s: byte %zu is %u, not 0", what, i, p[i]);
	return 0;
}

static int stored_signature_check(const struct signature_rule *rule, const int32_t *signature,
				  int32_t count, struct simpler_error *error)
{
	int rc;

	if (count < 0 || (size_t)count > rule->entries)
		return CORRUPT("sig_count of a %s callable is %d", rule->kind, count);
	rc = signature_check(rule, signature, (size_t)count, error);
	return rc ? rc : zero_check("unused entries of a signature", signature + count,
				    (rule->entries - (size_t)count) * sizeof(*signature), error);
}

static int core_check_header(const struct simpler_hw_core_callable *h, size_t available,
			     struct simpler_error *error)
{
	int rc = stored_signature_check(&signature_core, h->signature, h->sig_count, error);

	if (rc)
		return rc;
	if (!h->binary_size || h->binary_size > available)
		return CORRUPT("a kernel has %u binary bytes, there are %zu", h->binary_size,
			       available);
	if (h->resolved_addr)
		return CORRUPT("a kernel has resolved_addr 0x%llx, not 0",
			       (unsigned long long)h->resolved_addr);
	return zero_check("reserved bytes of a kernel", h->reserved, sizeof(h->reserved), error);
}

int core_bytes_check(const unsigned char *bytes, size_t size, size_t *used,
		     struct simpler_error *error)
{
	const struct simpler_hw_core_callable *h = (const void *)bytes;
	int rc;

	if (size < sizeof(*h))
		return CORRUPT("a kernel needs %zu header bytes, there are %zu", sizeof(*h), size);
	rc = core_check_header(h, size - sizeof(*h), error);
	if (!rc)
		*used = sizeof(*h) + h->binary_size;
	return rc;
}

size_t symbol_length(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if ((unsigned char)name[i] <= ' ' || name[i] == 0x7f)
			break;
	return i;
}

static int symbol_check(const char *what, const char *name, uint32_t len,
			struct simpler_error *error)
{
	size_t good;

	if (len > SIMPLER_SYMBOL_MAX)
		return CORRUPT("%s has length %u, at most %d", what, len, SIMPLER_SYMBOL_MAX);
	good = symbol_length(name, len);
	if (good < len)
		return CORRUPT("%s has length %u, but byte %zu is 0x%02x, which no symbol has",
			       what, len, good, (unsigned char)name[good]);
	return zero_check(what, name + len, SIMPLER_HW_SYMBOL_BYTES - len, error);
}

static int chip_check_header(const struct simpler_hw_chip_callable *h, size_t storage,
			     struct simpler_error *error)
{
	int rc = stored_signature_check(&signature_chip, h->signature, h->sig_count, error);

	if (rc)
		return rc;
	if (!h->binary_size || h->binary_size > storage)
		return CORRUPT("the orchestration has %u bytes, the storage %zu", h->binary_size,
			       storage);
	rc = symbol_check("func_name", h->func_name, h->func_name_len, error);
	if (!rc)
		rc = symbol_check("config_name", h->config_name, h->config_name_len, error);
	return rc ? rc : zero_check("reserved bytes of the header", h->reserved,
				    sizeof(h->reserved), error);
}

static int compare_ids(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static int chip_check_ids(const struct simpler_hw_chip_callable *h, struct simpler_error *error)
{
	int32_t ids[SIMPLER_HW_MAX_CHILDREN];
	int32_t i;

	memcpy(ids, h->child_func_ids, sizeof(ids));
	qsort(ids, (size_t)h->child_count, sizeof(ids[0]), compare_ids);
	for (i = 0; i < h->child_count; i++) {
		if (ids[i] < 0 || ids[i] > SIMPLER_FUNC_ID_MAX)
			return CORRUPT("func_id %d is not 0 to %d", ids[i], SIMPLER_FUNC_ID_MAX);
		if (i && ids[i] == ids[i - 1])
			return CORRUPT("func_id %d occurs twice", ids[i]);
	}
	return 0;
}

static int chip_check_child_count(const struct simpler_hw_chip_callable *h,
				  struct simpler_error *error)
{
	size_t used = (size_t)h->child_count;
	int rc;

	if (h->child_count < 0 || used > SIMPLER_HW_MAX_CHILDREN)
		return CORRUPT("child_count is %d", h->child_count);
	rc = zero_check("unused child_func_ids", h->child_func_ids + used,
			(SIMPLER_HW_MAX_CHILDREN - used) * sizeof(h->child_func_ids[0]), error);
	if (!rc)
		rc = zero_check("unused child_offsets", h->child_offsets + used,
				(SIMPLER_HW_MAX_CHILDREN - used) * sizeof(h->child_offsets[0]),
				error);
	return rc ? rc : chip_check_ids(h, error);
}

/* Where a kernel lies in the storage. */
struct place {
	size_t begin, end;
	int32_t child;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

static int child_check(const struct simpler_hw_chip_callable *h, const unsigned char *storage,
		       size_t size, struct place *p, struct simpler_error *error)
{
	size_t at = h->child_offsets[p->child], used;
	int rc;

	if (at % SIMPLER_HW_CALLABLE_ALIGN || at < h->binary_size || at > size)
		return CORRUPT("kernel %d lies at offset %zu of %zu, the orchestration has %u "
			       "bytes", p->child, at, size, h->binary_size);
	rc = core_bytes_check(storage + at, size - at, &used, error);
	if (rc)
		return rc;
	p->begin = at;
	p->end = at + used;
	return 0;
}

/* Kernels do not overlap, and the last one ends the storage. */
static int places_check(const struct simpler_hw_chip_callable *h, struct place *places, size_t size,
			struct simpler_error *error)
{
	size_t end = h->binary_size;
	int32_t i;

	qsort(places, (size_t)h->child_count, sizeof(*places), compare_places);
	for (i = 0; i < h->child_count; i++) {
		if (places[i].begin < end)
			return CORRUPT("kernel %d lies at offset %zu and overlaps kernel %d, which "
				       "ends at %zu", places[i].child, places[i].begin,
				       places[i - 1].child, end);
		end = places[i].end;
	}
	if (end != size)
		return CORRUPT("%zu bytes follow the last kernel", size - end);
	return 0;
}

static int chip_check_children(const struct simpler_hw_chip_callable *h,
			       const unsigned char *storage, size_t size,
			       struct simpler_error *error)
{
	struct place places[SIMPLER_HW_MAX_CHILDREN];
	int32_t i;
	int rc = chip_check_child_count(h, error);

	for (i = 0; !rc && i < h->child_count; i++) {
		places[i].child = i;
		rc = child_check(h, storage, size, &places[i], error);
	}
	return rc ? rc : places_check(h, places, size, error);
}

int chip_bytes_check(const unsigned char *bytes, size_t size, struct simpler_error *error)
{
	const struct simpler_hw_chip_callable *h = (const void *)bytes;
	int rc;

	if (size < sizeof(*h))
		return CORRUPT("%zu bytes, the header alone has %zu", size, sizeof(*h));
	if (size - sizeof(*h) > UINT32_MAX)
		return CORRUPT("%zu bytes are more than offsets can name", size);
	rc = chip_check_header(h, size - sizeof(*h), error);
	if (!rc)
		rc = chip_check_children(h, bytes + sizeof(*h), size - sizeof(*h), error);
	return rc;
}
