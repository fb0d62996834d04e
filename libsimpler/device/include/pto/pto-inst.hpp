/* SPDX-License-Identifier: MIT */
/*
 * The tile instruction set for kernels.  Kernels include this file and use
 * namespace pto.
 *
 * Spec: pto-isa §3, §4, §5.
 */
#ifndef PTO_INST_HPP
#define PTO_INST_HPP

#include "pto/common/acl.hpp"
#include "pto/common/constants.hpp"
#include "pto/common/conv_tile.hpp"
#include "pto/common/event.hpp"
#include "pto/common/fifo.hpp"
#include "pto/common/global_tensor.hpp"
#include "pto/common/pto_tile.hpp"
#include "pto/common/qualifiers.hpp"
#include "pto/common/types.hpp"

#include "pto/cpu/assign.hpp"
#include "pto/cpu/broadcast.hpp"
#include "pto/cpu/compare.hpp"
#include "pto/cpu/conv.hpp"
#include "pto/cpu/convert.hpp"
#include "pto/cpu/elementwise.hpp"
#include "pto/cpu/fixpipe_vector.hpp"
#include "pto/cpu/gather.hpp"
#include "pto/cpu/generate.hpp"
#include "pto/cpu/launch.hpp"
#include "pto/cpu/load_store.hpp"
#include "pto/cpu/matmul.hpp"
#include "pto/cpu/matmul_mx.hpp"
#include "pto/cpu/memory_gather.hpp"
#include "pto/cpu/move.hpp"
#include "pto/cpu/partial.hpp"
#include "pto/cpu/pipe.hpp"
#include "pto/cpu/quant.hpp"
#include "pto/cpu/rearrange.hpp"
#include "pto/cpu/reduce.hpp"
#include "pto/cpu/reduce_cols.hpp"
#include "pto/cpu/sort.hpp"
#include "pto/cpu/transpose_pad.hpp"

#include "pto/comm/pto_comm_inst.hpp"

#endif
