/* SPDX-License-Identifier: MIT */
/* Writing: a node in full at its first visit, a reference afterwards. */
#include <msgpack.h>
#include <string.h>

#include "ops.h"
#include "serial.h"
#include "walk.h"

struct writer {
	struct px *px;
	struct text out;
	msgpack_packer pk;
	struct var_map ids;	/* node -> its number + 1 */
	uintptr_t next;
};

static void write_node(struct writer *w, const struct ir_node *node);

static void put_str(struct writer *w, const char *s)
{
	size_t n = strlen(s);

	msgpack_pack_str(&w->pk, n);
	msgpack_pack_str_body(&w->pk, s, n);
}

static void put_key_int(struct writer *w, const char *key, int64_t value)
{
	put_str(w, key);
	msgpack_pack_int64(&w->pk, value);
}

static void write_list(struct writer *w, const struct ir_list *list)
{
	uint32_t i;

	msgpack_pack_array(&w->pk, list->n);
	for (i = 0; i < list->n; i++)
		write_node(w, list->at[i]);
}

static void write_memref(struct writer *w, const struct ir_memref *m)
{
	put_str(w, "memref");
	msgpack_pack_map(&w->pk, 4);
	put_key_int(w, "memory_space", m->space);
	put_key_int(w, "addr", m->addr);
	put_key_int(w, "size", (int64_t)m->size);
	put_key_int(w, "id", (int64_t)m->id);
}

static void write_view(struct writer *w, const struct tile_view *v)
{
	put_str(w, "tile_view");
	msgpack_pack_map(&w->pk, 5);
	put_str(w, "valid_shape");
	write_list(w, &v->valid);
	put_str(w, "blayout");
	put_str(w, enum_name(EN_TILE_LAYOUT, v->blayout));
	put_str(w, "slayout");
	put_str(w, enum_name(EN_TILE_LAYOUT, v->slayout));
	put_key_int(w, "fractal", v->fractal);
	put_str(w, "pad");
	put_str(w, enum_name(EN_TILE_PAD, v->pad));
}

static void write_type(struct writer *w, const struct ir_type *t)
{
	bool shaped = t->kind == TY_TENSOR || t->kind == TY_TILE || t->kind == TY_PIPE ||
		      t->kind == TY_CLUSTER;
	uint32_t i;

	msgpack_pack_map(&w->pk, 2 + shaped + !!t->memref + (t->kind == TY_TILE) +
			 (t->kind == TY_TENSOR) + (t->kind == TY_TUPLE));
	put_str(w, "type_kind");
	put_str(w, type_kind_name(t));
	put_key_int(w, "dtype", t->dtype);
	if (shaped) {
		put_str(w, "shape");
		write_list(w, &t->shape);
	}
	if (t->memref)
		write_memref(w, t->memref);
	if (t->kind == TY_TILE)
		write_view(w, &t->view);
	if (t->kind == TY_TENSOR) {
		put_str(w, "tensor_view");
		msgpack_pack_map(&w->pk, 1);
		put_key_int(w, "layout", t->layout);
	}
	if (t->kind != TY_TUPLE)
		return;
	put_str(w, "types");
	msgpack_pack_array(&w->pk, t->n_items);
	for (i = 0; i < t->n_items; i++)
		write_type(w, t->items[i]);
}

static void write_attr(struct writer *w, const struct ir_attr *a)
{
	msgpack_pack_map(&w->pk, 2);
	put_str(w, "key");
	put_str(w, a->key);
	put_str(w, "value");
	switch (a->kind) {
	case AT_BOOL:
		a->i ? msgpack_pack_true(&w->pk) : msgpack_pack_false(&w->pk);
		break;
	case AT_INT:
		msgpack_pack_int64(&w->pk, a->i);
		break;
	case AT_FLOAT:
		msgpack_pack_double(&w->pk, a->f);
		break;
	case AT_STR:
		put_str(w, a->s);
		break;
	case AT_DTYPE:
		msgpack_pack_map(&w->pk, 2);
		put_str(w, "type");
		put_str(w, "DataType");
		put_key_int(w, "code", a->i);
		break;
	default:
		msgpack_pack_map(&w->pk, 2);
		put_str(w, "type");
		put_str(w, enum_class_name(a->class));
		put_key_int(w, "code", a->i);
	}
}

static void write_callee(struct writer *w, const struct ir_call *call)
{
	msgpack_pack_map(&w->pk, 2);
	put_str(w, "name");
	put_str(w, call->callee);
	put_str(w, "is_global_var");
	call->op ? msgpack_pack_false(&w->pk) : msgpack_pack_true(&w->pk);
}

static void write_functions(struct writer *w, const struct ir_list *list)
{
	uint32_t i;

	msgpack_pack_array(&w->pk, list->n);
	for (i = 0; i < list->n; i++) {
		msgpack_pack_map(&w->pk, 2);
		put_str(w, "key");
		put_str(w, IR_AS(list->at[i], function)->name);
		put_str(w, "value");
		write_node(w, list->at[i]);
	}
}

static void write_field(struct writer *w, const struct ir_node *node, const struct ir_field *field)
{
	const struct ir_function *f = IR_AS(node, function);
	void *at = ir_field_at(node, field);
	uint32_t i;

	switch (field->kind) {
	case FK_STR:
		put_str(w, *(const char **)at);
		break;
	case FK_I64:
	case FK_U64:
		msgpack_pack_int64(&w->pk, *(int64_t *)at);
		break;
	case FK_U8:
		msgpack_pack_uint8(&w->pk, *(uint8_t *)at);
		break;
	case FK_BOOL:
		*(bool *)at ? msgpack_pack_true(&w->pk) : msgpack_pack_false(&w->pk);
		break;
	case FK_F64:
		msgpack_pack_double(&w->pk, *(double *)at);
		break;
	case FK_EXPR:
	case FK_STMT:
	case FK_DEF:
		write_node(w, *(struct ir_node **)at);
		break;
	case FK_CALLEE:
		write_callee(w, IR_AS(node, call));
		break;
	case FK_ATTRS:
		msgpack_pack_array(&w->pk, IR_AS(node, call)->n_attrs);
		for (i = 0; i < IR_AS(node, call)->n_attrs; i++)
			write_attr(w, &IR_AS(node, call)->attrs[i]);
		break;
	case FK_TYPES:
		msgpack_pack_array(&w->pk, f->n_returns);
		for (i = 0; i < f->n_returns; i++)
			write_type(w, f->return_types[i]);
		break;
	case FK_DIRS:
		msgpack_pack_array(&w->pk, f->params.n);
		for (i = 0; i < f->params.n; i++)
			msgpack_pack_uint8(&w->pk, f->directions[i]);
		break;
	case FK_FUNCS:
		write_functions(w, at);
		break;
	default:
		write_list(w, at);
	}
}

static void write_span(struct writer *w, const struct span *s)
{
	put_str(w, "span");
	msgpack_pack_map(&w->pk, 5);
	put_str(w, "filename");
	put_str(w, s->file ? s->file : "");
	put_key_int(w, "begin_line", s->line);
	put_key_int(w, "begin_column", s->col);
	put_key_int(w, "end_line", s->end_line);
	put_key_int(w, "end_column", s->end_col);
}

static void write_node(struct writer *w, const struct ir_node *node)
{
	const struct ir_field *field;
	uintptr_t id = node ? (uintptr_t)var_map_get(&w->ids, node) : 0;
	uint32_t n = 0;

	if (!node) {
		msgpack_pack_nil(&w->pk);
		return;
	}
	if (id) {
		msgpack_pack_map(&w->pk, 1);
		put_key_int(w, "ref", (int64_t)id - 1);
		return;
	}
	var_map_set(&w->ids, node, (void *)++w->next);
	for (field = ir_kind_info[node->kind].fields; field->name; field++)
		n++;
	msgpack_pack_map(&w->pk, 3);
	put_key_int(w, "id", (int64_t)w->next - 1);
	put_str(w, "type");
	put_str(w, ir_kind_info[node->kind].name);
	put_str(w, "fields");
	msgpack_pack_map(&w->pk, n + 1 + !!node->type);
	if (node->type) {
		put_str(w, "type");
		write_type(w, node->type);
	}
	for (field = ir_kind_info[node->kind].fields; field->name; field++) {
		put_str(w, field->name);
		write_field(w, node, field);
	}
	write_span(w, &node->span);
}

/* Memory is the arena's, which does not return when there is none: packing never fails. */
static int write_bytes(void *data, const char *bytes, size_t n)
{
	text_bytes(data, bytes, n);
	return 0;
}

int ir_serialize(struct px *px, const struct ir_node *node, const void **data, size_t *size)
{
	struct writer w = { .px = px, .out = { .px = px }, .ids = { .px = px } };

	msgpack_packer_init(&w.pk, &w.out, write_bytes);
	write_node(&w, node);
	*data = text_str(&w.out);
	*size = w.out.n;
	return 0;
}
