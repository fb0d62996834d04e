// SPDX-License-Identifier: MIT
/* simpler-smi module: the kernel module that is loaded, and the one that is installed. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <libkmod.h>

#include "smi.h"

#define MODULE	"simpler"

/* ---- loaded ---- */

struct parameters {
	const char *root;
	bool json;
	unsigned int count;
};

static int show_parameter(const char *name, void *arg)
{
	struct parameters *p = arg;
	char value[128];

	if (smi_read(value, sizeof(value), "%s/sys/module/" MODULE "/parameters/%s", p->root, name))
		snprintf(value, sizeof(value), "?");	/* some can be read by root only */
	if (p->json) {
		fputs(p->count ? "," : "", stdout);
		smi_json_string(stdout, name);
		putchar(':');
		smi_json_string(stdout, value);
	} else {
		printf("  %-24s %s\n", name, value);
	}
	p->count++;
	return 0;
}

static void show_parameters(const struct smi_options *o)
{
	struct parameters p = { .root = o->root, .json = o->json };
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%s/sys/module/" MODULE "/parameters", o->root);
	fputs(o->json ? ",\"parameters\":{" : "parameters\n", stdout);
	smi_each(folder, show_parameter, &p);
	fputs(o->json ? "}" : "", stdout);
}

static void show_field(const struct smi_options *o, const char *name, const char *text)
{
	if (o->json) {
		printf(",\"%s\":", name);
		smi_json_string(stdout, text);
	} else {
		printf("%-12s %s\n", name, text);
	}
}

/* A module that is part of the kernel has a folder, but no state. */
static int folder_exists(const char *name, void *arg)
{
	(void)arg;
	return !strcmp(name, MODULE);
}

/* "live", "coming", "going", "builtin", or "not loaded". */
static void load_state(const struct smi_options *o, char state[32])
{
	char folder[PATH_MAX];

	if (!smi_read(state, 32, "%s/sys/module/" MODULE "/initstate", o->root))
		return;
	snprintf(folder, sizeof(folder), "%s/sys/module", o->root);
	snprintf(state, 32, "%s", smi_each(folder, folder_exists, NULL) == 1 ? "builtin" :
									      "not loaded");
}

static bool show_loaded(const struct smi_options *o)
{
	static const char *const files[] = { "version", "srcversion", "refcnt", "taint" };
	char state[32], text[128];
	bool loaded;
	size_t i;

	load_state(o, state);
	loaded = strcmp(state, "not loaded");
	if (o->json)
		printf("{\"schema_version\":%d", SMI_SCHEMA_VERSION);
	show_field(o, "state", state);
	for (i = 0; loaded && i < sizeof(files) / sizeof(files[0]); i++)
		if (!smi_read(text, sizeof(text), "%s/sys/module/" MODULE "/%s", o->root, files[i]))
			show_field(o, files[i], text);
	if (loaded)
		show_parameters(o);
	return loaded;
}

/* ---- installed ---- */

static void show_info(const struct smi_options *o, struct kmod_module *module)
{
	static const char *const keys[] = { "version", "srcversion", "vermagic", "license" };
	struct kmod_list *list = NULL, *entry;
	char name[32];
	size_t i;

	if (kmod_module_get_info(module, &list) < 0)
		return;
	kmod_list_foreach(entry, list) {
		const char *key = kmod_module_info_get_key(entry);

		for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
			if (strcmp(key, keys[i]))
				continue;
			snprintf(name, sizeof(name), "installed_%s", key);
			show_field(o, name, kmod_module_info_get_value(entry));
		}
	}
	kmod_module_info_free_list(list);
}

/* With another root, only the loaded one is looked at: libkmod reads the real /sys. */
static bool show_installed(const struct smi_options *o)
{
	struct kmod_ctx *ctx = *o->root ? NULL : kmod_new(NULL, NULL);
	struct kmod_module *module = NULL;
	const char *path = NULL;

	if (ctx && !kmod_module_new_from_name(ctx, MODULE, &module))
		path = kmod_module_get_path(module);
	if (path) {
		show_field(o, "installed", path);
		show_info(o, module);
	}
	kmod_module_unref(module);
	kmod_unref(ctx);
	return path;
}

int smi_module(const struct smi_options *o, int argc, char **args)
{
	bool loaded, installed;

	(void)args;
	if (argc)
		return SMI_USAGE;
	loaded = show_loaded(o);
	installed = show_installed(o);
	if (o->json)
		fputs("}\n", stdout);
	if (!loaded && !installed)
		fputs("simpler-smi: the module is not installed; see make install-kmod\n", stderr);
	else if (!loaded)
		fputs("simpler-smi: the module is not loaded; try: modprobe " MODULE "\n", stderr);
	if (fflush(stdout))
		return SMI_FAILED;
	return loaded ? SMI_OK : SMI_NO_DEVICE;
}
