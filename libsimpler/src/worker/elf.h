/* SPDX-License-Identifier: MIT */
#ifndef SIMPLER_WORKER_ELF_H
#define SIMPLER_WORKER_ELF_H

#include <stddef.h>

/**
 * elf_build_id - find the GNU build id of an ELF64 object in memory
 * @object: any bytes; nothing about them is trusted
 * @id: points into @object on success
 *
 * Returns the length of the id in bytes, 0 when there is none.
 */
size_t elf_build_id(const void *object, size_t size, const unsigned char **id);

#endif /* SIMPLER_WORKER_ELF_H */
