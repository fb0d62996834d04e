/* SPDX-License-Identifier: MIT */
/* Devices, contexts and device memory. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rts/error.h"
#include "rts/rts.h"

int rts_code(int err)
{
	switch (err) {
	case 0: return 0;
	case -ENOMEM: return SIMPLER_ERR_NO_MEMORY;
	case -ETIMEDOUT: return SIMPLER_ERR_TIMEOUT;
	case -EINTR: return SIMPLER_ERR_INTERRUPTED;
	case -ENODEV: return SIMPLER_ERR_DEVICE_LOST;
	case -EBUSY:
	case -ENOSPC: return SIMPLER_ERR_INVALID_STATE;
	case -EINVAL:
	case -EFAULT:
	case -ENOENT: return SIMPLER_ERR_INVALID_ARGUMENT;
	default: return SIMPLER_ERR_SYSTEM;
	}
}

int rts_device_open(const struct rts_transport *ops, const struct rts_platform *platform,
		    int32_t device_id, struct simpler_device **out)
{
	struct simpler_device *d = calloc(1, sizeof(*d));
	int rc;

	if (!d)
		return SIMPLER_ERR_NO_MEMORY;
	rc = ops->open(platform->arch, device_id, &d->priv);
	if (rc) {
		free(d);
		return rc == -ENODEV ? SIMPLER_ERR_NO_DEVICE : rts_code(rc);
	}
	d->ops = ops;
	d->platform = platform;
	d->regs = ops->regs(d->priv);
	d->id = device_id;
	*out = d;
	return 0;
}

int simpler_device_open(const char *platform, int32_t device_id, struct simpler_device **out,
			struct simpler_error *error)
{
	const struct rts_platform *p = platform ? rts_platform_find(platform) : NULL;
	int rc;

	if (err_if_null(error, out))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	if (!p)
		return err_set(error, SIMPLER_ERR_PLATFORM_UNKNOWN, "unknown platform '%s'",
			       platform ? platform : "");
	if (device_id < 0)
		return err_set(error, SIMPLER_ERR_INVALID_ARGUMENT, "device_id %d is negative",
			       device_id);
	if (!p->transport)
		return err_set(error, SIMPLER_ERR_NO_DEVICE,
			       "no device: this build has no transport to %s hardware", p->name);
	rc = rts_device_open(p->transport, p, device_id, out);
	if (rc)
		err_set(error, rc, "cannot open chip %d of platform %s: %s", device_id, p->name,
			simpler_error_description(rc));
	return rc;
}

int simpler_device_close(struct simpler_device *d)
{
	if (!d)
		return 0;
	/* acquire: pairs with the release when a child is destroyed */
	if (atomic_load_explicit(&d->children, memory_order_acquire))
		return SIMPLER_ERR_INVALID_STATE;
	d->ops->close(d->priv);
	free(d);
	return 0;
}

void simpler_device_get_info(const struct simpler_device *d, struct simpler_device_info *info)
{
	const struct simpler_hw_regs *regs = d->ops->regs(d->priv);

	memset(info, 0, sizeof(*info));
	snprintf(info->platform, sizeof(info->platform), "%s", d->platform->name);
	snprintf(info->arch, sizeof(info->arch), "%s", d->platform->arch_name);
	info->device_id = d->id;
	info->cluster_count = regs->cluster_count;
	info->memory_bytes = regs->memory_bytes;
	info->features = regs->features;
	/* relaxed: snapshots of single registers that the device writes; they order nothing */
	info->health = __atomic_load_n(&regs->health, __ATOMIC_RELAXED);
	info->generation = __atomic_load_n(&regs->generation, __ATOMIC_RELAXED);
}

int simpler_context_create(struct simpler_device *d, struct simpler_context **out)
{
	struct simpler_context *c;
	int rc;

	if (!d || !out)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	c = calloc(1, sizeof(*c));
	if (!c)
		return SIMPLER_ERR_NO_MEMORY;
	rc = d->ops->context_create(d->priv, &c->priv);
	if (rc) {
		free(c);
		return rts_code(rc);
	}
	c->device = d;
	c->ops = d->ops;
	/* relaxed: the count is read for ordering only when it drops, see simpler_device_close() */
	atomic_fetch_add_explicit(&d->children, 1, memory_order_relaxed);
	*out = c;
	return 0;
}

int simpler_context_destroy(struct simpler_context *c)
{
	int rc;

	if (!c)
		return 0;
	/* acquire: pairs with the release when a child is destroyed */
	if (atomic_load_explicit(&c->children, memory_order_acquire))
		return SIMPLER_ERR_INVALID_STATE;
	rc = c->ops->context_destroy(c->priv);
	if (rc)
		return rts_code(rc);
	/* release: pairs with the acquire in simpler_device_close() */
	atomic_fetch_sub_explicit(&c->device->children, 1, memory_order_release);
	free(c);
	return 0;
}

int simpler_context_malloc(struct simpler_context *c, uint64_t bytes, uint64_t *address)
{
	int rc;

	if (!c || !bytes || !address)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	rc = c->ops->memory_alloc(c->priv, bytes, address);
	return rc == -ENOMEM ? SIMPLER_ERR_DEVICE_MEMORY : rts_code(rc);
}

int simpler_context_free(struct simpler_context *c, uint64_t address)
{
	if (!c)
		return SIMPLER_ERR_INVALID_ARGUMENT;
	return rts_code(c->ops->memory_free(c->priv, address));
}

void simpler_context_memory(struct simpler_context *c, uint64_t *context_bytes,
			    uint64_t *chip_bytes)
{
	c->ops->memory_usage(c->priv, context_bytes, chip_bytes);
}
