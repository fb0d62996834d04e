# SPDX-License-Identifier: MIT
"""Random kernels: text of one InCore function each, on tensors whose types it names. tests/fuzz/pypto_random.py makes programs
of them.

Kernels are valid by construction: each name has one type wherever it is used, offsets stay inside, loops end. Values may
overflow or stop being numbers.
"""
ROWS, COLS = (16, 32), (16, 32, 64)
NUMPY = {"FP32": "float32", "FP16": "float16", "INT32": "int32", "INT16": "int16", "INT8": "int8", "UINT8": "uint8",
         "INT64": "int64", "BOOL": "bool"}
FLOATS = ("FP32", "FP16")


class Tensor:
    """Type of a tensor; an extent is a number or the name of one that is known when the program runs."""

    def __init__(self, rows, cols, dtype):
        self.rows, self.cols, self.dtype = rows, cols, dtype
        self.extents = f"[{rows}, {cols}]"
        self.text = f"pl.Tensor[{self.extents}, pl.{dtype}]"

    def dynamic(self):
        return [e for e in (self.rows, self.cols) if isinstance(e, str)]


class Tile:
    """A tile variable of a kernel under construction."""

    def __init__(self, name, rows, cols, dtype):
        self.name, self.rows, self.cols, self.dtype = name, rows, cols, dtype

    @property
    def kind(self):
        return self.rows, self.cols, self.dtype


class Writer:
    """Lines of a function, and fresh names."""

    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.lines, self.depth, self.next = [], 2, 0
        self.ins, self.outs = [], []  # types of tensors
        self.counters = []

    def emit(self, line):
        self.lines.append("    " * self.depth + line)

    def fresh(self, prefix="t"):
        self.next += 1
        return f"{prefix}{self.next}"

    def function(self):
        """The whole text: inputs x0.., s and n, outputs o0.."""
        self.emit(f"return {', '.join(f'o{i}' for i in range(len(self.outs)))}")
        params = [f"x{i}: {t.text}" for i, t in enumerate(self.ins)] + ["s: pl.FP32", "n: pl.INT64"]
        params += [f"o{i}: pl.InOut[{t.text}]" for i, t in enumerate(self.outs)]
        types = [t.text for t in self.outs]
        result = types[0] if len(types) == 1 else f"tuple[{', '.join(types)}]"
        return ["    @pl.function(type=pl.FunctionType.InCore)", f"    def {self.name}(self, {', '.join(params)}) -> {result}:",
                *self.lines]


class Vector(Writer):
    """Work on tiles in Vec: some inputs and one or two outputs of one type."""

    def __init__(self, rng, name):
        super().__init__(rng, name)
        self.rows, self.cols = rng.choice(ROWS), rng.choice(COLS)
        self.dtype = rng.choice(("FP32", "FP32", "FP16", "INT32"))
        self.bands = rng.choice((1, 2, 3))
        self.tiles = []
        self.simple = [self.binary, self.binary, self.with_scalar, self.unary, self.nested, self.cast, self.reduce_rows,
                       self.reduce_columns, self.choose, self.full, self.load, self.store, self.part, self.reshape,
                       self.transpose, self.bits, self.spread, self.masked, self.number]
        self.prepare()

    def prepare(self):
        tensor = Tensor(self.rows * self.bands, self.cols, self.dtype)
        self.ins = [tensor] * self.rng.randint(1, 3)
        self.outs = [tensor] * self.rng.randint(1, 2)

    # what the parameters are called, and the regions of them that are read and written

    def source(self, i):
        return f"x{i}"

    def target(self, i):
        return f"o{i}"

    def loaded(self, i, row):
        return f"pl.load({self.source(i)}, [{row}, 0], [{self.rows}, {self.cols}])"

    def stored(self, tile, i, row):
        o = self.target(i)
        return f"{o} = pl.store({tile}, [{row}, 0], [{self.rows}, {self.cols}], {o})"

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
        to = self.rng.choice([t for t in ("FP32", "FP16", "INT32") if t != a.dtype and {t, a.dtype} != {"FP16", "INT32"}])
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
            if (a.rows, a.cols) == (self.rows, self.cols) and self.rng.random() < 0.5:
                self.combine(m)
            self.define(*a.kind, self.rng.choice((f"pl.sel({m}, {a.name}, {b.name})",) * 3 + (f"pl.add({a.name}, {m})",)))

    def combine(self, m):
        """The mask with others, of what was loaded: those are the same however results are rounded."""
        p, q = self.fresh("m"), self.fresh("m")
        for name in (p, q):
            self.emit(f"{name} = pl.cmps({self.loaded(self.rng.randrange(len(self.ins)), self.row())}, "
                      f"{self.rng.choice((-1, 0, 1))}, cmp_type={self.rng.randint(2, 5)})")
        self.emit(f"{m} = " + self.rng.choice((f"{p} & {q}", f"{p} | ~{q}", f"pl.xor({p}, {q})", f"pl.sel({p}, {q}, ~{p})",
                                               f"pl.cmp({p}, {q}, cmp_type={self.rng.randint(0, 5)})", f"pl.maximum({p}, {q})",
                                               f"pl.cast(pl.cast({p}, pl.FP16), pl.BOOL) & {q}")))
        if self.rng.random() < 0.4:
            self.emit(f"if n > {self.rng.randint(0, 3)}:")
            self.emit(f"    {m} = {self.rng.choice((p, q, f'~{m}', f'{m} & {p}'))}")

    def full(self):
        a = self.pick()
        self.define(*a.kind, f"pl.full([{a.rows}, {a.cols}], dtype=pl.{a.dtype}, value={self.scalar(a.dtype).replace('s', '1.0')})")

    def load(self):
        self.define(self.rows, self.cols, self.dtype, self.loaded(self.rng.randrange(len(self.ins)), self.row()))

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
        if a and self.dtype == "FP32" and a.kind == (self.rows, self.cols, self.dtype):
            name, rows = self.source(self.rng.randrange(len(self.ins))), self.rng.choice((1, 7, self.rows - 1))
            v, w = self.fresh("v"), self.fresh("v")
            pad = self.rng.choice(("zero", "min", "max", 0.0, -2.5))
            self.emit(f"{v} = pl.load({name}, [0, 0], [{self.rows}, {self.cols}], valid_shapes=[{rows}, {self.cols}])")
            if self.rng.random() < 0.5:
                self.define(*a.kind, f"pl.fillpad({v}, pad={pad!r})")
                return
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
            self.emit(self.stored(a.name, self.rng.randrange(len(self.outs)), self.row()))

    def block(self, budget):
        """Statements one level deeper; the names they make are forgotten. A tensor that is stored to stays itself."""
        self.depth += 1
        mark, n = len(self.tiles), len(self.lines)
        self.statements(budget)
        if len(self.lines) == n:
            self.binary()
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

    def counted(self, budget):
        """Loops inside a loop whose bounds are a number that it carries."""
        k, i, j = self.fresh("k"), self.fresh("i"), self.fresh("j")
        self.emit(f"{k} = {self.rng.choice(('0', '1', 'n'))}")
        self.emit(self.rng.choice((f"for {i} in pl.range({self.rng.randint(0, 3)}):", f"while {k} < {self.rng.randint(0, 4)}:")))
        self.depth += 1
        self.emit(f"for {j} in pl.range({self.rng.choice((k, f'0, {k}', f'{k}, 4', f'{k} + 1', f'{k}, 0, -1', f'0, 4, {k} + 1'))}):")
        self.counters.append(j)
        self.block(budget)
        self.counters.pop()
        self.emit(f"{k} = {k} + 1")
        self.depth -= 1

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
        compound = (self.loop, self.counted, self.carried, self.branch, self.merged, self.while_loop, self.carried_while, self.chunked)
        while budget > 0:
            if budget > 2 and self.depth < 5 and self.rng.random() < 0.25:
                part = self.rng.randint(1, budget - 1)
                self.rng.choice(compound)(part)
                budget -= part
            else:
                self.rng.choice(self.simple)()
                budget -= 1

    def make(self):
        for i in range(len(self.ins)):
            self.tiles.append(Tile(self.fresh(), self.rows, self.cols, self.dtype))
            self.emit(f"{self.tiles[-1].name} = {self.loaded(i, self.first_row())}")
        self.statements(self.rng.randint(2, 14))
        for i in range(len(self.outs)):
            self.emit(self.stored(self.pick((self.rows, self.cols, self.dtype)).name, i, self.row()))

    def first_row(self):
        return 0

    def made(self):
        self.make()
        return self.function()


class Ragged(Vector):
    """The same on tensors with extents that are known when it runs: whole tiles and a last one that is valid in part."""

    def prepare(self):
        self.bands = 1
        rng, number = self.rng, self.rng.randrange(2)
        self.wide = rng.random() < 0.4
        tensor = Tensor(f"M{number}", f"N{number}" if self.wide else self.cols, self.dtype)
        self.ins = [tensor] * rng.randint(1, 3)
        self.outs = [tensor] * rng.randint(1, 2)
        # what keeps all tiles valid in the same part
        self.simple = [self.binary, self.binary, self.with_scalar, self.unary, self.nested, self.cast, self.choose, self.bits,
                       self.load, self.store, self.number]
        if not self.wide:
            self.simple += [self.reduce_rows, self.spread]

    def loaded(self, i, row):
        return (f"pl.load({self.source(i)}, [{row}, {'c' if self.wide else 0}], [{self.rows}, {self.cols}], "
                f"valid_shapes=[rows, {'cols' if self.wide else self.cols}])")

    def stored(self, tile, i, row):
        o = self.target(i)
        return f"{o} = pl.store({tile}, [{row}, {'c' if self.wide else 0}], [{self.rows}, {self.cols}], {o})"

    def row(self):
        return "r"

    first_row = row

    def make(self):
        tensor = self.ins[0]
        extent = self.rng.choice((tensor.rows, f"pl.dim({self.source(0)}, 0)"))
        self.emit(f"for r in pl.range(0, {extent}, {self.rows}):")
        self.depth += 1
        if self.wide:
            self.emit(f"for c in pl.range(0, {tensor.cols}, {self.cols}):")
            self.depth += 1
            self.emit(f"cols = min({tensor.cols} - c, {self.cols})")
        self.emit(f"rows = min({tensor.rows} - r, {self.rows})")
        self.tiles = []
        super().make()
        self.depth = 2


class Region(Vector):
    """The same in a region: tensors are those of the function around it."""

    def __init__(self, rng, prefix, kernel, sources, targets):
        self.prefix, self.kernel, self.sources, self.targets = prefix, kernel, sources, targets
        super().__init__(rng, prefix)

    def prepare(self):
        k = self.kernel
        self.rows, self.cols, self.dtype, self.bands = k.rows, k.cols, k.dtype, k.bands
        self.ins, self.outs = k.ins[:1] * len(self.sources), k.outs[:1] * len(self.targets)
        self.depth = 3

    def fresh(self, prefix="t"):
        return f"{self.prefix}_{super().fresh(prefix)}"

    def scalar(self, dtype):
        return super().scalar(dtype).replace("s", "1.0")

    def source(self, i):
        return self.sources[i]

    def target(self, i):
        return self.targets[i]


class Product(Writer):
    """Products of matrices by blocks, through Mat, Left, Right and Acc."""

    def __init__(self, rng, name):
        super().__init__(rng, name)
        self.m, self.k, self.n = rng.choice(ROWS), rng.choice((16, 32)), rng.choice(COLS)
        self.bands, self.steps = rng.choice((1, 2)), rng.choice((1, 2, 3))
        self.dtype = rng.choice(("FP16", "FP16", "FP32", "INT8"))
        if self.dtype == "INT8":
            self.m, self.k, self.n = 32, 32, max(self.n, 32)
        self.acc = "INT32" if self.dtype == "INT8" else "FP32"
        self.ins = [Tensor(self.m * self.bands, self.k * self.steps, self.dtype), Tensor(self.k * self.steps, self.n, self.dtype)]
        self.outs = [Tensor(self.m * self.bands, self.n, self.acc)]
        self.bias = rng.random() < 0.2
        if self.bias:
            self.ins.append(Tensor(1, self.n, self.acc))

    def operand(self, tensor, row, col, rows, cols, space):
        mat, tile = self.fresh("m"), self.fresh("l" if space == "Left" else "r")
        self.emit(f"{mat} = pl.load({tensor}, [{row}, {col}], [{rows}, {cols}], target_memory=pl.MemorySpace.Mat)")
        self.emit(f"{tile} = pl.move({mat}, target_memory=pl.MemorySpace.{space})")
        return tile

    def operands(self, row, k):
        """Left and right operand of step @k, sometimes read in the other order."""
        left = ("x0", row, k, self.m, self.k, "Left")
        right = ("x1", k, 0, self.k, self.n, "Right")
        if self.rng.random() < 0.5:
            return self.operand(*left), self.operand(*right)
        r = self.operand(*right)
        return self.operand(*left), r

    def at(self, step):
        return f"{step} * {self.k}" if isinstance(step, str) else step * self.k

    def more(self, acc, row, step):
        """One more step of the sum."""
        left, right = self.operands(row, self.at(step))
        new = acc if self.rng.random() < 0.6 else self.fresh("a")
        self.emit(f"{new} = pl.matmul_acc({acc}, {left}, {right})")
        return new

    # ---- Ways of summing over the steps ----

    def straight(self, acc, row):
        for step in range(1, self.steps):
            acc = self.more(acc, row, step)
        return acc

    def loop(self, acc, row):
        i = self.fresh("i")
        stop = self.rng.choice((str(self.steps), f"n % {self.steps} + 1"))
        self.emit(f"for {i} in pl.{self.rng.choice(('range', 'range', 'range', 'unroll') if stop.isdigit() else ('range',))}"
                  f"(1, {stop}):")
        self.depth += 1
        self.again(acc, row, i)
        self.depth -= 1
        return acc

    def carried(self, acc, row):
        i, c = self.fresh("i"), self.fresh("c")
        self.emit(f"for {i}, ({c},) in pl.range(1, {self.steps}, init_values=({acc},)):")
        self.depth += 1
        left, right = self.operands(row, self.at(i))
        new = self.fresh("a")
        self.emit(f"{new} = pl.matmul_acc({c}, {left}, {right})")
        result = self.fresh("a")
        self.emit(f"{result} = pl.yield_({new})")
        self.depth -= 1
        return result

    def branch(self, acc, row):
        self.emit(f"if n > {self.rng.randint(0, 3)}:")
        self.depth += 1
        self.again(acc, row, self.rng.randrange(self.steps))
        self.depth -= 1
        if self.rng.random() < 0.3:
            self.emit("else:")
            self.depth += 1
            self.again(acc, row, 0)
            self.depth -= 1
        return acc

    def again(self, acc, row, step):
        """The same name for one more step, or for another sum."""
        left, right = self.operands(row, self.at(step))
        if self.rng.random() < 0.3:
            self.emit(f"{acc} = pl.matmul({left}, {right})")
            left, right = self.operands(row, self.at(step))
        self.emit(f"{acc} = pl.matmul_acc({acc}, {left}, {right})")

    def while_loop(self, acc, row):
        k = self.fresh("k")
        self.emit(f"{k} = n % {self.steps}")
        self.emit(f"while {k} > 0:")
        self.depth += 1
        self.again(acc, row, k)
        self.emit(f"{k} = {k} - 1")
        self.depth -= 1
        return acc

    def first(self, row):
        left, right = self.operands(row, 0)
        acc = self.fresh("a")
        if self.bias:
            bias = self.fresh("b")
            self.emit(f"{bias} = pl.load(x2, [0, 0], [1, {self.n}], target_memory=pl.MemorySpace.Mat)")
            self.emit(f"{acc} = pl.matmul_bias({left}, {right}, {bias})")
        else:
            self.emit(f"{acc} = pl.matmul({left}, {right})")
        return acc

    def chained(self, acc):
        """The product of a product with some of the right matrix: out of Acc by way of Mat."""
        mat, left = self.fresh("m"), self.fresh("l")
        self.emit(f"{mat} = pl.move({acc}, target_memory=pl.MemorySpace.Mat)")
        self.emit(f"{left} = pl.move({mat}, target_memory=pl.MemorySpace.Left)")
        right = self.operand("x1", 0, 0, self.n, self.n, "Right")
        new = self.fresh("a")
        self.emit(f"{new} = pl.matmul({left}, {right})")
        return new

    def block(self, row):
        acc = self.first(row)
        for _ in range(self.rng.choice((0, 1, 1, 2))):
            acc = self.rng.choice((self.straight, self.loop, self.carried, self.branch, self.while_loop))(acc, row)
        if self.dtype == "FP32" and self.k * self.steps >= self.n and self.rng.random() < 0.5:
            acc = self.chained(acc)
        self.emit(f"o0 = pl.store({acc}, [{row}, 0], [{self.m}, {self.n}], o0)")

    def made(self):
        if self.bands > 1 and self.rng.random() < 0.5:
            self.emit(f"for row in pl.range(0, {self.m * self.bands}, {self.m}):")
            self.depth += 1
            self.block("row")
            self.depth -= 1
        else:
            for band in range(self.rng.randint(1, self.bands)):
                self.block(band * self.m)
        return self.function()
