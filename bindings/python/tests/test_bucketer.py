"""Many arrays reduced in few calls."""

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
