# SPDX-License-Identifier: MIT
libsimpler_SRCS += $(wildcard libsimpler/src/worker/*.c)
