"""Many arrays reduced in few calls while the caller computes."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

from . import _core
from ._arrays import _dtype_name, _numpy, _numpy_dtype
from ._communicator import Communicator, Counters, _counters


class BucketerCounters(NamedTuple):
    """The work of a Bucketer so far."""

    steps: int
    allreduces: int
    bytes_copied_in: int
    bytes_copied_out: int


class Bucketer:
    """Reduces many arrays, such as the gradients of a backward pass, in few allreduces.

    The arrays are declared once, in about the order in which they become ready, and packed into buckets.
    The allreduce of a bucket starts when all its arrays are ready, in the background::

        bucketer = tutti.Bucketer(comm, gradients)
        for step in range(steps):
            for i in reversed(range(len(gradients))):
                ...                      # compute gradients[i]
                bucketer.ready(i)
            bucketer.finish()            # all gradients hold the average

    Instead of an array, `arrays` may hold a tuple (shape, dtype): such an array lives in its bucket and is
    never copied; array(i) returns it. All ranks declare the same arrays.
    """

    def __init__(
        self,
        communicator: Communicator,
        arrays: Sequence[Any],
        op: str = "avg",
        *,
        bucket_bytes: int = 25 << 20,
        first_bucket_bytes: int = 1 << 20,
        algorithm: str = "",
        reproducible: str = "run",
    ) -> None:
        self._arrays = list(arrays)
        declared: list[Any] = []
        for array in self._arrays:
            if isinstance(array, tuple):
                shape, dtype = array
                count = 1
                for length in (shape,) if isinstance(shape, int) else shape:
                    count *= length
                declared.append((count, _dtype_name(dtype)))
            else:
                declared.append(array)
        self._inner = _core.Bucketer(
            communicator, declared, op, bucket_bytes, first_bucket_bytes, algorithm, reproducible
        )

    def ready(self, index: int) -> None:
        """Say that an array holds this rank's contribution. Do not touch it until its result is back."""
        self._inner.ready(index)

    def done(self, index: int) -> bool:
        """Whether wait() would return at once."""
        return self._inner.test(index)

    def wait(self, index: int) -> None:
        """Wait until the result is in the array."""
        self._inner.wait(index)

    def finish(self) -> None:
        """Wait until all results are back. Then the next step can begin."""
        self._inner.finish()

    def array(self, index: int) -> Any:
        """Return an array: as declared, or in its bucket."""
        declared = self._arrays[index]
        if not isinstance(declared, tuple):
            return declared
        shape, dtype = declared
        address, length = self._inner.memory(index)
        place: Any = (ctypes.c_ubyte * length).from_address(address)
        place.owner = self._inner  # The array keeps the memory of its bucket.
        memory = memoryview(place).cast("B")
        numpy = _numpy()
        name = _dtype_name(dtype)
        kind = None if numpy is None else _numpy_dtype(numpy, name)
        if kind is None:
            return memory
        return numpy.frombuffer(memory, dtype=kind).reshape(shape)

    def __len__(self) -> int:
        return self._inner.tensors()

    @property
    def buckets(self) -> int:
        """The number of buckets."""
        return self._inner.buckets()

    def bucket_of(self, index: int) -> int:
        """Return the bucket of an array."""
        return self._inner.bucket_of(index)

    @property
    def state(self) -> str:
        """`idle`, `in_step` or `failed`."""
        return self._inner.state()

    @property
    def counters(self) -> BucketerCounters:
        """The work so far."""
        return BucketerCounters(*self._inner.counters())

    @property
    def traffic(self) -> Counters:
        """The traffic of this rank's allreduces: one per bucket and step, and a few small ones at first.

        Read it between two steps.
        """
        return _counters(*self._inner.traffic())

    def __repr__(self) -> str:
        return f"<tutti.Bucketer: {self._inner.description()}>"
