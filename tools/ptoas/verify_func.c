/* SPDX-License-Identifier: MIT */
/* Functions, their attributes, and the shape of blocks. Sections 8.4, 9.2, 9.10. */
#include <string.h>

#include "verify.h"

/* ---- Blocks ---------------------------------------------------------------------------------- */

static int verify_block(struct verify *v, struct pto_op *owner, struct pto_block *b)
{
	bool section = owner->info->code == PTO_OP_SECTION_CUBE ||
		       owner->info->code == PTO_OP_SECTION_VECTOR;
	struct pto_op *kept = v->op;
	int ret = 0;

	pto_for_each_op(op, b) {
		v->op = op;
		if (op->next && pto_has(op, PTO_F_TERM))
			ret = bad(v, "remove what follows, or the line itself",
				  "must be the last line of its block");
	}
	v->op = kept;
	if (ret || section || (b->last && pto_has(b->last, PTO_F_TERM)))
		return ret;
	v->op = owner;
	ret = owner->info->code == PTO_OP_FUNC ?
	      bad(v, "end the function with return", "expects its last block to end with return") :
	      bad(v, "end the region with scf.yield",
		  "expects every block to end with a terminator");
	v->op = kept;
	return ret;
}

int verify_blocks(struct verify *v, struct pto_op *op)
{
	unsigned int i;

	for (i = 0; i < op->n_regions; i++)
		pto_for_each_block(b, &op->region[i])
			if (verify_block(v, op, b))
				return -EINVAL;
	return 0;
}

/* ---- Functions ------------------------------------------------------------------------------- */

static int func_error(struct verify *v, const char *hint, const char *text)
{
	pto_diag(v->d, v->m, PTO_ERROR, v->func->op->loc, hint, "%s", text);
	return -EINVAL;
}

/* Section 9.10: marked, or the only definition of the module. */
static bool is_entry(const struct verify *v)
{
	const struct pto_op *op = v->func->op;

	if (pto_attr_find(op, "pto.entry") || pto_attr_find(op, "hacc.entry"))
		return true;
	return pto_func_has_body(v->func) && v->bodies == 1;
}

static int verify_tail_hint(struct verify *v)
{
	static const char *const known[] = { "barrier-all", "barrier_all", "default",
					     "mte3-to-s-event0" };
	const struct pto_attr *a = pto_attr_find(v->func->op, "pto.auto_sync_tail_hint");
	size_t i;

	if (!a)
		return 0;
	for (i = 0; a->kind == PTO_ATTR_STRING && i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(a->text->text, known[i]))
			return 0;
	pto_diag(v->d, v->m, PTO_ERROR, v->func->op->loc, NULL,
		 "invalid pto.auto_sync_tail_hint '%s'. Expected 'barrier-all' (or 'default') or "
		 "'mte3-to-s-event0'.", a->kind == PTO_ATTR_STRING ? a->text->text : "");
	return -EINVAL;
}

static int verify_kind(struct verify *v)
{
	const struct pto_attr *a = pto_attr_find(v->func->op, "pto.kernel_kind");

	if (a && (a->kind != PTO_ATTR_ENUM || a->of != PTO_A_KERNEL_KIND))
		return func_error(v, "write pto.kernel_kind = #pto.kernel_kind<vector>",
				  "pto.kernel_kind must be #pto.kernel_kind<cube> or <vector>");
	return 0;
}

int verify_func(struct verify *v)
{
	int ret = 0;

	if (v->func->result && is_entry(v))
		ret |= func_error(v, "write the result to memory, or make the function private",
				  "PTO entry functions must return void");
	ret |= verify_tail_hint(v);
	ret |= verify_kind(v);
	return ret ? -EINVAL : 0;
}

/*
 * Function names are unique, and found through the slot of the name: verify_symbols() fills the
 * slots, forget_symbols() leaves them empty as they were.
 */
void verify_symbols(struct verify *v)
{
	pto_for_each_func(f, v->m) {
		struct pto_name *name = pto_intern(v->m, f->name->text, f->name->size);

		v->bodies += pto_func_has_body(f);
		if (name && !name->slot)
			name->slot = f;
		else
			pto_diag(v->d, v->m, PTO_ERROR, f->op->loc,
				 "give each function its own name",
				 "redefinition of function @%s", f->name->text);
	}
}

void forget_symbols(struct verify *v)
{
	pto_for_each_func(f, v->m) {
		struct pto_name *name = pto_intern(v->m, f->name->text, f->name->size);

		if (name)
			name->slot = NULL;
	}
}
