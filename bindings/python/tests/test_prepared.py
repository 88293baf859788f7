"""Collectives that are prepared once and made many times."""

import gc

import pytest

import tutti

np = pytest.importorskip("numpy")

CALLS = {
    "allreduce": lambda comm, prepare: prepare("allreduce", np.zeros(1000)),
    "allreduce into out": lambda comm, prepare: prepare(
        "allreduce", np.zeros(1000), "max", out=np.zeros(1000)
    ),
    "broadcast": lambda comm, prepare: prepare("broadcast", np.zeros(1000), root=1),
    "reduce": lambda comm, prepare: prepare("reduce", np.zeros(1000), root=1),
    "allgather": lambda comm, prepare: prepare("allgather", np.zeros((2, 3))),
    "allgather of rows": lambda comm, prepare: prepare(
        "allgather", np.zeros(comm.rank + 1), counts=[1, 2, 3]
    ),
    "gather": lambda comm, prepare: prepare("gather", np.zeros(5), root=2),
    "scatter": lambda comm, prepare: prepare("scatter", np.zeros(6), root=0, out=np.zeros(2)),
    "reduce_scatter": lambda comm, prepare: prepare("reduce_scatter", np.zeros(6)),
    "alltoall": lambda comm, prepare: prepare("alltoall", np.zeros(6)),
}


@pytest.mark.parametrize("name", CALLS)
def test_does_what_the_plain_call_does(name):
    def work(comm):
        def prepare(method, x, *arguments, **named):
            call = getattr(comm, "prepare_" + method)(x, *arguments, **named)
            same = np.zeros_like(x)
            if "out" in named:
                named["out"] = np.zeros_like(named["out"])
            return x, same, call, lambda: getattr(comm, method)(same, *arguments, **named)

        x, same, call, plain = CALLS[name](comm, prepare)
        for round in range(4):
            x[...] = same[...] = np.arange(x.size).reshape(x.shape) + 10 * comm.rank + round
            found = call.start().wait() if round % 2 else call.run()
            expected = plain()
            assert (found is None) == (expected is None)
            if expected is not None:
                np.testing.assert_array_equal(found, expected)

    tutti.run_threads(work, 3)


def test_returns_the_same_object_each_time():
    def work(comm):
        x = np.ones(10)
        call = comm.prepare_allreduce(x)
        assert isinstance(call, tutti.PreparedCall)
        assert call.run() is x
        gathered = comm.prepare_allgather(x)
        assert gathered.run() is gathered.run()
        comm.prepare_barrier().run()

    tutti.run_threads(work, 2)


def test_keeps_its_arrays():
    def work(comm):
        call = comm.prepare_allreduce(np.ones(100_000), site="no other name has this array")
        gc.collect()
        assert call.run()[0] == 2
        work = call.start()
        del call
        gc.collect()
        return work.wait()[-1]

    assert tutti.run_threads(work, 2) == [4, 4]


def test_runs_behind_asynchronous_calls():
    def work(comm):
        x = np.ones(50_000)
        call = comm.prepare_allreduce(x)
        first = [comm.allreduce(x, async_=True) for _ in range(3)]
        call.run()
        for each in first:
            assert each.done()
        return x[0]

    assert tutti.run_threads(work, 2) == [16, 16]


def test_refuses_wrong_arguments():
    def work(comm):
        with pytest.raises(tutti.InvalidArgument, match="out has 3 elements"):
            comm.prepare_allreduce(np.ones(4), out=np.ones(3))
        with pytest.raises(TypeError, match="prepare_allreduce.*async_"):
            comm.prepare_allreduce(np.ones(4), async_=True)
        with pytest.raises(tutti.InvalidArgument, match="no/algorithm"):
            comm.prepare_allreduce(np.ones(4), algorithm="no/algorithm")

    tutti.run_threads(work, 2)


def test_ends_with_its_communicator():
    def work(comm):
        twin = comm.duplicate()
        call = twin.prepare_allreduce(np.ones(4))
        call.run()
        twin.close()
        for use in (call.run, call.start):
            with pytest.raises(tutti.Aborted, match="closed"):
                use()

    tutti.run_threads(work, 2)


def test_raises_the_verdict():
    def work(comm):
        call = comm.prepare_allreduce(np.ones(4), timeout=20)
        call.run()
        if comm.rank == 0:
            comm.abort("enough")
        with pytest.raises(tutti.Aborted, match="enough"):
            while True:
                call.run()

    tutti.run_threads(work, 2)
