// SPDX-License-Identifier: MIT
/* The simulated device: registers and memory. */
#define _GNU_SOURCE
#include "model/model.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/region.h"
#include "model/context.h"

#define MEMORY_DEFAULT	(64ull << 30)
#define MEMORY_ALIGN	1024u
#define SIM_CLUSTERS	8u		/* chip-runtime §1.2 */
#define MAX_CONTEXTS	64u
#define MAX_STREAMS	1024u

int model_open(const struct model_config *config, struct model **out)
{
	struct model *m;

	if (config->arch != SIMPLER_HW_ARCH_A2A3 && config->arch != SIMPLER_HW_ARCH_A5)
		return -EINVAL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->config = *config;
	if (!m->config.memory_bytes)
		m->config.memory_bytes = MEMORY_DEFAULT;
	pthread_mutex_init(&m->mutex, NULL);
	m->regs = (struct simpler_hw_regs){
		.magic = SIMPLER_HW_MAGIC,
		.version_major = SIMPLER_HW_VERSION_MAJOR,
		.version_minor = SIMPLER_HW_VERSION_MINOR,
		.arch = config->arch,
		.cluster_count = SIM_CLUSTERS,
		.memory_bytes = m->config.memory_bytes,
		.features = SIMPLER_HW_FEATURE_TRB | SIMPLER_HW_FEATURE_USER_QUEUE,
		.health = SIMPLER_HW_HEALTH_OK,
		.max_contexts = MAX_CONTEXTS,
		.max_streams = MAX_STREAMS,
		.counter_hz = 1000000000,
		.fault_ring = (uint64_t)(uintptr_t)m->faults,
		.fault_entries = MODEL_FAULT_ENTRIES,
	};
	*out = m;
	return 0;
}

void model_close(struct model *m)
{
	pthread_mutex_destroy(&m->mutex);
	free(m);
}

const struct simpler_hw_regs *model_regs(struct model *m)
{
	return &m->regs;
}

void model_fault(struct model_stream *s, uint32_t code, uint64_t address)
{
	struct simpler_hw_fault f = {
		.code = code, .task = ~0ull, .core = ~0u, .func_id = ~0u, .address = address,
	};

	model_fault_record(s, &f);
}

/* Delivered once its command is completed, see stream.c; one per context. */
static void keep_fault(struct model_context *c, const struct simpler_hw_fault *f)
{
	if (c->faulted)
		return;
	c->faulted = true;
	c->fault = *f;
}

void model_fault_record(struct model_stream *s, struct simpler_hw_fault *f)
{
	struct model *m = s->context->model;

	f->context = s->context->id;
	f->stream = s->id;
	f->seqno = s->completed + 1;
	f->timestamp = clock_mono_ns();
	if (m->config.events) {
		keep_fault(s->context, f);
		return;
	}
	pthread_mutex_lock(&m->mutex);
	if (m->regs.fault_producer - m->regs.fault_consumer >= MODEL_FAULT_ENTRIES) {
		m->regs.fault_dropped++;
	} else {
		m->faults[m->regs.fault_producer % MODEL_FAULT_ENTRIES] = *f;
		ring_store(&m->regs.fault_producer, m->regs.fault_producer + 1);
	}
	pthread_mutex_unlock(&m->mutex);
}

/* ---- memory ---- */

static int by_address(const void *a, const void *b)
{
	uint64_t x = ((const struct model_allocation *)a)->addr;
	uint64_t y = ((const struct model_allocation *)b)->addr;

	return x < y ? -1 : x > y;
}

/* Enters @a; false when the device memory is used up. */
static bool account(struct model *m, struct model_allocation *a)
{
	if (m->memory_used + a->bytes > m->config.memory_bytes)
		return false;
	if (!tsearch(a, &m->allocations, by_address))
		return false;
	m->memory_used += a->bytes;
	a->context->memory_used += a->bytes;
	return true;
}

int model_memory_alloc(struct model_context *c, uint64_t bytes, uint64_t *addr)
{
	struct model *m = c->model;
	struct model_allocation *a;
	uint64_t rounded = (bytes + MEMORY_ALIGN - 1) & ~(uint64_t)(MEMORY_ALIGN - 1);
	bool ok;

	if (!bytes || rounded < bytes || rounded > m->config.memory_bytes)
		return -ENOMEM;
	a = malloc(sizeof(*a));
	if (!a)
		return -ENOMEM;
	*a = (struct model_allocation){ .bytes = rounded, .context = c };
	a->addr = (uint64_t)(uintptr_t)region_map(rounded, MEMORY_ALIGN);
	if (!a->addr) {
		free(a);
		return -ENOMEM;
	}
	pthread_mutex_lock(&m->mutex);
	ok = account(m, a);
	pthread_mutex_unlock(&m->mutex);
	if (!ok) {
		region_unmap((void *)(uintptr_t)a->addr, a->bytes);
		free(a);
		return -ENOMEM;
	}
	*addr = a->addr;
	return 0;
}

static void forget(struct model *m, struct model_allocation *a)
{
	m->memory_used -= a->bytes;
	a->context->memory_used -= a->bytes;
	tdelete(a, &m->allocations, by_address);
	region_unmap((void *)(uintptr_t)a->addr, a->bytes);
	free(a);
}

int model_memory_free(struct model_context *c, uint64_t addr)
{
	struct model_allocation key = { .addr = addr };
	struct model *m = c->model;
	struct model_allocation **found;
	int rc = -ENOENT;

	pthread_mutex_lock(&m->mutex);
	found = tfind(&key, &m->allocations, by_address);
	if (found && (*found)->context == c) {
		forget(m, *found);
		rc = 0;
	}
	pthread_mutex_unlock(&m->mutex);
	return rc;
}

void model_memory_usage(struct model_context *c, uint64_t *context_bytes, uint64_t *chip_bytes)
{
	pthread_mutex_lock(&c->model->mutex);
	*context_bytes = c->memory_used;
	*chip_bytes = c->model->memory_used;
	pthread_mutex_unlock(&c->model->mutex);
}

struct find_owned {
	const struct model_context *context;
	struct model_allocation *found;
};

static void find_owned(const void *node, VISIT visit, void *arg)
{
	struct model_allocation *a = *(struct model_allocation *const *)node;
	struct find_owned *f = arg;

	if ((visit == postorder || visit == leaf) && a->context == f->context)
		f->found = a;
}

void model_memory_drop(struct model_context *c)
{
	struct find_owned f = { .context = c };

	pthread_mutex_lock(&c->model->mutex);
	while (c->memory_used) {
		f.found = NULL;
		twalk_r(c->model->allocations, find_owned, &f);
		if (!f.found)
			break;
		forget(c->model, f.found);
	}
	pthread_mutex_unlock(&c->model->mutex);
}
