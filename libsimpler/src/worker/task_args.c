/* SPDX-License-Identifier: MIT */
/* Argument lists (worker-api §9). */
#include "worker/task_args.h"

#include <stdlib.h>
#include <string.h>

#include "rts/error.h"

int simpler_task_args_create(struct simpler_task_args **out)
{
	struct simpler_task_args *a;

	if (!out)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	a = calloc(1, sizeof(*a));
	if (!a)
		return SIMPLER_ERR_NO_MEMORY;
	*out = a;
	return 0;
}

void simpler_task_args_destroy(struct simpler_task_args *a)
{
	if (!a)
		return;
	free(a->tensors);
	free(a->tags);
	free(a->scalars);
	free(a);
}

/* relaxed: changes need exclusive access, so that whoever shares the object orders it */
static void args_changed(struct simpler_task_args *a)
{
	atomic_store_explicit(&a->checked, false, memory_order_relaxed);
}

void simpler_task_args_clear(struct simpler_task_args *a)
{
	a->tensor_count = 0;
	a->scalar_count = 0;
	args_changed(a);
}

/* ---- rules per tag ---- */

static const struct tag_rule {
	const char *name;
	bool reads;
	bool writes;
	bool writer;			/* in the overlap test */
} tag_rules[] = {
	[SIMPLER_TAG_INPUT] = { "INPUT", true, false, false },
	[SIMPLER_TAG_OUTPUT] = { "OUTPUT", false, false, true },
	[SIMPLER_TAG_INOUT] = { "INOUT", true, true, true },
	[SIMPLER_TAG_OUTPUT_EXISTING] = { "OUTPUT_EXISTING", false, true, true },
	[SIMPLER_TAG_NO_DEP] = { "NO_DEP", false, false, false },
};

static bool tag_valid(int tag)
{
	return tag >= 0 && tag <= SIMPLER_TAG_NO_DEP;
}

static bool tag_granted(const struct simpler_tensor *t, int tag)
{
	int access = t->buffer.access;

	return !(tag_rules[tag].reads && access == SIMPLER_ACCESS_WRITE) &&
	       !(tag_rules[tag].writes && access == SIMPLER_ACCESS_READ);
}

/* Fills in the default; negative: not allowed. */
static int transfer_resolve(const struct simpler_tensor *t, int transfer,
			    struct simpler_error *error)
{
	bool host = t->buffer.address_space == SIMPLER_SPACE_HOST;

	if (transfer == SIMPLER_TRANSFER_DEFAULT)
		return host ? SIMPLER_TRANSFER_H2D : SIMPLER_TRANSFER_NONE;
	if (transfer == SIMPLER_TRANSFER_NONE || (transfer == SIMPLER_TRANSFER_H2D && host))
		return transfer;
	return err_set(error, SIMPLER_ERR_ARG_TRANSFER,
		       "transfer request %d is not allowed for a %s tensor", transfer,
		       host ? "HOST" : "DEVICE");
}

/* ---- building ---- */

static bool grow(void **array, size_t entry, size_t capacity)
{
	void *bigger = reallocarray(*array, capacity, entry);

	if (bigger)
		*array = bigger;
	return bigger;
}

static int tensors_reserve(struct simpler_task_args *a)
{
	size_t capacity = a->tensor_capacity ? 2 * a->tensor_capacity : 8;

	if (a->tensor_count < a->tensor_capacity)
		return 0;
	if (!grow((void **)&a->tensors, sizeof(*a->tensors), capacity) ||
	    !grow((void **)&a->tags, sizeof(*a->tags), capacity))
		return SIMPLER_ERR_NO_MEMORY;
	a->tensor_capacity = capacity;
	return 0;
}

static int args_append_tensor(struct simpler_task_args *a, const struct simpler_tensor *t, int tag,
			      int transfer, struct simpler_error *error)
{
	size_t i = a->tensor_count;

	if (tensors_reserve(a))
		return err_set(error, SIMPLER_ERR_NO_MEMORY, "no memory for %zu tensors", i + 1);
	a->tensors[i] = *t;
	a->tensors[i].transfer = (uint8_t)transfer;
	a->tags[i] = (uint8_t)tag;
	a->tensor_count = i + 1;
	args_changed(a);
	return 0;
}

int simpler_task_args_add_tensor(struct simpler_task_args *a, const struct simpler_tensor *t,
				 int tag, int transfer, struct simpler_error *error)
{
	int rc;

	if (err_if_null(error, a) || err_if_null(error, t))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	if (a->scalar_count)
		return err_set(error, SIMPLER_ERR_ARG_ORDER,
			       "tensor added after %zu scalars; add all tensors first",
			       a->scalar_count);
	if (!tag_valid(tag))
		return err_set(error, SIMPLER_ERR_ARG_TAG, "unknown tag %d", tag);
	rc = simpler_tensor_check(t, error);
	if (rc)
		return rc;
	transfer = transfer_resolve(t, transfer, error);
	if (transfer < 0)
		return transfer;
	if (!tag_granted(t, tag))
		return err_set(error, SIMPLER_ERR_BUFFER_GRANT,
			       "tag %s needs an access that is not granted by the buffer",
			       tag_rules[tag].name);
	return args_append_tensor(a, t, tag, transfer, error);
}

int simpler_task_args_add_scalar(struct simpler_task_args *a, uint64_t value)
{
	if (!a)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	if (a->scalar_count == a->scalar_capacity) {
		size_t capacity = a->scalar_capacity ? 2 * a->scalar_capacity : 8;

		if (!grow((void **)&a->scalars, sizeof(*a->scalars), capacity))
			return SIMPLER_ERR_NO_MEMORY;
		a->scalar_capacity = capacity;
	}
	a->scalars[a->scalar_count++] = value;
	args_changed(a);
	return 0;
}

int simpler_task_args_add_float(struct simpler_task_args *a, float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return simpler_task_args_add_scalar(a, bits);
}

int simpler_task_args_add_double(struct simpler_task_args *a, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return simpler_task_args_add_scalar(a, bits);
}

int simpler_task_args_add_int(struct simpler_task_args *a, int64_t value)
{
	return simpler_task_args_add_scalar(a, (uint64_t)value);
}

size_t simpler_task_args_tensor_count(const struct simpler_task_args *a)
{
	return a->tensor_count;
}

size_t simpler_task_args_scalar_count(const struct simpler_task_args *a)
{
	return a->scalar_count;
}

int simpler_task_args_tensor(const struct simpler_task_args *a, size_t i, struct simpler_tensor *t)
{
	if (!a || !t)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	if (i >= a->tensor_count)
		return SIMPLER_ERR_INDEX;
	*t = a->tensors[i];
	t->transfer = 0;
	return 0;
}

int simpler_task_args_scalar(const struct simpler_task_args *a, size_t i, uint64_t *value)
{
	if (!a || !value)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	if (i >= a->scalar_count)
		return SIMPLER_ERR_INDEX;
	*value = a->scalars[i];
	return 0;
}

int simpler_task_args_tag(const struct simpler_task_args *a, size_t i)
{
	if (!a)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	return i < a->tensor_count ? a->tags[i] : SIMPLER_ERR_INDEX;
}

int simpler_task_args_transfer(const struct simpler_task_args *a, size_t i)
{
	if (!a)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	return i < a->tensor_count ? a->tensors[i].transfer : SIMPLER_ERR_INDEX;
}

int simpler_task_args_set_tag(struct simpler_task_args *a, size_t i, int tag)
{
	if (!a)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	if (i >= a->tensor_count)
		return SIMPLER_ERR_INDEX;
	if (!tag_valid(tag))
		return SIMPLER_ERR_ARG_TAG;
	a->tags[i] = (uint8_t)tag;
	args_changed(a);
	return 0;
}

/* ---- submit-time rules ---- */

static int args_check_grants(const struct simpler_task_args *a, struct simpler_error *error)
{
	size_t i;

	for (i = 0; i < a->tensor_count; i++)
		if (!tag_granted(&a->tensors[i], a->tags[i]))
			return err_set(error, SIMPLER_ERR_BUFFER_GRANT,
				       "argument %zu: the buffer does not grant what tag %s needs",
				       i, tag_rules[a->tags[i]].name);
	return 0;
}

static int args_check_overlap(const struct simpler_task_args *a, struct simpler_error *error)
{
	size_t i, j;

	for (i = 0; i < a->tensor_count; i++) {
		if (!tag_rules[a->tags[i]].writer)
			continue;
		for (j = i + 1; j < a->tensor_count; j++)
			if (simpler_tensor_overlap(&a->tensors[i], &a->tensors[j]))
				return err_set(error, SIMPLER_ERR_ARG_OVERLAP,
					       "arguments %zu (%s) and %zu have overlapping bytes "
					       "of one buffer", i, tag_rules[a->tags[i]].name, j);
	}
	return 0;
}

int task_args_check(const struct simpler_task_args *a, struct simpler_error *error)
{
	struct simpler_task_args *cache = (struct simpler_task_args *)a;
	int rc;

	/* relaxed: the flag is about fields that nobody changes while the object is shared */
	if (!a->tensor_count || atomic_load_explicit(&a->checked, memory_order_relaxed))
		return 0;
	rc = args_check_grants(a, error);
	if (!rc)
		rc = args_check_overlap(a, error);
	/* relaxed: as above; at worst another thread checks again */
	if (!rc)
		atomic_store_explicit(&cache->checked, true, memory_order_relaxed);
	return rc;
}

/* ---- blob (§9.4) ---- */

struct blob_header {
	int32_t tensors;
	int32_t scalars;
};

static size_t blob_bytes(size_t tensors, size_t scalars)
{
	return sizeof(struct blob_header) + tensors * sizeof(struct simpler_tensor) +
	       scalars * sizeof(uint64_t);
}

size_t simpler_task_args_blob_size(const struct simpler_task_args *a)
{
	return blob_bytes(a->tensor_count, a->scalar_count);
}

int simpler_task_args_encode(const struct simpler_task_args *a, void *blob, size_t capacity,
			     struct simpler_error *error)
{
	struct blob_header h;
	size_t tensors;
	char *at = blob;

	if (err_if_null(error, a) || err_if_null(error, blob))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	h = (struct blob_header){ (int32_t)a->tensor_count, (int32_t)a->scalar_count };
	tensors = a->tensor_count * sizeof(struct simpler_tensor);
	if (a->tensor_count > INT32_MAX || a->scalar_count > INT32_MAX ||
	    simpler_task_args_blob_size(a) > capacity)
		return err_set(error, SIMPLER_ERR_BLOB, "the blob needs %zu bytes, there are %zu",
			       simpler_task_args_blob_size(a), capacity);
	memcpy(at, &h, sizeof(h));
	if (tensors)
		memcpy(at + sizeof(h), a->tensors, tensors);
	if (a->scalar_count)
		memcpy(at + sizeof(h) + tensors, a->scalars, a->scalar_count * sizeof(uint64_t));
	return 0;
}

static int blob_check(const void *blob, size_t capacity, struct blob_header *h,
		      struct simpler_error *error)
{
	if (capacity < sizeof(*h))
		return err_set(error, SIMPLER_ERR_BLOB, "the blob has %zu bytes, it needs %zu",
			       capacity, sizeof(*h));
	memcpy(h, blob, sizeof(*h));
	if (h->tensors < 0 || h->scalars < 0)
		return err_set(error, SIMPLER_ERR_BLOB, "negative count: %d tensors, %d scalars",
			       h->tensors, h->scalars);
	if (blob_bytes((size_t)h->tensors, (size_t)h->scalars) > capacity)
		return err_set(error, SIMPLER_ERR_BLOB,
			       "%d tensors and %d scalars need %zu bytes, the blob has %zu",
			       h->tensors, h->scalars,
			       blob_bytes((size_t)h->tensors, (size_t)h->scalars), capacity);
	return 0;
}

static int blob_read_tensor(struct simpler_task_args *a, const char *at,
			    struct simpler_error *error)
{
	struct simpler_tensor t;
	int transfer, rc;

	memcpy(&t, at, sizeof(t));
	transfer = t.transfer;
	t.transfer = 0;
	rc = simpler_tensor_check(&t, error);
	if (rc)
		return rc;
	transfer = transfer_resolve(&t, transfer, error);
	if (transfer < 0)
		return transfer;
	return args_append_tensor(a, &t, SIMPLER_TAG_INPUT, transfer, error);
}

static int blob_read(struct simpler_task_args *a, const char *at, const struct blob_header *h,
		     struct simpler_error *error)
{
	uint64_t value;
	int32_t i;
	int rc = 0;

	for (i = 0; i < h->tensors && !rc; i++, at += sizeof(struct simpler_tensor))
		rc = blob_read_tensor(a, at, error);
	for (i = 0; i < h->scalars && !rc; i++, at += sizeof(value)) {
		memcpy(&value, at, sizeof(value));
		rc = simpler_task_args_add_scalar(a, value);
		if (rc)
			err_set(error, rc, "no memory for %d scalars", h->scalars);
	}
	return rc;
}

int simpler_task_args_decode(const void *blob, size_t capacity, struct simpler_task_args **out,
			     struct simpler_error *error)
{
	struct simpler_task_args *a;
	struct blob_header h;
	int rc;

	if (err_if_null(error, blob) || err_if_null(error, out))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	rc = blob_check(blob, capacity, &h, error);
	if (rc)
		return rc;
	rc = simpler_task_args_create(&a);
	if (rc)
		return err_set(error, rc, "no memory for an argument list");
	rc = blob_read(a, (const char *)blob + sizeof(h), &h, error);
	if (rc) {
		simpler_task_args_destroy(a);
		return rc;
	}
	*out = a;
	return 0;
}
