# SPDX-License-Identifier: MIT
"""Extents that are known at run time: whole tiles, and a last one that is valid in part."""
import pypto.language as pl

M, N = pl.dynamic("M"), pl.dynamic("N")
TILE_ROWS, TILE_COLS = 16, 64
TOLERANCE = 1e-6


@pl.program
class DynamicShapes:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, a: pl.Tensor[[M, N], pl.FP32], b: pl.Tensor[[M, N], pl.FP32], o: pl.Out[pl.Tensor[[M, N], pl.FP32]]
               ) -> pl.Tensor[[M, N], pl.FP32]:
        for i in pl.range(0, M, TILE_ROWS):
            for j in pl.range(0, N, TILE_COLS):
                rows = min(M - i, TILE_ROWS)
                cols = min(N - j, TILE_COLS)
                ta = pl.load(a, [i, j], [TILE_ROWS, TILE_COLS], valid_shapes=[rows, cols])
                tb = pl.load(b, [i, j], [TILE_ROWS, TILE_COLS], valid_shapes=[rows, cols])
                o = pl.store(pl.maximum(ta, tb), [i, j], [TILE_ROWS, TILE_COLS], o)
        return o

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[M, N], pl.FP32], b: pl.Tensor[[M, N], pl.FP32], o: pl.Out[pl.Tensor[[M, N], pl.FP32]]
             ) -> pl.Tensor[[M, N], pl.FP32]:
        o = self.kernel(a, b, o)
        return o


def case(random):
    shape = (int(random.integers(1, 70)), int(random.integers(1, 200)))
    a, b = (random.uniform(-4, 4, shape).astype("float32") for _ in range(2))
    return [a, b, a * 0], [(a >= b) * a + (a < b) * b]
