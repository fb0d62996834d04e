# SPDX-License-Identifier: MIT
"""Attention over a paged cache: each sequence has a table of blocks and a length; the control CPU reads both, and submits for
each block of a sequence a product, the running softmax, a product and the update."""
import numpy as np

import pypto.language as pl

BATCH, HEADS, DIM, BLOCK, BLOCKS, TABLE = 2, 16, 32, 16, 12, 4
SCALE = DIM ** -0.5
TOLERANCE = 1e-2


@pl.program
class PagedAttention:
    @pl.function(type=pl.FunctionType.InCore)
    def scores(self, q: pl.Tensor[[BATCH * HEADS, DIM], pl.FP16], k: pl.Tensor[[BLOCKS * BLOCK, DIM], pl.FP16],
               batch: pl.Scalar[pl.INDEX], block: pl.Scalar[pl.INDEX], s: pl.Out[pl.Tensor[[HEADS, BLOCK], pl.FP32]]
               ) -> pl.Tensor[[HEADS, BLOCK], pl.FP32]:
        qm = pl.load(q, [batch * HEADS, 0], [HEADS, DIM], target_memory=pl.MemorySpace.Mat)
        km = pl.load(k, [block * BLOCK, 0], [BLOCK, DIM], target_memory=pl.MemorySpace.Mat)
        ql = pl.move(qm, target_memory=pl.MemorySpace.Left)
        kr = pl.move(km, target_memory=pl.MemorySpace.Right, transpose=True)
        s = pl.store(pl.matmul(ql, kr), [0, 0], [HEADS, BLOCK], s)
        return s

    @pl.function(type=pl.FunctionType.InCore)
    def weights(self, s: pl.Tensor[[HEADS, BLOCK], pl.FP32], valid: pl.Scalar[pl.INDEX],
                m: pl.InOut[pl.Tensor[[HEADS, 1], pl.FP32]], d: pl.InOut[pl.Tensor[[HEADS, 1], pl.FP32]],
                p: pl.Out[pl.Tensor[[HEADS, BLOCK], pl.FP16]], c: pl.Out[pl.Tensor[[HEADS, 1], pl.FP32]]
                ) -> tuple[pl.Tensor[[HEADS, 1], pl.FP32], pl.Tensor[[HEADS, 1], pl.FP32],
                           pl.Tensor[[HEADS, BLOCK], pl.FP16], pl.Tensor[[HEADS, 1], pl.FP32]]:
        part = pl.load(s, [0, 0], [HEADS, BLOCK], valid_shapes=[HEADS, valid])
        st = pl.mul(pl.fillpad(part, pad=pl.TilePad.min), SCALE)
        old = pl.load(m, [0, 0], [HEADS, 1])
        new = pl.maximum(old, pl.row_max(st))
        correction = pl.exp(pl.sub(old, new))
        e = pl.exp(pl.row_expand_sub(st, new))
        total = pl.add(pl.mul(pl.load(d, [0, 0], [HEADS, 1]), correction), pl.row_sum(e))
        m = pl.store(new, [0, 0], [HEADS, 1], m)
        d = pl.store(total, [0, 0], [HEADS, 1], d)
        p = pl.store(pl.cast(e, pl.FP16), [0, 0], [HEADS, BLOCK], p)
        c = pl.store(correction, [0, 0], [HEADS, 1], c)
        return m, d, p, c

    @pl.function(type=pl.FunctionType.InCore)
    def weighted(self, p: pl.Tensor[[HEADS, BLOCK], pl.FP16], v: pl.Tensor[[BLOCKS * BLOCK, DIM], pl.FP16],
                 block: pl.Scalar[pl.INDEX], o: pl.Out[pl.Tensor[[HEADS, DIM], pl.FP32]]
                 ) -> pl.Tensor[[HEADS, DIM], pl.FP32]:
        pm = pl.load(p, [0, 0], [HEADS, BLOCK], target_memory=pl.MemorySpace.Mat)
        vm = pl.load(v, [block * BLOCK, 0], [BLOCK, DIM], target_memory=pl.MemorySpace.Mat)
        left = pl.move(pm, target_memory=pl.MemorySpace.Left)
        right = pl.move(vm, target_memory=pl.MemorySpace.Right)
        o = pl.store(pl.matmul(left, right), [0, 0], [HEADS, DIM], o)
        return o

    @pl.function(type=pl.FunctionType.InCore)
    def start(self, m: pl.Out[pl.Tensor[[HEADS, 1], pl.FP32]], d: pl.Out[pl.Tensor[[HEADS, 1], pl.FP32]],
              a: pl.Out[pl.Tensor[[HEADS, DIM], pl.FP32]]
              ) -> tuple[pl.Tensor[[HEADS, 1], pl.FP32], pl.Tensor[[HEADS, 1], pl.FP32],
                         pl.Tensor[[HEADS, DIM], pl.FP32]]:
        m = pl.store(pl.full([HEADS, 1], dtype=pl.FP32, value=-1e30), [0, 0], [HEADS, 1], m)
        d = pl.store(pl.full([HEADS, 1], dtype=pl.FP32, value=0.0), [0, 0], [HEADS, 1], d)
        a = pl.store(pl.full([HEADS, DIM], dtype=pl.FP32, value=0.0), [0, 0], [HEADS, DIM], a)
        return m, d, a

    @pl.function(type=pl.FunctionType.InCore)
    def update(self, part: pl.Tensor[[HEADS, DIM], pl.FP32], c: pl.Tensor[[HEADS, 1], pl.FP32],
               a: pl.InOut[pl.Tensor[[HEADS, DIM], pl.FP32]]) -> pl.Tensor[[HEADS, DIM], pl.FP32]:
        old = pl.row_expand_mul(pl.load(a, [0, 0], [HEADS, DIM]), pl.load(c, [0, 0], [HEADS, 1]))
        a = pl.store(pl.add(old, pl.load(part, [0, 0], [HEADS, DIM])), [0, 0], [HEADS, DIM], a)
        return a

    @pl.function(type=pl.FunctionType.InCore)
    def finish(self, d: pl.Tensor[[HEADS, 1], pl.FP32], a: pl.Tensor[[HEADS, DIM], pl.FP32], batch: pl.Scalar[pl.INDEX],
               out: pl.InOut[pl.Tensor[[BATCH * HEADS, DIM], pl.FP32]]) -> pl.Tensor[[BATCH * HEADS, DIM], pl.FP32]:
        t = pl.row_expand_div(pl.load(a, [0, 0], [HEADS, DIM]), pl.load(d, [0, 0], [HEADS, 1]))
        out = pl.store(t, [batch * HEADS, 0], [HEADS, DIM], out)
        return out

    @pl.function(type=pl.FunctionType.Orchestration)
    def attention(self, q: pl.Tensor[[BATCH * HEADS, DIM], pl.FP16], k: pl.Tensor[[BLOCKS * BLOCK, DIM], pl.FP16],
                  v: pl.Tensor[[BLOCKS * BLOCK, DIM], pl.FP16], table: pl.Tensor[[BATCH, TABLE], pl.INT32],
                  lengths: pl.Tensor[[BATCH], pl.INT32], out: pl.InOut[pl.Tensor[[BATCH * HEADS, DIM], pl.FP32]]
                  ) -> pl.Tensor[[BATCH * HEADS, DIM], pl.FP32]:
        for b in pl.range(BATCH):
            length = pl.cast(pl.tensor.read(lengths, [b]), pl.INDEX)
            m = pl.create_tensor([HEADS, 1], dtype=pl.FP32)
            d = pl.create_tensor([HEADS, 1], dtype=pl.FP32)
            a = pl.create_tensor([HEADS, DIM], dtype=pl.FP32)
            m, d, a = self.start(m, d, a)
            for i in pl.range(0, (length + BLOCK - 1) // BLOCK):
                block = pl.cast(pl.tensor.read(table, [b, i]), pl.INDEX)
                valid = min(length - i * BLOCK, BLOCK)
                s = pl.create_tensor([HEADS, BLOCK], dtype=pl.FP32)
                s = self.scores(q, k, b, block, s)
                p = pl.create_tensor([HEADS, BLOCK], dtype=pl.FP16)
                c = pl.create_tensor([HEADS, 1], dtype=pl.FP32)
                m, d, p, c = self.weights(s, valid, m, d, p, c)
                part = pl.create_tensor([HEADS, DIM], dtype=pl.FP32)
                part = self.weighted(p, v, block, part)
                a = self.update(part, c, a)
            out = self.finish(d, a, b, out)
        return out


def case(random):
    q = random.uniform(-2, 2, (BATCH * HEADS, DIM)).astype("float16")
    k, v = (random.uniform(-2, 2, (BLOCKS * BLOCK, DIM)).astype("float16") for _ in range(2))
    table = random.permutation(BLOCKS)[:BATCH * TABLE].reshape(BATCH, TABLE).astype("int32")
    lengths = random.integers(1, TABLE * BLOCK + 1, BATCH).astype("int32")
    out = np.zeros((BATCH * HEADS, DIM))
    for b in range(BATCH):
        rows = np.concatenate([np.arange(t * BLOCK, (t + 1) * BLOCK) for t in table[b]])[:lengths[b]]
        s = q[b * HEADS:(b + 1) * HEADS].astype("float64") @ k[rows].T.astype("float64") * SCALE
        p = np.exp(s - s.max(axis=1, keepdims=True))
        out[b * HEADS:(b + 1) * HEADS] = p / p.sum(axis=1, keepdims=True) @ v[rows].astype("float64")
    return [q, k, v, table, lengths, np.zeros((BATCH * HEADS, DIM), "float32")], [out]
