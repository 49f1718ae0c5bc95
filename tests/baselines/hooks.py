"""The hooks of the tasks that conftest.py makes; it copies this file beside their YAML files."""

from __future__ import annotations

import json
import os

ROUNDS = 3


def text_of(row, lmms_eval_specific_kwargs=None):
    return row["question"]


def visuals_of(row):
    _note("doc_to_visual", row)
    return row["images"]


def messages_of(row, lmms_eval_specific_kwargs=None):
    _note("doc_to_messages", row)
    images = [{"type": "image", "url": image} for image in row["images"]]
    return [
        {"role": "system", "content": [{"type": "text", "text": "Answer with one word."}]},
        {"role": "user", "content": [*images, {"type": "text", "text": row["question"]}]},
    ]


def right(row, results):
    return {"right": float(results[0] == row["answer"])}


def right_in_list(row, results):
    return {"right": float(results[0] == row["accepted"][0])}


def episode_text(
    row,
    lmms_eval_specific_kwargs=None,
    previous_output=None,
    round_idx=None,
    previous_round_info=None,
):
    """Three rounds: the first shows the row's images, the second keeps them, the third shows none."""
    if round_idx is None:
        return row["question"]
    if round_idx == ROUNDS:
        return None, None, True, [json.dumps({"answers": previous_output})], {}
    return (None if round_idx == 1 else []), f"{row['question']} Round {round_idx}.", False, previous_output, {}


def right_in_every_round(row, results):
    answers = json.loads(results[0])["answers"]
    return {"right": float(answers == [row["answer"]] * ROUNDS)}


def _note(hook, row):
    # lmms-eval runs this file anew for every hook that a YAML file names: a file is what all of them share.
    if "BASELINES_CALLS" in os.environ:
        with open(os.environ["BASELINES_CALLS"], "a", encoding="utf-8") as calls:
            calls.write(f"{hook} {row['id']}\n")
