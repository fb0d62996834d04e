# SPDX-License-Identifier: MIT
"""Loops over negative and very large numbers: trips of interpreted programs, and of the kernels of both back ends."""
import os
import sys

import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import _core, ir, passes  # noqa: E402
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz"))
import pypto_executed  # noqa: E402

HALF, MOST, LEAST = 2**62, 2**63 - 1, -2**63
N = (0, 2, 5, -2)


def kernel(name, lines):
    """Stores m, which the lines compute from n."""
    return "\n".join(["@pl.program", "class P:", "    @pl.function(type=pl.FunctionType.InCore)",
                      f"    def {name}(self, n: pl.INT64, y: pl.Out[pl.Tensor[[1, 8], pl.FP32]]) -> pl.Tensor[[1, 8], pl.FP32]:",
                      "        t = pl.full([1, 8], dtype=pl.FP32, value=0.0)", "        m = 0",
                      *(f"        {line}" for line in lines),
                      "        t = pl.adds(t, pl.cast(m, pl.FP32))", "        y = pl.store(t, [0, 0], [1, 8], y)",
                      "        return y", ""])


def computed(lines, n):
    """What Python makes of the lines."""
    class Ranges:
        @staticmethod
        def range(*bounds, **_):
            return range(*bounds)
        unroll = range
    scope = {"pl": Ranges, "n": n, "m": 0}
    exec("\n".join(lines), scope)  # pylint: disable=exec-used
    return scope["m"]


def interpreted(program, name, n):
    y = np.zeros((1, 8), "float32")
    ir.interpret(program, n, y, function=name)
    assert (y == y[0, 0]).all()
    return y[0, 0]


def check_all(cases, folder):
    """The interpreter before and after the passes, and kernels of both back ends, which it is compared with."""
    kernels = []
    for i, lines in enumerate(cases):
        text = kernel(f"k{i}", lines)
        program = pl.parse(text)
        lowered = passes.PassManager.get_strategy("Default").run_passes(program)
        for n in N:
            assert interpreted(program, f"k{i}", n) == interpreted(lowered, f"k{i}", n) == computed(lines, n), (lines, n)
        kernels += [k for seed in range(3) for backend in ("PTO", "CCE")
                    for k in pypto_executed.kernels_of(text, seed, "a2a3", backend, folder)]
    assert len(kernels) == 6 * len(cases)
    pypto_executed.check_kernels(kernels, "a2a3", folder)


def test_loops_inside_of_loops_over_signed_numbers(tmp_path):
    check_all([[f"for i in pl.range({outer}):", f"    for j in pl.range({inner}):", "        m = m * 3 + i * 7 + j + 1",
                "        m = m % 1009"]
               for outer in ("0, 4", "-3, 3", "0, -5", "5, -2, -2", "n - 3, n + 1")
               for inner in ("i", "-2, i", "i - 5, i", "i, -4, -1", "0, i - 2", "n, i", "i, i + 9, i + 4", "0, i * -1, -1")
               if (outer, inner) not in (("5, -2, -2", "i, i + 9, i + 4"), ("-3, 3", "i, i + 9, i + 4"),
                                         ("n - 3, n + 1", "i, i + 9, i + 4"))], tmp_path)


def test_a_loop_variable_that_bounds_another_loop_is_signed():
    for inner, type_ in (("0, 4", "uint64_t"), ("-2, i", "int64_t"), ("i, 4", "int64_t"), ("0, 9, i + 1", "int64_t")):
        program = pl.parse(kernel("k", ["for i in pl.range(0, 4):", f"    for j in pl.range({inner}):", "        m = m + i + j"]))
        text = _core.generate(passes.PassManager.get_strategy("Default").run_passes(program), "cce", "k", 0)
        assert f"for ({type_} i = 0;" in text
    program = pl.parse(kernel("k", ["for i in pl.range(0, -5):", "    m = m + i"]))
    text = _core.generate(passes.PassManager.get_strategy("Default").run_passes(program), "cce", "k", 0)
    assert "for (int64_t i = 0; i < -5" in text


FAR = [f"{-HALF}, {HALF - 1}, {HALF // 2}", f"{HALF - 1}, {-HALF}, {-HALF // 2}", f"0, {MOST}, {HALF}", f"{MOST - 2}, {MOST}",
       f"{LEAST}, {LEAST + 3}", f"{LEAST + 3}, {LEAST}, -1", f"5, -5, {LEAST}", f"-5, 5, {MOST}",
       f"{MOST}, {LEAST}, 1", f"{LEAST}, -1, {MOST}"]


def test_loops_over_very_large_numbers(tmp_path):
    cases = [[f"for i in pl.{loop}({bounds}{chunk}):", "    m = m * 3 + i % 1000 + 1"]
             for bounds in FAR for loop, chunk in (("range", ""), ("unroll", ""), ("range", ", chunk=2"))]
    check_all(cases, tmp_path)


@pytest.mark.parametrize("loop", ["range({})", "unroll({})", "parallel({})", "range({}, chunk=2)"])
@pytest.mark.parametrize("bounds", [f"{-HALF}, {HALF}, {HALF // 2}", f"{LEAST}, {MOST}", f"{MOST}, {LEAST}, -1",
                                    f"1, {LEAST}, {LEAST}"])
def test_bounds_that_are_too_far_apart_are_refused(loop, bounds):
    with pytest.raises(pl.ParserSyntaxError, match=r"must not be more than 2\^63 - 1 apart") as e:
        pl.parse(kernel("k", ["m = 1", f"for i in pl.{loop.format(bounds)}:", "    m = m + 1"]))
    assert e.value.span.line == 8


def test_steps_that_cannot_be_counted_are_refused():
    program = pl.parse(kernel("k", [f"for i in pl.range(n, 5, {2**31}, chunk=2):", "    m = m + 1"]))
    with pytest.raises(pl.CompileError, match="goes too far to count its trips") as e:
        passes.PassManager.get_strategy("Default").run_passes(program)
    assert e.value.span.line == 7


@pytest.mark.parametrize("bounds, copies", [(f"{MOST}", MOST), (f"{-HALF}, {HALF - 1}", MOST), (f"{LEAST}, -1", MOST),
                                            ("1025", 1025)])
def test_very_many_copies_are_refused(bounds, copies):
    program = pl.parse(kernel("k", [f"for i in pl.unroll({bounds}):", "    m = m + 1"]))
    with pytest.raises(pl.CompileError, match=f"would copy its body {copies} times"):
        passes.PassManager.get_strategy("Default").run_passes(program)


@pytest.mark.parametrize("type_, value", [("UINT32", 2**32 - 5), ("UINT16", 2**16 - 5), ("UINT8", 251)])
def test_a_cast_to_a_narrower_or_signed_type_may_be_negative(type_, value, tmp_path):
    cases = []
    for signed in ("INT32", "INT16", "INT8"):
        for expression in (f"max(u, {value})", f"min(max(u, {value}), {value})", f"pl.cast({value}, pl.{type_})"):
            cases.append([f"u = pl.cast(n, pl.{type_})", f"v = pl.cast({expression}, pl.{signed})",
                          "m = pl.cast(v // 2 * 10 + v % 7, pl.INDEX)"])
    kernels = []
    for i, lines in enumerate(cases):
        kernels += [k for seed in range(2) for backend in ("PTO", "CCE")
                    for k in pypto_executed.kernels_of(kernel(f"k{i}", lines), seed, "a2a3", backend, tmp_path)]
    assert len(kernels) == 4 * len(cases)
    pypto_executed.check_kernels(kernels, "a2a3", tmp_path)


@pytest.mark.parametrize("lines, line", [
    (["i = 1", "for i in pl.range(n):", "    m = m + 1", "m = i"], 10),
    (["i = 1", "for i in pl.unroll(3):", "    i = i + 3", "m = i"], 10),
    (["i = 1", "if n > 1:", "    for i in pl.range(n):", "        m = m + 1", "m = i"], 11),
    (["i = 1", "while n > 1:", "    m = i", "    for i in pl.range(n):", "        m = m + 1", "    n = n - 1"], 10),
    (["for i in pl.range(n):", "    for i in pl.range(2):", "        m = m + 1", "    m = i"], 10),
])
def test_what_a_loop_counted_in_is_not_used_behind_it(lines, line):
    with pytest.raises(pl.UndefinedVariableError, match="'i' had a value before the loop over 'i', which would be another") as e:
        pl.parse(kernel("k", lines))
    assert e.value.span.line == line


def test_a_name_that_a_loop_counted_in_is_assigned_again():
    lines = ["i = 1", "for i in pl.range(n):", "    m = m + i", "for i in pl.range(2):", "    m = m + 1", "i = 5", "m = m + i"]
    assert [interpreted(pl.parse(kernel("k", lines)), "k", n) for n in N] == [computed(lines, n) for n in N]
