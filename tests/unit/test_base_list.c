/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/list.h"

struct item {
	int value;
	_Alignas(64) struct list link;	/* over-aligned: the head is not */
};

static struct item items[6];

static void fill(struct list *head, int count)
{
	int i;

	list_init(head);
	for (i = 0; i < count; i++) {
		items[i].value = i;
		list_add_tail(head, &items[i].link);
	}
}

/* The values in order as decimal digits, and the same backwards. */
static int forwards(struct list *head)
{
	struct item *pos;
	int digits = 0;

	list_for_each_entry(pos, head, link)
		digits = digits * 10 + pos->value;
	return digits;
}

static int backwards(struct list *head)
{
	struct list *pos;
	int digits = 0;

	for (pos = head->prev; pos != head; pos = pos->prev)
		digits = digits * 10 + list_entry(pos, struct item, link)->value;
	return digits;
}

static void members_keep_the_order_in_which_they_were_added(void **state)
{
	struct list head;

	(void)state;
	fill(&head, 4);
	assert_int_equal(forwards(&head), 123);
	assert_int_equal(backwards(&head), 3210);
	items[4].value = 4;
	list_add_head(&head, &items[4].link);
	items[5].value = 5;
	list_add_before(&items[2].link, &items[5].link);
	assert_int_equal(forwards(&head), 401523);
	assert_int_equal(backwards(&head), 325104);
}

static void static_head_is_empty(void **state)
{
	static struct list head = LIST_INIT(head);

	(void)state;
	assert_true(list_empty(&head));
	assert_null(list_pop_head(&head));
	assert_null(list_first(&head, struct item, link));
	assert_null(list_last(&head, struct item, link));
	assert_int_equal(forwards(&head), 0);
}

static void removed_node_may_be_removed_again(void **state)
{
	struct list head;

	(void)state;
	fill(&head, 3);
	list_del(&items[1].link);
	assert_true(list_empty(&items[1].link));
	list_del(&items[1].link);
	assert_int_equal(forwards(&head), 2);
	assert_int_equal(backwards(&head), 20);
}

static void first_last_and_pop_name_the_ends(void **state)
{
	struct list head;

	(void)state;
	fill(&head, 3);
	assert_ptr_equal(list_first(&head, struct item, link), &items[0]);
	assert_ptr_equal(list_last(&head, struct item, link), &items[2]);
	assert_ptr_equal(list_pop_head(&head), &items[0].link);
	list_move_tail(&head, &items[1].link);
	assert_int_equal(forwards(&head), 21);
	list_pop_head(&head);
	list_pop_head(&head);
	assert_true(list_empty(&head));
}

static void splice_moves_all_members_to_the_end(void **state)
{
	struct list a, b, empty;

	(void)state;
	fill(&a, 4);
	list_init(&b);
	list_init(&empty);
	list_move_tail(&b, &items[0].link);
	list_move_tail(&b, &items[1].link);
	list_splice_tail(&a, &b);
	assert_true(list_empty(&b));
	assert_int_equal(forwards(&a), 2301);
	assert_int_equal(backwards(&a), 1032);
	list_splice_tail(&a, &empty);
	assert_int_equal(forwards(&a), 2301);
	list_splice_tail(&empty, &a);
	assert_true(list_empty(&a));
	assert_int_equal(backwards(&empty), 1032);
}

static void members_may_be_removed_during_the_safe_walk(void **state)
{
	struct item *pos, *tmp;
	struct list *node;
	struct list head;
	int nodes = 0;

	(void)state;
	fill(&head, 5);
	list_for_each_entry_safe(pos, tmp, &head, link)
		if (pos->value % 2 == 0)
			list_del(&pos->link);
	assert_int_equal(forwards(&head), 13);
	list_for_each(node, &head)
		nodes++;
	assert_int_equal(nodes, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_keep_the_order_in_which_they_were_added),
		cmocka_unit_test(static_head_is_empty),
		cmocka_unit_test(removed_node_may_be_removed_again),
		cmocka_unit_test(first_last_and_pop_name_the_ends),
		cmocka_unit_test(splice_moves_all_members_to_the_end),
		cmocka_unit_test(members_may_be_removed_during_the_safe_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
