/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every suite starts from: a fake device with the driver on it, one open file,
 * and a user address space of the test's own with room for what calls point to.
 */
#ifndef SIMPLER_TEST_FIXTURE_H
#define SIMPLER_TEST_FIXTURE_H

#include <kunit/test.h>
#include <linux/fs.h>

#include "fake_device.h"
#include "simpler_accel.h"

#define SCRATCH_BYTES	(16 * PAGE_SIZE)

struct fixture {
	struct kunit *test;
	struct fake_device *fake;
	struct drm_device *drm;
	struct file *file;
	unsigned long scratch;		/* user memory; its first page is for fixture_call() */
};

/* For struct kunit_suite: test->priv is the fixture. */
int fixture_init(struct kunit *test);
void fixture_exit(struct kunit *test);

/** fixture_open - another open file of the node; the caller closes it, or fixture_exit() fails */
struct file *fixture_open(struct fixture *f);
void fixture_close(struct file *file);

/** fixture_call - ioctl(file, cmd, arg), with @arg copied to and from user memory */
long fixture_call_on(struct fixture *f, struct file *file, unsigned int cmd, void *arg);
#define fixture_call(f, cmd, arg)	fixture_call_on(f, (f)->file, cmd, arg)

/** fixture_put - copy to user memory, @offset bytes into the scratch area; its user address */
u64 fixture_put(struct fixture *f, u32 offset, const void *data, size_t bytes);
void fixture_get(struct fixture *f, u64 address, void *data, size_t bytes);

/* Things that most tests need, asserted to succeed. */
struct drm_simpler_bo_create fixture_bo(struct fixture *f, u64 size, u32 flags);
u32 fixture_stream(struct fixture *f);
u32 fixture_syncobj(struct fixture *f);
void fixture_close_handle(struct fixture *f, u32 handle);

/** fixture_submit - SUBMIT of these commands, with these synchronisations; its errno */
long fixture_submit_on(struct fixture *f, struct file *file, u32 stream,
		       const struct simpler_hw_cmd *commands, u32 count,
		       const struct drm_simpler_sync *syncs, u32 sync_count, u64 *seqno);
#define fixture_submit(f, stream, commands, count, seqno) \
	fixture_submit_on(f, (f)->file, stream, commands, count, NULL, 0, seqno)

/** fixture_wait - WAIT_SEQNO with a deadline far away; its errno */
long fixture_wait_on(struct fixture *f, struct file *file, u32 stream, u64 seqno);
#define fixture_wait(f, stream, seqno)	fixture_wait_on(f, (f)->file, stream, seqno)

struct drm_simpler_context_info fixture_context(struct fixture *f, struct file *file);
struct drm_simpler_health_info fixture_health(struct fixture *f);
struct drm_simpler_memory_info fixture_memory(struct fixture *f, struct file *file);

/** fixture_device_word - where the device finds the 64 bits at an address of the only context */
u64 *fixture_device_word(struct fixture *f, u64 address, bool write);

/** fixture_until - poll a condition in virtual time; false after ten seconds of it */
#define fixture_until(condition) ({					\
	unsigned long _end = jiffies + 10 * HZ;				\
	bool _holds;							\
									\
	while (!(_holds = (condition)) && time_before(jiffies, _end))	\
		schedule_timeout_uninterruptible(1);			\
	_holds;								\
})

/** FIXTURE_REFUSED - a call with valid arguments but for one change ends with @_error */
#define FIXTURE_REFUSED(_f, _cmd, _valid, _error, _change)		\
	do {								\
		typeof(_valid) _arg = (_valid);				\
		_arg._change;						\
		KUNIT_EXPECT_EQ_MSG((_f)->test, fixture_call(_f, _cmd, &_arg), \
				    (long)(_error), "%s", #_change);	\
	} while (0)

#define FIXTURE_ACCEPTED(_f, _cmd, _valid)				\
	do {								\
		typeof(_valid) _arg = (_valid);				\
		KUNIT_EXPECT_EQ((_f)->test, fixture_call(_f, _cmd, &_arg), 0L);	\
	} while (0)

#define FIXTURE_SUITE(_name, _cases)					\
	static struct kunit_suite _cases##_suite = {			\
		.name = _name,						\
		.init = fixture_init,					\
		.exit = fixture_exit,					\
		.test_cases = _cases,					\
	};								\
	kunit_test_suite(_cases##_suite)

#endif /* SIMPLER_TEST_FIXTURE_H */
