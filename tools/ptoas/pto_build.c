/* SPDX-License-Identifier: MIT */
/* pto-build: one .pto file to a kernel object of a simulated chip. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emit_compile.h"

static const char usage[] =
	"usage: pto-build KERNEL.pto -o KERNEL.so [options]\n"
	"  --platform a2a3sim|a5sim   default a2a3sim\n"
	"  --core aiv|aic             default aiv\n"
	"  --pto-level=level1|level2|level3\n"
	"  --no-sync                  insert no synchronisation\n"
	"  --include DIR              device headers; default $SIMPLER_DEVICE_INCLUDE\n";

static int read_file(const char *name, struct pto_text *t)
{
	char block[16384];
	FILE *f = fopen(name, "rb");
	size_t n;
	int ret;

	if (!f)
		return -errno;
	while ((n = fread(block, 1, sizeof(block), f)) > 0)
		pto_text_add(t, block, n);
	ret = ferror(f) ? -EIO : t->no_memory ? -ENOMEM : 0;
	fclose(f);
	return ret;
}

static int write_file(const char *name, const struct pto_text *t)
{
	FILE *f = fopen(name, "wb");
	int ret = 0;

	if (!f)
		return -errno;
	if (fwrite(t->data, 1, t->size, f) != t->size)
		ret = -EIO;
	if (fclose(f) && !ret)
		ret = -errno;
	if (ret)
		remove(name);
	return ret;
}

static int copy(const char *from, const char *to)
{
	struct pto_text t = { 0 };
	int ret = read_file(from, &t);

	if (!ret)
		ret = write_file(to, &t);
	if (ret)
		fprintf(stderr, "pto-build: cannot write %s: %s\n", to, strerror(-ret));
	pto_text_free(&t);
	return ret;
}

struct arguments {
	struct simpler_kernel_source s;
	const char *output;
};

/* Return: how many arguments were used; 0: unknown. */
static int option(struct arguments *a, const char *arg, const char *value)
{
	if (!strncmp(arg, "--pto-level=level", 17) && arg[17] >= '1' && arg[17] <= '3') {
		a->s.level = (enum pto_level)(arg[17] - '0');
		return 1;
	}
	if (!strcmp(arg, "--no-sync"))
		return a->s.no_sync = true;
	if (arg[0] != '-') {
		a->s.file = arg;
		return 1;
	}
	if (!value)
		return 0;
	if (!strcmp(arg, "-o"))
		a->output = value;
	else if (!strcmp(arg, "--platform"))
		a->s.platform = value;
	else if (!strcmp(arg, "--core"))
		a->s.cube = !strcmp(value, "aic");
	else if (!strcmp(arg, "--include"))
		a->s.include_dir = value;
	else
		return 0;
	return 2;
}

static int compile(struct arguments *a)
{
	struct pto_text text = { 0 };
	struct pto_diags d;
	char path[4096];
	int ret = read_file(a->s.file, &text);

	if (ret) {
		fprintf(stderr, "pto-build: cannot read %s: %s\n", a->s.file, strerror(-ret));
		return ret;
	}
	a->s.text = text.data ? text.data : "";
	a->s.size = text.size;
	pto_diags_init(&d);
	ret = simpler_compile_kernel(&a->s, path, sizeof(path), &d);
	pto_diags_print(&d, stderr);
	pto_diags_fini(&d);
	pto_text_free(&text);
	return ret ? ret : copy(path, a->output);
}

int main(int argc, char **argv)
{
	struct arguments a = { .s = { .platform = "a2a3sim",
				      .include_dir = getenv("SIMPLER_DEVICE_INCLUDE") } };
	int i, n;

	for (i = 1; i < argc; i += n) {
		n = option(&a, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
		if (!n) {
			fprintf(stderr, "pto-build: unknown argument '%s'\n%s", argv[i], usage);
			return 1;
		}
	}
	if (!a.s.file || !a.output || !a.s.include_dir) {
		fputs(usage, stderr);
		return 1;
	}
	return compile(&a) ? 1 : 0;
}
