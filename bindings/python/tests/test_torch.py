"""torch CPU tensors as arrays of the package. The PyTorch backend has tests of its own."""

import threading

import pytest

import tutti

torch = pytest.importorskip("torch")


@pytest.mark.parametrize(
    "dtype",
    [
        torch.float32,
        torch.float64,
        torch.float16,
        torch.bfloat16,
        torch.int64,
        torch.uint8,
        torch.complex64,
    ],
)
def test_tensors(dtype):
    def work(comm):
        x = torch.full((2, 3), comm.rank + 1, dtype=dtype)
        assert comm.allreduce(x) is x
        gathered = comm.allgather(x)
        return x, gathered

    for x, gathered in tutti.run_threads(work, 2):
        assert (x == 3).all()
        assert gathered.shape == (4, 3)
        assert gathered.dtype == dtype


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_fp8_tensors(dtype):
    def work(comm):
        return comm.allreduce(torch.full((6,), comm.rank + 0.5).to(dtype))

    for x in tutti.run_threads(work, 2):
        assert x.dtype == dtype
        assert (x.float() == 2).all()


def test_tensors_that_are_refused():
    with tutti.init() as comm:
        with pytest.raises(tutti.InvalidArgument, match=r"x\.contiguous\(\)"):
            comm.allreduce(torch.zeros(4, 4).t())
        with pytest.raises(Exception, match="grad"):
            comm.allreduce(torch.zeros(4, requires_grad=True))
        with pytest.raises(Exception):
            comm.allreduce(torch.zeros(4, device="meta"))
        comm.allreduce(torch.zeros(4, requires_grad=True).detach())


def test_resizing_during_a_call_is_refused():
    def work(comm):
        if comm.rank == 1:
            go.wait(20)
            comm.allreduce(torch.ones(4))
            return None
        x = torch.ones(4)
        work = comm.allreduce(x, async_=True)
        with pytest.raises(RuntimeError, match="resiz"):
            x.resize_(1 << 20)
        go.set()
        return work.wait()[0].item()

    go = threading.Event()
    assert tutti.run_threads(work, 2)[0] == 2
