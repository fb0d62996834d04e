/* SPDX-License-Identifier: MIT */
#include "chip/callable_bytes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define HEAD sizeof(struct simpler_hw_chip_callable)
#define CHILD sizeof(struct simpler_hw_core_callable)

/* What a signature belongs to, and how much of what it may hold. */
struct signature_rule {
	const char *what;
	int32_t entries, tensors, scalars;
	bool tensors_first;
};

static const struct signature_rule chip_rule = {
	"chip signature",
	SIMPLER_HW_CHIP_SIGNATURE,
	SIMPLER_HW_MAX_TENSORS,
	SIMPLER_HW_MAX_SCALARS,
	true,
};
static const struct signature_rule core_rule = {
	"core signature", SIMPLER_HW_CORE_SIGNATURE, 32, 16, false,
};

#define bad(err, ...) error_set(err, -EINVAL, __VA_ARGS__)

/* Index of the first byte that is not zero; @bytes when there is none. */
static size_t first_set(const void *data, size_t bytes)
{
	const unsigned char *p = data;
	size_t i;

	for (i = 0; i < bytes && !p[i]; i++)
		;
	return i;
}

/* What a count leaves unused is zero, so a damaged count shows. */
static int check_zero(const char *what, const void *data, size_t bytes, struct error_record *err)
{
	size_t i = first_set(data, bytes);

	return i == bytes ? 0
			  : bad(err, "%s: byte %zu is 0x%02x instead of zero", what, i,
				((const unsigned char *)data)[i]);
}

static int check_entry(const struct signature_rule *r, int32_t i, int32_t value, int32_t scalars,
		       struct error_record *err)
{
	if (value < SIMPLER_HW_SIG_SCALAR || value > SIMPLER_HW_SIG_INOUT)
		return bad(err, "%s: entry %d has direction %d, not 0 (scalar) to 3 (inout)",
			   r->what, i, value);
	if (value != SIMPLER_HW_SIG_SCALAR && scalars && r->tensors_first)
		return bad(err, "%s: entry %d is a tensor after a scalar; tensors come first",
			   r->what, i);
	return 0;
}

static int check_signature(const struct signature_rule *r, const int32_t *entries, int32_t count,
			   int32_t *tensors, struct error_record *err)
{
	int32_t i, scalars = 0;
	int rc;

	if (count < 0 || count > r->entries)
		return bad(err, "%s: count %d is not 0 to %d", r->what, count, r->entries);
	for (i = 0; i < count; i++) {
		rc = check_entry(r, i, entries[i], scalars, err);
		if (rc)
			return rc;
		scalars += entries[i] == SIMPLER_HW_SIG_SCALAR;
	}
	*tensors = count - scalars;
	if (*tensors > r->tensors || scalars > r->scalars)
		return bad(err, "%s: %d tensors and %d scalars exceed the supported %d and %d",
			   r->what, *tensors, scalars, r->tensors, r->scalars);
	return check_zero(r->what, entries + count, (size_t)(r->entries - count) * sizeof(*entries),
			  err);
}

static int check_name(const char *what, const char name[SIMPLER_HW_SYMBOL_BYTES], uint32_t length,
		      struct error_record *err)
{
	uint32_t i;

	if (length >= SIMPLER_HW_SYMBOL_BYTES)
		return bad(err, "%s: length %u leaves no room for the end mark, at most %u", what,
			   length, SIMPLER_HW_SYMBOL_BYTES - 1);
	for (i = 0; i < length; i++)
		if ((unsigned char)name[i] <= ' ' || name[i] == 0x7f)
			return bad(err, "%s: byte %u of %u is 0x%02x, which no symbol has", what, i,
				   length, (unsigned char)name[i]);
	return check_zero(what, name + length, SIMPLER_HW_SYMBOL_BYTES - length, err);
}

static int check_child_count(const struct simpler_hw_chip_callable *h, struct error_record *err)
{
	size_t used;
	int rc;

	if (h->child_count < 0 || h->child_count > (int32_t)SIMPLER_HW_MAX_CHILDREN)
		return bad(err, "child_count %d is not 0 to %u", h->child_count,
			   SIMPLER_HW_MAX_CHILDREN);
	used = (size_t)h->child_count;
	rc = check_zero("unused child_func_ids", h->child_func_ids + used,
			(SIMPLER_HW_MAX_CHILDREN - used) * sizeof(h->child_func_ids[0]), err);
	return rc ? rc
		  : check_zero("unused child_offsets", h->child_offsets + used,
			       (SIMPLER_HW_MAX_CHILDREN - used) * sizeof(h->child_offsets[0]), err);
}

static int check_head(struct callable_bytes *out, size_t size, struct error_record *err)
{
	const struct simpler_hw_chip_callable *h = &out->head;
	int rc = check_signature(&chip_rule, h->signature, h->sig_count, &out->tensor_count, err);

	if (rc)
		return rc;
	if (!h->binary_size || h->binary_size > size - HEAD)
		return bad(err,
			   "orchestration binary of %u bytes; the callable has %zu bytes after its "
			   "header",
			   h->binary_size, size - HEAD);
	rc = check_name("func_name", h->func_name, h->func_name_len, err);
	if (!rc)
		rc = check_name("config_name", h->config_name, h->config_name_len, err);
	if (!rc)
		rc = check_zero("reserved bytes of the callable", h->reserved, sizeof(h->reserved),
				err);
	return rc ? rc : check_child_count(h, err);
}

/* ---- children ----------------------------------------------------------------- */

static int check_core(const struct simpler_hw_core_callable *core, struct error_record *err)
{
	int32_t tensors;
	int rc = check_signature(&core_rule, core->signature, core->sig_count, &tensors, err);

	if (rc)
		return rc;
	if (core->resolved_addr)
		return bad(err, "resolved_addr 0x%llx instead of zero",
			   (unsigned long long)core->resolved_addr);
	return check_zero("reserved bytes", core->reserved, sizeof(core->reserved), err);
}

static int check_place(uint32_t offset, const struct simpler_hw_chip_callable *h, size_t storage,
		       struct error_record *err)
{
	if (offset % SIMPLER_HW_CALLABLE_ALIGN)
		return bad(err, "offset 0x%x is not a multiple of %u", offset,
			   SIMPLER_HW_CALLABLE_ALIGN);
	if (offset < h->binary_size)
		return bad(err, "offset 0x%x is inside the orchestration binary of 0x%x bytes",
			   offset, h->binary_size);
	if (offset > storage || storage - offset < CHILD)
		return bad(err, "header at offset 0x%x is beyond the storage of 0x%zx bytes",
			   offset, storage);
	return 0;
}

static int read_child_at(const unsigned char *storage, size_t bytes,
			 const struct simpler_hw_chip_callable *h, struct callable_child *c,
			 struct error_record *err)
{
	uint32_t offset = h->child_offsets[c->index];
	struct simpler_hw_core_callable core;
	int rc = check_place(offset, h, bytes, err);

	if (rc)
		return rc;
	if (c->func_id < 0 || c->func_id >= (int32_t)SIMPLER_HW_MAX_CHILDREN)
		return bad(err, "func_id is not 0 to %u", SIMPLER_HW_MAX_CHILDREN - 1);
	memcpy(&core, storage + offset, sizeof(core));
	if (!core.binary_size || core.binary_size > bytes - offset - CHILD)
		return bad(err,
			   "binary of 0x%x bytes at offset 0x%x; the storage has 0x%zx bytes after "
			   "its header",
			   core.binary_size, offset, bytes - offset - CHILD);
	c->offset = HEAD + offset + CHILD;
	c->bytes = core.binary_size;
	return check_core(&core, err);
}

static int read_child(const unsigned char *bytes, size_t size, struct callable_bytes *out,
		      uint32_t i, struct error_record *err)
{
	struct callable_child *c = &out->child[i];
	struct error_record local;
	int rc;

	error_clear(&local);
	*c = (struct callable_child){ .func_id = out->head.child_func_ids[i], .index = i };
	rc = read_child_at(bytes + HEAD, size - HEAD, &out->head, c, &local);
	return rc ? error_set(err, rc, "child %u (func_id %d): %s", i, c->func_id, local.text) : 0;
}

static int by_offset(const void *a, const void *b)
{
	const struct callable_child *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

static int by_func_id(const void *a, const void *b)
{
	const struct callable_child *x = a, *y = b;

	return (x->func_id > y->func_id) - (x->func_id < y->func_id);
}

static int check_overlaps(struct callable_bytes *out, struct error_record *err)
{
	const struct callable_child *c;

	qsort(out->child, out->child_count, sizeof(out->child[0]), by_offset);
	for (c = out->child; c + 1 < out->child + out->child_count; c++)
		if (c[1].offset - CHILD < c->offset + c->bytes)
			return bad(
				err,
				"child %u at offset 0x%zx overlaps child %u, which ends at 0x%zx",
				c[1].index, c[1].offset - CHILD - HEAD, c->index,
				c->offset + c->bytes - HEAD);
	return 0;
}

static int sort_by_func_id(struct callable_bytes *out, struct error_record *err)
{
	const struct callable_child *c;

	qsort(out->child, out->child_count, sizeof(out->child[0]), by_func_id);
	for (c = out->child; c + 1 < out->child + out->child_count; c++)
		if (c[0].func_id == c[1].func_id)
			return error_set(err, -EEXIST,
					 "children %u and %u have the same func_id %d", c[0].index,
					 c[1].index, c[0].func_id);
	return 0;
}

int callable_bytes_read(const void *bytes, size_t size, struct callable_bytes *out,
			struct error_record *err)
{
	uint32_t i;
	int rc;

	if (size < HEAD)
		return bad(err, "%zu bytes are too few for a callable header of %zu", size, HEAD);
	memcpy(&out->head, bytes, HEAD);
	rc = check_head(out, size, err);
	if (rc)
		return rc;
	out->child_count = (uint32_t)out->head.child_count;
	for (i = 0; i < out->child_count && !rc; i++)
		rc = read_child(bytes, size, out, i, err);
	if (!rc)
		rc = check_overlaps(out, err);
	return rc ? rc : sort_by_func_id(out, err);
}
