"""NumPy arrays in memory that the ranks of a host share."""

from __future__ import annotations

from typing import Any

from . import _core
from ._arrays import _numpy
from ._errors import Unsupported
from ._quantity import Quantity, parse_bytes

OLDEST = (1, 22)


class use_shared_memory:  # noqa: N801
    """Make later NumPy arrays of at least `smallest` bytes in memory that the ranks of the host share.

    From the call on, in this thread or asyncio task (NumPy keeps its allocators in a context variable), or
    until the end of a `with` block. Arrays keep their memory for as long as they live, also after the block.
    If there is no shared memory, they are made in ordinary memory.
    """

    def __init__(self, smallest: Quantity = "64KiB") -> None:
        size = parse_bytes(smallest)
        self._functions = _functions_of_numpy()
        handler = _core.numpy_memory_handler(size)
        self._former: Any = _core.set_numpy_memory_handler(self._functions, handler)

    def __enter__(self) -> use_shared_memory:
        return self

    def __exit__(self, *_: object) -> None:
        _core.set_numpy_memory_handler(self._functions, self._former)


def empty_cache() -> None:
    """Return shared memory of arrays that were freed to the system. By itself tutti keeps some of it."""
    _core.trim_memory()


def _functions_of_numpy() -> Any:
    numpy = _numpy()
    if numpy is None:
        raise Unsupported("use_shared_memory: NumPy is not installed")
    version = tuple(int(part) for part in numpy.__version__.split(".")[:2])
    if version < OLDEST:
        raise Unsupported(f"use_shared_memory: it needs NumPy 1.22, and this is {numpy.__version__}")
    core = numpy._core if version >= (2, 0) else numpy.core
    return core.multiarray._ARRAY_API
