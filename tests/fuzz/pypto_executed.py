# SPDX-License-Identifier: MIT
"""Kernels of random PyPTO programs, compiled by both back ends and executed: they compute what the interpreter says.

A program's kernels are few lines, and reading the headers takes the C++ compiler most of the time; so the kernels of a
hundred programs are one C++ file, and are called as functions, without a chip (pypto_random.check_chip() has the chip).
What passes and orchestrations do is checked elsewhere: here a kernel is interpreted as the last pass left it.

    pypto_executed.py --first SEED --count N           # batches in processes of their own, one per processor
"""
import argparse
import concurrent.futures
import ctypes
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

import numpy as np

import pypto.language as pl
import pypto_random
from pypto import _compile, _core, ir, passes
from simpler_setup.kernel_compiler import device_include_dir

BATCH = 100
WORDS = 12  # of an argument: element type or -1 for a scalar, address or value, number of extents, up to 4 extents and 4 strides
CODES = {"FP32": 0, "FP16": 1, "INT32": 2, "INT16": 3, "INT8": 4, "UINT8": 5, "BF16": 6, "INT64": 7, "UINT64": 8, "UINT16": 9,
         "UINT32": 10, "BOOL": 11}
ARCH_MACRO = {"a2a3": 2201, "a5": 3510}
CORE_MACRO = {"aiv": "__DAV_VEC__", "aic": "__DAV_CUBE__"}
DRIVER = """
static void call(void (*entry)(int64_t *), const int64_t (*given)[%d], int n)
{
	Tensor *tensors = new Tensor[n]();
	int64_t *args = new int64_t[n];

	for (int i = 0; i < n; i++) {
		const int64_t *g = given[i];
		Tensor *t = &tensors[i];

		args[i] = g[1];
		if (g[0] < 0)
			continue;
		t->buffer.addr = (uint64_t)g[1];
		t->dtype = static_cast<DataType>(g[0]);
		t->ndims = (uint32_t)g[2];
		for (uint32_t d = 0; d < t->ndims; d++) {
			t->shapes[d] = (uint32_t)g[3 + d];
			t->strides[d] = (uint32_t)g[7 + d];
		}
		args[i] = (int64_t)(uintptr_t)t;
	}
	entry(args);
	delete[] args;
	delete[] tensors;
}
""" % WORDS


GUARD = 4096  # bytes before and behind each tensor, which nobody may write


class Guarded:
    """A copy of an array between guards."""

    def __init__(self, array):
        self.all = np.full(array.nbytes + 2 * GUARD, 0xa5, "uint8")
        self.array = self.all[GUARD:GUARD + array.nbytes].view(array.dtype).reshape(array.shape)
        self.array[...] = array

    def intact(self):
        return (self.all[:GUARD] == 0xa5).all() and (self.all[-GUARD:] == 0xa5).all()


class Kernel:
    """A kernel of a program by one back end: its text, and its function in the IR."""
    compare = staticmethod(pypto_random.check_close)

    def __init__(self, seed, program, name, core, backend, text):
        self.seed, self.program, self.name, self.core, self.backend, self.text = seed, program, name, core, backend, text

    def __str__(self):
        return f"seed {self.seed}: kernel {self.name} by {self.backend}"

    def inputs(self):
        """Arguments of every parameter; extents that run decides on are the same wherever a name is used."""
        generator = np.random.default_rng(self.seed)
        extents, out = {}, []
        for p in self.program.functions[self.name].params:
            dtype = p.type.dtype
            if not p.type.shape:
                out.append(float(generator.choice((0.5, 1.0, -2.0))) if dtype.startswith("FP") else int(generator.integers(0, 6)))
                continue
            shape = [e if isinstance(e, int) else extents.setdefault(e.name, int(generator.integers(1, 100)))
                     for e in p.type.shape]
            whole = dtype.startswith(("INT", "UINT"))
            out.append((generator.integers(0, 2, shape) if dtype == "BOOL" else generator.integers(-9, 10, shape) if whole else
                        generator.uniform(-2, 2, shape))
                       .astype(pypto_random.NUMPY[dtype]))
        return out

    def words(self, args):
        """The arguments as DRIVER wants them."""
        table = np.zeros((len(args), WORDS), "int64")
        for row, p, value in zip(table, self.program.functions[self.name].params, args):
            if isinstance(value, np.ndarray):
                strides = [s // value.itemsize for s in value.strides]
                row[:3] = CODES[p.type.dtype], value.ctypes.data, value.ndim
                row[3:3 + value.ndim], row[7:7 + value.ndim] = value.shape, strides
            else:
                row[0] = -1
                row[1] = np.float32(value).view("uint32") if isinstance(value, float) else value
        return table

    def check(self, entry):
        wanted = self.inputs()
        guarded = [Guarded(a) if isinstance(a, np.ndarray) else None for a in wanted]
        got = [g.array if g else a for g, a in zip(guarded, wanted)]
        with np.errstate(all="ignore"):
            ir.interpret(self.program, *wanted, function=self.name)
        table = self.words(got)
        entry(table.ctypes.data_as(ctypes.c_void_p), len(table))
        for i, (a, b, guard) in enumerate(zip(wanted, got, guarded)):
            if guard:
                assert guard.intact(), f"{self}: what lies around argument {i} was written\n{self.text}"
                self.compare(a, b, f"{self}: argument {i} differs from what the interpreter says\n{self.text}")


def texts_of(program, backend, arch, folder, name):
    """C++ text of a kernel."""
    if backend == "CCE":
        return _core.generate(program, "cce", name, arch)
    source = os.path.join(folder, f"{name}.pto")
    with open(source, "w", encoding="utf-8") as f:
        f.write(_core.generate(program, "pto", name, arch))
    assembled = _compile._assemble(program, name, arch, source, source + ".cpp")
    # what the assembler made is looked at once more, by the checker that knows nothing of how it was made
    done = subprocess.run([_compile.find_ptoas(), source, "-o", os.devnull, "--enable-insert-sync", "--check-hazards",
                           f"--pto-arch={('a3', 'a5')[arch]}"], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, f"kernel {name}: {done.stderr}\n{program}"
    return _core.generate(program, "wrapper", name, arch, assembled)


def kernels_of(text, seed, platform, backend, folder):
    """Kernels of a program; none when a platform lacks what it needs. Their arguments are those of @seed."""
    arch = _compile.arch_of(platform)
    program = pl.parse(text, f"random_{seed}.py")
    strategy = "PTOAS" if backend == "PTO" else "Default"
    try:
        program = passes.PassManager.get_strategy(strategy, platform).run_passes(program)
        return [Kernel(seed, program, name, core, backend, texts_of(program, backend, arch, folder, name))
                for name, core, _ in _core.describe_program(program)[1]]
    except pl.ParserError as refused:
        assert pypto_random.lacks(platform, refused), f"seed {seed}: {refused}"
        return []


def joined(kernels):
    """One file of them: each in a namespace of its own, its entry under a name of its own."""
    heads, bodies = {}, []
    for i, kernel in enumerate(kernels):
        heads |= dict.fromkeys(re.findall(r"^#include .*$", kernel.text, re.M))
        body, n = re.subn(r'extern "C" [^\n]* void kernel_entry\(', f'static void entry_{i}(', kernel.text)
        assert n == 1, kernel.text
        body = re.sub(r"^#include .*$", "", body, flags=re.M).replace(f" ::{kernel.name}(", f" {kernel.name}(")
        bodies.append(f"namespace kernel_{i} {{\n{body}\n}}\n"
                      f'extern "C" void run_{i}(const int64_t (*args)[{WORDS}], int n) {{ call(kernel_{i}::entry_{i}, args, n); }}\n')
    return "\n".join(heads) + "\n" + DRIVER + "".join(bodies)


def compiler(platform, core):
    """The C++ compiler and its options. Not optimised, and clang: g++ takes twice as long, -O2 five times."""
    return [*shlex.split(os.environ.get("CXX") or "clang++"), "-std=gnu++20", "-O0", "-w", "-fPIC", "-D__CPU_SIM",
            f"-D__NPU_ARCH__={ARCH_MACRO[platform]}", f"-D{CORE_MACRO[core]}", f"-I{device_include_dir()}"]


def compiled(kernels, platform, core, folder):
    """The library of one file of kernels."""
    source, library = os.path.join(folder, f"{core}.cpp"), os.path.join(folder, f"{core}.so")
    with open(source, "w", encoding="utf-8") as f:
        f.write(joined(kernels))
    done = subprocess.run([*compiler(platform, core), "-shared", source, "-o", library], capture_output=True, text=True)
    assert done.returncode == 0, f"{kernels[0]} to {kernels[-1]}: the compiler refuses one\n{done.stderr[:4000]}"
    return ctypes.CDLL(library)


def check_kernels(kernels, platform, folder):
    """Compiles and runs them. A line of output for each that runs: the last one tells whose crash it was."""
    for core in ("aiv", "aic"):
        chosen = [k for k in kernels if k.core == core]
        different = {k.text: k for k in chosen}
        library = compiled(list(different.values()), platform, core, folder) if chosen else None
        numbers = {text: i for i, text in enumerate(different)}
        for kernel in chosen:
            print(kernel, flush=True)
            kernel.check(getattr(library, f"run_{numbers[kernel.text]}"))


def check_batch(first, count):
    """Programs of these seeds: both back ends, on one platform."""
    platform = ("a2a3", "a5")[first // BATCH % 2]
    with tempfile.TemporaryDirectory(prefix="pypto-executed-") as folder:
        check_kernels([k for seed in range(first, first + count) if seed % 5 for backend in ("PTO", "CCE")
                       for k in kernels_of(pypto_random.Program(seed).text, seed, platform, backend, folder)], platform, folder)


def run_batch(first, count, script=__file__):
    """check_batch() of a script in a process of its own, which a crash ends alone. (lines that it printed, None) or (0, what went
    wrong)"""
    done = subprocess.run([sys.executable, script, "--batch", str(first), str(count)], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    if done.returncode == 0:
        return len(lines), None
    return 0, f"{lines[-1] if lines else f'seeds from {first}'}: process ended with {done.returncode}\n{done.stderr}"


def main():
    options = argparse.ArgumentParser(description="Executed kernels of random PyPTO programs.")
    options.add_argument("--first", type=int, default=None, help="first seed; from the clock if not given")
    options.add_argument("--count", type=int, default=20000, help="programs; a fifth of them is left out (pypto_random.py)")
    options.add_argument("--batch", type=int, nargs=2, metavar=("SEED", "N"), help="one batch, in this process")
    options = options.parse_args()
    if options.batch:
        check_batch(*options.batch)
        return 0
    first = options.first if options.first is not None else int(time.time()) % 1_000_000 * 1000
    print(f"kernels of random PyPTO programs from seed {first}")
    kernels = failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for i, (ran, wrong) in enumerate(pool.map(lambda at: run_batch(at, min(BATCH, first + options.count - at)),
                                                  range(first, first + options.count, BATCH))):
            kernels += ran
            if wrong:
                failed += 1
                print(wrong, flush=True)
            elif i % 10 == 9:
                print(f"{(i + 1) * BATCH} programs, {kernels} kernels", flush=True)
    print(f"{options.count} programs: {kernels} kernels of both back ends were executed, {failed} batches failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
