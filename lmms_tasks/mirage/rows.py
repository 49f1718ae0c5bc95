"""Rows of MIRAGE: which columns and categories a task takes, whatever the source calls its images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from loguru import logger

from lmms_tasks.utils.images import count_images, leave_images_encoded
from lmms_tasks.utils.rows import Schema, require_columns

if TYPE_CHECKING:
    import datasets

# The category strings of the released data (official file MMST/Inference/split.py).
IDENTIFICATION = ("Plant Identification", "Insect and Pest Identification", "Plant Disease Identification")
MANAGEMENT = (
    "Plant Care and Gardening Guidance",
    "Plant Disease Management",
    "Insect and Pest Management",
    "Weeds/Invasive Plants Management",
)
# Exists in the train split only, and belongs to neither subject.
OTHERS = "Others"

_MMST_COLUMNS = (
    "id",
    "entity_type",
    "entity_name",
    "entity_scientific_name",
    "entity_common_names",
    "meta_data_state",
    "meta_data_county",
    "meta_data_asked_time",
)
RELATED = ("location_related", "time_related")
STANDARD = Schema(
    word="standard", required=("question", "answer", "category", "entity_name"), optional=_MMST_COLUMNS + RELATED
)
CONTEXTUAL = Schema(
    word="contextual", required=("question", "answer", "category", *RELATED), optional=(*_MMST_COLUMNS, "entity_name")
)
_WHEN_AND_WHERE = ("meta_data_asked_time", "meta_data_county", "meta_data_state")
_WITH_METADATA = Schema(word="standard", required=_WHEN_AND_WHERE)
SCHEMAS: Mapping[str, Schema] = {schema.word: schema for schema in (STANDARD, CONTEXTUAL)}


def select(
    dataset: datasets.Dataset, schema: Schema, categories: tuple[str, ...], metadata: bool = False
) -> datasets.Dataset:
    """The rows of the given categories in their order, images left encoded, with a column `n_images`.

    Args:
        metadata: True appends time and place to the question, as the contextual configuration's questions have them.

    Raises:
        SystemExit: a column is missing, a category is unknown, or no row has one of the categories.
    """
    require_columns(dataset.column_names, schema, "MIRAGE rows")
    for column in ("question", "answer", "category"):
        for position, value in enumerate(dataset[column]):
            if not isinstance(value, str) or not value.strip():
                raise SystemExit(f"MIRAGE rows: column {column} of row {position} holds no text (found: {value!r}).")
    wanted = {_folded(category) for category in categories}
    known = {_folded(category) for category in (*IDENTIFICATION, *MANAGEMENT, OTHERS)}
    kept = []
    others = 0
    for position, category in enumerate(dataset["category"]):
        if _folded(category) not in known:
            raise SystemExit(
                f"MIRAGE rows: row {position} has the unknown category {category!r}; known are "
                f"{', '.join((*IDENTIFICATION, *MANAGEMENT, OTHERS))}."
            )
        others += _folded(category) == _folded(OTHERS)
        if _folded(category) in wanted:
            kept.append(position)
    if not kept:
        raise SystemExit(
            f"MIRAGE rows: none of the {len(dataset)} rows has one of the categories {', '.join(categories)}; give rows "
            f"of the configuration '{schema.word}' that hold them."
        )
    if others:
        logger.info(f"MIRAGE: {others} rows of the category '{OTHERS}' belong to neither subject and are left out.")
    if metadata:
        require_columns(dataset.column_names, _WITH_METADATA, "MIRAGE rows")
        asked = dataset.select_columns(["question", *_WHEN_AND_WHERE])
        dataset = dataset.remove_columns("question").add_column("question", [with_metadata(row) for row in asked])
    # Added before rows are selected: on a selection, `add_column` would copy every image.
    dataset = dataset.add_column("n_images", count_images(dataset))
    return leave_images_encoded(dataset).select(kept)


def with_metadata(row: Mapping[str, Any]) -> str:
    """The question with ` (asked at <time>, <county>, <state>)` behind it, what the row lacks left out."""
    told = [str(row[column]).strip() for column in _WHEN_AND_WHERE if row.get(column) not in (None, "")]
    return f"{row['question']} (asked at {', '.join(told)})" if told else row["question"]


def names_text(row: Mapping[str, Any], common_names: list[str]) -> str:
    """The accepted names of a row as a judge reads them, one kind a line."""
    return "\n".join(
        (
            f"Entity name: {row.get('entity_name') or '(none)'}",
            f"Scientific name: {row.get('entity_scientific_name') or '(none)'}",
            f"Common names: {', '.join(common_names) or '(none)'}",
        )
    )


def _folded(category: Any) -> str:
    return " ".join(str(category).casefold().split())
