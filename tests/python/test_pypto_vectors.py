# SPDX-License-Identifier: MIT
"""Products of matrices with vectors, and of matrices that are no whole boxes of the matrix buffers."""
import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("pypto.language")
from pypto import ir, runtime  # noqa: E402

KINDS = {"FP32": ("float32", "FP32"), "FP16": ("float16", "FP32"), "INT8": ("int8", "INT32")}


def numbers(shape, dtype="FP32", seed=1):
    random = np.random.default_rng(seed)
    return (random.integers(-9, 9, shape) if dtype == "INT8" else random.uniform(-2, 2, shape)).astype(KINDS[dtype][0])


def agree(got, want):
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-3)


def tensors(a, b, result, keywords=""):
    return pl.parse(f"@pl.program\nclass P:\n    @pl.function\n    def main(self, a: pl.Tensor[{list(a)}, pl.FP32], "
                    f"b: pl.Tensor[{list(b)}, pl.FP32]) -> pl.Tensor[{list(result)}, pl.FP32]:\n"
                    f"        return pl.matmul(a, b{keywords})\n", "user.py")


def tiles(op, a, b, dtype):
    """One kernel that multiplies whole operands."""
    out = f"pl.Tensor[{[a[0], b[1]]}, pl.{KINDS[dtype][1]}]"
    return pl.parse(f'''
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[{list(a)}, pl.{dtype}], b: pl.Tensor[{list(b)}, pl.{dtype}], o: pl.Out[{out}]) -> {out}:
        ma = pl.load(a, [0, 0], {list(a)}, target_memory=pl.MemorySpace.Mat)
        mb = pl.load(b, [0, 0], {list(b)}, target_memory=pl.MemorySpace.Mat)
        x = pl.move(ma, target_memory=pl.MemorySpace.Left)
        y = pl.move(mb, target_memory=pl.MemorySpace.Right)
        return pl.store(pl.{op}(x, y), [0, 0], {[a[0], b[1]]}, o)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[{list(a)}, pl.{dtype}], b: pl.Tensor[{list(b)}, pl.{dtype}]) -> {out}:
        o = pl.create_tensor({[a[0], b[1]]}, dtype=pl.{KINDS[dtype][1]})
        o = self.k(a, b, o)
        return o
''', "user.py")


@pytest.mark.parametrize("a, b", [((32, 48), (48,)), ((48,), (48, 20)), ((5, 7), (7,)), ((3, 20, 8), (8,)), ((8,), (3, 8, 20))])
def test_matrix_of_a_tensor_times_vector(a, b):
    x, y = numbers(a), numbers(b, seed=2)
    agree(ir.interpret(tensors(a, b, np.matmul(x, y).shape), x, y), np.matmul(x, y))


@pytest.mark.parametrize("a, b, keywords", [((48, 32), (48,), ", a_trans=True"), ((48,), (32, 48), ", b_trans=True"),
                                            ((32, 48), (48,), ", b_trans=True")])
def test_matrix_that_is_stored_across_times_vector(a, b, keywords):
    x, y = numbers(a), numbers(b, seed=2)
    want = np.matmul(x.T if "a_t" in keywords else x, y.T)
    agree(ir.interpret(tensors(a, b, want.shape, keywords), x, y), want)


@pytest.mark.parametrize("platform, backend, a, b", [("a5sim", "PTO", (37, 48), (48,)), ("a2a3sim", "CCE", (48,), (48, 20))])
def test_vector_on_a_chip(platform, backend, a, b):
    x, y = numbers(a), numbers(b, seed=2)
    agree(runtime.compile(tensors(a, b, np.matmul(x, y).shape), platform, backend)(x, y), np.matmul(x, y))


CASES = [("matmul", (32, 48), (48, 1), "FP32"), ("gemv", (1, 48), (48, 1), "FP16"), ("matmul", (5, 16), (16, 16), "INT8"),
         ("matmul", (7, 3), (3, 9), "FP32"), ("gemv", (1, 5), (5, 33), "FP32"), ("matmul", (3, 40), (40, 40), "INT8")]
PLACES = [("a5sim", "PTO"), ("a2a3sim", "CCE"), ("a2a3sim", "PTO"), ("a5sim", "CCE")]


@pytest.mark.parametrize("op, a, b, dtype", CASES)
def test_operands_that_are_no_whole_boxes_are_padded(op, a, b, dtype):
    x, y = numbers(a, dtype), numbers(b, dtype, 2)
    want = x.astype("float64") @ y.astype("float64")
    p = tiles(op, a, b, dtype)
    agree(ir.interpret(p, x, y), want)
    agree(runtime.compile(p, *PLACES[CASES.index((op, a, b, dtype)) % 4])(x, y), want)


def test_inner_extent_of_one_is_refused_with_a_way_around():
    with pytest.raises(pl.InvalidOperationError, match="requires an inner extent of more than 1, but got \\[32, 1\\]") as e:
        tiles("matmul", (32, 1), (1, 32), "FP32")
    assert "valid_shapes" in e.value.errors[0].hint and e.value.errors[0].span.line == 10


def test_two_vectors_have_no_product_on_a_chip():
    with pytest.raises(pl.CompileError, match="not generated for a vector"):
        runtime.compile(tensors((48,), (48,), ()), "a2a3sim", "CCE")


def test_what_changes_its_tile_has_no_value():
    text = '''
@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[16, 32], pl.FP32], o: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
    x = pl.load(a, [0, 0], [16, 32])
    t = pl.setval(x, 3, 2.0)
    return pl.store(t, [0, 0], [16, 32], o)
'''
    with pytest.raises(pl.ParserTypeError, match="'block.setval' gives no value") as e:
        pl.parse(text)
    assert "write it as a statement" in e.value.errors[0].hint and len(e.value.errors) == 1
