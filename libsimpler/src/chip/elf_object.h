/* SPDX-License-Identifier: MIT */
/*
 * A loaded shared object, private to its owner.
 *
 *   elf_object_prepare	copy, check
 *   elf_object_open	edit the copy, hand it to the dynamic linker
 *   elf_object_start	run constructors
 *   elf_object_close	run destructors, unload; takes an object in any state
 *
 * Two loads of equal bytes share nothing.  The dynamic linker would match an
 * object that it already has by path, by file, or by the name that the object
 * gives itself (DT_SONAME), would merge symbols of kind STB_GNU_UNIQUE, and
 * would keep objects that ask for it (DF_1_NODELETE).  So each load gets a path
 * and a file of its own, and the copy loses these marks.
 *
 * The copy loses its lists of constructors and destructors, too: they run here,
 * in guarded calls and without the dynamic linker's lock, so that a crash in
 * one is an error like any other.  Inside dlopen() nothing of the object runs
 * but resolvers of indirect functions.  A crash there is caught, but the lock
 * of the dynamic linker is lost; from then on every load is refused, because it
 * might wait for ever.
 */
#ifndef SIMPLER_CHIP_ELF_OBJECT_H
#define SIMPLER_CHIP_ELF_OBJECT_H

#include <stdbool.h>

#include "chip/elf_check.h"

#define ELF_OBJECT_FDS	"/proc/self/fd"

struct elf_object {
	struct elf_image image;		/* its file bytes until elf_object_start() */
	unsigned char *copy;		/* owned; NULL once started */
	void *handle;			/* of dlopen(); NULL: not open */
	uintptr_t base;			/* where address 0 of the image is */
	bool started;			/* constructors were run, so destructors must */
};

/**
 * elf_object_prepare - copy an object and check the copy
 * @object: any content; zeroed first, to be passed to elf_object_close() also after a failure
 * @bytes: the file; may change at any time
 * @size: bytes of it
 * @err: what is wrong
 *
 * Return: 0, -ENOMEM or -EINVAL.
 */
int elf_object_prepare(struct elf_object *object, const void *bytes, size_t size,
		       struct error_record *err);

/**
 * elf_object_open - load a prepared object; nothing outside sees its symbols
 * @name: shown for its mappings in /proc/PID/maps
 * @fds: ELF_OBJECT_FDS; when it does not exist, an unlinked file in a temporary folder is used
 * @err: the dynamic linker's message
 *
 * The caller holds a reference of guard_process_init().
 * Return: 0, -ELIBBAD the dynamic linker refused or crashed, or the code of creating the file.
 */
int elf_object_open(struct elf_object *object, const char *name, const char *fds,
		    struct error_record *err);

/**
 * elf_object_address - run-time address of a symbol of the image (elf_symbol())
 *
 * Return: NULL when it is an indirect function whose resolver crashed or returned NULL.
 */
void *elf_object_address(const struct elf_object *object, const Elf64_Sym *symbol);

/**
 * elf_object_start - run the constructors
 *
 * The file bytes are freed; elf_symbol() must no longer be used.
 *
 * Return: 0, or -ELIBBAD when one crashed.
 */
int elf_object_start(struct elf_object *object, struct error_record *err);

/** elf_object_close - run destructors if constructors ran, unload, free */
void elf_object_close(struct elf_object *object);

#endif /* SIMPLER_CHIP_ELF_OBJECT_H */
