"""Measures allreduces of NumPy arrays between processes: python -m tutti.bench."""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any, Callable

import tutti
from tutti._quantity import parse_bytes


def time_batches(
    comm: tutti.Communicator, call: Callable[[Any], object], argument: Any, seconds: float
) -> list[float]:
    """Return the mean time of `call(argument)`, which all ranks make, in each batch, in seconds."""
    import numpy

    for _ in range(20):
        call(argument)
    # As many calls in a batch as make the clock's own time small, and no more: if other programs
    # interrupt some batches, the median does not change.
    begun = time.perf_counter()
    for _ in range(20):
        call(argument)
    each = max((time.perf_counter() - begun) / 20, 1e-9)
    agreed = numpy.array([5e-4 / each, seconds / max(each, 5e-4)])
    comm.allreduce(agreed, "min")
    batch, batches = (int(min(max(value, least), 1000)) for value, least in zip(agreed, (1, 20)))
    times = []
    for _ in range(batches):
        comm.barrier()
        begun = time.perf_counter()
        for _ in range(batch):
            call(argument)
        times.append((time.perf_counter() - begun) / batch)
    return times


def measure(comm: tutti.Communicator, sizes: list[int], seconds: float) -> list[list[float]]:
    """Return the times of allreduces in place, for each size in bytes."""
    import numpy

    arrays = [numpy.zeros(max(1, size // 4), numpy.float32) for size in sizes]
    return [time_batches(comm, comm.allreduce, x, seconds) for x in arrays]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", "--ranks", type=int, default=2)
    parser.add_argument("--sizes", default="8,4K,1M", help="bytes of the array: 8,4K,1M")
    parser.add_argument("--seconds", type=float, default=0.5, help="per size")
    given = parser.parse_args()
    sizes = [parse_bytes(each) for each in given.sizes.split(",")]
    print(f"{'bytes':>12} {'p10':>10} {'median':>10} {'p90':>10}   us")
    for size, times in zip(sizes, tutti.run(measure, given.ranks, (sizes, given.seconds))[0]):
        tenths = statistics.quantiles(times, n=10)
        shown = (tenths[0], statistics.median(times), tenths[-1])
        print(f"{size:>12}" + "".join(f" {each * 1e6:>10.3f}" for each in shown))


if __name__ == "__main__":
    main()
