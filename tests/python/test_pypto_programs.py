# SPDX-License-Identifier: MIT
"""The programs of tests/programs/pypto agree with their numpy goldens, before and after the passes, and as text."""
import glob
import importlib.util
import os

import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import ir, passes  # noqa: E402

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs", "pypto")
NAMES = sorted(os.path.basename(p)[:-3] for p in glob.glob(os.path.join(FOLDER, "*.py")))


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


@pytest.mark.parametrize("name", NAMES)
def test_program_means_what_numpy_computes(name):
    module, program = load(name)
    for seed in range(3):
        args, expected = inputs_of(module, seed)
        agree(module, ir.interpret(program, *args), expected)


@pytest.mark.parametrize("strategy", ["Default", "PTOAS"])
@pytest.mark.parametrize("name", NAMES)
def test_program_keeps_its_meaning_through_the_passes(name, strategy):
    module, program = load(name)
    entry = max(program.functions.values(), key=lambda f: f.func_type == 1).name
    for one in passes.PassManager.get_strategy(strategy).names:
        program = passes.PassManager([one]).run_passes(program)
        args, expected = inputs_of(module)
        try:
            agree(module, ir.interpret(program, *args, function=entry if entry in program.functions else None), expected)
        except Exception as e:
            raise AssertionError(f"after {one}:\n{program}") from e
        assert ir.structural_equal(program, pl.parse(str(program))), f"after {one}"


# ---- On the simulated chips ----

os.environ.setdefault("SIMPLER_CACHE_DIR", os.path.join(os.path.abspath(os.environ.get("SIMPLER_BUILD_DIR", "build")),
                                                        "cache"))
BACKENDS = ("PTO", "CCE")
PLATFORMS = ("a2a3sim", "a5sim")
# compiling device code takes seconds for each kernel: the others run with SIMPLER_PYPTO_PROGRAMS=all, or =name,name
FEW = [("softmax", "a2a3sim", "PTO"), ("softmax", "a5sim", "PTO"), ("softmax", "a2a3sim", "CCE"), ("matmul_memory", "a2a3sim", "PTO")]
CHOSEN = os.environ.get("SIMPLER_PYPTO_PROGRAMS")
RUNS = FEW if not CHOSEN else [(n, p, b) for n in (NAMES if CHOSEN == "all" else CHOSEN.split(",")) for p in PLATFORMS
                               for b in BACKENDS]


@pytest.mark.parametrize("name, platform, backend", RUNS)
def test_program_computes_on_the_chip_what_numpy_does(name, platform, backend):
    from pypto import runtime
    module, program = load(name)
    compiled = runtime.compile(program, platform, backend)
    for seed in range(2):
        args, expected = inputs_of(module, seed)
        agree(module, compiled(*args), expected)
