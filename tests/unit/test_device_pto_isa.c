// SPDX-License-Identifier: MIT
/*
 * The tile instructions of pto/pto-inst.hpp: runs every check of the objects
 * built from tests/unit/pto_isa/ for both architectures, one test each.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pto_isa/check.h"

#define FOLDER "/tests/unit/pto_isa"

struct check {
	pto_isa_check_run_fn run;
	size_t index;
};

struct list {
	struct CMUnitTest *tests;
	size_t count;
	struct object {
		char name[256];
		pto_isa_check_covered_fn covered;
	} objects[256];
	size_t object_count;
};

static void run_check(void **state)
{
	const struct check *c = *state;
	char msg[1024] = "";

	if (c->run(c->index, msg, sizeof(msg)))
		fail_msg("%s", msg);
}

static void add(struct list *l, const char *object, const char *name, const struct check *check)
{
	struct CMUnitTest *tests = realloc(l->tests, (l->count + 1) * sizeof(*tests));
	struct check *copy = malloc(sizeof(*copy));
	char *text = NULL;

	if (!tests || !copy || asprintf(&text, "%s: %s", object, name) < 0)
		exit(EXIT_FAILURE);
	*copy = *check;
	l->tests = tests;
	l->tests[l->count++] = (struct CMUnitTest){ text, run_check, NULL, NULL, copy };
}

static int add_object(struct list *l, const char *folder, const char *file)
{
	pto_isa_check_name_fn name;
	struct check check = {};
	char *path, object[256];
	struct object *o;
	void *so;

	if (asprintf(&path, "%s/%s", folder, file) < 0)
		exit(EXIT_FAILURE);
	so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	free(path);
	if (!so) {
		fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
	name = (pto_isa_check_name_fn)dlsym(so, PTO_ISA_CHECK_NAME);
	check.run = (pto_isa_check_run_fn)dlsym(so, PTO_ISA_CHECK_RUN);
	snprintf(object, sizeof(object), "%.*s", (int)strcspn(file, "."), file);
	if (l->object_count < sizeof(l->objects) / sizeof(l->objects[0])) {
		o = &l->objects[l->object_count++];
		snprintf(o->name, sizeof(o->name), "%s", object);
		o->covered = (pto_isa_check_covered_fn)dlsym(so, PTO_ISA_CHECK_COVERED);
	}
	for (; name(check.index); check.index++)
		add(l, object, name(check.index), &check);
	return 0;
}

/* Objects in the order of their names, so that runs can be compared. */
static int add_folder(struct list *l, const char *folder)
{
	struct dirent **entries;
	int n = scandir(folder, &entries, NULL, alphasort), err = 0;

	for (int i = 0; i < n; i++) {
		size_t length = strlen(entries[i]->d_name);

		if (length > 3 && !strcmp(entries[i]->d_name + length - 3, ".so"))
			err |= add_object(l, folder, entries[i]->d_name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return err;
}

/* One line per instruction, type, layout, valid region and object for pto_isa/table.py. */
static int write_table(const struct list *l, const char *path)
{
	FILE *f = fopen(path, "w");
	struct pto_isa_covered what;

	if (!f) {
		fprintf(stderr, "%s: %m\n", path);
		return -1;
	}
	for (size_t i = 0; i < l->object_count; i++)
		for (size_t k = 0;; k++) {
			int ok = l->objects[i].covered(k, &what);

			if (ok < 0)
				break;
			fprintf(f, "%s\t%s\t%s\t%s\t%s\t%s\n", what.op, what.type,
				what.layout, what.region, l->objects[i].name,
				ok ? "passed" : "failed");
		}
	return fclose(f);
}

int main(void)
{
	const char *build = getenv("SIMPLER_BUILD_DIR");
	static struct list l;
	char folder[4096];

	snprintf(folder, sizeof(folder), "%s" FOLDER, build ? build : "build");
	if (add_folder(&l, folder) || !l.count) {
		fprintf(stderr, "no instruction checks in %s\n", folder);
		return EXIT_FAILURE;
	}
	const char *table = getenv("SIMPLER_ISA_TABLE");
	int failed = _cmocka_run_group_tests("pto_isa", l.tests, l.count, NULL, NULL);

	if (table && write_table(&l, table))
		failed = EXIT_FAILURE;

	for (size_t i = 0; i < l.count; i++) {
		free((char *)l.tests[i].name);
		free(l.tests[i].initial_state);
	}
	free(l.tests);
	return failed;
}
