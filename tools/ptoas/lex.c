/* SPDX-License-Identifier: MIT */
/* Characters, words, names and numbers. Section 8.1. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"

enum { C_SPACE = 1, C_DIGIT = 2, C_ALPHA = 4, C_WORD = 8, C_NAME = 16 };

static const unsigned char class[256] = {
	[' '] = C_SPACE, ['\t'] = C_SPACE, ['\n'] = C_SPACE, ['\r'] = C_SPACE,
	['0' ... '9'] = C_DIGIT | C_WORD | C_NAME,
	['a' ... 'z'] = C_ALPHA | C_WORD | C_NAME,
	['A' ... 'Z'] = C_ALPHA | C_WORD | C_NAME,
	['_'] = C_ALPHA | C_WORD | C_NAME,
	['.'] = C_WORD | C_NAME, ['$'] = C_WORD | C_NAME, ['-'] = C_NAME,
};

static inline bool is(char c, int mask)
{
	return class[(unsigned char)c] & mask;
}

bool is_word_char(char c)
{
	return is(c, C_WORD);
}

bool stack_room(struct parser *p, void **data, size_t *room, size_t n, size_t size)
{
	size_t more = *room ? *room * 2 : 64;
	void *bigger;

	if (n < *room)
		return true;
	bigger = realloc(*data, more * size);
	if (!bigger)
		return no_memory(p);
	*data = bigger;
	*room = more;
	return true;
}

struct pto_loc loc_at(const struct parser *p, const char *at)
{
	return (struct pto_loc){ .at = (uint32_t)(at - p->begin) };
}

bool fail(struct parser *p, const char *at, const char *hint, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (p->failed)
		return false;
	p->failed = true;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	pto_diag(p->d, p->m, PTO_ERROR, loc_at(p, at), hint, "%s", text);
	return false;
}

bool no_memory(struct parser *p)
{
	return fail(p, p->at, "split the file", "out of memory");
}

bool deeper(struct parser *p)
{
	if (p->depth >= PTO_MAX_DEPTH)
		return fail(p, p->at, "split the nest into functions",
			    "nested more than %d levels deep", PTO_MAX_DEPTH);
	p->depth++;
	return true;
}

void skip_more_space(struct parser *p)
{
	const char *s = p->at;

	for (;;) {
		while (is(*s, C_SPACE))
			s++;
		if (s[0] != '/' || s[1] != '/')
			break;
		while (*s != '\n' && s < p->end)
			s++;
	}
	p->at = s;
}

bool take_text(struct parser *p, const char *text)
{
	size_t n = strlen(text);

	skip_space(p);
	if (strncmp(p->at, text, n))
		return false;
	p->at += n;
	return true;
}

/* What stands at @at, for messages. */
static const char *describe(struct parser *p, const char *at, char text[48])
{
	size_t n = 0;

	if (at >= p->end)
		return "the end of the file";
	while (n < 40 && is(at[n], C_NAME))
		n++;
	if (!n && (unsigned char)*at >= 0x20 && (unsigned char)*at < 0x7f)
		n = 1;
	if (n)
		snprintf(text, 48, "'%.*s'", (int)n, at);
	else
		snprintf(text, 48, "byte 0x%02x", (unsigned char)*at);
	return text;
}

bool expect(struct parser *p, char c)
{
	char text[48];

	if (take(p, c))
		return true;
	return fail(p, p->at, NULL, "expected '%c', not %s", c, describe(p, p->at, text));
}

bool at_word(struct parser *p, const char *word)
{
	size_t n = strlen(word);

	skip_space(p);
	return !strncmp(p->at, word, n) && !is(p->at[n], C_WORD);
}

bool take_word(struct parser *p, const char *word)
{
	if (!at_word(p, word))
		return false;
	p->at += strlen(word);
	return true;
}

bool expect_word(struct parser *p, const char *word)
{
	char text[48];

	if (take_word(p, word))
		return true;
	return fail(p, p->at, NULL, "expected '%s', not %s", word, describe(p, p->at, text));
}

struct span word(struct parser *p)
{
	struct span s;

	skip_space(p);
	s.at = p->at;
	if (is(*p->at, C_ALPHA))
		while (is(*p->at, C_WORD))
			p->at++;
	s.size = (size_t)(p->at - s.at);
	return s;
}

bool ssa_name(struct parser *p, struct pto_name **name)
{
	const char *s = p->at;
	char text[48];

	while (is(*s, C_NAME) && !(s[0] == '-' && s[1] == '>'))
		s++;
	if (s > p->at && *s == '#' && is(s[1], C_DIGIT))
		for (s++; is(*s, C_DIGIT);)
			s++;
	if (s == p->at)
		return fail(p, s, NULL, "expected a name behind '%%', not %s",
			    describe(p, s, text));
	*name = pto_intern(p->m, p->at, (size_t)(s - p->at));
	p->at = s;
	return *name || no_memory(p);
}

static bool hexadecimal(struct parser *p, bool negative, int64_t *out)
{
	const char *start = p->at;
	uint64_t value;
	char *end;

	errno = 0;
	value = strtoull(start, &end, 16);
	p->at = end;
	if (errno)
		return fail(p, start, NULL, "integer does not fit 64 bits");
	*out = (int64_t)(negative ? 0 - value : value);
	return true;
}

bool integer(struct parser *p, int64_t *out)
{
	bool negative = peek(p) == '-';
	const char *digits = p->at + negative;

	if (digits[0] != '0' || digits[1] != 'x')
		return decimal(p, out);
	p->at = digits;
	return hexadecimal(p, negative, out);
}

/* Of a shape, where 0x16 is a row count of 0. */
bool decimal(struct parser *p, int64_t *out)
{
	bool negative = take(p, '-');
	const char *start;
	uint64_t value = 0;
	char text[48];

	skip_space(p);
	start = p->at;
	if (!is(*start, C_DIGIT))
		return fail(p, start, NULL, "expected an integer, not %s",
			    describe(p, start, text));
	for (; is(*p->at, C_DIGIT); p->at++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p->at - '0'), &value))
			return fail(p, start, NULL, "integer does not fit 64 bits");
	if (value > (uint64_t)INT64_MAX + negative)
		return fail(p, start, NULL, "integer does not fit 64 bits");
	*out = (int64_t)(negative ? 0 - value : value);
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One escape behind a backslash: \n \t \\ \" or two hexadecimal digits. */
static bool escape(struct parser *p, char *out)
{
	int high = hex_digit(p->at[0]), low = high < 0 ? -1 : hex_digit(p->at[1]);

	if (low >= 0) {
		*out = (char)(high * 16 + low);
		p->at += 2;
		return true;
	}
	switch (*p->at) {
	case 'n':
		*out = '\n';
		break;
	case 't':
		*out = '\t';
		break;
	case '"':
	case '\\':
		*out = *p->at;
		break;
	default:
		return fail(p, p->at, "use \\\\, \\\", \\n, \\t or two hexadecimal digits",
			    "unknown escape in a string");
	}
	p->at++;
	return true;
}

bool string(struct parser *p, const struct pto_name **out)
{
	const char *start = p->at, *s;
	char *copy, *q;

	if (!expect(p, '"'))
		return false;
	for (s = p->at; s < p->end && *s != '"' && *s != '\n'; s++)
		if (*s == '\\' && s + 1 < p->end)
			s++;
	if (s >= p->end || *s != '"')
		return fail(p, start, "close it with '\"' on the same line",
			    "string without an end");
	copy = q = malloc((size_t)(s - p->at) + 1);
	if (!copy)
		return no_memory(p);
	while (p->at < s) {
		if (*p->at != '\\') {
			*q++ = *p->at++;
			continue;
		}
		p->at++;
		if (!escape(p, q++)) {
			free(copy);
			return false;
		}
	}
	p->at = s + 1;
	*out = pto_intern(p->m, copy, (size_t)(q - copy));
	free(copy);
	return *out || no_memory(p);
}

bool symbol(struct parser *p, const struct pto_name **out)
{
	struct span s;
	char text[48];

	if (!expect(p, '@'))
		return false;
	if (*p->at == '"')
		return string(p, out);
	s.at = p->at;
	while (is(*p->at, C_WORD))
		p->at++;
	s.size = (size_t)(p->at - s.at);
	if (!s.size)
		return fail(p, p->at, NULL, "expected a name behind '@', not %s",
			    describe(p, p->at, text));
	*out = pto_intern(p->m, s.at, s.size);
	return *out || no_memory(p);
}
