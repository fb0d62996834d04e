# SPDX-License-Identifier: MIT
"""Loops with carried values: a swap, a while loop, a countdown, one that does not run, an unrolled one."""
import pypto.language as pl

TOLERANCE = 1e-5


@pl.program
class Loops:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[16, 64], pl.FP32], n: pl.Scalar[pl.INT64], y: pl.Out[pl.Tensor[[32, 64], pl.FP32]]
               ) -> pl.Tensor[[32, 64], pl.FP32]:
        a = pl.load(x, [0, 0], [16, 64])
        b = pl.mul(a, 10.0)
        for i, (p, q) in pl.range(n, init_values=(a, b)):
            p, q = pl.yield_(q, pl.add(p, 1.0))
        k = n
        while k > 2:
            k = k - 2
            p = pl.add(p, q)
        for i in pl.range(3, 0, -1):
            q = pl.mul(q, 0.5)
        for i in pl.range(0, 0):
            q = pl.mul(q, 100.0)
        for i in pl.unroll(2):
            if i == 1:
                p = pl.add(p, 0.25)
        y = pl.store(p, [0, 0], [16, 64], y)
        y = pl.store(q, [16, 0], [16, 64], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[32, 64], pl.FP32]]
             ) -> pl.Tensor[[32, 64], pl.FP32]:
        y = self.kernel(x, 5, y)
        return y


def case(random):
    import numpy as np
    x = random.uniform(-4, 4, (16, 64)).astype("float32")
    p, q, k = x.astype("float64"), x.astype("float64") * 10, 5
    for _ in range(5):
        p, q = q, p + 1
    while k > 2:
        k, p = k - 2, p + q
    return [x, np.zeros((32, 64), "float32")], [np.concatenate([p + 0.25, q / 8])]
