# SPDX-License-Identifier: MIT
"""Spans of your own on the host timeline: same clock, log and gate as the runtime's (worker-api 17).

    with trace.span("my_phase", batch=16):
        ...
"""
import functools
import inspect
import os
import re
import threading
import time

from ._log import TIMING
from ._task_interface import log_threshold, log_write

__all__ = ["Producer", "enabled", "producer", "span"]

NAME_MAX, ATTRIBUTES_MAX = 64, 192
_KEPT = re.compile(r"%[0-9A-F]{2}|.", re.S)


def enabled():
    """Whether spans are being emitted right now."""
    return log_threshold() <= TIMING


def _encode(text, also):
    """Percent-encodes what would break a record."""
    return "".join(chr(b) if 32 <= b < 127 and chr(b) not in "%[]" + also else f"%{b:02X}" for b in text.encode())


def _cut(text, limit):
    """At most limit characters; a shortened text ends in "~" and keeps its escapes whole."""
    if len(text) <= limit:
        return text
    result = ""
    for part in _KEPT.findall(text):
        if len(result) + len(part) >= limit:
            break
        result += part
    return result + "~"


def _emit(name, attributes, begin):
    duration = time.monotonic_ns() - begin
    pairs = " ".join(f"{_encode(str(k), ' =')}={_encode(str(v), ' ')}" for k, v in attributes.items())
    record = (f"[STRACE] v=1 pid={os.getpid()} tid={threading.get_native_id()} inv=0 hid=0 depth=0 "
              f"name={_cut(_encode(name, ' ='), NAME_MAX)} ts={begin} dur={duration}")
    log_write(TIMING, "emit_host_span", "trace.py", 0, f"{record} {_cut(pairs, ATTRIBUTES_MAX)}".rstrip())


class _Span:
    """One scope as a with block, or every call of a decorated function."""

    def __init__(self, name, attributes):
        self._name, self._attributes, self._begin = name, attributes, None

    def __enter__(self):
        self._begin = time.monotonic_ns() if enabled() else None
        return self

    def __exit__(self, *_):
        if self._begin is not None:
            _emit(self._name, self._attributes, self._begin)
        return False

    def __call__(self, function):
        if inspect.iscoroutinefunction(function):
            @functools.wraps(function)
            async def wrapper(*args, **kwargs):
                with _Span(self._name, self._attributes):
                    return await function(*args, **kwargs)
        else:
            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                with _Span(self._name, self._attributes):
                    return function(*args, **kwargs)
        return wrapper


class Producer:
    """Spans under the name ext.<producer>."""

    def __init__(self, name):
        if not isinstance(name, str) or not re.fullmatch("[A-Za-z0-9_-]+", name):
            raise ValueError(f"a producer is named by letters, digits, '_' and '-', not {name!r}")
        self.name = name

    def span(self, name, /, **attributes):
        """A timed region. Emits even when the block raises, and does not swallow the exception."""
        if not isinstance(name, str) or not name:
            raise ValueError(f"a span needs a name, not {name!r}")
        return _Span(f"ext.{self.name}.{name}", attributes)

    def enabled(self):
        return enabled()


def producer(name):
    """Spans under a name of a library's own instead of "app"."""
    return Producer(name)


span = Producer("app").span
