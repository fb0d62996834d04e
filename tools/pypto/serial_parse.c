/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "serial_parse.h"

struct cursor {
	struct px *px;
	const uint8_t *at, *end;
	unsigned int nesting;
};

static bool parse_any(struct cursor *c, msgpack_object *out);

/* A big-endian number of @n bytes. */
static bool take_number(struct cursor *c, unsigned int n, uint64_t *out)
{
	if ((size_t)(c->end - c->at) < n)
		return false;
	for (*out = 0; n; n--)
		*out = *out << 8 | *c->at++;
	return true;
}

static bool parse_unsigned(struct cursor *c, unsigned int bytes, msgpack_object *out)
{
	out->type = MSGPACK_OBJECT_POSITIVE_INTEGER;
	return take_number(c, bytes, &out->via.u64);
}

static bool parse_signed(struct cursor *c, unsigned int bytes, msgpack_object *out)
{
	unsigned int shift = 64 - 8 * bytes;
	uint64_t bits;

	if (!take_number(c, bytes, &bits))
		return false;
	out->via.i64 = (int64_t)(bits << shift) >> shift;
	out->type = out->via.i64 < 0 ? MSGPACK_OBJECT_NEGATIVE_INTEGER :
				       MSGPACK_OBJECT_POSITIVE_INTEGER;
	return true;
}

static bool parse_float(struct cursor *c, unsigned int bytes, msgpack_object *out)
{
	uint64_t bits;
	uint32_t half;
	float single;

	if (!take_number(c, bytes, &bits))
		return false;
	out->type = MSGPACK_OBJECT_FLOAT64;
	if (bytes == sizeof(bits)) {
		memcpy(&out->via.f64, &bits, sizeof(bits));
		return true;
	}
	half = (uint32_t)bits;
	memcpy(&single, &half, sizeof(half));
	out->via.f64 = single;
	return true;
}

static bool parse_text(struct cursor *c, uint64_t size, msgpack_object *out)
{
	if ((uint64_t)(c->end - c->at) < size)
		return false;
	out->type = MSGPACK_OBJECT_STR;
	out->via.str.ptr = (const char *)c->at;
	out->via.str.size = (uint32_t)size;
	c->at += size;
	return true;
}

/* Each element takes a byte at least, which bounds what a wrong number can ask for. */
static bool enter(struct cursor *c, uint64_t elements)
{
	return (uint64_t)(c->end - c->at) >= elements && c->nesting++ < SERIAL_MAX_NESTING;
}

static bool parse_array(struct cursor *c, uint64_t n, msgpack_object *out)
{
	uint64_t i;

	if (!enter(c, n))
		return false;
	out->type = MSGPACK_OBJECT_ARRAY;
	out->via.array.size = (uint32_t)n;
	out->via.array.ptr = px_alloc(c->px, n + 1, sizeof(*out->via.array.ptr));
	for (i = 0; i < n; i++)
		if (!parse_any(c, &out->via.array.ptr[i]))
			return false;
	c->nesting--;
	return true;
}

static bool parse_map(struct cursor *c, uint64_t n, msgpack_object *out)
{
	uint64_t i;

	if (!enter(c, 2 * n))
		return false;
	out->type = MSGPACK_OBJECT_MAP;
	out->via.map.size = (uint32_t)n;
	out->via.map.ptr = px_alloc(c->px, n + 1, sizeof(*out->via.map.ptr));
	for (i = 0; i < n; i++)
		if (!parse_any(c, &out->via.map.ptr[i].key) ||
		    !parse_any(c, &out->via.map.ptr[i].val))
			return false;
	c->nesting--;
	return true;
}

/* What has its length in @bytes bytes before it. */
static bool parse_sized(struct cursor *c, unsigned int bytes, msgpack_object *out,
			bool (*parse)(struct cursor *c, uint64_t n, msgpack_object *out))
{
	uint64_t n;

	return take_number(c, bytes, &n) && parse(c, n, out);
}

static bool parse_marked(struct cursor *c, uint8_t mark, msgpack_object *out)
{
	switch (mark) {
	case 0xc0:
		out->type = MSGPACK_OBJECT_NIL;
		return true;
	case 0xc2:
	case 0xc3:
		out->type = MSGPACK_OBJECT_BOOLEAN;
		out->via.boolean = mark & 1;
		return true;
	case 0xca:
	case 0xcb:
		return parse_float(c, 4u << (mark - 0xca), out);
	case 0xcc ... 0xcf:
		return parse_unsigned(c, 1u << (mark - 0xcc), out);
	case 0xd0 ... 0xd3:
		return parse_signed(c, 1u << (mark - 0xd0), out);
	case 0xd9 ... 0xdb:
		return parse_sized(c, 1u << (mark - 0xd9), out, parse_text);
	case 0xdc:
	case 0xdd:
		return parse_sized(c, 2u << (mark - 0xdc), out, parse_array);
	case 0xde:
	case 0xdf:
		return parse_sized(c, 2u << (mark - 0xde), out, parse_map);
	default:	/* bytes and extensions */
		return false;
	}
}

static bool parse_any(struct cursor *c, msgpack_object *out)
{
	uint8_t mark;

	if (c->at == c->end)
		return false;
	mark = *c->at++;
	if (mark < 0x80 || mark >= 0xe0) {
		c->at--;
		return parse_signed(c, 1, out);
	}
	if (mark < 0x90)
		return parse_map(c, mark & 15, out);
	if (mark < 0xa0)
		return parse_array(c, mark & 15, out);
	if (mark < 0xc0)
		return parse_text(c, mark & 31, out);
	return parse_marked(c, mark, out);
}

const char *serial_parse(struct px *px, const void *data, size_t size, msgpack_object *out)
{
	struct cursor c = { .px = px, .at = data, .end = (const uint8_t *)data + size };

	if (!parse_any(&c, out))
		return c.nesting > SERIAL_MAX_NESTING ? "nested too deep" :
		       "not MessagePack, or cut off";
	return c.at == c.end ? NULL : "more bytes behind the end";
}
