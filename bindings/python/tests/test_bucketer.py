"""Many arrays reduced in few calls."""

import subprocess
import sys

import pytest

import tutti

np = pytest.importorskip("numpy")


def test_arrays_are_averaged(ranks):
    def work(comm):
        arrays = [np.full((3, n), comm.rank, np.float32) for n in (1, 50, 7)]
        bucketer = tutti.Bucketer(comm, arrays)
        assert len(bucketer) == 3
        for step in range(3):
            for i, each in enumerate(arrays):
                each[...] = comm.rank + step
                bucketer.ready(i)
            bucketer.finish()
            for each in arrays:
                np.testing.assert_allclose(each, step + (ranks - 1) / 2)
        assert bucketer.counters.steps == 3
        assert bucketer.state == "idle"
        return bucketer.buckets, repr(bucketer)

    buckets, text = tutti.run_threads(work, ranks)[0]
    assert buckets == 1
    assert "3 tensors" in text


def test_arrays_that_live_in_their_bucket():
    def work(comm):
        bucketer = tutti.Bucketer(comm, [((2, 2), "float64"), (3, np.float64)], "sum")
        bucketer.array(0)[...] = comm.rank + 1
        bucketer.array(1)[...] = 1
        bucketer.ready(1)
        bucketer.ready(0)
        bucketer.wait(0)
        assert bucketer.done(0)
        bucketer.finish()
        counters = bucketer.counters
        assert counters.bytes_copied_in == 0
        return bucketer.array(0).tolist(), bucketer.array(1).tolist()

    assert tutti.run_threads(work, 2) == [([[3, 3], [3, 3]], [2, 2, 2])] * 2


def test_an_array_keeps_the_memory_of_its_bucket():
    def work(comm):
        bucketer = tutti.Bucketer(comm, [(1 << 20, "float32")])
        array = bucketer.array(0)
        del bucketer
        array[...] = 3  # Would crash if the memory were gone.
        return float(array.sum())

    assert tutti.run_threads(work, 2) == [3 << 20] * 2


def test_traffic_is_that_of_a_ring():
    def work(comm):
        bucketer = tutti.Bucketer(comm, [np.zeros(3 * 100, np.float32)], algorithm="allreduce/ring")
        before = bucketer.traffic.total.bytes_sent
        bucketer.ready(0)
        bucketer.finish()
        return bucketer.traffic.total.bytes_sent - before

    assert tutti.run_threads(work, 3) == [2 * 2 * 100 * 4] * 3


def test_the_interpreter_exits_after_a_bucketer_was_refused():
    code = """
import numpy as np, tutti
def work(comm):
    try:
        tutti.Bucketer(comm, [np.zeros(1 + comm.rank)])
    except tutti.Mismatch:
        pass
tutti.run_threads(work, 2)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_errors():
    def work(comm):
        with pytest.raises(tutti.Mismatch):
            tutti.Bucketer(comm, [np.zeros(1 + comm.rank)])
        bucketer = tutti.Bucketer(comm, [np.zeros(2)])
        with pytest.raises(tutti.InvalidArgument):
            bucketer.finish()
        with pytest.raises(tutti.InvalidArgument):
            bucketer.ready(5)
        with pytest.raises(tutti.InvalidArgument):
            tutti.Bucketer(comm, [np.zeros((2, 2)).T[:1]])

    tutti.run_threads(work, 2)
