# SPDX-License-Identifier: MIT
"""IR made from Python node by node: the same as what the front end makes, and refused when it cannot be IR."""
import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import _core, ir, passes  # noqa: E402

TENSOR = ir.TensorType([16, 16], pl.FP32)
TILE = ir.TileType([16, 16], pl.FP32)


def kernel(name="k"):
    x, o, s = ir.Var("x", TENSOR), ir.Var("o", TENSOR), ir.Var("s", ir.ScalarType(pl.FP32))
    t, i = ir.Var("t", TILE), ir.Var("i", ir.ScalarType(pl.INDEX))
    return ir.Function(name, [x, s, o], [
        ir.AssignStmt(t, ir.Call("block.load", [x, [0, 0], [16, 16]])),
        ir.ForStmt(i, 0, 3, 1, ir.IfStmt(ir.Gt(i, ir.ConstInt(0, pl.INDEX)),
                                         ir.AssignStmt(t, ir.Call("block.muls", [t, s])))),
        ir.AssignStmt(o, ir.Call("block.store", [t, [0, 0], [16, 16], o])),
        ir.ReturnStmt([o])], [TENSOR], [0, 0, 1], pl.FunctionType.InCore)


TEXT = """
@pl.function(type=pl.FunctionType.InCore)
def k(x: pl.Tensor[[16, 16], pl.FP32], s: pl.Scalar[pl.FP32], o: pl.Out[pl.Tensor[[16, 16], pl.FP32]]
      ) -> pl.Tensor[[16, 16], pl.FP32]:
    t = pl.load(x, [0, 0], [16, 16])
    for i in pl.range(3):
        if i > 0:
            t = pl.mul(t, s)
    o = pl.store(t, [0, 0], [16, 16], o)
    return o
"""


def test_nodes_from_python_equal_those_from_text():
    ir.assert_structural_equal(kernel(), pl.parse(TEXT))


def test_built_functions_print_serialise_and_run():
    f = kernel()
    assert ir.structural_equal(pl.parse(str(f)), f)
    assert ir.structural_equal(ir.deserialize(ir.serialize(f)), f)
    x, o = np.ones((16, 16), "float32"), np.zeros((16, 16), "float32")
    ir.interpret(f, x, 3.0, o)
    assert (o == 9).all()


def test_built_programs_go_through_the_passes():
    x, y = ir.Var("x", TENSOR), ir.Var("y", TENSOR)
    main = ir.Function("main", [x], [
        ir.AssignStmt(y, ir.Call("tensor.create", [[16, 16]], {"dtype": pl.FP32})),
        ir.AssignStmt(y, ir.Call("k", [x, 2.0, y], type=TENSOR)), ir.ReturnStmt([y])], [TENSOR],
        func_type=pl.FunctionType.Orchestration)
    program = ir.Program([kernel(), main], "Built")
    assert list(program.functions) == ["k", "main"] and program.name == "Built"
    lowered = passes.PassManager.get_strategy("PTOAS").run_passes(program)
    for one in (program, lowered):
        result = ir.interpret(one, np.full((16, 16), 0.5, "float32"))
        assert (result == 2).all()


def test_carried_values_and_conditions():
    n, i = ir.Var("n", ir.ScalarType(pl.INDEX)), ir.Var("i", ir.ScalarType(pl.INDEX))
    a = ir.IterArg("a", n.type, n)
    r = ir.Var("r", n.type)
    f = ir.Function("f", [n], [ir.ForStmt(i, 0, n, 1, ir.YieldStmt([ir.Add(a, i)]), [a], [r]), ir.ReturnStmt([r])], [n.type])
    assert ir.interpret(f, 5) == 15


def test_numbers_from_python_have_the_types_of_the_interface():
    assert ir.MakeTuple([1, 2.0, True]).type.types[0].dtype == "INT32"
    assert ir.MakeTuple([1, 2.0, True]).type.types[1].dtype == "FP32"
    assert ir.MakeTuple([1, 2.0, True]).type.types[2].dtype == "BOOL"


@pytest.mark.parametrize("make, error, text", [
    (lambda: ir.Call("block.nope", []), ValueError, "Operator 'block.nope' not found in registry"),
    (lambda: ir.Call("block.add", [ir.Var("t", TILE), 1.0]), ValueError, "second argument to be a TileType, but got Scalar"),
    (lambda: ir.Call("block.load", [ir.Var("x", TENSOR), [0, 0], [16, 16]], {"k": 1}), ValueError, "Unknown kwarg 'k'"),
    (lambda: ir.AssignStmt(ir.ConstInt(1, pl.INT32), 1), TypeError, "'var' must be a variable, not ConstInt"),
    (lambda: ir.ReturnStmt([ir.ReturnStmt()]), TypeError, "'values' must be an expression, not ReturnStmt"),
    (lambda: ir.SeqStmts([ir.ConstInt(1, pl.INT32)]), TypeError, "'stmts' must be a statement, not ConstInt"),
    (lambda: ir.Program([kernel(), kernel()]), ValueError, 'Duplicate function name "k"'),
    (lambda: ir.Function("f", [ir.Var("x", TENSOR)], ir.ReturnStmt(), param_directions=[]), ValueError,
     "0 directions for 1 parameters"),
    (lambda: ir.Function("f", [ir.Var("x", TENSOR)], ir.ReturnStmt(), param_directions=[9]), ValueError, "9 is no direction"),
    (lambda: ir.Add(ir.ConstInt(1, pl.INT32), 1.0), TypeError, "needs operands of one type, got INT32 and FP32"),
    (lambda: ir.Add(ir.Var("t", TILE), 1), TypeError, "a scalar is needed, not TileType"),
    (lambda: ir.TensorType([16], "FP33"), TypeError, "an element type such as pl.FP32 is needed"),
    (lambda: ir.Var("x", None), TypeError, "a type is needed"),
    (lambda: ir.TupleGetItemExpr(ir.MakeTuple([1]), 1), IndexError, "the tuple has 1 elements"),
    (lambda: ir.ForStmt(ir.Var("i", TILE), 0, 1, 1, ir.ReturnStmt(), [ir.IterArg("a", TILE, ir.Var("t", TILE))]), ValueError,
     "1 iter_args but 0 return_vars"),
])
def test_what_cannot_be_ir_is_refused(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_a_program_that_is_compiled_again_and_again_does_not_grow():
    import gc
    program = ir.Program([kernel()], "P")

    def compile_once():
        ready = passes.PassManager.get_strategy("Default").run_passes(program)
        orchestration, kernels = _core.describe_program(ready)
        assert "TSTORE(" in _core.generate(ready, "cce", kernels[0][0], 0) and orchestration is None
        for made in (program, ready):
            assert str(made) == ir.python_print(made) and ir.structural_hash(made) and ir.serialize(made)
        assert not ir.structural_equal(program, ready)

    compile_once()
    gc.collect()
    mark, contexts = _core.context_mark(program), _core.context_count()
    for _ in range(20):
        compile_once()
    assert (_core.context_mark(program), _core.context_count()) == (mark, contexts)
