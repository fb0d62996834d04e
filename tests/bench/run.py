#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Run all benchmarks, print a table, write bench.json.

Every measurement is a process of its own.  All processes of a round, ours and the peers', run one after the other
before the next round begins, in an order that moves by one each time, so that noise hits all alike.  A goal that is
missed is said in the table and is no failure; a wrong order, a wrong result or a program of ours that crashes is.
"""
import argparse
import json
import os
import sys
import time

from contenders import CONTENDERS, Bench, Broken
from rows import absent, against, judge, markdown, row, table

GRAPHS = {"independent": 100000, "chain": 100000, "fanout64": 66 * 1515, "random4": 100000}
CHECKED_TASKS = 9966  # 151 blocks of 66, so that no fan is cut
SCALE_TASKS = (1000, 10000, 100000, 1000000)
SCALE_GRAPHS = ("independent", "chain")
LIVE_TASKS = (1000, 4000, 16000)
ONE_TASK_REPS = 10000
INIT_REPS = 10
PARALLEL_TASKS = 2000
THREADS = (1, 2)
# Ways of waiting (enum held_edge of held.h), and how many such tasks fit the map of 65536 accesses
HELD = ((0, "tensor", 60000), (1, "tensor+own", 20000), (2, "explicit", 100000))
LIVE = ((3, "explicit+own"), (1, "tensor+own"))
ONE = {"oneTBB task_group", "libgomp depend", "StarPU", "ours"}


class Series:
    """Processes whose samples belong together; once one is broken the others are not run."""

    def __init__(self, key, run, ours=True):
        self.key, self.run, self.ours, self.samples, self.broken = key, run, ours, [], None

    def round(self):
        if self.broken:
            return
        try:
            self.samples += self.run()
        except Broken as e:
            self.broken = str(e)


def graph_series(bench, key, c, graph, threads, tasks, reps, unit_ns=1.0, more=()):
    """Time per task of a graph, in units of @unit_ns."""
    per = c.tasks(graph, tasks) * unit_ns
    return Series(key, lambda: [ns / per for ns in bench.graph(c, graph, threads, tasks, "--reps", reps, *more)["ns"]],
                  ours=bool(c.mode))


def plan(bench, args):
    """Groups of series; the members of a group are compared."""
    rounds = bench.program("simpler_worker", "rounds")["rounds"]
    ours = [c for c in CONTENDERS if c.mode]
    groups = []

    def compare(name, contenders, graph, tasks, reps, unit_ns, more=()):
        for threads in THREADS:
            groups.append([graph_series(bench, (name, threads, c), c, graph, threads, tasks,
                                        max(1, reps // 10) if c.name == "StarPU" and reps >= 100 else reps,
                                        unit_ns, more)
                           for c in contenders if c.plays(graph) and bench.has(c.program)])

    for graph, tasks in GRAPHS.items():
        compare(f"task.{graph}", CONTENDERS, graph, tasks, args.reps, 1)
    compare("task.parallel", [c for c in CONTENDERS if c.name != "oneTBB flow graph"], "independent", PARALLEL_TASKS,
            args.reps, 1000, ("--work", rounds))
    compare("run.one_task.c", [c for c in CONTENDERS if c.name in ONE], "independent", 1, ONE_TASK_REPS, 1000)
    for graph in SCALE_GRAPHS:
        for c in ours:
            groups.append([graph_series(bench, ("task.scale", graph, n, c), c, graph, 1, n,
                                        max(1, min(30, 100000 // n))) for n in SCALE_TASKS])
    groups += [[Series(("task.live_regions", name, n), lambda n=n, edge=edge: [held(bench, n, edge)["submit_ns"] / n])
                for n in LIVE_TASKS] for edge, name in LIVE]
    groups.append([Series("worker.init_close",
                          lambda: [ns / 1e6 for ns in bench.program("simpler_worker", "init_close", INIT_REPS)["ns"]])])
    return groups


def held(bench, tasks, edge, threads=1):
    return bench.program("simpler_worker", "held", tasks, edge, SIMPLER_ENGINE_THREADS=str(threads),
                         SIMPLER_ENGINE_INLINE="0")


def plan_memory(bench):
    """Few samples are enough: memory does not depend on the load of the machine."""
    groups = [[Series(("mem.per_task", name, n), lambda n=n, edge=edge: [held(bench, n, edge)["growth"] / n])
               for edge, name, n in HELD]]
    groups.append([Series("mem.idle_worker", lambda: [bench.program("simpler_worker", "idle")["rss"] / 2**20])])
    return groups


def run_rounds(groups, rounds, what):
    for i in range(rounds):
        begin = time.monotonic()
        for group in groups:
            for k in range(len(group)):
                group[(i + k) % len(group)].round()
        print(f"{what}: round {i + 1} of {rounds}, {time.monotonic() - begin:.0f} s", flush=True)


def check_order(bench):
    """Every contender on every graph with tasks that check their place; what is wrong, as text.

    A peer that cannot run here at all is no failure; its rows will say so.
    """
    broken = []
    for c in CONTENDERS:
        if not bench.has(c.program):
            continue
        for graph in filter(c.plays, GRAPHS):
            for threads in THREADS:
                try:
                    bench.graph(c, graph, threads, CHECKED_TASKS, "--check")
                except Broken as e:
                    if not c.mode and "wrong order" not in str(e):
                        continue
                    broken.append(f"{c.name} {c.mode or ''} {graph}, {threads} threads: {e}")
    return broken


# ---- rows -------------------------------------------------------------------------------------------------------------


def with_speedup(r, name, now, one):
    """Notes how much faster a row of task.parallel is than on one thread."""
    if name == "task.parallel" and now is not one and one.samples:
        r["speedup"] = row(name, "", one.samples)["value"] / row(name, "", now.samples)["value"]
        r["note"] = f"{r['speedup']:.2f} times as fast as 1 thread"
    return r


def compared(groups, name, unit, contenders, bench, graph):
    """Rows of one comparison: each of our modes, then that mode beside each peer."""
    found = {s.key[1:]: s for g in groups for s in g if s.key[0] == name}
    for threads in THREADS:
        for ours in (c for c in contenders if c.mode):
            s = found[threads, ours]
            if not s.samples:
                continue
            own = row(name, unit, s.samples, threads=threads, mode=ours.mode)
            one = found[1, ours].samples
            if threads > 1 and one:
                own["to_one_thread"] = own["value"] / row(name, unit, one)["value"]
            yield with_speedup(own, name, s, found[1, ours])
            for peer in (c for c in contenders if not c.mode and c.plays(graph)):
                p = found.get((threads, peer))
                if p and p.samples:
                    yield with_speedup(against(own, peer.name, p.samples), name, p, found[1, peer])
                else:
                    why = f"peer failed: {p.broken.splitlines()[0][:100]}" if p else f"peer missing: {peer.program} was not built"
                    yield absent(own, peer.name, why)


def spread(name, rows, **extra):
    """How far the values lie from the middle between the extremes, in percent."""
    values = [r["value"] for r in rows]
    return row(name, "% of spread", [100 * (max(values) - min(values)) / (max(values) + min(values))], tasks="all",
               **extra)


def scale_rows(groups):
    for group in (g for g in groups if g[0].key[0] == "task.scale"):
        rows = [row("task.scale", "ns/task", s.samples, graph=s.key[1], tasks=s.key[2], mode=s.key[3].mode, threads=1)
                for s in group if s.samples]
        yield from rows
        if len(rows) > 1:
            yield spread("task.scale", rows, graph=rows[0]["graph"], mode=rows[0]["mode"], threads=1)


def live_rows(groups):
    for group in (g for g in groups if g[0].key[0] == "task.live_regions"):
        rows = [row("task.live_regions", "ns/task", s.samples, edge=s.key[1], tasks=s.key[2], mode="deferred", threads=1)
                for s in group if s.samples]
        yield from rows
        if len(rows) > 1:
            yield spread("task.live_regions", rows, edge=rows[0]["edge"], mode="deferred", threads=1)


def memory_rows(groups):
    for s in (s for g in groups for s in g if s.samples):
        if s.key[0] == "mem.per_task":
            yield row("mem.per_task", "B", s.samples, edge=s.key[1], tasks=s.key[2], mode="deferred", threads=1)
        if s.key == "mem.idle_worker":
            yield row("mem.idle_worker", "MiB", s.samples)


def tile_rows(bench):
    """tile_bench prints rates as "value", times in seconds as p50 and p99, the peer's rate as "peer"."""
    if not bench.has("tile_bench"):
        print("tile.*: not measured, tile_bench was not built")
        return
    for r in bench.process([os.path.join(bench.folder, "tile_bench")]):
        name, _, size = r["name"].rpartition(".")
        own = {**r, "name": name, "min": None, "size": int(size), "threads": 1, "p50": r["value"], "peer": None, "ratio": None,
               "p99": r["value"] * r["p50"] / r["p99"], "p50_s": r["p50"], "p99_s": r["p99"]}
        yield own
        peer = "OpenBLAS sgemm" if "matmul" in name else "plain loop"
        if r["peer"]:
            yield {**own, "peer": peer, "peer_p50": r["peer"], "ratio": r["ratio"]}
        elif "matmul" in name:
            yield absent(own, peer, "peer missing: OpenBLAS could not be loaded")


def ptoas_rows(bench):
    """Text to verified program in lines per second; one kernel through all passes in milliseconds."""
    if not bench.has("ptoas_bench"):
        print("ptoas.*: not measured, ptoas_bench was not built")
        return
    rows = {r["name"]: r for r in bench.process([os.path.join(bench.folder, "ptoas_bench")])}
    lines = rows["throughput"]["lines"]
    rate = row("ptoas.throughput", "lines/s", [lines * 1e9 / ns for ns in rows["throughput"]["ns"]], threads=1)
    # of a rate, the low end is the bad one
    yield {**rate, "p99": rate["min"], "ns_per_line": 1e9 / rate["value"]}
    yield row("ptoas.kernel_2000", "ms", [ns / 1e6 for ns in rows["kernel"]["ns"]], threads=1)


def python_rows(bench):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run_one_task.py")
    if not os.path.exists(script):
        print("run.one_task.py: not measured, tests/bench/run_one_task.py does not exist")
        return
    for threads in THREADS:
        for r in bench.process([sys.executable, script], SIMPLER_ENGINE_THREADS=str(threads)):
            yield {"threads": threads, **r}


def pypto_rows(bench):
    """The PyPTO compiler, its import, and a call; see pypto_bench.py."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pypto_bench.py")
    for r in bench.process([sys.executable, script]):
        samples = r.pop("samples")
        yield row(r.pop("name"), r.pop("unit"), samples, **r)


# ---- the command --------------------------------------------------------------------------------------------------------


def collect(bench, args, problems):
    groups, memory = plan(bench, args), plan_memory(bench)
    run_rounds(groups, args.rounds, "time")
    run_rounds(memory, min(3, args.rounds), "memory")
    problems += [s.broken for g in groups + memory for s in g if s.broken and s.ours]
    rows = []
    for graph in GRAPHS:
        rows += compared(groups, f"task.{graph}", "ns/task", CONTENDERS, bench, graph)
    rows += compared(groups, "task.parallel", "us/task",
                     [c for c in CONTENDERS if c.name != "oneTBB flow graph"], bench, "independent")
    rows += scale_rows(groups)
    rows += compared(groups, "run.one_task.c", "us", [c for c in CONTENDERS if c.name in ONE], bench, "independent")
    for more in (python_rows, tile_rows, ptoas_rows, pypto_rows):
        try:
            rows += more(bench)
        except Broken as e:
            problems.append(str(e))
    rows += [row("worker.init_close", "ms", s.samples) for g in groups for s in g
             if s.key == "worker.init_close" and s.samples]
    rows += live_rows(groups)
    rows += memory_rows(memory)
    return rows


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--build", default="build", help="build folder")
    p.add_argument("--rounds", type=int, default=10)
    p.add_argument("--reps", type=int, default=3, help="repetitions per process and round")
    p.add_argument("--markdown", metavar="FILE", help="only print the table of a bench.json, for a document")
    args = p.parse_args()
    if args.markdown:
        with open(args.markdown, encoding="utf-8") as f:
            print(markdown(json.load(f)))
        return 0
    bench = Bench(args.build)
    problems = check_order(bench)
    print(f"order of tasks: {'checked' if not problems else 'WRONG'}", flush=True)
    rows = [judge(r) for r in collect(bench, args, problems)]
    out = os.path.join(args.build, "bench.json")
    with open(out, "w", encoding="utf-8") as f:
        f.write("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")
    print(table(rows))
    goals = [g["met"] for r in rows for g in r["goals"]]
    print(f"{sum(goals)} of {len(goals)} goals met; rows are in {out}")
    for text in problems:
        print(f"FAILED: {text}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
