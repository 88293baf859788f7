"""Collectives and messages of Python objects: pickled, and moved as bytes."""

from __future__ import annotations

import functools
import pickle
from array import array
from collections.abc import Callable, Sequence
from typing import Any, Optional, TypeVar

from . import _core
from ._errors import InvalidArgument

T = TypeVar("T")

#: Data from other ranks is unpickled, which can execute code: ranks must trust each other.
_PROTOCOL = pickle.HIGHEST_PROTOCOL


class ObjectCalls(_core.Group):
    """The calls of a communicator that take any Python object that can be pickled."""

    def broadcast_object(self, value: T, root: int = 0, *, timeout: Optional[float] = None) -> T:
        """Return the root's value on every rank. The value of other ranks is ignored."""
        is_root = self.rank == root
        data = bytearray(pickle.dumps(value, _PROTOCOL)) if is_root else bytearray()
        length = array("q", [len(data)])
        self.broadcast(length, root, timeout=timeout, site="broadcast_object")
        if not is_root:
            data = bytearray(length[0])
        self.broadcast(data, root, timeout=timeout, site="broadcast_object")
        return value if is_root else pickle.loads(data)

    def allgather_object(self, value: T, *, timeout: Optional[float] = None) -> list[T]:
        """Return the values of all ranks, in rank order."""
        data = pickle.dumps(value, _PROTOCOL)
        lengths = array("q", bytes(8 * self.size))
        options: dict[str, Any] = {"timeout": timeout, "site": "allgather_object"}
        self.allgather(array("q", [len(data)]), lengths, **options)
        everything = bytearray(sum(lengths))
        self.allgather(data, everything, list(lengths), **options)
        return _loads_each(everything, lengths)

    def gather_object(self, value: T, root: int = 0, *, timeout: Optional[float] = None) -> Optional[list[T]]:
        """Return the values of all ranks on the root, and None elsewhere."""
        data = pickle.dumps(value, _PROTOCOL)
        lengths = array("q", bytes(8 * self.size))
        options: dict[str, Any] = {"timeout": timeout, "site": "gather_object"}
        self.allgather(array("q", [len(data)]), lengths, **options)
        if self.rank != root:
            self.gather(data, root, None, list(lengths), **options)
            return None
        everything = bytearray(sum(lengths))
        self.gather(data, root, everything, list(lengths), **options)
        return _loads_each(everything, lengths)

    def scatter_object(
        self,
        values: Optional[Sequence[T]],
        root: int = 0,
        *,
        timeout: Optional[float] = None,
    ) -> T:
        """Return the root's values[rank] on each rank. `values` of other ranks is ignored."""
        options: dict[str, Any] = {"timeout": timeout, "site": "scatter_object"}
        lengths = array("q", bytes(8 * self.size))
        everything = b""
        if self.rank == root:
            if values is None or len(values) != self.size:
                raise InvalidArgument(
                    f"scatter_object: the root passes one value for each of the {self.size} ranks"
                )
            each = [pickle.dumps(value, _PROTOCOL) for value in values]
            lengths = array("q", map(len, each))
            everything = b"".join(each)
        self.broadcast(lengths, root, **options)
        own = bytearray(lengths[self.rank])
        x = everything if self.rank == root else None
        self.scatter(x, root, own, list(lengths), **options)
        return pickle.loads(own)  # type: ignore[no-any-return]

    def allreduce_object(self, value: T, op: Callable[[T, T], T], *, timeout: Optional[float] = None) -> T:
        """Return op(op(v0, v1), v2)… over the values of all ranks, in rank order."""
        return functools.reduce(op, self.allgather_object(value, timeout=timeout))

    def alltoall_object(self, values: Sequence[T], *, timeout: Optional[float] = None) -> list[T]:
        """Return values[rank] of every rank, in rank order."""
        if len(values) != self.size:
            raise InvalidArgument(f"alltoall_object: pass one value for each of the {self.size} ranks")
        options: dict[str, Any] = {"timeout": timeout, "site": "alltoall_object"}
        each = [pickle.dumps(value, _PROTOCOL) for value in values]
        sent = array("q", map(len, each))
        coming = array("q", bytes(8 * self.size))
        self.alltoall(sent, coming, **options)
        received = bytearray(sum(coming))
        self.alltoall(b"".join(each), received, list(sent), list(coming), **options)
        return _loads_each(received, coming)

    def send_object(self, value: object, to: int, tag: int = 0, *, timeout: Optional[float] = None) -> None:
        """Send a value to a rank, which calls receive_object()."""
        self.send(pickle.dumps(value, _PROTOCOL), to, tag, timeout=timeout, site="send_object")

    def receive_object(
        self,
        source: Optional[int] = None,
        tag: Optional[int] = None,
        *,
        timeout: Optional[float] = None,
    ) -> Any:
        """Return the value of a rank, or of the first that comes. Only one thread may call this."""
        found = self._probe(
            _core.any_rank if source is None else source,
            _core.any_tag if tag is None else tag,
            True,
            timeout,
        )
        assert found is not None
        rank, its_tag, size = found
        data = bytearray(size)
        self.receive(data, rank, its_tag, timeout=timeout, site="receive_object")
        return pickle.loads(data)


def _loads_each(data: bytearray, lengths: Sequence[int]) -> list[Any]:
    values = []
    at = 0
    with memoryview(data) as view:
        for length in lengths:
            values.append(pickle.loads(view[at : at + length]))
            at += length
    return values
