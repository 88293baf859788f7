"""Types of the module in C++. The classes that programs use are in the package itself."""

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Generic, Literal, Optional, TypeVar, Union, overload

from ._communicator import Envelope
from ._schedule import Schedule

A = TypeVar("A")
R = TypeVar("R", covariant=True)
#: "sum", "prod", "min", "max", "avg", "band", "bor", "bxor", or a function of two arrays.
Op = Union[str, Callable[[Any, Any], Any]]
Reproducible = Literal["run", "order", "exact"]

any_rank: int
any_tag: int

class Work(Generic[R]):
    def wait(self, timeout: Optional[float] = None) -> R: ...
    def done(self) -> bool: ...
    def envelope(self) -> Envelope: ...
    def __await__(self) -> Generator[Any, None, R]: ...

class PreparedCall(Generic[R]):
    def run(self) -> R: ...
    def start(self) -> Work[R]: ...

class Bell:
    def __init__(self) -> None: ...
    def fileno(self) -> int: ...
    def ring_after(self, work: Work[Any]) -> None: ...
    def silence(self) -> None: ...

class Handle: ...

class Group:
    def __init__(self, handle: Handle) -> None: ...
    @property
    def rank(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def closed(self) -> bool: ...
    @property
    def description(self) -> str: ...
    completed: int
    def close(self) -> None: ...
    def abort(self, reason: str) -> None: ...
    @overload
    def allreduce(
        self,
        x: A,
        op: Optional[Op] = None,
        out: Optional[Any] = None,
        *,
        async_: Literal[False] = False,
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> A: ...
    @overload
    def allreduce(
        self,
        x: A,
        op: Optional[Op] = None,
        out: Optional[Any] = None,
        *,
        async_: Literal[True],
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> Work[A]: ...
    @overload
    def broadcast(
        self,
        x: A,
        root: int = 0,
        *,
        async_: Literal[False] = False,
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> A: ...
    @overload
    def broadcast(
        self,
        x: A,
        root: int = 0,
        *,
        async_: Literal[True],
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> Work[A]: ...
    @overload
    def reduce(
        self,
        x: Any,
        op: Optional[Op] = None,
        root: int = 0,
        out: Optional[Any] = None,
        *,
        async_: Literal[False] = False,
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> Any: ...
    @overload
    def reduce(
        self,
        x: Any,
        op: Optional[Op] = None,
        root: int = 0,
        out: Optional[Any] = None,
        *,
        async_: Literal[True],
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> Work[Any]: ...
    @overload
    def allgather(
        self,
        x: Any,
        out: Optional[Any] = None,
        counts: Optional[Sequence[int]] = None,
        *,
        async_: Literal[False] = False,
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> Any: ...
    @overload
    def allgather(
        self,
        x: Any,
        out: Optional[Any] = None,
        counts: Optional[Sequence[int]] = None,
        *,
        async_: Literal[True],
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> Work[Any]: ...
    @overload
    def gather(
        self,
        x: Any,
        root: int = 0,
        out: Optional[Any] = None,
        counts: Optional[Sequence[int]] = None,
        *,
        async_: Literal[False] = False,
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> Any: ...
    @overload
    def gather(
        self,
        x: Any,
        root: int = 0,
        out: Optional[Any] = None,
        counts: Optional[Sequence[int]] = None,
        *,
        async_: Literal[True],
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> Work[Any]: ...
    @overload
    def scatter(
        self,
        x: Any,
        root: int = 0,
        out: Optional[Any] = None,
        counts: Optional[Sequence[int]] = None,
        *,
        async_: Literal[False] = False,
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> Any: ...
    @overload
    def scatter(
        self,
        x: Any,
        root: int = 0,
        out: Optional[Any] = None,
        counts: Optional[Sequence[int]] = None,
        *,
        async_: Literal[True],
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> Work[Any]: ...
    @overload
    def reduce_scatter(
        self,
        x: Any,
        op: Optional[Op] = None,
        out: Optional[Any] = None,
        counts: Optional[Sequence[int]] = None,
        *,
        async_: Literal[False] = False,
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> Any: ...
    @overload
    def reduce_scatter(
        self,
        x: Any,
        op: Optional[Op] = None,
        out: Optional[Any] = None,
        counts: Optional[Sequence[int]] = None,
        *,
        async_: Literal[True],
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> Work[Any]: ...
    @overload
    def alltoall(
        self,
        x: Any,
        out: Optional[Any] = None,
        counts: Optional[Sequence[int]] = None,
        out_counts: Optional[Sequence[int]] = None,
        *,
        async_: Literal[False] = False,
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> Any: ...
    @overload
    def alltoall(
        self,
        x: Any,
        out: Optional[Any] = None,
        counts: Optional[Sequence[int]] = None,
        out_counts: Optional[Sequence[int]] = None,
        *,
        async_: Literal[True],
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> Work[Any]: ...
    @overload
    def barrier(
        self,
        *,
        async_: Literal[False] = False,
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> None: ...
    @overload
    def barrier(
        self,
        *,
        async_: Literal[True],
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> Work[None]: ...
    def prepare_allreduce(
        self,
        x: A,
        op: Optional[Op] = None,
        out: Optional[Any] = None,
        *,
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> PreparedCall[A]: ...
    def prepare_broadcast(
        self,
        x: A,
        root: int = 0,
        *,
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> PreparedCall[A]: ...
    def prepare_reduce(
        self,
        x: Any,
        op: Optional[Op] = None,
        root: int = 0,
        out: Optional[Any] = None,
        *,
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> PreparedCall[Any]: ...
    def prepare_allgather(
        self,
        x: Any,
        out: Optional[Any] = None,
        counts: Optional[Sequence[int]] = None,
        *,
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> PreparedCall[Any]: ...
    def prepare_gather(
        self,
        x: Any,
        root: int = 0,
        out: Optional[Any] = None,
        counts: Optional[Sequence[int]] = None,
        *,
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> PreparedCall[Any]: ...
    def prepare_scatter(
        self,
        x: Any,
        root: int = 0,
        out: Optional[Any] = None,
        counts: Optional[Sequence[int]] = None,
        *,
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> PreparedCall[Any]: ...
    def prepare_reduce_scatter(
        self,
        x: Any,
        op: Optional[Op] = None,
        out: Optional[Any] = None,
        counts: Optional[Sequence[int]] = None,
        *,
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> PreparedCall[Any]: ...
    def prepare_alltoall(
        self,
        x: Any,
        out: Optional[Any] = None,
        counts: Optional[Sequence[int]] = None,
        out_counts: Optional[Sequence[int]] = None,
        *,
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> PreparedCall[Any]: ...
    def prepare_barrier(
        self,
        *,
        algorithm: Optional[str] = None,
        schedule: Optional[Schedule] = None,
        shape: Optional[str] = None,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        keep_input: bool = False,
        reproducible: Optional[Reproducible] = None,
    ) -> PreparedCall[None]: ...
    @overload
    def send(
        self,
        x: Any,
        to: int,
        tag: int = 0,
        *,
        async_: Literal[False] = False,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
    ) -> None: ...
    @overload
    def send(
        self,
        x: Any,
        to: int,
        tag: int = 0,
        *,
        async_: Literal[True],
        timeout: Optional[float] = None,
        site: Optional[str] = None,
    ) -> Work[Any]: ...
    @overload
    def receive(
        self,
        x: Any,
        source: Optional[int] = None,
        tag: Optional[int] = None,
        *,
        async_: Literal[False] = False,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        may_be_shorter: bool = False,
    ) -> Envelope: ...
    @overload
    def receive(
        self,
        x: Any,
        source: Optional[int] = None,
        tag: Optional[int] = None,
        *,
        async_: Literal[True],
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        may_be_shorter: bool = False,
    ) -> Work[Any]: ...
    @overload
    def send_receive(
        self,
        x: Any,
        to: int,
        out: Any,
        source: Optional[int] = None,
        tag: int = 0,
        *,
        async_: Literal[False] = False,
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        may_be_shorter: bool = False,
    ) -> Envelope: ...
    @overload
    def send_receive(
        self,
        x: Any,
        to: int,
        out: Any,
        source: Optional[int] = None,
        tag: int = 0,
        *,
        async_: Literal[True],
        timeout: Optional[float] = None,
        site: Optional[str] = None,
        may_be_shorter: bool = False,
    ) -> Work[Any]: ...
    def _verdict(self) -> Optional[tuple[str, str, tuple[int, ...], dict[int, str]]]: ...
    def _split(self, color: Optional[int], key: int, options: dict[str, Any]) -> Optional[Handle]: ...
    def _shrink(self, completed: int) -> tuple[Handle, tuple[int, ...], int]: ...
    def _grow(self, at: str, most: int, wait: float, timeout: float) -> Optional[Handle]: ...
    def _probe(
        self, source: int, tag: int, waits: bool, timeout: Optional[float]
    ) -> Optional[tuple[int, int, int]]: ...
    def _counters(self, collective: str) -> tuple[int, int, list[tuple[int, int, int, int, int, int]]]: ...
    def _algorithm_for(self, collective: str, count: int, dtype: str, root: int) -> str: ...
    def _with_retry(
        self, function: Callable[[Any], object], arrays: list[Any]
    ) -> tuple[int, tuple[int, ...], int]: ...

class Bucketer:
    def __init__(
        self,
        communicator: Group,
        tensors: list[Any],
        op: str,
        bucket_bytes: int,
        first_bucket_bytes: int,
        algorithm: str,
        reproducible: str,
    ) -> None: ...
    def ready(self, tensor: int) -> None: ...
    def test(self, tensor: int) -> bool: ...
    def wait(self, tensor: int) -> None: ...
    def finish(self) -> None: ...
    def memory(self, tensor: int) -> tuple[int, int]: ...
    def state(self) -> str: ...
    def tensors(self) -> int: ...
    def buckets(self) -> int: ...
    def bucket_of(self, tensor: int) -> int: ...
    def counters(self) -> tuple[int, int, int, int]: ...
    def traffic(self) -> tuple[int, int, list[tuple[int, int, int, int, int, int]]]: ...
    def description(self) -> str: ...

class SharedMemory:
    def __init__(self, bytes: int) -> None: ...
    def __len__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

def numpy_memory_handler(smallest: int) -> Any: ...
def set_numpy_memory_handler(functions: Any, handler: Any) -> Any: ...
def trim_memory(keep: int = 0) -> None: ...
def is_shared(address: int) -> bool: ...

class Network:
    """An underlay: ranks, hosts, NICs and switches, joined by links."""

    name: str
    def __init__(self, spec: Union[Network, str, None] = None) -> None: ...
    @staticmethod
    def from_json(text: str) -> Network: ...
    @property
    def ranks(self) -> int: ...
    @property
    def nodes(self) -> list[tuple[str, str]]: ...
    @property
    def links(self) -> list[tuple[int, int, float, float]]: ...
    def add(self, name: str, kind: str = "switch") -> int: ...
    def join(self, a: int, b: int, bandwidth: float, latency: float = 0.0) -> None: ...
    def check(self) -> None: ...
    def optimum(self) -> tuple[float, float, float]: ...
    def to_json(self) -> str: ...
    def to_dot(self) -> str: ...
    def _repr_svg_(self) -> str: ...

class Program:
    def __init__(self, rounds: int) -> None: ...
    def send(self, round: int, peers: Any, chunks: Any, variant: int) -> None: ...
    def receive(self, round: int, peer: int, chunks: Any, variant: int) -> None: ...
    def receive_reduce(self, round: int, peers: Any, own: int, chunks: Any) -> None: ...
    def copy(self, round: int, chunks: Any, source: int, to: int) -> None: ...
    def reduce(self, round: int, chunks: Any, sources: list[int], to: int) -> None: ...
    def __len__(self) -> int: ...
    def steps(self) -> list[Any]: ...
    def with_rounds(self, rounds: int) -> Program: ...

class ScheduleValue:
    @property
    def name(self) -> str: ...
    @property
    def collective(self) -> str: ...
    @property
    def ranks(self) -> int: ...
    @property
    def root(self) -> int: ...
    @property
    def chunks(self) -> int: ...
    @property
    def rounds(self) -> int: ...
    def program(self, rank: int) -> Program: ...
    def hash(self) -> int: ...
    def prove(self) -> str: ...
    def verify(self, in_place: Optional[bool]) -> tuple[Any, int, int, int, bool]: ...
    def figures(self, size: int) -> tuple[int, int, int, int, int, int, int, int]: ...
    def price(
        self,
        size: int,
        alpha: float,
        beta: float,
        gamma: float,
        ranks_per_node: int,
        inside_alpha: float,
        inside_beta: float,
        one_port: bool,
    ) -> tuple[float, int, int, int]: ...
    def trace(self) -> list[list[list[str]]]: ...
    def simulate(
        self,
        network: Union[Network, str],
        size: int,
        alpha: float,
        gamma: float,
        ports: int,
        slice: int,
        noise: float,
        seed: int,
        places: list[int],
        records: bool,
        routes: str,
    ) -> SimulationValue: ...
    def to_json(self) -> str: ...
    def explain(self) -> str: ...
    def draw(self) -> str: ...
    def play(self) -> str: ...
    def draw_load(self, network: Union[Network, str], size: int) -> str: ...

class SimulationValue:
    @property
    def seconds(self) -> float: ...
    @property
    def messages(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def finished(self) -> list[float]: ...
    @property
    def links(self) -> list[tuple[str, float, float]]: ...
    @property
    def critical_path(self) -> list[Any]: ...
    @property
    def activities(self) -> list[Any]: ...
    def to_json(self) -> str: ...
    def to_chrome_trace(self) -> str: ...
    def draw(self) -> str: ...

def from_environment(options: Mapping[str, Any]) -> Handle: ...
def unique_id(options: Mapping[str, Any]) -> str: ...
def create_by_id(id: str, rank: int, ranks: int, options: Mapping[str, Any]) -> Handle: ...
def create_by_store(store: Any, prefix: str, rank: int, ranks: int, options: Mapping[str, Any]) -> Handle: ...
def join(at: str, timeout: float, options: Mapping[str, Any]) -> Handle: ...
def run_threads(ranks: int, rank_function: Callable[[Handle], None], options: Mapping[str, Any]) -> None: ...
def shut_down(reason: str, patience_milliseconds: int) -> None: ...
def close_bucketers() -> None: ...
def schedule_by_algorithm(name: str, ranks: int, root: int, shape: str) -> ScheduleValue: ...
def schedule_by_programs(
    name: str, collective: str, root: int, chunks: int, programs: list[Program]
) -> ScheduleValue: ...
def schedule_from_json(text: str) -> ScheduleValue: ...
def load_schedule(path: str) -> ScheduleValue: ...
def algorithms() -> list[Any]: ...
def bounds(collective: str, ranks: int, size: int) -> tuple[int, int, int, int, int]: ...
def networks() -> list[tuple[str, str, str]]: ...
