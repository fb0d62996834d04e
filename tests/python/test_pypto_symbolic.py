# SPDX-License-Identifier: MIT
"""Tensors whose extents only the call tells: what they compute, in the interpreter, at each stage and on the chips."""
import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import ir, passes, runtime  # noqa: E402

HEAD = "".join(f'{name} = pl.dynamic("{name}")\n' for name in "BHMN")
CHIPS = [(platform, backend) for platform in ("a2a3sim", "a5sim") for backend in ("PTO", "CCE")]


def main_of(signature, *lines):
    """A program whose Opaque function main() has this signature and body."""
    return HEAD + "\n@pl.program\nclass P:\n    @pl.function\n    def main(self, " + signature + ":\n" + "".join(
        f"        {line}\n" for line in lines)


def numbers(*shape, seed=1):
    return np.random.default_rng(seed).uniform(-2, 2, shape).astype("float32")


def stages(program, strategy="Default", platform="a2a3"):
    """The program after each pass, which its text gives again."""
    for name in passes.PassManager.get_strategy(strategy, platform).names:
        program = passes.PassManager([name], platform).run_passes(program)
        ir.assert_structural_equal(pl.parse(str(program)), program)
        yield program


def computes(text, wanted, *calls):
    """Each call gives what wanted() does, as a result and in its arguments, wherever the program runs."""
    program = pl.parse(text, "user.py")
    runs = [lambda *args, p=p: ir.interpret(p, *args) for p in [program, *stages(program)]]
    runs += [runtime.compile(program, *chip) for chip in CHIPS]
    for args in calls:
        expected = [np.copy(a) for a in args]
        result = wanted(*expected)
        for run in runs:
            given = [np.copy(a) if np.ndim(a) else a for a in args]
            got = run(*given)
            for have, want in zip([got, *given], [result, *expected]):
                if want is not None:
                    np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-5)


def test_leading_extents_are_counted_one_by_one():
    computes(main_of("x: pl.Tensor[[B, M, 16], pl.FP32]) -> pl.Tensor[[B, M, 16], pl.FP32]", "z = x * 2.0", "return z"),
             lambda x: x * 2, (numbers(3, 5, 16),), (numbers(1, 1, 16),), (numbers(2, 300, 16),))


def test_one_row_goes_with_tiles_of_one_row():
    """The operators of this run leave room for tiles of one row only."""
    computes(main_of("x: pl.Tensor[[M, N], pl.FP32], b: pl.Tensor[[1, N], pl.FP32]) -> pl.Tensor[[M, N], pl.FP32]",
                     "z = pl.relu(x + b)", "return z"),
             lambda x, b: np.maximum(x + b, 0), (numbers(20, 40), numbers(1, 40, seed=2)), (numbers(1, 7), numbers(1, 7, seed=2)))
