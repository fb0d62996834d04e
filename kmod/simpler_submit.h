/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIMPLER_SUBMIT_H
#define SIMPLER_SUBMIT_H

#include "simpler_hw.h"

#define SIMPLER_MAX_COMMANDS	4096u
#define SIMPLER_MAX_SYNCS	256u

/**
 * simpler_check_command - form of a command: opcode, flags, reserved members
 * @command: the driver's copy
 *
 * Addresses and sizes are the device's business: a bad one faults its context.
 *
 * Return: 0 or -EINVAL.
 */
int simpler_check_command(const struct simpler_hw_cmd *command);

#endif /* SIMPLER_SUBMIT_H */
