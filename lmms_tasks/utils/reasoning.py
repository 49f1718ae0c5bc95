"""What a model answered, apart from how it reasoned.

lmms-eval strips reasoning on its command line and not from Python, and leaves an unclosed block in the answer. Every
task of ours switches that off (`reasoning_tags: none`) and strips here, so that both roads give the same number.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from typing import Literal

State = Literal["answered", "empty", "unclosed_reasoning", "request_failed"]

# The two blocks that lmms-eval strips by default, and the spelling `thinking` that some models use.
_TAGS = "think|thinking|analysis"
_CLOSING = re.compile(rf"</({_TAGS})>", re.IGNORECASE)
_OPENING = re.compile(rf"<({_TAGS})>", re.IGNORECASE)

# What lmms-eval's API models return in place of an answer when the request itself failed.
FAILURE_TEXTS = ("[LMMS_EVAL_REQUEST_FAILED", "[LMMS_EVAL_BUDGET_EXCEEDED]")


@dataclass(frozen=True)
class Answer:
    """An answer without its reasoning.

    Attributes:
        text: the answer, stripped of white space; "" unless `state` is "answered".
        state: "answered"; "empty" (nothing but white space or reasoning); "unclosed_reasoning" (the model was cut off
            while it reasoned: no answer); "request_failed" (lmms-eval's own failure text: not the model's words).
    """

    text: str
    state: State


def strip_reasoning(text: str | None) -> Answer:
    """Separate the answer from the reasoning.

    Closed blocks go. A lone closing tag (chat templates put the opening one into the prompt) keeps what follows the
    last one. An opening tag that is never closed means that no answer was reached.
    """
    raw = (text or "").strip()
    if raw.startswith(FAILURE_TEXTS):
        return Answer("", "request_failed")
    rest = _without_closed_blocks(raw)
    closings = list(_CLOSING.finditer(rest))
    if closings:
        rest = rest[closings[-1].end() :]
    if _OPENING.search(rest):
        return Answer("", "unclosed_reasoning")
    rest = rest.strip()
    return Answer(rest, "answered") if rest else Answer("", "empty")


def _without_closed_blocks(text: str) -> str:
    """The text without what stands from an opening tag to the next closing tag of its name.

    One look at each tag: a pattern for whole blocks would search the rest of the text again for every opening tag that
    nothing closes, and models that loop write thousands.
    """
    closings: dict[str, list[re.Match[str]]] = {}
    for closing in _CLOSING.finditer(text):
        closings.setdefault(closing[1].casefold(), []).append(closing)
    kept: list[str] = []
    place = 0
    for opening in _OPENING.finditer(text):
        if opening.start() < place:
            continue  # inside a block
        same_name = closings.get(opening[1].casefold(), [])
        following = bisect.bisect_left(same_name, opening.end(), key=lambda closing: closing.start())
        if following < len(same_name):
            kept.append(text[place : opening.start()])
            place = same_name[following].end()
    return "".join([*kept, text[place:]])
