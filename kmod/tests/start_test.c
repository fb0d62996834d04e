// SPDX-License-Identifier: GPL-2.0-only
/* What the driver refuses to be bound to. */
#include "fixture.h"

static int start_init(struct kunit *test)
{
	test->priv = fake_device_start(test);
	return 0;
}

static void start_exit(struct kunit *test)
{
	if (test->priv)
		fake_device_stop(test->priv);
}

#define EXPECT_REFUSED(_test, _error, _change)					\
	do {									\
		struct fake_device *_fake = (_test)->priv;			\
		struct simpler_hw_regs _good = *_fake->regs, *regs = _fake->regs;	\
		_change;							\
		KUNIT_EXPECT_EQ_MSG(_test, fake_device_bind(_fake), _error, "%s", #_change); \
		fake_device_unbind(_fake);					\
		*_fake->regs = _good;						\
	} while (0)

static void other_devices_are_left_alone(struct kunit *test)
{
	EXPECT_REFUSED(test, -ENODEV, regs->magic = 0);
	EXPECT_REFUSED(test, -ENODEV, regs->magic = ~0u);
	EXPECT_REFUSED(test, -ENODEV, regs->magic = swab32(SIMPLER_HW_MAGIC));
	EXPECT_REFUSED(test, -ENODEV, regs->version_major = 0);
	EXPECT_REFUSED(test, -ENODEV, regs->version_major = SIMPLER_HW_VERSION_MAJOR + 1);
	EXPECT_REFUSED(test, -ENODEV, regs->version_minor = 0);
	KUNIT_EXPECT_EQ(test, fake_device_counts(test->priv).doorbells, 0u);
}

static void a_newer_minor_version_is_accepted(struct kunit *test)
{
	EXPECT_REFUSED(test, 0, regs->version_minor = SIMPLER_HW_VERSION_MINOR + 1);
}

static void impossible_registers_are_refused(struct kunit *test)
{
	EXPECT_REFUSED(test, -EINVAL, regs->memory_base = 0);
	EXPECT_REFUSED(test, -EINVAL, regs->memory_base = FAKE_MEMORY_BASE + 1);
	EXPECT_REFUSED(test, -EINVAL, regs->memory_base = FAKE_BYTES);
	EXPECT_REFUSED(test, -EINVAL, regs->memory_base = ~0ull - 4095);
	EXPECT_REFUSED(test, -EINVAL, regs->memory_bytes = 0);
	EXPECT_REFUSED(test, -EINVAL, regs->memory_bytes = FAKE_BYTES);
	EXPECT_REFUSED(test, -EINVAL, regs->memory_bytes = ~0ull);
	EXPECT_REFUSED(test, -EINVAL, regs->max_contexts = 0);
	EXPECT_REFUSED(test, -EINVAL, regs->max_streams = 0);
	EXPECT_REFUSED(test, -EINVAL, regs->counter_hz = 0);
	EXPECT_REFUSED(test, -EINVAL, regs->doorbell_vectors = 0);
	EXPECT_REFUSED(test, -EINVAL, regs->doorbell_vectors = 1);
	EXPECT_REFUSED(test, -EINVAL, regs->irq_vectors = 1);
	EXPECT_REFUSED(test, -EINVAL, regs->irq_vectors = ~0u);
	EXPECT_REFUSED(test, -EINVAL, regs->features = 0);
	KUNIT_EXPECT_EQ(test, fake_device_counts(test->priv).doorbells, 0u);
}

static void memory_too_small_for_the_rings_is_refused(struct kunit *test)
{
	struct fake_device *fake = test->priv;
	struct simpler_hw_regs good = *fake->regs;
	int ret;

	fake->regs->memory_bytes = PAGE_SIZE;
	ret = fake_device_bind(fake);
	KUNIT_EXPECT_LT(test, ret, 0);
	fake_device_unbind(fake);
	*fake->regs = good;
	KUNIT_EXPECT_EQ(test, fake_device_bind(fake), 0);
}

static void a_device_that_refuses_to_start_is_an_io_error(struct kunit *test)
{
	struct fake_device *fake = test->priv;

	fake_device_set(fake, &(struct fake_faults) { .refuse_enable = true });
	KUNIT_EXPECT_EQ(test, fake_device_bind(fake), -EIO);
	fake_device_set(fake, &(struct fake_faults) {
		.dead = true, .refuse_reset = true,
	});
	KUNIT_EXPECT_EQ(test, fake_device_bind(fake), -EIO);
}

static void binding_works_after_failures(struct kunit *test)
{
	struct fake_device *fake = test->priv;

	fake_device_set(fake, &(struct fake_faults) { .refuse_enable = true });
	KUNIT_EXPECT_EQ(test, fake_device_bind(fake), -EIO);
	fake_device_set(fake, &(struct fake_faults) { 0 });
	KUNIT_EXPECT_EQ(test, fake_device_bind(fake), 0);
}

static void a_refused_first_command_leaves_nothing_behind(struct kunit *test)
{
	struct fake_device *fake = test->priv;
	u32 after;

	/* clearing memory is what the driver asks for while it starts */
	for (after = 0; after < 4; after++) {
		fake_device_set(fake, &(struct fake_faults) {
			.refuse_opcode = SIMPLER_HW_ADMIN_CLEAR, .refuse_error = -EINVAL,
			.refuse_after = after,
		});
		if (!fake_device_bind(fake))
			fake_device_unbind(fake);
	}
	fake_device_set(fake, &(struct fake_faults) { 0 });
	KUNIT_EXPECT_EQ(test, fake_device_bind(fake), 0);
}

static struct kunit_case start_cases[] = {
	KUNIT_CASE(other_devices_are_left_alone),
	KUNIT_CASE(a_newer_minor_version_is_accepted),
	KUNIT_CASE(impossible_registers_are_refused),
	KUNIT_CASE(memory_too_small_for_the_rings_is_refused),
	KUNIT_CASE(a_device_that_refuses_to_start_is_an_io_error),
	KUNIT_CASE(binding_works_after_failures),
	KUNIT_CASE(a_refused_first_command_leaves_nothing_behind),
	{}
};

static struct kunit_suite start_suite = {
	.name = "simpler_start",
	.init = start_init,
	.exit = start_exit,
	.test_cases = start_cases,
};
kunit_test_suite(start_suite);
