# SPDX-License-Identifier: MIT
"""Eight-bit floats and products with scales: the interpreter and the simulated a5 against numpy, and what is refused."""
import os
import re
import subprocess
import sys

import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import _core, ir, passes, runtime  # noqa: E402
from test_pypto_gen_operators import assemble, cce_text  # noqa: E402

SPACE = "target_memory=pl.MemorySpace"


# ---- The formats, from their definitions ----

def number(code, exponent_bits, fraction_bits, infinities):
    sign, exponent, fraction = code >> 7, code >> fraction_bits & (1 << exponent_bits) - 1, code & (1 << fraction_bits) - 1
    bias, top = (1 << exponent_bits - 1) - 1, (1 << exponent_bits) - 1
    if exponent == top and infinities:
        value = float("inf") if not fraction else float("nan")
    elif exponent == top and fraction == (1 << fraction_bits) - 1:
        value = float("nan")
    elif exponent:
        value = (1 + fraction / (1 << fraction_bits)) * 2.0 ** (exponent - bias)
    else:
        value = fraction / (1 << fraction_bits) * 2.0 ** (1 - bias)
    return -value if sign else value


NUMBERS = {"FP8E4M3FN": np.array([number(c, 4, 3, False) for c in range(256)]),
           "FP8E5M2": np.array([number(c, 5, 2, True) for c in range(256)]),
           "FP8E8M0": np.array([2.0 ** (c - 127) for c in range(255)] + [float("nan")])}


def test_formats_have_the_ends_of_their_definitions():
    e4m3, e5m2 = NUMBERS["FP8E4M3FN"], NUMBERS["FP8E5M2"]
    assert np.nanmax(e4m3) == 448 and np.isnan(e4m3).sum() == 2 and e4m3[1] == 2.0 ** -9
    assert e5m2[np.isfinite(e5m2)].max() == 57344 and np.isinf(e5m2).sum() == 2 and e5m2[1] == 2.0 ** -16


def product(a, b, sa, sb, types=("FP8E4M3FN", "FP8E5M2")):
    left = NUMBERS[types[0]][a] * np.repeat(NUMBERS["FP8E8M0"][sa], 32, 1)[:, :a.shape[1]]
    right = NUMBERS[types[1]][b] * np.repeat(NUMBERS["FP8E8M0"][sb], 32, 0)[:b.shape[0]]
    return left @ right


def codes(random, shape, dtype="FP8E4M3FN"):
    """Numbers of which sums of products are exact in FP32."""
    every = np.where(abs(NUMBERS[dtype]) <= 3, NUMBERS[dtype], 0.1)
    good = np.flatnonzero(np.round(every * 8) == every * 8)
    return random.choice(good, shape).astype("uint8")


def scales(random, shape):
    return random.integers(126, 129, shape, "uint8")


# ---- Programs ----

def kernel(m=32, k=128, n=32, left="FP8E4M3FN", right="FP8E5M2", valid=None, product="pl.matmul_mx(l, ls, r, rs)"):
    """One product of whole tensors, or of what is valid: (rows, K, columns)."""
    rows, depth, columns = valid or (m, k, n)
    groups = -(-depth // 32)

    def tile(name, shape, part, space):
        given = f", valid_shapes=[{part[0]}, {part[1]}]" if valid else ""
        return f"pl.move(pl.load({name}, [0, 0], [{shape[0]}, {shape[1]}], {SPACE}.Mat{given}), {SPACE}.{space})"

    return f'''
@pl.program
class Product:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[{rows}, {depth}], pl.{left}], sa: pl.Tensor[[{rows}, {groups}], pl.FP8E8M0],
          b: pl.Tensor[[{depth}, {columns}], pl.{right}], sb: pl.Tensor[[{groups}, {columns}], pl.FP8E8M0],
          v: pl.Tensor[[1, {n}], pl.FP32], c: pl.Out[pl.Tensor[[{rows}, {columns}], pl.FP32]]) -> pl.Tensor[[{rows}, {columns}], pl.FP32]:
        w = pl.load(v, [0, 0], [1, {n}], {SPACE}.Mat)
        l = {tile("a", (m, k), (rows, depth), "Left")}
        ls = {tile("sa", (m, k // 32), (rows, groups), "LeftScale")}
        r = {tile("b", (k, n), (depth, columns), "Right")}
        rs = {tile("sb", (k // 32, n), (groups, columns), "RightScale")}
        c = pl.store({product}, [0, 0], [{rows}, {columns}], c)
        return c
'''


def lower(program, strategy="Default"):
    return passes.PassManager.get_strategy(strategy, "a5").run_passes(program)


def compute(program, *args):
    """What the interpreter gives, before the passes and after them."""
    out = [np.asarray(ir.interpret(p, *args[:-1], args[-1].copy(), function="k"))
           for p in (program, lower(program), lower(program, "PTOAS"))]
    np.testing.assert_array_equal(out[0], out[1])
    np.testing.assert_array_equal(out[0], out[2])
    return out[0]


@pytest.mark.parametrize("left", ["FP8E4M3FN", "FP8E5M2"])
@pytest.mark.parametrize("right", ["FP8E4M3FN", "FP8E5M2"])
def test_products_of_any_two_formats_agree_with_numpy(left, right):
    random = np.random.default_rng(1)
    a, b = codes(random, (32, 128), left), codes(random, (128, 32), right)
    sa, sb = scales(random, (32, 4)), scales(random, (4, 32))
    v, c = np.zeros((1, 32), "float32"), np.zeros((32, 32), "float32")
    np.testing.assert_array_equal(compute(pl.parse(kernel(left=left, right=right)), a, sa, b, sb, v, c),
                                  product(a, b, sa, sb, (left, right)))


@pytest.mark.parametrize("text, times, bias", [("pl.matmul_mx_acc(pl.matmul_mx(l, ls, r, rs), l, ls, r, rs)", 2, False),
                                               ("pl.matmul_mx_bias(l, ls, r, rs, w)", 1, True)])
def test_an_accumulator_and_a_bias_are_added(text, times, bias):
    random = np.random.default_rng(2)
    a, b, sa, sb = codes(random, (32, 128)), codes(random, (128, 32), "FP8E5M2"), scales(random, (32, 4)), scales(random, (4, 32))
    v, c = random.integers(-9, 9, (1, 32)).astype("float32"), np.zeros((32, 32), "float32")
    np.testing.assert_array_equal(compute(pl.parse(kernel(product=text)), a, sa, b, sb, v, c),
                                  times * product(a, b, sa, sb) + bias * v)


@pytest.mark.parametrize("dtype", ["FP8E4M3FN", "FP8E5M2"])
def test_every_code_of_an_operand_is_the_number_of_its_definition(dtype):
    a = np.zeros((256, 64), "uint8")
    a[:, 5] = np.arange(256)
    b = np.full((64, 32), 0x38, "uint8")    # 1
    sa, sb = np.full((256, 2), 128, "uint8"), np.full((2, 32), 127, "uint8")
    out = compute(pl.parse(kernel(256, 64, 32, dtype, "FP8E4M3FN")), a, sa, b, sb, np.zeros((1, 32), "float32"),
                  np.zeros((256, 32), "float32"))
    np.testing.assert_array_equal(out, np.repeat(2 * NUMBERS[dtype][:, None], 32, 1))


@pytest.mark.parametrize("valid", [(19, 101, 37), (1, 64, 1), (32, 33, 64)])
def test_what_is_valid_is_multiplied(valid, tmp_path):
    random = np.random.default_rng(5)
    rows, depth, columns = valid
    a, b = codes(random, (rows, depth)), codes(random, (depth, columns), "FP8E5M2")
    sa, sb = scales(random, (rows, -(-depth // 32))), scales(random, (-(-depth // 32), columns))
    p = pl.parse(kernel(32, 128, 64, valid=valid))
    np.testing.assert_array_equal(compute(p, a, sa, b, sb, np.zeros((1, 64), "float32"), np.zeros((rows, columns), "float32")),
                                  product(a, b, sa, sb))
    assemble(p, 1, tmp_path)


def moved_across(m, k, n, valid):
    """Both operands and their scales are stored the other way round; what is valid is a parameter."""
    def move(name, shape, part, space):
        return (f"pl.move(pl.load({name}, [0, 0], [{shape[0]}, {shape[1]}], {SPACE}.Mat, valid_shapes=[{part[0]}, {part[1]}]), "
                f"{SPACE}.{space}, transpose=True)")
    rows, columns = valid
    return f'''
@pl.program
class Across:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[{k}, {m}], pl.FP8E4M3FN], sa: pl.Tensor[[{k // 32}, {m}], pl.FP8E8M0], b: pl.Tensor[[{n}, {k}], pl.FP8E5M2],
          sb: pl.Tensor[[{n}, {k // 32}], pl.FP8E8M0], w: pl.INDEX, c: pl.InOut[pl.Tensor[[{m}, {n}], pl.FP32]]) -> pl.Tensor[[{m}, {n}], pl.FP32]:
        l = {move("a", (k, m), ("w", rows), "Left")}
        ls = {move("sa", (k // 32, m), (k // 32, rows), "LeftScale")}
        r = {move("b", (n, k), (columns, "w"), "Right")}
        rs = {move("sb", (n, k // 32), (columns, k // 32), "RightScale")}
        c = pl.store(pl.matmul_mx(l, ls, r, rs), [0, 0], [{rows}, {columns}], c)
        return c
'''


def test_operands_and_scales_are_moved_across(tmp_path):
    random = np.random.default_rng(6)
    a, b = codes(random, (128, 64)), codes(random, (96, 128), "FP8E5M2")
    sa, sb, c = scales(random, (4, 64)), scales(random, (96, 4)), np.zeros((64, 96), "float32")
    p = pl.parse(moved_across(64, 128, 96, (50, 70)))
    want = np.zeros((64, 96))
    want[:50, :70] = product(a.T[:, :77], b.T[:77], sa.T, sb.T)[:50, :70]
    np.testing.assert_array_equal(compute(p, a, sa, b, sb, 77, c), want)
    assemble(p, 1, tmp_path)
    moved = re.findall(r"(\w+)\.SetValidShape\(.*w.*\);\s+TMOV\((\w+), (\w+)\);", cce_text(p, 1))
    assert len(moved) == 2 and all(view == source for view, _, source in moved)     # the views that are read


def test_every_code_of_a_scale_is_a_power_of_two():
    a = np.zeros((256, 64), "uint8")
    a[:, 0] = 0x38
    sa, sb = np.full((256, 2), 127, "uint8"), np.full((2, 32), 127, "uint8")
    sa[:, 0] = np.arange(256)
    out = compute(pl.parse(kernel(256, 64, 32, right="FP8E4M3FN")), a, sa, np.full((64, 32), 0x38, "uint8"), sb,
                  np.zeros((1, 32), "float32"), np.zeros((256, 32), "float32"))
    np.testing.assert_array_equal(out[:, 3], NUMBERS["FP8E8M0"].astype("float32"))


def test_an_element_has_the_scale_of_its_group():
    """Ones, 64 along K: left scales of 2 for the first 32, 1 for the rest."""
    a, b = np.full((16, 64), 0x38, "uint8"), np.full((64, 32), 0x3c, "uint8")
    sa, sb = np.full((16, 2), 127, "uint8"), np.full((2, 32), 127, "uint8")
    sa[:, 0] = 128
    out = compute(pl.parse(kernel(16, 64, 32)), a, sa, b, sb, np.zeros((1, 32), "float32"), np.zeros((16, 32), "float32"))
    assert (out == 96).all()


def test_text_and_bytes_of_a_program_read_back():
    program = pl.parse(kernel(product="pl.matmul_mx_bias(l, ls, r, rs, w)"))
    for p in (program, lower(program), lower(program, "PTOAS")):
        assert ir.structural_equal(p, pl.parse(str(p)))
        assert ir.structural_equal(p, ir.deserialize(ir.serialize(p)))
        assert str(pl.parse(str(p))) == str(p)


# ---- Random chains of products ----

class Chain:
    """Products of random formats and extents in one accumulator: one by one, in loops over K, with a bias, stored in between."""

    def __init__(self, seed):
        self.random = random = np.random.default_rng(seed)
        self.m, self.n = int(random.choice([16, 32, 48])), int(random.choice([32, 64]))
        self.params, self.args, self.lines, self.names = [], [], [], 0
        self.sum, self.stored = None, np.zeros((self.m, self.n))
        for _ in range(random.integers(1, 5)):
            random.choice([self.single, self.single, self.loop, self.store])()
        if self.sum is None:
            self.single()
        self.store()

    def tensor(self, dtype, shape, values):
        name = f"p{len(self.params)}"
        self.params.append(f"{name}: pl.Tensor[[{shape[0]}, {shape[1]}], pl.{dtype}]")
        self.args.append(values)
        return name

    def put(self, line, indent=0):
        self.lines.append("    " * indent + line)

    def moved(self, name, at, shape, space, across, indent):
        """A part of a tensor in its memory; the tensor may have it the other way round."""
        self.names += 1
        at, shape = (at[::-1], shape[::-1]) if across else (at, shape)
        self.put(f"m{self.names} = pl.load({name}, [{at[0]}, {at[1]}], [{shape[0]}, {shape[1]}], {SPACE}.Mat)", indent)
        self.put(f"t{self.names} = pl.move(m{self.names}, {SPACE}.{space}{', transpose=True' if across else ''})", indent)
        return f"t{self.names}"

    def operands(self, k):
        """Tensors of a product of depth k, as (name, space, stored the other way round), and its value."""
        random, m, n, g = self.random, self.m, self.n, k // 32
        types = [str(random.choice(["FP8E4M3FN", "FP8E5M2"])) for _ in range(2)]
        a, b = codes(random, (m, k), types[0]), codes(random, (k, n), types[1])
        sa, sb = scales(random, (m, g)), scales(random, (g, n))
        across = [bool(x) and m % 32 == 0 for x in random.integers(0, 2, 4)]
        out = []
        for array, dtype, space, flip in zip((a, sa, b, sb), (types[0], "FP8E8M0", types[1], "FP8E8M0"),
                                             ("Left", "LeftScale", "Right", "RightScale"), across):
            kept = np.ascontiguousarray(array.T) if flip else array
            out.append((self.tensor(dtype, kept.shape, kept), space, flip))
        return out, product(a, b, sa, sb, types)

    def multiply(self, operands, at, group, k, indent):
        """Arguments of a product of depth k, from row or column @at of the operands, @group of the scales."""
        m, n, g = self.m, self.n, k // 32
        regions = ((0, at), (m, k)), ((0, group), (m, g)), ((at, 0), (k, n)), ((group, 0), (g, n))
        return ", ".join(self.moved(name, start, shape, space, flip, indent)
                         for (name, space, flip), (start, shape) in zip(operands, regions))

    def single(self):
        k = int(self.random.choice([64, 128, 192]))
        operands, value = self.operands(k)
        text = self.multiply(operands, 0, 0, k, 0)
        if self.sum is not None:
            self.put(f"acc = pl.matmul_mx_acc(acc, {text})")
            self.sum = self.sum + value
        elif self.random.integers(0, 2):
            row = self.random.integers(-9, 9, (1, self.n)).astype("float32")
            self.put(f"w = pl.load({self.tensor('FP32', row.shape, row)}, [0, 0], [1, {self.n}], {SPACE}.Mat)")
            self.put(f"acc = pl.matmul_mx_bias({text}, w)")
            self.sum = value + row
        else:
            self.put(f"acc = pl.matmul_mx({text})")
            self.sum = value

    def loop(self):
        if self.sum is None:
            self.single()
        step, times = int(self.random.choice([64, 128])), int(self.random.integers(1, 4))
        operands, value = self.operands(step * times)
        self.put(f"for i in pl.range(0, {times}):")
        text = self.multiply(operands, f"i * {step}", f"i * {step // 32}", step, 1)
        self.put(f"acc = pl.matmul_mx_acc(acc, {text})", 1)
        self.sum = self.sum + value

    def store(self):
        if self.sum is None:
            return
        self.put(f"c = pl.store(acc, [0, 0], [{self.m}, {self.n}], c)")
        self.stored, self.sum = self.sum, None

    @property
    def text(self):
        out = f"pl.Tensor[[{self.m}, {self.n}], pl.FP32]"
        return ("@pl.program\nclass Chain:\n    @pl.function(type=pl.FunctionType.InCore)\n    def k(self, "
                + "".join(f"{p}, " for p in self.params) + f"c: pl.Out[{out}]) -> {out}:\n"
                + "".join(f"        {line}\n" for line in [*self.lines, "return c"]))


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_random_chains_of_products_agree_with_numpy(first, tmp_path):
    for seed in range(first, first + 10):
        chain = Chain(seed)
        p = pl.parse(chain.text)
        np.testing.assert_array_equal(compute(p, *chain.args, np.zeros((chain.m, chain.n), "float32")), chain.stored, str(seed))
        assemble(p, 1, tmp_path)
        assert cce_text(p, 1).count("TMATMUL_MX(") == chain.text.count("pl.matmul_mx")


# ---- The chip ----

CHIP = '''
@pl.program
class OnChip:
    @pl.function(type=pl.FunctionType.InCore)
    def casts(self, x: pl.Tensor[[32, 128], pl.FP32], q: pl.Out[pl.Tensor[[32, 128], pl.FP8E4M3FN]],
              p: pl.Out[pl.Tensor[[32, 128], pl.FP8E5M2]], f: pl.Out[pl.Tensor[[32, 128], pl.FP32]],
              h: pl.Out[pl.Tensor[[32, 128], pl.BF16]]):
        t = pl.load(x, [0, 0], [32, 128])
        narrow = pl.cast(t, pl.FP8E4M3FN)
        q = pl.store(narrow, [0, 0], [32, 128], q)
        p = pl.store(pl.cast(narrow, pl.FP8E5M2), [0, 0], [32, 128], p)
        f = pl.store(pl.cast(pl.cast(t, pl.FP8E5M2), pl.FP32), [0, 0], [32, 128], f)
        h = pl.store(pl.cast(narrow, pl.BF16), [0, 0], [32, 128], h)

    @pl.function(type=pl.FunctionType.InCore)
    def squares(self, q: pl.Tensor[[32, 128], pl.FP8E4M3FN], sq: pl.Tensor[[19, 4], pl.FP8E8M0],
                b: pl.Tensor[[37, 128], pl.FP8E5M2], sb: pl.Tensor[[37, 4], pl.FP8E8M0],
                c: pl.Out[pl.Tensor[[19, 37], pl.FP32]], d: pl.Out[pl.Tensor[[32, 32], pl.FP32]]) -> tuple[pl.Tensor[[19, 37], pl.FP32], pl.Tensor[[32, 32], pl.FP32]]:
        qm = pl.load(q, [0, 0], [32, 128], MAT, valid_shapes=[19, 101])
        sqm = pl.load(sq, [0, 0], [32, 4], MAT, valid_shapes=[19, 4])
        bm = pl.load(b, [0, 0], [64, 128], MAT, valid_shapes=[37, 101])
        sbm = pl.load(sb, [0, 0], [64, 4], MAT, valid_shapes=[37, 4])
        l = pl.move(qm, target_memory=pl.MemorySpace.Left)
        ls = pl.move(sqm, target_memory=pl.MemorySpace.LeftScale)
        r = pl.move(bm, target_memory=pl.MemorySpace.Right, transpose=True)
        rs = pl.move(sbm, target_memory=pl.MemorySpace.RightScale, transpose=True)
        c = pl.store(pl.matmul_mx(l, ls, r, rs), [0, 0], [19, 37], c)
        whole = pl.load(q, [0, 0], [32, 128], MAT)
        l2 = pl.move(whole, target_memory=pl.MemorySpace.Left)
        r2 = pl.move(whole, target_memory=pl.MemorySpace.Right, transpose=True)
        d = pl.store(pl.matmul(l2, r2), [0, 0], [32, 32], d)
        return c, d

    @pl.function(type=pl.FunctionType.InCore)
    def parts(self, a: pl.Tensor[[32, 1024], pl.FP8E4M3FN], sa: pl.Tensor[[32, 32], pl.FP8E8M0],
              b: pl.Tensor[[1024, 32], pl.FP8E4M3FN], sb: pl.Tensor[[32, 32], pl.FP8E8M0],
              e: pl.Out[pl.Tensor[[32, 32], pl.FP32]]) -> pl.Tensor[[32, 32], pl.FP32]:
        am = pl.load(a, [0, 0], [32, 1024], MAT)
        sam = pl.load(sa, [0, 0], [32, 32], MAT)
        bm = pl.load(b, [0, 0], [1024, 32], MAT)
        sbm = pl.load(sb, [0, 0], [32, 32], MAT)
        acc = pl.matmul_mx(pl.move(am, target_memory=pl.MemorySpace.Left), pl.move(sam, target_memory=pl.MemorySpace.LeftScale),
                           pl.move(bm, target_memory=pl.MemorySpace.Right), pl.move(sbm, target_memory=pl.MemorySpace.RightScale))
        for g in pl.range(0, 32, 4):
            l = pl.extract(am, 0, g * 32, [32, 128], target_memory=pl.MemorySpace.Left)
            ls = pl.extract(sam, 0, g, [32, 4], target_memory=pl.MemorySpace.LeftScale)
            r = pl.extract(bm, g * 32, 0, [128, 32], target_memory=pl.MemorySpace.Right)
            rs = pl.extract(sbm, g, 0, [4, 32], target_memory=pl.MemorySpace.RightScale)
            acc = pl.matmul_mx_acc(acc, l, ls, r, rs)
        e = pl.store(acc, [0, 0], [32, 32], e)
        return e

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[32, 128], pl.FP32], sq: pl.Tensor[[19, 4], pl.FP8E8M0], b: pl.Tensor[[37, 128], pl.FP8E5M2],
             sb: pl.Tensor[[37, 4], pl.FP8E8M0], a2: pl.Tensor[[32, 1024], pl.FP8E4M3FN], sa2: pl.Tensor[[32, 32], pl.FP8E8M0],
             b2: pl.Tensor[[1024, 32], pl.FP8E4M3FN], sb2: pl.Tensor[[32, 32], pl.FP8E8M0], hard: pl.Tensor[[32, 128], pl.FP32],
             hq: pl.Out[pl.Tensor[[32, 128], pl.FP8E4M3FN]], hp: pl.Out[pl.Tensor[[32, 128], pl.FP8E5M2]],
             hf: pl.Out[pl.Tensor[[32, 128], pl.FP32]], hh: pl.Out[pl.Tensor[[32, 128], pl.BF16]]
             ) -> tuple[pl.Tensor[[19, 37], pl.FP32], pl.Tensor[[32, 32], pl.FP32], pl.Tensor[[32, 32], pl.FP32]]:
        q = pl.create_tensor([32, 128], dtype=pl.FP8E4M3FN)
        p = pl.create_tensor([32, 128], dtype=pl.FP8E5M2)
        f = pl.create_tensor([32, 128], dtype=pl.FP32)
        h = pl.create_tensor([32, 128], dtype=pl.BF16)
        c = pl.create_tensor([19, 37], dtype=pl.FP32)
        d = pl.create_tensor([32, 32], dtype=pl.FP32)
        e = pl.create_tensor([32, 32], dtype=pl.FP32)
        self.casts(x, q, p, f, h)
        self.casts(hard, hq, hp, hf, hh)
        c, d = self.squares(q, sq, b, sb, c, d)
        e = self.parts(a2, sa2, b2, sb2, e)
        return c, d, e
'''.replace("MAT", "target_memory=pl.MemorySpace.Mat")


def nearest(values, dtype):
    """Numbers of the type nearest to @values, ties to the even code; all of them in its range."""
    good = np.flatnonzero(np.isfinite(NUMBERS[dtype]))[:, None]
    distance = abs(NUMBERS[dtype][good] - np.where(np.isfinite(values), values, 0).ravel())
    odd = np.where(distance == distance.min(0), good & 1, 2)
    return NUMBERS[dtype][good[odd.argmin(0), 0]].reshape(values.shape)


def hard_values():
    """Every number of both types and what lies between two of them, halfway and beside that; what is too large for them."""
    every = np.unique(np.concatenate([NUMBERS[t][np.isfinite(NUMBERS[t])] for t in ("FP8E4M3FN", "FP8E5M2")]))
    half = ((every[1:] + every[:-1]) / 2).astype("float32")
    values = np.concatenate([every, half, np.nextafter(half, np.float32(np.inf)), np.nextafter(half, np.float32(-np.inf)),
                             [464, 480, 1e30, np.inf, -np.inf, np.nan, 61440, -0.0]]).astype("float32")
    assert values.size <= 32 * 128
    return np.resize(values, (32, 128))


def chip_case(seed):
    """Arguments, and the results where they are exact."""
    random = np.random.default_rng(seed)
    x = (random.integers(-24, 25, (32, 128)) / 8).astype("float32")
    args = [x, scales(random, (19, 4)), codes(random, (37, 128), "FP8E5M2"), scales(random, (37, 4)), codes(random, (32, 1024)),
            scales(random, (32, 32)), codes(random, (1024, 32)), scales(random, (32, 32)), hard_values(),
            *(np.zeros((32, 128), t) for t in ("uint8", "uint8", "float32", "uint16"))]
    q, number = nearest(x.astype("float64"), "FP8E4M3FN"), NUMBERS["FP8E8M0"]
    c = (q[:19] * np.repeat(number[args[1]], 32, 1))[:, :101] @ (NUMBERS["FP8E5M2"][args[2]] * np.repeat(number[args[3]], 32, 1)).T[:101]
    e = product(*args[4:7:2], args[5], args[7], ("FP8E4M3FN", "FP8E4M3FN"))
    return args, [c, q @ q.T, 2 * e]


def check_casts(x, q, p, f, h):
    """To the nearest, ties to even; what is too large is no number, or an infinity where there is one."""
    x = x.astype("float64")
    narrow, wide = np.isfinite(x) & (abs(x) <= 464), np.isfinite(x) & (abs(x) < 61440)
    q, bf16 = NUMBERS["FP8E4M3FN"][q], (h.astype("uint32") << 16).view("float32")
    np.testing.assert_array_equal(q[narrow], nearest(x, "FP8E4M3FN")[narrow])
    assert np.isnan(q[~narrow]).all()
    np.testing.assert_array_equal(NUMBERS["FP8E5M2"][p][narrow], nearest(q, "FP8E5M2")[narrow])
    assert np.isnan(NUMBERS["FP8E5M2"][p][~narrow]).all()
    np.testing.assert_array_equal(f[wide], nearest(x, "FP8E5M2")[wide])
    np.testing.assert_array_equal(f[~wide], np.where(np.isnan(x), x, np.copysign(np.inf, x))[~wide])
    np.testing.assert_array_equal(bf16, q)


def check_chip_case(call, seed=3):
    args, expected = chip_case(seed)
    for result, golden in zip(call(*args), expected, strict=True):
        np.testing.assert_array_equal(np.asarray(result, "float64"), golden)
    check_casts(*args[8:])


def test_conversions_parts_and_edges_agree_with_numpy_in_the_interpreter():
    program = pl.parse(CHIP)
    for p in (program, lower(program)):
        check_chip_case(lambda *args: ir.interpret(p, *args))


@pytest.mark.parametrize("backend", ["PTO", "CCE"])
def test_conversions_parts_and_edges_agree_with_numpy_on_the_chip(backend):
    check_chip_case(runtime.compile(pl.parse(CHIP), "a5sim", backend))


# ---- What is refused ----

def refused(text, arch="a5", strategy="Default"):
    with pytest.raises(pl.ParserError) as info:
        passes.PassManager.get_strategy(strategy, arch).run_passes(pl.parse(text, "user.py"))
    return info.value


def test_a2a3_refuses_each_operator_where_it_stands():
    error = refused(kernel(), "a2a3")
    found = [(e.span.line, re.search(r"pl\.\w+\(\) is not possible on a2a3, which has no ([a-z -]+)", str(e)).group(1))
             for e in error.errors]
    assert {what for line, what in found if line == 13} == {"products with scales"}
    assert {what for line, what in found if line == 10} == {"memory for scales", "eight-bit floats"}
    assert {line for line, _ in found} == {9, 10, 11, 12, 13}


LOAD = "pl.load(a, [0, 0], [32, 128])"


@pytest.mark.parametrize("line, message", [
    ("c = pl.store(pl.matmul_mx(l, ls, r, ls), [0, 0], [32, 32], c)", "requires scales [4, 32] for an operand [128, 32], but got [32, 4]"),
    ("c = pl.store(pl.matmul_mx(l, rs, r, rs), [0, 0], [32, 32], c)", "requires scales [32, 4] for an operand [32, 128], but got [4, 32]"),
    ("c = pl.store(pl.matmul_mx(l, l, r, rs), [0, 0], [32, 32], c)", "requires scales of FP8E8M0, but got FP8E4M3FN"),
    ("c = pl.store(pl.matmul_mx(w, ls, r, rs), [0, 0], [32, 32], c)", "does not multiply FP32 by FP8E5M2"),
    ("c = pl.store(pl.matmul_mx(l, ls, l, rs), [0, 0], [32, 32], c)", "requires equal inner extents, but got [32, 128] and [32, 128]"),
    ("c = pl.store(pl.matmul_mx_acc(l, l, ls, r, rs), [0, 0], [32, 32], c)", "requires an accumulator [32, 32], but got [32, 128]"),
    ("c = pl.store(pl.matmul_mx_bias(l, ls, r, rs, l), [0, 0], [32, 32], c)", "requires a bias [1, N] of FP32"),
    ("c = pl.store(pl.matmul(l, r), [0, 0], [32, 32], c)", "requires equal element types, but got FP8E4M3FN and FP8E5M2"),
    ("x = pl.extract(l, 0, 0, [32, 32], target_memory=pl.MemorySpace.Left); y = pl.extract(r, 0, 0, [32, 32], target_memory=pl.MemorySpace.Right); "
     "c = pl.store(pl.matmul_mx(x, ls, y, rs), [0, 0], [32, 32], c)", "requires an inner extent that is a multiple of 64, but got [32, 32]"),
    (f"x = pl.move(pl.load(b, [0, 0], [128, 16], {SPACE}.Mat), {SPACE}.Right)",
     "cannot put a tile [128, 16] of FP8E5M2 into Right, whose boxes it does not fill"),
    (f"x = pl.move(pl.load(a, [0, 0], [32, 16], {SPACE}.Mat), {SPACE}.Left, transpose=True)",
     "cannot put a tile [32, 16] of FP8E4M3FN into Left transposed, whose boxes it does not fill"),
    (f"x = pl.move(pl.load(a, [0, 0], [32, 4], {SPACE}.Mat), {SPACE}.LeftScale)", "cannot put FP8E4M3FN elements into LeftScale"),
    ("x = pl.move(ls, target_memory=pl.MemorySpace.Left)", "cannot put FP8E8M0 scales into Left"),
    ("x = pl.load(sa, [0, 0], [32, 4])", "cannot put FP8E8M0 scales into Vec"),
    ("x = pl.move(ls, target_memory=pl.MemorySpace.RightScale)", None),
    ("x = pl.move(ls, target_memory=pl.MemorySpace.LeftScale, transpose=True)", "requires scales in boxes of 16 x 2 for LeftScale, but got [4, 32]"),
    (f"x = pl.load(sa, [0, 0], [8, 4], {SPACE}.Mat)", "requires scales in boxes of 16 x 2 or 2 x 16 for Mat, but got [8, 4]"),
    ("x = pl.reshape(ls, [16, 8])", "does not take a tile of FP8E8M0 scales"),
    (f"x = pl.add({LOAD}, {LOAD})", "The operator block.add does not take FP8E4M3FN elements"),
    (f"x = pl.getval({LOAD}, 0)", "does not take FP8E4M3FN elements"),
    ("x = pl.tensor.read(sa, [0, 0])", "does not take FP8E8M0 elements"),
    ("x = pl.full([32, 32], dtype=pl.FP8E5M2, value=1.0)", "does not take FP8E5M2 elements"),
    (f"x = pl.cast({LOAD}, pl.INT8)", "does not convert FP8E4M3FN to INT8"),
    (f"x = pl.cast({LOAD}, pl.FP8E8M0)", "does not take FP8E8M0 elements"),
    ("x = pl.const(1.0, pl.FP8E4M3FN)", "There are no scalars of FP8E4M3FN"),
    ("x = pl.cast(3, pl.FP8E5M2)", "There are no scalars of FP8E5M2"),
])
def test_mistake_is_refused_where_it_stands(line, message):
    parts = line.split("; ")
    text = kernel().replace("        return c\n", "".join(f"        {p}\n" for p in parts) + "        return c\n")
    error = refused(text)
    if message:
        assert message in str(error)
    assert [(e.span.filename, e.span.line) for e in error.errors] == [("user.py", 13 + len(parts))]
    assert "^^^" in str(error)


def test_operands_must_be_in_their_memories():
    text = kernel().replace(f", {SPACE}.LeftScale)", f", {SPACE}.Mat)").replace(f"pl.move(pl.load(sa, [0, 0], [32, 4], {SPACE}.Mat), {SPACE}.Mat)",
                                                                             f"pl.load(sa, [0, 0], [32, 4], {SPACE}.Mat)")
    error = refused(text)
    assert "pl.matmul_mx() needs its left scales in LeftScale, not in Mat" in str(error) and error.errors[0].span.line == 13


def test_scalar_parameters_of_eight_bits_are_refused():
    error = refused(kernel().replace("v: pl.Tensor[[1, 32], pl.FP32]", "v: pl.FP8E4M3FN"))
    assert "There are no scalars of FP8E4M3FN, only tensors and tiles" in str(error) and "Use pl.FP32" in str(error)


# ---- Memory ----

def test_scales_beyond_their_memory_are_refused():
    assert "LeftScale buffer usage (4608 bytes) exceeds platform limit (4096 bytes)" in str(refused(kernel(144, 1024, 32)))
    assert "RightScale buffer usage (5120 bytes) exceeds platform limit (4096 bytes)" in "\n".join(map(str, refused(kernel(16, 1024, 160)).errors))


def test_each_side_has_a_memory_of_its_own(tmp_path):
    more = kernel(48, 1024, 64).replace("        c = pl.store(", f'''        ls2 = pl.move(pl.load(sa, [0, 0], [48, 32], {SPACE}.Mat), {SPACE}.LeftScale)
        rs2 = pl.move(pl.load(sb, [0, 0], [32, 64], {SPACE}.Mat), {SPACE}.RightScale)
        c = pl.store(pl.matmul_mx(l, ls2, r, rs2), [0, 0], [48, 64], c)
        c = pl.store(''')
    p = pl.parse(more)                      # 3 and 4 KiB of scales
    assemble(p, 1, tmp_path)
    assert re.findall(r"TASSIGN\(l?r?s\w*, 0x(\w+)\)", cce_text(p, 1)) == ["0", "0", "600", "800"]
    assert _core.memory_limits(1)["LeftScale"] == _core.memory_limits(1)["RightScale"] == 4096


def test_scales_that_do_not_live_together_share_their_memory():
    text = kernel(48, 1024, 64).replace("        return c\n", f'''        ls2 = pl.move(pl.load(sa, [0, 0], [48, 32], {SPACE}.Mat), {SPACE}.LeftScale)
        c = pl.store(pl.matmul_mx(l, ls2, r, rs), [0, 0], [48, 64], c)
        return c
''')
    assert re.findall(r"TASSIGN\(ls\w*, 0x(\w+)\)", cce_text(pl.parse(text), 1)) == ["0", "0"]


# ---- Tensors of the host ----

class Bytes:
    """What torch's tensors of eight bits look like: numpy has no view of them."""

    def __init__(self, array, dtype):
        self.array, self.dtype, self.shape, self.device = array, f"torch.{dtype}", array.shape, "cpu"

    def data_ptr(self):
        return self.array.ctypes.data

    def element_size(self):
        return 1


def test_program_with_scales_passes_in_checked_mode():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs")
    done = subprocess.run([sys.executable, os.path.join(folder, "run_pypto.py"), "mx_matmul"], text=True, capture_output=True, timeout=300,
                          env={**os.environ, "SIMPLER_CHECK": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
    assert done.returncode == 0 and "largest difference from numpy: 0 (within 0)" in done.stdout, done.stdout + done.stderr


def test_arrays_of_bytes_and_of_other_eight_bit_types_are_taken():
    call = runtime.compile(pl.parse(CHIP), "a5sim", "CCE")
    names = {1: "float8_e8m0fnu", 2: "float8_e5m2", 4: "float8_e4m3fn"}
    args, expected = chip_case(5)
    results = call(*(Bytes(a, names[i]) if i in names else a for i, a in enumerate(args)))
    for result, golden in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, golden)
    args[4] = Bytes(args[4], "float8_e5m2")
    with pytest.raises(ValueError, match="needs .* of FP8E4M3FN, got .* of float8_e5m2"):
        call(*args)
