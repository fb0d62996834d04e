# SPDX-License-Identifier: MIT
"""Passes, and the manager that runs them in order (spec pypto.md section 7)."""
import contextvars
import os

from . import _core

_ARCH = {"a2a3": 0, "a5": 1}
_CCE_ONLY, _APART, _TO_TILES = 1, 2, 4
_STRATEGIES = {"Default": _APART, "PTOAS": _APART | _CCE_ONLY, "DebugTileOptimization": _APART | _TO_TILES}
_LEVELS = ("none", "basic")
_KERNELS = (2, 9)  # InCore, BlockInCore
_SPACES = ("DDR", "Vec", "Mat", "Left", "Right", "Acc", "Bias", None, "LeftScale", "RightScale")
_active = contextvars.ContextVar("pypto.passes", default=None)


def _arch(platform):
    try:
        return _ARCH[platform.removesuffix("sim")]
    except KeyError:
        raise ValueError(f"no platform is named {platform!r}; there are a2a3, a5, a2a3sim and a5sim") from None


class PassInstrument:
    """What is told before and after each pass."""

    def run_before_pass(self, name, program):
        """The pass called name is about to run on program."""

    def run_after_pass(self, name, program):
        """The pass called name gave program."""


class CallbackInstrument(PassInstrument):
    """Calls before_pass(name, program) and after_pass(name, program), where given."""

    def __init__(self, before_pass=None, after_pass=None):
        self._before, self._after = before_pass, after_pass

    def run_before_pass(self, name, program):
        if self._before:
            self._before(name, program)

    def run_after_pass(self, name, program):
        if self._after:
            self._after(name, program)


class ReportInstrument(PassInstrument):
    """Writes memory_after_AllocateMemoryAddr.txt into a folder: what each kernel uses of each buffer."""

    def __init__(self, output_dir, platform="a2a3"):
        self._folder, self._limits = os.fspath(output_dir), _core.memory_limits(_arch(platform))

    def run_after_pass(self, name, program):
        if name != "AllocateMemoryAddr":
            return
        os.makedirs(self._folder, exist_ok=True)
        with open(os.path.join(self._folder, f"memory_after_{name}.txt"), "w", encoding="utf-8") as f:
            f.write(memory_report(program, self._limits))


class PassContext:
    """Instruments and the level of verification ("basic" or "none") of the passes that run inside its with block.

    Without a level it is PYPTO_VERIFY_LEVEL's, "basic" when that is not set. Blocks may be nested; the innermost counts.
    """

    def __init__(self, instruments=(), verification_level=None):
        self.instruments = list(instruments)
        self.verification_level = _level(verification_level)
        self._tokens = []

    @staticmethod
    def current():
        """The innermost context; None outside of all."""
        return _active.get()

    def __enter__(self):
        self._tokens.append(_active.set(self))
        return self

    def __exit__(self, *_):
        _active.reset(self._tokens.pop())


def _level(level):
    level = os.environ.get("PYPTO_VERIFY_LEVEL", "basic") if level is None else getattr(level, "name", level)
    if str(level).lower() not in _LEVELS:
        raise ValueError(f"no verification level is named {level!r}; there are {' and '.join(_LEVELS)}")
    return str(level).lower()


def _run(name, program, arch, more=()):
    context = _active.get() or PassContext()
    instruments = [*context.instruments, *more]
    for instrument in instruments:
        instrument.run_before_pass(name, program)
    program = _core.run_pass(name, program, context.verification_level != "none", arch)
    for instrument in instruments:
        instrument.run_after_pass(name, program)
    return program


def _make(name, snake, doc):
    def create(platform="a2a3"):
        arch = _arch(platform)
        return lambda program: _run(name, program, arch)
    create.__name__ = create.__qualname__ = snake
    create.__doc__ = doc
    return create


_table = _core.pass_names()
for _name, _snake, _doc, _, _ in _table:
    globals()[_snake] = _make(_name, _snake, _doc)


def memory_report(program, limits):
    """Text: per kernel a table of what it uses of each space on the chip."""
    lines = []
    for name, function in program.functions.items():
        if function.func_type not in _KERNELS:
            continue
        lines += [f"Function {name}", "Space | Used | Limit | Usage | MemRefs"]
        used, count = {}, {}
        for buffer in _buffers(function.body):
            used[buffer.space] = max(used.get(buffer.space, 0), buffer.addr + buffer.size)
            count[buffer.space] = count.get(buffer.space, 0) + 1
        for space in sorted(used):
            limit = limits[_SPACES[space]]
            lines.append(f"{_SPACES[space]} | {used[space]} | {limit} | {100 * used[space] / limit:.1f}% | {count[space]}")
        lines.append("")
    return "\n".join(lines)


def _buffers(body):
    for statement in getattr(body, "stmts", [body]):
        if statement.node_kind == "OpStmts":
            yield from _buffers(statement)
        elif statement.node_kind == "AssignStmt" and statement.var.node_kind == "MemRef":
            yield statement.var


def _leave(strategy):
    if strategy not in _STRATEGIES:
        *first, last = _STRATEGIES
        raise ValueError(f"no strategy is named {strategy!r}; there are {', '.join(first)} and {last}")
    return _STRATEGIES[strategy]


class PassManager:
    """Runs passes in order, with a dump of the program after each."""

    def __init__(self, names, platform="a2a3"):
        self.names = list(names)
        self.platform = platform
        self._arch = _arch(platform)

    @classmethod
    def get_strategy(cls, strategy="Default", platform="a2a3"):
        """"Default" has all passes, "PTOAS" those that the .pto back end needs.

        "DebugTileOptimization" leaves out the passes that turn regions and tensor operators into tile kernels: for
        programs that are written in tiles, which it refuses otherwise.
        """
        return cls([n for n, _, _, _, flags in _table if not flags & _leave(strategy)], platform)

    def run_passes(self, program, dump_ir=False, output_dir=None, report_dir=None):
        """The program after all passes.

        With dump_ir, output_dir gets 00_frontend.py and NN_after_<Name>.py; with report_dir, it gets the report on memory.
        """
        if dump_ir and output_dir is None:
            raise ValueError("output_dir is required when dump_ir=True")
        if dump_ir and program.node_kind != "Program":
            raise ValueError("dump_ir mode only supports Program input")
        reports = [ReportInstrument(report_dir, self.platform)] if report_dir else []
        self._dump(dump_ir, output_dir, "00_frontend.py", program)
        for number, name in enumerate(self.names, 1):
            program = _run(name, program, self._arch, reports)
            self._dump(dump_ir, output_dir, f"{number:02}_after_{name}.py", program)
        return program

    def without_sync(self):
        """This manager without the passes that only the CCE back end needs."""
        return PassManager([n for n, _, _, _, flags in _table if n in self.names and not flags & _CCE_ONLY], self.platform)

    @staticmethod
    def _dump(wanted, folder, name, program):
        if not wanted:
            return
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(_core.python_print(program))
