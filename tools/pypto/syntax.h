/* SPDX-License-Identifier: MIT */
/*
 * The Python syntax tree as the front end reads it. CPython's ast builds it; whoever calls the
 * compiler copies it once into nodes of this form (module/walk.c), in the arena of the struct px.
 */
#ifndef PYPTO_SYNTAX_H
#define PYPTO_SYNTAX_H

#include "ir.h"

enum py_kind {
	/* statements */
	PY_CLASS, PY_DEF, PY_ASSIGN, PY_ANN_ASSIGN, PY_FOR, PY_WHILE, PY_IF, PY_WITH, PY_RETURN,
	PY_EXPR, PY_PASS,
	/* expressions */
	PY_NAME, PY_INT, PY_FLOAT, PY_BOOL, PY_STR, PY_NONE, PY_ATTRIBUTE, PY_CALL, PY_SUBSCRIPT,
	PY_LIST, PY_TUPLE, PY_BINARY, PY_UNARY, PY_COMPARE, PY_BOOL_OP,
	/* parts */
	PY_ARG, PY_KEYWORD,
	PY_OTHER	/* name: what ast calls it */
};

struct py_list {
	struct py_node **at;
	uint32_t n;
};

/*
 * Which member holds what:
 *   class, def     name, body; def: args (ARG: name, x annotation), x returns
 *   assignment     x target, y value (may be absent in ANN_ASSIGN), z annotation
 *   for            x target, y iterable, body;  while: x test, body;  if: x test, body, orelse
 *   with           args (items: x expression, y variable), body
 *   return, expr   x value
 *   attribute      x, name;  subscript: x, y;  call: x function, args, keywords (name, x)
 *   list, tuple    args;  unary: name ("USub"), x;  binary: name ("Add"), x, y
 *   compare        name of the first operator, x, args (right sides);  bool op: name, args
 */
struct py_node {
	uint8_t kind;
	struct span span;
	const char *name;
	struct py_node *x, *y, *z;
	struct py_list args, keywords, body, orelse;
	int64_t i;
	double f;
	bool huge;	/* PY_INT beyond 64 bits */
	void *origin;	/* the caller's object for this node */
};

/* A value of the Python scope that encloses the program. */
enum value_kind {
	VAL_NONE, VAL_BOOL, VAL_INT, VAL_HUGE, VAL_FLOAT, VAL_STR, VAL_DTYPE, VAL_ENUM,
	VAL_DYNAMIC, VAL_LIST, VAL_FUNCTION, VAL_INLINE, VAL_OTHER
};
struct py_value {
	uint8_t kind;
	uint8_t class;			/* enum px_enum of a VAL_ENUM */
	int64_t i;			/* also the dtype's code and the member's number */
	double f;
	const char *s;			/* string, dynamic's name, type's name of a VAL_OTHER */
	struct py_value *items;
	uint32_t n;
	struct ir_function *function;	/* already copied into the struct px */
	const struct py_node *def;	/* of an inline function */
	struct py_scope *scope;		/* where the inline function was defined */
};

/* The enclosing scope, as the front end asks for it. */
struct py_scope {
	/**
	 * eval() - value of @expr in the enclosing scope
	 *
	 * Return: 0; -ENOENT: a name in it is undefined; -EINVAL: evaluation failed, and *why (in
	 * the arena) says how.
	 */
	int (*eval)(struct py_scope *scope, struct px *px, const struct py_node *expr,
		    struct py_value *value, const char **why);
	const char *prefix;	/* name under which pypto.language is known, "pl" */
};

enum parse_flag { PARSE_STRICT_SSA = 1 };

/**
 * front_function() - a decorated function outside a class
 * front_program() - a decorated class
 * @methods: those defs of the class that are functions of the program, with type and flags
 *
 * Return: the node; NULL when there are mistakes (px->diags) or memory is short.
 */
struct front_method {
	const struct py_node *def;
	uint8_t func_type;
	uint8_t flags;		/* enum parse_flag */
};
struct ir_function *front_function(struct px *px, const struct front_method *method,
				   struct py_scope *scope);
struct ir_program *front_program(struct px *px, const struct py_node *def,
				 const struct front_method *methods, uint32_t n,
				 struct py_scope *scope);

#endif
