/* SPDX-License-Identifier: MIT */
/* Identities and descriptors of buffers, as values (worker-api §5.1, §5.2). */
#include <string.h>

#include "rts/error.h"
#include "simpler/buffer.h"

bool simpler_identity_equal(const struct simpler_identity *a, const struct simpler_identity *b)
{
	return a->buffer_id == b->buffer_id && a->generation == b->generation &&
	       !memcmp(a->owner, b->owner, sizeof(a->owner));
}

static bool tail_is_zero(const struct simpler_buffer_desc *d)
{
	size_t i;

	for (i = d->body_len; i < sizeof(d->body); i++)
		if (d->body[i])
			return false;
	return true;
}

static bool body_is_address(const struct simpler_buffer_desc *d)
{
	uint64_t addr;

	memcpy(&addr, d->body, sizeof(addr));
	return d->body_len == sizeof(addr) && addr;
}

static bool body_is_name(const struct simpler_buffer_desc *d)
{
	size_t i;

	for (i = 0; i < d->body_len; i++)
		if (d->body[i] < 0x21 || d->body[i] > 0x7e || d->body[i] == '/')
			return false;
	return d->body_len > 0;
}

static bool body_is_empty(const struct simpler_buffer_desc *d)
{
	return !d->body_len;
}

/* What each backend allows: spaces as bits, the form of the body. */
static const struct backend_rule {
	unsigned int spaces;
	bool (*body)(const struct simpler_buffer_desc *d);
	const char *body_text;
} backend_rules[] = {
	[SIMPLER_BACKEND_FORK_SHM] = { 1u << SIMPLER_SPACE_HOST, body_is_address,
				       "an 8-byte address that is not 0" },
	[SIMPLER_BACKEND_POSIX_SHM] = { 1u << SIMPLER_SPACE_HOST, body_is_name,
					"a name of 1 to 32 printable bytes without '/'" },
	[SIMPLER_BACKEND_VMM_WINDOW] = { 1u << SIMPLER_SPACE_DEVICE, body_is_address,
					 "an 8-byte address that is not 0" },
	[SIMPLER_BACKEND_REMOTE_SIDECAR] = { 1u << SIMPLER_SPACE_HOST | 1u << SIMPLER_SPACE_DEVICE,
					     body_is_empty, "empty" },
	[SIMPLER_BACKEND_DEVICE_MALLOC] = { 1u << SIMPLER_SPACE_DEVICE, body_is_address,
					    "an 8-byte address that is not 0" },
	[SIMPLER_BACKEND_FORK_COW] = { 1u << SIMPLER_SPACE_HOST, body_is_address,
				       "an 8-byte address that is not 0" },
};

#define INVALID(...) \
	err_set(error, SIMPLER_ERR_BUFFER_DESCRIPTOR, "invalid BufferDescriptor: " __VA_ARGS__)

static int desc_check_ranges(const struct simpler_buffer_desc *d, struct simpler_error *error)
{
	if (d->magic != SIMPLER_DESC_MAGIC)
		return INVALID("magic is 0x%04x, not 0x%04x", d->magic, SIMPLER_DESC_MAGIC);
	if (d->address_space > SIMPLER_SPACE_DEVICE)
		return INVALID("unknown address space %u", d->address_space);
	if (d->access > SIMPLER_ACCESS_READWRITE)
		return INVALID("unknown access %u", d->access);
	if (d->backend > SIMPLER_BACKEND_FORK_COW)
		return INVALID("unknown backend %u", d->backend);
	if (d->body_len > sizeof(d->body))
		return INVALID("body_len %u exceeds %zu", d->body_len, sizeof(d->body));
	if (!tail_is_zero(d))
		return INVALID("bytes after body_len %u are not zero", d->body_len);
	if (!d->identity.generation)
		return INVALID("generation is 0");
	return 0;
}

int simpler_buffer_desc_check(const struct simpler_buffer_desc *d, struct simpler_error *error)
{
	const struct backend_rule *rule;
	int rc;

	if (err_if_null(error, d))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	rc = desc_check_ranges(d, error);
	if (rc)
		return rc;
	rule = &backend_rules[d->backend];
	if (!(rule->spaces & 1u << d->address_space))
		return INVALID("backend %u cannot have address space %u", d->backend,
			       d->address_space);
	if (d->backend == SIMPLER_BACKEND_FORK_COW && d->access != SIMPLER_ACCESS_READ)
		return INVALID("copy-on-write memory grants READ only, not access %u", d->access);
	if (!rule->body(d))
		return INVALID("the body of backend %u must be %s", d->backend, rule->body_text);
	return 0;
}
