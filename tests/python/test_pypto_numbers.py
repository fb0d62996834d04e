# SPDX-License-Identifier: MIT
"""Numbers from Python that name an element type, an enumeration's member or a size: unknown ones are errors of their own."""
import struct

import pytest

pl = pytest.importorskip("pypto.language")
from pypto import _build, _core, ir  # noqa: E402

FP32 = 0x34
TILE = _build.Var("t", _build.TileType([16, 16], pl.FP32))
SCALAR = _build.Var("s", _build.ScalarType(pl.FP32))
HEAD = "@pl.program\nclass P:\n    @pl.function\n    def f(self, "


@pytest.mark.parametrize("value, message", [
    (("MemorySpace", 99), "'target_memory': 99 is no MemorySpace; they are DDR 0, Vec 1, .*RightScale 9$"),
    (("MemorySpace", 7), "'target_memory': 7 is no MemorySpace"), (("MemorySpace", -1), "'target_memory': -1 is no MemorySpace"),
    (("MemorySpace", 2**32 + 1), "'target_memory': 4294967297 is no MemorySpace"),
    (("Nonsense", 1), "'target_memory': 'Nonsense' is no enumeration; they are MemorySpace, TensorLayout, "),
    (("dtype", 99), "'target_memory': 99 is the code of no element type; they are BOOL 0, .*FP32 52"),
])
def test_marked_attributes(value, message):
    with pytest.raises(ValueError, match=message):
        _core.build_call("block.move", True, [TILE], {"target_memory": value}, None)


@pytest.mark.parametrize("code", [99, -1, 256 + FP32, 2**32 + FP32])
def test_element_types_of_attributes(code):
    with pytest.raises(ValueError, match=f"'dtype': {code} is the code of no element type; they are BOOL 0, "):
        _core.build_call("block.full", True, [_build.MakeTuple([16, 16]), SCALAR], {"dtype": ("dtype", code)}, None)


@pytest.mark.parametrize("value", [None, [], object()])
def test_what_is_no_attribute(value):
    with pytest.raises(TypeError, match="'target_memory' cannot be"):
        _core.build_call("block.move", True, [TILE], {"target_memory": value}, None)


def test_a_plain_number_is_no_member():
    with pytest.raises(pl.InvalidOperationError, match="'target_memory' of operator 'block.move' must be a pl.MemorySpace"):
        _core.build_call("block.move", True, [TILE], {"target_memory": 99}, None)


@pytest.mark.parametrize("kind, code, parts, message", [
    (9, FP32, [], "no kind of type has the number 9"), (-1, FP32, [], "no kind of type has the number -1"),
    (2, 99, [], "99 is the code of no element type"), (1, -1, [], "-1 is the code of no element type"),
    (2, 256 + FP32, [], "308 is the code of no element type"),
    (2, FP32, [_build.ConstInt(-5, "INDEX")], "extent -5 is negative"), (3, FP32, [SCALAR], "an extent must be an integer"),
])
def test_types(kind, code, parts, message):
    with pytest.raises(ValueError, match=message):
        _core.build_type(kind, code, parts)


def test_negative_sizes():
    with pytest.raises(ValueError, match="'size' cannot be -5"):
        _core.build_node("MemRef", TILE.type, {"name": "m", "space": 1, "addr": 0, "size": -5, "id": 0})


def test_kinds_of_functions_and_files():
    with pytest.raises(ValueError, match="99 is no FunctionType"):
        _core.parse_function(None, None, [], "user.py", None, "pl", 99, 0)
    with pytest.raises(ValueError, match="no kind of file is named 'rubbish'"):
        _core.generate(pl.parse(HEAD + "n: pl.INT64) -> pl.INT64:\n        return n\n"), "rubbish", "f", 0)


def test_extents_that_no_memory_holds():
    program = pl.parse(HEAD + f"x: pl.Tensor[[{2**62}, 16], pl.INT8]) -> pl.INT64:\n        return 1\n")
    with pytest.raises(ValueError, match="argument 'x' needs 2 dimensions"):
        ir.interpret(program, bytearray(0))


def test_bytes_with_numbers_that_are_cut():
    data = ir.serialize(SCALAR)
    at = data.index(b"\xa5dtype") + 6
    assert data[at] == FP32
    with pytest.raises(ir.DeserializationError, match="unknown type"):
        ir.deserialize(data[:at] + b"\xcf" + struct.pack(">Q", 2**32 + FP32) + data[at + 1:])
    at = data.index(b"\xaabegin_line") + 11
    assert data[at] == 0
    for number in (b"\xff", b"\xce\x80\x00\x00\x00", b"\xcf" + b"\xff" * 8):
        with pytest.raises(ir.DeserializationError, match="number out of range in 'span'"):
            ir.deserialize(data[:at] + number + data[at + 1:])


ENDLESS = []
ENDLESS.append(ENDLESS)


def test_a_list_that_contains_itself():
    with pytest.raises(pl.ParserError):
        @pl.function
        def f() -> pl.Tensor[[1, 8], pl.FP32]:  # pylint: disable=unused-variable
            t = pl.create_tensor(ENDLESS, dtype=pl.FP32)
            return t


class Type:
    """Not pypto's."""
    __pypto_kind__, code, name = "dtype", 99, "X"


class MemorySpace:
    """Not pypto's."""
    __pypto_kind__, value = "enum", 99


def test_objects_that_look_like_members():
    unknown, space = Type(), MemorySpace()
    with pytest.raises(pl.ParserError):
        @pl.function
        def f() -> pl.Tensor[[1, 8], pl.FP32]:  # pylint: disable=unused-variable
            t = pl.create_tensor([1, 8], dtype=unknown)
            return t
    with pytest.raises(pl.ParserError):
        @pl.function(type=pl.FunctionType.InCore)
        def g(x: pl.Tensor[[1, 8], pl.FP32],  # pylint: disable=unused-variable
              y: pl.Out[pl.Tensor[[1, 8], pl.FP32]]) -> pl.Tensor[[1, 8], pl.FP32]:
            y = pl.store(pl.load(x, [0, 0], [1, 8], target_memory=space), [0, 0], [1, 8], y)
            return y
