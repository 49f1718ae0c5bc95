"""Which passages of a page a judge is shown: those that come closest to the claim, in the page's order."""

from __future__ import annotations

import math
import re
from collections import Counter

from lmms_tasks.utils.judge.offline import tokens

LONGEST_EXCERPT = 9_000  # characters, the official judge's input
_PASSAGE = 700
_GAP = "\n[…]\n"


def closest_passages(text: str, claim: str, limit: int = LONGEST_EXCERPT) -> str:
    """The passages of `text` that share most words with `claim`, rare words counting more, up to `limit` characters."""
    if len(text) <= limit:
        return text
    passages = _passages(text)
    words = [set(tokens(passage)) for passage in passages]
    frequency = Counter(word for each in words for word in each)
    wanted = set(tokens(claim))
    scores = [
        math.fsum(math.log(1 + len(passages) / frequency[word]) for word in sorted(wanted & each)) for each in words
    ]
    chosen: list[int] = []
    left = limit
    for position in sorted(range(len(passages)), key=lambda position: (-scores[position], position)):
        if len(passages[position]) + len(_GAP) > left:
            break
        chosen.append(position)
        left -= len(passages[position]) + len(_GAP)
    parts: list[str] = []
    for position in sorted(chosen):
        parts.append(("\n" if position - 1 in chosen else _GAP) + passages[position])
    return "".join(parts).strip()


def relevance(claim: str, words: str) -> float:
    """Share of the claim's words that stand among `words`, in [0, 1]."""
    wanted = set(tokens(claim))
    return len(wanted & set(tokens(words))) / len(wanted) if wanted else 0.0


def _passages(text: str) -> list[str]:
    """Lines joined up to about 700 characters; a longer line is cut."""
    passages: list[str] = []
    for line in text.splitlines():
        for piece in re.findall(rf".{{1,{_PASSAGE}}}", line):
            if passages and len(passages[-1]) + len(piece) < _PASSAGE:
                passages[-1] += f"\n{piece}"
            else:
                passages.append(piece)
    return passages
