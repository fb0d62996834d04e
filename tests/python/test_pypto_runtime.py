# SPDX-License-Identifier: MIT
"""pypto.runtime: programs compiled, built and run on the simulated chips; arrays of several makers; errors."""
import gc
import os
import threading

import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
os.environ.setdefault("SIMPLER_CACHE_DIR", os.path.join(os.path.abspath(os.environ.get("SIMPLER_BUILD_DIR", "build")),
                                                        "cache"))
from pypto import runtime  # noqa: E402

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
