# SPDX-License-Identifier: MIT
"""A decoder layer: norm, projections, rotary embedding, attention of one head, residual, norm, gated network, residual."""
import numpy as np

import pypto.language as pl

ROWS, DIM, EPS = 32, 64, 1e-5
HALF, INVERSE, SCALE = DIM // 2, 1.0 / DIM, DIM ** -0.5
TOLERANCE = 3e-2


@pl.program
class DecoderLayer:
    @pl.function(type=pl.FunctionType.InCore)
    def norm(self, x: pl.Tensor[[ROWS, DIM], pl.FP32], weight: pl.Tensor[[1, DIM], pl.FP32],
             y: pl.Out[pl.Tensor[[ROWS, DIM], pl.FP16]]) -> pl.Tensor[[ROWS, DIM], pl.FP16]:
        t = pl.load(x, [0, 0], [ROWS, DIM])
        w = pl.load(weight, [0, 0], [1, DIM])
        scale = pl.rsqrt(pl.add(pl.mul(pl.row_sum(pl.mul(t, t)), INVERSE), EPS))
        out = pl.cast(pl.col_expand_mul(pl.row_expand_mul(t, scale), w), pl.FP16)
        y = pl.store(out, [0, 0], [ROWS, DIM], y)
        return y

    @pl.function(type=pl.FunctionType.InCore)
    def product(self, a: pl.Tensor[[ROWS, DIM], pl.FP16], b: pl.Tensor[[DIM, DIM], pl.FP16],
                c: pl.Out[pl.Tensor[[ROWS, DIM], pl.FP32]]) -> pl.Tensor[[ROWS, DIM], pl.FP32]:
        am = pl.load(a, [0, 0], [ROWS, DIM], target_memory=pl.MemorySpace.Mat)
        bm = pl.load(b, [0, 0], [DIM, DIM], target_memory=pl.MemorySpace.Mat)
        al = pl.move(am, target_memory=pl.MemorySpace.Left)
        br = pl.move(bm, target_memory=pl.MemorySpace.Right)
        c = pl.store(pl.matmul(al, br), [0, 0], [ROWS, DIM], c)
        return c

    @pl.function(type=pl.FunctionType.InCore)
    def rotate(self, x: pl.Tensor[[ROWS, DIM], pl.FP32], cos: pl.Tensor[[ROWS, HALF], pl.FP32],
               sin: pl.Tensor[[ROWS, HALF], pl.FP32], y: pl.Out[pl.Tensor[[ROWS, DIM], pl.FP16]]
               ) -> pl.Tensor[[ROWS, DIM], pl.FP16]:
        a = pl.load(x, [0, 0], [ROWS, HALF])
        b = pl.load(x, [0, HALF], [ROWS, HALF])
        c = pl.load(cos, [0, 0], [ROWS, HALF])
        s = pl.load(sin, [0, 0], [ROWS, HALF])
        left = pl.cast(pl.sub(pl.mul(a, c), pl.mul(b, s)), pl.FP16)
        right = pl.cast(pl.add(pl.mul(b, c), pl.mul(a, s)), pl.FP16)
        y = pl.store(left, [0, 0], [ROWS, HALF], y)
        y = pl.store(right, [0, HALF], [ROWS, HALF], y)
        return y

    @pl.function(type=pl.FunctionType.InCore)
    def halve(self, x: pl.Tensor[[ROWS, DIM], pl.FP32], y: pl.Out[pl.Tensor[[ROWS, DIM], pl.FP16]]
              ) -> pl.Tensor[[ROWS, DIM], pl.FP16]:
        y = pl.store(pl.cast(pl.load(x, [0, 0], [ROWS, DIM]), pl.FP16), [0, 0], [ROWS, DIM], y)
        return y

    @pl.function(type=pl.FunctionType.InCore)
    def scores(self, q: pl.Tensor[[ROWS, DIM], pl.FP16], k: pl.Tensor[[ROWS, DIM], pl.FP16],
               s: pl.Out[pl.Tensor[[ROWS, ROWS], pl.FP32]]) -> pl.Tensor[[ROWS, ROWS], pl.FP32]:
        qm = pl.load(q, [0, 0], [ROWS, DIM], target_memory=pl.MemorySpace.Mat)
        km = pl.load(k, [0, 0], [ROWS, DIM], target_memory=pl.MemorySpace.Mat)
        ql = pl.move(qm, target_memory=pl.MemorySpace.Left)
        kr = pl.move(km, target_memory=pl.MemorySpace.Right, transpose=True)
        s = pl.store(pl.matmul(ql, kr), [0, 0], [ROWS, ROWS], s)
        return s

    @pl.function(type=pl.FunctionType.InCore)
    def softmax(self, s: pl.Tensor[[ROWS, ROWS], pl.FP32], p: pl.Out[pl.Tensor[[ROWS, ROWS], pl.FP16]]
                ) -> pl.Tensor[[ROWS, ROWS], pl.FP16]:
        t = pl.mul(pl.load(s, [0, 0], [ROWS, ROWS]), SCALE)
        e = pl.exp(pl.row_expand_sub(t, pl.row_max(t)))
        p = pl.store(pl.cast(pl.row_expand_div(e, pl.row_sum(e)), pl.FP16), [0, 0], [ROWS, ROWS], p)
        return p

    @pl.function(type=pl.FunctionType.InCore)
    def weighted(self, p: pl.Tensor[[ROWS, ROWS], pl.FP16], v: pl.Tensor[[ROWS, DIM], pl.FP16],
                 o: pl.Out[pl.Tensor[[ROWS, DIM], pl.FP32]]) -> pl.Tensor[[ROWS, DIM], pl.FP32]:
        pm = pl.load(p, [0, 0], [ROWS, ROWS], target_memory=pl.MemorySpace.Mat)
        vm = pl.load(v, [0, 0], [ROWS, DIM], target_memory=pl.MemorySpace.Mat)
        left = pl.move(pm, target_memory=pl.MemorySpace.Left)
        right = pl.move(vm, target_memory=pl.MemorySpace.Right)
        o = pl.store(pl.matmul(left, right), [0, 0], [ROWS, DIM], o)
        return o

    @pl.function(type=pl.FunctionType.InCore)
    def add(self, a: pl.Tensor[[ROWS, DIM], pl.FP32], b: pl.Tensor[[ROWS, DIM], pl.FP32],
            o: pl.Out[pl.Tensor[[ROWS, DIM], pl.FP32]]) -> pl.Tensor[[ROWS, DIM], pl.FP32]:
        o = pl.store(pl.add(pl.load(a, [0, 0], [ROWS, DIM]), pl.load(b, [0, 0], [ROWS, DIM])), [0, 0], [ROWS, DIM], o)
        return o

    @pl.function(type=pl.FunctionType.InCore)
    def gate(self, g: pl.Tensor[[ROWS, DIM], pl.FP32], u: pl.Tensor[[ROWS, DIM], pl.FP32],
             h: pl.Out[pl.Tensor[[ROWS, DIM], pl.FP16]]) -> pl.Tensor[[ROWS, DIM], pl.FP16]:
        gt = pl.load(g, [0, 0], [ROWS, DIM])
        ut = pl.load(u, [0, 0], [ROWS, DIM])
        sigmoid = pl.recip(pl.add(pl.exp(pl.neg(gt)), 1.0))
        h = pl.store(pl.cast(pl.mul(pl.mul(gt, sigmoid), ut), pl.FP16), [0, 0], [ROWS, DIM], h)
        return h

    @pl.function(type=pl.FunctionType.Orchestration)
    def layer(self, x: pl.Tensor[[ROWS, DIM], pl.FP32], w1: pl.Tensor[[1, DIM], pl.FP32],
              wq: pl.Tensor[[DIM, DIM], pl.FP16], wk: pl.Tensor[[DIM, DIM], pl.FP16], wv: pl.Tensor[[DIM, DIM], pl.FP16],
              wo: pl.Tensor[[DIM, DIM], pl.FP16], cos: pl.Tensor[[ROWS, HALF], pl.FP32],
              sin: pl.Tensor[[ROWS, HALF], pl.FP32], w2: pl.Tensor[[1, DIM], pl.FP32],
              wg: pl.Tensor[[DIM, DIM], pl.FP16], wu: pl.Tensor[[DIM, DIM], pl.FP16], wd: pl.Tensor[[DIM, DIM], pl.FP16]
              ) -> pl.Tensor[[ROWS, DIM], pl.FP32]:
        n1 = pl.create_tensor([ROWS, DIM], dtype=pl.FP16)
        n1 = self.norm(x, w1, n1)
        q32 = pl.create_tensor([ROWS, DIM], dtype=pl.FP32)
        q32 = self.product(n1, wq, q32)
        k32 = pl.create_tensor([ROWS, DIM], dtype=pl.FP32)
        k32 = self.product(n1, wk, k32)
        v32 = pl.create_tensor([ROWS, DIM], dtype=pl.FP32)
        v32 = self.product(n1, wv, v32)
        q = pl.create_tensor([ROWS, DIM], dtype=pl.FP16)
        q = self.rotate(q32, cos, sin, q)
        k = pl.create_tensor([ROWS, DIM], dtype=pl.FP16)
        k = self.rotate(k32, cos, sin, k)
        v = pl.create_tensor([ROWS, DIM], dtype=pl.FP16)
        v = self.halve(v32, v)
        s = pl.create_tensor([ROWS, ROWS], dtype=pl.FP32)
        s = self.scores(q, k, s)
        p = pl.create_tensor([ROWS, ROWS], dtype=pl.FP16)
        p = self.softmax(s, p)
        o32 = pl.create_tensor([ROWS, DIM], dtype=pl.FP32)
        o32 = self.weighted(p, v, o32)
        o = pl.create_tensor([ROWS, DIM], dtype=pl.FP16)
        o = self.halve(o32, o)
        a = pl.create_tensor([ROWS, DIM], dtype=pl.FP32)
        a = self.product(o, wo, a)
        r = pl.create_tensor([ROWS, DIM], dtype=pl.FP32)
        r = self.add(x, a, r)
        n2 = pl.create_tensor([ROWS, DIM], dtype=pl.FP16)
        n2 = self.norm(r, w2, n2)
        g = pl.create_tensor([ROWS, DIM], dtype=pl.FP32)
        g = self.product(n2, wg, g)
        u = pl.create_tensor([ROWS, DIM], dtype=pl.FP32)
        u = self.product(n2, wu, u)
        h = pl.create_tensor([ROWS, DIM], dtype=pl.FP16)
        h = self.gate(g, u, h)
        d = pl.create_tensor([ROWS, DIM], dtype=pl.FP32)
        d = self.product(h, wd, d)
        y = pl.create_tensor([ROWS, DIM], dtype=pl.FP32)
        y = self.add(r, d, y)
        return y


def _norm(x, w):
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + EPS) * w


def _rotate(x, cos, sin):
    a, b = x[:, :HALF], x[:, HALF:]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=1)


def case(random):
    x = random.uniform(-1, 1, (ROWS, DIM)).astype("float32")
    w1, w2 = (random.uniform(0.5, 1.5, (1, DIM)).astype("float32") for _ in range(2))
    wq, wk, wv, wo, wg, wu, wd = (random.uniform(-0.2, 0.2, (DIM, DIM)).astype("float16") for _ in range(7))
    angle = np.arange(ROWS)[:, None] * 10000.0 ** (-np.arange(HALF) / HALF)
    cos, sin = np.cos(angle).astype("float32"), np.sin(angle).astype("float32")
    q, k, v, o, g, u, d = (w.astype("float64") for w in (wq, wk, wv, wo, wg, wu, wd))
    n = _norm(x.astype("float64"), w1)
    s = _rotate(n @ q, cos, sin) @ _rotate(n @ k, cos, sin).T * SCALE
    p = np.exp(s - s.max(axis=1, keepdims=True))
    r = x + p / p.sum(axis=1, keepdims=True) @ (n @ v) @ o
    n = _norm(r, w2)
    return [x, w1, wq, wk, wv, wo, cos, sin, w2, wg, wu, wd], [r + ((n @ g) / (1 + np.exp(-(n @ g))) * (n @ u)) @ d]
