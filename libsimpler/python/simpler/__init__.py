# SPDX-License-Identifier: MIT
"""simpler: task graphs of tile kernels on an NPU, or on a simulated chip in this process.

All names resolve on first use, so that importing the package is cheap and works without the extension module.
"""
import importlib

from ._log import DEFAULT_THRESHOLD, NUL, TIMING, get_current_config, get_logger

_LAZY = {
    "Worker": ("simpler.worker", "Worker"),
    "trace": ("simpler.trace", None),
    "task_interface": ("simpler.task_interface", None),
    "buffer": ("simpler.buffer", None),
    "worker": ("simpler.worker", None),
}

__all__ = ["DEFAULT_THRESHOLD", "NUL", "TIMING", "get_current_config", "get_logger", *_LAZY]


def __getattr__(name):
    if name not in _LAZY:
        raise AttributeError(f"module 'simpler' has no attribute {name!r}")
    module, attribute = _LAZY[name]
    value = importlib.import_module(module)
    if attribute:
        value = getattr(value, attribute)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})
