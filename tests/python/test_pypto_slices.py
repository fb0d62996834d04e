# SPDX-License-Identifier: MIT
"""Slices of tiles: their rows lie as far apart as those of the tile (spec pypto.md section 4.7), on both back ends."""
import os

import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
os.environ.setdefault("SIMPLER_CACHE_DIR", os.path.join(os.path.abspath(os.environ.get("SIMPLER_BUILD_DIR", "build")),
                                                        "cache"))
from pypto import ir, runtime  # noqa: E402

X = np.arange(16 * 64, dtype="float32").reshape(16, 64)
COMBINATIONS = [("a2a3sim", "PTO"), ("a5sim", "CCE")]


def check(program, want, platform, backend, *more):
    assert (ir.interpret(program, X, *more) == want).all()
    np.testing.assert_array_equal(runtime.compile(program, platform=platform, backend_type=backend)(X, *more), want)


@pl.program
class Parts:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[80, 16], pl.FP32]]
          ) -> pl.Tensor[[80, 16], pl.FP32]:
        t = pl.load(x, [0, 0], [16, 64])
        right = pl.slice(t, [16, 32], [0, 32])
        y = pl.store(pl.slice(right, [8, 16], [4, 8]), [0, 0], [8, 16], y)
        y = pl.store(pl.slice(pl.slice(right, [8, 24], [4, 8]), [8, 16], [0, 8]), [8, 0], [8, 16], y)
        y = pl.store(pl.add(pl.load(x, [0, 0], [16, 16]), pl.slice(t, [16, 16], [0, 40])), [16, 0], [16, 16], y)
        for i in pl.range(3):
            y = pl.store(pl.adds(pl.slice(t, [8, 16], [8, i * 16]), 1.0), [32 + i * 8, 0], [8, 16], y)
        y = pl.store(pl.slice(pl.reshape(t, [64, 16]), [8, 16], [3, 0]), [56, 0], [8, 16], y)
        y = pl.store(pl.transpose(pl.slice(t, [16, 16], [0, 16]), 0, 1), [64, 0], [16, 16], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 64], pl.FP32]) -> pl.Tensor[[80, 16], pl.FP32]:
        y = pl.create_tensor([80, 16], dtype=pl.FP32)
        y = self.k(x, y)
        return y


@pytest.mark.parametrize("platform, backend", COMBINATIONS)
def test_slices_of_tiles_and_of_slices(platform, backend):
    want = np.concatenate([X[4:12, 40:56], X[4:12, 48:64], X[:, :16] + X[:, 40:56],
                           *(X[8:, i * 16:i * 16 + 16] + 1 for i in range(3)),
                           X.reshape(64, 16)[3:11], X[:, 16:32].T])
    check(Parts, want, platform, backend)


@pl.program
class Carried:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[16, 64], pl.FP32], n: pl.Scalar[pl.INDEX], y: pl.Out[pl.Tensor[[32, 16], pl.FP32]]
          ) -> pl.Tensor[[32, 16], pl.FP32]:
        t = pl.load(x, [0, 0], [16, 64])
        if n > 1:
            a = pl.slice(t, [16, 16], [0, 16])
        else:
            a = pl.slice(t, [16, 16], [0, 48])
        y = pl.store(a, [0, 0], [16, 16], y)
        b = pl.slice(t, [16, 16], [0, 32])
        for i in pl.range(n):
            b = pl.add(b, pl.slice(t, [16, 16], [0, i * 16]))
        y = pl.store(b, [16, 0], [16, 16], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 64], pl.FP32], n: pl.Scalar[pl.INDEX]) -> pl.Tensor[[32, 16], pl.FP32]:
        y = pl.create_tensor([32, 16], dtype=pl.FP32)
        y = self.k(x, n, y)
        return y


@pytest.mark.parametrize("platform, backend", COMBINATIONS)
@pytest.mark.parametrize("n", [0, 1, 3])
def test_branches_and_loops_hand_slices_on(platform, backend, n):
    want = np.concatenate([X[:, 16:32] if n > 1 else X[:, 48:],
                           X[:, 32:48] + sum(X[:, i * 16:i * 16 + 16] for i in range(n))])
    check(Carried, want, platform, backend, n)


def kernel(body, shape):
    lines = "\n".join("        " + line for line in body)
    return pl.parse(f"""
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[{shape}, pl.FP32]]) -> pl.Tensor[{shape}, pl.FP32]:
{lines}
        return y
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 64], pl.FP32]) -> pl.Tensor[{shape}, pl.FP32]:
        y = pl.create_tensor({shape}, dtype=pl.FP32)
        y = self.k(x, y)
        return y
""")


@pytest.mark.parametrize("body, text", [
    (["t = pl.load(x, [0, 0], [16, 64], valid_shapes=[10, 40])",
      "y = pl.store(pl.slice(t, [16, 32], [0, 32]), [0, 0], [16, 32], y)"],
     r"beyond its valid part \[10, 40\]; fill the rest first"),
    (["t = pl.load(x, [0, 0], [16, 64])", "a = pl.row_expand_mul(t, pl.slice(t, [16, 1], [0, 5]))"],
     "a tile of one column of a tile .16, 64."),
])
def test_slices_that_are_no_tiles_are_refused(body, text):
    with pytest.raises(pl.InvalidOperationError, match=text) as e:
        kernel(body, [16, 32])
    assert e.value.span.line == 7


def test_a_slice_of_what_is_valid_in_part_may_lie_within_it():
    kernel(["t = pl.load(x, [0, 0], [16, 64], valid_shapes=[16, 40])",
            "y = pl.store(pl.slice(t, [16, 32], [0, 8]), [0, 0], [16, 32], y)"], [16, 32])


@pytest.mark.parametrize("platform, backend", COMBINATIONS)
def test_a_slice_whose_rows_lie_apart_is_not_reshaped(platform, backend):
    program = kernel(["t = pl.load(x, [0, 0], [16, 64])", "a = pl.reshape(pl.slice(t, [16, 32], [0, 32]), [32, 16])",
                      "y = pl.store(pl.exp(a), [0, 0], [32, 16], y)"], [32, 16])
    with pytest.raises(pl.CompileError, match="rows lie apart in its tile cannot be reshaped") as e:
        runtime.compile(program, platform=platform, backend_type=backend)
    assert e.value.span.line == 7


EDGE = """
@pl.program
class Edge:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[10, 32], pl.FP32], y: pl.Out[pl.Tensor[[10, 32], pl.FP32]]) -> pl.Tensor[[10, 32], pl.FP32]:
        t = pl.load(x, [0, 0], [16, 32], valid_shapes=[10, 32])
        y = pl.store(pl.add(t, t), [{row}, 0], [{rows}, 32], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[10, 32], pl.FP32], y: pl.InOut[pl.Tensor[[10, 32], pl.FP32]]):
        self.k(x, y)
"""


@pytest.mark.parametrize("row, rows, written", [(0, 16, 10), (4, 6, 6), (0, 12, 10)])
def test_what_a_store_writes_of_a_tile_that_is_valid_in_part_lies_in_the_tensor(row, rows, written):
    x, want = X[:10, :32].copy(), np.zeros((10, 32), "float32")
    want[row:row + written] = 2 * x[:written]
    program = pl.parse(EDGE.format(row=row, rows=rows))
    y = np.zeros_like(x)
    ir.interpret(program, x, y)
    np.testing.assert_array_equal(y, want)
    for platform, backend in COMBINATIONS:
        y = np.zeros_like(x)
        runtime.compile(program, platform=platform, backend_type=backend)(x, y)
        np.testing.assert_array_equal(y, want)


@pytest.mark.parametrize("row, rows, text", [(1, 16, "offset 1, extent 10 in dimension 0"), (5, 6, "offset 5, extent 6 in dimension 0")])
def test_a_store_beyond_the_tensor_is_refused(row, rows, text):
    with pytest.raises(pl.InvalidOperationError, match=text) as refused:
        pl.parse(EDGE.format(row=row, rows=rows))
    assert refused.value.span.line == 7
