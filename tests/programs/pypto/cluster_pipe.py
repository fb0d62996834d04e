# SPDX-License-Identifier: MIT
"""A cluster: a cube core multiplies and pushes tiles, a vector core pops them and applies the activation."""
import numpy as np

import pypto.language as pl

ROWS, DIM, BLOCK = 96, 32, 16
TOLERANCE = 1e-4


@pl.program
class ClusterPipe:
    @pl.function(type=pl.FunctionType.InCore)
    def mm(self, cid: pl.Cluster, a: pl.Tensor[[ROWS, DIM], pl.FP16], b: pl.Tensor[[DIM, DIM], pl.FP16],
           o: pl.PIPE_OUT[pl.Tile[[BLOCK, DIM], pl.FP32]]):
        bm = pl.load(b, [0, 0], [DIM, DIM], target_memory=pl.MemorySpace.Mat)
        br = pl.move(bm, target_memory=pl.MemorySpace.Right)
        for i in pl.range(0, ROWS, BLOCK):
            am = pl.load(a, [i, 0], [BLOCK, DIM], target_memory=pl.MemorySpace.Mat)
            al = pl.move(am, target_memory=pl.MemorySpace.Left)
            acc = pl.matmul(al, br)
            pl.tpush(acc, o)

    @pl.function(type=pl.FunctionType.InCore)
    def act(self, cid: pl.Cluster, i: pl.PIPE_IN[pl.Tile[[BLOCK, DIM], pl.FP32]],
            y: pl.Out[pl.Tensor[[ROWS, DIM], pl.FP32]]) -> pl.Tensor[[ROWS, DIM], pl.FP32]:
        for r in pl.range(0, ROWS, BLOCK):
            t = pl.tpop(i)
            y = pl.store(pl.relu(t), [r, 0], [BLOCK, DIM], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[ROWS, DIM], pl.FP16], b: pl.Tensor[[DIM, DIM], pl.FP16],
             y: pl.Out[pl.Tensor[[ROWS, DIM], pl.FP32]]) -> pl.Tensor[[ROWS, DIM], pl.FP32]:
        cid = pl.allocate_cluster()
        p = pl.create_pipe([BLOCK, DIM], dtype=pl.FP32)
        p = self.mm(cid, a, b, p)
        y = self.act(cid, p, y)
        return y


def case(random):
    a, b = (random.uniform(-1, 1, s).astype("float16") for s in ((ROWS, DIM), (DIM, DIM)))
    return [a, b, np.zeros((ROWS, DIM), "float32")], [np.maximum(a.astype("float64") @ b, 0)]
