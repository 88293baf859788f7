"""Every collective gives what its definition says, for all types and operations."""

from __future__ import annotations

import pytest
import ranks
import torch
import torch.distributed as dist

SIZES = [1, 2, 3]
VERSION = tuple(int(each) for each in torch.__version__.split("+")[0].split(".")[:2])
NUMBERS = [
    torch.float32, torch.float64, torch.float16, torch.bfloat16,
    torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64,
    torch.complex64, torch.complex128,
]  # fmt: skip


def contribution(rank: int, dtype: torch.dtype, count: int = 12) -> torch.Tensor:
    return (torch.arange(count) % 3 + rank + 1).to(dtype)


def all_types(op_name: str) -> None:
    size, rank = dist.get_world_size(), dist.get_rank()
    op = getattr(dist.ReduceOp, op_name)
    for dtype in [*NUMBERS, torch.bool]:
        is_integer = not (dtype.is_floating_point or dtype.is_complex)
        if op_name in ("BAND", "BOR", "BXOR") and not is_integer:
            continue
        if dtype.is_complex and op_name not in ("SUM", "AVG"):
            continue
        if dtype == torch.bool and op_name == "AVG":
            continue
        each = [contribution(r, dtype) for r in range(size)]
        if dtype == torch.bool:
            each = [(torch.arange(12) + r) % 2 == 0 for r in range(size)]
        expected = combine(op_name, each)
        tensor = each[rank].clone()
        dist.all_reduce(tensor, op)
        assert torch.equal(tensor, expected), (dtype, tensor, expected)
        tensor = each[rank].clone()
        dist.reduce(tensor, 0, op)
        assert torch.equal(tensor, expected) or rank != 0, dtype
        parts = [part.clone() for part in torch.cat([each[rank]] * size).chunk(size)]
        output = torch.empty_like(each[rank])
        dist.reduce_scatter(output, parts, op)
        assert torch.equal(output, expected), dtype
        output = torch.empty_like(each[rank])
        dist.reduce_scatter_tensor(output, torch.cat([each[rank]] * size), op)
        assert torch.equal(output, expected), dtype


def combine(op_name: str, each: list[torch.Tensor]) -> torch.Tensor:
    dtype = each[0].dtype
    if dtype == torch.bool:
        stacked = torch.stack(each)
        if op_name in ("SUM", "MAX", "BOR"):
            return stacked.any(0)
        if op_name == "BXOR":
            return stacked.sum(0) % 2 == 1
        return stacked.all(0)
    result = each[0].clone()
    for other in each[1:]:
        if op_name in ("SUM", "AVG"):
            result = result + other
        elif op_name == "PRODUCT":
            result = result * other
        elif op_name == "MIN":
            result = torch.minimum(result, other)
        elif op_name == "MAX":
            result = torch.maximum(result, other)
        elif op_name == "BAND":
            result = result & other
        elif op_name == "BOR":
            result = result | other
        else:
            result = result ^ other
    if op_name == "AVG":
        is_integer = not (dtype.is_floating_point or dtype.is_complex)
        result = result.div(len(each), rounding_mode="trunc") if is_integer else result / len(each)
    return result.to(dtype)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("op", ["SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR"])
def test_reductions(size: int, op: str) -> None:
    ranks.run(size, all_types, op)


def fp8_sums() -> None:
    size, rank = dist.get_world_size(), dist.get_rank()
    for dtype in [torch.float8_e4m3fn, torch.float8_e5m2]:
        tensor = torch.full((12,), rank + 0.5).to(dtype)
        dist.all_reduce(tensor)
        assert (tensor.float() == size * size / 2).all(), tensor


@pytest.mark.parametrize("size", [2, 4])
def test_fp8_sums(size: int) -> None:
    ranks.run(size, fp8_sums)


def movements() -> None:
    size, rank = dist.get_world_size(), dist.get_rank()
    for dtype in [*NUMBERS, torch.bool, torch.float8_e5m2]:
        each = [(torch.arange(6) % 2 + r).to(dtype) for r in range(size)]
        own = each[rank]

        def same(a: torch.Tensor, b: torch.Tensor, dtype: torch.dtype = dtype) -> None:
            assert torch.equal(a.view(torch.uint8), b.view(torch.uint8)), (dtype, a, b)

        tensor = own.clone()
        dist.broadcast(tensor, size - 1)
        same(tensor, each[size - 1])
        outputs = [torch.empty_like(own) for _ in range(size)]
        dist.all_gather(outputs, own)
        for got, wanted in zip(outputs, each):
            same(got, wanted)
        output = torch.empty(6 * size, dtype=dtype)
        dist.all_gather_into_tensor(output, own)
        same(output, torch.cat([e.view(torch.uint8) for e in each]).view(dtype))
        outputs = [torch.empty_like(own) for _ in range(size)] if rank == 0 else None
        dist.gather(own, outputs, dst=0)
        for got, wanted in zip(outputs or [], each):
            same(got, wanted)
        output = torch.empty_like(own)
        dist.scatter(output, each if rank == 0 else None, src=0)
        same(output, own)
        inputs = [(torch.arange(d + 1) % 2 + rank).to(dtype) for d in range(size)]
        outputs = [torch.empty(rank + 1, dtype=dtype) for _ in range(size)]
        dist.all_to_all(outputs, inputs)
        for source, got in enumerate(outputs):
            same(got, (torch.arange(rank + 1) % 2 + source).to(dtype))
        output = torch.empty(2 * size, 3, dtype=torch.float32)
        dist.all_to_all_single(output, torch.full((2 * size, 3), float(rank)))
        assert torch.equal(output, torch.arange(size).repeat_interleave(2)[:, None].expand(-1, 3))
        output = torch.empty((rank + 1) * size)
        dist.all_to_all_single(
            output,
            torch.full((size * (size + 1) // 2,), float(rank)),
            [rank + 1] * size,
            [d + 1 for d in range(size)],
        )
        assert torch.equal(output, torch.arange(size).repeat_interleave(rank + 1).float())


@pytest.mark.parametrize("size", SIZES)
def test_movements(size: int) -> None:
    ranks.run(size, movements)


def odd_tensors() -> None:
    size, rank = dist.get_world_size(), dist.get_rank()
    total = size * (size + 1) / 2
    # Strides that differ between ranks.
    tensor = torch.full((4, 6), rank + 1.0)
    tensor = tensor.t().contiguous().t() if rank % 2 else tensor
    tensor[1, 2] += rank
    dist.all_reduce(tensor)
    expected = torch.full((4, 6), total)
    expected[1, 2] += sum(range(size))
    assert torch.equal(tensor, expected)
    column = torch.zeros(5, 3)
    column[:, 1] = rank + 1
    dist.all_reduce(column[:, 1])
    assert torch.equal(column, torch.tensor([0, total, 0]).expand(5, 3))
    gathered = torch.zeros(size * 2, 3).t()
    dist.all_gather_into_tensor(gathered, torch.full((6,), float(rank)).view(3, 2))
    flat = torch.arange(size).repeat_interleave(6).float()
    assert torch.equal(gathered.reshape(-1), flat)
    # Empty tensors.
    for empty in (torch.empty(0), torch.empty(3, 0, dtype=torch.int64)):
        dist.all_reduce(empty)
        dist.broadcast(empty, 0)
        dist.all_gather([torch.empty_like(empty) for _ in range(size)], empty)
        dist.all_gather_into_tensor(torch.empty(0, dtype=empty.dtype), empty)
        dist.all_to_all_single(torch.empty_like(empty), empty, [0] * size, [0] * size) if (
            empty.dim() == 1
        ) else None
    # A leaf that requires a gradient.
    leaf = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        dist.all_reduce(leaf)
    assert torch.equal(leaf.detach(), torch.full((3,), float(size)))
    # Blocks of different lengths.
    outputs = [torch.empty(r + 1) for r in range(size)]
    dist.all_gather(outputs, torch.full((rank + 1,), float(rank)))
    assert all(torch.equal(o, torch.full((r + 1,), float(r))) for r, o in enumerate(outputs))


@pytest.mark.parametrize("size", [2, 3])
def test_odd_tensors(size: int) -> None:
    ranks.run(size, odd_tensors)


def coalesced() -> None:
    size, rank = dist.get_world_size(), dist.get_rank()
    tensors = [torch.full((n,), rank + 1.0) for n in (1, 5, 40000, 3)]
    tensors.append(torch.full((2,), rank + 1))
    with dist._coalescing_manager(async_ops=True) as manager:
        for tensor in tensors:
            dist.all_reduce(tensor)
    manager.wait()
    assert all(bool((t == size * (size + 1) // 2).all()) for t in tensors)
    work = dist.group.WORLD.allreduce_coalesced([t.fill_(rank) for t in tensors[:3]])
    work.wait()
    assert all(bool((t == sum(range(size))).all()) for t in tensors[:3])
    outputs = [torch.empty(3 * size) for _ in range(2)]
    with dist._coalescing_manager(async_ops=True) as manager:
        for output in outputs:
            dist.all_gather_into_tensor(output, torch.full((3,), float(rank)))
    manager.wait()
    assert all(torch.equal(o, torch.arange(size).repeat_interleave(3).float()) for o in outputs)
    sparse = torch.sparse_coo_tensor([[rank, size]], [1.0, 2.0], (size + 1,))
    dist.all_reduce(sparse)
    assert torch.equal(sparse.to_dense(), torch.tensor([1.0] * size + [2.0 * size]))


def premultiplied() -> None:
    size, rank = dist.get_world_size(), dist.get_rank()
    op = dist._make_nccl_premul_sum(0.5)
    tensor = torch.full((3,), rank + 1.0)
    dist.all_reduce(tensor, op)
    expected = size * (size + 1) / 4
    assert torch.equal(tensor, torch.full((3,), expected))
    source, output = torch.full((2 * size,), rank + 1.0), torch.empty(2)
    dist.reduce_scatter_tensor(output, source, op)
    assert torch.equal(output, torch.full((2,), expected))
    assert torch.equal(source, torch.full((2 * size,), rank + 1.0))


@pytest.mark.parametrize("size", [2, 3])
def test_coalesced(size: int) -> None:
    ranks.run(size, coalesced)
    ranks.run(size, premultiplied)


def messages() -> None:
    size, rank = dist.get_world_size(), dist.get_rank()
    to, source = (rank + 1) % size, (rank - 1) % size
    got = torch.empty(1000)
    works = dist.batch_isend_irecv(
        [dist.P2POp(dist.isend, torch.full((1000,), float(rank)), to),
         dist.P2POp(dist.irecv, got, source)]
    )  # fmt: skip
    for work in works:
        work.wait()
    assert bool((got == source).all())
    # Tags, received in another order than they were sent.
    first, second = torch.empty(1), torch.empty(1)
    sends = [dist.isend(torch.tensor([float(tag)]), to, tag=tag) for tag in (7, 8)]
    dist.recv(second, source, tag=8)
    dist.recv(first, source, tag=7)
    assert (first.item(), second.item()) == (7.0, 8.0)
    for work in sends:
        work.wait()
    if rank == 0:
        senders = {dist.recv(torch.empty(2)) for _ in range(size - 1)}
        assert senders == set(range(1, size))
    else:
        dist.send(torch.zeros(2), 0)
    # Dropped before it is done.
    dist.isend(torch.full((500000,), 3.0), to, tag=9)
    got = torch.empty(500000)
    dist.recv(got, source, tag=9)
    assert bool((got == 3).all())


@pytest.mark.parametrize("size", [2, 3])
def test_messages(size: int) -> None:
    ranks.run(size, messages)


def works() -> None:
    size, rank = dist.get_world_size(), dist.get_rank()
    tensor = torch.ones(4)
    work = dist.all_reduce(tensor, async_op=True)
    future = work.get_future()
    assert torch.equal(future.wait()[0], torch.full((4,), float(size)))
    assert work.is_completed() and work.is_success()
    if VERSION >= (2, 10):  # Older versions cannot convert what exception() returns.
        assert work.exception() is None
    assert work.result()[0].data_ptr() == tensor.data_ptr()

    # A callback that waits for another call of the same group.
    def again(done):
        other = torch.ones(2)
        dist.all_reduce(other)
        return other

    chained = dist.all_reduce(torch.ones(1), async_op=True).get_future().then(again)
    assert torch.equal(chained.wait(), torch.full((2,), float(size)))
    many = [torch.full((n,), 1.0) for n in range(1, 60)]
    pending = [dist.all_reduce(t, async_op=True) for t in many]
    for each in pending:
        each.wait()
    assert all(bool((t == size).all()) for t in many)
    objects: list[object] = [None] * size
    dist.all_gather_object(objects, {"rank": rank})
    assert objects == [{"rank": r} for r in range(size)]
    group = dist.new_group(list(range(size)))
    dist.all_reduce(torch.ones(1), group=group)


def test_works() -> None:
    ranks.run(2, works)


def waited_for() -> None:
    """Calls that the program waits for: they have no work, and keep their place among others."""
    size = dist.get_world_size()
    group = dist.group.WORLD
    options = dist.AllreduceOptions()
    tensor = torch.ones(3)
    group.allreduce([tensor], options).wait()
    if VERSION >= (2, 8):
        backend = group._get_backend(torch.device("cpu"))
        number = backend._get_sequence_number_for_group()
        options.asyncOp = False
        assert group.allreduce([tensor], options) is None
        assert tensor.tolist() == [size**2] * 3
        assert backend._get_sequence_number_for_group() == number + 1
    # Behind calls that are under way.
    tensor = torch.ones(1 << 18)
    pending = [dist.all_reduce(tensor, async_op=True) for _ in range(3)]
    dist.all_reduce(tensor)
    assert all(each.is_completed() for each in pending)
    assert bool((tensor == size**4).all())
    # Its memory is free afterwards, also if the call fails.
    tensor.untyped_storage().resize_(0)
    other = torch.ones(3 + dist.get_rank())
    with pytest.raises(dist.DistBackendError, match="4 f32"):
        dist.all_reduce(other)
    other.untyped_storage().resize_(0)


def test_calls_that_are_waited_for() -> None:
    ranks.run(2, waited_for)


def objects() -> None:
    """Of lengths that differ between ranks and calls, from every root."""
    size, rank = dist.get_world_size(), dist.get_rank()
    to, source = (rank + 1) % size, (rank - 1) % size

    def of(index: int, turn: int) -> object:
        return {"rank": index, "text": "x" * (100 * index + turn), "tensor": torch.arange(3 + turn)}

    def is_same(a, b) -> bool:
        return (a["rank"], a["text"]) == (b["rank"], b["text"]) and torch.equal(a["tensor"], b["tensor"])

    for turn in range(10):
        each, root = [of(index, turn) for index in range(size)], turn % size
        gathered: list = [None] * size
        dist.all_gather_object(gathered, each[rank])
        assert all(map(is_same, gathered, each))
        gathered = [None] * size
        dist.gather_object(each[rank], gathered if rank == root else None, dst=root)
        assert rank != root or all(map(is_same, gathered, each))
        sent = list(each) if rank == root else [None] * size
        dist.broadcast_object_list(sent, src=root)
        assert all(map(is_same, sent, each))
        got: list = [None]
        dist.scatter_object_list(got, each if rank == root else None, src=root)
        assert is_same(got[0], each[rank])
        received: list = [None, None]
        if VERSION < (2, 5):  # Without send_object_list.
            continue
        if rank % 2 == 0:
            dist.send_object_list([each[rank], turn], to)
        if source % 2 == 0 and source != rank:
            assert dist.recv_object_list(received, source) == source
            assert is_same(received[0], each[source])
            assert received[1] == turn


@pytest.mark.parametrize("size", [2, 4])
def test_objects(size: int) -> None:
    ranks.run(size, objects, timeout=20)


def big() -> None:
    count = (1 << 31) // 2 + 1024
    tensor = torch.ones(count, dtype=torch.int16)
    dist.broadcast(tensor, 0)
    dist.all_reduce(tensor[-4096:])
    dist.all_reduce(tensor)
    assert tensor[0] == 2 and tensor[-1] == 4


def test_above_two_gibibytes() -> None:
    ranks.run(2, big, limit=300)


def allocated() -> None:
    backend = dist.group.WORLD._get_backend(torch.device("cpu"))
    assert backend.supports_tensor_alloc(torch.device("cpu"))
    tensor = backend.allocate_tensor(1 << 20, dtype=torch.float32, device=torch.device("cpu"))
    tensor.fill_(dist.get_rank() + 1)
    dist.all_reduce(tensor)
    assert bool((tensor == 3).all())


def test_shared_memory() -> None:
    if not hasattr(torch._C._distributed_c10d.Backend, "supports_tensor_alloc"):
        pytest.skip("torch calls allocators of backends from 2.6 on")
    ranks.run(2, allocated)
