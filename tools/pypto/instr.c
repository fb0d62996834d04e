/* SPDX-License-Identifier: MIT */
/* Element types of instructions. */
#include <string.h>

#include "../ptoas/ops.h"
#include "instr.h"

static uint32_t class_of(const char *elem)
{
	int e;

	for (e = 1; e < PTO_ELEMS; e++)
		if (!strcmp(pto_elem_info((enum pto_elem)e)->text, elem))
			return 1u << pto_elem_info((enum pto_elem)e)->class;
	return 0;
}

bool instr_takes(const char *instr, const char *elem, unsigned int arch)
{
	const struct pto_opinfo *info = pto_op_info(pto_op_find(instr, strlen(instr)));
	uint32_t mask = info ? info->types[arch] : 0;

	return !mask || (mask & class_of(elem));
}
