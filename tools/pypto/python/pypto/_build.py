# SPDX-License-Identifier: MIT
"""IR made in Python, node by node (spec pypto.md section 5.1).

Nodes are immutable; a variable is its node, whatever its name. Operators are checked by the registry as in programs:

    x = ir.Var("x", ir.TensorType([16, 16], pl.FP32))
    t = ir.Var("t", ir.TileType([16, 16], pl.FP32))
    load = ir.AssignStmt(t, ir.Call("block.load", [x, [0, 0], [16, 16]]))
"""
from . import _core

__all__ = ["ScalarType", "TensorType", "TileType", "TupleType", "Var", "IterArg", "ConstInt", "ConstFloat", "ConstBool",
           "MakeTuple", "TupleGetItemExpr", "Call", "Cast", "AssignStmt", "EvalStmt", "IfStmt", "ForStmt", "WhileStmt",
           "ScopeStmt", "YieldStmt", "ReturnStmt", "SeqStmts", "Function", "Program"]
_SCALAR, _TENSOR, _TILE, _TUPLE = 1, 2, 3, 4
_CODES = {name: code for name, code, _ in _core.dtypes()}
_COMPARISONS = ("Eq", "Ne", "Lt", "Le", "Gt", "Ge", "And", "Or")


def _code(dtype):
    code = getattr(dtype, "code", None)
    if code is None:
        code = _CODES.get(dtype)
    if code is None:
        raise TypeError(f"an element type such as pl.FP32 is needed, not {dtype!r}")
    return code


def ScalarType(dtype):
    return _core.build_type(_SCALAR, _code(dtype), [])


def TensorType(shape, dtype):
    return _core.build_type(_TENSOR, _code(dtype), [_index(d) for d in shape])


def TileType(shape, dtype):
    return _core.build_type(_TILE, _code(dtype), [_index(d) for d in shape])


def TupleType(types):
    return _core.build_type(_TUPLE, 0, list(types))


# ---- Expressions ----

def _index(value):
    """An extent or offset: integers are INDEX constants."""
    return ConstInt(value, "INDEX") if isinstance(value, int) else value


def _value(value):
    """A number as the IR takes it from Python: INT32 or FP32; a list is a tuple of INDEX values."""
    if isinstance(value, bool):
        return ConstBool(value)
    if isinstance(value, int):
        return ConstInt(value, "INT32")
    if isinstance(value, float):
        return ConstFloat(value, "FP32")
    if isinstance(value, (list, tuple)):
        return MakeTuple([_index(v) for v in value])
    return value


def Var(name, type):
    return _core.build_node("Var", type, {"name": name})


def IterArg(name, type, initValue):
    return _core.build_node("IterArg", type, {"name": name, "init": _value(initValue)})


def ConstInt(value, dtype):
    return _core.build_node("ConstInt", ScalarType(dtype), {"value": value})


def ConstFloat(value, dtype):
    return _core.build_node("ConstFloat", ScalarType(dtype), {"value": value})


def ConstBool(value):
    return _core.build_node("ConstBool", ScalarType("BOOL"), {"value": bool(value)})


def MakeTuple(elements):
    elements = [_value(e) for e in elements]
    return _core.build_node("MakeTuple", TupleType([e.type for e in elements]), {"elements": elements})


def TupleGetItemExpr(tuple, index):
    types = tuple.type.types
    if not 0 <= index < len(types):
        raise IndexError(f"the tuple has {len(types)} elements, not {index + 1}")
    return _core.build_node("TupleGetItemExpr", types[index], {"tuple": tuple, "index": index})


def _numbers(*values):
    for value in values:
        kind = getattr(getattr(value, "type", None), "kind", None)
        if kind != "ScalarType":
            raise TypeError(f"a scalar is needed, not {kind or type(value).__name__}")


def _binary(kind):
    def make(left, right):
        left, right = _value(left), _value(right)
        _numbers(left, right)
        if left.type.dtype != right.type.dtype:
            raise TypeError(f"Operator '{kind}' needs operands of one type, got {left.type.dtype} and {right.type.dtype}; "
                            "use ir.Cast")
        dtype = "BOOL" if kind in _COMPARISONS else left.type.dtype
        return _core.build_node(kind, ScalarType(dtype), {"left": left, "right": right})
    make.__name__ = make.__qualname__ = kind
    return make


def _unary(kind):
    def make(operand):
        operand = _value(operand)
        _numbers(operand)
        return _core.build_node(kind, ScalarType("BOOL") if kind == "Not" else operand.type, {"operand": operand})
    make.__name__ = make.__qualname__ = kind
    return make


for _name in ("Add", "Sub", "Mul", "FloorDiv", "FloorMod", "FloatDiv", "Min", "Max", "Pow", "BitAnd", "BitOr", "BitXor",
              "BitShiftLeft", "BitShiftRight", *_COMPARISONS):
    globals()[_name] = _binary(_name)
    __all__.append(_name)
for _name in ("Abs", "Neg", "Not", "BitNot"):
    globals()[_name] = _unary(_name)
    __all__.append(_name)


def Cast(operand, dtype):
    operand = _value(operand)
    _numbers(operand)
    return _core.build_node("Cast", ScalarType(dtype), {"operand": operand})


def _attr(value):
    kind = getattr(type(value), "__pypto_kind__", None)
    if kind == "dtype":
        return "dtype", value.code
    if kind == "enum":
        return type(value).__name__, value.value
    return value


def Call(op, args=(), kwargs=None, type=None):
    """A call of an operator ("block.add"), checked and typed by the registry, or of a function of the program.

    type: of a function's value; without one it has none.
    """
    space = op.partition(".")[0]
    is_op = "." in op and space in ("block", "tensor", "system", "cluster", "pipe")
    return _core.build_call(op, is_op, [_value(a) for a in args], {k: _attr(v) for k, v in (kwargs or {}).items()}, type)


# ---- Statements ----

def AssignStmt(var, value):
    return _core.build_node("AssignStmt", None, {"var": var, "value": _value(value)})


def EvalStmt(expr):
    return _core.build_node("EvalStmt", None, {"expr": expr})


def _body(stmts):
    """One statement, or a list of them."""
    if isinstance(stmts, (list, tuple)):
        return stmts[0] if len(stmts) == 1 else SeqStmts(stmts)
    return stmts


def IfStmt(condition, then_body, else_body=None, return_vars=()):
    return _core.build_node("IfStmt", None, {
        "condition": _value(condition), "then_body": _body(then_body),
        "else_body": None if else_body is None else _body(else_body), "return_vars": list(return_vars)})


def ForStmt(loop_var, start, stop, step, body, iter_args=(), return_vars=(), kind=0):
    if len(iter_args) != len(return_vars):
        raise ValueError(f"{len(iter_args)} iter_args but {len(return_vars)} return_vars")
    return _core.build_node("ForStmt", None, {
        "loop_var": loop_var, "start": _index(start), "stop": _index(stop), "step": _index(step), "body": _body(body),
        "iter_args": list(iter_args), "return_vars": list(return_vars), "kind": int(kind)})


def WhileStmt(condition, body, iter_args=(), return_vars=()):
    if len(iter_args) != len(return_vars):
        raise ValueError(f"{len(iter_args)} iter_args but {len(return_vars)} return_vars")
    return _core.build_node("WhileStmt", None, {"condition": _value(condition), "body": _body(body),
                                                "iter_args": list(iter_args), "return_vars": list(return_vars)})


def ScopeStmt(body):
    """An InCore region."""
    return _core.build_node("ScopeStmt", None, {"body": _body(body)})


def YieldStmt(values):
    return _core.build_node("YieldStmt", None, {"values": [_value(v) for v in values]})


def ReturnStmt(values=()):
    return _core.build_node("ReturnStmt", None, {"values": [_value(v) for v in values]})


def SeqStmts(stmts):
    return _core.build_node("SeqStmts", None, {"stmts": list(stmts)})


# ---- Top level ----

def Function(name, params, body, return_types=(), param_directions=None, func_type=0):
    """param_directions: 0 In, 1 Out, 2 InOut, 3 PIPE_IN, 4 PIPE_OUT; all In if not given."""
    if not name.isidentifier():
        raise ValueError(f"{name!r} is no name of a function")
    directions = [0] * len(params) if param_directions is None else [int(d) for d in param_directions]
    return _core.build_node("Function", None, {
        "name": name, "params": list(params), "body": _body(body), "return_types": list(return_types),
        "param_directions": directions, "func_type": int(func_type)})


def Program(functions, name="Program"):
    return _core.build_node("Program", None, {"functions": list(functions), "name": name})
