# SPDX-License-Identifier: MIT
"""Life of a Worker, registration, and the exception class of every refusal (worker-api 2 to 4)."""
import gc
import os
import subprocess
import sys
import threading
import warnings

import pytest
from simpler import Worker
from simpler.task_interface import CallableHandle, CallConfig, ChipCallable, CoreCallable, ExecutionContextRefused
from simpler_setup import KernelCompiler

from conftest import INOUT, SCALAR, Chip, arguments, open_gate, programs_of

SIM = {"platform": "a2a3sim", "runtime": "tensormap_and_ringbuffer"}


def test_2_levels_below_two_are_refused_by_init():
    worker = Worker(level=1, **SIM)
    with pytest.raises(ValueError, match="level 1 not supported"):
        worker.init()
    assert worker.state == "FAILED"
    with pytest.raises(RuntimeError):
        worker.init()
    worker.close()


@pytest.mark.parametrize("level", [3, 4, 2**40])
def test_levels_above_two_are_refused_by_init(level):
    worker = Worker(level, **SIM)
    with pytest.raises(ValueError, match=f"level {level} not supported"):
        worker.init()
    assert worker.level == level
    worker.close()


@pytest.mark.parametrize("key", ["platform", "runtime"])
def test_names_with_a_nul_character_are_refused(key):
    worker = Worker(level=2, **{**SIM, key: SIM[key] + "\0x"})
    with pytest.raises(ValueError, match=f"{key} .*NUL character"):
        worker.init()
    worker.close()


def test_3_a_worker_is_initialized_once_and_closed_for_good(chip):
    with pytest.raises(RuntimeError, match="already initialized"):
        chip.init()
    handle = chip.handle("count")
    chip.close()
    for operation in (chip.init, lambda: chip.malloc(16), lambda: chip.run(handle), lambda: chip.create_buffer(16),
                      lambda: chip.device_location):
        with pytest.raises(RuntimeError):
            operation()
    chip.close()
    assert chip.state == "CLOSED"


def test_4_the_context_manager_does_not_initialize():
    with Worker(level=2, **SIM) as worker:
        with pytest.raises(RuntimeError, match="NEW"):
            worker.malloc(16)
        worker.init()
        assert worker.malloc(16).nbytes == 16
    assert worker.state == "CLOSED"


def test_5_a_bad_prewarm_configuration_leaves_the_worker_new():
    worker = Worker(level=2, **SIM)
    config = CallConfig()
    config.runtime_env.ring_heap = 512
    with pytest.raises(ValueError, match="ring_heap"):
        worker.init(config)
    with pytest.raises(TypeError):
        worker.init({})
    config.runtime_env.ring_heap = 1 << 20
    worker.init(prewarm_config=config)
    worker.close()


@pytest.mark.parametrize("timeout", [float("inf"), float("nan"), 0, -1])
def test_6_a_startup_timeout_must_be_a_length_of_time(timeout):
    with pytest.raises(ValueError, match="startup_timeout_s"):
        Worker(level=3, startup_timeout_s=timeout)


@pytest.mark.parametrize("config, error, what", [
    ({"runtime": "tensormap_and_ringbuffer"}, KeyError, "platform"),
    ({"platform": "a2a3sim"}, KeyError, "runtime"),
    ({**SIM, "platform": "a9"}, ValueError, "a9"),
    ({**SIM, "runtime": "magic"}, ValueError, "magic"),
    ({**SIM, "platform": None}, KeyError, "platform"),
    ({**SIM, "platform": 7}, TypeError, "platform"),
    ({**SIM, "device_id": -1}, ValueError, "device_id"),
    ({**SIM, "device_id": 2**40}, ValueError, "device_id"),
    ({**SIM, "device_id": "0"}, TypeError, "device_id"),
    ({**SIM, "enable_sdma": True}, RuntimeError, "enable_sdma"),
    ({**SIM, "platform": "a2a3"}, RuntimeError, "a2a3"),
])
def test_configuration_is_checked_by_init(config, error, what):
    worker = Worker(level=2, **config)
    with pytest.raises(error, match=what) as failure:
        worker.init()
    assert type(failure.value) is error
    worker.close()


def test_unknown_keys_are_kept_silently():
    with Worker(level=2, color="blue", **SIM) as worker:
        worker.init()


@pytest.mark.parametrize("budget, error", [(True, TypeError), (1.5, TypeError), (0, ValueError), (1023, ValueError),
                                           (-1, ValueError)])
def test_a_workspace_budget_is_checked_at_construction(budget, error):
    with pytest.raises(error):
        Worker(level=2, platform="a2a3", runtime=SIM["runtime"], workspace_budget_bytes=budget)


def test_a_workspace_budget_needs_hardware():
    with pytest.raises(ValueError):
        Worker(level=2, workspace_budget_bytes=4096, **SIM)
    Worker(level=2, platform="a2a3", runtime=SIM["runtime"], workspace_budget_bytes=4096).close()


@pytest.mark.parametrize("args, kwargs", [((), {}), (("2",), {}), ((2,), {"level": 2}), ((2, 3), {}), ((2.0,), {})])
def test_a_worker_needs_one_level(args, kwargs):
    with pytest.raises(TypeError):
        Worker(*args, **kwargs)


@pytest.mark.parametrize("token, error", [(True, TypeError), ("1", TypeError), (0, ValueError), (-1, ValueError),
                                          (2**64, ValueError), (7, ValueError)])
def test_49_a_simulator_has_no_context_to_borrow(token, error):
    worker = Worker(level=2, **SIM)
    with pytest.raises(error):
        worker.init(borrowed_context_generation=token)
    assert worker.state == "NEW"
    worker.init()
    worker.close()


def test_methods_of_other_levels_name_the_level_they_need(chip):
    with pytest.raises(TypeError, match="level >= 3"):
        chip.alloc_child_tensor(0, (4,), 0)
    for name in ("add_worker", "add_remote_worker", "remote_malloc", "remote_free", "remote_copy_to",
                 "remote_copy_from", "remote_export", "remote_import", "remote_release_import"):
        with pytest.raises(RuntimeError, match=f"{name}.* level >= 4"):
            getattr(chip, name)()
    assert chip.live_domains() == {} and chip.level == 2


def test_8_close_does_not_wait_for_more_than_its_budget_and_can_be_repeated(programs):
    chip = Chip(programs)
    x, gate = chip.floats([0]), chip.malloc(4)
    address = gate.base
    run = chip.submit(chip.handle("gated"), arguments(x, (gate, 0)))
    with pytest.raises(TimeoutError):
        chip.worker.close()
    assert not run.done
    open_gate(gate)
    run.wait()
    chip.worker.close()
    assert address and run.done


def test_close_waits_for_runs_that_nobody_waits_for(programs):
    chip = Chip(programs)
    handle, x = chip.handle("count"), chip.floats([0])
    for _ in range(20):
        chip.submit(handle, arguments(x, scalars=(1,)))
    assert chip.read(x) == [20]
    run = chip.submit(handle, arguments(x, scalars=(1000,)))
    chip.worker.close()
    assert run.done
    run.wait()


def test_close_from_two_threads_ends_in_both(programs):
    chip = Chip(programs)
    threads = [threading.Thread(target=chip.worker.close) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert chip.worker.state == "CLOSED"


def test_11_sixty_four_different_callables_fit(programs, chip):
    def different(i):
        return ChipCallable.build(signature=[INOUT], func_name="fatal", config_name="aicpu_orchestration_config",
                                  binary=programs.binary, children=[(i, programs.kernels[1][1])])

    handles = [chip.register(different(i)) for i in range(64)]
    assert len({handle.hashid for handle in handles}) == 64
    with pytest.raises(RuntimeError, match="capacity"):
        chip.register(different(64))
    chip.unregister(handles[2])
    with pytest.raises(RuntimeError, match="told to fail"):
        chip.run(chip.register(different(64)), arguments(chip.floats([0])))


def test_12_handles_belong_to_one_worker_and_one_registration(programs, chip):
    other = Chip(programs)
    handle = chip.handle("count")
    with pytest.raises(KeyError):
        other.run(handle)
    with pytest.raises(KeyError):
        other.unregister(handle)
    other.worker.close()
    for use in (chip.run, chip.submit, chip.unregister):
        with pytest.raises((KeyError, TypeError, RuntimeError)):
            use(CallableHandle())
    chip.unregister(handle)
    with pytest.raises(KeyError):
        chip.unregister(handle)
    with pytest.raises(KeyError):
        chip.run(handle)
    with pytest.raises(TypeError):
        chip.unregister(0)


def test_13_level_two_registers_chip_callables_only(chip, programs):
    for target in (lambda: 0, "module:name", programs.kernels[0][1], None):
        with pytest.raises(TypeError, match="ChipCallable"):
            chip.register(target)
    with pytest.raises(TypeError, match="workers="):
        chip.register(programs.build("count"), workers=[0])


def test_a_missing_symbol_is_refused_and_the_worker_goes_on(chip, programs):
    missing = ChipCallable.build(signature=[INOUT], func_name="no_such_function", binary=programs.binary,
                                 children=programs.kernels)
    with pytest.raises(RuntimeError, match="no_such_function"):
        chip.register(missing)
    garbage = ChipCallable.build(signature=[INOUT], func_name="f", binary=b"not an object" * 10)
    with pytest.raises(RuntimeError):
        chip.register(garbage)
    x = chip.floats([0])
    chip.run(chip.handle("count"), arguments(x, scalars=(1,)))
    assert chip.read(x) == [1]


TILES = """
#include <pto/pto-inst.hpp>

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
	(void)args;
}
"""


@pytest.mark.parametrize("other, here", [("a5sim", "a2a3sim"), ("a2a3sim", "a5sim")])
def test_a_kernel_of_the_other_architecture_is_refused(tmp_path, other, here):
    source = tmp_path / "tiles.cpp"
    source.write_text(TILES)

    def callable_of(platform):
        kernel = KernelCompiler(platform).compile_incore(str(source), "aiv")
        return ChipCallable.build(signature=[INOUT, SCALAR], func_name="count", binary=programs_of(here).binary,
                                  children=[(0, CoreCallable.build(signature=[INOUT], binary=kernel))])
    chip = Chip(programs_of(here))
    with pytest.raises(RuntimeError, match=f"kernel 0: the kernel was compiled for {other[:-3]}"):
        chip.register(callable_of(other))
    chip.register(callable_of(here))
    chip.close()


def test_a_worker_that_is_dropped_open_is_closed_with_a_warning(programs):
    chip = Chip(programs)
    run = chip.submit(chip.handle("count"), arguments(chip.floats([0]), scalars=(10,)))
    name = chip.create_buffer(64).shm.name
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResourceWarning)
        del run, chip
        gc.collect()
    assert [w.category for w in caught] == [ResourceWarning]
    assert not os.path.exists("/dev/shm/" + name)


def test_a_view_keeps_an_open_worker(programs):
    chip = Chip(programs)
    view = chip.create_buffer(64).shm.buf
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResourceWarning)
        del chip
        gc.collect()
        assert not caught
        view[0] = 1
        del view
        gc.collect()
    assert len(caught) == 1


def test_a_worker_in_a_reference_cycle_is_collected(programs):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResourceWarning)
        worker = Worker(level=2, me=[], **SIM)
        worker.myself = worker
        worker.init()
        handle = worker.register(programs.build("fatal"))
        worker.buffer = worker.create_buffer(64)
        worker.run_handle = worker.submit(handle, arguments(worker.malloc(4)))
        del worker
        gc.collect()
    assert len(caught) == 1


def test_a_run_handle_keeps_its_worker(programs):
    chip = Chip(programs)
    run = chip.submit(chip.handle("count"), arguments(chip.floats([0]), scalars=(1,)))
    worker = chip.worker
    del chip
    gc.collect()
    assert worker.state == "READY"
    run.wait()
    worker.close()


def test_subclasses_may_take_the_keywords():
    class Mine(Worker):
        def __init__(self, level, **config):
            super().__init__(level, **config)
            self.extra = 1

    with Mine(2, **SIM) as worker:
        worker.init()
        assert worker.extra == 1


def test_the_child_of_a_fork_is_refused_and_exits_without_closing(programs):
    chip = Chip(programs)
    handle, x = chip.handle("count"), chip.floats([0])
    chip.run(handle, arguments(x, scalars=(1,)))
    pid = os.fork()
    if not pid:
        refused = 0
        for use in (lambda: chip.run(handle), lambda: chip.malloc(4), chip.close, lambda: chip.device_location):
            try:
                use()
            except RuntimeError as error:
                refused += "parent process" in str(error)
        del chip
        gc.collect()
        os._exit(refused)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 4
    chip.run(handle, arguments(x, scalars=(1,)))
    assert chip.read(x) == [2]
    chip.worker.close()


def test_an_open_worker_at_interpreter_exit_is_no_error():
    done = subprocess.run([sys.executable, "-c", f"""
from simpler import Worker
w = Worker(level=2, **{SIM!r})
w.init()
b = w.create_buffer(64)
v = b.shm.buf
"""], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_loggers_own_level_reaches_the_library():
    code = f"""
import logging, simpler
assert simpler.get_current_config() == 25
simpler.get_logger().setLevel(35)
with simpler.Worker(level=2, **{SIM!r}) as w:
    w.init()
assert simpler.get_current_config() == 40
"""
    env = {k: v for k, v in os.environ.items() if k != "SIMPLER_LOG_LEVEL"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr


def test_context_refusals_are_an_exception_class_of_their_own():
    assert ExecutionContextRefused.__mro__[1] is RuntimeError
