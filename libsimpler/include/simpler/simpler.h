/* SPDX-License-Identifier: MIT */
/* All of the public API. */
#ifndef SIMPLER_SIMPLER_H
#define SIMPLER_SIMPLER_H

#include "simpler/buffer.h"
#include "simpler/call_config.h"
#include "simpler/callable.h"
#include "simpler/dtype.h"
#include "simpler/error.h"
#include "simpler/log.h"
#include "simpler/rts.h"
#include "simpler/task_args.h"
#include "simpler/tensor.h"
#include "simpler/wait.h"
#include "simpler/worker.h"

#endif /* SIMPLER_SIMPLER_H */
