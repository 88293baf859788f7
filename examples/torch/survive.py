"""Data parallel training that goes on when ranks are killed.

    tutti run -n 4 --keep-going -- python examples/torch/survive.py --kill 2@5
    python examples/torch/survive.py --run 4 --kill 2@5

Rank 2 kills itself in step 5. The others find out who is lost (get_error, failed_ranks), shrink the
process group and continue with the same processes, the same model and the same optimizer. They end
with the loss of a run of three ranks from step 5 on: --plan 4x5,3x7 computes it in one process.

torchrun ends all its ranks when one is lost. So start one torchrun for each rank, and a store that is
in none of them, here in a terminal of its own:

    python examples/torch/survive.py --serve 29511
    torchrun --nproc-per-node 1 --master-port 29521 examples/torch/survive.py --store 127.0.0.1:29511 0/2
    torchrun --nproc-per-node 1 --master-port 29522 examples/torch/survive.py --store 127.0.0.1:29511 1/2
"""

from __future__ import annotations

import argparse
import os
import signal
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import tutti
import tutti.torch

STEPS = 12
FEATURES = 64


def make_model() -> torch.nn.Module:
    torch.manual_seed(7)
    return torch.nn.Sequential(
        torch.nn.Linear(FEATURES, 128), torch.nn.Tanh(), torch.nn.Linear(128, 1)
    ).double()


def make_batch(step: int, rank: int, size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return this rank's part of the batch of 24 samples of a step."""
    generator = torch.Generator().manual_seed(step)
    inputs = torch.randn(24, FEATURES, generator=generator, dtype=torch.float64)
    targets = inputs.sum(1, keepdim=True).sin()
    return inputs.chunk(size)[rank], targets.chunk(size)[rank]


def loss_of(model: torch.nn.Module, step: int, rank: int, size: int) -> torch.Tensor:
    inputs, targets = make_batch(step, rank, size)
    return torch.nn.functional.mse_loss(model(inputs), targets)


class Trainer:
    """Data parallel training whose steps are applied on all ranks or on none."""

    def __init__(self) -> None:
        self.model = DistributedDataParallel(make_model(), bucket_cap_mb=0.02)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05, momentum=0.9)
        self.applied = 0  # Steps whose gradients are in the parameters.
        self.has_gradients = False

    def step(self, kill: bool) -> float:
        self.has_gradients = False
        self.optimizer.zero_grad()
        loss = loss_of(self.model, self.applied, dist.get_rank(), dist.get_world_size())
        if kill:
            os.kill(os.getpid(), signal.SIGKILL)
        loss.backward()
        self.has_gradients = True
        # A rank that passes knows that all ranks have the gradients.
        dist.barrier()
        self.apply()
        return float(loss)

    def apply(self) -> None:
        self.optimizer.step()
        self.applied += 1
        self.has_gradients = False

    def recover(self) -> None:
        """Continue with the ranks that are left."""
        group = dist.group.WORLD
        assert group is not None
        lost = tutti.torch.failed_ranks(group)
        if not lost:
            raise RuntimeError("the group failed, and no rank is lost")
        group.abort()
        self.model._update_process_group(dist.shrink_group(lost))
        # If a rank had passed the barrier, it has applied the step, and all have the gradients.
        furthest = torch.tensor(self.applied)
        dist.all_reduce(furthest, dist.ReduceOp.MAX)
        if furthest.item() > self.applied and self.has_gradients:
            self.apply()


def train(kills: dict[int, int]) -> float:
    """Train in the process group that is there. Return the sum of the parameters."""
    name = dist.get_rank()
    trainer = Trainer()
    failed_since = 0.0  # When the step began in which a rank was lost.
    while trainer.applied < STEPS:
        begin = time.monotonic()
        try:
            loss = trainer.step(kill=kills.get(name) == trainer.applied)
        except dist.DistBackendError as error:
            text = f"step {trainer.applied}: {str(error)[:240]}"
            trainer.recover()
            failed_since = begin
            say(text)
            continue
        say(f"step {trainer.applied}: loss {loss:.4f}, {dist.get_world_size()} ranks")
        if failed_since > 0:
            say(f"went on after {time.monotonic() - failed_since:.2f} s")
            failed_since = 0.0
    total = float(sum(p.detach().sum().item() for p in trainer.model.parameters()))
    say(f"sum of parameters {total:.10f} on {dist.get_world_size()} ranks")
    dist.destroy_process_group()
    return total


def say(text: str) -> None:
    if dist.get_rank() == 0:
        print(text, flush=True)


def train_in_run(_: tutti.Communicator, kills: dict[int, int]) -> float:
    """A rank of tutti.run(), which sets what init_process_group() needs."""
    torch.set_num_threads(1)
    dist.init_process_group("tutti")
    return train(kills)


def meet_in_store(address: str, place: str) -> None:
    host, port = address.rsplit(":", 1)
    rank, size = (int(number) for number in place.split("/"))
    store = dist.TCPStore(host, int(port), is_master=False)
    dist.init_process_group("tutti", store=store, rank=rank, world_size=size)


def serve(port: int) -> None:
    store = dist.TCPStore("127.0.0.1", port, is_master=True, wait_for_workers=False)
    print(f"store at 127.0.0.1:{store.port}", flush=True)
    signal.pause()


def compute_plan(plan: str) -> float:
    """Return the sum of parameters, computed in one process.

    '4x5,3x7' is five steps of four ranks, then seven of three.
    """
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    step = 0
    for part in plan.split(","):
        size, count = (int(number) for number in part.split("x"))
        for _ in range(count):
            optimizer.zero_grad()
            for rank in range(size):
                (loss_of(model, step, rank, size) / size).backward()
            optimizer.step()
            step += 1
    return float(sum(p.detach().sum().item() for p in model.parameters()))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kill", action="append", default=[], metavar="RANK@STEP")
    parser.add_argument("--plan", metavar="RANKSxSTEPS,…", help="compute the same in one process")
    parser.add_argument("--run", type=int, metavar="RANKS", help="start the ranks by tutti.run()")
    parser.add_argument("--serve", type=int, metavar="PORT", help="be the store of other ranks")
    parser.add_argument("--store", nargs=2, metavar=("HOST:PORT", "RANK/RANKS"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    kills = {int(each.split("@")[0]): int(each.split("@")[1]) for each in options.kill}
    if options.plan:
        print(f"sum of parameters {compute_plan(options.plan):.10f}")
    elif options.serve is not None:
        serve(options.serve)
    elif options.run:
        results = tutti.run(train_in_run, options.run, (kills,), keep_going=True)
        print("results:", *(each if isinstance(each, float) else type(each).__name__ for each in results))
    else:
        if options.store:
            meet_in_store(*options.store)
        else:
            dist.init_process_group("tutti")
        train(kills)


if __name__ == "__main__":
    main()
