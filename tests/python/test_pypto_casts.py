# SPDX-License-Identifier: MIT
"""Casts of every pair of element types by every mode: kernels of both back ends compute what the interpreter says, to the last
bit, and the interpreter says what decision D10 does."""
import os
import re
import sys

import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import _core, ir, passes  # noqa: E402
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz"))
import pypto_executed  # noqa: E402

NUMPY = {"INT8": "int8", "INT16": "int16", "INT32": "int32", "INT64": "int64", "UINT8": "uint8", "UINT16": "uint16",
         "UINT32": "uint32", "UINT64": "uint64", "FP16": "float16", "BF16": "uint16", "FP32": "float32", "BOOL": "bool"}
FLOATS = ("FP16", "BF16", "FP32")
INTEGERS = [t for t in NUMPY if "INT" in t]
SHAPE = (8, 32)
EDGES = [0, 0.25, 0.4999, 0.5, 0.5001, 0.75, 1, 1.5, 2.4999, 2.5, 2.5001, 3.5, 100.5, 126.5, 127, 127.5, 128, 128.5, 200, 254.5, 255, 255.5,
         256, 257, 1023.5, 2047.5, 2049, 2051, 4098, 32767, 32767.5, 32768, 65504, 65519, 65520, 65535.5, 65536, 70000, 2**23 - 0.5,
         2**24 - 1, 2**31 - 128, 2**31, 2**32, 2**40, 1e30, np.inf]
# what is rounded twice on the way to narrower floats
WHOLE = [2**24 + 1, 2**24 + 3, 2**23 + 2**15 + 1, 2**30 + 2**22 + 1, 2**31 - 1, 2**53 + 1, 2**54 + 2**46 + 1, 2**62 + 2**54 + 1]
MODES = {
    "": lambda v: np.trunc(v) + np.where(np.abs(v - np.trunc(v)) >= 0.5, np.sign(v), 0),
    "none": np.trunc, "rint": np.rint, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
    "odd": lambda v: np.where(np.abs(v - np.trunc(v)) == 0.5, 2 * np.floor(v / 2) + 1, np.rint(v)),
}
MODES["round"] = MODES[""]


def inputs_of(source):
    """The edges and their opposites that the type has, in its memory's form."""
    with np.errstate(all="ignore"):
        if source == "BOOL":
            return np.resize(np.array([True, False, False]), SHAPE)
        if source not in FLOATS:
            info = np.iinfo(NUMPY[source])
            whole = [int(v) for v in EDGES[:-2]] + WHOLE + [info.max, info.max - 1]
            kept = [v for v in whole + [-v for v in whole] + [info.min] if info.min <= v <= info.max]
            return np.resize(np.array(kept, NUMPY[source]), SHAPE)
        values = np.resize(np.array(EDGES + [-v for v in EDGES], "float32"), SHAPE)
        return (values.view("uint32") >> 16).astype("uint16") if source == "BF16" else values.astype(NUMPY[source])


def numbers_of(array, dtype):
    """Elements as numbers."""
    return (array.astype("uint32") << 16).view("float32") if dtype == "BF16" else array


def text_of(source, targets, mode, name):
    how = f", mode='{mode}'" if mode else ""
    lines = [f"        o{i} = pl.store(pl.cast(x, pl.{t}{how}), [0, 0], [8, 32], o{i})" for i, t in enumerate(targets)]
    outs = "".join(f", o{i}: pl.Out[pl.Tensor[[8, 32], pl.{t}]]" for i, t in enumerate(targets))
    kinds = ", ".join(f"pl.Tensor[[8, 32], pl.{t}]" for t in targets)
    kinds = f"tuple[{kinds}]" if len(targets) > 1 else kinds
    return (f"@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n"
            f"    def {name}(self, x: pl.Tensor[[8, 32], pl.{source}]{outs}) -> {kinds}:\n"
            "        x = pl.load(x, [0, 0], [8, 32])\n" + "\n".join(lines) + "\n        return " +
            ", ".join(f"o{i}" for i in range(len(targets))) + "\n")


def arguments(source, targets):
    return [inputs_of(source), *(np.zeros(SHAPE, NUMPY[t]) for t in targets)]


def modes_of(source):
    return MODES if source in FLOATS else ("", "floor")


def same(wanted, got, message):
    np.testing.assert_array_equal(got, wanted, message)


@pytest.mark.parametrize("platform", ["a2a3", "a5"])
def test_kernels_cast_as_the_interpreter_does(platform, tmp_path):
    kernels = []
    for source in NUMPY:
        for mode in modes_of(source):
            text = text_of(source, list(NUMPY), mode, f"k_{source}_{mode}")
            for backend in ("PTO", "CCE"):
                made = pypto_executed.kernels_of(text, 0, platform, backend, tmp_path)
                assert len(made) == 1
                made[0].inputs, made[0].compare = lambda s=source: arguments(s, NUMPY), same
                kernels += made
    assert len(kernels) == 2 * (3 * len(MODES) + 9 * 2)
    pypto_executed.check_kernels(kernels, platform, tmp_path)


def interpreted(source, target, mode):
    args = arguments(source, [target])
    ir.interpret(pl.parse(text_of(source, [target], mode, "k")), *args, function="k")
    return args[1]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("source", FLOATS)
def test_a_float_becomes_the_integer_that_the_mode_chooses_and_keeps_its_low_bits(source, mode):
    numbers = numbers_of(inputs_of(source), source).astype("float64")
    inside = np.abs(numbers) < 2**62
    wanted = np.where(inside, MODES[mode](np.where(inside, numbers, 0)).astype("int64"), np.iinfo("int64").min)
    for target in NUMPY:
        if "INT" in target:
            np.testing.assert_array_equal(interpreted(source, target, mode), wanted.astype(NUMPY[target]), target)


@pytest.mark.parametrize("source", INTEGERS)
def test_an_integer_keeps_its_low_bits_in_each_other_integer(source):
    for target in INTEGERS:
        np.testing.assert_array_equal(interpreted(source, target, ""), inputs_of(source).astype(NUMPY[target]), target)


def steps(source, target, arch):
    """Element types on the way, by the .pto text of a kernel; & where the low byte is cut out."""
    lowered = passes.PassManager.get_strategy("PTOAS", ("a2a3", "a5")[arch]).run_passes(
        pl.parse(text_of(source, [target], "", "k")))
    text = _core.generate(lowered, "pto", "k", arch)
    return [{"tmov": "=", "tands": "&"}.get(op, dtype) for op, dtype in
            re.findall(r"pto\.(tcvt|tands|tmov) .* outs\(.*dtype=(\w+)", text)]


@pytest.mark.parametrize("source, target, a2a3, a5", [
    ("INT64", "INT8", "i32 i16 & f16 i8", "i32 i8"), ("INT64", "UINT16", "i32 ui16", "i32 ui16"), ("INT64", "UINT64", "=", "="),
    ("UINT32", "INT32", "=", "="), ("UINT32", "BF16", "f32 bf16", "f32 bf16"), ("INT8", "UINT32", "f16 ui32", "ui32"),
    ("INT16", "UINT32", "f32 ui32", "ui32"), ("INT16", "UINT64", "f32 ui64", "f32 ui64"), ("INT16", "UINT8", "& f16 ui8", "ui8"),
    ("UINT64", "FP16", "f32 f16", "f32 f16"), ("FP16", "UINT64", "f32 ui64", "f32 ui64"), ("INT8", "UINT16", "f16 ui16", "ui16"),
    ("FP32", "INT8", "i16 & f16 i8", "i16 i8"), ("BF16", "FP16", "f32 f16", "f16"), ("INT64", "BF16", "f32 bf16", "f32 bf16"),
])
def test_the_shortest_way_is_taken(source, target, a2a3, a5):
    assert [" ".join(steps(source, target, arch)) for arch in (0, 1)] == [a2a3, a5]


FORMS = '''
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[32, 32], pl.{0}], n: pl.INT64, o: pl.InOut[pl.Tensor[[16, 32], pl.{1}]],
          c: pl.InOut[pl.Tensor[[32, 1], pl.{1}]]) -> pl.Tensor[[16, 32], pl.{1}]:
        t = pl.cast(pl.load(x, [0, 0], [16, 32], valid_shapes=[n, 32]), pl.{1})
        o = pl.store(t, [0, 0], [16, 32], o)
        s = pl.cast(pl.load(x, [0, 0], [32, 1]), pl.{1})
        c = pl.store(s, [0, 0], [32, 1], c)
        return o
'''


@pytest.mark.parametrize("platform", ["a2a3", "a5"])
def test_columns_and_tiles_that_are_valid_in_part_are_cast(platform, tmp_path):
    pairs = ("INT32", "UINT32"), ("UINT64", "INT64"), ("INT32", "INT8"), ("FP32", "INT32"), ("INT32", "BF16")
    kernels = []
    for source, target in pairs:
        for backend in ("PTO", "CCE"):
            made = pypto_executed.kernels_of(FORMS.format(source, target), 0, platform, backend, tmp_path)
            made[0].inputs = lambda s=source, t=target: [np.resize(inputs_of(s), (32, 32)), 5, np.ones((16, 32), NUMPY[t]),
                                                         np.ones((32, 1), NUMPY[t])]
            made[0].compare = same
            kernels += made
    pypto_executed.check_kernels(kernels, platform, tmp_path)


@pytest.mark.parametrize("mode", MODES)
def test_fp32_becomes_whole_numbers_by_a_mode_and_stays_as_it_is_without_one(mode):
    given = inputs_of("FP32")
    with np.errstate(invalid="ignore"):
        wanted = given if mode in ("", "none") else np.where(np.isinf(given), given, MODES[mode](given.astype("float64")))
    np.testing.assert_array_equal(interpreted("FP32", "FP32", mode), wanted)


@pytest.mark.parametrize("source", ["INT32", "INT64", "UINT32", "UINT64"])
def test_wide_integers_become_narrower_floats_by_way_of_fp32(source):
    given = inputs_of(source).astype("float32")
    np.testing.assert_array_equal(interpreted(source, "FP32", ""), given)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(interpreted(source, "FP16", ""), given.astype("float16"))
    bits = given.view("uint32")
    np.testing.assert_array_equal(interpreted(source, "BF16", ""), ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype("uint16"))


def test_eight_bits_of_fp32_are_rounded_once():
    """The smallest cases: FP16 in between makes 2.5 of the first two, and infinity of the last."""
    x = np.resize(np.array([2.4999, 2.5001, 70000, -2.4999], "float32"), SHAPE)
    for mode, wanted in (("", [2, 3, 112, -2]), ("rint", [2, 3, 112, -2]), ("ceil", [3, 3, 112, -2])):
        out = np.zeros(SHAPE, "int8")
        ir.interpret(pl.parse(text_of("FP32", ["INT8"], mode, "k")), x, out, function="k")
        assert out.ravel()[:4].tolist() == wanted
