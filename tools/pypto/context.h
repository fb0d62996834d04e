/* SPDX-License-Identifier: MIT */
/*
 * What one compilation owns: memory, names and mistakes. Everything allocated from a struct px ends
 * with it. A struct px is used by one thread at a time; any number may exist.
 */
#ifndef PYPTO_CONTEXT_H
#define PYPTO_CONTEXT_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* A place in the user's source: 1-based lines and columns, in characters; line 0: unknown. */
struct span {
	const char *file;
	uint32_t line, col, end_line, end_col;
};

/* Classes of mistakes (section 3.10); the code is part of the class. */
enum diag_class {
	DIAG_SYNTAX, DIAG_TYPE, DIAG_UNDEFINED, DIAG_SSA, DIAG_SCOPE, DIAG_UNSUPPORTED,
	DIAG_OPERATION, DIAG_COMPILE, DIAG_WARNING, DIAG_CLASSES
};

struct diag {
	struct diag *next;
	enum diag_class class;
	unsigned int code;	/* enum verify_code; 0: that of the class */
	const char *message;
	const char *hint;	/* may be NULL */
	const char *note;
	struct span span;
	struct span previous;	/* of an SSA violation: the first definition */
};

struct intern_slot;
struct px_owned;
struct px {
	struct arena arena;
	struct intern_slot **names;
	size_t n_names, name_slots;
	struct diag *diags, **diags_end;
	unsigned int n_errors;
	jmp_buf *escape;	/* where px_alloc() goes when memory is short */
	struct px_owned *owned;	/* newest first */
};

void px_init(struct px *px);
void px_fini(struct px *px);
/* Contexts that have ended leave memory for others; this gives it back. */
void px_trim(void);
/* Forgets the mistakes; their text stays until px_fini(). */
void px_clear_diags(struct px *px);

/**
 * px_alloc() - zeroed memory until px_fini()
 *
 * When memory is short it does not return: it jumps to px->escape, which every entry point sets
 * with px_guard(), so that the code between needs no checks.
 */
void *px_alloc(struct px *px, size_t count, size_t size);
/* Memory is short: goes where px_alloc() goes. */
void px_no_memory(struct px *px) __attribute__((noreturn));

/*
 * Memory outside of the arena: px_fini() releases @what, when nobody has before, because an escape
 * left the code that was to do it. Last in, first out.
 */
void px_own(struct px *px, void (*release)(void *what), void *what);
void px_release(struct px *px, void *what);

#define px_new(px, type)	((type *)px_alloc((px), 1, sizeof(type)))
char *px_printf(struct px *px, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The one copy of a string: equal strings have equal addresses. */
const char *px_intern(struct px *px, const char *text);
const char *px_intern_n(struct px *px, const char *text, size_t size);

/*
 * Sets @result to the value of @call, run with px->escape set; to @failed when memory is short.
 * What @call has besides the arena is lost then, unless it is px_own()ed.
 */
#define px_guard(px, result, call, failed)					\
	do {									\
		jmp_buf here_, *outer_ = (px)->escape;				\
										\
		(px)->escape = &here_;						\
		if (setjmp(here_))						\
			(result) = (failed);					\
		else								\
			(result) = (call);					\
		(px)->escape = outer_;						\
	} while (0)

/* ---- Mistakes ---- */

/* Adds a mistake; returns it so that the caller can add a hint. */
struct diag *diag_add(struct px *px, enum diag_class class, struct span span, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void diag_hint(struct px *px, struct diag *diag, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
struct diag *diag_last(const struct px *px);	/* added last; there must be one */
const char *diag_class_name(enum diag_class class);	/* "ParserTypeError" */
const char *diag_class_code(enum diag_class class);	/* "E101" */

/* Growing text. */
struct text {
	struct px *px;
	char *at;
	size_t n, room;
};
void text_put(struct text *t, const char *s);
void text_bytes(struct text *t, const void *bytes, size_t n);
void text_printf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *text_str(struct text *t);

#endif
