/* SPDX-License-Identifier: MIT */
/* Shared by the files of the tensor map; see tmap.h. */
#ifndef CHIP_TMAP_PRIV_H
#define CHIP_TMAP_PRIV_H

#include "chip/tmap.h"

/* A further base address of a buffer. */
struct tmap_alias {
	uint64_t addr;
	struct tmap_alias *next;
};

/* ---- tmap_view.c ---------------------------------------------------------- */

/* The bytes a view touches; @t has elements. */
void tmap_geom_init(struct tmap_geom *g, const struct pto_tensor *t);

/* Do two views share a byte?  May say yes wrongly if their strides differ much. */
bool tmap_geom_overlap(const struct tmap_geom *a, const struct tmap_geom *b);

/* Are all bytes of @inner in @outer?  May say no wrongly. */
bool tmap_geom_contains(const struct tmap_geom *outer, const struct tmap_geom *inner);

/* ---- tmap_index.c --------------------------------------------------------- */

/* Moves the array of a kind into a new index; 0 or -ENOMEM (nothing changed). */
int tmap_index_create(struct tmap *m, struct tmap_buffer *b, uint32_t side);

/* Adds @e, whose range is set, to the existing index of its kind.  Cannot fail. */
void tmap_index_add(struct tmap *m, struct tmap_buffer *b, struct tmap_entry *e);

/* Moves all entries of an index to the existing index of @to. */
void tmap_index_move(struct tmap *m, struct tmap_buffer *to, struct tmap_buffer *from,
		     uint32_t side);

/* Forgets the entries and the index. */
void tmap_index_drop(struct tmap *m, struct tmap_buffer *b, uint32_t side);

/* Frees the indexes and bucket arrays kept for later. */
void tmap_index_free_spares(struct tmap *m);

/* ---- tmap_order.c: set of disjoint buffers, ordered by address ------------- */

/* The first buffer that ends after @lo, NULL if none does. */
struct tmap_buffer *tmap_order_find(struct tmap *m, uint64_t lo);

/* Inserts @b before @after (NULL: at the end). */
void tmap_order_insert(struct tmap *m, struct tmap_buffer *b, struct tmap_buffer *after);

void tmap_order_erase(struct tmap *m, struct tmap_buffer *b);

#endif /* CHIP_TMAP_PRIV_H */
