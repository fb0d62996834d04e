// SPDX-License-Identifier: MIT
/* simpler-smi list: chips and their users, once or again and again. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "smi.h"

static double now_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Until an absolute time, so that interrupted sleeps do not add up. */
static void sleep_until(double seconds)
{
	struct timespec t = {
		.tv_sec = (time_t)seconds,
		.tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9),
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static int fail(int rc)
{
	fprintf(stderr, "simpler-smi: reading sysfs and procfs: %s\n", strerror(-rc));
	return rc == -EACCES || rc == -EPERM ? SMI_DENIED : SMI_FAILED;
}

static int print(const struct smi_options *o, const struct smi_snapshot *now,
		 const struct smi_snapshot *before, double seconds)
{
	if (o->json)
		smi_print_json(stdout, now);
	else if (now->device_count)
		smi_print_table(stdout, now, before, seconds);
	else
		fputs("simpler-smi: no chip is bound to the driver; try: simpler-smi module\n",
		      stderr);
	if (fflush(stdout))
		return SMI_FAILED;
	return now->device_count ? SMI_OK : SMI_NO_DEVICE;
}

int smi_list(const struct smi_options *o, int argc, char **args)
{
	struct smi_snapshot before = { 0 }, now;
	double last = 0, begin = now_seconds();
	unsigned int i;
	int rc, code = SMI_OK;

	(void)args;
	if (argc)
		return SMI_USAGE;
	for (i = 0; !i || (o->watch > 0 && (!o->count || i < o->count)); i++) {
		double at;

		if (i)
			sleep_until(begin + i * o->watch);
		if (i && !o->json)
			putchar('\n');
		at = now_seconds();
		rc = smi_snapshot_take(&now, o->root);
		if (rc) {
			code = fail(rc);
			break;
		}
		code = print(o, &now, &before, at - last);
		smi_snapshot_drop(&before);
		before = now;
		last = at;
		if (code == SMI_FAILED)
			break;
	}
	smi_snapshot_drop(&before);
	return code;
}
