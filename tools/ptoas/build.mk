# SPDX-License-Identifier: MIT
# The .pto assembler: a library (also for the compiler and the tests) and a thin program.
ptoas_SRCS := $(filter-out tools/ptoas/main.c,$(wildcard tools/ptoas/*.c))
ptoas_OBJS := $(addsuffix .o,$(addprefix $(BUILD)/obj/,$(ptoas_SRCS)))
PTOAS_A := $(BUILD)/libptoas.a
all_TARGETS += $(PTOAS_A)

$(PTOAS_A): $(ptoas_OBJS)
	@echo '  AR      $@'
	$(Q)rm -f $@ && $(AR) rcs $@ $^
-include $(addsuffix .d,$(ptoas_OBJS))
