# SPDX-License-Identifier: MIT
"""From C++ sources to the objects that CoreCallable.build() and ChipCallable.build() take."""
import functools
import os
import platform as host
import shlex
import signal
import subprocess
import tempfile
import threading

from .kernel_cache import KernelCache, default_folder, read_dependencies
from .platform_name import parse_platform

# Both have the same headers; a Worker of this build runs tensormap_and_ringbuffer only.
RUNTIMES = ("tensormap_and_ringbuffer", "host_build_graph")
_NPU_ARCH = {"a2a3": 2201, "a5": 3510}
_CORE_MACRO = {"aiv": "__DAV_VEC__", "aic": "__DAV_CUBE__"}
_MARK = "pto_orchestration_api.h"
# All symbols are found by name, so they stay visible; none of them may bind outside the object.
# -g1: lines and functions for back traces; the rest is a fifth of the time.
_COMMON = ["-shared", "-fPIC", "-O2", "-g1", "-fvisibility-inlines-hidden", "-Wl,-Bsymbolic", "-Wl,-z,defs",
           "-Wl,--build-id=sha1"]


@functools.lru_cache(maxsize=None)
def device_include_dir():
    """Folder of the headers for kernels and orchestrations: SIMPLER_DEVICE_INCLUDE, or beside this package."""
    chosen = os.environ.get("SIMPLER_DEVICE_INCLUDE")
    folder = os.path.dirname(os.path.abspath(__file__))
    tried = [chosen] if chosen else []
    while not chosen and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
        tried.append(os.path.join(folder, "include", "simpler", "device"))
    for path in tried:
        if os.path.exists(os.path.join(path, _MARK)):
            return path
    raise OSError(f"the headers for device code were not found in {', '.join(tried)}; install libsimpler or set "
                  "SIMPLER_DEVICE_INCLUDE")


def ensure_pto_isa_root(verbose=False):
    """Folder of the tile instruction headers (pto/pto-inst.hpp). They come with libsimpler; nothing is fetched."""
    root = device_include_dir()
    if not os.path.exists(os.path.join(root, "pto", "pto-inst.hpp")):
        raise OSError(f"{root} has no pto/pto-inst.hpp; reinstall libsimpler")
    if verbose:
        print(f"tile instruction headers: {root}")
    return root


@functools.lru_cache(maxsize=None)
def _kernel_march():
    """Kernels run on this machine: use its vector instructions."""
    try:
        with open("/proc/cpuinfo") as f:
            flags = set(next((line for line in f if line.startswith("flags")), "").split())
    except OSError:
        flags = set()
    return ["-march=x86-64-v3"] if host.machine() == "x86_64" and {"avx2", "fma"} <= flags else []


@functools.lru_cache(maxsize=None)
def _version(cxx):
    origin = "CXX" if os.environ.get("CXX") else "CXX is not set"
    try:
        return subprocess.run([*cxx, "--version"], check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise RuntimeError(f"the C++ compiler {shlex.join(cxx)!r} ({origin}) cannot be run: {error}; install it, or name "
                           "another in CXX") from error


class KernelCompiler:
    """Compiles device code for one platform, with CXX or g++; in any number of threads."""

    def __init__(self, platform):
        self.platform = platform
        self.arch, self.variant = parse_platform(platform)
        if self.variant == "onboard":
            raise OSError(f"platform {platform} needs the chip vendor's compiler (ASCEND_HOME_PATH), which this build "
                          f"does not drive; use {platform}sim")
        self._cxx = tuple(shlex.split(os.environ.get("CXX") or "g++"))
        self._running, self._stopped, self._lock = set(), False, threading.Lock()

    def stop(self):
        """End what is being compiled, with RuntimeErrors where it is waited for; nothing can be compiled afterwards."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                _kill(process)

    def compile_incore(self, source_path, core_type="aiv", pto_isa_root=None, extra_include_dirs=None,
                       build_dir=None):
        """Object of a kernel for a vector ("aiv") or cube ("aic") core, as bytes."""
        if core_type not in _CORE_MACRO:
            raise ValueError(f"core_type must be 'aiv' or 'aic', not {core_type!r}")
        flags = ["-std=gnu++20", *_kernel_march(), "-D__CPU_SIM", f"-D{_CORE_MACRO[core_type]}"]
        roots = [pto_isa_root, os.path.join(pto_isa_root, "include")] if pto_isa_root else []
        return self._compile(source_path, flags, [*(extra_include_dirs or ()), device_include_dir(), *roots], build_dir)

    def compile_orchestration(self, runtime_name, source_path, extra_include_dirs=None, build_dir=None):
        """Object of an orchestration, as bytes."""
        folders = [*(extra_include_dirs or ()), *self.get_orchestration_include_dirs(runtime_name)]
        return self._compile(source_path, ["-std=gnu++17"], folders, build_dir)

    def get_orchestration_include_dirs(self, runtime):
        """Folders in which an orchestration for this runtime finds its headers."""
        if runtime not in RUNTIMES:
            raise ValueError(f"unknown runtime {runtime!r}; known: {', '.join(RUNTIMES)}")
        return [device_include_dir()]

    def _compile(self, source_path, flags, include_dirs, build_dir):
        source = os.path.abspath(os.fspath(source_path))
        if not os.path.isfile(source):
            raise FileNotFoundError(f"{source}: no such source file")
        version = _version(self._cxx)
        unique = [] if "clang" in version else ["-fno-gnu-unique"]
        command = [*self._cxx, *_COMMON, *unique, *flags, f"-D__NPU_ARCH__={_NPU_ARCH[self.arch]}",
                   *(f"-I{os.path.abspath(os.fspath(path))}" for path in include_dirs), source]
        if not default_folder():
            return self._build(command, build_dir)[0]
        cache = KernelCache(default_folder())
        key = cache.key(command, version)
        data = cache.get(key)
        if data is None:
            data, files = self._build(command, build_dir)
            cache.put(key, data, files)
        return data

    def _build(self, command, build_dir):
        """The object, and the files it was made of."""
        if build_dir:
            os.makedirs(build_dir, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="simpler-", dir=build_dir) as folder:
            output, rule = os.path.join(folder, "object.so"), os.path.join(folder, "rule")
            self._run([*command, "-MMD", "-MF", rule, "-o", output])
            with open(output, "rb") as f, open(rule) as r:
                return f.read(), read_dependencies(r.read())

    def _start(self, command):
        """The compiler in a session of its own: with it end the processes that it starts."""
        with self._lock:
            if self._stopped:
                raise RuntimeError(f"{command[0]} was not started: the compiler is stopped")
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                                       start_new_session=True)
            self._running.add(process)
            return process

    def _run(self, command):
        process = self._start(command)
        try:
            _, text = process.communicate()
        except BaseException:
            _kill(process)
            process.communicate()
            raise
        finally:
            with self._lock:
                self._running.discard(process)
        if process.returncode:
            raise RuntimeError(f"{command[0]} ended with exit code {process.returncode}\n{text}command: {shlex.join(command)}")


def _kill(process):
    """With all that it started; it is not waited for yet, so that its number is still its own."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
