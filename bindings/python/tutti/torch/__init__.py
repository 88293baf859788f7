"""The PyTorch backend ``tutti``: ``torch.distributed.init_process_group("tutti")``.

The package registers the backend by itself when torch is imported (torch 2.5 and newer) or when
the backend is first named (2.14 and newer). With torch 2.4, or with
``TORCH_DEVICE_BACKEND_AUTOLOAD=0``, call ``import tutti.torch`` before ``init_process_group``.
"""

from __future__ import annotations

import copy
from datetime import timedelta
from typing import Any

from tutti._quantity import Quantity, parse_bytes

__all__ = [
    "Backend",
    "Options",
    "empty_cache",
    "failed_ranks",
    "make_group",
    "register",
    "use_shared_memory",
]

OLDEST = (2, 4)


def register() -> None:
    """Register the backend with torch, and let torch's own calls accept it. Idempotent."""
    import torch
    import torch.distributed as dist

    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if version < OLDEST:
        raise ImportError(f"tutti needs torch {OLDEST[0]}.{OLDEST[1]} or newer; this is {torch.__version__}")
    if not dist.is_available():
        raise ImportError("this build of torch has no torch.distributed")
    if "TUTTI" not in dist.Backend._plugins:
        dist.Backend.register_backend("tutti", _create, extended_api=True, devices=["cpu", "cuda"])
    from tutti.torch import _patches

    _patches.apply(version)


def _create(given: Any, options: Any) -> Any:
    """Make the backend of one process group. Torch calls it on every member."""
    from tutti.torch._extension import load

    extension = load()
    if options is None:
        options = extension.Options()
    elif not isinstance(options, extension.Options):
        raise TypeError(f"pg_options is a {type(options).__name__}: pass tutti.torch.Options, or nothing")
    options = copy.copy(options)  # The caller may use them for another group.
    # Torch keeps the timeout as a float of seconds.
    options._timeout = timedelta(milliseconds=round(given.timeout.total_seconds() * 1000))
    # Torch keeps these from some version on.
    for name, value in (
        ("group_name", given.group_id),
        ("global_ranks_in_group", given.global_ranks_in_group),
    ):
        if hasattr(options, name):
            setattr(options, name, value)
    return extension.Backend(given.store, given.group_rank, given.group_size, options)


def make_group(store: Any, rank: int, size: int, timeout: timedelta, options: Any = None) -> Any:
    """Make a process group that torch.distributed does not know: for libraries that keep their own.

    The ranks meet in the store. Its keys must be new, or those of earlier groups of the same ranks.
    ``options`` are ``Options``, which are copied, and whose timeout is not used.
    """
    import torch
    import torch.distributed as dist

    from tutti.torch._extension import load

    options = load().Options() if options is None else copy.copy(options)
    options._timeout = timeout
    backend = load().Backend(store, rank, size, options)
    kind = dist.ProcessGroup.BackendType.CUSTOM
    if hasattr(dist.ProcessGroup, "Options"):  # Before 2.6 a group has options of its own.
        group = dist.ProcessGroup(store, rank, size, dist.ProcessGroup.Options(backend="tutti"))
    else:
        group = dist.ProcessGroup(store, rank, size)
        group._set_default_backend(kind)
    for device in ("cpu", "cuda"):
        group._register_backend(torch.device(device), kind, backend)
    return group


def failed_ranks(group: Any = None) -> list[int]:
    """Return the ranks of the group that caused its failure: lost, late, or with another call.

    Empty while the group has not failed. Pass the result to ``dist.shrink_group``.
    """
    from tutti.torch import _patches

    backend = _patches.backend_of(group)
    if backend is None:
        raise ValueError("the process group does not use the backend 'tutti'")
    ranks: list[int] = backend.failure()[1]
    return ranks


def use_shared_memory(smallest: Quantity | None = "64KiB") -> None:
    """Make later CPU tensors of at least this size in memory that the ranks of the host share.

    With None later tensors are made as torch does by itself. The first process group calls this with
    the value of ``TUTTI_TORCH_ALLOC``; call it before, for tensors that are made before the group.
    """
    from tutti.torch._extension import load

    if smallest is None:
        load().stop_sharing_tensors()
    else:
        load().share_tensors_from(parse_bytes(smallest))


def empty_cache() -> None:
    """Return shared memory of tensors that were freed to the system. By itself tutti keeps some of it."""
    from tutti.torch import _extension

    if _extension.is_loaded():
        _extension.load().empty_cache()


def __getattr__(name: str) -> Any:
    if name in ("Options", "Backend"):
        from tutti.torch._extension import load

        return getattr(load(), name)
    raise AttributeError(f"module 'tutti.torch' has no attribute {name!r}")


register()
