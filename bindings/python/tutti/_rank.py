"""A rank that tutti.run() has started: the side of the process."""

from __future__ import annotations

import ctypes
import importlib
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Mapping
from typing import Any, BinaryIO, Callable


class RankTraceback(Exception):
    """The traceback of an exception in the process of a rank, as text."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f'\n"""\n{self.text}"""'

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.text,))


def dumps(value: object) -> bytes:
    """Pickle a value, with functions and classes of a script or notebook by value if possible."""
    try:
        cloudpickle = importlib.import_module("cloudpickle")
    except ImportError:
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return bytes(cloudpickle.dumps(value))


def die_with(parent: int) -> None:
    """Let the kernel end this process when the process that called tutti.run() ends."""
    set_death_signal = 1
    try:
        ctypes.CDLL(None, use_errno=True).prctl(set_death_signal, signal.SIGKILL, 0, 0, 0)
    except (OSError, AttributeError):
        return
    if os.getppid() != parent:
        os._exit(1)


def perform(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    options: Mapping[str, Any],
) -> tuple[bool, Any, str]:
    """Join the group and call the function. Return whether it succeeded, its value, its traceback."""
    from ._communicator import _abort_quietly, describe, init

    communicator = None
    try:
        communicator = init(**options)
        value = function(communicator, *args, **kwargs)
        if not communicator.closed:
            communicator.close()
        return True, value, ""
    except BaseException as error:
        if communicator is not None:
            _abort_quietly(communicator, describe(error))
        return False, error, traceback.format_exc()


def report(outcome: tuple[bool, Any, str], to: BinaryIO) -> None:
    """Send the outcome to the process that called tutti.run()."""
    ok, value, text = outcome
    try:
        data = dumps(outcome)
        pickle.loads(data)
    except Exception as error:
        what = "result" if ok else "exception"
        words = f"the {what} of this rank cannot be pickled: {type(error).__name__}: {error}"
        if not ok:
            words = f"{type(value).__name__}: {value} ({words})"
        data = dumps((False, RuntimeError(words), text))
    to.write(data)
    to.flush()


def leave(code: int) -> None:
    """End the process without the exit handlers of the parent, whose objects a fork has copied."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
    os._exit(code)


def main() -> None:
    """Run the function that comes through a pipe: `python -c … REQUEST RESULT PARENT`."""
    request, result, parent = (int(each) for each in sys.argv[1:4])
    die_with(parent)
    with open(request, "rb") as source:
        path, payload = pickle.load(source)
    sys.path[:] = path
    sys.argv[1:] = []
    with open(result, "wb") as to:
        try:
            function, args, kwargs, options = pickle.loads(payload)
            outcome = perform(function, args, kwargs, options)
        except BaseException as error:
            outcome = (False, error, traceback.format_exc())
        report(outcome, to)
