/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "chip/elf_check_priv.h"

/* What a relocation does with its place and its addend. */
enum effect {
	NOTHING,
	SYMBOL, /* stores the address (or size) of a symbol */
	RELATIVE, /* stores the load address plus the addend */
	INDIRECT, /* calls load address plus addend, stores the result */
	THREAD_LOCAL, /* stores a module, offset or descriptor of a thread-local symbol */
};

struct kind {
	uint32_t type;
	uint8_t bytes; /* written */
	enum effect effect;
};

#if defined(__x86_64__)
#define RELOC_RELATIVE R_X86_64_RELATIVE
static const struct kind kinds[] = {
	{ R_X86_64_NONE, 0, NOTHING },
	{ R_X86_64_64, 8, SYMBOL },
	{ R_X86_64_GLOB_DAT, 8, SYMBOL },
	{ R_X86_64_JUMP_SLOT, 8, SYMBOL },
	{ R_X86_64_RELATIVE, 8, RELATIVE },
	{ R_X86_64_IRELATIVE, 8, INDIRECT },
	{ R_X86_64_DTPMOD64, 8, THREAD_LOCAL },
	{ R_X86_64_DTPOFF64, 8, THREAD_LOCAL },
	{ R_X86_64_TPOFF64, 8, THREAD_LOCAL },
	{ R_X86_64_TLSDESC, 16, THREAD_LOCAL },
	{ R_X86_64_SIZE64, 8, SYMBOL },
};
#elif defined(__aarch64__)
#define RELOC_RELATIVE R_AARCH64_RELATIVE
static const struct kind kinds[] = {
	{ R_AARCH64_NONE, 0, NOTHING },
	{ R_AARCH64_ABS64, 8, SYMBOL },
	{ R_AARCH64_GLOB_DAT, 8, SYMBOL },
	{ R_AARCH64_JUMP_SLOT, 8, SYMBOL },
	{ R_AARCH64_RELATIVE, 8, RELATIVE },
	{ R_AARCH64_IRELATIVE, 8, INDIRECT },
	{ R_AARCH64_TLS_DTPMOD, 8, THREAD_LOCAL },
	{ R_AARCH64_TLS_DTPREL, 8, THREAD_LOCAL },
	{ R_AARCH64_TLS_TPREL, 8, THREAD_LOCAL },
	{ R_AARCH64_TLSDESC, 16, THREAD_LOCAL },
};
#endif

/* Where a relocation stands, for messages. */
struct where {
	const char *table;
	uint64_t index;
};

#define bad_reloc(c, w, fmt, ...) \
	elf_bad(c, "%s: relocation %lu: " fmt, (w)->table, (w)->index, __VA_ARGS__)

static const struct kind *find_kind(uint32_t type)
{
	size_t k;

	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		if (kinds[k].type == type)
			return &kinds[k];
	return NULL;
}

static bool text_relocations(const struct elf_check *c)
{
	return c->present[ELF_DYN_TEXTREL] ||
	       (c->present[ELF_DYN_FLAGS] && (c->value[ELF_DYN_FLAGS] & DF_TEXTREL));
}

static int check_place(const struct elf_check *c, const struct where *w, uint64_t addr,
		       uint64_t bytes)
{
	const uint32_t flags = text_relocations(c) ? PF_R : PF_R | PF_W;
	unsigned int i;

	if (!elf_has(c->image, addr, bytes, flags))
		return bad_reloc(c, w, "place 0x%lx is not within a writable segment", addr);
	for (i = 0; i < c->table_count; i++)
		if (elf_overlap(addr, bytes, &c->table[i]))
			return bad_reloc(c, w,
					 "place 0x%lx is inside a table at 0x%lx that the dynamic "
					 "linker reads",
					 addr, c->table[i].addr);
	return 0;
}

/* ---- constructor slots ---------------------------------------------------------- */

/* Constructor slot at @addr, or destructor slot after them; ELF_MAX_CONSTRUCTORS: neither. */
static unsigned int slot_at(const struct elf_check *c, uint64_t addr, uint64_t bytes)
{
	const struct elf_range *init = &c->image->init_array, *fini = &c->image->fini_array;

	if (elf_overlap(addr, bytes, init))
		return (unsigned int)(((int64_t)(addr - init->addr)) / 8);
	if (elf_overlap(addr, bytes, fini))
		return ELF_MAX_CONSTRUCTORS / 2 + (unsigned int)((int64_t)(addr - fini->addr) / 8);
	return ELF_MAX_CONSTRUCTORS;
}

#define TARGET_UNKNOWN UINT64_MAX /* another object decides */

/* A constructor slot receives the address of code, as a whole. */
static int fill_slot(struct elf_check *c, const struct where *w, uint64_t addr, uint64_t bytes,
		     uint64_t target)
{
	unsigned int slot = slot_at(c, addr, bytes);

	if (slot == ELF_MAX_CONSTRUCTORS)
		return 0;
	if (bytes != 8 || addr % 8)
		return bad_reloc(c, w, "place 0x%lx is part of a constructor address", addr);
	if (target != TARGET_UNKNOWN && !elf_has(c->image, target, 1, PF_X))
		return bad_reloc(c, w, "constructor 0x%lx is not in an executable segment", target);
	c->slots_set[slot / 64] |= UINT64_C(1) << slot % 64;
	return 0;
}

static int check_array(const struct elf_check *c, const char *name, const struct elf_range *r,
		       unsigned int first)
{
	unsigned int i;

	for (i = first; i < first + r->bytes / 8; i++)
		if (!(c->slots_set[i / 64] & UINT64_C(1) << i % 64))
			return elf_bad(c, "%s: no relocation gives entry %u at 0x%lx its address",
				       name, i - first, r->addr + 8 * (uint64_t)(i - first));
	return 0;
}

/* ---- relocations with addend ------------------------------------------------------- */

static int check_thread_local(const struct elf_check *c, const struct where *w, uint64_t index,
			      const Elf64_Sym *s)
{
	const bool own = !index || s->st_shndx != SHN_UNDEF;

	if (index && ELF64_ST_TYPE(s->st_info) != STT_TLS)
		return bad_reloc(c, w, "symbol %lu is not thread-local", index);
	if (own && !c->tls_bytes)
		return bad_reloc(
			c, w,
			"is thread-local, but the object has no thread-local segment (symbol %lu)",
			index);
	return 0;
}

static int check_effect(struct elf_check *c, const struct where *w, const struct kind *k,
			const Elf64_Rela *r)
{
	const uint64_t addend = (uint64_t)r->r_addend, index = ELF64_R_SYM(r->r_info);
	Elf64_Sym s;
	int rc = elf_check_symbol(c, index, &s);

	if (rc)
		return rc;
	switch (k->effect) {
	case NOTHING:
		return 0;
	case SYMBOL:
		return fill_slot(c, w, r->r_offset, k->bytes,
				 s.st_shndx != SHN_UNDEF ? s.st_value + addend : TARGET_UNKNOWN);
	case RELATIVE:
		return fill_slot(c, w, r->r_offset, k->bytes, addend);
	case INDIRECT:
		if (!elf_has(c->image, addend, 1, PF_X))
			return bad_reloc(c, w, "resolver 0x%lx is not in an executable segment",
					 addend);
		return fill_slot(c, w, r->r_offset, k->bytes, TARGET_UNKNOWN);
	case THREAD_LOCAL:
		rc = check_thread_local(c, w, index, &s);
		return rc ? rc : fill_slot(c, w, r->r_offset, k->bytes, 0);
	}
	return 0;
}

static int check_rela(struct elf_check *c, const struct where *w, const Elf64_Rela *r)
{
	const struct kind *k = find_kind(ELF64_R_TYPE(r->r_info));
	int rc;

	if (!k)
		return bad_reloc(c, w, "type %u is unknown", (unsigned int)ELF64_R_TYPE(r->r_info));
	rc = k->bytes ? check_place(c, w, r->r_offset, k->bytes) : 0;
	return rc ? rc : check_effect(c, w, k, r);
}

static int check_rela_table(struct elf_check *c, const char *name, uint64_t addr, uint64_t bytes)
{
	struct where w = { .table = name };
	Elf64_Rela r;
	uint64_t at;
	int rc = 0;

	if (bytes % sizeof(r))
		return elf_bad(c, "%s of %lu bytes is not a whole number of relocations", name,
			       bytes);
	for (at = 0; at < bytes && !rc; at += sizeof(r), w.index++)
		if (elf_copy(c, &r, addr + at, sizeof(r)))
			rc = check_rela(c, &w, &r);
	return rc;
}

/* The dynamic linker takes the type of the first DT_RELACOUNT relocations for granted. */
static int check_relative_count(const struct elf_check *c)
{
	uint64_t i, count = c->value[ELF_DYN_RELACOUNT];
	Elf64_Rela r;

	if (!c->present[ELF_DYN_RELACOUNT] || !c->present[ELF_DYN_RELA])
		return 0;
	if (count > c->value[ELF_DYN_RELASZ] / sizeof(r))
		return elf_bad(c, "DT_RELACOUNT %lu exceeds the %lu relocations", count,
			       c->value[ELF_DYN_RELASZ] / sizeof(r));
	for (i = 0; i < count; i++)
		if (elf_copy(c, &r, c->value[ELF_DYN_RELA] + i * sizeof(r), sizeof(r)) &&
		    ELF64_R_TYPE(r.r_info) != RELOC_RELATIVE)
			return elf_bad(c,
				       "DT_RELA: relocation %lu: type %u among the %lu relative "
				       "ones (DT_RELACOUNT)",
				       i, (unsigned int)ELF64_R_TYPE(r.r_info), count);
	return 0;
}

/* Either list may hold the other's end, which the dynamic linker subtracts from the sizes. */
static int check_lists(const struct elf_check *c)
{
	const struct elf_range rela = { c->value[ELF_DYN_RELA], c->value[ELF_DYN_RELASZ] };
	const struct elf_range plt = { c->value[ELF_DYN_JMPREL], c->value[ELF_DYN_PLTRELSZ] };

	if (!c->present[ELF_DYN_RELA] || !c->present[ELF_DYN_JMPREL])
		return 0;
	if (elf_overlap(plt.addr, plt.bytes, &rela) &&
	    (plt.addr < rela.addr || plt.addr + plt.bytes != rela.addr + rela.bytes))
		return elf_bad(c,
			       "DT_JMPREL at 0x%lx overlaps DT_RELA at 0x%lx, but is not its end",
			       plt.addr, rela.addr);
	return 0;
}

/* ---- relative relocations in compact form (DT_RELR) ------------------------------------ */

static int check_relr_place(struct elf_check *c, const struct where *w, uint64_t addr)
{
	uint64_t target = 0;
	int rc = check_place(c, w, addr, 8);

	if (rc)
		return rc;
	if (slot_at(c, addr, 8) != ELF_MAX_CONSTRUCTORS)
		elf_copy(c, &target, addr, sizeof(target));
	return fill_slot(c, w, addr, 8, target);
}

static int check_relr_bitmap(struct elf_check *c, const struct where *w, uint64_t addr,
			     uint64_t bits)
{
	int rc = 0;

	for (bits >>= 1; bits && !rc; bits >>= 1, addr += 8)
		if (bits & 1)
			rc = check_relr_place(c, w, addr);
	return rc;
}

/* An even entry is a place, an odd one a bitmap of the 63 places after the last. */
static int check_relr(struct elf_check *c, uint64_t addr, uint64_t bytes)
{
	struct where w = { .table = "DT_RELR" };
	uint64_t at, entry, next = 0;
	int rc = 0;

	if (bytes % 8)
		return elf_bad(c, "DT_RELR of %lu bytes is not a whole number of entries", bytes);
	for (at = 0; at < bytes && !rc && elf_copy(c, &entry, addr + at, 8); at += 8, w.index++) {
		if (!(entry & 1)) {
			rc = entry % 8 ? bad_reloc(c, &w, "place 0x%lx is unaligned", entry)
				       : check_relr_place(c, &w, entry);
			next = entry + 8;
		} else if (!next) {
			rc = bad_reloc(c, &w, "bitmap 0x%lx follows no place", entry);
		} else {
			rc = check_relr_bitmap(c, &w, next, entry);
			next += 63 * 8;
		}
	}
	return rc;
}

/* ---- the whole ------------------------------------------------------------------------ */

static int note_table(struct elf_check *c, const char *name, enum elf_dyn at, enum elf_dyn size)
{
	return c->present[at] ? elf_check_table(c, name, c->value[at], c->value[size], 8) : 0;
}

static int note_tables(struct elf_check *c)
{
	int rc = note_table(c, "DT_RELA", ELF_DYN_RELA, ELF_DYN_RELASZ);

	if (!rc)
		rc = note_table(c, "DT_JMPREL", ELF_DYN_JMPREL, ELF_DYN_PLTRELSZ);
	return rc ? rc : note_table(c, "DT_RELR", ELF_DYN_RELR, ELF_DYN_RELRSZ);
}

int elf_check_relocs(struct elf_check *c)
{
	int rc = note_tables(c);

	if (!rc)
		rc = check_lists(c);
	if (!rc)
		rc = check_relative_count(c);
	if (!rc && c->present[ELF_DYN_RELR])
		rc = check_relr(c, c->value[ELF_DYN_RELR], c->value[ELF_DYN_RELRSZ]);
	if (!rc && c->present[ELF_DYN_RELA])
		rc = check_rela_table(c, "DT_RELA", c->value[ELF_DYN_RELA],
				      c->value[ELF_DYN_RELASZ]);
	if (!rc && c->present[ELF_DYN_JMPREL])
		rc = check_rela_table(c, "DT_JMPREL", c->value[ELF_DYN_JMPREL],
				      c->value[ELF_DYN_PLTRELSZ]);
	if (!rc)
		rc = check_array(c, "DT_INIT_ARRAY", &c->image->init_array, 0);
	return rc ? rc
		  : check_array(c, "DT_FINI_ARRAY", &c->image->fini_array,
				ELF_MAX_CONSTRUCTORS / 2);
}
