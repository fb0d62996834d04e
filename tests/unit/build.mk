# SPDX-License-Identifier: MIT

# Objects for test_chip_callable*, test_chip_elf_check and fuzz_callable: tests/unit/callable_src/x.{c,cpp} ->
# $(BUILD)/tests/unit/callable/x.so, without sanitizers, because the tests damage them.
callable_FLAGS := -shared -fPIC -O2 -g $(WARN) -Ilibsimpler/device/include
callable_kernel_add := -Wl,-soname,add.so -Wl,--build-id=sha1 -Wl,--hash-style=gnu
callable_kernel_bare := -nostdlib -Wl,-soname,bare.so -Wl,--hash-style=both
callable_kernel_block := -Wl,--default-symver
callable_kernel_relr := -Wl,-z,pack-relative-relocs -Wl,--hash-style=both
callable_orch_default := -Wl,--build-id=sha1
callable_orch_named := -Wl,--build-id=none
# $(call callable_so,source,output,compiler)
define callable_so
callable_SOS += $2
$2: $1 $$(BUILD)/flags tests/unit/build.mk
	@mkdir -p $$(@D)
	@echo '  SO      $2'
	$$(Q)$3 $$(callable_FLAGS) $$(DEPFLAGS) -o $$@ $$< $$(callable_$(call stem,$1))
-include $2.d
endef
$(foreach s,$(wildcard tests/unit/callable_src/*.c),\
	$(eval $(call callable_so,$s,$(BUILD)/tests/unit/callable/$(call stem,$s).so,$$(CC) -std=gnu11)))
$(foreach s,$(wildcard tests/unit/callable_src/*.cpp),\
	$(eval $(call callable_so,$s,$(BUILD)/tests/unit/callable/$(call stem,$s).so,$$(CXX) -std=gnu++20)))
$(addprefix $(BUILD)/tests/unit/test_chip_,callable callable_bytes elf_check): | $(callable_SOS)

# Instruction checks for test_device_pto_isa: tests/unit/pto_isa/x.cpp -> $(BUILD)/tests/unit/pto_isa/x-<platform>.so, as
# kernels are built, but with less optimisation, because they are many small instantiations. They have one thread, so
# there is nothing in them for TSan, which would spend most of its time on building them.
tsan_LEAVES_OUT := $(BUILD)/tests/unit/test_device_pto_isa
ifeq ($(SANITIZE),thread)
unit_TESTS := $(filter-out $(BUILD)/tests/unit/test_device_pto_isa,$(unit_TESTS))
else
pto_isa_FLAGS := $(filter-out -O2 -g1,$(KERNEL_FLAGS)) -O1
pto_isa_SOS := $(foreach s,$(wildcard tests/unit/pto_isa/*.cpp),$(foreach p,$(PLATFORMS),\
	$(BUILD)/tests/unit/pto_isa/$(call stem,$s)-$p.so))
$(foreach s,$(wildcard tests/unit/pto_isa/*.cpp),$(call device_so,$s,tests/unit/pto_isa/$(call stem,$s),$(pto_isa_FLAGS)))
$(BUILD)/tests/unit/test_device_pto_isa: | $(pto_isa_SOS)
endif
# Documentation/isa.md from a run of the checks
.PHONY: isa-table
isa-table: $(BUILD)/tests/unit/test_device_pto_isa $(pto_isa_SOS)
	$(Q)SIMPLER_BUILD_DIR=$(abspath $(BUILD)) SIMPLER_ISA_TABLE=$(BUILD)/isa.tsv $< > $(BUILD)/isa.log
	$(Q)$(PYTHON) tests/unit/pto_isa/table.py $(BUILD)/isa.tsv > Documentation/isa.md
