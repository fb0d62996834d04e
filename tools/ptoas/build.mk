# SPDX-License-Identifier: MIT
# The .pto assembler: a library (also for the compiler and the tests) and a thin program.
ptoas_SRCS := $(filter-out tools/ptoas/main.c tools/ptoas/pto_build.c,$(wildcard tools/ptoas/*.c))
ptoas_OBJS := $(addsuffix .o,$(addprefix $(BUILD)/obj/,$(ptoas_SRCS)))
PTOAS_A := $(BUILD)/libptoas.a
all_TARGETS += $(PTOAS_A)

$(PTOAS_A): $(ptoas_OBJS) $(BUILD)/obj/libsimpler/src/base/arena.c.o \
	$(BUILD)/obj/libsimpler/src/base/hash.c.o
	@echo '  AR      $@'
	$(Q)rm -f $@ && $(AR) rcs $@ $^
-include $(addsuffix .d,$(ptoas_OBJS))

# Tests of the assembler link its library.
ptoas_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/test_ptoas_*.c tests/conformance/test_pto_isa_text_*.c))
$(ptoas_TESTS): $(PTOAS_A)

bin_TARGETS += $(BUILD)/ptoas
$(BUILD)/ptoas: $(BUILD)/obj/tools/ptoas/main.c.o $(PTOAS_A)
	@echo '  LD      $@'
	$(Q)$(CC) $(CFLAGS) $(C_FLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
-include $(BUILD)/obj/tools/ptoas/main.c.o.d

# pto-build: .pto to a kernel object of a simulated chip (scripts/pto-build finds it)
bin_TARGETS += $(BUILD)/pto-build
$(BUILD)/pto-build: $(BUILD)/obj/tools/ptoas/pto_build.c.o $(PTOAS_A)
	@echo '  LD      $@'
	$(Q)$(CC) $(CFLAGS) $(C_FLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
-include $(BUILD)/obj/tools/ptoas/pto_build.c.o.d
