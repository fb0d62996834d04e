# SPDX-License-Identifier: MIT
# The PyPTO compiler: a library, the extension module pypto._core and the package around it. Needs msgpack-c
# (scripts/setup.sh); without it nothing of this is built.
MSGPACK_LIBS := $(shell pkg-config --libs msgpack-c 2>/dev/null || pkg-config --libs msgpack 2>/dev/null)
ifneq ($(MSGPACK_LIBS),)
pypto_OBJS := $(patsubst %,$(BUILD)/obj/%.o,$(wildcard tools/pypto/*.c))
pypto_module_OBJS := $(patsubst %,$(BUILD)/obj/%.o,$(wildcard tools/pypto/module/*.c))
PYPTO_A := $(BUILD)/libpypto.a
pypto_EXT := $(BUILD)/python/pypto/_core.abi3.so
pypto_FILES := $(patsubst tools/pypto/python/%,$(BUILD)/python/%,\
	$(foreach s,py pyi typed,$(wildcard tools/pypto/python/pypto/*.$s)))
all_TARGETS += $(PYPTO_A)
pypto_PYI := $(BUILD)/python/pypto/language.pyi
python_TARGETS += $(pypto_EXT) $(pypto_FILES) $(pypto_PYI)

$(PYPTO_A): $(pypto_OBJS)
	@echo '  AR      $@'
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(pypto_module_OBJS): CPPFLAGS += -isystem $(PY_INCLUDE) -DPy_LIMITED_API=0x030b0000 -DPY_SSIZE_T_CLEAN

$(pypto_EXT): $(pypto_module_OBJS) $(PYPTO_A) $(PTOAS_A) $(BUILD)/libsimpler.a
	@mkdir -p $(@D)
	@echo '  LD      $@'
	$(Q)$(CC) $(CFLAGS) $(C_FLAGS) $(LDFLAGS) -shared -o $@ $^ $(MSGPACK_LIBS) -lm $(LDLIBS)

$(pypto_FILES): $(BUILD)/python/%: tools/pypto/python/%
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(pypto_PYI): tools/pypto/describe.py $(pypto_EXT) $(pypto_FILES)
	$(Q)PYTHONPATH=$(BUILD)/python $(PYTHON) $< stubs $@

# Tests of the core link it. One of them has an allocator that fails on request.
pypto_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/test_pypto_*.c))
$(pypto_TESTS): $(PYPTO_A) $(PTOAS_A)
$(BUILD)/tests/unit/test_pypto_memory: private LDFLAGS += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc

# Every program of tests/programs/pypto with both back ends on both platforms
.PHONY: check-pypto do-check-pypto
check-pypto: setup
	+$(Q)$(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS)) do-$@
do-check-pypto: all
	$(Q)SIMPLER_PYPTO_PROGRAMS=all scripts/run-tests build=$(BUILD) deadline=3600 \
		$(addprefix pytest=,$(wildcard tests/python/test_pypto_programs*.py))

# pyptoc: the command, for this build and as installed
bin_TARGETS += $(BUILD)/pyptoc
$(BUILD)/pyptoc: tools/pypto/pyptoc
	@mkdir -p $(@D)
	$(Q)cp $< $@

-include $(addsuffix .d,$(pypto_OBJS) $(pypto_module_OBJS))
endif
