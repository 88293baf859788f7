"""Measures allreduces of NumPy arrays between processes: python -m tutti.bench."""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import tutti
from tutti._quantity import parse_bytes


def measure(comm: tutti.Communicator, sizes: list[int], seconds: float) -> list[tuple[int, float]]:
    """Return the median time of a call, in seconds, for each size in bytes."""
    import numpy

    results = []
    for size in sizes:
        x: Any = numpy.zeros(max(1, size // 4), numpy.float32)
        call = comm.allreduce
        for _ in range(20):
            call(x)
        # As many calls in a batch as make the clock's own time small, and no more: if other programs
        # interrupt some batches, the median does not change.
        begun = time.perf_counter()
        for _ in range(20):
            call(x)
        each = max((time.perf_counter() - begun) / 20, 1e-9)
        agreed = numpy.array([5e-4 / each, seconds / max(each, 5e-4)])
        comm.allreduce(agreed, "min")
        batch, batches = (int(min(max(value, least), 1000)) for value, least in zip(agreed, (1, 20)))
        times = []
        for _ in range(batches):
            comm.barrier()
            begun = time.perf_counter()
            for _ in range(batch):
                call(x)
            times.append((time.perf_counter() - begun) / batch)
        results.append((size, statistics.median(times)))
    return results


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", "--ranks", type=int, default=2)
    parser.add_argument("--sizes", default="8,4K,1M", help="bytes of the array: 8,4K,1M")
    parser.add_argument("--seconds", type=float, default=0.5, help="per size")
    given = parser.parse_args()
    sizes = [parse_bytes(each) for each in given.sizes.split(",")]
    for size, seconds in tutti.run(measure, given.ranks, (sizes, given.seconds))[0]:
        print(f"{size:>12} bytes {seconds * 1e6:>12.3f} us")


if __name__ == "__main__":
    main()
