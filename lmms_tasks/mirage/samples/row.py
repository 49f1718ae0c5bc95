"""One row of the sample data: its texts, and which pictures are drawn for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Picture:
    """A scene of `scenes.py` by name, with its options."""

    scene: str
    options: dict[str, Any]


@dataclass(frozen=True)
class Row:
    """A row before it is written; `question` has no instruction and no contextual suffix yet.

    `asked_at` is the time in the question's suffix ("YYYY-MM-DD HH:MM:SS"); `asked_time` is the column. They may
    differ, as they do in the benchmark. The four context fields are used by contextual rows only.
    """

    id: str
    category: str
    question: str
    answer: str
    entity_type: str
    entity_name: str
    scientific_name: str
    common_names: list[str]
    state: str
    county: str
    asked_time: str
    pictures: list[Picture]
    instruction: str = ""
    asked_at: str = ""
    location_related: bool = False
    time_related: bool = False
    location_analysis: str = ""
    time_analysis: str = ""


def picture(scene: str, **options: Any) -> Picture:
    """Short form for the text modules."""
    return Picture(scene, options)


def prose(text: str) -> str:
    """Join the lines of an English text block to one paragraph."""
    return " ".join(text.split())
