/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "context.h"

#define FIRST_NAME_SLOTS	256

struct intern_slot {
	struct intern_slot *next;
	uint64_t hash;
	size_t size;
	char text[];
};

struct px_owned {
	struct px_owned *next;
	void (*release)(void *what);
	void *what;
};

/* Twice what a function of a thousand statements takes through all passes */
static struct arena_pool pool = ARENA_POOL((size_t)32 << 20);

void px_init(struct px *px)
{
	memset(px, 0, sizeof(*px));
	arena_init(&px->arena, 0, 0);
	px->arena.pool = &pool;
	px->arena.grows = true;
	px->diags_end = &px->diags;
}

void px_fini(struct px *px)
{
	while (px->owned)
		px_release(px, px->owned->what);
	arena_fini(&px->arena);
	free(px->names);
	memset(px, 0, sizeof(*px));
}

void px_trim(void)
{
	arena_pool_drain(&pool);
}

void px_clear_diags(struct px *px)
{
	px->diags = NULL;
	px->diags_end = &px->diags;
	px->n_errors = 0;
}

void px_no_memory(struct px *px)
{
	if (px->escape)
		longjmp(*px->escape, 1);
	fputs("pypto: out of memory outside a guarded call\n", stderr);
	abort();
}

void *px_alloc(struct px *px, size_t count, size_t size)
{
	void *p = arena_zalloc(&px->arena, count, size);

	if (!p)
		px_no_memory(px);
	return p;
}

void px_own(struct px *px, void (*release)(void *what), void *what)
{
	struct px_owned *o = arena_new(&px->arena, struct px_owned);

	if (!o) {
		release(what);
		px_no_memory(px);
	}
	*o = (struct px_owned){ px->owned, release, what };
	px->owned = o;
}

/* What an escape left behind stands below what is released in order. */
void px_release(struct px *px, void *what)
{
	struct px_owned **o = &px->owned, *found;

	while ((*o)->what != what)
		o = &(*o)->next;
	found = *o;
	*o = found->next;
	found->release(what);
}

char *px_printf(struct px *px, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = arena_vprintf(&px->arena, fmt, ap);
	va_end(ap);
	if (!text)
		px_no_memory(px);
	return text;
}

/* ---- Names ---- */

static void names_grow(struct px *px)
{
	size_t slots = px->name_slots ? 2 * px->name_slots : FIRST_NAME_SLOTS, i;
	struct intern_slot **names = calloc(slots, sizeof(*names)), *slot, *next;

	if (!names)
		px_no_memory(px);
	for (i = 0; i < px->name_slots; i++) {
		for (slot = px->names[i]; slot; slot = next) {
			next = slot->next;
			slot->next = names[slot->hash & (slots - 1)];
			names[slot->hash & (slots - 1)] = slot;
		}
	}
	free(px->names);
	px->names = names;
	px->name_slots = slots;
}

const char *px_intern_n(struct px *px, const char *text, size_t size)
{
	uint64_t hash = hash_fnv1a64(HASH_FNV1A64_INIT, text, size);
	struct intern_slot *slot, **head;

	if (px->n_names >= px->name_slots)
		names_grow(px);
	head = &px->names[hash & (px->name_slots - 1)];
	for (slot = *head; slot; slot = slot->next)
		if (slot->hash == hash && slot->size == size && !memcmp(slot->text, text, size))
			return slot->text;
	slot = px_alloc(px, 1, sizeof(*slot) + size + 1);
	slot->hash = hash;
	slot->size = size;
	memcpy(slot->text, text, size);
	slot->next = *head;
	*head = slot;
	px->n_names++;
	return slot->text;
}

const char *px_intern(struct px *px, const char *text)
{
	return px_intern_n(px, text, strlen(text));
}

/* ---- Mistakes ---- */

static const char *const diag_names[DIAG_CLASSES][2] = {
	[DIAG_SYNTAX] = { "ParserSyntaxError", "E001" },
	[DIAG_TYPE] = { "ParserTypeError", "E101" },
	[DIAG_UNDEFINED] = { "UndefinedVariableError", "E200" },
	[DIAG_SSA] = { "SSAViolationError", "E201" },
	[DIAG_SCOPE] = { "ScopeIsolationError", "E202" },
	[DIAG_UNSUPPORTED] = { "UnsupportedFeatureError", "E301" },
	[DIAG_OPERATION] = { "InvalidOperationError", "E300" },
	[DIAG_COMPILE] = { "CompileError", "E400" },
	[DIAG_WARNING] = { "CompileWarning", "W400" },
};

const char *diag_class_name(enum diag_class class)
{
	return diag_names[class][0];
}

const char *diag_class_code(enum diag_class class)
{
	return diag_names[class][1];
}

struct diag *diag_add(struct px *px, enum diag_class class, struct span span, const char *fmt, ...)
{
	struct diag *diag = px_new(px, struct diag);
	va_list ap;

	va_start(ap, fmt);
	diag->message = arena_vprintf(&px->arena, fmt, ap);
	va_end(ap);
	if (!diag->message)
		px_no_memory(px);
	diag->class = class;
	diag->span = span;
	*px->diags_end = diag;
	px->diags_end = &diag->next;
	px->n_errors += class != DIAG_WARNING;
	return diag;
}

struct diag *diag_last(const struct px *px)
{
	return (struct diag *)((char *)px->diags_end - offsetof(struct diag, next));
}

void diag_hint(struct px *px, struct diag *diag, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diag->hint = arena_vprintf(&px->arena, fmt, ap);
	va_end(ap);
	if (!diag->hint)
		px_no_memory(px);
}

/* ---- Growing text ---- */

static void text_reserve(struct text *t, size_t more)
{
	size_t room = t->room ? t->room : 256;
	char *at;

	while (room < t->n + more + 1)
		room *= 2;
	if (room == t->room)
		return;
	at = px_alloc(t->px, room, 1);
	if (t->n)
		memcpy(at, t->at, t->n);
	t->at = at;
	t->room = room;
}

void text_bytes(struct text *t, const void *bytes, size_t n)
{
	text_reserve(t, n);
	memcpy(t->at + t->n, bytes, n);
	t->n += n;
}

void text_put(struct text *t, const char *s)
{
	text_bytes(t, s, strlen(s));
}

void text_printf(struct text *t, const char *fmt, ...)
{
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	text_reserve(t, (size_t)n);
	vsnprintf(t->at + t->n, (size_t)n + 1, fmt, again);
	t->n += (size_t)n;
	va_end(again);
	va_end(ap);
}

const char *text_str(struct text *t)
{
	text_reserve(t, 0);
	t->at[t->n] = '\0';
	return t->at;
}
