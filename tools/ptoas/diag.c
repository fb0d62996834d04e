/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "diag.h"
#include "ops.h"

#define SHOWN_LINE	512	/* longer source lines are cut */

void pto_diags_init(struct pto_diags *d)
{
	*d = (struct pto_diags){ .limit = 50 };
	d->last = &d->first;
	arena_init(&d->arena, 4096, 0);
}

void pto_diags_fini(struct pto_diags *d)
{
	arena_fini(&d->arena);
	*d = (struct pto_diags){ 0 };
}

void pto_line_col(const char *text, size_t size, size_t at, uint32_t *line, uint32_t *col)
{
	const char *start = text, *end = text + (at < size ? at : size), *nl;

	*line = 1;
	while ((nl = memchr(start, '\n', (size_t)(end - start)))) {
		start = nl + 1;
		++*line;
	}
	*col = (uint32_t)(end - start) + 1;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       strchr("_.$%@#!^-", c);
}

/* Line, column, width and the line itself, of a byte of the module's text. */
static void find_place(struct pto_diags *d, struct pto_diag *g, const struct pto_module *m,
		       size_t at)
{
	const char *start, *end, *word, *stop = m->text + m->text_size;
	size_t size;

	if (at > m->text_size)
		at = m->text_size;
	pto_line_col(m->text, m->text_size, at, &g->line, &g->col);
	start = m->text + at - (g->col - 1);
	end = memchr(start, '\n', (size_t)(stop - start));
	end = end ? end : stop;
	for (word = m->text + at; word < end && *word && is_word(*word);)
		word++;
	if (word > m->text + at)
		g->width = (uint32_t)(word - (m->text + at));
	size = (size_t)(end - start) < SHOWN_LINE ? (size_t)(end - start) : SHOWN_LINE;
	g->source = arena_printf(&d->arena, "%.*s", (int)size, start);
}

static const char *origin_of(struct pto_diags *d, const struct pto_src_loc *src)
{
	if (!src || !src->file)
		return NULL;
	return arena_printf(&d->arena, "%s:%u:%u", src->file->text, src->line, src->col);
}

/* Whether one more is kept; it is counted in any case. */
static bool count(struct pto_diags *d, enum pto_severity severity)
{
	d->errors += severity == PTO_ERROR;
	d->warnings += severity == PTO_WARNING;
	return severity == PTO_ERROR ? d->errors <= d->limit : d->warnings <= d->limit;
}

static void add(struct pto_diags *d, const struct pto_module *m, enum pto_severity severity,
		struct pto_loc loc, const char *hint, const char *text)
{
	struct pto_diag *g;

	g = arena_new(&d->arena, struct pto_diag);
	if (!g)
		return;
	g->severity = severity;
	g->text = text ? text : "out of memory";
	g->hint = hint ? arena_strdup(&d->arena, hint) : NULL;
	g->width = 1;
	if (m) {
		g->file = arena_strdup(&d->arena, m->file);
		g->origin = origin_of(d, loc.src);
		if (loc.at != PTO_NO_PLACE && m->text)
			find_place(d, g, m, loc.at);
	}
	*d->last = g;
	d->last = &g->next;
}

void pto_diag(struct pto_diags *d, const struct pto_module *m, enum pto_severity severity,
	      struct pto_loc loc, const char *hint, const char *fmt, ...)
{
	va_list ap;
	char *text;

	if (!count(d, severity))
		return;
	va_start(ap, fmt);
	text = arena_vprintf(&d->arena, fmt, ap);
	va_end(ap);
	add(d, m, severity, loc, hint, text);
}

int pto_op_error(struct pto_diags *d, const struct pto_module *m, const struct pto_op *op,
		 const char *hint, const char *fmt, ...)
{
	va_list ap;
	char *text;

	if (!count(d, PTO_ERROR))
		return -EINVAL;
	va_start(ap, fmt);
	text = arena_vprintf(&d->arena, fmt, ap);
	va_end(ap);
	if (text)
		text = arena_printf(&d->arena, "'%s' op %s", op->info->name, text);
	add(d, m, PTO_ERROR, op->loc, hint, text);
	return -EINVAL;
}

/* ---- Text ------------------------------------------------------------------------------------ */

static const char *const severities[] = { "error", "warning", "note" };

static void print_caret(const struct pto_diag *g, FILE *out)
{
	size_t size = strlen(g->source), col = g->col - 1, i;

	fprintf(out, "  %s\n", g->source);
	if (col > size)
		return;
	fputs("  ", out);
	for (i = 0; i < col; i++)
		fputc(g->source[i] == '\t' ? '\t' : ' ', out);
	fputc('^', out);
	for (i = 1; i < g->width && col + i < size; i++)
		fputc('~', out);
	fputc('\n', out);
}

static void print_one(const struct pto_diag *g, FILE *out)
{
	if (g->file && g->line)
		fprintf(out, "%s:%u:%u: ", g->file, g->line, g->col);
	else if (g->file)
		fprintf(out, "%s: ", g->file);
	fprintf(out, "%s: %s\n", severities[g->severity], g->text);
	if (g->source)
		print_caret(g, out);
	if (g->origin)
		fprintf(out, "  from: %s\n", g->origin);
	if (g->hint)
		fprintf(out, "  hint: %s\n", g->hint);
}

void pto_diags_print(const struct pto_diags *d, FILE *out)
{
	const struct pto_diag *g;

	for (g = d->first; g; g = g->next)
		print_one(g, out);
	if (d->errors > d->limit)
		fprintf(out, "%u more errors are not shown\n", d->errors - d->limit);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_string(const char *s, FILE *out)
{
	fputc('"', out);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

static void json_member(const char *name, const char *value, FILE *out)
{
	if (!value)
		return;
	fprintf(out, ", \"%s\": ", name);
	json_string(value, out);
}

void pto_diags_print_json(const struct pto_diags *d, FILE *out)
{
	const struct pto_diag *g;

	fputc('[', out);
	for (g = d->first; g; g = g->next) {
		fprintf(out, "%s\n  {\"severity\": \"%s\"", g == d->first ? "" : ",",
			severities[g->severity]);
		json_member("file", g->file, out);
		if (g->line)
			fprintf(out, ", \"line\": %u, \"column\": %u", g->line, g->col);
		json_member("message", g->text, out);
		json_member("hint", g->hint, out);
		json_member("source", g->source, out);
		json_member("origin", g->origin, out);
		fputc('}', out);
	}
	fputs("\n]\n", out);
}
