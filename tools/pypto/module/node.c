/* SPDX-License-Identifier: MIT */
/* IR as Python objects. Attributes of a node are the fields of its row in the node table. */
#include <string.h>

#include "../equal.h"
#include "../print.h"
#include "binding.h"

PyTypeObject *context_type, *node_type, *type_type;

/* ---- Context ---- */

static Py_ssize_t live_contexts;	/* under the interpreter's lock */

struct context_object *context_new(void)
{
	allocfunc alloc = PyType_GetSlot(context_type, Py_tp_alloc);
	struct context_object *c = (struct context_object *)alloc(context_type, 0);

	if (!c)
		return NULL;
	px_init(&c->px);
	live_contexts++;
	c->others = PyList_New(0);
	if (!c->others)
		Py_CLEAR(c);
	return c;
}

/* ---- Texts ---- */

static PyObject *texts;	/* address of a file name -> list of lines */

int context_set_text(struct context_object *context, const char *file, PyObject *lines)
{
	PyObject *key = PyLong_FromVoidPtr((void *)file);

	if (!texts)
		texts = PyDict_New();
	if (!texts || !key || PyDict_SetItem(texts, key, lines)) {
		Py_XDECREF(key);
		return -1;
	}
	context->file = key;
	return 0;
}

/* A context may end while an exception is on its way. */
static void drop_text(struct context_object *context)
{
	PyObject *type, *value, *trace;

	if (!context->file)
		return;
	PyErr_Fetch(&type, &value, &trace);
	if (PyDict_DelItem(texts, context->file))
		PyErr_Clear();
	PyErr_Restore(type, value, trace);
	Py_CLEAR(context->file);
}

PyObject *context_text(const char *file)
{
	PyObject *key = texts ? PyLong_FromVoidPtr((void *)file) : NULL;
	PyObject *lines = key ? PyDict_GetItemWithError(texts, key) : NULL;

	Py_XDECREF(key);
	return lines || PyErr_Occurred() ? lines : Py_None;
}

static void context_free(PyObject *self)
{
	struct context_object *c = (struct context_object *)self;
	PyTypeObject *type = Py_TYPE(self);
	freefunc release = PyType_GetSlot(type, Py_tp_free);

	drop_text(c);
	px_fini(&c->px);
	live_contexts--;
	Py_XDECREF(c->others);
	release(self);
	Py_DECREF(type);
}

struct context_object *context_for(const struct node_object *node)
{
	struct context_object *c = context_new();

	if (c && context_keep(c, node))
		Py_CLEAR(c);
	return c;
}

PyObject *context_count(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return PyLong_FromSsize_t(live_contexts);
}

PyObject *context_trim(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	px_trim();
	Py_RETURN_NONE;
}

PyObject *context_mark(PyObject *module, PyObject *object)
{
	struct node_object *node = node_of(object);

	(void)module;
	return node ? PyLong_FromVoidPtr(node->context->px.arena.cur) : NULL;
}

int context_keep(struct context_object *context, const struct node_object *node)
{
	if (node->context == context)
		return 0;
	return PyList_Append(context->others, (PyObject *)node->context);
}

/* ---- Values of fields ---- */

static PyObject *node_or_none(struct context_object *c, struct ir_node *node)
{
	if (!node)
		Py_RETURN_NONE;
	return node_new(c, node);
}

static PyObject *list_object(struct context_object *c, const struct ir_list *list)
{
	PyObject *out = PyList_New(list->n);
	uint32_t i;

	for (i = 0; out && i < list->n; i++) {
		PyObject *item = node_or_none(c, list->at[i]);

		if (!item || PyList_SetItem(out, i, item))
			Py_CLEAR(out);
	}
	return out;
}

static PyObject *attr_object(const struct ir_attr *attr)
{
	switch (attr->kind) {
	case AT_BOOL:
		return PyBool_FromLong(attr->i);
	case AT_FLOAT:
		return PyFloat_FromDouble(attr->f);
	case AT_STR:
		return PyUnicode_FromString(attr->s);
	case AT_DTYPE:
		return PyUnicode_FromString(dtype_name((unsigned int)attr->i));
	default:
		return PyLong_FromLongLong(attr->i);
	}
}

static PyObject *attrs_object(const struct ir_call *call)
{
	PyObject *out = PyDict_New();
	uint32_t i;

	for (i = 0; out && i < call->n_attrs; i++) {
		PyObject *value = attr_object(&call->attrs[i]);

		if (!value || PyDict_SetItemString(out, call->attrs[i].key, value))
			Py_CLEAR(out);
		Py_XDECREF(value);
	}
	return out;
}

static PyObject *types_object(struct context_object *c, const struct ir_type **types, uint32_t n)
{
	PyObject *out = PyList_New(n);
	uint32_t i;

	for (i = 0; out && i < n; i++) {
		PyObject *item = type_new(c, types[i]);

		if (!item || PyList_SetItem(out, i, item))
			Py_CLEAR(out);
	}
	return out;
}

static PyObject *directions_object(const struct ir_function *f)
{
	PyObject *out = PyList_New(f->params.n);
	uint32_t i;

	for (i = 0; out && i < f->params.n; i++) {
		PyObject *number = PyLong_FromLong(f->directions[i]);

		if (!number || PyList_SetItem(out, i, number))
			Py_CLEAR(out);
	}
	return out;
}

static PyObject *functions_object(struct context_object *c, const struct ir_list *list)
{
	PyObject *out = PyDict_New();
	uint32_t i;

	for (i = 0; out && i < list->n; i++) {
		PyObject *item = node_new(c, list->at[i]);

		if (!item || PyDict_SetItemString(out, IR_AS(list->at[i], function)->name, item))
			Py_CLEAR(out);
		Py_XDECREF(item);
	}
	return out;
}

static PyObject *field_object(struct node_object *self, const struct ir_field *field)
{
	struct context_object *c = self->context;
	void *at = ir_field_at(self->node, field);

	switch (field->kind) {
	case FK_STR:
	case FK_CALLEE:
		return PyUnicode_FromString(*(const char **)at);
	case FK_I64:
		return PyLong_FromLongLong(*(int64_t *)at);
	case FK_U64:
		return PyLong_FromUnsignedLongLong(*(uint64_t *)at);
	case FK_U8:
		return PyLong_FromLong(*(uint8_t *)at);
	case FK_BOOL:
		return PyBool_FromLong(*(bool *)at);
	case FK_F64:
		return PyFloat_FromDouble(*(double *)at);
	case FK_EXPR:
	case FK_STMT:
	case FK_DEF:
		return node_or_none(c, *(struct ir_node **)at);
	case FK_ATTRS:
		return attrs_object(IR_AS(self->node, call));
	case FK_TYPES:
		return types_object(c, IR_AS(self->node, function)->return_types,
				    IR_AS(self->node, function)->n_returns);
	case FK_DIRS:
		return directions_object(IR_AS(self->node, function));
	case FK_FUNCS:
		return functions_object(c, at);
	default:
		return list_object(c, at);
	}
}

static PyObject *span_object(const struct span *s)
{
	return Py_BuildValue("(sIIII)", s->file ? s->file : "", s->line, s->col, s->end_line,
			     s->end_col);
}

static PyObject *node_getattr(PyObject *object, PyObject *key)
{
	struct node_object *self = (struct node_object *)object;
	const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
	const struct ir_field *field;

	if (!name)
		return NULL;
	for (field = ir_kind_info[self->node->kind].fields; field->name; field++)
		if (!strcmp(field->name, name))
			return field_object(self, field);
	if (!strcmp(name, "node_kind"))
		return PyUnicode_FromString(ir_kind_info[self->node->kind].name);
	if (!strcmp(name, "span"))
		return span_object(&self->node->span);
	if (!strcmp(name, "type") && self->node->type)
		return type_new(self->context, self->node->type);
	return PyObject_GenericGetAttr(object, key);
}

static PyObject *node_text(PyObject *object)
{
	struct node_object *self = (struct node_object *)object;
	const char *text;
	PyObject *out;
	struct px px;

	px_init(&px);
	px_guard(&px, text, ir_print(&px, self->node, "pl"), NULL);
	out = text ? PyUnicode_FromString(text) : PyErr_NoMemory();
	px_fini(&px);
	return out;
}

static PyObject *node_repr(PyObject *object)
{
	struct node_object *self = (struct node_object *)object;

	return PyUnicode_FromFormat("<pypto %s>", ir_kind_info[self->node->kind].name);
}

/* A program is run on a chip: pypto.runtime.run(node, ...). */
static PyObject *node_call(PyObject *object, PyObject *args, PyObject *options)
{
	PyObject *runtime = PyImport_ImportModule("pypto.runtime");
	PyObject *run = runtime ? PyObject_GetAttrString(runtime, "run") : NULL;
	Py_ssize_t n = PyTuple_Size(args), i;
	PyObject *all = run ? PyTuple_New(n + 1) : NULL, *out = NULL;

	for (i = 0; all && i <= n; i++) {
		PyObject *item = i ? PyTuple_GetItem(args, i - 1) : object;

		Py_INCREF(item);
		PyTuple_SetItem(all, i, item);
	}
	if (all)
		out = PyObject_Call(run, all, options);
	Py_XDECREF(all);
	Py_XDECREF(run);
	Py_XDECREF(runtime);
	return out;
}

static void node_free(PyObject *object)
{
	PyTypeObject *type = Py_TYPE(object);
	freefunc release = PyType_GetSlot(type, Py_tp_free);

	Py_XDECREF((PyObject *)((struct node_object *)object)->context);
	release(object);
	Py_DECREF(type);
}

PyObject *node_new(struct context_object *context, struct ir_node *node)
{
	allocfunc alloc = PyType_GetSlot(node_type, Py_tp_alloc);
	struct node_object *self = (struct node_object *)alloc(node_type, 0);

	if (!self)
		return NULL;
	Py_INCREF((PyObject *)context);
	self->context = context;
	self->node = node;
	return (PyObject *)self;
}

struct node_object *node_of(PyObject *object)
{
	if (PyObject_TypeCheck(object, node_type))
		return (struct node_object *)object;
	PyErr_Format(PyExc_TypeError, "an IR node is needed, not %R", Py_TYPE(object));
	return NULL;
}

static Py_hash_t node_hash(PyObject *object)
{
	return (Py_hash_t)((uintptr_t)((struct node_object *)object)->node >> 4);
}

static PyObject *node_compare(PyObject *a, PyObject *b, int op)
{
	bool same;

	if ((op != Py_EQ && op != Py_NE) || !PyObject_TypeCheck(b, node_type))
		Py_RETURN_NOTIMPLEMENTED;
	same = ((struct node_object *)a)->node == ((struct node_object *)b)->node;
	return PyBool_FromLong(same == (op == Py_EQ));
}

/* ---- Types ---- */

static PyObject *view_object(struct context_object *c, const struct ir_type *t)
{
	const struct ir_list *valid = t->view.valid.n ? &t->view.valid : &t->shape;

	return Py_BuildValue("{sNsssssIss}", "valid_shape", list_object(c, valid), "blayout",
			     enum_name(EN_TILE_LAYOUT, t->view.blayout), "slayout",
			     enum_name(EN_TILE_LAYOUT, t->view.slayout), "fractal", t->view.fractal,
			     "pad", enum_name(EN_TILE_PAD, t->view.pad));
}

static PyObject *shape_object(struct context_object *c, const struct ir_list *shape)
{
	PyObject *out = PyList_New(shape->n);
	uint32_t i;

	for (i = 0; out && i < shape->n; i++) {
		struct ir_node *dim = shape->at[i];
		PyObject *item = dim->kind == IR_CONST_INT ?
			PyLong_FromLongLong(IR_AS(dim, const)->value) : node_new(c, dim);

		if (!item || PyList_SetItem(out, i, item))
			Py_CLEAR(out);
	}
	return out;
}

static PyObject *type_getattr(PyObject *object, PyObject *key)
{
	struct type_object *self = (struct type_object *)object;
	const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
	const struct ir_type *t = self->type;

	if (!name)
		return NULL;
	if (!strcmp(name, "kind"))
		return PyUnicode_FromString(type_kind_name(t));
	if (!strcmp(name, "dtype"))
		return PyUnicode_FromString(dtype_name(t->dtype));
	if (!strcmp(name, "shape"))
		return shape_object(self->context, &t->shape);
	if (!strcmp(name, "types"))
		return types_object(self->context, t->items, t->n_items);
	if (!strcmp(name, "tile_view") && t->kind == TY_TILE)
		return view_object(self->context, t);
	if (!strcmp(name, "layout"))
		return PyUnicode_FromString(enum_name(EN_TENSOR_LAYOUT, t->layout));
	if (!strcmp(name, "memref"))
		return node_or_none(self->context, (struct ir_node *)t->memref);
	return PyObject_GenericGetAttr(object, key);
}

static PyObject *type_str(PyObject *object)
{
	struct type_object *self = (struct type_object *)object;
	const char *text;
	PyObject *out;
	struct px px;

	px_init(&px);
	px_guard(&px, text, type_text(&px, self->type), NULL);
	out = text ? PyUnicode_FromString(text) : PyErr_NoMemory();
	px_fini(&px);
	return out;
}

static void type_free(PyObject *object)
{
	PyTypeObject *type = Py_TYPE(object);
	freefunc release = PyType_GetSlot(type, Py_tp_free);

	Py_XDECREF((PyObject *)((struct type_object *)object)->context);
	release(object);
	Py_DECREF(type);
}

PyObject *type_new(struct context_object *context, const struct ir_type *type)
{
	allocfunc alloc = PyType_GetSlot(type_type, Py_tp_alloc);
	struct type_object *self = (struct type_object *)alloc(type_type, 0);

	if (!self)
		return NULL;
	Py_INCREF((PyObject *)context);
	self->context = context;
	self->type = type;
	return (PyObject *)self;
}

/* ---- Set-up ---- */

static PyType_Spec context_spec = {
	"pypto._core.Context", sizeof(struct context_object), 0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	(PyType_Slot[]){ { Py_tp_dealloc, context_free }, { 0, NULL } }
};
static PyType_Spec node_spec = {
	"pypto._core.Node", sizeof(struct node_object), 0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	(PyType_Slot[]){ { Py_tp_dealloc, node_free }, { Py_tp_getattro, node_getattr },
			 { Py_tp_str, node_text }, { Py_tp_repr, node_repr },
			 { Py_tp_call, node_call },
			 { Py_tp_hash, node_hash }, { Py_tp_richcompare, node_compare },
			 { Py_tp_doc, "A node of the IR; attributes are its fields, node_kind, span and type. "
			   "A program can be called: it runs on a chip (pypto.runtime)." },
			 { 0, NULL } }
};
static PyType_Spec type_spec = {
	"pypto._core.Type", sizeof(struct type_object), 0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	(PyType_Slot[]){ { Py_tp_dealloc, type_free }, { Py_tp_getattro, type_getattr },
			 { Py_tp_str, type_str },
			 { Py_tp_doc, "Type of a value: kind, dtype, shape, types, tile_view, layout, memref." },
			 { 0, NULL } }
};

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec)
{
	PyObject *type = PyType_FromSpec(spec);

	if (type && PyModule_AddObjectRef(module, strrchr(spec->name, '.') + 1, type))
		Py_CLEAR(type);
	return (PyTypeObject *)type;
}

int node_types_init(PyObject *module)
{
	context_type = add_type(module, &context_spec);
	node_type = add_type(module, &node_spec);
	type_type = add_type(module, &type_spec);
	return context_type && node_type && type_type ? 0 : -1;
}
