"""Where torch itself asks for the name gloo, its calls are taught tutti's groups.

| patch | why | torch |
|---|---|---|
| ``dist.monitored_barrier`` | refuses every backend whose name is not gloo | up to 2.13 |
| ``dist.distributed_c10d._set_pg_timeout`` | sets the timeout of gloo and nccl only | up to 2.13 |
| the rendezvous ``env://`` | does not know ``tutti run``, whose ranks share no ``MASTER_ADDR`` | all |
| ``all_gather`` in the module of the quantization hooks | these expect the futures of NCCL | all |

The first two call torch's own function for all other groups. The third is used if ``TUTTI_RANK`` is
set and ``RANK`` is not. It gives a store of files, which outlives every rank. The fourth is made when
that module is imported, before or after this one: see ``_StackedGather``.
"""

from __future__ import annotations

import atexit
import fcntl
import functools
import importlib
import importlib.abc
import importlib.machinery
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, cast


def backend_of(group: Any = None) -> Any:
    """Return tutti's backend of a group, or None if the group uses another."""
    import torch
    import torch.distributed as dist

    from tutti.torch import _extension

    if not _extension.is_loaded():
        return None
    if group is None:
        group = dist.distributed_c10d._get_default_group()
    if not isinstance(group, dist.ProcessGroup):
        return None
    for device in ("cpu", "cuda"):
        try:
            backend = group._get_backend(torch.device(device))
        except RuntimeError:
            continue
        wrapped = getattr(backend, "wrapped_pg", None)  # TORCH_DISTRIBUTED_DEBUG=DETAIL
        backend = backend if wrapped is None else wrapped
        if isinstance(backend, _extension.load().Backend):
            return backend
    return None


@functools.cache
def apply(version: tuple[int, ...]) -> None:
    """Replace the functions, once."""
    _patch_rendezvous()
    _patch_quantization_hooks()
    if version < (2, 14):
        _patch_checks_of_names()


def _patch_rendezvous() -> None:
    # The package has a function of the same name as this module.
    rendezvous = importlib.import_module("torch.distributed.rendezvous")
    handlers = getattr(rendezvous, "_rendezvous_handlers", {})
    if "env" not in handlers:
        return
    by_environment = handlers["env"]

    @functools.wraps(by_environment)
    def meet(url: str, *args: Any, **kwargs: Any) -> Iterator[tuple[Any, int, int]]:
        is_ours = "TUTTI_RANK" in os.environ and "RANK" not in os.environ
        if is_ours and "rank=" not in url:
            yield _meet_under_tutti_run()
        else:
            yield from by_environment(url, *args, **kwargs)

    handlers["env"] = meet


def _meet_under_tutti_run() -> tuple[Any, int, int]:
    import torch.distributed as dist

    rank, size = int(os.environ["TUTTI_RANK"]), int(os.environ["TUTTI_SIZE"])
    # The store holds the key by which ranks authenticate each other: only this user may read it.
    folder = Path(tempfile.gettempdir()) / f"tutti-torch-{os.environ.get('TUTTI_JOB', 'job')}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise RuntimeError(f"{folder} belongs to another user: set TMPDIR to another directory")
    _remove_with_last(folder)
    return cast(Any, dist).FileStore(str(folder / "store"), size), rank, size


def _remove_with_last(folder: Path) -> None:
    """Let the last process that exits remove the folder. One that is killed gives its lock back, too."""
    lock = (folder / "lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_SH)

    def remove() -> None:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return  # Another process uses it.
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)


class _StackedGather:
    """torch.distributed for the quantization hooks.

    They index the value of the future of ``all_gather`` as that of NCCL: its first element is one tensor
    of the blocks of all ranks. With gloo, and with tutti, it is the block of rank 0, and they fail.
    """

    def __getattr__(self, name: str) -> Any:
        import torch.distributed as dist

        return getattr(dist, name)

    def all_gather(self, blocks: Any, block: Any, group: Any = None, async_op: bool = False) -> Any:
        import torch.distributed as dist

        work = dist.all_gather(blocks, block, group=group, async_op=async_op)
        return _StackedWork(work) if async_op and backend_of(group) is not None else work


class _StackedWork:
    def __init__(self, work: Any) -> None:
        self._work = work

    def __getattr__(self, name: str) -> Any:
        return getattr(self._work, name)

    def get_future(self) -> Any:
        import torch

        return self._work.get_future().then(lambda done: [torch.stack(done.value())])


class _TeachesOnImport(importlib.abc.MetaPathFinder):
    """Teaches the quantization hooks when a program imports them. To import them here takes long."""

    name = "torch.distributed.algorithms.ddp_comm_hooks.quantization_hooks"

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if fullname != self.name:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_teach(module: Any) -> None:
                execute(module)
                self.teach(module)

            cast(Any, spec.loader).exec_module = execute_and_teach
        return spec

    @staticmethod
    def teach(hooks: Any) -> None:
        hooks.dist = _StackedGather()


def _patch_quantization_hooks() -> None:
    finder = _TeachesOnImport()
    sys.meta_path.insert(0, finder)
    if finder.name in sys.modules:
        finder.teach(sys.modules[finder.name])


def _patch_checks_of_names() -> None:
    import torch.distributed as dist
    import torch.distributed.distributed_c10d as c10d

    monitored_barrier = c10d.monitored_barrier

    @functools.wraps(monitored_barrier)
    def monitored(group: Any = None, timeout: Any = None, wait_all_ranks: bool = False) -> Any:
        is_other = group is not None and c10d._rank_not_in_group(group)
        backend = None if is_other else backend_of(group)
        if backend is None:
            return monitored_barrier(group, timeout, wait_all_ranks)
        if timeout is None:
            timeout = backend.options._timeout
        elif isinstance(timeout, float):
            warnings.warn(
                "Please specify timeout arg as a timedelta. "
                f"Converting current value of {timeout} assuming it represents seconds",
                stacklevel=2,
            )
            timeout = timedelta(seconds=timeout)
        c10d._check_valid_timeout(timeout)
        used = c10d._get_default_group() if group is None else group
        return cast(Any, used).monitored_barrier(timeout, wait_all_ranks=wait_all_ranks)

    set_pg_timeout = c10d._set_pg_timeout

    @functools.wraps(set_pg_timeout)
    def set_timeout(timeout: timedelta, group: Any = None) -> None:
        is_other = group is not None and c10d._rank_not_in_group(group)
        backend = None if is_other else backend_of(group)
        if backend is None:
            set_pg_timeout(timeout, group)
        else:
            backend._set_default_timeout(timeout)

    c10d.monitored_barrier = dist.monitored_barrier = monitored
    c10d._set_pg_timeout = set_timeout
