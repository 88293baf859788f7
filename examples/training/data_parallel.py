"""Data parallel: every rank has the whole model and its own part of the batch.

    tutti run -n 4 -- python examples/training/data_parallel.py
    python examples/training/data_parallel.py                      # alone: 4 threads

The gradients are averaged by allreduce, in buckets, while the backward pass still computes those of earlier
layers (DDP). Then all ranks make the same update. In each step a rank sends 2Ψ·(N-1)/N values for Ψ
parameters and N ranks: the 2Ψ of textbooks. data_parallel.cpp is the same in C++.
"""

from __future__ import annotations

import numpy as np
from model import (
    BATCH,
    LAYERS,
    PARAMETERS,
    STEPS,
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


def train(comm: tutti.Communicator) -> bool:
    report = Report(comm, "data parallel")
    share = BATCH // comm.size
    if share * comm.size != BATCH:
        raise SystemExit(f"cannot divide {BATCH} samples over {comm.size} ranks")

    parameters = [initial_parameters(layer) for layer in range(LAYERS)]
    gradients, mean, variance = ([np.zeros(PARAMETERS, f32) for _ in range(LAYERS)] for _ in range(3))
    # Declared in the order in which they become ready: the last layer first. Two layers in a bucket, and one
    # in the first, so that communication begins early. The algorithm is fixed, so that what is counted can be
    # compared with its formula.
    layer_bytes = gradients[0].nbytes
    bucketer = tutti.Bucketer(
        comm,
        gradients[::-1],
        bucket_bytes=2 * layer_bytes,
        first_bucket_bytes=layer_bytes,
        algorithm="allreduce/ring",
    )
    before = bucketer.traffic.total.bytes_sent

    losses = []
    for step in range(STEPS):
        x, target = samples(step, comm.rank * share, share)
        activations = [x]
        for layer in range(LAYERS):
            activations.append(forward(layer, parameters[layer], activations[layer]))
        loss, slope = squared_error(activations[-1], target)
        for layer in reversed(range(LAYERS)):
            x, y = activations[layer], activations[layer + 1]
            slope = backward(layer, parameters[layer], x, y, slope, gradients[layer])
            bucketer.ready(LAYERS - 1 - layer)  # Its allreduce runs in the background.
        bucketer.finish()  # The gradients are now averages over all ranks.
        for layer in range(LAYERS):
            adam(step, parameters[layer], gradients[layer], mean[layer], variance[layer])
        losses.append(loss / comm.size)

    report.say(f"  {bucketer!r}")
    report.losses(losses, 1e-5, "the gradients are added in another order, so their last bits differ")
    psi, n = LAYERS * PARAMETERS, comm.size
    sent = bucketer.traffic.total.bytes_sent - before
    report.expect_sent("gradients", sent, "2Ψ(N-1)/N · 4 bytes", 2 * psi * (n - 1) / n * 4)
    return report.end()


if __name__ == "__main__":
    launch(train)
