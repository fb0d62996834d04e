# SPDX-License-Identifier: MIT
"""IR of PyPTO: printer, equality, hash, MessagePack, passes (cases of pypto.md section 17 in the names)."""
import ast
import os
import subprocess
import sys

import pytest

pl = pytest.importorskip("pypto.language")
from pypto import _core, ir, passes  # noqa: E402

M = pl.dynamic("M")


@pl.program
class Everything:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, a: pl.Tensor[[64, 64], pl.FP32], s: pl.Scalar[pl.FP32],
               out: pl.InOut[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        acc = pl.full([16, 16], dtype=pl.FP32, value=0.0)
        for i, (x,) in pl.range(0, 64, 16, init_values=(acc,)):
            t = pl.load(a, [i, 0], [16, 16])
            if i < 32:
                t = pl.mul(t, s)
            else:
                t = pl.exp(pl.add(t, 1.0))
            x2 = pl.yield_(pl.add(x, t))
        for j in pl.unroll(2):
            x2 = pl.maximum(x2, pl.muls(x2, 0.5))
            out = pl.store(x2, [j * 16, 0], [16, 16], out)
        n = pl.const(3, pl.INT32)
        while n > 0:
            n = n - 1
        return out

    @pl.function
    def main(self, x: pl.Tensor[[64, 64], pl.FP32], y: pl.Tensor[[64, 64], pl.FP32], d: pl.Tensor[[M, 8], pl.FP32],
             n: pl.INT64) -> pl.Tensor[[64, 64], pl.FP32]:
        r = self.kernel(x, 2.0, y)
        with pl.incore():
            t = pl.load(r, [0, 0], [64, 64])
            u = pl.row_max(t)
            v = pl.row_expand_sub(t, u)
            r2 = pl.store(v, [0, 0], [64, 64], y)
        for i in pl.range(n):
            k = (i + n) * 2 - (n - i) // 3
            with pl.incore():
                w = pl.load(d, [k, 0], [1, 8])
                d = pl.store(w, [k, 0], [1, 8], d)
        return r2


def stages():
    program = Everything
    yield "frontend", program
    for name in passes.PassManager.get_strategy().names:
        program = getattr(passes, dict(SNAKE)[name])()(program)
        yield name, program


SNAKE = [(name, snake) for name, snake, _, _, _ in passes._table]
STAGES = list(stages())


def function(*lines, head="@pl.function\ndef f(a: pl.INT64, b: pl.INT64, c: pl.INT64):"):
    return pl.parse(head + "\n" + "".join(f"    {line}\n" for line in lines))


@pytest.mark.parametrize("name, program", STAGES, ids=[n for n, _ in STAGES])
def test_case_24_print_and_parse_is_a_fixed_point(name, program):
    text = str(program)
    again = pl.parse(text)
    assert str(again) == text
    ir.assert_structural_equal(program, again)
    assert ir.structural_hash(program) == ir.structural_hash(again)


@pytest.mark.parametrize("prefix", ["pl", "ir", "lang"])
def test_any_prefix_reparses(prefix):
    text = ir.python_print(Everything, prefix)
    assert ir.structural_equal(Everything, pl.parse(text))


@pytest.mark.parametrize("name, program", STAGES, ids=[n for n, _ in STAGES])
def test_spans_survive(name, program):
    def statements(node):
        if node is None:
            return
        yield node
        for field in ("stmts",):
            for s in getattr(node, field, []):
                yield from statements(s)
        for field in ("body", "then_body", "else_body"):
            yield from statements(getattr(node, field, None))
    for f in program.functions.values():
        for s in statements(f.body):
            assert s.span[0] == __file__ and s.span[1] > 0


def test_case_25_names_do_not_matter_but_keywords_do():
    a = function("x = a + b")
    assert ir.structural_equal(a, pl.parse("\n\n@pl.function\ndef g(p: pl.INT64, q: pl.INT64, r: pl.INT64):\n    z = p + q\n"))
    assert not ir.structural_equal(a, function("x = b + a"))
    tensor = "@pl.function(type=pl.FunctionType.InCore)\ndef f(a: pl.Tensor[[8, 8], pl.FP32]):"
    one = function("t = pl.load(a, [0, 0], [8, 8])", head=tensor)
    other = function("t = pl.load(a, [0, 0], [8, 8], target_memory=pl.MemorySpace.Mat)", head=tensor)
    with pytest.raises(ValueError, match=r"Structural equality assertion failed at: Function\.body\S* Reason: "):
        ir.assert_structural_equal(one, other)


def test_case_26_sharing_survives_serialisation():
    f = function("x = a + a", "y = a + 1")
    data = ir.serialize(f)
    assert data.count(b"\xa4name\xa1a") == 1 and data.count(b"\x81\xa3ref\x01") == 3  # node 1 in full, then {"ref": 1}
    g = ir.deserialize(data)
    assert g.params[0] == g.body.stmts[0].value.left == g.body.stmts[0].value.right == g.body.stmts[1].value.left


@pytest.mark.parametrize("name, program", STAGES, ids=[n for n, _ in STAGES])
def test_serialisation_returns_the_program(name, program, tmp_path):
    ir.serialize_to_file(program, tmp_path / "p")
    again = ir.deserialize_from_file(tmp_path / "p")
    assert str(again) == str(program)
    ir.assert_structural_equal(program, again)
    assert ir.serialize(again) == ir.serialize(program)


def test_damaged_bytes_are_refused_without_a_crash():
    data = ir.serialize(function("x = a + a", "y = a + 1"))
    refused = 0
    for i in range(len(data)):
        for damaged in (data[:i], data[:i] + bytes([data[i] ^ 0xff]) + data[i + 1:]):
            try:
                ir.deserialize(damaged)
            except ir.DeserializationError:
                refused += 1
    assert refused > len(data)


def test_case_27_constants():
    text = str(function("p = 42", "q = pl.const(42, pl.INT32)", "r = 1.0", "s = pl.const(0.5, pl.FP16)"))
    assert [line.rpartition("= ")[2] for line in text.splitlines()[2:]] == ["42", "pl.const(42, pl.INT32)", "1.0",
                                                                           "pl.const(0.5, pl.FP16)"]


@pytest.mark.parametrize("text", ["(a + b) * c", "a - (b - c)", "a - b - c", "a // (b * c)", "-a * b", "-(a + b)",
                                  "~a & b | c", "a ** b ** c", "(a ** b) ** c", "min(a, max(b, c))", "abs(a) + 1"])
def test_case_28_minimal_parentheses(text):
    assert str(function(f"x = {text}")).rstrip().endswith("= " + text)


def after(name, program):
    for n, snake in SNAKE:
        program = getattr(passes, snake)()(program)
        if n == name:
            return program
    raise KeyError(name)


TENSOR = "@pl.function(type=pl.FunctionType.InCore)\ndef f(x: pl.Tensor[[8, 8], pl.FP32], c: pl.BOOL):"


def test_case_29_each_assignment_is_a_version():
    f = after("ConvertToSSA", function("r = pl.add(x, 1.0)", "r = pl.add(r, 2.0)", "return r", head=TENSOR))
    first, second, ret = f.body.stmts
    assert first.var != second.var and second.value.args[0] == first.var and ret.values[0] == second.var
    ir.assert_structural_equal(f, passes.convert_to_ssa()(f))


def test_case_30_loops_carry_what_they_reassign():
    f = after("ConvertToSSA", function("acc = x", "for i in pl.range(4):", "    t = pl.mul(acc, 2.0)",
                                       "    acc = pl.add(t, 1.0)", "return acc", head=TENSOR))
    _, loop, ret = f.body.stmts
    assert [a.name for a in loop.iter_args] == ["acc_iter_1"] and [v.name for v in loop.return_vars] == ["acc_2"]
    assert loop.body.stmts[-1].node_kind == "YieldStmt" and ret.values[0] == loop.return_vars[0]
    g = after("ConvertToSSA", function("for i in pl.range(4):", "    t = pl.mul(x, 2.0)", head=TENSOR))
    assert g.body.iter_args == []


def test_case_31_missing_else_yields_the_old_version():
    f = after("ConvertToSSA", function("v = x", "if c:", "    v = pl.add(v, 1.0)", "return v", head=TENSOR))
    first, branch, ret = f.body.stmts
    assert branch.else_body.node_kind == "YieldStmt" and branch.else_body.values[0] == first.var
    assert ret.values[0] == branch.return_vars[0]


def test_carried_values_that_swap_stay_apart():
    f = after("ConvertToSSA", function("p = a", "q = b", "for i in pl.range(c):", "    t = p", "    p = q", "    q = t",
                                       "r = p - q"))
    loop = f.body.stmts[2]
    t, p, q, y = loop.body.stmts
    assert t.value == loop.iter_args[0] and p.value == loop.iter_args[1] and q.value == t.var
    assert y.values == [p.var, q.var]


def test_case_32_nested_calls_are_moved_out():
    f = after("FlattenCallExpr", function("y = pl.exp(pl.add(x, x))", head=TENSOR))
    first, second = f.body.stmts
    assert (first.var.name, first.value.op, second.value.op) == ("_t0", "tensor.add", "tensor.exp")
    assert second.value.args[0] == first.var


def region(*more):
    return pl.parse("\n".join([
        "@pl.program", "class P:", "    @pl.function",
        "    def main(self, x: pl.Tensor[[64], pl.FP32], y: pl.Tensor[[64], pl.FP32]) -> pl.Tensor[[64], pl.FP32]:",
        "        with pl.incore():", "            t = pl.load(y, [0], [64])", "            q = pl.mul(t, t)",
        "            r = pl.store(q, [0], [64], x)", *(f"        {m}" for m in more), "        return r", ""]))


def test_case_33_regions_become_functions():
    p = after("OutlineIncoreScopes", region())
    assert sorted(p.functions) == ["main", "main_incore_0"]
    kernel = p.functions["main_incore_0"]
    assert kernel.func_type == 2 and [v.name for v in kernel.params] == ["x_0", "y_0"]
    assert kernel.param_directions == [1, 0]
    call = p.functions["main"].body.stmts[0].value
    assert call.op == "main_incore_0" and [a.name for a in call.args] == ["x_0", "y_0"]
    assert "pl.incore" not in str(p)
    two = after("OutlineIncoreScopes", region("with pl.incore():", "    w = pl.load(r, [0], [32])",
                                              "    r = pl.store(w, [32], [32], r)"))
    assert two.functions["main_incore_1"].param_directions == [2]


def test_case_41_dump_needs_a_folder(tmp_path):
    manager = passes.PassManager.get_strategy()
    with pytest.raises(ValueError, match="output_dir is required when dump_ir=True"):
        manager.run_passes(Everything, dump_ir=True)
    manager.run_passes(Everything, dump_ir=True, output_dir=tmp_path)
    assert {"00_frontend.py", "01_after_UnrollLoops.py"} <= {p.name for p in tmp_path.iterdir()}
    with pytest.raises(ValueError, match="only supports Program input"):
        manager.run_passes(Everything.functions["main"], dump_ir=True, output_dir=tmp_path)


def test_unroll_is_bounded():
    with pytest.raises(pl.CompileError, match="would copy its body 1025 times"):
        passes.unroll_loops()(function("for i in pl.unroll(1025):", "    x = i"))
    f = passes.unroll_loops()(function("for i in pl.unroll(0, 6, 2):", "    x = i * a"))
    assert [s.value.left.value for s in f.body.stmts] == [0, 2, 4]


def test_a_pass_refuses_a_program_that_lacks_what_it_needs():
    with pytest.raises(pl.CompileError, match="needs a program with property SSAForm"):
        passes.outline_incore_scopes()(function("x = a", "x = a"))


def test_a_while_condition_that_calls_is_refused_with_a_place():
    f = function("n = pl.tensor.read(x, [0, 0])", "while pl.tensor.read(x, [0, 0]) > n:", "    n = n + 1.0", head=TENSOR)
    with pytest.raises(pl.CompileError, match="condition of a while loop") as info:
        after("FlattenCallExpr", f)
    assert info.value.span.line == 4


def test_the_requirements_example_becomes_three_kernels():
    p = after("OutlineIncoreScopes", pl.parse('''
@pl.program
class P:
    @pl.function
    def main(self, x: pl.Tensor[[64], pl.FP32]) -> pl.Tensor[[64], pl.FP32]:
        y = x + 1
        with pl.incore():
            tile = pl.load(y, [0], [64])
            tile_sq = pl.mul(tile, tile)
            result = pl.store(tile_sq, [0], [64], x)
        z = result + 2
        return z
'''))
    assert sorted(p.functions) == ["main", "main_incore_0", "main_incore_1", "main_incore_2"]
    assert [s.value.op for s in p.functions["main"].body.stmts[:3]] == [f"main_incore_{i}" for i in range(3)]
    assert str(pl.parse(str(p))) == str(p)


def test_nodes_that_lack_a_part_cannot_be_made():
    from pypto import _core
    with pytest.raises(ValueError, match="'condition' of IfStmt must be an expression"):
        _core.build_node("IfStmt", None, {})
    with pytest.raises(ValueError, match="'body' of Function must be a statement"):
        _core.build_node("Function", None, {"name": "f"})


def test_many_files_are_read_without_keeping_all():
    from pypto import _source
    for i in range(100):
        pl.parse("@pl.function\ndef f(n: pl.INT64):\n    x = n\n", f"one_of_many_{i}.py")
    assert len(_source._trees) <= 32


def test_minus_zero_is_another_constant():
    plus, minus = (function(f"x = {text}") for text in ("0.0", "-0.0"))
    assert not ir.structural_equal(plus, minus)


def test_a_program_that_calls_itself_is_no_program():
    """Analyses follow calls: what the front end refuses at its line, bytes and nodes cannot bring in."""
    p = pl.parse("""@pl.program
class P:
    @pl.function
    def a(self, x: pl.InOut[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
        x = self.b(x)
        return x
    @pl.function
    def b(self, x: pl.InOut[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
        x = self.a2(x)
        return x
    @pl.function
    def a2(self, x: pl.InOut[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
        return x
""")
    data = ir.serialize(p)
    places = [i for i in range(len(data)) if data.startswith(b"\xa2a2", i)]
    refused = 0
    for i in places:
        try:
            ir.deserialize(data[:i] + b"\xa1a" + data[i + 3:])
        except ir.DeserializationError as e:
            refused += str(e) == "'functions' of Program must be without recursion, but 'a' calls itself"
    assert refused == 1, places


def _loop_that_yields(type_, count=1):
    x, w, i = ir.Var("x", ir.TensorType([4, 4], pl.FP32)), ir.Var("w", type_), ir.Var("i", ir.ScalarType(pl.INDEX))
    a, r = ir.IterArg("a", x.type, x), ir.Var("r", x.type)
    zero, four, one = (ir.ConstInt(n, pl.INDEX) for n in (0, 4, 1))
    loop = ir.ForStmt(i, zero, four, one, ir.YieldStmt([w] * count), [a], [r])
    return ir.Program([ir.Function("f", [x, w], ir.SeqStmts([loop, ir.ReturnStmt([r])]), [x.type])])


@pytest.mark.parametrize("type_, count, code, text", [
    (ir.ScalarType(pl.FP32), 1, "101", "the kinds of pl.Scalar[pl.FP32] and pl.Tensor[[4, 4], pl.FP32] differ"),
    (ir.TensorType([4, 4], pl.FP16), 1, "102", "the element types of"),
    (ir.TensorType([4, 4, 1], pl.FP32), 1, "103", "the numbers of extents of"),
    (ir.TensorType([4, 5], pl.FP32), 1, "104", "the extents of"),
    (ir.TensorType([4, 4], pl.FP32), 2, "105", "Numbers of yielded values and results differ"),
])
def test_verifier_codes(type_, count, code, text):
    with pytest.raises(pl.ParserError) as e:
        passes.run_verifier()(_loop_that_yields(type_, count))
    assert [(m.code, text in m.message) for m in e.value.errors if m.code != "E400"] == [(code, True)]


def test_verifier_code_of_a_second_assignment():
    x, y = (ir.Var(n, ir.ScalarType(pl.INDEX)) for n in "xy")
    body = ir.SeqStmts([ir.AssignStmt(y, x), ir.AssignStmt(y, x), ir.ReturnStmt([y])])
    with pytest.raises(pl.ParserError) as e:
        passes.run_verifier()(ir.Program([ir.Function("f", [x], body, [y.type])]))
    assert [m.code for m in e.value.errors] == ["E400", "E400", "1"]


@pytest.mark.parametrize("shape, code", [([4, 5], "104"), ([4, 4, 1], "103")])
def test_returned_shape_is_the_declared_one(shape, code, tmp_path):
    x = ir.Var("x", ir.TensorType([4, 4], pl.FP32))
    p = ir.Program([ir.Function("f", [x], ir.ReturnStmt([x]), [ir.TensorType(shape, pl.FP32)], func_type=1)])
    for run in (passes.run_verifier(), lambda p: ir.compile(p, str(tmp_path))):
        with pytest.raises(pl.ParserError, match="A returned value has another type than the function says: f") as e:
            run(p)
        assert code in [m.code for m in e.value.errors]


OUT_OF_MEMORY = '''
import ast, resource
import pypto.language as pl
from pypto import _core
text = "@pl.function\\ndef f(x: pl.Scalar[pl.INDEX]):\\n" + f"    y = {'(' * 40}x{' + 1)' * 40}\\n" * 3000
tree, lines = ast.parse(text).body[0], text.splitlines(keepends=True)
with open("/proc/self/statm") as f:
    resource.setrlimit(resource.RLIMIT_AS, (int(f.read().split()[0]) * resource.getpagesize() + (4 << 20), -1))
for i in range(30):
    try:
        _core.parse_function(tree, None, lines, "user.py", None, "pl", 0, 0)
    except MemoryError:
        continue
    raise SystemExit("the tree fits")
resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
def depth(n):
    return n and 1 + depth(n - 1)
print(depth(800))
'''


@pytest.mark.skipif(bool(os.environ.get("LD_PRELOAD")), reason="sanitizers need address space")
def test_recursion_depth_after_memory_was_short():
    done = subprocess.run([sys.executable, "-c", OUT_OF_MEMORY], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.strip()) == (0, "800"), done.stderr


@pytest.mark.parametrize("attr, change", [
    ("targets", lambda f: setattr(f.body[0], "targets", [])), ("ops", lambda f: setattr(f.body[0].value, "ops", [])),
    ("comparators", lambda f: setattr(f.body[0].value, "comparators", [])),
    ("value", lambda f: setattr(f.body[0], "value", None)),
])
def test_trees_that_no_parser_made(attr, change):
    tree = ast.parse("def f(x: pl.Scalar[pl.INDEX]):\n    y = x < 1\n").body[0]
    change(tree)
    with pytest.raises(ValueError, match=f"a node of the syntax tree has no {attr}"):
        _core.parse_function(tree, None, ["\n"], "user.py", None, "pl", 0, 0)
