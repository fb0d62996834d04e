# SPDX-License-Identifier: MIT
"""Programs that once crashed, were accepted though wrong, or were refused without a place."""
import re

import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import _compile, _core, ir, passes  # noqa: E402

T = "pl.Tensor[[32, 32], pl.FP32]"
KERNEL = f'''
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: {T}, n: pl.INT32, o: pl.Out[{T}]) -> {T}:
        x = pl.load(a, [0, 0], [32, 32])
BODY
        o = pl.store(x, [0, 0], o)
        return o
'''


def kernel(body):
    return pl.parse(KERNEL.replace("BODY", "\n".join(f"        {line}" for line in body.split("; "))), "user.py")


def lower(p):
    """Both back ends' text of the kernel, and the lowered program of the second."""
    texts = []
    for strategy, what in (("PTOAS", "pto"), ("Default", "cce")):
        lowered = passes.PassManager.get_strategy(strategy).run_passes(p)
        texts.append(_core.generate(lowered, what, "k", 0))
    return *texts, lowered


@pytest.mark.parametrize("body, golden", [
    ("pl.exp(x); n + 1; pl.get_block_idx()", lambda a: a),
    ("q = [x, x]; x = pl.add(q[0], q[1])", lambda a: a + a),
    ("y = pl.exp(x); x, y = y, x; y, x = y, pl.sub(x, y)", lambda a: np.exp(a) - a),
    ("i = pl.cast(pl.muls(x, 0), pl.INT32); x = pl.add(pl.scatter(x, x, i), x)", None),
    ("y = pl.neg(x); for i in pl.range(n):;     x, y = y, x", lambda a: -a),
    ("y = pl.neg(x); z = pl.exp(x); for i in pl.range(n):;     x, y, z = y, z, x", lambda a: a),
    ("y = pl.neg(x); while n > 0:;     x, y = y, x;     n = n - 1", lambda a: -a),
], ids=["values nobody takes", "elements", "swap", "scatter into its source", "swap in a loop", "rotation", "swap in a while"])
def test_program_compiles_and_keeps_its_meaning(body, golden):
    p = kernel(body.replace(":;", ":\n       ").replace(";     ", "\n            "))
    _, _, lowered = lower(p)
    a = np.random.default_rng(1).standard_normal((32, 32)).astype(np.float32)
    results = [np.asarray(ir.interpret(q, a.copy(), 3, np.zeros((32, 32), np.float32), function="k")) for q in (p, lowered)]
    np.testing.assert_array_equal(*results)
    if golden:
        np.testing.assert_allclose(results[0], golden(a), rtol=1e-6)


@pytest.mark.parametrize("body, cls, message, column", [
    ("q = 2 ** 100", pl.ParserTypeError, "does not fit into INDEX", 13),
    ("q = 9223372036854775807 + 1", pl.ParserTypeError, "does not fit into INDEX", 13),
    ("q = 1 << 70", pl.ParserTypeError, "does not fit into INDEX", 13),
    ("q = n << 32", pl.ParserTypeError, "does not fit into INT32", 13),
    ("x = pl.add(x, 10 ** 400)", pl.ParserTypeError, "does not fit into INDEX", 23),
    ("x = pl.reshape(x, [n, 32])", pl.InvalidOperationError, "requires constant extents for a tile", 13),
    ("x = pl.reshape(x, [-1, 64])", pl.InvalidOperationError, "requires constant extents for a tile", 13),
    ("x = pl.load(a, [0, 0], [-1, 32])", pl.InvalidOperationError, "requires positive extents, but got [-1, 32]", 13),
    ("x = pl.load(a, [0, 0], [0, 0])", pl.InvalidOperationError, "requires positive extents, but got [0, 0]", 13),
    ("x = pl.extract(x, 0, 0, [64, 64])", pl.InvalidOperationError, "reaches outside of [32, 32]", 13),
    ("x = pl.extract(x, -1, 0, [16, 16])", pl.InvalidOperationError, "reaches outside of [32, 32]", 13),
    ("x = pl.mul(x, pl.getval(x, -1))", pl.InvalidOperationError, "has no element -1: the tile [32, 32] has 1024", 23),
    ("x = pl.mul(x, pl.getval(x, 1024))", pl.InvalidOperationError, "has no element 1024", 23),
    ("pl.setval(x, 5000, 1.0)", pl.InvalidOperationError, "has no element 5000", 9),
    ("x = pl.gather(x, x)", pl.InvalidOperationError, "requires indices that are integers, but got FP32", 13),
    ("x = pl.scatter(x, x, x)", pl.InvalidOperationError, "requires indices that are integers, but got FP32", 13),
    ("y = pl.sort32(x, x)", pl.InvalidOperationError, "requires indices that are integers, but got FP32", 13),
    ("t = pl.create_tensor([-1, 32], dtype=pl.FP32)", pl.InvalidOperationError, "cannot make a tensor of shape [-1, 32]", 13),
    ("t = pl.create_tensor([1099511627776, 1099511627776], dtype=pl.FP32)", pl.InvalidOperationError, "cannot make a tensor", 13),
])
def test_mistake_is_refused_where_it_stands(body, cls, message, column):
    with pytest.raises(cls, match=re.escape(message)) as info:
        kernel(body)
    assert [(e.span.filename, e.span.line, e.span.column) for e in info.value.errors] == [("user.py", 7, column)]


@pytest.mark.parametrize("body, name", [
    ("x = {1: x}", "Dict"), ("x = {x}", "Set"), ("x = 'text'", "string"), ("x = None", "None"), ("x = x[0:4]", "Slice"),
    ("x = [i for i in x]", "ListComp"), ("x = (i for i in x)", "GeneratorExp"), ("x = lambda q: q", "Lambda"),
    ("x = x if n else x", "IfExp"), ("x = (y := x)", "NamedExpr"), ("x = f'{n}'", "JoinedStr"), ("x = 1j", "complex"),
    ("x = b'1'", "bytes"), ("x = ...", "ellipsis"), ("yield x", "Yield"), ("x = yield from x", "YieldFrom"),
    ("class G: pass", "ClassDef"), ("async def g(): pass", "AsyncFunctionDef"), ("def g(): pass", "FunctionDef"),
    ("import os", "Import"), ("from os import path", "ImportFrom"), ("raise x", "Raise"), ("assert n", "Assert"),
    ("del x", "Delete"), ("match n:;     case 1:;         x = x", "Match"),
])
def test_unsupported_python_is_named_with_an_alternative(body, name):
    with pytest.raises(pl.UnsupportedFeatureError, match=f"Unsupported (expression|statement) type: {name}") as info:
        kernel(body.replace(";     ", "\n            "))
    error = info.value.errors[0]
    assert error.hint and (error.span.filename, error.span.line) == ("user.py", 7)


@pytest.mark.parametrize("text, cls, message, place", [
    ("@pl.program", pl.ParserSyntaxError, "invalid syntax", (1, 1)),
    ("x = 1\n@pl.program\ndef f(x: pl.INT64):\n  return x", pl.ParserTypeError, "@pl.program cannot decorate a function", (2, 1)),
    ("@pl.function\nclass P:\n  pass", pl.ParserTypeError, "@pl.function cannot decorate a type", (1, 1)),
    ("@pl.function\n@staticmethod\ndef f(x: pl.INT64):\n  y = x", pl.ParserTypeError, "cannot decorate a staticmethod", (1, 1)),
    ("@pl.function\nasync def f(x: pl.INT64):\n  y = x", pl.UnsupportedFeatureError, "AsyncFunctionDef", (1, 1)),
    ("@pl.function\ndef f(x: pl.INT64):\n  y = " + "-" * 3000 + "x", pl.ParserSyntaxError, "nested too deeply", (3, 1)),
    ("@pl.function\ndef f(x: pl.INT64):\n  y = " + "9" * 5000, pl.ParserSyntaxError, "does not fit into 64 bits", (3, 1)),
    ("@pl.function\ndef f(x: pl.INT64):\n  y = '\ud800'", pl.ParserSyntaxError, "is none", (3, 8)),
    ("x = 1\ny = '\0'\n", pl.ParserSyntaxError, "null bytes", (2, 6)),
], ids=lambda v: None)
def test_what_python_refuses_has_a_place_in_the_text(text, cls, message, place):
    with pytest.raises(cls, match=re.escape(message)) as info:
        pl.parse(text, "user.py")
    span = info.value.span
    assert (span.filename, span.line, span.column) == ("user.py", *place)


def test_a_text_may_begin_with_a_byte_order_mark():
    assert pl.parse("\ufeff@pl.function\ndef f(x: pl.INT64):\n  y = x\n").name == "f"


def test_the_type_of_a_function_is_one_of_the_enumeration():
    with pytest.raises(RuntimeError, match="type must be a pl.FunctionType, not 3"):
        pl.parse("@pl.function(type=3)\ndef f(x: pl.INT64):\n  y = x\n")


def test_a_wrong_return_annotation_is_one_mistake():
    with pytest.raises(pl.ParserTypeError, match="Unknown dtype: int") as info:
        pl.parse("@pl.function\ndef f(x: pl.INT64) -> int:\n  return x\n")
    assert len(info.value.errors) == 1


def test_what_only_the_cpp_compiler_refuses_is_a_mistake_of_the_author(tmp_path, monkeypatch):
    from pypto import runtime
    from simpler_setup import KernelCompiler

    def refuse(*_):
        raise RuntimeError("k.cpp:7:3: error: a static assertion of the headers\nk.cpp:9:1: error: another")

    monkeypatch.setenv("SIMPLER_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(KernelCompiler, "compile_incore", refuse)
    p = pl.parse(KERNEL.replace("BODY", "        x = pl.add(x, x)") + f'''
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: {T}, o: pl.Out[{T}]) -> {T}:
        o = self.k(a, 1, o)
        return o
''', "user.py")
    for backend in ("PTO", "CCE"):
        with pytest.raises(pl.CompileError, match="refuses kernel 'k': a static assertion of the headers") as info:
            runtime.compile(p, "a2a3sim", backend)
        assert (info.value.span.filename, info.value.span.line) == ("user.py", 5)


def test_lines_of_the_text_that_is_meant():
    text = "import pypto.language as pl\n" + KERNEL.replace("BODY", "        x = pl.exp(x)")
    lowered = passes.PassManager.get_strategy("PTOAS").run_passes(pl.parse(text))
    pl.parse("import pypto.language as pl\n" * 20 + "@pl.function\ndef f(x: pl.INT32):\n    y = x\n")  # the same file name
    error = _compile.explain(lowered, "k", 0, "k.cpp:7: error: no such thing")
    assert "refuses kernel 'k': no such thing" in str(error) and "    def k(self, a" in str(error)
    line = next(i for i, line in enumerate(_core.generate(lowered, "pto", "k", 0).splitlines(), 1) if "pto.texp" in line)
    place, call, lines = _core.place_of(lowered, "k", 0, line)
    assert call.startswith("pl.exp(x)") and lines[place[1] - 1] == "        x = pl.exp(x)\n"
