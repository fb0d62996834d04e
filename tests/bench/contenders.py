# SPDX-License-Identifier: MIT
"""Who takes part in `make bench`: programs, their environment, and one process run of them."""
import json
import os
import subprocess

DEADLINE_S = 300
OURS = ("inline", "deferred")
WINDOW = 4096  # of our tasks alive at most; as many cells, so that sharing cells adds no edges


class Contender:
    """One program with its settings; `cap` limits the tasks of slow ones."""

    def __init__(self, name, program, mode=None, graphs=None, own_cells=False, cap=None):
        self.name, self.program, self.mode = name, program, mode
        self.graphs, self.own_cells, self.cap = graphs, own_cells, cap or {}

    def plays(self, graph):
        return self.graphs is None or graph in self.graphs

    def tasks(self, graph, tasks):
        return min(tasks, self.cap.get(graph, self.cap.get("*", tasks)))


# own_cells: as many cells as tasks; the others share 4096, of which no more are in use at once
CONTENDERS = (
    Contender("ours", "simpler_graphs", "inline"),
    Contender("ours", "simpler_graphs", "deferred"),
    # its time per task grows with the number of tasks in this graph
    Contender("libgomp depend", "peer_libgomp", cap={"random4": 10000}),
    Contender("oneTBB flow graph", "peer_tbb_flow", own_cells=True),
    Contender("oneTBB task_group", "peer_tbb_group", graphs=("independent",), own_cells=True),
    Contender("StarPU", "peer_starpu", own_cells=True, cap={"*": 10000}),
)


class Broken(Exception):
    """A program ended badly; the text says which and how."""


class Bench:
    """The build folder and what all processes get."""

    def __init__(self, build):
        self.folder = os.path.join(os.path.abspath(build), "bench")
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith(("OMP_", "GOMP_", "STARPU_", "TBB_", "PTO2_", "SIMPLER_"))}
        # StarPU keeps its measurements of the machine in STARPU_HOME; ours, so that a home is not needed
        self.env.update(STARPU_HOME=self.folder, STARPU_SILENT="1", STARPU_NCUDA="0", STARPU_NOPENCL="0",
                        OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", SIMPLER_BUILD_DIR=os.path.abspath(build))

    def has(self, program):
        return os.access(os.path.join(self.folder, program), os.X_OK)

    def process(self, argv, **env):
        """Output lines of a process that must succeed, each a JSON value."""
        try:
            done = subprocess.run(argv, env={**self.env, **env}, capture_output=True, text=True, timeout=DEADLINE_S)
        except subprocess.TimeoutExpired:
            raise Broken(f"{' '.join(argv)}: no end after {DEADLINE_S} s") from None
        if done.returncode:
            raise Broken(f"{' '.join(argv)}: status {done.returncode}: {done.stderr.strip()[-2000:]}")
        try:
            return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        except ValueError as e:
            raise Broken(f"{' '.join(argv)}: not JSON: {e}") from None

    def program(self, name, *args, **env):
        """The JSON value that a program of the bench folder prints."""
        lines = self.process([os.path.join(self.folder, name), *map(str, args)], **env)
        if not lines:
            raise Broken(f"{name}: no result")
        return lines[0]

    def graph(self, c, graph, threads, tasks, *more):
        """One process of a contender on a graph."""
        tasks = c.tasks(graph, tasks)
        slots = 1 << (tasks - 1).bit_length() if c.own_cells else WINDOW
        args = [graph, "--tasks", tasks, "--slots", max(slots, 1024), "--threads", threads, *more]
        if c.mode:
            return self.program(c.program, *args, "--window", WINDOW, SIMPLER_ENGINE_THREADS=str(threads),
                                SIMPLER_ENGINE_INLINE=str(int(c.mode == "inline")))
        return self.program(c.program, *args, OMP_NUM_THREADS=str(threads), STARPU_NCPU=str(threads))
