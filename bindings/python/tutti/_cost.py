"""The price of a schedule, and bounds that hold for every schedule."""

from __future__ import annotations

from typing import NamedTuple

from . import _core
from ._quantity import Quantity, parse_bytes


class Figures(NamedTuple):
    """The work of a schedule, counted from its steps."""

    rounds: int
    messages: int
    bytes: int
    reduced: int
    most_sent: int
    most_received: int
    most_reduced: int
    most_in_a_round: int


class Cost(NamedTuple):
    """The time of a schedule in the alpha-beta-gamma model, and its parts along the critical path."""

    seconds: float
    messages: int
    bytes: int
    reduced: int


class Bounds(NamedTuple):
    """Lower bounds that hold for every algorithm."""

    rounds: int
    most_sent: int
    most_received: int
    bytes: int
    reduced: int


def bounds(collective: str, ranks: int, size: Quantity) -> Bounds:
    """Return the lower bounds for a collective of `size` bytes."""
    return Bounds(*_core.bounds(collective, ranks, parse_bytes(size)))
