"""Options(reproducible=…): the bits of sums depend on less."""

from __future__ import annotations

import copy
import os
import sys
import time
import types
from datetime import timedelta
from pathlib import Path

import pytest
import ranks
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

CHOICES = [{}, {"algorithm": "allreduce:mesh"}, {"algorithm": "allreduce:root"},
           {"algorithm": "allreduce:mesh_two_shot"}, {"transport": "tcp"}]  # fmt: skip


def numbers(count: int, seed: int) -> torch.Tensor:
    """Of such different magnitudes that the order of a sum matters."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(count, generator=generator) * 10 ** (6 * torch.rand(count, generator=generator))


def group_of(**options) -> dist.ProcessGroup:
    import tutti.torch

    return dist.new_group(pg_options=tutti.torch.Options(**options))


def bits(tensor: torch.Tensor) -> list[int]:
    return tensor.view(torch.int32).tolist()


def sums(level: str) -> list[list[int]]:
    """Of the same numbers: in one call, in pieces, averaged by another call, by each algorithm."""
    rank, size = dist.get_rank(), dist.get_world_size()
    own = numbers(4096 * size, rank)
    found = []
    for choice in CHOICES:
        group = group_of(reproducible=level, **choice)
        assert group._get_backend(torch.device("cpu")).options.reproducible == level
        for pieces in (1, 4, 64):
            tensor = own.clone()
            for each in tensor.chunk(pieces):
                dist.all_reduce(each, group=group)
            found.append(bits(tensor))
    group = group_of(reproducible=level)
    tensor = own.clone()
    with dist._coalescing_manager(group):
        for each in tensor.chunk(16):
            dist.all_reduce(each, group=group)
    found.append(bits(tensor))
    parts = [torch.empty(4096) for _ in range(size)]
    dist.reduce_scatter_tensor(parts[0], own.clone(), group=group)
    dist.all_gather(parts, parts[0].clone(), group=group)
    found.append(bits(torch.cat(parts)))
    tensor = own.clone()
    dist.reduce(tensor, 0, group=group)
    dist.broadcast(tensor, 0, group=group)
    found.append(bits(tensor))
    return found


@pytest.mark.parametrize("size", [3, 4])
def test_order_gives_the_same_bits_by_every_way(size: int) -> None:
    expected = numbers(4096 * size, 0)
    for rank in range(1, size):
        expected += numbers(4096 * size, rank)
    for found in ranks.run(size, sums, "order"):
        assert all(each == bits(expected) for each in found)


def exact_sums() -> list[int]:
    """The contributions in another order, and by the group of all ranks."""
    size = dist.get_world_size()
    group = group_of(reproducible="exact")
    found = []
    for turn in range(size):
        tensor = numbers(4096, (dist.get_rank() + turn) % size)
        dist.all_reduce(tensor, group=group)
        found.append(bits(tensor))
    assert all(each == found[0] for each in found)
    return found[0]


def test_exact_gives_the_same_bits_in_every_order() -> None:
    each = torch.stack([numbers(4096, rank).double() for rank in range(3)])
    found = ranks.run(3, exact_sums)
    assert found == [bits(each.sum(0).float())] * 3


def gradients(cap: float, options: dict[str, str]) -> list[int]:
    torch.manual_seed(1)
    model = nn.Sequential(*(nn.Linear(64, 64) for _ in range(4)))
    ddp = DistributedDataParallel(model, process_group=group_of(**options), bucket_cap_mb=cap)
    for step in range(3):  # Buckets have their size from the second step on.
        ddp.zero_grad()
        ddp(numbers(8 * 64, 10 * step + dist.get_rank()).view(8, 64)).sum().backward()
    return bits(torch.cat([each.grad.flatten() for each in model.parameters()]))


def train(level: str) -> list[list[int]]:
    found = [gradients(cap, {"reproducible": level}) for cap in (25, 0.02, 0.001)]
    found.append(gradients(25, {"reproducible": level, "algorithm": "allreduce:root"}))
    return [*found, gradients(0.02, {"reproducible": level, "transport": "tcp"})]


def test_gradients_have_the_same_bits_for_every_bucket_size() -> None:
    for found in ranks.run(4, train, "order"):
        assert all(each == found[0] for each in found)


def refusals() -> None:
    import tutti.torch

    with pytest.raises(ValueError, match='"run", "order" or "exact"'):
        tutti.torch.Options(reproducible="always")
    options = tutti.torch.Options()
    assert options.reproducible == "run"
    options.reproducible = "exact"
    with pytest.raises(ValueError, match='"run", "order" or "exact"'):
        options.reproducible = "never"
    group = dist.new_group(pg_options=options)
    with pytest.raises((ValueError, NotImplementedError), match="exact"):
        dist.all_reduce(torch.ones(3), dist.ReduceOp.PRODUCT, group=group)
    tensor = torch.ones(3)
    dist.all_reduce(tensor, group=group)
    assert tensor.tolist() == [2.0] * 3
    # A group made from it asks for the same.
    if hasattr(dist, "shrink_group"):
        backend = dist.group.WORLD._get_backend(torch.device("cpu"))
        assert backend.options.reproducible == "run"
    dist.barrier()
    differs = group_of(reproducible=("run", "order")[dist.get_rank()])
    with pytest.raises(dist.DistBackendError):
        dist.all_reduce(torch.ones(3), group=differs)


def test_levels_are_checked() -> None:
    ranks.run(2, refusals)


# Every way to make a group ----------------------------------------------------------------------


def backend_of(group: dist.ProcessGroup):
    return group._get_backend(torch.device("cpu"))


def is_exact(group: dist.ProcessGroup) -> bool:
    """Whether sums have the bits of the exact ones. A sum in some order has others."""
    tensor = numbers(4096, group.rank())
    each = torch.stack([numbers(4096, rank).double() for rank in range(group.size())])
    group.allreduce([tensor]).wait()
    return bits(tensor) == bits(each.sum(0).float())


def groups_of_a_group(folder: str) -> dict[str, bool]:
    import tutti.torch

    rank, size = dist.get_rank(), dist.get_world_size()
    options = tutti.torch.Options(reproducible="exact")
    found = {"run": is_exact(dist.group.WORLD), "new_group": is_exact(dist.new_group(pg_options=options))}
    dist.destroy_process_group()
    store = dist.FileStore(f"{folder}/world", size)
    dist.init_process_group("tutti", store=store, rank=rank, world_size=size, pg_options=options)
    found["init_process_group"] = is_exact(dist.group.WORLD)
    every = list(range(size))
    if hasattr(dist.group.WORLD, "split_group"):
        found["split_group"] = is_exact(dist.group.WORLD.split_group(every, group_name="same"))
        given = tutti.torch.Options()
        found["split to run"] = is_exact(
            dist.group.WORLD.split_group(every, opts=given, group_name="given", timeout=timedelta(seconds=9))
        )
        assert backend_of(dist.group.WORLD).options._timeout != timedelta(seconds=9)
    store = dist.PrefixStore("kept", dist.FileStore(f"{folder}/kept", size))
    kept = tutti.torch.make_group(store, rank, size, timedelta(seconds=20), options)
    found["make_group"] = is_exact(kept)
    # torchft, of which the class needs one name only.
    module = types.ModuleType("torchft.process_group")
    module.ProcessGroupWrapper = type(
        "ProcessGroupWrapper", (), {"__init__": lambda self, timeout: setattr(self, "_timeout", timeout)}
    )
    sys.modules.update({"torchft": types.ModuleType("torchft"), "torchft.process_group": module})
    from tutti.torch.ft import ProcessGroupTutti

    for name, chosen in (("torchft", options), ("torchft run", None)):
        # As torchft does; its constructor takes the timeout by position.
        maker = ProcessGroupTutti(timedelta(seconds=20), chosen)
        store = dist.PrefixStore(name, dist.FileStore(f"{folder}/ft", size))
        found[name] = is_exact(maker._create_pg(store, rank, size))
    if hasattr(dist, "shrink_group"):
        dist.barrier()
        if rank == size - 1:
            time.sleep(1)
            os._exit(0)
        with pytest.raises(dist.DistBackendError):
            for _ in range(1000):
                dist.all_reduce(torch.ones(1))
                time.sleep(0.01)
        dist.shrink_group([size - 1])
        found["shrink_group of a lost rank"] = is_exact(dist.group.WORLD)
        if rank != size - 2:
            dist.shrink_group([size - 2])
            found["shrink_group"] = is_exact(dist.group.WORLD)
        else:
            time.sleep(1)
    return found


def test_every_way_to_make_a_group_keeps_the_level(tmp_path: Path) -> None:
    lost = (4,) if hasattr(dist, "shrink_group") else ()
    for found in ranks.run(5, groups_of_a_group, str(tmp_path), lost=lost)[:4]:
        expected = {name: name not in ("run", "split to run", "torchft run") for name in found}
        assert found == expected


def options_are_copied() -> None:
    import tutti.torch

    options = tutti.torch.Options(reproducible="exact")
    before = options._timeout
    group = dist.new_group(pg_options=options, timeout=timedelta(seconds=7))
    assert options._timeout == before
    options.reproducible, options.algorithm = "run", "allreduce/ring"
    used = backend_of(group).options
    assert (used.reproducible, used.algorithm, used._timeout) == ("exact", "", timedelta(seconds=7))
    for name, value in (
        ("reproducible", "run"),
        ("algorithm", "allreduce/ring"),
        ("transport", "tcp"),
        ("interfaces", "lo"),
        ("_timeout", timedelta(seconds=1)),
    ):
        with pytest.raises(ValueError, match="a group uses these"):
            setattr(used, name, value)
    dist.distributed_c10d._set_pg_timeout(timedelta(seconds=8), group)
    assert used._timeout == timedelta(seconds=8)
    for again in (copy.copy(used), copy.deepcopy(used)):
        assert again.reproducible == "exact"
        again.reproducible = "run"
    assert used.reproducible == "exact"
    # One that a group uses may be passed for another.
    assert is_exact(dist.new_group(pg_options=used))
    assert is_exact(group)


def test_options_are_copied() -> None:
    ranks.run(3, options_are_copied)
