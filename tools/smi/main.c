// SPDX-License-Identifier: MIT
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "smi.h"

static const struct {
	const char *name;
	int (*run)(const struct smi_options *options, int argc, char **args);
	const char *help;
} commands[] = {
	{ "list", smi_list, "chips and the processes that use them (the default)" },
	{ "events", smi_events, "print what happens to chips, as it happens" },
	{ "reset", smi_reset, "reset one chip: a number, accelN or its address" },
	{ "module", smi_module, "version, parameters and state of the kernel module" },
};

#define COMMANDS	(sizeof(commands) / sizeof(commands[0]))

static void help(FILE *out)
{
	size_t i;

	fputs("usage: simpler-smi [OPTION...] [COMMAND]\n\n", out);
	for (i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].help);
	fputs("\n"
	      "  --json           one JSON object per output, with a schema version\n"
	      "  --watch[=SECS]   list again every SECS seconds (1)\n"
	      "  --count=N        end after N outputs of --watch, or N events\n"
	      "  --root=DIR       read DIR/sys and DIR/proc\n"
	      "  --replay=FILE    events: from recorded netlink messages\n"
	      "  --help           this text\n"
	      "\n"
	      "exit codes: 0 success, 1 failure, 2 usage, 3 no such chip, 4 no permission\n", out);
}

static int bad_value(const char *option, const char *value, const char *wanted)
{
	fprintf(stderr, "simpler-smi: --%s=%s: %s\n", option, value, wanted);
	return SMI_USAGE;
}

static int parse_watch(struct smi_options *o, const char *value)
{
	char *end;

	o->watch = 1;
	if (!value)
		return SMI_OK;
	o->watch = strtod(value, &end);
	if (end == value || *end || !isfinite(o->watch) || o->watch <= 0 || o->watch > 86400)
		return bad_value("watch", value, "seconds, above 0 and at most 86400");
	return SMI_OK;
}

static int parse_count(struct smi_options *o, const char *value)
{
	char *end;
	unsigned long count = strtoul(value, &end, 10);

	if (*value < '0' || *value > '9' || *end || !count || count > 1000000000)
		return bad_value("count", value, "a number from 1 to 1000000000");
	o->count = (unsigned int)count;
	return SMI_OK;
}

/* SMI_OK, SMI_USAGE, or -1: help was asked for. */
static int parse(struct smi_options *o, int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },	 { "watch", optional_argument, NULL, 'w' },
		{ "count", required_argument, NULL, 'c' }, { "root", required_argument, NULL, 'r' },
		{ "replay", required_argument, NULL, 'p' }, { "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option, rc = SMI_OK;

	while (rc == SMI_OK && (option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (option) {
		case 'j':
			o->json = true;
			break;
		case 'w':
			rc = parse_watch(o, optarg);
			break;
		case 'c':
			rc = parse_count(o, optarg);
			break;
		case 'r':
			o->root = optarg;
			break;
		case 'p':
			o->replay = optarg;
			break;
		case 'h':
			return -1;
		default:
			return SMI_USAGE;
		}
	}
	return rc;
}

static int run(const struct smi_options *o, const char *name, int argc, char **args)
{
	size_t i;

	for (i = 0; i < COMMANDS; i++)
		if (!strcmp(name, commands[i].name))
			return commands[i].run(o, argc, args);
	fprintf(stderr, "simpler-smi: no command \"%s\"\n", name);
	return SMI_USAGE;
}

int main(int argc, char **argv)
{
	struct smi_options options = { .root = "" };
	int rc = parse(&options, argc, argv);

	if (rc < 0) {
		help(stdout);
		return SMI_OK;
	}
	if (rc == SMI_OK && optind == argc)
		rc = smi_list(&options, 0, NULL);
	else if (rc == SMI_OK)
		rc = run(&options, argv[optind], argc - optind - 1, argv + optind + 1);
	if (rc == SMI_USAGE)
		fprintf(stderr, "Try: simpler-smi --help\n");
	return rc;
}
