# SPDX-License-Identifier: MIT
"""What a kernel returns is one of its parameters: found by what its body does, or refused at the return."""
import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import _core, ir, passes, runtime  # noqa: E402

T = "pl.Tensor[[16, 16], pl.FP32]"
WHOLE = "[0, 0], [16, 16]"
LOAD = f"t = pl.load(x, {WHOLE})"


def store(name):
    return f"{name} = pl.store(t, {WHOLE}, {name})"


def text_of(lines, result=T):
    return ("@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n"
            f"    def k(self, x: {T}, n: pl.INT64, o: pl.InOut[{T}], q: pl.InOut[{T}]) -> {result}:\n" +
            "".join(f"        {line}\n" for line in lines) +
            "\n    @pl.function(type=pl.FunctionType.Orchestration)\n"
            f"    def main(self, x: {T}, n: pl.INT64, o: pl.InOut[{T}], q: pl.InOut[{T}]) -> {result}:\n"
            "        r = self.k(x, n, o, q)\n        return r\n")


@pytest.mark.parametrize("lines", [
    [LOAD, store("q"), "return q"], [LOAD, store("q"), "return x"], [LOAD, store("q"), "w = q", "return w"],
    [LOAD, store("q"), f"return pl.slice(q, {WHOLE[8:]}, {WHOLE[:6]})"],
    [LOAD, f"s = pl.slice(q, {WHOLE[8:]}, {WHOLE[:6]})", store("s"), "return s"],
    [LOAD, "if n > 1:", f"    {store('q')}", "return q"],
    [LOAD, "for i in pl.range(n):", f"    {store('o')}", f"    {store('q')}", "return q"],
    [LOAD, store("q"), "w = (o, q)", "return w[1]"],
])
def test_returned_parameter(lines):
    program = pl.parse(text_of(lines))
    x = np.arange(256, dtype="float32").reshape(16, 16)
    compiled = runtime.compile(program, "a2a3sim")
    for n in (0, 2):
        given = [(np.full((16, 16), -1, "float32"), np.full((16, 16), -2, "float32")) for _ in range(2)]
        wanted, got = ir.interpret(program, x, n, *given[0]), compiled(x, n, *given[1])
        assert np.array_equal(got, wanted) and np.array_equal(given[0], given[1])


@pytest.mark.parametrize("lines, result", [
    ([LOAD, store("q"), "return pl.slice(q, [8, 16], [8, 0])"], "pl.Tensor[[8, 16], pl.FP32]"),
    ([LOAD, store("q"), "return pl.slice(q, [8, 16], [0, 0])"], "pl.Tensor[[8, 16], pl.FP32]"),
    ([LOAD, store("q"), "return pl.reshape(q, [8, 32])"], "pl.Tensor[[8, 32], pl.FP32]"),
])
def test_other_tensors_are_refused_at_the_return(lines, result):
    program = passes.PassManager.get_strategy("Default").run_passes(pl.parse(text_of(lines, result), "user.py"))
    with pytest.raises(pl.CompileError, match="Function 'k' must return one of its parameters, whole and the same in") as e:
        _core.generate(program, "orchestration", "main", 0)
    assert e.value.span.line == 4 + len(lines) and len(e.value.errors) == 1


@pytest.mark.parametrize("lines", [["r = q", "if n > 1:", "    r = o", "return r"],
                                   ["for i in pl.range(n):", "    o, q = (q, o)", "return q"]])
def test_parameter_that_only_the_run_knows_is_refused(lines):
    with pytest.raises(pl.CompileError, match="is a different tensor in different ways through the kernel"):
        runtime.compile(pl.parse(text_of([LOAD, store("o"), store("q"), *lines])), "a2a3sim")
