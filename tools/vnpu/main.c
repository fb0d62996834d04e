// SPDX-License-Identifier: MIT
/*
 * simpler-vnpu: serves emulated chips to a virtual machine, each as QEMU's
 * ivshmem-doorbell device.  See Documentation/device-interface.md.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

#include "base/env.h"
#include "chip.h"
#include "control.h"
#include "link.h"

#define MAX_CHIPS	8u
#define DEFAULT_BAR	(256ull << 20)
#define DEFAULT_VECTORS	16u

static struct vnpu_chip chips[MAX_CHIPS];
static struct vnpu_chip_options chip_options[MAX_CHIPS];
static uint32_t chip_count;

static const char usage[] =
	"usage: simpler-vnpu [--control SOCKET] [--qmp SOCKET] [--ram FILE] --chip OPTIONS ...\n"
	"\n"
	"  --chip socket=PATH[,arch=a2a3|a5][,memory=MIB][,vectors=N]\n"
	"                    serve a chip at PATH; memory is a power of two (default 256),\n"
	"                    N interrupt and doorbell vectors, 2 to 64 (default 16)\n"
	"  --ram FILE        the virtual machine's memory backend (share=on), for DMA\n"
	"  --control SOCKET  take commands there: CHIP COMMAND [NUMBER]\n"
	"  --qmp SOCKET      QEMU's monitor, to plug and unplug chips npuN on chardev npuN\n";

static void quit(const char *text, const char *what)
{
	fprintf(stderr, "simpler-vnpu: %s%s\n%s", text, what, usage);
	exit(2);
}

static uint64_t number_of(const char *text)
{
	uint64_t n = 0;

	if (!text || env_parse_u64(text, &n))
		quit("not a number: ", text ? text : "(missing)");
	return n;
}

static uint32_t arch_of(const char *text)
{
	if (text && !strcmp(text, "a2a3"))
		return SIMPLER_HW_ARCH_A2A3;
	if (text && !strcmp(text, "a5"))
		return SIMPLER_HW_ARCH_A5;
	quit("arch is a2a3 or a5, not ", text ? text : "(missing)");
	return 0;
}

static void add_chip(char *text)
{
	enum { SOCKET, ARCH, MEMORY, VECTORS };
	static char *const keys[] = { "socket", "arch", "memory", "vectors", NULL };
	struct vnpu_chip_options o = { .arch = SIMPLER_HW_ARCH_A2A3, .bar_bytes = DEFAULT_BAR,
				       .vectors = DEFAULT_VECTORS };
	char *value;

	while (*text) {
		char *option = text;

		switch (getsubopt(&text, keys, &value)) {
		case SOCKET: o.socket = value; break;
		case ARCH: o.arch = arch_of(value); break;
		case MEMORY: o.bar_bytes = number_of(value) << 20; break;
		case VECTORS: o.vectors = (uint32_t)number_of(value); break;
		default: quit("unknown option of a chip: ", option);
		}
	}
	if (!o.socket)
		quit("a chip needs socket=PATH", "");
	if (chip_count == MAX_CHIPS)
		quit("too many chips", "");
	chip_options[chip_count++] = o;
}

static void parse(int argc, char **argv, struct control_options *control)
{
	static const struct option names[] = {
		{ "chip", required_argument, NULL, 'c' },
		{ "ram", required_argument, NULL, 'r' },
		{ "control", required_argument, NULL, 's' },
		{ "qmp", required_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *ram = NULL;
	int option;

	while ((option = getopt_long(argc, argv, "", names, NULL)) >= 0)
		switch (option) {
		case 'c': add_chip(optarg); break;
		case 'r': ram = optarg; break;
		case 's': control->path = optarg; break;
		case 'q': control->qmp = optarg; break;
		case 'h': fputs(usage, stdout); exit(0);
		default: exit(2);
		}
	if (optind != argc)
		quit("unexpected argument ", argv[optind]);
	if (!chip_count)
		quit("no --chip", "");
	for (uint32_t i = 0; i < chip_count; i++)
		chip_options[i].host_path = ram;
}

static void tick(void *arg)
{
	(void)arg;
	for (uint32_t i = 0; i < chip_count; i++)
		chip_tick(&chips[i]);
}

static void on_signal(struct watch *w)
{
	(void)w;
	loop_stop();
}

/* Ends the loop; must not be inherited by executors, which exec() undoes anyway. */
static int watch_signals(struct watch *w)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -1 : loop_add(w, fd, on_signal);
}

static int serve(const struct control_options *control)
{
	struct watch signals = { .fd = -1 };
	uint32_t opened = 0;
	int rc = loop_open();

	if (!rc)
		rc = watch_signals(&signals);
	while (!rc && opened < chip_count) {
		rc = chip_open(&chips[opened], opened, &chip_options[opened]);
		opened += !rc;
	}
	if (!rc)
		rc = control_open(control, chips, chip_count);
	if (!rc) {
		printf("ready\n");
		fflush(stdout);
		rc = loop_run(tick, NULL);
	}
	control_close();
	while (opened--)
		chip_close(&chips[opened]);
	if (rc)
		fprintf(stderr, "simpler-vnpu: %s\n", strerror(-rc));
	return rc ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct control_options control = { 0 };

	if (argc == 2 && !strcmp(argv[1], "--executor"))
		return executor_main();
	prctl(PR_SET_DUMPABLE, 0);
	parse(argc, argv, &control);
	return serve(&control);
}
