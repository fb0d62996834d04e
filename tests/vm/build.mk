# SPDX-License-Identifier: MIT
# Tests of simpler-vnpu without a virtual machine, and the programs that run inside one.
$(foreach s,$(wildcard tests/vm/device/kernels/*.cpp),\
	$(call device_so,$s,tests/vm/device/kernels/$(call stem,$s),$(KERNEL_FLAGS) $(KERNEL_aiv)))
$(foreach s,$(wildcard tests/vm/device/orchestration/*.cpp),\
	$(call device_so,$s,tests/vm/device/orchestration/$(call stem,$s),$(ORCH_FLAGS)))

vm_HOST_OBJS := $(call obj,tests/vm/host_driver.c)
vm_HOST_TESTS := $(patsubst tests/vm/%.c,$(BUILD)/tests/vm/%,$(wildcard tests/vm/test_*.c))
unit_TESTS += $(vm_HOST_TESTS)
$(vm_HOST_TESTS): $(BUILD)/tests/vm/%: $(BUILD)/obj/tests/vm/%.c.o $(vm_HOST_OBJS) $(LIB_A)
	@mkdir -p $(@D)
	@echo '  LD      $@'
	$(Q)$(CC) $(CFLAGS) $(C_FLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(TEST_LDLIBS)
-include $(addsuffix .d,$(vm_HOST_OBJS))
-include $(patsubst $(BUILD)/%,$(BUILD)/obj/%.c.o.d,$(vm_HOST_TESTS))
