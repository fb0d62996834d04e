#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Write what the operator registry says: type stubs for editors, or the operator part of the language reference.

    describe.py stubs|reference OUTPUT     (PYTHONPATH has the built package)
"""
import inspect
import sys

from pypto import _core, _errors, language

KINDS = {"t": "Tile", "x": "Tensor", "a": "Tensor | Tile", "s": "Scalar | float | int", "i": "Scalar | int",
         "l": "list[Scalar | int]", "n": "list[int]", "p": "Pipe", "c": "Cluster"}
ATTRIBUTES = {"d": "DataType", "D": "DataType | None", "m": "MemorySpace", "b": "bool", "i": "int", "n": "int | None",
              "p": "PipeType", "r": "str | int", "c": "str | int", "f": "str | float"}
SPACES = (("block", "On tiles"), ("tensor", "On tensors"), ("system", "Synchronisation"), ("cluster", "Clusters"),
          ("pipe", "Pipes"))
WORDS = language._KINDS  # as help() has them


def parameters(text):
    """(name, kind, is attribute, optional, preset) of each parameter of a row."""
    for item in filter(None, text.split(", ")):
        kind, name = item.split(" ")
        name, _, preset = name.partition("=")
        yield name.rstrip("?"), kind.lstrip("@"), kind[0] == "@", name.endswith("?"), preset


def signature(params):
    out, relaxed = [], False
    for name, kind, attribute, optional, preset in parameters(params):
        relaxed |= optional or bool(preset)
        out.append(f"{name}: {(ATTRIBUTES if attribute else KINDS)[kind]}{' = ...' if relaxed else ''}")
    return ", ".join(out)


def with_scalars(forms, by_name, pl):
    """The forms of a name; where a second operand may be a number (pl.adds() for pl.add()), for that, too."""
    yield from forms
    scalar = {"maximum": "maxs", "minimum": "mins"}.get(pl, pl.rstrip("_") + "s")
    for params, doc in forms:
        if params == "t lhs, t rhs" and scalar in by_name:
            yield "t lhs, s rhs", doc
        elif params == "x lhs, x rhs" and pl in ("add", "sub", "mul", "div"):
            yield "x lhs, s rhs", doc


def functions():
    """One function per operator name; where tiles, tensors and scalars share it, an overload for each."""
    by_name = {}
    for _, pl, params, _, doc in _core.operators():
        if pl and "." not in pl:
            by_name.setdefault(pl, []).append((params, doc))
    for pl, forms in by_name.items():
        forms = list(dict(with_scalars(forms, by_name, pl)).items())
        for params, doc in forms:
            yield ("@overload\n" if len(forms) > 1 else "") + f"def {pl}({signature(params)}) -> Any:\n    \"\"\"{doc}\"\"\""


def arithmetic():
    """Python's operators, whose results the language types."""
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift", "matmul"):
        yield f"    def __{name}__(self, other: Any) -> Any: ..."
        yield f"    def __r{name}__(self, other: Any) -> Any: ..."
    for name in ("lt", "le", "gt", "ge"):
        yield f"    def __{name}__(self, other: Any) -> Any: ..."
    for name in ("neg", "pos", "invert", "abs", "index", "int", "float"):
        yield f"    def __{name}__(self) -> {dict(index='int', int='int', float='float').get(name, 'Any')}: ..."


ANNOTATIONS = {"Tensor": "", "Tile": "", "Scalar": "", "Pipe": "", "Cluster": "", "Out": "Tensor", "InOut": "Tensor", "PIPE_IN": "Pipe",
               "PIPE_OUT": "Pipe", "PipeIn": "Pipe", "PipeOut": "Pipe", "MemRef": "", "MemRefType": "", "TileView": "",
               "TensorView": "", "Unknown": "Any"}


def documented(name, text):
    doc = inspect.getdoc(getattr(language, name))
    return text.removesuffix(" ...") + f"\n    \"\"\"{doc}\"\"\"" if doc else text


def annotations():
    for name, base in ANNOTATIONS.items():
        yield f"\nclass {name}{f'({base})' if base else ''}:"
        yield f'    """{inspect.getdoc(getattr(language, name))}"""'
        yield "    def __class_getitem__(cls, item: Any) -> Any: ..."
        if name in ("Tensor", "Tile", "Scalar"):
            yield from arithmetic()
    for name, _, _ in _core.dtypes():  # an element type, and, as an annotation, a scalar of it
        yield f"class {name}(Scalar, metaclass=DataType): ..."


DEFINITIONS = {
    "function": "(target: Any = ..., *, type: FunctionType | None = ..., strict_ssa: bool = ...) -> Any: ...",
    "program": "(cls: type) -> Any: ...", "inline": "(target: Callable[..., Any]) -> Any: ...",
    "dynamic": "(name: str) -> Any: ...", "parse": "(code: str, filename: str = ...) -> Any: ...", "loads": "(path: str) -> Any: ...",
    "parse_program": "(code: str, filename: str = ...) -> Any: ...", "loads_program": "(path: str) -> Any: ...",
    **dict.fromkeys(("range", "parallel", "unroll", "while_", "yield_", "cond", "incore", "const", "view"),
                    "(*args: Any, **kwargs: Any) -> Any: ...")}


def stubs():
    yield "# Generated from the operator registry."
    yield "from typing import Any, Callable, overload\n"
    yield "from ._errors import " + ", ".join(f"{n} as {n}" for n in _errors.__all__) + "\n"
    yield "class DataType(type):\n    name: str\n    code: int\n    bits: int\n"
    for name, members in _core.enums().items():
        yield f"\nclass {name}:\n    name: str\n    value: int\n    def __int__(self) -> int: ..."
        yield from (f"    {m}: {name}" for m in members)
    yield from annotations()
    for name, text in DEFINITIONS.items():
        yield documented(name, f"def {name}{text}")
    yield from functions()
    known = {line.split("(")[0].split(":")[0].split()[-1] for part in [*annotations(), *functions()] for line in part.split("\n")
             if line.startswith(("class ", "def "))}
    known |= {*DEFINITIONS, *_core.enums(), *_errors.__all__, "DataType"}
    for name in dir(language):
        if name[0] != "_" and name not in known:
            yield f"{name}: {type(getattr(language, name)).__name__ if type(getattr(language, name)).__name__ in known else 'Any'}"


def reference():
    yield "# Operators\n\nGenerated from the operator registry by tools/pypto/describe.py. `?` marks arguments that may be"
    yield "left out; attributes are constants, with their presets.\n"
    for space, title in SPACES:
        yield f"\n## {title}\n\n| Call | Arguments | IR | Instruction | Meaning |\n|---|---|---|---|---|"
        for name, pl, params, instr, doc in _core.operators():
            if not pl or not name.startswith(space + "."):
                continue
            args = ", ".join(f"{n}{'?' if o else ''}: " + (ATTRIBUTES[k].replace("|", "or") if a else WORDS[k])
                             + (f" = {p}" if p else "") for n, k, a, o, p in parameters(params))
            yield f"| `pl.{pl}` | {args} | `{name}` | {f'`{instr}`' if instr else ''} | {doc.replace('|', chr(92) + '|')} |"


def main():
    what = {"stubs": stubs, "reference": reference}[sys.argv[1]]
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        f.write("\n".join(what()) + "\n")


main()
