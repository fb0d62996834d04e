# SPDX-License-Identifier: MIT
"""Compilation of kernels and orchestrations, and conversions for tests and scripts. All names resolve on first use."""
import importlib

_LAZY = {
    "KernelCompiler": "kernel_compiler",
    "ensure_pto_isa_root": "kernel_compiler",
    "parse_platform": "platform_name",
    "torch_dtype_to_datatype": "torch_interop",
    "make_chip_tensor_arg": "torch_interop",
}

__all__ = list(_LAZY)


def __getattr__(name):
    if name not in _LAZY:
        raise AttributeError(f"module 'simpler_setup' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"simpler_setup.{_LAZY[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})
