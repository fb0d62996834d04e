/* SPDX-License-Identifier: MIT */
/*
 * A runtime that does nothing but write down, as text, what an orchestration
 * asked of it.  Numbers are decimal, addresses and words hexadecimal.
 */
#ifndef ORCH_HEADERS_FAKE_H
#define ORCH_HEADERS_FAKE_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pto_runtime_abi.h"

#define FAKE_BASE 0x100000 /* buffers that the fake hands out */
#define FAKE_STEP 0x1000

static struct {
	struct PTO2Runtime rt; /* first: what the orchestration sees */
	char text[16384];
	size_t length;
	uint64_t serial, tasks, buffers;
	uint64_t scope[64]; /* serials of the open scopes */
	struct pto_tensor outputs[2 * PTO_TASK_TENSORS];
	uint64_t element; /* what get_tensor_data gives */
	bool fatal;
} fake;

__attribute__((format(printf, 1, 2))) static void note(const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(fake.text + fake.length, sizeof(fake.text) - fake.length, fmt, ap);
	va_end(ap);
	if (n > 0 && fake.length + n < sizeof(fake.text))
		fake.length += n;
}

static uint64_t new_buffer(void)
{
	return FAKE_BASE + FAKE_STEP * fake.buffers++;
}

static void note_list(const char *before, const uint32_t *v, uint32_t n)
{
	note("%s", before);
	for (uint32_t i = 0; i < n; i++)
		note(i ? ",%u" : "%u", v[i]);
}

/* kind tag: address, or the requested shape of a new output */
static void note_ref(uint8_t tag, union pto_arg_ref ref)
{
	static const char *const names[] = { "in", "new", "inout", "out", "nodep", "lazy",
					     "cluster", "pipe-in", "pipe-out" };

	if (tag == PTO_ARG_OUTPUT) {
		note_list(" new:", ref.create->shapes, ref.create->ndims);
		note("/%u", ref.create->dtype);
		if (ref.create->has_initial)
			note("=%lx", ref.create->initial);
	} else if (tag >= PTO_ARG_CLUSTER) {
		note(" %s:%d", names[tag], ref.tensor->version);
	} else {
		note(" %s:%lx", names[tag], ref.tensor->addr);
	}
}

/* Arguments in the order in which the kernel would get them. */
static void note_args(const struct pto_core_args *a)
{
	uint32_t n = a->tensor_count + a->scalar_count;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = i < a->tensor_count ? i : PTO_ORDER_SCALAR(i - a->tensor_count);

		if (a->flags & PTO_ARGS_ORDERED)
			at = a->order[i];
		if (at & PTO_ORDER_SCALAR(0))
			note(" %lx", a->scalars[at & ~PTO_ORDER_SCALAR(0)]);
		else
			note_ref(a->tags[at], a->refs[at]);
	}
}

static void note_options(const struct pto_core_args *a)
{
	if (a->block_num != 1)
		note(" blocks=%d", a->block_num);
	if (a->flags & PTO_ARGS_SYNC_START)
		note(" sync");
	if (a->flags & PTO_ARGS_EARLY_RESOLVE)
		note(" early");
	if (a->timing_slot >= 0)
		note(" slot=%d", a->timing_slot);
	if (a->dump_mask)
		note(" dump=%lx", a->dump_mask);
	for (uint32_t i = 0; i < a->dep_count; i++)
		note(" dep=%lx/%u", a->deps[i],
		     a->dep_kinds ? a->dep_kinds[i] : PTO_DEP_WAIT | PTO_DEP_RETAIN);
	if (a->predicate && a->predicate->tensor) {
		note_list(" if [", a->predicate->indices, a->predicate->ndims);
		note("] of %lx op %u %ld", a->predicate->tensor->addr, a->predicate->op,
		     (long)a->predicate->target);
	}
}

/* Gives outputs their buffers; results are stored backwards, so that index[] matters. */
static void note_result(const struct pto_core_args *a, struct pto_task_outputs *out)
{
	static uint32_t last;

	if (!out)
		return;
	out->count = 0;
	out->task_id = a->error ? PTO_NO_TASK : fake.tasks++;
	out->tensors = fake.outputs;
	last = 2 * PTO_TASK_TENSORS;
	for (int i = 0; i < a->tensor_count && !a->error; i++) {
		struct pto_tensor *t = a->refs[i].tensor;

		if (a->tags[i] == PTO_ARG_OUTPUT_LAZY)
			t->addr = new_buffer();
		if (a->tags[i] != PTO_ARG_OUTPUT)
			continue;
		out->index[out->count++] = --last;
		fake.outputs[last] = (struct pto_tensor){ .addr = new_buffer(),
							  .owner_task_id = out->task_id,
							  .ndims = a->refs[i].create->ndims,
							  .dtype = a->refs[i].create->dtype };
		memcpy(fake.outputs[last].shapes, a->refs[i].create->shapes,
		       sizeof(fake.outputs[last].shapes));
	}
}

static void note_task(const char *what, const struct pto_core_args *a, struct pto_task_outputs *out)
{
	note("%s", what);
	note_args(a);
	note_options(a);
	if (a->error)
		note(" error: %s", a->error);
	note("\n");
	note_result(a, out);
}

static void fake_submit(struct PTO2Runtime *rt, const struct pto_mixed_kernels *mk,
			const struct pto_core_args *args, struct pto_task_outputs *out)
{
	char what[64];

	(void)rt;
	snprintf(what, sizeof(what), "submit %d/%d/%d", mk->aic, mk->aiv0, mk->aiv1);
	note_task(what, args, out);
}

static void fake_submit_dummy(struct PTO2Runtime *rt, const struct pto_core_args *args,
			      struct pto_task_outputs *out)
{
	(void)rt;
	note_task("dummy", args, out);
}

static void fake_alloc(struct PTO2Runtime *rt, const struct pto_core_args *args,
		       struct pto_task_outputs *out)
{
	(void)rt;
	note_task("alloc", args, out);
}

static void fake_scope_begin(struct PTO2Runtime *rt, int mode)
{
	rt->scope_serial = fake.scope[rt->scope_depth++] = ++fake.serial;
	note(mode == PTO_SCOPE_MANUAL ? "{manual\n" : "{\n");
}

static void fake_scope_end(struct PTO2Runtime *rt)
{
	rt->scope_depth--;
	rt->scope_serial = rt->scope_depth ? fake.scope[rt->scope_depth - 1] : 0;
	note("}\n");
}

static void fake_site(struct PTO2Runtime *rt, const char *file, int line)
{
	(void)rt;
	note("site %s %s\n", strrchr(file, '/') ? strrchr(file, '/') + 1 : file,
	     line > 0 ? "with line" : "without line");
}

static void fake_done(struct PTO2Runtime *rt)
{
	(void)rt;
	note("done\n");
}

static bool fake_is_fatal(struct PTO2Runtime *rt)
{
	(void)rt;
	return fake.fatal;
}

static void note_message(const char *what, const char *func, const char *fmt, va_list ap)
{
	char text[512];

	vsnprintf(text, sizeof(text), fmt, ap);
	note("%s %s: %s\n", what, func, text);
}

static void fake_fatal(struct PTO2Runtime *rt, int code, const char *func, const char *fmt, ...)
{
	char what[32];
	va_list ap;

	(void)rt;
	fake.fatal = true;
	snprintf(what, sizeof(what), "fatal %d", code);
	va_start(ap, fmt);
	note_message(what, func, fmt, ap);
	va_end(ap);
}

#define FAKE_MESSAGE(name)                                                                       \
	static void fake_##name(struct PTO2Runtime *rt, const char *func, const char *fmt, ...) \
	{                                                                                        \
		va_list ap;                                                                      \
		(void)rt;                                                                        \
		va_start(ap, fmt);                                                               \
		note_message(#name, func, fmt, ap);                                              \
		va_end(ap);                                                                      \
	}
FAKE_MESSAGE(error)
FAKE_MESSAGE(warn)
FAKE_MESSAGE(timing)
FAKE_MESSAGE(info)
FAKE_MESSAGE(debug)
FAKE_MESSAGE(invalid)

static void note_element(const char *what, const struct pto_tensor *t, uint32_t ndims,
			 const uint32_t *indices, uint32_t bytes)
{
	note("%s %u bytes of %lx+%lu", what, bytes, t->addr, t->start_offset);
	note_list(" shape ", t->shapes, t->ndims);
	note_list(" strides ", t->strides, t->ndims);
	note(" extent %lu%s%s", t->extent_elem, t->is_contiguous ? " packed" : "",
	     t->manual_dep ? " manual" : "");
	note_list(" at ", indices, ndims);
}

static uint64_t fake_get(struct PTO2Runtime *rt, const struct pto_tensor *t, uint32_t ndims,
			 const uint32_t *indices, uint32_t bytes)
{
	(void)rt;
	note_element("get", t, ndims, indices, bytes);
	note("\n");
	return bytes < 8 ? fake.element & ((1ULL << 8 * bytes) - 1) : fake.element;
}

static void fake_set(struct PTO2Runtime *rt, const struct pto_tensor *t, uint32_t ndims,
		     const uint32_t *indices, uint32_t bytes, uint64_t value)
{
	(void)rt;
	note_element("set", t, ndims, indices, bytes);
	note(" = %lx\n", value);
}

static int32_t fake_clusters(struct PTO2Runtime *rt)
{
	(void)rt;
	return 8;
}

static int32_t fake_aivs(struct PTO2Runtime *rt)
{
	(void)rt;
	return 16;
}

static void fake_allocate_cluster(struct PTO2Runtime *rt, int32_t count, struct pto_tensor *cid)
{
	(void)rt;
	note("allocate %d\n", count);
	cid->kind = PTO_KIND_CLUSTER;
	cid->version = count;
}

static void fake_materialize(struct PTO2Runtime *rt, struct pto_tensor *t)
{
	(void)rt;
	note("materialize depth %u scope %lu size %lu\n", t->home_depth, t->home_scope, t->size);
	t->addr = new_buffer();
}

static const struct PTO2RuntimeOps fake_ops = {
	.submit_task = fake_submit,
	.scope_begin = fake_scope_begin,
	.scope_end = fake_scope_end,
	.orchestration_done = fake_done,
	.is_fatal = fake_is_fatal,
	.report_fatal = fake_fatal,
	.log_error = fake_error,
	.log_warn = fake_warn,
	.log_timing = fake_timing,
	.log_info = fake_info,
	.log_debug = fake_debug,
	.get_tensor_data = fake_get,
	.set_tensor_data = fake_set,
	.alloc_tensors = fake_alloc,
	.submit_dummy_task = fake_submit_dummy,
	.available_cluster_count = fake_clusters,
	.available_aiv_count = fake_aivs,
	.allocate_cluster = fake_allocate_cluster,
	.materialize = fake_materialize,
	.invalid_args = fake_invalid,
};

/* A run in its root scope: three 32x64 FP32 tensors at 1000, 2000, 3000 and two scalars. */
static void fake_start(bool with_sites)
{
	static struct PTO2RuntimeOps ops;
	static struct pto_tensor tensors[3];
	static uint64_t scalars[2] = { 7, 0x3f800000 };

	memset(&fake, 0, sizeof(fake));
	ops = fake_ops;
	if (with_sites)
		ops.scope_set_site = fake_site;
	for (int i = 0; i < 3; i++)
		tensors[i] = (struct pto_tensor){ .addr = 0x1000 * (i + 1), .size = 32 * 64 * 4,
						  .owner_task_id = PTO_NO_TASK, .ndims = 2,
						  .is_contiguous = true, .shapes = { 32, 64 },
						  .extent_elem = 32 * 64, .strides = { 64, 1 } };
	fake.rt = (struct PTO2Runtime){ .ops = &ops, .entry_tensors = tensors,
					.entry_tensor_count = 3, .entry_scalars = scalars,
					.entry_scalar_count = 2, .scope_depth = 1 };
	fake.rt.scope_serial = fake.scope[0] = ++fake.serial;
	fake.element = 0xfffffffffffffffe;
}

#endif /* ORCH_HEADERS_FAKE_H */
