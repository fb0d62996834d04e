# SPDX-License-Identifier: MIT
"""Python's operators on tiles and tensors, with a number on either side: against numpy, or refused with an alternative."""
import re

import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import ir, passes, runtime  # noqa: E402

SHAPE = (16, 32)
NUMPY = {"FP32": np.float32, "INT32": np.int32, "INT16": np.int16, "UINT8": np.uint8}
NUMBER = {"FP32": "2.5", "INT32": "3", "INT16": "3", "UINT8": "3"}
BOTH = ("x", "y", "s", "N")
EVERY = "+ - *".split()
FLOATS, INTEGERS = ["/", "%"], "// % & | ^ << >>".split()


def expressions(dtype):
    """Every operator between two of them, a scalar and a number on either side, and those on one."""
    ops = EVERY + (FLOATS if dtype == "FP32" else INTEGERS)
    pairs = [("x", "y"), ("x", "s"), ("x", "N"), ("s", "x"), ("N", "x")]
    both = [f"{a} {op} {b}" for op in ops for a, b in pairs] + [f"{f}({a}, {b})" for f in ("min", "max") for a, b in pairs]
    one = ["-x", "+x", "abs(x)", "x ** 2", "x ** 1", "(x - y) ** 3"] + (["~x"] if dtype[0] == "I" else [])
    return [e.replace("N", NUMBER[dtype]) for e in both + (one if dtype != "UINT8" else ["+x", "abs(x)"])]


CASES = [(dtype, e) for dtype in NUMPY for e in expressions(dtype)]


def values(dtype):
    random = np.random.default_rng(5)
    if dtype == "FP32":
        return random.uniform(-4, 4, SHAPE).astype("float32"), random.uniform(-3, 3, SHAPE).astype("float32"), 1.5
    low = 0 if dtype[0] == "U" else -40
    x = random.integers(low, 40, SHAPE)
    y = random.choice([n for n in range(max(low, -6), 7) if n], SHAPE)
    x.flat[:4] = [np.iinfo(NUMPY[dtype]).min, np.iinfo(NUMPY[dtype]).max] * 2
    return x.astype(NUMPY[dtype]), y.astype(NUMPY[dtype]), 5


def shifts_or_divides_by(expression):
    return re.search(r"(<<|>>|//|%|/) [xy]$", expression)


def operands(dtype, expression):
    """x and y; what is shifted by, or divided by, is small and not 0."""
    x, y, s = values(dtype)
    if shifts_or_divides_by(expression):
        small = np.where(y == 0, 1, y) if dtype == "FP32" else np.where(y == 0, 1, y)
        y = np.abs(small) if "<" in expression or ">" in expression else small
        x = x if expression[0] == "x" else y
    return x.astype(NUMPY[dtype]), y.astype(NUMPY[dtype]), s


def golden(dtype, expression, x, y, s):
    made = {"x": x, "y": y, "s": NUMPY[dtype](s), "min": np.minimum, "max": np.maximum, "abs": np.abs}
    with np.errstate(all="ignore"):
        return np.asarray(eval(expression, made)).astype(NUMPY[dtype])


def tile_program(dtype, lines):
    t = f"pl.Tensor[{list(SHAPE)}, pl.{dtype}]"
    body = "".join(f"        {line}\n" for line in lines)
    return pl.parse(f'''
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: {t}, b: {t}, s: pl.{dtype}, o: pl.Out[{t}]) -> {t}:
        x = pl.load(a, [0, 0], {list(SHAPE)})
        y = pl.load(b, [0, 0], {list(SHAPE)})
{body}        return pl.store(t, [0, 0], {list(SHAPE)}, o)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: {t}, b: {t}, s: pl.{dtype}) -> {t}:
        o = pl.create_tensor({list(SHAPE)}, dtype=pl.{dtype})
        o = self.k(a, b, s, o)
        return o
''', "user.py")


def tensor_program(dtype, expression):
    t = f"pl.Tensor[{list(SHAPE)}, pl.{dtype}]"
    return pl.parse(f"@pl.program\nclass P:\n    @pl.function\n    def main(self, x: {t}, y: {t}, s: pl.{dtype}) -> {t}:\n"
                    f"        t = {expression}\n        return t\n", "user.py")


def make(kind, dtype, expression):
    return tile_program(dtype, [f"t = {expression}"]) if kind == "tile" else tensor_program(dtype, expression)


def agree(dtype, got, want):
    if dtype == "FP32":
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)
    else:
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("kind", ["tile", "tensor"])
@pytest.mark.parametrize("dtype, expression", CASES)
def test_operator_agrees_with_numpy(kind, dtype, expression):
    p = make(kind, dtype, expression)
    x, y, s = operands(dtype, expression)
    want = golden(dtype, expression, x, y, s)
    agree(dtype, ir.interpret(p, x, y, s), want)
    agree(dtype, ir.interpret(passes.PassManager.get_strategy("Default", "a5").run_passes(p), x, y, s), want)


@pytest.mark.parametrize("dtype", ["FP32", "INT32"])
def test_program_with_operators_is_printed_and_read_again(dtype):
    for kind in ("tile", "tensor"):
        for expression in expressions(dtype):
            p = make(kind, dtype, expression)
            ir.assert_structural_equal(pl.parse(str(p)), p)


ON_CHIP = {
    "FP32": ["1.0 - x", "s / y", "x % 0.75", "s % y", "-x", "abs(x) ** 3", "max(0.5, x)", "(s - x) * (2.0 / y)"],
    "INT32": ["x // 3", "100 // y", "x // y", "x % y", "s - x", "abs(x)", "~x", "min(s, x) ** 2", "(x - 1) // (y * 2)"],
}


@pytest.mark.parametrize("platform, backend", [("a5sim", "PTO"), ("a5sim", "CCE"), ("a2a3sim", "PTO"), ("a2a3sim", "CCE")])
@pytest.mark.parametrize("dtype", ON_CHIP)
def test_operators_on_a_chip_agree_with_numpy(platform, backend, dtype):
    """All in one kernel, whose results are added; a2a3 divides integers by scalars only."""
    chosen = [e for e in ON_CHIP[dtype] if platform == "a5sim" or dtype == "FP32" or not re.search(r"// \(?y", e)]
    x, y, s = values(dtype)
    y = np.where(np.abs(y) < 0.25, 1, y).astype(NUMPY[dtype])
    lines = [f"t{i} = {e}" for i, e in enumerate(chosen)]
    lines += ["t = t0"] + [f"t = t + t{i}" for i in range(1, len(chosen))]
    with np.errstate(all="ignore"):
        want = sum(golden(dtype, e, x, y, s) for e in chosen)
    got = runtime.compile(tile_program(dtype, lines), platform, backend)(x, y, s)
    np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("platform, backend", [("a5sim", "PTO"), ("a2a3sim", "CCE")])
def test_operators_on_whole_tensors_on_a_chip_agree_with_numpy(platform, backend):
    x, y, s = values("FP32")
    p = tensor_program("FP32", "max(1.0 - x, 0.25) / (abs(y) + 0.5) - (s % (abs(y) + 1.0)) + -x * x ** 2")
    with np.errstate(all="ignore"):
        want = np.maximum(1 - x, 0.25) / (np.abs(y) + 0.5) - s % (np.abs(y) + 1) + -x * x ** 2
    np.testing.assert_allclose(runtime.compile(p, platform, backend)(x, y, s), want, rtol=2e-4, atol=2e-4)


def test_functions_take_a_number_first_as_operators_do():
    x, y, s = values("FP32")
    y = np.where(y == 0, 1, y)
    for kind in ("tile", "tensor"):
        for call, want in (("pl.sub(2.0, x)", 2 - x), ("pl.div(s, y)", s / y), ("pl.maximum(1.0, x)", np.maximum(1, x)),
                           ("pl.maximum(x, 1.0)", np.maximum(x, 1)), ("pl.rem(x, 2.0)", x % 2), ("pl.add(s, x)", s + x)):
            agree("FP32", ir.interpret(make(kind, "FP32", call), x, y, s), want)


def test_valid_region_of_a_tile_is_that_of_the_number_beside_it():
    p = tile_program("FP32", ["v = pl.load(a, [0, 0], [16, 32], valid_shapes=[7, 32])", "t = pl.fillpad(1.0 - v)"])
    x, y, s = values("FP32")
    want = np.zeros(SHAPE, "float32")
    want[:7] = 1 - x[:7]
    agree("FP32", ir.interpret(p, x, y, s), want)


@pytest.mark.parametrize("dtype, expression, message, hint", [
    ("FP32", "x // y", "Operator '//' is not defined for FP32 elements", "mode='floor'"),
    ("FP32", "2.0 // x", "Operator '//' is not defined for FP32 elements", "mode='floor'"),
    ("FP32", "x ** y", "takes a constant exponent, 1 to 8", "pl.exp(pl.log(a) * b)"),
    ("FP32", "x ** 0.5", "takes a constant exponent, 1 to 8", "pl.sqrt(a)"),
    ("INT32", "2 ** x", "takes a constant exponent, 1 to 8", "pl.exp"),
    ("FP32", "x & y", "requires integer tile dtype, but got FP32", "pl.cast(x, pl.INT32)"),
    ("FP32", "~x", "Operator '~' is not defined for FP32 elements", "pl.cast(x, pl.INT32)"),
    ("UINT64", "~x", "Operator '~' is not defined for UINT64 elements", "Use ^"),
    ("INT32", "x + 1.5", "cannot take a FP32 scalar with INT32 elements", "pl.cast(x, pl.FP32)"),
    ("INT32", "1.5 - x", "cannot take a FP32 scalar with INT32 elements", "pl.cast(x, pl.FP32)"),
    ("UINT8", "x + 300", "cannot take 300, which does not fit into UINT8", None),
    ("FP32", "x and y", "Operator 'and' is not defined", "pl.sel(mask, a, b)"),
    ("FP32", "not x", "Operator 'not' is not defined", "turn a mask over"),
    ("FP32", "x + [1, 2]", "Operator 'add' is not defined", "a tile, a tensor or a number"),
])
def test_what_no_operator_computes_is_refused_with_an_alternative(dtype, expression, message, hint):
    for kind, place in (("tile", "user.py:8:13"), ("tensor", "user.py:5:13")):
        with pytest.raises(pl.InvalidOperationError, match=re.escape(message)) as e:
            make(kind, dtype, expression)
        assert len(e.value.errors) == 1 and place in str(e.value)
        assert hint is None or hint in e.value.errors[0].hint


@pytest.mark.parametrize("expression, tile_hint", [
    ("x < y", "pl.cmp(a, b, cmp_type='lt')"), ("x >= 1.0", "pl.cmps(tile, number, cmp_type='ge')"),
    ("s < x", "pl.cmps(tile, number, cmp_type='gt')"), ("1.0 == x", "pl.cmps(tile, number, cmp_type='eq')")])
def test_comparison_is_refused_with_the_function_that_compares(expression, tile_hint):
    for kind, hint in (("tile", tile_hint), ("tensor", "with pl.incore()")):
        with pytest.raises(pl.InvalidOperationError) as e:
            make(kind, "FP32", expression)
        assert hint in e.value.errors[0].hint


def test_smaller_of_two_is_not_a_reduction():
    with pytest.raises(pl.InvalidOperationError) as e:
        make("tile", "FP32", "pl.min(x, y)")
    assert "pl.minimum(a, b)" in e.value.errors[0].hint


def nested(depth, turn):
    """x inside of so many operators, and how numpy says it."""
    text = "x"
    for i in range(depth):
        text = turn(text, i)
    return text


TURNS = {"number minus tile": ("FP32", lambda e, i: f"(1.0 - {e})", "pl.sub("),
         "number beside a tile of its own": ("FP32", lambda e, i: f"(0.5 - ({e} + y))", "pl.sub("),
         "number divided": ("INT32", lambda e, i: f"(90 // ({e} ^ 3))", "pl.div("),
         "tile divided": ("INT32", lambda e, i: f"(({e} + 100) // 2)", "pl.divs("),
         "remainder of a tile": ("FP32", lambda e, i: f"(({e} % 2.5) + y)", "pl.rem"),
         "power": ("FP32", lambda e, i: f"(0.25 - {e} ** 2)", "pl.mul(")}


@pytest.mark.parametrize("kind", ["tile", "tensor"])
@pytest.mark.parametrize("turn", TURNS)
def test_calls_grow_with_the_depth_of_an_expression_and_not_faster(kind, turn):
    dtype, make_one, call = TURNS[turn]
    counts = []
    for depth in (7, 14):
        lowered = passes.PassManager.get_strategy("Default", "a5").run_passes(make(kind, dtype, nested(depth, make_one)))
        counts.append(str(lowered).count(call))
    assert counts[0] >= 7 and counts[1] == 2 * counts[0]


@pytest.mark.parametrize("kind", ["tile", "tensor"])
@pytest.mark.parametrize("turn", TURNS)
def test_deeply_nested_expression_agrees_with_numpy(kind, turn):
    dtype, make_one, _ = TURNS[turn]
    x, y, s = (v / 10 if dtype == "FP32" else v for v in values(dtype))
    x = x if dtype == "FP32" else np.clip(np.abs(x), 4, 7)
    expression = nested(14, make_one)
    p = make(kind, dtype, expression)
    want = golden(dtype, expression, x, y, s)
    for made in (p, passes.PassManager.get_strategy("Default", "a5").run_passes(p)):
        agree(dtype, ir.interpret(made, x, y, NUMPY[dtype](s)), want)


def test_function_on_a_tile_and_a_number_computes_its_operand_once():
    for kind in ("tile", "tensor"):
        for call in ("pl.sub(1.0, pl.exp(x))", "pl.maximum(pl.exp(x), 1.0)", "pl.rem(pl.exp(x), 2.0)", "s % pl.exp(x)"):
            text = str(make(kind, "FP32", call))
            assert text.count("pl.exp(") + text.count("pl.tensor.exp(") == 1


@pytest.mark.parametrize("lines", [
    ["_v0 = pl.load(b, [0, 0], [16, 32])", "z = (x + 1.0) ** 2", "t = _v0 + z"],
    ["z = (x + 1.0) ** 2", "_v0 = y + 0.0", "t = (2.0 - (z + _v0)) + _v0"],
    ["t = y", "for _v0 in pl.range(2):", "    t = t + (x * 2.0) ** 2", "    t = t + _v0"],
    ["_v7 = y + 0.0", "t = _v7 + (x + 1.0) ** 2"],
])
def test_hidden_names_are_none_of_the_author(lines):
    p = tile_program("FP32", lines)
    again = pl.parse(str(p))
    ir.assert_structural_equal(again, p)
    x, y, s = values("FP32")
    made = {"x": x, "y": y}
    exec("\n".join(lines).replace("pl.load(b, [0, 0], [16, 32])", "y").replace("pl.range", "range"), made)
    for q in (p, again, passes.PassManager.get_strategy("Default", "a5").run_passes(again)):
        agree("FP32", ir.interpret(q, x, y, s), made["t"])


@pytest.mark.parametrize("condition", ["pl.getval((t + 1.0) ** 2, 0) < 100.0", "pl.getval(1.0 - t * 2.0, 0) > -9.0",
                                       "pl.getval(pl.sub(2.0, t + 1.0), 0) > -9.0"])
@pytest.mark.parametrize("loop, place", [
    (["t = x", "while {}:", "    t = t + 1.0"], "user.py:9:15"),
    (["for (t,) in pl.while_(init_values=(x,)):", "    pl.cond({})", "    t = pl.yield_(t + 1.0)"], "user.py:9:21")])
def test_condition_of_a_loop_that_needs_statements_is_refused(condition, loop, place):
    with pytest.raises(pl.UnsupportedFeatureError, match="The condition of a while loop cannot call an operator") as e:
        tile_program("FP32", [line.replace("{}", condition) for line in loop])
    assert len(e.value.errors) == 1 and place in str(e.value)
    assert "again at the end of the body" in e.value.errors[0].hint


def test_condition_of_a_loop_may_call_an_inline_function_that_is_one_expression():
    @pl.inline
    def twice(v):
        return v * 2

    @pl.inline
    def stepped(v):
        w = v * 2
        return w

    def count(double):
        @pl.function
        def k(n: pl.Scalar[pl.INDEX]) -> pl.Scalar[pl.INDEX]:
            while double(n) < 10:
                n = n + 1
            return n
        return k

    assert ir.interpret(count(twice), 1) == 5
    with pytest.raises(pl.UnsupportedFeatureError, match="The condition of a while loop cannot call an inline function"):
        count(stepped)


@pytest.mark.parametrize("dtype", ["UINT8", "UINT32", "INT16", "INT32"])
def test_all_bits_of_integers_are_inverted(dtype):
    p = pl.parse("@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n"
                 f"    def k(self, a: pl.Tensor[[8, 32], pl.{dtype}], o: pl.Out[pl.Tensor[[8, 32], pl.{dtype}]]"
                 f") -> pl.Tensor[[8, 32], pl.{dtype}]:\n"
                 "        return pl.store(~pl.load(a, [0, 0], [8, 32]), [0, 0], [8, 32], o)\n")
    info = np.iinfo(dtype.lower())
    a = np.random.default_rng(5).integers(info.min, info.max, (8, 32), dtype.lower(), endpoint=True)
    o = np.zeros_like(a)
    ir.interpret(p, a, o, function="k")
    assert (o == ~a).all()


POWERS = """
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, n: pl.Scalar[pl.{0}], y: pl.InOut[pl.Tensor[[16, 32], pl.INT32]]) -> pl.Tensor[[16, 32], pl.INT32]:
        for i in pl.range(n ** 0 + 2 * n ** 1 + 3 * n ** 3 % 7 + 5 * n ** 8 % 11 + 7 * (-n) ** 13 % 13):
            y = pl.store(pl.adds(pl.load(y, [0, 0], [16, 32]), 1), [0, 0], [16, 32], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, n: pl.Scalar[pl.{0}], y: pl.InOut[pl.Tensor[[16, 32], pl.INT32]]):
        self.k(n, y)
"""


@pytest.mark.parametrize("dtype", ["INT64", "INT32"])
def test_powers_of_scalars_with_constant_exponents(dtype):
    program, n = pl.parse(POWERS.format(dtype)), 3
    want = n ** 0 + 2 * n ** 1 + 3 * n ** 3 % 7 + 5 * n ** 8 % 11 + 7 * (-n) ** 13 % 13
    for call in (lambda *args: ir.interpret(program, *args), runtime.compile(program, "a2a3sim"),
                 runtime.compile(program, "a5sim", runtime.BackendType.CCE)):
        y = np.zeros((16, 32), "int32")
        call(n, y)
        assert (y == want).all()
