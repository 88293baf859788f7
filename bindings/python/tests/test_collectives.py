"""Every collective, on arrays of all kinds, with ranks as threads."""

from array import array

import pytest

import tutti

np = pytest.importorskip("numpy")

DTYPES = [
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


def test_allreduce_in_place_returns_its_argument(ranks):
    def work(comm):
        x = np.arange(5, dtype=np.float32) + comm.rank
        assert comm.allreduce(x) is x
        return x

    expected = np.arange(5) * ranks + sum(range(ranks))
    for x in tutti.run_threads(work, ranks):
        np.testing.assert_array_equal(x, expected)


def test_allreduce_out_of_place_keeps_its_input(ranks):
    def work(comm):
        x = np.full((2, 3), comm.rank + 1, dtype=np.int64)
        out = np.zeros((2, 3), dtype=np.int64)
        assert comm.allreduce(x, "max", out) is out
        assert (x == comm.rank + 1).all()
        return out

    for out in tutti.run_threads(work, ranks):
        assert (out == ranks).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_allreduce_of_every_dtype(dtype):
    def work(comm):
        return comm.allreduce(np.full(7, comm.rank + 1, dtype=dtype))

    for x in tutti.run_threads(work, 3):
        assert x.dtype == dtype
        assert (x == 6).all()


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("sum", 6),
        ("prod", 6),
        ("min", 1),
        ("max", 3),
        ("avg", 2),
        ("band", 0),
        ("bor", 3),
        ("bxor", 0),
    ],
)
def test_ops(op, expected):
    for x in tutti.run_threads(lambda comm: comm.allreduce(np.array([comm.rank + 1]), op=op), 3):
        assert x[0] == expected


def test_booleans():
    def work(comm):
        own = np.array([comm.rank == 0, True, False])
        every = comm.allreduce(own.copy(), "min")
        some = comm.allreduce(own.copy(), "bor")
        with pytest.raises(tutti.InvalidArgument, match="any\\(\\)"):
            comm.allreduce(own, "sum")
        return every.tolist(), some.tolist()

    for every, some in tutti.run_threads(work, 2):
        assert every == [False, True, False]
        assert some == [True, True, False]


def test_own_function():
    def work(comm):
        x = np.array([comm.rank + 1.0, -comm.rank])
        return comm.allreduce(x, op=lambda a, b: np.hypot(a, b))

    for x in tutti.run_threads(work, 3):
        np.testing.assert_allclose(x, [np.sqrt(1 + 4 + 9), np.sqrt(0 + 1 + 4)])


def test_exception_of_own_function_comes_back():
    def work(comm):
        def fail(a, b):
            raise KeyError("mine")

        comm.allreduce(np.ones(3), op=fail)

    with pytest.raises(tutti.RunError) as caught:
        tutti.run_threads(work, 2)
    kinds = {type(error) for error in caught.value.failures.values()}
    assert KeyError in kinds
    assert kinds <= {KeyError, tutti.Aborted}


def test_broadcast(ranks):
    root = ranks - 1

    def work(comm):
        x = np.arange(4.0) if comm.rank == root else np.zeros(4)
        if comm.rank == root:
            x.flags.writeable = False
        comm.broadcast(x, root)
        return x

    for x in tutti.run_threads(work, ranks):
        np.testing.assert_array_equal(x, np.arange(4.0))


def test_reduce(ranks):
    def work(comm):
        x = np.full(3, comm.rank + 1)
        out = np.zeros(3, dtype=x.dtype) if comm.rank == 0 else None
        comm.reduce(x, "sum", 0, out)
        return x, out

    results = tutti.run_threads(work, ranks)
    assert (results[0][1] == ranks * (ranks + 1) // 2).all()
    assert all((x == rank + 1).all() for rank, (x, _) in enumerate(results))


def test_allgather_concatenates(ranks):
    def work(comm):
        x = np.full((2, 3), comm.rank)
        return comm.allgather(x)

    for out in tutti.run_threads(work, ranks):
        assert out.shape == (2 * ranks, 3)
        for r in range(ranks):
            assert (out[2 * r : 2 * r + 2] == r).all()


def test_allgather_of_scalars(ranks):
    for out in tutti.run_threads(lambda comm: comm.allgather(np.array(comm.rank)), ranks):
        assert out.tolist() == list(range(ranks))


def test_allgather_with_counts_of_rows(ranks):
    counts = [r + 1 for r in range(ranks)]

    def work(comm):
        return comm.allgather(np.full((counts[comm.rank], 2), comm.rank), counts=counts)

    expected = [[r, r] for r in range(ranks) for _ in range(r + 1)]
    for out in tutti.run_threads(work, ranks):
        assert out.tolist() == expected


def test_gather_and_scatter(ranks):
    root = ranks // 2

    def work(comm):
        gathered = comm.gather(np.array([comm.rank, 10 * comm.rank]), root)
        own = np.zeros(2, dtype=np.int64)
        if comm.rank == root:
            assert gathered.tolist() == [v for r in range(ranks) for v in (r, 10 * r)]
            comm.scatter(gathered * 2, root, own)
        else:
            assert gathered is None
            comm.scatter(None, root, own)
        return own.tolist()

    assert tutti.run_threads(work, ranks) == [[2 * r, 20 * r] for r in range(ranks)]


def test_scatter_with_counts():
    counts = [1, 0, 3]

    def work(comm):
        x = np.arange(4.0) if comm.rank == 0 else None
        out = np.zeros(counts[comm.rank])
        comm.scatter(x, 0, out, counts)
        return out.tolist()

    assert tutti.run_threads(work, 3) == [[0], [], [1, 2, 3]]


def test_gather_with_counts():
    def work(comm):
        return comm.gather(np.full(comm.rank, comm.rank, np.int32), 0, None, [0, 1, 2])

    first, *others = tutti.run_threads(work, 3)
    assert first.tolist() == [1, 2, 2]
    assert others == [None, None]


def test_reduce_scatter(ranks):
    def work(comm):
        blocks = comm.reduce_scatter(np.arange(2.0 * ranks))
        uneven = comm.reduce_scatter(np.ones(sum(range(ranks + 1))), counts=[r + 1 for r in range(ranks)])
        return blocks.tolist(), uneven.tolist()

    for rank, (blocks, uneven) in enumerate(tutti.run_threads(work, ranks)):
        assert blocks == [2 * rank * ranks, (2 * rank + 1) * ranks]
        assert uneven == [ranks] * (rank + 1)


def test_alltoall(ranks):
    def work(comm):
        x = np.array([10 * comm.rank + d for d in range(ranks)])
        same = comm.alltoall(x)
        counts = [d for d in range(ranks)]
        out = comm.alltoall(
            np.repeat(np.arange(ranks), counts), counts=counts, out_counts=[comm.rank] * ranks
        )
        return same.tolist(), out.tolist()

    for rank, (same, out) in enumerate(tutti.run_threads(work, ranks)):
        assert same == [10 * s + rank for s in range(ranks)]
        assert out == [rank] * (rank * ranks)


def test_barrier_and_empty_arrays(ranks):
    def work(comm):
        comm.barrier()
        assert comm.allreduce(np.zeros((0, 3))).shape == (0, 3)
        assert comm.allgather(np.zeros((0, 3))).shape == (0, 3)

    tutti.run_threads(work, ranks)


def test_options_of_a_call():
    def work(comm):
        x = np.ones(8)
        comm.allreduce(
            x,
            algorithm="allreduce/ring",
            timeout=5,
            site="here",
            keep_input=True,
            reproducible="order",
        )
        return x

    with pytest.raises(tutti.RunError) as caught:  # The ring adds in another order.
        tutti.run_threads(work, 3)
    assert isinstance(caught.value.__cause__, tutti.Unsupported)
    for x in tutti.run_threads(
        lambda comm: comm.allreduce(np.ones(8), algorithm="allreduce/ring", timeout=5), 3
    ):
        assert (x == 3).all()


def test_exact_sums():
    def work(comm):
        values = np.array([1e100, 1.0, -1e100])[comm.rank : comm.rank + 1].copy()
        return comm.allreduce(values, reproducible="exact")[0]

    assert tutti.run_threads(work, 3) == [1.0, 1.0, 1.0]


def test_counters_and_description():
    def work(comm):
        comm.allreduce(np.ones(1024, np.float32))
        counters = comm.counters("allreduce")
        assert "2 ranks" in repr(comm)
        assert comm.algorithm_for("allreduce", 1024).startswith("allreduce/")
        return counters.calls, counters.total.bytes_sent

    for calls, sent in tutti.run_threads(work, 2):
        assert calls == 1
        assert sent > 0


def test_arrays_without_numpy():
    def work(comm):
        x = array("d", [1.0, comm.rank])
        comm.allreduce(x)
        gathered = comm.allgather(array("i", [comm.rank]))
        view = memoryview(bytearray(4)).cast("I")
        view[0] = comm.rank + 1
        comm.allreduce(view)
        return x.tolist(), list(gathered), view[0]

    assert tutti.run_threads(work, 2) == [([2.0, 1.0], [0, 1], 3)] * 2


def test_types_that_are_only_moved():
    kind = np.dtype([("a", "i4"), ("b", "f8")])

    def work(comm):
        x = np.zeros(2, kind)
        times = np.zeros(1, "M8[ns]")
        if comm.rank == 0:
            x["b"] = 2.5
            times[0] = np.datetime64("2020-02-02")
        comm.broadcast(x)
        comm.broadcast(times)
        gathered = comm.allgather(x[:1])
        with pytest.raises(tutti.WrongType, match="cannot be reduced"):
            comm.allreduce(x)
        return x["b"].tolist(), str(times[0])[:10], gathered.shape

    for b, day, shape in tutti.run_threads(work, 2):
        assert b == [2.5, 2.5]
        assert day == "2020-02-02"
        assert shape == (2,)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_types_of_ml_dtypes(name):
    dtype = getattr(pytest.importorskip("ml_dtypes"), name)

    def work(comm):
        x = np.full(5, comm.rank + 0.5, dtype)
        comm.allreduce(x)
        gathered = comm.allgather(x)
        return x, gathered

    for x, gathered in tutti.run_threads(work, 2):
        assert (x == 2).all()
        assert gathered.dtype == dtype
        assert gathered.shape == (10,)
    assert tutti.empty(5, name).dtype == dtype


def test_shared_memory_arrays():
    x = tutti.empty((3, 4), "float32")
    assert x.shape == (3, 4)
    assert (x == 0).all()
    assert tutti.empty(0).shape == (0,)
    view = x[1:]
    del x
    view += 1  # The memory lives as long as a view of it.
    assert view.sum() == 8
    with pytest.raises(tutti.InvalidArgument):
        tutti.empty(3, object)

    def work(comm):
        own = tutti.empty(1000, np.float64)
        own += comm.rank
        comm.allreduce(own)
        return own[0]

    assert tutti.run_threads(work, 3) == [3, 3, 3]
