"""Ranks as processes and threads: results, exceptions, deaths."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import tutti

np = pytest.importorskip("numpy")


def add(comm, start, *, scale=1):
    x = np.array([start + comm.rank]) * scale
    comm.allreduce(x)
    return comm.rank, comm.size, int(x[0])


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_results_in_rank_order(method):
    expected = [(r, 3, 2 * (30 + 3)) for r in range(3)]
    assert tutti.run(add, 3, (10,), {"scale": 2}, method=method) == expected


def test_functions_of_a_script_or_notebook():
    offset = 5

    def local(comm):
        return comm.allgather_object(comm.rank + offset)

    pytest.importorskip("cloudpickle")
    assert tutti.run(local, 2) == [[5, 6], [5, 6]]
    assert tutti.run(local, 2, method="fork") == [[5, 6], [5, 6]]


SCRIPT = """
import numpy as np
import tutti

def train(comm):
    return comm.allreduce(np.ones(2)).tolist()

print(tutti.run(train, ranks=2{method}))
"""


@pytest.mark.parametrize("method", ["", ', method="fork"'])
def test_script_without_a_main_guard(tmp_path, method):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(method=method))
    out = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert out.stdout.strip() == "[[2.0, 2.0], [2.0, 2.0]]", out.stderr


def test_without_cloudpickle_functions_of_a_script_are_forked(tmp_path):
    (tmp_path / "cloudpickle.py").write_text("raise ImportError('hidden')")
    script = tmp_path / "script.py"
    hide = (
        "import sys\nsys.meta_path.insert(0, type('H', (), {'find_spec': staticmethod("
        "lambda name, *a: None)})())\nimport importlib.util\nreal = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda n, *a: None if n == 'cloudpickle' else real(n, *a)\n"
    )
    script.write_text(hide + SCRIPT.format(method=""))
    out = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert out.stdout.strip() == "[[2.0, 2.0], [2.0, 2.0]]", out.stderr


def fail(comm):
    if comm.rank == 1:
        raise ZeroDivisionError("of rank 1")
    comm.barrier()


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_exceptions_come_back(method):
    begun = time.monotonic()
    with pytest.raises(tutti.RunError, match="rank 1 of 3 failed: ZeroDivisionError") as caught:
        tutti.run(fail, 3, method=method)
    error = caught.value
    assert isinstance(error.__cause__, ZeroDivisionError)
    assert "in fail" in str(error.__cause__.__cause__)
    assert isinstance(error.failures[0], tutti.Aborted)
    assert error.failures[0].ranks == (1,)
    assert "ZeroDivisionError: of rank 1" in str(error.failures[2])
    assert time.monotonic() - begun < 30


def die(comm):
    if comm.rank == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    comm.barrier()


def test_a_rank_that_dies_is_reported():
    with pytest.raises(tutti.RunError, match="rank 0 was killed by SIGKILL") as caught:
        tutti.run(die, 2)
    assert caught.value.failures[0].signal == signal.SIGKILL
    lost = caught.value.failures[1]
    assert isinstance(lost, tutti.PeerLost)
    assert lost.ranks == (0,)


def sleep(comm):
    time.sleep(60)


def test_timeout_of_the_run():
    with pytest.raises(TimeoutError, match=r"ranks \[0, 1\] are not done"):
        tutti.run(sleep, 2, timeout=2)


class Odd(Exception):
    def __init__(self, a, b):
        super().__init__(a)
        self.b = b


def odd(comm):
    raise Odd("first", "second")


def test_what_cannot_be_pickled():
    handle = threading.Lock()
    with pytest.raises(tutti.InvalidArgument, match="cannot be sent"):
        tutti.run(add, 2, (handle,), method="spawn")
    with pytest.raises(tutti.RunError, match="Odd: first"):
        tutti.run(odd, 1)


def talk(comm):
    print("rank", comm.rank, "speaks", flush=True)
    print("complaint", file=sys.stderr, flush=True)


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_output_reaches_python_streams(capsys, method):
    tutti.run(talk, 2, method=method)
    out, err = capsys.readouterr()
    assert sorted(out.splitlines()) == ["rank 0 speaks", "rank 1 speaks"]
    assert err.count("complaint") == 2


def environment(comm):
    return os.environ["COLOUR"], comm.description


def test_environment_and_options():
    results = tutti.run(environment, 2, environment={"COLOUR": "red"}, options={"transport": "tcp"})
    assert all(colour == "red" and "TCP" in how for colour, how in results)


def test_wrong_arguments():
    with pytest.raises(tutti.InvalidArgument):
        tutti.run(add, 0)
    with pytest.raises(tutti.InvalidArgument):
        tutti.run("add", 2)
    with pytest.raises(tutti.InvalidArgument, match="'spawn' or 'fork'"):
        tutti.run(add, 2, method="beam")
    with pytest.raises(tutti.InvalidArgument):
        tutti.run_threads(add, 0)


def test_threads_exceptions():
    with pytest.raises(tutti.RunError) as caught:
        tutti.run_threads(fail, 2)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert isinstance(caught.value.failures[0], tutti.Aborted)


def test_under_a_launcher():
    launcher = os.environ.get("TUTTI_COMMAND")
    if not launcher:
        pytest.skip("TUTTI_COMMAND does not name the command tutti")
    program = (
        "import tutti, array; c = tutti.init(); x = array.array('d', [1]); c.allreduce(x); "
        "print(c.size, x[0])"
    )
    out = subprocess.run(
        [launcher, "run", "-n", "3", "--no-prefix", "--", sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert out.stdout.splitlines() == ["3 3.0"] * 3, out.stderr
