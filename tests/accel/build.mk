# SPDX-License-Identifier: MIT
# The transport to the driver, on a driver that is played in the same process: the linker puts the calls to the kernel
# through fake_driver.c.
accel_TEST := $(BUILD)/tests/accel/test_accel
accel_OBJS := $(call obj,tests/accel/test_accel.c tests/accel/fake_driver.c)
accel_WRAP := -Wl,--wrap=open,--wrap=close,--wrap=ioctl,--wrap=mmap,--wrap=opendir
unit_TESTS += $(accel_TEST)
tests: $(accel_TEST)
$(accel_TEST): $(accel_OBJS) $(LIB_A)
	@mkdir -p $(@D)
	@echo '  LD      $@'
	$(Q)$(CC) $(CFLAGS) $(C_FLAGS) $(LDFLAGS) $(accel_WRAP) -o $@ $(filter %.o %.a,$^) $(TEST_LDLIBS)
-include $(addsuffix .d,$(accel_OBJS))
