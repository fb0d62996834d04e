/* SPDX-License-Identifier: MIT */
/* The kernel around the assembler's C++: section 12.1. */
#define _GNU_SOURCE
#include <string.h>

#include "gen.h"

/* Lines of the assembler's output that the head of the file has already. */
static bool is_dropped(const char *line, size_t n)
{
	static const char *const includes[] = { "pto-inst", "cstdint", "tensor.h" };
	size_t i;

	if (n >= 20 && !memcmp(line, "using namespace pto;", 20))
		return true;
	if (n < 8 || memcmp(line, "#include", 8))
		return false;
	for (i = 0; i < sizeof(includes) / sizeof(includes[0]); i++)
		if (memmem(line, n, includes[i], strlen(includes[i])))
			return true;
	return false;
}

static void put_line(struct text *out, const char *line, size_t n)
{
	static const char entry[] = "__global__ AICORE void";
	const char *at = memmem(line, n, entry, sizeof(entry) - 1);

	if (!at) {
		text_printf(out, "%.*s\n", (int)n, line);
		return;
	}
	text_printf(out, "%.*sstatic __aicore__ void%.*s\n", (int)(at - line), line,
		    (int)(n - (size_t)(at - line) - (sizeof(entry) - 1)), at + sizeof(entry) - 1);
}

static void put_assembled(struct text *out, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		if (!is_dropped(text, n))
			put_line(out, text, n);
		text += n + (text[n] == '\n');
	}
}

struct wrapper {
	struct gen_cxx g;
	const struct ir_program *program;
	const struct ir_function *f;
	struct text arguments;
};

static void argument(struct wrapper *w, const char *text)
{
	text_printf(&w->arguments, "%s%s", w->arguments.n ? ", " : "", text);
}

static const char *tensor_name(struct wrapper *w, uint32_t p)
{
	return var_map_get(&w->g.vars, w->f->params.at[p]);
}

static void unpack_tensor(struct wrapper *w, uint32_t p, const char *name)
{
	const struct ir_node *var = w->f->params.at[p];
	const char *type = gen_c_type(&w->g, var->type, var->span);

	if (var->type->dtype == DT_BOOL)
		type = "int8_t";
	gen_line(&w->g, "// Unpack tensor: %s", name);
	gen_line(&w->g, "__gm__ Tensor* %s_tensor = reinterpret_cast<__gm__ Tensor*>(args[%u]);",
		 name, p);
	gen_line(&w->g, "__gm__ %s* %s = reinterpret_cast<__gm__ %s*>(%s_tensor->buffer.addr) + %s_tensor->start_offset;",
		 type, name, type, name, name);
	argument(w, name);
}

static void unpack_scalar(struct wrapper *w, uint32_t p, const char *name)
{
	const struct ir_node *var = w->f->params.at[p];
	const char *type = gen_c_type(&w->g, var->type, var->span);

	gen_line(&w->g, "// Unpack scalar: %s", name);
	gen_line(&w->g, "union { uint64_t u64; %s val; } %s_conv;", type, name);
	gen_line(&w->g, "%s_conv.u64 = args[%u];", name, p);
	gen_line(&w->g, "%s %s = %s_conv.val;", type, name, name);
	argument(w, name);
}

/* Block number and index come from the machine, behind what the caller passes. */
static void unpack_position(struct wrapper *w, uint32_t p, const char *name)
{
	const struct ir_node *var = w->f->params.at[p];
	bool index = !strcmp(gen_base_name(w->g.px, IR_AS(var, var)->name), "block_id");

	gen_line(&w->g, "%s %s = %s(args);", gen_c_type(&w->g, var->type, var->span), name,
		 index ? "get_block_idx" : "get_block_num");
	argument(w, name);
}

static void unpack_parameter(struct wrapper *w, uint32_t p)
{
	static const char *const suffixes[] = { "_tensor", "_conv", NULL };
	const struct ir_node *var = w->f->params.at[p];
	const char *name = gen_take_names(&w->g.names,
					  gen_base_name(w->g.px, IR_AS(var, var)->name), suffixes);

	var_map_set(&w->g.vars, var, (void *)name);
	if (p >= gen_passed_params(w->g.px, w->f))
		unpack_position(w, p, name);
	else if (var->type->kind == TY_TENSOR)
		unpack_tensor(w, p, name);
	else if (var->type->kind == TY_SCALAR)
		unpack_scalar(w, p, name);
	else if (var->type->kind != TY_PIPE && var->type->kind != TY_CLUSTER)
		diag_add(w->g.px, DIAG_COMPILE, var->span,
			 "Unsupported parameter type for wrapper generation: %s in function %s",
			 type_kind_name(var->type), w->f->name);
}

/* Where an extent stands in the shape of a parameter. */
static void unpack_extent(struct wrapper *w, const struct ir_node *extent)
{
	const char *name = gen_take_name(&w->g.names,
					 gen_base_name(w->g.px, IR_AS(extent, var)->name));
	uint32_t d, p = gen_extent_place(w->g.px, w->f, extent, &d);

	if (p == UINT32_MAX)
		return;
	gen_line(&w->g, "int64_t %s = static_cast<int64_t>(%s_tensor->shapes[%u]);", name,
		 tensor_name(w, p), d);
	argument(w, name);
}

static void unpack_strides(struct wrapper *w)
{
	uint32_t p, d;

	for (p = 0; p < w->f->params.n; p++) {
		const struct ir_type *type = w->f->params.at[p]->type;

		if (type->kind != TY_TENSOR || type->shape.n < 2 ||
		    !gen_is_strided(w->g.px, w->program, w->f, p))
			continue;
		for (d = 0; d + 1 < type->shape.n; d++)
			argument(w, px_printf(w->g.px, "static_cast<int64_t>(%s_tensor->strides[%u])",
					      tensor_name(w, p), d));
	}
}

void gen_kernel_includes(struct text *out)
{
	text_put(out,
"#include <pto/pto-inst.hpp>\n"
"#include \"tensor.h\"\n"
"#include \"intrinsic.h\"\n\n"
"using namespace pto;\n\n"
"#ifndef __gm__\n"
"#define __gm__\n"
"#endif\n\n"
"#ifndef __aicore__\n"
"#define __aicore__ [aicore]\n"
"#endif\n\n");
}

static void put_head(struct text *out, const struct ir_function *f)
{
	text_printf(out,
"// Kernel Function: %s\n"
"// Generated by PyPTO IR Compiler (PTO backend)\n\n"
"#include <cstdint>\n", f->name);
	gen_kernel_includes(out);
	text_put(out, "// --- ptoas-generated code ---\n");
}

const char *gen_wrapper(struct px *px, const struct ir_program *program,
			const struct ir_function *f, enum gen_arch arch, const char *assembled)
{
	struct wrapper w = { .program = program, .f = f, .arguments = { .px = px },
			     .g = { .px = px, .out = { .px = px }, .names = { .px = px },
				    .vars = { .px = px }, .nonnegative = { .px = px },
				    .indent = 1 } };
	struct ir_list extents = gen_extents(px, f);
	struct text out = { .px = px };
	uint32_t i;

	put_head(&out, f);
	put_assembled(&out, assembled);
	for (i = 0; i < f->params.n; i++)
		unpack_parameter(&w, i);
	for (i = 0; i < extents.n; i++)
		unpack_extent(&w, extents.at[i]);
	unpack_strides(&w);
	if (arch == ARCH_A2A3 && gen_has_pipes(f))
		argument(&w, "nullptr");
	text_printf(&out,
"\n// --- CCE-compatible entry point ---\n"
"extern \"C\" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t* args)\n"
"{\n%s    ::%s(%s);\n}\n", text_str(&w.g.out), gen_function_name(px, f->name), text_str(&w.arguments));
	return px->n_errors ? NULL : text_str(&out);
}
