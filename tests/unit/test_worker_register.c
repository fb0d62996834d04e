/* SPDX-License-Identifier: MIT */
/* Registration of callables. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "worker_fixture.h"

static struct simpler_callable_handle register_content(struct simpler_worker *w, uint32_t content)
{
	struct simpler_chip_callable *c = callable_new("", content);
	struct simpler_callable_handle h;

	assert_int_equal(simpler_worker_register(w, c, &h), 0);
	simpler_chip_callable_put(c);
	return h;
}

static int run(struct simpler_worker *w, const struct simpler_callable_handle *h)
{
	return simpler_worker_run(w, h, NULL, NULL, NULL);
}

static void equal_content_is_installed_once(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle a = register_content(w, 1), b = register_content(w, 1);

	(void)state;
	assert_int_equal(fake.uploads, 1);
	assert_memory_equal(a.digest, b.digest, 32);
	assert_true(a.id != b.id);
	assert_int_equal(a.kind, SIMPLER_KIND_CHIP_CALLABLE);
	assert_int_equal(a.target_namespace, SIMPLER_LOCAL_CHIP);
	assert_int_equal(simpler_worker_unregister(w, &a), 0);
	assert_int_equal(fake.unloads, 0);
	assert_int_equal(run(w, &b), 0);
	assert_int_equal(run(w, &a), SIMPLER_ERR_HANDLE_NOT_LIVE);
	assert_int_equal(simpler_worker_unregister(w, &b), 0);
	assert_int_equal(fake.unloads, 1);
	worker_end(w);
}

static void sixty_four_slots_and_the_smallest_free_one_is_reused(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle h[64], extra;
	struct simpler_chip_callable *c = callable_new("", 1000);
	uint32_t i;

	(void)state;
	for (i = 0; i < 64; i++)
		h[i] = register_content(w, i);
	assert_int_equal(simpler_worker_register(w, c, &extra), SIMPLER_ERR_CAPACITY);
	expect_error(w, SIMPLER_ERR_CAPACITY, "callable capacity exhausted");
	assert_int_equal(simpler_worker_unregister(w, &h[40]), 0);
	assert_int_equal(simpler_worker_unregister(w, &h[2]), 0);
	assert_int_equal(simpler_worker_register(w, c, &extra), 0);
	assert_int_equal(fake.upload_slots[64], 2);
	assert_int_equal(run(w, &extra), 0);
	assert_int_equal(fake.last_slot, 2);
	assert_int_equal(run(w, &h[63]), 0);
	assert_int_equal(fake.last_slot, 63);
	simpler_chip_callable_put(c);
	worker_end(w);
}

static void foreign_stale_and_forged_handles_are_refused(void **state)
{
	struct simpler_worker *w = worker_ready(), *other = worker_ready();
	struct simpler_callable_handle h = register_content(other, 1),
				       mine = register_content(w, 1);
	struct simpler_callable_handle forged = { 0 }, changed = mine;

	(void)state;
	assert_int_equal(run(w, &h), SIMPLER_ERR_HANDLE_NOT_LIVE);
	expect_error(w, SIMPLER_ERR_HANDLE_NOT_LIVE, "belongs to another Worker or to none");
	assert_int_equal(run(w, &forged), SIMPLER_ERR_HANDLE_NOT_LIVE);
	forged = mine;
	forged.id += 1;
	assert_int_equal(run(w, &forged), SIMPLER_ERR_HANDLE_NOT_LIVE);
	changed.digest[5] ^= 1;
	assert_int_equal(run(w, &changed), SIMPLER_ERR_HANDLE_MUTATED);
	changed = mine;
	changed.target_namespace = SIMPLER_LOCAL_PYTHON;
	assert_int_equal(run(w, &changed), SIMPLER_ERR_HANDLE_NAMESPACE);
	assert_int_equal(simpler_worker_unregister(w, &mine), 0);
	assert_int_equal(simpler_worker_unregister(w, &mine), SIMPLER_ERR_HANDLE_NOT_LIVE);
	expect_error(w, SIMPLER_ERR_HANDLE_NOT_LIVE, "it was unregistered");
	assert_int_equal(simpler_worker_register(w, NULL, &h), SIMPLER_ERR_CALLABLE_TYPE);
	assert_int_equal(simpler_worker_destroy(other), 0);
	worker_end(w);
}

static void registered_before_init_is_installed_by_init(void **state)
{
	struct simpler_worker *w = worker_new();
	struct simpler_callable_handle a = register_content(w, 1), b = register_content(w, 2);

	(void)state;
	assert_int_equal(fake.uploads, 0);
	assert_int_equal(simpler_worker_unregister(w, &a), 0);
	assert_int_equal(simpler_worker_init(w, NULL), 0);
	assert_int_equal(fake.uploads, 1);
	assert_int_equal(fake.upload_slots[0], 1);
	assert_int_equal(run(w, &b), 0);
	assert_int_equal(run(w, &a), SIMPLER_ERR_HANDLE_NOT_LIVE);
	worker_end(w);
}

static void platform_is_fixed_by_the_first_registration(void **state)
{
	struct simpler_worker *w = worker_new();
	struct simpler_callable_handle a = register_content(w, 1);

	(void)state;
	assert_int_equal(simpler_worker_set_platform(w, "a5sim"), SIMPLER_ERR_INVALID_STATE);
	assert_int_equal(simpler_worker_unregister(w, &a), 0);
	assert_int_equal(simpler_worker_set_platform(w, "a5sim"), 0);
	worker_end(w);
}

static void refused_upload_leaves_no_trace(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_chip_callable *c = callable_new("", 1);
	struct simpler_callable_handle h;

	(void)state;
	fake.refuse_upload = SIMPLER_RUN_INVALID_ARGS;
	fake.text = "symbol 'entry' is missing";
	assert_int_equal(simpler_worker_register(w, c, &h), -SIMPLER_RUN_INVALID_ARGS);
	expect_error(w, -SIMPLER_RUN_INVALID_ARGS, "symbol 'entry' is missing");
	fake.refuse_upload = 300;	/* not a run code */
	assert_int_equal(simpler_worker_register(w, c, &h), SIMPLER_ERR_REGISTER_FAILED);
	fake.refuse_upload = 0;
	assert_int_equal(simpler_worker_register(w, c, &h), 0);
	assert_int_equal(fake.upload_slots[2], 0);
	assert_int_equal(run(w, &h), 0);
	simpler_chip_callable_put(c);
	worker_end(w);
}

static void an_upload_without_a_status_tells_what_failed(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_chip_callable *c = callable_new("", 1);
	struct simpler_callable_handle h;
	struct simpler_error e;

	(void)state;
	fake.refuse_upload = INT32_MIN;	/* as it was before the command */
	fake.upload_error = -EINVAL;
	assert_int_equal(simpler_worker_register(w, c, &h), SIMPLER_ERR_REGISTER_FAILED);
	expect_error(w, SIMPLER_ERR_REGISTER_FAILED, "could not be given to the chip");
	/* the ring remembers its first failure only */
	assert_int_equal(simpler_worker_register(w, c, &h), SIMPLER_ERR_REGISTER_FAILED);
	expect_error(w, SIMPLER_ERR_REGISTER_FAILED, "without looking at it");
	assert_null(strstr(simpler_worker_last_error(w, &e)->text, "-2147483648"));
	fake.refuse_upload = 0;
	assert_int_equal(simpler_worker_register(w, c, &h), 0);
	assert_int_equal(run(w, &h), 0);
	simpler_chip_callable_put(c);
	worker_end(w);
}

static void an_upload_that_the_chip_has_no_memory_for_is_out_of_memory(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_chip_callable *c = callable_new("", 1);
	struct simpler_callable_handle h;
	struct simpler_error e;

	(void)state;
	fake.refuse_upload = INT32_MIN;
	fake.upload_error = -ENOMEM;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(simpler_worker_register(w, c, &h), SIMPLER_ERR_NO_MEMORY);
		expect_error(w, SIMPLER_ERR_NO_MEMORY, "no host memory to install callable");
		assert_non_null(strstr(simpler_worker_last_error(w, &e)->hint, "register it again"));
	}
	fake.refuse_upload = 0;
	assert_int_equal(simpler_worker_register(w, c, &h), 0);
	simpler_chip_callable_put(c);
	worker_end(w);
}

static void the_hint_of_a_refused_callable_speaks_of_the_callable(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_chip_callable *c = callable_new("", 1);
	struct simpler_callable_handle h;
	struct simpler_error e;

	(void)state;
	fake.refuse_upload = SIMPLER_RUN_INVALID_ARGS;
	fake.text = "the dynamic linker refused: failed to map segment";
	assert_int_equal(simpler_worker_register(w, c, &h), -SIMPLER_RUN_INVALID_ARGS);
	simpler_worker_last_error(w, &e);
	assert_null(strstr(e.hint, "orchestration"));
	assert_non_null(strstr(e.hint, "ulimit -v"));
	simpler_chip_callable_put(c);
	worker_end(w);
}

static void refused_upload_fails_init(void **state)
{
	struct simpler_worker *w = worker_new();

	(void)state;
	register_content(w, 1);
	fake.refuse_upload = SIMPLER_RUN_INVALID_ARGS;
	assert_int_equal(simpler_worker_init(w, NULL), -SIMPLER_RUN_INVALID_ARGS);
	assert_int_equal(simpler_worker_get_state(w), SIMPLER_WORKER_FAILED);
	assert_true(fake_nothing_alive());
	worker_end(w);
}

static void registration_does_not_wait_for_runs(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle a = register_content(w, 1), b, c = register_content(w, 3);
	struct simpler_run *r;

	(void)state;
	fake.hold = true;
	assert_int_equal(simpler_worker_submit(w, &a, NULL, NULL, NULL, &r), 0);
	b = register_content(w, 2);
	assert_int_equal(simpler_worker_unregister(w, &c), 0);
	assert_int_equal(simpler_worker_unregister(w, &b), 0);
	assert_int_equal(fake.unloads, 2);
	/* the kernels of the run stay, and with them the slot */
	assert_int_equal(simpler_worker_unregister(w, &a), 0);
	assert_int_equal(fake.unloads, 2);
	assert_false(simpler_run_done(r));
	b = register_content(w, 4);
	assert_int_equal(fake.upload_slots[3], 1);
	fake_release();
	assert_int_equal(simpler_run_wait(r, NULL), 0);
	assert_int_equal(run(w, &b), 0);
	assert_int_equal(fake.unloads, 3);
	register_content(w, 5);
	assert_int_equal(fake.upload_slots[4], 0);
	simpler_run_put(r);
	worker_end(w);
}

static void *release_thread(void *unused)
{
	fake_await_waiters(1);
	fake_release();
	return unused;
}

static void last_slot_in_use_by_a_run_is_waited_for(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle h[64];
	struct simpler_run *r;
	pthread_t t;
	uint32_t i;

	(void)state;
	for (i = 0; i < 64; i++)
		h[i] = register_content(w, i);
	fake.hold = true;
	assert_int_equal(simpler_worker_submit(w, &h[7], NULL, NULL, NULL, &r), 0);
	assert_int_equal(simpler_worker_unregister(w, &h[7]), 0);
	pthread_create(&t, NULL, release_thread, NULL);
	h[7] = register_content(w, 100);
	pthread_join(t, NULL);
	assert_int_equal(fake.upload_slots[64], 7);
	assert_true(simpler_run_done(r));
	assert_int_equal(run(w, &h[7]), 0);
	simpler_run_put(r);
	worker_end(w);
}

/* ---- registrations that stop waiting ---- */

static const struct simpler_wait soon = { .timeout_ns = 0 };

/* Registers while the chip does not take commands; returns what a wait of no time gives. */
static int register_stalled(struct simpler_worker *w, uint32_t content)
{
	struct simpler_chip_callable *c = callable_new("", content);
	struct simpler_callable_handle h;
	int rc;

	fake.stall = true;
	rc = simpler_worker_register_wait(w, c, &soon, &h);
	fake.stall = false;
	simpler_chip_callable_put(c);
	return rc;
}

static void registration_that_was_given_up_goes_on_when_it_is_repeated(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle h;

	(void)state;
	assert_int_equal(register_stalled(w, 1), SIMPLER_ERR_TIMEOUT);
	expect_error(w, SIMPLER_ERR_TIMEOUT, "'entry' is still being installed");
	assert_int_equal(register_stalled(w, 1), SIMPLER_ERR_TIMEOUT);
	assert_int_equal(fake.uploads, 0);
	h = register_content(w, 1);
	assert_int_equal(fake.uploads, 1);
	assert_int_equal(run(w, &h), 0);
	assert_int_equal(simpler_worker_unregister(w, &h), 0);
	assert_int_equal(fake.unloads, 1);
	worker_end(w);
}

static void registration_that_was_given_up_is_cleared_away_by_another(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle h;

	(void)state;
	assert_int_equal(register_stalled(w, 1), SIMPLER_ERR_TIMEOUT);
	h = register_content(w, 2);	/* its upload lets the chip see the first one, too */
	assert_int_equal(fake.uploads, 2);
	assert_int_equal(fake.unloads, 0);
	register_content(w, 3);
	assert_int_equal(fake.unloads, 1);
	assert_int_equal(fake.upload_slots[2], 0);
	assert_int_equal(run(w, &h), 0);
	worker_end(w);
}

static void registration_that_was_given_up_and_refused_frees_its_slot(void **state)
{
	struct simpler_worker *w = worker_ready();

	(void)state;
	assert_int_equal(register_stalled(w, 1), SIMPLER_ERR_TIMEOUT);
	fake.refuse_upload = SIMPLER_RUN_INVALID_ARGS;
	assert_int_equal(simpler_stream_synchronize(w->install, NULL), SIMPLER_ERR_INVALID_ARGUMENT);
	fake.refuse_upload = 0;
	register_content(w, 2);
	assert_int_equal(fake.unloads, 0);
	assert_int_equal(fake.upload_slots[1], 0);
	worker_end(w);
}

static void slots_that_were_given_up_are_waited_for_when_no_other_is_left(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_callable_handle h;
	uint32_t i;

	(void)state;
	for (i = 0; i < 63; i++)
		register_content(w, i);
	assert_int_equal(register_stalled(w, 63), SIMPLER_ERR_TIMEOUT);
	assert_int_equal(register_stalled(w, 64), SIMPLER_ERR_TIMEOUT);
	expect_error(w, SIMPLER_ERR_TIMEOUT, "no callable slot became free");
	h = register_content(w, 64);
	assert_int_equal(fake.upload_slots[64], 63);
	assert_int_equal(run(w, &h), 0);
	worker_end(w);
}

static void close_releases_what_registrations_left_behind(void **state)
{
	struct simpler_worker *w = worker_ready();

	(void)state;
	assert_int_equal(register_stalled(w, 1), SIMPLER_ERR_TIMEOUT);
	assert_int_equal(register_stalled(w, 2), SIMPLER_ERR_TIMEOUT);
	fake.stall = true;
	worker_end(w);
}

static void slot_in_use_by_a_run_is_not_waited_for_longer_than_asked(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_chip_callable *c = callable_new("", 100);
	struct simpler_callable_handle h[64];
	struct simpler_run *r;
	uint32_t i;

	(void)state;
	for (i = 0; i < 64; i++)
		h[i] = register_content(w, i);
	fake.hold = true;
	assert_int_equal(simpler_worker_submit(w, &h[7], NULL, NULL, NULL, &r), 0);
	assert_int_equal(simpler_worker_unregister(w, &h[7]), 0);
	assert_int_equal(simpler_worker_register_wait(w, c, &soon, &h[7]), SIMPLER_ERR_TIMEOUT);
	assert_int_equal(fake.uploads, 64);
	fake_release();
	assert_int_equal(simpler_worker_register_wait(w, c, NULL, &h[7]), 0);
	assert_int_equal(fake.upload_slots[64], 7);
	simpler_run_put(r);
	simpler_chip_callable_put(c);
	worker_end(w);
}

/* A registration of another thread that waits for the chip until it is told to stop. */
struct waiting_registration {
	struct simpler_worker *w;
	_Atomic bool waits, stop;
	int code;
};

static bool note_and_ask(void *arg)
{
	struct waiting_registration *r = arg;

	/* release and acquire: pair with the test's thread */
	atomic_store_explicit(&r->waits, true, memory_order_release);
	return atomic_load_explicit(&r->stop, memory_order_acquire);
}

static void *waiting_thread(void *arg)
{
	struct waiting_registration *r = arg;
	struct simpler_wait wait = { SIMPLER_FOREVER, note_and_ask, r };
	struct simpler_chip_callable *c = callable_new("", 1);
	struct simpler_callable_handle h;

	r->code = simpler_worker_register_wait(r->w, c, &wait, &h);
	simpler_chip_callable_put(c);
	return NULL;
}

static void registrations_behind_a_waiting_one_have_their_own_patience(void **state)
{
	struct waiting_registration r = { .w = worker_ready() };
	struct simpler_callable_handle h, other = register_content(r.w, 9);
	struct simpler_chip_callable *c = callable_new("", 2);
	pthread_t t;

	(void)state;
	fake.stall = true;
	pthread_create(&t, NULL, waiting_thread, &r);
	/* acquire: pairs with the release in note_and_ask() */
	while (!atomic_load_explicit(&r.waits, memory_order_acquire))
		sched_yield();
	assert_int_equal(simpler_worker_register_wait(r.w, c, &soon, &h), SIMPLER_ERR_TIMEOUT);
	expect_error(r.w, SIMPLER_ERR_TIMEOUT, "another registration is still in progress");
	/* ending one needs no turn */
	assert_int_equal(simpler_worker_unregister(r.w, &other), 0);
	/* release: pairs with the acquire in note_and_ask() */
	atomic_store_explicit(&r.stop, true, memory_order_release);
	pthread_join(t, NULL);
	assert_int_equal(r.code, SIMPLER_ERR_INTERRUPTED);
	fake.stall = false;
	assert_int_equal(simpler_worker_register_wait(r.w, c, &soon, &h), 0);
	assert_int_equal(run(r.w, &h), 0);
	simpler_chip_callable_put(c);
	worker_end(r.w);
}

static void allocation_failures_of_register_are_clean(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_chip_callable *c = callable_new("", 1);
	struct simpler_callable_handle h;
	int n = 1;

	(void)state;
	for (;; n++) {
		fake.fail_at = fake.calls + n;
		if (!simpler_worker_register(w, c, &h))
			break;
		assert_true(n < 10);
	}
	assert_true(n > 1);
	fake.fail_at = 0;
	assert_int_equal(run(w, &h), 0);
	simpler_chip_callable_put(c);
	worker_end(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		chip_test(equal_content_is_installed_once),
		chip_test(sixty_four_slots_and_the_smallest_free_one_is_reused),
		chip_test(foreign_stale_and_forged_handles_are_refused),
		chip_test(registered_before_init_is_installed_by_init),
		chip_test(platform_is_fixed_by_the_first_registration),
		chip_test(refused_upload_leaves_no_trace),
		chip_test(an_upload_without_a_status_tells_what_failed),
		chip_test(an_upload_that_the_chip_has_no_memory_for_is_out_of_memory),
		chip_test(the_hint_of_a_refused_callable_speaks_of_the_callable),
		chip_test(refused_upload_fails_init),
		chip_test(registration_does_not_wait_for_runs),
		chip_test(last_slot_in_use_by_a_run_is_waited_for),
		chip_test(registration_that_was_given_up_goes_on_when_it_is_repeated),
		chip_test(registration_that_was_given_up_is_cleared_away_by_another),
		chip_test(registration_that_was_given_up_and_refused_frees_its_slot),
		chip_test(slots_that_were_given_up_are_waited_for_when_no_other_is_left),
		chip_test(close_releases_what_registrations_left_behind),
		chip_test(slot_in_use_by_a_run_is_not_waited_for_longer_than_asked),
		chip_test(registrations_behind_a_waiting_one_have_their_own_patience),
		chip_test(allocation_failures_of_register_are_clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
