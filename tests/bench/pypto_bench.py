# SPDX-License-Identifier: MIT
"""The PyPTO compiler and its calls; prints one JSON object per row: name, unit, samples, and what else belongs to it."""
import importlib.util
import json
import os
import subprocess
import sys
import time

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs", "pypto")
IMPORT = "import time; a = time.perf_counter(); import pypto.language; print((time.perf_counter() - a) * 1e3)"


def emit(name, unit, samples, **more):
    print(json.dumps({"name": name, "unit": unit, "samples": samples, **more}), flush=True)


def load(path):
    """The program of a file; the file is read and its decorators run again each time."""
    spec = importlib.util.spec_from_file_location("pypto_bench_program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return next(v for v in vars(module).values() if getattr(v, "node_kind", "") == "Program")


def to_text(program):
    """All generated text of a program: orchestration and .pto of each kernel."""
    from pypto import _core, passes
    program = passes.PassManager.get_strategy("PTOAS").run_passes(program)
    orchestration, kernels = _core.describe_program(program)
    texts = [_core.generate(program, "pto", name, 0) for name, _, _ in kernels]
    return texts + [_core.generate(program, "orchestration", orchestration, 0)] if orchestration else texts


def timed(work, n, unit=1e3):
    samples = []
    for _ in range(n):
        start = time.perf_counter()
        work()
        samples.append((time.perf_counter() - start) * unit)
    return samples


def compile_rows(n):
    for name, file in (("attention", "flash_attention.py"), ("decoder_layer", "decoder_layer.py")):
        path = os.path.join(PROGRAMS, file)
        to_text(load(path))
        emit(f"pypto.compile.{name}", "ms", timed(lambda: to_text(load(path)), n), threads=1)


def straight(statements):
    """A kernel of so many statements."""
    lines = [f"    t = pl.{('add', 'mul', 'maximum')[i % 3]}(t, {i % 7 + 1}.0)" for i in range(statements - 3)]
    return ("@pl.program\nclass Straight:\n    @pl.function(type=pl.FunctionType.InCore)\n"
            "    def k(self, a: pl.Tensor[[16, 16], pl.FP32], o: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):\n"
            "        t = pl.load(a, [0, 0], [16, 16])\n" + "".join(f"    {line}\n" for line in lines) +
            "        o = pl.store(t, [0, 0], [16, 16], o)\n        return o\n")


def scale_rows(n):
    """Processor time of 1000 statements, and by how much one of them costs more than one of 500, in percent."""
    import pypto.language as pl
    half, whole = [], []
    for i in range(n + 1):
        for size, into in ((500, half), (1000, whole)):
            text = straight(size)
            start = time.process_time()
            to_text(pl.parse(text, f"straight_{size}.py"))
            into += [(time.process_time() - start) * 1e3] if i else []
    more = (min(whole) / min(half) / 2 - 1) * 100
    emit("pypto.compile.scale", "ms", whole, threads=1, statements=1000, more_per_statement=more)


def import_rows(n):
    samples = [float(subprocess.run([sys.executable, "-c", IMPORT], check=True, capture_output=True, text=True).stdout)
               for _ in range(n)]
    emit("pypto.import", "ms", samples, threads=1)


class NoChip:
    """In the place of a Worker: what is left is the time of Python."""

    def __init__(self, real):
        self.malloc, self.free = real.malloc, real.free

    def register(self, chip):
        return chip

    def copy_to(self, buffer, array):
        pass

    def copy_from(self, array, buffer):
        pass

    def run(self, handle, arguments):
        pass


def call_rows(n):
    import numpy

    from pypto import _core, passes, runtime
    program = load(os.path.join(PROGRAMS, "block_spmd.py"))
    compiled = passes.PassManager.get_strategy("PTOAS").run_passes(program)
    made = "", _core.describe_program(compiled)[0], *_core.orchestration_slots(compiled)
    runtime._callable = lambda *args: made
    called = runtime.Program(program, worker=NoChip(runtime.worker()))
    x, y = (numpy.zeros((256, 32), "float32") for _ in range(2))
    called(x, y)

    def thousand():
        for _ in range(1000):
            called(x, y)
    emit("pypto.call", "us", timed(thousand, n, 1e3), threads=1)


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    compile_rows(n)
    scale_rows(max(n // 3, 3))
    import_rows(n)
    call_rows(n)


if __name__ == "__main__":
    main()
