# SPDX-License-Identifier: MIT
"""Nothing grows: references, memory, file descriptors, threads, shared memory."""
import gc
import os
import sys
import tracemalloc

import numpy as np
import pytest
from simpler import Worker
from simpler.buffer import Buffer
from simpler.task_interface import CallConfig, ChipCallable, CoreCallable, DataType, TaskArgs, Tensor, TensorArgType

from conftest import Chip, arguments

MALLOC = 4096  # tracemalloc counts Python objects; a leaked one per round would be far more than this


def growth_once(work, rounds):
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(rounds):
        work()
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return after - before


def growth(work, rounds):
    """Bytes of Python objects that @rounds calls leave behind. A leak does so each time; a table of Python's that happens to
    grow while one looks, as the one of its interned strings, does not."""
    for _ in range(20):
        work()
    return min(growth_once(work, rounds) for _ in range(2))


def rss():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_thousand_runs_leave_no_objects(chip):
    handle, x = chip.handle("count"), chip.floats([0])

    def work():
        args = arguments(x, scalars=(1,))
        chip.run(handle, args, CallConfig())
        chip.submit(handle, args).wait()

    assert growth(work, 1000) < MALLOC


def test_a_thousand_refusals_leave_no_objects(chip):
    handle, x = chip.handle("fatal"), chip.floats([0])
    args, short = arguments(x), TaskArgs()

    def refused(call, *rest):
        with pytest.raises((RuntimeError, ValueError, TypeError, KeyError)):
            call(*rest)

    def work():
        refused(chip.run, handle, short)
        refused(chip.run, handle, args, {})
        refused(chip.copy_to, x, b"too long for the buffer")
        refused(Tensor, x)
        refused(args.add_scalar, "1")

    assert growth(work, 1000) < MALLOC


def test_values_release_what_they_hold(chip):
    host, device = chip.create_buffer(64), chip.malloc(64)

    def work():
        config = CallConfig(aicpu_thread_num=2)
        config.runtime_env.ring_heap = [1024, 0, 0, 0]
        core = CoreCallable.build(signature=[1], binary=b"k")
        callable_ = ChipCallable.build(signature=[1], func_name="f", binary=b"x", children=[(0, core)])
        ChipCallable.from_bytes(callable_.to_bytes()).child(0)
        tensor = Tensor(host, shapes=(4, 4), dtype=DataType.FLOAT32)
        Tensor.from_bytes(bytes(tensor))
        args = TaskArgs()
        args.add_tensor(tensor, TensorArgType.INOUT)
        args.tensor(0), args.tag(0), args.to_blob()
        view = host.shm.buf
        view.release()
        Buffer.from_descriptor(device.to_descriptor()).identity
        Buffer.wrap(device.base, 64, chip.device_location).close()
        repr(tensor), repr(host)

    assert growth(work, 500) < MALLOC


def test_singletons_keep_their_reference_counts(chip):
    handle, x = chip.handle("count"), chip.floats([0])
    args = arguments(x, scalars=(1,))
    objects = [None, TensorArgType.INOUT, DataType.FLOAT32, chip.worker, handle, args, x]
    before = [sys.getrefcount(o) for o in objects]
    for _ in range(1000):
        chip.run(handle, args)
        chip.submit(handle, args).wait()
        args.tag(0), args.tensor(0).dtype
        Tensor(x, shapes=(1,), dtype=DataType.FLOAT32)
    after = [sys.getrefcount(o) for o in objects]
    assert all(abs(b - a) < 50 for a, b in zip(before, after)), (before, after)


def test_memory_of_the_process_stays_flat_over_runs(chip):
    handle, x, data = chip.handle("count"), chip.floats(range(1024)), np.zeros(1024, np.float32)

    def work():
        for _ in range(2000):
            chip.run(handle, arguments(x, scalars=(1,)))
            chip.copy_from(data, x)

    work()
    before = rss()
    for _ in range(3):
        work()
    assert rss() - before < 2 << 20


def test_unawaited_handles_are_collected(chip):
    handle, x = chip.handle("count"), chip.floats([0])

    def work():
        chip.submit(handle, arguments(x, scalars=(1,)))

    assert growth(work, 1000) < MALLOC
    assert chip.read(x)[0] >= 1000


def state():
    return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))


def test_workers_leave_no_descriptor_thread_or_shared_memory(programs):
    names = []

    def work():
        chip = Chip(programs)
        x, host = chip.floats([0]), chip.create_buffer(4)
        names.append(host.shm.name)
        np.frombuffer(host.shm.buf, np.float32)[:] = 1
        chip.run(chip.handle("count"), arguments(x, scalars=(1,)))
        chip.run(chip.handle("count"), arguments(host, scalars=(1,)))
        chip.submit(chip.handle("count"), arguments(x, scalars=(1,)))
        chip.worker.close()

    for _ in range(3):
        work()
    before, memory = state(), rss()
    for _ in range(50):
        work()
    assert state() == before
    assert not set(names) & set(os.listdir("/dev/shm"))
    assert rss() - memory < 8 << 20


def test_workers_that_never_start_leave_nothing():
    def work():
        worker = Worker(level=2, platform="a2a3sim", runtime="nothing")
        with pytest.raises(ValueError):
            worker.init()

    assert growth(work, 200) < MALLOC
