// SPDX-License-Identifier: MIT
/*
 * Random faults of the device under the load of four processes, two on each chip, one of
 * them with a kernel-mode and one with a user-mode stream.  After each fault all four must
 * get on with right results; a fault that does not end contexts must not cost any, and none
 * may cost one on the other chip.  VM_INJECTIONS says how many, VM_SEED which ones.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <xf86drm.h>

#include "guest.h"

#define WORKERS		4u
#define CHIPS		2u
#define WORDS		512u
#define JOB_TIMEOUT_MS	1000u
#define FENCE_MS	20000
#define USER_WAIT_NS	3000000000ll	/* nothing but the waiter ends a user-mode command that hangs */
#define LATE_NS		10000000000ll	/* a wait that returns later than that after its deadline hangs */

/* What a worker tells the test. */
struct worker {
	_Atomic uint64_t good;		/* rounds with right results */
	_Atomic uint64_t lost;		/* contexts, or waits for commands that do not end */
	_Atomic bool away;		/* it has no file: the chip is gone */
	_Atomic bool bad;
	char text[160];			/* why it is bad; before @bad */
};

static struct worker *workers;		/* shared by all processes */

static unsigned int chip_of(unsigned int worker)
{
	return worker % CHIPS;
}

/* ---- a worker ---- */

struct session {
	struct worker *told;
	unsigned int chip;
	int fd;
	bool user;
	struct guest_bo device, host;
	uint32_t stream, syncobj;
	struct guest_user_stream ring;
	uint64_t pattern;
};

static void complain(struct session *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(s->told->text, sizeof(s->told->text), format, args);
	va_end(args);
	/* release: pairs with the acquire of the test, which then reads the text */
	atomic_store_explicit(&s->told->bad, true, memory_order_release);
	_exit(1);
}

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

/* What a call may say when the chip or the context has ended; nothing else is expected. */
static bool is_end(int rc)
{
	return rc == -EIO || rc == -ENODEV || rc == -ECANCELED;
}

static bool make_buffer(struct session *s, struct guest_bo *bo, uint32_t flags)
{
	struct drm_simpler_bo_create create = { .size = WORDS * 8, .flags = flags };
	int rc = guest_ioctl(s->fd, DRM_IOCTL_SIMPLER_BO_CREATE, &create);

	*bo = (struct guest_bo){ .handle = create.handle, .size = create.size,
				 .address = create.device_address };
	if (rc && !is_end(rc))
		complain(s, "BO_CREATE: %d", rc);
	return !rc;
}

static bool map_buffer(struct session *s, struct guest_bo *bo)
{
	struct drm_simpler_bo_mmap_offset at = { .handle = bo->handle };
	void *p = MAP_FAILED;

	if (!guest_ioctl(s->fd, DRM_IOCTL_SIMPLER_BO_MMAP_OFFSET, &at))
		p = mmap(NULL, bo->size, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd,
			 (off_t)at.offset);
	bo->data = p == MAP_FAILED ? NULL : p;
	return bo->data;
}

static bool make_stream(struct session *s)
{
	struct drm_simpler_stream_create create = {
		.priority = DRM_SIMPLER_PRIORITY_NORMAL, .entries = 64,
		.timeout_ms = JOB_TIMEOUT_MS,
	};
	int rc;

	if (s->user)
		rc = guest_user_stream(s->fd, 64, &s->ring);
	else
		rc = guest_ioctl(s->fd, DRM_IOCTL_SIMPLER_STREAM_CREATE, &create);
	s->stream = s->user ? s->ring.stream : create.stream;
	if (rc && !is_end(rc))
		complain(s, "STREAM_CREATE: %d", rc);
	return !rc;
}

static bool open_session(struct session *s)
{
	char path[32];

	snprintf(path, sizeof(path), "/dev/accel/accel%u", s->chip);
	s->fd = open(path, O_RDWR | O_CLOEXEC);
	if (s->fd < 0)
		return false;
	atomic_store(&s->told->away, false);
	if (drmSyncobjCreate(s->fd, 0, &s->syncobj))
		return false;
	return make_buffer(s, &s->device, 0) && make_buffer(s, &s->host, DRM_SIMPLER_BO_HOST) &&
	       map_buffer(s, &s->host) && make_stream(s);
}

static void close_session(struct session *s)
{
	guest_unmap_all();
	if (s->host.data)
		munmap((void *)s->host.data, s->host.size);
	if (s->fd >= 0)
		close(s->fd);
	s->host.data = NULL;
	s->fd = -1;
	atomic_store(&s->told->away, true);
}

/* A fence completes whatever happens; its file can be waited for when the chip is gone. */
static void await_fence(struct session *s)
{
	struct pollfd fence = { .events = POLLIN };
	struct drm_syncobj_handle get = {
		.handle = s->syncobj, .flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
		.fd = -1,
	};

	if (guest_ioctl(s->fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &get))
		return;		/* unplugged since the job was submitted */
	fence.fd = get.fd;
	if (poll(&fence, 1, FENCE_MS) != 1)
		complain(s, "a fence does not complete");
	close(get.fd);
}

static int wait_for(struct session *s, uint64_t seqno)
{
	int64_t limit = s->user ? USER_WAIT_NS : GUEST_WAIT_NS;
	struct drm_simpler_wait_seqno wait = {
		.stream = s->stream, .seqno = seqno, .deadline_ns = now_ns() + limit,
	};
	int rc = guest_ioctl(s->fd, DRM_IOCTL_SIMPLER_WAIT_SEQNO, &wait);

	if (now_ns() > wait.deadline_ns + LATE_NS)
		complain(s, "a wait returns long after its deadline");
	/* nothing vouches for what the device writes into a ring that user space owns */
	if (!rc && s->user && wait.completed > seqno)
		return -EIO;
	return rc;
}

static int run_kernel(struct session *s, const struct simpler_hw_cmd *cmds)
{
	struct drm_simpler_sync signal = { .flags = DRM_SIMPLER_SYNC_SIGNAL, .handle = s->syncobj };
	struct drm_simpler_submit job = {
		.stream = s->stream,
		.commands = { sizeof(*cmds), 2, (uintptr_t)cmds },
		.syncs = { sizeof(signal), 1, (uintptr_t)&signal },
	};
	int rc = guest_ioctl(s->fd, DRM_IOCTL_SIMPLER_SUBMIT, &job);

	if (rc)
		return rc;
	await_fence(s);
	return wait_for(s, job.seqno);
}

static int run_user(struct session *s, const struct simpler_hw_cmd *cmds)
{
	uint64_t seqno;

	guest_user_push(&s->ring, &cmds[0]);
	seqno = guest_user_push(&s->ring, &cmds[1]);
	guest_user_ring(&s->ring);
	return wait_for(s, seqno);
}

/* False: the context has ended, or the chip is gone. */
static bool round_of_work(struct session *s)
{
	uint64_t bytes = WORDS * 8;
	struct simpler_hw_cmd cmds[] = {
		guest_fill(s->device.address, bytes, ++s->pattern),
		guest_copy(s->host.address, s->device.address, bytes),
	};
	int rc = s->user ? run_user(s, cmds) : run_kernel(s, cmds);

	if (rc && !is_end(rc) && !(s->user && rc == -ETIME))
		complain(s, "a round ends with %d", rc);
	for (unsigned int i = 0; !rc && i < WORDS; i++)
		if (s->host.data[i] != s->pattern)
			complain(s, "word %u is %#llx instead of %#llx", i,
				 (unsigned long long)s->host.data[i],
				 (unsigned long long)s->pattern);
	return !rc;
}

static int work(void *arg)
{
	unsigned int index = (unsigned int)(uintptr_t)arg;
	struct session s = { .told = &workers[index], .chip = chip_of(index), .fd = -1,
			     .user = index >= CHIPS, .pattern = (uint64_t)index << 32 };

	for (;;) {
		bool open = open_session(&s);

		while (open && round_of_work(&s))
			atomic_fetch_add(&s.told->good, 1);
		if (open)
			atomic_fetch_add(&s.told->lost, 1);
		close_session(&s);
		usleep(1000);	/* what is gone should not be asked for without pause */
	}
	return 0;
}

/* ---- faults ---- */

enum { HARMLESS, ENDS_CONTEXTS };

static void inject_hang(unsigned int chip, uint64_t r)
{
	(void)r;
	guest_control("%u hang", chip);
}

static void inject_lost(unsigned int chip, uint64_t r)
{
	guest_control("%u lost-irq %u", chip, 1 + (unsigned int)(r % 8));
}

static void inject_spurious(unsigned int chip, uint64_t r)
{
	guest_control("%u spurious-irq %u", chip, (unsigned int)(r % 16));
}

static void inject_corrupt(unsigned int chip, uint64_t r)
{
	static const uint64_t values[] = { 0, 1, 1ull << 33, ~0ull };

	guest_control("%u corrupt-completion %llu", chip, (unsigned long long)values[r % 4]);
}

static void inject_ecc(unsigned int chip, uint64_t r)
{
	guest_control("%u ecc %u", chip, 1 + (unsigned int)(r % 100));
}

static void inject_uncorrected(unsigned int chip, uint64_t r)
{
	guest_control("%u ecc-uncorrected %u", chip, 1 + (unsigned int)(r % 4));
}

static void inject_thermal(unsigned int chip, uint64_t r)
{
	guest_control("%u thermal %u", chip, 20000 + (unsigned int)(r % 100000));
}

static void inject_death(unsigned int chip, uint64_t r)
{
	(void)r;
	guest_control("%u dead", chip);
}

static bool node_exists(unsigned int chip)
{
	char path[32];

	snprintf(path, sizeof(path), "/dev/accel/accel%u", chip);
	return !access(path, F_OK);
}

static void await_workers_away(unsigned int chip, bool away);

/* The other chip's node keeps its number because only one is away at a time. */
static void inject_unplug(unsigned int chip, uint64_t r)
{
	(void)r;
	guest_control("%u unplug", chip);
	await_workers_away(chip, true);
	guest_control("%u replug", chip);
	await_workers_away(chip, false);
}

static const struct fault {
	const char *name;
	void (*inject)(unsigned int chip, uint64_t r);
	int effect;
	unsigned int weight;
} faults[] = {
	{ "hang", inject_hang, ENDS_CONTEXTS, 2 },
	{ "lost interrupts", inject_lost, HARMLESS, 4 },
	{ "spurious interrupt", inject_spurious, HARMLESS, 4 },
	{ "corrupt completion", inject_corrupt, ENDS_CONTEXTS, 3 },
	{ "corrected errors", inject_ecc, HARMLESS, 3 },
	{ "uncorrected errors", inject_uncorrected, HARMLESS, 2 },
	{ "heat", inject_thermal, HARMLESS, 3 },
	{ "death", inject_death, ENDS_CONTEXTS, 3 },
	{ "unplug", inject_unplug, ENDS_CONTEXTS, 1 },
};

#define FAULTS (sizeof(faults) / sizeof(faults[0]))

static const struct fault *choose(uint64_t r)
{
	unsigned int sum = 0, at;

	for (unsigned int i = 0; i < FAULTS; i++)
		sum += faults[i].weight;
	at = (unsigned int)(r % sum);
	for (unsigned int i = 0;; at -= faults[i++].weight)
		if (at < faults[i].weight)
			return &faults[i];
}

/* ---- the test ---- */

static void check_workers(const char *during)
{
	for (unsigned int i = 0; i < WORKERS; i++)
		/* acquire: pairs with the release in complain(), the text is there */
		if (atomic_load_explicit(&workers[i].bad, memory_order_acquire))
			fail_msg("worker %u, %s: %s", i, during, workers[i].text);
	if (waitpid(-1, NULL, WNOHANG) > 0)
		fail_msg("a worker ended during %s", during);
}

/* Looks at the workers until @done, at most as long as nothing may last. */
static void await(bool (*done)(const void *arg), const void *arg, const char *what)
{
	int64_t until = now_ns() + 2 * GUEST_WAIT_NS;

	while (!done(arg)) {
		check_workers(what);
		if (now_ns() > until)
			fail_msg("%s: some worker does not get on: rounds %llu %llu %llu %llu", what,
				 (unsigned long long)workers[0].good,
				 (unsigned long long)workers[1].good,
				 (unsigned long long)workers[2].good,
				 (unsigned long long)workers[3].good);
		usleep(1000);
	}
}

static bool are_away(const void *arg)
{
	unsigned int chip = *(const unsigned int *)arg;

	return !node_exists(chip) && workers[chip].away && workers[chip + CHIPS].away;
}

static bool are_back(const void *arg)
{
	return node_exists(*(const unsigned int *)arg);
}

static void await_workers_away(unsigned int chip, bool away)
{
	await(away ? are_away : are_back, &chip, away ? "unplugging" : "replugging");
}

struct counts {
	uint64_t good[WORKERS], lost[WORKERS];
};

static struct counts count(void)
{
	struct counts c;

	for (unsigned int i = 0; i < WORKERS; i++) {
		c.good[i] = workers[i].good;
		c.lost[i] = workers[i].lost;
	}
	return c;
}

static bool all_got_on(const void *arg)
{
	const struct counts *since = arg;

	for (unsigned int i = 0; i < WORKERS; i++)
		if (workers[i].good < since->good[i] + 2)
			return false;
	return true;
}

/* A context that ends while the chip recovers may be followed by a second one. */
static void check_losses(const struct counts *before, unsigned int chip, const struct fault *f)
{
	for (unsigned int i = 0; i < WORKERS; i++) {
		uint64_t lost = workers[i].lost - before->lost[i];
		uint64_t most = chip_of(i) == chip && f->effect == ENDS_CONTEXTS ? 2 : 0;

		if (lost > most)
			fail_msg("%s of chip %u: worker %u lost %llu contexts", f->name, chip, i,
				 (unsigned long long)lost);
	}
}

static void inject_one(uint64_t *seed, uint32_t *of_kind)
{
	const struct fault *f = choose(guest_random(seed) >> 8);
	unsigned int chip = (unsigned int)(guest_random(seed) >> 40) % CHIPS;
	struct counts before = count(), after;

	f->inject(chip, guest_random(seed) >> 8);
	after = count();
	await(all_got_on, &after, f->name);
	guest_control("%u lost-irq 0", chip);
	check_losses(&before, chip, f);
	of_kind[f - faults]++;
}

static void start_workers(pid_t *pids)
{
	static const struct counts none;

	workers = mmap(NULL, WORKERS * sizeof(*workers), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(workers, MAP_FAILED);
	for (unsigned int i = 0; i < WORKERS; i++)
		pids[i] = guest_fork(work, (void *)(uintptr_t)i);
	await(all_got_on, &none, "the start");
}

static void everybody_gets_on_after_every_fault(void **state)
{
	uint64_t count = guest_setting("VM_INJECTIONS", 60);
	uint64_t seed = guest_setting("VM_SEED", 1);
	uint32_t of_kind[FAULTS] = { 0 };
	pid_t pids[WORKERS];

	(void)state;
	print_message("note %llu faults from seed %llu\n", (unsigned long long)count,
		      (unsigned long long)seed);
	start_workers(pids);
	for (uint64_t i = 0; i < count; i++) {
		inject_one(&seed, of_kind);
		if (i % 100 == 99)
			print_message("after %llu faults\n", (unsigned long long)i + 1);
	}
	for (unsigned int i = 0; i < WORKERS; i++)
		kill(pids[i], SIGKILL);
	for (unsigned int i = 0; i < WORKERS; i++)
		assert_int_equal(guest_reap(pids[i]), -SIGKILL);
	for (unsigned int i = 0; i < FAULTS; i++)
		print_message("note %4u %s\n", of_kind[i], faults[i].name);
	for (unsigned int i = 0; i < WORKERS; i++)
		print_message("note worker %u: %llu rounds, %llu contexts lost\n", i,
			      (unsigned long long)workers[i].good,
			      (unsigned long long)workers[i].lost);
}

static int teardown(void **state)
{
	(void)state;
	for (unsigned int chip = 0; chip < CHIPS; chip++) {
		guest_await_counter(chip, "contexts", 0);
		guest_await_counter(chip, "executors", 0);
	}
	return 0;
}

static void a_chip_can_be_plugged_again_and_again(void **state)
{
	uint64_t count = guest_setting("VM_REPLUGS", 3);

	(void)state;
	for (uint64_t i = 0; i < count; i++) {
		int fd = guest_open(1);

		guest_works(fd);
		guest_control("1 unplug");
		guest_await_chip(1, false);
		close(fd);
		guest_control("1 replug");
		guest_await_chip(1, true);
	}
	print_message("note %llu times unplugged and plugged\n", (unsigned long long)count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(everybody_gets_on_after_every_fault, teardown),
		cmocka_unit_test_teardown(a_chip_can_be_plugged_again_and_again, teardown),
	};

	return cmocka_run_group_tests_name("injection", tests, NULL, NULL);
}
