# SPDX-License-Identifier: MIT
"""ir.compile(): passes, generators, files (spec pypto.md sections 12 and 13)."""
import os

from . import _core, _errors, backend, passes

ORCHESTRATION_ENTRY = "aicpu_orchestration_entry"
TIMEOUT_S = 60
_ARCH = {"a2a3": 0, "a5": 1}


class OptimizationStrategy:
    """Which passes run."""

    Default = "Default"
    PTOAS = "PTOAS"
    DebugTileOptimization = "DebugTileOptimization"


def arch_of(platform):
    """0 for a2a3, 1 for a5, also with "sim" behind the name."""
    name = platform.removesuffix("sim") if isinstance(platform, str) else platform
    if name not in _ARCH:
        raise ValueError(f"no platform is named {platform!r}; there are a2a3, a2a3sim, a5 and a5sim")
    return _ARCH[name]


def _write(folder, *parts, text):
    path = os.path.join(folder, *parts)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


# ---- The assembler ----

def find_ptoas():
    """Path of the assembler: below PTOAS_ROOT when that is set, else on PATH or beside this build."""
    import shutil
    root = os.environ.get("PTOAS_ROOT")
    if root is not None:
        path = os.path.join(root, "ptoas")
        if not os.path.isfile(path) or not os.access(path, os.X_OK):
            raise FileNotFoundError(f"PTOAS_ROOT is {root}, but {path} is missing or not executable")
        return path
    path = shutil.which("ptoas")
    if path:
        return path
    path = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "ptoas")
    if os.access(path, os.X_OK):
        return path
    raise FileNotFoundError("ptoas binary not found. Put it on PATH, or set PTOAS_ROOT to its folder")


def _error_of(program, name, arch, command, stderr):
    """The assembler's first complaint, at the line of the author's text that it is about."""
    import json
    import subprocess
    done = subprocess.run([*command, "--json-diagnostics"], capture_output=True, text=True, timeout=TIMEOUT_S)
    try:
        found = [d for d in json.JSONDecoder().raw_decode(done.stderr)[0] if d["severity"] == "error"]
    except (ValueError, KeyError, TypeError):
        found = []
    if not found:
        return RuntimeError(f"ptoas compilation failed: {stderr}")
    first = found[0]
    place, operator, lines = _core.place_of(program, name, arch, int(first["line"]))
    span = _errors.Span(*place)
    platform = "a5" if arch else "a2a3"
    call, _, operands = operator.partition(": ")
    message = f"{call} cannot be done on {platform}" if call else f"Kernel '{name}' cannot be assembled for {platform}"
    advice = f" ({first['hint']})" if first.get("hint") else ""
    hint = "Shapes, element types and memory of the operands must suit the operator" if call else None
    return _errors.CompileError(message + (f": {operands}" if operands else ""), span if span.line else None, hint,
                                source_lines=lines,
                                note=f"ptoas, line {first['line']} of kernel '{name}': {first['message']}{advice}")


def _assemble(program, name, arch, source, output):
    import subprocess
    command = [find_ptoas(), source, "-o", output, "--enable-insert-sync"]
    if arch:
        command.append("--pto-arch=a5")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"ptoas compilation timed out after {TIMEOUT_S}s") from None
    if done.returncode:
        raise _error_of(program, name, arch, command, done.stderr)
    with open(output, encoding="utf-8") as f:
        return f.read()


def explain(program, name, arch, error):
    """The C++ compiler refused a kernel: the same as a mistake at the author's line.

    The assembler knows why, when it refuses the kernel too.
    """
    import tempfile
    with tempfile.TemporaryDirectory(prefix="pypto-") as folder:
        source = _write(folder, f"{name}.pto", text=_core.generate(program, "pto", name, arch))
        try:
            _assemble(program, name, arch, source, os.path.join(folder, f"{name}.cpp"))
        except _errors.CompileError as found:
            return found
        except (OSError, RuntimeError):
            pass
    found = [line.partition("error:")[2].strip() for line in str(error).splitlines() if "error:" in line]
    place, _, lines = _core.place_of(program, name, arch, 0)
    return _errors.CompileError(f"The C++ compiler refuses kernel '{name}': {found[0] if found else error}",
                                _errors.Span(*place), source_lines=lines,
                                hint="Try the PTO back end, whose assembler checks every operator")


def _each(work, items):
    """work(item) for all items, in parallel where several processors are; in the order of the items."""
    workers = min(len(items), os.cpu_count() or 1)
    if workers < 2:
        return [work(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, items))


# ---- Kernels ----

def _pto_kernels(program, kernels, arch, folder, skip_ptoas):
    texts = [(name, core, _core.generate(program, "pto", name, arch)) for name, core, _ in kernels]
    if skip_ptoas:
        for name, core, text in texts:
            _write(folder, "kernels", core, f"{name}.pto", text=text)
        return
    if texts:
        find_ptoas()

    def assemble(item):
        name, _, text = item
        source = _write(folder, "ptoas", f"{name}.pto", text=text)
        return _assemble(program, name, arch, source, os.path.join(folder, "ptoas", f"{name}.cpp"))

    for (name, core, _), assembled in zip(texts, _each(assemble, texts)):
        _write(folder, "kernels", core, f"{name}.cpp", text=_core.generate(program, "wrapper", name, arch, assembled))


def _cce_kernels(program, kernels, arch, folder):
    for name, core, _ in kernels:
        _write(folder, "kernels", core, f"{name}.cpp", text=_core.generate(program, "cce", name, arch))


# ---- kernel_config.py ----

def _config_text(orchestration, kernels, by_name):
    called = [k for k in kernels if k[2] >= 0]
    called.sort(key=lambda k: k[0] if by_name else k[2])
    lines = ["# Kernels and orchestration of a compiled program. Generated by PyPTO.", "from pathlib import Path", "",
             "_ROOT_DIR = Path(__file__).parent", "", "# Runtime", "RUNTIME_CONFIG = {",
             '    "runtime": "tensormap_and_ringbuffer",', '    "aicpu_thread_num": 4,', '    "block_dim": 24,', "}", "",
             "# Orchestration", "ORCHESTRATION = {",
             f'    "source": str(_ROOT_DIR / "orchestration" / "{orchestration}.cpp"),',
             f'    "function_name": "{ORCHESTRATION_ENTRY}",', "}", "", "# Kernels", "KERNELS = ["]
    lines += [f'    {{"func_id": {number}, "source": str(_ROOT_DIR / "kernels" / "{core}" / "{name}.cpp"), '
              f'"core_type": "{core}"}},' for name, core, number in called]
    return "\n".join(lines + ["]", ""])


# ---- The driver ----

def _default_folder(program):
    import time
    return os.path.join("build_output", f"{program.name}_{time.strftime('%Y%m%d_%H%M%S')}")


def _manager(strategy, backend_type, platform):
    manager = passes.PassManager.get_strategy(strategy, platform)
    # the assembler synchronises
    return manager.without_sync() if backend_type == backend.BackendType.PTO else manager


def _verification(level):
    """What the passes' results are checked for: as the context around says, or @level."""
    import contextlib
    if level is None:
        return contextlib.nullcontext()
    if passes.PassContext.current() is not None:
        raise RuntimeError("compile() was called with verification_level while a PassContext is already active. "
                           "Give the level to the PassContext")
    return passes.PassContext([], level)


def generate(program, folder, backend_type, arch, skip_ptoas=False):
    """Files of a program on which the passes have run."""
    orchestration, kernels = _core.describe_program(program)
    if backend_type == backend.BackendType.PTO:
        _pto_kernels(program, kernels, arch, folder, skip_ptoas)
    else:
        _cce_kernels(program, kernels, arch, folder)
    if orchestration is None:
        return
    _write(folder, "orchestration", f"{orchestration}.cpp",
           text=_core.generate(program, "orchestration", orchestration, arch))
    if not (skip_ptoas and backend_type == backend.BackendType.PTO):
        _write(folder, "kernel_config.py",
               text=_config_text(orchestration, kernels, backend_type == backend.BackendType.CCE))


# What generate() and the passes write into a folder; other files there are somebody else's
_WRITTEN = ("kernel_config.py", "orchestration/*.cpp", "ptoas/*.pto", "ptoas/*.cpp", "kernels/*/*.pto", "kernels/*/*.cpp",
            "passes_dump/[0-9][0-9]_*.py", "report/memory_*.txt")
_LISTING = "report/files.txt"  # the names of those that the last compilation wrote, one per line


def _files(folder):
    """Files in a folder that a compilation may have written: how each is now, by name."""
    import glob
    found = {}
    for pattern in _WRITTEN:
        for name in glob.glob(pattern, root_dir=folder):
            info = os.stat(os.path.join(folder, name))
            found[name] = (info.st_ino, info.st_size, info.st_mtime_ns)
    return found


def _clear(folder):
    """Removes what the last compilation wrote; other files stay."""
    try:
        with open(os.path.join(folder, _LISTING), encoding="utf-8") as f:
            listed = set(f.read().splitlines())
    except (OSError, ValueError):
        return
    for name in listed & _files(folder).keys():
        os.unlink(os.path.join(folder, name))
    os.unlink(os.path.join(folder, _LISTING))
    for name in ("kernels/aiv", "kernels/aic", "kernels", "ptoas", "orchestration", "passes_dump", "report"):
        try:
            os.rmdir(os.path.join(folder, name))
        except OSError:
            pass  # not there, or not empty


def _list(folder, before):
    """Lists what was written into a folder since its files were as @before tells."""
    now = _files(folder)
    _write(folder, _LISTING, text="".join(f"{name}\n" for name in sorted(now) if now[name] != before.get(name)))


def compile_program(program, output_dir=None, strategy=OptimizationStrategy.Default, dump_passes=True,
                    backend_type=backend.BackendType.PTO, skip_ptoas=False, verification_level=None, platform="a2a3"):
    """Compile a program: passes, kernels, orchestration, kernel_config.py; the folder that has them.

    What was compiled into the same folder before is removed first. A failure leaves what was written so far. Not for use
    from several threads at once.
    """
    if getattr(program, "node_kind", None) != "Program":
        raise TypeError(f"ir.compile() needs a program, not {type(program).__name__}")
    arch = arch_of(platform)
    backend.set_backend_type(backend_type)
    folder = os.fspath(output_dir) if output_dir is not None else _default_folder(program)
    os.makedirs(folder, exist_ok=True)
    _clear(folder)
    manager = _manager(strategy, backend_type, platform)
    dumps = os.path.join(folder, "passes_dump") if dump_passes else None
    before = _files(folder)
    try:
        with _verification(verification_level):
            program = manager.run_passes(program, dump_ir=dump_passes, output_dir=dumps,
                                         report_dir=os.path.join(folder, "report"))
        generate(program, folder, backend_type, arch, skip_ptoas)
    finally:
        _list(folder, before)
    return folder
