// SPDX-License-Identifier: MIT
/*
 * The headers that orchestrations and kernels are compiled against, by what a
 * runtime gets to see: sources of all generations are compiled by the compilers
 * of the machine, loaded, and run on a runtime that writes down the calls.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "orch_headers/fake.h"

#define SOURCES "tests/unit/orch_headers"
#define FLAGS "-Wall -Wextra -Werror -shared -fPIC -O1 -fvisibility=hidden " \
	      "-Ilibsimpler/device/include"
#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

static char folder[] = "/tmp/orch-headers-XXXXXX";

/* Each source is run as built by each of these. */
static const struct build {
	const char *compiler, *flags;
} builds[] = {
	{ "g++", "-std=gnu++17" },
	{ "g++", "-std=c++23 -D__NPU_ARCH__=3510" },
	{ "clang++", "-std=c++20" },
};

static const char *const sources[] = { "generated", "older", "collector", "current", "kernel" };
static void *objects[LENGTH(builds)][LENGTH(sources)];

struct expectation {
	const char *source, *symbol, *calls;
};

#include "orch_headers/expected.h"

static bool have(const char *compiler)
{
	char command[64];

	snprintf(command, sizeof(command), "command -v %s >/dev/null", compiler);
	return !system(command);
}

/* Runs the compiler with its messages in folder/log; 0 if it succeeded. */
static int compile(const struct build *b, const char *arguments)
{
	char command[1024];

	snprintf(command, sizeof(command), "%s %s %s %s 2>%s/log", b->compiler, b->flags, FLAGS,
		 arguments, folder);
	return system(command);
}

static void read_log(char *text, size_t size)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/log", folder);
	f = fopen(path, "r");
	text[f ? fread(text, 1, size - 1, f) : 0] = 0;
	if (f)
		fclose(f);
}

static void *build_and_load(size_t build, const char *source)
{
	char arguments[256], path[128], text[4096];
	void *object;

	snprintf(path, sizeof(path), "%s/%s-%zu.so", folder, source, build);
	snprintf(arguments, sizeof(arguments), SOURCES "/%s.cpp -o %s", source, path);
	if (compile(&builds[build], arguments)) {
		read_log(text, sizeof(text));
		fail_msg("%s does not compile with %s %s:\n%s", source, builds[build].compiler,
			 builds[build].flags, text);
	}
	object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!object)
		fail_msg("%s", dlerror());
	return object;
}

static int build_all(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	for (size_t b = 0; b < LENGTH(builds); b++)
		for (size_t s = 0; s < LENGTH(sources) && have(builds[b].compiler); s++)
			objects[b][s] = build_and_load(b, sources[s]);
	return 0;
}

static int remove_all(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static void *object_of(size_t build, const char *source)
{
	size_t s = 0;

	while (strcmp(sources[s], source))
		s++;
	return objects[build][s];
}

static void *symbol_of(void *object, const char *symbol)
{
	void *p = dlsym(object, symbol);

	if (!p)
		fail_msg("%s", dlerror());
	return p;
}

static void bind(void *object)
{
	((pto_orch_bind_fn)symbol_of(object, PTO_ORCH_BIND_SYMBOL))(&fake.rt);
}

static void run_entry(void *object, const char *symbol, bool with_sites)
{
	static const uint64_t words[3] = { 0x1000, 0x2000, 0x3000 };

	fake_start(with_sites);
	bind(object);
	((pto_orch_entry_fn)symbol_of(object, symbol))(&fake.rt, words, 3, 3, 0);
}

static void makes_expected_calls(void **state)
{
	const struct expectation *e = *state;
	size_t ran = 0;

	for (size_t b = 0; b < LENGTH(builds); b++) {
		void *object = object_of(b, e->source);

		if (!object)
			continue;
		run_entry(object, e->symbol, strstr(e->symbol, "tell_where") != NULL);
		if (strcmp(fake.text, e->calls))
			fail_msg("%s %s\n--- expected\n%s--- got\n%s", builds[b].compiler,
				 builds[b].flags, e->calls, fake.text);
		ran++;
	}
	assert_true(ran);
}

static void config_gives_the_expected_argument_count(void **state)
{
	(void)state;
	for (size_t b = 0; b < LENGTH(builds); b++) {
		void *object = object_of(b, "generated");
		struct PTO2OrchestrationConfig config;
		pto_orch_config_fn fn;

		if (!object)
			continue;
		fn = (pto_orch_config_fn)symbol_of(object, "aicpu_orchestration_config");
		config = fn(&fake.rt, NULL, 0);
		assert_int_equal(config.expected_arg_count, 3);
		assert_int_equal(config.heap_size, 0);
	}
}

static void objects_do_not_share_the_current_runtime(void **state)
{
	void *older = object_of(0, "older"), *current = object_of(0, "current");
	struct PTO2Runtime other;

	(void)state;
	fake_start(false);
	other = fake.rt;
	((pto_orch_bind_fn)symbol_of(older, PTO_ORCH_BIND_SYMBOL))(&other);
	bind(current);
	other.scope_depth = 5;
	other.scope_serial = 77;
	fake.length = 0;
	((pto_orch_entry_fn)symbol_of(older, "earliest_tensors_have_a_byte_size"))(
		&other, (uint64_t[]){ 1, 2, 3 }, 3, 3, 0);
	fake.length = 0;
	((pto_orch_entry_fn)symbol_of(older, "a_view_gives_a_declared_tensor_its_memory"))(
		&other, (uint64_t[]){ 1, 2, 3 }, 3, 3, 0);
	assert_non_null(strstr(fake.text, "materialize depth 5 scope 77 size 256\n"));
}

/* What must not compile, and what the compiler has to say about it. */
static const struct {
	const char *code, *message;
} refused[] = {
	{ "rt_submit_aiv_task(0, x).get_ref(0);", "get_ref" },
	{ "x.add_input(make_tensor({ 1 }, 1));", "named ChipTensor" },
	{ "x.add_output(TensorCreateInfo({ 1 }, 1));", "named TensorCreateInfo" },
	{ "x.add_output(t, ci);", "all tensors or all TensorCreateInfos" },
	{ "x.add_scalar(&t);", "number or an enumerator" },
	{ "CoreTaskArgs y = x;", "delete" },
	{ "(void)make_input_param(t.view({ 1 }, { 0 }));", "delete" },
	{ "LOG_INFO(\"%s\", 1);", "format" },
	{ "LOG_INFO(rt, \"%d\", 1.0);", "format" },
	{ "(void)t.view({ 1.5 }, { 0 });", "view" },
};

static int compile_statement(size_t build, const char *code)
{
	char path[64], arguments[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/statement.cpp", folder);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "#include \"pto_orchestration_api.h\"\n"
		   "void f(PTO2Runtime *rt, Tensor &t, TensorCreateInfo &ci, CoreTaskArgs &x)\n"
		   "{\n\t(void)rt, (void)t, (void)ci, (void)x;\n\t%s\n}\n", code);
	fclose(f);
	snprintf(arguments, sizeof(arguments), "%s -o %s/statement.so", path, folder);
	return compile(&builds[build], arguments);
}

static void misuse_does_not_compile(void **state)
{
	char text[65536];

	(void)state;
	for (size_t b = 0; b < LENGTH(builds); b += 2) {
		if (!have(builds[b].compiler))
			continue;
		assert_int_equal(compile_statement(b, "x.add_input(t);"), 0);
		for (size_t i = 0; i < LENGTH(refused); i++) {
			if (!compile_statement(b, refused[i].code))
				fail_msg("%s accepts %s", builds[b].compiler, refused[i].code);
			read_log(text, sizeof(text));
			if (!strstr(text, refused[i].message))
				fail_msg("%s: no \"%s\" in\n%s", refused[i].code,
					 refused[i].message, text);
		}
	}
}

/* Argument words of a kernel with its contexts. */
struct words {
	int64_t args[PTO_KERNEL_ARGS];
	struct pto_local_context local;
	struct pto_global_context global;
	struct pto_async_condition conditions[PTO_ASYNC_CONDITIONS];
	uint32_t count;
	int32_t error;
};

static void words_init(struct words *w)
{
	*w = (struct words){ .local = { .block_idx = 3, .block_num = 7 },
			     .global = { .sub_block_id = 1, .dma_workspace = { 0x1000, 0 } } };
	w->local.async = (struct pto_async_ctx){ .count = &w->count, .error = &w->error,
						 .entries = w->conditions,
						 .capacity = PTO_ASYNC_CONDITIONS };
	w->args[PTO_LOCAL_CONTEXT] = (int64_t)(uintptr_t)&w->local;
	w->args[PTO_GLOBAL_CONTEXT] = (int64_t)(uintptr_t)&w->global;
}

static void kernels_read_tensors_through_descriptors(void **state)
{
	float in[2][8], out[2][4] = { 0 };
	struct pto_tensor from = { .addr = (uintptr_t)in, .start_offset = 2, .ndims = 2,
				   .shapes = { 2, 4 }, .strides = { 8, 1 } };
	struct pto_tensor to = { .addr = (uintptr_t)out, .ndims = 2, .shapes = { 2, 4 },
				 .strides = { 4, 1 } };
	struct words w;

	(void)state;
	for (int i = 0; i < 16; i++)
		in[i / 8][i % 8] = i;
	for (size_t b = 0; b < LENGTH(builds); b++) {
		void *object = object_of(b, "kernel");

		if (!object)
			continue;
		memset(out, 0, sizeof(out));
		words_init(&w);
		w.args[0] = (int64_t)(uintptr_t)&from;
		w.args[1] = (int64_t)(uintptr_t)&to;
		((pto_kernel_fn)symbol_of(object, PTO_KERNEL_SYMBOL))(w.args);
		for (int r = 0; r < 2; r++)
			for (int c = 0; c < 4; c++)
				assert_true(out[r][c] == 2 * in[r][c + 2]);
	}
}

static void kernels_know_their_block(void **state)
{
	static const int32_t expected[8] = { 3, 7, 1, 1, 1, 1, 1, 1 };
	struct words w;
	int32_t out[8];

	(void)state;
	for (size_t b = 0; b < LENGTH(builds); b++) {
		void *object = object_of(b, "kernel");

		if (!object)
			continue;
		words_init(&w);
		((void (*)(int64_t *, int32_t *))symbol_of(object, "coordinates"))(w.args, out);
		assert_memory_equal(out, expected, sizeof(out));
	}
}

static void a_65th_completion_condition_fails_with_102(void **state)
{
	struct words w;
	int (*fn)(int64_t *, int) = (int (*)(int64_t *, int))symbol_of(object_of(0, "kernel"),
								      "register_conditions");

	(void)state;
	words_init(&w);
	assert_int_equal(fn(w.args, 64), 64);
	assert_int_equal(w.count, 64);
	assert_int_equal(w.error, 0);
	assert_int_equal(w.conditions[0].addr, 0x40);
	assert_int_equal(w.conditions[0].type, 1);
	assert_int_equal(w.conditions[63].addr, 0x80);
	assert_int_equal(w.conditions[63].expected_value, 3);
	assert_int_equal(w.conditions[63].type, 0);
	assert_int_equal(fn(w.args, 1), 0);
	assert_int_equal(w.count, 64);
	assert_int_equal(w.error, 102);
}

int main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(config_gives_the_expected_argument_count),
		cmocka_unit_test(objects_do_not_share_the_current_runtime),
		cmocka_unit_test(misuse_does_not_compile),
		cmocka_unit_test(kernels_read_tensors_through_descriptors),
		cmocka_unit_test(kernels_know_their_block),
		cmocka_unit_test(a_65th_completion_condition_fails_with_102),
	};
	static struct CMUnitTest tests[LENGTH(expectations) + LENGTH(others)];

	for (size_t i = 0; i < LENGTH(expectations); i++)
		tests[i] = (struct CMUnitTest){ .name = expectations[i].symbol,
						.test_func = makes_expected_calls,
						.initial_state = (void *)&expectations[i] };
	memcpy(&tests[LENGTH(expectations)], others, sizeof(others));
	return cmocka_run_group_tests(tests, build_all, remove_all);
}
