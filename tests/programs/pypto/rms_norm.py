# SPDX-License-Identifier: MIT
"""RMS normalisation in a function without a kind: the compiler makes the kernel of the region."""
import numpy as np

import pypto.language as pl

ROWS, COLS, EPS = 32, 128, 1e-6
INVERSE = 1.0 / COLS
TOLERANCE = 1e-4


@pl.program
class RmsNorm:
    @pl.function
    def rms_norm(self, x: pl.Tensor[[ROWS, COLS], pl.FP32], weight: pl.Tensor[[1, COLS], pl.FP32],
                 y: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]]) -> pl.Tensor[[ROWS, COLS], pl.FP32]:
        with pl.incore():
            t = pl.load(x, [0, 0], [ROWS, COLS])
            w = pl.load(weight, [0, 0], [1, COLS])
            square = pl.row_sum(pl.mul(t, t))
            scale = pl.rsqrt(pl.add(pl.mul(square, INVERSE), EPS))
            y = pl.store(pl.col_expand_mul(pl.row_expand_mul(t, scale), w), [0, 0], [ROWS, COLS], y)
        return y


def case(random):
    x, w = (random.uniform(-2, 2, s).astype("float32") for s in ((ROWS, COLS), (1, COLS)))
    wide = x.astype("float64")
    y = wide / np.sqrt((wide * wide).mean(axis=1, keepdims=True) + EPS) * w
    return [x, w, np.zeros_like(x)], [y]
