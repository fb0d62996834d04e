/* SPDX-License-Identifier: MIT */
/* The driver's calls as data: valid arguments, what their members are, what may come back. */
#ifndef TESTS_VM_CALLS_H
#define TESTS_VM_CALLS_H

#include "guest.h"

/* An open file with one of everything that a call can name. */
struct scene {
	int fd;
	struct guest_bo bo;
	uint32_t closed_bo, foreign_bo;		/* handles that mean nothing here */
	uint32_t stream, user_stream;
	uint32_t syncobj;
	void *memory;				/* two pages, the second one cannot be written */
	uint64_t pinned;			/* device address of a HOST_MAP */
	struct simpler_hw_cmd commands[4];
	struct drm_simpler_sync syncs[2];
	unsigned char room[256];		/* what is asked for may be written to any of these */
};

union arguments {
	unsigned char bytes[64];
	struct drm_simpler_dev_query dev_query;
	struct drm_simpler_bo_create bo_create;
	struct drm_simpler_bo_mmap_offset bo_mmap_offset;
	struct drm_simpler_bo_info bo_info;
	struct drm_simpler_host_map host_map;
	struct drm_simpler_host_unmap host_unmap;
	struct drm_simpler_stream_create stream_create;
	struct drm_simpler_stream_destroy stream_destroy;
	struct drm_simpler_stream_state stream_state;
	struct drm_simpler_submit submit;
	struct drm_simpler_wait_seqno wait_seqno;
};

enum role {
	RESERVED,	/* must be 0 */
	CHOICE,		/* a number or flags: @limit is the first value, or bit value, that is unknown */
	SIZE, HANDLE, ADDRESS, RESULT,
};

struct member {
	const char *name;
	unsigned int offset, bytes;
	enum role role;
	uint64_t limit;
};

#define CALL_MEMBERS 12
#define CALL_ERRORS 10

struct call {
	const char *name;
	unsigned long request;
	void (*fill)(const struct scene *s, union arguments *a);	/* valid; @a is zeroed */
	struct member members[CALL_MEMBERS];
	int errors[CALL_ERRORS];	/* that are documented, besides those of every call */
};

extern const struct call calls[];
extern const unsigned int call_count;

struct scene scene_open(int chip);
void scene_close(struct scene *s);
/* One attempt, not repeated after signals: 0 or a negative errno. */
int call_once(int fd, unsigned long request, void *arguments);
uint64_t call_get(const union arguments *a, const struct member *m);
void call_set(union arguments *a, const struct member *m, uint64_t value);
/* Whether the call may say so. */
bool call_may_return(const struct call *c, int rc);

#endif /* TESTS_VM_CALLS_H */
