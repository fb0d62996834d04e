// SPDX-License-Identifier: MIT
/*
 * Random calls and random rings.  Whatever a file is given, it gets a documented errno or
 * loses its context; another file goes on working, and the kernel log stays empty.  VM_FUZZ
 * says how many rounds, VM_SEED which ones.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>
#include <xf86drm.h>

#include "calls.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define CALLS_A_FILE	100u
#define WAIT_NS		20000000ll

static uint64_t seed;

static uint64_t random_below(uint64_t limit)
{
	return (guest_random(&seed) >> 16) % limit;
}

static int64_t soon(void)
{
	return guest_deadline() - GUEST_WAIT_NS + WAIT_NS;
}

static void on_alarm(int signo)
{
	(void)signo;
}

/* A call that waits for something that never comes is interrupted. */
static void set_alarms(bool on)
{
	struct sigaction act = { .sa_handler = on ? on_alarm : SIG_DFL };
	struct itimerval every = { { 0, 200000 }, { 0, 200000 } }, none = { 0 };

	setitimer(ITIMER_REAL, on ? &every : &none, NULL);
	sigaction(SIGALRM, &act, NULL);
}

static int setup(void **state)
{
	*state = (void *)(intptr_t)guest_open(0);
	seed = guest_setting("VM_SEED", 1);
	return 0;
}

static int teardown(void **state)
{
	set_alarms(false);
	guest_unmap_all();
	close((int)(intptr_t)*state);
	guest_await_counter(0, "contexts", 0);
	guest_await_counter(0, "executors", 0);
	return 0;
}

#define FILE_OF(state) ((int)(intptr_t)*(state))

/* ---- calls ---- */

static const uint64_t numbers[] = {
	0, 1, 2, 3, 4, 7, 8, 15, 16, 63, 64, 65, 4095, 4096, 4097, 8192, 65536, 65537, 1u << 20,
	1u << 31, (1ull << 32) - 1, 1ull << 32, (1ull << 32) + 4096, 1ull << 39,
	(1ull << 39) - 4096, (1ull << 39) + 1, 1ull << 47, 1ull << 63, ~0ull, ~0ull - 4095,
};

static uint64_t interesting(const struct scene *s)
{
	const uint64_t own[] = {
		s->bo.handle, s->closed_bo, s->foreign_bo, s->stream, s->user_stream, s->syncobj,
		(uintptr_t)s->memory, (uintptr_t)s->memory + 4096, (uintptr_t)s->commands,
		(uintptr_t)s->syncs, s->pinned, s->bo.address,
	};
	uint64_t pick = random_below(10);

	if (pick < 4)
		return numbers[random_below(COUNT(numbers))];
	if (pick < 8)
		return own[random_below(COUNT(own))];
	return pick < 9 ? 1ull << random_below(64) : guest_random(&seed);
}

static unsigned int member_count(const struct call *c)
{
	unsigned int n = 0;

	while (c->members[n].name)
		n++;
	return n;
}

static void spoil_commands(struct scene *s)
{
	struct simpler_hw_cmd *cmd = &s->commands[random_below(COUNT(s->commands))];

	cmd->opcode = (uint8_t)random_below(10);
	cmd->flags = (uint8_t)(random_below(4) ? 0 : guest_random(&seed));
	cmd->batch = (uint32_t)random_below(3);
	for (unsigned int i = 0; i < COUNT(cmd->words); i++)
		cmd->words[i] = random_below(2) ? 0 : interesting(s);
	s->syncs[0].flags = (uint32_t)random_below(5);
	s->syncs[0].handle = random_below(2) ? s->syncobj : (uint32_t)interesting(s);
	s->syncs[0].point = random_below(2) ? 0 : interesting(s);
}

/* What the driver would grant, but which would only take time or all memory. */
static void moderate(const struct call *c, union arguments *a)
{
	if (c->request == DRM_IOCTL_SIMPLER_STREAM_CREATE && a->stream_create.timeout_ms)
		a->stream_create.timeout_ms = 500;
	if (c->request == DRM_IOCTL_SIMPLER_BO_CREATE && a->bo_create.size > 1 << 22 &&
	    a->bo_create.size < 1ull << 32)
		a->bo_create.size >>= 10;
}

static void call_at_random(struct scene *s, unsigned int *accepted)
{
	const struct call *c = &calls[random_below(call_count)];
	union arguments a = { { 0 } };
	unsigned int changes = (unsigned int)random_below(4);
	int rc;

	c->fill(s, &a);
	if (c->request == DRM_IOCTL_SIMPLER_SUBMIT && !random_below(3))
		spoil_commands(s);
	while (changes--)
		call_set(&a, &c->members[random_below(member_count(c))], interesting(s));
	moderate(c, &a);
	rc = call_once(s->fd, c->request, &a);
	if (!call_may_return(c, rc))
		fail_msg("%s returns %d", c->name, rc);
	*accepted += !rc;
}

/* Calls of the DRM core with handles of all kinds. */
static void call_core_at_random(struct scene *s)
{
	uint32_t handle = (uint32_t)interesting(s);
	struct drm_gem_close gem = { .handle = handle };
	struct drm_prime_handle prime = { .handle = handle, .flags = DRM_CLOEXEC,
					  .fd = (int)random_below(64) };
	struct drm_syncobj_destroy syncobj = { .handle = handle };

	switch (random_below(4)) {
	case 0:
		call_once(s->fd, DRM_IOCTL_GEM_CLOSE, &gem);
		break;
	case 1:
		if (!call_once(s->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime))
			close(prime.fd);
		break;
	case 2:
		call_once(s->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);
		break;
	case 3:
		call_once(s->fd, DRM_IOCTL_SYNCOBJ_DESTROY, &syncobj);
		break;
	}
}

static void random_calls_end_in_documented_errors(void **state)
{
	uint64_t files = guest_setting("VM_FUZZ", 3000) / CALLS_A_FILE;
	unsigned int accepted = 0;

	set_alarms(true);
	for (uint64_t i = 0; i < files; i++) {
		struct scene s = scene_open(0);

		for (unsigned int k = 0; k < CALLS_A_FILE; k++) {
			call_at_random(&s, &accepted);
			if (!random_below(10))
				call_core_at_random(&s);
		}
		scene_close(&s);
		if (i % 4 == 3)
			guest_works(FILE_OF(state));
	}
	set_alarms(false);
	guest_works(FILE_OF(state));
	print_message("note %llu random calls from seed %llu, %u accepted\n",
		      (unsigned long long)files * CALLS_A_FILE,
		      (unsigned long long)guest_setting("VM_SEED", 1), accepted);
	assert_true(accepted > files);
}

/* ---- rings ---- */

struct ring_scene {
	int fd;
	struct guest_bo bo;
	struct guest_user_stream s;
};

static struct ring_scene ring_open(void)
{
	struct ring_scene r = { .fd = guest_open(0) };

	r.bo = guest_bo(r.fd, 65536, 0);
	assert_int_equal(guest_user_stream(r.fd, 64, &r.s), 0);
	return r;
}

static void ring_close(struct ring_scene *r)
{
	guest_user_stream_unmap(&r->s);
	guest_bo_close(r->fd, &r->bo);
	close(r->fd);
}

static uint64_t address_near(const struct ring_scene *r)
{
	static const uint64_t others[] = {
		0, 1, 8, SIMPLER_HW_VA_MIN, SIMPLER_HW_VA_MIN - 8, 1ull << SIMPLER_HW_VA_BITS,
		(1ull << SIMPLER_HW_VA_BITS) - 8, 1ull << 47, ~0ull - 7, ~0ull,
	};

	if (random_below(2))
		return r->bo.address + random_below(r->bo.size);
	return others[random_below(COUNT(others))];
}

static struct simpler_hw_cmd random_command(const struct ring_scene *r)
{
	struct simpler_hw_cmd cmd = {
		.opcode = (uint8_t)random_below(random_below(4) ? 9 : 256),
		.flags = (uint8_t)(random_below(3) ? 0 : guest_random(&seed)),
		.reserved = (uint16_t)(random_below(8) ? 0 : 1),
		.batch = (uint32_t)random_below(4),
	};

	for (unsigned int i = 0; i < COUNT(cmd.words); i++)
		cmd.words[i] = random_below(3) ? address_near(r) : random_below(70000);
	if (random_below(2))
		memset(&cmd.words[3], 0, 4 * sizeof(cmd.words[0]));
	return cmd;
}

/* Writes what only the device should, and an index that is beyond the ring. */
static void spoil_header(struct ring_scene *r)
{
	volatile uint32_t *words = (volatile uint32_t *)r->s.ring;

	words[random_below(sizeof(*r->s.ring) / 4)] = (uint32_t)guest_random(&seed);
}

static void attack(struct ring_scene *r)
{
	struct drm_simpler_wait_seqno wait = { .stream = r->s.stream, .deadline_ns = soon() };
	unsigned int commands = 1 + (unsigned int)random_below(80);

	for (unsigned int i = 0; i < commands; i++) {
		struct simpler_hw_cmd cmd = random_command(r);

		guest_user_push(&r->s, &cmd);
		if (!random_below(8))
			guest_user_ring(&r->s);
	}
	if (random_below(2))
		spoil_header(r);
	guest_user_ring(&r->s);
	wait.seqno = random_below(2) ? commands : guest_random(&seed);
	call_once(r->fd, DRM_IOCTL_SIMPLER_WAIT_SEQNO, &wait);
}

static void assert_untouched(const struct guest_bo *bo)
{
	for (uint64_t i = 0; i < bo->size / 8; i += 64)
		assert_int_equal(bo->data[i], i);
}

static void hostile_rings_harm_nobody_else(void **state)
{
	uint64_t rounds = guest_setting("VM_FUZZ", 3000) / 100;
	uint32_t generation = guest_health(FILE_OF(state)).generation;
	int victim = guest_open(0);
	struct guest_bo mine = guest_bo(FILE_OF(state), 1 << 20, 0);
	unsigned int banned = 0;

	for (uint64_t i = 0; i < mine.size / 8; i++)
		mine.data[i] = i;
	for (uint64_t i = 0; i < rounds; i++) {
		struct ring_scene r = ring_open();

		for (unsigned int k = 0; k < 3; k++)
			attack(&r);
		banned += guest_context(r.fd).state == DRM_SIMPLER_CONTEXT_BANNED;
		ring_close(&r);
		guest_works(victim);
		assert_untouched(&mine);
	}
	assert_int_equal(guest_health(victim).generation, generation);
	close(victim);
	print_message("note %llu hostile rings, %u contexts banned\n", (unsigned long long)rounds,
		      banned);
	assert_true(banned > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(random_calls_end_in_documented_errors),
		TEST(hostile_rings_harm_nobody_else),
	};

	return cmocka_run_group_tests_name("fuzz", tests, NULL, NULL);
}
