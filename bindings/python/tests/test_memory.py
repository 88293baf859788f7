"""NumPy arrays in the memory that the ranks of a host share."""

import gc
import os
import subprocess
import sys
import threading

import pytest

import tutti
from tutti import _core

np = pytest.importorskip("numpy", minversion="1.22")

LARGE = 100_000


def is_shared(array):
    return _core.is_shared(array.__array_interface__["data"][0])


def test_large_arrays_are_shared():
    with tutti.use_shared_memory():
        assert is_shared(np.empty(LARGE))
        assert is_shared(np.ones(LARGE) + 1)
        assert is_shared(np.arange(LARGE).astype("float32"))
        assert is_shared(np.empty(65536, np.uint8))
        assert not is_shared(np.empty(65535, np.uint8))
        kept = np.arange(LARGE)
    assert not is_shared(np.empty(LARGE))
    assert is_shared(kept)
    assert kept[-1] == LARGE - 1


def test_zeros_are_zero():
    with tutti.use_shared_memory("4KiB"):
        for size in (10, 1000, LARGE):
            for _ in range(3):
                x = np.zeros(size)
                assert not x.any()
                x[:] = 1
                y = np.full(size, 2.0)
                del x, y


@pytest.mark.parametrize("sizes", [(10, 200, 20_000, 40_000, 41_000, 1_000_000, 30_000, 100, 10, 0, 50_000)])
def test_resize_keeps_the_contents(sizes):
    with tutti.use_shared_memory():
        x = np.arange(sizes[0])
        for former, size in zip(sizes, sizes[1:]):
            x.resize(size, refcheck=False)
            both = min(former, size)
            assert (x[:both] == np.arange(both)).all()
            assert not x[both:].any()
            assert is_shared(x) == (x.nbytes >= 65536) or size == 0
            x[:] = np.arange(size)


def test_resize_of_an_array_made_before_and_after():
    before = np.arange(LARGE)
    with tutti.use_shared_memory():
        before.resize(2 * LARGE, refcheck=False)
        inside = np.arange(LARGE)
    inside.resize(2 * LARGE, refcheck=False)
    for x in (before, inside):
        assert (x[:LARGE] == np.arange(LARGE)).all()
        assert not x[LARGE:].any()
    assert not is_shared(before), "an array keeps the functions that made it"
    assert is_shared(inside)


def test_memory_is_used_again_and_returned():
    with tutti.use_shared_memory():
        tutti.empty_cache()
        x = np.full(LARGE, 7.0)
        address = x.__array_interface__["data"][0]
        del x
        x = np.empty(LARGE)
        assert x.__array_interface__["data"][0] == address
        del x
        tutti.empty_cache()
        assert not np.empty(LARGE).any()


def test_only_this_thread():
    found = []
    with tutti.use_shared_memory():
        thread = threading.Thread(target=lambda: found.append(np.empty(LARGE)))
        thread.start()
        thread.join()
        inside = [np.empty(LARGE)]
    # An array may be freed by another thread, without the handler.
    thread = threading.Thread(target=inside.clear)
    thread.start()
    thread.join()
    gc.collect()
    assert len(found) == 1


def test_nested():
    with tutti.use_shared_memory("1MiB"):
        assert not is_shared(np.empty(LARGE))
        with tutti.use_shared_memory("1KiB"):
            assert is_shared(np.empty(1000))
        assert not is_shared(np.empty(1000))


def test_without_a_block_until_the_interpreter_exits():
    program = (
        "import numpy as np, tutti, sys\n"
        "from tutti import _core\n"
        "tutti.use_shared_memory()\n"
        "sys.kept = np.ones(100000)\n"
        "print(_core.is_shared(sys.kept.__array_interface__['data'][0]), sys.kept.sum())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["True", "100000.0"], "")


def test_wrong_size():
    with pytest.raises(tutti.InvalidArgument, match="a size"):
        tutti.use_shared_memory("much")


def test_collectives():
    def work(comm):
        with tutti.use_shared_memory():
            x = np.full(LARGE, comm.rank + 1.0)
            comm.allreduce(x)
            return is_shared(x) and bool((x == 3).all())

    assert tutti.run_threads(work, 2) == [True, True]


def test_forked_child_sees_data_of_the_fork():
    with tutti.use_shared_memory():
        x = np.arange(LARGE)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(read, 1)
        os._exit(0 if (x == np.arange(LARGE)).all() else 1)
    x[:] = 2
    os.write(write, b"x")
    assert os.waitpid(child, 0)[1] == 0
    os.close(read)
    os.close(write)
