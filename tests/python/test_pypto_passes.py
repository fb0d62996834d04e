# SPDX-License-Identifier: MIT
"""Passes of PyPTO before and after, one pair per rule (cases of pypto.md section 17 in the names)."""
import re

import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import backend, ir, passes  # noqa: E402

KERNEL = ("@pl.function(type=pl.FunctionType.InCore)\n"
          "def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Tensor[[64, 64], pl.FP32], o: pl.InOut[pl.Tensor[[64, 64], pl.FP32]],"
          " c: pl.BOOL, n: pl.INT64):\n")
MAT, LEFT, RIGHT = (f"target_memory=pl.MemorySpace.{m}" for m in ("Mat", "Left", "Right"))


def kernel(*lines):
    return pl.parse(KERNEL + "".join(f"    {line}\n" for line in lines))


def program(*lines, params="x: pl.Tensor[[64, 64], pl.FP32], y: pl.Tensor[[64, 64], pl.FP32]",
            result="pl.Tensor[[64, 64], pl.FP32]"):
    return pl.parse("M = pl.dynamic(\"M\")\n\n@pl.program\nclass P:\n    @pl.function\n"
                    f"    def main(self, {params}) -> {result}:\n" + "".join(f"        {line}\n" for line in lines))


def load(v, tensor="x", row=0, rows=64):
    return f"{v} = pl.load({tensor}, [{row}, 0], [{rows}, 64])"


def store(v, row=0, rows=64):
    return f"o = pl.store({v}, [{row}, 0], [{rows}, 64], o)"


def after(name, p, strategy="Default", platform="a2a3"):
    """The program after the pass; each stage's text gives the same program again."""
    manager = passes.PassManager.get_strategy(strategy, platform)
    at = manager.names.index(name)
    for n in manager.names[:at + 1]:
        p = passes.PassManager([n], platform).run_passes(p)
        text = str(p)
        again = pl.parse(text)
        assert str(again) == text, n
        ir.assert_structural_equal(p, again)
    return p


def brief(p):
    """Lines of the body: sync as !SRC>DST#n and ?SRC>DST#n, tiles as space@id, allocations left out."""
    out = []
    for line in str(p).splitlines()[2:]:
        flag = re.match(r"( *)pl\.system\.(\w+)\((.*)\)", line)
        if "pl.alloc(" in line:
            continue
        if flag:
            pipes = ">".join(re.findall(r"PipeType\.(\w+)", flag[3]))
            event = re.search(r"event_id=(\d+)", flag[3])
            out.append(flag[1] + {"sync_src": "!", "sync_dst": "?"}.get(flag[2], flag[2]) + pipes +
                       (f"#{event[1]}" if event else ""))
            continue
        line = re.sub(r": pl\.Tile\[.*pl\.MemRef\(pl\.MemorySpace\.(\w+), (-?\d+), \d+, (\d+)\)\] =", r": \1@\3 =", line)
        line = re.sub(r": pl\.(?:Tensor|Scalar|Tile)\[.*?\] = ", " = ", line)
        line = re.sub(r": pl\.Tensor\[.*\)\] = ", " = ", line)
        out.append(line.replace("pl.", "").replace(", target_memory=MemorySpace.Vec", ""))
    return [line[4:] for line in out]


def buffers(p):
    f = next(iter(p.functions.values())) if p.node_kind == "Program" else p
    return list(passes._buffers(f.body))


def sync(p):
    return [line.strip() for line in brief(p) if re.match(r" *([!?]|bar_)", line)]


# ---- Loops ----

def test_unrolled_loops_are_bodies_with_constants():
    p = after("UnrollLoops", kernel("for i in pl.unroll(8, 0, -4):", "    " + load("t", row="i * 2", rows=8),
                                    "    for j in pl.unroll(2):", "        k = i + j"))
    assert brief(p) == ["t = load(x, [16, 0], [8, 64])", "k = 8", "k = 9", "t = load(x, [8, 0], [8, 64])", "k = 4", "k = 5"]


def test_unrolled_loops_inside_each_other_are_bounded_together():
    with pytest.raises(pl.CompileError, match="make more than 65536 copies") as info:
        passes.unroll_loops()(kernel("for i in pl.unroll(1024):", "    for j in pl.unroll(1024):", "        k = i + j"))
    assert info.value.span.line == 4 and len(info.value.errors) == 1


def test_a_while_loop_carries_what_it_reassigns():
    p = after("ConvertToSSA", kernel(load("a"), "k = n", "while k > 0:", "    k = k - 1", "    a = pl.exp(a)", store("a")))
    assert brief(p)[2:] == [
        "for (a_iter_1, k_iter_1) in while_(init_values=(a_0, k_0)):", "    cond(k_iter_1 > 0)", "    k_3 = k_iter_1 - 1",
        "    a_3 = exp(a_iter_1)", "    a_2, k_2 = yield_(a_3, k_3)", "o_1 = store(a_2, [0, 0], [64, 64], o_0)"]


def test_a_region_with_several_results_gives_a_tuple():
    p = after("OutlineIncoreScopes", program(
        "with pl.incore():", "    " + load("t"), "    a = pl.store(t, [0, 0], [64, 64], x)",
        "    b = pl.store(t, [0, 0], [64, 64], y)", "c = a + b", "return c"))
    lines = [line.strip() for line in str(p.functions["main"]).splitlines()]
    assert [line.split(": ")[0] + " =" + line.split(" =")[-1] for line in lines if " = " in line][:3] == [
        "ret_1 = main_incore_0(x_0, y_0)", "a_0 = ret_1[0]", "b_0 = ret_1[1]"]


def test_the_place_in_a_split_loop_is_an_index_whatever_its_start():
    p = after("SplitChunkedLoops", kernel("for i in pl.range(n, n + 5, chunk=2):", "    " + load("t", row="i % 2 * 8", rows=8)))
    assert "t_0_rem = load(x_0, [(i_0_rem + max(n_0 + 5 - n_0, 0) // 2 * 2 + n_0) % 2 * 8, 0], [8, 64])" in [
        line.strip() for line in brief(p)]

def test_a_chunked_loop_becomes_an_outer_and_an_inner_one():
    p = after("SplitChunkedLoops", kernel("for i in pl.parallel(0, 64, 8, chunk=4):", "    " + load("t", row="i", rows=8),
                                          "    " + store("t", "i", 8)))
    assert brief(p) == [
        "for i_0_out, (o_iter_1_out,) in range(0, 2, 1, init_values=(o_0,)):",
        "    for i_0_in, (o_iter_1_in,) in parallel(0, 4, 1, init_values=(o_iter_1_out,)):",
        "        t_0_in = load(x_0, [(i_0_out * 4 + i_0_in) * 8, 0], [8, 64])",
        "        o_3_in = store(t_0_in, [(i_0_out * 4 + i_0_in) * 8, 0], [8, 64], o_iter_1_in)",
        "        o_2_in = yield_(o_3_in)",
        "    o_2 = yield_(o_2_in)"]


def test_what_a_chunk_leaves_is_a_loop_of_its_own():
    p = after("SplitChunkedLoops", kernel("for i in pl.range(3, 56, 8, chunk=4):", "    " + load("t", row="i", rows=8)))
    assert brief(p) == [
        "for i_0_out in range(0, 1, 1):",
        "    for i_0_in in range(0, 4, 1):",
        "        t_0_in = load(x_0, [3 + (i_0_out * 4 + i_0_in) * 8, 0], [8, 64])",
        "for i_0_rem in range(0, 3, 1):",
        "    t_0_rem = load(x_0, [3 + (4 + i_0_rem) * 8, 0], [8, 64])"]


def test_a_chunked_loop_of_unknown_length_never_counts_below_zero():
    p = after("SplitChunkedLoops", kernel("for i in pl.range(n, chunk=4):", "    " + load("t", row="i", rows=1)))
    assert brief(p)[0] == "for i_0_out in range(0, max(n_0, 0) // 4, 1):"
    assert brief(p)[3] == "for i_0_rem in range(0, max(n_0, 0) % 4, 1):"


def test_outer_loops_of_parallel_chunks_come_first():
    p = program("for i in pl.parallel(0, 64, 8, chunk=4):", "    for j in pl.parallel(4, chunk=2):",
                "        t = pl.slice(x, [8, 16], [i, j * 16])", "        y = pl.assemble(y, pl.add(t, 1.0), [i, j * 16])",
                "return y")
    text = [line.strip() for line in str(after("InterchangeChunkLoops", p)).splitlines()]
    heads = [line.split(",")[0] for line in text if line.startswith(("for", "with"))]
    assert heads == ["for i_0_out", "for j_0_out_in", "with pl.incore():", "for i_0_in", "for j_0_in_in"]
    kernel_0 = after("ConvertTensorToBlockOps", p).functions["main_incore_0"]
    assert {v.name[0]: d for v, d in zip(kernel_0.params, kernel_0.param_directions)} == {"i": 0, "j": 0, "x": 0, "y": 2}


# ---- Operators on tensors ----

def test_operators_on_tensors_become_tiles_and_the_caller_makes_the_result():
    p = after("ConvertTensorToBlockOps", program("return pl.mul(pl.add(x, y), 2.0)"))
    text = str(p).replace("pl.", "").replace(", target_memory=MemorySpace.Vec", "")
    assert ("def main_incore_0(self, x_0: Tensor[[64, 64], FP32], y_0: Tensor[[64, 64], FP32], "
            "_t1_out: Out[Tensor[[64, 64], FP32]]) -> Tensor[[64, 64], FP32]:") in text
    lines = [re.sub(": T.*? = ", " = ", line.strip()) for line in text.splitlines() if " = " in line]
    assert lines == ["_b0 = load(x_0, [0, 0], [64, 64])", "_b1 = load(y_0, [0, 0], [64, 64])", "_b2 = add(_b0, _b1)",
                     "_b3 = muls(_b2, 2.0)", "_b4 = store(_b3, [0, 0], [64, 64], _t1_out)",
                     "_o0 = create_tensor([64, 64], dtype=FP32)", "_t1 = self.main_incore_0(x_0, y_0, _o0)"]


def test_large_and_symbolic_tensors_are_cut_into_blocks():
    p = after("ConvertTensorToBlockOps", program("return pl.exp(x)", params="x: pl.Tensor[[3, M, 20], pl.FP32]",
                                                 result="pl.Tensor[[3, M, 20], pl.FP32]"))
    text = "\n".join(brief(p))
    block = int(re.search(r"range\(0, M, (\d+),", text)[1])
    assert "range(0, 3, 1," in text and f"min(M - _i2, {block})" in text
    assert f"load(x_0, [_i0, _i2, 0], [1, {block}, 24], valid_shapes=[1, _n4, 20])" in text
    assert "[_i0, _i2, 0], [1, _n4, 20]" in text


def test_row_reductions_keep_their_rows_whole():
    p = after("ConvertTensorToBlockOps", program("return x - pl.row_max(x)", params="x: pl.Tensor[[1000, 300], pl.FP32]",
                                                 result="pl.Tensor[[1000, 300], pl.FP32]"))
    text = "\n".join(brief(p))
    rows = int(re.search(r"range\(0, 1000, (\d+),", text)[1])
    assert f"load(x_0, [_i0, 0], [{rows}, 304], valid_shapes=[{rows}, 300])" in text
    with pytest.raises(pl.CompileError, match="is too long for a tile"):
        after("ConvertTensorToBlockOps", program("return x - pl.row_max(x)", params="x: pl.Tensor[[2, 1000000], pl.FP32]",
                                                 result="pl.Tensor[[2, 1000000], pl.FP32]"))


TENSORS = {
    "softmax": ("m = pl.row_max(x)\n        e = pl.exp(x - m)\n        return e / pl.row_sum(e) * w",
                "x: pl.Tensor[[203, 300], pl.FP32], w: pl.Tensor[[300], pl.FP32]", "pl.Tensor[[203, 300], pl.FP32]",
                lambda x, w: (e := np.exp(x - x.max(1, keepdims=True))) / e.sum(1, keepdims=True) * w),
    "symbolic": ("return pl.maximum(x * 2.0, y) - 1.0", "x: pl.Tensor[[3, M, 20], pl.FP32], y: pl.Tensor[[3, M, 20], pl.FP32]",
                 "pl.Tensor[[3, M, 20], pl.FP32]", lambda x, y: np.maximum(x * 2, y) - 1),
    "transpose": ("return pl.transpose(x, 0, 1) + 1.0", "x: pl.Tensor[[100, 30], pl.FP32]", "pl.Tensor[[30, 100], pl.FP32]",
                  lambda x: x.T + 1),
    "transpose of outer": ("return pl.transpose(x, 0, 1)", "x: pl.Tensor[[3, 4, 16], pl.FP32]", "pl.Tensor[[4, 3, 16], pl.FP32]",
                           lambda x: x.swapaxes(0, 1)),
    "twice": ("return pl.transpose(pl.transpose(x, -1, -2) * 3.0, 0, 1)", "x: pl.Tensor[[70, 40], pl.FP32]",
              "pl.Tensor[[70, 40], pl.FP32]", lambda x: x * 3),
    "transpose of the ends": ("return pl.transpose(x, 0, 2)", "x: pl.Tensor[[3, 4, 16], pl.FP32]",
                              "pl.Tensor[[16, 4, 3], pl.FP32]", lambda x: x.transpose(2, 1, 0)),
    "product": ("return pl.matmul(x, y) * 2.0", "x: pl.Tensor[[100, 200], pl.FP32], y: pl.Tensor[[200, 72], pl.FP32]",
                "pl.Tensor[[100, 72], pl.FP32]", lambda x, y: 2 * (x.astype(float) @ y)),
    "product of transposed": ("return pl.matmul(x, y, a_trans=True, b_trans=True)",
                              "x: pl.Tensor[[M, 40], pl.FP32], y: pl.Tensor[[9, M], pl.FP32]",
                              "pl.Tensor[[40, 9], pl.FP32]", lambda x, y: x.T @ y.T),
    "products of a stack": ("return pl.matmul(x, y)", "x: pl.Tensor[[2, 3, 40, 33], pl.FP32], y: pl.Tensor[[3, 33, 150], pl.FP32]",
                            "pl.Tensor[[2, 3, 40, 150], pl.FP32]", lambda x, y: x @ y),
    "chain of products": ("for i in pl.range(3):\n            x = pl.matmul(x, y)\n        return x",
                          "x: pl.Tensor[[32, 32], pl.FP32], y: pl.Tensor[[32, 32], pl.FP32]", "pl.Tensor[[32, 32], pl.FP32]",
                          lambda x, y: x @ y @ y @ y),
    "one of two": ("for i in pl.range(3):\n            x, y = y, x\n        return x",
                   "x: pl.Tensor[[5, 8], pl.FP32], y: pl.Tensor[[5, 8], pl.FP32]", "pl.Tensor[[5, 8], pl.FP32]", lambda x, y: y),
    "part": ("for i in pl.range(3):\n            z = pl.slice(x, [8, 16], [i, 16])\n            y = z + 1.0\n"
             "        return pl.slice(y, [4, 16], [2, 0])",
             "x: pl.Tensor[[24, 64], pl.FP32], y: pl.Tensor[[8, 16], pl.FP32]", "pl.Tensor[[4, 16], pl.FP32]",
             lambda x, y: x[4:8, 16:32] + 1),
    "row": ("return x", "x: pl.Tensor[[1], pl.FP32]", "pl.Tensor[[1], pl.FP32]", lambda x: x),
    "long": ("return x + x", "x: pl.Tensor[[40001], pl.FP32]", "pl.Tensor[[40001], pl.FP32]", lambda x: x + x),
    "chunks": ("for i in pl.parallel(0, 56, 8, chunk=4):\n            for j in pl.parallel(4, chunk=2):\n"
               "                t = pl.slice(x, [8, 16], [i, j * 16])\n"
               "                y = pl.assemble(y, pl.add(t, 1.0), [i, j * 16])\n        return y",
               "x: pl.Tensor[[56, 64], pl.FP32], y: pl.Tensor[[56, 64], pl.FP32]", "pl.Tensor[[56, 64], pl.FP32]",
               lambda x, y: x + 1),
}


@pytest.mark.parametrize("strategy", ["Default", "PTOAS"])
@pytest.mark.parametrize("name", TENSORS)
def test_what_operators_on_tensors_compute_stays_the_same(name, strategy):
    body, params, result, golden = TENSORS[name]
    p = after("AllocateMemoryAddr", program(body, params=params, result=result), strategy)
    shapes = [[5 if d.strip() == "M" else int(d) for d in s.split(",")] for s in re.findall(r"\[\[([^]]*)\]", params)]
    arrays = [np.random.default_rng(i).standard_normal(s).astype(np.float32) for i, s in enumerate(shapes)]
    want = golden(*(a.copy() for a in arrays))
    np.testing.assert_allclose(ir.interpret(p, *arrays, function="main"), want, rtol=2e-6, atol=1e-6 * (1 + np.abs(want).max()))


@pytest.mark.parametrize("value, message", [
    ("pl.matmul(x, y, c_matrix_nz=True)", "not generated for c_matrix_nz=True"),
    ("pl.matmul(pl.cast(x, pl.INT8), pl.cast(y, pl.INT8))", "not generated for a product of INT8 kept in INT8"),
    ("pl.matmul(pl.reshape(x, [4096]), pl.reshape(y, [4096]))", "not generated for a vector")])
def test_matrix_products_that_have_no_tiles_are_refused_with_a_place(value, message):
    p = program(f"z = {value}", "return x")
    with pytest.raises(pl.CompileError, match=message) as info:
        after("ConvertTensorToBlockOps", p)
    assert info.value.span.line == 7 and info.value.hint


# ---- Memory references ----

def test_every_value_has_a_memory_reference_and_results_share():
    p = after("InitMemRef", kernel(load("a"), "b = pl.reshape(a, [32, 128])", "d = pl.exp(b)", "e = pl.reshape(d, [64, 64])",
                                   store("e")))
    assert brief(p) == ["a_0: Vec@3 = load(x_0, [0, 0], [64, 64])", "b_0: Vec@3 = reshape(a_0, [32, 128])",
                        "d_0: Vec@4 = exp(b_0)", "e_0: Vec@4 = reshape(d_0, [64, 64])",
                        "o_1 = store(e_0, [0, 0], [64, 64], o_0)"]
    assert [(b.name, b.addr, b.size) for b in buffers(p)] == [("mem_vec_3", -1, 16384), ("mem_vec_4", -1, 16384)]
    stores = [s for s in p.body.stmts[0].stmts if s.var.name == "o_1"]
    assert stores[0].var.type.memref.id == p.params[2].type.memref.id == 2


def test_the_space_follows_from_the_operator():
    p = after("InitMemRef", kernel(f"a = pl.load(x, [0, 0], [64, 64], {MAT})", f"l = pl.move(a, {LEFT})",
                                   f"r = pl.move(a, {RIGHT})", "m = pl.matmul(l, r)", "m = pl.matmul_acc(m, l, r)", store("m")))
    assert [b.name for b in buffers(p)] == ["mem_mat_3", "mem_left_4", "mem_right_5", "mem_acc_6"]


def test_an_accumulator_that_is_used_later_is_refused():
    p = kernel(f"a = pl.load(x, [0, 0], [64, 64], {MAT})", f"l = pl.move(a, {LEFT})", f"r = pl.move(a, {RIGHT})",
               "m = pl.matmul(l, r)", "q = pl.matmul_acc(m, l, r)", store("q"), store("m"))
    with pytest.raises(pl.CompileError, match=r"The accumulator 'm' is used after pl.matmul_acc\(\) has added to it"):
        after("InitMemRef", p)


def test_a_carried_value_is_made_in_its_buffer_where_that_is_safe():
    p = after("InitMemRef", kernel(load("a"), "for i in pl.range(n):", "    " + load("s", "y"), "    a = pl.add(a, s)", store("a")))
    assert brief(p)[1:5] == ["for i_0, (a_iter_1,) in range(0, n_0, 1, init_values=(a_0,)):",
                             "    s_0: Vec@4 = load(y_0, [0, 0], [64, 64])", "    a_3: Vec@3 = add(a_iter_1, s_0)",
                             "    a_2: Vec@3 = yield_(a_3)"]


def test_a_carried_value_is_copied_where_the_old_one_is_still_read():
    p = after("InitMemRef", kernel(load("a"), load("s", "y"), "for i in pl.range(n):", "    b = pl.maximum(a, s)",
                                   "    s = pl.sub(a, b)", "    a = b", store("s")))
    loop = brief(p)[2:]
    assert loop[1:] == ["    b_0: Vec@5 = maximum(a_iter_1, s_iter_1)", "    s_3: Vec@4 = sub(a_iter_1, b_0)",
                        "    a_3: Vec@5 = b_0", "    _m0: Vec@3 = vec_move(a_3)", "    a_2, s_2 = yield_(_m0, s_3)",
                        "o_1 = store(s_2, [0, 0], [64, 64], o_0)"]


def test_carried_values_that_swap_go_through_one_more_buffer():
    p = after("InitMemRef", kernel(load("a"), load("b", "y"), "for i in pl.range(n):", "    t = a", "    a = b", "    b = t",
                                   store("a")))
    moves = [line.strip() for line in brief(p) if "vec_move" in line]
    assert moves == ["_m0: Vec@5 = vec_move(a_3)", "_m1: Vec@4 = vec_move(b_3)", "_m2: Vec@3 = vec_move(_m0)"]


def test_an_initial_value_that_is_needed_again_is_copied():
    p = after("InitMemRef", kernel(load("a"), "b = a", "for i in pl.range(n):", "    b = pl.add(b, a)", store("b")))
    assert brief(p)[2:4] == ["_m0: Vec@4 = vec_move(b_0)", "for i_0, (b_iter_1,) in range(0, n_0, 1, init_values=(_m0,)):"]


def test_branches_make_the_merged_value_in_one_buffer():
    p = after("InitMemRef", kernel(load("a"), "if c:", "    t = pl.add(a, a)", "else:", "    t = pl.mul(a, a)", store("t")))
    assert brief(p)[1:7] == ["if c_0:", "    t_0: Vec@4 = add(a_0, a_0)", "    t_2: Vec@4 = yield_(t_0)", "else:",
                             "    t_1: Vec@4 = mul(a_0, a_0)", "    t_2: Vec@4 = yield_(t_1)"]


# ---- Reuse and addresses ----

def test_case_36_a_buffer_is_taken_when_its_last_use_is_before_the_definition():
    p = after("BasicMemoryReuse", kernel(load("a"), load("b"), "d = pl.add(a, b)", "e = pl.exp(d)", store("e")))
    assert len(buffers(p)) == 3 and "e_0: Vec@3 = exp(d_0)" in brief(p)
    p = after("BasicMemoryReuse", kernel(load("a"), load("b"), "d = pl.add(a, b)", "e = pl.cast(d, target_type=pl.FP32)",
                                         store("e")))
    assert len(buffers(p)) == 4


def test_a_buffer_of_another_shape_is_not_taken():
    p = after("BasicMemoryReuse", kernel(load("a"), "b = pl.exp(a)", store("b"), load("e", rows=32), store("e", rows=32)))
    assert [b.size for b in buffers(p)] == [16384, 16384, 8192]


def test_what_is_read_in_a_loop_keeps_its_buffer_to_the_loop_s_end():
    p = after("BasicMemoryReuse", kernel(load("a"), "for i in pl.range(n):", "    b = pl.exp(a)", "    d = pl.log(b)",
                                         "    e = pl.exp(d)", "    " + store("e")))
    lines = brief(p)
    assert [re.search(r"Vec@\d", line)[0] for line in lines if "Vec@" in line] == ["Vec@3", "Vec@4", "Vec@5", "Vec@4"]


def test_case_34_addresses_follow_the_sizes():
    p = after("AllocateMemoryAddr", kernel(load("a"), load("b"), "d = pl.add(a, b)", store("d")))
    assert [b.addr for b in buffers(p)] == [0, 16384, 32768]
    head = "@pl.function(type=pl.FunctionType.InCore)\ndef f(x: pl.Tensor[[1, 10], pl.FP16], o: pl.Out[pl.Tensor[[1, 10], pl.FP16]]):\n"
    small = pl.parse(head + "    a = pl.load(x, [0, 0], [1, 10])\n    b = pl.exp(a)\n    o = pl.store(b, [0, 0], [1, 10], o)\n")
    assert [(b.addr, b.size) for b in buffers(after("AllocateMemoryAddr", small))] == [(0, 20), (32, 20)]


def test_spaces_are_counted_apart_and_accumulators_are_aligned():
    lines = [f"a = pl.load(x, [0, 0], [16, 8], {MAT})", f"b = pl.load(x, [0, 0], [8, 16], {MAT})", f"l = pl.move(a, {LEFT})",
             f"r = pl.move(b, {RIGHT})", "m = pl.matmul(l, r)", "q = pl.matmul(l, r)", "o = pl.store(m, [0, 0], [16, 16], o)",
             "o = pl.store(q, [16, 0], [16, 16], o)"]
    p = after("AllocateMemoryAddr", kernel(*lines))
    assert {b.name: b.addr for b in buffers(p)} == {"mem_mat_3": 0, "mem_mat_4": 1024, "mem_left_5": 0, "mem_right_6": 0,
                                                    "mem_acc_7": 0, "mem_acc_8": 1024}


def test_case_35_too_many_tiles_for_the_buffer():
    names = [f"t{i}" for i in range(13)]
    lines = [load(n) for n in names] + ["s = pl.add(t0, t1)"] + [f"s = pl.maximum(s, {n})" for n in names[2:]] + [store("s")]
    with pytest.raises(pl.CompileError, match=r"Function 'f': Vec buffer usage \(\d+ bytes\) exceeds platform limit "
                                              r"\(196608 bytes\)") as info:
        after("AllocateMemoryAddr", kernel(*lines))
    assert info.value.span.line > 2  # the tile that does not fit
    after("AllocateMemoryAddr", kernel(*lines[:11], "s = pl.add(t0, t1)", store("s")), platform="a5")


def test_case_35_usage_and_limit_of_thirteen_tiles_that_live_together():
    names = [f"t{i}" for i in range(13)]
    lines = [load(n) for n in names] + [f"o = pl.store({n}, [0, 0], [64, 64], o)" for n in names]
    with pytest.raises(pl.CompileError, match=r"usage \(212992 bytes\) exceeds platform limit \(196608 bytes\)"):
        after("AllocateMemoryAddr", kernel(*lines))


# ---- Synchronisation ----

def test_case_37_two_pairs():
    p = after("InsertSync", kernel(load("a"), load("b", "y"), "d = pl.add(a, b)", store("d")))
    assert brief(p) == ["a_0: Vec@3 = load(x_0, [0, 0], [64, 64])", "b_0: Vec@4 = load(y_0, [0, 0], [64, 64])", "!MTE2>V#0",
                        "?MTE2>V#0", "d_0: Vec@5 = add(a_0, b_0)", "!V>MTE3#0", "?V>MTE3#0",
                        "o_1 = store(d_0, [0, 0], [64, 64], o_0)"]


def test_case_38_one_barrier_between_dependent_operators():
    p = after("InsertSync", kernel(load("a"), "d = pl.add(a, a)", "e = pl.add(d, a)", store("e")))
    assert sync(p) == ["!MTE2>V#0", "?MTE2>V#0", "bar_v", "!V>MTE3#0", "?V>MTE3#0"]
    p = after("InsertSync", kernel(load("a"), "d = pl.add(a, a)", "e = pl.add(d, a)", store("e")), platform="a5")
    assert "bar_v" not in sync(p)  # in order by itself


def test_case_39_the_cube_chain():
    p = after("InsertSync", kernel(f"a = pl.load(x, [0, 0], [64, 64], {MAT})", f"b = pl.load(y, [0, 0], [64, 64], {MAT})",
                                   f"l = pl.move(a, {LEFT})", f"r = pl.move(b, {RIGHT})", "m = pl.matmul(l, r)", store("m")))
    assert sync(p) == ["!MTE2>MTE1#0", "!MTE2>MTE1#1", "?MTE2>MTE1#0", "?MTE2>MTE1#1", "!MTE1>M#0", "?MTE1>M#0",
                       "!M>MTE3#0", "!M>FIX#0", "?M>MTE3#0", "?M>FIX#0"]  # D30: a store from Acc counts as both pipes


def test_case_40_what_an_iteration_needs_is_at_the_end_of_the_body():
    p = after("InsertSync", kernel("for i in pl.range(4):", "    " + load("a", "o"), "    b = pl.add(a, a)", "    " + store("b")))
    assert brief(p)[1:] == ["    a_0: Vec@3 = load(o_iter_1, [0, 0], [64, 64])", "    !MTE2>V#0", "    ?MTE2>V#0",
                            "    b_0: Vec@4 = add(a_0, a_0)", "    !V>MTE3#0", "    ?V>MTE3#0",
                            "    o_3 = store(b_0, [0, 0], [64, 64], o_iter_1)", "    !MTE3>MTE2#0", "    ?MTE3>MTE2#0",
                            "    o_2 = yield_(o_3)"]


def test_a_consumer_in_a_branch_is_waited_for_before_it():
    p = after("InsertSync", kernel(load("a"), "if c:", "    b = pl.add(a, a)", "else:", "    b = pl.mul(a, a)", store("b")))
    assert [line.strip() for line in brief(p) if "yield" not in line] == [
        "a_0: Vec@3 = load(x_0, [0, 0], [64, 64])", "!MTE2>V#0", "?MTE2>V#0", "if c_0:", "b_0: Vec@4 = add(a_0, a_0)", "else:",
        "b_1: Vec@4 = mul(a_0, a_0)", "!V>MTE3#0", "?V>MTE3#0", "o_1 = store(b_2, [0, 0], [64, 64], o_0)"]


def test_a_barrier_that_only_the_next_iteration_needs_is_at_the_end():
    p = after("InsertSync", kernel(load("a"), "for i in pl.range(4):", "    b = pl.add(a, a)"))
    assert [line.strip() for line in brief(p)][1:] == ["!MTE2>V#0", "?MTE2>V#0", "for i_0 in range(0, 4, 1):",
                                                       "b_0: Vec@4 = add(a_0, a_0)", "bar_v"]


def test_a_number_is_used_again_only_behind_its_wait():
    lines = []
    for i in range(12):
        lines += [load(f"t{i}", row=i, rows=1), store(f"t{i}", i, 1)]
    open_flags = set()
    for line in sync(after("InsertSync", kernel(*lines))):
        if line[0] == "!":
            assert line[1:] not in open_flags
            open_flags.add(line[1:])
        elif line[0] == "?":
            open_flags.remove(line[1:])
    assert not open_flags


def test_more_results_than_events_wait_later():
    loads = [f"t{i} = pl.load(x, [{i}, 0], [1, 64])" for i in range(12)]
    stores = [f"o = pl.store(t{i}, [{i}, 0], [1, 64], o)" for i in (0, *range(11, 0, -1))]
    lines = sync(after("InsertSync", kernel(*loads, *stores)))  # the hazard checker has seen it
    assert max(int(line[-1]) for line in lines if line[0] in "!?") <= 7
    in_order = [f"o = pl.store(t{i}, [{i}, 0], [1, 64], o)" for i in range(12)]
    lines = sync(after("InsertSync", kernel(*loads, *in_order)))
    assert sum(line.startswith("?MTE2>MTE3") for line in lines) == 12


def test_event_numbers_of_the_author_are_the_hardware_s():
    flag = "pl.system.sync_src(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=8)"
    with pytest.raises(pl.CompileError, match="event_id 8 is none of the hardware's") as info:
        after("InitMemRef", kernel(load("a"), flag))
    assert info.value.span.line == 4


def test_synchronisation_of_the_author_is_left_alone_and_checked():
    flags = ["pl.system.sync_src(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=3)",
             "pl.system.sync_dst(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=3)"]
    p = after("InsertSync", kernel(load("a"), *flags, "b = pl.exp(a)"))
    assert sync(p) == ["!MTE2>V#3", "?MTE2>V#3"]
    with pytest.raises(pl.CompileError, match="The synchronisation in function 'f' is not enough: .* without waiting") as info:
        after("InitMemRef", kernel(load("a"), "b = pl.exp(a)", *flags, "d = pl.log(a)"))
    assert info.value.span.line == 4


def test_the_ptoas_strategy_has_no_synchronisation():
    names = passes.PassManager.get_strategy("PTOAS").names
    assert "InsertSync" not in names and names == [n for n in passes.PassManager.get_strategy().names if n != "InsertSync"]


# ---- Structure and the manager ----

def test_programs_in_tiles_have_a_strategy_of_their_own(tmp_path):
    names = passes.PassManager.get_strategy("DebugTileOptimization").names
    assert [n for n in passes.PassManager.get_strategy().names if n not in names] == ["OutlineIncoreScopes",
                                                                                      "ConvertTensorToBlockOps"]
    tiles = pl.parse("@pl.program\nclass P:\n" +
                     "".join(f"    {line}\n" for line in KERNEL.replace("(x:", "(self, x:").splitlines()) +
                     "".join(f"        {line}\n" for line in (load("a"), "b = pl.exp(a)", store("b"))))
    ready = [passes.PassManager.get_strategy(name).run_passes(tiles) for name in ("DebugTileOptimization", "Default")]
    assert str(ready[0]) == str(ready[1]) and "sync_src" in str(ready[0])
    backend.reset_for_testing()
    ir.compile(tiles, tmp_path, ir.OptimizationStrategy.DebugTileOptimization, skip_ptoas=True)
    backend.reset_for_testing()
    assert [f.name for f in sorted((tmp_path / "passes_dump").iterdir())][-2:] == [
        "08_after_BasicMemoryReuse.py", "09_after_AllocateMemoryAddr.py"]
    with pytest.raises(pl.CompileError, match="Pass InitMemRef needs a program with property SplitIncoreOrch"):
        passes.PassManager.get_strategy("DebugTileOptimization").run_passes(
            program("with pl.incore():", "    " + load("t"), "    x = pl.store(t, [0, 0], [64, 64], x)", "return x"))
    with pytest.raises(ValueError, match="there are Default, PTOAS and DebugTileOptimization"):
        passes.PassManager.get_strategy("Tiles")


def test_what_a_pass_lacks_has_a_place():
    with pytest.raises(pl.CompileError) as info:
        passes.outline_incore_scopes()(kernel("k = n", "k = k + 1"))
    assert [(e.message, e.span.line) for e in info.value.errors[1:]] == [
        ("IR Verification Report: 1 violation(s)", 2), ("MULTIPLE_ASSIGNMENT: k", 3)]

def test_statements_are_grouped_and_taken_apart():
    p = passes.convert_to_ssa()(kernel(load("a"), "if c:", "    b = pl.add(a, a)", "    " + store("b")))
    normal = passes.normalize_stmt_structure()(p)
    assert [s.node_kind for s in normal.body.stmts] == ["OpStmts", "IfStmt"]
    assert [s.node_kind for s in normal.body.stmts[1].then_body.stmts] == ["OpStmts", "YieldStmt"]
    flat = passes.flatten_single_stmt()(normal)
    assert [s.node_kind for s in flat.body.stmts] == ["AssignStmt", "IfStmt"]
    assert [s.node_kind for s in flat.body.stmts[1].then_body.stmts] == ["OpStmts", "YieldStmt"]
    ir.assert_structural_equal(normal, flat)
    assert ir.structural_hash(normal) == ir.structural_hash(flat)


def test_the_order_of_the_default_strategy():
    assert passes.PassManager.get_strategy().names == [
        "UnrollLoops", "ConvertToSSA", "FlattenCallExpr", "SplitChunkedLoops", "InterchangeChunkLoops", "RunVerifier",
        "OutlineIncoreScopes", "ConvertTensorToBlockOps", "InitMemRef", "BasicMemoryReuse", "InsertSync", "AllocateMemoryAddr"]


def test_instruments_see_each_pass_of_their_context():
    seen = []
    watch = passes.CallbackInstrument(lambda name, p: seen.append(("before", name)), lambda name, p: seen.append(("after", name)))
    assert passes.PassContext.current() is None
    with passes.PassContext([watch], verification_level="none") as context:
        assert passes.PassContext.current() is context
        passes.PassManager(["UnrollLoops", "ConvertToSSA"]).run_passes(kernel(load("a")))
        passes.unroll_loops()(kernel(load("a")))
    passes.unroll_loops()(kernel(load("a")))
    assert seen == [(when, name) for name in ("UnrollLoops", "ConvertToSSA", "UnrollLoops") for when in ("before", "after")]
    with pytest.raises(ValueError, match="no verification level is named 'all'"):
        passes.PassContext(verification_level="all")


def test_the_memory_report_names_every_space(tmp_path):
    p = pl.parse("@pl.program\nclass P:\n" + "".join(f"    {line}\n" for line in KERNEL.replace("(x:", "(self, x:").splitlines()) +
                 "".join(f"        {line}\n" for line in (load("a"), "b = pl.exp(a)", store("b"))))
    passes.PassManager.get_strategy().run_passes(p, report_dir=tmp_path)
    assert (tmp_path / "memory_after_AllocateMemoryAddr.txt").read_text() == (
        "Function f\nSpace | Used | Limit | Usage | MemRefs\nVec | 32768 | 196608 | 16.7% | 2\n")


def test_places_survive_all_passes():
    p = after("AllocateMemoryAddr", kernel(load("a"), "for i in pl.range(n):", "    a = pl.exp(a)", store("a")))

    def statements(node):
        for field in ("stmts",):
            for s in getattr(node, field, None) or []:
                yield from statements(s)
        for field in ("body", "then_body", "else_body"):
            if getattr(node, field, None) is not None:
                yield from statements(getattr(node, field))
        if node.node_kind not in ("SeqStmts", "OpStmts", "Function"):
            yield node
    lines = [s.span[1] for s in statements(p)]
    assert min(lines) >= 1 and {3, 5, 6} <= set(lines)


# ---- What passes gave is judged by others ----

ACCUMULATE = ("for i in pl.range(n):", "    " + load("s", "y"), "    t = pl.exp(s)", "    if c:", "        t = pl.mul(t, s)",
              "    " + store("t", "i", 64).replace("[i, 0]", "[0, 0]"), "    " + load("s", "o"), "    " + store("s"))
CUBE = (f"a = pl.load(x, [0, 0], [64, 64], {MAT})", f"r = pl.move(a, {RIGHT})", f"l = pl.move(a, {LEFT})", "m = pl.matmul(l, r)",
        "for i in pl.range(n):", f"    b = pl.load(y, [0, 0], [64, 64], {MAT})", f"    l = pl.move(b, {LEFT})",
        "    m = pl.matmul_acc(m, l, r)", store("m"))
STRAIGHT = (load("a"), load("b", "y"), "d = pl.add(a, b)", "e = pl.exp(d)", store("e"), load("a"), "e = pl.log(a)", store("e"))


@pytest.mark.parametrize("lines", [ACCUMULATE, CUBE, STRAIGHT], ids=["accumulate", "cube", "straight"])
def test_every_wait_and_barrier_matters(lines):
    text = str(after("InsertSync", kernel(*lines))).splitlines()
    flags = [i for i, line in enumerate(text) if "sync_src" in line or ".bar_" in line]
    assert flags
    for i in flags:
        without = [i]
        if "sync_src" in text[i]:
            wait = text[i].strip().replace("sync_src", "sync_dst")
            without.append(next(k for k in range(i + 1, len(text)) if text[k].strip() == wait))
        p = pl.parse("\n".join(line for k, line in enumerate(text) if k not in without))
        with pytest.raises(pl.CompileError, match="Internal error: pass AllocateMemoryAddr gave a program with a hazard"):
            passes.allocate_memory_addr()(p)


def test_a_wait_that_nobody_sets_is_found():
    text = str(after("InsertSync", kernel(*STRAIGHT))).splitlines()
    at = next(i for i, line in enumerate(text) if "sync_src" in line)
    with pytest.raises(pl.CompileError, match="waits for event 0 .* never set"):
        passes.allocate_memory_addr()(pl.parse("\n".join(text[:at] + text[at + 1:])))


@pytest.mark.parametrize("lines, taken, by", [
    (STRAIGHT, 3, 4),
    ((load("a"), "for i in pl.range(n):", "    b = pl.exp(a)", "    " + store("b")), 3, 4),
    ((load("a"), load("b"), "if c:", "    d = pl.add(a, b)", "else:", "    d = pl.exp(a)", store("d"), store("b")), 4, 5),
    ((load("a"), "for i in pl.range(n):", "    b = pl.exp(a)", "    a = pl.add(a, b)", store("a")), 3, 4),
], ids=["straight", "loop", "branch", "carried"])
def test_two_values_in_one_buffer_are_found(lines, taken, by):
    text = str(after("InitMemRef", kernel(*lines)))
    wrong = re.sub(rf"(MemorySpace\.Vec, -1, \d+, ){by}\)", rf"\g<1>{taken})", text)
    assert wrong != text
    with pytest.raises(pl.CompileError, match="Internal error: pass BasicMemoryReuse gave a program in whose function 'f' tile "
                                              "'\\w+' is "):
        passes.basic_memory_reuse()(pl.parse(wrong))


def test_a_value_that_is_handed_on_in_another_buffer_is_found():
    text = str(after("InitMemRef", kernel(load("a"), "for i in pl.range(n):", "    b = pl.exp(a)", "    a = pl.log(b)", store("a"))))
    wrong = re.sub(r"(a_3: .*)16384, 3\)", r"\g<1>16384, 9)", text)
    with pytest.raises(pl.CompileError, match="tile 'a_3' is not in the buffer in which it is handed on"):
        passes.basic_memory_reuse()(pl.parse(wrong))


@pytest.mark.parametrize("line", ["b = pl.sum(a, axis=1, keepdim=True)", "b = pl.max(a, axis=0)", "b = pl.min(a, axis=-1)"])
def test_operators_of_several_instructions_wait_for_what_they_read(line):
    assert sync(after("InsertSync", kernel(load("a"), line)))[:2] == ["!MTE2>V#0", "?MTE2>V#0"]


def test_every_operator_on_tiles_is_an_instruction_or_a_view():
    views = {"block.reshape", "block.view"}
    without = {name for name, _, params, instr, _ in passes._core.operators()
               if name.startswith("block.") and instr is None and "t " in f" {params}"}
    assert without - views == {"block.sum", "block.max", "block.min", "block.batch_matmul"}  # machine_op.c knows these


def test_a_bias_is_moved_and_waited_for():
    head = KERNEL.replace("(x:", "(w: pl.Tensor[[1, 64], pl.FP32], x:")
    p = pl.parse(head + "".join(f"    {line}\n" for line in (
        f"a = pl.load(x, [0, 0], [64, 64], {MAT})", f"b = pl.load(w, [0, 0], [1, 64], {MAT})", f"l = pl.move(a, {LEFT})",
        f"r = pl.move(a, {RIGHT})", "m = pl.matmul_bias(l, r, b)", store("m"))))
    p = after("InsertSync", p)
    assert [b.name for b in buffers(p)] == ["mem_mat_4", "mem_mat_5", "mem_left_6", "mem_right_7", "mem_bias_8", "mem_acc_9"]
    lines = brief(p)
    at = next(i for i, line in enumerate(lines) if line.startswith("_m0"))
    assert lines[at - 1] == "?MTE2>MTE1#1" and lines[at + 1:at + 3] == ["!MTE1>M#0", "?MTE1>M#0"]
