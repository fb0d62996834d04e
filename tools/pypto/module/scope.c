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
	const char *text = value ? PyUnicode_AsUTF8AndSize(value, NULL) : NULL;

	text = text ? px_intern(px, text) : "";
	Py_XDECREF(value);
	PyErr_Clear();
	return text;
}

static int64_t int_attr(PyObject *object, const char *attr)
{
	PyObject *value = PyObject_GetAttrString(object, attr);
	long long number = value ? PyLong_AsLongLong(value) : -1;

	Py_XDECREF(value);
	PyErr_Clear();
	return number;
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
	for (i = 0; i < n && !rc; i++) {
		PyObject *item = PySequence_GetItem(object, i);

		rc = item ? value_of(s, px, item, &value->items[value->n++]) : -EINVAL;
		Py_XDECREF(item);
	}
	s->depth--;
	return rc;
}

/* A @pl.inline function carries its tree, its text and its own scope. */
static int inline_value(struct python_scope *s, struct px *px, PyObject *object,
			struct py_value *value)
{
	struct python_scope *own = px_new(px, struct python_scope);
	PyObject *tree = PyObject_GetAttrString(object, "tree");
	PyObject *lines = PyObject_GetAttrString(object, "lines");
	PyObject *evaluate = PyObject_GetAttrString(object, "evaluate");
	struct walk w = { .px = px, .lines = lines == Py_None ? NULL : lines,
			  .file = text_attr(px, object, "filename") };
	int rc = -EINVAL;

	if (tree && lines && evaluate && !PyList_Append(s->context->others, evaluate) &&
	    !PyList_Append(s->context->others, tree)) {
		value->kind = VAL_INLINE;
		value->def = walk_node(&w, tree);
		python_scope_init(own, s->context, evaluate, s->scope.prefix);
		value->scope = &own->scope;
		rc = value->def ? 0 : -EINVAL;
	}
	Py_XDECREF(tree);
	Py_XDECREF(lines);
	Py_XDECREF(evaluate);
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
	PyObject *mark = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__pypto_kind__");
	const char *kind = mark ? PyUnicode_AsUTF8AndSize(mark, NULL) : "";
	int rc = 0;

	PyErr_Clear();
	if (kind && !strcmp(kind, "dtype")) {
		value->i = int_attr(object, "code");
		value->kind = dtype_is_code(value->i) ? VAL_DTYPE : VAL_OTHER;
		value->s = text_attr(px, object, "name");
	} else if (kind && !strcmp(kind, "enum")) {
		enum_value(px, object, value);
	} else if (kind && !strcmp(kind, "dynamic")) {
		value->kind = VAL_DYNAMIC;
		value->s = text_attr(px, object, "name");
	} else if (kind && !strcmp(kind, "inline")) {
		rc = inline_value(s, px, object, value);
	} else {
		value->kind = VAL_OTHER;
		value->s = text_attr(px, (PyObject *)Py_TYPE(object), "__name__");
	}
	Py_XDECREF(mark);
	return rc;
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
	const char *utf8;

	PyErr_Fetch(&type, &error, &trace);
	text = error ? PyObject_Str(error) : NULL;
	utf8 = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
	*why = utf8 ? px_intern(px, utf8) : NULL;
	Py_XDECREF(text);
	Py_XDECREF(type);
	Py_XDECREF(error);
	Py_XDECREF(trace);
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
	rc = value_of(s, px, object, value);
	Py_DECREF(object);
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
