"""Point-to-point messages, and calls that take any Python object."""

import pytest

import tutti

np = pytest.importorskip("numpy")


def test_ring_of_messages(ranks):
    def work(comm):
        right, left = (comm.rank + 1) % ranks, (comm.rank - 1) % ranks
        got = np.zeros(3)
        out = np.full(3, float(comm.rank))
        envelope = comm.send_receive(out, right, got, left)
        assert envelope == tutti.Envelope(left, 0, 24)
        return got[0]

    assert tutti.run_threads(work, ranks) == [(r - 1) % ranks for r in range(ranks)]


def test_tags_any_rank_and_probe():
    def work(comm):
        if comm.rank > 0:
            comm.send(np.full(comm.rank, comm.rank, np.int32), 0, tag=comm.rank)
            return None
        seen = {}
        for _ in range(2):
            envelope = comm.probe()
            buffer = np.zeros(envelope.bytes // 4, np.int32)
            assert comm.receive(buffer, envelope.rank, envelope.tag) == envelope
            seen[envelope.tag] = buffer.tolist()
        assert comm.try_probe() is None
        return seen

    assert tutti.run_threads(work, 3)[0] == {1: [1], 2: [2, 2]}


def test_shorter_messages():
    def work(comm):
        if comm.rank == 0:
            comm.send(b"abc", 1)
            comm.send(b"abc", 1)
            return None
        buffer = bytearray(10)
        envelope = comm.receive(buffer, 0, may_be_shorter=True)
        with pytest.raises(tutti.Mismatch):
            comm.receive(buffer, 0)
        return bytes(buffer[: envelope.bytes])

    assert tutti.run_threads(work, 2)[1] == b"abc"


def test_objects(ranks):
    def work(comm):
        value = {"rank": comm.rank, "text": "x" * comm.rank}
        assert comm.broadcast_object(value, ranks - 1)["rank"] == ranks - 1
        every = comm.allgather_object(value)
        assert [each["rank"] for each in every] == list(range(ranks))
        gathered = comm.gather_object(comm.rank**2)
        assert gathered == ([r**2 for r in range(ranks)] if comm.rank == 0 else None)
        own = comm.scatter_object([f"for {r}" for r in range(ranks)] if comm.rank == 0 else None)
        assert own == f"for {comm.rank}"
        assert comm.allreduce_object({comm.rank}, lambda a, b: a | b) == set(range(ranks))
        assert comm.alltoall_object([(comm.rank, d) for d in range(ranks)]) == [
            (s, comm.rank) for s in range(ranks)
        ]

    tutti.run_threads(work, ranks)


def test_messages_of_objects():
    def work(comm):
        if comm.rank == 0:
            comm.send_object([1, "two", None], 1, tag=5)
            return comm.receive_object()
        got = comm.receive_object(0, 5)
        comm.send_object(len(got), 0)
        return got

    assert tutti.run_threads(work, 2) == [3, [1, "two", None]]


def test_wrong_objects():
    def work(comm):
        with pytest.raises(tutti.InvalidArgument, match="one value for each"):
            comm.alltoall_object([1])
        with pytest.raises(Exception, match="pickle|local object"):  # The words of Python 3.13.
            comm.allgather_object(lambda: 0)

    tutti.run_threads(work, 2)
