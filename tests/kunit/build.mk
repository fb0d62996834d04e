# SPDX-License-Identifier: MIT
# make check-kunit: the driver's KUnit suites (kmod/tests) in a user-mode kernel with KASAN, lockdep and kmemleak.
# The first build takes ten minutes on two quiet cores; later ones build what changed.
.PHONY: check-kunit do-check-kunit kunit-kernel
kunit_ITEMS := build=$(BUILD) deadline=300 cmocka=scripts/kunit-run
full_NEEDS += kunit-kernel
full_ITEMS += $(kunit_ITEMS)
check-kunit: setup
	+$(Q)$(MAKE) --no-print-directory do-check-kunit
kunit-kernel:
	@echo '  KERNEL  $(BUILD)/kunit/linux'
	$(Q)JOBS=$(JOBS) scripts/kernel-build um $(BUILD)/kunit kmod/.kunitconfig
do-check-kunit: kunit-kernel
	$(Q)scripts/run-tests $(kunit_ITEMS)
