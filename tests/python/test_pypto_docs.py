# SPDX-License-Identifier: MIT
"""What is generated from the operator registry says what the registry says."""
import ast
import inspect
import os
import subprocess
import sys

import pytest

_core = pytest.importorskip("pypto._core")
pl = pytest.importorskip("pypto.language")
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def describe(what, path):
    subprocess.run([sys.executable, os.path.join(ROOT, "tools/pypto/describe.py"), what, str(path)], check=True,
                   env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
    return path.read_text()


def test_operator_reference_is_current(tmp_path):
    with open(os.path.join(ROOT, "Documentation/pypto/operators.md"), encoding="utf-8") as f:
        assert f.read() == describe("reference", tmp_path / "operators.md")


def test_stubs_name_every_operator_with_its_documentation(tmp_path):
    tree = ast.parse(describe("stubs", tmp_path / "language.pyi"))
    docs = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            docs.setdefault(node.name, []).append(ast.get_docstring(node))
    for _, name, _, _, doc in _core.operators():
        if name and "." not in name:
            assert doc in docs[name]


def test_stubs_have_every_name_and_all_say_what_they_are(tmp_path):
    tree = ast.parse(describe("stubs", tmp_path / "language.pyi"))
    names = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level:
            names |= {alias.asname for alias in node.names}
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
        elif isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            names.add(node.name)
    assert names == {name for name in dir(pl) if name[0] != "_"}
    undocumented = [n for n in names if callable(getattr(pl, n)) and not inspect.getdoc(getattr(pl, n))]
    assert not undocumented
    assert not [n for n in tree.body if isinstance(n, ast.FunctionDef) and not ast.get_docstring(n)]


def test_stubs_have_a_form_for_each_kind_of_operand(tmp_path):
    tree = ast.parse(describe("stubs", tmp_path / "language.pyi"))
    forms = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            forms.setdefault(node.name, []).append(", ".join(f"{a.arg}: {ast.unparse(a.annotation)}" for a in node.args.args))
    assert {"lhs: Tile, rhs: Tile", "lhs: Tensor, rhs: Tensor", "lhs: Tensor, rhs: Scalar | float | int"} <= set(forms["add"])
    assert all(any(f.startswith("lhs: Tile, rhs: Scalar") for f in forms[name]) for name in ("add", "maximum"))
    for name in ("Out", "InOut"):
        assert [ast.unparse(b) for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name for b in n.bases] == ["Tensor"]


def test_help_speaks_of_operands_in_words():
    assert pl.add.__doc__.startswith("add(lhs: tile, rhs: tile)\n\n")
    assert pl.load.__doc__.startswith("load(tensor: tensor, offsets: list of integers, shapes: list of integers, target_memory=Vec")
