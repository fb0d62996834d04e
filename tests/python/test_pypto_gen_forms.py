# SPDX-License-Identifier: MIT
"""Texts of the three generators for loops, branches, while loops, tuples, pipes and blocks, to the letter.

With SIMPLER_WRITE_GOLDENS=1 the files in goldens/ are written anew instead of compared; read them before they are committed.
"""
import os

import pytest

pl = pytest.importorskip("pypto.language")
from pypto import _core, passes  # noqa: E402
from pypto_forms import A5, FORMS, form  # noqa: E402

GOLDENS = os.path.join(os.path.dirname(__file__), "goldens")
GENERATED = [(name, what, function) for name in FORMS
             for what, function in (("orchestration", "main"), ("pto", "k"), ("cce", "k"), ("pto", "act"), ("cce", "act"))
             if function != "act" or name == "pipe"]


def golden_of(name, what, function):
    return os.path.join(GOLDENS, f"{name}.{function}.{what}.txt")


@pytest.mark.parametrize("name, what, function", GENERATED)
def test_the_text_of_a_form(name, what, function):
    strategy = passes.PassManager.get_strategy("Default" if what == "cce" else "PTOAS", "a5" if name in A5 else "a2a3")
    program = strategy.run_passes(pl.parse(form(name)))
    _core.describe_program(program)
    text = _core.generate(program, what, function, int(name in A5))
    path = golden_of(name, what, function)
    if os.environ.get("SIMPLER_WRITE_GOLDENS") == "1":
        with open(path, "w") as f:
            f.write(text)
    with open(path) as f:
        assert text == f.read()


def test_every_golden_belongs_to_a_form():
    assert sorted(os.listdir(GOLDENS)) == sorted(os.path.basename(golden_of(*g)) for g in GENERATED)
