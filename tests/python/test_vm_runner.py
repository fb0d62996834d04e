# SPDX-License-Identifier: MIT
"""scripts/vm starts a machine again that the emulator lost before anything of ours ran, and no other."""
import importlib.machinery
import importlib.util
import pathlib

import pytest

SCRIPT = str(pathlib.Path(__file__).resolve().parents[2] / "scripts/vm")
INT3 = "[    1.897299] int3: 0000 [#1] PREEMPT SMP NOPTI"


@pytest.fixture(scope="module")
def vm():
    loader = importlib.machinery.SourceFileLoader("vm_runner", SCRIPT)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("vm_runner", loader))
    loader.exec_module(module)
    return module


class Console:
    """A machine that printed LINES and ended."""

    class qemu:
        @staticmethod
        def wait():
            return 0

    def __init__(self, lines):
        self._lines = lines

    def lines(self, deadline):
        return iter(self._lines)


def collected(vm, tmp_path, lines):
    vm.WORK = str(tmp_path)
    return vm.collect(Console(lines), {})


def test_breakpoint_at_boot_is_the_emulators(vm, tmp_path):
    assert vm.lost_at_boot(*collected(vm, tmp_path, ["booting", INT3, "Kernel panic - not syncing"]))


@pytest.mark.parametrize("lines", [
    ["booting", "BUG: unable to handle page fault", "Kernel panic - not syncing"],
    ["booting", INT3, "Modules linked in: simpler(+)", "Kernel panic - not syncing"],
    ["@@begin module_load program", INT3, "Kernel panic - not syncing"],
    ["@@begin module_load program", "@@end 0", INT3],
    ["@@begin module_load program", "@@end 0", "@@done"],
])
def test_everything_else_is_reported(vm, tmp_path, lines):
    assert not vm.lost_at_boot(*collected(vm, tmp_path, lines))
