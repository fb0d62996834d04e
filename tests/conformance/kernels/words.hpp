// SPDX-License-Identifier: MIT
// Tells what a kernel got: all argument words, then the data addresses of the
// descriptors at the positions that the record asks for, then the contexts.
#include <string.h>

#include "intrinsic.h"
#include "tensor.h"

struct words_record {
	int64_t args[64];
	int64_t count;		/* positions in use */
	int64_t position[32];
	int64_t address[32];	/* of the first element */
	int64_t elements[32];
	int64_t block_idx, block_num, sub_block_id, workspace, calls;
};

static inline void tell(struct words_record *r, int64_t *args)
{
	r->calls++;
	memcpy(r->args, args, PTO_KERNEL_ARGS * sizeof(*args));
	for (int64_t i = 0; i < r->count; i++) {
		auto *t = reinterpret_cast<const ChipTensor *>(args[r->position[i]]);

		r->address[i] = static_cast<int64_t>(t->buffer.addr +
				t->start_offset * get_element_size(t->dtype));
		r->elements[i] = static_cast<int64_t>(t->numel());
	}
	r->block_idx = get_block_idx(args);
	r->block_num = get_block_num(args);
	r->sub_block_id = get_sub_block_id(args);
	r->workspace = reinterpret_cast<int64_t>(get_dma_workspace(args, 0)) |
		       reinterpret_cast<int64_t>(get_dma_workspace(args, 7));
}
