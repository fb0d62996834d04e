# SPDX-License-Identifier: MIT
"""Spans of the application (worker-api 17, case 59)."""
import asyncio
import os
import re
import subprocess
import sys

import pytest
from simpler import trace
from simpler._task_interface import log_set_threshold, log_threshold

RECORD = re.compile(r"\[TIMING\] emit_host_span: .*\[STRACE\] v=1 pid=(\d+) tid=(\d+) inv=0 hid=0 depth=0 "
                    r"name=(\S+) ts=(\d+) dur=(\d+)(?: (.*))?$")


@pytest.fixture(autouse=True)
def timing():
    before = log_threshold()
    log_set_threshold(25)
    yield
    log_set_threshold(before)


@pytest.fixture
def records(capfd):
    """What was emitted since, as (name, attributes)."""
    def read():
        return [RECORD.search(line).group(3, 6) for line in capfd.readouterr().err.splitlines() if "[STRACE]" in line]
    return read


def test_59_a_span_is_one_line_with_encoded_name_and_attributes(capfd):
    with trace.span("a b", k=1):
        pass
    match = RECORD.search(capfd.readouterr().err.strip())
    assert match and int(match[1]) == os.getpid() and int(match[5]) >= 0
    assert (match[3], match[6]) == ("ext.app.a%20b", "k=1")


def test_59_a_closed_gate_lets_nothing_through(records):
    log_set_threshold(30)
    assert not trace.enabled()
    with trace.span("x"):
        pass
    assert records() == []
    log_set_threshold(25)
    assert trace.enabled() and trace.producer("p").enabled()


def test_59_a_raising_body_emits_and_raises(records):
    with pytest.raises(KeyError):
        with trace.span("x"):
            raise KeyError
    assert records() == [("ext.app.x", None)]


@pytest.mark.parametrize("name", ["a.b", "", "a b", None, 1])
def test_59_producers_have_plain_names(name):
    with pytest.raises(ValueError):
        trace.producer(name)


def test_59_a_span_needs_a_name_even_when_nothing_is_emitted():
    log_set_threshold(60)
    for name in ("", None):
        with pytest.raises(ValueError):
            trace.span(name)


def test_a_producer_has_its_own_prefix(records):
    with trace.producer("my-lib_2").span("load", file="x=y [1]", size=3):
        pass
    assert records() == [("ext.my-lib_2.load", "file=x=y%20%5B1%5D size=3")]


def test_a_decorated_function_is_timed_at_every_call(records):
    @trace.span("f")
    def f(n):
        """doc"""
        return n if n == 0 else f(n - 1)

    assert f(2) == 0 and f.__doc__ == "doc"
    assert len(records()) == 3


def test_the_gate_of_a_decorated_function_is_read_at_each_call(records):
    log_set_threshold(30)

    @trace.span("f")
    def f():
        pass

    f()
    log_set_threshold(25)
    f()
    assert len(records()) == 1


def test_a_coroutine_function_times_its_body(records):
    @trace.span("f")
    async def f():
        await asyncio.sleep(0)
        return 7

    call = f()
    assert records() == []
    assert asyncio.run(call) == 7
    assert records() == [("ext.app.f", None)]


def test_long_names_and_attributes_are_cut_without_splitting_an_escape(records):
    with trace.span("ü" * 40, text="[" * 200):
        pass
    ((name, attributes),) = records()
    assert len(name) <= 64 and re.fullmatch(r"ext\.app\.(%C3%BC|%C3)+~", name)
    assert len(attributes) <= 192 and re.fullmatch(r"text=(%5B)+~", attributes)


def test_spans_need_no_worker():
    done = subprocess.run([sys.executable, "-c", "from simpler import trace\nwith trace.span('x', k='v'): pass"],
                          capture_output=True, text=True, env={**os.environ, "SIMPLER_LOG_LEVEL": "timing"})
    assert done.returncode == 0 and RECORD.search(done.stderr.strip())
