/* SPDX-License-Identifier: MIT */
#include "base/env.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "base/log.h"

static int env_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

/* Digits up to the first other character, which *@end is set to. */
static int env_scan_u64(const char *text, const char **end, uint64_t *out)
{
	unsigned int base = 10;
	uint64_t value = 0;
	const char *start;
	int digit;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		base = 16;
		text += 2;
	}
	for (start = text; (digit = env_digit(*text)) < (int)base; text++)
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit, &value))
			return -ERANGE;
	if (text == start)
		return -EINVAL;
	*end = text;
	*out = value;
	return 0;
}

int env_parse_u64(const char *text, uint64_t *out)
{
	const char *end;
	uint64_t value;
	int err;

	err = env_scan_u64(text, &end, &value);
	if (err)
		return err;
	if (*end)
		return -EINVAL;
	*out = value;
	return 0;
}

int env_parse_i64(const char *text, int64_t *out)
{
	int negative = text[0] == '-';
	uint64_t value;
	int err;

	err = env_parse_u64(text + negative, &value);
	if (err)
		return err;
	if (value > (uint64_t)INT64_MAX + (uint64_t)negative)
		return -ERANGE;
	*out = negative ? (int64_t)(0 - value) : (int64_t)value;
	return 0;
}

/* One element, "7" or "2-5". */
static int env_scan_range(const char *text, const char **end, uint64_t *first, uint64_t *last)
{
	int err;

	err = env_scan_u64(text, end, first);
	if (err)
		return err;
	*last = *first;
	if (**end == '-')
		err = env_scan_u64(*end + 1, end, last);
	if (err)
		return err;
	if (*last < *first)
		return -EINVAL;
	return *last > UINT32_MAX ? -ERANGE : 0;
}

int env_parse_list(const char *text, uint32_t *out, size_t max)
{
	uint64_t first, last;
	size_t count = 0;
	int err;

	for (;;) {
		err = env_scan_range(text, &text, &first, &last);
		if (err)
			return err;
		if (last - first >= max - count)
			return -ERANGE;
		for (; first <= last; first++)
			out[count++] = (uint32_t)first;
		if (!*text)
			return (int)count;
		if (*text++ != ',')
			return -EINVAL;
	}
}

static const char *env_value(const char *name)
{
	const char *text = getenv(name);

	return text && *text ? text : NULL;
}

int env_get_i64(const char *name, int64_t min, int64_t max, int64_t *out)
{
	const char *text = env_value(name);
	int64_t value;
	int err;

	if (!text)
		return 0;
	err = env_parse_i64(text, &value);
	if (err)
		return err;
	if (value < min || value > max)
		return -ERANGE;
	*out = value;
	return 1;
}

int env_get_bool(const char *name, bool *out)
{
	static const char *const words[2][4] = {
		{ "0", "false", "no", "off" },
		{ "1", "true", "yes", "on" },
	};
	const char *text = env_value(name);
	int value, i;

	if (!text)
		return 0;
	for (value = 0; value < 2; value++) {
		for (i = 0; i < 4; i++) {
			if (strcasecmp(text, words[value][i]))
				continue;
			*out = value;
			return 1;
		}
	}
	return -EINVAL;
}

bool env_flag(const char *name, bool fallback)
{
	bool value = fallback;

	if (env_get_bool(name, &value) < 0)
		log_warn("%s=%s is ignored: use 1, true, yes, on or 0, false, no, off; it is %s now",
			 name, getenv(name), fallback ? "on" : "off");
	return value;
}
