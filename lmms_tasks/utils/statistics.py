"""Means over rows, and the rule for rows that could not be scored.

An item is what a hook returns for one row and one metric: a mapping with the key `score`, or without it where the row
could not be scored (lmms-eval's own error bars need the key absent, not None). Sums are exactly rounded
(`math.fsum`), so the order in which ranks deliver their rows does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

# Under this share of scored rows a metric says more about the judge's outage than about the model.
MINIMUM_COVERAGE = 0.95

Item = Mapping[str, Any]


def mean(values: Iterable[float]) -> float:
    """Exactly rounded arithmetic mean; NaN without values."""
    values = list(values)
    return math.fsum(values) / len(values) if values else math.nan


def scores(items: Iterable[Item]) -> list[float]:
    """The scores of the rows that have one."""
    return [float(item["score"]) for item in items if "score" in item]


def coverage(items: Sequence[Item]) -> float:
    """Share of rows with a score, in [0, 1]; NaN without rows."""
    return len(scores(items)) / len(items) if items else math.nan


def covered_mean(items: Sequence[Item]) -> float:
    """Mean over the scored rows; NaN where fewer than 95 % of the rows have a score."""
    return mean(scores(items)) if items and coverage(items) >= MINIMUM_COVERAGE else math.nan


def strict_mean(items: Sequence[Item]) -> float:
    """Mean over all rows with an unscored row as 0; NaN where no judge was asked for any row."""
    found = scores(items)
    if not items or (not found and any(item.get("status") == "no_judge" for item in items)):
        return math.nan
    return math.fsum(found) / len(items)


def plain_mean(items: Sequence[Item]) -> float:
    """Mean over the scored rows, however few: for numbers that describe the run, not the model."""
    return mean(scores(items))


def standard_error(values: Sequence[float]) -> float:
    """Standard error of a mean by the central limit theorem, s / sqrt(n) with n − 1 in s; NaN under two values."""
    n = len(values)
    if n < 2:
        return math.nan
    centre = mean(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (n - 1) / n)
