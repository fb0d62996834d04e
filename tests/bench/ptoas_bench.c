/* SPDX-License-Identifier: MIT */
/*
 * The assembler's speed, one JSON value per line: "throughput", text to verified program of a module
 * of 50 kernels with 2000 lines each; "kernel", one of them through all passes.  Both are the
 * CPU time of one thread, so that what else the machine does is not counted.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../tools/ptoas/ptoas.h"

#define KERNELS		50
#define KERNEL_LINES	2000
#define ROUNDS		15
#define TILES		8
#define TILE		"!pto.tile_buf<vec, 32x32xf32>"
#define LONG_TILE \
	"!pto.tile_buf<loc=vec, dtype=f32, rows=32, cols=32, v_row=32, v_col=32, " \
	"blayout=row_major, slayout=none_box, fractal=512, pad=0>"

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static const char head[] =
	"  func.func @kernel%u(%%arg0: !pto.ptr<f32>, %%arg1: !pto.ptr<f32>, %%n: index) {\n"
	"    %%c0 = arith.constant 0 : index\n"
	"    %%c1 = arith.constant 1 : index\n"
	"    %%c32 = arith.constant 32 : index\n"
	"    %%s = arith.constant 1.5 : f32\n"
	"    %%v0 = pto.make_tensor_view %%arg0, shape = [%%c32, %%c32], strides = [%%c32, %%c1] : "
	"!pto.tensor_view<?x?xf32>\n"
	"    %%v1 = pto.make_tensor_view %%arg1, shape = [%%c32, %%c32], strides = [%%c32, %%c1] : "
	"!pto.tensor_view<?x?xf32>\n";

/* One line of the body; loads and stores between arithmetic, as frontends write it. */
static void body_line(struct pto_text *t, unsigned int i)
{
	unsigned int a = i % TILES, b = (i * 5 + 1) % TILES, c = (i * 3 + 2) % TILES;

	switch (i % 10) {
	case 0:
		pto_text_printf(t, "      %%p%u = pto.partition_view %%v0, offsets = [%%c0, %%c0], "
				"sizes = [%%c32, %%c32] : !pto.tensor_view<?x?xf32> -> "
				"!pto.partition_tensor_view<32x32xf32>\n", i);
		break;
	case 1:
		pto_text_printf(t,
				"      pto.tload ins(%%p%u : "
				"!pto.partition_tensor_view<32x32xf32>) "
				"outs(%%t%u : " LONG_TILE ")\n", i - 1, a);
		break;
	case 5:
		pto_text_printf(t,
				"      pto.tmuls ins(%%t%u, %%s : " TILE ", f32) outs(%%t%u : " TILE
				") loc(\"kernel.py\":%u:9)\n", a, c, i);
		break;
	case 8:
		pto_text_printf(t, "      %%q%u = pto.partition_view %%v1, offsets = [%%c0, %%c0], "
				"sizes = [%%c32, %%c32] : !pto.tensor_view<?x?xf32> -> "
				"!pto.partition_tensor_view<32x32xf32>\n", i);
		break;
	case 9:
		pto_text_printf(t, "      pto.tstore ins(%%t%u : " TILE ") outs(%%q%u : "
				"!pto.partition_tensor_view<32x32xf32>)\n", a, i - 1);
		break;
	default:
		pto_text_printf(t,
				"      pto.tadd ins(%%t%u, %%t%u : " TILE ", " TILE ") outs(%%t%u "
				": "
				TILE ")\n", a, b, c);
	}
}

static void kernel(struct pto_text *t, unsigned int number)
{
	unsigned int i;

	pto_text_printf(t, head, number);
	for (i = 0; i < TILES; i++)
		pto_text_printf(t, "    %%t%u = pto.alloc_tile : " LONG_TILE "\n", i);
	pto_text_str(t, "    scf.for %i = %c0 to %n step %c1 {\n");
	for (i = 0; i < KERNEL_LINES - TILES - 10; i++)
		body_line(t, i);
	pto_text_str(t, "    }\n    return\n  }\n");
}

static struct pto_text module_text(unsigned int kernels)
{
	struct pto_text t = { 0 };
	unsigned int i;

	pto_text_str(&t, "module attributes {pto.target_arch = \"a2a3\"} {\n");
	for (i = 0; i < kernels; i++)
		kernel(&t, i);
	pto_text_str(&t, "}\n");
	if (t.no_memory)
		exit(EXIT_FAILURE);
	return t;
}

static double assemble(const struct pto_text *t, bool passes)
{
	struct pto_options o = { .level = PTO_LEVEL2, .insert_sync = true };
	struct pto_diags d;
	struct pto_module *m;
	double start = now_ns(), ns;
	int ret;

	pto_diags_init(&d);
	m = pto_parse("bench.pto", t->data, t->size, &o, &d);
	ret = m ? pto_verify(m, &o, &d) : -1;
	if (!ret && passes)
		ret = pto_run_passes(m, &o, &d, NULL);
	ns = now_ns() - start;
	if (ret) {
		pto_diags_print(&d, stderr);
		exit(EXIT_FAILURE);
	}
	pto_module_free(m);
	pto_diags_fini(&d);
	return ns;
}

static void measure(const char *name, unsigned int kernels, bool passes)
{
	struct pto_text t = module_text(kernels);
	unsigned int i;

	printf("{\"name\": \"%s\", \"lines\": %u, \"ns\": [", name, kernels * KERNEL_LINES);
	assemble(&t, passes);
	for (i = 0; i < ROUNDS; i++)
		printf("%s%.0f", i ? ", " : "", assemble(&t, passes));
	printf("]}\n");
	pto_text_free(&t);
}

int main(void)
{
	measure("throughput", KERNELS, false);
	measure("kernel", 1, true);
	return EXIT_SUCCESS;
}
