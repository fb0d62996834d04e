# SPDX-License-Identifier: MIT
"""Softmax of the rows of a matrix, band by band."""
import numpy as np

import pypto.language as pl

ROWS, COLS, BAND = 128, 64, 32
TOLERANCE = 1e-5


@pl.program
class Softmax:
    @pl.function(type=pl.FunctionType.InCore)
    def band(self, x: pl.Tensor[[ROWS, COLS], pl.FP32], first: pl.Scalar[pl.INDEX],
             y: pl.InOut[pl.Tensor[[ROWS, COLS], pl.FP32]]) -> pl.Tensor[[ROWS, COLS], pl.FP32]:
        t = pl.load(x, [first, 0], [BAND, COLS])
        shifted = pl.exp(pl.row_expand_sub(t, pl.row_max(t)))
        y = pl.store(pl.row_expand_div(shifted, pl.row_sum(shifted)), [first, 0], [BAND, COLS], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def softmax(self, x: pl.Tensor[[ROWS, COLS], pl.FP32]) -> pl.Tensor[[ROWS, COLS], pl.FP32]:
        y = pl.create_tensor([ROWS, COLS], dtype=pl.FP32)
        for i in pl.range(0, ROWS, BAND):
            y = self.band(x, i, y)
        return y


def case(random):
    x = random.uniform(-9, 9, (ROWS, COLS)).astype("float32")
    e = np.exp(x.astype("float64") - x.max(axis=1, keepdims=True))
    return [x], [e / e.sum(axis=1, keepdims=True)]
