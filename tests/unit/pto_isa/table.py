#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""usage: table.py FILE. Documentation/isa.md from what test_device_pto_isa says its checks ran."""
import collections
import sys

PLATFORMS = ("a2a3sim", "a5sim")
ORDER = ("f32", "f16", "bf16", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "e4m3", "e5m2", "hif8", "e2m1", "e1m2", "i4", "e8m0")
LAYOUTS = ("ND", "DN", "Nz", "Zn", "Zz", "Nn")
HEAD = """# Tile instructions and what was tested

Written by `make isa-table` from a run of `test_device_pto_isa`; do not edit. A type stands in a column if a check of the
instruction with that element type ran on that platform and passed; a failed one would say so. Each check compares with a
reference computed element by element. The last columns say which layouts of the tile ran, and whether its valid region was the
full box or a part of odd size; they are empty where a check has no tile of its own. `TCVT` names source and destination.
Instructions without elements of their own (`TASSIGN`, `TRESHAPE`, `TSUBVIEW`, `TSYNC`, flags, `SETFMATRIX`, `SYNCALL`) are tested
beside the others and not listed.

| instruction | a2a3sim | a5sim | layouts | valid region |
|---|---|---|---|---|"""


def rank(type_name):
    return tuple(ORDER.index(t) if t in ORDER else len(ORDER) for t in type_name.split("-"))


def cell(types):
    return " ".join(sorted((t if ok else f"**{t} failed**" for t, ok in types.items()), key=rank)) or "-"


table = collections.defaultdict(lambda: {p: {} for p in PLATFORMS})
layouts, regions = collections.defaultdict(set), collections.defaultdict(set)
for line in open(sys.argv[1]):
    op, type_name, layout, region, source, status = line.rstrip("\n").split("\t")
    platform = source.rsplit("-", 1)[1]
    known = table[op][platform]
    known[type_name] = known.get(type_name, True) and status == "passed"
    layouts[op].add(layout)
    regions[op].add(region)

print(HEAD)
for op in sorted(table):
    walked = " ".join(sorted(layouts[op] - {""}, key=LAYOUTS.index))
    print(f"| `{op}` | {cell(table[op]['a2a3sim'])} | {cell(table[op]['a5sim'])} | {walked} | {' '.join(sorted(regions[op] - {''}))} |")
