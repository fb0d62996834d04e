/* SPDX-License-Identifier: MIT */
/*
 * Names in generated files: a user's name never meets a keyword, a macro, the runtime or another
 * version of itself (D17).
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "gen.h"

/*
 * What C++ or the headers of generated files define, besides what is_reserved() knows by its
 * form.
 */
static const char *const reserved[] = {
	"alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break",
	"case", "catch", "char", "char8_t", "char16_t", "char32_t", "class", "compl", "concept",
	"const", "consteval", "constexpr", "constinit", "const_cast", "continue", "co_await",
	"co_return", "co_yield", "decltype", "default", "delete", "do", "double", "dynamic_cast",
	"else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto",
	"if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq",
	"nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register",
	"reinterpret_cast", "requires", "return", "short", "signed", "sizeof", "static",
	"static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local",
	"throw", "true", "try", "typedef", "typeid", "typename", "union", "unsigned", "using",
	"virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq", "typeof",
	"main", "std", "errno", "assert", "unix", "linux", "stdin", "stdout", "stderr", "memcpy",
	"half", "bfloat16_t", "rt", "args", "arg_count", "float_to_u64", "kernel_entry",
	"aicpu_orchestration_config", "aicpu_orchestration_entry", "floor_div", "floor_mod",
	"range_trips", "int_pow", "from_u64", "to_u64", "get_tensor_data", "set_tensor_data",
	"alloc_tensors", "get_block_idx", "get_block_num", "get_sub_block_id", "set_flag",
	"wait_flag", "pipe_barrier", "trap", "bisheng", "cce", "block_idx", "size_t",
	"Tensor", "ChipTensor", "DataType", "Arg", "TaskOutputTensors", "Tile", "TileType", "Shape",
	"Stride", "Layout", "GlobalTensor", "BLayout", "SLayout", "PadValue", "CompactMode",
	"CmpMode", "RoundMode", "SaturationMode", "MaskPattern", "TPipe", "TileSplitAxis",
	"Direction", "AtomicType", "ReluPreMode", "QuantType", "AccPhase", "STPhase",
	"AccToVecMode", "MrgSortExecutedNumList", "GatherAxis", "GatherOOB", "ScatterAxis",
	"ScatterOOB", "Coalesce", "DivAlgorithm", "ExpAlgorithm", "LogAlgorithm", "RecipAlgorithm",
	"RsqrtAlgorithm", "SqrtAlgorithm", "HistByte", "AsyncEvent", "AsyncSession", "SyncAllMode",
	"SyncCoreType", "NotifyOp", "WaitCmp",
};

static bool all_upper(const char *name)
{
	size_t letters = 0;

	for (; *name; name++) {
		if (islower((unsigned char)*name))
			return false;
		letters++;
	}
	return letters > 2;
}

static bool is_reserved(const char *name)
{
	static const char *const prefixes[] = { "pto", "PTO", "rt_", "make_", "params_t", "int8",
						"int16", "int32", "int64", "uint", "__", "ARG_" };
	size_t i;

	for (i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
		if (!strcmp(name, reserved[i]))
			return true;
	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return all_upper(name) || strstr(name, "__") ||
	       (name[0] == '_' && isupper((unsigned char)name[1]));
}

/* Length without "_<digits>" or "_iter_<digits>" at the end. */
static size_t base_length(const char *name)
{
	size_t n = strlen(name), end = n;

	while (end && isdigit((unsigned char)name[end - 1]))
		end--;
	if (end == n || end < 2 || name[end - 1] != '_')
		return n;
	end--;
	if (end > 5 && !strncmp(name + end - 5, "_iter", 5))
		end -= 5;
	return end;
}

const char *gen_base_name(struct px *px, const char *name)
{
	struct text t = { .px = px };
	size_t n = base_length(name), i;

	for (i = 0; i < n; i++) {
		if (name[i] & 0x80)
			text_printf(&t, "u%02x", (unsigned char)name[i]);
		else
			text_printf(&t, "%c", name[i]);
	}
	return px_intern(px, text_str(&t));
}

const char *gen_written_name(struct px *px, const struct ir_node *var)
{
	const char *name = ir_is_var(var) ? IR_AS(var, var)->name : "_";

	return *name == '_' ? "..." : px_printf(px, "%.*s", (int)base_length(name), name);
}

static bool is_free(struct gen_names *names, const char *name, const char *const *suffixes)
{
	if (var_map_get(&names->taken, (const void *)name))
		return false;
	for (; *suffixes; suffixes++)
		if (var_map_get(&names->taken,
				(const void *)px_intern(names->px, px_printf(names->px, "%s%s", name,
									      *suffixes))))
			return false;
	return true;
}

static void take(struct gen_names *names, const char *name)
{
	var_map_set(&names->taken, (const void *)name, (void *)name);
}

/* @name without two underscores in a row, with "v_" before it when it means something in C++. */
static const char *usable(struct px *px, const char *name)
{
	struct text t = { .px = px };
	char last = 0;

	for (; *name; name++) {
		if (*name != '_' || last != '_')
			text_printf(&t, "%c", *name);
		last = *name;
	}
	if (!is_reserved(text_str(&t)))
		return text_str(&t);
	return px_printf(px, "v%s%s", text_str(&t)[0] == '_' ? "" : "_", text_str(&t));
}

const char *gen_take_names(struct gen_names *names, const char *name, const char *const *suffixes)
{
	const char *base, *one, *key;
	uintptr_t n = 1;

	base = one = px_intern(names->px, usable(names->px, name));
	names->taken.px = names->numbers.px = names->px;
	/* what was taken for these suffixes stays so; the first of them tells which they are */
	key = *suffixes ? px_intern(names->px, px_printf(names->px, "%s %s", base, *suffixes)) :
	      base;
	if (!is_free(names, one, suffixes))
		n += (uintptr_t)var_map_get(&names->numbers, (const void *)key);
	for (; !is_free(names, one, suffixes); n++)
		one = px_intern(names->px, px_printf(names->px, "%s_%u", base, (unsigned int)n));
	var_map_set(&names->numbers, (const void *)key, (void *)(n - 1));
	take(names, one);
	for (; *suffixes; suffixes++)
		take(names, px_intern(names->px, px_printf(names->px, "%s%s", one, *suffixes)));
	return one;
}

const char *gen_take_name(struct gen_names *names, const char *name)
{
	return gen_take_names(names, name, (const char *const[]){ NULL });
}

const char *gen_function_name(struct px *px, const char *name)
{
	struct text t = { .px = px };

	for (; *name; name++) {
		if (*name & 0x80)
			text_printf(&t, "u%02x", (unsigned char)*name);
		else
			text_printf(&t, "%c", *name);
	}
	if (is_reserved(text_str(&t)))
		text_put(&t, "_");
	return px_intern(px, text_str(&t));
}

const char *gen_upper(struct px *px, const char *name)
{
	char *copy = px_printf(px, "%s", name), *c;

	for (c = copy; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return copy;
}

/* ---- The author's words ---- */

/* A variable's name as it was written; values in between have none. */
static void describe_operand(struct text *t, const struct ir_node *arg, const char **before)
{
	const struct ir_memref *memref = arg->type->memref;

	if (arg->type->kind != TY_TILE)
		return;
	text_printf(t, "%s%s is %s of %s", *before, gen_written_name(t->px, arg),
		    shape_text(t->px, &arg->type->shape), dtype_name(arg->type->dtype));
	if (arg->type->view.valid.n)
		text_printf(t, ", valid %s", shape_text(t->px, &arg->type->view.valid));
	if (memref && memref->space != MS_VEC)
		text_printf(t, " in %s", enum_name(EN_MEMORY_SPACE, memref->space));
	*before = "; ";
}

const char *gen_call_text(struct px *px, const struct ir_call *call)
{
	struct text t = { .px = px };
	const char *before = ": ";
	uint32_t i;

	text_printf(&t, "pl.%s(", call->op->pl);
	for (i = 0; i < call->args.n; i++)
		if (call->args.at[i])
			text_printf(&t, "%s%s", i ? ", " : "", gen_written_name(px, call->args.at[i]));
	text_put(&t, ")");
	for (i = 0; i < call->args.n; i++)
		if (call->args.at[i])
			describe_operand(&t, call->args.at[i], &before);
	return text_str(&t);
}
