/* SPDX-License-Identifier: MIT */
/*
 * State of one elf_check(), shared by its three files.  All reads of the file
 * go through elf_at() or elf_copy(); multi-byte values are copied out, because
 * nothing in a damaged file is aligned.  Both machines have 64-bit longs, so that
 * uint64_t is printed with %lu and %lx.
 */
#ifndef SIMPLER_CHIP_ELF_CHECK_PRIV_H
#define SIMPLER_CHIP_ELF_CHECK_PRIV_H

#include <errno.h>
#include <string.h>

#include "chip/elf_check.h"

/* Entries of the dynamic section that have a meaning here. */
enum elf_dyn {
	ELF_DYN_HASH, ELF_DYN_GNU_HASH, ELF_DYN_STRTAB, ELF_DYN_STRSZ,
	ELF_DYN_SYMTAB, ELF_DYN_SYMENT,
	ELF_DYN_RELA, ELF_DYN_RELASZ, ELF_DYN_RELAENT, ELF_DYN_RELACOUNT,
	ELF_DYN_JMPREL, ELF_DYN_PLTRELSZ, ELF_DYN_PLTREL, ELF_DYN_PLTGOT,
	ELF_DYN_REL, ELF_DYN_RELSZ, ELF_DYN_RELENT, ELF_DYN_RELR, ELF_DYN_RELRSZ, ELF_DYN_RELRENT,
	ELF_DYN_INIT, ELF_DYN_FINI, ELF_DYN_INIT_ARRAY, ELF_DYN_INIT_ARRAYSZ,
	ELF_DYN_FINI_ARRAY, ELF_DYN_FINI_ARRAYSZ,
	ELF_DYN_VERSYM, ELF_DYN_VERNEED, ELF_DYN_VERDEF,
	ELF_DYN_SONAME, ELF_DYN_TEXTREL, ELF_DYN_FLAGS, ELF_DYN_TLSDESC_PLT, ELF_DYN_TLSDESC_GOT,
	ELF_DYN_COUNT
};

#define ELF_MAX_TABLES	16u

struct elf_check {
	struct elf_image *image;
	struct error_record *err;
	uint64_t page;
	uint64_t phdr_bytes;
	uint64_t tls_bytes;		/* 0: no thread-local storage */
	uint64_t value[ELF_DYN_COUNT];
	bool present[ELF_DYN_COUNT];
	struct elf_range table[ELF_MAX_TABLES];	/* what ld.so reads while it relocates */
	unsigned int table_count;
	uint64_t symbol_limit;		/* symbols for which there is room */
	uint32_t version_max;		/* highest version index that is defined or needed */
	uint64_t slots_set[ELF_MAX_CONSTRUCTORS / 64];	/* by a relocation */
};

#define elf_bad(c, ...)	error_set((c)->err, -EINVAL, __VA_ARGS__)

static inline bool elf_fits(uint64_t offset, uint64_t bytes, uint64_t size)
{
	return offset <= size && bytes <= size - offset;
}

static inline bool elf_in(uint64_t addr, uint64_t bytes, const struct elf_range *r)
{
	return addr >= r->addr && elf_fits(addr - r->addr, bytes, r->bytes);
}

static inline bool elf_overlap(uint64_t addr, uint64_t bytes, const struct elf_range *r)
{
	return addr < r->addr + r->bytes && r->addr < addr + bytes;
}

/* Copies @bytes from address @addr; false when they are not in the file. */
static inline bool elf_copy(const struct elf_check *c, void *out, uint64_t addr, uint64_t bytes)
{
	const unsigned char *p = elf_at(c->image, addr, bytes);

	if (p)
		memcpy(out, p, bytes);
	return p;
}

/* Remembers a table that relocations must not change; the error says when it is not in the file. */
int elf_check_table(struct elf_check *c, const char *what, uint64_t addr, uint64_t bytes,
		    uint64_t align);

/* elf_symbols.c */
const char *elf_string(const struct elf_check *c, uint64_t offset);	/* NULL: none there */
int elf_check_strings(struct elf_check *c);
int elf_check_symtab(struct elf_check *c);
int elf_check_hashes(struct elf_check *c);
int elf_check_versions(struct elf_check *c);
int elf_check_symbols(struct elf_check *c);
int elf_check_symbol(struct elf_check *c, uint64_t index, Elf64_Sym *symbol);

/* elf_relocs.c */
int elf_check_relocs(struct elf_check *c);

#endif /* SIMPLER_CHIP_ELF_CHECK_PRIV_H */
