/* SPDX-License-Identifier: MIT */
/*
 * Inside the .pto generator. Sections of the function are separate texts, because constants and
 * buffers are found while the body is written but stand before it (section 10.1).
 */
#ifndef PYPTO_GEN_PTO_H
#define PYPTO_GEN_PTO_H

#include "gen.h"

/* An SSA value: "%3" and "index". */
struct pto_value {
	const char *name, *type;
};

/* A tile handle. */
struct pto_tile {
	struct pto_tile *next;
	struct pto_value v;
	const struct ir_memref *memref;
	const struct ir_type *type;	/* shape, element type, view */
	uint8_t space;
	int64_t addr;			/* in C++ */
	bool sized;			/* its valid extents are set where it is made */
	struct pto_tile *row;		/* the same buffer as one row */
	bool window;			/* a part of a tile, whose rows lie apart */
};

/* A tensor: a view of a parameter, and where in it. */
struct pto_tensor {
	uint32_t param;
	struct pto_value view, pointer;
	const char **offsets;		/* index values, or NULL: all 0 */
	const char **strides;		/* index values */
};

struct pto_gen;

/* How a back end writes statements */
struct gen_flow {
	void (*assign)(struct pto_gen *g, const struct ir_assign *a);
	void (*loop)(struct pto_gen *g, const struct ir_for *s);
	void (*loop_while)(struct pto_gen *g, const struct ir_while *s);
	void (*branch)(struct pto_gen *g, const struct ir_if *s);
	void (*yield)(struct pto_gen *g, const struct ir_list *to, const struct ir_list *values);
	void (*free_pipe)(struct pto_gen *g, const struct ir_node *pipe);
};

struct pto_gen {
	struct px *px;
	const struct gen_flow *flow;
	struct gen_cxx *cxx;		/* of the CCE back end, else NULL */
	const char *naming;		/* what the next tile is called in C++ */
	int64_t scratch, scratch_base, scratch_top;	/* Vec behind all tiles, in C++ */
	const struct ir_program *program;
	const struct ir_function *f;
	enum gen_arch arch;
	enum gen_core core;
	struct text constants, views, allocs, body;
	struct text *to;		/* where lines go */
	struct span at;
	const struct ir_call *call;	/* the operator at hand */
	struct gen_place *places;	/* of each line of the body */
	uint32_t n_places, room_places;
	unsigned int indent, next, n_floats, n_args;
	struct var_map values;		/* scalar variable -> struct pto_value */
	struct var_map tiles;		/* tile variable -> struct pto_tile */
	struct var_map tensors;		/* tensor variable -> struct pto_tensor */
	struct var_map known;		/* interned text of a constant -> its name */
	struct var_map nonnegative, tuples;
	struct var_map pipes;		/* pipe parameter -> its number as text */
	const char *gm_slots;		/* parameter for the slots of pipes in global memory */
	struct pto_tile *all_tiles;
	struct ir_list extents;
};

/* gen_pto.c; a generator for @f, without C++ */
struct pto_gen *pto_gen_new(struct px *px, const struct ir_program *program,
			    const struct ir_function *f, enum gen_arch arch);
void pto_line(struct pto_gen *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *pto_temp(struct pto_gen *g);
struct pto_value *pto_new_value(struct pto_gen *g, const char *name, const char *type);
const char *pto_index(struct pto_gen *g, int64_t value);
void pto_mistake(struct pto_gen *g, const struct ir_node *at, const char *hint, const char *fmt,
		 ...)
	__attribute__((format(printf, 4, 5)));

/* @var is @name of @type from here on. */
void pto_bind(struct pto_gen *g, const struct ir_node *var, const char *name, const char *type);

/* gen_pto_scalar.c: SSA values of expressions */
const char *pto_dtype(struct pto_gen *g, unsigned int dtype, struct span span);
const char *pto_scalar_type(struct pto_gen *g, unsigned int dtype, struct span span);
struct pto_value pto_constant(struct pto_gen *g, int64_t value, const char *type);
struct pto_value pto_float(struct pto_gen *g, double value, unsigned int dtype);
struct pto_value pto_expr(struct pto_gen *g, const struct ir_node *e);
/* The value as type @type: index and integers of one meaning are converted. */
const char *pto_as(struct pto_gen *g, struct pto_value v, const char *type);
const char *pto_index_expr(struct pto_gen *g, const struct ir_node *e);

/* gen_pto_tile.c: handles */
struct pto_tile *pto_tile_of(struct pto_gen *g, const struct ir_node *var);
/* The tile of a window of @in, in C++ */
struct pto_tile *pto_window(struct pto_gen *g, const struct ir_node *var, const struct pto_tile *in);
const char *pto_tile_type(struct pto_gen *g, const struct ir_type *type, uint8_t space);
/* What the assembler calls a memory. */
const char *pto_space(uint8_t space);
/* Name of the platform, in messages. */
const char *pto_platform(const struct pto_gen *g);
/* A buffer of the compiler's, for one operation. */
struct pto_tile *pto_scratch(struct pto_gen *g, const struct ir_type *type, uint8_t space);
/* The same buffer as one row: what element-wise instructions take (D5). */
struct pto_tile *pto_row(struct pto_gen *g, struct pto_tile *t);
bool pto_is_column(const struct pto_tile *t);
/* Gives a tile its valid extents where they are computed when it runs. */
void pto_size(struct pto_gen *g, struct pto_tile *t);
void pto_scan_tiles(struct pto_gen *g);
/* Elements that a tile of @space has there: pto_dim(), and what pads a single line. */
int64_t pto_extent(const struct ir_type *type, uint8_t space, uint32_t from_end);
int64_t pto_dim(const struct ir_list *shape, uint32_t from_end);
/* A type of @rows x @columns otherwise like @like. */
struct ir_type *pto_type_like(struct pto_gen *g, const struct ir_type *like, int64_t rows,
			      int64_t columns, unsigned int dtype);

/* @of seen with another type, here. */
struct pto_value pto_alias(struct pto_gen *g, struct pto_tile *of, const struct ir_type *type);
/* C++ only: what is computed into scratch memory is there (gen_cce.c). */
void cce_settle(struct pto_gen *g);
void cce_declare(struct pto_gen *g, struct pto_tile *t);
bool cce_movement(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call);

/* gen_pto_op.c, gen_pto_move.c, gen_pto_reduce.c: operators */
void pto_operator(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call);
bool pto_is_elementwise(const struct px_op *op);
#define DT_NONE	0xff	/* no element type; 0 is DT_BOOL */
/* What an instruction with tile operands of equal types computes in; DT_NONE: types differ. */
unsigned int pto_compute_dtype(const struct ir_call *call, const struct ir_type *result);

/* gen_pto_cast.c: one tile as elements of the other's type; @mode: of a cast, or this one */
#define PTO_MODE_OF_TYPES	(-1)
void pto_convert(struct pto_gen *g, struct pto_tile *from, struct pto_tile *to, int64_t mode);
int64_t pto_cast_mode(const struct ir_call *call);	/* the author's, or PTO_MODE_OF_TYPES */

/* gen_pto_types.c: whether the platform has the operator for its element types, else a mistake */
bool pto_types_fit(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call);
bool pto_movement(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call);
bool pto_reduction(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call);
/* Element @at of @t becomes the scalar @var. */
void pto_get_element(struct pto_gen *g, const struct ir_node *var, const struct pto_tile *t,
		     const char *at);
bool pto_same_extents(const struct pto_tile *a, const struct pto_tile *b);
/* @t spread to the shape of @like: one column, one row or one element over all. */
struct pto_tile *pto_spread(struct pto_gen *g, struct pto_tile *t, const struct pto_tile *like);

/* gen_pto_mask.c: tiles of BOOL */
/* The operator, when it makes a mask in another way than of numbers. */
bool pto_mask(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call);
/* A mask as an operand of what makes @out: in its shape, as a row. */
struct pto_tile *pto_mask_fit(struct pto_gen *g, struct pto_tile *mask, const struct pto_tile *out);
/* Converts rows when one of them is a mask. */
bool pto_mask_convert(struct pto_gen *g, struct pto_tile *from, struct pto_tile *to);
/* Bytes to load a mask into; what was loaded becomes the mask; bytes to store. */
struct pto_tile *pto_mask_bytes(struct pto_gen *g, const struct pto_tile *mask);
void pto_mask_loaded(struct pto_gen *g, struct pto_tile *bytes, struct pto_tile *mask);
struct pto_tile *pto_mask_stored(struct pto_gen *g, struct pto_tile *mask);
/* C++ only: what was moved is where it is moved to. */
void pto_mask_settle(struct pto_gen *g);

/* The region that a store writes: as many extents as the tile has. */
struct ir_list pto_stored(struct pto_gen *g, const struct ir_call *call);
bool pto_pipe(struct pto_gen *g, const struct ir_node *var, const struct ir_call *call);
void pto_pipes(struct pto_gen *g);
/* Bytes of what one push carries. */
int64_t pto_slot_bytes(const struct ir_type *pipe);
void pto_free(struct pto_gen *g, const struct ir_node *pipe);
void pto_emit(struct pto_gen *g, const char *instr, struct pto_tile **ins, unsigned int n,
	      const struct pto_tile *out);

/* gen_pto_flow.c */
extern const struct gen_flow pto_flow;
/* Statements of either back end; what @body yields becomes @results. */
void gen_body(struct pto_gen *g, struct ir_node *body, const struct ir_list *results);

#endif
