/* SPDX-License-Identifier: MIT */
/* The passes, one function per file. */
#ifndef PTOAS_PASSES_H
#define PTOAS_PASSES_H

#include <errno.h>

#include "pass.h"

int pass_check_level(struct pto_pass_ctx *c);		/* pass_level.c */
int pass_lower_events(struct pto_pass_ctx *c);		/* pass_events.c */
int pass_infer_layout(struct pto_pass_ctx *c);		/* pass_layout.c */
int pass_lower_memrefs(struct pto_pass_ctx *c);		/* pass_memref.c */
int pass_rewrite_moves(struct pto_pass_ctx *c);		/* pass_moves.c */
bool rewrite_moves_wanted(const struct pto_pass_ctx *c);
int pass_merge_equal(struct pto_pass_ctx *c);		/* pass_cse.c */
/* Buffers of tiles that a loop carries from its body; before planning. pass_alternate.c */
int pass_alternate_buffers(struct pto_pass_ctx *c);
bool infer_layout_wanted(const struct pto_pass_ctx *c);

#endif
