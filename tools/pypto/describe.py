#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Write what the operator registry says: type stubs for editors, or the operator part of the language reference.

    describe.py stubs|reference OUTPUT     (PYTHONPATH has the built package)
"""
import sys

from pypto import _core

KINDS = {"t": "Tile", "x": "Tensor", "a": "Tensor | Tile", "s": "Scalar | float | int", "i": "Scalar | int",
         "l": "list[Scalar | int]", "n": "list[int]", "p": "Pipe", "c": "Cluster"}
ATTRIBUTES = {"d": "DataType", "D": "DataType | None", "m": "MemorySpace", "b": "bool", "i": "int", "n": "int | None",
              "p": "PipeType", "r": "str | int", "c": "str | int", "f": "str | float"}
SPACES = (("block", "On tiles"), ("tensor", "On tensors"), ("system", "Synchronisation"), ("cluster", "Clusters"),
          ("pipe", "Pipes"))
WORDS = {"t": "tile", "x": "tensor", "a": "tensor or tile", "s": "scalar", "i": "integer", "l": "list of integers",
         "n": "list of constants", "p": "pipe", "c": "cluster"}


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


def stubs():
    """One function per name; where tiles and tensors share it, an overload for each."""
    yield "# Generated from the operator registry."
    yield "from typing import Any, Callable, overload\n"
    yield "class DataType:\n    name: str\n    code: int\n    bits: int\n"
    for name, _, _ in _core.dtypes():
        yield f"{name}: DataType"
    for name, members in _core.enums().items():
        yield f"\nclass {name}:\n    name: str\n    value: int"
        yield from (f"    {m}: {name}" for m in members)
    for name in ("Tensor", "Tile", "Scalar", "Pipe", "Cluster", "Out", "InOut", "PIPE_IN", "PIPE_OUT", "MemRef"):
        yield f"\nclass {name}:\n    def __class_getitem__(cls, item: Any) -> Any: ..."
    yield "\ndef function(target: Any = ..., *, type: FunctionType = ..., strict_ssa: bool = ...) -> Any: ..."
    yield "def program(cls: type) -> Any: ...\ndef inline(target: Callable) -> Any: ...\ndef dynamic(name: str) -> Any: ..."
    yield "def parse(code: str, filename: str = ...) -> Any: ...\ndef loads(path: str) -> Any: ..."
    for name in ("range", "parallel", "unroll", "while_", "yield_", "cond", "incore", "const"):
        yield f"def {name}(*args: Any, **kwargs: Any) -> Any: ..."
    names = {}
    for name, pl, params, _, doc in _core.operators():
        if pl and "." not in pl:
            names.setdefault(pl, []).append((params, doc))
    for pl, forms in names.items():
        for params, doc in forms:
            yield ("@overload\n" if len(forms) > 1 else "") + f"def {pl}({signature(params)}) -> Any:\n    \"\"\"{doc}\"\"\""


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
