#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Time of worker.run() for a callable with one empty task, through Python, as one JSON line.

usage: run_one_task.py [RUNS]
"""
import json
import os
import sys
import time

from simpler import Worker
from simpler.task_interface import (ArgDirection, ChipCallable, CoreCallable, DataType, TaskArgs, Tensor,
                                    TensorArgType)

PLATFORM = "a2a3sim"
KERNELS = ("empty", "work", "check")  # as bench/orchestration/graph.cpp numbers them
WORDS = 64
SCALARS = (0, 1, 0, 0, 0)  # independent tasks, one of them, one cell, which does nothing


def read(folder, name):
    with open(os.path.join(folder, f"{name}-{PLATFORM}.so"), "rb") as f:
        return f.read()


def build_callable(folder):
    signature = [ArgDirection.INOUT] * 2 + [ArgDirection.SCALAR] * len(SCALARS)
    kernels = [CoreCallable.build(signature=[], binary=read(folder, f"kernels/{name}")) for name in KERNELS]
    return ChipCallable.build(signature=signature, func_name="aicpu_orchestration_entry",
                              config_name="aicpu_orchestration_config", binary=read(folder, "orchestration/graph"),
                              children=list(enumerate(kernels)))


def build_args(worker):
    args = TaskArgs()
    for _ in range(2):
        cells = worker.malloc(4 * WORDS)
        args.add_tensor(Tensor(cells, shapes=(WORDS,), dtype=DataType.UINT32), TensorArgType.INOUT)
    for word in SCALARS:
        args.add_scalar(word)
    return args


def measure(worker, handle, args, runs):
    run, now = worker.run, time.perf_counter_ns
    times = []
    for _ in range(runs):
        begin = now()
        run(handle, args)
        times.append(now() - begin)
    return sorted(times)


def main(runs):
    folder = os.path.join(os.environ.get("SIMPLER_BUILD_DIR", "build"), "bench")
    worker = Worker(level=2, platform=PLATFORM, runtime="tensormap_and_ringbuffer")
    try:
        worker.init()
        handle, args = worker.register(build_callable(folder)), build_args(worker)
        measure(worker, handle, args, runs // 10)
        times = measure(worker, handle, args, runs)
    finally:
        worker.close()
    p50, p99 = times[runs // 2] / 1000, times[runs * 99 // 100] / 1000
    print(json.dumps({"name": "run.one_task.py", "unit": "us", "value": p50, "n": runs, "p50": p50, "p99": p99,
                      "peer": None, "ratio": None}))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50000)
