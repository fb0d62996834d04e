/* SPDX-License-Identifier: MIT */
/*
 * Generators: text of a program's files, from IR on which the passes have run. spec pypto.md
 * sections 8 to 12 and 15.6. They never change IR; a program that a generator cannot express
 * becomes a mistake at the author's line.
 */
#ifndef PYPTO_GEN_H
#define PYPTO_GEN_H

#include "ops.h"
#include "walk.h"

enum gen_arch { ARCH_A2A3, ARCH_A5 };
enum gen_core { CORE_CUBE, CORE_VECTOR };

/* ---- Names (gen_name.c) ---- */

/* Names in use in one C++ or .pto file; text is interned. */
struct gen_names {
	struct px *px;
	struct var_map taken;
	struct var_map numbers;		/* name -> up to which number it is taken */
};

/*
 * "acc_iter_3" -> "acc", "x_0" -> "x": without the suffix of ConvertToSSA, of letters that C++
 * knows.
 */
const char *gen_base_name(struct px *px, const char *name);
/* The name of a variable as the author wrote it, for a message. */
const char *gen_written_name(struct px *px, const struct ir_node *var);
/* @name or, when it is taken or means something in C++, @name with a number; takes it. */
const char *gen_take_name(struct gen_names *names, const char *name);
/* The same for a name that also stands with each of the suffixes (ends with NULL). */
const char *gen_take_names(struct gen_names *names, const char *name, const char *const *suffixes);
/* A name for a function: what C++ or the headers define gets an underscore. */
const char *gen_function_name(struct px *px, const char *name);
const char *gen_upper(struct px *px, const char *name);

/* ---- Facts about functions (gen_fact.c) ---- */

/* Core of a kernel; a mistake when it mixes both kinds of work (D16). */
enum gen_core gen_core(struct px *px, const struct ir_function *f);
bool gen_has_pipes(const struct ir_function *f);	/* some parameter is a pipe */
/* Which parameter the @i-th returned value is a later state of; -1: none, or the run decides. */
int gen_returned_param(struct px *px, const struct ir_program *program,
		       const struct ir_function *f, uint32_t i);
/* Symbolic extents in the types of tensor parameters, in order of first appearance. */
struct ir_list gen_extents(struct px *px, const struct ir_function *f);
/*
 * The first tensor parameter of @f that has @extent by itself as an extent, and which one it is in
 * @dim; UINT32_MAX with a mistake.
 */
uint32_t gen_extent_place(struct px *px, const struct ir_function *f, const struct ir_node *extent,
			  uint32_t *dim);
/*
 * The one Orchestration function; NULL when there is none, or with a mistake when there are
 * several.
 */
struct ir_function *gen_orchestration_of(struct px *px, const struct ir_program *program);
/* Functions that @orch calls, in order of first call: a position is a func_id. */
struct ir_list gen_called(struct px *px, const struct ir_program *program,
			  const struct ir_function *orch);
/* Whether parameter @param of @f may get a tensor with gaps between its rows. */
bool gen_is_strided(struct px *px, const struct ir_program *program, const struct ir_function *f,
		    uint32_t param);
/* Number of parameters that a call passes: block_id and blockdim are not among them. */
uint32_t gen_passed_params(struct px *px, const struct ir_function *f);
/*
 * What an assignment's value is, when it is an element of a tuple made in the function; else
 * @value. @tuples: tuple variables seen so far.
 */
struct ir_node *gen_element(struct var_map *tuples, const struct ir_assign *a);
bool gen_is_nonnegative(const struct ir_node *e, const struct var_map *facts);
/* Whether "i += step" counts the loop: the step is a positive constant that exceeds no number. */
bool gen_counts_up(const struct ir_for *s);

/* ---- Pipes and clusters (gen_pipe.c, gen_pipe_copy.c, gen_free.c) ---- */

#define PIPE_SLOTS	8

/* Number of the pipe at parameter @param: the same at both ends, different for different pipes. */
unsigned int gen_pipe_number(struct px *px, const struct ir_program *program,
			     const struct ir_function *f, uint32_t param);
/* @program with a copy of each kernel that gets different pipes of a cluster. */
struct ir_program *gen_copy_kernels(struct px *px, struct ir_program *program);
/* Mistakes for what breaks the rules of section 15.4. Return: 0, or -EINVAL. */
int gen_check_groups(struct px *px, const struct ir_program *program, const struct ir_function *f);
/* The call of an assignment that pops a tile; NULL: another statement. */
const struct ir_call *gen_pop_of(const struct ir_node *stmt);
/* @frees[k] gets the pipes of which a slot is free behind statement @k of @stmts. */
void gen_frees(struct px *px, const struct ir_list *stmts, struct ir_list *frees);

/* ---- C++ expressions (gen_expr.c) ---- */

struct gen_cxx {
	struct px *px;
	struct text out;
	unsigned int indent;
	struct gen_names names;
	struct var_map vars;		/* scalar variable -> C++ text */
	struct var_map nonnegative;	/* variables that are never below 0 */
	bool uses_floor, uses_algorithm, uses_math, uses_trips;
	bool has_half;		/* half floats are numbers */
};

void gen_line(struct gen_cxx *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *gen_expr(struct gen_cxx *g, const struct ir_node *e);
const char *gen_float_text(struct px *px, double value, unsigned int dtype);
uint64_t gen_float_bits(double value, unsigned int dtype);
const char *gen_c_type(struct gen_cxx *g, const struct ir_type *type, struct span span);
/* Functions that generated expressions of a file call. */
void gen_expr_helpers(struct gen_cxx *g, struct text *out);

/* ---- Files ---- */

/**
 * gen_orchestration() - orchestration/<f>.cpp: sections 9 and 15.6
 * @program: after all passes
 * @f: its Orchestration function
 *
 * Return: text in the arena; NULL with mistakes in @px.
 */
const char *gen_orchestration(struct px *px, const struct ir_program *program,
			      const struct ir_function *f);
/* ptoas/<f>.pto: section 10. */
const char *gen_pto(struct px *px, const struct ir_program *program, const struct ir_function *f,
		    enum gen_arch arch);
enum gen_slot_kind { SLOT_TENSOR, SLOT_RESULT, SLOT_SCALAR, SLOT_EXTENT };

/* One argument of the orchestration's entry, in order. */
struct gen_slot {
	const struct ir_node *var;
	const struct ir_type *type;	/* of a result: its extents follow from the parameters' */
	uint8_t kind;			/* enum gen_slot_kind */
	bool is_read, is_written;	/* of a tensor: by some task */
};

struct gen_slots {
	struct gen_slot *at;
	uint32_t n;
	uint32_t *returned;		/* slot of each returned value */
	uint32_t n_returned;
};

/* Arguments of gen_orchestration()'s entry. Return: 0, or -EINVAL with mistakes in @px. */
int gen_orchestration_slots(struct px *px, const struct ir_program *program,
			    const struct ir_function *f, struct gen_slots *slots);
/* Where a line of text comes from: the author's place, and the operator or NULL. */
struct gen_place {
	struct span span;
	const struct ir_call *call;
};

/* What line @line (from 1) of that text is about. */
struct gen_place gen_pto_place(struct px *px, const struct ir_program *program,
			       const struct ir_function *f, enum gen_arch arch, unsigned int line);
/* "pl.gemv(x, y): x is [1, 48] of FP32 in Left, y is ..." in the author's names. */
const char *gen_call_text(struct px *px, const struct ir_call *call);
/* What every kernel file includes and defines, after the standard headers. */
void gen_kernel_includes(struct text *out);
/* kernels/<core>/<f>.cpp of the CCE back end: section 11. */
const char *gen_cce(struct px *px, const struct ir_program *program, const struct ir_function *f,
		    enum gen_arch arch);
/* kernels/<core>/<f>.cpp around what the assembler made of the .pto text: section 12.1. */
const char *gen_wrapper(struct px *px, const struct ir_program *program,
			const struct ir_function *f, enum gen_arch arch, const char *assembled);

#endif
