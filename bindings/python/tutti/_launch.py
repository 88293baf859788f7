"""Ranks as processes or threads, started from a script or a notebook."""

from __future__ import annotations

import importlib.util
import os
import pickle
import secrets
import selectors
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Iterable, Mapping
from typing import Any, Callable, Optional, TextIO

from . import _core
from ._communicator import Communicator, _abort_quietly, describe
from ._errors import Aborted, InvalidArgument, PeerLost, RankDied, RunError
from ._rank import RankTraceback, die_with, dumps, leave, perform, report

#: How long the other ranks may go on after one has failed, and then after SIGTERM.
_LINGER = 5.0
_GRACE = 2.0
_ROOT_VARIABLES = ("TUTTI_ROOT_FD", "TUTTI_LOCAL_RANK", "TUTTI_LOCAL_SIZE")


def run(
    function: Callable[..., Any],
    ranks: int = 2,
    args: Iterable[Any] = (),
    kwargs: Optional[Mapping[str, Any]] = None,
    *,
    method: Optional[str] = None,
    timeout: Optional[float] = None,
    keep_going: bool = False,
    environment: Optional[Mapping[str, str]] = None,
    options: Optional[Mapping[str, Any]] = None,
) -> list[Any]:
    """Call function(communicator, *args, **kwargs) in `ranks` new processes. Return their results.

    If ranks fail, RunError has their exceptions, and RankDied for a process that died. With `keep_going`
    that is only an error if no rank succeeds: the exceptions take the places of the results.

    `method` is "spawn" (new interpreters) or "fork" (copies of this process). By default it is spawn if the
    function can be sent to a new interpreter: it is in a module, or the package cloudpickle is installed,
    which sends functions of a script or notebook by value. Otherwise it is fork, which is not safe if this
    process has threads that hold locks, such as those of OpenMP.

    `timeout` is for the whole run, in seconds. `environment` adds variables to that of the ranks, `options`
    are those of their communicator.
    """
    if ranks < 1:
        raise InvalidArgument(f"run: {ranks} ranks: there must be at least one")
    if not callable(function):
        raise InvalidArgument("run: the function to run is not callable")
    if method is None:
        method = "spawn" if _can_be_sent(function) else "fork"
    if method not in ("spawn", "fork"):
        raise InvalidArgument(f"run: there is no method '{method}': use 'spawn' or 'fork'")
    call = (function, tuple(args), dict(kwargs or {}), dict(options or {}))
    crew = _Crew(ranks)
    try:
        crew.start(method, call, dict(environment or {}))
        crew.watch(timeout, keep_going)
    except BaseException:
        crew.end(signal.SIGINT)
        raise
    finally:
        crew.close()
    return crew.results(keep_going)


def run_threads(
    function: Callable[..., Any],
    ranks: int = 2,
    args: Iterable[Any] = (),
    kwargs: Optional[Mapping[str, Any]] = None,
    *,
    options: Optional[Mapping[str, Any]] = None,
) -> list[Any]:
    """Call function(communicator, *args, **kwargs) in `ranks` threads of this process.

    Returns the results, in rank order. If ranks fail, RunError has their exceptions. Rank 0 runs in this
    thread. Threads take turns with the interpreter, but not while they wait in a collective.
    """
    if ranks < 1:
        raise InvalidArgument(f"run_threads: {ranks} ranks: there must be at least one")
    if not callable(function):
        raise InvalidArgument("run_threads: the function to run is not callable")
    given, named = tuple(args), dict(kwargs or {})
    results: dict[int, Any] = {}
    failures: dict[int, BaseException] = {}

    def run_rank(handle: _core.Handle) -> None:
        communicator = Communicator(handle)
        rank = communicator.rank
        try:
            results[rank] = function(communicator, *given, **named)
        except BaseException as error:
            failures[rank] = error
            _abort_quietly(communicator, describe(error))
        finally:
            communicator.close()

    _core.run_threads(ranks, run_rank, dict(options or {}))
    for error in failures.values():
        if isinstance(error, KeyboardInterrupt):
            raise error
    if failures:
        _raise(failures, results, ranks)
    return [results[rank] for rank in range(ranks)]


def _can_be_sent(function: Callable[..., Any]) -> bool:
    """Whether a new interpreter can get the function."""
    if importlib.util.find_spec("cloudpickle") is not None:
        return True
    if getattr(function, "__module__", "__main__") == "__main__":
        return False
    try:
        pickle.dumps(function)
    except Exception:
        return False
    return True


def _raise(failures: dict[int, BaseException], results: dict[int, Any], ranks: int) -> None:
    """Raise RunError, with the failure that explains the others as its cause."""
    order = list(failures.items())
    first = next((item for item in order if not isinstance(item[1], (Aborted, PeerLost, RankDied))), None)
    if first is None:
        first = next((item for item in order if isinstance(item[1], RankDied)), order[0])
    rank, cause = first
    words = f"{type(cause).__name__}: {cause}" if str(cause) else type(cause).__name__
    message = f"rank {rank} of {ranks} failed: {words}"
    if len(failures) > 1:
        message += f" (of {ranks} ranks {len(failures)} failed)"
    raise RunError(message, dict(sorted(failures.items())), dict(sorted(results.items()))) from cause


class _Process:
    """The process of a rank, by spawn or fork."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.pid = 0
        self.exit_code: Optional[int] = None
        self.data = bytearray()
        self.result = -1

    def poll(self, wait: bool = False) -> Optional[int]:
        if self.exit_code is None and self.pid > 0:
            try:
                pid, status = os.waitpid(self.pid, 0 if wait else os.WNOHANG)
            except ChildProcessError:
                self.exit_code = 1
                return self.exit_code
            if pid == self.pid:
                self.exit_code = _exit_code(status)
        return self.exit_code

    def signal(self, number: int) -> None:
        if self.pid > 0 and self.poll() is None:
            try:
                os.killpg(self.pid, number)
            except ProcessLookupError:
                try:
                    os.kill(self.pid, number)
                except ProcessLookupError:
                    pass


def _exit_code(status: int) -> int:
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


class _Lines:
    """Passes on whole lines of a rank, so that lines of several ranks do not mix."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._rest = b""

    def write(self, data: bytes) -> None:
        """Pass on the lines that are complete. No data is the end."""
        whole, newline, rest = (self._rest + data).rpartition(b"\n")
        if not data:
            whole, newline, rest = self._rest, b"", b""
        self._rest = rest
        if whole or newline:
            self._stream.write((whole + newline).decode(errors="replace"))


class _Crew:
    """The processes of one run."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.processes = [_Process(rank) for rank in range(ranks)]
        self.outcomes: dict[int, tuple[bool, Any, str]] = {}
        self._selector = selectors.DefaultSelector()
        self._spawned: list[subprocess.Popen[bytes]] = []

    # Starting ------------------------------------------------------------------------------------

    def start(self, method: str, call: tuple[Any, ...], environment: dict[str, str]) -> None:
        payload = b""
        if method == "spawn":
            try:
                payload = pickle.dumps((list(sys.path), dumps(call)))
            except Exception as error:
                raise InvalidArgument(
                    f"run: the function or its arguments cannot be sent to a new process "
                    f"({type(error).__name__}: {error}): define them in a module, or pass "
                    f"method='fork'"
                ) from error
        variables = {
            "TUTTI_SIZE": str(self.ranks),
            "TUTTI_LOCAL_SIZE": str(self.ranks),
            "TUTTI_JOB": secrets.token_hex(8),
            "TUTTI_SECRET": os.environ.get("TUTTI_SECRET") or secrets.token_hex(32),
            **environment,
        }
        sys.stdout.flush()
        sys.stderr.flush()
        # Rank 0 gets the socket already listening, so that no other process can take the port.
        with socket.create_server(("127.0.0.1", 0), backlog=max(128, self.ranks)) as listener:
            variables["TUTTI_ROOT"] = f"127.0.0.1:{listener.getsockname()[1]}"
            for process in self.processes:
                own = dict(variables, TUTTI_RANK=str(process.rank), TUTTI_LOCAL_RANK=str(process.rank))
                descriptor = -1
                if process.rank == 0:
                    descriptor = listener.fileno()
                    own["TUTTI_ROOT_FD"] = str(descriptor)
                if method == "spawn":
                    self._spawn(process, payload, own, descriptor)
                else:
                    self._fork(process, call, own, descriptor)

    def _spawn(self, process: _Process, payload: bytes, variables: dict[str, str], listener: int) -> None:
        request_end, request = os.pipe()
        result, result_end = os.pipe()
        output, streams = self._output_pipes()
        environment = {k: v for k, v in os.environ.items() if k not in _ROOT_VARIABLES}
        environment.update(variables)
        try:
            child = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    "from tutti._rank import main; main()",
                    str(request_end),
                    str(result_end),
                    str(os.getpid()),
                ],
                stdin=subprocess.DEVNULL,
                stdout=streams[0] if streams else None,
                stderr=streams[1] if streams else None,
                env=dict(environment, PYTHONPATH=os.pathsep.join(filter(None, sys.path))),
                pass_fds=[request_end, result_end] + ([listener] if listener >= 0 else []),
                start_new_session=True,
            )
        except BaseException:
            os.close(request)
            os.close(result)
            raise
        finally:
            os.close(request_end)
            os.close(result_end)
            for each in streams:
                os.close(each)
        process.pid = child.pid
        self._spawned.append(child)
        self._watch_result(process, result)
        self._watch_output(output)
        try:
            with open(request, "wb") as to:
                to.write(payload)
        except BrokenPipeError:
            pass  # It has died; watch() finds that out.

    def _fork(
        self,
        process: _Process,
        call: tuple[Any, ...],
        variables: dict[str, str],
        listener: int,
    ) -> None:
        result, result_end = os.pipe()
        output, streams = self._output_pipes()
        parent = os.getpid()
        process.pid = os.fork()
        if process.pid == 0:
            code = 1
            try:
                os.setsid()
                die_with(parent)
                os.close(result)
                for each, number in zip(streams, (1, 2)):
                    os.dup2(each, number)
                if streams:
                    sys.stdout = open(1, "w", buffering=1, closefd=False)  # noqa: SIM115
                    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
                for name in _ROOT_VARIABLES:
                    os.environ.pop(name, None)
                os.environ.update(variables)
                if listener >= 0:
                    os.set_inheritable(listener, True)
                with open(result_end, "wb") as to:
                    report(perform(*call), to)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                leave(code)
        os.close(result_end)
        for each in streams:
            os.close(each)
        self._watch_result(process, result)
        self._watch_output(output)

    # Watching ------------------------------------------------------------------------------------

    def _output_pipes(self) -> tuple[list[tuple[int, TextIO]], list[int]]:
        """Pipes for the output of a rank, where sys.stdout is not that of the process: notebooks."""
        if _is_real(sys.stdout, 1) and _is_real(sys.stderr, 2):
            return [], []
        output: list[tuple[int, TextIO]] = []
        streams: list[int] = []
        for stream in (sys.stdout, sys.stderr):
            end, stream_end = os.pipe()
            output.append((end, stream))
            streams.append(stream_end)
        return output, streams

    def _watch_result(self, process: _Process, descriptor: int) -> None:
        process.result = descriptor
        self._selector.register(descriptor, selectors.EVENT_READ, process)

    def _watch_output(self, output: list[tuple[int, TextIO]]) -> None:
        for descriptor, stream in output:
            self._selector.register(descriptor, selectors.EVENT_READ, _Lines(stream))

    def watch(self, timeout: Optional[float], keep_going: bool) -> None:
        """Wait until all ranks have ended."""
        deadline = None if timeout is None else time.monotonic() + timeout
        end_at: Optional[float] = None
        while any(process.rank not in self.outcomes for process in self.processes):
            self._read(0.1)
            now = time.monotonic()
            if deadline is not None and now > deadline:
                late = [p.rank for p in self.processes if p.rank not in self.outcomes]
                self.end(signal.SIGTERM)
                raise TimeoutError(f"run: ranks {late} are not done after {timeout} s")
            has_failed = any(not ok for ok, _, _ in self.outcomes.values())
            if has_failed and not keep_going and end_at is None:
                end_at = now + _LINGER
            if end_at is not None and now > end_at:
                self.end(signal.SIGTERM)
                self._read(0)
                break
        for process in self.processes:
            self._await_end(process)
        self._drain()

    def _await_end(self, process: _Process) -> None:
        """After its result a rank ends by itself."""
        end = time.monotonic() + _LINGER
        while process.poll() is None and time.monotonic() < end:
            self._read(0.01)
        if process.poll() is None:
            process.signal(signal.SIGKILL)
            process.poll(wait=True)

    def _read(self, seconds: float) -> None:
        events = self._selector.select(seconds) if self._selector.get_map() else []
        for key, _ in events:
            data = os.read(key.fd, 1 << 16)
            if isinstance(key.data, _Process):
                key.data.data += data
                if not data:
                    self._selector.unregister(key.fd)
                    os.close(key.fd)
                    key.data.result = -1
                    self._note_end(key.data)
            else:
                key.data.write(data)
                if not data:
                    self._selector.unregister(key.fd)
                    os.close(key.fd)
        if events:
            return
        # A child of a rank may keep its pipe open after the rank has died.
        for process in self.processes:
            if process.rank not in self.outcomes and process.poll() is not None:
                self._note_end(process)

    def _note_end(self, process: _Process) -> None:
        if process.rank in self.outcomes:
            return
        if process.data:
            try:
                self.outcomes[process.rank] = pickle.loads(bytes(process.data))
                return
            except Exception as error:
                if process.poll() is None:
                    self.outcomes[process.rank] = (False, error, "")
                    return
        code = process.poll(wait=True)
        assert code is not None
        self.outcomes[process.rank] = (False, RankDied(process.rank, code), "")

    def _drain(self) -> None:
        """Pass on the rest of the output, but do not wait for processes that the ranks have left."""
        for _ in range(1000):
            events = self._selector.select(0) if self._selector.get_map() else []
            if not events:
                return
            self._read(0)

    # Ending --------------------------------------------------------------------------------------

    def end(self, number: int) -> None:
        """End all processes: by this signal, then by SIGKILL."""
        for process in self.processes:
            process.signal(number)
        end = time.monotonic() + _GRACE
        while time.monotonic() < end and any(p.pid > 0 and p.poll() is None for p in self.processes):
            self._read(0.02)
        for process in self.processes:
            process.signal(signal.SIGKILL)
            process.poll(wait=True)

    def close(self) -> None:
        for key in list(self._selector.get_map().values()):
            self._selector.unregister(key.fileobj)
            os.close(key.fd)
        self._selector.close()
        for child in self._spawned:
            child.returncode = 0  # Waited for above; keeps subprocess from warning.

    def results(self, keep_going: bool) -> list[Any]:
        results: dict[int, Any] = {}
        failures: dict[int, BaseException] = {}
        for rank, (ok, value, text) in self.outcomes.items():
            if ok:
                results[rank] = value
            else:
                if text and value.__cause__ is None:
                    value.__cause__ = RankTraceback(text)
                failures[rank] = value
        for process in self.processes:
            if process.rank not in self.outcomes:
                failures[process.rank] = RankDied(process.rank, process.exit_code or 0)
        if failures and not (keep_going and results):
            _raise(failures, results, self.ranks)
        return [results[r] if r in results else failures[r] for r in range(self.ranks)]


def _is_real(stream: Any, number: int) -> bool:
    try:
        return bool(stream.fileno() == number)
    except (AttributeError, OSError, ValueError):
        return False
