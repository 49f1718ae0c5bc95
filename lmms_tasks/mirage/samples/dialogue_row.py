"""Sample dialogues: one conversation, and the places in it where a model has to go on."""

from __future__ import annotations

from dataclasses import dataclass, field

from lmms_tasks.mirage.samples.row import Picture

CLARIFY = "<Clarify>"
RESPOND = "<Respond>"


@dataclass(frozen=True)
class Cut:
    """A row: the conversation up to its first `turns` turns, and what the expert does next."""

    turns: int
    decision: str
    utterance: str
    known: list[str]
    missing: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Conversation:
    """A conversation with its pictures; several rows may be cut from it, which then share its id, as the benchmark's do.

    `speeches` are (speaker, text), the speaker "user" or "expert".
    """

    id: str
    speeches: list[tuple[str, str]]
    cuts: list[Cut]
    pictures: list[Picture]

    def context(self, turns: int) -> str:
        """The first turns in the benchmark's spelling: a label at the start of a line, a line break at the end."""
        return "".join(f"{speaker}: {text}\n" for speaker, text in self.speeches[:turns])
