/* SPDX-License-Identifier: MIT */
/* The command: options, files, exit status. Sections 9.1, 9.2. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pass.h"

#define VERSION	"0.1.0"

struct command {
	struct pto_options options;
	const char *input, *output;	/* NULL or "-": standard input, output */
	const char *print_after;	/* pass, or "all" */
	bool verify_only, print_only, json;
	bool done;			/* --help, --version: nothing else to do */
};

static const char usage[] =
	"usage: ptoas [input] [-o output] [options]\n"
	"\n"
	"Assembles .pto text into C++ against pto/pto-inst.hpp.\n"
	"'-' or nothing: standard input, standard output.\n"
	"\n"
	"  -o FILE                         output; not left behind when a step fails\n"
	"  --enable-insert-sync            insert set_flag, wait_flag and barriers\n"
	"  --pto-level=level1|level2|level3\n"
	"                                  addresses: by the assembler (1, 2), by the text (3)\n"
	"  --pto-arch=a3|a5                overrides pto.target_arch of the text\n"
	"  --disable-infer-layout          views keep the layout they are given\n"
	"  --emit-addptr-trace             comments about pointer arithmetic\n"
	"  --check-hazards                 check the final program for missing synchronisation\n"
	"  --verify-only                   check the text and stop\n"
	"  --print                         print the text in its normal form and stop\n"
	"  --print-after=PASS|all          print the program after a pass, to standard error\n"
	"  --json-diagnostics              diagnostics as JSON, to standard error\n"
	"  --version, --help\n";

/* ---- Options --------------------------------------------------------------------------------- */

/* The value of "--name=value" or "--name value"; NULL when @arg is another option. */
static const char *value_of(const char *arg, const char *name, char **argv, int *i)
{
	size_t n = strlen(name);

	if (strncmp(arg, name, n))
		return NULL;
	if (arg[n] == '=')
		return arg + n + 1;
	if (arg[n])
		return NULL;
	return argv[*i + 1] ? argv[++*i] : "";
}

static int set_arch(struct command *c, const char *value)
{
	if (strcasecmp(value, "a3") && strcasecmp(value, "a5")) {
		fprintf(stderr, "Error: invalid --pto-arch='%s'. Expected 'a3' or 'a5'.\n", value);
		return -EINVAL;
	}
	c->options.arch = strcasecmp(value, "a5") ? PTO_ARCH_A3 : PTO_ARCH_A5;
	c->options.arch_given = true;
	return 0;
}

static int set_level(struct command *c, const char *value)
{
	if (strncmp(value, "level", 5) || value[5] < '1' || value[5] > '3' || value[6]) {
		fprintf(stderr, "Error: invalid --pto-level='%s'. Expected 'level1', 'level2', or "
				"'level3'.\n", value);
		return -EINVAL;
	}
	c->options.level = (enum pto_level)(value[5] - '0');
	return 0;
}

static int set_print_after(struct command *c, const char *value)
{
	const struct pto_pass *pass;

	c->print_after = value;
	if (!strcmp(value, "all"))
		return 0;
	for (pass = pto_passes; pass->name; pass++)
		if (!strcmp(pass->name, value))
			return 0;
	fprintf(stderr, "Error: invalid --print-after='%s'. Expected 'all'", value);
	for (pass = pto_passes; pass->name; pass++)
		fprintf(stderr, ", '%s'", pass->name);
	fputs(".\n", stderr);
	return -EINVAL;
}

static bool set_flag(struct command *c, const char *arg)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{ "--enable-insert-sync", &c->options.insert_sync },
		{ "--disable-infer-layout", &c->options.no_infer_layout },
		{ "--emit-addptr-trace", &c->options.emit_addptr_trace },
		{ "--check-hazards", &c->options.check_hazards },
		{ "--verify-only", &c->verify_only },
		{ "--print", &c->print_only },
		{ "--json-diagnostics", &c->json },
	};
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (!strcmp(arg, flags[i].name)) {
			*flags[i].flag = true;
			return true;
		}
	/* The frontend passes these when asked to dump; --print-after does it here. */
	return !strncmp(arg, "--mlir-print-ir-", strlen("--mlir-print-ir-"));
}

static int set_input(struct command *c, const char *arg)
{
	if (c->input) {
		fprintf(stderr, "Error: more than one input file: '%s' and '%s'.\n", c->input, arg);
		return -EINVAL;
	}
	c->input = arg;
	return 0;
}

static int parse_option(struct command *c, char **argv, int *i)
{
	const char *arg = argv[*i], *value;

	if (!strcmp(arg, "--version") || !strcmp(arg, "--help") || !strcmp(arg, "-h")) {
		fputs(arg[2] == 'v' ? "ptoas " VERSION "\n" : usage, stdout);
		c->done = true;
		return 0;
	}
	if (arg[0] != '-' || !arg[1])
		return set_input(c, arg);
	value = value_of(arg, "-o", argv, i);
	if (value) {
		c->output = value;
		return 0;
	}
	value = value_of(arg, "--pto-arch", argv, i);
	if (value)
		return set_arch(c, value);
	value = value_of(arg, "--pto-level", argv, i);
	if (value)
		return set_level(c, value);
	value = value_of(arg, "--print-after", argv, i);
	if (value)
		return set_print_after(c, value);
	if (set_flag(c, arg))
		return 0;
	fprintf(stderr, "Error: unknown option '%s'. See ptoas --help.\n", arg);
	return -EINVAL;
}

static int parse_options(struct command *c, char **argv)
{
	int i, ret = 0;

	for (i = 1; argv[i] && !ret && !c->done; i++)
		ret = parse_option(c, argv, &i);
	return ret;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static bool is_std(const char *name)
{
	return !name || !strcmp(name, "-");
}

static int read_all(FILE *in, struct pto_text *out)
{
	char chunk[1 << 16];
	size_t n;

	while ((n = fread(chunk, 1, sizeof(chunk), in)))
		pto_text_add(out, chunk, n);
	if (ferror(in))
		return -errno;
	return out->no_memory || out->size > PTO_MAX_TEXT ? -EFBIG : 0;
}

static int read_input(const struct command *c, struct pto_text *out)
{
	FILE *in = is_std(c->input) ? stdin : fopen(c->input, "rb");
	int ret = in ? read_all(in, out) : -errno;

	if (in && in != stdin)
		fclose(in);
	if (ret)
		fprintf(stderr, "Error: Could not open input file: %s\n", strerror(-ret));
	return ret;
}

/* The file appears only when it is complete: written beside its place, then renamed. */
static int write_file(const char *name, const struct pto_text *t)
{
	char *beside;
	FILE *out;
	int ret = 0;

	if (asprintf(&beside, "%s.%ld.tmp", name, (long)getpid()) < 0)
		return -ENOMEM;
	out = fopen(beside, "wb");
	if (!out) {
		ret = -errno;
		goto out_name;
	}
	if (fwrite(t->data ? t->data : "", 1, t->size, out) != t->size)
		ret = -EIO;
	if (fclose(out) && !ret)
		ret = -errno;
	if (!ret && rename(beside, name))
		ret = -errno;
	if (ret)
		unlink(beside);
out_name:
	free(beside);
	return ret;
}

/* Nothing yet, or a regular file: what may be replaced, and removed after a failure. */
static bool is_replaceable(const char *name)
{
	struct stat st;

	return stat(name, &st) ? errno == ENOENT : S_ISREG(st.st_mode);
}

static int write_output(const struct command *c, const struct pto_text *t)
{
	int ret = 0;
	FILE *out;

	if (t->no_memory) {
		ret = -ENOMEM;
	} else if (is_std(c->output) || !is_replaceable(c->output)) {
		out = is_std(c->output) ? stdout : fopen(c->output, "wb");
		if (!out || fwrite(t->data ? t->data : "", 1, t->size, out) != t->size ||
		    fflush(out))
			ret = -errno;
		if (out && out != stdout)
			fclose(out);
	} else {
		ret = write_file(c->output, t);
	}
	if (ret)
		fprintf(stderr, "Error: Could not write '%s': %s\n", c->output ? c->output : "-",
			strerror(-ret));
	return ret;
}

/* ---- Work ------------------------------------------------------------------------------------ */

static void print_after(const char *pass, struct pto_module *m, void *arg)
{
	const struct command *c = arg;
	struct pto_text t = { 0 };

	if (!c->print_after || (strcmp(c->print_after, "all") && strcmp(c->print_after, pass)))
		return;
	pto_print(m, &t);
	fprintf(stderr, "// after %s\n%s", pass, t.data ? t.data : "");
	pto_text_free(&t);
}

static int transform(struct command *c, struct pto_module *m, struct pto_diags *d,
		     struct pto_text *out, const char **failed)
{
	struct pto_observer after = { print_after, c };

	*failed = "Error: Failed to parse MLIR.";
	if (pto_verify(m, &c->options, d))
		return -EINVAL;
	if (c->print_only)
		pto_print(m, out);
	if (c->print_only || c->verify_only)
		return 0;
	*failed = "Error: Pass execution failed.";
	if (pto_run_passes(m, &c->options, d, &after))
		return -EINVAL;
	if (c->options.check_hazards && pto_check_hazards(m, &c->options, d))
		return -EINVAL;
	*failed = "Error: Failed to emit C++.";
	return pto_emit_cpp(m, &c->options, d, out);
}

static const char *parse_failure(const struct pto_text *in)
{
	return in->size >= 6 && !memcmp(in->data, "PTOBC\0", 6) ? "Error: Failed to decode PTOBC." :
	       "Error: Failed to parse MLIR.";
}

static int assemble(struct command *c, const struct pto_text *in, struct pto_text *out)
{
	const char *failed = parse_failure(in);
	struct pto_diags diags;
	struct pto_module *m;
	int ret = -EINVAL;

	pto_diags_init(&diags);
	m = pto_parse(is_std(c->input) ? "<stdin>" : c->input, in->data ? in->data : "", in->size,
		      &c->options, &diags);
	if (m)
		ret = transform(c, m, &diags, out, &failed);
	if (c->json)
		pto_diags_print_json(&diags, stderr);
	else
		pto_diags_print(&diags, stderr);
	if (ret && !c->json)
		fprintf(stderr, "%s\n", failed);
	pto_module_free(m);
	pto_diags_fini(&diags);
	return ret;
}

int main(int argc, char **argv)
{
	struct command c = { .options = { .level = PTO_LEVEL2 } };
	struct pto_text in = { 0 }, out = { 0 };
	int ret;

	(void)argc;
	ret = parse_options(&c, argv);
	if (!ret && !c.done) {
		ret = read_input(&c, &in);
		if (!ret)
			ret = assemble(&c, &in, &out);
		if (!ret && !c.verify_only)
			ret = write_output(&c, &out);
	}
	if (ret && !is_std(c.output) && is_replaceable(c.output))
		unlink(c.output);
	pto_text_free(&in);
	pto_text_free(&out);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
