/* SPDX-License-Identifier: MIT */
/* Inside the verifier: one operation at a time. Checks return 0, or -EINVAL after reporting. */
#ifndef PTOAS_VERIFY_H
#define PTOAS_VERIFY_H

#include <errno.h>

#include "diag.h"
#include "ops.h"
#include "ptoas.h"

#define VERIFY_SHOWN	8

struct verify {
	struct pto_module *m;
	struct pto_diags *d;
	enum pto_arch arch;
	struct pto_func *func;
	struct pto_op *op;
	/* Of the ins/outs form: types of inputs without scratch, of scratch, of outputs. */
	const struct pto_type *in[VERIFY_SHOWN], *tmp[VERIFY_SHOWN], *out[VERIFY_SHOWN];
	unsigned int n_in, n_tmp, n_out;
	unsigned int reserves;		/* reserve_buffer in this function */
	unsigned int bodies;		/* functions that are no declarations */
	struct pto_sig_item items[PTO_MAX_OPERANDS];
	struct pto_sig_memo memo;
};

typedef int (*verify_fn)(struct verify *v);

/* An error at the operation in work, "'pto.OP' op ..."; @hint or NULL. */
#define bad(v, hint, ...)	pto_op_error((v)->d, (v)->m, (v)->op, (hint), __VA_ARGS__)

/* verify_types.c */
const char *elem_text(const struct pto_type *t);
bool in_mask(const struct pto_type *t, uint32_t mask);
void mask_text(uint32_t mask, char *text, size_t size);
bool dims_agree(int64_t a, int64_t b);		/* equal, or one is unknown */
bool same_shape(const struct pto_type *a, const struct pto_type *b);
bool same_valid(const struct pto_type *a, const struct pto_type *b);
bool is_row_major(const struct pto_type *t);
int64_t static_count(const struct pto_type *t);	/* of a view or a valid region; -1: unknown */
uint32_t class_bit(const struct pto_type *t);

/* verify_operands.c */
int verify_operands(struct verify *v);
int verify_attrs(struct verify *v);

/* verify_vector.c, verify_move.c, verify_scalar.c, verify_pipe.c: one function per rule */
int verify_same(struct verify *v);
int verify_rowred(struct verify *v);
int verify_colred(struct verify *v);
int verify_rowexpand(struct verify *v);
int verify_colexpand(struct verify *v);
int verify_rowbin(struct verify *v);
int verify_colbin(struct verify *v);
int verify_matmul(struct verify *v);
int verify_mx(struct verify *v);
int verify_trans(struct verify *v);
int verify_cvt(struct verify *v);
int verify_cmp(struct verify *v);
int verify_sel(struct verify *v);
int verify_gather(struct verify *v);
int verify_scatter(struct verify *v);
int verify_mgather(struct verify *v);
int verify_sort(struct verify *v);
int verify_mrgsort(struct verify *v);
int verify_ci(struct verify *v);
int verify_part(struct verify *v);
int verify_concat(struct verify *v);
int verify_quant(struct verify *v);
int verify_expands(struct verify *v);
int verify_random(struct verify *v);

int verify_load(struct verify *v);
int verify_store(struct verify *v);
int verify_store_fp(struct verify *v);
int verify_mov(struct verify *v);
int verify_mov_fp(struct verify *v);
int verify_extract(struct verify *v);
int verify_insert(struct verify *v);
int verify_fillpad(struct verify *v);
int verify_scale_addr(struct verify *v);

int verify_make_view(struct verify *v);
int verify_partition(struct verify *v);
int verify_alloc(struct verify *v);
int verify_reshape(struct verify *v);
int verify_bitcast(struct verify *v);
int verify_subset(struct verify *v);
int verify_validshape(struct verify *v);
int verify_getval(struct verify *v);
int verify_ptr(struct verify *v);
int verify_multi_get(struct verify *v);
int verify_tassign(struct verify *v);

int verify_pipe_init(struct verify *v);
int verify_pipe_use(struct verify *v);
int verify_reserve(struct verify *v);
int verify_sync_set(struct verify *v);
int verify_ffts(struct verify *v);

int verify_arith(struct verify *v);
int verify_cast(struct verify *v);
int verify_select(struct verify *v);
int verify_for(struct verify *v);
int verify_if(struct verify *v);
int verify_while(struct verify *v);
int verify_switch(struct verify *v);
int verify_call(struct verify *v);
int verify_return(struct verify *v);

/* verify_func.c */
int verify_blocks(struct verify *v, struct pto_op *op);
int verify_func(struct verify *v);
void verify_symbols(struct verify *v);
void forget_symbols(struct verify *v);

#endif
