# SPDX-License-Identifier: MIT
"""The programs of tests/programs/pypto on the simulated a5: what the chip computes is what numpy does."""
import pytest

pytest.importorskip("numpy")
pytest.importorskip("pypto.language")
from pypto_programs import BY_HAND, check_on_chip, runs_on  # noqa: E402


@pytest.mark.parametrize("name, backend", runs_on("a5sim"))
def test_program_computes_on_the_chip_what_numpy_does(name, backend):
    check_on_chip(name, "a5sim", backend)


@pytest.mark.skipif(BY_HAND, reason="the programs are chosen by hand")
@pytest.mark.parametrize("backend", ["PTO", "CCE"])
def test_each_back_end_has_programs(backend):
    assert len([n for n, b in runs_on("a5sim") if b == backend]) >= 5
