/* SPDX-License-Identifier: MIT */
/*
 * Callables of a Worker (worker-api §4.5).  Equal content shares one slot; each
 * registration has its own handle.
 *
 * A slot goes FREE → KNOWN (registered before init) → INSTALLED, or directly
 * FREE → INSTALLED.  install_lock is held over the whole of a registration, so
 * that a slot is never seen half installed.  A slot that runs in flight still use
 * is emptied by a command behind them in the run lane, so that nobody waits.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/run_code.h"
#include "rts/error.h"
#include "worker/worker.h"

static const struct rts_wait forever = { .deadline_ns = INT64_MAX };

int callables_init(struct worker_callables *c)
{
	return getentropy(&c->owner, sizeof(c->owner)) ? SIMPLER_ERR_SYSTEM : 0;
}

void callables_fini(struct worker_callables *c)
{
	unsigned int i;

	for (i = 0; i < SIMPLER_HW_CALLABLE_SLOTS; i++) {
		simpler_chip_callable_put(c->entries[i].callable);
		c->entries[i] = (struct callable_entry){ 0 };
	}
	free(c->handles);
	c->handles = NULL;
	c->handle_capacity = 0;
}

/* ---- handles, locked ---- */

static struct callable_handle *handle_lookup(struct worker_callables *c, uint64_t id)
{
	uint32_t index = (uint32_t)id;

	return id && index < c->handle_capacity && c->handles[index].id == id ? &c->handles[index]
									       : NULL;
}

struct callable_entry *callables_find(struct simpler_worker *w,
				      const struct simpler_callable_handle *handle,
				      struct simpler_error *e)
{
	struct worker_callables *c = &w->callables;
	struct callable_handle *h;
	struct callable_entry *entry;

	h = handle->owner == c->owner ? handle_lookup(c, handle->id) : NULL;
	if (!h) {
		err_set(e, SIMPLER_ERR_HANDLE_NOT_LIVE,
			"not a live callable handle of this Worker (%s)",
			handle->owner == c->owner ? "it was unregistered"
						  : "it belongs to another Worker or to none");
		return NULL;
	}
	entry = &c->entries[h->entry];
	if (handle->target_namespace != SIMPLER_LOCAL_CHIP) {
		err_set(e, SIMPLER_ERR_HANDLE_NAMESPACE,
			"the handle is of namespace %u, a level-2 Worker runs LOCAL_CHIP",
			handle->target_namespace);
		return NULL;
	}
	if (handle->kind != SIMPLER_KIND_CHIP_CALLABLE ||
	    memcmp(handle->digest, entry->digest, sizeof(entry->digest))) {
		err_set(e, SIMPLER_ERR_HANDLE_MUTATED,
			"CALLABLE_HANDLE_MUTATED: kind or digest of the handle were changed");
		return NULL;
	}
	return entry;
}

static int handle_reserve(struct worker_callables *c, uint32_t *index)
{
	struct callable_handle *bigger;
	uint32_t capacity = c->handle_capacity ? 2 * c->handle_capacity : 16;

	for (*index = 0; *index < c->handle_capacity; (*index)++)
		if (!c->handles[*index].id)
			return 0;
	bigger = reallocarray(c->handles, capacity, sizeof(*bigger));
	if (!bigger)
		return SIMPLER_ERR_NO_MEMORY;
	memset(bigger + c->handle_capacity, 0,
	       (capacity - c->handle_capacity) * sizeof(*bigger));
	c->handles = bigger;
	c->handle_capacity = capacity;
	return 0;
}

static void handle_issue(struct worker_callables *c, uint32_t index, struct callable_entry *entry,
			 struct simpler_callable_handle *out)
{
	if (!++c->next_serial)
		c->next_serial = 1;	/* an id is never 0 */
	c->handles[index].id = (uint64_t)c->next_serial << 32 | index;
	c->handles[index].entry = (uint32_t)(entry - c->entries);
	entry->handles++;
	*out = (struct simpler_callable_handle){
		.owner = c->owner,
		.id = c->handles[index].id,
		.kind = SIMPLER_KIND_CHIP_CALLABLE,
		.target_namespace = SIMPLER_LOCAL_CHIP,
	};
	memcpy(out->digest, entry->digest, sizeof(out->digest));
}

/* ---- installation, not locked, under install_lock ---- */

/* A device code is a run code; anything else is the chip refusing. */
static int install_error(const struct simpler_hw_status *status, int code,
			 const struct simpler_chip_callable *callable, struct simpler_error *e)
{
	const char *what = simpler_chip_callable_func_name(callable);

	if (status->code > 0 && status->code <= SIMPLER_RUN_CODE_MAX) {
		err_set(e, -status->code, "the chip cannot load callable '%s': %.900s", what,
			status->text[0] ? status->text : run_code_description(status->code));
		if (status->hint[0])
			err_hint(e, "%s", status->hint);
		e->func_id = status->func_id;
		return e->code;
	}
	if (code == SIMPLER_ERR_DEVICE_LOST)
		return err_set(e, code, "the chip was lost while '%s' was installed", what);
	if (code == SIMPLER_ERR_NO_MEMORY)
		return err_set(e, code, "no memory to install callable '%s'", what);
	return err_set(e, SIMPLER_ERR_REGISTER_FAILED,
		       "the chip refused callable '%s' (%s, status %d)", what,
		       simpler_error_name(code), status->code);
}

static int install_send(struct simpler_worker *w, const struct simpler_chip_callable *callable,
			uint32_t slot, uint64_t status_addr)
{
	struct simpler_context *c = w->context;
	struct simpler_hw_cmd cmd = {
		.opcode = SIMPLER_HW_OP_UPLOAD,
		.upload = { .status = status_addr, .slot = slot },
	};
	uint64_t addr;
	size_t size;
	const void *bytes = simpler_chip_callable_bytes(callable, &size);
	int rc = rts_code(c->ops->host_map(c->priv, bytes, size, &addr));

	if (rc)
		return rc;
	cmd.upload.addr = addr;
	cmd.upload.bytes = size;
	rc = rts_stream_run(w->control, &cmd);
	c->ops->host_unmap(c->priv, addr, size);
	return rc;
}

static int install(struct simpler_worker *w, const struct simpler_chip_callable *callable,
		   uint32_t slot, struct simpler_error *e)
{
	struct simpler_context *c = w->context;
	struct simpler_hw_status *status;
	uint64_t addr;
	void *memory;
	int rc = rts_code(c->ops->shared_alloc(c->priv, sizeof(*status), &memory, &addr));

	if (rc)
		return err_set(e, rc, "no memory to install a callable");
	status = memory;
	status->bytes = sizeof(*status);
	rc = install_send(w, callable, slot, addr);
	if (rc || status->code)
		rc = install_error(status, rc, callable, e);
	c->ops->shared_free(c->priv, memory, sizeof(*status));
	return rc;
}

/*
 * Locked before and after.  Returns the sequence number in the run lane after
 * which the slot is empty, 0: it is.
 */
static uint64_t uninstall(struct simpler_worker *w, uint32_t slot, uint64_t last_seqno)
{
	struct simpler_stream *lane = w->lane.stream;
	struct simpler_hw_cmd cmd = {
		.opcode = SIMPLER_HW_OP_UNLOAD,
		.unload = { .slot = slot },
	};
	uint64_t after = 0;

	/* the lane's own commands always find room, see lane.c */
	if (rts_stream_completed(lane) < last_seqno && rts_stream_room(lane) > LANE_RUN_ENTRIES) {
		rts_stream_push(lane, &cmd);
		after = rts_stream_publish(lane);
		pthread_mutex_unlock(&w->lock);
		rts_stream_doorbell(lane);
	} else {
		pthread_mutex_unlock(&w->lock);
		/* a lost chip has nothing to unload; no other failure is possible */
		if (!rts_stream_wait(lane, last_seqno, &forever))
			rts_stream_run(w->control, &cmd);
	}
	pthread_mutex_lock(&w->lock);
	return after;
}

/* ---- registration ---- */

static struct callable_entry *entry_by_digest(struct worker_callables *c, const uint8_t *digest)
{
	unsigned int i;

	for (i = 0; i < SIMPLER_HW_CALLABLE_SLOTS; i++)
		if (c->entries[i].state != CALLABLE_FREE &&
		    !memcmp(c->entries[i].digest, digest, SIMPLER_DIGEST_BYTES))
			return &c->entries[i];
	return NULL;
}

/* The smallest slot that is free once @completed commands of the lane have ended. */
static struct callable_entry *entry_smallest_free(struct worker_callables *c, uint64_t completed)
{
	unsigned int i;

	for (i = 0; i < SIMPLER_HW_CALLABLE_SLOTS; i++)
		if (c->entries[i].state == CALLABLE_FREE && c->entries[i].free_after <= completed)
			return &c->entries[i];
	return NULL;
}

/* Prefers slots that are empty already; else waits. Locked before and after. */
static struct callable_entry *entry_take(struct simpler_worker *w)
{
	struct simpler_stream *lane = w->lane.stream;
	struct callable_entry *entry;

	entry = entry_smallest_free(&w->callables, lane ? rts_stream_completed(lane) : 0);
	if (entry)
		return entry;
	entry = entry_smallest_free(&w->callables, UINT64_MAX);
	if (!entry)
		return NULL;
	pthread_mutex_unlock(&w->lock);
	/* if this fails, so does the upload */
	rts_stream_wait(lane, entry->free_after, &forever);
	pthread_mutex_lock(&w->lock);
	return entry;
}

static void entry_set(struct callable_entry *entry, struct simpler_chip_callable *callable,
		      const uint8_t *digest, enum callable_state state)
{
	size_t scalars = simpler_chip_callable_scalar_count(callable);
	size_t count = simpler_chip_callable_sig_count(callable);

	*entry = (struct callable_entry){
		.callable = simpler_chip_callable_get(callable),
		.state = state,
		.sig_count = (uint32_t)count,
		.scalar_count = (uint32_t)scalars,
		.tensor_count = (uint32_t)(count - scalars),
	};
	memcpy(entry->digest, digest, sizeof(entry->digest));
}

static void worker_digest(const struct simpler_worker *w, const struct simpler_chip_callable *c,
			  uint8_t digest[SIMPLER_DIGEST_BYTES])
{
	const char *platform = w->config.platform ? w->config.platform : "";
	const struct rts_platform *p = rts_platform_find(platform);

	simpler_chip_callable_digest(c, p ? p->arch_name : "", platform,
				     w->config.runtime ? w->config.runtime : "", digest);
}

/* NEW: only remembered. INITIALIZING: wait. READY: go on with a lease. Locked. */
static int register_admit(struct simpler_worker *w, struct worker_lease *lease,
			  struct simpler_error *e)
{
	while (w->state == SIMPLER_WORKER_INITIALIZING)
		pthread_cond_wait(&w->changed, &w->lock);
	if (w->state != SIMPLER_WORKER_NEW) {
		int rc = worker_check_ready_locked(w, e);

		if (rc)
			return rc;
	}
	lease_join_locked(w, lease);
	return 0;
}

/* Locked before and after; unlocked while the chip works. */
static int register_new(struct simpler_worker *w, struct simpler_chip_callable *callable,
			const uint8_t *digest, struct callable_entry **out, struct simpler_error *e)
{
	struct callable_entry *entry = entry_take(w);
	enum callable_state state = CALLABLE_KNOWN;
	int rc = 0;

	if (!entry)
		return err_set(e, SIMPLER_ERR_CAPACITY,
			       "callable capacity exhausted: LOCAL_SLOT_EXHAUSTED, %u different "
			       "callables are registered", SIMPLER_HW_CALLABLE_SLOTS);
	if (w->state != SIMPLER_WORKER_NEW) {
		state = CALLABLE_INSTALLED;
		pthread_mutex_unlock(&w->lock);
		rc = install(w, callable, (uint32_t)(entry - w->callables.entries), e);
		pthread_mutex_lock(&w->lock);
	}
	if (rc)
		return rc;
	entry_set(entry, callable, digest, state);
	*out = entry;
	return 0;
}

static int register_locked(struct simpler_worker *w, struct simpler_chip_callable *callable,
			   struct simpler_callable_handle *out, struct simpler_error *e)
{
	uint8_t digest[SIMPLER_DIGEST_BYTES];
	struct callable_entry *entry;
	uint32_t index;
	int rc = handle_reserve(&w->callables, &index);

	if (rc)
		return err_set(e, rc, "no memory for a callable handle");
	worker_digest(w, callable, digest);
	entry = entry_by_digest(&w->callables, digest);
	if (!entry)
		rc = register_new(w, callable, digest, &entry, e);
	if (!rc)
		handle_issue(&w->callables, index, entry, out);
	return rc;
}

int simpler_worker_register(struct simpler_worker *w, struct simpler_chip_callable *callable,
			    struct simpler_callable_handle *out)
{
	struct worker_lease lease;
	struct simpler_error e;
	int rc;

	if (!callable) {
		err_set(&e, SIMPLER_ERR_CALLABLE_TYPE, "level 2 takes chip callables only");
		return worker_failed(w, &e);
	}
	pthread_mutex_lock(&w->install_lock);
	pthread_mutex_lock(&w->lock);
	rc = register_admit(w, &lease, &e);
	if (rc) {
		pthread_mutex_unlock(&w->lock);
	} else {
		rc = register_locked(w, callable, out, &e);
		lease_end(w, &lease);
	}
	pthread_mutex_unlock(&w->install_lock);
	return rc ? worker_failed(w, &e) : 0;
}

/* The last handle is gone. Locked before and after. */
static struct simpler_chip_callable *entry_retire(struct simpler_worker *w,
						  struct callable_entry *entry)
{
	struct simpler_chip_callable *callable = entry->callable;
	uint64_t after = 0;

	if (entry->state == CALLABLE_INSTALLED)
		after = uninstall(w, (uint32_t)(entry - w->callables.entries), entry->last_seqno);
	*entry = (struct callable_entry){ .free_after = after };
	return callable;
}

static int unregister_locked(struct simpler_worker *w, const struct simpler_callable_handle *handle,
			     struct simpler_chip_callable **put, struct simpler_error *e)
{
	struct callable_entry *entry = callables_find(w, handle, e);

	if (!entry)
		return e->code;
	handle_lookup(&w->callables, handle->id)->id = 0;
	if (!--entry->handles)
		*put = entry_retire(w, entry);
	return 0;
}

int simpler_worker_unregister(struct simpler_worker *w,
			      const struct simpler_callable_handle *handle)
{
	struct simpler_chip_callable *put = NULL;
	struct worker_lease lease;
	struct simpler_error e;
	int rc;

	pthread_mutex_lock(&w->install_lock);
	pthread_mutex_lock(&w->lock);
	rc = register_admit(w, &lease, &e);
	if (rc) {
		pthread_mutex_unlock(&w->lock);
	} else {
		rc = unregister_locked(w, handle, &put, &e);
		lease_end(w, &lease);
	}
	pthread_mutex_unlock(&w->install_lock);
	simpler_chip_callable_put(put);
	return rc ? worker_failed(w, &e) : 0;
}

int callables_install_all(struct simpler_worker *w, struct simpler_error *e)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; i < SIMPLER_HW_CALLABLE_SLOTS && !rc; i++) {
		struct callable_entry *entry = &w->callables.entries[i];

		if (entry->state != CALLABLE_KNOWN)
			continue;
		rc = install(w, entry->callable, i, e);
		if (!rc)
			entry->state = CALLABLE_INSTALLED;
	}
	return rc;
}
