# SPDX-License-Identifier: MIT
# Benchmarks: one program per contender, all built below $(BUILD)/bench, and run.py, which runs them and makes the table.
# A peer whose library is missing is left out; run.py says so.

BENCH_ROUNDS ?= 10
BENCH_REPS ?= 3
bench_C := $(addprefix $(BUILD)/bench/,simpler_graphs simpler_worker)
STARPU := $(shell for v in 1.4 1.3; do pkg-config --exists starpu-$$v && echo starpu-$$v && break; done)
HAS_TBB := $(shell pkg-config --exists tbb && echo yes)
HAS_GCC := $(shell command -v gcc)
bench_TARGETS := $(bench_C) $(if $(HAS_GCC),$(BUILD)/bench/peer_libgomp) \
	$(if $(HAS_TBB),$(BUILD)/bench/peer_tbb_flow $(BUILD)/bench/peer_tbb_group) \
	$(if $(STARPU),$(BUILD)/bench/peer_starpu)

$(foreach s,$(wildcard tests/bench/kernels/*.cpp),\
	$(call device_so,$s,bench/kernels/$(call stem,$s),$(KERNEL_FLAGS) $(KERNEL_aiv)))
$(foreach s,$(wildcard tests/bench/orchestration/*.cpp),\
	$(call device_so,$s,bench/orchestration/$(call stem,$s),$(ORCH_FLAGS)))
bench_DEVICE := $(filter $(BUILD)/bench/%-a2a3sim.so,$(device_TARGETS))

$(bench_C): $(BUILD)/bench/%: $(call obj,$(addprefix tests/bench/,bench.c session.c)) $(BUILD)/obj/tests/bench/%.c.o $(LIB_A)
	@mkdir -p $(@D)
	@echo '  LD      $@'
	$(Q)$(CC) $(CFLAGS) $(C_FLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -lpthread -ldl

# Peers get what their users get: an optimising build without our hardening or sanitizers.
bench_PEER = $(DEPFLAGS) -O2 -g $(WARN) -Itests/bench -o $@ $< $(filter %bench.c.o,$^)
$(filter $(BUILD)/bench/peer_%,$(bench_TARGETS)): $(call obj,tests/bench/bench.c)
$(BUILD)/bench/peer_libgomp: tests/bench/peer_libgomp.c
	@mkdir -p $(@D)
	@echo '  PEER    $@'
	$(Q)gcc -std=gnu11 -fopenmp $(bench_PEER)
$(BUILD)/bench/peer_starpu: tests/bench/peer_starpu.c
	@mkdir -p $(@D)
	@echo '  PEER    $@'
	$(Q)$(CC) -std=gnu11 $(bench_PEER) $(shell pkg-config --cflags --libs $(STARPU))
$(BUILD)/bench/peer_tbb_flow $(BUILD)/bench/peer_tbb_group: $(BUILD)/bench/%: tests/bench/%.cpp
	@mkdir -p $(@D)
	@echo '  PEER    $@'
	$(Q)$(CXX) -std=gnu++17 $(bench_PEER) $(shell pkg-config --cflags --libs tbb)
-include $(addsuffix .d,$(filter $(BUILD)/bench/peer_%,$(bench_TARGETS))) \
	$(patsubst $(BUILD)/%,$(BUILD)/obj/tests/%.c.o.d,$(bench_C)) $(BUILD)/obj/tests/bench/bench.c.o.d $(BUILD)/obj/tests/bench/session.c.o.d

# Tile instructions, measured by a program of their own that prints one JSON row per line.
-include tests/bench/tile_bench.mk
# The assembler, likewise.
-include tests/bench/ptoas_bench.mk

.PHONY: bench-run bench-build
bench-build: $(bench_TARGETS) $(bench_DEVICE)
bench-run: bench-build
	$(Q)PYTHONPATH=$(abspath $(BUILD))/python SIMPLER_BUILD_DIR=$(abspath $(BUILD)) $(PYTHON) tests/bench/run.py \
		--build $(BUILD) --rounds $(BENCH_ROUNDS) --reps $(BENCH_REPS)
