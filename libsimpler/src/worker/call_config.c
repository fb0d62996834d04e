/* SPDX-License-Identifier: MIT */
#include "worker/call_config.h"

#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/log.h"
#include "rts/error.h"
#include "rts/rts.h"

void simpler_call_config_init(struct simpler_call_config *c)
{
	memset(c, 0, sizeof(*c));
}

int simpler_call_config_set_prefix(struct simpler_call_config *c, const char *prefix,
				   struct simpler_error *error)
{
	size_t len;

	if (err_if_null(error, c) || err_if_null(error, prefix))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	len = strlen(prefix);
	if (len >= sizeof(c->output_prefix))
		return err_set(error, SIMPLER_ERR_CONFIG_PREFIX,
			       "output_prefix has %zu bytes, at most %zu are allowed", len,
			       sizeof(c->output_prefix) - 1);
	memset(c->output_prefix, 0, sizeof(c->output_prefix));
	memcpy(c->output_prefix, prefix, len);
	return 0;
}

void simpler_ring_set_all(uint64_t entries[SIMPLER_RINGS], uint64_t value)
{
	int i;

	for (i = 0; i < SIMPLER_RINGS; i++)
		entries[i] = value;
}

/* ---- ring rules (chip-runtime §11.2) ---- */

static bool window_valid(uint64_t v)
{
	return v >= 4 && v <= INT32_MAX && !(v & (v - 1));
}

static bool heap_valid(uint64_t v)
{
	return v >= 1024 && v <= 1ull << 46;	/* what a chip can address */
}

static bool dep_pool_valid(uint64_t v)
{
	return v >= 4 && v <= INT32_MAX;
}

struct ring_rule {
	size_t offset;			/* in struct simpler_runtime_env */
	bool (*valid)(uint64_t value);
	const char *text;
	const char *variable;
};

static const struct ring_rule ring_rules[] = {
	{ offsetof(struct simpler_runtime_env, ring_task_window), window_valid,
	  "RuntimeEnv: ring_task_window must be a power of 2 in [4, INT32_MAX]",
	  "PTO2_RING_TASK_WINDOW" },
	{ offsetof(struct simpler_runtime_env, ring_heap), heap_valid,
	  "RuntimeEnv: ring_heap must be >= 1024 (bytes per ring) and <= 2^46", "PTO2_RING_HEAP" },
	{ offsetof(struct simpler_runtime_env, ring_dep_pool), dep_pool_valid,
	  "RuntimeEnv: ring_dep_pool must be in [4, INT32_MAX]", "PTO2_RING_DEP_POOL" },
};
#define RING_RULES (sizeof(ring_rules) / sizeof(ring_rules[0]))

static const uint64_t *ring_values(const struct simpler_runtime_env *env,
				   const struct ring_rule *rule)
{
	return (const uint64_t *)((const char *)env + rule->offset);
}

int config_runtime_env_check(const struct simpler_runtime_env *env, struct simpler_error *error)
{
	size_t r;
	int i;

	for (r = 0; r < RING_RULES; r++) {
		const uint64_t *v = ring_values(env, &ring_rules[r]);

		for (i = 0; i < SIMPLER_RINGS; i++)
			if (v[i] && !ring_rules[r].valid(v[i]))
				return err_set(error, SIMPLER_ERR_CONFIG_RING,
					       "%s; entry %d is %llu", ring_rules[r].text, i,
					       (unsigned long long)v[i]);
	}
	return 0;
}

/* ---- validation ---- */

struct field_rule {
	size_t offset;
	int32_t max;
	const char *name;
};

#define FIELD(name, max) { offsetof(struct simpler_call_config, name), max, #name }

static const struct field_rule field_rules[] = {
	FIELD(aicpu_thread_num, INT32_MAX),
	FIELD(enable_chip_swimlane, 4),
	FIELD(enable_dump_args, 3),
	FIELD(enable_pmu, INT32_MAX),
	FIELD(enable_dep_gen, 1),
	FIELD(enable_scope_stats, 1),
};

static int config_check_fields(const struct simpler_call_config *c, struct simpler_error *error)
{
	size_t i;

	for (i = 0; i < sizeof(field_rules) / sizeof(field_rules[0]); i++) {
		const struct field_rule *f = &field_rules[i];
		int32_t v = *(const int32_t *)((const char *)c + f->offset);

		if (v < 0 || v > f->max)
			return err_set(error, SIMPLER_ERR_CONFIG, "%s is %d, not in [0, %d]",
				       f->name, v, f->max);
	}
	if (c->deps > SIMPLER_DEPS_RAW)
		return err_set(error, SIMPLER_ERR_CONFIG, "runtime_env.deps is %u, not in [0, %d]",
			       c->deps, SIMPLER_DEPS_RAW);
	for (i = 0; i < sizeof(c->reserved) / sizeof(c->reserved[0]); i++)
		if (c->reserved[i])
			return err_set(error, SIMPLER_ERR_CONFIG, "reserved[%zu] is %u, not 0", i,
				       c->reserved[i]);
	return 0;
}

uint32_t config_diagnostics(const struct simpler_call_config *c)
{
	return (c->enable_dump_args ? SIMPLER_HW_DIAG_DUMP : 0) |
	       (c->enable_chip_swimlane ? SIMPLER_HW_DIAG_SWIMLANE : 0) |
	       (c->enable_pmu ? SIMPLER_HW_DIAG_PMU : 0) |
	       (c->enable_dep_gen ? SIMPLER_HW_DIAG_DEP_GEN : 0) |
	       (c->enable_scope_stats ? SIMPLER_HW_DIAG_SCOPE_STATS : 0);
}

int simpler_call_config_validate(const struct simpler_call_config *c, struct simpler_error *error)
{
	int rc;

	if (err_if_null(error, c))
		return SIMPLER_ERR_INVALID_ARGUMENT;
	rc = config_check_fields(c, error);
	if (rc)
		return rc;
	if (c->output_prefix[0] && !memchr(c->output_prefix, '\0', sizeof(c->output_prefix)))
		return err_set(error, SIMPLER_ERR_CONFIG_PREFIX,
			       "output_prefix does not end within %zu bytes",
			       sizeof(c->output_prefix));
	if (!c->output_prefix[0] && config_diagnostics(c))
		return err_set(error, SIMPLER_ERR_CONFIG_PREFIX,
			       "a diagnostic is enabled, but output_prefix is empty");
	return config_runtime_env_check(&c->runtime_env, error);
}

/* ---- environment (chip-runtime §11.1) ---- */

/* Up to four comma-separated numbers; returns how many, or -1. */
static int ring_list_parse(const char *text, uint64_t values[SIMPLER_RINGS])
{
	char copy[128];
	char *rest = copy;
	char *item;
	int n = 0;

	if (strlen(text) >= sizeof(copy))
		return -1;
	strcpy(copy, text);
	while ((item = strsep(&rest, ","))) {
		if (n == SIMPLER_RINGS || env_parse_u64(item, &values[n]))
			return -1;
		n++;
	}
	return n;
}

/* One value for all rings or exactly four; false: neither, or a value breaks the rule. */
static bool ring_variable_parse(const char *text, const struct ring_rule *rule,
				uint64_t values[SIMPLER_RINGS])
{
	int n = ring_list_parse(text, values);
	int i;

	if (n == 1)
		simpler_ring_set_all(values, values[0]);
	else if (n != SIMPLER_RINGS)
		return false;
	for (i = 0; i < SIMPLER_RINGS; i++)
		if (!rule->valid(values[i]))
			return false;
	return true;
}

static uint32_t deps_from_environment(void)
{
	const char *text = getenv("SIMPLER_DEPS");

	if (!text || !text[0] || !strcmp(text, "sequential"))
		return SIMPLER_DEPS_SEQUENTIAL;
	if (!strcmp(text, "raw"))
		return SIMPLER_DEPS_RAW;
	log_warn("SIMPLER_DEPS=%s is ignored: use sequential or raw", text);
	return SIMPLER_DEPS_SEQUENTIAL;
}

void config_defaults_read(struct config_defaults *d)
{
	uint64_t values[SIMPLER_RINGS];
	size_t r;

	memset(d, 0, sizeof(*d));
	d->deps = deps_from_environment();
	for (r = 0; r < RING_RULES; r++) {
		const char *text = getenv(ring_rules[r].variable);

		if (!text || !text[0])
			continue;
		if (ring_variable_parse(text, &ring_rules[r], values))
			memcpy((uint64_t *)ring_values(&d->env, &ring_rules[r]), values,
			       sizeof(values));
		else
			log_warn("%s=%s is ignored: one value or exactly four, and %s",
				 ring_rules[r].variable, text, ring_rules[r].text);
	}
}
