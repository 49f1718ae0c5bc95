"""The overall score of a report and of a run: the task card's recipe, the official arithmetic, validity.

All scores are in [0, 100], higher is better.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from lmms_tasks.utils.statistics import Item, covered_mean, mean, scores

# Appendix A.5.2 of the paper: what an unscored task still counts for, by the reason, in the paper's order of priority.
VALIDITY_WEIGHTS: Mapping[str, float] = {"provider": 0.8, "data": 0.9, "pipeline": 0.5, "model": 0.0, "unknown": 0.5}
# Rows for which a metric does not exist at all, whatever the others have: its value for the run is then NaN.
_WITHOUT = ("no_judge", "no_truth")


def card_overall(flae: float, trace: float, mosaic: float) -> float:
    """0.2·FLAE + 0.5·TRACE + 0.3·max(MOSAIC, 0) (task card)."""
    return 0.2 * flae + 0.5 * trace + 0.3 * max(mosaic, 0.0)


def official_trace(evi: float, vef: float) -> float:
    """0.6·EVI + 0.4·VEF (paper, equation 3)."""
    return 0.6 * evi + 0.4 * vef


def official_overall(gen: float, trace: float, mosaic: float) -> float:
    """0.2·FLAE + 0.5·TRACE + 0.3·MOSAIC, with GEN and MM for the first and the last (`leaderboard_export.py`)."""
    return 0.2 * gen + 0.5 * trace + 0.3 * mosaic


def official_overall_without_vef(gen: float, evi: float, mosaic: float) -> float:
    """(2·GEN + 3·EVI + 3·MM) / 8: the official weights over what needs no visual truth."""
    return (2.0 * gen + 3.0 * evi + 3.0 * mosaic) / 8.0


def validity(reasons: Iterable[str | None]) -> float:
    """Mean over the attempted tasks of 1 where scored (None), else the weight of the reason; in [0, 1], NaN without.

    >>> validity([None, None, "model", "provider"])
    0.7
    """
    return mean(1.0 if reason is None else VALIDITY_WEIGHTS.get(reason, 0.5) for reason in reasons)


def validity_of(items: Sequence[Item]) -> float:
    """The run's validity, from rows with a score or with a `reason` why there is none."""
    if _absent(items):
        return math.nan
    return validity(None if "score" in item else item.get("reason", "unknown") for item in items)


def mean_times_validity(items: Sequence[Item]) -> float:
    """Mean over the scored tasks times validity: an outage lowers the number by its reason, and only once.

    0 where no task was scored and the model is to blame for each; NaN where a metric does not exist at all.
    """
    found = scores(items)
    share = validity_of(items)
    if not found:
        return 0.0 if items and share == 0.0 else math.nan
    return mean(found) * share


def zeroed_mean(items: Sequence[Item]) -> float:
    """Mean over all tasks of the data set (`tasks` of an item), of which one that was not scored, or not answered, is 0.

    NaN where a metric does not exist at all.
    """
    if _absent(items):
        return math.nan
    return math.fsum(scores(items)) / max(len(items), *(item.get("tasks", 0) for item in items))


def conditional_mean(items: Sequence[Item]) -> float:
    """Mean over the tasks to which a dimension applies (95 % of those must be scored); NaN where it applies to none."""
    return covered_mean([item for item in items if item.get("status") != "not_applicable"])


def total(items: Sequence[Item]) -> float:
    """Sum of what was counted in each row."""
    return math.fsum(item["count"] for item in items)


def _absent(items: Sequence[Item]) -> bool:
    return not items or any(item.get("status") in _WITHOUT for item in items)
