/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

static void first_error_wins_until_cleared(void **state)
{
	struct error_record rec;

	(void)state;
	error_clear(&rec);
	assert_false(error_is_set(&rec));
	assert_int_equal(error_set(&rec, -ENOMEM, "no room for %d tasks", 7), -ENOMEM);
	assert_int_equal(error_set(&rec, -EINVAL, "consequence"), -EINVAL);
	assert_true(error_is_set(&rec));
	assert_int_equal(rec.code, -ENOMEM);
	assert_string_equal(rec.name, "ENOMEM");
	assert_string_equal(rec.text, "no room for 7 tasks");
	error_clear(&rec);
	error_set(&rec, -EINVAL, "new");
	assert_string_equal(rec.name, "EINVAL");
	assert_string_equal(rec.text, "new");
}

static void code_of_the_chip_carries_the_given_name(void **state)
{
	struct error_record rec;

	(void)state;
	error_clear(&rec);
	assert_int_equal(error_set_named(&rec, 5, "INVALID_ARGS", "33 tensors (max 32)"), 5);
	assert_string_equal(rec.name, "INVALID_ARGS");
	error_clear(&rec);
	error_set(&rec, 5, "unnamed");
	assert_null(rec.name);
	error_clear(&rec);
	error_set(&rec, -100000, "no such errno");
	assert_null(rec.name);
}

static void missing_record_is_allowed(void **state)
{
	(void)state;
	assert_int_equal(error_set(NULL, -EIO, "%s", "x"), -EIO);
	assert_int_equal(error_set_named(NULL, 3, "N", "%s", "x"), 3);
	error_hint(NULL, "x");
	error_phase(NULL, "x");
	error_where(NULL, 1, 2, 3);
}

static void details_belong_to_the_first_error(void **state)
{
	struct error_record rec;

	(void)state;
	error_clear(&rec);
	error_hint(&rec, "no error, no hint");
	error_phase(&rec, "init");
	error_where(&rec, 1, 2, 3);
	assert_string_equal(rec.hint, "");
	assert_string_equal(rec.phase, "");
	assert_int_equal(rec.chip, -1);
	assert_int_equal(rec.core, -1);
	assert_true(rec.task == ERROR_NO_TASK);
	error_set(&rec, -EIO, "x");
	error_hint(&rec, "use %s", "this");
	error_hint(&rec, "not this");
	error_phase(&rec, "submit");
	error_phase(&rec, "close");
	error_where(&rec, 0, -1, ERROR_NO_TASK);
	error_where(&rec, 1, 4, 99);
	error_where(&rec, 2, 5, 100);
	assert_string_equal(rec.hint, "use this");
	assert_string_equal(rec.phase, "submit");
	assert_int_equal(rec.chip, 0);
	assert_int_equal(rec.core, 4);
	assert_int_equal(rec.task, 99);
}

static void texts_that_are_too_long_end_in_dots(void **state)
{
	struct error_record rec;
	char text[1024];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	error_clear(&rec);
	error_set(&rec, -EIO, "%s", text);
	error_hint(&rec, "%s", text);
	error_phase(&rec, text);
	assert_int_equal(strlen(rec.text), sizeof(rec.text) - 1);
	assert_string_equal(rec.text + sizeof(rec.text) - 5, "a...");
	assert_string_equal(rec.hint + sizeof(rec.hint) - 5, "a...");
	assert_int_equal(strlen(rec.phase), sizeof(rec.phase) - 1);
	text[sizeof(rec.text) - 1] = '\0';
	error_clear(&rec);
	error_set(&rec, -EIO, "%s", text);
	assert_string_equal(rec.text, text);
}

static void merge_keeps_what_is_there_and_copy_does_not(void **state)
{
	struct error_record a, b, empty;

	(void)state;
	error_clear(&a);
	error_clear(&b);
	error_clear(&empty);
	error_set(&b, -EIO, "b");
	error_merge(&a, &empty);
	assert_false(error_is_set(&a));
	error_merge(&a, &b);
	assert_string_equal(a.text, "b");
	error_clear(&b);
	error_set(&b, -EBUSY, "c");
	error_merge(&a, &b);
	assert_string_equal(a.text, "b");
	error_copy(&a, &b);
	assert_string_equal(a.text, "c");
}

static void line_names_everything_that_is_known(void **state)
{
	struct error_record rec;
	char line[200], cut[8];
	int len;

	(void)state;
	error_clear(&rec);
	assert_int_equal(error_format(&rec, line, sizeof(line)), 0);
	assert_string_equal(line, "");
	error_set(&rec, -EIO, "lost");
	error_format(&rec, line, sizeof(line));
	assert_string_equal(line, "EIO (-5): lost");
	error_phase(&rec, "run");
	error_where(&rec, 3, 17, 42);
	error_hint(&rec, "reset it");
	len = error_format(&rec, line, sizeof(line));
	assert_string_equal(line, "EIO (-5): lost [phase run, chip 3, core 17, task 42]; reset it");
	assert_int_equal(len, strlen(line));
	assert_int_equal(error_format(&rec, cut, sizeof(cut)), len);
	assert_string_equal(cut, "EIO (-5");
	assert_int_equal(error_format(&rec, NULL, 0), len);
	error_clear(&rec);
	error_set(&rec, 7, "x");
	error_where(&rec, -1, -1, 1);
	error_format(&rec, line, sizeof(line));
	assert_string_equal(line, "error (7): x [task 1]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_error_wins_until_cleared),
		cmocka_unit_test(code_of_the_chip_carries_the_given_name),
		cmocka_unit_test(missing_record_is_allowed),
		cmocka_unit_test(details_belong_to_the_first_error),
		cmocka_unit_test(texts_that_are_too_long_end_in_dots),
		cmocka_unit_test(merge_keeps_what_is_there_and_copy_does_not),
		cmocka_unit_test(line_names_everything_that_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
