"""Schedules: collective algorithms as values, which are proved, priced, simulated, drawn and run."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, NamedTuple, Optional, Union

from . import _core
from ._errors import InvalidArgument
from ._quantity import (
    Quantity,
    parse_bytes,
    parse_rate,
    parse_seconds,
    parse_seconds_per_byte,
)

#: A chunk, consecutive chunks as a range, or a list of them.
Chunks = Union[int, range, Iterable[Any]]
#: A network, or its spec ("torus:4x4"), or a file.
NetworkLike = Union[_core.Network, str]


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


class Violation(NamedTuple):
    """A defect of a schedule."""

    kind: str
    message: str
    rank: int
    round: Optional[int]
    step: Optional[int]
    chunk: Optional[int]


@dataclass(frozen=True)
class Verification:
    """The result of Schedule.verify(). It is true if the schedule is right."""

    #: The first violations only.
    violations: tuple[Violation, ...]
    violation_count: int
    steps: int
    messages: int
    #: Every output is one fold of all contributions, from rank 0 up.
    folds_in_rank_order: bool

    @property
    def ok(self) -> bool:
        """Whether the schedule is right."""
        return self.violation_count == 0

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        if self.ok:
            return f"proved: {self.steps} steps, {self.messages} messages"
        lines = [each.message for each in self.violations]
        return "\n".join([f"{self.violation_count} violations:", *lines])


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


@dataclass(frozen=True)
class Trace:
    """What every rank holds after each round, as expressions: rounds[k][rank][chunk].

    rounds[0] is the start. "a0" is rank 0's contribution to chunk 0, "b0" that of rank 1; "" is nothing.
    """

    rounds: tuple[tuple[tuple[str, ...], ...], ...]

    def __len__(self) -> int:
        return len(self.rounds)

    def __getitem__(self, index: int) -> tuple[tuple[str, ...], ...]:
        return self.rounds[index]

    def __str__(self) -> str:
        lines = []
        for number, ranks in enumerate(self.rounds):
            lines.append("start" if number == 0 else f"after round {number - 1}")
            for rank, chunks in enumerate(ranks):
                lines.append(f"  rank {rank}: " + " | ".join(each or "-" for each in chunks))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = []
        for number, ranks in enumerate(self.rounds):
            title = "start" if number == 0 else f"after round {number - 1}"
            head = "".join(f"<th>chunk {c}</th>" for c in range(len(ranks[0]) if ranks else 0))
            body = "".join(
                f"<tr><th>rank {rank}</th>"
                + "".join(f"<td>{html.escape(each)}</td>" for each in chunks)
                + "</tr>"
                for rank, chunks in enumerate(ranks)
            )
            parts.append(f"<table><caption>{title}</caption><tr><th></th>{head}</tr>{body}</table>")
        return "".join(parts)


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
