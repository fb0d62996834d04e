# SPDX-License-Identifier: MIT
"""scripts/kunit-run: what a kernel's log is turned into."""
import importlib.machinery
import importlib.util
import io
import os

SCRIPT = os.path.join(os.path.dirname(__file__), "..", "..", "scripts", "kunit-run")
spec = importlib.util.spec_from_loader("kunit_run", importlib.machinery.SourceFileLoader("kunit_run", SCRIPT))
kunit_run = importlib.util.module_from_spec(spec)
spec.loader.exec_module(kunit_run)

START = """Linux version 6.12
WARNING: CPU: 0 of the boot, which is not ours
KTAP version 1
1..1
    KTAP version 1
    # Subtest: simpler_bo
    # module: simpler_kunit
    1..2
"""
END = """# simpler_bo: pass:2 fail:0 skip:0 total:2
ok 1 simpler_bo
reboot: System halted
"""


def judged(log, status=0):
    """Outcomes by test, all of the output, and the exit code."""
    out = io.StringIO()
    reader = kunit_run.Log(out)
    for line in log.splitlines():
        reader.line(kunit_run.strip_stamp(line))
    code = reader.close(status)
    events = [line[2:].split(" ] ") for line in out.getvalue().splitlines() if line.startswith("[ ")]
    return {name: kind.strip() for kind, name in events if kind.strip() != "RUN"}, out.getvalue(), code


def test_cases_are_told_with_their_suite():
    outcome, _, code = judged(START + "    ok 1 a\n    ok 2 b\n" + END)
    assert outcome == {"simpler_bo.a": "OK", "simpler_bo.b": "OK"}
    assert code == 0


def test_failures_and_skips_are_told_apart():
    log = START + "    # a: EXPECTATION FAILED at x.c:1\n    not ok 1 a\n    ok 2 b # SKIP no\n" + END
    outcome, out, code = judged(log)
    assert outcome == {"simpler_bo.a": "FAILED", "simpler_bo.b": "SKIPPED"}
    assert "x.c:1" in out
    assert code == 1


def test_a_warning_fails_the_test_in_whose_window_it_is():
    for line in ("WARNING: CPU: 0 PID: 1 at x.c:1", "BUG: KASAN: slab-use-after-free in x",
                 "UBSAN: shift-out-of-bounds", "WARNING: possible circular locking dependency detected",
                 "INFO: task x:1 blocked", "Call Trace:",
                 "kmemleak: 1 new suspected memory leaks", "BUG: sleeping function called from invalid context"):
        outcome, out, code = judged(START + f"    ok 1 a\n{line}\n    ok 2 b\n" + END)
        assert outcome == {"simpler_bo.a": "OK", "simpler_bo.b": "FAILED"}, line
        assert line in out
        assert code == 1


def test_a_kernel_that_dies_in_a_suite_fails():
    outcome, out, code = judged(START + "    ok 1 a\nKernel panic - not syncing: x\n", 1)
    assert outcome == {"simpler_bo.a": "OK", "simpler_bo: did not end": "FAILED"}
    assert "not syncing" in out
    assert code == 1


def test_a_suite_that_did_not_come_fails():
    outcome, _, code = judged(START.replace("1..1", "1..2") + "    ok 1 a\n    ok 2 b\nok 1 simpler_bo\n", 1)
    assert outcome["1 of 2 suites"] == "FAILED"
    assert code == 1


def test_a_log_without_tests_fails():
    assert judged("Linux version 6.12\nKernel panic - not syncing: no root\n", 1)[2] == 1
    assert judged("", None)[2] == 1


def test_a_kernel_that_stopped_checking_locks_fails():
    log = START.replace("Linux version 6.12", "Disabling lock debugging due to kernel taint")
    assert judged(log + "    ok 1 a\n    ok 2 b\n" + END)[2] == 1


def test_time_stamps_are_taken_off():
    outcome, _, _ = judged(START + "<6>[    1.500000]     ok 1 a\n[   12.000000]     ok 2 b\n" + END)
    assert outcome == {"simpler_bo.a": "OK", "simpler_bo.b": "OK"}
