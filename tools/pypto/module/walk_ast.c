/* SPDX-License-Identifier: MIT */
/* From CPython's ast objects to struct py_node, in one pass. */
#include <string.h>

#include "binding.h"

/* Members of py_node, as the table below names them. */
enum member {
	M_END, M_NAME, M_X, M_Y, M_Z, M_ARGS, M_KEYWORDS, M_BODY, M_ORELSE, M_OP, M_OPS,
	M_PARAMS, M_TARGETS,
	M_OPTIONAL = 32,	/* may be None */
	M_FILLED = 64,		/* a list that is not empty */
	M_FLAGS = M_OPTIONAL | M_FILLED
};

static const struct rule {
	const char *ast;
	uint8_t kind;
	struct {
		const char *attr;
		uint8_t member;
	} parts[6];
} rules[] = {
	{ "Name", PY_NAME, { { "id", M_NAME } } },
	{ "Attribute", PY_ATTRIBUTE, { { "value", M_X }, { "attr", M_NAME } } },
	{ "Call", PY_CALL, { { "func", M_X }, { "args", M_ARGS }, { "keywords", M_KEYWORDS } } },
	{ "Subscript", PY_SUBSCRIPT, { { "value", M_X }, { "slice", M_Y } } },
	{ "List", PY_LIST, { { "elts", M_ARGS } } },
	{ "Tuple", PY_TUPLE, { { "elts", M_ARGS } } },
	{ "BinOp", PY_BINARY, { { "left", M_X }, { "op", M_OP }, { "right", M_Y } } },
	{ "UnaryOp", PY_UNARY, { { "op", M_OP }, { "operand", M_X } } },
	{ "Compare", PY_COMPARE, { { "left", M_X }, { "ops", M_OPS | M_FILLED },
				 { "comparators", M_ARGS | M_FILLED } } },
	{ "BoolOp", PY_BOOL_OP, { { "op", M_OP }, { "values", M_ARGS | M_FILLED } } },
	{ "keyword", PY_KEYWORD, { { "arg", M_NAME | M_OPTIONAL }, { "value", M_X } } },
	{ "arg", PY_ARG, { { "arg", M_NAME }, { "annotation", M_X | M_OPTIONAL } } },
	{ "withitem", PY_ARG, { { "context_expr", M_X }, { "optional_vars", M_Y | M_OPTIONAL } } },
	{ "Assign", PY_ASSIGN, { { "targets", M_TARGETS | M_FILLED }, { "value", M_Y } } },
	{ "AnnAssign", PY_ANN_ASSIGN, { { "target", M_X }, { "annotation", M_Z },
					{ "value", M_Y | M_OPTIONAL } } },
	{ "AugAssign", PY_ASSIGN, { { "target", M_X }, { "op", M_OP }, { "value", M_Y } } },
	{ "For", PY_FOR, { { "target", M_X }, { "iter", M_Y }, { "body", M_BODY },
			   { "orelse", M_ORELSE } } },
	{ "While", PY_WHILE, { { "test", M_X }, { "body", M_BODY }, { "orelse", M_ORELSE } } },
	{ "If", PY_IF, { { "test", M_X }, { "body", M_BODY }, { "orelse", M_ORELSE } } },
	{ "With", PY_WITH, { { "items", M_ARGS | M_FILLED }, { "body", M_BODY } } },
	{ "Return", PY_RETURN, { { "value", M_X | M_OPTIONAL } } },
	{ "Expr", PY_EXPR, { { "value", M_X } } },
	{ "Pass", PY_PASS, { { NULL, 0 } } },
	{ "FunctionDef", PY_DEF, { { "name", M_NAME }, { "args", M_PARAMS },
				   { "returns", M_X | M_OPTIONAL },
				   { "body", M_BODY } } },
	{ "ClassDef", PY_CLASS, { { "name", M_NAME }, { "body", M_BODY } } },
};

#define N_RULES	(sizeof(rules) / sizeof(rules[0]))

const char *python_text(struct px *px, PyObject *text)
{
	const char *utf8 = PyUnicode_AsUTF8AndSize(text, NULL);

	return utf8 ? px_intern(px, utf8) : NULL;
}

/* Name of an object's class, in the arena; NULL with an exception. */
static const char *class_name(struct walk *w, PyObject *object)
{
	PyObject *name = PyType_GetName(Py_TYPE(object));
	const char *text = NULL;

	if (name)
		px_released(w->px, text, python_text(w->px, name), Py_DECREF(name));
	return text;
}

static uint32_t number_of(PyObject *ast, const char *attr)
{
	PyObject *value = PyObject_GetAttrString(ast, attr);
	long number = value && value != Py_None ? PyLong_AsLong(value) : 0;

	Py_XDECREF(value);
	PyErr_Clear();
	return number > 0 ? (uint32_t)number : 0;
}

/* 1-based column in characters from an offset in UTF-8 bytes. */
static uint32_t column(const struct walk *w, uint32_t line, uint32_t bytes)
{
	PyObject *text;
	const char *utf8;
	Py_ssize_t size, i;
	uint32_t chars = 0;

	text = w->lines && line ? PyList_GetItem(w->lines, (Py_ssize_t)line - 1) : NULL;
	utf8 = text ? PyUnicode_AsUTF8AndSize(text, &size) : NULL;
	PyErr_Clear();
	if (!utf8)
		return bytes + 1;
	for (i = 0; i < size && i < (Py_ssize_t)bytes; i++)
		chars += (utf8[i] & 0xc0) != 0x80;
	return chars + 1;
}

static struct span span_of(const struct walk *w, PyObject *ast)
{
	struct span span = { .file = w->file, .line = number_of(ast, "lineno") };

	if (!span.line)
		return span;
	span.end_line = number_of(ast, "end_lineno");
	span.col = column(w, span.line, number_of(ast, "col_offset"));
	span.end_col = column(w, span.end_line, number_of(ast, "end_col_offset"));
	return span;
}

static int walk_list(struct walk *w, PyObject *list, struct py_list *out)
{
	Py_ssize_t n = PyList_Size(list), i;

	if (n < 0)
		return -1;
	out->at = px_alloc(w->px, (size_t)n + 1, sizeof(struct py_node *));
	out->n = 0;
	for (i = 0; i < n; i++) {
		out->at[i] = walk_node(w, PyList_GetItem(list, i));
		if (!out->at[i])
			return -1;
		out->n++;
	}
	return 0;
}

static int walk_attr(struct walk *w, PyObject *ast, const char *attr, struct py_list *out)
{
	PyObject *list = PyObject_GetAttrString(ast, attr);
	int rc = -1;

	if (list)
		px_released(w->px, rc, walk_list(w, list, out), Py_DECREF(list));
	return rc;
}

static int set_string(struct walk *w, const char **out, PyObject *value)
{
	*out = value == Py_None ? "**" : python_text(w->px, value);	/* f(**values) */
	return *out ? 0 : -1;
}

static int set_one(struct walk *w, struct py_node **out, PyObject *value)
{
	if (value == Py_None)
		return 0;
	*out = walk_node(w, value);
	return *out ? 0 : -1;
}

static int set_op(struct walk *w, struct py_node *node, PyObject *value)
{
	node->name = class_name(w, value);
	return node->name ? 0 : -1;
}

static int one_attr(struct walk *w, PyObject *ast, const char *attr, struct py_node **out)
{
	PyObject *value = PyObject_GetAttrString(ast, attr);
	int rc = -1;

	if (value)
		px_released(w->px, rc, set_one(w, out, value), Py_DECREF(value));
	return rc;
}

/* Only plain positional parameters have a place in a kernel; others become one that is refused. */
static int set_params(struct walk *w, struct py_node *node, PyObject *value)
{
	static const char *const extra[] = { "posonlyargs", "kwonlyargs", "defaults" };
	static const char *const stars[] = { "vararg", "kwarg" };
	struct py_list others = { 0 };
	size_t i;

	if (walk_attr(w, value, "args", &node->args))
		return -1;
	for (i = 0; i < 2; i++) {
		if (one_attr(w, value, stars[i], &node->y))
			return -1;
	}
	for (i = 0; i < 3; i++) {
		if (walk_attr(w, value, extra[i], &others))
			return -1;
		if (others.n)
			node->y = others.at[0];
	}
	return 0;
}

static int set_targets(struct walk *w, struct py_node *node, PyObject *value)
{
	struct py_list targets = { 0 };

	if (walk_list(w, value, &targets))
		return -1;
	node->x = targets.at[0];
	if (targets.n > 1) {	/* a = b = e */
		node->kind = PY_OTHER;
		node->name = "multiple assignment";
	}
	return 0;
}

static int set_member(struct walk *w, struct py_node *node, uint8_t member, PyObject *value)
{
	switch (member) {
	case M_NAME:
		return set_string(w, &node->name, value);
	case M_X:
		return set_one(w, &node->x, value);
	case M_Y:
		return set_one(w, &node->y, value);
	case M_Z:
		return set_one(w, &node->z, value);
	case M_ARGS:
		return walk_list(w, value, &node->args);
	case M_KEYWORDS:
		return walk_list(w, value, &node->keywords);
	case M_BODY:
		return walk_list(w, value, &node->body);
	case M_ORELSE:
		return walk_list(w, value, &node->orelse);
	case M_OP:
		return set_op(w, node, value);
	case M_OPS:
		return set_op(w, node, PyList_GetItem(value, 0));
	case M_PARAMS:
		return set_params(w, node, value);
	default:
		return set_targets(w, node, value);
	}
}

/* x += e is x = x + e. */
static void expand_augmented(struct walk *w, struct py_node *node)
{
	struct py_node *sum = px_new(w->px, struct py_node);

	*sum = *node;
	sum->kind = PY_BINARY;
	node->name = NULL;
	node->y = sum;
}

/* The only number that fits into 64 bits with a minus alone, -2^63, is a unary operator to Python. */
static bool is_two_to_63(PyObject *value)
{
	bool is = PyLong_AsUnsignedLongLong(value) == 1ull << 63;

	if (PyErr_Occurred())
		PyErr_Clear();
	return is;
}

static void fold_smallest(struct py_node *node)
{
	if (strcmp(node->name, "USub") || node->x->kind != PY_INT || !node->x->huge ||
	    node->x->i != INT64_MIN)
		return;
	node->kind = PY_INT;
	node->i = INT64_MIN;
}

static int set_constant(struct walk *w, struct py_node *node, PyObject *value)
{
	int overflow = 0;

	if (value == Py_None) {
		node->kind = PY_NONE;
	} else if (PyBool_Check(value)) {
		node->kind = PY_BOOL;
		node->i = value == Py_True;
	} else if (PyLong_Check(value)) {
		node->kind = PY_INT;
		node->i = PyLong_AsLongLongAndOverflow(value, &overflow);
		node->huge = overflow;
		if (overflow && is_two_to_63(value))
			node->i = INT64_MIN;
	} else if (PyFloat_Check(value)) {
		node->kind = PY_FLOAT;
		node->f = PyFloat_AsDouble(value);
	} else if (PyUnicode_Check(value)) {
		node->kind = PY_STR;
		return set_string(w, &node->name, value);
	} else {
		node->kind = PY_OTHER;
		return set_op(w, node, value);
	}
	return 0;
}

static int walk_constant(struct walk *w, PyObject *ast, struct py_node *node)
{
	PyObject *value = PyObject_GetAttrString(ast, "value");
	int rc = -1;

	if (value)
		px_released(w->px, rc, set_constant(w, node, value), Py_DECREF(value));
	return rc;
}

/* A tree that no parser has made may lack what its nodes must have. */
static int check_part(PyObject *value, const char *attr, uint8_t member)
{
	Py_ssize_t n = member & M_FILLED ? PyList_Size(value) : 1;

	if (n < 0)
		return -1;
	if (n && (value != Py_None || member & M_OPTIONAL))
		return 0;
	PyErr_Format(PyExc_ValueError, "a node of the syntax tree has no %s", attr);
	return -1;
}

static int walk_part(struct walk *w, PyObject *ast, struct py_node *node, const char *attr,
		     uint8_t member)
{
	PyObject *value = PyObject_GetAttrString(ast, attr);
	int rc = -1;

	if (value)
		px_released(w->px, rc, check_part(value, attr, member) ? -1 :
			    set_member(w, node, member & ~M_FLAGS, value), Py_DECREF(value));
	return rc;
}

static int walk_parts(struct walk *w, PyObject *ast, struct py_node *node, const struct rule *rule)
{
	size_t i;

	for (i = 0; i < 6 && rule->parts[i].attr; i++) {
		if (walk_part(w, ast, node, rule->parts[i].attr, rule->parts[i].member))
			return -1;
	}
	return 0;
}

static struct py_node *read_node(struct walk *w, PyObject *ast, const char *name)
{
	struct py_node *node = px_new(w->px, struct py_node);
	size_t i;

	node->span = span_of(w, ast);
	node->origin = ast;
	if (!strcmp(name, "Constant"))
		return walk_constant(w, ast, node) ? NULL : node;
	for (i = 0; i < N_RULES && strcmp(rules[i].ast, name); i++)
		;
	if (i == N_RULES) {
		node->kind = PY_OTHER;
		node->name = name;
		return node;
	}
	node->kind = rules[i].kind;
	if (walk_parts(w, ast, node, &rules[i]))
		return NULL;
	if (!strcmp(name, "AugAssign"))
		expand_augmented(w, node);
	else if (node->kind == PY_UNARY)
		fold_smallest(node);
	return node;
}

struct py_node *walk_node(struct walk *w, PyObject *ast)
{
	const char *name = class_name(w, ast);
	struct py_node *node;

	if (!name || Py_EnterRecursiveCall(" while reading the syntax tree"))
		return NULL;
	px_released(w->px, node, read_node(w, ast, name), Py_LeaveRecursiveCall());
	return node;
}
