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


def test_leading_extents_of_a_reshaped_tensor():
    computes(main_of("x: pl.Tensor[[B, H, M, 16], pl.FP32], s: pl.Scalar[pl.FP32]) -> pl.Tensor[[B * H, M, 16], pl.FP32]",
                     "r = pl.reshape(x, [B * H, M, 16])", "y = r * s", "z = y + r", "return z"),
             lambda x, s: (x * (s + 1)).reshape(-1, x.shape[2], 16), (numbers(2, 3, 5, 16), 1.5), (numbers(1, 1, 1, 16), 0.5))


BACK = "x: pl.Tensor[[64, 32], pl.FP32], "
INTO = "y: pl.InOut[pl.Tensor[[64, 32], pl.FP32]])"


def test_scalar_behind_the_tensors_whose_shapes_name_it():
    """Parameters of a kernel that was a region are ordered by name."""
    def wanted(x, n, y):
        y[:n] = x[:n] + x[64 - n:]

    text = main_of(BACK + "n: pl.Scalar[pl.INDEX], " + INTO, "a = pl.slice(x, [n, 32], [0, 0])",
                   "b = pl.slice(x, [n, 32], [64 - n, 0])", "c = a + b", "y = pl.assemble(y, c, [0, 0])")
    computes(text, wanted, (numbers(64, 32), 10, numbers(64, 32, seed=2)), (numbers(64, 32), 64, numbers(64, 32, seed=2)))
    assert "k0(self, a_0: pl.Tensor[[n_0, 32]" in str(list(stages(pl.parse(text)))[-1]).replace("main_incore_", "k")


def test_extents_that_a_loop_computes():
    def wanted(x, y):
        for n in (8, 16, 24):
            y[64 - n:] = x[:n] + x[64 - n:]

    computes(main_of(BACK + INTO, "for i in pl.range(1, 4):", "    n = i * 8", "    a = pl.slice(x, [n, 32], [0, 0])",
                     "    b = pl.slice(x, [n, 32], [64 - n, 0])", "    c = a + b", "    y = pl.assemble(y, c, [64 - n, 0])"),
             wanted, (numbers(64, 32), numbers(64, 32, seed=2)))


def test_parameter_that_names_a_later_scalar():
    def wanted(x, n, y):
        y[:] = x * 2

    text = main_of("x: pl.Tensor[[n, 32], pl.FP32], n: pl.Scalar[pl.INDEX], y: pl.Out[pl.Tensor[[n, 32], pl.FP32]])",
                   "y = pl.assemble(y, x * 2.0, [0, 0])")
    computes(text, wanted, (numbers(10, 32), 10, numbers(10, 32, seed=2)))
    with pytest.raises(pl.CompileError, match="Parameter 'x' of 'main' needs extent 9 in dimension 0, got 10"):
        ir.interpret(pl.parse(text), numbers(10, 32), 9, numbers(10, 32))


HALF = "x: pl.Tensor[[M, 32], pl.FP32]) -> pl.Tensor[[M // 2, 32], pl.FP32]"
HALVES = {
    "a variable": ["h = M // 2", "a = pl.slice(x, [h, 32], [0, 0])", "b = pl.slice(x, [h, 32], [h, 0])", "z = a - b", "return z"],
    "written out": ["return pl.slice(x, [M // 2, 32], [0, 0]) - pl.slice(x, [M // 2, 32], [M // 2, 0])"],
    "of pl.dim()": ["n = pl.dim(x, 0)", "h = n // 2", "a = pl.slice(x, [h, 32], [0, 0])", "b = pl.slice(x, [h, 32], [h, 0])",
                    "return a - b"],
    "in a region": ["n = pl.dim(x, 0)", "h = n // 2", "with pl.incore():", "    z = pl.create_tensor([h, 32], dtype=pl.FP32)",
                    "    for i in pl.range(h):", "        s = pl.load(x, [i + h, 0], [1, 32])",
                    "        t = pl.sub(pl.load(x, [i, 0], [1, 32]), s)",
                    "        z = pl.store(t, [i, 0], [1, 32], z)", "return z"],
    "a name as of the kernel's parameter": ["M_0 = M // 2", "a = pl.slice(x, [M // 2, 32], [0, 0])",
                                            "b = pl.slice(x, [M // 2, 32], [M_0, 0])", "return a - b"],
}


@pytest.mark.parametrize("name", HALVES)
def test_result_whose_extent_is_computed(name):
    computes(main_of(HALF, *HALVES[name]), lambda x: x[:len(x) // 2] - x[len(x) // 2:len(x) // 2 * 2],
             (numbers(10, 32),), (numbers(601, 32),))


def test_parameter_of_a_computed_extent():
    text = main_of("x: pl.Tensor[[M // 2, 32], pl.FP32], y: pl.Tensor[[M, 32], pl.FP32]) -> pl.Tensor[[M // 2, 32], pl.FP32]",
                   "return x * 2.0 + pl.slice(y, [M // 2, 32], [0, 0])")
    computes(text, lambda x, y: x * 2 + y[:len(x)], (numbers(10, 32), numbers(21, 32)))


def test_tile_views_say_what_the_load_says():
    """Tensors are in terms of M, tiles of the variable that the author used, before and after printing."""
    computes(main_of("x: pl.Tensor[[M, 16], pl.FP32]) -> pl.Tensor[[M, 16], pl.FP32]", "n = pl.dim(x, 0)", "with pl.incore():",
                     "    y = pl.create_tensor([n, 16], dtype=pl.FP32)", "    for i in pl.range(0, n, 64):",
                     "        t = pl.load(x, [i, 0], [64, 16], valid_shapes=[min(n - i, 64), 16])",
                     "        y = pl.store(pl.mul(t, 3.0), [i, 0], [min(n - i, 64), 16], y)", "return y"),
             lambda x: x * 3, (numbers(100, 16),))


@pytest.mark.parametrize("signature, lines, message, hint", [
    ("x: pl.Tensor[[M // 2, 32], pl.FP32]) -> pl.Tensor[[M // 2, 32], pl.FP32]", ["return x * 2.0"],
     "The extent 'M' of function 'main' stands in no shape by itself", r"Add a parameter n: pl.Scalar\[pl.INDEX\]"),
    ("x: pl.Tensor[[64, 32], pl.FP32], c: pl.Tensor[[4], pl.INT32]) -> pl.Tensor[[M, 32], pl.FP32]",
     ["n = pl.cast(pl.tensor.read(c, [1]), pl.INDEX)", "z = pl.slice(x, [n, 32], [0, 0]) * 2.0", "return z"],
     "The extents of result 'z' do not follow from the parameters", r"Make it a parameter, pl.Out\["),
])
def test_extents_that_nothing_tells(signature, lines, message, hint):
    program = pl.parse(main_of(signature, *lines))
    for chip in CHIPS:
        with pytest.raises(pl.CompileError, match=f"(?s){message}.*{hint}"):
            runtime.compile(program, *chip)
    list(stages(program))
