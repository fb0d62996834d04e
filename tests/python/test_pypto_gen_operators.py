# SPDX-License-Identifier: MIT
"""Every operator on tiles becomes .pto text that the assembler accepts, and C++ of both platforms."""
import subprocess

import pytest

pl = pytest.importorskip("pypto.language")
from pypto import _compile, _core, passes  # noqa: E402

F32, I32, I16 = (f"pl.Tensor[[32, 32], pl.{t}]" for t in ("FP32", "INT32", "INT16"))
HEAD = f'''
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: {F32}, b: {F32}, ia: {I32}, ha: {I16}, s: pl.FP32, n: pl.INT32, o: pl.Out[OUT]) -> OUT:
        x = pl.load(a, [0, 0], [32, 32])
        y = pl.load(b, [0, 0], [32, 32])
        i = pl.load(ia, [0, 0], [32, 32])
        h = pl.load(ha, [0, 0], [32, 32])
'''
FLOATS = [f"t = pl.{op}(x, y)" for op in
          "add sub mul div rem maximum minimum prelu partadd partmax partmin".split()]
FLOATS += [f"t = pl.{op}(x, s)" for op in "add sub mul div rems maxs mins lrelu expands".split()]
FLOATS += [f"t = pl.{op}(x)" for op in "neg exp recip sqrt rsqrt log abs relu fillpad row_expand".split()]
FLOATS += [f"t = pl.row_expand_{op}(x, pl.row_{r}(y))" for op, r in
           (("add", "sum"), ("sub", "max"), ("mul", "min"), ("div", "sum"))]
FLOATS += [f"t = pl.col_expand_{op}(x, pl.col_{r}(y))" for op, r in (("mul", "sum"), ("div", "max"), ("sub", "min"))]
FLOATS += [f"t = pl.add(x, pl.{op}(y, {axis}, keepdim=True))" for op in ("sum", "max", "min") for axis in (0, 1)]
FLOATS += [f"t = pl.{op}(x, y, x)" for op in ("addc", "subc")] + [f"t = pl.{op}(x, s, y)" for op in ("addsc", "subsc")]
FLOATS += """t = pl.sel(pl.cmp(x, y, cmp_type=2), x, y)
t = pl.sel(pl.cmps(x, 0.5, cmp_type=4), x, y)
t = pl.sels(x, y, n)
t = pl.add(x, pl.row_sum(x))
t = pl.add(x, pl.col_sum(x))
t = pl.sub(pl.row_sum(x), y)
t = pl.col_expand(x, pl.col_sum(y))
t = pl.full([32, 32], dtype=pl.FP32, value=2.0)
t = pl.transpose(x, 0, 1)
t = pl.reshape(pl.reshape(x, [16, 64]), [32, 32])
t = pl.cast(i, pl.FP32)
t = pl.cast(pl.cast(x, pl.INT8), pl.FP32)
t = pl.cast(pl.cast(x, pl.BF16), pl.FP32)
t = pl.cast(pl.cast(x, pl.FP16), pl.FP32)
t = pl.mul(y, pl.getval(x, 3))
t = pl.gather(x, i)
t = pl.scatter(x, y, i)
t = pl.mgather(a, i)
t = pl.cast(pl.add(i, pl.ci(0, [1, 32], dtype=pl.INT32)), pl.FP32)
t = pl.mul(x, pl.tensor.read(a, [1, 2]))
t = pl.add(x, pl.cast(n, pl.FP32))
t = pl.load(a, [n // 3 + n % 4, 0], [32, 32])""".splitlines()
FLOATS += ["pl.setval(x, 3, 2.0); t = pl.mul(y, x)", "pl.print(x); t = x", "o = pl.mscatter(x, i, o); t = y",
           "q = pl.sort32(x, i); r = pl.mrgsort(q, block_len=64); t = x", "q = pl.sort32(x, i); r = pl.mrgsort(q, q); t = x",
           "u = pl.slice(x, [16, 32], [16, 0]); o = pl.store(u, [0, 0], [16, 32], o); t = y",
           "e = pl.extract(x, 0, 0, [16, 16]); o = pl.store(e, [0, 0], [16, 16], o); t = y",
           "g = pl.get_block_idx(); t = pl.mul(x, 2.0)"]
SHORTS = [f"t = pl.{op}(h, h)" for op in "and_ or_ xor shl shr".split()]
SHORTS += [f"t = pl.{op}(h, 3)" for op in "ands ors xors shls shrs".split()] + ["t = pl.not_(h)"]
INTS = ["t = pl.cast(x, pl.INT32)", "t = pl.cast(h, pl.INT32)"]
CASES = [(c, F32) for c in FLOATS] + [(c, I16) for c in SHORTS] + [(c, I32) for c in INTS]


def program(body, out):
    lines = body.split("; ") + ["o = pl.store(t, [0, 0], [32, 32], o)", "return o"]
    return pl.parse(HEAD.replace("OUT", out) + "".join(f"        {line}\n" for line in lines))


@pytest.mark.parametrize("body, out", CASES, ids=[c for c, _ in CASES])
def test_operator_is_generated_for_both_platforms(body, out, tmp_path):
    p = program(body, out)
    for arch, flags in ((0, []), (1, ["--pto-arch=a5"])):
        lowered = passes.PassManager.get_strategy("PTOAS").run_passes(p)
        (tmp_path / "k.pto").write_text(_core.generate(lowered, "pto", "k", arch))
        done = subprocess.run([_compile.find_ptoas(), tmp_path / "k.pto", "--enable-insert-sync", *flags],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        lowered = passes.PassManager.get_strategy("Default").run_passes(p)
        found = _core.generate(lowered, "cce", "k", arch)
        assert found.count("TSTORE(") == body.count("pl.store(") + 1
