# SPDX-License-Identifier: MIT
"""Tiles that branches and loops hand on: smallest cases of what random programs found, the same before and after each pass,
and computed by the kernels of both back ends."""
import os
import sys

import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import _core, ir, passes  # noqa: E402
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz"))
import pypto_executed  # noqa: E402

CUBE = '''
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[16, 16], pl.FP16], b: pl.Tensor[[16, 16], pl.FP16], n: pl.INT64,
          o: pl.Out[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
        l = pl.move(pl.load(a, [0, 0], [16, 16], target_memory=pl.MemorySpace.Mat), target_memory=pl.MemorySpace.Left)
        r = pl.move(pl.load(b, [0, 0], [16, 16], target_memory=pl.MemorySpace.Mat), target_memory=pl.MemorySpace.Right)
        c = pl.matmul(l, r)
'''
VECTOR = '''
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[16, 16], pl.FP32], n: pl.INT64, o: pl.Out[pl.Tensor[[16, 16], pl.FP32]]
          ) -> pl.Tensor[[16, 16], pl.FP32]:
        c = pl.load(a, [0, 0], [16, 16])
        v = pl.load(a, [0, 0], [16, 16], valid_shapes=[7, 16])
'''


def after_passes(head, body, inputs, n):
    """What the kernel stores, equal after each pass; both back ends have text for it."""
    text = head + "".join(f"        {line}\n" for line in [*body, "o = pl.store(c, [0, 0], [16, 16], o)", "return o"])
    program, wanted = pl.parse(text), None
    for name in [None, *passes.PassManager.get_strategy("Default").names]:
        if name:
            program = passes.PassManager([name]).run_passes(program)
        out = np.zeros((16, 16), "float32")
        ir.interpret(program, *inputs, n, out, function="k")
        wanted = out if wanted is None else wanted
        assert np.array_equal(out, wanted), f"{name} changes the result"
    assert "return" in _core.generate(program, "pto", "k", 0) and "TSTORE(" in _core.generate(program, "cce", "k", 0)
    return wanted


@pytest.mark.parametrize("body, products", [
    (["if n > 1:", "    c = pl.matmul_acc(c, l, r)"], lambda n: 1 + (n > 1)),
    (["if n > 1:", "    c = pl.matmul_acc(c, l, r)", "else:", "    c = pl.matmul_acc(pl.matmul_acc(c, l, r), l, r)"],
     lambda n: 2 if n > 1 else 3),
    (["if n > 1:", "    c = pl.matmul(l, r)", "    c = pl.matmul_acc(c, l, r)"], lambda n: 1 + (n > 1)),
    (["if n > 1:", "    c = pl.matmul_acc(c, l, r)", "if n > 2:", "    c = pl.matmul_acc(c, l, r)", "else:",
      "    c = pl.matmul(l, r)"], lambda n: 1 + (n > 1) + 1 if n > 2 else 1),
    (["if n > 1:", "    if n > 2:", "        c = pl.matmul_acc(c, l, r)"], lambda n: 1 + (n > 2)),
    (["for i in pl.range(n):", "    c = pl.matmul(l, r)", "    c = pl.matmul_acc(c, l, r)"], lambda n: 2 if n else 1),
    (["for i in pl.range(n):", "    c = pl.matmul(l, r)", "    if i > 0:", "        c = pl.matmul_acc(c, l, r)"],
     lambda n: 2 if n > 1 else 1),
    (["for i in pl.range(n):", "    c = pl.matmul(l, r)", "    for j in pl.range(i):", "        c = pl.matmul_acc(c, l, r)"],
     lambda n: max(n, 1)),
    (["while n > 0:", "    c = pl.matmul_acc(c, l, r)", "    n = n - 1"], lambda n: 1 + n),
])
@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_accumulators_are_merged_in_place(body, products, n):
    random = np.random.default_rng(1)
    a, b = (random.uniform(-1, 1, (16, 16)).astype("float16") for _ in range(2))
    got = after_passes(CUBE, body, [a, b], n)
    assert np.allclose(got, products(n) * (a.astype("float64") @ b.astype("float64")), atol=1e-4)


def filled(a, value):
    return np.where(np.arange(16)[:, None] < 7, a, np.float32(value))


@pytest.mark.parametrize("body, wanted", [
    (["if n > 1:", "    c = pl.fillpad(v, pad='max')"], lambda a, n: filled(a, np.inf) if n > 1 else a),
    (["for i in pl.range(n):", "    c = pl.fillpad(v, pad=-2.5)"], lambda a, n: filled(a, -2.5) if n else a),
    (["c = pl.fillpad(v)", "if n > 1:", "    c = pl.fillpad(v, pad='min')"], lambda a, n: filled(a, -np.inf if n > 1 else 0)),
    (["for i, (d,) in pl.range(n, init_values=(c,)):", "    c = pl.yield_(pl.fillpad(v, pad=1))"],
     lambda a, n: filled(a, 1) if n else a),
])
@pytest.mark.parametrize("n", [0, 1, 2])
def test_a_filled_tile_is_a_tile_like_any_other(body, wanted, n):
    a = np.random.default_rng(2).uniform(-1, 1, (16, 16)).astype("float32")
    assert np.array_equal(after_passes(VECTOR, body, [a], n), wanted(a, n))


@pytest.mark.parametrize("lines", [
    ["while n > 0:", "    n = n - 1", "    x = pl.store(t, [0, 0], [8, 8], x)"],
    ["if n > 1:", "    x = pl.store(t, [0, 0], [8, 8], x)", "x = pl.store(t, [0, 0], [8, 8], x)"],
    ["for i in pl.range(n):", "    if n > 1:", "        x = pl.store(t, [0, 0], [8, 8], x)"],
])
def test_a_region_that_writes_somewhere_inside_has_an_inout_parameter(lines):
    program = pl.parse("@pl.program\nclass P:\n    @pl.function\n"
                       "    def main(self, x: pl.Tensor[[8, 8], pl.FP32], n: pl.INT64) -> pl.Tensor[[8, 8], pl.FP32]:\n"
                       "        with pl.incore():\n            t = pl.load(x, [0, 0], [8, 8])\n" +
                       "".join(f"            {line}\n" for line in lines) + "        return x\n")
    for name in ("ConvertToSSA", "FlattenCallExpr", "OutlineIncoreScopes"):
        program = passes.PassManager([name]).run_passes(program)
    kernel, main = program.functions["main_incore_0"], program.functions["main"]
    assert dict(zip([p.name for p in kernel.params], kernel.param_directions)) == {"n_0": 0, "x_0": 2}
    assert main.param_directions == [2, 0]


RAGGED = """
M = pl.dynamic("M")
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k{}(self, x: pl.Tensor[[M, 32], pl.FP32], n: pl.INT64, o: pl.InOut[pl.Tensor[[M, 32], pl.FP32]]
          ) -> pl.Tensor[[M, 32], pl.FP32]:
        for r in pl.range(0, M, 16):
            rows = min(M - r, 16)
            t = pl.load(x, [r, 0], [16, 32], valid_shapes=[rows, 32])
            u = pl.mul(t, t)
{}
            o = pl.store(v, [r, 0], [16, 32], o)
        return o
"""


@pytest.mark.parametrize("platform", ["a2a3", "a5"])
def test_merged_tiles_have_as_many_valid_rows_as_those_that_were_merged(platform, tmp_path):
    bodies = [
        ["if n > 2:", "    v = pl.yield_(pl.add(t, u))", "else:", "    v = pl.yield_(pl.sub(t, u))"],
        ["v = t", "if n > 2:", "    v = pl.mul(v, u)", "w = pl.add(v, t)", "v = pl.maximum(v, w)"],
        ["if n > 2:", "    w = pl.yield_(pl.exp(t))", "else:", "    w = pl.yield_(t)", "v = pl.row_expand_sub(w, pl.row_max(w))"],
        ["for i, (a, b) in pl.range(3, init_values=(t, u)):", "    v, w = pl.yield_(pl.add(a, b), a)"],
        ["v = t", "while n > 0:", "    n = n - 1", "    v = pl.add(v, u)"],
        ["v = t", "for i in pl.range(n):", "    if i > 1:", "        v = pl.add(v, u)", "    else:", "        v = pl.sub(u, v)"],
    ]
    kernels = []
    for i, body in enumerate(bodies):
        text = RAGGED.format(i, "\n".join(f"            {line}" for line in body))
        for seed in range(3):
            for backend in ("PTO", "CCE"):
                kernels += pypto_executed.kernels_of(text, seed, platform, backend, tmp_path)
    assert len(kernels) == 36
    pypto_executed.check_kernels(kernels, platform, tmp_path)


def test_a_number_as_condition_is_true_unless_it_is_0(tmp_path):
    cases = [
        (["if n:", "    m = m + 1"], lambda n, f: n != 0), (["while n:", "    m = m + 1", "    n = n - 1"], lambda n, f: n),
        (["if not n:", "    m = m + 1"], lambda n, f: n == 0), (["if f:", "    m = m + 1"], lambda n, f: f != 0),
        (["if n and f:", "    m = m + 1"], lambda n, f: n != 0 and f != 0),
        (["if n or f:", "    m = m + 1"], lambda n, f: n != 0 or f != 0),
        (["if n > 1 and f:", "    m = m + 1"], lambda n, f: n > 1 and f != 0),
    ]
    kernels = []
    for i, (lines, wanted) in enumerate(cases):
        text = ("@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n"
                f"    def k{i}(self, n: pl.INT32, f: pl.FP32, y: pl.Out[pl.Tensor[[1, 8], pl.FP32]]) -> pl.Tensor[[1, 8], pl.FP32]:\n"
                "        t = pl.full([1, 8], dtype=pl.FP32, value=0.0)\n        m = 0\n" + "".join(f"        {line}\n" for line in lines) +
                "        t = pl.adds(t, pl.cast(m, pl.FP32))\n        y = pl.store(t, [0, 0], [1, 8], y)\n        return y\n")
        program = pl.parse(text)
        for n, f in ((0, 0.0), (3, 0.0), (2, 0.5), (0, -1.0)):
            y = np.zeros((1, 8), "float32")
            ir.interpret(program, n, f, y, function=f"k{i}")
            assert (y == wanted(n, f)).all(), (n, f)
        kernels += [k for seed in range(4) for backend in ("PTO", "CCE")
                    for k in pypto_executed.kernels_of(text, seed, "a2a3", backend, tmp_path)]
    pypto_executed.check_kernels(kernels, "a2a3", tmp_path)


@pytest.mark.parametrize("loop", ["pl.range(0, m)", "pl.range(m, 5)", "pl.range(0, m + 1)", "pl.range(m, -1, -2)", "pl.range(0, 6, m + 1)"])
@pytest.mark.parametrize("outer, first", [("for i in pl.range(0, 4):", "0"), ("while m < 4:", "n")])
def test_loops_count_to_what_another_loop_carries(outer, first, loop):
    body = [f"m = {first}", outer, f"    for j in {loop}:", "        c = pl.add(c, 1.0)", "    m = m + 1"]
    bounds = loop.removeprefix("pl.range")
    for n in (0, 2):
        start = 0 if first == "0" else n
        wanted = sum(len(eval(f"range{bounds}", {"m": m})) for m in range(start, 4))  # pylint: disable=eval-used
        a = np.ones((16, 16), "float32")
        assert (after_passes(VECTOR, body, [a], n) == 1 + wanted).all()


def test_an_orchestration_counts_to_what_a_loop_carries():
    text = VECTOR + ("        o = pl.store(pl.add(c, 1.0), [0, 0], [16, 16], o)\n        return o\n"
                     "    @pl.function(type=pl.FunctionType.Orchestration)\n"
                     "    def main(self, x: pl.InOut[pl.Tensor[[16, 16], pl.FP32]], n: pl.INT64) -> pl.Tensor[[16, 16], pl.FP32]:\n"
                     "        i = 0\n        while i < 4:\n            for j in pl.range(0, i):\n"
                     "                x = self.k(x, n, x)\n            i = i + 1\n        return x\n")
    program = passes.PassManager.get_strategy("Default").run_passes(pl.parse(text))
    x = np.zeros((16, 16), "float32")
    ir.interpret(program, x, 0)
    assert (x == 6).all() and "< i" in _core.generate(program, "orchestration", "main", 0)
