/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/guard.h"
#include "base/hash.h"
#include "base/sanitize.h"
#include "callable_build.h"
#include "chip/callable.h"
#include "chip/elf_object.h"

static const struct pto_core_ops ops = { .bytes = sizeof(struct pto_core_ops) };
static const struct chip_target target = { .arch = SIMPLER_HW_ARCH_A2A3, .core_ops = &ops };

static struct blob orch_default, orch_named, kernel_add, kernel_block, kernel_bare;

static int read_objects(void **state)
{
	(void)state;
	orch_default = object_read("orch_default");
	orch_named = object_read("orch_named");
	kernel_add = object_read("kernel_add");
	kernel_block = object_read("kernel_block");
	kernel_bare = object_read("kernel_bare");
	return 0;
}

static int free_objects(void **state)
{
	(void)state;
	free(orch_default.bytes);
	free(orch_named.bytes);
	free(kernel_add.bytes);
	free(kernel_block.bytes);
	free(kernel_bare.bytes);
	return 0;
}

static struct chip_callable *load(const struct blob *b)
{
	struct chip_callable *c;
	struct error_record err;

	error_clear(&err);
	if (chip_callable_load(b->bytes, b->size, &target, &c, &err))
		fail_msg("%d: %s (%s)", err.code, err.text, err.hint);
	return c;
}

/* The default orchestration with one kernel, built and loaded. */
static struct chip_callable *load_kernel(const char *name)
{
	struct blob kernel = object_read(name), b = callable_new(orch_default);
	struct chip_callable *c;

	callable_add(&b, 0, kernel);
	c = load(&b);
	free(kernel.bytes);
	free(b.bytes);
	return c;
}

static void expect_refusal(const struct blob *b, int code, const char *text, const char *hint)
{
	struct chip_callable *c;
	struct error_record err;

	error_clear(&err);
	assert_int_equal(chip_callable_load(b->bytes, b->size, &target, &c, &err), code);
	assert_null(c);
	assert_int_equal(err.code, code);
	if (!strstr(err.text, text) || !strstr(err.hint, hint))
		fail_msg("'%s' / '%s' lacks '%s' / '%s'", err.text, err.hint, text, hint);
}

static void expect_kernel_refusal(const char *name, int code, const char *text, const char *hint)
{
	struct blob kernel = object_read(name), b = callable_new(orch_default);

	callable_add(&b, 9, kernel);
	expect_refusal(&b, code, text, hint);
	free(kernel.bytes);
	free(b.bytes);
}

static unsigned int open_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* Lines of /proc/self/maps that contain @text. */
static unsigned int mappings_of(const char *text)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned int n = 0;
	char line[512];

	while (fgets(line, sizeof(line), f))
		n += strstr(line, text) != NULL;
	fclose(f);
	return n;
}

/* ---- what a loaded callable offers ---------------------------------------------- */

static void orchestration_offers_entry_config_and_bind(void **state)
{
	struct blob b = callable_new(orch_default);
	struct PTO2Runtime rt = { .ops = NULL };
	uint64_t words[3] = { 0 };
	struct chip_callable *c = load(&b);

	(void)state;
	assert_int_equal(c->config(&rt, words, 3).expected_arg_count, 3);
	c->bind(&rt);
	c->entry(&rt, words, 3, 1, 0);
	assert_int_equal(words[0], 1);
	assert_int_equal(words[1], 1);
	assert_int_equal(words[2], 3);
	assert_in_range((uintptr_t)c->entry, c->text_lo, c->text_hi - 1);
	assert_string_equal(c->func_name, "aicpu_orchestration_entry");
	assert_int_equal(c->kernel_count, 0);
	assert_null(chip_callable_kernel(c, 0));
	chip_callable_unload(c);
	free(b.bytes);
}

static void named_entry_needs_neither_config_nor_bind(void **state)
{
	struct blob b = callable_new(orch_named);
	uint64_t words[1] = { 0 };
	struct chip_callable *c;

	(void)state;
	callable_name(&b, "my_entry", "");
	c = load(&b);
	c->entry(NULL, words, 4, 1, 0);
	assert_int_equal(words[0], 5);
	assert_null(c->config);
	assert_null(c->bind);
	chip_callable_unload(c);
	free(b.bytes);
}

static void signature_is_kept_and_counted(void **state)
{
	struct blob b = callable_new(orch_default);
	struct chip_callable *c;

	(void)state;
	memcpy(blob_head(&b)->signature, (int32_t[]){ 1, 3, 2, 0, 0 }, 20);
	blob_head(&b)->sig_count = 5;
	c = load(&b);
	assert_int_equal(c->sig_count, 5);
	assert_int_equal(c->tensor_count, 3);
	assert_memory_equal(c->signature, blob_head(&b)->signature, sizeof(c->signature));
	chip_callable_unload(c);
	free(b.bytes);
}

static void kernels_are_found_by_their_ids(void **state)
{
	struct blob b = callable_new(orch_default);
	struct chip_callable *c;
	int64_t args[3];
	int32_t id;

	(void)state;
	callable_add(&b, 1023, kernel_add);
	callable_add(&b, 3, kernel_block);
	c = load(&b);
	assert_int_equal(c->kernel_count, 2);
	assert_int_equal(c->id_limit, 1024);
	for (id = -1; id < 1026; id++)
		assert_int_equal(chip_callable_kernel(c, id) != NULL, id == 3 || id == 1023);
	assert_ptr_equal(chip_callable_kernel(c, 3), &c->kernels[0]);
	assert_int_equal(c->kernels[0].func_id, 3);
	c->kernels[0].fn(args);
	assert_int_equal(args[0], 7);
	chip_callable_kernel(c, 1023)->fn(args);
	assert_int_equal(args[0], 41);
	assert_in_range((uintptr_t)c->kernels[1].fn, c->kernels[1].text_lo,
			c->kernels[1].text_hi - 1);
	chip_callable_unload(c);
	free(b.bytes);
}

static void kernels_tell_their_name_and_whether_they_may_block(void **state)
{
	struct blob b = callable_new(orch_default);
	struct chip_callable *c;

	(void)state;
	callable_add(&b, 5, kernel_block);
	callable_add(&b, 6, kernel_add);
	c = load(&b);
	assert_string_equal(c->kernels[0].name, "func_5");
	assert_true(c->kernels[0].may_block);
	assert_string_equal(c->kernels[1].name, "add");
	assert_false(c->kernels[1].may_block);
	assert_int_equal(c->kernels[1].samples, 0);
	chip_callable_unload(c);
	free(b.bytes);
}

static void kernels_of_another_architecture_are_refused(void **state)
{
	const struct chip_target a5 = { .arch = SIMPLER_HW_ARCH_A5, .core_ops = &ops };
	struct blob kernel = object_read("kernel_a5"), b = callable_new(orch_default);
	struct chip_callable *c;
	struct error_record err;
	int64_t args[3];

	(void)state;
	expect_kernel_refusal("kernel_a5", -EINVAL, "kernel was compiled for a5, this chip is an a2a3",
			      "__NPU_ARCH__=2201");
	callable_add(&b, 0, kernel);
	error_clear(&err);
	assert_int_equal(chip_callable_load(b.bytes, b.size, &a5, &c, &err), 0);
	c->kernels[0].fn(args);
	assert_int_equal(args[0], 5);
	chip_callable_unload(c);
	free(kernel.bytes);
	free(b.bytes);
}

static void kernels_receive_the_core_services(void **state)
{
	struct chip_callable *c = load_kernel("kernel_add");
	int64_t args[3];

	(void)state;
	c->kernels[0].fn(args);
	assert_int_equal(args[1], sizeof(ops));
	chip_callable_unload(c);
}

static void kernels_may_use_thread_local_storage_and_indirect_functions(void **state)
{
	struct chip_callable *c = load_kernel("kernel_tls");
	int64_t args[2] = { 0, 21 };

	(void)state;
	c->kernels[0].fn(args);
	assert_int_equal(args[0], 6);
	assert_int_equal(args[1], 42);
	chip_callable_unload(c);
}

static void compact_relocations_and_constructors_work(void **state)
{
	struct chip_callable *c = load_kernel("kernel_relr");
	int64_t args[1];

	(void)state;
	c->kernels[0].fn(args);
	assert_int_equal(args[0], 60);
	chip_callable_unload(c);
}

static void build_id_is_the_note_or_a_hash(void **state)
{
	struct blob with = callable_new(orch_default), without = callable_new(orch_named);
	struct elf_image image;
	struct chip_callable *c = load(&with);

	(void)state;
	assert_int_equal(elf_check(orch_default.bytes, orch_default.size, &image, NULL), 0);
	assert_int_equal(image.build_id_bytes, 20);
	assert_memory_equal(&c->build_id, image.build_id, 8);
	chip_callable_unload(c);

	callable_name(&without, "my_entry", "");
	c = load(&without);
	assert_int_equal(c->build_id,
			 hash_fnv1a64(HASH_FNV1A64_INIT, orch_named.bytes, orch_named.size));
	chip_callable_unload(c);
	free(with.bytes);
	free(without.bytes);
}

/* ---- privacy and life of the objects ------------------------------------------------ */

static void expect_private_kernels(const char *name, int64_t first)
{
	struct chip_callable *a = load_kernel(name), *b = load_kernel(name);
	int64_t args[2][3];

	assert_ptr_not_equal(a->kernels[0].object, b->kernels[0].object);
	assert_ptr_not_equal(a->kernels[0].fn, b->kernels[0].fn);
	a->kernels[0].fn(args[0]);
	a->kernels[0].fn(args[0]);
	b->kernels[0].fn(args[1]);
	assert_int_equal(args[0][0], first + 1);
	assert_int_equal(args[1][0], first);
	assert_int_not_equal(args[0][2], args[1][2]);
	chip_callable_unload(a);
	chip_callable_unload(b);
}

static void two_loads_of_a_named_object_share_nothing(void **state)
{
	(void)state;
	expect_private_kernels("kernel_add", 41);
}

static void two_loads_share_no_unique_symbols(void **state)
{
	(void)state;
	expect_private_kernels("kernel_unique", 101);
}

static void two_loads_of_an_orchestration_share_nothing(void **state)
{
	struct blob b = callable_new(orch_default);
	struct chip_callable *one = load(&b), *two = load(&b);
	uint64_t words[3];

	(void)state;
	one->entry(NULL, words, 0, 1, 0);
	two->entry(NULL, words, 0, 1, 0);
	assert_int_equal(words[0], 1);
	chip_callable_unload(one);
	chip_callable_unload(two);
	free(b.bytes);
}

static void the_same_kernel_twice_in_a_callable_is_two_objects(void **state)
{
	struct blob b = callable_new(orch_default);
	struct chip_callable *c;

	(void)state;
	callable_add(&b, 0, kernel_add);
	callable_add(&b, 1, kernel_add);
	c = load(&b);
	assert_ptr_not_equal(c->kernels[0].fn, c->kernels[1].fn);
	chip_callable_unload(c);
	free(b.bytes);
}

static void loading_leaves_no_descriptor_and_unloading_no_mapping(void **state)
{
	unsigned int before = open_descriptors();
	struct chip_callable *c = load_kernel("kernel_add");

	(void)state;
	assert_int_equal(open_descriptors(), before);
	assert_true(mappings_of("memfd:add") > 0);
	assert_true(mappings_of("memfd:aicpu_orchestration_entry") > 0);
	chip_callable_unload(c);
	assert_int_equal(mappings_of("memfd:add"), 0);
	assert_int_equal(mappings_of("memfd:aicpu_orchestration_entry"), 0);
}

/* Returns how often a fresh kernel did not count from its own start. */
static void *load_repeatedly(void *arg)
{
	const struct blob *b = arg;
	uintptr_t wrong = 0;
	int64_t args[3];
	int i;

	for (i = 0; i < 20; i++) {
		struct chip_callable *c;

		if (chip_callable_load(b->bytes, b->size, &target, &c, NULL)) {
			wrong++;
			continue;
		}
		c->kernels[0].fn(args);
		wrong += args[0] != 41;
		chip_callable_unload(c);
	}
	return (void *)wrong;
}

static void threads_load_independently(void **state)
{
	struct blob b = callable_new(orch_default);
	pthread_t threads[3];
	void *wrong;
	size_t i;

	(void)state;
	callable_add(&b, 0, kernel_add);
	for (i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, load_repeatedly, &b), 0);
	for (i = 0; i < 3; i++) {
		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		assert_null(wrong);
	}
	free(b.bytes);
}

static void an_earlier_state_is_gone_after_unloading(void **state)
{
	int64_t args[3];
	int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct chip_callable *c = load_kernel("kernel_add");

		c->kernels[0].fn(args);
		assert_int_equal(args[0], 41);
		chip_callable_unload(c);
	}
}

static void unloading_runs_destructors(void **state)
{
	struct blob b = callable_new(orch_default);
	struct chip_callable *c = load(&b);

	(void)state;
	assert_string_equal(getenv("ORCH_DEFAULT"), "constructed");
	chip_callable_unload(c);
	assert_string_equal(getenv("ORCH_DEFAULT"), "destroyed");
	free(b.bytes);
}

static void unloading_nothing_is_allowed(void **state)
{
	unsigned int before = open_descriptors();

	(void)state;
	chip_callable_unload(NULL);
	assert_int_equal(open_descriptors(), before);
}

/* What elf_object_open() does where /proc is not mounted. */
static void without_proc_an_unlinked_file_serves(void **state)
{
	char folder[] = "/tmp/test-callable-XXXXXX";
	struct elf_object o;
	struct error_record err;
	Elf64_Sym entry;
	int64_t args[3];

	(void)state;
	assert_non_null(mkdtemp(folder));
	setenv("TMPDIR", folder, 1);
	error_clear(&err);
	assert_int_equal(guard_process_init(), 0);
	assert_int_equal(elf_object_prepare(&o, kernel_add.bytes, kernel_add.size, &err), 0);
	assert_true(elf_symbol(&o.image, PTO_KERNEL_SYMBOL, &entry));
	assert_int_equal(elf_object_open(&o, "add", "/nonexistent", &err), 0);
	assert_true(mappings_of(folder) > 0);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(elf_object_start(&o, &err), 0);
	((pto_kernel_fn)elf_object_address(&o, &entry))(args);
	assert_int_equal(args[0], 41);
	elf_object_close(&o);
	guard_process_fini();
	unsetenv("TMPDIR");
}

/* ---- objects that do not serve ---------------------------------------------------------- */

static void missing_entry_names_what_exists(void **state)
{
	struct blob b = callable_new(orch_named);

	(void)state;
	expect_refusal(&b, -ENOENT, "orchestration: no symbol 'aicpu_orchestration_entry'",
		       "my_entry, other_function");
	callable_name(&b, "my_entry", "my_config");
	expect_refusal(&b, -ENOENT, "orchestration: no symbol 'my_config'", "my_entry");
	free(b.bytes);
}

static void functions_of_libraries_are_no_entries(void **state)
{
	struct blob b = callable_new(orch_default);

	(void)state;
	callable_name(&b, "getpid", "");
	expect_refusal(&b, -ENOENT, "no symbol 'getpid'", "aicpu_orchestration_entry");
	free(b.bytes);
}

static void orchestration_is_no_kernel(void **state)
{
	(void)state;
	expect_kernel_refusal("orch_named", -ENOENT, "kernel 9: no symbol 'kernel_entry'",
			      "my_entry");
}

static void undefined_symbols_are_named(void **state)
{
	(void)state;
	expect_kernel_refusal(
		"kernel_undefined", -ELIBBAD,
		"kernel 9: the dynamic linker refused: undefined symbol: no_such_function", "");
}

static void entry_must_be_a_function(void **state)
{
	(void)state;
	expect_kernel_refusal("kernel_data_entry", -EINVAL, "'kernel_entry' (type 1", "");
}

static void variable_of_the_core_services_must_be_writable(void **state)
{
	(void)state;
	expect_kernel_refusal("kernel_const_ops", -EINVAL, "'pto_core_ops_bound' at 0x", "");
}

static void crashing_constructor_is_an_error_and_nothing_stays_loaded(void **state)
{
	(void)state;
	setenv("KERNEL_CRASH", "", 1);
	expect_kernel_refusal("kernel_crash", -ELIBBAD, "kernel 9: constructor at 0x", "");
	assert_string_equal(getenv("KERNEL_CRASH"), "destroyed");
	assert_int_equal(mappings_of("memfd:kernel 9"), 0);
	assert_int_equal(mappings_of("memfd:aicpu_orchestration_entry"), 0);
}

static void crashing_resolver_of_the_entry_is_an_error(void **state)
{
	(void)state;
	expect_kernel_refusal("kernel_entry_crash", -ELIBBAD,
			      "resolver of indirect function 'kernel_entry'", "");
	assert_int_equal(mappings_of("memfd:kernel 9"), 0);
}

static bool refused(const char *name, const char *text)
{
	struct blob kernel = object_read(name), b = callable_new(orch_default);
	struct chip_callable *c;
	struct error_record err;

	error_clear(&err);
	callable_add(&b, 9, kernel);
	return chip_callable_load(b.bytes, b.size, &target, &c, &err) == -ELIBBAD &&
	       strstr(err.text, text);
}

/* In a child: the crash leaves the dynamic linker locked. */
static void crash_inside_the_dynamic_linker_is_an_error_and_ends_loading(void **state)
{
	pid_t child;
	int status;

	(void)state;
	if (SANITIZE_THREAD)
		skip(); /* its own locks around dlopen() are lost, too */
	child = fork();
	if (!child)
		_exit(refused("kernel_resolver_crash", "inside the dynamic linker") &&
				      refused("kernel_block",
					      "an earlier object crashed the dynamic linker")
			      ? 42
			      : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 42);
}

static void full_callable_is_accepted(void **state)
{
	struct blob b = callable_full();

	(void)state;
	chip_callable_unload(load(&b));
	free(b.bytes);
}

static void bytes_at_any_alignment_are_read(void **state)
{
	struct blob b = callable_full();
	unsigned char *shifted = malloc(b.size + 1);
	struct blob odd = { shifted + 1, b.size };

	(void)state;
	memcpy(odd.bytes, b.bytes, b.size);
	chip_callable_unload(load(&odd));
	free(shifted);
	free(b.bytes);
}

/* ---- damage ------------------------------------------------------------------------------- */

static bool in_text(const struct elf_image *m, size_t offset)
{
	unsigned int i;

	for (i = 0; i < m->load_count; i++)
		if ((m->load[i].flags & PF_X) && offset - m->load[i].offset < m->load[i].file_bytes)
			return true;
	return false;
}

/* Would the dynamic linker call into the damaged object? That is beyond what can be checked. */
static bool has_resolver(const unsigned char *bytes, size_t size)
{
	struct elf_image m;
	Elf64_Sym s;

	return !elf_check(bytes, size, &m, NULL) &&
	       ((elf_symbol(&m, "helper", &s) && ELF64_ST_TYPE(s.st_info) == STT_GNU_IFUNC) ||
		(elf_symbol(&m, "kernel_entry", &s) && ELF64_ST_TYPE(s.st_info) == STT_GNU_IFUNC));
}

#define DAMAGES (SANITIZE_THREAD ? 200u : 2000u) /* dlopen() is slow under TSan */

/* The dynamic linker sees what passes. Damaged instructions are left out: nothing runs here. */
static void damaged_kernels_are_refused_or_load(void **state)
{
	struct blob b = callable_new(orch_named);
	unsigned int before = open_descriptors(), loaded = 0, refused = 0, i;
	struct chip_callable *c;
	struct elf_image clean;
	uint64_t random = 1;

	(void)state;
	callable_name(&b, "my_entry", "");
	callable_add(&b, 0, kernel_bare);
	assert_int_equal(elf_check(kernel_bare.bytes, kernel_bare.size, &clean, NULL), 0);
	for (i = 0; i < DAMAGES; i++) {
		size_t at = next_random(&random) % (i & 1 ? 0x1000 : kernel_bare.size);
		size_t bit =
			8 * ((size_t)((unsigned char *)(blob_child(&b, 0) + 1) - b.bytes) + at) +
			i % 8;

		if (in_text(&clean, at))
			continue;
		blob_flip(&b, bit);
		if (!has_resolver((unsigned char *)(blob_child(&b, 0) + 1), kernel_bare.size)) {
			if (chip_callable_load(b.bytes, b.size, &target, &c, NULL))
				refused++;
			else
				loaded++;
			chip_callable_unload(c);
		}
		blob_flip(&b, bit);
	}
	assert_true(refused > DAMAGES / 10);
	assert_true(loaded > DAMAGES / 10);
	assert_int_equal(open_descriptors(), before);
	assert_int_equal(mappings_of("memfd:"), 0);
	free(b.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orchestration_offers_entry_config_and_bind),
		cmocka_unit_test(named_entry_needs_neither_config_nor_bind),
		cmocka_unit_test(signature_is_kept_and_counted),
		cmocka_unit_test(kernels_are_found_by_their_ids),
		cmocka_unit_test(kernels_tell_their_name_and_whether_they_may_block),
		cmocka_unit_test(kernels_of_another_architecture_are_refused),
		cmocka_unit_test(kernels_receive_the_core_services),
		cmocka_unit_test(kernels_may_use_thread_local_storage_and_indirect_functions),
		cmocka_unit_test(compact_relocations_and_constructors_work),
		cmocka_unit_test(build_id_is_the_note_or_a_hash),
		cmocka_unit_test(two_loads_of_a_named_object_share_nothing),
		cmocka_unit_test(two_loads_share_no_unique_symbols),
		cmocka_unit_test(two_loads_of_an_orchestration_share_nothing),
		cmocka_unit_test(the_same_kernel_twice_in_a_callable_is_two_objects),
		cmocka_unit_test(loading_leaves_no_descriptor_and_unloading_no_mapping),
		cmocka_unit_test(threads_load_independently),
		cmocka_unit_test(an_earlier_state_is_gone_after_unloading),
		cmocka_unit_test(unloading_runs_destructors),
		cmocka_unit_test(unloading_nothing_is_allowed),
		cmocka_unit_test(without_proc_an_unlinked_file_serves),
		cmocka_unit_test(missing_entry_names_what_exists),
		cmocka_unit_test(functions_of_libraries_are_no_entries),
		cmocka_unit_test(orchestration_is_no_kernel),
		cmocka_unit_test(undefined_symbols_are_named),
		cmocka_unit_test(entry_must_be_a_function),
		cmocka_unit_test(variable_of_the_core_services_must_be_writable),
		cmocka_unit_test(crashing_constructor_is_an_error_and_nothing_stays_loaded),
		cmocka_unit_test(crashing_resolver_of_the_entry_is_an_error),
		cmocka_unit_test(crash_inside_the_dynamic_linker_is_an_error_and_ends_loading),
		cmocka_unit_test(full_callable_is_accepted),
		cmocka_unit_test(bytes_at_any_alignment_are_read),
		cmocka_unit_test(damaged_kernels_are_refused_or_load),
	};

	return cmocka_run_group_tests(tests, read_objects, free_objects);
}
