# SPDX-License-Identifier: MIT
"""Running IR without a chip: arguments in, results out."""
import sys

from . import _core
from ._tensors import as_array, check_array, expected, number

_FORMATS = {"BOOL": "?", "INT8": "b", "INT16": "h", "INT32": "i", "INT64": "q", "INDEX": "q", "UINT8": "B", "UINT16": "H",
            "UINT32": "I", "UINT64": "Q", "FP32": "f", "FP64": "d"}
_NUMPY = {"BOOL": "bool", "INDEX": "int64", "FP16": "float16", "FP32": "float32", "FP64": "float64", "BF16": "uint16",
          "FP8E4M3FN": "uint8", "FP8E5M2": "uint8", "FP8E8M0": "uint8"}


def entry_of(node, name=None):
    """The function with that name, or the one that a caller means: the only one that is no kernel and that no function calls."""
    if node.node_kind == "Function":
        return node
    functions = node.functions
    if name is not None:
        if name not in functions:
            raise ValueError(f"the program has no function {name!r}; there are {', '.join(functions)}")
        return functions[name]
    called = set(_core.called_functions(node))
    for kinds in ((1,), (0,), (0, 1, 2, 9)):  # Orchestration, Opaque, any
        found = [f for f in functions.values() if f.func_type in kinds and f.name not in called]
        if len(found) == 1:
            return found[0]
    raise ValueError(f"function= must say which is meant: {', '.join(functions)}")


def _array(dtype, shape, data):
    numpy = sys.modules.get("numpy")
    if numpy:
        return numpy.frombuffer(data, numpy.dtype(_NUMPY.get(dtype, dtype.lower()))).reshape(shape)
    view = memoryview(data)
    return view.cast(_FORMATS[dtype], shape) if dtype in _FORMATS and shape and all(shape) else view


def _result(item, args):
    if isinstance(item, int):
        return args[item]
    return _array(*item) if len(item) == 3 else item[1]


def interpret(node, args, function, max_steps, blockdim):
    f = entry_of(node, function)
    args = list(args)
    params = [p for p in f.params if f.func_type != 9 or p.name not in ("blockdim", "block_id")]
    if len(args) != len(params):
        raise TypeError(f"{f.name}() takes {len(params)} arguments ({expected(params)}), got {len(args)}")
    for i, (p, arg) in enumerate(zip(params, args)):
        if p.type.kind == "ScalarType":
            args[i] = number(p.name, p.type.dtype, arg)
        elif p.type.kind == "TensorType":
            check_array(p.name, p.type, arg)
            args[i] = as_array(arg)
    results = [_result(item, args) for item in _core.interpret(node, f.name, args, max_steps, blockdim)]
    return results[0] if len(results) == 1 else tuple(results) if results else None
