# SPDX-License-Identifier: MIT
# ptoas_bench: the assembler's library and a text generator.

bench_TARGETS += $(BUILD)/bench/ptoas_bench
$(BUILD)/bench/ptoas_bench: $(BUILD)/obj/tests/bench/ptoas_bench.c.o $(PTOAS_A)
	@mkdir -p $(@D)
	@echo '  LD      $@'
	$(Q)$(CC) $(CFLAGS) $(C_FLAGS) $(LDFLAGS) -o $@ $^
-include $(BUILD)/obj/tests/bench/ptoas_bench.c.o.d
