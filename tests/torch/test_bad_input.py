"""Wrong calls raise on every rank concerned, and never crash or hang."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
import time

import pytest
import ranks
import torch
import torch.distributed as dist


def refused(words: str, kind: type, call, *arguments, **named) -> None:
    try:
        call(*arguments, **named)
    except kind as error:
        assert words in str(error), f"{words!r} not in {error}"
    else:
        raise AssertionError(f"{call} accepted {arguments}")


def wrong_arguments() -> None:
    size = dist.get_world_size()
    refused("share memory", ValueError, dist.all_reduce, torch.zeros(1).expand(4))
    refused("cannot be reduced", ValueError, dist.all_reduce,
            torch.zeros(2).to(torch.float8_e5m2fnuz))  # fmt: skip
    refused("no average", ValueError, dist.all_reduce, torch.zeros(2, dtype=torch.bool),
            dist.ReduceOp.AVG)  # fmt: skip
    refused("times as many", Exception, dist.all_gather_into_tensor, torch.empty(3), torch.empty(2))
    refused("different types", Exception, dist.all_gather_into_tensor,
            torch.empty(2 * size, dtype=torch.int32), torch.empty(2))  # fmt: skip
    refused("add up", Exception, dist.all_to_all_single, torch.empty(4), torch.empty(4),
            [1] * size, [3] * size)  # fmt: skip
    refused("", ValueError, dist.send, torch.empty(1), 99)
    refused("Sparse", NotImplementedError, dist.broadcast, torch.eye(2).to_sparse(), 0)
    refused("Tensor", TypeError, dist.all_reduce, [1.0, 2.0])
    refused("one tensor for each", ValueError, dist.reduce_scatter, torch.empty(2), [torch.empty(2)])
    # The group still works.
    tensor = torch.ones(1)
    dist.all_reduce(tensor)
    assert tensor.item() == size


def test_wrong_arguments() -> None:
    ranks.run(2, wrong_arguments)


def different_shapes() -> None:
    dist.all_reduce(torch.ones(3 + dist.get_rank()))


def different_types() -> None:
    dist.all_reduce(torch.ones(3, dtype=(torch.int32, torch.float32)[dist.get_rank()]))


def different_operations() -> None:
    dist.all_reduce(torch.ones(3), (dist.ReduceOp.SUM, dist.ReduceOp.MAX)[dist.get_rank()])


def different_roots() -> None:
    dist.broadcast(torch.ones(3), dist.get_rank())  # Both ranks only send.
    dist.barrier()


def different_calls() -> None:
    if dist.get_rank() == 0:
        dist.all_reduce(torch.ones(3))
    else:
        dist.barrier()


def error_of(function) -> str:
    try:
        function()
    except dist.DistBackendError as error:
        return str(error)
    raise AssertionError("not noticed")


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (different_shapes, ["3 f32", "4 f32"]),
        (different_types, ["3 i32", "3 f32"]),
        (different_operations, ["sum", "max"]),
        (different_roots, ["root 0", "root 1"]),
        (different_calls, ["allreduce", "barrier"]),
    ],
)
def test_calls_that_differ_are_named_on_all_ranks(function, words: list[str]) -> None:
    for text in ranks.run(2, error_of, function):
        assert all(each in text for each in words), text


def other_length() -> str:
    try:
        if dist.get_rank() == 0:
            dist.send(torch.ones(3), 1)
            dist.all_reduce(torch.ones(1))
        else:
            dist.recv(torch.empty(5), 0)
    except (RuntimeError, ValueError) as error:
        return str(error)
    return ""


def test_a_shorter_message_is_refused() -> None:
    texts = ranks.run(2, other_length)
    assert "12 bytes" in texts[1] and "20" in texts[1], texts


def resized() -> None:
    tensor = torch.ones(1 << 20)
    if dist.get_rank() == 0:
        work = dist.all_reduce(tensor, async_op=True)
        refused("not resizable", RuntimeError, tensor.untyped_storage().resize_, 0)
        dist.monitored_barrier()
        work.wait()
    else:
        dist.monitored_barrier()
        dist.all_reduce(tensor)
    tensor.untyped_storage().resize_(0)


def test_memory_in_use_is_not_resized() -> None:
    ranks.run(2, resized)


def freed() -> float:
    """The caller forgets its tensor while the call runs."""
    if dist.get_rank() == 0:
        work = dist.all_reduce(torch.ones(1 << 20), async_op=True)
        gc.collect()
        other = torch.full((1 << 20,), 7.0)  # Would get the memory, if it were free.
        dist.monitored_barrier()
        work.wait()
        assert other.sum().item() == 7 << 20
        return float(work.result()[0][0])
    tensor = torch.ones(1 << 20)
    dist.monitored_barrier()
    dist.all_reduce(tensor)
    return float(tensor[0])


def test_memory_in_use_is_not_freed() -> None:
    assert ranks.run(2, freed) == [2.0, 2.0]


def late() -> tuple[str, float]:
    begin = time.monotonic()
    if dist.get_rank() == 1:
        time.sleep(1.5)
        return "", 0.0
    try:
        dist.barrier()
    except RuntimeError as error:
        return str(error), time.monotonic() - begin
    return "no error", 0.0


def test_timeout_names_the_late_rank() -> None:
    text, seconds = ranks.run(2, late, timeout=0.5)[0]
    assert "Timed out waiting 500ms" in text and "rank 1" in text, text
    assert 0.4 < seconds < 1.4


def late_after_another_timeout() -> str:
    from datetime import timedelta

    dist.barrier()
    dist.distributed_c10d._set_pg_timeout(timedelta(milliseconds=400), dist.group.WORLD)
    return late()[0]


def test_timeout_of_a_group_can_be_set() -> None:
    text = ranks.run(2, late_after_another_timeout)[0]
    assert "Timed out waiting 400ms" in text, text


def unknown_options() -> None:
    import tutti.torch

    refused("", TypeError, tutti.torch.Options, speed="high")
    refused("tutti.torch.Options", TypeError, dist.new_group, pg_options=object())
    group = dist.new_group(pg_options=tutti.torch.Options(algorithm="allreduce/ring"))
    dist.all_reduce(torch.ones(9), group=group)
    refused("rong", Exception, dist.new_group,
            pg_options=tutti.torch.Options(algorithm="allreduce/rong"))  # fmt: skip


def test_options() -> None:
    ranks.run(2, unknown_options)


def script(text: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)],
        env=dict(os.environ, **environment),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_no_compiler(tmp_path) -> None:
    done = script(
        """
        import torch, tutti.torch
        tutti.torch.Options
        """,
        TUTTI_TORCH_CACHE=str(tmp_path),
        CXX="/no/such/compiler",
    )
    assert done.returncode != 0
    assert "C++ compiler" in done.stderr and "CXX=/no/such/compiler" in done.stderr, done.stderr


def test_no_launcher() -> None:
    started = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "TUTTI_RANK")
    assert not [name for name in started if name in os.environ]
    done = script(
        """
        import torch.distributed as dist, tutti.torch
        dist.init_process_group("tutti")
        """
    )
    assert done.returncode == 1
    assert "environment variable RANK expected, but not set" in done.stderr, done.stderr


def test_old_torch() -> None:
    done = script(
        """
        import torch
        torch.__version__ = "2.3.1"
        import tutti.torch
        """,
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    )
    assert "tutti needs torch 2.4 or newer; this is 2.3.1" in done.stderr, done.stderr


WAYS = {
    "end": ("pass", 0),
    "exception": ("raise KeyError('mine')", 1),
    "exit": ("sys.exit(3)", 3),
    # A thread in a call that never returns, as the main thread ends.
    "thread": ("threading.Thread(target=dist.barrier, daemon=True).start(); time.sleep(0.2)", 0),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_interpreter_exits_with_calls_outstanding(way: str) -> None:
    text = f"""
        import os, sys, tempfile, threading, time
        import torch, torch.distributed as dist, tutti.torch
        path = os.path.join(tempfile.mkdtemp(), "store")
        child = os.fork()
        rank = 0 if child else 1
        dist.init_process_group("tutti", store=dist.FileStore(path, 2), rank=rank, world_size=2)
        dist.barrier()
        if rank == 0:
            work = dist.all_reduce(torch.ones(10), async_op=True)
            work.get_future().then(lambda f: print("called"))
            receive = dist.irecv(torch.ones(5), 1)
            {WAYS[way][0]}
        else:
            time.sleep(1.5)
            os._exit(0)
    """
    done = script(text)
    assert done.returncode == WAYS[way][1], done.stderr
    assert "Fatal" not in done.stderr, done.stderr
