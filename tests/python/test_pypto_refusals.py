# SPDX-License-Identifier: MIT
"""Element types: what an operator does not compute with is refused by PyPTO, by both back ends alike, never by ptoas."""
import re
import subprocess

import pytest

pl = pytest.importorskip("pypto.language")
from pypto import _compile, _core, passes  # noqa: E402
from test_pypto_gen_operators import CUBE_HEAD, CUBES, FLOATS, HEAD, SHORTS  # noqa: E402

DTYPES = "INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32 UINT64 FP16 BF16 FP32 BOOL".split()
BODIES = [c for c in dict.fromkeys(FLOATS + SHORTS) if "cast(" not in c]


def vector(body, dtype):
    lines = body.split("; ") + ["o = pl.store(t, [0, 0], [32, 32], o)", "return o"]
    head = HEAD.replace("pl.FP32", f"pl.{dtype}").replace("OUT", f"pl.Tensor[[32, 32], pl.{dtype}]")
    return pl.parse(head + "".join(f"        {line}\n" for line in lines))


def cube(body, dtype):
    out = "INT32" if "INT" in dtype else "FP32"
    head = CUBE_HEAD.replace("IN", f"pl.{dtype}").replace("OUT", f"pl.{out}").replace("pl.pl.", "pl.")
    return pl.parse(head + "".join(f"        {line}\n" for line in body.split("; ") + ["return o"]))


def cast(source, target):
    return pl.parse(f'''
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[32, 32], pl.{source}], o: pl.Out[pl.Tensor[[32, 32], pl.{target}]]) -> \
pl.Tensor[[32, 32], pl.{target}]:
        x = pl.load(a, [0, 0], [32, 32])
        o = pl.store(pl.cast(x, pl.{target}), [0, 0], [32, 32], o)
        return o
''')


def text_or_refusal(program, what, arch):
    """The text of a back end, or the first mistake that it tells."""
    try:
        lowered = passes.PassManager.get_strategy("PTOAS" if what == "pto" else "Default", "a5" if arch else "a2a3")
        return _core.generate(lowered.run_passes(program), what, "k", arch), None
    except pl.ParserError as e:
        return None, (type(e).__name__, e.message, e.span.line)


def check(made, arch, folder):
    """Both back ends agree, and the assembler takes what they take."""
    text, refusal = text_or_refusal(made, "pto", arch)
    _, other = text_or_refusal(made, "cce", arch)
    assert refusal == other
    if refusal:
        assert refusal[2] and not re.search(r"pto\.|ptoas", refusal[1])
        return False
    (folder / "k.pto").write_text(text)
    done = subprocess.run([_compile.find_ptoas(), folder / "k.pto", *(["--pto-arch=a5"] if arch else [])],
                          capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return True


def parsed(make, *args):
    try:
        return make(*args)
    except pl.InvalidOperationError:
        return None


@pytest.mark.parametrize("n", range(len(BODIES)), ids=BODIES)
def test_element_types_of_operator(n, tmp_path):
    """Each type on one of the platforms, which take turns."""
    taken = 0
    for i, dtype in enumerate(DTYPES):
        made = parsed(vector, BODIES[n], dtype)
        taken += made is not None and check(made, (i + n) % 2, tmp_path)
    assert taken


@pytest.mark.parametrize("body", CUBES)
def test_element_types_of_product(body, tmp_path):
    taken = [dtype for i, dtype in enumerate(DTYPES)
             if (made := parsed(cube, body, dtype)) is not None and check(made, i % 2, tmp_path)]
    assert taken and {"FP16", "BF16", "FP32", "INT8"} >= set(taken) - {"UINT8"}


@pytest.mark.parametrize("source", DTYPES)
def test_every_type_is_converted_to_every_other(source, tmp_path):
    for arch in (0, 1):
        assert [target for target in DTYPES if check(cast(source, target), arch, tmp_path)] == DTYPES, f"arch {arch}"


@pytest.mark.parametrize("body, message", [
    ("t = pl.add(pl.cmp(x, y), pl.cmp(x, y))", "The operator block.add requires numbers, but got a mask of BOOL"),
    ("t = pl.scatter(x, y, pl.cast(i, pl.INT16))", "requires INT32 indices for FP32 elements, but got INT16"),
    ("t = pl.mgather(a, pl.cast(i, pl.INT16))", "requires INT32 indices, but got INT16"),
    ("t = pl.add(x, pl.ci(0, [32, 32]))", "makes one row, [1, n], not [32, 32]"),
    ("pl.setval(i, 0, 1.5); t = x", "cannot take a FP32 scalar with INT32 elements"),
    ("t = x; c = pl.fillpad(i, pad=-2.5)", "cannot fill INT32 elements with -2.5"),
])
def test_element_types_that_do_not_meet_are_refused_by_the_type_rule(body, message):
    with pytest.raises(pl.InvalidOperationError, match=re.escape(message)):
        vector_mixed(body)


def vector_mixed(body):
    """vector() whose other inputs keep their types."""
    lines = body.split("; ") + ["o = pl.store(t, [0, 0], [32, 32], o)", "return o"]
    return pl.parse(HEAD.replace("OUT", "pl.Tensor[[32, 32], pl.FP32]") + "".join(f"        {line}\n" for line in lines))


@pytest.mark.parametrize("body, message", [
    ("t = pl.cast(pl.row_expand_mul(pl.cast(x, pl.FP16), pl.row_sum(y)), pl.FP32)",
     "pl.row_expand_mul() takes a vector with the tile's elements, FP16, but got FP32"),
    ("v = pl.load(a, [0, 0], [32, 32], valid_shapes=[7, 32]); t = pl.fillpad(pl.row_expand_mul(v, pl.row_sum(y)))",
     "pl.row_expand_mul() takes a vector that is valid as far as the tile"),
    ("t = pl.cast(pl.gather(pl.cast(x, pl.BF16), i), pl.FP32)", "pl.gather() does not compute with BF16 elements on a2a3"),
    ("t = pl.gather(x, h)", "pl.gather() takes INT32 indices on a2a3, but got INT16"),
])
def test_both_back_ends_refuse_with_the_same_words(body, message):
    refusals = {text_or_refusal(vector_mixed(body), what, 0)[1] for what in ("pto", "cce")}
    assert len(refusals) == 1 and message in refusals.pop()[1]


@pytest.mark.parametrize("source", ["Vec", "Mat", "Acc"])
@pytest.mark.parametrize("target", ["Vec", "Mat", "Left", "Right", "Bias"])
@pytest.mark.parametrize("arch, platform", [(0, "a2a3"), (1, "a5")])
def test_both_back_ends_refuse_moves_that_no_platform_has(source, target, arch, platform):
    there = {("Mat", "Left"), ("Mat", "Right"), ("Mat", "Bias"), ("Vec", "Vec"), ("Acc", "Mat"), ("Acc", "Vec")}
    there |= {("Vec", "Mat")} if arch else set()
    rows = 1 if target == "Bias" else 16
    make = f"pl.create_tile([{rows}, 16], dtype=pl.FP32, target_memory=pl.MemorySpace.{source})"
    text = ("@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n    def k(self):\n"
            f"        t = {make}\n        u = pl.move(t, target_memory=pl.MemorySpace.{target})\n")
    for strategy, what in (("PTOAS", "pto"), ("Default", "cce")):
        program = passes.PassManager.get_strategy(strategy, platform).run_passes(pl.parse(text))
        if (source, target) in there:
            assert "mov ins" in _core.generate(program, "pto", "k", arch) or "TMOV(" in _core.generate(program, "cce", "k", arch)
            continue
        with pytest.raises(pl.CompileError, match=f"no way from {source} to {target} on {platform}") as info:
            _core.generate(program, what, "k", arch)
        assert (info.value.span.line, info.value.span.column) == (6, 13)


@pytest.mark.parametrize("line, message, place", [
    ("t = pl.matmul(x, r)", "pl.matmul() needs its left operand in Left, not in Mat", (9, 13)),
    ("t = pl.matmul(l, y)", "pl.matmul() needs its right operand in Right, not in Mat", (9, 13)),
    ("t = pl.gemv(r, l)", "pl.gemv() needs its left operand in Left, not in Right", (9, 13)),
    ("t = pl.matmul_acc(pl.matmul(l, r), l, l)", "pl.matmul_acc() needs its right operand in Right, not in Left", (9, 13)),
])
@pytest.mark.parametrize("strategy", ["Default", "PTOAS"])
def test_operands_of_products_are_in_their_memories(strategy, line, message, place):
    mat, move = "target_memory=pl.MemorySpace.Mat", "target_memory=pl.MemorySpace."
    text = ("@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n"
            "    def k(self, a: pl.Tensor[[16, 16], pl.FP32], o: pl.Out[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:\n"
            f"        x = pl.load(a, [0, 0], [16, 16], {mat})\n        y = pl.load(a, [0, 0], [16, 16], {mat})\n"
            f"        l = pl.move(x, {move}Left)\n        r = pl.move(y, {move}Right)\n        {line}\n"
            "        o = pl.store(t, [0, 0], [16, 16], o)\n        return o\n")
    with pytest.raises(pl.InvalidOperationError, match=re.escape(message)) as info:
        passes.PassManager.get_strategy(strategy).run_passes(pl.parse(text))
    assert (info.value.span.line, info.value.span.column) == place


@pytest.mark.parametrize("dtype, bits", [("INT8", 8), ("INT16", 16), ("INT32", 32), ("UINT32", 32)])
@pytest.mark.parametrize("form, name", [("x << {}", "shls"), ("x >> {}", "shrs"), ("pl.shls(x, {})", "shls"), ("pl.shrs(x, {})", "shrs")])
def test_shifts_by_as_many_bits_as_there_are_are_refused(dtype, bits, form, name):
    vector(f"t = {form.format(bits - 1)}", dtype)
    with pytest.raises(pl.InvalidOperationError, match=re.escape(f"pl.{name}() cannot shift {dtype} elements by {bits} bits")) as info:
        vector(f"t = {form.format(bits)}", dtype)
    assert info.value.hint == f"Shift by 0 to {bits - 1} bits"
