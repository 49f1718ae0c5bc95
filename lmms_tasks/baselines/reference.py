"""A model that answers with the gold answers, to try a task's plumbing: prompts, images, scoring, ranks.

A task whose metrics are right gives `reference` the best value of each. With `error_rate` it is wrong on a known
share of the rows, so that it also shows whether a metric moves as it should.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

import torch
from lmms_eval.api.instance import Instance
from lmms_eval.api.model import lmms
from lmms_eval.api.task import Task
from PIL import Image

from lmms_tasks.benchmarks import import_name


def uniform(seed: int, task: str, doc_id: int) -> float:
    """Return a number in [0, 1) that depends on nothing but its arguments.

    It is the first 53 bits of SHA-256 over the three, so neither the order of requests, nor the rank that a row
    falls to, nor the other rows of a run change it.
    """
    digest = hashlib.sha256(f"{seed}\n{task}\n{doc_id}".encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53


class GoldAnswers:
    """The answers of one task's rows: gold, except for the chosen share that gets another row's gold."""

    def __init__(self, name: str, task: Task, error_rate: float, seed: int) -> None:
        self.task = task
        self._name = name
        self._error_rate = error_rate
        self._seed = seed
        # Rows without image columns, where there are such: a target needs no image, and decoding costs.
        self._rows = task.eval_docs_no_media if hasattr(task, "eval_docs_no_media") else task.eval_docs
        self._golds: dict[int, str] = {}
        # An episode has no gold answer for each turn: its task names who plays it, by the row and the prompt.
        metadata = task.config.metadata
        player = metadata.get("player") if isinstance(metadata, Mapping) else None
        self._player: Callable[[Mapping[str, Any], str], str] | None = import_name(player) if player else None

    def answer(self, doc_id: int, prompt: str = "") -> str:
        """Return what the reference answers to this row's prompt, or in this turn of its episode."""
        if uniform(self._seed, self._name, doc_id) < self._error_rate:
            return self._wrong(doc_id)
        return self._player(self._rows[doc_id], prompt) if self._player else self.gold(doc_id)

    def gold(self, doc_id: int) -> str:
        """Return the row's `doc_to_target` as text.

        The first element stands for a list of accepted answers ("" if it is empty), "" for None. An index into
        `doc_to_choice` stays an index ("2"), because the task alone knows how a model is to write its choice.
        """
        if doc_id not in self._golds:
            target = self.task.doc_to_target(self._rows[doc_id])
            if isinstance(target, (list, tuple)):
                target = target[0] if target else None
            self._golds[doc_id] = "" if target is None else str(target)
        return self._golds[doc_id]

    def _wrong(self, doc_id: int) -> str:
        """Return the gold of the next row, cyclically, whose gold differs; "" if there is none."""
        count = len(self._rows)
        others = (self.gold((doc_id + step) % count) for step in range(1, count))
        return next((gold for gold in others if gold != self.gold(doc_id)), "")


class ReferenceSimple(lmms):
    """Answers each request, and each round of an episode, with the row's gold answer.

    Args:
        error_rate: share of the rows, 0 to 1, that are answered with another row's gold answer.
        seed: chooses those rows.
        device: where lmms-eval puts the counters that its ranks exchange. The default fits process groups of the
            backend gloo; under NCCL it has to be `cuda`.
        batch_size, max_batch_size: taken because lmms-eval passes them to every model; without effect.

    Raises:
        SystemExit: an argument is out of range or unknown.
    """

    is_simple = True

    def __init__(
        self,
        error_rate: float = 0.0,
        seed: int = 0,
        device: str = "cpu",
        batch_size: int | str = 1,
        max_batch_size: int | str | None = None,
        **unknown: Any,
    ) -> None:
        super().__init__()
        if unknown:
            raise SystemExit(
                f"The model reference has no argument {', '.join(sorted(unknown))}: it takes error_rate and seed."
            )
        self._error_rate = _share(error_rate)
        self._seed = _integer(seed)
        self.device = torch.device(device)
        self._tasks: dict[str, Task] = {}
        self._answers: dict[str, GoldAnswers] = {}

    def receive_tasks(self, tasks: Mapping[str, Task]) -> None:
        """Take the tasks of a run by name; the plugin calls it before requests are run.

        Without it the model still finds a task behind a request that carries one of the task's own methods, which
        the later rounds of an episode and every round of a chat episode do not.
        """
        self._tasks.update(tasks)

    def generate_until(self, requests: list[Instance]) -> list[str]:
        """Open what each request shows, as a real model would, and return the answers in the same order."""
        answers = []
        for request in requests:
            show, doc_id, task, split = self._parts(request.args)
            if callable(show):
                _load(self._shown(show(self.task_dict[task][split][doc_id])))
            answers.append(self._answers_of(task, show).answer(doc_id, request.args[0]))
        return answers

    def _parts(self, args: tuple) -> tuple[Callable | None, int, str, str]:
        _, _, doc_to_visual, doc_id, task, split = args
        return doc_to_visual, doc_id, task, split

    def _shown(self, visuals: Any) -> Iterable[Any]:
        """Return the single visuals in what `doc_to_visual` gave; tasks without any give None or no list."""
        return visuals if isinstance(visuals, (list, tuple)) else [visuals]

    def _answers_of(self, name: str, method: Callable | None) -> GoldAnswers:
        owner = getattr(method, "__self__", None)
        if isinstance(owner, Task):
            self._tasks[name] = owner
        task = self._tasks.get(name)
        if task is None:
            raise SystemExit(
                f"The model reference cannot find the task {name} behind its request: run it with the plugin "
                "lmms-tasks enabled (LMMS_TASKS_DISABLE unset), or call receive_tasks first."
            )
        known = self._answers.get(name)
        if known is None or known.task is not task:
            known = self._answers[name] = GoldAnswers(name, task, self._error_rate, self._seed)
        return known

    def loglikelihood(self, requests: list[Instance]) -> NoReturn:
        raise _only_generation(requests)

    def generate_until_multi_round(self, requests: list[Instance]) -> NoReturn:
        raise _only_generation(requests)


class ReferenceChat(ReferenceSimple):
    """The reference for chat tasks: it reads `doc_to_messages`, once a request, in place of `doc_to_visual`."""

    is_simple = False

    def _parts(self, args: tuple) -> tuple[Callable | None, int, str, str]:
        _, doc_to_messages, _, doc_id, task, split = args
        return doc_to_messages, doc_id, task, split

    def _shown(self, visuals: Any) -> Iterable[Any]:
        """Return what the messages hold besides text."""
        contents = [message["content"] for message in visuals or []]
        parts = [part for content in contents if not isinstance(content, str) for part in content]
        return [part["url"] for part in parts if part["type"] != "text"]


def _load(visuals: Iterable[Any]) -> None:
    """Decode images, so that a file that cannot be read fails here as it would with a real model."""
    for visual in visuals:
        if isinstance(visual, Image.Image):
            visual.load()


def _share(value: Any) -> float:
    try:
        share = float(value)
    except (TypeError, ValueError):
        share = math.nan
    if not 0 <= share <= 1:
        raise SystemExit(f"The model reference needs an error_rate from 0 to 1, and got {value!r}.")
    return share


def _integer(value: Any) -> int:
    try:
        return int(str(value))
    except ValueError:
        raise SystemExit(f"The model reference needs a whole number as seed, and got {value!r}.") from None


def _only_generation(requests: list[Instance]) -> SystemExit:
    kinds = ", ".join(sorted({f"{request.task_name} ({request.request_type})" for request in requests}))
    return SystemExit(
        f"The model reference answers tasks of type generate_until and generate_until_agentic only, not {kinds}."
    )
