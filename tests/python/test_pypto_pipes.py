# SPDX-License-Identifier: MIT
"""Pipes between the kernels of a cluster: popped tiles whose values live on, several pipes, and counts of pushes and pops;
computed by the interpreter and by the kernels of both back ends."""
import os
import re
import warnings

import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import _core, ir, passes, runtime  # noqa: E402

os.environ.setdefault("SIMPLER_CACHE_DIR", os.path.join(os.path.abspath(os.environ.get("SIMPLER_BUILD_DIR", "build")),
                                                        "cache"))
COMBINATIONS = [("a2a3sim", "PTO"), ("a5sim", "CCE")]
PRODUCER = '''
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def mm(self, cid: pl.Cluster, a: pl.Tensor[[64, 32], pl.FP16], b: pl.Tensor[[32, 32], pl.FP16],
           o: pl.PIPE_OUT[pl.Tile[[16, 32], pl.FP32]]):
        r = pl.move(pl.load(b, [0, 0], [32, 32], target_memory=pl.MemorySpace.Mat), target_memory=pl.MemorySpace.Right)
        for k in pl.range(TIMES):
            for i in pl.range(0, 64, 16):
                t = pl.load(a, [i, 0], [16, 32], target_memory=pl.MemorySpace.Mat)
                pl.tpush(pl.matmul(pl.move(t, target_memory=pl.MemorySpace.Left), r), o)
'''
CONSUMER = '''
    @pl.function(type=pl.FunctionType.InCore)
    def v(self, cid: pl.Cluster, p: pl.PIPE_IN[pl.Tile[[16, 32], pl.FP32]], y: pl.InOut[pl.Tensor[[64, 32], pl.FP32]]
          ) -> pl.Tensor[[64, 32], pl.FP32]:
BODY
        return y
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[64, 32], pl.FP16], b: pl.Tensor[[32, 32], pl.FP16],
             y: pl.InOut[pl.Tensor[[64, 32], pl.FP32]]) -> pl.Tensor[[64, 32], pl.FP32]:
        cid = pl.allocate_cluster()
        p = pl.create_pipe([16, 32], dtype=pl.FP32)
        self.mm(cid, a, b, p)
        y = self.v(cid, p, y)
        return y
'''


def consumer(body, times=1):
    """A program whose consumer pops the four blocks of a product @times times."""
    text = "\n".join(f"        {line}" for line in body.strip("\n").split("\n"))
    return PRODUCER.replace("TIMES", str(times)) + CONSUMER.replace("BODY", text)


def inputs(*shapes):
    random = np.random.default_rng(5)
    return [random.uniform(-1, 1, s).astype("float16") for s in shapes]


def same(text, args, expected):
    """The interpreter, before and after the passes, and the chip with both back ends give @expected."""
    program = pl.parse(text)
    runs = [lambda *a: ir.interpret(program, *a),
            lambda *a: ir.interpret(passes.PassManager.get_strategy("Default").run_passes(program), *a)]
    runs += [runtime.compile(program, *c) for c in COMBINATIONS]
    for run in runs:
        found = run(*[a.copy() for a in args])
        for result, wanted in zip(found if isinstance(found, tuple) else (found,), expected):
            np.testing.assert_allclose(np.asarray(result), wanted, rtol=1e-3, atol=1e-3)


def blocks_of(body, wanted, times=1):
    a, b = inputs((64, 32), (32, 32))
    y = np.zeros((64, 32), "float32")
    m, out = (a.astype("float64") @ b.astype("float64")).reshape(4, 16, 32), np.zeros((4, 16, 32))
    for i, block in enumerate(wanted(m)):
        out[i] = block
    same(consumer(body, times), [a, b, y], [out.reshape(64, 32)])


CARRIED = '''
acc = pl.tpop(p)
for i in pl.range(3):
    acc = pl.add(acc, pl.tpop(p))
y = pl.store(acc, [0, 0], [16, 32], y)
'''


def test_popped_tiles_that_loops_carry():
    blocks_of(CARRIED + '''
acc = pl.tpop(p)
for i in pl.range(3):
    t = pl.tpop(p)
    acc = pl.maximum(acc, t)
y = pl.store(acc, [16, 0], [16, 32], y)
old = pl.tpop(p)
diff = pl.sub(old, old)
for i in pl.range(3):
    new = pl.tpop(p)
    diff = pl.add(diff, pl.abs(pl.sub(new, old)))
    old = new
y = pl.store(diff, [32, 0], [16, 32], y)
first = pl.reshape(pl.reshape(pl.tpop(p), [32, 16]), [16, 32])
i = 0
while i < 11:
    t = pl.tpop(p)
    if i == 10:
        y = pl.store(pl.sub(t, first), [48, 0], [16, 32], y)
    i = i + 1
''', lambda m: [m.sum(0), m.max(0), np.abs(np.diff(m, axis=0)).sum(0), m[3] - m[0]], 6)


def test_popped_tiles_that_branches_merge():
    blocks_of('''
for i in pl.range(2):
    if i < 1:
        t = pl.tpop(p)
    else:
        t = pl.tpop(p)
    y = pl.store(pl.mul(t, 2.0), [i * 16, 0], [16, 32], y)
for i in pl.range(2, 4):
    t = pl.tpop(p)
    if i < 3:
        u = pl.add(t, t)
    elif i < 4:
        u = t
    else:
        u = pl.load(y, [0, 0], [16, 32])
    y = pl.store(u, [i * 16, 0], [16, 32], y)
''', lambda m: [2 * m[0], 2 * m[1], 2 * m[2], m[3]])


def test_more_popped_tiles_in_use_than_slots():
    body = [f"t{i} = pl.tpop(p)" for i in range(12)] + ["acc = t11"] + [f"acc = pl.add(acc, t{i})" for i in range(11)]
    blocks_of("\n".join([*body, "y = pl.store(acc, [0, 0], [16, 32], y)"]), lambda m: [3 * m.sum(0)], 3)


def test_a_carried_popped_tile_is_copied_before_its_slot_is_freed():
    program = passes.PassManager.get_strategy("PTOAS").run_passes(pl.parse(consumer(CARRIED)))
    _core.describe_program(program)
    found = re.findall(r"(?:pto|scf)\.(tpop|tmov|tfree|tadd|for|tstore)", _core.generate(program, "pto", "v", 0))
    assert found == ["tpop", "tmov", "tfree", "for", "tpop", "tadd", "tfree", "tstore"]


TO_CUBE = '''
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def v(self, cid: pl.Cluster, a: pl.Tensor[[16, 16], pl.FP16], o: pl.PIPE_OUT[pl.Tile[[16, 16], pl.FP16]]):
        for i in pl.range(4):
            pl.tpush(pl.load(a, [0, 0], [16, 16]), o)
    @pl.function(type=pl.FunctionType.InCore)
    def mm(self, cid: pl.Cluster, p: pl.PIPE_IN[pl.Tile[[16, 16], pl.FP16]], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]
           ) -> pl.Tensor[[16, 16], pl.FP32]:
        w = pl.tpop(p)
        for i in pl.range(3):
            l = pl.move(pl.tpop(p), target_memory=pl.MemorySpace.Left)
            y = pl.store(pl.matmul(l, pl.move(w, target_memory=pl.MemorySpace.Right)), [0, 0], [16, 16], y)
        return y
'''


def test_a_tile_of_a_cube_core_that_cannot_stay_in_its_slot_is_refused():
    with pytest.raises(pl.CompileError, match="Tile 'w' cannot stay in its slot while more tiles are popped") as info:
        passes.PassManager.get_strategy("Default").run_passes(pl.parse(TO_CUBE))
    assert TO_CUBE.splitlines()[info.value.span.line - 1].strip() == "w = pl.tpop(p)"


TWO_PIPES = '''
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def v(self, cid: pl.Cluster, a: pl.Tensor[[64, 16], pl.FP16], b: pl.Tensor[[16, 32], pl.FP16],
          o: pl.PIPE_OUT[pl.Tile[[16, 16], pl.FP16]], o2: pl.PIPE_OUT[pl.Tile[[16, 32], pl.FP16]]):
        for i in pl.range(0, 64, 16):
            pl.tpush(pl.load(b, [0, 0], [16, 32]), o2)
            pl.tpush(pl.mul(pl.load(a, [i, 0], [16, 16]), 2.0), o)
    @pl.function(type=pl.FunctionType.InCore)
    def mm(self, cid: pl.Cluster, p: pl.PIPE_IN[pl.Tile[[16, 16], pl.FP16]], q: pl.PIPE_IN[pl.Tile[[16, 32], pl.FP16]],
           y: pl.Out[pl.Tensor[[64, 32], pl.FP32]]) -> pl.Tensor[[64, 32], pl.FP32]:
        for i in pl.range(0, 64, 16):
            l = pl.move(pl.tpop(p), target_memory=pl.MemorySpace.Left)
            r = pl.move(pl.tpop(q), target_memory=pl.MemorySpace.Right)
            y = pl.store(pl.matmul(l, r), [i, 0], [16, 32], y)
        return y
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[64, 16], pl.FP16], b: pl.Tensor[[16, 32], pl.FP16]) -> pl.Tensor[[64, 32], pl.FP32]:
        cid = pl.allocate_cluster()
        p = pl.create_pipe([16, 16], dtype=pl.FP16)
        q = pl.create_pipe([16, 32], dtype=pl.FP16)
        self.v(cid, a, b, p, q)
        y = pl.create_tensor([64, 32], dtype=pl.FP32)
        y = self.mm(cid, p, q, y)
        return y
'''


def test_two_pipes_of_one_direction():
    a, b = inputs((64, 16), (16, 32))
    same(TWO_PIPES, [a, b], [2 * a.astype("float64") @ b.astype("float64")])
    program = passes.PassManager.get_strategy("PTOAS").run_passes(pl.parse(TWO_PIPES))
    for arch, slots in (0, 8), (1, 2):
        found = _core.generate(program, "pto", "mm", arch)
        assert re.findall(r"reserve_buffer {name = \"(\w+)\", size = (\d+)", found) == [("pipe0", str(slots * (512 + 1024)))]
        assert re.findall(r"arith.addi %\d+, %c(\d+)_i32", found) == ["0", str(slots * 512)]


CONSUMERS = '''
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def mm(self, cid: pl.Cluster, a: pl.Tensor[[64, 16], pl.FP16], b: pl.Tensor[[16, 16], pl.FP16],
           o: pl.PIPE_OUT[pl.Tile[[16, 16], pl.FP32]], o2: pl.PIPE_OUT[pl.Tile[[16, 16], pl.FP32]]):
        r = pl.move(pl.load(b, [0, 0], [16, 16], target_memory=pl.MemorySpace.Mat), target_memory=pl.MemorySpace.Right)
        for i in pl.range(0, 32, 16):
            t = pl.load(a, [i, 0], [16, 16], target_memory=pl.MemorySpace.Mat)
            pl.tpush(pl.matmul(pl.move(t, target_memory=pl.MemorySpace.Left), r), o)
            u = pl.load(a, [i + 32, 0], [16, 16], target_memory=pl.MemorySpace.Mat)
            pl.tpush(pl.matmul(pl.move(u, target_memory=pl.MemorySpace.Left), r), o2)
    @pl.function(type=pl.FunctionType.InCore)
    def v(self, cid: pl.Cluster, p: pl.PIPE_IN[pl.Tile[[16, 16], pl.FP32]], y: pl.Out[pl.Tensor[[32, 16], pl.FP32]]
          ) -> pl.Tensor[[32, 16], pl.FP32]:
        for i in pl.range(2):
            y = pl.store(pl.relu(pl.tpop(p)), [i * 16, 0], [16, 16], y)
        return y
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[64, 16], pl.FP16], b: pl.Tensor[[16, 16], pl.FP16]
             ) -> tuple[pl.Tensor[[32, 16], pl.FP32], pl.Tensor[[32, 16], pl.FP32]]:
        cid = pl.allocate_cluster()
        p = pl.create_pipe([16, 16], dtype=pl.FP32)
        q = pl.create_pipe([16, 16], dtype=pl.FP32)
        self.mm(cid, a, b, p, q)
        y = pl.create_tensor([32, 16], dtype=pl.FP32)
        z = pl.create_tensor([32, 16], dtype=pl.FP32)
        y = self.v(cid, p, y)
        z = self.v(cid, q, z)
        return y, z
'''


def kernels_of(text):
    program = passes.PassManager.get_strategy("PTOAS").run_passes(pl.parse(text))
    assert ir.structural_equal(pl.parse(str(program)), program)
    return [name for name, _, _ in _core.describe_program(program)[1]]


def test_one_producer_of_two_consumers():
    a, b = inputs((64, 16), (16, 16))
    wanted = np.maximum(a.astype("float64") @ b.astype("float64"), 0)
    same(CONSUMERS, [a, b], [wanted[:32], wanted[32:]])
    assert kernels_of(CONSUMERS) == ["mm", "v", "v_1"]


def test_pipes_of_different_clusters_need_no_copies():
    group = "        y = self.v(cid, p, y)\n"
    text = consumer("for i in pl.range(4):\n    y = pl.store(pl.tpop(p), [i * 16, 0], [16, 32], y)")
    again = "".join(f"        {line}\n" for line in [CREATE, PRODUCE, CONSUME])
    assert kernels_of(text.replace(group, group + again)) == ["mm", "mm_1", "v", "v_1"]
    assert kernels_of(text.replace(group, group + "        cid = pl.allocate_cluster()\n" + again)) == ["mm", "v"]


def test_pipes_that_kernels_would_confuse_are_refused():
    names = passes.PassManager.get_strategy("PTOAS").names
    program = passes.PassManager(names[:names.index("InitMemRef")]).run_passes(pl.parse(CONSUMERS))
    with pytest.raises(pl.CompileError, match="Pipes 'p' and 'q' of one cluster go through the same kernels") as info:
        _core.describe_program(program)
    assert CONSUMERS.splitlines()[info.value.span.line - 1].strip() == "z = self.v(cid, q, z)"


GROUP = "p = pl.create_pipe([16, 32], dtype=pl.FP32)\nself.mm(cid, a, b, p)\ny = self.v(cid, p, y)"


def described(times, *lines):
    """A program that pops four tiles, after the checks of its group; @lines stand for the calls."""
    text = consumer("for i in pl.range(4):\n    y = pl.store(pl.tpop(p), [i * 16, 0], [16, 32], y)", times)
    text = text.replace(GROUP.replace("\n", "\n        "), "\n        ".join(lines))
    text = text.replace("main(self, ", "main(self, n: pl.INT64, ")
    program = passes.PassManager.get_strategy("PTOAS").run_passes(pl.parse(text, "pipes.py"))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        _core.describe_program(program)
    return [str(w.message) for w in seen]


CREATE, PRODUCE, CONSUME = GROUP.split("\n")


@pytest.mark.parametrize("lines, text", [
    ([CREATE, "for i in pl.range(2):", "    " + PRODUCE, CONSUME], "Pipe 'p': 8 pushes, 4 pops"),
    ([CREATE, PRODUCE, "for i in pl.range(3):", "    " + CONSUME], "Pipe 'p': 4 pushes, 12 pops"),
    ([CREATE, "for i in pl.range(2):", "    for j in pl.range(2):", "        " + PRODUCE, "    " + CONSUME],
     "Pipe 'p': 8 pushes, 4 pops"),
    ([CREATE, "for i in pl.range(0):", "    " + PRODUCE, CONSUME], "Pipe 'p': 0 pushes, 4 pops"),
])
def test_calls_in_constant_loops_count(lines, text):
    with pytest.raises(pl.CompileError, match=text) as info:
        described(1, *lines)
    assert info.value.span.filename == "pipes.py"


@pytest.mark.parametrize("lines", [
    [CREATE, "for i in pl.range(2):", "    " + PRODUCE, "for j in pl.range(2):", "    " + CONSUME],
    [CREATE, "for i in pl.range(n):", "    " + PRODUCE, "    " + CONSUME],
    ["for i in pl.range(n):", "    " + CREATE, "    " + PRODUCE, "    " + CONSUME],
    [CREATE, "if n > 1:", "    " + PRODUCE, "    " + CONSUME],
])
def test_calls_that_run_as_often_need_no_warning(lines):
    assert described(1, *lines) == []


@pytest.mark.parametrize("lines", [
    [CREATE, "for i in pl.range(n):", "    " + PRODUCE, CONSUME],
    [CREATE, "if n > 1:", "    " + PRODUCE, CONSUME],
])
def test_calls_whose_number_the_run_decides_are_warned_about(lines):
    assert ["the numbers of pushes and pops are not known here" in w for w in described(1, *lines)] == [True]
