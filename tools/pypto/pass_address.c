/* SPDX-License-Identifier: MIT */
/* AllocateMemoryAddr, section 7.8: buffers of a space one behind the other, in order of ids. */
#include <stdlib.h>

#include "../ptoas/hazard_access.h"
#include "machine.h"
#include "memref.h"
#include "pass.h"

struct place {
	struct px *px;
	struct ir_list buffers;		/* in order of ids */
	struct var_map placed;		/* memory reference -> the one with an address */
};

static bool note_alloc(void *data, struct ir_node *node)
{
	struct place *p = data;

	if (node->kind == IR_ASSIGN && IR_AS(node, assign)->var->kind == IR_MEMREF)
		list_push(p->px, &p->buffers, IR_AS(node, assign)->var);
	return node->kind >= IR_ASSIGN;
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = IR_AS(*(struct ir_node *const *)a, memref)->id;
	uint64_t y = IR_AS(*(struct ir_node *const *)b, memref)->id;

	return x < y ? -1 : x > y;
}

static void place_all(struct place *p)
{
	uint64_t end[MS_SPACES] = { 0 };
	uint32_t i;

	if (p->buffers.n)
		qsort(p->buffers.at, p->buffers.n, sizeof(struct ir_node *), by_id);
	for (i = 0; i < p->buffers.n; i++) {
		struct ir_memref *m = ir_copy(p->px, p->buffers.at[i]);
		uint64_t align = (uint64_t)pto_alignment(machine_space(m->space));
		uint64_t at = (end[m->space] + align - 1) / align * align;

		if (!m->size)
			diag_hint(p->px, diag_add(p->px, DIAG_COMPILE, m->node.span,
						  "A tile in %s has no constant size",
						  enum_name(EN_MEMORY_SPACE, m->space)),
				  "Give it constant extents, and the symbolic ones as valid_shapes");
		m->addr = (int64_t)at;
		if (__builtin_add_overflow(at, m->size, &end[m->space]))
			end[m->space] = INT64_MAX;
		var_map_set(&p->placed, p->buffers.at[i], m);
	}
}

static void check_usage(struct px *px, const struct ir_function *f, const struct place *p, int arch)
{
	uint64_t end[MS_SPACES] = { 0 };
	const struct ir_memref *first[MS_SPACES] = { NULL };
	uint32_t i;
	unsigned int space;

	for (i = 0; i < p->buffers.n; i++) {
		const struct ir_memref *m = var_map_get(&p->placed, p->buffers.at[i]);
		int64_t limit = pto_capacity(machine_space(m->space), (enum pto_arch)arch);

		end[m->space] = (uint64_t)m->addr + m->size;
		if (!first[m->space] && end[m->space] > (uint64_t)limit)
			first[m->space] = m;
	}
	for (space = 0; space < MS_SPACES; space++)
		if (first[space])
			diag_hint(px, diag_add(px, DIAG_COMPILE, first[space]->node.span,
					       "Function '%s': %s buffer usage (%llu bytes) exceeds platform limit (%lld bytes)",
					       f->name, enum_name(EN_MEMORY_SPACE, space),
					       (unsigned long long)end[space],
					       (long long)pto_capacity(machine_space(space),
								       (enum pto_arch)arch)),
				  "Use smaller tiles, or fewer at the same time; this one does not fit any more");
}

static struct ir_function *place_function(struct px *px, struct ir_function *old, void *data)
{
	struct place p = { .px = px, .placed = { .px = px } };
	const struct pass_options *options = data;

	ir_walk(old->body, note_alloc, &p);
	place_all(&p);
	check_usage(px, old, &p, options->arch);
	return memref_replace(px, old, &p.placed);
}

struct ir_program *pass_allocate_addresses(struct px *px, struct ir_program *program,
					   const struct pass_options *options)
{
	return pass_each(px, program, place_function, (void *)options);
}
