"""What a model is asked: the question as it stands, and one line that says in which form to answer.

The prompts behind the published numbers were not released: ours are in `prompts/`, and neither variant claims to be
theirs.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from lmms_tasks.sgmri_vqa.a_score import MULTIPLE_CHOICE, OPEN_ENDED, SINGLE_CHOICE
from lmms_tasks.sgmri_vqa.slices import count_slices, image_size

VARIANTS = ("default", "minimal")
_FILE = Path(__file__).parent / "prompts" / "answer_formats.txt"
# What differs between machines that have the images and machines that have not.
_FROM_IMAGES = re.compile(
    r"You see the (?:\d+ )?slices of one MRI volume in order: frames .*?1(?: to \d+)?\.|\d+ × \d+ pixels"
)


def build_prompt(row: Mapping[str, Any], variant: str = "default") -> str:
    """The text of one request; "minimal" is the question alone. SystemExit for an unknown variant."""
    check_variant(variant)
    if variant == "minimal":
        return row["question"]
    frames = count_slices(row) if row["level"] == "volume" else None
    width, height, _ = image_size(row)
    shown = "slice" if row["level"] == "image" else "volume" if frames else "volume_uncounted"
    first, last = _lines()[shown].format(frames=frames), _lines()[_form(row)].format(width=width, height=height)
    return f"{first}\n\n{row['question']}\n\n{last}"


def check_variant(variant: str) -> None:
    """SystemExit for a prompt that is not one of `VARIANTS`."""
    if variant not in VARIANTS:
        raise SystemExit(f"SGMRI-VQA knows no prompt {variant!r}: give one of {', '.join(VARIANTS)}.")


def is_prompt_of(text: str, row: Mapping[str, Any]) -> bool:
    """Whether `text` was asked about this row, by either variant, wherever the images were at hand."""
    return any(_masked(text.strip()) == _masked(build_prompt(row, variant).strip()) for variant in VARIANTS)


def settings(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """The keys of `lmms_eval_specific_kwargs` that concern us; `SGMRI_VQA_PROMPT` and `SGMRI_VQA_COORDINATES` win."""
    found = {key: value for key, value in (given or {}).items() if not isinstance(value, Mapping)}
    for key in ("prompt", "coordinates"):
        if value := os.environ.get(f"SGMRI_VQA_{key.upper()}", "").strip():
            found[key] = value
    return found


def prompt_record() -> dict[str, str]:
    """Version and hash of the prompts, for the manifest."""
    text = _FILE.read_text(encoding="utf-8")
    return {"version": _lines()["version"], "sha256": hashlib.sha256(text.encode()).hexdigest()}


def _form(row: Mapping[str, Any]) -> str:
    if row["task"] == "localization":
        return "localization_slice" if row["level"] == "image" else "localization_volume"
    if row["type"] in SINGLE_CHOICE:
        return "single_choice"
    if row["type"] in MULTIPLE_CHOICE:
        return "multiple_choice"
    if row["task"] in ("captioning", "counting"):
        return row["task"]
    return "open_ended" if row["type"] in OPEN_ENDED else "closed_ended"


@lru_cache(maxsize=1)
def _lines() -> dict[str, str]:
    pairs = (line.partition(": ") for line in _FILE.read_text(encoding="utf-8").splitlines() if line.strip())
    return {name: text for name, _, text in pairs}


def _masked(text: str) -> str:
    return _FROM_IMAGES.sub("…", text)
