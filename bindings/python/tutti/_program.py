"""The program of one rank of a schedule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Optional, Union

from . import _core
from ._errors import InvalidArgument

#: A chunk, consecutive chunks as a range, or a list of them.
Chunks = Union[int, range, Iterable[Any]]


class Step(NamedTuple):
    """One step of a rank's program."""

    #: "send", "receive" or "local".
    kind: str
    round: int
    peers: tuple[int, ...]
    #: (first, count) for each range of chunks.
    chunks: tuple[tuple[int, int], ...]
    #: Receive: contributions of peers before the rank's own in the fold; None: the data replaces it.
    own: Optional[int]
    variant: int
    sources: tuple[int, ...]


class Program:
    """The program of one rank, while it is written: what it sends, receives and reduces.

    The k-th send from a to b meets the k-th receive on b from a; both name the same chunks and the same
    round. A program is not checked while it is written: Schedule.verify() checks it.
    """

    def __init__(self, rank: int, ranks: int, root: int, chunks: int) -> None:
        self.rank = rank
        self.ranks = ranks
        self.root = root
        self.chunks = chunks
        self.rounds = 0
        self._steps = _core.Program(0)

    def _at(self, round: int) -> int:
        if round < 0:
            raise InvalidArgument(f"rank {self.rank}: round {round} is negative")
        self.rounds = max(self.rounds, round + 1)
        return round

    def send(self, round: int, peers: Union[int, Sequence[int]], chunks: Chunks, *, variant: int = 0) -> None:
        """Send the current version of chunks to a rank, or to several."""
        self._steps.send(self._at(round), peers, chunks, variant)

    def receive(self, round: int, peer: int, chunks: Chunks, *, variant: int = 0) -> None:
        """Receive chunks from a rank. They replace the current version."""
        self._steps.receive(self._at(round), peer, chunks, variant)

    def receive_reduce(
        self,
        round: int,
        peers: Union[int, Sequence[int]],
        chunks: Chunks,
        *,
        own: Optional[int] = None,
    ) -> None:
        """Receive chunks from ranks and fold them with the own version, in the order of `peers`.

        The own version comes after the first `own` of them; None: at its place in the order of ranks.
        """
        from_ranks = [peers] if isinstance(peers, int) else list(peers)
        if own is None:
            own = sum(1 for peer in from_ranks if peer < self.rank)
        self._steps.receive_reduce(self._at(round), from_ranks, own, chunks)

    def copy(self, round: int, chunks: Chunks, *, source: int, to: int) -> None:
        """Copy one variant of chunks to another."""
        self._steps.copy(self._at(round), chunks, source, to)

    def reduce(self, round: int, chunks: Chunks, *, sources: Sequence[int], to: int) -> None:
        """Fold variants of chunks, in this order, into the variant `to`."""
        self._steps.reduce(self._at(round), chunks, list(sources), to)
