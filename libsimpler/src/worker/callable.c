/* SPDX-License-Identifier: MIT */
/* Building and reading callables (worker-api §4.1 to §4.3). */
#include "worker/callable.h"

#include <stdlib.h>
#include <string.h>

#include "rts/error.h"

struct callable_blob *callable_blob_create(size_t size)
{
	size_t total = sizeof(struct callable_blob) + size;
	void *memory;
	struct callable_blob *b;

	if (posix_memalign(&memory, SIMPLER_HW_CALLABLE_ALIGN, total))
		return NULL;
	memset(memory, 0, total);
	b = memory;
	atomic_init(&b->refs, 1);
	b->size = size;
	return b;
}

void callable_blob_get(struct callable_blob *b)
{
	/* relaxed: the caller holds a reference already, which orders everything */
	atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
}

void callable_blob_put(struct callable_blob *b)
{
	/* acq_rel: pairs with itself; the last put sees what the others did before theirs */
	if (atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) == 1)
		free(b);
}

/* ---- kernels ---- */

static int binary_check(const void *binary, size_t bytes, struct simpler_error *error)
{
	if (!binary && bytes)
		return err_set(error, SIMPLER_ERR_INVALID_ARGUMENT,
			       "the binary is NULL, but has %zu bytes", bytes);
	if (!bytes || bytes > UINT32_MAX)
		return err_set(error, SIMPLER_ERR_CALLABLE_SIZE,
			       "the binary has %zu bytes, not 1 to %u", bytes, UINT32_MAX);
	return 0;
}

static void copy_bytes(void *to, const void *from, size_t bytes)
{
	if (bytes)
		memcpy(to, from, bytes);
}

int simpler_core_callable_build(const int32_t *signature, size_t sig_count, const void *binary,
				size_t binary_bytes, struct simpler_core_callable **out,
				struct simpler_error *error)
{
	struct simpler_hw_core_callable *h;
	struct callable_blob *b;
	int rc;

	if (err_if_null(error, out) || (sig_count && err_if_null(error, signature)))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	rc = signature_check(&signature_core, signature, sig_count, error);
	if (!rc)
		rc = binary_check(binary, binary_bytes, error);
	if (rc)
		return rc;
	b = callable_blob_create(sizeof(*h) + binary_bytes);
	if (!b)
		return err_set(error, SIMPLER_ERR_NO_MEMORY, "no memory for a kernel of %zu bytes",
			       binary_bytes);
	h = (struct simpler_hw_core_callable *)b->bytes;
	copy_bytes(h->signature, signature, sig_count * sizeof(*signature));
	h->sig_count = (int32_t)sig_count;
	h->binary_size = (uint32_t)binary_bytes;
	copy_bytes(h + 1, binary, binary_bytes);
	*out = (struct simpler_core_callable *)b;
	return 0;
}

/* A copy of foreign bytes that @check accepts. */
static int blob_from(const void *bytes, size_t size,
		     int (*check)(const unsigned char *bytes, size_t size,
				  struct simpler_error *error),
		     struct callable_blob **out, struct simpler_error *error)
{
	struct callable_blob *b = callable_blob_create(size);
	int rc;

	if (!b)
		return err_set(error, SIMPLER_ERR_NO_MEMORY, "no memory for %zu bytes", size);
	copy_bytes(b->bytes, bytes, size);
	rc = check(b->bytes, size, error);
	if (rc)
		callable_blob_put(b);
	else
		*out = b;
	return rc;
}

static int check_core(const unsigned char *bytes, size_t size, struct simpler_error *error)
{
	size_t used = 0;
	int rc = core_bytes_check(bytes, size, &used, error);

	if (!rc && used != size)
		rc = err_set(error, SIMPLER_ERR_CALLABLE_BYTES,
			     "corrupt callable bytes: %zu bytes follow the kernel", size - used);
	return rc;
}

int simpler_core_callable_from_bytes(const void *bytes, size_t size,
				     struct simpler_core_callable **out,
				     struct simpler_error *error)
{
	struct callable_blob *b = NULL;
	int rc;

	if (err_if_null(error, bytes) || err_if_null(error, out))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	rc = blob_from(bytes, size, check_core, &b, error);
	if (!rc)
		*out = (struct simpler_core_callable *)b;
	return rc;
}

struct simpler_core_callable *simpler_core_callable_get(struct simpler_core_callable *c)
{
	callable_blob_get(&c->blob);
	return c;
}

void simpler_core_callable_put(struct simpler_core_callable *c)
{
	if (c)
		callable_blob_put(&c->blob);
}

const void *simpler_core_callable_bytes(const struct simpler_core_callable *c, size_t *size)
{
	*size = c->blob.size;
	return c->blob.bytes;
}

size_t simpler_core_callable_sig_count(const struct simpler_core_callable *c)
{
	return (size_t)core_header(c)->sig_count;
}

int simpler_core_callable_sig(const struct simpler_core_callable *c, size_t i)
{
	if (!c)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	return i < simpler_core_callable_sig_count(c) ? core_header(c)->signature[i]
						      : SIMPLER_ERR_INDEX;
}

const void *simpler_core_callable_binary(const struct simpler_core_callable *c, size_t *size)
{
	*size = core_header(c)->binary_size;
	return core_header(c) + 1;
}

/* ---- chip callables ---- */

static uint64_t align_up(uint64_t v)
{
	return (v + SIMPLER_HW_CALLABLE_ALIGN - 1) & ~(uint64_t)(SIMPLER_HW_CALLABLE_ALIGN - 1);
}

static int children_check(const struct simpler_chip_spec *spec, struct simpler_error *error)
{
	size_t i, j;

	if (spec->child_count > SIMPLER_CHIP_MAX_CHILDREN)
		return err_set(error, SIMPLER_ERR_CHILD_LIMIT, "%zu kernels, at most %d",
			       spec->child_count, SIMPLER_CHIP_MAX_CHILDREN);
	for (i = 0; i < spec->child_count; i++) {
		if (!spec->children[i].callable)
			return err_set(error, SIMPLER_ERR_INVALID_ARGUMENT,
				       "children[%zu] has no callable", i);
		if (spec->children[i].func_id < 0 ||
		    spec->children[i].func_id > SIMPLER_FUNC_ID_MAX)
			return err_set(error, SIMPLER_ERR_INVALID_ARGUMENT,
				       "func_id %d of children[%zu] is not 0 to %d",
				       spec->children[i].func_id, i, SIMPLER_FUNC_ID_MAX);
		for (j = 0; j < i; j++)
			if (spec->children[j].func_id == spec->children[i].func_id)
				return err_set(error, SIMPLER_ERR_CHILD_DUPLICATE,
					       "children[%zu] and [%zu] both have func_id %d",
					       j, i, spec->children[i].func_id);
	}
	return 0;
}

/* Only the part that is kept, see symbol_store(). */
static int name_check(const char *what, const char *name, struct simpler_error *error)
{
	size_t len = name ? strnlen(name, SIMPLER_SYMBOL_MAX) : 0;
	size_t good = symbol_length(name, len);

	if (good == len)
		return 0;
	return err_set(error, SIMPLER_ERR_INVALID_ARGUMENT,
		       "%s: byte %zu is 0x%02x, which no symbol has", what, good,
		       (unsigned char)name[good]);
}

static int spec_check(const struct simpler_chip_spec *spec, struct simpler_error *error)
{
	int rc;

	if ((spec->sig_count && err_if_null(error, spec->signature)) ||
	    (spec->child_count && err_if_null(error, spec->children)))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	rc = signature_check(&signature_chip, spec->signature, spec->sig_count, error);
	if (!rc)
		rc = binary_check(spec->binary, spec->binary_bytes, error);
	if (!rc && !spec->func_name)
		rc = err_set(error, SIMPLER_ERR_INVALID_ARGUMENT, "func_name is NULL");
	if (!rc)
		rc = name_check("func_name", spec->func_name, error);
	if (!rc)
		rc = name_check("config_name", spec->config_name, error);
	if (!rc)
		rc = children_check(spec, error);
	return rc;
}

/* Size of the storage: the orchestration, then each kernel at its aligned offset. */
static uint64_t spec_storage(const struct simpler_chip_spec *spec)
{
	uint64_t end = spec->binary_bytes;
	size_t i;

	for (i = 0; i < spec->child_count; i++)
		end = align_up(end) + spec->children[i].callable->blob.size;
	return end;
}

static uint32_t symbol_store(char to[SIMPLER_HW_SYMBOL_BYTES], const char *name)
{
	size_t len = name ? strnlen(name, SIMPLER_SYMBOL_MAX) : 0;

	copy_bytes(to, name, len);
	return (uint32_t)len;
}

static void chip_fill(struct simpler_hw_chip_callable *h, const struct simpler_chip_spec *spec)
{
	unsigned char *storage = (unsigned char *)(h + 1);
	uint64_t end = spec->binary_bytes;
	size_t i;

	copy_bytes(h->signature, spec->signature, spec->sig_count * sizeof(h->signature[0]));
	h->sig_count = (int32_t)spec->sig_count;
	h->binary_size = (uint32_t)spec->binary_bytes;
	h->func_name_len = symbol_store(h->func_name, spec->func_name);
	h->config_name_len = symbol_store(h->config_name, spec->config_name);
	h->child_count = (int32_t)spec->child_count;
	copy_bytes(storage, spec->binary, spec->binary_bytes);
	for (i = 0; i < spec->child_count; i++) {
		const struct callable_blob *child = &spec->children[i].callable->blob;

		end = align_up(end);
		h->child_func_ids[i] = spec->children[i].func_id;
		h->child_offsets[i] = (uint32_t)end;
		memcpy(storage + end, child->bytes, child->size);
		end += child->size;
	}
}

int simpler_chip_callable_build(const struct simpler_chip_spec *spec,
				struct simpler_chip_callable **out, struct simpler_error *error)
{
	struct callable_blob *b;
	uint64_t storage;
	int rc;

	if (err_if_null(error, spec) || err_if_null(error, out))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	rc = spec_check(spec, error);
	if (rc)
		return rc;
	storage = spec_storage(spec);
	if (storage > UINT32_MAX)
		return err_set(error, SIMPLER_ERR_CALLABLE_SIZE,
			       "orchestration and kernels take %llu bytes, at most %u",
			       (unsigned long long)storage, UINT32_MAX);
	b = callable_blob_create(sizeof(struct simpler_hw_chip_callable) + storage);
	if (!b)
		return err_set(error, SIMPLER_ERR_NO_MEMORY, "no memory for %llu bytes",
			       (unsigned long long)storage);
	chip_fill((struct simpler_hw_chip_callable *)b->bytes, spec);
	*out = (struct simpler_chip_callable *)b;
	return 0;
}

int simpler_chip_callable_from_bytes(const void *bytes, size_t size,
				     struct simpler_chip_callable **out,
				     struct simpler_error *error)
{
	struct callable_blob *b = NULL;
	int rc;

	if (err_if_null(error, bytes) || err_if_null(error, out))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	rc = blob_from(bytes, size, chip_bytes_check, &b, error);
	if (!rc)
		*out = (struct simpler_chip_callable *)b;
	return rc;
}

struct simpler_chip_callable *simpler_chip_callable_get(struct simpler_chip_callable *c)
{
	callable_blob_get(&c->blob);
	return c;
}

void simpler_chip_callable_put(struct simpler_chip_callable *c)
{
	if (c)
		callable_blob_put(&c->blob);
}

/* ---- readers ---- */

const void *simpler_chip_callable_bytes(const struct simpler_chip_callable *c, size_t *size)
{
	*size = c->blob.size;
	return c->blob.bytes;
}

size_t simpler_chip_callable_sig_count(const struct simpler_chip_callable *c)
{
	return (size_t)chip_header(c)->sig_count;
}

size_t simpler_chip_callable_scalar_count(const struct simpler_chip_callable *c)
{
	return signature_scalars(chip_header(c)->signature, simpler_chip_callable_sig_count(c));
}

int simpler_chip_callable_sig(const struct simpler_chip_callable *c, size_t i)
{
	if (!c)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	return i < simpler_chip_callable_sig_count(c) ? chip_header(c)->signature[i]
						      : SIMPLER_ERR_INDEX;
}

const char *simpler_chip_callable_func_name(const struct simpler_chip_callable *c)
{
	return chip_header(c)->func_name;
}

const char *simpler_chip_callable_config_name(const struct simpler_chip_callable *c)
{
	return chip_header(c)->config_name;
}

const void *simpler_chip_callable_binary(const struct simpler_chip_callable *c, size_t *size)
{
	*size = chip_header(c)->binary_size;
	return chip_header(c) + 1;
}

size_t simpler_chip_callable_child_count(const struct simpler_chip_callable *c)
{
	return (size_t)chip_header(c)->child_count;
}

int simpler_chip_callable_child_func_id(const struct simpler_chip_callable *c, size_t i,
					int32_t *func_id)
{
	if (!c || !func_id)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	if (i >= simpler_chip_callable_child_count(c))
		return SIMPLER_ERR_INDEX;
	*func_id = chip_header(c)->child_func_ids[i];
	return 0;
}

int simpler_chip_callable_child_offset(const struct simpler_chip_callable *c, size_t i,
				       uint32_t *offset)
{
	if (!c || !offset)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	if (i >= simpler_chip_callable_child_count(c))
		return SIMPLER_ERR_INDEX;
	*offset = chip_header(c)->child_offsets[i];
	return 0;
}

int simpler_chip_callable_child(const struct simpler_chip_callable *c, size_t i,
				struct simpler_core_callable **out)
{
	const struct simpler_hw_core_callable *h;
	uint32_t offset;
	int rc;

	if (!out)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	rc = simpler_chip_callable_child_offset(c, i, &offset);
	if (rc)
		return rc;
	h = (const void *)((const unsigned char *)(chip_header(c) + 1) + offset);
	return simpler_core_callable_build(h->signature, (size_t)h->sig_count, h + 1,
					   h->binary_size, out, NULL);
}
