// SPDX-License-Identifier: GPL-2.0-only
#include <linux/array_size.h>
#include <linux/errno.h>
#include <linux/limits.h>

#include "simpler_submit.h"

/* Reserved bits of the seven words of a command, and the flags it may have, by opcode. */
static const struct {
	u8 flags;
	u64 reserved[7];
} forms[] = {
#define ALL	U64_MAX
#define HIGH	0xffffffff00000000ull
	[SIMPLER_HW_OP_NOP]	= { 0, { ALL, ALL, ALL, ALL, ALL, ALL, ALL } },
	[SIMPLER_HW_OP_FENCE]	= { SIMPLER_HW_CMD_IRQ, { 0, 0, ALL, ALL, ALL, ALL, ALL } },
	[SIMPLER_HW_OP_WAIT]	= { 0, { 0, 0, ALL, ALL, ALL, ALL, ALL } },
	[SIMPLER_HW_OP_COPY]	= { 0, { 0, 0, 0, ALL, ALL, ALL, ALL } },
	[SIMPLER_HW_OP_FILL]	= { 0, { 0, 0, 0, HIGH, ALL, ALL, ALL } },
	[SIMPLER_HW_OP_LAUNCH]	= { 0, { 0, 0, ALL, ALL, ALL, ALL, ALL } },
	[SIMPLER_HW_OP_UPLOAD]	= { 0, { 0, 0, 0, HIGH, ALL, ALL, ALL } },
	[SIMPLER_HW_OP_UNLOAD]	= { 0, { HIGH, ALL, ALL, ALL, ALL, ALL, ALL } },
	[SIMPLER_HW_OP_BARRIER]	= { 0, { ALL, ALL, ALL, ALL, ALL, ALL, ALL } },
#undef HIGH
#undef ALL
};

int simpler_check_command(const struct simpler_hw_cmd *command)
{
	unsigned int i;

	if (command->opcode >= ARRAY_SIZE(forms) || command->reserved)
		return -EINVAL;
	if (command->flags & ~(forms[command->opcode].flags | SIMPLER_HW_CMD_ALWAYS))
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(command->words); i++)
		if (command->words[i] & forms[command->opcode].reserved[i])
			return -EINVAL;
	return 0;
}
