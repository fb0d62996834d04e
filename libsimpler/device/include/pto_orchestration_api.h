/* SPDX-License-Identifier: MIT */
/*
 * What orchestrations are compiled against.  An orchestration object exports
 *
 *	extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs &args);
 *	extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args);
 *
 * or, in the older API,
 *
 *	extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(uint64_t *args, int n);
 *	extern "C" void aicpu_orchestration_entry(PTO2Runtime *rt, uint64_t *args, int n);
 *
 * It reaches the runtime through a function table only.  Nothing here is safe
 * for use by two threads at once; tensors, arguments and results are valid in
 * the run that made them.
 *
 * Spec: chip-runtime §6 to §8, decisions D2, D18 to D23.
 */
#ifndef PTO_ORCHESTRATION_API_H
#define PTO_ORCHESTRATION_API_H

#include "orchestration/types.h"
#include "orchestration/runtime.h"
#include "orchestration/log.h"
#include "orchestration/scope.h"
#include "orchestration/dims.h"
#include "orchestration/tensor_make.h"
#include "orchestration/tensor_view.h"
#include "orchestration/element.h"
#include "orchestration/cluster.h"
#include "orchestration/args.h"
#include "orchestration/submit.h"
#include "orchestration/graph.h"
#include "orchestration/params.h"
#include "orchestration/submit_older.h"

#if defined(__GNUC__)
/* PTO2OrchestrationConfig{.expected_arg_count = n} leaves the unused fields out. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
/* The loader looks up what the source defines from here on by name. */
#pragma GCC visibility push(default)
#endif
#if defined(__clang__)
/* Generated conditions have a second pair of parentheses. */
#pragma clang diagnostic ignored "-Wparentheses-equality"
#endif

#endif /* PTO_ORCHESTRATION_API_H */
