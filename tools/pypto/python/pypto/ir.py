# SPDX-License-Identifier: MIT
"""IR of programs: comparison, text, MessagePack (spec pypto.md sections 5 and 6)."""
from . import _copy, _core  # noqa: F401
from ._build import *  # noqa: F401,F403
from ._compile import OptimizationStrategy  # noqa: F401
from ._compile import compile_program as compile  # noqa: F401
from ._core import Node, Type  # noqa: F401
from .backend import BackendType  # noqa: F401

TYPE_CHECKING = False  # as typing's, whose import takes as long as that of this package
if TYPE_CHECKING:
    from typing import Any


class DeserializationError(ValueError):
    """The bytes are not IR."""


def python_print(node: "Any", prefix: str = "pl") -> str:
    """Text of a node, which pl.parse() reads back."""
    return _core.python_print(node, prefix)


def structural_equal(a: "Any", b: "Any", enable_auto_mapping: bool = False) -> bool:
    """Whether two nodes say the same; names and places do not count."""
    return _core.structural_compare(a, b, enable_auto_mapping)[0]


def assert_structural_equal(a: "Any", b: "Any", enable_auto_mapping: bool = False) -> None:
    """ValueError with the path of the first difference."""
    equal, why = _core.structural_compare(a, b, enable_auto_mapping)
    if not equal:
        raise ValueError(f"Structural equality assertion failed at: {why}")


def structural_hash(node: "Any") -> int:
    """A number that is equal for structurally equal nodes."""
    return _core.structural_hash(node)


def serialize(node: "Any") -> bytes:
    """A node as MessagePack."""
    return _core.serialize(node)


def deserialize(data: bytes) -> "Any":
    """A node from MessagePack; DeserializationError when the bytes are not IR."""
    try:
        return _core.deserialize(data)
    except ValueError as e:
        raise DeserializationError(str(e)) from None


def serialize_to_file(node: "Any", path: str) -> None:
    with open(path, "wb") as f:
        f.write(serialize(node))


def deserialize_from_file(path: str) -> "Any":
    with open(path, "rb") as f:
        return deserialize(f.read())


def interpret(node: "Any", *args: "Any", function: "str | None" = None, max_steps: int = 0, blockdim: int = 1) -> "Any":
    """Run a function of a program, or a function by itself, without a chip.

    Arguments are numbers and C-contiguous buffers (numpy arrays, memoryviews); BF16 tensors are arrays of uint16.
    Tensors that the function writes are written in place. Gives what the function returns: an argument itself, a new
    array, or a number; several as a tuple. function: its name, if the program has several that could be meant;
    max_steps: CompileError after that many statements (0: no bound); blockdim: blocks of a BlockInCore function that is
    run by itself.
    """
    from ._interpret import interpret as run
    return run(node, args, function, max_steps, blockdim)
