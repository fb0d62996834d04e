# SPDX-License-Identifier: MIT
"""The programs of tests/programs/pypto: their modules, inputs and goldens, and where each runs."""
import glob
import importlib.util
import os

import numpy as np

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs", "pypto")
NAMES = sorted(os.path.basename(p)[:-3] for p in glob.glob(os.path.join(FOLDER, "*.py")))
os.environ.setdefault("SIMPLER_CACHE_DIR", os.path.join(os.path.abspath(os.environ.get("SIMPLER_BUILD_DIR", "build")),
                                                        "cache"))
A5_ONLY = {"mx_matmul"}
CHOSEN = os.environ.get("SIMPLER_PYPTO_PROGRAMS")
BY_HAND = CHOSEN not in (None, "", "all")
COMBINATIONS = [("a5sim", "CCE"), ("a5sim", "PTO"), ("a2a3sim", "CCE"), ("a2a3sim", "PTO")]


def platform_of(name):
    return "a5" if name in A5_ONLY else "a2a3"


def load(name):
    """The module of a program: its program, case() and TOLERANCE."""
    spec = importlib.util.spec_from_file_location(f"pypto_program_{name}", os.path.join(FOLDER, f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = [v for v in vars(module).values() if getattr(v, "node_kind", "") == "Program"]
    assert len(found) == 1
    return module, found[0]


def agree(module, results, expected):
    results = results if isinstance(results, (tuple, list)) else (results,)
    assert len(results) == len(expected)
    for result, golden in zip(results, expected):
        np.testing.assert_allclose(np.asarray(result, "float64"), golden, rtol=module.TOLERANCE, atol=module.TOLERANCE)


def inputs_of(module, seed=7):
    args, expected = module.case(np.random.default_rng(seed))
    return [a.copy() for a in args], expected


# Compiling device code takes seconds for each kernel, so each program runs with one combination of platform and back end,
# and one with all of them. SIMPLER_PYPTO_PROGRAMS=all (make check-pypto) runs everything, =name,name these.
def runs_on(platform):
    """(program, back end) for the tests of a platform."""
    if CHOSEN:
        return [(n, b) for n in (NAMES if CHOSEN == "all" else CHOSEN.split(",")) for b in ("PTO", "CCE")
                if platform == "a5sim" or n not in A5_ONLY]
    found = [(n, *COMBINATIONS[i % len(COMBINATIONS)]) for i, n in enumerate(n for n in NAMES if n not in A5_ONLY)]
    found += [("softmax", *c) for c in COMBINATIONS] + [("matmul_memory", "a2a3sim", "PTO")]
    found += [(n, "a5sim", b) for n in sorted(A5_ONLY) for b in ("PTO", "CCE")]
    return [(n, b) for n, p, b in dict.fromkeys(found) if p == platform]


def check_on_chip(name, platform, backend):
    """Compile a program, run it on the simulated chip, compare with numpy."""
    from pypto import runtime
    module, program = load(name)
    compiled = runtime.compile(program, platform, backend)
    for seed in range(2):
        args, expected = inputs_of(module, seed)
        agree(module, compiled(*args), expected)
