/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "chip/elf_check_priv.h"

#include <unistd.h>

#if defined(__x86_64__)
#define HOST_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define HOST_MACHINE EM_AARCH64
#else
#error "no ELF machine known for this architecture"
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define HOST_DATA ELFDATA2LSB
#else
#define HOST_DATA ELFDATA2MSB
#endif

#ifndef PT_GNU_PROPERTY
#define PT_GNU_PROPERTY 0x6474e553
#endif

#define MAX_ALIGN (UINT64_C(1) << 24)
#define MAX_TLS_ALIGN 4096u

const unsigned char *elf_at(const struct elf_image *image, uint64_t addr, uint64_t bytes)
{
	const struct elf_segment *s;

	for (s = image->load; s < image->load + image->load_count; s++) {
		const struct elf_range file = { s->mem.addr, s->file_bytes };

		if ((s->flags & PF_R) && elf_in(addr, bytes, &file))
			return image->bytes + s->offset + (addr - s->mem.addr);
	}
	return NULL;
}

bool elf_has(const struct elf_image *image, uint64_t addr, uint64_t bytes, uint32_t flags)
{
	const struct elf_segment *s;

	for (s = image->load; s < image->load + image->load_count; s++)
		if ((s->flags & flags) == flags && elf_in(addr, bytes, &s->mem))
			return true;
	return false;
}

int elf_check_table(struct elf_check *c, const char *what, uint64_t addr, uint64_t bytes,
		    uint64_t align)
{
	if (!elf_at(c->image, addr, bytes))
		return elf_bad(c, "%s at 0x%lx with %lu bytes is not within a readable segment",
			       what, addr, bytes);
	if (addr % align)
		return elf_bad(c, "%s at 0x%lx is not aligned to %lu", what, addr, align);
	c->table[c->table_count++] = (struct elf_range){ addr, bytes };
	return 0;
}

/* ---- header --------------------------------------------------------------- */

static int check_ident(const struct elf_check *c, const Elf64_Ehdr *h)
{
	const unsigned char *id = h->e_ident;

	if (memcmp(id, ELFMAG, SELFMAG))
		return elf_bad(c, "no ELF object: starts with %02x %02x %02x %02x", id[0], id[1],
			       id[2], id[3]);
	if (id[EI_CLASS] != ELFCLASS64 || id[EI_DATA] != HOST_DATA)
		return elf_bad(c, "ELF class %u, byte order %u; this machine needs %u, %u",
			       id[EI_CLASS], id[EI_DATA], ELFCLASS64, HOST_DATA);
	if (id[EI_VERSION] != EV_CURRENT || h->e_version != EV_CURRENT)
		return elf_bad(c, "ELF version %u/%u is not %u", id[EI_VERSION], h->e_version,
			       EV_CURRENT);
	if (id[EI_OSABI] != ELFOSABI_SYSV && id[EI_OSABI] != ELFOSABI_GNU)
		return elf_bad(c, "ELF OS ABI %u is neither System V (0) nor GNU (3)",
			       id[EI_OSABI]);
	if (h->e_machine != HOST_MACHINE) {
		elf_bad(c, "ELF machine %u; this machine needs %u", h->e_machine, HOST_MACHINE);
		error_hint(c->err, "compile it for the host that simulates the chip");
		return -EINVAL;
	}
	if (h->e_type != ET_DYN) {
		elf_bad(c, "ELF type %u is not a shared object (%u)", h->e_type, ET_DYN);
		error_hint(c->err, "link with -shared");
		return -EINVAL;
	}
	return 0;
}

/* The section table usually stands last, so this finds truncated files; nothing else uses it. */
static int check_sections(const struct elf_check *c, const Elf64_Ehdr *h)
{
	uint64_t bytes = (uint64_t)h->e_shnum * sizeof(Elf64_Shdr);

	if (!h->e_shoff && !h->e_shnum)
		return 0;
	if (h->e_shentsize != sizeof(Elf64_Shdr))
		return elf_bad(c, "section headers of %u bytes instead of %zu", h->e_shentsize,
			       sizeof(Elf64_Shdr));
	if (!elf_fits(h->e_shoff, bytes, c->image->size))
		return elf_bad(c,
			       "section table at 0x%lx with %u entries is beyond the end at 0x%zx",
			       h->e_shoff, h->e_shnum, c->image->size);
	return 0;
}

static int check_header(struct elf_check *c, Elf64_Ehdr *h)
{
	int rc;

	if (c->image->size < sizeof(*h))
		return elf_bad(c, "%zu bytes are too few for an ELF header", c->image->size);
	memcpy(h, c->image->bytes, sizeof(*h));
	rc = check_ident(c, h);
	if (rc)
		return rc;
	if (h->e_ehsize != sizeof(*h) || h->e_phentsize != sizeof(Elf64_Phdr))
		return elf_bad(c, "header sizes %u, %u instead of %zu, %zu", h->e_ehsize,
			       h->e_phentsize, sizeof(*h), sizeof(Elf64_Phdr));
	if (!h->e_phnum || h->e_phnum > ELF_MAX_SEGMENTS)
		return elf_bad(c, "%u program headers, not 1 to %u", h->e_phnum, ELF_MAX_SEGMENTS);
	c->phdr_bytes = (uint64_t)h->e_phnum * sizeof(Elf64_Phdr);
	if (!elf_fits(h->e_phoff, c->phdr_bytes, c->image->size) || h->e_phoff % 8)
		return elf_bad(c,
			       "program headers at 0x%lx with %u entries are unaligned or beyond "
			       "the end at 0x%zx",
			       h->e_phoff, h->e_phnum, c->image->size);
	return check_sections(c, h);
}

/* ---- segments --------------------------------------------------------------- */

static bool power_of_two(uint64_t v)
{
	return v && !(v & (v - 1));
}

static uint64_t page_down(const struct elf_check *c, uint64_t v)
{
	return v & ~(c->page - 1);
}

static uint64_t page_up(const struct elf_check *c, uint64_t v)
{
	return page_down(c, v + c->page - 1);
}

/*
 * Linkers write segments to the file in the order of their addresses, so a wrong
 * offset shows. Sizes are small here (check_load), so that no sum of an address
 * and a size wraps.
 */
static int check_load_place(const struct elf_check *c, unsigned int i, const Elf64_Phdr *p)
{
	const struct elf_image *m = c->image;
	const struct elf_segment *first = &m->load[0], *last;

	if (!m->load_count)
		return 0;
	last = &m->load[m->load_count - 1];
	if (page_down(c, p->p_vaddr) < page_up(c, last->mem.addr + last->mem.bytes))
		return elf_bad(
			c, "segment %u at 0x%lx overlaps or precedes the one that ends at 0x%lx", i,
			p->p_vaddr, last->mem.addr + last->mem.bytes);
	if (p->p_filesz && last->file_bytes && p->p_offset < last->offset + last->file_bytes)
		return elf_bad(
			c,
			"segment %u: file offset 0x%lx is before 0x%lx, the end of the one before",
			i, p->p_offset, last->offset + last->file_bytes);
	if (p->p_vaddr + p->p_memsz - first->mem.addr > ELF_MAX_SPAN)
		return elf_bad(
			c,
			"segment %u ends 0x%lx bytes after the first one's start, more than 0x%lx",
			i, p->p_vaddr + p->p_memsz - first->mem.addr, ELF_MAX_SPAN);
	return 0;
}

static int check_load(struct elf_check *c, unsigned int i, const Elf64_Phdr *p)
{
	if (!power_of_two(p->p_align) || p->p_align < c->page || p->p_align > MAX_ALIGN)
		return elf_bad(
			c, "segment %u: alignment 0x%lx is not a power of two from 0x%lx to 0x%lx",
			i, p->p_align, c->page, MAX_ALIGN);
	if ((p->p_vaddr ^ p->p_offset) & (p->p_align - 1))
		return elf_bad(
			c, "segment %u: address 0x%lx and file offset 0x%lx differ modulo 0x%lx", i,
			p->p_vaddr, p->p_offset, p->p_align);
	if (!elf_fits(p->p_offset, p->p_filesz, c->image->size))
		return elf_bad(
			c,
			"segment %u: 0x%lx bytes at file offset 0x%lx are beyond the end at 0x%zx",
			i, p->p_filesz, p->p_offset, c->image->size);
	if (!p->p_memsz || p->p_memsz < p->p_filesz || p->p_memsz > ELF_MAX_SPAN)
		return elf_bad(c, "segment %u: size 0x%lx is not from 0x%lx (file) to 0x%lx", i,
			       p->p_memsz, p->p_filesz ? p->p_filesz : 1, ELF_MAX_SPAN);
	if (p->p_memsz != p->p_filesz && !(p->p_flags & PF_W))
		return elf_bad(
			c,
			"segment %u: 0x%lx of 0x%lx bytes have no content, but it is not writable",
			i, p->p_memsz - p->p_filesz, p->p_memsz);
	if (p->p_vaddr > UINT64_MAX / 2)
		return elf_bad(c, "segment %u: address 0x%lx is out of range", i, p->p_vaddr);
	if (!(p->p_flags & (PF_R | PF_X)) || (p->p_flags & ~(uint32_t)(PF_R | PF_W | PF_X)))
		return elf_bad(c,
			       "segment %u: flags 0x%x make it neither readable nor executable, or "
			       "are unknown",
			       i, p->p_flags);
	return check_load_place(c, i, p);
}

static void add_text(struct elf_image *m, const struct elf_range *r)
{
	if (!m->text.bytes)
		m->text.addr = r->addr;
	m->text.bytes = r->addr + r->bytes - m->text.addr;
}

static int add_load(struct elf_check *c, unsigned int i, const Elf64_Phdr *p)
{
	struct elf_image *m = c->image;
	int rc = check_load(c, i, p);

	if (rc)
		return rc;
	m->writable_text |= (p->p_flags & (PF_W | PF_X)) == (PF_W | PF_X);
	m->load[m->load_count] = (struct elf_segment){
		.mem = { p->p_vaddr, p->p_memsz },
		.offset = p->p_offset,
		.file_bytes = p->p_filesz,
		.flags = p->p_flags,
	};
	if (p->p_flags & PF_X)
		add_text(m, &m->load[m->load_count].mem);
	m->load_count++;
	return 0;
}

/* ---- notes ------------------------------------------------------------------ */

static void keep_build_id(struct elf_image *m, const Elf64_Nhdr *n, const unsigned char *content,
			  uint64_t pad)
{
	if (n->n_type != NT_GNU_BUILD_ID || n->n_namesz != 4 || memcmp(content, "GNU", 4) ||
	    m->build_id)
		return;
	m->build_id = content + pad;
	m->build_id_bytes = n->n_descsz;
}

/* The dynamic linker looks for properties here, and stops at sizes that it believes. */
static int check_notes(struct elf_check *c, unsigned int i, const Elf64_Phdr *p)
{
	uint64_t align = p->p_align == 8 ? 8 : 4, at, size, name;
	const unsigned char *bytes = elf_at(c->image, p->p_vaddr, p->p_filesz);
	Elf64_Nhdr n;

	if (!bytes || p->p_memsz != p->p_filesz || p->p_vaddr % align)
		return elf_bad(c,
			       "segment %u: notes at 0x%lx with 0x%lx bytes are unaligned or "
			       "outside the loaded segments",
			       i, p->p_vaddr, p->p_memsz);
	for (at = 0; at < p->p_filesz; at += size) {
		if (p->p_filesz - at < sizeof(n))
			return elf_bad(c, "segment %u: note at 0x%lx is cut off", i,
				       p->p_vaddr + at);
		memcpy(&n, bytes + at, sizeof(n));
		name = (sizeof(n) + (uint64_t)n.n_namesz + align - 1) & ~(align - 1);
		size = (name + n.n_descsz + align - 1) & ~(align - 1);
		if (name + n.n_descsz > p->p_filesz - at)
			return elf_bad(
				c,
				"segment %u: note at 0x%lx has %u + %u bytes, beyond its segment",
				i, p->p_vaddr + at, n.n_namesz, n.n_descsz);
		if (p->p_type == PT_NOTE)
			keep_build_id(c->image, &n, bytes + at + sizeof(n), name - sizeof(n));
	}
	return 0;
}

/* ---- other program headers ---------------------------------------------------- */

static int check_own_headers(struct elf_check *c, const Elf64_Ehdr *h, const Elf64_Phdr *p)
{
	if (elf_at(c->image, p->p_vaddr, c->phdr_bytes) != c->image->bytes + h->e_phoff)
		return elf_bad(c, "PT_PHDR at 0x%lx is not where the program headers are",
			       p->p_vaddr);
	return elf_check_table(c, "program headers", p->p_vaddr, c->phdr_bytes, 8);
}

static int check_tls(struct elf_check *c, unsigned int i, const Elf64_Phdr *p)
{
	if (p->p_memsz > ELF_MAX_TLS || p->p_filesz > p->p_memsz)
		return elf_bad(c,
			       "segment %u: thread-local storage of 0x%lx bytes (0x%lx in the "
			       "file) exceeds 0x%lx",
			       i, p->p_memsz, p->p_filesz, ELF_MAX_TLS);
	if (!power_of_two(p->p_align) || p->p_align > MAX_TLS_ALIGN)
		return elf_bad(
			c,
			"segment %u: thread-local alignment 0x%lx is not a power of two up to %u",
			i, p->p_align, MAX_TLS_ALIGN);
	if (p->p_filesz && !elf_at(c->image, p->p_vaddr, p->p_filesz))
		return elf_bad(c, "segment %u: thread-local image at 0x%lx is not in the file", i,
			       p->p_vaddr);
	c->tls_bytes = p->p_memsz;
	return 0;
}

/* ld.so protects whole pages, so the end may be rounded up beyond the segment's. */
static int check_relro(struct elf_check *c, unsigned int i, const Elf64_Phdr *p)
{
	const struct elf_segment *s = c->image->load, *end = s + c->image->load_count;

	for (; s < end; s++) {
		uint64_t lo = page_down(c, s->mem.addr),
			 hi = page_up(c, s->mem.addr + s->mem.bytes);
		const struct elf_range pages = { lo, hi - lo };

		if ((s->flags & PF_W) && elf_in(p->p_vaddr, p->p_memsz, &pages)) {
			c->image->relro = (struct elf_range){ p->p_vaddr, p->p_memsz };
			return 0;
		}
	}
	return elf_bad(c,
		       "segment %u: read-only-after-relocation range 0x%lx with 0x%lx bytes is not "
		       "in a writable segment",
		       i, p->p_vaddr, p->p_memsz);
}

/*
 * ld.so relocates the addresses in the dynamic section in place if the header
 * says that it is writable.
 */
static int check_dynamic_place(struct elf_check *c, unsigned int i, const Elf64_Phdr *p)
{
	const unsigned char *bytes = elf_at(c->image, p->p_vaddr, p->p_filesz);
	uint64_t at;
	Elf64_Dyn d;

	if (!bytes || p->p_vaddr % 8 ||
	    ((p->p_flags & PF_W) && !elf_has(c->image, p->p_vaddr, p->p_filesz, PF_R | PF_W)))
		return elf_bad(c,
			       "segment %u: dynamic section at 0x%lx with 0x%lx bytes is unaligned "
			       "or not in a suitable segment",
			       i, p->p_vaddr, p->p_filesz);
	for (at = 0; elf_fits(at, sizeof(d), p->p_filesz); at += sizeof(d)) {
		memcpy(&d, bytes + at, sizeof(d));
		if (d.d_tag != DT_NULL)
			continue;
		c->image->dynamic = (struct elf_range){ p->p_vaddr, at };
		return elf_check_table(c, "dynamic section", p->p_vaddr, at + sizeof(d), 8);
	}
	return elf_bad(c, "dynamic section at 0x%lx has no end mark in 0x%lx bytes", p->p_vaddr,
		       p->p_filesz);
}

/* Loading an object that wants an executable stack makes all stacks of the process executable. */
static int check_stack(struct elf_check *c, const Elf64_Phdr *p)
{
	if (p->p_type == PT_GNU_STACK && !(p->p_flags & PF_X))
		return 0;
	elf_bad(c, "asks for an executable stack");
	error_hint(c->err, "link with -z noexecstack");
	return -EINVAL;
}

static int check_segment(struct elf_check *c, const Elf64_Ehdr *h, unsigned int i,
			 const Elf64_Phdr *p)
{
	switch (p->p_type) {
	case PT_DYNAMIC:
		return check_dynamic_place(c, i, p);
	case PT_PHDR:
		return check_own_headers(c, h, p);
	case PT_TLS:
		return p->p_memsz ? check_tls(c, i, p) : 0;
	case PT_GNU_RELRO:
		return check_relro(c, i, p);
	case PT_NOTE:
	case PT_GNU_PROPERTY:
		return check_notes(c, i, p);
	case PT_GNU_EH_FRAME:
		if (!elf_at(c->image, p->p_vaddr, p->p_filesz))
			return elf_bad(c, "segment %u: unwind table at 0x%lx is not in the file", i,
				       p->p_vaddr);
		return 0;
	default:
		return 0; /* ignored by the dynamic linker, too */
	}
}

/* Indices of the headers of which there is at most one; the dynamic linker would take the last. */
static const uint32_t single_types[] = {
	PT_DYNAMIC, PT_PHDR, PT_TLS, PT_GNU_RELRO, PT_GNU_PROPERTY, PT_GNU_EH_FRAME, PT_GNU_STACK,
};

static int check_single(struct elf_check *c, const Elf64_Phdr *p, uint32_t *seen)
{
	size_t k;

	for (k = 0; k < sizeof(single_types) / sizeof(single_types[0]); k++) {
		if (p->p_type != single_types[k])
			continue;
		if (*seen & (1u << k))
			return elf_bad(c, "two program headers of type 0x%x", p->p_type);
		*seen |= 1u << k;
	}
	return 0;
}

static void read_phdr(const struct elf_check *c, const Elf64_Ehdr *h, unsigned int i, Elf64_Phdr *p)
{
	memcpy(p, c->image->bytes + h->e_phoff + (uint64_t)i * sizeof(*p), sizeof(*p));
}

static int check_loads(struct elf_check *c, const Elf64_Ehdr *h)
{
	Elf64_Phdr p, stack = { .p_type = PT_NULL };
	uint32_t seen = 0;
	unsigned int i;
	int rc = 0;

	for (i = 0; i < h->e_phnum && !rc; i++) {
		read_phdr(c, h, i, &p);
		rc = p.p_type == PT_LOAD ? add_load(c, i, &p) : check_single(c, &p, &seen);
		if (p.p_type == PT_GNU_STACK)
			stack = p;
	}
	if (!rc && !c->image->load_count)
		rc = elf_bad(c, "none of %u program headers is a loadable segment", h->e_phnum);
	return rc ? rc : check_stack(c, &stack);
}

static int check_segments(struct elf_check *c, const Elf64_Ehdr *h)
{
	unsigned int i;
	Elf64_Phdr p;
	int rc = check_loads(c, h);

	for (i = 0; i < h->e_phnum && !rc; i++) {
		read_phdr(c, h, i, &p);
		rc = check_segment(c, h, i, &p);
	}
	if (!rc && !c->image->dynamic.bytes)
		rc = elf_bad(c, "no dynamic section");
	return rc;
}

/* ---- dynamic section ------------------------------------------------------------ */

#ifndef DT_RELR
#define DT_RELRSZ 35
#define DT_RELR 36
#define DT_RELRENT 37
#endif

static const int64_t dyn_tags[ELF_DYN_COUNT] = {
	[ELF_DYN_HASH] = DT_HASH,
	[ELF_DYN_GNU_HASH] = DT_GNU_HASH,
	[ELF_DYN_STRTAB] = DT_STRTAB,
	[ELF_DYN_STRSZ] = DT_STRSZ,
	[ELF_DYN_SYMTAB] = DT_SYMTAB,
	[ELF_DYN_SYMENT] = DT_SYMENT,
	[ELF_DYN_RELA] = DT_RELA,
	[ELF_DYN_RELASZ] = DT_RELASZ,
	[ELF_DYN_RELAENT] = DT_RELAENT,
	[ELF_DYN_RELACOUNT] = DT_RELACOUNT,
	[ELF_DYN_JMPREL] = DT_JMPREL,
	[ELF_DYN_PLTRELSZ] = DT_PLTRELSZ,
	[ELF_DYN_PLTREL] = DT_PLTREL,
	[ELF_DYN_PLTGOT] = DT_PLTGOT,
	[ELF_DYN_REL] = DT_REL,
	[ELF_DYN_RELSZ] = DT_RELSZ,
	[ELF_DYN_RELENT] = DT_RELENT,
	[ELF_DYN_RELR] = DT_RELR,
	[ELF_DYN_RELRSZ] = DT_RELRSZ,
	[ELF_DYN_RELRENT] = DT_RELRENT,
	[ELF_DYN_INIT] = DT_INIT,
	[ELF_DYN_FINI] = DT_FINI,
	[ELF_DYN_INIT_ARRAY] = DT_INIT_ARRAY,
	[ELF_DYN_INIT_ARRAYSZ] = DT_INIT_ARRAYSZ,
	[ELF_DYN_FINI_ARRAY] = DT_FINI_ARRAY,
	[ELF_DYN_FINI_ARRAYSZ] = DT_FINI_ARRAYSZ,
	[ELF_DYN_VERSYM] = DT_VERSYM,
	[ELF_DYN_VERNEED] = DT_VERNEED,
	[ELF_DYN_VERDEF] = DT_VERDEF,
	[ELF_DYN_SONAME] = DT_SONAME,
	[ELF_DYN_TEXTREL] = DT_TEXTREL,
	[ELF_DYN_FLAGS] = DT_FLAGS,
	[ELF_DYN_TLSDESC_PLT] = DT_TLSDESC_PLT,
	[ELF_DYN_TLSDESC_GOT] = DT_TLSDESC_GOT,
};

/* What must come together: the dynamic linker reads the second wherever it finds the first. */
static const struct {
	enum elf_dyn has, needs;
	const char *text;
} dyn_pairs[] = {
	{ ELF_DYN_STRTAB, ELF_DYN_STRSZ, "string table (DT_STRTAB) without size (DT_STRSZ)" },
	{ ELF_DYN_RELA, ELF_DYN_RELASZ, "relocations (DT_RELA) without size (DT_RELASZ)" },
	{ ELF_DYN_RELA, ELF_DYN_RELAENT, "relocations (DT_RELA) without entry size (DT_RELAENT)" },
	{ ELF_DYN_JMPREL, ELF_DYN_PLTRELSZ, "relocations (DT_JMPREL) without size (DT_PLTRELSZ)" },
	{ ELF_DYN_JMPREL, ELF_DYN_PLTREL, "relocations (DT_JMPREL) without kind (DT_PLTREL)" },
	{ ELF_DYN_PLTREL, ELF_DYN_JMPREL, "kind of relocations (DT_PLTREL) without DT_JMPREL" },
	{ ELF_DYN_RELR, ELF_DYN_RELRSZ, "relocations (DT_RELR) without size (DT_RELRSZ)" },
	{ ELF_DYN_RELR, ELF_DYN_RELRENT, "relocations (DT_RELR) without entry size (DT_RELRENT)" },
	{ ELF_DYN_INIT_ARRAY, ELF_DYN_INIT_ARRAYSZ, "constructors (DT_INIT_ARRAY) without size" },
	{ ELF_DYN_FINI_ARRAY, ELF_DYN_FINI_ARRAYSZ, "destructors (DT_FINI_ARRAY) without size" },
	{ ELF_DYN_VERNEED, ELF_DYN_VERSYM, "needed versions (DT_VERNEED) without DT_VERSYM" },
	{ ELF_DYN_VERDEF, ELF_DYN_VERSYM, "defined versions (DT_VERDEF) without DT_VERSYM" },
};

/* Values that the dynamic linker takes for granted. */
static const struct {
	enum elf_dyn tag;
	uint64_t value;
	const char *name;
} dyn_fixed[] = {
	{ ELF_DYN_SYMENT, sizeof(Elf64_Sym), "DT_SYMENT" },
	{ ELF_DYN_RELAENT, sizeof(Elf64_Rela), "DT_RELAENT" },
	{ ELF_DYN_RELRENT, sizeof(uint64_t), "DT_RELRENT" },
	{ ELF_DYN_PLTREL, DT_RELA, "DT_PLTREL" },
};

static void read_dynamic(struct elf_check *c)
{
	const struct elf_range *r = &c->image->dynamic;
	uint64_t at;
	Elf64_Dyn d;
	int k;

	for (at = 0; at < r->bytes && elf_copy(c, &d, r->addr + at, sizeof(d)); at += sizeof(d))
		for (k = 0; k < ELF_DYN_COUNT; k++)
			if (d.d_tag == dyn_tags[k]) {
				c->value[k] = d.d_un.d_val;
				c->present[k] = true;
			}
}

static int check_dynamic_values(const struct elf_check *c)
{
	size_t k;

	for (k = 0; k < sizeof(dyn_pairs) / sizeof(dyn_pairs[0]); k++)
		if (c->present[dyn_pairs[k].has] && !c->present[dyn_pairs[k].needs])
			return elf_bad(c, "%s", dyn_pairs[k].text);
	for (k = 0; k < sizeof(dyn_fixed) / sizeof(dyn_fixed[0]); k++)
		if (c->present[dyn_fixed[k].tag] &&
		    c->value[dyn_fixed[k].tag] != dyn_fixed[k].value)
			return elf_bad(c, "%s is %lu instead of %lu", dyn_fixed[k].name,
				       c->value[dyn_fixed[k].tag], dyn_fixed[k].value);
	if (c->present[ELF_DYN_REL] || c->present[ELF_DYN_RELSZ] || c->present[ELF_DYN_RELENT])
		return elf_bad(c,
			       "relocations without addends (DT_REL) do not exist on this machine");
	if (!c->present[ELF_DYN_STRTAB] || !c->present[ELF_DYN_SYMTAB])
		return elf_bad(c, "no string or symbol table (DT_STRTAB, DT_SYMTAB)");
	return 0;
}

static int check_address(const struct elf_check *c, enum elf_dyn tag, const char *name)
{
	if (c->present[tag] && !elf_has(c->image, c->value[tag], 8, PF_R))
		return elf_bad(c, "%s 0x%lx is not within a segment", name, c->value[tag]);
	return 0;
}

static int check_addresses(const struct elf_check *c)
{
	int rc = check_address(c, ELF_DYN_PLTGOT, "DT_PLTGOT");

	if (!rc)
		rc = check_address(c, ELF_DYN_TLSDESC_PLT, "DT_TLSDESC_PLT");
	return rc ? rc : check_address(c, ELF_DYN_TLSDESC_GOT, "DT_TLSDESC_GOT");
}

/* ---- constructors and destructors ------------------------------------------------ */

static int read_function(struct elf_check *c, enum elf_dyn tag, const char *name, uint64_t *out)
{
	if (!c->present[tag])
		return 0;
	if (!elf_has(c->image, c->value[tag], 1, PF_X))
		return elf_bad(c, "%s 0x%lx is not in an executable segment", name, c->value[tag]);
	*out = c->value[tag];
	return 0;
}

static int read_array(struct elf_check *c, enum elf_dyn at, enum elf_dyn size, const char *name,
		      struct elf_range *out)
{
	const struct elf_range r = { c->value[at], c->value[size] };

	if (!c->present[at] || !r.bytes)
		return 0;
	if (r.bytes % 8 || r.bytes / 8 > ELF_MAX_CONSTRUCTORS / 2)
		return elf_bad(c, "%s of %lu bytes is not 1 to %u addresses", name, r.bytes,
			       ELF_MAX_CONSTRUCTORS / 2);
	if (r.addr % 8 || !elf_at(c->image, r.addr, r.bytes))
		return elf_bad(c, "%s at 0x%lx with %lu bytes is unaligned or not in the file",
			       name, r.addr, r.bytes);
	*out = r;
	return 0;
}

static int read_constructors(struct elf_check *c)
{
	struct elf_image *m = c->image;
	int rc = read_function(c, ELF_DYN_INIT, "DT_INIT", &m->init);

	if (!rc)
		rc = read_function(c, ELF_DYN_FINI, "DT_FINI", &m->fini);
	if (!rc)
		rc = read_array(c, ELF_DYN_INIT_ARRAY, ELF_DYN_INIT_ARRAYSZ, "DT_INIT_ARRAY",
				&m->init_array);
	if (!rc)
		rc = read_array(c, ELF_DYN_FINI_ARRAY, ELF_DYN_FINI_ARRAYSZ, "DT_FINI_ARRAY",
				&m->fini_array);
	if (!rc && elf_overlap(m->init_array.addr, m->init_array.bytes, &m->fini_array))
		rc = elf_bad(c, "DT_INIT_ARRAY at 0x%lx and DT_FINI_ARRAY at 0x%lx overlap",
			     m->init_array.addr, m->fini_array.addr);
	return rc;
}

/* ---- the whole -------------------------------------------------------------------- */

static int check_dynamic(struct elf_check *c)
{
	int rc;

	read_dynamic(c);
	rc = check_dynamic_values(c);
	if (!rc)
		rc = elf_check_strings(c);
	if (!rc)
		rc = elf_check_symtab(c);
	if (!rc)
		rc = elf_check_hashes(c);
	if (!rc)
		rc = elf_check_versions(c);
	if (!rc)
		rc = elf_check_symbols(c);
	if (!rc)
		rc = check_addresses(c);
	if (!rc)
		rc = read_constructors(c);
	return rc ? rc : elf_check_relocs(c);
}

int elf_check(const void *bytes, size_t size, struct elf_image *image, struct error_record *err)
{
	struct elf_check c = { .image = image, .err = err };
	Elf64_Ehdr header;
	int rc;

	memset(image, 0, sizeof(*image));
	image->bytes = bytes;
	image->size = size;
	c.page = (uint64_t)sysconf(_SC_PAGESIZE);
	rc = check_header(&c, &header);
	if (!rc)
		rc = check_segments(&c, &header);
	return rc ? rc : check_dynamic(&c);
}
