# SPDX-License-Identifier: MIT
"""Products of eight-bit floats with a scale for each 32 elements of K: K in steps, with and without a bias. Only a5 has them."""
import numpy as np

import pypto.language as pl

M, K, N, BM, BK, BN = 64, 384, 64, 32, 128, 64
G, BG = K // 32, BK // 32
TOLERANCE = 0
PLATFORMS = ("a5sim",)


@pl.program
class MxMatmul:
    @pl.function(type=pl.FunctionType.InCore)
    def block(self, a: pl.Tensor[[M, K], pl.FP8E4M3FN], sa: pl.Tensor[[M, G], pl.FP8E8M0],
              b: pl.Tensor[[K, N], pl.FP8E5M2], sb: pl.Tensor[[G, N], pl.FP8E8M0], row: pl.Scalar[pl.INDEX],
              c: pl.InOut[pl.Tensor[[M, N], pl.FP32]]) -> pl.Tensor[[M, N], pl.FP32]:
        al = pl.move(pl.load(a, [row, 0], [BM, BK], target_memory=pl.MemorySpace.Mat), target_memory=pl.MemorySpace.Left)
        ls = pl.move(pl.load(sa, [row, 0], [BM, BG], target_memory=pl.MemorySpace.Mat),
                     target_memory=pl.MemorySpace.LeftScale)
        br = pl.move(pl.load(b, [0, 0], [BK, BN], target_memory=pl.MemorySpace.Mat), target_memory=pl.MemorySpace.Right)
        rs = pl.move(pl.load(sb, [0, 0], [BG, BN], target_memory=pl.MemorySpace.Mat),
                     target_memory=pl.MemorySpace.RightScale)
        acc = pl.matmul_mx(al, ls, br, rs)
        for g in pl.range(BG, G, BG):
            am = pl.load(a, [row, g * 32], [BM, BK], target_memory=pl.MemorySpace.Mat)
            sam = pl.load(sa, [row, g], [BM, BG], target_memory=pl.MemorySpace.Mat)
            bm = pl.load(b, [g * 32, 0], [BK, BN], target_memory=pl.MemorySpace.Mat)
            sbm = pl.load(sb, [g, 0], [BG, BN], target_memory=pl.MemorySpace.Mat)
            al2 = pl.move(am, target_memory=pl.MemorySpace.Left)
            ls2 = pl.move(sam, target_memory=pl.MemorySpace.LeftScale)
            br2 = pl.move(bm, target_memory=pl.MemorySpace.Right)
            rs2 = pl.move(sbm, target_memory=pl.MemorySpace.RightScale)
            acc = pl.matmul_mx_acc(acc, al2, ls2, br2, rs2)
        c = pl.store(acc, [row, 0], [BM, BN], c)
        return c

    @pl.function(type=pl.FunctionType.InCore)
    def with_bias(self, a: pl.Tensor[[M, K], pl.FP8E4M3FN], sa: pl.Tensor[[M, G], pl.FP8E8M0],
                  w: pl.Tensor[[BK, BN], pl.FP8E4M3FN], sw: pl.Tensor[[BG, BN], pl.FP8E8M0],
                  bias: pl.Tensor[[1, BN], pl.FP32], d: pl.InOut[pl.Tensor[[M, BN], pl.FP32]]) -> pl.Tensor[[M, BN], pl.FP32]:
        am = pl.load(a, [0, 0], [M, BK], target_memory=pl.MemorySpace.Mat)
        sam = pl.load(sa, [0, 0], [M, BG], target_memory=pl.MemorySpace.Mat)
        wm = pl.load(w, [0, 0], [BK, BN], target_memory=pl.MemorySpace.Mat)
        swm = pl.load(sw, [0, 0], [BG, BN], target_memory=pl.MemorySpace.Mat)
        row = pl.load(bias, [0, 0], [1, BN], target_memory=pl.MemorySpace.Mat)
        al = pl.move(am, target_memory=pl.MemorySpace.Left)
        ls = pl.move(sam, target_memory=pl.MemorySpace.LeftScale)
        wr = pl.move(wm, target_memory=pl.MemorySpace.Right)
        rs = pl.move(swm, target_memory=pl.MemorySpace.RightScale)
        d = pl.store(pl.matmul_mx_bias(al, ls, wr, rs, row), [0, 0], [M, BN], d)
        return d

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[M, K], pl.FP8E4M3FN], sa: pl.Tensor[[M, G], pl.FP8E8M0],
             b: pl.Tensor[[K, N], pl.FP8E5M2], sb: pl.Tensor[[G, N], pl.FP8E8M0], w: pl.Tensor[[BK, BN], pl.FP8E4M3FN],
             sw: pl.Tensor[[BG, BN], pl.FP8E8M0],
             bias: pl.Tensor[[1, BN], pl.FP32]) -> tuple[pl.Tensor[[M, N], pl.FP32], pl.Tensor[[M, BN], pl.FP32]]:
        c = pl.create_tensor([M, N], dtype=pl.FP32)
        d = pl.create_tensor([M, BN], dtype=pl.FP32)
        for i in pl.range(0, M, BM):
            c = self.block(a, sa, b, sb, i, c)
        d = self.with_bias(a, sa, w, sw, bias, d)
        return c, d


def decode(codes, fraction_bits):
    """Normal numbers: sign, exponent, fraction."""
    codes = codes.astype("int64")
    bias = 2 ** (6 - fraction_bits) - 1
    exponent, fraction = (codes & 127) >> fraction_bits, codes & (2 ** fraction_bits - 1)
    return np.where(codes >> 7, -1, 1) * (1 + fraction / 2 ** fraction_bits) * 2.0 ** (exponent - bias)


def numbers(random, shape, fraction_bits):
    """Codes of numbers from 1/4 to below 4, of either sign."""
    one = (2 ** (6 - fraction_bits) - 1) << fraction_bits
    return random.integers(one - (2 << fraction_bits), one + (2 << fraction_bits), shape, "uint8") | \
        random.integers(0, 2, shape, "uint8") << 7


def product(a, sa, b, sb):
    """In double, operands as numbers; a code of a scale is an exponent, 127 more."""
    return (a * np.repeat(2.0 ** (sa - 127.0), 32, 1)) @ (b * np.repeat(2.0 ** (sb - 127.0), 32, 0))


def case(random):
    """Sums of these products are exact in FP32, in whatever order."""
    a, w, b = numbers(random, (M, K), 3), numbers(random, (BK, BN), 3), numbers(random, (K, N), 2)
    sa, sb, sw = (random.integers(126, 129, s, "uint8") for s in ((M, G), (G, N), (BG, BN)))
    bias = random.integers(-800, 800, (1, BN)).astype("float32") / 8
    golden = [product(decode(a, 3), sa, decode(b, 2), sb),
              product(decode(a[:, :BK], 3), sa[:, :BG], decode(w, 3), sw) + bias]
    return [a, sa, b, sb, w, sw, bias], golden
