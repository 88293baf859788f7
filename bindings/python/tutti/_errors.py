"""The exceptions of tutti. Each stands for what the caller can do next."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """The base of all errors of tutti.

    `code` is the name of the kind of error in C++. `ranks` are the ranks that caused it, if they are
    known; they are the same on all ranks.
    """

    code = "internal"
    ranks: tuple[int, ...]
    calls: dict[int, str]

    def __init__(
        self,
        message: str = "",
        ranks: tuple[int, ...] = (),
        calls: dict[int, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.ranks = tuple(ranks)
        self.calls = dict(calls or {})

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (str(self), self.ranks, self.calls))


class InvalidArgument(Error, ValueError):
    """Correct the call; nothing was done."""

    code = "invalid_argument"


class WrongType(InvalidArgument, TypeError):
    """An argument is of a type that the call does not take."""


class Unsupported(Error, NotImplementedError):
    """Ask for something else: this combination has no implementation."""

    code = "unsupported"


class Mismatch(Error):
    """The ranks made different calls. `calls` quotes them: {0: "call 3, barrier", …}."""

    code = "mismatch"


class TimedOut(Error, TimeoutError):
    """Raise the timeout, or find out why the ranks in `ranks` are late."""

    code = "timed_out"


class PeerLost(Error, ConnectionError):
    """The ranks in `ranks` are lost: continue without them by shrink(), or start again."""

    code = "peer_lost"


class Aborted(Error):
    """The communicator was aborted by the ranks in `ranks`: make a new one."""

    code = "aborted"


class InternalError(Error, RuntimeError):
    """A bug in tutti: report it."""

    code = "internal"


class RankDied(Error):
    """The process of a rank ended without a result: `exit_code`, or `signal` if it was killed."""

    code = "peer_lost"

    def __init__(self, rank: int, exit_code: int) -> None:
        import signal

        self.rank = rank
        self.exit_code = exit_code
        self.signal = -exit_code if exit_code < 0 else None
        how = f"ended with exit code {exit_code}"
        if self.signal is not None:
            try:
                how = f"was killed by {signal.Signals(self.signal).name}"
            except ValueError:
                how = f"was killed by signal {self.signal}"
        super().__init__(f"the process of rank {rank} {how}, without a result", (rank,))

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.rank, self.exit_code))


class RunError(Error):
    """Ranks of tutti.run() or tutti.run_threads() failed.

    `failures` holds the exception of each rank that failed, `results` those of the others. The cause
    (`__cause__`) is the failure that came first and is no consequence of another.
    """

    failures: dict[int, BaseException]
    results: dict[int, Any]

    def __init__(
        self,
        message: str,
        failures: dict[int, BaseException] | None = None,
        results: dict[int, Any] | None = None,
    ) -> None:
        super().__init__(message, tuple(sorted(failures or {})))
        self.failures = dict(failures or {})
        self.results = dict(results or {})

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (str(self), self.failures, self.results))


_BY_CODE: dict[str, type[Error]] = {
    each.code: each
    for each in (
        InvalidArgument,
        Unsupported,
        Mismatch,
        TimedOut,
        PeerLost,
        Aborted,
        InternalError,
    )
}
_BY_CODE["wrong_type"] = WrongType


def make(code: str, message: str, ranks: list[int], calls: dict[int, str]) -> Error:
    """Return the exception for an error of the library. It is called from C++."""
    return _BY_CODE.get(code, InternalError)(message, tuple(ranks), calls)
