# SPDX-License-Identifier: MIT
"""Masks, tiles of BOOL: every operator that makes, moves, combines or reads them, executed as both back ends write it."""
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import pypto.language as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))
import pypto_executed  # noqa: E402

KERNEL = """
M = pl.dynamic("M")
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[{shape}, pl.FP32], y: pl.Tensor[{shape}, pl.FP32], b: pl.Tensor[{shape}, pl.BOOL], n: pl.INT64,
          q: pl.InOut[pl.Tensor[{shape}, pl.BOOL]], o: pl.InOut[pl.Tensor[{shape}, pl.{dtype}]]
          ) -> tuple[pl.Tensor[{shape}, pl.BOOL], pl.Tensor[{shape}, pl.{dtype}]]:
{body}
        return q, o
"""
# t and u are tiles of FP32, g a mask that was loaded, a and e masks of comparisons
TILES = """t = pl.load(x, [0, 0], {shape})
u = pl.load(y, [0, 0], {shape})
g = pl.load(b, [0, 0], {shape})
a = pl.cmps(t, 0.25, cmp_type="gt")
e = pl.cmp(t, u, cmp_type="le")
"""
STORES = """q = pl.store(m, [0, 0], {shape}, q)
o = pl.store({w}, [0, 0], {shape}, o)
"""
CHOICE = "pl.sel(m, t, u)"


def kernel(body, shape=(16, 64), dtype="FP32", w=CHOICE):
    shape = list(shape)
    text = TILES.format(shape=shape) + body + "\n" + STORES.format(shape=shape, w=w)
    return KERNEL.format(shape=shape, dtype=dtype, body=textwrap.indent(text, " " * 8))


def check(texts, platform, folder, seeds=(0,)):
    """Every kernel exists, by both back ends, and computes what the interpreter says."""
    kernels = []
    for text in texts:
        for seed in seeds:
            for backend in ("PTO", "CCE"):
                made = pypto_executed.kernels_of(text, seed, platform, backend, folder)
                assert made, f"{backend} on {platform} refuses\n{text}"
                kernels += made
    pypto_executed.check_kernels(kernels, platform, folder)


ANY_SHAPE = {
    "stored": "m = a",
    "loaded": "m = g",
    "and": "m = pl.and_(a, g)",
    "or": "m = a | e",
    "xor": "m = a ^ g",
    "not": "m = ~pl.not_(~e)",
    "choice of masks": "m = pl.sel(g, a, e)",
    "choice by a scalar": "m = pl.sels(a, g, n - 2)",
    "all true": "m = a ^ pl.full({shape}, dtype=pl.BOOL, value=True)",
    "all false": "m = pl.full({shape}, dtype=pl.BOOL, value=False)",
    "all of a scalar": "m = pl.xor(pl.expands(e, n > 2), a)",
    "larger": "m = pl.maximum(a, g)",
    "smaller": "m = pl.minimum(a, e)",
    "product": "m = pl.mul(a, g)",
    "equal": "m = pl.cmp(a, g)",
    "unequal": "m = pl.cmp(a, g, cmp_type='ne')",
    "less": "m = pl.cmp(a, g, cmp_type='lt')",
    "at most": "m = pl.cmp(a, g, cmp_type='le')",
    "greater": "m = pl.cmp(a, g, cmp_type='gt')",
    "at least": "m = pl.cmp(a, g, cmp_type='ge')",
    "compared with numbers": "m = pl.cmp(t, g, cmp_type='lt')",
    "of numbers": "m = pl.cast(pl.maximum(t, 0.0), pl.BOOL)",
    "branches": "m = a\nif n > 2:\n    m = g\nelse:\n    m = e & m",
    "one branch": "m = g\nif n > 2:\n    m = a",
    "loop": "m = a\nfor i in pl.range(n):\n    m = m ^ g\n    m = pl.not_(m)",
    "exchanged": "m = a\nr = g\nfor i, (m, r) in pl.range(n, init_values=(m, r)):\n    m, r = pl.yield_(r, m)",
}
NUMBERS = {
    "FP32": "pl.cast(a, pl.FP32)", "FP16": "pl.cast(g, pl.FP16)", "INT32": "pl.cast(e, pl.INT32)",
    "INT16": "pl.cast(g, pl.INT16)", "INT8": "pl.cast(a, pl.INT8)", "UINT8": "pl.cast(g, pl.UINT8)", "INT64": "pl.cast(e, pl.INT64)",
}
WHOLE = {
    "reshape": "m = pl.reshape(pl.reshape(a, [32, 32]) & pl.reshape(g, [32, 32]), [16, 64])",
    "transpose": "m = pl.transpose(pl.not_(pl.transpose(a & g, 0, 1)), 0, 1)",
    "filled": "m = pl.fillpad(pl.load(b, [0, 0], [16, 64], valid_shapes=[7, 33]))",
    "filled with the largest": "m = pl.fillpad(pl.load(b, [0, 0], [16, 64], valid_shapes=[7, 33]), pad='max')",
    "filled with the smallest": "m = pl.fillpad(pl.load(b, [0, 0], [16, 64], valid_shapes=[7, 33]), pad='min')",
    "element": "m = g\nif pl.getval(a, 70):\n    m = e",
    "row over all": "m = pl.cmps(pl.load(x, [3, 0], [1, 64]), 0.0, cmp_type='gt') & g",
    "column over all": "m = g | pl.cmps(pl.row_max(t), 1.9, cmp_type='gt')",
    "chosen by a column": "m = pl.sel(pl.cmps(pl.row_max(t), 1.9, cmp_type='gt'), a, e)",
    "chosen from a row": "m = pl.sel(g, a, pl.load(b, [2, 0], [1, 64]))",
    "slice": "m = g\nq = pl.store(pl.slice(a, [8, 32], [4, 16]), [0, 0], [8, 32], q)\nm = pl.load(q, [0, 0], [16, 64])",
    "part": "m = g\nq = pl.store(a, [8, 32], [8, 32], q)\nm = pl.load(q, [0, 0], [16, 64])",
    "of integers": "m = pl.cast(pl.cast(t, pl.INT32), pl.BOOL)",
    "of short integers": "m = pl.cast(pl.cast(t, pl.INT16), pl.BOOL)",
    "of bytes": "m = pl.cast(pl.cast(t, pl.INT8), pl.BOOL)",
    "of halves": "m = pl.cast(pl.cast(t, pl.FP16), pl.BOOL)",
    "of short floats": "m = pl.cast(pl.cast(t, pl.BF16), pl.BOOL)",
    "of long integers": "m = pl.cast(pl.cast(t, pl.INT64), pl.BOOL)",
}
BESIDE = ["pl.cast(pl.cast(a, pl.BF16), pl.FP32)", "pl.add(t, a)", "pl.sub(g, t)", "pl.mul(t, a)", "pl.div(t, pl.add(u, g))", "pl.maximum(t, e)",
          "pl.mul(t, pl.cmps(pl.row_max(t), 1.9, cmp_type='gt'))", "pl.sel(a, g, t)", "pl.sels(t, g, n - 2)",
          "pl.sel(pl.cmps(pl.row_max(t), 1.9, cmp_type='gt'), t, u)"]


@pytest.mark.parametrize("platform", ["a2a3", "a5"])
def test_masks_are_what_the_interpreter_says(platform, tmp_path):
    texts = [kernel(body.format(shape=[16, 64])) for body in (ANY_SHAPE | WHOLE).values()]
    texts += [kernel("m = g", dtype=dtype, w=w) for dtype, w in NUMBERS.items()]
    texts += [kernel("m = e", w=w) for w in BESIDE]
    check(texts, platform, tmp_path)


RAGGED = """
M = pl.dynamic("M")
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[M, 64], pl.FP32], b: pl.Tensor[[M, 64], pl.BOOL], c: pl.Tensor[[M, 1], pl.BOOL], n: pl.INT64,
          q: pl.InOut[pl.Tensor[[M, 64], pl.BOOL]], o: pl.InOut[pl.Tensor[[M, 64], pl.FP32]], p: pl.InOut[pl.Tensor[[M, 1], pl.BOOL]]
          ) -> tuple[pl.Tensor[[M, 64], pl.BOOL], pl.Tensor[[M, 64], pl.FP32], pl.Tensor[[M, 1], pl.BOOL]]:
        for r in pl.range(0, M, 16):
            rows = min(M - r, 16)
            t = pl.load(x, [r, 0], [16, 64], valid_shapes=[rows, 64])
            g = pl.load(b, [r, 0], [16, 64], valid_shapes=[rows, 64])
            h = pl.cmps(pl.row_max(t), 1.9, cmp_type="gt")
            a = pl.cmps(t, 0.25, cmp_type="gt")
{body}
            q = pl.store(m, [r, 0], [16, 64], q)
            o = pl.store(pl.sel(m, t, pl.neg(t)), [r, 0], [16, 64], o)
            p = pl.store(h, [r, 0], [16, 1], p)
        return q, o, p
"""


@pytest.mark.parametrize("platform", ["a2a3", "a5"])
def test_masks_are_valid_as_far_as_what_they_are_of(platform, tmp_path):
    bodies = ["m = ~g", "m = pl.sel(g, a, g ^ a)", "m = a\nif n > 2:\n    m = g", "m = pl.sel(h, a, g)",
              "h = h | pl.load(c, [r, 0], [16, 1], valid_shapes=[rows, 1])\nm = a", "h = ~h\nm = g ^ h"]
    check([RAGGED.format(body=textwrap.indent(body, " " * 12)) for body in bodies], platform, tmp_path, seeds=(5,))


@pytest.mark.parametrize("body, message", [
    ("m = pl.sel(t, a, e)", "block.sel requires a mask of BOOL first, but got FP32"),
    ("m = pl.sel(pl.load(b, [0, 0], [8, 64]), a, e)", "block.sel requires compatible shapes, but got [8, 64] and [16, 64]"),
    ("m = pl.add(a, e)", "block.add requires numbers, but got a mask of BOOL"),
    ("m = -a", "block.neg requires numbers, but got a mask of BOOL"),
    ("m = a * 2", "block.muls requires numbers, but got a mask of BOOL"),
    ("m = pl.cmps(a, True)", "block.cmps requires numbers, but got a mask of BOOL"),
    ("m = a; pl.row_sum(a)", "block.row_sum requires numbers, but got a mask of BOOL"),
    ("m = a; pl.setval(a, 0, True)", "block.setval requires numbers, but got a mask of BOOL"),
    ("m = pl.move(a, target_memory=pl.MemorySpace.Mat)", "block.move requires numbers, but got a mask of BOOL"),
    ("m = pl.load(b, [0, 0], [16, 64], target_memory=pl.MemorySpace.Mat)", "block.load can load masks of BOOL into Vec only, not Mat"),
    ("m = a & pl.cast(t, pl.INT32)", "block.and requires integer tile dtype, but got BOOL"),
])
def test_operators_that_do_not_take_masks_say_so_at_their_line(body, message):
    with pytest.raises(pl.InvalidOperationError) as e:
        pl.parse(kernel(body.replace("; ", "\n")), "user.py")
    line = kernel("?").split("\n").index("        ?") + 1 + body.count(";")
    assert message in str(e.value) and len(e.value.errors) == 1 and f"user.py:{line}:" in str(e.value)


SHORT = sorted(ANY_SHAPE)


@pytest.mark.parametrize("shape, platform", [
    ((16, 1), "a2a3"), ((40, 1), "a5"), ((1, 8), "a5"), ((5, 40), "a2a3"), ((16, 8), "a5"), ((1, 1), "a2a3")])
def test_masks_of_columns_rows_and_unaligned_lines(shape, platform, tmp_path):
    bodies = SHORT[sum(shape) % 2::2]
    check([kernel(ANY_SHAPE[body].format(shape=list(shape)), shape) for body in bodies], platform, tmp_path)
