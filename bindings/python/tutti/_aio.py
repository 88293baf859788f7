"""Waiting for a Work in asyncio."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Generator
from typing import Any

from . import _core


class _Waker:
    """Resolves futures of one event loop when calls are done.

    A thread of the library writes to a descriptor that the loop watches. So no thread of the library
    ever waits for the GIL, and the interpreter can exit at any time.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = weakref.ref(loop)
        self._bell = _core.Bell()
        self._waiting: list[tuple[_core.Work[Any], asyncio.Future[None]]] = []

    def add(self, work: _core.Work[Any]) -> asyncio.Future[None]:
        loop = self._loop()
        assert loop is not None
        future: asyncio.Future[None] = loop.create_future()
        if not self._waiting:
            loop.add_reader(self._bell.fileno(), self._wake)
        self._waiting.append((work, future))
        self._bell.ring_after(work)
        return future

    def _wake(self) -> None:
        self._bell.silence()
        waiting = self._waiting
        self._waiting = []
        for work, future in waiting:
            if future.done():
                continue  # Cancelled; the call itself goes on.
            if work.done():
                future.set_result(None)
            else:
                self._waiting.append((work, future))
        loop = self._loop()
        if not self._waiting and loop is not None:
            loop.remove_reader(self._bell.fileno())


_wakers: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Waker] = weakref.WeakKeyDictionary()


def wait(work: _core.Work[Any]) -> Generator[Any, None, Any]:
    """Implement Work.__await__()."""
    if not work.done():
        loop = asyncio.get_running_loop()
        waker = _wakers.get(loop)
        if waker is None:
            waker = _wakers[loop] = _Waker(loop)
        yield from waker.add(work).__await__()
    return work.wait()
