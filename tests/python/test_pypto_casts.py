# SPDX-License-Identifier: MIT
"""Casts of every pair of element types by every mode: kernels of both back ends compute what the interpreter says, to the last
bit, and the interpreter says what decision D10 does."""
import os
import sys

import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import ir  # noqa: E402
from test_pypto_refusals import CONVERSIONS  # noqa: E402
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz"))
import pypto_executed  # noqa: E402

NUMPY = {"INT8": "int8", "INT16": "int16", "INT32": "int32", "INT64": "int64", "UINT8": "uint8", "UINT16": "uint16",
         "UINT32": "uint32", "UINT64": "uint64", "FP16": "float16", "BF16": "uint16", "FP32": "float32", "BOOL": "bool"}
FLOATS = ("FP16", "BF16", "FP32")
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
    for source, targets in CONVERSIONS.items():
        for mode in modes_of(source):
            text = text_of(source, targets, mode, f"k_{source}_{mode}")
            for backend in ("PTO", "CCE"):
                made = pypto_executed.kernels_of(text, 0, platform, backend, tmp_path)
                assert len(made) == 1
                made[0].inputs, made[0].compare = lambda s=source, t=targets: arguments(s, t), same
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
    for target in CONVERSIONS[source]:
        if "INT" in target:
            np.testing.assert_array_equal(interpreted(source, target, mode), wanted.astype(NUMPY[target]), target)


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
