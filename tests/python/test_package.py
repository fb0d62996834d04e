# SPDX-License-Identifier: MIT
"""The package surface (worker-api 1, cases 1 and 38)."""
import importlib
import os
import shutil
import subprocess
import sys

import pytest
import simpler

PACKAGE = os.path.dirname(simpler.__file__)


def run(code, path):
    return subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(path)},
                          capture_output=True, text=True)


@pytest.fixture
def without_extension(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "simpler", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    return tmp_path


def test_the_package_imports_without_the_extension(without_extension):
    done = run("""
import simpler
try:
    simpler.Worker
    raise SystemExit("Worker is there")
except ImportError:
    pass
try:
    simpler.nope
    raise SystemExit("nope is there")
except AttributeError as error:
    assert "nope" in str(error)
""", without_extension)
    assert done.returncode == 0, done.stderr


def test_the_package_imports_nothing_expensive():
    done = run("import sys, simpler, simpler_setup\n"
               "print(*sorted(m for m in sys.modules if m.split('.')[0] in ('simpler', 'numpy', 'torch')))",
               os.path.dirname(PACKAGE))
    assert done.stdout.split() == ["simpler", "simpler._log"], done.stderr


def test_what_other_files_skip_without_is_there():
    """They must not vanish from `make check`, which installs and builds all of it, because an import has broken."""
    for module in ("numpy", "pypto._core", "pypto.language", "pypto.runtime"):
        importlib.import_module(module)
    assert os.access(os.path.join(os.environ.get("SIMPLER_BUILD_DIR", "build"), "bin", "simpler-smi"), os.X_OK)
    assert shutil.which("valgrind")


def test_lazy_names_are_listed():
    for name in ("Worker", "trace", "task_interface"):
        assert name in simpler.__all__ and name in dir(simpler)
    assert (simpler.DEFAULT_THRESHOLD, simpler.TIMING, simpler.NUL) == (25, 25, 60)
    assert simpler.get_logger().name == "simpler"


REQUIRED = {
    "simpler": ["Worker", "trace"],
    "simpler.worker": ["Worker"],
    "simpler.buffer": ["Buffer", "AccessMode", "AddressSpace", "BackendKind"],
    "simpler.trace": ["span", "producer", "enabled"],
    "simpler.task_interface": [
        "ArgDirection", "CallConfig", "ChipCallable", "CoreCallable", "DataType", "TaskArgs", "TaskHandle", "Tensor",
        "TensorArgType", "TensorTransfer", "ExecutionContextRefused", "InitCancelled", "RuntimeEnv",
        "MAX_TENSOR_DIMS", "get_element_size", "get_dtype_name", "arg_direction_name", "scalar_to_uint64",
        "read_args_from_blob", "ChipTensor"],
    "simpler_setup": ["KernelCompiler", "ensure_pto_isa_root", "parse_platform", "make_chip_tensor_arg",
                      "torch_dtype_to_datatype"],
}


@pytest.mark.parametrize("module, name", [(m, n) for m, names in REQUIRED.items() for n in names])
def test_name_is_exported(module, name):
    assert getattr(importlib.import_module(module), name) is not None


def test_the_worker_of_the_package_root_is_the_one_of_its_module():
    from simpler.worker import Worker

    assert simpler.Worker is Worker


def test_the_extension_uses_the_stable_abi():
    assert any(name.endswith(".abi3.so") for name in os.listdir(PACKAGE))


def test_exceptions_that_say_more_are_runtime_errors():
    from simpler.task_interface import ExecutionContextRefused, InitCancelled

    for class_ in (ExecutionContextRefused, InitCancelled):
        assert issubclass(class_, RuntimeError) and class_.__module__ == "simpler.task_interface"


def test_enumerations_have_the_values_that_travel():
    from simpler.buffer import AccessMode, AddressSpace, BackendKind
    from simpler.task_interface import ArgDirection, DataType, TensorArgType, TensorTransfer

    def names(class_):
        return [member.name for member in sorted(class_)]

    assert names(ArgDirection) == ["SCALAR", "IN", "OUT", "INOUT"]
    assert names(TensorArgType) == ["INPUT", "OUTPUT", "INOUT", "OUTPUT_EXISTING", "NO_DEP"]
    assert names(TensorTransfer) == ["NONE", "H2D", "D2H"]
    assert names(AddressSpace) == ["HOST", "DEVICE"]
    assert names(AccessMode) == ["READ", "WRITE", "READWRITE"]
    assert names(BackendKind) == ["FORK_SHM", "POSIX_SHM", "VMM_WINDOW", "REMOTE_SIDECAR", "DEVICE_MALLOC", "FORK_COW"]
    assert names(DataType) == ["FLOAT32", "FLOAT16", "INT32", "INT16", "INT8", "UINT8", "BFLOAT16", "INT64", "UINT64",
                               "UINT16", "UINT32", "BOOL", "FP8E4M3FN", "FP8E8M0", "FP4E2M1"]
    assert [int(member) for member in DataType] == list(range(15))


def test_element_sizes_and_names():
    from simpler.task_interface import ArgDirection, DataType, arg_direction_name, get_dtype_name, get_element_size

    sizes = {4: "FLOAT32 INT32 UINT32", 2: "FLOAT16 INT16 BFLOAT16 UINT16", 8: "INT64 UINT64",
             1: "INT8 UINT8 BOOL FP8E4M3FN FP8E8M0 FP4E2M1"}
    for size, names in sizes.items():
        for name in names.split():
            assert get_element_size(DataType[name]) == size and get_dtype_name(DataType[name]) == name
    assert get_element_size(15) == 0 and get_dtype_name(15) == "UNKNOWN"
    assert arg_direction_name(ArgDirection.INOUT) == "INOUT" and arg_direction_name(9) == "UNKNOWN"
    with pytest.raises(TypeError, match="DataType"):
        get_element_size(ArgDirection.IN)


def test_a_task_handle_cannot_be_made_by_hand():
    from simpler.task_interface import TaskArgs, TaskHandle

    with pytest.raises(TypeError):
        TaskHandle()
    for add in (TaskArgs().add_dep, TaskArgs().add_dep_wait):
        add()
        with pytest.raises(TypeError, match="TaskHandle"):
            add(1)


def test_the_stub_lists_what_the_extension_has():
    import ast

    from simpler import _task_interface

    with open(os.path.join(PACKAGE, "_task_interface.pyi")) as f:
        tree = ast.parse(f.read())
    stub = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            stub[node.name] = {m.name if isinstance(m, ast.FunctionDef) else m.target.id for m in node.body
                               if isinstance(m, (ast.FunctionDef, ast.AnnAssign))}
        elif isinstance(node, ast.FunctionDef):
            stub[node.name] = set()
        elif isinstance(node, ast.AnnAssign):
            stub[node.target.id] = set()
    public = {name for name in vars(_task_interface) if not name.startswith("_")}
    assert public == set(stub)
    for name in public:
        value = getattr(_task_interface, name)
        if isinstance(value, type) and value.__module__.startswith("simpler") and not hasattr(value, "__members__") \
                and not issubclass(value, (Exception, tuple)):
            members = {m for m in vars(value) if not m.startswith("_")}
            assert members == {m for m in stub[name] if not m.startswith("_")}, name


def test_the_installed_layout_finds_library_and_headers(tmp_path):
    build = os.path.dirname(os.path.dirname(PACKAGE))
    packages = tmp_path / "lib" / "python3" / "dist-packages"
    for name in ("simpler", "simpler_setup"):
        shutil.copytree(os.path.join(build, "python", name), packages / name)
    shutil.copy(os.path.join(build, "libsimpler.so.0"), tmp_path / "lib")
    shutil.copytree(os.path.join(build, "include"), tmp_path / "include", symlinks=True)
    done = run("import simpler, simpler_setup\n"
               "print(simpler_setup.ensure_pto_isa_root(), simpler.Worker(2).state)\n"
               "print({line.split()[-1] for line in open('/proc/self/maps') if 'libsimpler.so' in line})", packages)
    library = {f"{tmp_path}/lib/libsimpler.so.0"}
    assert done.stdout.splitlines() == [f"{tmp_path}/include/simpler/device NEW", repr(library)], done.stderr
