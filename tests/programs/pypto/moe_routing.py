# SPDX-License-Identifier: MIT
"""Mixture of experts: each token goes to the expert with the largest score; an expert is a product with its own matrix.

Vector kernels find the scores' maximum and scale by the gate; the control CPU reads the chosen expert of each group of tokens
and submits the product with that expert's weights.
"""
import numpy as np

import pypto.language as pl

GROUPS, TOKENS, DIM, EXPERTS = 4, 16, 32, 4
TOLERANCE = 1e-2


@pl.program
class MoeRouting:
    @pl.function(type=pl.FunctionType.InCore)
    def gates(self, scores: pl.Tensor[[GROUPS * TOKENS, EXPERTS * 8], pl.FP32],
              gate: pl.Out[pl.Tensor[[GROUPS * TOKENS, 1], pl.FP32]]) -> pl.Tensor[[GROUPS * TOKENS, 1], pl.FP32]:
        for g in pl.range(GROUPS):
            t = pl.load(scores, [g * TOKENS, 0], [TOKENS, EXPERTS * 8])
            e = pl.exp(pl.row_expand_sub(t, pl.row_max(t)))
            gate = pl.store(pl.recip(pl.row_sum(e)), [g * TOKENS, 0], [TOKENS, 1], gate)
        return gate

    @pl.function(type=pl.FunctionType.InCore)
    def expert(self, x: pl.Tensor[[GROUPS * TOKENS, DIM], pl.FP16], w: pl.Tensor[[EXPERTS * DIM, DIM], pl.FP16],
               group: pl.Scalar[pl.INDEX], chosen: pl.Scalar[pl.INDEX],
               h: pl.InOut[pl.Tensor[[GROUPS * TOKENS, DIM], pl.FP32]]) -> pl.Tensor[[GROUPS * TOKENS, DIM], pl.FP32]:
        xm = pl.load(x, [group * TOKENS, 0], [TOKENS, DIM], target_memory=pl.MemorySpace.Mat)
        wm = pl.load(w, [chosen * DIM, 0], [DIM, DIM], target_memory=pl.MemorySpace.Mat)
        xl = pl.move(xm, target_memory=pl.MemorySpace.Left)
        wr = pl.move(wm, target_memory=pl.MemorySpace.Right)
        h = pl.store(pl.matmul(xl, wr), [group * TOKENS, 0], [TOKENS, DIM], h)
        return h

    @pl.function(type=pl.FunctionType.InCore)
    def combine(self, h: pl.Tensor[[GROUPS * TOKENS, DIM], pl.FP32], gate: pl.Tensor[[GROUPS * TOKENS, 1], pl.FP32],
                y: pl.Out[pl.Tensor[[GROUPS * TOKENS, DIM], pl.FP32]]) -> pl.Tensor[[GROUPS * TOKENS, DIM], pl.FP32]:
        for g in pl.range(GROUPS):
            t = pl.load(h, [g * TOKENS, 0], [TOKENS, DIM])
            s = pl.load(gate, [g * TOKENS, 0], [TOKENS, 1])
            y = pl.store(pl.row_expand_mul(t, s), [g * TOKENS, 0], [TOKENS, DIM], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def route(self, x: pl.Tensor[[GROUPS * TOKENS, DIM], pl.FP16],
              scores: pl.Tensor[[GROUPS * TOKENS, EXPERTS * 8], pl.FP32], choice: pl.Tensor[[GROUPS], pl.INT32],
              w: pl.Tensor[[EXPERTS * DIM, DIM], pl.FP16]) -> pl.Tensor[[GROUPS * TOKENS, DIM], pl.FP32]:
        gate = pl.create_tensor([GROUPS * TOKENS, 1], dtype=pl.FP32)
        gate = self.gates(scores, gate)
        h = pl.create_tensor([GROUPS * TOKENS, DIM], dtype=pl.FP32)
        for g in pl.range(GROUPS):
            chosen = pl.tensor.read(choice, [g])
            h = self.expert(x, w, g, chosen, h)
        y = pl.create_tensor([GROUPS * TOKENS, DIM], dtype=pl.FP32)
        y = self.combine(h, gate, y)
        return y


def case(random):
    x = random.uniform(-1, 1, (GROUPS * TOKENS, DIM)).astype("float16")
    scores = random.uniform(-3, 3, (GROUPS * TOKENS, EXPERTS * 8)).astype("float32")
    choice = random.integers(0, EXPERTS, GROUPS).astype("int32")
    w = random.uniform(-1, 1, (EXPERTS, DIM, DIM)).astype("float16")
    wide = scores.astype("float64")
    gate = 1 / np.exp(wide - wide.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True)
    h = np.concatenate([x[g * TOKENS:(g + 1) * TOKENS].astype("float64") @ w[choice[g]] for g in range(GROUPS)])
    return [x, scores, choice, w.reshape(EXPERTS * DIM, DIM)], [h * gate]
