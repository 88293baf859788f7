"""Functional collectives and DTensor on groups of tutti and of gloo."""

from __future__ import annotations

from typing import Any

import pytest
import ranks
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Partial, Replicate, Shard, distribute_tensor


def own(rank: int, *shape: int) -> torch.Tensor:
    return torch.arange(torch.Size(shape).numel(), dtype=torch.float32).reshape(shape) + rank


def collectives() -> None:
    size, rank = dist.get_world_size(), dist.get_rank()
    group: Any = dist.distributed_c10d._get_default_group()
    each = [own(r, 2 * size, 3) for r in range(size)]
    total = torch.stack(each).sum(0)
    assert torch.equal(functional.all_reduce(each[rank], "sum", group), total)
    assert torch.equal(functional.all_reduce(each[rank], "avg", group), total / size)
    assert torch.equal(functional.all_gather_tensor(each[rank], 0, group), torch.cat(each))
    assert torch.equal(functional.all_gather_tensor(each[rank], 1, group), torch.cat(each, 1))
    part = functional.reduce_scatter_tensor(each[rank], "sum", 0, group)
    assert torch.equal(part, total.chunk(size)[rank])
    assert torch.equal(each[rank], own(rank, 2 * size, 3)), "the input is left as it is"
    data = each[rank].clone()
    found = torch.ops._c10d_functional.all_reduce_(data, "sum", group.group_name)
    assert torch.equal(torch.ops._c10d_functional.wait_tensor(found), total)
    assert torch.equal(data, total)


@pytest.mark.parametrize("backend", ["tutti", "gloo"])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_they_give_what_their_definitions_say(size: int, backend: str) -> None:
    if backend == "gloo":
        ranks.run(size, collectives_without_average, backend=backend)
    else:
        ranks.run(size, collectives)


def collectives_without_average() -> None:
    size, rank = dist.get_world_size(), dist.get_rank()
    group: Any = dist.distributed_c10d._get_default_group()
    each = [own(r, 2 * size, 3) for r in range(size)]
    assert torch.equal(functional.all_reduce(each[rank], "sum", group), torch.stack(each).sum(0))
    assert torch.equal(functional.all_gather_tensor(each[rank], 0, group), torch.cat(each))


def done_when_they_return() -> None:
    size, rank = dist.get_world_size(), dist.get_rank()
    group: Any = dist.distributed_c10d._get_default_group()
    each = [own(r, size, 5) for r in range(size)]
    for _ in range(200):
        # Not waited for: the result is there all the same.
        found = torch.ops._c10d_functional.all_reduce(each[rank], "sum", group.group_name)
        assert torch.equal(found, torch.stack(each).sum(0))


def test_they_are_done_when_they_return() -> None:
    ranks.run(2, done_when_they_return)


def groups_of_both_backends() -> None:
    size, rank = dist.get_world_size(), dist.get_rank()
    total = torch.stack([own(r, 4) for r in range(size)]).sum(0)
    for group in [dist.new_group(backend=backend) for backend in ("gloo", "tutti")]:
        assert torch.equal(functional.all_reduce(own(rank, 4), "sum", group), total)


def test_groups_of_other_backends_keep_the_kernels_of_torch() -> None:
    ranks.run(2, groups_of_both_backends)


def distributed_tensors() -> None:
    size = dist.get_world_size()
    mesh = init_device_mesh("cpu", (size,))
    torch.manual_seed(3)
    a, b = torch.randn(4 * size, 6 * size), torch.randn(6 * size, 5)
    product = distribute_tensor(a, mesh, [Shard(1)]) @ distribute_tensor(b, mesh, [Shard(0)])
    assert product.placements == (Partial(),)
    for placement in (Replicate(), Shard(0)):
        whole = product.redistribute(mesh, [placement]).full_tensor()
        torch.testing.assert_close(whole, a @ b)


@pytest.mark.parametrize("size", [1, 2, 4])
def test_distributed_tensors(size: int) -> None:
    ranks.run(size, distributed_tensors)


def compiled() -> None:
    size, rank = dist.get_world_size(), dist.get_rank()
    group: Any = dist.distributed_c10d._get_default_group()

    def layer(x: torch.Tensor) -> torch.Tensor:
        return functional.all_reduce(x * 2, "sum", group).relu() + 1

    found = torch.compile(layer, fullgraph=True, backend="aot_eager")(own(rank, 4, 4))
    expected = 2 * torch.stack([own(r, 4, 4) for r in range(size)]).sum(0) + 1
    assert torch.equal(found, expected)


def test_compiled_programs() -> None:
    ranks.run(2, compiled)
