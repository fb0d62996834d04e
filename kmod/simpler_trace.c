// SPDX-License-Identifier: GPL-2.0-only
#define CREATE_TRACE_POINTS
#include "simpler_trace.h"
