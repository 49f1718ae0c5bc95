"""The dialogue of a multi-turn row, split by speaker."""

from __future__ import annotations

import re
from dataclasses import dataclass

# The released texts put `user: ` or `expert: ` at the start of a turn's first line; the authors' prompts and some
# copies of the data capitalise them. One text keeps to one spelling, so that a line of a farmer's own is no turn.
_LABELS = (
    re.compile(r"^(user|expert):[ \t]*", re.MULTILINE),
    re.compile(r"^(User|Expert):[ \t]*", re.MULTILINE),
)


@dataclass(frozen=True)
class Speech:
    """What one speaker says at a time; `speaker` is "User" or "Expert"."""

    speaker: str
    text: str


def split_by_speaker(text: str) -> list[Speech]:
    """The turns of a dialogue in order; text before the first label is the user's.

    Both speakers may have several turns in a row; they stay apart, as the released `dialog_turns` counts them.
    """
    text = text.replace("\r\n", "\n").strip()
    labels = list(_LABELS[bool(_LABELS[1].match(text))].finditer(text))
    turns = []
    if unlabelled := (text[: labels[0].start()] if labels else text).strip():
        turns.append(Speech("User", unlabelled))
    for number, label in enumerate(labels):
        end = labels[number + 1].start() if number + 1 < len(labels) else len(text)
        turns.append(Speech(label[1].capitalize(), text[label.end() : end].strip()))
    return turns


def transcript(text: str) -> str:
    """The dialogue as prompts show it: one paragraph a turn, begun by its speaker."""
    return "\n\n".join(f"{turn.speaker}: {turn.text}" for turn in split_by_speaker(text))
