# SPDX-License-Identifier: MIT
# Fuzzers: `make fuzz FUZZ_SECONDS=n` runs each of them for n seconds with clang's libFuzzer, ASan and UBSan. A finding is kept
# in $(BUILD)/fuzz/<name>.artifacts, what was learnt in $(BUILD)/fuzz/<name>.corpus.
FUZZ_SECONDS ?= 60
fuzz_NAMES := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
fuzz_FLAGS := -std=gnu11 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
	$(WARN) -DSIMPLER_FUZZ $(INCLUDES)

# What each fuzzer is linked from, besides itself, and what must be built before it runs
fuzz_callable_SRCS := libsimpler/src/base/error.c \
	$(addprefix libsimpler/src/chip/,callable_bytes.c elf_check.c elf_symbols.c elf_relocs.c)
fuzz_callable_FLAGS := -Itests/unit
fuzz_callable_NEEDS := $(foreach s,$(wildcard tests/unit/callable_src/*.c tests/unit/callable_src/*.cpp),\
	$(BUILD)/tests/unit/callable/$(call stem,$s).so)
fuzz_ptoas_SRCS := $(ptoas_SRCS) $(addprefix libsimpler/src/base/,arena.c hash.c)
fuzz_ptoas_ARGS := -dict=$(BUILD)/fuzz/ptoas.dict -max_len=8192 $(wildcard tests/fuzz/seeds/ptoas) $(wildcard tests/conformance/pto)
fuzz_ptoas_NEEDS := $(BUILD)/fuzz/ptoas.dict
fuzz_serial_SRCS := $(filter-out tools/pypto/interp%,$(wildcard tools/pypto/*.c)) $(fuzz_ptoas_SRCS)
fuzz_serial_ARGS := -max_len=100000 $(BUILD)/fuzz/serial.seeds
fuzz_serial_NEEDS := $(BUILD)/fuzz/serial.seeds/.done

# $(call fuzzer,name)
define fuzzer
$(BUILD)/fuzz/$1: tests/fuzz/fuzz_$1.c $$(fuzz_$1_SRCS) $$(BUILD)/flags tests/fuzz/build.mk
	@mkdir -p $$(@D)
	@echo '  FUZZ    $$@'
	$$(Q)clang $$(fuzz_FLAGS) $$(fuzz_$1_FLAGS) -MMD -MF $$@.d -o $$@ tests/fuzz/fuzz_$1.c $$(fuzz_$1_SRCS) -lm -ldl -lpthread
-include $(BUILD)/fuzz/$1.d
.PHONY: fuzz-$1
fuzz-$1: $(BUILD)/fuzz/$1 $$(fuzz_$1_NEEDS)
	@mkdir -p $(BUILD)/fuzz/$1.corpus $(BUILD)/fuzz/$1.artifacts
	$$(Q)SIMPLER_BUILD_DIR=$$(abspath $(BUILD)) $(BUILD)/fuzz/$1 -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=2048 \
		-artifact_prefix=$(BUILD)/fuzz/$1.artifacts/ -print_final_stats=1 $(BUILD)/fuzz/$1.corpus $$(fuzz_$1_ARGS)
endef
$(foreach n,$(fuzz_NAMES),$(eval $(call fuzzer,$n)))

# Words of the dialect: the strings of its tables
$(BUILD)/fuzz/ptoas.dict: tools/ptoas/ops.def tools/ptoas/attrs.def tools/ptoas/elems.def
	@mkdir -p $(@D)
	$(Q)grep -oh '"[a-zA-Z_.0-9]\+"' $^ | sort -u > $@

$(BUILD)/fuzz/serial.seeds/.done: tests/fuzz/pypto_seeds.py tests/fuzz/pypto_random.py | all
	$(Q)PYTHONPATH=$(BUILD)/python $(PYTHON) $< $(@D) && touch $@

# Random PyPTO programs through the interpreter, before and after every pass, and some of them on the simulated chips; then
# the kernels of as many, from both back ends, compiled and executed, on all processors; then functions on tensors likewise,
# and some of them on the simulated chips
FUZZ_PROGRAMS ?= 20000
FUZZ_CHIP ?= 20
FUZZ_FUNCTIONS ?= 400
.PHONY: fuzz-pypto
fuzz-pypto: all
	$(Q)SIMPLER_CACHE_DIR=$(abspath $(BUILD))/cache PYTHONPATH=$(BUILD)/python $(PYTHON) tests/fuzz/pypto_random.py --count $(FUZZ_PROGRAMS) \
		--chip $(FUZZ_CHIP)
	$(Q)PYTHONPATH=$(BUILD)/python $(PYTHON) tests/fuzz/pypto_executed.py --count $(FUZZ_PROGRAMS)
	$(Q)PYTHONPATH=$(BUILD)/python $(PYTHON) tests/fuzz/pypto_random_tensors.py --count $(FUZZ_PROGRAMS)
	$(Q)SIMPLER_BUILD_DIR=$(abspath $(BUILD)) PYTHONPATH=$(BUILD)/python $(PYTHON) tests/fuzz/pypto_chip.py --count $(FUZZ_FUNCTIONS)

.PHONY: fuzz fuzz-build do-fuzz
fuzz-build: $(fuzz_NAMES:%=$(BUILD)/fuzz/%)
# One after the other: each wants a processor for itself.
do-fuzz: fuzz-build
	+$(Q)for n in $(fuzz_NAMES) pypto; do $(MAKE) --no-print-directory fuzz-$$n || exit 1; done
fuzz: setup
	+$(Q)$(MAKE) --no-print-directory do-fuzz
