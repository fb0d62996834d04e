# SPDX-License-Identifier: MIT
"""pypto.runtime: programs compiled, built and run on the simulated chips; arrays of several makers; errors."""
import gc
import os
import shutil
import subprocess
import sys
import threading
import time

import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
os.environ.setdefault("SIMPLER_CACHE_DIR", os.path.join(os.path.abspath(os.environ.get("SIMPLER_BUILD_DIR", "build")),
                                                        "cache"))
from pypto import ir, runtime  # noqa: E402

M = pl.dynamic("M")


@pl.program
class Scale:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[M, 16], pl.FP32], s: pl.Scalar[pl.FP32], y: pl.Out[pl.Tensor[[M, 16], pl.FP32]]
               ) -> pl.Tensor[[M, 16], pl.FP32]:
        for i in pl.range(0, M, 16):
            y = pl.store(pl.mul(pl.load(x, [i, 0], [16, 16]), s), [i, 0], [16, 16], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[M, 16], pl.FP32], s: pl.Scalar[pl.FP32], y: pl.Out[pl.Tensor[[M, 16], pl.FP32]]
             ) -> pl.Tensor[[M, 16], pl.FP32]:
        y = self.kernel(x, s, y)
        return y


@pl.program
class Blocks:
    @pl.function(type=pl.FunctionType.BlockInCore)
    def kernel(self, x: pl.Tensor[[128, 16], pl.FP32], y: pl.Out[pl.Tensor[[128, 16], pl.FP32]],
               blockdim: pl.Scalar[pl.INT32], block_id: pl.Scalar[pl.INT32]) -> pl.Tensor[[128, 16], pl.FP32]:
        n = 128 // blockdim
        for i in pl.range(0, n, 16):
            y = pl.store(pl.add(pl.load(x, [block_id * n + i, 0], [16, 16]), 1.0), [block_id * n + i, 0], [16, 16], y)
        return y


def floats(rows=32, seed=1):
    return np.random.default_rng(seed).uniform(-4, 4, (rows, 16)).astype("float32")


def test_a_program_is_called_and_compiled_on_first_use():
    x, y = floats(), np.zeros((32, 16), "float32")
    assert Scale(x, 3.0, y) is y
    np.testing.assert_array_equal(y, x * 3)
    assert runtime.run(Scale, x, 0.5, y) is y
    np.testing.assert_array_equal(y, x * 0.5)


def test_extents_may_differ_from_call_to_call():
    for rows in (16, 64, 16, 48):
        x, y = floats(rows), np.zeros((rows, 16), "float32")
        Scale(x, 2.0, y)
        np.testing.assert_array_equal(y, x * 2)


def test_arguments_that_cannot_be_read_as_they_are_are_copied():
    wide = floats(32).repeat(2, axis=1)
    y = np.zeros((32, 16), "float32")
    Scale(wide[:, ::2], 2.0, y)
    np.testing.assert_array_equal(y, wide[:, ::2] * 2)
    Scale(memoryview(floats()), 2.0, y)
    np.testing.assert_array_equal(y, floats() * 2)


class Pointer:
    """What torch tensors show of themselves."""

    device = "cpu"

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, f"torch.{array.dtype}"

    def data_ptr(self):
        return self.array.ctypes.data

    def element_size(self):
        return self.array.itemsize

    def is_contiguous(self):
        return self.array.flags.c_contiguous


class Capsule:
    """An array that only has __dlpack__."""

    def __init__(self, array):
        self.array, self.shape = array, array.shape

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_tensors_with_pointers_are_read_and_written():
    x, y = floats(), np.zeros((32, 16), "float32")
    out = Pointer(y)
    assert Scale(Pointer(x), 2.0, out) is out
    np.testing.assert_array_equal(y, x * 2)


def test_tensors_with_dlpack_are_read():
    x, y = floats(), np.zeros((32, 16), "float32")
    Scale(Capsule(x), 2.0, y)
    np.testing.assert_array_equal(y, x * 2)
    with pytest.raises(TypeError, match="argument 'y' is written: Capsule gives no way to its memory"):
        Scale(x, 2.0, Capsule(y))


def test_tensors_on_the_chip_stay_there():
    from simpler.task_interface import DataType, Tensor
    chip = runtime.worker()
    x = floats()
    buffers = [chip.malloc(x.nbytes) for _ in range(2)]
    chip.copy_to(buffers[0], x)
    tensors = [Tensor(b, shapes=x.shape, dtype=DataType.FLOAT32) for b in buffers]
    assert Scale(tensors[0], 4.0, tensors[1]) is tensors[1]
    out = np.empty_like(x)
    chip.copy_from(out, buffers[1])
    np.testing.assert_array_equal(out, x * 4)
    for b in buffers:
        chip.free(b)


@pytest.mark.parametrize("args, error, text", [
    ((floats(), 1.0), TypeError, r"takes 3 arguments \(x: .*\), got 2"),
    ((floats().astype("float64"), 1.0, floats()), ValueError, "'x' needs .* of FP32, got .* of float64"),
    ((floats().view("int32"), 1.0, floats()), ValueError, "'x' needs .* of FP32, got .* of int32"),
    ((floats(), 1.0, floats(64)), ValueError, "extent M is 32 elsewhere, 64 here"),
    ((floats()[:0], 1.0, floats()[:0]), ValueError, r"'x' is empty: its shape is \[0, 16\]"),
    ((floats()[0], 1.0, floats()), ValueError, "'x' needs 2 dimensions"),
    ((floats(), 1.0, np.ones((16, 32), "float32").T), ValueError, "'y' is written: it must be contiguous|elsewhere"),
    ((floats(), "one", floats()), TypeError, "argument 's' is FP32, got 'one'"),
])
def test_wrong_arguments_are_refused_and_change_nothing(args, error, text):
    with pytest.raises(error, match=text):
        Scale(*args)
    x, y = floats(), np.zeros((32, 16), "float32")
    Scale(x, 2.0, y)
    np.testing.assert_array_equal(y, x * 2)


def test_read_only_results_are_refused():
    y = np.zeros((32, 16), "float32")
    y.flags.writeable = False
    with pytest.raises(ValueError, match="'y' is written: it must be writable"):
        runtime.compile(Scale)(floats(), 2.0, y)


def test_calls_from_several_threads_take_turns():
    x = floats()
    outs = [np.zeros_like(x) for _ in range(4)]

    def work(i):
        for _ in range(10):
            Scale(x, float(i), outs[i])
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for i, out in enumerate(outs):
        np.testing.assert_array_equal(out, x * i)


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [2]])
def test_runs_started_one_after_the_other_may_be_waited_for_in_any_order(order):
    program, x = runtime.compile(Scale), floats()
    outs = [np.zeros_like(x) for _ in range(4)]
    started = [program.submit(x, float(i + 2), out) for i, out in enumerate(outs)]
    for i in order:
        assert started[i].wait(60) is outs[i]
        np.testing.assert_array_equal(outs[i], x * (i + 2))
    last = np.zeros_like(x)
    program(x, 9.0, last)
    for i, out in enumerate(outs):  # also of those nobody waited for
        np.testing.assert_array_equal(out, x * (i + 2))
    np.testing.assert_array_equal(last, x * 9)


def test_another_thread_may_wait_for_a_run_while_the_program_is_called():
    program, x = runtime.compile(Scale), floats()
    results = []

    def wait(started, out, factor):
        results.append(started.wait(60) is out and (out == x * factor).all())
    threads = []
    for i in range(20):
        out, factor = np.zeros_like(x), float(i + 2)
        threads.append(threading.Thread(target=wait, args=(program.submit(x, factor, out), out, factor)))
        threads[-1].start()
        program(x, 1.5, np.zeros_like(x))
    for t in threads:
        t.join()
    assert results == [True] * 20


def test_the_error_of_a_started_run_is_raised_by_each_wait():
    from simpler import Worker
    worker = Worker(level=2, platform="a2a3sim", runtime=runtime.RUNTIME, device_id=0)
    worker.init()
    x = floats()
    started = runtime.compile(Scale, platform="a2a3sim", worker=worker).submit(x, 2.0, np.zeros_like(x))
    worker.close()
    for _ in range(2):
        with pytest.raises(RuntimeError, match="the Worker is CLOSED"):
            started.wait(60)


def test_a_program_that_is_dropped_gives_its_memory_and_registration_back():
    worker = runtime.worker()
    x, y = floats(), np.zeros((32, 16), "float32")
    kept = runtime.compile(Scale)
    kept(x, 2.0, y)

    def resident():
        for _ in range(20):
            program = runtime.compile(Scale)
            program(x, 3.0, y)
            program.submit(x, 4.0, y)
            del program
            gc.collect()
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1])
    resident()
    before = resident()
    big = np.zeros((16 * 4096, 16), "float32")
    for _ in range(20):  # 8 MiB each
        runtime.compile(Scale)(big, 1.0, big)
        gc.collect()
    assert resident() - before < 40 * 256  # pages: far less than 20 times 8 MiB
    kept(x, 5.0, y)
    np.testing.assert_array_equal(y, x * 5)
    assert worker is runtime.worker()


def test_a_child_of_a_fork_has_chips_of_its_own():
    x, y = floats(), np.zeros((32, 16), "float32")
    Scale(x, 2.0, y)
    child = os.fork()
    if not child:
        status = 1
        try:
            Scale(x, 3.0, y)
            runtime.compile(Scale)(x, 3.0, y)
            runtime.close()
            status = 0 if (y == x * 3).all() else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    Scale(x, 4.0, y)
    np.testing.assert_array_equal(y, x * 4)


def test_a_child_of_a_fork_does_not_wait_for_runs_of_its_parent():
    x, y, program = np.ones((64, 32), "float32"), np.zeros((64, 32), "float32"), pl.parse(INC)
    called = runtime.compile(program)
    started = called.submit(x, y)
    called._lock.acquire()  # as another thread would, which is not in the child
    child = os.fork()
    if not child:
        status = 1
        try:
            runtime.compile(program)(y, x)
            runtime.close()
            status = 0 if (x == y + 1).all() else 2
        finally:
            os._exit(status)
    called._lock.release()
    assert os.waitpid(child, 0)[1] == 0
    started.wait()
    assert (y == 2).all()


def test_objects_with_shape_type_and_address_are_arrays():
    class Foreign:
        def __init__(self, array):
            self.array, self.shape, self.dtype = array, array.shape, array.dtype

        def data_ptr(self):
            return self.array.ctypes.data
    x, y = floats(), np.zeros((32, 16), "float32")
    program = runtime.compile(Scale)
    for _ in range(2):
        program(Foreign(x), 2.0, Foreign(y))
        np.testing.assert_array_equal(y, x * 2)
        program(x, 3.0, y)  # the same dtype, another class
        np.testing.assert_array_equal(y, x * 3)


def test_back_ends_that_are_none_are_refused():
    with pytest.raises(ValueError, match="no back end is named 'LLVM'; there are PTO and CCE"):
        runtime.compile(Scale, backend_type="LLVM")


def test_launch_starts_blocks_of_a_kernel_by_itself():
    x, y = np.ones((128, 16), "float32"), np.zeros((128, 16), "float32")
    kernel = Blocks.functions["kernel"]
    started = runtime.launch(kernel, 4, x, y)
    started.wait()
    assert (y == 2).all()
    assert started.wait() is None
    runtime.launch(kernel, 8, y, x).wait()
    assert (x == 3).all()


def test_launch_refuses_what_needs_an_orchestration():
    with pytest.raises(ValueError, match="no BlockInCore function: blockdim must be 1"):
        runtime.launch(Scale.functions["kernel"], 2, None)
    with pytest.raises(TypeError, match="BlockInCore or InCore"):
        runtime.launch(Scale.functions["main"], 1, None)
    with pytest.raises(ValueError, match="stream must be None"):
        runtime.launch(Blocks.functions["kernel"], 2, None, stream=1)


def test_programs_without_orchestration_cannot_be_called():
    with pytest.raises(ValueError, match="program 'Blocks' has no orchestration to run"):
        Blocks(1)


def test_generated_files_are_kept_by_content(monkeypatch, tmp_path):
    monkeypatch.setenv("SIMPLER_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(runtime, "_build", lambda *args: (_ for _ in ()).throw(KeyboardInterrupt))
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            runtime.compile(Scale)
    entries = os.listdir(tmp_path / "pypto")
    assert len(entries) == 1
    assert (tmp_path / "pypto" / entries[0] / "kernel_config.py").exists()
    with pytest.raises(KeyboardInterrupt):
        runtime.compile(Scale, platform="a5sim")
    assert len(os.listdir(tmp_path / "pypto")) == 2


INC = """
@pl.program
class Inc:
    @pl.function(type=pl.FunctionType.BlockInCore)
    def k(self, x: pl.Tensor[[64, 32], pl.FP32], y: pl.Out[pl.Tensor[[64, 32], pl.FP32]]) -> pl.Tensor[[64, 32], pl.FP32]:
        for i in pl.range(pl.get_block_idx(), 4, pl.get_block_num()):
            y = pl.store(pl.add(pl.load(x, [i * 16, 0], [16, 32]), 1.0), [i * 16, 0], [16, 32], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[64, 32], pl.FP32], y: pl.Out[pl.Tensor[[64, 32], pl.FP32]]):
        self.k(x, y, blockdim=2)
"""


def test_launches_see_what_those_before_wrote_in_whatever_order_they_are_waited_for():
    kernel, x = pl.parse(INC).functions["k"], np.ones((64, 32), "float32")
    launchers = len(runtime._launchers)
    for waits in ((0, 1), (1, 0)):
        y, z = np.zeros_like(x), np.zeros_like(x)
        started = [runtime.launch(kernel, 4, x, y), runtime.launch(kernel, 2, y, z)]
        for i in waits:
            started[i].wait()
        assert (y == 2).all() and (z == 3).all()
    assert len(runtime._launchers) == launchers + 1  # any number of blocks is one program


@pytest.mark.parametrize("view", [lambda y: y, lambda y: y[:], lambda y: y.reshape(-1).reshape(64, 32)])
def test_a_run_sees_what_a_run_of_another_program_writes(view):
    first, second = (runtime.compile(pl.parse(INC)) for _ in range(2))
    x = np.ones((64, 32), "float32")
    y, z, other = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    a = first.submit(x, y)
    second(x, other)
    assert a in runtime._pending  # what shares nothing goes on beside it
    second(view(y), z)
    assert a not in runtime._pending and (z == 3).all() and (y == 2).all() and (other == 2).all()
    a.wait()
    a, b = first.submit(x, y), second.submit(z, y)  # the last one to write wins
    b.wait()
    a.wait()
    assert (y == 4).all()


def test_blocks_and_kernels_that_cannot_be_launched_are_refused():
    program, x = pl.parse(INC), np.ones((64, 32), "float32")
    for blocks, error in (("3", TypeError), (True, TypeError), (2.5, TypeError), (0, ValueError), (-1, ValueError), (1 << 31, ValueError)):
        with pytest.raises(error, match="blockdim"):
            runtime.launch(program.functions["k"], blocks, x, x.copy())
    for what in (program, program.functions["main"], test_blocks_and_kernels_that_cannot_be_launched_are_refused):
        with pytest.raises(TypeError, match="BlockInCore or InCore function, not"):
            runtime.launch(what, 1, x, x.copy())


def test_extents_of_launched_kernels_may_have_any_name():
    text = INC.replace("[[64, 32]", "[[kernel, 32]").replace("@pl.program", 'kernel = pl.dynamic("kernel")\n\n\n@pl.program')
    x = np.ones((64, 32), "float32")
    y = np.zeros_like(x)
    runtime.launch(pl.parse(text).functions["k"], 2, x, y).wait()
    assert (y == 2).all()


SCALAR = """
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, s: pl.Scalar[pl.{0}], y: pl.Out[pl.Tensor[[16, 32], pl.{0}]]) -> pl.Tensor[[16, 32], pl.{0}]:
        y = pl.store(pl.adds(pl.full([16, 32], pl.{0}, 0), s), [0, 0], [16, 32], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, s: pl.Scalar[pl.{0}], y: pl.Out[pl.Tensor[[16, 32], pl.{0}]]):
        self.k(s, y)
"""


@pytest.mark.parametrize("dtype, cases", [
    ("FP16", [(1.1, 0x3c66), (65519.9, 0x7bff), (65520.0, 0x7c00), (-70000.0, 0xfc00)]),
    ("FP32", [(1.1, 0x3f8ccccd), (1e39, 0x7f800000), (-1e39, 0xff800000), (16777217.0, 0x4b800000)]),
    ("INT32", [(2.0, 2), (np.int64(-3), 0xfffffffd), (True, 1)])])
def test_scalars_are_rounded_to_the_nearest_by_interpreter_and_chip(dtype, cases):
    program = pl.parse(SCALAR.format(dtype))
    called = runtime.compile(program)
    name = {"FP16": "float16", "FP32": "float32", "INT32": "int32"}[dtype]
    for value, bits in cases:
        wanted, got = np.zeros((16, 32), name), np.zeros((16, 32), name)
        ir.interpret(program, value, wanted)
        called(value, got)
        assert got.view(f"uint{8 * got.itemsize}")[0, 0] == bits and (wanted == got).all(), value


def test_brain_floats_are_rounded_once():
    from pypto import _tensors
    for value, bits in ((1.1, 0x3f8d), (1.0078124, 0x3f81), (3.4e38, 0x7f80), (1 + 2**-8, 0x3f80), (1 + 2**-8 + 2**-40, 0x3f81),
                        (-1 - 2**-8 - 2**-40, 0xbf81), (float("inf"), 0x7f80), (2.0**-140, 0x0)):
        assert _tensors.number_bits("s", "BF16", value) == bits, value
    assert _tensors.number("s", "BF16", 1.1) == 1.1015625
    assert np.isnan(_tensors.number("s", "BF16", float("nan")))


class Gives:
    """An object that hands its array on in one way."""

    def __init__(self, array, name):
        self.array = array
        if name == "__array_interface__":
            self.__array_interface__ = array.__array_interface__
        else:
            type(self).__dlpack__ = lambda self, **options: array.__dlpack__(**options)
            type(self).__dlpack_device__ = lambda self: array.__dlpack_device__()


@pytest.mark.parametrize("name", ["__array_interface__", "__dlpack__"])
def test_arrays_by_protocol(name):
    program = pl.parse(INC)
    given = type("Given", (Gives,), {})(np.ones((64, 32), "float32"), name)
    for call in (runtime.compile(program), lambda *args: ir.interpret(program, *args)):
        y = np.zeros((64, 32), "float32")
        call(given, y)
        assert (y == 2).all()


def test_buffers_of_another_type_are_refused():
    called, y = runtime.compile(pl.parse(INC)), np.zeros((64, 32), "float32")
    with pytest.raises(ValueError, match="got .64, 32. of int32"):
        called(memoryview(np.ones((64, 32), "int32")), y)
    with pytest.raises(TypeError, match="'x' is no option; arguments of the program are given by their places"):
        runtime.run(pl.parse(INC), x=y)


def run_inc():
    x, y = np.ones((64, 32), "float32"), np.zeros((64, 32), "float32")
    runtime.compile(pl.parse(INC))(x, y)
    assert (y == 2).all()


def entries(folder):
    return [os.path.join(folder, "pypto", name) for name in os.listdir(os.path.join(folder, "pypto"))]


@pytest.mark.parametrize("damage", ["half", "empty", "removed", "junk", "more", "manifest"])
@pytest.mark.parametrize("name", ["kernels/aiv/k.cpp", "orchestration/main.cpp", "kernel_config.py"])
def test_a_damaged_entry_of_the_cache_is_made_again(tmp_path, monkeypatch, name, damage):
    monkeypatch.setenv("SIMPLER_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(runtime, "_build", lambda folder, *rest: built.append(runtime._hashes(folder)))
    built, program = [], pl.parse(INC)
    compiled = runtime.passes.PassManager.get_strategy("PTOAS", "a2a3sim").run_passes(program)

    def files():
        runtime._objects(program, compiled, "main", [("k", "aiv", 0)], "a2a3sim", runtime.BackendType.PTO)
    files()
    path = os.path.join(*entries(tmp_path), name)
    text = open(path).read()
    if damage == "removed":
        os.unlink(path)
    elif damage == "more":
        path += ".orig"
    elif damage == "manifest":
        path = os.path.join(*entries(tmp_path), "manifest.json")
    if damage != "removed":
        with open(path, "w") as f:
            f.write({"half": text[:len(text) // 2], "junk": "junk"}.get(damage, ""))
    files()
    files()
    assert built[0] == built[1] == built[2]
    assert len(entries(tmp_path)) == 1 and runtime._intact(*entries(tmp_path))


def test_an_entry_that_is_removed_while_it_is_built_is_made_again(tmp_path, monkeypatch):
    monkeypatch.setenv("SIMPLER_CACHE_DIR", str(tmp_path))
    real, times = runtime._build, []

    def build(folder, *rest):
        times.append(folder)
        if len(times) == 1:
            runtime._remove(folder)
        return real(folder, *rest)
    monkeypatch.setattr(runtime, "_build", build)
    run_inc()
    assert len(times) == 2


def test_a_name_that_another_process_holds_costs_nothing_but_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SIMPLER_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(runtime.os, "rename", lambda *names: (_ for _ in ()).throw(OSError("held")))
    run_inc()
    assert entries(tmp_path) == []


CLEANED = f"""
import numpy as np, pypto.language as pl
from pypto import runtime
text = {INC!r}
for number in range(2):
    x, y = np.ones((64, 32), "float32"), np.zeros((64, 32), "float32")
    runtime.compile(pl.parse(text.replace("1.0", str(number + 1.0))))(x, y)
    assert (y == number + 2).all(), y
"""


def test_processes_whose_cache_is_cleaned_while_they_compile_get_their_programs(tmp_path):
    env = {**os.environ, "SIMPLER_CACHE_DIR": str(tmp_path)}
    others = [subprocess.Popen([sys.executable, "-c", CLEANED], env=env, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    deadline, cleaned = time.monotonic() + 300, 0
    while any(p.poll() is None for p in others) and time.monotonic() < deadline:
        for folder in ("pypto", "objects"):
            for name in os.listdir(tmp_path / folder) if (tmp_path / folder).exists() else ():
                cleaned += 1
                shutil.rmtree(tmp_path / folder / name, ignore_errors=True)
        time.sleep(0.05)
    for p in others:
        if p.poll() is None:
            p.kill()
        said = p.communicate()[1]  # it may warn
        assert p.returncode == 0 and "Traceback" not in said, said
    assert cleaned


def test_entries_that_nobody_used_for_two_weeks_are_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("SIMPLER_CACHE_DIR", str(tmp_path))
    made = {name: tmp_path / "pypto" / name for name in ("0" * 32, "new-x", "something else")}
    for folder in made.values():
        folder.mkdir(parents=True)
        os.utime(folder, (0, 0))
    run_inc()
    assert [name for name, folder in made.items() if folder.exists()] == ["something else"]


def test_a_cache_that_cannot_be_written_is_only_warned_about(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SIMPLER_CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with pytest.warns(UserWarning, match="programs are not cached in .*SIMPLER_CACHE_DIR"):
        run_inc()
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("extent, right", [("n", 8), ("n // 2", 16), ("M, n", 8)])
def test_numbers_that_are_extents_are_compared_with_the_shapes(extent, right):
    """A kernel that believed a number that is too large would read behind its tensor."""
    shape = [4, 8, 32] if "M" in extent else [8, 32]
    called = runtime.compile(pl.parse(f"""M = pl.dynamic("M")
@pl.program
class P:
    @pl.function
    def main(self, n: pl.Scalar[pl.INDEX], x: pl.Tensor[[{extent}, 32], pl.FP32], o: pl.Out[pl.Tensor[[{extent}, 32], pl.FP32]]
             ) -> pl.Tensor[[{extent}, 32], pl.FP32]:
        o = pl.assemble(o, x + 1.0, {[0] * len(shape)})
        return o
"""))
    x = np.ones(shape, "float32")
    assert (called(right, x, np.zeros_like(x)) == 2).all()
    for _ in range(2):
        with pytest.raises(ValueError, match="argument 'x' has extent 8 where the numbers say 16"):
            called(2 * right, x, np.zeros_like(x))
    assert (called(right, x, np.zeros_like(x)) == 2).all()
