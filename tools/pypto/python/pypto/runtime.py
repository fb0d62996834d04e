# SPDX-License-Identifier: MIT
"""Running programs on a chip: compile, build the kernels, register, copy, run.

    @pl.program
    class Softmax: ...

    y = Softmax(x)                      # compiles on first use
    softmax = runtime.compile(Softmax, platform="a5sim")
    y = softmax(x)

Tensors are numpy arrays, torch tensors on the CPU, other objects with the buffer protocol or data_ptr(), or
simpler.task_interface.Tensor for what is on the chip already. Generated files, kernels and orchestrations are kept by
content in SIMPLER_CACHE_DIR (or the user's cache) and used again.
"""
import atexit
import operator
import os
import threading
import time
import weakref

from . import _compile, _core, passes
from ._tensors import DTYPES, Host, Word, as_array, check_array, expected, shares_memory
from .backend import BackendType, check_backend_type

TYPE_CHECKING = False  # as typing's, whose import takes as long as that of this package
if TYPE_CHECKING:
    from typing import Any

ORCHESTRATION_CONFIG = "aicpu_orchestration_config"
RUNTIME = "tensormap_and_ringbuffer"
_lock = threading.RLock()
_workers = {}
_programs = {}
_inherited = []


def default_platform():
    """SIMPLER_PLATFORM, or a2a3sim."""
    return os.environ.get("SIMPLER_PLATFORM") or "a2a3sim"


def worker(platform=None, device_id=0):
    """The Worker of a chip that programs use when they are given none. It is closed when the process ends."""
    key = platform or default_platform(), device_id
    with _lock:
        if key not in _workers:
            from simpler import Worker
            chip = Worker(level=2, platform=key[0], runtime=RUNTIME, device_id=device_id)
            chip.init()
            _workers[key] = chip
        return _workers[key]


@atexit.register
def close():
    """Close the Workers that worker() made, and forget what was compiled for them."""
    with _lock:
        _programs.clear()
        _launchers.clear()
        while _workers:
            _workers.popitem()[1].close()


def _after_fork():
    """Chips do not follow into a child: its programs get a Worker of its own. Those of the parent are left alone."""
    global _lock, _pending, _pending_lock
    _inherited.append((dict(_workers), dict(_programs), dict(_launchers)))
    _lock, _pending, _pending_lock = threading.RLock(), weakref.WeakSet(), threading.Lock()
    _workers.clear()
    _programs.clear()
    _launchers.clear()


os.register_at_fork(after_in_child=_after_fork)


# ---- From a program to a callable ----

def cache_folder():
    """SIMPLER_CACHE_DIR, or a folder in the user's cache."""
    chosen = os.environ.get("SIMPLER_CACHE_DIR")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(chosen or os.path.join(base, "simpler"), "pypto")


def _stamp(path):
    info = os.stat(path)
    return f"{path}:{info.st_size}:{info.st_mtime_ns}"


def _key(program, backend_type, arch):
    """What the generated files depend on: the program, the compiler and the assembler."""
    import hashlib
    tools = [_core.__file__] + ([_compile.find_ptoas()] if backend_type == BackendType.PTO else [])
    parts = [_core.python_print(program), backend_type, str(arch), *map(_stamp, tools)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


_MANIFEST = "manifest.json"  # of an entry: its files and their hashes; written last


def _hashes(folder):
    """Of all files below a folder, by name."""
    import hashlib
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            with open(path, "rb") as f:
                found[os.path.relpath(path, folder)] = hashlib.sha256(f.read()).hexdigest()
    return found


def _intact(entry):
    """What tells an entry from others of its name, when it has all its files as they were written; else None."""
    import json
    path = os.path.join(entry, _MANIFEST)
    try:
        stamp = _stamp(path)
        with open(path, encoding="utf-8") as f:
            wanted = json.load(f)
        found = _hashes(entry)
    except (OSError, ValueError):
        return None
    found.pop(_MANIFEST, None)
    if found != wanted:
        return None
    try:
        os.utime(entry)  # used
    except OSError:
        pass  # a cache that is read only is never pruned
    return stamp


def _new_entry(compiled, backend_type, arch):
    """A folder of this process's own with the files of a program and their manifest."""
    import json
    import tempfile
    folder = tempfile.mkdtemp(prefix="pypto-")
    try:
        _compile.generate(compiled, folder, backend_type, arch)
        manifest = _hashes(folder)
        with open(os.path.join(folder, _MANIFEST), "w", encoding="utf-8") as f:
            json.dump(manifest, f)
    except BaseException:
        _remove(folder)
        raise
    return folder


def _remove(folder):
    import shutil
    shutil.rmtree(folder, ignore_errors=True)


def _publish(own, final):
    """Copies a new entry into the cache; what tells it from others, or None: that cannot be written, or others work in it."""
    import shutil
    import tempfile
    import warnings

    from simpler_setup.kernel_cache import prune
    base = os.path.dirname(final)
    try:
        os.makedirs(base, exist_ok=True)
        prune(base, "[0-9a-f]{32}|new-.*")
        copy = tempfile.mkdtemp(prefix="new-", dir=base)
    except OSError as e:
        warnings.warn(f"programs are not cached in {base}: {e}; SIMPLER_CACHE_DIR names another folder", stacklevel=2)
        return None
    damaged = copy + "-damaged"
    try:
        shutil.copytree(own, copy, dirs_exist_ok=True)
        try:
            os.rename(copy, final)
        except OSError:  # another process was faster, or the entry is damaged
            if not _intact(final):
                os.rename(final, damaged)
                os.rename(copy, final)
        return _intact(final)
    except OSError:
        return None
    finally:
        _remove(copy)
        _remove(damaged)


def _objects(program, compiled, orchestration, kernels, platform, backend_type):
    """Objects of the orchestration and of each kernel, from files in the cache where that is possible."""
    arch = _compile.arch_of(platform)
    final = os.path.join(cache_folder(), _key(program, backend_type, arch))
    own, entry = None, _intact(final)
    try:
        if not entry:
            own = _new_entry(compiled, backend_type, arch)
            entry = _publish(own, final)
            if not entry:
                return _build(own, orchestration, kernels, platform, compiled)
        try:
            return _build(final, orchestration, kernels, platform, compiled)
        except Exception:
            if _intact(final) == entry:
                raise
        own = own or _new_entry(compiled, backend_type, arch)  # the entry was removed or changed while it was used
        return _build(own, orchestration, kernels, platform, compiled)
    finally:
        if own:
            _remove(own)


def _build(folder, orchestration, kernels, platform, compiled):
    """Objects of the orchestration and of each kernel of a program on which the passes have run, in parallel."""
    from concurrent.futures import ThreadPoolExecutor

    from simpler_setup import KernelCompiler, ensure_pto_isa_root
    if os.environ.get("SIMPLER_CACHE_DIR"):
        os.environ.setdefault("SIMPLER_KERNEL_CACHE", os.path.join(os.environ["SIMPLER_CACHE_DIR"], "objects"))
    compiler, root = KernelCompiler(platform), ensure_pto_isa_root()

    def one(item):
        if item is None:
            return compiler.compile_orchestration(RUNTIME, os.path.join(folder, "orchestration", f"{orchestration}.cpp"))
        name, core, _ = item
        try:
            return compiler.compile_incore(os.path.join(folder, "kernels", core, f"{name}.cpp"), core, root)
        except RuntimeError as e:
            raise _compile.explain(compiled, name, _compile.arch_of(platform), e) from e

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        try:
            binary, *objects = pool.map(one, [None, *kernels])
        except BaseException:  # of one that is wrong, or the user's interrupt: nobody needs the others
            compiler.stop()
            raise
    return binary, objects


def _callable(program, platform, backend_type):
    """(ChipCallable, name of the orchestration, slots of its arguments, slot of each returned value)"""
    from simpler.task_interface import ArgDirection, ChipCallable, CoreCallable
    strategy = "PTOAS" if backend_type == BackendType.PTO else "Default"
    compiled = passes.PassManager.get_strategy(strategy, platform).run_passes(program)
    orchestration, kernels = _core.describe_program(compiled)
    if orchestration is None:
        raise ValueError(f"program '{program.name}' has no orchestration to run; it needs a function with "
                         "type=pl.FunctionType.Orchestration, or one without a type that has pl.incore() regions")
    kernels = [k for k in kernels if k[2] >= 0]
    binary, objects = _objects(program, compiled, orchestration, kernels, platform, backend_type)
    slots, returned = _core.orchestration_slots(compiled)
    directions = {"in": ArgDirection.IN, "out": ArgDirection.OUT, "inout": ArgDirection.INOUT}
    signature = [directions[access] if kind in ("tensor", "result") else ArgDirection.SCALAR
                 for _, kind, access, _ in slots]
    children = [(number, CoreCallable.build(signature=[], binary=data))
                for (_, _, number), data in zip(kernels, objects)]
    compiled = None
    _core.context_trim()  # a server compiles first, and then needs its memory for other things
    return ChipCallable.build(signature=signature, func_name=_compile.ORCHESTRATION_ENTRY,
                              config_name=ORCHESTRATION_CONFIG, binary=binary, children=children), orchestration, slots, returned


class Program:
    """A program on a chip. Calls from several threads take turns."""

    def __init__(self, program, platform=None, backend_type=BackendType.PTO, worker=None, device_id=0):
        if getattr(program, "node_kind", None) != "Program":
            raise TypeError(f"a @pl.program is needed, not {type(program).__name__}")
        check_backend_type(backend_type)
        self.program, self.platform = program, platform or default_platform()
        self._plans = {}
        self._started = None  # by submit(), its results not taken yet
        self._lock = threading.Lock()
        chip, name, slots, self._returned = _callable(program, self.platform, backend_type)
        self._worker = worker or globals()["worker"](self.platform, device_id)
        self._handle = self._worker.register(chip)
        self._process = os.getpid()
        self._params = program.functions[name].params
        self._parameters = self._order(self._params, slots)
        self._slots = slots

    def __del__(self):
        """Gives back what the Worker keeps for it, unless that is closed or was another process's."""
        if getattr(self, "_process", None) != os.getpid():
            return
        try:
            if self._started is not None:
                self._started._handle.wait()
            for plan in self._plans.values():
                plan.free()
            self._worker.unregister(self._handle)
        except Exception:
            pass  # nobody is there to be told

    @staticmethod
    def _order(params, slots):
        """For each argument of a call, in the author's order: its slot."""
        tensors = iter([i for i, s in enumerate(slots) if s[1] == "tensor"])
        scalars = iter([i for i, s in enumerate(slots) if s[1] == "scalar"])
        return [next(scalars if p.type.kind == "ScalarType" else tensors) for p in params]

    def __call__(self, *args: "Any") -> "Any":
        """Run; what the function returns: arguments that were written, and new arrays."""
        _settle(self, args)
        with self._lock:
            plan, args = self._ready(args)
            self._worker.run(self._handle, plan.arguments)
            return plan.copy_out(args)

    def submit(self, *args: "Any") -> "Started":
        """Start a run; a Started, whose wait() gives what a call would. The next use of this object takes its results first,
        and so does a run of another one on an array that this one writes."""
        _settle(self, args)
        with self._lock:
            plan, args = self._ready(args)
            self._started = Started(self, plan, args, self._worker.submit(self._handle, plan.arguments))
            with _pending_lock:
                _pending.add(self._started)
            return self._started

    def _ready(self, args):
        """The plan of a call, its arguments on the device; and the arguments, all of them arrays or numbers. The memory of the
        plans is free before: one run at a time."""
        if self._started is not None:
            self._started._take(None)
        plan = self._plans.get(tuple(map(_shape_of, args)))
        if plan is None:
            args = tuple(as_array(a) if _shape_of(a) is None else a for a in args)
            plan = self._plans.get(tuple(map(_shape_of, args))) or self._plan(args)
        plan.copy_in(args)
        return plan, args

    def _plan(self, args):
        if len(args) != len(self._parameters):
            raise TypeError(f"program '{self.program.name}' takes {len(self._parameters)} arguments "
                            f"({expected(self._params)}), got {len(args)}")
        for slot, arg in zip(self._parameters, args):
            if self._slots[slot][1] == "tensor":
                check_array(self._slots[slot][0], self._slots[slot][3], arg)
        key = tuple(map(_shape_of, args))
        if len(self._plans) >= 64:
            self._plans.pop(next(iter(self._plans))).free()
        self._plans[key] = plan = Plan(self, args)
        return plan


def _shape_of(value):
    shape = getattr(value, "shape", None)
    return getattr(value, "shapes", None) if shape is None else shape


_OPERATIONS = {"Add": operator.add, "Sub": operator.sub, "Mul": operator.mul, "FloorDiv": operator.floordiv,
               "FloorMod": operator.mod, "Min": min, "Max": max}


def _is_name(dim):
    return not isinstance(dim, int) and dim.node_kind == "Var"


def _extent(dim, extents):
    """The value of an extent, with those of symbolic ones by name; None: it does not follow from them."""
    if isinstance(dim, int):
        return dim
    if dim.node_kind in ("Var", "ConstInt"):
        return extents.get(dim.name) if dim.node_kind == "Var" else dim.value
    if dim.node_kind not in _OPERATIONS:
        return None
    left, right = _extent(dim.left, extents), _extent(dim.right, extents)
    if left is None or right is None or (right == 0 and dim.node_kind in ("FloorDiv", "FloorMod")):
        return None
    return _OPERATIONS[dim.node_kind](left, right)


class Plan:
    """Device memory and arguments for calls with arrays of certain shapes."""

    def __init__(self, owner, args):
        from simpler.task_interface import Tensor
        self._worker, self._returned = owner._worker, owner._returned
        extents = self._extents(owner, args)
        self._numbers, self._known, self._decided = self._extents_of_numbers(owner, args)
        place = {slot: i for i, slot in enumerate(owner._parameters)}
        self._hosts, self._words, self._results, tensors = [], [], {}, []
        for i, (name, kind, access, type_) in enumerate(owner._slots):
            if kind in ("scalar", "extent"):
                self._words.append(Word(name, type_.dtype, place.get(i), extents.get(name)))
                continue
            shape = self._shape(name, type_, extents, _shape_of(args[place[i]]) if kind == "tensor" else None)
            host = Host(name, type_.dtype, shape, access, place.get(i))
            host.buffer = self._worker.malloc(max(host.nbytes, 1))
            host.view = Tensor(host.buffer, shapes=host.shape or (1,), dtype=DTYPES[type_.dtype].simpler())
            tensors.append(host)
            if kind == "tensor":
                self._hosts.append(host)
            else:
                self._results[i] = host
        self._by_slot = {place_: i for i, place_ in enumerate(owner._parameters)}
        self._written = [host for host in self._hosts if host.access != "in"]
        self._tensors, self._last = tensors, None
        self.arguments = None

    @staticmethod
    def _shape(name, type_, extents, given):
        """The shape that @type_ says; extents that depend on numbers are those of the argument, which has shape @given."""
        shape = [_extent(d, extents) for d in type_.shape]
        if None in shape and given is None:
            raise ValueError(f"the extents of result '{name}', {type_}, do not follow from the arguments; pass a tensor for "
                             "it as a pl.Out parameter")
        return tuple(given[i] if d is None else d for i, d in enumerate(shape))

    @staticmethod
    def _extents(owner, args):
        """Values of the symbolic extents, by name."""
        found = {}
        for slot, arg in zip(owner._parameters, args):
            name, kind, _, type_ = owner._slots[slot]
            if kind != "tensor":
                continue
            shape = tuple(_shape_of(arg) or ())
            if 0 in shape:
                raise ValueError(f"argument '{name}' is empty: its shape is {list(shape)}, and each extent must be at least 1")
            if len(shape) != len(type_.shape):
                raise ValueError(f"argument '{name}' needs {len(type_.shape)} dimensions, got "
                                 f"{list(shape) if shape else type(arg).__name__}")
            for have, want in zip(shape, type_.shape):
                if _is_name(want) and found.setdefault(want.name, have) != have:
                    raise ValueError(f"argument '{name}': extent {want.name} is {found[want.name]} elsewhere, {have} here")
        return found

    @staticmethod
    def _extents_of_numbers(owner, args):
        """Positions of the numbers, by name; other extents that are known; and what the numbers decide: (tensor, extent, what it
        is in this plan)."""
        numbers = {p.name: i for i, p in enumerate(owner._params) if p.type.kind == "ScalarType"}
        dims = [(p.name, dim, have) for p, arg in zip(owner._params, args) if p.type.kind == "TensorType"
                for dim, have in zip(p.type.shape, _shape_of(arg) or ())]
        known = {dim.name: have for _, dim, have in dims if _is_name(dim) and dim.name not in numbers}
        return numbers, known, [item for item in dims if _extent(item[1], known) is None]

    def _check_numbers(self, args):
        """A kernel that believed a number that is too large would read behind its tensor."""
        known = {**self._known, **{name: int(args[i]) for name, i in self._numbers.items()}}
        for name, dim, have in self._decided:
            want = _extent(dim, known)
            if want not in (None, have):
                raise ValueError(f"argument '{name}' has extent {have} where the numbers say {want}")

    def copy_in(self, args):
        for host in self._hosts:
            host.send(self._worker, args[host.position])
        words = [word.value(args) for word in self._words]
        if self._decided:
            self._check_numbers(args)
        views = [host.view for host in self._tensors]
        if (words, views) != self._last:
            self._set_arguments(views, words)

    def _set_arguments(self, views, words):
        from simpler.task_interface import TaskArgs, TensorArgType
        tags = {"in": TensorArgType.INPUT, "out": TensorArgType.OUTPUT_EXISTING, "inout": TensorArgType.INOUT}
        self.arguments = TaskArgs()
        for host, view in zip(self._tensors, views):
            self.arguments.add_tensor(view, tags[host.access])
        for word in words:
            self.arguments.add_scalar(word)
        self._last = words, views

    def copy_out(self, args):
        for host in self._written:
            host.receive(self._worker, args[host.position])
        made = {}
        if self._results:
            like = next((a for a in args if hasattr(a, "data_ptr")), None)
            made = {slot: host.new(self._worker, like) for slot, host in self._results.items()}
        values = [made[slot] if slot in made else args[self._by_slot[slot]] for slot in self._returned]
        return values[0] if len(values) == 1 else tuple(values) if values else None

    def free(self):
        for host in self._tensors:
            self._worker.free(host.buffer)


class Started:
    """A run that was started. Host arrays that it writes are written by wait(), or by the next use of the program."""

    def __init__(self, owner, plan, args, handle):
        self._owner, self._plan, self._args, self._handle = owner, plan, args, handle
        self._value = self._error = None

    def wait(self, timeout: "float | None" = None) -> "Any":
        """Wait for the run; what a call gives. Raises the run's error; TimeoutError leaves it going. Any thread, also twice."""
        self._settle(timeout)
        if self._error is not None:
            raise self._error
        return self._value

    def writes(self, args):
        """Whether it writes an array whose memory is that of one of @args."""
        with self._owner._lock:
            if self._handle is None:
                return False
            return any(shares_memory(self._args[host.position], arg) for host in self._plan._written for arg in args)

    def _settle(self, timeout=None):
        """Wait, and write the host arrays, unless that is done."""
        deadline = None if timeout is None else time.monotonic() + timeout
        if not self._owner._lock.acquire(timeout=-1 if timeout is None else max(timeout, 0)):
            raise TimeoutError(f"the run was not done after {timeout} s")
        try:
            if self._handle is not None:
                self._take(None if deadline is None else max(deadline - time.monotonic(), 0))
        finally:
            self._owner._lock.release()

    def _take(self, timeout):
        """Keep the results, or the error, for wait(). With the lock of the program."""
        try:
            self._handle.wait(timeout)
            self._value = self._plan.copy_out(self._args)
        except (TimeoutError, KeyboardInterrupt):
            raise
        except Exception as e:
            self._error = e
        self._handle = self._plan = self._args = self._owner._started = None
        with _pending_lock:
            _pending.discard(self)


_pending = weakref.WeakSet()  # runs whose results are not taken; what nobody holds any more, nobody takes
_pending_lock = threading.Lock()  # the innermost


def _settle(program, args):
    """Runs of other programs end that write what @args are: a run sees what those before it wrote. No lock is held."""
    if not _pending:
        return
    with _pending_lock:
        others = [started for started in _pending if started._owner is not program]
    for started in others:
        if started.writes(args):
            started._settle()


def compile(program: "Any", platform: "str | None" = None, backend_type: "Any" = BackendType.PTO, worker: "Any" = None,
            device_id: int = 0) -> Program:
    """A Program, which is called with arrays. platform: SIMPLER_PLATFORM or a2a3sim if not given."""
    return Program(program, platform, backend_type, worker, device_id)


_OPTIONS = "platform", "backend_type", "worker", "device_id"


def run(program: "Any", *args: "Any", **options: "Any") -> "Any":
    """Call a program; compiled on first use. Options as for compile()."""
    unknown = options.keys() - _OPTIONS
    if unknown:
        raise TypeError(f"'{min(unknown)}' is no option; arguments of the program are given by their places, options are "
                        f"{', '.join(_OPTIONS)}")
    key = program, tuple(options.items())
    compiled = _programs.get(key)
    if compiled is None:
        with _lock:
            compiled = _programs.get(key)
            if compiled is None:
                _programs[key] = compiled = Program(program, **options)
    return compiled(*args)


# ---- Kernels without an orchestration ----

def _check_launch(kernel, blockdim):
    if getattr(kernel, "node_kind", None) != "Function" or kernel.func_type not in (2, 9):
        raise TypeError(f"launch() takes a BlockInCore or InCore function, not "
                        f"{getattr(kernel, 'node_kind', None) or type(kernel).__name__} {getattr(kernel, 'name', kernel)!r}")
    if isinstance(blockdim, bool) or not hasattr(blockdim, "__index__"):
        raise TypeError(f"blockdim must be an integer, not {blockdim!r}")
    if blockdim < 1:
        raise ValueError(f"blockdim must be at least 1, not {blockdim}")
    if kernel.func_type == 2 and blockdim != 1:
        raise ValueError(f"'{kernel.name}' is no BlockInCore function: blockdim must be 1, not {blockdim}")


def _launcher(kernel):
    """A program that does nothing but start @kernel, in as many blocks as its last argument says."""
    import linecache

    from . import language
    block = kernel.func_type == 9
    if any(d > 2 for d in kernel.param_directions) or any(p.type.kind == "ClusterType" for p in kernel.params):
        raise ValueError(f"'{kernel.name}' has pipe or cluster parameters: there is no orchestration to allocate a cluster")
    params = [(p.name, p.type, d) for p, d in zip(kernel.params, kernel.param_directions)
              if not (block and p.name in ("blockdim", "block_id"))]
    names = [n for n, _, _ in params]
    extents = {d.name for _, t, _ in params for d in t.shape if not isinstance(d, int)}
    if "pl" in extents:
        raise ValueError(f"'{kernel.name}' cannot be launched with an extent named 'pl'; give pl.dynamic() another name")
    texts = [f"{n}: " + ("{}", "pl.Out[{}]", "pl.InOut[{}]")[d].format(t) for n, t, d in params]
    texts += ["blockdim: pl.Scalar[pl.INT32]"] if block else []
    callee = "kernel"
    while callee in extents or callee in names:
        callee += "_"
    call = ", ".join(names + (["blockdim=blockdim"] if block else []))
    lines = [f'{e} = pl.dynamic("{e}")' for e in sorted(extents)] + [
        "@pl.program", "class Launch:", "    @pl.function(type=pl.FunctionType.Orchestration)",
        f"    def launch_{kernel.name}(self, {', '.join(texts)}):", f"        {callee}({call})", ""]
    filename = f"<launch of {kernel.name}>"
    linecache.cache[filename] = (1, None, [line + "\n" for line in lines], filename)
    namespace = {"pl": language, callee: kernel, "__name__": "pypto_launch"}
    exec(__builtins__["compile"]("\n".join(lines), filename, "exec"), namespace)
    return namespace["Launch"]


_launchers = {}


def launch(kernel: "Any", blockdim: int, *tensors: "Any", device_id: int = 0, stream: None = None, platform: "str | None" = None,
           backend_type: "Any" = BackendType.PTO) -> Started:
    """Start blockdim blocks of a kernel without an orchestration of yours; a Started, whose wait() ends it.

    kernel: a BlockInCore (or, with one block, InCore) function. Compiled on first use, for any blockdim. A launch sees what
    those before it write, in whatever order they are waited for. ValueError for kernels with pipe or cluster parameters,
    and for streams, which the simulated chips do not have.
    """
    _check_launch(kernel, blockdim)
    if stream is not None:
        raise ValueError("stream must be None: launches of one device are in order")
    key = kernel, platform or default_platform(), backend_type, device_id
    with _lock:
        if key not in _launchers:
            _launchers[key] = Program(_launcher(kernel), platform, backend_type, None, device_id)
    return _launchers[key].submit(*tensors, *([blockdim] if kernel.func_type == 9 else []))
