"""Key boxes of a row: from its record, from fastMRI+'s tables, or from the text of its answer."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from loguru import logger

from lmms_tasks.sgmri_vqa.annotations import Annotation, read_tables, volume_boxes
from lmms_tasks.sgmri_vqa.boxes import Box, key_boxes, parse_boxes

TABLES_VARIABLE = "SGMRI_VQA_ANNOTATIONS"
# Image sizes that the released code assumes wherever it rescales (`run_evaluation.py` 35-38), as (width, height).
OFFICIAL_SIZES = {"brain": (256, 256), "knee": (320, 320)}

_TAG = re.compile(r"<bb[ox]+>")
_LINKED = re.compile(r"[Ff]rame\s*\d+\s*(?:[:\-,]\s*)?$")
_FRAME_NEAR = re.compile(r"[Ff]rames?\s*\d[^\]]*$")
# A frame number that stands at most so many characters before a box and is not read with it.
_NEAR = 30


def add_key_boxes(rows: Sequence[dict[str, Any]], level: str, with_tables: bool) -> None:
    """Put `key_boxes` (JSON) and `key_source` ("record", "tables", "answer" or "none") into each row.

    At image level boxes lose their frame: a slice has none, and a frame that disagreed would make every answer wrong.
    """
    tables = os.environ.get(TABLES_VARIABLE, "").strip() if with_tables and level == "volume" else ""
    annotations = _tables(Path(tables).expanduser()) if tables else {}
    unlinked, unread = 0, 0
    for row in rows:
        unread += row["task"] == "localization" and _is_unread(row["records"])
        boxes, source = _boxes_of(row, annotations) if row["task"] == "localization" else ([], "none")
        if level == "image":
            boxes = [replace(box, frame=None) for box in boxes]
        elif source == "answer":
            unlinked += has_unlinked_frame(row["answer"])
        row["key_boxes"], row["key_source"] = json.dumps([astuple(box) for box in boxes]), source
    if unread:
        logger.warning(
            f"SGMRI-VQA: the boxes in the records of {unread} localization rows cannot be read (wanted: a list of objects "
            "with x, y, width and height as numbers), so other sources stand in, or fewer boxes."
        )
    if annotations and not any(row["key_source"] == "tables" for row in rows):
        logger.warning(f"SGMRI-VQA: {TABLES_VARIABLE} names tables from which no row takes its boxes.")
    if unlinked:
        logger.warning(
            f"SGMRI-VQA: in {unlinked} answers a frame number stands close before a box without belonging to it, as in "
            f"'on Frame 6 (<bbx>…', so that box inherits an earlier frame and a right prediction may score 0; "
            f"{TABLES_VARIABLE} takes the boxes from fastMRI+'s tables in place of these texts."
        )


def boxes_of(row: Mapping[str, Any]) -> list[Box]:
    """The key boxes that `add_key_boxes` stored."""
    return [Box(*entry) for entry in json.loads(row["key_boxes"])]


def has_unlinked_frame(answer: str) -> bool:
    """True where a frame number stands within a few characters before a tagged box that is not read as its frame."""
    for tag in _TAG.finditer(answer):
        before = answer[max(0, tag.start() - _NEAR) : tag.start()].rpartition(">")[2]
        if _FRAME_NEAR.search(before) and not _LINKED.search(before):
            return True
    return False


def _is_unread(records: Any) -> bool:
    return bool(records) and (not isinstance(records, list) or len(key_boxes(records)) < len(records))


def _boxes_of(row: Mapping[str, Any], annotations: Mapping[str, list[Annotation]]) -> tuple[list[Box], str]:
    records = row["records"]
    if isinstance(records, list) and (found := key_boxes(records)):
        return found, "record"
    if found := volume_boxes(annotations.get(row["volume_id"], ()), row["organ"], row["question"], row["answer"]):
        return found, "tables"
    if "<bbx>" in row["answer"]:
        found = parse_boxes(row["answer"], *OFFICIAL_SIZES[row["organ"]])
        return found, "answer" if found else "none"
    return [], "none"


@lru_cache(maxsize=4)
def _tables(path: Path) -> dict[str, list[Annotation]]:
    return read_tables(path)
