/* SPDX-License-Identifier: MIT */
/* Element types, memories and scratch of instructions. */
#include <string.h>

#include "../ptoas/ops.h"
#include "instr.h"

/* 0: the assembler has no such type */
static enum pto_elem elem_of(const char *elem)
{
	int e;

	for (e = PTO_ELEMS - 1; e > 0 && strcmp(pto_elem_info((enum pto_elem)e)->text, elem); e--)
		;
	return (enum pto_elem)e;
}

static uint32_t class_of(const char *elem)
{
	enum pto_elem e = elem_of(elem);

	return e ? 1u << pto_elem_info(e)->class : 0;
}

bool instr_converts(const char *from, const char *to, unsigned int arch)
{
	enum pto_elem a = elem_of(from), b = elem_of(to);

	return a && b && pto_converts(a, b, (enum pto_arch)arch);
}

bool instr_takes(const char *instr, const char *elem, unsigned int arch)
{
	const struct pto_opinfo *info = pto_op_info(pto_op_find(instr, strlen(instr)));
	uint32_t mask = info ? info->types[arch] : 0;

	return !mask || (mask & class_of(elem));
}

bool instr_needs_scratch(const char *instr)
{
	const struct pto_opinfo *info = pto_op_info(pto_op_find(instr, strlen(instr)));
	const char *at = info ? info->sig : "";

	/* "~u": the letter is of one character, and '?' behind it says that it may be left out */
	for (; (at = strchr(at, '~')) != NULL; at += 2)
		if (at[2] != '?')
			return true;
	return false;
}

static enum pto_space space_of(const char *name)
{
	int s;

	for (s = PTO_SPACE_GM; s < PTO_SPACES && strcmp(pto_space_name((enum pto_space)s), name); s++)
		;
	return s < PTO_SPACES ? (enum pto_space)s : PTO_SPACE_NONE;
}

bool instr_moves(const char *from, const char *to, unsigned int arch)
{
	return pto_moves(space_of(from), space_of(to), (enum pto_arch)arch);
}
