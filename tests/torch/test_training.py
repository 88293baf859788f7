"""Training on backend tutti: the same losses as on gloo, and survival of lost ranks."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import ranks
import torch
import torch.distributed as dist

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "torch"))


def losses() -> dict[str, list[float]]:
    return importlib.import_module("strategies").run_all()


@pytest.mark.parametrize("size", [2, 4])
def test_strategies_have_the_losses_of_gloo(size: int) -> None:
    # Imports that take seconds, once before the ranks are forked.
    for name in ("optim", "fsdp", "tensor.parallel", "pipelining"):
        with contextlib.suppress(ImportError):  # Not there in old versions of torch.
            importlib.import_module(f"torch.distributed.{name}")
    ours = ranks.run(size, losses, limit=300)
    theirs = ranks.run(size, losses, backend="gloo", limit=300)
    assert ours[0] == ours[-1]
    for name, expected in theirs[0].items():
        assert ours[0][name] == pytest.approx(expected, rel=1e-5), name


def command() -> str:
    found = os.environ.get("TUTTI_COMMAND", str(ROOT / "build" / "tutti"))
    if not Path(found).exists():
        pytest.skip("the command tutti is not built")
    return found


def survive(arguments: list[str], prefix: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*prefix, sys.executable, str(ROOT / "examples" / "torch" / "survive.py"), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def sum_of_parameters(text: str) -> float:
    found = re.search(r"sum of parameters (\S+)", text)
    assert found, text
    return float(found.group(1))


def check_survival(output: str, kills: list[str], plan: str) -> None:
    """The survivors end as a run does that has so many ranks from that step on."""
    import survive as example

    assert sum_of_parameters(output) == pytest.approx(example.compute_plan(plan), rel=1e-9), output
    assert "rank " + kills[0][0] in output, output
    times = [float(each) for each in re.findall(r"went on after (\S+) s", output)]
    assert len(times) == len(kills), output
    assert max(times) < 5, output  # Below a second on a machine that is not busy.


def words_of(kills: list[str]) -> list[str]:
    return [word for each in kills for word in ("--kill", each)]


def test_training_survives_under_tutti_run(tmp_path: Path) -> None:
    needs_shrink_group()
    kills, plan = ["3@2", "0@8"], "4x2,3x6,2x4"
    os.environ["TMPDIR"] = str(tmp_path)
    launcher = [command(), "run", "-n", plan[0], "--keep-going", "--no-prefix", "--"]
    done = survive(words_of(kills), launcher)
    del os.environ["TMPDIR"]
    assert done.returncode == 0, done.stdout + done.stderr
    check_survival(done.stdout, kills, plan)
    assert not list(tmp_path.glob("tutti-torch-*"))  # The store is removed.


def test_training_survives_in_processes_of_a_program() -> None:
    needs_shrink_group()
    done = survive(["--run", "3", "--kill", "0@5"], [])
    assert done.returncode == 0, done.stdout + done.stderr
    check_survival(done.stdout, ["0@5"], "3x5,2x7")
    assert "results: RankDied" in done.stdout


def test_training_survives_with_one_torchrun_per_rank() -> None:
    needs_shrink_group()
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    program = str(ROOT / "examples" / "torch" / "survive.py")
    kills = ["0@5"]
    launchers = [
        subprocess.Popen(
            [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "1"]
            + [program, "--store", f"127.0.0.1:{store.port}", f"{rank}/3", *words_of(kills)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(3)
    ]
    try:
        outputs = [each.communicate(timeout=120)[0] for each in launchers]
    finally:
        for each in launchers:
            each.kill()
    assert [each.returncode for each in launchers] == [1, 0, 0], outputs
    check_survival(outputs[1], kills, "3x5,2x7")


def needs_shrink_group() -> None:
    if not hasattr(dist, "shrink_group"):
        pytest.skip("torch.distributed.shrink_group is in torch 2.10 and newer")


def lose_one(victim: int) -> tuple[float, int, str]:
    backend = dist.group.WORLD._get_backend(torch.device("cpu"))
    dist.all_reduce(torch.ones(1))
    if dist.get_rank() == victim:
        os._exit(1)
    begin = time.monotonic()
    try:
        for _ in range(1000):
            dist.all_reduce(torch.ones(100))
            time.sleep(0.01)
        raise AssertionError("not noticed")
    except dist.DistBackendError as error:
        words = str(error)
    import tutti.torch

    assert tutti.torch.failed_ranks() == [victim]
    assert backend.failure()[0] == "peer_lost"
    if hasattr(dist, "shrink_group"):
        dist.shrink_group([victim])
        total = torch.ones(1)
        dist.all_reduce(total)
        assert total.item() == dist.get_world_size() == 2
    return time.monotonic() - begin, dist.get_world_size(), words


@pytest.mark.parametrize("victim", [0, 2])
def test_a_lost_rank_is_named_and_left_out_within_a_second(victim: int) -> None:
    results = ranks.run(3, lose_one, victim, lost=(victim,))
    for seconds, _, words in (each for each in results if each):
        assert f"rank {victim}" in words
        assert "Connection closed by peer" in words
        assert seconds < 3  # A second, on a machine that is not busy.


def shrink_healthy() -> int:
    if not hasattr(dist, "shrink_group") or dist.get_rank() == 1:
        time.sleep(1)
        return -1
    dist.shrink_group([1])
    total = torch.ones(1)
    dist.all_reduce(total)
    return int(total.item())


def test_a_rank_that_lives_is_left_out() -> None:
    if hasattr(dist, "shrink_group"):
        assert ranks.run(3, shrink_healthy) == [2, -1, 2]


def detail() -> None:
    tensor = torch.ones(2)
    dist.all_reduce(tensor)
    dist.barrier()
    assert tensor[0] == dist.get_world_size()
    dist.monitored_barrier()


def test_debug_level_detail() -> None:
    os.environ["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"
    dist.set_debug_level_from_env()
    try:
        ranks.run(2, detail)
    finally:
        del os.environ["TORCH_DISTRIBUTED_DEBUG"]
        dist.set_debug_level_from_env()


def threads() -> None:
    """Two groups, used from two threads; each waits for the other rank in another order."""
    import threading

    groups = [dist.new_group(), dist.new_group()]
    if dist.get_rank() == 1:
        groups.reverse()
    failures = []

    def work(group: dist.ProcessGroup, pause: float) -> None:
        try:
            for _ in range(20):
                time.sleep(pause)
                dist.all_reduce(torch.ones(10), group=group)
        except Exception as error:
            failures.append(error)

    both = [threading.Thread(target=work, args=(g, p)) for g, p in zip(groups, (0.0, 0.01))]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert not failures


def test_groups_do_not_block_each_other() -> None:
    ranks.run(2, threads)


def test_torchrun(tmp_path: Path) -> None:
    """A program that knows nothing of tutti."""
    script = tmp_path / "train.py"
    is_old = tuple(int(each) for each in torch.__version__.split(".")[:2]) < (2, 5)
    script.write_text(
        "import torch, torch.distributed as dist\n"
        f"{'import tutti.torch' if is_old else ''}\n"
        "dist.init_process_group('tutti')\n"
        "t = torch.ones(3); dist.all_reduce(t)\n"
        "print(f'total {t[0].item()}\\n', end='', flush=True); dist.destroy_process_group()\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "3", str(script)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.count("total 3.0") == 3, done.stderr[-2000:]


def configure_again(folder: str) -> list[float]:
    """As torchft does: abort the group, and make another one on the same store."""
    from datetime import timedelta

    import tutti.torch

    rank, size = dist.get_rank(), dist.get_world_size()
    sums = []
    for round_ in range(3):
        store = dist.PrefixStore(str(round_ // 2), dist.FileStore(f"{folder}/other", size))
        group = tutti.torch.make_group(store, rank, size, timedelta(seconds=20))
        total = torch.ones(2)
        group.allreduce([total]).wait()
        sums.append(total[0].item())
        if round_ != 1:
            dist.barrier()
            group.abort()
        dist.barrier()
    return sums


def test_groups_that_a_library_keeps(tmp_path: Path) -> None:
    if not hasattr(dist.ProcessGroup, "abort"):
        pytest.skip("torch aborts groups from 2.6 on")
    assert ranks.run(2, configure_again, str(tmp_path)) == [[2.0, 2.0, 2.0]] * 2
