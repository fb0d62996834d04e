/* SPDX-License-Identifier: MIT */
/* Descriptors and tensor views as values. */
#include "worker_fixture.h"

/* A view of a made-up device buffer of @bytes bytes. */
static struct simpler_tensor tensor_of(uint64_t bytes, int dtype, uint64_t byte_offset,
				       uint32_t ndims, const uint32_t *shapes,
				       const uint32_t *strides)
{
	struct simpler_tensor t = {
		.buffer =
			{
				.magic = SIMPLER_DESC_MAGIC,
				.address_space = SIMPLER_SPACE_DEVICE,
				.access = SIMPLER_ACCESS_READWRITE,
				.backend = SIMPLER_BACKEND_DEVICE_MALLOC,
				.identity = {.buffer_id = 1, .generation = 1},
				.nbytes = bytes,
				.body_len = 8,
				.body = {1},
			},
		.byte_offset = byte_offset,
		.ndims = ndims,
		.dtype = (uint8_t)dtype,
	};

	memcpy(t.shapes, shapes, ndims * sizeof(*shapes));
	memcpy(t.strides, strides, ndims * sizeof(*strides));
	return t;
}

#define U32(...) ((const uint32_t[]){ __VA_ARGS__ })
#define T2(offset, r, c, s) \
	tensor_of(4 * 64 * 64, SIMPLER_FLOAT32, 4 * (offset), 2, U32(r, c), U32(s, 1))

static void views_inside_the_buffer_are_valid(void **state)
{
	struct simpler_tensor t = tensor_of(64, SIMPLER_FLOAT32, 0, 1, U32(4), U32(5));

	(void)state;
	assert_int_equal(simpler_tensor_check(&t, NULL), 0);
	assert_int_equal(simpler_tensor_extent(&t), 16);
	assert_int_equal(simpler_tensor_numel(&t), 4);
	assert_false(simpler_tensor_contiguous(&t));
	t = tensor_of(64, SIMPLER_FLOAT32, 0, 2, U32(1, 16), U32(999, 1));
	assert_int_equal(simpler_tensor_check(&t, NULL), 0);
	assert_true(simpler_tensor_contiguous(&t));	/* the stride of a dimension of 1 is free */
}

static void bad_views_are_refused_with_the_reason(void **state)
{
	struct simpler_tensor t,
		cases[] = {
			tensor_of(64, SIMPLER_FLOAT32, 0, 1, U32(17), U32(1)),
			tensor_of(64, SIMPLER_FLOAT32, 2, 1, U32(4), U32(1)),
			tensor_of(64, SIMPLER_FLOAT32, 4, 1, U32(16), U32(1)),
			tensor_of(64, SIMPLER_FLOAT32, 0, 1, U32(4), U32(0)),
			tensor_of(64, SIMPLER_FLOAT32, 0, 1, U32(0), U32(1)),
			tensor_of(64, 15, 0, 1, U32(4), U32(1)),
			tensor_of(64, SIMPLER_FLOAT32, 0, 2, U32(UINT32_MAX, UINT32_MAX),
				  U32(UINT32_MAX, UINT32_MAX)),
			tensor_of(64, SIMPLER_FLOAT32, UINT64_MAX - 3, 1, U32(1), U32(1)),
		};
	static const char *const texts[] = {
		"extent 17 elements", "byte_offset 2", "byte_offset 4", "stride[0] is 0",
		"shape[0] is 0", "unknown dtype 15", "beyond the buffer", "beyond the buffer",
	};
	struct simpler_error e;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(simpler_tensor_check(&cases[i], &e), SIMPLER_ERR_TENSOR);
		assert_int_equal(strncmp(e.text, "invalid Tensor:", 15), 0);
		if (!strstr(e.text, texts[i]))
			fail_msg("'%s' is not in '%s'", texts[i], e.text);
	}
	t = tensor_of(64, SIMPLER_FLOAT32, 0, 1, U32(4), U32(1));
	t.shapes[3] = 1;
	assert_int_equal(simpler_tensor_check(&t, &e), SIMPLER_ERR_TENSOR);
	t.shapes[3] = 0;
	t.ndims = 6;
	assert_int_equal(simpler_tensor_check(&t, &e), SIMPLER_ERR_TENSOR);
	t.ndims = 0;
	assert_int_equal(simpler_tensor_check(&t, &e), SIMPLER_ERR_TENSOR);
	t.ndims = 1;
	t.transfer = 1;
	assert_int_equal(simpler_tensor_check(&t, &e), SIMPLER_ERR_TENSOR);
}

static void init_refuses_what_does_not_fit_32_bits(void **state)
{
	struct simpler_worker *w = worker_ready();
	struct simpler_buffer *b = device_buffer(w, 64);
	uint64_t shapes[6] = { 1ull << 32, 1, 1, 1, 1, 1 };
	struct simpler_view v = { .dtype = SIMPLER_UINT8, .ndims = 1, .shapes = shapes };
	struct simpler_tensor t;
	struct simpler_error e;

	(void)state;
	assert_int_equal(simpler_tensor_init(&t, b, &v, &e), SIMPLER_ERR_TENSOR);
	assert_non_null(strstr(e.text, "shape[0] is 4294967296"));
	v.ndims = 6;
	assert_int_equal(simpler_tensor_init(&t, b, &v, &e), SIMPLER_ERR_TENSOR);
	shapes[0] = 1;
	v.ndims = 2;
	v.strides = (const uint64_t[]){ 1ull << 40, 1 };
	assert_int_equal(simpler_tensor_init(&t, b, &v, &e), SIMPLER_ERR_TENSOR);
	assert_non_null(strstr(e.text, "stride[0]"));
	v.strides = NULL;
	v.dtype = -1;
	assert_int_equal(simpler_tensor_init(&t, b, &v, &e), SIMPLER_ERR_TENSOR);
	simpler_worker_free(w, b);
	v.dtype = SIMPLER_UINT8;
	assert_int_equal(simpler_tensor_init(&t, b, &v, &e), SIMPLER_ERR_BUFFER_RELEASED);
	simpler_buffer_put(b);
	worker_end(w);
}

static void overlap_of_tiles_is_decided_per_dimension(void **state)
{
	struct simpler_tensor left = T2(0, 32, 32, 64), right = T2(32, 32, 32, 64);
	struct simpler_tensor all = T2(0, 64, 64, 64), inner = T2(64 * 8 + 8, 4, 4, 64);
	struct simpler_tensor shifted = T2(16, 32, 32, 64);

	(void)state;
	assert_int_equal(simpler_tensor_overlap(&left, &right), SIMPLER_OVERLAP_NONE);
	assert_int_equal(simpler_tensor_overlap(&left, &shifted), SIMPLER_OVERLAP_PARTIAL);
	assert_int_equal(simpler_tensor_overlap(&all, &inner), SIMPLER_OVERLAP_COVERED);
	assert_int_equal(simpler_tensor_overlap(&inner, &all), SIMPLER_OVERLAP_PARTIAL);
	assert_int_equal(simpler_tensor_overlap(&left, &left), SIMPLER_OVERLAP_COVERED);
}

static void overlap_of_other_forms_is_decided_by_bytes(void **state)
{
	struct simpler_tensor even = tensor_of(64, SIMPLER_FLOAT32, 0, 1, U32(8), U32(2));
	struct simpler_tensor odd = tensor_of(64, SIMPLER_FLOAT32, 4, 1, U32(7), U32(2));
	struct simpler_tensor tail = tensor_of(64, SIMPLER_FLOAT32, 60, 1, U32(1), U32(1));
	struct simpler_tensor wrapping = T2(48, 4, 32, 64);
	struct simpler_tensor tile = T2(64, 4, 8, 64), other = even;

	(void)state;
	assert_int_equal(simpler_tensor_overlap(&even, &odd), SIMPLER_OVERLAP_PARTIAL);
	assert_int_equal(simpler_tensor_overlap(&even, &tail), SIMPLER_OVERLAP_NONE);
	assert_int_equal(simpler_tensor_overlap(&wrapping, &tile), SIMPLER_OVERLAP_PARTIAL);
	other.buffer.identity.buffer_id = 2;
	assert_int_equal(simpler_tensor_overlap(&even, &other), SIMPLER_OVERLAP_NONE);
}

/* An independent definition of overlap: mark every byte. */
static bool bytes_meet(const struct simpler_tensor *a, const struct simpler_tensor *b)
{
	static unsigned char mark[4096];
	const struct simpler_tensor *both[2] = { a, b };
	uint32_t i, r, c;

	memset(mark, 0, sizeof(mark));
	for (i = 0; i < 2; i++)
		for (r = 0; r < both[i]->shapes[0]; r++)
			for (c = 0; c < both[i]->shapes[1]; c++) {
				unsigned char *m = &mark[both[i]->byte_offset / 4 +
							 r * both[i]->strides[0] + c];

				if (*m == 1 && i)
					return true;
				*m = 1;
			}
	return false;
}

static void overlap_agrees_with_marked_bytes(void **state)
{
	uint32_t random = 12345, n = 0, i;

	(void)state;
	for (i = 0; i < 20000; i++) {
		struct simpler_tensor t[2];
		int k;

		for (k = 0; k < 2; k++) {
			uint32_t r[4], j;

			for (j = 0; j < 4; j++)
				r[j] = (random = random * 1664525 + 1013904223) >> 16;
			t[k] = tensor_of(4 * 256, SIMPLER_FLOAT32, 4 * (r[0] % 160), 2,
					 U32(1 + r[1] % 5, 1 + r[2] % 9), U32(16, 1));
		}
		if (simpler_tensor_overlap(&t[0], &t[1]) == SIMPLER_OVERLAP_NONE) {
			assert_false(bytes_meet(&t[0], &t[1]));
			n++;
		} else if (t[0].byte_offset / 4 % 16 + t[0].shapes[1] <= 16 &&
			   t[1].byte_offset / 4 % 16 + t[1].shapes[1] <= 16) {
			assert_true(bytes_meet(&t[0], &t[1]));	/* no false edge between tiles */
		}
	}
	assert_true(n > 1000);
}

/* ---- descriptors ---- */

static void descriptor_rules(void **state)
{
	const struct simpler_buffer_desc good = tensor_of(64, 0, 0, 1, U32(1), U32(1)).buffer;
	struct simpler_buffer_desc d;
	struct simpler_error e;

	(void)state;
	assert_int_equal(simpler_buffer_desc_check(&good, NULL), 0);
#define BAD(change, part) do { \
	d = good; \
	change; \
	assert_int_equal(simpler_buffer_desc_check(&d, &e), SIMPLER_ERR_BUFFER_DESCRIPTOR); \
	assert_int_equal(strncmp(e.text, "invalid BufferDescriptor:", 25), 0); \
	if (!strstr(e.text, part)) \
		fail_msg("'%s' is not in '%s'", part, e.text); \
} while (0)
	BAD(d.magic = 0, "magic");
	BAD(d.address_space = 2, "address space 2");
	BAD(d.access = 3, "access 3");
	BAD(d.backend = 6, "backend 6");
	BAD(d.body_len = 33, "body_len 33");
	BAD(d.body[20] = 1, "not zero");
	BAD(d.identity.generation = 0, "generation is 0");
	BAD(d.address_space = SIMPLER_SPACE_HOST, "cannot have address space 0");
	BAD(d.body[0] = 0, "not 0");
	BAD(d.body_len = 9, "8-byte address");
	BAD((d.backend = SIMPLER_BACKEND_FORK_COW, d.address_space = 0), "READ only");
	BAD((d.backend = SIMPLER_BACKEND_POSIX_SHM, d.address_space = 0), "printable");
	BAD((d.backend = SIMPLER_BACKEND_REMOTE_SIDECAR), "empty");
	d = good;
	d.nbytes = 0;
	d.padding0[1] = 7;
	d.identity.padding[3] = 7;
	assert_int_equal(simpler_buffer_desc_check(&d, &e), 0);
}

static void element_types(void **state)
{
	static const size_t sizes[] = { 4, 2, 4, 2, 1, 1, 2, 8, 8, 2, 4, 1, 1, 1, 1 };
	int i;

	(void)state;
	for (i = 0; i < SIMPLER_DTYPE_COUNT; i++)
		assert_int_equal(simpler_dtype_size(i), sizes[i]);
	assert_int_equal(simpler_dtype_size(15), 0);
	assert_int_equal(simpler_dtype_size(-1), 0);
	assert_string_equal(simpler_dtype_name(SIMPLER_BFLOAT16), "BFLOAT16");
	assert_string_equal(simpler_dtype_name(15), "UNKNOWN");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(views_inside_the_buffer_are_valid),
		cmocka_unit_test(bad_views_are_refused_with_the_reason),
		chip_test(init_refuses_what_does_not_fit_32_bits),
		cmocka_unit_test(overlap_of_tiles_is_decided_per_dimension),
		cmocka_unit_test(overlap_of_other_forms_is_decided_by_bytes),
		cmocka_unit_test(overlap_agrees_with_marked_bytes),
		cmocka_unit_test(descriptor_rules),
		cmocka_unit_test(element_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
