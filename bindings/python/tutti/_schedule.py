"""Schedules: collective algorithms as values, which are proved, priced, simulated, drawn and run."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from os import PathLike, fspath
from typing import Any, Optional, Union

from . import _core
from ._cost import Cost, Figures
from ._errors import InvalidArgument
from ._program import Program, Step
from ._quantity import (
    Quantity,
    parse_bytes,
    parse_rate,
    parse_seconds,
    parse_seconds_per_byte,
)
from ._simulation import Simulation
from ._trace import Trace
from ._verification import Verification, Violation

#: A network, or its spec ("torus:4x4"), or a file.
NetworkLike = Union[_core.Network, str]


class Schedule:
    """A collective algorithm as a value: what each rank sends, receives and reduces.

    Make one with schedule(), load_schedule() or Schedule.from_json(). Pass it to a collective to run it:
    comm.allreduce(x, schedule=s). A notebook shows it round by round.
    """

    def __init__(self, value: _core.ScheduleValue) -> None:
        self._value = value

    @staticmethod
    def from_json(text: str) -> Schedule:
        """Read a schedule from JSON (docs/schedule-json.md)."""
        return Schedule(_core.schedule_from_json(text))

    @property
    def name(self) -> str:
        """The name of the algorithm, or the one that was given."""
        return self._value.name

    @property
    def collective(self) -> str:
        """Which collective it does: "allreduce"."""
        return self._value.collective

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return self._value.ranks

    @property
    def root(self) -> int:
        """The root of a broadcast, reduce, scatter or gather."""
        return self._value.root

    @property
    def chunks(self) -> int:
        """The number of chunks into which the data is divided."""
        return self._value.chunks

    @property
    def rounds(self) -> int:
        """The number of rounds."""
        return self._value.rounds

    def program(self, rank: int) -> list[Step]:
        """Return the steps of a rank."""
        return [Step(*each) for each in self._value.program(rank).steps()]

    def verify(self, *, in_place: Optional[bool] = None) -> Verification:
        """Prove that the schedule does what its collective promises. None: in place and out of place.

        Every output holds each contribution exactly once, nothing is read before it is written, no two
        steps race, and nothing deadlocks.
        """
        violations, count, steps, messages, in_order = self._value.verify(in_place)
        found = tuple(Violation(*each) for each in violations)
        return Verification(found, count, steps, messages, in_order)

    def figures(self, size: Quantity) -> Figures:
        """Count its messages and bytes, for buffers of `size` bytes."""
        return Figures(*self._value.figures(parse_bytes(size)))

    def cost(
        self,
        size: Quantity,
        *,
        alpha: Quantity = "1us",
        bandwidth: Quantity = "10GB/s",
        gamma: Quantity = 0,
        ports: int = 1,
        ranks_per_node: int = 1,
        inside_alpha: Quantity = 0,
        inside_bandwidth: Optional[Quantity] = None,
    ) -> Cost:
        """Return its time in the alpha-beta-gamma model, for buffers of `size` bytes.

        A message of n bytes takes alpha + n / bandwidth, a reduction gamma per byte. With several ranks
        per node, messages inside a node take inside_alpha + n / inside_bandwidth. `ports` is 1, or 0 for
        any number of messages at once.
        """
        inside = parse_rate(bandwidth if inside_bandwidth is None else inside_bandwidth)
        return Cost(
            *self._value.price(
                parse_bytes(size),
                parse_seconds(alpha),
                1 / parse_rate(bandwidth),
                parse_seconds_per_byte(gamma),
                ranks_per_node,
                parse_seconds(inside_alpha),
                1 / inside,
                ports == 1,
            )
        )

    def simulate(
        self,
        network: NetworkLike,
        size: Quantity = "1MiB",
        *,
        alpha: Quantity = 0,
        gamma: Quantity = 0,
        ports: int = 1,
        slice: Quantity = 0,
        noise: float = 0,
        seed: int = 1,
        places: Sequence[int] = (),
        records: bool = True,
        routes: str = "automatic",
    ) -> Simulation:
        """Simulate it on a network: a Network, a spec such as "torus:4x4", or a file.

        With `records` the simulation has all its messages, and can be drawn.
        """
        return Simulation(
            self._value.simulate(
                network,
                parse_bytes(size),
                parse_seconds(alpha),
                parse_seconds_per_byte(gamma),
                ports,
                parse_bytes(slice),
                noise,
                seed,
                list(places),
                records,
                routes,
            )
        )

    def trace(self) -> Trace:
        """Run it on symbols, and return what every rank holds after each round."""
        return Trace(tuple(tuple(tuple(chunks) for chunks in ranks) for ranks in self._value.trace()))

    def explain(self) -> str:
        """Return it in words, round by round."""
        return self._value.explain()

    def to_json(self) -> str:
        """Return it as JSON."""
        return self._value.to_json()

    def to_svg(self) -> str:
        """Return pictures of its rounds as SVG."""
        return self._value.draw()

    def to_html(self) -> str:
        """Return a page that plays it round by round."""
        return self._value.play()

    def draw_load(self, network: NetworkLike, size: Quantity = "1MiB") -> str:
        """Return the load of the links of a network as SVG."""
        return self._value.draw_load(network, parse_bytes(size))

    def _repr_html_(self) -> str:
        # In a frame of its own, so that its style and script do not meet those of the notebook.
        page = html.escape(self.to_html(), quote=True)
        return (
            f'<iframe srcdoc="{page}" width="100%" height="480" style="border:0" '
            f'title="{html.escape(self.name)}"></iframe>'
        )

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schedule) and self._value == other._value

    def __hash__(self) -> int:
        return self._value.hash()

    def __reduce__(self) -> tuple[Any, ...]:
        return (Schedule.from_json, (self.to_json(),))

    def __repr__(self) -> str:
        return f"<tutti.Schedule {self.name}: {self.ranks} ranks, {self.rounds} rounds>"


def schedule(
    what: Union[str, Callable[[Program], object]],
    ranks: int,
    *,
    root: int = 0,
    shape: Optional[str] = None,
    collective: Optional[str] = None,
    chunks: Optional[int] = None,
    name: Optional[str] = None,
) -> Schedule:
    """Return a schedule: of an algorithm by its name, or written as a function of Python.

    schedule("allreduce/ring", ranks=8) is that of an algorithm. An algorithm for ranks on a grid takes a
    `shape`: "4x2".

    schedule(function, ranks=4, collective="allreduce") calls function(program) for each rank. The function
    reads program.rank and program.ranks, and calls program.send(), receive() and receive_reduce(). `chunks`
    is the number of pieces of the data; by default one for each rank, and in an alltoall one for each pair.
    """
    if ranks < 1:
        raise InvalidArgument(f"schedule: {ranks} ranks: there must be at least one")
    if isinstance(what, str):
        if collective is not None or chunks is not None:
            raise InvalidArgument(
                "schedule: the name of an algorithm says its collective and chunks; leave them out"
            )
        return Schedule(_core.schedule_by_algorithm(what, ranks, root, shape or ""))
    if collective is None:
        raise InvalidArgument("schedule: for which collective? Pass collective='allreduce'")
    if chunks is None:
        chunks = ranks * ranks if collective == "alltoall" else ranks
    programs = []
    for rank in range(ranks):
        program = Program(rank, ranks, root, chunks)
        what(program)
        programs.append(program)
    rounds = max(each.rounds for each in programs)
    return Schedule(
        _core.schedule_by_programs(
            name or str(getattr(what, "__name__", "python")),
            collective,
            root,
            chunks,
            [each._steps.with_rounds(rounds) for each in programs],
        )
    )


def load_schedule(path: Union[str, PathLike[str]]) -> Schedule:
    """Read a schedule from a JSON file."""
    return Schedule(_core.load_schedule(fspath(path)))
