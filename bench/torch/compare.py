"""Times torch's own calls on the backends gloo and tutti, taking turns in one run.

    python bench/torch/compare.py --ranks 2 --sizes 4K,64K,1M,16M --calls all_reduce,broadcast

Every rank has a process group of each backend. The backends alternate: a few calls of one, then a
few of the other, and so on, so that both see the same machine. A time is the median over the rounds
of the slowest rank's mean. Tensors are ordinary: torch.empty.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist

import tutti.torch
from tutti.torch import _extension


def number(text: str) -> int:
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    return int(text[:-1]) * units[text[-1]] if text[-1] in units else int(text)


def make_call(name: str, count: int, group: dist.ProcessGroup) -> Callable[[], object]:
    size = dist.get_world_size()
    data = torch.ones(count)
    part = torch.ones(max(count // size, 1))
    whole = torch.ones(part.numel() * size)
    calls: dict[str, Callable[[], object]] = {
        "all_reduce": lambda: dist.all_reduce(data, dist.ReduceOp.MAX, group=group),
        "broadcast": lambda: dist.broadcast(data, 0, group=group),
        "reduce": lambda: dist.reduce(data, 0, dist.ReduceOp.MAX, group=group),
        "all_gather": lambda: dist.all_gather(list(whole.chunk(size)), part, group=group),
        "all_gather_into_tensor": lambda: dist.all_gather_into_tensor(whole, part, group=group),
        "reduce_scatter_tensor": lambda: dist.reduce_scatter_tensor(part, whole, group=group),
        "all_to_all_single": lambda: dist.all_to_all_single(whole, torch.ones_like(whole), group=group),
        "barrier": lambda: dist.barrier(group=group),
    }
    return calls[name]


def ddp_step(group: dist.ProcessGroup) -> Callable[[], object]:
    """Reduce the gradients of a model of ten million parameters as DDP does: the communication."""
    sizes = [25 << 18] * 1 + [(10_000_000 - (25 << 18))]
    buckets = [torch.ones(size) for size in sizes]

    def step() -> None:
        works = [dist.all_reduce(b, dist.ReduceOp.MAX, group=group, async_op=True) for b in buckets]
        for work in works:
            work.get_future().wait()

    return step


def worker(rank: int, options: argparse.Namespace, store: str) -> None:
    torch.set_num_threads(1)
    os.environ["TUTTI_TRANSPORT"] = options.transport
    dist.init_process_group(
        "gloo", store=dist.FileStore(store, options.ranks), rank=rank, world_size=options.ranks
    )
    groups = {
        "gloo": dist.group.WORLD,
        "tutti": dist.new_group(backend="tutti", pg_options=tutti.torch.Options(transport=options.transport)),
    }
    if rank == 0:
        print(f"{options.ranks} ranks, {options.transport}, float32, µs per call", flush=True)
        print(f"{'call':24} {'bytes':>10} {'gloo':>10} {'tutti':>10} {'ratio':>7}", flush=True)
    cases = [(name, size) for name in options.calls.split(",") for size in options.sizes.split(",")]
    if options.ddp:
        cases = [("ddp", "40000000")]
    for name, size in cases:
        times: dict[str, list[float]] = {"gloo": [], "tutti": []}
        calls = {
            backend: ddp_step(group) if name == "ddp" else make_call(name, number(size) // 4, group)
            for backend, group in groups.items()
        }
        counts = {}
        for backend, call in calls.items():
            call()
            begin = time.perf_counter()
            for _ in range(3):
                call()
            once = torch.tensor((time.perf_counter() - begin) / 3)
            dist.all_reduce(once, dist.ReduceOp.MAX)
            counts[backend] = max(1, min(1000, int(options.seconds / options.rounds / once.item())))
        for _ in range(options.rounds):
            for backend, call in calls.items():
                dist.barrier()
                begin = time.perf_counter()
                for _ in range(counts[backend]):
                    call()
                mean = torch.tensor((time.perf_counter() - begin) / counts[backend])
                dist.all_reduce(mean, dist.ReduceOp.MAX)
                times[backend].append(mean.item() * 1e6)
        if rank == 0:
            gloo, ours = (statistics.median(times[backend]) for backend in ("gloo", "tutti"))
            print(f"{name:24} {number(size):>10} {gloo:>10.1f} {ours:>10.1f} {gloo / ours:>6.1f}×",
                  flush=True)  # fmt: skip
    dist.destroy_process_group()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--sizes", default="4K,64K,1M,16M")
    parser.add_argument("--calls", default="all_reduce")
    parser.add_argument("--transport", default="auto", choices=["auto", "shm", "tcp"])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0, help="per call, size and backend")
    parser.add_argument("--ddp", action="store_true", help="a DDP step of ten million parameters")
    options = parser.parse_args()
    _extension.load()
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        processes = [
            context.Process(target=worker, args=(rank, options, str(Path(folder) / "store")))
            for rank in range(options.ranks)
        ]
        for process in processes:
            process.start()
        for process in processes:
            process.join()


if __name__ == "__main__":
    main()
