"""Models that play AMIGO without weights: `amigo_greedy`, `amigo_random`, `amigo_guess_at_once`, `amigo_index_search`.

Each shows what a metric is worth: greedy is what the tables allow, the others what needs no look at an image.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NoReturn

import torch
from lmms_eval.api.instance import Instance
from lmms_eval.api.model import lmms

from lmms_tasks.amigo import agents

Agent = Callable[[Mapping[str, Any], str], str]


class PlayerSimple(lmms):
    """Answers each prompt by its agent, and opens the gallery of each round as a real model would.

    Args:
        device: where lmms-eval puts the counters that its ranks exchange; under NCCL it has to be `cuda`.
        batch_size, max_batch_size: taken because lmms-eval passes them to every model; without effect.
    """

    is_simple = True
    agent: ClassVar[Agent]

    def __init__(
        self, device: str = "cpu", batch_size: int | str = 1, max_batch_size: int | str | None = None, **unknown: Any
    ) -> None:
        super().__init__()
        if unknown:
            raise SystemExit(f"AMIGO's players have no argument {', '.join(sorted(unknown))}.")
        self.device = torch.device(device)

    def generate_until(self, requests: list[Instance]) -> list[str]:
        """Return one message a request, in order."""
        replies = []
        for request in requests:
            prompt, show, (doc_id, task, split) = self._parts(request.args)
            row = self.task_dict[task][split][doc_id]
            show(row)
            replies.append(type(self).agent(row, prompt))
        return replies

    def _parts(self, args: tuple) -> tuple[str, Callable, tuple[int, str, str]]:
        prompt, _, doc_to_visual, *place = args
        return prompt, doc_to_visual, tuple(place)

    def loglikelihood(self, requests: list[Instance]) -> NoReturn:
        raise SystemExit("AMIGO's players answer tasks of type generate_until_agentic only.")

    generate_until_multi_round = loglikelihood


class PlayerChat(PlayerSimple):
    """The same for chat tasks, whose requests carry `doc_to_messages`."""

    is_simple = False

    def _parts(self, args: tuple) -> tuple[str, Callable, tuple[int, str, str]]:
        prompt, doc_to_messages, _, *place = args
        return prompt, doc_to_messages, tuple(place)


class GreedySimple(PlayerSimple):
    """Asks what halves the feasible images, from the tables."""

    agent = staticmethod(agents.greedy)


class GreedyChat(GreedySimple, PlayerChat):
    """See `GreedySimple`."""

    is_simple = False


class RandomSimple(PlayerSimple):
    """Asks allowed questions at random, from the tables."""

    agent = staticmethod(agents.random)


class RandomChat(RandomSimple, PlayerChat):
    """See `RandomSimple`."""

    is_simple = False


class GuessAtOnceSimple(PlayerSimple):
    """Guesses the first image in its first turn."""

    agent = staticmethod(agents.guess_at_once)


class GuessAtOnceChat(GuessAtOnceSimple, PlayerChat):
    """See `GuessAtOnceSimple`."""

    is_simple = False


class IndexSearchSimple(PlayerSimple):
    """Halves the positions, which is against the rules."""

    agent = staticmethod(agents.index_search)


class IndexSearchChat(IndexSearchSimple, PlayerChat):
    """See `IndexSearchSimple`."""

    is_simple = False
