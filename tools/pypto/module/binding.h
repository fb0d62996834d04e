/* SPDX-License-Identifier: MIT */
/* Extension module pypto._core: Python objects for IR, and the way of the syntax tree into C. */
#ifndef PYPTO_BINDING_H
#define PYPTO_BINDING_H

#include <Python.h>

#include "../ops.h"
#include "../syntax.h"

/* Owner of a struct px; nodes of other contexts that it uses are kept alive by .others. */
struct context_object {
	PyObject_HEAD
	struct px px;
	PyObject *others;
	PyObject *file;		/* NULL, or key of its text (context_text()) */
};

/* One node, seen from Python. */
struct node_object {
	PyObject_HEAD
	struct context_object *context;
	struct ir_node *node;
};

struct type_object {
	PyObject_HEAD
	struct context_object *context;
	const struct ir_type *type;
};

extern PyTypeObject *context_type, *node_type, *type_type;
int node_types_init(PyObject *module);

struct context_object *context_new(void);
/*
 * A new context for what is made from @node, which it keeps alive. Nothing is added to the node's
 * own, so that what a program is compiled to goes with its last user, however often it is compiled.
 */
struct context_object *context_for(const struct node_object *node);
/* Number of contexts that exist; what the newest allocation of a node's context ends at. */
PyObject *context_count(PyObject *module, PyObject *unused);
/* Gives back what is kept for contexts to come. */
PyObject *context_trim(PyObject *module, PyObject *unused);
PyObject *context_mark(PyObject *module, PyObject *object);
PyObject *node_new(struct context_object *context, struct ir_node *node);
PyObject *type_new(struct context_object *context, const struct ir_type *type);
/* The node of a Python object; NULL with TypeError. */
struct node_object *node_of(PyObject *object);
/*
 * The text that places with file name @file are in: names are compared by address, since many texts
 * have the same. context_text() gives a borrowed list of lines, None if it is not known,
 * NULL with an exception.
 */
int context_set_text(struct context_object *context, const char *file, PyObject *lines);
PyObject *context_text(const char *file);
/* Keeps the context of @node alive as long as @context. */
int context_keep(struct context_object *context, const struct node_object *node);

/* The mistakes as a list of tuples: class, code, message, hint, note, span, previous span, lines. */
PyObject *diag_list(const struct px *px);
/*
 * Issues the warnings and raises pypto's exception for the mistakes, if there are any
 * (pypto._errors.raise_for). Always gives NULL.
 */
PyObject *raise_diags(const struct px *px);

/* ---- IR made from Python (build.c) ---- */

PyObject *build_node(PyObject *module, PyObject *args);
PyObject *build_type(PyObject *module, PyObject *args);
PyObject *build_call(PyObject *module, PyObject *args);

/* ---- The interpreter (interpret.c) ---- */

/* (node, name of the function, list of arguments, most statements, blocks) -> list of results */
PyObject *interpret(PyObject *module, PyObject *args);

/* ---- The generators (generate.c) ---- */

/* (program, "orchestration", "pto", "cce" or "wrapper", function, architecture, text) -> str */
PyObject *generate(PyObject *module, PyObject *args);
PyObject *place_of(PyObject *module, PyObject *args);
PyObject *describe_program(PyObject *module, PyObject *object);
PyObject *called_functions(PyObject *module, PyObject *object);
PyObject *orchestration_slots(PyObject *module, PyObject *object);

/*
 * What @call gives; then @release is done, and also when @call does not return because memory is
 * short, before that is handed on to px->escape.
 */
#define px_released(px, result, call, release)					\
	do {									\
		jmp_buf inner_, *before_ = (px)->escape;			\
										\
		(px)->escape = &inner_;						\
		if (setjmp(inner_)) {						\
			(px)->escape = before_;					\
			release;						\
			px_no_memory(px);					\
		}								\
		(result) = (call);						\
		(px)->escape = before_;						\
		release;							\
	} while (0)

/* ---- The tree (walk_ast.c) ---- */

/* A str in the arena; NULL with a Python exception. */
const char *python_text(struct px *px, PyObject *text);

struct walk {
	struct px *px;
	PyObject *lines;	/* list of str when the text is not ASCII, else NULL */
	const char *file;
};

/* NULL with a Python exception. */
struct py_node *walk_node(struct walk *w, PyObject *ast);

/* ---- The enclosing scope (scope.c) ---- */

struct python_scope {
	struct py_scope scope;
	struct context_object *context;
	PyObject *evaluate;	/* Python: syntax tree -> value */
	unsigned int depth;	/* of the list at hand */
};

void python_scope_init(struct python_scope *s, struct context_object *context, PyObject *evaluate,
		       const char *prefix);

#endif
