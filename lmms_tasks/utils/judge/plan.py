"""What a panel will be asked, counted before the first call: calls, tokens, images, money."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from lmms_tasks.utils.judge.images import count_images
from lmms_tasks.utils.judge.rubric import Rubric
from lmms_tasks.utils.judge.session import Session

CHARACTERS_OF_TOKEN = 4
# OpenAI's count for 1024 × 1024 pixels: 85, and 170 for each of four tiles. Other services count 258 to 1,600.
TOKENS_OF_IMAGE = 765


class Plan:
    """The distinct questions of each judge, and which of them the cache answers."""

    def __init__(self, sessions: Sequence[Session]):
        self._sessions = sessions
        self._known: list[dict[str, tuple[int, int]]] = [{} for _ in sessions]
        self._lock = threading.Lock()

    def add(self, rubric: Rubric, messages: Sequence[Mapping[str, Any]]) -> None:
        """Count one row's questions, to the judges that are asked this rubric."""
        characters = sum(len(text) for message in messages for text in _texts(message))
        size = (characters // CHARACTERS_OF_TOKEN, count_images(messages))
        for session, known in zip(self._sessions, self._known, strict=True):
            if not session.judge.is_asked(rubric.name):
                continue
            for generation in range(session.judge.generations):
                key = session.key(rubric, messages, generation)
                with self._lock:
                    known[key] = size

    def announce(self) -> None:
        """Log each judge's line, before the first call."""
        for session, cost in zip(self._sessions, self.costs(), strict=True):
            session.announce(cost["calls"], cost["cached"], cost["prompt_tokens"], cost["images"])

    def costs(self) -> list[dict[str, Any]]:
        """For each judge the calls that are to be made, those that the cache answers, and what the calls cost.

        `prompt_tokens` are a quarter of the characters and 765 for each of the `images`. `dollars` is that of the prompts
        at the profile's price, None without one; replies come on top.
        """
        costs = []
        for session, known in zip(self._sessions, self._known, strict=True):
            missing = [size for key, size in known.items() if not session.has_reply(key)]
            images = sum(number for _, number in missing)
            tokens = sum(number for number, _ in missing) + TOKENS_OF_IMAGE * images
            price = session.judge.price.get("input")
            costs.append(
                {
                    "judge": session.judge.name,
                    "calls": len(missing),
                    "cached": len(known) - len(missing),
                    "images": images,
                    "prompt_tokens": tokens,
                    "dollars": None if price is None else tokens * price / 1e6,
                }
            )
        return costs


def _texts(message: Mapping[str, Any]) -> list[str]:
    content = message["content"]
    return [content] if isinstance(content, str) else [part["text"] for part in content if part.get("type") == "text"]
