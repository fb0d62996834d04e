// SPDX-License-Identifier: MIT
/*
 * Executor: the process of one context.  The model runs in it on the context's
 * own streams; device addresses are addresses of this process, and what the page
 * tables do not map is not there.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "link.h"
#include "model/model.h"

#define PAUSE_NS 4000000000ull

struct executor {
	struct vnpu_link *link;
	struct model *model;
	struct model_context *context;
	bool paused;
	struct executor_stream {
		struct model_stream *stream;
		void *map;
		size_t bytes;
	} streams[VNPU_MAX_STREAMS];
};

static struct executor self;

static void tell(void)
{
	uint64_t one = 1;
	ssize_t n = write(VNPU_FD_TELL, &one, sizeof(one));

	(void)n;	/* full means that there is something to read */
}

/* ---- what the model says ---- */

static void on_interrupt(void *arg, uint32_t stream)
{
	struct vnpu_link *link = arg;

	/* release: pairs with the device's acquire; what the stream completed is visible */
	atomic_fetch_or_explicit(&link->interrupts[stream / 64], 1ull << (stream % 64),
				 memory_order_release);
	tell();
}

static void on_fault(void *arg, const struct simpler_hw_fault *fault)
{
	struct vnpu_link *link = arg;

	link->fault = *fault;
	/* release: pairs with the device's acquire of faulted */
	atomic_store_explicit(&link->faulted, 1, memory_order_release);
	tell();
}

static const struct model_events events = { .fault = on_fault, .interrupt = on_interrupt };

/* ---- requests ---- */

static int map_ring(struct executor_stream *s, const struct vnpu_request *r)
{
	uint64_t page = SIMPLER_HW_PAGE_BYTES;
	uint64_t first = r->ring & ~(page - 1);
	uint64_t end = r->ring + sizeof(struct simpler_hw_ring) +
		       (uint64_t)r->entries * SIMPLER_HW_CMD_BYTES;

	s->bytes = ((end + page - 1) & ~(page - 1)) - first;
	s->map = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, VNPU_FD_DEVICE,
		      (off_t)first);
	return s->map == MAP_FAILED ? -ENOMEM : 0;
}

static int create_stream(const struct vnpu_request *r)
{
	struct executor_stream *s = &self.streams[r->stream];
	char *ring;
	int rc = map_ring(s, r);

	if (rc)
		return rc;
	ring = (char *)s->map + r->ring % SIMPLER_HW_PAGE_BYTES;
	rc = model_stream_create_at(self.context, (struct simpler_hw_ring *)ring, r->entries,
				    r->stream, r->priority, &s->stream);
	if (!rc)
		return 0;
	munmap(s->map, s->bytes);
	*s = (struct executor_stream){ 0 };
	return rc;
}

static int destroy_stream(const struct vnpu_request *r)
{
	struct executor_stream *s = &self.streams[r->stream];
	int rc = self.paused ? -EBUSY : model_stream_destroy(s->stream);

	if (rc)
		return rc;
	munmap(s->map, s->bytes);
	*s = (struct executor_stream){ 0 };
	return 0;
}

static int map_run(const struct vnpu_run *r)
{
	int prot = PROT_READ | (r->flags & VNPU_RUN_WRITE ? PROT_WRITE : 0);
	int fd = r->flags & VNPU_RUN_HOST ? VNPU_FD_HOST : VNPU_FD_DEVICE;

	return mmap((void *)r->va, r->bytes, prot, MAP_SHARED | MAP_FIXED, fd,
		    (off_t)r->offset) == MAP_FAILED ? -errno : 0;
}

/* Pages that stay are replaced in one step, so that code which uses them does not notice. */
static int map(const struct vnpu_request *r)
{
	uint64_t at = r->addr < SIMPLER_HW_VA_MIN ? SIMPLER_HW_VA_MIN : r->addr;
	uint64_t top = 1ull << SIMPLER_HW_VA_BITS;
	uint64_t end = r->addr + r->bytes > top ? top : r->addr + r->bytes;
	int rc = 0;

	for (uint32_t i = 0; i < r->run_count && !rc; i++) {
		const struct vnpu_run *run = &self.link->runs[i];

		if (run->va > at)
			munmap((void *)at, run->va - at);
		rc = map_run(run);
		at = run->va + run->bytes;
	}
	if (at < end)
		munmap((void *)at, end - at);
	/* too many mappings for the host: the page is missing and faults when it is used */
	if (rc)
		log_warn("a page of the context could not be mapped: %s", strerror(-rc));
	return 0;
}

static int pause_context(void)
{
	int rc = self.paused ? 0 : model_context_pause(self.context,
						       clock_mono_ns() + PAUSE_NS);

	self.paused |= !rc;
	return rc;
}

static int resume_context(void)
{
	if (self.paused)
		model_context_resume(self.context);
	self.paused = false;
	return 0;
}

static int execute(const struct vnpu_request *r)
{
	switch (r->op) {
	case VNPU_OP_STREAM_CREATE: return create_stream(r);
	case VNPU_OP_STREAM_DESTROY: return destroy_stream(r);
	case VNPU_OP_MAP: return map(r);
	case VNPU_OP_PAUSE: return pause_context();
	case VNPU_OP_RESUME: return resume_context();
	default: return -EINVAL;
	}
}

static void answer(uint32_t serial, int result)
{
	self.link->result = result;
	/* release: pairs with the device's acquire of answered */
	atomic_store_explicit(&self.link->answered, serial, memory_order_release);
	tell();
}

/* One doorbell makes the model look at all streams of the context. */
static void ring(void)
{
	for (uint32_t i = 0; i < VNPU_MAX_STREAMS; i++)
		if (self.streams[i].stream) {
			model_doorbell(self.streams[i].stream);
			return;
		}
}

static void serve(void)
{
	uint32_t done = 1;
	uint64_t count;

	while (read(VNPU_FD_WAKE, &count, sizeof(count)) == sizeof(count) || errno == EINTR) {
		/* acquire: pairs with the device's release of serial */
		uint32_t serial = atomic_load_explicit(&self.link->serial, memory_order_acquire);

		if (serial != done) {
			struct vnpu_request request = self.link->request;

			done = serial;
			answer(serial, execute(&request));
		}
		ring();
	}
}

/* ---- start ---- */

/* What kernels are linked to; later no file can be opened. */
static void preload(void)
{
	static const char *const names[] = { "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6" };

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!dlopen(names[i], RTLD_NOW | RTLD_GLOBAL))
			log_warn("%s; kernels that need it will not load", dlerror());
}

static int start(void)
{
	struct model_config config = { .events = &events };
	int rc;

	self.link = mmap(NULL, sizeof(*self.link), PROT_READ | PROT_WRITE, MAP_SHARED,
			 VNPU_FD_LINK, 0);
	if (self.link == MAP_FAILED)
		return -errno;
	close(VNPU_FD_LINK);
	config.arch = self.link->arch;
	config.device_id = self.link->device_id;
	config.events_arg = self.link;
	rc = model_open(&config, &self.model);
	if (!rc)
		rc = model_context_create(self.model, &self.context);
	if (rc)
		return rc;
	preload();
	return sandbox_enter();
}

int executor_main(void)
{
	int rc = start();

	if (rc) {
		log_error("executor: %s", strerror(-rc));
		return 1;
	}
	answer(1, 0);
	serve();
	return 0;
}
