/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "callable_build.h"
#include "chip/elf_check.h"

static int check(const struct blob *b, struct elf_image *image, struct error_record *err)
{
	error_clear(err);
	return elf_check(b->bytes, b->size, image, err);
}

static void expect_text(const struct blob *b, const char *text)
{
	struct elf_image image;
	struct error_record err;

	assert_int_equal(check(b, &image, &err), -EINVAL);
	assert_int_equal(err.code, -EINVAL);
	if (!strstr(err.text, text))
		fail_msg("'%s' lacks '%s'", err.text, text);
}

static void accepted_image(const struct blob *b, struct elf_image *image)
{
	struct error_record err;

	if (check(b, image, &err))
		fail_msg("%s", err.text);
}

/* ---- places in an object -------------------------------------------------------- */

static Elf64_Ehdr *header_of(const struct blob *b)
{
	return (Elf64_Ehdr *)b->bytes;
}

/* Program header of @type, the @nth of that type from 0. */
static Elf64_Phdr *segment_of(const struct blob *b, uint32_t type, unsigned int nth)
{
	Elf64_Phdr *p = (Elf64_Phdr *)(b->bytes + header_of(b)->e_phoff);
	Elf64_Phdr *end = p + header_of(b)->e_phnum;

	for (; p < end; p++)
		if (p->p_type == type && !nth--)
			return p;
	fail_msg("no segment of type 0x%x", type);
	return NULL;
}

static unsigned char *at_address(const struct blob *b, uint64_t addr)
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		const Elf64_Phdr *p = segment_of(b, PT_LOAD, i);

		if (addr >= p->p_vaddr && addr - p->p_vaddr < p->p_filesz)
			return b->bytes + p->p_offset + (addr - p->p_vaddr);
	}
	fail_msg("address 0x%llx is not in the file", (unsigned long long)addr);
	return NULL;
}

static Elf64_Dyn *dynamic_of(const struct blob *b, int64_t tag)
{
	Elf64_Dyn *d = (Elf64_Dyn *)(b->bytes + segment_of(b, PT_DYNAMIC, 0)->p_offset);

	for (; d->d_tag != DT_NULL; d++)
		if (d->d_tag == tag)
			return d;
	fail_msg("no dynamic entry %lld", (long long)tag);
	return NULL;
}

static void *table_of(const struct blob *b, int64_t tag)
{
	return at_address(b, dynamic_of(b, tag)->d_un.d_val);
}

static Elf64_Rela *reloc_of(const struct blob *b, uint32_t type)
{
	Elf64_Rela *r = table_of(b, DT_RELA);
	Elf64_Rela *end = r + dynamic_of(b, DT_RELASZ)->d_un.d_val / sizeof(*r);

	for (; r < end; r++)
		if (ELF64_R_TYPE(r->r_info) == type)
			return r;
	fail_msg("no relocation of type %u", type);
	return NULL;
}

static Elf64_Phdr *load_of(const struct blob *b, unsigned int nth)
{
	return segment_of(b, PT_LOAD, nth);
}

static Elf64_Phdr *dynamic_segment(const struct blob *b)
{
	return segment_of(b, PT_DYNAMIC, 0);
}

static Elf64_Nhdr *note_of(const struct blob *b)
{
	return (Elf64_Nhdr *)at_address(b, segment_of(b, PT_NOTE, 0)->p_vaddr);
}

static char *strings_of(const struct blob *b)
{
	return table_of(b, DT_STRTAB);
}

static Elf64_Verneed *needed_of(const struct blob *b)
{
	return table_of(b, DT_VERNEED);
}

#if defined(__x86_64__)
#define RELOC_RELATIVE	R_X86_64_RELATIVE
#define RELOC_GLOB_DAT	R_X86_64_GLOB_DAT
#define RELOC_DTPMOD	R_X86_64_DTPMOD64
#else
#define RELOC_RELATIVE	R_AARCH64_RELATIVE
#define RELOC_GLOB_DAT	R_AARCH64_GLOB_DAT
#define RELOC_DTPMOD	R_AARCH64_TLSDESC
#endif

/* ---- one change each -------------------------------------------------------------- */

struct change {
	const char *object;
	void (*apply)(const struct blob *b);
	const char *text;
};

#define CHANGE(name, statement)				\
	static void name(const struct blob *b)		\
	{						\
		statement;				\
	}

CHANGE(no_magic, b->bytes[1] = 'e')
CHANGE(class_32, header_of(b)->e_ident[EI_CLASS] = ELFCLASS32)
CHANGE(big_endian, header_of(b)->e_ident[EI_DATA] = ELFDATA2MSB)
CHANGE(version_0, header_of(b)->e_version = 0)
CHANGE(osabi_solaris, header_of(b)->e_ident[EI_OSABI] = ELFOSABI_SOLARIS)
CHANGE(type_rel, header_of(b)->e_type = ET_REL)
CHANGE(machine_sparc, header_of(b)->e_machine = EM_SPARCV9)
CHANGE(short_phentsize, header_of(b)->e_phentsize = 32)
CHANGE(no_phdrs, header_of(b)->e_phnum = 0)
CHANGE(many_phdrs, header_of(b)->e_phnum = 65)
CHANGE(phdrs_outside, header_of(b)->e_phoff = UINT64_MAX & ~7ull)
CHANGE(sections_outside, header_of(b)->e_shoff += 64)
CHANGE(short_shentsize, header_of(b)->e_shentsize = 63)

CHANGE(load_unaligned, load_of(b, 1)->p_align = 0x1001)
CHANGE(load_small_align, load_of(b, 1)->p_align = 8)
CHANGE(load_incongruent, load_of(b, 1)->p_vaddr += 8)
CHANGE(load_beyond_file, load_of(b, 1)->p_filesz = b->size)
CHANGE(load_huge, load_of(b, 1)->p_memsz = UINT64_MAX - 0xfff)
CHANGE(load_less_memory, load_of(b, 1)->p_memsz = load_of(b, 1)->p_filesz - 1)
CHANGE(load_far, load_of(b, 3)->p_vaddr += UINT64_C(1) << 32)
CHANGE(load_wraps, load_of(b, 3)->p_vaddr += UINT64_C(1) << 63)
CHANGE(load_overlaps, load_of(b, 2)->p_vaddr = load_of(b, 0)->p_vaddr)
CHANGE(load_no_content, load_of(b, 1)->p_filesz -= 16)
CHANGE(load_elsewhere, load_of(b, 1)->p_offset -= 0x1000)
CHANGE(load_no_access, load_of(b, 1)->p_flags = 0)
CHANGE(load_odd_flags, load_of(b, 1)->p_flags |= 0x100)
CHANGE(executable_stack, segment_of(b, PT_GNU_STACK, 0)->p_flags |= PF_X)
CHANGE(no_stack_header, segment_of(b, PT_GNU_STACK, 0)->p_type = PT_NULL)
CHANGE(two_dynamics, segment_of(b, PT_GNU_STACK, 0)->p_type = PT_DYNAMIC)
CHANGE(no_dynamic, segment_of(b, PT_DYNAMIC, 0)->p_type = PT_NULL)
CHANGE(phdr_elsewhere, segment_of(b, PT_NOTE, 0)->p_type = PT_PHDR)
CHANGE(tls_huge, segment_of(b, PT_TLS, 0)->p_memsz = UINT64_C(1) << 40)
CHANGE(tls_alignment_0, segment_of(b, PT_TLS, 0)->p_align = 0)
CHANGE(tls_outside, segment_of(b, PT_TLS, 0)->p_vaddr = 0x7000000)
CHANGE(relro_outside, segment_of(b, PT_GNU_RELRO, 0)->p_memsz += 0x10000)
CHANGE(relro_over_text, segment_of(b, PT_GNU_RELRO, 0)->p_vaddr = load_of(b, 1)->p_vaddr)
CHANGE(note_outside, segment_of(b, PT_NOTE, 0)->p_vaddr = 0x7000000)
CHANGE(note_long_name, note_of(b)->n_namesz = UINT32_MAX)
CHANGE(note_long_content, note_of(b)->n_descsz = UINT32_MAX)
CHANGE(unwind_outside, segment_of(b, PT_GNU_EH_FRAME, 0)->p_vaddr = 0x7000000)
CHANGE(dynamic_read_only, dynamic_segment(b)->p_vaddr = load_of(b, 2)->p_vaddr)
CHANGE(dynamic_endless, segment_of(b, PT_DYNAMIC, 0)->p_filesz = 64)

CHANGE(needed_outside, dynamic_of(b, DT_NEEDED)->d_un.d_val = 0x100000)
CHANGE(needed_empty, dynamic_of(b, DT_NEEDED)->d_un.d_val = dynamic_of(b, DT_STRSZ)->d_un.d_val - 1)
CHANGE(soname_control, strings_of(b)[dynamic_of(b, DT_SONAME)->d_un.d_val] = '\n')
CHANGE(strings_outside, dynamic_of(b, DT_STRTAB)->d_un.d_val = UINT64_MAX - 16)
CHANGE(strings_empty, dynamic_of(b, DT_STRSZ)->d_un.d_val = 0)
CHANGE(strings_huge, dynamic_of(b, DT_STRSZ)->d_un.d_val = UINT64_MAX)
CHANGE(strings_open, strings_of(b)[dynamic_of(b, DT_STRSZ)->d_un.d_val - 1] = 'x')
CHANGE(strings_unsized, dynamic_of(b, DT_STRSZ)->d_tag = DT_DEBUG)
CHANGE(no_symbols, dynamic_of(b, DT_SYMTAB)->d_tag = DT_DEBUG)
CHANGE(symbols_outside, dynamic_of(b, DT_SYMTAB)->d_un.d_val = 0x7000000)
CHANGE(symbols_unaligned, dynamic_of(b, DT_SYMTAB)->d_un.d_val += 4)
CHANGE(symbol_size, dynamic_of(b, DT_SYMENT)->d_un.d_val = 16)
CHANGE(symbol_name, ((Elf64_Sym *)table_of(b, DT_SYMTAB))[2].st_name = 0x7fffffff)
CHANGE(no_hash, dynamic_of(b, DT_GNU_HASH)->d_tag = DT_DEBUG)
CHANGE(rela_unsized, dynamic_of(b, DT_RELASZ)->d_tag = DT_DEBUG)
CHANGE(rela_size, dynamic_of(b, DT_RELAENT)->d_un.d_val = 16)
CHANGE(rela_ragged, dynamic_of(b, DT_RELASZ)->d_un.d_val -= 8)
CHANGE(rela_outside, dynamic_of(b, DT_RELASZ)->d_un.d_val = UINT64_C(24) << 40)
CHANGE(rela_count, dynamic_of(b, DT_RELACOUNT)->d_un.d_val = 1000)
CHANGE(rela_count_mixed, dynamic_of(b, DT_RELACOUNT)->d_un.d_val += 1)
CHANGE(rel_instead, dynamic_of(b, DT_RELAENT)->d_tag = DT_RELENT)
CHANGE(plt_kind, dynamic_of(b, DT_PLTREL)->d_un.d_val = DT_REL)
CHANGE(plt_unkinded, dynamic_of(b, DT_PLTREL)->d_tag = DT_DEBUG)
CHANGE(plt_overlaps, dynamic_of(b, DT_JMPREL)->d_un.d_val = dynamic_of(b, DT_RELA)->d_un.d_val)
CHANGE(got_outside, dynamic_of(b, DT_PLTGOT)->d_un.d_val = 0x7000000)

CHANGE(gnu_no_buckets, ((uint32_t *)table_of(b, DT_GNU_HASH))[0] = 0)
CHANGE(gnu_huge_buckets, ((uint32_t *)table_of(b, DT_GNU_HASH))[0] = UINT32_MAX)
CHANGE(gnu_first, ((uint32_t *)table_of(b, DT_GNU_HASH))[1] = UINT32_MAX)
CHANGE(gnu_filter, ((uint32_t *)table_of(b, DT_GNU_HASH))[2] = 3)
CHANGE(gnu_shift, ((uint32_t *)table_of(b, DT_GNU_HASH))[3] = 64)

static uint32_t *gnu_buckets(const struct blob *b)
{
	uint32_t *h = table_of(b, DT_GNU_HASH);

	return h + 4 + 2 * h[2];
}

static void gnu_bucket_high(const struct blob *b)
{
	gnu_buckets(b)[0] = 0x10000000;
}

static void gnu_bucket_low(const struct blob *b)
{
	uint32_t *h = table_of(b, DT_GNU_HASH);

	h[1] += 1;
	gnu_buckets(b)[0] = h[1] - 1;
}

/* No chain word has the end bit: clear them up to the end of the table of strings. */
static void gnu_chain_endless(const struct blob *b)
{
	uint32_t *h = table_of(b, DT_GNU_HASH), *chain = gnu_buckets(b) + h[0];
	const struct elf_range symbols = {
		dynamic_of(b, DT_SYMTAB)->d_un.d_val,
		dynamic_of(b, DT_STRTAB)->d_un.d_val - dynamic_of(b, DT_SYMTAB)->d_un.d_val,
	};
	uint64_t i;

	for (i = 0; i < symbols.bytes / sizeof(Elf64_Sym) - h[1]; i++)
		chain[i] &= ~1u;
}

static void sysv_cycle(const struct blob *b)
{
	uint32_t *h = table_of(b, DT_HASH), *bucket = h + 2, *chain = bucket + h[0];
	uint32_t i;

	for (i = 0; i < h[0]; i++)
		if (bucket[i])
			chain[bucket[i]] = bucket[i];
}

CHANGE(sysv_no_buckets, ((uint32_t *)table_of(b, DT_HASH))[0] = 0)
CHANGE(sysv_many_symbols, ((uint32_t *)table_of(b, DT_HASH))[1] = 1000000)
CHANGE(sysv_few_symbols, ((uint32_t *)table_of(b, DT_HASH))[1] = 2)
CHANGE(sysv_bucket, ((uint32_t *)table_of(b, DT_HASH))[2] = 0xfffff)

CHANGE(reloc_type, reloc_of(b, RELOC_RELATIVE)->r_info = 200)
CHANGE(reloc_to_text, reloc_of(b, RELOC_GLOB_DAT)->r_offset = load_of(b, 1)->p_vaddr)
CHANGE(reloc_outside, reloc_of(b, RELOC_GLOB_DAT)->r_offset = UINT64_MAX - 3)
CHANGE(reloc_to_dynamic, reloc_of(b, RELOC_GLOB_DAT)->r_offset = dynamic_segment(b)->p_vaddr + 8)
CHANGE(reloc_symbol, reloc_of(b, RELOC_GLOB_DAT)->r_info |= UINT64_C(1) << 60)
CHANGE(reloc_constructor, reloc_of(b, RELOC_RELATIVE)->r_addend = 0)
CHANGE(reloc_in_constructor, reloc_of(b, RELOC_RELATIVE)->r_offset += 4)
CHANGE(reloc_lost, reloc_of(b, RELOC_RELATIVE)->r_offset = reloc_of(b, RELOC_GLOB_DAT)->r_offset)
CHANGE(reloc_tls_no_segment, segment_of(b, PT_TLS, 0)->p_type = PT_NULL)
CHANGE(reloc_tls_symbol, reloc_of(b, RELOC_DTPMOD)->r_info |= UINT64_C(1) << 32)
CHANGE(relr_ragged, dynamic_of(b, DT_RELRSZ)->d_un.d_val -= 4)
CHANGE(relr_unaligned, *(uint64_t *)table_of(b, DT_RELR) += 2)
CHANGE(relr_bitmap_first, *(uint64_t *)table_of(b, DT_RELR) = 3)
CHANGE(relr_outside, *(uint64_t *)table_of(b, DT_RELR) = 0x7000000)
CHANGE(relr_size, dynamic_of(b, DT_RELRENT)->d_un.d_val = 4)

CHANGE(init_in_data, dynamic_of(b, DT_INIT)->d_un.d_val = load_of(b, 3)->p_vaddr)
CHANGE(fini_outside, dynamic_of(b, DT_FINI)->d_un.d_val = UINT64_MAX)
CHANGE(init_array_ragged, dynamic_of(b, DT_INIT_ARRAYSZ)->d_un.d_val += 1)
CHANGE(init_array_huge, dynamic_of(b, DT_INIT_ARRAYSZ)->d_un.d_val = 8 * 100000)
CHANGE(init_array_longer, dynamic_of(b, DT_INIT_ARRAYSZ)->d_un.d_val += 8)
CHANGE(init_array_unsized, dynamic_of(b, DT_INIT_ARRAYSZ)->d_tag = DT_DEBUG)
CHANGE(init_array_outside, dynamic_of(b, DT_INIT_ARRAY)->d_un.d_val = 0x7000000)

CHANGE(no_versym, dynamic_of(b, DT_VERSYM)->d_tag = DT_DEBUG)
CHANGE(versym_alone, (dynamic_of(b, DT_VERNEED)->d_tag = DT_DEBUG))
CHANGE(versym_index, ((uint16_t *)table_of(b, DT_VERSYM))[1] = 0x7000)
CHANGE(versym_outside, dynamic_of(b, DT_VERSYM)->d_un.d_val = 0x7000000)
CHANGE(verneed_file, needed_of(b)->vn_file += 1)
CHANGE(verneed_aux, needed_of(b)->vn_aux = 0x7ffffff0)
CHANGE(verneed_next, needed_of(b)->vn_next = 0x7ffffff0)
CHANGE(verneed_name, ((Elf64_Vernaux *)(needed_of(b) + 1))->vna_name = 0x7ffffff0)
CHANGE(verdef_aux, ((Elf64_Verdef *)table_of(b, DT_VERDEF))->vd_aux = 0x7ffffff0)
CHANGE(verdef_next, ((Elf64_Verdef *)table_of(b, DT_VERDEF))->vd_next = 6)

static const struct change changes[] = {
	{ "kernel_add", no_magic, "starts with 7f 65 4c 46" },
	{ "kernel_add", class_32, "ELF class 1, byte order" },
	{ "kernel_add", big_endian, "byte order 2" },
	{ "kernel_add", version_0, "ELF version 1/0" },
	{ "kernel_add", osabi_solaris, "OS ABI 6" },
	{ "kernel_add", type_rel, "ELF type 1 is not a shared object" },
	{ "kernel_add", machine_sparc, "ELF machine 43" },
	{ "kernel_add", short_phentsize, "header sizes 64, 32" },
	{ "kernel_add", no_phdrs, "0 program headers" },
	{ "kernel_add", many_phdrs, "65 program headers" },
	{ "kernel_add", phdrs_outside, "program headers at 0xfffffffffffffff8" },
	{ "kernel_add", sections_outside, "beyond the end" },
	{ "kernel_add", short_shentsize, "section headers of 63 bytes" },
	{ "kernel_add", load_unaligned, "alignment 0x1001" },
	{ "kernel_add", load_small_align, "alignment 0x8" },
	{ "kernel_add", load_incongruent, "differ modulo" },
	{ "kernel_add", load_beyond_file, "are beyond the end" },
	{ "kernel_add", load_huge, "size 0xfffffffffffff000" },
	{ "kernel_add", load_less_memory, "is not from" },
	{ "kernel_add", load_far, "after the first one's start" },
	{ "kernel_add", load_wraps, "is out of range" },
	{ "kernel_add", load_overlaps, "overlaps or precedes" },
	{ "kernel_add", load_no_content, "bytes have no content" },
	{ "kernel_add", load_elsewhere, "file offset 0x0 is before" },
	{ "kernel_add", load_no_access, "flags 0x0" },
	{ "kernel_add", load_odd_flags, "flags 0x105" },
	{ "kernel_add", executable_stack, "executable stack" },
	{ "kernel_add", no_stack_header, "executable stack" },
	{ "kernel_add", two_dynamics, "two program headers of type 0x2" },
	{ "kernel_add", no_dynamic, "no dynamic section" },
	{ "kernel_add", phdr_elsewhere, "is not where the program headers are" },
	{ "kernel_tls", tls_huge, "thread-local storage of 0x10000000000 bytes" },
	{ "kernel_tls", tls_alignment_0, "thread-local alignment 0x0" },
	{ "kernel_tls", tls_outside, "thread-local image at 0x7000000" },
	{ "kernel_add", relro_outside, "read-only-after-relocation" },
	{ "kernel_add", relro_over_text, "read-only-after-relocation" },
	{ "kernel_add", note_outside, "notes at 0x7000000" },
	{ "kernel_add", note_long_name, "has 4294967295 +" },
	{ "kernel_add", note_long_content, "+ 4294967295 bytes" },
	{ "kernel_add", unwind_outside, "unwind table at 0x7000000" },
	{ "kernel_add", dynamic_read_only, "not in a" },
	{ "kernel_add", dynamic_endless, "has no end mark in 0x40 bytes" },
	{ "orch_default", needed_outside, "DT_NEEDED: name at 0x100000" },
	{ "orch_default", needed_empty, "DT_NEEDED: name at" },
	{ "kernel_add", soname_control, "DT_SONAME: name at" },
	{ "kernel_add", strings_outside, "string table at 0xffffffffffffffef" },
	{ "kernel_add", strings_empty, "is empty" },
	{ "kernel_add", strings_huge, "with 18446744073709551615 bytes" },
	{ "kernel_add", strings_open, "does not end in a zero byte" },
	{ "kernel_add", strings_unsized, "DT_STRSZ" },
	{ "kernel_add", no_symbols, "DT_SYMTAB" },
	{ "kernel_add", symbols_outside, "no room for a symbol" },
	{ "kernel_add", symbols_unaligned, "symbol table at" },
	{ "kernel_add", symbol_size, "DT_SYMENT is 16" },
	{ "kernel_add", symbol_name, "symbol 2: name at 0x7fffffff" },
	{ "kernel_add", no_hash, "no hash table" },
	{ "kernel_add", rela_unsized, "DT_RELASZ" },
	{ "kernel_add", rela_size, "DT_RELAENT is 16" },
	{ "kernel_add", rela_ragged, "not a whole number" },
	{ "kernel_add", rela_outside, "DT_RELA at" },
	{ "kernel_add", rela_count, "DT_RELACOUNT 1000 exceeds" },
	{ "kernel_add", rela_count_mixed, "among the" },
	{ "kernel_add", rel_instead, "DT_REL" },
	{ "orch_default", plt_kind, "DT_PLTREL is 17" },
	{ "orch_default", plt_unkinded, "DT_PLTREL" },
	{ "orch_default", plt_overlaps, "overlaps DT_RELA" },
	{ "kernel_add", got_outside, "DT_PLTGOT 0x7000000" },
	{ "kernel_add", gnu_no_buckets, "DT_GNU_HASH: 0 buckets" },
	{ "kernel_add", gnu_huge_buckets, "DT_GNU_HASH at" },
	{ "kernel_add", gnu_first, "starts at symbol 4294967295" },
	{ "kernel_add", gnu_filter, "3 filter words" },
	{ "kernel_add", gnu_shift, "shift 64" },
	{ "kernel_add", gnu_bucket_high, "a chain leaves the table at symbol 268435456" },
	{ "kernel_add", gnu_bucket_low, "before the first" },
	{ "kernel_add", gnu_chain_endless, "a chain leaves the table" },
	{ "kernel_bare", sysv_cycle, "is a cycle" },
	{ "kernel_bare", sysv_no_buckets, "DT_HASH: 0 buckets" },
	{ "kernel_bare", sysv_many_symbols, "1000000 symbols" },
	{ "kernel_bare", sysv_few_symbols, "there are 2" },
	{ "kernel_bare", sysv_bucket, "symbol 1048575 in the chain of bucket 0" },
	{ "kernel_add", reloc_type, "type 200" },
	{ "kernel_add", reloc_to_text, "is not within a writable segment" },
	{ "kernel_add", reloc_outside, "place 0xfffffffffffffffc" },
	{ "kernel_add", reloc_to_dynamic, "that the dynamic linker reads" },
	{ "kernel_add", reloc_symbol, "does not exist" },
	{ "kernel_add", reloc_constructor, "constructor 0x0 is not in an executable segment" },
	{ "kernel_add", reloc_in_constructor, "part of a constructor address" },
	{ "kernel_add", reloc_lost, "no relocation gives entry 0" },
	{ "kernel_tls", reloc_tls_no_segment, "no thread-local segment" },
	{ "kernel_tls", reloc_tls_symbol, "is not thread-local" },
	{ "kernel_relr", relr_ragged, "not a whole number of entries" },
	{ "kernel_relr", relr_unaligned, "is unaligned" },
	{ "kernel_relr", relr_bitmap_first, "follows no place" },
	{ "kernel_relr", relr_outside, "DT_RELR: relocation 0: place 0x7000000" },
	{ "kernel_relr", relr_size, "DT_RELRENT is 4" },
	{ "kernel_add", init_in_data, "DT_INIT 0x" },
	{ "kernel_add", fini_outside, "DT_FINI 0xffffffffffffffff" },
	{ "kernel_add", init_array_ragged, "is not 1 to 2048 addresses" },
	{ "kernel_add", init_array_huge, "of 800000 bytes" },
	{ "kernel_add", init_array_longer, "overlap" },
	{ "kernel_add", init_array_unsized, "DT_INIT_ARRAY" },
	{ "kernel_add", init_array_outside, "DT_INIT_ARRAY at 0x7000000" },
	{ "orch_default", no_versym, "without DT_VERSYM" },
	{ "orch_default", versym_alone, "none is defined or needed" },
	{ "orch_default", versym_index, "symbol 1 has version 28672" },
	{ "orch_default", versym_outside, "DT_VERSYM at 0x7000000" },
	{ "orch_default", verneed_file, "that is not needed" },
	{ "orch_default", verneed_aux, "DT_VERNEED: record at" },
	{ "orch_default", verneed_next, "DT_VERNEED: record at" },
	{ "orch_default", verneed_name, "beyond the string table" },
	{ "kernel_block", verdef_aux, "DT_VERDEF: record at" },
	{ "kernel_block", verdef_next, "DT_VERDEF: record at" },
};

static void each_damage_is_named(void **state)
{
	struct elf_image image;
	struct error_record err;
	unsigned int wrong = 0;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct blob b = object_read(changes[i].object);

		accepted_image(&b, &image);
		changes[i].apply(&b);
		if (check(&b, &image, &err) != -EINVAL || !strstr(err.text, changes[i].text)) {
			print_error("change %zu: '%s' lacks '%s'\n", i, err.text, changes[i].text);
			wrong++;
		}
		free(b.bytes);
	}
	assert_int_equal(wrong, 0);
}

/* ---- facts about sound objects --------------------------------------------------------- */

static const char *const sound[] = {
	"kernel_add", "kernel_block", "kernel_bare", "kernel_relr", "kernel_tls", "kernel_unique",
	"kernel_undefined", "kernel_crash", "orch_default", "orch_named",
};

static void sound_objects_pass(void **state)
{
	struct elf_image image;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sound) / sizeof(sound[0]); i++) {
		struct blob b = object_read(sound[i]);
		Elf64_Sym s;

		accepted_image(&b, &image);
		assert_true(elf_symbol(&image, "kernel_entry", &s) ||
			    elf_symbol(&image, "my_entry", &s) ||
			    elf_symbol(&image, "aicpu_orchestration_entry", &s));
		assert_true(elf_has(&image, s.st_value, 1, PF_R | PF_X));
		assert_true(s.st_value - image.text.addr < image.text.bytes);
		free(b.bytes);
	}
}

static void names_and_build_id_are_found(void **state)
{
	struct blob add = object_read("kernel_add"), named = object_read("orch_named");
	struct elf_image image;

	(void)state;
	accepted_image(&add, &image);
	assert_string_equal(image.soname, "add.so");
	assert_int_equal(image.build_id_bytes, 20);
	accepted_image(&named, &image);
	assert_null(image.soname);
	assert_null(image.build_id);
	free(add.bytes);
	free(named.bytes);
}

static void only_exported_definitions_are_symbols(void **state)
{
	struct blob b = object_read("kernel_undefined");
	struct elf_image image;
	char names[64];
	Elf64_Sym s;

	(void)state;
	accepted_image(&b, &image);
	assert_false(elf_symbol(&image, "no_such_function", &s));
	assert_false(elf_symbol(&image, "", &s));
	elf_function_names(&image, names, sizeof(names));
	assert_string_equal(names, "kernel_entry");
	free(b.bytes);
}

static void long_lists_of_names_are_cut(void **state)
{
	struct blob b = object_read("orch_named");
	struct elf_image image;
	char names[12];

	(void)state;
	accepted_image(&b, &image);
	elf_function_names(&image, names, sizeof(names));
	assert_int_equal(strlen(names), sizeof(names) - 1);
	free(b.bytes);
}

static void unaligned_bytes_are_read(void **state)
{
	struct blob b = object_read("orch_default");
	unsigned char *shifted = malloc(b.size + 1);
	struct blob odd = { shifted + 1, b.size };
	struct elf_image image;

	(void)state;
	memcpy(odd.bytes, b.bytes, b.size);
	accepted_image(&odd, &image);
	free(shifted);
	free(b.bytes);
}

static void text_is_no_object(void **state)
{
	static const char script[80] = "#!/bin/sh\n";
	struct blob text = blob_copy(script, sizeof(script));

	(void)state;
	expect_text(&text, "no ELF object: starts with 23 21 2f 62");
	text.size = 0;
	expect_text(&text, "0 bytes are too few");
	free(text.bytes);
}

/* ---- random damage; a sanitizer sees every access outside the object --------------------- */

static void every_truncation_is_refused(void **state)
{
	size_t i, size;

	(void)state;
	for (i = 0; i < sizeof(sound) / sizeof(sound[0]); i++) {
		struct blob b = object_read(sound[i]);

		for (size = 0; size < b.size; size += 1 + size / 64) {
			struct blob cut = blob_copy(b.bytes, size);
			struct elf_image image;
			struct error_record err;

			assert_int_equal(check(&cut, &image, &err), -EINVAL);
			free(cut.bytes);
		}
		free(b.bytes);
	}
}

/* An accepted object keeps the promises of elf_check.h. */
static void use_image(const struct elf_image *m)
{
	char names[256];
	Elf64_Sym s;

	elf_function_names(m, names, sizeof(names));
	elf_symbol(m, "kernel_entry", &s);
	assert_non_null(elf_at(m, m->dynamic.addr, m->dynamic.bytes));
	assert_non_null(elf_at(m, m->symtab.addr, m->symtab.bytes));
	assert_true(!m->soname || strlen(m->soname) > 0);
	assert_true(!m->build_id || (m->build_id >= m->bytes &&
				     m->build_id + m->build_id_bytes <= m->bytes + m->size));
}

static void flipped_bits_are_handled(void **state)
{
	unsigned int refused = 0;
	size_t i, bit;

	(void)state;
	for (i = 0; i < sizeof(sound) / sizeof(sound[0]); i++) {
		struct blob b = object_read(sound[i]);
		struct elf_image image;

		for (bit = i; bit < b.size * 8; bit += bit < 8 * 0x800 ? 1 : 17) {
			b.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
			if (elf_check(b.bytes, b.size, &image, NULL))
				refused++;
			else
				use_image(&image);
			b.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
		}
		free(b.bytes);
	}
	assert_true(refused > 10000);
}

static void overwritten_words_are_handled(void **state)
{
	static const uint32_t words[] = {
		0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff8, 24, 0x1000,
	};
	uint64_t random = 7;
	unsigned int i, k;

	(void)state;
	for (i = 0; i < 20000; i++) {
		const char *name = sound[next_random(&random) % (sizeof(sound) / sizeof(sound[0]))];
		struct blob b = object_read(name);
		struct elf_image image;

		for (k = next_random(&random) % 3; k < 3; k++) {
			size_t at = next_random(&random) % ((k ? b.size : 0x1000) / 4 - 1) * 4;

			memcpy(b.bytes + at, &words[next_random(&random) % 8], 4);
		}
		if (!elf_check(b.bytes, b.size, &image, NULL))
			use_image(&image);
		free(b.bytes);
	}
	assert_int_equal(i, 20000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sound_objects_pass),
		cmocka_unit_test(names_and_build_id_are_found),
		cmocka_unit_test(only_exported_definitions_are_symbols),
		cmocka_unit_test(long_lists_of_names_are_cut),
		cmocka_unit_test(unaligned_bytes_are_read),
		cmocka_unit_test(text_is_no_object),
		cmocka_unit_test(each_damage_is_named),
		cmocka_unit_test(every_truncation_is_refused),
		cmocka_unit_test(flipped_bits_are_handled),
		cmocka_unit_test(overwritten_words_are_handled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
