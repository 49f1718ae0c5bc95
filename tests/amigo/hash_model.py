"""A model whose reply is a hash of the whole prompt and of the images, and a command that evaluates it.

python -m tests.amigo.hash_model OUTPUT LOCKSTEP [--chat] [--cache DIR]   (also under torchrun)
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
from pathlib import Path

import torch
from lmms_eval.api.model import lmms

from lmms_tasks.amigo.agents import guess_line

QUESTIONS = [
    row["question"] for row in csv.DictReader((Path(__file__).parent / "questions.tsv").open(), delimiter="\t")
]
TASK = "amigo_synthetic_noise20"


class HashModel(lmms):
    """Asks, and now and then guesses, by the hash of what it is shown; mixed-up prompts or images change everything.

    Like many adapters it calls the first request's callable for the whole batch, and changes `generation_kwargs`.
    """

    is_simple = True

    def __init__(self) -> None:
        super().__init__()
        self.device = torch.device("cpu")
        self.batches: list[int] = []

    def generate_until(self, requests):
        self.batches.append(len(requests))
        show = next(argument for argument in requests[0].args if callable(argument))
        replies = []
        for request in requests:
            kwargs = next(argument for argument in request.args if isinstance(argument, dict))
            assert kwargs.pop("max_new_tokens") == 1024
            doc_id, task, split = request.args[-3:]
            digest = hashlib.sha256(request.args[0].encode())
            for image in self._images(show(self.task_dict[task][split][doc_id]), request.args[0]):
                digest.update(hashlib.sha256(image.tobytes()).digest())
            number = int.from_bytes(digest.digest()[:8], "big")
            replies.append(guess_line(number % 31) if number % 7 == 0 else QUESTIONS[number % len(QUESTIONS)])
        return replies

    def _images(self, shown, prompt):
        return shown

    def loglikelihood(self, requests):
        raise NotImplementedError

    generate_until_multi_round = loglikelihood


class HashModelChat(HashModel):
    is_simple = False

    def _images(self, shown, prompt):
        (message,) = shown
        *images, text = message["content"]
        assert text == {"type": "text", "text": prompt}, "the prompt of another episode"
        assert all(part["type"] == "image" for part in images)
        return [part["url"] for part in images]


def evaluate(lockstep: bool, chat: bool = False, cache: str | None = None, task_manager=None):
    """Play the task; return the outputs by row, and the sizes of the batches that the model saw."""
    from lmms_eval import evaluator

    from lmms_tasks.lockstep import with_lockstep

    os.environ["LMMS_TASKS_LOCKSTEP"] = "16" if lockstep else "0"
    original = evaluator._run_generate_until_agentic
    if not hasattr(original, "_lmms_tasks"):
        evaluator._run_generate_until_agentic = with_lockstep(original)
    model = (HashModelChat if chat else HashModel)()
    try:
        results = evaluator.simple_evaluate(
            model=model,
            tasks=[TASK],
            task_manager=task_manager,
            use_cache=cache,
            bootstrap_iters=0,
            distributed_executor_backend="torchrun",
        )
    finally:
        evaluator._run_generate_until_agentic = original
    if results is None:
        return None, model.batches
    outputs = {sample["doc_id"]: sample["resps"][0][0] for sample in results["samples"][TASK]}
    return outputs, model.batches


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("output", type=Path)
    parser.add_argument("lockstep", type=int)
    parser.add_argument("--chat", action="store_true")
    parser.add_argument("--cache")
    arguments = parser.parse_args()
    outputs, batches = evaluate(bool(arguments.lockstep), arguments.chat, arguments.cache)
    rank = os.environ.get("RANK", "0")
    print(f"rank {rank}: batches {batches}", flush=True)
    (arguments.output / f"batches{rank}.json").write_text(json.dumps(batches))
    if outputs is not None:
        (arguments.output / "outputs.json").write_text(json.dumps(outputs, sort_keys=True))
