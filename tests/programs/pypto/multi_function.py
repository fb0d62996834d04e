# SPDX-License-Identifier: MIT
"""A program of several functions: methods in any order, a free function, an inline one, two results, a loop and a branch."""
import numpy as np

import pypto.language as pl

ROWS, COLS = 32, 32
TOLERANCE = 1e-5


@pl.inline
def squared(t):
    return pl.mul(t, t)


@pl.function(type=pl.FunctionType.InCore)
def negated(a: pl.Tensor[[ROWS, COLS], pl.FP32], o: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]]
            ) -> pl.Tensor[[ROWS, COLS], pl.FP32]:
    o = pl.store(pl.neg(pl.load(a, [0, 0], [ROWS, COLS])), [0, 0], [ROWS, COLS], o)
    return o


@pl.program
class MultiFunction:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[ROWS, COLS], pl.FP32], rounds: pl.Tensor[[4], pl.INT32]
             ) -> tuple[pl.Tensor[[ROWS, COLS], pl.FP32], pl.Tensor[[ROWS, COLS], pl.FP32]]:
        n = pl.cast(pl.tensor.read(rounds, [1]), pl.INDEX)
        low = pl.create_tensor([ROWS, COLS], dtype=pl.FP32)
        high = pl.create_tensor([ROWS, COLS], dtype=pl.FP32)
        low, high = self.split(x, low, high)
        for i in pl.range(n):
            if i % 2 == 0:
                low = self.halve(low)
            else:
                high = self.halve(high)
        out = pl.create_tensor([ROWS, COLS], dtype=pl.FP32)
        out = negated(low, out)
        return out, high

    @pl.function(type=pl.FunctionType.InCore)
    def split(self, x: pl.Tensor[[ROWS, COLS], pl.FP32], low: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]],
              high: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]]
              ) -> tuple[pl.Tensor[[ROWS, COLS], pl.FP32], pl.Tensor[[ROWS, COLS], pl.FP32]]:
        t = pl.load(x, [0, 0], [ROWS, COLS])
        low = pl.store(squared(pl.mins(t, 0.0)), [0, 0], [ROWS, COLS], low)
        high = pl.store(squared(pl.maxs(t, 0.0)), [0, 0], [ROWS, COLS], high)
        return low, high

    @pl.function(type=pl.FunctionType.InCore)
    def halve(self, a: pl.InOut[pl.Tensor[[ROWS, COLS], pl.FP32]]) -> pl.Tensor[[ROWS, COLS], pl.FP32]:
        a = pl.store(pl.mul(pl.load(a, [0, 0], [ROWS, COLS]), 0.5), [0, 0], [ROWS, COLS], a)
        return a


def case(random):
    x = random.uniform(-4, 4, (ROWS, COLS)).astype("float32")
    wide = x.astype("float64")
    return [x, np.array([0, 5, 0, 0], "int32")], [-np.minimum(wide, 0) ** 2 / 8, np.maximum(wide, 0) ** 2 / 4]
