# SPDX-License-Identifier: MIT
"""Signals end waits promptly, and what was waited for stays usable (decisions D33). Each case is its own process."""
import os
import select
import signal
import subprocess
import sys
import time

import pytest

import pypto
from conftest import programs_of

HEADER = """
import ctypes, os, signal, sys, threading
sys.path.insert(0, {folder!r})
from conftest import Chip, arguments, open_gate, programs_of
chip = Chip(programs_of("a2a3sim"))
x, gate = chip.floats([0]), chip.malloc(4)
gated, endless, count = chip.handle("gated"), chip.handle("endless"), chip.handle("count")

def ready():
    print("ready", flush=True)

def expect_interrupt(call, tell=ready):
    try:
        tell()
        call()
    except KeyboardInterrupt:
        return
    sys.exit("not interrupted")
"""


def blocked(pid):
    """Whether the main thread of a process sleeps, as far as one look can tell."""
    with open(f"/proc/{pid}/task/{pid}/stat") as f:
        return f.read().rpartition(")")[2].split()[0] == "S"


def wait_until_blocked(pid):
    looks = 0
    while looks < 5:
        looks = looks + 1 if blocked(pid) else 0
        time.sleep(0.001)


def interrupt(body, sig=signal.SIGINT, env=None):
    """Runs @body, sends @sig when it has printed "ready" and blocks, and returns its exit status and output."""
    code = HEADER.format(folder=os.path.dirname(os.path.abspath(__file__))) + body
    output = []
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, **(env or {})}) as child:
        for line in child.stdout:
            output.append(line.strip())
            if line.startswith("ready"):
                wait_until_blocked(child.pid)
            if line.startswith(("ready", "now")):
                child.send_signal(sig)
        errors = child.stderr.read()
    return child.returncode, output, errors


@pytest.fixture(autouse=True, scope="module")
def compiled():
    programs_of("a2a3sim")


def test_wait_for_a_run_is_interrupted_and_can_be_repeated():
    status, output, errors = interrupt("""
run = chip.submit(gated, arguments(x, (gate, 0)))
expect_interrupt(run.wait)
assert not run.done
open_gate(gate)
run.wait()
assert run.done and chip.read(x) == [1]
chip.worker.close()
print("end")
""")
    assert (status, output[-1:]) == (0, ["end"]), errors


def test_run_of_an_endless_kernel_is_interrupted_and_the_worker_can_be_closed():
    status, output, errors = interrupt("""
expect_interrupt(lambda: chip.run(endless, arguments(x)))
try:
    chip.worker.close()
except (RuntimeError, TimeoutError) as error:
    print(type(error).__name__)
print("end", chip.worker.state)
""", env={"SIMPLER_SCHEDULER_TIMEOUT_MS": "2000"})
    assert (status, output[-1:]) == (0, ["end CLOSED"]), errors


def test_result_with_a_timeout_is_interrupted():
    status, output, errors = interrupt("""
run = chip.submit(gated, arguments(x, (gate, 0)))
expect_interrupt(lambda: run.result(timeout=1000))
open_gate(gate)
run.result(timeout=1000)
chip.worker.close()
print("end")
""")
    assert (status, output[-1:]) == (0, ["end"]), errors


def test_a_submit_that_waits_for_a_place_is_interrupted_and_leaves_no_trace():
    status, output, errors = interrupt("""
runs = [chip.submit(gated, arguments(x, (gate, 0))) for _ in range(2)]
expect_interrupt(lambda: chip.submit(count, arguments(x, scalars=(100,))))
open_gate(gate)
for run in runs:
    run.wait()
assert chip.read(x) == [2]
chip.worker.close()
print("end")
""")
    assert (status, output[-1:]) == (0, ["end"]), errors


def test_a_copy_that_waits_for_a_run_is_interrupted_and_can_be_repeated():
    status, output, errors = interrupt("""
run = chip.submit(gated, arguments(x, (gate, 0)))
expect_interrupt(lambda: chip.copy_to(x, bytes(4)))
assert not run.done
open_gate(gate)
chip.copy_to(x, bytes(4))
assert run.done and chip.read(x) == [0]
chip.worker.close()
print("end")
""")
    assert (status, output[-1:]) == (0, ["end"]), errors


def test_a_registration_that_waits_for_a_run_is_interrupted_and_can_be_repeated():
    status, output, errors = interrupt("""
program = chip.programs.build("vector_add")
run = chip.submit(gated, arguments(x, (gate, 0)))
expect_interrupt(lambda: chip.worker.register(program))
assert not run.done
open_gate(gate)
chip.worker.register(program)
run.wait()
chip.worker.close()
print("end")
""")
    assert (status, output[-1:]) == (0, ["end"]), errors


def test_close_is_interrupted_and_can_be_repeated():
    status, output, errors = interrupt("""
run = chip.submit(gated, arguments(x, (gate, 0)))
expect_interrupt(chip.worker.close)
assert not run.done
open_gate(gate)
chip.worker.close()
assert run.done
print("end")
""")
    assert (status, output[-1:]) == (0, ["end"]), errors


def test_a_handler_that_returns_does_not_end_the_wait():
    status, output, errors = interrupt("""
calls = []

def handler(number, frame):
    calls.append(number)
    open_gate(gate)

signal.signal(signal.SIGUSR1, handler)
run = chip.submit(gated, arguments(x, (gate, 0)))
ready()
run.wait()
assert calls == [signal.SIGUSR1] and chip.read(x) == [1]
chip.worker.close()
print("end")
""", sig=signal.SIGUSR1)
    assert (status, output[-1:]) == (0, ["end"]), errors


def test_a_handler_that_returns_does_not_end_run():
    status, output, errors = interrupt("""
signal.signal(signal.SIGUSR1, lambda number, frame: open_gate(gate))
ready()
chip.run(gated, arguments(x, (gate, 0)))
assert chip.read(x) == [1]
chip.worker.close()
print("end")
""", sig=signal.SIGUSR1)
    assert (status, output[-1:]) == (0, ["end"]), errors


def test_a_long_run_that_the_caller_executes_is_interrupted_between_tasks():
    status, output, errors = interrupt("""
count = chip.handle("count_in_scopes")
for _ in range(3):  # short: from here on the caller executes it
    chip.run(count, arguments(x, scalars=(1,)))

def tell_when_it_counts():
    while ctypes.c_float.from_address(x.base).value < 1000:
        pass
    print("now", flush=True)

threading.Thread(target=tell_when_it_counts).start()
expect_interrupt(lambda: chip.run(count, arguments(x, scalars=(10**9,))), tell=lambda: None)
print("end", flush=True)
os._exit(0)
""")
    assert (status, output[-1:]) == (0, ["end"]), errors


def test_other_threads_are_not_interrupted():
    status, output, errors = interrupt("""
run = chip.submit(gated, arguments(x, (gate, 0)))
thread = threading.Thread(target=run.wait)
thread.start()
expect_interrupt(threading.Event().wait)
assert thread.is_alive()
open_gate(gate)
thread.join()
assert run.done
chip.worker.close()
print("end")
""")
    assert (status, output[-1:]) == (0, ["end"]), errors


COMPILE = """
import os, sys
sys.path.insert(0, {package!r})
os.environ["SIMPLER_CACHE_DIR"] = {cache!r}
import pypto.language as pl
from pypto import runtime
program = pl.loads({program!r})
try:
    runtime.compile(program)
except KeyboardInterrupt:
    sys.exit(77)
"""

PROGRAM = """
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
        y = pl.store(pl.load(x, [0, 0], [16, 16]), [0, 0], [16, 16], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        self.k(x, y)
"""


def test_an_interrupt_ends_compilers_with_what_they_started(tmp_path):
    """The signal goes to Python alone; the compiler, a shell that waits for a child, would go on for ever."""
    compiler, fifo, program, objects = (tmp_path / n for n in ("c++", "started", "program.py", "cache"))
    os.mkfifo(fifo)
    started = os.open(fifo, os.O_RDWR)
    compiler.write_text(f'#!/bin/sh\n[ "$1" = --version ] && exec echo fake\nsleep 1000 &\necho $! > {fifo}\nwait\n')
    compiler.chmod(0o755)
    program.write_text(PROGRAM)
    script = COMPILE.format(package=os.path.dirname(os.path.dirname(pypto.__file__)), cache=str(objects), program=str(program))
    with subprocess.Popen([sys.executable, "-c", script], env={**os.environ, "CXX": str(compiler), "TMPDIR": str(tmp_path)}) as child:
        assert select.select([started], [], [], 60)[0]
        sleeper = os.pidfd_open(int(os.read(started, 4096).split()[0]))
        child.send_signal(signal.SIGINT)
        assert child.wait(60) == 77
    assert select.select([sleeper], [], [], 60)[0]  # it has ended
    os.close(sleeper)
    os.close(started)
    assert not [p for p in os.listdir(tmp_path) if p.startswith("simpler-")]
    assert not [f for _, _, files in os.walk(objects) for f in files if f.endswith(".so")]
