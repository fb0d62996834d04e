/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "base/shm.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void shm_init(struct shm *s)
{
	*s = (struct shm){ .fd = -1 };
}

/* s->name from the caller's, which may have the leading slash that the system wants. */
static int shm_set_name(struct shm *s, const char *name)
{
	size_t len;

	if (name[0] == '/')
		name++;
	len = strnlen(name, SHM_NAME_MAX + 1);
	if (len > SHM_NAME_MAX)
		return -ENAMETOOLONG;
	if (!len || memchr(name, '/', len) || !strcmp(name, ".") || !strcmp(name, ".."))
		return -EINVAL;
	memcpy(s->name, name, len);
	s->name[len] = '\0';
	return 0;
}

struct shm_path {
	char text[SHM_NAME_MAX + 2];
};

static struct shm_path shm_path(const struct shm *s)
{
	struct shm_path path = { "/" };

	memcpy(path.text + 1, s->name, sizeof(s->name));
	return path;
}

static int shm_open_new(struct shm *s)
{
	s->fd = shm_open(shm_path(s).text, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	if (s->fd < 0)
		return -errno;
	s->linked = true;
	return 0;
}

/* Takes the lock that shm_reclaim() asks for. -ESTALE: that was quicker and removed the name. */
static int shm_hold(struct shm *s)
{
	struct stat st;

	while (flock(s->fd, LOCK_SH))
		if (errno != EINTR)
			return -errno;
	if (fstat(s->fd, &st))
		return -errno;
	if (st.st_nlink)
		return 0;
	s->linked = false;
	shm_close_fd(s);
	return -ESTALE;
}

static int shm_create_named(struct shm *s, const char *name, unsigned int flags)
{
	int err = shm_set_name(s, name);

	if (err)
		return err;
	do {
		err = shm_open_new(s);
		if (!err && flags & SHM_HELD)
			err = shm_hold(s);
	} while (err == -ESTALE);
	return err;
}

static int shm_create_anonymous(struct shm *s)
{
	s->fd = memfd_create("simpler", MFD_CLOEXEC);
	return s->fd < 0 ? -errno : 0;
}

static int shm_size(struct shm *s, size_t bytes, unsigned int flags)
{
	int err;

	if (ftruncate(s->fd, (off_t)bytes))
		return -errno;
	if (flags & SHM_COMMIT) {
		do
			err = fallocate(s->fd, 0, 0, (off_t)bytes) ? errno : 0;
		while (err == EINTR);
		if (err)
			return -err;
	}
	s->bytes = bytes;
	return 0;
}

int shm_create(struct shm *s, const char *name, size_t bytes, unsigned int flags)
{
	int err;

	shm_init(s);
	if (!bytes || bytes > INT64_MAX)
		return -EINVAL;
	err = name ? shm_create_named(s, name, flags) : shm_create_anonymous(s);
	if (!err)
		err = shm_size(s, bytes, flags);
	if (err) {
		shm_release(s);
		shm_init(s);
	}
	return err;
}

/* ---- what dead processes left ---- */

/* Regular and of this user: others may have put anything there. */
static bool shm_is_ours(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_nlink;
}

static bool shm_reclaim_one(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool removed;

	if (fd < 0)
		return false;
	/* under the lock nobody can begin to hold it, see shm_hold() */
	removed = !flock(fd, LOCK_EX | LOCK_NB) && shm_is_ours(fd) && !unlinkat(folder, name, 0);
	close(fd);
	return removed;
}

int shm_reclaim(const char *prefix)
{
	DIR *folder = opendir("/dev/shm");
	struct dirent *entry;
	int count = 0;

	if (!folder)
		return -errno;
	while ((entry = readdir(folder)))
		if (!strncmp(entry->d_name, prefix, strlen(prefix)))
			count += shm_reclaim_one(dirfd(folder), entry->d_name);
	closedir(folder);
	return count;
}

/* ---- attaching ---- */

static int shm_learn_size(int fd, size_t at_least, size_t *bytes)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (st.st_size <= 0 || (uint64_t)st.st_size < at_least)
		return -EINVAL;
	*bytes = (size_t)st.st_size;
	return 0;
}

int shm_attach(struct shm *s, const char *name, size_t bytes, unsigned int flags)
{
	int err;

	shm_init(s);
	err = shm_set_name(s, name);
	if (err)
		goto forget;
	s->fd = shm_open(shm_path(s).text, (flags & SHM_READONLY ? O_RDONLY : O_RDWR) | O_CLOEXEC,
			 0);
	if (s->fd < 0) {
		err = -errno;
		goto forget;
	}
	err = shm_learn_size(s->fd, bytes, &s->bytes);
	if (!err)
		return 0;
	shm_close_fd(s);
forget:
	shm_init(s);
	return err;
}

int shm_attach_fd(struct shm *s, int fd, size_t bytes)
{
	int err;

	shm_init(s);
	err = shm_learn_size(fd, bytes, &s->bytes);
	if (!err)
		s->fd = fd;
	return err;
}

int shm_map(struct shm *s, unsigned int flags)
{
	int prot = flags & SHM_READONLY ? PROT_READ : PROT_READ | PROT_WRITE;
	void *addr;

	if (s->addr)
		return -EALREADY;
	addr = mmap(NULL, s->bytes, prot, MAP_SHARED, s->fd, 0);
	if (addr == MAP_FAILED)
		return -errno;
	s->addr = addr;
	return 0;
}

int shm_unmap(struct shm *s)
{
	if (s->addr && munmap(s->addr, s->bytes))
		return -errno;
	s->addr = NULL;
	return 0;
}

/* A name that somebody else has removed is removed. */
int shm_drop_name(struct shm *s)
{
	if (s->linked && shm_unlink(shm_path(s).text) && errno != ENOENT)
		return -errno;
	s->linked = false;
	return 0;
}

void shm_close_fd(struct shm *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

int shm_release(struct shm *s)
{
	int unmap = shm_unmap(s);
	int unlinked;

	shm_close_fd(s);
	unlinked = shm_drop_name(s);
	return unmap ? unmap : unlinked;
}
