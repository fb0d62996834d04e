// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/env.h"
#include "base/list.h"

#define MAX_CLIENTS	4
#define LINE_BYTES	128

static struct control_options options;
static struct vnpu_chip *chips;
static uint32_t chip_count;

/* ---- commands ---- */

typedef int (*command_fn)(struct vnpu_chip *chip, uint64_t number, char *reply, size_t size);

static int lose_irqs(struct vnpu_chip *chip, uint64_t number, char *reply, size_t size)
{
	(void)reply;
	(void)size;
	chip->lose_interrupts = (uint32_t)number;
	return 0;
}

static int spurious_irq(struct vnpu_chip *chip, uint64_t number, char *reply, size_t size)
{
	if (number >= chip->port.vectors) {
		snprintf(reply, size, "there are %u vectors", chip->port.vectors);
		return -EINVAL;
	}
	chip_interrupt(chip, (uint32_t)number);
	return 0;
}

static int freeze(struct vnpu_chip *chip, uint64_t number, char *reply, size_t size)
{
	(void)number;
	(void)reply;
	(void)size;
	for (uint32_t i = 0; i < VNPU_MAX_CONTEXTS; i++)
		context_freeze(&chip->contexts[i], true);
	return 0;
}

static int thaw(struct vnpu_chip *chip, uint64_t number, char *reply, size_t size)
{
	(void)number;
	(void)reply;
	(void)size;
	for (uint32_t i = 0; i < VNPU_MAX_CONTEXTS; i++)
		context_freeze(&chip->contexts[i], false);
	return 0;
}

/* Completion words that no device would write. */
static int corrupt_completion(struct vnpu_chip *chip, uint64_t number, char *reply, size_t size)
{
	uint32_t hit = 0;

	for (uint32_t i = 0; i < VNPU_MAX_STREAMS; i++) {
		struct simpler_hw_ring *ring = (void *)(chip->bar + chip->streams[i].ring);

		if (!chip->streams[i].context)
			continue;
		/* relaxed: nonsense, nothing is ordered by it */
		__atomic_store_n(&ring->completed, number, __ATOMIC_RELAXED);
		__atomic_store_n(&ring->consumer, (uint32_t)~number, __ATOMIC_RELAXED);
		chip_stream_interrupt(chip, i);
		hit++;
	}
	snprintf(reply, size, "streams=%u", hit);
	return 0;
}

static int ecc_corrected(struct vnpu_chip *chip, uint64_t number, char *reply, size_t size)
{
	(void)reply;
	(void)size;
	chip->regs->ecc_corrected += number;
	chip_set_health(chip, chip->health);
	return 0;
}

static int ecc_uncorrected(struct vnpu_chip *chip, uint64_t number, char *reply, size_t size)
{
	(void)reply;
	(void)size;
	chip->regs->ecc_uncorrected += number;
	chip_set_health(chip, SIMPLER_HW_HEALTH_DEGRADED);
	return 0;
}

static int thermal(struct vnpu_chip *chip, uint64_t number, char *reply, size_t size)
{
	(void)reply;
	(void)size;
	chip->regs->temperature_mc = (uint32_t)number;
	chip_set_health(chip, chip->health);
	return 0;
}

static int die(struct vnpu_chip *chip, uint64_t number, char *reply, size_t size)
{
	freeze(chip, number, reply, size);
	chip->dead = true;
	chip_set_health(chip, SIMPLER_HW_HEALTH_DEAD);
	return 0;
}

static int plug(struct vnpu_chip *chip, bool in, char *reply, size_t size)
{
	if (!options.qmp) {
		snprintf(reply, size, "start with --qmp to plug and unplug");
		return -EOPNOTSUPP;
	}
	return qmp_plug(options.qmp, chip, in);
}

static int unplug(struct vnpu_chip *chip, uint64_t number, char *reply, size_t size)
{
	(void)number;
	return plug(chip, false, reply, size);
}

static int replug(struct vnpu_chip *chip, uint64_t number, char *reply, size_t size)
{
	(void)number;
	return plug(chip, true, reply, size);
}

static int counters(struct vnpu_chip *chip, uint64_t number, char *reply, size_t size)
{
	uint32_t contexts = 0, executors = 0, streams = 0;

	(void)number;
	for (uint32_t i = 0; i < VNPU_MAX_CONTEXTS; i++) {
		contexts += chip->contexts[i].state != VNPU_CONTEXT_FREE;
		executors += chip->contexts[i].pid > 0;
	}
	for (uint32_t i = 0; i < VNPU_MAX_STREAMS; i++)
		streams += chip->streams[i].context != NULL;
	snprintf(reply, size,
		 "contexts=%u executors=%u streams=%u started=%llu interrupts=%llu "
		 "doorbells=%llu faults=%llu resets=%llu",
		 contexts, executors, streams, (unsigned long long)chip->counters.executors,
		 (unsigned long long)chip->counters.interrupts,
		 (unsigned long long)chip->counters.doorbells,
		 (unsigned long long)chip->counters.faults,
		 (unsigned long long)chip->counters.resets);
	return 0;
}

static const struct {
	const char *name;
	bool number;			/* takes one */
	command_fn run;
} commands[] = {
	{ "hang", false, freeze },
	{ "unhang", false, thaw },
	{ "lost-irq", true, lose_irqs },
	{ "spurious-irq", true, spurious_irq },
	{ "corrupt-completion", true, corrupt_completion },
	{ "ecc", true, ecc_corrected },
	{ "ecc-uncorrected", true, ecc_uncorrected },
	{ "thermal", true, thermal },
	{ "dead", false, die },
	{ "unplug", false, unplug },
	{ "replug", false, replug },
	{ "counters", false, counters },
};

static void execute(struct vnpu_chip *chip, const char *name, const char *argument, char *reply,
		    size_t size)
{
	uint64_t number = 0;
	char text[LINE_BYTES * 2] = "";
	size_t i;
	int rc;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, name))
			break;
	if (i == sizeof(commands) / sizeof(commands[0])) {
		snprintf(reply, size, "error: unknown command '%s'", name);
		return;
	}
	if (commands[i].number != !!argument || (argument && env_parse_u64(argument, &number))) {
		snprintf(reply, size, "error: '%s' takes %s", name,
			 commands[i].number ? "one number" : "nothing");
		return;
	}
	rc = commands[i].run(chip, number, text, sizeof(text));
	if (rc)
		snprintf(reply, size, "error: %s: %s", strerror(-rc), text);
	else
		snprintf(reply, size, "ok%s%s", text[0] ? " " : "", text);
}

void control_execute(const char *line, char *reply, size_t size)
{
	char copy[LINE_BYTES], *save;
	char *chip, *name;
	uint64_t index;

	snprintf(copy, sizeof(copy), "%s", line);
	chip = strtok_r(copy, " \r\n", &save);
	name = chip ? strtok_r(NULL, " \r\n", &save) : NULL;
	if (!name || env_parse_u64(chip, &index) || index >= chip_count)
		snprintf(reply, size, "error: give CHIP COMMAND [NUMBER], a chip below %u",
			 chip_count);
	else
		execute(&chips[index], name, strtok_r(NULL, " \r\n", &save), reply, size);
}

/* ---- the socket ---- */

struct client {
	struct watch watch;
	char line[LINE_BYTES];
	size_t length;
};

static struct watch listener = { .fd = -1 };
static struct client clients[MAX_CLIENTS];

static void reply_to(struct client *c)
{
	char reply[LINE_BYTES * 4];
	size_t n;

	control_execute(c->line, reply, sizeof(reply) - 1);
	n = strlen(reply);
	reply[n++] = '\n';
	if (send(c->watch.fd, reply, n, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)n)
		loop_close(&c->watch);
}

/* Longer lines are cut; what is left of them is ignored. */
static void take_byte(struct client *c, char byte)
{
	if (byte != '\n') {
		if (c->length < LINE_BYTES - 1)
			c->line[c->length++] = byte;
		return;
	}
	c->line[c->length] = '\0';
	c->length = 0;
	reply_to(c);
}

static void client_ready(struct watch *w)
{
	struct client *c = list_entry(w, struct client, watch);
	char bytes[LINE_BYTES];
	ssize_t n = recv(w->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n <= 0 && errno != EAGAIN)
		loop_close(w);
	for (ssize_t i = 0; i < n && w->fd >= 0; i++)
		take_byte(c, bytes[i]);
}

static void listener_ready(struct watch *w)
{
	int fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC);

	for (int i = 0; i < MAX_CLIENTS && fd >= 0; i++)
		if (clients[i].watch.fd < 0) {
			clients[i].length = 0;
			if (!loop_add(&clients[i].watch, fd, client_ready))
				return;
		}
	if (fd >= 0)
		close(fd);
}

int control_open(const struct control_options *given, struct vnpu_chip *all, uint32_t count)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int rc = 0, fd;

	options = *given;
	chips = all;
	chip_count = count;
	for (int i = 0; i < MAX_CLIENTS; i++)
		clients[i].watch.fd = -1;
	if (!given->path)
		return 0;
	if (strlen(given->path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, given->path);
	unlink(given->path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, MAX_CLIENTS))
		rc = -errno;
	if (!rc)
		rc = loop_add(&listener, fd, listener_ready);
	if (rc)
		close(fd);
	return rc;
}

void control_close(void)
{
	loop_close(&listener);
	qmp_close();
	for (int i = 0; i < MAX_CLIENTS; i++)
		loop_close(&clients[i].watch);
}
