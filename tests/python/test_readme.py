# SPDX-License-Identifier: MIT
"""The examples of README.md do what it says."""
import ctypes
import os
import re
import shutil
import subprocess

import numpy as np
import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ["SIMPLER_BUILD_DIR"]


def example(language):
    with open(os.path.join(TOP, "README.md")) as readme:
        return re.search(rf"^```{language}\n(.*?)^```", readme.read(), re.M | re.S)[1]


def run_python_example(monkeypatch):
    monkeypatch.chdir(TOP)
    names = {}
    exec(compile(example("python"), "README.md", "exec"), names)
    return names


def test_python_example_runs(monkeypatch):
    names = run_python_example(monkeypatch)
    assert list(names["result"][:3]) == [0.5, 1.5, 2.5]
    assert names["worker"].state == "CLOSED"


def test_c_example_compiles_without_warning_and_adds(monkeypatch, tmp_path):
    library = str(tmp_path / "example.so")
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", f"-I{TOP}/libsimpler/include", "-x", "c", "-",
                    "-x", "none", f"{BUILD}/libsimpler.so.0", f"-Wl,-rpath,{BUILD}", "-o", library],
                   input=example("c"), text=True, check=True)
    program = run_python_example(monkeypatch)["program"]
    simpler, callable_ = ctypes.CDLL(f"{BUILD}/libsimpler.so.0"), ctypes.c_void_p()
    assert simpler.simpler_chip_callable_from_bytes(ctypes.c_void_p(program.buffer_ptr()),
                                                    ctypes.c_size_t(program.buffer_size()),
                                                    ctypes.byref(callable_), None) == 0
    x = [np.full(100, value, np.float32) for value in (3, 4, 0)]
    pointers = (ctypes.c_void_p * 3)(*(array.ctypes.data for array in x))
    assert ctypes.CDLL(library).add(callable_, pointers, ctypes.c_uint32(100)) == 0
    simpler.simpler_chip_callable_put(callable_)
    assert (x[2] == 7).all()


MAIN = r"""
#include <stdio.h>

int main(int argc, char **argv)
{
	static float memory[3][100] = { { 3 }, { 4 } };
	float *x[3] = { memory[0], memory[1], memory[2] };
	static char bytes[1 << 20];
	struct simpler_chip_callable *program = NULL;
	FILE *f = fopen(argv[argc - 1], "rb");
	int rc = simpler_chip_callable_from_bytes(bytes, fread(bytes, 1, sizeof(bytes), f), &program, NULL);

	fclose(f);
	for (int i = 0; i < 3 && !rc; i++)
		rc = add(program, x, 100);
	simpler_chip_callable_put(program);
	return rc || x[2][0] != 7;
}
"""


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")
def test_c_example_is_clean_under_valgrind(monkeypatch, tmp_path):
    program, data = str(tmp_path / "program"), tmp_path / "program.bin"
    data.write_bytes(run_python_example(monkeypatch)["program"].to_bytes())
    subprocess.run(["gcc", "-g", f"-I{TOP}/libsimpler/include", "-x", "c", "-", "-x", "none", f"{BUILD}/libsimpler.so.0",
                    f"-Wl,-rpath,{BUILD}", "-o", program], input=example("c") + MAIN, text=True, check=True)
    done = subprocess.run(["valgrind", "-q", "--error-exitcode=9", "--leak-check=full",
                           "--errors-for-leak-kinds=definite,possible", program, data], capture_output=True, text=True)
    assert done.returncode == 0 and "Warning" not in done.stderr, done.stderr
