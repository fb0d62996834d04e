# SPDX-License-Identifier: MIT
"""Rows of bench.json: percentiles, goals, and the table that is printed."""


def percentile(samples, p):
    """The smallest sample that p percent of all do not exceed."""
    ordered = sorted(samples)
    return ordered[max(0, -(-len(ordered) * p // 100) - 1)]


def row(name, unit, samples, **extra):
    """A row of our own; samples are in @unit."""
    p50 = percentile(samples, 50)
    return {"name": name, "unit": unit, "value": p50, "n": len(samples), "p50": p50, "p99": percentile(samples, 99),
            "min": min(samples), "peer": None, "ratio": None, **extra}


def against(own, peer, samples, **extra):
    """The same row beside a peer's samples in the same unit."""
    p50 = percentile(samples, 50)
    return {**own, "peer": peer, "ratio": own["value"] / p50, "peer_p50": p50, "peer_p99": percentile(samples, 99),
            "peer_min": min(samples), "peer_n": len(samples), **extra}


def absent(own, peer, why):
    """The same row for a peer that could not run."""
    return {**own, "peer": peer, "note": why}


# ---- goals: name of the row, what must hold of its fields, field, limit, text ---------------------------------------

GRAPHS = ("task.fanout64", "task.random4")
GOALS = (
    ("task.independent", {"peer": None, "threads": 1}, "value", 60, "<= 60 ns/task"),
    ("task.independent", {"peer": None, "threads": 2}, "to_one_thread", 1.0, "not slower than 1 thread"),
    ("task.independent", {"peer": "libgomp depend"}, "ratio", 1.0, "ratio <= 1.0"),
    ("task.chain", {"peer": None}, "value", 120, "<= 120 ns/task"),
    ("task.chain", {"peer": "libgomp depend"}, "ratio", 0.7, "ratio <= 0.7"),
    *((g, {"peer": None}, "value", 150, "<= 150 ns/task") for g in GRAPHS),
    *((g, {"peer": "oneTBB flow graph"}, "ratio", 0.4, "ratio <= 0.4") for g in GRAPHS),
    *((g, {"peer": "StarPU"}, "ratio", 0.05, "ratio <= 0.05") for g in GRAPHS),
    ("task.scale", {"tasks": "all"}, "value", 15, "within 15 %"),
    ("task.live_regions", {"tasks": "all"}, "value", 15, "within 15 %"),
    ("run.one_task.c", {"peer": None}, "p50", 1, "median <= 1 us"),
    ("run.one_task.c", {"peer": None}, "p99", 10, "p99 <= 10 us"),
    ("run.one_task.py", {"peer": None}, "p50", 4, "median <= 4 us"),
    ("worker.init_close", {"peer": None}, "value", 1, "<= 1 ms"),
    ("mem.per_task", {"peer": None}, "value", 512, "<= 512 B"),
    ("ptoas.throughput", {"peer": None}, "ns_per_line", 2000, ">= 500000 lines/s"),
    ("mem.idle_worker", {"peer": None}, "value", 16, "<= 16 MiB"),
    ("pypto.compile.attention", {"peer": None}, "value", 20, "<= 20 ms"),
    ("pypto.compile.decoder_layer", {"peer": None}, "value", 100, "<= 100 ms"),
    ("pypto.compile.scale", {"peer": None}, "more_per_statement", 20, "linear within 20 %"),
    ("pypto.import", {"peer": None}, "value", 50, "<= 50 ms"),
    ("pypto.call", {"peer": None}, "value", 20, "<= 20 us"),
)


def judge(r):
    """Adds "goals": [{text, met}] to a row; empty where the design names none."""
    r["goals"] = [{"text": text, "met": r[field] <= limit} for name, where, field, limit, text in GOALS
                  if name == r["name"] and r.get(field) is not None
                  and all(r.get(k) == v for k, v in where.items())]
    return r


# ---- the table --------------------------------------------------------------------------------------------------------

SETTINGS = ("mode", "edge", "graph", "tasks", "size")
COLUMNS = ("benchmark", "setting", "threads", "p50", "p99", "min", "unit", "n", "peer", "peer p50", "peer min", "ratio",
           "goal")
OWN = COLUMNS.index("peer")  # columns before it are ours
NUMERIC = {COLUMNS.index(c) for c in ("threads", "p50", "p99", "min", "n", "peer p50", "peer min", "ratio")}


def number(v):
    if v is None:
        return ""
    return f"{v:.0f}" if abs(v) >= 1000 else f"{v:.3g}"


def cells(r):
    goals = "; ".join(f"{g['text']}: {'met' if g['met'] else 'MISSED'}" for g in r["goals"])
    setting = " ".join(str(r[k]) for k in SETTINGS if r.get(k) is not None)
    return [r["name"], setting, str(r.get("threads", "")), number(r["p50"]), number(r["p99"]), number(r.get("min")),
            r["unit"], str(r["n"] or ""), r["peer"] or "", number(r.get("peer_p50")), number(r.get("peer_min")),
            number(r["ratio"]), "; ".join(filter(None, (goals, r.get("note"))))]


def lines_of(rows):
    """Cells of the header and of each row; a row with a peer follows the row of our own that it repeats."""
    yield list(COLUMNS)
    for r in rows:
        line = cells(r)
        yield [""] * OWN + line[OWN:] if r["peer"] else line


def table(rows):
    """The rows as aligned text."""
    lines = list(lines_of(rows))
    widths = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]
    return "\n".join("  ".join(c.rjust(w) if i in NUMERIC else c.ljust(w)
                               for i, (c, w) in enumerate(zip(line, widths))).rstrip() for line in lines)


def markdown(rows):
    """The rows as a table for a document."""
    header, *lines = lines_of(rows)
    rule = ["-:" if i in NUMERIC else "-" for i in range(len(COLUMNS))]
    return "\n".join("| " + " | ".join(line) + " |" for line in [header, rule, *lines])
