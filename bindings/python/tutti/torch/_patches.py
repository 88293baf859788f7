"""Where torch itself asks for the name gloo, its calls are taught tutti's groups.

| patch | why | torch |
|---|---|---|
| ``dist.monitored_barrier`` | refuses every backend whose name is not gloo | up to 2.13 |
| ``dist.distributed_c10d._set_pg_timeout`` | sets the timeout of gloo and nccl only | up to 2.13 |

Each calls torch's own function for all other groups. From torch 2.14 on neither is needed.
"""

from __future__ import annotations

import functools
import warnings
from datetime import timedelta
from typing import Any

_applied = False


def backend_of(group: Any = None) -> Any:
    """Return tutti's backend of a group, or None if the group uses another."""
    import torch
    import torch.distributed as dist

    from tutti.torch import _extension

    if _extension._loaded is None:
        return None  # No group of tutti has been made.
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
        if isinstance(backend, _extension._loaded.Backend):
            return backend
    return None


def apply(version: tuple[int, ...]) -> None:
    """Replace the functions, once."""
    global _applied
    if _applied or version >= (2, 14):
        return
    _applied = True
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
        return used.monitored_barrier(timeout, wait_all_ranks=wait_all_ranks)

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
