/* SPDX-License-Identifier: MIT */
#include "chip/callable.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/guard.h"
#include "base/hash.h"
#include "chip/callable_bytes.h"
#include "chip/elf_object.h"

#define DEFAULT_ENTRY "aicpu_orchestration_entry"
#define DEFAULT_CONFIG "aicpu_orchestration_config"

_Static_assert(CHIP_MAX_FUNC_ID == SIMPLER_HW_MAX_CHILDREN, "a callable can define every func_id");

/* A struct chip_callable and the objects behind its handles. */
struct loaded {
	struct chip_callable c;
	struct elf_object orchestration;
	struct elf_object *kernels; /* c.kernel_count, in the order of c.kernels */
	bool guarded; /* holds a reference of guard_process_init() */
};

/* Puts the text of @from, which is about @what, into @to. */
static int pass_error(struct error_record *to, const char *what, const struct error_record *from)
{
	error_set(to, from->code, "%s: %s", what, from->text);
	if (from->hint[0])
		error_hint(to, "%s", from->hint);
	return from->code;
}

/* ---- symbols -------------------------------------------------------------------- */

static int missing(const struct elf_image *m, const char *name, struct error_record *err)
{
	char names[256];

	elf_function_names(m, names, sizeof(names));
	error_set(err, -ENOENT, "no symbol '%s'", name);
	error_hint(err, "exported functions: %s", names);
	return -ENOENT;
}

static int find_function(const struct elf_image *m, const char *name, Elf64_Sym *symbol,
			 struct error_record *err)
{
	if (!elf_symbol(m, name, symbol))
		return missing(m, name, err);
	switch (ELF64_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
	case STT_NOTYPE:
	case STT_GNU_IFUNC:
		if (elf_has(m, symbol->st_value, 1, PF_X))
			return 0;
	}
	return error_set(err, -EINVAL, "symbol '%s' (type %u, address 0x%llx) is not a function",
			 name, ELF64_ST_TYPE(symbol->st_info),
			 (unsigned long long)symbol->st_value);
}

static int function_address(const struct elf_object *o, const char *name, const Elf64_Sym *symbol,
			    void **out, struct error_record *err)
{
	*out = elf_object_address(o, symbol);
	return *out ? 0
		    : error_set(err, -ELIBBAD, "the resolver of indirect function '%s' failed",
				name);
}

static int find_ops(const struct elf_image *m, Elf64_Sym *symbol, bool *found,
		    struct error_record *err)
{
	*found = elf_symbol(m, PTO_CORE_OPS_SYMBOL, symbol);
	if (!*found)
		return 0;
	if (symbol->st_value % sizeof(void *) ||
	    !elf_has(m, symbol->st_value, sizeof(void *), PF_R | PF_W) ||
	    symbol->st_value - m->relro.addr < m->relro.bytes)
		return error_set(err, -EINVAL,
				 "'%s' at 0x%llx is not an aligned, writable variable",
				 PTO_CORE_OPS_SYMBOL, (unsigned long long)symbol->st_value);
	return 0;
}

static int open_object(struct elf_object *o, const char *name, const struct chip_target *target,
		       struct error_record *err)
{
	int rc;

	if (target->linking)
		target->linking(target->arg, true);
	rc = elf_object_open(o, name, ELF_OBJECT_FDS, err);
	if (target->linking)
		target->linking(target->arg, false);
	return rc;
}

/* ---- kernels ---------------------------------------------------------------------- */

static void name_kernel(struct chip_kernel *k, const char *soname)
{
	size_t n = soname ? strlen(soname) : 0;

	if (n > 3 && !strcmp(soname + n - 3, ".so"))
		n -= 3;
	if (n)
		snprintf(k->name, sizeof(k->name), "%.*s", (int)n, soname);
	else
		snprintf(k->name, sizeof(k->name), "func_%d", k->func_id);
}

static void keep_object(const struct elf_object *o, void **handle, uintptr_t *text_lo,
			uintptr_t *text_hi)
{
	*handle = o->handle;
	*text_lo = o->base + o->image.text.addr;
	*text_hi = *text_lo + o->image.text.bytes;
}

/* What the symbols of a checked kernel say; all of it is known before the kernel is opened. */
struct kernel_symbols {
	Elf64_Sym entry, ops;
	bool has_ops;
};

/* Whether the kernel says of itself that it was compiled for another architecture. */
static int check_arch(const struct elf_image *m, uint32_t arch, struct error_record *err)
{
	bool a5 = arch == SIMPLER_HW_ARCH_A5;
	Elf64_Sym ignored;

	if (!elf_symbol(m, a5 ? PTO_ARCH_A2A3_SYMBOL : PTO_ARCH_A5_SYMBOL, &ignored))
		return 0;
	error_set(err, -EINVAL, "the kernel was compiled for %s, this chip is %s",
		  a5 ? "a2a3" : "a5", a5 ? "an a5" : "an a2a3");
	error_hint(err, "compile it for this platform (__NPU_ARCH__=%s)", a5 ? "3510" : "2201");
	return -EINVAL;
}

static int read_kernel(struct chip_kernel *k, const struct elf_image *m, uint32_t arch,
		       struct kernel_symbols *s, struct error_record *err)
{
	Elf64_Sym ignored;
	int rc = find_function(m, PTO_KERNEL_SYMBOL, &s->entry, err);

	if (!rc)
		rc = check_arch(m, arch, err);
	if (!rc)
		rc = find_ops(m, &s->ops, &s->has_ops, err);
	k->may_block = elf_symbol(m, PTO_MAY_BLOCK_SYMBOL, &ignored);
	name_kernel(k, m->soname);
	return rc;
}

static int bind_kernel(struct chip_kernel *k, struct elf_object *o, const struct kernel_symbols *s,
		       const struct pto_core_ops *core_ops, struct error_record *err)
{
	void *entry;
	int rc = function_address(o, PTO_KERNEL_SYMBOL, &s->entry, &entry, err);

	if (rc)
		return rc;
	k->fn = (pto_kernel_fn)entry;
	keep_object(o, &k->object, &k->text_lo, &k->text_hi);
	if (s->has_ops)
		*(const struct pto_core_ops **)(o->base + s->ops.st_value) = core_ops;
	return elf_object_start(o, err);
}

static int load_kernel(struct chip_kernel *k, struct elf_object *o, const unsigned char *bytes,
		       size_t size, const struct chip_target *target, struct error_record *err)
{
	struct kernel_symbols symbols;
	int rc = elf_object_prepare(o, bytes, size, err);

	if (!rc)
		rc = read_kernel(k, &o->image, target->arch, &symbols, err);
	if (!rc)
		rc = open_object(o, k->name, target, err);
	return rc ? rc : bind_kernel(k, o, &symbols, target->core_ops, err);
}

static int load_kernels(struct loaded *l, const unsigned char *bytes,
			const struct callable_bytes *b, const struct chip_target *target,
			struct error_record *err)
{
	struct error_record local;
	char what[32];
	uint32_t i;
	int rc = 0;

	for (i = 0; i < l->c.kernel_count && !rc; i++) {
		const struct callable_child *child = &b->child[i];

		error_clear(&local);
		l->c.kernels[i].func_id = child->func_id;
		rc = load_kernel(&l->c.kernels[i], &l->kernels[i], bytes + child->offset,
				 child->bytes, target, &local);
		snprintf(what, sizeof(what), "kernel %d", child->func_id);
	}
	return rc ? pass_error(err, what, &local) : 0;
}

/* ---- orchestration ------------------------------------------------------------------ */

static uint64_t build_id(const struct elf_image *m)
{
	uint64_t id;

	if (!m->build_id || m->build_id_bytes < sizeof(id))
		return hash_fnv1a64(HASH_FNV1A64_INIT, m->bytes, m->size);
	memcpy(&id, m->build_id, sizeof(id));
	return id;
}

/* The functions of an orchestration; has_* says which of the optional ones are exported. */
struct orchestration_symbols {
	Elf64_Sym entry, config, bind;
	bool has_config, has_bind;
};

static int read_orchestration(const struct chip_callable *c, const struct elf_image *m,
			      struct orchestration_symbols *s, struct error_record *err)
{
	int rc = find_function(m, c->func_name, &s->entry, err);

	s->has_config =
		strcmp(c->config_name, DEFAULT_CONFIG) || elf_symbol(m, DEFAULT_CONFIG, &s->config);
	s->has_bind = elf_symbol(m, PTO_ORCH_BIND_SYMBOL, &s->bind);
	if (!rc && s->has_config)
		rc = find_function(m, c->config_name, &s->config, err);
	if (!rc && s->has_bind)
		rc = find_function(m, PTO_ORCH_BIND_SYMBOL, &s->bind, err);
	return rc;
}

static int bind_orchestration(struct chip_callable *c, struct elf_object *o,
			      const struct orchestration_symbols *s, struct error_record *err)
{
	void *entry, *config = NULL, *bind = NULL;
	int rc = function_address(o, c->func_name, &s->entry, &entry, err);

	if (!rc && s->has_config)
		rc = function_address(o, c->config_name, &s->config, &config, err);
	if (!rc && s->has_bind)
		rc = function_address(o, PTO_ORCH_BIND_SYMBOL, &s->bind, &bind, err);
	if (rc)
		return rc;
	c->entry = (pto_orch_entry_fn)entry;
	c->config = (pto_orch_config_fn)config;
	c->bind = (pto_orch_bind_fn)bind;
	keep_object(o, &c->object, &c->text_lo, &c->text_hi);
	return elf_object_start(o, err);
}

static int load_orchestration_object(struct loaded *l, const unsigned char *bytes, size_t size,
				     const struct chip_target *target, struct error_record *err)
{
	struct elf_object *o = &l->orchestration;
	struct orchestration_symbols symbols;
	int rc = elf_object_prepare(o, bytes, size, err);

	if (!rc)
		rc = read_orchestration(&l->c, &o->image, &symbols, err);
	if (rc)
		return rc;
	l->c.build_id = build_id(&o->image);
	rc = open_object(o, l->c.func_name, target, err);
	return rc ? rc : bind_orchestration(&l->c, o, &symbols, err);
}

static int load_orchestration(struct loaded *l, const unsigned char *bytes,
			      const struct callable_bytes *b, const struct chip_target *target,
			      struct error_record *err)
{
	struct error_record local;
	int rc;

	error_clear(&local);
	rc = load_orchestration_object(l, bytes + sizeof(b->head), b->head.binary_size, target,
				       &local);
	return rc ? pass_error(err, "orchestration", &local) : 0;
}

/* ---- the whole ------------------------------------------------------------------------ */

static void copy_head(struct chip_callable *c, const struct callable_bytes *b)
{
	c->sig_count = b->head.sig_count;
	c->tensor_count = b->tensor_count;
	memcpy(c->signature, b->head.signature, sizeof(c->signature));
	snprintf(c->func_name, sizeof(c->func_name), "%s",
		 b->head.func_name_len ? b->head.func_name : DEFAULT_ENTRY);
	snprintf(c->config_name, sizeof(c->config_name), "%s",
		 b->head.config_name_len ? b->head.config_name : DEFAULT_CONFIG);
}

static int allocate(struct loaded *l, const struct callable_bytes *b, struct error_record *err)
{
	struct chip_callable *c = &l->c;
	uint32_t count = b->child_count;

	if (!count)
		return 0;
	c->id_limit = (uint32_t)b->child[count - 1].func_id + 1;
	c->kernels = calloc(count, sizeof(*c->kernels));
	c->by_id = calloc(c->id_limit, sizeof(struct chip_kernel *));
	l->kernels = calloc(count, sizeof(*l->kernels));
	if (!c->kernels || !c->by_id || !l->kernels)
		return error_set(err, -ENOMEM, "no memory for %u kernels", count);
	c->kernel_count = count;
	return 0;
}

static void index_kernels(struct chip_callable *c)
{
	uint32_t i;

	for (i = 0; i < c->kernel_count; i++)
		c->by_id[c->kernels[i].func_id] = &c->kernels[i];
}

static int load(struct loaded *l, const void *bytes, const struct callable_bytes *b,
		const struct chip_target *target, struct error_record *err)
{
	int rc;

	copy_head(&l->c, b);
	rc = allocate(l, b, err);
	if (rc)
		return rc;
	rc = guard_process_init();
	if (rc)
		return error_set(err, rc, "cannot install the fault handlers");
	l->guarded = true;
	rc = load_orchestration(l, bytes, b, target, err);
	if (!rc)
		rc = load_kernels(l, bytes, b, target, err);
	if (!rc)
		index_kernels(&l->c);
	return rc;
}

int chip_callable_load(const void *bytes, size_t size, const struct chip_target *target,
		       struct chip_callable **out, struct error_record *err)
{
	struct callable_bytes *b = malloc(sizeof(*b));
	struct loaded *l = calloc(1, sizeof(*l));
	int rc;

	*out = NULL;
	if (!b || !l)
		rc = error_set(err, -ENOMEM, "no memory for a callable");
	else
		rc = callable_bytes_read(bytes, size, b, err);
	if (!rc)
		rc = load(l, bytes, b, target, err);
	free(b);
	if (!rc)
		*out = &l->c;
	else if (l)
		chip_callable_unload(&l->c);
	return rc;
}

void chip_callable_unload(struct chip_callable *c)
{
	struct loaded *l = (struct loaded *)c; /* its first member */
	uint32_t i;

	if (!l)
		return;
	for (i = c->kernel_count; i > 0; i--)
		elf_object_close(&l->kernels[i - 1]);
	elf_object_close(&l->orchestration);
	if (l->guarded)
		guard_process_fini();
	free(c->kernels);
	free(c->by_id);
	free(l->kernels);
	free(l);
}
