/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "chip/elf_check_priv.h"

#include <stdio.h>

#define MAX_NEEDED 256u
#define MAX_NAME 255u
#define MAX_PATH 4096u
#define MAX_VERSIONS 4096u
#define VERSION_INDEX 0x7fffu /* bit 15 hides a definition */

/* ---- strings ---------------------------------------------------------------- */

const char *elf_string(const struct elf_check *c, uint64_t offset)
{
	const struct elf_range *r = &c->image->strtab;

	return offset < r->bytes ? (const char *)elf_at(c->image, r->addr, r->bytes) + offset
				 : NULL;
}

/* The tags of strings that the dynamic linker reads, and how long each may be. */
static const struct {
	int64_t tag;
	const char *name;
	size_t max;
} string_tags[] = {
	{ DT_NEEDED, "DT_NEEDED", MAX_NAME },
	{ DT_SONAME, "DT_SONAME", MAX_NAME },
	{ DT_RPATH, "DT_RPATH", MAX_PATH },
	{ DT_RUNPATH, "DT_RUNPATH", MAX_PATH },
	{ DT_AUXILIARY, "DT_AUXILIARY", MAX_NAME },
	{ DT_FILTER, "DT_FILTER", MAX_NAME },
	{ DT_CONFIG, "DT_CONFIG", MAX_PATH },
	{ DT_DEPAUDIT, "DT_DEPAUDIT", MAX_PATH },
	{ DT_AUDIT, "DT_AUDIT", MAX_PATH },
};

static bool printable(const char *text, size_t max)
{
	size_t i;

	for (i = 0; text[i]; i++)
		if (i == max || (unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return false;
	return i > 0;
}

static int check_string_tag(const struct elf_check *c, const Elf64_Dyn *d)
{
	const char *text = elf_string(c, d->d_un.d_val);
	size_t k;

	for (k = 0; k < sizeof(string_tags) / sizeof(string_tags[0]); k++) {
		if (d->d_tag != string_tags[k].tag)
			continue;
		if (!text)
			return elf_bad(
				c, "%s: name at 0x%lx is beyond the string table of 0x%lx bytes",
				string_tags[k].name, d->d_un.d_val, c->image->strtab.bytes);
		if (!printable(text, string_tags[k].max))
			return elf_bad(c,
				       "%s: name at 0x%lx is empty, has control characters or more "
				       "than %zu bytes",
				       string_tags[k].name, d->d_un.d_val, string_tags[k].max);
	}
	return 0;
}

static int check_string_tags(const struct elf_check *c)
{
	const struct elf_range *r = &c->image->dynamic;
	unsigned int needed = 0;
	uint64_t at;
	Elf64_Dyn d;
	int rc = 0;

	for (at = 0; at < r->bytes && !rc && elf_copy(c, &d, r->addr + at, sizeof(d));
	     at += sizeof(d)) {
		if (d.d_tag == DT_NEEDED && ++needed > MAX_NEEDED)
			return elf_bad(c, "more than %u needed libraries", MAX_NEEDED);
		rc = check_string_tag(c, &d);
	}
	return rc;
}

int elf_check_strings(struct elf_check *c)
{
	const struct elf_range r = { c->value[ELF_DYN_STRTAB], c->value[ELF_DYN_STRSZ] };
	int rc;

	if (!r.bytes)
		return elf_bad(c, "string table at 0x%lx is empty", r.addr);
	rc = elf_check_table(c, "string table", r.addr, r.bytes, 1);
	if (rc)
		return rc;
	if (*elf_at(c->image, r.addr + r.bytes - 1, 1))
		return elf_bad(c, "string table at 0x%lx does not end in a zero byte", r.addr);
	c->image->strtab = r;
	rc = check_string_tags(c);
	if (!rc && c->present[ELF_DYN_SONAME])
		c->image->soname = elf_string(c, c->value[ELF_DYN_SONAME]);
	return rc;
}

/* ---- symbol table ------------------------------------------------------------- */

static uint64_t file_bytes_after(const struct elf_image *m, uint64_t addr)
{
	const struct elf_segment *s;

	for (s = m->load; s < m->load + m->load_count; s++)
		if (addr >= s->mem.addr && addr - s->mem.addr < s->file_bytes)
			return s->file_bytes - (addr - s->mem.addr);
	return 0;
}

/* Nothing tells the number of symbols; in practice the string table follows them. */
int elf_check_symtab(struct elf_check *c)
{
	uint64_t addr = c->value[ELF_DYN_SYMTAB], bytes = file_bytes_after(c->image, addr);

	if (c->image->strtab.addr > addr && c->image->strtab.addr - addr < bytes)
		bytes = c->image->strtab.addr - addr;
	c->symbol_limit = bytes / sizeof(Elf64_Sym);
	if (!c->symbol_limit)
		return elf_bad(c, "symbol table at 0x%lx has no room for a symbol", addr);
	return elf_check_table(c, "symbol table", addr, c->symbol_limit * sizeof(Elf64_Sym), 8);
}

static int check_symbol_version(const struct elf_check *c, uint64_t index)
{
	uint16_t version;

	if (!c->present[ELF_DYN_VERSYM])
		return 0;
	if (!elf_copy(c, &version, c->value[ELF_DYN_VERSYM] + 2 * index, sizeof(version)))
		return elf_bad(c, "version of symbol %lu at 0x%lx is not in the file", index,
			       c->value[ELF_DYN_VERSYM] + 2 * index);
	if ((version & VERSION_INDEX) > c->version_max)
		return elf_bad(c, "symbol %lu has version %u, the highest is %u", index,
			       version & VERSION_INDEX, c->version_max);
	return 0;
}

static bool is_function(const Elf64_Sym *s)
{
	return ELF64_ST_TYPE(s->st_info) == STT_FUNC || ELF64_ST_TYPE(s->st_info) == STT_GNU_IFUNC;
}

int elf_check_symbol(struct elf_check *c, uint64_t index, Elf64_Sym *symbol)
{
	const char *name;

	if (index >= c->symbol_limit ||
	    !elf_copy(c, symbol, c->value[ELF_DYN_SYMTAB] + index * sizeof(*symbol),
		      sizeof(*symbol)))
		return elf_bad(c, "symbol %lu does not exist, at most %lu fit the table", index,
			       c->symbol_limit);
	name = elf_string(c, symbol->st_name);
	if (!name)
		return elf_bad(c,
			       "symbol %lu: name at 0x%x is beyond the string table of 0x%lx bytes",
			       index, symbol->st_name, c->image->strtab.bytes);
	if (is_function(symbol) && symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS &&
	    !elf_has(c->image, symbol->st_value, 1, PF_X))
		return elf_bad(c, "function '%.64s' at 0x%lx is not in an executable segment", name,
			       symbol->st_value);
	return check_symbol_version(c, index);
}

int elf_check_symbols(struct elf_check *c)
{
	uint64_t i, count = c->image->symtab.bytes / sizeof(Elf64_Sym);
	Elf64_Sym symbol;
	int rc = 0;

	for (i = 0; i < count && !rc; i++)
		rc = elf_check_symbol(c, i, &symbol);
	return rc;
}

/* ---- hash tables ---------------------------------------------------------------- */

struct gnu_hash {
	uint32_t buckets;
	uint32_t first; /* symbol of the first chain word */
	uint32_t filter_words;
	uint32_t shift;
};

/* One chain: words up to the first with bit 0. @steps is of all chains: no symbol is in two. */
static int walk_gnu_chain(struct elf_check *c, const struct gnu_hash *h, uint64_t chains,
			  uint64_t index, uint64_t *steps, uint64_t *count)
{
	uint32_t word = 0;

	if (index < h->first)
		return elf_bad(c,
			       "DT_GNU_HASH: a bucket starts at symbol %lu, before the first, %u",
			       index, h->first);
	for (; !(word & 1); index++) {
		if (index >= c->symbol_limit || ++*steps > c->symbol_limit ||
		    !elf_copy(c, &word, chains + 4 * (index - h->first), sizeof(word)))
			return elf_bad(c, "DT_GNU_HASH: a chain leaves the table at symbol %lu",
				       index);
	}
	if (index > *count)
		*count = index;
	return 0;
}

static int walk_gnu_chains(struct elf_check *c, const struct gnu_hash *h, uint64_t buckets,
			   uint64_t *count)
{
	uint64_t chains = buckets + 4 * (uint64_t)h->buckets, steps = 0;
	uint32_t b, index;
	int rc = 0;

	for (b = 0; b < h->buckets && !rc; b++) {
		if (elf_copy(c, &index, buckets + 4 * (uint64_t)b, sizeof(index)) && index)
			rc = walk_gnu_chain(c, h, chains, index, &steps, count);
	}
	return rc;
}

static int check_gnu_hash(struct elf_check *c, uint64_t *count)
{
	uint64_t addr = c->value[ELF_DYN_GNU_HASH], filter, buckets;
	struct gnu_hash h;
	int rc;

	if (!elf_copy(c, &h, addr, sizeof(h)))
		return elf_bad(c, "DT_GNU_HASH at 0x%lx is not in the file", addr);
	if (!h.buckets || !h.filter_words || (h.filter_words & (h.filter_words - 1)) ||
	    h.shift > 31)
		return elf_bad(c,
			       "DT_GNU_HASH: %u buckets, %u filter words (a power of two) or shift "
			       "%u (0 to 31) is out of range",
			       h.buckets, h.filter_words, h.shift);
	if (h.first > c->symbol_limit)
		return elf_bad(c, "DT_GNU_HASH: starts at symbol %u, at most %lu fit the table",
			       h.first, c->symbol_limit);
	filter = addr + sizeof(h);
	buckets = filter + 8 * (uint64_t)h.filter_words;
	rc = elf_check_table(c, "DT_GNU_HASH", addr, buckets + 4 * (uint64_t)h.buckets - addr, 8);
	*count = h.first;
	if (rc)
		return rc;
	rc = walk_gnu_chains(c, &h, buckets, count);
	c->table[c->table_count - 1].bytes += 4 * (*count - h.first);
	return rc;
}

static uint32_t word_at(const unsigned char *words, uint64_t index)
{
	uint32_t v;

	memcpy(&v, words + 4 * index, sizeof(v));
	return v;
}

/* Every symbol is in one chain at most, so more steps than symbols mean a cycle. */
static int walk_sysv_chains(struct elf_check *c, const unsigned char *words, uint32_t buckets,
			    uint32_t symbols)
{
	const unsigned char *chains = words + 4 * (uint64_t)buckets;
	uint64_t steps = 0;
	uint32_t b, index;

	for (b = 0; b < buckets; b++) {
		for (index = word_at(words, b); index; index = word_at(chains, index)) {
			if (index >= symbols)
				return elf_bad(c,
					       "DT_HASH: symbol %u in the chain of bucket %u, "
					       "there are %u",
					       index, b, symbols);
			if (++steps > symbols)
				return elf_bad(c, "DT_HASH: the chain of bucket %u is a cycle", b);
		}
	}
	return 0;
}

static int check_sysv_hash(struct elf_check *c, uint64_t *count)
{
	uint64_t addr = c->value[ELF_DYN_HASH], bytes;
	uint32_t head[2];
	int rc;

	if (!elf_copy(c, head, addr, sizeof(head)))
		return elf_bad(c, "DT_HASH at 0x%lx is not in the file", addr);
	if (!head[0] || !head[1] || head[1] > c->symbol_limit)
		return elf_bad(c,
			       "DT_HASH: %u buckets, %u symbols; at most %lu symbols fit the table",
			       head[0], head[1], c->symbol_limit);
	bytes = 4 * ((uint64_t)head[0] + head[1]);
	rc = elf_check_table(c, "DT_HASH", addr, sizeof(head) + bytes, 4);
	if (!rc)
		rc = walk_sysv_chains(c, elf_at(c->image, addr + sizeof(head), bytes), head[0],
				      head[1]);
	*count = head[1];
	return rc;
}

int elf_check_hashes(struct elf_check *c)
{
	uint64_t gnu = 0, sysv = 0;
	int rc = 0;

	if (!c->present[ELF_DYN_HASH] && !c->present[ELF_DYN_GNU_HASH])
		return elf_bad(c, "no hash table (DT_HASH, DT_GNU_HASH), no symbol can be found");
	if (c->present[ELF_DYN_GNU_HASH])
		rc = check_gnu_hash(c, &gnu);
	if (!rc && c->present[ELF_DYN_HASH])
		rc = check_sysv_hash(c, &sysv);
	if (!rc && sysv && gnu > sysv)
		rc = elf_bad(c, "DT_GNU_HASH has %lu symbols, DT_HASH %lu", gnu, sysv);
	c->image->symtab = (struct elf_range){ c->value[ELF_DYN_SYMTAB],
					       (sysv ? sysv : gnu) * sizeof(Elf64_Sym) };
	return rc;
}

/* ---- versions ------------------------------------------------------------------- */

struct version_walk {
	struct elf_check *c;
	const char *what; /* name of the table */
	uint64_t lo, hi; /* range of the records seen */
	unsigned int records;
};

/* Copies the record at @addr. The links between records only lead forward, so the walk ends. */
static int read_record(struct version_walk *w, void *out, uint64_t addr, uint64_t bytes)
{
	if (++w->records > MAX_VERSIONS)
		return elf_bad(w->c, "%s has more than %u records", w->what, MAX_VERSIONS);
	if (addr % 4 || !elf_copy(w->c, out, addr, bytes))
		return elf_bad(w->c, "%s: record at 0x%lx is unaligned or not in the file", w->what,
			       addr);
	if (addr + bytes > w->hi)
		w->hi = addr + bytes;
	return 0;
}

static int use_version(struct version_walk *w, uint64_t addr, uint32_t index, uint32_t name)
{
	if (!elf_string(w->c, name))
		return elf_bad(w->c,
			       "%s: record at 0x%lx has a name at 0x%x, beyond the string table",
			       w->what, addr, name);
	if ((index & VERSION_INDEX) > w->c->version_max)
		w->c->version_max = index & VERSION_INDEX;
	return 0;
}

static int walk_definitions(struct version_walk *w)
{
	uint64_t at = w->lo;
	Elf64_Verdef def;
	Elf64_Verdaux aux;
	int rc;

	do {
		rc = read_record(w, &def, at, sizeof(def));
		if (!rc)
			rc = read_record(w, &aux, at + def.vd_aux, sizeof(aux));
		if (!rc)
			rc = use_version(w, at, def.vd_ndx, aux.vda_name);
		if (rc)
			return rc;
		at += def.vd_next;
	} while (def.vd_next);
	return 0;
}

static bool is_needed(const struct elf_check *c, const char *name)
{
	const struct elf_range *r = &c->image->dynamic;
	uint64_t at;
	Elf64_Dyn d;

	for (at = 0; at < r->bytes && elf_copy(c, &d, r->addr + at, sizeof(d)); at += sizeof(d))
		if (d.d_tag == DT_NEEDED && !strcmp(elf_string(c, d.d_un.d_val), name))
			return true;
	return false;
}

static int walk_needed_of_file(struct version_walk *w, uint64_t at)
{
	Elf64_Vernaux aux;
	int rc;

	do {
		rc = read_record(w, &aux, at, sizeof(aux));
		if (!rc)
			rc = use_version(w, at, aux.vna_other, aux.vna_name);
		if (rc)
			return rc;
		at += aux.vna_next;
	} while (aux.vna_next);
	return 0;
}

/* The dynamic linker looks up the file of each record among the loaded ones and uses it unseen. */
static int walk_needed(struct version_walk *w)
{
	uint64_t at = w->lo;
	Elf64_Verneed need;
	const char *file;
	int rc;

	do {
		rc = read_record(w, &need, at, sizeof(need));
		if (rc)
			return rc;
		file = elf_string(w->c, need.vn_file);
		if (!file || !is_needed(w->c, file))
			return elf_bad(
				w->c,
				"%s: record at 0x%lx is of a library '%.64s' that is not needed",
				w->what, at, file ? file : "?");
		rc = walk_needed_of_file(w, at + need.vn_aux);
		if (rc)
			return rc;
		at += need.vn_next;
	} while (need.vn_next);
	return 0;
}

static int check_version_table(struct elf_check *c, enum elf_dyn tag, const char *what,
			       int (*walk)(struct version_walk *w))
{
	struct version_walk w = { .c = c, .what = what, .lo = c->value[tag] };
	int rc;

	if (!c->present[tag])
		return 0;
	rc = walk(&w);
	return rc ? rc : elf_check_table(c, what, w.lo, w.hi - w.lo, 4);
}

int elf_check_versions(struct elf_check *c)
{
	int rc = check_version_table(c, ELF_DYN_VERDEF, "DT_VERDEF", walk_definitions);

	if (!rc)
		rc = check_version_table(c, ELF_DYN_VERNEED, "DT_VERNEED", walk_needed);
	if (rc || !c->present[ELF_DYN_VERSYM])
		return rc;
	if (!c->version_max)
		return elf_bad(c,
			       "symbols have versions (DT_VERSYM), but none is defined or needed");
	return elf_check_table(c, "DT_VERSYM", c->value[ELF_DYN_VERSYM],
			       2 * (c->image->symtab.bytes / sizeof(Elf64_Sym)), 2);
}

/* ---- look-up in a checked object ---------------------------------------------------- */

static bool exported(const struct elf_image *m, uint64_t index, Elf64_Sym *s, const char **name)
{
	unsigned int bind;

	memcpy(s, elf_at(m, m->symtab.addr + index * sizeof(*s), sizeof(*s)), sizeof(*s));
	bind = ELF64_ST_BIND(s->st_info);
	*name = (const char *)elf_at(m, m->strtab.addr, m->strtab.bytes) + s->st_name;
	return s->st_shndx != SHN_UNDEF && bind != STB_LOCAL &&
	       (ELF64_ST_VISIBILITY(s->st_other) == STV_DEFAULT ||
		ELF64_ST_VISIBILITY(s->st_other) == STV_PROTECTED);
}

bool elf_symbol(const struct elf_image *image, const char *name, Elf64_Sym *symbol)
{
	uint64_t i, count = image->symtab.bytes / sizeof(*symbol);
	const char *own;

	for (i = 0; i < count; i++)
		if (exported(image, i, symbol, &own) && !strcmp(own, name))
			return true;
	return false;
}

#define MAX_LISTED 8

void elf_function_names(const struct elf_image *image, char *text, size_t size)
{
	uint64_t i, count = image->symtab.bytes / sizeof(Elf64_Sym);
	unsigned int listed = 0;
	size_t used = 0;
	Elf64_Sym s;
	const char *name;

	snprintf(text, size, "none");
	for (i = 0; i < count && used < size; i++) {
		if (!exported(image, i, &s, &name) || !is_function(&s))
			continue;
		if (++listed > MAX_LISTED) {
			snprintf(text + used, size - used, ", ...");
			return;
		}
		used += (size_t)snprintf(text + used, size - used, "%s%.64s", used ? ", " : "",
					 name);
	}
}
