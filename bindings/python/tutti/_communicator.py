"""Communicators: one rank's membership in a group of ranks that call collectives together."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, NamedTuple, Optional, TypedDict, Union

from . import _core
from ._errors import Aborted, Error, InvalidArgument, WrongType, make
from ._objects import ObjectCalls

if sys.version_info >= (3, 12):
    from typing import Unpack
else:
    from typing import TYPE_CHECKING

    if TYPE_CHECKING:
        from typing_extensions import Unpack


class Options(TypedDict, total=False):
    """Options of a communicator. What is left out comes from the environment or the parent.

    timeout: how long a call waits for other ranks, in seconds (TUTTI_TIMEOUT).
    algorithm: which algorithms to use or avoid: "allreduce/ring" (TUTTI_ALGO).
    rules_file: a file of such rules (TUTTI_RULES).
    network: the network between the ranks: a Network, a spec or a file (TUTTI_TOPO_FILE).
    places: rank r runs on rank places[r] of the network.
    shape: how ranks are grouped into nodes: "8x4".
    threads: "single", or "multiple" if several threads call collectives at once.
    adopt: whether long buffers become memory that peers read in place: "off", "auto", "1MiB" (TUTTI_ADOPT).
    transport: "auto", "shm" or "tcp" (TUTTI_TRANSPORT). For new groups only, as the next two.
    secret: the key by which ranks authenticate each other (TUTTI_SECRET).
    interfaces: which network interfaces to use (TUTTI_SOCKET_IFNAME).
    """

    timeout: Optional[float]
    algorithm: Optional[str]
    rules_file: Optional[str]
    network: Union[_core.Network, str, None]
    places: Optional[Sequence[int]]
    shape: Optional[str]
    threads: Optional[str]
    adopt: Optional[str]
    transport: Optional[str]
    secret: Optional[str]
    interfaces: Optional[str]


class Envelope(NamedTuple):
    """The sender, tag and length of a message."""

    rank: int
    tag: int
    bytes: int


class Verdict(NamedTuple):
    """Why a communicator failed. The same on all ranks."""

    code: str
    words: str
    ranks: tuple[int, ...]
    calls: dict[int, str]

    def error(self) -> Error:
        """The exception for it."""
        return make(self.code, self.words, list(self.ranks), self.calls)


class Shrunk(NamedTuple):
    """The result of Communicator.shrink()."""

    communicator: Communicator
    gone: tuple[int, ...]
    completed: int


class Retried(NamedTuple):
    """How a call with retry succeeded.

    `ranks` is the number of ranks that contributed: divide an average by it. `gone` are the lost ranks,
    by their numbers before the call.
    """

    ranks: int
    gone: tuple[int, ...]
    repeats: int


@dataclass(frozen=True)
class PeerCounters:
    """The traffic between this rank and one peer."""

    bytes_sent: int
    bytes_received: int
    messages_sent: int
    messages_received: int
    slices_sent: int
    slices_received: int


@dataclass(frozen=True)
class Counters:
    """The traffic of one rank in all its calls of one collective."""

    calls: int
    waits: int
    peers: tuple[PeerCounters, ...]

    @property
    def total(self) -> PeerCounters:
        """The sum over all peers."""
        return PeerCounters(
            sum(peer.bytes_sent for peer in self.peers),
            sum(peer.bytes_received for peer in self.peers),
            sum(peer.messages_sent for peer in self.peers),
            sum(peer.messages_received for peer in self.peers),
            sum(peer.slices_sent for peer in self.peers),
            sum(peer.slices_received for peer in self.peers),
        )


def _counters(calls: int, waits: int, peers: Sequence[tuple[int, int, int, int, int, int]]) -> Counters:
    return Counters(calls, waits, tuple(PeerCounters(*peer) for peer in peers))


class Communicator(ObjectCalls):
    """One rank's membership in a group of ranks that call collectives together.

    All ranks make the same collective calls in the same order. Arrays are NumPy arrays, torch CPU
    tensors, JAX arrays, array.array, memoryviews, and whatever else has the buffer protocol,
    __array_interface__ or DLPack. They must be contiguous.

    Make one with tutti.init(), tutti.run() or tutti.run_threads().
    """

    def split(self, color: Optional[int], key: int = 0, **options: Unpack[Options]) -> Optional[Communicator]:
        """Return a communicator of the ranks with the same color, ordered by key, then by rank.

        A rank whose color is None gets None. All ranks call it.
        """
        handle = self._split(color, key, dict(options))
        return None if handle is None else Communicator(handle)

    def duplicate(self, **options: Unpack[Options]) -> Communicator:
        """Return another communicator of the same ranks, whose calls are independent of this one's."""
        handle = self._split(0, 0, dict(options))
        assert handle is not None
        return Communicator(handle)

    def shrink(self, completed: int = 0) -> Shrunk:
        """Return a communicator of the surviving ranks, after a call has failed.

        All survivors call it. `completed` is how much this rank has done; all learn the minimum.
        Raises InvalidArgument if the communicator has not failed; it can then be used as before.
        """
        handle, gone, least = self._shrink(completed)
        return Shrunk(Communicator(handle), gone, least)

    def grow(
        self, at: str, *, most: int = 1024, wait: float = 0.0, timeout: float = 10.0
    ) -> Optional[Communicator]:
        """Admit processes that wait in tutti.join(at), and return the larger communicator.

        Rank 0 listens for them at the address `at`: "127.0.0.1:29600". Returns None if no process
        waits, or if one dies while it joins, or falls silent for `timeout`. All ranks call it.
        """
        handle = self._grow(at, most, wait, timeout)
        return None if handle is None else Communicator(handle)

    def with_retry(self, call: Callable[[Communicator], object], *arrays: Any) -> Retried:
        """Make a call that survives the loss of ranks.

        If call(self) fails because a rank is lost or hangs, the surviving ranks continue as a smaller
        group, which this communicator becomes. `arrays`, the memory that the call changes, is restored,
        and the call is repeated. The outcome is the same on all surviving ranks.
        """
        return Retried(*self._with_retry(call, list(arrays)))

    @property
    def verdict(self) -> Optional[Verdict]:
        """Why this communicator has failed; None if it has not."""
        verdict = self._verdict()
        return None if verdict is None else Verdict(*verdict)

    def probe(
        self,
        source: Optional[int] = None,
        tag: Optional[int] = None,
        *,
        timeout: Optional[float] = None,
    ) -> Envelope:
        """Wait for a message that a receive would match, and return its envelope."""
        found = self._probe(*_sender(source, tag), True, timeout)
        assert found is not None
        return Envelope(*found)

    def try_probe(self, source: Optional[int] = None, tag: Optional[int] = None) -> Optional[Envelope]:
        """Return the envelope of a message that has arrived; None if there is none."""
        found = self._probe(*_sender(source, tag), False, None)
        return None if found is None else Envelope(*found)

    def counters(self, collective: str) -> Counters:
        """Return the traffic of this rank in its calls of a collective so far: "allreduce"."""
        return _counters(*self._counters(collective))

    def algorithm_for(self, collective: str, count: int, dtype: str = "float32", root: int = 0) -> str:
        """Return the name of the algorithm that a call would use."""
        return self._algorithm_for(collective, count, dtype, root)

    def __enter__(self) -> Communicator:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        """Close it. After an exception, other ranks that wait for this one learn of it at once."""
        if error is not None and not isinstance(error, Error):
            _abort_quietly(self, describe(error))
        self.close()

    def __repr__(self) -> str:
        if self.closed:
            return "<tutti.Communicator, closed>"
        return f"<tutti.Communicator: rank {self.rank} of {self.description}>"

    def __reduce__(self) -> Any:
        raise InvalidArgument("a communicator cannot be pickled: it belongs to the process of its rank")


def _sender(source: Optional[int], tag: Optional[int]) -> tuple[int, int]:
    return (
        _core.any_rank if source is None else source,
        _core.any_tag if tag is None else tag,
    )


def describe(error: BaseException) -> str:
    """An exception in one line, for the errors of the other ranks."""
    text = str(error)
    name = type(error).__name__
    return f"it raised {name}: {text}" if text else f"it raised {name}"


def _abort_quietly(communicator: Communicator, reason: str) -> None:
    try:
        if not communicator.closed and communicator.size > 1:
            communicator.abort(reason)
    except Aborted:
        pass  # It has failed already.


def init(
    *,
    id: Optional[str] = None,
    rank: Optional[int] = None,
    ranks: Optional[int] = None,
    store: Any = None,
    prefix: str = "tutti",
    **options: Unpack[Options],
) -> Communicator:
    """Return the communicator of the group in which a launcher has started this process.

    `tutti run`, torchrun, mpirun, srun and mpiexec are known; without one of them it is a group of one.

    A program can also make a group itself: with an `id` that unique_id() of rank 0 has made, or with a
    `store` that has set(key, bytes) and get(key), such as torch's TCPStore. Then it passes its `rank` and
    the number of `ranks`.
    """
    given = dict(options)
    if id is None and store is None:
        if rank is not None or ranks is not None:
            raise InvalidArgument(
                "init: rank and ranks need an id or a store, through which the ranks find each other; "
                "leave them out to join the group of the launcher"
            )
        return Communicator(_core.from_environment(given))
    if id is not None and store is not None:
        raise InvalidArgument("init: pass an id or a store, not both")
    if rank is None or ranks is None:
        raise InvalidArgument("init: an id or a store needs rank= and ranks= as well")
    if not 0 <= rank < ranks:
        raise InvalidArgument(f"init: rank {rank} is not one of the ranks 0 to {ranks - 1}")
    if id is not None:
        return Communicator(_core.create_by_id(id, rank, ranks, given))
    if not all(callable(getattr(store, each, None)) for each in ("get", "set")):
        raise WrongType(f"init: {type(store).__name__} is no store: it needs set(key, bytes) and get(key)")
    return Communicator(_core.create_by_store(store, prefix, rank, ranks, given))


def unique_id(**options: Unpack[Options]) -> str:
    """Return an id for a new group, and listen for its ranks. The process of rank 0 calls it.

    Pass it to the other ranks by any means, and to init() on all of them. Keep it secret.
    """
    return _core.unique_id(dict(options))


def join(at: str, *, wait: float = 60.0, **options: Unpack[Options]) -> Communicator:
    """Wait, at most so many seconds, until a group that calls Communicator.grow(at) admits this process."""
    return Communicator(_core.join(at, wait, dict(options)))


#: How long calls that are under way when the interpreter exits may take to finish.
_EXIT_PATIENCE = 5.0


def _at_exit() -> None:
    """End all calls while the memory of their arrays still exists."""
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    reason = "" if error is None else describe(error)
    _core.shut_down(reason, int(_EXIT_PATIENCE * 1000))
    _core.close_bucketers()


atexit.register(_at_exit)
