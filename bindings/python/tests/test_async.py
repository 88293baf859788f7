"""Calls that run in the background, and waiting for them in asyncio."""

import asyncio
import gc
import threading
import time

import pytest

import tutti

np = pytest.importorskip("numpy")


def test_wait_returns_the_result(ranks):
    def work(comm):
        x = np.ones(1000)
        first = comm.allreduce(x, async_=True)
        second = comm.allgather(np.array([comm.rank]), async_=True)
        assert second.wait().tolist() == list(range(ranks))
        assert first.wait() is x
        assert first.done()
        assert "done" in repr(first)
        assert first.wait() is x
        return x[0]

    assert tutti.run_threads(work, ranks) == [ranks] * ranks


def test_dropped_work_completes():
    def work(comm):
        x = np.ones(10)
        for _ in range(5):
            comm.allreduce(x.copy(), async_=True)
        gc.collect()
        comm.allreduce(x)
        return x[0]

    assert tutti.run_threads(work, 3) == [3, 3, 3]


def test_timeout_of_wait():
    def work(comm):
        if comm.rank == 1:
            go.wait(20)
            comm.allreduce(np.ones(1))
            return
        work = comm.allreduce(np.ones(1), async_=True)
        assert not work.done()
        for patience in (0, 0.05):
            with pytest.raises(TimeoutError, match="under way"):
                work.wait(patience)
        go.set()
        return work.wait()[0]

    go = threading.Event()
    assert tutti.run_threads(work, 2)[0] == 2


def test_errors_of_calls_in_the_background():
    def work(comm):
        work = comm.allreduce(np.ones(1 + comm.rank), async_=True)
        with pytest.raises(tutti.Mismatch) as caught:
            work.wait()
        assert set(caught.value.calls) == {0, 1}
        with pytest.raises(tutti.Mismatch):
            work.wait()

    tutti.run_threads(work, 2)


def test_other_python_threads_run_while_a_call_waits():
    def work(comm):
        if comm.rank == 1:
            # Needs the GIL, which rank 0 must have released.
            for _ in range(100):
                time.sleep(0.001)
        comm.allreduce(np.ones(1))

    tutti.run_threads(work, 2)


def test_asyncio():
    def work(comm):
        async def main():
            x, y = np.ones(3), np.ones(3)
            first = comm.allreduce(x, async_=True)
            second = comm.allreduce(y, async_=True)
            ticks = 0

            async def tick():
                nonlocal ticks
                for _ in range(3):
                    await asyncio.sleep(0)
                    ticks += 1

            a, b, _ = await asyncio.gather(wait(first), wait(second), tick())
            assert ticks == 3
            assert a is x
            assert b is y
            assert await first is x
            return float(a[0] + b[0])

        async def wait(work):
            return await work

        return asyncio.run(main())

    assert tutti.run_threads(work, 2) == [4, 4]


def test_asyncio_waits_without_blocking_the_loop():
    def work(comm):
        async def main():
            work = comm.allreduce(np.ones(1), async_=True)
            waited = 0
            task = asyncio.ensure_future(wait(work))
            while not task.done():
                await asyncio.sleep(0.01)
                waited += 1
                if waited == 5:
                    go.set()
            return (await task)[0], waited

        async def wait(work):
            return await work

        if comm.rank == 1:
            go.wait(20)
            return comm.allreduce(np.ones(1))[0], 5
        return asyncio.run(main())

    go = threading.Event()
    (value, waited), _ = tutti.run_threads(work, 2)
    assert value == 2
    assert waited >= 5


def test_asyncio_error_and_cancel():
    def work(comm):
        async def main():
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(wait(comm.barrier(async_=True)), 0.05)
            go.set()
            with pytest.raises(tutti.Mismatch):
                await comm.allreduce(np.ones(2), async_=True)

        async def wait(work):
            await work

        if comm.rank == 0:
            asyncio.run(main())
            return
        go.wait(20)
        comm.barrier()
        with pytest.raises(tutti.Mismatch):
            comm.allreduce(np.ones(3))

    go = threading.Event()
    tutti.run_threads(work, 2)


def test_messages_in_the_background():
    def work(comm):
        other = 1 - comm.rank
        got = np.zeros(4)
        receive = comm.receive(got, other, 7, async_=True)
        send = comm.send(np.full(4, comm.rank + 1.0), other, 7, async_=True)
        assert receive.wait() is got
        send.wait()
        assert receive.envelope() == (other, 7, 32)
        return got[0]

    assert tutti.run_threads(work, 2) == [2, 1]
