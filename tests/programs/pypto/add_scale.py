# SPDX-License-Identifier: MIT
"""The smallest orchestration: two kernels, a tensor between them, a number as an argument."""
import pypto.language as pl

TOLERANCE = 1e-6


@pl.program
class AddScale:
    @pl.function(type=pl.FunctionType.InCore)
    def k_add(self, a: pl.Tensor[[32, 64], pl.FP32], b: pl.Tensor[[32, 64], pl.FP32],
              o: pl.Out[pl.Tensor[[32, 64], pl.FP32]]) -> pl.Tensor[[32, 64], pl.FP32]:
        ta = pl.load(a, [0, 0], [32, 64])
        tb = pl.load(b, [0, 0], [32, 64])
        o = pl.store(pl.add(ta, tb), [0, 0], [32, 64], o)
        return o

    @pl.function(type=pl.FunctionType.InCore)
    def k_scale(self, a: pl.Tensor[[32, 64], pl.FP32], s: pl.Scalar[pl.FP32],
                o: pl.Out[pl.Tensor[[32, 64], pl.FP32]]) -> pl.Tensor[[32, 64], pl.FP32]:
        t = pl.load(a, [0, 0], [32, 64])
        o = pl.store(pl.mul(t, s), [0, 0], [32, 64], o)
        return o

    @pl.function(type=pl.FunctionType.Orchestration)
    def top(self, x: pl.Tensor[[32, 64], pl.FP32], y: pl.Tensor[[32, 64], pl.FP32]) -> pl.Tensor[[32, 64], pl.FP32]:
        t = pl.create_tensor([32, 64], dtype=pl.FP32)
        t = self.k_add(x, y, t)
        r = pl.create_tensor([32, 64], dtype=pl.FP32)
        r = self.k_scale(t, 0.5, r)
        return r


def case(random):
    x, y = (random.uniform(-4, 4, (32, 64)).astype("float32") for _ in range(2))
    return [x, y], [(x.astype("float64") + y) * 0.5]
