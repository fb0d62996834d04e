// SPDX-License-Identifier: MIT
/* Small files of sysfs and procfs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "smi.h"

static int path_of(char *path, const char *format, va_list args)
{
	int length = vsnprintf(path, PATH_MAX, format, args);

	return length < 0 || length >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static int read_path(char *buffer, size_t size, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t got;

	if (fd < 0)
		return -errno;
	do {
		got = read(fd, buffer + used, size - 1 - used);
		used += got > 0 ? (size_t)got : 0;
	} while (got > 0 || (got < 0 && errno == EINTR));
	got = got < 0 ? -errno : 0;
	close(fd);
	while (used && buffer[used - 1] == '\n')
		used--;
	buffer[used] = '\0';
	return (int)got;
}

int smi_read(char *buffer, size_t size, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	int rc;

	va_start(args, format);
	rc = path_of(path, format, args);
	va_end(args);
	buffer[0] = '\0';
	return rc ? rc : read_path(buffer, size, path);
}

uint64_t smi_read_number(const char *format, ...)
{
	char path[PATH_MAX], text[32], *end;
	unsigned long long value;
	va_list args;
	int rc;

	va_start(args, format);
	rc = path_of(path, format, args);
	va_end(args);
	if (rc || read_path(text, sizeof(text), path))
		return SMI_NO_NUMBER;
	errno = 0;
	value = strtoull(text, &end, 10);
	return errno || end == text || *end ? SMI_NO_NUMBER : value;
}

int smi_link_name(char *buffer, size_t size, const char *format, ...)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *name;
	va_list args;
	ssize_t length;
	int rc;

	va_start(args, format);
	rc = path_of(path, format, args);
	va_end(args);
	if (rc)
		return rc;
	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return -errno;
	target[length] = '\0';
	name = strrchr(target, '/');
	name = name ? name + 1 : target;
	if (strlen(name) >= size)
		return -ENAMETOOLONG;
	memcpy(buffer, name, strlen(name) + 1);
	return 0;
}

int smi_each(const char *folder, int (*visit)(const char *name, void *arg), void *arg)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int rc = 0;

	if (!dir)
		return -errno;
	while (!rc && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			rc = visit(entry->d_name, arg);
	closedir(dir);
	return rc;
}
