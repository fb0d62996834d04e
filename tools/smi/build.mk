# SPDX-License-Identifier: MIT
# simpler-smi: chips, their users and events. Needs libnl and libkmod (scripts/setup.sh); without them it is not built.
SMI := $(BUILD)/bin/simpler-smi
SMI_OBJS := $(addsuffix .o,$(addprefix $(BUILD)/obj/,$(wildcard tools/smi/*.c)))
SMI_PACKAGES := libnl-genl-3.0 libkmod
ifeq ($(shell pkg-config --exists $(SMI_PACKAGES) && echo yes),yes)
bin_TARGETS += $(SMI)
endif
$(SMI_OBJS): CPPFLAGS += $(patsubst -I%,-isystem %,$(shell pkg-config --cflags $(SMI_PACKAGES) 2>/dev/null))
$(SMI): $(SMI_OBJS)
	@mkdir -p $(@D)
	@echo '  LD      $@'
	$(Q)$(CC) $(CFLAGS) $(C_FLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(shell pkg-config --libs $(SMI_PACKAGES)) -lm
-include $(addsuffix .d,$(SMI_OBJS))
