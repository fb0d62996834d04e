# SPDX-License-Identifier: MIT
"""Programs from source to result on both simulated chips, and what a RunHandle tells (worker-api 9, 11)."""
import threading

import numpy as np
import pytest

from conftest import arguments, open_gate, vector
from simpler.task_interface import (CallConfig, DataType, TaskArgs, Tensor, TensorArgType, TensorTransfer)

IN, OUT = TensorArgType.INPUT, TensorArgType.OUTPUT_EXISTING


def test_vector_add_from_source_to_result(both):
    a, b = np.arange(1000, dtype=np.float32), np.full(1000, 0.5, np.float32)
    device = [both.malloc(a.nbytes) for _ in range(3)]
    both.copy_to(device[0], a)
    both.copy_to(device[1], b)
    both.run(both.handle("vector_add"), arguments((device[0], IN), (device[1], IN), (device[2], OUT)))
    out = np.empty_like(a)
    both.copy_from(out, device[2])
    np.testing.assert_array_equal(out, a + b)


def test_host_tensors_are_staged_in_and_out(both):
    buffers = [both.create_buffer(4 * 256) for _ in range(3)]
    a, b, out = (np.frombuffer(buffer.shm.buf, np.float32) for buffer in buffers)
    a[:], b[:], out[:] = range(256), 7, -1
    both.run(both.handle("vector_add"), arguments((buffers[0], IN), (buffers[1], IN), (buffers[2], OUT)))
    np.testing.assert_array_equal(out, np.arange(256, dtype=np.float32) + 7)
    np.testing.assert_array_equal(b, np.full(256, 7, np.float32))
    del a, b, out
    for buffer in buffers:
        buffer.close()


def test_a_window_of_a_buffer_is_all_that_a_run_touches(both):
    x = both.floats(range(64))
    args = TaskArgs()
    args.add_tensor(Tensor(x, shapes=(16,), dtype=DataType.FLOAT32, byte_offset=64), TensorArgType.INOUT)
    args.add_scalar(100)
    both.run(both.handle("count"), args)
    assert both.read(x) == [i + (100 if 16 <= i < 32 else 0) for i in range(64)]


def test_dependent_tasks_run_in_order(chip):
    x = chip.floats([0])
    chip.run(chip.handle("count"), arguments(x, scalars=(1000,)))
    assert chip.read(x) == [1000]


def test_scalars_arrive_as_float_bits_and_sign_extended(chip):
    chip.run(chip.handle("scalars"), arguments(chip.floats([0]), scalars=(1.5, -1)))


def test_registration_after_init_runs_without_another_init(chip):
    x = chip.floats([1])
    handle = chip.worker.register(chip.programs.build("count"))
    chip.run(handle, arguments(x, scalars=(1,)))
    assert chip.read(x) == [2]


def test_registration_before_init_runs(programs):
    from simpler import Worker

    worker = Worker(level=2, platform="a2a3sim", runtime="tensormap_and_ringbuffer")
    handle = worker.register(programs.build("count"))
    worker.init()
    x = worker.malloc(4)
    assert worker.run(handle, arguments(x, scalars=(3,))) is None
    result = np.empty(1, np.float32)
    worker.copy_from(result, x)
    worker.close()
    assert result[0] == 3


def test_the_same_content_registered_twice_has_two_handles_and_one_hashid(chip):
    import re

    callable_ = chip.programs.build("count")
    first, second = chip.register(callable_), chip.register(callable_)
    assert first is not second and first.hashid == second.hashid
    assert re.fullmatch("sha256:[0-9a-f]{64}", first.hashid)
    chip.unregister(first)
    chip.run(second, arguments(chip.floats([0]), scalars=(1,)))


def test_a_submitted_run_keeps_a_snapshot_of_its_arguments(chip):
    x, gate = chip.floats([0]), chip.malloc(4)
    args = arguments(x, (gate, IN))
    run = chip.submit(chip.handle("gated"), args)
    args.clear()
    args.add_scalar(1)
    open_gate(gate)
    run.wait()
    assert chip.read(x) == [1]


def test_done_is_a_property_that_turns_true_with_the_run(chip):
    x, gate = chip.floats([0]), chip.malloc(4)
    run = chip.submit(chip.handle("gated"), arguments(x, (gate, IN)))
    assert run.done is False
    open_gate(gate)
    assert run.wait() is None
    assert run.done is True
    assert run.wait() is None and run.result() is None


def test_a_timeout_leaves_the_run_going(chip):
    x, gate = chip.floats([0]), chip.malloc(4)
    run = chip.submit(chip.handle("gated"), arguments(x, (gate, IN)))
    with pytest.raises(TimeoutError):
        run.wait(timeout=0)
    with pytest.raises(TimeoutError):
        run.result(0.01)
    assert not run.done
    open_gate(gate)
    run.result(timeout=60)
    assert chip.read(x) == [1]


@pytest.mark.parametrize("timeout", [-1, -0.5, float("nan"), float("inf"), float("-inf")])
def test_a_timeout_that_is_no_length_of_time_is_refused(chip, timeout):
    run = chip.submit(chip.handle("count"), arguments(chip.floats([0]), scalars=(1,)))
    with pytest.raises(ValueError, match="timeout"):
        run.wait(timeout)
    run.wait()


def test_stats_count_the_tasks(chip):
    run = chip.submit(chip.handle("count"), arguments(chip.floats([0]), scalars=(5,)))
    run.wait()
    assert run.stats["tasks_submitted"] == run.stats["tasks_completed"] == 5
    assert run.stats["end_ns"] >= run.stats["start_ns"]


def test_a_reported_failure_is_a_runtime_error_with_details_and_the_worker_goes_on(chip):
    run = chip.submit(chip.handle("fatal"), arguments(chip.floats([0])))
    with pytest.raises(RuntimeError, match="told to fail") as first:
        run.wait()
    with pytest.raises(RuntimeError, match="told to fail") as second:
        run.result()
    assert first.value.details == second.value.details
    assert first.value.details["code"] == -9 and first.value.details["name"] == "EXPLICIT_ORCH_FATAL"
    assert run.done
    x = chip.floats([0])
    chip.run(chip.handle("count"), arguments(x, scalars=(1,)))
    assert chip.read(x) == [1]


def test_a_crashing_kernel_is_a_failed_run_that_names_core_and_address(chip):
    x = chip.floats([0])
    with pytest.raises(RuntimeError) as failure:
        chip.run(chip.handle("crash"), arguments(x))
    details = failure.value.details
    assert details["name"] == "KERNEL_FAULT" and details["address"] == 16
    assert details["func_id"] == 4 and details["core"] is not None and details["task"] is not None
    chip.run(chip.handle("count"), arguments(x, scalars=(2,)))
    assert chip.read(x) == [2]


def test_a_failed_run_leaves_host_operands_untouched(chip):
    buffer = chip.create_buffer(4 * 8)
    np.frombuffer(buffer.shm.buf, np.float32)[:] = 3
    with pytest.raises(RuntimeError):
        chip.run(chip.handle("crash"), arguments(buffer))
    np.testing.assert_array_equal(np.frombuffer(buffer.shm.buf, np.float32), np.full(8, 3, np.float32))


def test_three_waiting_threads_get_the_same_failure(chip):
    x, gate = chip.floats([0]), chip.malloc(4)
    gated, fatal = chip.handle("gated"), chip.handle("fatal")
    first = chip.submit(gated, arguments(x, (gate, IN)))
    run = chip.submit(fatal, arguments(x))
    outcomes = []

    def wait():
        try:
            run.wait()
        except RuntimeError as error:
            outcomes.append(error.details)

    threads = [threading.Thread(target=wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    open_gate(gate)
    for thread in threads:
        thread.join()
    first.wait()
    assert len(outcomes) == 3 and outcomes[0] == outcomes[1] == outcomes[2]


def test_two_threads_submit_at_once(chip):
    buffers = [chip.floats([0]), chip.floats([0])]
    handle = chip.handle("count")

    def work(x):
        args = arguments(x, scalars=(1,))
        for i in range(200):
            if i % 2:
                chip.run(handle, args)
            else:
                chip.submit(handle, args).wait()

    threads = [threading.Thread(target=work, args=(x,)) for x in buffers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [chip.read(x) for x in buffers] == [[200], [200]]


def test_arguments_may_change_in_one_thread_while_another_runs_them(chip):
    x = chip.floats([0])
    handle, args = chip.handle("count"), arguments(x, scalars=(1,))
    stop = threading.Event()

    def change():
        while not stop.is_set():
            args.set_tag(0, TensorArgType.INOUT)

    thread = threading.Thread(target=change)
    thread.start()
    for _ in range(500):
        chip.run(handle, args)
    stop.set()
    thread.join()
    assert chip.read(x) == [500]


def test_runs_in_flight_keep_their_buffers(chip):
    x, gate = chip.floats([0]), chip.malloc(4)
    run = chip.submit(chip.handle("gated"), arguments(x, (gate, IN)))
    with pytest.raises(RuntimeError):
        chip.free(x)
    open_gate(gate)
    run.wait()
    assert chip.read(x) == [1]
    chip.free(x)


def test_a_third_submit_waits_for_the_oldest_run(chip):
    x, gate = chip.floats([0]), chip.malloc(4)
    gated, count = chip.handle("gated"), chip.handle("count")
    runs = [chip.submit(gated, arguments(x, (gate, IN))), chip.submit(count, arguments(x, scalars=(1,)))]
    thread = threading.Timer(0.05, open_gate, [gate])
    thread.start()
    runs.append(chip.submit(count, arguments(x, scalars=(1,))))
    assert runs[0].done
    thread.join()
    for run in runs:
        run.wait()
    assert chip.read(x) == [3]


def test_wrong_argument_counts_are_refused_and_name_both_counts(chip):
    x = chip.floats([0])
    with pytest.raises(ValueError, match="1"):
        chip.run(chip.handle("vector_add"), arguments(x))
    with pytest.raises(ValueError, match="2 scalars"):
        chip.run(chip.handle("count"), arguments(x, scalars=(1, 1)))


def test_host_tensors_that_stay_on_the_host_need_the_other_runtime(chip):
    args = TaskArgs()
    args.add_tensor(vector(chip.create_buffer(4)), TensorArgType.INOUT, transfer=TensorTransfer.NONE)
    args.add_scalar(1)
    with pytest.raises(ValueError, match="host_build_graph"):
        chip.run(chip.handle("count"), args)


def test_two_writers_of_the_same_bytes_are_refused(chip):
    x = chip.floats(range(24))
    args = TaskArgs()
    for offset, tag in ((0, IN), (32, IN), (0, OUT)):
        args.add_tensor(Tensor(x, shapes=(8,), dtype=DataType.FLOAT32, byte_offset=offset), tag)
    chip.run(chip.handle("vector_add"), args)
    args.set_tag(0, OUT)
    with pytest.raises(ValueError, match="overlapping bytes"):
        chip.run(chip.handle("vector_add"), args)


def test_a_configuration_is_validated_at_run_and_at_submit(chip):
    x = chip.floats([0])
    config = CallConfig()
    config.runtime_env.ring_task_window = 6
    for start in (chip.run, chip.submit):
        with pytest.raises(ValueError, match="ring_task_window"):
            start(chip.handle("count"), arguments(x, scalars=(1,)), config)
    config.runtime_env.ring_task_window = 8
    chip.run(chip.handle("count"), arguments(x, scalars=(5,)), config=config)
    assert chip.read(x) == [5]
    with pytest.raises(RuntimeError, match="a window of 8"):
        chip.run(chip.handle("count"), arguments(x, scalars=(100,)), config=config)


@pytest.mark.parametrize("stream, error", [(True, TypeError), ("s", TypeError), (0, ValueError), (-1, ValueError),
                                           (2**64, ValueError)])
def test_a_caller_stream_that_is_no_stream_is_refused(chip, stream, error):
    with pytest.raises(error, match="caller_stream"):
        chip.run(chip.handle("count"), arguments(chip.floats([0]), scalars=(1,)), caller_stream=stream)


def test_run_takes_handles_arguments_and_configurations_only(chip):
    handle = chip.handle("count")
    for wrong in (lambda orch, args, cfg: None, 0, chip.programs.build("count")):
        with pytest.raises(TypeError, match="CallableHandle"):
            chip.run(wrong)
    with pytest.raises(TypeError, match="TaskArgs"):
        chip.run(handle, [])
    with pytest.raises(TypeError, match="CallConfig"):
        chip.submit(handle, TaskArgs(), {})
    with pytest.raises(TypeError, match="unexpected keyword"):
        chip.run(handle, block_dim=1)
    with pytest.raises(TypeError, match="multiple values"):
        chip.run(handle, callable=handle)
    with pytest.raises(TypeError, match="missing argument 'callable'"):
        chip.run()
