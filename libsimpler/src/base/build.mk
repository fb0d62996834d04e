# SPDX-License-Identifier: MIT
libsimpler_SRCS += $(wildcard libsimpler/src/base/*.c) $(wildcard libsimpler/src/base/*.S)
