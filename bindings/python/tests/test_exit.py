"""Ctrl-C, and interpreters that exit while calls are under way: no crash, no hang."""

import signal
import subprocess
import sys
import textwrap
import time

import pytest

import tutti

np = pytest.importorskip("numpy")


def run_script(body, **options):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(body)],
        capture_output=True,
        text=True,
        timeout=60,
        # A shell starts its background jobs with this signal ignored, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **options,
    )


PAIR = """
import os, sys, time, signal, threading
import numpy as np
import tutti
from array import array

def rank(number, id_text):
    return tutti.init(id=id_text, rank=number, ranks=2, timeout=20)

def child(body):
    # Rank 1 in another process, which gets the id of this one.
    import subprocess
    id_text = tutti.unique_id()
    program = "import sys, os, time\\nimport numpy as np\\nimport tutti\\n" \\
        "comm = tutti.init(id=sys.argv[1], rank=1, ranks=2, timeout=20)\\n" + body
    other = subprocess.Popen([sys.executable, "-c", program, id_text],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return tutti.init(id=id_text, rank=0, ranks=2, timeout=20), other
"""

WAITS = """
try:
    comm.allreduce(np.ones(4))
except tutti.Error as error:
    print(type(error).__name__, error.ranks, error)
"""


@pytest.mark.parametrize(
    "call",
    [
        "comm.allreduce(np.ones(4), site='x')",
        "comm.receive(np.ones(4), 1)",
        "comm.allreduce(np.ones(4), async_=True).wait()",
        "comm.allreduce(np.ones(4), async_=True); comm.allreduce(np.ones(4))",
    ],
)
def test_ctrl_c_aborts_and_names_the_rank(call):
    late = WAITS.replace("try:", "time.sleep(1.5)\ntry:")
    out = run_script(
        PAIR
        + f"""
comm, other = child({late!r})
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    {call}
except KeyboardInterrupt:
    print("interrupted")
print(other.communicate()[0])
"""
    )
    assert "interrupted" in out.stdout, out.stdout + out.stderr
    assert "Aborted (0,)" in out.stdout  # Rank 1 came later: the call had not waited for it.
    assert "KeyboardInterrupt" in out.stdout


def test_own_signal_handler_does_not_end_the_call():
    out = run_script(
        PAIR
        + """
comm, other = child("time.sleep(2); comm.allreduce(np.ones(4))")
is_over = False
signal.signal(signal.SIGUSR1, lambda *_: print("handled", not is_over, flush=True))
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
total = comm.allreduce(np.ones(4))
is_over = True
print(total)
"""
    )
    assert out.stdout.splitlines()[0] == "handled True", out.stdout + out.stderr
    assert "[2. 2. 2. 2.]" in out.stdout


def test_ctrl_c_while_ranks_are_missing():
    begun = time.monotonic()
    out = run_script(
        PAIR
        + """
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    tutti.init(id=tutti.unique_id(), rank=0, ranks=2)
except KeyboardInterrupt:
    print("interrupted")
"""
    )
    assert out.stdout.strip() == "interrupted", out.stderr
    assert time.monotonic() - begun < 20


def test_exit_completes_a_call_in_the_background():
    out = run_script(
        PAIR
        + """
comm, other = child("time.sleep(0.3); print(comm.allreduce(np.ones(4)))")
work = comm.allreduce(np.ones(4), async_=True)
import atexit
atexit._run_exitfuncs()
print(other.communicate()[0])
"""
    )
    assert "[2. 2. 2. 2.]" in out.stdout, out.stdout + out.stderr
    assert out.returncode == 0


@pytest.mark.parametrize("keeps", ["work = ", ""])
def test_exit_with_a_call_that_never_ends(keeps):
    out = run_script(
        PAIR
        + f"""
import tutti._communicator
tutti._communicator._EXIT_PATIENCE = 0.2
comm, other = child("time.sleep(3)")
{keeps}comm.allreduce(np.ones(1 << 20), async_=True)
"""
    )
    assert out.returncode == 0, out.stderr
    assert out.stderr == ""


def test_exit_with_a_daemon_thread_in_a_call():
    out = run_script(
        PAIR
        + """
comm, other = child("time.sleep(2)")
threading.Thread(target=lambda: comm.allreduce(np.ones(4)), daemon=True).start()
time.sleep(0.3)
"""
    )
    assert out.returncode == 0, out.stderr
    assert "terminate" not in out.stderr


def test_uncaught_exception_is_the_reason_that_others_get():
    out = run_script(
        PAIR
        + f"""
comm, other = child({WAITS!r})
def show(*_):
    pass
import atexit
atexit.register(lambda: None)
sys.excepthook = lambda *a: None
other_out = other
def last():
    print(other_out.communicate()[0])
import tutti._communicator as c
atexit.unregister(c._at_exit)
atexit.register(last)
atexit.register(c._at_exit)
raise ValueError("broken model")
"""
    )
    assert "Aborted (0,)" in out.stdout, out.stdout + out.stderr
    assert "ValueError: broken model" in out.stdout


def test_fork_child_leaves_the_parent_alone():
    def work(comm):
        import os

        if comm.rank == 0:
            pid = os.fork()
            if pid == 0:
                try:
                    comm.allreduce(np.ones(1))
                except tutti.Aborted:
                    os._exit(7)
                os._exit(1)
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        return comm.allreduce(np.ones(1))[0]

    assert tutti.run(work, 2, method="spawn") == [2, 2]


def interrupted_run(comm):
    comm.barrier()
    time.sleep(30)


def test_ctrl_c_ends_the_ranks_of_run():
    out = run_script("""
import os, signal, sys, threading, time
import tutti

def rank(comm):
    os.write(1, f"{os.getpid()}\\n".encode())  # In one piece, as the other rank writes too.
    time.sleep(30)

threading.Timer(3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    tutti.run(rank, 2, method="fork")
except KeyboardInterrupt:
    print("interrupted")
""")
    *pids, last = out.stdout.split()
    assert last == "interrupted", out.stderr
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            import os

            os.kill(int(pid), 0)


def test_signal_numbers():
    assert tutti.RankDied(0, -signal.SIGTERM).signal == signal.SIGTERM
