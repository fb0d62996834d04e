/* SPDX-License-Identifier: MIT */
/* What a Worker accepts, but tells that it does nothing. */
#include "base/log.h"
#include "worker_fixture.h"

#define KINDS 5

struct heard {
	int count;
	char text[4096];
};

static void keep(void *ctx, int level, const char *line, size_t len)
{
	struct heard *h = ctx;
	size_t used = strlen(h->text);

	h->count += level == LOG_LEVEL_WARN;
	snprintf(h->text + used, sizeof(h->text) - used, "%.*s", (int)len, line);
}

static void run_with(struct simpler_worker *w, const struct simpler_callable_handle *f,
		     struct simpler_call_config *c)
{
	assert_int_equal(simpler_call_config_set_prefix(c, "/tmp/x", NULL), 0);
	assert_int_equal(simpler_worker_run(w, f, NULL, c, NULL), 0);
}

static void diagnostics_that_are_not_recorded_are_warned_of_once_per_worker_and_kind(void **state)
{
	static const char *const fields[KINDS] = {
		"enable_chip_swimlane", "enable_dump_args", "enable_pmu", "enable_dep_gen",
		"enable_scope_stats",
	};
	struct simpler_call_config one = { .enable_pmu = 2 };
	struct simpler_call_config all = {
		.enable_chip_swimlane = 1, .enable_dump_args = 1, .enable_pmu = 1,
		.enable_dep_gen = 1, .enable_scope_stats = 1,
	};
	struct heard h = { 0 };

	(void)state;
	log_set_sink(keep, &h);
	for (int round = 1; round <= 2; round++) {
		struct simpler_worker *w = worker_ready();
		struct simpler_callable_handle f = registered(w, "");

		h = (struct heard){ 0 };
		assert_int_equal(simpler_worker_run(w, &f, NULL, NULL, NULL), 0);
		assert_int_equal(h.count, 0);
		run_with(w, &f, &one);
		run_with(w, &f, &one);
		assert_int_equal(h.count, 1);
		assert_non_null(strstr(h.text, "CallConfig.enable_pmu is set"));
		assert_non_null(strstr(h.text, "no file is written"));
		run_with(w, &f, &all);
		run_with(w, &f, &all);
		assert_int_equal(h.count, KINDS);
		for (int i = 0; i < KINDS; i++)
			assert_non_null(strstr(h.text, fields[i]));
		worker_end(w);
	}
	log_set_sink(NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		chip_test(diagnostics_that_are_not_recorded_are_warned_of_once_per_worker_and_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
