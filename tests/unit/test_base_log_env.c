/* SPDX-License-Identifier: MIT */
/*
 * The environment is read once per process, so each case is a child, and this process never logs.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"

#define VARIABLE "SIMPLER_LOG_LEVEL"

struct result {
	int level;
	char text[2048];
};

static void child_report(int fd)
{
	dup2(fd, STDERR_FILENO);
	log_error("one record");
	_exit(log_get_level());
}

/* The threshold of a process with this environment, and what it writes for one error record. */
static struct result run_with(const char *value)
{
	struct result r = { 0 };
	int fds[2], status;
	pid_t child;

	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (!child) {
		if (value)
			setenv(VARIABLE, value, 1);
		else
			unsetenv(VARIABLE);
		child_report(fds[1]);
	}
	close(fds[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	r.level = WEXITSTATUS(status);
	assert_true(read(fds[0], r.text, sizeof(r.text) - 1) >= 0);
	close(fds[0]);
	return r;
}

static void without_variable_the_threshold_is_timing(void **state)
{
	struct result r = run_with(NULL);

	(void)state;
	assert_int_equal(r.level, LOG_LEVEL_TIMING);
	assert_non_null(strstr(r.text, "] one record\n"));
	assert_int_equal(run_with("").level, LOG_LEVEL_TIMING);
}

static void variable_may_be_a_name_or_a_number(void **state)
{
	(void)state;
	assert_int_equal(run_with("debug").level, LOG_LEVEL_DEBUG);
	assert_int_equal(run_with("26").level, LOG_LEVEL_WARN);
	assert_int_equal(run_with("ERROR").level, LOG_LEVEL_ERROR);
}

static void nul_silences_the_first_record_too(void **state)
{
	struct result r = run_with("NUL");

	(void)state;
	assert_int_equal(r.level, LOG_LEVEL_NUL);
	assert_string_equal(r.text, "");
}

static void wrong_value_is_named_in_a_warning_and_ignored(void **state)
{
	struct result r = run_with("loud");

	(void)state;
	assert_int_equal(r.level, LOG_LEVEL_TIMING);
	assert_non_null(strstr(r.text, "[WARN]"));
	assert_non_null(strstr(r.text, "\"loud\""));
	assert_non_null(strstr(r.text, "DEBUG, INFO, TIMING, WARN, ERROR, NUL"));
	assert_non_null(strstr(r.text, "] one record\n"));
}

static void level_set_by_the_program_wins_over_the_variable(void **state)
{
	int status;
	pid_t child = fork();

	(void)state;
	if (!child) {
		setenv(VARIABLE, "debug", 1);
		log_set_level(LOG_LEVEL_ERROR);
		_exit(log_get_level());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), LOG_LEVEL_ERROR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_variable_the_threshold_is_timing),
		cmocka_unit_test(variable_may_be_a_name_or_a_number),
		cmocka_unit_test(nul_silences_the_first_record_too),
		cmocka_unit_test(wrong_value_is_named_in_a_warning_and_ignored),
		cmocka_unit_test(level_set_by_the_program_wins_over_the_variable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
