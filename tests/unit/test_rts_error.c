/* SPDX-License-Identifier: MIT */
/* Codes and records of failures; the public face of the log. */
#include "base/run_code.h"
#include "rts/error.h"
#include "worker_fixture.h"

static void classes_of_codes(void **state)
{
	static const struct {
		int code;
		enum simpler_error_class class;
	} cases[] = {
		{ 0, SIMPLER_CLASS_NONE },
		{ SIMPLER_ERR_INTERNAL, SIMPLER_CLASS_RUNTIME },
		{ SIMPLER_ERR_NO_MEMORY, SIMPLER_CLASS_MEMORY },
		{ SIMPLER_ERR_INVALID_STATE, SIMPLER_CLASS_RUNTIME },
		{ SIMPLER_ERR_INVALID_ARGUMENT, SIMPLER_CLASS_VALUE },
		{ SIMPLER_ERR_TIMEOUT, SIMPLER_CLASS_TIMEOUT },
		{ SIMPLER_ERR_INTERRUPTED, SIMPLER_CLASS_INTERRUPTED },
		{ SIMPLER_ERR_CONTEXT_REFUSED, SIMPLER_CLASS_CONTEXT_REFUSED },
		{ SIMPLER_ERR_INDEX, SIMPLER_CLASS_INDEX },
		{ SIMPLER_ERR_PLATFORM_MISSING, SIMPLER_CLASS_KEY },
		{ SIMPLER_ERR_LEVEL_OPERATION, SIMPLER_CLASS_TYPE },
		{ SIMPLER_ERR_INIT_CANCELLED, SIMPLER_CLASS_INIT_CANCELLED },
		{ SIMPLER_ERR_HANDLE_NOT_LIVE, SIMPLER_CLASS_KEY },
		{ SIMPLER_ERR_BUFFER_EXPORTED, SIMPLER_CLASS_BUFFER },
		{ SIMPLER_ERR_SHM_MISSING, SIMPLER_CLASS_FILE_NOT_FOUND },
		{ SIMPLER_ERR_SYSTEM, SIMPLER_CLASS_OS },
		{ -SIMPLER_RUN_KERNEL_FAULT, SIMPLER_CLASS_RUNTIME },
		{ -150, SIMPLER_CLASS_RUNTIME },
		{ -123456, SIMPLER_CLASS_RUNTIME },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(simpler_error_class(cases[i].code), cases[i].class);
}

static void names_of_codes(void **state)
{
	int code;

	(void)state;
	assert_string_equal(simpler_error_name(0), "OK");
	assert_string_equal(simpler_error_name(-SIMPLER_RUN_SCHEDULER_TIMEOUT),
			    "SCHEDULER_TIMEOUT");
	assert_string_equal(simpler_error_name(SIMPLER_ERR_CONFIG_THREADS), "CONFIG_THREADS");
	/* a number that the library does not give is the orchestration's */
	assert_string_equal(simpler_error_name(-77), "USER");
	assert_non_null(strstr(run_code_hint(77), "rt_report_fatal()"));
	assert_string_equal(simpler_error_description(-77), run_code_description(77));
	assert_string_equal(simpler_error_name(-500), "UNKNOWN");
	assert_string_equal(simpler_error_description(-500), "not a code of this library");
	for (code = SIMPLER_ERR_CONFIG_THREADS; code <= SIMPLER_ERR_INTERNAL; code++)
		if (strcmp(simpler_error_name(code), "UNKNOWN"))
			assert_true(strlen(simpler_error_description(code)) > 5);
}

static void run_codes_have_distinct_names_descriptions_and_hints(void **state)
{
	int a, b, found = 0;

	(void)state;
	for (a = 1; a <= SIMPLER_RUN_CODE_MAX; a++) {
		if (!run_code_find(a)) {
			assert_string_equal(run_code_name(a), "USER");
			assert_true(run_code_hint(a)[0]);
			continue;
		}
		found++;
		assert_int_equal(run_code_find(a)->code, a);
		for (b = 1; b < a; b++) {
			if (!run_code_find(b))
				continue;
			assert_string_not_equal(run_code_name(a), run_code_name(b));
			assert_string_not_equal(run_code_description(a), run_code_description(b));
			assert_string_not_equal(run_code_hint(a), run_code_hint(b));
		}
	}
	assert_true(found >= 17);
	assert_string_equal(run_code_name(SIMPLER_RUN_HEAP_RING_DEADLOCK), "HEAP_RING_DEADLOCK");
	assert_string_equal(run_code_name(0), "OK");
	assert_string_equal(run_code_sub_class(3), "S3");
	assert_string_equal(run_code_sub_class(99), "unknown");
}

static void records_say_code_name_text_and_hint(void **state)
{
	struct simpler_error e;

	(void)state;
	assert_int_equal(err_set(NULL, -2, "nowhere"), -2);
	assert_int_equal(err_set(&e, -2, "%d of %d", 3, 4), -2);
	assert_int_equal(e.code, -2);
	assert_string_equal(e.name, "HEAP_RING_DEADLOCK");
	assert_string_equal(e.text, "3 of 4");
	assert_string_equal(e.hint, run_code_hint(2));
	assert_int_equal(e.chip, -1);
	assert_int_equal(e.core, -1);
	assert_true(e.task == SIMPLER_NO_TASK);
	err_hint(&e, "try %s", "again");
	assert_string_equal(e.hint, "try again");
	assert_int_equal(err_set(&e, SIMPLER_ERR_TENSOR, "t"), SIMPLER_ERR_TENSOR);
	assert_string_equal(e.hint, "");
}

static void log_threshold_is_rounded_up(void **state)
{
	int before = simpler_log_threshold();

	(void)state;
	assert_int_equal(simpler_log_set_threshold(35), 0);
	assert_int_equal(simpler_log_threshold(), SIMPLER_LOG_ERROR);
	assert_int_equal(simpler_log_set_threshold(61), SIMPLER_ERR_INVALID_ARGUMENT);
	assert_int_equal(simpler_log_set_threshold(-1), SIMPLER_ERR_INVALID_ARGUMENT);
	assert_int_equal(simpler_log_set_threshold(SIMPLER_LOG_NUL), 0);
	simpler_log_write(SIMPLER_LOG_ERROR, "f", "file.c", 1, "must not appear");
	assert_int_equal(simpler_log_set_threshold(before), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_of_codes),
		cmocka_unit_test(names_of_codes),
		cmocka_unit_test(run_codes_have_distinct_names_descriptions_and_hints),
		cmocka_unit_test(records_say_code_name_text_and_hint),
		cmocka_unit_test(log_threshold_is_rounded_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
