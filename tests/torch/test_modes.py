"""Calls see the modes of the thread that makes them: inference, no_grad, autocast, determinism."""

from __future__ import annotations

import contextlib

import pytest
import ranks
import torch
import torch.distributed as dist

MODES = {
    "inference": torch.inference_mode,
    "no_grad": torch.no_grad,
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    "deterministic": lambda: deterministic(),
    "none": contextlib.nullcontext,
}


@contextlib.contextmanager
def deterministic():
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


def strided(count: int, value: float) -> torch.Tensor:
    """Every second element, so that calls have to copy it."""
    return torch.full((2 * count,), float(value))[::2]


def every_call(is_async: bool, where: str) -> None:
    """Outputs are made in the mode. The works are waited for in it, or after it."""
    size, rank = dist.get_world_size(), dist.get_rank()
    to, source = (rank + 1) % size, (rank - 1) % size
    total = size * (size + 1) / 2
    own = strided(3, rank + 1.0)
    with MODES[where]():
        summed, reduced, received = (strided(3, rank + 1.0) for _ in range(3))
        pair = [strided(3, rank + 1.0), strided(4, rank + 1.0)]
        scattered, part, block = strided(3, 0), strided(3, 0), strided(3, 0)
        whole, split = strided(3 * size, 0), strided(3 * size, 0)
        gathered, collected, exchanged = ([strided(3, 0.0) for _ in range(size)] for _ in range(3))
        sparse = torch.eye(3).to_sparse()
        every = [strided(3, d + 1.0) for d in range(size)]
        works = [
            dist.all_reduce(summed, async_op=is_async),
            dist.reduce(reduced, 0, async_op=is_async),
            dist.broadcast(received, 0, async_op=is_async),
            dist.all_gather(gathered, own, async_op=is_async),
            dist.all_gather_into_tensor(whole, own, async_op=is_async),
            dist.gather(own, collected if rank == 0 else None, 0, async_op=is_async),
            dist.scatter(scattered, every if rank == 0 else None, 0, async_op=is_async),
            dist.reduce_scatter(part, every, async_op=is_async),
            dist.reduce_scatter_tensor(block, strided(3 * size, rank + 1.0), async_op=is_async),
            dist.all_reduce_coalesced(pair, async_op=is_async),
            dist.all_to_all(exchanged, [own] * size, async_op=is_async),
            dist.all_to_all_single(split, strided(3 * size, rank + 1.0), async_op=is_async),
            dist.all_reduce(sparse, async_op=is_async),
            dist.isend(own, to),
        ]
        message = strided(3, 0.0)
        works.append(dist.irecv(message, source))
    for work in works:
        if work is not None:
            work.wait()
    each = torch.arange(1.0, size + 1)
    assert summed.tolist() == [total] * 3
    assert rank != 0 or reduced.tolist() == [total] * 3
    assert received.tolist() == [1.0] * 3
    assert rank != 0 or torch.equal(torch.cat(collected), each.repeat_interleave(3))
    for got in (torch.cat(gathered), whole, torch.cat(exchanged), split):
        assert torch.equal(got, each.repeat_interleave(3)), got
    assert scattered.tolist() == [rank + 1.0] * 3
    assert part.tolist() == [size * (rank + 1.0)] * 3
    assert block.tolist() == [total] * 3
    assert torch.cat(pair).tolist() == [total] * 7
    assert torch.equal(sparse.to_dense(), size * torch.eye(3))
    assert message.tolist() == [source + 1.0] * 3


def modes(is_async: bool) -> None:
    # Twice, and mixed: buffers of the group that one mode has made are used in the others.
    for where in [*MODES, *reversed(MODES)]:
        try:
            every_call(is_async, where)
        except Exception as error:
            raise AssertionError(f"in mode {where}") from error


@pytest.mark.parametrize("is_async", [True, False])
def test_every_call_runs_in_every_mode(is_async: bool) -> None:
    ranks.run(2, modes, is_async)


def state_in_callbacks() -> list[tuple[bool, bool, bool]]:
    def state(_) -> tuple[bool, bool, bool]:
        return torch.is_inference_mode_enabled(), torch.is_grad_enabled(), torch.is_autocast_enabled("cpu")

    found = []
    for where in ("inference", "no_grad", "autocast", "none"):
        if dist.get_rank() == 1:  # So that the other rank's call is not done before its future is asked for.
            dist.recv(torch.empty(1), 0)
        with MODES[where]():
            future = dist.all_reduce(torch.ones(1), async_op=True).get_future().then(state)
        if dist.get_rank() == 0:
            dist.send(torch.empty(1), 1)
        found.append(future.wait())
    return found


def test_callbacks_run_in_the_mode_of_the_call() -> None:
    wanted = [(True, False, False), (False, False, False), (False, True, True), (False, True, False)]
    assert ranks.run(2, state_in_callbacks)[0] == wanted


# Results in tensors that require grad ------------------------------------------------------------


def outputs(kind: str, count: int) -> torch.Tensor:
    leaf = torch.ones(2 * count, requires_grad=True)
    if kind == "leaf":
        return torch.ones(count, requires_grad=True)
    if kind == "view":
        return leaf[:count]
    return (leaf * 1)[:count]


def attempts(kind: str, is_async: bool) -> dict[str, object]:
    """What each call does with a result of this kind: the name of its error, or none."""
    size, rank = dist.get_world_size(), dist.get_rank()
    block = torch.ones(4)
    new = lambda count=4: outputs(kind, count)  # noqa: E731
    blocks = lambda: [new() for _ in range(size)]  # noqa: E731
    sparse = torch.eye(4).to_sparse().requires_grad_(kind == "leaf")
    calls = {
        "all_reduce": lambda: dist.all_reduce(new(), async_op=is_async),
        "all_reduce_coalesced": lambda: dist.all_reduce_coalesced([new()], async_op=is_async),
        "sparse": lambda: dist.all_reduce(sparse, async_op=is_async),
        "broadcast": lambda: dist.broadcast(new(), 0, async_op=is_async),
        "reduce": lambda: dist.reduce(new(), 0, async_op=is_async),
        "all_gather": lambda: dist.all_gather(blocks(), block, async_op=is_async),
        "all_gather_into_tensor": lambda: dist.all_gather_into_tensor(
            new(4 * size), block, async_op=is_async
        ),
        "gather": lambda: dist.gather(block, blocks() if rank == 0 else None, 0, async_op=is_async),
        "scatter": lambda: dist.scatter(new(), [block] * size if rank == 0 else None, 0, async_op=is_async),
        "reduce_scatter": lambda: dist.reduce_scatter(new(), [block] * size, async_op=is_async),
        "reduce_scatter_tensor": lambda: dist.reduce_scatter_tensor(
            new(), torch.ones(4 * size), async_op=is_async
        ),
        "all_to_all": lambda: dist.all_to_all(blocks(), [block] * size, async_op=is_async),
        "all_to_all_single": lambda: dist.all_to_all_single(
            new(4 * size), torch.ones(4 * size), async_op=is_async
        ),
        "recv": lambda: dist.irecv(new(), 0) if rank == 1 else dist.isend(block, 1),
    }
    is_refused = kind != "other" and torch.is_grad_enabled()
    if is_refused and rank != 0 and dist.get_backend() != "gloo":
        calls["gather"] = lambda: None  # The root refuses before anything is sent.
    found: dict[str, object] = {}
    for name, call in calls.items():
        try:
            work = call()
            if hasattr(work, "wait"):
                work.wait()
            found[name] = None
        except RuntimeError as error:
            found[name] = str(error)
        dist.monitored_barrier()
    return found


def attempt_all() -> dict[tuple, dict[str, object]]:
    found = {}
    for mode in ("none", "no_grad"):
        with MODES[mode]():
            for kind in ("leaf", "view", "other"):
                for is_async in (False, True):
                    found[mode, kind, is_async] = attempts(kind, is_async)
    return found


def test_results_that_require_grad_are_refused_as_gloo_does() -> None:
    ours = ranks.run(2, attempt_all, timeout=20)
    theirs = ranks.run(2, attempt_all, backend="gloo")
    for mine, other in zip(ours, theirs):
        for case, found in mine.items():
            for name, error in found.items():
                wanted = other[case][name]
                if case[0] == "no_grad" or case[1] == "other":
                    # Gloo refuses some of these: it copies to chunks, or without the caller's state.
                    assert error is None, (case, name, error)
                else:
                    assert (error is None) == (wanted is None), (case, name, error, wanted)
                if error is not None:
                    assert "leaf Variable that requires grad is being used in an in-place" in error
    refused = {name for name, error in ours[0]["none", "leaf", True].items() if error is not None}
    assert refused == {
        "all_reduce_coalesced", "sparse", "all_gather", "all_gather_into_tensor", "gather",
        "reduce_scatter", "reduce_scatter_tensor", "all_to_all",
    }  # fmt: skip
