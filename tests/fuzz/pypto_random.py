# SPDX-License-Identifier: MIT
"""Random PyPTO programs, and what must hold for each: passes do not change what it computes; what is refused is refused
at a place in the file. `make fuzz` runs this as a program; tests/python/test_pypto_random.py runs a few hundred.

What the kernels compute is made in pypto_random_kernels.py: work on vectors, products of matrices, tensors with extents known
only at run time; and in pypto_random_numbers.py, work on integers. Here, functions call them and have regions of their own.
Functions that work on tensors are in pypto_random_tensors.py. Every pass must keep values bit for bit.
"""
import argparse
import random
import re
import sys
import time
import warnings

import numpy as np

import pypto.language as pl
from pypto import _core, ir, passes
from pypto_random_kernels import NUMPY, Product, Ragged, Region, Tensor, Vector
from pypto_random_numbers import Numbers


class Program:
    """Text of a program: kernels, and a function that calls them on its parameters and on tensors of its own."""

    def __init__(self, seed, chip=False):
        self.rng = rng = random.Random(seed)
        makers = rng.choices((Vector, Ragged, Product, Numbers), (5, 2, 3, 3), k=rng.randint(1, 3))
        self.kernels = [make(rng, f"k{i}") for i, make in enumerate(makers)]
        self.functions = [k.made() for k in self.kernels]
        self.copies = {}
        self.lines, self.params, self.count, self.depth = [], {}, 0, 2
        self.opaque = rng.random() < 0.35
        self.regions = 0
        for _ in range(rng.randint(1, 4)):
            self.part(rng.choice(self.kernels))
        # chips run what only calls kernels as an orchestration
        self.text = self.make("Opaque" if self.opaque and (self.regions or not chip) else "Orchestration")

    def make(self, kind):
        # in an Opaque function what is written need not be declared so
        plain = self.rng.random() < 0.3 and kind == "Opaque"
        outs = [name for name, (_, written) in self.params.items() if written]
        params = [f"{name}: {f'pl.InOut[{t.text}]' if w and not plain else t.text}" for name, (t, w) in self.params.items()]
        types = [self.params[name][0].text for name in outs]
        result = types[0] if len(types) == 1 else f"tuple[{', '.join(types)}]"
        extents = sorted({e for k in self.kernels for t in k.ins + k.outs for e in t.dynamic()})
        return "\n".join(
            ["import pypto.language as pl", ""] + [f'{e} = pl.dynamic("{e}")' for e in extents] +
            ["", "", "@pl.program", "class Random:"] +
            [line for text in [*self.copies.values(), *self.functions] for line in text + [""]] +
            [f"    @pl.function(type=pl.FunctionType.{kind})",
             f"    def main(self, {', '.join(params)}, n: pl.INT64) -> {result}:"] + self.lines +
            [f"        return {', '.join(outs)}"]) + "\n"

    def emit(self, line):
        self.lines.append("    " * self.depth + line)

    def param(self, tensor, written):
        self.count += 1
        self.params[f"p{self.count}"] = (tensor, written)
        return f"p{self.count}"

    def tensor_of(self, tensor, written):
        """A parameter of that type; read ones may be what was written before."""
        fit = [n for n, (t, w) in self.params.items() if t.text == tensor.text and (not written or w)]
        return self.rng.choice(fit) if fit and self.rng.random() < 0.6 else self.param(tensor, written)

    def targets(self, tensors):
        """Written parameters of these types, each another one."""
        outs = []
        for tensor in tensors:
            left = [n for n in (self.tensor_of(tensor, True) for _ in range(4)) if n not in outs]
            outs.append(left[0] if left else self.param(tensor, True))
        return outs

    # ---- Parts ----

    def call(self, kernel, temporary=None):
        outs = self.targets(kernel.outs)
        if temporary:
            outs[0] = temporary
        ins = []
        for tensor in kernel.ins:
            name = self.tensor_of(tensor, False)
            ins.append(name if name not in outs else self.param(tensor, False))
        args = ins + [self.rng.choice(("0.5", "1.0", "-2.0")), self.rng.choice(("n", "n + 1", "3"))] + outs
        self.emit(f"{', '.join(outs)} = self.{kernel.name}({', '.join(args)})")

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
        if self.opaque and type(kernel) is Vector and self.rng.random() < 0.7:
            self.region(kernel)
        else:
            self.call(kernel)
        self.depth = 2

    def region(self, kernel):
        """Work of a kernel's kind in place, on results of arithmetic sometimes."""
        sources = [self.tensor_of(kernel.ins[0], False) for _ in range(self.rng.randint(1, 2))]
        if kernel.dtype == "FP32" and self.rng.random() < 0.4:
            name = f"q{self.count}_{self.regions}"
            self.emit(f"{name} = {sources[0]} {self.rng.choice('+-*')} {self.rng.choice(('1.5', sources[-1]))}")
            sources[0] = name
        region = Region(self.rng, f"g{self.regions}", kernel, sources, self.targets(kernel.outs))
        self.regions += 1
        region.make()
        self.emit("with pl.incore():")
        self.lines += [line[12:] and "    " * (self.depth + 1) + line[12:] for line in region.lines]

    def chain(self, kernel):
        """A tensor of its own between two calls."""
        tensor = kernel.outs[0]
        name, fill = f"q{self.count}", self.param(tensor, False)
        self.emit(f"{name} = pl.create_tensor({tensor.extents}, dtype=pl.{tensor.dtype})")
        self.emit(f"{name} = self.{self.copy(tensor)}({fill}, {name})")
        self.call(kernel, name)
        self.params[name] = (tensor, False)
        users = [k for k in self.kernels if any(t.text == tensor.text for t in k.ins)]
        if users:
            self.call(self.rng.choice(users))
        target = self.targets([tensor])[0]
        self.emit(f"{target} = self.{self.copy(tensor)}({name}, {target})")
        del self.params[name]

    def copy(self, tensor):
        """Name of a kernel that writes every element of such a tensor."""
        name = f"copy{list(self.copies).index(tensor.text) if tensor.text in self.copies else len(self.copies)}"
        t, rows = tensor.text, 16
        wide = isinstance(tensor.cols, str)
        cols, at = (64, "j") if wide else (tensor.cols, "0")
        valid = f", valid_shapes=[min({tensor.rows} - i, {rows}), {f'min({tensor.cols} - j, 64)' if wide else cols}]"
        load = f"pl.load(x, [i, {at}], [{rows}, {cols}]{valid if tensor.dynamic() else ''})"
        loops = [f"        for i in pl.range(0, {tensor.rows}, {rows}):"]
        if wide:
            loops.append(f"            for j in pl.range(0, {tensor.cols}, {cols}):")
        self.copies[t] = [
            "    @pl.function(type=pl.FunctionType.InCore)",
            f"    def {name}(self, x: {t}, o: pl.Out[{t}]) -> {t}:", *loops,
            f"{'    ' * (2 + len(loops))}o = pl.store({load}, [i, {at}], [{rows}, {cols}], o)",
            "        return o"]
        return name

    def inputs(self):
        generator = np.random.default_rng(self.rng.randrange(2**32))
        extents = {f"M{i}": int(generator.integers(1, 50)) for i in range(2)}
        extents |= {f"N{i}": int(generator.integers(1, 100)) for i in range(2)}
        out = []
        for tensor, _ in self.params.values():
            shape = [extents.get(e, e) for e in (tensor.rows, tensor.cols)]
            if tensor.dtype.startswith("INT"):
                out.append(generator.integers(-9, 10, shape).astype(NUMPY[tensor.dtype]))
            else:
                out.append(generator.uniform(-2, 2, shape).astype(NUMPY[tensor.dtype]))
        return out


def outcome(program, inputs, n):
    """What the program returns, and what is in its arguments afterwards, as bytes."""
    args = [a.copy() for a in inputs]
    results = ir.interpret(program, *args, n, max_steps=1_000_000)
    results = results if isinstance(results, tuple) else (results,)
    return [a.tobytes() for a in args] + [r.tobytes() for r in results]


def generate(program):
    """The texts of both back ends; an exception when a generator refuses what the passes made.

    a5 computes with all of the element types.
    """
    orchestration, kernels = _core.describe_program(program)
    for name, _, _ in kernels:
        for what in ("pto", "cce"):
            _core.generate(program, what, name, 1)
    if orchestration:
        _core.generate(program, "orchestration", orchestration, 0)


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
    generate(program)
    if seed % 2:  # reading takes as long as all passes
        again = pl.parse(str(program), f"printed_{seed}.py")
        assert ir.structural_equal(program, again), f"seed {seed}: the printed program is another one\n{program}"
        assert str(again) == str(program), f"seed {seed}: printed once more, the program has another text\n{program}"


def check_close(wanted, got, message):
    close = np.isclose(wanted.astype("float64"), got.astype("float64"), rtol=2e-2, atol=1e-2, equal_nan=True)
    # sums in another order and functions of another library may differ where values are near the limits of the type
    large = ~(np.abs(wanted.astype("float64")) < 1e4)
    assert (close | large).all(), message


def lacks(platform, refused):
    """Whether a valid program is refused because of what a platform has: no such instruction, or too small a buffer."""
    return f" on {platform}" in str(refused) or "overflow, requires" in (refused.note or "")


def check_chip(seed, platform, backend):
    """The kernels compute on a simulated chip what the interpreter says, up to rounding. False if it lacks something."""
    from pypto import runtime
    made = Program(seed, chip=True)
    program = pl.parse(made.text, f"random_{seed}.py")
    inputs = made.inputs()
    n = seed % 5
    wanted, got = [a.copy() for a in inputs], [a.copy() for a in inputs]
    with np.errstate(all="ignore"):
        ir.interpret(program, *wanted, n)
    try:
        compiled = runtime.compile(program, platform, backend)
    except pl.ParserError as refused:
        assert lacks(platform.removesuffix("sim"), refused), f"seed {seed}: {refused}"
        return False
    compiled(*got, n)
    for i, (a, b) in enumerate(zip(wanted, got)):
        check_close(a, b, f"seed {seed}: argument {i} differs on {platform} by {backend}\n{made.text}")
    return True


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
                right = check_chip(seed, platform, backend)
                print(f"seed {seed}: {'right' if right else 'not'} on {platform} by {backend}", flush=True)
    print(f"{done} programs, {refused} refused with a place; no pass changes a result")


if __name__ == "__main__":
    sys.exit(main())
