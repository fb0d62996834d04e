# SPDX-License-Identifier: MIT
# Tests of simpler-vnpu without a virtual machine, and the programs that run inside one.
$(foreach s,$(wildcard tests/vm/device/kernels/*.cpp),\
	$(call device_so,$s,tests/vm/device/kernels/$(call stem,$s),$(KERNEL_FLAGS) $(KERNEL_aiv)))
$(foreach s,$(wildcard tests/vm/device/orchestration/*.cpp),\
	$(call device_so,$s,tests/vm/device/orchestration/$(call stem,$s),$(ORCH_FLAGS)))

vm_HOST_OBJS := $(call obj,tests/vm/host_driver.c)
vm_HOST_TESTS := $(patsubst tests/vm/%.c,$(BUILD)/tests/vm/%,$(wildcard tests/vm/test_*.c))
unit_TESTS += $(vm_HOST_TESTS)
tests: $(vm_HOST_TESTS) $(filter $(BUILD)/tests/vm/%,$(device_TARGETS))
$(vm_HOST_TESTS): $(BUILD)/tests/vm/%: $(BUILD)/obj/tests/vm/%.c.o $(vm_HOST_OBJS) $(LIB_A)
	@mkdir -p $(@D)
	@echo '  LD      $@'
	$(Q)$(CC) $(CFLAGS) $(C_FLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(TEST_LDLIBS)
-include $(addsuffix .d,$(vm_HOST_OBJS))
-include $(patsubst $(BUILD)/%,$(BUILD)/obj/%.c.o.d,$(vm_HOST_TESTS))

# Programs for the machine. `make check-vm` boots it; scripts/vm makes kernel and initramfs.
vm_GUEST_OBJS := $(call obj,tests/vm/guest/guest.c tests/vm/guest/calls.c)
vm_GUEST_TESTS := $(patsubst tests/vm/guest/%.c,$(BUILD)/tests/vm/guest/%,$(wildcard tests/vm/guest/test_*.c) \
	tests/vm/guest/bench.c)
$(vm_GUEST_TESTS): $(BUILD)/tests/vm/guest/%: $(BUILD)/obj/tests/vm/guest/%.c.o $(vm_GUEST_OBJS) $(LIB_A)
	@mkdir -p $(@D)
	@echo '  LD      $@'
	$(Q)$(CC) $(CFLAGS) $(C_FLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -lcmocka -ldrm $(LDLIBS)
-include $(addsuffix .d,$(vm_GUEST_OBJS)) $(patsubst $(BUILD)/%,$(BUILD)/obj/%.c.o.d,$(vm_GUEST_TESTS))
vm_guest_objects := $(addsuffix .o,$(addprefix $(BUILD)/obj/,$(wildcard tests/vm/guest/*.c)))
$(vm_guest_objects): CPPFLAGS += -I/usr/include/libdrm

.PHONY: check-vm do-check-vm bench-vm do-bench-vm check-kernel-debug do-check-kernel-debug
check-vm bench-vm check-kernel-debug: setup
	+$(Q)$(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS)) do-$@
vm_ITEMS := build=$(BUILD) deadline=1200 cmocka=scripts/vm
full_NEEDS += $(vm_GUEST_TESTS) modules
full_ITEMS += $(vm_ITEMS)
do-check-vm: tests $(vm_GUEST_TESTS) modules
	$(Q)scripts/run-tests $(vm_ITEMS)
do-bench-vm: tests $(vm_GUEST_TESTS) modules
	SIMPLER_BUILD_DIR=$(BUILD) scripts/vm --bench

# make check-kernel-debug: the same in a kernel with KASAN, lockdep, kmemleak and object tracking.  Not part of `make check`:
# building it takes 15 minutes on two quiet cores, and it is several times slower.
vm_DEBUG := $(BUILD)/debug-kernel
do-check-kernel-debug: tests $(vm_GUEST_TESTS)
	@echo '  KERNEL  $(vm_DEBUG)/image'
	$(Q)JOBS=$(JOBS) scripts/kernel-build x86_64 $(vm_DEBUG) tests/vm/debug.config
	$(Q)VM_KERNEL=$(vm_DEBUG) VM_DEADLINE=7000 VM_TEST_DEADLINE=2000 \
		scripts/run-tests build=$(BUILD) deadline=7200 cmocka=scripts/vm
