# SPDX-License-Identifier: MIT
"""Regions of an Opaque function that use each other's names: a name that every region makes first is its own."""
import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import ir, passes, runtime  # noqa: E402

T = "pl.Tensor[[16, 32], pl.FP32]"
WHOLE = "[0, 0], [16, 32]"
FIRST = ["with pl.incore():", f"    t = pl.load(x, {WHOLE})", f"    o = pl.store(t, {WHOLE}, o)"]


def program(lines, more=""):
    return pl.parse("@pl.program\nclass P:\n    @pl.function\n"
                    f"    def main(self, x: {T}, y: {T}, o: pl.Out[{T}]{more}) -> {T}:\n" +
                    "".join(f"        {line}\n" for line in [*lines, "return o"]), "user.py")


CASES = {
    "region after region": (["with pl.incore():", f"    t = pl.load(o, {WHOLE})", f"    o = pl.store(t + 1.0, {WHOLE}, o)"],
                            lambda x, y: x + 1),
    "loop": (["for i in pl.range(3):", "    with pl.incore():", f"        t = pl.load(o, {WHOLE})",
              f"        o = pl.store(t + 1.0, {WHOLE}, o)"], lambda x, y: x + 3),
    "two regions in a loop": (["for i in pl.range(3):", "    with pl.incore():", f"        t = pl.load(x, {WHOLE})",
                               f"        o = pl.store(t, {WHOLE}, o)", "    with pl.incore():", f"        t = pl.load(o, {WHOLE})",
                               f"        o = pl.store(t + 1.0, {WHOLE}, o)"], lambda x, y: x + 1),
    "another shape in a loop": (["for i in pl.range(2):", "    with pl.incore():", "        t = pl.load(o, [i * 8, 0], [8, 32])",
                                 "        o = pl.store(t + 1.0, [i * 8, 0], [8, 32], o)"], lambda x, y: x + 1),
    "branches in a loop": (["for i in pl.range(4):", "    if i < 2:", "        with pl.incore():",
                            f"            t = pl.load(o, {WHOLE})", f"            o = pl.store(t + 1.0, {WHOLE}, o)", "    else:",
                            "        with pl.incore():", f"            t = pl.load(y, {WHOLE})",
                            f"            o = pl.store(t, {WHOLE}, o)"], lambda x, y: y),
    "while": (["n = 0", "while n < 2:", "    with pl.incore():", f"        t = pl.load(o, {WHOLE})",
               f"        o = pl.store(t * 2.0, {WHOLE}, o)", "    n = n + 1"], lambda x, y: x * 4),
    "scalar of a region": (["for i in pl.range(2):", "    with pl.incore():", f"        t = pl.load(o, {WHOLE})",
                            "        s = pl.getval(t, 1)", f"        o = pl.store(t + s, {WHOLE}, o)", "with pl.incore():",
                            f"    t = pl.load(o, {WHOLE})", "    s = pl.getval(t, 0)", f"    o = pl.store(t + s, {WHOLE}, o)"],
                           lambda x, y: (z := x + 3 * x[0, 1]) + z[0, 0]),
}


def values():
    x = np.arange(512, dtype="float32").reshape(16, 32) / 128
    return x, np.ascontiguousarray(x[::-1]), np.zeros_like(x)


@pytest.mark.parametrize("case", CASES)
def test_region_takes_a_name_of_an_earlier_one(case):
    lines, golden = CASES[case]
    p = program(FIRST + lines)
    lowered = passes.PassManager.get_strategy("Default").run_passes(p)
    for made in (p, lowered):
        x, y, o = values()
        np.testing.assert_allclose(ir.interpret(made, x, y, o, function="main"), golden(x, y), rtol=1e-5)


@pytest.mark.parametrize("backend", ["PTO", "CCE"])
def test_regions_in_a_loop_on_a_chip(backend):
    lines, golden = CASES["loop"]
    x, y, o = values()
    runtime.compile(program(FIRST + lines), "a5sim", backend)(x, y, o)
    np.testing.assert_allclose(o, golden(x, y), rtol=1e-5)


@pytest.mark.parametrize("lines, message", [
    (["for i in pl.range(3):", "    with pl.incore():", f"        o = pl.store(t + 1.0, {WHOLE}, o)"], "Tile 't' is used after"),
    (["for i in pl.range(3):", "    with pl.incore():", "        t = t + 1.0", f"        o = pl.store(t, {WHOLE}, o)"],
     "Tile 't' is used after"),
    (["for i in pl.range(3):", "    with pl.incore():", "        if i > 0:", f"            t = pl.load(y, {WHOLE})",
      f"        o = pl.store(t, {WHOLE}, o)"], "Tile 't' is used after"),
])
def test_value_of_an_earlier_region_is_refused_by_its_name(lines, message):
    with pytest.raises(pl.CompileError, match=message) as e:
        passes.PassManager.get_strategy("Default").run_passes(program(FIRST + lines))
    assert e.value.span.line == 5


def test_scalar_that_leaves_its_region_is_refused():
    lines = ["with pl.incore():", f"    t = pl.load(x, {WHOLE})", "    s = pl.getval(t, 1)", f"    o = pl.store(t, {WHOLE}, o)",
             "with pl.incore():", f"    o = pl.store(pl.load(y, {WHOLE}) + s, {WHOLE}, o)"]
    with pytest.raises(pl.CompileError, match="Scalar 's' is used after the pl.incore\\(\\) region") as e:
        passes.PassManager.get_strategy("Default").run_passes(program(lines))
    assert "pl.tensor.read()" in e.value.errors[0].hint and e.value.span.line == 5


def remakes(*heads):
    """Loops around a region that gives n a value of a tile."""
    region = ["with pl.incore():", f"    t = pl.load(x, {WHOLE})", "    n = pl.cast(pl.getval(t, 300), pl.INDEX)",
              f"    o = pl.store(t + 1.0, {WHOLE}, o)"]
    lines = [*heads, *("    " * len(heads) + line for line in region)]
    return ["    " * i + line if i < len(heads) else line for i, line in enumerate(lines)]


@pytest.mark.parametrize("head", ["for i in pl.range(n):", "for i in pl.range(n, 4):", "for i in pl.range(1, 4, n):", "while n < 3:",
                                  "if n < 3:"])
@pytest.mark.parametrize("more, first", [(", n: pl.Scalar[pl.INDEX]", []), ("", ["n = 2"])])
def test_scalar_of_a_region_that_the_head_of_a_loop_reads_is_refused(head, more, first):
    lines = [*first, *remakes("for j in pl.range(2):", head)]
    with pytest.raises(pl.CompileError, match="Scalar 'n' is used after the pl.incore\\(\\) region") as e:
        passes.PassManager.get_strategy("Default").run_passes(program(lines, more))
    assert e.value.span.line == 7 + len(first)


def test_parameter_that_only_regions_assign_ends_with_each():
    p = program(remakes("for j in pl.range(2):", "for i in pl.range(2):"), ", n: pl.Scalar[pl.INDEX]")
    lowered = passes.PassManager.get_strategy("Default").run_passes(p)
    for made in (p, lowered):
        x, y, o = values()
        np.testing.assert_allclose(ir.interpret(made, x, y, o, 2, function="main"), x + 1)


def test_a_region_never_takes_the_name_of_an_authors_function():
    program = pl.parse("""
@pl.program
class P:
    @pl.function
    def main(self, x: pl.Tensor[[16, 64], pl.FP32], y: pl.InOut[pl.Tensor[[16, 64], pl.FP32]]):
        with pl.incore():
            x = pl.store(pl.add(pl.load(x, [0, 0], [16, 64]), 1.0), [0, 0], [16, 64], x)
        y = self.main_incore_0(x, y)

    @pl.function(type=pl.FunctionType.InCore)
    def main_incore_0(self, x: pl.Tensor[[16, 64], pl.FP32], y: pl.InOut[pl.Tensor[[16, 64], pl.FP32]]
                      ) -> pl.Tensor[[16, 64], pl.FP32]:
        y = pl.store(pl.mul(pl.load(x, [0, 0], [16, 64]), 100.0), [0, 0], [16, 64], y)
        return y
""")
    x, y = np.ones((16, 64), "float32"), np.zeros((16, 64), "float32")
    lowered = passes.PassManager.get_strategy("PTOAS").run_passes(program)
    assert "main_incore_1" in lowered.functions
    ir.interpret(lowered, x, y)
    assert (y == 200).all()


def test_unrolled_loops_may_assign_their_variable():
    program = pl.parse("""
@pl.function(type=pl.FunctionType.InCore)
def k(x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]) -> pl.Tensor[[16, 64], pl.FP32]:
    t = pl.load(x, [0, 0], [16, 64])
    for i in pl.unroll(3):
        i = i + 1
        t = pl.add(t, pl.cast(i, pl.FP32))
    y = pl.store(t, [0, 0], [16, 64], y)
    return y
""")
    x, y = np.ones((16, 64), "float32"), np.zeros((16, 64), "float32")
    for one in (program, passes.PassManager(["UnrollLoops", "ConvertToSSA"]).run_passes(program)):
        ir.interpret(one, x, y)
        assert (y == 7).all()


def add_to(*view):
    """A region that stores y + 1 through views of x, which then goes to o."""
    return ["with pl.incore():", *(f"    {line}" for line in view),
            "    t = pl.load(x, [0, 0], [16, 32])", "    o = pl.store(t, [0, 0], [16, 32], o)"]


VIEWS = {
    "slice": add_to("s = pl.slice(x, [8, 32], [8, 0])", "t = pl.load(y, [0, 0], [8, 32])",
                    "s = pl.store(t + 1.0, [0, 0], [8, 32], s)"),
    "slice of a slice": add_to("s = pl.slice(pl.slice(x, [8, 32], [8, 0]), [4, 32], [2, 0])", "t = pl.load(y, [0, 0], [4, 32])",
                               "s = pl.store(t + 1.0, [0, 0], [4, 32], s)"),
    "slice in a loop": add_to("for i in pl.range(2):", "    s = pl.slice(x, [4, 32], [i * 8, 0])",
                              "    t = pl.load(y, [0, 0], [4, 32])", "    s = pl.store(t + 1.0, [0, 0], [4, 32], s)"),
    "assemble into a slice": add_to("s = pl.slice(x, [8, 32], [8, 0])", "z = pl.slice(y, [4, 32], [3, 0]) + 1.0",
                                    "s = pl.assemble(s, z, [1, 0])"),
    "slice made before": ["s = pl.slice(x, [8, 32], [8, 0])", "with pl.incore():", "    t = pl.load(y, [0, 0], [8, 32])",
                          "    s = pl.store(t + 1.0, [0, 0], [8, 32], s)", *add_to()],
    "whole store into a part": ["with pl.incore():", "    s = pl.slice(o, [8, 32], [0, 0])", "    t = pl.load(y, [0, 0], [8, 32])",
                                "    s = pl.store(t + 1.0, [0, 0], [8, 32], s)"],
    "slices behind an operator on tensors": add_to("d = x - y", "r = pl.slice(x, [8, 32], [8, 0])", "s = pl.slice(r, [4, 32], [2, 0])",
                                                   "t = pl.load(s, [0, 0], [4, 32])", "s = pl.store(t + 1.0, [0, 0], [4, 32], s)"),
    "slice of what was written since": ["s = pl.slice(x, [8, 32], [0, 0])", "x = pl.assemble(x, pl.slice(y, [4, 32], [9, 0]), [2, 0])",
                                        "with pl.incore():", "    x = pl.assemble(x, s, [8, 0])"],
    "slice of what has another name since": ["s = pl.slice(x, [8, 32], [0, 0])", "x, o = o, x", "with pl.incore():",
                                             "    t = pl.load(o, [8, 0], [8, 32])", "    s = pl.store(t, [0, 0], [8, 32], s)"],
    "slice of what a loop carries": ["for i, (v,) in pl.range(2, init_values=(x,)):", "    s = pl.slice(x, [8, 32], [0, 0])",
                                     "    with pl.incore():", "        t = pl.load(v, [8, 0], [8, 32])",
                                     "        s = pl.store(t + 1.0, [0, 0], [8, 32], s)", "    v = pl.yield_(x)"],
}


LEAVING = {
    "a view made inside, stored into": ["with pl.incore():", "    s = pl.slice(x, [8, 32], [8, 0])",
                                        "    t = pl.load(y, [0, 0], [8, 32])", "    s = pl.store(t + 1.0, [0, 0], [8, 32], s)"],
    "a view made inside, read": ["with pl.incore():", "    s = pl.slice(x, [8, 32], [8, 0])", "    t = pl.load(s, [0, 0], [8, 32])",
                                 "    o = pl.store(t + 1.0, [8, 0], [8, 32], o)"],
    "a view and its tensor": ["s = pl.slice(x, [8, 32], [8, 0])", "with pl.incore():", "    t = pl.load(y, [0, 0], [8, 32])",
                              "    s = pl.store(t + 1.0, [0, 0], [8, 32], s)", "    t = pl.load(x, [0, 0], [16, 32])",
                              "    o = pl.store(t, [0, 0], [16, 32], o)"],
    "two views": ["a = pl.slice(x, [8, 32], [0, 0])", "s = pl.slice(x, [8, 32], [4, 0])", "with pl.incore():",
                  "    t = pl.load(y, [0, 0], [8, 32])", "    a = pl.store(t + 1.0, [0, 0], [8, 32], a)",
                  "    t = pl.load(s, [0, 0], [8, 32])", "    o = pl.store(t, [8, 0], [8, 32], o)"],
    "an earlier name": ["w = x", "with pl.incore():", "    t = pl.load(y, [0, 0], [16, 32])", "    w = pl.store(t, [0, 0], [16, 32], w)",
                        "with pl.incore():", "    t = pl.load(x, [0, 0], [16, 32])", "    w = pl.store(t + 1.0, [0, 0], [16, 32], w)",
                        "    t = pl.load(x, [0, 0], [16, 32])", "    o = pl.store(t + 1.0, [0, 0], [16, 32], o)",
                        "s = pl.slice(w, [8, 32], [8, 0])"],
}
VIEWS.update({f"{case}, used after": [*lines, "with pl.incore():", "    t = pl.load(s, [0, 0], [8, 32])",
                                      "    o = pl.store(t, [0, 0], [8, 32], o)"] for case, lines in LEAVING.items()})


@pytest.mark.parametrize("backend", ["PTO", "CCE"])
@pytest.mark.parametrize("case", VIEWS)
def test_what_is_stored_through_a_view_reaches_its_tensor(case, backend):
    """A kernel that stores into a part of a parameter writes the parameter, and leaves the rest of it as it is."""
    lines, results = VIEWS[case], []
    for run in (lambda p, *a: ir.interpret(p, *a, function="main"), lambda p, *a: runtime.compile(p, "a5sim", backend)(*a)):
        x, y, o = values()
        o[:] = 7
        run(program(lines), x, y, o)
        results.append((x, y, o))
    for here, there in zip(*results):
        np.testing.assert_array_equal(here, there)
    assert (results[0][0] != values()[0]).any() or (results[0][2] != 7).any()


BIG = "pl.Tensor[[16000, 32], pl.FP32]"
ONE_DOWN = ["z = pl.slice(x, [10000, 32], [0, 0]) + 1.0", "x = pl.assemble(x, z, [1, 0])"], lambda x, y: (1, x[:10000] + 1)
OVERLAPS = {
    "a result": ONE_DOWN,
    "the view itself": (["w = pl.slice(x, [10000, 32], [0, 0])", "x = pl.assemble(x, w, [1, 0])"], lambda x, y: (1, x[:10000])),
    "two views": (["w = pl.slice(x, [10000, 32], [0, 0])", "z = pl.slice(x, [10000, 32], [1, 0])",
                   "z = pl.assemble(z, w, [0, 0])"], lambda x, y: (1, x[:10000])),
    "a view after a write": (["w = pl.slice(x, [10000, 32], [0, 0])", "x = pl.assemble(x, y, [0, 0])", "z = w + 1.0",
                              "x = pl.assemble(x, z, [3, 0])"], lambda x, y: (3, y[:10000] + 1)),
    "reshaped": (["r = pl.reshape(x, [32000, 16])", "z = pl.slice(r, [20000, 16], [0, 0]) + 1.0",
                  "r = pl.assemble(r, z, [2, 0])"], ONE_DOWN[1]),
}


@pytest.mark.parametrize("case, region", [(case, region) for case in OVERLAPS for region in (False, True)
                                          if case != "reshaped" or not region])
def test_assemble_of_rows_of_the_same_tensor(case, region):
    """Long tensors are computed tile by tile; none reads rows that an earlier one has written."""
    lines, golden = OVERLAPS[case]
    lines = ["with pl.incore():", *(f"    {line}" for line in lines)] if region else lines
    p = pl.parse(f"@pl.program\nclass P:\n    @pl.function\n    def main(self, x: {BIG}, y: {BIG}) -> {BIG}:\n" +
                 "".join(f"        {line}\n" for line in [*lines, "return x"]), "user.py")
    x, y = np.random.default_rng(3).standard_normal((2, 16000, 32), "float32")
    first, rows = golden(x, y)
    want = (y if "after" in case else x).copy()
    want[first:first + len(rows)] = rows
    for run in (lambda p, *a: ir.interpret(p, *a, function="main"), lambda p, *a: runtime.compile(p, "a5sim", "CCE")(*a)):
        a = x.copy()
        run(p, a, y.copy())
        np.testing.assert_array_equal(a, want)


def test_a_region_that_writes_a_reshape_and_uses_its_tensor_is_refused():
    lines = add_to("r = pl.reshape(x, [32, 16])", "t = pl.load(y, [0, 0], [4, 16])", "r = pl.store(t, [2, 0], [4, 16], r)")
    with pytest.raises(pl.CompileError, match="The region writes 'r', which is the same memory as 'x'") as e:
        passes.PassManager.get_strategy("Default").run_passes(program(lines))
    assert e.value.span.line == 5


def test_a_view_that_only_the_region_knows_is_refused_after_it():
    lines = ["with pl.incore():", "    n = pl.tensor.read(y, [0, 0])", "    k = pl.cast(n, pl.INDEX)",
             "    s = pl.slice(x, [8, 32], [k, 0])", "    t = pl.load(s, [0, 0], [8, 32])",
             "    s = pl.store(t + 1.0, [0, 0], [8, 32], s)", "o = pl.assemble(o, s, [0, 0])"]
    with pytest.raises(pl.CompileError, match="View 's' is used after the pl.incore"):
        passes.PassManager.get_strategy("Default").run_passes(program(lines))
