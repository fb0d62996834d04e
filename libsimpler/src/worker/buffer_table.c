/* SPDX-License-Identifier: MIT */
/* The table of live buffers; all functions expect the Worker to be locked. */
#include <stdlib.h>
#include <string.h>

#include "rts/error.h"
#include "worker/buffer.h"

#define HASH_FIRST 64u

static struct simpler_buffer **hash_place(struct worker_buffers *t, uint64_t id)
{
	return &t->hash[id & t->mask];
}

static int table_reserve(struct worker_buffers *t)
{
	uint32_t size = t->hash ? 2 * (t->mask + 1) : HASH_FIRST;
	struct simpler_buffer **old = t->hash, *b;
	uint32_t i, old_size = old ? t->mask + 1 : 0;

	if (old && t->count <= t->mask)
		return 0;
	t->hash = calloc(size, sizeof(*t->hash));
	if (!t->hash) {
		t->hash = old;
		return SIMPLER_ERR_NO_MEMORY;
	}
	t->mask = size - 1;
	for (i = 0; i < old_size; i++)
		while ((b = old[i])) {
			struct simpler_buffer **place = hash_place(t, b->desc.identity.buffer_id);

			old[i] = b->next;
			b->next = *place;
			*place = b;
		}
	free(old);
	return 0;
}

int buffers_add(struct simpler_worker *w, struct simpler_buffer *b)
{
	struct simpler_buffer **place;
	int rc = table_reserve(&w->buffers);

	if (rc)
		return rc;
	place = hash_place(&w->buffers, b->desc.identity.buffer_id);
	b->next = *place;
	*place = b;
	w->buffers.count++;
	list_add_tail(&w->buffers.all, &b->node);
	b->live = true;
	b->listed = true;
	simpler_buffer_get(b);
	return 0;
}

void buffers_revoke(struct simpler_worker *w, struct simpler_buffer *b)
{
	struct simpler_buffer **at = hash_place(&w->buffers, b->desc.identity.buffer_id);

	while (*at != b)
		at = &(*at)->next;
	*at = b->next;
	w->buffers.count--;
	b->live = false;
	b->closed = true;
}

void buffers_unlist(struct simpler_buffer *b)
{
	list_del(&b->node);
	b->listed = false;
}

static struct simpler_buffer *table_lookup(struct simpler_worker *w,
					   const struct simpler_identity *id)
{
	struct simpler_buffer *b;

	if (!w->buffers.hash || memcmp(id->owner, w->owner, sizeof(w->owner)))
		return NULL;
	for (b = *hash_place(&w->buffers, id->buffer_id); b; b = b->next)
		if (b->desc.identity.buffer_id == id->buffer_id)
			return b->desc.identity.generation == id->generation ? b : NULL;
	return NULL;
}

/* Padding is ignored. */
static bool same_descriptor(const struct simpler_buffer_desc *a,
			    const struct simpler_buffer_desc *b)
{
	return a->nbytes == b->nbytes && a->address_space == b->address_space &&
	       a->access == b->access && a->backend == b->backend && a->magic == b->magic &&
	       a->body_len == b->body_len && !memcmp(a->body, b->body, sizeof(a->body));
}

struct simpler_buffer *buffers_find(struct simpler_worker *w,
				    const struct simpler_buffer_desc *desc,
				    struct simpler_error *e)
{
	struct simpler_buffer *b = table_lookup(w, &desc->identity);

	if (b && same_descriptor(&b->desc, desc))
		return b;
	if (b)
		err_set(e, SIMPLER_ERR_BUFFER_NOT_LIVE,
			"the descriptor of buffer %llu differs from the live one's (%llu bytes "
			"instead of %llu, or another field)",
			(unsigned long long)desc->identity.buffer_id,
			(unsigned long long)desc->nbytes, (unsigned long long)b->desc.nbytes);
	else if (memcmp(desc->identity.owner, w->owner, sizeof(w->owner)))
		err_set(e, SIMPLER_ERR_BUFFER_FOREIGN,
			"UNSUPPORTED_ENDPOINT_RELATION: buffer %llu is not a live allocation of "
			"this Worker, but of another one",
			(unsigned long long)desc->identity.buffer_id);
	else
		err_set(e, SIMPLER_ERR_BUFFER_NOT_LIVE,
			"buffer %llu is not a live %s allocation of this Worker",
			(unsigned long long)desc->identity.buffer_id,
			desc->address_space == SIMPLER_SPACE_DEVICE ? "device" : "host");
	return NULL;
}

static bool ranges_overlap(const struct simpler_buffer *a, const struct simpler_buffer *b)
{
	return a->address < b->address + b->desc.nbytes && b->address < a->address + a->desc.nbytes;
}

struct simpler_buffer *buffers_find_overlap(struct simpler_worker *w,
					    const struct simpler_buffer *b, enum buffer_kind kind)
{
	struct simpler_buffer *other;

	list_for_each_entry(other, &w->buffers.all, node)
		if (other->live && other->kind == kind && other != b && ranges_overlap(other, b))
			return other;
	return NULL;
}

int buffers_check_wrap(struct simpler_worker *w, struct simpler_buffer *b, struct simpler_error *e)
{
	if (b->checked_epoch == w->buffers.epoch)
		return 0;
	if (buffers_find_overlap(w, b, BUFFER_DEVICE))
		return err_set(e, SIMPLER_ERR_WRAP_OVERLAP,
			       "wrapped storage of %llu bytes at 0x%llx overlaps an allocation of "
			       "this Worker", (unsigned long long)b->desc.nbytes,
			       (unsigned long long)b->address);
	b->checked_epoch = w->buffers.epoch;
	return 0;
}

void buffers_fini(struct worker_buffers *t)
{
	free(t->hash);
	t->hash = NULL;
}
