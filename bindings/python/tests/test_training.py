"""The programs of examples/training: the losses of one process, and the bytes that the formulas say."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tutti

np = pytest.importorskip("numpy")
FOLDER = Path(__file__).parents[3] / "examples" / "training"
COMMAND = os.environ.get("TUTTI_COMMAND", "")
PROGRAMS = [["data_parallel.py"], *(["zero.py", stage] for stage in "123")]


def start(words, ranks=None):
    launcher = [] if ranks is None else [COMMAND, "run", "-n", str(ranks), "--no-prefix", "--"]
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    return subprocess.run(
        [*launcher, sys.executable, FOLDER / words[0], *words[1:]],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
    )


@pytest.mark.parametrize("words", PROGRAMS, ids="-".join)
def test_as_threads(words):
    done = start(words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all as expected" in done.stdout and "4 ranks" in done.stdout, done.stdout
    # The model and its data are those of the C++ programs.
    assert "loss 0.391617, after 40 steps 0.185873" in done.stdout, done.stdout


@pytest.mark.parametrize("words", PROGRAMS, ids="-".join)
def test_as_processes(words):
    if not os.path.exists(COMMAND):
        pytest.skip("the command tutti is not built: TUTTI_COMMAND names it")
    done = start(words, ranks=3)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all as expected" in done.stdout and "3 ranks" in done.stdout, done.stdout


def test_sixteen_bits():
    pytest.importorskip("ml_dtypes")
    done = start(["zero.py", "3", "bf16"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "(bΨ + bΨ + KΨ)/N = 75264" in done.stdout, done.stdout


def load(name):
    sys.path.insert(0, str(FOLDER))
    try:
        spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(FOLDER))


def test_gradients_are_differences_of_losses():
    model = load("model")
    parameters = [model.initial_parameters(layer).astype(np.float64) for layer in range(model.LAYERS)]
    x, target = (each.astype(np.float64) for each in model.samples(0))

    def loss_of():
        y = x
        for layer in range(model.LAYERS):
            y = model.forward(layer, parameters[layer], y)
        return float(np.mean((y - target) ** 2))

    activations = [x]
    for layer in range(model.LAYERS):
        activations.append(model.forward(layer, parameters[layer], activations[layer]))
    slope = 2 / target.size * (activations[-1] - target)
    for layer in reversed(range(model.LAYERS)):
        gradients = np.zeros(model.PARAMETERS)
        slope = model.backward(
            layer, parameters[layer], activations[layer], activations[layer + 1], slope, gradients
        )
        for index in (0, 1000, model.PARAMETERS - 1):
            kept, step = parameters[layer][index], 1e-5
            losses = []
            for value in (kept + step, kept - step):
                parameters[layer][index] = value
                losses.append(loss_of())
            parameters[layer][index] = kept
            assert (losses[0] - losses[1]) / (2 * step) == pytest.approx(gradients[index], rel=1e-4)


def test_wrong_losses_and_wrong_counts_are_reported(capfd):
    model = load("model")

    def work(comm, lie):
        report = model.Report(comm, "a lie")
        losses = np.array(model.train_alone()) / comm.size
        report.losses(list(losses * (1.001 if lie == "losses" else 1)), 1e-5, "")
        report.expect_sent("nothing", 40 if lie == "bytes" else 0, "0", 0)
        return report.end()

    assert tutti.run_threads(work, 2, ("",)) == [True, True]
    assert tutti.run_threads(work, 2, ("losses",)) == [False, False]
    assert tutti.run_threads(work, 2, ("bytes",)) == [False, False]
    text = capfd.readouterr().out
    assert len(re.findall("TOO LARGE|DIFFERENT", text)) == 2, text
