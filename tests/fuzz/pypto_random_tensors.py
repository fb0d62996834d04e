# SPDX-License-Identifier: MIT
"""Random functions on tensors: text of an Orchestration that calls kernels, or of an Opaque function with operators on tensors
and pl.incore() regions of its own; and the same in plain Python, which says what it computes.

Tensors are of two types, a Whole one and a Half of its rows. A name has one type wherever it is used; every tensor is written
before it is read; offsets stay inside; loops end. What the function may write is declared so. Slices and other names of a tensor
are its memory, in the text as in Python.

    pypto_random_tensors.py --first SEED --count N           # interpreted, after each pass, and as Python
"""
import argparse
import contextlib
import random
import sys
import time

import numpy as np

import pypto.language as pl
from pypto import _core, ir, passes

ROWS, COLS = 32, 32
SHAPES = {"Whole": (ROWS, COLS), "Half": (ROWS // 2, COLS)}
TEXT = {kind: f"pl.Tensor[[{rows}, {cols}], pl.FP32]" for kind, (rows, cols) in SHAPES.items()}


def kernel(name, params, results, lines):
    """Text of a kernel on tensors of one type, a line for each of @lines."""
    result = results[0] if len(results) == 1 else f"tuple[{', '.join(results)}]"
    return ["    @pl.function(type=pl.FunctionType.InCore)", f"    def {name}(self, {', '.join(params)}) -> {result}:",
            *(f"        {line}" for line in lines), ""]


def kernels():
    """mix: writes a new value; acc: adds to the old one; both: does each, on two tensors."""
    out = []
    for kind, (rows, cols) in SHAPES.items():
        t, end, whole = TEXT[kind], kind.lower(), f"[0, 0], [{rows}, {cols}]"
        a, b = f"pl.load(a, {whole})", f"pl.load(b, {whole})"
        out += kernel(f"mix_{end}", [f"a: {t}", f"b: {t}", "s: pl.FP32", "k: pl.INT64", f"o: pl.Out[{t}]"], [t], [
            f"t = {a} * 0.5 + {b} * 0.25", f"o = pl.store(t + s + pl.cast(k, pl.FP32) * 0.125, {whole}, o)", "return o"])
        out += kernel(f"acc_{end}", [f"a: {t}", f"o: pl.InOut[{t}]"], [t], [
            f"t = pl.load(o, {whole}) * 0.5", f"o = pl.store(t + {a}, {whole}, o)", "return o"])
        out += kernel(f"both_{end}", [f"a: {t}", f"o: pl.InOut[{t}]", f"p: pl.Out[{t}]"], [t, t], [
            f"t = {a}", f"u = pl.load(o, {whole})", f"p = pl.store(t - u * 0.5, {whole}, p)",
            f"o = pl.store(u * 0.5 + t * 0.25, {whole}, o)", "return o, p"])
    return out


class Kernels:
    """What kernels() compute, on arrays."""

    def mix(self, a, b, s, k, o):
        o[...] = a * np.float32(0.5) + b * np.float32(0.25) + np.float32(s) + np.float32(np.float32(k) * 0.125)
        return o

    def acc(self, a, o):
        o[...] = o * np.float32(0.5) + a
        return o

    def both(self, a, o, p):
        p[...], o[...] = a - o * np.float32(0.5), o * np.float32(0.5) + a * np.float32(0.25)
        return o, p

    mix_whole = mix_half = mix
    acc_whole = acc_half = acc
    both_whole = both_half = both


class Operators:
    """Operators of the text, on arrays and numbers."""
    FP32, INT64 = "FP32", "INT64"
    range = parallel = unroll = staticmethod(range)
    incore = staticmethod(contextlib.nullcontext)
    maximum, minimum = np.maximum, np.minimum

    @staticmethod
    def cast(value, dtype):
        return np.float32(value) if dtype == "FP32" else int(value)

    @staticmethod
    def create_tensor(shape, dtype):
        assert dtype == "FP32"
        return np.full(shape, np.nan, "float32")

    @staticmethod
    def slice(x, shape, offset):
        assert all(0 <= o and o + n <= e for o, n, e in zip(offset, shape, x.shape)), "a slice lies outside"
        return x[offset[0]:offset[0] + shape[0], offset[1]:offset[1] + shape[1]]

    def load(self, x, offset, shape, valid_shapes=None):
        t = self.slice(x, valid_shapes or shape, offset).copy()
        return t

    def store(self, tile, offset, shape, x):
        self.slice(x, shape, offset)[...] = tile
        return x

    def assemble(self, x, source, offset):
        self.slice(x, source.shape, offset)[...] = source.copy()
        return x

    @staticmethod
    def reshape(x, shape):
        assert x.flags.c_contiguous
        return x.reshape(shape)

    @staticmethod
    def transpose(x, _a, _b):
        return x.T.copy()

    @staticmethod
    def matmul(x, y, a_trans=False, b_trans=False):
        x, y = x.T if a_trans else x, y.T if b_trans else y
        return (x.astype("float64") @ y.astype("float64")).astype("float32")

    class tensor:
        @staticmethod
        def read(x, at):
            return x[tuple(at)].item()


class Variable:
    """A tensor variable: its type, whether what it names may be written, and whether its rows are adjacent."""

    def __init__(self, kind, writable, dense=True):
        self.kind, self.writable, self.dense = kind, writable, dense


class Function:
    """Text of a function main() of a program, the same as Python, and its arguments."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.seed = seed
        self.lines, self.plain, self.depth, self.next = [], [], 2, 0
        self.counters, self.inside = [], None
        self.vars, self.numbers, self.floats = {}, ["n"], ["s"]
        self.tuples = {}
        self.declare()
        self.statements(self.rng.randint(3, 12))
        self.finish()

    kind = "Orchestration"

    def declare(self):
        self.params = {}
        for i in range(self.rng.randint(2, 3)):
            self.params[f"x{i}"] = Variable("Whole", i == 0 or self.rng.random() < 0.4)
        self.params["h"] = Variable("Half", self.rng.random() < 0.5)
        self.vars = dict(self.params)

    def finish(self):
        written = [v for v in self.vars if self.vars[v].dense]
        results = self.rng.sample(written, min(len(written), self.rng.randint(1, 3)))
        self.emit(f"return {', '.join(results)}")
        types = [TEXT[self.vars[v].kind] for v in results]
        plain = self.kind == "Opaque" and self.rng.random() < 0.4  # in which it need not be said what is written
        params = [f"{name}: {f'pl.InOut[{TEXT[v.kind]}]' if v.writable and not plain else TEXT[v.kind]}"
                  for name, v in self.params.items()]
        params += ["c: pl.Tensor[[8], pl.INT32]", "s: pl.FP32", "n: pl.INT64"]
        self.text = "\n".join([
            "import pypto.language as pl", "", "", "@pl.program", "class Random:", *kernels(),
            f"    @pl.function(type=pl.FunctionType.{self.kind})", f"    def main(self, {', '.join(params)}) -> "
            + (types[0] if len(types) == 1 else f"tuple[{', '.join(types)}]") + ":", *self.lines]) + "\n"
        names = [p.split(":")[0] for p in params]
        self.python = "\n".join([f"def main(self, {', '.join(names)}):"] + [line[4:] for line in self.plain]) + "\n"

    def inputs(self):
        generator = np.random.default_rng(self.seed)
        tensors = [generator.uniform(-2, 2, SHAPES[v.kind]).astype("float32") for v in self.params.values()]
        return [*tensors, generator.integers(-3, 4, 8).astype("int32"), 0.5, self.seed % 5 - 1]

    def run(self, args):
        """What it computes, as Python; its arguments are changed."""
        names = {"pl": Operators(), "min": min, "max": max}
        exec(compile(self.python, f"random_{self.seed}", "exec"), names)  # pylint: disable=exec-used
        results = names["main"](Kernels(), *args)
        return results if isinstance(results, tuple) else (results,)

    # ---- Text and names ----

    def emit(self, line, plain=None):
        self.lines.append("    " * self.depth + line)
        for one in [line] if plain is None else plain:
            self.plain.append("    " * self.depth + one)

    def fresh(self, prefix="t"):
        self.next += 1
        return f"{prefix}{self.next}"

    def pick(self, kind=None, writable=False, dense=False, but=()):
        found = [n for n, v in self.vars.items() if kind in (None, v.kind) and v.writable >= writable and v.dense >= dense and
                 n not in but]
        return self.rng.choice(found) if found else None

    def any_kind(self):
        return self.rng.choice(("Whole", "Whole", "Half")) if self.pick("Half") else "Whole"

    def number(self, depth=0):
        """An integer expression, of any sign."""
        rng, form = self.rng, self.rng.randrange(7)
        if form < 2 or depth > 2:
            return str(rng.randint(-3, 4))
        if form < 4 or not self.counters and form == 4:
            return rng.choice(self.numbers)
        if form == 4:
            return rng.choice(self.counters)
        if form == 5:
            return f"({self.number(depth + 1)} {rng.choice('+-*')} {self.number(depth + 1)})"
        return f"({rng.choice(self.numbers)} {rng.choice(('//', '%'))} {rng.choice((-3, -2, 2, 3, 4))})"

    def long(self):
        """The same, of type INT64."""
        return f"{self.rng.choice(self.numbers)} {self.rng.choice('+-')} {self.number()}"

    def condition(self):
        other = self.number()
        if self.rng.random() < 0.2:
            return f"({self.long()}) % 2 == 0"
        number = self.rng.choice(self.counters[-1:] + self.numbers)
        return f"{number} {self.rng.choice(('<', '<=', '>', '>=', '==', '!='))} {other}"

    def float(self):
        return self.rng.choice((self.rng.choice(self.floats), "0.5", "-1.25"))

    def offset(self, extent=ROWS // 2, step=None):
        step = step or self.rng.choice((1, 4, 16))
        if self.rng.random() < 0.4:
            return str(self.rng.randrange(extent // step + 1) * step)
        return f"({self.long()}) % {extent // step + 1} * {step}"

    # ---- Statements ----

    def create(self, kind=None, name=None):
        """A tensor of its own with a first value; sometimes a new one for an old name."""
        kind = kind or self.any_kind()
        name = name or self.rng.choice([n for n, v in self.vars.items() if v.kind == kind and n not in self.params] * 2
                                       + [self.fresh()])
        a, b = self.pick(kind, but=(name,)), self.pick(kind, but=(name,))
        self.emit(f"{name} = pl.create_tensor({list(SHAPES[kind])}, dtype=pl.FP32)")
        self.emit(f"{name} = self.mix_{kind.lower()}({a}, {b}, {self.float()}, {self.long()}, {name})")
        self.vars[name] = Variable(kind, True)

    def mix(self):
        kind = self.any_kind()
        o = self.pick(kind, writable=True)
        if o:
            a, b = self.pick(kind, but=(o,)), self.pick(kind, but=(o,))
            if a:
                self.emit(f"{o} = self.mix_{kind.lower()}({a}, {b}, {self.float()}, {self.long()}, {o})")

    def acc(self):
        kind = self.any_kind()
        o = self.pick(kind, writable=True)
        a = self.pick(kind, but=(o,))
        if o and a:
            self.emit(f"{o} = self.acc_{kind.lower()}({a}, {o})")

    def both(self):
        kind = self.any_kind()
        o = self.pick(kind, writable=True, dense=True)
        p = self.pick(kind, writable=True, dense=True, but=(o,))
        a = self.pick(kind, but=(o, p))
        if o and p and a:
            self.emit(f"{o}, {p} = self.both_{kind.lower()}({a}, {o}, {p})")

    def swap(self):
        kind = self.any_kind()
        a = self.pick(kind, writable=True, dense=True)
        b = self.pick(kind, writable=True, dense=True, but=(a,))
        if a and b:
            self.emit(f"{a}, {b} = {b}, {a}")

    def alias(self):
        a = self.pick(dense=True)
        name = self.fresh()
        self.emit(f"{name} = {a}")
        self.vars[name] = Variable(self.vars[a].kind, self.vars[a].writable)

    def part(self):
        """A slice, written or read."""
        a = self.pick("Whole", dense=True)
        if not a:
            return
        name = self.fresh("v")
        self.emit(f"{name} = pl.slice({a}, {list(SHAPES['Half'])}, [{self.offset()}, 0])")
        self.vars[name] = Variable("Half", self.vars[a].writable, False)
        other = self.pick("Half", but=(name,))
        if self.vars[a].writable and other and self.rng.random() < 0.6:
            self.emit(f"{name} = self.acc_half({other}, {name})")

    def pair(self):
        """A tuple of tensors and a number; one of them is used."""
        kind = self.any_kind()
        a, b, name, e = self.pick(kind, dense=True), self.pick(kind, dense=True), self.fresh("p"), self.fresh()
        self.emit(f"{name} = ({a}, {self.number()}, {b})")
        self.tuples[name] = (Variable(kind, self.vars[a].writable), Variable(kind, self.vars[b].writable))
        i = self.rng.choice((0, 2))
        self.emit(f"{e} = {name}[{i}]")
        self.vars[e] = self.tuples[name][i // 2]

    def reuse(self):
        """An element of an earlier tuple."""
        if self.tuples:
            name = self.rng.choice(list(self.tuples))
            i, e = self.rng.choice((0, 2)), self.fresh()
            self.emit(f"{e} = {name}[{i}]")
            self.vars[e] = self.tuples[name][i // 2]

    def scalar(self):
        form = self.rng.randrange(4)
        if form == 0:
            name = self.rng.choice(self.floats[1:] + [self.fresh("f")])
            self.emit(f"{name} = {self.rng.choice(self.floats)} * 0.5 + {self.float()}")
            self.floats += [name] * (name not in self.floats)
            return
        name = self.rng.choice(self.numbers[1:] * 2 + [self.fresh("k")])
        if form == 1 and not self.inside:
            self.emit(f"{name} = pl.cast(pl.tensor.read(c, [{self.offset(7, 1)}]), pl.INT64)")
        else:
            self.emit(f"{name} = {self.long()}")
        self.numbers += [name] * (name not in self.numbers)

    # ---- Loops and branches ----

    @contextlib.contextmanager
    def block(self):
        """Statements one level deeper; what they name is forgotten, but for what the generator merges itself."""
        kept = dict(self.vars), list(self.numbers), list(self.floats), dict(self.tuples), list(self.counters)
        self.depth += 1
        n = len(self.lines)
        yield kept[0]
        if len(self.lines) == n:
            self.emit(f"{self.fresh('k')} = n + 1")
        self.depth -= 1
        made, self.made = self.vars, {}
        self.vars, self.numbers, self.floats, self.tuples, self.counters = kept
        for name, v in made.items():
            if name in self.vars:
                old = self.vars[name]
                self.vars[name] = Variable(v.kind, v.writable and old.writable, v.dense and old.dense)
            else:
                self.made[name] = v

    def bounds(self):
        """Arguments of range(); few rounds, whatever the numbers are."""
        k = f"({self.long()})"
        return self.rng.choice((
            "2", "3", f"{k} % 4", f"{k} % 3, 3", "-2, 2", "2, -1, -1", "3, -3, -2", f"{k} % 3, -2, -1", f"-1, {k} % 3",
            f"0, 5, {k} % 3 + 1", f"4, 0, -({k} % 2) - 1", "0", "1", *(f"{c} % 3" for c in self.counters),
            *(f"{c}, {c} + 2" for c in self.counters), *(f"{c} % 3, -1, -1" for c in self.counters)))

    def loop(self, budget):
        i = self.fresh("i")
        self.emit(f"for {i} in pl.range({self.bounds()}):")
        with self.block():
            self.counters.append(i)
            self.statements(budget)

    def carried(self, budget):
        kind, i = self.any_kind(), self.fresh("i")
        first = [self.pick(kind, dense=True) for _ in range(self.rng.randint(1, 2))]
        names, results = [self.fresh("c") for _ in first], [self.fresh("r") for _ in first]
        starts = list(first)
        if self.tuples and self.rng.random() < 0.5:
            name = self.rng.choice(list(self.tuples))
            if self.tuples[name][0].kind == kind:
                starts[0] = f"{name}[0]"
        end = "," * (len(first) == 1)
        bounds = self.bounds()
        self.emit(f"for {i}, ({', '.join(names)}{end}) in pl.range({bounds}, init_values=({', '.join(starts)}{end})):",
                  [f"{', '.join(names)} = {', '.join(starts)}", f"{', '.join(results)} = {', '.join(names)}",
                   f"for {i} in pl.range({bounds}):"])
        with self.block():
            self.counters.append(i)
            for name in names:
                self.vars[name] = Variable(kind, False)
            self.statements(budget)
            values = [self.pick(kind, dense=True) for _ in names]
            if len(names) == 2 and self.rng.random() < 0.3:
                values = names[::-1]
            self.emit(f"{', '.join(results)} = pl.yield_({', '.join(values)})",
                      [f"{', '.join(names)} = {', '.join(values)}", f"{', '.join(results)} = {', '.join(names)}"])
        for name in results:
            self.vars[name] = Variable(kind, False)

    def branch(self, budget):
        """Names that both ways make are there afterwards."""
        self.emit(f"if {self.condition()}:")
        name, kind = self.fresh("u"), self.any_kind()
        merged = self.rng.random() < 0.6
        with self.block():
            self.statements(budget)
            if merged:
                self.value(kind, name, budget)
        one = self.made
        if not merged and self.rng.random() < 0.5:
            return
        self.emit("else:")
        with self.block():
            self.statements(budget // 2)
            if merged:
                self.value(kind, name, budget)
        if merged:
            two = self.made
            self.vars[name] = Variable(kind, one[name].writable and two[name].writable, one[name].dense and two[name].dense)

    def value(self, kind, name, budget):
        """Gives a new name a tensor, by another branch sometimes."""
        form = self.rng.random()
        if form < 0.25 and budget > 1 and self.depth < 5:
            self.emit(f"if {self.condition()}:")
            ways = []
            for word in ("", "else:"):
                if word:
                    self.emit(word)
                with self.block():
                    self.value(kind, name, budget - 1)
                ways.append(self.made[name])
            self.vars[name] = Variable(kind, all(v.writable for v in ways), all(v.dense for v in ways))
        elif form < 0.7:
            self.create(kind, name)
        else:
            a = self.pick(kind, dense=True)
            if not a:
                self.create(kind, name)
                return
            self.emit(f"{name} = {a}")
            self.vars[name] = Variable(kind, self.vars[a].writable)

    def chosen(self, budget):
        """The same with pl.yield_()."""
        kind, r = self.any_kind(), self.fresh("r")
        self.emit(f"if {self.condition()}:")
        for word in ("", "else:"):
            if word:
                self.emit(word)
            with self.block():
                self.statements(budget // 2)
                a = self.pick(kind, dense=True)
                self.emit(f"{r} = pl.yield_({a})", [f"{r} = {a}"])
        self.vars[r] = Variable(kind, False)

    def while_loop(self, budget):
        k = self.fresh("w")
        self.emit(f"{k} = ({self.long()}) % 4")
        self.emit(f"while {k} > 0:")
        with self.block():
            if self.rng.random() < 0.5:
                self.emit(f"{k} = {k} - 1")
                self.counters.append(k)
                self.statements(budget)
            else:
                self.counters.append(k)
                self.statements(budget)
                self.emit(f"{k} = {k} - 1")

    def carried_while(self, budget):
        kind, k, c = self.any_kind(), self.fresh("w"), self.fresh("c")
        a = self.pick(kind, dense=True)
        first = f"({self.long()}) % 3, {a}"
        self.emit(f"for ({k}, {c}) in pl.while_(init_values=({first})):", [f"{k}, {c} = {first}", f"while {k} > 0:"])
        with self.block():
            self.emit(f"pl.cond({k} > 0)", [])
            self.vars[c] = Variable(kind, False)
            self.counters.append(k)
            self.statements(budget)
            b = self.pick(kind, dense=True)
            self.emit(f"{k}, {c} = pl.yield_({k} - 1, {b})", [f"{k}, {c} = {k} - 1, {b}"])
        self.vars[c] = Variable(kind, False)

    SIMPLE = ("create", "create", "mix", "mix", "acc", "acc", "both", "swap", "alias", "part", "part", "pair", "reuse", "scalar",
              "scalar")
    COMPOUND = ("loop", "loop", "carried", "branch", "branch", "branch", "chosen", "while_loop", "carried_while")

    def statements(self, budget):
        while budget > 0:
            if budget > 1 and self.depth < 6 and self.rng.random() < 0.4:
                part = self.rng.randint(1, budget - 1)
                getattr(self, self.rng.choice(self.COMPOUND))(part)
                budget -= part + 1
            else:
                getattr(self, self.rng.choice(self.SIMPLE))()
                budget -= 1


class Mixed(Function):
    """An Opaque function: operators on tensors and regions beside calls."""
    kind = "Opaque"
    SIMPLE = Function.SIMPLE + ("arithmetic",) * 6 + ("assemble", "assemble", "transpose", "product", "reshape")
    COMPOUND = Function.COMPOUND + ("region",) * 6
    INSIDE = ("scalar", "arithmetic", "arithmetic", "assemble", "assemble", "transpose", "tile", "tile", "tile", "part",
              "slice_of_slice")
    CUBE = ("multiply", "multiply", "part", "scalar")
    AROUND = ("loop", "loop", "branch", "while_loop", "carried", "chosen", "carried_while")

    def target(self, kind):
        """A name for a new tensor, often one there is."""
        old = [n for n, v in self.vars.items() if v.kind == kind]
        return self.rng.choice(old + [self.fresh()]) if old and self.rng.random() < 0.4 else self.fresh()

    def operand(self, kind):
        return self.pick(kind)

    def arithmetic(self):
        kind = self.any_kind()
        a, b, form = self.operand(kind), self.operand(kind), self.rng.randrange(6)
        if not a:
            return
        value = (f"{a} + {b}", f"{a} * 0.5", f"{a} - {b}", f"pl.maximum({a}, {b})", f"{a} * 0.5 + {b} * 0.25",
                 f"{a} + {self.float()}")[form]
        self.assign(kind, value)

    def assign(self, kind, value):
        name = self.target(kind)
        self.emit(f"{name} = {value}")
        self.vars[name] = Variable(kind, True)

    def assemble(self):
        a, b = self.pick("Whole", writable=True), self.operand("Half")
        if a and b:
            self.emit(f"{a} = pl.assemble({a}, {b}, [{self.offset()}, 0])")

    def transpose(self):
        a = self.operand("Whole")
        if a:
            self.assign("Whole", f"pl.transpose({a}, 0, 1)")

    def product(self):
        a, b = self.operand("Whole"), self.operand("Whole")
        if a:
            name = self.fresh("d")
            self.emit(f"{name} = pl.matmul({a}, {b})")
            self.assign("Whole", f"{name} * 0.0625")

    def multiply(self):
        """A product, whatever becomes of its size; with an exchange of axes sometimes."""
        a, b = self.operand("Whole"), self.operand("Whole")
        more = self.rng.choice(("", "", ", a_trans=True", ", b_trans=True"))
        if a:
            self.assign("Whole", f"pl.matmul({a}, {b}{more})")

    def reshape(self):
        a = self.pick("Whole", dense=True)
        if a:
            name = self.fresh("e")
            self.emit(f"{name} = pl.reshape({a}, [16, 64])")
            self.emit(f"{name} = {name} + {self.float()}")
            self.assign("Whole", f"pl.reshape({name}, [32, 32])")

    def slice_of_slice(self):
        a = self.pick("Whole", writable=True)
        if a:
            v, w = self.fresh("v"), self.fresh("v")
            self.emit(f"{v} = pl.slice({a}, [16, 32], [{self.offset()}, 0])")
            self.emit(f"{w} = pl.slice({v}, [8, 32], [{self.offset(8)}, 0])")
            self.emit(f"{w} = pl.store(pl.load({w}, [0, 0], [8, 32]) * 0.5 + {self.float()}, [0, 0], [8, 32], {w})")

    def tile(self):
        """Loads, computes and stores, through slices and at offsets that the run decides on."""
        a, o = self.pick(), self.pick(writable=True)
        if not a or not o:
            return
        t = self.fresh("t")
        at, to = (f"[{self.offset()}, 0]" if self.vars[x].kind == "Whole" else "[0, 0]" for x in (a, o))
        self.emit(f"{t} = pl.load({a}, {at}, [16, 32])")
        if self.rng.random() < 0.5:
            b, at = o, to
            self.emit(f"{t} = {t} * 0.5 + pl.load({b}, {at}, [16, 32]) * 0.5")
        else:
            self.emit(f"{t} = {t} * 0.5 + {self.float()}")
        self.emit(f"{o} = pl.store({t}, {to}, [16, 32], {o})")

    def part(self):
        if not self.inside:
            return super().part()
        a = self.pick("Whole")
        if a:
            name = self.fresh("v")
            self.emit(f"{name} = pl.slice({a}, {list(SHAPES['Half'])}, [{self.offset()}, 0])")
            self.vars[name] = Variable("Half", self.vars[a].writable, False)

    def value(self, kind, name, budget):
        if not self.inside and self.rng.random() < 0.5:
            return super().value(kind, name, budget)
        a, b = self.operand(kind), self.operand(kind)
        if self.inside is self.CUBE:
            self.emit(f"{name} = {a}")
            self.vars[name] = Variable(kind, self.vars[a].writable, self.vars[a].dense)
            return
        self.emit(f"{name} = {a} * 0.5 - {b}")
        self.vars[name] = Variable(kind, True)

    def region(self, budget):
        if self.inside:
            return
        self.emit("with pl.incore():")
        with self.block():
            self.inside = self.rng.choice((self.INSIDE, self.INSIDE, self.CUBE))
            self.statements(budget)
            self.inside = None

    def statements(self, budget):
        if not self.inside:
            return super().statements(budget)
        while budget > 0:
            if budget > 1 and self.depth < 6 and self.rng.random() < 0.3:
                part = self.rng.randint(1, budget - 1)
                getattr(self, self.rng.choice(self.AROUND))(part)
                budget -= part + 1
            else:
                getattr(self, self.rng.choice(self.inside))()
                budget -= 1


# ---- Checks ----

def made(seed):
    return (Function, Mixed)[seed % 2](seed)


def copies(args):
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


def arrays(args, results):
    """All that a run may have changed."""
    return [a for a in (*args, *(results if isinstance(results, tuple) else (results,))) if isinstance(a, np.ndarray)]


def interpreted(program, args):
    args = copies(args)
    return arrays(args, ir.interpret(program, *args, function="main", max_steps=1_000_000))


def check_close(wanted, got, message):
    """Equal up to the rounding of sums, which grows with what was summed."""
    for i, (a, b) in enumerate(zip(wanted, got, strict=True)):
        largest = np.abs(a[np.isfinite(a)]).max(initial=1)
        close = np.allclose(a, b, rtol=1e-3, atol=1e-4 * largest, equal_nan=True) or largest > 1e30
        assert close, f"{message}: array {i} differs"


def refusal(function, refused):
    """A refusal is told at a place in the text, and is no mistake of the compiler's."""
    for error in refused.errors:
        assert 1 <= error.span.line <= function.text.count("\n"), f"seed {function.seed}: {error!r}\n{function.text}"
        assert "nternal" not in error.message, f"seed {function.seed}: {error}\n{function.text}"


def check_passes(function):
    """No pass changes what the function computes, which is what Python says. False if a pass refuses it, at a place."""
    program = pl.parse(function.text, f"random_{function.seed}.py")
    where, args = f"seed {function.seed}", function.inputs()
    wanted, plain = interpreted(program, args), copies(args)
    with np.errstate(all="ignore"):
        check_close(arrays(plain, function.run(plain)), wanted, f"{where}: Python and the interpreter\n{function.text}")
    try:
        for name in passes.PassManager.get_strategy("Default").names:
            program = passes.PassManager([name]).run_passes(program)
            same = all(a.tobytes() == b.tobytes() for a, b in zip(wanted, interpreted(program, args), strict=True))
            assert same, f"{where}: pass {name} changes the result\n{function.text}\n{program}"
        orchestration, kernels_ = _core.describe_program(program)
        if orchestration:
            _core.generate(program, "orchestration", orchestration, 0)
        for name, _, _ in kernels_:
            for what in ("pto", "cce"):
                _core.generate(program, what, name, 1)
    except pl.ParserError as refused:
        refusal(function, refused)
        return False
    return True


def main():
    options = argparse.ArgumentParser(description="Random PyPTO functions on tensors.")
    options.add_argument("--first", type=int, default=None, help="first seed; from the clock if not given")
    options.add_argument("--count", type=int, default=20000, help="functions")
    options = options.parse_args()
    first = options.first if options.first is not None else int(time.time()) % 1_000_000 * 1000
    print(f"random functions on tensors from seed {first}")
    right = sum(check_passes(made(seed)) for seed in range(first, first + options.count))
    print(f"{options.count} functions, {options.count - right} refused with a place; no pass changes a result")


if __name__ == "__main__":
    sys.exit(main())
