/* SPDX-License-Identifier: MIT */
/* Which element types an instruction computes with: the assembler's table (decisions.md D30). */
#ifndef PYPTO_INSTR_H
#define PYPTO_INSTR_H

#include <stdbool.h>

/* Whether tiles of @elem ("f32") may be operands of @instr ("pto.tadd"); @arch: enum pto_arch. */
bool instr_takes(const char *instr, const char *elem, unsigned int arch);
/* Whether one instruction converts tiles of @from to @to. */
bool instr_converts(const char *from, const char *to, unsigned int arch);

#endif
