/* SPDX-License-Identifier: MIT */
/* Arguments, passes, and the result line. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "results.h"

static const char *program_name = "program";

void prog_die(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "%s: FAILED: ", program_name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

void prog_table_line(const char *what, const char *fmt, ...)
{
	va_list ap;

	printf("  %-14s", what);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

bool prog_api_is(const struct prog_session *s, const char *name)
{
	return !strcmp(s->api, name);
}

unsigned int prog_passes(const struct prog_session *s)
{
	return s->totals->passes;
}

/* ---- arguments ------------------------------------------------------------------ */

static void usage(const struct prog *p)
{
	printf("usage: %s --platform a2a3sim|a5sim [--api NAME] [--report] [--repeat N] [--seed N]\n"
	       "APIs of this program:", p->name);
	for (const char *const *api = p->apis; *api; api++)
		printf(" %s", *api);
	printf("\nEnvironment: SIMPLER_BUILD_DIR, SIMPLER_ENGINE_THREADS, SIMPLER_ENGINE_INLINE\n");
}

static uint64_t number(const char *option, const char *text)
{
	char *end;
	unsigned long long v = strtoull(text, &end, 0);

	if (!*text || *end || *text == '-')
		prog_die("%s %s: not a number", option, text);
	return v;
}

static void parse_value(struct prog_options *o, const char *option, const char *value)
{
	if (!value)
		prog_die("%s needs a value", option);
	if (!strcmp(option, "--platform"))
		o->platform = value;
	else if (!strcmp(option, "--api"))
		o->api = value;
	else if (!strcmp(option, "--repeat"))
		o->repeat = (unsigned int)number(option, value);
	else if (!strcmp(option, "--seed"))
		o->seed = number(option, value);
	else
		prog_die("unknown option %s; --help lists them", option);
}

static void parse(int argc, char **argv, const struct prog *p, struct prog_options *o)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help")) {
			usage(p);
			exit(0);
		}
		if (!strcmp(argv[i], "--report"))
			o->report = true;
		else
			parse_value(o, argv[i], argv[i + 1]), i++;
	}
}

/* ---- passes ------------------------------------------------------------------------ */

/* What the environment said before the passes changed it; NULL: nothing. */
struct engine {
	const char *threads;
	const char *inline_tasks;
};

static void set_env(const char *name, const char *value)
{
	if (value ? setenv(name, value, 1) : unsetenv(name))
		prog_die("setenv %s failed", name);
}

static void open_worker(struct prog_session *s)
{
	struct simpler_error e;

	if (simpler_worker_create(2, &s->worker))
		prog_die("no memory for a Worker");
	if (simpler_worker_set_platform(s->worker, s->options->platform) ||
	    simpler_worker_set_runtime(s->worker, "tensormap_and_ringbuffer") ||
	    simpler_worker_init(s->worker, NULL)) {
		simpler_worker_last_error(s->worker, &e);
		prog_die("Worker on %s: %s (%d): %s", s->options->platform, e.name, e.code, e.text);
	}
}

static void close_worker(struct prog_session *s)
{
	struct simpler_error e;

	calls_release(s);
	if (simpler_worker_destroy(s->worker)) {
		simpler_worker_last_error(s->worker, &e);
		prog_die("close: %s (%d): %s", e.name, e.code, e.text);
	}
	s->worker = NULL;
	blocks_release(s);
}

static void pass(struct prog_session *s, const struct engine *engine, const char *api)
{
	set_env("SIMPLER_ENGINE_THREADS", engine->threads);
	set_env("SIMPLER_ENGINE_INLINE", engine->inline_tasks);
	s->api = api;
	open_worker(s);
	if (s->options->report && s->prog->report)
		s->prog->report(s);
	else
		s->prog->check(s);
	close_worker(s);
	s->totals->passes++;
}

static bool api_chosen(const struct prog_session *s, const char *api)
{
	return !s->options->api || !strcmp(s->options->api, api);
}

static void passes_on(struct prog_session *s, const struct engine *engine)
{
	for (const char *const *api = s->prog->apis; *api; api++)
		if (api_chosen(s, *api))
			pass(s, engine, *api);
}

/* One thread that executes tasks at once is the reference of all other ways. */
static void all_passes(struct prog_session *s, const struct engine *given)
{
	passes_on(s, &(struct engine){ "1", given->inline_tasks ? given->inline_tasks : "1" });
	if (given->inline_tasks) {
		passes_on(s, given);
		return;
	}
	passes_on(s, &(struct engine){ given->threads, "0" });
	passes_on(s, &(struct engine){ given->threads, "1" });
}

static void print_result(const struct prog_session *s, const struct engine *given)
{
	const struct prog_totals *t = s->totals;

	printf("%s: ok on %s (%s engine threads): %u passes, %u results equal to the golden and between passes, max error %.2g abs %.2g rel, %llu tasks in %llu runs, %.2f us per task\n",
	       s->prog->name, s->options->platform, given->threads ? given->threads : "default",
	       t->passes, t->compared, t->worst.max_abs, t->worst.max_rel,
	       (unsigned long long)t->tasks, (unsigned long long)t->runs,
	       t->tasks ? (double)t->run_ns / 1e3 / (double)t->tasks : 0.0);
	/* the same on every platform of an architecture */
	printf("%s: digest %016llx\n", s->prog->name, (unsigned long long)totals_digest(t));
}

static bool has_api(const struct prog *p, const char *name)
{
	for (const char *const *api = p->apis; *api; api++)
		if (!name || !strcmp(*api, name))
			return true;
	return false;
}

int prog_main(int argc, char **argv, const struct prog *p)
{
	struct prog_options o = { .platform = "a2a3sim", .seed = 1 };
	struct prog_totals totals = { 0 };
	struct prog_session s = { .prog = p, .options = &o, .totals = &totals };
	struct engine given;

	program_name = p->name;
	parse(argc, argv, p, &o);
	if (!has_api(p, o.api)) {
		printf("%s: skipped: it has no orchestration in the API '%s'\n", p->name, o.api);
		return PROG_SKIP;
	}
	given.threads = getenv("SIMPLER_ENGINE_THREADS");
	given.inline_tasks = getenv("SIMPLER_ENGINE_INLINE");
	given.threads = given.threads ? strdup(given.threads) : NULL;
	given.inline_tasks = given.inline_tasks ? strdup(given.inline_tasks) : NULL;
	if (o.report && p->report)
		pass(&s, &given, o.api ? o.api : p->apis[0]);
	else
		for (unsigned int i = 0; i < (o.repeat ? o.repeat : 1); i++)
			all_passes(&s, &given);
	if (!o.report || !p->report)
		print_result(&s, &given);
	totals_release(&totals);
	free((char *)given.threads);
	free((char *)given.inline_tasks);
	return 0;
}
