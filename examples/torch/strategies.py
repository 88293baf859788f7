"""Torch's own training strategies on any backend, with their losses.

    torchrun --nproc-per-node 4 examples/torch/strategies.py --backend tutti

Trains the same small model with DDP, FSDP2, ZeroRedundancyOptimizer, a pipeline and tensor parallel
layers (DTensor), and prints the loss of each step. The losses are those of --backend gloo.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

STEPS = 4
WIDTH = 32
VERSION = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])


def make_model() -> nn.Sequential:
    torch.manual_seed(3)
    return nn.Sequential(
        nn.Linear(WIDTH, 4 * WIDTH), nn.ReLU(), nn.Linear(4 * WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
    )


def batch(step: int, rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(100 * step + rank)
    inputs = torch.randn(8, WIDTH, generator=generator)
    return inputs, inputs.flip(1)


def mean_loss(loss: torch.Tensor) -> float:
    loss = loss.detach().clone()
    dist.all_reduce(loss, dist.ReduceOp.SUM)
    return float(loss.item()) / int(dist.get_world_size())


def train(model: nn.Module, optimizer: torch.optim.Optimizer, same_data: bool = False) -> list[float]:
    losses = []
    for step in range(STEPS):
        inputs, targets = batch(step, 0 if same_data else dist.get_rank())
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(mean_loss(loss))
    return losses


def data_parallel() -> list[float]:
    model = DistributedDataParallel(make_model())
    return train(model, torch.optim.Adam(model.parameters(), lr=0.01))


def zero_redundancy() -> list[float]:
    from torch.distributed.optim import ZeroRedundancyOptimizer

    model = DistributedDataParallel(make_model())
    optimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.Adam, lr=0.01)
    return train(model, optimizer)


def fully_sharded() -> list[float]:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    model = make_model()
    for layer in model:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return train(model, torch.optim.Adam(model.parameters(), lr=0.01))


def tensor_parallel() -> list[float]:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import (
        ColwiseParallel,
        RowwiseParallel,
        parallelize_module,
    )

    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    model = parallelize_module(make_model(), mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    return train(model, torch.optim.SGD(model.parameters(), lr=0.05), same_data=True)


def pipeline() -> list[float]:
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B

    rank, size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(3)
    layers = [nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh()) for _ in range(size)]
    stage = PipelineStage(layers[rank], rank, size, torch.device("cpu"))
    schedule = Schedule1F1B(stage, n_microbatches=4, loss_fn=nn.functional.mse_loss)
    optimizer = torch.optim.SGD(layers[rank].parameters(), lr=0.05)
    losses = []
    for step in range(STEPS):
        inputs, targets = batch(step, 0)
        optimizer.zero_grad()
        parts: list[torch.Tensor] = []
        if rank == 0:
            schedule.step(inputs)
        elif rank == size - 1:
            schedule.step(target=targets, losses=parts)
        else:
            schedule.step()
        optimizer.step()
        loss = torch.stack(parts).mean().detach() if parts else torch.zeros(())
        dist.broadcast(loss, size - 1)
        losses.append(loss.item())
    return losses


STRATEGIES: dict[str, Callable[[], list[float]]] = {
    "DDP": data_parallel,
    "FSDP2": fully_sharded,
    "ZeroRedundancyOptimizer": zero_redundancy,
    "pipeline": pipeline,
    "tensor parallel": tensor_parallel,
}


def run_all() -> dict[str, list[float]]:
    """Return the losses of each strategy that this version of torch has on CPUs."""
    # Before, FSDP2 needs a GPU, and the pipeline hangs on gloo.
    missing = {"FSDP2", "pipeline"} if VERSION < (2, 6) else set()
    return {name: strategy() for name, strategy in STRATEGIES.items() if name not in missing}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="tutti")
    options = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group(options.backend)
    losses = run_all()
    if dist.get_rank() == 0:
        print(json.dumps(losses, indent=1))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
