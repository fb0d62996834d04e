# SPDX-License-Identifier: MIT
"""Directions of parameters: of what regions read and write, and of functions whose callees write, whatever their names are."""
import itertools

import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import ir, passes  # noqa: E402

T = "pl.Tensor[[16, 32], pl.FP32]"
I = "pl.Tensor[[16, 32], pl.INT32]"
WHOLE = "[0, 0], [16, 32]"
IN, OUT, INOUT = 0, 1, 2


def outlined(text):
    names = passes.PassManager.get_strategy("Default").names
    return passes.PassManager(names[:names.index("OutlineIncoreScopes") + 1]).run_passes(pl.parse(text, "user.py"))


def directions(function):
    return {p.name.removesuffix("_0"): int(d) for p, d in zip(function.params, function.param_directions)}


@pytest.mark.parametrize("lines, wanted", [
    ([f"o = pl.store(pl.load(x, {WHOLE}), {WHOLE}, o)"], {"x": IN, "o": OUT}),
    ([f"t = pl.load(o, {WHOLE})", f"o = pl.store(t, {WHOLE}, o)"], {"o": INOUT}),
    (["o = pl.store(pl.load(x, [0, 0], [8, 32]), [0, 0], [8, 32], o)"], {"x": IN, "o": INOUT}),
    ([f"t = pl.load(x, {WHOLE}, valid_shapes=[8, 32])", f"o = pl.store(t, {WHOLE}, o)"], {"x": IN, "o": INOUT}),
    ([f"t = pl.load(x, {WHOLE})", f"i = pl.load(n, {WHOLE})", "o = pl.mscatter(t, i, o)"], {"x": IN, "n": IN, "o": INOUT}),
    ([f"t = pl.load(x, {WHOLE})", f"n = pl.store(pl.load(n, {WHOLE}), {WHOLE}, n)",
      f"i = pl.load(n, {WHOLE})", "o = pl.mscatter(t, i, o)"], {"x": IN, "n": INOUT, "o": INOUT}),
    (["o = pl.assemble(o, pl.slice(x, [8, 32], [8, 0]), [0, 0])"], {"x": IN, "o": INOUT}),
    ([f"x = pl.store(pl.load(y, {WHOLE}), {WHOLE}, x)", "o = pl.assemble(o, pl.slice(x, [8, 32], [8, 0]), [0, 0])"],
     {"x": INOUT, "y": IN, "o": INOUT}),
    ([f"o = pl.store(pl.load(x, {WHOLE}), {WHOLE}, o)", "for i in pl.range(2):",
      "    x = pl.store(pl.load(o, [i, 0], [1, 32]), [i, 0], [1, 32], x)"], {"x": INOUT, "o": INOUT}),
    (["for i in pl.range(2):", f"    o = pl.store(pl.load(x, {WHOLE}), {WHOLE}, o)"], {"x": IN, "o": INOUT}),
    (["m = pl.tensor.read(o, [0, 0])", f"o = pl.store(pl.adds(pl.load(x, {WHOLE}), m), {WHOLE}, o)"], {"x": IN, "o": INOUT}),
])
def test_directions_of_a_region(lines, wanted):
    program = outlined("@pl.program\nclass P:\n    @pl.function\n"
                       f"    def main(self, x: {T}, y: {T}, n: {I}, o: {T}) -> {T}:\n        with pl.incore():\n" +
                       "".join(f"            {line}\n" for line in lines) + "        return o\n")
    assert directions(program.functions["main_incore_0"]) == wanted
    written = {name: INOUT for name, d in wanted.items() if d != IN}
    assert directions(program.functions["main"]) == {"x": IN, "y": IN, "n": IN, "o": IN} | written


CHAIN = '''
@pl.program
class P:
    @pl.function
    def {0}(self, x: {T}, y: {T}) -> {T}:
        r = self.{1}(x, y)
        return r

    @pl.function
    def {1}(self, x: {T}, y: {T}) -> {T}:
        y = self.{2}(x, y)
        return y

    @pl.function
    def {2}(self, x: {T}, y: {T}) -> {T}:
        with pl.incore():
            y = pl.store(pl.load(x, [0, 0], [16, 32]), [0, 0], [16, 32], y)
        return y
'''


@pytest.mark.parametrize("names", itertools.permutations("abc"))
def test_directions_of_callers_do_not_depend_on_names(names):
    text = CHAIN.format(*names, T=T)
    program = outlined(text)
    assert directions(program.functions[names[0]]) == {"x": IN, "y": INOUT}
    assert sorted(program.functions) == sorted([names[0], f"{names[0]}_incore_0"])  # bodies stand for the calls
    y = np.zeros((16, 32), "float32")
    ir.interpret(program, np.ones((16, 32), "float32"), y, function=names[0])
    assert (y == 1).all()


@pytest.mark.parametrize("names", itertools.permutations("abc"))
def test_read_only_parameter_that_a_callee_of_callees_writes_is_refused(names):
    more = ("\n    @pl.function(type=pl.FunctionType.Orchestration)\n"
            f"    def main(self, x: {T}, y: {T}) -> {T}:\n        r = self.{names[0]}(x, y)\n        return r\n")
    text = CHAIN.format(*names, T=T) + more
    with pytest.raises(pl.ParserTypeError, match="Parameter 'y' of 'main' is read-only, but this region writes to it") as e:
        outlined(text)
    assert text.splitlines()[e.value.span.line - 1].strip() == "with pl.incore():" and len(e.value.errors) == 1
    outlined(text.replace(f"def main(self, x: {T}, y: {T})", f"def main(self, x: {T}, y: pl.InOut[{T}])"))
