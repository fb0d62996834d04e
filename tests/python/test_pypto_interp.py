# SPDX-License-Identifier: MIT
"""The interpreter of IR against numpy: operators, control flow, functions, pipes, and what it refuses."""
import struct

import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import ir, passes  # noqa: E402

ROUNDING = {"FP32": 1e-6, "FP16": 2e-3}


def tile_function(body, inputs, out="FP32", shape="[16, 32]", out_shape=None):
    """An InCore function that loads each input, runs the lines and stores r."""
    out_shape = out_shape or shape
    params = "".join(f"{n}: pl.Tensor[{shape}, pl.{t}], " for n, t in inputs.items())
    loads = [f"{n}t = pl.load({n}, [0, 0], {shape})" for n in inputs]
    lines = loads + body + [f"o = pl.store(r, [0, 0], {out_shape}, o)", "return o"]
    return pl.parse("@pl.function(type=pl.FunctionType.InCore)\n"
                    f"def k({params}o: pl.Out[pl.Tensor[{out_shape}, pl.{out}]]):\n" +
                    "".join(f"    {line}\n" for line in lines))


def values(dtype, shape=(16, 32), seed=1, low=-4, high=4):
    random = np.random.default_rng(seed)
    if dtype.startswith("FP"):
        return random.uniform(low, high, shape).astype({"FP32": "float32", "FP16": "float16"}[dtype])
    return random.integers(0 if dtype[0] == "U" else -100, 100, shape).astype(dtype.lower())


BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "maximum": np.maximum,
          "minimum": np.minimum}


@pytest.mark.parametrize("op, dtype", [(op, dtype) for op in BINARY for dtype in ("FP32", "FP16", "INT32", "INT16", "UINT8")
                                       if op != "div" or dtype.startswith("FP")])
def test_binary_operators_agree_with_numpy(op, dtype):
    a, b = values(dtype), values(dtype, seed=2)
    out = np.zeros((16, 32), a.dtype)
    assert ir.interpret(tile_function([f"r = pl.{op}(at, bt)"], {"a": dtype, "b": dtype}, dtype), a, b, out) is out
    np.testing.assert_array_equal(out, BINARY[op](a, b))


def test_division_of_integers_goes_towards_zero():
    a = np.resize(np.array([7, -7, 7, -7, -2**31], "int32"), (16, 32))
    b = np.resize(np.array([2, 2, -2, -2, -1], "int32"), (16, 32))
    out = np.zeros((16, 32), "int32")
    ir.interpret(tile_function(["r = pl.div(at, bt)"], {"a": "INT32", "b": "INT32"}, "INT32"), a, b, out)
    assert out.ravel()[:5].tolist() == [3, -3, -3, 3, -2**31]


def test_remainder_has_the_sign_of_the_divisor():
    a, b = values("FP32"), values("FP32", seed=2)
    out = np.zeros((16, 32), "float32")
    ir.interpret(tile_function(["r = pl.rem(at, bt)"], {"a": "FP32", "b": "FP32"}), a, b, out)
    np.testing.assert_allclose(out, np.mod(a.astype("float64"), b), rtol=1e-5, atol=1e-6)


UNARY = {"neg": np.negative, "exp": np.exp, "recip": lambda x: 1 / x, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x),
         "log": np.log, "abs": np.abs, "relu": lambda x: np.maximum(x, 0)}


@pytest.mark.parametrize("dtype", ["FP32", "FP16"])
@pytest.mark.parametrize("op", UNARY)
def test_unary_operators_agree_with_numpy(op, dtype):
    a = values(dtype, low=0.25 if op in ("sqrt", "rsqrt", "log", "recip") else -4)
    out = np.zeros((16, 32), a.dtype)
    ir.interpret(tile_function([f"r = pl.{op}(at)"], {"a": dtype}, dtype), a, out)
    np.testing.assert_allclose(out, UNARY[op](a.astype("float64")), rtol=ROUNDING[dtype])


BITS = {"and_": np.bitwise_and, "or_": np.bitwise_or, "xor": np.bitwise_xor}


@pytest.mark.parametrize("op", BITS)
def test_bit_operators_agree_with_numpy(op):
    a, b = values("INT32"), values("INT32", seed=2)
    out = np.zeros((16, 32), "int32")
    ir.interpret(tile_function([f"r = pl.{op}(at, bt)"], {"a": "INT32", "b": "INT32"}, "INT32"), a, b, out)
    np.testing.assert_array_equal(out, BITS[op](a, b))


@pytest.mark.parametrize("lines, golden", [
    (["r = pl.shls(at, 3)"], lambda a: a << 3),
    (["r = pl.shrs(at, 2)"], lambda a: a >> 2),
    (["r = pl.adds(at, 7)"], lambda a: a + 7),
    (["r = pl.maxs(at, 5)"], lambda a: np.maximum(a, 5)),
    (["r = pl.rems(at, 7)"], lambda a: np.mod(a, 7)),
])
def test_operators_with_scalars_agree_with_numpy(lines, golden):
    a = values("INT32")
    out = np.zeros((16, 32), "int32")
    ir.interpret(tile_function(lines, {"a": "INT32"}, "INT32"), a, out)
    np.testing.assert_array_equal(out, golden(a))


def test_integers_wrap_at_their_width():
    a = np.full((16, 32), 120, "int8")
    out = np.zeros((16, 32), "int8")
    ir.interpret(tile_function(["r = pl.adds(at, 10)"], {"a": "INT8"}, "INT8"), a, out)
    assert (out == 130 - 256).all()


@pytest.mark.parametrize("mode, golden", [
    ("round", [-3, -2, 3, 4, 2]), ("rint", [-2, -2, 2, 4, 2]), ("floor", [-3, -2, 2, 3, 1]),
    ("ceil", [-2, -1, 3, 4, 2]), ("trunc", [-2, -1, 2, 3, 1]), ("odd", [-3, -2, 3, 3, 2]),
])
def test_cast_to_integers_rounds_as_told(mode, golden):
    a = np.resize(np.array([-2.5, -1.75, 2.5, 3.5, 1.75], "float32"), (16, 32))
    out = np.zeros((16, 32), "int32")
    ir.interpret(tile_function([f"r = pl.cast(at, pl.INT32, mode='{mode}')"], {"a": "FP32"}, "INT32"), a, out)
    assert out.ravel()[:5].tolist() == golden


def test_cast_to_narrower_floats_takes_the_nearest_even():
    a = np.concatenate([values("FP32", (15, 32), low=-1e5, high=1e5),
                        np.resize(np.array([1 + 2**-11, 1 + 3 * 2**-11, 1e-7, 65519, 65520, -0.0], "float32"), (1, 32))])
    out = np.zeros((16, 32), "float16")
    ir.interpret(tile_function(["r = pl.cast(at, pl.FP16)"], {"a": "FP32"}, "FP16"), a, out)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(out.view("uint16"), a.astype("float16").view("uint16"))


def test_bf16_is_the_upper_half_of_fp32_rounded():
    a = values("FP32")
    out = np.zeros((16, 32), "uint16")
    ir.interpret(tile_function(["r = pl.cast(at, pl.BF16)"], {"a": "FP32"}, "BF16"), a, out)
    bits = a.view("uint32")
    np.testing.assert_array_equal(out, ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype("uint16"))


def test_comparison_and_selection():
    a, b = values("FP32"), values("FP32", seed=2)
    out = np.zeros((16, 32), "float32")
    ir.interpret(tile_function(["m = pl.cmp(at, bt, cmp_type=4)", "r = pl.sel(m, at, bt)"], {"a": "FP32", "b": "FP32"}),
                 a, b, out)
    np.testing.assert_array_equal(out, np.where(a > b, a, b))


@pytest.mark.parametrize("op, golden", [("row_sum", np.sum), ("row_max", np.max), ("row_min", np.min)])
def test_row_reductions_and_expansion(op, golden):
    a = values("FP32")
    out = np.zeros((16, 32), "float32")
    ir.interpret(tile_function([f"s = pl.{op}(at)", "r = pl.row_expand_sub(at, s)"], {"a": "FP32"}), a, out)
    np.testing.assert_allclose(out, a - golden(a.astype("float64"), axis=1, keepdims=True).astype("float32"), rtol=1e-5,
                               atol=1e-5)


@pytest.mark.parametrize("op, golden", [("col_sum", np.sum), ("col_max", np.max), ("col_min", np.min)])
def test_column_reductions_and_expansion(op, golden):
    a = values("FP32")
    out = np.zeros((16, 32), "float32")
    ir.interpret(tile_function([f"s = pl.{op}(at)", "r = pl.col_expand_mul(at, s)"], {"a": "FP32"}), a, out)
    np.testing.assert_allclose(out, a * golden(a.astype("float64"), axis=0, keepdims=True), rtol=1e-5, atol=1e-5)


def test_reductions_see_the_valid_region_only():
    f = pl.parse("""
@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[16, 32], pl.FP32], n: pl.Scalar[pl.INT64], o: pl.Out[pl.Tensor[[16, 1], pl.FP32]]):
    t = pl.load(a, [0, 0], [16, 32], valid_shapes=[16, n])
    s = pl.row_sum(t)
    o = pl.store(s, [0, 0], [16, 1], o)
    return o
""")
    a, out = np.ones((16, 32), "float32"), np.zeros((16, 1), "float32")
    ir.interpret(f, a, 20, out)
    assert (out == 20).all()


def test_fillpad_makes_the_tile_whole():
    a, out = np.ones((16, 32), "float32"), np.zeros((16, 32), "float32")
    f = pl.parse("""
@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[16, 32], pl.FP32], o: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
    t = pl.load(a, [0, 0], [16, 32], valid_shapes=[10, 20])
    u = pl.fillpad(t)
    o = pl.store(u, [0, 0], [16, 32], o)
    return o
""")
    out[:] = 7
    ir.interpret(f, a, out)
    assert out[:10, :20].all() and not out[10:].any() and not out[:, 20:].any()


def test_store_writes_the_valid_region_only():
    f = pl.parse("""
@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[16, 32], pl.FP32], o: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
    t = pl.load(a, [0, 0], [16, 32], valid_shapes=[10, 20])
    o = pl.store(t, [0, 0], [16, 32], o)
    return o
""")
    a, out = np.ones((16, 32), "float32"), np.full((16, 32), 7, "float32")
    ir.interpret(f, a, out)
    assert (out[:10, :20] == 1).all() and (out[10:] == 7).all() and (out[:, 20:] == 7).all()


MATMUL = """
@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[32, 64], pl.{t}], b: pl.Tensor[[64, 48], pl.{t}], o: pl.Out[pl.Tensor[[32, 48], pl.{o}]]):
    am = pl.load(a, [0, 0], [32, 64], target_memory=pl.MemorySpace.Mat)
    bm = pl.load(b, [0, 0], [64, 48], target_memory=pl.MemorySpace.Mat)
    c = pl.matmul(pl.move(am, target_memory=pl.MemorySpace.Left), pl.move(bm, target_memory=pl.MemorySpace.Right))
    d = pl.matmul_acc(c, pl.move(am, target_memory=pl.MemorySpace.Left), pl.move(bm, target_memory=pl.MemorySpace.Right))
    o = pl.store(d, [0, 0], [32, 48], o)
    return o
"""


@pytest.mark.parametrize("dtype, out", [("FP32", "FP32"), ("FP16", "FP32"), ("INT8", "INT32")])
def test_matmul_accumulates(dtype, out):
    a, b = values(dtype, (32, 64)), values(dtype, (64, 48), seed=2)
    result = np.zeros((32, 48), {"FP32": "float32", "INT32": "int32"}[out])
    ir.interpret(pl.parse(MATMUL.format(t=dtype, o=out)), a, b, result)
    wide = "float64" if out == "FP32" else "int64"
    np.testing.assert_allclose(result, 2 * (a.astype(wide) @ b.astype(wide)), rtol=1e-6, atol=1e-5)


def test_transpose_reshape_and_slice_of_tiles():
    f = pl.parse("""
@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[16, 32], pl.FP32], o: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    t = pl.transpose(pl.load(a, [0, 0], [16, 32]), 0, 1)
    u = pl.reshape(t, [16, 32])
    v = pl.slice(u, [16, 16], [0, 8])
    o = pl.store(v, [0, 0], [16, 16], o)
    return o
""")
    a, out = values("FP32"), np.zeros((16, 16), "float32")
    ir.interpret(f, a, out)
    np.testing.assert_array_equal(out, a.T.reshape(16, 32)[:, 8:24])


def test_gather_scatter_and_single_elements():
    f = pl.parse("""
@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[8, 8], pl.FP32], i: pl.Tensor[[8, 8], pl.INT32], o: pl.Out[pl.Tensor[[8, 8], pl.FP32]],
      q: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
    t = pl.load(a, [0, 0], [8, 8])
    x = pl.load(i, [0, 0], [8, 8])
    g = pl.gather(t, x)
    pl.setval(g, 3, pl.getval(t, 9))
    o = pl.store(g, [0, 0], [8, 8], o)
    s = pl.scatter(t, t, x)
    q = pl.store(s, [0, 0], [8, 8], q)
    return o, q
""")
    a = values("FP32", (8, 8))
    i = np.random.default_rng(3).permutation(64).reshape(8, 8).astype("int32")
    out, back = np.zeros((8, 8), "float32"), np.zeros((8, 8), "float32")
    results = ir.interpret(f, a, i, out, back)
    assert results[0] is out and results[1] is back
    golden = a.ravel()[i]
    golden[0, 3] = a[1, 1]
    np.testing.assert_array_equal(out, golden)
    golden = np.zeros(64, "float32")
    golden[i.ravel()] = a.ravel()
    np.testing.assert_array_equal(back.ravel(), golden)


def test_case_sort32_orders_records_and_mrgsort_merges_them():
    f = pl.parse("""
@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[1, 128], pl.FP32], i: pl.Tensor[[1, 128], pl.UINT32], o: pl.Out[pl.Tensor[[1, 256], pl.FP32]]):
    s = pl.sort32(pl.load(a, [0, 0], [1, 128]), pl.load(i, [0, 0], [1, 128]))
    m = pl.mrgsort(s, block_len=64)
    o = pl.store(m, [0, 0], [1, 256], o)
    return o
""")
    a = values("FP32", (1, 128))
    out = np.zeros((1, 256), "float32")
    ir.interpret(f, a, np.arange(128, dtype="uint32").reshape(1, 128), out)
    order = np.argsort(-a[0], kind="stable")
    np.testing.assert_array_equal(out[0, 0::2], a[0][order])
    np.testing.assert_array_equal(out[0, 1::2].view("uint32"), order)


def test_scalar_division_and_remainder_are_floored():
    f = pl.parse("@pl.function\ndef f(a: pl.INT64, b: pl.INT64):\n    return a // b, a % b\n")
    for a, b in ((7, 2), (-7, 2), (7, -2), (-7, -2)):
        assert ir.interpret(f, a, b) == (a // b, a % b)


def test_scalars_are_rounded_to_their_type():
    f = pl.parse("@pl.function\ndef f(a: pl.FP16, b: pl.FP32):\n    return a * a, b / 3.0, pl.cast(b, pl.INT8)\n")
    square, third, whole = ir.interpret(f, 1.1, 200.0)
    assert square == float(np.float16(np.float16(1.1)) * np.float16(1.1))
    assert third == float(np.float32(200) / np.float32(3))
    assert whole == -56


def test_loops_carry_values_and_count_down():
    f = pl.parse("""
@pl.function
def f(n: pl.INT64):
    a = n - n
    b = a + 1
    for i, (x, y) in pl.range(0, n, 1, init_values=(a, b)):
        x, y = pl.yield_(y, x + y)
    s = a
    for i in pl.range(n, 0, -2):
        s = s + i
    while s > 100:
        s = s - 7
    return x, s
""")
    first, last = ir.interpret(f, 20)
    assert first == 6765
    total = sum(range(20, 0, -2))
    assert last == total if total <= 100 else total - 7 * -(-(total - 100) // 7)


def test_swap_in_a_loop_is_parallel_before_and_after_ssa():
    f = pl.parse("""
@pl.function
def f(n: pl.INT64, p: pl.INT64, q: pl.INT64):
    for i, (x, y) in pl.range(n, init_values=(p, q)):
        x, y = pl.yield_(y, x)
    return x, y
""")
    assert ir.interpret(f, 3, 1, 2) == (2, 1)
    assert ir.interpret(passes.convert_to_ssa()(f), 3, 1, 2) == (2, 1)


CHAIN = """
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[M, 32], pl.FP32], s: pl.Scalar[pl.FP32], o: pl.Out[pl.Tensor[[M, 32], pl.FP32]]):
        for i in pl.range(0, pl.dim(a, 0), 16):
            t = pl.load(a, [i, 0], [16, 32])
            o = pl.store(pl.mul(t, s), [i, 0], [16, 32], o)
        return o

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[M, 32], pl.FP32], f: pl.Tensor[[2], pl.FP32]) -> pl.Tensor[[M, 32], pl.FP32]:
        t = pl.create_tensor([pl.dim(a, 0), 32], dtype=pl.FP32)
        t = self.k(a, pl.tensor.read(f, [0]), t)
        r = pl.create_tensor([pl.dim(a, 0), 32], dtype=pl.FP32)
        r = self.k(t, pl.tensor.read(f, [1]), r)
        return r
"""


def dynamic_chain():
    return pl.parse('M = pl.dynamic("M")\n' + CHAIN)


def test_programs_call_kernels_with_dynamic_extents():
    for rows in (16, 64):
        a = values("FP32", (rows, 32))
        r = ir.interpret(dynamic_chain(), a, np.array([2, 0.5], "float32"))
        assert r.shape == (rows, 32)
        np.testing.assert_array_equal(r, a)


def test_reads_outside_of_a_tensor_are_errors_with_a_place():
    with pytest.raises(pl.CompileError, match="Reaches outside: offset 16, extent 16, but dimension 0 has 24") as info:
        ir.interpret(dynamic_chain(), values("FP32", (24, 32)), np.array([2, 0.5], "float32"))
    assert info.value.span.line == 8


PIPES = """
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def mm(self, cid: pl.Cluster, a: pl.Tensor[[160, 16], pl.FP32], b: pl.Tensor[[16, 16], pl.FP32],
           o: pl.PIPE_OUT[pl.Tile[[16, 16], pl.FP32]]):
        bm = pl.move(pl.load(b, [0, 0], [16, 16], target_memory=pl.MemorySpace.Mat), target_memory=pl.MemorySpace.Right)
        for i in pl.range(10):
            am = pl.load(a, [i * 16, 0], [16, 16], target_memory=pl.MemorySpace.Mat)
            pl.tpush(pl.matmul(pl.move(am, target_memory=pl.MemorySpace.Left), bm), o)

    @pl.function(type=pl.FunctionType.InCore)
    def act(self, cid: pl.Cluster, i: pl.PIPE_IN[pl.Tile[[16, 16], pl.FP32]], y: pl.Out[pl.Tensor[[160, 16], pl.FP32]]
            ) -> pl.Tensor[[160, 16], pl.FP32]:
        for j in pl.range({pops}):
            y = pl.store(pl.relu(pl.tpop(i)), [j * 16, 0], [16, 16], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[160, 16], pl.FP32], b: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[160, 16], pl.FP32]]
             ) -> pl.Tensor[[160, 16], pl.FP32]:
        cid = pl.allocate_cluster()
        p = pl.create_pipe([16, 16], dtype=pl.FP32)
{calls}
        return y
"""
PRODUCE, CONSUME = "        p = self.mm(cid, a, b, p)\n", "        y = self.act(cid, p, y)\n"


@pytest.mark.parametrize("calls", [PRODUCE + CONSUME, CONSUME + PRODUCE], ids=["producer first", "consumer first"])
def test_kernels_joined_by_a_pipe_start_together(calls):
    a, b = values("FP32", (160, 16)), values("FP32", (16, 16), seed=2)
    y = np.zeros((160, 16), "float32")
    text = PIPES.format(pops=10, calls=calls)
    if calls.startswith(CONSUME):
        text = text.replace("        p = self.mm(cid, a, b, p)", "        self.mm(cid, a, b, p)")
    assert ir.interpret(pl.parse(text), a, b, y) is y
    np.testing.assert_allclose(y, np.maximum(a.astype("float64") @ b, 0), rtol=1e-5, atol=1e-5)


BLOCKS = """
@pl.program
class P:
    @pl.function(type=pl.FunctionType.BlockInCore)
    def k(self, x: pl.Tensor[[128, 16], pl.FP32], y: pl.Out[pl.Tensor[[128, 16], pl.FP32]],
          blockdim: pl.Scalar[pl.INT32], block_id: pl.Scalar[pl.INT32]) -> pl.Tensor[[128, 16], pl.FP32]:
        n = 128 // blockdim
        for i in pl.range(0, n, 16):
            t = pl.load(x, [block_id * n + i, 0], [16, 16])
            y = pl.store(pl.adds(t, 1.0), [block_id * n + i, 0], [16, 16], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[128, 16], pl.FP32], y: pl.Out[pl.Tensor[[128, 16], pl.FP32]]
             ) -> pl.Tensor[[128, 16], pl.FP32]:
        y = self.k(x, y, blockdim=4)
        return y
"""


def test_blocks_share_the_work():
    x, y = values("FP32", (128, 16)), np.zeros((128, 16), "float32")
    ir.interpret(pl.parse(BLOCKS), x, y)
    np.testing.assert_array_equal(y, x + 1)


def test_one_block_function_runs_by_itself():
    x, y = values("FP32", (128, 16)), np.zeros((128, 16), "float32")
    ir.interpret(pl.parse(BLOCKS), x, y, function="k", blockdim=2)
    np.testing.assert_array_equal(y, x + 1)


def test_tensor_arithmetic_of_the_requirement():
    f = pl.parse("""
@pl.program
class Before:
    @pl.function
    def main(self, x: pl.Tensor[[64], pl.FP32]) -> pl.Tensor[[64], pl.FP32]:
        y = x + 1
        with pl.incore():
            tile = pl.load(y, [0], [64])
            tile_sq = pl.mul(tile, tile)
            result = pl.store(tile_sq, [0], [64], x)
        z = result + 2
        return z
""")
    x = values("FP32", (64,))
    golden = (x + 1) ** 2 + 2
    np.testing.assert_allclose(ir.interpret(f, x.copy()), golden, rtol=1e-6)


def test_tensor_matmul_with_transposes_and_stacks():
    f = pl.parse("""
@pl.function
def f(a: pl.Tensor[[3, 8, 16], pl.FP32], b: pl.Tensor[[4, 16], pl.FP32], v: pl.Tensor[[16], pl.FP32]):
    return pl.matmul(a, b, b_trans=True), pl.matmul(b, v)
""")
    a, b, v = values("FP32", (3, 8, 16)), values("FP32", (4, 16)), values("FP32", (16,))
    stack, vector = ir.interpret(f, a, b, v)
    np.testing.assert_allclose(stack, a.astype("float64") @ b.T, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(vector, b.astype("float64") @ v, rtol=1e-5, atol=1e-5)


def test_buffers_of_bytes_will_do_without_numpy():
    f = pl.parse("@pl.function(type=pl.FunctionType.InCore)\n"
                 "def k(a: pl.Tensor[[2, 8], pl.FP32], o: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):\n"
                 "    o = pl.store(pl.neg(pl.load(a, [0, 0], [2, 8])), [0, 0], [2, 8], o)\n")
    out = bytearray(64)
    ir.interpret(f, struct.pack("16f", *range(16)), out)
    assert struct.unpack("16f", out) == tuple(-float(i) for i in range(16))


# ---- What is refused ----

def test_a_pop_that_nobody_pushes_for_is_an_error():
    a, b, y = values("FP32", (160, 16)), values("FP32", (16, 16)), np.zeros((160, 16), "float32")
    text = PIPES.format(pops=11, calls=PRODUCE + CONSUME).replace("pl.range(10)", "pl.range(n)").replace(
        "b: pl.Tensor[[16, 16], pl.FP32],\n           o", "b: pl.Tensor[[16, 16], pl.FP32], n: pl.INT64,\n           o")
    text = text.replace("self.mm(cid, a, b, p)", "self.mm(cid, a, b, pl.dim(a, 0) // 16, p)")
    with pytest.raises(pl.CompileError, match="'act' waits for a tile that nobody pushes") as info:
        ir.interpret(pl.parse(text), a, b, y)
    assert info.value.span.line


@pytest.mark.parametrize("pops, calls, text", [(9, PRODUCE + CONSUME, "10 pushes, 9 pops"), (10, PRODUCE, "10 pushes, 0 pops")])
def test_tiles_that_stay_in_a_pipe_are_an_error(pops, calls, text):
    a, b, y = values("FP32", (160, 16)), values("FP32", (16, 16)), np.zeros((160, 16), "float32")
    program = PIPES.format(pops=pops, calls=calls)
    with pytest.raises(pl.CompileError, match=text) as info:
        ir.interpret(pl.parse(program), a, b, y)
    assert "create_pipe" in program.splitlines()[info.value.span.line - 1]


def test_the_ends_of_a_pipe_on_different_clusters_are_an_error():
    a, b, y = values("FP32", (160, 16)), values("FP32", (16, 16)), np.zeros((160, 16), "float32")
    program = PIPES.format(pops=10, calls=PRODUCE + CONSUME.replace("act(cid", "act(other")).replace(
        "cid = pl.allocate_cluster()", "cid = pl.allocate_cluster()\n        other = pl.allocate_cluster()")
    with pytest.raises(pl.CompileError, match="Pipe 'i' of 'act' connects kernels on different clusters") as info:
        ir.interpret(pl.parse(program), a, b, y)
    assert "self.act(other" in program.splitlines()[info.value.span.line - 1]


def test_endless_programs_end_after_max_steps():
    f = pl.parse("@pl.function\ndef f(a: pl.INT64):\n    while a > 0:\n        a = a + 1\n        a = a - 1\n    return a\n")
    with pytest.raises(pl.CompileError, match="not done after 1000 statements"):
        ir.interpret(f, 1, max_steps=1000)
    assert ir.interpret(f, 0, max_steps=1000) == 0


def test_division_by_zero_and_a_step_of_zero_are_errors():
    f = pl.parse("@pl.function\ndef f(a: pl.INT64, b: pl.INT64):\n    s = a\n    for i in pl.range(0, 4, b):\n"
                 "        s = s + a // i\n    return s\n")
    with pytest.raises(pl.CompileError, match="step of a loop is zero"):
        ir.interpret(f, 1, 0)
    with pytest.raises(pl.CompileError, match="Division by zero") as info:
        ir.interpret(f, 1, 1)
    assert info.value.span.line == 5


@pytest.mark.parametrize("args, error, text", [
    ((np.zeros((2, 8), "float64"), np.zeros((2, 8), "float32")), ValueError, "argument 'a' needs 2 dimensions of FP32"),
    ((np.zeros((2, 9), "float32"), np.zeros((2, 8), "float32")), pl.CompileError, "needs extent 8 in dimension 1, got 9"),
    ((np.zeros((2, 8), "float32"),), TypeError, r"takes 2 arguments \(a: .*\), got 1"),
    ((np.zeros((2, 8), "float32"),) * 3, TypeError, r"takes 2 arguments \(a: .*\), got 3"),
    ((np.zeros((2, 8), "float32"), bytes(64)), BufferError, "not writable|writable"),
    ((1, np.zeros((2, 8), "float32")), TypeError, "argument 'a' is .*, which is no array"),
    ((np.zeros((8, 2), "float32").T, np.zeros((2, 8), "float32")), ValueError, "contiguous"),
])
def test_wrong_arguments_are_refused(args, error, text):
    f = pl.parse("@pl.function(type=pl.FunctionType.InCore)\n"
                 "def k(a: pl.Tensor[[2, 8], pl.FP32], o: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):\n"
                 "    o = pl.store(pl.neg(pl.load(a, [0, 0], [2, 8])), [0, 0], [2, 8], o)\n")
    with pytest.raises(error, match=text):
        ir.interpret(f, *args)


def test_a_number_that_does_not_fit_is_refused():
    f = pl.parse("@pl.function\ndef f(a: pl.INT8):\n    return a\n")
    with pytest.raises(ValueError, match="300 does not fit into INT8"):
        ir.interpret(f, 300)


def test_the_function_must_be_named_when_several_could_be_meant():
    with pytest.raises(ValueError, match="no function 'nope'; there are k, main"):
        ir.interpret(dynamic_chain(), function="nope")


# ---- Buffers that passes assign ----

SHARED = """
@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[8, 8], pl.FP32], b: pl.Tensor[[8, 8], pl.FP32], o: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
    x: pl.Tile[[8, 8], pl.FP32, pl.MemRef(pl.MemorySpace.Vec, {0}, 256, 0)] = pl.load(a, [0, 0], [8, 8])
    y: pl.Tile[[8, 8], pl.FP32, pl.MemRef(pl.MemorySpace.Vec, {1}, 256, 1)] = pl.load(b, [0, 0], [8, 8])
    z: pl.Tile[[8, 8], pl.FP32, pl.MemRef(pl.MemorySpace.Vec, {0}, 256, 0)] = pl.add(x, y)
    o: pl.Tensor[[8, 8], pl.FP32] = pl.store(z, [0, 0], [8, 8], o)
    return o
"""


def test_tiles_in_buffers_of_their_own_keep_their_values():
    a, b, out = values("FP32", (8, 8)), values("FP32", (8, 8), seed=2), np.zeros((8, 8), "float32")
    ir.interpret(pl.parse(SHARED.format(0, 256)), a, b, out)
    np.testing.assert_array_equal(out, a + b)


@pytest.mark.parametrize("second", [0, 128])
def test_a_tile_in_a_buffer_that_is_taken_too_early_is_lost(second):
    a, b, out = values("FP32", (8, 8)), values("FP32", (8, 8), seed=2), np.zeros((8, 8), "float32")
    ir.interpret(pl.parse(SHARED.format(0, second)), a, b, out)
    assert (out != a + b).any()


def test_a_tile_larger_than_its_buffer_is_an_error():
    text = SHARED.format(0, 256).replace("256, 1)", "128, 1)")
    with pytest.raises(pl.CompileError, match="256 bytes does not fit into buffer 'mem_vec_1' of 128"):
        ir.interpret(pl.parse(text), *(np.zeros((8, 8), "float32"),) * 2, np.zeros((8, 8), "float32"))


def test_a_part_of_a_tile_is_in_the_tile_s_buffer():
    x = np.arange(2048, dtype="float32").reshape(32, 64)
    p = pl.parse("""
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[32, 64], pl.FP32], o: pl.InOut[pl.Tensor[[32, 64], pl.FP32]]) -> pl.Tensor[[32, 64], pl.FP32]:
        t = pl.load(x, [0, 0], [32, 64])
        v = pl.slice(t, [16, 32], [8, 16])
        o = pl.store(t, [0, 0], [32, 64], o)
        o = pl.store(pl.add(v, v), [0, 0], [16, 32], o)
        return o
""")
    for program in (p, passes.PassManager.get_strategy().run_passes(p)):
        out = x * 0
        ir.interpret(program, x, out)
        want = x.copy()
        want[:16, :32] = 2 * x[8:24, 16:48]
        assert (out == want).all()
