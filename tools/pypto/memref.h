/* SPDX-License-Identifier: MIT */
/* Which buffer each variable of a function is in, while InitMemRef decides it. */
#ifndef PYPTO_MEMREF_H
#define PYPTO_MEMREF_H

#include "life.h"
#include "ops.h"

/* A buffer for a value that a body yields; its place is @yield. */
struct memref_wish {
	struct ir_memref *buffer;
	uint32_t yield;
};

/* The branch of an if at hand: what the other branch does, happens instead. */
struct memref_branch {
	struct memref_branch *outer;
	uint32_t end, if_end;
};

struct memrefs {
	struct px *px;
	const struct ir_program *program;
	const struct ir_function *f;
	struct life life;
	bool cube;			/* the function works on the cube core */
	struct var_map now;		/* variable -> the one with a memory reference */
	struct var_map of;		/* variable -> its struct ir_memref */
	struct var_map wishes;		/* variable -> struct memref_wish */
	struct var_map tuples;		/* variable -> the tuple that was made for it */
	struct memref_branch *branch;
	struct var_map members;		/* memref -> struct ir_list: variables in it */
	struct var_map slots;		/* memref of a pipe's slot -> the tile popped into it */
	struct ir_list allocs;		/* not in DDR, in order */
	uint64_t next_id;
	unsigned int next_move;
	struct ir_list *out;		/* where statements go */
};

static inline bool memref_needed(const struct ir_type *type)
{
	return type->kind == TY_TENSOR || type->kind == TY_TILE;
}

struct ir_memref *memref_new(struct memrefs *m, enum memory_space space,
			     const struct ir_type *type, struct span span);
/* The buffer of a value; NULL: none. */
struct ir_memref *memref_of(const struct memrefs *m, const struct ir_node *value);
/* Puts @var into @buffer; what stands for it from now on. */
struct ir_node *memref_put(struct memrefs *m, struct ir_node *var, struct ir_memref *buffer);

/* The argument whose buffer the result of @call is in; -1: it has one of its own. */
int memref_shares(const struct ir_call *call);
enum memory_space memref_space(const struct memrefs *m, const struct ir_call *call);

/* Whether nobody needs what is in @buffer behind place @after of this branch, up to place @to. */
bool memref_free(const struct memrefs *m, const struct ir_memref *buffer, uint32_t after,
		 uint32_t to);

/*
 * memref_replace.c: @f with the memory references of @replaced exchanged. An allocation goes away
 * when a buffer with another id stands for its own.
 */
struct ir_function *memref_replace(struct px *px, struct ir_function *f, struct var_map *replaced);

/* memref_carry.c: loops and branches */

/* The buffer wished for the result @var of @value, when it is safe to make it there, else NULL. */
struct ir_memref *memref_granted(struct memrefs *m, const struct ir_node *stmt,
				 const struct ir_node *var, const struct ir_node *value);
/* Appends copies to m->out, so that each of @values (rewritten in place) is in its buffer. */
void memref_move_all(struct memrefs *m, struct ir_list *values, struct ir_memref **buffers,
		     struct span span);
/* A copy of @value in a buffer of its own, appended to m->out; NULL with a mistake. */
struct ir_node *memref_copy(struct memrefs *m, struct ir_node *value, struct ir_memref *buffer,
			    struct span span);
void memref_for(struct memrefs *m, struct ir_for *s);
void memref_while(struct memrefs *m, struct ir_while *s);
void memref_if(struct memrefs *m, struct ir_if *s);

/*
 * memref_pipe.c: rewrites statement @i of @stmts when it pops a tile; false: it does not. A tile
 * whose slot is needed before the tile's last use gets a copy.
 */
bool memref_pop(struct memrefs *m, const struct ir_list *stmts, uint32_t i);
static inline bool memref_is_slot(const struct memrefs *m, const struct ir_memref *buffer)
{
	return var_map_get(&m->slots, &buffer->node);
}

/*
 * pass_memref.c: @body rewritten. @buffers: where the values of its yield are to be, NULL where it
 * does not matter.
 */
struct ir_node *memref_body(struct memrefs *m, struct ir_node *body, struct ir_memref **buffers);

#endif
