/* SPDX-License-Identifier: MIT */
/* CallConfig: layout, rules, environment. */
#include "worker/call_config.h"
#include "worker_fixture.h"

static int check(const struct simpler_call_config *c, const char *text)
{
	struct simpler_error e;
	int rc = simpler_call_config_validate(c, &e);

	if (rc && !strstr(e.text, text))
		fail_msg("'%s' is not in '%s'", text, e.text);
	return rc;
}

static void layout_is_the_wire_format(void **state)
{
	(void)state;
	assert_int_equal(offsetof(struct simpler_call_config, runtime_env), 24);
	assert_int_equal(offsetof(struct simpler_call_config, runtime_env.ring_heap), 56);
	assert_int_equal(offsetof(struct simpler_call_config, runtime_env.ring_dep_pool), 88);
	assert_int_equal(offsetof(struct simpler_call_config, output_prefix), 120);
	assert_int_equal(offsetof(struct simpler_call_config, deps), 1144);
}

static void defaults_are_valid(void **state)
{
	struct simpler_call_config c;

	(void)state;
	simpler_call_config_init(&c);
	assert_int_equal(check(&c, ""), 0);
}

static void ring_rules(void **state)
{
	static const struct {
		size_t offset;
		uint64_t value;
		int code;
		const char *text;
	} cases[] = {
		{ 24, 4, 0, "" },
		{ 24, 6, SIMPLER_ERR_CONFIG_RING,
		  "RuntimeEnv: ring_task_window must be a power of 2 in [4, INT32_MAX]" },
		{ 32, 2, SIMPLER_ERR_CONFIG_RING, "entry 1 is 2" },
		{ 24, 1ull << 31, SIMPLER_ERR_CONFIG_RING, "ring_task_window" },
		{ 56, 1024, 0, "" },
		{ 56, 1023, SIMPLER_ERR_CONFIG_RING, "ring_heap must be >= 1024 (bytes per ring)" },
		{ 56, (1ull << 46) + 1, SIMPLER_ERR_CONFIG_RING, "<= 2^46; entry 0 is 70368744177665" },
		{ 88, 4, 0, "" },
		{ 88, 3, SIMPLER_ERR_CONFIG_RING, "ring_dep_pool must be in [4, INT32_MAX]" },
		{ 88, 1ull << 31, SIMPLER_ERR_CONFIG_RING, "ring_dep_pool" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct simpler_call_config c;

		simpler_call_config_init(&c);
		memcpy((char *)&c + cases[i].offset, &cases[i].value, 8);
		assert_int_equal(check(&c, cases[i].text), cases[i].code);
	}
}

static void diagnostics_need_a_prefix(void **state)
{
	struct simpler_call_config c;

	(void)state;
	simpler_call_config_init(&c);
	c.enable_pmu = 2;
	assert_int_equal(check(&c, "output_prefix"), SIMPLER_ERR_CONFIG_PREFIX);
	assert_int_equal(simpler_call_config_set_prefix(&c, "/tmp/out", NULL), 0);
	assert_int_equal(check(&c, ""), 0);
}

static void prefix_holds_1023_bytes(void **state)
{
	struct simpler_call_config c;
	char text[1025];

	(void)state;
	simpler_call_config_init(&c);
	memset(text, 'p', sizeof(text));
	text[1024] = '\0';
	assert_int_equal(simpler_call_config_set_prefix(&c, text, NULL), SIMPLER_ERR_CONFIG_PREFIX);
	assert_int_equal(c.output_prefix[0], 0);
	text[1023] = '\0';
	assert_int_equal(simpler_call_config_set_prefix(&c, text, NULL), 0);
	assert_int_equal(check(&c, ""), 0);
	memset(c.output_prefix, 'x', sizeof(c.output_prefix));
	assert_int_equal(check(&c, "does not end"), SIMPLER_ERR_CONFIG_PREFIX);
}

static void fields_have_ranges(void **state)
{
	static const struct {
		size_t offset;
		int32_t value;
		const char *text;
	} cases[] = {
		{ 0, -1, "aicpu_thread_num is -1" },
		{ 4, 5, "enable_chip_swimlane is 5" },
		{ 8, 4, "enable_dump_args is 4" },
		{ 12, -1, "enable_pmu is -1" },
		{ 16, 2, "enable_dep_gen is 2" },
		{ 20, 2, "enable_scope_stats is 2" },
		{ 1144, 3, "deps is 3" },
		{ 1148, 1, "reserved[0] is 1" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct simpler_call_config c;

		simpler_call_config_init(&c);
		memcpy((char *)&c + cases[i].offset, &cases[i].value, 4);
		assert_int_equal(check(&c, cases[i].text), SIMPLER_ERR_CONFIG);
	}
}

static struct config_defaults defaults_with(const char *name, const char *value)
{
	struct config_defaults d;

	setenv(name, value, 1);
	config_defaults_read(&d);
	unsetenv(name);
	return d;
}

static void environment_takes_one_value_or_exactly_four(void **state)
{
	struct config_defaults d = defaults_with("PTO2_RING_TASK_WINDOW", "64");

	(void)state;
	assert_int_equal(d.env.ring_task_window[0], 64);
	assert_int_equal(d.env.ring_task_window[3], 64);
	d = defaults_with("PTO2_RING_HEAP", "1024,2048,4096,8589934592");
	assert_true(d.env.ring_heap[3] == 8589934592u);
	d = defaults_with("PTO2_RING_DEP_POOL", "8,8");
	assert_int_equal(d.env.ring_dep_pool[0], 0);
	d = defaults_with("PTO2_RING_DEP_POOL", "8,8,8,8,8");
	assert_int_equal(d.env.ring_dep_pool[0], 0);
	d = defaults_with("PTO2_RING_DEP_POOL", "8,8,8,x");
	assert_int_equal(d.env.ring_dep_pool[0], 0);
	d = defaults_with("PTO2_RING_DEP_POOL", "3");
	assert_int_equal(d.env.ring_dep_pool[0], 0);
	d = defaults_with("PTO2_RING_DEP_POOL", "");
	assert_int_equal(d.env.ring_dep_pool[0], 0);
}

static void dependence_mode_comes_from_the_environment(void **state)
{
	(void)state;
	assert_int_equal(defaults_with("SIMPLER_DEPS", "raw").deps, SIMPLER_DEPS_RAW);
	assert_int_equal(defaults_with("SIMPLER_DEPS", "sequential").deps, SIMPLER_DEPS_SEQUENTIAL);
	assert_int_equal(defaults_with("SIMPLER_DEPS", "other").deps, SIMPLER_DEPS_SEQUENTIAL);
	assert_int_equal(defaults_with("SIMPLER_DEPS", "").deps, SIMPLER_DEPS_SEQUENTIAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layout_is_the_wire_format),
		cmocka_unit_test(defaults_are_valid),
		cmocka_unit_test(ring_rules),
		cmocka_unit_test(diagnostics_need_a_prefix),
		cmocka_unit_test(prefix_holds_1023_bytes),
		cmocka_unit_test(fields_have_ranges),
		cmocka_unit_test(environment_takes_one_value_or_exactly_four),
		cmocka_unit_test(dependence_mode_comes_from_the_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
