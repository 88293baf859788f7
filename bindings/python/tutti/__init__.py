"""tutti: collective communication between threads, processes and hosts.

A collective algorithm is a value: a schedule that is proved, priced, simulated, drawn and run. See
docs/python.md.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from ._algorithms import Algorithm, Formulas, Parameter, algorithms
from ._arrays import empty
from ._bucketer import Bucketer, BucketerCounters
from ._communicator import (
    Communicator,
    Counters,
    Envelope,
    Options,
    PeerCounters,
    Retried,
    Shrunk,
    Verdict,
    init,
    join,
    unique_id,
)
from ._core import Network, PreparedCall, Work
from ._cost import Bounds, Cost, Figures, bounds
from ._errors import (
    Aborted,
    Error,
    InternalError,
    InvalidArgument,
    Mismatch,
    PeerLost,
    RankDied,
    RunError,
    TimedOut,
    Unsupported,
    WrongType,
)
from ._launch import run, run_threads
from ._memory import empty_cache, use_shared_memory
from ._program import Program, Step
from ._schedule import Schedule, load_schedule, schedule
from ._simulation import Activity, LinkUse, Simulation
from ._trace import Trace
from ._verification import Verification, Violation

try:
    __version__ = version("tutti")
except PackageNotFoundError:  # Used from the source tree.
    __version__ = "0"

__all__ = [
    "Aborted",
    "Activity",
    "Algorithm",
    "Bounds",
    "Bucketer",
    "BucketerCounters",
    "Communicator",
    "Cost",
    "Counters",
    "Envelope",
    "Error",
    "Figures",
    "Formulas",
    "InternalError",
    "InvalidArgument",
    "LinkUse",
    "Mismatch",
    "Network",
    "Options",
    "Parameter",
    "PeerCounters",
    "PeerLost",
    "PreparedCall",
    "Program",
    "RankDied",
    "Retried",
    "RunError",
    "Schedule",
    "Shrunk",
    "Simulation",
    "Step",
    "TimedOut",
    "Trace",
    "Unsupported",
    "Verdict",
    "Verification",
    "Violation",
    "Work",
    "WrongType",
    "__version__",
    "algorithms",
    "bounds",
    "empty",
    "empty_cache",
    "init",
    "join",
    "load_schedule",
    "run",
    "run_threads",
    "schedule",
    "unique_id",
    "use_shared_memory",
]
