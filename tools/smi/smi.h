/* SPDX-License-Identifier: MIT */
/*
 * simpler-smi: what the chips of this machine are, who uses them, what happens to
 * them.  It reads sysfs and procfs below a root folder, so that tests can hand it
 * recorded trees, and never opens a chip: looking at one does not count as using it.
 */
#ifndef SIMPLER_SMI_H
#define SIMPLER_SMI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct nlmsghdr;

/* Version of the JSON output; raised when a member changes its meaning or goes away. */
#define SMI_SCHEMA_VERSION	1

/* Exit codes; the man page lists them. */
enum smi_exit {
	SMI_OK = 0,
	SMI_FAILED = 1,			/* it was tried and did not work */
	SMI_USAGE = 2,
	SMI_NO_DEVICE = 3,		/* no chip, or not the one asked for */
	SMI_DENIED = 4,			/* permission */
};

#define SMI_NO_NUMBER	UINT64_MAX	/* a value that could not be read */

struct smi_process {
	uint32_t device;		/* N of accelN */
	uint64_t client;		/* drm-client-id */
	pid_t pid;
	char command[32];
	uint64_t busy_ns;
	uint64_t device_bytes;
	uint64_t host_bytes;
	uint64_t pinned_bytes;
	uint64_t streams;
	uint64_t context_state;		/* DRM_SIMPLER_CONTEXT_* */
};

struct smi_device {
	uint32_t number;		/* N of accelN */
	char address[64];		/* on the bus */
	char arch[16];
	char health[16];
	char hw_version[16];
	uint64_t clusters;
	uint64_t memory_total;
	uint64_t memory_used;
	uint64_t temperature_mc;
	uint64_t power_mw;
	uint64_t ecc_corrected;
	uint64_t ecc_uncorrected;
	uint64_t files;
	uint64_t contexts;
	uint64_t streams;
	uint64_t generation;
	uint64_t resets;
};

struct smi_snapshot {
	struct smi_device *devices;	/* by number */
	size_t device_count;
	struct smi_process *processes;	/* by device, then pid */
	size_t process_count;
};

struct smi_options {
	const char *root;		/* of sysfs and procfs, "" for / */
	bool json;
	double watch;			/* seconds between outputs, 0: once */
	unsigned int count;		/* outputs or events, 0: no limit */
	const char *replay;		/* file of netlink messages instead of the kernel */
};

/* file.c */
/** smi_read - contents of a file without the final newline; negative errno */
int smi_read(char *buffer, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/** smi_read_number - SMI_NO_NUMBER if there is none */
uint64_t smi_read_number(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** smi_link_name - last component of what a symbolic link refers to; negative errno */
int smi_link_name(char *buffer, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/** smi_each - call @visit for each entry of a folder until it returns non-zero */
int smi_each(const char *folder, int (*visit)(const char *name, void *arg), void *arg);

/* device.c, process.c */
/**
 * smi_snapshot_take - read all chips and their users
 *
 * Processes that end meanwhile, and those of other users without privilege, are left
 * out.  Return: 0, or a negative errno: -ENOMEM, -EACCES.
 */
int smi_snapshot_take(struct smi_snapshot *snapshot, const char *root);
void smi_snapshot_drop(struct smi_snapshot *snapshot);
int smi_devices_read(struct smi_snapshot *snapshot, const char *root);
int smi_processes_read(struct smi_snapshot *snapshot, const char *root);
const struct smi_device *smi_device_find(const struct smi_snapshot *snapshot, const char *name);

/* print.c */
void smi_print_table(FILE *out, const struct smi_snapshot *now, const struct smi_snapshot *before,
		     double seconds);
void smi_print_json(FILE *out, const struct smi_snapshot *now);
void smi_json_string(FILE *out, const char *text);

/* Commands: one per file; the exit code. @args: what follows the command's name. */
int smi_list(const struct smi_options *options, int argc, char **args);
int smi_events(const struct smi_options *options, int argc, char **args);
int smi_reset(const struct smi_options *options, int argc, char **args);
int smi_module(const struct smi_options *options, int argc, char **args);

/** smi_event_print - one message of the family as a line; false: not an event */
bool smi_event_print(FILE *out, struct nlmsghdr *message, bool json);

#endif /* SIMPLER_SMI_H */
