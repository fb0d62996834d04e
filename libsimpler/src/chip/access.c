// SPDX-License-Identifier: MIT
/* Element access from the orchestration (chip-runtime §7.7, decision D18). */
#include <string.h>

#include "base/log.h"
#include "base/run_code.h"
#include "chip/sched.h"
#include "chip/submit.h"

static bool check_element(struct chip *c, const char *what, const struct pto_tensor *t,
			  uint32_t ndims, const uint32_t *indices, uint32_t elem_bytes)
{
	if (ndims > PTO_MAX_DIMS || ndims != t->ndims || (ndims && !indices)) {
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS, "%s: %u indices for a tensor of %u dimensions",
			       what, ndims, t->ndims);
		return false;
	}
	if (elem_bytes != chip_dtype_bytes(t->dtype)) {
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
			       "%s: a type of %u bytes for elements of %u bytes (element type %u)",
			       what, elem_bytes, chip_dtype_bytes(t->dtype), t->dtype);
		return false;
	}
	for (uint32_t d = 0; d < ndims; d++)
		if (indices[d] >= t->shapes[d]) {
			chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
				       "%s: index %u of dimension %u is outside its extent %u", what,
				       indices[d], d, t->shapes[d]);
			return false;
		}
	return true;
}

/* The one-element view at @indices. */
static struct pto_tensor element_view(const struct pto_tensor *t, uint32_t ndims,
				      const uint32_t *indices)
{
	struct pto_tensor e = *t;

	for (uint32_t d = 0; d < ndims; d++) {
		e.start_offset += (uint64_t)indices[d] * t->strides[d];
		e.shapes[d] = 1;
	}
	e.extent_elem = 1;
	e.is_contiguous = true;
	return e;
}

/* Automatic edges are off in a MANUAL scope, so the caller may be reading too early. */
static void warn_manual(struct chip *c, const char *what, const struct pto_tensor *t)
{
	struct chip_task *creator;

	if (!c->manual_depth || t->owner_task_id == PTO_NO_TASK)
		return;
	if (!deps_lookup_id(c, t->owner_task_id, "a tensor's owner", &creator) || !creator ||
	    creator->state == CHIP_COMPLETED)
		return;
	if (c->config.checked)
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
			       "%s in a MANUAL scope on a tensor whose producer has not finished", what);
	else if (!c->manual_warned)
		log_warn("%s in a MANUAL scope on a tensor whose producer has not finished", what);
	c->manual_warned = true;
}

static bool prepare(struct chip *c, const char *what, const struct pto_tensor *t, uint32_t ndims,
		    const uint32_t *indices, uint32_t elem_bytes, bool write, unsigned char **at)
{
	struct pto_tensor e;

	if (!check_element(c, what, t, ndims, indices, elem_bytes))
		return false;
	warn_manual(c, what, t);
	if (chip_is_fatal(c))
		return false;
	e = element_view(t, ndims, indices);
	if (!deps_wait_element(c, &e, write))
		return false;
	*at = (unsigned char *)(uintptr_t)e.addr + e.start_offset * elem_bytes;
	return true;
}

uint64_t element_get(struct chip *c, const struct pto_tensor *t, uint32_t ndims,
		     const uint32_t *indices, uint32_t elem_bytes)
{
	unsigned char *at;
	uint64_t v = 0;

	if (!t->addr) {
		log_error("get_tensor_data of a tensor without a buffer: nothing wrote it yet");
		return 0;
	}
	if (prepare(c, "get_tensor_data", t, ndims, indices, elem_bytes, false, &at))
		memcpy(&v, at, elem_bytes);
	return v;
}

void element_set(struct chip *c, const struct pto_tensor *t, uint32_t ndims,
		 const uint32_t *indices, uint32_t elem_bytes, uint64_t value)
{
	unsigned char *at;

	if (!t->addr) {
		chip_fail_orch(c, SIMPLER_RUN_INVALID_ARGS,
			       "set_tensor_data of a tensor without a buffer: nothing wrote it yet");
		return;
	}
	if (prepare(c, "set_tensor_data", t, ndims, indices, elem_bytes, true, &at))
		memcpy(at, &value, elem_bytes);
}
