# SPDX-License-Identifier: MIT
"""A matrix product by blocks, through Mat, Left, Right and Acc; the sum over K stays in the accumulator."""
import pypto.language as pl

M, K, N, BM, BK, BN = 128, 128, 64, 64, 32, 64
TOLERANCE = 1e-4


@pl.program
class Matmul:
    @pl.function(type=pl.FunctionType.InCore)
    def block(self, a: pl.Tensor[[M, K], pl.FP16], b: pl.Tensor[[K, N], pl.FP16], row: pl.Scalar[pl.INDEX],
              c: pl.InOut[pl.Tensor[[M, N], pl.FP32]]) -> pl.Tensor[[M, N], pl.FP32]:
        am = pl.load(a, [row, 0], [BM, BK], target_memory=pl.MemorySpace.Mat)
        bm = pl.load(b, [0, 0], [BK, BN], target_memory=pl.MemorySpace.Mat)
        al = pl.move(am, target_memory=pl.MemorySpace.Left)
        br = pl.move(bm, target_memory=pl.MemorySpace.Right)
        acc = pl.matmul(al, br)
        for k in pl.range(BK, K, BK):
            am2 = pl.load(a, [row, k], [BM, BK], target_memory=pl.MemorySpace.Mat)
            bm2 = pl.load(b, [k, 0], [BK, BN], target_memory=pl.MemorySpace.Mat)
            al2 = pl.move(am2, target_memory=pl.MemorySpace.Left)
            br2 = pl.move(bm2, target_memory=pl.MemorySpace.Right)
            acc = pl.matmul_acc(acc, al2, br2)
        c = pl.store(acc, [row, 0], [BM, BN], c)
        return c

    @pl.function(type=pl.FunctionType.Orchestration)
    def matmul(self, a: pl.Tensor[[M, K], pl.FP16], b: pl.Tensor[[K, N], pl.FP16]) -> pl.Tensor[[M, N], pl.FP32]:
        c = pl.create_tensor([M, N], dtype=pl.FP32)
        for i in pl.range(0, M, BM):
            c = self.block(a, b, i, c)
        return c


def case(random):
    a, b = (random.uniform(-1, 1, s).astype("float16") for s in ((M, K), (K, N)))
    return [a, b], [a.astype("float64") @ b.astype("float64")]
