/* SPDX-License-Identifier: MIT */
/*
 * The run lane: up to two runs in flight, in submission order (worker-api §11.3).
 *
 *   submit                      chip                      reap
 *   check, fill slot,   ──▶  COPY in…, LAUNCH,  ──▶  read status, give uses
 *   publish commands         COPY out…                back, publish outcome
 *
 * The sequence number of a run's last command is its completion.  Whoever finds
 * a run completed retires it, and all older ones with it: waiters, done(), later
 * submits, close.  A failed run is only that (decisions D23); the lane is
 * poisoned when the chip is lost, because then nothing proves that it stopped
 * touching the run's buffers.
 */
#include <errno.h>
#include <string.h>

#include "base/run_code.h"
#include "rts/error.h"
#include "worker/worker.h"

#define LANE_ENTRIES		2048u
#define STATUS_UNWRITTEN	INT32_MIN

/* The runs of the pipeline always fit, and beside them an UNLOAD of every slot (register.c). */
_Static_assert(LANE_ENTRIES >= (WORKER_DEPTH + 1) * LANE_RUN_ENTRIES + SIMPLER_HW_CALLABLE_SLOTS,
	       "ring size");

/* Per slot, in the memory shared with the chip. */
struct lane_shared {
	struct simpler_hw_launch launch;
	struct simpler_hw_tensor tensors[SIMPLER_HW_MAX_TENSORS];
	uint64_t scalars[SIMPLER_HW_MAX_SCALARS];
	struct simpler_hw_status status;
	uint64_t copied;
	uint8_t pad[32];		/* slots start on cache lines */
};
_Static_assert(sizeof(struct lane_shared) % 64 == 0, "slots start on cache lines");

static void slot_init(struct simpler_worker *w, struct lane_slot *slot, struct lane_shared *s,
		      uint64_t addr)
{
	slot->launch = &s->launch;
	slot->tensors = s->tensors;
	slot->scalars = s->scalars;
	slot->status = &s->status;
	slot->copied = &s->copied;
	slot->launch_addr = addr + offsetof(struct lane_shared, launch);
	slot->copied_addr = addr + offsetof(struct lane_shared, copied);
	s->launch.bytes = sizeof(s->launch);
	s->launch.runtime = w->hw_runtime;
	s->launch.tensors = addr + offsetof(struct lane_shared, tensors);
	s->launch.scalars = addr + offsetof(struct lane_shared, scalars);
	s->launch.status = addr + offsetof(struct lane_shared, status);
}

int lane_open(struct simpler_worker *w)
{
	struct simpler_context *c = w->context;
	struct worker_lane *lane = &w->lane;
	struct lane_shared *shared;
	uint64_t addr;
	unsigned int i;
	int rc;

	lane->shared_bytes = WORKER_DEPTH * sizeof(*shared);
	rc = rts_code(c->ops->shared_alloc(c->priv, lane->shared_bytes, &lane->shared, &addr));
	if (rc)
		return rc;
	shared = lane->shared;
	for (i = 0; i < WORKER_DEPTH; i++)
		slot_init(w, &lane->slots[i], &shared[i], addr + i * sizeof(*shared));
	return rts_stream_create(c, LANE_ENTRIES, &lane->stream);
}

void lane_close(struct simpler_worker *w)
{
	struct simpler_context *c = w->context;
	unsigned int i;

	for (i = 0; i < WORKER_DEPTH; i++) {
		struct lane_slot *slot = &w->lane.slots[i];

		if (slot->staging)
			simpler_context_free(c, slot->staging);
		slot->staging = 0;
		slot->staging_bytes = 0;
	}
	if (w->lane.shared)
		c->ops->shared_free(c->priv, w->lane.shared, w->lane.shared_bytes);
	w->lane.shared = NULL;
}

/* ---- retirement, locked ---- */

static int failed_run(const struct simpler_hw_status *s, struct simpler_error *e)
{
	err_set(e, -s->code, "run failed with code %d (%s): %.900s", -s->code,
		run_code_name(s->code), s->text[0] ? s->text : run_code_description(s->code));
	if (s->hint[0])
		err_hint(e, "%.*s", (int)sizeof(s->hint) - 1, s->hint);
	e->core = s->core;
	e->func_id = s->func_id;
	e->task = s->task;
	e->address = s->address;
	e->pc = s->pc;
	e->phase = s->phase;
	e->orch_code = s->orch_code;
	e->sched_code = s->sched_code;
	e->sub_class = s->sub_class;
	return e->code;
}

/* The chip could not begin the launch, or a copy failed. */
static int failed_command(struct simpler_worker *w, const struct lane_slot *slot,
			  struct simpler_error *e)
{
	const struct simpler_hw_status *s = slot->status;
	int code = rts_stream_error(w->lane.stream, slot->first_seqno, slot->seqno);

	if (rts_stream_banned(w->lane.stream))
		return err_set(e, SIMPLER_ERR_DEVICE_LOST,
			       "the chip banned the Worker's context before the run ended");
	if (s->code == STATUS_UNWRITTEN && !slot->copies)
		return err_set(e, code ? code : SIMPLER_ERR_INTERNAL,
			       "the chip refused the launch: %s", simpler_error_description(code));
	if (s->code == STATUS_UNWRITTEN || !s->code)
		return err_set(e, code ? code : SIMPLER_ERR_INVALID_ARGUMENT,
			       "HOST tensors could not be copied %s the chip: their memory is not "
			       "accessible", s->code ? "to" : "from");
	return err_set(e, s->code == -ENOMEM ? SIMPLER_ERR_DEVICE_MEMORY : SIMPLER_ERR_INTERNAL,
		       "the chip could not begin the run (%d): %.900s", s->code, s->text);
}

/* Outcome of a run whose commands have all completed. */
static int slot_outcome(struct simpler_worker *w, const struct lane_slot *slot,
			struct simpler_error *e)
{
	const struct simpler_hw_status *s = slot->status;

	if (s->code > 0 && s->code <= SIMPLER_RUN_CODE_MAX)
		return failed_run(s, e);
	if (!s->code && (!slot->copies || *slot->copied == slot->launch->run_id))
		return 0;
	return failed_command(w, slot, e);
}

static void run_stats_fill(struct simpler_run *run, const struct lane_slot *slot)
{
	const struct simpler_hw_status *s = slot->status;

	run->stats = (struct simpler_run_stats){
		.run_id = slot->launch->run_id,
		.tasks_submitted = s->tasks_submitted,
		.tasks_completed = s->tasks_completed,
		.start_ns = s->start_ns,
		.end_ns = s->end_ns,
	};
}

static void run_finish(struct simpler_run *run, int code)
{
	run->code = code;
	if (code && run->error.chip < 0)
		run->error.chip = run->worker->config.device_id;
	/* release: pairs with the acquire in run_is_done(); publishes the outcome */
	atomic_store_explicit(&run->done, true, memory_order_release);
	run_put(run);
}

static void slot_leave(struct worker_lane *lane, struct lane_slot *slot)
{
	slot->use_count = 0;
	slot->run = NULL;
	slot->entry = NULL;
	lane->oldest = (lane->oldest + 1) % WORKER_DEPTH;
	lane->in_flight--;
}

static void slot_retire(struct simpler_worker *w, struct lane_slot *slot)
{
	struct simpler_run *run = slot->run;
	struct simpler_error unwatched;
	bool told = run && run->waited;
	uint32_t i;
	int code;

	code = slot_outcome(w, slot, run ? &run->error : &unwatched);
	for (i = 0; i < slot->use_count; i++)
		slot->uses[i]->uses--;
	if (run)
		run_stats_fill(run, slot);
	slot_leave(&w->lane, slot);
	if (run)
		run_finish(run, code);
	if (code != SIMPLER_ERR_DEVICE_LOST)
		return;
	lane_lost_locked(w);
	if (!told)
		w->lane.poison_unseen = true;
}

void lane_reap_locked(struct simpler_worker *w)
{
	struct worker_lane *lane = &w->lane;
	uint64_t completed;

	if (!lane->in_flight)
		return;
	completed = rts_stream_completed(lane->stream);
	while (lane->in_flight && lane->slots[lane->oldest].seqno <= completed)
		slot_retire(w, &lane->slots[lane->oldest]);
}

/* Completion will never be proven: the buffers stay in use until the context is destroyed. */
static void slot_abandon(struct simpler_worker *w, struct lane_slot *slot)
{
	struct simpler_run *run = slot->run;
	uint32_t i;

	for (i = 0; i < slot->use_count; i++)
		slot->uses[i]->unproven = true;
	slot_leave(&w->lane, slot);
	if (!run)
		return;
	if (run->waited)
		w->lane.poison_unseen = false;
	run->error = w->lane.cause;
	run_finish(run, SIMPLER_ERR_DEVICE_LOST);
}

void lane_lost_locked(struct simpler_worker *w)
{
	struct worker_lane *lane = &w->lane;

	if (!lane->poisoned) {
		lane->poisoned = true;
		lane->poison_unseen = lane->in_flight > 0;
		err_set(&lane->cause, SIMPLER_ERR_DEVICE_LOST,
			"the chip was lost while %u runs were in flight", lane->in_flight);
		err_hint(&lane->cause, "close this Worker; the chip may need a reset");
	}
	while (lane->in_flight)
		slot_abandon(w, &lane->slots[lane->oldest]);
}

/* ---- submission ---- */

static bool lane_has_room(const struct worker_lane *lane, const struct bind_request *rq)
{
	if (!lane->in_flight)
		return true;
	if (lane->in_flight == WORKER_DEPTH)
		return false;
	/* runs with diagnostics share the recorders of the chip: one at a time */
	return !rq->diagnostics && !lane->slots[lane->oldest].diagnostics;
}

static int lane_check(struct simpler_worker *w, struct bind_request *rq, struct simpler_error *e)
{
	int rc = worker_check_ready_locked(w, e);

	if (rc)
		return rc;
	lane_reap_locked(w);
	if (!w->lane.poisoned && rts_stream_banned(w->lane.stream))
		lane_lost_locked(w);
	if (w->lane.poisoned)
		return err_set(e, SIMPLER_ERR_POISONED, "chip run lane is poisoned: %.900s",
			       w->lane.cause.text);
	return bind_check(w, rq, e);
}

/* Waits for the oldest run; unlocked meanwhile. */
static int lane_wait_oldest(struct simpler_worker *w, const struct rts_wait *wait,
			    struct simpler_error *e)
{
	struct worker_lane *lane = &w->lane;
	uint64_t seqno = lane->slots[lane->oldest].seqno;
	int rc;

	pthread_mutex_unlock(&w->lock);
	rc = rts_stream_wait(lane->stream, seqno, wait);
	pthread_mutex_lock(&w->lock);
	if (rc == SIMPLER_ERR_DEVICE_LOST)
		lane_lost_locked(w);
	else if (rc)
		return err_set(e, rc, "no place in the pipeline: %s",
			       simpler_error_description(rc));
	return 0;
}

static void slot_prepare_status(struct lane_slot *slot)
{
	struct simpler_hw_status *s = slot->status;

	s->bytes = sizeof(*s);
	s->code = STATUS_UNWRITTEN;
	s->text[0] = '\0';
	s->hint[0] = '\0';
}

int lane_submit(struct simpler_worker *w, struct bind_request *rq, struct simpler_run *run,
		const struct rts_wait *wait, struct simpler_error *e)
{
	struct worker_lane *lane = &w->lane;
	struct lane_slot *slot;
	uint32_t i;
	int rc;

	for (;;) {
		rc = lane_check(w, rq, e);
		if (rc || lane_has_room(lane, rq))
			break;
		rc = lane_wait_oldest(w, wait, e);
		if (rc)
			break;
	}
	if (rc)
		return rc;
	slot = &lane->slots[(lane->oldest + lane->in_flight) % WORKER_DEPTH];
	slot_prepare_status(slot);
	slot->first_seqno = lane->stream->queued + 1;
	rc = bind_commit(w, slot, rq, e);
	if (rc)
		return rc;
	slot->seqno = rts_stream_publish(lane->stream);
	slot->entry->last_seqno = slot->seqno;
	for (i = 0; i < slot->use_count; i++)
		slot->uses[i]->last_seqno = slot->seqno;
	slot->run = run;
	run->seqno = slot->seqno;
	lane->in_flight++;
	return 0;
}

int lane_drain(struct simpler_worker *w, const struct rts_wait *wait)
{
	struct simpler_error unused;
	int rc = 0;

	lane_reap_locked(w);
	while (w->lane.in_flight && !rc) {
		rc = lane_wait_oldest(w, wait, &unused);
		lane_reap_locked(w);
	}
	return rc;
}
