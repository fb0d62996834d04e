# SPDX-License-Identifier: MIT
# tile_bench: built as a kernel is, but as a program.

bench_TARGETS += $(BUILD)/bench/tile_bench
$(BUILD)/bench/tile_bench: tests/bench/tile_bench.cpp $(BUILD)/flags
	@mkdir -p $(@D)
	@echo '  BENCH   $@'
	$(Q)$(CXX) $(filter-out -shared,$(KERNEL_FLAGS)) $(CXXFLAGS) $(DEPFLAGS) -D__NPU_ARCH__=$(NPU_ARCH_a2a3sim) -o $@ $< -ldl
-include $(BUILD)/bench/tile_bench.d
