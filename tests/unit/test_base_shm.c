/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/sanitize.h"
#include "base/shm.h"

#define BYTES ((size_t)10000)

/* Seams: unmapping, removing the name, and allocating the pages fail. */
static int munmap_error, unlink_error, fallocate_error;

NO_SANITIZE int munmap(void *addr, size_t len)
{
	if (munmap_error) {
		errno = munmap_error;
		return -1;
	}
	return (int)syscall(SYS_munmap, addr, len);
}

int shm_unlink(const char *name)
{
	char path[300];

	if (unlink_error) {
		errno = unlink_error;
		return -1;
	}
	snprintf(path, sizeof(path), "/dev/shm%s", name);
	return unlink(path);
}

int fallocate(int fd, int mode, off_t offset, off_t len)
{
	if (fallocate_error) {
		errno = fallocate_error;
		fallocate_error = fallocate_error == EINTR ? 0 : fallocate_error;
		return -1;
	}
	return (int)syscall(SYS_fallocate, fd, mode, offset, len);
}

static const char *test_name(void)
{
	static char name[SHM_NAME_MAX + 1];

	snprintf(name, sizeof(name), "simpler-test-%d", (int)getpid());
	return name;
}

static void create(struct shm *s)
{
	assert_int_equal(shm_create(s, test_name(), BYTES, 0), 0);
}

static void object_is_shared_with_whoever_attaches_by_name(void **state)
{
	struct shm owner, user;

	(void)state;
	create(&owner);
	assert_int_equal(owner.bytes, BYTES);
	assert_int_equal(shm_map(&owner, 0), 0);
	assert_int_equal(((char *)owner.addr)[BYTES - 1], 0);
	assert_int_equal(shm_attach(&user, test_name(), BYTES, 0), 0);
	assert_int_equal(shm_map(&user, 0), 0);
	strcpy(owner.addr, "hello");
	assert_string_equal(user.addr, "hello");
	assert_int_equal(shm_release(&user), 0);
	assert_int_equal(shm_attach(&user, test_name(), 0, SHM_READONLY), 0);
	assert_int_equal(user.bytes, BYTES);
	assert_int_equal(shm_map(&user, 0), -EACCES);
	assert_int_equal(shm_map(&user, SHM_READONLY), 0);
	assert_string_equal(user.addr, "hello");
	assert_int_equal(shm_map(&user, SHM_READONLY), -EALREADY);
	assert_int_equal(shm_release(&user), 0);
	assert_int_equal(shm_release(&owner), 0);
	assert_int_equal(shm_attach(&user, test_name(), 0, 0), -ENOENT);
	assert_int_equal(shm_release(&user), 0);
}

static void anonymous_object_travels_by_descriptor(void **state)
{
	struct shm owner, user;
	int fd;

	(void)state;
	assert_int_equal(shm_create(&owner, NULL, BYTES, SHM_COMMIT), 0);
	assert_string_equal(owner.name, "");
	assert_int_equal(shm_map(&owner, 0), 0);
	fd = dup(owner.fd);
	assert_int_equal(shm_attach_fd(&user, fd, BYTES + 1), -EINVAL);
	assert_int_equal(user.fd, -1);
	assert_int_equal(shm_attach_fd(&user, fd, BYTES), 0);
	assert_int_equal(shm_map(&user, 0), 0);
	strcpy(user.addr, "there");
	assert_string_equal(owner.addr, "there");
	assert_int_equal(shm_release(&owner), 0);
	assert_string_equal(user.addr, "there");
	assert_int_equal(shm_release(&user), 0);
	assert_int_equal(shm_attach_fd(&user, -1, 0), -EBADF);
}

static void descriptor_is_closed_by_exec_and_private_to_the_user(void **state)
{
	struct shm s;
	struct stat st;

	(void)state;
	create(&s);
	assert_true(fcntl(s.fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(fstat(s.fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(shm_release(&s), 0);
}

static void names_are_checked_before_anything_is_made(void **state)
{
	char name[SHM_NAME_MAX + 2];
	struct shm s;

	(void)state;
	memset(name, 'n', sizeof(name));
	name[SHM_NAME_MAX + 1] = '\0';
	assert_int_equal(shm_create(&s, name, BYTES, 0), -ENAMETOOLONG);
	assert_int_equal(s.fd, -1);
	assert_int_equal(shm_create(&s, "", BYTES, 0), -EINVAL);
	assert_int_equal(shm_create(&s, "/", BYTES, 0), -EINVAL);
	assert_int_equal(shm_create(&s, "a/b", BYTES, 0), -EINVAL);
	assert_int_equal(shm_create(&s, "..", BYTES, 0), -EINVAL);
	assert_int_equal(shm_create(&s, ".", BYTES, 0), -EINVAL);
	assert_int_equal(shm_create(&s, "zero", 0, 0), -EINVAL);
	assert_int_equal(shm_create(&s, "large", SIZE_MAX, 0), -EINVAL);
	assert_int_equal(shm_attach(&s, "a/b", 0, 0), -EINVAL);
	assert_int_equal(shm_attach(&s, name, 0, 0), -ENAMETOOLONG);
	name[SHM_NAME_MAX] = '\0';
	snprintf(name, 20, "%d", (int)getpid());
	memset(name + strlen(name), 'n', SHM_NAME_MAX - strlen(name));
	assert_int_equal(strlen(name), SHM_NAME_MAX);
	assert_int_equal(shm_create(&s, name, BYTES, 0), 0);
	assert_string_equal(s.name, name);
	assert_int_equal(shm_release(&s), 0);
}

static void leading_slash_is_the_same_name(void **state)
{
	char with_slash[SHM_NAME_MAX + 2] = "/";
	struct shm s, t;

	(void)state;
	strcat(with_slash, test_name());
	assert_int_equal(shm_create(&s, with_slash, BYTES, 0), 0);
	assert_string_equal(s.name, test_name());
	assert_int_equal(shm_create(&t, test_name(), BYTES, 0), -EEXIST);
	assert_int_equal(shm_release(&t), 0);
	assert_int_equal(shm_attach(&t, test_name(), 0, 0), 0);
	assert_int_equal(shm_release(&t), 0);
	assert_int_equal(shm_attach(&t, with_slash, BYTES + 1, 0), -EINVAL);
	assert_int_equal(t.fd, -1);
	assert_int_equal(shm_release(&s), 0);
}

static void failed_creation_leaves_no_name_behind(void **state)
{
	struct shm s;

	(void)state;
	fallocate_error = ENOSPC;
	assert_int_equal(shm_create(&s, test_name(), BYTES, SHM_COMMIT), -ENOSPC);
	fallocate_error = 0;
	assert_int_equal(s.fd, -1);
	assert_false(s.linked);
	assert_int_equal(shm_attach(&s, test_name(), 0, 0), -ENOENT);
	fallocate_error = EINTR;
	assert_int_equal(shm_create(&s, test_name(), BYTES, SHM_COMMIT), 0);
	assert_int_equal(shm_release(&s), 0);
}

static void mapping_more_than_fits_is_refused(void **state)
{
	struct shm s;

	(void)state;
	assert_int_equal(shm_create(&s, NULL, (size_t)1 << 50, 0), 0);
	assert_int_equal(shm_map(&s, 0), -ENOMEM);
	assert_null(s.addr);
	assert_int_equal(shm_release(&s), 0);
	assert_int_equal(shm_create(&s, NULL, BYTES, 0), 0);
	shm_close_fd(&s);
	assert_int_equal(shm_map(&s, 0), -EBADF);
}

static void release_attempts_all_steps_and_repeats_what_failed(void **state)
{
	struct shm s, t;

	(void)state;
	create(&s);
	assert_int_equal(shm_map(&s, 0), 0);
	munmap_error = ENOMEM;
	assert_int_equal(shm_release(&s), -ENOMEM);
	munmap_error = 0;
	assert_non_null(s.addr);
	assert_int_equal(s.fd, -1);
	assert_int_equal(shm_attach(&t, test_name(), 0, 0), -ENOENT);
	assert_int_equal(shm_release(&s), 0);
	assert_null(s.addr);
	assert_int_equal(shm_release(&s), 0);

	create(&s);
	unlink_error = EACCES;
	assert_int_equal(shm_release(&s), -EACCES);
	unlink_error = 0;
	assert_int_equal(shm_attach(&t, test_name(), 0, 0), 0);
	assert_int_equal(shm_release(&t), 0);
	assert_int_equal(shm_release(&s), 0);
	assert_int_equal(shm_attach(&t, test_name(), 0, 0), -ENOENT);
}

static void name_that_somebody_else_removed_is_no_error(void **state)
{
	struct shm s;

	(void)state;
	create(&s);
	assert_int_equal(shm_drop_name(&s), 0);
	assert_int_equal(shm_drop_name(&s), 0);
	shm_close_fd(&s);
	create(&s);
	assert_int_equal(shm_unlink(strcat((char[40]){ "/" }, test_name())), 0);
	assert_int_equal(shm_release(&s), 0);
	shm_init(&s);
	assert_int_equal(shm_release(&s), 0);
}

/* ---- what dead processes left ---- */

static const char *family_name(const char *member)
{
	static char name[SHM_NAME_MAX + 1];

	snprintf(name, sizeof(name), "simpler-%d-%s", (int)getpid(), member);
	return name;
}

static bool exists(const char *member)
{
	struct shm s;
	int err = shm_attach(&s, family_name(member), 0, 0);

	shm_release(&s);
	return !err;
}

/* A process that makes an object, tells so, and waits to be killed; the name is its parent's. */
static pid_t holder_start(const char *member)
{
	char done, name[SHM_NAME_MAX + 1];
	int told[2];
	pid_t pid;

	strcpy(name, family_name(member));
	assert_int_equal(pipe(told), 0);
	pid = fork();
	if (!pid) {
		struct shm s;

		if (shm_create(&s, name, BYTES, SHM_HELD) || write(told[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	assert_int_equal(read(told[0], &done, 1), 1);
	close(told[0]);
	close(told[1]);
	return pid;
}

static void holder_kill(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

static void objects_of_killed_processes_are_reclaimed_and_of_live_ones_kept(void **state)
{
	pid_t first = holder_start("a"), second = holder_start("b");
	struct shm own;

	(void)state;
	assert_int_equal(shm_create(&own, family_name("c"), BYTES, SHM_HELD), 0);
	assert_int_equal(shm_reclaim(family_name("")), 0);
	holder_kill(first);
	assert_int_equal(shm_reclaim(family_name("")), 1);
	assert_false(exists("a"));
	assert_true(exists("b"));
	assert_true(exists("c"));
	holder_kill(second);
	assert_int_equal(shm_reclaim(family_name("b")), 1);
	assert_int_equal(shm_release(&own), 0);
	assert_int_equal(shm_reclaim(family_name("")), 0);
}

static void a_child_keeps_what_it_inherited(void **state)
{
	struct shm own;
	int end[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(shm_create(&own, family_name("d"), BYTES, SHM_HELD), 0);
	assert_int_equal(pipe(end), 0);
	pid = fork();
	if (!pid) {
		char c;

		close(end[1]);
		_exit(read(end[0], &c, 1) != 0);
	}
	shm_close_fd(&own);
	assert_int_equal(shm_reclaim(family_name("d")), 0);
	close(end[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(end[0]);
	assert_int_equal(shm_reclaim(family_name("d")), 1);
	assert_int_equal(shm_release(&own), 0);
}

static void only_names_with_the_prefix_are_looked_at(void **state)
{
	struct shm s;

	(void)state;
	assert_int_equal(shm_create(&s, family_name("e"), BYTES, 0), 0);
	assert_int_equal(shm_reclaim(family_name("f")), 0);
	assert_true(exists("e"));
	assert_int_equal(shm_release(&s), 0);
}

static void no_descriptor_left_is_reported(void **state)
{
	struct rlimit before, none;
	struct shm s;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(shm_create(&s, NULL, BYTES, 0), -EMFILE);
	assert_int_equal(shm_create(&s, test_name(), BYTES, 0), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(shm_attach(&s, test_name(), 0, 0), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(object_is_shared_with_whoever_attaches_by_name),
		cmocka_unit_test(anonymous_object_travels_by_descriptor),
		cmocka_unit_test(descriptor_is_closed_by_exec_and_private_to_the_user),
		cmocka_unit_test(names_are_checked_before_anything_is_made),
		cmocka_unit_test(leading_slash_is_the_same_name),
		cmocka_unit_test(failed_creation_leaves_no_name_behind),
		cmocka_unit_test(mapping_more_than_fits_is_refused),
		cmocka_unit_test(release_attempts_all_steps_and_repeats_what_failed),
		cmocka_unit_test(name_that_somebody_else_removed_is_no_error),
		cmocka_unit_test(objects_of_killed_processes_are_reclaimed_and_of_live_ones_kept),
		cmocka_unit_test(a_child_keeps_what_it_inherited),
		cmocka_unit_test(only_names_with_the_prefix_are_looked_at),
		cmocka_unit_test(no_descriptor_left_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
