# SPDX-License-Identifier: MIT
# simpler-vnpu: the device model as a PCI function of a virtual machine.
VNPU := $(BUILD)/bin/simpler-vnpu
VNPU_OBJS := $(addsuffix .o,$(addprefix $(BUILD)/obj/,$(wildcard tools/vnpu/*.c)))
bin_TARGETS += $(VNPU)
$(VNPU): $(VNPU_OBJS) $(BUILD)/libsimpler.a
	@mkdir -p $(@D)
	@echo '  LD      $@'
	$(Q)$(CC) $(CFLAGS) $(C_FLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -lm -lpthread -ldl
-include $(addsuffix .d,$(VNPU_OBJS))
