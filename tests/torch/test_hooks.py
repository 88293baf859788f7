"""Torch's own communication hooks of DDP give the parameters that they give on gloo."""

from __future__ import annotations

import contextlib
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
import ranks
import torch
import torch.ao.quantization  # The quantization hooks use it and do not import it.
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import (
    debugging_hooks,
    default_hooks,
    post_localSGD_hook,
    powerSGD_hook,
    quantization_hooks,
)
from torch.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager
from torch.nn.parallel import DistributedDataParallel

STEPS = 6


_orthogonalize = powerSGD_hook._orthogonalize


def orthogonalize(matrices: torch.Tensor, epsilon: float = 0) -> None:
    """Accept a single matrix: the batched hook of torch 2.13 passes one, and fails on every backend."""
    _orthogonalize(matrices if matrices.dim() == 3 else matrices.unsqueeze(0), epsilon)


class Hook:
    """A hook of torch. Remembers how many buckets there are."""

    def __init__(self, name: str) -> None:
        self.name, self.state, self.buckets = name, None, 0
        compress = {"fp16": default_hooks.fp16_compress_wrapper, "bf16": default_hooks.bf16_compress_wrapper}
        simple = {
            "allreduce": default_hooks.allreduce_hook,
            "fp16": default_hooks.fp16_compress_hook,
            "bf16": default_hooks.bf16_compress_hook,
            "noop": debugging_hooks.noop_hook,
            "quantization per tensor": quantization_hooks.quantization_pertensor_hook,
            "quantization per channel": quantization_hooks.quantization_perchannel_hook,
        }
        if name in simple:
            self.hook = simple[name]
        elif name == "post-localSGD":
            self.state = post_localSGD_hook.PostLocalSGDState(None, dist.new_group(), start_localSGD_iter=3)
            self.hook = post_localSGD_hook.post_localSGD_hook
        else:
            self.state = powerSGD_hook.PowerSGDState(
                None, matrix_approximation_rank=2, start_powerSGD_iter=2, min_compression_rate=0.5
            )
            is_batched = "batched" in name
            self.hook = powerSGD_hook.batched_powerSGD_hook if is_batched else powerSGD_hook.powerSGD_hook
            powerSGD_hook._orthogonalize = orthogonalize
            if name.split()[0] in compress:
                self.hook = compress[name.split()[0]](self.hook)
        # In the callbacks of these hooks are collectives. On gloo these come between those of other buckets,
        # where depends on the rank: with several buckets one has to end before the next begins.
        self.waits = "powerSGD" in name and dist.get_backend() == "gloo"

    def run(self, state, bucket):
        self.buckets = max(self.buckets, bucket.index() + 1)
        future = self.hook(state, bucket)
        if self.waits:
            future.wait()
        return future


@contextlib.contextmanager
def callbacks_at_any_time():
    """Callbacks begin sooner or later, on each rank by itself."""
    then, pause = torch._C.Future.then, ranks.pauses()

    def later(future, callback):
        return then(future, lambda done: (pause(), callback(done))[1])

    torch._C.Future.then = later
    try:
        yield
    finally:
        torch._C.Future.then = then


def train(name: str, cap: float) -> tuple[int, list[float]]:
    torch.manual_seed(7)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, 32), nn.ReLU(), nn.Linear(32, 24))
    ddp = DistributedDataParallel(model, bucket_cap_mb=cap)
    hook = Hook(name)
    ddp.register_comm_hook(hook.state, hook.run)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    averager = PeriodicModelAverager(period=2, warmup_steps=3)
    for step in range(STEPS):
        inputs = torch.randn(8, 24, generator=torch.Generator().manual_seed(100 * step + dist.get_rank()))
        optimizer.zero_grad()
        nn.functional.mse_loss(ddp(inputs), inputs.flip(1)).backward()
        optimizer.step()
        if name == "post-localSGD":
            averager.average_parameters(ddp.parameters())
    parameters = torch.cat([each.detach().flatten() for each in model.parameters()])
    return hook.buckets, parameters.tolist()


HOOKS = ["allreduce", "fp16", "bf16", "noop", "post-localSGD", "powerSGD", "batched powerSGD",
         "fp16 powerSGD", "bf16 powerSGD", "fp16 batched powerSGD"]  # fmt: skip
QUANTIZATIONS = ["quantization per tensor", "quantization per channel"]


def train_all(names: list[str], cap: float) -> dict[str, tuple[int, list[float]]]:
    with callbacks_at_any_time():
        return {name: train(name, cap) for name in names}


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("cap", [25, 0.006])
def test_hooks_give_the_parameters_of_gloo(cap: float, size: int) -> None:
    with contextlib.suppress(ImportError):  # Optimizers import it, which takes seconds: before the fork.
        importlib.import_module("torch._dynamo")
    ours = ranks.run(size, train_all, HOOKS + QUANTIZATIONS, cap, timeout=30)
    theirs = ranks.run(size, train_all, HOOKS, cap, backend="gloo", timeout=30)
    # On gloo the quantization hooks fail, so these are compared with uncompressed gradients.
    expected, alone = (torch.tensor(theirs[0][name][1]) for name in ("allreduce", "noop"))
    for mine, other in zip(ours, theirs):
        for name in HOOKS:
            buckets, parameters = mine[name]
            assert (buckets > 1) == (cap < 1), name
            if size == 2:
                assert parameters == pytest.approx(other[name][1], rel=1e-5, abs=1e-7), name
            else:  # Sums of more than two depend on their order, and that on the backend.
                error = torch.tensor(parameters) - torch.tensor(other[name][1])
                bound = {"fp16": 0.01, "bf16": 0.05}.get(name.split()[0], 1e-4)
                assert error.norm() < bound * (alone - expected).norm(), name
    for name in QUANTIZATIONS:
        assert ours[0][name] == ours[1][name], name
        error = torch.tensor(ours[0][name][1]) - expected
        assert error.norm() < 0.1 * (alone - expected).norm(), name


ONE_RANK = """
import os, sys, torch, torch.distributed as dist
{first}
dist.init_process_group("tutti", store=dist.FileStore(sys.argv[1], 1), rank=0, world_size=1)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4))
def hook(state, bucket):
    import torch.ao.quantization
    from torch.distributed.algorithms.ddp_comm_hooks.quantization_hooks import quantization_pertensor_hook
    return quantization_pertensor_hook(None, bucket)
model.register_comm_hook(None, hook)
model(torch.ones(2, 4)).sum().backward()
assert torch.allclose(model.module.weight.grad, torch.full((4, 4), 2.0), atol=0.05), model.module.weight.grad
dist.destroy_process_group()
"""
IMPORTS = {
    "tutti first": "import tutti.torch, torch.distributed.algorithms.ddp_comm_hooks.quantization_hooks",
    "hooks first": "import torch.distributed.algorithms.ddp_comm_hooks.quantization_hooks, tutti.torch",
    "hooks in the hook": "import tutti.torch",
}


@pytest.mark.parametrize("order", IMPORTS)
def test_quantization_hooks_run_in_every_order_of_imports(order: str, tmp_path: Path) -> None:
    program = ONE_RANK.format(first=IMPORTS[order])
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "store")],
        env={**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
