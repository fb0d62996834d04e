# SPDX-License-Identifier: MIT
"""What is generated from the operator registry says what the registry says."""
import ast
import os
import subprocess
import sys

import pytest

_core = pytest.importorskip("pypto._core")
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
    for _, pl, _, _, doc in _core.operators():
        if pl and "." not in pl:
            assert doc in docs[pl]
