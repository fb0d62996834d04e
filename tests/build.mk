# SPDX-License-Identifier: MIT
# Test programs, device code and example programs, all found by wildcard; the rules are told at the top of the Makefile.

TEST_LDLIBS := -lcmocka -lm -lpthread -ldl
obj = $(addsuffix .o,$(addprefix $(BUILD)/obj/,$1))

# Device code. $(call device_rule,source,output,flags), $(call device_so,source,output without -<platform>.so,flags)
define device_rule
device_TARGETS += $2
$2: $1 $$(BUILD)/flags
	@mkdir -p $$(@D)
	@echo '  DEVICE  $2'
	$$(Q)$$(CXX) $3 -Wl,-soname,$$(basename $$(notdir $$<)) $$(CXXFLAGS) $$(DEPFLAGS) -o $$@ $$<
-include $2.d
endef
device_so = $(foreach p,$(PLATFORMS),$(eval $(call device_rule,$1,$(BUILD)/$2-$p.so,$3 -D__NPU_ARCH__=$(NPU_ARCH_$p))))
stem = $(basename $(notdir $1))
core = $(if $(findstring /aic/,$1)$(filter %_aic.cpp,$1),aic,aiv)
program_of = $(word 3,$(subst /, ,$1))

$(foreach s,$(wildcard tests/programs/*/kernels/aic/*.cpp tests/programs/*/kernels/aiv/*.cpp),\
	$(call device_so,$s,programs/$(call program_of,$s)/$(call core,$s)/$(call stem,$s),$(KERNEL_FLAGS) $(KERNEL_$(call core,$s))))
$(foreach s,$(wildcard tests/programs/*/orchestration/*.cpp),\
	$(call device_so,$s,programs/$(call program_of,$s)/orchestration/$(call stem,$s),$(ORCH_FLAGS)))
$(foreach s,$(wildcard tests/conformance/kernels/*.cpp tests/conformance/kernels/ai[cv]/*.cpp),\
	$(call device_so,$s,$(basename $s),$(KERNEL_FLAGS) $(KERNEL_$(call core,$s))))
$(foreach s,$(wildcard tests/conformance/orch/*.cpp),$(call device_so,$s,$(basename $s),$(ORCH_FLAGS)))

# cmocka programs. $(call suite,folder)
define suite
$1_TESTS := $$(patsubst %.c,$(BUILD)/%,$$(wildcard tests/$1/test_*.c))
$1_HELPERS := $$(call obj,$$(filter-out tests/$1/test_%,$$(wildcard tests/$1/*.c)))
$$($1_TESTS): $(BUILD)/%: $(BUILD)/obj/%.c.o $$($1_HELPERS) $$(LIB_A)
	@mkdir -p $$(@D)
	@echo '  LD      $$@'
	$$(Q)$$(CC) $$(CFLAGS) $$(C_FLAGS) $$(LDFLAGS) -o $$@ $$(filter %.o %.a,$$^) $$(TEST_LDLIBS)
-include $$(patsubst $(BUILD)/%,$(BUILD)/obj/%.c.o.d,$$($1_TESTS)) $$(addsuffix .d,$$($1_HELPERS))
endef
$(eval $(call suite,unit))
$(eval $(call suite,conformance))

# Example programs. $(call program,name)
define program
program_TARGETS += $(BUILD)/programs/$1/run
program_$1_OBJS := $(call obj,$(wildcard tests/programs/$1/*.c tests/programs/common/*.c))
$(BUILD)/programs/$1/run: $$(program_$1_OBJS) $$(LIB_A)
	@mkdir -p $$(@D)
	@echo '  LD      $$@'
	$$(Q)$$(CC) $$(CFLAGS) $$(C_FLAGS) $$(LDFLAGS) -o $$@ $$(filter %.o %.a,$$^) -lm -lpthread -ldl
-include $$(addsuffix .d,$$(program_$1_OBJS))
endef
$(foreach m,$(filter-out tests/programs/common/%,$(wildcard tests/programs/*/main.c)),$(eval $(call program,$(call program_of,$m))))

.PHONY: tests
tests: all $(unit_TESTS) $(conformance_TESTS) $(program_TARGETS) $(device_TARGETS)

# Programs that misbehave on purpose, for the self test of scripts/run-tests
$(BUILD)/tests/runner/cases: $(BUILD)/obj/tests/runner/cases.c.o
	@mkdir -p $(@D)
	@echo '  LD      $@'
	$(Q)$(CC) $(CFLAGS) $(C_FLAGS) $(LDFLAGS) -o $@ $< -lcmocka
