# SPDX-License-Identifier: MIT
"""Layer normalisation with gain and bias."""
import numpy as np

import pypto.language as pl

ROWS, COLS, EPS = 64, 128, 1e-5
INVERSE = 1.0 / COLS
TOLERANCE = 1e-4


@pl.program
class LayerNorm:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[ROWS, COLS], pl.FP32], gain: pl.Tensor[[1, COLS], pl.FP32],
               bias: pl.Tensor[[1, COLS], pl.FP32], y: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]]
               ) -> pl.Tensor[[ROWS, COLS], pl.FP32]:
        g = pl.load(gain, [0, 0], [1, COLS])
        b = pl.load(bias, [0, 0], [1, COLS])
        for i in pl.range(0, ROWS, 16):
            t = pl.load(x, [i, 0], [16, COLS])
            mean = pl.mul(pl.row_sum(t), INVERSE)
            centred = pl.row_expand_sub(t, mean)
            variance = pl.mul(pl.row_sum(pl.mul(centred, centred)), INVERSE)
            scale = pl.rsqrt(pl.add(variance, EPS))
            whole = pl.col_expand(centred, b)
            out = pl.add(pl.col_expand_mul(pl.row_expand_mul(centred, scale), g), whole)
            y = pl.store(out, [i, 0], [16, COLS], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def layer_norm(self, x: pl.Tensor[[ROWS, COLS], pl.FP32], gain: pl.Tensor[[1, COLS], pl.FP32],
                   bias: pl.Tensor[[1, COLS], pl.FP32]) -> pl.Tensor[[ROWS, COLS], pl.FP32]:
        y = pl.create_tensor([ROWS, COLS], dtype=pl.FP32)
        y = self.kernel(x, gain, bias, y)
        return y


def case(random):
    x, gain, bias = (random.uniform(-2, 2, s).astype("float32") for s in ((ROWS, COLS), (1, COLS), (1, COLS)))
    wide = x.astype("float64")
    y = (wide - wide.mean(axis=1, keepdims=True)) / np.sqrt(wide.var(axis=1, keepdims=True) + EPS)
    return [x, gain, bias], [y * gain + bias]
