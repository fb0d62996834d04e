/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/env.h"
#include "base/log.h"

#define VARIABLE "SIMPLER_TEST_ENV"

static void whole_text_must_be_the_unsigned_number(void **state)
{
	static const char *const wrong[] = {"",	  " ",	"1 ",  " 1",  "+1",  "-1", "1x",
					    "0x", "x1", "1.0", "0xg", "--1", "12a"};
	uint64_t value = 77;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(env_parse_u64(wrong[i], &value), -EINVAL);
	assert_int_equal(env_parse_u64("18446744073709551616", &value), -ERANGE);
	assert_int_equal(env_parse_u64("0x10000000000000000", &value), -ERANGE);
	assert_int_equal(env_parse_u64("99999999999999999999", &value), -ERANGE);
	assert_int_equal(value, 77);
	assert_int_equal(env_parse_u64("18446744073709551615", &value), 0);
	assert_true(value == UINT64_MAX);
	assert_int_equal(env_parse_u64("0XfF", &value), 0);
	assert_int_equal(value, 255);
	assert_int_equal(env_parse_u64("010", &value), 0);
	assert_int_equal(value, 10);
}

static void signed_numbers_reach_both_ends(void **state)
{
	int64_t value = 0;

	(void)state;
	assert_int_equal(env_parse_i64("-9223372036854775808", &value), 0);
	assert_true(value == INT64_MIN);
	assert_int_equal(env_parse_i64("9223372036854775807", &value), 0);
	assert_true(value == INT64_MAX);
	assert_int_equal(env_parse_i64("-0x10", &value), 0);
	assert_int_equal(value, -16);
	assert_int_equal(env_parse_i64("9223372036854775808", &value), -ERANGE);
	assert_int_equal(env_parse_i64("-9223372036854775809", &value), -ERANGE);
	assert_int_equal(env_parse_i64("-", &value), -EINVAL);
	assert_int_equal(env_parse_i64("- 1", &value), -EINVAL);
	assert_int_equal(env_parse_i64("", &value), -EINVAL);
	assert_int_equal(value, -16);
}

static void lists_hold_numbers_and_ranges(void **state)
{
	uint32_t out[4];

	(void)state;
	assert_int_equal(env_parse_list("7", out, 4), 1);
	assert_int_equal(out[0], 7);
	assert_int_equal(env_parse_list("3,1-2,0x9", out, 4), 4);
	assert_int_equal(out[0], 3);
	assert_int_equal(out[1], 1);
	assert_int_equal(out[2], 2);
	assert_int_equal(out[3], 9);
	assert_int_equal(env_parse_list("4294967295", out, 4), 1);
	assert_int_equal(out[0], UINT32_MAX);
	assert_int_equal(env_parse_list("5-5", out, 1), 1);
}

static void malformed_and_long_lists_are_refused(void **state)
{
	static const char *const wrong[] = {"",	  ",",	 "1,",	  ",1",	  "1,,2", "1-",
					    "-1", "2-1", "1-2-3", "1 ,2", "a",	  "1;2"};
	uint32_t out[4];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(env_parse_list(wrong[i], out, 4), -EINVAL);
	assert_int_equal(env_parse_list("0-4", out, 4), -ERANGE);
	assert_int_equal(env_parse_list("1,2,3,4,5", out, 4), -ERANGE);
	assert_int_equal(env_parse_list("0-4294967295", out, 4), -ERANGE);
	assert_int_equal(env_parse_list("4294967296", out, 4), -ERANGE);
	assert_int_equal(env_parse_list("1", out, 0), -ERANGE);
	assert_int_equal(env_parse_list("0-18446744073709551615", out, 4), -ERANGE);
}

static void unset_and_empty_variables_leave_the_default(void **state)
{
	int64_t value = 5;
	bool flag = true;

	(void)state;
	unsetenv(VARIABLE);
	assert_int_equal(env_get_i64(VARIABLE, 0, 10, &value), 0);
	assert_int_equal(env_get_bool(VARIABLE, &flag), 0);
	setenv(VARIABLE, "", 1);
	assert_int_equal(env_get_i64(VARIABLE, 0, 10, &value), 0);
	assert_int_equal(env_get_bool(VARIABLE, &flag), 0);
	assert_int_equal(value, 5);
	assert_true(flag);
}

static void variable_must_be_a_number_within_bounds(void **state)
{
	int64_t value = 5;

	(void)state;
	setenv(VARIABLE, "10", 1);
	assert_int_equal(env_get_i64(VARIABLE, 0, 10, &value), 1);
	assert_int_equal(value, 10);
	assert_int_equal(env_get_i64(VARIABLE, 0, 9, &value), -ERANGE);
	assert_int_equal(env_get_i64(VARIABLE, 11, 20, &value), -ERANGE);
	setenv(VARIABLE, "ten", 1);
	assert_int_equal(env_get_i64(VARIABLE, 0, 10, &value), -EINVAL);
	assert_int_equal(value, 10);
	unsetenv(VARIABLE);
}

static void boolean_words_are_accepted_in_any_case(void **state)
{
	static const char *const yes[] = {"1", "true", "YES", "On"}, *const no[] = {"0", "False",
										    "no", "OFF"};
	bool flag;
	int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		flag = false;
		setenv(VARIABLE, yes[i], 1);
		assert_int_equal(env_get_bool(VARIABLE, &flag), 1);
		assert_true(flag);
		setenv(VARIABLE, no[i], 1);
		assert_int_equal(env_get_bool(VARIABLE, &flag), 1);
		assert_false(flag);
	}
	setenv(VARIABLE, "2", 1);
	assert_int_equal(env_get_bool(VARIABLE, &flag), -EINVAL);
	unsetenv(VARIABLE);
}

static void keep_text(void *ctx, int level, const char *line, size_t len)
{
	assert_int_equal(level, LOG_LEVEL_WARN);
	snprintf(ctx, 500, "%.*s", (int)len, line);
}

static void an_unknown_flag_is_warned_of_and_ignored(void **state)
{
	char text[512] = "";

	(void)state;
	log_set_sink(keep_text, text);
	setenv(VARIABLE, "off", 1);
	assert_false(env_flag(VARIABLE, true));
	unsetenv(VARIABLE);
	assert_true(env_flag(VARIABLE, true));
	assert_string_equal(text, "");
	setenv(VARIABLE, "maybe", 1);
	assert_true(env_flag(VARIABLE, true));
	assert_non_null(strstr(text, VARIABLE "=maybe is ignored"));
	assert_non_null(strstr(text, "true, yes, on or 0, false, no, off; it is on now"));
	assert_false(env_flag(VARIABLE, false));
	assert_non_null(strstr(text, "it is off now"));
	unsetenv(VARIABLE);
	log_set_sink(NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_text_must_be_the_unsigned_number),
		cmocka_unit_test(signed_numbers_reach_both_ends),
		cmocka_unit_test(lists_hold_numbers_and_ranges),
		cmocka_unit_test(malformed_and_long_lists_are_refused),
		cmocka_unit_test(unset_and_empty_variables_leave_the_default),
		cmocka_unit_test(variable_must_be_a_number_within_bounds),
		cmocka_unit_test(boolean_words_are_accepted_in_any_case),
		cmocka_unit_test(an_unknown_flag_is_warned_of_and_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
