/* SPDX-License-Identifier: MIT */
/* Storage behind values, and the cells of a function. */
#include <stdlib.h>
#include <string.h>

#include "hazard_access.h"

/* ---- Values ------------------------------------------------------------------------------ */

#define MAX_SEEN	64
#define MAX_STEPS	1024

struct resolve {
	const struct pto_value *seen[MAX_SEEN];
	unsigned int n_seen, n, steps;
	struct pto_span *out;
	bool lost;		/* too many possibilities */
};

/* A window into a buffer: bytes [lo, hi) of it; hi < 0: up to its end. */
struct window {
	int64_t lo, hi;
	bool part;
};

static void resolve(struct resolve *r, const struct pto_value *v, struct window w);

static void found(struct resolve *r, struct pto_span s)
{
	unsigned int i;

	for (i = 0; i < r->n; i++)
		if (r->out[i].root == s.root && r->out[i].base == s.base && r->out[i].end == s.end)
			return;
	if (r->n == PTO_MAX_SPANS)
		r->lost = true;
	else
		r->out[r->n++] = s;
}

static void found_any(struct resolve *r, const struct pto_value *v)
{
	found(r, (struct pto_span){ .space = (uint8_t)pto_type_memory(v->type),
				    .place = PTO_PLACE_ANY });
}

static void found_root(struct resolve *r, const struct pto_value *v, struct window w)
{
	found(r, (struct pto_span){ .space = (uint8_t)pto_type_memory(v->type), .part = w.part,
				    .place = PTO_PLACE_ROOT, .root = v });
}

static int64_t aligned(int64_t n, int64_t align)
{
	return (n + align - 1) / align * align;
}

/* A buffer at @base, as an allocation or an assignment says. */
static void found_addr(struct resolve *r, const struct pto_value *v, const struct pto_value *addr,
		       struct window w)
{
	int64_t bytes = pto_type_bytes(v->type), base;
	enum pto_space space = pto_type_memory(v->type);

	if (!pto_const_int(addr, &base) || bytes < 0) {
		found_any(r, v);
		return;
	}
	found(r, (struct pto_span){ .space = (uint8_t)space, .part = w.part,
				    .place = PTO_PLACE_ADDR, .root = v, .base = base + w.lo,
				    .end = w.hi < 0 ? base + aligned(bytes, 32) : base + w.hi });
}

static void found_alloc(struct resolve *r, const struct pto_value *v, struct window w)
{
	const struct pto_use *addr = pto_operand(v->def, 0);

	if (addr)
		found_addr(r, v, addr->value, w);
	else
		found_root(r, v, w);
}

/* Row-major windows at constant offsets are narrowed; the others count as the whole. */
static struct window subview(const struct pto_op *op, struct window w)
{
	const struct pto_type *from = op->operand[0].value->type, *to;
	const struct pto_use *at = pto_operand(op, 1);
	int64_t row, col, bytes;

	w.part = true;
	if (!op->n_results || from->kind != PTO_T_TILE || !at ||
	    pto_group_count(op, 1) != 2)
		return w;
	to = op->result[0].type;
	bytes = pto_elem_info((enum pto_elem)from->elem)->bits / 8;
	if (w.lo || w.hi >= 0 || from->blayout != PTO_ROW_MAJOR ||
	    from->slayout != PTO_NONE_BOX || to->dim[0] <= 0 || to->dim[0] > from->dim[0] ||
	    !pto_const_int(at[0].value, &row) || !pto_const_int(at[1].value, &col))
		return w;
	w.lo = (row * from->dim[1] + col) * bytes;
	w.hi = ((row + to->dim[0] - 1) * from->dim[1] + col + to->dim[1]) * bytes;
	return w;
}

static struct window slot(const struct pto_op *op, struct window w)
{
	const struct pto_type *multi = op->operand[0].value->type;
	int64_t i, bytes = multi->inner ? pto_type_bytes(multi->inner) : -1;

	w.part = true;
	if (bytes < 0 || w.lo || w.hi >= 0 || !pto_const_int(op->operand[1].value, &i))
		return w;
	w.lo = i * bytes;
	w.hi = w.lo + bytes;
	return w;
}

static void resolve_view(struct resolve *r, const struct pto_value *v, struct window w)
{
	const struct pto_op *op = v->def;

	switch (pto_code(op)) {
	case PTO_OP_TASSIGN:
		found_addr(r, v, op->operand[1].value, w);
		return;
	case PTO_OP_SUBVIEW:
	case PTO_OP_SUBSET:
		w = subview(op, w);
		break;
	case PTO_OP_MULTI_TILE_GET:
		w = slot(op, w);
		break;
	default:
		break;
	}
	resolve(r, op->operand[0].value, w);
}

/* Operand @i of what ends each block of @region, when it is @code. */
static void resolve_yields(struct resolve *r, const struct pto_region *region,
			   enum pto_opcode code, unsigned int i, struct window w)
{
	pto_for_each_block(b, region) {
		if (!b->last || b->last->info->code != code)
			continue;
		if (i < b->last->n_operands)
			resolve(r, b->last->operand[i].value, w);
	}
}

/* Value @i that a loop carries. */
static void resolve_carried(struct resolve *r, const struct pto_op *loop, unsigned int i,
			    struct window w)
{
	if (loop->info->code == PTO_OP_FOR) {
		if (i + 3 < loop->n_operands)
			resolve(r, loop->operand[i + 3].value, w);
		resolve_yields(r, &loop->region[0], PTO_OP_YIELD, i, w);
		return;
	}
	if (i < loop->n_operands)
		resolve(r, loop->operand[i].value, w);
	resolve_yields(r, &loop->region[1], PTO_OP_YIELD, i, w);
}

static void resolve_arg(struct resolve *r, const struct pto_value *v, struct window w)
{
	const struct pto_region *region = v->block->region;
	const struct pto_op *op = region->op;

	if (v->block != region->first)
		found_any(r, v);
	else if (op->info->code == PTO_OP_FUNC)
		found_root(r, v, w);
	else if (op->info->code == PTO_OP_FOR && v->index)
		resolve_carried(r, op, v->index - 1, w);
	else if (op->info->code == PTO_OP_WHILE && region == &op->region[0])
		resolve_carried(r, op, v->index, w);
	else if (op->info->code == PTO_OP_WHILE)
		resolve_yields(r, &op->region[0], PTO_OP_CONDITION, v->index + 1, w);
	else
		found_any(r, v);
}

static void resolve_result(struct resolve *r, const struct pto_value *v, struct window w)
{
	const struct pto_op *op = v->def;
	unsigned int i;

	switch (pto_code(op)) {
	case PTO_OP_ALLOC_TILE:
	case PTO_OP_ALLOC_MULTI_TILE:
		found_alloc(r, v, w);
		break;
	case PTO_OP_DECLARE_TILE:
	case PTO_OP_MEMREF_ALLOC:
	case PTO_OP_TPOP_FROM_AIC:
	case PTO_OP_TPOP_FROM_AIV:
		found_root(r, v, w);
		break;
	case PTO_OP_SELECT:
		resolve(r, op->operand[1].value, w);
		resolve(r, op->operand[2].value, w);
		break;
	case PTO_OP_FOR:
		resolve_carried(r, op, v->index, w);
		break;
	case PTO_OP_WHILE:
		resolve_yields(r, &op->region[0], PTO_OP_CONDITION, v->index + 1, w);
		break;
	case PTO_OP_IF:
	case PTO_OP_INDEX_SWITCH:
	case PTO_OP_EXECUTE_REGION:
		for (i = 0; i < op->n_regions; i++)
			resolve_yields(r, &op->region[i], PTO_OP_YIELD, v->index, w);
		break;
	default:
		found_any(r, v);
	}
}

static void resolve(struct resolve *r, const struct pto_value *v, struct window w)
{
	unsigned int i;

	for (i = 0; i < r->n_seen; i++)
		if (r->seen[i] == v)
			return;
	if (r->n_seen == MAX_SEEN || r->steps++ > MAX_STEPS) {
		r->lost = true;
		return;
	}
	r->seen[r->n_seen++] = v;
	if (!v->def)
		resolve_arg(r, v, w);
	else if (pto_has(v->def, PTO_F_VIEW) && v->def->n_operands)
		resolve_view(r, v, w);
	else
		resolve_result(r, v, w);
	if (w.part)
		r->n_seen--; /* another window of the same buffer is another answer */
}

unsigned int pto_spans_of(const struct pto_value *v, struct pto_span *out)
{
	struct resolve r = { .out = out };

	resolve(&r, v, (struct window){ .hi = -1 });
	if (r.lost || !r.n) {
		r.n = 0;
		found_any(&r, v);
	}
	return r.n;
}

bool pto_spans_meet(const struct pto_span *a, const struct pto_span *b)
{
	if (a->space != b->space)
		return false;
	if (a->place == PTO_PLACE_ANY || b->place == PTO_PLACE_ANY)
		return true;
	if (a->place != b->place)
		return false;
	if (a->place == PTO_PLACE_ROOT)
		return a->root == b->root;
	return a->base < b->end && b->base < a->end;
}

/* ---- Spaces ------------------------------------------------------------------------------- */

int64_t pto_capacity(enum pto_space space, enum pto_arch arch)
{
	static const int64_t bytes[PTO_ARCHES][PTO_MEMORIES] = {
		[PTO_ARCH_A3] = {
			[PTO_SPACE_VEC] = 196608, [PTO_SPACE_MAT] = 524288,
			[PTO_SPACE_LEFT] = 65536, [PTO_SPACE_RIGHT] = 65536,
			[PTO_SPACE_ACC] = 131072, [PTO_SPACE_BIAS] = 65536,
			[PTO_SPACE_SCALING] = 196608,
		},
		[PTO_ARCH_A5] = {
			[PTO_SPACE_VEC] = 253952, [PTO_SPACE_MAT] = 524288,
			[PTO_SPACE_LEFT] = 65536, [PTO_SPACE_RIGHT] = 65536,
			[PTO_SPACE_ACC] = 262144, [PTO_SPACE_BIAS] = 65536,
			[PTO_SPACE_SCALING] = 253952, [PTO_SPACE_SCALE_LEFT] = 4096,
			[PTO_SPACE_SCALE_RIGHT] = 4096,
		},
	};

	return bytes[arch][space];
}

int64_t pto_alignment(enum pto_space space)
{
	return space == PTO_SPACE_LEFT || space == PTO_SPACE_RIGHT || space == PTO_SPACE_ACC ? 512 :
	       32;
}

/* ---- Cells -------------------------------------------------------------------------------- */

static bool grow(void **list, uint32_t n, uint32_t *room, size_t size)
{
	uint32_t more = *room ? *room * 2 : 64;
	void *p;

	if (n < *room)
		return true;
	p = realloc(*list, more * size);
	if (!p)
		return false;
	*list = p;
	*room = more;
	return true;
}

/* Buffers at one address are one storage: a chain of tiles at few addresses has few cells. */
static bool same_cell(const struct pto_cell *c, const struct pto_cell *d)
{
	return c->pipe == d->pipe && c->write == d->write && c->span.space == d->span.space &&
	       c->span.place == d->span.place &&
	       (c->span.place == PTO_PLACE_ADDR || c->span.root == d->span.root) &&
	       c->span.base == d->span.base && c->span.end == d->span.end;
}

static uint32_t hash_cell(const struct pto_cell *c)
{
	uint64_t h = (uint64_t)c->span.base * 31 + (uint64_t)c->span.end * 17 + c->pipe * 5u +
		     c->write;

	if (c->span.place != PTO_PLACE_ADDR)
		h += (uintptr_t)c->span.root / 16;
	return (uint32_t)((h * UINT64_C(0x9E3779B97F4A7C15)) >> 55);
}

static uint32_t cell_index(struct pto_access *a, const struct pto_cell *key)
{
	uint32_t *bucket = &a->buckets[hash_cell(key)], i;

	for (i = *bucket; i; i = a->cells[i - 1].chain)
		if (same_cell(&a->cells[i - 1], key))
			return i - 1;
	if (!grow((void **)&a->cells, a->n_cells, &a->cell_room, sizeof(*a->cells))) {
		a->no_memory = true;
		return 0;
	}
	a->cells[a->n_cells] = *key;
	a->cells[a->n_cells].chain = *bucket;
	*bucket = ++a->n_cells;
	return a->n_cells - 1;
}

static void touch(struct pto_access *a, struct pto_op *op, const struct pto_cell *key)
{
	struct pto_touch *t = &a->ops[op->id];
	uint32_t index = cell_index(a, key), i;
	struct pto_cell *c;

	if (a->no_memory)
		return;
	for (i = 0; i < t->n; i++)
		if (a->touched[t->first + i] == index)
			return;
	c = &a->cells[index];
	if (!grow((void **)&a->touched, a->n_touched, &a->touched_room, sizeof(*a->touched)) ||
	    !grow((void **)&c->ops, c->n_ops, &c->room, sizeof(struct pto_op *))) {
		a->no_memory = true;
		return;
	}
	a->touched[a->n_touched++] = index;
	t->n++;
	c->ops[c->n_ops++] = op;
}

static void touch_value(struct pto_access *a, struct pto_op *op, const struct pto_value *v,
			bool write)
{
	unsigned int pipes = pto_op_pipes(op, a->arch), n, i, p;
	struct pto_span spans[PTO_MAX_SPANS];

	n = pto_spans_of(v, spans);
	for (p = 0; p < PTO_PIPES; p++)
		for (i = 0; pipes >> p & 1 && i < n; i++)
			touch(a, op, &(struct pto_cell){ .span = spans[i], .pipe = (uint8_t)p,
							 .write = write });
}

/* ---- Slots of pipes ---------------------------------------------------------------------- */

static bool is_pop(const struct pto_op *op)
{
	return op->info->code == PTO_OP_TPOP_FROM_AIC || op->info->code == PTO_OP_TPOP_FROM_AIV;
}

static bool is_free(const struct pto_op *op)
{
	return op->info->code == PTO_OP_TFREE_FROM_AIC || op->info->code == PTO_OP_TFREE_FROM_AIV;
}

/* Whether @pop takes from the pipe and the direction to which @op gives a slot back. */
static bool same_end(const struct pto_op *pop, const struct pto_op *op)
{
	return (pop->info->code == PTO_OP_TPOP_FROM_AIC) ==
		       (op->info->code == PTO_OP_TFREE_FROM_AIC) &&
	       pto_attr_int(pop, "id", 0) == pto_attr_int(op, "id", 0);
}

static void remember_pop(struct pto_access *a, struct pto_op *op)
{
	a->popped[a->n_popped++ % PTO_POPS] = (struct pto_popped){ .op = op };
}

/*
 * The slot that @op gives back is that of the oldest pop of its block that is not freed yet, for
 * frees come in the order of pops; without one it may be any of the pipe's. Who reads the slot must
 * be done by then, as if @op wrote it.
 */
static void touch_slot(struct pto_access *a, struct pto_op *op)
{
	uint32_t i, first = a->n_popped < PTO_POPS ? 0 : a->n_popped - PTO_POPS;

	for (i = first; i < a->n_popped; i++) {
		struct pto_popped *p = &a->popped[i % PTO_POPS];

		if (p->freed || p->op->block != op->block || !same_end(p->op, op))
			continue;
		p->freed = true;
		touch_value(a, op, &p->op->result[0], true);
		return;
	}
	for (i = first; i < a->n_popped; i++)
		if (same_end(a->popped[i % PTO_POPS].op, op))
			touch_value(a, op, &a->popped[i % PTO_POPS].op->result[0], true);
}

/* ---- Operations -------------------------------------------------------------------------- */

static int collect(struct pto_op *op, void *arg)
{
	struct pto_access *a = arg;
	unsigned int i;

	if (!grow((void **)&a->ops, a->n_ops, &a->op_room, sizeof(*a->ops))) {
		a->no_memory = true;
		return -ENOMEM;
	}
	op->id = a->n_ops;
	a->ops[a->n_ops++] = (struct pto_touch){ .op = op, .first = a->n_touched };
	if (!pto_op_pipes(op, a->arch))
		return 0;
	for (i = 0; i < op->n_operands; i++) {
		uint8_t role = op->operand[i].role;

		if (role != PTO_ROLE_VALUE && role != PTO_ROLE_BIND)
			touch_value(a, op, op->operand[i].value, role != PTO_ROLE_READ);
	}
	if (is_pop(op)) {
		touch_value(a, op, &op->result[0], true);
		remember_pop(a, op);
	} else if (is_free(op)) {
		touch_slot(a, op);
	}
	return a->no_memory ? -ENOMEM : 0;
}

static void find_conflicts(struct pto_access *a)
{
	uint32_t i, j;

	for (i = 0; i < a->n_cells; i++)
		for (j = i; j < a->n_cells; j++) {
			const struct pto_cell *c = &a->cells[i], *d = &a->cells[j];

			if ((!c->write && !d->write) || !pto_spans_meet(&c->span, &d->span))
				continue;
			a->conflicts[(size_t)i * a->words + j / 64] |= UINT64_C(1) << (j % 64);
			a->conflicts[(size_t)j * a->words + i / 64] |= UINT64_C(1) << (i % 64);
		}
}

int pto_access_init(struct pto_access *a, struct pto_op *func, enum pto_arch arch)
{
	memset(a, 0, sizeof(*a));
	a->arch = arch;
	if (pto_walk(func, collect, a))
		return -ENOMEM;
	a->words = (a->n_cells + 63) / 64;
	a->conflicts = calloc((size_t)a->n_cells * a->words + 1, sizeof(*a->conflicts));
	if (!a->conflicts)
		return -ENOMEM;
	find_conflicts(a);
	return 0;
}

void pto_access_fini(struct pto_access *a)
{
	uint32_t i;

	for (i = 0; i < a->n_cells; i++)
		free(a->cells[i].ops);
	free(a->cells);
	free(a->ops);
	free(a->touched);
	free(a->conflicts);
}
