# SPDX-License-Identifier: MIT
"""Opaque and Orchestration functions that are called by others: their bodies stand for the calls."""
import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import ir, passes, runtime  # noqa: E402

T = "pl.Tensor[[32, 64], pl.FP32]"
OPAQUE, ORCHESTRATION = "@pl.function", "@pl.function(type=pl.FunctionType.Orchestration)"
HEAD = f"(self, x: {T}) -> {T}:"
DOUBLE = f"""
    {OPAQUE}
    def f{HEAD}
        m = x * 2.0
        return m
"""
KERNEL = f"""
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: {T}, y: pl.Out[{T}]) -> {T}:
        y = pl.store(pl.load(x, [0, 0], [32, 64]) + 1.0, [0, 0], [32, 64], y)
        return y
"""
PROGRAMS = {
    "opaque in orchestration": (DOUBLE + f"""
    {ORCHESTRATION}
    def main{HEAD}
        p = self.f(x)
        q = self.f(p)
        return q
""", lambda x: 4 * x),
    "opaque in opaque, with arithmetic": (DOUBLE + f"""
    {OPAQUE}
    def main{HEAD}
        m = self.f(x)
        r = self.f(m) + m
        return r
""", lambda x: 6 * x),
    "orchestration in opaque": (KERNEL + f"""
    {ORCHESTRATION}
    def o{HEAD}
        y = pl.create_tensor([32, 64], dtype=pl.FP32)
        y = self.k(x, y)
        return y
    {OPAQUE}
    def main{HEAD}
        return self.o(self.o(x) * 2.0)
""", lambda x: 2 * x + 3),
    "three levels": (DOUBLE + f"""
    {OPAQUE}
    def g{HEAD}
        m = self.f(x)
        return self.f(m) - x
    {ORCHESTRATION}
    def main{HEAD}
        y = self.g(x)
        z = self.g(y)
        return z
""", lambda x: 9 * x),
    "tuples": (f"""
    {OPAQUE}
    def f(self, x: {T}, s: pl.Scalar[pl.FP32]) -> tuple[{T}, {T}]:
        return x * s, x + s
    {ORCHESTRATION}
    def main{HEAD}
        a, b = self.f(x, 3.0)
        b, a = self.f(a, 0.5)
        return a
""", lambda x: 3 * x + 0.5),
    "loops and branches": (f"""
    {OPAQUE}
    def f(self, x: {T}, n: pl.Scalar[pl.INDEX]) -> {T}:
        y = x + 0.0
        for i in pl.range(n):
            if i == 1:
                y = y * 3.0
            else:
                y = y + 1.0
        return y
    {ORCHESTRATION}
    def main{HEAD}
        y = x
        for i in pl.range(1, 4):
            if i > 1:
                y = self.f(y, i)
        z = self.f(y, 1)
        return z
""", lambda x: ((x + 1) * 3 + 1) * 3 + 2),
    "a written parameter": (f"""
    {OPAQUE}
    def f(self, x: {T}, y: pl.InOut[{T}]) -> {T}:
        with pl.incore():
            y = pl.store(pl.load(x, [0, 0], [16, 64]), [16, 0], [16, 64], y)
        return y
    {OPAQUE}
    def main{HEAD}
        y = x + 1.0
        z = self.f(x, y)
        r = z + y
        return r
""", lambda x: 2 * np.concatenate([x[:16] + 1, x[:16]])),
    "a parameter that is given back": (f"""
    {OPAQUE}
    def f(self, x: {T}, n: pl.Scalar[pl.INDEX]) -> tuple[{T}, {T}]:
        return x, x * 2.0
    {ORCHESTRATION}
    def main{HEAD}
        a, b = self.f(x, 1)
        c, d = self.f(b, 2)
        e, f = self.f(c, 2)
        return f
""", lambda x: 4 * x),
    "symbolic extents": (f"""
    {OPAQUE}
    def f(self, x: pl.Tensor[[N, 64], pl.FP32]) -> pl.Tensor[[N, 64], pl.FP32]:
        y = x * 2.0
        return y
    {ORCHESTRATION}
    def main{HEAD}
        y = self.f(x)
        h = pl.slice(y, [8, 64], [8, 0])
        z = self.f(h)
        y = self.k(z, y)
        return y
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[8, 64], pl.FP32], y: pl.InOut[{T}]) -> {T}:
        y = pl.store(pl.load(x, [0, 0], [8, 64]), [0, 0], [8, 64], y)
        return y
""", lambda x: np.concatenate([4 * x[8:16], 2 * x[8:]])),
    "no result": (KERNEL + f"""
    {ORCHESTRATION}
    def o(self, x: {T}, y: pl.Out[{T}]):
        y = self.k(x, y)
    {ORCHESTRATION}
    def main{HEAD}
        y = pl.create_tensor([32, 64], dtype=pl.FP32)
        self.o(x, y)
        return y
""", lambda x: x + 1),
}


def program(text):
    return pl.parse("import pypto.language as pl\nN = pl.dynamic(\"N\")\n@pl.program\nclass P:\n" + text, "user.py")


def given():
    return np.arange(2048, dtype="float32").reshape(32, 64) / 512


@pytest.mark.parametrize("case", PROGRAMS)
@pytest.mark.parametrize("strategy", ["Default", "PTOAS"])
def test_lowered(case, strategy):
    text, golden = PROGRAMS[case]
    p = program(text)
    low = passes.PassManager.get_strategy(strategy).run_passes(p)
    for made in (p, low):
        x = given()
        np.testing.assert_allclose(ir.interpret(made, x), golden(given()), rtol=1e-5)
        np.testing.assert_array_equal(x, given())
    assert [f.name for f in low.functions.values() if f.func_type in (0, 1)] == ["main"]
    assert ir.structural_equal(pl.parse(str(low)), low)


@pytest.mark.parametrize("backend", ["PTO", "CCE"])
@pytest.mark.parametrize("case", PROGRAMS)
def test_on_a_chip(case, backend):
    text, golden = PROGRAMS[case]
    run = runtime.compile(program(text), "a2a3sim", backend)
    np.testing.assert_allclose(run(given()), golden(given()), rtol=1e-5)


def test_functions_that_nobody_calls():
    two = f"""
    {ORCHESTRATION}
    def main{HEAD}
        p = self.f(x)
        return p
    {ORCHESTRATION}
    def other{HEAD}
        p = self.f(x)
        return p
"""
    with pytest.raises(pl.ParserError, match="exactly one orchestration function, got 2"):
        runtime.compile(program(DOUBLE + two), "a2a3sim")
    with pytest.raises(ValueError, match="function= must say which is meant: f, main, other"):
        ir.interpret(program(DOUBLE + two), given())


def test_extents_that_only_the_run_knows():
    text = DOUBLE + f"""
    {ORCHESTRATION}
    def main(self, x: pl.Tensor[[N, 64], pl.FP32]) -> {T}:
        p = self.f(x)
        return p
"""
    with pytest.raises(pl.ParserError, match="Argument 'x' of function 'f' must be") as e:
        passes.PassManager.get_strategy().run_passes(program(text))
    assert e.value.span.line == 13 and "pl.dynamic()" in e.value.hint


def test_calls_that_double_are_refused_before_they_fill_the_memory():
    functions = [f"    @pl.function\n    def f{i}(self, x: pl.InOut[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:\n" +
                 (f"        x = self.f{i + 1}(x)\n        x = self.f{i + 1}(x)\n        return x\n" if i < 40 else
                  "        y = x + 1.0\n        x = pl.assemble(x, y, [0, 0])\n        return x\n") for i in range(41)]
    program = pl.parse("@pl.program\nclass P:\n" + "".join(functions), "user.py")
    with pytest.raises(pl.CompileError, match="The functions that are called become more than 100000 statements") as e:
        passes.PassManager.get_strategy("Default").run_passes(program)
    assert e.value.span.line > 1 and len(e.value.errors) == 1
