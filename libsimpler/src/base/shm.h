/* SPDX-License-Identifier: MIT */
/*
 * Shared memory objects: named (POSIX) or anonymous (memfd). Release is staged: unmap, close,
 * unlink; each step succeeds at most once, every step is attempted even if an earlier one failed,
 * and a later call repeats only what failed. Not thread-safe.
 */
#ifndef SIMPLER_BASE_SHM_H
#define SIMPLER_BASE_SHM_H

#include <stdbool.h>
#include <stddef.h>

#define SHM_NAME_MAX	32	/* bytes, without the leading slash and without terminator */

/* Flags */
#define SHM_COMMIT	1u	/* create: allocate all pages now (no SIGBUS later) */
#define SHM_READONLY	2u	/* attach, map: no write access */
#define SHM_HELD	4u	/* create: shm_reclaim() spares it until its descriptor is closed */

/**
 * struct shm - one object; set by the functions below, read by all
 * @fd: -1 when closed
 * @bytes: size of the object
 * @addr: NULL when not mapped
 * @name: empty when anonymous; without leading slash
 * @linked: this struct owns the name and will remove it
 */
struct shm {
	int fd;
	size_t bytes;
	void *addr;
	char name[SHM_NAME_MAX + 1];
	bool linked;
};

/** shm_init() - nothing owned; shm_release() on it does nothing */
void shm_init(struct shm *s);

/**
 * shm_create() - make a new zeroed object and own its name
 * @name: one leading slash is dropped, no other is allowed; NULL makes an anonymous object (memfd)
 * @bytes: not 0
 * @flags: SHM_COMMIT, SHM_HELD
 *
 * The descriptor is close-on-exec, the mode 0600. On failure @s owns nothing.
 * Return: 0, -EEXIST, -EINVAL (name or size), -ENAMETOOLONG, -ENOSPC, or another code of the
 * system.
 */
int shm_create(struct shm *s, const char *name, size_t bytes, unsigned int flags);

/**
 * shm_reclaim() - remove the names of objects that nobody holds any more
 * @prefix: of the names; all objects with it must have been made with SHM_HELD
 *
 * What tells is a lock on the object, which goes with the process that made it (and with children
 * that inherited its descriptor), whatever way it ended, and which other containers that share the
 * objects see as well. Objects of other users are left alone. Thread-safe.
 * Return: how many were removed, or the negative code of opening their folder.
 */
int shm_reclaim(const char *prefix);

/**
 * shm_attach() - open an existing object by name; never unlinks it
 * @bytes: at least so large it must be; 0 accepts any size
 * @flags: 0 or SHM_READONLY
 *
 * Return: 0, -ENOENT, -EINVAL (name; or the object is smaller than @bytes), -ENAMETOOLONG, or a
 * code of the system.
 */
int shm_attach(struct shm *s, const char *name, size_t bytes, unsigned int flags);

/**
 * shm_attach_fd() - the same for a descriptor, which is owned by @s from success on (not on
 * failure)
 */
int shm_attach_fd(struct shm *s, int fd, size_t bytes);

/**
 * shm_map() - map the whole object shared at s->addr; 0 flags or SHM_READONLY. Return: 0, -EBADF,
 * -ENOMEM …
 */
int shm_map(struct shm *s, unsigned int flags);

/**
 * shm_unmap() - end the mapping if there is one. Return: 0 or a negative code, then it is still
 * mapped
 */
int shm_unmap(struct shm *s);

/**
 * shm_drop_name() - unlink the name if owned; users that have it open go on. Return: 0 or a
 * negative code
 */
int shm_drop_name(struct shm *s);

/** shm_close_fd() - close the descriptor if open; a mapping stays valid */
void shm_close_fd(struct shm *s);

/** shm_release() - all steps. Return: 0, or the code of the first step that failed */
int shm_release(struct shm *s);

#endif
