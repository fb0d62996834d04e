# SPDX-License-Identifier: MIT
"""Casts honour the mode that the author gives (decision D10): the interpreter and the simulated chips alike."""
import os

import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
os.environ.setdefault("SIMPLER_CACHE_DIR", os.path.join(os.path.abspath(os.environ.get("SIMPLER_BUILD_DIR", "build")),
                                                        "cache"))
from pypto import ir, runtime  # noqa: E402

ULP = 2.0**-10  # of FP16 at 1
INF = float("inf")
INPUTS = [1 + ULP / 2, 1 + 1.5 * ULP, -1 - ULP / 2, 1 + ULP / 4, 65520, -1 - 0.75 * ULP]
MODES = {
    "none": [1, 1 + 2 * ULP, -1, 1, INF, -1 - ULP],
    "rint": [1, 1 + 2 * ULP, -1, 1, INF, -1 - ULP],
    "round": [1 + ULP, 1 + 2 * ULP, -1 - ULP, 1, INF, -1 - ULP],
    "floor": [1, 1 + ULP, -1 - ULP, 1, 65504, -1 - ULP],
    "ceil": [1 + ULP, 1 + 2 * ULP, -1, 1 + ULP, INF, -1],
    "trunc": [1, 1 + ULP, -1, 1, 65504, -1],
    "odd": [1 + ULP, 1 + ULP, -1 - ULP, 1, 65504, -1 - ULP],
}
T = "pl.Tensor[[16, 32], pl.{}]"


def program(mode, narrow="FP16", wide="FP32"):
    x, y = T.format(wide), T.format(narrow)
    return pl.parse(f"""
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: {x}, y: pl.Out[{y}]) -> {y}:
        y = pl.store(pl.cast(pl.load(x, [0, 0], [16, 32]), pl.{narrow}, mode='{mode}'), [0, 0], [16, 32], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: {x}) -> {y}:
        y = pl.create_tensor([16, 32], dtype=pl.{narrow})
        y = self.k(x, y)
        return y
""")


@pytest.mark.parametrize("mode", MODES)
def test_a_narrower_float_is_the_one_that_the_mode_chooses(mode):
    x = np.resize(np.array(INPUTS, "float32"), (16, 32))
    result = ir.interpret(program(mode), x)
    np.testing.assert_array_equal(result.ravel()[:len(INPUTS)].astype("float64"), MODES[mode])


def test_integers_become_the_nearest_float_whatever_the_mode():
    x = np.resize(np.array([2049, 2051, -2049, 4098], "int16"), (16, 32))
    for mode in MODES:
        result = ir.interpret(program(mode, wide="INT16"), x)
        np.testing.assert_array_equal(result, x.astype("float16"))


@pytest.mark.parametrize("platform, backend, mode", [("a2a3sim", "PTO", "floor"), ("a5sim", "CCE", "odd"), ("a2a3sim", "CCE", "round")])
def test_chips_round_as_the_interpreter_does(platform, backend, mode):
    random = np.random.default_rng(3).standard_normal((16, 32)).astype("float32") * 100
    random.ravel()[:len(INPUTS)] = INPUTS
    p = program(mode)
    result = runtime.compile(p, platform=platform, backend_type=backend)(random)
    np.testing.assert_array_equal(result.ravel()[:len(INPUTS)].astype("float64"), MODES[mode])
    np.testing.assert_array_equal(result, ir.interpret(p, random))


NAN = """
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[1, 8], pl.FP32], z: pl.Tensor[[1, 8], pl.FP32], y: pl.Out[pl.Tensor[[6, 8], pl.FP32]]
          ) -> pl.Tensor[[6, 8], pl.FP32]:
        t = pl.load(x, [0, 0], [1, 8])
        u = pl.load(z, [0, 0], [1, 8])
        y = pl.store(pl.maximum(t, u), [0, 0], [1, 8], y)
        y = pl.store(pl.minimum(t, u), [1, 0], [1, 8], y)
        y = pl.store(pl.partmax(t, u), [2, 0], [1, 8], y)
        y = pl.store(pl.partmin(t, u), [3, 0], [1, 8], y)
        y = pl.store(pl.maxs(t, 2.5), [4, 0], [1, 8], y)
        y = pl.store(pl.mins(t, 2.5), [5, 0], [1, 8], y)
        return y

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[1, 8], pl.FP32], z: pl.Tensor[[1, 8], pl.FP32]) -> pl.Tensor[[6, 8], pl.FP32]:
        y = pl.create_tensor([6, 8], dtype=pl.FP32)
        y = self.k(x, z, y)
        return y
"""


@pytest.mark.parametrize("platform, backend", [("a2a3sim", "PTO"), ("a5sim", "CCE")])
def test_of_two_numbers_that_are_not_ordered_the_first_is_taken(platform, backend):
    x, z = np.full((1, 8), 2.5, "float32"), np.full((1, 8), 1.5, "float32")
    x[0, :2], z[0, 1:4] = np.nan, np.nan
    program = pl.parse(NAN)
    want = ir.interpret(program, x, z)
    assert np.isnan(want[:4, :2]).all() and (want[:4, 2:4] == 2.5).all()
    np.testing.assert_array_equal(runtime.compile(program, platform, backend)(x, z), want)
