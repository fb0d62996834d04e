# SPDX-License-Identifier: MIT
"""Names that passes and generators invent may be an author's (decision D17): nothing meets, on any back end."""
import os

import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
os.environ.setdefault("SIMPLER_CACHE_DIR", os.path.join(os.path.abspath(os.environ.get("SIMPLER_BUILD_DIR", "build")),
                                                        "cache"))
from pypto import ir, passes, runtime  # noqa: E402

TEXT = """
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, _t0: pl.Tensor[[16, 32], pl.FP32], _m0: pl.Tensor[[16, 32], pl.FP32], n: pl.INT64,
          _m1: pl.Out[pl.Tensor[[16, 32], pl.FP32]]) -> pl.Tensor[[16, 32], pl.FP32]:
        _t1 = pl.load(_t0, [0, 0], [16, 32])
        _t2 = pl.load(_m0, [0, 0], [16, 32])
        _v0 = pl.add(pl.mul(_t1, _t2), pl.sub(_t1, pl.mul(_t2, _t2)))
        _if_0 = n
        for _c0 in pl.range(n + 1):
            _v1 = pl.exp(pl.mul(_v0, 0.01))
            if _c0 > 1 and n > 0:
                _v0 = pl.add(_v1, _t1)
            _t1, _t2 = _t2, _t1
        for _i, (_m2, _m3) in pl.range(3, init_values=(_v0, _t1)):
            _m2, _m3 = pl.yield_(pl.add(_m3, _m2), _m2)
        while _if_0 > 0:
            _m2 = pl.add(_m2, 1.0 - _m3)
            _if_0 = _if_0 - 1
        _m1 = pl.store(_m2, [0, 0], [16, 32], _m1)
        return _m1

    @pl.function(type=pl.FunctionType.Opaque)
    def main(self, _o0: pl.Tensor[[16, 32], pl.FP32], ret_0: pl.Tensor[[16, 32], pl.FP32], _r0: pl.INT64,
             ret: pl.InOut[pl.Tensor[[16, 32], pl.FP32]]) -> pl.Tensor[[16, 32], pl.FP32]:
        _r1 = _o0 + ret_0
        _o1 = self.k(_r1, ret_0 * 2.0, _r0, ret)
        with pl.incore():
            _c1 = pl.add(pl.load(_o1, [0, 0], [16, 32]), 1.0)
            ret = pl.store(_c1, [0, 0], [16, 32], ret)
        return ret
"""
A, B = (np.random.default_rng(i).uniform(-1, 1, (16, 32)).astype("float32") for i in range(2))


def wanted():
    return ir.interpret(pl.parse(TEXT), A, B, 2, np.zeros_like(A))


@pytest.mark.parametrize("strategy", ["Default", "PTOAS"])
def test_every_pass_and_what_it_prints_keep_authors_names_apart(strategy):
    program, want = pl.parse(TEXT), wanted()
    for name in passes.PassManager.get_strategy(strategy).names:
        program = passes.PassManager([name]).run_passes(program)
        text = ir.python_print(program)
        again = pl.parse(text)
        assert ir.python_print(again) == text, name
        for one in (program, again):
            np.testing.assert_array_equal(ir.interpret(one, A, B, 2, np.zeros_like(A)), want, name)


@pytest.mark.parametrize("platform, backend", [("a2a3sim", "PTO"), ("a2a3sim", "CCE"), ("a5sim", "PTO"), ("a5sim", "CCE")])
def test_generated_code_keeps_authors_names_apart(platform, backend):
    got = runtime.compile(pl.parse(TEXT), platform, backend)(A, B, 2, np.zeros_like(A))
    np.testing.assert_allclose(got, wanted(), atol=1e-5)
