# SPDX-License-Identifier: MIT
"""Rules of the passes that test_pypto_passes.py leaves out: programs before and after, to the letter."""
import pytest

pl = pytest.importorskip("pypto.language")
from pypto import passes  # noqa: E402
from test_pypto_passes import LEFT, MAT, RIGHT, after, brief, buffers, kernel, load, program, store, sync  # noqa: E402

LOAD_A = "a_0 = load(x_0, [0, 0], [64, 64])"
STORE_D = "o_1 = store(d_0, [0, 0], [64, 64], o_0)"


# ---- ConvertToSSA ----

def test_a_loop_carries_what_was_defined_before_it():
    f = pl.parse("@pl.function(type=pl.FunctionType.InCore)\ndef f(x: pl.Tensor[[64, 64], pl.FP32]) -> pl.Tensor[[64, 64], pl.FP32]:\n"
                 "    acc = x\n    for i in pl.range(4):\n        acc = pl.add(acc, 2.0)\n    return acc\n")
    assert brief(after("ConvertToSSA", f)) == [
        "acc_0 = x_0",
        "for i_0, (acc_iter_1,) in range(0, 4, 1, init_values=(acc_0,)):",
        "    acc_3 = add(acc_iter_1, 2.0)",
        "    acc_2 = yield_(acc_3)",
        "return acc_2"]


def test_what_both_branches_assign_is_merged_in_alphabetical_order():
    p = after("ConvertToSSA", kernel(load("b"), "if c:", "    z = pl.exp(b)", "    a = pl.neg(b)", "else:", "    a = pl.abs(b)",
                                     "    z = pl.log(b)", "    q = pl.log(b)", "d = pl.add(a, z)", store("d")))
    assert brief(p) == [
        "b_0 = load(x_0, [0, 0], [64, 64])",
        "if c_0:",
        "    z_0 = exp(b_0)",
        "    a_0 = neg(b_0)",
        "    a_2, z_2 = yield_(a_0, z_0)",
        "else:",
        "    a_1 = abs(b_0)",
        "    z_1 = log(b_0)",
        "    q_0 = log(b_0)",
        "    a_2, z_2 = yield_(a_1, z_1)",
        "d_0 = add(a_2, z_2)", STORE_D]


def test_carried_values_come_in_alphabetical_order_behind_those_of_the_author():
    p = after("ConvertToSSA", kernel(load("z"), load("a"), load("m"), "for i, (k,) in pl.range(4, init_values=(m,)):",
                                     "    z = pl.exp(z)", "    a = pl.add(a, z)", "    m2 = pl.yield_(pl.add(k, a))",
                                     "d = pl.add(m2, pl.add(a, z))", store("d")))
    assert brief(p)[3:8] == [
        "for i_0, (k_iter_0, a_iter_1, z_iter_1) in range(0, 4, 1, init_values=(m_0, a_0, z_0)):",
        "    z_3 = exp(z_iter_1)",
        "    a_3 = add(a_iter_1, z_3)",
        "    m2_0, a_2, z_2 = yield_(add(k_iter_0, a_3), a_3, z_3)",
        "d_0 = add(m2_0, add(a_2, z_2))"]


def test_names_that_end_in_digits_are_names_of_their_own():
    p = after("ConvertToSSA", kernel(load("t"), "t_1 = pl.exp(t)", "t_1 = pl.exp(t_1)", "t = pl.add(t, t_1)"))
    assert brief(p) == ["t_0 = load(x_0, [0, 0], [64, 64])", "t_1_0 = exp(t_0)", "t_1_1 = exp(t_1_0)", "t_1 = add(t_0, t_1_1)"]


@pytest.mark.parametrize("lines", [
    (load("a"), "for i in pl.range(n):", "    a = pl.exp(a)", store("a")),
    (load("a"), "if c:", "    a = pl.exp(a)", store("a")),
    (load("a"), "k = n", "while k > 0:", "    k = k - 1", "    a = pl.exp(a)", store("a")),
], ids=["for", "if", "while"])
def test_a_program_in_ssa_form_stays_as_it_is(lines):
    from pypto import ir
    once = after("ConvertToSSA", kernel(*lines))
    ir.assert_structural_equal(once, passes.convert_to_ssa()(once))


# ---- FlattenCallExpr ----

def test_calls_in_operands_conditions_and_bounds_get_names_that_count_on():
    f = pl.parse("@pl.function(type=pl.FunctionType.Orchestration)\ndef f(x: pl.Tensor[[4], pl.INT64]):\n"
                 "    n = pl.tensor.read(x, [0]) + pl.tensor.read(x, [1]) * 2\n    if pl.tensor.read(x, [2]) > n:\n        k = n\n"
                 "    for i in pl.range(pl.tensor.read(x, [3])):\n        j = i\n")
    assert brief(after("FlattenCallExpr", f)) == [
        "_t0 = tensor.read(x_0, [0])",
        "_t1 = tensor.read(x_0, [1])",
        "n_0 = _t0 + _t1 * 2",
        "_t2 = tensor.read(x_0, [2])",
        "if _t2 > n_0:",
        "    k_0 = n_0",
        "_t3 = tensor.read(x_0, [3])",
        "for i_0 in range(0, _t3, 1):",
        "    j_0 = i_0"]


# ---- OutlineIncoreScopes ----

def test_a_region_without_results_is_a_call_alone():
    p = after("OutlineIncoreScopes", program("with pl.incore():", "    t = pl.load(x, [0, 0], [64, 64])", "return x"))
    assert [v.name for v in p.functions["main_incore_0"].params] == ["x_0"]
    assert [line.strip() for line in str(p.functions["main"]).splitlines()[2:]] == ["main_incore_0(x_0)", "return x_0"]
    assert str(p.functions["main"]).startswith("@pl.function(type=pl.FunctionType.Orchestration)")


def test_inputs_and_results_of_a_region_are_sorted_and_directions_follow_from_use():
    p = after("OutlineIncoreScopes", program("with pl.incore():", "    t = pl.load(y, [0, 0], [64, 64])",
                                             "    b = pl.store(t, [0, 0], [64, 64], y)", "    a = pl.store(t, [0, 0], [64, 64], x)",
                                             "with pl.incore():", "    u = pl.load(a, [0, 0], [64, 64])",
                                             "    b = pl.store(u, [0, 0], [32, 64], b)", "return b"))
    first, second = p.functions["main_incore_0"], p.functions["main_incore_1"]
    assert [v.name for v in first.params] == ["x_0", "y_0"]
    assert first.param_directions == [1, 2]  # x is stored whole and never read, y is read too
    assert [v.name for v in first.body.stmts[-1].values] == ["a_0", "b_0"]
    assert second.param_directions == [0, 2]  # b is stored in part
    text = str(p)
    assert text.index("def main_incore_0(") < text.index("def main_incore_1(") < text.index("def main(")


# ---- Loops ----

def test_chunks_around_a_loop_in_order_stay_around_it():
    p = program("for i in pl.parallel(0, 64, 8, chunk=4):", "    for j in pl.range(4, chunk=2):",
                "        t = pl.slice(x, [8, 16], [i, j * 16])", "        y = pl.assemble(y, pl.add(t, 1.0), [i, j * 16])", "return y")
    text = [line.strip() for line in str(after("InterchangeChunkLoops", p)).splitlines()]
    heads = [line.split(",")[0] for line in text if line.startswith(("for", "with"))]
    assert heads == ["for i_0_out", "with pl.incore():", "for i_0_in", "for j_0_out_in", "for j_0_in_in"]


# ---- ConvertTensorToBlockOps ----

@pytest.mark.parametrize("value, lines", [
    ("pl.add(x, y)", ["add(_b0, _b1)"]), ("pl.sub(x, y)", ["sub(_b0, _b1)"]), ("pl.mul(x, y)", ["mul(_b0, _b1)"]),
    ("pl.div(x, y)", ["div(_b0, _b1)"]), ("pl.maximum(x, y)", ["maximum(_b0, _b1)"]), ("pl.exp(x)", ["exp(_b0)"]),
    ("pl.transpose(x, 0, 1)", ["transpose(_b0, axis1=0, axis2=1)"]), ("pl.add(x, 2.0)", ["adds(_b0, 2.0)"]),
    ("pl.sub(x, 2.0)", ["subs(_b0, 2.0)"]), ("pl.mul(x, 2.0)", ["muls(_b0, 2.0)"]), ("pl.div(x, 2.0)", ["divs(_b0, 2.0)"]),
    ("pl.exp(pl.add(pl.mul(x, y), x))", ["mul(_b0, _b1)", "add(_b2, _b0)", "exp(_b3)"]),  # x is loaded at its first use only
])
def test_each_operator_on_tensors_has_its_operator_on_tiles(value, lines):
    p = after("ConvertTensorToBlockOps", program(f"return {value}"))
    found = brief(p.functions["main_incore_0"])
    loads = ["x_0", "y_0"] if "y" in value else ["x_0"]
    expected = [f"load({tensor}, [0, 0], [64, 64])" for tensor in loads] + lines
    expected.append(f"store(_b{len(expected) - 1}, [0, 0], [64, 64], _t{len(lines) - 1}_out)")
    assert found == [f"_b{i} = {line}" for i, line in enumerate(expected)] + [f"return _b{len(expected) - 1}"]


def test_a_cast_on_tensors_keeps_its_type():
    p = after("ConvertTensorToBlockOps", program("return pl.cast(x, pl.FP16)", result="pl.Tensor[[64, 64], pl.FP16]"))
    assert brief(p.functions["main_incore_0"]) == [
        "_b0 = load(x_0, [0, 0], [64, 64])", "_b1 = cast(_b0, target_type=FP16)",
        "_b2 = store(_b1, [0, 0], [64, 64], _t0_out)", "return _b2"]


# ---- InitMemRef, BasicMemoryReuse ----

def test_parameters_are_numbered_first_and_symbolic_ones_have_no_size():
    f = pl.parse('M = pl.dynamic("M")\n@pl.function(type=pl.FunctionType.InCore)\n'
                 "def f(x: pl.Tensor[[M, 64], pl.FP32], o: pl.InOut[pl.Tensor[[3, 5], pl.FP16]]):\n"
                 "    a = pl.load(x, [0, 0], [8, 64])\n")
    p = after("InitMemRef", f)
    assert [(v.type.memref.id, v.type.memref.addr, v.type.memref.size) for v in p.params] == [(0, -1, 0), (1, -1, 30)]
    assert [(b.name, b.addr, b.size) for b in buffers(p)] == [("mem_vec_2", -1, 2048)]


def test_a_buffer_serves_one_value_after_the_other():
    p = after("BasicMemoryReuse", kernel(load("a"), "b = pl.exp(a)", "d = pl.log(b)", "e = pl.abs(d)", "g = pl.neg(e)",
                                         "h = pl.add(g, e)", store("h")))
    assert brief(p) == [
        "a_0: Vec@3 = load(x_0, [0, 0], [64, 64])",
        "b_0: Vec@4 = exp(a_0)",
        "d_0: Vec@3 = log(b_0)",
        "e_0: Vec@4 = abs(d_0)",
        "g_0: Vec@3 = neg(e_0)",
        "h_0: Vec@8 = add(g_0, e_0)",  # both of its operands are still in use
        "o_1 = store(h_0, [0, 0], [64, 64], o_0)"]
    assert [b.name for b in buffers(p)] == ["mem_vec_3", "mem_vec_4", "mem_vec_8"]


def test_buffers_are_taken_within_one_space():
    p = after("BasicMemoryReuse", kernel(f"a = pl.load(x, [0, 0], [64, 64], {MAT})", f"l = pl.move(a, {LEFT})",
                                         f"b = pl.load(y, [0, 0], [64, 64], {MAT})", f"r = pl.move(b, {RIGHT})",
                                         "m = pl.matmul(l, r)", store("m")))
    assert [b.name for b in buffers(p)] == ["mem_mat_3", "mem_left_4", "mem_right_6", "mem_acc_7"]


# ---- InsertSync ----

def test_products_that_follow_from_each_other_have_a_barrier():
    p = after("InsertSync", kernel(f"a = pl.load(x, [0, 0], [64, 64], {MAT})", f"l = pl.move(a, {LEFT})", f"r = pl.move(a, {RIGHT})",
                                   "m = pl.matmul(l, r)", "m = pl.matmul_acc(m, l, r)", store("m")))
    assert sync(p) == ["!MTE2>MTE1#0", "?MTE2>MTE1#0", "!MTE1>M#0", "?MTE1>M#0", "bar_m", "!M>MTE3#0", "!M>FIX#0", "?M>MTE3#0",
                       "?M>FIX#0"]


def test_a_buffer_that_is_loaded_again_waits_for_its_reader():
    assert sync(after("InsertSync", kernel(load("a"), store("a"), load("a"), store("a")))) == [
        "!MTE2>MTE3#0", "?MTE2>MTE3#0", "!MTE3>MTE2#0", "?MTE3>MTE2#0", "!MTE2>MTE3#0", "?MTE2>MTE3#0"]
