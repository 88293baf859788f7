"""JAX arrays as inputs."""

import pytest

import tutti

jax = pytest.importorskip("jax")
np = pytest.importorskip("numpy")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32"])
def test_arrays(dtype):
    def work(comm):
        x = jax.numpy.full((3,), comm.rank + 1, dtype=dtype)
        out = np.empty(3, dtype=np.asarray(x).dtype)
        comm.allreduce(x, out=out)
        with pytest.raises(tutti.InvalidArgument, match="read-only"):
            comm.allreduce(x)
        return out.astype("float32").tolist()

    assert tutti.run_threads(work, 2) == [[3, 3, 3]] * 2
