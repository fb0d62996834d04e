/* SPDX-License-Identifier: MIT */
/*
 * The assembler's program: a module of functions, each a tree of operations in blocks and regions.
 *
 * Ownership   Everything hangs on the module's arena and ends with pto_module_free(). Nothing is
 *             freed singly. Types and names are unique per module: equal means same pointer.
 * Values      An SSA value is an operation's result or a block's argument. Its uses are a list,
 *             linked through the operand slots of the operations that use it.
 * Operands    Each operand slot knows its role (what the instruction does with the buffer behind
 *             it) and its group (which part of the operation's text it stands in, ops.def).
 * Threads     A module belongs to one thread at a time; different modules are independent.
 *
 * Spec: pto-isa.md 8.
 */
#ifndef PTOAS_IR_H
#define PTOAS_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct pto_op;
struct pto_block;
struct pto_module;

#define PTO_DYNAMIC	INT64_MIN	/* a dimension or extent written "?" */
#define PTO_MAX_RANK	8

enum pto_arch { PTO_ARCH_A3, PTO_ARCH_A5, PTO_ARCHES };

/* ---- Names --------------------------------------------------------------------------------- */

/* An interned string; text is NUL-terminated. */
struct pto_name {
	const char *text;
	struct pto_name *chain;		/* hash chain, interner's own */
	uint32_t size;
	uint32_t hash;
	uint16_t opcode;		/* enum pto_opcode this spells, or 0 */
	uint8_t elem;			/* enum pto_elem this spells, or 0 */
	void *slot;			/* the parser's: SSA value of that name in scope */
};

struct pto_name *pto_intern(struct pto_module *m, const char *text, size_t size);
struct pto_name *pto_intern_text(struct pto_module *m, const char *text);

/* ---- Types --------------------------------------------------------------------------------- */

enum pto_elem {
	PTO_ELEM_NONE,
#define ELEM(code, text, bits, class, cxx) PTO_##code,
#include "elems.def"
#undef ELEM
	PTO_ELEMS
};

enum pto_type_kind {
	PTO_T_SCALAR,		/* elem */
	PTO_T_PTR,		/* !pto.ptr<elem>: inner is the pointee */
	PTO_T_VIEW,		/* !pto.tensor_view: elem, rank, dim */
	PTO_T_PART,		/* !pto.partition_tensor_view: elem, rank, dim */
	PTO_T_TILE,		/* !pto.tile_buf: elem, tile */
	PTO_T_TILE_VALUE,	/* !pto.tile<...>: elem, rank, dim */
	PTO_T_MULTI_TILE,	/* !pto.multi_tile_buf: inner is the tile, count */
	PTO_T_LOCAL_ARRAY,	/* !pto.local_array<NxT>: elem, count */
	PTO_T_EVENTID_ARRAY,	/* count */
	PTO_T_PIPE,
	PTO_T_ASYNC_SESSION,
	PTO_T_ASYNC_EVENT,
	PTO_T_PREFETCH_CTX,
	PTO_T_MEMREF,		/* elem, rank, dim, loc */
	PTO_T_VECTOR,		/* elem, rank, dim */
	PTO_T_FUNC,		/* only in attributes: inner unused, text kept in name */
};

/*
 * Where a buffer lives; the values up to PTO_SPACES are those of the address_space attribute.
 * Behind them are the memories of MX scales, which the text calls scaling (pto_type_memory()).
 */
enum pto_space {
	PTO_SPACE_NONE, PTO_SPACE_GM, PTO_SPACE_MAT, PTO_SPACE_LEFT, PTO_SPACE_RIGHT, PTO_SPACE_ACC,
	PTO_SPACE_VEC, PTO_SPACE_BIAS, PTO_SPACE_SCALING, PTO_SPACES,
	PTO_SPACE_SCALE_LEFT = PTO_SPACES, PTO_SPACE_SCALE_RIGHT, PTO_MEMORIES
};

enum pto_blayout { PTO_ROW_MAJOR, PTO_COL_MAJOR };
enum pto_slayout { PTO_NONE_BOX, PTO_BOX_ROW_MAJOR, PTO_BOX_COL_MAJOR };
enum pto_pad { PTO_PAD_NULL, PTO_PAD_ZERO, PTO_PAD_MAX, PTO_PAD_MIN };

/* Pads from here up to twice this are a value of their own: the low half is the element's bits. */
#define PTO_PAD_CUSTOM	(INT64_C(1) << 32)

enum pto_compact { PTO_COMPACT_NULL, PTO_COMPACT_NORMAL, PTO_COMPACT_ROW_PLUS_ONE };

struct pto_type {
	uint8_t kind;			/* enum pto_type_kind */
	uint8_t elem;			/* enum pto_elem */
	uint8_t rank;
	uint8_t space;			/* enum pto_space: tiles, memrefs */
	uint8_t blayout, slayout, compact;	/* tiles */
	uint16_t fractal;		/* tiles */
	int64_t pad;			/* tiles: enum pto_pad, or PTO_PAD_CUSTOM | bits */
	int64_t count;			/* arrays, multi tiles */
	int64_t dim[PTO_MAX_RANK];	/* views, memrefs, vectors; a tile: rows, cols */
	int64_t valid[2];		/* tiles: PTO_DYNAMIC or a number */
	const struct pto_type *inner;
	const struct pto_name *text;	/* function types */
	struct pto_type *chain;		/* interner's own */
	uint32_t hash;
};

/* The unique type equal to *t. NULL when memory is short. */
const struct pto_type *pto_type_get(struct pto_module *m, const struct pto_type *t);
const struct pto_type *pto_scalar(struct pto_module *m, enum pto_elem elem);

static inline bool pto_is_tile(const struct pto_type *t)
{
	return t->kind == PTO_T_TILE;
}

static inline bool pto_is_index(const struct pto_type *t)
{
	return t->kind == PTO_T_SCALAR && t->elem == PTO_INDEX;
}

static inline bool pto_is_view(const struct pto_type *t)
{
	return t->kind == PTO_T_VIEW || t->kind == PTO_T_PART;
}

/* A buffer on the chip: a tile, a multi tile, or a memref outside global memory. */
bool pto_is_local(const struct pto_type *t);
/* Global memory: a pointer, a view, a partition view, or a memref in gm. */
bool pto_is_global(const struct pto_type *t);
/* The space of a buffer; PTO_SPACE_NONE for scalars and handles. */
enum pto_space pto_type_space(const struct pto_type *t);
/* The same, with scales of left and right MX operands apart: each has a memory of its own. */
enum pto_space pto_type_memory(const struct pto_type *t);
/*
 * Bytes of a tile's box, or of a static memref; all slots of a multi tile. -1 when dynamic or too
 * large. The extra row of a row_plus_one tile counts (D29).
 */
int64_t pto_type_bytes(const struct pto_type *t);

struct pto_elem_info {
	const char *text;	/* "f32" */
	const char *cxx;	/* "float" */
	uint16_t bits;		/* of storage; a packed pair counts 8 */
	uint8_t class;		/* enum pto_elem the type lists name */
};

const struct pto_elem_info *pto_elem_info(enum pto_elem elem);
bool pto_elem_is_float(enum pto_elem elem);
bool pto_elem_is_int(enum pto_elem elem);	/* index is none */
const char *pto_space_name(enum pto_space space);

/* ---- Attributes ---------------------------------------------------------------------------- */

enum pto_attr_enum {
	PTO_A_NONE,
#define ATTR(code, name, values) PTO_A_##code,
#include "attrs.def"
#undef ATTR
	PTO_ATTR_ENUMS
};

enum pto_attr_kind {
	PTO_ATTR_UNIT, PTO_ATTR_BOOL, PTO_ATTR_INT, PTO_ATTR_FLOAT, PTO_ATTR_STRING,
	PTO_ATTR_SYMBOL, PTO_ATTR_ENUM, PTO_ATTR_ARRAY, PTO_ATTR_DICT, PTO_ATTR_TYPE,
	PTO_ATTR_DENSE,
};

struct pto_attr {
	const struct pto_name *name;	/* NULL in an array */
	uint8_t kind;			/* enum pto_attr_kind */
	uint8_t of;			/* PTO_ATTR_ENUM: enum pto_attr_enum */
	uint32_t count;			/* arrays, dictionaries */
	const struct pto_type *type;	/* of a number; the type of PTO_ATTR_TYPE */
	union {
		int64_t i;		/* bool, int, enum value */
		double f;
		const struct pto_name *text;	/* string (unescaped), symbol */
		struct pto_attr *list;
	};
	const struct pto_name *spelling;	/* a float as written, or NULL */
};

/* Name of an attribute kind ("cmp") and of one of its values ("lt"); -1 for an unknown value. */
const char *pto_attr_enum_name(enum pto_attr_enum e);
const char *pto_attr_enum_value(enum pto_attr_enum e, int64_t value, size_t *size);
int64_t pto_attr_enum_find(enum pto_attr_enum e, const char *text, size_t size);
enum pto_attr_enum pto_attr_enum_by_name(const char *text, size_t size);

/* ---- Places -------------------------------------------------------------------------------- */

/* A place given by loc("file":line:col). */
struct pto_src_loc {
	const struct pto_name *file;	/* NULL: loc(unknown) */
	uint32_t line, col;
};

struct pto_loc {
	uint32_t at;			/* byte in the text; PTO_NO_PLACE when made by a pass */
	const struct pto_src_loc *src;	/* trailing loc(...), or NULL */
};

#define PTO_NO_PLACE	UINT32_MAX

/* ---- Operations ---------------------------------------------------------------------------- */

enum pto_opcode {
	PTO_OP_NONE,
#define OP(code, ...) PTO_OP_##code,
#include "ops.def"
#undef OP
	PTO_OPCODES
};

/* What an instruction does with the buffer (or pointee) behind an operand. */
enum pto_role {
	PTO_ROLE_VALUE,		/* a scalar or handle: only its value is used */
	PTO_ROLE_READ,
	PTO_ROLE_WRITE,
	PTO_ROLE_UPDATE,	/* reads and writes */
	PTO_ROLE_SCRATCH,	/* contents undefined before and after */
	PTO_ROLE_BIND,		/* only the handle is touched (alias, valid shape) */
};

struct pto_value {
	const struct pto_type *type;
	struct pto_name *name;		/* without "%"; NULL: the printer chooses */
	struct pto_use *uses;
	struct pto_op *def;		/* NULL for a block argument */
	struct pto_block *block;	/* of a block argument */
	uint32_t index;			/* among the results or arguments */
	uint32_t id;			/* free for the running pass; not cleared */
	struct pto_loc loc;
	void *data;			/* free for the running pass; it clears what it sets */
};

struct pto_use {
	struct pto_value *value;
	struct pto_use *next;
	struct pto_use **link;		/* what points here */
	struct pto_op *op;
	uint8_t role;			/* enum pto_role */
	uint8_t group;			/* ins/outs form: 0 ins, 1 outs; else number of the "%" */
	bool apart;			/* must not share its buffer with an output */
};

struct pto_region {
	struct pto_op *op;
	struct pto_block *first, *last;
};

struct pto_block {
	struct pto_region *region;
	struct pto_block *next;
	struct pto_op *first, *last;
	struct pto_value *args;		/* array */
	uint32_t n_args;
	const struct pto_name *label;	/* "bb0", or NULL for an entry block without one */
};

struct pto_op {
	const struct pto_opinfo *info;
	struct pto_block *block;
	struct pto_op *prev, *next;
	struct pto_use *operand;
	struct pto_value *result;
	struct pto_attr *attr;
	struct pto_region *region;
	struct pto_block **succ;
	uint16_t n_operands, n_results, n_attrs, n_regions, n_succs;
	struct pto_loc loc;
	uint32_t id;			/* free for the running pass; not cleared */
	void *data;			/* free for the running pass; it clears what it sets */
};

/* A function is an operation too (PTO_OP_FUNC): attributes and body as usual. */
struct pto_func {
	struct pto_func *next;
	struct pto_module *module;
	struct pto_op *op;		/* region[0] is the body; no block: a declaration */
	const struct pto_name *name;
	const struct pto_type **arg_types;
	struct pto_attr *arg_attrs;	/* one PTO_ATTR_DICT per argument; NULL when none has any */
	const struct pto_type *result;	/* NULL: none */
	uint32_t n_args;
	bool is_private, is_public;	/* as written */
};

struct pto_module {
	struct arena arena;
	struct pto_func *first, *last;
	const struct pto_name *name;	/* module @name, or NULL */
	struct pto_attr *attr;
	uint32_t n_attrs;
	enum pto_arch arch;		/* pto.target_arch of the text; pto_set_arch() overrides */
	const char *file;		/* for diagnostics */
	const char *text;		/* copy of the source; NULL when built by hand */
	size_t text_size;
	struct pto_interner *interner;
	struct pto_name *known[PTO_OPCODES];	/* op names */
	bool no_memory;			/* an allocation failed: the module is not whole */
};

static inline bool pto_func_has_body(const struct pto_func *f)
{
	return f->op->region[0].first != NULL;
}

#define pto_for_each_func(f, m) \
	for (struct pto_func *f = (m)->first; f; f = f->next)
#define pto_for_each_block(b, r) \
	for (struct pto_block *b = (r)->first; b; b = b->next)
#define pto_for_each_op(o, b) \
	for (struct pto_op *o = (b)->first; o; o = o->next)
/* @o may be removed in the body. */
#define pto_for_each_op_safe(o, b) \
	for (struct pto_op *o = (b)->first, *o##_next = o ? o->next : NULL; o; \
	     o = o##_next, o##_next = o ? o->next : NULL)
#define pto_for_each_use(u, v) \
	for (struct pto_use *u = (v)->uses; u; u = u->next)

/**
 * pto_walk() - @fn for each operation below @op (not @op itself), before those inside it
 *
 * Return: the first value of @fn that is not 0, which ends the walk, else 0.
 */
int pto_walk(struct pto_op *op, int (*fn)(struct pto_op *op, void *arg), void *arg);

/* The operation whose region holds @op; NULL for a function. */
struct pto_op *pto_parent(const struct pto_op *op);
/* The function around @op (itself when it is one). */
struct pto_func *pto_func_of(struct pto_module *m, const struct pto_op *op);
/* First operand of @group, or NULL; pto_group_count() of them stand together. */
struct pto_use *pto_operand(const struct pto_op *op, unsigned int group);
unsigned int pto_group_count(const struct pto_op *op, unsigned int group);
/* The attribute called @name, or NULL. */
const struct pto_attr *pto_attr_find(const struct pto_op *op, const char *name);
/* Integer, bool or enum value of an attribute, @otherwise when it is absent. */
int64_t pto_attr_int(const struct pto_op *op, const char *name, int64_t otherwise);
/* Whether @v is a constant integer (arith.constant); its value in *@out. */
bool pto_const_int(const struct pto_value *v, int64_t *out);
/* The value whose storage @v is: through treshape, subview, bitcast, partition_view, addptr, ... */
struct pto_value *pto_root(struct pto_value *v);

/* ---- Changing a program -------------------------------------------------------------------- */

struct pto_op_shape {
	unsigned int operands, results, attrs, regions, succs;
};

/**
 * pto_op_new() - operation without a place; operands and attributes are to be filled in
 *
 * Fill operands with pto_set_operand() (and @group), results' types in op->result[i].type,
 * attributes in op->attr[i]; then pto_op_bind() sets the roles. Return: NULL when memory is short.
 */
struct pto_op *pto_op_new(struct pto_module *m, enum pto_opcode code, struct pto_op_shape shape,
			  struct pto_loc loc);
void pto_set_operand(struct pto_op *op, unsigned int i, struct pto_value *v);
/* Appends an operand to @group, behind those of lower groups. 0 or -ENOMEM. */
int pto_add_operand(struct pto_module *m, struct pto_op *op, unsigned int group,
		    struct pto_value *v);
/* Roles and apart-marks of all operands from the signature. -EINVAL: no form of the op fits. */
int pto_op_bind(struct pto_op *op);
void pto_append(struct pto_block *b, struct pto_op *op);
void pto_insert_before(struct pto_op *at, struct pto_op *op);
void pto_insert_after(struct pto_op *at, struct pto_op *op);
/* Takes @op out of its block and drops its uses; its results must have none left. */
void pto_remove(struct pto_op *op);
void pto_replace_all_uses(struct pto_value *from, struct pto_value *to);
struct pto_block *pto_block_new(struct pto_module *m, struct pto_region *r, unsigned int n_args);
/* Adds or replaces an attribute of that name. 0 or -ENOMEM. */
int pto_set_attr(struct pto_module *m, struct pto_op *op, struct pto_attr attr);
int pto_set_attr_int(struct pto_module *m, struct pto_op *op, const char *name, int64_t value,
		     enum pto_elem type);
int pto_set_attr_enum(struct pto_module *m, struct pto_op *op, const char *name,
		      enum pto_attr_enum of, int64_t value);
/* arith.constant of an integer type, placed before @at. NULL when memory is short. */
struct pto_op *pto_const_before(struct pto_module *m, struct pto_op *at, enum pto_elem type,
				int64_t value);

#endif
