"""Times torch's own calls on the backends gloo and tutti, taking turns in one run.

    python bench/torch/compare.py --ranks 2 --sizes 4K,64K,1M,16M --calls all_reduce,broadcast

Every rank has a process group of each backend. The backends alternate: a few calls of one, then a
few of the other, and so on, so that both see the same machine. A time is the median over the calls of
the slowest rank's time, as `tutti bench` computes it. Tensors are ordinary, or those of tutti with --shared
in shared memory (`allocate_tensor`), and hold zeros, which stay zeros when they are added.

--fresh makes a new tensor of zeros in each call of all_reduce, which is part of the time, and has one more
column: the same with new tensors in shared memory (`tutti.torch.use_shared_memory`).

--direct also makes the same call without torch, from Python, which takes less than a microsecond more
than from C++; by tutti's operator in torch's dispatcher (operator), beside an operator of torch in C++ that
does nothing (nothing); and on torch's backend "fake", which does nothing: what torch itself takes (torch).

--ddp is a step of DistributedDataParallel with a model of ten million parameters. Its communication is what
a step takes more than the same step without synchronisation (alone), and more than with a hook that leaves
the buckets as they are (copies): DDP copies gradients into buckets and back with any backend.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import tutti
import tutti.torch
from tutti.torch import _extension


def number(text: str) -> int:
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    return int(text[:-1]) * units[text[-1]] if text[-1] in units else int(text)


def make_call(
    name: str, count: int, group: dist.ProcessGroup, *, is_shared: bool = False
) -> Callable[[], object]:
    def zeros(elements: int) -> torch.Tensor:
        if not is_shared:
            return torch.zeros(elements)
        memory = group._get_backend(torch.device("cpu"))
        tensor: torch.Tensor = memory.allocate_tensor(elements, dtype=torch.float, device=torch.device("cpu"))
        return tensor.zero_()

    size = dist.get_world_size()
    data = zeros(count)
    part = zeros(max(count // size, 1))
    whole = zeros(part.numel() * size)
    other = zeros(whole.numel())
    parts = list(whole.chunk(size))
    calls: dict[str, Callable[[], object]] = {
        "all_reduce": lambda: dist.all_reduce(data, group=group),
        "broadcast": lambda: dist.broadcast(data, 0, group=group),
        "reduce": lambda: dist.reduce(data, 0, group=group),
        "all_gather": lambda: dist.all_gather(parts, part, group=group),
        "all_gather_into_tensor": lambda: dist.all_gather_into_tensor(whole, part, group=group),
        "reduce_scatter_tensor": lambda: dist.reduce_scatter_tensor(part, whole, group=group),
        "all_to_all_single": lambda: dist.all_to_all_single(whole, other, group=group),
        "barrier": lambda: dist.barrier(group=group),
    }
    return calls[name]


def make_operator_call(count: int, group: dist.ProcessGroup) -> Callable[[], object]:
    data, name = torch.zeros(count), group.group_name
    operator = torch.ops.tutti.all_reduce_.default
    return lambda: operator(data, "sum", name)


def make_nothing_call(count: int) -> Callable[[], object]:
    data = torch.zeros(count)
    operator = torch.ops.aten._assert_tensor_metadata.default
    return lambda: operator(data, None, None, None)


def make_direct_call(count: int, comm: tutti.Communicator) -> Callable[[], object]:
    data = torch.zeros(count).numpy()
    return lambda: comm.allreduce(data)


class DdpStep:
    """Steps of a model of ten million parameters, and the same without communication."""

    def __init__(self, group: dist.ProcessGroup, *, views: bool) -> None:
        width = 1291  # Six layers: 10 million parameters.
        model = torch.nn.Sequential(*(torch.nn.Linear(width, width) for _ in range(6)))
        self.model = DistributedDataParallel(model, process_group=group, gradient_as_bucket_view=views)
        self.inputs = torch.randn(4, width)
        self.count = sum(each.numel() for each in model.parameters())

    def __call__(self) -> None:
        self.model.zero_grad(set_to_none=False)
        self.model(self.inputs).sum().backward()

    def alone(self) -> None:
        with self.model.no_sync():
            self()


def measure(calls: dict[str, Callable[[], object]], options: argparse.Namespace) -> dict[str, float]:
    """Return the microseconds of each call. The calls take turns."""
    counts = {}
    for name, call in calls.items():
        call()
        begin = time.perf_counter()
        for _ in range(3):
            call()
        once = torch.tensor((time.perf_counter() - begin) / 3)
        dist.all_reduce(once, dist.ReduceOp.MAX)
        counts[name] = max(1, min(1000, int(options.seconds / options.rounds / once.item())))
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(options.rounds):
        for name, call in calls.items():
            dist.barrier()
            call()  # Ranks leave a barrier one after the other.
            stamps = [time.perf_counter()]
            for _ in range(counts[name]):
                call()
                stamps.append(time.perf_counter())
            each = torch.tensor(stamps, dtype=torch.float64).diff()
            dist.all_reduce(each, dist.ReduceOp.MAX)
            times[name] += (each * 1e6).tolist()
    return {name: statistics.median(each) for name, each in times.items()}


def make_fresh_call(count: int, group: dist.ProcessGroup, *, is_shared: bool = False) -> Callable[[], object]:
    extension = _extension.load()

    def call() -> None:
        if is_shared:
            extension.share_tensors_from(1)
        data = torch.zeros(count)
        extension.stop_sharing_tensors()
        dist.all_reduce(data, group=group)

    return call


def compare_calls(groups: dict[str, dist.ProcessGroup], options: argparse.Namespace) -> None:
    direct = None
    if options.direct:
        importlib.import_module("torch.testing._internal.distributed.fake_pg")  # Registers it.
        store = dist.distributed_c10d._get_default_store()
        rank, size = dist.get_rank(), dist.get_world_size()
        direct = tutti.init(store=store, rank=rank, ranks=size, transport=options.transport)
        fake = dist.new_group(backend="fake")
    say(f"{options.ranks} ranks, {options.transport}, float32, µs per call")
    title = f"{'call':24} {'bytes':>10} {'gloo':>10} {'tutti':>10} {'ratio':>7}"
    more = ["direct", "operator", "nothing", "torch"] if direct else ["shared"] if options.fresh else []
    say(title + "".join(f" {each:>8}" for each in more))
    for name in options.calls.split(","):
        for size in options.sizes.split(","):
            calls = {
                each: make_call(name, number(size) // 4, group, is_shared=options.shared and each == "tutti")
                for each, group in groups.items()
            }
            if options.fresh and name == "all_reduce":
                count = number(size) // 4
                calls = {each: make_fresh_call(count, group) for each, group in groups.items()}
                calls["shared"] = make_fresh_call(count, groups["tutti"], is_shared=True)
            if direct and name == "all_reduce":
                calls["direct"] = make_direct_call(number(size) // 4, direct)
                calls["operator"] = make_operator_call(number(size) // 4, groups["tutti"])
                calls["nothing"] = make_nothing_call(number(size) // 4)
                calls["torch"] = make_call(name, number(size) // 4, fake)
            times = measure(calls, options)
            line = f"{name:24} {number(size):>10} {times['gloo']:>10.1f} {times['tutti']:>10.1f}"
            line += f" {times['gloo'] / times['tutti']:>6.1f}×"
            say(line + "".join(f" {times[each]:>8.1f}" for each in more if each in times))


def compare_ddp(groups: dict[str, dist.ProcessGroup], options: argparse.Namespace) -> None:
    steps = {name: DdpStep(group, views=options.views) for name, group in groups.items()}
    steps["copies"] = DdpStep(groups["tutti"], views=options.views)
    steps["copies"].model.register_comm_hook(None, leave_bucket)
    calls: dict[str, Callable[[], object]] = dict(steps)
    calls["alone"] = steps["tutti"].alone
    times = measure(calls, options)
    say(f"{options.ranks} ranks, {options.transport}, DDP, {steps['gloo'].count} parameters, ms per step")
    say(f"{'':10} {'step':>10} {'more than alone':>16} {'than copies':>12}")
    for name, each in times.items():
        more = [(each - times[least]) / 1e3 for least in ("alone", "copies")]
        say(f"{name:10} {each / 1e3:>10.1f} {more[0]:>16.1f} {more[1]:>12.1f}")
    for least in ("alone", "copies"):
        parts = [times[name] - times[least] for name in ("gloo", "tutti")]
        say(f"ratio of what is more than {least}: {parts[0] / parts[1]:.1f}×")


def leave_bucket(_, bucket):  # type: ignore[no-untyped-def]  # Torch refuses annotations in strings.
    done: torch.futures.Future[torch.Tensor] = torch.futures.Future()
    done.set_result(bucket.buffer())
    return done


def say(line: str) -> None:
    if dist.get_rank() == 0:
        print(line, flush=True)


def worker(rank: int, options: argparse.Namespace, store: str) -> None:
    torch.set_num_threads(1)
    os.environ["TUTTI_TRANSPORT"] = options.transport
    dist.init_process_group(
        "gloo", store=dist.FileStore(store, options.ranks), rank=rank, world_size=options.ranks
    )
    gloo = dist.group.WORLD
    assert gloo is not None
    choice = tutti.torch.Options(transport=options.transport)
    groups = {"gloo": gloo, "tutti": dist.new_group(backend="tutti", pg_options=choice)}
    tutti.torch.use_shared_memory(None)
    (compare_ddp if options.ddp else compare_calls)(groups, options)
    dist.destroy_process_group()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--sizes", default="4K,64K,1M,16M")
    parser.add_argument("--calls", default="all_reduce")
    parser.add_argument("--transport", default="auto", choices=["auto", "shm", "tcp"])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=1.0, help="per call, size and backend")
    parser.add_argument("--direct", action="store_true", help="all_reduce without torch, too")
    parser.add_argument("--shared", action="store_true", help="tutti's tensors in shared memory")
    parser.add_argument("--fresh", action="store_true", help="all_reduce of a new tensor each time")
    parser.add_argument("--ddp", action="store_true", help="a DDP step of ten million parameters")
    parser.add_argument("--views", action="store_true", help="with gradient_as_bucket_view")
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
