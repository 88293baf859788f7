"""CPU tensors in the memory that the ranks of a host share."""

from __future__ import annotations

import ctypes
import io
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing
from ranks import run
from torch.utils.data import DataLoader, Dataset

import tutti.torch
from tutti.torch import _extension

LARGE = 256 * 1024


def is_shared(tensor: torch.Tensor) -> bool:
    """Whether the tensor is in the heap: a mapping of this process with its name."""
    address = tensor.untyped_storage().data_ptr()
    for line in Path("/proc/self/maps").read_text().splitlines():
        begin, end = (int(part, 16) for part in line.split()[0].split("-"))
        if begin <= address < end:
            return "tutti-heap" in line
    return False


@pytest.fixture(autouse=True)
def sharing():
    tutti.torch.use_shared_memory()
    yield
    tutti.torch.use_shared_memory()


def test_large_tensors_are_shared():
    assert not is_shared(torch.empty(64 * 1024 - 1, dtype=torch.uint8))
    assert is_shared(torch.empty(64 * 1024, dtype=torch.uint8))
    for made in (
        torch.zeros(LARGE),
        torch.ones(LARGE) + 1,
        torch.tensor([1.0]) * torch.ones(LARGE),
        torch.nn.Linear(512, 512).weight,
        torch.arange(LARGE).clone(),
    ):
        assert is_shared(made)
    assert torch.zeros(LARGE).sum() == 0


def test_threshold():
    tutti.torch.use_shared_memory("1MiB")
    assert not is_shared(torch.empty(2**20 - 1, dtype=torch.uint8))
    assert is_shared(torch.empty(2**20, dtype=torch.uint8))
    kept = torch.arange(LARGE)
    tutti.torch.use_shared_memory(None)
    assert not is_shared(torch.empty(LARGE))
    assert is_shared(kept)
    assert kept[-1] == LARGE - 1
    with pytest.raises(ValueError, match="a size"):
        tutti.torch.use_shared_memory("much")


def run_script(script: str, **environment: str) -> str:
    """Run a program in a process of its own, and return its output."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, **environment, "PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    assert "tutti" not in done.stderr
    return done.stdout


GROUP = """
    import torch, torch.distributed as dist, tutti.torch
    from test_memory import is_shared, LARGE
    def join():
        dist.init_process_group("tutti", store=dist.HashStore(), rank=0, world_size=1)
"""


def test_group_begins_to_share():
    script = GROUP + (
        """
    before = torch.empty(LARGE)
    join()
    print(is_shared(before), is_shared(torch.empty(LARGE)), is_shared(torch.empty(100000)))
        """
    )
    assert run_script(script).split() == ["False", "True", "True"]
    assert run_script(script, TUTTI_TORCH_ALLOC="off").split() == ["False", "False", "False"]
    assert run_script(script, TUTTI_TORCH_ALLOC="512KiB").split() == ["False", "True", "False"]


def test_unknown_value_is_refused():
    script = GROUP + (
        """
    try:
        join()
    except ValueError as error:
        print(error)
        """
    )
    assert "TUTTI_TORCH_ALLOC is neither off nor a size" in run_script(script, TUTTI_TORCH_ALLOC="no")


def test_tensors_outlive_group_and_interpreter():
    script = GROUP + (
        """
    import atexit, sys
    join()
    x = torch.arange(LARGE)
    y = x.numpy()
    dist.destroy_process_group()
    assert x.sum().item() == y.sum()
    sys.kept = [x, y, torch.ones(LARGE)]
    atexit.register(lambda: print(x.sum().item() == sum(range(LARGE))))
    class Late:
        def __del__(self):
            print(torch.ones(LARGE).sum().item() == LARGE)
    late = Late()
        """
    )
    assert run_script(script).split() == ["True", "True"]


def test_ordinary_memory_if_there_is_no_shared_memory():
    # The heap cannot grow beyond the longest file.
    script = GROUP + (
        """
    import resource
    join()
    before = torch.ones(LARGE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))
    after = torch.ones(2**20)
    dist.all_reduce(after)
    print(is_shared(before), is_shared(after), after.sum().item() == 2**20)
        """
    )
    assert run_script(script).split() == ["True", "False", "True"]


def test_memory_of_freed_tensors_is_used_again():
    tutti.torch.empty_cache()
    first = torch.full((LARGE,), 7.0)
    address = first.data_ptr()
    del first
    again = torch.empty(LARGE)
    assert again.data_ptr() == address
    del again
    tutti.torch.empty_cache()
    assert torch.empty(LARGE).sum() == 0, "from the system"


RAW = """
#include <cstring>
#include <c10/core/CPUAllocator.h>

// Whether memory from raw_allocate() can be written, and freed without knowing how it was made.
extern "C" int round_trip(std::size_t bytes) {
  c10::Allocator* const allocator = c10::GetCPUAllocator();
  void* const memory = allocator->raw_allocate(bytes);
  std::memset(memory, 1, bytes);
  allocator->raw_deallocate(memory);
  const c10::DataPtr made = allocator->allocate(bytes);
  return made.get() != nullptr && allocator->is_simple_data_ptr(made);
}
"""


def test_raw_allocate(tmp_path):
    (tmp_path / "raw.cpp").write_text(RAW)
    libraries = Path(torch.__file__).parent / "lib"
    command = [_extension._compiler(), *_extension._flags(), "-fvisibility=default", "-shared", "raw.cpp"]
    subprocess.run([*command, "-o", "raw.so", f"-L{libraries}", "-lc10"], cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "raw.so"))
    for size in (1, 100, 64 * 1024, 2**20, 2**24):
        for _ in range(3):
            assert library.round_trip(ctypes.c_size_t(size)) == 1
    tutti.torch.use_shared_memory(None)
    assert library.round_trip(ctypes.c_size_t(2**20)) == 1


def test_resize():
    x = torch.arange(1000.0)
    x.resize_(LARGE)
    assert is_shared(x)
    assert (x[:1000] == torch.arange(1000.0)).all()
    x[-1] = 5
    x.resize_(2 * LARGE)
    assert x[LARGE - 1] == 5
    storage = x.untyped_storage()
    storage.resize_(4000)
    assert not is_shared(x)
    assert (x.resize_(1000) == torch.arange(1000.0)).all()
    storage.resize_(0)
    assert storage.nbytes() == 0


def test_numpy_and_dlpack():
    x = torch.arange(LARGE)
    array = x.numpy()
    array[3] = 77
    assert x[3] == 77
    y = torch.from_numpy(array)
    assert y.data_ptr() == x.data_ptr()
    z = torch.from_dlpack(torch.utils.dlpack.to_dlpack(x))
    del x, y, array
    assert z[3] == 77
    assert is_shared(z)


def test_save_and_load():
    x = torch.arange(LARGE)
    file = io.BytesIO()
    torch.save({"x": x}, file)
    file.seek(0)
    loaded = torch.load(file)["x"]
    assert (loaded == x).all()


def test_lazy_clone_and_pinned():
    x = torch.arange(LARGE)
    y = torch._lazy_clone(x)
    y[0] = 9
    assert x[0] == 0
    assert not x.is_pinned()
    if torch.cuda.is_available():
        assert x.pin_memory().is_pinned()


def test_profiler_counts_memory():
    with torch.profiler.profile(profile_memory=True) as profile:
        x = torch.empty(2**20)
        del x
    made = [event for event in profile.events() if event.name == "aten::empty"]
    assert sum(event.cpu_memory_usage for event in made) >= 2**22


def _double(x: torch.Tensor) -> None:
    x *= 2


def test_sharing_storage_with_a_process():
    x = torch.arange(float(LARGE))
    x.share_memory_()
    assert x.is_shared()
    assert not is_shared(x)
    process = torch.multiprocessing.get_context("spawn").Process(target=_double, args=(x,))
    process.start()
    process.join()
    assert process.exitcode == 0
    assert x[5] == 10


def _reduce(pairs: int) -> bool:
    for i in range(pairs):
        x = torch.full((LARGE + i,), float(dist.get_rank()))
        dist.all_reduce(x)
        assert is_shared(x)
        assert (x == 1).all()
        y = [torch.empty(LARGE) for _ in range(2)]
        dist.all_gather(y, torch.full((LARGE,), dist.get_rank() + 1.0))
        assert (y[0] == 1).all()
        assert (y[1] == 2).all()
    return True


def test_collectives_on_new_tensors():
    assert run(2, _reduce, 50) == [True, True]


class Changing(Dataset):
    """Elements of a tensor that the parent changes as soon as the workers are there."""

    def __init__(self) -> None:
        self.data = torch.ones(64, 64 * 1024)

    def __len__(self) -> int:
        return 64

    def __getitem__(self, i: int) -> torch.Tensor:
        return self.data[i]


def test_workers_of_a_loader_see_data_of_the_fork():
    dataset = Changing()
    assert is_shared(dataset.data)
    loader = DataLoader(dataset, batch_size=4, num_workers=2, multiprocessing_context="fork")
    batches = iter(loader)
    dataset.data.fill_(2)
    seen = list(batches)
    assert len(seen) == 16
    assert all((batch == 1).all() for batch in seen)
    assert (dataset.data == 2).all()


def test_forked_child_sees_data_of_the_fork():
    x = torch.arange(LARGE)
    freed = torch.ones(LARGE)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(read, 1)
        good = bool((x == torch.arange(LARGE)).all())
        x.fill_(3)
        y = torch.full((LARGE,), 4.0)
        del freed
        z = torch.full((LARGE,), 5.0)
        good = good and bool((x == 3).all() and (y == 4).all() and (z == 5).all())
        os._exit(0 if good else 1)
    x.fill_(2)
    os.write(write, b"x")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (x == 2).all()
    assert (freed == 1).all()
    os.close(read)
    os.close(write)
