/* SPDX-License-Identifier: MIT */
/* CCE C++: section 11. */
#include "gen.h"

const char *gen_cce(struct px *px, const struct ir_program *program, const struct ir_function *f,
		    enum gen_arch arch)
{
	(void)program;
	(void)arch;
	diag_add(px, DIAG_COMPILE, f->node.span, "the CCE back end is not there yet");
	return NULL;
}
