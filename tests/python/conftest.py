# SPDX-License-Identifier: MIT
"""Workers on the simulated chips, and callables compiled from device/."""
import ctypes
import os

import pytest

os.environ.setdefault("SIMPLER_CACHE_DIR",
                      os.path.join(os.environ.get("SIMPLER_BUILD_DIR", "build"), "cache", "kernels"))
os.environ.setdefault("SIMPLER_SCHEDULER_TIMEOUT_MS", "60000")  # endless kernels are ended by what is tested

from simpler import Worker  # noqa: E402
from simpler.task_interface import (ArgDirection, ChipCallable, CoreCallable, DataType, TaskArgs, Tensor,  # noqa: E402
                                    TensorArgType)
from simpler_setup import KernelCompiler, ensure_pto_isa_root  # noqa: E402

DEVICE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "device")
KERNELS = ("add", "add_one", "endless", "gate", "crash")
RUNTIME = "tensormap_and_ringbuffer"
IN, OUT, INOUT, SCALAR = ArgDirection.IN, ArgDirection.OUT, ArgDirection.INOUT, ArgDirection.SCALAR
SIGNATURES = {
    "vector_add": [IN, IN, OUT],
    "count": [INOUT, SCALAR],
    "count_in_scopes": [INOUT, SCALAR],
    "endless": [INOUT],
    "crash": [INOUT],
    "gated": [INOUT, IN],
    "fatal": [INOUT],
    "scalars": [INOUT, SCALAR, SCALAR],
}


def source(name):
    return os.path.join(DEVICE, name + ".cpp")


class Programs:
    """Callables of one platform by the name of their orchestration function."""

    def __init__(self, platform):
        self.platform = platform
        compiler = KernelCompiler(platform)
        self.kernels = [
            (i, CoreCallable.build(signature=[], binary=compiler.compile_incore(source(name), "aiv",
                                                                                 ensure_pto_isa_root())))
            for i, name in enumerate(KERNELS)
        ]
        self.binary = compiler.compile_orchestration(RUNTIME, source("orchestration"))

    def build(self, name, signature=None):
        return ChipCallable.build(signature=SIGNATURES[name] if signature is None else signature, func_name=name,
                                  config_name="aicpu_orchestration_config", binary=self.binary, children=self.kernels)


class Chip:
    """A Worker with registered programs and shorthand for arguments."""

    def __init__(self, programs, **config):
        self.programs = programs
        self.worker = Worker(level=2, platform=programs.platform, runtime=RUNTIME, device_id=0, **config)
        self.worker.init()
        self.handles = {}

    def __getattr__(self, name):
        return getattr(self.worker, name)

    def handle(self, name):
        if name not in self.handles:
            self.handles[name] = self.worker.register(self.programs.build(name))
        return self.handles[name]

    def floats(self, values):
        """Device memory with these float32 values."""
        buffer = self.worker.malloc(4 * len(values))
        self.worker.copy_to(buffer, (ctypes.c_float * len(values))(*values))
        return buffer

    def read(self, buffer):
        result = (ctypes.c_float * (buffer.nbytes // 4))()
        self.worker.copy_from(result, buffer)
        return list(result)


def vector(buffer, dtype=DataType.FLOAT32):
    return Tensor(buffer, shapes=(buffer.nbytes // 4,), dtype=dtype)


def arguments(*tensors, scalars=()):
    """Arguments from buffers, all INOUT unless they are (buffer, tag)."""
    args = TaskArgs()
    for item in tensors:
        buffer, tag = item if isinstance(item, tuple) else (item, TensorArgType.INOUT)
        args.add_tensor(vector(buffer), tag)
    for value in scalars:
        args.add_scalar(value)
    return args


def open_gate(buffer):
    """The simulated chip's memory is this process's."""
    ctypes.c_uint32.from_address(buffer.base).value = 1


_programs = {}


def programs_of(platform):
    if platform not in _programs:
        _programs[platform] = Programs(platform)
    return _programs[platform]


@pytest.fixture
def programs():
    return programs_of("a2a3sim")


@pytest.fixture(params=["a2a3sim", "a5sim"])
def both(request):
    """A Worker on each platform in turn."""
    chip = Chip(programs_of(request.param))
    yield chip
    chip.worker.close()


@pytest.fixture
def chip(programs):
    chip = Chip(programs)
    yield chip
    chip.worker.close()
