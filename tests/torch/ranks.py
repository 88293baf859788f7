"""Runs a function as several ranks of a process group, in forked processes."""

from __future__ import annotations

import multiprocessing
import os
import random
import tempfile
import time
import traceback
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from tutti.torch import _extension


def run(
    size: int,
    function: Callable[..., Any],
    *arguments: Any,
    backend: str = "tutti",
    timeout: float = 60,
    limit: float = 120,
    lost: tuple[int, ...] = (),
    environment: dict[str, str] | None = None,
) -> list[Any]:
    """Return what function(*arguments) returned on each rank.

    Raises AssertionError if a rank raised or died, except those in `lost`, whose result is None.
    """
    if backend == "tutti":
        _extension.load()
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "store")
        pipes, processes = [], []
        for rank in range(size):
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(
                target=_serve,
                args=(theirs, store, rank, size, backend, timeout, environment, function, arguments),
            )
            process.start()
            theirs.close()
            pipes.append(ours)
            processes.append(process)
        results: list[Any] = [None] * size
        errors = []
        for rank, pipe in enumerate(pipes):
            try:
                if not pipe.poll(limit):
                    errors.append(f"rank {rank} did not end within {limit} s")
                    continue
                kind, value = pipe.recv()
            except EOFError:
                processes[rank].join(10)
                if rank not in lost:
                    errors.append(f"rank {rank} ended with {processes[rank].exitcode}")
                continue
            if kind == "result":
                results[rank] = value
            elif rank not in lost:
                errors.append(f"rank {rank}: {value}")
        for process in processes:
            process.join(10)
            if process.is_alive():
                process.kill()
                process.join()
                errors.append("a rank did not end after it had returned")
    assert not errors, "\n".join(errors)
    return results


def pauses() -> Callable[[], None]:
    """Return a function that sleeps for random times, others on each rank."""
    times = random.Random(dist.get_rank())
    return lambda: time.sleep(times.choice([0, 0, 0.001, 0.01]))


def _serve(pipe, store, rank, size, backend, timeout, environment, function, arguments) -> None:
    os.environ.update(environment or {})
    torch.set_num_threads(1)
    try:
        dist.init_process_group(
            backend,
            store=dist.FileStore(store, size),
            rank=rank,
            world_size=size,
            timeout=timedelta(seconds=timeout),
        )
        result = function(*arguments)
        pipe.send(("result", result))
        pipe.close()
        if dist.is_initialized():
            dist.destroy_process_group()
    except BaseException:
        pipe.send(("error", traceback.format_exc()))
        pipe.close()
    # As a program ends, but without the handlers of the test runner that was forked.
    if _extension.is_loaded():
        _extension.load()._leave_all()
    os._exit(0)
