/* SPDX-License-Identifier: MIT */
/* Operations by the formats of ops.def, the other way round. */
#include <string.h>

#include "print.h"

static size_t format_name(const char *s)
{
	size_t n = 0;

	while ((s[n] >= 'a' && s[n] <= 'z') || s[n] == '_')
		n++;
	return n;
}

/* ---- Attributes ------------------------------------------------------------------------------ */

static const struct pto_attr *attr_named(const struct pto_op *op, const char *name, size_t n)
{
	unsigned int i;

	for (i = 0; i < op->n_attrs; i++)
		if (op->attr[i].name->size == n && !memcmp(op->attr[i].name->text, name, n))
			return &op->attr[i];
	return NULL;
}

/* Whether the format itself shows the attribute: behind one of @ ^ # " ?. */
static bool in_format(const char *fmt, const struct pto_attr *a)
{
	const char *s;

	for (s = fmt; (s = strpbrk(s, "@^#\"?"));) {
		s++;
		if (format_name(s) == a->name->size && !memcmp(s, a->name->text, a->name->size))
			return true;
	}
	return false;
}

static bool shown(const struct pto_op *op, const char *fmt, const struct pto_attr *a)
{
	if (op->info->code == PTO_OP_TGATHER && !strcmp(a->name->text, "maskPattern"))
		return false; /* inside ins(...) */
	if (op->info->code == PTO_OP_TGATHER || op->info->code == PTO_OP_TSCATTER)
		if (!strcmp(a->name->text, "axis"))
			return false; /* behind the types */
	return !in_format(fmt, a);
}

/* " {...}" of what the format does not show; nothing when that is nothing. */
void print_attrs(struct printer *p, const struct pto_op *op, const char *fmt)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < op->n_attrs; i++) {
		struct printer one = *p;

		if (!shown(op, fmt, &op->attr[i]))
			continue;
		pto_text_str(p->out, any ? ", " : " {");
		any = true;
		print_name(&one, 0, op->attr[i].name);
		if (op->attr[i].kind == PTO_ATTR_UNIT)
			continue;
		pto_text_str(p->out, " = ");
		print_attr(p, &op->attr[i], false);
	}
	if (any)
		pto_text_char(p->out, '}');
}

/* ---- Operands -------------------------------------------------------------------------------- */

void print_operands(struct printer *p, const struct pto_op *op, unsigned int group)
{
	const char *sep = "";
	unsigned int i;

	for (i = 0; i < op->n_operands; i++) {
		if (op->operand[i].group != group)
			continue;
		pto_text_str(p->out, sep);
		print_value(p, op->operand[i].value);
		sep = ", ";
	}
}

static void print_types(struct printer *p, const struct pto_op *op, int group)
{
	const char *sep = "";
	unsigned int i;

	for (i = 0; i < op->n_operands; i++) {
		if (group >= 0 && op->operand[i].group != group)
			continue;
		pto_text_str(p->out, sep);
		pto_print_type(op->operand[i].value->type, p->out);
		sep = ", ";
	}
}

/* ---- ins(...) outs(...) ---------------------------------------------------------------------- */

static void print_string_attr(struct printer *p, const struct pto_op *op, const char *name)
{
	const struct pto_attr *a = pto_attr_find(op, name);

	if (!a)
		return;
	pto_text_str(p->out, ", ");
	print_attr(p, a, false);
}

static void print_mask(struct printer *p, const struct pto_op *op)
{
	const struct pto_attr *a = pto_attr_find(op, "maskPattern");

	if (op->info->code != PTO_OP_TGATHER || !a)
		return;
	pto_text_str(p->out, ", {maskPattern = ");
	print_attr(p, a, false);
	pto_text_char(p->out, '}');
}

static void print_io(struct printer *p, const struct pto_op *op, const char *fmt)
{
	bool inside = pto_has(op, PTO_F_ATTR_IN);

	pto_text_str(p->out, " ins(");
	print_operands(p, op, 0);
	if (inside)
		print_attrs(p, op, fmt);
	print_mask(p, op);
	if (pto_group_count(op, 0)) {
		pto_text_str(p->out, " : ");
		print_types(p, op, 0);
	}
	print_string_attr(p, op, "axis");
	pto_text_char(p->out, ')');
	if (pto_group_count(op, 1)) {
		pto_text_str(p->out, " outs(");
		print_operands(p, op, 1);
		pto_text_str(p->out, " : ");
		print_types(p, op, 1);
		pto_text_char(p->out, ')');
	}
	if (!inside)
		print_attrs(p, op, fmt);
}

/* ---- Formats --------------------------------------------------------------------------------- */

struct walk {
	const char *fmt;	/* whole */
	unsigned int group;	/* of the next "%" */
};

static void format_enum(struct printer *p, const struct pto_op *op, const char **at)
{
	const char *name = *at;
	size_t n = format_name(name), k = format_name(name + n + 1), size = 0;
	const struct pto_attr *a = attr_named(op, name, n);
	const char *value;

	*at = name + n + 1 + k;
	if (!a || a->kind != PTO_ATTR_ENUM)
		return;
	value = pto_attr_enum_value((enum pto_attr_enum)a->of, a->i, &size);
	if (name[n] == '#')
		print_attr(p, a, false);
	else
		pto_text_printf(p->out, name[n] == ':' ? "<%.*s>" : "%.*s", (int)size, value);
}

static void format_attr(struct printer *p, const struct pto_op *op, char what, const char **at)
{
	const char *name = *at;
	size_t n = format_name(name);
	const struct pto_attr *a = attr_named(op, name, n);

	*at = name + n + (what == '"');
	if (what == '?') {
		pto_text_add(p->out, name, n);
		if (a && a->kind == PTO_ATTR_BOOL && !a->i)
			pto_text_str(p->out, " = false");
	} else if (a) {
		print_attr(p, a, false);
	}
}

static void format_type(struct printer *p, const struct pto_op *op, struct walk *w, char what,
			const char **at)
{
	char which = what == 'P' || what == 'Q' ? 0 : *(*at)++;
	const struct pto_use *u;

	if (what == 'P') {
		u = pto_operand(op, w->group - 1);
		if (u)
			pto_print_type(u->value->type, p->out);
	} else if (what == 'Q') {
		if (op->n_results && !pto_is_index(op->result[0].type))
			pto_print_type(op->result[0].type, p->out);
		else
			pto_print_type(op->operand[0].value->type, p->out);
	} else if (what == 'R') {
		if (op->n_results > which - '0')
			pto_print_type(op->result[which - '0'].type, p->out);
	} else if (which == '*') {
		print_types(p, op, what == 'U' ? (int)w->group - 1 : -1);
	} else if (op->n_operands > which - '0') {
		pto_print_type(op->operand[which - '0'].value->type, p->out);
	}
}

/* Whether an optional part has anything to show. */
static bool part_shown(const struct pto_op *op, const struct walk *w, const char *s)
{
	size_t n;

	for (; *s != '~'; s++) {
		if (*s == '%' || *s == '^')
			return pto_group_count(op, w->group);
		if (*s == '@' || *s == '?') {
			n = format_name(s + 1);
			return attr_named(op, s + 1, n) != NULL;
		}
		if (*s == 'R')
			return op->n_results;
		if (*s == 'U')
			return pto_group_count(op, w->group - 1);
		if (*s == 'T')
			return op->n_operands;
	}
	return false;
}

static void strip(struct printer *p)
{
	while (p->out->size && p->out->data[p->out->size - 1] == ' ')
		p->out->size--;
}

static void skip_part(struct walk *w, const char **at)
{
	for (; **at != '~'; ++*at)
		w->group += **at == '%' || **at == '^';
	++*at;
}

static void format_item(struct printer *p, const struct pto_op *op, struct walk *w, const char **at)
{
	char c = *(*at)++;
	unsigned int group;

	switch (c) {
	case '%':
		*at += **at == '*';
		print_operands(p, op, w->group++);
		break;
	case 'T':
	case 'U':
	case 'P':
	case 'Q':
	case 'R':
		format_type(p, op, w, c, at);
		break;
	case '@':
		format_enum(p, op, at);
		break;
	case '^':
		group = w->group;
		if (pto_group_count(op, group)) {
			print_operands(p, op, w->group++);
			*at += format_name(*at);
		} else {
			format_attr(p, op, c, at);
		}
		break;
	case '#':
	case '"':
	case '?':
		format_attr(p, op, c, at);
		break;
	default:
		pto_text_char(p->out, c);
	}
}

/* Results by rule are not printed. */
static bool skip_rule(const char **at)
{
	if ((*at)[0] != '=' || (*at)[1] == ' ')
		return false;
	*at += 2;
	return true;
}

/* @at stands behind a "~". */
static void enter_part(struct printer *p, const struct pto_op *op, struct walk *w, const char **at,
		       bool *inside)
{
	*inside = !*inside;
	if (!*inside)
		return;
	if (!part_shown(op, w, *at)) {
		strip(p);
		skip_part(w, at);
		*inside = false;
	} else if (p->out->size && !strchr(" (", p->out->data[p->out->size - 1])) {
		pto_text_char(p->out, ' ');
	}
}

static void print_format(struct printer *p, const struct pto_op *op, const char *fmt)
{
	struct walk w = { .fmt = fmt };
	const char *at = fmt;
	bool inside = false;

	if (!strncmp(fmt, "io", 2)) {
		print_io(p, op, fmt);
		w.group = 2;
		at += 2;
	} else if (*fmt && !strchr("=[(", *fmt)) {
		pto_text_char(p->out, ' ');
	}
	while (*at) {
		if (*at == '~') {
			at++;
			enter_part(p, op, &w, &at, &inside);
		} else if (at[0] == '{' && at[1] == '}') {
			strip(p);
			print_attrs(p, op, fmt);
			at += 2;
		} else if (at[0] == ',' && at[1] == '?') {
			pto_text_char(p->out, ',');
			at += 2;
		} else if (!skip_rule(&at)) {
			format_item(p, op, &w, &at);
		}
	}
	strip(p);
}

/* ---- Operations and regions ------------------------------------------------------------------ */

static void print_results(struct printer *p, const struct pto_op *op)
{
	unsigned int i;

	for (i = 0; i < op->n_results; i++) {
		pto_text_str(p->out, i ? ", " : "");
		print_value(p, &op->result[i]);
	}
	if (op->n_results)
		pto_text_str(p->out, " = ");
}

static const char *short_name(const struct pto_op *op)
{
	if (op->info->code == PTO_OP_RETURN)
		return "return";
	return op->info->name;
}

void print_op(struct printer *p, const struct pto_op *op)
{
	const char *fmt = op->info->format;

	print_results(p, op);
	pto_text_str(p->out, short_name(op));
	if (*fmt == '!') {
		print_custom(p, op, fmt + 1);
	} else if (*fmt == '$') {
		pto_text_char(p->out, ' ');
		print_region(p, &op->region[0], false);
	} else if (pto_has(op, PTO_F_ALT_IO) && !op->n_results) {
		print_format(p, op, "io");
	} else {
		print_format(p, op, fmt);
	}
}

/* The last line of a loop or branch may be left out. */
static bool is_implied(const struct pto_op *op)
{
	struct pto_op *parent = pto_parent(op);

	if (op->info->code != PTO_OP_YIELD || op->n_operands || op->next || op->loc.src || !parent)
		return false;
	if (op->block->region->first != op->block->region->last)
		return false;
	switch (parent->info->code) {
	case PTO_OP_FOR:
	case PTO_OP_IF:
	case PTO_OP_EXECUTE_REGION:
	case PTO_OP_INDEX_SWITCH:
		return true;
	case PTO_OP_WHILE:
		return op->block->region == &parent->region[1];
	}
	return false;
}

static void print_label(struct printer *p, const struct pto_block *b)
{
	unsigned int i;

	p->depth--;
	print_indent(p);
	p->depth++;
	print_name(p, '^', b->label);
	for (i = 0; i < b->n_args; i++) {
		pto_text_str(p->out, i ? ", " : "(");
		print_value(p, &b->args[i]);
		pto_text_str(p->out, ": ");
		pto_print_type(b->args[i].type, p->out);
	}
	pto_text_str(p->out, b->n_args ? "):\n" : ":\n");
}

void print_region(struct printer *p, const struct pto_region *r, bool args)
{
	pto_text_str(p->out, "{\n");
	p->depth++;
	pto_for_each_block(b, r) {
		if (b->label && (b != r->first || (args && b->n_args)))
			print_label(p, b);
		pto_for_each_op(op, b) {
			if (is_implied(op))
				continue;
			print_indent(p);
			print_op(p, op);
			print_loc(p, &op->loc);
			pto_text_char(p->out, '\n');
		}
	}
	p->depth--;
	print_indent(p);
	pto_text_char(p->out, '}');
}
