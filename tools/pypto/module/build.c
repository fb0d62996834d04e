/* SPDX-License-Identifier: MIT */
/*
 * IR made from Python: types, nodes of any kind by the field table, and calls by the operator
 * registry. A new node lives in the context of a node that it uses, which keeps alive the contexts
 * of the others.
 */
#include <errno.h>
#include <string.h>

#include "../form.h"
#include "../ops.h"
#include "binding.h"

struct build {
	struct context_object *context;
};

/* ---- What nodes are ---- */

static bool is_stmt(const struct ir_node *n)
{
	return n->kind >= IR_ASSIGN && n->kind <= IR_OPS;
}

static bool is_expr(const struct ir_node *n)
{
	return n->kind < IR_ASSIGN;
}

static bool is_def(const struct ir_node *n)
{
	return ir_is_var(n) || n->kind == IR_MEMREF;
}

static bool is_function(const struct ir_node *n)
{
	return n->kind == IR_FUNCTION;
}

struct want {
	bool (*fits)(const struct ir_node *node);
	const char *what;
};

static struct want want_of(unsigned int field_kind)
{
	switch (field_kind) {
	case FK_STMT:
	case FK_STMTS:
		return (struct want){ is_stmt, "a statement" };
	case FK_DEF:
	case FK_DEFS:
		return (struct want){ is_def, "a variable" };
	case FK_FUNCS:
		return (struct want){ is_function, "a function" };
	default:
		return (struct want){ is_expr, "an expression" };
	}
}

/* ---- Contexts ---- */

static int use_context(struct build *b, struct context_object *context)
{
	if (!b->context) {
		Py_INCREF((PyObject *)context);
		b->context = context;
		return 0;
	}
	if (b->context == context)
		return 0;
	return PyList_Append(b->context->others, (PyObject *)context);
}

static int need_context(struct build *b)
{
	if (!b->context)
		b->context = context_new();
	return b->context ? 0 : -1;
}

static struct ir_node *node_arg(struct build *b, PyObject *object, const char *name,
				struct want want)
{
	struct node_object *n;

	if (!PyObject_TypeCheck(object, node_type)) {
		PyErr_Format(PyExc_TypeError, "'%s' must be %s, not %R", name, want.what,
			     Py_TYPE(object));
		return NULL;
	}
	n = (struct node_object *)object;
	if (!want.fits(n->node)) {
		PyErr_Format(PyExc_TypeError, "'%s' must be %s, not %s", name, want.what,
			     ir_kind_info[n->node->kind].name);
		return NULL;
	}
	return use_context(b, n->context) ? NULL : n->node;
}

static const struct ir_type *type_arg(struct build *b, PyObject *object)
{
	struct type_object *t = (struct type_object *)object;

	if (!PyObject_TypeCheck(object, type_type)) {
		PyErr_Format(PyExc_TypeError, "a type is needed, not %R", Py_TYPE(object));
		return NULL;
	}
	return use_context(b, t->context) ? NULL : t->type;
}

/* ---- Fields ---- */

static int node_list(struct build *b, PyObject *object, const char *name, struct want want,
		     struct ir_list *out)
{
	Py_ssize_t n = PySequence_Size(object), i;

	for (i = 0; i < n; i++) {
		PyObject *item = PySequence_GetItem(object, i);
		struct ir_node *node = item ? node_arg(b, item, name, want) : NULL;

		Py_XDECREF(item);
		if (!node || need_context(b))
			return -1;
		list_push(&b->context->px, out, node);
	}
	return n < 0 ? -1 : 0;
}

static int add_functions(struct build *b, PyObject *object, struct ir_program *program)
{
	struct ir_list list = { 0 };
	uint32_t i;

	if (node_list(b, object, "functions", want_of(FK_FUNCS), &list))
		return -1;
	for (i = 0; i < list.n; i++) {
		if (!program_add(&b->context->px, program, IR_AS(list.at[i], function)))
			continue;
		PyErr_Format(PyExc_ValueError, "Duplicate function name \"%s\"",
			     IR_AS(list.at[i], function)->name);
		return -1;
	}
	return 0;
}

static int function_types(struct build *b, PyObject *object, struct ir_function *f)
{
	Py_ssize_t n = PySequence_Size(object), i;

	if (n < 0)
		return -1;
	f->return_types = px_alloc(&b->context->px, (size_t)n + 1, sizeof(const struct ir_type *));
	for (i = 0; i < n; i++) {
		PyObject *item = PySequence_GetItem(object, i);

		f->return_types[i] = item ? type_arg(b, item) : NULL;
		Py_XDECREF(item);
		if (!f->return_types[i])
			return -1;
	}
	f->n_returns = (uint32_t)n;
	return 0;
}

/* After the parameters, which the table has before it. */
static int function_directions(struct build *b, PyObject *object, struct ir_function *f)
{
	Py_ssize_t n = PySequence_Size(object), i;

	if (n != f->params.n) {
		PyErr_Format(PyExc_ValueError, "%zd directions for %u parameters", n, f->params.n);
		return -1;
	}
	f->directions = px_alloc(&b->context->px, (size_t)n + 1, 1);
	for (i = 0; i < n; i++) {
		PyObject *item = PySequence_GetItem(object, i);
		long value = item ? PyLong_AsLong(item) : -1;

		Py_XDECREF(item);
		if (!PyErr_Occurred() && !enum_name(EN_DIRECTION, value))
			PyErr_Format(PyExc_ValueError, "%ld is no direction", value);
		if (PyErr_Occurred())
			return -1;
		f->directions[i] = (uint8_t)value;
	}
	return 0;
}

static int number_field(const struct ir_field *field, PyObject *object, void *at)
{
	long long value;

	if (field->kind == FK_F64) {
		*(double *)at = PyFloat_AsDouble(object);
		return PyErr_Occurred() ? -1 : 0;
	}
	value = PyLong_AsLongLong(object);
	if (PyErr_Occurred())
		return -1;
	if (field->kind == FK_U64 && value < 0) {
		PyErr_Format(PyExc_ValueError, "'%s' cannot be %lld", field->name, value);
		return -1;
	}
	if (field->kind == FK_U8 &&
	    (value < 0 || value > 255 ||
	     (field->enum_class && !enum_name(field->enum_class - 1, value)))) {
		PyErr_Format(PyExc_ValueError, "'%s' cannot be %lld", field->name, value);
		return -1;
	}
	if (field->kind == FK_U8)
		*(uint8_t *)at = (uint8_t)value;
	else if (field->kind == FK_BOOL)
		*(bool *)at = value;
	else
		*(int64_t *)at = value;
	return 0;
}

static int text_field(struct build *b, PyObject *object, void *at)
{
	const char *text = PyUnicode_AsUTF8AndSize(object, NULL);

	if (text)
		*(const char **)at = px_intern(&b->context->px, text);
	return text ? 0 : -1;
}

static int set_field(struct build *b, struct ir_node *node, const struct ir_field *field,
		     PyObject *object)
{
	void *at = ir_field_at(node, field);

	switch (field->kind) {
	case FK_STR:
	case FK_CALLEE:
		return text_field(b, object, at);
	case FK_EXPR:
	case FK_STMT:
	case FK_DEF:
		if (object == Py_None)
			return 0;
		*(struct ir_node **)at = node_arg(b, object, field->name, want_of(field->kind));
		return *(struct ir_node **)at ? 0 : -1;
	case FK_EXPRS:
	case FK_STMTS:
	case FK_DEFS:
		return node_list(b, object, field->name, want_of(field->kind), at);
	case FK_FUNCS:
		return add_functions(b, object, IR_AS(node, program));
	case FK_TYPES:
		return function_types(b, object, IR_AS(node, function));
	case FK_DIRS:
		return function_directions(b, object, IR_AS(node, function));
	case FK_ATTRS:
		return 0;	/* of operators only: build_call() */
	default:
		return number_field(field, object, at);
	}
}

static int set_fields(struct build *b, struct ir_node *node, PyObject *fields)
{
	const struct ir_field *field;

	for (field = ir_kind_info[node->kind].fields; field->name; field++) {
		PyObject *value = PyDict_GetItemString(fields, field->name);

		if (value && set_field(b, node, field, value))
			return -1;
	}
	return 0;
}

/* ---- Functions of the module ---- */

/* The first node or type below @object decides where the new one lives. */
static int find_context(struct build *b, PyObject *object)
{
	Py_ssize_t n, i;
	int rc = 0;

	if (PyObject_TypeCheck(object, node_type))
		return use_context(b, ((struct node_object *)object)->context);
	if (PyObject_TypeCheck(object, type_type))
		return use_context(b, ((struct type_object *)object)->context);
	if (!PyList_Check(object) && !PyTuple_Check(object))
		return 0;
	n = PySequence_Size(object);
	for (i = 0; i < n && !rc && !b->context; i++) {
		PyObject *item = PySequence_GetItem(object, i);

		rc = item ? find_context(b, item) : -1;
		Py_XDECREF(item);
	}
	return rc;
}

static PyObject *finish(struct build *b, struct ir_node *node)
{
	PyObject *out = node && !PyErr_Occurred() ? node_new(b->context, node) : NULL;

	if (!out && !PyErr_Occurred())
		PyErr_NoMemory();
	Py_XDECREF((PyObject *)b->context);
	return out;
}

static struct ir_node *new_node(struct build *b, int kind, PyObject *type, PyObject *fields)
{
	const struct ir_type *t = NULL;
	struct ir_node *node;
	const char *why;

	if (type != Py_None || kind < IR_ASSIGN) {
		t = type_arg(b, type);
		if (!t)
			return NULL;
	}
	node = ir_new(&b->context->px, kind, (struct span){ 0 }, t);
	if (set_fields(b, node, fields))
		return NULL;
	why = ir_form(&b->context->px, node);
	if (why)
		PyErr_SetString(PyExc_ValueError, why);
	return why ? NULL : node;
}

PyObject *build_node(PyObject *module, PyObject *args)
{
	struct build b = { 0 };
	PyObject *type, *fields, *values;
	struct ir_node *node;
	const char *name;
	int kind, rc;

	(void)module;
	if (!PyArg_ParseTuple(args, "sOO!", &name, &type, &PyDict_Type, &fields))
		return NULL;
	for (kind = 0; kind < IR_KINDS && strcmp(ir_kind_info[kind].name, name); kind++)
		;
	if (kind == IR_KINDS || kind == IR_CALL)
		return PyErr_Format(PyExc_ValueError, "no kind of node '%s' can be made so", name);
	values = PyDict_Values(fields);
	rc = values ? find_context(&b, type) : -1;
	if (!rc)
		rc = find_context(&b, values);
	Py_XDECREF(values);
	if (rc || need_context(&b))
		return finish(&b, NULL);
	px_guard(&b.context->px, node, new_node(&b, kind, type, fields), NULL);
	return finish(&b, node);
}

static const struct ir_type *new_type(struct build *b, int kind, int dtype, PyObject *parts)
{
	struct px *px = &b->context->px;
	struct ir_list shape = { 0 };
	const struct ir_type **items;
	Py_ssize_t i, n = PyList_Size(parts);

	if (kind == TY_SCALAR)
		return type_scalar(px, (unsigned int)dtype);
	if (kind != TY_TUPLE)
		return node_list(b, parts, "shape", want_of(FK_EXPRS), &shape) ? NULL :
		       type_shaped(px, kind, shape, (unsigned int)dtype);
	items = px_alloc(px, (size_t)n + 1, sizeof(const struct ir_type *));
	for (i = 0; i < n; i++) {
		items[i] = type_arg(b, PyList_GetItem(parts, i));
		if (!items[i])
			return NULL;
	}
	return type_tuple(px, items, (uint32_t)n);
}

static const struct ir_type *checked_type(struct build *b, int kind, int dtype, PyObject *parts)
{
	const struct ir_type *type = new_type(b, kind, dtype, parts);
	const char *why = type ? ir_form_type(&b->context->px, type) : NULL;

	if (why)
		PyErr_SetString(PyExc_ValueError, why);
	return why ? NULL : type;
}

/* (kind, element type's code, extents as expressions or item types) -> type */
PyObject *build_type(PyObject *module, PyObject *args)
{
	struct build b = { 0 };
	const struct ir_type *type;
	PyObject *parts, *out;
	int kind, dtype;

	(void)module;
	if (!PyArg_ParseTuple(args, "iiO!", &kind, &dtype, &PyList_Type, &parts))
		return NULL;
	if (kind != TY_SCALAR && kind != TY_TENSOR && kind != TY_TILE && kind != TY_TUPLE)
		return PyErr_Format(PyExc_ValueError, "no kind of type has the number %d", kind);
	if (kind != TY_TUPLE && !dtype_is_code(dtype))
		return PyErr_Format(PyExc_ValueError, "%d is the code of no element type", dtype);
	if (find_context(&b, parts) || need_context(&b))
		return finish(&b, NULL);
	px_guard(&b.context->px, type, checked_type(&b, kind, dtype, parts), NULL);
	out = type ? type_new(b.context, type) : PyErr_Occurred() ? NULL : PyErr_NoMemory();
	Py_DECREF((PyObject *)b.context);
	return out;
}

/* ---- Calls ---- */

/* "MemorySpace, TensorLayout", or the members of enumeration @class: "DDR 0, Vec 1". */
static const char *enum_names(struct px *px, int class)
{
	struct text t = { .px = px };
	int i;

	for (i = 0; class == EN_CLASSES && i < EN_CLASSES; i++)
		text_printf(&t, "%s%s", t.n ? ", " : "", enum_class_name(i));
	for (i = 0; class < EN_CLASSES && i < ENUM_MEMBERS; i++)
		if (enum_name(class, i))
			text_printf(&t, "%s%s %d", t.n ? ", " : "", enum_name(class, i), i);
	return text_str(&t);
}

static const char *dtype_names(struct px *px)
{
	struct text t = { .px = px };
	const struct dtype_info *info;
	size_t i;

	for (i = 0; (info = dtype_at(i)); i++)
		text_printf(&t, "%s%s %u", t.n ? ", " : "", info->name, info->code);
	return text_str(&t);
}

/* ("dtype", code), or (class of an enumeration, number) */
static int marked_attr(struct px *px, PyObject *value, const char *name, struct ir_attr *attr)
{
	const char *class;
	long long number;
	int i;

	if (!PyArg_ParseTuple(value, "sL", &class, &number))
		return -1;
	attr->i = number;
	if (!strcmp(class, "dtype")) {
		attr->kind = AT_DTYPE;
		if (dtype_is_code(number))
			return 0;
		PyErr_Format(PyExc_ValueError,
			     "'%s': %lld is the code of no element type; they are %s", name, number,
			     dtype_names(px));
		return -1;
	}
	for (i = 0; i < EN_CLASSES && strcmp(enum_class_name(i), class); i++)
		;
	attr->kind = AT_ENUM;
	attr->class = (uint8_t)i;
	if (i == EN_CLASSES)
		PyErr_Format(PyExc_ValueError, "'%s': '%s' is no enumeration; they are %s", name,
			     class, enum_names(px, i));
	else if (!enum_name(i, number))
		PyErr_Format(PyExc_ValueError, "'%s': %lld is no %s; they are %s", name, number,
			     class, enum_names(px, i));
	return PyErr_Occurred() ? -1 : 0;
}

static int attr_value(struct build *b, PyObject *value, const char *name, struct ir_attr *attr)
{
	const char *text;

	if (PyTuple_Check(value))
		return marked_attr(&b->context->px, value, name, attr);
	if (PyUnicode_Check(value)) {
		attr->kind = AT_STR;
		text = PyUnicode_AsUTF8AndSize(value, NULL);
		attr->s = text ? px_intern(&b->context->px, text) : NULL;
		return text ? 0 : -1;
	}
	if (PyFloat_Check(value)) {
		attr->kind = AT_FLOAT;
		attr->f = PyFloat_AsDouble(value);
		return 0;
	}
	if (!PyLong_Check(value)) {
		PyErr_Format(PyExc_TypeError, "'%s' cannot be %R", name, value);
		return -1;
	}
	attr->kind = PyBool_Check(value) ? AT_BOOL : AT_INT;
	attr->i = PyLong_AsLongLong(value);
	return PyErr_Occurred() ? -1 : 0;
}

static int call_attrs(struct build *b, PyObject *attrs, struct op_use *use)
{
	PyObject *key, *value;
	Py_ssize_t at = 0;

	use->attrs = px_alloc(use->px, (size_t)PyDict_Size(attrs) + 1, sizeof(*use->attrs));
	while (PyDict_Next(attrs, &at, &key, &value)) {
		struct ir_attr *attr = &use->attrs[use->n_attrs++];
		const char *name = PyUnicode_AsUTF8AndSize(key, NULL);

		if (!name || attr_value(b, value, name, attr))
			return -1;
		attr->key = px_intern(use->px, name);
	}
	return 0;
}

static struct ir_node *operator_call(struct build *b, const struct px_op *op, PyObject *args,
				     PyObject *attrs)
{
	struct op_use use = { .px = &b->context->px, .op = op };

	if (node_list(b, args, "args", want_of(FK_EXPRS), &use.args) || call_attrs(b, attrs, &use))
		return NULL;
	return op_call(&use);
}

static struct ir_node *program_call(struct build *b, const char *name, PyObject *args,
				    PyObject *type)
{
	struct ir_call *call = ir_new(&b->context->px, IR_CALL, (struct span){ 0 }, NULL);

	call->callee = px_intern(&b->context->px, name);
	call->node.type = type == Py_None ? type_tuple(&b->context->px, NULL, 0) : type_arg(b, type);
	return !call->node.type || node_list(b, args, "args", want_of(FK_EXPRS), &call->args) ? NULL :
	       &call->node;
}

static struct ir_node *any_call(struct build *b, const char *name, const struct px_op *op,
				PyObject *args, PyObject *attrs, PyObject *type)
{
	struct ir_node *node;

	px_guard(&b->context->px, node, op ? operator_call(b, op, args, attrs) :
		 program_call(b, name, args, type), NULL);
	return node;
}

/* (operator or function, is operator, arguments, attributes, type of a function's value) -> call */
PyObject *build_call(PyObject *module, PyObject *arguments)
{
	PyObject *args, *attrs, *type;
	const struct px_op *op = NULL;
	struct build b = { 0 };
	struct ir_node *node;
	const char *name;
	int is_op;

	(void)module;
	if (!PyArg_ParseTuple(arguments, "spO!O!O", &name, &is_op, &PyList_Type, &args, &PyDict_Type,
			      &attrs, &type))
		return NULL;
	if (is_op)
		op = op_find(name);
	if (is_op && !op)
		return PyErr_Format(PyExc_ValueError, "Operator '%s' not found in registry", name);
	if (find_context(&b, args) || find_context(&b, type) || need_context(&b))
		return finish(&b, NULL);
	px_clear_diags(&b.context->px);
	node = any_call(&b, name, op, args, attrs, type);
	if (!node && !PyErr_Occurred() && b.context->px.diags)
		raise_diags(&b.context->px);
	return finish(&b, node);
}
