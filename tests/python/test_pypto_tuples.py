# SPDX-License-Identifier: MIT
"""Tuples of tiles, tensors and scalars: their elements are values like others, whatever loops and branches do with them."""
import os
import re
import sys
import types

import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import ir, passes, runtime  # noqa: E402
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz"))
import pypto_executed  # noqa: E402

T = "pl.Tensor[[16, 16], pl.FP32]"
KERNEL = f'''
@pl.inline
def twice(x):
    s = pl.add(x, x)
    return (s, x)

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: {T}, b: {T}, n: pl.INT64, o: pl.InOut[{T}]) -> {T}:
        x = pl.load(a, [0, 0], [16, 16])
        y = pl.load(b, [0, 0], [16, 16])
'''
CASES = {
    "init": ["p = (x, y)", "for i, (s,) in pl.range(n, init_values=(p[0],)):", "    s = pl.yield_(pl.add(s, p[1]))", "u = s"],
    "init unpacked": ["v, w = (x, y)", "for i, (s,) in pl.range(n, init_values=(v,)):", "    s = pl.yield_(pl.add(s, w))",
                      "u = pl.add(s, v)"],
    "used after": ["p = (x, y)", "for i, (s,) in pl.range(n, init_values=(p[0],)):", "    s = pl.yield_(pl.add(s, p[1]))",
                   "u = pl.add(s, p[0])"],
    "both": ["p = (x, y)", "for i, (s, r) in pl.range(n, init_values=(p[0], p[0])):",
             "    s, r = pl.yield_(pl.add(s, p[1]), pl.mul(r, 2.0))", "u = pl.add(s, r)"],
    "assigned": ["p = (x, y)", "s = p[0]", "for i in pl.range(n):", "    s = pl.add(s, p[1])", "u = pl.add(s, p[0])"],
    "swap": ["v, w = (x, y)", "for i in pl.range(n):", "    v, w = (w, pl.add(v, w))", "u = v"],
    "tuple swapped": ["p = (x, y)", "for i in pl.range(n):", "    p = (p[1], pl.add(p[0], p[1]))", "u = p[0]"],
    "tuple chosen": ["p = (x, y)", "if n > 1:", "    p = (y, x)", "u = pl.sub(p[0], p[1])"],
    "tuple chosen of two": ["if n > 1:", "    p = (y, x)", "else:", "    p = (x, pl.add(x, y))", "u = pl.sub(p[0], p[1])"],
    "tuple yielded": ["if n > 1:", "    p = pl.yield_((y, x))", "else:", "    p = pl.yield_((x, pl.add(x, y)))",
                      "u = pl.sub(p[0], p[1])"],
    "tuple init": ["p = (x, y)", "for i, (q,) in pl.range(n, init_values=(p,)):",
                   "    q = pl.yield_((q[1], pl.add(q[0], q[1])))", "u = pl.sub(q[0], q[1])"],
    "nested": ["p = ((x, y), y)", "for i, (s,) in pl.range(n, init_values=(p[0][1],)):", "    s = pl.yield_(pl.add(s, p[1]))",
               "u = pl.add(s, p[0][0])"],
    "nested unpacked": ["p = ((x, y), y)", "q, r = p", "v, w = q", "for i, (s,) in pl.range(n, init_values=(w,)):",
                        "    s = pl.yield_(pl.add(s, r))", "u = pl.add(s, v)"],
    "nested carried": ["p = ((x, y), 1.0)", "for i in pl.range(n):",
                       "    p = ((p[0][1], pl.add(p[0][0], p[0][1])), p[1] + 1.0)", "u = pl.mul(p[0][0], p[1])"],
    "with scalar": ["p = (x, n)", "for i in pl.range(n):", "    p = (pl.add(p[0], y), p[1] + 1)", "u = p[0]", "if p[1] > 3:",
                    "    u = pl.add(u, 1.0)"],
    "scalars": ["p = (n, 1)", "while p[0] > 0:", "    p = (p[0] - 1, p[1] + 2)", "u = x", "for i in pl.range(p[1]):",
                "    u = pl.add(u, y)"],
    "copy": ["p = (x, y)", "q = p", "for i, (s,) in pl.range(n, init_values=(q[0],)):", "    s = pl.yield_(pl.add(s, q[1]))",
             "u = pl.add(s, p[0])"],
    "inline": ["v, w = twice(x)", "for i, (s,) in pl.range(n, init_values=(v,)):", "    s = pl.yield_(pl.add(s, w))", "u = s"],
    "inline in loop": ["v, w = twice(x)", "for i in pl.range(n):", "    v, w = twice(v)", "u = pl.add(v, w)"],
    "literal": ["for i, (s,) in pl.range(n, init_values=((x, y)[0],)):", "    s = pl.yield_(pl.add(s, y))", "u = s"],
    "in body": ["s = x", "for i in pl.range(n):", "    p = (s, y)", "    s = pl.add(p[0], p[1])", "u = s"],
    "in branch": ["s = x", "if n > 1:", "    p = (s, y)", "    s = pl.add(p[0], p[1])", "u = s"],
    "reassigned": ["p = (x, y)", "x = pl.add(x, 1.0)", "u = pl.add(p[0], x)"],
    "while tuple": ["p = (x, y)", "m = n", "while m > 0:", "    p = (p[1], p[0])", "    m = m - 1",
                    "u = pl.sub(p[0], pl.mul(p[1], 2.0))"],
}


def kernel(lines):
    return KERNEL + "".join(f"        {line}\n" for line in [*lines, "o = pl.store(u, [0, 0], [16, 16], o)", "return o"])


def as_python(lines, x, y, n):
    """u of the same lines over arrays."""
    stand_in = types.SimpleNamespace(add=np.add, sub=np.subtract, mul=np.multiply, range=range,
                                     yield_=lambda *values: values if len(values) > 1 else values[0])
    code = [re.sub(r"^( *)for i, \((.*?),?\) in pl\.range\(n, init_values=\((.*?),?\)\):",
                   r"\1\2 = \3\n\1for i in pl.range(n):", line) for line in lines]
    names = {"pl": stand_in, "x": x, "y": y, "n": n, "twice": lambda v: (v + v, v)}
    exec("\n".join(code), names)  # pylint: disable=exec-used
    return names["u"]


def stages(text):
    """The program at each stage, each the same as what its text gives."""
    program = pl.parse(text)
    for name in [None, *passes.PassManager.get_strategy("Default").names]:
        program = passes.PassManager([name]).run_passes(program) if name else program
        again = pl.parse(str(program))
        assert str(again) == str(program), name
        ir.assert_structural_equal(again, program)
        yield name, program


@pytest.mark.parametrize("name", CASES)
def test_elements_at_each_stage(name):
    a = np.arange(256, dtype="float32").reshape(16, 16)
    b = np.full((16, 16), 3, "float32")
    for stage, program in stages(kernel(CASES[name])):
        for n in range(4):
            o = np.zeros((16, 16), "float32")
            ir.interpret(program, a, b, n, o, function="k")
            assert (o == as_python(CASES[name], a, b, n)).all(), (stage, n)


@pytest.mark.parametrize("platform", ["a2a3", "a5"])
def test_kernels_compute_what_the_interpreter_says(platform, tmp_path):
    kernels = [k for seed, lines in enumerate(CASES.values()) for backend in ("PTO", "CCE")
               for k in pypto_executed.kernels_of(kernel(lines), seed, platform, backend, tmp_path)]
    assert len(kernels) == 2 * len(CASES)
    pypto_executed.check_kernels(kernels, platform, tmp_path)


def test_tuple_is_taken_apart():
    lines = ["p = (pl.add(x, y), n)", "for i in pl.range(n):", "    p = (pl.mul(p[0], y), p[1] + 1)", "u = p[0]"]
    program = passes.PassManager(["ConvertToSSA"]).run_passes(pl.parse(kernel(lines)))
    tile = ": pl.Tile[[16, 16], pl.FP32]"
    body = [line.strip() for line in str(program).splitlines()]
    at = next(i for i, line in enumerate(body) if "pl.add" in line)
    assert body[at:at + 6] == [
        f"p_0_0{tile} = pl.add(x_0, y_0)", "for i_0, (p_0_iter_1, p_1_iter_0) in pl.range(0, n_0, 1, init_values=(p_0_0, n_0)):",
        f"p_0_3{tile} = pl.mul(p_0_iter_1, y_0)", "p_1_2: pl.Scalar[pl.INT64] = p_1_iter_0 + 1",
        "p_0_2, p_1_1 = pl.yield_(p_0_3, p_1_2)", f"u_0{tile} = p_0_2"]


PROGRAM = f'''
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def two(self, a: {T}, b: {T}, c: pl.Out[{T}], d: pl.Out[{T}]) -> tuple[{T}, {T}]:
        x = pl.load(a, [0, 0], [16, 16])
        y = pl.load(b, [0, 0], [16, 16])
        c = pl.store(pl.add(x, y), [0, 0], [16, 16], c)
        d = pl.store(pl.sub(x, y), [0, 0], [16, 16], d)
        return c, d

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: {T}, b: {T}, n: pl.INT64, o: pl.Out[{T}], q: pl.Out[{T}]) -> tuple[{T}, {T}]:
        c = pl.create_tensor([16, 16], dtype=pl.FP32)
        d = pl.create_tensor([16, 16], dtype=pl.FP32)
        e = pl.create_tensor([16, 16], dtype=pl.FP32)
        f = pl.create_tensor([16, 16], dtype=pl.FP32)
'''


def two(x, y):
    return x + y, x - y


def often(x, y, n):
    for _ in range(n):
        x, y = two(x, y)
    return x, y


CALLS = {
    "call": (["p = self.two(a, b, c, d)", "p = self.two(p[0], p[1], e, f)"], lambda a, b, n: two(*two(a, b))),
    "loop": (["p = self.two(a, b, c, d)", "for i in pl.range(n):", "    x = pl.create_tensor([16, 16], dtype=pl.FP32)",
              "    y = pl.create_tensor([16, 16], dtype=pl.FP32)", "    p = self.two(p[0], p[1], x, y)"],
             lambda a, b, n: often(a, b, n + 1)),
    "branch": (["p = self.two(a, b, c, d)", "if n > 1:", "    p = self.two(p[0], p[1], e, f)"],
               lambda a, b, n: often(a, b, 2 if n > 1 else 1)),
    "branch without a call": (["p = (a, b)", "if n > 1:", "    p = (b, a)"], lambda a, b, n: (b, a) if n > 1 else (a, b)),
    "nested": (["p = self.two(a, b, c, d)", "w = (p, (a, b))", "p = self.two(w[0][1], w[1][0], e, f)"],
               lambda a, b, n: two(a - b, a)),
}


@pytest.mark.parametrize("name", CALLS)
def test_elements_in_an_orchestration(name):
    lines, wanted = CALLS[name]
    text = PROGRAM + "".join(f"        {line}\n" for line in [*lines, "r = self.two(p[0], p[1], o, q)", "return r[0], r[1]"])
    calls = [lambda *args, p=program: ir.interpret(p, *args) for _, program in stages(text)]
    chips = ("a2a3sim", runtime.BackendType.PTO), ("a5sim", runtime.BackendType.CCE)
    calls.append(runtime.compile(pl.parse(text), *chips[list(CALLS).index(name) % 2]))
    a = np.arange(256, dtype="float32").reshape(16, 16)
    b = np.full((16, 16), 3, "float32")
    for call in calls:
        for n in range(3):
            o, q = np.zeros((16, 16), "float32"), np.zeros((16, 16), "float32")
            call(a, b, n, o, q)
            sum_, difference = two(*wanted(a, b, n))
            assert (o == sum_).all() and (q == difference).all(), n
