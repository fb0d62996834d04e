# SPDX-License-Identifier: GPL-2.0-only
# The driver. Not part of `all`: it needs the headers of a kernel, KDIR.
#   make modules        $(BUILD)/kmod/simpler.ko for KDIR; W=1, C=1 as for any module
#   make install-kmod   through DKMS for the running kernel (or KERNEL=), with udev rule and example
#   make lint-kmod      warnings, sparse and checkpatch are errors (part of `make check` where headers are there)

KDIR ?= $(lastword $(sort $(wildcard /usr/src/linux-headers-6.*-$(shell dpkg --print-architecture 2>/dev/null))))
KMOD_SRCS := $(filter-out kmod/build.mk kmod/Makefile,$(wildcard kmod/*.[ch] kmod/Kbuild kmod/probe-features))
KMOD_UAPI := $(wildcard uapi/*.h)
KMOD_COPY := $(KMOD_SRCS:kmod/%=$(BUILD)/kmod/%) $(KMOD_UAPI:%=$(BUILD)/kmod/%)
KMOD_KO := $(BUILD)/kmod/simpler.ko
KMOD_MAKE = env -u MAKEFLAGS -u MAKEOVERRIDES $(MAKE) -s -j$(JOBS) -C $(KDIR) M=$(abspath $1) $(if $W,W=$W) $(if $C,C=$C) modules

.PHONY: modules install-kmod lint-kmod
modules: $(KMOD_KO)
$(BUILD)/kmod/%: kmod/%
	@mkdir -p $(@D)
	$(Q)cp $< $@
$(BUILD)/kmod/uapi/%: uapi/%
	@mkdir -p $(@D)
	$(Q)cp $< $@
$(KMOD_KO): $(KMOD_COPY)
	$(Q)test -n "$(KDIR)" || { echo "no kernel headers: install linux-headers-6.12-$$(dpkg --print-architecture)," \
		"or say make modules KDIR=..." >&2; exit 1; }
	@echo '  KMOD    $@'
	$(Q)$(call KMOD_MAKE,$(BUILD)/kmod)

ifneq ($(KDIR),)
lint_STEPS += lint-kmod
endif
lint-kmod:
	scripts/check-kmod $(BUILD)/kmod-lint $(KDIR)

KERNEL ?= $(shell uname -r)
DKMS_SRC = $(DESTDIR)/usr/src/simpler-$(VERSION)
install-kmod:
	install -d $(DKMS_SRC)/uapi
	install -m 644 $(KMOD_SRCS) $(DKMS_SRC)
	install -m 644 $(KMOD_UAPI) $(DKMS_SRC)/uapi
	sed 's|@VERSION@|$(VERSION)|' kmod/dkms.conf.in > $(DKMS_SRC)/dkms.conf
	install -m 644 -D kmod/60-simpler.rules $(DESTDIR)/usr/lib/udev/rules.d/60-simpler.rules
	install -m 644 -D kmod/simpler-modprobe.conf $(DESTDIR)/usr/share/doc/simpler/examples/modprobe.d/simpler.conf
	$(if $(DESTDIR),,dkms install --force -m simpler -v $(VERSION) -k $(KERNEL))
