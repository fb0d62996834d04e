# SPDX-License-Identifier: MIT
"""The code of Documentation/pypto/tutorial.md runs as it stands."""
import linecache
import os
import re

import pytest

pytest.importorskip("numpy")
pytest.importorskip("pypto.language")
os.environ.setdefault("SIMPLER_CACHE_DIR", os.path.join(os.path.abspath(os.environ.get("SIMPLER_BUILD_DIR", "build")),
                                                        "cache"))
PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Documentation", "pypto", "tutorial.md")


def test_every_block_of_the_tutorial_runs():
    with open(PATH, encoding="utf-8") as f:
        text = f.read()
    # all other lines are made empty, so that places in messages are the tutorial's
    kept, inside = [], False
    for line in text.splitlines(keepends=True):
        if line.startswith("```"):
            inside = line.startswith("```python")
            kept.append("\n")
        else:
            kept.append(line if inside else "\n")
    assert len(re.findall(r"^```python", text, re.M)) >= 9
    linecache.cache[PATH] = (len(text), None, kept, PATH)
    exec(compile("".join(kept), PATH, "exec"), {"__name__": "tutorial"})
