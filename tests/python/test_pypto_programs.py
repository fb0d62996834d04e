# SPDX-License-Identifier: MIT
"""The programs of tests/programs/pypto agree with their numpy goldens, before and after the passes, and as text."""
import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import ir, passes  # noqa: E402
from pypto_programs import BY_HAND, NAMES, agree, inputs_of, load, platform_of, runs_on  # noqa: E402


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
        program = passes.PassManager([one], platform_of(name)).run_passes(program)
        args, expected = inputs_of(module)
        try:
            agree(module, ir.interpret(program, *args, function=entry if entry in program.functions else None), expected)
        except Exception as e:
            raise AssertionError(f"after {one}:\n{program}") from e
        assert ir.structural_equal(program, pl.parse(str(program))), f"after {one}"


@pytest.mark.skipif(BY_HAND, reason="the programs are chosen by hand")
def test_every_program_runs_on_a_chip():
    assert {name for platform in ("a2a3sim", "a5sim") for name, _ in runs_on(platform)} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_tolerance_of_a_program_tells_wrong_results_apart(name):
    module, _ = load(name)
    _, expected = inputs_of(module)
    expected = [np.asarray(e, "float64") for e in expected]
    for axis in (0, -1):
        moved = [np.roll(e, 1, axis) for e in expected]
        if any(m.shape[axis] > 1 for m in moved):
            with pytest.raises(AssertionError):
                agree(module, moved, expected)
    for i, e in enumerate(expected):
        with pytest.raises(AssertionError):
            agree(module, expected[:i] + [np.zeros_like(e)] + expected[i + 1:], expected)
        with pytest.raises(AssertionError):
            agree(module, expected[:i] + [e * 1.1] + expected[i + 1:], expected)
