/* SPDX-License-Identifier: MIT */
/* Every public function that returns a code, with each of its pointers NULL in turn. */
#include "simpler/rts.h"
#include "worker_fixture.h"

struct session {
	struct simpler_worker *w;
	struct simpler_callable_handle f;
	struct simpler_chip_callable *chip;
	struct simpler_core_callable *core;
	struct simpler_location *location;
	struct simpler_task_args *args;
	struct simpler_buffer *device, *host;
	struct simpler_tensor tensor;
	struct simpler_buffer_desc desc;
	struct simpler_device *d;
	struct simpler_context *c;
	struct simpler_stream *stream;
	struct simpler_event *event;
	char blob[1024];
};

static struct session s;

/* What the calls below write to; each must be refused before. */
static struct simpler_worker *no_worker;
static struct simpler_buffer *no_buffer;
static struct simpler_location *no_location;
static struct simpler_run *no_run;
static struct simpler_task_args *no_args;
static struct simpler_core_callable *no_core;
static struct simpler_chip_callable *no_chip;
static struct simpler_device *no_device;
static struct simpler_context *no_context;
static struct simpler_stream *no_stream;
static struct simpler_event *no_event;
static struct simpler_callable_handle no_handle;

static const struct simpler_view view = {
	.dtype = SIMPLER_FLOAT32, .ndims = 1, .shapes = (const uint64_t[]){ 1 },
};
static const struct simpler_view view_without_shapes = { .dtype = SIMPLER_FLOAT32, .ndims = 1 };
static const int32_t signature[] = { SIMPLER_DIR_IN };
static const struct simpler_chip_spec no_signature = {
	.sig_count = 1, .func_name = "f", .binary = "x", .binary_bytes = 1,
};
static const struct simpler_chip_spec no_children = {
	.child_count = 1, .func_name = "f", .binary = "x", .binary_bytes = 1,
};

struct call {
	const char *text;
	int (*run)(void);
};

#define CALL(name, expression) static int name(void) { return expression; }

/* X(name, call) */
#define WORKER_CALLS(X) \
	X(create, simpler_worker_create(2, NULL)) \
	X(open_out, simpler_worker_open("a2a3sim", "tensormap_and_ringbuffer", 0, NULL)) \
	X(platform, simpler_worker_set_platform(NULL, "a2a3sim")) \
	X(runtime, simpler_worker_set_runtime(NULL, "tensormap_and_ringbuffer")) \
	X(device_id, simpler_worker_set_device_id(NULL, 0)) \
	X(sdma, simpler_worker_set_enable_sdma(NULL, true)) \
	X(budget, simpler_worker_set_workspace_budget(NULL, 4096)) \
	X(init, simpler_worker_init(NULL, NULL)) \
	X(close_worker, simpler_worker_close(NULL, NULL)) \
	X(location, simpler_worker_location(NULL, &no_location)) \
	X(location_out, simpler_worker_location(s.w, NULL)) \
	X(reg, simpler_worker_register(NULL, s.chip, &no_handle)) \
	X(reg_out, simpler_worker_register(s.w, s.chip, NULL)) \
	X(reg_wait, simpler_worker_register_wait(NULL, s.chip, NULL, &no_handle)) \
	X(unreg, simpler_worker_unregister(NULL, &s.f)) \
	X(unreg_handle, simpler_worker_unregister(s.w, NULL)) \
	X(alloc, simpler_worker_malloc(NULL, 64, &no_buffer)) \
	X(alloc_out, simpler_worker_malloc(s.w, 64, NULL)) \
	X(release, simpler_worker_free(NULL, s.device)) \
	X(release_buffer, simpler_worker_free(s.w, NULL)) \
	X(shared, simpler_worker_create_buffer(NULL, 64, &no_buffer)) \
	X(shared_out, simpler_worker_create_buffer(s.w, 64, NULL)) \
	X(wrap, simpler_worker_wrap_host(NULL, &s, 64, SIMPLER_ACCESS_READ, &no_buffer)) \
	X(wrap_data, simpler_worker_wrap_host(s.w, NULL, 64, SIMPLER_ACCESS_READ, &no_buffer)) \
	X(wrap_out, simpler_worker_wrap_host(s.w, &s, 64, SIMPLER_ACCESS_READ, NULL)) \
	X(to, simpler_worker_copy_to(NULL, s.device, s.host, NULL)) \
	X(to_dst, simpler_worker_copy_to(s.w, NULL, s.host, NULL)) \
	X(to_src, simpler_worker_copy_to(s.w, s.device, NULL, NULL)) \
	X(from, simpler_worker_copy_from(NULL, s.host, s.device, NULL)) \
	X(from_dst, simpler_worker_copy_from(s.w, NULL, s.device, NULL)) \
	X(from_src, simpler_worker_copy_from(s.w, s.host, NULL, NULL)) \
	X(to_raw, simpler_worker_copy_to_raw(NULL, s.device, s.blob, 8, NULL)) \
	X(to_raw_dst, simpler_worker_copy_to_raw(s.w, NULL, s.blob, 8, NULL)) \
	X(from_raw, simpler_worker_copy_from_raw(NULL, s.blob, 8, s.device, NULL)) \
	X(from_raw_src, simpler_worker_copy_from_raw(s.w, s.blob, 8, NULL, NULL)) \
	X(run, simpler_worker_run(NULL, &s.f, s.args, NULL, NULL)) \
	X(run_handle, simpler_worker_run(s.w, NULL, s.args, NULL, NULL)) \
	X(submit, simpler_worker_submit(NULL, &s.f, s.args, NULL, NULL, &no_run)) \
	X(submit_handle, simpler_worker_submit(s.w, NULL, s.args, NULL, NULL, &no_run)) \
	X(submit_out, simpler_worker_submit(s.w, &s.f, s.args, NULL, NULL, NULL)) \
	X(run_wait, simpler_run_wait(NULL, NULL))

#define VALUE_CALLS(X) \
	X(desc_check, simpler_buffer_desc_check(NULL, NULL)) \
	X(bwrap, simpler_buffer_wrap(4096, 64, NULL, SIMPLER_ACCESS_READ, &no_buffer, NULL)) \
	X(bwrap_out, simpler_buffer_wrap(4096, 64, s.location, SIMPLER_ACCESS_READ, NULL, NULL)) \
	X(from_desc, simpler_buffer_from_descriptor(NULL, &no_buffer, NULL)) \
	X(from_desc_out, simpler_buffer_from_descriptor(&s.desc, NULL, NULL)) \
	X(close_buffer, simpler_buffer_close(NULL, NULL)) \
	X(pin, simpler_buffer_pin(NULL, (void *[1]){ NULL })) \
	X(pin_out, simpler_buffer_pin(s.host, NULL)) \
	X(desc_of, simpler_buffer_descriptor(NULL, &s.desc, NULL)) \
	X(desc_of_out, simpler_buffer_descriptor(s.host, NULL, NULL)) \
	X(prefix, simpler_call_config_set_prefix(NULL, "x", NULL)) \
	X(prefix_text, simpler_call_config_set_prefix(&(struct simpler_call_config){ 0 }, NULL, NULL)) \
	X(validate, simpler_call_config_validate(NULL, NULL)) \
	X(core_build_out, simpler_core_callable_build(NULL, 0, "x", 1, NULL, NULL)) \
	X(core_build_sig, simpler_core_callable_build(NULL, 1, "x", 1, &no_core, NULL)) \
	X(core_bytes, simpler_core_callable_from_bytes(NULL, 64, &no_core, NULL)) \
	X(core_bytes_out, simpler_core_callable_from_bytes(s.blob, 64, NULL, NULL)) \
	X(core_sig, simpler_core_callable_sig(NULL, 0)) \
	X(chip_build, simpler_chip_callable_build(NULL, &no_chip, NULL)) \
	X(chip_build_out, simpler_chip_callable_build(&no_children, NULL, NULL)) \
	X(chip_build_sig, simpler_chip_callable_build(&no_signature, &no_chip, NULL)) \
	X(chip_build_children, simpler_chip_callable_build(&no_children, &no_chip, NULL)) \
	X(chip_bytes, simpler_chip_callable_from_bytes(NULL, 64, &no_chip, NULL)) \
	X(chip_bytes_out, simpler_chip_callable_from_bytes(s.blob, 64, NULL, NULL)) \
	X(chip_sig, simpler_chip_callable_sig(NULL, 0)) \
	X(child_id, simpler_chip_callable_child_func_id(NULL, 0, (int32_t[1]){ 0 })) \
	X(child_id_out, simpler_chip_callable_child_func_id(s.chip, 0, NULL)) \
	X(child_offset, simpler_chip_callable_child_offset(NULL, 0, (uint32_t[1]){ 0 })) \
	X(child_offset_out, simpler_chip_callable_child_offset(s.chip, 0, NULL)) \
	X(child, simpler_chip_callable_child(NULL, 0, &no_core)) \
	X(child_out, simpler_chip_callable_child(s.chip, 0, NULL)) \
	X(hashid, simpler_hashid_parse(NULL, (uint8_t *)s.blob)) \
	X(hashid_out, simpler_hashid_parse("sha256:", NULL))

#define ARGS_CALLS(X) \
	X(args_create, simpler_task_args_create(NULL)) \
	X(tensor_add, simpler_task_args_add_tensor(NULL, &s.tensor, 0, 0, NULL)) \
	X(tensor_add_tensor, simpler_task_args_add_tensor(s.args, NULL, 0, 0, NULL)) \
	X(scalar_add, simpler_task_args_add_scalar(NULL, 1)) \
	X(float_add, simpler_task_args_add_float(NULL, 1)) \
	X(double_add, simpler_task_args_add_double(NULL, 1)) \
	X(int_add, simpler_task_args_add_int(NULL, 1)) \
	X(tensor_get, simpler_task_args_tensor(NULL, 0, &s.tensor)) \
	X(tensor_get_out, simpler_task_args_tensor(s.args, 0, NULL)) \
	X(scalar_get, simpler_task_args_scalar(NULL, 0, (uint64_t[1]){ 0 })) \
	X(scalar_get_out, simpler_task_args_scalar(s.args, 0, NULL)) \
	X(tag_get, simpler_task_args_tag(NULL, 0)) \
	X(transfer_get, simpler_task_args_transfer(NULL, 0)) \
	X(tag_set, simpler_task_args_set_tag(NULL, 0, SIMPLER_TAG_INPUT)) \
	X(encode, simpler_task_args_encode(NULL, s.blob, sizeof(s.blob), NULL)) \
	X(encode_out, simpler_task_args_encode(s.args, NULL, sizeof(s.blob), NULL)) \
	X(decode, simpler_task_args_decode(NULL, sizeof(s.blob), &no_args, NULL)) \
	X(decode_out, simpler_task_args_decode(s.blob, sizeof(s.blob), NULL, NULL)) \
	X(tensor_check, simpler_tensor_check(NULL, NULL)) \
	X(tensor_init, simpler_tensor_init(NULL, s.host, &view, NULL)) \
	X(tensor_init_buffer, simpler_tensor_init(&s.tensor, NULL, &view, NULL)) \
	X(tensor_init_view, simpler_tensor_init(&s.tensor, s.host, NULL, NULL)) \
	X(tensor_init_shapes, simpler_tensor_init(&s.tensor, s.host, &view_without_shapes, NULL)) \
	X(dense, simpler_tensor_init_dense(NULL, s.host, 0, 1, (uint32_t[1]){ 1 }, NULL)) \
	X(dense_buffer, simpler_tensor_init_dense(&s.tensor, NULL, 0, 1, (uint32_t[1]){ 1 }, NULL)) \
	X(dense_shapes, simpler_tensor_init_dense(&s.tensor, s.host, 0, 1, NULL, NULL))

#define RTS_CALLS(X) \
	X(device_out, simpler_device_open("a2a3sim", 0, NULL, NULL)) \
	X(context, simpler_context_create(NULL, &no_context)) \
	X(context_out, simpler_context_create(s.d, NULL)) \
	X(cmalloc, simpler_context_malloc(NULL, 64, (uint64_t[1]){ 0 })) \
	X(cmalloc_out, simpler_context_malloc(s.c, 64, NULL)) \
	X(cfree, simpler_context_free(NULL, 4096)) \
	X(screate, simpler_stream_create(NULL, &no_stream)) \
	X(screate_out, simpler_stream_create(s.c, NULL)) \
	X(scopy_to, simpler_stream_copy_to_device(NULL, 4096, s.blob, 8)) \
	X(scopy_from, simpler_stream_copy_from_device(NULL, s.blob, 4096, 8)) \
	X(scopy_on, simpler_stream_copy_on_device(NULL, 4096, 8192, 8)) \
	X(sfill, simpler_stream_fill(NULL, 4096, 8, 0, 8)) \
	X(sync, simpler_stream_synchronize(NULL, NULL)) \
	X(ecreate, simpler_event_create(NULL, &no_event)) \
	X(ecreate_out, simpler_event_create(s.c, NULL)) \
	X(erecord, simpler_event_record(NULL, s.stream)) \
	X(erecord_stream, simpler_event_record(s.event, NULL)) \
	X(ewait, simpler_stream_wait_event(NULL, s.event)) \
	X(ewait_event, simpler_stream_wait_event(s.stream, NULL)) \
	X(equery, simpler_event_query(NULL)) \
	X(esync, simpler_event_synchronize(NULL, NULL))

#define ROW(name, expression) { #expression, name },

WORKER_CALLS(CALL) VALUE_CALLS(CALL) ARGS_CALLS(CALL) RTS_CALLS(CALL)
static const struct call calls[] = {
	WORKER_CALLS(ROW) VALUE_CALLS(ROW) ARGS_CALLS(ROW) RTS_CALLS(ROW)
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

static void session_open(void)
{
	s.w = worker_ready();
	s.chip = callable_new("i", 1);
	s.f = registered(s.w, "i");
	assert_int_equal(simpler_core_callable_build(signature, 1, "x", 1, &s.core, NULL), 0);
	assert_int_equal(simpler_worker_location(s.w, &s.location), 0);
	s.args = args_new();
	s.device = device_buffer(s.w, 64);
	s.host = host_buffer(s.w, 64);
	assert_int_equal(simpler_buffer_descriptor(s.host, &s.desc, NULL), 0);
	s.tensor = view_of(s.host, 0, 1);
	assert_int_equal(simpler_device_open("a2a3sim", 0, &s.d, NULL), 0);
	assert_int_equal(simpler_context_create(s.d, &s.c), 0);
	assert_int_equal(simpler_stream_create(s.c, &s.stream), 0);
	assert_int_equal(simpler_event_create(s.c, &s.event), 0);
}

static void session_close(void)
{
	simpler_event_destroy(s.event);
	assert_int_equal(simpler_stream_destroy(s.stream), 0);
	assert_int_equal(simpler_context_destroy(s.c), 0);
	assert_int_equal(simpler_device_close(s.d), 0);
	simpler_buffer_put(s.device);
	simpler_buffer_put(s.host);
	simpler_task_args_destroy(s.args);
	simpler_location_put(s.location);
	simpler_core_callable_put(s.core);
	simpler_chip_callable_put(s.chip);
	worker_end(s.w);
}

static void null_is_an_invalid_argument_of_every_function_with_a_code(void **state)
{
	(void)state;
	session_open();
	for (size_t i = 0; i < CALLS; i++) {
		int rc = calls[i].run();

		if (rc != SIMPLER_ERR_INVALID_ARGUMENT)
			fail_msg("%s returned %d", calls[i].text, rc);
	}
	assert_null(no_worker);
	assert_null(no_buffer);
	assert_null(no_location);
	assert_null(no_run);
	assert_null(no_args);
	assert_null(no_core);
	assert_null(no_chip);
	assert_null(no_device);
	assert_null(no_context);
	assert_null(no_stream);
	assert_null(no_event);
	session_close();
}

static void the_refusal_names_function_and_argument(void **state)
{
	struct simpler_error e;

	(void)state;
	session_open();
	assert_int_equal(simpler_worker_malloc(s.w, 64, NULL), SIMPLER_ERR_INVALID_ARGUMENT);
	expect_error(s.w, SIMPLER_ERR_INVALID_ARGUMENT, "simpler_worker_malloc(): out is NULL");
	assert_int_equal(simpler_tensor_init(&s.tensor, NULL, &view, &e),
			 SIMPLER_ERR_INVALID_ARGUMENT);
	assert_string_equal(e.text, "simpler_tensor_init(): buffer is NULL");
	session_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		chip_test(null_is_an_invalid_argument_of_every_function_with_a_code),
		chip_test(the_refusal_names_function_and_argument),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
