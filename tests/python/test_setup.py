# SPDX-License-Identifier: MIT
"""simpler_setup: compilation, its cache, and conversions (worker-api 18)."""
import json
import os
import sys
import types

import pytest
import simpler_setup
from simpler_setup import (KernelCompiler, ensure_pto_isa_root, make_chip_tensor_arg, parse_platform,
                           torch_dtype_to_datatype)
from simpler_setup.kernel_cache import KernelCache, read_dependencies

KERNEL = '#include "tensor.h"\n#include "answer.h"\nextern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)\n' \
         '{\n\targs[0] = ANSWER;\n}\n'


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """A kernel with a header of its own, and an empty cache."""
    monkeypatch.setenv("SIMPLER_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "answer.h").write_text("#define ANSWER 42\n")
    (tmp_path / "kernel.cpp").write_text(KERNEL)
    return tmp_path / "kernel.cpp"


def compile_it(kernel, **kwargs):
    folders = [kernel.parent / "include"]
    return KernelCompiler("a2a3sim").compile_incore(str(kernel), extra_include_dirs=folders, **kwargs)


def count_compilations(monkeypatch):
    from simpler_setup import kernel_compiler

    commands, run = [], kernel_compiler.KernelCompiler._run
    monkeypatch.setattr(kernel_compiler.KernelCompiler, "_run",
                        lambda self, command: (commands.append(command), run(self, command))[1])
    return commands


@pytest.mark.parametrize("name, parts", [("a2a3", ("a2a3", "onboard")), ("a2a3sim", ("a2a3", "sim")),
                                         ("a5", ("a5", "onboard")), ("a5sim", ("a5", "sim"))])
def test_platform_names_have_two_parts(name, parts):
    assert parse_platform(name) == parts


@pytest.mark.parametrize("name", ["a4", "", "A5", None, ["a5"], "a5 sim"])
def test_unknown_platforms_are_refused(name):
    for use in (parse_platform, KernelCompiler):
        with pytest.raises(ValueError, match="unknown platform"):
            use(name)


def test_hardware_platforms_need_the_vendors_compiler():
    with pytest.raises(OSError, match="ASCEND_HOME_PATH"):
        KernelCompiler("a2a3")


def test_a_kernel_becomes_an_elf_object(kernel):
    assert compile_it(kernel)[:4] == b"\x7fELF"
    assert compile_it(kernel, core_type="aic", pto_isa_root=ensure_pto_isa_root())[:4] == b"\x7fELF"


def test_core_and_architecture_are_told_to_the_source(kernel):
    kernel.write_text('#if defined(__DAV_CUBE__) && !defined(__DAV_VEC__) && __NPU_ARCH__ == 3510 && __CPU_SIM\n'
                      'extern "C" int kernel_entry;\nint kernel_entry;\n#endif\n')
    with_symbol = KernelCompiler("a5sim").compile_incore(kernel, "aic")
    assert b"kernel_entry" in with_symbol
    assert b"kernel_entry" not in KernelCompiler("a5sim").compile_incore(kernel, "aiv")
    assert b"kernel_entry" not in KernelCompiler("a2a3sim").compile_incore(kernel, "aic")


@pytest.mark.parametrize("core_type", ["vec", "", None, "AIV"])
def test_unknown_core_types_are_refused(kernel, core_type):
    with pytest.raises(ValueError, match="core_type"):
        compile_it(kernel, core_type=core_type)


def test_a_missing_source_is_a_file_not_found_error():
    compiler = KernelCompiler("a2a3sim")
    with pytest.raises(FileNotFoundError, match="nowhere.cpp"):
        compiler.compile_incore("nowhere.cpp")
    with pytest.raises(FileNotFoundError, match="nowhere.cpp"):
        compiler.compile_orchestration("tensormap_and_ringbuffer", "nowhere.cpp")


def test_errors_of_the_compiler_are_passed_on(kernel):
    kernel.write_text("this is no kernel;\n")
    with pytest.raises(RuntimeError, match="exit code 1\n(.|\n)*kernel.cpp:1:1: error"):
        compile_it(kernel)


def test_a_kernel_that_calls_what_does_not_exist_fails_at_compile_time(kernel):
    kernel.write_text('extern "C" void missing();\nextern "C" void kernel_entry(long *) { missing(); }\n')
    with pytest.raises(RuntimeError, match="missing"):
        compile_it(kernel)


def test_a_compiler_that_cannot_be_run_is_named_with_its_variable(kernel, monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler -O3")
    with pytest.raises(RuntimeError, match="(?s)'no-such-compiler -O3' .CXX. cannot be run.*in CXX"):
        compile_it(kernel)
    monkeypatch.setenv("CXX", "false")
    with pytest.raises(RuntimeError, match="'false' .CXX. cannot be run"):
        compile_it(kernel)


def test_unknown_runtimes_are_refused(kernel):
    compiler = KernelCompiler("a2a3sim")
    for use in (lambda: compiler.get_orchestration_include_dirs("magic"),
                lambda: compiler.compile_orchestration("magic", kernel)):
        with pytest.raises(ValueError, match="magic"):
            use()


def test_orchestration_headers_are_where_the_compiler_says():
    for runtime in ("tensormap_and_ringbuffer", "host_build_graph"):
        folders = KernelCompiler("a5sim").get_orchestration_include_dirs(runtime)
        assert any(os.path.exists(os.path.join(folder, "pto_orchestration_api.h")) for folder in folders)


def test_the_instruction_headers_come_with_the_library(capsys):
    root = ensure_pto_isa_root(verbose=True)
    assert os.path.exists(os.path.join(root, "pto", "pto-inst.hpp")) and root in capsys.readouterr().out


def test_headers_elsewhere_are_named_by_the_environment(tmp_path, monkeypatch):
    from simpler_setup.kernel_compiler import device_include_dir

    device_include_dir.cache_clear()
    monkeypatch.setenv("SIMPLER_DEVICE_INCLUDE", str(tmp_path))
    try:
        with pytest.raises(OSError, match="SIMPLER_DEVICE_INCLUDE"):
            device_include_dir()
        (tmp_path / "pto_orchestration_api.h").write_text("")
        assert device_include_dir() == str(tmp_path)
        with pytest.raises(OSError, match="pto-inst.hpp"):
            ensure_pto_isa_root()
    finally:
        device_include_dir.cache_clear()


# ---- cache ----


def test_the_same_source_is_compiled_once(kernel, monkeypatch):
    commands = count_compilations(monkeypatch)
    first = compile_it(kernel)
    assert compile_it(kernel) == first and len(commands) == 1


@pytest.mark.parametrize("change", ["source", "header", "core", "manifest", "object"])
def test_what_changed_is_compiled_again(kernel, monkeypatch, change):
    commands = count_compilations(monkeypatch)
    first = compile_it(kernel)
    (entry,) = (kernel.parent / "cache").iterdir()
    if change == "source":
        kernel.write_text(KERNEL.replace("args[0]", "args[1]"))
    elif change == "header":
        (kernel.parent / "include" / "answer.h").write_text("#define ANSWER 43\n")
    elif change == "manifest":
        (entry / "manifest.json").write_text("{")
    elif change == "object":
        (entry / json.loads((entry / "manifest.json").read_text())["sha256"]).write_bytes(b"x")
    second = compile_it(kernel, core_type="aic" if change == "core" else "aiv")
    assert len(commands) == 2
    assert (second == first) == (change not in ("source", "header"))


def test_an_empty_name_switches_the_cache_off(kernel, monkeypatch):
    monkeypatch.setenv("SIMPLER_CACHE_DIR", "")
    commands = count_compilations(monkeypatch)
    compile_it(kernel)
    compile_it(kernel)
    assert len(commands) == 2


def test_the_older_name_of_the_cache_is_understood(kernel, monkeypatch):
    monkeypatch.delenv("SIMPLER_CACHE_DIR")
    monkeypatch.setenv("SIMPLER_KERNEL_CACHE", str(kernel.parent / "older"))
    commands = count_compilations(monkeypatch)
    assert compile_it(kernel) == compile_it(kernel)
    assert len(commands) == 1
    assert (kernel.parent / "older").is_dir()


def test_a_cache_that_cannot_be_written_is_only_warned_about(kernel, monkeypatch):
    (kernel.parent / "file").write_text("")
    monkeypatch.setenv("SIMPLER_CACHE_DIR", str(kernel.parent / "file"))
    with pytest.warns(UserWarning, match="not cached"):
        assert compile_it(kernel)[:4] == b"\x7fELF"


def test_entries_that_nobody_used_for_two_weeks_are_removed(tmp_path):
    cache = KernelCache(str(tmp_path))
    old, other = tmp_path / ("0" * 64), tmp_path / "something else"
    for folder in (old, other):
        folder.mkdir()
        os.utime(folder, (0, 0))
    cache.put(cache.key("x"), b"data", [])
    assert not old.exists() and other.exists() and cache.get(cache.key("x")) == b"data"


def test_dependencies_with_blanks_are_read():
    assert read_dependencies("out: a.cpp b\\ c.h \\\n d.h\n") == ["a.cpp", "b c.h", "d.h"]


# ---- torch ----


def test_torch_types_have_data_types(monkeypatch):
    from simpler.task_interface import DataType

    torch = types.ModuleType("torch")
    torch.float32, torch.bfloat16, torch.bool, torch.complex64 = (object() for _ in range(4))
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert torch_dtype_to_datatype(torch.float32) is DataType.FLOAT32
    assert torch_dtype_to_datatype(torch.bfloat16) is DataType.BFLOAT16
    assert torch_dtype_to_datatype(torch.bool) is DataType.BOOL
    with pytest.raises(KeyError):
        torch_dtype_to_datatype(torch.complex64)


class FakeTensor:
    def __init__(self, dtype, address=4096, device="cpu", contiguous=True):
        self.dtype, self.shape, self.address, self.contiguous = dtype, (2, 3), address, contiguous
        self.device = types.SimpleNamespace(type=device)

    def is_contiguous(self):
        return self.contiguous

    def data_ptr(self):
        return self.address


def test_a_torch_tensor_in_host_memory_becomes_a_chip_tensor(monkeypatch):
    import struct

    from simpler.task_interface import DataType

    torch = types.ModuleType("torch")
    torch.float16 = object()
    monkeypatch.setitem(sys.modules, "torch", torch)
    tensor = make_chip_tensor_arg(FakeTensor(torch.float16))
    assert (tensor.data, tensor.nbytes, tensor.shapes, tensor.strides) == (4096, 12, (2, 3), (3, 1))
    assert tensor.dtype is DataType.FLOAT16
    assert struct.unpack("<QQQ10I I4B", tensor.to_bytes()) == (4096, 12, 0, 2, 3, 0, 0, 0, 3, 1, 0, 0, 0, 2, 1, 0, 1, 0)
    for bad in (FakeTensor(torch.float16, contiguous=False), FakeTensor(torch.float16, device="cuda"),
                FakeTensor(torch.float16, address=0)):
        with pytest.raises(ValueError):
            make_chip_tensor_arg(bad)


def test_names_are_lazy_and_unknown_ones_are_attribute_errors():
    assert set(simpler_setup.__all__) <= set(dir(simpler_setup))
    with pytest.raises(AttributeError, match="nope"):
        simpler_setup.nope


def test_a_cache_that_is_read_only_is_used(kernel, monkeypatch):
    compile_it(kernel)
    commands = count_compilations(monkeypatch)
    monkeypatch.setattr(os, "utime", lambda *args: (_ for _ in ()).throw(OSError(30, "Read-only file system")))
    compile_it(kernel)
    assert not commands
