"""The table of algorithms."""

from __future__ import annotations

from typing import NamedTuple, Optional

from . import _core
from ._errors import InvalidArgument


class Formulas(NamedTuple):
    """The cost of an algorithm as text, with p ranks and n bytes."""

    rounds: str
    bytes: str
    seconds: str


class Parameter(NamedTuple):
    """A number that an algorithm depends on: k of "allreduce/recursive_multiplying:k=4"."""

    name: str
    summary: str
    least: int
    most: int
    #: The value if none is given.
    usual: int


class Algorithm(NamedTuple):
    """An algorithm of tutti's table."""

    name: str
    collective: str
    summary: str
    #: The order in which contributions are added; empty if the collective does not reduce.
    order: str
    needs_shape: bool
    #: For which problems it has a schedule; empty: for all.
    limits: str
    formulas: Optional[Formulas]
    parameters: list[Parameter]


def algorithms(collective: Optional[str] = None) -> list[Algorithm]:
    """Return all algorithms, or those of one collective: "allreduce"."""
    found = []
    for name, its, summary, order, needs_shape, limits, formulas, values in _core.algorithms():
        known = None if formulas is None else Formulas(*formulas)
        parameters = [Parameter(*each) for each in values]
        each = Algorithm(name, its, summary, order, needs_shape, limits, known, parameters)
        if collective in (None, each.collective):
            found.append(each)
    if collective is not None and not found:
        raise InvalidArgument(f"there is no collective '{collective}'")
    return found
