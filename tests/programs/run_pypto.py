# SPDX-License-Identifier: MIT
"""Compile a PyPTO program of tests/programs/pypto, run it on a simulated chip, and compare with numpy."""
import argparse
import importlib.util
import os
import sys
import time

import numpy as np

from pypto import runtime

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pypto")


def load(name):
    spec = importlib.util.spec_from_file_location(f"pypto_program_{name}", os.path.join(FOLDER, f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, next(v for v in vars(module).values() if getattr(v, "node_kind", "") == "Program")


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("name", help="paged_attention, softmax, ...")
    options.add_argument("--platform", help="that the program is for; else the usual one")
    options.add_argument("--seed", type=int, default=1)
    options = options.parse_args()
    module, program = load(options.name)
    options.platform = options.platform or getattr(module, "PLATFORMS", [runtime.default_platform()])[0]
    start = time.perf_counter()
    compiled = runtime.compile(program, options.platform)
    kernels = [f.name for f in program.functions.values() if f.func_type in (2, 9)]
    print(f"{program.name}: kernels {', '.join(kernels)}")
    print(f"compiled for {options.platform} in {time.perf_counter() - start:.2f} s")
    args, expected = module.case(np.random.default_rng(options.seed))
    start = time.perf_counter()
    results = compiled(*args)
    print(f"run in {(time.perf_counter() - start) * 1e3:.2f} ms, copies included")
    results = results if isinstance(results, tuple) else (results,)
    worst = max(float(np.abs(r.astype("float64") - e).max()) for r, e in zip(results, expected))
    good = all(np.allclose(r, e, rtol=module.TOLERANCE, atol=module.TOLERANCE) for r, e in zip(results, expected))
    print(f"largest difference from numpy: {worst:.2g} ({'within' if good else 'BEYOND'} {module.TOLERANCE:g})")
    return not good


if __name__ == "__main__":
    sys.exit(main())
