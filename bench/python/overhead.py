"""Times an 8-byte allreduce from C++, of a NumPy array, and by torch. They take turns in one run.

    python bench/python/overhead.py --command build/tutti --torch

A turn of C++ is `tutti bench`, in place in ordinary memory. The others are processes that tutti.run
starts. Their times are means of batches of calls that take half a millisecond; those of C++, of single
calls. Each turn has a 10th percentile, a median and a 90th percentile; the table has the medians of these
over the turns, in µs, and how much more than C++ a call takes.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from typing import Callable

import tutti
from tutti.bench import measure, time_batches


def time_native(given: argparse.Namespace) -> list[float]:
    """Return the percentiles of a turn of C++."""
    command = [
        given.command,
        "bench",
        "allreduce",
        "-n",
        str(given.ranks),
        "--sizes",
        given.size,
        "--private",
    ]
    command += ["--seconds", str(given.seconds), "--json"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    times = json.loads(done.stdout)["rows"][0]["in_place"]
    return [times["p10_us"], times["median_us"], times["p90_us"]]


def percentiles(times: list[float]) -> list[float]:
    tenths = statistics.quantiles(times, n=10)
    return [each * 1e6 for each in (tenths[0], statistics.median(times), tenths[-1])]


def numpy_rank(comm: tutti.Communicator, size: int, seconds: float) -> list[float]:
    return percentiles(measure(comm, [size], seconds)[0])


def torch_rank(comm: tutti.Communicator, size: int, seconds: float) -> list[float]:
    import torch
    import torch.distributed as dist

    import tutti.torch  # noqa: F401  Torch 2.4 does not find the backend by its name alone.

    torch.set_num_threads(1)
    dist.init_process_group("tutti")
    times = time_batches(comm, dist.all_reduce, torch.zeros(max(1, size // 4)), seconds)
    dist.destroy_process_group()
    return percentiles(times)


def time_ranks(function: Callable[..., list[float]], given: argparse.Namespace) -> list[float]:
    """Return the percentiles of a turn, of the rank with the longest median."""
    results: list[list[float]] = tutti.run(function, given.ranks, (int(given.size), given.seconds))
    return max(results, key=lambda each: each[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--command", default=os.environ.get("TUTTI_COMMAND", "build/tutti"))
    parser.add_argument("-n", "--ranks", type=int, default=2)
    parser.add_argument("--size", default="8", help="bytes")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.3, help="per turn")
    parser.add_argument("--torch", action="store_true", help="torch's all_reduce, too")
    given = parser.parse_args()
    ways: dict[str, Callable[[], list[float]]] = {
        "C++": lambda: time_native(given),
        "NumPy": lambda: time_ranks(numpy_rank, given),
    }
    if given.torch:
        ways["torch"] = lambda: time_ranks(torch_rank, given)
    turns: dict[str, list[list[float]]] = {name: [] for name in ways}
    for _ in range(given.turns):
        for name, way in ways.items():
            turns[name].append(way())
    print(f"{given.ranks} ranks, {given.size} bytes, medians of {given.turns} turns, µs")
    print(f"{'':8} {'p10':>8} {'median':>8} {'p90':>8} {'more':>8}   medians of the turns")
    base = statistics.median(each[1] for each in turns["C++"])
    for name, each in turns.items():
        shown = [statistics.median(column) for column in zip(*each)]
        line = f"{name:8}" + "".join(f" {value:>8.2f}" for value in (*shown, shown[1] - base))
        print(line + "   " + " ".join(f"{turn[1]:.2f}" for turn in each))


if __name__ == "__main__":
    main()
