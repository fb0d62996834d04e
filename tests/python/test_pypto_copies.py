# SPDX-License-Identifier: MIT
"""Programs and nodes in pickle and copy, and arguments of calls that are too many or of another kind."""
import copy
import pickle
import subprocess
import sys

import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import ir, passes, runtime  # noqa: E402

T = "pl.Tensor[[16, 32], pl.FP32]"
TEXT = f'''
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: {T}, s: pl.FP32, n: pl.INT32, o: pl.Out[{T}]) -> {T}:
        x = pl.load(a, [0, 0], [16, 32])
        o = pl.store(x * s + pl.cast(n, pl.FP32), [0, 0], [16, 32], o)
        return o

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, s: pl.FP32, a: {T}, n: pl.INT32) -> {T}:
        o = pl.create_tensor([16, 32], dtype=pl.FP32)
        o = self.k(a, s, n, o)
        return o
'''
WAYS = [copy.copy, copy.deepcopy] + [lambda x, p=p: pickle.loads(pickle.dumps(x, p)) for p in range(2, pickle.HIGHEST_PROTOCOL + 1)]


@pytest.mark.parametrize("way", WAYS)
def test_program_and_its_parts_are_copied(way):
    p = pl.parse(TEXT)
    x = np.ones((16, 32), "float32")
    for program in (p, passes.PassManager.get_strategy("Default").run_passes(p)):
        other = way(program)
        ir.assert_structural_equal(other, program)
        assert str(other) == str(program) and other.functions["k"].span == program.functions["k"].span
        assert (ir.interpret(other, 2.0, x, 3) == 5).all()
    for name, f in p.functions.items():
        ir.assert_structural_equal(way(f), f)
        assert way(f).name == name and str(way(f.params[0].type)) == str(f.params[0].type)


def test_containers_of_programs_are_copied():
    made = copy.deepcopy({"programs": [pl.parse(TEXT)]})
    ir.assert_structural_equal(made["programs"][0], pl.parse(TEXT))


def test_pickle_is_read_by_another_process():
    code = "import pickle, sys; p = pickle.load(sys.stdin.buffer); print(p.name, *p.functions)"
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(pl.parse(TEXT)), capture_output=True)
    assert done.stdout.split() == [b"P", b"k", b"main"], done.stderr


def test_pickle_of_other_bytes_is_refused():
    data = pickle.dumps(pl.parse(TEXT), 2).replace(b"Function", b"Functiom")
    with pytest.raises(ValueError):
        pickle.loads(data)


@pytest.fixture(scope="module")
def calls():
    p = pl.parse(TEXT)
    return runtime.compile(p, "a5sim"), lambda *args: ir.interpret(p, *args)


A = np.ones((16, 32), "float32")
LIST = r"takes 3 arguments \(s: pl.Scalar\[pl.FP32\], a: pl.Tensor\[\[16, 32\], pl.FP32\], n: pl.Scalar\[pl.INT32\]\), got "


@pytest.mark.parametrize("args", [(1.0, A, 2, 3), (1.0, A, 2, A), (1.0, A), ()])
def test_other_number_of_arguments_is_refused_with_the_list(calls, args):
    for call in calls:
        with pytest.raises(TypeError, match=LIST + str(len(args))):
            call(*args)


@pytest.mark.parametrize("args, message", [
    ((A, A, 2), r"argument 's' is FP32, got ndarray of shape \[16, 32\]"), (("x", A, 2), "argument 's' is FP32, got 'x'"),
    ((None, A, 2), "argument 's' is FP32, got NoneType"), ((1.0, A, "3"), "argument 'n' is INT32, got '3'"),
    ((1.0, A, 2.5), "argument 'n' is INT32, got 2.5"), ((1.0, A, float("nan")), "argument 'n' is INT32, got nan"),
    ((1.0, A, None), "argument 'n' is INT32, got NoneType"), ((1.0, A, A), r"argument 'n' is INT32, got ndarray of shape"),
    ((1.0, 2.0, 2), "argument 'a' is .*, got float, which is no array"), ((1.0, None, 2), "argument 'a' is .*, got NoneType"),
    ((1.0, [1, 2], 2), "argument 'a' is .*, got list, which is no array"), ((1.0, "a", 2), "argument 'a' is .*, got 'a'"),
])
def test_argument_of_another_kind_is_refused_by_name(calls, args, message):
    for call in calls:
        with pytest.raises(TypeError, match=message):
            call(*args)


def test_numbers_of_other_makers_are_taken(calls):
    for call in calls:
        for args in ((2, A, True), (np.float32(2), A, np.int64(1)), (np.float64(2), A, np.array(1))):
            assert (call(*args) == 3).all()
