# SPDX-License-Identifier: MIT
"""Whole random programs on the simulated chips, a batch at a time: what orchestrations and kernels compute together.

A program is some text behind long headers, so the orchestrations of a batch are one C++ file, and so are its kernels on each
kind of core; a program gets its own by their names. Every argument and result must be what the interpreter says.

    pypto_chip.py --first SEED --count N           # functions of pypto_random_tensors.py, in batches in processes of their own
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

import pypto.language as pl
import pypto_executed
import pypto_random_tensors
from pypto import _compile, _core, passes, runtime
from simpler.task_interface import ArgDirection, ChipCallable, CoreCallable

BATCH = 50
DIRECTIONS = {"in": ArgDirection.IN, "out": ArgDirection.OUT, "inout": ArgDirection.INOUT}
LINK = ["-shared", "-Wl,--gc-sections", "-Wl,-Bsymbolic", "-Wl,-z,defs", "-Wl,--build-id=sha1"]


class Chip:
    """A program on which the passes have run, and its texts."""

    def __init__(self, program, platform, backend, folder):
        arch = _compile.arch_of(platform)
        self.program = program
        self.ready = passes.PassManager.get_strategy("PTOAS" if backend == "PTO" else "Default", platform).run_passes(program)
        orchestration, kernels = _core.describe_program(self.ready)
        self.text = orchestration and _core.generate(self.ready, "orchestration", orchestration, 0)
        if not self.text:  # it calls no kernels
            return
        self.params = program.functions[orchestration].params
        self.slots, self.returned = _core.orchestration_slots(self.ready)
        self.kernels = [(core, number, pypto_executed.texts_of(self.ready, backend, arch, folder, name), name)
                        for name, core, number in kernels if number >= 0]


def joined_orchestrations(chips):
    """One text of them, in namespaces, with a number behind the names of their entries."""
    heads, bodies = {}, []
    for i, chip in enumerate(chips):
        heads |= dict.fromkeys(re.findall(r"^#include .*$", chip.text, re.M))
        body = re.sub(r"^#(include|undef) .*$", "", chip.text, flags=re.M)
        macros = re.findall(r"^#define (\w+)", body, re.M)
        body, n = re.subn(r"\b(aicpu_orchestration_(?:entry|config))\(", rf"\1_{i}(", body)
        assert n == 2, chip.text
        bodies.append(f"namespace program_{i} {{\n{body}\n}}\n" + "".join(f"#undef {m}\n" for m in macros))
    return "\n".join(heads) + "\n" + "".join(bodies)


def joined_kernels(texts):
    """One text of them: each in a namespace, with a number behind the name of its entry."""
    heads, bodies = {}, []
    for i, (text, name) in enumerate(texts.items()):
        heads |= dict.fromkeys(re.findall(r"^#include .*$", text, re.M))
        body, n = re.subn(r"\bkernel_entry\(", f"kernel_entry_{i}(", re.sub(r"^#include .*$", "", text, flags=re.M))
        assert n == 1, text
        bodies.append(f"namespace kernel_{i} {{\n{body.replace(f' ::{name}(', f' {name}(')}\n}}\n")
    return "\n".join(heads) + "\n" + "".join(bodies)


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr[:4000]}"


def objects(texts, platform, core, folder):
    """For each text of a kernel an object of its own, all from one compilation."""
    source, linkable = (os.path.join(folder, f"{core}.{end}") for end in ("cpp", "o"))
    with open(source, "w", encoding="utf-8") as f:
        f.write(joined_kernels(texts))
    run([*pypto_executed.compiler(platform, core), "-ffunction-sections", "-fdata-sections", "-c", source, "-o", linkable])
    exported = os.path.join(folder, "exported")
    with open(exported, "w", encoding="utf-8") as f:
        f.write("{ global: kernel_entry; local: *; };")
    out = {}
    for i, text in enumerate(texts):
        library = os.path.join(folder, f"{core}_{i}.so")
        run(["g++", *LINK, "-s", f"-Wl,--version-script={exported}", f"-Wl,--defsym=kernel_entry=kernel_entry_{i}", linkable,
             "-o", library])
        with open(library, "rb") as f:
            out[text] = f.read()
    return out


class Loaded(runtime.Program):
    """A program whose objects there are already."""

    def __init__(self, chip, callable_, platform):  # pylint: disable=super-init-not-called
        self.program, self.platform, self._plans, self._started = chip.program, platform, {}, None
        self._lock, self._process = threading.Lock(), os.getpid()
        self._worker = runtime.worker(platform)
        self._handle = self._worker.register(callable_)
        self._params, self._slots, self._returned = chip.params, chip.slots, chip.returned
        self._parameters = self._order(chip.params, chip.slots)


def loaded(chips, platform, folder):
    """The programs of @chips, ready to be called, in order."""
    arch = platform.removesuffix("sim")
    source = os.path.join(folder, "orchestrations.cpp")
    with open(source, "w", encoding="utf-8") as f:
        f.write(joined_orchestrations(chips))
    library = os.path.join(folder, "orchestrations.so")
    run([*pypto_executed.compiler(arch, "aiv"), *LINK, source, "-o", library])
    with open(library, "rb") as f:
        binary = f.read()
    made = {}
    for core in ("aiv", "aic"):
        texts = {text: name for chip in chips for c, _, text, name in chip.kernels if c == core}
        if texts:
            made |= objects(texts, arch, core, folder)
    for i, chip in enumerate(chips):
        signature = [DIRECTIONS[access] if kind in ("tensor", "result") else ArgDirection.SCALAR
                     for _, kind, access, _ in chip.slots]
        children = [(number, CoreCallable.build(signature=[], binary=made[text])) for _, number, text, _ in chip.kernels]
        yield Loaded(chip, ChipCallable.build(signature=signature, func_name=f"aicpu_orchestration_entry_{i}",
                                              config_name=f"aicpu_orchestration_config_{i}", binary=binary, children=children),
                     platform)


def check_batch(first, count):
    """Functions of these seeds by one back end on one platform. Number of those that ran, the others were refused at a place."""
    number = first // BATCH % 4
    platform, backend = ("a2a3sim", "a5sim")[number % 2], ("PTO", "CCE")[number // 2]
    functions, chips = [], []
    with tempfile.TemporaryDirectory(prefix="pypto-chip-") as folder:
        for seed in range(first, first + count):
            function = pypto_random_tensors.made(seed)
            try:
                chip = Chip(pl.parse(function.text, f"random_{seed}.py"), platform, backend, folder)
            except pl.ParserError as refused:
                pypto_random_tensors.refusal(function, refused)
                continue
            if chip.text:
                functions.append(function)
                chips.append(chip)
        for function, program in zip(functions, loaded(chips, platform, folder)):
            args = pypto_random_tensors.copies(function.inputs())
            where = f"seed {function.seed} on {platform} by {backend}"
            print(where, flush=True)
            pypto_random_tensors.check_close(pypto_random_tensors.interpreted(program.program, args),
                                             pypto_random_tensors.arrays(args, program(*args)), f"{where}\n{function.text}")
    return len(functions)


def run_batch(first, count):
    """check_batch() in a process of its own. (functions that ran, None) or (0, what went wrong)"""
    return pypto_executed.run_batch(first, count, __file__)


def main():
    options = argparse.ArgumentParser(description="Random PyPTO functions on the simulated chips.")
    options.add_argument("--first", type=int, default=None, help="first seed; from the clock if not given")
    options.add_argument("--count", type=int, default=400, help="functions")
    options.add_argument("--batch", type=int, nargs=2, metavar=("SEED", "N"), help="one batch, in this process")
    options = options.parse_args()
    if options.batch:
        check_batch(*options.batch)
        return 0
    first = options.first if options.first is not None else int(time.time()) % 1_000_000 * 1000
    print(f"random functions on chips from seed {first}")
    ran = failed = 0
    for at in range(first, first + options.count, BATCH):
        n, wrong = run_batch(at, min(BATCH, first + options.count - at))
        ran += n
        if wrong:
            failed += 1
            print(wrong, flush=True)
    print(f"{options.count} functions: {ran} ran on chips, {failed} batches failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
