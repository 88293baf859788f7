"""Communicators between Ray actors, whose unique id goes through Ray."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

pytest.importorskip("numpy")
pytest.importorskip("ray", reason="Ray is not installed")
EXAMPLE = Path(__file__).parents[3] / "examples" / "ray_actors.py"


def test_actors_form_a_group():
    # The paths of Ray's sockets may have 107 bytes.
    with tempfile.TemporaryDirectory(prefix="ray", dir="/tmp") as folder:
        environment = dict(os.environ, RAY_USAGE_STATS_ENABLED="0", RAY_TMPDIR=folder, HOME=folder)
        done = subprocess.run(
            [sys.executable, EXAMPLE], capture_output=True, text=True, timeout=180, env=environment
        )
    assert done.returncode == 0, done.stderr[-3000:]
    lines = done.stdout.splitlines()
    assert "average: [1.5, 1.5, 1.5, 1.5]" in lines, done.stdout
    assert "ranks left: [3, 3, 3]" in lines, done.stdout
