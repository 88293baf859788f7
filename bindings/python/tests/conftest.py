"""Settings of all tests: only loopback, and no profile of the user."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

os.environ.setdefault("TUTTI_SOCKET_IFNAME", "lo")
os.environ["XDG_CONFIG_HOME"] = "/nonexistent"
# Ranks in new processes find the functions of test modules here.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(params=[1, 2, 3, 4])
def ranks(request: pytest.FixtureRequest) -> int:
    """Numbers of ranks that most tests run with."""
    return request.param
