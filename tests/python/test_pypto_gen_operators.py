# SPDX-License-Identifier: MIT
"""Every operator on tiles becomes .pto text that the assembler accepts, and C++ of both platforms that compiles."""
import os
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
FLOATS += [f"t = pl.{op}(x, s)" for op in "add sub mul div adds subs muls divs rems maxs mins lrelu expands".split()]
FLOATS += [f"t = pl.{op}(x)" for op in "neg exp recip sqrt rsqrt log abs relu fillpad row_expand".split()]
FLOATS += [f"t = pl.row_expand_{op}(x, pl.row_{r}(y))" for op, r in
           (("add", "sum"), ("sub", "max"), ("mul", "min"), ("div", "sum"))]
FLOATS += [f"t = pl.col_expand_{op}(x, pl.col_{r}(y))" for op, r in (("mul", "sum"), ("div", "max"), ("sub", "min"))]
FLOATS += [f"t = pl.add(x, pl.{op}(y, {axis}, keepdim=True))" for op in ("sum", "max", "min") for axis in (0, 1)]
FLOATS += [f"t = pl.{op}(x, y, x)" for op in ("addc", "subc")] + [f"t = pl.{op}(x, s, y)" for op in ("addsc", "subsc")]
FLOATS += """t = pl.sel(pl.cmp(x, y, cmp_type=2), x, y)
t = pl.sel(pl.cmps(x, 0.5, cmp_type=4), x, y)
t = pl.selc(pl.cmp(x, y), x, y)
t = pl.sels(x, y, n)
t = pl.vec_move(x)
c = pl.create_tile([32, 32], dtype=pl.FP32); t = pl.scatter(c, x, i)
t = pl.gatherb(x, i)
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
           "g = pl.get_block_idx() + pl.get_block_num() + pl.get_subblock_idx(); t = pl.mul(x, pl.cast(g, pl.FP32))"]
FLOATS += [f"v = pl.load(a, [0, 0], [32, 32], valid_shapes=[{rows}, 32]); t = pl.fillpad(v, pad={pad})"
           for rows in ("7", "pl.cast(n, pl.INDEX)") for pad in ("'max'", "-2.5", "0.0")]
FLOATS += ["t = pl.add(x, y); v = pl.load(a, [0, 0], [32, 32], valid_shapes=[7, 32]); t = pl.fillpad(v, pad='min')"]
SHORTS = [f"t = pl.{op}(h, h)" for op in "and_ or_ xor shl shr".split()]
SHORTS += [f"t = pl.{op}(h, 3)" for op in "ands ors xors shls shrs".split()] + ["t = pl.not_(h)"]
INTS = ["t = pl.cast(x, pl.INT32)", "t = pl.cast(h, pl.INT32)"]
CASES = [(c, F32) for c in FLOATS] + [(c, I16) for c in SHORTS] + [(c, I32) for c in INTS]

CUBE_HEAD = '''
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[32, 32], IN], b: pl.Tensor[[32, 32], IN], v: pl.Tensor[[1, 32], OUT],
          o: pl.Out[pl.Tensor[[32, 32], OUT]]) -> pl.Tensor[[32, 32], OUT]:
        ma = pl.load(a, [0, 0], [32, 32], target_memory=pl.MemorySpace.Mat)
        mb = pl.load(b, [0, 0], [32, 32], target_memory=pl.MemorySpace.Mat)
        l = pl.move(ma, target_memory=pl.MemorySpace.Left)
        r = pl.move(mb, target_memory=pl.MemorySpace.Right)
        w = pl.load(v, [0, 0], [1, 32], target_memory=pl.MemorySpace.Mat)
        g = pl.load(a, [0, 0], [1, 32], target_memory=pl.MemorySpace.Mat)
        h = pl.move(g, target_memory=pl.MemorySpace.Left)
'''
STORE = "; o = pl.store(t, [0, 0], o)"
CUBES = [c + STORE for c in """t = pl.matmul(l, r)
t = pl.batch_matmul(l, r)
t = pl.matmul_acc(pl.matmul(l, r), l, r)
t = pl.matmul_bias(l, r, w)
t = pl.gemv(h, r)
t = pl.gemv_acc(pl.gemv(h, r), h, r)
t = pl.gemv_bias(h, r, w)
e = pl.extract(ma, 0, 0, [16, 32], target_memory=pl.MemorySpace.Left); t = pl.matmul(e, r)
e = pl.move(ma, target_memory=pl.MemorySpace.Left, transpose=True); t = pl.matmul(e, r)
e = pl.move(ma, target_memory=pl.MemorySpace.Right, transpose=True); t = pl.matmul(l, e)""".splitlines()]
CUBES += ["t = pl.matmul(l, r); o = pl.l0c_store(t, [0, 0], [32, 32], o)"]
ELEMENTS = {"FP16": "FP32", "BF16": "FP32", "FP32": "FP32", "INT8": "INT32"}
CUBE_CASES = [(c, e) for c in CUBES for e in ELEMENTS]

# Eight-bit floats, which a5 has: what becomes of their operators
MX_HEAD = '''
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[32, 128], pl.FP8E4M3FN], sa: pl.Tensor[[32, 4], pl.FP8E8M0],
          b: pl.Tensor[[128, 32], pl.FP8E5M2], sb: pl.Tensor[[4, 32], pl.FP8E8M0], v: pl.Tensor[[1, 32], pl.FP32],
          o: pl.Out[pl.Tensor[[32, 32], pl.FP32]]) -> pl.Tensor[[32, 32], pl.FP32]:
        ma = pl.load(a, [0, 0], [32, 128], target_memory=pl.MemorySpace.Mat)
        msa = pl.load(sa, [0, 0], [32, 4], target_memory=pl.MemorySpace.Mat)
        mb = pl.load(b, [0, 0], [128, 32], target_memory=pl.MemorySpace.Mat)
        msb = pl.load(sb, [0, 0], [4, 32], target_memory=pl.MemorySpace.Mat)
        w = pl.load(v, [0, 0], [1, 32], target_memory=pl.MemorySpace.Mat)
        l = pl.move(ma, target_memory=pl.MemorySpace.Left)
        ls = pl.move(msa, target_memory=pl.MemorySpace.LeftScale)
        r = pl.move(mb, target_memory=pl.MemorySpace.Right)
        rs = pl.move(msb, target_memory=pl.MemorySpace.RightScale)
'''
PARTS = """le = pl.extract(ma, 0, 64, [32, 64], target_memory=pl.MemorySpace.Left)
se = pl.extract(msa, 0, 2, [32, 2], target_memory=pl.MemorySpace.LeftScale)
re = pl.extract(mb, 64, 0, [64, 32], target_memory=pl.MemorySpace.Right)
te = pl.extract(msb, 2, 0, [2, 32], target_memory=pl.MemorySpace.RightScale)
t = pl.matmul_mx(le, se, re, te)""".replace("\n", "; ")
MX_CASES = [c + STORE for c in ("t = pl.matmul_mx(l, ls, r, rs)", "t = pl.matmul_mx_acc(pl.matmul_mx(l, ls, r, rs), l, ls, r, rs)",
                                "t = pl.matmul_mx_bias(l, ls, r, rs, w)", PARTS)]
MX_CASES += ["""la = pl.move(pl.load(a, [0, 0], [32, 32], target_memory=pl.MemorySpace.Mat), target_memory=pl.MemorySpace.Left)
ra = pl.move(pl.load(a, [0, 0], [32, 32], target_memory=pl.MemorySpace.Mat), target_memory=pl.MemorySpace.Right, transpose=True)
t = pl.matmul(la, ra)""".replace("\n", "; ") + STORE]
SMALL_HEAD = '''
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[32, 64], IN], b: pl.Tensor[[32, 64], FROM], o: pl.Out[pl.Tensor[[32, 64], IN]],
          p: pl.Out[pl.Tensor[[32, 64], FROM]]) -> pl.Tensor[[32, 64], IN]:
        p = pl.store(pl.cast(pl.load(a, [0, 0], [32, 64]), FROM), [0, 0], [32, 64], p)
        o = pl.store(pl.cast(pl.load(b, [0, 0], [32, 64]), IN), [0, 0], [32, 64], o)
        return o
'''
SMALL_CASES = [(small, other) for small in ("FP8E4M3FN", "FP8E5M2") for other in ("FP32", "FP16", "BF16")]
INCLUDES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "libsimpler", "device", "include")


def program(body, out):
    lines = body.split("; ") + ["o = pl.store(t, [0, 0], [32, 32], o)", "return o"]
    return pl.parse(HEAD.replace("OUT", out) + "".join(f"        {line}\n" for line in lines))


def cube_program(body, element):
    head = CUBE_HEAD.replace("IN", f"pl.{element}").replace("OUT", f"pl.{ELEMENTS[element]}")
    return pl.parse(head.replace("pl.pl.", "pl.") + "".join(f"        {line}\n" for line in body.split("; ") + ["return o"]))


def mx_program(body):
    return pl.parse(MX_HEAD + "".join(f"        {line}\n" for line in body.split("; ") + ["return o"]))


def small_program(small, other):
    return pl.parse(SMALL_HEAD.replace("IN]", f"pl.{small}]").replace("IN)", f"pl.{small})")
                    .replace("FROM", f"pl.{other}"))


def assemble(p, arch, folder):
    lowered = passes.PassManager.get_strategy("PTOAS", "a5" if arch else "a2a3").run_passes(p)
    (folder / "k.pto").write_text(_core.generate(lowered, "pto", "k", arch))
    done = subprocess.run([_compile.find_ptoas(), folder / "k.pto", "--enable-insert-sync", *(["--pto-arch=a5"] if arch else [])],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def cce_text(p, arch):
    lowered = passes.PassManager.get_strategy("Default", "a5" if arch else "a2a3").run_passes(p)
    return _core.generate(lowered, "cce", "k", arch)


@pytest.mark.parametrize("body, out", CASES, ids=[c for c, _ in CASES])
def test_operator_is_generated_for_both_platforms(body, out, tmp_path):
    p = program(body, out)
    for arch in (0, 1):
        assemble(p, arch, tmp_path)
        assert cce_text(p, arch).count("TSTORE(") == body.count("pl.store(") + 1


@pytest.mark.parametrize("body, element", CUBE_CASES)
def test_matrix_operator_is_generated_for_both_platforms(body, element, tmp_path):
    p = cube_program(body, element)
    for arch in (0, 1):
        assemble(p, arch, tmp_path)
        assert cce_text(p, arch).count("TSTORE(") == body.count("store(")


@pytest.mark.parametrize("body", MX_CASES)
def test_operator_with_scales_is_generated_for_a5(body, tmp_path):
    p = mx_program(body)
    assemble(p, 1, tmp_path)
    assert cce_text(p, 1).count("TMATMUL") == body.count("matmul")


@pytest.mark.parametrize("small, other", SMALL_CASES)
def test_conversion_of_eight_bit_floats_is_generated_for_a5(small, other, tmp_path):
    p = small_program(small, other)
    assemble(p, 1, tmp_path)
    assert cce_text(p, 1).count("TCVT(") == (2 if other == "FP32" else 4)  # the others go by way of FP32


@pytest.mark.parametrize("arch, number", [(0, 2201), (1, 3510)])
@pytest.mark.parametrize("core", ["VEC", "CUBE"])
def test_the_text_of_every_operator_compiles(core, arch, number, tmp_path):
    """All kernels in one file, each in a namespace of its own: the headers are read once."""
    made = [program(*c) for c in CASES] if core == "VEC" else [cube_program(*c) for c in CUBE_CASES]
    if arch:
        made += [small_program(*c) for c in SMALL_CASES] if core == "VEC" else [mx_program(c) for c in MX_CASES]
    parts = ["#include <cmath>\n#include <cstdint>\n#include <algorithm>\n#include <pto/pto-inst.hpp>\n#include \"tensor.h\"\n"
             "#include \"intrinsic.h\"\nusing namespace pto;\n"]
    for i, p in enumerate(made):
        lines = [line for line in cce_text(p, arch).splitlines() if not line.startswith(("#include", "using namespace"))]
        text = "\n".join(lines).replace('extern "C" ', "").replace("kernel_entry", f"kernel_{i}")
        parts.append(f"namespace case_{i} {{\n{text}\n}}\n")
    (tmp_path / "all.cpp").write_text("".join(parts))
    done = subprocess.run(["g++", "-fsyntax-only", "-std=gnu++20", f"-I{INCLUDES}", "-D__CPU_SIM", f"-D__DAV_{core}__",
                           f"-D__NPU_ARCH__={number}", tmp_path / "all.cpp"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]


def test_every_operator_with_an_instruction_is_among_the_cases():
    import re
    seen = set(re.findall(r"pl\.(\w+)\(", " ".join([HEAD, CUBE_HEAD, *(c for c, _ in CASES), *CUBES, *MX_CASES])))
    named = {pl_name for name, pl_name, *_ in _core.operators() if name.startswith("block.") and pl_name}
    assert named - seen == {"alloc"}  # which passes make
