"""Rows of SGMRI-VQA: one question about a slice or a volume, from any of the layouts in which the data may come.

The question files on the hub were never opened while this was written; columns are those of the dataset's
`croissant.json`, of the generating scripts and of the official evaluation items (lamawmouk/SGMRI-VQA at a37aa3dd).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lmms_tasks.sgmri_vqa import counts, key
from lmms_tasks.sgmri_vqa.a_score import CLOSED_ENDED, MULTIPLE_CHOICE, OPEN_ENDED, SINGLE_CHOICE
from lmms_tasks.utils.images import image_columns, leave_images_encoded
from lmms_tasks.utils.rows import Schema, require_columns
from lmms_tasks.utils.subset import choose

if TYPE_CHECKING:
    import datasets

TASKS: Mapping[str, tuple[str, ...]] = {
    "image": ("detection", "localization", "classification", "diagnosis", "captioning"),
    "volume": ("detection", "localization", "counting", "classification", "captioning"),
}
QUESTION_TYPES = (*CLOSED_ENDED, *SINGLE_CHOICE, *MULTIPLE_CHOICE, *OPEN_ENDED)
ORGANS = ("brain", "knee")
# Questions of this wording are another use of the data, which the released evaluation skips.
SKIPPED_PREFIX = "Locate the bounding box"
# More slices or pixels a side than this are a mistake in the data.
_MOST = 1_000_000
# Of the subset's definition: another version chooses other rows.
SUBSET_VERSION = "sgmri_vqa_lite 1"
# 400 rows in proportion to the levels of the test split, five questions each to 1,492 slices and 368 volumes. A task
# reads the files of its own level only, so this share is fixed; organs and tasks are weighed as they are found.
SUBSET_ROWS: Mapping[str, int] = {"image": 321, "volume": 79}

# Each column under all names that a source may give it; the first one is the name on the hub.
_NAMES: Mapping[str, tuple[str, ...]] = {
    "answer": ("answer", "gt_answer"),
    "type": ("type", "qa_type"),
    "domain": ("domain", "dataset", "organ"),
    "id": ("id", "sample_id", "qa_id"),
    "slice_num": ("slice_num", "slice"),
}
_REQUIRED = ("volume_id", "task", "question")
_OPTIONAL = (
    *(name for names in _NAMES.values() for name in names),
    *("level", "modality", "num_slices", "width", "height", "labels", "bboxes", "ground_truth", "choices"),
    *("reasoning", "image_path", "step"),
)
SCHEMAS: Mapping[str, Schema] = {
    configuration: Schema(word=configuration, required=_REQUIRED, optional=_OPTIONAL, images=False)
    for configuration in (*TASKS, *(f"{level}_{organ}" for level in TASKS for organ in ORGANS))
}


def select(
    dataset: datasets.Dataset,
    level: str,
    organ: str | None = None,
    on_samples: bool = False,
    subset: int | None = None,
) -> datasets.Dataset:
    """The rows of one level ("image" or "volume"), and of one organ if it is given, in their order.

    Columns of the result: `id`, `volume_id`, `slice_num` (1-based, None for volumes), `num_slices`, `width`, `height`
    (None where unknown), `organ`, `level`, `task`, `type`, `question`, `answer`, `labels` (list of texts), `key_boxes`
    (JSON: lists of x, y, width, height, frame), `key_source`, and the image columns that the source has, undecoded.

    Args:
        subset: the number of rows of a fixed part in proportion to organ × level × task, all rows if there are fewer;
            adds the column `position`, the row's place in the whole task. None takes all rows.

    Raises:
        SystemExit: a column is missing, a row lacks what it needs, or no row is left.
    """
    require_columns(dataset.column_names, SCHEMAS[level], "SGMRI-VQA rows")
    pictures = image_columns(dataset.column_names)
    texts = dataset.remove_columns(pictures)
    found = [_row(row, position, level) for position, row in enumerate(texts)]
    kept = [
        position
        for position, row in enumerate(found)
        if row is not None and (organ is None or row["organ"] == organ) and not _is_skipped(row)
    ]
    if not kept:
        raise SystemExit(
            f"SGMRI-VQA rows: none of the {len(found)} rows is a question about {'an' if level == 'image' else 'a'} "
            f"{level}{f' of a {organ}' if organ else ''}; give rows of that configuration."
        )
    complete = [row or _nothing() for row in found]
    key.add_key_boxes([complete[position] for position in kept], level, with_tables=not on_samples)
    if not on_samples:
        counts.tell_left_out(
            level, (row for row in found if organ is None or row is None or row["organ"] == organ), kept
        )
        counts.tell_about_keys([complete[position] for position in kept], TASKS[level], QUESTION_TYPES)
        counts.tell_counts(level, organ, Counter(complete[position]["task"] for position in kept))
    encoded = leave_images_encoded(dataset).remove_columns(texts.column_names)
    table = _with_columns(encoded, complete)
    if subset is None:
        return table.select(kept)
    chosen = _choose([complete[position] for position in kept], subset)
    return table.select([kept[place] for place in chosen]).add_column("position", chosen)


def _choose(rows: list[dict[str, Any]], total: int) -> list[int]:
    strata = [(row["organ"], row["level"], row["task"]) for row in rows]
    return choose(strata, [row["question"] for row in rows], total, SUBSET_VERSION)


def _with_columns(pictures: datasets.Dataset, rows: list[dict[str, Any]]) -> datasets.Dataset:
    import datasets

    table = datasets.Dataset.from_list([_stored(row) for row in rows], features=_features())
    return datasets.concatenate_datasets([table, pictures], axis=1) if pictures.column_names else table


def _row(raw: Mapping[str, Any], position: int, level: str) -> dict[str, Any] | None:
    """The row in our columns, None for one of the other level."""
    truth = _parsed(raw.get("ground_truth"))
    given_slice = _named(raw, "slice_num")
    if _level_of(raw, given_slice) != level:
        return None
    unread = bool(truth) and not isinstance(truth, Mapping)
    truth = {} if unread else truth or {}
    slice_number = _counted(given_slice)
    if level == "image" and slice_number is None:
        raise SystemExit(
            f"SGMRI-VQA rows: row {position} is about a slice and has no slice_num, a whole number from 1 (found: "
            f"{given_slice!r})."
        )
    return {
        "id": _text(_named(raw, "id")) or f"{raw['volume_id']}_{position}",
        "volume_id": _needed(raw, "volume_id", position),
        "slice_num": slice_number if level == "image" else None,
        **{name: _counted(raw.get(name)) for name in ("num_slices", "width", "height")},
        "organ": _organ_of(raw, position),
        "level": level,
        "task": _needed(raw, "task", position).strip().lower(),
        "type": _needed(raw, "type", position).strip().lower(),
        "question": _needed(raw, "question", position),
        "answer": _needed(raw, "answer", position),
        "labels": _texts(raw.get("labels") or truth.get("labels") or truth.get("final_diagnosis")),
        "records": _parsed(raw.get("bboxes")) or truth.get("bboxes") or [],
        "unread": unread,
    }


def _level_of(raw: Mapping[str, Any], slice_number: Any) -> str:
    told = str(raw.get("level") or "").lower()
    if "volume" in told or "video" in told:
        return "volume"
    if "slice" in told or "image" in told:
        return "image"
    # Tables that hold both levels write a missing number as NaN.
    return "volume" if str(slice_number).strip().lower() in ("none", "", "nan") else "image"


def _organ_of(raw: Mapping[str, Any], position: int) -> str:
    volume = str(raw["volume_id"])
    for told in (str(_named(raw, "domain") or "").lower(), volume.lower()):
        for organ in ORGANS:
            if organ in told:
                return organ
    # fastMRI names: file_brain_AXT2_200_2000001, and file1000001 for knees.
    if volume.startswith("file") and volume[4:].isdigit():
        return "knee"
    raise SystemExit(
        f"SGMRI-VQA rows: row {position} says neither brain nor knee (looked at domain, dataset, organ and the "
        f"volume_id {volume!r})."
    )


def _is_skipped(row: Mapping[str, Any]) -> bool:
    return row["task"] == "localization" and row["question"].startswith(SKIPPED_PREFIX)


def _needed(raw: Mapping[str, Any], column: str, position: int) -> str:
    value = _named(raw, column)
    text = _text(value)
    if text is None or not text.strip():
        raise SystemExit(f"SGMRI-VQA rows: column {column} of row {position} holds no text (found: {value!r}).")
    return text


def _named(raw: Mapping[str, Any], column: str) -> Any:
    return next((raw[name] for name in _NAMES.get(column, (column,)) if raw.get(name) is not None), None)


def _text(value: Any) -> str | None:
    return None if value is None else value if isinstance(value, str) else str(value)


def _texts(value: Any) -> list[str]:
    value = _parsed(value)
    if value is None or value == "":
        return []
    return [str(entry) for entry in value if entry] if isinstance(value, list) else [str(value)]


def _counted(value: Any) -> int | None:
    """A whole number of slices or pixels, 1 or more; None for anything else."""
    try:
        number = None if value is None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return int(number) if number is not None and number.is_integer() and 1 <= number < _MOST else None


def _parsed(value: Any) -> Any:
    """A nested value as it is, or read from the JSON text that local rows carry."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _features() -> datasets.Features:
    import datasets

    text, whole = datasets.Value("string"), datasets.Value("int64")
    columns: dict[str, Any] = {name: text for name in ("id", "volume_id")}
    columns |= {name: whole for name in ("slice_num", "num_slices", "width", "height")}
    columns |= {name: text for name in ("organ", "level", "task", "type", "question", "answer")}
    return datasets.Features(columns | {"labels": datasets.List(text), "key_boxes": text, "key_source": text})


def _stored(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row.get(name) for name in _features()}


def _nothing() -> dict[str, Any]:
    return {"labels": [], "records": []}
