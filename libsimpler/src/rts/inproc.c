/* SPDX-License-Identifier: MIT */
/*
 * Transport to the simulated chip of this process.  Device addresses are host
 * addresses, so that shared memory and host mappings are plain memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "model/model.h"
#include "rts/transport.h"

static int inproc_open(uint32_t arch, int32_t device_id, void **device)
{
	struct model_config config = { .arch = arch, .device_id = (uint32_t)device_id };
	struct model *m;
	int rc = model_open(&config, &m);

	if (!rc)
		*device = m;
	return rc;
}

static void inproc_close(void *device)
{
	model_close(device);
}

static const struct simpler_hw_regs *inproc_regs(void *device)
{
	return model_regs(device);
}

static int inproc_context_create(void *device, void **context)
{
	struct model_context *c;
	int rc = model_context_create(device, &c);

	if (!rc)
		*context = c;
	return rc;
}

static int inproc_context_destroy(void *context)
{
	return model_context_destroy(context);
}

static int inproc_memory_alloc(void *context, uint64_t bytes, uint64_t *addr)
{
	return model_memory_alloc(context, bytes, addr);
}

static int inproc_memory_free(void *context, uint64_t addr)
{
	return model_memory_free(context, addr);
}

static void inproc_memory_usage(void *context, uint64_t *context_bytes, uint64_t *chip_bytes)
{
	model_memory_usage(context, context_bytes, chip_bytes);
}

static int inproc_shared_alloc(void *context, uint64_t bytes, void **host, uint64_t *addr)
{
	void *p;

	(void)context;
	if (posix_memalign(&p, CPU_CACHE_LINE, bytes))
		return -ENOMEM;
	memset(p, 0, bytes);
	*host = p;
	*addr = (uintptr_t)p;
	return 0;
}

static void inproc_shared_free(void *context, void *host, uint64_t bytes)
{
	(void)context;
	(void)bytes;
	free(host);
}

static int inproc_host_map(void *context, const void *host, uint64_t bytes, uint64_t *addr)
{
	(void)context;
	(void)bytes;
	*addr = (uintptr_t)host;
	return 0;
}

static void inproc_host_unmap(void *context, uint64_t addr, uint64_t bytes)
{
	(void)context;
	(void)addr;
	(void)bytes;
}

static int inproc_stream_create(void *context, uint32_t entries, void **stream)
{
	struct model_stream *s;
	int rc = model_stream_create(context, entries, &s);

	if (!rc)
		*stream = s;
	return rc;
}

static int inproc_stream_destroy(void *stream)
{
	return model_stream_destroy(stream);
}

static struct simpler_hw_ring *inproc_stream_ring(void *stream)
{
	return model_stream_ring(stream);
}

static void inproc_doorbell(void *stream)
{
	model_doorbell(stream);
}

static int inproc_wait_seqno(void *stream, uint64_t seqno, const struct rts_wait *wait)
{
	struct model_wait w = {
		.deadline_ns = wait->deadline_ns,
		.interrupted = wait->interrupted,
		.arg = wait->arg,
	};

	return model_wait_seqno(stream, seqno, &w);
}

const struct rts_transport rts_inproc = {
	.name = "inproc",
	.open = inproc_open,
	.close = inproc_close,
	.regs = inproc_regs,
	.context_create = inproc_context_create,
	.context_destroy = inproc_context_destroy,
	.memory_alloc = inproc_memory_alloc,
	.memory_free = inproc_memory_free,
	.memory_usage = inproc_memory_usage,
	.shared_alloc = inproc_shared_alloc,
	.shared_free = inproc_shared_free,
	.host_map = inproc_host_map,
	.host_unmap = inproc_host_unmap,
	.stream_create = inproc_stream_create,
	.stream_destroy = inproc_stream_destroy,
	.stream_ring = inproc_stream_ring,
	.doorbell = inproc_doorbell,
	.wait_seqno = inproc_wait_seqno,
};
