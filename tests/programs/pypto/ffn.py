# SPDX-License-Identifier: MIT
"""Feed-forward network: two products with an activation between them (SiLU of one half times the other)."""
import numpy as np

import pypto.language as pl

ROWS, MODEL, HIDDEN = 32, 64, 64
TOLERANCE = 2e-2


@pl.program
class Ffn:
    @pl.function(type=pl.FunctionType.InCore)
    def product(self, a: pl.Tensor[[ROWS, MODEL], pl.FP16], b: pl.Tensor[[MODEL, HIDDEN], pl.FP16],
                c: pl.Out[pl.Tensor[[ROWS, HIDDEN], pl.FP32]]) -> pl.Tensor[[ROWS, HIDDEN], pl.FP32]:
        am = pl.load(a, [0, 0], [ROWS, MODEL], target_memory=pl.MemorySpace.Mat)
        bm = pl.load(b, [0, 0], [MODEL, HIDDEN], target_memory=pl.MemorySpace.Mat)
        al = pl.move(am, target_memory=pl.MemorySpace.Left)
        br = pl.move(bm, target_memory=pl.MemorySpace.Right)
        c = pl.store(pl.matmul(al, br), [0, 0], [ROWS, HIDDEN], c)
        return c

    @pl.function(type=pl.FunctionType.InCore)
    def gate(self, g: pl.Tensor[[ROWS, HIDDEN], pl.FP32], u: pl.Tensor[[ROWS, HIDDEN], pl.FP32],
             h: pl.Out[pl.Tensor[[ROWS, HIDDEN], pl.FP16]]) -> pl.Tensor[[ROWS, HIDDEN], pl.FP16]:
        gt = pl.load(g, [0, 0], [ROWS, HIDDEN])
        ut = pl.load(u, [0, 0], [ROWS, HIDDEN])
        sigmoid = pl.recip(pl.add(pl.exp(pl.neg(gt)), 1.0))
        h = pl.store(pl.cast(pl.mul(pl.mul(gt, sigmoid), ut), pl.FP16), [0, 0], [ROWS, HIDDEN], h)
        return h

    @pl.function(type=pl.FunctionType.Orchestration)
    def ffn(self, x: pl.Tensor[[ROWS, MODEL], pl.FP16], wg: pl.Tensor[[MODEL, HIDDEN], pl.FP16],
            wu: pl.Tensor[[MODEL, HIDDEN], pl.FP16], wd: pl.Tensor[[HIDDEN, MODEL], pl.FP16]
            ) -> pl.Tensor[[ROWS, MODEL], pl.FP32]:
        g = pl.create_tensor([ROWS, HIDDEN], dtype=pl.FP32)
        g = self.product(x, wg, g)
        u = pl.create_tensor([ROWS, HIDDEN], dtype=pl.FP32)
        u = self.product(x, wu, u)
        h = pl.create_tensor([ROWS, HIDDEN], dtype=pl.FP16)
        h = self.gate(g, u, h)
        y = pl.create_tensor([ROWS, MODEL], dtype=pl.FP32)
        y = self.product(h, wd, y)
        return y


def case(random):
    x, wg, wu, wd = (random.uniform(-1, 1, s).astype("float16")
                     for s in ((ROWS, MODEL), (MODEL, HIDDEN), (MODEL, HIDDEN), (HIDDEN, MODEL)))
    g, u = x.astype("float64") @ wg, x.astype("float64") @ wu
    h = (g / (1 + np.exp(-g)) * u).astype("float16")
    return [x, wg, wu, wd], [h.astype("float64") @ wd]
