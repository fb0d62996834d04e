/* SPDX-License-Identifier: MIT */
/* Kernel objects by content. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "emit_compile.h"

extern char **environ;

#define MAX_FLAGS	24
#define COMPILER_SAID	2000	/* bytes of its messages that are kept */

struct job {
	const struct simpler_kernel_source *s;
	struct pto_diags *d;
	struct pto_text cpp;
	const char *argv[MAX_FLAGS];
	char include[PATH_MAX], arch[32];
	char object[PATH_MAX], source[PATH_MAX], made[PATH_MAX], said[PATH_MAX];
	bool a5;
};

static int fail(struct job *j, int code, const char *hint, const char *what, const char *value)
{
	pto_diag(j->d, NULL, PTO_ERROR, (struct pto_loc){ .at = PTO_NO_PLACE }, hint, "%s '%s'",
		 what, value);
	return code;
}

/* ---- C++ ----------------------------------------------------------------------------------- */

static int assemble(struct job *j)
{
	const struct simpler_kernel_source *s = j->s;
	struct pto_options o = {
		.arch_given = true, .arch = j->a5 ? PTO_ARCH_A5 : PTO_ARCH_A3,
		.level = s->level ? s->level : PTO_LEVEL2, .insert_sync = !s->no_sync,
	};
	struct pto_module *m = pto_parse(s->file, s->text, s->size, &o, j->d);
	int ret = m ? pto_verify(m, &o, j->d) : -EINVAL;

	if (!ret)
		ret = pto_run_passes(m, &o, j->d, NULL);
	if (!ret)
		ret = pto_emit_cpp(m, &o, j->d, &j->cpp);
	if (!ret)
		ret = pto_emit_entry(m, j->d, &j->cpp);
	pto_module_free(m);
	return ret;
}

/* ---- Key ----------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static __thread struct {
	char **names;
	size_t n, room;
	bool failed;
} headers;	/* of the walk in progress in this thread: nftw() hands nothing through */

static int note_header(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)ftw;
	if (type != FTW_F)
		return 0;
	if (headers.n == headers.room) {
		size_t room = headers.room ? 2 * headers.room : 64;
		void *p = realloc(headers.names, room * sizeof(*headers.names));

		if (!p)
			return 1;
		headers.names = p;
		headers.room = room;
	}
	headers.names[headers.n] = strdup(path);
	if (!headers.names[headers.n])
		return 1;
	headers.n++;
	return 0;
}

static int hash_file(struct hash_sha256 *h, const char *path)
{
	char block[8192];
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	hash_sha256_update(h, path, strlen(path) + 1);
	while ((n = read(fd, block, sizeof(block))) > 0)
		hash_sha256_update(h, block, (size_t)n);
	close(fd);
	return n < 0 ? -EIO : 0;
}

static int hash_headers(struct job *j, struct hash_sha256 *h)
{
	int ret = nftw(j->s->include_dir, note_header, 16, FTW_PHYS) ? -ENOENT : 0;
	size_t i;

	qsort(headers.names, headers.n, sizeof(*headers.names), by_name);
	for (i = 0; i < headers.n; i++) {
		ret = ret ? ret : hash_file(h, headers.names[i]);
		free(headers.names[i]);
	}
	free(headers.names);
	memset(&headers, 0, sizeof(headers));
	if (ret)
		fail(j, ret, "pass the folder that contains pto/", "cannot read device headers in",
		     j->s->include_dir);
	return ret;
}

static int make_key(struct job *j, char hex[2 * HASH_SHA256_BYTES + 1])
{
	unsigned char digest[HASH_SHA256_BYTES];
	struct hash_sha256 h;
	unsigned int i;
	int ret;

	hash_sha256_init(&h);
	for (i = 0; j->argv[i]; i++)
		hash_sha256_update(&h, j->argv[i], strlen(j->argv[i]) + 1);
	hash_sha256_update(&h, j->cpp.data, j->cpp.size);
	ret = hash_headers(j, &h);
	hash_sha256_final(&h, digest);
	hash_sha256_hex(digest, hex);
	return ret;
}

/* ---- Cache --------------------------------------------------------------------------------- */

static int cache_dir(const struct simpler_kernel_source *s, char *dir, size_t size)
{
	const char *given = s->cache_dir ? s->cache_dir : getenv("SIMPLER_CACHE_DIR");
	const char *user = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n;

	if (given && *given)
		n = snprintf(dir, size, "%s", given);
	else if (user && *user)
		n = snprintf(dir, size, "%s/simpler/kernels", user);
	else
		n = snprintf(dir, size, "%s/.cache/simpler/kernels", home ? home : "/tmp");

	return n < 0 || (size_t)n + 100 > size ? -ENAMETOOLONG : 0;
}

static int make_dirs(char *dir)
{
	char *p;

	for (p = dir + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		mkdir(dir, 0777);
		*p = '/';
	}
	return mkdir(dir, 0777) && errno != EEXIST ? -errno : 0;
}

/* ---- Compiler ------------------------------------------------------------------------------ */

static bool has_avx2(void)
{
#ifdef __x86_64__
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
	return false;
#endif
}

static void command(struct job *j)
{
	const struct simpler_kernel_source *s = j->s;
	const char *env = getenv("SIMPLER_CXX");
	const char *flags[] = {
		s->compiler ? s->compiler : env ? env : "g++", "-shared", "-fPIC", "-O2",
		"-std=gnu++20", "-fvisibility=hidden", "-Wl,--build-id=sha1", "-w", "-D__CPU_SIM",
		s->cube ? "-D__DAV_CUBE__" : "-D__DAV_VEC__", j->arch, j->include,
		has_avx2() ? "-march=x86-64-v3" : "-Wl,-z,defs", "-Wl,-z,defs",
	};

	snprintf(j->include, sizeof(j->include), "-I%s", s->include_dir);
	snprintf(j->arch, sizeof(j->arch), "-D__NPU_ARCH__=%s", j->a5 ? "3510" : "2201");
	_Static_assert(sizeof(flags) / sizeof(flags[0]) + 4 < MAX_FLAGS, "room for the files");
	memcpy(j->argv, flags, sizeof(flags) - sizeof(flags[0]));
}

static int write_source(const struct job *j)
{
	FILE *f = fopen(j->source, "wb");
	bool ok = f && fwrite(j->cpp.data, 1, j->cpp.size, f) == j->cpp.size;

	if (f && fclose(f))
		ok = false;
	return ok ? 0 : -EIO;
}

static int run(const char *const *argv, const char *said)
{
	posix_spawn_file_actions_t actions;
	int status, ret;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 2, said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ret = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (ret)
		return -ret;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EINVAL;
}

static int report_compiler(struct job *j, int code)
{
	char text[COMPILER_SAID + 1] = "";
	FILE *f = fopen(j->said, "rb");

	if (f) {
		text[fread(text, 1, COMPILER_SAID, f)] = '\0';
		fclose(f);
	}
	return fail(j, code, *text ? text : "is the C++ compiler installed?",
		    "cannot compile the emitted C++ with", j->argv[0]);
}

static int compile(struct job *j)
{
	unsigned int n = 0;
	int ret = write_source(j);

	if (ret)
		return fail(j, ret, NULL, "cannot write", j->source);
	while (j->argv[n])
		n++;
	j->argv[n] = "-o";
	j->argv[n + 1] = j->made;
	j->argv[n + 2] = j->source;
	ret = run(j->argv, j->said);
	if (ret)
		ret = report_compiler(j, ret);
	else if (rename(j->made, j->object))
		ret = fail(j, -errno, NULL, "cannot write", j->object);
	unlink(j->source);
	unlink(j->made);
	unlink(j->said);
	return ret;
}

static int build(struct job *j)
{
	static unsigned int jobs;
	char hex[2 * HASH_SHA256_BYTES + 1], dir[PATH_MAX];
	int ret = cache_dir(j->s, dir, sizeof(dir));
	unsigned int n;

	if (ret)
		return fail(j, ret, "choose a shorter one", "too long a cache folder", "");
	ret = make_dirs(dir);
	if (ret)
		return fail(j, ret, "set SIMPLER_CACHE_DIR", "cannot make folder", dir);
	ret = make_key(j, hex);
	if (ret)
		return ret;
	/* Relaxed, no partner: only the uniqueness of the number matters. */
	n = __atomic_fetch_add(&jobs, 1, __ATOMIC_RELAXED);
	if (snprintf(j->object, sizeof(j->object), "%s/%s.so", dir, hex) >= PATH_MAX ||
	    snprintf(j->source, sizeof(j->source), "%s/%s.%d.%u.cpp", dir, hex, getpid(), n) >=
		    PATH_MAX ||
	    snprintf(j->made, sizeof(j->made), "%s/%s.%d.%u.new", dir, hex, getpid(), n) >=
		    PATH_MAX ||
	    snprintf(j->said, sizeof(j->said), "%s/%s.%d.%u.err", dir, hex, getpid(), n) >=
		    PATH_MAX)
		return fail(j, -ENAMETOOLONG, "choose a shorter one", "too long a cache folder",
			    dir);
	return access(j->object, R_OK) ? compile(j) : 0;
}

int simpler_compile_kernel(const struct simpler_kernel_source *s, char *path, size_t size,
			   struct pto_diags *d)
{
	struct job *j = calloc(1, sizeof(*j));
	int ret;

	if (!j)
		return -ENOMEM;
	j->s = s;
	j->d = d;
	j->a5 = !strcmp(s->platform, "a5sim");
	if (!j->a5 && strcmp(s->platform, "a2a3sim")) {
		ret = fail(j, -EINVAL, "a2a3sim or a5sim", "unknown platform", s->platform);
	} else {
		command(j);
		ret = assemble(j);
	}
	if (!ret)
		ret = build(j);
	if (!ret && (size_t)snprintf(path, size, "%s", j->object) >= size)
		ret = -ENAMETOOLONG;
	pto_text_free(&j->cpp);
	free(j);
	return ret;
}
