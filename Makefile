# SPDX-License-Identifier: MIT
#
# simpler: one non-recursive Makefile. Conventions for parts:
#
#  Parts      A folder brings its own build.mk (uapi/, libsimpler/src/*/, libsimpler/python/, tools/*/, tests/*/). All paths
#             are relative to the top; output goes only below $(BUILD). A build.mk may append to
#               libsimpler_SRCS   .c and .S files of the library, e.g. $(wildcard libsimpler/src/base/*.c)
#               all_TARGETS       files that `make` builds
#               python_TARGETS    files below $(BUILD)/python (the PYTHONPATH of the tests)
#               bin_TARGETS       programs, also installed to $(PREFIX)/bin
#               lint_STEPS        names of extra `make` targets that `make check` runs and counts as tests
#               full_NEEDS, full_ITEMS   what only `make check` builds, and items of scripts/run-tests that it runs last
#             Objects: $(BUILD)/obj/<path>.o, by the pattern rules below; link with $(CC) $(CFLAGS) $(LDFLAGS) ... $(LDLIBS).
#  Includes   "base/log.h", "chip/...", "model/...", "simpler/worker.h", "simpler_hw.h". Arrows: scripts/check-includes.
#  Symbols    Everything is hidden. A public function is declared with visibility "default" and named simpler_*;
#             libsimpler/abi/libsimpler.symbols lists them (`make abi-update` rewrites it).
#  Tests      tests/{unit,conformance}/test_x.c: one cmocka program each, $(BUILD)/tests/<folder>/test_x, linked with
#             libsimpler.a (internals are reachable). Other .c files of the folder are linked into each of them.
#             tests/python/test_*.py: pytest with PYTHONPATH=$(BUILD)/python. All get SIMPLER_BUILD_DIR (absolute).
#  Device     tests/programs/<n>/kernels/{aic,aiv}/x.cpp -> $(BUILD)/programs/<n>/{aic,aiv}/x-<platform>.so
#             tests/programs/<n>/orchestration/x.cpp     -> $(BUILD)/programs/<n>/orchestration/x-<platform>.so
#             tests/conformance/{orch,kernels,kernels/aic,kernels/aiv}/x.cpp -> $(BUILD)/tests/conformance/<same>/x-<platform>.so
#             (a kernel right in kernels/ is a vector kernel, unless its name ends in _aic). <platform>: a2a3sim, a5sim.
#  Programs   tests/programs/<n>/*.c with a main.c, and tests/programs/common/*.c -> $(BUILD)/programs/<n>/run; `make check`
#             runs it with --platform P and SIMPLER_ENGINE_THREADS=1, 2, 8: exit status 0 passes, 77 skips.
#  Variants   SANITIZE=address|thread with its own BUILD; `make check-asan`, `make check-tsan` do that.
#
# Commands: all run check check-quick check-asan check-tsan bench install lint abi-update clean

BUILD ?= build
PREFIX ?= /usr/local
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := g++
endif
MAKEFLAGS += -r
PYTHON ?= /usr/bin/python3
JOBS ?= $(shell nproc)
Q ?= @
PLATFORMS := a2a3sim a5sim

INCLUDES := -Iuapi -Ilibsimpler/include -Ilibsimpler/src -Ilibsimpler/device/include
SANITIZE_address := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SANITIZE_thread := -fsanitize=thread -fno-omit-frame-pointer
# kernels that are loaded later are to find the sanitizer's version of these, which knows what they order
ifeq ($(SANITIZE),thread)
LDFLAGS += -Wl,--export-dynamic-symbol=__cxa_guard_acquire,--export-dynamic-symbol=__cxa_guard_release
endif
SANFLAGS := $(if $(SANITIZE),$(or $(SANITIZE_$(SANITIZE)),$(error SANITIZE is address or thread, not $(SANITIZE))))
WARN := -Wall -Wextra -Werror
CFLAGS ?= -O2 -g
# += would change nothing if CFLAGS came from the command line, which is why the required flags have their own name
C_FLAGS := -std=gnu11 -fPIC -fvisibility=hidden $(WARN) $(INCLUDES) $(SANFLAGS)
DEPFLAGS = -MMD -MP -MF $@.d -MT $@
LDLIBS += -lpthread -ldl

HAS_V3 := $(shell uname -m | grep -q x86_64 && grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo && echo yes)
KERNEL_MARCH ?= $(if $(HAS_V3),x86-64-v3)
DEVICE_FLAGS := -shared -Wl,--build-id=sha1 -fPIC -O2 -g1 -fvisibility=hidden $(WARN) -Ilibsimpler/device/include $(SANFLAGS) \
	$(if $(findstring clang,$(CXX)),,-fno-gnu-unique)
KERNEL_FLAGS := $(DEVICE_FLAGS) -std=gnu++20 $(addprefix -march=,$(KERNEL_MARCH)) -D__CPU_SIM
ORCH_FLAGS := $(DEVICE_FLAGS) -std=gnu++17
KERNEL_aic := -D__DAV_CUBE__
KERNEL_aiv := -D__DAV_VEC__
NPU_ARCH_a2a3sim := 2201
NPU_ARCH_a5sim := 3510

.PHONY: all FORCE
.DELETE_ON_ERROR:
.SECONDARY:
all:

libsimpler_SRCS :=
include $(wildcard uapi/build.mk kmod/build.mk libsimpler/src/*/build.mk libsimpler/python/build.mk tools/*/build.mk)
libsimpler_OBJS := $(addsuffix .o,$(addprefix $(BUILD)/obj/,$(libsimpler_SRCS)))
LIB_A := $(BUILD)/libsimpler.a
LIB_SO := $(BUILD)/libsimpler.so.0
include tests/build.mk $(wildcard tests/*/build.mk)

all: $(if $(libsimpler_SRCS),$(LIB_A) $(LIB_SO) $(BUILD)/libsimpler.so) $(all_TARGETS) $(bin_TARGETS) \
	$(if $(SANITIZE),,$(python_TARGETS))

# Rebuilt when the compiler, the flags or the list of sources change.
STAMP := $(BUILD)/flags
$(STAMP): FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(CXX) $(CFLAGS) $(C_FLAGS) $(KERNEL_FLAGS) $(CXXFLAGS) $(LDFLAGS)' | cmp -s - $@ || \
	 echo '$(CC) $(CXX) $(CFLAGS) $(C_FLAGS) $(KERNEL_FLAGS) $(CXXFLAGS) $(LDFLAGS)' > $@
$(BUILD)/libsimpler.list: FORCE
	@mkdir -p $(@D)
	@echo '$(libsimpler_SRCS)' | cmp -s - $@ || echo '$(libsimpler_SRCS)' > $@

$(BUILD)/obj/%.c.o: %.c $(STAMP)
	@mkdir -p $(@D)
	@echo '  CC      $<'
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(C_FLAGS) $(DEPFLAGS) -c -o $@ $<
$(BUILD)/obj/%.S.o: %.S $(STAMP)
	@mkdir -p $(@D)
	@echo '  AS      $<'
	$(Q)$(CC) $(CPPFLAGS) -g -fPIC $(INCLUDES) $(DEPFLAGS) -c -o $@ $<

$(LIB_A): $(libsimpler_OBJS) $(BUILD)/libsimpler.list
	@echo '  AR      $@'
	$(Q)rm -f $@ && $(AR) rcs $@ $(libsimpler_OBJS)
$(LIB_SO): $(libsimpler_OBJS) $(BUILD)/libsimpler.list libsimpler/libsimpler.map
	@echo '  LD      $@'
	$(Q)$(CC) $(CFLAGS) $(C_FLAGS) $(LDFLAGS) -shared -Wl,-soname,libsimpler.so.0 -Wl,--version-script=libsimpler/libsimpler.map \
		$(if $(SANITIZE),,-Wl,-z,defs) -o $@ $(libsimpler_OBJS) $(LDLIBS)
$(BUILD)/libsimpler.so: $(LIB_SO)
	$(Q)ln -sf libsimpler.so.0 $@

# Checks that are not programs of their own; each counts as a test.
LIST := libsimpler/abi/libsimpler.symbols
lint_STEPS += lint-includes lint-spdx lint-size lint-headers lint-abi lint-clang lint-runner
.PHONY: $(lint_STEPS) lint abi-update
lint-includes lint-spdx lint-size: lint-%:
	scripts/check-$*
lint-headers:
	scripts/check-headers gcc g++
	scripts/check-headers clang clang++
lint-abi: $(LIB_SO)
	scripts/check-abi $(LIB_SO) $(LIST)
lint-clang:
	$(MAKE) BUILD=$(BUILD)/clang CC=clang CXX=clang++ tests
lint-runner: $(BUILD)/tests/runner/cases
	scripts/test-run-tests $<
lint: $(lint_STEPS)
abi-update: $(LIB_SO)
	scripts/check-abi $(LIB_SO) $(LIST) --update

# Commands. Each installs what is missing, then builds in parallel.
CHECK_VARIANTS ?=# of asan tsan: what `make check` runs besides the plain build
COMMANDS := run check check-quick check-asan check-tsan bench
.PHONY: setup clean $(COMMANDS) $(COMMANDS:%=do-%) variant-asan variant-tsan
setup:
	$(Q)scripts/setup.sh
$(COMMANDS): setup
	+$(Q)$(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS)) do-$@

do-run: all $(filter $(BUILD)/programs/paged_attention/run $(BUILD)/programs/paged_attention/%-a2a3sim.so,$(device_TARGETS) $(program_TARGETS))
	PYTHONPATH=$(abspath $(BUILD))/python SIMPLER_CACHE_DIR=$(abspath $(BUILD))/cache $(PYTHON) tests/programs/run_pypto.py \
		paged_attention --platform a2a3sim
	$(BUILD)/programs/paged_attention/run --platform a2a3sim --report
do-bench: all bench-run
variant-asan:
	$(Q)$(MAKE) BUILD=$(BUILD)/asan SANITIZE=address CC=gcc CXX=g++ tests
variant-tsan:
	$(Q)$(MAKE) BUILD=$(BUILD)/tsan SANITIZE=thread CC=clang CXX=clang++ tests

# Items for scripts/run-tests: the programs of build folder $1 but $2, all of a plain build, those of a variant
native_items = build=$1 $(patsubst $(BUILD)/%,cmocka=$1/%,$(filter-out $2,$(unit_TESTS) $(conformance_TESTS))) \
	$(patsubst $(BUILD)/%,program=$1/%,$(program_TARGETS))
quick_items = $(call native_items,$(BUILD)) $(addprefix pytest=,$(wildcard tests/python/test_*.py))
variant_items = deadline=600 $(call native_items,$(BUILD)/$1,$($1_LEAVES_OUT))
do-check-quick: tests
	$(Q)scripts/run-tests $(quick_items)
do-check-asan do-check-tsan: do-check-%: variant-%
	$(Q)scripts/run-tests $(call variant_items,$*)
# gcc and clang leave different things undefined, so the conformance tests run with both
clang_items = deadline=300 build=$(BUILD)/clang $(patsubst $(BUILD)/%,cmocka=$(BUILD)/clang/%,$(conformance_TESTS))
do-check: tests lint-clang $(full_NEEDS) $(CHECK_VARIANTS:%=variant-%)
	$(Q)scripts/run-tests build=$(BUILD) deadline=1800 $(addprefix step=,$(lint_STEPS)) deadline=900 $(quick_items) \
		$(clang_items) $(foreach v,$(CHECK_VARIANTS),$(call variant_items,$v)) $(full_ITEMS)

clean:
	rm -rf $(BUILD)

VERSION := 0.1.0
PYTHON_DIR ?= $(PREFIX)/lib/$(if $(filter /usr,$(PREFIX)),python3,$(notdir $(realpath $(PYTHON))))/dist-packages
INSTALL_FILES = install -m 644 -D -t $(DESTDIR)$(PREFIX)
.PHONY: install
install: all
	$(INSTALL_FILES)/include/simpler $(wildcard libsimpler/include/simpler/*.h)
	$(INSTALL_FILES)/include/simpler/uapi $(wildcard uapi/*.h)
	cd libsimpler/device/include && find . -type f -name '*.h*' -exec install -m 644 -D {} \
		$(abspath $(DESTDIR)$(PREFIX))/include/simpler/device/{} \;
	$(INSTALL_FILES)/lib $(LIB_A) $(LIB_SO)
	ln -sf libsimpler.so.0 $(DESTDIR)$(PREFIX)/lib/libsimpler.so
	install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' libsimpler/libsimpler.pc.in > $(DESTDIR)$(PREFIX)/lib/pkgconfig/libsimpler.pc
	$(foreach n,$(sort $(subst .,,$(suffix $(wildcard Documentation/man/*.[1-9])))),\
		$(INSTALL_FILES)/share/man/man$n $(wildcard Documentation/man/*.$n) &&) true
	$(if $(bin_TARGETS),install -m 755 -D -t $(DESTDIR)$(PREFIX)/bin $(bin_TARGETS))
	$(if $(python_TARGETS),cd $(BUILD)/python && find . -type f ! -name '*.d' ! -name '*.pyc' -exec install -m 644 -D {} \
		$(abspath $(DESTDIR)$(PYTHON_DIR))/{} \;)

-include $(addsuffix .d,$(libsimpler_OBJS))
