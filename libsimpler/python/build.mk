# SPDX-License-Identifier: MIT
# The packages and their extension module, which finds libsimpler beside the build folder's python/ or in PREFIX/lib.
python_OBJS := $(patsubst %,$(BUILD)/obj/%.o,$(wildcard libsimpler/python/src/*.c))
python_EXT := $(BUILD)/python/simpler/_task_interface.abi3.so
python_FILES := $(patsubst libsimpler/python/%,$(BUILD)/python/%,\
	$(foreach s,py pyi typed,$(wildcard libsimpler/python/simpler*/*.$s)))
python_TARGETS += $(python_EXT) $(python_FILES)
# where simpler_setup looks for the device headers, as in an installed tree
all_TARGETS += $(BUILD)/include/simpler/device

PY_INCLUDE = $(eval PY_INCLUDE := $$(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))'))$(PY_INCLUDE)
$(python_OBJS): CPPFLAGS += -isystem $(PY_INCLUDE) -DPy_LIMITED_API=0x030b0000 -DPY_SSIZE_T_CLEAN

$(python_EXT): $(python_OBJS) $(BUILD)/libsimpler.so.0
	@mkdir -p $(@D)
	@echo '  LD      $@'
	$(Q)$(CC) $(CFLAGS) $(C_FLAGS) $(LDFLAGS) -shared -Wl,-rpath,'$$ORIGIN/../..:$$ORIGIN/../../..' -o $@ $(python_OBJS) \
		$(BUILD)/libsimpler.so.0

$(python_FILES): $(BUILD)/python/%: libsimpler/python/%
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(BUILD)/include/simpler/device:
	@mkdir -p $(@D)
	$(Q)ln -sfn $(abspath libsimpler/device/include) $@

-include $(addsuffix .d,$(python_OBJS))
