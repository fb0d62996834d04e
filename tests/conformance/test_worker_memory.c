/* SPDX-License-Identifier: MIT */
/* What a kernel can do to memory that is not its own: nothing but end the run. */
#include "worker_cases.h"

static struct simpler_callable_handle registered_runaway(struct simpler_worker *w)
{
	static const char *const kernels[] = { "run_past", "wait_word" };
	const struct program_parts parts = {
		.orchestration = "worker", .kernels = kernels, .kernel_count = 2,
		.signature = one_inout, .sig_count = 2,
	};

	return registered_program(w, program_of(&parts));
}

/* Runs past one end of a new buffer; returns where it faulted, relative to the first byte. */
static int64_t runaway(struct simpler_worker *w, const struct simpler_callable_handle *f,
		       float direction)
{
	struct simpler_buffer *x = device(w);
	struct simpler_error e;
	int64_t base = (int64_t)simpler_buffer_address(x);

	assert_int_equal(simpler_worker_copy_to_raw(w, x, &direction, sizeof(direction), NULL), 0);
	assert_int_equal(run(w, f, x, ADD_ONE), -SIMPLER_RUN_KERNEL_FAULT);
	simpler_worker_last_error(w, &e);
	assert_int_equal(simpler_worker_free(w, x), 0);
	simpler_buffer_put(x);
	return (int64_t)e.address - base;
}

static void a_kernel_that_writes_past_its_buffer_ends_the_run_only(void **state)
{
	struct simpler_worker *w = ready();
	struct simpler_callable_handle wild = registered_runaway(w);
	struct simpler_callable_handle good = registered(w, one_inout, 2);
	struct simpler_buffer *near = device(w), *x = device(w), *far = device(w);

	(void)state;
	for (int i = 0; i < 10; i++) {
		int64_t up = runaway(w, &wild, 1), down = runaway(w, &wild, -1);

		/* buffers end where their last kilobyte does, and start on the page */
		assert_int_equal(up, 1024);
		assert_in_range(-down, 1, 4096);
		assert_int_equal(run(w, &good, x, ADD_ONE), 0);
	}
	assert_true(first(w, x) == 10);
	assert_true(first(w, near) == 0);
	assert_true(first(w, far) == 0);
	simpler_buffer_put(near);
	simpler_buffer_put(x);
	simpler_buffer_put(far);
	end(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_that_writes_past_its_buffer_ends_the_run_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
