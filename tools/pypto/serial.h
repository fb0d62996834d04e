/* SPDX-License-Identifier: MIT */
/* IR as MessagePack: section 5.5. */
#ifndef PYPTO_SERIAL_H
#define PYPTO_SERIAL_H

#include "ir.h"

/* Bytes of a node, in the arena. Return: 0. */
int ir_serialize(struct px *px, const struct ir_node *node, const void **data, size_t *size);

/**
 * ir_deserialize() - a node from bytes of any origin
 * @why: on failure, what is wrong with them, in the arena
 *
 * Return: 0, or -EBADMSG.
 */
int ir_deserialize(struct px *px, const void *data, size_t size, struct ir_node **node,
		   const char **why);

#endif
