/* SPDX-License-Identifier: MIT */
/*
 * Validation of serialized callables (worker-api §4.3).  Stored bytes may come
 * from a cache or another process, so nothing about them is trusted.
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

static size_t first_nonzero(const unsigned char *bytes, size_t from, size_t to)
{
	while (from < to && !bytes[from])
		from++;
	return from;
}

int core_bytes_check(const unsigned char *bytes, size_t size, size_t *used,
		     struct simpler_error *error)
{
	const struct simpler_hw_core_callable *h = (const void *)bytes;
	size_t end = sizeof(*h);

	if (size < sizeof(*h))
		return CORRUPT("a kernel needs %zu header bytes, there are %zu", sizeof(*h), size);
	if (h->sig_count < 0 || h->sig_count > (int32_t)SIMPLER_HW_CORE_SIGNATURE)
		return CORRUPT("a kernel has sig_count %d", h->sig_count);
	if (h->binary_size > size - sizeof(*h))
		return CORRUPT("a kernel has %u binary bytes, there are %zu", h->binary_size,
			       size - sizeof(*h));
	end = first_nonzero(bytes, offsetof(struct simpler_hw_core_callable, reserved), end);
	if (end < sizeof(*h))
		return CORRUPT("byte %zu of a kernel's header is %u, not 0", end, bytes[end]);
	*used = sizeof(*h) + h->binary_size;
	return signature_check(&signature_core, h->signature, (size_t)h->sig_count, error);
}

static int symbol_check(const char *what, const char *name, uint32_t len,
			struct simpler_error *error)
{
	if (len > SIMPLER_SYMBOL_MAX)
		return CORRUPT("%s has length %u, at most %d", what, len, SIMPLER_SYMBOL_MAX);
	if (strnlen(name, SIMPLER_HW_SYMBOL_BYTES) != len)
		return CORRUPT("%s has length %u, but ends after %zu bytes", what, len,
			       strnlen(name, SIMPLER_HW_SYMBOL_BYTES));
	return 0;
}

static int chip_check_header(const struct simpler_hw_chip_callable *h, size_t storage,
			     struct simpler_error *error)
{
	int rc;

	if (h->sig_count < 0 || h->sig_count > (int32_t)SIMPLER_HW_CHIP_SIGNATURE)
		return CORRUPT("sig_count is %d", h->sig_count);
	if (h->child_count < 0 || h->child_count > (int32_t)SIMPLER_HW_MAX_CHILDREN)
		return CORRUPT("child_count is %d", h->child_count);
	if (h->binary_size > storage)
		return CORRUPT("the orchestration has %u bytes, the storage %zu", h->binary_size,
			       storage);
	rc = symbol_check("func_name", h->func_name, h->func_name_len, error);
	if (!rc)
		rc = symbol_check("config_name", h->config_name, h->config_name_len, error);
	if (!rc)
		rc = signature_check(&signature_chip, h->signature, (size_t)h->sig_count, error);
	return rc;
}

/* Bytes 9364…9375: zero, or the scalar count in the first four (an older writer). */
static int chip_check_reserved(const struct simpler_hw_chip_callable *h,
			       struct simpler_error *error)
{
	int32_t stored, derived = (int32_t)signature_scalars(h->signature, (size_t)h->sig_count);

	memcpy(&stored, h->reserved, sizeof(stored));
	if (stored && stored != derived)
		return CORRUPT("stored scalar count %d, the signature has %d", stored, derived);
	if (first_nonzero(h->reserved, sizeof(stored), sizeof(h->reserved)) < sizeof(h->reserved))
		return CORRUPT("reserved bytes of the header are not 0");
	return 0;
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
		if (ids[i] < 0)
			return CORRUPT("func_id %d is negative", ids[i]);
		if (i && ids[i] == ids[i - 1])
			return CORRUPT("func_id %d occurs twice", ids[i]);
	}
	return 0;
}

/* Children lie in order, without overlap, and the last one ends the storage. */
static int chip_check_children(const struct simpler_hw_chip_callable *h,
			       const unsigned char *storage, size_t size,
			       struct simpler_error *error)
{
	size_t end = h->binary_size;
	int32_t i;

	for (i = 0; i < h->child_count; i++) {
		size_t at = h->child_offsets[i], used;
		int rc;

		if (at % SIMPLER_HW_CALLABLE_ALIGN || at < end || at > size)
			return CORRUPT("kernel %d lies at offset %zu of %zu, behind %zu used bytes",
				       i, at, size, end);
		rc = core_bytes_check(storage + at, size - at, &used, error);
		if (rc)
			return rc;
		end = at + used;
	}
	if (end != size)
		return CORRUPT("%zu bytes follow the last kernel", size - end);
	return 0;
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
		rc = chip_check_reserved(h, error);
	if (!rc)
		rc = chip_check_ids(h, error);
	if (!rc)
		rc = chip_check_children(h, bytes + sizeof(*h), size - sizeof(*h), error);
	return rc;
}
