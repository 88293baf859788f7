"""What the Python programs of this folder share: the MLP of model.hpp and the report of report.hpp, on NumPy.

The data, the initial weights and the arithmetic are those of the C++ programs, so the losses are, too. No
communication happens in the model.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import tutti

WIDTH = 48  # Features of a sample.
LAYERS = 8
BATCH = 96  # Samples of one step, on all ranks together.
STEPS = 40
PARAMETERS = WIDTH * WIDTH + WIDTH  # Of a layer: W and then b, in one array.

Array = np.ndarray[Any, Any]
f32 = np.float32

# Data, loss and optimiser ----------------------------------------------------------------------


def random_floats(seed: int, count: int, scale: float = 1) -> Array:
    """Numbers from -1 to 1. RandomState is the generator of std::mt19937."""
    bits = np.random.RandomState(seed).randint(0, 1 << 32, count, dtype=np.uint32) >> np.uint32(8)
    values: Array = f32(scale) * (bits.astype(f32) / f32(8388608) - f32(1))
    return values


def samples(step: int, first: int = 0, count: int = BATCH) -> tuple[Array, Array]:
    """Some rows of the batch of a step. To learn: each sample in reverse order."""
    x = random_floats(1000 + step, BATCH * WIDTH).reshape(BATCH, WIDTH)[first : first + count]
    return x, x[:, ::-1]


def squared_error(y: Array, target: Array) -> tuple[float, Array]:
    """The mean squared error and its gradient."""
    error = y - target
    return float(np.mean(error.astype(np.float64) ** 2)), f32(2 / y.size) * error


def adam(step: int, parameters: Array, gradients: Array, mean: Array, variance: Array) -> None:
    """Adam (Kingma and Ba, 2015): 8 bytes of state per parameter. `step` counts from 0."""
    rate = f32(0.006) * np.sqrt(1 - f32(0.999) ** f32(step + 1)) / (1 - f32(0.9) ** f32(step + 1))
    mean[:] = f32(0.9) * mean + f32(0.1) * gradients
    variance[:] = f32(0.999) * variance + f32(0.001) * gradients * gradients
    parameters -= rate * mean / (np.sqrt(variance) + f32(1e-6))


# MLP -------------------------------------------------------------------------------------------


def initial_parameters(layer: int) -> Array:
    return np.concatenate([random_floats(100 + layer, WIDTH * WIDTH, 0.25), np.zeros(WIDTH, f32)])


def forward(layer: int, p: Array, x: Array) -> Array:
    """Return tanh(x·W + b); the last layer has no tanh."""
    y: Array = x @ p[: WIDTH * WIDTH].reshape(WIDTH, WIDTH) + p[WIDTH * WIDTH : PARAMETERS]
    return y if layer == LAYERS - 1 else np.tanh(y)


def backward(layer: int, p: Array, x: Array, y: Array, dy: Array, gradients: Array) -> Array:
    """Store the gradients of a layer, and return that of x."""
    if layer != LAYERS - 1:
        dy = dy * (1 - y * y)
    gradients[WIDTH * WIDTH : PARAMETERS] = dy.sum(0)
    gradients[: WIDTH * WIDTH] = (x.T @ dy).ravel()
    dx: Array = dy @ p[: WIDTH * WIDTH].reshape(WIDTH, WIDTH).T
    return dx


def train_alone() -> list[float]:
    """The losses of all steps when one process trains the whole model."""
    parameters = [initial_parameters(layer) for layer in range(LAYERS)]
    gradients, mean, variance = ([np.zeros(PARAMETERS, f32) for _ in range(LAYERS)] for _ in range(3))
    losses = []
    for step in range(STEPS):
        x, target = samples(step)
        activations = [x]
        for layer in range(LAYERS):
            activations.append(forward(layer, parameters[layer], activations[layer]))
        loss, slope = squared_error(activations[-1], target)
        for layer in reversed(range(LAYERS)):
            x, y = activations[layer], activations[layer + 1]
            slope = backward(layer, parameters[layer], x, y, slope, gradients[layer])
            adam(step, parameters[layer], gradients[layer], mean[layer], variance[layer])
        losses.append(loss)
    return losses


# What was counted, beside what the formulas say -----------------------------------------------


class Report:
    """Collective: all ranks call the same methods in the same order. Rank 0 prints."""

    def __init__(self, comm: tutti.Communicator, title: str) -> None:
        self.own = comm.duplicate()  # So that the traffic of the report is not counted.
        self.good = True
        self.say(f"{title}, {comm.size} ranks: {comm.description}")

    def say(self, line: str) -> None:
        if self.own.rank == 0:
            print(line, flush=True)

    def losses(self, parts: list[float], limit: float, why: str) -> None:
        """Compare the losses of all steps, of which each rank has a part, with those of one process."""
        mine = self.own.allreduce(np.array(parts))
        alone = np.array(train_alone())
        difference = float(np.max(np.abs(mine - alone) / alone))
        self.say(f"  loss {mine[0]:.6f}, after {STEPS} steps {mine[-1]:.6f}; one process: {alone[-1]:.6f}")
        is_close = difference <= limit
        self.say(
            f"  largest relative difference of a loss: {difference:.1e}, limit {limit:.0e}"
            f"{'' if is_close else '   TOO LARGE'}: {why}"
        )
        learns = mine[-1] < 0.9 * mine[0]
        if not learns:
            self.say("  WRONG: the loss should fall below 0.9 of its first value")
        self.good = self.good and is_close and bool(learns)

    def expect(self, what: str, counted: float, formula: str, value: float) -> None:
        """A number that is the same on all ranks. Must be equal to what the formula gives."""
        is_equal = abs(counted - value) <= 1e-9 * abs(value)
        self.good = self.good and is_equal
        self.say(f"  {what}: {counted:.10g}; {formula} = {value:.10g}{'' if is_equal else '   DIFFERENT'}")

    def expect_sent(self, what: str, mine: int, formula: str, value: float) -> None:
        """Bytes that all ranks sent in all steps. The formula is for one rank and one step."""
        total = int(self.own.allreduce(np.array([mine]))[0])
        self.expect(f"{what}, bytes sent per rank and step", total / self.own.size / STEPS, formula, value)

    def end(self) -> bool:
        """Whether all is well, the same on all ranks."""
        good = bool(self.own.allreduce(np.array([int(self.good)]), "min")[0])
        self.say("  all as expected" if good else "  WRONG: see above")
        return good


def launch(program: Callable[..., bool], *arguments: Any) -> None:
    """Run a rank of a program and exit. Without a launcher its ranks are four threads of this process."""
    with tutti.init() as comm:
        if comm.size > 1:
            sys.exit(0 if program(comm, *arguments) else 1)
    sys.exit(0 if all(tutti.run_threads(program, 4, arguments)) else 1)
