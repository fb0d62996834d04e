# SPDX-License-Identifier: MIT
"""Writes serialised programs into a folder: those of tests/programs/pypto and some random ones, from the text and with buffers."""
import glob
import importlib.util
import os
import sys

import pypto_random

import pypto.language as pl
from pypto import ir, passes

HERE = os.path.dirname(os.path.abspath(__file__))


def authored():
    for path in sorted(glob.glob(os.path.join(HERE, "..", "programs", "pypto", "*.py"))):
        name = os.path.splitext(os.path.basename(path))[0]
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for value in vars(module).values():
            if getattr(value, "node_kind", "") == "Program":
                yield name, value, getattr(module, "PLATFORMS", ["a2a3sim"])[0]


def main(folder):
    os.makedirs(folder, exist_ok=True)
    programs = [*authored(), *((f"random_{i}", pl.parse(pypto_random.Program(i).text), "a2a3sim") for i in range(30))]
    for name, program, platform in programs:
        ir.serialize_to_file(program, os.path.join(folder, name))
        ready = passes.PassManager.get_strategy("PTOAS", platform).run_passes(program)
        ir.serialize_to_file(ready, os.path.join(folder, f"{name}_ready"))


if __name__ == "__main__":
    main(sys.argv[1])
