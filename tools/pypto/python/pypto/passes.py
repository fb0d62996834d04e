# SPDX-License-Identifier: MIT
"""Passes, and the manager that runs them in order (spec pypto.md section 7)."""
import os

from . import _core

_ARCH = {"a2a3": 0, "a5": 1}
_CCE_ONLY, _APART = 1, 2


def _make(name, doc):
    def create():
        return lambda program: _core.run_pass(name, program, _verify(), 0)
    create.__name__ = create.__qualname__ = name
    create.__doc__ = doc
    return create


def _verify():
    return os.environ.get("PYPTO_VERIFY_LEVEL", "basic") != "none"


_table = _core.pass_names()
for _name, _snake, _doc, _, _ in _table:
    globals()[_snake] = _make(_snake, _doc)


class PassManager:
    """Runs passes in order, with a dump of the program after each."""

    def __init__(self, names, platform="a2a3"):
        self.names = list(names)
        self._arch = _ARCH[platform.removesuffix("sim")]

    @classmethod
    def get_strategy(cls, strategy="Default", platform="a2a3"):
        """"Default" has all passes, "PTOAS" those that the .pto back end needs."""
        if strategy not in ("Default", "PTOAS"):
            raise ValueError(f"no strategy is named {strategy!r}; there are Default and PTOAS")
        leave = _APART if strategy == "Default" else _APART | _CCE_ONLY
        return cls([n for n, _, _, _, flags in _table if not flags & leave], platform)

    def run_passes(self, program, dump_ir=False, output_dir=None):
        """The program after all passes; with dump_ir, output_dir/00_frontend.py and NN_after_<Name>.py."""
        if dump_ir and output_dir is None:
            raise ValueError("output_dir is required when dump_ir=True")
        if dump_ir and program.node_kind != "Program":
            raise ValueError("dump_ir mode only supports Program input")
        self._dump(dump_ir, output_dir, "00_frontend.py", program)
        for number, name in enumerate(self.names, 1):
            program = _core.run_pass(name, program, _verify(), self._arch)
            self._dump(dump_ir, output_dir, f"{number:02}_after_{name}.py", program)
        return program

    @staticmethod
    def _dump(wanted, folder, name, program):
        if not wanted:
            return
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(_core.python_print(program))
