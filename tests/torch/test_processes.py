"""Processes that end early, are late, or are forked from a rank."""

from __future__ import annotations

import gc
import multiprocessing
import os
import socket
import time
import traceback
from datetime import timedelta

import pytest
import ranks
import torch
import torch.distributed as dist

from tutti.torch import _extension

# Forked children ---------------------------------------------------------------------------------


def destroy() -> None:
    dist.destroy_process_group()


def exit_interpreter() -> None:
    _extension.load()._leave_all()


def drop_group() -> None:
    dist.distributed_c10d._update_default_pg(None)
    for table in (dist.distributed_c10d._world.pg_map, dist.distributed_c10d._world.pg_names):
        table.clear()
    gc.collect()


def use_group() -> None:
    with pytest.raises(RuntimeError, match="forked child"):
        dist.all_reduce(torch.ones(1))


def make_group() -> None:
    """A child may have a group of its own, and leaves that."""
    dist.destroy_process_group()
    dist.init_process_group("tutti", store=dist.HashStore(), rank=0, world_size=1)
    dist.all_reduce(torch.ones(1))
    exit_interpreter()


def fork(body) -> None:
    """The child must not touch the group of its parent, which has a call under way."""
    child = os.fork()
    if child == 0:
        try:
            body()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    end = time.monotonic() + 30
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid == child:
            break
        if time.monotonic() > end:
            os.kill(child, 9)
            os.waitpid(child, 0)
            raise AssertionError(f"the child did not end: {body.__name__}")
        time.sleep(0.005)
    assert status == 0, body.__name__


def forked() -> list[float]:
    totals = []
    for body in (use_group, exit_interpreter, drop_group, destroy, make_group):
        total = torch.ones(1)
        if dist.get_rank() == 0:
            works = [dist.all_reduce(total, async_op=True), dist.irecv(torch.empty(1), 1)]
            works[0].get_future().then(lambda _: None)
            fork(body)
            dist.send(torch.ones(1), 1)
        else:
            dist.recv(torch.empty(1), 0)
            works = [dist.all_reduce(total, async_op=True), dist.isend(torch.ones(1), 0)]
            fork(body)  # Perhaps with nothing under way.
        for each in works:
            each.wait()
        dist.barrier()
        totals.append(total.item())
    return totals


def test_a_forked_child_leaves_the_group_of_its_parent_alone() -> None:
    assert ranks.run(2, forked, timeout=20) == [[2.0] * 5] * 2


class Numbers(torch.utils.data.Dataset):
    def __len__(self) -> int:
        return 16

    def __getitem__(self, index: int) -> float:
        return float(index)


def load_data() -> float:
    total = torch.zeros(1)
    for _ in range(2):
        for batch in torch.utils.data.DataLoader(Numbers(), batch_size=4, num_workers=2):
            part = batch.sum().float().view(1)
            work = dist.all_reduce(part, async_op=True)
            work.wait()
            total += part
    return total.item()


def test_workers_of_data_loaders_leave_the_group_alone() -> None:
    assert ranks.run(2, load_data, timeout=20) == [2.0 * 2 * 120] * 2


# Leaving early -----------------------------------------------------------------------------------


def exit_codes(body, *arguments) -> list[int | None]:
    """Of two processes that run body(*arguments, rank, port)."""
    _extension.load()
    context = multiprocessing.get_context("fork")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    both = [context.Process(target=body, args=(*arguments, rank, port)) for rank in range(2)]
    for each in both:
        each.start()
    for each in both:
        each.join(60)
    codes = [each.exitcode for each in both]
    for each in both:
        each.kill()
    return codes


def leave_early(kind: str, count: int, rank: int, port: int) -> None:
    """As a program does: it meets at a TCP store of rank 0, makes one call, and ends."""
    dist.init_process_group("tutti", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    tensor = torch.full((count,), 7.0 if rank == 0 else 0.0)
    if rank == 1:
        time.sleep(0.1)
    if kind == "broadcast":
        dist.broadcast(tensor, 0)
    elif rank == 0:
        dist.send(tensor, 1)
    else:
        dist.recv(tensor, 0)
    is_right = bool((tensor == 7).all())
    dist.destroy_process_group()
    exit_interpreter()
    os._exit(0 if is_right else 3)


class SlowStore(dist.Store):
    """A store that answers late."""

    def __init__(self, store: dist.Store) -> None:
        super().__init__()
        self.store = store

    def set(self, key, value) -> None:
        self.store.set(key, value)

    def get(self, key):
        time.sleep(0.1)
        return self.store.get(key)

    def add(self, key, value) -> int:
        return self.store.add(key, value)

    def wait(self, keys, timeout=timedelta(seconds=30)) -> None:
        self.store.wait(keys, timeout)


def leave_the_store(rank: int, port: int) -> None:
    """Rank 0, which hosts the store, leaves while the other rank may still read from it."""
    store = dist.TCPStore("127.0.0.1", port, 2, is_master=rank == 0)
    given = SlowStore(store) if rank == 1 else store
    dist.init_process_group("tutti", store=given, rank=rank, world_size=2)
    if rank == 0:
        dist.send(torch.ones(4), 1)
    else:
        dist.recv(torch.empty(4), 0)
    dist.destroy_process_group()
    exit_interpreter()
    os._exit(0)


def test_a_rank_that_hosts_the_store_leaves_when_all_have_read() -> None:
    assert exit_codes(leave_the_store) == [0, 0]


@pytest.mark.parametrize("count", [4, 1 << 18])
@pytest.mark.parametrize("kind", ["broadcast", "send"])
def test_a_late_receiver_gets_what_a_rank_that_left_has_sent(kind: str, count: int) -> None:
    for _ in range(20):
        assert exit_codes(leave_early, kind, count) == [0, 0]
