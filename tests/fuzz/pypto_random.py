# SPDX-License-Identifier: MIT
"""Random PyPTO programs, and what must hold for each: passes do not change what it computes; what is refused is refused
at a place in the file. `make fuzz` runs this as a program; tests/python/test_pypto_random.py runs a few hundred.

Programs are valid by construction: each name has one type wherever it is used, offsets stay inside, loops end. Values may
overflow or stop being numbers; every pass must keep them bit for bit.
"""
import argparse
import random
import re
import sys
import time
import warnings

import numpy as np

import pypto.language as pl
from pypto import ir, passes

ROWS, COLS = (16, 32), (16, 32, 64)
NUMPY = {"FP32": "float32", "FP16": "float16", "INT32": "int32"}
FLOATS = ("FP32", "FP16")


class Tile:
    """A tile variable of a kernel under construction."""

    def __init__(self, name, rows, cols, dtype):
        self.name, self.rows, self.cols, self.dtype = name, rows, cols, dtype

    @property
    def kind(self):
        return self.rows, self.cols, self.dtype


class Kernel:
    """Text of one InCore function on tensors of one shape: some inputs, a scalar and one or two outputs."""

    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.rows, self.cols = rng.choice(ROWS), rng.choice(COLS)
        self.dtype = rng.choice(("FP32", "FP32", "FP16", "INT32"))
        self.bands = rng.choice((1, 2, 3))
        self.n_in, self.n_out = rng.randint(1, 3), rng.randint(1, 2)
        self.lines, self.depth, self.next = [], 2, 0
        self.tiles, self.counters, self.dirty = [], [], set()
        self.text = self.make()

    @property
    def shape(self):
        return self.rows * self.bands, self.cols

    def tensor(self):
        return f"pl.Tensor[[{self.shape[0]}, {self.shape[1]}], pl.{self.dtype}]"

    def emit(self, line):
        self.lines.append("    " * self.depth + line)

    def fresh(self, prefix="t"):
        self.next += 1
        return f"{prefix}{self.next}"

    def pick(self, kind=None, dtypes=None):
        found = [t for t in self.tiles if (kind is None or t.kind == kind) and (dtypes is None or t.dtype in dtypes)]
        return self.rng.choice(found) if found else None

    def define(self, rows, cols, dtype, value):
        """A new name, or sometimes an old one of the same type."""
        old = self.pick((rows, cols, dtype))
        if old and self.rng.random() < 0.3:
            self.emit(f"{old.name} = {value}")
            return old
        tile = Tile(self.fresh(), rows, cols, dtype)
        self.emit(f"{tile.name} = {value}")
        self.tiles.append(tile)
        return tile

    def scalar(self, dtype):
        if dtype == "INT32":
            return str(self.rng.randint(-4, 5))
        if dtype == "FP32" and self.rng.random() < 0.3:
            return "s"
        return self.rng.choice(("0.5", "2.0", "-1.25", "3.0"))

    # ---- Statements ----

    def binary(self):
        a = self.pick()
        b = self.pick(a.kind)
        ops = ["add", "sub", "mul", "maximum", "minimum"]
        self.define(*a.kind, f"pl.{self.rng.choice(ops)}({a.name}, {b.name})")

    def with_scalar(self):
        a = self.pick()
        op = self.rng.choice(("add", "sub", "mul", "maxs", "mins"))
        self.define(*a.kind, f"pl.{op}({a.name}, {self.scalar(a.dtype)})")

    def unary(self):
        a = self.pick(dtypes=FLOATS)
        if a:
            op = self.rng.choice(("exp", "abs", "neg", "relu", "sqrt", "recip"))
            value = f"pl.abs({a.name})" if op == "sqrt" else a.name
            self.define(*a.kind, f"pl.{op}({value})")

    def nested(self):
        a = self.pick()
        b, c = self.pick(a.kind), self.pick(a.kind)
        self.define(*a.kind, f"pl.add(pl.mul({a.name}, {b.name}), pl.sub({c.name}, {self.scalar(a.dtype)}))")

    def cast(self):
        a = self.pick()
        to = self.rng.choice([t for t in NUMPY if t != a.dtype and {t, a.dtype} != {"FP16", "INT32"}])
        self.define(a.rows, a.cols, to, f"pl.cast({a.name}, pl.{to})")

    def reduce_rows(self):
        a = self.pick(dtypes=("FP32",))
        if a and a.cols > 1:
            v = self.fresh("v")
            self.emit(f"{v} = pl.row_{self.rng.choice(('max', 'min', 'sum'))}({a.name})")
            self.define(*a.kind, f"pl.row_expand_{self.rng.choice(('sub', 'mul'))}({a.name}, {v})")

    def reduce_columns(self):
        a = self.pick(dtypes=("FP32",))
        if a:
            v = self.fresh("v")
            self.emit(f"{v} = pl.col_{self.rng.choice(('max', 'min', 'sum'))}({a.name})")
            self.define(*a.kind, f"pl.col_expand_mul({a.name}, {v})")

    def choose(self):
        a = self.pick(dtypes=("FP32",))
        if a:
            b, m = self.pick(a.kind), self.fresh("m")
            self.emit(f"{m} = pl.cmp({a.name}, {b.name}, cmp_type={self.rng.randint(0, 5)})")
            self.define(*a.kind, f"pl.sel({m}, {a.name}, {b.name})")

    def full(self):
        a = self.pick()
        self.define(*a.kind, f"pl.full([{a.rows}, {a.cols}], dtype=pl.{a.dtype}, value={self.scalar(a.dtype).replace('s', '1.0')})")

    def load(self):
        name, i = self.rng.randrange(self.n_in), self.row()
        self.define(self.rows, self.cols, self.dtype, f"pl.load(x{name}, [{i}, 0], [{self.rows}, {self.cols}])")

    def part(self):
        """A part of a tile, stored back over its place or used with another part."""
        a = self.pick(dtypes=("FP32",))
        if a and a.rows == 32:
            v, w = self.fresh("v"), self.fresh("v")
            self.emit(f"{v} = pl.slice({a.name}, [16, {a.cols}], [{self.rng.choice((0, 16))}, 0])")
            self.emit(f"{w} = pl.{self.rng.choice(('add', 'maximum'))}({v}, {v})")
            self.tiles.append(Tile(w, 16, a.cols, a.dtype))

    def reshape(self):
        a = self.pick(dtypes=("FP32", "INT32"))
        if a and a.cols >= 32:
            v = self.fresh("v")
            self.emit(f"{v} = pl.reshape({a.name}, [{a.rows * 2}, {a.cols // 2}])")
            self.define(*a.kind, f"pl.reshape(pl.add({v}, {v}), [{a.rows}, {a.cols}])")

    def transpose(self):
        a = self.pick(dtypes=("FP32", "INT32"))
        if a:
            self.define(a.cols, a.rows, a.dtype, f"pl.transpose({a.name}, 0, 1)")

    def bits(self):
        a = self.pick(dtypes=("INT32",))
        if a:
            b = self.pick(a.kind)
            op = self.rng.choice(("and_", "or_", "shls", "shrs"))
            other = str(self.rng.randint(0, 7)) if op in ("shls", "shrs") else b.name
            self.define(*a.kind, f"pl.{op}({a.name}, {other})")

    def spread(self):
        """One row, column or number over a tile."""
        a = self.pick(dtypes=("FP32",))
        if a:
            v = self.fresh("v")
            op = self.rng.choice(("div", "sub", "mul"))
            self.emit(f"{v} = pl.maxs(pl.abs(pl.row_max({a.name})), 0.5)")
            self.define(*a.kind, f"pl.row_expand_{op}({a.name}, {v})")

    def masked(self):
        """Rows that are not there count as what is filled in."""
        a = self.pick(dtypes=("FP32",))
        if a and self.dtype == "FP32" and a.rows == self.rows:
            name, rows = self.rng.randrange(self.n_in), self.rng.choice((1, 7, self.rows - 1))
            v, w = self.fresh("v"), self.fresh("v")
            pad = self.rng.choice(("zero", "min", "max"))
            self.emit(f"{v} = pl.load(x{name}, [0, 0], [{self.rows}, {self.cols}], valid_shapes=[{rows}, {self.cols}])")
            self.emit(f"{w} = pl.row_max(pl.fillpad({v}, pad={pad!r}))")
            self.define(*a.kind, f"pl.row_expand_add({a.name}, {w})")

    def number(self):
        """A scalar that a loop or branch changes, and a tile scaled by it."""
        a = self.pick(dtypes=("FP32",))
        if a:
            k, i = self.fresh("k"), self.fresh("i")
            self.emit(f"{k} = n * {self.rng.randint(-2, 3)} + {self.rng.randint(0, 9)}")
            if self.rng.random() < 0.5:
                self.emit(f"for {i} in pl.range({self.rng.randint(0, 3)}):")
                self.emit(f"    {k} = {k} + {i}")
            else:
                self.emit(f"if {k} > {self.rng.randint(0, 9)}:")
                self.emit(f"    {k} = {k} // 2")
            self.define(*a.kind, f"pl.mul({a.name}, pl.cast({k}, pl.FP32))")

    def row(self):
        choices = [str(self.rows * self.rng.randrange(self.bands))]
        choices += [f"{i} % {self.bands} * {self.rows}" for i in self.counters[-1:]]
        return self.rng.choice(choices)

    def store(self):
        a = self.pick((self.rows, self.cols, self.dtype))
        if a:
            o = f"o{self.rng.randrange(self.n_out)}"
            self.emit(f"{o} = pl.store({a.name}, [{self.row()}, 0], [{self.rows}, {self.cols}], {o})")

    def block(self, budget):
        """Statements one level deeper; the names they make are forgotten. A tensor that is stored to stays itself."""
        self.depth += 1
        mark, n = len(self.tiles), len(self.lines)
        self.statements(budget)
        if len(self.lines) == n:
            self.full()
        del self.tiles[mark:]
        self.depth -= 1

    def loop(self, budget):
        i = self.fresh("i")
        start, stop = self.rng.choice(((0, 0), (0, 1), (0, 3), (1, 4), (0, 2)))
        form = self.rng.choice((f"{stop}", f"{start}, {stop}", f"{stop}, {start}, -1", f"{start}, {stop + 3}, 2"))
        self.emit(f"for {i} in pl.{self.rng.choice(('range', 'range', 'range', 'unroll'))}({form}):")
        self.counters.append(i)
        self.block(budget)
        self.counters.pop()

    def carried(self, budget):
        a = self.pick()
        b = self.pick(a.kind)
        i, p, q = self.fresh("i"), self.fresh("c"), self.fresh("c")
        self.emit(f"for {i}, ({p}, {q}) in pl.range({self.rng.randint(0, 3)}, init_values=({a.name}, {b.name})):")
        carried = [Tile(p, *a.kind), Tile(q, *a.kind)]
        self.tiles += carried
        self.counters.append(i)
        mark = len(self.tiles)
        self.depth += 1
        self.statements(budget)
        first, second = self.pick(a.kind), self.pick(a.kind)
        if self.rng.random() < 0.4:
            first, second = carried[1], carried[0]
        self.emit(f"{p}, {q} = pl.yield_({first.name}, {second.name})")
        self.depth -= 1
        del self.tiles[mark:]
        self.counters.pop()

    def condition(self):
        choices = ["n > 2", "n == 3", "n % 2 == 0"] + [f"{i} > 0" for i in self.counters[-1:]]
        return self.rng.choice(choices)

    def branch(self, budget):
        self.emit(f"if {self.condition()}:")
        self.block(budget)
        if self.rng.random() < 0.6:
            self.emit("else:")
            self.block(budget)

    def merged(self, budget):
        a = self.pick()
        b, r = self.pick(a.kind), self.fresh("r")
        self.emit(f"if {self.condition()}:")
        mark = len(self.tiles)
        self.depth += 1
        self.statements(budget)
        self.emit(f"{r} = pl.yield_({self.pick(a.kind).name})")
        self.depth -= 1
        del self.tiles[mark:]
        self.emit("else:")
        self.emit(f"    {r} = pl.yield_(pl.add({a.name}, {b.name}))")
        self.tiles.append(Tile(r, *a.kind))

    def while_loop(self, budget):
        k = self.fresh("k")
        self.emit(f"{k} = n - {self.rng.randint(1, 3)}")
        self.emit(f"while {k} > 0:")
        self.depth += 1
        self.emit(f"{k} = {k} - 1")
        self.depth -= 1
        self.block(budget)

    def carried_while(self, budget):
        a = self.pick()
        k, c = self.fresh("k"), self.fresh("c")
        self.emit(f"for ({k}, {c}) in pl.while_(init_values=(n - {self.rng.randint(1, 3)}, {a.name})):")
        self.depth += 1
        mark = len(self.tiles)
        self.emit(f"pl.cond({k} > 0)")
        self.tiles.append(Tile(c, *a.kind))
        self.statements(budget)
        self.emit(f"{k}, {c} = pl.yield_({k} - 1, {self.pick(a.kind).name})")
        self.depth -= 1
        del self.tiles[mark:]
        self.tiles.append(Tile(c, *a.kind))

    def chunked(self, budget):
        i = self.fresh("i")
        kind = self.rng.choice(("range", "parallel", "unroll"))
        stop = self.rng.randint(0, 5) if kind == "unroll" or self.rng.random() < 0.7 else f"n + {self.rng.randint(0, 2)}"
        self.emit(f"for {i} in pl.{kind}({stop}, chunk={self.rng.randint(1, 3)}):")
        self.counters.append(i)
        self.block(budget)
        self.counters.pop()

    def statements(self, budget):
        simple = (self.binary, self.binary, self.with_scalar, self.unary, self.nested, self.cast, self.reduce_rows,
                  self.reduce_columns, self.choose, self.full, self.load, self.store, self.part, self.reshape, self.transpose,
                  self.bits, self.spread, self.masked, self.number)
        compound = (self.loop, self.carried, self.branch, self.merged, self.while_loop, self.carried_while, self.chunked)
        while budget > 0:
            if budget > 2 and self.depth < 5 and self.rng.random() < 0.25:
                part = self.rng.randint(1, budget - 1)
                self.rng.choice(compound)(part)
                budget -= part
            else:
                self.rng.choice(simple)()
                budget -= 1

    def make(self):
        for i in range(self.n_in):
            self.tiles.append(Tile(f"t{i}", self.rows, self.cols, self.dtype))
            self.emit(f"t{i} = pl.load(x{i}, [0, 0], [{self.rows}, {self.cols}])")
        self.next = self.n_in
        self.statements(self.rng.randint(2, 14))
        for i in range(self.n_out):
            a = self.pick((self.rows, self.cols, self.dtype))
            self.emit(f"o{i} = pl.store({a.name}, [{self.row()}, 0], [{self.rows}, {self.cols}], o{i})")
        outs = ", ".join(f"o{i}" for i in range(self.n_out))
        self.emit(f"return {outs}")
        params = [f"x{i}: {self.tensor()}" for i in range(self.n_in)] + ["s: pl.FP32", "n: pl.INT64"]
        params += [f"o{i}: pl.InOut[{self.tensor()}]" for i in range(self.n_out)]
        result = self.tensor() if self.n_out == 1 else f"tuple[{', '.join([self.tensor()] * self.n_out)}]"
        head = ["    @pl.function(type=pl.FunctionType.InCore)", f"    def {self.name}(self, {', '.join(params)}) -> {result}:"]
        return head + self.lines


class Program:
    """Text of a program: kernels, and a function that calls them on its parameters and on tensors of its own."""

    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.kernels = [Kernel(rng, f"k{i}") for i in range(rng.randint(1, 3))]
        self.lines, self.params, self.count, self.depth = [], {}, 0, 2
        for _ in range(rng.randint(1, 4)):
            self.part(rng.choice(self.kernels))
        outs = [name for name, (_, written) in self.params.items() if written]
        params = [f"{name}: {f'pl.InOut[{k.tensor()}]' if w else k.tensor()}" for name, (k, w) in self.params.items()]
        types = [self.params[name][0].tensor() for name in outs]
        result = types[0] if len(types) == 1 else f"tuple[{', '.join(types)}]"
        kind = "Orchestration" if rng.random() < 0.8 else "Opaque"
        self.text = "\n".join(
            ["import pypto.language as pl", "", "", "@pl.program", "class Random:"] +
            [line for k in self.kernels for line in k.text + [""]] +
            [f"    @pl.function(type=pl.FunctionType.{kind})",
             f"    def main(self, {', '.join(params)}, n: pl.INT64) -> {result}:"] + self.lines +
            [f"        return {', '.join(outs)}"]) + "\n"

    def emit(self, line):
        self.lines.append("    " * self.depth + line)

    def tensor_of(self, kernel, written):
        """A parameter of that type; read ones may be what was written before."""
        fit = [n for n, (k, w) in self.params.items() if k.tensor() == kernel.tensor() and (not written or w)]
        if fit and self.rng.random() < 0.6:
            return self.rng.choice(fit)
        self.count += 1
        name = f"p{self.count}"
        self.params[name] = (kernel, written)
        return name

    def call(self, kernel, temporary):
        outs = []
        for _ in range(kernel.n_out):
            left = [n for n in (self.tensor_of(kernel, True) for _ in range(4)) if n not in outs]
            if not left:
                self.count += 1
                left = [f"p{self.count}"]
                self.params[left[0]] = (kernel, True)
            outs.append(left[0])
        if temporary:
            outs[0] = temporary
        ins = [self.tensor_of(kernel, False) for _ in range(kernel.n_in)]
        ins = [i for i in ins if i not in outs] or [self.input_of(kernel)]
        ins = [self.rng.choice(ins) for _ in range(kernel.n_in)]
        args = ins + [self.rng.choice(("0.5", "1.0", "-2.0")), self.rng.choice(("n", "n + 1", "3"))] + outs
        self.emit(f"{', '.join(outs)} = self.{kernel.name}({', '.join(args)})")

    def input_of(self, kernel):
        self.count += 1
        self.params[f"p{self.count}"] = (kernel, False)
        return f"p{self.count}"

    def part(self, kernel):
        form = self.rng.randrange(5)
        if form == 0:
            self.emit(f"for j{self.count} in pl.range({self.rng.randint(0, 3)}):")
        elif form == 1:
            self.emit(f"if n > {self.rng.randint(0, 4)}:")
        elif form == 2:
            self.chain(kernel)
            return
        self.depth += form < 2
        self.call(kernel, None)
        self.depth = 2

    def chain(self, kernel):
        """A tensor of its own between two calls."""
        other = self.rng.choice([k for k in self.kernels if k.tensor() == kernel.tensor()])
        name, fill = f"q{self.count}", self.input_of(kernel)
        shape = f"[{kernel.shape[0]}, {kernel.shape[1]}]"
        self.emit(f"{name} = pl.create_tensor({shape}, dtype=pl.{kernel.dtype})")
        self.emit(f"{name} = self.copy_{kernel.name}({fill}, {name})")
        self.add_copy(kernel)
        self.call(kernel, name)
        self.params[name] = (kernel, False)
        self.call(other, None)
        del self.params[name]

    def add_copy(self, kernel):
        """A kernel that writes every element of a tensor."""
        if any(line.strip().startswith(f"def copy_{kernel.name}(") for k in self.kernels for line in k.text):
            return
        t, rows = kernel.tensor(), kernel.rows
        kernel.text = [
            "    @pl.function(type=pl.FunctionType.InCore)",
            f"    def copy_{kernel.name}(self, x: {t}, o: pl.Out[{t}]) -> {t}:",
            f"        for i in pl.range(0, {kernel.shape[0]}, {rows}):",
            f"            o = pl.store(pl.load(x, [i, 0], [{rows}, {kernel.cols}]), [i, 0], [{rows}, {kernel.cols}], o)",
            "        return o", ""] + kernel.text

    def inputs(self):
        generator = np.random.default_rng(self.rng.randrange(2**32))
        out = []
        for kernel, _ in self.params.values():
            if kernel.dtype == "INT32":
                out.append(generator.integers(-9, 10, kernel.shape).astype("int32"))
            else:
                out.append(generator.uniform(-2, 2, kernel.shape).astype(NUMPY[kernel.dtype]))
        return out


def outcome(program, inputs, n):
    """What the program returns, and what is in its arguments afterwards, as bytes."""
    args = [a.copy() for a in inputs]
    results = ir.interpret(program, *args, n, max_steps=1_000_000)
    results = results if isinstance(results, tuple) else (results,)
    return [a.tobytes() for a in args] + [r.tobytes() for r in results]


def check_valid(seed):
    """No pass changes what the program computes, nor what its text says."""
    made = Program(seed)
    program = pl.parse(made.text, f"random_{seed}.py")
    inputs = made.inputs()
    n = seed % 5
    wanted, text = outcome(program, inputs, n), str(program)
    for name in passes.PassManager.get_strategy("Default").names:
        program = passes.PassManager([name]).run_passes(program)
        before, text = text, str(program)
        if text == before:
            continue
        assert outcome(program, inputs, n) == wanted, f"seed {seed}: pass {name} changes the result\n{made.text}\n{program}"
    again = pl.parse(str(program), f"printed_{seed}.py")
    assert ir.structural_equal(program, again), f"seed {seed}: the printed program is another one\n{program}"


def check_chip(seed, platform, backend):
    """The kernels compute on a simulated chip what the interpreter says, up to rounding."""
    from pypto import runtime
    made = Program(seed)
    # what only calls kernels is run as an orchestration
    program = pl.parse(made.text.replace("pl.FunctionType.Opaque", "pl.FunctionType.Orchestration"), f"random_{seed}.py")
    inputs = made.inputs()
    n = seed % 5
    wanted, got = [a.copy() for a in inputs], [a.copy() for a in inputs]
    with np.errstate(all="ignore"):
        ir.interpret(program, *wanted, n)
    runtime.compile(program, platform, backend)(*got, n)
    for i, (a, b) in enumerate(zip(wanted, got)):
        close = np.isclose(a.astype("float64"), b.astype("float64"), rtol=2e-2, atol=1e-2, equal_nan=True)
        # sums in another order and functions of another library may differ where values are near the limits of the type
        large = ~(np.abs(a.astype("float64")) < 1e4)
        assert (close | large).all(), f"seed {seed}: argument {i} differs on {platform} by {backend}\n{made.text}"


MUTATIONS = (
    (r"\bt\d+\b", "nothing"), (r"\[\d+, 0\]", "[4096, 0]"), (r"pl\.add\(", "pl.nope("), (r"pl\.FP32", "pl.FP33"),
    (r"pl\.INT32", "pl.FP16"), (r"pl\.range\(", "range("), (r"self\.k(\d)\(", r"self.z\1("), (r" = pl\.load\(x0, ", " = pl.load("),
    (r"-> .*:", "-> pl.INT64:"), (r"pl\.InOut", "pl.PIPE_IN"), (r"\[16, (\d+)\]", r"[17, \1]"), (r"return .*", "return 1.5"),
    (r"pl\.yield_\(([^,]+), [^)]+\)", r"pl.yield_(\1)"), (r"if ", "try "), (r", s: pl\.FP32", ", s"), (r"%", "**"),
    (r"pl\.mul\(", "pl.matmul("), (r"InCore", "Orchestration"), (r"\bn\b", "99999999999999999999"), (r"exp", "EXP"),
    (r"cmp_type=\d", "cmp_type=n"), (r"pl\.store\((\w+), ", r"pl.store(\1, \1, "), (r"\(self, ", "("), (r"    def k0", "    def main"),
)


def check_damaged(seed):
    """A damaged program is refused at a place in its text, or is another valid one."""
    rng = random.Random(seed)
    text = Program(seed).text
    for _ in range(rng.randint(1, 3)):
        pattern, new = rng.choice(MUTATIONS)
        spots = list(re.finditer(pattern, text))
        if spots:
            spot = rng.choice(spots)
            text = text[:spot.start()] + spot.expand(new) + text[spot.end():]
    filename = f"damaged_{seed}.py"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pl.parse(text, filename)
    except pl.ParserError as e:
        for error in e.errors:
            assert error.span.filename == filename and 1 <= error.span.line <= text.count("\n"), f"{error!r}\n{text}"
            assert error.message and "nternal" not in error.message, f"{error}\n{text}"
        return True
    except RuntimeError as e:  # the text is run as Python first
        raise AssertionError(f"seed {seed}: {e}\n{text}") from e
    return False


def main():
    options = argparse.ArgumentParser(description="Random PyPTO programs.")
    options.add_argument("--first", type=int, default=None, help="first seed; from the clock if not given")
    options.add_argument("--count", type=int, default=20000, help="programs; a fifth of them is damaged")
    options.add_argument("--chip", type=int, default=0, help="run so many of them on the simulated chips, too; slow")
    options.add_argument("--backends", default="PTO,CCE", help="of the runs on chips")
    options.add_argument("--seconds", type=float, default=None, help="end earlier after this time")
    options = options.parse_args()
    first = options.first if options.first is not None else int(time.time()) % 1_000_000 * 1000
    end = time.monotonic() + options.seconds if options.seconds else None
    refused = done = 0
    print(f"random PyPTO programs from seed {first}")
    for seed in range(first, first + options.count):
        if seed % 5 == 0:
            refused += check_damaged(seed)
        else:
            check_valid(seed)
        done += 1
        if done % 1000 == 0:
            print(f"{done} programs", flush=True)
        if end and time.monotonic() > end:
            break
    for seed in [s for s in range(first, first + options.count) if s % 5][:options.chip]:
        for backend in options.backends.split(","):
            for platform in ("a2a3sim", "a5sim"):
                check_chip(seed, platform, backend)
                print(f"seed {seed}: right on {platform} by {backend}", flush=True)
    print(f"{done} programs, {refused} refused with a place; no pass changes a result")


if __name__ == "__main__":
    sys.exit(main())
