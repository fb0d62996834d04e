/* SPDX-License-Identifier: MIT */
/* Copies between host memory and device buffers (worker-api §7.3). */
#include "rts/error.h"
#include "worker/worker.h"

/* Either end of a copy that is not the device end. */
struct copy_host {
	struct simpler_buffer *buffer;	/* NULL: plain memory */
	void *data;
	uint64_t bytes;
};

struct copy {
	struct simpler_buffer *device;	/* as given, then the live one */
	struct copy_host host;
	bool to_device;
	uint64_t device_offset;
	uint64_t host_offset;
	uint64_t nbytes;
};

static bool grants(const struct simpler_buffer *b, enum simpler_access needed)
{
	return b->desc.access == SIMPLER_ACCESS_READWRITE || b->desc.access == needed;
}

static const char *needed_name(enum simpler_access needed)
{
	return needed == SIMPLER_ACCESS_READ ? "READ" : "WRITE";
}

static int check_spaces(const struct copy *c, struct simpler_error *e)
{
	if (c->device->desc.address_space != SIMPLER_SPACE_DEVICE)
		return err_set(e, SIMPLER_ERR_BUFFER_SPACE, "the %s must be a DEVICE buffer",
			       c->to_device ? "destination" : "source");
	if (c->host.buffer && c->host.buffer->desc.address_space != SIMPLER_SPACE_HOST)
		return err_set(e, SIMPLER_ERR_BUFFER_SPACE, "the %s must be a HOST buffer",
			       c->to_device ? "source" : "destination");
	return 0;
}

/* Replaces handles by the live buffers that they name; locked. */
static int check_live(struct simpler_worker *w, struct copy *c, struct simpler_error *e)
{
	struct simpler_buffer *device = buffers_find(w, &c->device->desc, e);
	struct simpler_buffer *host;

	if (!device)
		return e->code;
	if (device->kind != BUFFER_DEVICE)
		return err_set(e, SIMPLER_ERR_BUFFER_BORROWED,
			       "the storage is borrowed from the caller; copy with its allocator");
	c->device = device;
	if (!c->host.buffer)
		return 0;
	host = buffers_find(w, &c->host.buffer->desc, e);
	if (!host)
		return e->code;
	c->host = (struct copy_host){ host, host->data, host->desc.nbytes };
	return 0;
}

static int check_grants(const struct copy *c, struct simpler_error *e)
{
	enum simpler_access device = c->to_device ? SIMPLER_ACCESS_WRITE : SIMPLER_ACCESS_READ;
	enum simpler_access host = c->to_device ? SIMPLER_ACCESS_READ : SIMPLER_ACCESS_WRITE;

	if (!grants(c->device, device))
		return err_set(e, SIMPLER_ERR_BUFFER_GRANT, "the device buffer needs %s",
			       needed_name(device));
	if (c->host.buffer && !grants(c->host.buffer, host))
		return err_set(e, SIMPLER_ERR_BUFFER_GRANT, "the host buffer needs %s",
			       needed_name(host));
	return 0;
}

static int check_side(const char *side, uint64_t offset, uint64_t nbytes, uint64_t size,
		      struct simpler_error *e)
{
	if (offset <= size && nbytes <= size - offset)
		return 0;
	return err_set(e, SIMPLER_ERR_BUFFER_BOUNDS,
		       "offset %llu and %llu bytes leave the %s side of %llu bytes",
		       (unsigned long long)offset, (unsigned long long)nbytes, side,
		       (unsigned long long)size);
}

static int check_bounds(struct copy *c, const struct simpler_copy *range, struct simpler_error *e)
{
	int64_t device = c->to_device ? range->dst_offset : range->src_offset;
	int64_t host = c->to_device ? range->src_offset : range->dst_offset;
	bool given = range->flags & SIMPLER_COPY_NBYTES;
	int rc;

	if (device < 0 || host < 0 || (given && range->nbytes < 0))
		return err_set(e, SIMPLER_ERR_BUFFER_BOUNDS,
			       "negative value: dst_offset %lld, src_offset %lld, nbytes %lld",
			       (long long)range->dst_offset, (long long)range->src_offset,
			       (long long)(given ? range->nbytes : 0));
	c->device_offset = (uint64_t)device;
	c->host_offset = (uint64_t)host;
	rc = check_side("host", c->host_offset, 0, c->host.bytes, e);
	if (rc)
		return rc;
	c->nbytes = given ? (uint64_t)range->nbytes : c->host.bytes - c->host_offset;
	rc = check_side("host", c->host_offset, c->nbytes, c->host.bytes, e);
	if (!rc)
		rc = check_side("device", c->device_offset, c->nbytes, c->device->desc.nbytes, e);
	return rc;
}

/* Locked. */
static int copy_check(struct simpler_worker *w, struct copy *c, const struct simpler_copy *range,
		      struct simpler_error *e)
{
	int rc = check_spaces(c, e);

	if (!rc)
		rc = check_live(w, c, e);
	if (!rc)
		rc = check_grants(c, e);
	if (!rc && (range->reserved || range->flags & ~SIMPLER_COPY_NBYTES))
		rc = err_set(e, SIMPLER_ERR_INVALID_ARGUMENT, "unknown copy flags 0x%x",
			     range->flags);
	return rc ? rc : check_bounds(c, range, e);
}

static int copy_send(struct simpler_worker *w, const struct copy *c, uint64_t host_addr)
{
	uint64_t device_addr = c->device->address + c->device_offset;
	struct simpler_hw_cmd cmd = {
		.opcode = SIMPLER_HW_OP_COPY,
		.copy = { .bytes = c->nbytes },
	};

	cmd.copy.dst = c->to_device ? device_addr : host_addr;
	cmd.copy.src = c->to_device ? host_addr : device_addr;
	return rts_stream_run(w->control, &cmd);
}

/* Waits for runs that use the buffers, then copies. Not locked; the buffers are in use. */
static int copy_execute(struct simpler_worker *w, const struct copy *c, uint64_t after,
			const struct rts_wait *wait)
{
	const struct simpler_context *x = w->context;
	uint64_t addr;
	int rc = rts_stream_wait(w->lane.stream, after, wait);

	if (rc)
		return rc;
	if (c->host.buffer)
		return copy_send(w, c, c->host.buffer->address + c->host_offset);
	rc = rts_code(x->ops->host_map(x->priv, (char *)c->host.data + c->host_offset, c->nbytes,
				       &addr));
	if (rc)
		return rc;
	rc = copy_send(w, c, addr);
	x->ops->host_unmap(x->priv, addr, c->nbytes);
	return rc;
}

static void copy_use(const struct copy *c, int change)
{
	c->device->uses += (uint32_t)change;
	if (c->host.buffer)
		c->host.buffer->uses += (uint32_t)change;
}

static uint64_t copy_after(const struct copy *c)
{
	uint64_t after = c->device->last_seqno;

	if (c->host.buffer && c->host.buffer->last_seqno > after)
		after = c->host.buffer->last_seqno;
	return after;
}

static int copy_error(const struct copy *c, int rc, struct simpler_error *e)
{
	const void *host = (const char *)(c->host.buffer ? c->host.buffer->data : c->host.data) +
			   c->host_offset;

	err_set(e, rc, "copy of %llu bytes %s the host's %p %s the chip's 0x%llx failed: %s",
		(unsigned long long)c->nbytes, c->to_device ? "from" : "to", host,
		c->to_device ? "to" : "from",
		(unsigned long long)(c->device->address + c->device_offset),
		simpler_error_description(rc));
	if (rc == SIMPLER_ERR_INVALID_ARGUMENT)
		err_hint(e, "not all of the host memory can be %s",
			 c->to_device ? "read" : "written");
	return rc;
}

static int copy_run(struct simpler_worker *w, struct copy *c, const struct simpler_copy *range)
{
	static const struct simpler_copy whole = { 0 };
	struct worker_lease lease;
	struct simpler_error e;
	struct rts_wait wait;
	uint64_t after;
	int rc;

	if (!range)
		range = &whole;
	rc = rts_wait_init(&wait, range->wait);
	if (rc)
		err_set(&e, rc, "timeout %lld ns is negative", (long long)range->wait->timeout_ns);
	else
		rc = lease_begin(w, &lease, &e);
	if (rc)
		return worker_failed(w, &e);
	rc = copy_check(w, c, range, &e);
	if (!rc && c->nbytes) {
		copy_use(c, 1);
		after = copy_after(c);
		pthread_mutex_unlock(&w->lock);
		rc = copy_execute(w, c, after, &wait);
		pthread_mutex_lock(&w->lock);
		copy_use(c, -1);
		if (rc)
			copy_error(c, rc, &e);
	}
	lease_end(w, &lease);
	return rc ? worker_failed(w, &e) : 0;
}

int simpler_worker_copy_to(struct simpler_worker *w, struct simpler_buffer *dst,
			   struct simpler_buffer *src, const struct simpler_copy *copy)
{
	struct copy c = { .device = dst, .host.buffer = src, .to_device = true };

	if (worker_if_null(w, dst) || worker_if_null(w, src))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	return copy_run(w, &c, copy);
}

int simpler_worker_copy_from(struct simpler_worker *w, struct simpler_buffer *dst,
			     struct simpler_buffer *src, const struct simpler_copy *copy)
{
	struct copy c = { .device = src, .host.buffer = dst };

	if (worker_if_null(w, dst) || worker_if_null(w, src))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	return copy_run(w, &c, copy);
}

int simpler_worker_copy_to_raw(struct simpler_worker *w, struct simpler_buffer *dst,
			       const void *src, uint64_t src_bytes, const struct simpler_copy *copy)
{
	struct copy c = {
		.device = dst,
		.host = { .data = (void *)src, .bytes = src_bytes },
		.to_device = true,
	};

	if (worker_if_null(w, dst))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	return copy_run(w, &c, copy);
}

int simpler_worker_copy_from_raw(struct simpler_worker *w, void *dst, uint64_t dst_bytes,
				 struct simpler_buffer *src, const struct simpler_copy *copy)
{
	struct copy c = { .device = src, .host = { .data = dst, .bytes = dst_bytes } };

	if (worker_if_null(w, src))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	return copy_run(w, &c, copy);
}
