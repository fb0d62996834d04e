# SPDX-License-Identifier: MIT
"""Programs of the forms that the generators' texts are compared for, to the letter (goldens/)."""
T = "pl.Tensor[[32, 32], pl.FP32]"
STEP = f'''
    @pl.function(type=pl.FunctionType.InCore)
    def step(self, a: {T}, o: pl.InOut[{T}]) -> {T}:
        o = pl.store(pl.add(pl.load(a, [0, 0], [32, 32]), pl.load(o, [0, 0], [32, 32])), [0, 0], [32, 32], o)
        return o
'''
A5 = {"scales"}     # of these the texts for a5
FORMS = {
    # accumulates over a counted loop; calls in a counted loop
    "loop": f'''
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: {T}, n: pl.Scalar[pl.INT64], o: pl.InOut[{T}]) -> {T}:
        s = pl.full([8, 32], dtype=pl.FP32, value=0.0)
        for i in pl.range(0, n, 8):
            s = pl.add(s, pl.load(a, [i, 0], [8, 32]))
        o = pl.store(s, [0, 0], [8, 32], o)
        return o
{STEP}
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: {T}, n: pl.INT64, y: pl.InOut[{T}]) -> {T}:
        for i in pl.range(n):
            y = self.k(x, i * 8, y)
            for j in pl.range(2, 8, 3):
                y = self.step(x, y)
        return y
''',
    # products with scales, operands of two formats, one stored the other way round; a tensor of eight-bit floats in between
    "scales": '''
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[32, 128], pl.FP8E4M3FN], sa: pl.Tensor[[32, 4], pl.FP8E8M0], b: pl.Tensor[[64, 128], pl.FP8E5M2],
          sb: pl.Tensor[[64, 4], pl.FP8E8M0], o: pl.Out[pl.Tensor[[32, 64], pl.FP32]]) -> pl.Tensor[[32, 64], pl.FP32]:
        am = pl.load(a, [0, 0], [32, 128], target_memory=pl.MemorySpace.Mat)
        sam = pl.load(sa, [0, 0], [32, 4], target_memory=pl.MemorySpace.Mat)
        bm = pl.load(b, [0, 0], [64, 128], target_memory=pl.MemorySpace.Mat)
        sbm = pl.load(sb, [0, 0], [64, 4], target_memory=pl.MemorySpace.Mat)
        l = pl.move(am, target_memory=pl.MemorySpace.Left)
        ls = pl.move(sam, target_memory=pl.MemorySpace.LeftScale)
        r = pl.move(bm, target_memory=pl.MemorySpace.Right, transpose=True)
        rs = pl.move(sbm, target_memory=pl.MemorySpace.RightScale, transpose=True)
        acc = pl.matmul_mx_acc(pl.matmul_mx(l, ls, r, rs), l, ls, r, rs)
        o = pl.store(acc, [0, 0], [32, 64], o)
        return o

    @pl.function(type=pl.FunctionType.InCore)
    def narrow(self, x: pl.Tensor[[64, 128], pl.FP32], q: pl.Out[pl.Tensor[[64, 128], pl.FP8E5M2]]) -> pl.Tensor[[64, 128], pl.FP8E5M2]:
        q = pl.store(pl.cast(pl.load(x, [0, 0], [64, 128]), pl.FP8E5M2), [0, 0], [64, 128], q)
        return q

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[32, 128], pl.FP8E4M3FN], sa: pl.Tensor[[32, 4], pl.FP8E8M0], x: pl.Tensor[[64, 128], pl.FP32],
             sb: pl.Tensor[[64, 4], pl.FP8E8M0]) -> pl.Tensor[[32, 64], pl.FP32]:
        b = pl.create_tensor([64, 128], dtype=pl.FP8E5M2)
        y = pl.create_tensor([32, 64], dtype=pl.FP32)
        b = self.narrow(x, b)
        y = self.k(a, sa, b, sb, y)
        return y
''',
    # a value merged of two branches; calls in branches, one without else
    "branch": f'''
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: {T}, n: pl.Scalar[pl.INT64], o: pl.Out[{T}]) -> {T}:
        t = pl.load(a, [0, 0], [32, 32])
        if n > 3:
            t = pl.exp(t)
        else:
            t = pl.mul(t, 2.0)
        o = pl.store(t, [0, 0], [32, 32], o)
        return o
{STEP}
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: {T}, n: pl.INT64) -> {T}:
        y = pl.create_tensor([32, 32], dtype=pl.FP32)
        if n % 2 == 0:
            y = self.k(x, n, y)
        else:
            y = self.k(x, 1, y)
        if n > 8:
            y = self.step(x, y)
        return y
''',
    # a loop as long as a number is positive, around tiles and around calls
    "while": f'''
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: {T}, n: pl.Scalar[pl.INT64], o: pl.Out[{T}]) -> {T}:
        t = pl.load(a, [0, 0], [32, 32])
        while n > 0:
            t = pl.add(t, t)
            n = n - 2
        o = pl.store(t, [0, 0], [32, 32], o)
        return o
{STEP}
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: {T}, n: pl.INT64) -> {T}:
        y = pl.create_tensor([32, 32], dtype=pl.FP32)
        y = self.k(x, n, y)
        while n > 1:
            y = self.step(x, y)
            n = n // 2
        return y
''',
    # two results of a kernel, tuples of tiles in it, two results of the orchestration
    "tuple": f'''
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: {T}, o: pl.Out[{T}], p: pl.Out[{T}]) -> tuple[{T}, {T}]:
        t = pl.load(a, [0, 0], [32, 32])
        q = [pl.exp(t), pl.neg(t)]
        o = pl.store(q[0], [0, 0], [32, 32], o)
        p = pl.store(q[1], [0, 0], [32, 32], p)
        return o, p
{STEP}
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: {T}) -> tuple[{T}, {T}]:
        u = pl.create_tensor([32, 32], dtype=pl.FP32)
        v = pl.create_tensor([32, 32], dtype=pl.FP32)
        u, v = self.k(x, u, v)
        v = self.step(u, v)
        return v, u
''',
    # a cube kernel that sends its products to a vector kernel
    "pipe": f'''
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, cid: pl.Cluster, a: pl.Tensor[[32, 32], pl.FP16], o: pl.PIPE_OUT[pl.Tile[[32, 32], pl.FP32]]):
        m = pl.load(a, [0, 0], [32, 32], target_memory=pl.MemorySpace.Mat)
        l = pl.move(m, target_memory=pl.MemorySpace.Left)
        r = pl.move(m, target_memory=pl.MemorySpace.Right)
        for i in pl.range(3):
            pl.tpush(pl.matmul(l, r), o)

    @pl.function(type=pl.FunctionType.InCore)
    def act(self, cid: pl.Cluster, i: pl.PIPE_IN[pl.Tile[[32, 32], pl.FP32]], y: pl.Out[{T}]) -> {T}:
        for j in pl.range(3):
            y = pl.store(pl.relu(pl.tpop(i)), [0, 0], [32, 32], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[32, 32], pl.FP16]) -> {T}:
        y = pl.create_tensor([32, 32], dtype=pl.FP32)
        cid = pl.allocate_cluster()
        p = pl.create_pipe([32, 32], dtype=pl.FP32)
        p = self.k(cid, a, p)
        y = self.act(cid, p, y)
        return y
''',
    # blocks that share the rows
    "block_incore": f'''
    @pl.function(type=pl.FunctionType.BlockInCore)
    def k(self, x: {T}, y: pl.Out[{T}], blockdim: pl.Scalar[pl.INT32], block_id: pl.Scalar[pl.INT32]) -> {T}:
        t = pl.load(x, [block_id * 4, 0], [4, 32])
        y = pl.store(pl.mul(t, 3.0), [block_id * 4, 0], [4, 32], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: {T}) -> {T}:
        y = pl.create_tensor([32, 32], dtype=pl.FP32)
        y = self.k(x, y, blockdim=8)
        return y
''',
}


def form(name):
    """The source of a program of one form."""
    return f"import pypto.language as pl\n\n\n@pl.program\nclass Form:{FORMS[name]}"
