/* SPDX-License-Identifier: MIT */
/* What instructions work with, by the tables of the assembler: types, memories, scratch (D30). */
#ifndef PYPTO_INSTR_H
#define PYPTO_INSTR_H

#include <stdbool.h>

/* Whether tiles of @elem ("f32") may be operands of @instr ("pto.tadd"); @arch: enum pto_arch. */
bool instr_takes(const char *instr, const char *elem, unsigned int arch);
/* Whether one instruction converts tiles of @from to @to. */
bool instr_converts(const char *from, const char *to, unsigned int arch);
/* Whether it has an operand of scratch memory that must not be left out. */
bool instr_needs_scratch(const char *instr);
/* Whether one moves a tile between the memories ("mat", "left"). */
bool instr_moves(const char *from, const char *to, unsigned int arch);

#endif
