"""Rows of MIRAGE-MMMT: what is checked before a model is loaded, and the gold values in one spelling."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lmms_tasks.mirage.decision import DECISIONS
from lmms_tasks.mirage.dialogue import split_by_speaker
from lmms_tasks.utils.images import count_images, leave_images_encoded
from lmms_tasks.utils.rows import Schema, require_columns

if TYPE_CHECKING:
    import datasets


def select(dataset: datasets.Dataset, schema: Schema) -> datasets.Dataset:
    """All rows in their order, images left encoded, with a column `n_images`.

    Raises:
        SystemExit: a column is missing, or a row's dialogue, decision or goals cannot be read.
    """
    require_columns(dataset.column_names, schema, "MIRAGE rows")
    for position, text in enumerate(dataset["dialog_context"]):
        if not isinstance(text, str) or not text.strip():
            raise SystemExit(f"MIRAGE rows: column dialog_context of row {position} holds no text (found: {text!r}).")
    for position, value in enumerate(dataset["decision"]):
        if _decision(value) is None:
            raise SystemExit(
                f"MIRAGE rows: column decision of row {position} is {value!r}; known are <Clarify> and <Respond>."
            )
    if "dialog_turns" in dataset.column_names:
        for position, value in enumerate(dataset["dialog_turns"]):
            if not _is_count(value):
                raise SystemExit(f"MIRAGE rows: column dialog_turns of row {position} is no number (found: {value!r}).")
    for column in ("known_goal", "missing_goal"):
        if column in schema.required:
            for position, value in enumerate(dataset[column]):
                goals(value, f"column {column} of row {position}")
    return leave_images_encoded(dataset.add_column("n_images", count_images(dataset)))


def gold_decision(row: Mapping[str, Any]) -> str:
    """The row's decision as "clarify" or "respond"."""
    return _decision(row["decision"])


def gold_utterance(row: Mapping[str, Any]) -> str:
    """What the expert says next, "" where the row has none."""
    return (row.get("utterance") or "").strip()


def turns(row: Mapping[str, Any]) -> int:
    """The number of turns of both speakers: the row's own `dialog_turns`, else counted."""
    given = row.get("dialog_turns")
    return int(given) if given not in (None, "") else len(split_by_speaker(row["dialog_context"]))


def goals(value: Any, where: str = "a goal") -> list[str]:
    """A list of facts from a list, its JSON text, or None.

    Raises:
        SystemExit: it is something else; the sentence names `where`.
    """
    found = value
    if isinstance(value, str):
        try:
            found = json.loads(value) if value.strip() else []
        except json.JSONDecodeError:
            found = value
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(fact, str) for fact in found):
        raise SystemExit(f"MIRAGE rows: {where} is no list of texts (found: {str(value)[:80]!r}).")
    return found


def as_object(known: Sequence[str]) -> dict[str, str] | list[str]:
    """Facts "key: value" as the object that a Decomp answer holds; the list itself where that would lose something."""
    pairs = dict(fact.split(": ", 1) for fact in known if ": " in fact)
    return pairs if [f"{key}: {value}" for key, value in pairs.items()] == list(known) else list(known)


def _is_count(value: Any) -> bool:
    """True for a positive number, its text, or nothing."""
    if isinstance(value, str):
        return not value or (value.isdecimal() and int(value) > 0)
    return value is None or (isinstance(value, int | float) and value >= 1 and float(value).is_integer())


def _decision(value: Any) -> str | None:
    folded = value.strip().strip("<>").strip().casefold() if isinstance(value, str) else None
    return folded if folded in DECISIONS else None
