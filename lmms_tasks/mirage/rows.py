"""Rows of MIRAGE: which columns and categories a task takes, whatever the source calls its images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from loguru import logger

from lmms_tasks.utils.images import count_images, leave_images_encoded
from lmms_tasks.utils.rows import Schema, require_columns
from lmms_tasks.utils.subset import choose

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
# Of the subset's definition: another version chooses other rows.
SUBSET_VERSION = "mirage_mmst_lite 1"
SUBSET_ROWS = 400

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
_MMMT_COLUMNS = ("id", "dialog_turns")
DIRECT = Schema(word="direct", required=("dialog_context", "decision", "utterance"), optional=_MMMT_COLUMNS)
DECOMP = Schema(word="decomp", required=(*DIRECT.required, "known_goal", "missing_goal"), optional=_MMMT_COLUMNS)
SCHEMAS: Mapping[str, Schema] = {schema.word: schema for schema in (STANDARD, CONTEXTUAL, DIRECT, DECOMP)}


def select(
    dataset: datasets.Dataset,
    schema: Schema,
    categories: tuple[str, ...],
    metadata: bool = False,
    subset: int | None = None,
) -> datasets.Dataset:
    """The rows of the given categories in their order, images left encoded, with a column `n_images`.

    Args:
        metadata: True appends time and place to the question, as the contextual configuration's questions have them.
        subset: the size of the fixed part of both subjects together of which this subject's rows are taken; adds the
            column `position`, the row's place in the whole configuration. None takes all rows.

    Raises:
        SystemExit: a column is missing, a category is unknown, or no row has one of the categories.
    """
    require_columns(dataset.column_names, schema, "MIRAGE rows")
    _require_texts(dataset)
    found = [_folded(category) for category in dataset["category"]]
    _require_known(found)
    ours = [position for position, category in enumerate(found) if category != _folded(OTHERS)]
    if len(ours) < len(found):
        logger.info(f"MIRAGE: {len(found) - len(ours)} rows of the category '{OTHERS}' belong to neither subject.")
    if subset is not None:
        questions = dataset["question"]
        chosen = choose([found[p] for p in ours], [questions[p] for p in ours], subset, SUBSET_VERSION)
        ours = [ours[index] for index in chosen]
        dataset = dataset.add_column("position", list(range(len(dataset))))
    wanted = {_folded(category) for category in categories}
    kept = [position for position in ours if found[position] in wanted]
    if not kept:
        raise SystemExit(
            f"MIRAGE rows: none of the {len(dataset)} rows has one of the categories {', '.join(categories)}; give rows "
            f"of the configuration '{schema.word}' that hold them."
        )
    if metadata:
        require_columns(dataset.column_names, _WITH_METADATA, "MIRAGE rows")
        asked = dataset.select_columns(["question", *_WHEN_AND_WHERE])
        dataset = dataset.remove_columns("question").add_column("question", [with_metadata(row) for row in asked])
    # Added before rows are selected: on a selection, `add_column` would copy every image.
    dataset = dataset.add_column("n_images", count_images(dataset))
    return leave_images_encoded(dataset).select(kept)


def _require_texts(dataset: datasets.Dataset) -> None:
    for column in ("question", "answer", "category"):
        for position, value in enumerate(dataset[column]):
            if not isinstance(value, str) or not value.strip():
                raise SystemExit(f"MIRAGE rows: column {column} of row {position} holds no text (found: {value!r}).")


def _require_known(categories: list[str]) -> None:
    names = (*IDENTIFICATION, *MANAGEMENT, OTHERS)
    known = {_folded(name) for name in names}
    for position, category in enumerate(categories):
        if category not in known:
            raise SystemExit(
                f"MIRAGE rows: row {position} has the unknown category {category!r}; known are {', '.join(names)}."
            )


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
