# SPDX-License-Identifier: MIT
"""Rotary position embedding: halves of each row turned by angles of the position."""
import numpy as np

import pypto.language as pl

ROWS, DIM = 64, 64
HALF = DIM // 2
TOLERANCE = 1e-5


@pl.inline
def turned(a, b, c, s):
    return pl.sub(pl.mul(a, c), pl.mul(b, s))


@pl.program
class Rope:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[ROWS, DIM], pl.FP32], cos: pl.Tensor[[ROWS, HALF], pl.FP32],
               sin: pl.Tensor[[ROWS, HALF], pl.FP32], y: pl.Out[pl.Tensor[[ROWS, DIM], pl.FP32]]
               ) -> pl.Tensor[[ROWS, DIM], pl.FP32]:
        for i in pl.range(0, ROWS, 16):
            a = pl.load(x, [i, 0], [16, HALF])
            b = pl.load(x, [i, HALF], [16, HALF])
            c = pl.load(cos, [i, 0], [16, HALF])
            s = pl.load(sin, [i, 0], [16, HALF])
            y = pl.store(turned(a, b, c, s), [i, 0], [16, HALF], y)
            y = pl.store(turned(b, a, c, pl.neg(s)), [i, HALF], [16, HALF], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def rope(self, x: pl.Tensor[[ROWS, DIM], pl.FP32], cos: pl.Tensor[[ROWS, HALF], pl.FP32],
             sin: pl.Tensor[[ROWS, HALF], pl.FP32]) -> pl.Tensor[[ROWS, DIM], pl.FP32]:
        y = pl.create_tensor([ROWS, DIM], dtype=pl.FP32)
        y = self.kernel(x, cos, sin, y)
        return y


def case(random):
    x = random.uniform(-2, 2, (ROWS, DIM)).astype("float32")
    angle = np.arange(ROWS)[:, None] * 10000.0 ** (-np.arange(HALF) / HALF)
    cos, sin = np.cos(angle).astype("float32"), np.sin(angle).astype("float32")
    a, b = x[:, :HALF].astype("float64"), x[:, HALF:].astype("float64")
    return [x, cos, sin], [np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=1)]
