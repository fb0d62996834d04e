/* SPDX-License-Identifier: MIT */
#include "fake_chip.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

struct fake_chip fake;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static struct simpler_hw_regs regs;
static int waiters;

struct fake_stream {
	struct simpler_hw_ring *ring;
	uint32_t entries;
	uint32_t failed_batch;
};

void fake_reset(void)
{
	static bool once;
	pthread_condattr_t attr;

	if (!once) {
		pthread_condattr_init(&attr);
		pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
		pthread_cond_init(&changed, &attr);
		once = true;
	}
	memset((void *)&fake, 0, sizeof(fake));
	regs = (struct simpler_hw_regs){
		.magic = SIMPLER_HW_MAGIC, .cluster_count = 8, .memory_bytes = 1 << 30,
		.generation = 3,
	};
}

bool fake_nothing_alive(void)
{
	const struct fake_live *l = &fake.live;

	return !(l->devices || l->contexts || l->streams || l->memory || l->shared || l->mappings);
}

void fake_release(void)
{
	pthread_mutex_lock(&lock);
	fake.hold = false;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

void fake_lose(void)
{
	pthread_mutex_lock(&lock);
	fake.lost = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

void fake_await_waiters(int n)
{
	pthread_mutex_lock(&lock);
	while (waiters < n)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static bool injected(void)
{
	return ++fake.calls == fake.fail_at;
}

/* ---- devices, contexts, memory ---- */

static int fake_open(uint32_t arch, int32_t device_id, void **device)
{
	(void)device_id;
	if (fake.absent)
		return -ENODEV;
	if (injected())
		return -ENOMEM;
	if (fake.on_open)
		fake.on_open(fake.on_open_arg);
	regs.arch = arch;
	fake.live.devices++;
	*device = &regs;
	return 0;
}

static void fake_close(void *device)
{
	(void)device;
	fake.live.devices--;
}

static const struct simpler_hw_regs *fake_regs(void *device)
{
	return device;
}

static int fake_context_create(void *device, void **context)
{
	if (injected())
		return -ENOMEM;
	fake.live.contexts++;
	*context = device;
	return 0;
}

static int fake_context_destroy(void *context)
{
	(void)context;
	if (fake.busy_context)
		return -EBUSY;
	fake.live.contexts--;
	return 0;
}

static int fake_memory_alloc(void *context, uint64_t bytes, uint64_t *addr)
{
	void *p;

	(void)context;
	if (injected() || bytes > 1 << 30)
		return -ENOMEM;
	p = aligned_alloc(1024, (bytes + 1023) & ~UINT64_C(1023));
	if (!p)
		return -ENOMEM;
	memset(p, 0, (bytes + 1023) & ~UINT64_C(1023));
	fake.live.memory++;
	*addr = (uintptr_t)p;
	return 0;
}

static int fake_memory_free(void *context, uint64_t addr)
{
	int rc = fake.fail_memory_free;

	(void)context;
	fake.fail_memory_free = 0;
	if (rc)
		return rc;
	fake.live.memory--;
	free((void *)(uintptr_t)addr);
	return 0;
}

static void fake_memory_usage(void *context, uint64_t *mine, uint64_t *all)
{
	(void)context;
	*mine = 4096;
	*all = 8192;
}

static int fake_shared_alloc(void *context, uint64_t bytes, void **host, uint64_t *addr)
{
	(void)context;
	if (injected())
		return -ENOMEM;
	*host = aligned_alloc(64, (bytes + 63) & ~UINT64_C(63));
	memset(*host, 0, bytes);
	*addr = (uintptr_t)*host;
	fake.live.shared++;
	return 0;
}

static void fake_shared_free(void *context, void *host, uint64_t bytes)
{
	(void)context;
	(void)bytes;
	fake.live.shared--;
	free(host);
}

static int fake_host_map(void *context, const void *host, uint64_t bytes, uint64_t *addr)
{
	(void)context;
	(void)bytes;
	if (injected())
		return -ENOMEM;
	fake.live.mappings++;
	*addr = (uintptr_t)host;
	return 0;
}

static void fake_host_unmap(void *context, uint64_t addr, uint64_t bytes)
{
	(void)context;
	(void)addr;
	(void)bytes;
	fake.live.mappings--;
}

/* ---- streams ---- */

static int fake_stream_create(void *context, uint32_t entries, void **stream)
{
	struct fake_stream *s;
	size_t bytes = sizeof(struct simpler_hw_ring) + (size_t)entries * SIMPLER_HW_CMD_BYTES;

	(void)context;
	if (injected())
		return -ENOMEM;
	s = calloc(1, sizeof(*s));
	s->ring = aligned_alloc(64, bytes);
	memset(s->ring, 0, bytes);
	s->entries = entries;
	fake.live.streams++;
	*stream = s;
	return 0;
}

static int fake_stream_destroy(void *stream)
{
	struct fake_stream *s = stream;

	if (fake.busy_stream)
		return -EBUSY;
	fake.live.streams--;
	free(s->ring);
	free(s);
	return 0;
}

static struct simpler_hw_ring *fake_stream_ring(void *stream)
{
	return ((struct fake_stream *)stream)->ring;
}

static int take_code(void)
{
	int code = fake.code_count ? fake.codes[0] : 0;

	if (fake.code_count) {
		memmove(fake.codes, fake.codes + 1, sizeof(fake.codes) - sizeof(fake.codes[0]));
		fake.code_count--;
	}
	return code;
}

static void remember_launch(const struct simpler_hw_launch *l)
{
	uint32_t tensors = l->tensor_count > 8 ? 8 : l->tensor_count;
	uint32_t scalars = l->scalar_count > 8 ? 8 : l->scalar_count;

	fake.last_launch = *l;
	if (tensors)
		memcpy(fake.last_tensors, (void *)(uintptr_t)l->tensors,
		       tensors * sizeof(fake.last_tensors[0]));
	if (scalars)
		memcpy(fake.last_scalars, (void *)(uintptr_t)l->scalars,
		       scalars * sizeof(fake.last_scalars[0]));
}

static int run_launch(struct fake_stream *s, const struct simpler_hw_cmd *cmd)
{
	const struct simpler_hw_launch *l = (void *)(uintptr_t)cmd->launch.desc;
	struct simpler_hw_status *status = (void *)(uintptr_t)l->status;
	int code = take_code();

	fake.launches++;
	fake.last_slot = cmd->launch.slot;
	remember_launch(l);
	if (fake.ban_next) {
		__atomic_store_n(&s->ring->state, SIMPLER_HW_STREAM_BANNED, __ATOMIC_RELAXED);
		return -EFAULT;
	}
	if (!code && fake.kernel)
		fake.kernel(l);
	status->code = code;
	status->core = code ? 7 : -1;
	status->func_id = code ? 3 : -1;
	status->task = code ? 42 : UINT64_MAX;
	status->phase = SIMPLER_HW_PHASE_EXECUTE;
	status->tasks_submitted = 5;
	status->tasks_completed = code ? 4 : 5;
	if (code && fake.text)
		snprintf(status->text, sizeof(status->text), "%s", fake.text);
	return code > 0 ? -code : code;
}

static int run_upload(const struct simpler_hw_cmd *cmd)
{
	struct simpler_hw_status *status = (void *)(uintptr_t)cmd->upload.status;

	fake.upload_slots[fake.uploads++ % 128] = cmd->upload.slot;
	status->code = fake.refuse_upload;
	if (fake.refuse_upload && fake.text)
		snprintf(status->text, sizeof(status->text), "%s", fake.text);
	return !fake.refuse_upload ? 0 : fake.upload_error ? fake.upload_error : -EINVAL;
}

static int run_copy(const struct simpler_hw_cmd *cmd)
{
	fake.copies++;
	/* address 1 stands for memory that nobody can reach */
	if (cmd->copy.src == 1 || cmd->copy.dst == 1)
		return -EFAULT;
	memcpy((void *)(uintptr_t)cmd->copy.dst, (void *)(uintptr_t)cmd->copy.src, cmd->copy.bytes);
	return 0;
}

static int run_fill(const struct simpler_hw_cmd *cmd)
{
	char *at = (char *)(uintptr_t)cmd->fill.dst;
	uint64_t done;

	for (done = 0; done < cmd->fill.bytes; done += cmd->fill.width)
		memcpy(at + done, &cmd->fill.pattern, cmd->fill.width);
	return 0;
}

/* 1: cannot go on yet. */
static int run_command(struct fake_stream *s, const struct simpler_hw_cmd *cmd)
{
	__u64 *word = (__u64 *)(uintptr_t)cmd->words[0];

	switch (cmd->opcode) {
	case SIMPLER_HW_OP_COPY: return run_copy(cmd);
	case SIMPLER_HW_OP_FILL: return run_fill(cmd);
	case SIMPLER_HW_OP_LAUNCH: return fake.hold ? 1 : run_launch(s, cmd);
	case SIMPLER_HW_OP_UPLOAD: return run_upload(cmd);
	case SIMPLER_HW_OP_UNLOAD: fake.unloads++; return 0;
	case SIMPLER_HW_OP_FENCE:
		/* release: pairs with the acquire of whoever polls the fence */
		__atomic_store_n(word, cmd->words[1], __ATOMIC_RELEASE);
		return 0;
	case SIMPLER_HW_OP_WAIT:
		/* acquire: pairs with the release of the fence above */
		return __atomic_load_n(word, __ATOMIC_ACQUIRE) < cmd->words[1];
	default: return 0;
	}
}

static void complete(struct fake_stream *s, const struct simpler_hw_cmd *cmd, int rc)
{
	if (rc < 0) {
		s->failed_batch = cmd->batch;
		if (!s->ring->error) {
			s->ring->error = rc;
			s->ring->error_seqno = s->ring->completed + 1;
		}
	}
	/* release: pairs with the acquire in rts_stream_completed() and rts_stream_room() */
	__atomic_store_n(&s->ring->completed, s->ring->completed + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&s->ring->consumer, s->ring->consumer + 1, __ATOMIC_RELEASE);
}

static void run_commands(struct fake_stream *s)
{
	struct simpler_hw_cmd *cmds = (void *)(s->ring + 1);

	/* acquire: pairs with the release in rts_stream_publish() */
	while (!fake.lost && !fake.stall &&
	       s->ring->consumer != __atomic_load_n(&s->ring->producer, __ATOMIC_ACQUIRE)) {
		struct simpler_hw_cmd cmd = cmds[s->ring->consumer & (s->entries - 1)];
		int rc = 0;

		if (!cmd.batch || cmd.batch != s->failed_batch)
			rc = run_command(s, &cmd);
		if (rc > 0)
			break;
		complete(s, &cmd, rc);
	}
	pthread_cond_broadcast(&changed);
}

static void fake_doorbell(void *stream)
{
	pthread_mutex_lock(&lock);
	fake.doorbells++;
	run_commands(stream);
	pthread_mutex_unlock(&lock);
}

/* Asked without our lock: the answer may take others. */
static bool interrupted(const struct rts_wait *w)
{
	bool yes;

	if (!w->interrupted)
		return false;
	pthread_mutex_unlock(&lock);
	yes = w->interrupted(w->arg);
	pthread_mutex_lock(&lock);
	return yes;
}

static int wait_once(struct fake_stream *s, uint64_t seqno, const struct rts_wait *w)
{
	int64_t until = (int64_t)clock_mono_ns() + 2000000;
	struct timespec ts;

	run_commands(s);
	if (s->ring->completed >= seqno)
		return 0;
	if (fake.lost)
		return -ENODEV;
	if (interrupted(w))
		return -EINTR;
	if ((int64_t)clock_mono_ns() >= w->deadline_ns)
		return -ETIMEDOUT;
	ts = clock_to_timespec((uint64_t)(until < w->deadline_ns ? until : w->deadline_ns));
	pthread_cond_timedwait(&changed, &lock, &ts);
	return -EAGAIN;
}

static int fake_wait_seqno(void *stream, uint64_t seqno, const struct rts_wait *w)
{
	int rc;

	pthread_mutex_lock(&lock);
	fake.waits++;
	waiters++;
	pthread_cond_broadcast(&changed);
	do
		rc = wait_once(stream, seqno, w);
	while (rc == -EAGAIN);
	waiters--;
	pthread_mutex_unlock(&lock);
	return rc;
}

const struct rts_transport fake_transport = {
	.name = "fake",
	.open = fake_open,
	.close = fake_close,
	.regs = fake_regs,
	.context_create = fake_context_create,
	.context_destroy = fake_context_destroy,
	.memory_alloc = fake_memory_alloc,
	.memory_free = fake_memory_free,
	.memory_usage = fake_memory_usage,
	.shared_alloc = fake_shared_alloc,
	.shared_free = fake_shared_free,
	.host_map = fake_host_map,
	.host_unmap = fake_host_unmap,
	.stream_create = fake_stream_create,
	.stream_destroy = fake_stream_destroy,
	.stream_ring = fake_stream_ring,
	.doorbell = fake_doorbell,
	.wait_seqno = fake_wait_seqno,
};
