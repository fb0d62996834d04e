/* SPDX-License-Identifier: MIT */
/*
 * Program representation of the PyPTO compiler: types, nodes, and the table that describes the
 * fields of each kind of node. Walkers, the structural comparison, the hash, the serialiser and the
 * Python face read that table, so that a new node is one struct and one row (nodes.def).
 *
 * Nodes and types live in the arena of a struct px, are immutable after construction and are shared
 * freely inside it. The identity of a variable is its node. spec pypto.md section 5.1.
 */
#ifndef PYPTO_IR_H
#define PYPTO_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "context.h"

enum dtype {
#define DTYPE(name, code, bits, c, mlir) DT_##name = code,
#include "dtypes.def"
#undef DTYPE
};

struct dtype_info {
	const char *name;	/* "FP32" */
	const char *c_name;	/* NULL: not generable */
	const char *mlir;
	uint8_t code;
	uint8_t bits;
};

/* NULL for an unknown code or name. */
const struct dtype_info *dtype_info(unsigned int code);
const struct dtype_info *dtype_find(const char *name);
const struct dtype_info *dtype_at(size_t i);	/* NULL behind the last */
bool dtype_is_code(int64_t number);	/* whether it is the code of an element type */
const char *dtype_name(unsigned int code);
bool dtype_is_float(unsigned int code);
bool dtype_is_int(unsigned int code);		/* signed, unsigned or INDEX; not BOOL */
bool dtype_is_signed(unsigned int code);
/* Floats of eight bits with generated code: they are kept and multiplied, not computed with. */
bool dtype_is_small(unsigned int code);
/* Section 4.2: which of two element types an operation on both has. */
unsigned int dtype_promote(unsigned int a, unsigned int b);
bool dtype_holds(unsigned int code, int64_t value);

/* Enumerations of section 3.3, by class and number. */
enum px_enum {
	EN_MEMORY_SPACE,
	EN_TENSOR_LAYOUT,
	EN_TILE_LAYOUT,
	EN_TILE_PAD,
	EN_FUNCTION_TYPE,
	EN_DIRECTION,
	EN_FOR_KIND,
	EN_PIPE_TYPE,
	EN_CORE_TYPE,
	EN_ROUND_MODE,
	EN_CMP_TYPE,
	EN_CLASSES
};
enum memory_space { MS_DDR, MS_VEC, MS_MAT, MS_LEFT, MS_RIGHT, MS_ACC, MS_BIAS, MS_LEFT_SCALE = 8,
		    MS_RIGHT_SCALE, MS_SPACES };
enum function_type { FN_OPAQUE, FN_ORCHESTRATION, FN_INCORE, FN_BLOCK_INCORE = 9 };
enum direction { DIR_IN, DIR_OUT, DIR_INOUT, DIR_PIPE_IN, DIR_PIPE_OUT };
enum for_kind { FOR_SEQUENTIAL, FOR_PARALLEL, FOR_UNROLL };
enum tile_layout { TL_NONE_BOX, TL_ROW_MAJOR, TL_COL_MAJOR };
enum tile_pad { TILE_PAD_NULL, TILE_PAD_ZERO, TILE_PAD_MAX, TILE_PAD_MIN };

#define ENUM_MEMBERS	10	/* the highest number of any enumeration, and 1 */
const char *enum_class_name(enum px_enum class);		/* "MemorySpace" */
const char *enum_name(enum px_enum class, int64_t value);	/* NULL: no such member */
int64_t enum_find(enum px_enum class, const char *name);	/* -1: no such member */

/* ---- Types ---- */

enum type_kind { TY_UNKNOWN, TY_SCALAR, TY_TENSOR, TY_TILE, TY_TUPLE, TY_MEMREF, TY_PIPE,
		 TY_CLUSTER };

struct ir_node;
struct ir_list {
	struct ir_node **at;
	uint32_t n;
};

struct tile_view {
	struct ir_list valid;	/* empty: the whole tile */
	uint8_t blayout;	/* enum tile_layout */
	uint8_t slayout;
	uint8_t pad;
	uint16_t fractal;
};

struct ir_type {
	uint8_t kind;		/* enum type_kind */
	uint8_t dtype;
	uint8_t layout;		/* of a tensor: 0 ND, 1 DN, 2 NZ */
	struct ir_list shape;	/* INDEX expressions; of a pipe: of what one push carries */
	struct tile_view view;
	const struct ir_memref *memref;
	const struct ir_type **items;	/* of a tuple */
	uint32_t n_items;
};

const struct ir_type *type_unknown(void);
const struct ir_type *type_scalar(struct px *px, unsigned int dtype);
const struct ir_type *type_shaped(struct px *px, enum type_kind kind, struct ir_list shape,
				  unsigned int dtype);
const struct ir_type *type_tuple(struct px *px, const struct ir_type **items, uint32_t n);
const struct ir_type *type_with_memref(struct px *px, const struct ir_type *type,
				       const struct ir_memref *memref);
struct ir_type *type_copy(struct px *px, const struct ir_type *type);
const char *type_kind_name(const struct ir_type *type);		/* "TileType" */
/* The same kind, element type and extents: a value of one may stand where the other is expected. */
bool type_compatible(const struct ir_type *a, const struct ir_type *b);
/* Compatible, and equal layouts, valid regions and memory references. */
bool type_identical(const struct ir_type *a, const struct ir_type *b);
bool type_is_data(const struct ir_type *type);			/* a tile or a tensor */
bool shape_equal(const struct ir_list *a, const struct ir_list *b);
bool dim_equal(const struct ir_node *a, const struct ir_node *b);
bool shape_is_constant(const struct ir_list *shape);	/* every extent is a number */
/* Value of a constant extent; -1 when it is symbolic. */
int64_t dim_value(const struct ir_node *dim);
/*
 * What an extent of a tile in a matrix buffer is padded to, so that it consists of whole boxes
 * whichever way they lie, and operands and results still agree; a single row is none.
 */
int64_t type_unit(const struct ir_type *type, uint32_t from_end);
/* Bytes of all elements; 0 when an extent is symbolic. */
uint64_t type_bytes(const struct ir_type *type);

/* ---- Nodes ---- */

enum ir_kind {
#define NODE(kind, name, type, fields) IR_##kind,
#include "nodes.def"
#undef NODE
	IR_KINDS
};

struct ir_node {
	uint8_t kind;			/* enum ir_kind */
	struct span span;
	const struct ir_type *type;	/* of an expression */
};

struct ir_var {
	struct ir_node node;
	const char *name;
	struct ir_node *init;	/* of an IterArg */
	bool dynamic;		/* made by pl.dynamic() */
};

struct ir_memref {
	struct ir_node node;
	const char *name;
	uint8_t space;		/* enum memory_space */
	int64_t addr;		/* -1: not placed yet */
	uint64_t size;		/* bytes; 0: symbolic */
	uint64_t id;
};

struct ir_const {
	struct ir_node node;
	int64_t value;
};

struct ir_float {
	struct ir_node node;
	double value;
};

enum attr_kind { AT_BOOL, AT_INT, AT_FLOAT, AT_STR, AT_DTYPE, AT_ENUM };
struct ir_attr {
	const char *key;
	uint8_t kind;		/* enum attr_kind */
	uint8_t class;		/* enum px_enum of an AT_ENUM */
	int64_t i;
	double f;
	const char *s;
};

struct px_op;
struct ir_call {
	struct ir_node node;
	const struct px_op *op;	/* NULL: a function of the program */
	const char *callee;	/* "block.add", or the function's name */
	struct ir_list args;	/* an absent optional argument is NULL */
	struct ir_attr *attrs;
	uint32_t n_attrs;
	struct ir_node *blockdim;	/* of a call of a BlockInCore function, or NULL */
};

struct ir_tuple {
	struct ir_node node;
	struct ir_list elements;
};

struct ir_item {
	struct ir_node node;
	struct ir_node *tuple;
	int64_t index;
};

struct ir_binary {
	struct ir_node node;
	struct ir_node *left, *right;
};

struct ir_unary {
	struct ir_node node;
	struct ir_node *operand;
};

struct ir_assign {
	struct ir_node node;
	struct ir_node *var, *value;
};

struct ir_if {
	struct ir_node node;
	struct ir_node *condition, *then_body, *else_body;
	struct ir_list return_vars;
};

struct ir_for {
	struct ir_node node;
	struct ir_node *loop_var, *start, *stop, *step, *body;
	struct ir_list iter_args, return_vars;
	int64_t chunk;		/* 0: none */
	uint8_t for_kind;	/* enum for_kind */
	uint8_t origin;		/* Original, ChunkOuter, ChunkInner, ChunkRemainder */
};

struct ir_while {
	struct ir_node node;
	struct ir_node *condition, *body;
	struct ir_list iter_args, return_vars;
};

struct ir_scope {
	struct ir_node node;
	struct ir_node *body;
};

struct ir_values {
	struct ir_node node;
	struct ir_list values;
};

struct ir_eval {
	struct ir_node node;
	struct ir_node *expr;
};

struct ir_seq {
	struct ir_node node;
	struct ir_list stmts;
};

struct ir_function {
	struct ir_node node;
	const char *name;
	uint8_t func_type;		/* enum function_type */
	struct ir_list params;
	uint8_t *directions;		/* enum direction, one per parameter */
	const struct ir_type **return_types;
	uint32_t n_returns;
	struct ir_node *body;		/* NULL while only the signature is known */
};

struct ir_program {
	struct ir_node node;
	const char *name;
	struct ir_list functions;	/* ordered by name */
};

/* How a field is stored and what it means. */
enum field_kind {
	FK_STR, FK_I64, FK_U64, FK_U8, FK_BOOL, FK_F64, FK_EXPR, FK_EXPRS, FK_STMT, FK_STMTS,
	FK_DEF, FK_DEFS, FK_CALLEE, FK_ATTRS, FK_TYPES, FK_DIRS, FK_FUNCS
};
struct ir_field {
	const char *name;
	uint8_t kind;		/* enum field_kind */
	uint8_t enum_class;	/* of an FK_U8: enum px_enum + 1, or 0 */
	uint16_t offset;
};
struct ir_kind_info {
	const char *name;	/* "ForStmt" */
	size_t size;
	const struct ir_field *fields;	/* ends with a NULL name */
};
extern const struct ir_kind_info ir_kind_info[IR_KINDS];

static inline void *ir_field_at(const struct ir_node *node, const struct ir_field *field)
{
	return (char *)node + field->offset;
}

#define IR_AS(node, type)	((struct ir_##type *)(node))

static inline bool ir_is_binary(const struct ir_node *n)
{
	return n->kind >= IR_ADD && n->kind <= IR_BIT_SHR;
}

static inline bool ir_is_unary(const struct ir_node *n)
{
	return n->kind >= IR_ABS && n->kind <= IR_CAST;
}

static inline bool ir_is_var(const struct ir_node *n)
{
	return n->kind == IR_VAR || n->kind == IR_ITER_ARG;
}

static inline bool ir_is_const(const struct ir_node *n)
{
	return n->kind == IR_CONST_INT || n->kind == IR_CONST_FLOAT || n->kind == IR_CONST_BOOL;
}

/* ---- Construction. The result is never NULL: see px_alloc(). ---- */

void *ir_new(struct px *px, enum ir_kind kind, struct span span, const struct ir_type *type);
void *ir_copy(struct px *px, const struct ir_node *node);
struct ir_node *ir_int(struct px *px, int64_t value, unsigned int dtype, struct span span);
struct ir_node *ir_float(struct px *px, double value, unsigned int dtype, struct span span);
struct ir_node *ir_bool(struct px *px, bool value, struct span span);
struct ir_node *ir_var(struct px *px, const char *name, const struct ir_type *type,
		       struct span span);
struct ir_node *ir_binary(struct px *px, enum ir_kind kind, struct ir_node *left,
			  struct ir_node *right, unsigned int dtype, struct span span);
/* The constant that an operator on two integer constants gives; NULL when it is not computed. */
struct ir_node *ir_fold(struct px *px, enum ir_kind kind, const struct ir_node *left,
			const struct ir_node *right, unsigned int dtype, struct span span);
/*
 * Values of range(@start, @stop, @step). Return: 0; -EINVAL when one of them is no constant or the
 * step is 0; -ERANGE when they are further apart than a signed number of 64 bits says.
 */
int ir_trips(const struct ir_node *start, const struct ir_node *stop, const struct ir_node *step,
	     int64_t *trips);
struct ir_node *ir_cast(struct px *px, struct ir_node *operand, unsigned int dtype,
			struct span span);
struct ir_node *ir_assign(struct px *px, struct ir_node *var, struct ir_node *value,
			  struct span span);
struct ir_node *ir_values(struct px *px, enum ir_kind kind, struct ir_list values,
			  struct span span);
/* One statement stays bare, none or several become a SeqStmts; nested ones are spliced. */
struct ir_node *ir_body(struct px *px, struct ir_list stmts, struct span span);
/* Statements of a body, bare or in sequence; the list belongs to the body or to @one. */
struct ir_list ir_stmts(struct ir_node **body);
/* The YieldStmt or ReturnStmt, as @kind says, that ends a body; NULL: it ends with another one. */
const struct ir_values *ir_last(const struct ir_node *body, enum ir_kind kind);

/* A buffer called mem_<space>_<id>; @addr -1: not placed yet. */
struct ir_memref *ir_memref(struct px *px, enum memory_space space, int64_t addr, uint64_t size,
			    uint64_t id, struct span span);

void list_push(struct px *px, struct ir_list *list, struct ir_node *node);
struct ir_list list_copy(struct px *px, const struct ir_list *list);
bool list_has(const struct ir_list *list, const struct ir_node *node);

/* The function of that name, or NULL. */
struct ir_function *program_find(const struct ir_program *program, const char *name);
/* In order of names. Return: 0, or -EEXIST. */
int program_add(struct px *px, struct ir_program *program, struct ir_function *function);

#endif
