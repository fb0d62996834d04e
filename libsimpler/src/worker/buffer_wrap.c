/* SPDX-License-Identifier: MIT */
/* Storage that somebody else owns: wrapped device memory, received descriptors (worker-api §8). */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rts/error.h"
#include "worker/buffer.h"

int simpler_worker_location(struct simpler_worker *w, struct simpler_location **out)
{
	struct simpler_location *l;
	struct simpler_error e;
	int rc;

	if (worker_if_null(w, out))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	pthread_mutex_lock(&w->lock);
	rc = worker_check_ready_locked(w, &e);
	pthread_mutex_unlock(&w->lock);
	if (rc)
		return worker_failed(w, &e);
	l = calloc(1, sizeof(*l));
	if (!l) {
		err_set(&e, SIMPLER_ERR_NO_MEMORY, "no memory for a location");
		return worker_failed(w, &e);
	}
	atomic_init(&l->refs, 1);
	worker_get(w);
	l->worker = w;
	l->pid = getpid();
	*out = l;
	return 0;
}

struct simpler_location *simpler_location_get(struct simpler_location *l)
{
	/* relaxed: the caller holds a reference already, which orders everything */
	atomic_fetch_add_explicit(&l->refs, 1, memory_order_relaxed);
	return l;
}

void simpler_location_put(struct simpler_location *l)
{
	/* acq_rel: pairs with itself; the last put sees what the others did before theirs */
	if (!l || atomic_fetch_sub_explicit(&l->refs, 1, memory_order_acq_rel) != 1)
		return;
	worker_put(l->worker);
	free(l);
}

static int wrap_check(uint64_t address, uint64_t nbytes, const struct simpler_location *location,
		      int access, struct simpler_error *error)
{
	uint64_t end;

	if (location->pid != getpid())
		return err_set(error, SIMPLER_ERR_LOCATION_PROCESS,
			       "the location is of process %d, not of this process",
			       (int)location->pid);
	if (!address || !nbytes || __builtin_add_overflow(address, nbytes, &end))
		return err_set(error, SIMPLER_ERR_WRAP_RANGE,
			       "%llu bytes at 0x%llx are not a range of addresses",
			       (unsigned long long)nbytes, (unsigned long long)address);
	if (access < SIMPLER_ACCESS_READ || access > SIMPLER_ACCESS_READWRITE)
		return err_set(error, SIMPLER_ERR_INVALID_ARGUMENT, "unknown access %d", access);
	return 0;
}

/* Locked. */
static int wrap_enter(struct simpler_worker *w, struct simpler_buffer *b,
		      struct simpler_error *error)
{
	struct simpler_buffer *other;
	int rc;

	if (w->state != SIMPLER_WORKER_READY || w->lane.poisoned)
		return err_set(error, SIMPLER_ERR_LOCATION_DEAD,
			       "the location does not name a live device context");
	other = buffers_find_overlap(w, b, BUFFER_WRAP);
	if (other)
		return err_set(error, SIMPLER_ERR_WRAP_OVERLAP,
			       "%llu bytes at 0x%llx overlaps the %llu wrapped bytes at 0x%llx",
			       (unsigned long long)b->desc.nbytes, (unsigned long long)b->address,
			       (unsigned long long)other->desc.nbytes,
			       (unsigned long long)other->address);
	buffer_set_identity(w, b);
	rc = buffers_add(w, b);
	return rc ? err_set(error, rc, "no memory for the buffer table") : 0;
}

int simpler_buffer_wrap(uint64_t address, uint64_t nbytes, struct simpler_location *location,
			enum simpler_access access, struct simpler_buffer **out,
			struct simpler_error *error)
{
	struct simpler_buffer *b;
	int rc;

	if (err_if_null(error, location) || err_if_null(error, out))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	rc = wrap_check(address, nbytes, location, access, error);
	if (rc)
		return rc;
	b = buffer_create(location->worker, BUFFER_WRAP);
	if (!b)
		return err_set(error, SIMPLER_ERR_NO_MEMORY, "no memory for a buffer handle");
	b->address = address;
	buffer_set_desc(b, SIMPLER_SPACE_DEVICE, access, SIMPLER_BACKEND_DEVICE_MALLOC, nbytes);
	buffer_set_address(b, address);
	b->checked_epoch = UINT64_MAX;
	pthread_mutex_lock(&b->worker->lock);
	rc = wrap_enter(b->worker, b, error);
	pthread_mutex_unlock(&b->worker->lock);
	if (rc)
		simpler_buffer_put(b);
	else
		*out = b;
	return rc;
}

int simpler_buffer_from_descriptor(const struct simpler_buffer_desc *desc,
				   struct simpler_buffer **out, struct simpler_error *error)
{
	struct simpler_buffer *b;
	int rc;

	if (err_if_null(error, desc) || err_if_null(error, out))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	rc = simpler_buffer_desc_check(desc, error);
	if (rc)
		return rc;
	b = buffer_create(NULL, BUFFER_DETACHED);
	if (!b)
		return err_set(error, SIMPLER_ERR_NO_MEMORY, "no memory for a buffer handle");
	b->desc = *desc;
	if (desc->address_space == SIMPLER_SPACE_DEVICE && desc->body_len == sizeof(b->address))
		memcpy(&b->address, desc->body, sizeof(b->address));
	*out = b;
	return 0;
}
