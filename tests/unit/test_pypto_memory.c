/* SPDX-License-Identifier: MIT */
/*
 * The PyPTO compiler's core when memory is short: each allocation in turn fails once. The linker
 * puts these functions in the place of the allocator's (tools/pypto/build.mk).
 */
#include "../../tools/pypto/equal.h"
#include "../../tools/pypto/gen.h"
#include "../../tools/pypto/print.h"
#include "../../tools/pypto/serial.h"
#include "pypto_fixture.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static long until_failure;	/* 0: none */

static bool fails(void)
{
	return until_failure && !--until_failure;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}

static uint64_t made_hash;	/* of what the passes gave */

/* A program through everything that the library has. Return: 0, or the code of what failed. */
static int use_all(struct px *px)
{
	struct pass_options options = { .verify = true };
	const char *why = NULL;
	struct ir_node *node;
	const void *bytes;
	struct made m;
	size_t size, i;
	int rc;

	make_program(px, &m);
	ir_serialize(px, &m.program->node, &bytes, &size);
	rc = ir_deserialize(px, bytes, size, &node, &why);
	for (i = 0; !rc && pass_at(i) && !(pass_at(i)->flags & PASS_APART); i++)
		rc = pass_run(px, pass_at(i)->name, node, &options, &node);
	if (rc)
		return rc;
	ir_print(px, node, "pl");
	made_hash = ir_hash(px, node);
	gen_cce(px, IR_AS(node, program), program_find(IR_AS(node, program), "k"), ARCH_A2A3);
	gen_orchestration(px, IR_AS(node, program), program_find(IR_AS(node, program), "main"));
	return px->n_errors ? -EINVAL : 0;
}

/* With the allocation of this number failing; 0: none. */
static int use_with_failure(long number)
{
	struct px px;
	int rc;

	px_init(&px);
	until_failure = number;
	px_guard(&px, rc, use_all(&px), -ENOMEM);
	px_fini(&px);
	return rc;
}

static void each_allocation_may_fail_and_nothing_is_lost(void **state)
{
	uint64_t hash;
	long number, left, refused = 0;
	int rc;

	(void)state;
	assert_int_equal(use_with_failure(0), 0);
	hash = made_hash;
	for (number = 1;; number++) {
		rc = use_with_failure(number);
		left = until_failure;
		until_failure = 0;
		if (left)	/* there are fewer */
			break;
		/* what a message of the hazard checker lacks does not matter to who only counts them */
		if (rc != -ENOMEM && (rc || made_hash != hash))
			fail_msg("allocation %ld: %d", number, rc);
		refused += rc == -ENOMEM;
	}
	assert_int_equal(rc, 0);
	assert_true(refused > number / 2);
	assert_int_equal(use_with_failure(0), 0);
}

/* After a failure the same context can be used again. */
static void context_can_be_used_after_a_failure(void **state)
{
	struct px px;
	int rc;

	(void)state;
	px_init(&px);
	until_failure = 1;
	px_guard(&px, rc, use_all(&px), -ENOMEM);
	assert_int_equal(until_failure, 0);
	assert_int_equal(rc, -ENOMEM);
	px_guard(&px, rc, use_all(&px), -ENOMEM);
	assert_int_equal(rc, 0);
	px_fini(&px);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_allocation_may_fail_and_nothing_is_lost),
		cmocka_unit_test(context_can_be_used_after_a_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
