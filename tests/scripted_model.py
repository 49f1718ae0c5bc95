"""A model whose answers the test writes, for evaluations in the test's own process."""

from __future__ import annotations

from collections.abc import Callable

import torch
from lmms_eval.api.model import lmms


class ScriptedModel(lmms):
    """Answers each request by `script(task, doc_id, repetition)`; opens the row's images as a real model would."""

    is_simple = True

    def __init__(self, script: Callable[[str, int, int], str]):
        super().__init__()
        self.device = torch.device("cpu")
        self._script = script

    def generate_until(self, requests):
        seen: dict[tuple[str, int], int] = {}
        answers = []
        for request in requests:
            _, _, doc_to_visual, doc_id, task, split = request.args
            doc_to_visual(self.task_dict[task][split][doc_id])
            repetition = seen[task, doc_id] = seen.get((task, doc_id), -1) + 1
            answers.append(self._script(task, doc_id, repetition))
        return answers

    def loglikelihood(self, requests):
        raise NotImplementedError

    def generate_until_multi_round(self, requests):
        raise NotImplementedError
