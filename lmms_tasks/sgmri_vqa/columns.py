"""The columns of the published tables, and means over the rows that a metric is about.

A row outside a metric's scope (a detection question for V-Score) has the item `OUT_OF_SCOPE`: it is no missing score.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lmms_tasks.utils import judged, statistics
from lmms_tasks.utils.statistics import Item

IMAGE_COLUMNS = ("detection", "classification", "diagnosis", "localization_v", "localization_ar", "captioning")
VOLUME_COLUMNS = ("detection", "counting", "classification", "localization_v", "localization_ar", "captioning")
COLUMNS: Mapping[str, tuple[str, ...]] = {"image": IMAGE_COLUMNS, "volume": VOLUME_COLUMNS}
A_TASKS = ("detection", "counting", "classification", "diagnosis")
AR_TASKS = ("captioning", "localization")

OUT_OF_SCOPE: Mapping[str, Any] = {"status": "out_of_scope"}


def covered_mean(items: Sequence[Item]) -> float:
    """Mean over the scored rows of the metric's scope; NaN under 95 % coverage of them, or without any."""
    return statistics.covered_mean(in_scope(items))


def strict_mean(items: Sequence[Item]) -> float:
    """Mean over all rows of the metric's scope, an unscored one as 0; NaN where a part of the metric was never there."""
    inside = in_scope(items)
    if any(item.get("status") == "no_bertscore" for item in inside):
        return math.nan
    return statistics.strict_mean(inside)


def judged_coverage(items: Sequence[Item]) -> float:
    """Share of the rows that need a judge and were judged, in [0, 1]; NaN without such rows."""
    needing = [item for item in items if item.get("needs_judge")]
    return judged.judged_coverage(needing) if needing else math.nan


def image_average(items: Sequence[Item]) -> float:
    """The plain mean of the six image-level columns, in [0, 1]; NaN where one of them is NaN."""
    return average(items, IMAGE_COLUMNS)


def volume_average(items: Sequence[Item]) -> float:
    """The plain mean of the six volume-level columns, in [0, 1]; NaN where one of them is NaN."""
    return average(items, VOLUME_COLUMNS)


def average(items: Sequence[Item], columns: Sequence[str]) -> float:
    """Mean of the columns' means, each over its own rows; items hold `columns`: a column's item by its name."""
    return statistics.mean(
        covered_mean([item["columns"][column] for item in items if column in item["columns"]]) for column in columns
    )


def in_scope(items: Sequence[Item]) -> list[Item]:
    """The items of rows that the metric is about."""
    return [item for item in items if item.get("status") != OUT_OF_SCOPE["status"]]
