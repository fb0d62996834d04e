/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ops.h"

static const struct pto_opinfo ops[PTO_OPCODES] = {
#define OP(code_, name_, format_, sig_, attrs_, a3_, a5_, rule_, p3_, p5_, flags_, cxx_, order_) \
	[PTO_OP_##code_] = {						\
		.name = name_, .format = format_, .sig = sig_, .attrs = attrs_,	\
		.cxx = cxx_, .order = order_, .types = { a3_, a5_ },	\
		.pipes = { p3_, p5_ }, .flags = flags_,			\
		.code = PTO_OP_##code_, .rule = PTO_RULE_##rule_,	\
	},
#include "ops.def"
#undef OP
};

/* Other spellings (sections 1, 8.5). */
static const struct {
	const char *name;
	enum pto_opcode code;
} aliases[] = {
	{ "return", PTO_OP_RETURN },
	{ "call", PTO_OP_CALL },
	{ "pto.tstore.fp", PTO_OP_TSTORE_FP },
	{ "pto.tmov_fp", PTO_OP_TMOV_FP },
	{ "pto.tmgather", PTO_OP_MGATHER },
	{ "pto.tmscatter", PTO_OP_MSCATTER },
	{ "pto.tselc", PTO_OP_TSELS },
	{ "pto.textract.fp", PTO_OP_TEXTRACT_FP },
	{ "pto.tinsert.fp", PTO_OP_TINSERT_FP },
};

const struct pto_opinfo *pto_op_info(enum pto_opcode code)
{
	return &ops[code];
}

enum pto_opcode pto_op_find(const char *name, size_t size)
{
	size_t i;

	for (i = 1; i < PTO_OPCODES; i++)
		if (strlen(ops[i].name) == size && !memcmp(ops[i].name, name, size))
			return (enum pto_opcode)i;
	for (i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (strlen(aliases[i].name) == size && !memcmp(aliases[i].name, name, size))
			return aliases[i].code;
	return PTO_OP_NONE;
}

const char *pto_op_alias(size_t i, enum pto_opcode *code)
{
	if (i >= sizeof(aliases) / sizeof(aliases[0]))
		return NULL;
	*code = aliases[i].code;
	return aliases[i].name;
}

/* ---- Pipes (sections 3.7, 9.9) --------------------------------------------------------------- */

#define ANY	PTO_SPACE_NONE
#define P(p)	PTO_PIPE(p)

/* First match counts. Two bits where the two sections disagree (D30). */
static const struct {
	uint16_t code;
	uint8_t src, dst;
	uint16_t pipes[PTO_ARCHES];
} by_space[] = {
	{ PTO_OP_TSTORE, PTO_SPACE_ACC, ANY, { P(FIX), P(FIX) } },
	{ PTO_OP_TSTORE, ANY, ANY, { P(MTE3), P(MTE3) } },
	{ PTO_OP_TMOV, PTO_SPACE_ACC, ANY, { P(FIX), P(FIX) } },
	{ PTO_OP_TMOV, PTO_SPACE_MAT, PTO_SPACE_SCALING, { P(MTE1) | P(FIX), P(MTE1) | P(FIX) } },
	{ PTO_OP_TMOV, PTO_SPACE_MAT, ANY, { P(MTE1), P(MTE1) } },
	{ PTO_OP_TMOV, PTO_SPACE_VEC, PTO_SPACE_MAT, { P(FIX) | P(V), P(FIX) | P(V) } },
	{ PTO_OP_TMOV, ANY, ANY, { P(V), P(V) } },
	{ PTO_OP_TEXTRACT, PTO_SPACE_ACC, ANY, { P(FIX), P(FIX) } },
	{ PTO_OP_TEXTRACT, PTO_SPACE_VEC, PTO_SPACE_MAT, { P(FIX) | P(V), P(FIX) | P(V) } },
	{ PTO_OP_TEXTRACT, PTO_SPACE_MAT, ANY, { P(MTE1), P(MTE1) } },
	{ PTO_OP_TEXTRACT, ANY, ANY, { P(V), P(V) } },
	{ PTO_OP_TINSERT, PTO_SPACE_VEC, PTO_SPACE_MAT, { P(FIX) | P(V), P(MTE3) | P(V) } },
	{ PTO_OP_TINSERT, PTO_SPACE_VEC, PTO_SPACE_VEC, { P(FIX) | P(V), P(V) } },
	{ PTO_OP_TINSERT, ANY, ANY, { P(FIX), P(FIX) } },
	{ PTO_OP_TPUSH_TO_AIV, PTO_SPACE_ACC, ANY, { P(FIX), P(FIX) } },
	{ PTO_OP_TPUSH_TO_AIV, ANY, ANY, { P(MTE3), P(MTE3) } },
	{ PTO_OP_TPUSH_TO_AIC, PTO_SPACE_ACC, ANY, { P(FIX), P(FIX) } },
	{ PTO_OP_TPUSH_TO_AIC, ANY, ANY, { P(MTE3), P(MTE3) } },
	{ PTO_OP_TPUSH, PTO_SPACE_ACC, ANY, { P(FIX), P(FIX) } },
	{ PTO_OP_TPUSH, ANY, ANY, { P(MTE3), P(MTE3) } },
	{ PTO_OP_TEXPANDS, ANY, PTO_SPACE_MAT, { P(MTE2) | P(V), P(MTE2) | P(V) } },
	{ PTO_OP_TEXPANDS, ANY, ANY, { P(V), P(V) } },
	{ PTO_OP_TFILLPAD, ANY, PTO_SPACE_MAT, { P(MTE2) | P(V), P(MTE2) | P(V) } },
	{ PTO_OP_TFILLPAD, ANY, ANY, { P(V), P(V) } },
	{ PTO_OP_TFILLPAD_INPLACE, ANY, PTO_SPACE_MAT, { P(MTE2) | P(V), P(MTE2) | P(V) } },
	{ PTO_OP_TFILLPAD_INPLACE, ANY, ANY, { P(V), P(V) } },
	{ PTO_OP_TFILLPAD_EXPAND, ANY, PTO_SPACE_MAT, { P(MTE2) | P(V), P(MTE2) | P(V) } },
	{ PTO_OP_TFILLPAD_EXPAND, ANY, ANY, { P(V), P(V) } },
};

/* Space of the first buffer that is read, or of the first that is written. */
static enum pto_space space_of(const struct pto_op *op, bool written)
{
	unsigned int i;
	uint8_t role;

	for (i = 0; i < op->n_operands; i++) {
		role = op->operand[i].role;
		if (written == (role == PTO_ROLE_WRITE || role == PTO_ROLE_UPDATE) &&
		    (written || role == PTO_ROLE_READ))
			return pto_type_memory(op->operand[i].value->type);
	}
	return PTO_SPACE_NONE;
}

unsigned int pto_op_pipes(const struct pto_op *op, enum pto_arch arch)
{
	enum pto_space src, dst;
	size_t i;

	if (op->info->pipes[arch])
		return op->info->pipes[arch];
	src = space_of(op, false);
	dst = space_of(op, true);
	for (i = 0; i < sizeof(by_space) / sizeof(by_space[0]); i++)
		if (by_space[i].code == op->info->code &&
		    (by_space[i].src == ANY || by_space[i].src == src) &&
		    (by_space[i].dst == ANY || by_space[i].dst == dst))
			return by_space[i].pipes[arch];
	return 0;
}

const char *pto_pipe_name(enum pto_pipe pipe)
{
	static const char *const names[PTO_PIPES] = {
		"PIPE_S", "PIPE_V", "PIPE_M", "PIPE_MTE1", "PIPE_MTE2", "PIPE_MTE3", "PIPE_ALL",
		"PIPE_MTE4", "PIPE_MTE5", "PIPE_V2", "PIPE_FIX",
	};

	return names[pipe];
}

bool pto_ends_late(const struct pto_op *op, enum pto_arch arch)
{
	return pto_op_pipes(op, arch) & ~PTO_PIPE(S);
}

bool pto_may_share(const struct pto_op *op, unsigned int in, unsigned int out)
{
	const struct pto_use *a = &op->operand[in], *b = &op->operand[out];
	const struct pto_type *ta = a->value->type, *tb = b->value->type;

	if (!pto_has(op, PTO_F_INPLACE) || a->apart || a->role != PTO_ROLE_READ)
		return false;
	if (b->role != PTO_ROLE_WRITE && b->role != PTO_ROLE_UPDATE)
		return false;
	return ta->kind == PTO_T_TILE && tb->kind == PTO_T_TILE && ta->space == tb->space &&
	       pto_elem_info(ta->elem)->bits == pto_elem_info(tb->elem)->bits &&
	       ta->dim[0] == tb->dim[0] && ta->dim[1] == tb->dim[1] &&
	       ta->blayout == tb->blayout && ta->slayout == tb->slayout &&
	       ta->fractal == tb->fractal && ta->compact == tb->compact;
}

/* ---- Signatures ------------------------------------------------------------------------------ */

struct item {
	char kind, prefix;
	bool optional, many, apart;
};

/* Reads one item; false at the end of its group. */
static bool next_item(const char **sig, struct item *it)
{
	const char *s = *sig;

	while (*s == ' ')
		s++;
	*sig = s;
	if (!*s || *s == '>' || *s == ';' || *s == '|')
		return false;
	*it = (struct item){ 0 };
	if (*s == '~' || *s == '+' || *s == '=')
		it->prefix = *s++;
	it->kind = *s++;
	for (; *s == '?' || *s == '*' || *s == '!'; s++) {
		it->optional |= *s == '?';
		it->many |= *s == '*';
		it->apart |= *s == '!';
	}
	*sig = s;
	return true;
}

/* What a type can stand for in a signature. */
enum { FITS_LOCAL = 1, FITS_VIEW = 2, FITS_PTR = 4, FITS_VECTOR = 8, FITS_FLOAT = 16, FITS_INT = 32,
       FITS_NONE = 64, FITS_BUFFER = FITS_LOCAL | FITS_VIEW | FITS_PTR };

static unsigned int fits_of(const struct pto_type *t)
{
	switch (t->kind) {
	case PTO_T_SCALAR:
		return pto_elem_is_float((enum pto_elem)t->elem) ? FITS_FLOAT : FITS_INT;
	case PTO_T_TILE:
	case PTO_T_TILE_VALUE:
	case PTO_T_MULTI_TILE:
		return FITS_LOCAL;
	case PTO_T_VIEW:
	case PTO_T_PART:
		return FITS_VIEW;
	case PTO_T_PTR:
		return FITS_VIEW | FITS_PTR;
	case PTO_T_MEMREF:
		return pto_is_global(t) ? FITS_VIEW | FITS_PTR : FITS_LOCAL;
	case PTO_T_VECTOR:
		return FITS_VECTOR;
	}
	return FITS_NONE;
}

/* Letters of a signature; those that are not here take anything. Spaces, elements: the verifier. */
static const unsigned char letters[256] = {
	['t'] = FITS_LOCAL, ['u'] = FITS_LOCAL, ['m'] = FITS_LOCAL, ['x'] = FITS_LOCAL,
	['g'] = FITS_LOCAL, ['L'] = FITS_LOCAL, ['R'] = FITS_LOCAL, ['A'] = FITS_LOCAL,
	['B'] = FITS_LOCAL, ['S'] = FITS_LOCAL,
	['v'] = FITS_VIEW, ['p'] = FITS_PTR, ['k'] = FITS_VECTOR,
	['s'] = FITS_FLOAT | FITS_INT, ['f'] = FITS_FLOAT, ['n'] = FITS_INT, ['d'] = FITS_INT,
};

static enum pto_role role_of(const struct item *it, bool out, unsigned int fits)
{
	if (!(fits & FITS_BUFFER))
		return PTO_ROLE_VALUE;
	switch (it->prefix) {
	case '~':
		return PTO_ROLE_SCRATCH;
	case '+':
		return PTO_ROLE_UPDATE;
	case '=':
		return PTO_ROLE_BIND;
	}
	return out ? PTO_ROLE_WRITE : it->kind == 'e' ? PTO_ROLE_VALUE : PTO_ROLE_READ;
}

struct match {
	const struct pto_op *op;
	struct pto_sig_item *items;
	unsigned int at;
};

/* How many of a group's items must be there. */
static unsigned int required(const char *s)
{
	unsigned int n = 0;

	for (; *s && *s != '>' && *s != ';' && *s != '|'; s++) {
		n += (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z');
		n -= *s == '?' || *s == '*';
	}
	return n;
}

/* Operands of @group from @at on; those of a group stand together. */
static unsigned int count_from(const struct pto_op *op, unsigned int at, unsigned int group)
{
	unsigned int n = at;

	while (n < op->n_operands && op->operand[n].group == group)
		n++;
	return n - at;
}

static bool match_group(struct match *m, const char **sig, unsigned int group, bool out)
{
	unsigned int have = count_from(m->op, m->at, group), need = required(*sig), spare;
	struct item it;

	spare = have > need ? have - need : 0;
	if (have < need)
		return false;
	while (next_item(sig, &it)) {
		unsigned int n = it.many ? spare : it.optional ? spare > 0 : 1;
		unsigned int takes = letters[(unsigned char)it.kind];

		if (it.optional || it.many)
			spare -= n;
		for (; n; n--, m->at++) {
			unsigned int fits = fits_of(m->op->operand[m->at].value->type);

			if (takes && !(fits & takes))
				return false;
			m->items[m->at] = (struct pto_sig_item){
				.kind = it.kind, .role = role_of(&it, out, fits), .apart = it.apart,
			};
		}
	}
	return !spare;
}

/* Behind the end of a group. */
static const char *group_end(const char *s)
{
	while (*s && *s != '>' && *s != ';' && *s != '|')
		s++;
	return s;
}

static bool match_alternative(const struct pto_op *op, const char **sig,
			      struct pto_sig_item *items)
{
	struct match m = { .op = op, .items = items };
	unsigned int group = 0;
	bool out = false, ok = true;

	for (;;) {
		ok = ok && match_group(&m, sig, group, out);
		*sig = group_end(*sig);
		if (!**sig || **sig == '|')
			break;
		out = *(*sig)++ == '>';
		group++;
	}
	return ok && m.at == op->n_operands;
}

int pto_sig_match(const struct pto_op *op, struct pto_sig_item *items)
{
	const char *sig = op->info->sig;

	for (;;) {
		if (match_alternative(op, &sig, items))
			return 0;
		if (*sig != '|')
			return -EINVAL;
		sig++;
	}
}

static bool recall(const struct pto_sig_memo *memo, const struct pto_op *op,
		   struct pto_sig_item *items)
{
	unsigned int n = op->n_operands, i;

	if (!n || memo->op[op->info->code].n != n)
		return false;
	for (i = 0; i < n; i++) {
		const struct pto_use *u = &op->operand[i];

		if (memo->op[op->info->code].operand[i].group != u->group ||
		    memo->op[op->info->code].operand[i].fits != fits_of(u->value->type))
			return false;
		items[i] = memo->op[op->info->code].operand[i].item;
	}
	return true;
}

int pto_sig_match_memo(struct pto_sig_memo *memo, const struct pto_op *op,
		       struct pto_sig_item *items)
{
	unsigned int i;

	if (recall(memo, op, items))
		return 0;
	if (pto_sig_match(op, items))
		return -EINVAL;
	if (op->n_operands > PTO_MEMO_OPERANDS)
		return 0;
	memo->op[op->info->code].n = (uint8_t)op->n_operands;
	for (i = 0; i < op->n_operands; i++) {
		const struct pto_use *u = &op->operand[i];

		memo->op[op->info->code].operand[i].group = u->group;
		memo->op[op->info->code].operand[i].fits = (uint8_t)fits_of(u->value->type);
		memo->op[op->info->code].operand[i].item = items[i];
	}
	return 0;
}

static const char *kind_word(char kind)
{
	switch (kind) {
	case 'v': return "view";
	case 'p': return "pointer";
	case 'k': return "vector<4xi16>";
	case 's': return "scalar";
	case 'n': return "integer";
	case 'f': return "float";
	case 'd': return "index";
	case 'e': return "value";
	}
	return "tile";
}

void pto_sig_describe(const struct pto_opinfo *info, char *text, size_t size)
{
	bool io = !strncmp(info->format, "io", 2);
	const char *s = info->sig;
	size_t n = 0;
	struct item it;

	text[0] = '\0';
	if (io)
		n += (size_t)snprintf(text, size, "ins(");
	for (;;) {
		const char *sep = "";

		while (n < size && next_item(&s, &it)) {
			n += (size_t)snprintf(text + n, size - n, "%s%s%s%s%s", sep,
					      it.optional ? "[" : "",
					      it.prefix == '~' ? "scratch " : "",
					      kind_word(it.kind),
					      it.optional ? "]" : it.many ? "..." : "");
			sep = ", ";
		}
		if (n >= size || !*s)
			break;
		n += (size_t)snprintf(text + n, size - n, "%s",
				      *s == '|' ? (io ? ") or ins(" : " or ") :
				      *s == '>' ? ") outs(" : ", ");
		s++;
		if (n >= size)
			break;
	}
	if (io && n + 1 < size)
		strcpy(text + n, ")");
}

static int bind_items(struct pto_op *op, const struct pto_sig_item *items)
{
	unsigned int i;

	for (i = 0; i < op->n_operands; i++) {
		op->operand[i].role = items[i].role;
		op->operand[i].apart = items[i].apart;
	}
	return 0;
}

int pto_op_bind(struct pto_op *op)
{
	struct pto_sig_item items[PTO_MAX_OPERANDS];

	if (op->n_operands > PTO_MAX_OPERANDS || pto_sig_match(op, items))
		return -EINVAL;
	return bind_items(op, items);
}

int pto_op_bind_memo(struct pto_sig_memo *memo, struct pto_op *op)
{
	struct pto_sig_item items[PTO_MAX_OPERANDS];

	if (op->n_operands > PTO_MAX_OPERANDS || pto_sig_match_memo(memo, op, items))
		return -EINVAL;
	return bind_items(op, items);
}
