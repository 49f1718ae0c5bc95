"""Episodes side by side against lmms-eval's own loop: a model that takes 100 ms a call, whatever the batch.

    python benchmarks/lockstep.py [--episodes 32] [--latency 0.1]

Both loops are timed from the first to the last call of the model, with the galleries decoded before, on 32 shipped
episodes whose questions a hash of the prompt chooses. The ideal is (sum of turns) / (turns of the longest episode).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import os
import sys
import tempfile
import time

LEAST = 0.85  # share of the ideal speed-up


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=32)
    parser.add_argument("--latency", type=float, default=0.1, help="seconds a call")
    options = parser.parse_args()
    os.environ["LMMS_TASKS_HOME"] = tempfile.mkdtemp(prefix="lockstep-")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    logging.disable(logging.WARNING)

    from lmms_eval import evaluator
    from loguru import logger

    from lmms_tasks.amigo import hooks
    from lmms_tasks.amigo.agents import guess_line
    from lmms_tasks.amigo.lexicon import SLOTS
    from lmms_tasks.baselines.amigo import PlayerSimple
    from lmms_tasks.lockstep import with_lockstep

    logger.remove()

    questions = [slot.question.format(words) for slot in SLOTS for words, _ in slot.values.values()]

    def choose(row: dict, prompt: str) -> str:
        number = int.from_bytes(hashlib.sha256(prompt.encode()).digest()[:4], "big")
        return guess_line(1) if number % 13 == 0 else questions[number % len(questions)]

    class SlowPlayer(PlayerSimple):
        agent = staticmethod(choose)

        def __init__(self) -> None:
            super().__init__()
            self.batches: list[int] = []
            self.first = self.last = 0.0

        def generate_until(self, requests):
            if not self.batches:
                rows = next(iter(next(iter(self.task_dict.values())).values()))
                for number in range(options.episodes):
                    hooks.amigo_doc_to_visual(rows[number])
                self.first = time.perf_counter()
            self.batches.append(len(requests))
            begun = time.perf_counter()
            replies = super().generate_until(requests)
            time.sleep(max(0.0, begun + options.latency - time.perf_counter()))
            self.last = time.perf_counter()
            return replies

    manager = evaluator.TaskManager()
    loop = evaluator._run_generate_until_agentic
    # The plugin may have wrapped it already.
    stock = getattr(loop, "__wrapped__", loop)
    outputs, seconds, calls = {}, {}, {}
    for name, run in (("stock loop", stock), ("lockstep", with_lockstep(stock))):
        evaluator._run_generate_until_agentic = run
        os.environ["LMMS_TASKS_LOCKSTEP"] = str(options.episodes)
        model = SlowPlayer()
        results = evaluator.simple_evaluate(
            model=model, tasks=["amigo_synthetic"], limit=options.episodes, task_manager=manager, bootstrap_iters=0
        )
        outputs[name] = [sample["resps"][0][0] for sample in results["samples"]["amigo_synthetic"]]
        seconds[name], calls[name] = model.last - model.first, len(model.batches)
        print(
            f"{name:10}  {calls[name]:4} calls  {seconds[name]:7.2f} s  batches {model.batches if name == 'lockstep' else ''}"
        )
    evaluator._run_generate_until_agentic = loop
    turns = [len(json.loads(output)["turns"]) for output in outputs["lockstep"]]
    ideal = sum(turns) / max(turns)
    speed_up = seconds["stock loop"] / seconds["lockstep"]
    print(f"{len(turns)} episodes, {sum(turns)} turns, the longest {max(turns)}: ideal {ideal:.2f} ×")
    print(f"speed-up {speed_up:.2f} ×, {speed_up / ideal:.2f} of the ideal (at least {LEAST})")
    print(f"transcripts equal: {outputs['stock loop'] == outputs['lockstep']}")
    return 0 if speed_up >= LEAST * ideal and outputs["stock loop"] == outputs["lockstep"] else 1


if __name__ == "__main__":
    sys.exit(main())
