/* SPDX-License-Identifier: MIT */
/*
 * From .pto text to a kernel object of a simulated chip: assembles, compiles with the host's C++
 * compiler, keeps the results in a cache by content.
 */
#ifndef PTOAS_EMIT_COMPILE_H
#define PTOAS_EMIT_COMPILE_H

#include "ptoas.h"

struct simpler_kernel_source {
	const char *file;		/* name for diagnostics */
	const char *text;		/* .pto */
	size_t size;
	const char *platform;		/* "a2a3sim" or "a5sim" */
	bool cube;			/* for the cube core; else for vector cores */
	enum pto_level level;		/* 0: level2 */
	bool no_sync;			/* as --enable-insert-sync absent */
	const char *include_dir;	/* device headers */
	const char *compiler;		/* NULL: $SIMPLER_CXX, else g++ */
	const char *cache_dir;		/* NULL: $SIMPLER_CACHE_DIR, or in the user's cache */
};

/**
 * pto_emit_entry() - "kernel_entry" for the module's entry function, appended to @out
 *
 * What a chip calls: unpacks tensors, then scalars, in the order of the function's arguments.
 * Behind pto_emit_cpp(). Section 9.11.
 */
int pto_emit_entry(struct pto_module *m, struct pto_diags *d, struct pto_text *out);

/**
 * simpler_compile_kernel() - kernel object of a .pto text
 * @s: what to compile, and with what
 * @path: receives the path of the object inside the cache, at most @size bytes
 * @d: what is wrong with the text, or what the compiler said
 *
 * The cache's key is a digest of the emitted C++, of all device headers and of the command; an
 * object of that key is used without compiling. Objects appear complete (written aside, renamed),
 * so any number of processes and threads may share a cache.
 *
 * Return: 0, or a negative code with the reason in @d.
 */
int simpler_compile_kernel(const struct simpler_kernel_source *s, char *path, size_t size,
			   struct pto_diags *d);

#endif
