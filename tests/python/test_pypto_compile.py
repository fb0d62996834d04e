# SPDX-License-Identifier: MIT
"""ir.compile() and pyptoc: files, errors, and programs that run (cases of pypto.md section 17 in the names)."""
import ctypes
import importlib.util
import os
import re
import subprocess
import sys

import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import backend, ir  # noqa: E402
from simpler import Worker  # noqa: E402
from simpler.task_interface import (ArgDirection, ChipCallable, CoreCallable, DataType, TaskArgs, Tensor,  # noqa: E402
                                    TensorArgType)
from simpler_setup import KernelCompiler, ensure_pto_isa_root  # noqa: E402

RUNTIME = "tensormap_and_ringbuffer"
DTYPES = {"float32": DataType.FLOAT32, "int64": DataType.INT64}
SOURCE = '''# SPDX-License-Identifier: MIT
import pypto.language as pl


@pl.program
class Blend:
    @pl.function(type=pl.FunctionType.InCore)
    def step(self, x: pl.Tensor[[16, 16], pl.FP32], s: pl.Scalar[pl.FP32], o: pl.InOut[pl.Tensor[[16, 16], pl.FP32]]
             ) -> pl.Tensor[[16, 16], pl.FP32]:
        t = pl.load(x, [0, 0], [16, 16])
        m = pl.row_max(t)
        u = pl.load(o, [0, 0], [16, 16])
        for i in pl.range(3):
            u = pl.add(u, pl.row_expand_mul(t, pl.mul(m, s)))
        o = pl.store(u, [0, 0], [16, 16], o)
        return o

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[32, 32], pl.FP32], cfg: pl.Tensor[[4], pl.INT64],
             y: pl.InOut[pl.Tensor[[32, 32], pl.FP32]]) -> pl.Tensor[[32, 32], pl.FP32]:
        n = pl.tensor.read(cfg, [2])
        for i in pl.range(n):
            for j in pl.range(2):
                a = pl.slice(x, [16, 16], [i * 16, j * 16])
                b = pl.slice(y, [16, 16], [i * 16, j * 16])
                if i == j:
                    b = self.step(a, 0.5, b)
                else:
                    b = self.step(a, -2.0, b)
        return y
'''


@pytest.fixture(autouse=True)
def any_backend():
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


@pytest.fixture
def blend():
    return pl.parse(SOURCE, "blend.py")


def files(folder):
    """All files but reports."""
    found = sorted(os.path.relpath(os.path.join(d, f), folder) for d, _, names in os.walk(folder) for f in names)
    return [f for f in found if not f.startswith("report")]


def config_of(folder):
    spec = importlib.util.spec_from_file_location("kernel_config", os.path.join(folder, "kernel_config.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_case_59_default_folder_and_back_end(blend, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = ir.compile(blend)
    assert re.fullmatch(r"build_output/Blend_\d{8}_\d{6}", folder)
    assert [f for f in files(folder) if not f.startswith("passes_dump")] == [
        "kernel_config.py", "kernels/aiv/step.cpp", "orchestration/main.cpp", "ptoas/step.cpp", "ptoas/step.pto"]
    assert "passes_dump/00_frontend.py" in files(folder)
    assert backend.get_backend_type() == ir.BackendType.PTO
    with pytest.raises(ValueError, match="Backend type already set to PTO, cannot change to CCE"):
        ir.compile(blend, backend_type=ir.BackendType.CCE)


def test_case_60_assembler_is_looked_for(blend, tmp_path, monkeypatch):
    monkeypatch.setenv("PTOAS_ROOT", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match="nowhere"):
        ir.compile(blend, tmp_path / "a")
    folder = ir.compile(blend, tmp_path / "b", skip_ptoas=True, dump_passes=False)
    assert files(folder) == ["kernels/aiv/step.pto", "orchestration/main.cpp"]


def test_case_51_orchestration_does_not_depend_on_the_back_end(blend, tmp_path):
    texts = []
    for kind in (ir.BackendType.PTO, ir.BackendType.CCE):
        backend.reset_for_testing()
        folder = ir.compile(blend, tmp_path / kind, backend_type=kind, dump_passes=False)
        with open(os.path.join(folder, "orchestration", "main.cpp")) as f:
            texts.append(f.read())
    assert texts[0] == texts[1]
    assert not os.path.exists(tmp_path / "CCE" / "ptoas")


def test_kernel_config(blend, tmp_path):
    config = config_of(ir.compile(blend, tmp_path / "out", dump_passes=False))
    assert config.RUNTIME_CONFIG == {"runtime": RUNTIME, "aicpu_thread_num": 4, "block_dim": 24}
    assert config.ORCHESTRATION == {"source": str(tmp_path / "out" / "orchestration" / "main.cpp"),
                                    "function_name": "aicpu_orchestration_entry"}
    assert config.KERNELS == [{"func_id": 0, "source": str(tmp_path / "out" / "kernels" / "aiv" / "step.cpp"),
                               "core_type": "aiv"}]


STRICT_PTOAS = '''#!/usr/bin/python3
import json, sys
lines = open(sys.argv[1]).read().splitlines()
at = next(i for i, line in enumerate(lines, 1) if "pto.tadd " in line)
text = "'pto.tadd' op is not liked"
sys.exit(json.dumps([{"severity": "error", "line": at, "message": text, "hint": "pto.tsub"}])
         if "--json-diagnostics" in sys.argv else text)
'''


def test_what_the_assembler_refuses_is_told_at_the_authors_line(tmp_path, monkeypatch):
    ptoas = tmp_path / "ptoas"
    ptoas.write_text(STRICT_PTOAS)
    ptoas.chmod(0o755)
    monkeypatch.setenv("PTOAS_ROOT", str(tmp_path))
    p = pl.parse('''
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[16, 16], pl.FP32], o: pl.Out[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
        t = pl.load(a, [0, 0], [16, 16])
        u = pl.add(t, t)
        o = pl.store(u, [0, 0], [16, 16], o)
        return o
''', "add.py")
    with pytest.raises(pl.CompileError, match=r"pl\.add\(t, t\) cannot be done on a2a3: t is \[16, 16\] of FP32") as error:
        ir.compile(p, tmp_path / "out")
    assert (error.value.span.filename, error.value.span.line, error.value.span.column) == ("add.py", 7, 13)
    assert "pto." not in error.value.message + error.value.hint and "'pto.tadd' op is not liked" in error.value.note


def run(folder, platform, arrays):
    """The arrays after the program has run on a simulated chip."""
    config, compiler = config_of(folder), KernelCompiler(platform)
    kernels = [(k["func_id"], CoreCallable.build(signature=[], binary=compiler.compile_incore(
        k["source"], k["core_type"], ensure_pto_isa_root()))) for k in config.KERNELS]
    program = ChipCallable.build(signature=[ArgDirection.INOUT] * len(arrays),
                                 func_name=config.ORCHESTRATION["function_name"],
                                 config_name="aicpu_orchestration_config",
                                 binary=compiler.compile_orchestration(RUNTIME, config.ORCHESTRATION["source"]),
                                 children=kernels)
    worker = Worker(level=2, platform=platform, runtime=RUNTIME, device_id=0)
    worker.init()
    try:
        args, buffers = TaskArgs(), []
        for array in arrays:
            buffers.append(worker.malloc(array.nbytes))
            worker.copy_to(buffers[-1], (ctypes.c_char * array.nbytes).from_buffer(array))
            args.add_tensor(Tensor(buffers[-1], shapes=array.shape, dtype=DTYPES[str(array.dtype)]), TensorArgType.INOUT)
        worker.run(worker.register(program), args)
        for array, buffer in zip(arrays, buffers):
            worker.copy_from((ctypes.c_char * array.nbytes).from_buffer(array), buffer)
    finally:
        worker.close()


@pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])
@pytest.mark.parametrize("kind", ["PTO", "CCE"])
def test_compiled_program_agrees_with_numpy(blend, tmp_path, kind, platform):
    random = np.random.default_rng(3)
    x, y = (random.uniform(-2, 2, (32, 32)).astype("float32") for _ in range(2))
    golden, config = y.astype("float64"), np.array([0, 0, 2, 0], "int64")
    for i in range(2):
        for j in range(2):
            at = np.s_[i * 16:i * 16 + 16, j * 16:j * 16 + 16]
            golden[at] += 3 * x[at] * x[at].max(1, keepdims=True) * (0.5 if i == j else -2.0)
    run(ir.compile(blend, tmp_path, backend_type=kind, platform=platform, dump_passes=False), platform, [x, config, y])
    np.testing.assert_allclose(y, golden, rtol=1e-5, atol=1e-5)


# ---- The command ----

def pyptoc(*args):
    return subprocess.run([sys.executable, "-m", "pypto", *map(str, args)], capture_output=True, text=True)


def test_pyptoc_compiles_a_file(tmp_path):
    (tmp_path / "blend.py").write_text(SOURCE)
    done = pyptoc(tmp_path / "blend.py", "-o", tmp_path / "out", "--backend", "cce", "--platform", "a5")
    assert (done.returncode, done.stdout) == (0, f"{tmp_path / 'out'}\n")
    assert files(tmp_path / "out") == ["kernel_config.py", "kernels/aiv/step.cpp", "orchestration/main.cpp"]
    done = pyptoc(tmp_path / "blend.py", "--print-ir")
    assert done.stdout.startswith("# pypto.program: Blend\n") and pl.parse(done.stdout)


def test_pyptoc_tells_mistakes_with_their_place(tmp_path):
    (tmp_path / "bad.py").write_text(SOURCE.replace("pl.row_max(t)", "pl.row_max(nothing)"))
    done = pyptoc(tmp_path / "bad.py")
    assert done.returncode == 1 and "Undefined variable 'nothing'" in done.stderr and "bad.py:11:" in done.stderr
    done = pyptoc(tmp_path / "missing.py")
    assert done.returncode == 1 and "missing.py" in done.stderr and "Traceback" not in done.stderr
    (tmp_path / "ends.py").write_text("import sys\nsys.exit(3)\n")
    done = pyptoc(tmp_path / "ends.py")
    assert done.returncode == 1 and "ends.py ended itself, sys.exit(3)" in done.stderr


def test_what_was_compiled_into_a_folder_before_is_removed_and_nothing_else(tmp_path):
    blend = pl.parse(SOURCE)
    ir.compile(blend, output_dir=str(tmp_path))
    own = {"kernels/aiv/notes.txt", "own.cpp", "kernels/aiv/own.cpp", "orchestration/own.cpp", "ptoas/own.pto"}
    for name in own:
        (tmp_path / name).write_text("mine")
    other = pl.parse(SOURCE.replace("step", "other"))
    ir.compile(other, output_dir=str(tmp_path), skip_ptoas=True)
    files = {os.path.relpath(os.path.join(at, name), tmp_path) for at, _, names in os.walk(tmp_path) for name in names}
    kept = {f for f in files if not f.startswith(("passes_dump/", "report/"))}
    assert kept == own | {"kernels/aiv/other.pto", "orchestration/main.cpp"}
    ir.compile(blend, output_dir=str(tmp_path), dump_passes=False)
    assert not (tmp_path / "passes_dump").exists() and not (tmp_path / "kernels/aiv/other.pto").exists()
    assert {(tmp_path / name).read_text() for name in own} == {"mine"}


def test_what_a_failed_compilation_wrote_is_removed_by_the_next(blend, tmp_path, monkeypatch):
    with monkeypatch.context() as m:
        m.setattr(sys.modules["pypto._compile"], "_config_text", None)
        with pytest.raises(TypeError):
            ir.compile(blend, output_dir=str(tmp_path))
    assert (tmp_path / "kernels/aiv/step.cpp").exists()
    ir.compile(pl.parse(SOURCE.replace("step", "other")), output_dir=str(tmp_path))
    assert not (tmp_path / "kernels/aiv/step.cpp").exists() and (tmp_path / "kernels/aiv/other.cpp").exists()
