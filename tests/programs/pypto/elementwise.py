# SPDX-License-Identifier: MIT
"""Element-wise operators on floats, integers and masks, and conversions between them."""
import numpy as np

import pypto.language as pl

TOLERANCE = 2e-3


@pl.program
class Elementwise:
    @pl.function(type=pl.FunctionType.InCore)
    def floats(self, a: pl.Tensor[[32, 32], pl.FP32], b: pl.Tensor[[32, 32], pl.FP32],
               o: pl.Out[pl.Tensor[[32, 32], pl.FP32]]) -> pl.Tensor[[32, 32], pl.FP32]:
        x = pl.load(a, [0, 0], [32, 32])
        y = pl.load(b, [0, 0], [32, 32])
        u = pl.div(pl.sqrt(pl.abs(x)), pl.add(pl.exp(y), 1.0))
        v = pl.sub(pl.log(pl.add(pl.abs(y), 1.0)), pl.minimum(x, y))
        m = pl.cmp(u, v, cmp_type=4)
        o = pl.store(pl.sel(m, u, v), [0, 0], [32, 32], o)
        return o

    @pl.function(type=pl.FunctionType.InCore)
    def integers(self, a: pl.Tensor[[32, 32], pl.INT32], b: pl.Tensor[[32, 32], pl.INT32],
                 o: pl.Out[pl.Tensor[[32, 32], pl.INT32]]) -> pl.Tensor[[32, 32], pl.INT32]:
        x = pl.load(a, [0, 0], [32, 32])
        y = pl.load(b, [0, 0], [32, 32])
        u = pl.add(pl.mul(x, 3), pl.maximum(x, y))
        o = pl.store(pl.sub(u, y), [0, 0], [32, 32], o)
        return o

    @pl.function(type=pl.FunctionType.InCore)
    def halves(self, a: pl.Tensor[[32, 32], pl.FP32], o: pl.Out[pl.Tensor[[32, 32], pl.FP16]]
               ) -> pl.Tensor[[32, 32], pl.FP16]:
        h = pl.cast(pl.load(a, [0, 0], [32, 32]), pl.FP16)
        o = pl.store(pl.add(pl.relu(h), 1.0), [0, 0], [32, 32], o)
        return o

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[32, 32], pl.FP32], b: pl.Tensor[[32, 32], pl.FP32], i: pl.Tensor[[32, 32], pl.INT32],
             j: pl.Tensor[[32, 32], pl.INT32]
             ) -> tuple[pl.Tensor[[32, 32], pl.FP32], pl.Tensor[[32, 32], pl.INT32], pl.Tensor[[32, 32], pl.FP16]]:
        f = pl.create_tensor([32, 32], dtype=pl.FP32)
        f = self.floats(a, b, f)
        n = pl.create_tensor([32, 32], dtype=pl.INT32)
        n = self.integers(i, j, n)
        h = pl.create_tensor([32, 32], dtype=pl.FP16)
        h = self.halves(a, h)
        return f, n, h


def case(random):
    a, b = (random.uniform(-4, 4, (32, 32)).astype("float32") for _ in range(2))
    i, j = (random.integers(-1000, 1000, (32, 32)).astype("int32") for _ in range(2))
    x, y = a.astype("float64"), b.astype("float64")
    u, v = np.sqrt(np.abs(x)) / (np.exp(y) + 1), np.log(np.abs(y) + 1) - np.minimum(x, y)
    return [a, b, i, j], [np.where(u > v, u, v), i * 3 + np.maximum(i, j) - j, np.maximum(x, 0) + 1]
