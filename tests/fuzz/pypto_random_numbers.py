# SPDX-License-Identifier: MIT
"""Random kernels whose numbers decide: integers of all types, loops between bounds of any sign, valid extents and tuples in
variables that change afterwards. tests/fuzz/pypto_random.py makes programs of them."""
from pypto_random_kernels import FLOATS, Tile, Vector

BITS = {"INT8": 8, "INT16": 16, "INT32": 32, "INT64": 64, "UINT8": 8, "UINT16": 16, "UINT32": 32, "UINT64": 64}


class Numbers(Vector):
    """Work on tiles in Vec between work on numbers."""

    def __init__(self, rng, name):
        super().__init__(rng, name)
        self.numbers = [("n", "INT64")]
        self.tuples = []  # names, kind of the two tiles, type of the number between them
        self.simple += [self.integer, self.integer, self.integer, self.extent, self.extent, self.pair, self.element, self.scaled]
        self.compound = [self.between, self.between, self.pairs, self.decided, self.shrinking]

    def statements(self, budget):
        while budget > 0:
            if budget > 2 and self.depth < 6 and self.rng.random() < 0.3:
                part = self.rng.randint(1, budget - 1)
                self.rng.choice(self.compound)(part)
                budget -= part
            else:
                self.rng.choice(self.simple)()
                budget -= 1

    def block(self, budget):
        kept, tuples = list(self.numbers), list(self.tuples)
        super().block(budget)
        self.numbers, self.tuples = kept, tuples

    # ---- Numbers ----

    def of_type(self, dtype):
        """A number of that type, in so many words."""
        name, have = self.rng.choice(self.numbers)
        return name if have == dtype else f"pl.cast({name}, pl.{dtype})"

    def value(self, dtype):
        rng = self.rng
        a, b = self.of_type(dtype), rng.choice((self.of_type(dtype), str(rng.randint(1, 100))))
        unsigned = dtype.startswith("U")
        divisor = str(rng.choice((2, 3, 7) if unsigned else (-7, -3, -2, 2, 3, 7)))
        return rng.choice((f"{a} + {b}", f"{a} - {b}", f"{a} * {b}", f"{a} // {divisor}", f"{a} % {divisor}", f"min({a}, {b})",
                           f"max({a}, {b})", f"pl.cast({rng.choice(self.numbers)[0]}, pl.{dtype})"))

    def integer(self):
        """A new number, or a new value of an old one."""
        if len(self.numbers) > 1 and self.rng.random() < 0.4:
            name, dtype = self.rng.choice(self.numbers[1:])
        else:
            name, dtype = self.fresh("k"), self.rng.choice(list(BITS))
        made = (name, dtype)
        self.emit(f"{name} = {self.value(dtype)}")
        if made not in self.numbers:
            self.numbers.append(made)

    def small(self, low, high):
        """A number from @low to @high, of type INT64."""
        name, dtype = self.rng.choice(self.numbers)
        if dtype != "INT64":
            name = f"pl.cast({name}, pl.INT64)"
        return f"{name} % {high - low + 1} + {low}" if low >= 0 else f"{name} % {high - low + 1} - {-low}"

    def condition(self):
        name, dtype = self.rng.choice(self.numbers)
        other = self.rng.choice((self.of_type(dtype), str(self.rng.randint(0, 100))))
        return f"{name} {self.rng.choice(('<', '<=', '>', '>=', '==', '!='))} {other}"

    def scaled(self):
        """A tile and a number, as far as a float has it exactly."""
        a = self.pick(dtypes=FLOATS[:1])
        if a:
            self.define(*a.kind, f"pl.add({a.name}, pl.cast({self.small(-9, 9)}, pl.FP32))")

    # ---- Valid extents ----

    def extent(self):
        """A tile that is valid as far as a number says which changes before the tile is used."""
        if self.dtype != "FP32":
            return
        r, v = self.fresh("r"), self.fresh("v")
        self.emit(f"{r} = {self.small(1, self.rows)}")
        self.emit(f"{v} = pl.load({self.source(0)}, [0, 0], [{self.rows}, {self.cols}], valid_shapes=[{r}, {self.cols}])")
        form = self.rng.randrange(4)
        if form == 0:
            self.emit(f"{r} = 1")
        elif form == 1:
            self.emit(f"if {self.condition()}:")
            self.emit(f"    {r} = {self.rng.randint(1, 4)} + n * 0")
        elif form == 2:
            self.emit(f"for {self.fresh('i')} in pl.range({self.rng.randint(0, 2)}):")
            self.emit(f"    {r} = max({r} - 1, 1)")
        if self.rng.random() < 0.5:
            self.emit(f"{v} = pl.mul({v}, 0.5)")
        if self.rng.random() < 0.3:
            self.emit(self.stored(v, 0, 0))
        self.define(self.rows, self.cols, self.dtype, f"pl.fillpad({v}, pad={self.rng.choice((0.0, -2.5))})")

    def shrinking(self, budget):
        """A loop that loads fewer rows each time."""
        if self.dtype != "FP32":
            return self.between(budget)
        r, v, i = self.fresh("r"), self.fresh("v"), self.fresh("i")
        self.emit(f"{r} = {self.small(4, self.rows)}")
        self.emit(f"for {i} in pl.range({self.rng.randint(0, 3)}):")
        self.depth += 1
        self.emit(f"{v} = pl.load({self.source(0)}, [0, 0], [{self.rows}, {self.cols}], valid_shapes=[{r}, {self.cols}])")
        self.emit(f"{r} = {r} - 1")
        self.emit(self.stored(f"pl.mul({v}, 0.5)", self.rng.randrange(len(self.outs)), 0))
        self.depth -= 1
        self.counters.append(i)
        self.block_of_loop(budget, i)
        self.counters.pop()

    def block_of_loop(self, budget, i):
        """The rest of the body of the loop over @i."""
        self.numbers, kept = self.numbers + [(i, "INDEX")], self.numbers
        self.block(budget)
        self.numbers = kept

    # ---- Tuples ----

    def pair(self):
        a = self.pick()
        b, name, (number, dtype) = self.pick(a.kind), self.fresh("p"), self.rng.choice(self.numbers)
        self.emit(f"{name} = ({a.name}, {number}, {b.name})")
        self.tuples.append((name, a.kind, dtype))

    def element(self):
        if self.tuples:
            name, kind, dtype = self.rng.choice(self.tuples)
            if self.rng.random() < 0.3:
                number = self.fresh("k")
                self.emit(f"{number} = {name}[1]")
                self.numbers.append((number, dtype))
            else:
                tile = Tile(self.fresh(), *kind)
                self.emit(f"{tile.name} = {name}[{self.rng.choice((0, 2))}]")
                self.tiles.append(tile)

    def pairs(self, budget):
        """A loop that starts with what is in a tuple, whose names may have changed since."""
        if not self.tuples:
            self.pair()
        name, kind, dtype = self.rng.choice(self.tuples)
        i, p, q, k, e = self.fresh("i"), self.fresh("c"), self.fresh("c"), self.fresh("k"), self.fresh("c")
        r, t, m = self.fresh("c"), self.fresh("c"), self.fresh("k")
        self.emit(f"for {i}, ({p}, {k}, {q}) in pl.range({self.bounds()}, init_values=({name}[0], {name}[1], {name}[2])):")
        mark, numbers, tuples = len(self.tiles), list(self.numbers), list(self.tuples)
        self.tiles += [Tile(p, *kind), Tile(q, *kind)]
        self.numbers += [(k, dtype), (i, "INDEX")]
        self.counters.append(i)
        self.depth += 1
        self.statements(budget)
        self.emit(f"{e} = {name}[{self.rng.choice((0, 2))}]")
        values = self.rng.choice(((q, p), (e, p), (self.pick(kind).name, e), (q, q)))
        self.emit(f"{r}, {m}, {t} = pl.yield_({values[0]}, {k} + 1, {values[1]})")
        self.depth -= 1
        self.counters.pop()
        del self.tiles[mark:]
        self.numbers, self.tuples = numbers, tuples
        self.tiles += [Tile(r, *kind), Tile(t, *kind)]
        self.numbers.append((m, dtype))

    # ---- Loops and branches ----

    def bounds(self):
        """Few rounds, whatever the numbers are."""
        k = self.small(-2, 2)
        if self.rng.random() < 0.2:
            dtype = self.rng.choice(list(BITS))
            k = f"{self.of_type(dtype)} % 4"
            return self.rng.choice((k, f"{k}, 3", f"-2, {k}", f"{k}, -1, -1", f"{k}, 5, {k} + 1"))
        return self.rng.choice(("-2, 1", "2, -2, -1", "3, -3, -4", f"{k}", f"{k}, 2", f"2, {k}, -1", f"-1, 3, {self.small(1, 3)}",
                                *(f"{i}, {i} + 2" for i in self.counters[-1:]), *(f"{i} % 3, -1, -1" for i in self.counters)))

    def between(self, budget):
        i = self.fresh("i")
        self.emit(f"for {i} in pl.range({self.bounds()}):")
        self.counters.append(i)
        self.block_of_loop(budget, i)
        self.counters.pop()

    def decided(self, budget):
        self.emit(f"if {self.condition()}:")
        self.block(budget)
        if self.rng.random() < 0.5:
            self.emit("else:")
            self.block(budget // 2)

    def row(self):
        choices = [str(self.rows * self.rng.randrange(self.bands)), f"({self.small(0, 5)}) % {self.bands} * {self.rows}"]
        return self.rng.choice(choices + [f"({i} - 1) % {self.bands} * {self.rows}" for i in self.counters[-1:]])
