# SPDX-License-Identifier: MIT
"""A few hundred random PyPTO programs (tests/fuzz/pypto_random.py; many more with `make fuzz`)."""
import os
import sys

import pytest

pytest.importorskip("numpy")
pytest.importorskip("pypto.language")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz"))

import pypto_chip  # noqa: E402
import pypto_executed  # noqa: E402
import pypto_random  # noqa: E402
import pypto_random_tensors  # noqa: E402


@pytest.mark.parametrize("first", range(0, 240, 40))
def test_passes_keep_what_random_programs_compute(first):
    for seed in range(first, first + 40):
        pypto_random.check_valid(seed)


@pytest.mark.parametrize("first", range(1000, 1120, 40))
def test_damaged_programs_are_refused_at_a_place(first):
    refused = sum(pypto_random.check_damaged(seed) for seed in range(first, first + 40))
    assert refused > 20


@pytest.mark.parametrize("seed, platform, backend", [
    (0, "a2a3sim", "CCE"), (0, "a5sim", "PTO"), (177, "a2a3sim", "PTO")])
def test_chips_compute_what_the_interpreter_does(seed, platform, backend):
    assert pypto_random.check_chip(seed, platform, backend)


@pytest.mark.parametrize("first", [2000, 2100])  # a2a3, a5
def test_executed_kernels_compute_what_the_interpreter_says(first):
    ran, wrong = pypto_executed.run_batch(first, 40)
    assert not wrong
    assert ran > 40


@pytest.mark.parametrize("first", range(0, 200, 100))
def test_functions_on_tensors_compute_what_python_does_after_each_pass(first):
    right = sum(pypto_random_tensors.check_passes(pypto_random_tensors.made(seed)) for seed in range(first, first + 100))
    assert right > 90


@pytest.mark.parametrize("first", [1000, 1150])  # a2a3 by PTO, a5 by CCE
def test_functions_on_tensors_compute_the_same_on_chips(first):
    ran, wrong = pypto_chip.run_batch(first, 16)
    assert not wrong
    assert ran > 12


@pytest.mark.parametrize("annotation, column, text", [
    ("pl.Tensor[[8], pl.FP33]", 25, "Unknown dtype: FP33"), ("pl.Foo", 10, "Incomplete type annotation: pl.Foo"),
    ("pl.Foo[[8], pl.FP32]", 10, "Unknown type annotation: pl.Foo"),
    ("pl.Tensor[[8], pl.FP32, pl.NQ]", 34, "Unknown layout: NQ"),
])
def test_unknown_names_in_annotations_have_a_place(annotation, column, text):
    pl = pypto_random.pl
    with pytest.raises(pl.ParserTypeError, match=text) as info:
        pl.parse(f"@pl.function\ndef f(x: {annotation}):\n    y = x\n")
    assert (info.value.span.line, info.value.span.column) == (2, column)


def test_unknown_names_cannot_be_called():
    with pytest.raises(AttributeError, match="no attribute 'functoin'"):
        pypto_random.pl.functoin(type=1)
    assert not hasattr(pypto_random.pl, "__wrapped__")
