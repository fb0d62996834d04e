/* SPDX-License-Identifier: MIT */
/* Values of the enclosing Python scope, for the front end. */
#include <errno.h>
#include <string.h>

#include "binding.h"

#define MAX_DEPTH	100	/* of lists in lists; one may contain itself */

static int value_of(struct python_scope *s, struct px *px, PyObject *object,
		    struct py_value *value);

static const char *text_attr(struct px *px, PyObject *object, const char *attr)
{
	PyObject *value = PyObject_GetAttrString(object, attr);
	const char *text = NULL;

	if (value)
		px_released(px, text, python_text(px, value), Py_DECREF(value));
	PyErr_Clear();
	return text ? text : "";
}

static int64_t int_attr(PyObject *object, const char *attr)
{
	PyObject *value = PyObject_GetAttrString(object, attr);
	long long number = value ? PyLong_AsLongLong(value) : -1;

	Py_XDECREF(value);
	PyErr_Clear();
	return number;
}

static int item_value(struct python_scope *s, struct px *px, PyObject *list, Py_ssize_t i,
		      struct py_value *value)
{
	PyObject *item = PySequence_GetItem(list, i);
	int rc = -EINVAL;

	if (item)
		px_released(px, rc, value_of(s, px, item, value), Py_DECREF(item));
	return rc;
}

static int list_value(struct python_scope *s, struct px *px, PyObject *object,
		      struct py_value *value)
{
	Py_ssize_t n = PySequence_Size(object), i;
	int rc = 0;

	if (s->depth == MAX_DEPTH)
		return -EINVAL;
	s->depth++;
	value->kind = VAL_LIST;
	value->items = px_alloc(px, (size_t)n + 1, sizeof(*value->items));
	for (i = 0; i < n && !rc; i++)
		rc = item_value(s, px, object, i, &value->items[value->n++]);
	s->depth--;
	return rc;
}

struct inline_parts {
	PyObject *tree, *lines, *evaluate;
	const char *file;
};

static int read_inline(struct python_scope *s, struct px *px, const struct inline_parts *p,
		       struct py_value *value)
{
	struct python_scope *own = px_new(px, struct python_scope);
	struct walk w = { .px = px, .lines = p->lines == Py_None ? NULL : p->lines,
			  .file = p->file };

	if (!p->tree || !p->lines || !p->evaluate ||
	    PyList_Append(s->context->others, p->evaluate) ||
	    PyList_Append(s->context->others, p->tree))
		return -EINVAL;
	value->kind = VAL_INLINE;
	value->def = walk_node(&w, p->tree);
	python_scope_init(own, s->context, p->evaluate, s->scope.prefix);
	value->scope = &own->scope;
	return value->def ? 0 : -EINVAL;
}

static void inline_parts_put(const struct inline_parts *p)
{
	Py_XDECREF(p->tree);
	Py_XDECREF(p->lines);
	Py_XDECREF(p->evaluate);
}

/* A @pl.inline function carries its tree, its text and its own scope. */
static int inline_value(struct python_scope *s, struct px *px, PyObject *object,
			struct py_value *value)
{
	const struct inline_parts p = {
		.file = text_attr(px, object, "filename"),
		.tree = PyObject_GetAttrString(object, "tree"),
		.lines = PyObject_GetAttrString(object, "lines"),
		.evaluate = PyObject_GetAttrString(object, "evaluate"),
	};
	int rc;

	px_released(px, rc, read_inline(s, px, &p, value), inline_parts_put(&p));
	return rc;
}

static int function_value(struct python_scope *s, PyObject *object, struct py_value *value)
{
	struct node_object *node = (struct node_object *)object;

	if (node->node->kind != IR_FUNCTION || context_keep(s->context, node))
		return -EINVAL;
	value->kind = VAL_FUNCTION;
	value->function = IR_AS(node->node, function);
	return 0;
}

static void enum_value(struct px *px, PyObject *object, struct py_value *value)
{
	const char *class = text_attr(px, (PyObject *)Py_TYPE(object), "__name__");
	int i;

	for (i = 0; i < EN_CLASSES && strcmp(enum_class_name(i), class); i++)
		;
	value->class = i;
	value->i = int_attr(object, "value");
	value->s = class;
	value->kind = i < EN_CLASSES && enum_name(i, value->i) ? VAL_ENUM : VAL_OTHER;
}

/* Our own classes say what they are. */
static int marked_value(struct python_scope *s, struct px *px, PyObject *object,
			struct py_value *value)
{
	const char *kind = text_attr(px, (PyObject *)Py_TYPE(object), "__pypto_kind__");

	if (!strcmp(kind, "dtype")) {
		value->i = int_attr(object, "code");
		value->kind = dtype_is_code(value->i) ? VAL_DTYPE : VAL_OTHER;
		value->s = text_attr(px, object, "name");
	} else if (!strcmp(kind, "enum")) {
		enum_value(px, object, value);
	} else if (!strcmp(kind, "dynamic")) {
		value->kind = VAL_DYNAMIC;
		value->s = text_attr(px, object, "name");
	} else if (!strcmp(kind, "inline")) {
		return inline_value(s, px, object, value);
	} else {
		value->kind = VAL_OTHER;
		value->s = text_attr(px, (PyObject *)Py_TYPE(object), "__name__");
	}
	return 0;
}

static int value_of(struct python_scope *s, struct px *px, PyObject *object,
		    struct py_value *value)
{
	int overflow = 0;

	memset(value, 0, sizeof(*value));
	if (object == Py_None) {
		value->kind = VAL_NONE;
	} else if (PyBool_Check(object)) {
		value->kind = VAL_BOOL;
		value->i = object == Py_True;
	} else if (PyLong_CheckExact(object)) {
		value->i = PyLong_AsLongLongAndOverflow(object, &overflow);
		value->kind = overflow ? VAL_HUGE : VAL_INT;
	} else if (PyFloat_Check(object)) {
		value->kind = VAL_FLOAT;
		value->f = PyFloat_AsDouble(object);
	} else if (PyUnicode_Check(object)) {
		value->kind = VAL_STR;
		value->s = PyUnicode_AsUTF8AndSize(object, NULL);
		value->s = value->s ? px_intern(px, value->s) : "";
	} else if (PyList_Check(object) || PyTuple_Check(object)) {
		return list_value(s, px, object, value);
	} else if (PyObject_TypeCheck(object, node_type)) {
		return function_value(s, object, value);
	} else {
		return marked_value(s, px, object, value);
	}
	return 0;
}

static int failure(struct px *px, const char **why)
{
	PyObject *type, *error, *trace, *text;
	int rc = PyErr_ExceptionMatches(PyExc_NameError) ? -ENOENT : -EINVAL;

	PyErr_Fetch(&type, &error, &trace);
	text = error ? PyObject_Str(error) : NULL;
	Py_XDECREF(type);
	Py_XDECREF(error);
	Py_XDECREF(trace);
	*why = NULL;
	if (text)
		px_released(px, *why, python_text(px, text), Py_DECREF(text));
	PyErr_Clear();
	return rc;
}

static int scope_eval(struct py_scope *scope, struct px *px, const struct py_node *expr,
		      struct py_value *value, const char **why)
{
	struct python_scope *s = (struct python_scope *)scope;
	PyObject *object;
	int rc;

	if (expr->kind == PY_INT && !expr->huge) {
		*value = (struct py_value){ .kind = VAL_INT, .i = expr->i };
		return 0;
	}
	if (!expr->origin)
		return -ENOENT;
	object = PyObject_CallFunctionObjArgs(s->evaluate, expr->origin, NULL);
	if (!object)
		return failure(px, why);
	s->depth = 0;
	px_released(px, rc, value_of(s, px, object, value), Py_DECREF(object));
	PyErr_Clear();
	return rc;
}

void python_scope_init(struct python_scope *s, struct context_object *context, PyObject *evaluate,
		       const char *prefix)
{
	s->scope.eval = scope_eval;
	s->scope.prefix = prefix;
	s->context = context;
	s->evaluate = evaluate;
}
