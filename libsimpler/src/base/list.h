/* SPDX-License-Identifier: MIT */
/*
 * Intrusive doubly linked ring. A head is a node that is in no object; an initialised node points
 * to itself, so removing twice is harmless. No locking.
 */
#ifndef SIMPLER_BASE_LIST_H
#define SIMPLER_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *next;
	struct list *prev;
};

#define LIST_INIT(name)	{ &(name), &(name) }

static inline void list_init(struct list *node)
{
	node->next = node;
	node->prev = node;
}

/* For a head: no members. For a node: in no list. */
static inline bool list_empty(const struct list *node)
{
	return node->next == node;
}

static inline void list_link_between(struct list *node, struct list *prev, struct list *next)
{
	node->prev = prev;
	node->next = next;
	prev->next = node;
	next->prev = node;
}

static inline void list_add_head(struct list *head, struct list *node)
{
	list_link_between(node, head, head->next);
}

static inline void list_add_tail(struct list *head, struct list *node)
{
	list_link_between(node, head->prev, head);
}

/* Put @node right before @pos (which may be the head: then last). */
static inline void list_add_before(struct list *pos, struct list *node)
{
	list_link_between(node, pos->prev, pos);
}

/* Leaves @node initialised. */
static inline void list_del(struct list *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	list_init(node);
}

static inline void list_move_tail(struct list *head, struct list *node)
{
	list_del(node);
	list_add_tail(head, node);
}

/* All members of @from, in order, to the end of @head; @from is empty afterwards. */
static inline void list_splice_tail(struct list *head, struct list *from)
{
	if (list_empty(from))
		return;
	from->next->prev = head->prev;
	head->prev->next = from->next;
	from->prev->next = head;
	head->prev = from->prev;
	list_init(from);
}

/* First member removed, or NULL. */
static inline struct list *list_pop_head(struct list *head)
{
	struct list *node = head->next;

	if (node == head)
		return NULL;
	list_del(node);
	return node;
}

#define list_entry(node, type, member)	((type *)((char *)(node) - offsetof(type, member)))

#define list_first(head, type, member)	\
	(list_empty(head) ? NULL : list_entry((head)->next, type, member))
#define list_last(head, type, member)	\
	(list_empty(head) ? NULL : list_entry((head)->prev, type, member))

#define list_for_each(pos, head)	\
	for ((pos) = (head)->next; (pos) != (head); (pos) = (pos)->next)

/* Of an entry; only arithmetic, so that it may be used on what list_entry() makes of a head. */
#define list_node(pos, member)	\
	((struct list *)((char *)(pos) + offsetof(__typeof__(*(pos)), member)))

#define list_for_each_entry(pos, head, member)						\
	for ((pos) = list_entry((head)->next, __typeof__(*(pos)), member);		\
	     list_node(pos, member) != (head);						\
	     (pos) = list_entry(list_node(pos, member)->next, __typeof__(*(pos)), member))

/* As above; @pos may be removed in the body. */
#define list_for_each_entry_safe(pos, tmp, head, member)				\
	for ((pos) = list_entry((head)->next, __typeof__(*(pos)), member),		\
	     (tmp) = list_entry(list_node(pos, member)->next, __typeof__(*(pos)), member);	\
	     list_node(pos, member) != (head);						\
	     (pos) = (tmp),								\
	     (tmp) = list_entry(list_node(tmp, member)->next, __typeof__(*(tmp)), member))

#endif
