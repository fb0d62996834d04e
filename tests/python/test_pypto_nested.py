# SPDX-License-Identifier: MIT
"""Tensors of an orchestration that branches and loops inside of others create and hand on, computed on the chips."""
import itertools

import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import runtime  # noqa: E402

T = "pl.Tensor[[16, 32], pl.FP32]"
HEAD = f"""
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def plus(self, a: {T}, s: pl.FP32, o: pl.Out[{T}]) -> {T}:
        o = pl.store(pl.add(pl.load(a, [0, 0], [16, 32]), s), [0, 0], [16, 32], o)
        return o

    @pl.function(type=pl.FunctionType.InCore)
    def both(self, a: {T}, b: {T}, o: pl.Out[{T}]) -> {T}:
        twice = pl.mul(pl.load(a, [0, 0], [16, 32]), 2.0)
        o = pl.store(pl.add(twice, pl.load(b, [0, 0], [16, 32])), [0, 0], [16, 32], o)
        return o

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: {T}, n: pl.INT64, m: pl.INT64, k: pl.INT64) -> """


class Arrays:
    """What the kernels and operators of the programs do to arrays."""

    FP32 = None

    def plus(self, a, s, _):
        return a + np.float32(s)

    def both(self, a, b, _):
        return a * np.float32(2) + b

    def create_tensor(self, *_, **__):
        return None

    def range(self, n):
        return range(n)


def new(name, call):
    return [f"{name} = pl.create_tensor([16, 32], dtype=pl.FP32)", f"{name} = self.{call}, {name})"]


def plus(name, a, s):
    return new(name, f"plus({a}, {s:.1f}")


def both(name, a, b):
    return new(name, f"both({a}, {b}")


def inside(lines):
    return [f"    {line}" for line in lines]


def branch(condition, a, b):
    return [f"if {condition}:", *inside(a), "else:", *inside(b)]


def loop(head, *bodies):
    return [f"{head}:", *inside(itertools.chain(*bodies))]


T1, T2, T3 = (plus("t", "x", s) for s in (1, 2, 3))
USED = [*plus("q", "x", 6), *plus("p", "q", 1), *both("r", "t", "p"), "return r"]  # q and p take what is free
U = plus("u", "t", 1)
CASES = {
    "three deep": [*branch("n > 1", branch("m > 1", branch("k > 1", T1, T2), T3),
                           branch("k > 1", plus("t", "x", 4), plus("t", "x", 5))), *USED],
    "used at each depth": [*branch("n > 1", [*branch("m > 1", [*branch("k > 1", T1, T2), *both("u", "t", "x"), "t = u"], T3),
                                             *both("v", "t", "x"), "t = v"], ["t = x"]), *USED],
    "made before the inner branch": [*branch("n > 1", [*plus("u", "x", 1), *plus("v", "x", 2),
                                                       *branch("m > 1", ["t = u"], ["t = v"])], T3), *USED],
    "two carried in a branch": [*branch("n > 1", ["t = x", "w = x", *loop("for i in pl.range(m)", both("u", "t", "w"),
                                                                          ["w = t", "t = u"])], T3), *USED],
    "loop in a branch in a loop": ["t = x", *loop("for j in pl.range(k)",
                                                  branch("n > 1", loop("for i in pl.range(m)", U, ["t = u"]),
                                                         [*plus("v", "t", 3), "t = v"])), *USED],
    "branches in a while loop": ["t = x", "i = 0",
                                 *loop("while i < m", branch("i < n", branch("k > i", U, plus("u", "t", 2)), both("u", "t", "x")),
                                       ["t = u", "i = i + 1"]), *USED],
    "exchanged in branches": ["t = x", "w = x", *loop("for i in pl.range(m)",
                                                      branch("i < n", [*U, "w = t", "t = u"],
                                                             [*both("u", "w", "t"), "t = w", "w = u"])), *USED],
    "returned": [*branch("n > 1", [*branch("m > 1", T1, T2), "t = self.plus(x, 9.0, t)"], T3), "return t"],
    "returned from a branch in a loop": ["t = x", *loop("for i in pl.range(m)",
                                                        branch("i < n", U, both("u", "t", "x")), ["t = u"]),
                                         "return t"],
    "returned twice": [*branch("n > 1", [*T1, "w = t"], [*T3, *plus("w", "x", 4)]), "return t, w"],
    "returned in any order": [*branch("n > 1", [*T1, *plus("w", "x", 2), *branch("m > 1", ["t, w = w, t"], plus("t", "x", 8))],
                                      [*T3, *plus("w", "x", 4)]), "return t, w"],
}


def wanted(lines, *values):
    scope = {}
    exec("\n".join(["def f(self, pl, x, n, m, k):", *inside(lines)]), scope)  # pylint: disable=exec-used
    return scope["f"](Arrays(), Arrays(), *values)


PLACES = [("a2a3sim", runtime.BackendType.PTO), ("a5sim", runtime.BackendType.CCE)]  # in turn


@pytest.mark.parametrize("case", CASES)
def test_tensors_outlive_the_statements_that_make_them(case):
    lines = CASES[case]
    result = f"tuple[{T}, {T}]" if lines[-1] == "return t, w" else T
    program = pl.parse("\n".join([f"{HEAD}{result}:", *inside(inside(lines)), ""]))
    run = runtime.compile(program, *PLACES[list(CASES).index(case) % 2])
    x = (np.arange(512, dtype="float32") % 13).reshape(16, 32)
    for values in itertools.product((0, 2), (0, 1, 2, 3), (0, 2)):
        np.testing.assert_array_equal(run(x, *values), wanted(lines, x, *values), str(values))
