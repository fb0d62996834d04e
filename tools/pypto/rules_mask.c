/* SPDX-License-Identifier: MIT */
/* Which operators take masks, tiles and tensors of BOOL, as operands. */
#include <string.h>

#include "rules.h"

enum takes {
	TAKES_NUMBERS,	/* no masks */
	TAKES_MASKS,
	TAKES_BESIDE,	/* a mask counts 0 and 1 where another operand is of numbers */
};

static enum takes takes_of(const struct px_op *op)
{
	static const struct { const char *name; uint8_t takes; } tile[] = {
		{ "add", TAKES_BESIDE }, { "sub", TAKES_BESIDE }, { "div", TAKES_BESIDE },
		{ "rem", TAKES_BESIDE }, { "addc", TAKES_BESIDE }, { "subc", TAKES_BESIDE },
		{ "mul", TAKES_MASKS }, { "maximum", TAKES_MASKS }, { "minimum", TAKES_MASKS },
		{ "and", TAKES_MASKS }, { "or", TAKES_MASKS }, { "xor", TAKES_MASKS },
		{ "not", TAKES_MASKS }, { "sel", TAKES_MASKS }, { "selc", TAKES_MASKS },
		{ "sels", TAKES_MASKS }, { "cmp", TAKES_MASKS }, { "cast", TAKES_MASKS },
		{ "expands", TAKES_MASKS }, { "store", TAKES_MASKS }, { "vec_move", TAKES_MASKS },
	};
	static const char *const tensor[] = {
		"load", "view", "reshape", "transpose", "read", "dim", "assemble", "create",
	};
	const char *name = strchr(op->name, '.') + 1;
	size_t i;

	if (!op_is(op, "block") && !op_is(op, "tensor"))
		return TAKES_MASKS;
	for (i = 0; i < sizeof(tile) / sizeof(tile[0]); i++)
		if (!strcmp(name, tile[i].name))
			return tile[i].takes;
	for (i = 0; i < sizeof(tensor) / sizeof(tensor[0]); i++)
		if (!strcmp(name, tensor[i]) && (op_is(op, "tensor") || !strcmp(name, "load")))
			return TAKES_MASKS;
	return TAKES_NUMBERS;
}

bool rule_takes_masks(struct op_use *use)
{
	enum takes takes = takes_of(use->op);
	bool mask = false, number = false;
	uint32_t i;

	for (i = 0; i < use->args.n; i++) {
		if (!use->args.at[i] || !type_is_data(use->args.at[i]->type))
			continue;
		mask |= use->args.at[i]->type->dtype == DT_BOOL;
		number |= use->args.at[i]->type->dtype != DT_BOOL;
	}
	if (!mask || takes == TAKES_MASKS || (takes == TAKES_BESIDE && number))
		return true;
	rule_error(use, "requires numbers, but got a mask of BOOL");
	diag_hint(use->px, diag_last(use->px),
		  "Convert it with pl.cast(mask, pl.FP32); masks are combined by & | ^ ~ and chosen by pl.sel()");
	return false;
}
