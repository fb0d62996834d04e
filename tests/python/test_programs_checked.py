# SPDX-License-Identifier: MIT
"""The example programs in checked mode: their kernels access only what is theirs, and order their pipes."""
import glob
import os
import subprocess

import pytest

BUILD = os.path.abspath(os.environ.get("SIMPLER_BUILD_DIR", "build"))
PROGRAMS = sorted(os.path.basename(os.path.dirname(p)) for p in glob.glob(os.path.join(BUILD, "programs", "*", "run")))


def test_there_are_programs():
    assert len(PROGRAMS) >= 5


# the platforms differ in the pipe that a TPOP runs on
CASES = [(program, "a2a3sim") for program in PROGRAMS] + [(program, "a5sim") for program in PROGRAMS if "pipes" in program]


@pytest.mark.parametrize("program, platform", CASES)
def test_program_passes_in_checked_mode(program, platform):
    done = subprocess.run([os.path.join(BUILD, "programs", program, "run"), "--platform", platform], text=True,
                          env={**os.environ, "SIMPLER_CHECK": "1"}, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
