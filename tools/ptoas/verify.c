/* SPDX-License-Identifier: MIT */
/* What of section 8.6 the text alone decides: operands and attributes by table, then a rule. */
#include <string.h>

#include "verify.h"

static const verify_fn rules[PTO_RULES] = {
	[PTO_RULE_SAME] = verify_same,
	[PTO_RULE_ROWRED] = verify_rowred,
	[PTO_RULE_COLRED] = verify_colred,
	[PTO_RULE_ROWEXPAND] = verify_rowexpand,
	[PTO_RULE_COLEXPAND] = verify_colexpand,
	[PTO_RULE_ROWBIN] = verify_rowbin,
	[PTO_RULE_COLBIN] = verify_colbin,
	[PTO_RULE_MATMUL] = verify_matmul,
	[PTO_RULE_MX] = verify_mx,
	[PTO_RULE_TRANS] = verify_trans,
	[PTO_RULE_CVT] = verify_cvt,
	[PTO_RULE_CMP] = verify_cmp,
	[PTO_RULE_SEL] = verify_sel,
	[PTO_RULE_LOAD] = verify_load,
	[PTO_RULE_STORE] = verify_store,
	[PTO_RULE_STORE_FP] = verify_store_fp,
	[PTO_RULE_MOV] = verify_mov,
	[PTO_RULE_MOV_FP] = verify_mov_fp,
	[PTO_RULE_EXTRACT] = verify_extract,
	[PTO_RULE_INSERT] = verify_insert,
	[PTO_RULE_FILLPAD] = verify_fillpad,
	[PTO_RULE_GATHER] = verify_gather,
	[PTO_RULE_SCATTER] = verify_scatter,
	[PTO_RULE_MGATHER] = verify_mgather,
	[PTO_RULE_SORT] = verify_sort,
	[PTO_RULE_MRGSORT] = verify_mrgsort,
	[PTO_RULE_CI] = verify_ci,
	[PTO_RULE_PART] = verify_part,
	[PTO_RULE_CONCAT] = verify_concat,
	[PTO_RULE_QUANT] = verify_quant,
	[PTO_RULE_EXPANDS] = verify_expands,
	[PTO_RULE_MAKE_VIEW] = verify_make_view,
	[PTO_RULE_PARTITION] = verify_partition,
	[PTO_RULE_ALLOC] = verify_alloc,
	[PTO_RULE_RESHAPE] = verify_reshape,
	[PTO_RULE_BITCAST] = verify_bitcast,
	[PTO_RULE_SUBSET] = verify_subset,
	[PTO_RULE_VALIDSHAPE] = verify_validshape,
	[PTO_RULE_GETVAL] = verify_getval,
	[PTO_RULE_PTR] = verify_ptr,
	[PTO_RULE_PIPE_INIT] = verify_pipe_init,
	[PTO_RULE_PIPE_USE] = verify_pipe_use,
	[PTO_RULE_RESERVE] = verify_reserve,
	[PTO_RULE_SYNC_SET] = verify_sync_set,
	[PTO_RULE_TASSIGN] = verify_tassign,
	[PTO_RULE_MULTI_GET] = verify_multi_get,
	[PTO_RULE_ARITH] = verify_arith,
	[PTO_RULE_CAST] = verify_cast,
	[PTO_RULE_SELECT] = verify_select,
	[PTO_RULE_FOR] = verify_for,
	[PTO_RULE_IF] = verify_if,
	[PTO_RULE_WHILE] = verify_while,
	[PTO_RULE_SWITCH] = verify_switch,
	[PTO_RULE_CALL] = verify_call,
	[PTO_RULE_RETURN] = verify_return,
	[PTO_RULE_RANDOM] = verify_random,
	[PTO_RULE_FFTS] = verify_ffts,
	[PTO_RULE_SCALE_ADDR] = verify_scale_addr,
};

/* Types by their place in ins and outs, for the rules. */
static void sort_operands(struct verify *v)
{
	unsigned int i;

	v->n_in = v->n_tmp = v->n_out = 0;
	for (i = 0; i < v->op->n_operands; i++) {
		const struct pto_use *u = &v->op->operand[i];
		const struct pto_type *t = u->value->type;

		if (u->group > 1)
			continue;
		if (v->items[i].role == PTO_ROLE_SCRATCH) {
			if (v->n_tmp < VERIFY_SHOWN)
				v->tmp[v->n_tmp++] = t;
		} else if (u->group == 1) {
			if (v->n_out < VERIFY_SHOWN)
				v->out[v->n_out++] = t;
		} else if (v->n_in < VERIFY_SHOWN) {
			v->in[v->n_in++] = t;
		}
	}
}

static int verify_arch(struct verify *v)
{
	const char *name = v->op->info->name;

	if (!pto_has(v->op, PTO_F_A5) || v->arch == PTO_ARCH_A5)
		return 0;
	return bad(v, "assemble with --pto-arch=a5, or use another instruction",
		   "%s is only supported on A5", strchr(name, '.') + 1);
}

static int verify_one(struct verify *v)
{
	char takes[400];
	verify_fn rule = rules[v->op->info->rule];

	if (pto_sig_match_memo(&v->memo, v->op, v->items)) {
		pto_sig_describe(v->op->info, takes, sizeof(takes));
		return bad(v, NULL, "does not take these operands; it takes %s", takes);
	}
	sort_operands(v);
	if (verify_arch(v) || verify_attrs(v) || verify_operands(v))
		return -EINVAL;
	return rule ? rule(v) : 0;
}

static void verify_region(struct verify *v, struct pto_op *op)
{
	unsigned int i;

	for (i = 0; i < op->n_regions; i++)
		pto_for_each_block(b, &op->region[i])
			pto_for_each_op(o, b) {
				v->op = o;
				if (verify_one(v))
					continue;
				if (verify_blocks(v, o))
					continue;
				verify_region(v, o);
			}
}

int pto_verify(struct pto_module *m, const struct pto_options *o, struct pto_diags *d)
{
	struct verify v = { .m = m, .d = d };
	unsigned int before = d->errors;

	v.arch = o && o->arch_given ? o->arch : m->arch;
	verify_symbols(&v);
	pto_for_each_func(f, m) {
		v.func = f;
		v.op = f->op;
		v.reserves = 0;
		verify_func(&v);
		if (pto_func_has_body(f) && !verify_blocks(&v, f->op))
			verify_region(&v, f->op);
	}
	forget_symbols(&v);
	return d->errors > before ? -EINVAL : 0;
}
