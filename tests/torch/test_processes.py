"""Processes that are forked from a rank."""

from __future__ import annotations

import gc
import os
import time
import traceback

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
