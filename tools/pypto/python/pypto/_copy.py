# SPDX-License-Identifier: MIT
"""Nodes and types of IR in pickle and copy. Pickles are MessagePack; a copy is what a pickle gives."""
import copyreg

from . import _core


def node_of(data):
    """The node in a pickle."""
    return _core.deserialize(data)


def type_of(data):
    """The type in a pickle."""
    return _core.deserialize(data).type


def _reduce_type(type_):
    return type_of, (_core.serialize(_core.build_node("Var", type_, {"name": "t"})),)


copyreg.pickle(_core.Node, lambda node: (node_of, (_core.serialize(node),)))
copyreg.pickle(_core.Type, _reduce_type)
