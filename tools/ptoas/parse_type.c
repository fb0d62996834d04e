/* SPDX-License-Identifier: MIT */
/* Types: sections 8.2, 8.3, 8.9. Text seen before is looked up, not read again. */
#include <string.h>

#include "parse.h"

const struct pto_type elided_type;

static const struct pto_type *keep(struct parser *p, const struct pto_type *t)
{
	const struct pto_type *unique = pto_type_get(p->m, t);

	if (!unique)
		no_memory(p);
	return unique;
}

static bool parse_elem(struct parser *p, uint8_t *elem)
{
	const char *start;
	struct pto_name *n;
	struct span s;

	skip_space(p);
	start = p->at;
	if (*p->at == '!')
		p->at++;
	s = word(p);
	n = s.size ? pto_intern(p->m, start, (size_t)(p->at - start)) : NULL;
	if (!n || !n->elem)
		return fail(p, start, "there are i1 i8 i16 i32 i64, ui*, f16 bf16 f32, f8*, ...",
			    "unknown element type '%.*s'", (int)s.size, s.at);
	*elem = n->elem;
	return true;
}

/* "4x?x" in front of an element type. */
static bool parse_dims(struct parser *p, struct pto_type *t)
{
	for (;;) {
		char c = peek(p);
		int64_t n = PTO_DYNAMIC;

		if (c != '?' && c != '-' && (c < '0' || c > '9'))
			return true;
		if (t->rank == PTO_MAX_RANK)
			return fail(p, p->at, NULL, "more than %d dimensions", PTO_MAX_RANK);
		if (c == '?')
			p->at++;
		else if (!decimal(p, &n))
			return false;
		else if (n < 0 && n != -1)
			return fail(p, p->at, NULL, "dimension %lld is negative", (long long)n);
		t->dim[t->rank++] = n == -1 ? PTO_DYNAMIC : n;
		if (*p->at != 'x')
			return fail(p, p->at, "write 16x16xf32", "expected 'x' behind a dimension");
		p->at++;
	}
}

/* "<4x?xf32>", for everything that has this form. */
static bool parse_shaped(struct parser *p, struct pto_type *t)
{
	return expect(p, '<') && parse_dims(p, t) && parse_elem(p, &t->elem) && expect(p, '>');
}

static bool parse_view(struct parser *p, struct pto_type *t)
{
	const char *start = p->at;

	if (!parse_shaped(p, t))
		return false;
	if (!t->rank)
		return fail(p, start, "write at least one dimension, as in <?x?xf32>",
			    "a view without dimensions");
	return true;
}

static bool parse_ptr(struct parser *p, struct pto_type *t)
{
	struct pto_type pointee = { .kind = PTO_T_SCALAR };

	if (!expect(p, '<') || !parse_elem(p, &pointee.elem))
		return false;
	if (take(p, ',')) { /* an address space behind it: global is the only one */
		struct pto_attr a = { 0 };

		if (!parse_attr(p, PTO_A_ADDRESS_SPACE, &a))
			return false;
	}
	t->elem = pointee.elem;
	t->inner = keep(p, &pointee);
	return t->inner && expect(p, '>');
}

/* "<4>" or "<8xi32>" */
static bool parse_counted(struct parser *p, struct pto_type *t)
{
	if (!expect(p, '<') || !decimal(p, &t->count))
		return false;
	if (t->count <= 0 || t->count > INT32_MAX)
		return fail(p, p->at, NULL, "count %lld is not positive or too large",
			    (long long)t->count);
	if (t->kind == PTO_T_LOCAL_ARRAY) {
		if (*p->at != 'x')
			return fail(p, p->at, "write 8xi32", "expected 'x' behind the count");
		p->at++;
		if (!parse_elem(p, &t->elem))
			return false;
	}
	return expect(p, '>');
}

static bool parse_memref(struct parser *p, struct pto_type *t)
{
	struct pto_attr a = { 0 };

	if (!expect(p, '<') || !parse_dims(p, t) || !parse_elem(p, &t->elem))
		return false;
	if (take(p, ',')) {
		if (!parse_attr(p, PTO_A_ADDRESS_SPACE, &a))
			return false;
		if (a.kind != PTO_ATTR_ENUM || a.of != PTO_A_ADDRESS_SPACE)
			return fail(p, p->at, "write #pto.address_space<vec>",
				    "expected an address space");
		t->space = (uint8_t)a.i;
	}
	return expect(p, '>');
}

/* ---- tile_buf -------------------------------------------------------------------------------- */

enum { K_LOC, K_DTYPE, K_ROWS, K_COLS, K_V_ROW, K_V_COL, K_BLAYOUT, K_SLAYOUT, K_FRACTAL, K_PAD,
       K_COMPACT, K_VALID, KEYS };

static const char *const keys[KEYS] = {
	"loc", "dtype", "rows", "cols", "v_row", "v_col", "blayout", "slayout", "fractal", "pad",
	"compact", "valid",
};

/* Position of the next word in @names, which ends the message "unknown WHAT: X" when it is none. */
static int one_of(struct parser *p, const char *what, const char *const *names, int n)
{
	struct span s = word(p);
	int i;

	for (i = 0; i < n; i++)
		if (s.size && strlen(names[i]) == s.size && !memcmp(names[i], s.at, s.size))
			return i;
	fail(p, s.at, NULL, "unknown %s: %.*s", what, (int)s.size, s.at);
	return -1;
}

static bool parse_space(struct parser *p, struct pto_type *t)
{
	static const char *const names[] = { "", "gm", "mat", "left", "right", "acc", "vec", "bias",
					     "scaling" };
	int i = one_of(p, "loc", names, PTO_SPACES);

	t->space = (uint8_t)(i < 0 ? 0 : i);
	return i > 0;
}

static bool parse_extent(struct parser *p, int64_t *out)
{
	const char *start;

	if (take(p, '?')) {
		*out = PTO_DYNAMIC;
		return true;
	}
	skip_space(p);
	start = p->at;
	if (!decimal(p, out))
		return false;
	if (*out == -1)
		*out = PTO_DYNAMIC;
	else if (*out < 0)
		return fail(p, start, "write ? for an extent known at run time",
			    "valid extent %lld is negative", (long long)*out);
	return true;
}

static bool parse_size(struct parser *p, int64_t *out)
{
	const char *start;

	skip_space(p);
	start = p->at;
	if (!decimal(p, out))
		return false;
	if (*out < 0 || *out > INT32_MAX)
		return fail(p, start, NULL, "rows/cols must be non-negative");
	return true;
}

/* A number below @n. */
static bool parse_small(struct parser *p, const char *what, int64_t n, uint8_t *out)
{
	const char *start;
	int64_t value;

	skip_space(p);
	start = p->at;
	if (!decimal(p, &value))
		return false;
	if (value < 0 || value >= n)
		return fail(p, start, NULL, "unknown %s: %lld", what, (long long)value);
	*out = (uint8_t)value;
	return true;
}

static bool parse_pad(struct parser *p, int64_t *pad)
{
	const char *start;

	skip_space(p);
	start = p->at;
	if (!decimal(p, pad))
		return false;
	if (*pad >= 0 && (*pad <= PTO_PAD_MIN || *pad / PTO_PAD_CUSTOM == 1))
		return true;
	return fail(p, start, "0 null, 1 zero, 2 max, 3 min, 4294967296 + bits: an element of these bits",
		    "unknown pad: %lld", (long long)*pad);
}

static bool parse_fractal(struct parser *p, struct pto_type *t)
{
	const char *start;
	int64_t value;

	skip_space(p);
	start = p->at;
	if (!decimal(p, &value))
		return false;
	if (value != 512 && value != 1024 && value != 32 && value != 16)
		return fail(p, start, "fractal is 512, 1024, 32 or 16", "unknown fractal: %lld",
			    (long long)value);
	t->fractal = (uint16_t)value;
	return true;
}

static bool parse_layout(struct parser *p, const char *what, int first, uint8_t *out)
{
	static const char *const names[] = { "none_box", "row_major", "col_major" };
	int i = one_of(p, what, names + first, 3 - first);

	*out = (uint8_t)(i < 0 ? 0 : i);
	return i >= 0;
}

/* "valid=16x?" */
static bool parse_valid(struct parser *p, struct pto_type *t)
{
	if (!parse_extent(p, &t->valid[0]))
		return false;
	if (*p->at != 'x')
		return fail(p, p->at, NULL, "tile_buf valid must have exactly two dims");
	p->at++;
	if (!parse_extent(p, &t->valid[1]))
		return false;
	if (*p->at == 'x')
		return fail(p, p->at, NULL, "tile_buf valid must have exactly two dims");
	return true;
}

static bool parse_value(struct parser *p, int key, struct pto_type *t)
{
	switch (key) {
	case K_LOC:
		return parse_space(p, t);
	case K_DTYPE:
		return parse_elem(p, &t->elem);
	case K_ROWS:
	case K_COLS:
		return parse_size(p, &t->dim[key - K_ROWS]);
	case K_V_ROW:
	case K_V_COL:
		return parse_extent(p, &t->valid[key - K_V_ROW]);
	case K_BLAYOUT:
		return parse_layout(p, "blayout", 1, &t->blayout);
	case K_SLAYOUT:
		return parse_layout(p, "slayout", 0, &t->slayout);
	case K_FRACTAL:
		return parse_fractal(p, t);
	case K_PAD:
		return parse_pad(p, &t->pad);
	case K_COMPACT:
		return parse_small(p, "compact", 3, &t->compact);
	}
	return parse_valid(p, t);
}

/* ", key=value" of the short form, in any order, each at most once; "..." ends the list. */
static bool parse_short_keys(struct parser *p, struct pto_type *t)
{
	unsigned int seen = 0;

	while (take(p, ',')) {
		struct span s;
		int key;

		if (take_text(p, "..."))
			break;
		s = word(p);
		for (key = K_BLAYOUT; key < KEYS; key++)
			if (strlen(keys[key]) == s.size && !memcmp(keys[key], s.at, s.size))
				break;
		if (key == KEYS)
			return fail(p, s.at, "valid, blayout, slayout, fractal, pad, compact",
				    "unknown key in tile_buf compact syntax: %.*s", (int)s.size,
				    s.at);
		if (seen & 1u << key)
			return fail(p, s.at, NULL, "duplicate %s in tile_buf compact syntax",
				    keys[key]);
		seen |= 1u << key;
		if (!expect(p, '=') || !parse_value(p, key, t))
			return false;
	}
	return true;
}

/* "vec, 16x16xf32, ..." */
static bool parse_short(struct parser *p, struct pto_type *t)
{
	const char *start;

	if (!parse_space(p, t) || !expect(p, ','))
		return false;
	skip_space(p);
	start = p->at;
	if (!parse_dims(p, t) || !parse_elem(p, &t->elem))
		return false;
	if (t->rank != 2)
		return fail(p, start, NULL,
			    "tile_buf compact syntax expects exactly two shape dims");
	if (t->dim[0] == PTO_DYNAMIC || t->dim[1] == PTO_DYNAMIC)
		return fail(p, start, "only valid extents may be ?",
			    "rows/cols must be non-negative");
	t->valid[0] = t->dim[0];
	t->valid[1] = t->dim[1];
	return parse_short_keys(p, t);
}

/* "loc=vec, dtype=f32, ...": this order; "..." stands for defaults. */
static bool parse_long(struct parser *p, struct pto_type *t)
{
	int key;

	t->rank = 2;
	for (key = K_LOC; key <= K_COMPACT; key++) {
		if (key && !take(p, ',')) {
			if (key == K_COMPACT)
				break;
			return fail(p, p->at, "end an abbreviated type with ...",
				    "expected ', %s=' in tile_buf", keys[key]);
		}
		if (key > K_COLS && take_text(p, "...")) {
			if (key <= K_V_ROW)
				t->valid[0] = t->dim[0];
			if (key <= K_V_COL)
				t->valid[1] = t->dim[1];
			break;
		}
		if (!expect_word(p, keys[key]) || !expect(p, '=') || !parse_value(p, key, t))
			return false;
	}
	return true;
}

static bool parse_tile_buf(struct parser *p, struct pto_type *t)
{
	const char *start = p->at;
	int i;

	t->fractal = 512;
	if (!expect(p, '<'))
		return false;
	if (at_word(p, "loc") ? !parse_long(p, t) : !parse_short(p, t))
		return false;
	if (t->space == PTO_SPACE_LEFT) /* section 8.3: whatever was written */
		t->blayout = p->m->arch == PTO_ARCH_A5 ? PTO_COL_MAJOR : PTO_ROW_MAJOR;
	for (i = 0; i < 2; i++)
		if (t->dim[i] > INT32_MAX)
			return fail(p, start, NULL, "a tile of %lld %s is too large",
				    (long long)t->dim[i], i ? "columns" : "rows");
	for (i = 0; i < 2; i++)
		if (t->valid[i] > t->dim[i])
			return fail(p, start, "a valid extent is at most the tile's",
				    "valid %s %lld is larger than %lld %s", i ? "columns" : "rows",
				    (long long)t->valid[i], (long long)t->dim[i],
				    i ? "columns" : "rows");
	return expect(p, '>');
}

/* "<tile_buf, count=N>": the tile with or without its "!pto." */
static bool parse_multi(struct parser *p, struct pto_type *t)
{
	struct pto_type tile = { .kind = PTO_T_TILE };
	const char *start;

	if (!expect(p, '<'))
		return false;
	take_text(p, "!pto.");
	if (!expect_word(p, "tile_buf") || !parse_tile_buf(p, &tile))
		return false;
	t->inner = keep(p, &tile);
	if (!t->inner || !expect(p, ',') || !expect_word(p, "count") || !expect(p, '='))
		return false;
	start = p->at;
	if (!decimal(p, &t->count))
		return false;
	if (t->count < 2 || t->count > 16)
		return fail(p, start, "count is 2 to 16", "count %lld is out of range",
			    (long long)t->count);
	return expect(p, '>');
}

/* ---- All of them ----------------------------------------------------------------------------- */

static bool parse_nothing(struct parser *p, struct pto_type *t)
{
	(void)t;
	if (*p->at == '<' && p->at[1] == '>')
		p->at += 2;
	return true;
}

static const struct {
	const char *name;
	enum pto_type_kind kind;
	bool (*parse)(struct parser *p, struct pto_type *t);
} pto_types[] = {
	{ "ptr", PTO_T_PTR, parse_ptr },
	{ "tensor_view", PTO_T_VIEW, parse_view },
	{ "partition_tensor_view", PTO_T_PART, parse_view },
	{ "tile_buf", PTO_T_TILE, parse_tile_buf },
	{ "tile", PTO_T_TILE_VALUE, parse_shaped },
	{ "multi_tile_buf", PTO_T_MULTI_TILE, parse_multi },
	{ "local_array", PTO_T_LOCAL_ARRAY, parse_counted },
	{ "eventid_array", PTO_T_EVENTID_ARRAY, parse_counted },
	{ "pipe", PTO_T_PIPE, parse_nothing },
	{ "async_session", PTO_T_ASYNC_SESSION, parse_nothing },
	{ "async_event", PTO_T_ASYNC_EVENT, parse_nothing },
	{ "prefetch_async_context", PTO_T_PREFETCH_CTX, parse_nothing },
};

/* "!pto.NAME...", from the "!" on. */
static const struct pto_type *read_pto_type(struct parser *p)
{
	const char *start = p->at;
	struct pto_type t = { 0 };
	struct span s;
	size_t i;

	p->at++;
	if (!take_text(p, "pto.")) {
		fail(p, start, "types of the dialect begin with !pto.", "unknown type");
		return NULL;
	}
	s = word(p);
	if (s.size == strlen("tile_buf") && !memcmp(s.at, "tile_buf", s.size) &&
	    take_text(p, "<...>"))
		return &elided_type;
	for (i = 0; i < sizeof(pto_types) / sizeof(pto_types[0]); i++) {
		if (strlen(pto_types[i].name) != s.size || memcmp(pto_types[i].name, s.at, s.size))
			continue;
		t.kind = (uint8_t)pto_types[i].kind;
		if (!pto_types[i].parse(p, &t))
			return NULL;
		return keep(p, &t);
	}
	p->at = start;
	t.kind = PTO_T_SCALAR;
	return parse_elem(p, &t.elem) ? keep(p, &t) : NULL;
}

/* End of the type that begins at "!" in @s: behind its last ">". */
static const char *type_end(const char *s)
{
	unsigned int open = 0;

	for (s++; is_word_char(*s); s++)
		;
	if (*s != '<')
		return s;
	for (;; s++) {
		if (*s == '<')
			open++;
		else if (*s == '>' && !--open)
			return s + 1;
		else if (*s == '\0' || *s == '\n' || *s == '/')
			return NULL;
	}
}

static size_t cache_slot(const char *text, size_t size)
{
	uint64_t h = size, word;
	size_t i;

	for (i = 0; i + 8 <= size; i += 8) {
		memcpy(&word, text + i, 8);
		h = (h ^ word) * UINT64_C(0xD6E8FEB86659FD93);
		h ^= h >> 29;
	}
	for (; i < size; i++)
		h = (h ^ (unsigned char)text[i]) * UINT64_C(0xD6E8FEB86659FD93);
	return (h >> 40) % TYPE_CACHE;
}

/* Whether the text is that of slot @slot; a type that ends in ">" cannot go on behind it. */
static bool in_slot(const struct parser *p, size_t slot, const char *start)
{
	size_t size = p->cache[slot].size;

	return size && size <= (size_t)(p->end - start) && start[size - 1] == '>' &&
	       !memcmp(p->cache[slot].at, start, size);
}

static const struct pto_type *take_cached(struct parser *p, size_t slot)
{
	if (slot != p->recent[0]) {
		p->recent[1] = p->recent[0];
		p->recent[0] = slot;
	}
	p->at += p->cache[slot].size;
	return p->cache[slot].type;
}

static const struct pto_type *cached_type(struct parser *p)
{
	const char *start = p->at, *end;
	const struct pto_type *t;
	size_t size, slot;

	if (in_slot(p, p->recent[0], start))
		return take_cached(p, p->recent[0]);
	if (in_slot(p, p->recent[1], start))
		return take_cached(p, p->recent[1]);
	end = type_end(start);
	if (!end)
		return read_pto_type(p);
	size = (size_t)(end - start);
	slot = cache_slot(start, size);
	if (p->cache[slot].size == size && !memcmp(p->cache[slot].at, start, size))
		return take_cached(p, slot);
	t = read_pto_type(p);
	if (t && p->at == end) {
		p->cache[slot].at = start;
		p->cache[slot].size = size;
		p->cache[slot].type = t;
	}
	return t;
}

const struct pto_type *parse_type(struct parser *p)
{
	struct pto_type t = { .kind = PTO_T_SCALAR };

	if (peek(p) == '!')
		return cached_type(p);
	if (take_word(p, "memref")) {
		t.kind = PTO_T_MEMREF;
		return parse_memref(p, &t) ? keep(p, &t) : NULL;
	}
	if (take_word(p, "vector")) {
		t.kind = PTO_T_VECTOR;
		return parse_shaped(p, &t) ? keep(p, &t) : NULL;
	}
	return parse_elem(p, &t.elem) ? keep(p, &t) : NULL;
}

bool parse_type_list(struct parser *p)
{
	do {
		const struct pto_type *t = parse_type(p);

		if (!t || !push(p, types, t))
			return false;
	} while (take(p, ','));
	return true;
}
