"""torch.ops.tutti: collectives in torch's dispatcher, also in compiled programs."""

from __future__ import annotations

import os
from typing import Any

import pytest
import ranks
import torch
import torch.distributed as dist

SIZES = [1, 2, 3]
TYPES = [
    torch.float32,
    torch.bfloat16,
    torch.float16,
    torch.float64,
    torch.int32,
    torch.uint8,
    torch.complex64,
]


def name() -> str:
    group: Any = dist.distributed_c10d._get_default_group()
    return str(group.group_name)


def contribution(rank: int, dtype: torch.dtype, *shape: int) -> torch.Tensor:
    count = torch.Size(shape).numel()
    return ((torch.arange(count) % 5 + rank + 1).to(dtype)).reshape(shape)


def results() -> None:
    size, rank, ops = dist.get_world_size(), dist.get_rank(), torch.ops.tutti
    for dtype in TYPES:
        for shape in [(), (0,), (1,), (size, 3), (6 * size, 5), (size * 4096,)]:
            each = [contribution(r, dtype, *shape) for r in range(size)]
            own, total = each[rank].clone(), torch.stack(each).sum(0).to(dtype)
            assert torch.equal(ops.all_reduce(own, "sum", name()), total), (dtype, shape)
            gathered = ops.all_gather(own, name())
            assert torch.equal(gathered, torch.cat([part.reshape(-1, *shape[1:]) for part in each])), (
                dtype,
                shape,
            )
            if shape and shape[0] % size == 0:
                part = ops.reduce_scatter(own, "sum", name())
                assert torch.equal(part, total.chunk(size)[rank] if shape[0] else total), (dtype, shape)
            assert torch.equal(own, each[rank]), "the input is left as it is"
            assert ops.all_reduce_(own, "sum", name()) is None
            assert torch.equal(own, total), (dtype, shape)


@pytest.mark.parametrize("backend", ["tutti", "gloo"])
@pytest.mark.parametrize("size", SIZES)
def test_they_give_what_the_calls_of_c10d_give(size: int, backend: str) -> None:
    # Gloo does not sum all types.
    ranks.run(size, results if backend == "tutti" else results_of_floats, backend=backend)


def results_of_floats() -> None:
    size, rank, ops = dist.get_world_size(), dist.get_rank(), torch.ops.tutti
    each = [contribution(r, torch.float32, size, 4) for r in range(size)]
    own = each[rank].clone()
    ops.all_reduce_(own, "sum", name())
    assert torch.equal(own, torch.stack(each).sum(0))
    assert torch.equal(ops.all_gather(each[rank], name()), torch.cat(each))


def operations() -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    each = torch.stack([contribution(r, torch.int64, 6) for r in range(size)])
    expected = {
        "sum": each.sum(0),
        "product": each.prod(0),
        "min": each.min(0).values,
        "max": each.max(0).values,
        "avg": each.sum(0) // size,
        "band": each[0] & each[1],
        "bor": each[0] | each[1],
        "bxor": each[0] ^ each[1],
    }
    for op, total in expected.items():
        assert torch.equal(torch.ops.tutti.all_reduce(each[rank].clone(), op, name()), total), op


def test_operations_have_the_names_of_functional_collectives() -> None:
    ranks.run(2, operations)


def strides() -> None:
    rank, size = dist.get_rank(), dist.get_world_size()
    each = [contribution(r, torch.float32, 8, 6) for r in range(size)]
    for view in [
        lambda t: t.t(),
        lambda t: t[:, ::2],
        lambda t: t[2:],
        lambda t: t.reshape(2, 4, 6).transpose(0, 1),
    ]:
        own = view(each[rank].clone())
        total = torch.stack([view(part) for part in each]).sum(0)
        assert torch.equal(torch.ops.tutti.all_reduce(own, "sum", name()), total)
        torch.ops.tutti.all_reduce_(own, "sum", name())
        assert torch.equal(own, total)


def test_any_strides() -> None:
    ranks.run(2, strides)


def mistakes() -> None:
    tensor = torch.ones(3)
    with pytest.raises(ValueError, match='the operation is "total"; it is sum, avg'):
        torch.ops.tutti.all_reduce_(tensor, "total", name())
    with pytest.raises(ValueError, match="cannot be divided among 2 ranks"):
        torch.ops.tutti.reduce_scatter(tensor, "sum", name())
    with pytest.raises(RuntimeError, match="nowhere"):
        torch.ops.tutti.all_reduce_(tensor, "sum", "nowhere")
    assert torch.equal(torch.ops.tutti.all_reduce(tensor, "sum", name()), 2 * tensor), "the group still works"


def test_mistakes_name_their_cure() -> None:
    ranks.run(2, mistakes)


def lost_peer() -> None:
    torch.ops.tutti.all_reduce(torch.ones(4), "sum", name())
    if dist.get_rank() == 1:
        os._exit(3)
    with pytest.raises(dist.DistBackendError, match="rank 1"):
        torch.ops.tutti.all_reduce(torch.ones(4), "sum", name())


def test_a_lost_peer_is_named() -> None:
    ranks.run(2, lost_peer, lost=(1,))


def checked_by_torch() -> None:
    ops = torch.ops.tutti
    tensor = torch.ones(4, 3)
    tests = ("test_schema", "test_faketensor", "test_autograd_registration")
    for op, arguments in [
        (ops.all_reduce_.default, (tensor.clone(), "sum", name())),
        (ops.all_reduce.default, (tensor, "sum", name())),
        (ops.all_gather.default, (tensor, name())),
        (ops.reduce_scatter.default, (tensor, "sum", name())),
    ]:
        torch.library.opcheck(op, arguments, test_utils=tests)


def test_torch_accepts_schemas_and_fake_kernels() -> None:
    ranks.run(2, checked_by_torch)


def compiled() -> None:
    ops, group = torch.ops.tutti, name()
    rank, size = dist.get_rank(), dist.get_world_size()
    graphs: list[str] = []

    def keep(module: Any, _: Any) -> Any:
        graphs.append(module.code)
        return module.forward

    def layer(x: torch.Tensor) -> torch.Tensor:
        total = ops.all_reduce(x * 2, "sum", group)
        ops.all_reduce_(total, "max", group)
        parts = ops.all_gather(total + rank, group)
        return ops.reduce_scatter(parts, "sum", group).relu()

    x = contribution(rank, torch.float32, 2 * size, 3)
    for backend in (keep, "aot_eager"):
        found = torch.compile(layer, fullgraph=True, backend=backend, dynamic=True)(x.clone())
        assert torch.equal(found, layer(x.clone())), backend
        other = contribution(rank, torch.float32, 4 * size, 3)
        found = torch.compile(layer, fullgraph=True, backend=backend, dynamic=True)(other.clone())
        assert torch.equal(found, layer(other.clone())), backend
    for op in ("all_reduce", "all_reduce_", "all_gather", "reduce_scatter"):
        assert f"torch.ops.tutti.{op}(" in graphs[0], graphs[0]


def test_compiled_programs_keep_them_in_one_graph() -> None:
    ranks.run(2, compiled)
