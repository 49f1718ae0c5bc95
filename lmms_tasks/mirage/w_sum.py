"""W-Sum of MIRAGE-MMST and the weighted scores of the project's leaderboard.

W-Sum = (2·accuracy + relevance + completeness + parsimony) / 20 for four scores from 0 to 4, so it lies in [0, 1]
(task card of arXiv:2506.20100; `print_scores.py:16-18,102-124` of MIRAGE-Benchmark/MIRAGE-Benchmark, 303c589).
The weighted scores, 0 to 100, stand only in `leaderboards/MMST_Standard.json` of the project's site; the formulas
below give every row of it from its components. Higher is better for all of them.

Sums are exact (`math.fsum`), so the order of rows changes no digit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

WEIGHTS = {"accuracy": 2, "relevance": 1, "completeness": 1, "parsimony": 1}
_HIGHEST = 4
_WHOLE = _HIGHEST * sum(WEIGHTS.values())


def w_sum(accuracy: float, relevance: float, completeness: float, parsimony: float) -> float:
    """W-Sum in [0, 1] of four scores in [0, 4]. ValueError for a score outside, or NaN.

    >>> w_sum(1, 2, 2, 2)
    0.4
    """
    weighted = []
    for (name, weight), score in zip(WEIGHTS.items(), (accuracy, relevance, completeness, parsimony), strict=True):
        _check(name, score, _HIGHEST)
        weighted.append(weight * score)
    return math.fsum(weighted) / _WHOLE


def w_sum_official(rows: Iterable[Sequence[float]]) -> float:
    """W-Sum as the official printer gives it: means to 2 decimals, weighted, then 4 decimals. NaN for no rows.

    A row is (accuracy, relevance, completeness, parsimony), each in [0, 4]. Because it rounds the means first, the
    weighted value can lie up to 0.00125 from the mean of `w_sum`. ValueError for a score outside, or not four of them.
    (`print_scores.py:116-122`)
    """
    rows = list(rows)
    if not rows:
        return math.nan
    for row in rows:
        for name, score in zip(WEIGHTS, row, strict=True):
            _check(name, score, _HIGHEST)
    means = [round(math.fsum(scores) / len(rows), 2) for scores in zip(*rows, strict=True)]
    return round(w_sum(*means), 4)


def id_weighted_score(identification_accuracy: float, reasoning: float) -> float:
    """Identification score in [0, 100]: (2·accuracy + reasoning/4) / 3, in per cent.

    `identification_accuracy` is in [0, 1], `reasoning` in [0, 4]. NaN (not judged) stays NaN; ValueError outside.
    """
    _check("identification_accuracy", identification_accuracy, 1, allow_nan=True)
    _check("reasoning", reasoning, _HIGHEST, allow_nan=True)
    return math.fsum([2 * identification_accuracy, reasoning / _HIGHEST]) / 3 * 100


def mg_weighted_score(w_sum: float) -> float:
    """Management score in [0, 100] from W-Sum in [0, 1]. NaN (not judged) stays NaN; ValueError outside."""
    _check("w_sum", w_sum, 1, allow_nan=True)
    return 100 * w_sum


def overall(id_weighted: float, mg_weighted: float) -> float:
    """Plain mean of the two weighted scores, each in [0, 100]. NaN if either is NaN; ValueError outside."""
    _check("id_weighted", id_weighted, 100, allow_nan=True)
    _check("mg_weighted", mg_weighted, 100, allow_nan=True)
    return math.fsum([id_weighted, mg_weighted]) / 2


def _check(name: str, value: float, highest: float, allow_nan: bool = False) -> None:
    if not (0 <= value <= highest or (allow_nan and math.isnan(value))):
        raise ValueError(f"{name} must be between 0 and {highest}, got {value!r}")
