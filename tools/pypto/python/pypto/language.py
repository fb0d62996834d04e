# SPDX-License-Identifier: MIT
"""The language: decorators, types, operators, and the ways in for text (spec pypto.md sections 3 and 4).

    import pypto.language as pl

    @pl.program
    class Add:
        @pl.function(type=pl.FunctionType.InCore)
        def kernel(self, a: pl.Tensor[[16, 16], pl.FP32], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
            ...

Decorated code is never run: its text is read. Operators called from ordinary Python raise TypeError.
"""
import sys as _sys

from . import _copy, _core, _errors, _source
from ._errors import *  # noqa: F401,F403


class DataType:
    """An element type: name, code, bits."""

    __pypto_kind__ = "dtype"
    __slots__ = ("name", "code", "bits")

    def __init__(self, name, code, bits):
        self.name, self.code, self.bits = name, code, bits

    def __repr__(self):
        return f"pl.{self.name}"


class _Member:
    """A member of an enumeration: name and value."""

    __pypto_kind__ = "enum"
    __slots__ = ("name", "value")

    def __init__(self, name, value):
        self.name, self.value = name, value

    def __repr__(self):
        return f"pl.{type(self).__name__}.{self.name}"

    def __int__(self):
        return self.value

    __index__ = __int__


def _make_tables(namespace):
    for name, code, bits in _core.dtypes():
        namespace[name] = DataType(name, code, bits)
    for name, members in _core.enums().items():
        cls = type(name, (_Member,), {"__slots__": (), "__doc__": f"One of {', '.join(members)}."})
        for member, value in members.items():
            setattr(cls, member, cls(member, value))
        namespace[name] = cls


_make_tables(globals())
ND, DN, NZ = TensorLayout.ND, TensorLayout.DN, TensorLayout.NZ  # noqa: F821
DEFAULT_CONST_INT, DEFAULT_CONST_FLOAT = INT64, FP32  # noqa: F821


_type = type  # a parameter of function() has that name


class DynVar:
    """A symbolic extent; equal names in a program are the same extent."""

    __pypto_kind__ = "dynamic"
    __slots__ = ("name",)

    def __init__(self, name):
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"the name of a dynamic extent must be an identifier, not {name!r}")
        self.name = name

    def __repr__(self):
        return f'pl.dynamic("{self.name}")'


def dynamic(name):
    """A symbolic extent for shapes: M = pl.dynamic("M")."""
    return DynVar(name)


class _Annotation:
    """What an annotation is for Python: nothing. The compiler reads its text."""

    def __class_getitem__(cls, item):
        return cls

    def __new__(cls, *args, **kwargs):
        return object.__new__(cls)


for _name, _doc in (("Tensor", "An array in device memory: pl.Tensor[[16, M], pl.FP32], with a TensorLayout or a MemRef behind it."),
                    ("Tile", "An array in a buffer of a core: pl.Tile[[16, 16], pl.FP32]."),
                    ("Scalar", "One number: pl.Scalar[pl.INT32], or the element type alone."),
                    ("Out", "A parameter that is written only: pl.Out[pl.Tensor[...]]."),
                    ("InOut", "A parameter that is read and written: pl.InOut[pl.Tensor[...]]."),
                    ("PIPE_IN", "The end of a pipe at which a kernel pops tiles."),
                    ("PIPE_OUT", "The end of a pipe at which a kernel pushes tiles."),
                    ("PipeIn", "The same as PIPE_IN."), ("PipeOut", "The same as PIPE_OUT."),
                    ("Cluster", "One cube core and its vector cores, which work together."),
                    ("Pipe", "A queue of tiles between the cores of a cluster."),
                    ("MemRef", "A buffer: memory space, address, size and number; passes write it."),
                    ("MemRefType", "The type of a buffer."), ("TileView", "Valid extents and layout of a tile; passes write it."),
                    ("TensorView", "Strides and layout of a tensor; passes write it."),
                    ("Unknown", "A type that is not known yet.")):
    globals()[_name] = type(_name, (_Annotation,), {"__doc__": _doc})


class _Method:
    """A decorated method, until @pl.program reads its class."""

    def __init__(self, function, func_type, flags):
        self.function, self.func_type, self.flags = function, func_type, flags
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__


class InlineFunction:
    """A function whose statements are put in place of each call."""

    __pypto_kind__ = "inline"

    def __init__(self, function, source):
        self.tree, self.lines, self.filename = source.tree, source.lines, source.filename
        self.evaluate = source.evaluate
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__

    def __call__(self, *args):
        raise TypeError(f"pl.inline function '{self.__name__}' can be called in a @pl.function only")


def _refuse_definition(cls, message, frame, hint):
    line = frame.f_lineno
    raise cls(message, _errors.Span(frame.f_code.co_filename, line, 1, line, 1), hint)


def _decorate(target, func_type, flags, frame):
    if not hasattr(target, "__code__"):
        _refuse_definition(_errors.ParserTypeError, f"@pl.function cannot decorate a {_type(target).__name__}", frame,
                           "Decorate a def; @pl.program is for classes")
    if target.__code__.co_flags & 0x280:  # coroutines and asynchronous generators
        _refuse_definition(_errors.UnsupportedFeatureError, "Unsupported statement type: AsyncFunctionDef", frame,
                           "Write def; tasks wait for what they read by themselves")
    if "." in target.__qualname__.rpartition("<locals>.")[2]:
        return _Method(target, func_type, flags)
    return _source.parse_function(_source.of_function(target, frame), func_type, flags)


def function(target=None, *, type=None, strict_ssa=False):
    """A function of the language. Gives its IR, or, in a class, a method for @pl.program.

    type: pl.FunctionType; strict_ssa: a name may be assigned once only.
    """
    if type is not None and not isinstance(type, FunctionType):  # noqa: F821
        raise TypeError(f"type must be a pl.FunctionType, not {type!r}")
    func_type, flags = 0 if type is None else int(type), 1 if strict_ssa else 0
    frame = _sys._getframe(1)
    if target is not None:
        return _decorate(target, func_type, flags, frame)
    return lambda f: _decorate(f, func_type, flags, _sys._getframe(1))


def program(cls):
    """A class whose @pl.function methods make a program. Gives its IR."""
    if not isinstance(cls, _type):
        _refuse_definition(_errors.ParserTypeError, f"@pl.program cannot decorate a {_type(cls).__name__}",
                           _sys._getframe(1), "Decorate a class; @pl.function is for functions")
    methods = {k: v for k, v in vars(cls).items() if isinstance(v, _Method)}
    return _source.parse_program(_source.of_class(cls, _sys._getframe(1)), methods)


def inline(target):
    """A function that is expanded at each call."""
    return InlineFunction(target, _source.of_function(target, _sys._getframe(1)))


# ---- Operators and forms: names for editors and for messages ----

def _refuse(name, doc):
    def operator(*args, **kwargs):
        raise TypeError(f"pl.{name} can be used inside of a @pl.function only; it describes work, it does none")
    operator.__name__ = operator.__qualname__ = name
    operator.__doc__ = doc
    return operator


class _Namespace:
    pass


tensor, system = _Namespace(), _Namespace()


_KINDS = {"t": "tile", "x": "tensor", "a": "tensor or tile", "s": "scalar", "i": "integer", "l": "list of integers",
          "n": "list of constants", "p": "pipe", "c": "cluster"}


def _describe(name, params, doc):
    """What help() shows of an operator; params as the registry has them."""
    shown = []
    for item in filter(None, params.split(", ")):
        kind, _, param = item.partition(" ")
        shown.append(param if kind[0] == "@" else f"{param}: {_KINDS[kind]}")
    return f"{name}({', '.join(shown)})\n\n{doc}"


def _make_operators(namespace):
    spaces = {"tensor": tensor, "system": system}
    for name, pl, params, _, doc in _core.operators():
        if not pl:
            continue
        space, _, tail = pl.rpartition(".")
        if not space:
            namespace.setdefault(tail, _refuse(tail, _describe(tail, params, doc)))
        owner = spaces.get(name.partition(".")[0])
        if owner:
            setattr(owner, tail, _refuse(f"{name.partition('.')[0]}.{tail}", _describe(tail, params, doc)))


_make_operators(globals())
for _name, _doc in (("view", "Same as slice()."), ("range", "Loop over integers: stop, or start, stop, step."),
                    ("parallel", "range() whose trips are independent."), ("unroll", "range() that is copied out."),
                    ("while_", "Loop with carried values; its body begins with cond()."),
                    ("yield_", "Values that a body hands on; its last statement."),
                    ("cond", "Condition of a while_() loop."), ("incore", "A region that becomes an InCore function."),
                    ("const", "A constant of a given element type.")):
    globals()[_name] = _refuse(_name, _doc)
TPUSH, TPOP = tpush, tpop  # noqa: F821
del _name, _doc


class _Missing:
    """What pl.<unknown name> is where it is only named, as in annotations: the compiler then says where it stands."""

    def __init__(self, name):
        self._name = name

    def __getitem__(self, item):
        return self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Missing(f"{self._name}.{name}")

    def __call__(self, *args, **kwargs):
        raise AttributeError(f"module 'pypto.language' has no attribute '{self._name}'")


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(f"module 'pypto.language' has no attribute '{name}'")
    return _Missing(name)


# ---- Text ----

def _results(namespace, filename):
    nodes = {}
    for name, value in namespace.items():
        if isinstance(value, _core.Node) and value not in nodes.values():
            nodes[name] = value
    if not nodes:
        raise ValueError(f"No @pl.function or @pl.program found in {filename}")
    if len(nodes) > 1:
        raise ValueError(f"Multiple functions/programs found in {filename}: {list(nodes)}")
    return next(iter(nodes.values()))


def parse(code, filename="<string>"):
    """The one function or program that the text defines; `pl` is known without import."""
    import linecache
    import textwrap
    code = textwrap.dedent(code.removeprefix("\ufeff"))
    compiled = _source.compiled(code, filename)
    lines = code.splitlines(keepends=True)
    linecache.cache[filename] = (len(code), None, lines, filename)
    namespace = {"pl": _sys.modules[__name__], "__name__": "pypto_text", "__file__": filename}
    try:
        exec(compiled, namespace)
    except _errors.ParserError:
        raise
    except Exception as e:
        raise RuntimeError(f"Error executing code from {filename}: {e}") from e
    return _results(namespace, filename)


def loads(path):
    """parse() of a file."""
    with open(path, encoding="utf-8") as f:
        return parse(f.read(), str(path))


def _need_program(node, filename):
    if node.node_kind != "Program":
        raise ValueError(f"Expected @pl.program but found @pl.function in {filename}")
    return node


def parse_program(code, filename="<string>"):
    """Deprecated: parse() of a text that defines a program."""
    return _need_program(parse(code, filename), filename)


def loads_program(path):
    """Deprecated: loads() of a file that defines a program."""
    return _need_program(loads(path), path)
