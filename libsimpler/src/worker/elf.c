/* SPDX-License-Identifier: MIT */
#include "worker/elf.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static bool in_bounds(size_t size, uint64_t offset, uint64_t length)
{
	return offset <= size && length <= size - offset;
}

/* Notes are padded to four bytes. */
static uint64_t note_pad(uint32_t length)
{
	return ((uint64_t)length + 3) & ~UINT64_C(3);
}

static size_t notes_find_build_id(const unsigned char *notes, size_t size, const unsigned char **id)
{
	size_t at = 0;

	while (in_bounds(size, at, sizeof(Elf64_Nhdr))) {
		Elf64_Nhdr note;
		uint64_t name = at + sizeof(note);
		uint64_t desc;

		memcpy(&note, notes + at, sizeof(note));
		desc = name + note_pad(note.n_namesz);
		if (!in_bounds(size, name, note.n_namesz) || !in_bounds(size, desc, note.n_descsz))
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(notes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU))) {
			*id = notes + desc;
			return note.n_descsz;
		}
		at = desc + note_pad(note.n_descsz);
	}
	return 0;
}

static bool elf_header_valid(const unsigned char *object, size_t size, Elf64_Ehdr *h)
{
	if (size < sizeof(*h))
		return false;
	memcpy(h, object, sizeof(*h));
	return !memcmp(h->e_ident, ELFMAG, SELFMAG) && h->e_ident[EI_CLASS] == ELFCLASS64 &&
	       h->e_ident[EI_DATA] == ELFDATA2LSB && h->e_phentsize == sizeof(Elf64_Phdr);
}

size_t elf_build_id(const void *object, size_t size, const unsigned char **id)
{
	const unsigned char *bytes = object;
	Elf64_Ehdr h;
	size_t i, found;

	if (!elf_header_valid(bytes, size, &h))
		return 0;
	for (i = 0; i < h.e_phnum; i++) {
		Elf64_Phdr p;

		if (!in_bounds(size, h.e_phoff, (i + 1) * sizeof(p)))
			return 0;
		memcpy(&p, bytes + h.e_phoff + i * sizeof(p), sizeof(p));
		if (p.p_type != PT_NOTE || !in_bounds(size, p.p_offset, p.p_filesz))
			continue;
		found = notes_find_build_id(bytes + p.p_offset, p.p_filesz, id);
		if (found)
			return found;
	}
	return 0;
}
