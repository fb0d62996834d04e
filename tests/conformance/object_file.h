/* SPDX-License-Identifier: MIT */
/* Objects that the build made for the tests. */
#ifndef TESTS_OBJECT_FILE_H
#define TESTS_OBJECT_FILE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* tests/conformance/@folder/@name of a platform ("a2a3sim"); freed by the caller. */
static inline void *object_read(const char *folder, const char *name, const char *platform,
				size_t *size)
{
	const char *dir = getenv("SIMPLER_BUILD_DIR");
	char path[512];
	FILE *file;
	void *data;

	if (!dir)
		fail_msg("SIMPLER_BUILD_DIR is not set: it names the folder with the test kernels");
	snprintf(path, sizeof(path), "%s/tests/conformance/%s/%s-%s.so", dir, folder, name,
		 platform);
	file = fopen(path, "rb");
	if (!file)
		fail_msg("cannot open %s", path);
	fseek(file, 0, SEEK_END);
	*size = (size_t)ftell(file);
	rewind(file);
	data = malloc(*size);
	assert_int_equal(fread(data, 1, *size, file), *size);
	fclose(file);
	return data;
}

#endif /* TESTS_OBJECT_FILE_H */
