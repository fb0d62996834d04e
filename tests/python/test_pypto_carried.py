# SPDX-License-Identifier: MIT
"""Tensors that a region carries through loops, chooses in branches and hands on, and tensors of one memory in a region."""
import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import ir, passes, runtime  # noqa: E402

SQUARE = "pl.Tensor[[200, 200], pl.FP32]"
CHIPS = [("PTO", "a2a3sim"), ("CCE", "a5sim"), ("PTO", "a5sim"), ("CCE", "a2a3sim")]


def program(lines):
    return pl.parse("@pl.program\nclass P:\n    @pl.function\n"
                    f"    def main(self, x: {SQUARE}, y: {SQUARE}, o: pl.Out[{SQUARE}]) -> {SQUARE}:\n" +
                    "".join(f"        {line}\n" for line in [*lines, "return o"]), "user.py")


def region(*lines):
    return ["with pl.incore():", *(f"    {line}" for line in lines)]


def inside(*lines):
    return [f"    {line}" for line in lines]


def lowered(p):
    return passes.PassManager.get_strategy("Default").run_passes(p)


def agree(lines, chip, golden=None):
    """All arguments are the same after the program, its lowered form and the chip; @golden says what o is."""
    p, results = program(lines), []
    low = lowered(p)
    for run in (lambda *a: ir.interpret(p, *a, function="main"), lambda *a: ir.interpret(low, *a, function="main"),
                lambda *a: runtime.compile(p, chip[1], chip[0])(*a)):
        x, y = np.random.default_rng(5).integers(-9, 9, (2, 200, 200)).astype("float32")
        o = np.full_like(x, 7)
        want = golden(x.copy(), y.copy()) if golden else None
        run(x, y, o)
        if golden:
            np.testing.assert_array_equal(o, want)
        results.append((x, y, o))
    for other in results[1:]:
        for here, there in zip(results[0], other):
            np.testing.assert_array_equal(here, there)


CARRIED = {
    "transposed": (["for i, (a,) in pl.range(3, init_values=(x,)):", "    a = pl.yield_(pl.transpose(a, 0, 1) + 1.0)",
                    "o = pl.assemble(o, a, [0, 0])"], lambda x, y: x.T + 3),
    "and untouched": (["a = x + 1.0", "for i in pl.range(3):", "    b = pl.transpose(a, 0, 1)", "    a = b + a",
                       "o = pl.assemble(o, a, [0, 0])"], lambda x, y: 4 * (x + x.T) + 8),
    "exchanged": (["for i, (a, b) in pl.range(3, init_values=(x, y)):", "    a, b = pl.yield_(b, a)",
                   "o = pl.assemble(o, a + b * 2.0, [0, 0])"], lambda x, y: y + 2 * x),
    "exchanged and computed": (["for i, (a, b) in pl.range(3, init_values=(x, y)):", "    c = a + 1.0", "    d = b * 2.0",
                                "    a, b = pl.yield_(d, c)", "o = pl.assemble(o, a - b, [0, 0])"],
                               lambda x, y: ((y * 2 + 1) * 2) - (2 * (x + 1) + 1)),
    "chosen": (["for i, (a,) in pl.range(4, init_values=(x,)):", "    if i > 1:", "        c = pl.yield_(pl.transpose(a, 0, 1))",
                "    else:", "        c = pl.yield_(y)", "    a = pl.yield_(c + 1.0)", "o = pl.assemble(o, a, [0, 0])"],
               lambda x, y: y + 3),
    "while": (["n = 0", "a = x", "while n < 3:", "    a = pl.transpose(a, 0, 1) + y", "    n = n + 1",
               "o = pl.assemble(o, a, [0, 0])"], lambda x, y: ((x.T + y).T + y).T + y),
    "in part": (["for i, (a,) in pl.range(3, init_values=(x,)):", "    c = a * 2.0",
                 "    c = pl.assemble(c, pl.slice(a, [100, 200], [100, 0]) + 1.0, [0, 0])", "    a = pl.yield_(c)",
                 "o = pl.assemble(o, a, [0, 0])"],
                lambda x, y: np.concatenate([(4 * x[100:]) + 1, 8 * x[100:]])),
    "made inside": (["t = pl.create_tensor([200, 200], dtype=pl.FP32)", "t = pl.assemble(t, x + y, [0, 0])",
                     "o = pl.assemble(o, pl.transpose(t, 0, 1), [0, 0])"], lambda x, y: (x + y).T),
    "created before": (["t = pl.create_tensor([200, 200], dtype=pl.FP32)", "t = pl.assemble(t, x, [0, 0])", "for i in pl.range(2):",
                        "    t = t + y", "o = pl.assemble(o, t, [0, 0])"], lambda x, y: x + 2 * y),
    "stored into before": (["x = pl.assemble(x, y, [0, 0])", "a = x", "for i in pl.range(2):", "    a = a + y",
                            "o = pl.assemble(o, a, [0, 0])"], lambda x, y: 3 * y),
    "stored into after": (["a = x * 2.0", "for i in pl.range(3):", "    a = a + y",
                           "a = pl.assemble(a, pl.slice(y, [100, 200], [0, 0]) + 1.0, [50, 0])", "o = pl.assemble(o, a, [0, 0])"],
                          lambda x, y: np.concatenate([(2 * x + 3 * y)[:50], y[:100] + 1, (2 * x + 3 * y)[150:]])),
    "chosen, then stored into": (["n = pl.tensor.read(y, [0, 0])", "if n > 99.0:", "    b = pl.yield_(x + 1.0)", "else:",
                                  "    b = pl.yield_(y * 2.0)", "b = pl.assemble(b, pl.slice(y, [100, 200], [0, 0]), [50, 0])",
                                  "o = pl.assemble(o, b, [0, 0])"],
                                 lambda x, y: np.concatenate([2 * y[:50], y[:100], 2 * y[150:]])),
    "made anew in each trip": (["a = x", "b = y", "for i in pl.range(3):", "    t = pl.create_tensor([200, 200], dtype=pl.FP32)",
                                "    t = pl.assemble(t, a + y, [0, 0])", "    b = a", "    a = t",
                                "o = pl.assemble(o, a - b * 2.0, [0, 0])"], lambda x, y: (x + 3 * y) - 2 * (x + 2 * y)),
    "no trip": (["a = x", "n = pl.cast(pl.tensor.read(y, [0, 0]) * 0.0, pl.INDEX)", "for i in pl.range(n):", "    a = a + y",
                 "o = pl.assemble(o, a, [0, 0])"], lambda x, y: x),
}
OUTSIDE = {
    "carried in a region": (region("a = x + 0.0", "for i in pl.range(2):", "    a = a + y") + ["o = pl.assemble(o, a, [0, 0])"],
                            lambda x, y: x + 2 * y),
    "chosen in a region": (region("n = pl.tensor.read(y, [0, 0])", "if n > 99.0:", "    a = pl.yield_(x)", "else:",
                                  "    a = pl.yield_(y * 2.0)") + ["o = pl.assemble(o, a, [0, 0])"], lambda x, y: 2 * y),
}
STORE = "x = pl.store(pl.load(y, [0, 0], [16, 32]) * 2.0, [0, 0], [16, 32], x)"
READ = "o = pl.store(pl.load(a, [0, 0], [8, 32]), [0, 0], [8, 32], o)"
SHARED = {
    "a view of an older state": ["a = pl.slice(x, [8, 32], [4, 0])", *region(STORE), *region(STORE, READ)],
    "a view of a state of a view": ["s = pl.slice(x, [8, 32], [4, 0])",
                                    *region("s = pl.store(pl.load(y, [0, 0], [8, 32]), [0, 0], [8, 32], s)"),
                                    "a = pl.slice(s, [4, 32], [2, 0])",
                                    *region(STORE, READ.replace("[8, 32]", "[4, 32]"))],
    "a view before a loop": ["a = pl.slice(x, [8, 32], [4, 0])", "for i in pl.range(3):", *inside(*region(STORE, READ))],
    "a chain of names": ["w = x", "a = pl.slice(w, [8, 32], [1, 0])", *region(STORE), "v = x", "b = pl.slice(v, [8, 32], [2, 0])",
                         *region(STORE, READ, "o = pl.store(pl.load(b, [0, 0], [8, 32]), [8, 0], [8, 32], o)")],
    "exchanged by a loop": ["for i, (p, q) in pl.range(3, init_values=(x, y)):", "    a = pl.slice(p, [8, 32], [4, 0])",
                            *inside(*region("p = pl.store(pl.load(q, [0, 0], [16, 32]) + 1.0, [0, 0], [16, 32], p)", READ)),
                            "    p, q = pl.yield_(q, p)",
                            *region("o = pl.store(pl.load(p, [8, 0], [8, 32]), [8, 0], [8, 32], o)")],
    "exchanged by a branch": ["n = pl.tensor.read(y, [0, 0])", "if n > 0.5:", "    p, q = pl.yield_(x, y)", "else:",
                              "    p, q = pl.yield_(y, x)",
                              *region("p = pl.store(pl.load(q, [0, 0], [16, 32]) + 1.0, [0, 0], [16, 32], p)")],
}


@pytest.mark.parametrize("chip", CHIPS[:2], ids=lambda chip: chip[0])
@pytest.mark.parametrize("case", CARRIED)
def test_tensors_that_loops_and_branches_of_a_kernel_merge(case, chip):
    """Each trip finds what the one before it has left, although a kernel has no tensors but its parameters (D27)."""
    lines, golden = CARRIED[case]
    agree(region(*lines), chip, golden)


@pytest.mark.parametrize("number, case", enumerate(OUTSIDE))
def test_merged_tensors_leave_their_region(number, case):
    lines, golden = OUTSIDE[case]
    agree(lines, CHIPS[number % 4], golden)


@pytest.mark.parametrize("number, case", enumerate(SHARED))
def test_one_memory_under_several_names_in_a_region(number, case):
    agree(SHARED[case], CHIPS[number % 4])


@pytest.mark.parametrize("lines, name", [
    (["for i, (a, b) in pl.range(3, init_values=(x, o)):", "    t = pl.load(y, [0, 0], [16, 32])",
      "    b = pl.store(t + 1.0, [0, 0], [16, 32], b)", "    a, b = pl.yield_(b, a)", "z = a + 1.0", "o = pl.assemble(o, z, [0, 0])"], "a"),
    (["n = pl.tensor.read(y, [0, 0])", "if n > 0.5:", "    b = pl.yield_(x)", "else:", "    b = pl.yield_(o)", "z = y + 1.0",
      "b = pl.assemble(b, z, [0, 0])"], "b"),
    (["a = x", "for i in pl.range(2):", "    a = a + y", "x2 = pl.assemble(x, y, [0, 0])", "o = pl.assemble(o, a + x2, [0, 0])"], "a"),
])
def test_a_merged_tensor_that_is_stored_into_is_refused(lines, name):
    with pytest.raises(pl.CompileError, match=f"'{name}' is a different tensor in different ways through the kernel"):
        lowered(program(region(*lines)))


def test_a_region_that_writes_what_it_may_read_by_another_name_is_refused():
    """Two parameters are two tensors to the synchronisation of a kernel."""
    lines = ["n = pl.tensor.read(y, [0, 0])", "if n > 0.5:", "    b = pl.yield_(x)", "else:", "    b = pl.yield_(y)",
             *region(STORE, READ.replace("a,", "b,"))]
    with pytest.raises(pl.CompileError, match="The region writes 'x', which may be the same memory as 'b'") as e:
        lowered(program(lines))
    assert e.value.span.line == 10


def test_a_merged_tensor_that_leaves_its_region_and_is_stored_into_is_refused():
    lines = [*region("n = pl.tensor.read(y, [0, 0])", "if n > 0.5:", "    a = pl.yield_(x)", "else:", "    a = pl.yield_(y * 2.0)"),
             *region("a = pl.store(pl.load(y, [0, 0], [16, 32]), [0, 0], [16, 32], a)"), "o = pl.assemble(o, x, [0, 0])"]
    with pytest.raises(pl.CompileError, match="Merged tensor 'a' is used after the pl.incore"):
        lowered(program(lines))
