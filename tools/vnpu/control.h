/* SPDX-License-Identifier: MIT */
/*
 * Control socket: what can happen to a chip.  A client sends lines
 * "CHIP COMMAND [NUMBER]" and gets one line for each, "ok ..." or "error: ...".
 */
#ifndef SIMPLER_VNPU_CONTROL_H
#define SIMPLER_VNPU_CONTROL_H

#include "chip.h"

struct control_options {
	const char *path;		/* of the control socket */
	const char *qmp;		/* QEMU's monitor socket, for unplug and replug; NULL: none */
};

/** control_open - listen at @path; 0 or a negative errno */
int control_open(const struct control_options *options, struct vnpu_chip *chips, uint32_t count);
void control_close(void);

/** control_execute - one line; writes one line without newline to @reply */
void control_execute(const char *line, char *reply, size_t size);

/** qmp_plug - have QEMU take a chip out of the machine, or put it back; 0 or a negative errno */
int qmp_plug(const char *path, const struct vnpu_chip *chip, bool in);
void qmp_close(void);

#endif /* SIMPLER_VNPU_CONTROL_H */
