/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "chip/elf_object.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>
#ifdef __aarch64__
#include <sys/auxv.h>
#include <sys/ifunc.h>
#endif

#include "base/guard.h"
#include "base/log.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008u
#endif

#define DYN_IGNORED (DT_LOOS + 0x5350) /* a tag that means nothing to the dynamic linker */
#define PATH_BYTES 256

extern char **environ;

/*
 * Taken around all calls of the dynamic linker. It has a lock of its own, but a
 * call that waits for that one never returns after a crash inside.
 */
static pthread_mutex_t linker_lock = PTHREAD_MUTEX_INITIALIZER;
static bool linker_lost;	/* linker_lock; it crashed, and may hold its lock for ever */

int elf_object_prepare(struct elf_object *object, const void *bytes, size_t size,
		       struct error_record *err)
{
	memset(object, 0, sizeof(*object));
	object->copy = malloc(size ? size : 1);
	if (!object->copy)
		return error_set(err, -ENOMEM, "no memory for a copy of %zu bytes", size);
	memcpy(object->copy, bytes, size);
	return elf_check(object->copy, size, &object->image, err);
}

/* ---- editing the copy ---------------------------------------------------------- */

static unsigned char *edit_at(struct elf_object *o, uint64_t addr, uint64_t bytes)
{
	const unsigned char *p = elf_at(&o->image, addr, bytes);

	return p ? o->copy + (p - o->image.bytes) : NULL;
}

static void edit_dynamic_entry(Elf64_Dyn *d)
{
	switch (d->d_tag) {
	case DT_SONAME:
	case DT_INIT:
	case DT_FINI:
	case DT_INIT_ARRAY:
	case DT_INIT_ARRAYSZ:
	case DT_FINI_ARRAY:
	case DT_FINI_ARRAYSZ:
		d->d_tag = DYN_IGNORED;
		break;
	case DT_FLAGS_1:
		d->d_un.d_val &= ~(Elf64_Xword)(DF_1_NODELETE | DF_1_GLOBAL | DF_1_INITFIRST);
		break;
	}
}

static void edit_dynamic(struct elf_object *o)
{
	const struct elf_range *r = &o->image.dynamic;
	unsigned char *p = edit_at(o, r->addr, r->bytes), *end = p + r->bytes;
	Elf64_Dyn d;

	for (; p < end; p += sizeof(d)) {
		memcpy(&d, p, sizeof(d));
		edit_dynamic_entry(&d);
		memcpy(p, &d, sizeof(d));
	}
}

static void edit_symbols(struct elf_object *o)
{
	const struct elf_range *r = &o->image.symtab;
	unsigned char *p = edit_at(o, r->addr, r->bytes), *end = p + r->bytes;
	Elf64_Sym s;

	for (; p < end; p += sizeof(s)) {
		memcpy(&s, p, sizeof(s));
		if (ELF64_ST_BIND(s.st_info) == STB_GNU_UNIQUE)
			s.st_info = ELF64_ST_INFO(STB_GLOBAL, ELF64_ST_TYPE(s.st_info));
		memcpy(p, &s, sizeof(s));
	}
}

/* ---- a file that the dynamic linker can open -------------------------------------- */

static int write_all(int fd, const unsigned char *bytes, size_t size)
{
	ssize_t n;

	while (size) {
		n = write(fd, bytes, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

/* Kernels before 6.3 do not know the flag; later ones may insist on a decision about execve(). */
static int memory_file(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, MFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * File descriptors are used again, and the dynamic linker compares paths. So a
 * serial number is written into the path in the form of ignored dots and
 * slashes: "./" is 0, ".//" is 1, the lowest digit first.
 */
static int serial_path(char path[PATH_BYTES], const char *fds, int fd)
{
	static atomic_uint serial;
	unsigned int number = atomic_fetch_add(&serial, 1) + 1;
	int used = snprintf(path, PATH_BYTES, "%s/", fds);

	for (; number && used > 0 && used < PATH_BYTES; number >>= 1)
		used += snprintf(path + used, PATH_BYTES - (size_t)used, number & 1 ? ".//" : "./");
	if (used > 0 && used < PATH_BYTES)
		used += snprintf(path + used, PATH_BYTES - (size_t)used, "%d", fd);
	return used > 0 && used < PATH_BYTES ? 0 : -ENAMETOOLONG;
}

static bool may_execute(const char *folder)
{
	struct statvfs fs;

	return !statvfs(folder, &fs) && !(fs.f_flag & ST_NOEXEC);
}

/* Where no descriptor can be opened by path: a file under a random name. */
static int temporary_file(char path[PATH_BYTES])
{
	const char *const folders[] = { getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm" };
	int fd, rc = -ENOENT;
	size_t i;

	for (i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (!folders[i] || !may_execute(folders[i]) ||
		    snprintf(path, PATH_BYTES, "%s/simpler-XXXXXX", folders[i]) >= PATH_BYTES)
			continue;
		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0)
			return fd;
		rc = -errno;
	}
	return rc;
}

/* Returns a descriptor, to be kept until @path was opened; then @path is unlinked if so told. */
static int store(const struct elf_object *o, const char *name, const char *fds,
		 char path[PATH_BYTES], bool *unlink_path)
{
	int rc, fd = access(fds, X_OK) ? -ENOENT : memory_file(name);

	*unlink_path = fd < 0;
	if (fd < 0)
		fd = temporary_file(path);
	if (fd < 0)
		return fd;
	rc = write_all(fd, o->copy, o->image.size);
	if (!rc && !*unlink_path)
		rc = serial_path(path, fds, fd);
	if (!rc)
		return fd;
	if (*unlink_path)
		unlink(path);
	close(fd);
	return rc;
}

/* ---- loading ---------------------------------------------------------------------- */

struct open_call {
	const char *path;
	void *handle;
	char message[256];
};

/* The message starts with the path, which means nothing to anybody. */
static void copy_message(struct open_call *call)
{
	const char *text = dlerror();
	size_t skip = strlen(call->path);

	if (!text)
		text = "no reason given";
	else if (!strncmp(text, call->path, skip) && !strncmp(text + skip, ": ", 2))
		text += skip + 2;
	snprintf(call->message, sizeof(call->message), "%s", text);
}

static void call_dlopen(void *arg)
{
	struct open_call *call = arg;

	call->handle = dlopen(call->path, RTLD_NOW | RTLD_LOCAL);
	if (!call->handle)
		copy_message(call);
}

static int open_locked(struct elf_object *o, const char *path, struct error_record *err)
{
	struct open_call call = { .path = path };
	struct guard_fault fault;
	int rc;

	if (linker_lost)
		return error_set(err, -ELIBBAD, "an earlier object crashed the dynamic linker; "
						"restart the process");
	rc = guard_call(call_dlopen, &call, &fault);
	if (rc < 0)
		return error_set(err, rc, "cannot prepare the thread for a guarded call");
	if (rc) {
		linker_lost = true;
		error_set(err, -ELIBBAD,
			  "signal %d inside the dynamic linker, at 0x%lx on address 0x%lx",
			  fault.signo, fault.pc, fault.addr);
		error_hint(err, "a resolver of an indirect function crashed; restart the process "
				"before loading again");
		return -ELIBBAD;
	}
	if (!call.handle)
		return error_set(err, -ELIBBAD, "the dynamic linker refused: %s", call.message);
	o->handle = call.handle;
	return 0;
}

static int find_base(struct elf_object *o, struct error_record *err)
{
	struct link_map *map;

	if (dlinfo(o->handle, RTLD_DI_LINKMAP, &map))
		return error_set(err, -ELIBBAD,
				 "the dynamic linker does not tell the load address");
	o->base = map->l_addr;
	return 0;
}

static int open_path(struct elf_object *o, const char *path, struct error_record *err)
{
	int rc;

	pthread_mutex_lock(&linker_lock);
	rc = open_locked(o, path, err);
	if (!rc)
		rc = find_base(o, err);
	pthread_mutex_unlock(&linker_lock);
	return rc;
}

int elf_object_open(struct elf_object *object, const char *name, const char *fds,
		    struct error_record *err)
{
	char path[PATH_BYTES];
	bool unlink_path;
	int rc, fd;

	if (object->image.writable_text)
		log_warn("%s: has a segment that is writable and executable", name);
	edit_dynamic(object);
	edit_symbols(object);
	fd = store(object, name, fds, path, &unlink_path);
	if (fd < 0)
		return error_set(err, fd, "cannot store %zu bytes for the dynamic linker: %s",
				 object->image.size, strerror(-fd));
	rc = open_path(object, path, err);
	if (unlink_path)
		unlink(path);
	close(fd);
	return rc;
}

/* ---- addresses ---------------------------------------------------------------------- */

struct resolver_call {
	uintptr_t resolver;
	void *address;
};

/* As the dynamic linker calls it, but without its lock. */
static void call_resolver(void *arg)
{
	struct resolver_call *call = arg;
#ifdef __aarch64__
	const __ifunc_arg_t hw = { sizeof(hw), getauxval(AT_HWCAP), getauxval(AT_HWCAP2) };
	void *(*fn)(uint64_t hwcap, const __ifunc_arg_t *hw) =
		(void *(*)(uint64_t, const __ifunc_arg_t *))call->resolver;

	call->address = fn(hw._hwcap | _IFUNC_ARG_HWCAP, &hw);
#else
	call->address = ((void *(*)(void))call->resolver)();
#endif
}

void *elf_object_address(const struct elf_object *object, const Elf64_Sym *symbol)
{
	struct resolver_call call = { .resolver = object->base + symbol->st_value };

	if (ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC)
		return (void *)call.resolver;
	guard_call(call_resolver, &call, NULL);
	return call.address;
}

/* ---- constructors and destructors ------------------------------------------------------ */

static void call_constructor(void *arg)
{
	static char *no_arguments[] = { NULL };
	void (*fn)(int argc, char **argv, char **envp) =
		(void (*)(int, char **, char **))*(uintptr_t *)arg;

	fn(0, no_arguments, environ);
}

static void call_destructor(void *arg)
{
	((void (*)(void))*(uintptr_t *)arg)();
}

static uintptr_t entry_of(const struct elf_object *o, const struct elf_range *array, uint64_t i)
{
	return *(const uintptr_t *)(o->base + array->addr + i * sizeof(uintptr_t));
}

static int run_constructor(uintptr_t address, struct error_record *err)
{
	struct guard_fault fault;
	int rc = guard_call(call_constructor, &address, &fault);

	if (rc < 0)
		return error_set(err, rc, "cannot prepare the thread for a guarded call");
	if (rc && fault.code == GUARD_CODE_INTERRUPT)
		return error_set(err, -ELIBBAD, "constructor at 0x%lx does not return", address);
	return rc ? error_set(err, -ELIBBAD,
			      "constructor at 0x%lx: signal %d at 0x%lx on address 0x%lx", address,
			      fault.signo, fault.pc, fault.addr)
		  : 0;
}

static int run_constructors(const struct elf_object *o, struct error_record *err)
{
	uint64_t i;
	int rc = o->image.init ? run_constructor(o->base + o->image.init, err) : 0;

	for (i = 0; i < o->image.init_array.bytes / sizeof(uintptr_t) && !rc; i++)
		rc = run_constructor(entry_of(o, &o->image.init_array, i), err);
	return rc;
}

/* Returns false when one crashed: functions of the object may still be registered with exit(). */
static bool run_destructors(const struct elf_object *o)
{
	uint64_t i = o->image.fini_array.bytes / sizeof(uintptr_t);
	uintptr_t address;
	bool ok = true;

	while (i && ok) {
		address = entry_of(o, &o->image.fini_array, --i);
		ok = !guard_call(call_destructor, &address, NULL);
	}
	address = o->base + o->image.fini;
	return ok && (!o->image.fini || !guard_call(call_destructor, &address, NULL));
}

int elf_object_start(struct elf_object *object, struct error_record *err)
{
	object->started = true;
	free(object->copy);
	object->copy = NULL;
	object->image.bytes = NULL;
	return run_constructors(object, err);
}

/* After a crash of the dynamic linker everything stays loaded. */
static void close_handle(void *handle)
{
	pthread_mutex_lock(&linker_lock);
	if (!linker_lost)
		dlclose(handle);
	pthread_mutex_unlock(&linker_lock);
}

void elf_object_close(struct elf_object *object)
{
	if (object->started && !run_destructors(object))
		log_warn("a destructor of an object at 0x%lx crashed or did not return; the object stays loaded",
			 object->base);
	else if (object->handle)
		close_handle(object->handle);
	free(object->copy);
	memset(object, 0, sizeof(*object));
}
