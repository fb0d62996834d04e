# SPDX-License-Identifier: MIT
"""Kernels as .pto and CCE text, groups of kernels (cases of pypto.md section 17 in the names)."""
import os
import re
import sys
import warnings

import pytest

pl = pytest.importorskip("pypto.language")
from pypto import _core, _errors, passes  # noqa: E402

TILE = ("!pto.tile_buf<loc=vec, dtype=f32, rows=32, cols=32, v_row=32, v_col=32, blayout=row_major, slayout=none_box, "
        "fractal=512, pad=0>")
MUL = f'''module {{
  func.func @mul_kernel_2d(%arg0: !pto.ptr<f32>, %arg1: !pto.ptr<f32>, %arg2: !pto.ptr<f32>) {{
    %c32 = arith.constant 32 : index
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %3 = pto.make_tensor_view %arg0, shape = [%c32, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>
    %4 = pto.make_tensor_view %arg1, shape = [%c32, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>
    %5 = pto.make_tensor_view %arg2, shape = [%c32, %c32], strides = [%c32, %c1] : !pto.tensor_view<?x?xf32>
    %0 = pto.alloc_tile : {TILE}
    %1 = pto.alloc_tile : {TILE}
    %2 = pto.alloc_tile : {TILE}
    %6 = pto.partition_view %3, offsets = [%c0, %c0], sizes = [%c32, %c32] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<32x32xf32>
    pto.tload ins(%6 : !pto.partition_tensor_view<32x32xf32>) outs(%0 : {TILE})
    %7 = pto.partition_view %4, offsets = [%c0, %c0], sizes = [%c32, %c32] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<32x32xf32>
    pto.tload ins(%7 : !pto.partition_tensor_view<32x32xf32>) outs(%1 : {TILE})
    pto.tmul ins(%0, %1 : {TILE}, {TILE}) outs(%2 : {TILE})
    %8 = pto.partition_view %5, offsets = [%c0, %c0], sizes = [%c32, %c32] : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<32x32xf32>
    pto.tstore ins(%2 : {TILE}) outs(%8 : !pto.partition_tensor_view<32x32xf32>)
    return
  }}
}}
'''


def kernel(*lines, params="", name="k", out="pl.FP32", before="", shape=(32, 32)):
    """A program with one kernel: a, b and o are tensors; the lines stand in its body."""
    t = f"pl.Tensor[[{shape[0]}, {shape[1]}], pl.FP32]"
    body = "".join(f"        {line}\n" for line in lines)
    return pl.parse(f"{before}\n@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n"
                    f"    def {name}(self, a: {t}, b: {t}, o: pl.Out[{t.replace('pl.FP32', out)}]{params})"
                    f" -> {t.replace('pl.FP32', out)}:\n{body}        return o\n")


def text(program, what="pto", name="k", strategy="PTOAS", arch=0):
    return _core.generate(passes.PassManager.get_strategy(strategy).run_passes(program), what, name, arch)


LOAD = ("ta = pl.load(a, [0, 0], [32, 32])", "tb = pl.load(b, [0, 0], [32, 32])")
STORE = "o = pl.store(t, [0, 0], [32, 32], o)"


def test_case_52_the_mul_kernel_of_the_requirement():
    assert text(kernel(*LOAD, "t = pl.mul(ta, tb)", STORE, name="mul_kernel_2d"), name="mul_kernel_2d") == MUL


@pytest.mark.parametrize("body", ["t = pl.mul(ta, tb)", "t = pl.row_expand_sub(ta, pl.row_max(tb))",
                                  "t = pl.cast(pl.cast(ta, pl.FP16), pl.FP32)"])
def test_case_53_no_synchronisation_in_pto_text(body):
    for strategy in ("PTOAS", "Default"):
        found = text(kernel(*LOAD, body, STORE), strategy=strategy)
        assert not re.search("set_flag|wait_flag|barrier|sync", found)


def test_case_54_dynamic_extents_are_parameters():
    p = pl.parse('''
M, N = pl.dynamic("M"), pl.dynamic("N")
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[M, N], pl.FP32], o: pl.Out[pl.Tensor[[M, N], pl.FP32]]) -> pl.Tensor[[M, N], pl.FP32]:
        t = pl.load(a, [0, 0], [8, 8])
        o = pl.store(t, [0, 0], [8, 8], o)
        return o
''')
    found = text(p)
    assert "@k(%arg0: !pto.ptr<f32>, %arg1: !pto.ptr<f32>, %arg2: index, %arg3: index)" in found
    assert found.count("shape = [%arg2, %arg3], strides = [%arg3, %c1]") == 2
    wrapper = _core.generate(passes.PassManager.get_strategy("PTOAS").run_passes(p), "wrapper", "k", 0, "")
    assert "    ::k(a, o, M, N);\n" in wrapper
    assert "int64_t M = static_cast<int64_t>(a_tensor->shapes[0]);" in wrapper


def test_case_55_layouts():
    found = text(kernel(*LOAD, "m = pl.row_max(ta)", "t = pl.row_expand_sub(tb, m)", STORE))
    assert "rows=32, cols=1, v_row=32, v_col=1, blayout=col_major, slayout=none_box" in found
    found = text(pl.parse('''
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[64], pl.FP32], o: pl.Out[pl.Tensor[[64], pl.FP32]]) -> pl.Tensor[[64], pl.FP32]:
        o = pl.store(pl.exp(pl.load(a, [0], [64])), [0], [64], o)
        return o
'''))
    assert "rows=1, cols=64" in found
    found = text(kernel("m = pl.load(a, [0, 0], [32, 32], target_memory=pl.MemorySpace.Mat)",
                        "l = pl.move(m, target_memory=pl.MemorySpace.Left)",
                        "r = pl.move(m, target_memory=pl.MemorySpace.Right)", "t = pl.matmul(l, r)", STORE))
    assert "loc=left, dtype=f32, rows=32, cols=32, v_row=32, v_col=32, blayout=col_major, slayout=row_major" in found
    assert "loc=acc" in found and "fractal=1024" in found


def test_case_56_modes_are_attributes():
    found = text(kernel(*LOAD, "t = pl.cast(ta, pl.INT32)", STORE, out="pl.INT32"))
    assert "{rmode = #pto<round_mode ROUND>}" in found
    found = text(kernel(*LOAD, "m = pl.cmp(ta, tb, cmp_type=4)", "t = pl.sel(m, ta, tb)", STORE))
    assert "{cmpMode = #pto<cmp gt>}" in found


def test_decision_10_a_narrower_float_is_the_nearest_even():
    found = text(kernel(*LOAD, "t = pl.cast(pl.cast(ta, pl.FP16), pl.FP32)", STORE))
    assert "{rmode = #pto<round_mode RINT>}" in found


@pytest.mark.parametrize("mode", ["none", "rint", "round", "floor", "ceil", "trunc", "odd"])
def test_decision_10_an_explicit_mode_stands_as_it_is(mode):
    found = text(kernel(*LOAD, f"t = pl.cast(pl.cast(ta, pl.FP16, mode='{mode}'), pl.FP32)", STORE))
    assert f"{{rmode = #pto<round_mode {mode.upper()}>}}" in found
    found = text(kernel(*LOAD, f"t = pl.cast(pl.cast(ta, pl.FP16, mode='{mode}'), pl.FP32)", STORE), "cce", strategy="Default")
    assert f", RoundMode::CAST_{mode.upper()});" in found


def test_case_57_operators_without_an_instruction_are_refused():
    with pytest.raises(ValueError, match="No codegen registered for operation: block.batch_matmul"):
        text(kernel(*LOAD, "x = pl.create_tile([2, 16, 32], dtype=pl.FP32)", "y = pl.create_tile([2, 32, 16], dtype=pl.FP32)",
                    "z = pl.batch_matmul(x, y)", "t = pl.add(ta, tb)", STORE))


def test_case_58_cce_waits_for_what_it_sets_and_uses_allocated_addresses():
    p = passes.PassManager.get_strategy("Default").run_passes(kernel(*LOAD, "t = pl.add(ta, tb)", STORE))
    found = _core.generate(p, "cce", "k", 0)
    first = found.index("set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);")
    assert first < found.index("wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);") < found.index("TADD(t, ta, tb);")
    assert found.index("TADD(t, ta, tb);") < found.index("set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);")
    assert re.findall(r"TASSIGN\((\w+), (0x\w+)\);", found) == [("ta", "0x0"), ("tb", "0x1000"), ("t", "0x2000")]
    assert "using taType = Tile<TileType::Vec, float, 32, 32, BLayout::RowMajor, -1, -1, SLayout::NoneBox, 512>;" in found
    assert "using aGlobalShapeDim5 = Shape<1, 1, 1, 32, 32>;" in found


@pytest.mark.parametrize("valid, size, part", [("[32, 32]", "[n, 32]", "n, 32"), ("[n, 32]", "[32, 32]", None),
                                               ("[n, 32]", "[8, 32]", "8, 32"), ("[32, 32]", "[16, n]", "16, n"),
                                               ("[16, 32]", "[32, 32]", None)])
def test_a_store_writes_the_region_that_it_names_and_no_more_than_is_valid(valid, size, part, tmp_path):
    import subprocess

    from pypto import _compile
    p = kernel(f"t = pl.load(a, [0, 0], [32, 32], valid_shapes={valid})", f"o = pl.store(t, [0, 0], {size}, o)",
               params=", n: pl.INT32")
    found = text(p, "cce", strategy="Default")
    assert re.findall(r"t\.SetValidShape\((.*?)\);\n    TSTORE", found) == ([part] if part else [])
    found = text(p)
    assert len(re.findall(r"pto\.set_validshape|pto\.subview", found)) == (1 if part else 0)
    (tmp_path / "k.pto").write_text(found)
    subprocess.run([_compile.find_ptoas(), tmp_path / "k.pto", "--enable-insert-sync"], check=True, capture_output=True)


def test_constants_are_keyed_by_value_and_type():
    found = text(kernel(*LOAD, "t = pl.add(pl.cast(pl.add(pl.cast(ta, pl.FP16), 1.5), pl.FP32), 1.5)", STORE))
    assert "%cst = arith.constant 1.500000e+00 : f16" in found and "%cst_1 = arith.constant 1.500000e+00 : f32" in found


def test_decision_5_columns_are_computed_as_rows():
    found = text(kernel(*LOAD, "m = pl.exp(pl.row_max(ta))", "t = pl.row_expand_mul(tb, m)", STORE))
    assert re.search(r"%\d+ = pto.treshape %\d+ : .*rows=32, cols=1.* -> .*rows=1, cols=32", found)


def test_loops_and_branches_carry_scalars_only():
    found = text(kernel(*LOAD, "n = pl.const(0, pl.INT32)", "for i in pl.range(4):", "    if i < 2:", "        n = n + 1",
                        "        ta = pl.add(ta, tb)", "t = pl.add(ta, tb)", STORE))
    assert re.search(r"%\d+ = scf.for %\d+ = %c0 to %c4 step %c1 iter_args\(%\d+ = %c0_i32\) -> \(i32\) {", found)
    assert re.search(r"%\d+ = scf.if %\d+ -> \(i32\) {", found) and re.search(r"scf.yield %\d+ : i32", found)


def test_slices_with_gaps_bring_their_strides():
    k = "pl.Tensor[[16, 16], pl.FP32]"
    p = pl.parse(f'''
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: {k}, o: pl.Out[{k}]) -> {k}:
        o = pl.store(pl.load(a, [0, 0], [16, 16]), [0, 0], [16, 16], o)
        return o
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[64, 64], pl.FP32]) -> {k}:
        r = pl.create_tensor([16, 16], dtype=pl.FP32)
        r = self.k(pl.slice(x, [16, 16], [0, 16]), r)
        return r
''')
    found = text(p)
    assert "@k(%arg0: !pto.ptr<f32>, %arg1: !pto.ptr<f32>, %arg2: index)" in found
    assert "strides = [%arg2, %c1]" in found
    wrapper = _core.generate(passes.PassManager.get_strategy("PTOAS").run_passes(p), "wrapper", "k", 0, "")
    assert "::k(a, o, static_cast<int64_t>(a_tensor->strides[0]));" in wrapper


# ---- Clusters, pipes, blocks ----

PIPE = '''
T = pl.Tensor[[32, 32], pl.FP32]
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def mm(self, cid: pl.Cluster, a: pl.Tensor[[32, 32], pl.FP16], o: pl.PIPE_OUT[pl.Tile[[32, 32], pl.FP32]]):
        m = pl.load(a, [0, 0], [32, 32], target_memory=pl.MemorySpace.Mat)
        l = pl.move(m, target_memory=pl.MemorySpace.Left)
        r = pl.move(m, target_memory=pl.MemorySpace.Right)
        for i in pl.range(PUSHES):
            pl.tpush(pl.matmul(l, r), o)
    @pl.function(type=pl.FunctionType.InCore)
    def act(self, cid: pl.Cluster, i: pl.PIPE_IN[pl.Tile[[32, 32], pl.FP32]], y: pl.Out[pl.Tensor[[32, 32], pl.FP32]]
            ) -> pl.Tensor[[32, 32], pl.FP32]:
        for k in pl.range(POPS):
            y = pl.store(pl.relu(pl.tpop(i)), [0, 0], [32, 32], y)
        return y
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[32, 32], pl.FP16]) -> pl.Tensor[[32, 32], pl.FP32]:
        y = pl.create_tensor([32, 32], dtype=pl.FP32)
        cid = pl.allocate_cluster()
        p = pl.create_pipe([32, 32], dtype=pl.FP32)
        p = self.mm(cid, a, p)
        y = self.act(cid, p, y)
AGAIN        return y
'''


def group(pushes=3, pops=3, again=""):
    p = pl.parse(PIPE.replace("PUSHES", str(pushes)).replace("POPS", str(pops)).replace("AGAIN", again))
    p = passes.PassManager.get_strategy("PTOAS").run_passes(p)
    _core.describe_program(p)
    return p


def test_case_62_members_of_a_group_carry_the_cluster():
    found = _core.generate(group(), "orchestration", "main", 0)
    assert found.count("make_cluster_param(cid),") == 2
    assert "Tensor cid = pto2_rt_allocate_cluster(rt, 1);" in found
    assert "uint64_t p_shapes[1] = {1};\n    Tensor p = make_pipe(p_shapes, 1, DataType::INT8);" in found
    assert found.index("make_pipe_out_param(p)") < found.index("make_pipe_in_param(p)")


def test_pipes_in_kernels():
    p = group()
    found = _core.generate(p, "pto", "act", 0)
    assert "attributes {pto.kernel_kind = #pto.kernel_kind<vector>}" in found
    pop, free = found.index("pto.tpop_from_aic {split = 0, id = 0}"), found.index("pto.tfree_from_aic {split = 0, id = 0}")
    assert pop < found.index("pto.trelu") < free
    assert "pto.tpush_to_aiv(" in _core.generate(p, "pto", "mm", 0)


def test_case_63_one_pipe_has_one_consumer():
    with pytest.raises(ValueError, match="Pipe 'p' has 2 consumers; declare one PIPE_OUT per consumer"):
        group(again="        y = self.act(cid, p, y)\n")


def test_case_64_pushes_and_pops_agree():
    with pytest.raises(ValueError, match="Pipe 'p': 4 pushes, 3 pops"):
        group(4, 3)


@pytest.mark.parametrize("pushes, pops", [("n", 3), (3, "n")])
def test_case_64_numbers_that_are_not_constant_are_warned_about(pushes, pops):
    text = PIPE.replace("PUSHES", f"{pushes}").replace("POPS", f"{pops}").replace("AGAIN", "").replace(
        "cid: pl.Cluster, ", "cid: pl.Cluster, n: pl.INT64, ").replace("(cid, ", "(cid, 3, ")
    program = passes.PassManager.get_strategy("PTOAS").run_passes(pl.parse(text, "pipes.py"))
    with pytest.warns(_errors.CompileWarning, match="Pipe 'p': the numbers of pushes and pops are not known here") as seen:
        _core.describe_program(program)
    assert seen[0].filename == "pipes.py" and "self.act(" in text.splitlines()[seen[0].lineno - 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(_errors.CompileWarning):
            _core.describe_program(program)


BLOCKS = '''
T = pl.Tensor[[32, 32], pl.FP32]
@pl.program
class P:
    @pl.function(type=pl.FunctionType.BlockInCore)
    def k(self, CLUSTER x: pl.Tensor[[32, 32], pl.FP32], y: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
          blockdim: pl.Scalar[pl.INT32], block_id: pl.Scalar[pl.INT32]) -> pl.Tensor[[32, 32], pl.FP32]:
        y = pl.store(pl.load(x, [block_id * 4, 0], [4, 32]), [block_id * 4, 0], [4, 32], y)
        return y
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[32, 32], pl.FP32]) -> pl.Tensor[[32, 32], pl.FP32]:
        y = pl.create_tensor([32, 32], dtype=pl.FP32)
ALLOCATE        y = self.k(ARGUMENT x, y, blockdim=8)
        return y
'''


def blocks(cluster="", allocate="", argument=""):
    p = pl.parse(BLOCKS.replace("CLUSTER", cluster).replace("ALLOCATE", allocate).replace("ARGUMENT", argument))
    p = passes.PassManager.get_strategy("PTOAS").run_passes(p)
    _core.describe_program(p)
    return p


def test_case_65_one_submit_of_all_blocks():
    p = blocks()
    found = _core.generate(p, "orchestration", "main", 0)
    assert "pto2_rt_submit_block_task(rt, 0, PTO2_WORKER_VECTOR, params_t0, 2, 8);" in found
    wrapper = _core.generate(p, "wrapper", "k", 0, "")
    assert "int32_t block_id = get_block_idx(args);" in wrapper and "int32_t blockdim = get_block_num(args);" in wrapper
    with pytest.raises(ValueError, match=r"allocated clusters \(4\) != blockdim \(8\)"):
        blocks("cid: pl.Cluster,", "        cid = pl.allocate_cluster(4)\n", "cid,")


def test_decision_17_kernels_may_call_things_as_the_headers_do(tmp_path):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz"))
    import pypto_executed
    words = ("Tensor", "Tile", "TileType", "Shape", "Stride", "GlobalTensor", "Layout", "BLayout", "SLayout", "PadValue", "CmpMode",
             "RoundMode", "int", "TADD", "TLOAD", "set_flag", "pto", "std", "args", "half", "x0Global", "o0_tensor", "kernel_entry")
    kernels = []
    for i, word in enumerate(words):
        text = ("@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n"
                f"    def k{i}(self, x: pl.Tensor[[8, 16], pl.FP32], {word}: pl.FP32, o: pl.InOut[pl.Tensor[[8, 16], pl.FP32]]"
                ") -> pl.Tensor[[8, 16], pl.FP32]:\n"
                f"        t = pl.mul(pl.load(x, [0, 0], [8, 16]), {word})\n"
                f"        o = pl.store(pl.exp(t), [0, 0], [8, 16], o)\n        return o\n")
        inner = (text.replace(f"def k{i}(", f"def l{i}(").replace(f", {word}: pl.FP32", "").replace(f", {word})", ", 0.5)")
                 .replace("t = ", f"{word} = ").replace("exp(t)", f"exp({word})"))
        loop = (text.replace(f"def k{i}(", f"def m{i}(").replace(f", {word}: pl.FP32", "").replace(f", {word})", ", 0.5)")
                .replace("        o = ", f"        for {word} in pl.range(2):\n            t = pl.mul(t, pl.cast({word}, pl.FP32))\n        o = "))
        for text in (text, inner, loop):
            for backend in ("PTO", "CCE"):
                kernels += pypto_executed.kernels_of(text, i, "a2a3", backend, tmp_path)
    assert len(kernels) == 6 * len(words)
    pypto_executed.check_kernels(kernels, "a2a3", tmp_path)
