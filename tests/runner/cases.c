/* SPDX-License-Identifier: MIT */
/*
 * A cmocka program whose behaviour follows from the name it is called by; scripts/test-run-tests makes the links.
 * Each link is one way in which a test program can go wrong, and the runner must count it so.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmocka.h>

static void passes(void **state)
{
	(void)state;
}

static void fails(void **state)
{
	(void)state;
	assert_int_equal(6 * 9, 42);
}

static void skips(void **state)
{
	(void)state;
	skip();
}

static void crashes(void **state)
{
	(void)state;
	signal(SIGABRT, SIG_DFL);
	abort();
}

/* Two processes that hold the lock file RUNNER_LOCK until they are killed. */
static void hangs(void **state)
{
	int fd = open(getenv("RUNNER_LOCK"), O_CREAT | O_RDWR, 0600);

	(void)state;
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_true(fork() >= 0);
	for (;;)
		pause();
}

static void reports(void **state)
{
	(void)state;
	fprintf(stderr, "==1==ERROR: AddressSanitizer: pretended\n");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(passes), cmocka_unit_test(fails), cmocka_unit_test(skips),
		cmocka_unit_test(crashes), cmocka_unit_test(hangs), cmocka_unit_test(reports),
	};
	const char *name = strrchr(argv[0], '/');

	(void)argc;
	name = name ? name + 1 : argv[0];
	if (!strcmp(name, "exits"))
		return 3;
	if (!strcmp(name, "empty"))
		return 0;
	if (!strcmp(name, "unsupported"))
		return 77;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct CMUnitTest tests[] = { all[0], all[i], all[0] };

		if (!strcmp(name, all[i].name))
			return cmocka_run_group_tests(tests, NULL, NULL);
	}
	fprintf(stderr, "no case named %s\n", name);
	return 1;
}
