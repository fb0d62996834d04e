/* SPDX-License-Identifier: MIT */
/* Ring sizes and dependence mode from the environment (chip-runtime §11.1, decisions D1). */
#ifndef SIMPLER_WORKER_CALL_CONFIG_H
#define SIMPLER_WORKER_CALL_CONFIG_H

#include <stdbool.h>

#include "simpler/call_config.h"

/* What holds when a CallConfig leaves a value unset; zero entries: the chip's defaults. */
struct config_defaults {
	struct simpler_runtime_env env;
	uint32_t deps;			/* enum simpler_deps, never DEFAULT */
};

/** config_defaults_read - from the environment; bad values are reported and ignored */
void config_defaults_read(struct config_defaults *d);

/** config_runtime_env_check - the ring rules; SIMPLER_ERR_CONFIG_RING */
int config_runtime_env_check(const struct simpler_runtime_env *env, struct simpler_error *error);

/** config_diagnostics - SIMPLER_HW_DIAG_* bits that a valid configuration asks for */
uint32_t config_diagnostics(const struct simpler_call_config *c);

#endif /* SIMPLER_WORKER_CALL_CONFIG_H */
