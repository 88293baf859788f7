"""Decodes with a model that is split among ranks, on gloo and on tutti, and compares tokens and times.

    pip install transformers accelerate
    python bench/torch/tensor_parallel.py --ranks 2

The model has the architecture of Llama and random weights. transformers splits it by the plan of that
architecture (`tp_plan="auto"`): two sums over all ranks for each layer and token, of hidden_size elements.
The backends take turns, each in processes of its own. Every rank and both backends must produce the same
tokens.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import queue
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from tutti.torch import _extension


def make_model(folder: Path, options: argparse.Namespace) -> None:
    from transformers import LlamaConfig, LlamaForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=2048,
        hidden_size=options.hidden,
        intermediate_size=options.hidden * 11 // 4 // 64 * 64,
        num_hidden_layers=options.layers,
        num_attention_heads=options.hidden // 64,
        num_key_value_heads=options.hidden // 64,
        max_position_embeddings=1024,
    )
    LlamaForCausalLM(config).to(getattr(torch, options.dtype)).save_pretrained(folder)


def decode(model: Any, options: argparse.Namespace) -> tuple[list[int], float]:
    """Return the tokens, and the seconds for one of them, without those for the prompt."""
    prompt = torch.arange(1, 17).reshape(1, -1)
    with torch.inference_mode():
        found = model(prompt, use_cache=True)
        tokens = [int(found.logits[0, -1].argmax())]
        begin = time.perf_counter()
        for _ in range(options.tokens):
            found = model(torch.tensor([tokens[-1:]]), past_key_values=found.past_key_values, use_cache=True)
            tokens.append(int(found.logits[0, -1].argmax()))
        return tokens, (time.perf_counter() - begin) / options.tokens


def serve(rank: int, backend: str, folder: Path, options: argparse.Namespace, results: Any) -> None:
    from transformers import LlamaForCausalLM
    from transformers.distributed import DistributedConfig
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.set_num_threads(1)
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(options.ranks)}
    store = dist.FileStore(str(folder / "store"), options.ranks)
    dist.init_process_group(backend, store=store, rank=rank, world_size=options.ranks)
    model = LlamaForCausalLM.from_pretrained(
        folder / "model",
        dtype=getattr(torch, options.dtype),
        distributed_config=DistributedConfig(tp_plan="auto", tp_size=options.ranks),
    ).eval()
    decode(model, options)
    results.put((rank, *decode(model, options)))
    dist.destroy_process_group()


def run(backend: str, model: Path, options: argparse.Namespace) -> tuple[list[int], float]:
    """Return the tokens of all ranks, and the slowest rank's seconds for one."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "model").symlink_to(model)
        processes = [
            context.Process(target=serve, args=(rank, backend, folder, options, results))
            for rank in range(options.ranks)
        ]
        for process in processes:
            process.start()
        found: list[Any] = []
        while len(found) < options.ranks:
            try:
                found.append(results.get(timeout=1))
            except queue.Empty:
                if any(process.exitcode for process in processes):
                    raise SystemExit(f"{backend}: a rank failed, see above") from None
        for process in processes:
            process.join()
    tokens = {tuple(each) for _, each, _ in found}
    if len(tokens) != 1:
        raise SystemExit(f"{backend}: the ranks disagree on the tokens: {tokens}")
    return list(tokens.pop()), max(seconds for _, _, seconds in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--layers", type=int, default=16)
    parser.add_argument("--hidden", type=int, default=512)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dtype", default="bfloat16", choices=["bfloat16", "float16", "float32"])
    options = parser.parse_args()
    _extension.load()
    seconds: dict[str, list[float]] = {"gloo": [], "tutti": []}
    answers = set()
    with tempfile.TemporaryDirectory() as name:
        make_model(Path(name), options)
        for _ in range(options.rounds):
            for backend, each in seconds.items():
                tokens, time_of_one = run(backend, Path(name), options)
                answers.add(tuple(tokens))
                each.append(time_of_one)
    print(f"{options.ranks} ranks, {options.layers} layers of {options.hidden}, {options.dtype}")
    for backend, each in seconds.items():
        of_one = statistics.median(each)
        print(f"{backend:6} {1 / of_one:7.1f} tokens/s ({1e3 * of_one:.2f} ms)")
    print(f"ratio  {statistics.median(seconds['gloo']) / statistics.median(seconds['tutti']):7.2f}")
    print("the same tokens" if len(answers) == 1 else f"DIFFERENT TOKENS: {answers}")


if __name__ == "__main__":
    main()
