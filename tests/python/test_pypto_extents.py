# SPDX-License-Identifier: MIT
"""Extents that are variables: a tile or tensor keeps those that it was made with, whatever the variable is later."""
import os
import sys

import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import ir, passes, runtime  # noqa: E402
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz"))
import pypto_executed  # noqa: E402

T = "pl.Tensor[[16, 16], pl.FP32]"
HEAD = f'''
@pl.inline
def rows(x, count):
    part = pl.load(x, [0, 0], [16, 16], valid_shapes=[count, 16])
    count = count + 9
    return pl.add(part, 1.0)

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: {T}, c: pl.Tensor[[4], pl.INT64], n: pl.INT64, o: pl.InOut[{T}]) -> {T}:
'''
LOAD = "t = pl.load(a, [0, 0], [16, 16], valid_shapes=[n, 16])"
ADD = "u = pl.add(t, 1.0)"
STORE = "o = pl.store(u, [0, 0], [16, 16], o)"


def text_of(*lines):
    return HEAD + "".join(f"        {line}\n" for line in [*lines, "return o"])


def region(rows, columns=16):
    """Which elements are written."""
    wanted = np.zeros((16, 16), bool)
    wanted[:rows, :columns] = True
    return wanted


def at_each_stage(text, n, strategy="Default", platform="a2a3"):
    """What is written, the same at each stage and by the program that its text gives, which has the same text."""
    program, results = pl.parse(text), []
    for name in [None, *passes.PassManager.get_strategy(strategy, platform).names]:
        program = passes.PassManager([name], platform).run_passes(program) if name else program
        again = pl.parse(str(program))
        assert str(again) == str(program), name
        ir.assert_structural_equal(again, program)
        for p in (program, again):
            a, o = np.arange(256, dtype="float32").reshape(16, 16), np.full((16, 16), -1, "float32")
            ir.interpret(p, a, np.array([9, 3, 5, 7]), n, o, function="k")
            assert (o[o >= 0] == (a + 1)[o >= 0]).all(), name
            results.append(o >= 0)
    assert all((r == results[0]).all() for r in results)
    return results[0]


CASES = {
    "assigned": ([LOAD, "n = n + 3", ADD, STORE], lambda n: region(n)),
    "assigned before": (["n = n + 3", LOAD, ADD, STORE], lambda n: region(n + 3)),
    "constant": (["m = 5", LOAD.replace("n,", "m,"), "m = m + n", ADD, STORE], lambda n: region(5)),
    "expression": ([LOAD.replace("n,", "n * 2 + 1,"), "n = n + 3", ADD, STORE], lambda n: region(2 * n + 1)),
    "columns": ([LOAD.replace("[n, 16]", "[16, n]"), "n = n + 3", ADD, STORE], lambda n: region(16, n)),
    "both": ([LOAD.replace("[n, 16]", "[n, n]"), "n = n + 3", ADD, STORE], lambda n: region(n, n)),
    "conversion": (["m: pl.INT32 = 4", LOAD.replace("n,", "pl.cast(m, pl.INT64),"), "m = m + 3", ADD, STORE],
                   lambda n: region(4)),
    "loop": (["for i in pl.range(3):", f"    {LOAD}", "    n = n + 2", f"    {ADD}", f"    {STORE}"], lambda n: region(n + 4)),
    "loop behind": ([LOAD, "for i in pl.range(3):", "    n = n + 1", ADD, STORE], lambda n: region(n)),
    "loop inside": ([LOAD, "for i in pl.range(3):", f"    {ADD}", f"    {STORE}", "    n = n + 1"], lambda n: region(n)),
    "loop twice": ([LOAD, ADD, "for i in pl.range(2):", f"    {LOAD}", f"    {ADD}", "    n = n + 1", f"    {STORE}"],
                   lambda n: region(n + 1)),
    "while": (["while n < 9:", f"    {LOAD}", "    n = n + 4", f"    {ADD}", f"    {STORE}"],
              lambda n: region(max(range(n, 9, 4)))),
    "branch": ([LOAD, "if n > 2:", "    n = n + 2", ADD, STORE], lambda n: region(n)),
    "after a branch": (["if n > 2:", "    n = n + 2", LOAD, ADD, STORE], lambda n: region(n + 2 if n > 2 else n)),
    "in a branch": (["if n > 2:", f"    {LOAD}", "    n = n + 2", f"    {ADD}", f"    {STORE}"],
                    lambda n: region(n if n > 2 else 0)),
    "two of one": ([LOAD, LOAD.replace("t =", "s ="), "n = n + 3", "u = pl.add(t, pl.sub(s, pl.sub(t, 1.0)))", STORE],
                   lambda n: region(n)),
    "other number": ([LOAD, "n = n + 3", ADD, "v = u", LOAD, ADD, STORE, "o = pl.store(v, [0, 0], [16, 16], o)"],
                     lambda n: region(n + 3)),
    "carried": (["for i, (m,) in pl.range(3, init_values=(n,)):", f"    {LOAD.replace('n,', 'm,')}", "    m = m + 2",
                 f"    {ADD}", f"    {STORE}", "    m = pl.yield_(m)"], lambda n: region(n + 4)),
    "result of a loop": (["for i, (m,) in pl.range(3, init_values=(n,)):", "    m = pl.yield_(m + 1)",
                          LOAD.replace("n,", "m,"), "m = m + 2", ADD, STORE], lambda n: region(n + 3)),
    "loop variable": (["for i in pl.range(1, 8, 3):", f"    {LOAD.replace('n,', 'i,')}", "    i = i + 2", f"    {ADD}",
                       f"    {STORE}"], lambda n: region(7)),
    "unrolled": (["for i in pl.unroll(1, 8, 3):", f"    {LOAD.replace('n,', 'i,')}", f"    {ADD}", f"    {STORE}"],
                 lambda n: region(7)),
    "element": ([LOAD.replace("n,", "pl.min(pl.max(pl.tensor.read(c, [0]), 0), 16),"), ADD, STORE], lambda n: region(9)),
    "elements": (["for i in pl.range(4):", "    n = pl.min(pl.max(pl.tensor.read(c, [i]), 0), 16)", f"    {LOAD}", f"    {ADD}",
                  f"    {STORE}"], lambda n: region(9)),
    "inline": (["u = rows(a, n)", "n = n + 2", STORE, "u = rows(a, n)", STORE], lambda n: region(n + 2)),
    "tuple": ([LOAD, "n, m = (n + 1, n + 2)", ADD, STORE, LOAD.replace("n,", "m,"), ADD, STORE], lambda n: region(n + 2)),
    "transposed": ([LOAD, "w = pl.transpose(t, 0, 1)", "n = n + 3", "u = pl.add(pl.transpose(w, 1, 0), 1.0)", STORE],
                   lambda n: region(n)),
}


@pytest.mark.parametrize("name", CASES)
def test_tile_keeps_its_extents(name):
    lines, wanted = CASES[name]
    for n in (0, 2, 5):
        got = at_each_stage(text_of(*lines), n)
        assert (got == wanted(n)).all(), f"{n}: {got.sum(0)} columns, {got.sum(1)} rows"


@pytest.mark.parametrize("platform", ["a2a3", "a5"])
def test_kernels_write_what_the_interpreter_says(platform, tmp_path):
    kernels = [k for seed, (lines, _) in enumerate(CASES.values()) for backend in ("PTO", "CCE")
               for k in pypto_executed.kernels_of(text_of(*lines), seed, platform, backend, tmp_path)]
    assert len(kernels) == 2 * len(CASES)
    pypto_executed.check_kernels(kernels, platform, tmp_path)


def test_variable_that_keeps_its_value_is_named_itself():
    program = pl.parse(text_of("m = n + 1", LOAD.replace("n,", "m,"), ADD, STORE))
    assert "valid_shape=[m, 16]" in str(program) and "_v" not in str(program)


def test_extent_is_bound_once_for_equal_tiles():
    text = str(pl.parse(text_of(LOAD, LOAD.replace("t =", "s ="), "n = n + 3", LOAD, ADD, STORE)))
    assert [line.split(":")[0].strip() for line in text.splitlines() if "_v" in line.split(":")[0]] == ["_v0_n", "_v1_n"]
    assert text.count("valid_shapes=[_v0_n, 16]") == 2 and text.count("valid_shapes=[_v1_n, 16]") == 1


@pytest.mark.parametrize("lines, error, line, message", [
    ([LOAD, "s = t", "n = n + 1", LOAD, "u = pl.add(s, t)", STORE], pl.InvalidOperationError, 5,
     r"\[_v0_n, 16\] and \[_v1_n, 16\]"),
    ([LOAD, "for i in pl.range(2):", f"    {ADD}", f"    {STORE}", "    n = n + 1", f"    {LOAD}"], pl.ParserTypeError, 2,
     "The loop changes the type of 't'"),
    (["if n > 1:", f"    {LOAD}", "else:", "    n = n + 1", f"    {LOAD}", ADD, STORE], pl.UndefinedVariableError, 6,
     "depending on one branch"),
    ([LOAD, "for i, (s,) in pl.range(2, init_values=(t,)):", "    w = pl.load(a, [0, 0], [16, 16])", "    u = pl.yield_(w)",
      STORE], pl.ParserTypeError, 4, "Carried value 's' is "),
    (["if n > 1:", "    u = pl.yield_(pl.load(a, [0, 0], [16, 16]))", "else:", f"    {LOAD}", "    u = pl.yield_(t)", STORE],
     pl.ParserTypeError, 5, "The branches yield"),
])
def test_tiles_of_other_extents_are_not_the_same(lines, error, line, message):
    text = text_of(*lines)
    with pytest.raises(error, match=message) as raised:
        pl.parse(text)
    assert raised.value.errors[0].span.line - HEAD.count("\n") == line


def test_extent_of_a_parameter_is_not_assigned():
    with pytest.raises(pl.ParserSyntaxError, match="Parameter 'n' is an extent of parameter 'x' and keeps its value"):
        pl.parse("@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n"
                 "    def k(self, n: pl.INDEX, x: pl.Tensor[[n, 16], pl.FP32]):\n        n = n + 1\n")


ORCHESTRATION = f'''
M = pl.dynamic("M")

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def fill(self, a: {T}, y: pl.Out[pl.Tensor[[M, 16], pl.FP32]]) -> pl.Tensor[[M, 16], pl.FP32]:
        for i in pl.range(pl.dim(y, 0)):
            y = pl.store(pl.load(a, [i, 0], [1, 16]), [i, 0], [1, 16], y)
        return y

    @pl.function(type=pl.FunctionType.InCore)
    def add(self, y: pl.Tensor[[M, 16], pl.FP32], o: pl.InOut[{T}]) -> {T}:
        for i in pl.range(pl.dim(y, 0)):
            s = pl.add(pl.load(y, [i, 0], [1, 16]), pl.load(o, [i, 0], [1, 16]))
            o = pl.store(s, [i, 0], [1, 16], o)
        return o

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: {T}, n: pl.INT64, o: pl.InOut[{T}]) -> {T}:
        for i in pl.range(2):
            y = pl.create_tensor([n, 16], dtype=pl.FP32)
            part = pl.slice(a, [n, 16], [0, 0])
            n = n + 4
            y = self.fill(a, y)
            o = self.add(y, o)
            o = self.add(part, o)
        return o
'''


def test_tensors_keep_their_extents():
    program = pl.parse(ORCHESTRATION)
    a = np.arange(256, dtype="float32").reshape(16, 16)
    wanted = np.zeros((16, 16), "float32")
    wanted[:3] += 2 * a[:3]
    wanted[:7] += 2 * a[:7]
    calls = [lambda *args: ir.interpret(program, *args)]
    calls += [runtime.compile(program, f"{platform}sim", backend) for platform in ("a2a3", "a5")
              for backend in (runtime.BackendType.PTO, runtime.BackendType.CCE)]
    for name in passes.PassManager.get_strategy("Default").names:
        program = passes.PassManager([name]).run_passes(program)
        calls.append(lambda *args, p=program: ir.interpret(p, *args))
    for call in calls:
        o = np.zeros((16, 16), "float32")
        call(a, 3, o)
        assert (o == wanted).all()
