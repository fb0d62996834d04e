# SPDX-License-Identifier: MIT
"""Reductions and broadcasts of whole tensors and of tiles: interpreter and chip against numpy, and what is refused."""
import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import _core, ir, passes, runtime  # noqa: E402


def tensor(shape, dtype="FP32"):
    return f"pl.Tensor[{list(shape)}, pl.{dtype}]"


def opaque(params, result, body):
    """A program of operators on whole tensors; {name: shape} and the shape of what it returns."""
    text = ", ".join(f"{name}: {tensor(shape)}" for name, shape in params.items())
    return pl.parse(f"@pl.program\nclass P:\n    @pl.function\n    def main(self, {text}) -> {tensor(result)}:\n"
                    f"        return {body}\n", "user.py")


def kernel(shape, body, result=None, dtype="FP32"):
    """A kernel that loads t, runs the lines and stores r, and its orchestration."""
    result = list(result or shape)
    lines = "".join(f"        {line}\n" for line in [f"t = pl.load(x, [0, 0], {list(shape)})", *body,
                                                     f"y = pl.store(r, [0, 0], {result}, y)", "return y"])
    return pl.parse("@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n"
                    f"    def k(self, x: {tensor(shape, dtype)}, y: pl.Out[{tensor(result, dtype)}]) -> "
                    f"{tensor(result, dtype)}:\n{lines}"
                    "    @pl.function(type=pl.FunctionType.Orchestration)\n"
                    f"    def main(self, x: {tensor(shape, dtype)}) -> {tensor(result, dtype)}:\n"
                    f"        y = pl.create_tensor({result}, dtype=pl.{dtype})\n        y = self.k(x, y)\n        return y\n",
                    "user.py")


def numbers(shape, seed=3):
    return np.random.default_rng(seed).uniform(-2, 2, shape).astype("float32")


def agree(got, want):
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-4)


REDUCTIONS = {"row_sum": np.sum, "row_max": np.max}


@pytest.mark.parametrize("op", REDUCTIONS)
@pytest.mark.parametrize("shape", [(16, 64), (1, 7), (5, 3), (2, 4, 8), (2, 3, 4, 5)])
def test_reduction_along_every_axis_agrees_with_numpy(op, shape):
    x = numbers(shape)
    for axis in range(-len(shape), len(shape)):
        for keep in (True, False):
            want = REDUCTIONS[op](x.astype("float64"), axis=axis, keepdims=keep)
            p = opaque({"x": shape}, want.shape, f"pl.{op}(x, axis={axis}, keep_dim={keep})")
            agree(ir.interpret(p, x), want)


@pytest.mark.parametrize("other", [(16, 64), (1, 64), (16, 1), (1, 1), (64,)])
@pytest.mark.parametrize("op, golden", [("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("div", np.divide),
                                        ("maximum", np.maximum)])
def test_broadcast_agrees_with_numpy(op, golden, other):
    x, b = numbers((16, 64)), numbers(other, 5) + 3
    agree(ir.interpret(opaque({"x": (16, 64), "b": other}, (16, 64), f"pl.{op}(x, b)"), x, b), golden(x, b))


def test_reduction_is_broadcast_again():
    x = numbers((2, 16, 64))
    agree(ir.interpret(opaque({"x": x.shape}, x.shape, "x - pl.row_max(x)"), x), x - x.max(2, keepdims=True))


@pytest.mark.parametrize("keywords, message", [
    ("axis=7", "has no axis 7: the tensor is [16, 64]"), ("axis=-3", "has no axis -3"),
    ("axis=1.5", "Keyword 'axis' of operator 'tensor.row_sum' must be an integer constant"),
    ("keep_dim=1", "Keyword 'keep_dim' of operator 'tensor.row_sum' must be True or False"),
])
def test_axis_that_there_is_not_is_refused_at_the_call(keywords, message):
    with pytest.raises(pl.InvalidOperationError) as e:
        opaque({"x": (16, 64)}, (16, 1), f"pl.row_sum(x, {keywords})")
    assert message in str(e.value) and "user.py:5:16" in str(e.value)


# Each compiles for the simulated chip, so one back end each.
@pytest.mark.parametrize("backend, shape, keywords", [
    ("PTO", (37, 32), ""), ("CCE", (1, 7), ""), ("PTO", (129, 1), ""), ("CCE", (16, 64), "axis=0"),
    ("PTO", (5, 64), "keep_dim=False"),
])
def test_reduction_of_any_extent_runs_on_the_chip(backend, shape, keywords):
    axis, keep = 0 if "axis=0" in keywords else 1, "keep_dim" not in keywords
    x = numbers(shape)
    want = x.sum(axis, keepdims=keep)
    agree(runtime.compile(opaque({"x": shape}, want.shape, f"pl.row_sum(x, {keywords})"), "a2a3sim", backend)(x), want)


def test_returned_reshape_has_its_own_shape():
    x = numbers((16, 64))
    p = opaque({"x": x.shape}, (64, 16), "pl.reshape(pl.exp(x), [64, 16])")
    agree(runtime.compile(p, "a2a3sim", "PTO")(x), np.exp(x).reshape(64, 16))


WHOLE = {
    "rows then columns": (["s = pl.sum(pl.sum(t, axis=1, keepdim=True), axis=0, keepdim=True)",
                           "r = pl.mul(t, pl.getval(s, 0))"], np.sum),
    "columns then rows": (["s = pl.sum(pl.sum(t, axis=0, keepdim=True), axis=1, keepdim=True)",
                           "r = pl.mul(t, pl.getval(s, 0))"], np.sum),
    "to a scalar": (["r = pl.mul(t, pl.sum(pl.sum(t, axis=0), axis=0))"], np.sum),
    "column maximum of row maxima": (["r = pl.mul(t, pl.getval(pl.col_max(pl.row_max(t)), 0))"], np.max),
    "row maximum of a transposed column": (["r = pl.mul(t, pl.getval(pl.row_max(pl.transpose(pl.row_max(t), 0, 1)), 0))"],
                                           np.max),
    "a column's own row minima": (["r = pl.mul(t, pl.getval(pl.col_min(pl.row_min(pl.row_min(t))), 0))"], np.min),
}


@pytest.mark.parametrize("name, backend", [(n, ("PTO", "CCE")[i % 2]) for i, n in enumerate(WHOLE)])
def test_reduction_along_both_axes(name, backend):
    body, golden = WHOLE[name]
    x = numbers((5, 64))
    p = kernel(x.shape, body)
    want = x * golden(x)
    agree(ir.interpret(p, x), want)
    agree(runtime.compile(p, "a2a3sim", backend)(x), want)


@pytest.mark.parametrize("rows", [1, 3, 37])
def test_softmax_in_a_kernel_with_rows_that_are_no_multiple_of_eight(rows):
    x = numbers((rows, 32))
    p = kernel(x.shape, ["e = pl.exp(pl.row_expand_sub(t, pl.row_max(t)))", "r = pl.row_expand_div(e, pl.row_sum(e))"])
    e = np.exp(x - x.max(1, keepdims=True))
    agree(runtime.compile(p, "a2a3sim", "CCE" if rows == 3 else "PTO")(x), e / e.sum(1, keepdims=True))


def generated(p, what, arch=0):
    strategy = "PTOAS" if what == "pto" else "Default"
    return _core.generate(passes.PassManager.get_strategy(strategy).run_passes(p), what, "k", arch)


@pytest.mark.parametrize("backend", ["PTO", "CCE"])
def test_mask_of_rows_that_are_shorter_than_32_elements(backend):
    x = numbers((32, 16))
    p = kernel(x.shape, ["m = pl.cmps(t, 0.5, cmp_type='gt')", "r = pl.sel(m, t, pl.neg(t))"])
    np.testing.assert_array_equal(runtime.compile(p, "a2a3sim", backend)(x), np.where(x > 0.5, x, -x))


@pytest.mark.parametrize("what", ["pto", "cce"])
def test_tile_whose_rows_are_no_multiple_of_32_bytes_is_refused_at_its_line(what):
    with pytest.raises(pl.CompileError) as e:
        generated(kernel((16, 5), ["r = pl.add(t, 1.0)"]), what)
    assert "Tile [16, 5] of FP32 has rows of 20 bytes, which must be a multiple of 32" in str(e.value)
    assert "user.py:5:9" in str(e.value) and "Give it 8 columns" in str(e.value)


@pytest.mark.parametrize("line, arch, message", [
    ("r = pl.div(t, pl.adds(t, 1))", 0, "pl.div() does not compute with INT32 elements on a2a3, only with FP16, FP32"),
    ("r = pl.xors(t, 5)", 0, "pl.xors() does not compute with INT32 elements on a2a3, only with INT8, INT16"),
    ("r = pl.exp(t)", 1, "pl.exp() does not compute with INT32 elements on a5, only with FP16, FP32"),
])
def test_element_type_that_the_platform_does_not_compute_with_is_refused_at_the_operator(line, arch, message):
    p = kernel((16, 32), [line], dtype="INT32")
    with pytest.raises(pl.InvalidOperationError) as e:
        generated(p, "pto", arch)
    assert message in str(e.value) and "user.py:6:13" in str(e.value) and "pto." not in str(e.value)


def test_sort_of_other_elements_than_its_records_hold_is_refused():
    with pytest.raises(pl.InvalidOperationError, match="sorts FP16 or FP32 elements, but got BF16"):
        kernel((16, 32), ["r = pl.sort32(t, pl.cast(t, pl.UINT32))"], (16, 64), "BF16")


def test_tensor_of_a_read_extent_goes_through_a_loop():
    text = '''
M = pl.dynamic("M")


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[M, 32], pl.FP32], first: pl.Scalar[pl.INDEX], rows: pl.Scalar[pl.INDEX],
          y: pl.InOut[pl.Tensor[[M, 32], pl.FP32]]) -> pl.Tensor[[M, 32], pl.FP32]:
        t = pl.load(x, [first, 0], [16, 32], valid_shapes=[rows, 32])
        return pl.store(pl.add(t, t), [first, 0], [rows, 32], y)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[M, 32], pl.FP32]) -> pl.Tensor[[M, 32], pl.FP32]:
        m = pl.dim(x, 0)
        y = pl.create_tensor([m, 32], dtype=pl.FP32)
        for i in pl.range(0, m, 16):
            y = self.k(x, i, pl.min(16, m - i), y)
        return y
'''
    compiled = runtime.compile(pl.parse(text), "a2a3sim", "PTO")
    for rows in (5, 37):
        x = numbers((rows, 32))
        agree(compiled(x), x + x)


def softmax(x):
    return opaque_lines(x.shape, ["e = pl.exp(x - pl.row_max(x))", "return e / pl.row_sum(e)"])


def opaque_lines(shape, lines):
    t = tensor(shape)
    return pl.parse(f"@pl.program\nclass P:\n    @pl.function\n    def main(self, x: {t}) -> {t}:\n" +
                    "".join(f"        {line}\n" for line in lines), "user.py")


@pytest.mark.parametrize("shape, axis", [((1, 50000), -1), ((3, 20011), 1), ((9000, 3), 0), ((2, 3, 5000), 2)])
def test_rows_that_no_tile_holds_are_reduced_in_parts(shape, axis):
    x = numbers(shape)
    for op, golden in REDUCTIONS.items():
        want = golden(x.astype("float64"), axis=axis, keepdims=True)
        p = opaque({"x": shape}, want.shape, f"pl.{op}(x, axis={axis})")
        lowered = passes.PassManager.get_strategy("Default").run_passes(p)
        for made in (p, lowered):
            np.testing.assert_allclose(ir.interpret(made, x), want, rtol=1e-4, atol=1e-2)


@pytest.mark.parametrize("platform, backend, shape", [("a5sim", "PTO", (1, 50000)), ("a2a3sim", "CCE", (3, 5011))])
def test_softmax_of_rows_that_no_tile_holds(platform, backend, shape):
    x = numbers(shape)
    e = np.exp(x - x.max(1, keepdims=True))
    got = runtime.compile(softmax(x), platform, backend)(x)
    np.testing.assert_allclose(got, e / e.sum(1, keepdims=True), rtol=1e-3)


def test_row_of_more_than_64_parts_is_refused_in_plain_words():
    p = opaque({"x": (1, 1000000)}, (1, 1), "pl.row_sum(x)")
    with pytest.raises(pl.CompileError, match=r"A row of \[1, 1000000\] is too long for a tile") as e:
        passes.PassManager.get_strategy("Default").run_passes(p)
    assert e.value.span.line == 5


@pytest.mark.parametrize("shape", [(90,), (9000,)])
@pytest.mark.parametrize("op", REDUCTIONS)
def test_reduction_of_one_dimension_is_refused_by_the_shape_of_the_author(op, shape):
    with pytest.raises(pl.InvalidOperationError, match=rf"requires at least 2 dimensions, but got \[{shape[0]}\]"):
        opaque({"x": shape}, (1,), f"pl.{op}(x)")
