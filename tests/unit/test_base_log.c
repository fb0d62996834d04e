/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/log.h"

struct sink {
	char text[LOG_DEVICE_MAX + 1];
	size_t len;
	int level;
	int records;
	bool nested;
};

static void keep(void *ctx, int level, const char *line, size_t len)
{
	struct sink *s = ctx;

	assert_in_range(len, 1, LOG_DEVICE_MAX);
	memcpy(s->text, line, len);
	s->text[len] = '\0';
	s->len = len;
	s->level = level;
	s->records++;
	if (s->nested)
		log_error("from within the sink");
}

static struct sink sink;

static int setup(void **state)
{
	(void)state;
	memset(&sink, 0, sizeof(sink));
	log_set_level(LOG_LEVEL_TIMING);
	log_set_sink(keep, &sink);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	log_set_sink(NULL, NULL);
	return 0;
}

static bool matches(const char *text, const char *pattern)
{
	regex_t re;
	int ret;

	assert_int_equal(regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB), 0);
	ret = regexec(&re, text, 0, NULL, 0);
	regfree(&re);
	return ret == 0;
}

static void host_record_has_the_specified_form(void **state)
{
	unsigned long long ns;
	uint64_t before = clock_mono_ns();
	char thread[40];

	(void)state;
	log_warn("value %d of %s", 7, "seven");
	assert_true(matches(sink.text, "^\\[mono_ns=[0-9]+\\]\\[T0x[0-9a-f]+\\]\\[WARN\\] "
				       "host_record_has_the_specified_form: "
				       "\\[test_base_log\\.c:[0-9]+\\] value 7 of seven\n$"));
	assert_int_equal(sink.level, LOG_LEVEL_WARN);
	assert_int_equal(sscanf(sink.text, "[mono_ns=%llu]", &ns), 1);
	assert_in_range(ns, before, clock_mono_ns());
	snprintf(thread, sizeof(thread), "[T0x%lx]", (unsigned long)pthread_self());
	assert_non_null(strstr(sink.text, thread));
}

static void device_record_has_neither_time_nor_thread(void **state)
{
	(void)state;
	log_device(LOG_LEVEL_ERROR, "orch", "/a/b/c.cpp", 12, "code %d", 5);
	assert_string_equal(sink.text, "[ERROR] orch: [c.cpp:12] code 5\n");
	log_device(LOG_LEVEL_INFO, "orch", "c.cpp", 12, "closed");
	assert_int_equal(sink.records, 1);
}

static size_t prefix_length(void)
{
	log_record(LOG_LEVEL_ERROR, "f", "x.c", 1, "%s", "");
	return sink.len - 1;
}

static void host_record_of_512_bytes_is_whole_and_longer_ends_in_a_tilde(void **state)
{
	char message[1024];
	size_t room = LOG_HOST_MAX - 1 - prefix_length();

	(void)state;
	memset(message, 'x', sizeof(message));
	message[room] = '\0';
	log_record(LOG_LEVEL_ERROR, "f", "x.c", 1, "%s", message);
	assert_int_equal(sink.len, LOG_HOST_MAX);
	assert_string_equal(sink.text + LOG_HOST_MAX - 3, "xx\n");
	message[room] = 'x';
	message[room + 1] = '\0';
	log_record(LOG_LEVEL_ERROR, "f", "x.c", 1, "%s", message);
	assert_int_equal(sink.len, LOG_HOST_MAX);
	assert_string_equal(sink.text + LOG_HOST_MAX - 3, "x~\n");
	message[room + 1] = 'x';
	message[sizeof(message) - 1] = '\0';
	log_record(LOG_LEVEL_ERROR, message, "x.c", 1, "unseen");
	assert_int_equal(sink.len, LOG_HOST_MAX);
	assert_string_equal(sink.text + LOG_HOST_MAX - 3, "x~\n");
}

static void device_record_is_cut_at_2048_bytes(void **state)
{
	static char message[4096];

	(void)state;
	memset(message, 'y', sizeof(message) - 1);
	log_device(LOG_LEVEL_ERROR, "f", "x.c", 1, "%s", message);
	assert_int_equal(sink.len, LOG_DEVICE_MAX);
	assert_string_equal(sink.text + LOG_DEVICE_MAX - 3, "y~\n");
}

static void newline_at_the_end_of_a_message_is_not_doubled(void **state)
{
	(void)state;
	log_device(LOG_LEVEL_ERROR, "f", "x.c", 1, "done\n\n");
	assert_string_equal(sink.text, "[ERROR] f: [x.c:1] done\n");
}

static void threshold_between_names_is_rounded_up(void **state)
{
	static const struct {
		int set, get;
	} cases[] = {
		{-5, 10}, {0, 10},  {10, 10}, {11, 20}, {20, 20}, {21, 25}, {25, 25},
		{26, 30}, {30, 30}, {35, 40}, {40, 40}, {41, 60}, {60, 60}, {1000, 60},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(log_set_level(cases[i].set), cases[i].get);
		assert_int_equal(log_get_level(), cases[i].get);
	}
}

static void record_between_names_counts_as_the_milder_one(void **state)
{
	static const struct {
		int level;
		const char *name;
	} cases[] = {
		{0, "DEBUG"}, {10, "DEBUG"},  {19, "DEBUG"},  {20, "INFO"},
		{24, "INFO"}, {25, "TIMING"}, {29, "TIMING"}, {30, "WARN"},
		{35, "WARN"}, {40, "ERROR"},  {55, "ERROR"},  {60, "ERROR"},
	};
	char start[32];
	size_t i;

	(void)state;
	log_set_level(LOG_LEVEL_DEBUG);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		log_device(cases[i].level, "f", "x.c", 1, "%s", "");
		snprintf(start, sizeof(start), "[%s] f:", cases[i].name);
		assert_memory_equal(sink.text, start, strlen(start));
		assert_string_equal(log_level_name(cases[i].level), cases[i].name);
	}
	log_set_level(LOG_LEVEL_ERROR);
	sink.records = 0;
	log_record(35, "f", "x.c", 1, "%s", "");
	assert_int_equal(sink.records, 0);
}

static int evaluations;

static int evaluated(void)
{
	return ++evaluations;
}

static void closed_record_does_not_evaluate_its_arguments(void **state)
{
	(void)state;
	evaluations = 0;
	log_debug("%d", evaluated());
	log_info("%d", evaluated());
	assert_int_equal(sink.records, 0);
	assert_int_equal(evaluations, 0);
	log_timing("%d", evaluated());
	log_warn("%d", evaluated());
	log_error("%d", evaluated());
	assert_int_equal(sink.records, 3);
	assert_int_equal(evaluations, 3);
	log_set_level(LOG_LEVEL_NUL);
	log_error("%d", evaluated());
	log_at(LOG_LEVEL_NUL, "%d", evaluated());
	assert_int_equal(sink.records, 3);
}

static void logging_keeps_errno(void **state)
{
	(void)state;
	errno = ENOTTY;
	log_error("%m");
	assert_int_equal(errno, ENOTTY);
	assert_non_null(strstr(sink.text, strerror(ENOTTY)));
}

static void names_and_numbers_are_parsed_as_thresholds(void **state)
{
	(void)state;
	assert_int_equal(log_level_parse("debug"), 10);
	assert_int_equal(log_level_parse("INFO"), 20);
	assert_int_equal(log_level_parse("Timing"), 25);
	assert_int_equal(log_level_parse("warn"), 30);
	assert_int_equal(log_level_parse("WARNING"), 30);
	assert_int_equal(log_level_parse("error"), 40);
	assert_int_equal(log_level_parse("nul"), 60);
	assert_int_equal(log_level_parse("null"), 60);
	assert_int_equal(log_level_parse("35"), 40);
	assert_int_equal(log_level_parse("0"), 10);
	assert_int_equal(log_level_parse(""), -EINVAL);
	assert_int_equal(log_level_parse("-1"), -EINVAL);
	assert_int_equal(log_level_parse("30 "), -EINVAL);
	assert_int_equal(log_level_parse("99999999999"), -EINVAL);
	assert_int_equal(log_level_parse("loud"), -EINVAL);
}

/* stderr becomes a socket that keeps the borders of writes. */
struct capture {
	int saved;
	int fds[2];
};

static void capture_start(struct capture *c)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, c->fds), 0);
	c->saved = dup(STDERR_FILENO);
	assert_int_equal(dup2(c->fds[1], STDERR_FILENO), STDERR_FILENO);
	close(c->fds[1]);
}

static void capture_stop(struct capture *c)
{
	dup2(c->saved, STDERR_FILENO);
	close(c->saved);
}

static size_t capture_next(struct capture *c, char *text, size_t size)
{
	ssize_t len = recv(c->fds[0], text, size - 1, MSG_DONTWAIT);

	text[len > 0 ? len : 0] = '\0';
	return len > 0 ? (size_t)len : 0;
}

static void each_record_is_one_write_to_stderr(void **state)
{
	struct capture c;
	char text[LOG_HOST_MAX + 100], big[LOG_HOST_MAX * 2];
	size_t len;

	(void)state;
	log_set_sink(NULL, NULL);
	memset(big, 'z', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	capture_start(&c);
	log_error("first");
	log_error("%s", big);
	capture_stop(&c);
	len = capture_next(&c, text, sizeof(text));
	assert_true(len > 6 && !strcmp(text + len - 6, "first\n"));
	assert_int_equal(capture_next(&c, text, sizeof(text)), LOG_HOST_MAX);
	assert_int_equal(capture_next(&c, text, sizeof(text)), 0);
	close(c.fds[0]);
}

static void record_from_within_the_sink_goes_to_stderr(void **state)
{
	struct capture c;
	char text[LOG_HOST_MAX + 1];

	(void)state;
	sink.nested = true;
	capture_start(&c);
	log_error("outer");
	capture_stop(&c);
	assert_int_equal(sink.records, 1);
	assert_non_null(strstr(sink.text, "outer"));
	assert_true(capture_next(&c, text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "from within the sink"));
	close(c.fds[0]);
}

static void *log_many(void *arg)
{
	int i;

	for (i = 0; i < 500; i++)
		log_error("thread %p record %d", arg, i);
	return NULL;
}

static void records_of_several_threads_reach_the_sink_one_at_a_time(void **state)
{
	pthread_t threads[4];
	int i;

	(void)state;
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, log_many, NULL), 0);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	log_set_sink(NULL, NULL);
	assert_int_equal(sink.records, 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(host_record_has_the_specified_form, setup,
						teardown),
		cmocka_unit_test_setup_teardown(device_record_has_neither_time_nor_thread, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			host_record_of_512_bytes_is_whole_and_longer_ends_in_a_tilde, setup,
			teardown),
		cmocka_unit_test_setup_teardown(device_record_is_cut_at_2048_bytes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(newline_at_the_end_of_a_message_is_not_doubled,
						setup, teardown),
		cmocka_unit_test_setup_teardown(threshold_between_names_is_rounded_up, setup,
						teardown),
		cmocka_unit_test_setup_teardown(record_between_names_counts_as_the_milder_one,
						setup, teardown),
		cmocka_unit_test_setup_teardown(closed_record_does_not_evaluate_its_arguments,
						setup, teardown),
		cmocka_unit_test_setup_teardown(logging_keeps_errno, setup, teardown),
		cmocka_unit_test_setup_teardown(names_and_numbers_are_parsed_as_thresholds, setup,
						teardown),
		cmocka_unit_test_setup_teardown(each_record_is_one_write_to_stderr, setup,
						teardown),
		cmocka_unit_test_setup_teardown(record_from_within_the_sink_goes_to_stderr, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			records_of_several_threads_reach_the_sink_one_at_a_time, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
