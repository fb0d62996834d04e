# SPDX-License-Identifier: MIT
"""Attention of one head over blocks of keys with a running maximum and sum: products on cube cores, the rest on vector cores."""
import numpy as np

import pypto.language as pl

Q, KEYS, DIM, BLOCK = 32, 128, 32, 32
SCALE = DIM ** -0.5
TOLERANCE = 5e-3


@pl.program
class FlashAttention:
    @pl.function(type=pl.FunctionType.InCore)
    def scores(self, q: pl.Tensor[[Q, DIM], pl.FP16], k: pl.Tensor[[KEYS, DIM], pl.FP16], first: pl.Scalar[pl.INDEX],
               s: pl.Out[pl.Tensor[[Q, BLOCK], pl.FP32]]) -> pl.Tensor[[Q, BLOCK], pl.FP32]:
        qm = pl.load(q, [0, 0], [Q, DIM], target_memory=pl.MemorySpace.Mat)
        km = pl.load(k, [first, 0], [BLOCK, DIM], target_memory=pl.MemorySpace.Mat)
        ql = pl.move(qm, target_memory=pl.MemorySpace.Left)
        kr = pl.move(km, target_memory=pl.MemorySpace.Right, transpose=True)
        s = pl.store(pl.matmul(ql, kr), [0, 0], [Q, BLOCK], s)
        return s

    @pl.function(type=pl.FunctionType.InCore)
    def weights(self, s: pl.Tensor[[Q, BLOCK], pl.FP32], m: pl.InOut[pl.Tensor[[Q, 1], pl.FP32]],
                d: pl.InOut[pl.Tensor[[Q, 1], pl.FP32]], p: pl.Out[pl.Tensor[[Q, BLOCK], pl.FP16]],
                c: pl.Out[pl.Tensor[[Q, 1], pl.FP32]]
                ) -> tuple[pl.Tensor[[Q, 1], pl.FP32], pl.Tensor[[Q, 1], pl.FP32], pl.Tensor[[Q, BLOCK], pl.FP16],
                           pl.Tensor[[Q, 1], pl.FP32]]:
        st = pl.mul(pl.load(s, [0, 0], [Q, BLOCK]), SCALE)
        old = pl.load(m, [0, 0], [Q, 1])
        new = pl.maximum(old, pl.row_max(st))
        correction = pl.exp(pl.sub(old, new))
        e = pl.exp(pl.row_expand_sub(st, new))
        total = pl.add(pl.mul(pl.load(d, [0, 0], [Q, 1]), correction), pl.row_sum(e))
        m = pl.store(new, [0, 0], [Q, 1], m)
        d = pl.store(total, [0, 0], [Q, 1], d)
        p = pl.store(pl.cast(e, pl.FP16), [0, 0], [Q, BLOCK], p)
        c = pl.store(correction, [0, 0], [Q, 1], c)
        return m, d, p, c

    @pl.function(type=pl.FunctionType.InCore)
    def weighted(self, p: pl.Tensor[[Q, BLOCK], pl.FP16], v: pl.Tensor[[KEYS, DIM], pl.FP16], first: pl.Scalar[pl.INDEX],
                 o: pl.Out[pl.Tensor[[Q, DIM], pl.FP32]]) -> pl.Tensor[[Q, DIM], pl.FP32]:
        pm = pl.load(p, [0, 0], [Q, BLOCK], target_memory=pl.MemorySpace.Mat)
        vm = pl.load(v, [first, 0], [BLOCK, DIM], target_memory=pl.MemorySpace.Mat)
        pleft = pl.move(pm, target_memory=pl.MemorySpace.Left)
        vr = pl.move(vm, target_memory=pl.MemorySpace.Right)
        o = pl.store(pl.matmul(pleft, vr), [0, 0], [Q, DIM], o)
        return o

    @pl.function(type=pl.FunctionType.InCore)
    def update(self, part: pl.Tensor[[Q, DIM], pl.FP32], c: pl.Tensor[[Q, 1], pl.FP32],
               o: pl.InOut[pl.Tensor[[Q, DIM], pl.FP32]]) -> pl.Tensor[[Q, DIM], pl.FP32]:
        old = pl.row_expand_mul(pl.load(o, [0, 0], [Q, DIM]), pl.load(c, [0, 0], [Q, 1]))
        o = pl.store(pl.add(old, pl.load(part, [0, 0], [Q, DIM])), [0, 0], [Q, DIM], o)
        return o

    @pl.function(type=pl.FunctionType.InCore)
    def start(self, m: pl.Out[pl.Tensor[[Q, 1], pl.FP32]], d: pl.Out[pl.Tensor[[Q, 1], pl.FP32]],
              o: pl.Out[pl.Tensor[[Q, DIM], pl.FP32]]
              ) -> tuple[pl.Tensor[[Q, 1], pl.FP32], pl.Tensor[[Q, 1], pl.FP32], pl.Tensor[[Q, DIM], pl.FP32]]:
        m = pl.store(pl.full([Q, 1], dtype=pl.FP32, value=-1e30), [0, 0], [Q, 1], m)
        d = pl.store(pl.full([Q, 1], dtype=pl.FP32, value=0.0), [0, 0], [Q, 1], d)
        o = pl.store(pl.full([Q, DIM], dtype=pl.FP32, value=0.0), [0, 0], [Q, DIM], o)
        return m, d, o

    @pl.function(type=pl.FunctionType.InCore)
    def finish(self, d: pl.Tensor[[Q, 1], pl.FP32], o: pl.InOut[pl.Tensor[[Q, DIM], pl.FP32]]
               ) -> pl.Tensor[[Q, DIM], pl.FP32]:
        t = pl.row_expand_div(pl.load(o, [0, 0], [Q, DIM]), pl.load(d, [0, 0], [Q, 1]))
        o = pl.store(t, [0, 0], [Q, DIM], o)
        return o

    @pl.function(type=pl.FunctionType.Orchestration)
    def attention(self, q: pl.Tensor[[Q, DIM], pl.FP16], k: pl.Tensor[[KEYS, DIM], pl.FP16],
                  v: pl.Tensor[[KEYS, DIM], pl.FP16]) -> pl.Tensor[[Q, DIM], pl.FP32]:
        m = pl.create_tensor([Q, 1], dtype=pl.FP32)
        d = pl.create_tensor([Q, 1], dtype=pl.FP32)
        o = pl.create_tensor([Q, DIM], dtype=pl.FP32)
        m, d, o = self.start(m, d, o)
        for i in pl.range(0, KEYS, BLOCK):
            s = pl.create_tensor([Q, BLOCK], dtype=pl.FP32)
            s = self.scores(q, k, i, s)
            p = pl.create_tensor([Q, BLOCK], dtype=pl.FP16)
            c = pl.create_tensor([Q, 1], dtype=pl.FP32)
            m, d, p, c = self.weights(s, m, d, p, c)
            part = pl.create_tensor([Q, DIM], dtype=pl.FP32)
            part = self.weighted(p, v, i, part)
            o = self.update(part, c, o)
        o = self.finish(d, o)
        return o


def case(random):
    q, k, v = (random.uniform(-2, 2, (n, DIM)).astype("float16") for n in (Q, KEYS, KEYS))
    s = q.astype("float64") @ k.T.astype("float64") * SCALE
    p = np.exp(s - s.max(axis=1, keepdims=True))
    return [q, k, v], [p / p.sum(axis=1, keepdims=True) @ v.astype("float64")]
