/* SPDX-License-Identifier: MIT */
/* Reading: the bytes may come from anywhere, so every member is looked up and checked. */
#include <errno.h>
#include <string.h>

#include "form.h"
#include "ops.h"
#include "pass.h"
#include "serial.h"
#include "serial_parse.h"

#define MAX_DEPTH	1000
#define MAX_WEIGHT	20000000

/* A node that was read: later ones may refer to it once it is complete. */
struct read_node {
	struct ir_node *node;
	uint64_t weight;	/* nodes of the tree below it, shared ones each time; 0: not complete */
};

struct reader {
	struct px *px;
	struct read_node *nodes;	/* by id */
	uint32_t n_nodes, room;
	struct ir_list memrefs;		/* of the function at hand */
	uint64_t weight;		/* of what is read at the moment */
	const char *why;
	unsigned int depth;
};

static struct ir_node *read_node(struct reader *r, const msgpack_object *o);
static const struct ir_type *read_type(struct reader *r, const msgpack_object *o);

static bool bad(struct reader *r, const char *what, const char *name)
{
	if (!r->why)
		r->why = px_printf(r->px, "%s '%s'", what, name);
	return false;
}

static const msgpack_object *member(const msgpack_object *map, const char *key)
{
	uint32_t i;

	if (!map || map->type != MSGPACK_OBJECT_MAP)
		return NULL;
	for (i = 0; i < map->via.map.size; i++) {
		const msgpack_object *k = &map->via.map.ptr[i].key;

		if (k->type == MSGPACK_OBJECT_STR && k->via.str.size == strlen(key) &&
		    !memcmp(k->via.str.ptr, key, k->via.str.size))
			return &map->via.map.ptr[i].val;
	}
	return NULL;
}

static bool get_int(struct reader *r, const msgpack_object *map, const char *key, int64_t *out)
{
	const msgpack_object *o = member(map, key);

	if (!o || (o->type != MSGPACK_OBJECT_POSITIVE_INTEGER &&
		   o->type != MSGPACK_OBJECT_NEGATIVE_INTEGER))
		return bad(r, "no integer", key);
	*out = o->via.i64;
	return true;
}

static bool get_str(struct reader *r, const msgpack_object *map, const char *key, const char **out)
{
	const msgpack_object *o = member(map, key);

	if (!o || o->type != MSGPACK_OBJECT_STR)
		return bad(r, "no string", key);
	*out = px_intern_n(r->px, o->via.str.ptr, o->via.str.size);
	return true;
}

static bool read_list(struct reader *r, const msgpack_object *o, struct ir_list *out,
		      const char *name)
{
	uint32_t i;

	if (!o || o->type != MSGPACK_OBJECT_ARRAY)
		return bad(r, "no array", name);
	for (i = 0; i < o->via.array.size; i++) {
		const msgpack_object *item = &o->via.array.ptr[i];
		struct ir_node *node = item->type == MSGPACK_OBJECT_NIL ? NULL : read_node(r, item);

		if (r->why)
			return false;
		list_push(r->px, out, node);
	}
	return true;
}

/* ---- Types ---- */

/* The one memory reference of a function that is like @m; types do not refer to it by a number. */
static struct ir_memref *shared_memref(struct reader *r, struct ir_memref *m)
{
	uint32_t i;

	for (i = 0; i < r->memrefs.n; i++) {
		struct ir_memref *other = IR_AS(r->memrefs.at[i], memref);

		if (other->id == m->id && other->space == m->space && other->addr == m->addr &&
		    other->size == m->size)
			return other;
	}
	list_push(r->px, &r->memrefs, &m->node);
	return m;
}

static bool read_memref(struct reader *r, const msgpack_object *o, struct ir_type *type)
{
	int64_t space, addr, size, id;

	if (!get_int(r, o, "memory_space", &space) || !get_int(r, o, "addr", &addr) ||
	    !get_int(r, o, "size", &size) || !get_int(r, o, "id", &id))
		return false;
	if (!enum_name(EN_MEMORY_SPACE, space))
		return bad(r, "unknown memory space in", "memref");
	type->memref = shared_memref(r, ir_memref(r->px, (enum memory_space)space, addr,
						  (uint64_t)size, (uint64_t)id,
						  (struct span){ 0 }));
	return true;
}

static bool get_enum(struct reader *r, const msgpack_object *map, const char *key,
		     enum px_enum class, uint8_t *out)
{
	const char *name;
	int64_t value;

	if (!get_str(r, map, key, &name))
		return false;
	value = enum_find(class, name);
	*out = (uint8_t)value;
	return value >= 0 || bad(r, "unknown member in", key);
}

static bool read_view(struct reader *r, const msgpack_object *o, struct tile_view *v)
{
	int64_t fractal;

	if (!read_list(r, member(o, "valid_shape"), &v->valid, "valid_shape") ||
	    !get_enum(r, o, "blayout", EN_TILE_LAYOUT, &v->blayout) ||
	    !get_enum(r, o, "slayout", EN_TILE_LAYOUT, &v->slayout) ||
	    !get_enum(r, o, "pad", EN_TILE_PAD, &v->pad) || !get_int(r, o, "fractal", &fractal))
		return false;
	v->fractal = (uint16_t)fractal;
	return v->fractal == fractal || bad(r, "number out of range in", "fractal");
}

static int type_kind_find(const char *name)
{
	int kind;

	for (kind = TY_UNKNOWN; kind <= TY_CLUSTER; kind++)
		if (!strcmp(type_kind_name(&(struct ir_type){ .kind = (uint8_t)kind }), name))
			return kind;
	return -1;
}

static bool read_items(struct reader *r, const msgpack_object *o, struct ir_type *type)
{
	uint32_t i;

	if (!o || o->type != MSGPACK_OBJECT_ARRAY)
		return bad(r, "no array", "types");
	type->items = px_alloc(r->px, o->via.array.size + 1, sizeof(const struct ir_type *));
	for (i = 0; i < o->via.array.size; i++) {
		type->items[i] = read_type(r, &o->via.array.ptr[i]);
		if (!type->items[i])
			return false;
		type->n_items++;
	}
	return true;
}

static bool is_type(struct reader *r, const struct ir_type *type)
{
	const char *why = ir_form_type(r->px, type);

	return !why || bad(r, why, "type");
}

static const struct ir_type *read_type(struct reader *r, const msgpack_object *o)
{
	struct ir_type *type = px_new(r->px, struct ir_type);
	const msgpack_object *part;
	const char *kind;
	int64_t dtype, layout = 0;
	int number;

	if (r->depth++ > MAX_DEPTH && !bad(r, "too deep in", "types"))
		return NULL;
	if (!get_str(r, o, "type_kind", &kind) || !get_int(r, o, "dtype", &dtype))
		return NULL;
	number = type_kind_find(kind);
	if (number < 0 || !dtype_is_code(dtype)) {
		bad(r, "unknown type", kind);
		return NULL;
	}
	type->kind = (uint8_t)number;
	type->dtype = (uint8_t)dtype;
	if ((part = member(o, "shape")) && !read_list(r, part, &type->shape, "shape"))
		return NULL;
	if ((part = member(o, "memref")) && !read_memref(r, part, type))
		return NULL;
	if (type->kind == TY_TILE && !read_view(r, member(o, "tile_view"), &type->view))
		return NULL;
	if ((part = member(o, "tensor_view")) && !get_int(r, part, "layout", &layout))
		return NULL;
	if (!enum_name(EN_TENSOR_LAYOUT, layout)) {
		bad(r, "unknown layout in", "tensor_view");
		return NULL;
	}
	type->layout = (uint8_t)layout;
	if (type->kind == TY_TUPLE && !read_items(r, member(o, "types"), type))
		return NULL;
	r->depth--;
	return is_type(r, type) ? type : NULL;
}

/* ---- Nodes ---- */

static bool read_callee(struct reader *r, const msgpack_object *o, struct ir_call *call)
{
	const msgpack_object *global = member(o, "is_global_var");

	if (!get_str(r, o, "name", &call->callee))
		return false;
	if (!global || global->type != MSGPACK_OBJECT_BOOLEAN)
		return bad(r, "no boolean", "is_global_var");
	if (global->via.boolean)
		return true;
	call->op = op_find(call->callee);
	return call->op || bad(r, "unknown operator", call->callee);
}

static bool read_marked_attr(struct reader *r, const msgpack_object *o, struct ir_attr *a)
{
	const char *type;
	int class;

	if (!get_str(r, o, "type", &type) || !get_int(r, o, "code", &a->i))
		return false;
	if (!strcmp(type, "DataType")) {
		a->kind = AT_DTYPE;
		return dtype_is_code(a->i) ||
		       bad(r, "unknown element type of", a->key);
	}
	for (class = 0; class < EN_CLASSES && strcmp(enum_class_name(class), type); class++)
		;
	a->kind = AT_ENUM;
	a->class = (uint8_t)class;
	return (class < EN_CLASSES && enum_name(class, a->i)) || bad(r, "unknown member of", type);
}

static bool read_attr(struct reader *r, const msgpack_object *o, struct ir_attr *a)
{
	const msgpack_object *value = member(o, "value");

	if (!get_str(r, o, "key", &a->key) || !value)
		return bad(r, "no value of", "kwargs");
	switch (value->type) {
	case MSGPACK_OBJECT_BOOLEAN:
		a->kind = AT_BOOL;
		a->i = value->via.boolean;
		return true;
	case MSGPACK_OBJECT_POSITIVE_INTEGER:
	case MSGPACK_OBJECT_NEGATIVE_INTEGER:
		a->kind = AT_INT;
		a->i = value->via.i64;
		return true;
	case MSGPACK_OBJECT_FLOAT32:
	case MSGPACK_OBJECT_FLOAT64:
		a->kind = AT_FLOAT;
		a->f = value->via.f64;
		return true;
	case MSGPACK_OBJECT_STR:
		a->kind = AT_STR;
		a->s = px_intern_n(r->px, value->via.str.ptr, value->via.str.size);
		return true;
	default:
		return read_marked_attr(r, value, a);
	}
}

static bool read_attrs(struct reader *r, const msgpack_object *o, struct ir_call *call)
{
	uint32_t i;

	if (!o || o->type != MSGPACK_OBJECT_ARRAY)
		return bad(r, "no array", "kwargs");
	call->attrs = px_alloc(r->px, o->via.array.size + 1, sizeof(*call->attrs));
	for (i = 0; i < o->via.array.size; i++)
		if (!read_attr(r, &o->via.array.ptr[i], &call->attrs[call->n_attrs++]))
			return false;
	return true;
}

static bool read_returns(struct reader *r, const msgpack_object *o, struct ir_function *f)
{
	struct ir_type all = { 0 };

	if (!read_items(r, o, &all))
		return false;
	f->return_types = all.items;
	f->n_returns = all.n_items;
	return true;
}

static bool read_directions(struct reader *r, const msgpack_object *o, struct ir_function *f)
{
	uint32_t i;

	if (!o || o->type != MSGPACK_OBJECT_ARRAY || o->via.array.size != f->params.n)
		return bad(r, "no array of the right length", "param_directions");
	f->directions = px_alloc(r->px, f->params.n + 1, 1);
	for (i = 0; i < f->params.n; i++) {
		const msgpack_object *d = &o->via.array.ptr[i];

		if (d->type != MSGPACK_OBJECT_POSITIVE_INTEGER || d->via.u64 > DIR_PIPE_OUT)
			return bad(r, "unknown direction in", "param_directions");
		f->directions[i] = (uint8_t)d->via.u64;
	}
	return true;
}

static bool read_functions(struct reader *r, const msgpack_object *o, struct ir_program *program)
{
	uint32_t i;

	if (!o || o->type != MSGPACK_OBJECT_ARRAY)
		return bad(r, "no array", "functions");
	for (i = 0; i < o->via.array.size; i++) {
		const msgpack_object *value = member(&o->via.array.ptr[i], "value");
		struct ir_node *f = value ? read_node(r, value) : NULL;

		if (!f || f->kind != IR_FUNCTION)
			return bad(r, "no function in", "functions");
		if (program_add(r->px, program, IR_AS(f, function)))
			return bad(r, "duplicate function name", IR_AS(f, function)->name);
	}
	return true;
}

static bool read_child(struct reader *r, const msgpack_object *o, struct ir_node **out,
		       const char *name)
{
	if (!o)
		return bad(r, "no node", name);
	*out = o->type == MSGPACK_OBJECT_NIL ? NULL : read_node(r, o);
	return !r->why;
}

static bool read_field(struct reader *r, const msgpack_object *fields, struct ir_node *node,
		       const struct ir_field *field)
{
	const msgpack_object *o = member(fields, field->name);
	void *at = ir_field_at(node, field);
	int64_t number;

	switch (field->kind) {
	case FK_STR:
		return get_str(r, fields, field->name, at);
	case FK_I64:
	case FK_U64:
		return get_int(r, fields, field->name, at);
	case FK_U8:
		if (!get_int(r, fields, field->name, &number))
			return false;
		*(uint8_t *)at = (uint8_t)number;
		return (number == *(uint8_t *)at &&
			(!field->enum_class || enum_name(field->enum_class - 1, number))) ||
		       bad(r, "unknown member in", field->name);
	case FK_BOOL:
		*(bool *)at = o && o->type == MSGPACK_OBJECT_BOOLEAN && o->via.boolean;
		return true;
	case FK_F64:
		if (!o || (o->type != MSGPACK_OBJECT_FLOAT64 && o->type != MSGPACK_OBJECT_FLOAT32))
			return bad(r, "no number", field->name);
		*(double *)at = o->via.f64;
		return true;
	case FK_EXPR:
	case FK_STMT:
	case FK_DEF:
		return read_child(r, o, at, field->name);
	case FK_CALLEE:
		return read_callee(r, o, IR_AS(node, call));
	case FK_ATTRS:
		return read_attrs(r, o, IR_AS(node, call));
	case FK_TYPES:
		return read_returns(r, o, IR_AS(node, function));
	case FK_DIRS:
		return read_directions(r, o, IR_AS(node, function));
	case FK_FUNCS:
		return read_functions(r, o, IR_AS(node, program));
	default:
		return read_list(r, o, at, field->name);
	}
}

static bool read_span(struct reader *r, const msgpack_object *o, struct span *s)
{
	int64_t n[4];
	int i;

	if (!get_str(r, o, "filename", &s->file) || !get_int(r, o, "begin_line", &n[0]) ||
	    !get_int(r, o, "begin_column", &n[1]) || !get_int(r, o, "end_line", &n[2]) ||
	    !get_int(r, o, "end_column", &n[3]))
		return false;
	for (i = 0; i < 4; i++)
		if (n[i] < 0 || n[i] > INT32_MAX)
			return bad(r, "number out of range in", "span");
	s->line = (uint32_t)n[0];
	s->col = (uint32_t)n[1];
	s->end_line = (uint32_t)n[2];
	s->end_col = (uint32_t)n[3];
	return true;
}

static struct ir_node *read_ref(struct reader *r, const msgpack_object *o)
{
	int64_t id;

	if (!get_int(r, o, "ref", &id))
		return NULL;
	if (id < 0 || id >= r->n_nodes || !r->nodes[id].weight) {
		bad(r, "unknown id in", "ref");
		return NULL;
	}
	r->weight += r->nodes[id].weight;
	if (r->weight > MAX_WEIGHT && !bad(r, "too many repetitions by", "ref"))
		return NULL;
	return r->nodes[id].node;
}

static struct ir_node *read_fields(struct reader *r, const msgpack_object *o, struct ir_node *node)
{
	const msgpack_object *fields = member(o, "fields"), *type = member(fields, "type");
	const struct ir_field *field;

	if (type) {
		node->type = read_type(r, type);
		if (!node->type)
			return NULL;
	}
	if (node->kind == IR_FUNCTION)
		r->memrefs = (struct ir_list){ 0 };
	for (field = ir_kind_info[node->kind].fields; field->name; field++)
		if (!read_field(r, fields, node, field))
			return NULL;
	if (!read_span(r, member(fields, "span"), &node->span))
		return NULL;
	r->why = ir_form(r->px, node);
	if (!r->why && node->kind == IR_MEMREF)
		return &shared_memref(r, IR_AS(node, memref))->node;
	return r->why ? NULL : node;
}

static uint32_t new_id(struct reader *r)
{
	struct read_node *more;

	if (r->n_nodes == r->room) {
		r->room = r->room ? 2 * r->room : 256;
		more = px_alloc(r->px, r->room, sizeof(*more));
		if (r->n_nodes)
			memcpy(more, r->nodes, r->n_nodes * sizeof(*more));
		r->nodes = more;
	}
	return r->n_nodes++;
}

static int kind_find(const char *name)
{
	int kind;

	for (kind = 0; kind < IR_KINDS && strcmp(ir_kind_info[kind].name, name); kind++)
		;
	return kind;
}

static struct ir_node *read_node(struct reader *r, const msgpack_object *o)
{
	uint64_t outer = r->weight;
	struct ir_node *node;
	const char *name;
	int64_t id;
	int kind;

	if (member(o, "ref"))
		return read_ref(r, o);
	if (!get_str(r, o, "type", &name) || !get_int(r, o, "id", &id))
		return NULL;
	kind = kind_find(name);
	if (kind == IR_KINDS || id != r->n_nodes || r->depth > MAX_DEPTH) {
		bad(r, r->depth > MAX_DEPTH ? "too deep at" : "unknown or misplaced node", name);
		return NULL;
	}
	new_id(r);
	r->depth++;
	r->weight = 1;
	node = read_fields(r, o, ir_new(r->px, kind, (struct span){ 0 }, NULL));
	r->depth--;
	if (!node)
		return NULL;
	r->nodes[id] = (struct read_node){ node, r->weight };
	r->weight += outer;
	return node;
}

/* What only the whole function or program shows. */
static const char *whole_problem(struct px *px, const struct ir_node *node)
{
	struct diag **end = px->diags_end, *added;
	unsigned int n_errors = px->n_errors;
	struct ir_program alone = { .node.kind = IR_PROGRAM, .name = "" };
	const struct ir_program *program = IR_AS(node, program);

	if (node->kind != IR_PROGRAM && node->kind != IR_FUNCTION)
		return NULL;
	if (node->kind == IR_FUNCTION) {
		list_push(px, &alone.functions, (struct ir_node *)node);
		program = &alone;
	}
	if (!ir_verify(px, program, PROP_TYPE_CHECKED))
		return NULL;
	added = (*end)->next ? (*end)->next : *end;	/* the first is only the report's head */
	*end = NULL;
	px->diags_end = end;
	px->n_errors = n_errors;
	return added->message;
}

int ir_deserialize(struct px *px, const void *data, size_t size, struct ir_node **node,
		   const char **why)
{
	struct reader r = { .px = px };
	msgpack_object whole;

	*node = NULL;
	*why = serial_parse(px, data, size, &whole);
	if (*why)
		return -EBADMSG;
	*node = read_node(&r, &whole);
	*why = r.why;
	if (*node && !*why)
		*why = whole_problem(px, *node);
	if (!*node && !*why)
		*why = "not a node";
	return *why ? -EBADMSG : 0;
}
