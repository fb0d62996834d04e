/* SPDX-License-Identifier: MIT */
/*
 * Callable bytes and shared objects as an attacker would send them. Nothing is
 * loaded: what passes the checks would be run.
 *
 * The first byte of an input says what the rest is: 0, the bytes as they are;
 * otherwise edits of one of the objects of tests/unit/callable_src (found through
 * SIMPLER_BUILD_DIR), because no fuzzer comes up with an ELF object by itself.
 * Every second base is that object inside a callable.
 *
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -Iuapi -Itests/unit \
 *         -Ilibsimpler/src -Ilibsimpler/include -Ilibsimpler/device/include \
 *         tests/fuzz/fuzz_callable.c libsimpler/src/base/error.c \
 *         libsimpler/src/chip/{callable_bytes,elf_check,elf_symbols,elf_relocs}.c
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "callable_build.h"
#include "chip/callable_bytes.h"
#include "chip/elf_check.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const objects[] = {
	"kernel_add", "kernel_block", "kernel_bare", "kernel_relr", "kernel_tls", "orch_default",
};

#define OBJECTS (sizeof(objects) / sizeof(objects[0]))

static struct blob bases[2 * OBJECTS]; /* object, callable, object, callable, ... */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	size_t i;

	(void)argc;
	(void)argv;
	for (i = 0; i < OBJECTS; i++) {
		bases[2 * i] = object_read(objects[i]);
		bases[2 * i + 1] = callable_new(bases[2 * i]);
		callable_add(&bases[2 * i + 1], 5, bases[2 * i]);
		callable_add(&bases[2 * i + 1], 2, bases[2 * i]);
		callable_name(&bases[2 * i + 1], "entry", "config");
	}
	return 0;
}

/* All that an accepted object promises. */
static void use_object(const unsigned char *bytes, size_t size)
{
	struct blob exact = blob_copy(bytes, size);
	struct elf_image m;
	char names[128];
	Elf64_Sym s;

	if (!elf_check(exact.bytes, exact.size, &m, NULL)) {
		elf_function_names(&m, names, sizeof(names));
		elf_symbol(&m, "kernel_entry", &s);
		if (!elf_at(&m, m.dynamic.addr, m.dynamic.bytes) || (m.soname && !m.soname[0]))
			abort();
	}
	free(exact.bytes);
}

static void use_callable(const unsigned char *bytes, size_t size)
{
	static struct callable_bytes c;
	uint32_t i;

	if (callable_bytes_read(bytes, size, &c, NULL))
		return;
	use_object(bytes + sizeof(c.head), c.head.binary_size);
	for (i = 0; i < c.child_count; i++) {
		if (c.child[i].offset > size || c.child[i].bytes > size - c.child[i].offset ||
		    (i && c.child[i].func_id <= c.child[i - 1].func_id))
			abort();
		use_object(bytes + c.child[i].offset, c.child[i].bytes);
	}
}

/* One edit: where, how, with what. */
struct edit {
	uint16_t offset;
	uint8_t op;
	int8_t value;
};

static void apply(struct blob *b, const struct edit *e)
{
	size_t at = e->offset % (b->size - sizeof(uint64_t));
	uint64_t word;

	memcpy(&word, b->bytes + at, sizeof(word));
	switch (e->op % 4) {
	case 0:
		word ^= (uint8_t)e->value;
		break;
	case 1:
		word += (uint64_t)(int64_t)e->value;
		break;
	case 2:
		word = (uint64_t)(int64_t)e->value;
		break;
	case 3:
		word = UINT64_C(1) << ((uint8_t)e->value % 64);
		break;
	}
	memcpy(b->bytes + at, &word, e->op & 4 ? 4 : 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct edit e;
	struct blob b;
	size_t at, base;

	if (!size)
		return 0;
	base = (data[0] - 1u) % (2 * OBJECTS);
	b = data[0] ? blob_copy(bases[base].bytes, bases[base].size)
		    : blob_copy(data + 1, size - 1);
	for (at = 1; data[0] && size - at >= sizeof(e); at += sizeof(e)) {
		memcpy(&e, data + at, sizeof(e));
		apply(&b, &e);
	}
	if (data[0] ? base % 2 == 0 : size & 1)
		use_object(b.bytes, b.size);
	else
		use_callable(b.bytes, b.size);
	free(b.bytes);
	return 0;
}
