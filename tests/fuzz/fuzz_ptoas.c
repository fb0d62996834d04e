/* SPDX-License-Identifier: MIT */
/*
 * Text for the assembler as an attacker would write it. The last byte of the text also chooses the
 * architecture and the level, so that plain files are seeds. Whatever parses must print, and the
 * print must parse to the same print again, also after the passes; what passes them can be emitted
 * and checked for hazards without harm.
 *
 * `make fuzz` builds and runs it; seeds are in tests/fuzz/seeds/ptoas.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/ptoas/pass.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Prints @m and parses the print: it must print the same. */
static void check_fixed_point(struct pto_module *m, const struct pto_options *o)
{
	struct pto_text first = { 0 }, second = { 0 };
	struct pto_diags d;
	struct pto_module *again;

	pto_diags_init(&d);
	pto_print(m, &first);
	again = pto_parse("print", first.data, first.size, o, &d);
	if (!again) {
		pto_diags_print(&d, stderr);
		fwrite(first.data, 1, first.size, stderr);
		abort();
	}
	pto_print(again, &second);
	if (first.size != second.size || memcmp(first.data, second.data, first.size)) {
		fprintf(stderr, "first print:\n%s\nsecond print:\n%s\n", first.data, second.data);
		abort();
	}
	pto_module_free(again);
	pto_text_free(&first);
	pto_text_free(&second);
	pto_diags_fini(&d);
}

/* A program that all passes have run over. */
static void use_program(struct pto_module *m, const struct pto_options *o, struct pto_diags *d)
{
	struct pto_text cxx = { 0 };

	if (pto_check_hazards(m, o, d) && !d->errors)
		abort();
	if (pto_emit_cpp(m, o, d, &cxx) && !d->errors)
		abort();
	pto_text_free(&cxx);
}

static void use_module(struct pto_module *m, const struct pto_options *o, struct pto_diags *d)
{
	check_fixed_point(m, o);
	if (pto_verify(m, o, d)) {
		if (!d->errors)
			abort();
		return;
	}
	if (!pto_run_passes(m, o, d, NULL)) {
		check_fixed_point(m, o);
		use_program(m, o, d);
	} else if (!d->errors) {
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pto_options o = { .arch_given = true, .level = PTO_LEVEL2, .verify_each = true };
	struct pto_diags d;
	struct pto_module *m;
	uint8_t choice;

	if (!size)
		return 0;
	choice = data[size - 1];
	o.arch = choice & 1 ? PTO_ARCH_A5 : PTO_ARCH_A3;
	o.arch_given = !(choice & 2);
	o.level = choice & 4 ? PTO_LEVEL3 : PTO_LEVEL2;
	o.insert_sync = choice & 8;
	pto_diags_init(&d);
	m = pto_parse("fuzz.pto", (const char *)data, size, &o, &d);
	if (m)
		use_module(m, &o, &d);
	else if (!d.errors)
		abort();
	pto_module_free(m);
	pto_diags_fini(&d);
	return 0;
}
