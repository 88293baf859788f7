"""The simulated run of a schedule on a network."""

from __future__ import annotations

from typing import NamedTuple

from . import _core


class Activity(NamedTuple):
    """A message or a reduction of a simulation. Times are seconds since the start."""

    #: "message" or "sum".
    kind: str
    rank: int
    peer: int
    round: int
    bytes: int
    begin: float
    end: float
    #: Seconds it would have taken on an idle network.
    alone: float


class LinkUse(NamedTuple):
    """The use of one directed link."""

    link: str
    bytes: float
    busy: float


class Simulation:
    """The simulated run of a schedule on a network. A notebook shows its timeline."""

    def __init__(self, value: _core.SimulationValue) -> None:
        self._value = value

    @property
    def seconds(self) -> float:
        """When the last rank finishes."""
        return self._value.seconds

    @property
    def messages(self) -> int:
        """Messages sent; each slice counts as one."""
        return self._value.messages

    @property
    def bytes(self) -> int:
        """Bytes sent by all ranks together."""
        return self._value.bytes

    @property
    def finished(self) -> list[float]:
        """When each rank is done."""
        return self._value.finished

    @property
    def links(self) -> list[LinkUse]:
        """The use of each link."""
        return [LinkUse(*each) for each in self._value.links]

    @property
    def critical_path(self) -> list[Activity]:
        """The chain of messages and reductions that ends last."""
        return [Activity(*each) for each in self._value.critical_path]

    @property
    def activities(self) -> list[Activity]:
        """Every message and reduction, in order of time. Empty unless simulate(records=True)."""
        return [Activity(*each) for each in self._value.activities]

    def to_json(self) -> str:
        """Return it as JSON (docs/simulator.md)."""
        return self._value.to_json()

    def to_chrome_trace(self) -> str:
        """Return it in the Chrome trace format, which Perfetto opens."""
        return self._value.to_chrome_trace()

    def to_svg(self) -> str:
        """Return the timeline as SVG."""
        return self._value.draw()

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def __repr__(self) -> str:
        return f"<tutti.Simulation: {self.seconds:.3g} s, {self.messages} messages>"
