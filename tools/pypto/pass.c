/* SPDX-License-Identifier: MIT */
/* The table of passes, and how one is run. */
#include <errno.h>
#include <string.h>

#include "pass.h"

#define SSA_LEVEL	(PROP_TYPE_CHECKED | PROP_SSA)
#define TILE_LEVEL	(PROP_TYPE_CHECKED | PROP_SPLIT_INCORE | PROP_BLOCK_OPS | PROP_MEMREFS)

struct ir_program *pass_run_verifier(struct px *px, struct ir_program *program,
				     const struct pass_options *options)
{
	(void)options;
	return ir_verify(px, program, SSA_LEVEL | PROP_NO_NESTED_CALLS) ? NULL : program;
}

static const struct px_pass passes[] = {
	{"UnrollLoops", "unroll_loops", "Copies the bodies of pl.unroll() loops.",
	 pass_unroll_loops, PROP_TYPE_CHECKED, PROP_TYPE_CHECKED, 0, 0, CHECK_NONE},
	{"ConvertToSSA", "convert_to_ssa",
	 "Gives every assignment a variable of its own; loops and branches carry values.",
	 pass_convert_to_ssa, PROP_TYPE_CHECKED, PROP_TYPE_CHECKED | PROP_SSA, PROP_NORMALIZED, 0,
	 CHECK_NONE},
	{"FlattenCallExpr", "flatten_call_expr",
	 "Moves calls out of other expressions, into assignments before the statement.",
	 pass_flatten_calls, PROP_TYPE_CHECKED, PROP_TYPE_CHECKED | PROP_NO_NESTED_CALLS,
	 PROP_NORMALIZED, 0, CHECK_NONE},
	{"SplitChunkedLoops", "split_chunked_loops",
	 "Makes an outer and an inner loop of each loop with chunk=, and one for the rest.",
	 pass_split_chunks, SSA_LEVEL, SSA_LEVEL, 0, 0, CHECK_NONE},
	{"InterchangeChunkLoops", "interchange_chunk_loops",
	 "Moves the outer loops of split parallel loops out of the inner ones.",
	 pass_interchange_chunks, SSA_LEVEL, SSA_LEVEL, 0, 0, CHECK_NONE},
	{"RunVerifier", "run_verifier", "Checks the program and changes nothing.",
	 pass_run_verifier, SSA_LEVEL, SSA_LEVEL, 0, 0, CHECK_NONE},
	{"OutlineIncoreScopes", "outline_incore_scopes",
	 "Makes InCore functions of pl.incore() regions.", pass_outline_incore,
	 PROP_TYPE_CHECKED | PROP_SSA, PROP_SPLIT_INCORE, 0, PASS_TO_TILES, CHECK_NONE},
	{"ConvertTensorToBlockOps", "convert_tensor_to_block_ops",
	 "Turns operators on tensors in kernels into loops over tiles.", pass_block_ops,
	 PROP_SPLIT_INCORE, PROP_BLOCK_OPS, 0, PASS_TO_TILES, CHECK_NONE},
	{"InitMemRef", "init_mem_ref", "Gives every tensor and tile a memory reference.",
	 pass_init_memref, PROP_TYPE_CHECKED | PROP_SSA | PROP_SPLIT_INCORE | PROP_BLOCK_OPS,
	 PROP_MEMREFS | PROP_NORMALIZED, 0, 0, CHECK_MEMORY | CHECK_AUTHORED},
	{"BasicMemoryReuse", "basic_memory_reuse",
	 "Puts tiles of equal shape that do not live together into one buffer.",
	 pass_reuse_memory, TILE_LEVEL, TILE_LEVEL, 0, 0, CHECK_MEMORY},
	{"InsertSync", "insert_sync", "Adds events and barriers between the pipes of a core.",
	 pass_add_sync, TILE_LEVEL, TILE_LEVEL, 0, PASS_CCE_ONLY, CHECK_SYNC},
	{"AllocateMemoryAddr", "allocate_memory_addr",
	 "Gives every buffer on the chip an address.", pass_allocate_addresses,
	 TILE_LEVEL, PROP_ADDRESSES, 0, 0, CHECK_ALL},
	{"NormalizeStmtStructure", "normalize_stmt_structure",
	 "Groups runs of assignments and calls; every body becomes a sequence.",
	 pass_normalize_structure, PROP_TYPE_CHECKED, PROP_TYPE_CHECKED | PROP_NORMALIZED, 0,
	 PASS_APART, CHECK_NONE},
	{"FlattenSingleStmt", "flatten_single_stmt",
	 "Takes sequences and groups of one statement apart.", pass_flatten_single,
	 PROP_TYPE_CHECKED, PROP_TYPE_CHECKED, PROP_NORMALIZED, PASS_APART,
	 CHECK_NONE},
};

#define N_PASSES	(sizeof(passes) / sizeof(passes[0]))

const struct px_pass *pass_at(size_t i)
{
	return i < N_PASSES ? &passes[i] : NULL;
}

static const char *const property_names[] = {
	"TypeChecked", "SSAForm", "NoNestedCalls", "SplitIncoreOrch", "IncoreBlockOps",
	"HasMemRefs", "NormalizedStmtStructure", "AllocatedMemoryAddr"
};

static const char *first_property(unsigned int set)
{
	return property_names[__builtin_ctz(set)];
}

/* The property that a pass is known for: the last one it gives. */
const char *pass_properties(const struct px_pass *pass)
{
	return property_names[31 - __builtin_clz(pass->gives)];
}

static const struct px_pass *pass_find(const char *name)
{
	size_t i;

	for (i = 0; i < N_PASSES; i++)
		if (!strcmp(passes[i].name, name) || !strcmp(passes[i].snake, name))
			return &passes[i];
	return NULL;
}

static struct ir_program *as_program(struct px *px, struct ir_node *node)
{
	struct ir_program *program;

	if (node->kind == IR_PROGRAM)
		return IR_AS(node, program);
	program = ir_new(px, IR_PROGRAM, node->span, NULL);
	program->name = "";
	list_push(px, &program->functions, node);
	return program;
}

int pass_run(struct px *px, const char *name, struct ir_node *node,
	     const struct pass_options *options, struct ir_node **result)
{
	const struct px_pass *pass = pass_find(name);
	struct ir_program *program = as_program(px, node);
	unsigned int lacks;
	int rc;

	if (!pass)
		return -ENOENT;
	lacks = pass->needs & ~ir_properties(px, program);
	if (lacks) {
		diag_add(px, DIAG_COMPILE, node->span,
			 "Pass %s needs a program with property %s", pass->name,
			 first_property(lacks));
		return ir_verify(px, program, lacks);
	}
	program = pass->run(px, program, options);
	if (!program || px->n_errors)
		return -EINVAL;
	if (options->verify && ir_verify(px, program, pass->gives)) {
		diag_add(px, DIAG_COMPILE, node->span, "Internal error: pass %s gave a bad program",
			 pass->name);
		return -EINVAL;
	}
	rc = pass_check(px, pass, program, options->arch);
	if (rc)
		return rc;
	*result = node->kind == IR_PROGRAM || program->functions.n != 1 ? &program->node :
		  program->functions.at[0];
	return 0;
}

struct ir_node *pass_bodies(struct px *px, struct ir_node *stmt,
			    struct ir_node *(*rewrite)(struct px *px, struct ir_node *body,
						       void *data), void *data)
{
	struct ir_node *copy = ir_copy(px, stmt);
	const struct ir_field *field;

	for (field = ir_kind_info[stmt->kind].fields; field->name; field++) {
		struct ir_node **at = ir_field_at(copy, field);

		if (field->kind == FK_STMT && *at)
			*at = rewrite(px, *at, data);
	}
	return copy;
}

struct ir_program *pass_each(struct px *px, struct ir_program *program,
			     struct ir_function *(*rewrite)(struct px *px, struct ir_function *f,
							    void *data), void *data)
{
	struct ir_program *out = ir_copy(px, &program->node);
	uint32_t i;

	out->functions = (struct ir_list){ 0 };
	for (i = 0; i < program->functions.n; i++)
		list_push(px, &out->functions,
			  &rewrite(px, IR_AS(program->functions.at[i], function), data)->node);
	return out;
}
