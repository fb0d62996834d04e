/* SPDX-License-Identifier: MIT */
/*
 * Callables of a Worker (worker-api §4.5).  Equal content shares one slot; each
 * registration has its own handle.
 *
 * A slot goes FREE → KNOWN (registered before init) → INSTALLING → INSTALLED →
 * FREE.  One registration at a time has the turn (worker.h); it alone changes
 * slots that are FREE or INSTALLING.  INSTALLING means that an UPLOAD is in the
 * ring of the install stream, with memory that the chip uses.  A registration
 * that stops waiting leaves the slot like that; the next one of the same content
 * goes on waiting, and others clear it away once the chip is done with it.
 *
 * A slot that runs in flight still use is emptied by a command behind them in the
 * run lane, other slots by one in the install stream, so that nobody waits.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/run_code.h"
#include "rts/error.h"
#include "worker/worker.h"

#define STATUS_UNWRITTEN INT32_MIN
#define MEMORY_HINT \
	"free memory, or raise the process's limit (ulimit -v), and register it again"

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

/* ---- installation, with the turn ---- */

/* The chip has read the callable and cannot load it; the run code's own hint is about runs. */
static int load_error(const struct simpler_hw_status *status, const char *what,
		      struct simpler_error *e)
{
	err_set(e, -status->code, "the chip cannot load callable '%s': %.900s", what,
		status->text[0] ? status->text : run_code_description(status->code));
	err_hint(e, "%s", status->hint[0] ? status->hint :
		 "the message tells which part is refused and why; where it names memory or a "
		 "mapping, the process has reached a limit (ulimit -v, vm.max_map_count)");
	e->func_id = status->func_id;
	return e->code;
}

/* A device code is a run code; anything else is the chip refusing. */
static int install_error(const struct simpler_hw_status *status, int code,
			 const struct simpler_chip_callable *callable, struct simpler_error *e)
{
	const char *what = simpler_chip_callable_func_name(callable);

	if (!code && status->code > 0 && status->code <= SIMPLER_RUN_CODE_MAX)
		return load_error(status, what, e);
	if (code == SIMPLER_ERR_DEVICE_LOST)
		return err_set(e, code, "the chip was lost while '%s' was installed", what);
	if (code == SIMPLER_ERR_NO_MEMORY) {
		err_set(e, code, "no host memory to install callable '%s'", what);
		err_hint(e, MEMORY_HINT);
		return code;
	}
	if (code)
		return err_set(e, SIMPLER_ERR_REGISTER_FAILED,
			       "callable '%s' could not be given to the chip: %s (%s)", what,
			       simpler_error_description(code), simpler_error_name(code));
	if (status->code == STATUS_UNWRITTEN) {
		err_set(e, SIMPLER_ERR_REGISTER_FAILED,
			"the chip ended the upload of callable '%s' without looking at it", what);
		err_hint(e, "it may have had no memory to begin: " MEMORY_HINT);
		return e->code;
	}
	return err_set(e, SIMPLER_ERR_REGISTER_FAILED,
		       "the chip refused callable '%s' with the unknown status %d", what,
		       status->code);
}

static void upload_release(struct simpler_worker *w, struct callable_upload *u)
{
	struct simpler_context *c = w->context;

	if (u->bytes)
		c->ops->host_unmap(c->priv, u->addr, u->bytes);
	if (u->status)
		c->ops->shared_free(c->priv, u->status, sizeof(*u->status));
	*u = (struct callable_upload){ 0 };
}

/* Not locked. What it has acquired when it fails is the caller's to release. */
static int upload_send(struct simpler_worker *w, const struct simpler_chip_callable *callable,
		       uint32_t slot, struct callable_upload *u)
{
	struct simpler_hw_cmd cmd = {
		.opcode = SIMPLER_HW_OP_UPLOAD,
		.upload = { .slot = slot },
	};
	struct simpler_context *c = w->context;
	size_t size;
	const void *bytes = simpler_chip_callable_bytes(callable, &size);
	uint64_t status;
	void *memory;
	int rc = c->ops->shared_alloc(c->priv, sizeof(*u->status), &memory, &status);

	if (rc)
		return rts_code(rc);
	cmd.upload.status = status;
	u->status = memory;
	u->status->bytes = sizeof(*u->status);
	u->status->code = STATUS_UNWRITTEN;
	rc = c->ops->host_map(c->priv, bytes, size, &u->addr);
	if (rc)
		return rts_code(rc);
	u->bytes = size;
	cmd.upload.addr = u->addr;
	cmd.upload.bytes = size;
	return rts_stream_queue(w->install, &cmd, &u->seqno);
}

/* From FREE or KNOWN to INSTALLING. Locked before and after, but not while sending. */
static int install_start(struct simpler_worker *w, struct callable_entry *entry,
			 const struct simpler_chip_callable *callable, struct simpler_error *e)
{
	const struct simpler_hw_status none = { .code = 0 };
	struct callable_upload u = { 0 };
	int rc;

	pthread_mutex_unlock(&w->lock);
	rc = upload_send(w, callable, (uint32_t)(entry - w->callables.entries), &u);
	if (rc)
		upload_release(w, &u);
	else
		rts_stream_doorbell(w->install);
	pthread_mutex_lock(&w->lock);
	if (rc)
		return install_error(&none, rc, callable, e);
	entry->state = CALLABLE_INSTALLING;
	entry->upload = u;
	return 0;
}

/*
 * Why an UPLOAD ended without a status, 0 if nothing tells.  The ring remembers its first failure
 * only; no memory then is taken for no memory now.
 */
static int unwritten_error(const struct simpler_stream *s, uint64_t seqno)
{
	int code;

	if (rts_stream_banned(s))
		return SIMPLER_ERR_DEVICE_LOST;
	code = rts_stream_error(s, seqno, seqno);
	if (!code && rts_stream_error(s, 1, seqno) == SIMPLER_ERR_NO_MEMORY)
		code = SIMPLER_ERR_NO_MEMORY;
	return code;
}

/* The UPLOAD has ended or the chip is lost (@rc). To INSTALLED or FREE; locked. */
static int install_end(struct simpler_worker *w, struct callable_entry *entry, int rc,
		       struct simpler_error *e)
{
	struct callable_upload u = entry->upload;

	if (!rc && u.status->code == STATUS_UNWRITTEN)
		rc = unwritten_error(w->install, u.seqno);
	if (!rc && !u.status->code) {
		entry->state = CALLABLE_INSTALLED;
	} else {
		rc = install_error(u.status, rc, entry->callable, e);
		simpler_chip_callable_put(entry->callable);
		*entry = (struct callable_entry){ 0 };
	}
	entry->upload = (struct callable_upload){ 0 };
	upload_release(w, &u);
	return rc;
}

/* Locked before and after, but not while waiting. */
static int install_wait(struct simpler_worker *w, struct callable_entry *entry,
			const struct rts_wait *wait, struct simpler_error *e)
{
	uint64_t seqno = entry->upload.seqno;
	int rc;

	pthread_mutex_unlock(&w->lock);
	rc = rts_stream_wait(w->install, seqno, wait);
	pthread_mutex_lock(&w->lock);
	if (rc == SIMPLER_ERR_TIMEOUT || rc == SIMPLER_ERR_INTERRUPTED)
		return err_set(e, rc, "callable '%s' is still being installed; register it again "
			       "to go on waiting",
			       simpler_chip_callable_func_name(entry->callable));
	return install_end(w, entry, rc, e);
}

/*
 * Empties a slot that no handle names; locked.  Never waits: the lane has room
 * for one UNLOAD of every slot beside its runs (lane.c), the install stream for
 * an UPLOAD and an UNLOAD of each.  Returns the stream whose doorbell is to be rung.
 */
static struct simpler_stream *entry_retire(struct simpler_worker *w, struct callable_entry *entry)
{
	struct simpler_stream *lane = w->lane.stream;
	struct simpler_hw_cmd cmd = {
		.opcode = SIMPLER_HW_OP_UNLOAD,
		.unload = { .slot = (uint32_t)(entry - w->callables.entries) },
	};
	enum callable_state state = entry->state;
	uint64_t last = entry->last_seqno, unused;

	*entry = (struct callable_entry){ 0 };
	if (state != CALLABLE_INSTALLED)
		return NULL;
	if (rts_stream_completed(lane) < last) {
		rts_stream_push(lane, &cmd);
		entry->free_after = rts_stream_publish(lane);
		return lane;
	}
	/* a lost chip has nothing to unload; no other failure is possible */
	return rts_stream_queue(w->install, &cmd, &unused) ? NULL : w->install;
}

/* Locked before and after; unlocked meanwhile, because a doorbell may be a system call. */
static void doorbell(struct simpler_worker *w, struct simpler_stream *s)
{
	if (!s)
		return;
	pthread_mutex_unlock(&w->lock);
	rts_stream_doorbell(s);
	pthread_mutex_lock(&w->lock);
}

/* Clears away a slot whose registration stopped waiting, now that its UPLOAD has ended. */
static void abandoned_end(struct simpler_worker *w, struct callable_entry *entry, int rc)
{
	struct simpler_chip_callable *callable = entry->callable;
	struct simpler_error unused;

	if (install_end(w, entry, rc, &unused))
		return;
	doorbell(w, entry_retire(w, entry));
	simpler_chip_callable_put(callable);
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

/* The first abandoned slot; @completed: whose UPLOAD is among as many commands. */
static struct callable_entry *entry_abandoned(struct worker_callables *c, uint64_t completed)
{
	unsigned int i;

	for (i = 0; i < SIMPLER_HW_CALLABLE_SLOTS; i++)
		if (c->entries[i].state == CALLABLE_INSTALLING &&
		    c->entries[i].upload.seqno <= completed)
			return &c->entries[i];
	return NULL;
}

static int wait_error(int rc, struct simpler_error *e)
{
	return err_set(e, rc, "no callable slot became free: %s", simpler_error_description(rc));
}

/* Waits for a slot of which the chip still has something to do; unlocked meanwhile. */
static int entry_wait(struct simpler_worker *w, struct callable_entry *entry,
		      const struct rts_wait *wait, struct simpler_error *e)
{
	bool abandoned = entry->state == CALLABLE_INSTALLING;
	struct simpler_stream *s = abandoned ? w->install : w->lane.stream;
	uint64_t seqno = abandoned ? entry->upload.seqno : entry->free_after;
	int rc;

	pthread_mutex_unlock(&w->lock);
	rc = rts_stream_wait(s, seqno, wait);
	pthread_mutex_lock(&w->lock);
	if (rc == SIMPLER_ERR_TIMEOUT || rc == SIMPLER_ERR_INTERRUPTED)
		return wait_error(rc, e);
	if (abandoned)
		abandoned_end(w, entry, rc);
	return rc ? wait_error(rc, e) : 0;
}

/* Prefers slots that are empty already; else waits. Locked before and after. */
static int entry_take(struct simpler_worker *w, const struct rts_wait *wait,
		      struct callable_entry **out, struct simpler_error *e)
{
	struct worker_callables *c = &w->callables;
	struct callable_entry *entry;
	int rc;

	while (w->install && (entry = entry_abandoned(c, rts_stream_completed(w->install))))
		abandoned_end(w, entry, 0);
	for (;;) {
		*out = entry_smallest_free(c, w->lane.stream ?
					      rts_stream_completed(w->lane.stream) : 0);
		if (*out)
			return 0;
		entry = entry_smallest_free(c, UINT64_MAX);
		if (!entry)
			entry = entry_abandoned(c, UINT64_MAX);
		if (!entry)
			return err_set(e, SIMPLER_ERR_CAPACITY,
				       "callable capacity exhausted: LOCAL_SLOT_EXHAUSTED, %u "
				       "different callables are registered",
				       SIMPLER_HW_CALLABLE_SLOTS);
		rc = entry_wait(w, entry, wait, e);
		if (rc)
			return rc;
	}
}

static void entry_set(struct callable_entry *entry, struct simpler_chip_callable *callable,
		      const uint8_t *digest, enum callable_state state)
{
	size_t scalars = simpler_chip_callable_scalar_count(callable);
	size_t count = simpler_chip_callable_sig_count(callable);

	*entry = (struct callable_entry){
		.callable = simpler_chip_callable_get(callable),
		.state = state,
		.upload = entry->upload,
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
			  const struct rts_wait *wait, struct simpler_error *e)
{
	int rc;

	while (w->state == SIMPLER_WORKER_INITIALIZING) {
		rc = worker_wait_changed_locked(w, wait);
		if (rc)
			return err_set(e, rc, "the Worker is still INITIALIZING");
	}
	if (w->state != SIMPLER_WORKER_NEW) {
		rc = worker_check_ready_locked(w, e);
		if (rc)
			return rc;
	}
	lease_join_locked(w, lease);
	return 0;
}

/* Locked before and after. On success the entry is KNOWN, INSTALLING or INSTALLED. */
static int register_new(struct simpler_worker *w, struct simpler_chip_callable *callable,
			const uint8_t *digest, const struct rts_wait *wait,
			struct callable_entry **out, struct simpler_error *e)
{
	struct callable_entry *entry;
	int rc = entry_take(w, wait, &entry, e);

	if (!rc && w->state != SIMPLER_WORKER_NEW)
		rc = install_start(w, entry, callable, e);
	if (rc)
		return rc;
	entry_set(entry, callable, digest, w->state != SIMPLER_WORKER_NEW ? CALLABLE_INSTALLING
									  : CALLABLE_KNOWN);
	*out = entry;
	return 0;
}

static int register_locked(struct simpler_worker *w, struct simpler_chip_callable *callable,
			   const struct rts_wait *wait, struct simpler_callable_handle *out,
			   struct simpler_error *e)
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
		rc = register_new(w, callable, digest, wait, &entry, e);
	if (!rc && entry->state == CALLABLE_INSTALLING)
		rc = install_wait(w, entry, wait, e);
	if (!rc)
		handle_issue(&w->callables, index, entry, out);
	return rc;
}

/* Locked before and after, but not while waiting. */
static int turn_take(struct simpler_worker *w, const struct rts_wait *wait, struct simpler_error *e)
{
	int rc;

	while (w->registering) {
		rc = worker_wait_changed_locked(w, wait);
		if (rc)
			return err_set(e, rc, "another registration is still in progress: %s",
				       simpler_error_description(rc));
	}
	w->registering = true;
	return 0;
}

static void turn_give(struct simpler_worker *w)
{
	w->registering = false;
	pthread_cond_broadcast(&w->changed);
}

static int register_in_turn(struct simpler_worker *w, struct simpler_chip_callable *callable,
			    const struct rts_wait *wait, struct simpler_callable_handle *out,
			    struct simpler_error *e)
{
	struct worker_lease lease;
	int rc;

	pthread_mutex_lock(&w->lock);
	rc = register_admit(w, &lease, wait, e);
	if (rc) {
		pthread_mutex_unlock(&w->lock);
		return rc;
	}
	rc = turn_take(w, wait, e);
	if (!rc) {
		rc = register_locked(w, callable, wait, out, e);
		turn_give(w);
	}
	lease_end(w, &lease);
	return rc;
}

int simpler_worker_register_wait(struct simpler_worker *w, struct simpler_chip_callable *callable,
				 const struct simpler_wait *wait,
				 struct simpler_callable_handle *out)
{
	struct simpler_error e;
	struct rts_wait until;
	int rc = rts_wait_init(&until, wait);

	if (worker_if_null(w, out))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	if (rc)
		err_set(&e, rc, "timeout %lld ns is negative", (long long)wait->timeout_ns);
	else if (!callable)
		rc = err_set(&e, SIMPLER_ERR_CALLABLE_TYPE, "level 2 takes chip callables only");
	else
		rc = register_in_turn(w, callable, &until, out, &e);
	return rc ? worker_failed(w, &e) : 0;
}

int simpler_worker_register(struct simpler_worker *w, struct simpler_chip_callable *callable,
			    struct simpler_callable_handle *out)
{
	return simpler_worker_register_wait(w, callable, NULL, out);
}

/* Needs no turn: it ends slots that are KNOWN or INSTALLED, and waits for nothing. */
static int unregister_locked(struct simpler_worker *w, const struct simpler_callable_handle *handle,
			     struct simpler_chip_callable **put, struct simpler_error *e)
{
	struct callable_entry *entry = callables_find(w, handle, e);

	if (!entry)
		return e->code;
	handle_lookup(&w->callables, handle->id)->id = 0;
	if (!--entry->handles) {
		*put = entry->callable;
		doorbell(w, entry_retire(w, entry));
	}
	return 0;
}

int simpler_worker_unregister(struct simpler_worker *w,
			      const struct simpler_callable_handle *handle)
{
	static const struct rts_wait forever = { .deadline_ns = INT64_MAX };
	struct simpler_chip_callable *put = NULL;
	struct worker_lease lease;
	struct simpler_error e;
	int rc;

	if (worker_if_null(w, handle))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	pthread_mutex_lock(&w->lock);
	rc = register_admit(w, &lease, &forever, &e);
	if (rc) {
		pthread_mutex_unlock(&w->lock);
	} else {
		rc = unregister_locked(w, handle, &put, &e);
		lease_end(w, &lease);
	}
	simpler_chip_callable_put(put);
	return rc ? worker_failed(w, &e) : 0;
}

/* ---- init and close ---- */

int callables_install_all(struct simpler_worker *w, const struct rts_wait *wait,
			  struct simpler_error *e)
{
	unsigned int i;
	int rc = 0;

	pthread_mutex_lock(&w->lock);
	for (i = 0; i < SIMPLER_HW_CALLABLE_SLOTS && !rc; i++) {
		struct callable_entry *entry = &w->callables.entries[i];

		if (entry->state != CALLABLE_KNOWN)
			continue;
		rc = install_start(w, entry, entry->callable, e);
		if (!rc)
			rc = install_wait(w, entry, wait, e);
	}
	pthread_mutex_unlock(&w->lock);
	return rc;
}

void callables_abandon(struct simpler_worker *w)
{
	unsigned int i;

	for (i = 0; i < SIMPLER_HW_CALLABLE_SLOTS; i++)
		upload_release(w, &w->callables.entries[i].upload);
}
