/* SPDX-License-Identifier: MIT */
/*
 * Structural check of an ELF shared object, before the dynamic linker sees it.
 *
 * The dynamic linker follows the offsets, counts, chains and relocations of an
 * object without bounds, and asserts where it does not crash.  Everything it
 * reads to map, relocate and search an object is checked here, so that a
 * damaged object ends in an error text:
 *
 *   elf_check.c	header, segments, notes, dynamic section, constructor lists
 *   elf_symbols.c	strings, symbols, hash tables, versions
 *   elf_relocs.c	relocations
 *
 * What instructions do is not checked.  Code runs at three moments: resolvers
 * of indirect functions inside dlopen(), constructors and destructors
 * (elf_object.h runs them), and the entries.  A damaged instruction, or a
 * pointer that a relocation leaves in data, shows only there.
 */
#ifndef SIMPLER_CHIP_ELF_CHECK_H
#define SIMPLER_CHIP_ELF_CHECK_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define ELF_MAX_SEGMENTS	64u
#define ELF_MAX_SPAN		(UINT64_C(1) << 30)	/* bytes of address space */
#define ELF_MAX_TLS		(UINT64_C(1) << 24)
#define ELF_MAX_CONSTRUCTORS	4096u	/* constructors and destructors together */

/* A range of addresses, relative to where the object is loaded. */
struct elf_range {
	uint64_t addr;
	uint64_t bytes;
};

/* A PT_LOAD segment. */
struct elf_segment {
	struct elf_range mem;
	uint64_t offset;		/* of its content in the file */
	uint64_t file_bytes;
	uint32_t flags;			/* PF_* */
};

/* A checked object: what loading it needs to know.  Refers to the checked bytes. */
struct elf_image {
	const unsigned char *bytes;
	size_t size;
	struct elf_segment load[ELF_MAX_SEGMENTS];	/* ascending */
	unsigned int load_count;
	struct elf_range text;		/* from the first to the last executable byte */
	bool writable_text;		/* some segment is writable and executable */
	struct elf_range relro;		/* read-only once relocated; 0 bytes: none */
	struct elf_range dynamic;	/* entries before DT_NULL */
	struct elf_range symtab;	/* the known symbols */
	struct elf_range strtab;
	uint64_t init, fini;		/* addresses of functions, 0: none */
	struct elf_range init_array, fini_array;
	const char *soname;		/* NULL: none */
	const unsigned char *build_id;	/* GNU build id; NULL: none */
	uint32_t build_id_bytes;
};

/**
 * elf_check - check a shared object
 * @bytes: the whole file, at any alignment; must not change while @image is used
 * @size: its length in bytes
 * @image: filled on success; refers to @bytes
 * @err: text names what is wrong, with the value and where it is; may be NULL
 *
 * Thread safe, allocates nothing, bounded in time by @size.
 * Return: 0 or -EINVAL.
 */
int elf_check(const void *bytes, size_t size, struct elf_image *image, struct error_record *err);

/**
 * elf_at - the file's bytes behind an address range
 *
 * Return: NULL unless one readable segment has all of the range in the file.
 */
const unsigned char *elf_at(const struct elf_image *image, uint64_t addr, uint64_t bytes);

/** elf_has - is the range within one segment that has all of @flags (PF_*); the zeroed rest counts */
bool elf_has(const struct elf_image *image, uint64_t addr, uint64_t bytes, uint32_t flags);

/** elf_symbol - find an exported definition; @symbol is a copy */
bool elf_symbol(const struct elf_image *image, const char *name, Elf64_Sym *symbol);

/** elf_function_names - the first exported functions as "a, b, c, ...", or "none", for messages */
void elf_function_names(const struct elf_image *image, char *text, size_t size);

#endif /* SIMPLER_CHIP_ELF_CHECK_H */
