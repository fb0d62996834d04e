# SPDX-License-Identifier: MIT
"""The PyPTO front end: conformance cases of pypto.md section 17 (numbers in the names) and every class of error."""
import pytest

pl = pytest.importorskip("pypto.language")
from pypto import _errors, ir, passes  # noqa: E402

HEAD = ("@pl.function(type=pl.FunctionType.InCore)\n"
        "def k(a: pl.Tensor[[16, 16], pl.FP32], v: pl.Tensor[[8], pl.FP32], o: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):\n")


def kernel(*lines):
    return pl.parse(HEAD + "".join(f"    {line}\n" for line in lines))


def last(function):
    """The value of the last assignment."""
    body = function.body
    stmts = body.stmts if body.node_kind == "SeqStmts" else [body]
    return [s for s in stmts if s.node_kind == "AssignStmt"][-1].value


def mistakes(*lines, head=HEAD):
    with pytest.raises(pl.ParserError) as info:
        pl.parse(head + "".join(f"    {line}\n" for line in lines))
    return info.value.errors


def one(cls, text, *lines, line=None, column=None, hint=None):
    errors = mistakes(*lines)
    assert len(errors) == 1, [e.message for e in errors]
    error = errors[0]
    assert type(error) is cls and text in error.message, error.message
    if line:
        assert (error.span.line, error.span.column) == (line, column)
    if hint:
        assert hint in error.hint
    return error


def test_case_1_bare_dtype_is_scalar():
    a = pl.parse("@pl.function\ndef f(x: pl.INT64):\n    y = x + 1\n")
    b = pl.parse("@pl.function\ndef f(x: pl.Scalar[pl.INT64]):\n    y = x + 1\n")
    assert ir.structural_equal(a, b)


def test_case_2_scalar_cannot_be_inout():
    with pytest.raises(pl.ParserTypeError, match="Scalar parameters cannot have InOut direction") as info:
        pl.parse("@pl.function\ndef f(s: pl.InOut[pl.Scalar[pl.FP32]]):\n    y = s\n")
    assert "Tensor and Tile" in info.value.hint
    assert (info.value.span.line, info.value.span.column) == (2, 10)


def test_case_3_missing_annotation_shows_place():
    with pytest.raises(pl.ParserTypeError) as info:
        pl.parse("@pl.function\ndef f(a: pl.INT64, x):\n    y = a\n", "prog.py")
    assert info.value.message == "Parameter 'x' missing type annotation"
    text = str(info.value)
    assert "--> prog.py:2:20" in text
    assert "2 | def f(a: pl.INT64, x):" in text
    assert text.splitlines()[4].index("^") == text.splitlines()[3].index("x)")


def test_case_4_class_without_methods():
    with pytest.raises(pl.ParserSyntaxError, match="Class 'Empty' contains no @pl.function decorated methods"):
        @pl.program
        class Empty:
            pass


def test_case_5_self_is_dropped():
    @pl.program
    class P:
        @pl.function(type=pl.FunctionType.InCore)
        def k(self, a: pl.Tensor[[8], pl.FP32]):
            t = pl.load(a, [0], [8])  # noqa: F841
    assert [p.name for p in P.functions["k"].params] == ["a"]


def test_case_6_directions():
    f = pl.parse("@pl.function\ndef f(a: pl.Tensor[[8], pl.FP32], b: pl.Out[pl.Tensor[[8], pl.FP32]],\n"
                 "      c: pl.InOut[pl.Tensor[[8], pl.FP32]], d: pl.Scalar[pl.FP32]):\n    x = d\n")
    assert f.param_directions == [0, 1, 2, 0]


def test_case_7_shape_from_closure():
    n = 32
    m = 64

    @pl.function
    def f(a: pl.Tensor[[n, m], pl.FP32]):
        x = a  # noqa: F841
    assert f.params[0].type.shape == [32, 64]


def test_case_8_dynamic_extents_are_shared_by_name():
    M = pl.dynamic("M")

    @pl.function
    def f(a: pl.Tensor[[M, 8], pl.FP32], b: pl.Tensor[[M], pl.FP32]):
        x = a  # noqa: F841
    assert f.params[0].type.shape[0] == f.params[1].type.shape[0]
    with pytest.raises(ValueError):
        pl.dynamic("1M")


def test_case_9_for_needs_range():
    error = one(pl.ParserSyntaxError, "pl.range(), pl.parallel(), pl.unroll(), or pl.while_()", "for i in [1, 2]:",
                "    x = 1", line=3, column=14)
    assert error.code == "E001"


def test_case_10_iter_args_and_init_values_must_match():
    one(pl.ParserSyntaxError, "Mismatch: 3 iter_args but 2 init_values",
        "for i, (p, q, r) in pl.range(4, init_values=(a, a)):", "    pl.yield_(p, q)", line=3, column=12)


def test_case_11_unsupported_statement():
    one(pl.UnsupportedFeatureError, "Unsupported statement type: Try", "try:", "    x = 1", "except E:", "    x = 2",
        line=3, column=5)


def test_case_12_undefined_function_lists_others():
    with pytest.raises(pl.UndefinedVariableError, match="Function 'nope' not defined in program") as info:
        @pl.program
        class P:
            @pl.function(type=pl.FunctionType.Orchestration)
            def main(self, x: pl.Tensor[[8], pl.FP32]):
                self.nope(x)
    assert "main" in info.value.hint


def test_case_13_block_namespace_is_refused():
    one(pl.InvalidOperationError, "pl.block", "pl.block.add(a, a)", hint="pl.add")


def test_case_14_dispatch_by_type():
    f = kernel("t = pl.load(a, [0, 0], [16, 16])", "x = pl.add(t, t)")
    assert last(f).op == "block.add"
    assert last(kernel("x = pl.add(a, a)")).op == "tensor.add"
    assert last(kernel("t = pl.load(a, [0, 0], [16, 16])", "x = pl.add(t, 2.0)")).op == "block.adds"
    assert last(kernel("x = pl.add(a, 2.0)")).op == "tensor.add_scalar"


def test_case_15_no_exp_of_scalars():
    one(pl.InvalidOperationError, "Operation 'exp' is not supported for scalar arguments", "x = pl.exp(1.0)")
    with pytest.raises(pl.InvalidOperationError, match="Operation 'exp' is not supported for scalar arguments") as info:
        pl.parse("@pl.function\ndef f(s: pl.Scalar[pl.FP32]):\n    x = pl.exp(s)\n")
    assert info.value.hint == "Supported scalar ops: min, max"
    assert (info.value.span.line, info.value.span.column) == (3, 9)


def test_case_16_shapes_must_be_compatible():
    one(pl.InvalidOperationError, "requires compatible shapes, but got [16, 16] and [8]", "x = pl.add(a, v)")
    with pytest.raises(pl.InvalidOperationError, match=r"requires compatible shapes, but got \[4, 8\] and \[5\]") as info:
        pl.parse("@pl.function\ndef f(a: pl.Tensor[[4, 8], pl.FP32], b: pl.Tensor[[5], pl.FP32]):\n    x = pl.add(a, b)\n")
    assert (info.value.span.line, info.value.span.column) == (3, 9)


@pytest.mark.parametrize("a, b, result", [("FP16", "FP32", "FP32"), ("INT32", "UINT32", "INT32"),
                                          ("INT32", "FP16", "FP16")])
def test_case_17_promotion(a, b, result):
    f = kernel(f"x = pl.create_tile([8, 8], dtype=pl.{a})", f"y = pl.create_tile([8, 8], dtype=pl.{b})",
               "z = pl.mul(x, y)")
    assert last(f).type.dtype == result


def test_case_18_load_goes_to_vec_or_mat():
    with pytest.raises(ValueError, match="Vec or Mat"):
        kernel("t = pl.load(a, [0, 0], [16, 16], target_memory=pl.MemorySpace.Left)")


def test_case_19_short_store_is_the_long_one():
    load = "t = pl.load(a, [0, 0], [16, 16])"
    long = kernel(load, "o = pl.store(t, [0, 0], [16, 16], o)")
    assert ir.structural_equal(long, kernel(load, "o = pl.store(t, [0, 0], o)"))


def matmul(dtype, k=128):
    return kernel(f"l = pl.create_tile([64, 128], dtype=pl.{dtype}, target_memory=pl.MemorySpace.Left)",
                  f"r = pl.create_tile([{k}, 32], dtype=pl.{dtype}, target_memory=pl.MemorySpace.Right)",
                  "c = pl.matmul(l, r)")


def test_case_20_matmul():
    t = last(matmul("FP16")).type
    view = t.tile_view
    assert (t.shape, t.dtype) == ([64, 32], "FP32")
    assert (view["blayout"], view["slayout"], view["fractal"]) == ("col_major", "row_major", 1024)
    assert last(matmul("INT8")).type.dtype == "INT32"
    with pytest.raises(pl.InvalidOperationError, match="equal inner extents"):
        matmul("FP16", k=64)


def test_case_21_reshape_keeps_the_number_of_elements():
    one(pl.InvalidOperationError, "cannot reshape", "t = pl.load(a, [0, 0], [4, 8])", "u = pl.reshape(t, [8, 8])")


def test_case_22_text_entry_points():
    two = "@pl.function\ndef f(x: pl.INT64):\n    y = x\n@pl.function\ndef g(x: pl.INT64):\n    y = x\n"
    with pytest.raises(ValueError, match="Multiple functions/programs found"):
        pl.parse(two)
    with pytest.raises(ValueError, match="No @pl.function or @pl.program found"):
        pl.parse("x = 1")
    with pytest.raises(SyntaxError, match="Failed to compile code from"):
        pl.parse("def f(:\n")
    with pytest.raises(RuntimeError, match="Error executing code from"):
        pl.parse("1 / 0")
    with pytest.raises(FileNotFoundError):
        pl.loads("/nonexistent/program.py")
    with pytest.raises(ValueError, match="Expected @pl.program but found @pl.function"):
        pl.parse_program("@pl.function\ndef f(x: pl.INT64):\n    y = x\n")


def test_case_23_incore_region_is_a_scope():
    f = pl.parse("@pl.function\ndef f(x: pl.InOut[pl.Tensor[[8], pl.FP32]]):\n    with pl.incore():\n"
                 "        t = pl.load(x, [0], [8])\n        x = pl.store(t, [0], [8], x)\n")
    assert f.body.node_kind == "ScopeStmt" and str(f).splitlines()[2] == "    with pl.incore():"


def test_case_61_no_cluster_allocation_in_kernels():
    one(pl.InvalidOperationError, "allocate_cluster", "c = pl.allocate_cluster()")


# ---- Errors ----

def test_independent_mistakes_are_all_reported_once_and_in_order():
    errors = mistakes("x = y + 1", "z = x + q", "w = pl.load(a, [0, 0], [4, 4])", "w = pl.add(w, v)", "u = pl.exp(w)",
                      "y = y + 2")
    assert [(e.span.line, e.span.column) for e in errors] == [(3, 9), (4, 13), (6, 9)]


def test_the_caret_is_under_the_character_after_wide_ones():
    errors = mistakes("é = zz + 1")
    assert (errors[0].span.line, errors[0].span.column) == (3, 9)


@pytest.mark.parametrize("line, hint", [
    ("x = pl.laod(a, [0, 0], [16, 16])", "Did you mean pl.load?"),
    ("x = pl.row_mx(a)", "Did you mean pl.row_max?"),
    ("x = a.exp()", "Values have no methods; use pl.exp()"),
])
def test_what_was_meant_is_suggested(line, hint):
    error = one(pl.UnsupportedFeatureError, "Unsupported function call", line)
    assert error.hint == hint


def test_nothing_is_suggested_for_a_name_like_no_other():
    assert not one(pl.UnsupportedFeatureError, "Unsupported function call: pl.qqqq", "x = pl.qqqq(a)").hint


def test_an_unknown_name_is_said_to_be_unknown():
    one(pl.ParserTypeError, "pypto.language has no name 'FP23'", "x = pl.cast(a, pl.FP23)")


def test_the_label_under_a_mistake_is_the_first_sentence_of_the_message():
    error = one(pl.UnsupportedFeatureError, "pl.laod", "x = pl.laod(a)")
    assert "^ Unsupported function call: pl.laod\n" in str(error) + "\n"


@pytest.mark.parametrize("cls, place, text, lines", [
    (pl.ParserSyntaxError, (3, 14), "pl.range() requires at least 1 argument (stop)", ["for i in pl.range():", "    x = 1"]),
    (pl.ParserSyntaxError, (3, 26), "Unknown keyword argument 'k' in range()", ["for i in pl.range(4, k=1):", "    x = 1"]),
    (pl.ParserSyntaxError, (3, 9), "must be a simple name or", ["for a.b in pl.range(4):", "    x = 1"]),
    (pl.ParserSyntaxError, (3, 9), "must be a tuple when init_values is provided",
     ["for i in pl.range(4, init_values=(a,)):", "    x = 1"]),
    (pl.ParserSyntaxError, (3, 20), "chunk cannot be combined with init_values",
     ["for i, (x,) in pl.range(4, init_values=(a,), chunk=2):", "    pl.yield_(x)"]),
    (pl.ParserSyntaxError, (3, 17), "pl.while_() requires init_values", ["for (x,) in pl.while_():", "    pl.cond(True)"]),
    (pl.ParserSyntaxError, (4, 9), "First statement in pl.while_() body must be pl.cond(condition)",
     ["for (x,) in pl.while_(init_values=(1,)):", "    pl.yield_(x)"]),
    (pl.ParserSyntaxError, (3, 29), "The step of a loop must not be zero", ["for i in pl.range(0, 4, 0):", "    x = i"]),
    (pl.ParserSyntaxError, (3, 9), "Only simple comparisons supported", ["x = 1 < 2 < 3"]),
    (pl.ParserSyntaxError, (4, 5), "after the return", ["return", "x = 1"]),
    (pl.ParserTypeError, (3, 9), "Operator 'add' requires same numeric dtype category", ["x = 1 + 1.0"]),
    (pl.ParserTypeError, (3, 9), "does not fit into 64 bits", ["x = 99999999999999999999"]),
    (pl.ParserTypeError, (3, 9), "does not fit into INT8", ["x = pl.const(300, pl.INT8)"]),
    (pl.ParserTypeError, (3, 21), "Unknown dtype: FP99", ["x = pl.const(1, pl.FP99)"]),
    (pl.ParserTypeError, (3, 9), "Division by zero", ["x = 1 // 0"]),
    (pl.UndefinedVariableError, (3, 9), "Undefined variable 'x'", ["y = x"]),
    (pl.UndefinedVariableError, (5, 9), "may be undefined", ["if 1 < 2:", "    x = 1", "y = x"]),
    (pl.UndefinedVariableError, (5, 9), "may be undefined", ["for i in pl.range(4):", "    x = 1", "y = x"]),
    (pl.UnsupportedFeatureError, (4, 9), "Unsupported statement type: Break", ["while True:", "    break"]),
    (pl.UnsupportedFeatureError, (3, 9), "Unsupported expression type: IfExp", ["x = 1 if True else 2"]),
    (pl.UnsupportedFeatureError, (3, 9), "Unsupported function call: pl.loadd", ["x = pl.loadd(a)"]),
    (pl.UnsupportedFeatureError, (3, 10), "Unsupported context manager", ["with open(1):", "    x = 1"]),
    (pl.UnsupportedFeatureError, (3, 5), "Only single context manager", ["with pl.incore(), pl.incore():", "    x = 1"]),
    (pl.InvalidOperationError, (3, 9), "Unknown tensor operation: foo", ["x = pl.tensor.foo(a)"]),
    (pl.InvalidOperationError, (3, 5), "Unknown system operation: foo", ["pl.system.foo()"]),
    (pl.InvalidOperationError, (3, 9), "requires at least one argument for type dispatch", ["x = pl.add()"]),
    (pl.InvalidOperationError, (3, 9), "Scalar binary operation 'min' requires exactly 2 arguments, got 1", ["x = pl.min(1)"]),
    (pl.InvalidOperationError, (3, 38), "Unknown kwarg 'foo' for operator 'block.load'",
     ["x = pl.load(a, [0, 0], [16, 16], foo=3)"]),
    (pl.InvalidOperationError, (3, 9), "The operator block.load requires 3 to 4 arguments, but got 2", ["x = pl.load(a, [0, 0])"]),
    (pl.InvalidOperationError, (3, 9), "The operator block.load requires first argument to be a TensorType, but got ScalarType",
     ["x = pl.load(1, [0, 0], [16, 16])"]),
    (pl.InvalidOperationError, (3, 9), "reaches outside of [16, 16]", ["x = pl.load(a, [0, 8], [16, 16])"]),
    (pl.InvalidOperationError, (4, 5), "Parameter 'a' is read-only",
     ["t = pl.load(a, [0, 0], [16, 16])", "pl.store(t, [0, 0], [16, 16], a)"]),
    (pl.InvalidOperationError, (3, 9), "is not defined for TensorType", ["x = a < a"]),
    (pl.InvalidOperationError, (3, 9), "The namespace pl.block is not supported", ["x = pl.block.foo(a)"]),
    (pl.InvalidOperationError, (4, 9), "Cannot dispatch 'add': first argument has type TupleType, expected TensorType, TileType, or "
     "ScalarType", ["p = [a, a]", "x = pl.add(p, p)"]),
])
def test_error(cls, place, text, lines):
    error = one(cls, text, *lines)
    assert (error.span.filename, error.span.line, error.span.column) == ("<string>", *place)


@pytest.mark.parametrize("column, text, annotation", [
    (10, "Parameter type cannot be a tuple", "tuple[pl.INT64, pl.INT64]"),
    (25, "Unknown dtype: FP99", "pl.Tensor[[8], pl.FP99]"),
    (34, "Unknown layout: FOO", "pl.Tensor[[8], pl.FP32, pl.FOO]"),
    (20, "Shape 'word' must be a list or tuple, got str", "pl.Tensor[word, pl.FP32]"),
    (20, "Shape 'number' must be a list or tuple, got int", "pl.Tensor[number, pl.FP32]"),
    (20, "Shape 'mixed' element 1 must be int or pl.dynamic(), got str", "pl.Tensor[mixed, pl.FP32]"),
    (32, "Tile 3rd argument must be pl.MemRef(...)", "pl.Tile[[8], pl.FP32, 3]"),
])
def test_error_in_an_annotation(column, text, annotation):
    with pytest.raises(pl.ParserTypeError) as info:
        pl.parse(f"word, number, mixed = 'ab', 3, [4, 'x']\n@pl.function\ndef f(a: {annotation}):\n    x = a\n")
    (error,) = info.value.errors
    assert error.message == text and (error.span.line, error.span.column) == (3, column)


def test_error_in_the_annotation_of_the_result():
    with pytest.raises(pl.ParserTypeError) as info:
        pl.parse("@pl.function\ndef f(a: pl.INT64) -> tuple[pl.INT64, tuple[pl.INT64, pl.INT64]]:\n    return a\n")
    assert info.value.message == "Nested tuple types are not supported"
    assert (info.value.span.line, info.value.span.column) == (2, 39)




def test_strict_ssa_names_the_first_definition():
    with pytest.raises(pl.SSAViolationError, match="Variable 'x' is already defined") as info:
        pl.parse("@pl.function(strict_ssa=True)\ndef f(a: pl.INT64):\n    x = a\n    x = a\n")
    assert (info.value.span.line, info.value.span.column) == (4, 5)
    assert (info.value.previous_span.line, info.value.previous_span.column) == (3, 5)
    assert "note: Previous definition was here:" in str(info.value)


STRICT = "@pl.function(strict_ssa=True)\ndef f(a: pl.INT64, n: pl.INT64):\n"


@pytest.mark.parametrize("name, column, lines", [
    ("x", 9, ["if n > 1:", "    x = a", "y = x"]),
    ("x", 9, ["if n > 1:", "    x = a", "else:", "    x = n", "y = x"]),
    ("x", 13, ["for i in pl.range(n):", "    x = a", "y = a + x"]),
    ("x", 9, ["while n > 1:", "    x = a", "y = x"]),
    ("i", 9, ["for i in pl.range(n):", "    x = a", "y = i"]),
    ("x", 13, ["for i in pl.range(n):", "    if n > 1:", "        x = a", "    y = x"]),
])
def test_strict_ssa_names_end_with_the_body_that_defines_them(name, column, lines):
    (error,) = mistakes(*lines, head=STRICT)
    assert type(error) is pl.ScopeIsolationError and error.code == "E202"
    assert error.message == f"Variable '{name}' ends with the loop or branch that defines it"
    assert (error.span.line, error.span.column) == (2 + len(lines), column)
    assert "pl.yield_" in error.hint
    if name == "x":
        defined = [i for i, line in enumerate(lines) if line.strip().startswith("x =")][-1]
        assert error.previous_span.line == 3 + defined


def test_strict_ssa_takes_yields_and_tuples():
    text = STRICT + ("    if n > 1:\n        x = pl.yield_(a)\n    else:\n        x = pl.yield_(n)\n    y = x\n"
                     "    p, q = [a, n]\n    r, s = [p, y]\n    for i in pl.range(n):\n        z = q\n"
                     "    for j in pl.range(n):\n        z = s + r\n")
    assert pl.parse(text).name == "f"


# ---- Accepted once although wrong ----

def test_unknown_chunk_policy():
    one(pl.ParserSyntaxError, "Unknown chunk_policy: 'trailing'", "for i in pl.range(8, chunk=2, chunk_policy='trailing'):",
        "    x = i", line=3, column=48, hint='chunk_policy="leading_full"')
    one(pl.ParserSyntaxError, "chunk_policy must be a string", "for i in pl.range(8, chunk=2, chunk_policy=3):", "    x = i",
        line=3, column=48, hint='chunk_policy="leading_full"')
    one(pl.ParserSyntaxError, "chunk_policy needs chunk", "for i in pl.range(8, chunk_policy='leading_full'):", "    x = i",
        line=3, column=14)
    kernel("for i in pl.range(8, chunk=2, chunk_policy='leading_full'):", "    x = i")


@pytest.mark.parametrize("name, column, lines", [
    ("p", 16, ["for i, (p, p) in pl.range(4, init_values=(1, 2)):", "    p, q = pl.yield_(p, p)"]),
    ("i", 13, ["for i, (i,) in pl.range(4, init_values=(1,)):", "    q = pl.yield_(i)"]),
    ("p", 13, ["for (p, q, p) in pl.while_(init_values=(1, 2, 3)):", "    pl.cond(p < 3)", "    pl.yield_(p, q, p)"]),
])
def test_carried_names_of_a_loop_are_different(name, column, lines):
    if "while_" in lines[0]:
        column = 16
    one(pl.ParserSyntaxError, f"Name '{name}' stands twice among those of the loop", *lines, line=3, column=column,
        hint="name of its own")


def test_names_left_of_a_yield_are_different():
    one(pl.ParserSyntaxError, "Name 'x' stands twice left of pl.yield_()", "for i, (p, q) in pl.range(4, init_values=(1, 2)):",
        "    x, x = pl.yield_(p, q)", line=4, column=12, hint="name of its own")


READ_ONLY = '''
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[8, 8], pl.FP32], y: pl.{direction}[pl.Tensor[[8, 8], pl.FP32]]) -> pl.Tensor[[8, 8], pl.FP32]:
        y = pl.store(pl.load(x, [0, 0], [8, 8]), [0, 0], [8, 8], y)
        return y
    @pl.function(type=pl.FunctionType.{kind})
    def main(self, x: pl.Tensor[[8, 8], pl.FP32], z: pl.Tensor[[16, 8], pl.FP32], n: pl.INT64, o: pl.InOut[pl.Tensor[[8, 8], pl.FP32]]
             ) -> pl.Tensor[[8, 8], pl.FP32]:
        {lines}
        return o
'''


def read_only(*lines, kind="Orchestration", direction="Out"):
    return pl.parse(READ_ONLY.format(kind=kind, direction=direction, lines="\n        ".join(lines)))


@pytest.mark.parametrize("direction", ["Out", "InOut"])
@pytest.mark.parametrize("name, column, lines", [
    ("x", 23, ["o = self.k(o, x)"]), ("x", 23, ["y = x", "o = self.k(o, y)"]),
    ("z", 23, ["y = pl.slice(z, [8, 8], [8, 0])", "o = self.k(o, y)"]),
    ("x", 28, ["for i, (y,) in pl.range(n, init_values=(x,)):", "    v = self.k(o, y)", "    y = pl.yield_(v)"]),
    ("x", 23, ["if n > 1:", "    y = x", "else:", "    y = x", "o = self.k(o, y)"]),
])
def test_a_call_cannot_write_a_parameter_that_is_read_only(direction, name, column, lines):
    with pytest.raises(pl.ParserTypeError) as info:
        read_only(*lines, direction=direction)
    (error,) = info.value.errors
    assert error.message == f"Parameter '{name}' is read-only, but function 'k' writes to it"
    at = [i for i, line in enumerate(lines) if "self.k" in line][0]
    assert (error.span.line, error.span.column) == (11 + at, column - 0 if lines[at][0] != " " else column - 1)
    assert error.hint == f"Declare it {name}: pl.Out[...] (only written) or pl.InOut[...]"


@pytest.mark.parametrize("lines", [
    ["o = self.k(x, o)"], ["y = x", "y = pl.create_tensor([8, 8], dtype=pl.FP32)", "y = self.k(x, y)", "o = self.k(y, o)"],
    ["y = o", "y = self.k(x, y)"],
])
def test_a_call_writes_what_is_declared_so(lines):
    assert read_only(*lines).functions["main"].param_directions == [0, 0, 0, 2]


def test_a_call_in_an_opaque_function_makes_its_parameter_inout():

    program = read_only("o = self.k(o, x)", kind="Opaque")
    for name in ("ConvertToSSA", "FlattenCallExpr", "OutlineIncoreScopes"):
        program = passes.PassManager([name]).run_passes(program)
    assert program.functions["main"].param_directions == [2, 0, 0, 2]


# ---- Every class of error ----

def not_finished():

    passes.PassManager.get_strategy("Default").run_passes(read_only(
        "with pl.incore():", "    t = pl.load(x, [0, 0], [8, 8])", "with pl.incore():", "    o = pl.store(t, [0, 0], [8, 8], o)",
        kind="Opaque"))


PROVOKED = {
    "ParserSyntaxError": ((3, 14), lambda: kernel("for i in [1, 2]:", "    x = i")),
    "ParserTypeError": ((2, 7), lambda: pl.parse("@pl.function\ndef f(x):\n    y = x\n")),
    "UndefinedVariableError": ((3, 9), lambda: kernel("x = q")),
    "SSAViolationError": ((4, 5), lambda: pl.parse(STRICT + "    x = a\n    x = n\n")),
    "ScopeIsolationError": ((5, 9), lambda: pl.parse(STRICT + "    if n > 1:\n        x = a\n    y = x\n")),
    "InvalidOperationError": ((3, 9), lambda: kernel("x = pl.block.add(a, a)")),
    "UnsupportedFeatureError": ((3, 5), lambda: kernel("del a")),
    "CompileError": ((11, 9), not_finished),
}


def test_every_class_of_error_is_provoked():

    classes = {n for n in _errors.__all__ if isinstance(getattr(_errors, n), type) and
               issubclass(getattr(_errors, n), pl.ParserError)} - {"ParserError"}
    below = {c.__name__ for c in pl.ParserError.__subclasses__()}
    assert classes == below == set(PROVOKED)


@pytest.mark.parametrize("name", PROVOKED)
def test_each_class_has_its_place_and_code(name):
    cls = getattr(_errors, name)
    place, provoke = PROVOKED[name]
    with pytest.raises(pl.ParserError) as info:
        provoke()
    assert type(info.value) is cls and info.value.code == cls.code
    assert (info.value.span.line, info.value.span.column) == place
    text = str(info.value)
    assert f"--> {info.value.span.filename}:{info.value.span.line}:{info.value.span.column}" in text and "^" in text
    codes = [getattr(_errors, n).code for n in PROVOKED]
    assert codes.count(cls.code) == 1


def program(main, kernel_type="InCore"):
    return pl.parse(f'''
@pl.program
class P:
    @pl.function(type=pl.FunctionType.{kernel_type})
    def k(self, x: pl.Tensor[[8], pl.FP32], y: pl.Out[pl.Tensor[[8], pl.FP32]]) -> pl.Tensor[[8], pl.FP32]:
        t = pl.load(x, [0], [8])
        y = pl.store(t, [0], [8], y)
        return y
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[8], pl.FP32], z: pl.Tensor[[4], pl.FP32]) -> pl.Tensor[[8], pl.FP32]:
        y = pl.create_tensor([8], dtype=pl.FP32)
        {main}
        return y
''')


@pytest.mark.parametrize("cls, place, text, main", [
    (pl.ParserTypeError, (12, 13), "Function 'k' expects 2 argument(s), got 1", "y = self.k(x)"),
    (pl.ParserTypeError, (12, 20), "Argument 'x' of function 'k' must be", "y = self.k(z, y)"),
    (pl.ParserTypeError, (12, 26), "takes no keyword argument 'y'", "y = self.k(x, y, y=y)"),
    (pl.ParserTypeError, (13, 9), "Function 'main' returns", "y = z"),
    (pl.UnsupportedFeatureError, (12, 13), "Recursion: function 'main' calls itself", "y = self.main(x, z)"),
    (pl.InvalidOperationError, (12, 13), "works on tiles", "t = pl.load(x, [0], [8])"),
    (pl.InvalidOperationError, (12, 13), "tensor operator 'tensor.add' must be inside an InCore function", "y = pl.add(x, x)"),
])
def test_error_in_orchestration(cls, place, text, main):
    with pytest.raises(cls) as info:
        program(main)
    assert len(info.value.errors) == 1 and text in info.value.message, info.value
    assert (info.value.span.line, info.value.span.column) == place


def test_case_65_block_call_needs_blockdim():
    call = last_call = program("y = self.k(x, y, blockdim=8)", "BlockInCore").functions["main"]
    stmts = call.body.stmts
    last_call = stmts[1].value
    assert last_call.blockdim.value == 8
    with pytest.raises(pl.ParserTypeError, match="needs blockdim"):
        program("y = self.k(x, y)", "BlockInCore")


def test_pipe_parameters_need_a_cluster():
    text = ("@pl.function(type=pl.FunctionType.InCore)\n"
            "def f({}o: pl.PIPE_OUT[pl.Tile[[16, 16], pl.FP32]]):\n"
            "    t = pl.create_tile([16, 16], dtype=pl.{})\n    pl.tpush(t, o)\n")
    with pytest.raises(pl.ParserTypeError, match="has pipe parameters but no pl.Cluster parameter"):
        pl.parse(text.format("", "FP32"))
    with pytest.raises(pl.InvalidOperationError, match="as the pipe carries"):
        pl.parse(text.format("c: pl.Cluster, ", "FP16"))
    assert pl.parse(text.format("c: pl.Cluster, ", "FP32")).param_directions == [0, 4]


def test_inline_function_is_expanded_and_counted():
    @pl.inline
    def twice(x):
        y = pl.add(x, x)
        return y

    @pl.function(type=pl.FunctionType.InCore)
    def f(a: pl.Tensor[[8, 8], pl.FP32]):
        t = pl.load(a, [0, 0], [8, 8])
        y = twice(t)
        z = twice(y)  # noqa: F841
    assert str(f).count("pl.add(") == 2
    with pytest.raises(pl.ParserTypeError, match=r"Inline function 'twice' expects 1 argument\(s\), got 2"):
        @pl.function(type=pl.FunctionType.InCore)
        def g(a: pl.Tensor[[8, 8], pl.FP32]):
            t = pl.load(a, [0, 0], [8, 8])
            z = twice(t, t)  # noqa: F841


def test_operators_outside_of_functions_raise():
    with pytest.raises(TypeError, match="inside of a @pl.function"):
        pl.add(1, 2)


@pytest.mark.parametrize("params", ["x: pl.INT64, *args", "x: pl.INT64 = 3", "x: pl.INT64, *, k: pl.INT64", "**kwargs"])
def test_only_plain_parameters(params):
    with pytest.raises(pl.UnsupportedFeatureError, match="Unsupported parameter of function 'f'"):
        pl.parse(f"@pl.function\ndef f({params}):\n    a = 1\n")


def test_deep_nesting_is_refused_not_a_crash():
    with pytest.raises(pl.ParserSyntaxError, match="nested too deeply"):
        pl.parse("@pl.function\ndef f(x: pl.INT64):\n    a = " + "+".join(["x"] * 5000) + "\n")


def test_an_error_shows_the_lines_of_its_program_though_others_have_its_file_name(tmp_path):
    text = ("@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n"
            "    def k(self, x: pl.Tensor[[256, 1024], pl.FP32], y: pl.Out[pl.Tensor[[256, 1024], pl.FP32]]\n"
            "          ) -> pl.Tensor[[256, 1024], pl.FP32]:\n"
            "        return pl.store(pl.load(x, [0, 0], [256, 1024]), [0, 0], [256, 1024], y)\n")
    program = pl.parse(text, "one.py")
    with pytest.raises(pl.CompileError) as alone:
        ir.compile(program, tmp_path, skip_ptoas=True)
    assert "| " in str(alone.value)
    pl.parse("\n# another text\n\n\n\n\n" + text.replace("1024", "16"), "one.py")
    with pytest.raises(pl.CompileError) as later:
        ir.compile(program, tmp_path, skip_ptoas=True)
    assert str(later.value) == str(alone.value)


def test_min_and_max_take_several_numbers():
    f = pl.parse("@pl.function\ndef f(a: pl.INT64, b: pl.INT64):\n    return min(a, b, 3), max(a, b, 3, a + b)\n")
    assert ir.interpret(f, 5, 4) == (3, 9) and ir.interpret(f, 1, -4) == (-4, 3)


def test_a_value_has_no_attributes():
    with pytest.raises(pl.UnsupportedFeatureError, match="'t' has no attribute 'shape' here") as info:
        kernel("t = pl.load(a, [0, 0], [16, 16])", "n = t.shape[0]")
    assert "pl.dim(" in info.value.hint and (info.value.span.line, info.value.span.column) == (4, 9)


def test_the_smallest_integer_is_written_as_python_does():
    text = ("import pypto.language as pl\n@pl.function\ndef f(x: pl.Tensor[[4, 8], pl.FP32]) -> pl.Tensor[[4, 8], pl.FP32]:\n"
            "    n = -9223372036854775808\n    m = pl.const(-9223372036854775808, pl.INT64)\n    if n < m + 1:\n        x = x + 1\n    return x\n")
    program = pl.parse(text)
    assert ir.structural_equal(program, pl.parse(ir.python_print(program)))
    one(pl.ParserTypeError, "Integer literal does not fit into 64 bits", "n = -9223372036854775809")
    one(pl.ParserTypeError, "Integer literal does not fit into 64 bits", "n = 9223372036854775808")


def test_an_unknown_name_in_an_annotation_is_told_at_its_place():
    with pytest.raises(pl.ParserTypeError, match="Unknown shape variable: qq") as info:
        pl.parse("@pl.function\ndef f(x: pl.Tensor[[qq, 64], pl.FP32]):\n    return x\n")
    assert (info.value.span.line, info.value.span.column) == (2, 21)


def test_lists_and_shapes_of_the_wrong_kind_are_shown():
    one(pl.InvalidOperationError, "second argument to be a list of one or more integers, but got [0.0, 0]",
        "t = pl.load(a, [0.0, 0], [16, 16])")
    one(pl.InvalidOperationError, "a list of one or more positive integer constants, but got [0, 4]", "t = pl.create_tile([0, 4], pl.FP32)")
    for shape, text in (("[16.5, 4]", "Shape element 0 must be int or pl.dynamic(), got float"), ("['a', 4]", "Shape element 0 must be"),
                        ("[4, None]", "Shape element 1 must be int or pl.dynamic(), got NoneType")):
        with pytest.raises(pl.ParserTypeError) as info:
            pl.parse(f"@pl.function\ndef f(x: pl.Tensor[{shape}, pl.FP32]):\n    return x\n")
        assert text in info.value.message


def test_what_is_written_needs_a_name_and_the_error_says_so():
    with pytest.raises(pl.ParserTypeError, match="is written, so it must be a variable") as info:
        pl.parse("@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n"
                 "    def k(self, x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]) -> pl.Tensor[[16, 64], pl.FP32]:\n"
                 "        y = pl.store(pl.load(x, [0, 0], [16, 64]), [0, 0], [16, 64], y)\n        return y\n\n"
                 "    @pl.function(type=pl.FunctionType.Orchestration)\n"
                 "    def main(self, x: pl.Tensor[[16, 64], pl.FP32]) -> pl.Tensor[[16, 64], pl.FP32]:\n"
                 "        return self.k(x, pl.create_tensor([16, 64], dtype=pl.FP32))\n")
    assert info.value.hint == "Assign it to a name first: y = ..."
