"""Groups: split, ids, stores, lost ranks, and new ones."""

import os
import queue
import socket
import threading

import pytest

import tutti

np = pytest.importorskip("numpy")


def free_address():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def test_split_and_duplicate():
    def work(comm):
        half = comm.split(comm.rank % 2, key=-comm.rank + 4)
        none = comm.split(None if comm.rank == 0 else 0, timeout=5)
        twin = comm.duplicate()
        total = half.allreduce(np.array([comm.rank]))[0]
        assert (none is None) == (comm.rank == 0)
        twin.barrier()
        with pytest.raises(tutti.InvalidArgument, match="transport"):
            comm.duplicate(transport="tcp")
        return half.rank, half.size, total

    assert tutti.run_threads(work, 4) == [(1, 2, 2), (1, 2, 4), (0, 2, 2), (0, 2, 4)]


def test_unique_id():
    id_text = tutti.unique_id()
    results = queue.Queue()

    def rank(number):
        with tutti.init(id=id_text, rank=number, ranks=2) as comm:
            results.put(comm.allreduce(np.array([number + 1]))[0])

    threads = [threading.Thread(target=rank, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [results.get(), results.get()] == [3, 3]


class Store:
    """A key-value store of threads."""

    def __init__(self):
        self.values = {}
        self.changed = threading.Condition()

    def set(self, key, value):
        assert isinstance(value, bytes)
        with self.changed:
            self.values[key] = value
            self.changed.notify_all()

    def get(self, key):
        with self.changed:
            assert self.changed.wait_for(lambda: key in self.values, 20)
            return self.values[key]


def test_store():
    store = Store()
    sums = {}

    def rank(number):
        comm = tutti.init(store=store, rank=number, ranks=3, prefix="group")
        sums[number] = comm.allreduce(np.array([number]))[0]
        comm.close()

    threads = [threading.Thread(target=rank, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums == {0: 3, 1: 3, 2: 3}
    assert any(key.startswith("group") for key in store.values)


def test_store_that_fails():
    class Broken:
        def set(self, key, value):
            raise LookupError("no store here")

        def get(self, key):
            raise LookupError("no store here")

    with pytest.raises(LookupError, match="no store here"):
        tutti.init(store=Broken(), rank=0, ranks=2)


def survive(comm):
    x = np.full(4, comm.rank + 1.0)
    comm.allreduce(x)
    if comm.rank == 1:
        os._exit(3)
    try:
        comm.allreduce(np.full(4, comm.rank + 1.0))
    except tutti.PeerLost as error:
        assert error.ranks == (1,)
        assert comm.verdict.code == "peer_lost"
        smaller, gone, _ = comm.shrink()
        assert gone == (1,)
        return smaller.allreduce(np.ones(1))[0], smaller.rank, smaller.size


def test_shrink():
    results = tutti.run(survive, 3, keep_going=True)
    assert results[0] == (2, 0, 2)
    assert isinstance(results[1], tutti.RankDied)
    assert results[1].exit_code == 3
    assert results[2] == (2, 1, 2)


def shrink_too_early(comm):
    if comm.rank == 1:
        try:
            comm.broadcast(np.ones(4), root=7)
        except tutti.InvalidArgument:
            with pytest.raises(tutti.InvalidArgument, match="has not failed"):
                comm.shrink()
    return comm.allreduce(np.ones(1))[0], comm.verdict


def test_shrink_is_refused_if_nothing_has_failed():
    assert tutti.run(shrink_too_early, 3) == [(3, None)] * 3


def retry(comm):
    lost = []
    total = 0.0
    for step in range(4):
        x = np.full(2, 1.0)

        def call(group, x=x, step=step):
            if step == 2 and group.size == 3 and group.rank == 0:
                os._exit(0)
            group.allreduce(x)

        retried = comm.with_retry(call, x)
        lost.extend(retried.gone)
        total += x[0] / retried.ranks
    return lost, total, comm.size, comm.completed


def test_with_retry():
    results = tutti.run(retry, 3, keep_going=True)
    assert isinstance(results[0], tutti.RankDied)
    assert results[1:] == [([0], 4.0, 2, 4)] * 2


def test_own_errors_pass_through_with_retry():
    def work(comm):
        with pytest.raises(KeyError):
            comm.with_retry(lambda group: {}["missing"])

    tutti.run_threads(work, 1)


def test_grow_and_join():
    at = free_address()

    def joiner():
        with tutti.join(at, wait=20) as comm:
            sums.append((comm.rank, comm.allreduce(np.ones(1))[0]))

    sums = []
    thread = threading.Thread(target=joiner)
    thread.start()
    with tutti.init() as comm:
        larger = comm.grow(at, most=1, wait=20)
        assert larger is not None
        assert larger.allreduce(np.ones(1))[0] == 2
        larger.close()
    thread.join()
    assert sums == [(1, 2)]


def test_abort():
    def work(comm):
        if comm.rank == 2:
            comm.abort("enough")
            return None
        with pytest.raises(tutti.Aborted, match="rank 2 aborted it: enough") as caught:
            comm.barrier()
        return caught.value.ranks

    assert tutti.run_threads(work, 3) == [(2,), (2,), None]


def test_with_block_reports_an_exception():
    def work(comm):
        if comm.rank == 0:
            with pytest.raises(RuntimeError), comm:
                raise RuntimeError("my fault")
            return None
        with pytest.raises(tutti.Aborted, match="RuntimeError: my fault"):
            comm.barrier()
        return None

    tutti.run_threads(work, 2)
