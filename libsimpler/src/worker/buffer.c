/* SPDX-License-Identifier: MIT */
/* Buffers that a Worker makes: device memory, host memory; handles (worker-api §5.3, §7). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "rts/error.h"
#include "worker/buffer.h"

/* ---- objects ---- */

struct simpler_buffer *buffer_create(struct simpler_worker *w, enum buffer_kind kind)
{
	struct simpler_buffer *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	atomic_init(&b->refs, 1);
	b->kind = kind;
	list_init(&b->node);
	shm_init(&b->shm);
	if (w) {
		worker_get(w);
		b->worker = w;
	}
	return b;
}

struct simpler_buffer *simpler_buffer_get(struct simpler_buffer *b)
{
	/* relaxed: the caller holds a reference already, which orders everything */
	atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
	return b;
}

void simpler_buffer_put(struct simpler_buffer *b)
{
	/* acq_rel: pairs with itself; the last put sees what the others did before theirs */
	if (!b || atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1)
		return;
	if (b->worker)
		worker_put(b->worker);
	free(b);
}

void buffer_set_desc(struct simpler_buffer *b, enum simpler_address_space space,
		      enum simpler_access access, enum simpler_backend backend, uint64_t nbytes)
{
	b->desc.magic = SIMPLER_DESC_MAGIC;
	b->desc.address_space = (uint8_t)space;
	b->desc.access = (uint8_t)access;
	b->desc.backend = (uint8_t)backend;
	b->desc.nbytes = nbytes;
}

void buffer_set_address(struct simpler_buffer *b, uint64_t address)
{
	memcpy(b->desc.body, &address, sizeof(address));
	b->desc.body_len = sizeof(address);
}

void buffer_set_identity(struct simpler_worker *w, struct simpler_buffer *b)
{
	memcpy(b->desc.identity.owner, w->owner, sizeof(w->owner));
	b->desc.identity.buffer_id = ++w->buffers.next_id;
	b->desc.identity.generation = 1;
}

/* ---- device memory ---- */

static int buffer_enter_device(struct simpler_worker *w, struct simpler_buffer *b)
{
	int rc;

	pthread_mutex_lock(&w->lock);
	buffer_set_identity(w, b);
	w->buffers.epoch++;
	rc = buffers_add(w, b);
	pthread_mutex_unlock(&w->lock);
	return rc;
}

static int device_malloc(struct simpler_worker *w, uint64_t size, struct simpler_buffer **out,
			 struct simpler_error *e)
{
	struct simpler_buffer *b = buffer_create(w, BUFFER_DEVICE);
	int rc;

	if (!b)
		return err_set(e, SIMPLER_ERR_NO_MEMORY, "no memory for a buffer handle");
	rc = simpler_context_malloc(w->context, size, &b->address);
	if (rc) {
		err_set(e, rc, "cannot allocate %llu bytes of device memory: %s",
			(unsigned long long)size, simpler_error_description(rc));
		goto put;
	}
	buffer_set_desc(b, SIMPLER_SPACE_DEVICE, SIMPLER_ACCESS_READWRITE,
			SIMPLER_BACKEND_DEVICE_MALLOC, size);
	buffer_set_address(b, b->address);
	rc = buffer_enter_device(w, b);
	if (rc) {
		err_set(e, rc, "no memory for the buffer table");
		goto free;
	}
	*out = b;
	return 0;
free:
	simpler_context_free(w->context, b->address);
put:
	simpler_buffer_put(b);
	return rc;
}

int simpler_worker_malloc(struct simpler_worker *w, uint64_t size, struct simpler_buffer **out)
{
	struct worker_lease lease;
	struct simpler_error e;
	int rc;

	if (worker_if_null(w, out))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	rc = lease_begin(w, &lease, &e);
	if (rc)
		return worker_failed(w, &e);
	pthread_mutex_unlock(&w->lock);
	if (size)
		rc = device_malloc(w, size, out, &e);
	else
		rc = err_set(&e, SIMPLER_ERR_BUFFER_SIZE, "a device buffer cannot have 0 bytes");
	pthread_mutex_lock(&w->lock);
	lease_end(w, &lease);
	return rc ? worker_failed(w, &e) : 0;
}

/* A run or copy may still touch the buffer. */
static int check_idle(const struct simpler_buffer *b, struct simpler_error *e)
{
	if (b->unproven)
		return err_set(e, SIMPLER_ERR_BUFFER_UNPROVEN,
			       "completion of a run that uses buffer %llu is unproven; it is kept "
			       "until the Worker is closed",
			       (unsigned long long)b->desc.identity.buffer_id);
	if (b->uses)
		return err_set(e, SIMPLER_ERR_BUFFER_IN_USE,
			       "buffer %llu is still referenced by an in-flight run",
			       (unsigned long long)b->desc.identity.buffer_id);
	return 0;
}

/* The live buffer that may be freed; locked. */
static int free_check(struct simpler_worker *w, const struct simpler_buffer *handle,
		       struct simpler_buffer **out, struct simpler_error *e)
{
	struct simpler_buffer *b;

	if (handle->desc.address_space != SIMPLER_SPACE_DEVICE)
		return err_set(e, SIMPLER_ERR_BUFFER_SPACE,
			       "free takes device buffers; close a host buffer instead");
	if (handle->kind == BUFFER_WRAP)
		return err_set(e, SIMPLER_ERR_BUFFER_BORROWED,
			       "the storage is borrowed from the caller; close the buffer instead");
	b = buffers_find(w, &handle->desc, e);
	if (!b)
		return e->code;
	if (b->kind == BUFFER_WRAP)
		return err_set(e, SIMPLER_ERR_BUFFER_BORROWED,
			       "the storage is borrowed from the caller; close the buffer instead");
	*out = b;
	return check_idle(b, e);
}

/* The chip first: what it refuses to free stays usable (decisions D34). Locked. */
static int free_locked(struct simpler_worker *w, const struct simpler_buffer *handle,
		       struct simpler_buffer **put, struct simpler_error *e)
{
	struct simpler_buffer *b = NULL;
	int rc = free_check(w, handle, &b, e);

	if (rc)
		return rc;
	rc = simpler_context_free(w->context, b->address);
	if (rc)
		return err_set(e, rc, "the chip refused to free the memory at 0x%llx: %s",
			       (unsigned long long)b->address, simpler_error_description(rc));
	buffers_revoke(w, b);
	buffers_unlist(b);
	*put = b;
	return 0;
}

int simpler_worker_free(struct simpler_worker *w, struct simpler_buffer *handle)
{
	struct simpler_buffer *put = NULL;
	struct worker_lease lease;
	struct simpler_error e;
	int rc;

	if (worker_if_null(w, handle))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	rc = lease_begin(w, &lease, &e);
	if (rc)
		return worker_failed(w, &e);
	lane_reap_locked(w);
	rc = free_locked(w, handle, &put, &e);
	lease_end(w, &lease);
	simpler_buffer_put(put);
	return rc ? worker_failed(w, &e) : 0;
}

/* ---- host memory ---- */

static int shm_error(int err, const char *name, uint64_t nbytes, struct simpler_error *e)
{
	int code = err == -ENOENT ? SIMPLER_ERR_SHM_MISSING :
		   err == -ENOMEM ? SIMPLER_ERR_NO_MEMORY : SIMPLER_ERR_SYSTEM;

	err_set(e, code, "cannot make %llu bytes of shared memory '%s': %s",
		(unsigned long long)nbytes, name, strerror(-err));
	if (err == -ENOSPC)
		err_hint(e, "/dev/shm is full: enlarge it, or close buffers");
	return code;
}

#define SHM_PREFIX "spl-"

/* Buffers of processes that were killed; once per process, because nobody waits for it. */
static void shm_reclaim_dead(void)
{
	int count = shm_reclaim(SHM_PREFIX);

	if (count > 0)
		log_info("removed %d shared buffers that dead processes left", count);
}

/* Names are the prefix, the owner and an id, so that no two Workers collide. */
static int shm_open_named(struct simpler_buffer *b, uint64_t nbytes, struct simpler_error *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	char name[SHM_NAME_MAX + 1];
	uint64_t owner;
	int err;

	pthread_once(&once, shm_reclaim_dead);
	memcpy(&owner, b->desc.identity.owner, sizeof(owner));
	snprintf(name, sizeof(name), SHM_PREFIX "%016llx.%llx", (unsigned long long)owner,
		 (unsigned long long)b->desc.identity.buffer_id);
	err = shm_create(&b->shm, name, nbytes, SHM_COMMIT | SHM_HELD);
	if (err)
		return shm_error(err, name, nbytes, e);
	err = shm_map(&b->shm, 0);
	if (err) {
		shm_release(&b->shm);
		return shm_error(err, name, nbytes, e);
	}
	b->data = b->shm.addr;
	b->desc.body_len = (uint16_t)strlen(name);
	memcpy(b->desc.body, name, b->desc.body_len);
	return 0;
}

/* Makes host memory reachable for the chip and the buffer usable. */
static int host_enter(struct simpler_worker *w, struct simpler_buffer *b, struct simpler_error *e)
{
	struct simpler_context *c = w->context;
	int rc = rts_code(c->ops->host_map(c->priv, b->data, b->desc.nbytes, &b->address));

	if (rc)
		return err_set(e, rc, "cannot map %llu bytes of host memory for the chip: %s",
			       (unsigned long long)b->desc.nbytes, simpler_error_description(rc));
	pthread_mutex_lock(&w->lock);
	rc = buffers_add(w, b);
	pthread_mutex_unlock(&w->lock);
	if (rc) {
		c->ops->host_unmap(c->priv, b->address, b->desc.nbytes);
		err_set(e, rc, "no memory for the buffer table");
	}
	return rc;
}

static int buffer_create_shm(struct simpler_worker *w, struct simpler_buffer *b, uint64_t nbytes,
			     struct simpler_error *e)
{
	int rc;

	buffer_set_desc(b, SIMPLER_SPACE_HOST, SIMPLER_ACCESS_READWRITE, SIMPLER_BACKEND_POSIX_SHM,
		  nbytes);
	rc = shm_open_named(b, nbytes, e);
	if (rc)
		return rc;
	rc = host_enter(w, b, e);
	if (rc)
		shm_release(&b->shm);
	return rc;
}

static int buffer_create_host(struct simpler_worker *w, struct simpler_buffer *b, void *data,
			      uint64_t nbytes, enum simpler_access access, struct simpler_error *e)
{
	uint64_t end;

	if (access > SIMPLER_ACCESS_READWRITE)
		return err_set(e, SIMPLER_ERR_INVALID_ARGUMENT, "unknown access %d", (int)access);
	if (__builtin_add_overflow((uintptr_t)data, nbytes, &end))
		return err_set(e, SIMPLER_ERR_WRAP_RANGE,
			       "%llu bytes at %p are not a range of addresses",
			       (unsigned long long)nbytes, data);
	buffer_set_desc(b, SIMPLER_SPACE_HOST, access, SIMPLER_BACKEND_FORK_SHM, nbytes);
	buffer_set_address(b, (uintptr_t)data);
	b->data = data;
	return host_enter(w, b, e);
}

/* What the two kinds of host buffers have in common; @data NULL: shared memory. */
static int host_buffer(struct simpler_worker *w, enum buffer_kind kind, void *data, uint64_t nbytes,
		       enum simpler_access access, struct simpler_buffer **out)
{
	struct simpler_buffer *b = NULL;
	struct worker_lease lease;
	struct simpler_error e;
	int rc = lease_begin(w, &lease, &e);

	if (rc)
		return worker_failed(w, &e);
	if (nbytes && nbytes <= SIZE_MAX / 2)
		b = buffer_create(w, kind);
	if (b)
		buffer_set_identity(w, b);
	pthread_mutex_unlock(&w->lock);
	if (!nbytes || nbytes > SIZE_MAX / 2)
		rc = err_set(&e, SIMPLER_ERR_BUFFER_SIZE, "a buffer cannot have %llu bytes",
			     (unsigned long long)nbytes);
	else if (!b)
		rc = err_set(&e, SIMPLER_ERR_NO_MEMORY, "no memory for a buffer handle");
	else if (kind == BUFFER_SHM)
		rc = buffer_create_shm(w, b, nbytes, &e);
	else
		rc = buffer_create_host(w, b, data, nbytes, access, &e);
	if (rc)
		simpler_buffer_put(b);
	else
		*out = b;
	pthread_mutex_lock(&w->lock);
	lease_end(w, &lease);
	return rc ? worker_failed(w, &e) : 0;
}

int simpler_worker_create_buffer(struct simpler_worker *w, uint64_t nbytes,
				 struct simpler_buffer **out)
{
	if (worker_if_null(w, out))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	return host_buffer(w, BUFFER_SHM, NULL, nbytes, SIMPLER_ACCESS_READWRITE, out);
}

int simpler_worker_wrap_host(struct simpler_worker *w, void *data, uint64_t nbytes,
			     enum simpler_access access, struct simpler_buffer **out)
{
	if (worker_if_null(w, data) || worker_if_null(w, out))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	return host_buffer(w, BUFFER_HOST, data, nbytes, access, out);
}

/* ---- release ---- */

/* The two steps of shared memory; the name goes even when the mapping has to stay. */
static int release_shm(struct simpler_buffer *b, struct simpler_error *e)
{
	int err = b->pins ? 0 : shm_unmap(&b->shm);
	int name_err = shm_drop_name(&b->shm);

	b->data = b->shm.addr;
	if (!b->data)
		shm_close_fd(&b->shm);
	if (b->pins)
		return err_set(e, SIMPLER_ERR_BUFFER_EXPORTED,
			       "%u views of buffer %llu are alive; release them and close again",
			       b->pins, (unsigned long long)b->desc.identity.buffer_id);
	if (err || name_err)
		return err_set(e, SIMPLER_ERR_SYSTEM, "cannot release shared memory '%s': %s",
			       b->shm.name, strerror(err ? -err : -name_err));
	return 0;
}

/*
 * Ends a buffer's life as far as possible; locked.  *@put is set when the
 * table's reference has become the caller's.
 */
static int buffer_release_locked(struct simpler_worker *w, struct simpler_buffer *b, bool *put,
				 struct simpler_error *e)
{
	struct simpler_context *c = w->context;
	bool host = b->kind == BUFFER_SHM || b->kind == BUFFER_HOST;
	int rc = 0;

	*put = false;
	b->closed = true;
	if (b->live) {
		buffers_revoke(w, b);
		if (host)
			c->ops->host_unmap(c->priv, b->address, b->desc.nbytes);
		if (b->kind == BUFFER_DEVICE)
			rc = simpler_context_free(c, b->address);
		if (rc)
			err_set(e, rc, "the chip refused to free the memory at 0x%llx",
				(unsigned long long)b->address);
	}
	if (b->kind == BUFFER_SHM)
		rc = release_shm(b, e);
	if (rc && b->kind == BUFFER_SHM)
		return rc;
	if (b->kind == BUFFER_HOST)
		b->data = NULL;
	buffers_unlist(b);
	*put = true;
	return rc;
}

int simpler_buffer_close(struct simpler_buffer *b, struct simpler_error *error)
{
	struct simpler_worker *w;
	bool put = false;
	int rc = 0;

	if (err_if_null(error, b))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	w = b->worker;
	if (!w) {
		b->closed = true;
		return 0;
	}
	pthread_mutex_lock(&w->lock);
	if (w->lane.stream)
		lane_reap_locked(w);
	if (b->listed && b->kind == BUFFER_DEVICE)
		rc = err_set(error, SIMPLER_ERR_INVALID_ARGUMENT,
			     "device memory is released by free, not by close");
	else if (b->listed)
		rc = check_idle(b, error);
	if (!rc && b->listed)
		rc = buffer_release_locked(w, b, &put, error);
	pthread_mutex_unlock(&w->lock);
	if (put)
		simpler_buffer_put(b);
	return rc;
}

int buffers_release_all(struct simpler_worker *w, struct simpler_error *e)
{
	struct simpler_buffer *b, *tmp;
	struct simpler_error later;
	struct list done;
	bool put;
	int rc, first = 0;

	list_init(&done);
	pthread_mutex_lock(&w->lock);
	list_for_each_entry_safe(b, tmp, &w->buffers.all, node) {
		b->uses = 0;
		b->unproven = false;
		rc = buffer_release_locked(w, b, &put, first ? &later : e);
		if (!first)
			first = rc;
		if (put)
			list_add_tail(&done, &b->node);
	}
	pthread_mutex_unlock(&w->lock);
	list_for_each_entry_safe(b, tmp, &done, node) {
		list_del(&b->node);
		simpler_buffer_put(b);
	}
	return first;
}

/* ---- readers ---- */

/* Copies of mutable fields are made under the lock of the buffer's Worker, if it has one. */
static void buffer_lock(const struct simpler_buffer *b)
{
	if (b->worker)
		pthread_mutex_lock(&b->worker->lock);
}

static void buffer_unlock(const struct simpler_buffer *b)
{
	if (b->worker)
		pthread_mutex_unlock(&b->worker->lock);
}

int simpler_buffer_pin(struct simpler_buffer *b, void **data)
{
	int rc = 0;

	if (!b || !data)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	if (b->desc.address_space != SIMPLER_SPACE_HOST)
		return SIMPLER_ERR_BUFFER_SPACE;
	buffer_lock(b);
	if (b->closed || !b->data) {
		rc = SIMPLER_ERR_BUFFER_RELEASED;
	} else {
		b->pins++;
		*data = b->data;
	}
	buffer_unlock(b);
	return rc;
}

void simpler_buffer_unpin(struct simpler_buffer *b)
{
	buffer_lock(b);
	b->pins--;
	buffer_unlock(b);
}

struct simpler_identity simpler_buffer_identity(const struct simpler_buffer *b)
{
	return b->desc.identity;
}

enum simpler_address_space simpler_buffer_space(const struct simpler_buffer *b)
{
	return b->desc.address_space;
}

enum simpler_access simpler_buffer_access(const struct simpler_buffer *b)
{
	return b->desc.access;
}

enum simpler_backend simpler_buffer_backend(const struct simpler_buffer *b)
{
	return b->desc.backend;
}

uint64_t simpler_buffer_nbytes(const struct simpler_buffer *b)
{
	return b->desc.nbytes;
}

void *simpler_buffer_data(const struct simpler_buffer *b)
{
	void *data;

	buffer_lock(b);
	data = b->data;
	buffer_unlock(b);
	return data;
}

uint64_t simpler_buffer_address(const struct simpler_buffer *b)
{
	return b->desc.address_space == SIMPLER_SPACE_DEVICE ? b->address : 0;
}

const char *simpler_buffer_shm_name(const struct simpler_buffer *b)
{
	return b->shm.name;
}

bool simpler_buffer_closed(const struct simpler_buffer *b)
{
	bool closed;

	buffer_lock(b);
	closed = b->closed;
	buffer_unlock(b);
	return closed;
}

bool simpler_buffer_unlinked(const struct simpler_buffer *b)
{
	bool unlinked;

	buffer_lock(b);
	unlinked = b->kind == BUFFER_SHM && !b->shm.linked;
	buffer_unlock(b);
	return unlinked;
}

static int descriptor_check_locked(const struct simpler_buffer *b, struct simpler_error *error)
{
	const struct simpler_worker *w = b->worker;

	if (b->kind == BUFFER_WRAP && (w->state != SIMPLER_WORKER_READY || w->lane.poisoned))
		return err_set(error, SIMPLER_ERR_LOCATION_DEAD,
			       "the wrapped storage is not of a live device context");
	if (b->closed)
		return err_set(error, SIMPLER_ERR_BUFFER_RELEASED, "buffer %llu has been released",
			       (unsigned long long)b->desc.identity.buffer_id);
	return 0;
}

int simpler_buffer_descriptor(const struct simpler_buffer *b, struct simpler_buffer_desc *desc,
			      struct simpler_error *error)
{
	int rc;

	if (err_if_null(error, b) || err_if_null(error, desc))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	buffer_lock(b);
	rc = descriptor_check_locked(b, error);
	buffer_unlock(b);
	if (!rc)
		*desc = b->desc;
	return rc;
}
