"""ZeRO: data parallel without copies (Rajbhandari et al., 2020).

    tutti run -n 4 -- python examples/training/zero.py 3
    python examples/training/zero.py 3 bf16                # alone: 4 threads; bf16 needs ml_dtypes

Of Ψ parameters each of N ranks keeps only a shard of Ψ/N of
  stage 1  the state of the optimiser,
  stage 2  and the gradients: each layer's are reduced and scattered as soon as they are computed,
  stage 3  and the parameters: gathered before use, freed after (FSDP).
Stages 1 and 2 send 2Ψ(N-1)/N values per rank and step, as data parallel does; stage 3 sends 3Ψ. zero.cpp is
the same in C++, and says more about memory.
"""

from __future__ import annotations

import sys
from typing import Any, Optional

import numpy as np
from model import (
    BATCH,
    LAYERS,
    PARAMETERS,
    STEPS,
    Array,
    Report,
    adam,
    backward,
    f32,
    forward,
    initial_parameters,
    launch,
    samples,
    squared_error,
)

import tutti


class Sharded:
    """The model on one rank. `dtype` is the type of parameters and gradients; the arithmetic is in f32."""

    def __init__(self, comm: tutti.Communicator, stage: int, dtype: Any) -> None:
        self.comm, self.stage, self.dtype = comm, stage, np.dtype(dtype)
        self.shard = -(-PARAMETERS // comm.size)  # Padded, so that all shards have the same length.
        self.padded = self.shard * comm.size
        self.own = slice(comm.rank * self.shard, (comm.rank + 1) * self.shard)
        whole = [np.pad(initial_parameters(layer), (0, self.padded - PARAMETERS)) for layer in range(LAYERS)]
        kept = self.own if stage == 3 else slice(None)
        self.parameters = [each[kept].astype(dtype) for each in whole]
        length = self.padded if stage == 1 else self.shard
        self.gradients = [np.zeros(length, dtype) for _ in range(LAYERS)]
        # The state of the optimiser: with 16 bits also a copy of the weights in f32, so that K = 12.
        has_master = self.dtype.itemsize < 4
        self.master = [each[self.own].copy() for each in whole] if has_master else []
        self.mean = [np.zeros(self.shard, f32) for _ in range(LAYERS)]
        self.variance = [np.zeros(self.shard, f32) for _ in range(LAYERS)]
        self.gathering: Optional[tutti.Work[Array]] = None
        self.scattering: Optional[tutti.Work[Array]] = None

    def held(self) -> int:
        """Bytes of model state on this rank."""
        lists = (self.parameters, self.gradients, self.master, self.mean, self.variance)
        return sum(each.nbytes for arrays in lists for each in arrays)

    def step(self, number: int, x: Array, target: Array) -> float:
        activations = [x]
        for layer in range(LAYERS):
            activations.append(forward(layer, self.use(layer, layer + 1), activations[layer]))
        loss, slope = squared_error(activations[-1], target)
        for layer in reversed(range(LAYERS)):
            weights, gradients = self.use(layer, layer - 1), np.zeros(self.padded, f32)
            x, y = activations[layer], activations[layer + 1]
            slope = backward(layer, weights, x, y, slope, gradients)
            if self.stage == 1:
                self.gradients[layer][:] = gradients
            else:
                self.scatter_later(layer, gradients)
        if self.scattering:
            self.scattering.wait()
            self.scattering = None
        for layer in range(LAYERS):
            self.update(number, layer)
        return loss

    def use(self, layer: int, following: int) -> Array:
        """The parameters of a layer. Stage 3 gathers them, and those of the next in the background."""
        if self.stage < 3:
            return self.parameters[layer].astype(f32)
        gathering = self.gathering or self.gather(layer)
        self.gathering = self.gather(following) if 0 <= following < LAYERS else None
        return gathering.wait().astype(f32)

    def gather(self, layer: int) -> tutti.Work[Array]:
        return self.comm.allgather(self.parameters[layer], algorithm="allgather/ring", async_=True)

    def scatter_later(self, layer: int, gradients: Array) -> None:
        """Average the gradients and keep this rank's shard, while the layer before is computed."""
        if self.scattering:
            self.scattering.wait()
        self.scattering = self.comm.reduce_scatter(
            gradients.astype(self.dtype),
            "avg",
            out=self.gradients[layer],
            algorithm="reduce_scatter/ring",
            async_=True,
        )

    def update(self, number: int, layer: int) -> None:
        """Each rank updates its shard. Stages 1 and 2 then gather the new parameters."""
        gradients = self.gradients[layer]
        if self.stage == 1:
            gradients = self.comm.reduce_scatter(gradients, "avg", algorithm="reduce_scatter/ring")
        own = self.parameters[layer] if self.stage == 3 else self.parameters[layer][self.own]
        weights = self.master[layer] if self.master else own
        adam(number, weights, gradients.astype(f32), self.mean[layer], self.variance[layer])
        own[:] = weights
        if self.stage < 3:
            self.comm.allgather(own.copy(), out=self.parameters[layer], algorithm="allgather/ring")


def train(comm: tutti.Communicator, stage: int, dtype: Any) -> bool:
    is_short = np.dtype(dtype).itemsize == 2
    report = Report(comm, f"ZeRO stage {stage}{', bf16' if is_short else ''}")
    share = BATCH // comm.size
    if share * comm.size != BATCH:
        raise SystemExit(f"cannot divide {BATCH} samples over {comm.size} ranks")
    scattered, gathered = (comm.counters(each).total.bytes_sent for each in ("reduce_scatter", "allgather"))
    model = Sharded(comm, stage, dtype)
    losses = [model.step(step, *samples(step, comm.rank * share, share)) / comm.size for step in range(STEPS)]

    why = "the gradients are added in another order, so their last bits differ"
    if is_short:
        why = "weights and gradients have 8 bits of precision, those of the one process 24"
    report.losses(losses, 5e-3 if is_short else 1e-5, why)
    psi, n, b, k = LAYERS * model.padded, comm.size, model.dtype.itemsize, 12 if is_short else 8
    scattered = comm.counters("reduce_scatter").total.bytes_sent - scattered
    gathered = comm.counters("allgather").total.bytes_sent - gathered
    report.expect_sent("gradients", scattered, "Ψ(N-1)/N · b", psi * (n - 1) / n * b)
    times = 2 if stage == 3 else 1
    formula = f"{'2' if stage == 3 else ''}Ψ(N-1)/N · b"
    report.expect_sent("parameters", gathered, formula, times * psi * (n - 1) / n * b)
    formula = {1: "bΨ + bΨ + KΨ/N", 2: "bΨ + (bΨ + KΨ)/N", 3: "(bΨ + bΨ + KΨ)/N"}[stage]
    expected = b * psi / (n if stage > 2 else 1) + b * psi / (n if stage > 1 else 1) + k * psi / n
    report.expect("bytes of model state per rank", model.held(), formula, expected)
    report.say(f"  b = {b}, K = {k}; data parallel holds {psi * (2 * b + k)} bytes")
    return report.end()


def main() -> None:
    words = sys.argv[1:]
    if not words or words[0] not in ("1", "2", "3") or words[1:] not in ([], ["bf16"]):
        raise SystemExit("usage: zero.py 1|2|3 [bf16]")
    dtype: Any = f32
    if words[1:]:
        import ml_dtypes

        dtype = ml_dtypes.bfloat16
    launch(train, int(words[0]), dtype)


if __name__ == "__main__":
    main()
