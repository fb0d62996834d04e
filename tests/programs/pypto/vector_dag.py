# SPDX-License-Identifier: MIT
"""A graph of vector kernels: ((a + b) + 1) * ((a + b) + 2) + (a + b); the branches may run at once."""
import pypto.language as pl

SHAPE = [16, 16]
TOLERANCE = 1e-5


@pl.program
class VectorDag:
    @pl.function(type=pl.FunctionType.InCore)
    def add(self, a: pl.Tensor[SHAPE, pl.FP32], b: pl.Tensor[SHAPE, pl.FP32], o: pl.Out[pl.Tensor[SHAPE, pl.FP32]]
            ) -> pl.Tensor[SHAPE, pl.FP32]:
        o = pl.store(pl.add(pl.load(a, [0, 0], [16, 16]), pl.load(b, [0, 0], [16, 16])), [0, 0], [16, 16], o)
        return o

    @pl.function(type=pl.FunctionType.InCore)
    def add_scalar(self, a: pl.Tensor[SHAPE, pl.FP32], s: pl.Scalar[pl.FP32], o: pl.Out[pl.Tensor[SHAPE, pl.FP32]]
                   ) -> pl.Tensor[SHAPE, pl.FP32]:
        o = pl.store(pl.add(pl.load(a, [0, 0], [16, 16]), s), [0, 0], [16, 16], o)
        return o

    @pl.function(type=pl.FunctionType.InCore)
    def mul(self, a: pl.Tensor[SHAPE, pl.FP32], b: pl.Tensor[SHAPE, pl.FP32], o: pl.Out[pl.Tensor[SHAPE, pl.FP32]]
            ) -> pl.Tensor[SHAPE, pl.FP32]:
        o = pl.store(pl.mul(pl.load(a, [0, 0], [16, 16]), pl.load(b, [0, 0], [16, 16])), [0, 0], [16, 16], o)
        return o

    @pl.function(type=pl.FunctionType.Orchestration)
    def graph(self, a: pl.Tensor[SHAPE, pl.FP32], b: pl.Tensor[SHAPE, pl.FP32]) -> pl.Tensor[SHAPE, pl.FP32]:
        c = pl.create_tensor(SHAPE, dtype=pl.FP32)
        c = self.add(a, b, c)
        d = pl.create_tensor(SHAPE, dtype=pl.FP32)
        d = self.add_scalar(c, 1.0, d)
        e = pl.create_tensor(SHAPE, dtype=pl.FP32)
        e = self.add_scalar(c, 2.0, e)
        g = pl.create_tensor(SHAPE, dtype=pl.FP32)
        g = self.mul(d, e, g)
        f = pl.create_tensor(SHAPE, dtype=pl.FP32)
        f = self.add(g, c, f)
        return f


def case(random):
    a, b = (random.uniform(-4, 4, SHAPE).astype("float32") for _ in range(2))
    c = a.astype("float64") + b
    return [a, b], [(c + 1) * (c + 2) + c]
